#!/bin/bash
# From a sample to the job script of a schedule, and to the end of its job.
. "$TOP/tests/slurm/lib.sh"

# The script as it is, but for the number of ranks: 4 machines in each
# partition. An hour takes 5 s.
sed 's/--ntasks=9/--ntasks=5/; s/--ntasks=8/--ntasks=4/' \
    "$TOP/jobscripts/sample-first.sh" >sample.sh
yes '@sleep 15m' | head -n 120 >bag.txt
submit -o sample.out sample.sh bag.txt balanced --time-scale 720
cp sample.out err
grep -q '^Submitted batch job' err
cp bag.txt.sh plan.sh
cp plan.sh out
bats-mpi plan bag.txt.profile --sbatch balanced 2>table | cmp - plan.sh
ok 'sample-first.sh takes a sample and submits the job that plan --sbatch writes'

# Machines of each cluster, by the table, and a rank for the master.
awk '$1 == "schedule" { for (i = 2; $i != "ends"; i++) name[i + 1] = $i }
    $2 == "balanced" { for (i in name) if ($i != "-")
        print name[i], $i }' table | sort |
    awk '{ print $1, $2 + (NR == 1) }' >wanted
test -s wanted
grep -q '^bats-mpi: as a job, which is billed for all that it holds:' table
sed -n 's/^#SBATCH --partition=\([a-z]*\) --ntasks=\([0-9]*\)$/\1 \2/p' \
    plan.sh | diff wanted - >>err
ok 'it asks for the machines of the schedule, and one rank for the master'

job=$(sed -n 's/^Submitted batch job //p' sample.out)
await $job
cat bag-*.out >err
scontrol show job $job >out
expect 1 grep -q 'JobState=TIMEOUT' out
ok 'its job ends within its time, with all tasks done'
# Slurm bills so much per hour; "# billed 109.72 billing-h in 3h3m, at most ..."
rate=$(grep '^ *TRES=' out | sed -n 's/.*billing=\([0-9]*\).*/\1/p' |
    awk '{ n += $1 } END { print n }')
sed -n 's/^# billed \([0-9.]*\) billing-h in \([0-9]*\)h\([0-9]*\)m.*/\1 \2 \3/p' \
    plan.sh | awk -v rate="$rate" '{ cost = rate * ($2 + $3 / 60)
        good = $1 >= cost - rate / 60 && $1 <= cost + rate / 60 }
    END { exit !good }'
test "$(grep -c -- --time= plan.sh)" -eq "$(wc -l <wanted)"
grep -q "^charged .* of the budget of $(sed -n \
    's/.*--budget \([0-9.]*\).*/\1/p' plan.sh) billing-h" err
ok "it costs what it says at Slurm's own rate, and is charged no more"
progress() { sql bag.txt.bats 'SELECT done, sessions FROM progress'; }
test "$(progress)" = '120|2'
# After the loss of a rank srun may exit with 137 at the end of a whole run.
mkdir bin
printf '#!/bin/sh\n%s "$@"\nexit 137\n' "$(command -v srun)" >bin/srun
chmod +x bin/srun
PATH=$BED/bin:$PATH submit -o again.out bag.txt.sh --time-scale 720
cp again.out err
test "$(progress)" = '120|3'
ok 'what was done is not done again; it asks the record what srun does not say'
expect 2 bats-mpi plan bag.txt.profile --sbatch 9 >out 2>err
ok 'a schedule that is not there is refused'
done_testing
