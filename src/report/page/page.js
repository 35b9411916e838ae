/* The pages of a plan, of strategies and of a simulation; which page it is. */

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
        factsInto(facts, [
            ["Machines", s.held, s.machine_windows || s.windows < 2 ? ""
                : "for " + s.windows + " windows"],
            ["Makespan", about(s.makespan_s), s.makespan_high_s == null ? ""
                : "between " + about(s.makespan_low_s) + " and " +
                about(s.makespan_high_s)],
            ["Bill", price(+s.cost, unit), s.cost_high == null ? ""
                : "at most " + price(+s.cost_high, unit)]]);
        lines.hidden = data.profile === null;
        lines.textContent = data.profile === null ? "" :
            "bats-mpi run " + quoted(data.bag) + " --profile " +
            quoted(data.profile) + " --budget " +
            (s.cost_high == null ? s.cost : s.cost_high);
        u.redraw(false);
    }
    budget.addEventListener("input", () => choose(+budget.value));
    deadline.addEventListener("input",
        () => choose(list.length - 1 - deadline.value));
    choose(Math.floor(list.length / 2));
}

const unitOf = words => data.currency ? words + data.currency : "";

function writePlan() {
    const schedule = [["schedule", "name", String, "spare"],
        ["<machines", "held"], ["makespan", "makespan_s", about],
        ["at most", "makespan_high_s", about, "spare"], ["cost", "cost"],
        ["at most", "cost_high", String, "spare"]];
    element(main, "p", count(data.n_tasks, "task") +
        ", and what they can cost.", { class: "lead" });
    const all = data.frontier;
    drawFrontier(section("Time and money", "frontier"));
    if (!data.complete)
        note("The frontier is too long: this is a part of it.");
    table(main, "Schedules on offer" + unitOf(", costs in "), schedule,
        data.offers);
    section("Clusters");
    table(main, "Clusters", [["cluster", "name"],
        ["charge per window", "charge", c => price(+c, data.currency)],
        ["machines", c => c.machines ?? "unlimited"],
        ["mean runtime", "mean_s", about]], data.clusters);
    if (data.path)
        note(data.path);
    section("Pareto-optimal schedules");
    table(main, "Frontier, the cheapest first", schedule, all);
}

/* ---- strategies ---- */

function writeStrategies() {
    const { plays, strategies: all } = data;
    const columns = [["strategy", "strategy"], ["makespan", "makespan_s", about],
        ["+-", "makespan_margin_s", about], ["cost", "cost", fixed(2)],
        ["+-", "cost_margin", fixed(2)],
        ["/task", "task_cost", x => +x.toPrecision(3)],
        ["reliable", "sent_reliable", fixed(1)], ["<best for", "best"]];
    section("Strategies: how to replicate the last tasks");
    table(main, "Efficient strategies: no other one of this form takes less " +
        "time for less money", columns, all.filter(s => !s.static &&
        (s.efficient || s.best.includes("utility"))).sort(byKey("makespan_s")));
    table(main, "Static strategies", columns, all.filter(s => s.static));
    note("Mean of " + count(plays.each, "play") + " of each of " + all.length +
        " strategies, and half its 95 % interval. " + plays.unreliable +
        " unreliable slots, where " + (100 * plays.answer).toFixed(1) +
        " % of executions answer" + (plays.noticed ? " and losses are noticed"
        : "") + "; " + plays.reliable + " reliable slots.");
    drawStrategies(section("Cost against time", "strategies"));
}

/* Utility is makespan^w cost^(1-w): 0 the cheapest, 1/2 the least product, 1 the
 * fastest. */
function drawStrategies(place) {
    const all = data.strategies.filter(s => s.makespan_s < 1e11)
        .sort((a, b) => a.cost - b.cost);
    const list = all.filter(s => s.efficient);
    if (list.length === 0)
        return;
    const unit = data.currency;
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
    function choose() {
        const w = weight.value / 100;
        const utility = s => w * Math.log(s.makespan_s) +
            (1 - w) * Math.log(Math.max(s.cost, 1e-9));
        best = list.reduce((a, b) => utility(b) < utility(a) ? b : a);
        says.textContent = w === 0.5 ? "makespan x cost"
            : w > 0.5 ? "time counts more" : "money counts more";
        weight.setAttribute("aria-valuetext", says.textContent + ": " +
            about(best.makespan_s) + ", " + price(best.cost, unit));
        factsInto(facts, [
            ["Makespan", about(best.makespan_s),
                "\u00b1 " + about(best.makespan_margin_s)],
            ["Cost", price(best.cost, unit),
                "\u00b1 " + amount(best.cost_margin)],
            ["Reliable instances", String(+best.sent_reliable.toFixed(1)),
                best.best]]);
        line.textContent = "--policy expert --strategy " + best.strategy;
        u.redraw(false);
    }
    weight.addEventListener("input", choose);
    choose();
}

/* ---- a simulation ---- */

/* For each budget, the sorted runs of each policy: where a line ends, that
 * many runs did the whole bag. */
function drawQuantiles(place, key, title, format, unit) {
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
}

function writeSimulation() {
    const { groups, currency } = data, n = key =>
        new Set(groups.map(g => g[key])).size;
    element(main, "p", count(data.runs, "run") + ", with " + n("policy") +
        (n("policy") === 1 ? " policy and " : " policies and ") +
        count(n("budget"), "budget") + ".", { class: "lead" });
    section("Policies and budgets");
    table(main, "Makespans are those of the runs that did the whole bag; " +
        "/bound: against the clairvoyant bound", [["budget", "budget"],
        ["<policy", "policy"], ["whole bags", g => g.complete + " of " + g.runs],
        ["mean makespan", "mean_s", about], ["95 % +-", "margin_s", about],
        ["worst", "worst_s", about], ["charged, mean", "charged", fixed(2)],
        ["most", "most", amount], ["/bound", g => g.ratio || null, fixed(3)],
        ["tasks left, mean", "undone", fixed(1)]], groups);
    drawQuantiles(section("How long", "makespans"), "makespan", "Makespan",
        about, undefined);
    drawQuantiles(section("How much", "costs"), "cost", "Charged", amount,
        currency);
}

/* ---- all pages ---- */

document.title = visible(data.title) + " - bats-mpi";
element(main, "h1", data.title);
document.querySelector("footer").prepend("Written by bats-mpi at " +
    clock(data.written_s) + ". ");
({ run: writeRun, plan: writePlan, strategies: writeStrategies,
    simulation: writeSimulation })[data.kind]();
