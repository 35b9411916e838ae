#!/bin/bash
# An open bag (src/doc/open.md): how fast tasks are submitted, and how long one
# takes that is waited for, beside `true` and GNU parallel's sem; calls of the
# Python Executor beside ProcessPoolExecutor.
#
#     bash benchmarks/open.sh [REPEATS]
cd "$(dirname "$0")/.." || exit 1
PATH=$(cd "${B:-build}" && pwd):$PATH
top=$PWD repeats=${1:-3}
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
export BATS_HISTORY= PYTHONPATH=$top/src/python

cat >driver <<'END'
now() { date +%s%N; }
# per NAME N COMMAND...: how many a second, and microseconds of each
per() {
    local name=$1 n=$2 i begin=$(now)
    shift 2
    for ((i = 0; i < n; i++)); do "$@" >/dev/null 2>&1; done
    local ns=$(($(now) - begin))
    echo "| $name | $((n * 1000000000 / ns)) | $((ns / n / 1000)) |"
}
yes '@sleep 0' | head -n 100000 >lines
begin=$(now); bats-submit --stdin <lines >/dev/null; ns=$(($(now) - begin))
echo "| bats-submit --stdin | $((100000 * 1000000000 / ns)) | $((ns / 100000000)) |"
per 'bats-submit' 500 bats-submit '@sleep 0'
per '/bin/true' 500 /bin/true
per 'bats-submit --wait true' 200 bats-submit --wait true
! command -v sem >/dev/null || per 'sem --fg true' 20 sem --fg -j2 true
END
cat >calls.py <<'END'
import concurrent.futures as cf, sys, time
import bats_mpi

def noop(i):
    return i

def measure(name, make):
    with make() as ex:
        list(ex.map(noop, range(8)))
        begin = time.perf_counter()
        list(ex.map(noop, range(10000)))
        rate = 10000 / (time.perf_counter() - begin)
    print(f"| {name} | {rate:.0f} | {1e6 / rate:.0f} |")

if __name__ == "__main__":
    measure("10,000 calls, bats_mpi.Executor", lambda: bats_mpi.Executor(2))
    measure("10,000 calls, ProcessPoolExecutor",
            lambda: cf.ProcessPoolExecutor(2))
END
echo '| | a second | us each |'
echo '|---|--:|--:|'
for ((k = 0; k < repeats; k++)); do
    bats-mpi run --open --quiet -j 2 -- bash driver
    python3 calls.py
    rm -f open.bats*
done | sort
