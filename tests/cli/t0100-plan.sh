#!/bin/sh
# bats-mpi plan: the papers' configurations, its JSON, and what it refuses. No
# launcher.
. "$TOP/tests/mpi/lib.sh"

# plan ARGUMENT...: the exit status is in `code`.
plan() {
    "$BATS_MPI" plan "$@" >out 2>err </dev/null
    code=$?
}

# says CODE PATTERN NAME: how the last plan ended and what it complained of.
says() {
    test $code -eq "$1" && grep -q -- "$2" err && test ! -s out
    ok "$3"
}

# has KEY VALUE...: the JSON in out, as text without blanks, has these.
has() {
    tr -d ' \n' <out >flat
    while [ $# -gt 0 ]; do
        grep -qF "\"$1\":$2" flat || return 1
        shift 2
    done
}

clusters() { # CHARGE OF FAST
    cat >clusters.ini <<END
[run]
window = 60m
currency = SU
[cluster slow]
ranks = 1-32
charge = 3
[cluster fast]
ranks = 33-64
charge = $1
END
}

# ---- the answer ----

# 1584 / 4 windows = 396 = 32 x 3 + 25 x 12; 57 machines do 228 tasks a window:
# 784 / 228 x 3600 s; 4 windows hold 912 tasks.
clusters 12
plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --budget 1584 \
    --json
test $code -eq 0 && test ! -s err && has feasible true \
    configuration '{"slow":32,"fast":25}' windows 4 cost '"1584"' \
    price_per_window '"396"' delta_n -128 &&
    grep -Eq '"makespan_s":12378\.947' flat
ok 'scenario S4-1 gets 32 and 25 machines, in JSON'
test "$(grep -o '"[a-z_]*":' flat | sort | tr -d '\n')" = \
    '"configuration":"cost":"delta_n":"fast":"feasible":"makespan_s":"price_per_window":"slow":"windows":'
ok 'the JSON has exactly the keys it should have'

plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --budget 1584
test $code -eq 0 && grep -Eq '^slow .* 32 +32$' out &&
    grep -Eq '^fast .* 0\.25 +25 +32$' out && grep -q '^windows  *4$' out &&
    grep -q '^makespan  *3h26m' out && grep -q '^cost  *1584 SU, 396 SU' out
ok 'the same as a table'

# A task to a window: 784 / 64 = 12.25, so 13 windows of 32 x 3 + 32 x 12 = 480.
plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --window 15m --json
test $code -eq 0 && has configuration '{"slow":32,"fast":32}' windows 13 \
    cost '"6240"'
ok 'without a budget all machines; --window overrides the file'

# 0.085 x 7 = 0.595: seven machines for one window, not six.
clusters 0.085
plan --tasks 28 --runtime slow=60m,fast=15m -c clusters.ini --budget 0.595 \
    --json
test $code -eq 0 && has configuration '{"slow":0,"fast":7}' cost '"0.595"'
ok 'decimal charges are exact'

# 3.5 tasks to a window and machine, but only 3 whole ones.
plan --tasks 7 --runtime slow=60m,fast=1028.571428s -c clusters.ini \
    --budget 0.17 --json
test $code -eq 0 && has configuration '{"slow":0,"fast":2}' windows 1 delta_n 1
ok 'delta_n counts the tasks that do not divide'

# Two clusters of four are named: 8 tasks in 4 windows on one machine of b.
cat >site.ini <<END
[run]
window = 15m
[cluster a]
partition = a
charge = 1
[cluster b]
partition = b
charge = 2/h
max = 1
[cluster c]
partition = c
charge = 1
[cluster d]
partition = d
charge = 100
max = 7
END
plan --tasks 8 --runtime d=15m,b=7.5m -c site.ini --budget 2 --json
test $code -eq 0 && has configuration '{"b":1,"d":0}' windows 4 cost '"2"' &&
    test "$(cat err)" = \
        'bats-mpi: left out, since --runtime does not name them: a, c'
ok 'clusters without a runtime are left out, and named'

# ---- a budget that is too small ----

clusters 12
plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --budget 100
test $code -eq 4 && grep -q 'cannot be done for 100 SU' err &&
    grep -q 'for 588 SU they can' err && grep -q '^cost  *99 SU, 33 SU' out
ok 'too small a budget: what it can do, what it would take, exit 4'
plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --budget 1 --json
test $code -eq 4 && has feasible false configuration '{"slow":0,"fast":0}' \
    windows 0 makespan_s null cost '"0"' delta_n 784
ok 'a budget that pays no machine: nothing, in JSON'
plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini --budget 588 --json
test $code -eq 0 && has feasible true cost '"588"'
ok 'the cost named is enough'

# ---- bad input ----

plan --runtime slow=15m,fast=15m -c clusters.ini
says 2 '--tasks' 'no --tasks is refused'
plan --tasks 0 --runtime slow=15m,fast=15m -c clusters.ini
says 2 '--tasks' 'no task is refused'
plan --tasks 5 -c clusters.ini
says 2 '--runtime' 'no --runtime is refused'
plan --tasks 5 --runtime slow=15m,fast=15m
says 2 '--clusters' 'no --clusters is refused'
plan --tasks 5 --runtime slow=15m,fast=15m,medium=15m -c clusters.ini
says 2 "'medium'" 'a runtime without a cluster is refused'
plan --tasks 5 --runtime slow=15m,fast=15m,slow=15m -c clusters.ini
says 2 'twice' 'two runtimes of a cluster are refused'
plan --tasks 5 --runtime slow=15m,fast=15q -c clusters.ini
says 2 "'15q'" 'a garbled duration is refused'
plan --tasks 5 --runtime slow=15m,fast=0 -c clusters.ini
says 2 'above 0' 'a runtime of 0 is refused'
plan --tasks 5 --runtime slow=15m,fast -c clusters.ini
says 2 'CLUSTER=DURATION' 'a cluster alone is refused'
plan --tasks 5 --runtime slow=15m,fast=15m, -c clusters.ini
says 2 'CLUSTER=DURATION' 'a comma at the end is refused'
plan --tasks 5 --runtime slow=15m,fast=15m -c missing.ini
says 2 'missing.ini' 'a missing clusters file is refused'
sed 's/ranks = 1-32/partition = p/' clusters.ini >partition.ini
plan --tasks 5 --runtime slow=15m,fast=15m -c partition.ini
says 2 "'slow' has no max" 'a cluster of unknown size is refused'

# ---- no MPI ----

TMPDIR=/nonexistent OMPI_MCA_orte_tmpdir_base=/nonexistent \
    plan --tasks 784 --runtime slow=15m,fast=15m -c clusters.ini
test $code -eq 0
ok 'plan does not start MPI'

if [ -e /dev/full ]; then
    "$BATS_MPI" plan --tasks 5 --runtime slow=15m,fast=15m -c clusters.ini \
        --json >/dev/full 2>err
    test $? -eq 3 && grep -q 'standard output' err
    ok 'an answer that cannot be written is an error'
fi

done_testing
