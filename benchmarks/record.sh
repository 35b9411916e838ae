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
. benchmarks/results.sh
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
    printf '%s\t%s\t%s\n' "$bag, $workers" "$how" "$(wc -l <"$tmp/$bag" |
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

# The order of the samples says nothing: it changes from repeat to repeat.
sort -s -t "$(printf '\t')" -k 1,1 -k 2,2r "$tmp/samples" |
    summary | awk -F '\t' '
    BEGIN {
        print "| bag, workers | record | tasks/s | range | ratio | range |"
        print "|---|---|--:|--:|--:|--:|"
    }
    {
        printf "| %s | %s | %.0f | %.0f - %.0f | %.3f | %.3f - %.3f |\n",
            $1 == last ? "" : $1, $2, $4, $5, $6, $7, $8, $9
        last = $1
    }'
echo
echo "Medians of $repeats repeats; ratios to the run without a record."
