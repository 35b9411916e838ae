#!/bin/sh
# make demo-workflow: a workflow within a budget, on machines of which one is
# taken away.
#
#   sh benchmarks/demo/workflow.sh [RADII [BUDGET [MINUTES]]]
#
# Default: 6 radii, 50 SU, and a map takes 4.5 minutes.
#
# A cross-validation as a Makeflow: Fisher's Iris flowers are shuffled, each of
# two orders is turned into three folds, a map is trained for each fold and each
# set of parameters, their means are compared, and a map with the best ones is
# made of all flowers. `make` then makes the same file elsewhere, and the
# results are compared byte by byte.
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=$(cd "${B:-build}" && pwd) || exit 1
demo=$PWD/benchmarks/demo
radii=${1:-6}
budget=${2:-50}
minutes=${3:-4.5}
out=$build/demo-workflow
rm -rf "$out"
mkdir -p "$out/make" || exit 1

# rule TARGET SOURCES COMMAND
rule() {
    printf '%s: %s\n\t%s >%s\n' "$1" "$2" "$3" "$1"
}

# Makeflow and make both understand it: rules of one target and one command.
makeflow() {
    printf '%s\n' "SOM=$build/apps/som" "MEAN=$demo/mean.awk" \
        "DATA=$PWD/benchmarks/apps/iris.csv"
    echo 'CATEGORY=fold'
    folds=
    for s in 1 2; do
        rule "order-$s" '$(DATA)' "{ sed -n 1p \$(DATA); sed '1,${s}d' \
\$(DATA) | shuf --random-source=\$(DATA); sed '2,$s!d' \$(DATA); }"
        for k in 1 2 3; do
            # som keeps every third flower out: another third for each k.
            rule "fold-$s-$k" "order-$s" "{ sed -n 1p order-$s; \
sed '1,${k}d' order-$s; sed '2,$k!d' order-$s; }"
            folds="$folds $s-$k"
        done
    done
    means=
    for rate in 0.1 0.3 0.5 0.7 0.9; do
        for radius in $(seq "$radii"); do
            p=$rate-$radius
            trained=
            echo 'CATEGORY=train'
            for fold in $folds; do
                rule "trained-$p-$fold" "fold-$fold" "\$(SOM) --data \
fold-$fold --iterations 60000 --rate $rate --radius $radius"
                trained="$trained trained-$p-$fold"
            done
            echo 'CATEGORY=mean'
            rule "mean-$p" "$trained" "awk -f \$(MEAN)$trained"
            means="$means mean-$p"
        done
    done
    echo 'CATEGORY=best'
    rule ranking "$means" "LC_ALL=C sort -k1,1nr -k2,2n -k3,3n$means"
    rule map ranking "sed -n '1s/.* \(.*\) \(.*\)/--rate \1 --radius \2/p' \
ranking | xargs \$(SOM) --data \$(DATA) --iterations 200000 --map"
}
makeflow >"$out/Makeflow"
cp "$out/Makeflow" "$out/make"
tasks=$(grep -c : "$out/Makeflow")

# The time of a map on this machine as it is now, to be seen as so many minutes.
# (On a busy machine it takes longer now than it does later.)
for i in $(seq 32); do
    echo "$build/apps/som --data benchmarks/apps/iris.csv --iterations 60000"
done >"$out/some.txt"
"$build/bats-mpi" run -j 8 "$out/some.txt" --policy rr --quiet \
    --clusters "$demo/clusters.ini" --json "$out/some.json" >/dev/null || exit
scale=$(sed -n 's/.*"mean_runtime_s": \([0-9.]*\).*/\1/p' "$out/some.json" |
    awk -v m="$minutes" 'NR == 1 { printf "%.0f", 60 * m / $1 }')

cat <<TEXT
A cross-validation: $tasks commands, most of which train a self-organising map on
two thirds of Fisher's Iris flowers and test it on the rest. Two partitions of
4 machines each:

    spot      1 SU for a machine and hour; one of four is taken away
    express   8 SU, but twice as fast

Budget $budget SU: too little for all machines, and more than the cheap ones need.
(Emulated on this machine: an hour passes in $(
    awk -v s="$scale" 'BEGIN { printf "%.1f", 3600 / s }') s.)

\$ cd $out
\$ $build/bats-mpi run -j 8 Makeflow \\
      --clusters $demo/workflow.ini --budget $budget \\
      --time-scale $scale --seed 15

TEXT
cd "$out" || exit 1
"$build/bats-mpi" run -j 8 Makeflow --clusters "$demo/workflow.ini" \
    --budget "$budget" --time-scale "$scale" --seed 15 --grace 10ms \
    --json run.json
status=$?
"$build/bats-mpi" report Makeflow 2>/dev/null &&
    printf '\nWhat it did, as a page for your browser: %s\n' \
        "$out/Makeflow.html"
case $status in
0) ;;
4)
    printf '\nThis machine got busier meanwhile: the budget was too small.\n'
    exit 0
    ;;
*) exit $status ;;
esac

printf '\nThe best parameters of %s (mean accuracy, its spread, error in cm):\n' \
    "$(wc -l <ranking)"
head -n 5 ranking | awk '{ printf "%8s %8s %10s %8s %8s\n", $4, $5, $1, $2, $3 }'
make -s -j "$(nproc)" -C make -f Makeflow map >/dev/null || exit
for file in $(sed -n 's/:.*//p' Makeflow); do
    cmp "$file" "make/$file" || exit
done
printf '\nAll %s files are as `make -f Makeflow map` makes them.\n' "$tasks"
