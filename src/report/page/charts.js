/* Elements, tables and charts of a page. All texts are set as text, never as
 * markup; charts.js, run.js, sweep.js, graph.js and page.js are one script. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const style = getComputedStyle(document.documentElement);
const colour = name => style.getPropertyValue(name).trim();
const hues = ["#3b7dd8", "#d97a2b", "#3d9a58", "#9b5fc0", "#c7473f", "#5f8f96",
    "#b39024", "#d46aa0"];
const hue = i => hues[i % hues.length];
const main = document.querySelector("main");

/* Control characters, which a browser does not show. */
const visible = text => String(text).replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    c => "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));

function element(parent, name, text, attributes = {}) {
    const e = document.createElement(name);
    if (text !== undefined)
        e.textContent = visible(text);
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
        return seconds < 0.9995 && seconds > 0
            ? +(1000 * seconds).toPrecision(3) + "ms"
            : +seconds.toPrecision(3) + "s";
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

const amount = x => x == null ? "-"
    : String(Math.abs(x) < 1 ? +x.toPrecision(3) : +x.toFixed(2));

/* An amount of money; the currency may have no name. */
const price = (x, unit) => amount(x) + (unit ? " " + unit : "");

const percent = share => Math.round(100 * share) + "%";
const count = (n, noun) => n + " " + noun + (n === 1 ? "" : "s");
const memory = kib => kib > 0 ? (kib / 1024).toFixed(1) + " MiB" : "-";
const fixed = digits => x => x.toFixed(digits);

/* 1700000000 -> "2023-11-14 22:13:20": in the reader's time zone. */
const clock = s => new Date(1000 * s).toLocaleString("sv-SE");

const byKey = key => (a, b) => a[key] - b[key];
const sum = (list, of) => list.reduce((total, x) => total + of(x), 0);

/* ---- parts of the page ---- */

/* A heading, and a place for a chart. */
function section(heading, id) {
    element(main, "h2", heading);
    return element(main, "div", undefined, id ? { class: "chart", id } : {});
}

const note = (text, place = main) =>
    element(place, "p", text, { class: "note" });

/* [name, value, more] each. */
function factsInto(list, facts) {
    list.replaceChildren();
    for (const [name, value, more] of facts) {
        const box = element(list, "div");
        element(box, "dt", name);
        const dd = element(box, "dd", value);
        if (more)
            dd.append(" ", element(null, "small", more));
    }
}

const PAGE = 50; /* rows of a table at a time */

/* Rows as a table. A column is [head, value of a row or its key, format,
 * "spare"]: a head that begins with '<' is flush left, one with '`' is code.
 * A column without a value is left out, a spare one also without any but 0. A
 * click on a head sorts. */
function table(place, caption, all, rows) {
    const columns = all.map(([head, of, format = String, spare]) => ({
        head: head.replace(/^[<`]/, ""), format, spare,
        style: { "<": "text", "`": "code" }[head[0]],
        of: typeof of === "function" ? of : row => row[of],
    })).filter(c => rows.some(row => c.of(row) != null && c.of(row) !== "" &&
        (!c.spare || +c.of(row) !== 0)));
    const box = element(place, "div", undefined, { class: "wide",
        tabindex: "0", role: "region", "aria-label": caption });
    const grid = element(box, "table");
    element(grid, "caption", caption);
    const heads = element(element(grid, "thead"), "tr");
    const body = element(grid, "tbody");
    let first = 0, shown = rows;
    const foot = rows.length > PAGE
        ? element(place, "div", undefined, { class: "tools" }) : null;

    function fill() {
        body.replaceChildren();
        for (const row of shown.slice(first, first + PAGE)) {
            const line = element(body, "tr");
            for (const c of columns) {
                const value = c.of(row);
                element(line, "td", value == null || value === "" ? "-"
                    : c.format(value, row), c.style ? { class: c.style } : {});
            }
        }
        if (foot)
            foot.firstChild.textContent = (first + 1) + " to " +
                Math.min(first + PAGE, rows.length) + " of " + rows.length;
    }
    function sort(c, head) {
        const down = head.getAttribute("aria-sort") === "ascending";
        const order = new Intl.Collator(undefined, { numeric: true }).compare;
        heads.querySelectorAll("th").forEach(th =>
            th.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        shown = [...rows].sort((a, b) => {
            const x = c.of(down ? b : a), y = c.of(down ? a : b);
            return (x == null) - (y == null) || (typeof x === "number" &&
                typeof y === "number" ? x - y : order(x, y));
        });
        first = 0;
        fill();
    }
    for (const c of columns) {
        const head = element(heads, "th", undefined, { scope: "col",
            ...c.style ? { class: "text" } : {} });
        element(head, "button", c.head, { type: "button" })
            .addEventListener("click", () => sort(c, head));
    }
    if (foot) {
        element(foot, "span");
        for (const [text, by] of [["earlier", -PAGE], ["later", PAGE]])
            element(foot, "button", text, { type: "button" })
                .addEventListener("click", () => {
                    if (shown[first + by])
                        first += by;
                    fill();
                });
    }
    fill();
}

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
const countAxis = label => ({ ...axis(amount, label, 60), space: 30, incrs: [1, 2, 5]
    .flatMap(x => Array.from({ length: 9 }, (_, i) => x * 10 ** i))
    .sort((a, b) => a - b) });
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
