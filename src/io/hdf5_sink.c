/* hdf5_sink.c - see hdf5_sink.h. */
#include "io/hdf5_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/status.h"
#include "io/hdf5.h"

/* Later versions of HDF5 declare drivers in a header of their own and number them. */
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#define DRIVER_VERSION .version = H5FD_CLASS_VERSION, .value = 600,
#else
#define DRIVER_VERSION
#endif

static void remember(cairn_hdf5_sink *sink)
{
    if (sink->reason == 0)
        sink->reason = errno;
}

/* One writer a file: truncate only what no one else writes to. */
static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    (void)flags, (void)limit;
    cairn_hdf5_sink *sink = *(cairn_hdf5_sink *const *)H5Pget_driver_info(access);
    int descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool busy =
        descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (descriptor >= 0 && !busy && ftruncate(descriptor, 0) == 0) {
        sink->descriptor = descriptor;
        sink->end_of_space = sink->end_of_file = 0;
        return &sink->common;
    }
    remember(sink);
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

static herr_t sink_close(H5FD_t *file)
{
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    if (close(sink->descriptor) != 0)
        remember(sink);
    sink->descriptor = -1;
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

/* What was never written reads as zeros, as in any file. */
static herr_t sink_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
    (void)type, (void)transfer;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    char *next = buffer;
    while (size > 0) {
        ssize_t got = pread(sink->descriptor, next, size, (off_t)address);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            remember(sink);
        if (got <= 0)
            break;
        next += got;
        address += (haddr_t)got;
        size -= (size_t)got;
    }
    memset(next, 0, size);
    return 0;
}

static herr_t sink_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer)
{
    (void)type, (void)transfer;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    const char *next = buffer;
    if (address + size > sink->end_of_file)
        sink->end_of_file = address + size;
    while (size > 0 && sink->reason == 0) {
        ssize_t put = pwrite(sink->descriptor, next, size, (off_t)address);
        if (put == 0)
            errno = ENOSPC;
        if (put == 0 || (put < 0 && errno != EINTR))
            remember(sink);
        if (put <= 0)
            continue;
        next += put;
        address += (haddr_t)put;
        size -= (size_t)put;
    }
    return 0;
}

static herr_t sink_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    cairn_hdf5_sink *sink = (cairn_hdf5_sink *)file;
    if (sink->end_of_space == sink->end_of_file)
        return 0;
    if (sink->reason == 0 && ftruncate(sink->descriptor, (off_t)sink->end_of_space) != 0)
        remember(sink);
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
    .truncate = sink_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

cairn_status cairn_hdf5_sink_attach(cairn_hdf5_sink *sink, hid_t access, cairn_error *error)
{
    *sink = (cairn_hdf5_sink){ .descriptor = -1 };
    hid_t id = H5FDregister(&driver);
    if (id < 0)
        return cairn_hdf5_fail(error, "cannot prepare a file");
    cairn_status status = CAIRN_OK;
    if (H5Pset_driver(access, id, &sink) < 0)
        status = cairn_hdf5_fail(error, "cannot prepare a file");
    H5FDunregister(id); /* the list and the file keep their own hold on it */
    return status;
}

cairn_status cairn_hdf5_sink_check(const cairn_hdf5_sink *sink, cairn_error *error)
{
    if (sink->reason == 0)
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write: %s", strerror(sink->reason));
}
