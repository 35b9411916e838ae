#!/bin/bash
# Tasks are bound to the cores of their rank, and told how many there are.
. "$TOP/tests/mpi/lib.sh"

if ! two_cores; then
    echo '1..0 # SKIP the processors 0 and 1 are no cores of their own here'
    exit 0
fi
unset OMP_NUM_THREADS
MPIRUN="taskset -c 0,1 mpirun --bind-to none"

# One task for each rank says where it is.
cat >bag <<'BAG'
echo $(grep Cpus_allowed_list /proc/self/status) ${OMP_NUM_THREADS-unset}; sleep 1
echo $(grep Cpus_allowed_list /proc/self/status) ${OMP_NUM_THREADS-unset}; sleep 1
BAG
by_mpi 1 clusters
if grep -q 'hardware not known' out; then
    echo '1..0 # SKIP built without hwloc'
    exit 0
fi
while IFS='|' read -r ranks threads says options name; do
    [ -z "$threads" ] || export OMP_NUM_THREADS=$threads
    by_mpi $ranks bag --policy rr --no-record $options
    test "$(sort out | sed 's/Cpus_allowed_list: //' | tr '\n' ' ')" = "$says "
    ok "$name"
done <<'ROWS'
3||0 1 1 1||ranks share the cores they have, one each; rank 0 has no share
3||0-1 1 0-1 1|--bind numa|--bind numa: what is near, and as many threads as cores
3||0-1 unset 0-1 unset|--bind none|--bind none leaves them where they are
4||0-1 1 0-1 1||with more ranks than cores nothing is bound, and a task is one thread
1||0-1 2 0-1 2||a rank alone has all
1|7|0-1 7 0-1 7||OMP_NUM_THREADS is left alone where it is set
ROWS
done_testing
