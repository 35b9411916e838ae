#!/bin/bash
# The job scripts, as sbatch runs them, and the blocks of README for Slurm.
. "$TOP/tests/slurm/lib.sh"
scripts=$TOP/jobscripts

for i in $(seq 20); do echo "echo task $i of 20"; done >bag.txt
submit -N4 -n9 "$scripts/simple.sh"
test "$(grep -c '^task [0-9]* of 20$' bag-*.out)" -eq 20
test "$(cat bag-*.joblog | wc -l)" -eq 21
rm -f bag-*.out
{ cat bag.txt; echo 'exit 7'; } >failing.txt
expect 1 submit -N4 -n9 "$scripts/simple.sh" failing.txt
ok 'simple.sh runs the bag in the current directory, and fails when a task fails'
rm -f bag-* bag.txt.bats*

# The script as it is, but for the number of ranks; the clusters file that
# stands in its comment.
sed -n '/^#   \[run\]/,/^#$/s/^#  *//p' "$scripts/two-partitions.sh" >clusters.ini
sed 's/^\(#SBATCH.*--ntasks\)=33/\1=5/; s/^\(#SBATCH.*--ntasks\)=32/\1=4/' \
    "$scripts/two-partitions.sh" >two.sh
# A srun that does not return, once. The step takes longer than the patience.
yes 'sleep 2' | head -n 20 >bag.txt
mkdir bin
cat >bin/srun <<SH
#!/bin/sh
[ -e "$BED/hung" ] && exec $(command -v srun) "\$@"
touch "$BED/hung"
$(command -v srun) "\$@"
exec sleep 1000
SH
chmod +x bin/srun
sed -i 's/while sleep 10/while sleep 0.5/' two.sh
BUDGET=100 PATH=$BED/bin:$PATH submit two.sh
test -e hung
test "$(sql bag.txt.bats 'SELECT done, sessions FROM progress')" = '20|2'
test "$(grep -c . bag-*.joblog)" -eq 21
test "$(cut -f2 bag-*.joblog | sort -u | xargs)" = 'Host fast1 slow1'
ok 'two-partitions.sh runs in both; a srun that has no step any more does not hold it'
rm -f bag-* bag.txt.bats*

for i in $(seq 20); do echo "echo $i >>ran; test $i -ne 9"; done >bag.txt
expect 1 submit -N4 -n5 "$scripts/resume.sh"
sort -n ran | diff - <(seq 20)
sed -i '9s/-ne 9/-eq 9/' bag.txt
submit -N4 -n5 "$scripts/resume.sh"
test "$(wc -l <ran)" -eq 21
test "$(tail -n 1 ran)" = 9
ok 'resume.sh runs a bag, and goes on with what is left, or new'
rm -f bag.txt.bats*

# paste N: the Nth block of README, with 9 ranks.
paste() {
    awk -v n="$1" -f "$TOP/tests/cli/readme.awk" "$TOP/README.md" |
        sed 's/-n 256/-n 9/; s/--ntasks=65/-n 9/' >block &&
        test -s block && . ./block >out 2>err
}
seq 20 | sed 's/^/echo /' >bag.txt
cp -r "$scripts" .
paste 9
consists <(sort -nu out) {1..20}
ok 'srun runs a bag, and output shows what it wrote'
rm -f bag.txt.bats
paste 10
await "$(sed -n 's/^Submitted batch job //p' out)"
test "$(bats-mpi status --left bag.txt)" = 0
ok 'the first job script does'
done_testing
