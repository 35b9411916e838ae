#!/bin/sh
# The price of the run record: the same bag with and without it, in turn.
#
#   sh benchmarks/record.sh [REPEATS]      default 15
#
# Printed for each bag and number of workers:
#   rate   tasks per second, and the ratio of the two in the same repeat;
#   CPU    user and system time of all ranks and tasks, per task, without that
#          of a run with one task; and the ratio. What other processes do at
#          the time changes the rates, but hardly this.
# The ratios are medians of the repeats with their 95 % interval (of the sign
# test, which assumes nothing), and below 1 where the record costs something.
# The order within a pair changes from repeat to repeat. The rate's time is
# that of the run's report: the start-up of mpirun does not count. The records
# are written below RECORD_DIR (default: the current directory, where a user's
# are), because it is the file system that costs.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
. benchmarks/results.sh
build=${B:-build}
repeats=${1:-15}
tmp=$(mktemp -d "${RECORD_DIR:-.}/record.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
yes /bin/true | head -n 4000 >"$tmp/true"
yes '@sleep 0' | head -n 100000 >"$tmp/noop"
echo /bin/true >"$tmp/start"

# Every rank adds the CPU time of itself and its tasks to the file.
cat >"$tmp/rank" <<'END'
system @ARGV[1 .. $#ARGV];
my $status = $? >> 8;
my @t = times;
open my $out, '>>', $ARGV[0] or die;
syswrite $out, $t[2] + $t[3] . "\n";
exit $status;
END

run() { # BAG WORKERS ARGUMENT...: its rate and CPU time, in rate and cpu
    bag=$1 workers=$2
    shift 2
    rm -f "$tmp/cpu" "$tmp/$bag".bats*
    launch $((workers + 1)) perl "$tmp/rank" "$tmp/cpu" "$build/bats-mpi" run \
        "$tmp/$bag" --quiet --json "$tmp/report" "$@" </dev/null >&2 ||
        { echo "record.sh: $bag $* failed" >&2 && exit 1; }
    tasks=$(wc -l <"$tmp/$bag")
    rate=$(perl benchmarks/json.pl "$tmp/report" real_s |
        awk -v n="$tasks" '{ print n / $1 }')
    cpu=$(awk '{ s += $1 } END { print s }' "$tmp/cpu")
}
sample() { # BAG WORKERS HOW ARGUMENT...
    name="$1, $2" how=$3
    bag=$1 workers=$2
    shift 3
    run "$bag" "$workers" "$@"
    printf '%s, rate\t%s\t%s\n' "$name" "$how" "$rate" >>"$tmp/samples"
    awk -v all="$cpu" -v start="$start" -v n="$tasks" -v OFS='\t' \
        -v name="$name" -v how="$how" 'BEGIN {
            print name ", CPU", how, n / (all - start) }' >>"$tmp/samples"
}

repeat=0
while [ $repeat -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    for workers in 1 2; do
        run start $workers --no-record
        start=$cpu
        for bag in true noop; do
            [ $((repeat % 2)) -eq 0 ] || sample $bag $workers with
            sample $bag $workers without --no-record
            [ $((repeat % 2)) -eq 1 ] || sample $bag $workers with
        done
    done
    echo "record.sh: repeat $repeat of $repeats" >&2
done

# The order of the samples says nothing: it changes from repeat to repeat.
sort -s -t "$(printf '\t')" -k 1,1 -k 2,2r "$tmp/samples" |
    summary -v interval=1 | awk -F '\t' '
    BEGIN {
        print "| bag, workers | record | tasks/s, or us of CPU | range " \
            "| ratio | 95 % interval |"
        print "|---|---|--:|--:|--:|--:|"
    }
    function shown(x) {
        return $1 ~ /CPU$/ ? 1e6 / x : x
    }
    {
        a = shown($5)
        b = shown($6)
        printf "| %s | %s | %.0f | %.0f - %.0f | %.3f | %.3f - %.3f |\n",
            $1 == last ? "" : $1, $2, shown($4), a < b ? a : b,
            a < b ? b : a, $7, $8, $9
        last = $1
    }'
echo
echo "Medians of $repeats repeats; ratios to the run without a record."
