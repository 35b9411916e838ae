#!/bin/sh
# The scoreboard: five scenarios of table 2.1 x three distributions of runtimes
# x six budgets, policies rr and bats, against the clairvoyant bound.
#
#   sh benchmarks/sim/scoreboard.sh [-o FILE] [SEEDS [KEY=VALUE...]]
#
# SEEDS (default 1-100) is as in a scenario; KEY=VALUE is added to [run]. Every
# run goes into FILE (default build/sim/scoreboard.csv), for compare.sh.
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/sim/bag.sh
build=${B:-build}
mkdir -p "$build/sim" || exit 1
file=$build/sim/scoreboard.csv
[ "$1" = -o ] && file=$2 && shift 2
seeds=${1:-1-100}
[ $# -gt 0 ] && shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# scenario $charge $speed $runtime
scenario() {
    cat <<END
[run]
policy = rr, bats
budget = minimum, minimum+10%, minimum+20%
    fastest-20%, fastest-10%, fastest
seeds = $seeds
END
    [ $# -eq 0 ] || printf '%s\n' "$@"
    bag "$runtime" "$charge" "$speed"
}

: >"$file"
for line in S1-1:3:1 S1-4:3:4 S4-1:12:1 S3-4:9:4 S4-3:12:3; do
    name=${line%%:*}
    charge=${line#*:} charge=${charge%:*}
    speed=${line##*:}
    for runtime in 'normal 15m 2.2360680m' 'levy 12m 45m' mixture; do
        scenario "$@" >"$work/scenario"
        "$build/bats-mpi" simulate "$work/scenario" --csv |
            sed "1d; s/^/$name,${runtime%% *},/" >>"$file" || exit 1
    done
done
awk -F, -f benchmarks/sim/scoreboard.awk "$file"
