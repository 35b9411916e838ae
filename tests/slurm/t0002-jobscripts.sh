#!/bin/sh
# The job scripts, as sbatch runs them.
cd "$TOP" || exit 1
[ -n "${BED-}" ] || exec sh tests/slurm/testbed.sh sh "$0"

echo 1..8
ok() { # COMMAND-RESULT NUMBER NAME
    if [ "$1" -eq 0 ]; then
        echo "ok $2 - $3"
    else
        echo "not ok $2 - $3"
        cat bag-*.out 2>/dev/null | sed 's/^/# /'
    fi
}
# submit ARGUMENT...: sbatch, waits and exits as the job does. (sbatch --wait
# looks only every few seconds.)
submit() {
    job=$(sbatch --parsable "$@") || return
    until scontrol show job "$job" | \
        grep -qE 'JobState=(COMPLETED|FAILED|CANCELLED)'; do
        sleep 0.1
    done
    return "$(scontrol show job "$job" |
        sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p' | head -n 1)"
}
cd "$BED" || exit 1
PATH=$(dirname "$BATS_MPI"):$PATH

for i in $(seq 20); do echo "echo task $i of 20"; done >bag.txt

submit -N4 -n9 "$TOP/jobscripts/simple.sh"
ok $? 1 'simple.sh runs the bag in the current directory'
test "$(grep -c '^task [0-9]* of 20$' bag-*.out)" -eq 20
ok $? 2 'what the tasks print is in the output of the job'
test "$(cat bag-*.joblog | wc -l)" -eq 21
ok $? 3 'the joblog has a line for each task'
rm -f bag-*.out

{ cat bag.txt; echo 'exit 7'; } >failing.txt
submit -N4 -n9 "$TOP/jobscripts/simple.sh" failing.txt
test $? -eq 1
ok $? 4 'the job fails when a task fails'
rm -f bag-*

# The script as it is, but for the number of ranks; the clusters file that
# stands in its comment.
sed -n '/^#   \[run\]/,/^#$/s/^#  *//p' "$TOP/jobscripts/two-partitions.sh" \
    >clusters.ini
sed 's/^\(#SBATCH.*--ntasks\)=33/\1=5/; s/^\(#SBATCH.*--ntasks\)=32/\1=4/' \
    "$TOP/jobscripts/two-partitions.sh" >two.sh
for i in $(seq 20); do echo "sleep 0.2"; done >bag.txt
BUDGET=100 submit two.sh
ok $? 5 'two-partitions.sh runs the bag'
test "$(cut -f2 bag-*.joblog | sort -u | tr '\n' ' ')" = 'Host fast1 slow1 '
ok $? 6 'it runs tasks in both partitions'
rm -f bag-*

for i in $(seq 20); do echo "echo $i >>ran; test $i -ne 9"; done >bag.txt
submit -N4 -n5 "$TOP/jobscripts/resume.sh"
test $? -eq 1 && test "$(sort -n ran | tr '\n' ' ')" = "$(seq -s ' ' 20) "
ok $? 7 'resume.sh runs a bag'
sed -i '9s/-ne 9/-eq 9/' bag.txt
submit -N4 -n5 "$TOP/jobscripts/resume.sh"
test $? -eq 0 && test "$(wc -l <ran)" -eq 21 && test "$(tail -n 1 ran)" = 9
ok $? 8 'and goes on with what is left, or new'
