#!/bin/bash
# A real run's record and joblog as the bag of a simulation.
. "$TOP/tests/mpi/lib.sh"

for i in 1 2 3 4 5 6 7 8; do
    echo "@sleep 0.${i}s"
done >bag.txt
echo false >>bag.txt
ini '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1; speed = 2' >clusters.ini
expect 1 bats 3 bag.txt --clusters clusters.ini --time-scale 10 --joblog joblog \
    --tail none
ok 'a run to measure'

# simulate FILE: makespan_s and done on one machine.
simulate() {
    ini "[bag]; runtime = file $1" "[cluster c]; machines = 1; charge = 1" \
        >scenario.ini
    "$BATS_MPI" simulate scenario.ini --csv >out 2>err &&
        sed 1d out | cut -d, -f7,12 | tr ',' ' ' >got
}

# Seconds of real time, not of bag time: that is what a joblog has.
simulate joblog
expected=$(awk -F'\t' '$7 == 0 && NR > 1 { sum += $4 } END { print sum }' joblog)
awk -v expected="$expected" '
    { exit !(NR == 1 && $2 == 8 && $1 - expected < 0.01 &&
        expected - $1 < 0.01) }' got
ok 'the runtimes of a joblog, without the failed job'

simulate bag.txt.bats
# Whatever ran on fast counts as if it had the mean of slow (unless slow did not
# get beyond the task that failed).
expected=$(sqlite3 bag.txt.bats "SELECT 8 * 10 * avg(a.wall_us) / 1e6
    FROM execution a JOIN machine m ON m.id = a.machine
    WHERE a.exit_status = 0
    GROUP BY m.cluster ORDER BY m.cluster LIMIT 1")
awk -v expected="$expected" '
    { exit !(NR == 1 && $2 == 8 && $1 - expected < 0.01 * expected &&
        expected - $1 < 0.01 * expected) }' got
ok 'the runtimes of a record, as on its first cluster'

mkdir sub
cp joblog sub
sed 's/file .*/file joblog/' scenario.ini >sub/s.ini
rm joblog
verb simulate sub/s.ini --csv
ok 'the file is beside the scenario'

: >empty
exits 2 'scenario.ini:2: runtime: empty: no runtime in it' simulate empty
ok 'an empty file is refused'

done_testing
