# Sourced by all tests in shell, through a lib.sh: how a case fails, waiting,
# and a directory of its own, $dir, which goes away with the test. README.md
# beside this file describes the form.
: "${TOP:?is set by make tests}" "${BATS_MPI:?is set by make tests}"
[ -n "${BASH_VERSION-}" ] || { echo 'Bail out! tests need bash'; exit 1; }

# The history of the user is none of theirs; a test that wants one names it.
export BATS_HISTORY=

dir=$(mktemp -d) && cd "$dir" || exit 1
# The processes of a test have it in their environment, and are found by it.
mark=BATS_TEST_MARK=$$-${dir##*.}
trap 'end_test' EXIT
trap 'exit 1' INT TERM

end_test() {
    kill_alive
    cd / && rm -rf "$dir"
}

# Every command that fails since the last case is noted here, also those of
# functions, subshells and background jobs. As with set -e, bash does not look
# at conditions, at `! command`, and at all but the last part of `a && b`.
failures=$dir/.failures
set -E
trap 'note_failure $? "$BASH_COMMAND"' ERR

note_failure() {
    echo "line ${BASH_LINENO[-2]}: exit status $1: $2" >>"$failures"
}

# ok NAME: ends a case, which has succeeded if all its commands have. Otherwise
# shows which have not, and out and err, on standard error, which prove does not
# hold back.
tests=0
ok() {
    local last=$? file
    tests=$((tests + 1))
    if [ $last -eq 0 ] && [ ! -s "$failures" ]; then
        echo "ok $tests - $1"
        return
    fi
    echo "not ok $tests - $1"
    {
        echo "# ${0##*/}: $1"
        sed 's/^/# /' "$failures" 2>/dev/null
        for file in out err; do
            [ ! -f $file ] || tail -n 20 $file | sed "s/^/# $file: /"
        done
    } >&2
    rm -f "$failures"
}

# expect CODE COMMAND...: the command exits with this, or, as in '0|4', with one
# of these.
expect() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    [[ $code =~ ^($wanted)$ ]] ||
        note_failure $code "$* (expected exit status: $wanted)"
}

# finds FILE PATTERN...: each is somewhere in the file.
finds() {
    local pattern
    [ $# -gt 1 ] || note_failure 1 "no pattern for $1"
    for pattern in "${@:2}"; do
        grep -q -e "$pattern" "$1" || note_failure $? "no '$pattern' in $1"
    done
}

# consists FILE LINE...: of these lines.
consists() {
    printf '%s\n' "${@:2}" | diff - "$1" >&2
}

# exits CODE PATTERN COMMAND...: as expect, and the file err, which is empty
# before, has the pattern.
exits() {
    : >err
    expect "$1" "${@:3}"
    finds err "$2"
}

# verb VERB ARGUMENT...: bats-mpi without a launcher, into out and err.
verb() {
    "$BATS_MPI" "$@" >out 2>err </dev/null
}

# behind COMMAND...: in the background, as process $run, into out and err. Those of
# the command before are gone then: what is awaited there is said by this one.
behind() {
    rm -f out err
    touch out err
    env "$mark" "$@" >out 2>err </dev/null &
    run=$!
}

# tells PATTERN ARGUMENT...: bats-mpi exits with 0, and prints the pattern.
tells() {
    verb "${@:2}"
    finds out "$1"
}

# ini SECTION...: a file of sections, as in '[cluster a]; ranks = 1-2'.
ini() {
    printf '%s\n' "$@" | sed 's/; */\n/g'
}

# seconds DURATION...: what 1h2m3s and the like are, a line each.
seconds() {
    printf '%s\n' "$@" | awk '
        BEGIN { worth["d"] = 86400; worth["h"] = 3600; worth["m"] = 60; worth["s"] = 1 }
        {
            for (n = 0; match($0, /^[0-9.]+[dhms]/); $0 = substr($0, RLENGTH + 1))
                n += substr($0, 1, RLENGTH - 1) * worth[substr($0, RLENGTH, 1)]
            print n
        }'
}

# chain N COMMAND: a bag of so many tasks, t1, t2 ..., that wait for one another.
chain() {
    local i after=
    for i in $(seq "$1"); do
        printf '#BATS task t%d%s\n%s\n' $i "$after" "$2"
        after=" after t$i"
    done
}

# nested: an MPI program, ./nested; its ranks add up their numbers.
nested() {
    cat >nested.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, n, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d\n", sum, n);
    return MPI_Finalize();
}
C
    ${MPICC:-mpicc} -o nested nested.c 2>err
}

# json FILTER [FILE]: what jq makes of a report. holds: all that it makes is true.
json() {
    jq -r "$1" "${2-report}"
}
holds() {
    jq -ne "[inputs | $1] | length > 0 and all(. == true)" "${2-report}" >/dev/null
}

# skip NAME WHY: a case that cannot be made here; with CI=true it fails.
skip() {
    tests=$((tests + 1))
    if [ "${CI-}" = true ]; then
        echo "not ok $tests - $1 # $2"
    else
        echo "ok $tests - $1 # SKIP $2"
    fi
}

# two_cores: the processors 0 and 1 are, and may be used.
two_cores() {
    [ "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list \
        2>/dev/null)" = 0 ] && taskset -c 1 true 2>/dev/null
}

# needs TOOL...: without them the script is skipped.
needs() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null && continue
        skip "${0##*/} has what it needs" "there is no $tool"
        done_testing
        exit
    done
}

done_testing() {
    [ ! -s "$failures" ] || ok 'all commands after the last case succeed'
    echo "1..$tests"
}

# sql [RECORD] QUERY: of bag.bats, if no record is named.
sql() {
    [ $# -gt 1 ] || set -- bag.bats "$1"
    sqlite3 "$1" "$2"
}

# within SECONDS COMMAND...: the command succeeds before that. It is tried less
# often when it takes long: others compute.
within() {
    local waited=0 most=$(($1 * 10)) tenths
    shift
    until "$@"; do
        tenths=$((waited < 20 ? 1 : waited < 100 ? 3 : 6))
        waited=$((waited + tenths))
        [ $waited -lt $most ] || return 1
        sleep 0.$tenths
    done
}

# Conditions for it. told PATTERN COMMAND...: the command says that now.
# has_lines N FILE: so many, or more. lines FILE N: so many.
told() {
    "${@:2}" 2>&1 | grep -q -e "$1"
}
has_lines() {
    [ "$(cat "$2" 2>/dev/null | wc -l)" -ge "$1" ]
}
lines() {
    [ "$(cat "$1" 2>/dev/null | wc -l)" -eq "$2" ]
}

# The processes that have $mark in their environment.
alive() {
    grep -lzx "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# (Some may be gone before they are killed.)
kill_alive() {
    local pid
    for pid in $(alive); do
        kill -KILL "$pid" 2>/dev/null || :
    done
}

nobody_left() {
    [ -z "$(alive)" ]
}
