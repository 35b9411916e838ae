# The figures of section 5:
#   gnuplot -e "file='GRID.tsv'; out='DIRECTORY/'" grid.gp
# Columns: policy, deadline, budget, tasks, time, money, tasks on R0 ... R10.
set datafile separator "\t"
set encoding utf8
of(policy) = sprintf("< awk -F '\\t' '$1 == \"%s\"' %s", policy, file)
at(policy, column, value) = sprintf( \
    "< awk -F '\\t' '$1 == \"%s\" && $%d == %d' %s", policy, column, value, file)
name(i) = word("cost cost-time", i)
policy(i) = word("dbc-cost dbc-cost-time dbc-time", i)
what(i) = word("tasks time money", i)
colour(r) = word("#8c564b #bcbd22 #98df8a #2ca02c #1f77b4 #c5b0d5 #9467bd " \
    ."#ff7f0e #d62728 #7f7f7f #17becf", r + 1)

# ---- figure 4: tasks done, time and money, by deadline and budget ----
set terminal svg size 760,860 font "sans-serif,12" background "white"
set output out."figure4.svg"
set multiplot layout 3,2 margins 0.09,0.9,0.06,0.95 spacing 0.16,0.08
set xrange [-150:3850]
set yrange [4.5:22.5]
set xtics 100,1000,3600
set xlabel "deadline" offset 0,0.5
set ylabel "budget, thousands" offset 1,0
unset key
set palette defined (0 "#fff7ec", 0.5 "#fc8d59", 1 "#7f0000")
do for [c = 1:3] {
    set cbrange [0:word("200 2800 22000", c) + 0]
    do for [p = 1:2] {
        set title what(c)." (dbc-".name(p).")" offset 0,-0.6
        plot of("dbc-".name(p)) using 2:($3 / 1000):(column(3 + c)) with image pixels
    }
}
unset multiplot
unset colorbox

# ---- figures 5 and 6: tasks on each resource ----
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 noborder
set boxwidth 0.85
set key outside right center reverse Left invert samplen 1
set xrange [*:*]
set yrange [0:210]
set ylabel "tasks done"
set xtics autofreq
set grid ytics
set terminal svg size 860,640 font "sans-serif,12" background "white"
set output out."figure5.svg"
set multiplot layout 2,2 columnsfirst
set xlabel "budget, thousands"
do for [p = 1:2] {
    do for [d in "100 3100"] {
        set title "dbc-".name(p).", deadline ".d
        plot for [r = 0:10] at("dbc-".name(p), 2, d + 0) \
            using (column(7 + r)):xtic((int($3) / 1000) % 3 == 2 ? \
                sprintf("%d", $3 / 1000) : "") lc rgb colour(r) \
            title sprintf("R%d", r)
    }
}
unset multiplot
set terminal svg size 860,340 font "sans-serif,12" background "white"
set output out."figure6.svg"
set multiplot layout 1,2
set xlabel "deadline"
do for [p = 1:2] {
    set title "dbc-".name(p).", budget 22,000"
    plot for [r = 0:10] at("dbc-".name(p), 3, 22000) \
        using (column(7 + r)):xtic(2) lc rgb colour(r) title sprintf("R%d", r)
}
unset multiplot

# ---- figures 7 and 8: time and money by the deadline ----
set terminal svg size 860,340 font "sans-serif,12" background "white"
set output out."figure7-8.svg"
set multiplot layout 1,2
set style data linespoints
set key outside below center horizontal maxrows 1 samplen 2 width -2
set xrange [0:3700]
set xtics 100,500,3600
set yrange [0:*]
set ylabel "time"
set title "time, budget 22,000"
plot for [i = 1:3] at(policy(i), 3, 22000) \
        using 2:5 lw 8 - 2 * i pt 7 ps 0.9 - 0.2 * i title policy(i), \
    x lw 1 dt 3 lc rgb "gray40" title "deadline"
set ylabel "money" offset 1,0
set title "money, budget 22,000"
plot for [i = 1:3] at(policy(i), 3, 22000) \
    using 2:6 lw 8 - 2 * i pt 7 ps 0.9 - 0.2 * i title policy(i)
unset multiplot
