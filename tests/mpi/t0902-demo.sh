#!/bin/bash
# make demo, with a quarter of its tasks.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/demo/run.sh 5 50) >out 2>err </dev/null
ok "the demo succeeds"

value() { # PATH
    perl "$TOP/benchmarks/json.pl" "$B/demo/run.json" "$1"
}

[ "$(value tasks)" -eq 125 ]
[ "$(value charged)" -le 50 ]
ok "125 runs are charged 50 SU at most"
[ "$(value tasks_failed)" -eq 0 ]
[ "$(grep -c '^som seed=.* accuracy=' "$B/demo/results.txt")" -eq \
    "$(value tasks_done)" ]
ok "every run that is done has its result line"
finds err "^charged .* of the budget of 50 SU" "^economy  *4/4 .*[0-9]" \
    "^express  *4/4"
ok "the table of what it cost is shown"
grep -qx 'Holding all machines to the end would have cost about [0-9.]* SU\.' \
    out
ok "the cost without a limit is shown"
page=$(sed -n 's/^What it did, as a page for your browser: //p' out)
grep -q "\"charged\":\"$(value charged)\"" "$TOP/$page" "$page" 2>/dev/null
ok "it ends with a page of the run"

# The best mean accuracy, found in another way.
best=$(perl -ne '/rate=(\S+) radius=(\S+) .* accuracy=(\S+)/ or next;
    $n{"$1 $2"}++; $s{"$1 $2"} += $3;
    END { my ($b) = sort { $b <=> $a } map { $s{$_} / $n{$_} } keys %n;
        printf "%.4f", $b }' "$B/demo/results.txt")
[ "$best" != 0.0000 ]
tail -n 5 out | head -n 1 | awk -v best="$best" \
    '{ exit !($3 == best && $5 == "cm") }'
ok "the best parameters come first"
[ "$(sort -u "$B/demo/results.txt" | wc -l)" -eq "$(value tasks_done)" ]
ok "no run is done twice"

sed 's/^/# /' out
done_testing
