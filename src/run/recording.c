/* recording.c - see cairn/recording.h.
 *
 * A finished run stays open. One that is under way is opened anew for each call, because its
 * writer changes it: between two commits what the last one left stays as it is (overlay.h), and a
 * commit makes and removes a journal in the folder, which changes the time of the folder. So what
 * was read while that time stood still is of one moment; else it is read again. The writer cannot
 * notice.
 *
 * The writer holds locks of the file and of the folder, which end with it. A file without its final
 * name and without a writer is a run that was killed: it is read in the same way, as a new writer
 * may go on with it. */
#include "cairn/recording.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "cairn/run.h"
#include "io/file.h"
#include "io/hdf5_read.h"
#include "io/overlay.h"
#include "io/recording_describe.h"
#include "io/run_file.h"

enum { ATTEMPTS = 2000, IMAGE_BYTES = 64 << 20 };

struct cairn_recording {
    char given[CAIRN_PATH_BYTES];  /* a folder, or a file                                     */
    char folder[CAIRN_PATH_BYTES]; /* of a run that is under way                              */
    char path[CAIRN_PATH_BYTES];   /* the file                                                */
    bool part;   /* the file has not its final name yet                                       */
    bool killed; /* and nobody writes it any more                                             */
    hid_t file;  /* 0: closed                                                           */
    cairn_arena taken; /* what was read last                                                  */
    cairn_arena scratch;
    char *answer; /* in `taken`                                                               */
    size_t bytes;
};

/* What is done with the open file. */
typedef cairn_status work_fn(cairn_recording *r, void *context, cairn_error *error);

/* ---- a file that changes -------------------------------------------------------------------- */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static double seconds(struct timespec t)
{
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_committing(const cairn_recording *r)
{
    char journal[CAIRN_PATH_BYTES + 16];
    snprintf(journal, sizeof journal, "%s.journal", r->path);
    return access(journal, F_OK) == 0;
}

/* The clock that files get their times from. */
static struct timespec file_clock(void)
{
    struct timespec now;
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* it moves in ticks of some ms */
#else
    clock_gettime(CLOCK_REALTIME, &now);
#endif
    return now;
}

/* Whether nobody is changing the file, and the next change will show in the time of the folder:
 * that clock has moved on since the last one. */
static bool is_settled(const cairn_recording *r, struct timespec *stamp)
{
    struct stat about;
    struct timespec now = file_clock();
    if (stat(r->folder, &about) != 0)
        return false;
    *stamp = about.st_mtim;
    bool later =
        now.tv_sec > stamp->tv_sec || (now.tv_sec == stamp->tv_sec && now.tv_nsec > stamp->tv_nsec);
    return later && !is_committing(r);
}

static bool is_unchanged(const cairn_recording *r, struct timespec stamp)
{
    struct stat about;
    return !is_committing(r) && stat(r->folder, &about) == 0 &&
           about.st_mtim.tv_sec == stamp.tv_sec && about.st_mtim.tv_nsec == stamp.tv_nsec;
}

/* Its writer holds a lock, which readers need not mind. */
static hid_t open_growing(const char *path)
{
    hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access_list, false, true);
#endif
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access_list);
    H5Pclose(access_list);
    return file;
}

/* A file that was read into memory as a whole. HDF5 wants a name for it that no file has. */
static hid_t open_image(void *image, size_t bytes)
{
    enum { STEP = 1 << 16 };
    hid_t access_list = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (H5Pset_fapl_core(access_list, STEP, false) >= 0 &&
        H5Pset_file_image(access_list, image, bytes) >= 0)
        file = H5Fopen("/a run in memory", H5F_ACC_RDONLY, access_list);
    H5Pclose(access_list);
    return file;
}

static void close_file(cairn_recording *r)
{
    if (r->file > 0)
        H5Fclose(r->file);
    r->file = 0;
}

/* ---- which file ----------------------------------------------------------------------------- */

/* When a file was written last; -1: there is none. */
static double written_at(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? seconds(about.st_mtim) : -1;
}

/* The folder of a file: all before its last slash. */
static void find_folder(const char *path, char *folder)
{
    snprintf(folder, CAIRN_PATH_BYTES, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash && slash > folder)
        *slash = '\0';
    else
        snprintf(folder, CAIRN_PATH_BYTES, slash ? "/" : ".");
}

/* run.h5, or run.h5.part of a run that began after it was written. */
static cairn_status find_file(cairn_recording *r, cairn_error *error)
{
    char part[CAIRN_PATH_BYTES], whole[CAIRN_PATH_BYTES];
    size_t length = strlen(r->given);
    bool folder = cairn_is_folder(r->given);
    if (folder) {
        TRY(cairn_path_join(r->given, "run.h5.part", part, error));
        TRY(cairn_path_join(r->given, "run.h5", whole, error));
        r->part = written_at(part) >= 0 && written_at(part) >= written_at(whole);
    } else {
        r->part =
            length > 5 && strcmp(r->given + length - 5, ".part") == 0 && cairn_is_file(r->given);
        snprintf(part, sizeof part, "%s", r->given);
    }
    if (!r->part)
        return cairn_run_find_file(r->given, r->path, error);
    snprintf(r->path, sizeof r->path, "%s", part);
    find_folder(r->path, r->folder);
    return CAIRN_OK;
}

/* Refuse what is no run, and open it to stay. */
static cairn_status open_finished(cairn_recording *r, cairn_error *error)
{
    cairn_run_info info;
    TRY(cairn_run_read_info(r->path, &info, error));
    cairn_error_set_file(error, r->path);
    cairn_status status = cairn_hdf5_open(r->path, &r->file, error);
    if (status != CAIRN_OK)
        r->file = 0;
    return status;
}

/* ---- is it written by anyone ---------------------------------------------------------------- */

/* Between closing the file and giving it its name the writer holds the lock of the folder alone,
 * which some network file systems do not know. */
static bool has_writer(const cairn_recording *r)
{
    return cairn_lock_look(r->path) != CAIRN_LOCK_FREE ||
           cairn_lock_look(r->folder) == CAIRN_LOCK_TAKEN;
}

/* A run that was killed while it committed has left its journal: finish that. */
static cairn_status see_writer(cairn_recording *r, cairn_error *error)
{
    r->killed = !has_writer(r);
    return r->killed && is_committing(r) ? cairn_overlay_recover(r->path, error) : CAIRN_OK;
}

/* ---- doing something with it ---------------------------------------------------------------- */

static int64_t bytes_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : INT64_MAX;
}

typedef struct job {
    work_fn *work;
    void *context;
} job;

/* The same with a copy in memory: a small run commits more often than its file can be looked
 * through, but not more often than it can be copied. */
static bool attempt_image(cairn_recording *r, struct timespec stamp, job todo, cairn_status *status,
                          cairn_error *error)
{
    void *image;
    size_t bytes;
    *status = cairn_file_read(r->path, &image, &bytes, error);
    if (*status != CAIRN_OK)
        return *status == CAIRN_NO_MEMORY;
    bool same = is_unchanged(r, stamp);
    if (same) {
        r->file = open_image(image, bytes);
        *status = r->file > 0 ? todo.work(r, todo.context, error) : CAIRN_BAD_INPUT;
        close_file(r);
    }
    cairn_memory_free(image);
    return same;
}

/* One try with a file that changes; false: what was found is not of one moment. */
static bool attempt(cairn_recording *r, work_fn *work, void *context, cairn_status *status,
                    cairn_error *error)
{
    struct timespec stamp;
    if (!is_settled(r, &stamp))
        return false;
    if (bytes_of(r->path) <= IMAGE_BYTES)
        return attempt_image(r, stamp, (job){ work, context }, status, error);
    r->file = open_growing(r->path);
    *status = r->file > 0 ? work(r, context, error) : CAIRN_BAD_INPUT;
    close_file(r);
    return is_unchanged(r, stamp);
}

static cairn_status do_growing(cairn_recording *r, work_fn *work, void *context, cairn_error *error)
{
    cairn_status status = CAIRN_IO_FAILED;
    for (int i = 0; i < ATTEMPTS && written_at(r->path) >= 0; i++) {
        cairn_error found = { 0 };
        TRY(see_writer(r, error));
        if (attempt(r, work, context, &status, &found)) {
            if (error && status != CAIRN_OK)
                *error = found;
            return status;
        }
        pause_shortly();
    }
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "the run writes faster than it can be read");
}

/* A run that was under way has got its name: open it to stay. */
static cairn_status end_growing(cairn_recording *r, cairn_error *error)
{
    TRY(find_file(r, error));
    return r->part ? CAIRN_OK : open_finished(r, error);
}

/* Do it with the file of the run as it is now. */
static cairn_status do_with(cairn_recording *r, work_fn *work, void *context, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = r->part ? do_growing(r, work, context, error) : CAIRN_OK;
    bool ended = r->part && status != CAIRN_OK && written_at(r->path) < 0;
    if (ended)
        status = end_growing(r, error);
    if (status == CAIRN_OK && !r->part)
        status = work(r, context, error);
    else if (status == CAIRN_OK && ended) /* another run has begun there */
        status = do_growing(r, work, context, error);
    cairn_hdf5_quiet_end(quiet);
    return status;
}

static cairn_status see_frames(cairn_recording *r, void *context, cairn_error *error)
{
    hid_t frames;
    (void)context;
    TRY(cairn_hdf5_open_group(r->file, "frames", &frames, error));
    bool good = cairn_hdf5_has(frames, "time");
    H5Gclose(frames);
    return good ? CAIRN_OK
                : cairn_fail(error, CAIRN_BAD_INPUT, "frames/time", "expected a run of cairn");
}

static cairn_status open_recording(cairn_recording *r, const char *path, cairn_error *error)
{
    if (strlen(path) >= sizeof r->given)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path is too long");
    strcpy(r->given, path);
    TRY(find_file(r, error));
    cairn_error_set_file(error, r->path);
    if (!r->part)
        TRY(open_finished(r, error));
    return do_with(r, see_frames, NULL, error);
}

cairn_status cairn_recording_open(const char *path, cairn_recording **out, cairn_error *error)
{
    *out = cairn_memory_zeroed(1, sizeof **out);
    if (!*out)
        return CAIRN_NO_MEMORY;
    cairn_status status = open_recording(*out, path, error);
    if (status != CAIRN_OK) {
        cairn_recording_close(*out);
        *out = NULL;
    }
    return status;
}

void cairn_recording_close(cairn_recording *r)
{
    if (!r)
        return;
    close_file(r);
    cairn_arena_destroy(&r->taken);
    cairn_arena_destroy(&r->scratch);
    cairn_memory_free(r);
}

bool cairn_recording_grows(const cairn_recording *r)
{
    return r->part && !r->killed;
}

bool cairn_recording_interrupted(const cairn_recording *r)
{
    return r->part && r->killed;
}

/* ---- describing ----------------------------------------------------------------------------- */

static cairn_status describe(cairn_recording *r, void *context, cairn_error *error)
{
    FILE *out = context;
    cairn_arena_reset(&r->scratch);
    rewind(out);
    const cairn_recording_state state = { cairn_recording_grows(r),
                                          cairn_recording_interrupted(r) };
    TRY(cairn_recording_write(r->file, state, &r->scratch, out, error));
    /* an attempt before may have been longer */
    bool good = fflush(out) == 0 && ftruncate(fileno(out), ftello(out)) == 0;
    return good ? CAIRN_OK : cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write");
}

cairn_status cairn_recording_describe(cairn_recording *r, FILE *out, cairn_error *error)
{
    return do_with(r, describe, out, error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct request {
    const cairn_recording_rows *rows;
    int parts;
} request;

static size_t number_bytes(cairn_number_type type)
{
    return type == CAIRN_NUMBER_DOUBLE ? 8 : 4;
}

/* Open the group of a column; `name` is what follows its last slash. */
static cairn_status open_parent(cairn_recording *r, const char *column, hid_t *out,
                                const char **name, cairn_error *error)
{
    char group[128];
    const char *slash = strrchr(column, '/');
    if (!slash || (size_t)(slash - column) >= sizeof group)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "expected the path of a column");
    snprintf(group, sizeof group, "%.*s", (int)(slash - column), column);
    *name = slash + 1;
    return cairn_hdf5_open_group(r->file, group, out, error);
}

/* What a column is; one without width is none. */
static cairn_recording_column look(hid_t group, const char *name)
{
    hsize_t extent[2] = { 0, 1 };
    hid_t dataset = cairn_hdf5_has(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
    bool good = (kind == H5T_INTEGER || kind == H5T_FLOAT) && (rank == 1 || rank == 2) &&
                H5Sget_simple_extent_dims(space, extent, NULL) == rank && extent[1] < 1024;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return (cairn_recording_column){ (int64_t)extent[0], good ? (int)extent[1] : 0,
                                     kind == H5T_INTEGER };
}

/* Room behind what was read before, in whole steps of 8 bytes. */
static cairn_status extend(cairn_recording *r, size_t bytes, void **out, cairn_error *error)
{
    size_t padded = (bytes + 7) / 8 * 8;
    if (padded > CAIRN_RECORDING_MOST_BYTES - r->bytes)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "more than %d bytes at once",
                          CAIRN_RECORDING_MOST_BYTES);
    *out = r->answer + r->bytes;
    memset((char *)*out + padded - 8 * (padded > 0), 0, padded > 0 ? 8 : 0);
    r->bytes += padded;
    return CAIRN_OK;
}

static cairn_status copy_numbers(cairn_recording *r, const cairn_recording_rows *rows, int width,
                                 const void *data, cairn_error *error)
{
    size_t count = (size_t)rows->count * (size_t)width;
    void *to = NULL;
    TRY(extend(r, count * number_bytes(rows->type), &to, error));
    if (rows->type != CAIRN_NUMBER_FLOAT) {
        memcpy(to, data, count * number_bytes(rows->type));
        return CAIRN_OK;
    }
    float *numbers = to;
    const double *from = data;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)from[i];
    return CAIRN_OK;
}

static cairn_status read_part(cairn_recording *r, const cairn_recording_rows *rows,
                              cairn_error *error)
{
    hid_t group;
    const char *name = "";
    const void *data = NULL;
    if (rows->count < 0 || rows->count > CAIRN_RECORDING_MOST_BYTES)
        return cairn_fail(error, CAIRN_UNSUPPORTED, rows->column, "too many rows at once");
    TRY(open_parent(r, rows->column, &group, &name, error));
    cairn_hdf5_slab slab = { name,
                             rows->type == CAIRN_NUMBER_INT ? CAIRN_HDF5_INT : CAIRN_HDF5_REAL,
                             look(group, name).width, rows->first, rows->count };
    double bytes = (double)rows->count * slab.width * (double)number_bytes(rows->type);
    cairn_status status = CAIRN_OK;
    if (bytes > CAIRN_RECORDING_MOST_BYTES)
        status = cairn_fail(error, CAIRN_UNSUPPORTED, rows->column, "too many rows at once");
    cairn_arena_reset(&r->scratch);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read_slab(group, &slab, &r->scratch, &data, error);
    H5Gclose(group);
    TRY(status);
    return copy_numbers(r, rows, slab.width, data, error);
}

static cairn_status read_parts(cairn_recording *r, void *context, cairn_error *error)
{
    const request *wanted = context;
    r->bytes = 0;
    for (int i = 0; i < wanted->parts; i++)
        TRY(read_part(r, &wanted->rows[i], error));
    return CAIRN_OK;
}

cairn_status cairn_recording_read(cairn_recording *r, const cairn_recording_rows *rows, int parts,
                                  const void **data, size_t *bytes, cairn_error *error)
{
    request wanted = { rows, parts };
    if (!r->answer) /* memory that nobody writes to is never really taken */
        r->answer = cairn_arena_take(&r->taken, CAIRN_RECORDING_MOST_BYTES, 1);
    if (!r->answer)
        return CAIRN_NO_MEMORY;
    TRY(do_with(r, read_parts, &wanted, error));
    *data = r->answer;
    *bytes = r->bytes;
    return CAIRN_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

typedef struct question {
    const char *column;
    cairn_recording_column *out;
} question;

static cairn_status look_at(cairn_recording *r, void *context, cairn_error *error)
{
    const question *q = context;
    hid_t group;
    const char *name = "";
    *q->out = (cairn_recording_column){ 0 };
    if (open_parent(r, q->column, &group, &name, error) == CAIRN_OK) {
        *q->out = look(group, name);
        H5Gclose(group);
    }
    return q->out->width > 0
               ? CAIRN_OK
               : cairn_fail(error, CAIRN_NOT_FOUND, q->column, "there is no such column");
}

cairn_status cairn_recording_look(cairn_recording *r, const char *column,
                                  cairn_recording_column *out, cairn_error *error)
{
    question q = { column, out };
    return do_with(r, look_at, &q, error);
}
