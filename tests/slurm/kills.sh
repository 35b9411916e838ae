# Sourced after leases.sh: kills what takes part in a run on jobs, at random.
# BASH's RANDOM decides; seed it.
# controller-dies is drawn only where it is asked for.
parts=(master gateway watchdog srun srun-hangs node controller controller-hangs
    accounting)
one_of() { shift $((RANDOM % $#)); echo "$1"; }
back() { # SECONDS COMMAND...: later, while the run goes on
    { sleep "$1"; shift; "$@"; } &
    later+=($!)
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
    within 60 sh -c 'scontrol ping | grep -q UP'
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
        kill -TERM "$(cat slurmctld.pid)"
        within 60 sh -c '! test -e slurmctld.pid'
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

# survives BAG KILLS [PART...]: a run of 40 tasks is done, billed as charged and
# within its budget, although so many of its parts were killed.
survives() {
    local n=0 code=137 part
    bag=$1 later=() killed=
    tasks "$bag" 40
    while [ $code -eq 137 ]; do
        # A run that begins without a controller ends at once.
        within 60 sh -c 'scontrol ping | grep -q UP'
        start "$bag" --resume
        while [ $n -lt "$2" ] && kill -0 $master 2>/dev/null; do
            sleep $((1 + RANDOM % 4)).$((RANDOM % 10))
            kill -0 $master 2>/dev/null || break
            part=$(one_of "${@:3}")
            kill_part "$part" || continue
            killed="$killed $part"
            n=$((n + 1))
        done
        code=0
        wait $master || code=$?
    done
    [ ${#later[@]} -eq 0 ] || wait "${later[@]}" || :
    within 60 sh -c 'scontrol ping | grep -q UP'
    if [[ $killed == *dies* ]]; then # jobs that it forgot run for ever
        sacctmgr -i show runawayjobs >>out
        start "$bag" --resume
        wait $master || code=$?
    fi
    echo "$bag: exit $code,$killed; $(sort -u "ran.$bag" | wc -l) of 40 done," \
        "charged $(charged "$bag"), billed $(billed "$bag")"
    test $n -gt 0 && test $code -eq 0 && done_all "$bag" 40 && kept "$bag"
}
