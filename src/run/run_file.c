/* run_file.c - writes run.h5, see run_file.h. The columns are tables (columns.c, summary.c and
 * below).
 *
 * Columns of steps are short and written in place. Columns of frames and bodies are long, so they
 * are cut into chunks of 4096 rows (32 to 128 KiB), which a thread shuffles and deflates while the
 * next steps are computed (file/hdf5_column.c).
 *
 * Between two flushes the file on the disk does not change (file/file.h), so a killed run leaves
 * the file of its last flush. A flush contains whole frames only. */
#include "run/run_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/hdf5.h"
#include "run/frame.h"

/* Steps that are collected before they are written: one call of HDF5 per column for 256 steps
 * instead of one per step. */
enum { STEP_BUFFER = 256 };

/* One step in the buffer. Columns are gathered from an array of these. */
typedef struct step_row {
    int64_t step;
    double time;
    uint8_t solver;
    cairn_vec3 gravity;
    cairn_lattice cell;
    cairn_step_report report;
} step_row;

/* Columns of /steps that every run has. Certificate, energy and timing follow from the tables of
 * summary.c. */
static const cairn_run_source step_sources[] = {
    { "step", "", CAIRN_HDF5_LONG, 1, offsetof(step_row, step), NULL },
    { "time", "s", CAIRN_HDF5_REAL, 1, offsetof(step_row, time), NULL },
    { "time_step", "s", CAIRN_HDF5_REAL, 1, offsetof(step_row, report.length), NULL },
    { "candidates", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.candidates), NULL },
    { "active", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.active), NULL },
    { "upgraded", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.upgraded), NULL },
    { "attempts", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.attempts), NULL },
    { "entered", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.entered), NULL },
    { "left", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.left), NULL },
    { "changed", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.changed), NULL },
    { "broken", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.broken), NULL },
    { "asleep", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.asleep), NULL },
    { "woken", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.woken), NULL },
    { "impacts", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.impacts), NULL },
    { "impact_rounds", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.impact_rounds), NULL },
    { "impacts_left", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.impacts_left), NULL },
    { "impacts_reduced", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.impacts_reduced), NULL },
    { "energy_made_groups", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.energy_made_groups),
      NULL },
    { "energy_made", "J", CAIRN_HDF5_REAL, 1, offsetof(step_row, report.energy_made), NULL },
    { "linearisations", "", CAIRN_HDF5_INT, 1, offsetof(step_row, report.linearisations), NULL },
    { "linearisation_error", "m", CAIRN_HDF5_REAL, 1,
      offsetof(step_row, report.linearisation_error), NULL },
    { "converged", "", CAIRN_HDF5_BYTE, 1, offsetof(step_row, report.solve.converged), NULL },
    { "iterations", "", CAIRN_HDF5_LONG, 1, offsetof(step_row, report.solve.iterations), NULL },
    { "outer_iterations", "", CAIRN_HDF5_LONG, 1, offsetof(step_row, report.solve.outer_iterations),
      NULL },
    { "solver", "", CAIRN_HDF5_BYTE, 1, offsetof(step_row, solver), cairn_solver_name },
};

/* Columns of /steps that are left out with `certificate: off`. */
static const cairn_run_source worst_sources[] = {
    { "asked_worst_contact", "", CAIRN_HDF5_INT, 1,
      offsetof(step_row, report.certificate.judgement.asked.worst_contact), NULL },
    { "coulomb_worst_contact", "", CAIRN_HDF5_INT, 1,
      offsetof(step_row, report.certificate.judgement.coulomb.worst_contact), NULL },
    { "distance_body", "", CAIRN_HDF5_LONG, 2, offsetof(step_row, report.distance_body), NULL },
};

/* Columns of /steps that only runs have whose gravity is a function of time. */
static const cairn_run_source gravity_sources[] = {
    { "gravity", "m/s^2", CAIRN_HDF5_REAL, 3, offsetof(step_row, gravity), NULL },
};

/* Columns of /steps of periodic worlds: the edges of the cell when the step ends, and their
 * velocities in the step. */
static const cairn_run_source cell_sources[] = {
    { "cell", "m", CAIRN_HDF5_REAL, 9, offsetof(step_row, cell.edge), NULL },
    { "cell_rate", "m/s", CAIRN_HDF5_REAL, 9, offsetof(step_row, cell.rate), NULL },
};

enum { ENTRIES = 64 }; /* room for the entries of certificate, energy and timing together */

/* Everything open in the file. The struct stays where it is on the heap, because the writer keeps
 * pointers to its columns. */
struct cairn_run_file {
    const char *folder;
    char path[CAIRN_PATH_BYTES], part[CAIRN_PATH_BYTES];
    const cairn_scene *scene;
    cairn_hdf5_sink sink;
    cairn_hdf5_writer writer;
    cairn_hdf5_sums sums; /* checksums of everything in the file */
    bool complete;        /* the file is finished; a destroy must not discard its last changes */
    hid_t file;
    int dimension;
    bool certified, full; /* not `certificate: off`; `certificate: full` */
    cairn_run_table steps, worst, gravity, cell, bodies, states, contacts, joints, joint_states;
    cairn_hdf5_column friction; /* of each material, where one is a function of time */
    double *frictions;          /* STEP_BUFFER rows of it; NULL: none varies         */
    cairn_run_geometry geometry;
    cairn_run_certificate certificate;
    cairn_run_statistics statistics;
    cairn_hdf5_column entries[ENTRIES];
    cairn_hdf5_column event_number, event_step, event_time;
    cairn_hdf5_column frame_step, frame_time, body_offset, joint_offset, contact_offset;
    step_row *waiting; /* STEP_BUFFER rows */
    int waiting_count;
    bool flushing; /* a flush has begun and not ended yet */
};

static bool is_periodic(const cairn_world *world)
{
    const cairn_lattice cell = cairn_world_lattice(world);
    return cairn_lattice_exists(&cell);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Create a group with the columns of a table. The group can be closed at once: the columns keep
 * their own handles. */
static cairn_status create_group_table(cairn_run_file *f, const char *name,
                                       cairn_run_sources sources, cairn_run_table *t,
                                       cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(f->file, name, &group, error));
    cairn_status status =
        cairn_run_table_create(group, sources, f->dimension, &f->writer, t, error);
    H5Gclose(group);
    return status;
}

/* The entries of a report, in the order of their columns in f->entries. create_entries and
 * write_steps walk through them in the same way, so that an entry meets its column. */
static const struct {
    const cairn_report_entries *entries;
    size_t offset;    /* of the struct in a step_row      */
    bool certificate; /* left out with `certificate: off` */
} entry_groups[] = {
    { &cairn_certificate_entries, offsetof(step_row, report.certificate), true },
    { &cairn_energy_entries, offsetof(step_row, report.energy), true },
    { &cairn_timing_entries, offsetof(step_row, report.timing), false },
};

static cairn_status create_entries(cairn_run_file *f, hid_t group, cairn_error *error)
{
    int next = 0;
    for (int g = 0; g < CAIRN_COUNT(entry_groups); g++) {
        if (entry_groups[g].certificate && !f->certified)
            continue;
        for (int i = 0; i < entry_groups[g].entries->count && next < ENTRIES; i++) {
            const cairn_report_entry *entry = &entry_groups[g].entries->items[i];
            cairn_hdf5_column_def def = { entry->name, entry->unit,      CAIRN_HDF5_REAL,
                                          1,           CAIRN_STEP_CHUNK, &f->writer };
            TRY(cairn_hdf5_column_create(group, &def, &f->entries[next++], error));
        }
    }
    return CAIRN_OK;
}

static bool gravity_varies(const cairn_world *world)
{
    return cairn_world_varies(world, CAIRN_VARIED_GRAVITY_X) ||
           cairn_world_varies(world, CAIRN_VARIED_GRAVITY_Y) ||
           cairn_world_varies(world, CAIRN_VARIED_GRAVITY_Z);
}

/* Numbers of the world that are functions of time and that a reader cannot compute. */
static cairn_status create_varying(cairn_run_file *f, hid_t group, cairn_error *error)
{
    const cairn_world *world = f->scene->world;
    size_t materials = (size_t)f->scene->material_count;
    cairn_run_sources gravity = cairn_run_sources_of(
        gravity_sources, gravity_varies(world) ? CAIRN_COUNT(gravity_sources) : 0);
    gravity.plain = true;
    TRY(cairn_run_table_create(group, gravity, f->dimension, &f->writer, &f->gravity, error));
    cairn_run_sources cell =
        cairn_run_sources_of(cell_sources, is_periodic(world) ? CAIRN_COUNT(cell_sources) : 0);
    cell.plain = true;
    TRY(cairn_run_table_create(group, cell, f->dimension, &f->writer, &f->cell, error));
    if (!cairn_world_varies(world, CAIRN_VARIED_FRICTION))
        return CAIRN_OK;
    cairn_hdf5_column_def def = { "friction",       "1",       CAIRN_HDF5_REAL, (int)materials,
                                  CAIRN_STEP_CHUNK, &f->writer };
    f->frictions = cairn_memory_zeroed(STEP_BUFFER * materials, sizeof *f->frictions);
    if (!f->frictions)
        return CAIRN_NO_MEMORY;
    return cairn_hdf5_column_create(group, &def, &f->friction, error);
}

static cairn_status create_steps(cairn_run_file *f, cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(f->file, "steps", &group, error));
    cairn_run_sources steps = cairn_run_sources_of(step_sources, CAIRN_COUNT(step_sources));
    cairn_run_sources worst =
        cairn_run_sources_of(worst_sources, f->certified ? CAIRN_COUNT(worst_sources) : 0);
    /* One row a step: short columns, which are written in place and not compressed. */
    steps.plain = worst.plain = true;
    cairn_status status =
        cairn_run_table_create(group, steps, f->dimension, &f->writer, &f->steps, error);
    if (status == CAIRN_OK)
        status = cairn_run_table_create(group, worst, f->dimension, &f->writer, &f->worst, error);
    if (status == CAIRN_OK)
        status = create_entries(f, group, error);
    if (status == CAIRN_OK)
        status = create_varying(f, group, error);
    H5Gclose(group);
    return status;
}

/* The columns with one row a frame. Offsets begin with a 0: frame k has rows [o[k], o[k+1]). The
 * offset of contacts is last in the list, so that it can be left out with `contacts: false`. */
static cairn_status create_frames(cairn_run_file *f, cairn_error *error)
{
    struct {
        cairn_hdf5_column_def def;
        cairn_hdf5_column *column;
    } columns[] = {
        { { "frames/step", "", CAIRN_HDF5_LONG, 1, CAIRN_STEP_CHUNK, &f->writer }, &f->frame_step },
        { { "frames/time", "s", CAIRN_HDF5_REAL, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->frame_time },
        { { "frames/body_offset", "", CAIRN_HDF5_LONG, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->body_offset },
        { { "frames/joint_offset", "", CAIRN_HDF5_LONG, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->joint_offset },
        { { "frames/contact_offset", "", CAIRN_HDF5_LONG, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->contact_offset },
    };
    int64_t zero = 0;
    int count = f->scene->run.contacts ? 5 : 4;
    for (int i = 0; i < count; i++)
        TRY(cairn_hdf5_column_create(f->file, &columns[i].def, columns[i].column, error));
    for (int i = 2; i < count; i++)
        if (columns[i].column->rows == 0)
            TRY(cairn_hdf5_column_append(columns[i].column, 1, &zero, error));
    return CAIRN_OK;
}

/* The events that happened, in this order; only in runs that have any. */
static cairn_status create_events(cairn_run_file *f, cairn_error *error)
{
    hid_t group;
    const struct {
        cairn_hdf5_column_def def;
        cairn_hdf5_column *column;
    } columns[] = {
        { { "events/event", "", CAIRN_HDF5_INT, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->event_number },
        { { "events/step", "", CAIRN_HDF5_LONG, 1, CAIRN_STEP_CHUNK, &f->writer }, &f->event_step },
        { { "events/time", "s", CAIRN_HDF5_REAL, 1, CAIRN_STEP_CHUNK, &f->writer },
          &f->event_time },
    };
    if (f->scene->event_count == 0)
        return CAIRN_OK;
    TRY(cairn_hdf5_group(f->file, "events", &group, error));
    H5Gclose(group);
    for (int i = 0; i < CAIRN_COUNT(columns); i++)
        TRY(cairn_hdf5_column_create(f->file, &columns[i].def, columns[i].column, error));
    return CAIRN_OK;
}

/* The number of events that have happened. */
static int64_t count_events(const cairn_scene *scene)
{
    int64_t count = 0;
    for (int i = 0; i < scene->event_count; i++)
        count += scene->events[i].step >= 0;
    return count;
}

/* Keep the events up to the checkpoint, from which those of the scene come. */
static cairn_status cut_events(cairn_run_file *f, cairn_error *error)
{
    int64_t rows = count_events(f->scene);
    if (f->scene->event_count == 0)
        return CAIRN_OK;
    TRY(cairn_hdf5_column_cut(&f->event_number, rows, error));
    TRY(cairn_hdf5_column_cut(&f->event_step, rows, error));
    return cairn_hdf5_column_cut(&f->event_time, rows, error);
}

/* Append the events that happened after step `step`. */
static cairn_status write_events(cairn_run_file *f, int64_t step, cairn_error *error)
{
    for (int32_t i = 0; i < f->scene->event_count; i++) {
        const cairn_event *event = &f->scene->events[i];
        if (event->step != step)
            continue;
        TRY(cairn_hdf5_column_append(&f->event_number, 1, &i, error));
        TRY(cairn_hdf5_column_append(&f->event_step, 1, &event->step, error));
        TRY(cairn_hdf5_column_append(&f->event_time, 1, &event->time, error));
    }
    return CAIRN_OK;
}

/* Create all groups and columns, or open them in a file that is being continued. */
static cairn_status create_all(cairn_run_file *f, cairn_error *error)
{
    hid_t frames;
    TRY(cairn_run_write_settings(f->file, f->scene, error));
    TRY(create_steps(f, error));
    TRY(create_events(f, error));
    const cairn_world *world = f->scene->world;
    TRY(create_group_table(f, "bodies", cairn_run_body_sources(world), &f->bodies, error));
    TRY(create_group_table(f, "joints", cairn_run_joint_sources(), &f->joints, error));
    TRY(cairn_hdf5_group(f->file, "frames", &frames, error));
    H5Gclose(frames);
    TRY(create_frames(f, error));
    TRY(create_group_table(f, "frames/bodies",
                           cairn_run_state_sources(f->dimension, is_periodic(world)), &f->states,
                           error));
    TRY(create_group_table(f, "frames/joints", cairn_run_joint_state_sources(), &f->joint_states,
                           error));
    if (f->scene->run.contacts)
        TRY(create_group_table(f, "frames/contacts", cairn_run_contact_sources(world), &f->contacts,
                               error));
    if (f->full)
        TRY(cairn_run_certificate_create(f->file, world, &f->writer, &f->certificate, error));
    return cairn_run_statistics_create(f->file, f->folder, f->scene, &f->statistics, error);
}

/* The result of a call on the file. HDF5 is never told that a write failed, because it could not
 * close the file then; the sink remembers the failure (file/hdf5.h), so it is asked after every
 * call. */
static cairn_status settle(const cairn_run_file *f, cairn_status status, cairn_error *error)
{
    if (status == CAIRN_OK)
        status = cairn_hdf5_sink_check(&f->sink, error);
    if (status != CAIRN_OK && status != CAIRN_NO_MEMORY)
        cairn_error_set_file(error, f->part);
    return status;
}

/* Everything that needs no HDF5. On failure the caller destroys the half-built file. */
static cairn_status prepare(const char *folder, const cairn_scene *scene, cairn_run_file *f,
                            cairn_error *error)
{
    f->folder = folder;
    f->scene = scene;
    f->dimension = cairn_world_dimension(scene->world);
    f->certified = strcmp(scene->run.certificate, "off") != 0;
    f->full = strcmp(scene->run.certificate, "full") == 0;
    TRY(cairn_path_join(folder, "run.h5", f->path, error));
    TRY(cairn_path_join(folder, "run.h5.part", f->part, error));
    cairn_hdf5_sums_start(&f->sums);
    TRY(cairn_hdf5_writer_create(&f->writer));
    f->writer.sums = &f->sums;
    f->geometry.writer = f->statistics.writer = &f->writer;
    f->waiting = cairn_memory_zeroed(STEP_BUFFER, sizeof *f->waiting);
    return f->waiting ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- going on ------------------------------------------------------------------------------ */

/* Keep the frames k < count, and the rows that belong to them: the offset with index `count` is the
 * end of the last frame that stays. */
static cairn_status cut_frames(cairn_run_file *f, int64_t count, cairn_error *error)
{
    int64_t rows;
    TRY(cairn_hdf5_column_cut(&f->frame_step, count, error));
    TRY(cairn_hdf5_column_cut(&f->frame_time, count, error));
    TRY(cairn_hdf5_column_at(&f->body_offset, count, &rows, error));
    TRY(cairn_hdf5_column_cut(&f->body_offset, count + 1, error));
    TRY(cairn_run_table_cut(&f->states, rows, error));
    TRY(cairn_hdf5_column_at(&f->joint_offset, count, &rows, error));
    TRY(cairn_hdf5_column_cut(&f->joint_offset, count + 1, error));
    TRY(cairn_run_table_cut(&f->joint_states, rows, error));
    if (!f->scene->run.contacts)
        return CAIRN_OK;
    TRY(cairn_hdf5_column_at(&f->contact_offset, count, &rows, error));
    TRY(cairn_hdf5_column_cut(&f->contact_offset, count + 1, error));
    return cairn_run_table_cut(&f->contacts, rows, error);
}

/* Keep the geometries that the remaining bodies refer to. Rows are assigned in the order of bodies,
 * so these are the rows up to the largest one that a body names; -1 means none. Call it after the
 * bodies are cut. */
static cairn_status cut_geometry(cairn_run_file *f, cairn_error *error)
{
    const cairn_hdf5_column *column = NULL;
    int64_t rows = 0;
    for (int i = 0; i < f->bodies.sources.count; i++)
        if (strcmp(f->bodies.sources.items[i].name, "geometry") == 0)
            column = &f->bodies.columns[i];
    size_t count = column ? (size_t)column->rows : 0;
    int32_t *named = cairn_memory_zeroed(count, sizeof *named);
    if (!named && count > 0)
        return CAIRN_NO_MEMORY;
    cairn_status status =
        count > 0 ? cairn_hdf5_column_read(column, 0, count, named, error) : CAIRN_OK;
    for (size_t i = 0; i < count; i++)
        rows = named[i] >= rows ? named[i] + 1 : rows;
    cairn_memory_free(named);
    TRY(status);
    return cairn_run_geometry_go_on(f->file, rows, &f->geometry, error);
}

/* Cut the file back to its extent at the checkpoint: the run may have written more before it was
 * killed. */
static cairn_status cut(cairn_run_file *f, const cairn_run_extent *to, cairn_error *error)
{
    TRY(cairn_run_table_cut(&f->steps, to->steps, error));
    TRY(cairn_run_table_cut(&f->worst, to->steps, error));
    TRY(cut_events(f, error));
    TRY(cairn_run_table_cut(&f->gravity, to->steps, error));
    TRY(cairn_run_table_cut(&f->cell, to->steps, error));
    if (f->frictions)
        TRY(cairn_hdf5_column_cut(&f->friction, to->steps, error));
    for (int i = 0; i < ENTRIES; i++)
        if (f->entries[i].dataset > 0)
            TRY(cairn_hdf5_column_cut(&f->entries[i], to->steps, error));
    TRY(cairn_run_table_cut(&f->bodies, to->bodies, error));
    TRY(cut_geometry(f, error));
    TRY(cairn_run_table_cut(&f->joints, to->joints, error));
    TRY(cairn_run_statistics_cut(&f->statistics, to, error));
    TRY(cut_frames(f, to->frames, error));
    return f->full ? cairn_run_certificate_cut(&f->certificate, to->steps, error) : CAIRN_OK;
}

/* Open the file; with `to` NULL, create it. A continued file is compared with its checksums before
 * anything is appended to it: a resumed run must not build on damaged data. */
static cairn_status open_all(cairn_run_file *f, const cairn_run_extent *to, cairn_error *error)
{
    TRY(to ? cairn_hdf5_go_on(f->part, &f->sink, &f->file, error)
           : cairn_hdf5_create(f->part, &f->sink, &f->file, error));
    if (to)
        TRY(cairn_hdf5_sums_verify(&f->sums, f->file, error));
    TRY(create_all(f, error));
    return to ? cut(f, to, error) : CAIRN_OK;
}

cairn_status cairn_run_file_open(const char *folder, const cairn_scene *scene,
                                 const cairn_run_extent *to, cairn_run_file **out,
                                 cairn_error *error)
{
    *out = NULL;
    cairn_run_file *f = cairn_memory_zeroed(1, sizeof *f);
    if (!f)
        return CAIRN_NO_MEMORY;
    cairn_status status = prepare(folder, scene, f, error);
    if (status == CAIRN_OK) {
        cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
        status = open_all(f, to, error);
        cairn_hdf5_quiet_end(quiet);
        status = settle(f, status, error);
    }
    if (status == CAIRN_OK)
        *out = f;
    else
        cairn_run_file_destroy(f);
    return status;
}

cairn_run_extent cairn_run_file_tell(const cairn_run_file *f)
{
    cairn_run_extent extent = { .steps = cairn_run_table_rows(&f->steps),
                                .frames = (int64_t)f->frame_time.rows,
                                .bodies = cairn_run_table_rows(&f->bodies),
                                .joints = cairn_run_table_rows(&f->joints) };
    cairn_run_statistics_tell(&f->statistics, &extent);
    return extent;
}

int32_t cairn_run_file_geometries(const cairn_run_file *f)
{
    return f->geometry.vertices.dataset > 0 ? (int32_t)f->geometry.offsets[0].rows - 1 : 0;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Write one column of the steps in the buffer. `offset` is that of the number in a step_row. */
static cairn_status write_waiting(const cairn_run_file *f, size_t offset, cairn_hdf5_column *column,
                                  cairn_error *error)
{
    const cairn_hdf5_strided numbers = { (const char *)f->waiting + offset, sizeof *f->waiting };
    return cairn_hdf5_column_gather(column, (size_t)f->waiting_count, numbers, error);
}

/* Write all steps in the buffer, column by column. */
static cairn_status write_steps(cairn_run_file *f, cairn_error *error)
{
    cairn_run_table *tables[] = { &f->steps, &f->worst, &f->gravity, &f->cell };
    int next = 0;
    for (int t = 0; t < CAIRN_COUNT(tables); t++)
        for (int i = 0; i < tables[t]->sources.count; i++)
            TRY(write_waiting(f, tables[t]->sources.items[i].offset, &tables[t]->columns[i],
                              error));
    for (int g = 0; g < CAIRN_COUNT(entry_groups); g++) {
        if (entry_groups[g].certificate && !f->certified)
            continue;
        for (int i = 0; i < entry_groups[g].entries->count && next < ENTRIES; i++) {
            size_t offset = entry_groups[g].offset + entry_groups[g].entries->items[i].offset;
            TRY(write_waiting(f, offset, &f->entries[next++], error));
        }
    }
    if (f->frictions)
        TRY(cairn_hdf5_column_append(&f->friction, (size_t)f->waiting_count, f->frictions, error));
    f->waiting_count = 0;
    return cairn_run_statistics_write(&f->statistics, false, error);
}

/* The friction of every material in the last step. */
static void note_friction(const cairn_run_file *f, double *row)
{
    cairn_material_def def;
    for (int i = 0; i < f->scene->material_count; i++)
        if (cairn_material_get(f->scene->world, i, &def) == CAIRN_OK)
            row[i] = def.friction;
}

/* The number of a solver in the attribute `names`; 255: no solver ran. */
static uint8_t solver_number(const char *name)
{
    for (int i = 0; name && cairn_solver_name(i); i++)
        if (strcmp(cairn_solver_name(i), name) == 0)
            return (uint8_t)i;
    return UINT8_MAX;
}

cairn_status cairn_run_file_step(cairn_run_file *f, int64_t step, double time,
                                 const cairn_step_report *report, cairn_error *error)
{
    if (f->frictions)
        note_friction(f, f->frictions + f->waiting_count * f->scene->material_count);
    f->waiting[f->waiting_count++] = (step_row){ step,
                                                 time,
                                                 solver_number(report->solve.solver),
                                                 cairn_world_gravity(f->scene->world),
                                                 cairn_world_lattice(f->scene->world),
                                                 *report };
    TRY(cairn_run_statistics_step(&f->statistics, time, report));
    if (f->waiting_count < STEP_BUFFER)
        return CAIRN_OK;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_steps(f, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

/* ---- flushing ------------------------------------------------------------------------------ */

/* Hand all rows, including those of chunks that are not full, to the compressing thread. */
static cairn_status begin_flush(cairn_run_file *f, cairn_error *error)
{
    TRY(write_steps(f, error));
    TRY(cairn_hdf5_writer_push(&f->writer, error));
    f->flushing = true;
    return CAIRN_OK;
}

/* Ends the flush once all rows that existed at its beginning are compressed and written; otherwise
 * does nothing, or waits if `wait` is set. Until then, no rows of frames or details are added, so
 * what reaches the disk is consistent. Checksums are written in the same flush as the data they
 * cover. */
static cairn_status end_flush(cairn_run_file *f, bool wait, cairn_error *error)
{
    if (!f->flushing)
        return CAIRN_OK;
    TRY(cairn_hdf5_writer_collect(&f->writer, wait, error));
    if (cairn_hdf5_writer_waits(&f->writer))
        return CAIRN_OK;
    f->flushing = false;
    TRY(cairn_hdf5_sums_write(&f->sums, f->file, error));
    return cairn_hdf5_flush(f->file, error);
}

/* ---- frames -------------------------------------------------------------------------------- */

/* Write the names of bodies, by row. Only bodies of the scene have names; those that inlets add
 * later have none. uids of the scene's bodies are 0, 1, ... in the order of the scene. */
static cairn_status write_names(const cairn_run_file *f, const cairn_run_frame *frame,
                                const char **names, int32_t *rows, cairn_error *error)
{
    size_t count = 0;
    for (size_t row = 0; row < frame->fresh; row++) {
        uint64_t uid = frame->facts.uid[row];
        if (uid >= (uint64_t)f->scene->body_count || !f->scene->body_names[uid])
            continue;
        names[count] = f->scene->body_names[uid];
        rows[count++] = (int32_t)row;
    }
    hid_t group;
    cairn_hdf5_column column = { 0 };
    cairn_hdf5_column_def def = { "body", "", CAIRN_HDF5_INT, 1, CAIRN_STEP_CHUNK, NULL };
    TRY(cairn_hdf5_group(f->file, "names", &group, error));
    cairn_status status = cairn_hdf5_text_dataset(group, "name", names, count, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_column_create(group, &def, &column, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_column_append(&column, count, rows, error);
    cairn_hdf5_column_close(&column);
    H5Gclose(group);
    return status;
}

/* Once, with the first rows of the first frame: they have all bodies of the scene with names. */
static cairn_status write_first_names(const cairn_run_file *f, const cairn_run_frame *frame,
                                      cairn_error *error)
{
    if (f->frame_time.rows > 0 || cairn_run_table_rows(&f->bodies) > 0 || !f->scene->body_names ||
        frame->fresh == 0)
        return CAIRN_OK;
    const char **names = cairn_memory_zeroed(frame->fresh, sizeof *names);
    int32_t *rows = cairn_memory_zeroed(frame->fresh, sizeof *rows);
    cairn_status status = CAIRN_NO_MEMORY;
    if (names && rows)
        status = write_names(f, frame, names, rows, error);
    cairn_memory_free(names);
    cairn_memory_free(rows);
    return status;
}

static cairn_status write_bodies(cairn_run_file *f, const cairn_run_frame *frame,
                                 cairn_error *error)
{
    TRY(write_first_names(f, frame, error));
    TRY(cairn_run_geometry_append(f->file, frame->shelf, &f->geometry, error));
    TRY(cairn_run_table_append(&f->bodies, frame, frame->fresh, error));
    return cairn_run_table_append(&f->states, frame, frame->bodies, error);
}

static cairn_status write_contacts(cairn_run_file *f, const cairn_run_frame *frame,
                                   cairn_error *error)
{
    return f->scene->run.contacts
               ? cairn_run_table_append(&f->contacts, frame, frame->contacts, error)
               : CAIRN_OK;
}

/* Offsets and time are appended last: a frame counts only when all of it is in the file. */
static cairn_status write_end(cairn_run_file *f, const cairn_run_frame *frame, cairn_error *error)
{
    TRY(cairn_run_table_append(&f->joints, frame, frame->joint.fresh, error));
    TRY(cairn_run_table_append(&f->joint_states, frame, frame->joint.count, error));
    TRY(cairn_run_statistics_frame(&f->statistics, frame->step, frame->sample, error));
    if (f->scene->run.contacts) {
        int64_t contacts = cairn_run_table_rows(&f->contacts);
        TRY(cairn_hdf5_column_append(&f->contact_offset, 1, &contacts, error));
    }
    int64_t bodies = cairn_run_table_rows(&f->states);
    int64_t joints = cairn_run_table_rows(&f->joint_states);
    TRY(cairn_hdf5_column_append(&f->joint_offset, 1, &joints, error));
    TRY(cairn_hdf5_column_append(&f->body_offset, 1, &bodies, error));
    TRY(cairn_hdf5_column_append(&f->frame_step, 1, &frame->step, error));
    return cairn_hdf5_column_append(&f->frame_time, 1, &frame->time, error);
}

static cairn_status write_frame(cairn_run_file *f, const cairn_run_frame *frame, cairn_error *error)
{
    TRY(end_flush(f, true, error));
    TRY(write_bodies(f, frame, error));
    TRY(write_contacts(f, frame, error));
    return write_end(f, frame, error);
}

/* Write something of a frame, and the chunks that are compressed by now. */
static cairn_status append(cairn_run_file *f, const cairn_run_frame *frame, cairn_error *error,
                           cairn_status (*write)(cairn_run_file *f, const cairn_run_frame *frame,
                                                 cairn_error *error))
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write(f, frame, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_writer_collect(&f->writer, false, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

cairn_status cairn_run_file_frame(cairn_run_file *f, const cairn_run_frame *frame,
                                  cairn_error *error)
{
    return append(f, frame, error, write_frame);
}

cairn_status cairn_run_file_bodies(cairn_run_file *f, const cairn_run_frame *frame,
                                   cairn_error *error)
{
    return append(f, frame, error, write_bodies);
}

cairn_status cairn_run_file_contacts(cairn_run_file *f, const cairn_run_frame *frame,
                                     cairn_error *error)
{
    return append(f, frame, error, write_contacts);
}

cairn_status cairn_run_file_end_frame(cairn_run_file *f, const cairn_run_frame *frame,
                                      cairn_error *error)
{
    return append(f, frame, error, write_end);
}

/* Bodies and joints that no earlier frame had are written first, because the rows of the
 * certificate refer to them. For step 0 the first frame has already written them. */
static cairn_status write_detail_piece(cairn_run_file *f, const cairn_run_frame *frame,
                                       cairn_error *error)
{
    TRY(end_flush(f, true, error));
    if (frame->step > 0) {
        TRY(cairn_run_geometry_append(f->file, frame->shelf, &f->geometry, error));
        TRY(cairn_run_table_append(&f->bodies, frame, frame->fresh, error));
        TRY(cairn_run_table_append(&f->joints, frame, frame->joint.fresh, error));
    }
    return cairn_run_certificate_piece(&f->certificate, frame, error);
}

static cairn_status write_detail_end(cairn_run_file *f, const cairn_run_frame *frame,
                                     cairn_error *error)
{
    return cairn_run_certificate_end(&f->certificate, frame, error);
}

cairn_status cairn_run_file_detail_piece(cairn_run_file *f, const cairn_run_frame *frame,
                                         cairn_error *error)
{
    return append(f, frame, error, write_detail_piece);
}

cairn_status cairn_run_file_end_detail(cairn_run_file *f, const cairn_run_frame *frame,
                                       cairn_error *error)
{
    return append(f, frame, error, write_detail_end);
}

cairn_status cairn_run_file_events(cairn_run_file *f, int64_t step, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_events(f, step, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

bool cairn_run_file_is_full(const cairn_run_file *f)
{
    return f->full;
}

cairn_status cairn_run_file_detail(cairn_run_file *f, const cairn_run_frame *frame,
                                   cairn_error *error)
{
    TRY(cairn_run_file_detail_piece(f, frame, error));
    return cairn_run_file_end_detail(f, frame, error);
}

cairn_status cairn_run_file_begin_flush(cairn_run_file *f, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = begin_flush(f, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

bool cairn_run_file_is_flushing(const cairn_run_file *f)
{
    return f->flushing;
}

cairn_status cairn_run_file_end_flush(cairn_run_file *f, bool wait, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = end_flush(f, wait, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

cairn_status cairn_run_file_flush(cairn_run_file *f, cairn_error *error)
{
    TRY(cairn_run_file_begin_flush(f, error));
    return cairn_run_file_end_flush(f, true, error);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Where the time of several ranks went. A part of the run that one process computed has none. */
static cairn_status write_ranks(hid_t root, const cairn_run_ranks *r, cairn_error *error)
{
    const double numbers[] = { (double)r->members, r->compute,          r->waiting,      r->sending,
                               r->most_compute,    (double)r->messages, (double)r->bytes };
    const cairn_hdf5_values all = { CAIRN_HDF5_REAL, CAIRN_COUNT(numbers), numbers };
    if (H5Aexists(root, "ranks") > 0)
        H5Adelete(root, "ranks");
    return r->members < 2 ? CAIRN_OK : cairn_hdf5_attribute(root, "ranks", all, error);
}

/* `ending` last: a file that says "complete" has all other totals. */
static cairn_status write_totals(hid_t root, const cairn_run_summary *s,
                                 const cairn_run_ending *ending, cairn_error *error)
{
    const cairn_run_inlets *i = &s->inlets;
    const int64_t inlets[] = { i->bodies, i->released, i->unplaced, i->later };
    cairn_hdf5_values hash = { CAIRN_HDF5_ULONG, 1, &s->hash };
    cairn_hdf5_values came = { CAIRN_HDF5_LONG, CAIRN_COUNT(inlets), inlets };
    TRY(cairn_hdf5_attribute(root, "hash", hash, error));
    TRY(cairn_hdf5_real(root, "wall_seconds", s->wall_seconds, error));
    TRY(cairn_hdf5_real(root, "initial_energy", s->initial_energy, error));
    TRY(write_ranks(root, &s->ranks, error));
    if (s->inlets.bodies > 0)
        TRY(cairn_hdf5_attribute(root, "inlets", came, error));
    if (s->has_packing)
        TRY(cairn_hdf5_real(root, "packing_fraction", s->packing.fraction, error));
    TRY(cairn_hdf5_text(root, "message", ending->message, error));
    return cairn_hdf5_text(root, "ending", ending->name, error);
}

/* Columns first, then the writer, then the file: HDF5 keeps a file open as long as an object in it
 * is. Used by cairn_run_file_destroy as well, so everything may still be zero. */
static cairn_status close_file(cairn_run_file *f, cairn_error *error)
{
    cairn_run_table_close(&f->steps);
    cairn_run_table_close(&f->worst);
    cairn_run_table_close(&f->gravity);
    cairn_run_table_close(&f->cell);
    cairn_hdf5_column_close(&f->friction);
    cairn_run_certificate_close(&f->certificate);
    cairn_run_statistics_close(&f->statistics);
    cairn_run_table_close(&f->bodies);
    cairn_run_geometry_close(&f->geometry);
    cairn_run_table_close(&f->states);
    cairn_run_table_close(&f->contacts);
    cairn_run_table_close(&f->joints);
    cairn_run_table_close(&f->joint_states);
    for (int i = 0; i < ENTRIES; i++)
        cairn_hdf5_column_close(&f->entries[i]);
    cairn_hdf5_column_close(&f->event_number);
    cairn_hdf5_column_close(&f->event_step);
    cairn_hdf5_column_close(&f->event_time);
    cairn_hdf5_column_close(&f->frame_step);
    cairn_hdf5_column_close(&f->frame_time);
    cairn_hdf5_column_close(&f->body_offset);
    cairn_hdf5_column_close(&f->joint_offset);
    cairn_hdf5_column_close(&f->contact_offset);
    cairn_hdf5_writer_destroy(&f->writer);
    hid_t file = f->file;
    f->file = 0;
    return file > 0 ? cairn_hdf5_close(file, &f->sink, error) : CAIRN_OK;
}

static cairn_status finish(cairn_run_file *f, const cairn_run_summary *summary,
                           const cairn_run_ending *ending, cairn_error *error)
{
    TRY(cairn_run_statistics_write(&f->statistics, true, error));
    TRY(write_totals(f->file, summary, ending, error));
    /* The attributes of the root changed, so its checksum must be computed again. */
    f->sums.stale = true;
    TRY(begin_flush(f, error));
    TRY(end_flush(f, true, error));
    f->complete = true;
    TRY(close_file(f, error));
    TRY(cairn_hdf5_sink_check(&f->sink, error));
    return cairn_run_statistics_commit(&f->statistics, error);
}

cairn_status cairn_run_file_finish(cairn_run_file *f, const cairn_run_summary *summary,
                                   const cairn_run_ending *ending, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = finish(f, summary, ending, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

cairn_status cairn_run_file_commit(cairn_run_file *f, cairn_error *error)
{
    if (rename(f->part, f->path) == 0)
        return CAIRN_OK;
    cairn_status status =
        cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot rename to run.h5: %s", strerror(errno));
    cairn_error_set_file(error, f->part);
    return status;
}

void cairn_run_file_destroy(cairn_run_file *f)
{
    if (!f)
        return;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    /* Changes since the last flush are discarded: the file on the disk stays as of that flush, and
     * can be resumed. */
    if (!f->complete)
        cairn_hdf5_sink_drop(&f->sink);
    close_file(f, NULL);
    cairn_hdf5_quiet_end(quiet);
    cairn_hdf5_sums_destroy(&f->sums);
    cairn_run_statistics_destroy(&f->statistics);
    cairn_memory_free(f->waiting);
    cairn_memory_free(f->frictions);
    cairn_memory_free(f);
}
