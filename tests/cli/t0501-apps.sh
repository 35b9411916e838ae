#!/bin/bash
# The example applications: reproducible, and they learn.
. "$TOP/tests/tap.sh"

value() { # KEY LINE: what stands behind KEY=
    printf '%s\n' "$2" | sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}
below() { # X Y: X < Y, real numbers
    awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && y != "" && x < y) }'
}
som() {
    "$B/apps/som" --data $TOP/benchmarks/apps/iris.csv "$@"
}
sarsa() {
    "$B/apps/sarsa" "$@"
}
one=$(som --seed 7 --iterations 500)
[ -n "$one" ]
[ "$one" = "$(som --seed 7 --iterations 500)" ]
[ "$(som --seed 8 --iterations 500 | sed 's/seed=8/seed=7/')" != "$one" ]
ok 'som: the same seed gives the same line, another one another map'

few=$(som --iterations 50)
many=$(som --iterations 20000)
below "$(value quantization_error "$many")" \
    "$(awk -v x="$(value quantization_error "$few")" 'BEGIN { print x / 2 }')"
below 0.9 "$(value accuracy "$many")"
ok 'its error halves with training, and it knows 9 of 10 flowers never seen'

[ "$(som --iterations 100 --size 4 --map | tail -n +2 |
    grep -c '^[.123] [.123] [.123] [.123]$')" -eq 4 ]
ok 'it prints its map'

one=$(sarsa --seed 3 --epochs 5)
[ -n "$one" ]
[ "$one" = "$(sarsa --seed 3 --epochs 5)" ]
first=$(sarsa --seed 3 --epochs 1)
last=$(sarsa --seed 3 --epochs 300)
[ -n "$first" ]
[ "$(value nearest_car_s "$first")" = "$(value nearest_car_s "$last")" ]
ok 'sarsa: the same seed gives the same line, and the same day for all epochs'
below "$(value waiting_s "$last")" "$(value waiting_s "$first")"
below "$(value waiting_s "$last")" "$(value nearest_car_s "$last")"
# One passenger in a building of two floors: both cars stand on the ground
# floor, so the wait is 0 seconds there and 1 second from the floor above.
[[ $(value waiting_s "$(sarsa --floors 2 --passengers 1 --epochs 2)") == [01] ]]
ok 'it learns to wait less, and less than for the nearest car'

done_testing
