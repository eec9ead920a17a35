/* shape.c - the shapes of a scene: the few numbers of a kind through its table, and the data of
 * hulls, meshes, polylines, height fields and compounds. Files must lie in the folder of the
 * scene or below it, so that a scene from elsewhere cannot make the program read other files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "file/file.h"
#include "scene/stages.h"

/* Largest depth of compounds within compounds; reading them recurses. */
enum { MAX_DEPTH = 16 };

/* ---- numbers -------------------------------------------------------------------------------- */

/* A finite number in metres; .inf and .nan are numbers in YAML but not coordinates. */
static cairn_status read_coordinate(cairn_scene_build *b, const cairn_yaml_node *node, double *out)
{
    char found[80];
    cairn_yaml_describe(node, found, sizeof found);
    if (!cairn_yaml_real(node, out) || !isfinite(*out))
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a number in m", found);
    return CAIRN_OK;
}

/* [x, y, z], in 2D [x, y] */
static cairn_status read_point(cairn_scene_build *b, const cairn_yaml_node *node, cairn_vec3 *out)
{
    double v[3] = { 0, 0, 0 };
    char found[80];
    int k = 0;
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_LIST || node->count != b->dimension)
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected a list of %d numbers",
                               found, b->dimension);
    for (const cairn_yaml_node *n = node->first; n; n = n->next)
        TRY(read_coordinate(b, n, &v[k++]));
    *out = (cairn_vec3){ v[0], v[1], v[2] };
    return CAIRN_OK;
}

/* The points live in the arena of the scene. `scale` converts their unit to metres. */
static cairn_status read_points(cairn_scene_build *b, const cairn_yaml_node *list, double scale,
                                cairn_vec3 **out)
{
    TRY(cairn_scene_check_list(b, list, "points"));
    cairn_vec3 *points = cairn_arena_take(b->arena, (size_t)list->count, sizeof *points), *p;
    if (!points)
        return cairn_scene_no_memory(b);
    p = points;
    for (const cairn_yaml_node *n = list->first; n; n = n->next, p++) {
        TRY(read_point(b, n, p));
        *p = (cairn_vec3){ scale * p->x, scale * p->y, scale * p->z };
    }
    *out = points;
    return CAIRN_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Whether a name is relative and has no part "..": it then cannot leave the folder, apart from
 * links. */
static bool stays_below(const char *name)
{
    if (name[0] == '/' || name[0] == '\0')
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

/* Whether the file lies below the folder once links are resolved on both sides. */
static bool really_below(const char *folder, const char *path)
{
    char real_folder[CAIRN_PATH_BYTES], real_path[CAIRN_PATH_BYTES];
    if (!realpath(folder, real_folder) || !realpath(path, real_path))
        return true; /* does not exist: opening it reports that */
    size_t length = strlen(real_folder);
    return strncmp(real_folder, real_path, length) == 0 &&
           (real_path[length] == '/' || strcmp(real_folder, "/") == 0);
}

/* The folder of a path; "." if it has none. Paths that are too long end up there too, and
 * opening the scene would have failed before. */
static void folder_of(const char *path, char folder[CAIRN_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash || length >= CAIRN_PATH_BYTES)
        memcpy(folder, ".", 2);
    else if (length == 0)
        memcpy(folder, "/", 2);
    else {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
}

/* Relative to the folder of the file in which the name stands, not to the current one. An override
 * is relative to the scene. An included file lies below the folder of the scene, so a name that
 * stays below its folder does too, apart from links. */
cairn_status cairn_scene_find_file(cairn_scene_build *b, const cairn_yaml_node *node, char *path)
{
    char found[80], folder[CAIRN_PATH_BYTES], top[CAIRN_PATH_BYTES];
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node))
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected the name of a file",
                               found);
    folder_of(b->tree.root->file, top);
    folder_of(node->line > 0 ? node->file : b->tree.root->file, folder);
    TRY(cairn_path_join(folder, node->text, path, b->error));
    if (!stays_below(node->text) || !really_below(top, path))
        return cairn_yaml_fail(node, NULL, b->error,
                               "found %s, expected a file in the scene's folder or below", found);
    return CAIRN_OK;
}

typedef cairn_status load_fn(const char *path, double scale, const cairn_geometry **out,
                             cairn_error *error);

/* A file that has been read. Shapes with the same file, scale and loader share its geometry,
 * which saves memory and time when many bodies use one mesh. */
struct cairn_scene_file {
    cairn_scene_file *next;
    const char *path;
    double scale;
    load_fn *load;
    const cairn_geometry *geometry;
};

static const cairn_geometry *find_read(const cairn_scene_build *b, const cairn_scene_file *asked)
{
    for (const cairn_scene_file *f = b->files; f; f = f->next)
        if (f->load == asked->load && f->scale == asked->scale && strcmp(f->path, asked->path) == 0)
            return f->geometry;
    return NULL;
}

/* The list holds a reference of its own, released by cairn_scene_release_files. */
static cairn_status remember(cairn_scene_build *b, const cairn_scene_file *read)
{
    cairn_scene_file *file = cairn_arena_take(b->arena, 1, sizeof *file);
    if (!file)
        return cairn_scene_no_memory(b);
    *file = *read;
    TRY(cairn_scene_keep_text(b, read->path, &file->path));
    cairn_geometry_retain(file->geometry);
    file->next = b->files;
    b->files = file;
    return CAIRN_OK;
}

void cairn_scene_release_files(cairn_scene_build *b)
{
    for (const cairn_scene_file *f = b->files; f; f = f->next)
        cairn_geometry_release(f->geometry);
    b->files = NULL;
}

cairn_status cairn_scene_blame_file(cairn_scene_build *b, cairn_status status,
                                    const cairn_yaml_node *node, const cairn_error *said)
{
    char line[32] = "";
    if (status == CAIRN_OK)
        return CAIRN_OK;
    if (status == CAIRN_NO_MEMORY)
        return cairn_scene_no_memory(b);
    if (said->line > 0)
        snprintf(line, sizeof line, ":%d", said->line);
    cairn_yaml_fail(node, NULL, b->error, "%s%s: %s", node->text, line,
                    said->message[0] ? said->message : cairn_status_text(status));
    return status;
}

/* Read a file for the first time. */
static cairn_status load_new(cairn_scene_build *b, const cairn_yaml_node *node,
                             cairn_scene_file *file)
{
    cairn_error said = { 0 };
    cairn_status status = file->load(file->path, file->scale, &file->geometry, &said);
    return status == CAIRN_OK ? remember(b, file) : cairn_scene_blame_file(b, status, node, &said);
}

/* *out is a reference that the caller releases. */
static cairn_status load_file(cairn_scene_build *b, const cairn_yaml_node *node, double scale,
                              load_fn *load, const cairn_geometry **out)
{
    char path[CAIRN_PATH_BYTES];
    cairn_scene_file file = { .path = path, .scale = scale, .load = load };
    TRY(cairn_scene_find_file(b, node, path));
    *out = cairn_geometry_retain(find_read(b, &file));
    if (*out)
        return CAIRN_OK;
    cairn_status status = load_new(b, node, &file);
    *out = file.geometry;
    return status;
}

cairn_status cairn_scene_load_shape(cairn_scene_build *b, const cairn_yaml_node *file,
                                    cairn_shape_kind kind, double scale, const cairn_geometry **out)
{
    load_fn *load = kind == CAIRN_SHAPE_MESH ? cairn_mesh_load : cairn_hull_load;
    return load_file(b, file, scale, load, out);
}

/* ---- kinds with data ------------------------------------------------------------------------ */

/* The convex hull of points that are listed in the scene, or of the vertices of a file. */
static cairn_status read_polyhedron(cairn_scene_build *b, const cairn_yaml_node *node,
                                    const cairn_scene_source *source, const cairn_geometry **out)
{
    const cairn_yaml_node *list = cairn_yaml_find(node, "points");
    const cairn_yaml_node *file = cairn_yaml_find(node, "file");
    cairn_error said = { 0 };
    cairn_vec3 *points;
    TRY(cairn_scene_refuse_both(b, node, "points", "file"));
    if (!list && !file)
        return cairn_yaml_fail(node, "points", b->error, "expected points or a file");
    if (file && b->dimension == 2)
        return cairn_yaml_fail_key(file, b->error, "only in 3D; in 2D give 'points'");
    if (file)
        return load_file(b, file, source->scale, cairn_hull_load, out);
    TRY(read_points(b, list, source->scale, &points));
    return cairn_scene_blame(b, cairn_hull_create(points, list->count, b->dimension, out, &said),
                             node, &said);
}

static cairn_status read_mesh(cairn_scene_build *b, const cairn_yaml_node *node,
                              const cairn_scene_source *source, const cairn_geometry **out)
{
    return load_file(b, cairn_yaml_find(node, "file"), source->scale, cairn_mesh_load, out);
}

/* Polylines have no scale: their points are written in the scene, in metres. */
static cairn_status read_polyline(cairn_scene_build *b, const cairn_yaml_node *node,
                                  const cairn_scene_source *source, const cairn_geometry **out)
{
    const cairn_yaml_node *list = cairn_yaml_find(node, "points");
    cairn_error said = { 0 };
    cairn_vec3 *points;
    TRY(read_points(b, list, 1, &points));
    return cairn_scene_blame(
        b, cairn_polyline_create(points, list->count, source->closed, out, &said), node, &said);
}

/* All rows, one after the other; each must be as long as the first. */
static cairn_status read_rows(cairn_scene_build *b, const cairn_yaml_node *rows, int columns,
                              double *heights)
{
    char found[80];
    for (const cairn_yaml_node *row = rows->first; row; row = row->next) {
        cairn_yaml_describe(row, found, sizeof found);
        if (row->kind != CAIRN_YAML_LIST || row->count != columns)
            return cairn_yaml_fail(row, NULL, b->error,
                                   "found %s, expected a row of %d heights like the first", found,
                                   columns);
        for (const cairn_yaml_node *n = row->first; n; n = n->next)
            TRY(read_coordinate(b, n, heights++));
    }
    return CAIRN_OK;
}

static cairn_status read_height_field(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_scene_source *source, const cairn_geometry **out)
{
    const cairn_yaml_node *rows = cairn_yaml_find(node, "heights");
    cairn_error said = { 0 };
    TRY(cairn_scene_check_list(b, rows, "rows"));
    /* too few rows or columns are refused by cairn_height_field_create */
    int columns = rows->first && rows->first->kind == CAIRN_YAML_LIST ? rows->first->count : 0;
    double *heights = cairn_arena_doubles(b->arena, (size_t)rows->count * (size_t)columns);
    if (!heights)
        return cairn_scene_no_memory(b);
    TRY(read_rows(b, rows, columns, heights));
    const cairn_height_field_def def = {
        .columns = columns,
        .rows = rows->count,
        .spacing = { source->spacing, source->spacing_y > 0 ? source->spacing_y : source->spacing },
        .heights = heights
    };
    return cairn_scene_blame(b, cairn_height_field_create(&def, out, &said), node, &said);
}

/* ---- compounds ------------------------------------------------------------------------------ */

/* A part: a pose in the compound and a shape. In 2D the rotation by the angle a about z is the
 * quaternion (cos(a/2), 0, 0, sin(a/2)); in 3D an orientation replaces it. */
static cairn_status read_part(cairn_scene_build *b, const cairn_yaml_node *node, cairn_part *out)
{
    const cairn_scene_keys keys = cairn_scene_part_keys();
    const cairn_yaml_node *angle;
    cairn_scene_place place;
    keys.record->set_default(&place);
    TRY(cairn_scene_check_keys(b, node, &keys));
    TRY(cairn_scene_read_record(b, node, keys.record, &place));
    angle = cairn_yaml_find(node, "angle");
    if (angle && b->dimension == 3)
        return cairn_yaml_fail_key(angle, b->error, "only in 2D; in 3D give 'orientation'");
    out->pose.x = place.position;
    out->pose.q = (cairn_quat){ cos(0.5 * place.angle), 0, 0, sin(0.5 * place.angle) };
    TRY(cairn_scene_read_orientation(b, cairn_yaml_find(node, "orientation"), &out->pose.q));
    return cairn_scene_read_shape(b, cairn_yaml_find(node, "shape"), &out->shape);
}

/* Check a part at once, so that an error is reported at this part and not at the whole compound. */
static cairn_status check_part(cairn_scene_build *b, const cairn_yaml_node *node,
                               const cairn_part *part)
{
    const cairn_yaml_node *shape = cairn_yaml_find(node, "shape");
    cairn_error said = { 0 };
    cairn_status status = cairn_shape_check(&part->shape, b->dimension, &said);
    return cairn_scene_blame(b, status, shape->kind == CAIRN_YAML_MAPPING ? shape->first : shape,
                             &said);
}

/* *count includes a part that failed, because its geometry has to be released as well. */
static cairn_status fill_parts(cairn_scene_build *b, const cairn_yaml_node *list, cairn_part *parts,
                               int *count)
{
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        cairn_part *part = &parts[(*count)++];
        *part = (cairn_part){ 0 };
        TRY(read_part(b, n, part));
        TRY(check_part(b, n, part));
    }
    return CAIRN_OK;
}

/* Counting keys named `parts` above the node gives the depth without a counter in the build. */
static bool too_deep(const cairn_yaml_node *node)
{
    int depth = 0;
    for (; node; node = node->parent)
        depth += node->key && strcmp(node->key, "parts") == 0;
    return depth > MAX_DEPTH;
}

/* The compound retains the geometries of its parts; the references of the reader are released
 * here. */
static cairn_status read_compound(cairn_scene_build *b, const cairn_yaml_node *node,
                                  const cairn_scene_source *source, const cairn_geometry **out)
{
    const cairn_yaml_node *list = cairn_yaml_find(node, "parts");
    cairn_error said = { 0 };
    int count = 0;
    (void)source;
    TRY(cairn_scene_check_list(b, list, "parts"));
    if (too_deep(list))
        return cairn_yaml_fail(list, NULL, b->error, "more than %d compounds in each other",
                               MAX_DEPTH);
    cairn_part *parts = cairn_arena_take(b->arena, (size_t)list->count, sizeof *parts);
    if (!parts)
        return cairn_scene_no_memory(b);
    cairn_status status = fill_parts(b, list, parts, &count);
    if (status == CAIRN_OK)
        status = cairn_scene_blame(b, cairn_compound_create(parts, count, b->dimension, out, &said),
                                   node, &said);
    for (int i = 0; i < count; i++)
        cairn_geometry_release(parts[i].shape.geometry);
    return status;
}

/* ---- any shape ------------------------------------------------------------------------------ */

typedef cairn_status read_fn(cairn_scene_build *b, const cairn_yaml_node *node,
                             const cairn_scene_source *source, const cairn_geometry **out);

/* Kinds that are not listed have no data besides the numbers of their table. */
static read_fn *const readers[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_POLYHEDRON] = read_polyhedron, [CAIRN_SHAPE_MESH] = read_mesh,
    [CAIRN_SHAPE_POLYLINE] = read_polyline,     [CAIRN_SHAPE_HEIGHT_FIELD] = read_height_field,
    [CAIRN_SHAPE_COMPOUND] = read_compound,
};

/* Refuse a kind that does not exist in this dimension before its data are read. */
static cairn_status check_dimension(cairn_scene_build *b, const cairn_yaml_node *node, int kind)
{
    int only = cairn_shape_dimension((cairn_shape_kind)kind);
    if (only == 0 || only == b->dimension)
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error, "a %s exists only in %dD",
                           cairn_shape_record(kind)->name, only);
}

/* The geometry is read last, when the numbers of the shape are known to be valid; out->geometry
 * is NULL until then. */
cairn_status cairn_scene_read_shape(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_shape *out)
{
    int kind;
    const cairn_yaml_node *value;
    cairn_scene_source source = { .scale = 1 };
    TRY(cairn_scene_read_choice(b, node, &cairn_scene_shapes, &kind, &value));
    TRY(check_dimension(b, value, kind));
    const cairn_scene_keys keys = cairn_scene_shape_keys(kind);
    const cairn_yaml_node given = cairn_scene_options_of(value, keys.record->name);
    *out = cairn_shape_default((cairn_shape_kind)kind, b->dimension);
    TRY(cairn_scene_check_keys(b, &given, &keys));
    TRY(cairn_scene_read_record(b, &given, keys.record, out));
    if (keys.second)
        TRY(cairn_scene_read_record(b, &given, keys.second, &source));
    return readers[kind] ? readers[kind](b, &given, &source, &out->geometry) : CAIRN_OK;
}
