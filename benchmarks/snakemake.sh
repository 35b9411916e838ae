#!/bin/bash
# A workflow of Snakemake, three rules and JOBS jobs that do next to nothing, by
# its own -j and by an open bag (src/doc/open.md) on as many workers.
#
#     bash benchmarks/snakemake.sh [JOBS] [WORKERS]
cd "$(dirname "$0")/.." || exit 1
PATH=$(cd "${B:-build}" && pwd):$PATH
jobs=${1:-200} workers=${2:-2}
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
export BATS_HISTORY=
unset CI # with it Snakemake looks each second for what has ended, else each 10 s

cat >Snakefile <<S
N = $(((jobs - 1) / 2))
rule total:
    input: expand("q/{i}", i=range(N))
    output: "sum"
    shell: "cat {input} | awk '{{ n += \$1 }} END {{ print n }}' >{output}"
rule draw:
    output: "d/{i}"
    shell: "echo {wildcards.i} >{output}"
rule square:
    input: "d/{i}"
    output: "q/{i}"
    shell: "echo \$((\$(cat {input}) * {wildcards.i})) >{output}"
S
# measure NAME COMMAND...: seconds of the clock and of the CPU, and the result
measure() {
    local name=$1 n=$(((jobs - 1) / 2))
    shift
    TIMEFORMAT='%R %U %S'
    { time "$@" >log 2>&1 </dev/null; } 2>time
    [ "$(cat sum)" = $(((n - 1) * n * (2 * n - 1) / 6)) ] || name="$name, WRONG"
    awk -v name="$name" '{ printf "| %s | %.0f | %.0f |\n", name, $1, $2 + $3 }' time
    rm -rf d q sum .snakemake
}
echo '| | wall s | CPU s |'
echo '|---|--:|--:|'
measure "snakemake -j $workers" snakemake -j "$workers"
# in_bag NAME COMMAND...: a Snakemake in an open bag.
in_bag() {
    measure "run --open -j $workers$1" bats-mpi run --open -j "$workers" -- \
        "${@:2}" -j "$jobs" --max-jobs-per-second 100 \
        --max-status-checks-per-second 100
    rm -f open.bats
}
cluster='--cluster bats-submit --cluster-status bats-state --cluster-cancel bats-cancel'
in_bag '' snakemake $cluster
in_bag ', CI=true' env CI=true snakemake $cluster
in_bag ', CI=true, groups of 10' env CI=true snakemake $cluster \
    --cores "$workers" --groups draw=g square=g --group-components g=10
in_bag ', CI=true, --immediate-submit' env CI=true snakemake \
    --immediate-submit --notemp --cluster 'bats-submit --after {dependencies} --'
