#!/usr/bin/env python3
"""waits.py LOG [DRAWS]: jobs that are bought beside one job of the same size,
simulated with the waits of a log in the Standard Workload Format (.swf or
.swf.gz, from the Parallel Workloads Archive): turnaround of 240 tasks of 10 minutes
(lognormal, deviation 5 minutes), from the submission to the last result.

So many moments are drawn from the log (default 100). The one job has the wait of
the next job of 16 to 64 cores, and works on 24 machines. The jobs have one machine
each, at most 24 at a time, and wait for exponential times; the mean is that of
the next 24 jobs of at most two cores. From the top of the sources, after make.
"""
import gzip
import os
import random
import statistics
import subprocess
import sys
import tempfile

MACHINES = 24
SCENARIO = """[run]
billing = {billing}
window = {window}
tail = none
seeds = {seed}
{lease}
[bag]
tasks = 240
runtime = lognormal 10m 5m
[cluster log]
machines = 24
charge = 1
startup = 2s
queue = {queue}s
"""


def read(path):
    """[(submitted, wait, cores)] of jobs that began, by submission."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        rows = (line.split() for line in f if line[:1] not in ";\n")
        jobs = [(float(r[1]), float(r[2]), int(float(r[4])))
                for r in rows
                if len(r) > 4 and float(r[2]) >= 0 and float(r[3]) > 0]
    return sorted(jobs)


def turnaround(directory, **values):
    path = os.path.join(directory, "scn")
    with open(path, "w") as f:
        f.write(SCENARIO.format(**values))
    out = subprocess.run([os.environ.get("BATS_MPI", "build/bats-mpi"),
                          "simulate", "--csv", path],
                         capture_output=True, text=True, check=True).stdout
    row = out.splitlines()[1].split(",")
    assert row[13] == "0", out  # none is left
    return float(row[6])


def main():
    jobs = read(sys.argv[1])
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    r = random.Random(1)
    narrow = [j for j in jobs if j[2] <= 2]
    wide = [j for j in jobs if 16 <= j[2] <= 64]
    ratios, waits, times = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, draws + 1):
            at = r.uniform(jobs[0][0], jobs[-1][0])
            after = [w for t, w, _ in narrow if t >= at][:MACHINES]
            one = next((w for t, w, _ in wide if t >= at), None)
            if len(after) < MACHINES or one is None:
                continue
            mean = statistics.mean(after)
            alone = one + turnaround(directory, billing="allocation",
                                     window="10m", lease="", queue=0,
                                     seed=seed)
            each = turnaround(directory, billing="job", window="10m",
                              lease="lease = 75s\nstarting = 10s\n"
                              "overrun = 5s\nbill = 1.2s", queue=round(mean),
                              seed=seed)
            ratios.append(each / alone)
            times.append((each, alone))
            waits.append((one, mean))
    ratios.sort()
    n = len(ratios)
    quarter = [ratios[n * k // 4] for k in (1, 2, 3)]
    resamples = sorted(statistics.median(r.choices(ratios, k=n))
                       for _ in range(1000))
    print(f"{n} moments; mean waits: one job "
          f"{statistics.mean(w[0] for w in waits):.0f} s, each of the jobs "
          f"{statistics.mean(w[1] for w in waits):.0f} s")
    total = statistics.mean(t[0] for t in times) / \
        statistics.mean(t[1] for t in times)
    print(f"turnaround in multiples of the one job's: of the means {total:.2f}; "
          "median {1:.2f} (quartiles {0:.2f}, {2:.2f})".format(*quarter) +
          f", 95 % interval of the median {resamples[25]:.2f} to "
          f"{resamples[974]:.2f}; sooner in "
          f"{sum(x < 1 for x in ratios) / n:.0%}")


if __name__ == "__main__":
    main()
