/* reproduce_draw.c - figures of `cairn reproduce` by gnuplot. */
#include <math.h>

#include "cairn/output.h"
#include "plot.h"
#include "reproduce.h"

/* How gnuplot draws a style; the colour of the series goes before it. */
static const char *const styles[CAIRN_SERIES_STYLES] = {
    [CAIRN_SERIES_LINE] = "using 1:2 with lines lw 2",
    [CAIRN_SERIES_DASHED] = "using 1:2 with lines lw 2 dt 2",
    [CAIRN_SERIES_POINTS] = "using 1:2 with points pt 7 ps 0.5",
    [CAIRN_SERIES_PUBLISHED] = "using 1:2 with points pt 6 ps 1.1 lw 2",
    [CAIRN_SERIES_DISKS] = "using 1:2:3 with circles fs transparent solid 0.35",
    /* the colour is that of the outline */
    [CAIRN_SERIES_AREAS] = "using 1:2 with filledcurves closed fc rgb '#cfe0ee' fs solid border",
    [CAIRN_SERIES_MAP] = "using 1:2:3 with image",
};

static void write_data(FILE *out, const cairn_study *study, const cairn_figure *f)
{
    for (int i = 0; i < f->count; i++) {
        const cairn_series *s = &study->series[f->first + i];
        fprintf(out, "$s%d << END\n", i);
        for (int k = 0; k < s->count; k++)
            if (isfinite(s->points[k][0]))
                fprintf(out, "%.9g %.9g %.9g\n", s->points[k][0], s->points[k][1], s->points[k][2]);
            else
                fprintf(out, "\n");
        fprintf(out, "END\n");
    }
}

/* 1, 2 or 5 times a power of ten that is near to x > 0. */
static double round_number(double x)
{
    double power = pow(10, floor(log10(x))), digit = x / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

/* gnuplot's own range holds the centres of disks, but cuts what sticks out. */
static void write_disk_range(FILE *out, const cairn_study *study, const cairn_figure *f)
{
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    for (int i = 0; i < f->count; i++) {
        const cairn_series *s = &study->series[f->first + i];
        if (s->style != CAIRN_SERIES_DISKS || f->y_low != f->y_high)
            return;
        for (int k = 0; k < s->count; k++)
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = fmin(low[axis], s->points[k][axis] - s->points[k][2]);
                high[axis] = fmax(high[axis], s->points[k][axis] + s->points[k][2]);
            }
    }
    double edge = 0.02 * (high[0] - low[0]);
    if (!isfinite(edge))
        return;
    if (f->equal && high[0] - low[0] < 0.7 * (high[1] - low[1])) /* room for few numbers */
        fprintf(out, "set xtics %g\n", round_number((high[0] - low[0]) / 3));
    fprintf(out, "set xrange [%g:%g]\nset yrange [%g:%g]\n", low[0] - edge, high[0] + edge,
            low[1] - edge, high[1] + edge);
}

static void write_axes(FILE *out, const cairn_study *study, const cairn_figure *f)
{
    fprintf(out, "set title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n", f->title, f->x_label,
            f->y_label);
    if (f->bare)
        fprintf(out, "set key off\n");
    if (f->log_x)
        fprintf(out, "set logscale x\nset format x '10^{%%L}'\n");
    if (f->log_y)
        fprintf(out, "set logscale y\nset format y '10^{%%L}'\n");
    if (f->equal)
        fprintf(out, "set size ratio -1\n");
    if (f->y_low != f->y_high)
        fprintf(out, "set yrange [%g:%g]\n", f->y_low, f->y_high);
    write_disk_range(out, study, f);
}

/* Points that lie too dense would hide the line below them. */
static int every(const cairn_series *s)
{
    const int most = 60;
    return s->style == CAIRN_SERIES_POINTS && s->count > most ? s->count / most : 1;
}

static void write_plot(FILE *out, const cairn_study *study, const cairn_figure *f)
{
    for (int i = 0; i < f->count; i++) {
        const cairn_series *s = &study->series[f->first + i];
        bool map = s->style == CAIRN_SERIES_MAP;
        bool published = s->style == CAIRN_SERIES_PUBLISHED;
        fprintf(out, "%s$s%d every %d %s", i ? ", \\\n    " : "plot ", i, every(s),
                styles[s->style]);
        if (!map)
            fprintf(out, " lc rgb '%s'", published ? "black" : cairn_plot_colour(s->colour));
        fprintf(out, s->name[0] ? " title \"%s\"" : " notitle", s->name);
    }
    fprintf(out, "\n");
}

static bool write_script(const char *path, const char *picture, const cairn_study *study,
                         const cairn_figure *f)
{
    cairn_output *script;
    if (cairn_output_create(path, &script, NULL) != CAIRN_OK)
        return false;
    FILE *out = cairn_output_stream(script);
    cairn_plot_begin(out, &(cairn_plot_page){ picture, 620, 440, false });
    write_data(out, study, f);
    write_axes(out, study, f);
    write_plot(out, study, f);
    return cairn_output_commit(script, NULL) == CAIRN_OK;
}

void cairn_figure_draw(const char *folder, cairn_computed *c, int index)
{
    const cairn_figure *f = &c->study.figures[index];
    char picture[256], script[264], whole[REPRODUCE_PATH];
    snprintf(picture, sizeof picture, "%s-%s.svg", c->entry->name, f->name);
    snprintf(script, sizeof script, "%s-%s.gp", c->entry->name, f->name);
    cairn_plot_outcome outcome = PLOT_FAILED;
    if (snprintf(whole, sizeof whole, "%s/%s", folder, script) < (int)sizeof whole &&
        write_script(whole, picture, &c->study, f))
        outcome = cairn_plot_draw(folder, script, picture);
    c->undrawn += outcome != PLOT_DRAWN;
    c->no_gnuplot = c->no_gnuplot || outcome == PLOT_NO_GNUPLOT;
}
