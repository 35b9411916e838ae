#!/bin/bash
# Tasks are bound to the cores of their rank, and told how many there are.
. "$TOP/tests/mpi/lib.sh"

# Two ranks that may use the processors 0 and 1, if these are two cores.
siblings=/sys/devices/system/cpu/cpu0/topology/thread_siblings_list
if [ "$(cat $siblings 2>/dev/null)" != 0 ] || ! taskset -c 1 true 2>/dev/null
then
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
says() {
    test "$(sort out | sed 's/Cpus_allowed_list: //' | tr '\n' ' ')" = "$1"
}

by_mpi 1 clusters
if grep -q 'hardware not known' out; then
    echo '1..0 # SKIP built without hwloc'
    exit 0
fi
by_mpi 3 bag --policy rr --no-record
says '0 1 1 1 '
ok 'ranks share the cores they have, one each; rank 0 has no share'
by_mpi 3 bag --policy rr --no-record --bind numa
says '0-1 1 0-1 1 '
ok '--bind numa: what is near, and as many threads as there are cores'
by_mpi 3 bag --policy rr --no-record --bind none
says '0-1 unset 0-1 unset '
ok '--bind none leaves them where they are'
by_mpi 4 bag --policy rr --no-record
says '0-1 1 0-1 1 '
ok 'with more ranks than cores nothing is bound, and a task is one thread'
by_mpi 1 bag --policy rr --no-record
says '0-1 2 0-1 2 '
ok 'a rank alone has all'
OMP_NUM_THREADS=7 by_mpi 1 bag --policy rr --no-record
says '0-1 7 0-1 7 '
ok 'OMP_NUM_THREADS is left alone where it is set'
done_testing
