#!/bin/sh
# Gains of copies of the last tasks in real runs: 65 ranks on this machine,
# three emulated clusters of speed 1, 3 and 2, and bags of built-in sleeps whose
# durations are Levy's, scale 12 minutes, cut off at 45. Every bag is run with
# --tail none and with the default, the tasks being drawn in the same order.
# Five minutes last a second (SCALE 300). Prints makespans in bag time. With 300
# tasks the bag is empty well before the first windows end.
#
#   sh benchmarks/tail/ranks.sh [SEEDS [TASKS [SCALE]]]     default 3 300 300
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=${B:-build}
seeds=${1:-3}
tasks=${2:-300}
scale=${3:-300}
out=$build/bench/tail/ranks
mkdir -p "$out" || exit 1

cat >"$out/clusters.ini" <<END
[run]
window = 60m
[cluster A]
ranks = 1-24
charge = 3
speed = 1
[cluster B]
ranks = 25-44
charge = 12
speed = 3
[cluster C]
ranks = 45-64
charge = 3
speed = 2
END

bag() { # SEED: x = scale / z^2 with z normal (Box and Muller)
    perl -e 'srand shift;
        for (my $n = shift; $n > 0;) {
            my $z = sqrt(-2 * log(1 - rand)) * cos(6.283185307179586 * rand);
            my $x = $z == 0 ? 1e9 : 12 * 60 / $z**2;
            if ($x <= 45 * 60) { printf "\@sleep %.3f\n", $x; $n-- }
        }' "$1" "$tasks"
}

play() { # SEED OPTION...: minutes, copies, copies that came first, charge
    seed=$1
    shift
    "$build/bats-mpi" run -j 64 "$out/bag.txt" --policy rr --quiet \
        --no-record --clusters "$out/clusters.ini" --time-scale "$scale" \
        --seed "$seed" --json "$out/run.json" "$@" >/dev/null || exit
    perl benchmarks/json.pl "$out/run.json" makespan_s copies copies_first \
        charged tasks_done | xargs
}

echo "$tasks tasks on 64 workers, 5 min in $(echo "$scale" | awk '{ print 300 / $1 }') s"
printf '%4s %10s %10s %8s %16s %9s %9s\n' \
    seed none copies gain 'copies (first)' 'charge' 'copies'
for seed in $(seq "$seeds"); do
    bag "$seed" >"$out/bag.txt"
    none=$(play "$seed" --tail none) || exit
    with=$(play "$seed") || exit
    echo "$seed $none $with" | awk -v tasks="$tasks" '
        $6 != tasks || $11 != tasks { print "tasks are missing"; exit 1 }
        { printf "%4d %6.1f min %6.1f min %6.1f %% %10d (%3d) %9s %9s\n", $1,
              $2 / 60, $7 / 60, 100 * (1 - $7 / $2), $8, $9, $5, $10 }' || exit
done
