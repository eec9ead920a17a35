/* run_certificate.c - see run_certificate.h. */
#include "io/run_certificate.h"

#include <string.h>

#include "base/status.h"
#include "io/run_materials.h"

/* The parts by number: group, list of where each step begins, how many rows a frame has. */
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
};

enum { STATES = 2, CONTACTS = 2 }; /* the first parts are states: also that before the first step */

static cairn_run_sources sources_of(int part, const cairn_world *world)
{
    const cairn_run_sources lists[CAIRN_CERTIFICATE_PARTS] = {
        cairn_run_state_sources(cairn_world_dimension(world)),
        cairn_run_joint_detail_sources(),
        cairn_run_contact_sources(world),
        cairn_run_load_sources(),
        cairn_run_pose_sources(),
        cairn_run_guess_sources(),
        cairn_run_joint_row_sources(),
        cairn_run_impact_sources(),
    };
    return lists[part];
}

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

/* The offsets last, so that a step counts only when all of it is there. */
cairn_status cairn_run_certificate_step(cairn_run_certificate *c, const cairn_run_frame *frame,
                                        cairn_error *error)
{
    int count = frame->step == 0 ? STATES : CAIRN_CERTIFICATE_PARTS;
    for (int part = 0; part < count; part++) {
        size_t rows;
        memcpy(&rows, (const char *)frame + parts[part].rows, sizeof rows);
        TRY(cairn_run_table_append(&c->parts[part], frame, rows, error));
        if (part == CONTACTS)
            TRY(cairn_run_table_append(&c->details, frame, rows, error));
    }
    for (int part = count - 1; part >= 0; part--) {
        int64_t end = cairn_run_table_rows(&c->parts[part]);
        TRY(cairn_hdf5_column_append(&c->offsets[part], 1, &end, error));
    }
    return CAIRN_OK;
}

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
