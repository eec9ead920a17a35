/* statistics.c - the table of all statistics, and measuring one state by one of them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "measure/measure.h"

static const cairn_statistic *const statistics[] = {
    &cairn_statistic_packing,    &cairn_statistic_slices,           &cairn_statistic_surface,
    &cairn_statistic_height,     &cairn_statistic_centre,           &cairn_statistic_coordination,
    &cairn_statistic_neighbours, &cairn_statistic_pair_correlation, &cairn_statistic_forces,
    &cairn_statistic_stress,     &cairn_statistic_fabric,           &cairn_statistic_temperature,
    &cairn_statistic_mixing,     &cairn_statistic_energy,
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

static bool is_kept(const cairn_statistic_field *field, int dimension)
{
    return dimension == 3 || !field->deep;
}

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

void cairn_statistic_table_destroy(cairn_statistic_table *table)
{
    cairn_memory_free(table->values);
    *table = (cairn_statistic_table){ 0 };
}

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

/* The box as given, with sides from 1e30 on infinite. */
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

/* Upward is the coordinate axis nearest to minus gravity; without gravity y in 2D and z in 3D. */
static void choose_axes(cairn_measure *m)
{
    cairn_vec3 g = m->sample->gravity;
    int dimension = m->sample->dimension;
    m->up = dimension - 1;
    for (int k = 0; k < dimension; k++)
        if (fabs(cairn_component(g, k)) > fabs(cairn_component(g, m->up)))
            m->up = k;
    m->upward = cairn_component(g, m->up) > 0 ? -1 : 1;
    m->axis = m->options->axis[0] == 'u' ? m->up : m->options->axis[0] - 'x';
}

static double least_force(const cairn_sample *s)
{
    double largest = 0;
    for (int c = 0; c < s->contacts; c++)
        largest = fmax(largest, cairn_dot(s->force[c], s->normal[c]));
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
    if (m.statistic->contacts && !sample->has_contacts)
        return CAIRN_OK;
    m.box = given_box(options, sample->dimension);
    choose_axes(&m);
    if (m.axis >= sample->dimension)
        return CAIRN_BAD_INPUT;
    m.least = least_force(sample);
    cairn_status status = m.statistic->measure(&m);
    if (status != CAIRN_OK)
        table->rows = rows;
    return status;
}
