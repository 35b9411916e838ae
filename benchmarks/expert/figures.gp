# gnuplot -e "file='FIGURES.tsv'; out='DIRECTORY/'" figures.gp
set datafile separator "\t"
set encoding utf8
set terminal svg size 760,460 font "sans-serif,12" background "white"
set border 3
set tics nomirror
set grid lc "#dddddd"
row(kind) = sprintf("< awk -F '\\t' '$1 == \"%s\"' %s", kind, file)
rows(kind, at) = sprintf( \
    "< awk -F '\\t' '$1 == \"%s\" && $2 == %s' %s | sort -t '\t' -k3,3n", \
    kind, at, file)

set output out."figure9.svg"
set title "M_r up to 0.1: efficient strategies and static ones (AR is outside)"
set xlabel "makespan, 1000 s"
set ylabel "cost, cents a task"
set yrange [0:4.6]
set xrange [10:32]
set key top right
plot rows("front", "0.1") using ($3 / 1000):4 with linespoints pt 7 ps 0.6 lc "#1f77b4" title "frontier (N = 0 to 3, inf)", \
     sprintf("< awk -F '\\t' '$1 == \"static\" && $2 == 0.1 && $3 != \"AR\" && $3 !~ /^N/' %s", file) \
         using ($4 / 1000):6 with points pt 5 lc "#d62728" title "static", \
     sprintf("< awk -F '\\t' '$1 == \"static\" && $2 == 0.1 && $3 != \"AR\" && $3 !~ /^N|^B/' %s", file) \
         using ($4 / 1000 + 0.3):($6 + 0.12):3 with labels left notitle, \
     sprintf("< awk -F '\\t' '$1 == \"static\" && $2 == 0.1 && $3 ~ /^N/' %s", file) \
         using ($4 / 1000):6 with points pt 9 ps 1.4 lc "#2ca02c" title "N=3, T=T_{ur}, D=2T_{ur}, M_r=0.02"

set output out."figure10.svg"
set key center right
set title "Frontiers for one M_r each (N = 0 to 3)"
set xlabel "makespan of the tail, s"
set xrange [3500:11500]
set yrange [0:4.6]
plot for [m in "0.02 0.06 0.10 0.20 0.30 0.40 0.50"] \
    rows("fixed", m) using 3:4 with linespoints pt 7 ps 0.5 title "M_r = ".m

set output out."figure11.svg"
set title "Efficient strategies, M_r up to 0.5: the reliable pool"
set xlabel "makespan, s"
set ylabel "share of #ur"
set y2label "longest queue, tasks"
set y2tics
set xrange [*:*]
set yrange [0:0.6]
plot sprintf("< awk -F '\\t' '$1 == \"use\"' %s | sort -t '\t' -k2,2n", file) using 2:3 with linespoints pt 7 ps 0.5 title "M_r", \
     "" using 2:4 with linespoints pt 5 ps 0.5 title "M_r that is used, mean", \
     "" using 2:5 axes x1y2 with linespoints pt 9 ps 0.5 title "longest queue, mean"
