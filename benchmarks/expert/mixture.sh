# Sourced by the scripts here that simulate the mixture of section 6.1 of
# ExPERT: 150 tasks; 50 unreliable machines, of which 82.7 % answer, and 5
# reliable ones at 34 times the price. Runtimes have the range of workload 1 in
# table 3, 1,019 to 3,558 s, and the mean of experiment 11, 2,066 s (a power of
# a uniform number); a task keeps its own wherever it runs.
. benchmarks/expert/table5.sh
build=$(realpath "${B:-build}")
out=$build/bench/expert/$(basename "$0" .sh)
mkdir -p "$out" && cd "$out" || exit 1

runtimes 1000 2066 1019 3558 >runtimes

# Losses: at the start, or on the way, of as many.
at_start='reliability = 0.827'
on_the_way='survival = exponential 10640s'

# The scenario on standard output. [run]'s lines, the unreliable cluster's, and
# how many reliable machines there are.
mixture() { # RUN CHEAP [RELIABLE]
    printf '[run]\n%b\n[bag]\ntasks = 150\nruntime = file runtimes\n' "$1"
    printf '[cluster cheap]\nmachines = 50\ncharge = 1\nexpected = 2066s\n%b\n' \
        "$2"
    [ "${3-5}" = 0 ] ||
        printf '[cluster safe]\nmachines = %d\ncharge = 34\nexpected = 2066s\n' \
            "${3-5}"
}

# Plays a scenario. One line: runs, of them undone; makespan in seconds and
# charge, means with half their 95 % intervals.
play() { # SCENARIO
    nice "$build/bats-mpi" simulate "$1" --csv | awk -F, 'NR > 1 {
            n++; bad += $6 != "all_done"
            t += $7; tt += $7 * $7; c += $9; cc += $9 * $9 }
        function half(s, ss) { return 1.96 * sqrt((ss / n - (s / n) ^ 2) / (n - 1)) }
        END { printf "%d %d %.0f %.0f %.1f %.1f\n", n, bad, t / n, half(t, tt),
            c / n, half(c, cc) }'
}
