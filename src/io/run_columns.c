/* run_columns.c - see run_columns.h. */
#include "io/run_columns.h"

#include <string.h>

#include "base/status.h"

static const char *shape_name(int kind)
{
    const cairn_record *record = cairn_shape_record(kind);
    return record ? record->name : NULL;
}

#define FRAME(name, unit, type, width, field)                                                      \
    {                                                                                              \
        name, unit, type, width, offsetof(cairn_run_frame, field), NULL                            \
    }
#define NAMED(name, field, value_name)                                                             \
    {                                                                                              \
        name, "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, field), value_name                 \
    }
#define SOURCES(items) cairn_run_sources_of(items, sizeof items / sizeof items[0])

static const cairn_run_source bodies[] = {
    NAMED("shape", kind, shape_name),
    FRAME("radius", "m", CAIRN_HDF5_REAL, 1, radius),
    FRAME("half_angle", "rad", CAIRN_HDF5_REAL, 1, half_angle),
    FRAME("bottom_radius", "m", CAIRN_HDF5_REAL, 1, bottom_radius),
    FRAME("top_radius", "m", CAIRN_HDF5_REAL, 1, top_radius),
    FRAME("height", "m", CAIRN_HDF5_REAL, 1, height),
    FRAME("axis", "1", CAIRN_HDF5_REAL, 3, axis),
    FRAME("volume", "m^3", CAIRN_HDF5_REAL, 1, volume),
    FRAME("length", "m", CAIRN_HDF5_REAL, 1, length),
    FRAME("rounding", "m", CAIRN_HDF5_REAL, 1, rounding),
    FRAME("exponents", "1", CAIRN_HDF5_REAL, 2, exponents),
    FRAME("size", "m", CAIRN_HDF5_REAL, 3, size),
    FRAME("semi_axes", "m", CAIRN_HDF5_REAL, 3, semi_axes),
    FRAME("shape_x", "m", CAIRN_HDF5_REAL, 3, shape_x),
    FRAME("shape_q", "1", CAIRN_HDF5_REAL, 4, shape_q),
    FRAME("geometry", "", CAIRN_HDF5_INT, 1, geometry),
};

static const cairn_run_source states[] = { FRAME("index", "", CAIRN_HDF5_INT, 1, index) };

static const cairn_run_source contacts[] = { FRAME("body", "", CAIRN_HDF5_INT, 2, pair) };

static const cairn_run_source details[] = {
    FRAME("bias", "m/s", CAIRN_HDF5_REAL, 1, bias),
    FRAME("exact", "", CAIRN_HDF5_BYTE, 1, exact),
    FRAME("compression", "N s", CAIRN_HDF5_REAL, 0, compression),
    FRAME("correction", "kg m/s", CAIRN_HDF5_REAL, 1, correction),
};

static const cairn_run_source loads[] = {
    FRAME("body", "", CAIRN_HDF5_INT, 1, load_body),
    FRAME("force", "N", CAIRN_HDF5_REAL, 3, force),
    FRAME("torque", "N m", CAIRN_HDF5_REAL, 3, torque),
};

static const cairn_run_source poses[] = {
    FRAME("body", "", CAIRN_HDF5_INT, 1, pose_body),
    FRAME("x", "m", CAIRN_HDF5_REAL, 3, pose_x),
    FRAME("q", "1", CAIRN_HDF5_REAL, 4, pose_q),
};

static const cairn_run_source guesses[] = {
    FRAME("body", "", CAIRN_HDF5_INT, 1, guess_body),
    FRAME("v", "m/s", CAIRN_HDF5_REAL, 3, guess_v),
    FRAME("omega", "rad/s", CAIRN_HDF5_REAL, 3, guess_omega),
};

static const cairn_run_source impacts[] = {
    FRAME("round", "", CAIRN_HDF5_INT, 1, impact_round),
    FRAME("contact", "", CAIRN_HDF5_INT, 1, impact_contact),
    FRAME("time", "s", CAIRN_HDF5_REAL, 1, impact_time),
    FRAME("impulse", "N s", CAIRN_HDF5_REAL, 0, impact_impulse),
};

cairn_run_sources cairn_run_sources_of(const cairn_run_source *items, size_t count)
{
    cairn_run_sources list = { .count = (int)count };
    memcpy(list.items, items, count * sizeof *items);
    return list;
}

/* ---- columns of the world -------------------------------------------------------------------- */

/* Where a view lies in the frame, and which of its columns a world has. */
typedef struct choice {
    size_t view;   /* offset in cairn_run_frame          */
    unsigned goes; /* CAIRN_GOES_...: to this table      */
    unsigned not ; /* CAIRN_GOES_...: not in this world  */
    unsigned set;  /* CAIRN_CONTACTS_...: laws there are */
} choice;

static void add_column(cairn_run_sources *list, const cairn_column *c, const choice *which)
{
    static const cairn_hdf5_type types[] = { [CAIRN_COLUMN_BYTE] = CAIRN_HDF5_BYTE,
                                             [CAIRN_COLUMN_INT] = CAIRN_HDF5_INT,
                                             [CAIRN_COLUMN_LONG] = CAIRN_HDF5_LONG,
                                             [CAIRN_COLUMN_REAL] = CAIRN_HDF5_REAL };
    bool there = (c->goes & which->goes) && !(c->goes & which->not ) && !(c->set & ~which->set);
    bool names = c->range == CAIRN_RANGE_MOTION;
    if (!there || list->count++ >= CAIRN_RUN_COLUMNS) /* making the table fails, and says so */
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
    cairn_run_sources all = SOURCES(bodies);
    add_bodies(&all, (choice){ .view = offsetof(cairn_run_frame, facts),
                               .goes = CAIRN_GOES_ONCE,
                               .not = plain ? CAIRN_GOES_SURFACES : 0 });
    return all;
}

/* Any law beyond Coulomb friction brings those of directions and adhesion; the run file tells of
 * restitution beside them. */
cairn_run_sources cairn_run_contact_sources(const cairn_world *world)
{
    cairn_surface_laws laws = cairn_world_surface_laws(world);
    bool turns = laws.rolling || laws.spinning;
    bool sticky = turns || laws.anisotropic || laws.adhesive;
    cairn_run_sources all = SOURCES(contacts);
    add_contacts(&all, (choice){ .view = offsetof(cairn_run_frame, touch),
                                 .goes = CAIRN_GOES_FRAME,
                                 .set = (sticky ? CAIRN_CONTACTS_AXES | CAIRN_CONTACTS_ADHERE : 0) |
                                        (turns ? CAIRN_CONTACTS_TURN : 0) });
    return all;
}

cairn_run_sources cairn_run_detail_sources(void)
{
    cairn_run_sources all = SOURCES(details);
    add_contacts(&all, (choice){ .view = offsetof(cairn_run_frame, touch),
                                 .goes = CAIRN_GOES_DETAIL,
                                 .set = CAIRN_CONTACTS_ALL });
    return all;
}

cairn_run_sources cairn_run_state_sources(int dimension)
{
    cairn_run_sources all = SOURCES(states);
    add_bodies(&all, (choice){ .view = offsetof(cairn_run_frame, state),
                               .goes = CAIRN_GOES_FRAME,
                               .not = dimension == 2 ? 0 : CAIRN_GOES_2D });
    return all;
}

cairn_run_sources cairn_run_load_sources(void)
{
    return SOURCES(loads);
}

cairn_run_sources cairn_run_pose_sources(void)
{
    return SOURCES(poses);
}

cairn_run_sources cairn_run_impact_sources(void)
{
    return SOURCES(impacts);
}

cairn_run_sources cairn_run_guess_sources(void)
{
    return SOURCES(guesses);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Attribute `names`: what the values 0, 1, ... of a column mean. */
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
    out->sources = sources;
    if (sources.count > CAIRN_RUN_COLUMNS)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "too many columns in a table");
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

int64_t cairn_run_table_rows(const cairn_run_table *table)
{
    return table->sources.count > 0 ? (int64_t)table->columns[0].rows : 0;
}
