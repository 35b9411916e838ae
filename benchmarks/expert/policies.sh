#!/bin/bash
# Five policies and the static strategies where machines may not answer, on
# mixtures like ExPERT's (mixture.sh), simulated. rr, bats, bkp and dbc stop
# what has run for 4 times the mean (rr also 2 times) and try again without end;
# where windows are charged, losses are.
#
# A cell: makespan in 1000 s and charge, means with half their 95 % intervals; *
# where no other one of the column is as soon and as cheap.
#
#   bash benchmarks/expert/policies.sh [SEEDS]     default 100; some minutes
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/expert/mixture.sh
seeds=${1:-100}
: >policies.tsv

# NUMBER: gamma, reliable machines, how soon a loss is noticed
columns=7
column() {
    case $1 in
    1) echo 0.827 5 never ;;
    2) echo 0.827 15 never ;;
    3) echo 0.827 25 never ;;
    4) echo 0.827 0 never ;;
    5) echo 0.6 5 never ;;
    6) echo 0.95 5 never ;;
    7) echo 0.827 5 10s ;;
    esac
}

one() { # COLUMN NAME RUN [charged]
    read -r gamma reliable noticed <<<"$(column "$1")"
    local cheap="reliability = $gamma"
    [ "$noticed" = never ] || cheap="$cheap\nnoticed = $noticed"
    [ -n "${4-}" ] || cheap="$cheap\ncharge_lost = no"
    mixture "seeds = 1-$seeds\n$3" "$cheap" "$reliable" >scenario
    printf '%d\t%s\t%s\n' "$1" "$2" "$(play scenario)" >>policies.tsv
}

use='billing = use\n'
again='timeout = 8264s\nretries = 255'
for c in $(seq $columns); do
    for how in utility=product utility=fastest utility=cheapest strategy=AUR \
        strategy=TR strategy=TRR strategy=CNinf strategy=CN1T0 strategy=AR; do
        [ "$c" != 4 ] || [[ $how =~ utility|AUR|CNinf ]] || continue
        one "$c" "expert, ${how#*=}" \
            "${use}policy = expert\n${how%%=*} = ${how#*=}"
    done
    one "$c" rr "${use}policy = rr\n$again"
    one "$c" 'rr, timeout 2 T_ur' \
        "${use}policy = rr\ntimeout = 4132s\nretries = 255"
    one "$c" dbc-cost "${use}policy = dbc-cost\n$again"
    one "$c" 'bats, use' "${use}policy = bats\n$again"
    one "$c" 'bats, windows, soonest' "policy = bats\n$again" yes
    one "$c" 'bats, windows, no tail' "policy = bats\ntail = none\n$again" yes
    one "$c" 'bkp, windows, soonest' "policy = bkp\n$again" yes
done

awk -F'[\t ]' -v columns=$columns '
    function cell(k) {
        return sprintf("%.1f ± %.1f; %.0f ± %.0f%s%s", t[k] / 1000,
            dt[k] / 1000, c[k], dc[k], best[k] ? " *" : "",
            bad[k] ? sprintf(" (%d undone)", bad[k]) : "") }
    { # the name may have blanks
        name = $2
        for (i = 3; i <= NF - 6; i++)
            name = name " " $i
        k = $1 SUBSEP name
        if (!(name in seen)) { seen[name] = 1; names[++n] = name }
        has[k] = 1
        bad[k] = $(NF - 4); t[k] = $(NF - 3); dt[k] = $(NF - 2)
        c[k] = $(NF - 1); dc[k] = $NF
    }
    END {
        for (k in has) {
            split(k, a, SUBSEP)
            best[k] = 1
            for (i = 1; i <= n; i++) {
                o = a[1] SUBSEP names[i]
                if (o != k && o in has && t[o] <= t[k] && c[o] <= c[k] &&
                    (t[o] < t[k] || c[o] < c[k]))
                    best[k] = 0
            }
        }
        for (i = 1; i <= n; i++) {
            row = "| " names[i] " |"
            for (j = 1; j <= columns; j++)
                row = row " " ((j SUBSEP names[i]) in has ? cell(j SUBSEP names[i]) : "") " |"
            print row
        }
    }' policies.tsv >rows
printf '| |'
for c in $(seq $columns); do
    read -r gamma reliable noticed <<<"$(column "$c")"
    printf ' γ = %s, %s reliable, noticed %s |' "$gamma" "$reliable" \
        "$(echo "$noticed" | sed 's/^1/after 1/')"
done
echo
printf '|---|'
for c in $(seq $columns); do printf -- '--:|'; done
echo
cat rows
