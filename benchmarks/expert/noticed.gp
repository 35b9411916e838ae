# gnuplot -e "file='NOTICED.tsv'; out='DIRECTORY/'" noticed.gp
set datafile separator "\t"
set encoding utf8
set terminal svg size 900,420 font "sans-serif,12" background "white"
set border 3
set tics nomirror
set grid lc "#dddddd"
set output out."noticed.svg"
set multiplot layout 1,2
row(kind, how) = sprintf( \
    "< awk -F '\\t' '$1 == \"%s\" && $2 == \"%s\"' %s", kind, how, file)
set xtics ("silent" 0, "1 h" 1, "10 min" 2, "1 min" 3, "10 s" 4)
set xlabel "the run is told of a loss after"
set yrange [0:*]
set xrange [-0.2:4.2]
set key top right
set title "Makespan, 1000 s (lost at the start)"
how = "AUR TR cheapest product fastest"
plot for [i in "1 2 3 4 5"] \
    row("Lost at the start, free", word(how, 0+i)) using 0:($4 / 1000) \
        with linespoints pt 7 ps 0.5 lc 0+i title word(how, 0+i)
set title "Charge (lost on the way, charged)"
plot for [i in "1 3 4 5"] \
    row("Lost on the way, charged", word(how, 0+i)) using 0:5 \
        with linespoints pt 7 ps 0.5 lc 0+i title word(how, 0+i)
unset multiplot
