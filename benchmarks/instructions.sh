#!/bin/sh
# Instructions of the hot paths, counted by callgrind: the same on a busy
# machine as on a quiet one.
#
#   sh benchmarks/instructions.sh            compares with the baseline
#   sh benchmarks/instructions.sh record     makes these counts the baseline
#
# The baseline is instructions.tsv. It holds for one compiler and one libc;
# where yours are others, record one of your own before you change the code.
# Exit status 1: something takes 5 % more instructions than it did.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} baseline=benchmarks/instructions.tsv
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v valgrind >/dev/null || { echo "no valgrind here" && exit 0; }

count() { # NAME, UNITS, FUNCTION that counts with all it calls, COMMAND...
    name=$1 units=$2 function=$3
    shift 3
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect="$function" "$@" >/dev/null 2>"$tmp/err"
    awk -v name="$name" -v units="$units" '
        / Collected : / { printf "%s\t%.0f\n", name, $NF / units; found = 1 }
        END { exit !found }' "$tmp/err" >>"$tmp/now" ||
        { cat "$tmp/err" >&2 && exit 1; }
}

simulator=$build/bench/simulator planner=$build/bench/planner
engine=$build/bench/engine
count "run: rr, 1000 tasks, 72 machines" 20 bats_sim_run \
    "$simulator" rr 1000 72 20
count "run: rr, the same without copies" 20 bats_sim_run \
    "$simulator" rr 1000 72 20 0 none
count "run: bats, 1000 tasks, budget 860" 20 bats_sim_run \
    "$simulator" bats 1000 72 20 860
count "run: bats, 1000 tasks, budget 600" 20 bats_sim_run \
    "$simulator" bats 1000 72 20 600
count "run: bkp, 1000 tasks, budget 860" 20 bats_sim_run \
    "$simulator" bkp 1000 72 20 860
count "run: bkp, 1000 tasks, budget 600" 20 bats_sim_run \
    "$simulator" bkp 1000 72 20 600
count "run: rr, 20,000 tasks, 10,000 machines" 1 bats_sim_run \
    "$simulator" rr 20000 10000 1
count "run: bats, 20,000 tasks, 10,000 machines" 1 bats_sim_run \
    "$simulator" bats 20000 10000 1 400000
count "run: bkp, 20,000 tasks, 10,000 machines" 1 bats_sim_run \
    "$simulator" bkp 20000 10000 1 400000
count "event: rr, 1000 machines" 110000 bats_sched_handle \
    "$engine" rr 1000000 1000 110000
count "event: bats, 1000 machines" 110000 bats_sched_handle \
    "$engine" bats 1000000 1000 110000
count "event: bkp, 1000 machines" 110000 bats_sched_handle \
    "$engine" bkp 1000000 1000 110000
count "event: rr, 1000 machines, each task after 10" 110000 bats_sched_handle \
    "$engine" rr 200000 1000 110000 10
count "plan: unrelated, 16 x 4096" 30 bats_plan_solve \
    "$planner" unrelated 6 16 4096 30
count "plan: similar, 16 x 4096" 30 bats_plan_solve \
    "$planner" similar 6 16 4096 30
for group in 1 8 64 256; do
    count "record: a task, $group to a commit" 20000 bats_rows \
        "$build/bench/rows" "$tmp/$group.bats" 20000 $group
done

if [ "$1" = record ]; then
    { echo "# $(cc --version | head -n 1), $(getconf GNU_LIBC_VERSION)" &&
        cat "$tmp/now"; } >$baseline
fi
[ -f $baseline ] || { echo "no baseline: see $0" >&2 && exit 1; }
awk -F '\t' '
    FNR == 1 { file++ }
    /^#/ { compiler = substr($0, 3); next }
    file == 1 { before[$1] = $2; next }
    FNR == 1 {
        print "| instructions per | now | baseline | change |"
        print "|---|--:|--:|--:|"
    }
    {
        printf "| %s | %d | ", $1, $2
        if (!($1 in before)) {
            print "| |"
            next
        }
        change = 100 * ($2 / before[$1] - 1)
        printf "%d | %+.1f %% |\n", before[$1], change
        worse = worse || change > 5
    }
    END { print "\nBaseline: " compiler "."; exit worse }' $baseline "$tmp/now"
