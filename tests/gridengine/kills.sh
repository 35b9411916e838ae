# Sourced after alloc.sh: kills what takes part in a run on jobs of Grid Engine.
. "$TOP/tests/kills.sh"
# PARTS may be execd, node and qmaster, too: Grid Engine's own, which may lose the
# bill of a job that ends meanwhile.
parts=(${PARTS-master script mpirun worker})
hosts='fast1 fast2 slow1 slow2'
answers() { qconf -sh >/dev/null 2>&1; }
repaired() { :; }
# kill_one COMMAND: one of its processes, of whichever job.
kill_one() {
    local pid
    pid=$(one_of $(pgrep -f "^[^ ]*$1 ") '')
    kill -KILL $pid 2>/dev/null
}
qmaster_again() { sge_qmaster </dev/null >>log/qmaster 2>&1 & }
execd_again() { # HOST
    nsenter -t "$(cat "node.$1")" -m -u -n -p sge_execd </dev/null \
        >>"log/$1" 2>&1 &
}

# kill_part PART: of a job that runs; fails if there is none.
kill_part() {
    local host
    host=$(one_of $hosts)
    case $1 in
    master) kill -KILL $master 2>/dev/null ;;
    script) kill_one 'bats-mpi lease' ;;
    mpirun) kill_one mpirun ;;
    worker) kill_one 'bats-mpi worker' ;;
    execd)
        kill -KILL $(pgrep --ns "$(cat "node.$host")" --nslist net sge_execd) \
            2>/dev/null || return
        back $((RANDOM % 9)) execd_again "$host"
        ;;
    node)
        ip link set "$host" down
        back $((RANDOM % 12)) ip link set "$host" up
        ;;
    qmaster)
        kill -KILL $(pgrep sge_qmaster) 2>/dev/null || return
        back $((RANDOM % 5)) qmaster_again
        ;;
    esac
}
