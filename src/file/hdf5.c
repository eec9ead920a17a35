/* hdf5.c - see hdf5.h. Every object that is opened for one call is closed in that call. */
#include "io/hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/hdf5_probe.h"
#include "io/hdf5_sink.h"

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

/* The format of what is made from here on: metadata with check sums, chunks found by extensible
 * arrays. Not so the first block, which in this format would carry a mark of its writer, and a file
 * whose writer was killed could not be opened any more. */
static herr_t use_new_format(hid_t file)
{
    return H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_V110);
}

static cairn_status open_file(const char *path, bool anew, cairn_hdf5_sink *sink, hid_t access,
                              hid_t *out, cairn_error *error)
{
    const char *verb = anew ? "create" : "open";
    if (never_evict(access) < 0 ||
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110) < 0)
        return cairn_hdf5_fail(error, "cannot prepare a file");
    TRY(cairn_hdf5_sink_attach(sink, access, error));
    *out = anew ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                : H5Fopen(path, H5F_ACC_RDWR, access);
    if (*out >= 0 && use_new_format(*out) >= 0)
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
    if (status != CAIRN_OK)
        cairn_hdf5_sink_detach(sink);
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
    *out = H5I_INVALID_HID;
    TRY(cairn_hdf5_probe(path, cairn_hdf5_is_unsummed(path), error));
    return open_through(path, false, sink, out, error);
}

cairn_status cairn_hdf5_close(hid_t file, cairn_hdf5_sink *sink, cairn_error *error)
{
    cairn_status status = H5Fclose(file) < 0 ? cairn_hdf5_fail(error, "cannot close") : CAIRN_OK;
    cairn_hdf5_sink_detach(sink);
    return status;
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

hid_t cairn_hdf5_memory_type(cairn_hdf5_type type)
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
    return H5Tget_size(cairn_hdf5_memory_type(type));
}

hid_t cairn_hdf5_disk_type(cairn_hdf5_type type)
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
    attribute_types types = { cairn_hdf5_disk_type(values.type),
                              cairn_hdf5_memory_type(values.type), values.count,
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

/* ---- texts ---------------------------------------------------------------------------------- */

/* Texts side by side as they are stored: UTF-8, all of one length, filled up with zeros. HDF5 keeps
 * texts of any length in a heap without check sums, and crashes when that is damaged. */
typedef struct text_block {
    hid_t type;
    char *bytes;
} text_block;

static hid_t text_type(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0) {
        H5Tset_size(type, bytes);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        H5Tset_cset(type, H5T_CSET_UTF8);
    }
    return type;
}

static cairn_status make_texts(const char *const *texts, size_t count, text_block *out)
{
    size_t longest = 1; /* HDF5 has no type of 0 bytes */
    for (size_t i = 0; i < count; i++)
        if (texts[i] && strlen(texts[i]) > longest)
            longest = strlen(texts[i]);
    *out = (text_block){ -1, cairn_memory_zeroed(count + 1, longest) };
    if (!out->bytes)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (texts[i])
            memcpy(out->bytes + i * longest, texts[i], strlen(texts[i]));
    out->type = text_type(longest);
    return CAIRN_OK;
}

static void free_texts(text_block *block)
{
    if (block->type >= 0)
        H5Tclose(block->type);
    cairn_memory_free(block->bytes);
}

static cairn_status write_texts(hid_t object, const char *name, const char *const *texts, int count,
                                bool scalar, cairn_error *error)
{
    text_block block;
    TRY(make_texts(texts, (size_t)count, &block));
    attribute_types types = { block.type, block.type, count, scalar };
    cairn_status status = write_attribute(object, name, types, block.bytes, error);
    free_texts(&block);
    return status;
}

cairn_status cairn_hdf5_text(hid_t object, const char *name, const char *text, cairn_error *error)
{
    return write_texts(object, name, &text, 1, true, error);
}

cairn_status cairn_hdf5_texts(hid_t object, const char *name, const char *const *texts, int count,
                              cairn_error *error)
{
    return write_texts(object, name, texts, count, false, error);
}

static cairn_status write_text_dataset(hid_t group, const char *name, const text_block *block,
                                       hsize_t count, cairn_error *error)
{
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t dataset =
        H5Dcreate2(group, name, block->type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cairn_status status = CAIRN_OK;
    if (dataset < 0 || (count > 0 && H5Dwrite(dataset, block->type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                              block->bytes) < 0))
        status = cairn_hdf5_fail(error, "cannot write texts");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

cairn_status cairn_hdf5_text_dataset(hid_t group, const char *name, const char *const *texts,
                                     size_t count, cairn_error *error)
{
    text_block block;
    TRY(make_texts(texts, count, &block));
    cairn_status status = write_text_dataset(group, name, &block, count, error);
    free_texts(&block);
    return status;
}
