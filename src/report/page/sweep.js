/* The parameters of a sweep against the runtime and the cost of its tasks: part
 * of the page of a run. */

/* The tasks that were done: their values, runtime and cost. */
function sweepPoints(parameters) {
    const slots = new Map(), points = [];
    for (const row of gantt.rows)
        slots.set(row.machine, (slots.get(row.machine) || 0) + 1);
    for (const row of gantt.rows)
        row.task.forEach((task, i) => {
            const runtime = row.end[i] - row.begin[i];
            if (row.kind[i] === 0 && parameters[task])
                points.push({ values: parameters[task], runtime,
                    cluster: row.cluster, cost: runtime / data.window *
                    data.charges_of[row.cluster] / slots.get(row.machine) });
        });
    return points;
}

function drawSweep(place) {
    const parameters = data.parameters || {};
    const names = new Set(Object.values(parameters).flatMap(Object.keys));
    const points = window.gantt ? sweepPoints(parameters) : [];
    if (points.length === 0)
        return;
    const tools = element(place, "div", undefined, { class: "tools" });
    const choice = (label, words) => {
        const select = element(element(tools, "label", label), "select");
        for (const word of words)
            element(select, "option", word);
        select.addEventListener("change", draw);
        return select;
    };
    const name = choice("Parameter ", names);
    const key = choice("against ", ["runtime", "cost"]);
    const box = element(place, "div");
    let last = null;

    function draw() {
        const list = points.filter(p => name.value in p.values);
        const values = [...new Set(list.map(p => p.values[name.value]))];
        const isNumber = values.every(v => v !== "" && isFinite(v));
        values.sort((a, b) => isNumber ? a - b : a < b ? -1 : 1);
        const rank = new Map(values.map((v, k) => [v, isNumber ? +v : k]));
        const at = p => rank.get(p.values[name.value]);
        list.sort((a, b) => at(a) - at(b));
        const word = v => isNumber ? String(+v.toPrecision(6))
            : values[v] ?? "";
        const format = key.value === "cost" ? v => String(+v.toPrecision(4))
            : duration;
        if (last !== null)
            charts.splice(charts.findIndex(([u]) => u === last), 1);
        box.replaceChildren();
        last = chart(box, name.value + " and the " + key.value +
            " of tasks that were done", {
            series: [{ label: name.value, value: (u, v) => v == null ? "-"
                : word(v) }].concat(data.clusters.map((cluster, i) =>
                dots(cluster, hue(i), 6, format))),
            scales: plainScale,
            axes: [{ ...axis(word, name.value, 50),
                ...(isNumber ? {} : { incrs: [1, 2, 5, 10, 20, 50, 100] }) },
                key.value === "cost"
                    ? axis(format, data.status.currency, 70)
                    : { ...axis(format, data.time, 70), incrs: steps }],
        }, [list.map(at)].concat(data.clusters.map((_, i) =>
            list.map(p => p.cluster === i ? p[key.value] : null))));
    }
    draw();
}
