#!/bin/sh
# Workflows in a budget: see graphs.c, and graphs.awk for the columns.
#
#   [LATEST=2] sh benchmarks/miser/graphs.sh KNOWN SEEDS FILE...
#
# LATEST: a deadline (graphs.c); what ends later is not complete. KNOWN: no, 0,
# 0.3, windows (graphs.c). FILE: a WfFormat or Makeflow, or one of them with
# .gz behind it; those of github.com/wfcommons/WfInstances were used, and those of
# github.com/WorkflowSim/WorkflowSim-1.0, config/dax, translated by dax2wfformat.py.
# Every run goes into build/miser/graphs-KNOWN.tsv.
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
[ $# -ge 3 ] || { echo 'usage: graphs.sh KNOWN SEEDS FILE...' >&2; exit 2; }
known=$1 seeds=$2
shift 2
mkdir -p "$build/miser" && work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for file; do
    name=$(basename "$file")
    case $name in
    *.gz) gzip -dc "$file" >"$work/${name%.gz}" ;;
    *) cp "$file" "$work/$name" ;;
    esac || exit 1
done
"$build/bench/miser/graphs" "$known" "$seeds" "$work"/* \
    >"$build/miser/graphs-$known.tsv" || exit 1
awk -v latest="${LATEST-}" -f benchmarks/miser/graphs.awk \
    "$build/miser/graphs-$known.tsv"
