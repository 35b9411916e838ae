# Sourced after lib.sh by what needs a Slurm that keeps accounts: starts
# slurmdbd and its database; where these are missing, skips the test. Then add
# accounts, and call `controller`.
needs slurmdbd sacctmgr mariadbd

# As mariadb-install-db does, without its package; without io_uring, whose memory
# several testbeds at once may not get; and not in /tmp, where the tables of
# testbeds would have the same names, as their processes have the same numbers.
db="mariadbd --no-defaults --user=root --datadir=$BED/db --tmpdir=$BED"
db="$db --innodb-use-native-aio=0"
rm -rf db
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

# controller_ends: slurmctld 22.05 may hang after it has saved its state; systemd
# kills it then, too.
controller_ends() {
    local pid
    pid=$(cat slurmctld.pid) && kill "$pid" || return 1
    timeout 20 tail --pid "$pid" -f /dev/null || kill -KILL "$pid"
}

# controller: a new one, which reads the accounts and what they have used.
controller() {
    controller_ends
    slurmctld -D </dev/null >>log/slurmctld 2>&1 &
    within 60 sh -c 'scontrol ping | grep -q UP &&
        test "$(sinfo -h -N -p all -t idle -o %N | wc -l)" -eq 8'
}
sacctmgr -i add cluster bats >out 2>&1

# ---- jobs ----

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

# Jobs that outlast what they show, unless they have a time limit to outlast,
# may have so many tasks less.
less=0

# lives NAME SCRIPT SBATCH-OPTION...: a script of jobscripts, as it is.
lives() {
    name=$1 script=$2
    shift 2
    case $name in limit*) n=36 ;; *) n=$((36 - less)) ;; esac
    begin "$name" $n "$@" -n4 --requeue --open-mode=append <<SH
#!/bin/bash
exec bash $TOP/jobscripts/$script bag.txt --json report $options
SH
}

# every_kind SUFFIX ACCOUNT OPTION...: a job of each kind that is billed in its
# own way, with these options for bats-mpi. The account may use 200 to 300
# billing-minutes.
every_kind() {
    suffix=$1 account=$2
    shift 2
    options="$*"
    run="srun --mpi=pmix bats-mpi bag.txt --json report $options"
    begin plain$suffix 36 -p slow -x 'slow[2-4]' -n4 <<SH
#!/bin/sh
$run
SH
    # 4 cores at 3 cost 12 per hour: this pays 60 s.
    begin budget$suffix 60 -p slow -x 'slow[2-4]' -n4 <<SH
#!/bin/sh
$run --budget 0.2
SH
    # 192 per hour: 300 billing-minutes are 93 s, 200 are 62 s.
    begin account$suffix 120 -A $account -p slow -x 'slow[1,4]' -N1 -n4 \
        --exclusive <<SH
#!/bin/sh
$run --budget account
SH
    begin hetero$suffix 24 -p fast -x 'fast[2-4]' -n2 : -p slow \
        -x 'slow[2-4]' -n2 <<SH
#!/bin/sh
# This srun does not always return (see lib.sh): the report is the end, then.
srun --mpi=pmix --het-group=0,1 bats-mpi bag.txt --json report $options &
until [ -s report ] || ! kill -0 \$!; do sleep 0.1; done
for tenth in \$(seq 20); do kill -0 \$! && sleep 0.1; done 2>/dev/null
kill -KILL \$! 2>/dev/null
exec grep '"exit_code": 0' report
SH
    # 1,024 per hour, then 512: 10 pay 35 s.
    begin shrunk$suffix $((48 - less)) -p fast -x 'fast[1,4]' -N2 -n5 --exclusive <<SH
#!/bin/sh
$run --budget 10
scontrol update JobId=\$SLURM_JOB_ID NodeList=\$SLURMD_NODENAME
unset SLURM_NTASKS_PER_NODE SLURM_TASKS_PER_NODE
srun --mpi=pmix -N1 -n3 bats-mpi bag.txt --json report --resume $options
SH
    lives limit$suffix resume.sh -p slow -x 'slow[2-4]' --time=1
    lives lost$suffix resume.sh -p fast -x 'fast[1-3]'
    lives preempted$suffix preemptible.sh -p preemptible -x 'slow[1-3]'
}

# lose_nodes JOB...: when tasks of these have run, fast4 dies, and slow4 is
# taken away; those of them whose names begin with `lost` may run elsewhere.
lose_nodes() {
    for job in "$@"; do
        within 60 test -s $job/ran
    done
    kill -KILL "$(cat "$BED/node.fast4")"
    srun -A phys -p slow -w slow4 --exclusive sleep 1 >out 2>err
    for job in "$@"; do
        case $job in lost*)
            within 120 job_is "$(cat $job/job)" PENDING
            scontrol update JobId="$(cat $job/job)" ExcNodeList= ;;
        esac
    done
}

# bill NAME: the job ends; what Slurm has billed for it, and has billed per hour
# at the end, of all its components.
bill() {
    code=0
    await "$(cat "$1/job")" 60 || code=$?
    echo $code >"$1/code"
    cat "$1/out" >err
    within 60 settled "$1"
    sacct -D -X -n -P -o JobID,ElapsedRaw,AllocTRES -j "$(cat "$1/job")" |
        sed 's/|\([0-9]*\)|.*billing=\([0-9]*\).*/ \1 \2/' |
        awk '{ sum += $2 * $3; last[$1] = $3 }
            END { for (i in last) rate += last[i]; print sum / 3600, rate }'
}
settled() {
    ! sacct -D -X -n -P -o State -j "$(cat "$1/job")" | grep -q RUNNING
}
