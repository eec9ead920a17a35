/* checksums.c - whether the file is, byte by byte, what its writer left.
 *
 * /checksums names every group and dataset, with two sums each (docs/run-format.md). A sum is the
 * CRC-64 of ECMA-182, bits reversed: the remainder of the bytes, taken as a polynomial over two
 * elements with their lowest bits first, all bits of the register complemented before and after. */
#include <stdio.h>
#include <string.h>

#include "run.h"

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

static void compare(sums *s, const char *path, uint64_t head, uint64_t data)
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
        compare(s, path, s->sum, data);
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
