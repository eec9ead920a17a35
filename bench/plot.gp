# plot.gp - charts of sweeps.csv, settle.csv and rest.csv, where they are; run in their folder:
# gnuplot plot.gp
set datafile separator ","
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
