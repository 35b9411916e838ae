/* The charts of a report. The tables of the page say the same without them.
 * All texts are set as text, never as markup. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const style = getComputedStyle(document.documentElement);
const colour = name => style.getPropertyValue(name).trim();
const hues = ["#3b7dd8", "#d97a2b", "#3d9a58", "#9b5fc0", "#c7473f", "#5f8f96",
    "#b39024", "#d46aa0"];
const hue = i => hues[i % hues.length];
document.documentElement.classList.add("scripted");

function element(parent, name, text, attributes = {}) {
    const e = document.createElement(name);
    if (text !== undefined)
        e.textContent = text;
    for (const [key, value] of Object.entries(attributes))
        e.setAttribute(key, value);
    if (parent)
        parent.append(e);
    return e;
}

/* 5430 -> "1h30m30s": as the tables have it. */
function duration(seconds) {
    if (seconds == null || !isFinite(seconds))
        return "-";
    if (seconds < 10)
        return +seconds.toPrecision(3) + "s";
    let s = Math.round(seconds), text = "";
    for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60]]) {
        if (s >= size)
            text += Math.floor(s / size) + unit;
        s %= size;
    }
    return s > 0 || text === "" ? text + s + "s" : text;
}

/* The same with three significant digits, for what is estimated. */
function about(seconds) {
    if (seconds == null || !isFinite(seconds))
        return "-";
    const step = [86400, 21600, 3600, 600, 300, 60, 30, 10, 5, 1]
        .find(s => s <= Math.abs(seconds) / 100);
    return duration(step ? Math.round(seconds / step) * step
        : +seconds.toPrecision(3));
}

const amount = x => x == null ? "-" : String(+x.toFixed(2));

/* An amount of money; the currency may have no name. */
const price = (x, unit) => amount(x) + (unit ? " " + unit : "");

/* ---- charts ---- */

const charts = [];

/* Steps of an axis of time. */
const steps = [1, 2, 5].flatMap(x => [0.001, 0.01, 0.1, 1].map(y => x * y))
    .concat(10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
        43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 31536000)
    .sort((a, b) => a - b);

function axis(format, label, size) {
    return {
        stroke: colour("--faint"), label, size,
        grid: { stroke: colour("--line"), width: 1 },
        ticks: { stroke: colour("--line") },
        values: (u, splits) => splits.map(v => v == null ? "" : format(v)),
        space: 70,
    };
}

function chart(place, title, options, values) {
    const box = element(place, "div", undefined,
        { role: "img", "aria-label": title + ". The tables have the figures." });
    /* Without the pointer there are no values to be shown. */
    const live = u => u.root.querySelector(".u-legend").classList
        .toggle("u-live", u.cursor.idx != null);
    const hooks = { ...options.hooks, ready: [live],
        setCursor: [live, ...options.hooks?.setCursor ?? []] };
    const u = new uPlot({
        width: Math.max(280, place.clientWidth), height: 260,
        title, cursor: { drag: { x: true, y: false } },
        ...options, hooks,
    }, values, box);
    charts.push([u, place]);
    return u;
}

addEventListener("resize", () => {
    for (const [u, place] of charts)
        u.setSize({ width: Math.max(280, place.clientWidth), height: u.height });
});

const timeAxis = label => ({ ...axis(duration, label, label ? 50 : 30),
    incrs: steps });
const plainScale = { x: { time: false }, y: { range: (u, low, high) =>
    [0, high > 0 ? high * 1.06 : 1] } };

/* An axis of time where each length is a factor, not a sum. */
const factorAxis = label => ({ ...axis(duration, label, 80),
    filter: (u, splits) => splits,
    splits: (u, i, low, high) => {
        const all = steps.filter(s => s >= low && s <= high);
        const every = Math.ceil(all.length / 6);
        return all.filter((s, k) => k % every === 0);
    } });

const dots = (label, stroke, size, format) => ({ label, stroke,
    paths: () => null, points: { show: true, size, fill: stroke },
    value: (u, v) => v == null ? "-" : format(v) });

function tip(place) {
    const box = element(place, "div", "", { class: "tip", role: "status" });
    box.hidden = true;
    return {
        show(x, y, lines) {
            box.replaceChildren();
            for (const line of lines)
                element(box, "div", line);
            box.hidden = false;
            const room = place.clientWidth - box.offsetWidth - 4;
            box.style.left = Math.max(0, Math.min(x + 12, room)) + "px";
            box.style.top = y + 14 + "px";
        },
        hide() { box.hidden = true; },
    };
}

/* ---- the run ---- */

function drawMoney(place) {
    data.money.t[0] = 0; /* the first point stands for all before it */
    const m = data.money, unit = data.status.currency;
    const budget = data.status.budget == null ? null : +data.status.budget;
    const note = tip(place);
    const mark = u => {
        const c = u.ctx;
        c.save();
        c.strokeStyle = c.fillStyle = colour("--accent");
        c.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
        c.textAlign = "left";
        let free = 0; /* where the next label has room */
        for (const [t, why] of data.decisions) {
            const x = u.valToPos(t, "x", true);
            if (x < u.bbox.left || x > u.bbox.left + u.bbox.width)
                continue;
            c.globalAlpha = 0.35;
            c.beginPath();
            c.moveTo(x, u.bbox.top);
            c.lineTo(x, u.bbox.top + u.bbox.height);
            c.stroke();
            c.globalAlpha = 1;
            c.beginPath();
            c.arc(x, u.bbox.top + 5 * devicePixelRatio, 4 * devicePixelRatio,
                0, 7);
            c.fill();
            const from = x + 7 * devicePixelRatio;
            const to = from + c.measureText(why).width;
            if (from < free || to > u.bbox.left + u.bbox.width)
                continue;
            c.fillText(why, from, u.bbox.top + 9 * devicePixelRatio);
            free = to + 12 * devicePixelRatio;
        }
        c.restore();
    };
    const hover = u => {
        const x = u.cursor.left;
        let best = null, near = 9;
        for (const d of data.decisions) {
            const far = Math.abs(u.valToPos(d[0], "x") - x);
            if (far < near)
                [best, near] = [d, far];
        }
        if (best === null || x < 0)
            note.hide();
        else
            note.show(x, u.over.offsetTop, [duration(best[0]) + ": " + best[1],
                best[2]]);
    };
    const series = [
        { label: "time", value: (u, v) => duration(v) },
        { label: "charged", stroke: colour("--accent"), width: 2,
            paths: uPlot.paths.stepped({ align: -1 }),
            value: (u, v) => amount(v) },
    ];
    const values = [m.t, m.charged];
    if (m.reserved !== null) {
        series.push({ label: "reserved", stroke: colour("--faint"), width: 1,
            paths: uPlot.paths.stepped({ align: -1 }), dash: [5, 4],
            value: (u, v) => amount(v) });
        values.push(m.reserved);
    }
    /* A budget far above what was charged would leave no room for that. */
    const top = Math.max(...m.charged, ...m.reserved ?? [0]);
    const far = budget !== null && budget > 2 * top;
    if (budget !== null && !far) {
        series.push({ label: "budget", stroke: colour("--bad"), width: 1,
            dash: [2, 3], value: (u, v) => amount(v) });
        values.push(m.t.map(() => budget));
    }
    chart(place, "Charged over time, with the decisions as dots" + (far ?
        "; the budget of " + price(budget, unit) + " is above" : ""), {
        series, scales: plainScale,
        axes: [timeAxis("virtual time"), axis(amount, unit, 70)],
        hooks: { draw: [mark], setCursor: [hover] },
    }, values);
}

function drawMachines(place) {
    data.machines.forEach((m, i) => {
        const tone = hue(i);
        chart(place, m.name + ": machines held, and in use", {
            height: 190, scales: plainScale,
            series: [
                { label: "time", value: (u, v) => duration(v) },
                { label: "held (paid)", stroke: colour("--idle"), width: 1,
                    fill: colour("--idle") + "66", value: (u, v) => amount(v) },
                { label: "in use", stroke: tone, width: 1, fill: tone + "aa",
                    value: (u, v) => amount(v) },
            ],
            axes: [timeAxis(), axis(amount, "machines", 60)],
        }, [data.money.t, m.held, m.busy]);
    });
}

function drawRuntimes(place) {
    if (data.runtimes.length === 0)
        element(place, "p", "No task was done.");
    data.runtimes.forEach((r, i) => {
        const n = r.counts.length, middle = [];
        for (let k = 0; k < n; k++)
            middle.push(k + 0.5);
        /* The bars are equally wide; the labels are their limits. */
        const label = v => {
            const k = Math.round(v);
            return k >= 0 && k <= n ? about(r.edges[k]) : "";
        };
        const at = seconds => {
            let k = 0;
            while (k < n - 1 && seconds >= r.edges[k + 1])
                k++;
            return k + Math.min(1, (seconds - r.edges[k]) /
                (r.edges[k + 1] - r.edges[k]));
        };
        const line = (u, seconds, tone, dash) => {
            if (seconds == null)
                return;
            const c = u.ctx, x = u.valToPos(at(seconds), "x", true);
            c.save();
            c.strokeStyle = tone;
            c.lineWidth = 2 * devicePixelRatio;
            c.setLineDash(dash);
            c.beginPath();
            c.moveTo(x, u.bbox.top);
            c.lineTo(x, u.bbox.top + u.bbox.height);
            c.stroke();
            c.restore();
        };
        chart(place, r.cluster + ": runtimes of " + r.n + " tasks; mean " +
            about(r.mean) + (r.estimate == null ? "" :
            ", estimated from the sample " + about(r.estimate) +
            " (dashed)"), {
            height: 190,
            scales: { x: { time: false, range: [0, n] }, y: plainScale.y },
            series: [
                { label: "runtime", value: (u, v) => v == null ? "-" :
                    about(r.edges[Math.floor(v)]) + " to " +
                    about(r.edges[Math.floor(v) + 1]) },
                { label: "tasks", stroke: hue(i), fill: hue(i) + "99",
                    paths: uPlot.paths.bars({ size: [0.95, 99] }),
                    points: { show: false } },
            ],
            axes: [axis(label, undefined, 40), axis(amount, "tasks", 60)],
            hooks: { draw: [u => {
                line(u, r.mean, colour("--ink"), []);
                line(u, r.estimate, colour("--bad"), [6, 5]);
            }] },
        }, [middle, r.counts]);
    });
}

/* ---- the Gantt chart ---- */

/* Numbers of seven bits a byte, the low ones first; see series.h. */
function numbers(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    let at = 0;
    return () => {
        let value = 0, factor = 1, b;
        do {
            b = bytes[at++];
            value += (b & 127) * factor;
            factor *= 128;
        } while (b > 127);
        return value;
    };
}

const kinds = ["done", "stopped at the end of a window", "failed, run again",
    "another replica was first", "checkpointed, run again",
    "failed beside a replica", "failed"];
const tones = ["#4e8fd0", "#8a8f98", "#d0453e", "#9b6fd0", "#49a39a",
    "#d0453e", "#d0453e"];

function readGantt(g) {
    const rows = [], windows = [];
    let next = numbers(g.spans);
    for (const [label, cluster, machine] of g.rows) {
        const n = next(), row = { label, cluster, machine,
            begin: new Float64Array(n), end: new Float64Array(n),
            kind: new Uint8Array(n), task: new Uint32Array(n) };
        let at = 0;
        for (let i = 0; i < n; i++) {
            at += next();
            const both = next();
            row.begin[i] = at * g.tick;
            at += Math.floor(both / 8);
            row.end[i] = at * g.tick;
            row.kind[i] = both % 8;
            row.task[i] = next();
        }
        rows.push(row);
    }
    next = numbers(g.windows);
    for (let m = 0; m <= g.rows[g.rows.length - 1][2]; m++) {
        const list = [];
        let at = 0;
        for (let n = next(); n > 0; n--) {
            at += next();
            const begin = at * g.tick;
            at += next();
            list.push([begin, at * g.tick]);
        }
        windows.push(list);
    }
    return { rows, windows };
}

/* The first index whose value is greater than x. */
function after(list, x) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

function drawGantt(place) {
    if (data.gantt == null || data.gantt.rows.length === 0)
        return;
    const { rows, windows } = readGantt(data.gantt);
    const margin = 110, top = 22, end = data.end;
    const tools = element(place, "div", undefined, { class: "tools" });
    const legend = element(place, "p", undefined, { class: "note" });
    for (const [name, text] of [["done", "done"], ["failed", "failed"],
        ["stopped", "stopped, to run again"], ["replica",
            "replica that came second"], ["idle", "paid and idle"]]) {
        element(legend, "span", "", { class: "key " + name });
        legend.append(text + "   ");
    }
    const scale = element(place, "p", undefined, { class: "note" });
    const canvas = element(place, "canvas", undefined, { class: "gantt",
        tabindex: "0", role: "img", "aria-label": "Tasks on " + rows.length +
        " slots over time. Arrow keys move, plus and minus zoom, 0 shows all. " +
        "The tables list slow and failed tasks." });
    const say = tip(place);
    const height = Math.max(120, Math.min(640, rows.length * 18 + top + 6));
    canvas.style.height = height + "px";
    let from = 0, to = end, first = 0, found = null, by = "state";
    const shown = Math.min(rows.length, Math.floor((height - top) / 3));
    const tall = () => (height - top) / Math.min(shown, rows.length);
    const toX = (t, w) => margin + (t - from) / (to - from) * (w - margin);
    const toTime = (x, w) => from + (x - margin) / (w - margin) * (to - from);

    const select = element(element(tools, "label", "Colours by "), "select");
    for (const word of ["state", "runtime", "cluster"])
        element(select, "option", word);
    const parameters = data.parameters || {};
    for (const name of new Set(Object.values(parameters).flatMap(Object.keys)))
        element(select, "option", name, { value: "=" + name });
    const search = element(element(tools, "label", "Find task "), "input",
        undefined, { type: "search", size: "16", placeholder:
        data.commands ? "number or text" : "number" });
    const answer = element(tools, "span", "", { role: "status" });
    const button = (text, action) => element(tools, "button", text,
        { type: "button" }).addEventListener("click", action);

    let longest = 0;
    for (const row of rows)
        for (let i = 0; i < row.begin.length; i++)
            longest = Math.max(longest, row.end[i] - row.begin[i]);

    /* The colours of a parameter's values, in their order. */
    const valueOf = task => String((parameters[task] || {})[by.slice(1)]);
    let ranks = new Map();
    const rankTone = k => `hsl(${230 - 230 * k / (ranks.size - 1 || 1)} 65% 55%)`;
    function rank() {
        const values = by[0] === "=" ?
            [...new Set(Object.keys(parameters).map(valueOf))] : [];
        values.sort((a, b) => a - b || (a < b ? -1 : 1));
        ranks = new Map(values.map((value, k) => [value, k]));
        scale.textContent = "";
        const step = Math.ceil(values.length / 12);
        for (let k = 0; k < values.length; k += step) {
            element(scale, "span", "", { class: "key" }).style.background =
                rankTone(k);
            scale.append(values[k] + "   ");
        }
    }

    function tone(row, i) {
        if (by[0] === "=")
            return rankTone(ranks.get(valueOf(row.task[i])) || 0);
        if (by === "cluster")
            return hue(row.cluster);
        if (by === "runtime") {
            const share = (row.end[i] - row.begin[i]) / (longest || 1);
            return `hsl(${230 - 230 * Math.sqrt(share)} 65% 55%)`;
        }
        return tones[row.kind[i]];
    }

    function drawRow(c, row, y, h, w) {
        c.fillStyle = colour("--idle");
        for (const [a, b] of windows[row.machine]) {
            if (b < from || a > to)
                continue;
            const x = Math.max(margin, toX(a, w));
            c.globalAlpha = 0.55;
            c.fillRect(x, y, Math.min(w, toX(b, w)) - x, h);
            c.globalAlpha = 1;
            if (toX(a, w) >= margin)
                c.fillRect(toX(a, w), y, 1, h);
        }
        /* Bars less than a pixel wide are drawn once per pixel. */
        let last = -1;
        for (let i = after(row.end, from); i < row.end.length; i++) {
            if (row.begin[i] > to)
                break;
            const x = Math.max(margin, toX(row.begin[i], w));
            const stop = Math.min(w, toX(row.end[i], w));
            const hit = found !== null && found(row.task[i]);
            if (stop - last < 0.5 && !hit)
                continue;
            c.fillStyle = hit ? colour("--ink") : tone(row, i);
            const gap = stop - x > 3 ? 0.7 : 0;
            c.fillRect(x, y, Math.max(hit ? 3 : 0.6, stop - x - gap), h);
            last = stop;
        }
    }

    let wanted = false;
    function draw() {
        wanted = false;
        const w = place.clientWidth, ratio = devicePixelRatio || 1;
        canvas.width = Math.round(w * ratio);
        canvas.height = Math.round(height * ratio);
        const c = canvas.getContext("2d");
        c.scale(ratio, ratio);
        c.font = "11px system-ui, sans-serif";
        c.fillStyle = colour("--faint");
        const step = steps.find(s => (to - from) / s <= (w - margin) / 80) ||
            end;
        for (let t = Math.ceil(from / step) * step; t < to; t += step) {
            c.fillText(duration(t), toX(t, w) + 2, 13);
            c.fillRect(toX(t, w), 3, 1, height);
        }
        const h = tall();
        for (let i = 0; i < shown && first + i < rows.length; i++) {
            const row = rows[first + i], y = top + i * h;
            drawRow(c, row, y + (h > 6 ? 1 : 0), h - (h > 6 ? 2 : 0.3), w);
            if (h >= 11 || i % Math.ceil(11 / h) === 0) {
                c.fillStyle = colour("--ink");
                c.fillText(row.label, 2, y + Math.min(h, 12) - 1, margin - 6);
            }
        }
    }
    function redraw() {
        if (!wanted)
            requestAnimationFrame(draw);
        wanted = true;
    }

    function zoom(factor, centre = (from + to) / 2) {
        const least = Math.max(data.gantt.tick * 20, end / 1e6);
        let wide = Math.min(end, Math.max(least, (to - from) * factor));
        from = Math.max(0, centre - (centre - from) * wide / (to - from));
        to = Math.min(end, from + wide);
        from = Math.max(0, to - wide);
        redraw();
    }
    function move(share) {
        const wide = to - from;
        from = Math.max(0, Math.min(end - wide, from + share * wide));
        to = from + wide;
        redraw();
    }
    function scroll(n) {
        first = Math.max(0, Math.min(rows.length - shown, first + n));
        redraw();
    }
    const all = () => { from = 0; to = end; first = 0; redraw(); };
    button("+", () => zoom(0.5));
    button("\u2212", () => zoom(2));
    button("\u25c0", () => move(-0.4));
    button("\u25b6", () => move(0.4));
    if (rows.length > shown) {
        button("\u25b2", () => scroll(-shown / 2 | 0));
        button("\u25bc", () => scroll(shown / 2 | 0));
    }
    button("all", all);
    [...tools.querySelectorAll("button")].forEach((b, i) =>
        b.setAttribute("aria-label", ["zoom in", "zoom out", "earlier",
            "later"][i] || b.textContent));
    canvas.addEventListener("keydown", e => {
        const action = { "+": () => zoom(0.5), "=": () => zoom(0.5),
            "-": () => zoom(2), "0": all, ArrowLeft: () => move(-0.2),
            ArrowRight: () => move(0.2), ArrowUp: () => scroll(-1),
            ArrowDown: () => scroll(1) }[e.key];
        if (action) {
            action();
            e.preventDefault();
        }
    });
    canvas.addEventListener("wheel", e => {
        if (!e.ctrlKey && !e.shiftKey && document.activeElement !== canvas)
            return; /* the page scrolls, until the chart is clicked */
        zoom(e.deltaY > 0 ? 1.25 : 0.8, toTime(e.offsetX, canvas.clientWidth));
        e.preventDefault();
    }, { passive: false });
    let drag = null;
    canvas.addEventListener("pointerdown", e => {
        drag = e.offsetX;
        canvas.focus({ preventScroll: true });
    });
    addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointermove", e => {
        const w = canvas.clientWidth;
        if (drag !== null) {
            move((drag - e.offsetX) / (w - margin));
            drag = e.offsetX;
            return;
        }
        const row = rows[first + Math.floor((e.offsetY - top) / tall())];
        const t = toTime(e.offsetX, w);
        if (!row || e.offsetY < top || e.offsetX < margin)
            return say.hide();
        const i = after(row.end, t), y = canvas.offsetTop + e.offsetY;
        if (i < row.end.length && row.begin[i] <= t) {
            const lines = ["task " + row.task[i] + " on " + row.label,
                kinds[row.kind[i]] + ", " + duration(row.end[i] -
                    row.begin[i]) + " from " + duration(row.begin[i])];
            if (data.commands && data.commands[row.task[i]])
                lines.push(data.commands[row.task[i]]);
            for (const [name, value] of
                Object.entries(parameters[row.task[i]] || {}))
                lines.push(name + " " + value);
            say.show(e.offsetX, y, lines);
        } else if (windows[row.machine].some(([a, b]) => a <= t && t < b)) {
            say.show(e.offsetX, y, [row.label + " was paid, and idle"]);
        } else {
            say.hide();
        }
    });
    canvas.addEventListener("pointerleave", () => say.hide());
    select.addEventListener("change", () => {
        by = select.value;
        rank();
        redraw();
    });
    search.addEventListener("input", () => {
        const text = search.value.trim();
        found = text === "" ? null : /^\d+$/.test(text)
            ? task => task === +text
            : task => data.commands !== null &&
                (data.commands[task] || "").includes(text);
        let n = 0, where = null;
        if (found)
            rows.forEach((row, k) => row.task.forEach((task, i) => {
                if (found(task) && n++ === 0)
                    where = [k, row.begin[i], row.end[i]];
            }));
        answer.textContent = found ? n + (n === 1 ? " bar" : " bars") : "";
        if (where && (where[0] < first || where[0] >= first + shown))
            first = Math.max(0, Math.min(rows.length - shown, where[0]));
        if (where && (where[2] < from || where[1] > to))
            move((where[1] - from) / (to - from) - 0.5);
        redraw();
    });
    addEventListener("resize", redraw);
    /* for the tests */
    window.gantt = { rows, windows, tone, view: () => [from, to] };
    draw();
}

/* ---- a plan ---- */

function drawFrontier(place) {
    /* Less money than the cheapest offer may take many times as long: nobody
     * is offered that, and the chart would be flat. */
    const list = data.frontier = data.frontier.filter(s =>
        s.feasible && +s.cost >= data.cheapest);
    if (list.length === 0)
        return;
    const unit = data.currency, cost = list.map(s => +s.cost);
    const at = key => list.map(s => s[key]);
    const bounded = list.some(s => s.makespan_high_s != null);
    const spread = list[0].makespan_s / list.at(-1).makespan_s > 5;
    let chosen = 0;
    const mark = u => {
        const c = u.ctx, r = 5 * devicePixelRatio;
        c.fillStyle = colour("--accent");
        c.beginPath();
        c.arc(u.valToPos(cost[chosen], "x", true),
            u.valToPos(list[chosen].makespan_s, "y", true), r, 0, 7);
        c.fill();
    };
    const series = [{ label: "cost", value: (u, v) => price(v, unit) },
        { label: "makespan", stroke: colour("--accent"), width: 2,
            paths: uPlot.paths.stepped({ align: 1 }), points: { show: true },
            value: (u, v) => about(v) }];
    const values = [cost, at("makespan_s")];
    if (bounded)
        for (const [key, label] of [["makespan_low_s", "at least"],
            ["makespan_high_s", "at most"]]) {
            series.push({ label, stroke: colour("--faint"), width: 1,
                dash: [5, 4], paths: uPlot.paths.stepped({ align: 1 }),
                points: { show: false }, value: (u, v) => about(v) });
            values.push(at(key));
        }
    const u = chart(place, "Makespan by budget", {
        series, scales: spread
            ? { x: { time: false }, y: { distr: 3 } } : plainScale,
        bands: bounded ? [{ series: [3, 2], fill: colour("--faint") + "33" }]
            : [],
        axes: [axis(amount, unit || "cost", 50), spread
            ? factorAxis("makespan")
            : { ...axis(duration, "makespan", 80), incrs: steps }],
        hooks: { draw: [mark] },
    }, values);

    /* The sliders go over the schedules, not over amounts: each step is one. */
    const tools = element(place, "div", undefined, { class: "tools" });
    const slider = label => {
        const box = element(tools, "label", label + " ");
        const input = element(box, "input", undefined, { type: "range",
            min: "0", max: String(list.length - 1), value: "0" });
        return [input, element(box, "output", "")];
    };
    const [budget, budgetSays] = slider("Budget");
    const [deadline, deadlineSays] = slider("Deadline");
    const facts = element(place, "dl", undefined, { class: "facts",
        "aria-live": "polite" });
    const lines = element(place, "pre", "", { tabindex: "0" });
    const fact = (name, value, more) => {
        const box = element(facts, "div");
        element(box, "dt", name);
        const dd = element(box, "dd", value);
        if (more)
            element(dd, "small", more);
    };
    const quoted = text => /^[\w.,:=@%/+-]+$/.test(text) ? text
        : "'" + text.replaceAll("'", "'\\''") + "'";
    function choose(i) {
        chosen = i;
        const s = list[i];
        budget.value = i;
        deadline.value = list.length - 1 - i;
        budgetSays.textContent = price(+s.cost, unit);
        deadlineSays.textContent = about(s.makespan_s);
        budget.setAttribute("aria-valuetext", budgetSays.textContent);
        deadline.setAttribute("aria-valuetext", deadlineSays.textContent);
        facts.replaceChildren();
        fact("Machines", s.held, s.machine_windows || s.windows < 2 ? ""
            : "for " + s.windows + " windows");
        fact("Makespan", about(s.makespan_s), s.makespan_high_s == null ? ""
            : "between " + about(s.makespan_low_s) + " and " +
            about(s.makespan_high_s));
        fact("Bill", price(+s.cost, unit), s.cost_high == null ? ""
            : "at most " + price(+s.cost_high, unit));
        const most = s.cost_high == null ? s.cost : s.cost_high;
        lines.hidden = data.profile === null;
        lines.textContent = data.profile === null ? "" :
            "bats-mpi run " + quoted(data.bag) + " --profile " +
            quoted(data.profile) + " --budget " +
            most + "\nbats-mpi plan " + quoted(data.profile) + " --sbatch " +
            (s.name ? quoted(s.name) : "best --budget " + s.cost) + " | sbatch";
        u.redraw(false);
    }
    budget.addEventListener("input", () => choose(+budget.value));
    deadline.addEventListener("input",
        () => choose(list.length - 1 - deadline.value));
    choose(Math.floor(list.length / 2));
}

/* ---- strategies ---- */

/* Utility is makespan^w cost^(1-w): 0 the cheapest, 1/2 the least product, 1 the
 * fastest. */
function drawStrategies(place) {
    const all = (data.strategies ?? []).filter(s => s.makespan_s < 1e11)
        .sort((a, b) => a.cost - b.cost);
    const list = all.filter(s => s.efficient);
    if (list.length === 0)
        return;
    const unit = data.currency ?? data.status.currency;
    const at = want => all.map(s => want(s) ? s.makespan_s : null);
    const spread = key => {
        const values = all.map(s => s[key]);
        return Math.max(...values) / Math.min(...values) > 5;
    };
    let best;
    const mark = u => {
        const c = u.ctx;
        c.fillStyle = colour("--accent");
        c.beginPath();
        c.arc(u.valToPos(best.cost, "x", true),
            u.valToPos(best.makespan_s, "y", true), 6 * devicePixelRatio, 0, 7);
        c.fill();
    };
    const u = chart(place, "What strategies take and cost", {
        height: 380,
        series: [{ label: "cost", value: (u, v) => price(v, unit) },
            { label: "frontier", stroke: colour("--accent"),
                width: 2, spanGaps: true,
                paths: uPlot.paths.stepped({ align: 1 }),
                points: { show: true }, value: (u, v) => about(v) },
            dots("others", colour("--faint"), 3, about),
            dots("static", hue(1), 7, about)],
        scales: { x: { time: false, distr: spread("cost") ? 3 : 1 },
            y: spread("makespan_s") ? { distr: 3 } : plainScale.y },
        axes: [axis(amount, unit || "cost", 50), spread("makespan_s")
            ? factorAxis("makespan")
            : { ...axis(duration, "makespan", 80), incrs: steps }],
        hooks: { draw: [mark] },
    }, [all.map(s => s.cost), at(s => s.efficient),
        at(s => !s.efficient && !s.static), at(s => s.static)]);

    const tools = element(place, "div", undefined, { class: "tools" });
    const label = element(tools, "label", "Cheap ");
    const weight = element(label, "input", undefined, { type: "range",
        min: "0", max: "100", value: "50" });
    label.append(" fast ");
    const says = element(tools, "output", "");
    const facts = element(place, "dl", undefined, { class: "facts",
        "aria-live": "polite" });
    const line = element(place, "pre", "", { tabindex: "0" });
    const fact = (name, value, more) => {
        const box = element(facts, "div");
        element(box, "dt", name);
        element(element(box, "dd", value), "small", more);
    };
    function choose() {
        const w = weight.value / 100;
        const utility = s => w * Math.log(s.makespan_s) +
            (1 - w) * Math.log(Math.max(s.cost, 1e-9));
        best = list.reduce((a, b) => utility(b) < utility(a) ? b : a);
        says.textContent = w === 0.5 ? "makespan x cost"
            : w > 0.5 ? "time counts more" : "money counts more";
        weight.setAttribute("aria-valuetext", says.textContent + ": " +
            about(best.makespan_s) + ", " + price(best.cost, unit));
        facts.replaceChildren();
        fact("Makespan", about(best.makespan_s),
            "\u00b1 " + about(best.makespan_margin_s));
        fact("Cost", price(best.cost, unit),
            "\u00b1 " + amount(best.cost_margin));
        fact("Reliable instances", String(+best.sent_reliable.toFixed(1)),
            best.best);
        line.textContent = "--policy expert --strategy " + best.strategy;
        u.redraw(false);
    }
    weight.addEventListener("input", choose);
    choose();
}

/* ---- a simulation ---- */

/* For each budget, the sorted runs of each policy: where a line ends, that
 * many runs did the whole bag. */
function drawQuantiles(key, title, format, unit) {
    return place => {
        const x = Array.from({ length: 101 }, (_, i) => i);
        for (const budget of new Set(data.groups.map(g => g.budget))) {
            const groups = data.groups.filter(g => g.budget === budget);
            const series = [{ label: "runs", value: (u, v) => v == null ? "-" : v + "%" }];
            const values = [x];
            groups.forEach((g, i) => {
                series.push({ label: g.policy, stroke: hue(i), width: 2,
                    points: { show: false },
                    value: (u, v) => v == null ? "-" : format(v) });
                values.push(g[key]);
            });
            if (key === "makespan") {
                series.push({ label: "bound", stroke: colour("--faint"),
                    width: 1, dash: [5, 4], points: { show: false },
                    value: (u, v) => v == null ? "-" : format(v) });
                values.push(groups[0].bound);
            }
            const vertical = axis(format, unit, 80);
            if (key === "makespan")
                vertical.incrs = steps;
            chart(place, title + ", budget " + budget, {
                series, scales: plainScale,
                axes: [axis(v => v + "%", "of the runs had at most this", 50),
                    vertical],
            }, values);
        }
    };
}

/* ---- all pages ---- */

const painters = {
    run: { money: drawMoney, machines: drawMachines, gantt: drawGantt,
        runtimes: drawRuntimes, parameters: drawSweep,
        strategies: drawStrategies },
    plan: { frontier: drawFrontier },
    strategies: { strategies: drawStrategies },
    simulation: {
        makespans: drawQuantiles("makespan", "Makespan", about, undefined),
        costs: drawQuantiles("cost", "Charged", amount, data.currency),
    },
};
for (const [id, paint] of Object.entries(painters[data.kind])) {
    const place = document.getElementById(id);
    if (place)
        paint(place);
}
