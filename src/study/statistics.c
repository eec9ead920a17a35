/* statistics.c - the statistics of a finished run, from the frames of its file. The file may be
 * anything that calls itself a run, so every offset, row and length is checked before it is
 * used. */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/study.h"
#include "file/file.h"
#include "run/run_file.h"

/* ---- opening -------------------------------------------------------------------------------- */

/* Read all numbers of a dataset into the arena `kept`. */
static cairn_status read_list(cairn_run_reader *r, const char *group, const char *name,
                              cairn_hdf5_type type, cairn_hdf5_numbers *out)
{
    hid_t parent;
    TRY(cairn_hdf5_open_group(r->file, group, &parent, r->error));
    cairn_status status = cairn_hdf5_read(parent, name, type, &r->kept, out, r->error);
    H5Gclose(parent);
    return status;
}

/* Read a list that must have `count` numbers, because it is indexed together with another list that
 * was read before. */
static cairn_status read_column(cairn_run_reader *r, const char *group, const char *name,
                                int64_t count, const double **out)
{
    cairn_hdf5_numbers found;
    TRY(read_list(r, group, name, CAIRN_HDF5_REAL, &found));
    *out = found.data;
    return found.count == count
               ? CAIRN_OK
               : cairn_fail(r->error, CAIRN_BAD_INPUT, name, "found %d numbers, expected %lld",
                            found.count, (long long)count);
}

/* The same for whole numbers of /bodies. */
static cairn_status read_kinds(cairn_run_reader *r, const char *name, const int32_t **out)
{
    cairn_hdf5_numbers found;
    TRY(read_list(r, "bodies", name, CAIRN_HDF5_INT, &found));
    *out = found.data;
    return found.count == r->bodies
               ? CAIRN_OK
               : cairn_fail(r->error, CAIRN_BAD_INPUT, name, "found %d numbers, expected %d",
                            found.count, r->bodies);
}

/* Files of older versions have no column `volume`; r->volume is then NULL. */
static cairn_status read_volumes(cairn_run_reader *r)
{
    hid_t bodies;
    TRY(cairn_hdf5_open_group(r->file, "bodies", &bodies, r->error));
    bool there = cairn_hdf5_has(bodies, "volume");
    H5Gclose(bodies);
    return there ? read_column(r, "bodies", "volume", r->bodies, &r->volume) : CAIRN_OK;
}

/* The number of masses defines the number of bodies; all other columns must agree with it. */
static cairn_status read_bodies(cairn_run_reader *r)
{
    cairn_hdf5_numbers mass;
    const double *inertia;
    TRY(read_list(r, "bodies", "mass", CAIRN_HDF5_REAL, &mass));
    r->bodies = mass.count;
    r->mass = mass.data;
    TRY(read_kinds(r, "shape", &r->shape));
    TRY(read_kinds(r, "motion", &r->motion));
    TRY(read_kinds(r, "material", &r->material));
    TRY(read_column(r, "bodies", "radius", r->bodies, &r->radius));
    TRY(read_volumes(r));
    TRY(read_column(r, "bodies", "inertia", 3 * (int64_t)r->bodies, &inertia));
    r->inertia = (const cairn_vec3 *)inertia;
    return CAIRN_OK;
}

static cairn_status read_frames(cairn_run_reader *r)
{
    cairn_hdf5_numbers time;
    hid_t frames;
    TRY(cairn_hdf5_open_group(r->file, "frames", &frames, r->error));
    r->has_contacts = cairn_hdf5_has(frames, "contact_offset");
    H5Gclose(frames);
    TRY(read_list(r, "frames", "time", CAIRN_HDF5_REAL, &time));
    r->frames = time.count;
    r->time = time.data;
    TRY(read_column(r, "frames", "step", r->frames, &r->step));
    TRY(read_column(r, "frames", "body_offset", (int64_t)r->frames + 1, &r->body_offset));
    if (r->has_contacts)
        TRY(read_column(r, "frames", "contact_offset", (int64_t)r->frames + 1, &r->contact_offset));
    return CAIRN_OK;
}

/* Whether /steps has a column. */
static bool has_column(const cairn_run_reader *r, const char *name)
{
    hid_t group = H5Gopen2(r->file, "steps", H5P_DEFAULT);
    bool there = cairn_hdf5_has(group, name);
    H5Gclose(group);
    return there;
}

/* Entries of the ledger that the first run files did not have. */
static bool is_newer(const char *name)
{
    static const char *const newer[] = { "sleep_loss", "gravity_work",   "entered_mass",
                                         "left_mass",  "applied_energy", NULL };
    return cairn_text_is_one_of(name, newer);
}

/* Sums of works and losses over the steps. A run with `certificate: off` stores none; totals is
 * then NULL. Kinetic, potential and elastic energy are states, whose sums have no meaning; they are
 * summed only because one loop over all entries is simpler. */
static cairn_status read_totals(cairn_run_reader *r)
{
    cairn_hdf5_numbers steps;
    TRY(read_list(r, "steps", "step", CAIRN_HDF5_REAL, &steps));
    r->steps = steps.count;
    bool kept = has_column(r, "friction_loss");
    if (has_column(r, "time_step"))
        TRY(read_column(r, "steps", "time_step", r->steps, &r->lengths));
    if (has_column(r, "gravity"))
        TRY(read_column(r, "steps", "gravity", 3 * (int64_t)r->steps,
                        (const double **)&r->gravity_of));
    if (!kept)
        return CAIRN_OK;
    r->totals = cairn_arena_take(&r->kept, (size_t)r->steps + 1, sizeof *r->totals);
    if (!r->totals)
        return CAIRN_NO_MEMORY;
    r->totals[0] = (cairn_energy){ 0 };
    for (int i = 0; i < cairn_energy_entries.count; i++) {
        const cairn_report_entry *entry = &cairn_energy_entries.items[i];
        const double *column = NULL;
        double sum = 0;
        /* older files have fewer entries: bodies did not sleep, gravity did not vary, ... */
        bool there = !is_newer(entry->name) || has_column(r, entry->name);
        if (there)
            TRY(read_column(r, "steps", entry->name, r->steps, &column));
        for (int k = 0; k < r->steps; k++) {
            sum += there ? column[k] : 0;
            cairn_report_entry_set(entry, &r->totals[k + 1], sum);
        }
    }
    return CAIRN_OK;
}

/* The rows of a cell, which frames do not have: those that the run measured, none if the world has
 * no cell. NaN: a column of the third dimension. */
static cairn_status read_cell(cairn_run_reader *r)
{
    static const char *const names[CAIRN_CELL_NUMBERS] = {
        "length_x",      "length_y",       "length_z", "strain_x", "strain_y", "strain_z",
        "force_x",       "force_y",        "force_z",  "stress_x", "stress_y", "stress_z",
        "volume_strain", "friction_angle", "shear_x",  "shear_y",  "shear_z"
    };
    if (H5Lexists(r->file, "statistics", H5P_DEFAULT) <= 0 ||
        H5Lexists(r->file, "statistics/cell", H5P_DEFAULT) <= 0)
        return CAIRN_OK;
    cairn_hdf5_numbers rows;
    TRY(read_list(r, "statistics/cell", names[0], CAIRN_HDF5_REAL, &rows));
    if (rows.count == 0)
        return CAIRN_OK;
    double *cell = cairn_arena_take(&r->kept, CAIRN_CELL_NUMBERS * (size_t)r->frames, sizeof *cell);
    if (!cell)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < CAIRN_CELL_NUMBERS; i++) {
        const double *column = NULL;
        bool deep = r->dimension == 2 && strchr("z", names[i][strlen(names[i]) - 1]);
        if (!deep)
            TRY(read_column(r, "statistics/cell", names[i], r->frames, &column));
        for (int k = 0; k < r->frames; k++)
            cell[k * CAIRN_CELL_NUMBERS + i] = column ? column[k] : NAN;
    }
    r->cell = cell;
    return CAIRN_OK;
}

static cairn_status read_all(cairn_run_reader *r)
{
    double gravity[3];
    if (!cairn_hdf5_read_reals_attribute(r->file, "gravity", 3, gravity))
        return cairn_fail(r->error, CAIRN_BAD_INPUT, "gravity",
                          "expected the root attribute 'gravity' to be three numbers");
    r->gravity = (cairn_vec3){ gravity[0], gravity[1], gravity[2] };
    TRY(read_bodies(r));
    TRY(read_frames(r));
    TRY(read_cell(r));
    return read_totals(r);
}

cairn_status cairn_run_reader_open(const char *path, cairn_run_reader *out, cairn_error *error)
{
    char file[CAIRN_PATH_BYTES];
    cairn_run_info info;
    *out = (cairn_run_reader){ .error = error };
    TRY(cairn_run_read_info(path, &info, error));
    TRY(cairn_run_find_file(path, file, error));
    cairn_error_set_file(error, file);
    out->dimension = info.dimension;
    out->time_step = info.time_step;
    /* Both are used as a width of rows and as a divisor. */
    if (!(info.dimension == 2 || info.dimension == 3) || !(info.time_step > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "expected dimension 2 or 3 and a time step > 0");
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_open(file, &out->file, error);
    if (status == CAIRN_OK)
        status = read_all(out);
    cairn_hdf5_quiet_end(quiet);
    if (status != CAIRN_OK)
        cairn_run_reader_close(out);
    return status;
}

void cairn_run_reader_close(cairn_run_reader *reader)
{
    if (reader->file > 0)
        H5Fclose(reader->file);
    cairn_arena_destroy(&reader->kept);
    cairn_arena_destroy(&reader->frame);
    *reader = (cairn_run_reader){ .file = 0 };
}

/* ---- frames --------------------------------------------------------------------------------- */

/* A range of rows in a group of the file: those of the frame that is being read. */
typedef struct rows {
    cairn_run_reader *r;
    hid_t group;
    int64_t first, count;
} rows;

/* Open a group and find the rows of frame k from a list of offsets. Offsets are read as doubles: up
 * to 9e15 < 2^53 they are exact. */
static cairn_status open_rows(cairn_run_reader *r, const char *group, const double *offset, int k,
                              rows *out)
{
    double first = offset[k], end = offset[k + 1];
    if (!(first >= 0 && end >= first && end < 9e15 && end - first < INT32_MAX))
        return cairn_fail(r->error, CAIRN_BAD_INPUT,
                          offset == r->body_offset ? "body_offset" : "contact_offset",
                          "found rows %g to %g, expected a range", first, end);
    *out = (rows){ r, -1, (int64_t)first, (int64_t)(end - first) };
    return cairn_hdf5_open_group(r->file, group, &out->group, r->error);
}

static cairn_status read_part(const rows *from, const char *name, cairn_hdf5_type type, int width,
                              const void **out)
{
    cairn_hdf5_slab slab = { name, type, width, from->first, from->count };
    return cairn_hdf5_read_slab(from->group, &slab, &from->r->frame, out, from->r->error);
}

static cairn_status bad_row(const cairn_run_reader *r, const char *name, int32_t row)
{
    return cairn_fail(r->error, CAIRN_BAD_INPUT, name, "found body %d, expected one of %d",
                      (int)row, r->bodies);
}

/* Copy the properties of the frame's bodies from /bodies into arrays of the frame, in the order of
 * the frame. `place` receives the inverse of `index`: the position in the frame of each row of
 * /bodies. */
static cairn_status gather(cairn_run_reader *r, const int32_t *index, cairn_sample *out,
                           int32_t *place)
{
    size_t count = (size_t)out->count;
    uint8_t *is_grain = cairn_arena_take(&r->frame, count, sizeof *is_grain);
    double *radius = cairn_arena_take(&r->frame, count, sizeof *radius);
    double *volume = cairn_arena_take(&r->frame, count, sizeof *volume);
    double *mass = cairn_arena_take(&r->frame, count, sizeof *mass);
    cairn_vec3 *inertia = cairn_arena_take(&r->frame, count, sizeof *inertia);
    int32_t *material = cairn_arena_take(&r->frame, count, sizeof *material);
    if (!is_grain || !radius || !volume || !mass || !inertia || !material)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < out->count; i++) {
        int32_t row = index[i];
        if (row < 0 || row >= r->bodies)
            return bad_row(r, "index", row);
        place[row] = i;
        /* `radius` is stored for other shapes too (cylinders, ...), where it is not a size */
        radius[i] = r->shape[row] == CAIRN_SHAPE_SPHERE ? r->radius[row] : 0;
        volume[i] = r->volume ? r->volume[row] : 0;
        is_grain[i] = cairn_sample_is_grain(r->motion[row] == CAIRN_MOTION_DYNAMIC, volume[i],
                                            r->inertia[row]);
        mass[i] = r->mass[row];
        inertia[i] = r->inertia[row];
        material[i] = r->material[row];
    }
    out->is_grain = is_grain;
    out->radius = radius;
    out->volume = volume;
    out->mass = mass;
    out->inertia = inertia;
    out->material = material;
    return CAIRN_OK;
}

static cairn_status read_states(const rows *from, cairn_sample *out, int32_t *place)
{
    const void *index, *x, *v, *omega;
    TRY(read_part(from, "index", CAIRN_HDF5_INT, 1, &index));
    TRY(read_part(from, "x", CAIRN_HDF5_REAL, 3, &x));
    TRY(read_part(from, "v", CAIRN_HDF5_REAL, 3, &v));
    TRY(read_part(from, "omega", CAIRN_HDF5_REAL, 3, &omega));
    out->count = (int)from->count;
    out->x = x;
    out->v = v;
    out->omega = omega;
    return gather(from->r, index, out, place);
}

/* Translate the bodies of contacts from rows of /bodies into positions in the frame; -1: a body
 * that the frame does not have. */
static cairn_status place_pairs(cairn_run_reader *r, const int32_t *body, const int32_t *place,
                                cairn_sample *out)
{
    int32_t *pair = cairn_arena_take(&r->frame, 2 * (size_t)out->contacts, sizeof *pair);
    if (!pair)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < 2 * out->contacts; i++) {
        if (body[i] < -1 || body[i] >= r->bodies)
            return bad_row(r, "body", body[i]);
        pair[i] = body[i] < 0 ? -1 : place[body[i]];
    }
    out->pair = pair;
    return CAIRN_OK;
}

static cairn_status read_contacts(const rows *from, const int32_t *place, cairn_sample *out)
{
    const void *body, *point, *normal, *tangent, *impulse;
    cairn_run_reader *r = from->r;
    TRY(read_part(from, "body", CAIRN_HDF5_INT, 2, &body));
    TRY(read_part(from, "point", CAIRN_HDF5_REAL, 3, &point));
    TRY(read_part(from, "normal", CAIRN_HDF5_REAL, 3, &normal));
    TRY(read_part(from, "tangent", CAIRN_HDF5_REAL, 3, &tangent));
    TRY(read_part(from, "impulse", CAIRN_HDF5_REAL, r->dimension, &impulse));
    out->contacts = (int)from->count;
    out->point = point;
    out->normal = normal;
    if (cairn_hdf5_has(from->group, "image")) {
        const void *image;
        TRY(read_part(from, "image", CAIRN_HDF5_INT, 3, &image));
        out->image = image;
    }
    TRY(place_pairs(r, body, place, out));
    cairn_sample_contacts mine = { out->contacts, normal, tangent, impulse };
    out->force = cairn_sample_forces(&mine, r->dimension, r->length, &r->frame);
    return out->force ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* A periodic cell: that of the step that led to the frame, or of the start. */
static cairn_status read_lattice(cairn_run_reader *r, int k, cairn_sample *out)
{
    rows from = { r, -1, (int64_t)r->step[k] - 1, 1 };
    const void *edges, *rates;
    if (!cairn_hdf5_read_reals_attribute(r->file, "cell", 9, (double *)out->lattice.edge))
        return CAIRN_OK;
    cairn_hdf5_read_reals_attribute(r->file, "cell_corner", 3, &out->lattice.corner.x);
    if (!(r->step[k] > 0))
        return CAIRN_OK;
    TRY(cairn_hdf5_open_group(r->file, "steps", &from.group, r->error));
    cairn_status status = read_part(&from, "cell", CAIRN_HDF5_REAL, 9, &edges);
    if (status == CAIRN_OK)
        status = read_part(&from, "cell_rate", CAIRN_HDF5_REAL, 9, &rates);
    if (status == CAIRN_OK) {
        memcpy(out->lattice.edge, edges, sizeof out->lattice.edge);
        memcpy(out->lattice.rate, rates, sizeof out->lattice.rate);
    }
    H5Gclose(from.group);
    return status;
}

/* Bodies first: contacts refer to their positions in the frame. */
static cairn_status read_frame(cairn_run_reader *r, int k, cairn_sample *out)
{
    rows from;
    int32_t *place = cairn_arena_take(&r->frame, (size_t)r->bodies, sizeof *place);
    if (!place)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < r->bodies; i++)
        place[i] = -1;
    TRY(read_lattice(r, k, out));
    TRY(open_rows(r, "frames/bodies", r->body_offset, k, &from));
    cairn_status status = read_states(&from, out, place);
    H5Gclose(from.group);
    if (status != CAIRN_OK || !out->has_contacts)
        return status;
    TRY(open_rows(r, "frames/contacts", r->contact_offset, k, &from));
    status = read_contacts(&from, place, out);
    H5Gclose(from.group);
    return status;
}

cairn_status cairn_run_reader_frame(cairn_run_reader *r, int k, cairn_sample *out)
{
    double step = r->step[k];
    bool known = step >= 0 && step <= r->steps; /* false for NaN as well */
    cairn_arena_reset(&r->frame);
    r->length = r->lengths && known && step > 0 ? r->lengths[(int)step - 1] : 0;
    r->length = r->length > 0 ? r->length : r->time_step;
    /* The frame before the first step has no contacts: contacts are those of the step that led to a
     * frame. */
    *out =
        (cairn_sample){ .dimension = r->dimension,
                        .time = r->time[k],
                        .gravity = r->gravity_of && known && step > 0 ? r->gravity_of[(int)step - 1]
                                                                      : r->gravity,
                        .has_contacts = r->has_contacts && step > 0,
                        .totals = r->totals && known ? &r->totals[(int)step] : NULL,
                        .cell = r->cell ? r->cell + (size_t)k * CAIRN_CELL_NUMBERS : NULL };
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = read_frame(r, k, out);
    cairn_hdf5_quiet_end(quiet);
    return status;
}

/* ---- statistics ----------------------------------------------------------------------------- */

static cairn_status measure_all(cairn_run_reader *r, const cairn_measure_options *options,
                                cairn_statistic_table *tables, int count)
{
    for (int k = 0; k < r->frames; k++) {
        cairn_sample sample;
        TRY(cairn_run_reader_frame(r, k, &sample));
        for (int i = 0; i < count; i++) {
            cairn_status status = cairn_statistic_measure(&sample, options, &r->frame, &tables[i]);
            if (status != CAIRN_OK)
                return cairn_fail(r->error, status, tables[i].name, "%s",
                                  status == CAIRN_BAD_INPUT
                                      ? "its grid has too many cells, expected a larger cell or "
                                        "width, or a box by --region"
                                      : cairn_status_text(status));
        }
    }
    return CAIRN_OK;
}

/* Creating a table allocates nothing: it fails only for an unknown name. */
static cairn_status create_tables(const cairn_names *names, int dimension,
                                  cairn_statistic_table *tables, cairn_error *error)
{
    for (int i = 0; i < names->count; i++)
        if (cairn_statistic_table_create(names->items[i], dimension, &tables[i]) != CAIRN_OK)
            return cairn_fail(error, CAIRN_NOT_FOUND, NULL, "there is no statistic '%s'",
                              names->items[i]);
    return CAIRN_OK;
}

cairn_status cairn_run_measure(const char *path, const cairn_names *names,
                               const cairn_measure_options *options, cairn_statistic_table *tables,
                               cairn_error *error)
{
    cairn_run_reader r;
    memset(tables, 0, (size_t)names->count * sizeof *tables);
    TRY(cairn_run_reader_open(path, &r, error));
    cairn_status status = cairn_measure_options_check(options, r.dimension, error);
    if (status == CAIRN_OK)
        status = create_tables(names, r.dimension, tables, error);
    if (status == CAIRN_OK)
        status = measure_all(&r, options, tables, names->count);
    cairn_run_reader_close(&r);
    /* On failure the caller gets no tables. Tables that were not created are zero and can be
     * destroyed. */
    for (int i = 0; status != CAIRN_OK && i < names->count; i++)
        cairn_statistic_table_destroy(&tables[i]);
    return status;
}

/* ---- series of forces ----------------------------------------------------------------------- */

/* Opens /series of a run; *group is -1 if the run has none. */
static cairn_status open_series(const char *path, hid_t *file, hid_t *group, cairn_error *error)
{
    char name[CAIRN_PATH_BYTES];
    TRY(cairn_run_find_file(path, name, error));
    cairn_error_set_file(error, name);
    TRY(cairn_hdf5_open(name, file, error));
    *group = cairn_hdf5_has(*file, "series") ? H5Gopen2(*file, "series", H5P_DEFAULT) : -1;
    return CAIRN_OK;
}

static void close_series(hid_t file, hid_t group)
{
    if (group >= 0)
        H5Gclose(group);
    H5Fclose(file);
}

/* Callback of H5Literate. Names that no scene can give are those of a foreign file. */
static herr_t add_name(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    cairn_series_names *out = context;
    (void)group;
    (void)link;
    if (out->count == CAIRN_MOST_PROBES || strlen(name) >= sizeof out->items[0])
        return 1;
    snprintf(out->items[out->count++], sizeof out->items[0], "%s", name);
    return 0;
}

cairn_status cairn_run_series_names(const char *path, cairn_series_names *out, cairn_error *error)
{
    hid_t file, group;
    hsize_t position = 0;
    *out = (cairn_series_names){ .count = 0 };
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = open_series(path, &file, &group, error);
    if (status == CAIRN_OK) {
        if (group >= 0 &&
            H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, add_name, out) < 0)
            status = cairn_fail(error, CAIRN_BAD_INPUT, "series", "cannot list what it holds");
        close_series(file, group);
    }
    cairn_hdf5_quiet_end(quiet);
    return status;
}

/* All columns must have as many rows as the time. */
static cairn_status read_table(hid_t own, cairn_statistic_table *t, cairn_arena *arena,
                               cairn_error *error)
{
    size_t width = (size_t)t->column_count;
    for (size_t i = 0; i < width; i++) {
        cairn_hdf5_numbers found;
        const char *name = t->columns[i].name;
        TRY(cairn_hdf5_read(own, name, CAIRN_HDF5_REAL, arena, &found, error));
        if (i == 0) {
            t->rows = (size_t)found.count;
            t->capacity = t->rows * width;
            t->values = cairn_memory_zeroed(t->capacity + 1, sizeof *t->values);
        }
        if (!t->values)
            return CAIRN_NO_MEMORY;
        if ((size_t)found.count != t->rows)
            return cairn_fail(error, CAIRN_BAD_INPUT, name, "found %d numbers, expected %zu",
                              found.count, t->rows);
        for (size_t k = 0; k < t->rows; k++)
            t->values[k * width + i] = ((const double *)found.data)[k];
    }
    return CAIRN_OK;
}

static cairn_status read_series(hid_t group, cairn_statistic_table *table, cairn_error *error)
{
    hid_t own;
    cairn_arena arena = { 0 };
    if (group < 0 || !cairn_hdf5_has(group, table->name))
        return cairn_fail(error, CAIRN_NOT_FOUND, "series", "there is no series '%s'", table->name);
    TRY(cairn_hdf5_open_group(group, table->name, &own, error));
    cairn_status status = read_table(own, table, &arena, error);
    H5Gclose(own);
    cairn_arena_destroy(&arena);
    return status;
}

cairn_status cairn_run_series(const char *path, const char *name, cairn_statistic_table *table,
                              cairn_error *error)
{
    cairn_run_info info;
    hid_t file, group;
    *table = (cairn_statistic_table){ 0 };
    TRY(cairn_run_read_info(path, &info, error));
    cairn_series_table_create(name, info.dimension, table);
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = open_series(path, &file, &group, error);
    if (status == CAIRN_OK) {
        status = read_series(group, table, error);
        close_series(file, group);
    }
    cairn_hdf5_quiet_end(quiet);
    if (status != CAIRN_OK)
        cairn_statistic_table_destroy(table);
    return status;
}
