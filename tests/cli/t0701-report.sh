#!/bin/bash
# A run as a page: what it says without scripts, and in a browser.
. "$TOP/tests/mpi/lib.sh"

two_clusters >c.ini
for i in $(seq 40); do
    echo "sleep 0.$((i % 4 + 1)) # <script>alert($i)</script> \"&'"
done >bag
printf 'echo "</script><img src=x onerror=alert(2)>%s" >&2; exit 3\n' 1 2 >>bag
expect 1 bats 7 bag -c c.ini --budget 300 --time-scale 1200 --seed 3
# A window is paid to its end, also beyond that of the run.
sqlite3 -separator ' ' bag.bats "SELECT c.name, 100 * (SELECT sum(wall_us)
    FROM execution a JOIN machine m ON m.session = a.session AND m.id = a.machine
    WHERE m.cluster = c.id) * time_scale / (SELECT count(*) * window_us
    FROM charge l JOIN machine m ON m.session = l.session AND m.id = l.machine
    WHERE m.cluster = c.id) FROM cluster c, session ORDER BY c.id" >paid
"$BATS_MPI" report bag 2>err
awk -F '<td>' '/^<tr><td>(slow|fast)<td>[39]<td>3/ { print $2, $10 + 0 }' \
    bag.html | paste -d ' ' paid - >both
awk '$1 != $3 || ($2 - $4) ^ 2 > 4 { exit 1 } END { exit NR != 2 }' both
ok 'what is in use of the time paid is what tasks took of whole windows'
test "$(cat err)" = 'bats-mpi: written: bag.html'
test "$(grep -c '<script' bag.html)" -eq 3
grep -q "Content-Security-Policy.*default-src 'none'" bag.html
grep -q '^<tr><td>2<td class="text">exit 3<td' bag.html
grep -qF '&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;' bag.html
expect 1 grep -qE '(src|href)="?(http|//)' bag.html
grep -q 'Leon Sorokin' bag.html
ok 'a run is one page, and hostile text stays text'
"$BATS_MPI" report bag -o - >out
cmp <(wc -c <out) <(wc -c <bag.html)
expect 2 "$BATS_MPI" report bag -o missing/x.html 2>err
grep -q '^bats-mpi: missing/x.html: No such file' err
ok '-o names the file'
printf '@sleep 1h\n' >late
expect 5 bats 7 late -c c.ini --time-scale 7200 --budget 50 \
    --time-limit 10m --seed 3
"$BATS_MPI" report late
charged=$("$BATS_MPI" status late --json |
    sed -n 's/^  "charged": "\(.*\)",/\1/p')
grep -q "cost, in all<td>50<td>$charged<td class=."code.">kept" late.html
grep -q '<td class="code">end, done or not<td>10m<td>' late.html
ok 'it sets what came against what was promised'

env "$mark" "$BATS_MPI" -j 2 --record sweep.bats --header : -- 'sleep 0.0{n}; test {n} != 2' \
    ::: n 1 2 3 ::: word 'a<b' c >out 2>err || :
"$BATS_MPI" report sweep.bats
grep -qE '^<tr><td>n<td class="code">2<td>2<td>2<td>-' sweep.html
grep -qE '^<tr><td>word<td class="code">a&lt;b<td>3<td>1<td>[0-9]' sweep.html
grep '^<tr><td>word<td class="code">a&lt;b' sweep.html |
    awk -F '<td>' '{ print $9 }' >cost
sqlite3 sweep.bats "SELECT sum(cost) FROM tasks WHERE word = 'a<b' AND
    state = 'done'" | paste cost - |
    awk '{ off = $1 - $2 } !($1 > 0 && off * off < $2 * $2 / 1e4) { exit 1 }'
ok 'the parameters of a sweep are set against runtimes and cost'

cat >graph.mf <<'MF'
CATEGORY = a<b
one:
	touch one
two: one
	touch two
CATEGORY = bad
three: one
	false
last: two three
	touch last
MF
expect 1 env "$mark" "$BATS_MPI" run -j 2 graph.mf >out 2>err
"$BATS_MPI" report graph.mf
expect 1 grep -q '<svg' bag.html
grep -q '^<p>4 tasks on 3 levels. The critical path has 3 tasks' graph.mf.html
grep -q '^<tr><td class="code">a&lt;b<td>2<td>2<td>0<td>0<' graph.mf.html
grep -q '^<tr><td>2<td class="text">.*<td>1<td>1<td>0<td>0<td>0<' graph.mf.html
test "$(grep -c '<title>level .*, task .*</title><rect' graph.mf.html)" -eq 4
grep -q '<title>level 3, task 4, bad: 1 skipped</title>' graph.mf.html
test "$(grep -c '<path class="critical" d=' graph.mf.html)" -eq 2
printf '#BATS task %s\ntrue\n' a b 'c after a b' >pair
"$BATS_MPI" -j 2 pair 2>err
"$BATS_MPI" report pair --out - 2>err | grep -q '<td class="text">true 2<td>2<'
cp graph.mf.bats poor.bats
sqlite3 poor.bats "DELETE FROM task_now; UPDATE session SET
    options = json_remove(options, '$.categories')"
"$BATS_MPI" report poor.bats
grep -q '^<tr><td class="code">task<td>4<td>0<td>0<td>0<td>0<td>4<' poor.html
ok 'a workflow is tables and a picture, with its critical path'

echo "perl -e '\$x = \"x\" x 60e6; \$y = \$x'" >large
SLURM_MEM_PER_CPU=300 env "$mark" "$BATS_MPI" -j 1 large >out 2>err
"$BATS_MPI" report large
used=$(sqlite3 large.bats 'SELECT printf("%.1f", max_rss_kib / 1024.0)
    FROM tasks WHERE max_rss_kib > 110000')
grep -q "<td>1<td>300.0 MiB<td>$used MiB<td>$used MiB<td>$used MiB" large.html
ok 'the memory that the job asked for each task is set against that used'

task="perl -e '\$x = \"x\" x 60e6; \$y = \$x'"
printf '%s\n' "$task" '#BATS memory 64M' "$task" "$task" >asking
env "$mark" "$BATS_MPI" -j 1 asking --memory 400M >out 2>err
"$BATS_MPI" report asking
grep -q '<td>1<td>400.0 MiB<td>1[0-9.]* MiB<td>.*<td>0$' asking.html
grep -q '<td>2<td>64.0 MiB<td>1[0-9.]* MiB<td>.*<td>2$' asking.html
test "$(grep -c '<td>64.0 MiB<td>1[0-9.]* MiB<td class="text">' asking.html)" -eq 2
printf '%s\n' 'CATEGORY=large' 'MEMORY=300' 'big:' "	$task; touch big" >asks.mf
env "$mark" "$BATS_MPI" run -j 1 asks.mf --memory 400M >out 2>err
"$BATS_MPI" report asks.mf
grep -q '<td>1<td>300.0 MiB<td>1[0-9.]* MiB<td>.*<td>0$' asks.mf.html
ok 'so is what --memory, a bag and a Makeflow ask for'

printf '%s\n' '[run]' 'currency = SU' '[cluster slow]' 'ranks = 1-32' \
    'charge = 3' '[cluster fast]' 'ranks = 33-64' 'charge = 12' >plan.ini
"$BATS_MPI" plan --tasks 1000 --runtime slow=15m,fast=4m -c plan.ini \
    --html plan.html
"$BATS_MPI" plan --tasks 1000 --runtime slow=15m,fast=4m -c plan.ini \
    --frontier --csv >frontier.csv
test "$(grep -cE '^<tr><td class="text">(slow|fast)' plan.html)" -eq \
    $(($(wc -l <frontier.csv) - 1))
printf '%s\n' '[run]' 'policy = bats, rr' 'budget = 30' 'seeds = 1-10' \
    '[bag]' 'tasks = 100' 'runtime = normal 15m 4m' '[cluster slow]' \
    'machines = 5' 'charge = 1' '[cluster fast]' 'machines = 5' 'charge = 4' \
    'speed = 3' >sim.ini
"$BATS_MPI" simulate sim.ini --html sim.html
grep -q '<td>30<td class="text">rr<td>[0-9]* of 10<td>' sim.html
ok 'plans and simulations are pages, too'

cat >pools.scn <<END
[run]
billing = use
currency = SU
[bag]
tasks = 60
runtime = normal 30m 5m
[cluster cheap]
machines = 20
charge = 1
reliability = 0.8
[cluster safe]
machines = 2
charge = 34
END
"$BATS_MPI" frontier pools.scn --plays 5 --csv >strategies.csv
"$BATS_MPI" frontier pools.scn --plays 5 --html strategies.html
efficient=$(grep -c ',1,"[^"]*"$' strategies.csv)
test "$(grep -c '^<tr><td>N=' strategies.html)" -eq "$efficient"
test "$(grep -c '^<tr><td>[ACT]' strategies.html)" -eq 6
grep -q '<td>0.0<td class="text">cheapest' strategies.html
printf '%s\n' '[run]' 'billing = use' '[cluster cheap]' 'ranks = 1-4' \
    'charge = 1' 'reliability = 0.7' '[cluster safe]' 'ranks = 5-6' \
    'charge = 30' >expert.ini
for i in $(seq 12); do echo '@sleep 10m'; done >expert
bats 7 expert -c expert.ini --policy expert --time-scale 2000 --seed 3
"$BATS_MPI" report expert
grep -q '<tr><td>N=.*fastest' expert.html
expect 1 grep -q '<tr><td>N=' bag.html
ok 'strategies are a page, and a part of the page of a run that chose one'

page() {
    env "$mark" timeout 120 python3 "$TOP/tests/browser/page.py" "$@"
}
if ! command -v "${CHROMIUM:-chromium}" >/dev/null ||
    ! python3 -c 'import json, argparse, subprocess' 2>/dev/null; then
    skip 'the pages in a browser' 'no chromium, or no python3'
    done_testing
    exit
fi
"$BATS_MPI" status --json bag >status.json
press='(k, e = document.querySelector("canvas.gantt")) => e.dispatchEvent(
    new KeyboardEvent("keydown", { key: k, bubbles: true }))'
page bag.html 'data.status.done + " " + data.status.failed + " " +
    data.status.charged + " " + data.status.tasks' \
    'gantt.rows.length' \
    'gantt.rows.reduce((n, r) => n + r.task.length, 0)' \
    '[...new Set(gantt.rows.flatMap(r => [...r.task]))].length' \
    'gantt.rows.every(r => r.begin.every((b, i) => b <= r.end[i] &&
        (i === 0 || r.end[i - 1] <= b)))' \
    'data.money.charged.at(-1) == +data.status.charged &&
        data.money.t.length <= 4000' \
    'document.querySelectorAll(".uplot").length' \
    "press = $press; press(\"+\"); press(\"ArrowRight\");
    gantt.view().map(x => Math.round(100 * x / data.end)).join()" \
    'press("0"); gantt.view()[1] === data.end' \
    's = document.querySelector("input[type=search]"); s.value = "7";
    s.dispatchEvent(new Event("input"));
    document.querySelector(".tools [role=status]").textContent' \
    's.value = "alert(11)"; s.dispatchEvent(new Event("input"));
    document.querySelector(".tools [role=status]").textContent' >out
test "$(head -n 1 out)" = "\"$(perl -MJSON::PP -0e '$s = decode_json(<>);
    print join " ", @$s{qw(done failed charged tasks)}' status.json)\""
ok 'its figures are those of status, it asks for nothing, nothing complains'
attempts=$("$BATS_MPI" log bag --json | grep -c \
    '"what":"\(done\|failed\|preempted\|superseded\|checkpointed\)"')
printf '%s\n' 6 "$attempts" 42 true true 5 >expected
sed -n 2,7p out | cmp - expected
ok 'its charts show every execution and all the money'
printf '%s\n' '"35,85"' true '"1 bar"' '"1 bar"' >expected
sed -n '8,$p' out | cmp - expected
ok 'zoom, keys and search work'

# The same runtimes, and a budget far above the charges, make charts that tell
# nothing; so does a legend without values.
for i in $(seq 8); do echo '@sleep 15m'; done >same
bats 7 same -c c.ini --budget 3000 --time-scale 36000 --seed 3
"$BATS_MPI" report same
page same.html '[...document.querySelectorAll(".u-legend")].every(e =>
        !/-|time|:/.test(e.innerText))' \
    'data.runtimes.every(r => new Set(r.edges.map(about)).size > 10)' \
    'u = charts[0][0]; u.scales.y.max < 200 &&
        u.root.textContent.includes("the budget of 3000 SU is above")' \
    '[139049, 7740, 2249, 900, 1.23456].map(about).join()' \
    't = document.querySelector("pre").textContent;
        t.startsWith("bats-mpi run same --clusters c.ini ") &&
        t.endsWith(" --budget 3000")' \
    '/^Started \d{4}-\d\d-\d\d [\d:]{8}, ended \d{4}-[-\d]+ [\d:]{8}\.$/.test(
        document.querySelector("p.note").textContent)' >out
cat >expected <<'END'
true
true
true
"1d14h40m,2h9m,37m30s,15m,1.23s"
true
true
END
cmp out expected
ok 'charts have room for what was charged, and labels that differ'
"$BATS_MPI" plan --tasks 1000 --runtime slow=15m,fast=7m -c c.ini \
    --html wide.html
page wide.html 'u = charts[0][0]; data.frontier.length > 5 &&
    data.frontier[0].makespan_s < 10 * data.frontier.at(-1).makespan_s &&
    Math.min(...u.data[0]) === data.cheapest' >out
grep -qx true out
ok 'the chart of a plan begins at the cheapest offer'

# What is shown beside the mouse, and what the keyboard alone reaches.
tip='(id) => { t = document.querySelector("#" + id + " .tip");
    return t.hidden ? "" : [...t.children].map(e => e.textContent).join("|"); }'
page bag.html "tip = $tip; u = charts[0][0]; d = data.decisions;
    at = t => { u.over.scrollIntoView({ block: \"center\" });
        r = u.over.getBoundingClientRect();
        return [r.left + u.valToPos(t, \"x\"), r.top + 20]; }; 0" \
    'mouse: at(d[0][0])' \
    'tip("money") === duration(d[0][0]) + ": " + d[0][1] + "|" + d[0][2]' \
    'd[0][1]' 'mouse: [2, 2]' 'tip("money")' \
    'c = document.querySelector("canvas.gantt");
    c.scrollIntoView({ block: "center" }); r = c.getBoundingClientRect();
    g = gantt.rows[0]; wide = r.width - 110;
    tall = (r.height - 22) / gantt.rows.length;
    spot = (k, t) => [r.left + 110 + t / data.end * wide,
        r.top + 22 + (k + 0.5) * tall]; 0' \
    'mouse: spot(0, (g.begin[0] + g.end[0]) / 2)' \
    'tip("gantt").startsWith("task " + g.task[0] + " on " + g.label + "|") &&
        tip("gantt").includes(data.commands[g.task[0]])' \
    'idle = gantt.rows.flatMap((row, k) => gantt.windows[row.machine].map(w => {
            const a = Math.max(w[0], row.end.at(-1));
            const b = Math.min(w[1], data.end);
            return { k, t: (a + b) / 2, time: b - a }; }));
        free = idle.reduce((x, y) => y.time > x.time ? y : x); 0' \
    'mouse: spot(free.k, free.t)' 'tip("gantt")' >out
test "$(sed -n 2p out)" = true
grep -qx '"start"' out
test "$(sed -n '4p;6p' out | tr '\n' ' ')" = '"" true '
sed -n 8p out | grep -qE '^"[a-z]+-?[0-9]* was paid, and idle"$'
ok 'the mouse is told why of each decision, and which task or idle time it is on'
tabs=$(for i in $(seq 30); do echo key: Tab; done)
IFS='
'
page bag.html 'seen = []; addEventListener("focusin",
    e => seen.push(e.target.className || e.target.localName)); 0' \
    $tabs 'seen.join()' 'seen.includes("gantt") && seen.includes("select") &&
        seen.includes("wide") && seen.includes("button")' \
    'document.querySelector("canvas.gantt").focus(); 0' 'key: +' \
    'gantt.view()[1] - gantt.view()[0] < data.end' >out
unset IFS
test "$(grep -cx true out)" -eq 2
ok 'the keyboard reaches the charts and tables'

for name in bag graph.mf; do
    page $name.html --width 400 'document.documentElement.scrollWidth <= 400'
done >out
test "$(grep -cx true out)" -eq 2
page bag.html --no-scripts --print bag.pdf --shot bag.png
test "$(wc -c <bag.pdf)" -gt 20000
page bag.html --dark 'getComputedStyle(document.body).backgroundColor' |
    grep -q 'rgb(20, 23, 26)'
ok 'it fits a telephone, paper and the dark'

page plan.html 'n = data.frontier.length, data.frontier.map(s => s.cost).join()' \
    '[b, d] = document.querySelectorAll("input[type=range]");
    shown = () => document.querySelector("dl.facts").textContent;
    b.value = 0; b.dispatchEvent(new Event("input"));
    shown().includes("Bill" + data.frontier[0].cost + " SU") &&
        +d.value === n - 1' \
    'd.value = 0; d.dispatchEvent(new Event("input"));
    shown().includes("Bill" + data.frontier[n - 1].cost + " SU") &&
        shown().includes(data.frontier[n - 1].held) && +b.value === n - 1' >out
tail -n 2 out | grep -cx true | grep -qx 2
allocation_profile >known.json
"$BATS_MPI" plan known.json --html known.html
page known.html 'b = document.querySelector("input[type=range]");
    lines = data.frontier.map((_, i) => { b.value = i;
        b.dispatchEvent(new Event("input"));
        return document.querySelector("pre").textContent.split("\n")[1]; });
    lines.find(l => l.includes(" best "))' \
    'data.frontier[lines.findIndex(l => l.includes(" best "))].held' \
    'lines.every(l => /^bats-mpi plan known.json --sbatch .* \| sbatch$/
        .test(l))' >out
test "$(sed -n 3p out)" = true
sed -n '1s/"bats-mpi plan \(.*\) | sbatch"/\1/p' out >words
grep -q ' best --budget [0-9.]*$' words
"$BATS_MPI" plan $(cat words) >job 2>err
grep -qF "plan --sbatch': $(sed -n '2s/"//gp' out)," job
grep -q '^#SBATCH --partition=' job
page strategies.html --dark 'd = document; w = d.querySelector("input");
    shown = v => { w.value = v; w.dispatchEvent(new Event("input"));
        return d.querySelector("dl.facts").textContent + d.querySelector("pre")
            .textContent; };
    s = data.strategies.filter(s => s.efficient); least = key => s.reduce((a, b) =>
        key(b) < key(a) ? b : a).strategy; s.length' \
    'shown(0).includes("cheapest") && shown(0).endsWith(least(s => s.cost))' \
    'shown(100).includes("fastest") &&
        shown(100).endsWith(least(s => s.makespan_s))' \
    'shown(50).includes("makespan x cost") &&
        shown(50).endsWith(least(s => s.makespan_s * s.cost))' >out
printf '%s\n' "$efficient" true true true | cmp - out
page expert.html 'd = document.querySelector("#strategies input"); d.max' \
    'document.querySelectorAll("#strategies .uplot").length' >out
printf '%s\n' '"100"' 1 | cmp - out
page sim.html --dark 'data.groups.length' \
    'document.querySelectorAll(".uplot").length' \
    'data.groups.every(g => g.cost.length === 101 &&
        g.cost.every((c, i) => c <= 30 && (i === 0 || g.cost[i - 1] <= c)))' >out
printf '%s\n' 2 2 true | cmp - out
page sweep.html 'Math.max(...data.machines[0].held)' \
    's = document.querySelector("select"); s.value = "=word";
    s.dispatchEvent(new Event("change"));
    [...s.options].map(o => o.textContent).join()' \
    '[...document.querySelectorAll("#gantt p.note")][1].textContent.trim()' \
    'new Set(gantt.rows.flatMap(r => [...r.task].map((t, i) =>
        gantt.tone(r, i)))).size' \
    '[n, what] = document.querySelectorAll("#parameters select");
    plot = () => charts.at(-1)[0].data; plot().slice(1).flat().filter(y =>
        y !== null).length + " of " + plot()[0].join()' \
    'n.value = "word"; what.value = "cost"; n.dispatchEvent(new Event("change"));
    plot()[0].join() + " " + document.querySelectorAll("#parameters .uplot").length' \
    'sum = plot().slice(1).flat().reduce((a, y) => a + y, 0);
    cells = [...document.querySelectorAll("#parameters + .wide tbody tr")]
        .filter(r => r.cells[0].textContent === "word")
        .map(r => +r.cells[8].textContent); cells.length === 2 && sum > 0 &&
        Math.abs(cells[0] + cells[1] - sum) < sum / 100' >out
printf '%s\n' 2 '"state,runtime,cluster,n,word"' '"a<b   c"' 2 \
    '"4 of 1,1,3,3"' '"0,0,1,1 1"' true >expected
cmp out expected
ok 'the sliders of a plan and of strategies and the curves of a simulation work'

# The rules of accessibility as axe has them, which only npm has.
if command -v npm >/dev/null &&
    timeout 60 npm pack --silent axe-core@4 >/dev/null 2>&1; then
    tar -xzf axe-core-*.tgz package/axe.min.js
    for name in 'bag.html --dark' bag.html graph.mf.html sweep.html plan.html \
        sim.html expert.html 'strategies.html --dark'; do
        page $name @package/axe.min.js \
            'axe.run().then(r => r.violations.map(v => v.id + " " +
                v.nodes[0].html))' | tail -n 1 >>found
    done
    yes '[]' | head -n 8 | cmp - found
    ok 'axe finds nothing'
else
    echo '# NOT TESTED: axe, for npm does not give it' >&2
    ok 'axe finds nothing # SKIP npm does not give it'
fi

sed "s/'none'; script-src/'none'; img-src *; script-src/" bag.html |
    sed 's|</main>|<img src="http://127.0.0.1:9/x.png"></main>|' >bad.html
expect 1 page bad.html 2>err
grep -q 'request: http://127.0.0.1:9/x.png' err
sed 's|</main>|<script>alert(1)</script></main>|' bag.html >bad.html
expect 1 page bad.html 2>err
grep -q 'Content Security Policy' err
ok 'a page that loads something or has a script of its own would be noticed'

# Or it might still write what is removed with the directory.
kill -KILL -- "-$(cat browser/pid)"
within 20 nobody_left
done_testing
