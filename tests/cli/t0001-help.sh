#!/bin/bash
# bats-mpi tells about itself, and about mistakes. No launcher.
. "$TOP/tests/mpi/lib.sh"

# alone ARGUMENT...: without a launcher.
alone() {
    verb "$@"
}

# ---- help ----

for page in '--help' 'run --help' 'plan --help' 'simulate --help' 'output --help' '-h' 'bag.txt --help' \
    'status --help' 'log --help' 'tasks --help' 'why --help' 'record --help'
do
    # shellcheck disable=SC2086
    alone $page
    grep -q '^Usage: bats-mpi' out
    test ! -s err
    ok "bats-mpi $page goes to standard output, exit 0"
done
alone run --help
for word in --clusters --budget --window --policy --time-scale --seed \
    --grace --monitor --results --tag --joblog --json --quiet --dry-run \
    --master-works --output --max-output --silence 'Exit codes' Examples; do
    grep -q -- "$word" out || echo "$word" >>missing
done
test ! -e missing
ok 'run --help has every option, examples and the exit codes'

alone --version
grep -q '^bats-mpi [0-9]' out
grep -qE 'Open MPI|MPICH' out
grep -q 'GPL-3.0-or-later' out
ok '--version has the version, the MPI library and the licence'

# A launcher's directory that cannot be used would make MPI_Init fail.
TMPDIR=/nonexistent OMPI_MCA_orte_tmpdir_base=/nonexistent alone run --help
ok 'help does not start MPI'

alone run --help
grep -qE -- '--tail .*\|migrate\|soonest$' out
ok 'the choices of an option are shown whole'

# ---- man page and completion ----

alone --man
head -n 1 out | grep -q '^\.TH BATS'
ok '--man prints a man page'
if command -v groff >/dev/null; then
    groff -man -Tascii -P-bcu -ww out >page 2>complaints
    test ! -s complaints
    grep -q '^SYNOPSIS' page
    ok 'groff has nothing to say against it'
else
    skip 'groff has nothing to say against it' 'no groff'
fi

alone --man alloc
finds out '^\.TH BATS.*alloc 1 ' 'max.*jobs'
alone help alloc
cp out help
alone alloc --help
cmp help out
expect 2 alone help nonsense
ok 'each verb has a page of its own, and help'

# offers WORD...: what bash offers for the last of them.
PATH=$(dirname "$BATS_MPI"):$PATH
offers() {
    bash -c 'eval "$(bats-mpi --completion bash)"
        COMP_WORDS=(bats-mpi "$@") COMP_CWORD=$#; _bats_mpi
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' - "$@"
}
touch bag.txt
test "$(offers run --bu)" = '--budget '
test "$(offers --policy bk)" = 'bkp '
test "$(offers plan --ru)" = '--runtime '
test "$(offers --clusters ba)" = 'bag.txt '
test "$(offers pla)" = 'plan '
test "$(offers help all)" = 'alloc '
test "$(offers output --fa)" = '--failed '
test "$(offers run --output '')" = 'lines none stream '
test "$(offers tasks --sl)" = '--slowest '
test "$(offers status ba)" = 'bag.txt '
test "$(offers record '')" = 'recover verify '
test "$(offers record verify ba)" = 'bag.txt '
ok 'bash completes verbs, options, choices and files'
if command -v fish >/dev/null; then
    bats-mpi --completion fish >bats-mpi.fish
    HOME=$PWD fish -c 'source bats-mpi.fish
        complete -C "bats-mpi alloc --sys"
        complete -C "bats-mpi run --policy bk"' >out 2>err
    finds out '^--system	' '^bkp'
    ok 'so does fish'
else
    skip 'so does fish' 'no fish'
fi
# zsh completes only at a terminal: its functions are called with stand-ins.
if command -v zsh >/dev/null; then
    bats-mpi --completion zsh >_bats-mpi
    cat >try.zsh <<'ZSH'
compdef() { }
_describe() { print -l -- "${(@P)2}" }
_files() { print files }
source ./_bats-mpi
words=(bats-mpi alloc --sys) CURRENT=3
_bats_mpi
words=(bats-mpi run --clusters ba) CURRENT=4
_bats_mpi
ZSH
    zsh -f try.zsh >out 2>err
    grep -q '^--system:' out
    tail -n 1 out | grep -qx files
    ok 'and zsh'
else
    skip 'and zsh' 'no zsh'
fi

# ---- mistakes ----

# refuses PATTERN ARGUMENT...: exit 2, the pattern, and nothing on stdout.
refuses() {
    pattern=$1
    shift
    expect 2 alone "$@"
    test ! -s out
    grep -qe "$pattern" err
    ok "refused with exit 2: bats-mpi $*"
}
echo true >bag.txt
refuses 'bag of tasks is missing'
refuses "Try 'bats-mpi run --help'" --nonsense bag.txt
refuses 'no option --nonsense' --nonsense bag.txt
refuses 'may mean --max-args, --max-replace-args, --machine, --minimize, --monitor, --master-works' --m bag.txt
refuses '--budget needs AMOUNT|P%|account' bag.txt --budget
refuses '--budget: ' bag.txt --budget lots
refuses 'this is not a batch job' clusters --budget account --master-works
refuses '--window: ' bag.txt --window 0
refuses '--time-scale: ' bag.txt --time-scale -1
refuses '--policy: ' bag.txt --policy cheap
refuses 'one argument too many' bag.txt more.txt
refuses 'nofile' nofile
refuses "did you mean 'bats-mpi status'" staus
refuses 'nofile' bag.txt --clusters nofile
refuses '/nonexistent/log' bag.txt --joblog /nonexistent/log
refuses '/nonexistent/json' bag.txt --json /nonexistent/json
refuses '/dev/null/there' bag.txt --results /dev/null/there
refuses '/dev/null/there' bag.txt --output stream:/dev/null/there
refuses '--max-output: ' bag.txt --max-output 0
: >empty
refuses '^bats-mpi: empty: ' empty

done_testing
