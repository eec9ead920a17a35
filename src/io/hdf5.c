/* hdf5.c - see hdf5.h. Every object that is opened for one call is closed in that call. */
#include "io/hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

cairn_hdf5_quiet cairn_hdf5_quiet_begin(void)
{
    cairn_hdf5_quiet saved = { 0 };
    H5Eget_auto2(H5E_DEFAULT, &saved.print, &saved.context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return saved;
}

void cairn_hdf5_quiet_end(cairn_hdf5_quiet saved)
{
    H5Eset_auto2(H5E_DEFAULT, saved.print, saved.context);
}

enum { REASON_BYTES = 400 };

/* Keeps the innermost entry of the stack, which names the true reason. */
static herr_t keep_innermost(unsigned n, const H5E_error2_t *entry, void *context)
{
    if (n == 0 && entry->desc)
        snprintf(context, REASON_BYTES, "%s", entry->desc);
    return 0;
}

cairn_status cairn_hdf5_fail(cairn_error *error, const char *what)
{
    char reason[REASON_BYTES] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, reason);
    /* of "..., errno = 28, error message = 'No space left on device', ..." people need the quote */
    char *text = strstr(reason, "error message = '");
    if (text) {
        text += strlen("error message = '");
        memmove(reason, text, strlen(text) + 1);
        reason[strcspn(reason, "'")] = '\0';
    }
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "%s: %s", what, reason);
}

/* A cache of metadata that never evicts: nothing dirty is written between flushes. */
static herr_t never_evict(hid_t access)
{
    H5AC_cache_config_t config = { .version = H5AC__CURR_CACHE_CONFIG_VERSION };
    herr_t failed = H5Pget_mdc_config(access, &config);
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    config.evictions_enabled = 0;
    return failed < 0 ? failed : H5Pset_mdc_config(access, &config);
}

static cairn_status open_file(const char *path, bool anew, cairn_hdf5_sink *sink, hid_t access,
                              hid_t *out, cairn_error *error)
{
    const char *verb = anew ? "create" : "open";
    if (never_evict(access) < 0)
        return cairn_hdf5_fail(error, "cannot prepare a file");
    TRY(cairn_hdf5_sink_attach(sink, access, error));
    *out = anew ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                : H5Fopen(path, H5F_ACC_RDWR, access);
    if (*out >= 0)
        return CAIRN_OK;
    if (sink->reason == 0)
        return cairn_hdf5_fail(error, anew ? "cannot create" : "cannot open");
    if (sink->reason == EWOULDBLOCK)
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "another run is writing this file");
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot %s: %s", verb, strerror(sink->reason));
}

static cairn_status open_through(const char *path, bool anew, cairn_hdf5_sink *sink, hid_t *out,
                                 cairn_error *error)
{
    *out = H5I_INVALID_HID;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0)
        return cairn_hdf5_fail(error, "cannot prepare a file");
    cairn_status status = open_file(path, anew, sink, access, out, error);
    H5Pclose(access);
    return status;
}

cairn_status cairn_hdf5_create(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                               cairn_error *error)
{
    return open_through(path, true, sink, out, error);
}

cairn_status cairn_hdf5_go_on(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                              cairn_error *error)
{
    return open_through(path, false, sink, out, error);
}

cairn_status cairn_hdf5_flush(hid_t file, cairn_error *error)
{
    return H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? cairn_hdf5_fail(error, "cannot write") : CAIRN_OK;
}

cairn_status cairn_hdf5_group(hid_t parent, const char *name, hid_t *out, cairn_error *error)
{
    bool there = H5Lexists(parent, name, H5P_DEFAULT) > 0;
    *out = there ? H5Gopen2(parent, name, H5P_DEFAULT)
                 : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return *out < 0 ? cairn_hdf5_fail(error, "cannot make a group") : CAIRN_OK;
}

static hid_t memory_type(cairn_hdf5_type type)
{
    switch (type) {
    case CAIRN_HDF5_REAL:
        return H5T_NATIVE_DOUBLE;
    case CAIRN_HDF5_INT:
        return H5T_NATIVE_INT32;
    case CAIRN_HDF5_LONG:
        return H5T_NATIVE_INT64;
    case CAIRN_HDF5_ULONG:
        return H5T_NATIVE_UINT64;
    default:
        return H5T_NATIVE_UINT8;
    }
}

size_t cairn_hdf5_size(cairn_hdf5_type type)
{
    return H5Tget_size(memory_type(type));
}

static hid_t disk_type(cairn_hdf5_type type)
{
    switch (type) {
    case CAIRN_HDF5_REAL:
        return H5T_IEEE_F64LE;
    case CAIRN_HDF5_INT:
        return H5T_STD_I32LE;
    case CAIRN_HDF5_LONG:
        return H5T_STD_I64LE;
    case CAIRN_HDF5_ULONG:
        return H5T_STD_U64LE;
    default:
        return H5T_STD_U8LE;
    }
}

/* ---- attributes ---------------------------------------------------------------------------- */

/* One attribute from types that the caller owns; count 1 is a scalar. */
typedef struct attribute_types {
    hid_t disk, memory;
    int count;
    bool scalar;
} attribute_types;

static cairn_status write_attribute(hid_t object, const char *name, attribute_types types,
                                    const void *data, cairn_error *error)
{
    hsize_t extent = (hsize_t)types.count;
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    hid_t space = types.scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    hid_t attribute = H5Acreate2(object, name, types.disk, space, H5P_DEFAULT, H5P_DEFAULT);
    cairn_status status = CAIRN_OK;
    if (attribute < 0 || (types.count > 0 && H5Awrite(attribute, types.memory, data) < 0))
        status = cairn_hdf5_fail(error, "cannot write an attribute");
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

cairn_status cairn_hdf5_attribute(hid_t object, const char *name, cairn_hdf5_values values,
                                  cairn_error *error)
{
    attribute_types types = { disk_type(values.type), memory_type(values.type), values.count,
                              values.count == 1 };
    return write_attribute(object, name, types, values.data, error);
}

cairn_status cairn_hdf5_real(hid_t object, const char *name, double value, cairn_error *error)
{
    cairn_hdf5_values values = { CAIRN_HDF5_REAL, 1, &value };
    return cairn_hdf5_attribute(object, name, values, error);
}

cairn_status cairn_hdf5_long(hid_t object, const char *name, int64_t value, cairn_error *error)
{
    cairn_hdf5_values values = { CAIRN_HDF5_LONG, 1, &value };
    return cairn_hdf5_attribute(object, name, values, error);
}

/* UTF-8 of any length. */
static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0) {
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5T_CSET_UTF8);
    }
    return type;
}

cairn_status cairn_hdf5_text(hid_t object, const char *name, const char *text, cairn_error *error)
{
    const char *stored = text ? text : "";
    hid_t type = text_type();
    attribute_types types = { type, type, 1, true };
    cairn_status status = write_attribute(object, name, types, &stored, error);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

cairn_status cairn_hdf5_texts(hid_t object, const char *name, const char *const *texts, int count,
                              cairn_error *error)
{
    hid_t type = text_type();
    attribute_types types = { type, type, count, false };
    cairn_status status = write_attribute(object, name, types, texts, error);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

cairn_status cairn_hdf5_text_dataset(hid_t group, const char *name, const char *const *texts,
                                     size_t count, cairn_error *error)
{
    hsize_t extent = count;
    hid_t type = text_type(), space = H5Screate_simple(1, &extent, NULL);
    hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cairn_status status = CAIRN_OK;
    if (dataset < 0 ||
        (count > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0))
        status = cairn_hdf5_fail(error, "cannot write texts");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Chunks; long columns are shuffled and deflated at the fastest level. */
static hid_t layout_create(const cairn_hdf5_column_def *def, int rank)
{
    hsize_t chunk[2] = { (hsize_t)def->chunk, (hsize_t)def->width };
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    bool good = layout >= 0 && H5Pset_chunk(layout, rank, chunk) >= 0;
    if (good && def->packed)
        good = H5Pset_shuffle(layout) >= 0 && H5Pset_deflate(layout, 1) >= 0;
    if (good)
        return layout;
    if (layout >= 0)
        H5Pclose(layout);
    return -1;
}

/* Rows of a dataset of `width` numbers a row; -1: it is something else. */
static hssize_t rows_of(hid_t dataset, int width)
{
    hsize_t extent[2] = { 0, 1 };
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = rank == (width > 1 ? 2 : 1);
    good = good && H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    H5Sclose(space);
    return good && (width == 1 || extent[1] == (hsize_t)width) ? (hssize_t)extent[0] : -1;
}

static cairn_status open_column(hid_t group, const cairn_hdf5_column_def *def,
                                cairn_hdf5_column *out, cairn_error *error)
{
    *out = (cairn_hdf5_column){ H5I_INVALID_HID, def->type, def->width, 0 };
    out->dataset = H5Dopen2(group, def->name, H5P_DEFAULT);
    if (out->dataset < 0)
        return cairn_hdf5_fail(error, "cannot open a dataset");
    hssize_t rows = rows_of(out->dataset, def->width);
    if (rows < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, def->name, "expected rows of %d numbers",
                          def->width);
    out->rows = (hsize_t)rows;
    return CAIRN_OK;
}

cairn_status cairn_hdf5_column_create(hid_t group, const cairn_hdf5_column_def *def,
                                      cairn_hdf5_column *out, cairn_error *error)
{
    if (H5Lexists(group, def->name, H5P_DEFAULT) > 0)
        return open_column(group, def, out, error);
    int rank = def->width > 1 ? 2 : 1;
    hsize_t start[2] = { 0, (hsize_t)def->width };
    hsize_t limit[2] = { H5S_UNLIMITED, (hsize_t)def->width };
    hid_t space = H5Screate_simple(rank, start, limit);
    hid_t layout = layout_create(def, rank);
    *out = (cairn_hdf5_column){ H5I_INVALID_HID, def->type, def->width, 0 };
    if (space >= 0 && layout >= 0)
        out->dataset = H5Dcreate2(group, def->name, disk_type(def->type), space, H5P_DEFAULT,
                                  layout, H5P_DEFAULT);
    cairn_status status =
        out->dataset < 0 ? cairn_hdf5_fail(error, "cannot make a dataset") : CAIRN_OK;
    if (layout >= 0)
        H5Pclose(layout);
    if (space >= 0)
        H5Sclose(space);
    return status == CAIRN_OK ? cairn_hdf5_text(out->dataset, "unit", def->unit, error) : status;
}

cairn_status cairn_hdf5_column_cut(cairn_hdf5_column *column, int64_t rows, cairn_error *error)
{
    if (rows < 0 || (hsize_t)rows > column->rows)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "a dataset has %lld rows, expected %lld at least",
                          (long long)column->rows, (long long)rows);
    hsize_t extent[2] = { (hsize_t)rows, (hsize_t)column->width };
    if (H5Dset_extent(column->dataset, extent) < 0)
        return cairn_hdf5_fail(error, "cannot cut a dataset");
    column->rows = (hsize_t)rows;
    return CAIRN_OK;
}

cairn_status cairn_hdf5_column_read(const cairn_hdf5_column *column, int64_t first, size_t rows,
                                    void *out, cairn_error *error)
{
    hsize_t at[2] = { (hsize_t)first, 0 }, extent[2] = { rows, (hsize_t)column->width };
    int rank = column->width > 1 ? 2 : 1;
    if (first < 0 || at[0] > column->rows || rows > column->rows - at[0])
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "a dataset has %lld rows, expected %lld",
                          (long long)column->rows, (long long)first + (long long)rows);
    hid_t file = H5Dget_space(column->dataset), memory = H5Screate_simple(rank, extent, NULL);
    H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, extent, NULL);
    herr_t result =
        H5Dread(column->dataset, memory_type(column->type), memory, file, H5P_DEFAULT, out);
    cairn_status status = result < 0 ? cairn_hdf5_fail(error, "cannot read") : CAIRN_OK;
    H5Sclose(file);
    H5Sclose(memory);
    return status;
}

cairn_status cairn_hdf5_column_at(const cairn_hdf5_column *column, int64_t row, int64_t *out,
                                  cairn_error *error)
{
    return cairn_hdf5_column_read(column, row, 1, out, error);
}

/* Write into the last `rows` rows of a dataset that is already long enough. */
static cairn_status write_rows(const cairn_hdf5_column *column, hsize_t rows, const void *data,
                               cairn_error *error)
{
    hsize_t first[2] = { column->rows, 0 };
    hsize_t extent[2] = { rows, (hsize_t)column->width };
    int rank = column->width > 1 ? 2 : 1;
    hid_t memory = H5Screate_simple(rank, extent, NULL);
    hid_t file = H5Dget_space(column->dataset);
    herr_t result = H5Sselect_hyperslab(file, H5S_SELECT_SET, first, NULL, extent, NULL);
    if (result >= 0)
        result =
            H5Dwrite(column->dataset, memory_type(column->type), memory, file, H5P_DEFAULT, data);
    /* closing would clear the error stack, so the message is taken before */
    cairn_status status = result < 0 ? cairn_hdf5_fail(error, "cannot write") : CAIRN_OK;
    H5Sclose(file);
    H5Sclose(memory);
    return status;
}

cairn_status cairn_hdf5_column_append(cairn_hdf5_column *column, size_t rows, const void *data,
                                      cairn_error *error)
{
    if (rows == 0)
        return CAIRN_OK;
    hsize_t grown[2] = { column->rows + rows, (hsize_t)column->width };
    if (H5Dset_extent(column->dataset, grown) < 0)
        return cairn_hdf5_fail(error, "cannot write");
    TRY(write_rows(column, rows, data, error));
    column->rows += rows;
    return CAIRN_OK;
}

cairn_status cairn_hdf5_column_gather(cairn_hdf5_column *column, size_t rows,
                                      cairn_hdf5_strided numbers, cairn_error *error)
{
    char packed[8192]; /* some rows side by side */
    size_t size = cairn_hdf5_size(column->type) * (size_t)column->width;
    size_t most = sizeof packed / size;
    for (size_t done = 0, some; done < rows; done += some) {
        some = rows - done < most ? rows - done : most;
        for (size_t i = 0; i < some; i++)
            memcpy(packed + i * size, (const char *)numbers.first + (done + i) * numbers.stride,
                   size);
        TRY(cairn_hdf5_column_append(column, some, packed, error));
    }
    return CAIRN_OK;
}

void cairn_hdf5_column_close(cairn_hdf5_column *column)
{
    if (column->dataset > 0)
        H5Dclose(column->dataset);
    column->dataset = 0;
}
