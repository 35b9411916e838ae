# Summary of the rows of graphs.c (`latest`: without those that took longer,
# in times of the bound): per budget and policy, the mean share of the
# tasks that were done, of how many runs all were within the budget, the
# geometric mean of makespan / bound of these and of the money used, and flow's
# time / the policy's where both were so, with the 95 % interval over workflows.
BEGIN { FS = "\t" }
{
    run = $1 FS $2 FS $3
    all[$3, $4]++
    done[$3, $4] += $6 / $5
    budgets[$3]
    if (!($4 in seen)) { seen[$4]; names[++n] = $4 }
    if ($5 != $6 || $8 > 1.000001 || (latest && $9 > latest)) next
    well[$3, $4]++
    bound[$3, $4] += log($9)
    money[$3, $4] += $8
    if ($4 == "flow") flow[run] = $7
    else if (run in flow && $7 > 0 && flow[run] > 0) {
        k = $3 FS $4 FS $1
        sum[k] += log(flow[run] / $7)
        runs[k]++
        if (flow[run] > $7 * 1.01) worse[$3, $4]++
        pairs[$3, $4]++
    }
}
END {
    for (k in sum) {
        split(k, part, FS)
        x = sum[k] / runs[k]
        key = part[1] SUBSEP part[2]
        m[key]++
        s[key] += x
        q[key] += x * x
    }
    print "budget\tpolicy\tdone\tin budget\ttime/bound\tmoney\tflow/policy\t+-\tflow slower"
    nb = split("5 25 50 100", order, " ")
    for (b = 1; b <= nb; b++)
        for (i = 1; i <= n; i++) {
            key = order[b] SUBSEP names[i]
            if (!all[key]) continue
            printf "%s\t%s\t%.2f\t%d/%d", order[b], names[i],
                   done[key] / all[key], well[key], all[key]
            if (well[key])
                printf "\t%.3f\t%.2f", exp(bound[key] / well[key]),
                       money[key] / well[key]
            if (m[key] > 1) {
                mean = s[key] / m[key]
                printf "\t%.3f\t%.3f\t%d/%d", exp(mean),
                       1.96 * sqrt((q[key] / m[key] - mean * mean) / (m[key] - 1)),
                       worse[key], pairs[key]
            }
            print ""
        }
}
