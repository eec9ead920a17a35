/* recording_describe.c - see recording_describe.h. Sums and certificates are left out: they are
 * for programs that check a run, and can be larger than all else. */
#include "io/recording_describe.h"

#include <string.h>

#include "base/status.h"
#include "io/json.h"

enum { MOST_VALUES = 64, LONGEST_PATH = 160, DEEPEST = 4 };

typedef struct walk {
    cairn_json json;
    cairn_arena *scratch;
    cairn_error *error;
    cairn_status status;
    bool texts; /* look for columns of texts; else for those of numbers */
    char path[LONGEST_PATH];
    int depth;
} walk;

/* ---- attributes ----------------------------------------------------------------------------- */

/* Numbers of an attribute; -1: not of numbers, or too many. */
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

/* What whole numbers stand for: the texts of the attribute `names`, all of one length. */
static cairn_status write_names(walk *w, hid_t dataset)
{
    if (H5Aexists(dataset, "names") <= 0)
        return CAIRN_OK;
    cairn_hdf5_text_list names;
    TRY(cairn_hdf5_read_names(dataset, w->scratch, &names, w->error));
    cairn_json_texts(&w->json, "names", names.items, names.count);
    return CAIRN_OK;
}

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

/* All that a group holds, by name. */
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

static bool is_left_out(const char *path)
{
    return strcmp(path, "checksums") == 0 || strcmp(path, "certificate") == 0;
}

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

static void write_columns(walk *w, hid_t file, const char *key, bool texts)
{
    if (w->status != CAIRN_OK)
        return;
    w->texts = texts;
    cairn_json_begin(&w->json, key);
    visit_group(w, file);
    cairn_json_end(&w->json);
}

cairn_status cairn_recording_write(hid_t file, cairn_recording_state state, cairn_arena *scratch,
                                   FILE *out, cairn_error *error)
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
