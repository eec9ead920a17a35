/* hdf5_sums.c - checksums of everything in a file, kept while it is written, see hdf5.h.
 * A sum is the CRC-64 of base/bytes.h.
 *
 *     head   of a dataset: its type ("f8", "i4", "S12": class, bytes), a blank, how many numbers a
 *            row has, a 0; then for each attribute, by name: name, 0, type, blank, how many, 0,
 *            and its bytes
 *     data   of all numbers, row by row, lowest byte first; 0 of groups and of /checksums itself
 *
 * A CRC can be continued with further bytes, so the sum of a column costs time only for new
 * rows, however long the run is. */
#include "file/hdf5.h"

#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"

#define GROUP "checksums"

enum { DEEPEST = 8, PIECE = 1 << 16 }; /* depth of groups; bytes read at once */

void cairn_hdf5_sums_start(cairn_hdf5_sums *out)
{
    *out = (cairn_hdf5_sums){ .stale = true };
    cairn_check_table_make(&out->table);
}

void cairn_hdf5_sums_destroy(cairn_hdf5_sums *sums)
{
    cairn_memory_free(sums->items);
    sums->items = NULL;
    sums->count = sums->capacity = 0;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* The entry of a path; NULL if there is none. */
static cairn_hdf5_sum *find(const cairn_hdf5_sums *sums, const char *path)
{
    for (size_t i = 0; i < sums->count; i++)
        if (strcmp(sums->items[i].path, path) == 0)
            return &sums->items[i];
    return NULL;
}

/* New entries are zero, including the padding of the path, which is written to the file. Adding
 * may move the list, so entries are known to others by number. */
static cairn_status find_or_add(cairn_hdf5_sums *sums, const char *path, cairn_hdf5_sum **out)
{
    void *block = sums->items;
    *out = find(sums, path);
    if (*out)
        return CAIRN_OK;
    cairn_status status =
        cairn_memory_reserve(&block, &sums->capacity, sums->count + 1, sizeof **out);
    sums->items = block;
    TRY(status);
    *out = &sums->items[sums->count++];
    memset(*out, 0, sizeof **out);
    strcpy((*out)->path, path);
    return CAIRN_OK;
}

/* The full path of an object. Longer paths than cairn writes are refused, not cut. */
static cairn_status path_of(hid_t object, char path[CAIRN_HDF5_PATH_BYTES], cairn_error *error)
{
    ssize_t length = H5Iget_name(object, path, CAIRN_HDF5_PATH_BYTES);
    if (length <= 0 || length >= CAIRN_HDF5_PATH_BYTES)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "a path in the file has %d bytes",
                          (int)length);
    return CAIRN_OK;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

/* The type of numbers or of texts of fixed length, as text; "" for anything else. */
static void tell_kind(hid_t type, char kind[24])
{
    H5T_class_t class = H5Tget_class(type);
    char letter = class == H5T_FLOAT                                 ? 'f'
                  : class == H5T_STRING && !H5Tis_variable_str(type) ? 'S'
                  : class != H5T_INTEGER                             ? 0
                  : H5Tget_sign(type) == H5T_SGN_NONE                ? 'u'
                                                                     : 'i';
    kind[0] = '\0';
    if (letter)
        snprintf(kind, 24, "%c%zu", letter, H5Tget_size(type));
}

/* Such an object cannot come from cairn, so its sum is not defined. */
static cairn_status bad_kind(const char *name, cairn_error *error)
{
    return cairn_fail(error, CAIRN_BAD_INPUT, name,
                      "found neither numbers nor texts of one length");
}

/* ---- heads ---------------------------------------------------------------------------------- */

/* A checksum of a head while it is computed. The status is kept here because the callback of
 * HDF5 can only return -1. */
typedef struct head {
    const cairn_check_table *table;
    uint64_t sum;
    cairn_error *error;
    cairn_status status;
} head;

static void add(head *h, const void *data, size_t bytes)
{
    h->sum = cairn_check_add(h->table, h->sum, data, bytes);
}

/* Add a text with its final zero, which separates it from the next one. */
static void add_text(head *h, const char *text)
{
    add(h, text, strlen(text) + 1);
}

static void add_kind(head *h, const char *kind, hsize_t count)
{
    char text[64];
    snprintf(text, sizeof text, "%s %llu", kind, (unsigned long long)count);
    add_text(h, text);
}

/* Attributes are read in the type of the file, so that the sum does not depend on the machine. */
static cairn_status add_values(head *h, hid_t attribute, hid_t type, const char *name)
{
    char kind[24];
    hid_t space = H5Aget_space(attribute);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0)
        H5Sclose(space);
    tell_kind(type, kind);
    if (count < 0 || !kind[0])
        return bad_kind(name, h->error);
    size_t bytes = (size_t)count * H5Tget_size(type);
    void *data = cairn_memory_zeroed(bytes + 1, 1);
    if (!data)
        return CAIRN_NO_MEMORY;
    bool good = count == 0 || H5Aread(attribute, type, data) >= 0;
    add_text(h, name);
    add_kind(h, kind, (hsize_t)count);
    add(h, data, bytes);
    cairn_memory_free(data);
    return good ? CAIRN_OK : cairn_hdf5_fail(h->error, "cannot read an attribute");
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    head *h = context;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    h->status = type < 0 ? cairn_hdf5_fail(h->error, "cannot read an attribute")
                         : add_values(h, attribute, type, name);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return h->status == CAIRN_OK ? 0 : -1;
}

/* ---- data ----------------------------------------------------------------------------------- */

/* A dataset seen as rows. */
typedef struct rows {
    hid_t dataset, type, space;
    int rank;
    hsize_t extent[2]; /* rows, numbers in each */
    size_t bytes;      /* of a row              */
    char kind[24];
} rows;

static void close_rows(rows *r)
{
    if (r->type >= 0)
        H5Tclose(r->type);
    if (r->space >= 0)
        H5Sclose(r->space);
}

/* Run files have lists and tables only; anything else cannot come from cairn. */
static cairn_status open_rows(hid_t dataset, rows *out, cairn_error *error)
{
    *out = (rows){ dataset, H5Dget_type(dataset), H5Dget_space(dataset), 0, { 0, 1 }, 0, "" };
    out->rank = out->space >= 0 ? H5Sget_simple_extent_ndims(out->space) : -1;
    if (out->type >= 0)
        tell_kind(out->type, out->kind);
    if ((out->rank == 1 || out->rank == 2) && out->kind[0]) {
        H5Sget_simple_extent_dims(out->space, out->extent, NULL);
        out->bytes = (size_t)out->extent[1] * H5Tget_size(out->type);
        return CAIRN_OK;
    }
    close_rows(out);
    return bad_kind(NULL, error);
}

static cairn_status read_piece(const rows *r, hsize_t first, hsize_t count, void *out,
                               cairn_error *error)
{
    hsize_t at[2] = { first, 0 }, extent[2] = { count, r->extent[1] };
    hid_t memory = H5Screate_simple(r->rank, extent, NULL);
    H5Sselect_hyperslab(r->space, H5S_SELECT_SET, at, NULL, extent, NULL);
    herr_t result = H5Dread(r->dataset, r->type, memory, r->space, H5P_DEFAULT, out);
    cairn_status status = result < 0 ? cairn_hdf5_fail(error, "cannot read") : CAIRN_OK;
    H5Sclose(memory);
    return status;
}

/* The sum of the first `count` rows, read in pieces. The type of the file is used, so the bytes
 * are those on the disk. */
static cairn_status sum_rows(const cairn_check_table *table, const rows *r, hsize_t count,
                             uint64_t *out, cairn_error *error)
{
    hsize_t some = r->bytes > 0 && r->bytes < PIECE ? PIECE / r->bytes : 1;
    cairn_status status = CAIRN_OK;
    void *piece = cairn_memory_zeroed((size_t)some, r->bytes + 1);
    if (!piece)
        return CAIRN_NO_MEMORY;
    *out = 0;
    for (hsize_t first = 0; first < count && status == CAIRN_OK && r->bytes > 0; first += some) {
        hsize_t part = count - first < some ? count - first : some;
        status = read_piece(r, first, part, piece, error);
        *out = cairn_check_add(table, *out, piece, (size_t)part * r->bytes);
    }
    cairn_memory_free(piece);
    return status;
}

/* ---- objects -------------------------------------------------------------------------------- */

/* The sums of /checksums itself cannot be part of what they are computed from. */
static bool is_own(const char *path)
{
    return strcmp(path, "/" GROUP) == 0 || strncmp(path, "/" GROUP "/", sizeof GROUP + 1) == 0;
}

/* The number of rows is not part of the head, since it changes with every step; the width is. */
static cairn_status see_dataset(cairn_hdf5_sums *sums, hid_t dataset, cairn_hdf5_sum *item, head *h)
{
    rows r;
    TRY(open_rows(dataset, &r, h->error));
    cairn_status status = CAIRN_OK;
    add_kind(h, r.kind, r.extent[1]);
    if (!item->runs && !is_own(item->path))
        status = sum_rows(&sums->table, &r, r.extent[0], &item->data, h->error);
    close_rows(&r);
    return status;
}

/* Compute the sums of one object; the data of columns that keep a running sum are not read. */
static cairn_status see(cairn_hdf5_sums *sums, hid_t object, cairn_error *error)
{
    char path[CAIRN_HDF5_PATH_BYTES];
    cairn_hdf5_sum *item;
    hsize_t next = 0;
    head h = { &sums->table, 0, error, CAIRN_OK };
    TRY(path_of(object, path, error));
    TRY(find_or_add(sums, path, &item));
    if (H5Iget_type(object) == H5I_DATASET)
        TRY(see_dataset(sums, object, item, &h));
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &next, add_attribute, &h) < 0)
        return h.status != CAIRN_OK ? h.status : cairn_hdf5_fail(error, "cannot read attributes");
    item->head = h.sum;
    return CAIRN_OK;
}

static cairn_status see_all(cairn_hdf5_sums *sums, hid_t object, int depth, cairn_error *error);

static cairn_status see_member(cairn_hdf5_sums *sums, hid_t group, hsize_t i, int depth,
                               cairn_error *error)
{
    hid_t object = H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
    if (object < 0)
        return cairn_hdf5_fail(error, "cannot open an object");
    cairn_status status = see_all(sums, object, depth, error);
    H5Oclose(object);
    return status;
}

/* Compute the sums of an object and of everything in it. */
static cairn_status see_all(cairn_hdf5_sums *sums, hid_t object, int depth, cairn_error *error)
{
    H5G_info_t about = { 0 };
    TRY(see(sums, object, error));
    if (H5Iget_type(object) == H5I_DATASET)
        return CAIRN_OK;
    if (depth > DEEPEST || H5Gget_info(object, &about) < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "groups are %d deep", depth);
    for (hsize_t i = 0; i < about.nlinks; i++)
        TRY(see_member(sums, object, i, depth + 1, error));
    return CAIRN_OK;
}

static cairn_status see_file(cairn_hdf5_sums *sums, hid_t file, cairn_error *error)
{
    hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    cairn_status status =
        root < 0 ? cairn_hdf5_fail(error, "cannot open /") : see_all(sums, root, 0, error);
    if (root >= 0)
        H5Gclose(root);
    return status;
}

/* ---- running sums --------------------------------------------------------------------------- */

cairn_status cairn_hdf5_sums_follow(cairn_hdf5_sums *sums, hid_t dataset, size_t *out,
                                    cairn_error *error)
{
    char path[CAIRN_HDF5_PATH_BYTES];
    cairn_hdf5_sum *item;
    TRY(path_of(dataset, path, error));
    TRY(find_or_add(sums, path, &item));
    item->runs = true;
    sums->stale = true;
    *out = (size_t)(item - sums->items);
    return CAIRN_OK;
}

void cairn_hdf5_sums_add(cairn_hdf5_sums *sums, size_t number, const void *data, size_t bytes)
{
    uint64_t *sum = &sums->items[number].data;
    *sum = cairn_check_add(&sums->table, *sum, data, bytes);
}

cairn_status cairn_hdf5_sums_cut(cairn_hdf5_sums *sums, size_t number, hid_t dataset, hsize_t count,
                                 cairn_error *error)
{
    rows r;
    TRY(open_rows(dataset, &r, error));
    cairn_status status = sum_rows(&sums->table, &r, count, &sums->items[number].data, error);
    close_rows(&r);
    return status;
}

/* ---- /checksums ----------------------------------------------------------------------------- */

/* The three lists in the file, as members of cairn_hdf5_sum. */
static const struct {
    const char *name;
    size_t offset, bytes;
} lists[] = {
    { "name", offsetof(cairn_hdf5_sum, path), CAIRN_HDF5_PATH_BYTES },
    { "head", offsetof(cairn_hdf5_sum, head), sizeof(uint64_t) },
    { "data", offsetof(cairn_hdf5_sum, data), sizeof(uint64_t) },
};
enum { NAME, HEAD, DATA, LISTS };

/* The type of a list in the file; the caller closes it. */
static hid_t list_type(int k)
{
    hid_t type = H5Tcopy(k == NAME ? H5T_C_S1 : H5T_STD_U64LE);
    if (type >= 0 && k == NAME) {
        H5Tset_size(type, CAIRN_HDF5_PATH_BYTES);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
    }
    return type;
}

/* Extensible, because objects may be added while the file is written. */
static cairn_status make_list(hid_t group, int k, cairn_error *error)
{
    hsize_t none = 0, most = H5S_UNLIMITED, chunk = 256;
    hid_t type = list_type(k), space = H5Screate_simple(1, &none, &most);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 1, &chunk);
    hid_t list = H5Dcreate2(group, lists[k].name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    cairn_status status = list < 0 ? cairn_hdf5_fail(error, "cannot make a dataset")
                                   : cairn_hdf5_text(list, "unit", "", error);
    if (list >= 0)
        H5Dclose(list);
    H5Pclose(layout);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

/* Write a list into its dataset, or read it; both have the same number of entries. */
static herr_t move_list(hid_t dataset, int k, bool write, void *packed)
{
    hid_t type = list_type(k);
    if (k != NAME && type >= 0) {
        H5Tclose(type);
        type = H5Tcopy(H5T_NATIVE_UINT64);
    }
    herr_t result = write ? H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed)
                          : H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed);
    H5Tclose(type);
    return result;
}

static cairn_status write_list(const cairn_hdf5_sums *sums, hid_t group, int k, cairn_error *error)
{
    hsize_t count = sums->count;
    char *packed = cairn_memory_zeroed(sums->count + 1, lists[k].bytes);
    if (!packed)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < sums->count; i++)
        memcpy(packed + i * lists[k].bytes, (const char *)&sums->items[i] + lists[k].offset,
               lists[k].bytes);
    hid_t list = H5Dopen2(group, lists[k].name, H5P_DEFAULT);
    bool good =
        list >= 0 && H5Dset_extent(list, &count) >= 0 && move_list(list, k, true, packed) >= 0;
    cairn_status status = good ? CAIRN_OK : cairn_hdf5_fail(error, "cannot write checksums");
    if (list >= 0)
        H5Dclose(list);
    cairn_memory_free(packed);
    return status;
}

/* While no objects were added only the data sums have changed, and the file need not be visited.
 * The lists are created before the visit, because they have heads too. */
static cairn_status write_lists(cairn_hdf5_sums *sums, hid_t file, hid_t group, cairn_error *error)
{
    for (int k = 0; k < LISTS && sums->stale; k++)
        if (H5Lexists(group, lists[k].name, H5P_DEFAULT) <= 0)
            TRY(make_list(group, k, error));
    if (sums->stale)
        TRY(see_file(sums, file, error));
    for (int k = sums->stale ? NAME : DATA; k < LISTS; k++)
        TRY(write_list(sums, group, k, error));
    sums->stale = false;
    return CAIRN_OK;
}

cairn_status cairn_hdf5_sums_write(cairn_hdf5_sums *sums, hid_t file, cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(file, GROUP, &group, error));
    cairn_status status = write_lists(sums, file, group, error);
    H5Gclose(group);
    return status;
}

/* ---- verifying ------------------------------------------------------------------------------ */

/* Read one list into the items, which are created with the first list. At most 2^20 entries,
 * since the file may be damaged. */
static cairn_status read_list(cairn_hdf5_sums *sums, const rows *r, int k, cairn_error *error)
{
    void *block = sums->items;
    size_t count = (size_t)r->extent[0];
    if (r->bytes != lists[k].bytes || count > 1 << 20 || (k != NAME && count != sums->count))
        return cairn_fail(error, CAIRN_BAD_INPUT, lists[k].name, "found no list of checksums");
    if (k == NAME) {
        cairn_status status =
            cairn_memory_reserve(&block, &sums->capacity, count + 1, sizeof *sums->items);
        sums->items = block;
        TRY(status);
        memset(sums->items, 0, (count + 1) * sizeof *sums->items);
        sums->count = count;
    }
    char *packed = cairn_memory_zeroed(count + 1, lists[k].bytes);
    if (!packed)
        return CAIRN_NO_MEMORY;
    bool good = move_list(r->dataset, k, false, packed) >= 0;
    for (size_t i = 0; i < count && good; i++)
        memcpy((char *)&sums->items[i] + lists[k].offset, packed + i * lists[k].bytes,
               lists[k].bytes);
    cairn_memory_free(packed);
    return good ? CAIRN_OK : cairn_hdf5_fail(error, "cannot read checksums");
}

static cairn_status read_lists(cairn_hdf5_sums *sums, hid_t group, cairn_error *error)
{
    for (int k = 0; k < LISTS; k++) {
        rows r;
        hid_t list = H5Dopen2(group, lists[k].name, H5P_DEFAULT);
        if (list < 0)
            return cairn_hdf5_fail(error, "cannot read checksums");
        cairn_status status = open_rows(list, &r, error);
        if (status == CAIRN_OK) {
            status = read_list(sums, &r, k, error);
            close_rows(&r);
        }
        H5Dclose(list);
        TRY(status);
    }
    for (size_t i = 0; i < sums->count; i++)
        sums->items[i].path[CAIRN_HDF5_PATH_BYTES - 1] = '\0';
    return CAIRN_OK;
}

/* Check that every object has the stored sums, and that every stored sum has an object. */
static cairn_status compare(const cairn_hdf5_sums *stored, const cairn_hdf5_sums *found,
                            cairn_error *error)
{
    for (size_t i = 0; i < found->count; i++) {
        const cairn_hdf5_sum *f = &found->items[i], *s = find(stored, f->path);
        if (!s || s->head != f->head || s->data != f->data)
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                              "%s does not agree with its checksum: the file is damaged", f->path);
    }
    for (size_t i = 0; i < stored->count; i++)
        if (!find(found, stored->items[i].path))
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                              "%s has a checksum and is not there: the file is damaged",
                              stored->items[i].path);
    return CAIRN_OK;
}

/* All sums are computed anew into a second list: the stored ones must not be trusted as running
 * sums. */
cairn_status cairn_hdf5_sums_verify(cairn_hdf5_sums *sums, hid_t file, cairn_error *error)
{
    hid_t group;
    cairn_hdf5_sums found;
    if (H5Lexists(file, GROUP, H5P_DEFAULT) <= 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "an older version of cairn began this run and wrote no checksums; it can "
                          "go on with that version");
    TRY(cairn_hdf5_group(file, GROUP, &group, error));
    cairn_status status = read_lists(sums, group, error);
    H5Gclose(group);
    TRY(status);
    cairn_hdf5_sums_start(&found);
    status = see_file(&found, file, error);
    if (status == CAIRN_OK)
        status = compare(sums, &found, error);
    cairn_hdf5_sums_destroy(&found);
    return status;
}
