#!/bin/sh
# CPU time of ranks that wait: idle.sh [RANKS [SECONDS]]. Prints, in percent
# of one core, the mean and the most of: the master, workers whose task is a
# timer, workers that are parked.
. "${TOP:-.}/benchmarks/launch.sh"
ranks=${1:-33} seconds=${2:-10}
program=${BATS_MPI:-${B:-build}/bats-mpi}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Ranks 1 to half: one endless task each, and then there is none for the
# others, which are parked from the start.
half=$(((ranks - 1) / 2))
yes '@sleep 1h' | head -n $half >"$dir/bag"
mark=BATS_IDLE_MARK=$$
# Not by launch: a function in the background is a shell of its own, and
# killing that would leave mpirun behind.
${MPIRUN:-mpirun} -n "$ranks" env "$mark" "$program" "$dir/bag" --policy rr \
    --quiet >/dev/null 2>&1 &
launcher=$!
trap 'kill -TERM $launcher 2>/dev/null; wait $launcher; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

pids() {
    grep -lzx "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
        while read -r pid; do
            case $(cat "/proc/$pid/comm" 2>/dev/null) in
            bats-mpi) echo "$pid" ;;
            esac
        done
}
# pid, ticks of CPU time, rank
usage() {
    for pid in $(pids); do
        rank=$(tr '\0' '\n' <"/proc/$pid/environ" |
            sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
        sed 's/.*) //' "/proc/$pid/stat" |
            awk -v rank="$rank" '{ print rank, $12 + $13 }'
    done | sort -n
}

while [ "$(pids | wc -l)" -lt "$ranks" ]; do sleep 1; done
sleep 5 # start-up, and the last traffic
usage >"$dir/before"
sleep "$seconds"
usage >"$dir/after"

join "$dir/before" "$dir/after" | awk -v half="$half" -v seconds="$seconds" \
    -v hz="$(getconf CLK_TCK)" '
    {
        kind = $1 == 0 ? "master" : $1 <= half ? "timer" : "parked"
        percent = 100 * ($3 - $2) / hz / seconds
        n[kind]++; sum[kind] += percent
        if (percent > most[kind]) most[kind] = percent
    }
    END {
        printf "%-8s %6s %8s %8s\n", "rank", "number", "mean %", "most %"
        split("master timer parked", kinds)
        for (i = 1; i <= 3; i++) {
            k = kinds[i]
            if (n[k]) printf "%-8s %6d %8.2f %8.2f\n", k, n[k], sum[k] / n[k],
                most[k]
        }
    }'
