#!/bin/bash
# Clusters, charges, budget and deadline are found in a Slurm job. The charges
# are held against Slurm's own bill.
. "$TOP/tests/slurm/lib.sh"

# has LINE...: each is a line of out, but for the number of blanks.
has() {
    tr -s ' ' <out >squeezed
    local line
    for line; do
        grep -qFx "$line" squeezed || note_failure 1 "no line: $line"
    done
}
# step SRUN-OPTION... -- ARGUMENT...: bats-mpi clusters.
step() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    srun --mpi=pmix "${options[@]}" bats-mpi clusters "${@:2}" >out 2>err
}

# Two CPUs of each node, one per rank; the first rank of fast1 is the master.
step -p fast -N2 -n6 --ntasks-per-node=3 -- --ranks
has 'fast 5 5 8 40' 'fast: fast[1-2]' \
    ' machine rank: the job does not hold whole nodes' \
    'budget unlimited: no end of the job is known' \
    'Slurm job 1, billed 48 per hour for all that it holds'
test "$(grep -c '^ *[0-5]  fast[12]  ' out)" -eq 6
has " 0 fast1 0 0 $(tail -n 1 squeezed | cut -d' ' -f6 | tr -d ,)"
# Rank 0 needs no share.
finds out '^ *1  fast1 .*, shared by 2 ranks$' '^ *5  fast2 .*, shared by 3 ranks$'
ok 'a rank charges the part of a node that it holds'

whole='-p slow -w slow[1-2] --exclusive -t 150 -N2 -n4'
step $whole --
has 'slow 2 3 192 384' ' machine node: the job holds whole nodes' \
    'Slurm job 2, billed 384 per hour for all that it holds' \
    'window 1h: default'
grep -q '^budget *960 billing-h: ' out # 2.5 hours
step $whole -- --json
holds '(.clusters[0] | .name == "slow" and .machines == 2 and .slots == 3 and
    .charge == "192" and .machine == "node" and .hosts == "slow[1-2]") and
    .window_s == 3600 and .budget == "960" and .currency == "billing-h" and
    (.slurm.billing_per_hour | tonumber) == 384 and .end_s > 1e9 and
    [.ranks[] | "\(.rank):\(.host)"] == ["0:slow1", "1:slow1", "2:slow2", "3:slow2"]' out
ok 'whole nodes are machines; the budget is their worth until the end'
step $whole -- --machine rank --window 30m --budget 7
has 'slow 3 3 48 144' ' machine rank: --machine' 'window 30m: --window' \
    'budget 7 billing-h: --budget'
ok 'unless the user says otherwise'

# t0008 has accounts; the testbed keeps none.
exits 2 '--budget account: this Slurm keeps no accounts' \
    step -A phys $whole -- --budget account
test ! -s out
ok 'where Slurm keeps no accounts there is no budget by account'

# Both at once: whole nodes of one partition, a few CPUs of the other.
cat >job.sh <<'SH'
#!/bin/bash
#SBATCH --partition=fast -N2 -n3 --exclusive --time=10
#SBATCH hetjob
#SBATCH --partition=slow -n4 --time=200
cd "$BED"
step() { srun --mpi=pmix --het-group=0,1 bats-mpi "$@"; }
step clusters -c missing.ini >none 2>missing
[ $? -eq 2 ] || exit 9
step clusters --save saved.ini >out 2>err &&
step clusters --clusters saved.ini >again 2>>err &&
step bag --time-scale 3600 --quiet --json found.json 2>>err &&
step bag --time-scale 3600 --quiet --json read.json -c saved.ini 2>>err
SH
yes '@sleep 10m' | head -n 50 >bag
submit -o job.out job.sh || { cat job.out >>err; false; }
test ! -s none
grep -q '^bats-mpi: missing.ini: No such file or directory$' missing
ok 'a heterogeneous job runs without a clusters file; one that is missing is named'
has 'fast 2 2 512 1024' 'slow 4 4 3 12' 'total 6 6 1036' 'fast: fast[1-2]' \
    'slow: slow1' ' machine node: the job holds whole nodes' \
    ' machine rank: the job does not hold whole nodes'
grep -q 'billed 1036 per hour' out
ok 'its partitions are clusters, each with its machines and charges'
head -n 4 out | diff - <(head -n 4 again) >>err
for file in found read; do
    test "$(jq -r '.clusters[] | "\(.name) \(.charge) \(.machines)"' $file.json |
        xargs)" = 'fast 512 2 slow 3 4'
done
ok 'what was saved is read back, and a run with it is charged the same'

# With its own allocation srun has other names for the components.
ini '[cluster fast]; partition = fast; charge = 8' \
    '[cluster slow]; partition = slow; charge = 3' >parts.ini
# Slurm 22.05's srun of two components may wait for ever: for its own child
# before a rank begins, or for a thread of its PMIx plugin when all have left.
for limit in 20 20 20 30 60 60; do
    code=0
    timeout -s KILL $limit srun --mpi=pmix -p fast -n3 \
        bats-mpi clusters -c parts.ini : -p slow -n2 \
        bats-mpi clusters -c parts.ini >out 2>err || code=$?
    [ $code -eq 137 ] || break
    scancel --name=bats-mpi
done
test $code -eq 0
has 'fast 2 2 8 16' 'slow 2 2 3 6' 'fast: fast1' 'slow: slow1'
ok 'a heterogeneous srun outside of a job knows its partitions, too'

# The rest of the job after earlier sessions is worth no less for them.
cat >limit.sh <<'SH'
#!/bin/bash
#SBATCH -p slow --exclusive -N1 -n2 --time=3
cd "$BED"
run() { srun --mpi=pmix bats-mpi long --time-scale 600 --json "$@"; }
run 1.json --time-limit 90m; echo $? >codes
run 2.json --resume; echo $? >>codes
SH
yes '@sleep 1h' | head -n 3 >long
submit -o job.out limit.sh
cp job.out err
consists codes 5 0
grep -q 'the Slurm job ends at 20' err
ok 'a run knows when its job ends, and a session resumes in it'
# Up to 30 windows of an hour in three minutes, at 192.
holds '.budget | tonumber | . <= 5760 and . > 2880' 1.json
spent=$(json .charged 1.json)
holds ".budget | tonumber | . <= 5760 + $spent and . > 192 + $spent" 2.json
ok 'the budget of a session that resumes is its own'

# Without Slurm's commands.
printf '#!/bin/sh\necho "no such thing" >&2; exit 1\n' >scontrol
chmod +x scontrol
PATH=$BED:$PATH step -p fast -N1 -n2 --
finds out '^Slurm *does not say what job .* holds: .*no such thing' \
    'charge *[0-9]* core-h per window: 1 per core-hour, '
PATH=$BED:$PATH exits 2 'Slurm has no information about job [0-9]* (.*no such thing' \
    step -p fast -N1 -n2 -- --budget account
test ! -s out
ok 'where Slurm does not tell, a core-hour is 1, the account unknown, and it is said'
done_testing
