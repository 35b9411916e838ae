#!/bin/sh
# Table 2.1 of Oprescu's thesis, emulated and shown beside the published
# figures: 1000 tasks of N(15, 5) minutes on two clusters of 32 machines, five
# scenarios, three runs each: rr, bats with the cost of rr as its budget
# (bats-rr), and bats with little more than the least budget (bats-min).
#
# 64 workers; all 15 runs take about 6 minutes. Exit status 0 if every run ended
# in order and within its budget. Leaves build/das/SCENARIO-RUN.json behind, and
# the record as SCENARIO-RUN.bats.
usage() {
    cat >&2 <<END
usage: sh benchmarks/das/table21.sh [--own-budgets] [--window SECONDS]
                                    [--seed N] [--runs RUN,...] [SCENARIO...]
  --own-budgets  bats-rr gets what rr was charged here, not in the thesis
  --window       real seconds for a window of 60 minutes (default 6): shorter
                 is quicker and less faithful
  --seed         of the bag and of the draw order (default 1)
  --runs         of rr, bats-rr, bats-min (default all)
  SCENARIO       of S4-1 S4-3 S1-1 S3-4 S1-4 (default all)
END
    exit 2
}

cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=${B:-build}
out=$build/das
window=6
seed=1
runs=rr,bats-rr,bats-min
own_budgets=
where='in the thesis'
scenarios=
while [ $# -gt 0 ]; do
    case $1 in
    --own-budgets) own_budgets=yes where=here ;;
    --window) window=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --runs) runs=$2 && shift ;;
    S4-1 | S4-3 | S1-1 | S3-4 | S1-4) scenarios="$scenarios $1" ;;
    *) usage ;;
    esac
    shift || usage
done
scenarios=${scenarios:-S4-1 S4-3 S1-1 S3-4 S1-4}
scale=$(awk -v w="$window" 'BEGIN { print 3600 / w }')
mkdir -p "$out" || exit 1
"$build/bench/das/bag" 1000 "$seed" >"$out/bag.txt" || exit 1

bad=0
wrong() { # SENTENCE
    echo "      NOT IN ORDER: $1"
    bad=1
}

# One run, $scenario $charge $speed $run $budget: writes its report to $json.
emulate() {
    cat >"$out/$scenario.ini" <<END
[run]
window = 60m
[cluster cluster0]
ranks = 1-32
charge = 3
[cluster cluster1]
ranks = 33-64
charge = $charge
speed = $speed
END
    set -- --time-scale "$scale" --seed "$seed" --json "$json" --quiet
    case $run in
    rr) set -- "$@" --policy rr ;;
    *) set -- "$@" --policy bkp ;;
    esac
    [ "$budget" = - ] || set -- "$@" --budget "$budget"
    rm -f "$json" "$out/$scenario-$run".bats*
    "$build/bats-mpi" run -j 64 "$out/bag.txt" \
        --record "$out/$scenario-$run.bats" --clusters "$out/$scenario.ini" "$@" </dev/null
}

# The line of the table for $json, and what must hold.
show() {
    first=decisions.reason=sampled.machines
    [ "$run" = rr ] && first=decisions.reason=start.machines
    set -- $(perl benchmarks/json.pl "$json" charged makespan_s tasks_done \
        $first.cluster0 $first.cluster1 preempted)
    [ "$run" = rr ] && rr_charged=$1
    awk -v scenario="$scenario" -v run="$run" -v budget="$budget" \
        -v charged="$1" -v s="$2" -v done="$3" -v a="$4,$5" -v cut="$6" \
        -v p_windows="$p_windows" -v p_cost="$p_cost" -v p_a="$p_machines" \
        -v p_makespan="$p_makespan" 'BEGIN {
            format = " | %d %5s %6s %8s"
            printf "%-4s %-8s %6s" format " %5d %4d" format "\n", scenario,
                run, budget, int(s / 3600) + 1, charged, a,
                int(s / 60) "m" int(s % 60) "s", done, cut,
                p_windows, p_cost, p_a, p_makespan
        }'
    [ "$budget" = - ] || awk -v x="$1" -v y="$budget" \
        'BEGIN { exit !(x <= y) }' || wrong "charged more than the budget"
    [ "$3" -eq 1000 ] || [ "$status" -eq 4 ] || wrong "tasks are missing"
}

echo "1000 tasks of N(15, 5) minutes, seed $seed, on 65 ranks. A window of 60
minutes lasts $window s. The budget of bats-rr is what rr was charged \
$where.
M: windows until the last task ended. cl0,cl1: machines of each cluster, as
decided after sampling. tasks: done; cut: executions stopped at a window's end.

                    | ------------- bats-mpi ------------- | ------- thesis --------
run          budget | M  cost cl0,cl1 makespan tasks  cut | M  cost cl0,cl1 makespan"
for wanted in $scenarios; do
    while read -r scenario charge speed run budget p_windows p_cost \
        p_machines p_makespan; do
        [ "$scenario" = "$wanted" ] || continue
        case ,$runs, in *",$run,"*) ;; *) continue ;; esac
        [ "$run$own_budgets" = bats-rryes ] && budget=$rr_charged
        json=$out/$scenario-$run.json
        emulate
        status=$?
        [ $status -eq 0 ] || [ $status -eq 4 ] || wrong "exit status $status"
        if [ -s "$json" ]; then show; else wrong "there is no report"; fi
    done <benchmarks/das/published.tsv
done
exit $bad
