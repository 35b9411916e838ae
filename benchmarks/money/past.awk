# The table of past.c's runs: each WHO against the mean of rr's three orders.
BEGIN { FS = "," }
{
    k = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    if ($5 == "rr0") { whole0[k] = $6 == 0; time0[k] = $7; cost0[k] = $8 }
    else if ($5 ~ /^rr/) {
        if ($6 == 0) { n_rr[k]++; time_rr[k] += $7; cost_rr[k] += $8 }
        next
    }
    key[++n] = k; who[n] = $5; undone[n] = $6; time[n] = $7; cost[n] = $8
    platform[n] = $3; budget[n] = $4
}
function count(g, i,    k, whole, t, c) {
    if (!(g in runs)) order[++n_order] = g
    k = key[i]
    runs[g]++
    whole = undone[i] == 0
    done[g] += whole
    if (whole0[k] && !whole) left[g]++
    else if (whole0[k] && time[i] > 1.02 * time0[k] && cost[i] >= cost0[k] - 0.0005) late[g]++
    if (n_rr[k] < 2) return
    t = time_rr[k] / n_rr[k]
    if (budget[i] != "rr" && budget[i] != "fastest") return
    if (whole) { pairs[g]++; pair[g] += log(time[i] / t) }
    seen[g]++
    tenth[g] += !whole || time[i] > 1.1 * t
}
END {
    for (i = 1; i <= n; i++) {
        count("all," who[i], i)
        count(platform[i] "," who[i], i)
    }
    printf "%-20s %6s %7s %9s %7s %9s %8s\n", "", "runs", "whole", "dominated", "(left)", "makespan", "> 10 %"
    for (o = 1; o <= n_order; o++) {
        g = order[o]
        printf "%-20s %6d %7.1f %9.1f %7.1f %9.3f %8.1f\n", g, runs[g], 100 * done[g] / runs[g],
            100 * (left[g] + late[g]) / runs[g], 100 * left[g] / runs[g],
            pairs[g] ? exp(pair[g] / pairs[g]) : 0, seen[g] ? 100 * tenth[g] / seen[g] : 0
    }
}
