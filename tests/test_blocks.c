/* test_blocks.c - the order of velocity blocks. */
#include <stdlib.h>

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

/* Numbered as they were created, the blocks of a contact would be 2197/3 apart on average. */
TEST(blocks_of_many_bodies_follow_space_and_belong_to_their_bodies)
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
    for (int k = 0; k < 2197; k++)
        CHECK_NEAR(cairn_world_bodies(world).v[k].x, 1e-6 * k, 0);
    cairn_world_destroy(world);
}

/* Each dynamic body has one block, fixed ones have none; few bodies keep their order. */
TEST(few_blocks_are_numbered_as_the_bodies)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int k = 0; k < 5; k++)
        add_ball(world, 0.5, (cairn_vec3){ -3 * k, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, -1 });
    add_ball(world, 0.5, (cairn_vec3){ 7, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    const int expected[7] = { 0, 1, 2, 3, 4, -1, 5 };
    cairn_step step = { .world = world };
    CHECK_OK(cairn_step_number_blocks(&step));
    CHECK_INT(step.blocks, 6);
    for (int i = 0; i < 7; i++)
        CHECK_INT(step.block[i], expected[i]);
    cairn_world_destroy(world);
}

/* Every number once, and along the diagonal of the lattice they grow. */
TEST(many_blocks_are_numbered_along_the_curve)
{
    cairn_world *world = scattered_lattice();
    static int seen[2197];
    cairn_step step = { .world = world };
    CHECK_OK(cairn_step_number_blocks(&step));
    CHECK_INT(step.blocks, 2197);
    for (int k = 0; k < 2197; k++)
        CHECK_INT(seen[step.block[k]]++, 0);
    int last = -1;
    for (int place = 0; place < 13; place++)
        for (int k = 0; k < 2197; k++)
            if (k * 1201 % 2197 == place * (1 + 13 + 169)) {
                CHECK(step.block[k] > last);
                last = step.block[k];
            }
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(blocks_of_many_bodies_follow_space_and_belong_to_their_bodies),
        CASE(few_blocks_are_numbered_as_the_bodies),
        CASE(many_blocks_are_numbered_along_the_curve));
}
