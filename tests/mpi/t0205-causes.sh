#!/bin/bash
# Why tasks failed: the end of their standard error is in the record, whatever
# becomes of their output.
. "$TOP/tests/mpi/lib.sh"

yes 'seq 3000 >&2; echo "cp: out.$BATS_TASK_ID: No space left" >&2; exit 1' |
    head -n 6 >bag
printf '%s\n' 'kill -9 $$' 'echo fine >&2' >>bag

for options in '--output lines' '--output stream' '--output none' '--results r'; do
    rm -f bag.bats
    expect 1 bats 3 bag $options
    "$BATS_MPI" tasks --failed --json bag >json
    test "$(grep -c ': No space left\\n"' json)" -eq 6
    grep -q '"stderr":"[0-9\\n]*3000\\ncp: out.2: No space left\\n"' json
    test "$(grep '"task":2,' json | wc -c)" -gt 4096
    grep -q '^  6 tasks on [^,]*, exit 1: cp: out.*: No space left' err
    tr -s '\n ' '  ' <err |
        grep -q 'task 7 on [^,]*, signal 9 (KILL), nothing on standard error'
done
test "$(sql 'SELECT count(*) FROM stderr')" -eq 6
ok 'the end of standard error is kept of tasks that fail, and equal ends are one'

"$BATS_MPI" tasks --failed bag >out
tr -s '\n ' '  ' <out | grep -q '6 tasks on .*No space left.*first: task 1)'
tells '^7 failed:' why bag
"$BATS_MPI" why bag 2 >out
grep -qx '  cp: out.2: No space left' out
ok 'tasks --failed and why show it'

# One fails twice, then goes well.
echo 'echo "try $BATS_ATTEMPT" >&2; exit $((BATS_ATTEMPT < 3))' >retried
bats 2 retried --retries 4
"$BATS_MPI" why retried 1 | grep -qx '  try 2'
expect 1 grep -q 'why they failed' err
ok 'a task that went well in the end shows its last failure, but has no cause'

printf 'printf "\\033[2Jred\\200\\000x" >&2; exit 1\n' >hostile
expect 1 bats 2 hostile
expect 1 grep -q "$(printf '\033')\[2J" <(grep -a 'exit 1:' err)
grep -aqF 'exit 1: \e[2Jred\x80 x' err
ok 'hostile bytes stay text'

done_testing
