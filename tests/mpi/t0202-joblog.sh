#!/bin/bash
# The joblog beside that of the real GNU parallel, which must accept it.
. "$TOP/tests/mpi/lib.sh"
needs parallel

cat >bag <<'BAG'
echo a   b
exit 3
kill -TERM $$
printf 'x\ty\n'
sleep 0.2; echo slept >> ran
sleep 1001
BAG
expect 1 bats 3 bag --joblog log --timeout 4

# Numbers replaced by 0, times by their shape, sorted by task.
shape() {
    sort -n "$1" | awk -F '\t' -v OFS='\t' 'NR > 1 {
        $2 = "host"
        $3 = $3 ~ /^[0-9]+\.[0-9][0-9][0-9]$/ ? "time" : "bad " $3
        $4 = $4 ~ /^ *[0-9]+\.[0-9][0-9][0-9]$/ && length($4) == 10 ? \
            "runtime" : "bad " $4
    } 1'
}
parallel() {
    command parallel --will-cite -a bag --timeout 4 "$@" </dev/null 2>>parallel.err
}
tail -n +2 log | perl -ne 'exit 1 if !/^\d+\t[^\t]+(\t *[-\d.]+){6}\t./'
expect 3 parallel --joblog theirs >out
shape log >ours.shape
shape theirs | cmp - ours.shape
ok 'it looks like that of GNU parallel'

rm -f ran
parallel --joblog log --resume >out
test ! -s out
test ! -e ran
ok 'parallel --resume finds nothing left to do'

expect 3 parallel --joblog log --resume-failed >out
test "$(tail -n +8 log | sort -n | cut -f1 | tr '\n' ' ')" = '2 3 6 '
test ! -e ran
ok 'parallel --resume-failed runs those that failed'

for i in $(seq 6); do echo "echo $i >>ran; test $i -ne 3 -o -e good"; done >bag
expect 1 bats 3 bag --joblog log
touch good
cp log once
bats 3 bag --resume-failed --joblog log
test "$(wc -l <ran)" -eq 7
test "$(cut -f1,7 log | tail -n +2 | sort -n | tr '\t\n' '= ')" = \
    '1=0 2=0 3=0 4=0 5=0 6=0 '
grep -v '^3	' once | diff - log | grep '^[<>]' | cut -c1-4 >changed
consists changed '> 3	'
ok 'a resumed run goes on with it: one line per task, the last result'

# A crash leaves this: the line of a task whose result was not recorded yet,
# and half a line. Two of the others have new numbers.
grep '^1	' log | sed 's/^1/7/' >>log
printf '2\thalf' >>log
sed -i '1i echo 0 >>ran' bag
echo true >>bag
bats 3 bag --resume --joblog log
test "$(wc -l <ran)" -eq 8
test "$(cut -f1,9 log | tail -n +2 | sort -n | sed 's/ >>.*//' |
    tr '\t\n' '= ')" = \
    '1=echo 0 2=echo 1 3=echo 2 4=echo 3 5=echo 4 6=echo 5 7=echo 6 8=true '
ok 'only lines of results stay, under the numbers that their tasks have now'

cp bag notes
exits 2 'notes: this is not a joblog' bats 3 bag --resume --joblog notes
cmp notes bag
ok 'another file is not taken for it'

done_testing
