# The table of told.sh, from the lines of runs.c.
BEGIN {
    FS = ","
    said["nothing"] = "nothing"
    said["start"] = "before the start"
    said["results"] = "from the first result on"
    said["both"] = "both"
    said["runtimes"] = "all runtimes, but not whose"
    n_told = split("nothing start results both runtimes", told, " ")
    n_groups = split("bags.tsv small.tsv drawn scoreboard normal levy mixture", groups, " ")
    title["bags.tsv"] = "real"; title["small.tsv"] = "held out"
    title["levy"] = "Levy"
}
{
    k = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    left[k, $5] = $6; end[k, $5] = $7; charged[k, $5] = $8; bound[k] = $9
    if (!(k in seen)) { seen[k] = 1; keys[++n] = k; set[k] = $1; bag[k] = $2; budget[k] = $4 }
}
function add(g, t, k,    r) {
    runs[g, t]++
    if (budget[k] == "fastest") { at_fastest[g, t]++; whole_fastest[g, t] += left[k, t] == 0 }
    if (left[k, "rr"] == 0 && (left[k, t] > 0 || (end[k, t] > 1.02 * end[k, "rr"] && charged[k, t] >= charged[k, "rr"] - 0.0005)))
        dominated[g, t]++
    if (left[k, t] > 0)
        return
    whole[g, t]++
    if (bound[k] != "inf") {
        r = end[k, t] / bound[k]
        if (r < 1) r = 1
        n_ratio[g, t]++; ratio[g, t] += r
        if (r > worst[g, t]) worst[g, t] = r
    }
    if (left[k, "bkp"] == 0) { pairs[g, t]++; pair[g, t] += log(end[k, t] / end[k, "bkp"]) }
}
END {
    for (i = 1; i <= n; i++)
        for (j = 1; j <= n_told; j++) {
            add(set[keys[i]], told[j], keys[i])
            if (set[keys[i]] == "scoreboard") add(bag[keys[i]], told[j], keys[i])
        }
    print "| bags | told | dominated | whole | left | whole at fastest | ratio | worst | pair |"
    print "|------|------|------:|------:|------:|------:|------:|------:|------:|"
    for (i = 1; i <= n_groups; i++)
        for (j = 1; j <= n_told; j++) {
            g = groups[i]; t = told[j]
            printf "| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.2f | %.1f | %.2f |\n", \
                (g in title ? title[g] : g), said[t], \
                100 * dominated[g, t] / runs[g, t], 100 * whole[g, t] / runs[g, t], \
                100 - 100 * whole[g, t] / runs[g, t], 100 * whole_fastest[g, t] / at_fastest[g, t], \
                ratio[g, t] / n_ratio[g, t], worst[g, t], exp(pair[g, t] / pairs[g, t])
        }
}
