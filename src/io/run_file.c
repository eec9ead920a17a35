/* run_file.c - see run_file.h. The columns are tables: a new one is a new line.
 *
 * Columns of steps are short and written in place; columns of frames and bodies are long, so they
 * are cut in chunks of 4096 rows (32 to 128 KiB), shuffled and deflated. */
#include "io/run_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/run_table.h"

enum { STEP_BUFFER = 256, STEP_CHUNK = 1024, ROW_CHUNK = 4096 };

/* One step as it waits to be written. */
typedef struct step_row {
    int64_t step;
    double time;
    uint8_t solver;
    cairn_step_report report;
} step_row;

/* A column and where its numbers are: `offset` of a number in a step_row, or of a pointer to
 * numbers in a cairn_run_frame. */
typedef struct source {
    const char *name, *unit;
    cairn_hdf5_type type;
    int width; /* 0: the dimension of the world */
    size_t offset;
    const char *(*value_name)(int value); /* names of the values, stored as attribute `names` */
} source;

static const char *shape_name(int kind)
{
    const cairn_record *record = cairn_shape_record(kind);
    return record ? record->name : NULL;
}

#define STEP(name, unit, type, field)                                                              \
    {                                                                                              \
        name, unit, type, 1, offsetof(step_row, field), NULL                                       \
    }
#define FRAME(name, unit, type, width, field)                                                      \
    {                                                                                              \
        name, unit, type, width, offsetof(cairn_run_frame, field), NULL                            \
    }

static const source step_sources[] = {
    STEP("step", "", CAIRN_HDF5_LONG, step),
    STEP("time", "s", CAIRN_HDF5_REAL, time),
    STEP("candidates", "", CAIRN_HDF5_INT, report.candidates),
    STEP("active", "", CAIRN_HDF5_INT, report.active),
    STEP("attempts", "", CAIRN_HDF5_INT, report.attempts),
    STEP("entered", "", CAIRN_HDF5_INT, report.entered),
    STEP("linearisations", "", CAIRN_HDF5_INT, report.linearisations),
    STEP("linearisation_error", "m", CAIRN_HDF5_REAL, report.linearisation_error),
    STEP("converged", "", CAIRN_HDF5_BYTE, report.solve.converged),
    STEP("iterations", "", CAIRN_HDF5_LONG, report.solve.iterations),
    STEP("outer_iterations", "", CAIRN_HDF5_LONG, report.solve.outer_iterations),
    { "solver", "", CAIRN_HDF5_BYTE, 1, offsetof(step_row, solver), cairn_solver_name },
    STEP("asked_worst_contact", "", CAIRN_HDF5_INT,
         report.certificate.judgement.asked.worst_contact),
    STEP("coulomb_worst_contact", "", CAIRN_HDF5_INT,
         report.certificate.judgement.coulomb.worst_contact),
};

static const source body_sources[] = {
    { "shape", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, kind), shape_name },
    { "motion", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, motion), cairn_motion_name },
    FRAME("material", "", CAIRN_HDF5_INT, 1, material),
    FRAME("world_index", "", CAIRN_HDF5_INT, 1, fresh_slot),
    FRAME("mass", "kg", CAIRN_HDF5_REAL, 1, mass),
    FRAME("inertia", "kg m^2", CAIRN_HDF5_REAL, 3, inertia),
    FRAME("radius", "m", CAIRN_HDF5_REAL, 1, radius),
    FRAME("half_angle", "rad", CAIRN_HDF5_REAL, 1, half_angle),
    FRAME("bottom_radius", "m", CAIRN_HDF5_REAL, 1, bottom_radius),
    FRAME("top_radius", "m", CAIRN_HDF5_REAL, 1, top_radius),
    FRAME("height", "m", CAIRN_HDF5_REAL, 1, height),
    FRAME("axis", "1", CAIRN_HDF5_REAL, 3, axis),
};

static const source state_sources[] = {
    FRAME("index", "", CAIRN_HDF5_INT, 1, index),
    FRAME("x", "m", CAIRN_HDF5_REAL, 3, x),
    FRAME("q", "1", CAIRN_HDF5_REAL, 4, q),
    FRAME("v", "m/s", CAIRN_HDF5_REAL, 3, v),
    FRAME("omega", "rad/s", CAIRN_HDF5_REAL, 3, omega),
    FRAME("angle", "rad", CAIRN_HDF5_REAL, 1, angle), /* last: 2D only */
};

static const source contact_sources[] = {
    FRAME("body", "", CAIRN_HDF5_INT, 2, pair),
    FRAME("point", "m", CAIRN_HDF5_REAL, 3, touch.point),
    FRAME("normal", "1", CAIRN_HDF5_REAL, 3, touch.normal),
    FRAME("tangent", "1", CAIRN_HDF5_REAL, 3, touch.tangent),
    FRAME("gap", "m", CAIRN_HDF5_REAL, 1, touch.gap),
    FRAME("impulse", "N s", CAIRN_HDF5_REAL, 0, touch.impulse),
    FRAME("velocity", "m/s", CAIRN_HDF5_REAL, 0, touch.velocity),
    FRAME("mu", "1", CAIRN_HDF5_REAL, 1, touch.mu),
};

/* Columns that grow together, row by row. Zero is valid: nothing is open. */
typedef struct table {
    const source *sources;
    int count;
    cairn_hdf5_column columns[16];
} table;

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { ENTRIES = 32 }; /* room for the entries of certificate, energy and timing */
_Static_assert(COUNT(step_sources) <= 16 && COUNT(body_sources) <= 16,
               "table.columns is too small");

struct cairn_run_file {
    char path[CAIRN_PATH_BYTES], part[CAIRN_PATH_BYTES];
    const cairn_scene *scene;
    cairn_hdf5_sink sink;
    hid_t file;
    int dimension;
    table steps, bodies, states, contacts;
    cairn_hdf5_column entries[ENTRIES];
    cairn_hdf5_column frame_step, frame_time, body_offset, contact_offset;
    step_row *waiting; /* STEP_BUFFER rows */
    int waiting_count;
};

/* ---- settings ------------------------------------------------------------------------------ */

static cairn_status write_option(hid_t root, const cairn_option *option, const void *options,
                                 cairn_error *error)
{
    const char *name = option->name;
    const void *field = (const char *)options + option->offset;
    const cairn_list *list = field;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
        return cairn_hdf5_real(root, name, *(const double *)field, error);
    case CAIRN_OPTION_INTEGER:
        return cairn_hdf5_long(root, name, *(const int64_t *)field, error);
    case CAIRN_OPTION_FLAG:
        return cairn_hdf5_long(root, name, *(const bool *)field, error);
    case CAIRN_OPTION_VECTOR:
        return cairn_hdf5_attribute(root, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, 3, field },
                                    error);
    case CAIRN_OPTION_LIST:
        return cairn_hdf5_attribute(
            root, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, list->count, list->values }, error);
    default:
        return cairn_hdf5_text(root, name, *(const char *const *)field, error);
    }
}

/* Every line of an options table becomes an attribute of the root. */
static cairn_status write_record(hid_t root, const cairn_record *record, const void *options,
                                 cairn_error *error)
{
    for (int i = 0; i < record->option_count; i++)
        TRY(write_option(root, &record->options[i], options, error));
    return CAIRN_OK;
}

static cairn_status write_settings(cairn_run_file *f, cairn_error *error)
{
    const cairn_scene *scene = f->scene;
    cairn_vec3 gravity = cairn_world_gravity(scene->world);
    cairn_hdf5_values g = { CAIRN_HDF5_REAL, 3, &gravity };
    TRY(cairn_hdf5_text(f->file, "format", CAIRN_RUN_FORMAT, error));
    TRY(cairn_hdf5_long(f->file, "format_version", CAIRN_RUN_FORMAT_VERSION, error));
    TRY(cairn_hdf5_text(f->file, "version", cairn_version(), error));
    TRY(cairn_hdf5_text(f->file, "title", scene->title, error));
    TRY(cairn_hdf5_text(f->file, "scene", scene->text, error));
    TRY(cairn_hdf5_long(f->file, "dimension", f->dimension, error));
    TRY(cairn_hdf5_attribute(f->file, "gravity", g, error));
    TRY(write_record(f->file, cairn_step_record(), &scene->step, error));
    TRY(write_record(f->file, cairn_run_record(), &scene->run, error));
    return cairn_hdf5_text(f->file, "ending", "unfinished", error);
}

static cairn_status write_materials(cairn_run_file *f, cairn_error *error)
{
    hid_t group;
    int count = f->scene->material_names ? f->scene->material_count : 0;
    TRY(cairn_hdf5_group(f->file, "materials", &group, error));
    cairn_status status =
        cairn_hdf5_text_dataset(group, "name", f->scene->material_names, (size_t)count, error);
    H5Gclose(group);
    return status;
}

/* ---- columns ------------------------------------------------------------------------------- */

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

/* Open the columns of a table; its sources are set. */
static cairn_status create_table(const cairn_run_file *f, hid_t group, bool packed, table *t,
                                 cairn_error *error)
{
    for (int i = 0; i < t->count; i++) {
        const source *from = &t->sources[i];
        cairn_hdf5_column_def def = { .name = from->name,
                                      .unit = from->unit,
                                      .type = from->type,
                                      .width = from->width ? from->width : f->dimension,
                                      .chunk = packed ? ROW_CHUNK : STEP_CHUNK,
                                      .packed = packed };
        TRY(cairn_hdf5_column_create(group, &def, &t->columns[i], error));
        if (from->value_name)
            TRY(name_values(&t->columns[i], from->value_name, error));
    }
    return CAIRN_OK;
}

static cairn_status create_group_table(const cairn_run_file *f, const char *name, table *t,
                                       cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(f->file, name, &group, error));
    cairn_status status = create_table(f, group, true, t, error);
    H5Gclose(group);
    return status;
}

/* The entries of a report in the order of their columns. */
static const struct {
    const cairn_entries *entries;
    size_t offset; /* of the struct in a step_row */
} entry_groups[] = {
    { &cairn_certificate_entries, offsetof(step_row, report.certificate) },
    { &cairn_energy_entries, offsetof(step_row, report.energy) },
    { &cairn_timing_entries, offsetof(step_row, report.timing) },
};

static cairn_status create_entries(cairn_run_file *f, hid_t group, cairn_error *error)
{
    int next = 0;
    for (int g = 0; g < COUNT(entry_groups); g++) {
        for (int i = 0; i < entry_groups[g].entries->count && next < ENTRIES; i++) {
            const cairn_entry *entry = &entry_groups[g].entries->items[i];
            cairn_hdf5_column_def def = { entry->name, entry->unit, CAIRN_HDF5_REAL,
                                          1,           STEP_CHUNK,  false };
            TRY(cairn_hdf5_column_create(group, &def, &f->entries[next++], error));
        }
    }
    return CAIRN_OK;
}

static cairn_status create_steps(cairn_run_file *f, cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(f->file, "steps", &group, error));
    cairn_status status = create_table(f, group, false, &f->steps, error);
    if (status == CAIRN_OK)
        status = create_entries(f, group, error);
    H5Gclose(group);
    return status;
}

/* The columns with one row a frame. Offsets begin with a 0: frame k has rows [o[k], o[k+1]). */
static cairn_status create_frames(cairn_run_file *f, cairn_error *error)
{
    struct {
        cairn_hdf5_column_def def;
        cairn_hdf5_column *column;
    } columns[] = {
        { { "frames/step", "", CAIRN_HDF5_LONG, 1, STEP_CHUNK, false }, &f->frame_step },
        { { "frames/time", "s", CAIRN_HDF5_REAL, 1, STEP_CHUNK, false }, &f->frame_time },
        { { "frames/body_offset", "", CAIRN_HDF5_LONG, 1, STEP_CHUNK, false }, &f->body_offset },
        { { "frames/contact_offset", "", CAIRN_HDF5_LONG, 1, STEP_CHUNK, false },
          &f->contact_offset },
    };
    int64_t zero = 0;
    int count = f->scene->run.contacts ? 4 : 3;
    for (int i = 0; i < count; i++)
        TRY(cairn_hdf5_column_create(f->file, &columns[i].def, columns[i].column, error));
    for (int i = 2; i < count; i++)
        TRY(cairn_hdf5_column_append(columns[i].column, 1, &zero, error));
    return CAIRN_OK;
}

static cairn_status create_all(cairn_run_file *f, cairn_error *error)
{
    hid_t frames;
    TRY(cairn_hdf5_create(f->part, &f->sink, &f->file, error));
    TRY(write_settings(f, error));
    TRY(write_materials(f, error));
    TRY(create_steps(f, error));
    TRY(create_group_table(f, "bodies", &f->bodies, error));
    TRY(cairn_hdf5_group(f->file, "frames", &frames, error));
    H5Gclose(frames);
    TRY(create_frames(f, error));
    TRY(create_group_table(f, "frames/bodies", &f->states, error));
    if (f->scene->run.contacts)
        TRY(create_group_table(f, "frames/contacts", &f->contacts, error));
    return CAIRN_OK;
}

/* How a call on the file ended: a failure to write shows only in the sink. */
static cairn_status settle(const cairn_run_file *f, cairn_status status, cairn_error *error)
{
    if (status == CAIRN_OK)
        status = cairn_hdf5_sink_check(&f->sink, error);
    if (status != CAIRN_OK && status != CAIRN_NO_MEMORY)
        cairn_error_set_file(error, f->part);
    return status;
}

static cairn_status prepare(const char *folder, const cairn_scene *scene, cairn_run_file *f,
                            cairn_error *error)
{
    f->scene = scene;
    f->dimension = cairn_world_dimension(scene->world);
    f->steps = (table){ .sources = step_sources, .count = COUNT(step_sources) };
    f->bodies = (table){ .sources = body_sources, .count = COUNT(body_sources) };
    f->states = (table){ .sources = state_sources, .count = COUNT(state_sources) };
    f->contacts = (table){ .sources = contact_sources, .count = COUNT(contact_sources) };
    if (f->dimension != 2)
        f->states.count--; /* no angle */
    TRY(cairn_path_join(folder, "run.h5", f->path, error));
    TRY(cairn_path_join(folder, "run.h5.part", f->part, error));
    f->waiting = cairn_memory_zeroed(STEP_BUFFER, sizeof *f->waiting);
    return f->waiting ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_run_file_create(const char *folder, const cairn_scene *scene,
                                   cairn_run_file **out, cairn_error *error)
{
    *out = NULL;
    cairn_run_file *f = cairn_memory_zeroed(1, sizeof *f);
    if (!f)
        return CAIRN_NO_MEMORY;
    cairn_status status = prepare(folder, scene, f, error);
    if (status == CAIRN_OK) {
        cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
        status = create_all(f, error);
        cairn_hdf5_quiet_end(quiet);
        status = settle(f, status, error);
    }
    if (status == CAIRN_OK)
        *out = f;
    else
        cairn_run_file_destroy(f);
    return status;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* One column of the waiting steps: their numbers side by side. */
static cairn_status write_waiting(const cairn_run_file *f, size_t offset, cairn_hdf5_column *column,
                                  cairn_error *error)
{
    char packed[STEP_BUFFER * sizeof(double)];
    size_t size = cairn_hdf5_size(column->type);
    for (int i = 0; i < f->waiting_count; i++)
        memcpy(packed + (size_t)i * size, (const char *)&f->waiting[i] + offset, size);
    return cairn_hdf5_column_append(column, (size_t)f->waiting_count, packed, error);
}

static cairn_status write_steps(cairn_run_file *f, cairn_error *error)
{
    int next = 0;
    for (int i = 0; i < f->steps.count; i++)
        TRY(write_waiting(f, f->steps.sources[i].offset, &f->steps.columns[i], error));
    for (int g = 0; g < COUNT(entry_groups); g++) {
        for (int i = 0; i < entry_groups[g].entries->count && next < ENTRIES; i++) {
            size_t offset = entry_groups[g].offset + entry_groups[g].entries->items[i].offset;
            TRY(write_waiting(f, offset, &f->entries[next++], error));
        }
    }
    f->waiting_count = 0;
    return CAIRN_OK;
}

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
    f->waiting[f->waiting_count++] =
        (step_row){ step, time, solver_number(report->solve.solver), *report };
    if (f->waiting_count < STEP_BUFFER)
        return CAIRN_OK;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_steps(f, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

/* ---- frames -------------------------------------------------------------------------------- */

static cairn_status append_rows(table *t, const cairn_run_frame *frame, size_t rows,
                                cairn_error *error)
{
    for (int i = 0; i < t->count; i++) {
        const void *numbers;
        memcpy(&numbers, (const char *)frame + t->sources[i].offset, sizeof numbers);
        TRY(cairn_hdf5_column_append(&t->columns[i], rows, numbers, error));
    }
    return CAIRN_OK;
}

/* Names of the bodies that the scene names, by row; bodies made later have none. */
static cairn_status write_names(const cairn_run_file *f, const cairn_run_frame *frame,
                                const char **names, int32_t *rows, cairn_error *error)
{
    size_t count = 0;
    for (size_t row = 0; row < frame->fresh; row++) {
        int32_t slot = frame->fresh_slot[row];
        if (slot >= f->scene->body_count || !f->scene->body_names[slot])
            continue;
        names[count] = f->scene->body_names[slot];
        rows[count++] = (int32_t)row;
    }
    hid_t group;
    cairn_hdf5_column column = { 0 };
    cairn_hdf5_column_def def = { "body", "", CAIRN_HDF5_INT, 1, STEP_CHUNK, false };
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

static cairn_status write_first_names(const cairn_run_file *f, const cairn_run_frame *frame,
                                      cairn_error *error)
{
    if (f->frame_time.rows > 0 || !f->scene->body_names || frame->fresh == 0)
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

/* The offsets last, so that a frame counts only when all of it is there. */
static cairn_status write_frame(cairn_run_file *f, const cairn_run_frame *frame, cairn_error *error)
{
    TRY(write_first_names(f, frame, error));
    TRY(append_rows(&f->bodies, frame, frame->fresh, error));
    TRY(append_rows(&f->states, frame, frame->bodies, error));
    if (f->scene->run.contacts) {
        TRY(append_rows(&f->contacts, frame, frame->contacts, error));
        int64_t contacts = (int64_t)f->contacts.columns[0].rows;
        TRY(cairn_hdf5_column_append(&f->contact_offset, 1, &contacts, error));
    }
    int64_t bodies = (int64_t)f->states.columns[0].rows;
    TRY(cairn_hdf5_column_append(&f->body_offset, 1, &bodies, error));
    TRY(cairn_hdf5_column_append(&f->frame_step, 1, &frame->step, error));
    return cairn_hdf5_column_append(&f->frame_time, 1, &frame->time, error);
}

cairn_status cairn_run_file_frame(cairn_run_file *f, const cairn_run_frame *frame,
                                  cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_frame(f, frame, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

cairn_status cairn_run_file_flush(cairn_run_file *f, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_steps(f, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_flush(f->file, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

/* ---- the end ------------------------------------------------------------------------------- */

static cairn_status write_totals(hid_t root, const cairn_run_summary *s,
                                 const cairn_run_ending *ending, cairn_error *error)
{
    cairn_hdf5_values hash = { CAIRN_HDF5_ULONG, 1, &s->hash };
    TRY(cairn_hdf5_attribute(root, "hash", hash, error));
    TRY(cairn_hdf5_real(root, "wall_seconds", s->wall_seconds, error));
    TRY(cairn_hdf5_real(root, "initial_energy", s->initial_energy, error));
    if (s->has_packing)
        TRY(cairn_hdf5_real(root, "packing_fraction", s->packing.fraction, error));
    TRY(cairn_hdf5_text(root, "message", ending->message, error));
    return cairn_hdf5_text(root, "ending", ending->name, error);
}

static void close_table(table *t)
{
    for (int i = 0; i < t->count; i++)
        cairn_hdf5_column_close(&t->columns[i]);
}

static cairn_status close_file(cairn_run_file *f, cairn_error *error)
{
    close_table(&f->steps);
    close_table(&f->bodies);
    close_table(&f->states);
    close_table(&f->contacts);
    for (int i = 0; i < ENTRIES; i++)
        cairn_hdf5_column_close(&f->entries[i]);
    cairn_hdf5_column_close(&f->frame_step);
    cairn_hdf5_column_close(&f->frame_time);
    cairn_hdf5_column_close(&f->body_offset);
    cairn_hdf5_column_close(&f->contact_offset);
    hid_t file = f->file;
    f->file = 0;
    return file > 0 && H5Fclose(file) < 0 ? cairn_hdf5_fail(error, "cannot close") : CAIRN_OK;
}

static cairn_status finish(cairn_run_file *f, const cairn_run_summary *summary,
                           const cairn_run_ending *ending, cairn_error *error)
{
    TRY(write_steps(f, error));
    TRY(write_totals(f->file, summary, ending, error));
    TRY(cairn_hdf5_flush(f->file, error));
    TRY(close_file(f, error));
    TRY(cairn_hdf5_sink_check(&f->sink, error));
    if (rename(f->part, f->path) != 0)
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot rename to run.h5: %s",
                          strerror(errno));
    return CAIRN_OK;
}

cairn_status cairn_run_file_commit(cairn_run_file *f, const cairn_run_summary *summary,
                                   const cairn_run_ending *ending, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = finish(f, summary, ending, error);
    cairn_hdf5_quiet_end(quiet);
    return settle(f, status, error);
}

void cairn_run_file_destroy(cairn_run_file *f)
{
    if (!f)
        return;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    close_file(f, NULL);
    cairn_hdf5_quiet_end(quiet);
    cairn_memory_free(f->waiting);
    cairn_memory_free(f);
}
