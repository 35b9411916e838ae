#!/bin/bash
# One bag in a parallel environment: qsub -pe mpi 65 simple.sh [BAG [OPTION...]]
#
# Rank 0 drives, the other ranks work. `qconf -spl` lists the environments; one
# with "control_slaves TRUE" lets mpirun start ranks on all hosts.
#$ -S /bin/bash
#$ -cwd
#$ -V
#$ -N bag
#$ -j y
#$ -r y
#$ -notify
#$ -l h_rt=4:00:00

bag=${1:-bag.txt}

# Grid Engine says with USR1 that s_rt is over, and with USR2 that it is about to
# end the job; mpirun passes both on to rank 0, which stops in order.
trap : USR1 USR2

# --resume: should the job be restarted (a host was lost, an administrator said
# so), its next life goes on where the record ends.
before=$(bats-mpi status --left "$bag" 2>/dev/null)
mpirun bats-mpi "$bag" --resume --joblog "bag-$JOB_ID.joblog" \
    --json "bag-$JOB_ID.json" "${@:2}" &
while wait $!; status=$?; [ $status -gt 128 ] && kill -0 $! 2>/dev/null; do
    :
done

# With 99 Grid Engine queues the job again: after a limit (5) or a notice (143),
# if this life has brought the bag any further.
case $status in
5 | 143) [ "$(bats-mpi status --left "$bag")" = "$before" ] || exit 99 ;;
esac
exit $status
