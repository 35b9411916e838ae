#!/bin/bash
# However a run ends, no process of it is left.
. "$TOP/tests/mpi/lib.sh"

# Tasks with children and grandchildren, and tasks that ignore TERM.
yes 'echo >>started; sleep 1001 & sh -c "sleep 1002; :"' | head -n 8 >polite
yes "trap '' TERM INT; echo >>started; sleep 1003 & while :; do sleep 1004; done" |
    head -n 8 >stubborn

# begin N COMMAND...: starts a run, waits until N tasks have begun. $launcher is
# the process of the command; what hangs is killed.
begin() {
    rm -f started launcher
    behind timeout --foreground -s KILL 300 sh -c \
        'echo $$ >launcher && exec "$@"' sh "${@:2}"
    within 60 has_lines "$1" started
    launcher=$(cat launcher)
}
begin_ranks() {
    begin 3 ${MPIRUN:-mpirun} -n 4 "$BATS_MPI" "$@" --policy rr
}

# end CODE: the run ends by itself, with this exit status, and leaves nothing.
end() {
    expect "$1" wait $run
    within 60 nobody_left
}

begin_ranks polite
kill -INT "$(rank_pid 0)"
end 130
grep -q SIGINT err
"$BATS_MPI" status --json polite >status
holds '.exit_code == 130 and .pending == 8 and .preempted > 0 and
    .preempted <= 8' status
ok 'SIGINT is an orderly stop: a report, exit status 130, and a record of the rest'

begin_ranks polite
kill -INT "$(rank_pid 1)" "$(rank_pid 2)"
kill -INT "$(rank_pid 0)"
end 130
expect 1 grep -q 'is lost' err
grep -q 'stopped by SIGINT: 0 of 8 tasks done' err
ok 'workers that hear of it themselves leave it to rank 0'

begin_ranks stubborn --grace 1s
kill -INT "$(rank_pid 0)"
end 130
ok 'tasks that ignore TERM do not keep it from ending, and are killed'

begin_ranks stubborn --grace 1h
pid=$(rank_pid 0)
kill -INT "$pid"
within 60 told ' stop$' "$BATS_MPI" log stubborn # two that come at once are one
kill -INT "$pid"
end 130
ok 'a second SIGINT does not wait for the grace time'

# As if its host had frozen: the task there cannot be said to have ended.
begin_ranks stubborn --silence 1h --grace 1s
frozen=$(rank_pid 2)
kill -STOP "$frozen"
kill -TERM "$(rank_pid 0)"
within 60 told '"exit_code": 143' "$BATS_MPI" status --json stubborn
kill -KILL "$frozen"
end '[0-9]*'
ok 'a rank that does not answer keeps it for the grace time, not for --silence'

# Open MPI's mpirun at Ctrl-C: it tells the ranks a second later, with SIGTERM,
# kills them after another second, and exits with 1 whatever they say. Here it
# has twenty seconds' patience, for the sake of a busy machine; the tasks would
# have ten minutes, but are killed before that.
export OMPI_MCA_odls_base_sigkill_timeout=20
begin_ranks stubborn --grace 10m
kill -INT $launcher
end '[0-9]*'
unset OMPI_MCA_odls_base_sigkill_timeout
grep -q 'stopped by' err
ok 'Ctrl-C on the launcher: the report is there before its patience ends'

begin_ranks stubborn --grace 1h
kill -INT $launcher
sleep 0.3
kill -INT $launcher
end '[0-9]*'
ok 'Ctrl-C twice on the launcher: nothing is left'

for who in 'rank_pid 0' 'rank_pid 2' 'cat launcher'; do
    begin_ranks stubborn
    kill -KILL "$($who)"
    end '[0-9]*'
done
ok 'the master, a worker or the launcher is killed: nothing is left'

# Each task leaves an orphan behind; neither that nor a zombie may stay.
yes 'sleep 1005 & echo x >>ended' | head -n 50 >orphans
echo 'until test -e go; do sleep 0.1; done' >>orphans
no_zombies() {
    for pid in $(alive); do
        sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null
    done >states
    test -s states && ! grep -q Z states
}
# Some may wait behind the last one, which they were given together with.
by_mpi 3 orphans --policy rr &
within 60 has_lines 20 ended
within 60 no_zombies
touch go
wait $!
within 60 nobody_left
ok 'no zombies while a run lasts; what a task leaves behind ends with it'

done_testing
