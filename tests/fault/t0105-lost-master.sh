#!/bin/bash
# Rank 0 is busy for long, or dies, before it has said a word to the others; or
# the launcher dies.
. "$TOP/tests/mpi/lib.sh"
needs_open_mpi

# Nobody writes to it: rank 0 waits for its bag.
mkfifo bag
behind timeout -k 5 300 ${MPIRUN:-mpirun} --enable-recovery -n 3 \
    "$BATS_MPI" bag --no-record --silence 4s
for rank in 0 1 2; do within 60 rank_pid $rank >waits.$rank; done
sleep 7
for rank in 0 1 2; do rank_pid $rank | cmp - waits.$rank; done
test ! -s err
ok 'a master that reads its bag for longer than --silence is not lost'
kill -KILL "$(rank_pid 0)"
within 60 nobody_left
kill_alive
expect '[1-9][0-9]*' wait $run
ok 'the others leave when it dies before it has read it; the exit status is not 0'

# One does not come, so that the others are still in MPI_Init.
env "$mark" timeout -k 5 300 ${MPIRUN:-mpirun} --enable-recovery -n 2 \
    "$BATS_MPI" bag --no-record --silence 2s : -n 1 sleep 1000 >out 2>err </dev/null &
launcher=$!
within 60 rank_pid 1 >out
kill -KILL "$(rank_pid 1)"
within 120 nobody_left
expect '[1-9][0-9]*' wait $launcher
grep -q 'MPI has not started in 63 s: a rank has died' err
ok 'when one dies in MPI_Init, so do the others, and say so'

# The launcher dies, and its sockets stay open, as they do where a child that it
# has just forked is slow: MPI notices nothing. This prints their number, and
# holds them.
cat >hold.py <<'PYTHON'
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
process = os.pidfd_open(int(sys.argv[1]))
fds = "/proc/%s/fd/" % sys.argv[1]
print(sum(libc.syscall(438, process, int(fd), 0) >= 0  # pidfd_getfd
          for fd in os.listdir(fds) if "socket" in os.readlink(fds + fd)),
      flush=True)
signal.pause()
PYTHON
# orphaned SIGN ARGUMENT...: mpirun dies when that succeeds; nobody stays, but
# what it has started otherwise.
orphaned() {
    rm -f held began
    behind ${MPIRUN:-mpirun} "${@:2}"
    within 60 $1 >pid
    env "$mark" python3 hold.py $run >held &
    holder=$!
    within 60 test -s held
    test "$(cat held)" -gt 1
    kill -KILL $run
    expect 137 wait $run
    within 60 none_stays
    kill $holder
    expect 143 wait $holder
}
none_stays() { [ -z "$(alive | grep -vx $holder)" ]; }
orphaned 'rank_pid 0' -n 1 sh -c '"$@"; exit' sh "$BATS_MPI" bag \
    --no-record : -n 1 env -i sleep 60
ok 'a rank in MPI_Init leaves when its launcher is gone'
echo 'touch began; exec sleep 1000' >job
orphaned 'test -e began' -n 2 "$BATS_MPI" job --no-record
ok 'so do all ranks, and the task, while they run'
done_testing
