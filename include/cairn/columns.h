/* columns.h - the columns of bodies and of contacts, each on one line.
 *
 * Memory, saved states, the views below, frames and run files are all derived from these two lists:
 * a new column needs one new line here, and nothing else. A line has, in this order: the name; the
 * C type; the kind of number; how many numbers a row has; their unit; where they are stored; for
 * integers their range when they are read back, for contacts the law without which the column needs
 * no memory; and their meaning. */
#ifndef CAIRN_COLUMNS_H
#define CAIRN_COLUMNS_H

#include "cairn/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of the numbers of a column. */
typedef enum cairn_column_type {
    CAIRN_COLUMN_BYTE, /* uint8_t                                                    */
    CAIRN_COLUMN_FLAG, /* bool                                                       */
    CAIRN_COLUMN_INT,  /* int32_t                                                    */
    CAIRN_COLUMN_LONG, /* uint64_t below 2^63                                        */
    CAIRN_COLUMN_REAL  /* double                                                     */
} cairn_column_type;

/** Numbers in a row that depend on the world: 2 or 3; of a turning 1 in 2D, 3 in 3D. */
enum { CAIRN_WIDTH_DIMENSION = 0, CAIRN_WIDTH_TURNS = -1 };

/** Where a column is stored. */
enum {
    CAIRN_GOES_SAVED = 1,     /* into saved states and checkpoints                           */
    CAIRN_GOES_FRAME = 2,     /* into every stored frame                                     */
    CAIRN_GOES_ONCE = 4,      /* bodies: into run files when the body first appears          */
    CAIRN_GOES_DETAIL = 8,    /* contacts: beside the frame into full certificates           */
    CAIRN_GOES_2D = 16,       /* only in 2D                                                  */
    CAIRN_GOES_SURFACES = 32, /* only where surfaces move or friction differs by direction  */
    CAIRN_GOES_GROUPS = 64,   /* only where bodies have collision groups                    */
    CAIRN_GOES_PERIODIC = 128 /* only in worlds with a periodic cell                        */
};

/** The range of integers. */
typedef enum cairn_column_range {
    CAIRN_RANGE_ANY,
    CAIRN_RANGE_NO_YES,
    CAIRN_RANGE_MOTION,
    CAIRN_RANGE_MATERIAL,
    CAIRN_RANGE_SHAPE,
    CAIRN_RANGE_BODY
} cairn_column_range;

/** Contacts: which law requires a column. */
enum {
    CAIRN_CONTACTS_PIECES = 1, /* bodies are taken apart                                      */
    CAIRN_CONTACTS_AXES = 2,   /* friction differs by direction                               */
    CAIRN_CONTACTS_BOUNCE = 4, /* restitution                                                 */
    CAIRN_CONTACTS_ADHERE = 8,
    CAIRN_CONTACTS_TURN = 16,   /* rolling or spinning friction                              */
    CAIRN_CONTACTS_IMAGES = 32, /* the world is periodic                                     */
    CAIRN_CONTACTS_ALL = 63
};

/* clang-format off */
#define CAIRN_BODY_COLUMNS(COLUMN)                                                                 \
    COLUMN(uid, uint64_t, CAIRN_COLUMN_LONG, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,            \
           CAIRN_RANGE_ANY, "which body the row is: its name, which never changes")                \
    COLUMN(motion, uint8_t, CAIRN_COLUMN_BYTE, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,          \
           CAIRN_RANGE_MOTION, "cairn_motion")                                                     \
    COLUMN(material, int32_t, CAIRN_COLUMN_INT, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,         \
           CAIRN_RANGE_MATERIAL, "number of its material")                                         \
    COLUMN(shape, int32_t, CAIRN_COLUMN_INT, 1, "", CAIRN_GOES_SAVED, CAIRN_RANGE_SHAPE,           \
           "id: its place in `shapes`")                                                            \
    COLUMN(pose, cairn_pose, CAIRN_COLUMN_REAL, 7, "", CAIRN_GOES_SAVED, CAIRN_RANGE_ANY,          \
           "of the shape in the frame of the body")                                                \
    COLUMN(x, cairn_vec3, CAIRN_COLUMN_REAL, 3, "m", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,          \
           CAIRN_RANGE_ANY, "of a dynamic body the centre of mass")                                \
    COLUMN(v, cairn_vec3, CAIRN_COLUMN_REAL, 3, "m/s", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,        \
           CAIRN_RANGE_ANY, "velocity of x")                                                       \
    COLUMN(omega, cairn_vec3, CAIRN_COLUMN_REAL, 3, "rad/s", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,  \
           CAIRN_RANGE_ANY, "angular velocity in the frame of the body")                           \
    COLUMN(inertia, cairn_vec3, CAIRN_COLUMN_REAL, 3, "kg m^2", CAIRN_GOES_SAVED |                 \
           CAIRN_GOES_ONCE,                                                                        \
           CAIRN_RANGE_ANY, "principal moments; in 2D (0, 0, J)")                                  \
    COLUMN(q, cairn_quat, CAIRN_COLUMN_REAL, 4, "1", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,          \
           CAIRN_RANGE_ANY, "orientation; in 2D from the angle")                                   \
    COLUMN(angle, double, CAIRN_COLUMN_REAL, 1, "rad",                                             \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME | CAIRN_GOES_2D, CAIRN_RANGE_ANY,                   \
           "orientation in 2D")                                                                    \
    COLUMN(mass, double, CAIRN_COLUMN_REAL, 1, "kg", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,           \
           CAIRN_RANGE_ANY, "0 for fixed and driven bodies without mass")                          \
    COLUMN(surface_velocity, cairn_vec3, CAIRN_COLUMN_REAL, 3, "m/s",                              \
           CAIRN_GOES_SAVED | CAIRN_GOES_ONCE | CAIRN_GOES_SURFACES, CAIRN_RANGE_ANY,              \
           "of a belt, in the frame of the body")                                                  \
    COLUMN(friction_axis, cairn_vec3, CAIRN_COLUMN_REAL, 3, "1",                                   \
           CAIRN_GOES_SAVED | CAIRN_GOES_ONCE | CAIRN_GOES_SURFACES, CAIRN_RANGE_ANY,              \
           "in the frame of the body; 0: none")                                                    \
    COLUMN(born, double, CAIRN_COLUMN_REAL, 1, "s", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,            \
           CAIRN_RANGE_ANY, "when it was created")                                                 \
    COLUMN(passes, int32_t, CAIRN_COLUMN_INT, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,           \
           CAIRN_RANGE_ANY, "how often it left through an outlet and came back by an inlet")       \
    COLUMN(first, uint64_t, CAIRN_COLUMN_LONG, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_ONCE,          \
           CAIRN_RANGE_ANY, "uid that it had before its first pass")                               \
    COLUMN(group, int32_t, CAIRN_COLUMN_INT, 1, "",                                                \
           CAIRN_GOES_SAVED | CAIRN_GOES_ONCE | CAIRN_GOES_GROUPS, CAIRN_RANGE_ANY,                \
           "its collision group, 0 to 30")                                                         \
    COLUMN(ignores, int32_t, CAIRN_COLUMN_INT, 1, "",                                              \
           CAIRN_GOES_SAVED | CAIRN_GOES_ONCE | CAIRN_GOES_GROUPS, CAIRN_RANGE_ANY,                \
           "groups that it does not meet: bit g is group g; 0: it meets all")                      \
    COLUMN(asleep, uint8_t, CAIRN_COLUMN_BYTE, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,         \
           CAIRN_RANGE_NO_YES, "1: rests, with v and omega 0")                                     \
    COLUMN(calm, int32_t, CAIRN_COLUMN_INT, 1, "", CAIRN_GOES_SAVED, CAIRN_RANGE_ANY,              \
           "steps in a row in which it was slow enough to fall asleep")                            \
    COLUMN(image, cairn_image, CAIRN_COLUMN_INT, 3, "",                                            \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME | CAIRN_GOES_PERIODIC, CAIRN_RANGE_ANY,             \
           "how often it has left the periodic cell across each face and was put back")            \
    COLUMN(extent, double, CAIRN_COLUMN_REAL, 1, "m", 0, CAIRN_RANGE_ANY,                          \
           "radius about x that holds it; infinite for unbounded shapes")                          \
    COLUMN(arm, double, CAIRN_COLUMN_REAL, 1, "m", 0, CAIRN_RANGE_ANY,                             \
           "turning by an angle moves no point of its surface by more than this times the angle")  \
    COLUMN(ball, double, CAIRN_COLUMN_REAL, 1, "m", 0, CAIRN_RANGE_ANY,                            \
           "radius of a ball about x; -1: it is none")

#define CAIRN_CONTACT_COLUMNS(COLUMN)                                                              \
    COLUMN(body, int32_t, CAIRN_COLUMN_INT, 2, "", CAIRN_GOES_SAVED, CAIRN_RANGE_BODY, 0,          \
           "a, b: rows of cairn_bodies")                                                           \
    COLUMN(piece, cairn_piece, CAIRN_COLUMN_INT, 4, "", CAIRN_GOES_SAVED, CAIRN_RANGE_ANY,         \
           CAIRN_CONTACTS_PIECES, "of the body of smaller and of larger uid; NULL: wholes")        \
    COLUMN(image, cairn_image, CAIRN_COLUMN_INT, 3, "", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,       \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_IMAGES,                                                 \
           "image of b that touches a, which is in its own place; NULL: the originals")            \
    COLUMN(shift, cairn_vec3, CAIRN_COLUMN_REAL, 3, "m", CAIRN_GOES_SAVED, CAIRN_RANGE_ANY,        \
           CAIRN_CONTACTS_IMAGES, "from b to that image, where the contact was evaluated")         \
    COLUMN(feature, int32_t, CAIRN_COLUMN_INT, 1, "", CAIRN_GOES_SAVED | CAIRN_GOES_DETAIL,        \
           CAIRN_RANGE_ANY, 0,                                                                     \
           "tells apart several contacts of one pair")                                             \
    COLUMN(point, cairn_vec3, CAIRN_COLUMN_REAL, 3, "m", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,      \
           CAIRN_RANGE_ANY, 0,                                                                     \
           "middle between the two witness points, where the scheme evaluated them")               \
    COLUMN(normal, cairn_vec3, CAIRN_COLUMN_REAL, 3, "1", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,     \
           CAIRN_RANGE_ANY, 0, "unit, from b to a")                                                \
    COLUMN(tangent, cairn_vec3, CAIRN_COLUMN_REAL, 3, "1", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,    \
           CAIRN_RANGE_ANY, 0, "first tangent; the second is normal x tangent")                    \
    COLUMN(gap, double, CAIRN_COLUMN_REAL, 1, "m", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,            \
           CAIRN_RANGE_ANY, 0, "negative when the shapes overlap")                                 \
    COLUMN(mu, double, CAIRN_COLUMN_REAL, 1, "1", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,             \
           CAIRN_RANGE_ANY, 0, "friction")                                                         \
    COLUMN(mu_2, double, CAIRN_COLUMN_REAL, 1, "1", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,           \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_AXES,                                                   \
           "along the second tangent; `mu` but for anisotropic friction")                          \
    COLUMN(mu_rolling, double, CAIRN_COLUMN_REAL, 1, "m", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,     \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_TURN, "rolling friction")                               \
    COLUMN(mu_spinning, double, CAIRN_COLUMN_REAL, 1, "m", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,    \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_TURN, "spinning friction")                              \
    COLUMN(adhesion, double, CAIRN_COLUMN_REAL, 1, "N", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME,       \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_ADHERE,                                                 \
           "pull withstood in this step; the normal impulse is at least -h times this")            \
    COLUMN(restitution, double, CAIRN_COLUMN_REAL, 1, "1", CAIRN_GOES_SAVED | CAIRN_GOES_DETAIL,   \
           CAIRN_RANGE_ANY, CAIRN_CONTACTS_BOUNCE, "e of the pair")                                \
    COLUMN(poisson, bool, CAIRN_COLUMN_FLAG, 1, "", CAIRN_GOES_SAVED, CAIRN_RANGE_NO_YES,          \
           CAIRN_CONTACTS_BOUNCE, "whether that is Poisson's; NULL: there is none")                \
    COLUMN(impulse, double, CAIRN_COLUMN_REAL, CAIRN_WIDTH_DIMENSION, "N s",                       \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME, CAIRN_RANGE_ANY, 0, "on a")                        \
    COLUMN(velocity, double, CAIRN_COLUMN_REAL, CAIRN_WIDTH_DIMENSION, "m/s",                      \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME, CAIRN_RANGE_ANY, 0,                                \
           "of a's point relative to b's after the step")                                          \
    COLUMN(moment, double, CAIRN_COLUMN_REAL, CAIRN_WIDTH_TURNS, "N m s",                          \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME, CAIRN_RANGE_ANY, CAIRN_CONTACTS_TURN,              \
           "on a, about both tangents and the normal (2D: z)")                                     \
    COLUMN(turning, double, CAIRN_COLUMN_REAL, CAIRN_WIDTH_TURNS, "rad/s",                         \
           CAIRN_GOES_SAVED | CAIRN_GOES_FRAME, CAIRN_RANGE_ANY, CAIRN_CONTACTS_TURN,              \
           "of a relative to b after the step, likewise; 0 for friction that no material has")
/* clang-format on */

#define CAIRN_COLUMN_SHOWN(name, type, ...) const type *name;

/** All bodies, as arrays that are valid until the next call that changes the world: one row for
 *  each body, first the fixed and driven ones, then the dynamic ones. The row of a body changes
 *  when bodies are created or removed and, in large worlds, when a step sorts them along a
 *  space-filling curve; `uid` identifies the body of a row, cairn_body_row finds the row of a body.
 *  The pose of a dynamic body is that of its principal frame: origin in the centre of mass, axes
 *  along the principal axes of inertia. */
typedef struct cairn_bodies {
    int count;
    int held;                  /* rows of fixed and driven bodies                              */
    int shape_count;           /* entries of `shapes`                                          */
    const cairn_shape *shapes; /* by id: bodies of the same shape share one                    */
    CAIRN_BODY_COLUMNS(CAIRN_COLUMN_SHOWN)
} cairn_bodies;

/** Contacts, as arrays of `count` rows, valid until the next step. */
typedef struct cairn_contacts {
    int count;
    int dimension;
    int moments; /* numbers in `moment` and `turning`: 0 in a world without rolling and spinning
                    friction, else 1 in 2D, 3 in 3D                                            */
    CAIRN_CONTACT_COLUMNS(CAIRN_COLUMN_SHOWN)
} cairn_contacts;

/** One line of a list. */
typedef struct cairn_column {
    const char *name, *unit, *meaning;
    cairn_column_type type;
    int width;     /* numbers in a row, or CAIRN_WIDTH_...                                 */
    size_t size;   /* bytes of the type in C                                               */
    unsigned goes; /* CAIRN_GOES_...                                                       */
    cairn_column_range range;
    unsigned set; /* of contacts: CAIRN_CONTACTS_...; 0: always there                     */
    size_t shown; /* offset of its pointer in cairn_bodies or cairn_contacts              */
} cairn_column;

/** The columns of bodies, one after the other; NULL past the last. */
CAIRN_API const cairn_column *cairn_body_column(int index);
/** The columns of contacts, one after the other; NULL past the last. */
CAIRN_API const cairn_column *cairn_contact_column(int index);
/** The size of a row of a column, in bytes, in a world of that dimension. */
CAIRN_API size_t cairn_column_row(const cairn_column *column, int dimension);
/** The rows of a column of a view, cairn_bodies or cairn_contacts; NULL where it has none. */
CAIRN_API const void *cairn_column_rows(const cairn_column *column, const void *view);

#ifdef __cplusplus
}
#endif

#endif
