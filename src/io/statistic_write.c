/* statistic_write.c - a statistic as CSV. */
#include "io/statistic_write.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "io/file.h"
#include "io/json.h"

void cairn_statistic_write_row(FILE *out, const cairn_statistic_table *t, size_t row,
                               const char *between, const char *unknown)
{
    char text[32];
    for (int i = 0; i < t->column_count; i++) {
        double value = t->values[row * (size_t)t->column_count + (size_t)i];
        if (isfinite(value))
            cairn_number_text(value, text);
        else
            snprintf(text, sizeof text, "%s", unknown);
        fprintf(out, "%s%s", i ? between : "", text);
    }
    fputc('\n', out);
}

void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table)
{
    for (int i = 0; i < table->column_count; i++)
        fprintf(out, "%s%s", i ? "," : "", table->columns[i].name);
    fputc('\n', out);
}

void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table)
{
    for (size_t k = 0; k < table->rows; k++)
        cairn_statistic_write_row(out, table, k, ",", "");
}

cairn_status cairn_statistic_file(const cairn_statistic_table *t, const char *folder,
                                  const char *ending, cairn_file *out, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    snprintf(name, sizeof name, "%s.%s", t->name, ending);
    TRY(cairn_folder_create(folder, error));
    TRY(cairn_path_join(folder, name, path, error));
    return cairn_file_create(path, out, error);
}

cairn_status cairn_statistic_table_write(const cairn_statistic_table *table, const char *folder,
                                         cairn_error *error)
{
    cairn_file file;
    TRY(cairn_statistic_file(table, folder, "csv", &file, error));
    cairn_statistic_write_head(file.stream, table);
    cairn_statistic_write_rows(file.stream, table);
    return cairn_file_commit(&file, error);
}
