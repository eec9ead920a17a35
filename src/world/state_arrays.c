/* state_arrays.c - bodies and contacts to bytes and back, column by column. */
#include <string.h>

#include "base/status.h"
#include "shape/shape.h"
#include "shape/shape_bytes.h"
#include "world/state.h"

/* ---- columns -------------------------------------------------------------------------------- */

typedef enum column_type { BYTE, FLAG, INT, REAL } column_type;

/* Numbers a row that depend on the world. */
enum { DIMENSION = 0, MOMENTS = -1 };

/* A column: where its pointer is in the store, how many numbers a row has, and the range of whole
 * numbers. */
typedef struct column {
    size_t offset;
    column_type type;
    int width;
    enum { ANY, NO_YES, MOTION, MATERIAL, BODY } range;
    unsigned only; /* contacts: where the list has columns for it; 0: always            */
} column;

#define BODY_COLUMN(name, type, width, range)                                                      \
    {                                                                                              \
        offsetof(cairn_body_store, name), type, width, range, 0                                    \
    }
static const column body_columns[] = {
    BODY_COLUMN(alive, BYTE, 1, NO_YES),
    BODY_COLUMN(motion, BYTE, 1, MOTION),
    BODY_COLUMN(generation, INT, 1, ANY),
    BODY_COLUMN(material, INT, 1, MATERIAL),
    BODY_COLUMN(pose, REAL, 7, ANY),
    BODY_COLUMN(x, REAL, 3, ANY),
    BODY_COLUMN(v, REAL, 3, ANY),
    BODY_COLUMN(omega, REAL, 3, ANY),
    BODY_COLUMN(inertia, REAL, 3, ANY),
    BODY_COLUMN(q, REAL, 4, ANY),
    BODY_COLUMN(angle, REAL, 1, ANY),
    BODY_COLUMN(mass, REAL, 1, ANY),
    BODY_COLUMN(surface_velocity, REAL, 3, ANY),
    BODY_COLUMN(friction_axis, REAL, 3, ANY),
    BODY_COLUMN(asleep, BYTE, 1, NO_YES),
    BODY_COLUMN(calm, INT, 1, ANY),
};

#define CONTACT_COLUMN(name, type, width, range, only)                                             \
    {                                                                                              \
        offsetof(cairn_contact_store, name), type, width, range, only                              \
    }
static const column contact_columns[] = {
    CONTACT_COLUMN(body, INT, 2, BODY, 0),
    CONTACT_COLUMN(piece, INT, 4, ANY, CAIRN_CONTACTS_PIECES),
    CONTACT_COLUMN(feature, INT, 1, ANY, 0),
    CONTACT_COLUMN(point, REAL, 3, ANY, 0),
    CONTACT_COLUMN(normal, REAL, 3, ANY, 0),
    CONTACT_COLUMN(tangent, REAL, 3, ANY, 0),
    CONTACT_COLUMN(gap, REAL, 1, ANY, 0),
    CONTACT_COLUMN(mu, REAL, 1, ANY, 0),
    CONTACT_COLUMN(mu_2, REAL, 1, ANY, CAIRN_CONTACTS_AXES),
    CONTACT_COLUMN(mu_rolling, REAL, 1, ANY, CAIRN_CONTACTS_TURN),
    CONTACT_COLUMN(mu_spinning, REAL, 1, ANY, CAIRN_CONTACTS_TURN),
    CONTACT_COLUMN(adhesion, REAL, 1, ANY, CAIRN_CONTACTS_ADHERE),
    CONTACT_COLUMN(restitution, REAL, 1, ANY, CAIRN_CONTACTS_BOUNCE),
    CONTACT_COLUMN(poisson, FLAG, 1, NO_YES, CAIRN_CONTACTS_BOUNCE),
    CONTACT_COLUMN(impulse, REAL, DIMENSION, ANY, 0),
    CONTACT_COLUMN(velocity, REAL, DIMENSION, ANY, 0),
    CONTACT_COLUMN(moment, REAL, MOMENTS, ANY, CAIRN_CONTACTS_TURN),
    CONTACT_COLUMN(turning, REAL, MOMENTS, ANY, CAIRN_CONTACTS_TURN),
};

_Static_assert(sizeof(cairn_piece) == 2 * sizeof(int32_t), "a piece is two numbers");
_Static_assert(sizeof(cairn_pose) == 7 * sizeof(double), "a pose is seven numbers");

/* A set of columns of one store. */
typedef struct columns {
    const column *items;
    int count;
} columns;

#define COLUMNS(items)                                                                             \
    {                                                                                              \
        items, sizeof items / sizeof items[0]                                                      \
    }
static const columns bodies_kept = COLUMNS(body_columns), contacts_kept = COLUMNS(contact_columns);

/* Pointer and numbers of a column of `rows` rows. */
static void *numbers_of(const column *c, const void *store)
{
    void *numbers;
    memcpy(&numbers, (const char *)store + c->offset, sizeof numbers);
    return numbers;
}

static size_t count_of(const column *c, const cairn_world *world, int rows)
{
    int width = c->width == DIMENSION ? world->dimension
                : c->width == MOMENTS ? world->contacts.moments
                                      : c->width;
    bool there = (c->only & ~world->contacts.set) == 0;
    return there ? (size_t)width * (size_t)rows : 0;
}

static void write_columns(cairn_writer *w, const cairn_world *world, columns set, const void *store,
                          int rows)
{
    for (int k = 0; k < set.count; k++) {
        const column *c = &set.items[k];
        const void *numbers = numbers_of(c, store);
        size_t count = count_of(c, world, rows);
        for (size_t i = 0; i < count; i++) {
            if (c->type == REAL)
                cairn_write_real(w, ((const double *)numbers)[i]);
            else if (c->type == INT)
                cairn_write_whole(w, ((const int32_t *)numbers)[i]);
            else
                cairn_write_whole(w, c->type == FLAG ? ((const bool *)numbers)[i]
                                                     : ((const uint8_t *)numbers)[i]);
        }
    }
}

static int64_t highest(const column *c, const cairn_world *world)
{
    const int64_t limits[] = { [ANY] = INT32_MAX,
                               [NO_YES] = 1,
                               [MOTION] = CAIRN_MOTION_COUNT - 1,
                               [MATERIAL] = (int64_t)world->material_count - 1,
                               [BODY] = world->bodies.count - 1 };
    return limits[c->range];
}

static void read_columns(cairn_reader *r, const cairn_world *world, columns set, void *store,
                         int rows)
{
    for (int k = 0; k < set.count && !r->failed; k++) {
        const column *c = &set.items[k];
        void *numbers = numbers_of(c, store);
        size_t count = count_of(c, world, rows);
        int64_t low = c->range == ANY ? INT32_MIN : 0, high = highest(c, world);
        for (size_t i = 0; i < count && !r->failed; i++) {
            if (c->type == REAL)
                ((double *)numbers)[i] = cairn_read_real(r);
            else if (c->type == INT)
                ((int32_t *)numbers)[i] = (int32_t)cairn_read_within(r, low, high);
            else if (c->type == FLAG)
                ((bool *)numbers)[i] = cairn_read_within(r, 0, 1) != 0;
            else
                ((uint8_t *)numbers)[i] = (uint8_t)cairn_read_within(r, low, high);
        }
    }
}

/* ---- bodies --------------------------------------------------------------------------------- */

static cairn_shape_list shapes_of(const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    return (cairn_shape_list){ b->shape, sizeof *b->shape, b->count, world->dimension, false };
}

void cairn_state_write_bodies(cairn_writer *w, const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    const cairn_shape_list shapes = shapes_of(world);
    cairn_write_whole(w, b->count);
    cairn_write_whole(w, b->free_count);
    write_columns(w, world, bodies_kept, b, b->count);
    cairn_shapes_write(w, &shapes);
    cairn_write_whole(w, world->laws.moving);
}

/* A hole has no data; what lives has a shape that can be. */
static cairn_status check_shapes(cairn_reader *r, cairn_world *world, int64_t holes)
{
    cairn_body_store *b = &world->bodies;
    for (int i = 0; i < b->count; i++) {
        if (b->alive[i]) {
            TRY(cairn_shape_check(&b->shape[i], world->dimension, &world->error));
            cairn_body_measure(b, i);
        }
        r->failed = r->failed || (!b->alive[i] && b->shape[i].geometry);
        holes -= !b->alive[i];
    }
    r->failed = r->failed || holes != 0;
    return cairn_state_settle(r);
}

cairn_status cairn_state_read_bodies(cairn_reader *r, cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    int count = (int)cairn_read_count(r, 8);
    int64_t holes = cairn_read_within(r, 0, count);
    TRY(cairn_state_settle(r));
    TRY(cairn_bodies_reserve(b, (size_t)count));
    b->count = count;
    b->free_count = (int)holes;
    read_columns(r, world, bodies_kept, b, count);
    TRY(cairn_state_settle(r));
    const cairn_shape_list shapes = shapes_of(world);
    TRY(cairn_shapes_read(r, &shapes, &world->error));
    world->laws.moving = cairn_read_within(r, 0, 1) != 0;
    return check_shapes(r, world, holes);
}

/* ---- contacts ------------------------------------------------------------------------------- */

void cairn_state_write_contacts(cairn_writer *w, const cairn_world *world)
{
    cairn_write_real(w, world->contacts_step);
    cairn_write_whole(w, world->contacts.moments);
    cairn_write_whole(w, world->contacts.set);
    cairn_write_whole(w, world->contacts.count);
    write_columns(w, world, contacts_kept, &world->contacts, world->contacts.count);
}

cairn_status cairn_state_read_contacts(cairn_reader *r, cairn_world *world)
{
    int turns = 2 * world->dimension - 3;
    world->contacts_step = cairn_read_real(r);
    int64_t moments = cairn_read_within(r, 0, turns);
    unsigned set = (unsigned)cairn_read_within(r, 0, CAIRN_CONTACTS_ALL);
    size_t count = cairn_read_count(r, 8);
    bool turn = set & CAIRN_CONTACTS_TURN;
    r->failed =
        r->failed || (count > 0 && moments != 0 && !turn) || (moments != 0 && moments != turns);
    TRY(cairn_state_settle(r));
    TRY(cairn_contacts_reserve(&world->contacts, count, set, world->dimension));
    world->contacts.moments = (int)moments;
    read_columns(r, world, contacts_kept, &world->contacts, (int)count);
    TRY(cairn_state_settle(r));
    world->contacts.count = (int)count;
    return CAIRN_OK;
}
