/* run_statistics.c - see run_statistics.h. A table holds the rows of one frame at a time. */
#include "io/run_statistics.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/file.h"
#include "io/hdf5_record.h"
#include "io/run_columns.h"
#include "io/run_table.h"
#include "io/sample.h"
#include "io/statistic_write.h"

typedef struct cairn_run_statistic {
    cairn_statistic_table table;
    cairn_hdf5_column columns[CAIRN_STATISTIC_COLUMNS];
    cairn_file csv;
} cairn_run_statistic;

/* ---- the beginning -------------------------------------------------------------------------- */

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

static cairn_status csv_path(const cairn_run_statistics *s, const char *name, char *path,
                             cairn_error *error)
{
    char part[64];
    snprintf(part, sizeof part, "statistics/%s.csv", name);
    return cairn_path_join(s->folder, part, path, error);
}

static cairn_status start_item(cairn_run_statistics *s, hid_t group, const char *name,
                               cairn_run_statistic *item, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    int dimension = cairn_world_dimension(s->scene->world);
    TRY(cairn_statistic_table_create(name, dimension, &item->table));
    TRY(create_columns(group, s->writer, item, error));
    TRY(csv_path(s, name, path, error));
    TRY(cairn_file_create(path, &item->csv, error));
    cairn_statistic_write_head(item->csv.stream, &item->table);
    return CAIRN_OK;
}

static cairn_status start_all(cairn_run_statistics *s, hid_t group, cairn_error *error)
{
    const cairn_names *names = &s->scene->run.statistics;
    TRY(cairn_hdf5_record(group, cairn_measure_record(), &s->scene->measure, error));
    for (; s->count < names->count; s->count++)
        TRY(start_item(s, group, names->items[s->count], &s->items[s->count], error));
    return CAIRN_OK;
}

cairn_status cairn_run_statistics_create(hid_t file, const char *folder, const cairn_scene *scene,
                                         cairn_run_statistics *out, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    hid_t group;
    int count = scene->run.statistics.count;
    *out = (cairn_run_statistics){ .scene = scene, .folder = folder, .writer = out->writer };
    if (count == 0)
        return CAIRN_OK;
    TRY(cairn_path_join(folder, "statistics", path, error));
    TRY(cairn_folder_create(path, error));
    out->items = cairn_memory_zeroed((size_t)count, sizeof *out->items);
    if (!out->items)
        return CAIRN_NO_MEMORY;
    TRY(cairn_hdf5_group(file, "statistics", &group, error));
    cairn_status status = start_all(out, group, error);
    H5Gclose(group);
    return status;
}

/* ---- going on ------------------------------------------------------------------------------- */

void cairn_run_statistics_rows(const cairn_run_statistics *s, int64_t *rows)
{
    for (int i = 0; i < s->count; i++)
        rows[i] = (int64_t)s->items[i].columns[0].rows;
}

/* Rows [first, first + part->rows) of a table, out of the HDF5 file. */
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
        cairn_statistic_write_rows(item->csv.stream, &part);
    }
    return CAIRN_OK;
}

cairn_status cairn_run_statistics_cut(cairn_run_statistics *s, const int64_t *rows,
                                      const cairn_energy *totals, cairn_error *error)
{
    for (int i = 0; i < s->count; i++)
        TRY(cut_item(&s->items[i], rows[i], &s->arena, error));
    s->totals = *totals;
    return CAIRN_OK;
}

/* ---- measuring ------------------------------------------------------------------------------ */

void cairn_run_statistics_step(cairn_run_statistics *s, const cairn_step_report *report)
{
    for (int i = 0; s->count > 0 && i < cairn_energy_entries.count; i++) {
        const cairn_entry *entry = &cairn_energy_entries.items[i];
        double sum = cairn_entry_get(entry, &s->totals) + cairn_entry_get(entry, &report->energy);
        cairn_entry_set(entry, &s->totals, sum);
    }
}

/* The rows of the frame, column by column. */
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

static cairn_status measure_item(cairn_run_statistics *s, const cairn_sample *sample,
                                 cairn_run_statistic *item, cairn_error *error)
{
    item->table.rows = 0;
    cairn_status status =
        cairn_statistic_measure(sample, &s->scene->measure, &s->arena, &item->table);
    if (status == CAIRN_BAD_INPUT)
        return cairn_fail(error, status, "measure.cell", "the cells of %s are too small",
                          item->table.name);
    TRY(status);
    cairn_statistic_write_rows(item->csv.stream, &item->table);
    return append_rows(item, &s->arena, error);
}

cairn_status cairn_run_statistics_frame(cairn_run_statistics *s, int64_t step, cairn_error *error)
{
    cairn_sample sample;
    if (s->count == 0)
        return CAIRN_OK;
    cairn_arena_reset(&s->arena);
    double time_step = step > 0 ? s->scene->step.time_step : 0;
    TRY(cairn_sample_take(s->scene->world, time_step, &s->arena, &sample));
    sample.totals = &s->totals;
    for (int i = 0; i < s->count; i++)
        TRY(measure_item(s, &sample, &s->items[i], error));
    return CAIRN_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

void cairn_run_statistics_close(cairn_run_statistics *s)
{
    int room = s->items ? s->scene->run.statistics.count : 0;
    for (int i = 0; i < room; i++)
        for (int k = 0; k < CAIRN_STATISTIC_COLUMNS; k++)
            cairn_hdf5_column_close(&s->items[i].columns[k]);
}

static bool is_measured(const cairn_run_statistics *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->items[i].table.name, name) == 0)
            return true;
    return false;
}

cairn_status cairn_run_statistics_commit(cairn_run_statistics *s, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    for (int i = 0; i < s->count; i++)
        TRY(cairn_file_commit(&s->items[i].csv, error));
    for (int i = 0; cairn_statistic_name(i); i++) {
        TRY(csv_path(s, cairn_statistic_name(i), path, error));
        if (!is_measured(s, cairn_statistic_name(i)))
            remove(path);
    }
    return CAIRN_OK;
}

void cairn_run_statistics_destroy(cairn_run_statistics *s)
{
    int room = s->items ? s->scene->run.statistics.count : 0;
    for (int i = 0; i < room; i++) {
        cairn_file_abandon(&s->items[i].csv);
        cairn_statistic_table_destroy(&s->items[i].table);
    }
    cairn_memory_free(s->items);
    cairn_arena_destroy(&s->arena);
    *s = (cairn_run_statistics){ .count = 0 };
}
