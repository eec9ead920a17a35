# peers.gp - time against overlap, a point for each engine and setting.
#   gnuplot -e "data='peers_box_512.csv'; picture='peers_box_512.svg'; what='box_512'" peers.gp
set datafile separator ","
set terminal svg size 860,560 background "white"
set output picture
set title "CPU time of one thread and mean overlap, last quarter of the run: ".what noenhanced
set xlabel "ms a step of the scene"
set ylabel "mean overlap, % of the mean radius"
set logscale xy
set format y "10^{%T}"
set grid
set key outside right
set offsets graph 0.1, graph 0.25, graph 0.1, graph 0.1
engines = system("tail -n +2 '".data."' | cut -d, -f1 | uniq | tr '\n' ' '")
x(e) = strcol(1) eq e ? column(3) : NaN
y(e) = column(7) > 1e-7 ? column(7) : 1e-7
plot for [e in engines] data using (x(e)):(y(e)) every ::1 with points pt 7 ps 0.8 title e, \
     for [e in engines] data using (x(e)):(y(e)):2 every ::1 with labels left offset 0.7,0.2 \
         font ",9" noenhanced notitle
