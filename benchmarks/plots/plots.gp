# The plots of `make bench`:  gnuplot -e "dir='DIRECTORY'" plots.gp
# DIRECTORY has what the scripts have kept (results.sh); a topic that is not
# there keeps its old plot.
set terminal svg size 720,400 font "sans-serif,12" background "white"
set datafile separator "\t"
set grid ytics
set key outside right top Left reverse # beside the data, never on it
out = "benchmarks/plots/"
has(name) = int(system("test -s ".dir."/".name.".tsv && echo 1 || echo 0"))

if (has("engine")) {
    set output out."engine.svg"
    set title "Engine: cost of an event"
    set datafile separator " "
    set logscale x
    set xlabel "machines"
    set xrange [500:200000]
    set ylabel "nanoseconds of CPU"
    set yrange [0:*]
    file = dir."/engine.tsv"
    row(policy, tasks) = sprintf( \
        "< awk '$1 == %d && $3 == \"%s\"' %s", tasks, policy, file)
    plot for [n = 4:7] row("rr", 10**n) using 2:4 with linespoints lw 2 \
            title sprintf("rr, 10^%d tasks", n), \
        for [n = 4:7] row("bats", 10**n) using 2:4 with linespoints lw 2 \
            dt 2 title sprintf("bats, 10^%d tasks", n)
    unset logscale
    set xrange [*:*]
    set datafile separator "\t"
}

set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set boxwidth 0.9

if (has("planner")) {
    set output out."planner.svg"
    set title "Planner: charges of six decimals, mean time of a plan"
    set xlabel "clusters"
    set ylabel "milliseconds of CPU"
    set logscale y
    set yrange [0.001:*]
    file = dir."/planner.tsv"
    kind(k) = sprintf("< awk -F '\\t' '$1 == \"%s\"' %s", k, file)
    plot for [k in "unrelated similar proportional base-fee adverse"] \
        kind(k) using 3:xtic(2) title k
    unset logscale
}

if (has("simulator")) {
    set output out."simulator.svg"
    set title "Simulator: the same bags on the same machines"
    set xlabel ""
    set ylabel "milliseconds of CPU per run"
    set logscale y
    set yrange [0.1:*]
    file = dir."/simulator.tsv"
    who(name) = sprintf("< awk -F '\\t' '$2 == \"%s\"' %s", name, file)
    set bmargin 4
    lines(text) = text[1:strstrt(text, ",") - 1]."\n". \
        text[strstrt(text, ",") + 2:*]
    plot who("bats-mpi") using (1000 * $4):xtic(lines(stringcolumn(1))) \
            title "bats-mpi", \
        who("SimGrid") using (1000 * $4) title "SimGrid"
    unset logscale
    unset bmargin
}

if (has("latency")) {
    set output out."latency.svg"
    set title "Latency: an idle worker waits for its next task"
    set xlabel "ranks"
    set ylabel "microseconds"
    set logscale y
    set yrange [1:*]
    file = dir."/latency.tsv"
    plot file using 3:xtic(1) title "bats-mpi, p99", \
        file using 2 title "bats-mpi, p50", \
        file using 6 title "MPI round trip, p99", \
        file using 5 title "MPI round trip, p50"
    unset logscale
    set xlabel ""
}

if (has("speed")) {
    set output out."speed.svg"
    set title "Runs: tasks per second beside the floor and the peers"
    set ylabel "ratio to the first of each group"
    set yrange [0:*]
    set terminal svg size 720,520
    set xtics rotate by -90 noenhanced
    unset key
    plot '< tr -d "\140" <'.dir."/speed.tsv" \
        using 7:xtic(stringcolumn(1).": ".stringcolumn(2))
}
