#!/bin/sh
# The example applications: reproducible, they learn, they refuse nonsense.
cd "${TOP:-$(dirname "$0")/../..}" || exit 1
apps=${B:-build}/apps
iris=benchmarks/apps/iris.csv
n=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check() { # NAME: says whether the last command succeeded
    status=$?
    n=$((n + 1))
    [ $status -eq 0 ] && echo "ok $n - $1" || echo "not ok $n - $1"
}

value() { # KEY LINE: what stands behind KEY=
    printf '%s\n' "$2" | sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}

below() { # X Y: X < Y, real numbers
    awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && y != "" && x < y) }'
}

som() {
    "$apps/som" --data $iris "$@"
}

refuses() { # PATTERN COMMAND...: exit 2, nothing printed, PATTERN in the message
    pattern=$1
    shift
    out=$("$@" 2>"$tmp/err")
    [ $? -eq 2 ] && [ -z "$out" ] && grep -q -e "$pattern" "$tmp/err"
}

one=$(som --seed 7 --iterations 500)
[ -n "$one" ] && [ "$one" = "$(som --seed 7 --iterations 500)" ]
check "som_same_seed_gives_the_same_line"

[ "$(som --seed 8 --iterations 500 | sed 's/seed=8/seed=7/')" != "$one" ]
check "som_another_seed_gives_another_map"

few=$(som --iterations 50)
many=$(som --iterations 20000)
below "$(value quantization_error "$many")" \
    "$(awk -v x="$(value quantization_error "$few")" 'BEGIN { print x / 2 }')"
check "som_error_falls_to_less_than_half_with_training"

below 0.9 "$(value accuracy "$many")"
check "som_knows_9_of_10_flowers_that_it_has_never_seen"

# Three flowers of every class, far apart: every cell's label is plain, so a
# map that is trained at all names each held-out flower (every third one).
{
    echo 9,4,a,b,c
    for class in 0 1 2; do
        for x in 0.0 0.1 0.2; do
            echo "$((class * 10)),$((class * -10)),$((class * class * 10)),$x,$class"
        done
    done
} >"$tmp/far.csv"
line=$("$apps/som" --data "$tmp/far.csv" --iterations 2000)
[ "$(value accuracy "$line")" = 1.0000 ]
check "som_separates_classes_that_lie_far_apart"

[ "$(som --iterations 100 --size 4 --map | tail -n +2 |
    grep -c '^[.123] [.123] [.123] [.123]$')" -eq 4 ]
check "som_prints_its_map_of_four_by_four_cells"

refuses 'rate.*2.5' som --rate 2.5
check "som_refuses_a_rate_above_1"
refuses 'iterations.*12x' som --iterations 12x
check "som_refuses_a_number_with_a_letter"
refuses 'data' "$apps/som"
check "som_wants_its_data"
refuses 'nothing.csv' "$apps/som" --data nothing.csv
check "som_names_a_file_that_is_not_there"
printf '3,4,a,b,c\n1,2,3,4,0\n1,2,x,4,0\n1,2,3,4,0\n' >"$tmp/x.csv"
refuses 'x.csv:3:' "$apps/som" --data "$tmp/x.csv"
check "som_names_the_line_of_a_flower_that_it_cannot_read"
refuses 'usage' som --colour
check "som_refuses_an_unknown_option"

one=$("$apps/sarsa" --seed 3 --epochs 5)
[ -n "$one" ] && [ "$one" = "$("$apps/sarsa" --seed 3 --epochs 5)" ]
check "sarsa_same_seed_gives_the_same_line"

first=$("$apps/sarsa" --seed 3 --epochs 1)
last=$("$apps/sarsa" --seed 3 --epochs 300)
[ -n "$first" ] &&
    [ "$(value nearest_car_s "$first")" = "$(value nearest_car_s "$last")" ]
check "sarsa_is_measured_on_the_same_day_whatever_the_epochs"
below "$(value waiting_s "$last")" "$(value waiting_s "$first")"
check "sarsa_waiting_falls_below_that_after_one_epoch"
below "$(value waiting_s "$last")" "$(value nearest_car_s "$last")"
check "sarsa_learns_to_beat_the_nearest_car"

# One passenger in a building of two floors: both cars stand on the ground
# floor, so the wait is 0 seconds there and 1 second from the floor above.
line=$("$apps/sarsa" --floors 2 --passengers 1 --epochs 2)
case $(value waiting_s "$line") in 0 | 1) true ;; *) false ;; esac
check "sarsa_a_single_passenger_waits_for_one_floor_at_most"

refuses 'alpha' "$apps/sarsa" --alpha -1
check "sarsa_refuses_a_negative_alpha"
refuses 'floors.*1' "$apps/sarsa" --floors 1
check "sarsa_refuses_a_building_of_one_floor"
refuses 'what is' "$apps/sarsa" 100
check "sarsa_refuses_a_stray_word"

echo "1..$n"
