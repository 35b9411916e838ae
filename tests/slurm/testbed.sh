#!/bin/sh
# testbed.sh COMMAND...: a small Slurm cluster for as long as COMMAND runs.
#
# Eight nodes (bed.sh): fast1..fast4 (partition fast, charge 8) and slow1..slow4
# (partition slow, charge 3; partition preemptible, whose jobs make way); one
# controller, where COMMAND runs, with SLURM_CONF and BED in its environment.
#
# BED_REQUEUES, if it is set: jobs that are put back into the queue begin three
# seconds later. Slurm makes them wait for as long as the credential of a step is
# valid, two minutes; were that shorter, steps would fail on a loaded machine.
#
# BED_ENERGY, if it is set: Slurm measures energy, by a file in the place of the
# processor's registers. Bytes 1553 to 1556 of $BED/cpu/0/msr, the low one first,
# are the joules that each node has used; whoever runs there counts them up.
#
# COMMAND's exit code is the testbed's.

bed=slurm
tools='munged slurmctld slurmd srun'
. "$(dirname "$0")/../bed.sh"

# Its other kind of fence lets ranks pass before all are there: now and then one
# crashes in MPI_Init (jobscripts/README.md).
mkdir "$BED/state"
SLURM_CONF=$BED/slurm.conf SLURM_PMIX_FENCE=ring
export SLURM_CONF SLURM_PMIX_FENCE
cat >"$SLURM_CONF" <<CONF
ClusterName=bats
SlurmctldHost=bats-control(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=cred_expire=120,socket=$BED/munge.socket
CredType=cred/munge
StateSaveLocation=$BED/state
SlurmdSpoolDir=$BED/spool.%n
SlurmctldPidFile=$BED/slurmctld.pid
SlurmdPidFile=$BED/slurmd.%n.pid
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
GresTypes=gpu
NodeName=fast[1-2] NodeAddr=10.77.0.[11-12] CPUs=64 RealMemory=1000 Gres=gpu:2
NodeName=fast[3-4] NodeAddr=10.77.0.[13-14] CPUs=64 RealMemory=1000
NodeName=slow[1-4] NodeAddr=10.77.0.[15-18] CPUs=64 RealMemory=1000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=slow Nodes=slow[1-4] TRESBillingWeights="CPU=3.0" PriorityTier=2
PartitionName=fast Nodes=fast[1-4] TRESBillingWeights="CPU=8.0"
PartitionName=all Nodes=ALL Default=YES PreemptMode=OFF
PartitionName=preemptible Nodes=slow[1-4] GraceTime=10
CONF

# Two GPUs of fast1 and fast2 that are only names.
mknod "$BED/gpu0" c 1 3 && mknod "$BED/gpu1" c 1 3
echo "NodeName=fast[1-2] Name=gpu File=$BED/gpu[0-1]" >"$BED/gres.conf"

if [ -n "${BED_ENERGY-}" ]; then
    mkdir -p "$BED/cpu/0" /dev/cpu
    # 3 at 0x606: a unit is one joule.
    { head -c 1542 /dev/zero; printf '\3'; head -c 64 /dev/zero; } \
        >"$BED/cpu/0/msr"
    for cpu in /sys/devices/system/cpu/cpu[1-9]*; do
        ln -s 0 "$BED/cpu/${cpu##*cpu}"
    done
    mount --bind "$BED/cpu" /dev/cpu
    sed -i 's|^\(JobAcctGatherType\).*|\1=jobacct_gather/linux|' "$SLURM_CONF"
    printf '%s\n' AcctGatherEnergyType=acct_gather_energy/rapl \
        JobAcctGatherFrequency=1 >>"$SLURM_CONF"
fi

# Daemons keep no descriptor of ours: a pipe to prove would never close.
dd if=/dev/urandom of="$BED/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$BED/munge.key"
munged --force --key-file="$BED/munge.key" --socket="$BED/munge.socket" \
    --pid-file="$BED/munge.pid" --log-file="$BED/log/munged" \
    --seed-file="$BED/munge.seed" </dev/null >/dev/null 2>&1 ||
    give_up 'munged does not start'
slurmctld -D </dev/null >"$BED/log/slurmctld" 2>&1 &

number=10
for node in fast1 fast2 fast3 fast4 slow1 slow2 slow3 slow4; do
    number=$((number + 1))
    mkdir "$BED/spool.$node"
    start_node $node $number slurmd -D -N $node
done

ready() { [ "$(sinfo -h -N -p all -t idle -o %N | wc -l)" -eq 8 ]; }
patiently ready || give_up 'the nodes of Slurm do not come up'

[ -z "${BED_REQUEUES-}" ] || while sleep 2; do
    SLURM_TIME_FORMAT=%s squeue -h -t PD -o '%i %r %S' |
        while read -r job reason start; do
            [ "$reason" != BeginTime ] ||
                [ "$start" -lt $(($(date +%s) + 10)) ] ||
                scontrol update JobId="$job" StartTime=now+3
        done
done </dev/null >"$BED/log/requeues" 2>&1 &

"$@"
