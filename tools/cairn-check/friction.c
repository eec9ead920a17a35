/* laws.c - what happens where materials meet: friction at a sliding speed, and restitution.
 *
 *     constant   mu
 *     stribeck   mu_d + (mu_s - mu_d) exp(-(speed/v_s)^p)
 *     table      linear between points, constant outside
 * A pair names two laws; the smaller value counts. */
#include <string.h>

#include "memory.h"
#include "run.h"

enum { KIND, CONSTANT, STATIC, DYNAMIC, SPEED, EXPONENT, POINTS };
enum { LAW_CONSTANT, LAW_STRIBECK, LAW_TABLE };

/* ---- reading -------------------------------------------------------------------------------- */

/* All numbers of a dataset with rows of `width` (0: as many as there are rows). */
static bool read_numbers(check_run *run, const char *name, int width, double **out, int *rows)
{
    hid_t dataset = H5Dopen2(run->file, name, H5P_DEFAULT);
    hsize_t extent[2] = { 0, 0 };
    if (dataset < 0)
        return check_fail(run->report, "there is no dataset /%s", name);
    hid_t space = H5Dget_space(dataset);
    bool good = H5Sget_simple_extent_ndims(space) == 2 || width != 2;
    good = good && H5Sget_simple_extent_ndims(space) <= 2 &&
           H5Sget_simple_extent_dims(space, extent, NULL) >= 1;
    if (H5Sget_simple_extent_ndims(space) == 1)
        extent[1] = 1;
    hsize_t wanted = width > 0 ? (hsize_t)width : extent[0];
    good = good && extent[1] == wanted && extent[0] < 100000;
    good = good && check_memory_take(out, (size_t)(extent[0] * extent[1]) + 1, sizeof **out) &&
           (extent[0] == 0 ||
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0);
    *rows = (int)extent[0];
    H5Sclose(space);
    H5Dclose(dataset);
    return good || check_fail(run->report, "/%s cannot be read", name);
}

static bool read_matrix(check_run *run, const char *name, double **out)
{
    int rows = 0;
    check_materials *m = &run->materials;
    if (!read_numbers(run, name, 0, out, &rows))
        return false;
    bool good = rows > 0 && (m->count == 0 || m->count == rows);
    m->count = rows;
    return good || check_fail(run->report, "/%s: expected a row for each material", name);
}

/* Kinds as here, points that exist. */
static bool read_laws(check_run *run)
{
    static const char *const kinds[] = { "constant", "stribeck", "table", NULL };
    check_materials *m = &run->materials;
    int names[16], next = 0;
    if (!read_numbers(run, "certificate/laws", CHECK_LAW_NUMBERS, &m->laws, &m->law_count) ||
        !read_numbers(run, "certificate/law_points", 2, &m->points, &m->point_count) ||
        !check_memory_take(&m->first_point, (size_t)m->law_count + 1, sizeof *m->first_point))
        return check_fail(run->report, "no memory");
    int known = check_names(run->file, "certificate/laws", kinds, 16, names);
    for (int i = 0; i < m->law_count; i++) {
        double *law = m->laws + i * CHECK_LAW_NUMBERS;
        int kind = law[KIND] >= 0 && law[KIND] < known ? names[(int)law[KIND]] : -1;
        bool good =
            kind >= 0 && law[POINTS] >= (kind == LAW_TABLE) && law[POINTS] <= m->point_count - next;
        if (!good)
            return check_fail(run->report, "/certificate/laws: law %d is not known here", i);
        law[KIND] = kind;
        m->first_point[i] = next;
        m->vary = m->vary || kind != LAW_CONSTANT;
        next += (int)law[POINTS];
    }
    return true;
}

static bool are_laws(check_run *run, const double *matrix)
{
    const check_materials *m = &run->materials;
    for (int i = 0; i < m->count * m->count; i++)
        if (!(matrix[i] >= 0 && matrix[i] < m->law_count))
            return check_fail(run->report, "/certificate: a pair names a law that is not there");
    return true;
}

/* Laws beyond Coulomb friction: all of them are there, or none. */
static bool read_beyond(check_run *run)
{
    check_materials *m = &run->materials;
    if (!check_has(run->file, "certificate/friction_2"))
        return true;
    return read_matrix(run, "certificate/friction_2", &m->friction_2) &&
           read_matrix(run, "certificate/adhesion", &m->adhesion) &&
           read_matrix(run, "certificate/adhesion_range", &m->adhesion_range) &&
           read_matrix(run, "certificate/rolling_friction", &m->rolling) &&
           read_matrix(run, "certificate/spinning_friction", &m->spinning);
}

static bool has_any(const check_materials *m, const double *matrix)
{
    bool any = false;
    for (int i = 0; matrix && i < m->count * m->count; i++)
        any = any || matrix[i] > 0;
    return any;
}

/* Contacts have components that turn where some pair has such friction. */
static bool count_components(check_run *run)
{
    check_settings *s = &run->settings;
    const check_materials *m = &run->materials;
    bool smooth = s->scheme->frictionless;
    s->rolling = has_any(m, m->rolling) && !smooth ? s->dimension - 1 : 0;
    s->spinning = has_any(m, m->spinning) && !smooth && s->dimension == 3 ? 1 : 0;
    s->components = s->dimension + s->rolling + s->spinning;
    return true;
}

bool check_materials_read(check_run *run)
{
    check_materials *m = &run->materials;
    return read_matrix(run, "certificate/friction", &m->friction) &&
           read_matrix(run, "certificate/restitution", &m->restitution) &&
           read_matrix(run, "certificate/poisson", &m->poisson) &&
           read_matrix(run, "certificate/law_first", &m->law_first) &&
           read_matrix(run, "certificate/law_second", &m->law_second) && read_laws(run) &&
           are_laws(run, m->law_first) && are_laws(run, m->law_second) && read_beyond(run) &&
           count_components(run);
}

void check_materials_free(check_materials *m)
{
    void *blocks[] = { &m->friction,   &m->restitution, &m->poisson,        &m->law_first,
                       &m->law_second, &m->laws,        &m->points,         &m->first_point,
                       &m->friction_2, &m->adhesion,    &m->adhesion_range, &m->rolling,
                       &m->spinning };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_memory_free(blocks[i]);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static double between_points(const double *point, int count, double speed)
{
    int k = 0;
    while (k < count && point[2 * k] <= speed)
        k++;
    if (k == 0 || k == count)
        return point[k == 0 ? 1 : 2 * count - 1];
    const double *low = point + 2 * (k - 1), *high = point + 2 * k;
    return low[1] + (speed - low[0]) / (high[0] - low[0]) * (high[1] - low[1]);
}

static double law_at(const check_materials *m, int number, double speed)
{
    const double *law = m->laws + number * CHECK_LAW_NUMBERS;
    if (law[KIND] == LAW_TABLE)
        return between_points(m->points + 2 * m->first_point[number], (int)law[POINTS], speed);
    if (law[KIND] == LAW_CONSTANT)
        return law[CONSTANT];
    double share = exp(-pow(speed / law[SPEED], law[EXPONENT]));
    return law[DYNAMIC] + (law[STATIC] - law[DYNAMIC]) * share;
}

static size_t pair_of(const check_run *run, int j)
{
    const int32_t *body = run->contacts.body + 2 * j;
    int a = run->bodies.material[body[0]], b = run->bodies.material[body[1]];
    return (size_t)a * (size_t)run->materials.count + (size_t)b;
}

double check_friction(const check_run *run, int j, double speed)
{
    const check_materials *m = &run->materials;
    size_t pair = pair_of(run, j);
    return fmin(law_at(m, (int)m->law_first[pair], speed),
                law_at(m, (int)m->law_second[pair], speed));
}

bool check_is_poisson(const check_run *run, int j)
{
    return run->materials.poisson[pair_of(run, j)] == 1;
}
