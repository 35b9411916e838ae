#!/bin/bash
# Bills of Slurm, what bats-mpi says it is charged, and how long jobs are
# held, for the kinds of jobs of tests/slurm/accounts.sh: policies bats and rr,
# side by side.
#
#   bash benchmarks/account.sh [REPEATS]     default 3 times, 2 minutes each
#
# As root, with slurmdbd and MariaDB. Each repeat has a testbed of its own.
repeats=${1:-3}
policies='bats rr'
if [ -z "${BED-}" ]; then
    cd "$(dirname "$0")/.." || exit 1
    export TOP="$PWD" B="${B:-$PWD/build}"
    export BATS_MPI="$B/bats-mpi" BATS_REPEAT
    for BATS_REPEAT in $(seq "$repeats"); do
        sh tests/slurm/testbed.sh bash "$TOP/benchmarks/account.sh" || exit 1
    done | awk -f benchmarks/account.awk
    exit "${PIPESTATUS[0]}"
fi
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
printf '%s\n' SlurmdTimeout=6 KillWait=2 >>"$SLURM_CONF"
{
    sacctmgr -i add account phys
    for policy in $policies; do
        sacctmgr -i add account tight-$policy GrpTRESMins=billing=300
    done
    sacctmgr -i add user root account=phys,tight-bats,tight-rr
    controller
} >>out 2>&1

for policy in $policies; do
    every_kind -$policy tight-$policy --policy $policy
done
# shellcheck disable=SC2086
lose_nodes $(printf 'lost-%s preempted-%s ' bats bats rr rr)

# One line for each job: kind, policy, repeat, billed, charged, seconds held,
# tasks done.
for kind in plain budget account hetero shrunk limit lost preempted; do
    for policy in $policies; do
        bill $kind-$policy >billed
        held=$(sacct -D -X -n -P -o ElapsedRaw -j "$(cat $kind-$policy/job)" |
            awk '{ sum += $1 } END { print sum }')
        perl -MJSON::PP -e '
            open my $in, "<", "$ARGV[0]-$ARGV[1]/report" or exit 1;
            my $r = decode_json(join "", <$in>);
            print join("\t", @ARGV[0 .. 3], $r->{charged}, $ARGV[4]), "\t"' \
            $kind $policy "$BATS_REPEAT" "$(cut -d' ' -f1 billed)" "$held"
        sort -u $kind-$policy/ran | wc -l
    done
done
[ ! -s "$failures" ] || { cat "$failures" >&2; exit 1; }
