#!/usr/bin/env python3
"""Translates a DAX of Pegasus, with the runtimes of its generator, into
WfFormat, for simulations: dax2wfformat.py FILE.dax >FILE.json

Negative runtimes, which some generators have drawn, become 0."""
import json
import sys
import xml.etree.ElementTree as xml


def jobs(tree, name):
    """The elements of this name, in whatever namespace."""
    return [e for e in tree if e.tag.rpartition("}")[2] == name]


tree = xml.parse(sys.argv[1]).getroot()
tasks, runs = {}, []
for job in jobs(tree, "job"):
    tasks[job.get("id")] = {
        "id": job.get("id"),
        "name": job.get("name"),
        "parents": [],
    }
    if job.get("runtime"):
        runtime = max(0, float(job.get("runtime")))
        runs.append({"id": job.get("id"), "runtimeInSeconds": runtime})
for child in jobs(tree, "child"):
    parents = [p.get("ref") for p in jobs(child, "parent")]
    tasks[child.get("ref")]["parents"] += parents
json.dump(
    {
        "name": sys.argv[1],
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {"tasks": list(tasks.values())},
            "execution": {"tasks": runs},
        },
    },
    sys.stdout,
)
