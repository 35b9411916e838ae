#!/bin/bash
# A disk that is full and stays so: the run ends, its bill says what is on the
# record and why it ended, and --resume does the rest.
. "$TOP/tests/mpi/lib.sh"

if [ "$(id -u)" -ne 0 ] || ! mkdir small ||
    ! mount -t tmpfs -o size=512k tmpfs small 2>/dev/null; then
    skip 'a disk that stays full' 'needs root to mount a small file system'
    done_testing
    exit
fi
trap 'umount -l "$dir/small" 2>/dev/null; end_test' EXIT

ini '[run]; window = 5s' '[cluster a]; charge = 1' >clusters.ini
# One of the tasks leaves no room.
seq 300 | sed 's/.*/sleep 0.005; : &/; 60s,.*,head -c 1M /dev/zero >small/filler; true,' >bag
# It waits for room for longer than a window lasts.
BATS_TEST_UNRECORDED_SECONDS=8 \
    expect 3 bats 3 bag --record small/r --clusters clusters.ini --json report
mkdir copy
cp small/r* copy/
umount -l small
cp copy/* small/
grep -q 'the record cannot be written: .* left' err
expect 1 grep -q SIG err
ok 'the run ends with exit code 3, and the cause is named'

test "$(json .charged)" = "$(sql small/r 'SELECT sum(amount) / 1000000
    FROM charge WHERE account = 0')"
test "$(json .tasks_done)" = "$(sql small/r 'SELECT done FROM progress')"
verb record verify small/r
ok 'its bill says what the record does'

bats 3 bag --record small/r --clusters clusters.ini --resume
test "$(sql small/r 'SELECT done FROM progress')" = 300
ok '--resume does the rest'
done_testing
