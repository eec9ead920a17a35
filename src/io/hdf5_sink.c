/* hdf5_sink.c - see hdf5_sink.h. */
#include "io/hdf5_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "io/file.h"
#include "io/hdf5.h"

/* Later versions of HDF5 declare drivers in a header of their own and number them. */
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#define DRIVER_VERSION .version = H5FD_CLASS_VERSION, .value = 600,
#else
#define DRIVER_VERSION
#endif

static void remember(cairn_hdf5_sink *sink, int reason)
{
    if (sink->reason == 0)
        sink->reason = reason;
}

/* The length of a file that goes on, 0 of one that starts anew; false: errno says why. */
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

/* One writer a file: truncate only what no one else writes to. */
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

/* All that was written counts from here on; after a failure the file stays as it was. */
static herr_t sink_flush(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    if (sink->reason == 0)
        remember(sink, cairn_overlay_commit(&sink->overlay, sink->end_of_space));
    return 0;
}

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

static herr_t sink_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

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

static haddr_t sink_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const cairn_hdf5_sink *)file)->end_of_file;
}

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
    if (address + size > sink->end_of_file)
        sink->end_of_file = address + size;
    if (sink->reason == 0)
        remember(sink, cairn_overlay_write(&sink->overlay, address, size, buffer));
    return 0;
}

/* The file is cut, or made longer, when it is committed. */
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
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write: %s", strerror(sink->reason));
}
