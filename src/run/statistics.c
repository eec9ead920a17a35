/* statistics.c - the statistics that a run measures at its frames, the series of forces that it
 * reads in its steps, and samples of a world.
 *
 * A statistic writes the same rows to a group of run.h5 and to a CSV file. Its table in memory
 * holds the rows of one frame at a time; that of a series the rows of the steps since the last
 * write. */

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/cell.h"
#include "cairn/world.h"
#include "file/file.h"
#include "file/formats.h"
#include "file/hdf5.h"
#include "math/vec.h"
#include "run/frame.h"
#include "run/run_file.h"

/* One statistic or series: its rows that are not written yet, its columns in run.h5, and its CSV
 * file. */
typedef struct cairn_run_statistic {
    cairn_statistic_table table;
    cairn_hdf5_column columns[CAIRN_STATISTIC_COLUMNS];
    cairn_file csv;
    cairn_run_series_mark mark; /* of a series: the steps that are not in a row yet */
} cairn_run_statistic;

/* ---- the beginning -------------------------------------------------------------------------- */

/* Statistics are short columns: a few rows for each frame. */
static cairn_status create_columns(hid_t parent, cairn_hdf5_writer *writer,
                                   cairn_run_statistic *item, cairn_error *error)
{
    hid_t group;
    cairn_status status = CAIRN_OK;
    TRY(cairn_hdf5_group(parent, item->table.name, &group, error));
    for (int i = 0; i < item->table.column_count && status == CAIRN_OK; i++) {
        const cairn_statistic_column *column = &item->table.columns[i];
        cairn_hdf5_column_def def = { column->name,     column->unit, CAIRN_HDF5_REAL, 1,
                                      CAIRN_STEP_CHUNK, writer };
        status = cairn_hdf5_column_create(group, &def, &item->columns[i], error);
    }
    H5Gclose(group);
    return status;
}

static cairn_status csv_path(const cairn_run_statistics *s, const char *kind, const char *name,
                             char *path, cairn_error *error)
{
    char part[64];
    snprintf(part, sizeof part, "%s/%s.csv", kind, name);
    return cairn_path_join(s->folder, part, path, error);
}

/* `kind` names the group and the folder: statistics or series. A grid has no CSV file: as text its
 * many numbers would take longer than the steps. */
static cairn_status start_item(cairn_run_statistics *s, hid_t group, const char *kind,
                               cairn_run_statistic *item, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    TRY(create_columns(group, s->writer, item, error));
    if (cairn_statistic_is_grid(&item->table))
        return CAIRN_OK;
    TRY(csv_path(s, kind, item->table.name, path, error));
    TRY(cairn_file_create(path, &item->csv, error));
    cairn_statistic_write_head(item->csv.stream, &item->table);
    return CAIRN_OK;
}

/* s->count increases with each complete item. Memory of an incomplete one is freed all the same,
 * since close and destroy loop over all items. */
static cairn_status start_all(cairn_run_statistics *s, hid_t group, cairn_error *error)
{
    const cairn_names *names = &s->scene->run.statistics;
    int dimension = cairn_world_dimension(s->scene->world);
    TRY(cairn_hdf5_record(group, cairn_measure_record(), &s->scene->measure, error));
    for (; s->count < names->count; s->count++) {
        cairn_run_statistic *item = &s->items[s->count];
        TRY(cairn_statistic_table_create(names->items[s->count], dimension, &item->table));
        TRY(start_item(s, group, "statistics", item, error));
    }
    return CAIRN_OK;
}

/* What a series reads, as attributes of its group: enough to compute it again. */
static cairn_status describe_series(hid_t group, const cairn_force_series *series,
                                    const cairn_probe *probe, cairn_error *error)
{
    hid_t own;
    cairn_hdf5_values bodies = { CAIRN_HDF5_ULONG, probe->body_count, probe->bodies };
    const struct {
        const char *name;
        cairn_hdf5_values values;
    } attributes[] = {
        { "joint", { CAIRN_HDF5_LONG, 1, &probe->joint } },
        { "material", { CAIRN_HDF5_LONG, 1, &probe->material } },
        { "group", { CAIRN_HDF5_LONG, 1, &probe->group } },
        { "low", { CAIRN_HDF5_REAL, probe->boxed ? 3 : 0, &probe->low } },
        { "high", { CAIRN_HDF5_REAL, probe->boxed ? 3 : 0, &probe->high } },
        { "about", { CAIRN_HDF5_REAL, probe->about_point ? 3 : 0, &probe->about } },
        { "interval", { CAIRN_HDF5_REAL, 1, &series->interval } },
    };
    TRY(cairn_hdf5_group(group, series->name, &own, error));
    cairn_status status = CAIRN_OK;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && status == CAIRN_OK; i++)
        if (attributes[i].values.count > 0)
            status = cairn_hdf5_attribute(own, attributes[i].name, attributes[i].values, error);
    if (status == CAIRN_OK && probe->body_count > 0)
        status = cairn_hdf5_attribute(own, "bodies", bodies, error);
    H5Gclose(own);
    return status;
}

static cairn_status start_series(cairn_run_statistics *s, hid_t group, cairn_error *error)
{
    int dimension = cairn_world_dimension(s->scene->world);
    for (; s->series_count < s->scene->series_count; s->series_count++) {
        cairn_run_statistic *item = &s->series[s->series_count];
        const cairn_force_series *series = &s->scene->series[s->series_count];
        cairn_series_table_create(series->name, dimension, &item->table);
        TRY(start_item(s, group, "series", item, error));
        TRY(describe_series(group, series, &s->scene->step.probes[s->series_count], error));
    }
    return CAIRN_OK;
}

/* The group and the folder of one kind. */
static cairn_status start_kind(const cairn_run_statistics *s, hid_t file, const char *kind,
                               hid_t *group, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(s->folder, kind, path, error));
    TRY(cairn_folder_create(path, error));
    return cairn_hdf5_group(file, kind, group, error);
}

static cairn_run_statistic *make_items(int count)
{
    return cairn_memory_zeroed((size_t)count, sizeof(cairn_run_statistic));
}

/* The writer was set by the owner before, and is kept. */
cairn_status cairn_run_statistics_create(hid_t file, const char *folder, const cairn_scene *scene,
                                         cairn_run_statistics *out, cairn_error *error)
{
    hid_t group;
    int count = scene->run.statistics.count;
    cairn_status status = CAIRN_OK;
    *out = (cairn_run_statistics){ .scene = scene, .folder = folder, .writer = out->writer };
    if (count > 0) {
        out->items = make_items(count);
        TRY(out->items ? CAIRN_OK : CAIRN_NO_MEMORY);
        TRY(start_kind(out, file, "statistics", &group, error));
        status = start_all(out, group, error);
        H5Gclose(group);
    }
    if (scene->series_count > 0 && status == CAIRN_OK) {
        out->series = make_items(scene->series_count);
        TRY(out->series ? CAIRN_OK : CAIRN_NO_MEMORY);
        TRY(start_kind(out, file, "series", &group, error));
        status = start_series(out, group, error);
        H5Gclose(group);
    }
    return status;
}

/* ---- going on ------------------------------------------------------------------------------- */

void cairn_run_statistics_tell(const cairn_run_statistics *s, cairn_run_extent *extent)
{
    extent->totals = s->totals;
    for (int i = 0; i < s->count; i++)
        extent->statistics[i] = (int64_t)s->items[i].columns[0].rows;
    for (int i = 0; i < s->series_count; i++) {
        extent->series[i] = s->series[i].mark;
        extent->series[i].rows = (int64_t)s->series[i].columns[0].rows;
    }
}

/* Read rows [first, first + part->rows) of a table from the HDF5 file, at most CAIRN_STEP_CHUNK.
 * The file stores columns, the table rows. */
static cairn_status read_rows(const cairn_run_statistic *item, int64_t first,
                              cairn_statistic_table *part, cairn_error *error)
{
    double numbers[CAIRN_STEP_CHUNK];
    size_t width = (size_t)part->column_count;
    for (size_t i = 0; i < width; i++) {
        TRY(cairn_hdf5_column_read(&item->columns[i], first, part->rows, numbers, error));
        for (size_t k = 0; k < part->rows; k++)
            part->values[k * width + i] = numbers[k];
    }
    return CAIRN_OK;
}

static void write_csv(const cairn_run_statistic *item, const cairn_statistic_table *rows)
{
    if (item->csv.stream)
        cairn_statistic_write_rows(item->csv.stream, rows);
}

/* The CSV file was started anew; it gets the rows that stay, read from run.h5. */
static cairn_status cut_item(cairn_run_statistic *item, int64_t rows, cairn_arena *arena,
                             cairn_error *error)
{
    cairn_statistic_table part = item->table;
    part.values = cairn_arena_doubles(arena, CAIRN_STEP_CHUNK * (size_t)part.column_count);
    if (!part.values)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < part.column_count; i++)
        TRY(cairn_hdf5_column_cut(&item->columns[i], rows, error));
    for (int64_t first = 0; first < rows; first += CAIRN_STEP_CHUNK) {
        int64_t left = rows - first;
        part.rows = left < CAIRN_STEP_CHUNK ? (size_t)left : CAIRN_STEP_CHUNK;
        TRY(read_rows(item, first, &part, error));
        write_csv(item, &part);
    }
    return CAIRN_OK;
}

cairn_status cairn_run_statistics_cut(cairn_run_statistics *s, const cairn_run_extent *to,
                                      cairn_error *error)
{
    for (int i = 0; i < s->count; i++)
        TRY(cut_item(&s->items[i], to->statistics[i], &s->arena, error));
    for (int i = 0; i < s->series_count; i++) {
        s->series[i].mark = to->series[i];
        TRY(cut_item(&s->series[i], to->series[i].rows, &s->arena, error));
    }
    s->totals = to->totals;
    s->frames = to->frames;
    return CAIRN_OK;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Works and losses are sums since the start. All entries are added, also the energies, whose sums
 * nobody uses. */
static void add_energy(cairn_run_statistics *s, const cairn_energy *energy)
{
    for (int i = 0; s->count > 0 && i < cairn_energy_entries.count; i++) {
        const cairn_report_entry *entry = &cairn_energy_entries.items[i];
        double sum =
            cairn_report_entry_get(entry, &s->totals) + cairn_report_entry_get(entry, energy);
        cairn_report_entry_set(entry, &s->totals, sum);
    }
}

/* The row of a series: means of force and torque over its steps, and the sum of their work. */
static cairn_status add_series_row(cairn_run_statistic *item, double time)
{
    cairn_statistic_table *t = &item->table;
    const cairn_probe_reading *sum = &item->mark.sum;
    double share = 1 / item->mark.steps;
    cairn_vec3 f = cairn_scale(share, sum->force), m = cairn_scale(share, sum->torque);
    const double flat[] = { time, f.x, f.y, m.z, sum->work };
    const double full[] = { time, f.x, f.y, f.z, m.x, m.y, m.z, sum->work };
    size_t next = t->rows * (size_t)t->column_count;
    void *block = t->values;
    TRY(cairn_memory_reserve(&block, &t->capacity, next + (size_t)t->column_count,
                             sizeof *t->values));
    t->values = block;
    memcpy(t->values + next, t->dimension == 2 ? flat : full,
           (size_t)t->column_count * sizeof *t->values);
    t->rows++;
    item->mark = (cairn_run_series_mark){ .rows = 0 };
    return CAIRN_OK;
}

/* Whether the step of length h that led to `time` passed a multiple of the interval. This follows
 * from the time alone, so that a resumed run has the same rows. The slack absorbs rounding. */
static bool is_row_due(double interval, double time, double h)
{
    double slack = 1e-6 * h;
    return interval <= h || floor((time + slack) / interval) > floor((time - h + slack) / interval);
}

cairn_status cairn_run_statistics_step(cairn_run_statistics *s, double time,
                                       const cairn_step_report *report)
{
    add_energy(s, &report->energy);
    s->time = time;
    for (int i = 0; i < s->series_count; i++) {
        cairn_run_series_mark *mark = &s->series[i].mark;
        const cairn_probe_reading *now = &report->readings[i];
        double share = report->length / s->scene->step.time_step;
        mark->sum.force = cairn_add_scaled(mark->sum.force, share, now->force);
        mark->sum.torque = cairn_add_scaled(mark->sum.torque, share, now->torque);
        mark->sum.work += now->work;
        mark->steps += share;
        if (is_row_due(s->scene->series[i].interval, time, report->length))
            TRY(add_series_row(&s->series[i], time));
    }
    return CAIRN_OK;
}

/* Append the rows of the frame to the HDF5 file, column by column. */
static cairn_status append_rows(cairn_run_statistic *item, cairn_arena *arena, cairn_error *error)
{
    const cairn_statistic_table *t = &item->table;
    double *numbers = cairn_arena_take(arena, t->rows, sizeof *numbers);
    if (!numbers)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < t->column_count; i++) {
        for (size_t k = 0; k < t->rows; k++)
            numbers[k] = t->values[k * (size_t)t->column_count + (size_t)i];
        TRY(cairn_hdf5_column_append(&item->columns[i], t->rows, numbers, error));
    }
    return CAIRN_OK;
}

cairn_status cairn_run_statistics_write(cairn_run_statistics *s, bool last, cairn_error *error)
{
    for (int i = 0; i < s->series_count; i++) {
        cairn_run_statistic *item = &s->series[i];
        cairn_arena_moment before = cairn_arena_now(&s->arena);
        if (last && item->mark.steps > 0)
            TRY(add_series_row(item, s->time));
        if (item->table.rows == 0)
            continue;
        write_csv(item, &item->table);
        TRY(append_rows(item, &s->arena, error));
        item->table.rows = 0;
        cairn_arena_return(&s->arena, before);
    }
    return CAIRN_OK;
}

/* The fields of a frame, beside the other files of it for ParaView; the .pvd file is written with
 * those of the other series. A frame without grains has none. */
static cairn_status write_grid(const cairn_run_statistics *s, const cairn_statistic_table *table,
                               cairn_error *error)
{
    char name[64], part[80], path[CAIRN_PATH_BYTES];
    cairn_vtk_file_name(table->name, s->frames, name);
    snprintf(part, sizeof part, "paraview/%s", name);
    TRY(cairn_path_join(s->folder, part, path, error));
    if (table->rows > 0)
        return cairn_statistic_grid_write(table, 0, table->rows, path, error);
    unlink(path);
    return CAIRN_OK;
}

/* CAIRN_BAD_INPUT comes from cells that are too small for the scene; the message names the
 * option. */
static cairn_status measure_item(cairn_run_statistics *s, const cairn_sample *sample,
                                 cairn_run_statistic *item, cairn_error *error)
{
    item->table.rows = 0;
    cairn_status status =
        cairn_statistic_measure(sample, &s->scene->measure, &s->arena, &item->table);
    if (status == CAIRN_BAD_INPUT)
        return cairn_fail(error, status, "measure.cell",
                          "the grid of %s has too many cells, expected a larger cell or width, or "
                          "a box by low and high",
                          item->table.name);
    TRY(status);
    if (cairn_statistic_is_grid(&item->table) && s->scene->run.paraview)
        TRY(write_grid(s, &item->table, error));
    write_csv(item, &item->table);
    return append_rows(item, &s->arena, error);
}

cairn_status cairn_run_statistics_frame(cairn_run_statistics *s, int64_t step, cairn_sample *sample,
                                        cairn_error *error)
{
    cairn_sample own;
    if (s->count == 0)
        return CAIRN_OK;
    cairn_arena_reset(&s->arena);
    /* Before the first step there are no contacts, and no impulses to convert. */
    double time_step = step > 0 ? cairn_world_last_length(s->scene->world) : 0;
    if (!sample) {
        TRY(cairn_sample_take(s->scene->world, time_step, &s->arena, &own));
        sample = &own;
    }
    sample->totals = &s->totals;
    for (int i = 0; i < s->count; i++) {
        cairn_arena_moment before = cairn_arena_now(&s->arena);
        TRY(measure_item(s, sample, &s->items[i], error));
        cairn_arena_return(&s->arena, before);
    }
    s->frames++;
    return CAIRN_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void close_items(cairn_run_statistic *items, int room)
{
    for (int i = 0; items && i < room; i++)
        for (int k = 0; k < CAIRN_STATISTIC_COLUMNS; k++)
            cairn_hdf5_column_close(&items[i].columns[k]);
}

void cairn_run_statistics_close(cairn_run_statistics *s)
{
    close_items(s->items, s->items ? s->scene->run.statistics.count : 0);
    close_items(s->series, s->series ? s->scene->series_count : 0);
}

/* Whether this run has a table of that name. */
static bool is_measured(const cairn_run_statistics *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->items[i].table.name, name) == 0)
            return !cairn_statistic_is_grid(&s->items[i].table);
    return false;
}

/* Whether a file of the folder series/ is one of this run. */
static bool is_of_series(const cairn_run_statistics *s, const char *file)
{
    char name[64];
    for (int i = 0; i < s->series_count; i++) {
        snprintf(name, sizeof name, "%s.csv", s->series[i].table.name);
        if (strcmp(name, file) == 0)
            return true;
    }
    return false;
}

/* The folder series/ has the tables of one run only. */
static cairn_status remove_old_series(const cairn_run_statistics *s, cairn_error *error)
{
    char inside[CAIRN_PATH_BYTES], path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(s->folder, "series", inside, error));
    DIR *entries = opendir(inside);
    const struct dirent *entry;
    cairn_status status = CAIRN_OK;
    while (entries && status == CAIRN_OK && (entry = readdir(entries))) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".csv") != 0 ||
            is_of_series(s, entry->d_name))
            continue;
        status = cairn_path_join(inside, entry->d_name, path, error);
        if (status == CAIRN_OK)
            unlink(path);
    }
    if (entries)
        closedir(entries);
    if (s->series_count == 0)
        rmdir(inside); /* if it is empty */
    return status;
}

/* Files of statistics that this run does not measure are those of an earlier run in the same
 * folder. */
cairn_status cairn_run_statistics_commit(cairn_run_statistics *s, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    for (int i = 0; i < s->count; i++)
        if (s->items[i].csv.stream)
            TRY(cairn_file_commit(&s->items[i].csv, error));
    for (int i = 0; i < s->series_count; i++)
        TRY(cairn_file_commit(&s->series[i].csv, error));
    for (int i = 0; cairn_statistic_name(i); i++) {
        TRY(csv_path(s, "statistics", cairn_statistic_name(i), path, error));
        if (!is_measured(s, cairn_statistic_name(i)))
            remove(path);
    }
    return remove_old_series(s, error);
}

static void destroy_items(cairn_run_statistic *items, int room)
{
    for (int i = 0; items && i < room; i++) {
        cairn_file_abandon(&items[i].csv);
        cairn_statistic_table_destroy(&items[i].table);
    }
    cairn_memory_free(items);
}

void cairn_run_statistics_destroy(cairn_run_statistics *s)
{
    destroy_items(s->items, s->items ? s->scene->run.statistics.count : 0);
    destroy_items(s->series, s->series ? s->scene->series_count : 0);
    cairn_arena_destroy(&s->arena);
    *s = (cairn_run_statistics){ .count = 0 };
}

/* ---- samples ----------------------------------------------------------------------------- */

/* (r_N n + r_1 t + r_2 n x t)/h; in 2D without the last term. */
const cairn_vec3 *cairn_sample_forces(const cairn_sample_contacts *contacts, int dimension,
                                      double time_step, cairn_arena *arena)
{
    cairn_vec3 *force = cairn_arena_take(arena, (size_t)contacts->count, sizeof *force);
    for (int c = 0; force && c < contacts->count; c++) {
        const double *r = &contacts->impulse[(size_t)c * (size_t)dimension];
        cairn_vec3 n = contacts->normal[c], t = contacts->tangent[c];
        cairn_vec3 f = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
        if (dimension == 3)
            f = cairn_add_scaled(f, r[2], cairn_cross(n, t));
        force[c] = cairn_scale(1 / time_step, f);
    }
    return force;
}

/* The arrays are lent by the world; only the forces are computed. */
static cairn_status take_contacts(const cairn_world *world, double time_step, cairn_arena *arena,
                                  cairn_sample *out)
{
    cairn_contacts all = cairn_world_contacts(world);
    cairn_sample_contacts mine = { all.count, all.normal, all.tangent, all.impulse };
    out->has_contacts = time_step > 0;
    if (!out->has_contacts)
        return CAIRN_OK;
    out->contacts = all.count;
    out->pair = all.body;
    out->point = all.point;
    out->normal = all.normal;
    out->image = all.image;
    out->force = cairn_sample_forces(&mine, out->dimension, time_step, arena);
    return out->force ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* The mass of the shape at density 1. Shapes for which it is not defined, such as walls, have
 * volume 0. */
double cairn_sample_volume(const cairn_shape *shape, int dimension)
{
    cairn_mass mass;
    return cairn_shape_mass_tensor(shape, dimension, &mass) == CAIRN_OK ? mass.mass : 0;
}

/* Walls of cells are the only solids without a moment of inertia. */
bool cairn_sample_is_grain(bool dynamic, double volume, cairn_vec3 inertia)
{
    return dynamic && !(volume > 0 && inertia.z == 0);
}

/* asin((s1 - s3)/(s1 + s3)) with the largest and the smallest stress. */
static double mobilised_angle(const double *stress, int dimension)
{
    double most = stress[0], least = stress[0];
    for (int k = 0; k < dimension; k++) {
        if (isnan(stress[k]))
            return NAN;
        most = fmax(most, stress[k]);
        least = fmin(least, stress[k]);
    }
    return least > 0 ? asin((most - least) / (most + least)) : NAN;
}

/* The numbers of the first cell; NULL in *out: there is none. */
static cairn_status take_cell(const cairn_world *world, cairn_arena *arena, const double **out)
{
    *out = NULL;
    if (cairn_world_cell_count(world) == 0)
        return CAIRN_OK;
    cairn_cell_state state = cairn_world_cell(world, 0);
    double *row = cairn_arena_take(arena, CAIRN_CELL_NUMBERS, sizeof *row);
    if (!row)
        return CAIRN_NO_MEMORY;
    memcpy(row, state.length, sizeof state.length);
    memcpy(row + 3, state.strain, sizeof state.strain);
    memcpy(row + 6, state.force, sizeof state.force);
    memcpy(row + 9, state.stress, sizeof state.stress);
    row[12] = state.volume_strain;
    row[13] = mobilised_angle(state.stress, cairn_world_dimension(world));
    row[14] = state.shear.x;
    row[15] = state.shear.y;
    row[16] = state.shear.z;
    *out = row;
    return CAIRN_OK;
}

/* Grains are the dynamic bodies, the rows after the held ones, without walls of cells. Only spheres
 * have a radius in statistics. Sums go over bodies by uid, as in frames. */
cairn_status cairn_sample_take(const cairn_world *world, double time_step, cairn_arena *arena,
                               cairn_sample *out)
{
    cairn_bodies b = cairn_world_bodies(world);
    uint8_t *is_grain = cairn_arena_take(arena, (size_t)b.count, sizeof *is_grain);
    double *radius = cairn_arena_take(arena, (size_t)b.count, sizeof *radius);
    double *volume = cairn_arena_take(arena, (size_t)b.count, sizeof *volume);
    int32_t *order;
    *out = (cairn_sample){ .dimension = cairn_world_dimension(world),
                           .time = cairn_world_time(world),
                           .gravity = cairn_world_gravity(world),
                           .count = b.count,
                           .is_grain = is_grain,
                           .x = b.x,
                           .v = b.v,
                           .omega = b.omega,
                           .inertia = b.inertia,
                           .mass = b.mass,
                           .radius = radius,
                           .volume = volume,
                           .material = b.material,
                           .lattice = cairn_world_lattice(world) };
    if (!is_grain || !radius || !volume)
        return CAIRN_NO_MEMORY;
    TRY(cairn_sort_by_number(b.uid, b.count, arena, &order));
    out->order = order;
    for (int i = 0; i < b.count; i++) {
        radius[i] = cairn_bodies_shape(&b, i)->kind == CAIRN_SHAPE_SPHERE
                        ? cairn_bodies_shape(&b, i)->radius
                        : 0;
        volume[i] =
            i >= b.held ? cairn_sample_volume(cairn_bodies_shape(&b, i), out->dimension) : 0;
        is_grain[i] = cairn_sample_is_grain(i >= b.held, volume[i], b.inertia[i]);
    }
    TRY(take_cell(world, arena, &out->cell));
    return take_contacts(world, time_step, arena, out);
}

/* The public function: one statistic of a world, without a run. */
cairn_status cairn_world_statistic(const cairn_world *world, double time_step,
                                   const cairn_measure_options *options,
                                   cairn_statistic_table *table)
{
    cairn_arena arena = { 0 };
    cairn_sample sample;
    TRY(cairn_measure_options_check(options, cairn_world_dimension(world), NULL));
    cairn_status status = cairn_sample_take(world, time_step, &arena, &sample);
    if (status == CAIRN_OK)
        status = cairn_statistic_measure(&sample, options, &arena, table);
    cairn_arena_destroy(&arena);
    return status;
}
