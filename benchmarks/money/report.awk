# Sums of the lines of runs.c. -v new=POLICY (default bats), -v
# old=POLICY (default bkp). Files may hold different policies of the same runs.
BEGIN {
    FS = ","
    if (new == "") new = "bats"
    if (old == "") old = "bkp"
}
{
    k = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    undone[k, $5] = $6; makespan[k, $5] = $7; charged[k, $5] = $8
    has[k, $5] = 1; bound[k] = $9; cpu[k, $5] = $11
    if (!(k in seen)) { seen[k] = 1; keys[++n] = k }
}
function add(g, k,    r, o) {
    runs[g]++
    if (!(g in known)) { known[g] = 1; groups[++n_groups] = g }
    if (bound[k] == "inf") impossible[g]++
    time[g] += cpu[k, new]
    if (undone[k, new] == 0) {
        whole[g]++
        if (bound[k] != "inf") {
            r = makespan[k, new] / bound[k]
            if (r < 1) r = 1
            n_ratio[g]++; ratio[g] += r; logs[g] += log(r)
            if (r > worst[g]) worst[g] = r
        }
        if (has[k, old] && undone[k, old] == 0) {
            n_pair[g]++; pair[g] += log(makespan[k, new] / makespan[k, old])
        }
    }
    if (has[k, "rr"]) {
        whole_rr[g] += undone[k, "rr"] == 0
        if (undone[k, "rr"] == 0 && bound[k] != "inf") { rr_n[g]++; rr_ratio[g] += makespan[k, "rr"] / bound[k] }
        if (undone[k, "rr"] == 0 && undone[k, new] > 0) dom_left[g]++
        else if (undone[k, "rr"] == 0 && makespan[k, new] > 1.02 * makespan[k, "rr"] && charged[k, new] >= charged[k, "rr"] - 0.0005) dom_late[g]++
        if (undone[k, "rr"] == 0 && undone[k, new] == 0) { rr_pair_n[g]++; rr_pair[g] += log(makespan[k, new] / makespan[k, "rr"]); }
    }
    whole_old[g] += has[k, old] && undone[k, old] == 0
}
END {
    for (i = 1; i <= n; i++) {
        k = keys[i]
        if (!has[k, new]) continue
        split(k, w, SUBSEP)
        add(w[1], k)
        if (w[1] == "scoreboard") add(w[1] " " w[2], k)
        add(w[1] " " w[4], k)
    }
    printf "%-28s %6s %6s %6s %6s | %6s %6s %6s | %6s %6s %6s | %6s %6s %6s %6s | %7s\n", "runs of " new, "runs", "dom %", "left", "late", "whole%", "rr", old, "ratio", "worst", "rr", "to " old, "to rr", "bound", "", "ms/run"
    for (i = 1; i <= n_groups; i++) {
        g = groups[i]
        printf "%-28s %6d %6.2f %6d %6d | %6.1f %6.1f %6.1f | %6.3f %6.3f %6.3f | %6.3f %6.3f %6d %6s | %7.3f\n", g, runs[g],
            100 * (dom_left[g] + dom_late[g]) / runs[g], dom_left[g], dom_late[g], 100 * whole[g] / runs[g], 100 * whole_rr[g] / runs[g],
            100 * whole_old[g] / runs[g], n_ratio[g] ? ratio[g] / n_ratio[g] : 0, worst[g], rr_n[g] ? rr_ratio[g] / rr_n[g] : 0,
            n_pair[g] ? exp(pair[g] / n_pair[g]) : 0, rr_pair_n[g] ? exp(rr_pair[g] / rr_pair_n[g]) : 0, impossible[g], "", 1e3 * time[g] / runs[g]
    }
}
