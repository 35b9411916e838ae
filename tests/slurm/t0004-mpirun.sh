#!/bin/bash
# Several nodes without srun: mpirun inside a job, and with a list of hosts.
. "$TOP/tests/slurm/lib.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none

# The nodes and local ranks of `clusters --ranks`.
places() {
    sed -n '/^ *rank /,$p' out | awk 'NR > 1 { print $2, $3, $4 }' | xargs
}

salloc -Q -p fast -N2 -n4 --ntasks-per-node=2 mpirun "$BATS_MPI" clusters \
    --ranks >out 2>err
test "$(places)" = 'fast1 1 0 fast1 1 1 fast2 2 0 fast2 2 1'
grep -q '^fast  *3  *3  *8  *24$' out
ok 'mpirun in a Slurm job: nodes by PMIx, charges by Slurm'

# Without ssh, the way to a node is into its namespaces.
cat >agent <<'SH'
#!/bin/sh
host=$1
shift
exec nsenter -t "$(cat "$BED/node.$host")" -a sh -c "$*"
SH
chmod +x agent
printf 'slow1 slots=2\nslow2 slots=2\n' >hosts
listed() { # MPIRUN-OPTION...: what is known of these hosts
    mpirun --mca plm rsh --mca plm_rsh_agent "$BED/agent" -x BED "$@" \
        "$BATS_MPI" clusters --ranks ${machine-} >out 2>err
    test "$(places)" = 'slow1 1 0 slow1 1 1 slow2 2 0 slow2 2 1'
    finds out '^all: slow\[1-2\]$' '^budget *unlimited: no end of the job is known' \
        'charge *[0-9]* core-h per window: 1 per core-hour, '
}
listed --hostfile hosts
ok 'a list of hosts: nodes by PMIx, cores by hwloc'
machine='--machine node' listed --hostfile hosts
grep -q '^all  *2  *3 ' out
ok 'a machine may be a node there, too'

# PBS, as far as a job sees it: its list has a line for each slot.
printf '%s\n' slow1 slow1 slow2 slow2 >nodefile
export PBS_JOBID=7.server PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE=$BED/nodefile
listed --hostfile "$PBS_NODEFILE" -x PBS_JOBID
grep -q 'machine *rank: the holder of the nodes is unknown' out
expect 1 grep -q '^Slurm' out
ok 'the nodes of a PBS job: all by PMIx and hwloc, and it is said'
done_testing
