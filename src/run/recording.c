/* recording.c - reads a run, finished or in progress: rows of its columns, and a description of
 * what its file holds. See cairn/run.h.
 *
 * A finished run stays open. A run in progress is opened again for each call, because its writer
 * changes the file. Between two commits, the bytes that the last one left do not change
 * (file/file.h). A commit creates and removes a journal in the folder, which changes the
 * modification time of the folder. So everything that was read while this time did not change
 * belongs to one state of the file; otherwise it is read again. The writer does not notice the
 * reader and never waits for it.
 *
 * The writer holds locks of the file and of the folder, which end with its process. A file without
 * its final name and without a writer belongs to a run that was killed. It is read in the same way,
 * since a new writer may continue it at any time. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/run.h"
#include "file/file.h"
#include "file/hdf5.h"
#include "run/run_file.h"

/* ---- what a file holds, as JSON ---------------------------------------------------------- */

/* Checksums and certificates are left out: they are for programs that check a run, and can be
 * larger than everything else. */

/* Whether a run is still being written. */
typedef struct run_state {
    bool grows;       /* it is in progress */
    bool interrupted; /* its program ended before the run did */
} run_state;

/* Limits: numbers of an attribute, bytes of a path in the file, depth of groups. Run files of cairn
 * stay far below them; a file from elsewhere may not, and is then described in part. */
enum { MOST_VALUES = 64, LONGEST_PATH = 160, DEEPEST = 4 };

/* State of a walk through all groups of a file, passed through the callbacks of HDF5. The first
 * failure ends the walk and stays in `status`. */
typedef struct walk {
    cairn_json json;
    cairn_arena *scratch;
    cairn_error *error;
    cairn_status status;
    bool texts;              /* whether columns of texts are listed, or those of numbers */
    char path[LONGEST_PATH]; /* of the current object, without a leading slash */
    int depth;               /* of the current group, 0: the root */
} walk;

/* ---- attributes ----------------------------------------------------------------------------- */

/* Read the numbers of an attribute and return how many there are; -1: it has no numbers, or too
 * many. */
static int attribute_numbers(hid_t object, const char *name, double *values)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    bool good = count >= 0 && count <= MOST_VALUES &&
                cairn_hdf5_read_reals_attribute(object, name, (int)count, values);
    return good ? (int)count : -1;
}

/* Callback of H5Aiterate2; a negative result ends the iteration. The type of an attribute is found
 * by trying: numbers first, then text. The text of the scene is the longest one. */
static herr_t write_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    walk *w = context;
    double values[MOST_VALUES];
    enum { LONGEST = 1 << 20 };
    (void)info;
    int count = attribute_numbers(object, name, values);
    if (count == 1)
        cairn_json_real(&w->json, name, values[0]);
    else if (count >= 0)
        cairn_json_reals(&w->json, name, values, count);
    else {
        cairn_arena_moment before = cairn_arena_now(w->scratch);
        char *text = cairn_arena_take(w->scratch, LONGEST, 1);
        if (!text)
            w->status = CAIRN_NO_MEMORY;
        else if (cairn_hdf5_read_text_attribute(object, name, text, LONGEST) == CAIRN_OK)
            cairn_json_text(&w->json, name, text);
        cairn_arena_return(w->scratch, before);
    }
    return w->status == CAIRN_OK ? 0 : -1;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* The meaning of the values of a column, from its attribute `names`. */
static cairn_status write_names(walk *w, hid_t dataset)
{
    if (H5Aexists(dataset, "names") <= 0)
        return CAIRN_OK;
    cairn_hdf5_text_list names;
    TRY(cairn_hdf5_read_names(dataset, w->scratch, &names, w->error));
    cairn_json_texts(&w->json, "names", names.items, names.count);
    return CAIRN_OK;
}

/* Describe a column of numbers. Datasets with another rank than 1 or 2 are no columns and are left
 * out. */
static cairn_status write_numbers(walk *w, hid_t dataset, bool whole)
{
    hsize_t extent[2] = { 0, 1 };
    char unit[32] = "";
    hid_t space = H5Dget_space(dataset);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
    bool good = (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    if (space >= 0)
        H5Sclose(space);
    if (!good)
        return CAIRN_OK;
    cairn_hdf5_read_text_attribute(dataset, "unit", unit, sizeof unit);
    cairn_json_begin(&w->json, w->path);
    cairn_json_integer(&w->json, "rows", (int64_t)extent[0]);
    cairn_json_integer(&w->json, "width", (int64_t)extent[1]);
    cairn_json_flag(&w->json, "whole", whole);
    cairn_json_text(&w->json, "unit", unit);
    cairn_status status = write_names(w, dataset);
    cairn_json_end(&w->json);
    return status;
}

static cairn_status write_texts(walk *w, hid_t group, const char *name)
{
    cairn_hdf5_text_list texts;
    TRY(cairn_hdf5_read_texts(group, name, w->scratch, &texts, w->error));
    cairn_json_texts(&w->json, w->path, texts.items, texts.count);
    return CAIRN_OK;
}

/* Describe a dataset if it is of the kind that this walk lists. Scratch memory is returned after
 * each column, so that the memory does not grow with their number. */
static cairn_status write_column(walk *w, hid_t group, const char *name)
{
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return cairn_fail(w->error, CAIRN_BAD_INPUT, name, "expected a dataset");
    hid_t type = H5Dget_type(dataset);
    H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    cairn_arena_moment before = cairn_arena_now(w->scratch);
    cairn_status status = CAIRN_OK;
    if (w->texts && kind == H5T_STRING)
        status = write_texts(w, group, name);
    if (!w->texts && (kind == H5T_INTEGER || kind == H5T_FLOAT))
        status = write_numbers(w, dataset, kind == H5T_INTEGER);
    cairn_arena_return(w->scratch, before);
    if (type >= 0)
        H5Tclose(type);
    H5Dclose(dataset);
    return status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *context);

/* Visit the members of a group, sorted by name, so that the output does not depend on the order of
 * creation. */
static void visit_group(walk *w, hid_t group)
{
    hsize_t position = 0;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, visit, w) < 0 &&
        w->status == CAIRN_OK)
        w->status = cairn_fail(w->error, CAIRN_BAD_INPUT, w->path, "cannot list what it holds");
}

static void visit_below(walk *w, hid_t group, const char *name)
{
    hid_t below = w->depth < DEEPEST ? H5Gopen2(group, name, H5P_DEFAULT) : -1;
    if (below < 0)
        return;
    w->depth++;
    visit_group(w, below);
    w->depth--;
    H5Gclose(below);
}

/* By the path from the root, so that only the two top-level groups are meant. */
static bool is_left_out(const char *path)
{
    return strcmp(path, "checksums") == 0 || strcmp(path, "certificate") == 0;
}

/* Callback of H5Literate. The name is appended to the path for the time of the visit. */
static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    walk *w = context;
    size_t length = strlen(w->path);
    H5O_info_t about;
    (void)link;
    int more = snprintf(w->path + length, sizeof w->path - length, "%s%s", length ? "/" : "", name);
    bool fits = more > 0 && (size_t)more < sizeof w->path - length;
    if (fits && !is_left_out(w->path) &&
        H5Oget_info_by_name(group, name, &about, H5P_DEFAULT) >= 0) {
        if (about.type == H5O_TYPE_GROUP)
            visit_below(w, group, name);
        else if (about.type == H5O_TYPE_DATASET && w->status == CAIRN_OK)
            w->status = write_column(w, group, name);
    }
    w->path[length] = '\0';
    return w->status == CAIRN_OK ? 0 : -1;
}

/* ---- the document --------------------------------------------------------------------------- */

/* Two walks, because JSON needs the columns of numbers and those of texts in two separate
 * objects. */
static void write_columns(walk *w, hid_t file, const char *key, bool texts)
{
    if (w->status != CAIRN_OK)
        return;
    w->texts = texts;
    cairn_json_begin(&w->json, key);
    visit_group(w, file);
    cairn_json_end(&w->json);
}

static cairn_status write_document(hid_t file, run_state state, cairn_arena *scratch, FILE *out,
                                   cairn_error *error)
{
    walk w = { .json = { .out = out }, .scratch = scratch, .error = error };
    hsize_t position = 0;
    cairn_json_begin(&w.json, NULL);
    cairn_json_flag(&w.json, "grows", state.grows);
    cairn_json_flag(&w.json, "interrupted", state.interrupted);
    cairn_json_begin(&w.json, "attributes");
    if (H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &position, write_attribute, &w) < 0 &&
        w.status == CAIRN_OK)
        w.status = cairn_fail(error, CAIRN_BAD_INPUT, NULL, "cannot read its attributes");
    cairn_json_end(&w.json);
    write_columns(&w, file, "columns", false);
    write_columns(&w, file, "texts", true);
    cairn_json_end(&w.json);
    return w.status;
}

/* ---- recordings -------------------------------------------------------------------------- */

/* Attempts of 1 ms each before a reader gives up, and the largest file that is copied as a
 * whole. */
enum { ATTEMPTS = 2000, IMAGE_BYTES = 64 << 20 };

struct cairn_recording {
    char given[CAIRN_PATH_BYTES];  /* the path that the caller gave: a folder or a file */
    char folder[CAIRN_PATH_BYTES]; /* of the run file, if the run is in progress */
    char path[CAIRN_PATH_BYTES];   /* of the run file                                         */
    bool part;                     /* the file does not have its final name yet */
    bool killed;                   /* and no process is writing it */
    hid_t file;        /* 0: closed                                                           */
    cairn_arena taken; /* holds `answer` */
    cairn_arena scratch;
    char *answer; /* result of the last cairn_recording_read */
    size_t bytes;
};

/* An operation on the open file. It may be called several times, until it saw one consistent state,
 * so it must overwrite its result each time. */
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

/* The journal exists exactly while a commit changes the file, or after its writer was killed in
 * one. */
static bool is_committing(const cairn_recording *r)
{
    char journal[CAIRN_PATH_BYTES + 16];
    snprintf(journal, sizeof journal, "%s.journal", r->path);
    return access(journal, F_OK) == 0;
}

/* The clock from which the kernel takes the times of files. On Linux it advances in ticks of some
 * milliseconds, so two changes within a tick get the same time. */
static struct timespec file_clock(void)
{
    struct timespec now;
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the coarse clock, as the file system uses it */
#else
    clock_gettime(CLOCK_REALTIME, &now);
#endif
    return now;
}

/* Whether no commit is in progress, and the next one will change the time of the folder: the clock
 * has advanced since the last change. Otherwise a second change in the same tick would not be
 * visible. `stamp` receives the time of the folder. */
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

/* Whether no commit has begun since is_settled() returned `stamp`. */
static bool is_unchanged(const cairn_recording *r, struct timespec stamp)
{
    struct stat about;
    return !is_committing(r) && stat(r->folder, &about) == 0 &&
           about.st_mtim.tv_sec == stamp.tv_sec && about.st_mtim.tv_nsec == stamp.tv_nsec;
}

/* Open the file without taking a lock. The writer holds one, which would make HDF5 refuse to open
 * the file; consistency is checked by is_unchanged() instead. */
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

/* Open a copy of a file in memory. HDF5 requires a name for it, which must not be that of an open
 * file. */
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

/* Modification time of a file (s); -1: there is none. */
static double written_at(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? seconds(about.st_mtim) : -1;
}

/* The folder of a file: everything before the last slash; "." without a slash, "/" for files in the
 * root. */
static void find_folder(const char *path, char *folder)
{
    snprintf(folder, CAIRN_PATH_BYTES, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash && slash > folder)
        *slash = '\0';
    else
        snprintf(folder, CAIRN_PATH_BYTES, slash ? "/" : ".");
}

/* Choose the file: run.h5, or run.h5.part if it was written later than run.h5. A new run in the
 * folder of an old one writes run.h5.part and leaves run.h5 until it ends. */
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

/* Refuse files that are not runs, and keep the file open until the recording is closed. */
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

/* ---- does a process write it ----------------------------------------------------------------- */

/* Between closing the file and renaming it, the writer holds only the lock of the folder. Some
 * network file systems do not support locks of folders; an unknown state of the folder counts as no
 * writer, an unknown state of the file as a writer. */
static bool has_writer(const cairn_recording *r)
{
    return cairn_lock_look(r->path) != CAIRN_LOCK_FREE ||
           cairn_lock_look(r->folder) == CAIRN_LOCK_TAKEN;
}

/* Determine whether the run was killed. If it was killed during a commit, its journal is still
 * there: complete the commit, since no writer will. */
static cairn_status see_writer(cairn_recording *r, cairn_error *error)
{
    r->killed = !has_writer(r);
    return r->killed && is_committing(r) ? cairn_overlay_recover(r->path, error) : CAIRN_OK;
}

/* ---- doing something with it ---------------------------------------------------------------- */

/* A file that cannot be examined counts as too large to copy. */
static int64_t bytes_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : INT64_MAX;
}

typedef struct job {
    work_fn *work;
    void *context;
} job;

/* The same with a copy of the file in memory. A small run commits more often than its file can be
 * searched by HDF5, but not more often than it can be copied. Returns true if the result is
 * final. */
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

/* One attempt with a file that may change; false: what was read is not of one state. `status` is
 * meaningful only with true: a file that changes while it is read may look damaged. */
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

/* Repeat until an attempt sees one state of the file, or the file is gone because the run ended and
 * renamed it. Errors of failed attempts are dropped. */
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

/* The run that was in progress has ended, and its file has its final name: open it and keep it
 * open. */
static cairn_status end_growing(cairn_recording *r, cairn_error *error)
{
    TRY(find_file(r, error));
    return r->part ? CAIRN_OK : open_finished(r, error);
}

/* Apply an operation to the current state of the run. If the run ended meanwhile, it is applied to
 * the finished file. */
static cairn_status do_with(cairn_recording *r, work_fn *work, void *context, cairn_error *error)
{
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = r->part ? do_growing(r, work, context, error) : CAIRN_OK;
    bool ended = r->part && status != CAIRN_OK && written_at(r->path) < 0;
    if (ended)
        status = end_growing(r, error);
    if (status == CAIRN_OK && !r->part)
        status = work(r, context, error);
    else if (status == CAIRN_OK && ended) /* another run has already begun in the same folder */
        status = do_growing(r, work, context, error);
    cairn_hdf5_quiet_end(quiet);
    return status;
}

/* A cheap test that the file is a run: every run has frames from its first flush on. */
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
    const run_state state = { cairn_recording_grows(r), cairn_recording_interrupted(r) };
    TRY(write_document(r->file, state, &r->scratch, out, error));
    /* an earlier attempt may have written a longer text */
    bool good = fflush(out) == 0 && ftruncate(fileno(out), ftello(out)) == 0;
    return good ? CAIRN_OK : cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write");
}

cairn_status cairn_recording_describe(cairn_recording *r, FILE *out, cairn_error *error)
{
    return do_with(r, describe, out, error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The ranges of rows of one call, for do_with. */
typedef struct request {
    const cairn_recording_rows *rows;
    int parts;
} request;

/* Floats and int32_t have 4 bytes. */
static size_t number_bytes(cairn_number_type type)
{
    return type == CAIRN_NUMBER_DOUBLE ? 8 : 4;
}

/* Open the group of a column. `name` receives the part of the path after the last slash. Columns in
 * the root are refused: a run has none. */
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

/* Rows and width of a column; width 0: there is no such column of numbers. The limit on the width
 * keeps products of rows and width far from overflow. */
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

/* Append `bytes` bytes to the answer, padded to a multiple of 8 so that every range is aligned for
 * doubles. The last 8 bytes are cleared first, so that the padding is 0. */
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

/* Floats are converted here: half the size is enough for drawing. Other types were read as they
 * are. */
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
    /* In double, because the product of two numbers from the caller and the file may overflow an
     * integer. */
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

/* May run more than once, see work_fn: the answer starts again at 0. */
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
    /* The whole limit is reserved at once, so that the answer never moves; the operating system
     * assigns pages only when they are written. */
    if (!r->answer)
        r->answer = cairn_arena_take(&r->taken, CAIRN_RECORDING_MOST_BYTES, 1);
    if (!r->answer)
        return CAIRN_NO_MEMORY;
    TRY(do_with(r, read_parts, &wanted, error));
    *data = r->answer;
    *bytes = r->bytes;
    return CAIRN_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

/* The column of one call of cairn_recording_look, for do_with. */
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

/* ---- texts ---------------------------------------------------------------------------------- */

typedef struct text_question {
    const char *column;
    cairn_hdf5_text_list out;
} text_question;

/* The texts stay in the scratch memory, which later calls reset. */
static cairn_status read_texts(cairn_recording *r, void *context, cairn_error *error)
{
    text_question *q = context;
    hid_t group;
    const char *name = "";
    q->out = (cairn_hdf5_text_list){ NULL, 0 };
    cairn_arena_reset(&r->scratch);
    if (open_parent(r, q->column, &group, &name, NULL) != CAIRN_OK)
        return CAIRN_OK;
    cairn_status status = cairn_hdf5_has(group, name)
                              ? cairn_hdf5_read_texts(group, name, &r->scratch, &q->out, error)
                              : CAIRN_OK;
    H5Gclose(group);
    return status;
}

cairn_status cairn_recording_texts(cairn_recording *r, const char *column,
                                   const char *const **texts, int *count, cairn_error *error)
{
    text_question q = { .column = column };
    *texts = NULL;
    *count = 0;
    TRY(do_with(r, read_texts, &q, error));
    *texts = q.out.items;
    *count = q.out.count;
    return CAIRN_OK;
}
