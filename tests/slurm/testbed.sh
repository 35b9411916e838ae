#!/bin/sh
# testbed.sh COMMAND...: a small Slurm cluster for as long as COMMAND runs.
#
# Eight nodes, fast1..fast4 (partition fast, charge 8) and slow1..slow4
# (partition slow, charge 3; partition preemptible, whose jobs make way), each
# with its own processes, network, host name, /tmp and /dev/shm, so that ranks
# on different nodes talk over the network and share nothing else; one
# controller, where COMMAND runs. Everything lives in namespaces below one
# process: whatever ends this script, the kernel ends the daemons and takes
# network and mounts away. Other testbeds and a Slurm that may be on the machine
# are not touched.
#
# In COMMAND's environment: SLURM_CONF; BED, a directory that every node sees
# and that is removed at the end (after a KILL by the next testbed, which finds
# that the process in its name has gone). In it log/, what the daemons said,
# and for each node a file like node.fast1 with a process: KILL it, and all
# that runs on fast1 is gone. `ip link set fast1 down` pulls its cable.
#
# BED_REQUEUES, if it is set: jobs that are put back into the queue begin three
# seconds later. Slurm makes them wait for as long as the credential of a step is
# valid, two minutes; were that shorter, steps would fail on a loaded machine.
#
# COMMAND's exit code is the testbed's. Where a testbed cannot be had the test
# is skipped; as root under CI=true it fails.

nodes='fast1 fast2 fast3 fast4 slow1 slow2 slow3 slow4'

cannot() {
    if [ "${CI-}" = true ] && [ "$(id -u)" = 0 ]; then
        printf '1..1\nnot ok 1 - a Slurm testbed can be had\n# %s\n' "$1"
        exit 1
    fi
    echo "1..0 # SKIP no Slurm testbed: $1"
    exit 0
}

# started PID: when a process was started, in ticks; nothing if there is none.
started() {
    cut -d' ' -f22 "/proc/$1/stat" 2>/dev/null
}

# ---- outside: make the namespaces, clean up after them ----

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
if [ -z "${BED-}" ]; then
    [ "$(id -u)" = 0 ] || cannot 'needs root'
    for tool in unshare setpriv mount ip munged slurmctld slurmd srun; do
        command -v $tool >/dev/null || cannot "$tool is missing"
    done
    unshare='unshare --mount --net --uts --pid --fork --kill-child --mount-proc'
    # A chroot's root is no mount point, whose propagation could be changed.
    unshare --mount true 2>/dev/null ||
        unshare="$unshare --propagation unchanged"
    $unshare true 2>/dev/null || cannot 'namespaces are not allowed'
    export unshare

    # Remains of testbeds that were killed. The time of its start tells a
    # process from a later one of the same number.
    for old in /tmp/bats-slurm.*-*; do
        pid=${old#/tmp/bats-slurm.}
        pid=${pid%-*}
        [ -d "$old" ] || continue
        begun=$(started "$pid")
        # Without a process there is no time; one that cannot be read says
        # nothing.
        [ -n "$begun" ] || [ ! -e "/proc/$pid" ] || continue
        [ "$begun" = "${old##*-}" ] || rm -rf "$old"
    done
    # Short: it holds sockets, whose paths may have 107 characters.
    BED=/tmp/bats-slurm.$$-$(started $$)
    mkdir -m 755 "$BED" || exit 1
    export BED
    # Whatever ends this shell, even KILL, ends unshare and with it the rest.
    trap 'rm -rf "$BED" 2>/dev/null || { sleep 1; rm -rf "$BED"; }' EXIT
    trap 'kill -KILL $!; exit 130' INT
    trap 'kill -KILL $!; exit 143' TERM HUP PIPE
    exec 3<&0
    setpriv --pdeathsig KILL $unshare sh "$0" "$@" <&3 3<&- &
    wait $!
    exit
fi

# ---- inside: network, munge, controller, nodes ----

give_up() {
    printf '1..1\nnot ok 1 - the Slurm testbed comes up\n# %s\n' "$1"
    tail -n 5 "$BED"/log/* 2>/dev/null | sed 's/^/# /'
    exit 1
}

mkdir "$BED/log" "$BED/state"
hostname bats-control
ip link set lo up
# With an address of its own: else it has the lowest of its ports, another one
# whenever a node comes, and the nodes go on sending to the old one for long.
ip link add bats address 02:00:0a:4d:00:01 type bridge
ip addr add 10.77.0.1/24 dev bats
ip link set bats up

# Its other kind of fence lets ranks pass before all are there: now and then one
# crashes in MPI_Init (jobscripts/README.md).
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
NodeName=fast[1-4] NodeAddr=10.77.0.[11-14] CPUs=64 RealMemory=1000
NodeName=slow[1-4] NodeAddr=10.77.0.[15-18] CPUs=64 RealMemory=1000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=slow Nodes=slow[1-4] TRESBillingWeights="CPU=3.0" PriorityTier=2
PartitionName=fast Nodes=fast[1-4] TRESBillingWeights="CPU=8.0"
PartitionName=all Nodes=ALL Default=YES PreemptMode=OFF
PartitionName=preemptible Nodes=slow[1-4] GraceTime=10
CONF

# Daemons keep no descriptor of ours: a pipe to prove would never close.
dd if=/dev/urandom of="$BED/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$BED/munge.key"
munged --force --key-file="$BED/munge.key" --socket="$BED/munge.socket" \
    --pid-file="$BED/munge.pid" --log-file="$BED/log/munged" \
    --seed-file="$BED/munge.seed" </dev/null >/dev/null 2>&1 ||
    give_up 'munged does not start'
slurmctld -D </dev/null >"$BED/log/slurmctld" 2>&1 &

# A node sees this of the machine's /tmp in its own: the testbed and the build.
export seen="$BED ${TOP-} ${BATS_MPI+$(dirname "$BATS_MPI")}"
number=10
for node in $nodes; do
    number=$((number + 1))
    mkdir "$BED/tmp.$node" "$BED/spool.$node"
    # The node waits for its network before its daemon starts. Its shell takes
    # in the processes that lose their parents.
    $unshare sh -c '
        hostname '"$node"'
        tmp='"$BED/tmp.$node"'
        for path in $seen; do
            case $path in
            /tmp/*)
                mkdir -p "$tmp/${path#/tmp/}"
                mount --bind "$path" "$tmp/${path#/tmp/}"
                ;;
            esac
        done
        mount -t tmpfs tmpfs /dev/shm
        echo >"$BED/node.'"$node"'"
        until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
        ip link set lo up
        ip addr add 10.77.0.'$number'/24 dev eth0
        mount --rbind "$tmp" /tmp
        slurmd -D -N '"$node"' &
        wait $!
        sleep infinity
    ' </dev/null >"$BED/log/$node" 2>&1 &
    until [ -s "$BED/node.$node" ]; do sleep 0.02; done
    ip link add "$node" type veth peer name eth0 netns $!
    pgrep -P $! >"$BED/node.$node"
    ip link set "$node" master bats up
done

ready=0
for try in $(seq 200); do
    ready=$(sinfo -h -N -p all -t idle -o %N 2>/dev/null | wc -l)
    [ "$ready" -eq 8 ] && break
    sleep 0.1
done
[ "$ready" -eq 8 ] || give_up "$ready of 8 Slurm nodes came up"

[ -z "${BED_REQUEUES-}" ] || while sleep 0.5; do
    SLURM_TIME_FORMAT=%s squeue -h -t PD -o '%i %r %S' |
        while read -r job reason start; do
            [ "$reason" != BeginTime ] ||
                [ "$start" -lt $(($(date +%s) + 10)) ] ||
                scontrol update JobId="$job" StartTime=now+3
        done
done </dev/null >"$BED/log/requeues" 2>&1 &

"$@"
