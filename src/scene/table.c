/* table.c - bodies from a table: a file of rows with named columns (cairn/output.h), each of which
 * becomes a sphere, a body of the shape that its row says, or one of a shape that is given for all.
 *
 * A scene says which column is what; for columns with usual names it need not. Lengths and
 * velocities are multiplied by `scale`, positions then shifted by `origin`. Angular velocities are
 * those of the world frame, as in other programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "cairn/output.h"
#include "file/file.h"
#include "scene/stages.h"

/* What a column can be. */
enum {
    X,
    Y,
    Z,
    RADIUS,
    DIAMETER,
    MASS,
    DENSITY,
    VX,
    VY,
    VZ,
    WX,
    WY,
    WZ,
    QW,
    QX,
    QY,
    QZ,
    ANGLE,
    TYPE,
    SIZE_X,
    SIZE_Y,
    SIZE_Z,
    HEIGHT,
    LENGTH,
    SHAPE,
    FILE_NAME,
    QUANTITIES
};

/* Shapes that a row can have, with what they need; X ends the list. */
static const struct {
    cairn_shape_kind kind;
    int needs[4];
} forms[] = {
    { CAIRN_SHAPE_SPHERE, { RADIUS } },
    { CAIRN_SHAPE_BOX, { SIZE_X, SIZE_Y, SIZE_Z } },
    { CAIRN_SHAPE_ELLIPSOID, { SIZE_X, SIZE_Y, SIZE_Z } },
    { CAIRN_SHAPE_CAPSULE, { RADIUS, LENGTH } },
    { CAIRN_SHAPE_CYLINDER, { RADIUS, HEIGHT } },
    { CAIRN_SHAPE_CONE, { RADIUS, HEIGHT } },
    { CAIRN_SHAPE_MESH, { FILE_NAME } },
    { CAIRN_SHAPE_POLYHEDRON, { FILE_NAME } },
};

/* Names that files use for it, the one of `columns` first. */
static const char *const names[QUANTITIES][6] = {
    [X] = { "x", "X", "Points:0", "position:0", "pos:0", "x:0" },
    [Y] = { "y", "Y", "Points:1", "position:1", "pos:1", "x:1" },
    [Z] = { "z", "Z", "Points:2", "position:2", "pos:2", "x:2" },
    [RADIUS] = { "radius", "r", "R", "Radius" },
    [DIAMETER] = { "diameter", "d", "D", "Diameter" },
    [MASS] = { "mass", "m", "Mass" },
    [DENSITY] = { "density", "rho" },
    [VX] = { "vx", "velocity:0", "v:0", "Velocity:0" },
    [VY] = { "vy", "velocity:1", "v:1", "Velocity:1" },
    [VZ] = { "vz", "velocity:2", "v:2", "Velocity:2" },
    [WX] = { "wx", "omegax", "angular_velocity:0", "omega:0" },
    [WY] = { "wy", "omegay", "angular_velocity:1", "omega:1" },
    [WZ] = { "wz", "omegaz", "angular_velocity:2", "omega:2" },
    [QW] = { "qw", "orientation:0", "q:0" },
    [QX] = { "qx", "orientation:1", "q:1" },
    [QY] = { "qy", "orientation:2", "q:2" },
    [QZ] = { "qz", "orientation:3", "q:3" },
    [ANGLE] = { "angle" },
    [TYPE] = { "type" },
    [SIZE_X] = { "size_x", "sx", "size:0" },
    [SIZE_Y] = { "size_y", "sy", "size:1" },
    [SIZE_Z] = { "size_z", "sz", "size:2" },
    [HEIGHT] = { "height" },
    [LENGTH] = { "length" },
    [SHAPE] = { "shape" },
    [FILE_NAME] = { "file" },
};

/* The names that a table without names has by position, in 3D and in 2D. */
static const int in_space[] = { X, Y, Z, RADIUS }, in_plane[] = { X, Y, RADIUS };

/* A table while its bodies are made. */
typedef struct source {
    const cairn_yaml_node *node, *file;
    cairn_table *table;
    int column[QUANTITIES]; /* -1: the table does not have it */
    cairn_scene_table options;
    int material; /* of all; or by type: */
    const int *materials;
    int material_count;
    cairn_shape shape; /* kind COUNT: a sphere by its radius */
} source;

/* ---- columns -------------------------------------------------------------------------------- */

/* The column with the name, or with the number counted from 1, that a scene gives. */
static cairn_status find_column(cairn_scene_build *b, const source *s, const cairn_yaml_node *node,
                                int *out)
{
    char found[80];
    int64_t number;
    const cairn_table *t = s->table;
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node))
        return cairn_yaml_fail(node, NULL, b->error,
                               "found %s, expected the name or the number of a column", found);
    *out = cairn_table_find(t, node->text);
    if (*out < 0 && cairn_yaml_integer(node, &number) && number >= 1 && number <= t->column_count)
        *out = (int)number - 1;
    if (*out >= 0)
        return CAIRN_OK;
    const char *known[CAIRN_TABLE_COLUMNS + 1];
    for (int i = 0; i < t->column_count; i++)
        known[i] = t->columns[i];
    known[t->column_count] = NULL;
    return cairn_scene_fail_word(b, node, false, "column", known);
}

static cairn_status read_columns(cairn_scene_build *b, const cairn_yaml_node *node, source *s)
{
    const char *known[QUANTITIES + 1] = { NULL };
    for (int q = 0; q < QUANTITIES; q++)
        known[q] = names[q][0];
    if (node->kind != CAIRN_YAML_MAPPING)
        return cairn_yaml_fail(node, NULL, b->error,
                               "expected a mapping from x, y, z, radius, ... to columns");
    for (const cairn_yaml_node *n = node->first; n; n = n->next) {
        int q = 0;
        while (q < QUANTITIES && strcmp(names[q][0], n->key) != 0)
            q++;
        if (q == QUANTITIES)
            return cairn_scene_fail_word(b, n, true, "key", known);
        TRY(find_column(b, s, n, &s->column[q]));
    }
    return CAIRN_OK;
}

/* Columns of numbers that happen to be called shape or file say nothing about shapes. */
static int guessed(const cairn_table *t, int quantity, int column)
{
    bool says = quantity != SHAPE && quantity != FILE_NAME;
    for (int64_t row = 0; column >= 0 && row < t->row_count && !says; row++)
        says = cairn_table_word(t, row, column) != NULL;
    return says ? column : -1;
}

/* Columns that the scene does not name are found by their usual names, or in a table without names
 * by their places. */
static void guess_columns(cairn_scene_build *b, source *s, bool any_named)
{
    const cairn_table *t = s->table;
    const int *places = b->dimension == 3 ? in_space : in_plane;
    int count = b->dimension == 3 ? 4 : 3;
    bool bare = strcmp(t->columns[0], "1") == 0;
    for (int q = 0; q < QUANTITIES; q++)
        for (int k = 0; k < 6 && names[q][k] && s->column[q] < 0; k++)
            s->column[q] = guessed(t, q, cairn_table_find(t, names[q][k]));
    for (int i = 0; i < count && i < t->column_count && bare && !any_named; i++)
        s->column[places[i]] = i;
}

/* A table must have positions. */
static cairn_status check_columns(cairn_scene_build *b, const source *s)
{
    static const int needed[] = { X, Y, Z };
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < s->table->column_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 s->table->columns[i]);
    for (int i = 0; i < b->dimension; i++)
        if (s->column[needed[i]] < 0)
            return cairn_yaml_fail(s->file, NULL, b->error,
                                   "the table has no column '%s', expected it or 'columns: {%s: "
                                   "...}'; it has %s",
                                   names[needed[i]][0], names[needed[i]][0], list);
    bool shaped = s->column[SHAPE] >= 0 || s->column[FILE_NAME] >= 0 || s->column[SIZE_X] >= 0;
    if (s->shape.kind == CAIRN_SHAPE_COUNT && !shaped && s->column[RADIUS] < 0 &&
        s->column[DIAMETER] < 0 && !(s->options.radius > 0))
        return cairn_yaml_fail(s->node, "radius", b->error,
                               "the table has no radius, expected a column or the key 'radius'; it "
                               "has %s",
                               list);
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* An error of one row, reported at the file's name in the scene. */
static cairn_status fail_row(cairn_scene_build *b, const source *s, int64_t row,
                             const char *message)
{
    char place[40];
    int line = s->table->line[row];
    if (line > 0)
        snprintf(place, sizeof place, ":%d", line);
    else
        snprintf(place, sizeof place, " row %lld", (long long)row + 1);
    return cairn_yaml_fail(s->file, NULL, b->error, "%s%s: %s", s->file->text, place, message);
}

/* A number of a row; `missing` where the table has no such column. */
static cairn_status take(cairn_scene_build *b, const source *s, int64_t row, int quantity,
                         double missing, double *out)
{
    int column = s->column[quantity];
    *out = column < 0 ? missing : s->table->values[row * s->table->column_count + column];
    if (isfinite(*out))
        return CAIRN_OK;
    char message[120];
    snprintf(message, sizeof message, "column '%s' has no finite number",
             s->table->columns[column < 0 ? 0 : column]);
    return fail_row(b, s, row, message);
}

static cairn_status take_vector(cairn_scene_build *b, const source *s, int64_t row, int first,
                                cairn_vec3 *out)
{
    TRY(take(b, s, row, first, 0, &out->x));
    TRY(take(b, s, row, first + 1, 0, &out->y));
    out->z = 0;
    return b->dimension == 3 ? take(b, s, row, first + 2, 0, &out->z) : CAIRN_OK;
}

/* R(q)' w: an angular velocity of the world frame about the axes of the body,
 * w + 2 r x (r x w + s w) with q' = (s, r). */
static cairn_vec3 turned_back(cairn_quat q, cairn_vec3 w)
{
    cairn_vec3 r = { -q.x, -q.y, -q.z };
    cairn_vec3 c = { r.y * w.z - r.z * w.y + q.w * w.x, r.z * w.x - r.x * w.z + q.w * w.y,
                     r.x * w.y - r.y * w.x + q.w * w.z };
    return (cairn_vec3){ w.x + 2 * (r.y * c.z - r.z * c.y), w.y + 2 * (r.z * c.x - r.x * c.z),
                         w.z + 2 * (r.x * c.y - r.y * c.x) };
}

static cairn_status take_pose(cairn_scene_build *b, const source *s, int64_t row,
                              cairn_body_def *def)
{
    double q[4];
    cairn_vec3 x;
    double scale = s->options.scale;
    TRY(take_vector(b, s, row, X, &x));
    def->position =
        (cairn_vec3){ scale * x.x + s->options.origin.x, scale * x.y + s->options.origin.y,
                      b->dimension == 3 ? scale * x.z + s->options.origin.z : 0 };
    if (b->dimension == 2)
        return take(b, s, row, ANGLE, 0, &def->angle);
    for (int k = 0; k < 4; k++)
        TRY(take(b, s, row, QW + k, k == 0, &q[k]));
    double length = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    if (!(length > 0))
        return fail_row(b, s, row, "found a quaternion of length 0");
    def->orientation = (cairn_quat){ q[0] / length, q[1] / length, q[2] / length, q[3] / length };
    return CAIRN_OK;
}

/* Velocities of bodies that never move do not matter. */
static cairn_status take_motion(cairn_scene_build *b, const source *s, int64_t row,
                                cairn_body_def *def)
{
    double scale = s->options.scale;
    cairn_vec3 v, w = { 0, 0, 0 };
    if (s->options.glued) {
        def->motion = CAIRN_MOTION_FIXED;
        return CAIRN_OK;
    }
    TRY(take_vector(b, s, row, VX, &v));
    def->velocity = (cairn_vec3){ scale * v.x, scale * v.y, scale * v.z };
    if (b->dimension == 2)
        return take(b, s, row, WZ, 0, &def->angular_velocity.z);
    TRY(take_vector(b, s, row, WX, &w));
    def->angular_velocity = turned_back(def->orientation, w);
    return CAIRN_OK;
}

/* ---- shapes of rows ------------------------------------------------------------------------- */

/* A radius, in the unit of the file; from the diameter if there is no radius. */
static cairn_status take_radius(cairn_scene_build *b, const source *s, int64_t row, double *out)
{
    bool diameter = s->column[RADIUS] < 0 && s->column[DIAMETER] >= 0;
    TRY(take(b, s, row, diameter ? DIAMETER : RADIUS, s->options.radius / s->options.scale, out));
    *out *= diameter ? 0.5 : 1;
    return *out > 0 ? CAIRN_OK : fail_row(b, s, row, "found a radius that is not greater than 0");
}

/* The number of the form of a row: what the column `shape` says, else what the columns are for. */
static cairn_status take_form(cairn_scene_build *b, const source *s, int64_t row, int *out)
{
    const char *known[CAIRN_COUNT(forms)], *word = NULL;
    cairn_shape_kind kind = s->column[FILE_NAME] >= 0 ? CAIRN_SHAPE_MESH
                            : s->column[SIZE_X] >= 0  ? CAIRN_SHAPE_BOX
                                                      : CAIRN_SHAPE_SPHERE;
    if (s->column[SHAPE] >= 0)
        word = cairn_table_word(s->table, row, s->column[SHAPE]);
    if (s->column[SHAPE] >= 0 && !word)
        return fail_row(b, s, row, "found no shape, expected a name such as box");
    for (*out = 0; *out < CAIRN_COUNT(forms); ++*out) {
        known[*out] = cairn_shape_record((int)forms[*out].kind)->name;
        if (word ? strcmp(word, known[*out]) == 0 : forms[*out].kind == kind)
            return CAIRN_OK;
    }
    const cairn_scene_words words = { known, CAIRN_COUNT(forms), "" };
    char message[400];
    cairn_scene_unknown("shape", word, &words, message, sizeof message);
    return fail_row(b, s, row, message);
}

/* The form needs these columns; a radius may be a diameter, or that of the scene. */
static cairn_status check_form(cairn_scene_build *b, const source *s, int64_t row, int form)
{
    for (int k = 0; k < 4 && forms[form].needs[k] != X; k++) {
        int q = forms[form].needs[k];
        bool there = s->column[q] >= 0 || (q == SIZE_Z && b->dimension == 2) ||
                     (q == RADIUS && (s->column[DIAMETER] >= 0 || s->options.radius > 0));
        char message[160];
        if (there)
            continue;
        snprintf(message, sizeof message, "the table has no column '%s', which a %s needs",
                 names[q][0], cairn_shape_record((int)forms[form].kind)->name);
        return fail_row(b, s, row, message);
    }
    return CAIRN_OK;
}

/* The data of a file that a row names. The error of the file is told with the row. */
static cairn_status take_file(cairn_scene_build *b, const source *s, int64_t row, cairn_shape *out)
{
    cairn_yaml_node name = *s->file;
    name.text = cairn_table_word(s->table, row, s->column[FILE_NAME]);
    if (!name.text)
        return fail_row(b, s, row, "found no file, expected the name of an .obj or .stl file");
    cairn_status status =
        cairn_scene_load_shape(b, &name, out->kind, s->options.scale, &out->geometry);
    if (status != CAIRN_OK && status != CAIRN_NO_MEMORY) {
        const cairn_error said = *b->error;
        fail_row(b, s, row, said.message);
    }
    return status;
}

/* The shape of a row. Its geometry, if it has one, is released by the caller. */
static cairn_status take_shape(cairn_scene_build *b, const source *s, int64_t row, cairn_shape *out)
{
    double number, scale = s->options.scale;
    cairn_vec3 size = { 0, 0, 0 };
    int form;
    TRY(take_form(b, s, row, &form));
    TRY(check_form(b, s, row, form));
    *out = cairn_shape_default(forms[form].kind, b->dimension);
    for (int k = 0; k < 4 && forms[form].needs[k] != X; k++) {
        int q = forms[form].needs[k];
        if (q == FILE_NAME)
            return take_file(b, s, row, out);
        TRY(q == RADIUS ? take_radius(b, s, row, &number) : take(b, s, row, q, 0, &number));
        double *const fields[QUANTITIES] = {
            [RADIUS] = &out->radius, [HEIGHT] = &out->height, [LENGTH] = &out->length,
            [SIZE_X] = &size.x,      [SIZE_Y] = &size.y,      [SIZE_Z] = &size.z
        };
        *fields[q] = scale * number;
    }
    out->size = size;
    out->semi_axes = (cairn_vec3){ size.x / 2, size.y / 2, size.z / 2 };
    return CAIRN_OK;
}

/* The shape, the material, and the mass or density. */
static cairn_status take_substance(cairn_scene_build *b, const source *s, int64_t row,
                                   cairn_body_def *def)
{
    double type;
    def->shape = s->shape;
    if (s->shape.kind == CAIRN_SHAPE_COUNT)
        TRY(take_shape(b, s, row, &def->shape));
    TRY(take(b, s, row, DENSITY, s->options.density, &def->density));
    TRY(take(b, s, row, MASS, 0, &def->mass));
    if (s->column[MASS] >= 0 && !(def->mass > 0) && !s->options.glued)
        return fail_row(b, s, row, "found a mass that is not greater than 0");
    TRY(take(b, s, row, TYPE, 1, &type));
    def->material = s->material;
    if (s->material_count == 0)
        return CAIRN_OK;
    if (!(type >= 1 && type <= s->material_count && type == floor(type)))
        return fail_row(b, s, row, "found a type that is not the number of one of 'materials'");
    def->material = s->materials[(int)type - 1];
    return CAIRN_OK;
}

static cairn_status make_body(cairn_scene_build *b, const source *s, int64_t row,
                              cairn_body_def *def)
{
    cairn_world *world = b->scene->world;
    cairn_body_id id;
    TRY(take_pose(b, s, row, def));
    TRY(take_motion(b, s, row, def));
    TRY(take_substance(b, s, row, def));
    def->group = s->options.group;
    def->mask = s->options.mask;
    cairn_status status = cairn_body_create(world, def, &id);
    if (status == CAIRN_NO_MEMORY)
        return cairn_scene_no_memory(b);
    return status == CAIRN_OK ? status : fail_row(b, s, row, cairn_world_error(world)->message);
}

/* The world holds the geometry of a row; the reference of the reader is released. */
static cairn_status make_bodies(cairn_scene_build *b, const source *s)
{
    TRY(cairn_world_reserve(b->scene->world, s->table->row_count));
    for (int64_t row = 0; row < s->table->row_count; row++) {
        cairn_body_def def = cairn_body_def_default();
        cairn_status status = make_body(b, s, row, &def);
        if (def.shape.geometry != s->shape.geometry)
            cairn_geometry_release(def.shape.geometry);
        TRY(status);
    }
    return CAIRN_OK;
}

/* ---- the options ---------------------------------------------------------------------------- */

static void set_default(void *options)
{
    *(cairn_scene_table *)options = (cairn_scene_table){
        .scale = 1, .density = 1000, .format = "auto", .frame = -1, .mask = CAIRN_ALL_GROUPS
    };
}

/* "auto", then the formats. */
static const char *format_name(int index)
{
    return index == 0 ? "auto" : cairn_table_format_name(index - 1);
}

const cairn_record *cairn_scene_table_record(void)
{
    static const cairn_option options[] = {
        { "scale", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_table, scale), CAIRN_POSITIVE,
          1e12, "", "times all lengths and velocities of the table; 0.001 for mm", NULL },
        { "origin", CAIRN_OPTION_VECTOR, false, offsetof(cairn_scene_table, origin), -1e30, 1e30,
          "m", "added to all positions", NULL },
        { "radius", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_table, radius), 0, 1e30, "m",
          "of every sphere, where the table has no radius", NULL },
        { "density", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_table, density), CAIRN_POSITIVE,
          1e12, "kg/m^3", "in 2D kg/m^2; where the table has neither mass nor density", NULL },
        { "glued", CAIRN_OPTION_FLAG, false, offsetof(cairn_scene_table, glued), 0, 1, "",
          "the bodies never move", NULL },
        { "format", CAIRN_OPTION_NAME, false, offsetof(cairn_scene_table, format), 0, 0, "",
          "of the file; auto: by its ending", format_name },
        { "frame", CAIRN_OPTION_INTEGER, false, offsetof(cairn_scene_table, frame), -1, 9e15, "",
          "lammps-dump: number of the snapshot, from 0; -1: the last", NULL },
        { "group", CAIRN_OPTION_INTEGER, false, offsetof(cairn_scene_table, group), 0, 30, "",
          "collision group of every body", NULL },
        { "mask", CAIRN_OPTION_INTEGER, false, offsetof(cairn_scene_table, mask), 0,
          CAIRN_ALL_GROUPS, "", "groups that they may touch: the sum of 2^g over these groups g",
          NULL },
    };
    static const cairn_record record = { .name = "table",
                                         .summary = "bodies from a file, one a row",
                                         .size = sizeof(cairn_scene_table),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* A material for every type, or one for all. */
static cairn_status read_materials(cairn_scene_build *b, source *s)
{
    const cairn_yaml_node *list = cairn_yaml_find(s->node, "materials");
    if (!list)
        return cairn_scene_read_material(b, s->node, &s->material);
    TRY(cairn_scene_refuse_both(b, s->node, "material", "materials"));
    TRY(cairn_scene_check_list(b, list, "materials"));
    int *numbers = cairn_arena_take(b->arena, (size_t)list->count, sizeof *numbers);
    if (!numbers)
        return cairn_scene_no_memory(b);
    for (const cairn_yaml_node *n = list->first; n; n = n->next)
        TRY(cairn_scene_find_material(b, n, &numbers[s->material_count++]));
    s->materials = numbers;
    return CAIRN_OK;
}

static cairn_status load_table(cairn_scene_build *b, source *s)
{
    char path[CAIRN_PATH_BYTES];
    const cairn_yaml_node *group = cairn_yaml_find(s->node, "path");
    bool automatic = strcmp(s->options.format, "auto") == 0;
    cairn_table_options options = { .format = automatic ? NULL : s->options.format,
                                    .group = group ? group->text : NULL,
                                    .frame = s->options.frame };
    cairn_error said = { 0 };
    if (group && (group->kind != CAIRN_YAML_SCALAR || !group->text[0]))
        return cairn_yaml_fail(group, NULL, b->error, "expected the path of a group in the file");
    TRY(cairn_scene_find_file(b, s->file, path));
    return cairn_scene_blame_file(b, cairn_table_read(path, &options, &s->table, &said), s->file,
                                  &said);
}

static cairn_status read_source(cairn_scene_build *b, source *s)
{
    const cairn_yaml_node *columns = cairn_yaml_find(s->node, "columns");
    const cairn_yaml_node *shape = cairn_yaml_find(s->node, "shape");
    TRY(cairn_scene_read_record(b, s->node, cairn_scene_table_record(), &s->options));
    TRY(read_materials(b, s));
    if (shape)
        TRY(cairn_scene_read_shape(b, shape, &s->shape));
    TRY(load_table(b, s));
    for (int q = 0; q < QUANTITIES; q++)
        s->column[q] = -1;
    if (columns)
        TRY(read_columns(b, columns, s));
    guess_columns(b, s, columns != NULL);
    return check_columns(b, s);
}

cairn_status cairn_scene_read_table(cairn_scene_build *b, const cairn_yaml_node *node)
{
    source s = { .node = node,
                 .file = cairn_yaml_find(node, "file"),
                 .shape.kind = CAIRN_SHAPE_COUNT };
    set_default(&s.options);
    int first = (int)cairn_world_body_count(b->scene->world);
    cairn_status status = read_source(b, &s);
    if (status == CAIRN_OK)
        status = make_bodies(b, &s);
    cairn_geometry_release(s.shape.geometry);
    cairn_table_destroy(s.table);
    b->origins[b->origin_count++] = (cairn_scene_origin){ first, node };
    return status;
}
