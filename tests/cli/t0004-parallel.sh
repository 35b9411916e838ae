#!/bin/bash
# src/doc/parallel.md says what to type instead of parallel and xargs: its rows
# are run by both, and print and end alike.
. "$TOP/tests/mpi/lib.sh"
needs parallel
bin=$(dirname "$BATS_MPI")
mkdir parallel
export PARALLEL_HOME=$PWD/parallel SHELL=/bin/bash
touch parallel/will-cite

# both NAME LINE: runs the line where its files are, into NAME.out; its exit
# code becomes 0 or 1.
both() {
    rm -rf "$1"
    mkdir -p "$1/d"
    (
        cd "$1" || exit
        printf 'x.txt\ny.txt\nz z.txt\n' >list
        printf 'echo one\nexit 2\necho three\n' >commands
        printf '#BATS time 1s\necho short\n#BATS time 9s\necho long\n' >timed
        printf 'a\tb c\nd\te\n' >table
        touch d/a.txt 'd/b c.txt'
        echo x >x.txt
        echo yy >y.txt
        echo z >'z z.txt'
        code=0
        PATH=$bin:$PATH timeout 60 bash -c "$2" 2>../err </dev/null || code=1
        echo "ends with $code"
    ) >"$1.out"
}

sed -n '/^## GNU parallel/,/^These have/s/^| `\(.*\)` | `\(bats-mpi.*\|.*bats-mpi.*\)` |$/\1\t\2/p' \
    "$TOP/src/doc/parallel.md" | sed 's/\\|/|/g' >rows
test "$(wc -l <rows)" -ge 35
n=0
while IFS=$'\t' read -r there here <&3; do
    both there "$there"
    both here "$here"
    case $there in
    *-k*) ;;
    *) for side in there here; do sort -o $side.out $side.out; done ;;
    esac
    cmp -s there.out here.out ||
        note_failure 1 "$here: $(diff there.out here.out | xargs -0 echo)"
    n=$((n + 1))
done 3<rows
test $n -ge 35
ok "the rows of parallel.md do the same with both programs"

done_testing
