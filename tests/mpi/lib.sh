# Sourced by the tests that start ranks: mpirun, and who is rank N.
. "$TOP/tests/tap.sh"

# Open MPI reads these as it would its options; other launchers ignore them.
# More ranks than cores is meant here, and nobody is tied to a core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none

# launched ARGUMENT...: mpirun with these, into out and err. by_mpi N ARGUMENT...:
# bats-mpi on N ranks of it.
launched() {
    env "$mark" timeout -k 5 1200 ${MPIRUN:-mpirun} "$@" >out 2>err </dev/null
}
by_mpi() {
    launched -n "$1" "$BATS_MPI" "${@:2}"
}

# bats N ARGUMENT...: the same without MPI. Rank 0 forks the others.
bats() {
    local ranks=$1 verb=()
    shift
    case $1 in run | sample | clusters) verb=("$1"); shift ;; esac
    local verbose=--verbose
    [ "${verb-}" != clusters ] || verbose=
    [ $ranks -eq 1 ] || ranks=$((ranks - 1))
    env "$mark" timeout -k 5 1200 "$BATS_MPI" "${verb[@]}" -j $ranks \
        $verbose "$@" \
        >out 2>err </dev/null
}

# alone ARGUMENT...: bats-mpi as it is, without a launcher, into out and err.
alone() {
    env "$mark" timeout -k 5 900 "$BATS_MPI" "$@" >out 2>err </dev/null
}

# start N ARGUMENT...: bats in the background, as process $run, which may fail.
start() {
    rm -f out err
    { bats "$@" || exit $?; } &
    run=$!
}

# needs_open_mpi: whose mpirun --enable-recovery survives the loss of a rank.
needs_open_mpi() {
    ${MPIRUN:-mpirun} --version 2>/dev/null | grep -q 'Open MPI' && return
    skip 'a run survives the loss of a rank' 'not Open MPI'
    done_testing
    exit
}

# recoverable N ARGUMENT...: bats-mpi on N ranks in the background, prepared to
# lose some. The file status says how rank 0 ended: after a rank that ends with
# 1, mpirun --enable-recovery (Open MPI 4.1.4) sometimes crashes in its own end,
# or has none.
recoverable() {
    rm -f status pids.*
    printf '%s\n' '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exec "$@"' '"$@"' \
        'code=$?; echo $code >status.new; mv status.new status' \
        'exit $code' >rank
    behind timeout -k 5 300 ${MPIRUN:-mpirun} --enable-recovery -n "$1" \
        sh rank "$BATS_MPI" "${@:2}"
}

# ends_with CODE: rank 0 of recoverable does. An mpirun that goes on is killed.
ends_with() {
    within 120 test -s status || return
    within 5 nobody_left || kill_alive
    test "$(cat status)" = "$1"
}

# exactly_once N: N tasks have one result each, for the reader of the output, of
# the joblog and of the record.
exactly_once() {
    seq "$1" >expected
    sort -n out | cmp - expected &&
        awk 'NR > 1 { print $1 }' log | sort -n | cmp - expected &&
        sql 'SELECT task FROM execution WHERE outcome = 0 ORDER BY task' |
        cmp - expected
}

# two_clusters: a clusters file for seven ranks, of which rank 0 runs no tasks.
two_clusters() {
    ini '[run]; currency = SU' '[cluster slow]; ranks = 1-3; charge = 3' \
        '[cluster fast]; ranks = 4-6; charge = 9; speed = 4'
}

# allocation_profile: a profile of a job that is billed for what it holds, 3 and
# 12 for 10 minutes of a machine.
allocation_profile() {
    cat <<END
{"bats_profile": 1,
 "bag": {"name": "bag", "tasks": 400, "hash": "0123456789abcdef"},
 "window_s": 600, "billing": "allocation", "currency": "SU", "elapsed_s": 600,
 "clusters": [
  {"name": "slow", "charge": "3", "max": 32, "slots": 1, "windows": 2,
   "charged": "6", "sample": [[1,45],[2,40],[3,35],[4,30],[5,35],
    [6,40],[7,45],[8,40],[9,30]]},
  {"name": "fast", "charge": "12", "max": 32, "slots": 1, "windows": 1,
   "charged": "12", "sample": [[1,40],[2,35],[3,30],[4,25],[5,30],[6,35],
    [7,40]]}],
 "done": [[1,9]], "failed": []}
END
}

# best_accuracy FILE...: the best mean of the demos' results, found in another way.
best_accuracy() {
    perl -ne '/rate=(\S+) radius=(\S+) .* accuracy=(\S+)/ or next;
        $n{"$1 $2"}++; $s{"$1 $2"} += $3;
        END { my ($b) = sort { $b <=> $a } map { $s{$_} / $n{$_} } keys %n;
            exit 1 if !$b; printf "%.4f", $b }' "$@"
}

# rank_pid N: the process that is rank N; not one that it has started. Fails if
# there is none. Workers that rank 0 has forked have their rank in their name.
rank_pid() {
    local pid parent name="bats-mpi $1"
    [ "$1" != 0 ] || name=bats-mpi
    for pid in $(alive); do
        [ "/proc/$pid/exe" -ef "$BATS_MPI" ] || continue
        { read -r parent <"/proc/$pid/stat"; } 2>/dev/null || continue
        parent=${parent##*) ? }
        parent=/proc/${parent%% *}
        if [ $parent/exe -ef "$BATS_MPI" ]; then
            [ "$(cat $parent/comm)" = bats-mpi ] || continue
        elif grep -qszE '^(OMPI_COMM_WORLD|PMI)_RANK=' "/proc/$pid/environ"; then
            grep -qszxE "(OMPI_COMM_WORLD|PMI)_RANK=$1" "/proc/$pid/environ" ||
                continue
            echo "$pid" && return
        fi
        [ "$(cat "/proc/$pid/comm")" = "$name" ] && echo "$pid" && return
    done
    return 1
}
