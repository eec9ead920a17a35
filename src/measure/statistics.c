/* statistics.c - the table of all statistics, the measurement of one state, and its options. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "measure/measure.h"

/* In the order in which `cairn list statistics` shows them. */
static const cairn_statistic *const statistics[] = {
    &cairn_statistic_packing,    &cairn_statistic_slices,
    &cairn_statistic_surface,    &cairn_statistic_height,
    &cairn_statistic_centre,     &cairn_statistic_coordination,
    &cairn_statistic_neighbours, &cairn_statistic_pair_correlation,
    &cairn_statistic_forces,     &cairn_statistic_stress,
    &cairn_statistic_fabric,     &cairn_statistic_temperature,
    &cairn_statistic_mixing,     &cairn_statistic_energy,
    &cairn_statistic_flow,       &cairn_statistic_fields,
    &cairn_statistic_cell,
};

enum { STATISTICS = sizeof statistics / sizeof statistics[0] };

const char *cairn_statistic_name(int index)
{
    return index >= 0 && index < STATISTICS ? statistics[index]->name : NULL;
}

const cairn_statistic *cairn_statistic_find(const char *name)
{
    for (int i = 0; i < STATISTICS; i++)
        if (strcmp(statistics[i]->name, name) == 0)
            return statistics[i];
    return NULL;
}

const char *cairn_statistic_summary(const char *name)
{
    const cairn_statistic *found = cairn_statistic_find(name);
    return found ? found->summary : NULL;
}

const char *cairn_statistic_needs(const char *name)
{
    const cairn_statistic *found = cairn_statistic_find(name);
    return found ? found->needs : NULL;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Columns of the third dimension are dropped in 2D. */
static bool is_kept(const cairn_statistic_field *field, int dimension)
{
    return dimension == 3 || !field->deep;
}

/* The time is column 0 of every table. Columns of the third dimension are left out in 2D, and
 * units change where a volume becomes an area. */
cairn_status cairn_statistic_table_create(const char *name, int dimension,
                                          cairn_statistic_table *out)
{
    const cairn_statistic *found = cairn_statistic_find(name);
    *out = (cairn_statistic_table){ .dimension = dimension };
    if (!found)
        return CAIRN_NOT_FOUND;
    out->name = found->name;
    out->series = found->series;
    out->columns[out->column_count++] =
        (cairn_statistic_column){ "time", "s", "time of the frame", false };
    for (int i = 0; i < found->field_count; i++) {
        const cairn_statistic_field *field = &found->fields[i];
        if (!is_kept(field, dimension))
            continue;
        cairn_statistic_column *column = &out->columns[out->column_count++];
        *column = field->column;
        if (dimension == 2 && field->flat_unit)
            column->unit = field->flat_unit;
    }
    return CAIRN_OK;
}

/* Forces, torques and works of a series; in 2D the torque is one number. */
static const cairn_statistic_field series_fields[] = {
    { { "force_x", "N", "mean force over the row's time", true }, NULL, false },
    { { "force_y", "N", "mean force over the row's time", true }, NULL, false },
    { { "force_z", "N", "mean force over the row's time", true }, NULL, true },
    { { "torque_x", "N m", "mean torque over the row's time", true }, NULL, true },
    { { "torque_y", "N m", "mean torque over the row's time", true }, NULL, true },
    { { "torque_z", "N m", "mean torque over the row's time", true }, NULL, false },
    { { "work", "J", "done in the row's time", true }, NULL, false },
};

void cairn_series_table_create(const char *name, int dimension, cairn_statistic_table *out)
{
    *out = (cairn_statistic_table){ .name = name, .dimension = dimension, .series = true };
    out->columns[out->column_count++] =
        (cairn_statistic_column){ "time", "s", "end of the row's time", false };
    for (size_t i = 0; i < sizeof series_fields / sizeof series_fields[0]; i++)
        if (is_kept(&series_fields[i], dimension))
            out->columns[out->column_count++] = series_fields[i].column;
}

void cairn_statistic_table_destroy(cairn_statistic_table *table)
{
    cairn_memory_free(table->values);
    *table = (cairn_statistic_table){ 0 };
}

/* The rows of a table are contiguous; the array grows as needed. */
cairn_status cairn_measure_row(cairn_measure *m, const double *row)
{
    cairn_statistic_table *t = m->out;
    size_t next = t->rows * (size_t)t->column_count;
    void *block = t->values;
    TRY(cairn_memory_reserve(&block, &t->capacity, next + (size_t)t->column_count,
                             sizeof *t->values));
    t->values = block;
    t->values[next++] = m->sample->time;
    for (int i = 0; i < m->statistic->field_count; i++)
        if (is_kept(&m->statistic->fields[i], t->dimension))
            t->values[next++] = row[i];
    t->rows++;
    return CAIRN_OK;
}

/* ---- visiting all --------------------------------------------------------------------------- */

static cairn_visit visit_rows(const cairn_sample *s, cairn_rows rows)
{
    cairn_visit visit = { .sample = s, .rows = rows };
    if (s->source)
        return visit;
    visit.order = rows.contacts ? NULL : s->order;
    visit.end = !rows.contacts ? s->count : s->has_contacts ? s->contacts : 0;
    return visit;
}

cairn_visit cairn_visit_bodies(const cairn_measure *m)
{
    return visit_rows(m->sample, (cairn_rows){ .contacts = false });
}

cairn_visit cairn_visit_between(const cairn_measure *m, int axis, double low, double high)
{
    return visit_rows(m->sample, (cairn_rows){ false, true, axis, low, high });
}

cairn_visit cairn_visit_contacts(const cairn_measure *m)
{
    return visit_rows(m->sample, (cairn_rows){ .contacts = true });
}

bool cairn_visit_on(cairn_visit *visit)
{
    cairn_source *source = visit->sample->source;
    bool known = !visit->rows.contacts || visit->sample->has_contacts;
    if (!source || !known || source->status != CAIRN_OK)
        return false;
    visit->next = 0;
    visit->end = source->next(source->context, &visit->rows, !visit->begun);
    visit->begun = true;
    return visit->end > 0;
}

/* ---- measuring ------------------------------------------------------------------------------ */

bool cairn_measure_counts(const cairn_measure *m, int i)
{
    return m->sample->is_grain[i] && cairn_region_contains(&m->box, m->sample->x[i]);
}

bool cairn_measure_pushes(const cairn_measure *m, int c, double *force)
{
    double normal = cairn_dot(m->sample->force[c], m->sample->normal[c]);
    if (force)
        *force = normal;
    return normal > m->least;
}

bool cairn_measure_branch(const cairn_sample *s, int c, cairn_vec3 *from, cairn_vec3 *to)
{
    int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
    bool on_a = a >= 0 && s->is_grain[a], on_b = b >= 0 && s->is_grain[b];
    *from = on_b ? s->x[b] : s->point[c];
    *to = on_a ? s->x[a] : s->point[c];
    for (int i = 0; s->image && on_b && i < 3; i++) /* x_b + k1 e1 + k2 e2 + k3 e3 */
        *from = cairn_add_scaled(*from, s->image[c].k[i], s->lattice.edge[i]);
    return on_a || on_b;
}

/* The box as given. Sides at 1e30 m or beyond are open and become infinite. */
static cairn_region given_box(const cairn_measure_options *o, int dimension)
{
    cairn_region box = { .dimension = dimension };
    for (int k = 0; k < 3; k++) {
        double low = cairn_component(o->low, k), high = cairn_component(o->high, k);
        box.low[k] = low <= -1e30 ? -INFINITY : low;
        box.high[k] = high >= 1e30 ? INFINITY : high;
    }
    return box;
}

/* Upward is the coordinate axis nearest to minus gravity; without gravity it is y in 2D and z in
 * 3D. */
static void choose_axes(cairn_measure *m)
{
    cairn_vec3 g = m->sample->gravity;
    int dimension = m->sample->dimension;
    m->up = dimension - 1;
    for (int k = 0; k < dimension; k++)
        if (fabs(cairn_component(g, k)) > fabs(cairn_component(g, m->up)))
            m->up = k;
    m->upward = cairn_component(g, m->up) > 0 ? -1 : 1;
    /* "up", or one of "x", "y", "z" */
    m->axis = m->options->axis[0] == 'u' ? m->up : m->options->axis[0] - 'x';
}

double cairn_sample_largest(const cairn_sample *s)
{
    double largest = 0;
    for (int c = 0; c < s->contacts; c++)
        largest = fmax(largest, cairn_dot(s->force[c], s->normal[c]));
    return largest;
}

/* A millionth of the largest normal force; less counts as noise of the solver. */
double cairn_measure_least(double largest)
{
    return 1e-6 * largest;
}

cairn_status cairn_statistic_measure(const cairn_sample *sample,
                                     const cairn_measure_options *options, cairn_arena *arena,
                                     cairn_statistic_table *table)
{
    cairn_measure m = { .sample = sample, .options = options, .arena = arena, .out = table };
    size_t rows = table->rows;
    m.statistic = table->name ? cairn_statistic_find(table->name) : NULL;
    if (!m.statistic || sample->dimension != table->dimension)
        return CAIRN_BAD_INPUT;
    /* no rows instead of rows of zeros: the contacts are unknown, not absent */
    if (m.statistic->contacts && !sample->has_contacts)
        return CAIRN_OK;
    m.box = given_box(options, sample->dimension);
    choose_axes(&m);
    if (m.axis >= sample->dimension)
        return CAIRN_BAD_INPUT;
    const cairn_source *source = sample->source;
    m.least = cairn_measure_least(source ? source->largest : cairn_sample_largest(sample));
    cairn_status status = m.statistic->measure(&m);
    if (source && source->status != CAIRN_OK)
        status = source->status;
    if (status != CAIRN_OK)
        table->rows = rows;
    return status;
}

/* ---- options ----------------------------------------------------------------------------- */

/* The options of measurements: the table behind `measure:` in a scene and `cairn stat --set`. */

static const double OPEN = 1e30; /* m: a side at this distance is open */

static const char *axis_name(int index)
{
    static const char *const names[] = { "up", "x", "y", "z" };
    return index >= 0 && index < 4 ? names[index] : NULL;
}

static const char *classes_name(int index)
{
    static const char *const names[] = { "radius", "material" };
    return index >= 0 && index < 2 ? names[index] : NULL;
}

cairn_measure_options cairn_measure_options_default(void)
{
    return (cairn_measure_options){ .low = { -OPEN, -OPEN, -OPEN },
                                    .high = { OPEN, OPEN, OPEN },
                                    .trim = 0.15,
                                    .axis = "up",
                                    .bins = 50,
                                    .range = 5,
                                    .classes = "radius" };
}

static void set_default(void *options)
{
    *(cairn_measure_options *)options = cairn_measure_options_default();
}

static const cairn_option options[] = {
    { "low", CAIRN_OPTION_VECTOR, false, offsetof(cairn_measure_options, low), -1e30, 1e30, "m",
      "lower corner of the box that is measured; -1e30: open", NULL },
    { "high", CAIRN_OPTION_VECTOR, false, offsetof(cairn_measure_options, high), -1e30, 1e30, "m",
      "upper corner; 1e30: open", NULL },
    { "trim", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, trim), 0, 0.49, "",
      "share of the grains left out at each open side where a volume is needed", NULL },
    { "axis", CAIRN_OPTION_NAME, false, offsetof(cairn_measure_options, axis), 0, 0, "",
      "axis of slices and of the surface", axis_name },
    { "bins", CAIRN_OPTION_INTEGER, false, offsetof(cairn_measure_options, bins), 1, 4096, "",
      "rows of a profile or a histogram", NULL },
    { "range", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, range), CAIRN_POSITIVE,
      1000, "", "largest distance of the pair correlation, in mean diameters", NULL },
    { "classes", CAIRN_OPTION_NAME, false, offsetof(cairn_measure_options, classes), 0, 0, "",
      "what tells the two classes of a mixture", classes_name },
    { "cell", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, cell), 0, CAIRN_UNBOUNDED,
      "m", "edge of cells: mixing index, 0: 20 grains in a cell; fields, 0: 2 widths", NULL },
    { "width", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, width), 0, CAIRN_UNBOUNDED,
      "m", "standard deviation of the kernel of fields; 0: the mean diameter", NULL },
    { "kinetic", CAIRN_OPTION_FLAG, false, offsetof(cairn_measure_options, kinetic), 0, 1, "",
      "add the stress that moving grains carry", NULL },
};

const cairn_record *cairn_measure_record(void)
{
    static const cairn_record record = {
        "measure", "how statistics are measured",      sizeof(cairn_measure_options), set_default,
        options,   sizeof options / sizeof options[0],
    };
    return &record;
}

/* The record checks each value alone; these conditions concern several values or the dimension. */
cairn_status cairn_measure_options_check(const cairn_measure_options *o, int dimension,
                                         cairn_error *error)
{
    TRY(cairn_record_check(cairn_measure_record(), o, error));
    if (dimension == 2 && o->axis[0] == 'z')
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found z, expected up, x or y in 2D");
    for (int k = 0; k < dimension; k++)
        if (!(cairn_component(o->low, k) < cairn_component(o->high, k)))
            return cairn_fail(error, CAIRN_BAD_INPUT, "high",
                              "found %g, expected more than the lower corner's %g in m",
                              cairn_component(o->high, k), cairn_component(o->low, k));
    return CAIRN_OK;
}
