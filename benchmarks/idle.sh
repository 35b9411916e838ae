#!/bin/sh
# CPU time of ranks that wait: idle.sh [RANKS [SECONDS]]. Prints, in percent
# of one core, the mean and the most of: the master, workers whose task is a
# timer, workers that are parked; and of a master with 100,000 tasks in its
# queue that looks at its plan every five seconds. Promised: 1 % each.
. "${TOP:-.}/benchmarks/launch.sh"
ranks=${1:-33} seconds=${2:-10}
program=${BATS_MPI:-${B:-build}/bats-mpi}
dir=$(mktemp -d) || exit 1
launcher=
trap '[ -z "$launcher" ] || end; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
mark=BATS_IDLE_MARK=$$

pids() {
    grep -lzx "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
        while read -r pid; do
            case $(cat "/proc/$pid/comm" 2>/dev/null) in
            bats-mpi) echo "$pid" ;;
            esac
        done
}

# pid, rank, ticks of CPU time
usage() {
    for pid in $(pids); do
        rank=$(tr '\0' '\n' <"/proc/$pid/environ" |
            sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
        sed 's/.*) //' "/proc/$pid/stat" |
            awk -v pid="$pid" -v rank="$rank" '{ print pid, rank, $12 + $13 }'
    done | sort
}

end() {
    kill -TERM $launcher 2>/dev/null
    wait $launcher
    launcher=
}

# measure N OPTION...: the rank and the percent of a core of each of N ranks.
measure() {
    n=$1
    shift
    # Not by launch: a function in the background is a shell of its own, and
    # killing that would leave mpirun behind.
    ${MPIRUN:-mpirun} -n "$n" env "$mark" "$program" "$dir/bag" --no-record \
        --quiet "$@" >/dev/null 2>&1 &
    launcher=$!
    while [ "$(pids | wc -l)" -lt "$n" ]; do sleep 1; done
    sleep 5 # start-up, and the last traffic
    usage >"$dir/before"
    sleep "$seconds"
    usage >"$dir/after"
    end
    join "$dir/before" "$dir/after" | awk -v seconds="$seconds" \
        -v hz="$(getconf CLK_TCK)" '{
            print $2, 100 * ($5 - $3) / hz / seconds
        }'
}

# Ranks 1 to half: one endless task each, and then there is none for the
# others, which are parked from the start.
half=$(((ranks - 1) / 2))
yes '@sleep 1h' | head -n $half >"$dir/bag"
measure "$ranks" --policy rr | awk -v half="$half" '{
        print $1 == 0 ? "master" : $1 <= half ? "timer" : "parked", $2
    }' >"$dir/percent"
yes '@sleep 100h' | head -n 100000 >"$dir/bag"
measure 5 --time-scale 60 | sed -n 's/^0 /queue /p' >>"$dir/percent"

awk '
    BEGIN {
        split("master timer parked queue", kinds)
        printf "%-8s %6s %8s %8s\n", "rank", "number", "mean %", "most %"
    }
    {
        n[$1]++
        sum[$1] += $2
        if ($2 > most[$1])
            most[$1] = $2
    }
    END {
        for (i = 1; i in kinds; i++) {
            k = kinds[i]
            printf "%-8s %6d %8.2f %8.2f\n", k, n[k], sum[k] / n[k], most[k]
        }
    }' "$dir/percent"
