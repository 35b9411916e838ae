#!/bin/sh
# The joblog beside that of the real GNU parallel, which must accept it.
. "$TOP/tests/mpi/lib.sh"

cat >bag <<'BAG'
echo a   b
exit 3
kill -TERM $$
printf 'x\ty\n'
sleep 0.2; echo slept >> ran
BAG
bats 3 bag --joblog log
test $? -eq 1
ok 'a bag with failures was run'

# Numbers replaced by 0, times by their shape, sorted by task.
shape() {
    sort -n "$1" | awk -F '\t' -v OFS='\t' 'NR > 1 {
        $2 = "host"
        $3 = $3 ~ /^[0-9]+\.[0-9][0-9][0-9]$/ ? "time" : "bad " $3
        $4 = $4 ~ /^ *[0-9]+\.[0-9][0-9][0-9]$/ && length($4) == 10 ? \
            "runtime" : "bad " $4
    } 1'
}
tail -n +2 log | perl -ne 'exit 1 if !/^\d+\t[^\t]+(\t *[\d.]+){6}\t./'
ok 'every line has the nine columns'

if ! command -v parallel >/dev/null; then
    skip 'it looks like that of GNU parallel' 'no GNU parallel'
    done_testing
    exit
fi
parallel() {
    command parallel --will-cite "$@" </dev/null 2>>parallel.err
}
parallel -a bag --joblog theirs >/dev/null
shape log >ours.shape
shape theirs >theirs.shape
cmp ours.shape theirs.shape >out 2>&1
ok 'it looks like that of GNU parallel'

rm -f ran
parallel -a bag --joblog log --resume >out
test $? -eq 0 && test ! -s out && test ! -e ran
ok 'parallel --resume finds nothing left to do'

parallel -a bag --joblog log --resume-failed >out
test "$(tail -n +7 log | sort -n | cut -f1 | tr '\n' ' ')" = '2 3 ' &&
    test ! -e ran
ok 'parallel --resume-failed runs those that failed'

done_testing
