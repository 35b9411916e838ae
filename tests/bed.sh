# Sourced by the testbeds (slurm/testbed.sh, gridengine/testbed.sh): several
# nodes on one machine, each with its own processes, network, host name, /tmp
# and /dev/shm, so that ranks on different nodes talk over the network and share
# nothing else; and a host for the controller, where the testbed's command runs.
# Everything lives in namespaces below one process: whatever ends the script,
# the kernel ends the daemons and takes network and mounts away. Other testbeds
# and a batch system that may be on the machine are not touched.
#
# Before: bed (the kind, as in slurm), tools (the programs it needs). Afterwards
# the script runs inside, in a host named bats-control with the address
# 10.77.0.1, and in its environment is BED, a directory that every node sees and
# that is removed at the end (after a KILL by the next testbed, which finds that
# the process in its name has gone). In it log/, what the daemons said, and for
# each node a file like node.fast1 with a process: KILL it, and all that runs on
# fast1 is gone. `ip link set fast1 down` pulls its cable.
#
# Where a testbed cannot be had the test is skipped; as root under CI=true it
# fails.

cannot() {
    if [ "${CI-}" = true ] && [ "$(id -u)" = 0 ]; then
        printf '1..1\nnot ok 1 - a testbed of %s can be had\n# %s\n' "$bed" "$1"
        exit 1
    fi
    echo "1..0 # SKIP no testbed of $bed: $1"
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
    for tool in unshare setpriv mount ip $tools; do
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
    for old in /tmp/bats-$bed.*-*; do
        pid=${old#/tmp/bats-$bed.}
        pid=${pid%-*}
        [ -d "$old" ] || continue
        begun=$(started "$pid")
        # Without a process there is no time; one that cannot be read says
        # nothing.
        [ -n "$begun" ] || [ ! -e "/proc/$pid" ] || continue
        [ "$begun" = "${old##*-}" ] || rm -rf "$old"
    done
    # Short: it holds sockets, whose paths may have 107 characters.
    BED=/tmp/bats-$bed.$$-$(started $$)
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

# ---- inside: the controller's host, and nodes ----

give_up() {
    printf '1..1\nnot ok 1 - the testbed of %s comes up\n# %s\n' "$bed" "$1"
    tail -n 5 "$BED"/log/* 2>/dev/null | sed 's/^/# /'
    exit 1
}

mkdir "$BED/log"
hostname bats-control
ip link set lo up
# With an address of its own: else it has the lowest of its ports, another one
# whenever a node comes, and the nodes go on sending to the old one for long.
ip link add bats address 02:00:0a:4d:00:01 type bridge
ip addr add 10.77.0.1/24 dev bats
ip link set bats up

# A node sees this of the machine's /tmp in its own: the testbed and the build.
export seen="$BED ${TOP-} ${BATS_MPI+$(dirname "$BATS_MPI")}"

# patiently COMMAND...: until it succeeds, for a minute or more.
patiently() {
    for try in $(seq 300); do
        "$@" 2>/dev/null && return
        sleep 0.2
    done
    return 1
}

# start_node NAME NUMBER DAEMON...: with the address 10.77.0.NUMBER. The node
# waits for its network before its daemon starts. Its shell takes in the
# processes that lose their parents.
start_node() {
    mkdir "$BED/tmp.$1"
    $unshare sh -c '
        node=$1 number=$2
        shift 2
        hostname "$node"
        tmp=$BED/tmp.$node
        for path in $seen; do
            case $path in
            /tmp/*)
                mkdir -p "$tmp/${path#/tmp/}"
                mount --bind "$path" "$tmp/${path#/tmp/}"
                ;;
            esac
        done
        mount -t tmpfs tmpfs /dev/shm
        echo >"$BED/node.$node"
        until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
        ip link set lo up
        ip addr add "10.77.0.$number/24" dev eth0
        mount --rbind "$tmp" /tmp
        "$@" &
        wait $!
        sleep infinity
    ' sh "$@" </dev/null >"$BED/log/$1" 2>&1 &
    until [ -s "$BED/node.$1" ]; do sleep 0.02; done
    ip link add "$1" type veth peer name eth0 netns $!
    pgrep -P $! >"$BED/node.$1"
    ip link set "$1" master bats up
}
