#!/bin/sh
# Speed of bats-mpi beside its floor and its peers, as ratios of one session.
#
#   sh benchmarks/speed.sh [REPEATS]      default 7
#
# Every contender runs once per repeat, in turn, so that all see the same
# machine. Printed: the median rate with its range, and the ratio to the
# reference of the same repeat, median and range. The start-up of mpirun is not
# counted: bats-mpi is timed by the report of the run (real_s), pingpong and
# futures.py time themselves. xargs and parallel are timed from outside.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
. benchmarks/results.sh
build=${B:-build}
repeats=${1:-7}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
processes=1000
noop_tasks=100000
line='true && true' # what only a shell understands, and does by itself

yes /bin/true | head -n $processes >"$tmp/direct"
yes "$line" | head -n $processes >"$tmp/shell"
yes '@sleep 0' | head -n $noop_tasks >"$tmp/noop"

sample() { # GROUP NAME TASKS SECONDS
    [ -n "$4" ] || { echo "speed.sh: $1 $2 failed" >&2 && exit 1; }
    printf '%s\t%s\t%s\n' "$1" "$2" "$(awk -v n="$3" -v s="$4" \
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

has() { # NAME COMMAND...: it can be run
    name=$1
    shift
    "$@" >/dev/null 2>&1 || {
        [ "$repeat" -gt 1 ] || echo "speed.sh: no $name, left out" >&2
        return 1
    }
}

by_xargs() { # WORKERS COMMAND...
    workers=$1
    shift
    seq $processes | xargs -n 1 -P "$workers" "$@"
}

processes() { # GROUP WORKERS BAG COMMAND...
    group="$1, $2" w=$2 bag=$3
    shift 3
    sample "$group" "bare spawn loop" $processes \
        "$("$build/bench/spawn" $w $processes "$@")"
    sample "$group" bats-mpi $processes "$(bats $w "$bag")"
    has xargs xargs --version && sample "$group" "xargs -P $w" $processes \
        "$(timed by_xargs $w "$@")"
    has parallel parallel --version &&
        sample "$group" "parallel -j $w" $((processes / 4)) \
            "$(head -n $((processes / 4)) "$bag" | timed parallel -j $w)"
}

python=/usr/bin/python3 # the one that Debian's python3-mpi4py is for
repeat=0
while [ $repeat -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    for w in 1 2; do
        processes '`/bin/true`' $w "$tmp/direct" /bin/true
        processes "\`$line\`" $w "$tmp/shell" /bin/sh -c "$line"
    done
    seconds=$(launch 2 "$build/bench/pingpong" $noop_tasks)
    for w in 1 2; do
        group="\`@sleep 0\`, $w"
        sample "$group" "64-byte ping-pong" $noop_tasks "$seconds"
        sample "$group" bats-mpi $noop_tasks "$(bats $w "$tmp/noop")"
        has mpi4py $python -c 'import mpi4py' &&
            sample "$group" mpi4py.futures $((noop_tasks / 20)) "$(
                launch $((w + 1)) $python -m mpi4py.futures \
                    benchmarks/futures.py $((noop_tasks / 20)))"
    done
    echo "speed.sh: repeat $repeat of $repeats" >&2
done

summary "$tmp/samples" >"$tmp/summary"
keep speed "$tmp/summary"
awk -F '\t' '
    BEGIN {
        print "| bag, workers | contender | tasks/s | range | ratio | range |"
        print "|---|---|--:|--:|--:|--:|"
    }
    {
        printf "| %s | %s | %.0f | %.0f - %.0f | %.3f | %.3f - %.3f |\n",
            $1 == last ? "" : $1, $2, $4, $5, $6, $7, $8, $9
        last = $1
    }' "$tmp/summary"
echo
echo "Medians of $repeats repeats; ratios to the first row of the group."
