#!/bin/sh
# Tables 5.1 to 5.3 of Oprescu's thesis: what copies of the last tasks gain,
# the published figures beside ours. BAGS (30) bags of each workload, executed
# RUNS (30) times with each strategy. WINDOW: length of a window. Long ones, as
# in the thesis, leave idle machines where they are until the bag is done; with
# 60m they go at the end of what is paid.
#
#   sh benchmarks/tail/tables.sh [BAGS [RUNS [WINDOW]]]
here=$(dirname "$0")
top=$here/../..
build=${B:-$top/build}

"$build/bench/tail/tables" "${1:-30}" "${2:-30}" "${3:-1000h}" |
    awk -F'\t' '
    /^#/ { next }
    NR == FNR { known[$1, $2, $3] = $4 " (" $5 " .. " $6 ")"; next }
    $1 $2 != last {
        last = $1 $2
        printf "\n%s, %s: makespan over its estimate, %%\n", $1, $2
        printf "  %-18s %-26s %-26s %-18s %s\n", "strategy", "published",
            "here", "over perfect", "charged"
    }
    { printf "  %-18s %-26s %-26s %-18s %s\n", $3,
          (($1, $2, $3) in known) ? known[$1, $2, $3] : "",
          $4 " (" $5 " .. " $6 ")", $7 " +- " $8, $9 }
    ' "$here/published.tsv" -
