#!/bin/bash
# README tells people to paste its blocks marked sh: they work as they are, one
# after the other. The last two are for Slurm: tests/slurm/t0002-jobscripts.sh.
. "$TOP/tests/mpi/lib.sh"
export HOME="$dir"

# paste N: the Nth block, in this shell. `make` is that of this build. An hour
# takes two seconds instead of one: a machine that runs tests is a busy one.
make() {
    command make -C "$TOP" B="$B" "$@"
}
paste() {
    awk -v n="$1" -f "$TOP/tests/cli/readme.awk" "$TOP/README.md" |
        sed 's/--time-scale 3600/--time-scale 1800/' >block &&
        test -s block && . ./block >out 2>err
}

paste 1
test "$(command -v bats-mpi)" = "$dir/bats-mpi/bin/bats-mpi"
ok 'it is installed'
paste 2
test "$(wc -l <results.txt)" -eq 100
grep -qx '12 squared is 144' results.txt
ok 'it runs 100 commands'
grep -q '100 done' out
ok 'status and tasks show them'
paste 3
test "$(grep -c ' done ' out)" -eq 2
grep -q 'echo 5 times 2 is' out
ok 'it sweeps over parameters'
paste 4 || : # a task fails
test "$(grep -c 'cat two.txt' out)" -eq 1
ok 'it names the task that failed'
paste 5
test "$(cat out)" = two
bats-mpi status three.txt | grep -q '3 done'
ok 'it runs the failed one again'
paste 6
finds err 'all 100 tasks done' '^charged .* of the budget of 60 SU'
ok 'it keeps to a budget'
paste 7
finds err 'all 100 tasks done' '^deadline  *12h, \(kept with\|missed by\) '
ok 'it has a deadline'
paste 8
grep -q '^5 fastest ' out
ok 'it plans'
test "$(grep -c '^```sh$' "$TOP/README.md")" -eq 10
ok 'there are two more blocks, for Slurm'
for link in $(grep -o '](\(src\|jobscripts\|bench\|[A-Z]\)[^)]*)' \
    "$TOP/README.md" | tr -d '()]'); do
    test -e "$TOP/$link" || echo "$link"
done >out
test ! -s out
ok 'its links lead somewhere'

done_testing
