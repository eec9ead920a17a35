/* contact_store.c - the columns of a list of contacts.
 *
 * A list has memory for what its contacts can need: the columns of laws that no material has are
 * one column of zeros, mu_2 is mu where friction is the same in all directions, and bodies that are
 * not taken apart need no pieces. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

enum { COLUMNS = 19, SPARE = 8 }; /* a list that grows gets 1/SPARE more than it needs */

/* A column, and whether it has memory of its own. */
typedef struct column {
    void **block;
    size_t size;
    bool own;
} column;

static void list_columns(cairn_contact_store *c, int dimension, column out[COLUMNS])
{
    size_t turns = dimension == 2 ? 1 : 3, d = (size_t)dimension;
    bool turning = c->set & CAIRN_CONTACTS_TURN, bouncing = c->set & CAIRN_CONTACTS_BOUNCE;
    const column all[COLUMNS] = {
        { (void **)&c->body, 2 * sizeof *c->body, true },
        { (void **)&c->piece, 2 * sizeof *c->piece, c->set & CAIRN_CONTACTS_PIECES },
        { (void **)&c->feature, sizeof *c->feature, true },
        { (void **)&c->point, sizeof *c->point, true },
        { (void **)&c->normal, sizeof *c->normal, true },
        { (void **)&c->tangent, sizeof *c->tangent, true },
        { (void **)&c->gap, sizeof *c->gap, true },
        { (void **)&c->mu, sizeof *c->mu, true },
        { (void **)&c->zeros, sizeof *c->zeros, true },
        { (void **)&c->impulse, d * sizeof *c->impulse, true },
        { (void **)&c->velocity, d * sizeof *c->velocity, true },
        { (void **)&c->mu_2, sizeof *c->mu_2, c->set & CAIRN_CONTACTS_AXES },
        { (void **)&c->restitution, sizeof *c->restitution, bouncing },
        { (void **)&c->poisson, sizeof *c->poisson, bouncing },
        { (void **)&c->adhesion, sizeof *c->adhesion, c->set & CAIRN_CONTACTS_ADHERE },
        { (void **)&c->mu_rolling, sizeof *c->mu_rolling, turning },
        { (void **)&c->mu_spinning, sizeof *c->mu_spinning, turning },
        { (void **)&c->moment, turns * sizeof *c->moment, turning },
        { (void **)&c->turning, turns * sizeof *c->turning, turning },
    };
    memcpy(out, all, sizeof all);
}

/* Columns without memory of their own. */
static void borrow(cairn_contact_store *c)
{
    if (!(c->set & CAIRN_CONTACTS_AXES))
        c->mu_2 = c->mu;
    if (!(c->set & CAIRN_CONTACTS_BOUNCE))
        c->restitution = c->zeros;
    if (!(c->set & CAIRN_CONTACTS_ADHERE))
        c->adhesion = c->zeros;
    if (!(c->set & CAIRN_CONTACTS_TURN))
        c->mu_rolling = c->mu_spinning = c->moment = c->turning = c->zeros;
}

/* Columns that are borrowed so far and wanted from now on start without memory. */
static void stop_borrowing(cairn_contact_store *c, unsigned set)
{
    unsigned fresh = set & ~c->set;
    if (fresh & CAIRN_CONTACTS_AXES)
        c->mu_2 = NULL;
    if (fresh & CAIRN_CONTACTS_BOUNCE)
        c->restitution = NULL;
    if (fresh & CAIRN_CONTACTS_ADHERE)
        c->adhesion = NULL;
    if (fresh & CAIRN_CONTACTS_TURN)
        c->mu_rolling = c->mu_spinning = c->moment = c->turning = NULL;
    c->set |= set;
}

static cairn_status resize(cairn_contact_store *c, size_t capacity, int dimension)
{
    column columns[COLUMNS];
    size_t each = 0;
    list_columns(c, dimension, columns);
    for (int i = 0; i < COLUMNS; i++) {
        if (!columns[i].own)
            continue;
        void *grown = cairn_memory_resize(*columns[i].block, capacity, columns[i].size);
        if (!grown)
            return CAIRN_NO_MEMORY;
        *columns[i].block = grown;
        each += columns[i].size;
    }
    memset(c->zeros, 0, capacity * sizeof *c->zeros);
    c->capacity = capacity;
    c->bytes = capacity * each;
    return CAIRN_OK;
}

cairn_status cairn_contacts_reserve(cairn_contact_store *c, size_t count, unsigned set,
                                    int dimension)
{
    bool enough = count <= c->capacity, complete = (set & ~c->set) == 0;
    if ((enough && complete) || count == 0)
        return CAIRN_OK;
    stop_borrowing(c, set);
    size_t capacity = enough ? c->capacity : count + count / SPARE;
    c->capacity = 0; /* until all columns are there */
    TRY(resize(c, capacity, dimension));
    borrow(c);
    return CAIRN_OK;
}

void cairn_contacts_release(cairn_contact_store *c)
{
    column columns[COLUMNS];
    list_columns(c, 3, columns);
    for (int i = 0; i < COLUMNS; i++)
        if (columns[i].own)
            cairn_memory_free(*columns[i].block);
    *c = (cairn_contact_store){ 0 };
}

cairn_contacts cairn_world_contacts(const cairn_world *world)
{
    const cairn_contact_store *c = &world->contacts;
    return (cairn_contacts){ .count = c->count,
                             .dimension = world->dimension,
                             .body = c->body,
                             .point = c->point,
                             .normal = c->normal,
                             .tangent = c->tangent,
                             .gap = c->gap,
                             .impulse = c->impulse,
                             .velocity = c->velocity,
                             .mu = c->mu,
                             .restitution = c->restitution,
                             .feature = c->feature,
                             .mu_2 = c->mu_2,
                             .adhesion = c->adhesion,
                             .mu_rolling = c->mu_rolling,
                             .mu_spinning = c->mu_spinning,
                             .moments = c->moments,
                             .moment = c->moment,
                             .turning = c->turning };
}

cairn_piece cairn_contact_piece(const cairn_contact_store *c, int j, int which)
{
    return c->piece ? c->piece[2 * (size_t)j + (size_t)which] : (cairn_piece){ -1, -1 };
}

/* The witness points are half the gap from their middle. */
cairn_vec3 cairn_contact_arm(const cairn_stage *stage, int j, int side)
{
    const cairn_contact_store *c = &stage->world->contacts;
    double half = side ? -0.5 * c->gap[j] : 0.5 * c->gap[j];
    cairn_vec3 on = cairn_add_scaled(c->point[j], half, c->normal[j]);
    return cairn_sub(on, stage->x_eval[c->body[2 * (size_t)j + (size_t)side]]);
}
