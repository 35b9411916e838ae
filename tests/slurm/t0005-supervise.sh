#!/bin/sh
# Jobs that change while they run: nodes are given back, or lost.
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" sh "$0"
. "$TOP/tests/slurm/lib.sh"

cat >clusters.ini <<'INI'
[run]
window = 60m
[cluster fast]
nodes = fast[1-4]
charge = 30
machine = node
[cluster slow]
nodes = slow[1-4]
charge = 3
machine = node
INI
field() {
    perl -MJSON::PP -0777 -e 'my $r = decode_json(<STDIN>);
        print $r->{$ARGV[0]}' "$1" <"$2"
}

# The script as it is, but for the number of ranks. 300 tasks of 10 minutes,
# 0.5 s of real time; the money is enough for the slow nodes only.
sed 's/^\(#SBATCH.*--ntasks-per-node\)=16/\1=2/' \
    "$TOP/jobscripts/supervise.sh" >supervise.sh
for i in $(seq 300); do echo '@sleep 10m'; done >bag.txt
submit -p all supervise.sh bag.txt --time-scale 1200 -c clusters.ini \
    --budget 260 --restart 1h --joblog joblog --json report
code=$?
cp bag-$job.out err
scontrol show job $job >out
test $code -eq 0
ok 'supervise.sh runs a bag to its end'
test "$(awk 'NR > 1 { print $1 }' joblog | sort -n | uniq | wc -l)" -eq 300 &&
    test "$(tail -n +2 joblog | wc -l)" -eq 300
ok 'every task has one result'
grep -q 'NodeList=fast1,slow\[1-4\]' out && grep -q 'NumNodes=5 ' out
ok 'nodes that the plan did without were given back'

# What all nodes would have cost for the whole time: 132 per window.
hours=$(sqlite3 bag.txt.bats 'SELECT (max(started_us + ended_us / time_scale) -
    min(started_us)) * time_scale / 3600e6 FROM session')
perl -MJSON::PP -0777 -e '
    my $r = decode_json(<STDIN>);
    my $all = 132 * $ARGV[0];
    print "charged $r->{charged} reserved $r->{reserved} of $all\n";
    exit !($r->{charged} <= 260 && $r->{reserved} < 0.8 * $all);
    ' "$hours" <report >out
ok 'which the batch system does not bill'
grep -q 'nodes are given back, those kept have fast 1, slow 4' err &&
    bats-mpi record verify bag.txt >out 2>&1 &&
    test "$(grep -c 'the engine decides the same again' out)" -ge 2
ok 'the decision is the engine'"'"'s, on record, and can be proved'
# ---- nodes are lost ----

echo SlurmdTimeout=6 >>"$SLURM_CONF"
scontrol reconfigure
rm -f joblog report
for i in $(seq 300); do echo "sleep 1; echo $i >>ran"; done >lossy.txt
lossy() {
    sbatch --parsable -p all supervise.sh lossy.txt --silence 5s \
        --joblog joblog
}
some_have_run() {
    test -s ran && test "$(wc -l <ran)" -ge "$1"
}
# once N: N tasks have one result each, and what had one did not run again.
once() {
    tail -n +2 joblog | cut -f1 | sort -n | diff - numbers &&
        sqlite3 lossy.txt.bats 'SELECT done FROM progress' | grep -qx 300 &&
        test -z "$(sqlite3 lossy.txt.bats 'SELECT task FROM attempt
            WHERE outcome = 0 GROUP BY task HAVING count(*) > 1')"
}
seq 300 >numbers
job=$(lossy)
within 60 some_have_run 30
kill -KILL "$(cat "$BED/node.fast2")"
within 120 some_have_run 150
ip link set slow3 down
await "$job" 1200
code=$?
{ cat bag-$job.out; sinfo; cat hosts 2>/dev/null; } >err
scontrol show job "$job" >out
test $code -eq 0
ok 'a node dies, another one is cut off: the job goes on to its end'
once
ok 'no task that had ended is lost or run again'
test "$(sqlite3 lossy.txt.bats 'SELECT count(*) FROM session')" -ge 2 &&
    ! grep -q ' NodeList=.*fast\[1-' out
ok 'on the nodes that are left, in a new step'
done_testing
