# Tables of what deadlines.sh has played. Columns: see ../money/runs.c.
#
# kept: share of the runs that did the whole bag by the deadline, and half the
# 95 % interval (Wilson's, its middle). cost: mean of charged / least
# clairvoyant cost for that deadline, over the runs that kept it, and half the
# interval of that mean. left: share of the runs that left tasks.
BEGIN { FS = "," }

# The group of a bag.
function group(set, bag) {
    if (set == "scoreboard") return bag == "levy" ? "Levy" : bag
    return bag ~ /^wagap/ ? "swf-alea" : "wfinstances"
}
function add(k, in_time,    cost) {
    cost = $8 / $13
    n[k]++
    kept[k] += in_time
    left[k] += $6 > 0
    all[k] += cost
    if (in_time) { sum[k] += cost; squares[k] += cost * cost }
    over[k] += $8 > $10 + 0.0005
}
{
    g = group($1, $2)
    if (!(g in known)) { known[g] = 1; groups[++n_groups] = g }
    if (!($5 in policy)) { policy[$5] = 1; policies[++n_policies] = $5 }
    split($4, f, "x")
    if (!(f[1] in d_known)) { d_known[f[1]] = 1; ds[++n_ds] = f[1] }
    if (!(f[2] in b_known)) { b_known[f[2]] = 1; bs[++n_bs] = f[2] }
    in_time = $6 == 0 && $7 <= $12 + 0.001
    add(g SUBSEP f[1] SUBSEP "all" SUBSEP $5, in_time)
    add(g SUBSEP f[1] SUBSEP f[2] SUBSEP $5, in_time)
    add(g SUBSEP "all" SUBSEP f[2] SUBSEP $5, in_time)
}
function interval(k,    p, z) {
    z = 1.96
    p = kept[k] / n[k]
    return z / (1 + z * z / n[k]) * sqrt(p * (1 - p) / n[k] + z * z / (4 * n[k] * n[k]))
}
function cell(k,    m, v) {
    if (!n[k]) return " - | - |"
    m = kept[k] ? sum[k] / kept[k] : 0
    v = kept[k] > 1 ? (squares[k] - kept[k] * m * m) / (kept[k] - 1) : 0
    return sprintf(" %.0f ± %.0f | %s |", 100 * kept[k] / n[k], 100 * interval(k),
                   kept[k] ? sprintf("%.2f ± %.2f", m, 1.96 * sqrt((v > 0 ? v : 0) / kept[k])) : "-")
}
function table(title, budget,    i, j, p, line, rule) {
    print title "\n"
    line = "| bags | deadline |"; rule = "|---|--:|"
    for (p = 1; p <= n_policies; p++) {
        line = line " " policies[p] ": kept, % | cost |"; rule = rule "--:|--:|"
    }
    print line; print rule
    for (i = 1; i <= n_groups; i++)
        for (j = 1; j <= n_ds; j++) {
            line = sprintf("| %s | %s |", groups[i], ds[j])
            for (p = 1; p <= n_policies; p++)
                line = line cell(groups[i] SUBSEP ds[j] SUBSEP budget SUBSEP policies[p])
            print line
        }
    print ""
}
END {
    for (b = 1; b <= n_bs; b++)
        table("Budget: " bs[b] " times the least cost.", bs[b])
    print "Runs that left tasks, %, and that exceeded the budget:\n"
    line = "| bags |"; rule = "|---|"
    for (p = 1; p <= n_policies; p++) { line = line " " policies[p] " |"; rule = rule "--:|" }
    print line; print rule
    for (i = 1; i <= n_groups; i++) {
        line = "| " groups[i] " |"
        for (p = 1; p <= n_policies; p++) {
            m = l = o = 0
            for (j = 1; j <= n_ds; j++) {
                k = groups[i] SUBSEP ds[j] SUBSEP "all" SUBSEP policies[p]
                m += n[k]; l += left[k]; o += over[k]
            }
            line = line sprintf(" %.1f, %d |", 100 * l / m, o)
        }
        print line
    }
    # Cells of the grid where another one keeps as many deadlines for less.
    print "\nCells of the grid (bags, deadline, budget) where a policy keeps as many"
    print "deadlines as bats, and at least one, for a smaller mean cost of all runs:\n"
    for (p = 2; p <= n_policies; p++) {
        if (policies[p] ~ /^(informed|whole)$/) continue
        worse = cells = 0; which = ""
        for (i = 1; i <= n_groups; i++) for (j = 1; j <= n_ds; j++) for (b = 1; b <= n_bs; b++) {
            k = groups[i] SUBSEP ds[j] SUBSEP bs[b] SUBSEP policies[p]
            us = groups[i] SUBSEP ds[j] SUBSEP bs[b] SUBSEP policies[1]
            if (!n[k]) continue
            cells++
            if (kept[k] > 0 && kept[k] / n[k] >= kept[us] / n[us] && all[k] / n[k] < all[us] / n[us]) {
                worse++
                which = which sprintf(" (%s %sx%s: %.0f vs %.0f %%, %.2f vs %.2f)", groups[i], ds[j], bs[b],
                    100 * kept[k] / n[k], 100 * kept[us] / n[us], all[k] / n[k], all[us] / n[us])
            }
        }
        printf "- %s: %d of %d%s\n", policies[p], worse, cells, which
    }
}
