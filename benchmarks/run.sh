#!/bin/sh
# make bench: everything that RESULTS.md says about speed, measured here and
# now, in less than 15 minutes. The tables go into RESULTS.md, between the
# lines that mark them, and the plots into plots/. The rest of RESULTS.md is
# written by hand; what takes longer has a command of its own there.
#
#   sh benchmarks/run.sh [quick] [TOPIC...]
#
# quick: few repeats, two minutes, printed only. TOPICs: see below.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build}
RESULTS_DIR=$build/bench/results
export RESULTS_DIR
rm -rf "$RESULTS_DIR"
mkdir -p "$RESULTS_DIR" || exit 1

quick= topics="machine instructions simulator engine bags sweeps planner latency speed"
if [ "$1" = quick ]; then
    quick=yes
    shift
else
    topics="$topics record idle"
fi
topics=${*:-$topics}

arguments() { # TOPIC: what its script is given
    case $quick$1 in
    simulator) echo 9 300 ;;
    yessimulator) echo 1 60 ;;
    engine) echo 3 ;;
    yesengine) echo 1 1000000 ;;
    bags) echo 3 ;;
    yesbags) echo 1 1000000 ;;
    sweeps) echo 3 ;;
    yessweeps) echo 1 1000000 ;;
    planner) echo 30 5 ;;
    yesplanner) echo 2 1 ;;
    latency) echo 10 ;;
    yeslatency) echo 1 ;;
    speed) echo 7 ;;
    record) echo 15 ;;
    yesspeed | yesrecord) echo 1 ;;
    esac
}

status=0
for topic in $topics; do
    echo "== $topic" >&2
    start=$(date +%s)
    # shellcheck disable=SC2046
    B=$build sh "benchmarks/$topic.sh" $(arguments "$topic") \
        >"$RESULTS_DIR/$topic.md" || status=1
    # Plain text keeps its columns.
    grep -q '^|' "$RESULTS_DIR/$topic.md" || [ $topic = machine ] ||
        sed -i '1s/^/```\n/; $s/$/\n```/' "$RESULTS_DIR/$topic.md"
    cat "$RESULTS_DIR/$topic.md"
    echo "== $topic took $(($(date +%s) - start)) s" >&2
done
[ -z "$quick" ] || exit $status

awk -v dir="$RESULTS_DIR" '
    !skip { print }
    /^<!-- .*: made by make bench -->$/ {
        file = dir "/" $2
        sub(/:$/, ".md", file)
        if ((getline line <file) > 0) {
            skip = 1
            do
                print line
            while ((getline line <file) > 0)
        }
    }
    /^<!-- end -->$/ { if (skip) print; skip = 0 }
    ' benchmarks/RESULTS.md >"$RESULTS_DIR/RESULTS" &&
    cp "$RESULTS_DIR/RESULTS" benchmarks/RESULTS.md
if command -v gnuplot >/dev/null; then
    gnuplot -e "dir='$RESULTS_DIR'" benchmarks/plots/plots.gp || status=1
else
    echo "run.sh: no gnuplot, no plots" >&2
fi
exit $status
