#!/bin/bash
# bats-mpi tells about itself, and about mistakes. No launcher.
. "$TOP/tests/tap.sh"
needs groff fish zsh

for page in --help -h 'bag.txt --help' 'run --help' 'plan --help' 'simulate --help' \
    'output --help' 'status --help' 'log --help' 'tasks --help' 'why --help' \
    'record --help'; do
    tells '^Usage: bats-mpi' $page
    test ! -s err
done
# A launcher's directory that cannot be used would make MPI_Init fail.
TMPDIR=/nonexistent OMPI_MCA_orte_tmpdir_base=/nonexistent verb run --help
finds out --clusters --budget --window --policy --time-scale --seed --grace \
    --monitor --results --tag --joblog --json --quiet --dry-run \
    --output --silence 'Exit codes' Examples \
    '--tail .*|migrate|soonest$'
ok 'help is whole, goes to standard output, and does not start MPI'
verb --version
finds out '^bats-mpi [0-9]' 'Open MPI\|MPICH' 'GPL-3.0-or-later'
ok '--version has the version, the MPI library and the licence'

verb --man
head -n 1 out | grep -q '^\.TH BATS'
groff -man -Tascii -P-bcu -ww out >page 2>complaints
test ! -s complaints
grep -q '^SYNOPSIS' page
verb --man alloc
finds out '^\.TH BATS.*alloc 1 ' 'max.*jobs'
"$BATS_MPI" help alloc | cmp - <("$BATS_MPI" alloc --help)
expect 2 verb help nonsense
exits 3 'standard output: No space' "$BATS_MPI" --man >/dev/full 2>err
exits 3 'standard output: No space' "$BATS_MPI" run --help >/dev/full 2>err
ok '--man prints man pages that groff likes; each verb has one, and help'

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
bats-mpi --completion fish >bats-mpi.fish
HOME=$PWD fish --no-config -c 'source bats-mpi.fish
    complete -C "bats-mpi alloc --sys"
    complete -C "bats-mpi run --policy bk"' >out 2>err
finds out '^--system	' '^bkp'
# zsh completes only at a terminal: its functions are called with stand-ins.
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
ok 'so do fish and zsh'

# refuses PATTERN ARGUMENT...: exit 2, the pattern, and nothing on stdout.
refuses() {
    exits 2 "$1" verb "${@:2}"
    test ! -s out
}
echo true >bag.txt
: >empty
refuses "Try 'bats-mpi run --help'" --nonsense bag.txt
refuses 'this is not a batch job' clusters --budget account
refuses 'nofile' nofile
refuses "did you mean 'bats-mpi status'" staus
refuses 'nofile' bag.txt --clusters nofile
refuses '/nonexistent/log' bag.txt --joblog /nonexistent/log
refuses '/nonexistent/json' bag.txt --json /nonexistent/json
refuses '/dev/null/there' bag.txt --results /dev/null/there
refuses '/dev/null/there' bag.txt --output stream:/dev/null/there
refuses '^bats-mpi: empty: ' empty
mkdir dir
mkfifo pipe
refuses 'nowhere/p: No such' bag.txt --save nowhere/p
refuses 'bag.txt: Not a dir' bag.txt --output stream:bag.txt
refuses 'dir is not a run record' bag.txt --record dir
refuses 'pipe is not a run record' bag.txt --record pipe
ok 'mistakes are refused with exit 2'
ln -s there link
verb bag.txt --save link
test -L link
grep -q tasks there
ok 'what is no plain file is written to, not replaced'

done_testing
