#!/bin/sh
# testbed.sh COMMAND...: a small Slurm cluster for as long as COMMAND runs.
#
# Four nodes, fast1 fast2 (partition fast, charge 8) and slow1 slow2
# (partition slow, charge 3), each in a network namespace and with a host name
# of its own, so that ranks on different nodes talk over the network; one
# controller, where COMMAND runs. Everything lives in a process, a mount and a
# network namespace of its own: whatever ends this script, the kernel ends the
# daemons and takes the network away. Other testbeds and a Slurm that may be
# on the machine are not touched.
#
# In COMMAND's environment: SLURM_CONF; BED, a directory that every node sees
# and that is removed at the end; in it log/ with what the daemons said.
# COMMAND's exit code is the testbed's. Where a testbed cannot be had the test
# is skipped; as root under CI=true it fails.

nodes='fast1 fast2 slow1 slow2'

cannot() {
    if [ "${CI-}" = true ] && [ "$(id -u)" = 0 ]; then
        printf '1..1\nnot ok 1 - a Slurm testbed can be had\n# %s\n' "$1"
        exit 1
    fi
    echo "1..0 # SKIP no Slurm testbed: $1"
    exit 0
}

# ---- outside: make the namespaces, clean up after them ----

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
if [ -z "${BED-}" ]; then
    [ "$(id -u)" = 0 ] || cannot 'needs root'
    for tool in unshare setpriv ip munged slurmctld slurmd srun; do
        command -v $tool >/dev/null || cannot "$tool is missing"
    done
    unshare="unshare --mount --net --uts --pid --fork --kill-child --mount-proc"
    # A chroot's root is no mount point, whose propagation could be changed.
    unshare --mount true 2>/dev/null ||
        unshare="$unshare --propagation unchanged"
    $unshare true || cannot 'namespaces are not allowed'

    # Short: it holds sockets, whose paths may have 107 characters.
    BED=$(mktemp -d /tmp/bats.XXXXXX) || exit 1
    export BED
    # Whatever ends this shell, even KILL, ends unshare and with it the rest.
    setpriv --pdeathsig KILL $unshare sh "$0" "$@" &
    trap 'rm -rf "$BED" 2>/dev/null || { sleep 1; rm -rf "$BED"; }' EXIT
    trap 'kill -KILL $!; exit 130' INT
    trap 'kill -KILL $!; exit 143' TERM HUP PIPE
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
ip link add bats type bridge
ip addr add 10.77.0.1/24 dev bats
ip link set bats up

SLURM_CONF=$BED/slurm.conf
export SLURM_CONF
cat >"$SLURM_CONF" <<CONF
ClusterName=bats
SlurmctldHost=bats-control(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$BED/munge.socket
CredType=cred/munge
StateSaveLocation=$BED/state
SlurmdSpoolDir=$BED/spool.%n
SlurmctldPidFile=$BED/slurmctld.pid
SlurmdPidFile=$BED/slurmd.%n.pid
TmpFS=$BED/tmp.%n
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=fast[1-2] NodeAddr=10.77.0.[11-12] CPUs=64 RealMemory=1000
NodeName=slow[1-2] NodeAddr=10.77.0.[13-14] CPUs=64 RealMemory=1000
PartitionName=slow Nodes=slow[1-2] TRESBillingWeights="CPU=3.0"
PartitionName=fast Nodes=fast[1-2] TRESBillingWeights="CPU=8.0"
PartitionName=all Nodes=ALL Default=YES
CONF

# Daemons keep no descriptor of ours: a pipe to prove would never close.
dd if=/dev/urandom of="$BED/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$BED/munge.key"
munged --force --key-file="$BED/munge.key" --socket="$BED/munge.socket" \
    --pid-file="$BED/munge.pid" --log-file="$BED/log/munged" \
    --seed-file="$BED/munge.seed" </dev/null >/dev/null 2>&1 ||
    give_up 'munged does not start'
slurmctld -D </dev/null >"$BED/log/slurmctld" 2>&1 &

number=10
for node in $nodes; do
    number=$((number + 1))
    mkdir "$BED/tmp.$node" "$BED/spool.$node"
    # The node waits for its network before its daemon starts.
    unshare --net --uts sh -c '
        hostname '"$node"'
        echo $$ >"$BED/pid.'"$node"'"
        until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
        ip link set lo up
        ip addr add 10.77.0.'$number'/24 dev eth0
        exec slurmd -D -N '"$node"'
    ' </dev/null >"$BED/log/$node" 2>&1 &
    until [ -s "$BED/pid.$node" ]; do sleep 0.02; done
    ip link add "v$number" type veth peer name eth0 \
        netns "$(cat "$BED/pid.$node")"
    ip link set "v$number" master bats up
done

ready=0
for try in $(seq 200); do
    ready=$(sinfo -h -N -p all -t idle -o %N 2>/dev/null | wc -l)
    [ "$ready" -eq 4 ] && break
    sleep 0.1
done
[ "$ready" -eq 4 ] || give_up "$ready of 4 Slurm nodes came up"

"$@"
