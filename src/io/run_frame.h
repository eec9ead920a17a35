/* run_frame.h - one stored frame: the bodies in rows of the run, and the last contacts.
 *
 * A body keeps one row of the run for the whole of it, wherever it stands in the world. Rows are
 * given by rising uid, in the frame in which a body first appears. */
#ifndef CAIRN_IO_RUN_FRAME_H
#define CAIRN_IO_RUN_FRAME_H

#include "io/run_joints.h"
#include "io/run_shelf.h"

/* Who has which row. Zero is valid: nobody has one. */
typedef struct cairn_run_roll {
    uint64_t *uids; /* of each row, rising */
    size_t capacity;
    int32_t count;         /* rows given       */
    int joints;            /* rows of /joints given: they equal the index in the world */
    cairn_run_shelf shelf; /* rows of /geometry given */
} cairn_run_roll;

void cairn_run_roll_destroy(cairn_run_roll *roll);
/* A roll that was read from a checkpoint: find the rows of /geometry, of which the file has that
 * many, again. */
cairn_status cairn_run_roll_go_on(cairn_run_roll *roll, const cairn_world *world, int32_t rows);

/* Arrays come from an arena and live as long as the next reset; `world` and `touch` are lent by
 * the world. */
typedef struct cairn_run_frame {
    int64_t step;
    double time;      /* s */
    double time_step; /* s: turns impulses into forces */
    int dimension;
    cairn_bodies world;   /* by row of the world  */
    cairn_contacts touch; /* of the last step     */
    int32_t *row_of;      /* row in /bodies, by row of the world */
    size_t bodies;        /* rows below           */
    int32_t *index;       /* row in /bodies, rising */
    int32_t *slot;        /* row in the world     */
    cairn_bodies state;   /* columns that go into frames, by row                        */
    size_t fresh;         /* bodies that no frame held before                           */
    cairn_bodies facts;   /* columns that are written once, of these                    */
    uint8_t *kind;
    int32_t *fresh_slot, *geometry; /* geometry: row in /geometry, -1: none             */
    const cairn_run_shelf *shelf;   /* of the roll                          */
    double *radius, *half_angle, *bottom_radius, *top_radius, *height, *volume;
    double *length, *rounding, *exponents; /* exponents: two each */
    cairn_vec3 *axis, *size, *semi_axes;
    cairn_vec3 *shape_x; /* pose of the shape in the body */
    cairn_quat *shape_q;
    size_t contacts;
    int32_t *pair; /* 2 per contact: rows */
    /* filled by cairn_run_frame_detail */
    const double *bias;        /* m/s, of each contact                                    */
    const uint8_t *exact;      /* scheme auto: exact friction                             */
    const double *compression; /* N s, dimension each                                     */
    const double *correction;  /* kg m/s                                                  */
    size_t loads;              /* bodies with a load in the last step                            */
    int32_t *load_body;
    cairn_vec3 *force, *torque;
    size_t poses; /* driven bodies: where the contacts were evaluated               */
    int32_t *pose_body;
    cairn_vec3 *pose_x;
    cairn_quat *pose_q;
    cairn_run_joints joint;
    size_t guesses; /* dynamic bodies with contacts linearised ahead: v^                  */
    int32_t *guess_body;
    cairn_vec3 *guess_v, *guess_omega;
    size_t impacts; /* that the step resolved one after the other                         */
    const int32_t *impact_round, *impact_contact;
    const double *impact_time, *impact_impulse;
} cairn_run_frame;

/* The row in /bodies of the body at a row of the world; -1: the world itself. */
int32_t cairn_run_row_of(const cairn_run_frame *frame, int32_t slot);

/* How a body is drawn. */
typedef enum cairn_run_look {
    CAIRN_LOOK_BALL,  /* sphere or point: a place and a radius                                  */
    CAIRN_LOOK_SHAPE, /* bounded and moving: polygons of its own                                */
    CAIRN_LOOK_WALL   /* unbounded, a container, a polyline, or bounded and fixed: with the walls */
} cairn_run_look;

/* How the body at a row of the world is drawn. */
cairn_run_look cairn_run_look_of(const cairn_run_frame *frame, int32_t slot);

/* Pack the world as it stands. The arena is reset first. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_frame_take(const cairn_world *world, cairn_run_roll *roll,
                                  cairn_arena *arena, cairn_run_frame *out);

/* Add what the last step was made of: biases, loads, poses of driven bodies, and the rest above.
 * Call it right after the step; the arena goes on. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_frame_detail(const cairn_world *world, cairn_arena *arena,
                                    cairn_run_frame *frame);

#endif
