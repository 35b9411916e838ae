# Sourced by tests that kill what takes part in a run on jobs, at random: BASH's
# RANDOM decides; seed it. The batch system has said how: `kill_part PART` kills one,
# and fails if there is none; `answers` while its controller does; `kept BAG` if all
# is billed as charged; `repaired` does what a user does after all.
one_of() { shift $((RANDOM % $#)); echo "$1"; }
back() { # SECONDS COMMAND...: later, while the run goes on
    { sleep "$1"; shift; "$@"; } &
    later+=($!)
}

# is_over: the run, unless it was killed, or has begun without a controller.
is_over() {
    [ $code -ne 137 ] || return
    [[ $code != [23] ]] || grep -q ' tasks on ' err
}

# survives BAG KILLS [PART...]: a run of 40 tasks is done, billed as charged and
# within its budget, although so many of its parts were `killed`.
survives() {
    local n=0 code=137 part
    bag=$1 later=() killed=
    tasks "$bag" 40
    until is_over; do
        within 60 answers
        start "$bag" --resume
        while [ $n -lt "$2" ] && kill -0 $master 2>/dev/null; do
            sleep $((RANDOM % 4)).$((RANDOM % 10))
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
    within 60 answers
    repaired
    echo "$bag: exit $code,$killed; $(sort -u "ran.$bag" | wc -l) of 40 done," \
        "charged $(charged "$bag"), billed $(billed "$bag")"
    test $code -eq 0 && ran "$bag" 40 && kept "$bag"
}
