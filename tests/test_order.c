/* test_order.c - rows of bodies: along a curve through space, and named anew when they change. */
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"
#include "world/step.h"
#include "worlds.h"

/* 13^3 balls a little apart, created in an order that jumps about; each has a speed of its own. */
static cairn_world *scattered_lattice(void)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int k = 0; k < 2197; k++) {
        int i = k * 1201 % 2197; /* every i once */
        cairn_vec3 at = { 1.01 * (i % 13), 1.01 * (i / 13 % 13), 1.01 * (i / 169) };
        add_ball(world, 0.5, at, (cairn_vec3){ 1e-6 * k, 0, 0 });
    }
    return world;
}

/* The lattice in the place of ball `uid`: i + 13 j + 169 k. */
static int place_of(uint64_t uid)
{
    return (int)(uid * 1201 % 2197);
}

/* In the order in which they were made, the blocks of a contact would be 2197/3 apart on average. */
TEST(rows_of_many_bodies_follow_space_and_belong_to_their_bodies)
{
    cairn_world *world = scattered_lattice();
    cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    options.margin = 0.05;
    advance(world, &options, 1);
    const cairn_problem *p = cairn_world_problem(world, NULL);
    double apart = 0;
    CHECK_INT(p->contacts, 3 * 13 * 13 * 12);
    for (int j = 0; j < p->contacts; j++)
        apart += abs(p->block[2 * j] - p->block[2 * j + 1]);
    CHECK(apart / p->contacts < 2197.0 / 9);
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < 2197; i++) {
        CHECK_NEAR(b.v[i].x, 1e-6 * (double)b.uid[i], 0);
        CHECK_INT(cairn_body_row(world, (cairn_body_id){ b.uid[i] }), i);
    }
    cairn_world_destroy(world);
}

/* Walls first, then the balls as they came: the first one made room for the wall. */
TEST(few_bodies_keep_their_rows)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int k = 0; k < 3; k++)
        add_ball(world, 0.5, (cairn_vec3){ -3 * k, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, -1 });
    add_ball(world, 0.5, (cairn_vec3){ 7, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    const uint64_t expected[5] = { 3, 1, 2, 0, 4 };
    CHECK_OK(cairn_world_put_in_order(world));
    cairn_step_options options = step_by(1e-3, "convex", 1e-6);
    cairn_step_report report;
    cairn_step step = cairn_step_begin(world, &options, &report);
    CHECK_INT(step.blocks, 4);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(cairn_world_bodies(world).uid[i], expected[i]);
        CHECK_INT(cairn_step_block(&step, i), i - 1);
    }
    cairn_world_destroy(world);
}

/* Along the diagonal of the lattice rows grow. */
TEST(many_bodies_stand_along_the_curve)
{
    cairn_world *world = scattered_lattice();
    CHECK_OK(cairn_world_put_in_order(world));
    cairn_bodies b = cairn_world_bodies(world);
    int last = -1;
    for (int place = 0; place < 13; place++)
        for (int i = 0; i < 2197; i++)
            if (place_of(b.uid[i]) == place * (1 + 13 + 169)) {
                CHECK(i > last);
                last = i;
            }
    cairn_world_destroy(world);
}

/* Where they were sorted they stand as before when each has another one's place, all over again, and
 * do not when each tenth has the place of its neighbour. No two are in one cell. */
TEST(rows_are_sorted_again_when_neighbours_are_far_apart)
{
    cairn_world *world = scattered_lattice();
    static cairn_vec3 sorted[2197];
    cairn_body_store *b = &world->bodies;
    CHECK_OK(cairn_world_put_in_order(world));
    memcpy(sorted, b->x, sizeof sorted);
    for (int i = 0; i + 1 < 2197; i += 10) {
        b->x[i] = sorted[i + 1];
        b->x[i + 1] = sorted[i];
    }
    CHECK_OK(cairn_world_put_in_order(world));
    CHECK(memcmp(sorted, b->x, sizeof sorted) != 0);
    for (int i = 0; i < 2197; i++)
        b->x[i] = sorted[(i * 1201 + 7) % 2197];
    CHECK_OK(cairn_world_put_in_order(world));
    CHECK(memcmp(sorted, b->x, sizeof sorted) == 0);
    cairn_world_destroy(world);
}

/* m: how far bodies of rows side by side are, on average. */
static double mean_way(const cairn_body_store *b)
{
    double sum = 0;
    for (int i = 1; i < b->count; i++)
        sum += cairn_norm(cairn_sub(b->x[i], b->x[i - 1]));
    return sum / (b->count - 1);
}

/* One that flew off 2 km does not spoil the order of the others: they are 1.7 m apart with and
 * without it, and would be 8 m in the order in which they were made. */
TEST(one_body_far_away_does_not_spoil_the_order)
{
    for (int far = 0; far < 2; far++) {
        cairn_world *world = scattered_lattice();
        if (far)
            add_ball(world, 0.5, (cairn_vec3){ 2000, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
        CHECK_OK(cairn_world_put_in_order(world));
        CHECK(mean_way(&world->bodies) < (far ? 4 : 2));
        CHECK(world->bodies.apart < 3);
        cairn_world_destroy(world);
    }
}

/* A heap at rest: a floor, and 12^3 balls upon each other that were made in an order that jumps. */
static cairn_world *heap(int *count)
{
    cairn_world *world = new_world(3, -10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    *count = 2197;
    for (int k = 0; k < *count; k++) {
        int i = place_of((uint64_t)k);
        add_ball(world, 0.5, (cairn_vec3){ 1.001 * (i % 13), 1.001 * (i / 13 % 13), 0.5 + i / 169 },
                 (cairn_vec3){ 0, 0, 0 });
    }
    return world;
}

/* Each contact is where the two bodies that it names touch. */
static void check_contacts(const cairn_world *world)
{
    cairn_contacts c = cairn_world_contacts(world);
    cairn_bodies b = cairn_world_bodies(world);
    for (int j = 0; j < c.count; j++)
        for (int side = 0; side < 2; side++) {
            int i = c.body[2 * j + side];
            CHECK(i >= 0 && i < b.count);
            double away = cairn_norm(cairn_sub(c.point[j], b.x[i]));
            CHECK(i < b.held ? fabs(c.point[j].z) < 1e-3 : fabs(away - 0.5) < 1e-3);
        }
}

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static cairn_status keep(const void *data, size_t size, void *context)
{
    bytes *all = context;
    all->data = realloc(all->data, all->size + size);
    memcpy(all->data + all->size, data, size);
    all->size += size;
    return CAIRN_OK;
}

/* A world that was saved and loaded. */
static cairn_world *copy_of(const cairn_world *world)
{
    bytes all = { NULL, 0 };
    cairn_world *copy;
    CHECK_OK(cairn_world_save(world, keep, &all));
    CHECK_OK(cairn_world_load(all.data, all.size, &copy, NULL));
    free(all.data);
    return copy;
}

/* Contacts of those that are gone go with them; the others name the rows as they are now, and the
 * next step starts from their impulses: a world that was saved and loaded meanwhile does the same. */
TEST(contacts_follow_bodies_to_their_new_rows)
{
    int count;
    cairn_world *world = heap(&count);
    cairn_step_options options = step_by(1e-3, "convex", 1e-4);
    advance(world, &options, 3);
    check_contacts(world);
    int before = cairn_world_contacts(world).count;
    for (uint64_t uid = 1; uid <= 100; uid++)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ 7 * uid }));
    CHECK(cairn_world_contacts(world).count < before - 100);
    check_contacts(world);
    cairn_world *copy = copy_of(world);
    CHECK_INT(advance(world, &options, 1).solve.iterations,
              advance(copy, &options, 1).solve.iterations);
    CHECK(cairn_world_hash(world) == cairn_world_hash(copy));
    check_contacts(world);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
}

/* The impulses of a heap at rest hold it. Its mirror image stands in other rows; the step still
 * starts from its impulses, and needs no more sweeps than before. */
TEST(impulses_are_found_again_after_rows_have_changed)
{
    int count;
    cairn_world *world = heap(&count);
    cairn_step_options options = step_by(1e-3, "convex", 1e-4);
    advance(world, &options, 30);
    int64_t usual = advance(world, &options, 1).solve.iterations;
    uint64_t before[3000];
    memcpy(before, world->bodies.uid, (size_t)(count + 1) * sizeof before[0]);
    for (int i = 1; i <= count; i++)
        world->bodies.x[i].x = -world->bodies.x[i].x;
    world->bodies.apart = 0; /* sort anew */
    CHECK(advance(world, &options, 1).solve.iterations <= usual + 2);
    CHECK(memcmp(before, world->bodies.uid, (size_t)(count + 1) * sizeof before[0]) != 0);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(rows_of_many_bodies_follow_space_and_belong_to_their_bodies),
        CASE(few_bodies_keep_their_rows), CASE(many_bodies_stand_along_the_curve),
        CASE(rows_are_sorted_again_when_neighbours_are_far_apart),
        CASE(one_body_far_away_does_not_spoil_the_order),
        CASE(contacts_follow_bodies_to_their_new_rows),
        CASE(impulses_are_found_again_after_rows_have_changed));
}
