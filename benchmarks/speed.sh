#!/bin/sh
# Speed of bats-mpi beside its floor and its peers, as ratios of one session.
#
#   sh benchmarks/speed.sh [REPEATS]      default 9
#
# Every contender runs once per repeat, in turn, so that all see the same
# machine. Printed: the median rate with its range, and the ratio to the
# reference of the same repeat, median and range. The start-up of mpirun is not
# counted: bats-mpi is timed by the report of the run (real_s), pingpong and
# futures.py time themselves. xargs and parallel are timed from outside.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
build=${B:-build}
repeats=${1:-9}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
true_tasks=2000
noop_tasks=100000

yes /bin/true | head -n $true_tasks >"$tmp/true.txt"
yes '@sleep 0' | head -n $noop_tasks >"$tmp/noop.txt"

sample() { # NAME TASKS SECONDS
    [ -n "$3" ] || { echo "speed.sh: $1 failed" >&2 && exit 1; }
    printf '%s\t%s\n' "$1" "$(awk -v n="$2" -v s="$3" \
        'BEGIN { print n / s }')" >>"$tmp/samples"
}

timed() { # COMMAND...: its seconds
    start=$(date +%s%N)
    "$@" >/dev/null || return
    awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { print ns / 1e9 }'
}

bats() { # WORKERS BAG: seconds by its own report
    launch $(($1 + 1)) "$build/bats-mpi" run "$2" --quiet \
        --json "$tmp/report" </dev/null >&2 &&
        perl benchmarks/json.pl "$tmp/report" real_s
}

has() {
    command -v "$1" >/dev/null || {
        [ "$repeat" -gt 1 ] || echo "speed.sh: no $1, left out" >&2
        return 1
    }
}

xargs_true() { # WORKERS
    seq $true_tasks | xargs -n 1 -P "$1" /bin/true
}

python=/usr/bin/python3 # the one that Debian's python3-mpi4py is for
repeat=0
while [ $repeat -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    for w in 1 2; do
        sample "true-$w spawn" $true_tasks \
            "$("$build/bench/spawn" $w $true_tasks /bin/true)"
        sample "true-$w bats-mpi" $true_tasks "$(bats $w "$tmp/true.txt")"
        has xargs && sample "true-$w xargs" $true_tasks \
            "$(timed xargs_true $w)"
        has parallel && sample "true-$w parallel" $((true_tasks / 4)) "$(
            head -n $((true_tasks / 4)) "$tmp/true.txt" |
                timed parallel -j $w)"
    done
    sample "noop-1 pingpong" $noop_tasks \
        "$(launch 2 "$build/bench/pingpong" $noop_tasks)"
    for w in 1 2; do
        sample "noop-$w bats-mpi" $noop_tasks "$(bats $w "$tmp/noop.txt")"
        $python -c 'import mpi4py' 2>/dev/null &&
            sample "noop-$w mpi4py.futures" $((noop_tasks / 20)) "$(
                launch $((w + 1)) $python -m mpi4py.futures \
                    benchmarks/futures.py $((noop_tasks / 20)))"
    done
    echo "speed.sh: repeat $repeat of $repeats" >&2
done

# The reference of each group: the first contender that was sampled.
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
        if (!($1 in n))
            names[++n_names] = $1
        x[$1, ++n[$1]] = $2
    }
    END {
        printf "%-24s %8s %19s %7s %13s\n", "workers, contender", "tasks/s",
            "range", "ratio", "range"
        for (i = 1; i <= n_names; i++) {
            name = names[i]
            group = name
            sub(/ .*/, "", group)
            if (!(group in reference))
                reference[group] = group == "noop-2" ? reference["noop-1"] \
                    : name
            for (k = 1; k <= n[name]; k++) {
                a[k] = x[name, k]
                r[k] = x[name, k] / x[reference[group], k]
            }
            sort(a, n[name])
            sort(r, n[name])
            printf "%-24s %8.0f %8.0f - %8.0f %7.3f %5.3f - %5.3f\n", name,
                middle(a, n[name]), a[1], a[n[name]], middle(r, n[name]),
                r[1], r[n[name]]
        }
        print "n = " repeats
    }' "$tmp/samples"
