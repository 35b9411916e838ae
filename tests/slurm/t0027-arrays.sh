#!/bin/bash
# Jobs alike are submitted as an array: found, withdrawn, taken over and billed
# element by element; and what takes part in such a run is killed at random, with
# a fixed seed (benchmarks/alloc/crash.sh does it for longer).
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"
. "$TOP/tests/slurm/kills.sh"
budget=20

# The arrays of a run, and how many of its jobs are no elements.
arrays() { records "$1" JobID | sed -n 's/_.*//p' | sort -u | wc -l; }
alone() { records "$1" JobID | grep -cv _ || :; }

tasks bag 60
start bag --slots 1 --max-jobs 20
succeeds bag 60
test "$(records bag JobID | wc -l)" -ge 20
test "$(arrays bag)" -le 3
test "$(alone bag)" -le 3
ok 'twenty jobs are a submission or two, and billed one by one'
! ls bag.bats.jobs.* >left 2>&1
ok 'their files are known by element, and none is left'

# The nodes have room for two elements; the others never begin.
blocker=$(sbatch --parsable -A phys -p fast -N3 --exclusive -o /dev/null \
    --wrap 'sleep 600')
other=$(sbatch --parsable -A phys -p fast -N1 -n 62 -o /dev/null \
    --wrap 'sleep 600')
within 60 job_is "$blocker" RUNNING
within 60 job_is "$other" RUNNING
tasks some 12
start some --slots 1 --max-jobs 8
within 60 ran some 12
scancel "$blocker" "$other"
succeeds some 12
test "$(sqlite3 some.bats 'SELECT count(*) FROM lease')" \
    -gt "$(records some ElapsedRaw | grep -c -v '^0$')"
ok 'elements that wait are withdrawn alone, and cost nothing'

tasks killed 60
start killed --slots 1 --max-jobs 8 --silence 1m
within 60 ran killed 16
killed
start killed --slots 1 --max-jobs 8 --silence 1m --resume
succeeds killed 60
finds err ' jobs* of an earlier session taken over' 'worker job [0-9_]* is back: '
ok 'elements are taken over by the next session'

budget=4
RANDOM=3
survives random 5 "${parts[@]}" >>out
test -n "$killed"
ok 'a run is done and billed as charged after five kills'
survives dies 2 controller-dies >>out
ok 'also after slurmctld was killed twice, once the accounting is mended'
done_testing
