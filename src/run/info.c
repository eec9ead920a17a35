/* info.c - reads what a run file says about itself, including a file that a crash left unfinished:
 * counts come from the columns, not from totals, which only a complete file has. The file may be
 * anything, so every type and size is checked before it is read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/common.h"
#include "file/file.h"
#include "file/hdf5.h"
#include "run/run_file.h"

/* ---- attributes ---------------------------------------------------------------------------- */

/* The message names the attribute and what was expected of it. */
static cairn_status bad_attribute(cairn_error *error, const char *name, const char *expected)
{
    return cairn_fail(error, CAIRN_BAD_INPUT, name, "expected the root attribute '%s' to be %s",
                      name, expected);
}

/* An attribute that is missing and one that is not a text get different messages. */
static cairn_status read_text(hid_t file, const char *name, char *text, size_t capacity,
                              cairn_error *error)
{
    text[0] = '\0';
    cairn_status status = cairn_hdf5_read_text_attribute(file, name, text, capacity);
    if (status == CAIRN_OK || status == CAIRN_NO_MEMORY)
        return status;
    return bad_attribute(error, name, status == CAIRN_NOT_FOUND ? "there" : "a text");
}

/* Read a scalar attribute of any numeric type, converted to `type` by HDF5. */
static cairn_status read_number(hid_t file, const char *name, hid_t type, void *out,
                                cairn_error *error)
{
    hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return bad_attribute(error, name, "there");
    hid_t space = H5Aget_space(attribute);
    bool good = H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, type, out) >= 0;
    H5Sclose(space);
    H5Aclose(attribute);
    return good ? CAIRN_OK : bad_attribute(error, name, "a number");
}

/* ---- columns ------------------------------------------------------------------------------- */

/* An open column with one number a row. It is read in pieces, so that memory does not depend on the
 * length of the run. */
typedef struct column {
    hid_t dataset, space;
    hsize_t rows;
} column;

static void close_column(column *c)
{
    if (c->space >= 0)
        H5Sclose(c->space);
    if (c->dataset >= 0)
        H5Dclose(c->dataset);
}

/* On failure nothing is open. */
static cairn_status open_column(hid_t file, const char *name, column *out, cairn_error *error)
{
    column c = { H5Dopen2(file, name, H5P_DEFAULT), -1, 0 };
    if (c.dataset >= 0)
        c.space = H5Dget_space(c.dataset);
    if (c.space >= 0 && H5Sget_simple_extent_ndims(c.space) == 1 &&
        H5Sget_simple_extent_dims(c.space, &c.rows, NULL) == 1) {
        *out = c;
        return CAIRN_OK;
    }
    close_column(&c);
    return cairn_fail(error, CAIRN_BAD_INPUT, name,
                      "expected a dataset '/%s' with one number a row", name);
}

/* Numbers are converted to double, whatever their type in the file. */
static herr_t read_rows(const column *c, hsize_t first, hsize_t rows, double *out)
{
    hid_t memory = H5Screate_simple(1, &rows, NULL);
    herr_t result = H5Sselect_hyperslab(c->space, H5S_SELECT_SET, &first, NULL, &rows, NULL);
    if (result >= 0)
        result = H5Dread(c->dataset, H5T_NATIVE_DOUBLE, memory, c->space, H5P_DEFAULT, out);
    H5Sclose(memory);
    return result;
}

/* What one pass over a column determines; each use needs a few of these. */
typedef struct column_facts {
    int64_t rows;
    int64_t zeros;
    double largest; /* -infinity without rows; NaN wins and stays */
    double last, before_last, sum;
    cairn_run_spans *zero_rows; /* ranges of rows that are 0, counted from 1; NULL: not wanted */
} column_facts;

static void add_fact(column_facts *facts, double value)
{
    facts->rows++;
    facts->zeros += value == 0;
    facts->sum += value;
    if (value == 0 && facts->zero_rows)
        cairn_run_spans_add(facts->zero_rows, facts->rows);
    /* true for a larger number and for NaN */
    if (!(value <= facts->largest) && !isnan(facts->largest))
        facts->largest = value;
    facts->before_last = facts->last;
    facts->last = value;
}

static cairn_status read_facts(hid_t file, const char *name, column_facts *out, cairn_error *error)
{
    cairn_run_spans *zero_rows = out->zero_rows;
    /* 8 KiB on the stack */
    enum { PIECE = 1024 };
    double numbers[PIECE];
    column c = { -1, -1, 0 };
    cairn_status status = CAIRN_OK;
    *out = (column_facts){ .largest = -INFINITY, .zero_rows = zero_rows };
    TRY(open_column(file, name, &c, error));
    for (hsize_t first = 0; first < c.rows && status == CAIRN_OK; first += PIECE) {
        hsize_t rows = c.rows - first < PIECE ? c.rows - first : PIECE;
        if (read_rows(&c, first, rows, numbers) < 0)
            status = cairn_hdf5_fail(error, "the file is damaged");
        for (hsize_t i = 0; i < rows && status == CAIRN_OK; i++)
            add_fact(out, numbers[i]);
    }
    close_column(&c);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Every other file of HDF5 is refused with a message that says what it is not. */
static cairn_status check_format(hid_t file, cairn_error *error)
{
    char format[64];
    int64_t version = 0;
    cairn_status status = read_text(file, "format", format, sizeof format, NULL);
    if (status == CAIRN_NO_MEMORY)
        return status;
    if (status != CAIRN_OK || strcmp(format, CAIRN_RUN_FORMAT) != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "found an HDF5 file that is not a run of cairn, expected its root "
                          "attribute 'format' to be '%s'",
                          CAIRN_RUN_FORMAT);
    TRY(read_number(file, "format_version", H5T_NATIVE_INT64, &version, error));
    if (version < CAIRN_RUN_FORMAT_OLDEST || version > CAIRN_RUN_FORMAT_VERSION)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "format_version",
                          "found a run of format %lld, expected %d to %d", (long long)version,
                          CAIRN_RUN_FORMAT_OLDEST, CAIRN_RUN_FORMAT_VERSION);
    return CAIRN_OK;
}

static cairn_status read_settings(hid_t file, cairn_run_info *out, cairn_error *error)
{
    TRY(read_text(file, "title", out->title, sizeof out->title, error));
    TRY(read_text(file, "version", out->version, sizeof out->version, error));
    TRY(read_text(file, "scheme", out->scheme, sizeof out->scheme, error));
    TRY(read_text(file, "solver", out->solver, sizeof out->solver, error));
    strcpy(out->certificate, "summary"); /* what runs stored before the option existed */
    if (H5Aexists(file, "certificate") > 0)
        TRY(read_text(file, "certificate", out->certificate, sizeof out->certificate, error));
    if (H5Aexists(file, "ending") > 0)
        TRY(read_text(file, "ending", out->ending, sizeof out->ending, error));
    TRY(read_number(file, "dimension", H5T_NATIVE_INT, &out->dimension, error));
    TRY(read_number(file, "time_step", H5T_NATIVE_DOUBLE, &out->time_step, error));
    return read_number(file, "tolerance", H5T_NATIVE_DOUBLE, &out->tolerance, error);
}

/* A count from a number of the file: 0 if it is negative, NaN or too large for an exact
 * conversion. */
static int64_t whole(double value)
{
    return value >= 0 && value < 9e15 ? (int64_t)value : 0;
}

/* With `certificate: off` there are no residuals; NaN means unknown. */
static cairn_status read_residuals(hid_t file, cairn_run_info *out, cairn_error *error)
{
    column_facts relative = { 0 };
    out->worst_relative = out->mean_relative = NAN;
    if (strcmp(out->certificate, "off") == 0)
        return CAIRN_OK;
    TRY(read_facts(file, "steps/asked_relative", &relative, error));
    out->worst_relative = relative.rows > 0 ? relative.largest : 0;
    out->mean_relative = relative.rows > 0 ? relative.sum / (double)relative.rows : 0;
    return CAIRN_OK;
}

/* The last frame has body_offset[n] - body_offset[n - 1] bodies. `converged` is 0 in missed
 * steps. */
static cairn_status read_counts(hid_t file, cairn_run_info *out, cairn_error *error)
{
    column_facts frames = { 0 }, offsets = { 0 }, active = { 0 };
    column_facts converged = { .zero_rows = &out->missed }, lengths = { 0 };
    TRY(read_facts(file, "frames/time", &frames, error));
    TRY(read_facts(file, "frames/body_offset", &offsets, error));
    TRY(read_facts(file, "steps/converged", &converged, error));
    TRY(read_facts(file, "steps/active", &active, error));
    if (H5Lexists(file, "steps/time_step", H5P_DEFAULT) > 0) /* not in older files */
        TRY(read_facts(file, "steps/time_step", &lengths, error));
    out->frames = frames.rows;
    out->time = frames.last;
    out->bodies = whole(offsets.last - offsets.before_last);
    out->steps = out->whole_steps = converged.rows;
    if (lengths.rows > 0 && out->time_step > 0)
        out->whole_steps = whole(round(lengths.sum / out->time_step));
    out->uncertified = converged.zeros;
    out->max_contacts = whole(active.largest);
    TRY(read_residuals(file, out, error));
    if (H5Aexists(file, "hash") > 0) /* without it the hash stays 0: the run did not end */
        TRY(read_number(file, "hash", H5T_NATIVE_UINT64, &out->hash, error));
    return CAIRN_OK;
}

/* Files written before joints existed do not have these columns. */
static cairn_status read_joints(hid_t file, cairn_run_info *out, cairn_error *error)
{
    column_facts kinds = { 0 }, broken = { 0 }, drift = { 0 };
    if (!(H5Lexists(file, "joints", H5P_DEFAULT) > 0))
        return CAIRN_OK;
    TRY(read_facts(file, "joints/kind", &kinds, error));
    TRY(read_facts(file, "steps/broken", &broken, error));
    if (H5Lexists(file, "steps/joint_drift", H5P_DEFAULT) > 0) /* missing with certificate: off */
        TRY(read_facts(file, "steps/joint_drift", &drift, error));
    out->joints = kinds.rows;
    out->broken = whole(broken.sum);
    out->joint_drift = drift.rows > 0 ? drift.largest : 0;
    return CAIRN_OK;
}

static cairn_status read_file(hid_t file, cairn_run_info *out, cairn_error *error)
{
    TRY(check_format(file, error));
    TRY(read_settings(file, out, error));
    TRY(read_counts(file, out, error));
    return read_joints(file, out, error);
}

static cairn_status open_and_read(const char *path, cairn_run_info *out, cairn_error *error)
{
    hid_t file;
    TRY(cairn_hdf5_open(path, &file, error));
    cairn_status status = read_file(file, out, error);
    H5Fclose(file);
    return status;
}

static bool exists(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

cairn_status cairn_run_find_file(const char *path, char *out, cairn_error *error)
{
    struct stat found;
    cairn_error_set_file(error, path);
    if (stat(path, &found) != 0)
        return cairn_fail(error, errno == ENOENT ? CAIRN_NOT_FOUND : CAIRN_IO_FAILED, NULL,
                          "cannot open: %s", strerror(errno));
    if (!S_ISDIR(found.st_mode)) {
        if (strlen(path) >= CAIRN_PATH_BYTES)
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the path is too long");
        strcpy(out, path);
        return CAIRN_OK;
    }
    TRY(cairn_path_join(path, "run.h5.part", out, error));
    bool unfinished = exists(out);
    TRY(cairn_path_join(path, "run.h5", out, error));
    if (exists(out))
        return CAIRN_OK;
    return cairn_fail(
        error, CAIRN_NOT_FOUND, NULL, "there is no run.h5 in this folder%s",
        /* the most likely reason gets a hint */
        unfinished ? "; run.h5.part is a run that goes on or did not end (cairn resume)" : "");
}

/* A writer that was killed during a commit left a journal; the commit is completed first. A file
 * that is being written is left alone. */
cairn_status cairn_run_read_info(const char *path, cairn_run_info *out, cairn_error *error)
{
    char file[CAIRN_PATH_BYTES];
    *out = (cairn_run_info){ .dimension = 0 };
    if (error)
        *error = (cairn_error){ .line = 0 };
    TRY(cairn_run_find_file(path, file, error));
    TRY(cairn_overlay_recover(file, error));
    cairn_error_set_file(error, file);
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = open_and_read(file, out, error);
    cairn_hdf5_quiet_end(quiet);
    return status;
}

/* ---- settings ------------------------------------------------------------------------------ */

/* The periodic cell of the start: its corner and edges. */
static cairn_status write_cell(hid_t file, const cairn_scene *scene, cairn_error *error)
{
    const cairn_lattice cell = cairn_world_lattice(scene->world);
    const cairn_hdf5_values corner = { CAIRN_HDF5_REAL, 3, &cell.corner };
    const cairn_hdf5_values edges = { CAIRN_HDF5_REAL, 9, cell.edge };
    if (!cairn_lattice_exists(&cell) || H5Aexists(file, "cell") > 0)
        return CAIRN_OK;
    TRY(cairn_hdf5_attribute(file, "cell_corner", corner, error));
    return cairn_hdf5_attribute(file, "cell", edges, error);
}

/* The root attributes. In a file that is being continued they are written again, and `ending`
 * becomes "unfinished" again. */
static cairn_status write_settings(hid_t file, const cairn_scene *scene, cairn_error *error)
{
    cairn_vec3 gravity = cairn_world_gravity(scene->world);
    cairn_hdf5_values g = { CAIRN_HDF5_REAL, 3, &gravity };
    TRY(cairn_hdf5_text(file, "format", CAIRN_RUN_FORMAT, error));
    TRY(cairn_hdf5_long(file, "format_version", CAIRN_RUN_FORMAT_VERSION, error));
    TRY(cairn_hdf5_long(file, "rules", CAIRN_RUN_RULES, error));
    TRY(cairn_hdf5_text(file, "version", cairn_version(), error));
    TRY(cairn_hdf5_text(file, "title", scene->title, error));
    TRY(cairn_hdf5_text(file, "scene", scene->text, error));
    TRY(cairn_hdf5_long(file, "dimension", cairn_world_dimension(scene->world), error));
    if (H5Aexists(file, "gravity") <= 0) /* that of the start, also in a continued file */
        TRY(cairn_hdf5_attribute(file, "gravity", g, error));
    TRY(write_cell(file, scene, error));
    TRY(cairn_hdf5_record(file, cairn_step_record(), &scene->step, error));
    TRY(cairn_hdf5_record(file, cairn_run_record(), &scene->run, error));
    return cairn_hdf5_text(file, "ending", "unfinished", error);
}

/* A scene without named materials gets an empty list, so that readers need no special case. */
static cairn_status write_materials(hid_t file, const cairn_scene *scene, cairn_error *error)
{
    hid_t group;
    int count = scene->material_names ? scene->material_count : 0;
    /* the file is being continued, and has them */
    if (H5Lexists(file, "materials", H5P_DEFAULT) > 0)
        return CAIRN_OK;
    TRY(cairn_hdf5_group(file, "materials", &group, error));
    cairn_status status =
        cairn_hdf5_text_dataset(group, "name", scene->material_names, (size_t)count, error);
    H5Gclose(group);
    return status;
}

cairn_status cairn_run_write_settings(hid_t file, const cairn_scene *scene, cairn_error *error)
{
    TRY(write_settings(file, scene, error));
    return write_materials(file, scene, error);
}

/* ---- folders ----------------------------------------------------------------------------- */

/* Whether a folder can take a new run. If it holds one, the message says how that run ended and
 * what can be done with it: runs are never replaced by accident. */

static bool holds(const char *folder, const char *name)
{
    char path[CAIRN_PATH_BYTES];
    cairn_error unused = { 0 };
    return cairn_path_join(folder, name, path, &unused) == CAIRN_OK && cairn_is_file(path);
}

/* "complete, t = 2 s", or that the run cannot be read. */
static void describe(const cairn_run_info *info, bool readable, char *text, size_t capacity)
{
    if (readable)
        snprintf(text, capacity, "%s, t = %g s", info->ending[0] ? info->ending : "ending unknown",
                 info->time);
    else
        snprintf(text, capacity, "it cannot be read");
}

/* A run that failed before its first step is no loss and may be replaced. */
static cairn_status check_run(const char *folder, cairn_error *error)
{
    char about[64];
    cairn_run_info info;
    cairn_error unused = { 0 };
    bool readable = cairn_run_read_info(folder, &info, &unused) == CAIRN_OK;
    if (readable && info.steps == 0 && strcmp(info.ending, "failed") == 0)
        return CAIRN_OK;
    describe(&info, readable, about, sizeof about);
    cairn_error_set_file(error, folder);
    if (holds(folder, "checkpoint"))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "this folder holds a run (%s): 'cairn resume %.150s' goes on with it, "
                          "--force replaces it",
                          about, folder);
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "this folder holds a run (%s): --force replaces it, --out names another "
                      "folder",
                      about);
}

cairn_status cairn_run_folder_check(const char *folder, cairn_error *error)
{
    int lock;
    cairn_error unused = { 0 };
    error = error ? error : &unused;
    if (!cairn_is_folder(folder) || (!holds(folder, "run.h5") && !holds(folder, "run.h5.part")))
        return CAIRN_OK;
    TRY(cairn_folder_lock(folder, &lock, error)); /* fails if a run is in progress there */
    cairn_folder_unlock(&lock);
    return check_run(folder, error);
}
