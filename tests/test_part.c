/* test_part.c - a part of a problem says of its contacts what the whole says of them. */
#include "problem/part.h"

#include "failing_allocator.h"
#include "hard_problems.h"
#include "problem/operator.h"

/* Every third contact. */
static int choose(int contacts, int32_t *out)
{
    int count = 0;
    for (int j = 1; j < contacts; j += 3)
        out[count++] = j;
    return count;
}

/* With impulses r in the part and none elsewhere, u = H M^-1 H' r + H v_free + w is the same. */
static void check_part(const cairn_problem *whole)
{
    static int32_t contacts[4096];
    static double r[3 * 4096], all[3 * 4096], u[3 * 4096], u_all[3 * 4096], v[6 * 4096],
        v_all[6 * 4096];
    cairn_arena scratch = { 0 };
    cairn_problem_part part;
    int d = whole->dimension, count = choose(whole->contacts, contacts);
    CHECK(count > 5);
    CHECK_OK(cairn_problem_take_part(whole, contacts, count, &scratch, &part));
    const cairn_problem *p = &part.problem;
    CHECK_INT(p->contacts, count);
    CHECK(p->blocks <= whole->blocks && p->blocks <= 2 * count);
    CHECK_OK(cairn_problem_check(p, NULL));
    memset(all, 0, sizeof all);
    for (int i = 0; i < d * count; i++)
        r[i] = 1e-3 * (i % 7);
    cairn_part_spread(contacts, count, d, r, all);
    cairn_problem_apply(p, r, v, u);
    cairn_problem_apply(whole, all, v_all, u_all);
    for (int k = 0; k < count; k++) {
        CHECK(p->b[k] == whole->b[contacts[k]] && p->mu[k] == whole->mu[contacts[k]]);
        for (int i = 0; i < d; i++)
            CHECK_NEAR(u[d * k + i], u_all[d * contacts[k] + i], 1e-13);
    }
    for (int k = 0; k < p->blocks; k++)
        for (int i = 0; i < p->block_size; i++)
            CHECK_NEAR(v[p->block_size * k + i], v_all[p->block_size * part.block[k] + i], 1e-13);
    cairn_arena_destroy(&scratch);
}

TEST(contacts_of_balls_disks_and_boxes_move_as_in_the_whole)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world;
        const cairn_problem p = settled_heap(dimension, 0.3, 8, 150, &world);
        CHECK_INT(p.normal != NULL, dimension == 3);
        check_part(&p);
        cairn_world_destroy(world);
    }
    cairn_world *world = new_heap(3, 0.3, 4);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.position = (cairn_vec3){ 5, 5, 0.1 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    advance(world, &options, 60);
    const cairn_problem mixed = next_problem(world, &options);
    CHECK(mixed.normal && mixed.rows);
    check_part(&mixed);
    cairn_world_destroy(world);
}

TEST(every_allocation_may_fail)
{
    cairn_world *world;
    const cairn_problem p = settled_heap(3, 0.3, 4, 40, &world);
    static int32_t contacts[4096];
    int count = choose(p.contacts, contacts);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_problem_part part;
        cairn_arena scratch = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_problem_take_part(&p, contacts, count, &scratch, &part);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_arena_destroy(&scratch);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(contacts_of_balls_disks_and_boxes_move_as_in_the_whole),
        CASE(every_allocation_may_fail));
}
