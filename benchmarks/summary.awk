# Samples, one per line: GROUP, NAME, VALUE (tab between them), every name once
# per repeat. Prints, in the order of first sight,
#   GROUP NAME N MEDIAN LEAST MOST  RATIO LEAST MOST
# where the ratio is that to the first name of the group in the same repeat.
# -v interval=1: in the place of the least and the most ratio, the 95 % interval
# of the median (sign test).
# -v invert=1: the values are times, and the ratios those of the rates.
function sort(a, n,   i, j, x) {
    for (i = 2; i <= n; i++) {
        x = a[i]
        for (j = i - 1; j >= 1 && a[j] > x; j--)
            a[j + 1] = a[j]
        a[j + 1] = x
    }
}
function middle(a, n) {
    return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
# The place of the lower end of the interval among n that are sorted; the first
# where there are too few.
function lower(n,   k, p, sum) {
    p = 0.5 ^ n
    for (k = 0; k < n / 2; k++) {
        sum += p
        if (sum > 0.025)
            break
        p *= (n - k) / (k + 1)
    }
    return k > 1 ? k : 1
}
BEGIN { FS = OFS = "\t" }
{
    key = $1 OFS $2
    if (!(key in n))
        keys[++n_keys] = key
    if (!($1 in reference))
        reference[$1] = key
    group[key] = $1
    x[key, ++n[key]] = $3
}
END {
    for (i = 1; i <= n_keys; i++) {
        key = keys[i]
        first = reference[group[key]]
        for (k = 1; k <= n[key]; k++) {
            a[k] = x[key, k]
            r[k] = invert ? x[first, k] / (x[key, k] ? x[key, k] : 1e-9) : \
                x[key, k] / (x[first, k] ? x[first, k] : 1e-9)
        }
        sort(a, n[key])
        sort(r, n[key])
        least = interval ? lower(n[key]) : 1
        print key, n[key], middle(a, n[key]), a[1], a[n[key]],
            middle(r, n[key]), r[least], r[n[key] + 1 - least]
    }
}
