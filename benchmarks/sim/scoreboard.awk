# Lines of scenario,distribution,seed,repeat,policy,budget,...: see
# scoreboard.sh and the columns of simulate --csv.
function name(p, k) { return p SUBSEP k }
{
    key = $1 " " $2 " " $6
    if (!(key in seen)) {
        seen[key] = 1
        order[++rows] = key
        amount[key] = 0
    }
    k = name($5, key)
    n[k]++
    amount[k] += $7
    left[k] += $16
    partial[k] += $16 > 0
    if ($20 != "") {
        ratio[k] += $20
        if ($20 > worst[k])
            worst[k] = $20
    }
    all[$5]++
    all_partial[$5] += $16 > 0
    all_left[$5] += $16
    tasks[$5] += $14 + $16
    if ($20 != "") {
        all_done[$5]++
        all_log[$5] += log($20)
        all_ratio[$5] += $20
        if ($20 > all_worst[$5])
            all_worst[$5] = $20
    }
    violations += $12
}
function show(p, key,    k, done) {
    k = name(p, key)
    done = n[k] - partial[k]
    if (done > 0)
        return sprintf("%6.3f %6.3f %4d %6.1f", ratio[k] / done, worst[k],
            partial[k], left[k] / n[k])
    return sprintf("%6s %6s %4d %6.1f", "-", "-", partial[k], left[k] / n[k])
}
END {
    print "                                          | rr                        | bats"
    print "scenario, runtimes, budget        amount  |   mean  worst part   left |   mean  worst part   left"
    for (i = 1; i <= rows; i++) {
        split(order[i], w, " ")
        if (w[1] " " w[2] != before)
            print ""
        before = w[1] " " w[2]
        printf "%-4s %-8s %-12s %10.1f   | %s | %s\n", w[1], w[2], w[3],
            amount[name("bats", order[i])] / n[name("bats", order[i])],
            show("rr", order[i]), show("bats", order[i])
    }
    print ""
    for (p in all)
        printf "%-4s: %d runs, %d (%.1f %%) left tasks, %.2f %% of all tasks; of the others: mean %.3f, geometric %.3f, worst %.3f of the bound\n",
            p, all[p], all_partial[p], 100 * all_partial[p] / all[p],
            100 * all_left[p] / tasks[p], all_ratio[p] / all_done[p],
            exp(all_log[p] / all_done[p]), all_worst[p]
    printf "charged beyond the budget: %d windows\n", violations
    print "mean, worst: makespan / clairvoyant bound of the runs that did the whole bag;"
    print "part: runs that left tasks; left: tasks left, mean of all runs."
    exit violations > 0
}
