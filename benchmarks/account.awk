# The table of account.sh. A ratio is of one repeat, of jobs side by side.
BEGIN {
    FS = OFS = "\t"
}
{
    if (!($1 in seen))
        kinds[++n_kinds] = $1
    seen[$1] = 1
    n[$1, $2]++
    i = n[$1, $2]
    billed[$1, $2, i] = $4
    charged[$1, $2, i] = $5
    held[$1, $2, i] = $6
    done[$1, $2, i] = $7
}
function smaller(a, b) {
    return a < b ? a : b
}
function spread(list, count, format,    i, k, x) {
    for (i = 2; i <= count; i++)
        for (k = i; k > 1 && list[k] < list[k - 1]; k--) {
            x = list[k]
            list[k] = list[k - 1]
            list[k - 1] = x
        }
    return sprintf(format " (" format " - " format ")",
        list[int((count + 1) / 2)], list[1], list[count])
}
function ratios(kind, over, under, a, b, format,    i) {
    for (i = 1; i <= n[kind, a]; i++)
        list[i] = over[kind, a, i] / under[kind, b, i]
    return spread(list, n[kind, a], format)
}
END {
    print "| job | billed, bats | charged / billed | budget left " \
        "| money, bats : rr | held, bats : rr | tasks, bats : rr |"
    print "|---|--:|--:|--:|--:|--:|--:|"
    budget["budget"] = 0.2
    budget["account"] = 5
    for (k = 1; k <= n_kinds; k++) {
        kind = kinds[k]
        for (i = 1; i <= n[kind, "bats"]; i++)
            list[i] = billed[kind, "bats", i]
        of = spread(list, n[kind, "bats"], "%.4f")
        least = "-"
        if (kind in budget) {
            least = budget[kind]
            for (i = 1; i <= n[kind, "bats"]; i++) {
                least = smaller(least, budget[kind] - billed[kind, "bats", i])
                least = smaller(least, budget[kind] - billed[kind, "rr", i])
            }
            least = sprintf("%.4f", least)
        }
        printf "| %s | %s | %s | %s | %s | %s | %s |\n", kind, of,
            ratios(kind, charged, billed, "bats", "bats", "%.3f"), least,
            ratios(kind, billed, billed, "bats", "rr", "%.3f"),
            ratios(kind, held, held, "bats", "rr", "%.3f"),
            ratios(kind, done, done, "bats", "rr", "%.3f")
    }
}
