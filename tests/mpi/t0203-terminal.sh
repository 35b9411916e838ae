#!/bin/bash
# A person at a terminal sees this; script(1) is the terminal.
. "$TOP/tests/mpi/lib.sh"
needs script
export TERM=xterm
ESC=$(printf '\033')

# on_terminal COMMAND: what it writes to an 80 column terminal goes to `out`,
# each clearing of the line as <clear> at the beginning of a line of its own.
on_terminal() {
    local code=0
    script -qec "stty cols ${wide:-80}; $1" typescript </dev/null >/dev/null 2>err ||
        code=$?
    sed "1d;s/\r//g;s/$ESC\[K/\n<clear>/g" typescript >out
    return $code
}

for i in $(seq 8); do echo "echo line $i; sleep 0.3"; done >bag

on_terminal "'$BATS_MPI' bag"
grep -qE '^<clear>[0-9a-z]+  [0-9]+%  [0-8]/8  [01] running' out
test "$(grep -cE '^<clear>line [0-9]$' out)" -eq 8
tr '\n' '|' <out | grep -qE '<clear>(line [0-9][|])?[|]bats-mpi: all 8 tasks done'
ok 'output takes the place of a progress line, which is gone before the report'
sed '1,/all 8 tasks done/d' out >rest
test "$(grep -c . rest)" -le 3
grep -q '^machines   all: ' rest
ok 'where no money is at stake the report is a few lines'

on_terminal "mpirun -n 3 '$BATS_MPI' bag 2>err.txt"
expect 1 grep -q "$ESC" err.txt
expect 1 grep -q '<clear>' out
grep -q '  start: ' err.txt
on_terminal "mpirun -n 3 '$BATS_MPI' bag >out.txt"
expect 1 grep -q "$ESC" out.txt
test "$(wc -l <out.txt)" -eq 8
grep -qE '^<clear>[0-9a-z]+  [0-9]+%  [0-8]/8  [0-2] running' out
ok 'standard error or output in a file gets plain lines, even below a terminal'

wide=40 on_terminal "'$BATS_MPI' bag --bar"
grep -qE '^<clear>[0-9a-z]*  [0-9]+%  .*  [0-9.]+ core-h$' out
grep '^<clear>.*%' out | awk 'length > 7 + 39 { exit 1 }'
TERM=dumb on_terminal "'$BATS_MPI' bag"
expect 1 grep -q '<clear>' out
grep -q '  start: ' out
ok '40 columns keep what matters; one that cannot redraw a line gets plain lines'

exits 0 "$ESC" bats 3 bag --progress
expect 1 grep -q "$ESC" out
ok '--progress redraws the line where no terminal is seen'

yes 'sleep 0.2' | head -n 5 >bag
echo 'kill -INT $(cat pid); sleep 5' >>bag
expect 130 on_terminal "sh -c 'echo \$\$ >pid; exec \"$BATS_MPI\" bag --seed 1 --grace 1s'"
tr '\n' '|' <out | grep -qF '<clear>|bats-mpi: stopped by SIGINT: '
grep -q '^machines ' out
ok 'after SIGINT the report begins on a line of its own'

done_testing
