#!/bin/sh
# What the run record costs: the same bag with and without it, in turn.
#
#   sh benchmarks/record.sh [REPEATS]      default 9
#
# Printed for each bag and number of workers: the median rate with the record
# and without, with their ranges, and the ratio of the two in the same repeat,
# median and range. The order within a pair changes from repeat to repeat. The
# time is that of the run's report; the start-up of mpirun is not counted. The
# records are written below RECORD_DIR (default: the current directory, where
# a user's are), because it is the file system that costs.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
build=${B:-build}
repeats=${1:-9}
tmp=$(mktemp -d "${RECORD_DIR:-.}/record.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
yes /bin/true | head -n 2000 >"$tmp/true"
yes '@sleep 0' | head -n 100000 >"$tmp/noop"

run() { # BAG WORKERS HOW ARGUMENT...: one sample
    bag=$1 workers=$2 how=$3
    shift 3
    launch $((workers + 1)) "$build/bats-mpi" run "$tmp/$bag" --quiet \
        --json "$tmp/report" "$@" </dev/null >&2 ||
        { echo "record.sh: $bag $how failed" >&2 && exit 1; }
    rm -f "$tmp/$bag".bats*
    printf '%s\t%s\t%s\n' "$bag-$workers" "$how" "$(wc -l <"$tmp/$bag" |
        awk -v s="$(perl benchmarks/json.pl "$tmp/report" real_s)" \
            '{ print $1 / s }')" >>"$tmp/samples"
}

repeat=0
while [ $repeat -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    for bag in true noop; do
        for workers in 1 2; do
            [ $((repeat % 2)) -eq 0 ] || run $bag $workers with
            run $bag $workers without --no-record
            [ $((repeat % 2)) -eq 1 ] || run $bag $workers with
        done
    done
    echo "record.sh: repeat $repeat of $repeats" >&2
done

awk -F '\t' -v repeats="$repeats" '
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
    {
        if (!($1 in seen))
            names[++n_names] = $1
        seen[$1] = 1
        x[$1, $2, ++n[$1, $2]] = $3
    }
    function row(name, how,   k, a) {
        for (k = 1; k <= repeats; k++)
            a[k] = x[name, how, k]
        sort(a, repeats)
        return sprintf("%7.0f (%6.0f - %6.0f)", middle(a, repeats), a[1],
            a[repeats])
    }
    END {
        printf "%-8s %25s %25s   %s\n", "bag", "tasks/s with", "without",
            "ratio"
        for (i = 1; i <= n_names; i++) {
            name = names[i]
            for (k = 1; k <= repeats; k++)
                r[k] = x[name, "with", k] / x[name, "without", k]
            sort(r, repeats)
            printf "%-8s %25s %25s   %.3f (%.3f - %.3f)\n", name,
                row(name, "with"), row(name, "without"),
                middle(r, repeats), r[1], r[repeats]
        }
        print "n = " repeats
    }' "$tmp/samples"
