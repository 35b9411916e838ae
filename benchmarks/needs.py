#!/usr/bin/env python3
"""Tasks that need cores and memory of a node: rr beside FIFO and EASY backfill.

    python3 benchmarks/needs.py [TASKS [SEEDS [MIX...]]]
    python3 benchmarks/needs.py WORKFLOW.json[.gz]...

Bags: each seed draws tasks of a mix of needs, with lognormal runtimes, for 16
nodes of 16 cores and 64 GiB. Workflows (WfFormat): runtimes and dependencies as
measured; each program gets 1, 2, 4 or 8 cores and 4 GiB for each, drawn with
five seeds; 4 nodes.

FIFO begins tasks in the order in which they are ready, and waits while the
first one has no room. EASY (Lifka 1995) begins later ones, too, that end before
the first one can begin, or leave it its room; it is told all runtimes. `best`
is the soonest end of EASY with four orders: of arrival, longest chain, largest
share of a node, and most core time first. rr of bats-mpi, simulated, learns
runtimes on the way (rr) or is told them (rr told). All makespans are over a
lower bound: the longest chain of tasks, or what comes before, between and after
some of them, with cores or memory at full use.
"""
import bisect
import gzip
import heapq
import itertools
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

CORES, GIB, DEPTH = 16, 64, 200  # as deep as schedulers look
# Share of the tasks, cores, GiB and a factor of the runtime.
MIXES = {
    "mixed": (0.8, [(0.60, 1, 2, 1), (0.25, 4, 8, 1), (0.10, 8, 40, 1),
                    (0.05, 16, 16, 1)]),
    "few-wide": (0.8, [(0.90, 1, 2, 1), (0.08, 4, 8, 1), (0.02, 16, 16, 2)]),
    "heavy-tail": (1.5, [(0.60, 1, 2, 1), (0.25, 4, 8, 1), (0.10, 8, 40, 1),
                         (0.05, 16, 16, 1)]),
    "memory": (0.8, [(0.50, 1, 2, 1), (0.20, 1, 16, 1), (0.20, 2, 32, 0.5),
                     (0.10, 4, 60, 0.5)]),
    "odd": (0.5, [(0.40, 1, 1, 1), (0.30, 3, 12, 1), (0.20, 6, 20, 2),
                  (0.10, 11, 30, 1)]),
}
BATS = os.environ.get("BATS_MPI", "build/bats-mpi")
NAMES = ["FIFO", "EASY", "best", "rr", "rr told"]


class Task:
    def __init__(self, time, name, cores, gib):
        self.time, self.name, self.cores, self.gib = time, name, cores, gib
        self.kind, self.parents, self.children = (cores, gib), 0, []


def draw(mix, n, seed):
    rng = random.Random(seed)
    spread, kinds = MIXES[mix]
    tasks = []
    for _ in range(n):
        x, k = rng.random(), 0
        while k + 1 < len(kinds) and x >= kinds[k][0]:
            x -= kinds[k][0]
            k += 1
        _, cores, gib, factor = kinds[k]
        time = round(factor * rng.lognormvariate(6, spread), 3)
        tasks.append(Task(time, "abcd"[k], cores, gib))
    return tasks


def load(path, seed):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        workflow = json.load(file)["workflow"]
    rng = random.Random(seed)
    needs, tasks = {}, {}
    took = {t["id"]: t["runtimeInSeconds"]
            for t in workflow["execution"]["tasks"]}
    for t in workflow["specification"]["tasks"]:
        name = re.split(r"[_-]?(ID|chr)?[0-9]", t["name"])[0]
        if name not in needs:  # categories' names have no digits
            needs[name] = ("p" + "q" * len(needs), rng.choice([1, 2, 4, 8]))
        name, cores = needs[name]
        tasks[t["id"]] = Task(round(took[t["id"]], 3), name, cores, 4 * cores)
    for t in workflow["specification"]["tasks"]:
        for child in t.get("children", []):
            tasks[t["id"]].children.append(tasks[child])
            tasks[child].parents += 1
    tasks = list(tasks.values())
    rng.shuffle(tasks)
    return tasks


def share(task):
    return max(task.cores / CORES, task.gib / GIB)


def in_order(tasks):
    """The tasks, parents first; sets each one's longest chain to the end."""
    left = {t: t.parents for t in tasks}
    order = [t for t in tasks if t.parents == 0]
    for t in order:
        for c in t.children:
            left[c] -= 1
            if left[c] == 0:
                order.append(c)
    for t in reversed(order):
        t.chain = t.time + max((c.chain for c in t.children), default=0)
    return order


def earliest(order, parents, nodes):
    """When each task can begin at the earliest: its parents have ended, and
    so has the work of all before it, of which the part that begins last keeps
    all cores or all memory busy."""
    start, before = {}, {}
    for t in order:
        before[t] = set(parents[t]).union(*(before[p] for p in parents[t]))
        start[t] = max((start[p] + p.time for p in parents[t]), default=0)
        cores = memory = 0
        for p in sorted(before[t], key=lambda p: -start[p]):
            cores += p.time * p.cores / (nodes * CORES)
            memory += p.time * p.gib / (nodes * GIB)
            start[t] = max(start[t], start[p] + max(cores, memory))
    return start


def least(tasks, nodes):
    """The least makespan of independent tasks: cores or memory at full use, or
    several tasks in the same place. Of k m + r tasks in m places, r places have
    k + 1 tasks, or one has k + 2. A place is as wide as a task of some width,
    wider tasks take several, and narrower ones none."""
    bound = max(sum(t.time * t.cores for t in tasks) / (nodes * CORES),
                sum(t.time * t.gib for t in tasks) / (nodes * GIB))
    for width in {t.cores for t in tasks}:
        m = nodes * (CORES // width)
        longest = sorted((t.time for t in tasks
                          for _ in range(t.cores // width)), reverse=True)
        sums = [0, *itertools.accumulate(longest)]
        for k in range(1, (len(longest) - 1) // m + 1):
            for r in {1, min(m, len(longest) - k * m)}:
                n = k * m + r
                bound = max(bound, min(sums[n] - sums[n - k - 2],
                                       (sums[n] - sums[n - r * (k + 1)]) / r))
    return bound


def some(values):
    """At most 60 of them."""
    values = sorted(set(values))
    n = len(values)
    return values if n <= 60 else [values[i * (n - 1) // 59] for i in range(60)]


def bound(tasks, nodes):
    """The tasks that begin at `head` or later, and leave `tail` or more to do
    when they end, take their least makespan in between."""
    order, parents = in_order(tasks), {t: [] for t in tasks}
    for t in tasks:
        for c in t.children:
            parents[c].append(t)
    head = earliest(order, parents, nodes)
    tail = earliest(order[::-1], {t: t.children for t in tasks}, nodes)
    bound = max(head[t] + t.time + tail[t] for t in tasks)
    for h in some(head.values()):
        for l in some(tail.values()):
            part = [t for t in tasks if head[t] >= h and tail[t] >= l]
            if part:
                bound = max(bound, h + least(part, nodes) + l)
    return bound


class Play:
    """A run with all runtimes known, tasks sorted by `key` as they are ready."""

    def __init__(self, tasks, nodes, key, backfills):
        self.free = [[CORES, GIB] for _ in range(nodes)]
        self.running, self.now, self.n = [], 0.0, 0
        self.left = {t: t.parents for t in tasks if t.parents}
        self.key, self.backfills = key, backfills
        self.queue, self.behind, self.at = [], [], 0
        ready = [t for t in tasks if t.parents == 0]
        self.behind = sorted(ready, key=key) if key else ready
        while self.queue or self.running or self.at < len(self.behind):
            self.refill()
            self.assign()
            self.end_one()

    def refill(self):
        """Long bags wait behind the queue: nobody looks at all of them."""
        more = DEPTH - len(self.queue)
        self.queue += self.behind[self.at:self.at + more]
        self.at += max(more, 0)

    def begin(self, task, node):
        self.free[node][0] -= task.cores
        self.free[node][1] -= task.gib
        self.n += 1
        heapq.heappush(self.running, (self.now + task.time, self.n, node, task))

    def end_one(self):
        self.now, _, node, task = heapq.heappop(self.running)
        self.free[node][0] += task.cores
        self.free[node][1] += task.gib
        for child in task.children:
            self.left[child] -= 1
            if self.left[child] == 0 and self.key:
                bisect.insort(self.queue, child, key=self.key)
            elif self.left[child] == 0:
                self.queue.append(child)

    def has_room(self, task):
        for node, (cores, gib) in enumerate(self.free):
            if cores >= task.cores and gib >= task.gib:
                return node
        return None

    def reserve(self, task):
        """When and where the task can begin, and what it leaves there then."""
        later = [list(f) for f in self.free]
        for end, _, node, t in sorted(self.running):
            later[node][0] += t.cores
            later[node][1] += t.gib
            cores, gib = later[node]
            if cores >= task.cores and gib >= task.gib:
                return end, node, cores - task.cores, gib - task.gib
        raise ValueError("the task fits no node")

    def assign(self):
        while self.queue:
            node = self.has_room(self.queue[0])
            if node is None:
                break
            self.begin(self.queue.pop(0), node)
            self.refill()
        if self.queue and self.backfills:
            self.backfill()

    def backfill(self):
        at, kept, spare, room = self.reserve(self.queue[0])
        hopeless = {self.queue[0].kind}
        i = 1
        while i < len(self.queue) and i < DEPTH:
            t = self.queue[i]
            i += 1
            if t.kind in hopeless:
                continue
            fits = [k for k, (cores, gib) in enumerate(self.free)
                    if cores >= t.cores and gib >= t.gib]
            if not fits:
                hopeless.add(t.kind)
            short = self.now + t.time <= at
            leaves = spare >= t.cores and room >= t.gib
            node = next((k for k in fits if k != kept or short or leaves), None)
            if node is None:
                continue
            if node == kept and not short:
                spare, room = spare - t.cores, room - t.gib
            i -= 1
            self.begin(self.queue.pop(i), node)


ORDERS = [None, lambda t: -t.chain, lambda t: (-share(t), -t.chain),
          lambda t: -share(t) * t.chain]


def simulate(tasks, nodes, directory, told):
    """The makespan of the policy rr."""
    name = {t: f"t{i}" for i, t in enumerate(tasks)}
    specified = [{"id": name[t], "name": t.name,
                  "children": [name[c] for c in t.children]} for t in tasks]
    for s in specified:
        s["parents"] = []
    by_id = {s["id"]: s for s in specified}
    for s in specified:
        for child in s["children"]:
            by_id[child]["parents"].append(s["id"])
    executed = [{"id": name[t], "runtimeInSeconds": t.time,
                 "coreCount": t.cores, "memoryInBytes": t.gib << 30}
                for t in tasks]
    with open(f"{directory}/bag.json", "w") as out:
        json.dump({"schemaVersion": "1.5", "workflow": {
            "specification": {"tasks": specified},
            "execution": {"tasks": executed}}}, out)
    with open(f"{directory}/bag.scn", "w") as out:
        out.write("[run]\npolicy = rr\nbudget = unlimited\ntail = none\n"
                  "[bag]\nworkflow = bag.json\n" +
                  ("known = yes\n" if told else "") +
                  f"[cluster a]\nmachines = {nodes}\nslots = {CORES}\n"
                  f"memory = {GIB}G\ncharge = 1\n")
    rows = subprocess.run([BATS, "simulate", f"{directory}/bag.scn", "--csv"],
                          check=True, capture_output=True, text=True).stdout
    head, row = rows.split("\n")[:2]
    return float(dict(zip(head.split(","), row.split(",")))["makespan_s"])


def compare(tasks, nodes, directory):
    least = bound(tasks, nodes)
    easy = [Play(tasks, nodes, key, True).now for key in ORDERS]
    ends = [Play(tasks, nodes, None, False).now, easy[0], min(easy),
            simulate(tasks, nodes, directory, False),
            simulate(tasks, nodes, directory, True)]
    return [end / least for end in ends]


def show(label, rows):
    """Mean and 95 % interval (Student's t) of each column."""
    t = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}.get(len(rows), 2.26)
    cells = []
    for column in zip(*rows):
        half = t * statistics.stdev(column) / math.sqrt(len(column)) \
            if len(column) > 1 else 0
        cells.append(f"{statistics.mean(column):6.3f} +- {half:5.3f}")
    print(f"{label:24}" + "  ".join(cells), flush=True)


def main():
    args = sys.argv[1:]
    print(f"{'makespan over bound':24}" +
          "  ".join(f"{name:15}" for name in NAMES))
    with tempfile.TemporaryDirectory() as directory:
        if args and ".json" in args[0]:
            for path in args:
                rows = [compare(load(path, seed), 4, directory)
                        for seed in range(1, 6)]
                show(os.path.basename(path).split(".")[0][:23], rows)
            return
        n = int(args[0]) if args else 5000
        seeds = int(args[1]) if len(args) > 1 else 3
        for mix in args[2:] or MIXES:
            show(f"{mix} {n}", [compare(draw(mix, n, seed), 16, directory)
                                for seed in range(1, seeds + 1)])


main()
