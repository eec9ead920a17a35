/* columns.c - the columns of run.h5 as tables: to add a column, add a line here. And the group
 * /certificate, which is made of such tables: every step, and the laws between materials.
 *
 * Columns of bodies and contacts that the world itself defines (cairn/columns.h) are taken from its
 * tables by their flags; the lists here hold only what is computed for a frame. */
#include "run/frame.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/cell.h"
#include "file/hdf5.h"

/* NULL past the last kind, as `value_name` of a column requires. */
static const char *shape_name(int kind)
{
    const cairn_record *record = cairn_shape_record(kind);
    return record ? record->name : NULL;
}

/* Properties of shapes, written once for each body. Every body has all columns; lengths that its
 * shape does not have are 0. */
static const cairn_run_source bodies[] = {
    { "shape", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, kind), shape_name },
    { "radius", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, radius), NULL },
    { "half_angle", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, half_angle), NULL },
    { "bottom_radius", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, bottom_radius), NULL },
    { "top_radius", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, top_radius), NULL },
    { "height", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, height), NULL },
    { "axis", "1", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, axis), NULL },
    { "volume", "m^3", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, volume), NULL },
    { "length", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, length), NULL },
    { "rounding", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, rounding), NULL },
    { "exponents", "1", CAIRN_HDF5_REAL, 2, offsetof(cairn_run_frame, exponents), NULL },
    { "size", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, size), NULL },
    { "semi_axes", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, semi_axes), NULL },
    { "shape_x", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, shape_x), NULL },
    { "shape_q", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, shape_q), NULL },
    { "geometry", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, geometry), NULL },
};

static const cairn_run_source states[] = { { "index", "", CAIRN_HDF5_INT, 1,
                                             offsetof(cairn_run_frame, index), NULL } };

static const cairn_run_source contacts[] = { { "body", "", CAIRN_HDF5_INT, 2,
                                               offsetof(cairn_run_frame, pair), NULL } };

/* Of contacts, in certificates only: the data that a program needs to recompute the step. */
static const cairn_run_source details[] = {
    { "bias", "m/s", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, bias), NULL },
    { "exact", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, exact), NULL },
    { "compression", "N s", CAIRN_HDF5_REAL, 0, offsetof(cairn_run_frame, compression), NULL },
    { "correction", "kg m/s", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, correction), NULL },
};

static const cairn_run_source loads[] = {
    { "body", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, load_body), NULL },
    { "force", "N", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, force), NULL },
    { "torque", "N m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, torque), NULL },
    { "damping", "N s/m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, load_damping), NULL },
};

static const cairn_run_source poses[] = {
    { "body", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, pose_body), NULL },
    { "x", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, pose_x), NULL },
    { "q", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, pose_q), NULL },
};

static const cairn_run_source guesses[] = {
    { "body", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, guess_body), NULL },
    { "v", "m/s", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, guess_v), NULL },
    { "omega", "rad/s", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, guess_omega), NULL },
};

static const cairn_run_source impacts[] = {
    { "round", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, impact_round), NULL },
    { "contact", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, impact_contact), NULL },
    { "time", "s", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, impact_time), NULL },
    { "impulse", "N s", CAIRN_HDF5_REAL, 0, offsetof(cairn_run_frame, impact_impulse), NULL },
};

static const cairn_run_source changes[] = {
    { "body", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, change_body), NULL },
    { "x", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, change_x), NULL },
    { "q", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, change_q), NULL },
    { "angle", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, change_angle), NULL },
    { "v", "m/s", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, change_v), NULL },
    { "omega", "rad/s", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, change_omega), NULL },
    { "material", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, change_material), NULL },
};

cairn_run_sources cairn_run_sources_of(const cairn_run_source *items, size_t count)
{
    cairn_run_sources list = { .count = (int)count };
    memcpy(list.items, items, count * sizeof *items);
    return list;
}

/* ---- columns of the world -------------------------------------------------------------------- */

/* Which columns of the world go into a table, and where the frame has them. */
typedef struct choice {
    size_t view;   /* offset in cairn_run_frame of the struct with the pointers           */
    unsigned goes; /* CAIRN_GOES_...: columns with one of these flags are included        */
    unsigned not ; /* CAIRN_GOES_...: columns with one of these flags are left out        */
    unsigned set;  /* CAIRN_CONTACTS_...: laws of the world; others' columns are left out */
} choice;

/* Add a column to a list if it is chosen. `shown` is the offset of its pointer within the view. */
static void add_column(cairn_run_sources *list, const cairn_column *c, const choice *which)
{
    static const cairn_hdf5_type types[] = { [CAIRN_COLUMN_BYTE] = CAIRN_HDF5_BYTE,
                                             [CAIRN_COLUMN_INT] = CAIRN_HDF5_INT,
                                             [CAIRN_COLUMN_LONG] = CAIRN_HDF5_LONG,
                                             [CAIRN_COLUMN_REAL] = CAIRN_HDF5_REAL };
    bool there = (c->goes & which->goes) && !(c->goes & which->not ) && !(c->set & ~which->set);
    bool names = c->range == CAIRN_RANGE_MOTION;
    /* The count still increases, so that cairn_run_table_create sees that a column did not fit and
     * fails: no column is dropped silently. */
    if (!there || list->count++ >= CAIRN_RUN_COLUMNS)
        return;
    list->items[list->count - 1] =
        (cairn_run_source){ .name = c->name,
                            .unit = c->unit,
                            .type = types[c->type],
                            .width = c->width,
                            .offset = which->view + c->shown,
                            .value_name = names ? cairn_motion_name : NULL };
}

static void add_bodies(cairn_run_sources *list, choice which)
{
    for (int k = 0; cairn_body_column(k); k++)
        add_column(list, cairn_body_column(k), &which);
}

static void add_contacts(cairn_run_sources *list, choice which)
{
    for (int k = 0; cairn_contact_column(k); k++)
        add_column(list, cairn_contact_column(k), &which);
}

cairn_run_sources cairn_run_body_sources(const cairn_world *world)
{
    cairn_surface_laws laws = cairn_world_surface_laws(world);
    bool plain = !laws.anisotropic && !laws.moving;
    cairn_run_sources all = cairn_run_sources_of(bodies, CAIRN_COUNT(bodies));
    add_bodies(&all, (choice){ .view = offsetof(cairn_run_frame, facts),
                               .goes = CAIRN_GOES_ONCE,
                               .not = (plain ? CAIRN_GOES_SURFACES : 0) |
                                      (laws.grouped ? 0 : CAIRN_GOES_GROUPS) });
    return all;
}

/* With any law beyond Coulomb friction, the columns of anisotropic friction and of adhesion are
 * both written; restitution is written in certificates instead (CAIRN_GOES_DETAIL). */
cairn_run_sources cairn_run_contact_sources(const cairn_world *world)
{
    cairn_surface_laws laws = cairn_world_surface_laws(world);
    bool turns = laws.rolling || laws.spinning;
    bool sticky = turns || laws.anisotropic || laws.adhesive;
    const cairn_lattice cell = cairn_world_lattice(world);
    cairn_run_sources all = cairn_run_sources_of(contacts, CAIRN_COUNT(contacts));
    add_contacts(&all,
                 (choice){ .view = offsetof(cairn_run_frame, touch),
                           .goes = CAIRN_GOES_FRAME,
                           .set = (sticky ? CAIRN_CONTACTS_AXES | CAIRN_CONTACTS_ADHERE : 0) |
                                  (turns ? CAIRN_CONTACTS_TURN : 0) |
                                  (cairn_lattice_exists(&cell) ? CAIRN_CONTACTS_IMAGES : 0) });
    return all;
}

cairn_run_sources cairn_run_detail_sources(void)
{
    cairn_run_sources all = cairn_run_sources_of(details, CAIRN_COUNT(details));
    add_contacts(&all, (choice){ .view = offsetof(cairn_run_frame, touch),
                                 .goes = CAIRN_GOES_DETAIL,
                                 .set = CAIRN_CONTACTS_ALL });
    return all;
}

/* The angle exists in 2D only; in 3D the orientation is the quaternion alone. Images exist in
 * periodic worlds only. */
cairn_run_sources cairn_run_state_sources(int dimension, bool periodic)
{
    cairn_run_sources all = cairn_run_sources_of(states, CAIRN_COUNT(states));
    add_bodies(&all, (choice){ .view = offsetof(cairn_run_frame, state),
                               .goes = CAIRN_GOES_FRAME,
                               .not = (dimension == 2 ? 0 : CAIRN_GOES_2D) |
                                      (periodic ? 0 : CAIRN_GOES_PERIODIC) });
    return all;
}

/* Only walls of cells have damping. */
cairn_run_sources cairn_run_load_sources(bool cells)
{
    return cairn_run_sources_of(loads, CAIRN_COUNT(loads) - (cells ? 0 : 1));
}

cairn_run_sources cairn_run_pose_sources(void)
{
    return cairn_run_sources_of(poses, CAIRN_COUNT(poses));
}

cairn_run_sources cairn_run_impact_sources(void)
{
    return cairn_run_sources_of(impacts, CAIRN_COUNT(impacts));
}

cairn_run_sources cairn_run_change_sources(void)
{
    return cairn_run_sources_of(changes, CAIRN_COUNT(changes));
}

cairn_run_sources cairn_run_guess_sources(void)
{
    return cairn_run_sources_of(guesses, CAIRN_COUNT(guesses));
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Write the attribute `names`: the meaning of the values 0, 1, ... of a column, of which at most
 * MOST are named. */
static cairn_status name_values(const cairn_hdf5_column *column,
                                const char *(*value_name)(int value), cairn_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    while (count < MOST && value_name(count)) {
        names[count] = value_name(count);
        count++;
    }
    return cairn_hdf5_texts(column->dataset, "names", names, count, error);
}

/* Numbers in a row of a column, in a world of this dimension. */
static int width_of(const cairn_run_source *from, int dimension)
{
    if (from->width == CAIRN_RUN_TURNS)
        return dimension == 2 ? 1 : 3;
    return from->width ? from->width : dimension;
}

cairn_status cairn_run_table_create(hid_t group, cairn_run_sources sources, int dimension,
                                    cairn_hdf5_writer *writer, cairn_run_table *out,
                                    cairn_error *error)
{
    if (sources.count > CAIRN_RUN_COLUMNS)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "too many columns in a table");
    out->sources = sources;
    for (int i = 0; i < sources.count; i++) {
        const cairn_run_source *from = &sources.items[i];
        cairn_hdf5_column_def def = { .name = from->name,
                                      .unit = from->unit,
                                      .type = from->type,
                                      .width = width_of(from, dimension),
                                      .chunk = sources.plain ? CAIRN_STEP_CHUNK : CAIRN_ROW_CHUNK,
                                      .writer = writer,
                                      .packed = !sources.plain };
        TRY(cairn_hdf5_column_create(group, &def, &out->columns[i], error));
        if (from->value_name)
            TRY(name_values(&out->columns[i], from->value_name, error));
    }
    return CAIRN_OK;
}

cairn_status cairn_run_table_append(cairn_run_table *table, const cairn_run_frame *frame,
                                    size_t rows, cairn_error *error)
{
    for (int i = 0; i < table->sources.count; i++) {
        const void *numbers;
        /* The frame holds a pointer at this offset. It is copied as bytes, because its type (double
         * *, int32_t *, ...) differs from column to column. */
        memcpy(&numbers, (const char *)frame + table->sources.items[i].offset, sizeof numbers);
        TRY(cairn_hdf5_column_append(&table->columns[i], rows, numbers, error));
    }
    return CAIRN_OK;
}

cairn_status cairn_run_table_cut(cairn_run_table *table, int64_t rows, cairn_error *error)
{
    for (int i = 0; i < table->sources.count; i++)
        TRY(cairn_hdf5_column_cut(&table->columns[i], rows, error));
    return CAIRN_OK;
}

void cairn_run_table_close(cairn_run_table *table)
{
    for (int i = 0; i < table->sources.count; i++)
        cairn_hdf5_column_close(&table->columns[i]);
}

/* All columns grow together, so the first one stands for all. */
int64_t cairn_run_table_rows(const cairn_run_table *table)
{
    return table->sources.count > 0 ? (int64_t)table->columns[0].rows : 0;
}

/* ---- parts of a certificate ------------------------------------------------------------------ */

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

/* ---- the group of the certificate ------------------------------------------------------------ */

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

/* ---- all of the laws ------------------------------------------------------------------------- */

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
