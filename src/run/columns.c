/* columns.c - the columns of run.h5 as tables: to add a column, add a line here.
 *
 * Columns of bodies and contacts that the world itself defines (cairn/columns.h) are taken from its
 * tables by their flags; the lists here hold only what is computed for a frame. */
#include "run/frame.h"

#include <string.h>

#include "base/common.h"

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
