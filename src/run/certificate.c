/* certificate.c - the group /certificate of run.h5: every step, and the laws between materials;
 * see frame.h. */
#include "run/frame.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/cell.h"
#include "file/hdf5.h"

/* The parts by number: the group, the column with the offsets of its steps, and the member of a
 * frame with the number of rows. The order is that of sources_of(). */
static const struct {
    const char *group, *offset;
    size_t rows; /* offset of the number of rows in a cairn_run_frame */
} parts[CAIRN_CERTIFICATE_PARTS] = {
    { "bodies", "body_offset", offsetof(cairn_run_frame, bodies) },
    { "joints", "joint_offset", offsetof(cairn_run_frame, joint.count) },
    { "contacts", "contact_offset", offsetof(cairn_run_frame, contacts) },
    { "loads", "load_offset", offsetof(cairn_run_frame, loads) },
    { "poses", "pose_offset", offsetof(cairn_run_frame, poses) },
    { "guesses", "guess_offset", offsetof(cairn_run_frame, guesses) },
    { "rows", "row_offset", offsetof(cairn_run_frame, joint.rows) },
    { "impacts", "impact_offset", offsetof(cairn_run_frame, impacts) },
    { "changes", "change_offset", offsetof(cairn_run_frame, changes) },
};

/* Parts below STATES are states, which also exist before the first step, so they have one block
 * more than there are steps; the others belong to steps. CONTACTS is the number of that part. */
enum { STATES = 2, CONTACTS = 2 };

static cairn_run_sources sources_of(int part, const cairn_world *world)
{
    const cairn_lattice cell = cairn_world_lattice(world);
    const cairn_run_sources lists[CAIRN_CERTIFICATE_PARTS] = {
        cairn_run_state_sources(cairn_world_dimension(world), cairn_lattice_exists(&cell)),
        cairn_run_joint_detail_sources(),
        cairn_run_contact_sources(world),
        cairn_run_load_sources(cairn_world_cell_count(world) > 0),
        cairn_run_pose_sources(),
        cairn_run_guess_sources(),
        cairn_run_joint_row_sources(),
        cairn_run_impact_sources(),
        cairn_run_change_sources(),
    };
    return lists[part];
}

/* Offsets begin with a 0, which a continued file already has. The further columns of contacts are a
 * second table in the same group. */
static cairn_status create_part(hid_t parent, int part, const cairn_world *world,
                                cairn_run_certificate *c, cairn_error *error)
{
    hid_t group;
    int dimension = cairn_world_dimension(world);
    cairn_hdf5_column_def def = { parts[part].offset, "",       CAIRN_HDF5_LONG, 1,
                                  CAIRN_STEP_CHUNK,   c->writer };
    int64_t zero = 0;
    TRY(cairn_hdf5_column_create(parent, &def, &c->offsets[part], error));
    if (c->offsets[part].rows == 0)
        TRY(cairn_hdf5_column_append(&c->offsets[part], 1, &zero, error));
    TRY(cairn_hdf5_group(parent, parts[part].group, &group, error));
    cairn_status status = cairn_run_table_create(group, sources_of(part, world), dimension,
                                                 c->writer, &c->parts[part], error);
    if (part == CONTACTS && status == CAIRN_OK)
        status = cairn_run_table_create(group, cairn_run_detail_sources(), dimension, c->writer,
                                        &c->details, error);
    H5Gclose(group);
    return status;
}

/* ---- the group ------------------------------------------------------------------------------ */

static cairn_status create_all(hid_t group, const cairn_world *world, cairn_run_certificate *c,
                               cairn_error *error)
{
    TRY(cairn_run_materials_write(group, world, error));
    for (int part = 0; part < CAIRN_CERTIFICATE_PARTS; part++)
        TRY(create_part(group, part, world, c, error));
    return CAIRN_OK;
}

cairn_status cairn_run_certificate_create(hid_t file, const cairn_world *world,
                                          cairn_hdf5_writer *writer, cairn_run_certificate *out,
                                          cairn_error *error)
{
    hid_t group;
    *out = (cairn_run_certificate){ .writer = writer };
    TRY(cairn_hdf5_group(file, "certificate", &group, error));
    cairn_status status = create_all(group, world, out, error);
    H5Gclose(group);
    return status;
}

/* Before the first step (step 0) there are states only. */
static int count_parts(const cairn_run_frame *frame)
{
    return frame->step == 0 ? STATES : CAIRN_CERTIFICATE_PARTS;
}

cairn_status cairn_run_certificate_piece(cairn_run_certificate *c, const cairn_run_frame *frame,
                                         cairn_error *error)
{
    for (int part = 0; part < count_parts(frame); part++) {
        size_t rows;
        memcpy(&rows, (const char *)frame + parts[part].rows, sizeof rows);
        TRY(cairn_run_table_append(&c->parts[part], frame, rows, error));
        if (part == CONTACTS)
            TRY(cairn_run_table_append(&c->details, frame, rows, error));
    }
    return CAIRN_OK;
}

/* Offsets are appended last: a step counts only when all of it is in the file. */
cairn_status cairn_run_certificate_end(cairn_run_certificate *c, const cairn_run_frame *frame,
                                       cairn_error *error)
{
    for (int part = count_parts(frame) - 1; part >= 0; part--) {
        int64_t end = cairn_run_table_rows(&c->parts[part]);
        TRY(cairn_hdf5_column_append(&c->offsets[part], 1, &end, error));
    }
    return CAIRN_OK;
}

/* After `steps` steps, states have steps + 1 blocks, and n blocks have n + 1 offsets. */
cairn_status cairn_run_certificate_cut(cairn_run_certificate *c, int64_t steps, cairn_error *error)
{
    for (int part = 0; part < CAIRN_CERTIFICATE_PARTS; part++) {
        int64_t rows, blocks = part < STATES ? steps + 1 : steps;
        TRY(cairn_hdf5_column_at(&c->offsets[part], blocks, &rows, error));
        TRY(cairn_hdf5_column_cut(&c->offsets[part], blocks + 1, error));
        TRY(cairn_run_table_cut(&c->parts[part], rows, error));
        if (part == CONTACTS)
            TRY(cairn_run_table_cut(&c->details, rows, error));
    }
    return CAIRN_OK;
}

void cairn_run_certificate_close(cairn_run_certificate *c)
{
    for (int part = 0; part < CAIRN_CERTIFICATE_PARTS; part++) {
        cairn_run_table_close(&c->parts[part]);
        cairn_hdf5_column_close(&c->offsets[part]);
    }
    cairn_run_table_close(&c->details);
}

/* ---- materials --------------------------------------------------------------------------- */

/* The friction coefficient of a pair, at each sliding speed, is the smaller one of the two laws
 * that the pair names. Law k < n, n being the number of materials, is that of material k. Laws
 * that belong to a single pair follow; such a pair names its law twice, so readers need one rule
 * only. */

/* The materials of a world and the numbering of laws. */
typedef struct pairs {
    const cairn_world *world;
    int count;        /* materials                                                 */
    int32_t *own_law; /* count x count, symmetric: number of the pair's own law; -1: none */
    int laws;
} pairs;

/* The properties of a pair, combined from both materials unless the scene defines the pair. */
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

/* One function for each matrix, so that all are written by one loop. */
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

/* Matrices after the first PLAIN are written only if some material has a law beyond Coulomb
 * friction. */
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

/* A matrix is a column with one row for each material and `count` numbers in a row. */
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

/* A row of `laws`: kind, friction, static, dynamic, speed, exponent, number of points. Everything
 * is stored as doubles, so that a law is one row whatever its kind; unused numbers are ignored. */
enum { LAW_NUMBERS = 7 };

static const char *law_name(int kind)
{
    const cairn_record *record = cairn_friction_law_record(kind);
    return record ? record->name : NULL;
}

/* The points of tables go to a second column, law after law; the last number of the row says how
 * many. */
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

/* In the order of number_laws(): materials first, then pairs with a law of their own, a <= b. */
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

/* CAIRN_FRICTION_SMALLER marks a pair without a law of its own; no stored law has this kind. */
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

/* Pairs (a, b) and (b, a) share a law. */
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
    if (H5Lexists(group, "laws", H5P_DEFAULT) > 0) /* the file is being continued, and has them */
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
