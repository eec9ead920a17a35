/* hdf5.c - the small part of HDF5 that run files need, see hdf5.h. Every object that is opened
 * for one call is closed in that call. */
#include "file/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"

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

/* Keep the innermost entry of the error stack, which names the true reason. */
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
    /* of "..., errno = 28, error message = 'No space left on device', ..." users need the quoted
     * part */
    char *text = strstr(reason, "error message = '");
    if (text) {
        text += strlen("error message = '");
        memmove(reason, text, strlen(text) + 1);
        reason[strcspn(reason, "'")] = '\0';
    }
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "%s: %s", what, reason);
}

/* Make the metadata cache never evict and never resize, so that nothing dirty is written between
 * flushes. The cost is memory: all metadata that was touched stays in it. */
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

/* Select the format of new objects: metadata with checksums, chunks indexed by extensible
 * arrays. The superblock is created before and is exempt: in this format it would record that a
 * writer has the file open, and a file whose writer was killed could not be opened again. */
static herr_t use_new_format(hid_t file)
{
    return H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_V110);
}

static cairn_status open_file(const char *path, bool anew, cairn_hdf5_sink *sink, hid_t access,
                              hid_t *out, cairn_error *error)
{
    const char *verb = anew ? "create" : "open";
    /* the lower bound 1.8 is for the superblock; use_new_format raises it afterwards */
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

/* The access list is needed only while the file is opened. After a failure nothing stays
 * attached. */
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

/* A damaged file may crash HDF5, so it is probed in a child process first, as for reading. */
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

/* Files are little endian on every machine. */
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

/* Types and extent of an attribute; the caller owns the types. Not `scalar`: a list, also of
 * one. */
typedef struct attribute_types {
    hid_t disk, memory;
    int count;
    bool scalar;
} attribute_types;

/* HDF5 cannot change the type or the size of an attribute, so an existing one is deleted first. */
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

/* Texts as they are stored: UTF-8, all of the same length, padded with zeros. HDF5 keeps texts
 * of variable length in a heap without checksums, and crashes if that heap is damaged. */
typedef struct text_block {
    hid_t type;
    char *bytes;
} text_block;

/* NULLPAD: a text that fills the type needs no final zero. */
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

/* NULL becomes an empty text. A failure to make the type shows when the texts are written. */
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

/* The type may be invalid (-1) if HDF5 could not make it. */
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

/* ---- records ----------------------------------------------------------------------------- */

/* Integers and flags are stored with 64 bits, names as texts, so that a reader needs no table. */
static cairn_status write_option(hid_t object, const cairn_option *option, const void *options,
                                 cairn_error *error)
{
    const char *name = option->name;
    const void *field = (const char *)options + option->offset;
    const cairn_list *list = field;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        return cairn_hdf5_real(object, name, *(const double *)field, error);
    case CAIRN_OPTION_INTEGER:
        return cairn_hdf5_long(object, name, *(const int64_t *)field, error);
    case CAIRN_OPTION_FLAG:
        return cairn_hdf5_long(object, name, *(const bool *)field, error);
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        return cairn_hdf5_attribute(object, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, 3, field },
                                    error);
    case CAIRN_OPTION_LIST:
        return cairn_hdf5_attribute(
            object, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, list->count, list->values }, error);
    case CAIRN_OPTION_NAMES:
        return cairn_hdf5_texts(object, name, ((const cairn_names *)field)->items,
                                ((const cairn_names *)field)->count, error);
    case CAIRN_OPTION_FUNCTION:
        return CAIRN_UNSUPPORTED; /* no record that is written as attributes has one */
    default:
        return cairn_hdf5_text(object, name, *(const char *const *)field, error);
    }
}

cairn_status cairn_hdf5_record(hid_t object, const cairn_record *record, const void *options,
                               cairn_error *error)
{
    for (int i = 0; i < record->option_count; i++)
        TRY(write_option(object, &record->options[i], options, error));
    return CAIRN_OK;
}

/* ---- sinks ------------------------------------------------------------------------------- */

/* Since 1.13 HDF5 declares drivers in a header of their own, and a driver has a version and a
 * number. */
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#define DRIVER_VERSION .version = H5FD_CLASS_VERSION, .value = 600,
#else
#define DRIVER_VERSION
#endif

/* Keep the first failure: later ones are usually its consequences. */
static void remember(cairn_hdf5_sink *sink, int reason)
{
    if (sink->reason == 0)
        sink->reason = reason;
}

/* The length of a file that is continued, 0 of one that starts anew and is emptied here. False:
 * errno tells why. */
static bool find_end(int descriptor, bool anew, uint64_t *end)
{
    struct stat about;
    *end = 0;
    if (anew)
        return ftruncate(descriptor, 0) == 0;
    if (fstat(descriptor, &about) != 0)
        return false;
    *end = (uint64_t)about.st_size;
    return true;
}

/* Open the file for one writer only. The lock is taken before anything is truncated, since
 * another run may be writing it. The lock lasts until the descriptor is closed. */
static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    (void)limit;
    cairn_hdf5_sink *sink = *(cairn_hdf5_sink *const *)H5Pget_driver_info(access);
    bool anew = (flags & H5F_ACC_TRUNC) != 0;
    int descriptor = open(name, O_RDWR | (anew ? O_CREAT : 0) | O_CLOEXEC, 0666), reason;
    bool busy = descriptor >= 0 && !cairn_lock_take(descriptor);
    uint64_t end;
    if (descriptor >= 0 && !busy && find_end(descriptor, anew, &end)) {
        reason = cairn_overlay_start(&sink->overlay, descriptor, name, end);
        sink->end_of_space = sink->end_of_file = end;
        if (!reason)
            return &sink->common;
        errno = reason;
    }
    remember(sink, errno);
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

/* Commit everything written so far; after a failure the file stays as it was. */
static herr_t sink_flush(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    if (sink->reason == 0)
        remember(sink, cairn_overlay_commit(&sink->overlay, sink->end_of_space));
    return 0;
}

/* What was written since the last flush is committed, unless the sink has failed or was dropped. */
static herr_t sink_close(H5FD_t *file)
{
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    sink_flush(file, 0, true);
    cairn_overlay_destroy(&sink->overlay);
    if (close(sink->overlay.descriptor) != 0)
        remember(sink, errno);
    sink->overlay.descriptor = -1;
    return 0;
}

/* The same optimisations as for HDF5's own driver: small pieces are collected before they are
 * written. */
static herr_t sink_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

/* eoa, "end of allocation": HDF5 tells the driver how much space it has assigned in the file. */
static haddr_t sink_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const cairn_hdf5_sink *)file)->end_of_space;
}

static herr_t sink_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((cairn_hdf5_sink *)file)->end_of_space = address;
    return 0;
}

/* HDF5 checks a file against this length, so it must include writes that failed or still wait. */
static haddr_t sink_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const cairn_hdf5_sink *)file)->end_of_file;
}

/* A failed read is reported as a success as well; the buffer then has undefined contents, and
 * the sink is marked as failed. */
static herr_t sink_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
    (void)type, (void)transfer;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    remember(sink, cairn_overlay_read(&sink->overlay, address, size, buffer));
    return 0;
}

static herr_t sink_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer)
{
    (void)type, (void)transfer;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    /* counts also after a failure: HDF5 must believe that all is well */
    if (address + size > sink->end_of_file)
        sink->end_of_file = address + size;
    if (sink->reason == 0)
        remember(sink, cairn_overlay_write(&sink->overlay, address, size, buffer));
    return 0;
}

/* Nothing to do but to note the length: the file gets it when it is committed. */
static herr_t sink_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    sink->end_of_file = sink->end_of_space;
    return 0;
}

static const H5FD_class_t driver = {
    DRIVER_VERSION.name = "cairn_sink",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(cairn_hdf5_sink *),
    .open = sink_open,
    .close = sink_close,
    .query = sink_query,
    .get_eoa = sink_get_eoa,
    .set_eoa = sink_set_eoa,
    .get_eof = sink_get_eof,
    .read = sink_read,
    .write = sink_write,
    .flush = sink_flush,
    .truncate = sink_truncate,
    /* free space of metadata and of raw data is managed separately */
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

cairn_status cairn_hdf5_sink_attach(cairn_hdf5_sink *sink, hid_t access, cairn_error *error)
{
    *sink = (cairn_hdf5_sink){ .overlay.descriptor = -1 };
    sink->driver = H5FDregister(&driver);
    if (sink->driver < 0 || H5Pset_driver(access, sink->driver, &sink) < 0)
        return cairn_hdf5_fail(error, "cannot prepare a file");
    return CAIRN_OK;
}

void cairn_hdf5_sink_detach(cairn_hdf5_sink *sink)
{
    if (sink->driver > 0)
        H5FDunregister(sink->driver);
    sink->driver = 0;
}

/* A failure of its own makes sure that nothing is committed any more. */
void cairn_hdf5_sink_drop(cairn_hdf5_sink *sink)
{
    remember(sink, ECANCELED);
}

cairn_status cairn_hdf5_sink_check(const cairn_hdf5_sink *sink, cairn_error *error)
{
    if (sink->reason == 0)
        return CAIRN_OK;
    if (sink->reason == ENOMEM)
        return CAIRN_NO_MEMORY;
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write: %s",
                      sink->reason == ESTALE ? "it was removed, or replaced by another file"
                                             : strerror(sink->reason));
}

/* ---- whole files ------------------------------------------------------------------------- */

/* The first error counts: one of closing the file is reported only if everything before it
 * succeeded. */
static cairn_status write_part(const char *part, cairn_hdf5_fill_fn *fill, const void *context,
                               cairn_error *error)
{
    hid_t file;
    cairn_hdf5_sink sink = { 0 };
    TRY(cairn_hdf5_create(part, &sink, &file, error));
    cairn_status status = fill(file, context, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_flush(file, error);
    cairn_status closed = cairn_hdf5_close(file, &sink, status == CAIRN_OK ? error : NULL);
    status = status == CAIRN_OK ? closed : status;
    return status == CAIRN_OK ? cairn_hdf5_sink_check(&sink, error) : status;
}

cairn_status cairn_hdf5_write_file(const char *path, cairn_hdf5_fill_fn *fill, const void *context,
                                   cairn_error *error)
{
    char part[CAIRN_PATH_BYTES];
    int length = snprintf(part, sizeof part, "%s.part", path);
    if (length < 0 || length >= CAIRN_PATH_BYTES)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path has %d bytes", length);
    unlink(part); /* so that a link of that name is not followed */
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = write_part(part, fill, context, error);
    cairn_hdf5_quiet_end(quiet);
    if (status == CAIRN_OK)
        return cairn_file_place(part, path, error);
    unlink(part);
    return status;
}
