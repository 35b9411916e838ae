#!/bin/bash
# A workflow of Snakemake in an open bag, on the nodes of a Slurm job.
. "$TOP/tests/slurm/lib.sh"
unset BATS_SOCKET

if ! command -v snakemake >/dev/null; then
    skip 'Snakemake' 'there is no snakemake'
    done_testing
    exit
fi
export CI=true # then Snakemake looks each second, and otherwise each 10 s

cat >Snakefile <<'S'
rule total:
    input: expand("q/{i}", i=range(3))
    output: "sum"
    shell: "cat {input} | awk '{{ n += $1 }} END {{ print n }}' >{output}"
rule draw:
    output: "d/{i}"
    threads: 2
    shell: "touch began.{wildcards.i}; until [ -e go ]; do sleep 0.2; done; hostname >>nodes; echo {wildcards.i} $OMP_NUM_THREADS >{output}"
rule square:
    input: "d/{i}"
    output: "q/{i}"
    shell: "[ {wildcards.i} != 2 ] || [ -e mended ]; echo $(({wildcards.i} * {wildcards.i})) >{output}"
S
cat >drive <<'D'
exec snakemake -j 20 --nolock --keep-going --latency-wait 30 \
    --cluster bats-submit --cluster-status bats-state \
    --cluster-cancel bats-cancel "$@"
D
# Two nodes, of which the first has rank 0 and two workers, and the other three.
flow() {
    srun --mpi=pmix -N2 -n6 --ntasks-per-node=3 -w fast1,fast2 \
        bats-mpi run --open --resume -- sh drive "$@"
}

{ flow || :; } >out 2>err & run=$!
has_begun() {
    [ "$(ls began.* 2>/dev/null | wc -l)" = 2 ] &&
        grep -q "external jobid '3'" err
}
within 120 has_begun
test "$(BATS_SOCKET=$PWD/open.bats.sock bats-state | wc -l)" = 3
ok 'jobs of two threads have two ranks of a node each'
job=$(squeue -h -o %i | head -n 1)
scancel --signal=KILL "$job"
wait $run || :
# A process of a node has another number here.
is_over() { ! pgrep -f 'snakemake -j 20' >/dev/null; }
within 60 is_over
touch go
expect 1 flow >out 2>err
test "$(cat d/2)" = '2 2'
test "$(cat q/0 q/1 | tr '\n' ' ')" = '0 1 '
test "$(sort -u nodes | wc -l)" = 2
grep -q 'Error in rule square' err
ok 'killed together, both go on; a job that fails leaves the others alone'
touch mended
flow >out 2>err
test "$(cat sum)" = 5
bats-mpi record verify open.bats >/dev/null
ok 'and when it is mended the rest follows'
done_testing
