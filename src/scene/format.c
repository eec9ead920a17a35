/* format.c - the keys of the scene format that no option table of the library describes, and the
 * tables of the values that only scenes have.
 *
 * docs/scene-format.md describes the format for users. schema.c writes these lines for editors;
 * the field `schema` of a further key is therefore a JSON object that begins with `{`. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "cairn/joint.h"
#include "scene/stages.h"

/* ---- the top ------------------------------------------------------------------------------- */

static void world_default(void *options)
{
    *(cairn_world_def *)options = cairn_world_def_default();
}

/* The dimension must come first: world.c reads it alone before the vectors, whose length depends
 * on it. The range of gravity keeps NaN and infinity out. */
static const cairn_option world_options[] = {
    { "dimension", CAIRN_OPTION_INTEGER, false, offsetof(cairn_world_def, dimension), 2, 3, "",
      "2: a plane with disks; 3: space with spheres", NULL },
    { "gravity", CAIRN_OPTION_VARYING_VECTOR, false, offsetof(cairn_world_def, gravity), -1e30,
      1e30, "m/s^2", "acceleration of free fall; in 2D [0, -9.81] when not given", NULL },
};

static const cairn_record world_record = {
    "world",       "space and gravity", sizeof(cairn_world_def),
    world_default, world_options,       CAIRN_COUNT(world_options),
};

const cairn_record *cairn_scene_world_record(void)
{
    return &world_record;
}

/* The parts of a scene that are mappings or lists of their own; their schemas stand in $defs. */
static const cairn_scene_key root_further[] = {
    { "cairn", true, "version of the scene format", "{\"const\": 1}" },
    { "title", false, "one line that says what the scene is",
      "{\"type\": \"string\", \"maxLength\": 127}" },
    { "include", false, "sub-scenes: a file or a list of files in the scene's folder or below",
      "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": "
      "\"string\"}, \"maxItems\": 64}]}" },
    { "parameters", false, "values that the scene uses as $name and in $(formulas)",
      "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", \"string\", "
      "\"boolean\"]}}" },
    { "start", false, "the state of a run from which this scene starts",
      "{\"$ref\": \"#/$defs/start\"}" },
    { "periodic", false, "axes along which the world repeats itself, and how the cell deforms",
      "{\"$ref\": \"#/$defs/periodic\"}" },
    { "materials", false, "surface properties by name",
      "{\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/material\"}}" },
    { "pairs", false, "exceptions: what holds between two materials",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/pair\"}}" },
    { "bodies", false, "bodies one by one",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/body\"}}" },
    { "drivers", false, "motions of groups of driven bodies, each group as one",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/driven_group\"}}" },
    { "joints", false, "joints, motors and springs between bodies",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/joint\"}}" },
    { "generators", false, "many bodies at once, made in this order after the bodies",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/generator\"}}" },
    { "cells", false, "walls that press on grains by a stress, a force or a rate of strain",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/cell\"}, \"maxItems\": 4}" },
    { "outlets", false, "where bodies leave while the world runs",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/outlet\"}}" },
    { "events", false, "what happens once, when something else does",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/event\"}}" },
    { "series", false, "forces, torques and works that are written for every step",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/series\"}, \"maxItems\": 64}" },
    { "run", true, "how to step and what to write", "{\"$ref\": \"#/$defs/run\"}" },
    { "measure", false, "how the statistics of run.statistics are measured",
      "{\"$ref\": \"#/$defs/measure\"}" },
};

cairn_scene_keys cairn_scene_root_keys(void)
{
    return (cairn_scene_keys){ &world_record, NULL, root_further, CAIRN_COUNT(root_further) };
}

cairn_scene_keys cairn_scene_start_keys(void)
{
    static const cairn_scene_key further[] = {
        { "run", true, "folder of a run, as --out names it, or a state file",
          "{\"type\": \"string\", \"minLength\": 1}" },
        { "time", false, "last (when not given), or the time of a frame in s",
          "{\"anyOf\": [{\"const\": \"last\"}, {\"type\": [\"number\", \"string\"], \"pattern\": "
          "\"[$]\"}]}" },
        { "remove", false, "names of bodies of that run that are left out",
          "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}" },
    };
    return (cairn_scene_keys){ NULL, NULL, further, CAIRN_COUNT(further) };
}

/* Two tables fill two structs: how to step, and how long to run and what to write. */
cairn_scene_keys cairn_scene_run_keys(void)
{
    return (cairn_scene_keys){ cairn_step_record(), cairn_run_record(), NULL, 0 };
}

cairn_scene_keys cairn_scene_periodic_keys(void)
{
    return (cairn_scene_keys){ cairn_lattice_record(), NULL, NULL, 0 };
}

cairn_scene_keys cairn_scene_measure_keys(void)
{
    return (cairn_scene_keys){ cairn_measure_record(), NULL, NULL, 0 };
}

/* ---- materials ----------------------------------------------------------------------------- */

/* Materials and pairs have this key in common. */
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

#define NAME_SCHEMA "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": 63}"

/* ---- bodies -------------------------------------------------------------------------------- */

/* Plain values of a body (mass, position, ...) are in the table of the library; these are the
 * keys with a structure of their own. */
cairn_scene_keys cairn_scene_body_keys(void)
{
    static const cairn_scene_key further[] = {
        { "name", false, "for messages and files; no two bodies share one", NAME_SCHEMA },
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

cairn_scene_keys cairn_scene_driven_group_keys(void)
{
    static const cairn_scene_key further[] = {
        { "bodies", true, "names of driven bodies without drivers of their own",
          "{\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1}" },
        { "drivers", true,
          "motions that add up; without a point they turn about the position of the first body",
          "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/driver\"}}" },
    };
    return (cairn_scene_keys){ NULL, NULL, further, CAIRN_COUNT(further) };
}

/* Both options are required; the default only keeps the struct from being half-set. */
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

/* Only the scale has a default other than 0: coordinates are in metres if nothing else is said. */
static void source_default(void *options)
{
    *(cairn_scene_source *)options = (cairn_scene_source){ .scale = 1 };
}

/* The schema cannot know the dimension, so it allows points of 2 and of 3 coordinates. */
#define POINTS_SCHEMA                                                                              \
    "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": "                \
    "[\"number\", \"string\"], \"pattern\": \"[$]\"}, \"minItems\": 2, \"maxItems\": 3}, "         \
    "\"minItems\": 2}"
#define FILE_SCHEMA "{\"type\": \"string\", \"pattern\": \"\\\\.([oO][bB][jJ]|[sS][tT][lL])$\"}"

/* The three records below fill the same struct, but each offers only the options that its kinds
 * of shape understand; any other key is then an error. */
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

/* Neither key is required here, since a table cannot say "exactly one of two"; shape.c checks
 * that. */
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
      "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": [\"number\", "
      "\"string\"], \"pattern\": \"[$]\"}, \"minItems\": 2}, \"minItems\": 2}" },
};
static const cairn_scene_key parts_key[] = {
    { "parts", true, "shapes with their places",
      "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/part\"}, \"minItems\": 1}" },
};

/* The first table of a shape has its few numbers (radius, half lengths, ...). Only kinds with
 * data have a second one and further keys. */
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

/* A part has a pose like a body, but neither mass nor material of its own. */
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

/* The inlet follows the last generator of the library. */
int cairn_scene_inlet_kind(void)
{
    return CAIRN_GENERATOR_COUNT;
}

int cairn_scene_table_kind(void)
{
    return CAIRN_GENERATOR_COUNT + 1;
}

/* The generators, and after them the inlet, which adds bodies during the run, and the table. */
static const cairn_record *generator_at(int kind)
{
    if (kind == cairn_scene_table_kind())
        return cairn_scene_table_record();
    return kind == cairn_scene_inlet_kind() ? cairn_inlet_record() : cairn_generator_record(kind);
}

/* Everything that a scene chooses by name, with the word for it in messages and in $defs. */
const cairn_scene_choice cairn_scene_shapes = { "shape", cairn_shape_record };
const cairn_scene_choice cairn_scene_drivers = { "driver", cairn_driver_record };
const cairn_scene_choice cairn_scene_loads = { "load", cairn_load_record };
const cairn_scene_choice cairn_scene_distributions = { "distribution", cairn_distribution_record };
const cairn_scene_choice cairn_scene_friction_laws = { "friction_law", cairn_friction_law_record };
const cairn_scene_choice cairn_scene_functions = { "function", cairn_function_record };
const cairn_scene_choice cairn_scene_generators = { "generator", generator_at };

/* The keys of a table that its record does not describe. */
static cairn_scene_keys table_keys(void)
{
    static const cairn_scene_key further[] = {
        { "file", true, "the table, in the scene's folder or below",
          "{\"type\": \"string\", \"minLength\": 1}" },
        { "columns", false,
          "names or numbers of the columns x, y, z, radius, shape, size_x, file, mass, vx, ...",
          "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"string\", "
          "\"integer\"]}}" },
        { "path", false, "hdf5: path of the group that has the columns", "{\"type\": \"string\"}" },
        { "shape", false, "of every body, instead of a sphere", "{\"$ref\": \"#/$defs/shape\"}" },
        { "material", false, "name of its material; needed when there are several",
          "{\"type\": \"string\"}" },
        { "materials", false, "names of materials, by the column type, which counts from 1",
          "{\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1}" },
    };
    return (cairn_scene_keys){ cairn_scene_table_record(), NULL, further, CAIRN_COUNT(further) };
}

cairn_scene_keys cairn_scene_generator_keys(int kind)
{
    if (kind == cairn_scene_table_kind())
        return table_keys();
    static const cairn_scene_key further[] = {
        { "name", false, "by which outlets name it", NAME_SCHEMA },
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
    /* an inlet has the mass in its own table and a name, so it begins later and ends earlier */
    bool inlet = kind == cairn_scene_inlet_kind();
    return (cairn_scene_keys){ generator_at(kind), NULL, inlet ? further : further + 1,
                               CAIRN_COUNT(further) - 1 };
}

const cairn_scene_choice cairn_scene_outlets = { "outlet", cairn_outlet_record };

cairn_scene_keys cairn_scene_outlet_keys(int kind)
{
    static const cairn_scene_key further[] = {
        { "name", false, "for events and messages", NAME_SCHEMA },
        { "to", false, "name of the inlet by which bodies come back; else they are gone",
          NAME_SCHEMA },
    };
    return (cairn_scene_keys){ cairn_outlet_record(kind), NULL, further, CAIRN_COUNT(further) };
}

/* ---- cells ---------------------------------------------------------------------------------- */

cairn_scene_keys cairn_scene_cell_keys(void)
{
    static const cairn_scene_key further[] = {
        { "x", false, "walls at the ends of the x axis, and their control",
          "{\"$ref\": \"#/$defs/cell_axis\"}" },
        { "y", false, "likewise y", "{\"$ref\": \"#/$defs/cell_axis\"}" },
        { "z", false, "likewise z", "{\"$ref\": \"#/$defs/cell_axis\"}" },
    };
    return (cairn_scene_keys){ cairn_cell_record(), NULL, further, CAIRN_COUNT(further) };
}

cairn_scene_keys cairn_scene_cell_axis_keys(void)
{
    static const cairn_scene_key further[] = {
        { "low", false, "name of the wall at the lower end", NAME_SCHEMA },
        { "high", false, "name of the wall at the upper end", NAME_SCHEMA },
    };
    return (cairn_scene_keys){ cairn_cell_axis_record(), NULL, further, CAIRN_COUNT(further) };
}

/* ---- events --------------------------------------------------------------------------------- */

static void event_default(void *options)
{
    *(cairn_event *)options = (cairn_event){
        .quiet = 0.1, .body = -1, .outlet = -1, .target = -1, .step = -1, .since = INFINITY
    };
}

#define FROM                                                                                       \
    {                                                                                              \
        "from", CAIRN_OPTION_REAL, false, offsetof(cairn_event, from), -CAIRN_UNBOUNDED,           \
            CAIRN_UNBOUNDED, "s", "not before this time", NULL                                     \
    }

static const cairn_option time_options[] = {
    { "at", CAIRN_OPTION_REAL, true, offsetof(cairn_event, from), -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED,
      "s", "after the step that reaches this time", NULL },
};
static const cairn_option settled_options[] = {
    { "speed", CAIRN_OPTION_REAL, true, offsetof(cairn_event, speed), CAIRN_POSITIVE, 1e30, "m/s",
      "no dynamic body is faster", NULL },
    { "for", CAIRN_OPTION_REAL, false, offsetof(cairn_event, quiet), 0, 1e30, "s",
      "for so long, with nothing to come from inlets", NULL },
    FROM,
};
static const cairn_option mass_options[] = {
    { "mass", CAIRN_OPTION_REAL, true, offsetof(cairn_event, mass), 0, 1e30, "kg",
      "of all dynamic bodies", NULL },
    FROM,
};
static const cairn_option force_options[] = {
    { "force", CAIRN_OPTION_REAL, true, offsetof(cairn_event, force), 0, 1e30, "N",
      "magnitude of the sum of its contact forces", NULL },
    FROM,
};
static const cairn_option flow_options[] = {
    { "for", CAIRN_OPTION_REAL, true, offsetof(cairn_event, quiet), 0, 1e30, "s",
      "since the last body left", NULL },
    FROM,
};

const cairn_record *cairn_event_record(int kind)
{
    static const cairn_record records[CAIRN_EVENT_COUNT] = {
        { "time", "a time is reached", sizeof(cairn_event), event_default, time_options,
          CAIRN_COUNT(time_options) },
        { "settled", "all bodies are slow", sizeof(cairn_event), event_default, settled_options,
          CAIRN_COUNT(settled_options) },
        { "mass_below", "little mass is left", sizeof(cairn_event), event_default, mass_options,
          CAIRN_COUNT(mass_options) },
        { "force_above", "a body is pushed hard", sizeof(cairn_event), event_default, force_options,
          CAIRN_COUNT(force_options) },
        { "flow_stops", "bodies left through an outlet and no longer do", sizeof(cairn_event),
          event_default, flow_options, CAIRN_COUNT(flow_options) },
    };
    return kind >= 0 && kind < CAIRN_EVENT_COUNT ? &records[kind] : NULL;
}

/* Actions as records without options, so that they are chosen like everything else. */
static const cairn_record *action_at(int action)
{
    static const cairn_record records[CAIRN_ACTION_COUNT] = {
        { .name = "open", .summary = "remove a body, the gate" },
        { .name = "start_driver", .summary = "start the drivers of a body" },
        { .name = "stop_driver", .summary = "stop the drivers of a body" },
        { .name = "stop_run", .summary = "end the run" },
        { .name = "save_state", .summary = "write the state into a file of the run folder" },
    };
    return action >= 0 && action < CAIRN_ACTION_COUNT ? &records[action] : NULL;
}

const char *cairn_action_name(int action)
{
    return action_at(action) ? action_at(action)->name : NULL;
}

const cairn_scene_choice cairn_scene_conditions = { "condition", cairn_event_record };
const cairn_scene_choice cairn_scene_actions = { "action", action_at };

cairn_scene_keys cairn_scene_event_keys(void)
{
    static const cairn_scene_key further[] = {
        { "when", true, "what it waits for", "{\"$ref\": \"#/$defs/condition\"}" },
        { "do", true, "open, start_driver, stop_driver: BODY; stop_run; save_state: NAME",
          "{\"anyOf\": [{\"const\": \"stop_run\"}, {\"type\": \"object\", \"properties\": "
          "{\"open\": {\"type\": \"string\"}, \"start_driver\": {\"type\": \"string\"}, "
          "\"stop_driver\": {\"type\": \"string\"}, \"save_state\": {\"type\": \"string\"}}, "
          "\"minProperties\": 1, \"maxProperties\": 1, \"additionalProperties\": false}]}" },
    };
    return (cairn_scene_keys){ NULL, NULL, further, CAIRN_COUNT(further) };
}

cairn_scene_keys cairn_scene_condition_keys(int kind)
{
    static const cairn_scene_key body[] = { { "body", true, "name of the body", NAME_SCHEMA } };
    static const cairn_scene_key outlet[] = { { "outlet", false, "name of the outlet; else all",
                                                NAME_SCHEMA } };
    const cairn_record *record = cairn_event_record(kind);
    if (kind == CAIRN_EVENT_FORCE_ABOVE)
        return (cairn_scene_keys){ record, NULL, body, CAIRN_COUNT(body) };
    if (kind == CAIRN_EVENT_FLOW_STOPS)
        return (cairn_scene_keys){ record, NULL, outlet, CAIRN_COUNT(outlet) };
    return (cairn_scene_keys){ .record = record };
}

/* ---- series --------------------------------------------------------------------------------- */

static void series_default(void *options)
{
    cairn_scene_series *s = options;
    *s = (cairn_scene_series){ .probe = cairn_probe_default() };
    s->probe.low = (cairn_vec3){ -1e30, -1e30, -1e30 };
    s->probe.high = (cairn_vec3){ 1e30, 1e30, 1e30 };
}

static const cairn_option series_options[] = {
    { "interval", CAIRN_OPTION_REAL, false, offsetof(cairn_scene_series, series.interval), 0, 1e9,
      "s", "a row is the mean over the steps of this time; 0: a row a step", NULL },
    { "about", CAIRN_OPTION_VECTOR, false, offsetof(cairn_scene_series, probe.about), -1e30, 1e30,
      "m", "point of the torque; when not given the origin, of a joint its point", NULL },
    { "group", CAIRN_OPTION_INTEGER, false, offsetof(cairn_scene_series, probe.group), -1, 30, "",
      "collision group of the bodies; -1: any", NULL },
    { "low", CAIRN_OPTION_VECTOR, false, offsetof(cairn_scene_series, probe.low), -1e30, 1e30, "m",
      "lower corner of a box: dynamic bodies with their centre in it; -1e30: open", NULL },
    { "high", CAIRN_OPTION_VECTOR, false, offsetof(cairn_scene_series, probe.high), -1e30, 1e30,
      "m", "upper corner; 1e30: open", NULL },
};

const cairn_record *cairn_series_record(void)
{
    static const cairn_record record = {
        "series",
        "force, torque and work on bodies or of a joint",
        sizeof(cairn_scene_series),
        series_default,
        series_options,
        CAIRN_COUNT(series_options),
    };
    return &record;
}

cairn_scene_keys cairn_scene_series_keys(void)
{
    static const cairn_scene_key further[] = {
        { "name", true, "of the file and of the group in run.h5: letters, digits, - and _",
          "{\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_-]+$\", \"maxLength\": 40}" },
        { "bodies", false, "name of a body, or list of names",
          "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": "
          "\"string\"}, \"minItems\": 1}]}" },
        { "material", false, "name of the material of the bodies", NAME_SCHEMA },
        { "joint", false, "name of a joint", NAME_SCHEMA },
    };
    return (cairn_scene_keys){ cairn_series_record(), NULL, further, CAIRN_COUNT(further) };
}

const cairn_scene_choice cairn_scene_joints = { "joint", cairn_joint_record };

#define DRIVE_SCHEMA "{\"$ref\": \"#/$defs/drive\"}"

/* `turn` is the first and `slide` the last further key, so that a kind without one of the two
 * coordinates takes a range of the same array. */
cairn_scene_keys cairn_scene_joint_keys(int kind)
{
    static const cairn_scene_key further[] = {
        { "turn", false, "limits, motor, friction, spring of its angle", DRIVE_SCHEMA },
        { "a", true, "name of the first body", "{\"type\": \"string\"}" },
        { "b", false, "name of the second body; without it the world", "{\"type\": \"string\"}" },
        { "name", false, "for series", NAME_SCHEMA },
        { "slide", false, "limits, motor, friction, spring of its length", DRIVE_SCHEMA },
    };
    int first = cairn_joint_turns((cairn_joint_kind)kind) ? 0 : 1;
    int last = cairn_joint_slides((cairn_joint_kind)kind) ? CAIRN_COUNT(further)
                                                          : CAIRN_COUNT(further) - 1;
    return (cairn_scene_keys){ cairn_joint_record(kind), NULL, further + first, last - first };
}

/* The unit tells rotation from translation, so the option tables need no flag for it. */
bool cairn_scene_is_angular(const cairn_option *option)
{
    static const char *const units[] = { "rad/s", "N m", "kg m^2" };
    for (int i = 0; i < CAIRN_COUNT(units); i++)
        if (option->type == CAIRN_OPTION_VECTOR && strcmp(option->unit, units[i]) == 0)
            return true;
    return false;
}

/* ---- the part of `run:` that says how long to run and what to write ---------------------- */

/* The choices of an option, by number; NULL after the last one. */
static const char *on_uncertified_name(int index)
{
    static const char *const names[] = { "warn", "stop" };
    return index >= 0 && index < 2 ? names[index] : NULL;
}

/* off, summary, full: nothing, one row per step, or all data that cairn-check needs. */
static const char *certificate_name(int index)
{
    static const char *const names[] = { "off", "summary", "full" };
    return index >= 0 && index < 3 ? names[index] : NULL;
}

/* What is not listed is off: packing, statistics, saved problems, checkpoints, the end at rest. */
cairn_run_options cairn_run_options_default(void)
{
    return (cairn_run_options){ .frame_interval = 0.05,
                                .contacts = true,
                                .paraview = true,
                                .picture = true,
                                .state = true,
                                .certificate = "summary",
                                .start_overlap = 0.05,
                                .on_uncertified = "warn" };
}

static void set_default(void *options)
{
    *(cairn_run_options *)options = cairn_run_options_default();
}

static const cairn_option options[] = {
    { "duration", CAIRN_OPTION_REAL, true, offsetof(cairn_run_options, duration), CAIRN_POSITIVE,
      CAIRN_UNBOUNDED, "s", "simulated time", NULL },
    { "frame_interval", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, frame_interval), 0,
      CAIRN_UNBOUNDED, "s", "simulated time between stored frames; 0: every step", NULL },
    { "contacts", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, contacts), 0, 1, "",
      "store the contacts of each frame", NULL },
    { "paraview", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, paraview), 0, 1, "",
      "write a series of files for ParaView", NULL },
    { "picture", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, picture), 0, 1, "",
      "draw the last state as picture.svg", NULL },
    { "packing", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, packing), 0, 1, "",
      "report the packing fraction at the end", NULL },
    { "statistics", CAIRN_OPTION_NAMES, false, offsetof(cairn_run_options, statistics), 0, 0, "",
      "measure these at each frame and write them", cairn_statistic_name },
    { "certificate", CAIRN_OPTION_NAME, false, offsetof(cairn_run_options, certificate), 0, 0, "",
      "what to store of the certificate: nothing, a row a step, or all that cairn-check needs",
      certificate_name },
    { "on_uncertified", CAIRN_OPTION_NAME, false, offsetof(cairn_run_options, on_uncertified), 0, 0,
      "", "what to do when a step misses its tolerance", on_uncertified_name },
    { "save_problem", CAIRN_OPTION_LIST, false, offsetof(cairn_run_options, save_problem), 1, 9e15,
      "", "numbers of the steps whose contact problem is written", NULL },
    { "checkpoint_every", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, checkpoint_every),
      0, CAIRN_UNBOUNDED, "s",
      "simulated time between checkpoints; 0: only one when the run is interrupted", NULL },
    { "state", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, state), 0, 1, "",
      "write the last state, from which other scenes can start", NULL },
    { "start_overlap", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, start_overlap), 0, 1,
      "", "deepest overlap allowed at the start, as a share of the smaller radius", NULL },
    { "rest_speed", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, rest_speed), 0,
      CAIRN_UNBOUNDED, "m/s", "if > 0: end once the inlets are done and no body is faster", NULL },
};

/* Steps are counted exactly, and the time grows with each of them, as long as there are at most
 * 2^53: the spacing of doubles at the end T of a run is at most 2^-52 T, so t + h > t for h >=
 * 2^-53 T. The factor 1 + 1e-9 allows for rounding in the user's numbers and in the printed
 * bound. */
cairn_status cairn_run_check_steps(const cairn_scene *scene, cairn_error *error)
{
    const double most = 0x1p53;
    double h = scene->step.time_step, duration = scene->run.duration;
    double end = (scene->world ? cairn_world_time(scene->world) : 0) + duration;
    if (h > duration * (1 + 1e-9)) /* a run has at least one step, and steps are never shortened */
        return cairn_fail(error, CAIRN_BAD_INPUT, "run.time_step",
                          "found %g s for a duration of %g s, expected at most the duration", h,
                          duration);
    if (duration / h <= most && end + h > end)
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_BAD_INPUT, "run.time_step",
                      "found %g s for a duration of %g s, expected at least %.4g s: a run has at "
                      "most 2^53 (9e15) steps",
                      h, duration, end / most * (1 + 1e-9));
}

const cairn_record *cairn_run_record(void)
{
    static const cairn_record record = {
        "run",   "how long to run and what to write", sizeof(cairn_run_options), set_default,
        options, sizeof options / sizeof options[0],
    };
    return &record;
}
