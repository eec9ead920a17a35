/* run_materials.c - see run_materials.h.
 *
 * Friction of a pair at a sliding speed is the smaller of the two laws that it names. Law k < n is
 * that of material k; pairs with a law of their own follow, and name it twice. */
#include "io/run_materials.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/hdf5_column.h"

/* The pairs of a world. */
typedef struct pairs {
    const cairn_world *world;
    int count;        /* materials                                                 */
    int32_t *own_law; /* count x count: number of the pair's own law, -1: none     */
    int laws;
} pairs;

static cairn_material_def pair_of(const pairs *p, int a, int b)
{
    cairn_material_def def;
    cairn_material_pair_get(p->world, a, b, &def);
    return def;
}

static int own_law(const pairs *p, int a, int b)
{
    return p->own_law[(size_t)a * (size_t)p->count + (size_t)b];
}

/* ---- matrices ------------------------------------------------------------------------------- */

static double friction_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).friction;
}

static double restitution_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).restitution;
}

static double poisson_of(const pairs *p, int a, int b)
{
    return strcmp(pair_of(p, a, b).restitution_law, "poisson") == 0;
}

static double first_law_of(const pairs *p, int a, int b)
{
    return own_law(p, a, b) >= 0 ? own_law(p, a, b) : a;
}

static double second_law_of(const pairs *p, int a, int b)
{
    return own_law(p, a, b) >= 0 ? own_law(p, a, b) : b;
}

static double friction_2_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).friction_2;
}

static double adhesion_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).adhesion;
}

static double adhesion_range_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).adhesion_range;
}

static double rolling_friction_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).rolling_friction;
}

static double spinning_friction_of(const pairs *p, int a, int b)
{
    return pair_of(p, a, b).spinning_friction;
}

/* All after the first PLAIN are there where some material has a law beyond Coulomb friction. */
enum { PLAIN = 5 };

static const struct {
    const char *name, *unit;
    double (*value)(const pairs *p, int a, int b);
} matrices[] = {
    { "friction", "1", friction_of },
    { "restitution", "1", restitution_of },
    { "poisson", "", poisson_of },
    { "law_first", "", first_law_of },
    { "law_second", "", second_law_of },
    { "friction_2", "1", friction_2_of },
    { "adhesion", "N", adhesion_of },
    { "adhesion_range", "m", adhesion_range_of },
    { "rolling_friction", "m", rolling_friction_of },
    { "spinning_friction", "m", spinning_friction_of },
};

static bool is_beyond_coulomb(const cairn_world *world)
{
    cairn_surface_laws laws = cairn_world_surface_laws(world);
    return laws.anisotropic || laws.adhesive || laws.rolling || laws.spinning;
}

static cairn_status write_matrix(hid_t group, const pairs *p, int k, double *row,
                                 cairn_error *error)
{
    cairn_hdf5_column column = { 0 };
    cairn_hdf5_column_def def = {
        matrices[k].name, matrices[k].unit, CAIRN_HDF5_REAL, p->count, 16, NULL
    };
    cairn_status status = cairn_hdf5_column_create(group, &def, &column, error);
    for (int a = 0; a < p->count && status == CAIRN_OK; a++) {
        for (int b = 0; b < p->count; b++)
            row[b] = matrices[k].value(p, a, b);
        status = cairn_hdf5_column_append(&column, 1, row, error);
    }
    cairn_hdf5_column_close(&column);
    return status;
}

static cairn_status write_matrices(hid_t group, const pairs *p, cairn_error *error)
{
    double *row = cairn_memory_zeroed((size_t)p->count, sizeof *row);
    cairn_status status = row ? CAIRN_OK : CAIRN_NO_MEMORY;
    size_t count = is_beyond_coulomb(p->world) ? sizeof matrices / sizeof matrices[0] : PLAIN;
    for (size_t k = 0; k < count && status == CAIRN_OK; k++)
        status = write_matrix(group, p, (int)k, row, error);
    cairn_memory_free(row);
    return status;
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* A row of `laws`: kind, friction, static, dynamic, speed, exponent, points. */
enum { LAW_NUMBERS = 7 };

static const char *law_name(int kind)
{
    const cairn_record *record = cairn_friction_law_record(kind);
    return record ? record->name : NULL;
}

static cairn_status write_law(const cairn_material_def *def, cairn_hdf5_column columns[2],
                              cairn_error *error)
{
    const cairn_friction_law *law = &def->friction_law;
    int points = law->kind == CAIRN_FRICTION_TABLE ? law->speeds.count : 0;
    const double row[LAW_NUMBERS] = { (double)law->kind, def->friction, law->mu_static,
                                      law->mu_dynamic,   law->speed,    law->exponent,
                                      (double)points };
    TRY(cairn_hdf5_column_append(&columns[0], 1, row, error));
    for (int i = 0; i < points; i++) {
        const double point[2] = { law->speeds.values[i], law->values.values[i] };
        TRY(cairn_hdf5_column_append(&columns[1], 1, point, error));
    }
    return CAIRN_OK;
}

static cairn_status write_all(const pairs *p, cairn_hdf5_column columns[2], cairn_error *error)
{
    for (int a = 0; a < p->count; a++) {
        cairn_material_def def;
        TRY(cairn_material_get(p->world, a, &def));
        TRY(write_law(&def, columns, error));
    }
    for (int a = 0; a < p->count; a++)
        for (int b = a; b < p->count; b++) {
            cairn_material_def def = pair_of(p, a, b);
            if (own_law(p, a, b) >= 0)
                TRY(write_law(&def, columns, error));
        }
    return CAIRN_OK;
}

static cairn_status write_laws(hid_t group, const pairs *p, cairn_error *error)
{
    const char *names[CAIRN_FRICTION_SMALLER];
    cairn_hdf5_column columns[2] = { { 0 }, { 0 } };
    cairn_hdf5_column_def laws = { "laws", "", CAIRN_HDF5_REAL, LAW_NUMBERS, 16, NULL };
    cairn_hdf5_column_def points = { "law_points", "m/s, 1", CAIRN_HDF5_REAL, 2, 64, NULL };
    for (int kind = 0; kind < CAIRN_FRICTION_SMALLER; kind++)
        names[kind] = law_name(kind);
    cairn_status status = cairn_hdf5_column_create(group, &laws, &columns[0], error);
    if (status == CAIRN_OK)
        status =
            cairn_hdf5_texts(columns[0].dataset, "names", names, CAIRN_FRICTION_SMALLER, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_column_create(group, &points, &columns[1], error);
    if (status == CAIRN_OK)
        status = write_all(p, columns, error);
    cairn_hdf5_column_close(&columns[0]);
    cairn_hdf5_column_close(&columns[1]);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void number_laws(pairs *p)
{
    p->laws = p->count;
    for (int a = 0; a < p->count; a++)
        for (int b = a; b < p->count; b++) {
            bool own = pair_of(p, a, b).friction_law.kind != CAIRN_FRICTION_SMALLER;
            size_t there = (size_t)a * (size_t)p->count + (size_t)b;
            size_t back = (size_t)b * (size_t)p->count + (size_t)a;
            p->own_law[there] = p->own_law[back] = own ? p->laws++ : -1;
        }
}

cairn_status cairn_run_materials_write(hid_t group, const cairn_world *world, cairn_error *error)
{
    cairn_material_def def;
    pairs p = { .world = world };
    if (H5Lexists(group, "laws", H5P_DEFAULT) > 0) /* a file that goes on */
        return CAIRN_OK;
    while (cairn_material_get(world, p.count, &def) == CAIRN_OK)
        p.count++;
    if (p.count == 0)
        return CAIRN_OK;
    p.own_law = cairn_memory_zeroed((size_t)p.count * (size_t)p.count, sizeof *p.own_law);
    if (!p.own_law)
        return CAIRN_NO_MEMORY;
    number_laws(&p);
    cairn_status status = write_matrices(group, &p, error);
    if (status == CAIRN_OK)
        status = write_laws(group, &p, error);
    cairn_memory_free(p.own_law);
    return status;
}
