#!/bin/sh
# bats-mpi under srun, on nodes that talk over the network.
cd "$TOP" || exit 1
[ -n "${BED-}" ] || exec sh tests/slurm/testbed.sh sh "$0"

echo 1..5
ok() { # COMMAND-RESULT NUMBER NAME
    if [ "$1" -eq 0 ]; then
        echo "ok $2 - $3"
    else
        echo "not ok $2 - $3"
        sed 's/^/# /' out err
    fi
}
cd "$BED" || exit 1

# 40 tasks of 10 minutes of bag time, 0.2 s of real time.
for i in $(seq 40); do echo '@sleep 10m'; done >bag
cat >clusters.ini <<'INI'
[run]
window = 60m
[cluster fast]
nodes = fast[1-2]
charge = 8
[cluster slow]
nodes = slow[1-2]
charge = 3
INI
# The first rank on fast1 is the master: 3 machines in fast, 4 in slow.
srun --mpi=pmix -N4 -n8 --ntasks-per-node=2 "$BATS_MPI" bag \
    --clusters clusters.ini --budget 60 --time-scale 3000 \
    --joblog joblog --json report.json >out 2>err
ok $? 1 'a bag runs to its end under srun'
tail -n +2 joblog | cut -f2 | sort -u >hosts
test "$(awk 'NR > 1 && $7 == 0' joblog | wc -l)" -ge 40
ok $? 2 'every task has a line in the joblog'
test "$(tr '\n' ' ' <hosts)" = 'fast1 fast2 slow1 slow2 '
ok $? 3 'tasks ran on all four nodes, under their host names'

# One window of all machines is 3 x 8 + 4 x 3 = 36, two are more than 60.
perl -MJSON::PP -0777 -e '
    my $r = decode_json(<STDIN>);
    exit !($r->{charged} > 0 && $r->{charged} <= 60);' <report.json
ok $? 4 'the charge is above 0 and within the budget'

# A node list that does not fit is refused before anything starts.
sed 's/slow\[1-2\]/slow[1-3]/' clusters.ini >wrong.ini
srun --mpi=pmix -N4 -n8 --ntasks-per-node=2 "$BATS_MPI" bag \
    --clusters wrong.ini >out 2>err
test $? -eq 2 && grep -q 'wrong.ini:[0-9]*:.*slow3' err
ok $? 5 'a node that is not there is named, with the line'
