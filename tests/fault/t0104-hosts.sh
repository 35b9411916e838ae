#!/bin/bash
# mpirun over several hosts, with a network between them: a worker dies on
# another host than rank 0's, and a host is cut off. The hosts are the nodes of
# the Slurm testbed; Slurm has no part in it.
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0"
# Every host sees the directory of the testbed.
export TMPDIR="$BED"
. "$TOP/tests/mpi/lib.sh"
unset TMPDIR

# It stands in for ssh.
cat >agent <<'AGENT'
#!/bin/sh
pid=$(cat "$BED/node.$1")
shift
exec nsenter --target "$pid" --mount --net --uts \
    --pid="/proc/$pid/ns/pid_for_children" sh -c "$*"
AGENT
chmod +x agent
export OMPI_MCA_plm_rsh_agent="$PWD/agent" OMPI_MCA_plm=rsh
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
export OMPI_MCA_oob_tcp_if_include=10.77.0.0/24

# launch ARGUMENT...: rank 0 here, and one on each of four hosts.
launch() {
    rm -f pids.* bag.bats*
    behind ${MPIRUN:-mpirun} --enable-recovery \
        --host localhost:1,slow1:1,slow2:1,slow3:1,slow4:1 -n 5 "$BATS_MPI" bag --policy rr \
        --joblog log --json report "$@"
}

# ended: mpirun ends soon; it is killed where it does not.
ended() {
    within 90 test ! -e /proc/$run && return
    kill -KILL $run
    false
}
# goes_on: the run ends, and each task has one result. The files are written after
# the line of err that says that all tasks are done.
goes_on() {
    within 60 grep -q '^bats-mpi: all 60 tasks done' err
    within 60 exactly_once 60
    within 60 grep -q '"exit_code": 0' report
}

cat >task <<'TASK'
echo $$ >>"pids.$BATS_MACHINE"
sleep 0.5
echo "$BATS_TASK_ID"
TASK
yes 'sh task' | head -n 60 >bag

if ldd "$BATS_MPI" | grep -q libpmix; then silence=10h; else silence=3s; fi
launch --silence $silence
within 60 test -s pids.all-2
within 60 rank_pid 2 >pid
kill -KILL "$(cat pid)"
goes_on
grep -q 'bats-mpi: rank 2 on slow2 is lost: ' err
within 60 grep -q '^lost *1 machine' err
test $silence = 3s || grep -q 'rank 2 on slow2 is lost: its process' err
ok 'a worker dies on another host: the launcher tells, the run goes on to its end'
within 60 grep -q 'bats-mpi: mpirun may not notice' err
ended
within 60 nobody_left
bats 2 bag --resume
test ! -s out
ok 'mpirun ends, with a warning of its exit status, which that of --resume tells'

launch --silence 3s
within 60 test -s pids.all-3
within 60 test -s pids.all-4
ip link set slow3 down
ip link set slow4 down
goes_on
finds err 'rank 3 on slow3 is lost: it has been silent' \
    'rank 4 on slow4 is lost: it has been silent'
within 60 grep -q '^lost *2 machines' err
ok 'hosts cannot be reached any more: the run goes on to its end'
ended
ip link set slow3 up
ip link set slow4 up
within 90 nobody_left
ok 'mpirun ends all the same, and nothing is left once the hosts are back'

done_testing
