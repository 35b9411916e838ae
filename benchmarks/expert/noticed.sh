#!/bin/bash
# Gains from learning of a loss soon, on the mixture of ExPERT (mixture.sh): the
# policy expert, where a lost execution is silent until it is given up, and
# where the run is told of it after an hour, 10 minutes, 1 minute and 10
# seconds. Prints tables and draws benchmarks/plots/expert-noticed.svg.
#
#   bash benchmarks/expert/noticed.sh [SEEDS]     default 200
cd "$(dirname "$0")/../.." || exit 1
plots=$(realpath benchmarks)
. benchmarks/expert/mixture.sh
seeds=${1:-200}
: >noticed.tsv

table() { # TITLE LOSSES CHARGE_LOST
    echo "$1"
    echo
    echo '| | silent | 1 h | 10 min | 1 min | 10 s |'
    echo '|---|--:|--:|--:|--:|--:|'
    for how in strategy=AUR strategy=TR 'strategy=N=3,T=1x,D=2x,Mr=0.02' \
        utility=cheapest utility=product utility=fastest; do
        printf '| %s |' "${how#*=}"
        for told in 999h 1h 10m 1m 10s; do
            line="noticed = $told\n"
            [ $told != 999h ] || line=
            mixture "billing = use\npolicy = expert\nseeds = 1-$seeds\n$(
                echo "${how%%=*}") = ${how#*=}" \
                "$2\n${line}charge_lost = $3" >scenario
            read -r n bad time dt cost dc <<<"$(play scenario)"
            printf ' %d ± %d; %.1f ± %.1f |' "$time" "$dt" "$cost" "$dc"
            [ "$bad" = 0 ] || echo "$bad of $n undone" >&2
            printf '%s\t%s\t%s\t%s\t%s\n' "$1" "${how#*=}" $told "$time" \
                "$cost" >>noticed.tsv
        done
        echo
    done
    echo
}

table 'Lost at the start, free' "$at_start" no
table 'Lost on the way, free' "$on_the_way" no
table 'Lost on the way, charged' "$on_the_way" yes
gnuplot -e "file='noticed.tsv'; out='$plots/plots/expert-'" \
    "$plots/expert/noticed.gp"
