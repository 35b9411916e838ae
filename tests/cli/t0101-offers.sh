#!/bin/bash
# bats-mpi plan: schedules of machine-windows, those of a job that is billed for
# all that it holds, and the script that asks for one. No launcher.
. "$TOP/tests/mpi/lib.sh"
needs script

plan() {
    verb plan "$@"
}

# clusters NAME=CHARGE...: a file with 32 machines of each.
clusters() {
    printf '[run]\nwindow = 60m\ncurrency = SU\n' >clusters.ini
    rank=1
    for cluster; do
        printf '[cluster %s]\nranks = %d-%d\ncharge = %s\n' "${cluster%=*}" \
            $rank $((rank + 31)) "${cluster#*=}" >>clusters.ini
        rank=$((rank + 32))
    done
}

# 1000 tasks, 4 an hour on slow, 16 on fast: 32 fast ones do 1024 in two
# windows, for 32 x 2 x 12 = 768; the least that any does is 750.
clusters slow=3 fast=12
bag='--tasks 1000 --runtime slow=15m,fast=3.75m -c clusters.ini'
plan $bag
test ! -s err
grep -Eq '^1 cheapest +- +32x2 +1h5[0-9]m +768$' out
grep -Eq '^[3-5] fastest +32x2 +32x2 +1h3[0-9]m +960$' out
awk '/^schedule/ { n = 1; next } n && !NF { exit } n { print $NF }' out >costs
sort -nuc costs
test "$(wc -l <costs)" -ge 3
lots=$(grep -Eo '[0-9]+x[0-9]+[+][0-9]+x[0-9]+' out | head -n 1)
told=$(sed -n 's/^\(.*\): \(.*\) machines\{0,1\} for \(.*\) windows\{0,1\}\( each\)\{0,1\}, and \(.*\) for \(.*\)\.$/\1 \2x\3+\5x\6/p' out)
test "$told" = "$lots $lots"
ok 'from the cheapest, the soonest of what is as cheap, to the fastest, which uses all'

plan $bag --json
holds '.schedules | length >= 3 and all((.cost | tonumber) == ([.machine_windows[] |
    .machines * .windows * (if .cluster == "slow" then 3 else 12 end)] | add))' out
ok 'in JSON, machine-windows add up to the cost'
plan $bag --frontier --csv
test "$(head -n 1 out)" = \
    cost,makespan_s,windows,slow,slow_windows,fast,fast_windows
test "$(awk -F, 'NR > 1 && ($1 != 3 * $5 + 12 * $7 || (NR > 2 &&
    ($1 <= cost || $2 >= end))) { print } { cost = $1; end = $2 }' out)" = ''
test "$(wc -l <out)" -gt 5
ok 'the frontier as comma-separated values: each costs more and ends sooner'
plan $bag --budget 800
grep -Eq '^machines +(slow [0-9]+ for .*; )?fast 3[0-9] for 2' out
grep -q '^cost  *[78][0-9][0-9] SU$' out
exits 4 'cannot be done for 700 SU; for 75[0-9] SU they can' plan $bag --budget 700
plan $bag --deadline 1h50m
grep -q '^makespan  *1h4[0-9]m' out
ok 'the best for a budget or a deadline, and what budget is enough'
plan $bag --budget 25%
grep -q '; budget 816 SU$' out
test "$(awk '/^cost / { print ($2 >= 768 && $2 <= 816) }' out)" = 1
plan $bag --budget 0%
grep -q '^cost  *768 SU$' out
ok 'a percentage is a budget between the cheapest and the fastest'

for n in 1 2 4; do
    clusters $(printf 'part%d=%d ' 1 3 2 9 3 12 4 16 | cut -d' ' -f1-$n)
    times=$(printf ',part%d=%dm' 1 15 2 7 3 4 4 3 | cut -d, -f1-$((n + 1)))
    plan --tasks 3000 --runtime "${times#,}" -c clusters.ini
    wc -L <out
done >widths
test "$(awk '$1 > 80' widths)" = ''
grep -q '^[3-5] fastest .*x.*x.*x.*x' out
TERM=xterm script -qefc "stty cols 40; '$BATS_MPI' plan --tasks 3000 \
    --runtime ${times#,} -c clusters.ini" typescript >/dev/null </dev/null
tr -d '\r' <typescript | sed -n '/^1 /,/^At/p' | grep -v '^Script' >out
test "$(wc -L <out)" -le 40
finds out '^1 cheapest: [0-9]* SU in ' '^    part1 32 for [0-9]* windows'
ok 'a schedule is a line of at most 80 columns, and on 40 columns a paragraph'

allocation_profile >profile.json
plan profile.json
grep -Eq '^[1-5] fastest +32 +32 ' out
grep -q '^The job holds these machines until the bag is empty, and is billed' out
expect 1 grep -q '[0-9]x[0-9]' out
ok 'machines are held until the bag is empty'

# shown FROM TO FILE: an indented block, as it would be printed.
shown() {
    sed -n "/^    $1/,/^    $2/p" "$3" | sed 's/^    //'
}

money=$TOP/src/doc/money.md
awk '/^```ini/ { on = 1; next } /^```/ { exit } on' "$money" >clusters.ini
plan --tasks 963 --runtime slow=15.15m,fast=15.15m --clusters clusters.ini
shown '963 tasks' '[0-9x+]*: .* for' "$money" | diff - out
plan --tasks 963 --runtime slow=15.15m,fast=15.15m --clusters clusters.ini \
    --policy bkp
shown 'schedule .* windows ' '6 fastest' "$money" >wanted
sed -n '/^schedule/,$p' out | diff wanted -
sed -n '/^cat >clusters.ini/,/^END/p' "$TOP/README.md" | sed '1d; $d' \
    >clusters.ini
plan --tasks 1000 --runtime economy=15m,express=7m --clusters clusters.ini
shown '1000 tasks, windows' '[0-9x+]*: .* for' "$TOP/README.md" | diff - out
ok 'money.md and README.md show what plan prints'

done_testing
