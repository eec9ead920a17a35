/* frame.h - one stored frame: the bodies in the order of the run's rows, and the contacts of the
 * last step; and the columns of run.h5 in which frames are stored.
 *
 * A body keeps one row of the run, its row in /bodies, for the whole run, whatever its row in the
 * world is. Rows are assigned by increasing uid, in the frame in which a body first appears. In
 * this folder `index` is a row of the run, and `slot` a row of the world. */
#ifndef CAIRN_RUN_FRAME_H
#define CAIRN_RUN_FRAME_H

#include "base/memory.h"
#include "cairn/joint.h"
#include "cairn/run.h"
#include "cairn/shape.h"
#include "cairn/world.h"
#include "file/hdf5.h"

/* ---- joints ------------------------------------------------------------------------------ */

struct cairn_run_frame;
struct cairn_run_roll;

/* plain numbers in the definition of a joint; see NUMBERS in geometry.c */
enum { CAIRN_RUN_JOINT_NUMBERS = 23 };

/* The joints of a frame: states of all that are alive, definitions of those that are new, and their
 * rows in the one-step problem. Arrays belong to the arena of the frame. */
typedef struct cairn_run_joints {
    size_t count;       /* joints that are alive: length of the arrays up to `image` */
    int32_t *index;     /* row in /joints                                            */
    int32_t *slot;      /* 2 per joint: rows in the world; -1: the world itself      */
    cairn_vec3 *centre; /* m, 2 per joint: of both bodies                            */
    bool *single;       /* joined with the world itself                              */
    uint8_t *broken;
    cairn_vec3 *force, *torque, *point, *point_b;
    double *turn, *slide, *drift, *turn_drift, *phase;
    double *turn_target, *slide_target; /* of the motors, in the last step */
    cairn_image *image;                 /* of b, or of the world, that is joined */
    /* joints that no earlier frame had: length of the arrays down to `number` */
    size_t fresh;
    uint8_t *kind, *collide, *turn_motor, *slide_motor;
    int32_t *pair; /* 2 per joint: rows in /bodies; -1: the world, or a body that was removed */
    cairn_vec3 *anchor_a, *anchor_b;
    cairn_quat *frame_a, *frame_b;
    double *number[CAIRN_RUN_JOINT_NUMBERS];
    size_t rows; /* rows of all joints in the last step: length of the arrays below */
    int32_t *row_joint;
    double *row_impulse, *row_correction, *row_eased;
} cairn_run_joints;

/* Add the joints of a world to a frame whose bodies have their rows in the roll. Assigns rows of
 * /joints. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_joints_take(const cairn_world *world, struct cairn_run_roll *roll,
                                   cairn_arena *arena, struct cairn_run_frame *frame);

/* ---- shelves ----------------------------------------------------------------------------- */

/* The row of /geometry in run.h5 that holds the data of a shape: each geometry is stored once,
 * however many bodies share it. */

/* The geometries seen so far, in the order of their rows; parts come before the compound that they
 * belong to. The shelf holds a reference to each of them, so that none is freed and its address
 * cannot be reused for another one: geometries are identified by their address. Zero is valid:
 * none. */
typedef struct cairn_run_shelf {
    const cairn_geometry **items;
    size_t capacity;
    int32_t count;
    int32_t forgotten; /* rows before the first item whose addresses are unknown, after a resume */
} cairn_run_shelf;

/* Assign rows to a geometry and to those of its parts, unless they have some. NULL is allowed.
 * Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_shelf_add(cairn_run_shelf *shelf, const cairn_geometry *geometry);
/* The row of a geometry; -1: it has none. */
int32_t cairn_run_shelf_row(const cairn_run_shelf *shelf, const cairn_geometry *geometry);
/* The file that is being continued has `rows` rows. If the shelf does not have the same number, its
 * items cannot be matched with the rows: forget them all. Geometries are then stored again when new
 * bodies use them, which costs space and nothing else. */
void cairn_run_shelf_settle(cairn_run_shelf *shelf, int32_t rows);
void cairn_run_shelf_destroy(cairn_run_shelf *shelf);

/* ---- frames ------------------------------------------------------------------------------ */

/* Which body has which row of /bodies. It outlives the frames. Zero is valid: no rows are
 * assigned. */
typedef struct cairn_run_roll {
    uint64_t *uids; /* of each row, in increasing order */
    size_t capacity;
    int32_t count;         /* rows assigned */
    int joints;            /* rows of /joints assigned: they equal the index in the world */
    cairn_run_shelf shelf; /* rows of /geometry */
} cairn_run_roll;

void cairn_run_roll_destroy(cairn_run_roll *roll);

/* A frame as columns, ready to be appended to the tables. Arrays come from an arena and are
 * valid until it is reset; `world` and `touch` point into the world, and are valid until its
 * next step. */
typedef struct cairn_run_frame {
    int64_t step;
    double time;      /* s */
    double time_step; /* s: force = impulse / time_step */
    int dimension;
    struct cairn_sample *sample; /* what statistics are measured of; NULL: the scene's world */
    cairn_bodies world;          /* by row of the world                                        */
    cairn_contacts touch;        /* of the last step; bodies are rows of the world             */
    cairn_lattice cell;          /* periodic worlds: when the step ended                       */
    int32_t *row_of;             /* row in /bodies, by row of the world                        */
    size_t bodies;               /* length of the next three                                   */
    int32_t *index;              /* row in /bodies, increasing                                 */
    int32_t *slot;               /* row in the world                                           */
    cairn_bodies state;          /* columns that go into every frame                           */
    size_t fresh;                /* bodies that no earlier frame had: length of the next ones  */
    cairn_bodies facts;          /* columns that are written once                              */
    uint8_t *kind;
    int32_t *fresh_slot, *geometry; /* geometry: row in /geometry; -1: none */
    const cairn_run_shelf *shelf;   /* lent by the roll */
    double *radius, *half_angle, *bottom_radius, *top_radius, *height, *volume;
    double *length, *rounding, *exponents; /* exponents: two for each body */
    cairn_vec3 *axis, *size, *semi_axes;
    cairn_vec3 *shape_x; /* pose of the shape in the body */
    cairn_quat *shape_q;
    size_t contacts;
    int32_t *pair; /* 2 per contact: rows in /bodies; -1: none */
    /* from here on, filled by cairn_run_frame_detail */
    const double *bias;   /* m/s: b of each contact */
    const uint8_t *exact; /* scheme auto: 1 at contacts with exact friction */
    /* N s, `dimension` numbers each: first phase of an impact by Poisson's law */
    const double *compression;
    const double *correction; /* kg m/s: penetration correction */
    size_t loads;             /* bodies with a load in the last step; torque in the body frame */
    int32_t *load_body;
    cairn_vec3 *force, *torque;
    cairn_vec3 *load_damping; /* N s/m: of walls that cells move; 0: other bodies */
    size_t poses;             /* driven bodies: poses at which the contacts were evaluated */
    int32_t *pose_body;
    cairn_vec3 *pose_x;
    cairn_quat *pose_q;
    cairn_run_joints joint;
    size_t guesses; /* dynamic bodies whose contacts are linearised at q + h v^: their v^ */
    int32_t *guess_body;
    cairn_vec3 *guess_v, *guess_omega;
    size_t impacts; /* impacts that the step resolved one after the other */
    const int32_t *impact_round, *impact_contact;
    const double *impact_time, *impact_impulse;
    size_t changes; /* bodies that the caller changed before the step: what they were then */
    int32_t *change_body, *change_material;
    cairn_vec3 *change_x, *change_v, *change_omega;
    cairn_quat *change_q;
    double *change_angle;
} cairn_run_frame;

/* The row in /bodies of the body at row `slot` of the world; -1 for the world itself (slot < 0). */
int32_t cairn_run_row_of(const cairn_run_frame *frame, int32_t slot);

/* How a body is drawn, in pictures and for ParaView. */
typedef enum cairn_run_look {
    CAIRN_LOOK_BALL,  /* sphere or point: a position and a radius */
    CAIRN_LOOK_SHAPE, /* bounded and able to move: drawn with polygons of its own */
    /* unbounded, a container, a polyline, or bounded and fixed: drawn with the walls */
    CAIRN_LOOK_WALL
} cairn_run_look;

/* How the body at a row of the world is drawn. */
cairn_run_look cairn_run_look_of(const cairn_run_frame *frame, int32_t slot);

/* Take a frame of the current state of the world. The arena is reset first. New bodies and joints
 * are given rows of the roll. Fails with CAIRN_NO_MEMORY, or with CAIRN_BAD_INPUT if the roll, from
 * a checkpoint, does not belong to this world. */
cairn_status cairn_run_frame_take(const cairn_world *world, cairn_run_roll *roll,
                                  cairn_arena *arena, cairn_run_frame *out);

/* The same for a part of the bodies, without joints: `out` has its time, dimension, shelf, and the
 * rows of these bodies and contacts as `world` and `touch`. Bodies without a row in the roll must
 * have larger uids than all that have one. */
cairn_status cairn_run_frame_fill(cairn_run_roll *roll, cairn_arena *arena, cairn_run_frame *out);
/* The row of a body in /bodies; -1: it has none yet. */
int32_t cairn_run_roll_find(const cairn_run_roll *roll, uint64_t uid);

/* Where a body is on its path, m; in a periodic cell, from which it was put back, without jumps. */
cairn_vec3 cairn_run_place(const cairn_bodies *bodies, const cairn_lattice *cell, int slot);
/* displacement.c: the places of all bodies by uid, and how far the farthest is from its place. */
cairn_status cairn_run_remember(const cairn_world *world, cairn_vec3 **places, int *count);
void cairn_run_displacement(const cairn_world *world, const cairn_vec3 *places, int count,
                            cairn_run_summary *summary);

/* Whether a body has a load, or is a wall that a cell holds: only these are stored. */
bool cairn_run_has_load(const cairn_step_inputs *in, int row);
/* Memory for loads, poses and guesses of at most `count` bodies. */
cairn_status cairn_run_frame_take_inputs(cairn_run_frame *frame, size_t count, cairn_arena *arena);
/* Add the inputs of the last step: biases, loads, poses of driven bodies, and the other arrays
 * above. Call it right after the step, before the arena is reset. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_frame_detail(const cairn_world *world, const cairn_run_roll *roll,
                                    cairn_arena *arena, cairn_run_frame *frame);

/* ---- columns --------------------------------------------------------------------------------- */

/* The columns of run.h5 as tables: to add a column, add a line in columns.c.
 *
 * A table is a group of datasets that grow together, row by row, from the arrays of one
 * cairn_run_frame. Tables store columns, not records, so that a reader loads only the quantities
 * that it needs, and numbers of one kind compress well. */

/* Rows in a chunk of HDF5: of columns with one row a step or frame, which are written in place, and
 * of the long ones, which are compressed chunk by chunk (32 KiB for one real a row). */
enum { CAIRN_STEP_CHUNK = 1024, CAIRN_ROW_CHUNK = 4096 };

enum { CAIRN_RUN_TURNS = -1 }; /* a width: components of a rotation, 1 in 2D, 3 in 3D */

/* A column and the source of its numbers. `offset` is that of a pointer to the numbers in a
 * cairn_run_frame, or, where a caller gathers them from records of its own, of the number itself in
 * such a record. */
typedef struct cairn_run_source {
    const char *name, *unit;
    cairn_hdf5_type type;
    int width; /* numbers in a row; 0: the dimension of the world; or CAIRN_RUN_TURNS */
    size_t offset;
    /* for columns of codes: the name of each value, stored as attribute `names`; NULL: plain
     * numbers */
    const char *(*value_name)(int value);
} cairn_run_source;

enum { CAIRN_RUN_COLUMNS = 40 }; /* most columns of a table */

/* A list of columns, passed by value. A `count` above CAIRN_RUN_COLUMNS marks a list that did not
 * fit; cairn_run_table_create refuses it. */
typedef struct cairn_run_sources {
    cairn_run_source items[CAIRN_RUN_COLUMNS];
    int count;
    bool plain; /* one row a step: written in place, not compressed */
} cairn_run_sources;

/* Copy an array of at most CAIRN_RUN_COLUMNS columns into a list. */
cairn_run_sources cairn_run_sources_of(const cairn_run_source *items, size_t count);

cairn_run_sources cairn_run_detail_sources(void);     /* contacts: columns of certificates only */
cairn_run_sources cairn_run_load_sources(bool cells); /* of the last step */
cairn_run_sources cairn_run_pose_sources(void);       /* driven bodies               */
cairn_run_sources cairn_run_impact_sources(void);     /* impacts resolved one after the other */
cairn_run_sources cairn_run_change_sources(void);     /* bodies that the caller changed       */
cairn_run_sources cairn_run_guess_sources(void);      /* v^ where contacts are linearised */

/* The properties of a body that are written once, and the contacts of the last step. Columns for
 * laws beyond Coulomb friction are included only if the world has such laws. */
cairn_run_sources cairn_run_body_sources(const cairn_world *world);
cairn_run_sources cairn_run_contact_sources(const cairn_world *world);

/* m: the centre of body b of a joint of the frame, or of the image of b that is joined. */
cairn_vec3 cairn_run_joint_end(const cairn_run_frame *frame, size_t joint);
/* geometry.c: the definition of a joint; its state in a frame; its state with everything that a
 * certificate needs; the rows of joints in the one-step problem. */
cairn_run_sources cairn_run_joint_sources(void);
cairn_run_sources cairn_run_joint_state_sources(void);
cairn_run_sources cairn_run_joint_detail_sources(void);
cairn_run_sources cairn_run_joint_row_sources(void);

/* Positions and velocities of bodies. */
cairn_run_sources cairn_run_state_sources(int dimension, bool periodic);

/* The open columns of a list of sources. Zero is valid: nothing is open. Columns with a writer are
 * linked into its list, so a table must not move in memory until it is closed. */
typedef struct cairn_run_table {
    cairn_run_sources sources;
    cairn_hdf5_column columns[CAIRN_RUN_COLUMNS];
} cairn_run_table;

/* Create the columns in a group, or open them if the file is being continued. Long columns need a
 * `writer`, which compresses them; NULL is possible for columns with one row a step. On failure,
 * close the table as well. */
cairn_status cairn_run_table_create(hid_t group, cairn_run_sources sources, int dimension,
                                    cairn_hdf5_writer *writer, cairn_run_table *out,
                                    cairn_error *error);
/* Append `rows` rows from the arrays of a frame. */
cairn_status cairn_run_table_append(cairn_run_table *table, const cairn_run_frame *frame,
                                    size_t rows, cairn_error *error);
/* Remove all but the first `rows` rows of every column. */
cairn_status cairn_run_table_cut(cairn_run_table *table, int64_t rows, cairn_error *error);
void cairn_run_table_close(cairn_run_table *table);

/* Rows in the table, including those that wait to be compressed; 0 if it has no columns. */
int64_t cairn_run_table_rows(const cairn_run_table *table);

/* ---- certificates ------------------------------------------------------------------------ */

/* The group /certificate of run.h5, written with `certificate: full`: every step with all the data
 * that an independent program needs to recompute it (docs/run-format.md). */

enum { CAIRN_CERTIFICATE_PARTS = 9 };

/* Open columns. The parts are bodies, joints, contacts, loads, poses, guesses, rows of joints,
 * impacts and changes, in this order. Step k has rows [offset[k], offset[k+1]) of a part. Zero is
 * valid: nothing is open. */
typedef struct cairn_run_certificate {
    cairn_run_table parts[CAIRN_CERTIFICATE_PARTS];
    /* further columns of the contacts, in the same group and with the same offsets */
    cairn_run_table details;
    cairn_hdf5_column offsets[CAIRN_CERTIFICATE_PARTS];
    cairn_hdf5_writer *writer;
} cairn_run_certificate;

/* Create the group in a file, with the friction laws of all pairs of materials. `writer` must
 * outlive the columns. */
cairn_status cairn_run_certificate_create(hid_t file, const cairn_world *world,
                                          cairn_hdf5_writer *writer, cairn_run_certificate *out,
                                          cairn_error *error);
/* Append the state after a step, and the contacts, loads and poses of that step, or a piece of
 * them; then the end, which makes the step count. With frame->step 0: the state before the first
 * step. */
cairn_status cairn_run_certificate_piece(cairn_run_certificate *c, const cairn_run_frame *frame,
                                         cairn_error *error);
cairn_status cairn_run_certificate_end(cairn_run_certificate *c, const cairn_run_frame *frame,
                                       cairn_error *error);
/* Remove everything after step `steps`; the state before the first step stays. */
cairn_status cairn_run_certificate_cut(cairn_run_certificate *c, int64_t steps, cairn_error *error);
void cairn_run_certificate_close(cairn_run_certificate *c);

/* ---- geometry ---------------------------------------------------------------------------- */

/* The group /geometry of run.h5: points and faces of hulls, meshes, polylines and height fields,
 * parts of compounds (docs/run-format.md). */

/* Lists with offsets: where each geometry begins in the vertices, faces and parts, and where each
 * face begins in the corners. CORNERS must be last: loops over the lists of geometries stop before
 * it. */
enum {
    CAIRN_GEOMETRY_VERTICES,
    CAIRN_GEOMETRY_FACES,
    CAIRN_GEOMETRY_PARTS,
    CAIRN_GEOMETRY_CORNERS,
    CAIRN_GEOMETRY_LISTS
};

/* Open columns. Zero with a writer is valid: nothing is open, and the file has no such group yet.
 * The group is created when the first shape with such data appears. */
typedef struct cairn_run_geometry {
    cairn_hdf5_writer *writer;
    cairn_hdf5_column offsets[CAIRN_GEOMETRY_LISTS];
    cairn_hdf5_column vertices, corners;
    cairn_run_table parts;
} cairn_run_geometry;

/* Append the geometries of the shelf that the file does not have yet. The first call that has some
 * creates the group. */
cairn_status cairn_run_geometry_append(hid_t file, const cairn_run_shelf *shelf,
                                       cairn_run_geometry *g, cairn_error *error);
/* Open the group of a file that is being continued, if it has one, and keep its first `rows`
 * geometries. */
cairn_status cairn_run_geometry_go_on(hid_t file, int64_t rows, cairn_run_geometry *g,
                                      cairn_error *error);
void cairn_run_geometry_close(cairn_run_geometry *g);

/* ---- materials --------------------------------------------------------------------------- */

/* The laws of friction and restitution of a world, for /certificate of run.h5. */

/* Write into a group: for each property of a pair of materials a matrix over all pairs, and the
 * datasets `laws` and `law_points` with the friction laws that the matrices `law_first` and
 * `law_second` refer to. Does nothing if the file is being continued and has them already. */
cairn_status cairn_run_materials_write(hid_t group, const cairn_world *world, cairn_error *error);

#endif
