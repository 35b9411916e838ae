#!/bin/sh
# The job scripts, as sbatch runs them.
cd "$TOP" || exit 1
[ -n "${BED-}" ] || exec sh tests/slurm/testbed.sh sh "$0"

echo 1..4
ok() { # COMMAND-RESULT NUMBER NAME
    if [ "$1" -eq 0 ]; then
        echo "ok $2 - $3"
    else
        echo "not ok $2 - $3"
        cat bag-*.out 2>/dev/null | sed 's/^/# /'
    fi
}
cd "$BED" || exit 1
PATH=$(dirname "$BATS_MPI"):$PATH

for i in $(seq 20); do echo "echo task $i of 20"; done >bag.txt

sbatch --wait -N4 -n9 "$TOP/jobscripts/simple.sh" >submitted
ok $? 1 'simple.sh runs the bag in the current directory'
test "$(grep -c '^task [0-9]* of 20$' bag-*.out)" -eq 20
ok $? 2 'what the tasks print is in the output of the job'
rm -f bag-*.out

{ cat bag.txt; echo 'exit 7'; } >failing.txt
sbatch --wait -N4 -n9 "$TOP/jobscripts/simple.sh" failing.txt >submitted
test $? -eq 1
ok $? 3 'the job fails when a task fails'
rm -f bag-*.out

sed 's/^\(#SBATCH.*--ntasks\)=33/\1=5/; s/^\(#SBATCH.*--ntasks\)=32/\1=4/' \
    "$TOP/jobscripts/two-partitions.sh" >two.sh
BUDGET=100 sbatch --wait two.sh >submitted &&
    grep -q 'nodes = slow' clusters-*.ini
ok $? 4 'two-partitions.sh runs the bag on both'
