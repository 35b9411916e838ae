# Sourced after leases.sh: kills what takes part in a run on jobs of Slurm.
# controller-dies is drawn only where it is asked for.
. "$TOP/tests/kills.sh"
parts=(master gateway watchdog srun srun-hangs node controller controller-hangs
    accounting)
answers() { scontrol ping | grep -q UP; }
# repaired: by the administrator, and the run. Jobs that a controller forgot run
# for ever.
repaired() {
    [[ $killed == *dies* ]] || return 0
    sacctmgr -i show runawayjobs >>out
    start "$bag" --resume
    wait $master || code=$?
}
controller_again() { slurmctld -D </dev/null >>log/slurmctld 2>&1 & }
# forgets COMMAND...: slurmctld dies, and the next one knows what it knew when
# `before` was made of its state. COMMAND runs while there is none. Jobs get other
# numbers: for two minutes nodes do not run one again that has ended.
forgets() {
    kill -KILL "$(cat slurmctld.pid)"
    rm -rf slurmctld.pid state
    cp -a before state
    echo FirstJobId=$((first += 5000)) >>"$SLURM_CONF"
    "$@"
    controller_again
    within 60 answers
}

# kill_part PART: of a job that runs; fails if there is none.
kill_part() {
    local job node
    job=$(one_of $(jobs) '')
    case $1 in
    master) kill -KILL $master 2>/dev/null ;;
    gateway) signal KILL 'bats-mpi worker --join' "$job" ;;
    watchdog) signal KILL "$lease" "$job" ;;
    srun) signal KILL "$srun" "$job" ;;
    srun-hangs) signal STOP "$srun" "$job" ;;
    node)
        node=$(squeue -h -j "${job:-0}" -o %N 2>/dev/null | head -n 1)
        [ -n "$node" ] || return 1
        ip link set "$node" down
        back $((RANDOM % 12)) ip link set "$node" up
        ;;
    controller)
        controller_ends || return 1
        back $((RANDOM % 3)) controller_again
        ;;
    controller-dies) # it does not know the jobs of the last seconds then
        kill -KILL "$(cat slurmctld.pid)" 2>/dev/null || return 1
        rm -f slurmctld.pid
        back $((RANDOM % 3)) controller_again
        ;;
    controller-hangs)
        kill -STOP "$(cat slurmctld.pid)"
        back $((1 + RANDOM % 5)) kill -CONT "$(cat slurmctld.pid)"
        ;;
    accounting)
        kill -STOP "$(cat slurmdbd.pid)"
        back $((1 + RANDOM % 9)) kill -CONT "$(cat slurmdbd.pid)"
        ;;
    esac
}
signal() { # SIGNAL WORDS JOB
    [ -n "$3" ] && kill -"$1" $(at "$2" "$3") 2>/dev/null
}
