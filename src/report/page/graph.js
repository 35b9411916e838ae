/* The dependencies of a run: a graph of tasks, reduced to what a page can show.
 *
 * A task's level is the length of the longest chain of tasks that it waits for.
 * Levels are merged into at most COLUMNS columns, and the tasks of one kind in
 * a column form a group; if there are few tasks, each is its own group. So the
 * picture has at most some 500 groups, whatever the size of the graph. Time
 * O(tasks + edges).
 *
 * The critical path is the chain with the longest total time of its tasks, or
 * the mean of their kind if they have not run; waiting for a machine does not
 * count. */

const COLUMNS = 40;
const ROWS = 12;          /* kinds per column; the rarer ones are merged */
const EDGES = 1500;       /* drawn at most, the heaviest ones */
const SINGLE_TASKS = 150; /* up to this many, each task is shown, */
const SINGLE_ROWS = 24;   /* unless a column has more */
const taskStates = ["done", "failed", "skipped", "running", "left"];

/* ---- reducing ---- */

const newSum = () => ({ tasks: 0, states: taskStates.map(() => 0), timed: 0,
    took: 0, begin: Infinity, end: 0, critical: 0 });

/* times: [begin, end] of the execution with the result, or undefined. */
function addTask(total, state, times) {
    total.tasks++;
    total.states[state]++;
    if (!times)
        return;
    total.timed++;
    total.took += times[1] - times[0];
    total.begin = Math.min(total.begin, times[0]);
    total.end = Math.max(total.end, times[1]);
}

const meanTime = total => total.timed > 0 ? total.took / total.timed : null;

/* Parents before children; a cycle is left out. */
function sortNodes(children, n) {
    const waits = new Uint32Array(n), order = [];
    for (const list of children)
        for (const child of list)
            waits[child]++;
    for (let i = 0; i < n; i++)
        if (waits[i] === 0)
            order.push(i);
    for (let at = 0; at < order.length; at++)
        for (const child of children[order[at]])
            if (--waits[child] === 0)
                order.push(child);
    return order;
}

/* The levels of all nodes; nodes from n on stand for no task. */
function findLevels(children, order, n) {
    const level = new Uint32Array(children.length);
    for (const node of order)
        for (const child of children[node])
            level[child] = Math.max(level[child], level[node] + (node < n));
    return level;
}

/* The next node of the longest chain from each one, and the first of all. */
function findChain(children, order, weight) {
    const next = new Int32Array(weight.length).fill(-1);
    let first = order.at(-1);
    for (const node of [...order].reverse()) {
        for (const child of children[node])
            if (next[node] < 0 || weight[child] > weight[next[node]])
                next[node] = child;
        if (next[node] >= 0)
            weight[node] += weight[next[node]];
        if (weight[node] >= weight[first])
            first = node;
    }
    const chain = [];
    for (let node = first; node >= 0; node = next[node])
        chain.push(node);
    return { chain, took: weight[first] ?? 0 };
}

/* The most frequent kinds of each column, and one group for its others; or a
 * group for each task. group: by node. */
function makeGroups(tasks, columnOf, columns, group) {
    const groups = [], kinds = columns.map(() => new Map());
    const add = (column, kind, joint) => groups.push({ column: +column, kind,
        joint, row: 0, task: null, sum: newSum() }) - 1;
    tasks.forEach((t, i) => {
        const own = kinds[columnOf(i)];
        own.set(t.kind, (own.get(t.kind) || 0) + 1);
    });
    const single = tasks.length <= SINGLE_TASKS &&
        columns.every(c => c.first === c.last && c.sum.tasks <= SINGLE_ROWS);
    const of = kinds.map((own, column) => {
        const places = new Map();
        if (single)
            return places;
        const sorted = [...own].sort((a, b) => b[1] - a[1]);
        if (sorted.length > ROWS)
            places.others = add(column, "others", false);
        for (const [kind] of sorted.slice(0, sorted.length > ROWS ? ROWS - 1
            : ROWS))
            places.set(kind, add(column, kind, false));
        return places;
    });
    tasks.forEach((t, i) => {
        const column = columnOf(i);
        group[i] = single ? add(column, t.kind, false)
            : of[column].get(t.kind) ?? of[column].others;
        const g = groups[group[i]];
        addTask(g.sum, t.state, t.times);
        g.task = g.sum.tasks === 1 ? i : null;
    });
    for (let i = tasks.length; i < group.length; i++) { /* barriers */
        const places = of[columnOf(i)];
        group[i] = places.joint ??= add(columnOf(i), null, true);
    }
    return groups;
}

/* Edges between groups, the heaviest last, then those of the critical path. */
function makeEdges(children, groups, group, chain) {
    const edges = new Map(), key = (a, b) => a * groups.length + b;
    children.forEach((list, node) => {
        const a = group[node];
        for (const child of list) {
            const b = group[child];
            if (groups[a].column >= groups[b].column &&
                !(groups[a].joint && !groups[b].joint))
                continue;
            if (!edges.has(key(a, b)))
                edges.set(key(a, b), { from: a, to: b, n: 0, critical: false });
            edges.get(key(a, b)).n++;
        }
    });
    for (let i = 1; i < chain.length; i++) {
        const edge = edges.get(key(group[chain[i - 1]], group[chain[i]]));
        if (edge)
            edge.critical = true;
    }
    return [...edges.values()].sort((a, b) => a.critical - b.critical ||
        a.n - b.n);
}

/* Places each group near the middle of those it waits for (barycentre method,
 * Sugiyama et al., 1981, one sweep). */
function placeRows(columns, groups, edges) {
    columns.forEach((_, column) => {
        const own = groups.filter(g => g.column === column && !g.joint);
        own.forEach((g, i) => {
            const from = edges.filter(e => groups[e.to] === g &&
                !groups[e.from].joint).map(e => groups[e.from].row);
            g.middle = from.length > 0 ? sum(from, x => x) / from.length : i;
        });
        own.sort(byKey("middle")).forEach((g, i) => { g.row = i; });
    });
}

/* tasks: {kind, state (of taskStates), times}; children: by node. */
function reduceGraph(tasks, children) {
    const order = sortNodes(children, children.length);
    const level = findLevels(children, order, tasks.length);
    const levels = tasks.reduce((n, _, i) => Math.max(n, level[i] + 1), 0);
    const width = Math.min(levels, COLUMNS);
    const merge = at => Math.floor(Math.min(at, levels - 1) * width / levels);
    const columnOf = node => merge(level[node]);
    const columns = Array.from({ length: width }, () => ({ sum: newSum() }));
    for (let at = 0; at < levels; at++) {
        columns[merge(at)].first ??= at;
        columns[merge(at)].last = at;
    }
    const kinds = new Map();
    tasks.forEach((t, i) => {
        if (!kinds.has(t.kind))
            kinds.set(t.kind, newSum());
        addTask(kinds.get(t.kind), t.state, t.times);
        addTask(columns[columnOf(i)].sum, t.state, t.times);
    });
    const group = new Uint32Array(children.length);
    const groups = makeGroups(tasks, columnOf, columns, group);
    const { chain, took } = findChain(children, order, Float64Array.from(
        children, (_, i) => i >= tasks.length ? 0 : tasks[i].times
            ? tasks[i].times[1] - tasks[i].times[0]
            : meanTime(kinds.get(tasks[i].kind)) ?? 0));
    const path = chain.filter(i => i < tasks.length);
    for (const i of path)
        for (const total of [columns[columnOf(i)].sum,
            kinds.get(tasks[i].kind), groups[group[i]].sum])
            total.critical++;
    const all = makeEdges(children, groups, group, chain);
    const edges = all.slice(-EDGES);
    placeRows(columns, groups, edges);
    return { levels, columns, kinds, groups, edges, chain: path, took,
        hidden: all.length - edges.length };
}

/* ---- reading ---- */

/* "/opt/x/sim -a 5 && b" -> "sim". */
const programOf = command => /^[ \t({]*([^ \t;|&<>()]*)/.exec(command)[1]
    .split("/").pop() || "task";

/* The tasks of the graph, by number - 1. */
function readTasks(n) {
    const { options = {} } = data.status;
    const kind = spread(options.engine?.categories), names = options.categories;
    const programs = new Map(data.programs);
    const tasks = Array.from({ length: n }, (_, i) => ({ state: 4,
        kind: names ? names[kind(i + 1)] ?? "task"
            : programOf(programs.get(i + 1) ?? "") }));
    data.spans.kind.forEach((kind, i) => {
        const task = tasks[data.spans.task[i] - 1];
        if (task && kind % 6 === 0) {
            task.state = kind === 0 ? 0 : 1;
            task.times = [data.spans.begin[i], data.spans.end[i]];
        }
    });
    for (const [number, state] of data.states)
        if (tasks[number - 1])
            tasks[number - 1].state = state === "skipped" ? 2
                : state === "running" ? 3 : 4;
    return tasks;
}

/* ---- the picture: pixels unless scaled ---- */

const COLUMN = 150, ROW = 38, WIDTH = 108, HEIGHT = 26;
const BAR = 7; /* height of a group's bar of states */

function svg(parent, name, attributes, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes))
        e.setAttribute(key, value);
    if (text !== undefined)
        e.textContent = visible(text);
    parent.append(e);
    return e;
}

const levelsOf = c => c.first === c.last ? String(c.first + 1)
    : (c.first + 1) + "-" + (c.last + 1);

function drawGroup(picture, dag, g) {
    const x = left(g), y = g.y - HEIGHT / 2, { sum: total } = g;
    if (g.joint) {
        svg(picture, "circle", { cx: x + 3, cy: g.y, r: 3 });
        return;
    }
    const box = svg(picture, "g", total.critical > 0 ? { class: "critical" }
        : {});
    svg(box, "title", {}, "level " + levelsOf(dag.columns[g.column]) +
        (g.task === null ? "" : ", task " + (g.task + 1)) + ", " + g.kind +
        ":" + taskStates.map((state, i) => total.states[i] > 0 ? " " +
        total.states[i] + " " + state : "").join("") + (total.timed > 0
        ? ", mean " + duration(meanTime(total)) : ""));
    svg(box, "rect", { x, y, width: WIDTH, height: HEIGHT });
    let at = x;
    taskStates.forEach((state, i) => {
        const share = total.states[i] * WIDTH / total.tasks;
        /* Even one failure in a thousand is visible. */
        const width = state === "failed" && share > 0 ? Math.max(share, 3)
            : share;
        if (width > 0)
            svg(box, "rect", { class: state, x: at, y: y + HEIGHT - BAR, width,
                height: BAR });
        at += width;
    });
    const tail = total.tasks > 1 ? " " + total.tasks : "";
    const room = 16 - tail.length, name = [...g.kind];
    svg(box, "text", { x: x + 4, y: y + HEIGHT - BAR - 5 }, (name.length > room
        ? name.slice(0, room - 1).join("") + "\u2026" : g.kind) + tail);
}

const left = g => g.column * COLUMN + (g.joint ? 6 : 20);

function drawGraph(dag) {
    const rows = dag.columns.map((_, column) => dag.groups.filter(g =>
        g.column === column && !g.joint).length);
    const height = Math.max(...rows) * ROW, width = rows.length * COLUMN;
    for (const g of dag.groups)
        g.y = g.joint ? height / 2
            : (2 * g.row + 1 - rows[g.column]) * ROW / 2 + height / 2;
    const legend = note("");
    for (const state of [...taskStates, "critical"]) {
        element(legend, "span", "", { class: "key " + state });
        legend.append(state === "critical" ? "critical path" : state + " ");
    }
    const title = "Graph of the tasks";
    const box = element(main, "div", undefined, { class: "wide", tabindex: "0",
        role: "region", "aria-label": title });
    const picture = svg(box, "svg", { class: "dag", role: "img", width, height,
        viewBox: "0 0 " + width + " " + height, "aria-label": title +
        " by level and kind. The tables have the figures." });
    for (const e of dag.edges) {
        const a = dag.groups[e.from], b = dag.groups[e.to];
        const x = left(a) + (a.joint ? 6 : WIDTH), z = left(b);
        const bend = (z - x) / 2 + 8;
        svg(picture, "path", { ...e.critical ? { class: "critical" } : {},
            d: `M${x} ${a.y}C${x + bend} ${a.y} ${z - bend} ${b.y} ${z} ${b.y}` });
    }
    for (const g of dag.groups)
        drawGroup(picture, dag, g);
    if (dag.hidden > 0)
        note(dag.hidden + " of the thinnest lines are not drawn.");
}

/* ---- the tables ---- */

/* "train 180, mean 30": the kinds of a column. */
function kindsOf(dag, column) {
    const counts = new Map();
    for (const g of dag.groups)
        if (g.column === column && !g.joint)
            counts.set(g.kind, (counts.get(g.kind) || 0) + g.sum.tasks);
    return [...counts].slice(0, 4).map(([kind, n]) => n > 1 ? kind + " " + n
        : kind).join(", ") + (counts.size > 4
        ? ", " + (counts.size - 4) + " more" : "");
}

const stateColumns = of => [...taskStates.map((state, i) =>
    [state, x => of(x).states[i]]),
["mean time", x => meanTime(of(x)), duration]];

function writeChain(tasks, dag) {
    let before = 0;
    const rows = dag.chain.map(i => {
        const [begin, end] = tasks[i].times ?? [null, null];
        const row = { task: i + 1, kind: tasks[i].kind, begin,
            state: taskStates[tasks[i].state],
            took: begin === null ? null : end - begin,
            waited: begin === null || before === null || begin < before ? null
                : begin - before };
        before = end;
        return row;
    });
    /* After its parent's end, a task waits for a machine or another parent. */
    table(main, "The critical path: the longest chain of tasks", [
        ["task", "task"], ["`kind", "kind"], ["`state", "state"],
        ["took", "took", duration], ["began", "begin", duration],
        ["after waiting", "waited", duration]], rows);
}

function writeGraph() {
    const nodes = data.status.options?.engine?.graph_nodes ?? 0;
    if (nodes === 0 || !data.children)
        return;
    const children = Array.from({ length: nodes }, () => []);
    for (const [node, list] of data.children)
        if (children[node - 1])
            children[node - 1] = list.map(n => n - 1).filter(n => n < nodes);
    const tasks = readTasks(data.status.tasks);
    const dag = reduceGraph(tasks, children);
    section("Dependencies");
    element(main, "p", count(tasks.length, "task") + " on " + dag.levels +
        " levels. The critical path has " + count(dag.chain.length, "task") +
        ", which take " + duration(dag.took) + "; the run took " +
        duration(data.end) + ".");
    table(main, "Kinds of tasks", [["`kind", 0], ["tasks", k => k[1].tasks],
        ...stateColumns(k => k[1]),
        ["on the critical path", k => k[1].critical]], [...dag.kinds]);
    const first = total => total.timed > 0 ? total.begin : null;
    const last = total => total.timed > 0 ? total.end : null;
    table(main, "Levels: each task waits for some task of the previous level",
        [["level", levelsOf], ["<tasks", c =>
            kindsOf(dag, dag.columns.indexOf(c))],
        ...stateColumns(c => c.sum),
        ["first began", c => first(c.sum), duration],
        ["last ended", c => last(c.sum), duration]], dag.columns);
    drawGraph(dag);
    writeChain(tasks, dag);
}
