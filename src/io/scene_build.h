/* scene_build.h - between the stages that turn the tree of a scene file into a world.
 *
 * Every mapping of the format is described by cairn_scene_keys: option tables (base.h) for what
 * a table can say, and a short list of further keys for what has a structure of its own (a shape,
 * a list of drivers, a material by name). The reader and the JSON Schema use the same lines. */
#ifndef CAIRN_IO_SCENE_BUILD_H
#define CAIRN_IO_SCENE_BUILD_H

#include "base/arena.h"
#include "cairn/scene.h"
#include "io/yaml.h"

/* A key that no option table describes. */
typedef struct cairn_scene_key {
    const char *name;
    bool required;
    const char *text;   /* one line for people       */
    const char *schema; /* its JSON Schema, as JSON  */
} cairn_scene_key;

/* The keys of one kind of mapping. */
typedef struct cairn_scene_keys {
    const cairn_record *record, *second; /* option tables; NULL: none */
    const cairn_scene_key *further;
    int further_count;
} cairn_scene_keys;

/* One of several subjects by name: shapes, drivers, ... `at` ends with NULL. */
typedef const cairn_record *cairn_record_fn(int kind);
typedef struct cairn_scene_choice {
    const char *noun; /* "shape" */
    cairn_record_fn *at;
} cairn_scene_choice;

/* An empty scene, and the arena for what it points to. Freed by cairn_scene_destroy. */
cairn_status cairn_scene_create(cairn_scene **out, cairn_arena **arena);

/* The format, in scene_format.c. */
cairn_scene_keys cairn_scene_root_keys(void);
cairn_scene_keys cairn_scene_run_keys(void);
cairn_scene_keys cairn_scene_measure_keys(void);
cairn_scene_keys cairn_scene_material_keys(void);
cairn_scene_keys cairn_scene_pair_keys(void);
cairn_scene_keys cairn_scene_body_keys(void);
cairn_scene_keys cairn_scene_orientation_keys(void);
/* Of shape `kind`; its second table fills a cairn_scene_source. */
cairn_scene_keys cairn_scene_shape_keys(int kind);
/* Of a part of a compound; its table fills a cairn_scene_place. */
cairn_scene_keys cairn_scene_part_keys(void);
/* Of generator `kind` as cairn_scene_generators numbers them. */
cairn_scene_keys cairn_scene_generator_keys(int kind);
/* Of joint kind `kind`: its table, the two bodies, and the drives it has. */
cairn_scene_keys cairn_scene_joint_keys(int kind);
extern const cairn_scene_choice cairn_scene_shapes, cairn_scene_drivers, cairn_scene_loads,
    cairn_scene_distributions, cairn_scene_generators, cairn_scene_friction_laws,
    cairn_scene_joints;
/* The number under which cairn_scene_generators has the inlet. */
int cairn_scene_inlet_kind(void);
/* Whether a vector option turns (torque, angular velocity, inertia): in 2D it is one number. */
bool cairn_scene_is_angular(const cairn_option *option);
/* The table of dimension and gravity within cairn_world_def. */
const cairn_record *cairn_scene_world_record(void);
/* An axis and an angle. */
typedef struct cairn_scene_turn {
    cairn_vec3 axis;
    double angle; /* rad */
} cairn_scene_turn;

/* What a shape's data are made from, besides points, heights and parts. */
typedef struct cairn_scene_source {
    double scale;              /* of the coordinates in a file */
    bool closed;               /* polyline                     */
    double spacing, spacing_y; /* m: height field              */
} cairn_scene_source;
/* Where a part sits. */
typedef struct cairn_scene_place {
    cairn_vec3 position; /* m       */
    double angle;        /* rad, 2D */
} cairn_scene_place;

/* Which node made the bodies from number `first` on. */
typedef struct cairn_scene_origin {
    int first;
    const cairn_yaml_node *node;
} cairn_scene_origin;

/* A file of triangles that was read, in scene_shape.c. */
typedef struct cairn_scene_file cairn_scene_file;

/* A scene being built. */
typedef struct cairn_scene_build {
    cairn_scene *scene;
    cairn_arena *arena; /* names and lists that live as long as the scene */
    cairn_yaml tree;
    int dimension;
    const char **material_names, **body_names;
    const char **named_bodies;   /* the names that bodies have, for joints; ends with NULL */
    cairn_scene_origin *origins; /* by rising `first` */
    int origin_count;
    int64_t bodies_to_come;  /* that inlets will pour             */
    cairn_scene_file *files; /* read so far, the newest first     */
    cairn_error *error;      /* never NULL            */
} cairn_scene_build;

/* ---- reading through tables, in scene_record.c ---------------------------------------------- */

/* The node must be a mapping (or nothing) with known keys only and all the required ones. */
cairn_status cairn_scene_check_keys(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                    const cairn_scene_keys *keys);
/* Read what the mapping gives of a table into `options`; what it does not give stays. */
cairn_status cairn_scene_read_record(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const cairn_record *record, void *options);
/* A mapping {name: {...}} or just a name: which kind it is, and the node with its options. */
cairn_status cairn_scene_read_choice(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_scene_choice *choice, int *kind,
                                     const cairn_yaml_node **value);
/* The options of something named `name`, where the bare name stands for none given. */
cairn_yaml_node cairn_scene_options_of(const cairn_yaml_node *node, const char *name);
/* What the node of a kind gives of its table: a mapping with known keys, or the bare name. */
cairn_status cairn_scene_read_options(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_record *record, void *options);
/* A text that can serve as a name: not empty, at most 63 bytes, all of them printable. */
cairn_status cairn_scene_read_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                   const char **out);
/* The node must be a list. */
cairn_status cairn_scene_check_list(cairn_scene_build *b, const cairn_yaml_node *node,
                                    const char *of_what);
/* Refuse two keys that exclude each other. */
cairn_status cairn_scene_refuse_both(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const char *one, const char *other);
/* "found X, expected ..." with the unknown word and what is near it. */
cairn_status cairn_scene_fail_word(cairn_scene_build *b, const cairn_yaml_node *node, bool at_key,
                                   const char *noun, const char *const *known);
/* A copy of a text that lives as long as the scene. */
cairn_status cairn_scene_keep_text(cairn_scene_build *b, const char *text, const char **out);
/* Say that there is no memory. */
cairn_status cairn_scene_no_memory(cairn_scene_build *b);
/* A call of the library failed with `said`: add the place of `node` and pass the status on. */
cairn_status cairn_scene_blame(cairn_scene_build *b, cairn_status status,
                               const cairn_yaml_node *node, const cairn_error *said);

/* ---- stages -------------------------------------------------------------------------------- */

cairn_status cairn_scene_read_run(cairn_scene_build *b);
cairn_status cairn_scene_read_measure(cairn_scene_build *b);
cairn_status cairn_scene_read_world(cairn_scene_build *b);
cairn_status cairn_scene_read_materials(cairn_scene_build *b);
cairn_status cairn_scene_read_bodies(cairn_scene_build *b);
cairn_status cairn_scene_read_joints(cairn_scene_build *b);
cairn_status cairn_scene_read_generators(cairn_scene_build *b);
cairn_status cairn_scene_check_overlap(cairn_scene_build *b);

/* Whether the steps of a run can be counted: at most 2^53. In run_options.c. */
cairn_status cairn_run_check_steps(const cairn_scene *scene, cairn_error *error);

/* A message of the world with "body 12" replaced by "body 'ball'" where the scene names it; cut
 * when the room is too small. (scene_label.c) */
void cairn_scene_name_bodies(const cairn_scene *scene, const char *message, char *out,
                             size_t capacity);

/* A shape; what *out holds in `geometry` is to be released, also after a failure. */
cairn_status cairn_scene_read_shape(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_shape *out);
/* Give back what reading shapes held for the next one of the same file. */
void cairn_scene_release_files(cairn_scene_build *b);
/* {axis, angle} or a quaternion, 3D only; NULL leaves *out. */
cairn_status cairn_scene_read_orientation(cairn_scene_build *b, const cairn_yaml_node *node,
                                          cairn_quat *out);
/* The number of the material a mapping names, or the only one there is. */
cairn_status cairn_scene_read_material(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                       int *out);

#endif
