#!/bin/bash
# Functions of Python on the machines of a run: src/python/bats_mpi.py.
. "$TOP/tests/mpi/lib.sh"
PATH=$(dirname "$BATS_MPI"):$PATH
export PYTHONPATH=$TOP/src/python PYTHONDONTWRITEBYTECODE=1
unset BATS_SOCKET

# py N: the rest of standard input with an Executor of N workers, as ex.
py() {
    {
        printf '%s\n' 'import os, sys, time, concurrent.futures as cf' \
            'import bats_mpi' 'def square(x): return x * x' \
            'def where(x): return os.getpid()' \
            'def odd(x): raise ValueError("odd %d" % x)' \
            'def die(): os._exit(9)' \
            'def hold(name):' '    while not os.path.exists(name):' \
            '        time.sleep(0.01)' 'def touch(name): open(name, "w").close(); time.sleep(20)' \
            'def once(name):' '    if not os.path.exists(name):' \
            '        open(name, "w").close(); os._exit(1)' '    return name' \
            'def main(ex):'
        sed 's/^/    /'
        printf '%s\n' 'if __name__ == "__main__":' \
            "    with bats_mpi.Executor($1) as ex: main(ex)"
    } >script.py
    env "$mark" timeout -k 5 100 python3 script.py >out 2>err </dev/null
    expect 1 grep -q Traceback err
}

env "$mark" python3 -m doctest "$TOP/src/python/bats_mpi.py"
ok 'the example in its text is true'
sed -n '/^From Python/,/^## /s/^    //p' "$TOP/README.md" >readme.py
env "$mark" python3 readme.py >out
grep -qE '^[0-9]+ [0-9.e-]+$' out
ok 'and so is that of README'

py 2 <<'END'
print(list(ex.map(square, range(1000))) == [i * i for i in range(1000)])
print(len(set(ex.map(where, range(200)))) <= 2)
calls = [ex.submit(square, i) for i in range(20)]
print(sorted(f.result() for f in cf.as_completed(calls)) ==
      [i * i for i in range(20)])
print(isinstance(ex, cf.Executor), ex.cost() >= 0)
END
[ "$(cat out)" = $'True\nTrue\nTrue\nTrue True' ]
ok 'it is an Executor, and its workers stay'

py '2, cores=2, memory="9M", name="needs"' <<'END'
print(set(ex.map(os.getenv, ["OMP_NUM_THREADS"] * 20)))
END
[ "$(cat out)" = "{'2'}" ]
[ "$(sqlite3 needs.bats "SELECT DISTINCT json_extract(given, '$.memory')
    FROM submission")" = 9M ]
ok 'each call has the cores and the memory that it asks for'

py 2 <<'END'
f = ex.submit(odd, 3)
print(type(f.exception()).__name__, f.exception(),
      'in odd' in str(f.exception().__cause__))
print(type(ex.submit(die).exception()).__name__, ex.submit(once, 'x').result())
try:
    ex.submit(square, lambda: 1)
except Exception as error:
    print(type(error).__name__)
print(ex.submit(square, 2).result())
END
[ "$(sed -n 1p out)" = 'ValueError odd 3 True' ]
[ "$(sed -n 2p out)" = 'WorkerLost x' ]
[ "$(tail -n 1 out)" = 4 ]
ok 'exceptions come with their traceback, and a worker that dies is replaced'

py 1 <<'END'
first = ex.submit(hold, 'go')
others = [ex.submit(touch, 'never') for _ in range(5)]
print(sum(f.cancel() for f in others))
open('go', 'w').close()
print(first.result())
END
[ "$(cat out)" = $'5\nNone' ]
[ ! -e never ]
ok 'a call that has not begun can be cancelled'

cat >script.py <<'END'
import bats_mpi, os, time
def nap(x): time.sleep(600)
if __name__ == "__main__":
    ex = bats_mpi.Executor(1, name="limited", args=["--clusters", "c.ini",
        "--budget", "1", "--time-scale", "3600"])
    f = ex.submit(nap, 1)
    print(type(f.exception()).__name__, f.exception())
    ex.shutdown()
    print(ex.record)
END
printf '[run]\nwindow = 1h\n[cluster a]\nranks = 1\ncharge = 1\n' >c.ini
env "$mark" timeout -k 5 100 python3 script.py >out 2>err </dev/null
grep -q '^RunEnded .*exit status [0-9]' out
[ "$(sqlite3 limited.bats 'SELECT sum(amount) FROM charge')" = 1000000 ]
ok 'when the budget is spent the calls that are left say so'

cat >script.py <<'END'
import bats_mpi
def square(x): return x * x
if __name__ == "__main__":
    for i in range(5):
        with bats_mpi.Executor(launcher=["mpirun", "-n", "3"]) as ex:
            print(sum(ex.map(square, range(10))))
END
env "$mark" timeout -k 5 100 python3 script.py >out 2>err </dev/null
[ "$(sort -u out)" = 285 ]
expect 1 grep -q Traceback err
ok 'it starts ranks of MPI, and ends while one of them begins'

cat >script.py <<'END'
import bats_mpi
def square(x): return x * x
if __name__ == "__main__":
    with bats_mpi.Executor(2) as ex:
        print(sum(ex.map(square, range(10))))
END
env "$mark" timeout -k 5 100 bats-mpi run --open -j 2 -- python3 script.py \
    >out 2>err </dev/null
[ "$(cat out)" = 285 ]
[ "$(sqlite3 open.bats 'SELECT count(*) FROM tasks WHERE state = "done"')" = 2 ]
ok 'in a run that is there already it joins that'
done_testing
