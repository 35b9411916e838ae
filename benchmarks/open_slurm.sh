#!/bin/bash
# An open bag beside what Slurm itself offers, in the testbed: a command that is
# waited for, and a workflow of Snakemake whose jobs do next to nothing, with
# what Slurm bills for it.
#
#     bash benchmarks/open_slurm.sh [JOBS] [REPEATS]      as root
if [ -z "${BED-}" ]; then
    cd "$(dirname "$0")/.." || exit 1
    export TOP="$PWD" B="${B:-$PWD/build}"
    export BATS_MPI="$B/bats-mpi"
    exec sh tests/slurm/testbed.sh bash "$TOP/benchmarks/open_slurm.sh" "$@"
fi
. "$TOP/tests/slurm/lib.sh"
jobs=${1:-200} repeats=${2:-10}
mkdir work && cd work # the testbed has files of its own
unset BATS_SOCKET
export BATS_HISTORY= CI=true # Snakemake looks each second for what has ended
echo MinJobAge=86400 >>"$SLURM_CONF"
scontrol reconfigure

# ---- a command that is waited for ----

cat >wait.sh <<'S'
# wait.sh NAME REPEATS COMMAND...: milliseconds of each
name=$1 n=$2
shift 2
for ((i = 0; i < n; i++)); do
    begin=$(date +%s%N)
    "$@" >/dev/null 2>&1
    echo $((($(date +%s%N) - begin) / 10000))
done | sort -n | awk -v name="$name" '{ t[NR] = $1 / 100 } END {
    printf "| %s | %.0f | %.0f - %.0f |\n", name, t[int((NR + 1) / 2)], t[1], t[NR] }'
S
echo '| a command that is waited for | ms, median | range |'
echo '|---|--:|--:|'
sbatch --wait -N1 -n3 -p fast -o waits --wrap "
    srun -n3 --mpi=pmix bats-mpi run --open --quiet --record w.bats -- \
        bash wait.sh 'bats-submit --wait true' $repeats bats-submit --wait true
    bash wait.sh 'srun -n1 true, a step' $repeats srun -n1 true" >/dev/null
cat waits
bash wait.sh 'sbatch --wait' "$((repeats / 3))" \
    sbatch --wait -p fast -n1 -o /dev/null --wrap true

# ---- a workflow ----

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
cat >state <<'S'
#!/bin/sh
case $(squeue -h -t all -j "$1" -o %T) in
COMPLETED) echo success ;;
FAILED | CANCELLED | TIMEOUT | NODE_FAIL) echo failed ;;
*) echo running ;;
esac
S
chmod +x state
fast='--max-jobs-per-second 100 --max-status-checks-per-second 100 --latency-wait 30'
last() { squeue -h -t all -o %i | sort -n | tail -n 1; }
# measure NAME COMMAND...: seconds, jobs of Slurm, and what they are billed. By
# salloc, since sbatch --wait looks after 2, 10, 42, 74, ... seconds.
measure() {
    local name=$1 n=$(((jobs - 1) / 2)) before since=$SECONDS
    before=$(last)
    shift
    "$@" >log 2>&1 </dev/null
    since=$((SECONDS - since))
    [ "$(cat sum)" = $(((n - 1) * n * (2 * n - 1) / 6)) ] || {
        name="$name, WRONG"
        tail -n 30 log >&2
    }
    SLURM_TIME_FORMAT=%s squeue -h -t all \
        -O JobID:20,StartTime:20,EndTime:20,tres-alloc:100 |
        awk -v name="$name" -v before="$before" -v s="$since" \
            '$1 > before && $2 ~ /^[0-9]+$/ {
            sub(/.*billing=/, "", $4); sum += ($3 - $2) * $4; n++ }
        END { printf "| %s | %d | %d | %.3f |\n", name, s, n, sum / 3600 }'
    rm -rf d q sum .snakemake
}
echo
echo "| Snakemake, $jobs jobs, 4 at a time | s | jobs of Slurm | billed, billing-h |"
echo '|---|--:|--:|--:|'
measure 'its own -j, in a job of 4 cores' \
    salloc -Q -p fast -N1 -n4 srun -n1 snakemake -j 4
measure 'run --open, in a job of 5 cores' \
    salloc -Q -p fast -N1 -n5 srun --mpi=pmix \
    bats-mpi run --open -- snakemake -j "$jobs" $fast --cluster bats-submit \
    --cluster-status bats-state --cluster-cancel bats-cancel
measure 'alloc --open, jobs of 4 cores' \
    bats-mpi alloc --open --record a.bats --host 10.77.0.1 --poll 1s -p fast \
    --slots 4 --max-jobs 1 -- snakemake -j "$jobs" $fast --cluster bats-submit \
    --cluster-status bats-state --cluster-cancel bats-cancel
measure 'an sbatch for each job' snakemake -j 4 $fast \
    --cluster 'sbatch --parsable -p fast -n1 -o /dev/null' \
    --cluster-status ./state --cluster-cancel scancel
uptime >&2
