#!/bin/bash
# --budget account where Slurm keeps accounts: slurmdbd, with its database.
for tool in slurmdbd sacctmgr mariadbd; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null
    continue
    echo "1..0 # SKIP $tool is missing"
    exit
done
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0"
. "$TOP/tests/slurm/lib.sh"

# What mariadb-install-db does, without its package. All of it ends with the
# testbed.
db="mariadbd --no-defaults --user=root --datadir=$BED/db"
mkdir db
{
    echo 'CREATE DATABASE mysql;'
    echo 'USE mysql;'
    cat /usr/share/mysql/mysql_system_tables.sql \
        /usr/share/mysql/mysql_system_tables_data.sql
} | $db --bootstrap >log/db 2>&1
$db --socket="$BED/db.socket" --bind-address=127.0.0.1 \
    --pid-file="$BED/db.pid" </dev/null >>log/db 2>&1 &
cat >slurmdbd.conf <<CONF
AuthType=auth/munge
AuthInfo=socket=$BED/munge.socket
DbdHost=bats-control
DbdAddr=10.77.0.1
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=root
LogFile=$BED/log/slurmdbd
PidFile=$BED/slurmdbd.pid
CONF
chmod 600 slurmdbd.conf
within 60 test -e db.pid
slurmdbd -D </dev/null >log/dbd 2>&1 &
accounting() { sacctmgr -n show cluster >out 2>err; }
sed -i '/^AccountingStorageType=/d' "$SLURM_CONF"
cat >>"$SLURM_CONF" <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=10.77.0.1
AccountingStoragePass=$BED/munge.socket
AccountingStorageEnforce=limits
AccountingStorageTRES=billing
PriorityType=priority/multifactor
PriorityDecayHalfLife=0
PriorityUsageResetPeriod=NONE
PriorityCalcPeriod=1
CONF
within 60 accounting
ok 'slurmdbd answers'

# controller: a new one, which reads the accounts and what they have used.
controller() {
    kill "$(cat slurmctld.pid)" 2>/dev/null
    within 20 sh -c '! test -e slurmctld.pid'
    slurmctld -D </dev/null >>log/slurmctld 2>&1 &
    within 60 sh -c 'scontrol ping | grep -q UP &&
        test "$(sinfo -h -N -p all -t idle -o %N | wc -l)" -eq 8'
}
{
    sacctmgr -i add cluster bats
    sacctmgr -i add account science GrpTRESMins=billing=120000
    sacctmgr -i add account phys parent=science GrpTRESMins=billing=60000
    sacctmgr -i add account open
    sacctmgr -i add user root account=phys,open
} >out 2>&1
controller >>out 2>&1
ok 'a controller that keeps accounts'

ask() {
    srun --mpi=pmix -A "$1" -p slow --exclusive -N2 -n4 \
        bats-mpi clusters --budget account >out 2>err
}
# says TEXT: that is the budget, but for the number of blanks.
says() {
    tr -s ' ' <out | grep -qFx "budget $1"
}
ask phys
says '1000 billing-h: account phys: 0 of 60000 billing-minutes are used'
ok 'the budget is what the account may use'
ask open
says 'unlimited: account open: no limit of billing-minutes is set'
ok 'an account without a limit is said to have none'

# 2 nodes of 64 CPUs at 3: 384 per hour, 6.4 per second. Usage that Slurm has
# not counted yet it counts when it starts; sshare has it in billing-seconds.
srun -A phys -p slow --exclusive -N2 sleep 4
controller
used=$(sshare -n -P -A phys -o rawusage | head -n 1)
used=$((used / 60))
test "$used" -ge 25
ask phys
tr -s ' ' <out | grep -q "^budget 99[0-9.]* billing-h: account phys: $used of"
ok 'less what it has used'
sacctmgr -i modify account science set GrpTRESMins=billing=$((used + 600)) \
    >>out 2>&1
ask phys
# It may have used more by now.
awk -v used="$used" -v limit=$((used + 600)) '
    /^budget/ && /: account science: / && $8 == limit && $6 >= used &&
        ($2 - (limit - $6) / 60) ^ 2 < 0.01 { found = 1 }
    END { exit !found }' out
ok 'the account above it may have less left'
done_testing
