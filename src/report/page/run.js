/* A recorded run: its figures (record/read/axis.c), tables and charts. */

/* ---- reading ---- */

/* Numbers of five bits a digit, the low ones first. */
function numbers(text) {
    const digits = new Uint8Array(128);
    [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"]
        .forEach((c, i) => { digits[c.charCodeAt(0)] = i; });
    let at = 0;
    const next = () => {
        let value = 0, factor = 1, digit;
        do {
            digit = digits[text.charCodeAt(at++)];
            value += (digit & 31) * factor;
            factor *= 32;
        } while (digit > 31);
        return value;
    };
    return { next, more: () => at < text.length };
}

/* The executions that ended, in seconds of the axis, in the order in which
 * their results arrived. Results of several short tasks may arrive together:
 * each ended before the next one began in its slot. */
function readSpans(text, tick, end, machines) {
    const all = { machine: [], slot: [], begin: [], end: [], kind: [],
        task: [], kib: [] };
    const { next, more } = numbers(text);
    let at = 0;
    while (more()) {
        all.machine.push(next());
        all.slot.push(next());
        const since = next();
        at += since % 2 ? -(since + 1) / 2 : since / 2;
        const both = next();
        all.end.push(at * tick);
        all.begin.push((at - Math.floor(both / 8)) * tick);
        all.kind.push(both % 8);
        all.task.push(next());
        all.kib.push(next());
    }
    const free = machines.map(m => new Float64Array(m.slots).fill(end));
    for (let i = all.end.length - 1; i >= 0; i--) {
        const slots = free[all.machine[i]];
        const late = Math.min(Math.max(all.end[i] - slots[all.slot[i]], 0),
            all.begin[i]);
        all.end[i] -= late;
        slots[all.slot[i]] = all.begin[i] -= late;
    }
    return all;
}

/* For each machine the times for which it was paid, [from, to, paid until]: a
 * window, the time of a task, or as long as it was held; in an allocation
 * always. A window may be paid beyond the end of the axis. */
function readHolds({ terms, charges, leases, spans, machines, window, end }) {
    const holds = machines.map(() => []);
    if (terms.returns) {
        for (const [m, from, to] of leases)
            holds[m].push([from / 1e6, to / 1e6, to / 1e6]);
    } else if (terms.in_windows) {
        /* A late master charges several windows at once. */
        for (const [t, m] of charges) {
            const from = Math.max(t / 1e6, holds[m]?.at(-1)?.[2] ?? 0);
            holds[m]?.push([from, Math.min(from + window, end),
                from + window]);
        }
    } else if (terms.lasts) {
        holds.forEach(list => list.push([0, end, end]));
    } else if (terms.idle_is_free) {
        spans.begin.forEach((from, i) => holds[spans.machine[i]].push(
            [from, spans.end[i], spans.end[i]]));
    }
    return holds.map(list => {
        const joined = [];
        list.sort((a, b) => a[0] - b[0]);
        for (const hold of list) {
            const last = joined.at(-1);
            if (!terms.idle_is_free || !last || last[1] < hold[0])
                joined.push(hold);
            else
                last[1] = last[2] = Math.max(last[1], hold[1]);
        }
        return joined.filter(([from, to]) => from < to);
    });
}

/* The value for each task, by number, of [value, tasks, value, tasks, ...]. */
function spread(list) {
    const values = [];
    for (let i = 0, n = 1; list && i < list.length; n += list[i + 1], i += 2)
        values.push([n, list[i]]);
    return task => {
        let low = 0, high = values.length;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (values[middle][0] <= task)
                low = middle;
            else
                high = middle;
        }
        return high > 0 ? values[low][1] : undefined;
    };
}

/* ---- series ---- */

const BINS = 2000;

/* Adds `weight` to equal parts of the axis, each by its share of the time. */
function addArea(bins, step, begin, end, weight) {
    const bin = t => Math.max(0, Math.min(BINS - 1, Math.floor(t / step)));
    for (let i = bin(begin); i <= bin(end); i++)
        bins[i] += weight * Math.max(0, Math.min(end, (i + 1) * step) -
            Math.max(begin, i * step)) / step;
}

function moneySeries() {
    const step = data.end / BINS || 1, charged = new Array(BINS).fill(0);
    for (const [t, , sum] of data.charges)
        charged[Math.min(BINS - 1, Math.floor(t / 1e6 / step))] += sum;
    for (let i = 1; i < BINS; i++)
        charged[i] += charged[i - 1];
    const t = charged.map((_, i) => (i + 1) * step);
    return { t, charged, reserved: data.rate > 0 ? t.map(t =>
        data.rate * Math.ceil(t / data.window)) : null,
        held: heldSeries(t, charged) };
}

/* What was charged or held: known at decisions, and when all is charged; null:
 * only windows that have begun are held. */
function heldSeries(t, charged) {
    const budget = data.status.budget, last = data.charges.at(-1)?.[0] / 1e6;
    if (!data.terms.returns || budget === null || !(last > 0))
        return null;
    const known = [[0, 0], ...data.decisions.map(d => [d[0], budget - d[5]])
        .filter(d => d[0] < last), [last, charged.at(-1)]];
    let k = 0;
    return t.map((time, i) => {
        while (k < known.length - 2 && known[k + 1][0] <= time)
            k++;
        const [[from, a], [to, b]] = [known[k], known[k + 1]];
        const part = Math.min((time - from) / (to - from || 1), 1);
        return Math.max(a + (b - a) * part, charged[i]);
    });
}

/* Machines held and in use; slots in use count as parts of a machine. */
function machineSeries() {
    const { spans, places } = data, step = data.end / BINS || 1;
    const all = data.clusters.map(name => ({ name, paid: 0, used: 0,
        held: new Array(BINS).fill(0), busy: new Array(BINS).fill(0) }));
    data.holds.forEach((list, m) => {
        const cluster = all[places[m].cluster];
        for (const [from, to, until] of list) {
            addArea(cluster.held, step, from, to, 1);
            cluster.paid += (until - from) * places[m].slots;
        }
    });
    spans.begin.forEach((begin, i) => {
        const m = places[spans.machine[i]];
        addArea(all[m.cluster].busy, step, begin, spans.end[i], 1 / m.slots);
        all[m.cluster].used += spans.end[i] - begin;
    });
    for (const c of all)
        [c.held, c.busy] = [c.held, c.busy].map(list =>
            list.map(x => +x.toFixed(9)));
    return all;
}

const BARS = 32;

/* Beyond two orders of magnitude, the bars widen geometrically. */
function histogram(times) {
    const most = times.reduce((a, b) => Math.max(a, b), 0);
    const least = times.reduce((a, b) => Math.min(a, b), Infinity);
    const mean = sum(times, t => t) / times.length;
    const low = Math.max(least, most / 1e4);
    const byFactor = most > 50 * low;
    /* so that the labels of the bars differ even for equal runtimes */
    const [from, to] = byFactor ? [low, most]
        : [Math.min(low, 0.9 * mean), Math.max(most, 1.1 * mean)];
    const edges = Array.from({ length: BARS + 1 }, (_, i) => byFactor
        ? from * (to / from) ** (i / BARS) : from + (to - from) * i / BARS);
    edges[0] = Math.min(edges[0], least);
    const counts = new Array(BARS).fill(0);
    for (const t of times)
        counts[Math.max(0, Math.min(BARS, after(edges, t)) - 1)]++;
    return { edges, counts, n: times.length, mean };
}

/* Runtimes of done tasks, and their mean when the sample was taken. */
function runtimeSeries() {
    const { spans, places, session: [{ sampled_us }] } = data;
    return data.clusters.map((cluster, k) => {
        const times = [];
        let sampled = 0, n = 0;
        spans.begin.forEach((begin, i) => {
            if (spans.kind[i] !== 0 || places[spans.machine[i]].cluster !== k)
                return;
            times.push(spans.end[i] - begin);
            if (sampled_us !== null && spans.end[i] <= sampled_us / 1e6) {
                sampled += spans.end[i] - begin;
                n++;
            }
        });
        return { cluster, ...histogram(times),
            estimate: n > 0 ? sampled / n : null };
    }).filter(r => r.n > 0);
}

/* A row for each slot of a machine. */
function ganttRows() {
    const { spans, places } = data, rows = [];
    const first = places.map((m, k) => {
        const at = rows.length;
        for (let slot = 1; slot <= m.slots; slot++)
            rows.push({ label: m.slots > 1 ? m.name + "/" + slot : m.name,
                cluster: m.cluster, machine: k, begin: [], end: [], kind: [],
                task: [] });
        return at;
    });
    spans.begin.forEach((_, i) => {
        const row = rows[first[spans.machine[i]] + spans.slot[i]];
        for (const key of ["begin", "end", "kind", "task"])
            row[key].push(spans[key][i]);
    });
    return rows;
}

function readRun() {
    const session = data.session[0], terms = data.terms;
    data.finish = data.status.state.replace(/^done, .*/, "all done");
    data.end = session.end_us / 1e6;
    data.window = session.window_us / 1e6;
    data.time = session.pace === 1 ? "time" : "virtual time";
    data.places = data.places.map(([name, cluster, slots, charge]) =>
        ({ name, cluster, slots, charge }));
    data.clusters = [...new Set(data.places.map(m => m.cluster))];
    data.charges_of = data.clusters.map(name =>
        data.places.find(m => m.cluster === name).charge);
    for (const m of data.places)
        m.cluster = data.clusters.indexOf(m.cluster);
    data.tick = data.tick_us / 1e6;
    data.spans = readSpans(data.spans, data.tick, data.end, data.places);
    data.holds = readHolds({ ...data, machines: data.places });
    data.rate = terms.in_windows ? sum(data.status.clusters, c =>
        c.charge * c.machines) : 0;
    data.tasks = data.tasks.map(([number, state, tries, exit, signal, wall,
        kib, host, command, parameters]) => ({ number, state, tries, exit,
        signal, wall, kib, host, command, parameters }));
    const all = data.tasks.length === data.status.tasks;
    const byNumber = of => Object.fromEntries(data.tasks.filter(of)
        .map(t => [t.number, of(t)]));
    data.commands = all ? byNumber(t => t.command) : null;
    data.parameters = all ? byNumber(t => t.parameters) : {};
    data.need = readNeeds();
    data.money = moneySeries();
    data.machines = machineSeries();
    data.runtimes = runtimeSeries();
}

/* ---- the parts ---- */

const endings = { "all done": "The run is over",
    "budget": "The budget did not suffice for all tasks",
    "stopped": "The run was stopped", "no machines": "No machine was left",
    "halted": "The run was halted, as --halt asked",
    "deadline": "The time limit was reached",
    "sampled": "The sample was taken" };

function writeHead() {
    const { status: st, session: [session], command, finish } = data;
    const end = !st.over ? st.live ? "The run goes on"
        : "The run was interrupted" : endings[finish] ?? finish;
    element(main, "p", end + (st.failed > 0 ? ", some tasks failed" : "") +
        ": " + st.done + " of " + count(st.tasks, "task") + " done in " +
        duration(data.end) + ".", { class: "lead" });
    note("Started " + clock(session.started_s) + ", " + (!st.over && st.live
        ? "written " : "ended ") + clock(session.ended_s) + ".");
    if (command !== null)
        element(main, "pre", command);
}

/* What the history expected on the cluster with most results. */
function believed() {
    const { prior } = data.status.options?.engine ?? {};
    const clusters = data.status.clusters;
    const most = clusters.reduce((a, c, i) => c.done > clusters[a].done ? i
        : a, 0);
    const mean = prior?.mean_us?.[most] / 1e6, c = clusters[most];
    if (!(mean > 0) || prior.level == null || c.done === 0)
        return [];
    const factor = Math.exp(1.28 * Math.hypot(prior.level,
        prior.own?.[most] ?? 0));
    return [["A task took", about(c.mean_runtime_s), "on " + c.name +
        "; the history expected " + about(mean) + ", " +
        about(mean / factor) + " to " + about(mean * factor)]];
}

function writeFacts() {
    const { status: st, terms, rate } = data;
    const paid = sum(data.machines, m => m.paid);
    const used = sum(data.machines, m => m.used);
    const list = element(main, "dl", undefined, { class: "facts" });
    factsInto(list, [
        ["Tasks done", st.done + " of " + st.tasks, st.failed + " failed, " +
            (st.running + st.pending) + " left"],
        ["Charged", st.charged + " " + st.currency, "budget " +
            (st.budget ?? "unlimited")],
        ...rate > 0 && data.window > 0 ? [["Reserved", price(rate *
            Math.ceil(data.end / data.window), st.currency),
            "all machines held from start to end"]] : [],
        ...believed(),
        ["Makespan", duration(data.end), (data.time === "time" ? ""
            : "virtual time, ") + "all sessions"],
        ...paid > 0 && !terms.idle_is_free ? [["Paid time in use",
            percent(Math.min(used / paid, 1)),
            "the rest was paid, and idle"]] : [],
        ["Sessions", st.sessions, "policy " + st.policy + ", window " +
            duration(data.window) + ", seed " + st.seed],
    ]);
}

/* The limits of the last session and the chosen schedule, with the results. */
function writePromises() {
    const { status: st } = data, { engine, promise } = st.options ?? {};
    const done = data.finish === "all done", last = st.time_s, rows = [];
    const range = (low, high) => low === high ? low : low + " to " + high;
    const add = (what, asked, came, kept) =>
        rows.push({ what, asked, came, kept: kept ? "kept" : "missed" });
    if (st.budget !== null)
        add("cost, in all", st.budget, st.charged, +st.charged <= +st.budget);
    for (const [what, key, kept] of [
        ["all tasks done by", "goal_deadline_us", done],
        ["end, done or not", "deadline_us", true]])
        if (engine?.[key] > 0)
            add(what, duration(engine[key] / 1e6), duration(last),
                kept && last <= engine[key] / 1e6);
    if (promise) {
        const { cost, cost_high = cost, makespan_us,
            makespan_high_us = makespan_us } = promise;
        const name = promise.schedule || "schedule";
        const charged = +st.charged - (promise.charged_before ?? 0) / 1e6;
        const took = last - (promise.chosen_us ?? 0) / 1e6;
        add(name + ": cost, after the choice", range(amount(cost / 1e6),
            amount(cost_high / 1e6)), amount(charged),
            charged <= cost_high / 1e6);
        add(name + ": time, after the choice", range(about(makespan_us / 1e6),
            about(makespan_high_us / 1e6)), about(took),
            done && took <= makespan_high_us / 1e6);
    }
    if (st.over && rows.length > 0)
        table(main, "Promises and results", [["`promise", "what"],
            ["limit or estimate", "asked"], ["result", "came"],
            ["`outcome", "kept"]], rows);
}

function writeCauses() {
    if (data.causes.length === 0)
        return;
    section("Why tasks failed");
    table(main, "Failed tasks, equal failures together", [["tasks", "tasks"],
        ["<end", c => c.end + (c.advice ?? "")],
        ["<hosts", c => c.hosts.map(h => h.host + " (" + h.tasks + ")")
            .join(", ") + (sum(c.hosts, h => h.tasks) < c.tasks ? ", others"
            : "")],
        ["first task", "first_task"],
        ["`last line on standard error", "last_line"]], data.causes);
}

function writeDecisions() {
    drawMoney(section("Money and decisions", "money"));
    table(main, "Decisions", [["time", 0, duration], ["<reason", 1],
        ["<machines wanted", 2], ["windows", 3], ["tasks left", 4],
        ["budget left", 5, amount], ["expected end", 6, duration],
        ["expected cost", 7, amount]], [...data.decisions].reverse());
}

function writeMachines() {
    const use = name => data.machines.find(m => m.name === name) ??
        { paid: 0 };
    const three = x => String(+x.toPrecision(3));
    drawMachines(section("Machines", "machines"));
    table(main, "Clusters", [["cluster", "name"], ["charge", "charge"],
        ["machines", "machines"], ["windows", "windows"],
        ["charged", "charged"], ["done", "done"], ["failed", "failed"],
        ["mean time", c => c.mean_runtime_s || null, duration],
        ["in use", c => use(c.name).paid > 0 ? Math.min(1, use(c.name).used /
            use(c.name).paid) : null, percent],
        ["idle slot-h", c => use(c.name).paid > 0 ? Math.max(0,
            use(c.name).paid - use(c.name).used) / 3600 : null, fixed(1)],
        ["kWh", "energy_kwh", three, "spare"],
        ["kg CO2", "co2_kg", three, "spare"],
    ], data.status.clusters);
    if (data.status.workflows)
        table(main, "Workflows", [["<workflow", "name"],
            ["done", w => w.tasks_done + "/" + w.tasks],
            ["failed", "tasks_failed"], ["skipped", "tasks_skipped"],
            ["unpaid", "tasks_unpaid"], ["charged", "charged"],
            ["held", "held", String, "spare"], ["budget", "budget"],
            ["left", "left"], ["end", "end_s", duration],
            ["deadline", "deadline_s", (s, w) => duration(s) +
                (w.late ? " (late)" : "")]], data.status.workflows);
}

function writeSweep() {
    if (data.values.length === 0)
        return;
    drawSweep(section("Parameters", "parameters"));
    const money = x => String(+x.toPrecision(4));
    table(main, "Tasks by the value of each parameter; real time of those " +
        "that were done, and the charge for it", [["parameter", 0],
        ["`value", 1], ["tasks", 2], ["failed", 3],
        ["mean time", 4, duration], ["longest", 5, duration],
        ["time in all", 6, duration], ["mean cost", 7, money],
        ["cost in all", 8, money], ["most memory", 9, memory]], data.values);
    if (data.values.length === 200)
        note("Further values are not listed.");
}

/* The class of a task, and what it asked for. The record has cores and GPUs if
 * needs decide where tasks run; memory is also that of the batch job. */
function readNeeds() {
    const { run = {}, engine = {}, categories } = data.status.options ?? {};
    const kind = spread(engine.categories), own = spread(run.task_memory_kib);
    return task => {
        const k = kind(task) ?? 0, need = engine.needs?.[k] ?? [];
        const name = categories?.[k] ?? "-";
        return { class: name === "-" ? null : name, cores: need[0],
            gpus: need[1], kib: need[2] || own(task) || run.memory_kib || 0 };
    };
}

/* "2 cores, 1 GPU, 64.0 MiB" */
const needText = n => [n.cores && count(n.cores, "core"),
    n.gpus && count(n.gpus, "GPU"), n.kib && memory(n.kib)]
    .filter(Boolean).join(", ");

/* util/usage.h */
const exits = { "-1": "timed out", "-2": "too long", "-3": "withdrawn",
    "-4": "out of memory" };

/* A list of classes; a choice calls write with a new place and the class, or
 * with "" for all, as does the beginning. */
function byClass(classes, write) {
    if (classes.size < 2)
        return write(main, "");
    const tools = element(main, "div", undefined, { class: "tools" });
    const select = element(element(tools, "label", "Class "), "select");
    const place = element(main, "div");
    element(select, "option", "all", { value: "" });
    for (const name of classes)
        element(select, "option", name ?? "-", { value: name ?? "-" });
    select.addEventListener("change", () => {
        place.replaceChildren();
        write(place, select.value);
    });
    write(place, "");
}

function writeTasks() {
    const all = data.commands !== null;
    const end = t => exits[t.exit] ?? (t.signal ? "signal " + t.signal
        : t.exit ? "exit " + t.exit : t.state);
    const tasks = data.tasks.map(t => ({ ...t, asked: data.need(t.number) }))
        .sort((a, b) => (b.wall ?? 0) - (a.wall ?? 0));
    const columns = [["task", "number"], ["tries", "tries"], ["<end", end],
        ["real time", "wall", duration], ["<class", t => t.asked.class],
        ["cores", t => t.asked.cores], ["GPUs", t => t.asked.gpus, String,
            "spare"], ["memory asked", t => t.asked.kib || null, memory],
        ["used", t => t.kib || null, memory], ["<host", "host"],
        ["`command", "command"]];
    section("Tasks");
    byClass(new Set(tasks.map(t => t.asked.class)), (place, name) => table(place,
        all ? "All tasks, the slowest first"
            : "The slowest tasks, and the first failed ones", columns,
        tasks.filter(t => name === "" || (t.asked.class ?? "-") === name)));
    const { spans } = data, second = [];
    spans.kind.forEach((kind, i) => {
        if (kind === 3 || kind === 5)
            second.push(i);
    });
    if (second.length > 0)
        table(main, "Executions beside which another replica gave the result",
            [["task", i => spans.task[i]],
                ["<machine", i => data.places[spans.machine[i]].name],
                ["from", i => spans.begin[i], duration],
                ["to", i => spans.end[i], duration]], second);
}

/* Results with known memory, by class, cluster and request. */
function writeMemory() {
    const { spans } = data, groups = new Map();
    spans.kib.forEach((used, i) => {
        if (used === 0 || spans.kind[i] % 6 !== 0)
            return;
        const cluster = data.clusters[data.places[spans.machine[i]].cluster];
        const { class: name, kib: request } = data.need(spans.task[i]);
        const key = [name, cluster, request].join("/");
        if (!groups.has(key))
            groups.set(key, { name, cluster, request, used: [] });
        groups.get(key).used.push(used);
    });
    const rows = [...groups.values()];
    for (const g of rows)
        g.used.sort((a, b) => a - b);
    const at = share => g => g.used[Math.ceil(g.used.length * share) - 1];
    if (rows.length > 0)
        table(main, "Memory of a task, asked and used", [
            ["<class", "name"], ["cluster", "cluster"],
            ["tasks known", g => g.used.length],
            ["asked for each", g => g.request || null, memory],
            ["used, median", at(0.5), memory],
            ["90 % used at most", at(0.9), memory], ["most", at(1), memory],
            ["used more than asked", g => g.request > 0
                ? g.used.filter(kib => kib > g.request).length : 0]], rows);
}

function writeRun() {
    readRun();
    writeHead();
    writeFacts();
    writePromises();
    writeCauses();
    writeDecisions();
    writeMachines();
    drawGantt(section("Gantt chart", "gantt"));
    drawRuntimes(section("Runtimes", "runtimes"));
    writeGraph();
    writeSweep();
    writeTasks();
    writeMemory();
}

/* ---- charts ---- */

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
            c.arc(x, u.valToPos(m.charged[Math.max(0, after(m.t, t) - 1)], "y",
                true), 4 * devicePixelRatio, 0, 7);
            c.fill();
            const from = x + 7 * devicePixelRatio;
            const to = from + c.measureText(why).width;
            if (from < free || to > u.bbox.left + u.bbox.width)
                continue;
            c.fillText(why, from, u.bbox.top + 24 * devicePixelRatio);
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
    if (m.held !== null) {
        series.push({ label: "charged or held", stroke: colour("--accent"),
            width: 1, fill: colour("--accent") + "22",
            value: (u, v) => amount(v) + ", " + amount(budget - v) +
                " left" });
        values.push(m.held);
    }
    /* A budget far above what was charged would leave no room for that. */
    const top = Math.max(...m.charged, ...m.reserved ?? [0],
        ...m.held ?? [0]);
    const far = budget !== null && budget > 2 * top;
    if (budget !== null && !far) {
        series.push({ label: "budget", stroke: colour("--bad"), width: 1,
            dash: [2, 3], value: (u, v) => amount(v) });
        values.push(m.t.map(() => budget));
    }
    chart(place, "Charged" + (m.held ? " and held" : "") +
        " over time, with the decisions as dots" + (far ?
        "; the budget of " + price(budget, unit) + " is above" : ""), {
        series, scales: plainScale,
        axes: [timeAxis(data.time), axis(amount, unit, 70)],
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
            axes: [timeAxis(), countAxis("machines")],
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
            axes: [axis(label, undefined, 40), countAxis("tasks")],
            hooks: { draw: [u => {
                line(u, r.mean, colour("--ink"), []);
                line(u, r.estimate, colour("--bad"), [6, 5]);
            }] },
        }, [middle, r.counts]);
    });
}

/* ---- the Gantt chart ---- */

const kinds = ["done", "stopped at the end of a window", "failed, run again",
    "another replica was first", "checkpointed, run again",
    "failed beside a replica", "failed"];
const tones = ["#4e8fd0", "#8a8f98", "#d0453e", "#9b6fd0", "#49a39a",
    "#d0453e", "#d0453e"];

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
    if (data.places.length === 0)
        return;
    const rows = ganttRows(), windows = data.holds;
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
        const least = Math.max(data.tick * 20, end / 1e6);
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
            const need = needText(data.need(row.task[i]));
            if (need)
                lines.push("needs " + need);
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
