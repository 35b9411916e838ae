#!/bin/bash
# The example applications: reproducible, they learn, they refuse nonsense.
. "$TOP/tests/tap.sh"
apps=$B/apps
iris=$TOP/benchmarks/apps/iris.csv

value() { # KEY LINE: what stands behind KEY=
    printf '%s\n' "$2" | sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}

below() { # X Y: X < Y, real numbers
    awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && y != "" && x < y) }'
}

som() {
    "$apps/som" --data $iris "$@"
}

refuses() { # WHAT PATTERN COMMAND...: exit 2, nothing printed, and a message
    expect 2 "${@:3}" >out 2>err
    test ! -s out
    grep -q -e "$2" err
    ok "$1 is refused"
}

one=$(som --seed 7 --iterations 500)
[ -n "$one" ]
[ "$one" = "$(som --seed 7 --iterations 500)" ]
ok 'som: the same seed gives the same line'

[ "$(som --seed 8 --iterations 500 | sed 's/seed=8/seed=7/')" != "$one" ]
ok 'som: another seed gives another map'

few=$(som --iterations 50)
many=$(som --iterations 20000)
below "$(value quantization_error "$many")" \
    "$(awk -v x="$(value quantization_error "$few")" 'BEGIN { print x / 2 }')"
ok 'the error of som falls to less than half with training'

below 0.9 "$(value accuracy "$many")"
ok 'som knows 9 of 10 flowers that it has never seen'

# Three flowers of every class, far apart: every cell's label is plain, so a
# map that is trained at all names each held-out flower (every third one).
{
    echo 9,4,a,b,c
    for class in 0 1 2; do
        for x in 0.0 0.1 0.2; do
            echo "$((class * 10)),$((class * -10)),$((class * class * 10)),$x,$class"
        done
    done
} >far.csv
line=$("$apps/som" --data far.csv --iterations 2000)
[ "$(value accuracy "$line")" = 1.0000 ]
ok 'som separates classes that lie far apart'

[ "$(som --iterations 100 --size 4 --map | tail -n +2 |
    grep -c '^[.123] [.123] [.123] [.123]$')" -eq 4 ]
ok 'som prints its map of four by four cells'

printf '3,4,a,b,c\n1,2,3,4,0\n1,2,x,4,0\n1,2,3,4,0\n' >x.csv
refuses 'som: a rate above 1' 'rate.*2.5' som --rate 2.5
refuses 'som: a number with a letter' 'iterations.*12x' som --iterations 12x
refuses 'som: no data' data "$apps/som"
refuses 'som: a missing file' nothing.csv "$apps/som" --data nothing.csv
refuses 'som: a garbled line' x.csv:3: "$apps/som" --data x.csv
refuses 'som: an unknown option' usage som --colour

one=$("$apps/sarsa" --seed 3 --epochs 5)
[ -n "$one" ]
[ "$one" = "$("$apps/sarsa" --seed 3 --epochs 5)" ]
ok 'sarsa: the same seed gives the same line'

first=$("$apps/sarsa" --seed 3 --epochs 1)
last=$("$apps/sarsa" --seed 3 --epochs 300)
[ -n "$first" ]
[ "$(value nearest_car_s "$first")" = "$(value nearest_car_s "$last")" ]
ok 'sarsa is measured on the same day whatever the epochs'
below "$(value waiting_s "$last")" "$(value waiting_s "$first")"
ok 'the waiting time of sarsa falls below that after one epoch'
below "$(value waiting_s "$last")" "$(value nearest_car_s "$last")"
ok 'sarsa learns to beat the nearest car'

# One passenger in a building of two floors: both cars stand on the ground
# floor, so the wait is 0 seconds there and 1 second from the floor above.
line=$("$apps/sarsa" --floors 2 --passengers 1 --epochs 2)
case $(value waiting_s "$line") in 0 | 1) true ;; *) false ;; esac
ok 'sarsa: a single passenger waits for one floor at most'

refuses 'sarsa: a negative alpha' alpha "$apps/sarsa" --alpha -1
refuses 'sarsa: a building of one floor' 'floors.*1' "$apps/sarsa" --floors 1
refuses 'sarsa: a stray word' 'what is' "$apps/sarsa" 100

done_testing
