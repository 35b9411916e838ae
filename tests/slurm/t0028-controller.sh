#!/bin/bash
# slurmctld is killed, and begins anew from a state that it has saved before: of
# jobs in between the accounting knows nothing, or their start and never an end.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"
. "$TOP/tests/slurm/kills.sh"
budget=20

# The accounting is away meanwhile.
accounts() {
    slurmdbd -D </dev/null >>log/dbd 2>&1 &
    within 60 accounting
}
cp -a state before
kill "$(cat slurmdbd.pid)"
within 60 sh -c '! test -e slurmdbd.pid'
tasks forgotten 16
start forgotten --slots 2
within 60 ran forgotten 1
forgets accounts
succeeds forgotten 16
grep -q 'does not know job [0-9_]*, which was forgotten: it is not billed' err
ok 'jobs that slurmctld forgets before the accounting knows them cost nothing'

# And when it does know of them, it never sees them end.
cp -a state/. before
tasks lost 30
start lost --slots 2
within 60 ran lost 1
within 60 told RUNNING sacct -X -n -o State -S now-1hours
killed
forgets true
exits 3 'no job was bought: if squeue does not .*runawayjobs`, then' alloc lost --slots 2 \
    --resume
sacctmgr -i show runawayjobs >>out
alloc lost --slots 2 --resume
done_all lost 30
kept lost
ok 'those that it forgets later must be ended by the administrator, as --resume says'
done_testing
