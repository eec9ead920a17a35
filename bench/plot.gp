# plot.gp - the charts of the benchmarks.
#
#   gnuplot plot.gp         sweeps.csv, settle.csv and rest.csv, if there; run in their folder
#   gnuplot -e "data='peers_box_512.csv'; picture='peers_box_512.svg'; what='box_512'" plot.gp
#                           time against overlap, a point for each engine and setting
set datafile separator ","
if (exists("picture")) {
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
    exit
}
set datafile missing NaN
set terminal svg size 640,420 background "white"
set logscale x
set xrange [500:2e6]
set grid
set key outside right
set output "sweeps.svg"
set xlabel "contacts"
set ylabel "ns a contact and sweep"
set logscale y
kinds = "'scalar' 'double' 'float' 'double no friction' 'float no friction'"
plot for [k in kinds] "sweeps.csv" using 1:(strcol(3) eq k ? $4 : NaN) every ::1 with linespoints title k
set output "roofline.svg"
set ylabel "GB/s, one thread"
wide = "'double' 'float' 'double no friction' 'float no friction'"
plot for [k in wide] "sweeps.csv" using 1:(strcol(3) eq k ? $6 : NaN) every ::1 with linespoints title k, \
     "sweeps.csv" using 1:(strcol(3) eq "float" ? $7 : NaN) every ::1 with lines dashtype 2 linecolor "black" title "stream beside float"
set output "settle.svg"
set xlabel "spheres"
set ylabel "s a step"
plot for [k in "frictionless convex"] "settle.csv" using 2:(strcol(1) eq k ? $9 : NaN) every ::1 with linespoints title k
if (system("test -f rest.csv && echo yes") eq "yes") {
    set output "rest.svg"
    set ylabel "us a sphere and step, at rest"
    stages = "collide assemble solve finish"
    plot for [k in "frictionless convex"] for [i=1:4] "rest.csv" \
        using 2:(strcol(1) eq k ? 1e6*column(4 + i)/$2 : NaN) every ::1 \
        with linespoints dashtype 1 + (k eq "frictionless") title k." ".word(stages, i)
}
