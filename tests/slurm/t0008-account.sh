#!/bin/bash
# What jobs are billed where Slurm keeps accounts: slurmdbd, with its database.
for tool in slurmdbd sacctmgr mariadbd; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null && continue
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

# ---- what a run says it was charged, and what Slurm says ----

# Nobody gives the node of rank 0 up for long.
printf '%s\n' SlurmdTimeout=6 KillWait=2 >>"$SLURM_CONF"
sacctmgr -i add account tight GrpTRESMins=billing=300 >>out 2>&1
sacctmgr -i add user root account=tight >>out 2>&1
sacctmgr -i modify account science set GrpTRESMins=billing=-1 >>out 2>&1
controller

# begin NAME TASKS SBATCH-OPTION...: a job in a directory of its own, that runs
# the script on standard input; its bag has so many tasks of 5 s.
begin() {
    mkdir "$1"
    for i in $(seq "$2"); do echo "sleep 5; echo $i >>ran"; done >"$1/bag.txt"
    cat >"$1/script"
    name=$1
    shift 2
    (cd $name && sbatch --parsable -A phys -o out "$@" script) >$name/job
}
run='srun --mpi=pmix bats-mpi bag.txt --json report'

begin plain 36 -p slow -x 'slow[2-4]' -n4 <<SH
#!/bin/sh
$run
SH
# 4 cores at 3 cost 12 per hour: this pays 60 s.
begin budget 60 -p slow -x 'slow[2-4]' -n4 <<SH
#!/bin/sh
$run --budget 0.2
SH
# 192 per hour: 300 billing-minutes are 93 s.
begin account 120 -A tight -p slow -x 'slow[1,3,4]' -N1 -n4 --exclusive <<SH
#!/bin/sh
$run --budget account
SH
begin hetero 24 -p fast -x 'fast[2-4]' -n2 : -p slow -x 'slow[2-4]' -n2 <<SH
#!/bin/sh
srun --mpi=pmix --het-group=0,1 bats-mpi bag.txt --json report
SH
# 1,024 per hour, then 512: 10 pay 35 s.
begin shrunk 48 -p fast -x 'fast[1,4]' -N2 -n5 --exclusive <<SH
#!/bin/sh
$run --budget 10
scontrol update JobId=\$SLURM_JOB_ID NodeList=\$SLURMD_NODENAME
unset SLURM_NTASKS_PER_NODE SLURM_TASKS_PER_NODE
srun --mpi=pmix -N1 -n3 bats-mpi bag.txt --json report --resume
SH
# lives NAME SCRIPT SBATCH-OPTION...: a script of jobscripts, as it is.
lives() {
    name=$1 script=$2
    shift 2
    begin "$name" 36 "$@" -n4 --requeue --open-mode=append <<SH
#!/bin/bash
exec bash $TOP/jobscripts/$script bag.txt --json report
SH
}
lives limit resume.sh -p slow -x 'slow[2-4]' --time=1
lives lost resume.sh -p fast -x 'fast[1-3]'
lives preempted preemptible.sh -p preemptible -x 'slow[1-3]'

some_have_run() { test -s "$1/ran"; }
within 60 some_have_run lost
within 60 some_have_run preempted
kill -KILL "$(cat "$BED/node.fast4")"
srun -A phys -p slow -w slow4 --exclusive sleep 1 >out 2>err
within 120 job_is "$(cat lost/job)" PENDING
scontrol update JobId="$(cat lost/job)" ExcNodeList=

# bill NAME: the job ends; what Slurm has billed for it, and bills per hour.
bill() {
    code=0
    await "$(cat "$1/job")" 600 || code=$?
    echo $code >"$1/code"
    cat "$1/out" >err
    within 30 settled "$1"
    sacct -D -X -n -P -o ElapsedRaw,AllocTRES -j "$(cat "$1/job")" |
        sed 's/|.*billing=\([0-9]*\).*/ \1/' |
        awk '{ sum += $1 * $2; rate = $2 } END { print sum / 3600, rate }'
}
settled() {
    ! sacct -D -X -n -P -o State -j "$(cat "$1/job")" | grep -q RUNNING
}
# agrees NAME: with what the run says, within 2 % and the two seconds that are
# the end of the job and Slurm's way of counting whole ones.
agrees() {
    bill "$1" >billed
    perl -MJSON::PP -e '
        my ($billed, $rate) = split " ", <STDIN>;
        open my $in, "<", "$ARGV[0]/report" or exit 1;
        my $r = decode_json(join "", <$in>);
        print "$ARGV[0]: $r->{charged} charged, $billed billed\n";
        exit !(abs($billed - $r->{charged}) <=
               0.02 * $billed + 2 * $rate / 3600)' "$1" <billed >out
}
code_is() { test "$(cat "$1/code")" -eq "$2"; }

agrees plain
code_is plain 0
ok 'a job is billed what the run says'
agrees budget
code_is budget 4
awk '{ exit $1 > 0.2 }' billed
ok 'with a budget, and never more than that'
agrees account
code_is account 4
awk '{ exit $1 > 5 }' billed
ok 'with what the account has left, and never more than that'
agrees hetero
code_is hetero 0
ok 'as a heterogeneous job'
agrees shrunk
code_is shrunk 0
ok 'where nodes were given back'
agrees limit
code_is limit 0
sqlite3 limit/bag.txt.bats 'SELECT finish FROM session' | grep -qx deadline
ok 'over several lives with a time limit'
agrees preempted
code_is preempted 0
ok 'over the lives of a preempted job'
agrees lost
code_is lost 0
ok 'after the node of rank 0 was lost'
done_testing
