#!/bin/bash
# Functions of Python on the machines of a run: src/python/bats_mpi.py.
. "$TOP/tests/mpi/open.sh"
export PYTHONPATH=$TOP/src/python PYTHONDONTWRITEBYTECODE=1

# py N [END]: the rest of standard input with an Executor of N workers, as ex,
# which the line END makes.
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
            'def set_it(x): os.it = x' 'def get_it(_): return os.it' \
            'def nested():' '    with bats_mpi.Executor(1) as ex: return ex.submit(square, 3).result()' \
            'def main(ex):'
        sed 's/^/    /'
        printf '%s\n' 'if __name__ == "__main__":' \
            "    ${2-with bats_mpi.Executor($1) as ex: main(ex)}"
    } >script.py
    env "$mark" timeout -k 5 900 python3 script.py >out 2>err </dev/null
    expect 1 grep -q Traceback err
}

env "$mark" python3 -m doctest "$TOP/src/python/bats_mpi.py"
sed -n '/^From Python/,/^## /s/^    //p' "$TOP/README.md" >readme.py
env "$mark" python3 readme.py >out
grep -qE '^[0-9]+ [0-9.e-]+$' out
ok 'the examples in its text and in README are true'

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

py '2, initializer=set_it, initargs=(5,)' <<'END'
print(set(ex.map(get_it, range(100))))
for first in odd, os._exit:
    with bats_mpi.Executor(1, initializer=first, initargs=(5,)) as other:
        print(type(other.submit(square, 2).exception()).__name__)
END
[ "$(cat out)" = $'{5}\nBrokenExecutor\nBrokenExecutor' ]
ok 'an initializer comes before the calls of each worker'

echo 'print(ex.submit(nested).result())' | py 2
[ "$(cat out)" = 9 ]
ok 'an Executor in a call has workers of its own'

# However the program ends, its run ends, and with it what is paid.
for way in pass 'os._exit(0)'; do
    echo "print(ex.submit(square, 3).result(), flush=True); $way" |
        py 2 'bats_mpi.IDLE = "1s"; main(bats_mpi.Executor(2))'
    [ "$(cat out)" = 9 ]
    within 60 nobody_left
done
sed -i 's/if __name__.*/if True:/' script.py
expect 1 env "$mark" timeout -k 5 900 python3 script.py >out 2>err </dev/null
grep -q 'freeze_support()' err
ok 'a run does not outlive its program, nor do programs without a guard multiply'

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

ini '[run]; window = 1h' '[cluster a]; ranks = 1; charge = 1' >c.ini
py '1, name="limited", args="--clusters c.ini --budget 1 --time-scale 3600".split()' <<'END'
f = ex.submit(time.sleep, 600)
print(type(f.exception()).__name__, f.exception())
END
grep -q '^RunEnded .*exit status 4' out
[ "$(sql limited.bats 'SELECT sum(amount) FROM charge')" = 1000000 ]
bats-mpi record verify limited.bats >verified
ok 'when the budget is spent, and no more than that, the calls that are left say so'

for i in 1 2; do
    echo 'print(sum(ex.map(square, range(10))))' |
        py 'launcher=["mpirun", "-n", "3"]'
    [ "$(cat out)" = 285 ]
done
ok 'it starts ranks of MPI, and ends while one of them begins'

sed -i 's/Executor(.*) as/Executor(2) as/' script.py
rm -f open.bats
open_bag -- python3 script.py
[ "$(cat out)" = 285 ]
[ "$(sql open.bats 'SELECT count(*) FROM tasks WHERE state = "done"')" = 2 ]
ok 'in a run that is there already it joins that'
done_testing
