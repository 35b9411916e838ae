#!/usr/bin/env python3
"""What rank 0 has to do per task and per rank: messages, bytes, CPU, memory.

  benchmarks/protocol.py mpi|jobs RANKS...

mpi: mpirun -n RANKS, messages counted by Open MPI's monitoring. jobs: RANKS
workers of -j. Each size runs four bags of `@sleep`: 4 and 20 tasks per worker
in SECONDS_ (default 10), which tell what a task costs; and one task per worker
for that time and for three times as long, which tell what a rank costs per
second (signs of life). The rest is the start, the joins and the end. CPU is
that of the process of rank 0 alone, sampled from /proc, without a record.
Prints a line per size; `-` is not counted.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("BATS_MPI", os.environ.get("B", "build") +
                         "/bats-mpi")
SECONDS = float(os.environ.get("SECONDS_", "10"))  # tasks take at least


def rank0(pid, mark):
    """The process of rank 0: the one of -j, or that mpirun has started."""
    if mark is None:
        return pid
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/environ", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{entry}/comm") as f:
                name = f.read().strip()
        except OSError:
            continue
        if mark in words and b"OMPI_COMM_WORLD_RANK=0" in words and \
                name == "bats-mpi":
            return int(entry)
    return None


def watch(child, mark):
    """Seconds of CPU and MiB of rank 0 until the run ends."""
    pid = cpu = memory = None
    while child.poll() is None:
        time.sleep(0.05)
        pid = pid or rank0(child.pid, mark)
        try:
            spent = 0
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat") as f:
                    spent += int(f.read().split()[0])
            with open(f"/proc/{pid}/status") as f:
                found = re.search(r"VmHWM:\s+(\d+)", f.read())
            cpu = spent / 1e9
            memory = int(found[1]) / 1024 if found else memory
        except OSError:
            pass
    return cpu, memory


def count(prefix, ranks):
    """Messages and bytes from rank 0, and to it."""
    sums = [0, 0, 0, 0]
    for rank in range(ranks):
        with open(f"{prefix}.{rank}.prof") as f:
            for line in f:
                m = re.match(r"E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", line)
                if m and (m[1] == "0" or m[2] == "0"):
                    way = 0 if m[1] == "0" else 2
                    sums[way] += int(m[4])
                    sums[way + 1] += int(m[3])
    return sums


def run(transport, ranks, tasks, each, directory):
    bag = os.path.join(directory, "bag")
    with open(bag, "w") as f:
        f.write(f"@sleep {each:.3f}\n" * tasks)
    words = [PROGRAM, bag, "--no-record", "--quiet", "--policy", "rr"]
    env = dict(os.environ)
    mark = None
    if transport == "jobs":
        words += ["-j", str(ranks)]
    else:
        mark = f"BATS_PROTOCOL_MARK={os.getpid()}".encode()
        env.update(BATS_PROTOCOL_MARK=str(os.getpid()),
                   OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_mpi_yield_when_idle="1",
                   OMPI_MCA_hwloc_base_binding_policy="none",
                   OMPI_MCA_pml_monitoring_enable="2",
                   OMPI_MCA_pml_monitoring_enable_output="3",
                   OMPI_MCA_pml_monitoring_filename=directory + "/m")
        words = ["mpirun", "-n", str(ranks)] + words
    with open(directory + "/err", "w+") as said:
        child = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL,
                                 stderr=said)
        cpu, memory = watch(child, mark)
        if child.returncode != 0 or cpu is None:
            said.seek(0)
            sys.exit(f"protocol.py: {words}: exit {child.returncode}\n" +
                     said.read())
    sent = count(directory + "/m", ranks) if mark else [0, 0, 0, 0]
    return cpu, memory, sent


def main():
    transport, sizes = sys.argv[1], [int(n) for n in sys.argv[2:]]
    print("transport ranks tasks_s us_task us_rank_s us_join kib_rank "
          "out_task bytes_out_task in_task bytes_in_task")
    for ranks in sizes:
        workers = ranks if transport == "jobs" else ranks - 1
        with tempfile.TemporaryDirectory() as directory:
            few, many, short, long = [
                run(transport, ranks, n * workers, seconds / n, directory)
                for n, seconds in ((4, SECONDS), (20, SECONDS), (1, SECONDS),
                                   (1, 3 * SECONDS))]
        task = (many[0] - few[0]) / (16 * workers)
        second = (long[0] - short[0]) / (2 * SECONDS * workers)
        join = short[0] / workers - task - SECONDS * second
        sent = [(b - a) / (16 * workers) for a, b in zip(few[2], many[2])]
        print(transport, ranks, round(20 * workers / SECONDS),
              *[round(1e6 * x, 1) for x in (task, second, join)],
              round(1024 * many[1] / workers, 1),
              *([round(x, 2) for x in sent] if transport == "mpi"
                else ["-"] * 4), flush=True)


main()
