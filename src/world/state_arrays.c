/* state_arrays.c - bodies and contacts to bytes and back, column by column. */
#include <string.h>

#include "base/status.h"
#include "shape/shape.h"
#include "shape/shape_bytes.h"
#include "world/state.h"

/* ---- columns -------------------------------------------------------------------------------- */

/* Numbers of column k in `rows` rows; 0: it is not saved, or the list has no memory for it. */
static size_t count_of(const cairn_column *c, const cairn_world *world, int rows)
{
    int width = c->width == CAIRN_WIDTH_DIMENSION ? world->dimension
                : c->width == CAIRN_WIDTH_TURNS   ? world->contacts.moments
                                                  : c->width;
    bool there = (c->goes & CAIRN_GOES_SAVED) && (c->set & ~world->contacts.set) == 0;
    return there ? (size_t)width * (size_t)rows : 0;
}

static void write_columns(cairn_writer *w, const cairn_world *world, const cairn_column_list *list,
                          const void *store, int rows)
{
    for (int k = 0; k < list->count; k++) {
        const cairn_column *c = &list->items[k];
        const void *numbers = cairn_column_get(list, k, store);
        size_t count = count_of(c, world, rows);
        for (size_t i = 0; i < count; i++) {
            if (c->type == CAIRN_COLUMN_REAL)
                cairn_write_real(w, ((const double *)numbers)[i]);
            else if (c->type == CAIRN_COLUMN_INT)
                cairn_write_whole(w, ((const int32_t *)numbers)[i]);
            else
                cairn_write_whole(w, c->type == CAIRN_COLUMN_FLAG ? ((const bool *)numbers)[i]
                                                                  : ((const uint8_t *)numbers)[i]);
        }
    }
}

static int64_t highest(const cairn_column *c, const cairn_world *world)
{
    const int64_t limits[] = { [CAIRN_RANGE_ANY] = INT32_MAX,
                               [CAIRN_RANGE_NO_YES] = 1,
                               [CAIRN_RANGE_MOTION] = CAIRN_MOTION_COUNT - 1,
                               [CAIRN_RANGE_MATERIAL] = (int64_t)world->materials.count - 1,
                               [CAIRN_RANGE_BODY] = world->bodies.count - 1 };
    return limits[c->range];
}

static void read_columns(cairn_reader *r, const cairn_world *world, const cairn_column_list *list,
                         void *store, int rows)
{
    for (int k = 0; k < list->count && !r->failed; k++) {
        const cairn_column *c = &list->items[k];
        void *numbers = cairn_column_get(list, k, store);
        size_t count = count_of(c, world, rows);
        int64_t low = c->range == CAIRN_RANGE_ANY ? INT32_MIN : 0, high = highest(c, world);
        for (size_t i = 0; i < count && !r->failed; i++) {
            if (c->type == CAIRN_COLUMN_REAL)
                ((double *)numbers)[i] = cairn_read_real(r);
            else if (c->type == CAIRN_COLUMN_INT)
                ((int32_t *)numbers)[i] = (int32_t)cairn_read_within(r, low, high);
            else if (c->type == CAIRN_COLUMN_FLAG)
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
    write_columns(w, world, &cairn_columns_of_bodies, b, b->count);
    cairn_shapes_write(w, &shapes);
    cairn_write_whole(w, world->materials.laws.moving);
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
    b->first_hole = 0;
    read_columns(r, world, &cairn_columns_of_bodies, b, count);
    TRY(cairn_state_settle(r));
    const cairn_shape_list shapes = shapes_of(world);
    TRY(cairn_shapes_read(r, &shapes, &world->error));
    world->materials.laws.moving = cairn_read_within(r, 0, 1) != 0;
    return check_shapes(r, world, holes);
}

/* ---- contacts ------------------------------------------------------------------------------- */

void cairn_state_write_contacts(cairn_writer *w, const cairn_world *world)
{
    cairn_write_real(w, world->contacts_step);
    cairn_write_whole(w, world->contacts.moments);
    cairn_write_whole(w, world->contacts.set);
    cairn_write_whole(w, world->contacts.count);
    write_columns(w, world, &cairn_columns_of_contacts, &world->contacts, world->contacts.count);
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
    read_columns(r, world, &cairn_columns_of_contacts, &world->contacts, (int)count);
    TRY(cairn_state_settle(r));
    world->contacts.count = (int)count;
    return CAIRN_OK;
}
