#!/bin/bash
# An open bag (src/doc/open.md): how fast tasks are submitted, and how long one
# takes that is waited for, beside `true` and GNU parallel's sem; calls of the
# Python Executor beside ProcessPoolExecutor and mpi4py.futures, of nothing and
# of work with NumPy.
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
def noop(i):
    return i

def work(i):
    import numpy
    a = numpy.random.default_rng(i).random((120, 120))
    return float(numpy.linalg.eigvalsh(a + a.T)[-1])

def measure(name, make):
    calls = [("10,000 calls", noop, 10000)]
    try:
        import numpy
        calls.append(("1,000 eigenvalues of 120 x 120", work, 1000))
    except ImportError:
        pass
    with make() as ex:
        for what, f, n in calls:
            list(ex.map(f, range(8)))
            begin = time.perf_counter()
            list(ex.map(f, range(n)))
            rate = n / (time.perf_counter() - begin)
            print(f"| {what}, {name} | {rate:.0f} | {1e6 / rate:.0f} |")

if __name__ == "__main__":
    if sys.argv[1:] == ["mpi"]:
        from mpi4py.futures import MPIPoolExecutor
        measure("mpi4py.futures", MPIPoolExecutor)
    else:
        import bats_mpi
        measure("bats_mpi.Executor", lambda: bats_mpi.Executor(2))
        measure("ProcessPoolExecutor", lambda: cf.ProcessPoolExecutor(2))
END
mpi() {
    /usr/bin/python3 -c 'import mpi4py' 2>/dev/null &&
        mpirun --oversubscribe --allow-run-as-root -n 3 \
            /usr/bin/python3 -m mpi4py.futures calls.py mpi 2>/dev/null
}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
echo '| | a second | us each |'
echo '|---|--:|--:|'
for ((k = 0; k < repeats; k++)); do
    bats-mpi run --open --quiet -j 2 -- bash driver
    /usr/bin/python3 calls.py
    mpi
    rm -f open.bats*
done | sort
