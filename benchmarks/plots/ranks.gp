# How many ranks keep rank 0 at one core, by the mean runtime of tasks; the
# figures are those of src/doc/scale.md:  gnuplot benchmarks/plots/ranks.gp
set terminal svg size 760,470 font "sans-serif,12" background "white"
set output "benchmarks/plots/ranks.svg"
task = 25e-6   # CPU of a task without a record, s
record = 12e-6 # more with a record
engine = 2e-6  # of these, what is not messages
rank = 9e-6    # CPU of a rank per second, by MPI
stream = 38e-6 # the same by a stream of its own
group = 256.0  # ranks of a master of the second level
batch = 64.0   # tasks in one of its messages
alone(x, each) = 1 / ((task + record) / x + each)
second(x) = 1 / ((engine + record + (task - engine) / batch) / x + rank / group)
set logscale xy
set xrange [0.01:10000]
set yrange [100:100000000]
set format y "10^{%L}"
set xtics ("10 ms" 0.01, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "100 s" 100, \
    "1000 s" 1000, "10,000 s" 10000)
set xlabel "mean runtime of a task"
set ylabel "ranks"
set grid lc "#dddddd"
set key below
set title "Ranks that keep rank 0 busy on one core"
plot alone(x, rank) lw 2 lc "#d62728" title "rank 0 alone, by MPI", \
     alone(x, stream) lw 2 dt 2 lc "#d62728" title "by streams (-j)", \
     second(x) lw 2 lc "#1f77b4" title "with masters of 256 ranks each (not built)", \
     100000 lc "#888888" dt 3 title "100,000 ranks"
