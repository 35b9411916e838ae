#!/bin/bash
# The executor of src/python for Snakemake 8 and 9. Where the packages of these
# are missing, as with Debian 12, fakes of their interface stand for them: they
# call the executor as snakemake-interface-executor-plugins 9.3 does.
. "$TOP/tests/mpi/open.sh"
export PYTHONPATH=$TOP/src/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONDONTWRITEBYTECODE=1

cat >Snakefile <<'S'
rule total:
    input: expand("q/{i}", i=range(3))
    output: "sum"
    shell: "cat {input} | awk '{{ n += $1 }} END {{ print n }}' >{output}"
rule square:
    output: "q/{i}"
    threads: 2
    resources: runtime=5, mem_mb=1000
    shell: "echo $(({wildcards.i} * {wildcards.i})) >{output}"
rule bad:
    output: "bad"
    shell: "exit 1"
S
if ! python3 -c 'import snakemake_interface_executor_plugins' 2>/dev/null; then
    mkdir -p fake/snakemake_interface_common \
        fake/snakemake_interface_executor_plugins/executors fake/snakemake
    PYTHONPATH=$PWD/fake:$PYTHONPATH
    cd fake
    echo 'class WorkflowError(Exception): pass' \
        >snakemake_interface_common/exceptions.py
    cd snakemake_interface_executor_plugins
    echo 'class JobExecutorInterface: pass' >jobs.py
    cat >settings.py <<'P'
class CommonSettings:
    def __init__(self, **settings): self.__dict__.update(settings)
P
    cat >executors/base.py <<'P'
class SubmittedJobInfo:
    def __init__(self, job, external_jobid=None):
        self.job, self.external_jobid = job, external_jobid
P
    cat >executors/remote.py <<'P'
import threading
class RemoteExecutor:
    def __init__(self, finished, workflow):
        self.finished, self.lock, self.active = finished, threading.Lock(), []
        self.workflow = workflow
        self.__post_init__()
    def run_job_pre(self, job): pass
    def format_job_exec(self, job): return job.command
    def report_job_submission(self, info):
        with self.lock: self.active.append(info)
    def report_job_success(self, info): self.finished(info.job, True)
    def report_job_error(self, info, msg=None): self.finished(info.job, False)
P
    cd ..
    touch snakemake/__init__.py # else an installed Snakemake comes first
    # Rules of the Snakefile above, as a fake of Snakemake that knows no other.
    cat >snakemake/__main__.py <<'P'
import asyncio, json, sys, time
from types import SimpleNamespace as Some
import snakemake_executor_plugin_bats as plugin
defaults = Some(args=["mem_mb=min(max(2*input.size_mb, 1000), 8000)"],
                parsed={"mem_mb": lambda: 8000})
class Job:
    def __init__(self, rule, output, command, threads=1, **resources):
        self.command, self.is_done = f"mkdir -p q; {command}", None
        self.rule = Some(resources={**defaults.parsed, **resources})
        self.said = {"type": "single", "rule": rule, "output": [output],
                     "threads": threads,
                     "resources": {"mem_mb": 8000, **resources}}
    def is_group(self): return False
    def properties(self): return json.dumps(self.said)
def finished(job, is_done): job.is_done = is_done
def run(ex, jobs):
    async def look():
        return [i async for i in ex.check_active_jobs(list(ex.active))]
    ex.run_jobs(jobs)
    while ex.active:
        ex.active = asyncio.run(look())
        time.sleep(0.05)
    return all(job.is_done for job in jobs)
ex = plugin.Executor(
    finished, Some(resource_settings=Some(default_resources=defaults)))
if sys.argv[-1] == "bad":
    ok = run(ex, [Job("bad", "bad", "exit 1")])
else:
    ok = run(ex, [Job("square", f"q/{i}", f"echo {i * i} >q/{i}", 2,
                      runtime=5, mem_mb=1000) for i in range(3)]) and \
        run(ex, [Job("total", "sum", "cat q/* | awk '{n += $1} END {print n}' >sum")])
ex.cancel_jobs([])
sys.exit(0 if ok else 1)
P
    cd ..
fi

# flow ARGUMENT...: Snakemake in an open bag of 2 workers.
flow() {
    rm -f open.bats
    env "$mark" timeout -k 5 900 bats-mpi run --open -j 2 -- \
        python3 -m snakemake --executor bats -j 20 "$@" >out 2>err </dev/null
}
flow
test "$(cat sum)" = 5
test "$(sqlite3 open.bats 'SELECT count(*) FROM tasks WHERE state = "done"')" = 4
test "$(sqlite3 open.bats "SELECT DISTINCT json_remove(given, '$.key', '$.repeats')
    FROM submission ORDER BY json_extract(given, '$.class')")" = \
    '{"class":"square","cores":2,"memory":"1000M","limit":"5m"}
{"class":"total","cores":1}'
ok 'jobs are tasks, with rule, threads, time and memory, unless no rule says it'
exits 1 'driver ended with exit status 1' flow bad
ok 'a job that fails ends the workflow'
expect 1 env "$mark" python3 -m snakemake --executor bats -j 2 sum -f >out 2>err
grep -q "BATS_SOCKET is not set: start 'bats-mpi run --open" err
ok 'without a run there is a sentence'
done_testing
