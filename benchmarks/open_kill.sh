#!/bin/bash
# A workflow of Snakemake in an open bag on jobs of Slurm, in the testbed: three
# rules, and one job that fails. Snakemake and the run are both killed with
# SIGKILL when a third of the jobs is done, and both go on; then the job that
# failed is mended. The sum is checked, and which jobs ran how often.
#
#     bash benchmarks/open_kill.sh [JOBS]      as root
if [ -z "${BED-}" ]; then
    cd "$(dirname "$0")/.." || exit 1
    export TOP="$PWD" B="${B:-$PWD/build}"
    export BATS_MPI="${BATS_MPI:-$B/bats-mpi}"
    exec sh tests/slurm/testbed.sh bash "$TOP/benchmarks/open_kill.sh" "$@"
fi
. "$TOP/tests/slurm/lib.sh"
n=$(((${1:-200} - 1) / 2))
mkdir work && cd work # the testbed has files of its own
unset BATS_SOCKET
export BATS_HISTORY= CI=true # Snakemake looks each second for what has ended

cat >Snakefile <<S
rule total:
    input: expand("q/{i}", i=range($n))
    output: "sum"
    shell: "cat {input} | awk '{{ n += \$1 }} END {{ print n }}' >{output}"
rule draw:
    output: "d/{i}"
    shell: "echo {wildcards.i} >>ran.draw; [ {wildcards.i} != 7 ] || [ -e mended ]; "
        "echo {wildcards.i} >{output}"
rule square:
    input: "d/{i}"
    output: "q/{i}"
    shell: "echo {wildcards.i} >>ran.square; echo \$((\$(cat {input}) * {wildcards.i})) >{output}"
S
cat >driver <<'S'
echo $$ >pid
exec snakemake -k -j 500 --nolock --rerun-incomplete --latency-wait 30 \
    --max-jobs-per-second 100 --max-status-checks-per-second 100 \
    --cluster bats-submit --cluster-status bats-state --cluster-cancel bats-cancel
S
go() {
    ${go-} bats-mpi alloc --open --resume --record k.bats --host 10.77.0.1 --poll 1s \
        -p fast --slots 4 --max-jobs 2 --silence 60s -- bash driver
}
state() { bats-mpi status --json k.bats | jq "$1"; }

since=$SECONDS
(go=exec; go) >log.1 2>&1 &
until [ "0$(state .done 2>/dev/null)" -ge $((2 * n / 3)) ]; do
    sleep 1
    [ -e "/proc/$!" ] || break
done
kill -KILL $! $(cat pid)
wait $!
echo "killed after $((SECONDS - since)) s: $(state .done) done, $(state .running) running"
go >log.2 2>&1
echo "resumed, exit status $?: $(state .done) done, $(state .failed) failed, after $((SECONDS - since)) s"
touch mended
go >log.3 2>&1
echo "mended, exit status $?: sum $(cat sum), right $(((n - 1) * n * (2 * n - 1) / 6)), after $((SECONDS - since)) s"
for rule in draw square; do
    echo "$rule: $(sort -u ran.$rule | wc -l) jobs of $n ran, more than once: $(sort ran.$rule | uniq -d | xargs)"
done
bats-mpi record verify k.bats
[ $# -lt 2 ] || cp log.* k.bats "$2"
