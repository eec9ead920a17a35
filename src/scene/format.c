/* scene_format.c - the keys of the scene format that no option table of the library describes.
 *
 * docs/scene-format.md is the page for people; schema.c writes these lines for editors. */
#include <string.h>

#include "base/count.h"
#include "cairn/joint.h"
#include "io/scene_build.h"

/* ---- the top ------------------------------------------------------------------------------- */

static void world_default(void *options)
{
    *(cairn_world_def *)options = cairn_world_def_default();
}

static const cairn_option world_options[] = {
    { "dimension", CAIRN_OPTION_INTEGER, false, offsetof(cairn_world_def, dimension), 2, 3, "",
      "2: a plane with disks; 3: space with spheres", NULL },
    { "gravity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_world_def, gravity), -1e30, 1e30,
      "m/s^2", "acceleration of free fall; in 2D [0, -9.81] when not given", NULL },
};

static const cairn_record world_record = {
    "world",       "space and gravity", sizeof(cairn_world_def),
    world_default, world_options,       CAIRN_COUNT(world_options),
};

const cairn_record *cairn_scene_world_record(void)
{
    return &world_record;
}

static const cairn_scene_key root_further[] = {
    { "cairn", true, "version of the scene format", "{\"const\": 1}" },
    { "title", false, "one line that says what the scene is",
      "{\"type\": \"string\", \"maxLength\": 127}" },
    { "materials", false, "surface properties by name",
      "{\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/material\"}}" },
    { "pairs", false, "exceptions: what holds between two materials",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/pair\"}}" },
    { "bodies", false, "bodies one by one",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/body\"}}" },
    { "joints", false, "joints, motors and springs between bodies",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/joint\"}}" },
    { "generators", false, "many bodies at once, made in this order after the bodies",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/generator\"}}" },
    { "run", true, "how to step and what to write", "{\"$ref\": \"#/$defs/run\"}" },
    { "measure", false, "how the statistics of run.statistics are measured",
      "{\"$ref\": \"#/$defs/measure\"}" },
};

cairn_scene_keys cairn_scene_root_keys(void)
{
    return (cairn_scene_keys){ &world_record, NULL, root_further, CAIRN_COUNT(root_further) };
}

cairn_scene_keys cairn_scene_run_keys(void)
{
    return (cairn_scene_keys){ cairn_step_record(), cairn_run_record(), NULL, 0 };
}

cairn_scene_keys cairn_scene_measure_keys(void)
{
    return (cairn_scene_keys){ cairn_measure_record(), NULL, NULL, 0 };
}

/* ---- materials ----------------------------------------------------------------------------- */

#define FRICTION_LAW_KEY                                                                           \
    {                                                                                              \
        "friction_law", false, "friction that depends on the sliding speed, in place of friction", \
            "{\"$ref\": \"#/$defs/friction_law\"}"                                                 \
    }

cairn_scene_keys cairn_scene_material_keys(void)
{
    static const cairn_scene_key further[] = { FRICTION_LAW_KEY };
    return (cairn_scene_keys){ cairn_material_record(), NULL, further, CAIRN_COUNT(further) };
}

cairn_scene_keys cairn_scene_pair_keys(void)
{
    static const cairn_scene_key further[] = {
        { "materials", true, "the two materials that meet; may be the same one twice",
          "{\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 2, "
          "\"maxItems\": 2}" },
        FRICTION_LAW_KEY,
    };
    return (cairn_scene_keys){ cairn_material_record(), NULL, further, CAIRN_COUNT(further) };
}

/* ---- bodies -------------------------------------------------------------------------------- */

cairn_scene_keys cairn_scene_body_keys(void)
{
    static const cairn_scene_key further[] = {
        { "name", false, "for messages and files; no two bodies share one",
          "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": 63}" },
        { "motion", false,
          "dynamic (when not given): moved by forces and contacts; fixed: never "
          "moves; driven: moved by its drivers",
          "{\"enum\": [\"dynamic\", \"fixed\", \"driven\"], \"default\": \"dynamic\"}" },
        { "shape", true, "what it looks like", "{\"$ref\": \"#/$defs/shape\"}" },
        { "material", false, "name of its material; needed when there are several",
          "{\"type\": \"string\"}" },
        { "orientation", false,
          "3D: turned by an angle about an axis, or a quaternion [w, x, y, z]",
          "{\"$ref\": \"#/$defs/orientation\"}" },
        { "drivers", false, "motions that add up, with motion: driven",
          "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/driver\"}}" },
        { "loads", false, "forces and torques that add up",
          "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/load\"}}" },
    };
    return (cairn_scene_keys){ cairn_body_record(), NULL, further, CAIRN_COUNT(further) };
}

static void turn_default(void *options)
{
    *(cairn_scene_turn *)options = (cairn_scene_turn){ { 0, 0, 1 }, 0 };
}

cairn_scene_keys cairn_scene_orientation_keys(void)
{
    static const cairn_option options[] = {
        { "axis", CAIRN_OPTION_VECTOR, true, offsetof(cairn_scene_turn, axis), -CAIRN_UNBOUNDED,
          CAIRN_UNBOUNDED, "", "direction to turn about; its length does not matter", NULL },
        { "angle", CAIRN_OPTION_REAL, true, offsetof(cairn_scene_turn, angle), -CAIRN_UNBOUNDED,
          CAIRN_UNBOUNDED, "rad", "by how much, right-handed", NULL },
    };
    static const cairn_record record = {
        "orientation", "a turn about an axis", sizeof(cairn_scene_turn), turn_default,
        options,       CAIRN_COUNT(options),
    };
    return (cairn_scene_keys){ &record, NULL, NULL, 0 };
}

/* ---- shapes -------------------------------------------------------------------------------- */

static void source_default(void *options)
{
    *(cairn_scene_source *)options = (cairn_scene_source){ .scale = 1 };
}

#define POINTS_SCHEMA                                                                              \
    "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": \"number\"}, "   \
    "\"minItems\": 2, \"maxItems\": 3}, \"minItems\": 2}"
#define FILE_SCHEMA "{\"type\": \"string\", \"pattern\": \"\\\\.([oO][bB][jJ]|[sS][tT][lL])$\"}"

static const cairn_option scale_options[] = {
    { "scale", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_source, scale), CAIRN_POSITIVE, 1e12,
      "", "times the coordinates of points or file; 0.001 for mm", NULL },
};
static const cairn_option closed_options[] = {
    { "closed", CAIRN_OPTION_FLAG, false, offsetof(cairn_scene_source, closed), 0, 0, "",
      "a last segment leads back to the first point", NULL },
};
static const cairn_option spacing_options[] = {
    { "spacing", CAIRN_OPTION_REAL, true, offsetof(cairn_scene_source, spacing), CAIRN_POSITIVE,
      1e12, "m", "between neighbours in a row, along x", NULL },
    { "spacing_y", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_source, spacing_y), 0, 1e12, "m",
      "between rows, along y; 0: as spacing", NULL },
};
static const cairn_record scale_record = {
    "scale",        "unit of the points", sizeof(cairn_scene_source),
    source_default, scale_options,        CAIRN_COUNT(scale_options),
};
static const cairn_record closed_record = {
    "closed",       "open or closed", sizeof(cairn_scene_source),
    source_default, closed_options,   CAIRN_COUNT(closed_options),
};
static const cairn_record spacing_record = {
    "spacing",      "the grid",      sizeof(cairn_scene_source),
    source_default, spacing_options, CAIRN_COUNT(spacing_options),
};

static const cairn_scene_key points_or_file[] = {
    { "points", false, "points whose hull it is; this or file", POINTS_SCHEMA },
    { "file", false, "3D: .obj or .stl file beside the scene, whose vertices are the points",
      FILE_SCHEMA },
};
static const cairn_scene_key file_key[] = {
    { "file", true, ".obj or .stl file in the scene's folder or below", FILE_SCHEMA },
};
static const cairn_scene_key points_key[] = {
    { "points", true, "points [x, y] that the segments join, solid on the left", POINTS_SCHEMA },
};
static const cairn_scene_key heights_key[] = {
    { "heights", true, "rows of heights in m, the first row at the smallest y",
      "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": \"number\"}, "
      "\"minItems\": 2}, \"minItems\": 2}" },
};
static const cairn_scene_key parts_key[] = {
    { "parts", true, "shapes with their places",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/part\"}, \"minItems\": 1}" },
};

cairn_scene_keys cairn_scene_shape_keys(int kind)
{
    const cairn_record *record = cairn_shape_record(kind);
    switch (kind) {
    case CAIRN_SHAPE_POLYHEDRON:
        return (cairn_scene_keys){ record, &scale_record, points_or_file,
                                   CAIRN_COUNT(points_or_file) };
    case CAIRN_SHAPE_MESH:
        return (cairn_scene_keys){ record, &scale_record, file_key, CAIRN_COUNT(file_key) };
    case CAIRN_SHAPE_POLYLINE:
        return (cairn_scene_keys){ record, &closed_record, points_key, CAIRN_COUNT(points_key) };
    case CAIRN_SHAPE_HEIGHT_FIELD:
        return (cairn_scene_keys){ record, &spacing_record, heights_key, CAIRN_COUNT(heights_key) };
    case CAIRN_SHAPE_COMPOUND:
        return (cairn_scene_keys){ record, NULL, parts_key, CAIRN_COUNT(parts_key) };
    default:
        return (cairn_scene_keys){ .record = record };
    }
}

static void place_default(void *options)
{
    *(cairn_scene_place *)options = (cairn_scene_place){ { 0, 0, 0 }, 0 };
}

cairn_scene_keys cairn_scene_part_keys(void)
{
    static const cairn_option options[] = {
        { "position", CAIRN_OPTION_VECTOR, false, offsetof(cairn_scene_place, position),
          -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED, "m", "of the part's origin in the compound", NULL },
        { "angle", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_place, angle), -CAIRN_UNBOUNDED,
          CAIRN_UNBOUNDED, "rad", "orientation in the compound, 2D only", NULL },
    };
    static const cairn_record record = {
        "part",  "a shape in a compound", sizeof(cairn_scene_place), place_default,
        options, CAIRN_COUNT(options),
    };
    static const cairn_scene_key further[] = {
        { "shape", true, "what it looks like", "{\"$ref\": \"#/$defs/shape\"}" },
        { "orientation", false,
          "3D: turned by an angle about an axis, or a quaternion [w, x, y, z]",
          "{\"$ref\": \"#/$defs/orientation\"}" },
    };
    return (cairn_scene_keys){ &record, NULL, further, CAIRN_COUNT(further) };
}

/* ---- things by kind ------------------------------------------------------------------------ */

int cairn_scene_inlet_kind(void)
{
    return CAIRN_GENERATOR_COUNT;
}

/* The generators, and after them the inlet, which goes on making bodies during the run. */
static const cairn_record *generator_at(int kind)
{
    return kind == cairn_scene_inlet_kind() ? cairn_inlet_record() : cairn_generator_record(kind);
}

const cairn_scene_choice cairn_scene_shapes = { "shape", cairn_shape_record };
const cairn_scene_choice cairn_scene_drivers = { "driver", cairn_driver_record };
const cairn_scene_choice cairn_scene_loads = { "load", cairn_load_record };
const cairn_scene_choice cairn_scene_distributions = { "distribution", cairn_distribution_record };
const cairn_scene_choice cairn_scene_friction_laws = { "friction_law", cairn_friction_law_record };
const cairn_scene_choice cairn_scene_generators = { "generator", generator_at };

cairn_scene_keys cairn_scene_generator_keys(int kind)
{
    static const cairn_scene_key further[] = {
        { "shape", false,
          "of every body instead of a sphere; radius is then that of the ball that holds it, and "
          "may be left out",
          "{\"$ref\": \"#/$defs/shape\"}" },
        { "radius", false, "radius in m: a number or a distribution; needed for spheres",
          "{\"$ref\": \"#/$defs/distribution\"}" },
        { "material", false, "name of its material; needed when there are several",
          "{\"type\": \"string\"}" },
        { "mass", false, "mass in kg: a number or a distribution; from the density when not given",
          "{\"$ref\": \"#/$defs/distribution\"}" },
    };
    /* the mass, which is the last, is in the table of the inlet */
    bool inlet = kind == cairn_scene_inlet_kind();
    return (cairn_scene_keys){ generator_at(kind), NULL, further,
                               inlet ? CAIRN_COUNT(further) - 1 : CAIRN_COUNT(further) };
}

const cairn_scene_choice cairn_scene_joints = { "joint", cairn_joint_record };

#define DRIVE_SCHEMA "{\"$ref\": \"#/$defs/drive\"}"

cairn_scene_keys cairn_scene_joint_keys(int kind)
{
    static const cairn_scene_key further[] = {
        { "turn", false, "limits, motor, friction, spring of its angle", DRIVE_SCHEMA },
        { "a", true, "name of the first body", "{\"type\": \"string\"}" },
        { "b", false, "name of the second body; without it the world", "{\"type\": \"string\"}" },
        { "slide", false, "limits, motor, friction, spring of its length", DRIVE_SCHEMA },
    };
    int first = cairn_joint_turns((cairn_joint_kind)kind) ? 0 : 1;
    int last = cairn_joint_slides((cairn_joint_kind)kind) ? CAIRN_COUNT(further)
                                                          : CAIRN_COUNT(further) - 1;
    return (cairn_scene_keys){ cairn_joint_record(kind), NULL, further + first, last - first };
}

bool cairn_scene_is_angular(const cairn_option *option)
{
    static const char *const units[] = { "rad/s", "N m", "kg m^2" };
    for (int i = 0; i < CAIRN_COUNT(units); i++)
        if (option->type == CAIRN_OPTION_VECTOR && strcmp(option->unit, units[i]) == 0)
            return true;
    return false;
}
