/* statistics.c - the group /statistics: rows have the times of frames; energy, centre, height and
 * temperature are recomputed, the last three where no box is given. The others are not.
 *
 *     centre x = sum m x/sum m,   heights along -g,   temperature sum |v - u|^2/(d N), u the mean v
 *     energy: kinetic and potential of the state, works and losses summed up over the steps */
#include <stdio.h>
#include <string.h>

#include "run.h"

enum { COLUMNS = 10, SERIES = 4, FLOWS = 8 };

/* A series of the file: what its columns are. */
typedef struct series {
    check_group group;
    struct {
        size_t capacity;
        double *time, *column[COLUMNS];
    } rows;
    int next; /* next row to be checked */
} series;

struct check_series {
    series all[SERIES];
    double sum[FLOWS], terms[FLOWS]; /* J: works and losses so far; of their magnitudes */
};

enum { ENERGY, CENTRE, HEIGHT, TEMPERATURE };

typedef struct check_series check_series;

#define NONE offsetof(series, rows)
#define TIME                                                                                       \
    {                                                                                              \
        "time", 1, false, offsetof(series, rows.time) - NONE, false                                \
    }
static const check_field energy_fields[] = {
    TIME,
    { "kinetic", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "potential", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "entered", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "load_work", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "driver_work", 1, false, offsetof(series, rows.column[4]) - NONE, true },
    { "correction", 1, false, offsetof(series, rows.column[5]) - NONE, true },
    { "friction_loss", 1, false, offsetof(series, rows.column[6]) - NONE, true },
    { "impact_loss", 1, false, offsetof(series, rows.column[7]) - NONE, true },
    { "numerical_loss", 1, false, offsetof(series, rows.column[8]) - NONE, true },
    { "sleep_loss", 1, false, offsetof(series, rows.column[9]) - NONE, true },
};
static const check_field centre_fields[] = {
    TIME,
    { "x", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "y", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "z", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "vx", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "vy", 1, false, offsetof(series, rows.column[4]) - NONE, true },
    { "vz", 1, false, offsetof(series, rows.column[5]) - NONE, true },
    { "mass", 1, false, offsetof(series, rows.column[6]) - NONE, true },
};
static const check_field height_fields[] = {
    TIME,
    { "mean", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "top", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "bottom", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "spread", 1, false, offsetof(series, rows.column[3]) - NONE, true },
};
static const check_field temperature_fields[] = {
    TIME,
    { "temperature", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "x", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "y", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "z", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "speed", 1, false, offsetof(series, rows.column[4]) - NONE, true },
};

static const check_group groups[SERIES] = {
    [ENERGY] = { "statistics/energy", energy_fields, CHECK_COUNT(energy_fields), 3, { 0 }, 0 },
    [CENTRE] = { "statistics/centre", centre_fields, CHECK_COUNT(centre_fields), 3, { 0 }, 0 },
    [HEIGHT] = { "statistics/height", height_fields, CHECK_COUNT(height_fields), 3, { 0 }, 0 },
    [TEMPERATURE] = { "statistics/temperature",
                      temperature_fields,
                      CHECK_COUNT(temperature_fields),
                      3,
                      { 0 },
                      0 },
};

/* ---- opening -------------------------------------------------------------------------------- */

/* Whether all grains count, regardless of position. */
static bool has_no_box(const check_run *run)
{
    double low[3] = { 0 }, high[3] = { 0 };
    check_report quiet = { 0 };
    hid_t group = H5Gopen2(run->file, "statistics", H5P_DEFAULT);
    bool none = group >= 0 && check_attribute(group, "low", 3, low, &quiet) &&
                check_attribute(group, "high", 3, high, &quiet);
    for (int k = 0; k < 3; k++)
        none = none && low[k] <= -1e30 && high[k] >= 1e30;
    if (group >= 0)
        H5Gclose(group);
    return none;
}

bool check_statistics_open(check_run *run)
{
    if (!check_has(run->file, "statistics"))
        return true;
    if (!check_memory_take(&run->series, 1, sizeof *run->series))
        return check_fail(run->report, "no memory");
    bool everywhere = has_no_box(run);
    for (int k = 0; k < SERIES; k++) {
        series *s = &run->series->all[k];
        if (!check_has(run->file, groups[k].name) || (k != ENERGY && !everywhere))
            continue;
        s->group = groups[k];
        if (!check_group_open(run->file, &s->group, run->report) ||
            !check_group_read(&s->group, 0, s->group.rows, &s->rows, run->report))
            return false;
    }
    return true;
}

void check_statistics_close(check_run *run)
{
    for (int k = 0; k < SERIES && run->series; k++) {
        series *s = &run->series->all[k];
        check_group_free(&s->group, &s->rows);
        check_group_close(&s->group);
    }
    check_memory_free(&run->series);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* One number of the next row; scale: of the terms that it is made of. */
static void compare(check_run *run, int k, int column, double computed, double scale)
{
    series *s = &run->series->all[k];
    const check_field *field = &s->group.fields[column + 1];
    if (s->group.dataset[column + 1] < 0)
        return;
    check_same(run->report, check_at(run, groups[k].name, s->next, field->name),
               s->rows.column[column][s->next], computed, scale);
}

/* The row of this state, if the series has one. */
static bool is_due(const check_run *run, int k)
{
    const series *s = &run->series->all[k];
    double time = run->step > 0 ? run->steps.time[run->step - 1] : run->start_time;
    return s->group.fields && s->next < s->group.rows && s->rows.time[s->next] == time;
}

/* Works and losses of the loaded step, in the order of the columns. */
static void add_flows(check_run *run)
{
    const check_steps *t = &run->steps;
    const double *columns[FLOWS] = { t->entered_energy, t->load_work,     t->driver_work,
                                     t->correction,     t->friction_loss, t->impact_loss,
                                     t->numerical_loss, t->sleep_loss };
    for (int c = 0; c < FLOWS && run->step > 0; c++) {
        run->series->sum[c] += columns[c][run->step - 1];
        run->series->terms[c] += fabs(columns[c][run->step - 1]);
    }
}

static void compare_energy(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    double size = run->start_size + (i < 0 ? 0 : fabs(t->kinetic[i]) + fabs(t->potential[i]));
    compare(run, ENERGY, 0, i < 0 ? run->start_kinetic : t->kinetic[i], size);
    compare(run, ENERGY, 1, i < 0 ? run->start_potential : t->potential[i], size);
    for (int c = 0; c < FLOWS; c++)
        compare(run, ENERGY, c + 2, run->series->sum[c], run->series->terms[c]);
}

/* Sums over the dynamic bodies of a state, and over the magnitudes of their terms. */
typedef struct grains {
    int count;
    double mass, speed, square;
    vec x, v, u; /* the last not weighted by mass */
    double x_size, v_size;
} grains;

static bool is_grain(const check_run *run, int row)
{
    return run->bodies.motion[run->after.index[row]] == CHECK_DYNAMIC;
}

static grains sum_up(const check_run *run)
{
    grains g = { .count = 0 };
    const check_state *s = &run->after;
    for (int i = 0; i < s->count; i++) {
        double m = run->bodies.mass[s->index[i]];
        if (!is_grain(run, i))
            continue;
        g.count++;
        g.mass += m;
        g.x = vec_add(g.x, m, s->x[i]);
        g.v = vec_add(g.v, m, s->v[i]);
        g.u = vec_add(g.u, 1, s->v[i]);
        g.x_size += m * vec_norm(s->x[i]);
        g.v_size += m * vec_norm(s->v[i]);
        g.speed += vec_norm(s->v[i]);
        g.square += vec_dot(s->v[i], s->v[i]);
    }
    return g;
}

static void compare_centre(check_run *run, const grains *g)
{
    const double numbers[] = { g->x.x, g->x.y, g->x.z, g->v.x, g->v.y, g->v.z };
    for (int c = 0; c < 6; c++)
        compare(run, CENTRE, c, numbers[c] / g->mass, (c < 3 ? g->x_size : g->v_size) / g->mass);
    compare(run, CENTRE, 6, g->mass, g->mass);
}

/* The spread as its square: near 0 the root of rounding is large. */
static void compare_height(check_run *run, const grains *g)
{
    const check_state *s = &run->after;
    vec gravity = run->settings.gravity;
    double strength = vec_norm(gravity), square = 0, terms = 0, low = INFINITY, high = -INFINITY;
    if (!(strength > 0))
        return; /* the direction up is then arbitrary */
    vec up = vec_times(-1 / strength, gravity);
    double mean = vec_dot(up, g->x) / g->mass, size = g->x_size / g->mass;
    series *mine = &run->series->all[HEIGHT];
    for (int i = 0; i < s->count; i++) {
        int body = s->index[i];
        double at = vec_dot(up, s->x[i]), m = run->bodies.mass[body];
        double r = run->bodies.shape[body] == CHECK_SPHERE ? run->bodies.radius[body] : 0;
        if (!is_grain(run, i))
            continue;
        square += m * (at - mean) * (at - mean);
        terms += m * (at * at + mean * mean);
        low = fmin(low, at - r);
        high = fmax(high, at + r);
    }
    compare(run, HEIGHT, 0, mean, size);
    compare(run, HEIGHT, 1, high, size + fabs(high));
    compare(run, HEIGHT, 2, low, size + fabs(low));
    double spread = mine->rows.column[3][mine->next];
    check_same(run->report, check_at(run, groups[HEIGHT].name, mine->next, "spread"),
               spread * spread, square / g->mass, 100 * terms / g->mass);
}

static void compare_temperature(check_run *run, const grains *g)
{
    const check_state *s = &run->after;
    double n = g->count, square[3] = { 0, 0, 0 }, size = 10 * g->square / n;
    vec u = vec_times(1 / n, g->u);
    for (int i = 0; i < s->count; i++)
        if (is_grain(run, i)) {
            vec w = vec_add(s->v[i], -1, u);
            square[0] += w.x * w.x / n;
            square[1] += w.y * w.y / n;
            square[2] += w.z * w.z / n;
        }
    compare(run, TEMPERATURE, 0, (square[0] + square[1] + square[2]) / run->settings.dimension,
            size);
    for (int c = 0; c < 3; c++)
        compare(run, TEMPERATURE, c + 1, square[c], size);
    compare(run, TEMPERATURE, 4, g->speed / n, g->speed / n);
}

void check_statistics_of(check_run *run)
{
    if (!run->series)
        return;
    grains g = sum_up(run);
    add_flows(run);
    if (is_due(run, ENERGY))
        compare_energy(run);
    if (is_due(run, CENTRE))
        compare_centre(run, &g);
    if (is_due(run, HEIGHT))
        compare_height(run, &g);
    if (is_due(run, TEMPERATURE))
        compare_temperature(run, &g);
    for (int k = 0; k < SERIES; k++)
        run->series->all[k].next += is_due(run, k);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Every row of a statistic has the time of a step, and they are in order. */
static bool check_times(check_run *run, const char *name)
{
    static const check_field field = { "time", 1, false, offsetof(check_list, value), false };
    check_list times = { 0 };
    check_group group = { name, &field, 1, 3, { 0 }, 0 };
    long step = 0;
    bool good = check_group_open(run->file, &group, run->report) &&
                check_group_read(&group, 0, group.rows, &times, run->report);
    for (int64_t i = 0; i < group.rows && good; i++) {
        while (step < run->steps.count && times.value[i] != run->start_time &&
               times.value[i] > (step > 0 ? run->steps.time[step - 1] : run->start_time))
            step++;
        double time = step > 0 ? run->steps.time[step - 1] : run->start_time;
        check_true(run->report, (check_place){ 0, name, (long)i, "time" }, times.value[i] == time,
                   "not the time of a step, or out of order");
    }
    check_group_free(&group, &times);
    check_group_close(&group);
    return good;
}

bool check_statistics(check_run *run)
{
    H5G_info_t about = { 0 };
    hid_t group = run->series ? H5Gopen2(run->file, "statistics", H5P_DEFAULT) : -1;
    bool good = true;
    if (group < 0)
        return true;
    H5Gget_info(group, &about);
    for (hsize_t i = 0; i < about.nlinks && good; i++) {
        char name[64], path[128];
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                           H5P_DEFAULT);
        snprintf(path, sizeof path, "statistics/%s", name);
        good = check_times(run, path);
    }
    H5Gclose(group);
    for (int k = 0; k < SERIES; k++)
        check_true(run->report, (check_place){ 0, NULL, 0, groups[k].name },
                   run->series->all[k].next == run->series->all[k].group.rows,
                   "it has a row without a state, or out of order");
    return good;
}
