#!/bin/bash
# The blocks of README that are for Slurm, with fewer ranks.
. "$TOP/tests/slurm/lib.sh"

# paste N: the Nth block of README, with 9 ranks.
paste() {
    awk -v n="$1" -f "$TOP/tests/cli/readme.awk" "$TOP/README.md" |
        sed 's/-n 256/-n 9/; s/--ntasks=65/-n 9/' >block &&
        test -s block && . ./block >out 2>err
}

seq 20 | sed 's/^/echo /' >bag.txt
cp -r "$TOP/jobscripts" .
paste 9
test "$(sort -n out | uniq | xargs)" = "$(seq 20 | xargs)"
ok 'srun runs a bag, and output shows what it wrote'
rm -f bag.txt.bats
paste 10
job=$(sed -n 's/^Submitted batch job //p' out)
await "$job"
test "$(bats-mpi status --left bag.txt)" = 0
ok 'the first job script does'

done_testing
