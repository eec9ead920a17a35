/* reproduce_page.c - the figures of `cairn reproduce`, drawn by gnuplot, and its HTML pages, which
 * contain them. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cairn/output.h"
#include "command.h"
#include "reproduce.h"

/* ---- figures --------------------------------------------------------------------------------- */

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

/* gnuplot's own range contains the centres of disks, but clips the disks. */
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

/* Too many points would hide the line below them. */
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

/* ---- pages ----------------------------------------------------------------------------------- */

static const char *const style =
    "body{font:15px/1.5 Georgia,serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}\n"
    "h1,h2{font-weight:normal}h2{border-top:1px solid #ccc;padding-top:1em;margin-top:2em}\n"
    "table{border-collapse:collapse;font-size:13px;margin:1em 0}\n"
    "th,td{padding:.25em .8em;border-bottom:1px solid #ddd;vertical-align:top}th{text-align:left}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".rows td:first-child{min-width:19em}\n"
    ".same{color:#17692f}.close{color:#5b7a00}.trend{color:#1b5a8c}.differs{color:#b02318}\n"
    ".figures{display:flex;flex-wrap:wrap;gap:1em}figure{margin:0}svg{max-width:100%;height:auto}\n"
    ".note,.time{color:#555}\n";

/* Text with the special characters of HTML escaped. */
static void put(FILE *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '&':
            fputs("&amp;", page);
            break;
        default:
            fputc(*text, page);
        }
}

static void put_number(FILE *page, double value, const char *format)
{
    fputs("<td class=\"n\">", page);
    if (value != 0)
        fprintf(page, format, value);
    fputs("</td>", page);
}

static void put_begin(FILE *page, const char *title)
{
    fprintf(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"
        "<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n",
        title, style, title);
    fprintf(
        page,
        "<p>Computed by cairn %s. <b class=\"same\">same</b>: within 0.1 %%, or less where the "
        "tolerance is less; <b class=\"close\">close</b>: within the tolerance of the row; "
        "<b class=\"trend\">trend</b>: a statement of the paper holds; "
        "<b class=\"differs\">differs</b>: none of these, and the remark says why. Rows without "
        "a published number are judged by an independent computation, the reference; those "
        "of statements show the number by which they were tested.</p>\n",
        cairn_version());
}

static void put_end(FILE *page)
{
    fputs("</body>\n</html>\n", page);
}

/* ---- one entry ------------------------------------------------------------------------------- */

static void put_row(FILE *page, const cairn_finding *f)
{
    const char *verdict = cairn_match_name(f->match);
    fputs("<tr><td>", page);
    put(page, f->what);
    fputs("</td>", page);
    put_number(page, f->published, "%.8g");
    put_number(page, f->reference, "%.10g");
    fprintf(page, "<td class=\"n\">%.10g</td>", f->ours);
    put_number(page, f->statement ? 0 : f->difference, "%.1e");
    put_number(page, f->within, "%.1e");
    fprintf(page, "<td class=\"%s\">%s</td><td>", verdict, verdict);
    put(page, f->why);
    fputs("</td></tr>\n", page);
}

static void put_table(FILE *page, const cairn_study *study)
{
    fputs("<table class=\"rows\">\n<tr><th>what</th><th class=\"n\">published</th>"
          "<th class=\"n\">reference</th><th class=\"n\">ours</th><th class=\"n\">difference</th>"
          "<th class=\"n\">tolerance</th><th>verdict</th><th>remark</th></tr>\n",
          page);
    for (int i = 0; i < study->finding_count; i++)
        put_row(page, &study->findings[i]);
    fputs("</table>\n", page);
}

/* The drawing itself, without the header of the file. */
static void put_svg(FILE *page, const char *path)
{
    char line[8192];
    bool inside = false;
    struct stat about;
    bool plain = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    FILE *svg = plain ? fopen(path, "r") : NULL;
    if (!svg)
        return;
    while (fgets(line, sizeof line, svg)) {
        inside = inside || strstr(line, "<svg");
        if (inside)
            fputs(line, page);
    }
    fclose(svg);
}

static void put_figures(FILE *page, const char *folder, const cairn_computed *c)
{
    char path[REPRODUCE_PATH];
    fputs("<div class=\"figures\">\n", page);
    for (int i = 0; i < c->study.figure_count; i++)
        if (snprintf(path, sizeof path, "%s/%s-%s.svg", folder, c->entry->name,
                     c->study.figures[i].name) < (int)sizeof path) {
            fputs("<figure>\n", page);
            put_svg(page, path);
            fputs("</figure>\n", page);
        }
    fputs("</div>\n", page);
}

static void put_entry(FILE *page, const char *folder, const cairn_computed *c)
{
    fprintf(page, "<h2 id=\"%s\">%s %s: ", c->entry->name, c->entry->paper, c->entry->item);
    put(page, c->entry->summary);
    fputs("</h2>\n<p class=\"note\">", page);
    put(page, c->study.note);
    fputs("</p>\n", page);
    if (c->problem[0])
        fprintf(page, "<p class=\"differs\">could not be computed: %s</p>\n", c->problem);
    if (c->study.finding_count > 0)
        put_table(page, &c->study);
    put_figures(page, folder, c);
    fprintf(page,
            "<p class=\"time\">Computed in %.1f s, %.1f s of CPU: "
            "<code>cairn reproduce %s</code></p>\n",
            c->seconds, c->cpu, c->entry->name);
}

void cairn_page_write(FILE *page, const char *folder, const cairn_computed *c)
{
    char title[128];
    snprintf(title, sizeof title, "%s %s", c->entry->paper, c->entry->item);
    put_begin(page, title);
    put_entry(page, folder, c);
    put_end(page);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void cairn_verdict_count_add(cairn_verdict_count *count, const cairn_computed *c)
{
    count->entries++;
    count->failed += c->problem[0] != 0;
    for (int i = 0; i < c->study.finding_count; i++) {
        const cairn_finding *f = &c->study.findings[i];
        int *of = f->statement        ? count->statements
                  : f->published != 0 ? count->published
                                      : count->reference;
        of[f->match]++;
    }
}

static void put_counts(FILE *page, const char *what, const int *count)
{
    fprintf(page, "<tr><td>%s</td>", what);
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        fprintf(page, "<td class=\"n\">%d</td>", count[m]);
    fputs("</tr>\n", page);
}

static void put_count(FILE *page, const cairn_verdict_count *count)
{
    fprintf(page, "<h2 id=\"count\">Verdicts of %d items</h2>\n<table>\n<tr><th>judged by</th>",
            count->entries);
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        fprintf(page, "<th class=\"n %s\">%s</th>", cairn_match_name(m), cairn_match_name(m));
    fputs("</tr>\n", page);
    put_counts(page, "numbers printed in the papers", count->published);
    put_counts(page, "an independent computation", count->reference);
    put_counts(page, "statements of the papers", count->statements);
    fputs("</table>\n", page);
    if (count->failed)
        fprintf(page, "<p class=\"differs\">%d could not be computed.</p>\n", count->failed);
}

/* Its verdicts in one line of the summary; a cell without any is empty. */
static void put_summary_row(FILE *page, const cairn_computed *c)
{
    int count[CAIRN_MATCH_COUNT] = { 0 };
    for (int i = 0; i < c->study.finding_count; i++)
        count[c->study.findings[i].match]++;
    fprintf(page, "<tr><td>%s</td><td><a href=\"#%s\">%s</a></td><td>", c->entry->paper,
            c->entry->name, c->entry->item);
    put(page, c->entry->summary);
    fputs("</td>", page);
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++) {
        fprintf(page, "<td class=\"n %s\">", cairn_match_name(m));
        if (count[m] > 0)
            fprintf(page, "%d", count[m]);
        fputs("</td>", page);
    }
    if (c->problem[0])
        fputs("<td class=\"differs\">failed</td></tr>\n", page);
    else if (c->state == ENTRY_ENDED)
        fprintf(page, "<td class=\"n\">%.1f</td></tr>\n", c->cpu);
    else
        fputs("<td>interrupted</td></tr>\n", page);
}

static void put_summary(FILE *page, const cairn_computed *items, int count)
{
    fputs("<h2 id=\"items\">Items</h2>\n<table>\n<tr><th>paper</th><th>item</th><th>what</th>",
          page);
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        fprintf(page, "<th class=\"n %s\">%s</th>", cairn_match_name(m), cairn_match_name(m));
    fputs("<th class=\"n\">CPU (s)</th></tr>\n", page);
    for (int i = 0; i < count; i++)
        put_summary_row(page, &items[i]);
    fputs("</table>\n", page);
}

/* Every row that differs, with its reason. */
static void put_different(FILE *page, const cairn_computed *items, int count)
{
    fputs("<h2 id=\"differs\">What differs, and why</h2>\n<ul>\n", page);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < items[i].study.finding_count; k++) {
            const cairn_finding *f = &items[i].study.findings[k];
            if (f->match != CAIRN_MATCH_DIFFERS)
                continue;
            fprintf(page, "<li><a href=\"#%s\">%s %s</a>, ", items[i].entry->name,
                    items[i].entry->paper, items[i].entry->item);
            put(page, f->what);
            fputs(": ", page);
            put(page, f->why);
            fputs("</li>\n", page);
        }
    fputs("</ul>\n", page);
}

void cairn_page_report(FILE *page, const char *folder, const cairn_computed *items, int count)
{
    cairn_verdict_count verdicts = { { 0 } };
    put_begin(page, "Published results, computed again");
    for (int i = 0; i < count; i++)
        if (items[i].state == ENTRY_ENDED)
            cairn_verdict_count_add(&verdicts, &items[i]);
    put_count(page, &verdicts);
    put_summary(page, items, count);
    if (verdicts.published[CAIRN_MATCH_DIFFERS] + verdicts.reference[CAIRN_MATCH_DIFFERS] +
        verdicts.statements[CAIRN_MATCH_DIFFERS])
        put_different(page, items, count);
    for (int i = 0; i < count; i++)
        if (items[i].state == ENTRY_ENDED)
            put_entry(page, folder, &items[i]);
    put_end(page);
}
