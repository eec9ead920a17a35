/* base.c - memory, the report of findings, reading columns of the file, and its checksums; see
 * base.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "run.h"

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

/* The squares of such numbers vanish, and scales formed with them do not count them. */
static const double least_difference = 1e-150;

static void compare(check_report *report, check_place place, const char *component,
                    const double numbers[3])
{
    double stored = numbers[0], computed = numbers[1], scale = numbers[2];
    report->compared++;
    /* infinite terms would accept every number, and NaN agrees with nothing */
    bool finite = isfinite(stored) && isfinite(computed) && isfinite(scale);
    double most = fmax(CHECK_ROUNDING * scale, least_difference);
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

/* ---- checksums ------------------------------------------------------------------------------- */

/* Whether the file is, byte by byte, what its writer left.
 *
 * /checksums names every group and dataset, with two sums each (docs/run-format.md). A sum is the
 * CRC-64 of ECMA-182, bits reversed: the remainder of the bytes, taken as a polynomial over two
 * elements with their lowest bits first, all bits of the register complemented before and after. */

enum { PATH = 96, PIECE = 1 << 16, DEEPEST = 8 }; /* bytes; bytes; groups in groups */

typedef struct entry {
    char path[PATH];
    uint64_t head, data;
    bool seen;
} entry;

typedef struct sums {
    check_report *report;
    uint64_t step[256]; /* what a byte does to the register */
    entry *entries;
    int count;
    char *piece; /* PIECE bytes, or a row */
    size_t room;
    uint64_t sum; /* the current one */
} sums;

/* ---- the remainder -------------------------------------------------------------------------- */

/* The remainder is linear: step[a ^ b] = step[a] ^ step[b], and step[128] is the polynomial. */
static void make_steps(uint64_t step[256])
{
    uint64_t one = 0xc96c5795d7870f42u;
    step[0] = 0;
    for (unsigned bit = 128; bit > 0; bit /= 2) {
        step[bit] = one;
        one = one / 2 ^ (one % 2 ? 0xc96c5795d7870f42u : 0);
    }
    for (unsigned b = 1; b < 256; b++)
        step[b] = step[b & (b - 1)] ^ step[b & (0 - b)];
}

static void add_bytes(sums *s, const void *data, size_t bytes)
{
    uint64_t r = ~s->sum;
    for (size_t i = 0; i < bytes; i++)
        r = r / 256 ^ s->step[(r ^ ((const unsigned char *)data)[i]) % 256];
    s->sum = ~r;
}

/* "f8 3", with the 0 at its end. */
static bool add_kind(sums *s, hid_t type, unsigned long long count)
{
    char text[64];
    H5T_class_t class = H5Tget_class(type);
    bool text_like = class == H5T_STRING && H5Tis_variable_str(type) == 0;
    if (class != H5T_INTEGER && class != H5T_FLOAT && !text_like)
        return false;
    char letter = class == H5T_FLOAT ? 'f' : text_like ? 'S' : 'i';
    if (class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE)
        letter = 'u';
    snprintf(text, sizeof text, "%c%zu %llu", letter, H5Tget_size(type), count);
    add_bytes(s, text, strlen(text) + 1);
    return true;
}

static bool make_piece(sums *s, size_t bytes)
{
    if (bytes > s->room && !check_memory_take(&s->piece, bytes, 1))
        return false;
    s->room = bytes > s->room ? bytes : s->room;
    return true;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static bool add_values(sums *s, hid_t attribute)
{
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    size_t bytes = count > 0 ? (size_t)count * H5Tget_size(type) : 0;
    bool good = count >= 0 && bytes < 1u << 30 && make_piece(s, bytes + 1) &&
                add_kind(s, type, (unsigned long long)count) &&
                (bytes == 0 || H5Aread(attribute, type, s->piece) >= 0);
    if (good)
        add_bytes(s, s->piece, bytes);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    sums *s = context;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    add_bytes(s, name, strlen(name) + 1);
    bool good = attribute >= 0 && add_values(s, attribute);
    if (attribute >= 0)
        H5Aclose(attribute);
    return good ? 0 : -1;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool add_rows(sums *s, hid_t dataset, hid_t type, const hsize_t extent[2])
{
    size_t row = (size_t)extent[1] * H5Tget_size(type);
    hsize_t some = row > 0 && row < PIECE ? PIECE / row : 1;
    bool good = row < 1u << 30 && make_piece(s, (size_t)some * row + 1);
    for (hsize_t first = 0; first < extent[0] && good && row > 0; first += some) {
        hsize_t part[2] = { extent[0] - first < some ? extent[0] - first : some, extent[1] };
        good = check_read_rows(dataset, first, part, type, s->piece);
        if (good)
            add_bytes(s, s->piece, (size_t)part[0] * row);
    }
    return good;
}

/* Whether a dataset can be as long as it says: deflate compresses at most about a thousandfold. */
static bool is_there(hid_t dataset, hid_t type, const hsize_t extent[2])
{
    double bytes = (double)extent[0] * (double)extent[1] * (double)H5Tget_size(type);
    return bytes <= 1100.0 * (double)H5Dget_storage_size(dataset);
}

/* Both sums of a dataset; *data stays 0 when it is not wanted. */
static bool sum_dataset(sums *s, hid_t dataset, bool wanted, uint64_t *data)
{
    hsize_t extent[2] = { 0, 1 };
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    if (good && wanted) {
        s->sum = 0;
        good = is_there(dataset, type, extent) && add_rows(s, dataset, type, extent);
        *data = s->sum;
    }
    s->sum = 0;
    good = good && add_kind(s, type, extent[1]);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

/* ---- objects -------------------------------------------------------------------------------- */

static entry *find(const sums *s, const char *path)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->entries[i].path, path) == 0)
            return &s->entries[i];
    return NULL;
}

static void compare_sums(sums *s, const char *path, uint64_t head, uint64_t data)
{
    entry *e = find(s, path);
    check_place place = { 0, NULL, 0, path };
    check_true(s->report, place, e != NULL, "it has no checksum");
    if (!e)
        return;
    e->seen = true;
    check_true(s->report, place, e->head == head,
               "its kind or its attributes do not agree with their checksum");
    check_true(s->report, place, e->data == data, "its numbers do not agree with their checksum");
}

static bool sum_object(sums *s, hid_t object)
{
    char path[256] = "";
    uint64_t data = 0;
    hsize_t next = 0;
    bool good = true, is_dataset = H5Iget_type(object) == H5I_DATASET;
    H5Iget_name(object, path, sizeof path);
    s->sum = 0;
    if (is_dataset)
        good = sum_dataset(s, object, strncmp(path, "/checksums/", 11) != 0, &data);
    good = good && H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &next, add_attribute, s) >= 0;
    check_true(s->report, (check_place){ 0, NULL, 0, path }, good, "it cannot be read");
    if (good)
        compare_sums(s, path, s->sum, data);
    return good;
}

static bool sum_tree(sums *s, hid_t object, int depth)
{
    H5G_info_t about = { 0 };
    bool good = sum_object(s, object);
    if (H5Iget_type(object) == H5I_DATASET)
        return good;
    if (depth > DEEPEST || H5Gget_info(object, &about) < 0)
        return check_fail(s->report, "groups are more than %d deep", DEEPEST);
    for (hsize_t i = 0; i < about.nlinks; i++) {
        hid_t member = H5Oopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
        if (member < 0)
            return check_fail(s->report, "an object cannot be opened: the file is damaged");
        good = sum_tree(s, member, depth + 1) && good;
        H5Oclose(member);
    }
    return good;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* `count` items of `bytes` bytes; NULL: the dataset has another size. */
static char *read_list(sums *s, hid_t file, const char *name, size_t bytes, int *count)
{
    char *list = NULL;
    hsize_t extent[2] = { 0, 1 };
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, extent, NULL) == 1 && extent[0] < 1 << 20 &&
                H5Tget_size(type) == bytes && H5Tis_variable_str(type) <= 0 &&
                check_memory_take(&list, (size_t)extent[0] + 1, bytes) &&
                check_read_rows(dataset, 0, extent, type, list);
    *count = (int)extent[0];
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (!good)
        check_memory_free(&list);
    if (!good)
        check_fail(s->report, "/%s cannot be read", name);
    return list;
}

static bool read_entries(sums *s, hid_t file)
{
    int counts[3];
    char *names = read_list(s, file, "checksums/name", PATH, &counts[0]);
    char *heads = read_list(s, file, "checksums/head", 8, &counts[1]);
    char *datas = read_list(s, file, "checksums/data", 8, &counts[2]);
    bool good = names && heads && datas && counts[1] == counts[0] && counts[2] == counts[0] &&
                check_memory_take(&s->entries, (size_t)counts[0] + 1, sizeof *s->entries);
    s->count = good ? counts[0] : 0;
    for (int i = 0; i < s->count; i++) {
        entry *e = &s->entries[i];
        memcpy(e->path, names + (size_t)i * PATH, PATH - 1);
        memcpy(&e->head, heads + 8 * (size_t)i, 8);
        memcpy(&e->data, datas + 8 * (size_t)i, 8);
    }
    check_memory_free(&names);
    check_memory_free(&heads);
    check_memory_free(&datas);
    return good || check_fail(s->report, "/checksums cannot be read");
}

bool check_checksums(check_run *run)
{
    sums s = { .report = run->report };
    hid_t root = H5Gopen2(run->file, "/", H5P_DEFAULT);
    make_steps(s.step);
    bool good = root >= 0 && read_entries(&s, run->file) && sum_tree(&s, root, 0);
    for (int i = 0; i < s.count && good; i++)
        check_true(run->report, (check_place){ 0, NULL, 0, s.entries[i].path }, s.entries[i].seen,
                   "it has a checksum and is not there");
    if (root >= 0)
        H5Gclose(root);
    run->report->checksums = good ? s.count : 0;
    check_memory_free(&s.entries);
    check_memory_free(&s.piece);
    return good;
}
