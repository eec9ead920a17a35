/* base.c - memory, the report of findings, and reading columns of the file; see base.h. */
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* ---- memory ---------------------------------------------------------------------------------- */

bool check_memory_take(void *block_address, size_t count, size_t size)
{
    void *old, *block = calloc(count > 0 ? count : 1, size);
    if (!block)
        return false;
    memcpy(&old, block_address, sizeof old);
    free(old);
    memcpy(block_address, &block, sizeof block);
    return true;
}

void check_memory_free(void *block_address)
{
    void *block, *none = NULL;
    memcpy(&block, block_address, sizeof block);
    free(block);
    memcpy(block_address, &none, sizeof none);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* "not certified: step 3, contact 7: gap: " of a finding that is to be printed. */
static bool begin_finding(check_report *report, check_place place, const char *component)
{
    if (report->findings++ >= report->most)
        return false;
    printf("not certified: ");
    if (place.step > 0)
        printf("step %ld%s", place.step, place.kind ? ", " : ": ");
    if (place.kind)
        printf("%s %ld: ", place.kind, place.number);
    printf("%s%s: ", place.what, component);
    return true;
}

static void compare(check_report *report, check_place place, const char *component,
                    const double numbers[3])
{
    double stored = numbers[0], computed = numbers[1], scale = numbers[2];
    report->compared++;
    /* infinite terms would accept every number, and NaN agrees with nothing */
    bool finite = isfinite(stored) && isfinite(computed) && isfinite(scale);
    /* subnormal numbers have too few digits to compare */
    double most = fmax(CHECK_ROUNDING * scale, DBL_MIN);
    if (finite && (stored == computed || fabs(stored - computed) <= most))
        return;
    if (begin_finding(report, place, component))
        printf("stored %.17g, recomputed %.17g\n", stored, computed);
}

void check_same(check_report *report, check_place place, double stored, double computed,
                double scale)
{
    compare(report, place, "", (const double[3]){ stored, computed, scale });
}

void check_same_vec(check_report *report, check_place place, vec stored, vec computed, double scale)
{
    compare(report, place, ".x", (const double[3]){ stored.x, computed.x, scale });
    compare(report, place, ".y", (const double[3]){ stored.y, computed.y, scale });
    compare(report, place, ".z", (const double[3]){ stored.z, computed.z, scale });
}

void check_same_quat(check_report *report, check_place place, quat stored, quat computed,
                     double scale)
{
    compare(report, place, ".w", (const double[3]){ stored.w, computed.w, scale });
    check_same_vec(report, place, (vec){ stored.x, stored.y, stored.z },
                   (vec){ computed.x, computed.y, computed.z }, scale);
}

void check_between(check_report *report, check_place place, double stored, double low, double high)
{
    report->compared++;
    if (isfinite(stored) && stored >= low && stored <= high)
        return;
    if (begin_finding(report, place, ""))
        printf("stored %.17g, recomputed between %.17g and %.17g\n", stored, low, high);
}

void check_true(check_report *report, check_place place, bool good, const char *words)
{
    report->compared++;
    if (!good && begin_finding(report, place, ""))
        printf("%s\n", words);
}

bool check_fail(check_report *report, const char *format, ...)
{
    va_list arguments;
    if (report->problem[0])
        return false;
    va_start(arguments, format);
    vsnprintf(report->problem, sizeof report->problem, format, arguments);
    va_end(arguments);
    for (char *c = report->problem; *c; c++) /* texts of the file must not control the terminal */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return false;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The file may contain anything: types and sizes are checked first. */

/* ---- datasets ------------------------------------------------------------------------------- */

int check_width(const check_group *group, const check_field *field)
{
    if (field->width == CHECK_TURNS)
        return group->dimension == 2 ? 1 : 3;
    return field->width > 0 ? field->width : group->dimension;
}

/* Rows of a dataset with `width` numbers a row; -1: it is something else. */
static int64_t rows_of(hid_t dataset, int width)
{
    hsize_t extent[2] = { 0, 1 };
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool good = rank == (width > 1 ? 2 : 1) || (width == 1 && rank == 2);
    good = good && H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    good = good && (rank == 1 || extent[1] == (hsize_t)width);
    good = good && (class == H5T_INTEGER || class == H5T_FLOAT) && extent[0] < INT32_MAX;
    H5Tclose(type);
    H5Sclose(space);
    return good ? (int64_t)extent[0] : -1;
}

static bool open_field(hid_t file, check_group *group, int i, check_report *report)
{
    char path[128];
    const check_field *field = &group->fields[i];
    snprintf(path, sizeof path, "%s/%s", group->name, field->name);
    group->dataset[i] = H5Dopen2(file, path, H5P_DEFAULT);
    if (group->dataset[i] < 0 && field->optional && i > 0)
        return true;
    if (group->dataset[i] < 0)
        return check_fail(report, "there is no dataset /%s", path);
    int64_t rows = rows_of(group->dataset[i], check_width(group, field));
    if (rows < 0)
        return check_fail(report, "/%s: expected rows of %d numbers", path,
                          check_width(group, field));
    if (i > 0 && rows != group->rows)
        return check_fail(report, "/%s has %lld rows, expected %lld", path, (long long)rows,
                          (long long)group->rows);
    group->rows = rows;
    return true;
}

bool check_group_open(hid_t file, check_group *group, check_report *report)
{
    for (int i = 0; i < group->count; i++)
        group->dataset[i] = -1;
    for (int i = 0; i < group->count; i++)
        if (!open_field(file, group, i, report))
            return false;
    return true;
}

void check_group_close(check_group *group)
{
    for (int i = 0; i < group->count; i++) {
        if (group->dataset[i] > 0)
            H5Dclose(group->dataset[i]);
        check_memory_free(&group->ahead[i]);
    }
    group->count = 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t size_of(const check_field *field)
{
    return field->integer ? sizeof(int32_t) : sizeof(double);
}

static bool make_room(const check_group *group, size_t rows, void *record, check_report *report)
{
    size_t capacity;
    memcpy(&capacity, record, sizeof capacity);
    if (rows <= capacity && capacity > 0)
        return true;
    capacity = rows + rows / 4 + 1;
    for (int i = 0; i < group->count; i++) {
        const check_field *field = &group->fields[i];
        size_t width = (size_t)check_width(group, field);
        if (!check_memory_take((char *)record + field->offset, capacity * width, size_of(field)))
            return check_fail(report, "no memory");
    }
    memcpy(record, &capacity, sizeof capacity);
    return true;
}

bool check_read_rows(hid_t dataset, hsize_t first, const hsize_t extent[2], hid_t type, void *out)
{
    hsize_t start[2] = { first, 0 };
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    hid_t memory = H5Screate_simple(rank, extent, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                H5Dread(dataset, type, memory, space, H5P_DEFAULT, out) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

/* Rows of every column into `out`, one array a column. */
static bool read_columns(const check_group *group, int64_t first, int64_t rows, void *const *out,
                         check_report *report)
{
    for (int i = 0; i < group->count && rows > 0; i++) {
        const check_field *field = &group->fields[i];
        if (group->dataset[i] < 0)
            continue;
        hsize_t extent[2] = { (hsize_t)rows, (hsize_t)check_width(group, field) };
        hid_t type = field->integer ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE;
        if (!check_read_rows(group->dataset[i], (hsize_t)first, extent, type, out[i]))
            return check_fail(report, "/%s/%s cannot be read", group->name, field->name);
    }
    return true;
}

enum { AHEAD = 2048 }; /* rows */

/* Read the rows from `first` on, as many as fit, into memory. */
static bool read_ahead(check_group *group, int64_t first, check_report *report)
{
    int64_t rows = group->rows - first < AHEAD ? group->rows - first : AHEAD;
    for (int i = 0; i < group->count; i++) {
        size_t width = (size_t)check_width(group, &group->fields[i]);
        if (!group->ahead[i] &&
            !check_memory_take(&group->ahead[i], AHEAD * width, size_of(&group->fields[i])))
            return check_fail(report, "no memory");
    }
    group->ahead_first = first;
    group->ahead_rows = 0;
    if (!read_columns(group, first, rows, group->ahead, report))
        return false;
    group->ahead_rows = rows;
    return true;
}

/* Copy rows that were read ahead. */
static void copy_ahead(const check_group *group, int64_t first, int64_t rows, void *const *out)
{
    for (int i = 0; i < group->count; i++) {
        size_t size = (size_t)check_width(group, &group->fields[i]) * size_of(&group->fields[i]);
        const char *from = group->ahead[i];
        if (group->dataset[i] >= 0)
            memcpy(out[i], from + (size_t)(first - group->ahead_first) * size, (size_t)rows * size);
    }
}

bool check_group_read(check_group *group, int64_t first, int64_t rows, void *record,
                      check_report *report)
{
    void *arrays[CHECK_FIELDS];
    if (first < 0 || rows < 0 || first > group->rows - rows)
        return check_fail(report, "/%s has %lld rows, expected at least %lld", group->name,
                          (long long)group->rows, (long long)(first + rows));
    if (!make_room(group, (size_t)rows, record, report))
        return false;
    for (int i = 0; i < group->count; i++)
        memcpy(&arrays[i], (const char *)record + group->fields[i].offset, sizeof arrays[i]);
    if (rows >= AHEAD)
        return read_columns(group, first, rows, arrays, report);
    int64_t end = group->ahead_first + group->ahead_rows;
    bool there = rows == 0 || (first >= group->ahead_first && first + rows <= end);
    if (!there && !read_ahead(group, first, report))
        return false;
    if (rows > 0)
        copy_ahead(group, first, rows, arrays);
    return true;
}

void check_group_free(const check_group *group, void *record)
{
    size_t none = 0;
    for (int i = 0; group->fields && i < group->count; i++)
        check_memory_free((char *)record + group->fields[i].offset);
    memcpy(record, &none, sizeof none);
}

/* ---- attributes ----------------------------------------------------------------------------- */

bool check_has(hid_t file, const char *name)
{
    return H5Lexists(file, name, H5P_DEFAULT) > 0;
}

bool check_attribute(hid_t file, const char *name, int count, double *out, check_report *report)
{
    hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return check_fail(report, "there is no attribute %s", name);
    hid_t space = H5Aget_space(attribute);
    bool good = H5Sget_simple_extent_npoints(space) == count &&
                H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
    H5Sclose(space);
    H5Aclose(attribute);
    return good || check_fail(report, "attribute %s: expected %d numbers", name, count);
}

/* Texts of an attribute. In older files they have variable length, each in a block of HDF5; since
 * version 2 of the format they are stored contiguously. */
enum { MOST_TEXTS = 64 };
typedef struct texts {
    size_t size; /* bytes of each; 0: of any length */
    char *block;
    char *any[MOST_TEXTS];
    char one[CHECK_TEXT]; /* the requested one */
} texts;

static void free_texts(texts *t)
{
    check_memory_free(&t->block);
    for (int i = 0; i < MOST_TEXTS; i++)
        H5free_memory(t->any[i]);
}

/* Exactly `count` texts; free_texts frees them, also after a failure. */
static bool read_texts(hid_t attribute, int count, texts *out)
{
    hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool any = H5Tis_variable_str(stored) > 0;
    bool good = count <= MOST_TEXTS && H5Tget_class(stored) == H5T_STRING &&
                H5Sget_simple_extent_npoints(space) == count;
    out->size = any ? 0 : H5Tget_size(stored);
    good = good && out->size < 1 << 24 &&
           (any || check_memory_take(&out->block, (size_t)count + 1, out->size));
    good = good && H5Aread(attribute, stored, any ? (void *)out->any : (void *)out->block) >= 0;
    H5Sclose(space);
    H5Tclose(stored);
    return good;
}

/* Text i, truncated to fit. */
static const char *text_at(texts *t, int i)
{
    size_t bytes = t->size < CHECK_TEXT - 1 ? t->size : CHECK_TEXT - 1;
    if (t->size == 0)
        return t->any[i] ? t->any[i] : "";
    memcpy(t->one, t->block + (size_t)i * t->size, bytes);
    t->one[bytes] = '\0';
    return t->one;
}

bool check_attribute_text(hid_t file, const char *name, char *text, size_t capacity,
                          check_report *report)
{
    texts found = { .size = 0 };
    hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return check_fail(report, "there is no attribute %s", name);
    bool good = read_texts(attribute, 1, &found);
    if (good)
        snprintf(text, capacity, "%s", text_at(&found, 0));
    free_texts(&found);
    H5Aclose(attribute);
    return good || check_fail(report, "attribute %s: expected a text", name);
}

bool check_attribute_is_fixed(hid_t file, const char *name)
{
    hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : -1;
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    bool fixed = type >= 0 && H5Tis_variable_str(type) == 0;
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return fixed;
}

int check_names(hid_t file, const char *dataset, const char *const *known, int most, int *out)
{
    texts found = { .size = 0 };
    hid_t attribute = H5Aopen_by_name(file, dataset, "names", H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    int count = space >= 0 ? (int)H5Sget_simple_extent_npoints(space) : 0;
    count = count > most || !read_texts(attribute, count, &found) ? 0 : count;
    for (int i = 0; i < count; i++) {
        out[i] = -1;
        for (int k = 0; known[k]; k++)
            if (strcmp(known[k], text_at(&found, i)) == 0)
                out[i] = k;
    }
    free_texts(&found);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return count;
}
