#!/bin/bash
# compare.sh [BAGS]: the same bags (default 3) as jobs of alloc, in one
# allocation with the policies rr and bats, and as an array of sbatch, one task
# each. Money and time by sacct; idle: the share of what was billed in which no
# task ran.
. "${TOP:-$PWD}/benchmarks/alloc/lib.sh"
RANDOM=${SEED-1}
slots=4 nodes=4
ended() { ! sacct -X -n -P -j "$1" -o End,State | grep -qE 'Unknown|RUNNING'; }
# row NAME BAG JOBS BUSY: BUSY: seconds that its tasks ran, on 8 a second each.
row() {
    within 60 ended "$3"
    sacct -X -n -P -j "$3" -o Submit,End | sort >times
    perl -MTime::Local -e '
        my ($name, $bag, $billed, $busy) = @ARGV;
        sub t { my ($Y, $m, $d, $H, $M, $S) = split /[-T:]/, shift;
                timegm($S, $M, $H, $d, $m - 1, $Y) }
        my ($first, $last) = (9e99, 0);
        while (<STDIN>) { chomp; my ($s, $e) = split /\|/;
            $first = t($s) if t($s) < $first; $last = t($e) if t($e) > $last }
        printf "%-5s %-12s %8.4f billing-h %5d s  idle %3.0f %%\n", $bag, $name,
            $billed, $last - $first, 100 * (1 - $busy * 8 / 3600 / $billed)' \
        "$1" "$2" "$(billing "$3")" "$4" <times
}
busy_of() { awk 'NR > 1 { sum += $4 } END { print sum }' "$1"; }
for n in $(seq "${1-3}"); do
    bag=bag$n
    awk -v seed=$RANDOM 'BEGIN { srand(seed)
        for (i = 0; i < 160; i++) {
            z = sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand())
            printf "sleep %.2f\n", exp(0.2 + 0.8 * z) } }' >$bag
    # Their time, one after the other.
    need=$(awk '{ sum += $2 } END { print sum }' $bag)
    echo "$bag: 160 tasks, $need s in all, the longest $(sort -k2n $bag |
        tail -n 1 | cut -d' ' -f2) s"
    alloc $bag -p fast --slots $slots --max-jobs $nodes --window 30s \
        --joblog jl --no-replicate
    row alloc $bag "$(jobs_of $bag)" "$(busy_of jl)"
    for policy in rr bats; do
        job=$(sbatch --parsable -p fast -N $nodes -n $((nodes * slots + 1)) \
            --time=5 -o /dev/null --wrap "srun --mpi=pmix bats-mpi $bag \
            --record $bag.$policy --policy $policy --joblog jl.$policy \
            --no-replicate")
        await "$job" 1200
        row "$policy" $bag "$job" "$(busy_of jl.$policy)"
    done
    job=$(sbatch --parsable -p fast -n 1 --time=5 --array=1-160%$((nodes * slots)) \
        -o /dev/null --wrap "sed -n \${SLURM_ARRAY_TASK_ID}p $bag | sh")
    until [ "$(squeue -h -j "$job" -o %i 2>/dev/null | wc -l)" -eq 0 ]; do
        sleep 1
    done
    row array $bag "$job" "$need"
done
