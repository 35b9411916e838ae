#!/bin/sh
# 2,000 `@sleep` tasks on many ranks under srun, on the eight emulated nodes of
# tests/slurm/testbed.sh: the start of the ranks, the tasks and the end apart.
#
#   sh benchmarks/srun.sh [RANKS [REPEATS]]     default 256 ranks, 3 times
#
# As root. The ranks all share this machine. The start is from srun until every
# rank has said HELLO; the end from the last task until srun has exited. The
# least that the tasks can take is tasks per machine, rounded up, of 2 s each.
if [ -z "${BED-}" ]; then
    cd "$(dirname "$0")/.." || exit 1
    export TOP="$PWD" B="${B:-$PWD/build}"
    export BATS_MPI="$B/bats-mpi"
    exec sh tests/slurm/testbed.sh sh "$TOP/benchmarks/srun.sh" "$@"
fi
cd "$BED" || exit 1
ranks=${1:-256} repeats=${2:-3}
yes '@sleep 10m' | head -n 2000 >bag

now() { date +%s.%N; }
echo '| ranks | start, s | tasks, s | at least | end, s |'
echo '|--:|--:|--:|--:|--:|'
for i in $(seq "$repeats"); do
    rm -f bag.bats*
    before=$(now)
    timeout -k 10 300 srun --mpi=pmix --overcommit -p all -N8 -n "$ranks" \
        --ntasks-per-node=$((ranks / 8)) "$BATS_MPI" bag --policy rr \
        --time-scale 300 --quiet </dev/null >&2
    status=$?
    after=$(now)
    if [ $status -ne 0 ]; then
        echo "srun.sh: srun has returned $status" >&2
        exit 1
    fi
    sqlite3 bag.bats "SELECT 'done ' || done FROM progress" |
        grep -qx 'done 2000' || exit 1
    sqlite3 bag.bats "WITH ran AS (SELECT
            (SELECT started_us FROM session) / 1e6 AS first,
            max(start_us + wall_us) / 1e6 AS last FROM execution)
        SELECT printf('| %d | %.1f | %.1f | %d | %.1f |', $ranks,
            first - $before, last - first,
            (2000 + $ranks - 2) / ($ranks - 1) * 2, $after - last) FROM ran"
done
