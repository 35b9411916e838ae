#!/bin/sh
# What a history is worth: bags that come again, with what those before have left
# in it. See money/past.c.
#
#   sh benchmarks/past.sh [-s SEED] [FILE-OF-BAGS...]     (3 min)
#
# Rules were chosen with the even bags of benchmarks/money/bags.tsv and seed 0;
# these are the odd ones, with seed 77. FILE: bags of users, as with past -u.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} seed=77
[ "$1" = -s ] && seed=$2 && shift 2
mkdir -p "$build/sim" || exit 1
for drift in 1.2 2 5; do
    "$build/bench/money/past" -k 1/2 -s "$seed" -d $drift \
        benchmarks/money/bags.tsv >"$build/sim/past-$drift.csv" || exit 1
    echo "From one bag to the next: a factor of $drift"
    awk -f benchmarks/money/past.awk "$build/sim/past-$drift.csv"
done
"$build/bench/money/past" -k 1/2 -s "$seed" -t \
    benchmarks/money/bags.tsv >"$build/sim/past-deadline.csv" || exit 1
echo "Deadlines at twice the soonest end, with three times the least cost"
awk -f benchmarks/money/past.awk "$build/sim/past-deadline.csv"
for file; do
    "$build/bench/money/past" -u -s "$seed" "$file" \
        >"$build/sim/past-users.csv" || exit 1
    echo "Bags of users: ${file##*/}"
    awk -f benchmarks/money/past.awk "$build/sim/past-users.csv"
done
