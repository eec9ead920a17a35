/* store.h - what a world stores in arrays: columns, shapes, bodies and contacts. */
#ifndef CAIRN_WORLD_STORE_H
#define CAIRN_WORLD_STORE_H

#include "base/memory.h"
#include "cairn/columns.h"
#include "cairn/shape.h"
#include "cairn/world.h"
#include "collide/collide.h"

/* ---- rows by uid ----------------------------------------------------------------------------- */

/* A map from the uids of bodies, which never change, to their rows, which do: order.c.
 *
 * A hash table with open addressing and linear probing: each uid is stored in the first free place
 * from its own place on. Zero is a valid, empty table. */
typedef struct cairn_directory {
    struct cairn_place {
        uint64_t uid;
        int32_t next; /* row + 1; 0: the place is free */
    } * places;
    size_t capacity; /* a power of two, at least 2 count; 0: empty */
    size_t count;
} cairn_directory;

/* Make room for `count` bodies in all. On failure the table stays as it was. */
cairn_status cairn_directory_reserve(cairn_directory *directory, size_t count);
void cairn_directory_release(cairn_directory *directory);
/* Set the row of a body, known or new. The caller has reserved room for it. */
void cairn_directory_set(cairn_directory *directory, uint64_t uid, int row);
/* Remove a body, which must be in the table. */
void cairn_directory_remove(cairn_directory *directory, uint64_t uid);
/* The row of a body; -1: unknown. */
int cairn_directory_find(const cairn_directory *directory, uint64_t uid);

/* ---- columns --------------------------------------------------------------------------------- */

/* Declares one column of a store: a pointer with the name of the column. The columns are listed in
 * cairn/columns.h. */
#define CAIRN_COLUMN_STORED(name, type, ...) type *name;

/* A list of columns, and the offsets of their pointers in the store. */
typedef struct cairn_column_list {
    const cairn_column *items;
    const size_t *place; /* bytes: of each column, offset of its pointer */
    int count;
} cairn_column_list;

extern const cairn_column_list cairn_columns_of_bodies, cairn_columns_of_contacts;

/* Get and set the array of column k of a store. */
void *cairn_column_get(const cairn_column_list *list, int k, const void *store);
void cairn_column_set(const cairn_column_list *list, int k, void *store, void *rows);
/* Copies the pointers of a store into a view for the user. */
void cairn_columns_show(const cairn_column_list *list, const void *store, void *view);

/* ---- shapes ---------------------------------------------------------------------------------- */

/* A table of shapes. Equal shapes share an entry; a free entry is used again for the next new
 * shape. A table of zeros is empty. The table owns a reference to the geometry of each entry. */
typedef struct cairn_shape_table {
    cairn_shape *items; /* by id                                           */
    int32_t *users;     /* of each: number of bodies; 0: the entry is free */
    int32_t *next_free; /* of each free entry: the next free one; -1: none */
    size_t capacity;
    int count;             /* entries, free ones included    */
    int free;              /* the first free entry; -1: none */
    cairn_directory known; /* ids by a hash of the shape     */
} cairn_shape_table;

/* Reserves room for so many shapes in total. */
cairn_status cairn_shapes_reserve(cairn_shape_table *table, size_t count);
void cairn_shapes_release(cairn_shape_table *table);
/* The id of a shape, with one more user. Needs room for it, and takes a reference to its
 * geometry. */
int32_t cairn_shapes_use(cairn_shape_table *table, const cairn_shape *shape);
/* Removes one user; the last one frees the entry and its reference to the geometry. */
void cairn_shapes_leave(cairn_shape_table *table, int32_t id);
/* For a table whose entries were read from a file, each with a reference to its geometry: counts
 * the users, and frees the entries without any. */
void cairn_shapes_count(cairn_shape_table *table, const int32_t *ids, int count);
/* Memory of a table, in bytes. */
size_t cairn_shapes_bytes(const cairn_shape_table *table);

/* ---- bodies ---------------------------------------------------------------------------------- */

/* What a pile on a device has instead of the host: pile.c. */
enum {
    CAIRN_STATES_ELSEWHERE = 1, /* x, q, v, omega: cairn_pile_return copies them */
    CAIRN_INPUTS_ELSEWHERE = 2  /* x and q of the inputs of the last step        */
};

/* Where the parts of a world begin (parts.c). */
typedef struct cairn_row_cut {
    int parts;      /* 0: there was no cut yet                                         */
    int64_t *first; /* of each part: its first dynamic body in the order of all of them */
    size_t capacity;
} cairn_row_cut;
/* Make room for so many parts. */
cairn_status cairn_row_cut_reserve(cairn_row_cut *cut, int parts);
cairn_status cairn_row_cut_copy(const cairn_row_cut *from, cairn_row_cut *to);
/* In a saved world. */
struct cairn_writer;
struct cairn_reader;
void cairn_row_cut_write(struct cairn_writer *out, const cairn_row_cut *cut);
cairn_status cairn_row_cut_read(struct cairn_reader *in, cairn_row_cut *cut);

/* A structure of arrays without holes: first the held bodies (fixed or driven, with inverse mass
 * 0), then the dynamic ones. A new body is appended; the last body takes the row of one that is
 * removed. Contacts and joints name rows and are updated (order.c) only when a step or a view needs
 * them, not at every change. */
typedef struct cairn_body_store {
    int count;         /* rows                                                        */
    int held;          /* rows of fixed and driven bodies, the first ones             */
    uint64_t next_uid; /* uid of the next body; uids are never reused                 */
    double apart;      /* m: mean distance of bodies in neighbouring rows when sorted */
    double far;        /* m: larger distances count as this                           */
    cairn_row_cut cut;
    size_t capacity;
    size_t bytes; /* of all columns                                                        */
    CAIRN_BODY_COLUMNS(CAIRN_COLUMN_STORED)
    cairn_shape_table shapes;
    cairn_directory directory; /* rows by uid                                              */
    bool grouped;              /* some body has had a collision group or a mask, or is moved by
                                  a cell                                                  */
    bool moved;                /* rows have changed since contacts and joints were updated */
    uint8_t elsewhere;         /* CAIRN_..._ELSEWHERE: these columns are not valid here; saving
                                  copies them first                                       */
    int named;                 /* number of rows at that time                              */
    int32_t *was;              /* if moved: row of each body at that time; -1: it is newer */
    int32_t *list;             /* scratch for a list of rows                               */
} cairn_body_store;

/* The shape of the body in a row. */
static inline const cairn_shape *cairn_body_shape(const cairn_body_store *bodies, int row)
{
    return &bodies->shapes.items[bodies->shape[row]];
}

/* Whether a body is a wall that a cell moves: boxes that do not turn are nothing else. */
static inline bool cairn_body_is_servo(const cairn_body_store *b, int row)
{
    return row >= b->held && b->inertia[row].z == 0 &&
           cairn_body_shape(b, row)->kind == CAIRN_SHAPE_BOX;
}

/* Whether two bodies may touch: each is in a group that the other does not ignore, and they are not
 * both walls. */
static inline bool cairn_bodies_meet(const cairn_body_store *b, int one, int other)
{
    bool walls = (one < b->held || cairn_body_is_servo(b, one)) &&
                 (other < b->held || cairn_body_is_servo(b, other));
    if (walls)
        return false;
    return !(b->ignores[one] >> b->group[other] & 1) && !(b->ignores[other] >> b->group[one] & 1);
}

/* Reserves memory for so many bodies in total; after a failure the bodies are as before. */
cairn_status cairn_bodies_reserve(cairn_body_store *bodies, size_t count);
void cairn_bodies_release(cairn_body_store *bodies);
/* Starts recording old rows in `was`, until contacts and joints are updated. Must precede every
 * change of rows. */
void cairn_bodies_start_moving(cairn_body_store *bodies);
/* Where a body of a new row comes from: the row that it has, or a record of its columns. */
typedef struct cairn_row_source {
    const unsigned char *record; /* NULL: it has a row */
    int32_t row;
} cairn_row_source;

/* Replaces all dynamic bodies by others, of which some may have been there. Needs room for them.
 * Bodies that were there before keep their contacts. */
cairn_status cairn_bodies_replace(cairn_body_store *bodies, const cairn_row_source *from, int count,
                                  cairn_arena *scratch);
/* Bytes of the widest column of a body. */
size_t cairn_bodies_widest(void);
/* Checks a definition as cairn_body_create does. */
cairn_status cairn_body_check(const cairn_world *world, const cairn_body_def *def,
                              cairn_error *error);
/* Checks a state for the body in a row as cairn_body_create checks that of a definition; -1: for a
 * dynamic body. */
cairn_status cairn_body_state_check(const cairn_world *world, int row,
                                    const cairn_body_state *state, cairn_error *error);
/* Sets the columns that follow from shape and pose: extent, arm, ball. */
void cairn_body_measure(cairn_body_store *bodies, int body);
/* The collider of a body in its present pose, or in another one. */
cairn_collider cairn_body_collider(const cairn_world *world, int body);
cairn_collider cairn_body_collider_at(const cairn_world *world, int i, const cairn_pose *body);
/* m: radius about the body's origin that contains it; infinite for unbounded shapes. */
double cairn_body_extent(const cairn_world *world, int body);
/* m: likewise about the origin of its shape. */
double cairn_body_size(const cairn_world *world, int body);
/* m: bound on the distance from the centre of the points whose rotation is visible. Rotation by an
 * angle moves no visible point of the surface by more than arm times the angle: a ball about the
 * centre looks the same, and so does the rounding of a core. Infinite for unbounded shapes. */
double cairn_body_arm(const cairn_world *world, int body);
/* certificate.c: kinetic energy, J, with velocity v and angular velocity omega. */
double cairn_body_kinetic(const cairn_world *world, int body, cairn_vec3 v, cairn_vec3 omega);

/* ---- contacts -------------------------------------------------------------------------------- */

/* The contacts of a step: geometry, law and, after the solve, impulses. Sorted by (smaller row,
 * larger row, pieces, feature), unless bodies were added or removed since. */
typedef struct cairn_contact_store {
    int count;
    int elsewhere; /* contacts of a pile on a device, to be copied here if needed: pile.c */
    size_t capacity;
    double step;   /* s: time step in which they were found; 0: none         */
    size_t bytes;  /* of all columns                                         */
    unsigned set;  /* CAIRN_CONTACTS_...: the laws whose columns have memory */
    int moments;   /* components of moment and turning per contact; 0: none  */
    double *zeros; /* shared by the columns of laws that are not in use      */
    CAIRN_CONTACT_COLUMNS(CAIRN_COLUMN_STORED)
} cairn_contact_store;

/* Reserves room for so many contacts, with the columns of `set` in addition to those that exist.
 * After a failure there is room for none. */
cairn_status cairn_contacts_reserve(cairn_contact_store *contacts, size_t count, unsigned set,
                                    int dimension);
void cairn_contacts_release(cairn_contact_store *contacts);
/* The two rows of a contact as one number, which sorts by the smaller, then by the larger one. */
static inline uint64_t cairn_contact_key(const cairn_contact_store *contacts, int j)
{
    uint32_t a = (uint32_t)contacts->body[2 * (size_t)j],
             b = (uint32_t)contacts->body[2 * (size_t)j + 1];
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Whether column k has memory of its own; otherwise it is `zeros`, shares another column (mu_2 with
 * mu), or is NULL (pieces). */
bool cairn_contacts_own(const cairn_contact_store *contacts, int k);
/* Copies row `from` of a to row `to` of b. */
void cairn_contacts_copy(const cairn_contact_store *a, int from, cairn_contact_store *b, int to,
                         int dimension);
/* A contact as a record: its bytes; written; appended to a list that has room for it. */
size_t cairn_contact_bytes(const cairn_contact_store *contacts, int dimension);
void cairn_contact_write(const cairn_contact_store *contacts, int j, int dimension,
                         struct cairn_writer *out);
void cairn_contact_append(cairn_contact_store *contacts, const unsigned char *record,
                          int dimension);
/* Whether the contacts are sorted by rows. */
bool cairn_contacts_are_sorted(const cairn_contact_store *contacts);
/* Replaces row i by named[i] in all contacts, and drops contacts of a body that is gone (-1). */
void cairn_contacts_rename(cairn_contact_store *contacts, const int32_t *named, int dimension);
/* Sorts the contacts of `from` by rows into `to`; contacts of one pair keep their order. Temporary
 * memory is taken from the scratch. */
cairn_status cairn_contacts_sort(const cairn_contact_store *from, int rows, int dimension,
                                 cairn_arena *scratch, cairn_contact_store *to);
/* The piece of the body with the smaller (0) or the larger uid (1). */
cairn_piece cairn_contact_piece(const cairn_contact_store *contacts, int j, int which);
/* m: from the centre of the body on one side to its witness point, with bodies at x. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *contacts, const cairn_vec3 *x, int j,
                             int side);

#endif
