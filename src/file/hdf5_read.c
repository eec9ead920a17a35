/* hdf5_read.c - reads HDF5 files of any origin. Every object that is opened for one call is
 * closed in that call. */
#include "file/hdf5.h"

#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"

/* Longer texts are refused: a damaged length must not make the program allocate memory. */
enum { LONGEST_TEXT = 1 << 20 };

static cairn_status open_file(const char *path, bool foreign, hid_t *out, cairn_error *error)
{
    struct stat about;
    *out = H5I_INVALID_HID;
    TRY(cairn_file_check_plain(path, error)); /* HDF5 would wait for the writer of a FIFO */
    if (stat(path, &about) != 0 || access(path, R_OK) != 0) {
        int reason = errno;
        return cairn_fail(error, reason == ENOENT ? CAIRN_NOT_FOUND : CAIRN_IO_FAILED, NULL,
                          "cannot read: %s", strerror(reason));
    }
    if (!S_ISREG(about.st_mode))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "not a plain file, expected HDF5");
    TRY(cairn_hdf5_probe(path, foreign || cairn_hdf5_is_unsummed(path), error));
    *out = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*out >= 0)
        return CAIRN_OK;
    cairn_hdf5_fail(error, "not an HDF5 file, or a broken one");
    return CAIRN_BAD_INPUT;
}

cairn_status cairn_hdf5_open(const char *path, hid_t *out, cairn_error *error)
{
    return open_file(path, false, out, error);
}

cairn_status cairn_hdf5_open_foreign(const char *path, hid_t *out, cairn_error *error)
{
    return open_file(path, true, out, error);
}

/* The link and what it leads to: a link may point to nothing. */
bool cairn_hdf5_has(hid_t parent, const char *name)
{
    return H5Lexists(parent, name, H5P_DEFAULT) > 0 &&
           H5Oexists_by_name(parent, name, H5P_DEFAULT) > 0;
}

cairn_status cairn_hdf5_open_group(hid_t parent, const char *name, hid_t *out, cairn_error *error)
{
    *out = cairn_hdf5_has(parent, name) ? H5Gopen2(parent, name, H5P_DEFAULT) : -1;
    return *out >= 0 ? CAIRN_OK
                     : cairn_fail(error, CAIRN_BAD_INPUT, name, "expected a group '%s'", name);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The number of numbers in a chunk; 0 if the dataset is not cut into chunks. */
static double chunk_numbers(hid_t dataset)
{
    hsize_t extent[H5S_MAX_RANK];
    double numbers = 1;
    hid_t layout = H5Dget_create_plist(dataset);
    bool chunked = layout >= 0 && H5Pget_layout(layout) == H5D_CHUNKED;
    int rank = chunked ? H5Pget_chunk(layout, H5S_MAX_RANK, extent) : 0;
    for (int i = 0; i < rank; i++)
        numbers *= (double)extent[i];
    if (layout >= 0)
        H5Pclose(layout);
    return rank > 0 ? numbers : 0;
}

/* Deflate compresses by a factor of 1032 at most, so a dataset cannot be larger than that times
 * its bytes in the file; one that was never written has none. The same holds for a single chunk,
 * since HDF5 allocates memory for a whole one. Filters other than deflate are not allowed for. */
bool cairn_hdf5_is_there(hid_t dataset)
{
    enum { DEFLATE_LIMIT = 1032 };
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    double size = type >= 0 ? (double)H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (count <= 0)
        return count == 0;
    double most = DEFLATE_LIMIT * (double)H5Dget_storage_size(dataset);
    return (double)count * size <= most && chunk_numbers(dataset) * size <= most;
}

/* The number of numbers of a dataset if they are of the right kind and really stored, else -1. */
static int64_t count_numbers(hid_t dataset, cairn_hdf5_type type)
{
    hid_t space = H5Dget_space(dataset), stored = H5Dget_type(dataset);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    H5T_class_t kind = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    bool good = kind == H5T_INTEGER || (kind == H5T_FLOAT && type == CAIRN_HDF5_REAL);
    if (stored >= 0)
        H5Tclose(stored);
    if (space >= 0)
        H5Sclose(space);
    return good && cairn_hdf5_is_there(dataset) ? count : -1;
}

/* HDF5 converts to the type in memory, so float32 and int16 are accepted as well. */
static cairn_status read_all(hid_t dataset, cairn_hdf5_type type, cairn_arena *arena,
                             cairn_hdf5_numbers *out, cairn_error *error)
{
    int64_t count = count_numbers(dataset, type);
    if (count < 0 || count > INT32_MAX)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "expected a list of %s",
                          type == CAIRN_HDF5_REAL ? "numbers" : "integers");
    void *data = cairn_arena_take(arena, (size_t)count, cairn_hdf5_size(type));
    if (!data)
        return CAIRN_NO_MEMORY;
    hid_t memory = type == CAIRN_HDF5_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
    *out = (cairn_hdf5_numbers){ data, (int)count };
    if (count > 0 && H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        cairn_hdf5_fail(error, "cannot read");
        return CAIRN_BAD_INPUT;
    }
    return CAIRN_OK;
}

/* The key is set before reading, so that errors of HDF5, which know no name, have it as well. */
static void set_key(cairn_error *error, const char *name)
{
    if (error)
        snprintf(error->key, sizeof error->key, "%s", name);
}

static cairn_status open_dataset(hid_t parent, const char *name, hid_t *out, cairn_error *error)
{
    set_key(error, name);
    *out = cairn_hdf5_has(parent, name) ? H5Dopen2(parent, name, H5P_DEFAULT) : -1;
    return *out >= 0 ? CAIRN_OK
                     : cairn_fail(error, CAIRN_BAD_INPUT, name, "expected a dataset '%s'", name);
}

cairn_status cairn_hdf5_read(hid_t parent, const char *name, cairn_hdf5_type type,
                             cairn_arena *arena, cairn_hdf5_numbers *out, cairn_error *error)
{
    hid_t dataset;
    TRY(open_dataset(parent, name, &dataset, error));
    cairn_status status = read_all(dataset, type, arena, out, error);
    H5Dclose(dataset);
    return status;
}

/* Whether a dataset of numbers has the rows of a slab. The subtraction cannot overflow, unlike
 * first + rows. */
static bool has_rows(hid_t dataset, hid_t space, const cairn_hdf5_slab *slab)
{
    hsize_t extent[2] = { 0, 1 };
    int wanted = slab->width == 1 ? 1 : 2;
    if (count_numbers(dataset, slab->type) < 0 || H5Sget_simple_extent_ndims(space) != wanted ||
        H5Sget_simple_extent_dims(space, extent, NULL) != wanted)
        return false;
    return extent[1] == (hsize_t)slab->width && slab->first >= 0 && slab->rows >= 0 &&
           (hsize_t)slab->first <= extent[0] &&
           (hsize_t)slab->rows <= extent[0] - (hsize_t)slab->first;
}

static herr_t read_selected(hid_t dataset, hid_t space, const cairn_hdf5_slab *slab, void *data)
{
    const hsize_t start[2] = { (hsize_t)slab->first, 0 };
    const hsize_t count[2] = { (hsize_t)slab->rows, (hsize_t)slab->width };
    hid_t type = slab->type == CAIRN_HDF5_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
    hid_t memory = H5Screate_simple(slab->width == 1 ? 1 : 2, count, NULL);
    herr_t result = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (result >= 0)
        result = H5Dread(dataset, type, memory, space, H5P_DEFAULT, data);
    H5Sclose(memory);
    return result;
}

/* The rows are checked against the extent before memory is allocated. */
static cairn_status read_slab(hid_t dataset, const cairn_hdf5_slab *slab, cairn_arena *arena,
                              const void **out, cairn_error *error)
{
    hid_t space = H5Dget_space(dataset);
    cairn_status status = CAIRN_OK;
    void *data = NULL;
    if (space < 0 || !has_rows(dataset, space, slab))
        status = cairn_fail(error, CAIRN_BAD_INPUT, slab->name,
                            "expected %lld rows of %d numbers from row %lld on",
                            (long long)slab->rows, slab->width, (long long)slab->first);
    if (status == CAIRN_OK) {
        size_t numbers = (size_t)slab->rows * (size_t)slab->width;
        data = cairn_arena_take(arena, numbers, cairn_hdf5_size(slab->type));
        status = data ? CAIRN_OK : CAIRN_NO_MEMORY;
    }
    if (status == CAIRN_OK && slab->rows > 0 && read_selected(dataset, space, slab, data) < 0) {
        cairn_hdf5_fail(error, "cannot read");
        status = CAIRN_BAD_INPUT;
    }
    if (space >= 0)
        H5Sclose(space);
    *out = data;
    return status;
}

cairn_status cairn_hdf5_read_slab(hid_t parent, const cairn_hdf5_slab *slab, cairn_arena *arena,
                                  const void **out, cairn_error *error)
{
    hid_t dataset;
    *out = NULL;
    TRY(open_dataset(parent, slab->name, &dataset, error));
    cairn_status status = read_slab(dataset, slab, arena, out, error);
    H5Dclose(dataset);
    return status;
}

cairn_status cairn_hdf5_read_int(hid_t parent, const char *name, int32_t *out, cairn_error *error)
{
    hid_t dataset;
    TRY(open_dataset(parent, name, &dataset, error));
    bool good = count_numbers(dataset, CAIRN_HDF5_INT) == 1 &&
                H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
    H5Dclose(dataset);
    return good ? CAIRN_OK : cairn_fail(error, CAIRN_BAD_INPUT, name, "expected one integer");
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* A dataset or an attribute with a text. HDF5 stores texts with a fixed length, or with a
 * variable one behind a pointer. */
typedef struct text_source {
    hid_t object;
    bool attribute;
} text_source;

static herr_t read_as(text_source source, hid_t type, void *out)
{
    return source.attribute ? H5Aread(source.object, type, out)
                            : H5Dread(source.object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

static hid_t type_of(text_source source)
{
    return source.attribute ? H5Aget_type(source.object) : H5Dget_type(source.object);
}

/* The length of a text of variable length is known only after it has been read. */
static bool is_one_text(text_source source, hid_t type)
{
    hid_t space = source.attribute ? H5Aget_space(source.object) : H5Dget_space(source.object);
    bool one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (space >= 0)
        H5Sclose(space);
    return one && H5Tget_class(type) == H5T_STRING &&
           (H5Tis_variable_str(type) > 0 || H5Tget_size(type) <= LONGEST_TEXT);
}

/* A text of variable length, which HDF5 allocates, copied into the arena. */
static cairn_status variable_text(text_source source, hid_t type, cairn_arena *arena,
                                  const char **out)
{
    char *stored = NULL, *copy = NULL;
    if (read_as(source, type, &stored) < 0 || !stored)
        return CAIRN_BAD_INPUT;
    size_t bytes = strlen(stored) + 1;
    if (bytes <= LONGEST_TEXT)
        copy = cairn_arena_take(arena, bytes, 1);
    if (copy)
        memcpy(copy, stored, bytes);
    H5free_memory(stored);
    *out = copy;
    return copy ? CAIRN_OK : bytes <= LONGEST_TEXT ? CAIRN_NO_MEMORY : CAIRN_BAD_INPUT;
}

/* Refuse bytes behind the first zero of a padded text: a C string would not show them, so two
 * files with different contents would look equal. */
static bool holds_one_text(const char *text, size_t bytes, hid_t type)
{
    size_t length = strlen(text);
    if (H5Tget_strpad(type) != H5T_STR_NULLPAD)
        return true;
    while (length < bytes && text[length] == '\0')
        length++;
    return length == bytes;
}

/* One byte more than stored: a text that fills its type has no final zero. */
static cairn_status fixed_text(text_source source, hid_t type, cairn_arena *arena, const char **out)
{
    size_t bytes = H5Tget_size(type);
    char *text = cairn_arena_take(arena, bytes + 1, 1);
    if (!text)
        return CAIRN_NO_MEMORY;
    if (read_as(source, type, text) < 0)
        return CAIRN_BAD_INPUT;
    text[bytes] = '\0';
    *out = text;
    return holds_one_text(text, bytes, type) ? CAIRN_OK : CAIRN_BAD_INPUT;
}

/* Read one text of either kind; CAIRN_BAD_INPUT if it is anything else. */
static cairn_status take_text(text_source source, cairn_arena *arena, const char **out)
{
    hid_t type = type_of(source);
    cairn_status status = CAIRN_BAD_INPUT;
    if (type >= 0 && is_one_text(source, type))
        status = H5Tis_variable_str(type) > 0 ? variable_text(source, type, arena, out)
                                              : fixed_text(source, type, arena, out);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

cairn_status cairn_hdf5_read_text(hid_t parent, const char *name, cairn_arena *arena,
                                  const char **out, cairn_error *error)
{
    hid_t dataset;
    *out = "";
    if (!cairn_hdf5_has(parent, name))
        return CAIRN_OK;
    TRY(open_dataset(parent, name, &dataset, error));
    cairn_status status = take_text((text_source){ dataset, false }, arena, out);
    H5Dclose(dataset);
    return status == CAIRN_BAD_INPUT ? cairn_fail(error, status, name, "expected one text")
                                     : status;
}

/* Split texts of `bytes` each that are stored side by side, and end each with a zero. */
static cairn_status part_texts(const char *block, size_t bytes, cairn_arena *arena,
                               cairn_hdf5_text_list *out)
{
    char **items = cairn_arena_take(arena, (size_t)out->count + 1, sizeof *items);
    if (!items)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < out->count; i++) {
        items[i] = cairn_arena_take(arena, bytes + 1, 1);
        if (!items[i])
            return CAIRN_NO_MEMORY;
        memcpy(items[i], block + (size_t)i * bytes, bytes);
        items[i][bytes] = '\0';
    }
    out->items = (const char *const *)items;
    return CAIRN_OK;
}

/* Texts of variable length are refused: cairn does not write them, and their heap has no
 * checksums. */
static cairn_status take_texts(hid_t dataset, hid_t type, cairn_arena *arena,
                               cairn_hdf5_text_list *out)
{
    if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 ||
        H5Tget_size(type) > LONGEST_TEXT || !cairn_hdf5_is_there(dataset))
        return CAIRN_BAD_INPUT;
    hid_t space = H5Dget_space(dataset);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0)
        H5Sclose(space);
    if (count < 0 || count > INT32_MAX)
        return CAIRN_BAD_INPUT;
    size_t bytes = H5Tget_size(type);
    char *block = cairn_arena_take(arena, (size_t)count + 1, bytes);
    if (!block)
        return CAIRN_NO_MEMORY;
    if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0)
        return CAIRN_BAD_INPUT;
    out->count = (int)count;
    return part_texts(block, bytes, arena, out);
}

cairn_status cairn_hdf5_read_texts(hid_t parent, const char *name, cairn_arena *arena,
                                   cairn_hdf5_text_list *out, cairn_error *error)
{
    hid_t dataset;
    *out = (cairn_hdf5_text_list){ NULL, 0 };
    TRY(open_dataset(parent, name, &dataset, error));
    hid_t type = H5Dget_type(dataset);
    cairn_status status = take_texts(dataset, type, arena, out);
    if (type >= 0)
        H5Tclose(type);
    H5Dclose(dataset);
    return status == CAIRN_BAD_INPUT ? cairn_fail(error, status, name, "expected texts") : status;
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* Read texts of equal length from an attribute. */
static cairn_status take_names(hid_t attribute, hid_t type, cairn_arena *arena,
                               cairn_hdf5_text_list *out)
{
    hid_t space = H5Aget_space(attribute);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    if (space >= 0)
        H5Sclose(space);
    if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || count < 0 ||
        (size_t)count * bytes > LONGEST_TEXT)
        return CAIRN_BAD_INPUT;
    char *block = cairn_arena_take(arena, (size_t)count + 1, bytes);
    if (!block)
        return CAIRN_NO_MEMORY;
    if (count > 0 && H5Aread(attribute, type, block) < 0)
        return CAIRN_BAD_INPUT;
    out->count = (int)count;
    return part_texts(block, bytes, arena, out);
}

cairn_status cairn_hdf5_read_names(hid_t dataset, cairn_arena *arena, cairn_hdf5_text_list *out,
                                   cairn_error *error)
{
    *out = (cairn_hdf5_text_list){ NULL, 0 };
    hid_t attribute = H5Aopen(dataset, "names", H5P_DEFAULT);
    if (attribute < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "names", "expected an attribute 'names'");
    hid_t type = H5Aget_type(attribute);
    cairn_status status = take_names(attribute, type, arena, out);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return status == CAIRN_BAD_INPUT ? cairn_fail(error, status, "names", "expected texts")
                                     : status;
}

bool cairn_hdf5_read_real_attribute(hid_t object, const char *name, double *out)
{
    return cairn_hdf5_read_reals_attribute(object, name, 1, out);
}

/* Integers are accepted and converted, so that a reader need not know which of the two was
 * written. */
bool cairn_hdf5_read_reals_attribute(hid_t object, const char *name, int count, double *out)
{
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return false;
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    H5T_class_t kind = H5Tget_class(type);
    bool good = (kind == H5T_FLOAT || kind == H5T_INTEGER) &&
                H5Sget_simple_extent_npoints(space) == count &&
                H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

cairn_status cairn_hdf5_read_text_attribute(hid_t object, const char *name, char *text,
                                            size_t capacity)
{
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return CAIRN_NOT_FOUND;
    cairn_arena scratch = { 0 };
    const char *found = NULL;
    cairn_status status = take_text((text_source){ attribute, true }, &scratch, &found);
    H5Aclose(attribute);
    if (status == CAIRN_OK)
        snprintf(text, capacity, "%s", found);
    cairn_arena_destroy(&scratch);
    return status;
}

/* ---- probing ----------------------------------------------------------------------------- */

/* The child reports through a pipe, by one byte, that it came to the end and whether it could
 * open every object. If the pipe is closed without a byte, the child died.
 *
 * No limit is one of the clock: on a busy machine, a slow disk, or while it is stopped, the child
 * only takes longer. What it does is cut into steps: an object, an attribute, or a piece of data. A
 * step may take so much processor time, and their number is limited by the size of the file, since
 * none of them needs less than LEAST_BYTES: groups may contain each other. */

/* Seconds of processor time for a step, with more for large files; bytes read at once; depth of
 * groups; steps of any file, and bytes for each further one. */
enum { SECONDS = 5, BYTES_A_SECOND = 4 << 20, PIECE = 1 << 20, DEEPEST = 32 };
enum { FIRST_STEPS = 1000, LEAST_BYTES = 32 };

/* ---- the child ------------------------------------------------------------------------------ */

typedef struct visit {
    bool data;        /* read all numbers                */
    unsigned seconds; /* of processor time for each step */
    int64_t left;     /* steps                           */
} visit;

/* Begin a step: false if there are too many. */
static bool begin_step(visit *v)
{
    struct rusage used;
    struct rlimit time;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &time);
    rlim_t until = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + v->seconds + 1;
    time.rlim_cur = until < time.rlim_max ? until : time.rlim_max;
    setrlimit(RLIMIT_CPU, &time);
    return v->left-- > 0;
}

/* Reading is what may crash; the values are not used. Texts of variable length are freed again. */
static void read_attribute(hid_t attribute)
{
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    size_t size = type >= 0 ? H5Tget_size(type) : 0;
    void *data = count > 0 && size > 0 && (size_t)count < PIECE / size
                     ? cairn_memory_zeroed((size_t)count, size)
                     : NULL;
    if (data && H5Aread(attribute, type, data) >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
    cairn_memory_free(data);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
}

/* A callback of H5Aiterate2; a negative result ends the iteration. */
static herr_t see_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    hid_t attribute = begin_step(context) ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return -1;
    read_attribute(attribute);
    H5Aclose(attribute);
    return 0;
}

/* Read a dataset in pieces of whole rows. Rows larger than a piece are not tried. */
static void read_rows(visit *v, hid_t dataset, const hsize_t *extent, int rank)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hsize_t first[H5S_MAX_RANK] = { 0 }, part[H5S_MAX_RANK], row = H5Tget_size(type);
    for (int i = 1; i < rank; i++)
        row *= extent[i];
    void *data = row > 0 && row <= PIECE ? cairn_memory_zeroed(PIECE, 1) : NULL;
    memcpy(part, extent, (size_t)rank * sizeof *part);
    for (hsize_t done = 0; data && done < extent[0] && begin_step(v); done += part[0]) {
        part[0] = extent[0] - done < PIECE / row ? extent[0] - done : PIECE / row;
        first[0] = done;
        hid_t memory = H5Screate_simple(rank, part, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, part, NULL);
        if (H5Dread(dataset, type, memory, space, H5P_DEFAULT, data) >= 0)
            H5Dvlen_reclaim(type, memory, H5P_DEFAULT, data);
        H5Sclose(memory);
    }
    cairn_memory_free(data);
    H5Tclose(type);
    H5Sclose(space);
}

/* Returns false if the steps are used up. */
static bool read_dataset(visit *v, hid_t dataset)
{
    hsize_t extent[H5S_MAX_RANK] = { 1 };
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, extent, NULL) : -1;
    if (type >= 0 && rank >= 0 && cairn_hdf5_is_there(dataset))
        read_rows(v, dataset, extent, rank);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return v->left >= 0;
}

static bool see_all(visit *v, hid_t object, int depth);

/* The depth is limited because links may form a cycle of groups. */
static bool see_members(visit *v, hid_t group, int depth)
{
    H5G_info_t about = { 0 };
    bool good = depth <= DEEPEST && H5Gget_info(group, &about) >= 0;
    for (hsize_t i = 0; i < about.nlinks && good; i++) {
        hid_t member = H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
        good = member >= 0 && see_all(v, member, depth + 1);
        if (member >= 0)
            H5Oclose(member);
    }
    return good;
}

/* Visit an object and everything in it. Numbers of other programs that cannot be read are no
 * error: they may be packed with a filter that this HDF5 does not have. */
static bool see_all(visit *v, hid_t object, int depth)
{
    hsize_t next = 0;
    H5I_type_t kind = H5Iget_type(object);
    if (!begin_step(v) ||
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &next, see_attribute, v) < 0)
        return false;
    if (kind == H5I_DATASET) /* is_there visits the index of all its chunks */
        return v->data ? read_dataset(v, object) : cairn_hdf5_is_there(object);
    return kind != H5I_GROUP || see_members(v, object, depth);
}

/* Make sure that whatever happens ends this process alone, without a core dump. Handlers of the
 * parent program must not run here. */
static void limit_child(void)
{
    const int fatal[] = { SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
    struct rlimit none = { 0, 0 };
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
}

/* What the child says; DEAD: nothing, it died; STUCK: nothing, and it waits. */
enum { DEAD = 0, STUCK = 1, GOOD = 'g', BAD = 'b', CROWDED = 'c' };

static char try_file(visit *v, const char *path)
{
    limit_child();
    begin_step(v);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t root = file >= 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : -1;
    bool good = root >= 0 && see_all(v, root, 0);
    if (root >= 0)
        H5Gclose(root);
    if (file >= 0)
        H5Fclose(file);
    if (good || file < 0) /* the parent reports better why it cannot be opened */
        return GOOD;
    return v->left < 0 ? CROWDED : BAD;
}

/* ---- the parent ----------------------------------------------------------------------------- */

/* A look at the child every LOOK_MS; it is stuck if so many looks in a row find it asleep without
 * having computed anything. A process that waits for a processor, is stopped, or waits for a disk
 * is not asleep; one that was forked while another thread held a lock of HDF5 sleeps forever. */
enum { LOOK_MS = 1000, IDLE_LOOKS = 60 };

/* Whether a process sleeps and has used no processor time since *ticks, which is updated. */
static bool sleeps(pid_t process, unsigned long *ticks)
{
    char path[64], text[1024] = "", state = '?';
    unsigned long user = 0, system = 0, before = *ticks;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')'); /* the name may contain anything */
    if (!name_end || sscanf(name_end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu",
                            &state, &user, &system) != 3)
        return false;
    *ticks = user + system;
    return state == 'S' && *ticks == before;
}

/* Wait for the child's answer. End of file without a byte leaves DEAD. */
static char hear(int pipe_end, pid_t child)
{
    struct pollfd ready = { .fd = pipe_end, .events = POLLIN };
    unsigned long ticks = 0;
    for (int idle = 0; idle < IDLE_LOOKS;) {
        char word = DEAD;
        int found = poll(&ready, 1, LOOK_MS);
        if (found > 0 && (read(pipe_end, &word, 1) >= 0 || errno != EINTR))
            return word;
        if (found == 0)
            idle = sleeps(child, &ticks) ? idle + 1 : 0;
    }
    kill(child, SIGKILL);
    return STUCK;
}

/* Why there is no answer: how the child ended, as waitpid tells. */
static cairn_status judge_death(int ending, unsigned seconds, cairn_error *error)
{
    int number = WIFSIGNALED(ending) ? WTERMSIG(ending) : 0;
    if (number == SIGXCPU)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the file may be damaged: HDF5 took longer than %u s of processor time "
                          "for one thing in it",
                          seconds);
    if (number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP)
        return cairn_fail(error, CAIRN_IO_FAILED, NULL,
                          "the process that tries the file was ended by signal %d", number);
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "the file is damaged: HDF5 does not survive reading it");
}

static cairn_status judge(char word, int ending, unsigned seconds, cairn_error *error)
{
    if (word == GOOD)
        return CAIRN_OK;
    if (word == STUCK)
        return cairn_fail(error, CAIRN_IO_FAILED, NULL,
                          "the process that tries the file has waited for %d s and done nothing",
                          LOOK_MS / 1000 * IDLE_LOOKS);
    if (word == DEAD)
        return judge_death(ending, seconds, error);
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the file is damaged: %s",
                      word == BAD ? "something in it cannot be opened"
                                  : "more is in it than it has room for");
}

static cairn_status no_child(cairn_error *error)
{
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot start a process to try the file: %s",
                      strerror(errno));
}

/* The number of threads of this process; 1 if the system does not tell. */
static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry = tasks ? readdir(tasks) : NULL; entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count > 0 ? count : 1;
}

/* Defined in programs built with AddressSanitizer. After a fork its allocator keeps locks that
 * other threads held, and the child would wait for them forever. */
extern void __asan_init(void) __attribute__((weak));

cairn_status cairn_hdf5_probe(const char *path, bool data, cairn_error *error)
{
    struct stat about;
    int ends[2];
    if (__asan_init && count_threads() > 1)
        return CAIRN_OK;
    if (stat(path, &about) != 0)
        return CAIRN_OK; /* opening it reports the reason */
    visit v = { .data = data,
                .seconds = SECONDS + (unsigned)(about.st_size / BYTES_A_SECOND),
                .left = FIRST_STEPS + about.st_size / LEAST_BYTES };
    if (pipe(ends) != 0)
        return no_child(error);
    pid_t child = fork();
    if (child == 0) {
        /* _exit, not exit: the child must not flush buffers or run handlers of the parent */
        char word = try_file(&v, path);
        _exit(write(ends[1], &word, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    char word = child > 0 ? hear(ends[0], child) : DEAD;
    close(ends[0]);
    if (child < 0)
        return no_child(error);
    int ending = 0;
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR)
        ;
    return judge(word, ending, v.seconds, error);
}

/* The first 8 bytes are the signature, then comes the version of the superblock. Version 2 and
 * later have checksums. */
bool cairn_hdf5_is_unsummed(const char *path)
{
    unsigned char head[9] = { 0 };
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    return got < sizeof head || head[8] < 2;
}
