#!/bin/sh
# The planner beside the papers' table over the price and beside GLPK.
#
#   sh benchmarks/planner.sh [INSTANCES [GLPK_INSTANCES]]     default 30, 5
#
# Charges of six decimals are the hardest; GLPK also gets whole ones.
# Milliseconds of CPU; all three solve the same instances in one process each
# with ours. The table has the smallest and the largest size, the plot all. GLPK
# takes part at 16 x 4096, where `make bench` has found it.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} instances=${1:-30} glpk_instances=${2:-5}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. benchmarks/results.sh

for size in "2 32" "8 512" "16 4096" "32 16384"; do
    for kind in unrelated similar proportional base-fee adverse; do
        # shellcheck disable=SC2086
        set -- $size
        n=$instances
        [ "$1" -lt 32 ] || n=$((instances / 3 + 1))
        out=$("$build/bench/planner" "$kind" 6 "$1" "$2" $n) || exit 1
        printf '%s\t' "$kind" 6 "$1" "$2" $n
        echo "$out" | tr ' ' '\t'
        echo "planner.sh: $kind, $size" >&2
    done
done >"$tmp/ours"
[ ! -x "$build/bench/glpk/peer" ] ||
    for kind in unrelated similar proportional base-fee adverse; do
        for decimals in 0 6; do
            out=$("$build/bench/glpk/peer" "$kind" $decimals 16 4096 \
                "$glpk_instances") || exit 1
            printf '%s\t' "$kind" $decimals
            echo "$out" | tr ' ' '\t'
            echo "planner.sh: GLPK, $kind, $decimals" >&2
        done
    done >"$tmp/glpk"

# The columns of planner.c begin at the seventh: its lines begin with a blank.
awk -F '\t' '
    function of(n, m) { return n == m ? "all" : n " of " m }
    BEGIN {
        print "| charges, rates | decimals | clusters x machines | mean, ms |" \
            " median | longest | proven | table, mean, ms | same |"
        print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    }
    $3 == 2 || $3 == 32 {
        printf "| %s | %d | %d x %d | %.3f | %.3f | %.2f | %s | ", $1, $2,
            $3, $4, $7, $8, $9, of($10, $5)
        if ($11)
            printf "%.1f | %s |\n", $12, of($15, $11)
        else
            print "too large | |"
    }' "$tmp/ours"
awk -F '\t' '{ print $1 "\t" $3 "\t" $7 }' "$tmp/ours" >"$tmp/plot"
keep planner "$tmp/plot"
echo
echo "$instances instances each, a third of that at 32 x 16384. \`same\`: the"
echo "rates are equal to 1e-9."
if [ ! -f "$tmp/glpk" ]; then
    echo
    echo "No GLPK here (libglpk-dev)."
    exit
fi
echo
awk -F '\t' -v n="$glpk_instances" '
    BEGIN {
        print "| 16 x 4096 | decimals | ours, mean, ms | median | longest |" \
            " GLPK, mean, ms | median | longest | solved | same | better |"
        print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    }
    {
        printf "| %s | %d | %.3f | %.3f | %.2f | %.2f | %.2f | %.0f | %s |" \
            " %s | %s |\n", $1, $2, $4, $5, $6, $7, $8, $9, $10, $11, $12
    }' "$tmp/glpk"
echo
echo "$glpk_instances instances each; GLPK is told the number of windows and"
echo "gives up after 2 s. It counts plans as equal that differ by 1e-7 (\`same\`);"
echo "\`better\`: its plan, added up exactly, is faster than ours."
