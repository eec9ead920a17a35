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
