#!/usr/bin/env python3
"""Tasks that need cores and memory of a node: rr beside FIFO and EASY backfill.

    python3 benchmarks/needs.py [TASKS [SEEDS]]

Each seed is a bag of mixed needs with lognormal runtimes, on 16 nodes of 16
cores and 64 GiB. FIFO begins tasks in the order of the bag, and waits while the
first one has no room. EASY (Lifka 1995) begins later ones, too, that end before
the first one can begin, or leave it its room; it is told all runtimes. rr of
bats-mpi, simulated, is told none. All makespans are over a lower bound: the
scarcer of cores and memory at full use, or the longest task.
"""
import heapq
import json
import os
import random
import subprocess
import sys
import tempfile

NODES, CORES, GIB = 16, 16, 64
KINDS = [(0.60, "one", 1, 2), (0.25, "four", 4, 8), (0.10, "eight", 8, 40),
         (0.05, "all", 16, 16)]
BATS = os.environ.get("BATS_MPI", "build/bats-mpi")


def draw(n, seed):
    rng = random.Random(seed)
    tasks = []
    for _ in range(n):
        x, k = rng.random(), 0
        while k + 1 < len(KINDS) and x >= KINDS[k][0]:
            x -= KINDS[k][0]
            k += 1
        tasks.append((round(rng.lognormvariate(6, 0.8), 3),) + KINDS[k][1:])
    return tasks


def bound(tasks):
    cores = sum(t * c for t, _, c, _ in tasks) / (NODES * CORES)
    memory = sum(t * m for t, _, _, m in tasks) / (NODES * GIB)
    return max(cores, memory, max(t[0] for t in tasks))


def first_node(free, cores, memory):
    for node, (c, m) in enumerate(free):
        if c >= cores and m >= memory:
            return node
    return None


def reserve(free, running, now, cores, memory):
    """When and where the task can begin, and what it leaves there then."""
    later = [list(f) for f in free]
    for end, node, c, m in sorted(running):
        later[node][0] += c
        later[node][1] += m
        if later[node][0] >= cores and later[node][1] >= memory:
            return end, node, later[node][0] - cores, later[node][1] - memory
    raise ValueError("the task fits no node")


def play(tasks, backfills):
    free = [[CORES, GIB] for _ in range(NODES)]
    running, queue, now = [], list(tasks), 0.0

    def begin(task, node):
        free[node][0] -= task[2]
        free[node][1] -= task[3]
        heapq.heappush(running, (now + task[0], node, task[2], task[3]))

    while queue or running:
        while queue:
            node = first_node(free, queue[0][2], queue[0][3])
            if node is None:
                break
            begin(queue.pop(0), node)
        if queue and backfills:
            at, kept, c, m = reserve(free, running, now, *queue[0][2:])
            i = 1
            while i < len(queue) and i < 200:  # as deep as schedulers look
                t = queue[i]
                node = None
                for k, (fc, fm) in enumerate(free):
                    if fc >= t[2] and fm >= t[3] and (
                            k != kept or now + t[0] <= at or
                            (c >= t[2] and m >= t[3])):
                        node = k
                        break
                if node is None:
                    i += 1
                    continue
                if node == kept and now + t[0] > at:
                    c, m = c - t[2], m - t[3]
                begin(queue.pop(i), node)
        now, node, c, m = heapq.heappop(running)
        free[node][0] += c
        free[node][1] += m
    return now


def simulate(tasks, directory):
    """The makespan of the policy rr."""
    specified = [{"id": f"t{i}", "name": t[1]} for i, t in enumerate(tasks)]
    executed = [{"id": f"t{i}", "runtimeInSeconds": t[0], "coreCount": t[2],
                 "memoryInBytes": t[3] << 30} for i, t in enumerate(tasks)]
    with open(f"{directory}/bag.json", "w") as out:
        json.dump({"schemaVersion": "1.5", "workflow": {
            "specification": {"tasks": specified},
            "execution": {"tasks": executed}}}, out)
    with open(f"{directory}/bag.scn", "w") as out:
        out.write("[run]\npolicy = rr\nbudget = unlimited\ntail = none\n"
                  "[bag]\nworkflow = bag.json\n[cluster a]\n"
                  f"machines = {NODES}\nslots = {CORES}\nmemory = {GIB}G\n"
                  "charge = 1\n")
    rows = subprocess.run([BATS, "simulate", f"{directory}/bag.scn", "--csv"],
                          check=True, capture_output=True, text=True).stdout
    head, row = rows.split("\n")[:2]
    return float(dict(zip(head.split(","), row.split(",")))["makespan_s"])


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("seed   FIFO   EASY     rr")
    worst = [0.0] * 3
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, seeds + 1):
            tasks = draw(n, seed)
            least = bound(tasks)
            got = [play(tasks, False) / least, play(tasks, True) / least,
                   simulate(tasks, directory) / least]
            worst = [max(a, b) for a, b in zip(worst, got)]
            print(f"{seed:4}  " + "  ".join(f"{x:5.3f}" for x in got))
    print("most  " + "  ".join(f"{x:5.3f}" for x in worst))


main()
