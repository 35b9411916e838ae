#!/bin/bash
# Workflows of Snakemake in an open bag. Each job starts Snakemake again, which
# takes most of a second: so there are few.
. "$TOP/tests/mpi/open.sh"

needs snakemake
export CI=true # then Snakemake looks each second, and otherwise each 10 s

cat >Snakefile <<'S'
N = int(config.get("n", 1))
rule total:
    input: expand("q/{i}", i=range(N))
    output: "sum"
    shell: "cat {input} | awk '{{ n += $1 }} END {{ print n }}' >{output}"
rule draw:
    output: "d/{i}"
    threads: 2
    resources: runtime=5, mem_mb=200
    shell: "echo {wildcards.i} {threads} $OMP_NUM_THREADS >{output}"
rule square:
    input: "d/{i}"
    output: "q/{i}"
    shell: "echo $(({wildcards.i} * {wildcards.i})) >{output}"
rule once:
    output: "once"
    shell: "[ -e tried ] || {{ touch tried; exit 1; }}; touch {output}"
rule never:
    output: "never"
    shell: "echo the reason >&2; exit 1"
rule long:
    output: "l/{i}"
    shell: "touch began.{wildcards.i}; sleep 600; touch {output}"
rule held:
    output: "h/{i}"
    shell: "touch began.{wildcards.i}; until [ -e go ]; do sleep 0.1; done; echo {wildcards.i} >>ran; touch {output}"
S

cat >drive <<'D'
echo $$ >pid
exec snakemake -j 20 --nolock --cluster "${submit-bats-submit}" \
    --cluster-status bats-state --cluster-cancel bats-cancel "$@"
D
# flow ARGUMENT...: Snakemake in an open bag of 3 workers.
flow() {
    open_bag -j 3 --resume -- sh drive "$@"
}

# The line of README, on 3 workers of this machine.
sed -n '/^    srun.*run --open/{N;s/srun -n 256 bats-mpi run/bats-mpi run -j 3/;p}' \
    "$TOP/README.md" >readme
env "$mark" timeout -k 5 900 sh -e readme >out 2>err </dev/null
test "$(cat sum)" = 0
test "$(sqlite3 open.bats 'SELECT count(*) FROM tasks WHERE state = "done"')" = 3
test "$(cat d/0)" = '0 2 2'
test "$(given class | sort | uniq -c | tr -s ' \n' ' ')" = \
    ' 1 draw 1 square 1 total '
test "$(sqlite3 open.bats "SELECT DISTINCT json_remove(given, '$.key', '$.repeats')
    FROM submission WHERE json_extract(given, '$.class') <> 'total'
    ORDER BY json_extract(given, '$.class')")" = \
    '{"class":"draw","cores":2,"memory":"200M","limit":"5m"}
{"class":"square","cores":1}'
ok 'the jobs of a workflow are tasks, with rule, threads, memory and time'
rm -f open.bats

# Jobs of a group are one task; that of a rule is tried again.
flow once d/7 q/7 --groups draw=both square=both --restart-times 1
test -e once
test "$(cat q/7)" = 49
test "$(given class | sort | tr '\n' ' ')" = 'both once once '
ok 'a group is one task, and a job that failed and then succeeded is no failure'
flow q/4 q/5 q/6 --groups draw=both square=both --group-components both=3 \
    --set-threads draw=1 --set-resources draw:mem_mb=1000 --cores 2
test "$(sqlite3 open.bats "SELECT json_remove(given, '$.key', '$.repeats')
    FROM submission ORDER BY task DESC LIMIT 1")" = \
    '{"class":"both","cores":2,"limit":"10m"}'
ok 'a group needs no more cores than --cores says, and no memory if none is told'
exits 1 'the reason' flow never --restart-times 0
grep -q 'Error in rule never' err
ok 'a job that fails ends the workflow'
rm -f open.bats

submit='bats-submit --after {dependencies} --' \
    flow q/8 --immediate-submit --notemp
test "$(cat q/8)" = 64
test "$(given after)" = $'\n[1]'
ok 'jobs that are submitted at once wait for those that they depend on'
rm -f open.bats

# begin N JOB...: until so many of these jobs run, and the others wait.
begin() {
    behind bats-mpi run --open -j $1 -- sh drive "${@:2}"
    within 120 told "^$1\$" sh -c 'ls began.* | wc -l'
    within 60 grep -q "external jobid '$(($# - 1))'" err
}

# Snakemake went on after an interrupt once: users press Ctrl-C again.
begin 1 l/1 l/2
kill -INT $(cat pid)
within 20 grep -q 'Terminating' err || kill -INT $(cat pid)
expect 1 wait $run
test "$(sqlite3 open.bats 'SELECT count(*) FROM tasks
    WHERE state IN ("failed", "skipped")')" = 2
grep -q 'Terminating processes on user request' err
expect 1 grep -q 'cluster-cancel failed' err
ok 'when Snakemake is interrupted its jobs are cancelled, all at once'
rm -f open.bats began.* drive.log

# Both are killed, and both go on: with the jobs that ran, and those that wait.
begin 1 h/1 h/2
kill -KILL $run $(cat pid)
wait $run || :
within 60 nobody_left
touch go
flow h/1 h/2
test "$(sort ran | tr '\n' ' ')" = '1 2 '
test "$(sqlite3 open.bats 'SELECT count(*) FROM task')" = 2
bats-mpi record verify open.bats >/dev/null
ok 'killed together, both go on with the jobs of before'
rm -f open.bats began.* go ran h/*

# Ctrl-C for both: Snakemake cancels its jobs, and its scripts are gone.
begin 1 h/1 h/2
kill -INT $run $(cat pid)
expect 130 wait $run
touch go
flow h/1 h/2
test "$(sort ran | tr '\n' ' ')" = '1 2 '
test "$(sqlite3 open.bats 'SELECT count(*) FROM task')" = 2
ok 'and after Ctrl-C, which cancels nothing then'
done_testing
