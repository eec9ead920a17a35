/* stages.h - what the stages that turn the tree of a scene file into a world share.
 *
 * Every mapping of the format is described by cairn_scene_keys: option tables (base.h) for plain
 * values, and a short list of further keys for values with a structure of their own (a shape, a
 * list of drivers, a material by name). The reader and the JSON Schema use the same lines, so a
 * key that can be read is also in the schema. */
#ifndef CAIRN_SCENE_STAGES_H
#define CAIRN_SCENE_STAGES_H

#include "base/bytes.h"
#include "base/link.h"
#include "base/memory.h"
#include "cairn/cell.h"
#include "cairn/generate.h"
#include "cairn/scene.h"
#include "file/file.h"
#include "scene/yaml.h"

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

/* A value of which there are several kinds, chosen by name: shapes, drivers, ... at(kind) is the
 * table of a kind, for kind = 0, 1, ..., and NULL after the last one. */
typedef const cairn_record *cairn_record_fn(int kind);
typedef struct cairn_scene_choice {
    const char *noun; /* "shape" */
    cairn_record_fn *at;
} cairn_scene_choice;

/* ---- scenes that several processes make together --------------------------------------------- */

/* What to read: a file with overrides; `text`: its contents, if they are known already. */
typedef struct cairn_scene_request {
    const char *path;
    const char *const *overrides;
    int override_count;
    const char *text;
    size_t length;
} cairn_scene_request;

/* How one of several processes makes a scene. Each reads the whole scene and keeps its share of the
 * bodies that generators make. Without a link none are kept, which counts them. */
typedef struct cairn_scene_share {
    cairn_link *link;
    int64_t bodies;            /* dynamic bodies in all                                        */
    cairn_status elsewhere;    /* out: how far the others came, the largest status             */
    double kinetic, potential; /* out: J, of all bodies                                        */
} cairn_scene_share;

/* cairn_scene_load for one of several processes, which all call it. The worlds are joined
 * afterwards, and checked for overlaps. CAIRN_UNSUPPORTED: this scene, or a file that it names,
 * cannot be read in shares. */
cairn_status cairn_scene_load_share(const cairn_scene_request *asked, cairn_scene_share *share,
                                    cairn_scene **out, cairn_error *error);

/* A world to be saved, whole or joined. */
typedef struct cairn_saver {
    const cairn_world *world;
    void (*call)(void *context,
                 bool save); /* lets the others call the same function; NULL: whole */
    void *context;
} cairn_saver;

/* cairn_world_saved_bytes and cairn_world_save by all. */
cairn_status cairn_saver_bytes(const cairn_saver *saver, int64_t *out);
cairn_status cairn_saver_write(const cairn_saver *saver, cairn_sealing *file);
/* cairn_state_write of a scene with this world. */
cairn_status cairn_state_save(const cairn_scene *scene, const cairn_saver *saver, const char *path,
                              cairn_error *error);

/* A checkpoint of which each process is to get a share. */
typedef struct cairn_scene_saved {
    cairn_mapped file;
    cairn_saved world;
    const unsigned char *places; /* positions at the start, 24 bytes each */
    int64_t place_count;
} cairn_scene_saved;

/* In rank 0, beside the scene without the bodies of generators: the scene of its own share. */
typedef struct cairn_scene_shared {
    cairn_link link; /* the members */
    cairn_scene *scene;
    double kinetic, potential; /* J: of all bodies at the start */
    cairn_scene_saved saved;   /* of a run that goes on, until the shares are handed out */
} cairn_scene_shared;

/* An empty scene, and the arena that holds whatever the scene points to. Both are freed by
 * cairn_scene_destroy. On CAIRN_NO_MEMORY nothing is allocated. */
cairn_status cairn_scene_create(cairn_scene **out, cairn_arena **arena);

/* The format (format.c). Each function returns the keys of one kind of mapping. */
cairn_scene_keys cairn_scene_root_keys(void);
cairn_scene_keys cairn_scene_run_keys(void);
cairn_scene_keys cairn_scene_measure_keys(void);
cairn_scene_keys cairn_scene_periodic_keys(void);
cairn_scene_keys cairn_scene_material_keys(void);
cairn_scene_keys cairn_scene_pair_keys(void);
cairn_scene_keys cairn_scene_body_keys(void);
cairn_scene_keys cairn_scene_driven_group_keys(void);
cairn_scene_keys cairn_scene_orientation_keys(void);
/* Keys of shape `kind`; the second table fills a cairn_scene_source. */
cairn_scene_keys cairn_scene_shape_keys(int kind);
/* Keys of a part of a compound; the table fills a cairn_scene_place. */
cairn_scene_keys cairn_scene_part_keys(void);
/* Keys of generator `kind`, numbered as in cairn_scene_generators. */
cairn_scene_keys cairn_scene_generator_keys(int kind);
/* Keys of outlet kind `kind`. */
cairn_scene_keys cairn_scene_outlet_keys(int kind);
/* Keys of joint kind `kind`: its table, the two bodies, and the drives of its free coordinates. */
cairn_scene_keys cairn_scene_joint_keys(int kind);
extern const cairn_scene_choice cairn_scene_shapes, cairn_scene_drivers, cairn_scene_loads,
    cairn_scene_distributions, cairn_scene_generators, cairn_scene_friction_laws,
    cairn_scene_joints, cairn_scene_functions, cairn_scene_outlets, cairn_scene_conditions,
    cairn_scene_actions;
cairn_scene_keys cairn_scene_event_keys(void);
cairn_scene_keys cairn_scene_series_keys(void);
/* A series as it is read. */
typedef struct cairn_scene_series {
    cairn_force_series series;
    cairn_probe probe;
} cairn_scene_series;
cairn_scene_keys cairn_scene_cell_keys(void);
cairn_scene_keys cairn_scene_cell_axis_keys(void);
/* Keys of what an event waits for. */
cairn_scene_keys cairn_scene_condition_keys(int kind);
/* The number of the table in cairn_scene_generators, and its options (table.c). */
int cairn_scene_table_kind(void);
typedef struct cairn_scene_table {
    double scale;
    cairn_vec3 origin; /* m */
    double radius;     /* m; 0: none */
    double density;    /* kg/m^3 (2D: kg/m^2) */
    bool glued;
    const char *format; /* "auto", or a name of cairn_table_format_name */
    int64_t frame;
    int64_t group, mask; /* of every body */
} cairn_scene_table;
const cairn_record *cairn_scene_table_record(void);
/* The number of the inlet in cairn_scene_generators. An inlet is written in a scene as a
 * generator, but is a different object of the world. */
int cairn_scene_inlet_kind(void);
/* Whether a vector option describes rotation (torque, angular velocity, inertia): in 2D it is
 * one number. */
bool cairn_scene_is_angular(const cairn_option *option);
/* The table of dimension and gravity in cairn_world_def. */
const cairn_record *cairn_scene_world_record(void);
/* An axis and an angle. */
typedef struct cairn_scene_turn {
    cairn_vec3 axis;
    double angle; /* rad */
} cairn_scene_turn;

/* How the data of a shape are to be read, besides points, heights and parts. Each kind of shape
 * reads only the fields of its own table; the others keep their defaults. */
typedef struct cairn_scene_source {
    double scale;              /* factor for coordinates of points or file */
    bool closed;               /* polyline                     */
    double spacing, spacing_y; /* m: height field              */
} cairn_scene_source;
/* Pose of a part in its compound. An orientation in 3D is read separately. */
typedef struct cairn_scene_place {
    cairn_vec3 position; /* m       */
    double angle;        /* rad, 2D */
} cairn_scene_place;

/* The node that made the bodies from uid `first` on, up to `first` of the next entry. Errors
 * about a body are reported at its node. */
typedef struct cairn_scene_origin {
    int first;
    const cairn_yaml_node *node;
} cairn_scene_origin;

/* A file of triangles that has been read (shape.c). */
typedef struct cairn_scene_file cairn_scene_file;

/* A function of time in place of a number that may vary. It is read with the record of its object,
 * and belongs to the world once the object has been created. */
typedef struct cairn_scene_varying {
    cairn_function function;
    const cairn_yaml_node *node;
    int part; /* of a vector: 0, 1, 2; of a joint: 0 turn, 1 slide */
} cairn_scene_varying;

enum { CAIRN_SCENE_MOST_VARYING = 4 };

/* What is doubted about numbers of a scene (doubts.c). */
typedef enum cairn_scene_doubtful {
    CAIRN_DOUBT_DEGREES,
    CAIRN_DOUBT_LIMITS,
    CAIRN_DOUBT_PERCENT,
    CAIRN_DOUBT_DENSITY,
    CAIRN_DOUBT_GRAVITY,
    CAIRN_DOUBT_FILE,
    CAIRN_DOUBT_SIZE,
    CAIRN_DOUBT_STEP,
    CAIRN_DOUBT_COUNT
} cairn_scene_doubtful;

/* A scene under construction. It exists only during cairn_scene_load; the scene outlives it. */
typedef struct cairn_scene_build {
    cairn_scene *scene;
    cairn_arena *arena; /* names and lists that live as long as the scene */
    cairn_yaml tree;    /* freed when the scene has been built */
    int dimension;      /* 2 or 3; decides how vectors are read */
    /* by number and by uid; bodies without a name have NULL */
    const char **material_names, **body_names;
    int name_room;               /* entries that body_names has room for */
    int state_names;             /* entries of body_names that a start brought */
    const char **named_bodies;   /* the names in use, for messages; ends with NULL */
    cairn_scene_origin *origins; /* by rising `first` */
    int origin_count;
    int64_t bodies_to_come; /* that inlets will add during the run */
    bool chooses_backend;   /* run.backend is auto */
    /* by number, end with NULL; "" for one without a name */
    const char **inlet_names, **outlet_names;
    const char **joint_names; /* of the joints of this file; NULL: there are none */
    int first_joint;          /* number of the first of these in the world        */
    /* functions read since the last call of cairn_scene_vary, and the part that is being read */
    cairn_scene_varying varying[CAIRN_SCENE_MOST_VARYING];
    int varying_count, part;
    cairn_scene_file *files;                /* files read so far, newest first */
    cairn_scene_share *share;               /* NULL: this process makes all bodies */
    double smallest_to_come;                /* m: radius, of inlets; 0: not known */
    cairn_doubt *doubts[CAIRN_DOUBT_COUNT]; /* by what is doubted; NULL: nothing so far */
    cairn_error *error;                     /* never NULL            */
} cairn_scene_build;

/* ---- before the tree is interpreted, in parts.c and scene.c ---------------------------------- */

/* A text that grows, with a final zero. Zero is an empty one; freed by cairn_memory_free(text). */
typedef struct cairn_scene_text {
    char *text;
    size_t capacity, length; /* length without the final zero */
} cairn_scene_text;

/* Append `length` bytes, or all of them up to the final zero if there are fewer. */
cairn_status cairn_scene_text_add(cairn_scene_build *b, cairn_scene_text *text, const char *more,
                                  size_t length);
/* Append the contents of a file of at most 64 MiB without zero bytes. */
cairn_status cairn_scene_text_read(cairn_scene_build *b, const char *path, cairn_scene_text *text);
/* Make the files under `include` part of the tree, and add their texts to `record` as comments. */
cairn_status cairn_scene_include(cairn_scene_build *b, cairn_scene_text *record);
/* Check that an override "parameters.name=value" names a parameter that the scene has. */
cairn_status cairn_scene_check_parameter(cairn_scene_build *b, const char *assignment);
/* Put the values of parameters in the place of $name and $(formula), everywhere in the tree. With
 * `strict`, parameters that are used nowhere are refused; else those that an override sets. */
cairn_status cairn_scene_resolve(cairn_scene_build *b, bool strict);
/* Check the key `cairn` of a scene or sub-scene (world.c). */
cairn_status cairn_scene_check_version(cairn_scene_build *b, const cairn_yaml_node *root);
/* The path of a file that a scene names: relative to the folder of the file in which the name
 * stands, and below the folder of the scene. `path` has CAIRN_PATH_BYTES. (shape.c) */
cairn_status cairn_scene_find_file(cairn_scene_build *b, const cairn_yaml_node *node, char *path);

/* ---- starts from a state, in start.c --------------------------------------------------------- */

/* Lists of names to and from a stream; entries may be NULL. */
void cairn_scene_write_names(cairn_writer *w, const char *const *names, int count);
const char **cairn_scene_read_names(cairn_reader *r, int *count);
/* The keys of `start`. (format.c) */
cairn_scene_keys cairn_scene_start_keys(void);
/* Make room for the names of inlets and outlets of the scene, after those of the state. */
cairn_status cairn_scene_make_names(cairn_scene_build *b);
/* Load the world, and the names of materials, bodies, inlets and outlets, from the state that
 * `start` names. */
cairn_status cairn_scene_read_start(cairn_scene_build *b, const cairn_yaml_node *start);
/* Remove the body of the state that has this name; *found: there is one. */
cairn_status cairn_scene_remove_named(cairn_scene_build *b, const char *name, bool *found);
/* The node of the file that made a body; the root if none is known. (scene.c) */
const cairn_yaml_node *cairn_scene_origin_of(const cairn_scene_build *b, cairn_body_id body);
/* List the names in use in b->named_bodies. (body.c) */
cairn_status cairn_scene_list_names(cairn_scene_build *b);

/* ---- reading through tables, in record.c ---------------------------------------------- */

/* Check that the node is a mapping (or null) with known keys only and all required ones. */
cairn_status cairn_scene_check_keys(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                    const cairn_scene_keys *keys);
/* Read the options of a table that the mapping contains into `options`; all others keep their
 * values, so `options` must hold the defaults before the call. */
cairn_status cairn_scene_read_record(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const cairn_record *record, void *options);
/* Read a mapping {name: {...}}, or a bare name: the number of its kind, and the node with its
 * options. */
cairn_status cairn_scene_read_choice(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_scene_choice *choice, int *kind,
                                     const cairn_yaml_node **value);
/* The node of the options of something named `name`. The bare name stands for an empty mapping
 * at the same place in the file. */
cairn_yaml_node cairn_scene_options_of(const cairn_yaml_node *node, const char *name);
/* Read the options of one kind, given as a mapping with known keys or as the bare name. */
cairn_status cairn_scene_read_options(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_record *record, void *options);
/* Read a name: not empty, at most 63 bytes, all of them printable. *out points into the tree,
 * which does not outlive the build: use cairn_scene_keep_text to keep it. */
cairn_status cairn_scene_read_name(cairn_scene_build *b, const cairn_yaml_node *node,
                                   const char **out);
/* Check that the node is a list (or null, which counts as empty). `of_what` is for the message. */
cairn_status cairn_scene_check_list(cairn_scene_build *b, const cairn_yaml_node *node,
                                    const char *of_what);
/* Refuse two keys that exclude each other. */
cairn_status cairn_scene_refuse_both(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                     const char *one, const char *other);
/* Fail with "unknown noun 'word'", the nearest known name or the list of all, at the node's key
 * or at its value. `known` ends with NULL. */
cairn_status cairn_scene_fail_word(cairn_scene_build *b, const cairn_yaml_node *node, bool at_key,
                                   const char *noun, const char *const *known);
/*  doubts, in doubts.c ---------------------------------------------------------------------- */

/* Note a number that was read, if it looks like one in another unit. */
cairn_status cairn_scene_doubt_number(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_option *option, double number);
/* The same for the bodies that an inlet will bring. */
cairn_status cairn_scene_doubt_inlet(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_inlet_def *def);
/* The same for the sizes of bodies and the step, when all bodies exist. */
cairn_status cairn_scene_doubt_world(cairn_scene_build *b);

/* ---- hints in messages, in hints.c ----------------------------------------------------------- */

/* Names that are possible; `none` is said if there are none. */
typedef struct cairn_scene_words {
    const char *const *items;
    int count;
    const char *none;
} cairn_scene_words;

/* "a, b, c", ending with dots if not all names fit. */
void cairn_scene_join(const char *const *words, int count, char *text, size_t capacity);
/* "unknown noun 'word'" with the name that is meant, or all of them. */
void cairn_scene_unknown(const char *noun, const char *word, const cairn_scene_words *known,
                         char *text, size_t capacity);
/* How the kind is written of which the node has the name and options in a wrong form, such as
 * `sphere, radius 0.1`; false: it is not of this kind. */
bool cairn_scene_form(const cairn_yaml_node *node, const cairn_scene_choice *choice, char *text,
                      size_t capacity);
/* Refuse a required option of a kind that stands beside its bare name: shape: sphere, radius. */
cairn_status cairn_scene_refuse_stray(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                      const char *key, const cairn_scene_choice *choice);
/* Refuse the text of a file in XML, such as a URDF file, by its name. */
cairn_status cairn_scene_refuse_foreign(cairn_scene_build *b, const char *path, const char *text);

/* Copy a text into the arena of the scene. */
cairn_status cairn_scene_keep_text(cairn_scene_build *b, const char *text, const char **out);
/* Read a function of time: a number, an expression of t, or {kind: {...}}. Its data are in the
 * arena of the scene. */
cairn_status cairn_scene_read_function(cairn_scene_build *b, const cairn_yaml_node *node,
                                       cairn_function *out);
/* Read a distribution: a number, which is the constant one, or {kind: {...}}. */
cairn_status cairn_scene_read_distribution(cairn_scene_build *b, const cairn_yaml_node *node,
                                           cairn_distribution *out);
/* Give the functions that were read for an object to the world, as what[part] of the object with
 * this number. */
cairn_status cairn_scene_vary(cairn_scene_build *b, const cairn_varied *what, int index);
/* Report that memory ran out, and return CAIRN_NO_MEMORY. */
cairn_status cairn_scene_no_memory(cairn_scene_build *b);
/* Pass on `status` of a call of the library; if it failed with error `said`, report it at the
 * place of `node` in the scene file. Does nothing for CAIRN_OK. */
cairn_status cairn_scene_blame(cairn_scene_build *b, cairn_status status,
                               const cairn_yaml_node *node, const cairn_error *said);

/* ---- stages -------------------------------------------------------------------------------- */

/* Each stage reads one part of the tree and adds it to b->scene. They run in the order of
 * scene.c, because each needs results of earlier ones. On failure b->error is complete and the
 * scene must be destroyed. The world is built while the scene is read, body by body, so that an
 * error of the world can be reported at the node that caused it. */
cairn_status cairn_scene_read_run(cairn_scene_build *b);
cairn_status cairn_scene_read_measure(cairn_scene_build *b);
cairn_status cairn_scene_read_world(cairn_scene_build *b);
cairn_status cairn_scene_read_periodic(cairn_scene_build *b);
cairn_status cairn_scene_read_materials(cairn_scene_build *b);
cairn_status cairn_scene_read_bodies(cairn_scene_build *b);
cairn_status cairn_scene_read_driven_groups(cairn_scene_build *b);
cairn_status cairn_scene_read_joints(cairn_scene_build *b);
cairn_status cairn_scene_read_generators(cairn_scene_build *b);
cairn_status cairn_scene_read_outlets(cairn_scene_build *b);
cairn_status cairn_scene_read_cells(cairn_scene_build *b);
cairn_status cairn_scene_read_events(cairn_scene_build *b);
cairn_status cairn_scene_read_series(cairn_scene_build *b);
/* Whether the periodic cell can hold what the scene has. */
cairn_status cairn_scene_check_periodic(cairn_scene_build *b);
cairn_status cairn_scene_check_overlap(cairn_scene_build *b);

/* Fail if a run has more than 2^53 steps, the largest count that a double holds exactly
 * (format.c). */
cairn_status cairn_run_check_steps(const cairn_scene *scene, cairn_error *error);

/* Copy a message of the world with "body 12" replaced by "body 'ball'" where the scene names
 * that body. The text is cut if it does not fit. (scene.c) */
void cairn_scene_name_bodies(const cairn_scene *scene, const char *message, char *out,
                             size_t capacity);

/* Read a shape. The caller releases out->geometry, also after a failure; it may be NULL. */
cairn_status cairn_scene_read_shape(cairn_scene_build *b, const cairn_yaml_node *node,
                                    cairn_shape *out);
/* The number of the material that a node names (world.c). */
cairn_status cairn_scene_find_material(cairn_scene_build *b, const cairn_yaml_node *node, int *out);
/* The shared data of a mesh or polyhedron from the file that a node names; *out is a reference that
 * the caller releases. */
cairn_status cairn_scene_load_shape(cairn_scene_build *b, const cairn_yaml_node *file,
                                    cairn_shape_kind kind, double scale,
                                    const cairn_geometry **out);
/* Make the bodies of a table. */
cairn_status cairn_scene_read_table(cairn_scene_build *b, const cairn_yaml_node *node);
/* Report an error of a file, with its line, at the node of the scene that names the file. */
cairn_status cairn_scene_blame_file(cairn_scene_build *b, cairn_status status,
                                    const cairn_yaml_node *node, const cairn_error *said);
/* Release the geometries that were kept so that later shapes from the same file share them. */
void cairn_scene_release_files(cairn_scene_build *b);
/* Find the body with the name in a node (body.c). */
cairn_status cairn_scene_read_body(cairn_scene_build *b, const cairn_yaml_node *node,
                                   cairn_body_id *out);
/* Read {axis, angle} or a quaternion, in 3D only. Without a node *out keeps its value. */
cairn_status cairn_scene_read_orientation(cairn_scene_build *b, const cairn_yaml_node *node,
                                          cairn_quat *out);
/* The number of the material that a mapping names. The key may be missing if there is only one. */
cairn_status cairn_scene_read_material(cairn_scene_build *b, const cairn_yaml_node *mapping,
                                       int *out);

#endif
