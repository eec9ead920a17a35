/* state_arrays.c - bodies and contacts to bytes and back, column by column. */
#include <string.h>

#include "base/status.h"
#include "shape/geometry.h"
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
            else if (c->type == CAIRN_COLUMN_LONG)
                cairn_write_whole(w, (int64_t)((const uint64_t *)numbers)[i]);
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
                               [CAIRN_RANGE_SHAPE] = world->bodies.shapes.count - 1,
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
            else if (c->type == CAIRN_COLUMN_LONG)
                ((uint64_t *)numbers)[i] = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
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
    const cairn_shape_table *t = &world->bodies.shapes;
    return (cairn_shape_list){ t->items, sizeof *t->items, t->count, world->dimension, false };
}

void cairn_state_write_bodies(cairn_writer *w, const cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    const cairn_shape_list shapes = shapes_of(world);
    cairn_write_whole(w, b->count);
    cairn_write_whole(w, b->held);
    cairn_write_whole(w, (int64_t)b->next_uid);
    cairn_write_real(w, b->apart);
    cairn_write_real(w, b->far);
    cairn_write_whole(w, b->shapes.count);
    cairn_shapes_write(w, &shapes);
    write_columns(w, world, &cairn_columns_of_bodies, b, b->count);
    cairn_write_whole(w, world->materials.laws.moving);
}

/* Every body has a uid of its own and a shape that can be, and stands where its motion says. */
static cairn_status check_bodies(cairn_reader *r, cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    for (int i = 0; i < b->count; i++) {
        bool held = b->motion[i] != CAIRN_MOTION_DYNAMIC;
        bool known = cairn_directory_find(&b->directory, b->uid[i]) >= 0;
        r->failed = r->failed || held != (i < b->held) || known || b->uid[i] >= b->next_uid;
        TRY(cairn_state_settle(r));
        TRY(cairn_shape_check(cairn_body_shape(b, i), world->dimension, &world->error));
        cairn_body_measure(b, i);
        cairn_directory_set(&b->directory, b->uid[i], i);
    }
    return CAIRN_OK;
}

/* The table as it was, also what nobody used. */
static cairn_status read_shapes(cairn_reader *r, cairn_world *world)
{
    cairn_shape_table *t = &world->bodies.shapes;
    size_t count = cairn_read_count(r, 8);
    TRY(cairn_state_settle(r));
    TRY(cairn_shapes_reserve(t, count));
    t->count = (int)count;
    const cairn_shape_list shapes = shapes_of(world);
    return cairn_shapes_read(r, &shapes, &world->error);
}

cairn_status cairn_state_read_bodies(cairn_reader *r, cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    int count = (int)cairn_read_count(r, 8);
    int held = (int)cairn_read_within(r, 0, count);
    uint64_t next_uid = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    double apart = cairn_read_real(r), far = cairn_read_real(r);
    TRY(cairn_state_settle(r));
    TRY(cairn_bodies_reserve(b, (size_t)count));
    b->count = count;
    b->held = held;
    b->next_uid = next_uid;
    b->apart = apart;
    b->far = far;
    TRY(read_shapes(r, world));
    read_columns(r, world, &cairn_columns_of_bodies, b, count);
    TRY(cairn_state_settle(r));
    cairn_shapes_count(&b->shapes, b->shape, count);
    world->materials.laws.moving = cairn_read_within(r, 0, 1) != 0;
    TRY(cairn_state_settle(r));
    return check_bodies(r, world);
}

int cairn_state_read_body(cairn_reader *r, const cairn_world *world)
{
    cairn_body_id id = { (uint64_t)cairn_read_within(r, 0, INT64_MAX) };
    int row = cairn_body_row(world, id);
    r->failed = r->failed || row < 0;
    return row;
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

/* Whether a shape has that piece. */
static bool has_piece(const cairn_shape *shape, cairn_piece piece)
{
    const cairn_geometry *geometry = shape->geometry;
    if (piece.part < -1 || piece.face < -1)
        return false;
    if (piece.part >= 0) {
        if (!geometry || piece.part >= geometry->view.part_count)
            return false;
        geometry = geometry->view.parts[piece.part].shape.geometry;
    }
    return piece.face < 0 ||
           (geometry && geometry->patch && piece.face < geometry->view.face_count);
}

/* Each contact is of two bodies, and of pieces that they have. */
static bool are_possible(const cairn_world *world)
{
    const cairn_contact_store *c = &world->contacts;
    const cairn_body_store *b = &world->bodies;
    bool good = true;
    for (int j = 0; j < c->count && good; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        int first = b->uid[body[0]] < b->uid[body[1]] ? 0 : 1;
        good = body[0] != body[1];
        for (int i = 0; i < 2 && good; i++)
            good = has_piece(cairn_body_shape(b, body[i ^ first]), cairn_contact_piece(c, j, i));
    }
    return good;
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
    if (!are_possible(world))
        return CAIRN_BAD_INPUT;
    world->contacts_sorted = cairn_contacts_are_sorted(&world->contacts);
    return CAIRN_OK;
}
