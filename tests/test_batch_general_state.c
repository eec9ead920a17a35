/* test_batch_general_state.c - contacts of boxes, with and without joints, swept in batches. */
#include <math.h>
#include <string.h>

#include "backend/host/batch_general.h"
#include "base/parallel.h"
#include "cairn/joint.h"
#include "lattice_problem.h"
#include "math/vec.h"
#include "worlds.h"

/* 64 boxes in 4 layers, each a little turned and on two of the layer below; with `joints` four of them
 * are held. */
static cairn_world *boxes(double mu, bool joints)
{
    cairn_world *world = new_world(3, 9.81, mu, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    for (int i = 0; i < 64; i++) {
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id id;
        def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        def.shape.size = (cairn_vec3){ 0.17, 0.12, 0.1 };
        def.position = (cairn_vec3){ 0.2 * (i % 4) + 0.09 * (i / 16), 0.15 * (i / 4 % 4),
                                     0.05 + 0.1 * (i / 16) };
        def.orientation = cairn_quat_exp((cairn_vec3){ 0, 0, 0.05 * (i % 5) });
        def.velocity = (cairn_vec3){ 0.1 * (i % 3), 0.1 * (i % 2), 0 };
        CHECK_OK(cairn_body_create(world, &def, &id));
        if (!joints || i % 16)
            continue;
        cairn_joint_def hinge = cairn_joint_def_default();
        hinge.kind = CAIRN_JOINT_BALL;
        hinge.a = id;
        hinge.anchor = def.position;
        CHECK_OK(cairn_joint_create(world, &hinge, NULL));
    }
    return world;
}

static const cairn_problem *problem_of(cairn_world *world)
{
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    cairn_step_report report;
    options.solver = "pgs";
    options.max_iterations = 3;
    CHECK_OK(cairn_world_step(world, &options, &report));
    return cairn_world_problem(world, NULL);
}

typedef struct sweeping {
    double *r, *v, *u;
    cairn_judgement judgement;
} sweeping;

/* Sweeps from nothing by one kind of sweeps, judged in double. */
static sweeping sweep_from_zero(const cairn_problem *p, const cairn_sweeps *sweeps, cairn_law law,
                                int count, cairn_arena *arena)
{
    sweeping out;
    cairn_system system;
    void *state;
    CHECK_OK(cairn_system_create(p, arena, &system));
    out.r = cairn_arena_doubles(arena, system.r_count);
    out.v = cairn_arena_doubles(arena, system.v_count);
    out.u = cairn_arena_doubles(arena, system.r_count);
    memcpy(out.v, p->v_free, system.v_count * sizeof(double));
    CHECK_OK(sweeps->begin(&system, arena, out.r, out.v, &state));
    CHECK(state != NULL);
    for (int k = 0; k < count; k++) {
        sweeps->sweep(state, law, (cairn_momentum){ k % 200 ? 0.95 : 0, 0 });
        if (sweeps->single && k % 50 == 49)
            sweeps->refresh(state);
    }
    sweeps->unload(state, out.r);
    cairn_judge(p, law, out.r, out.v, out.u, &out.judgement);
    return out;
}

static void check_sweeps(double mu, bool joints, cairn_law law)
{
    cairn_world *world = boxes(mu, joints);
    const cairn_problem *p = problem_of(world);
    cairn_arena arena = { 0 };
    CHECK(p->contacts > 200 && (p->bounded != NULL) == joints);
    sweeping wide = sweep_from_zero(p, &cairn_sweeps_general_f64, law, 4000, &arena);
    sweeping narrow = sweep_from_zero(p, &cairn_sweeps_general_f32, law, 4000, &arena);
    CHECK(wide.judgement.asked.relative < 1e-5);
    CHECK(narrow.judgement.asked.relative < 1e-3);
    for (int i = 0; law == CAIRN_LAW_CONVEX && i < p->blocks * 6; i++)
        CHECK_NEAR(wide.v[i], narrow.v[i], 1e-3);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

TEST(wide_sweeps_solve_problems_of_boxes)
{
    check_sweeps(0.4, false, CAIRN_LAW_CONVEX);
    check_sweeps(0.4, false, CAIRN_LAW_COULOMB);
    check_sweeps(0, false, CAIRN_LAW_CONVEX);
}

TEST(rows_with_bounds_are_swept_along)
{
    check_sweeps(0.4, true, CAIRN_LAW_CONVEX);
    check_sweeps(0.4, true, CAIRN_LAW_COULOMB);
}

/* 9,675 contacts of 3,375 bodies in 4 slabs */
TEST(batches_hold_every_contact_once_and_no_body_twice)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_batches s;
    CHECK(make_lattice_problem(15, 0.3, &arena, &l));
    CHECK_OK(cairn_batches_create_general(&l.p, &arena, &s));
    CHECK(s.usable && s.slabs == 4);
    int *seen = cairn_arena_take(&arena, (size_t)l.p.contacts, sizeof *seen), held = 0;
    memset(seen, 0, (size_t)l.p.contacts * sizeof *seen);
    for (int k = 0; k < s.count; k++)
        for (int i = 0; i < CAIRN_BATCH; i++) {
            int j = s.contact[k * CAIRN_BATCH + i];
            if (j < 0)
                continue;
            CHECK_INT(seen[j]++, 0);
            held++;
            for (int other = 0; other < 2 * i; other++) {
                int body = s.bodies[2 * k * CAIRN_BATCH + other];
                CHECK(body >= l.p.blocks ||
                      (body != l.p.block[2 * j] && body != l.p.block[2 * j + 1]));
            }
        }
    CHECK_INT(held, l.p.contacts);
    CHECK(held > 0.8 * s.count * CAIRN_BATCH); /* well filled */
    cairn_arena_destroy(&arena);
}

/* 20 sweeps over 4 slabs, alone and beside another thread */
TEST(threads_do_not_change_a_bit)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(15, 0.3, &arena, &l));
    cairn_parallel_threads(1);
    sweeping one = sweep_from_zero(&l.p, &cairn_sweeps_general_f32, CAIRN_LAW_CONVEX, 20, &arena);
    cairn_parallel_threads(2);
    sweeping two = sweep_from_zero(&l.p, &cairn_sweeps_general_f32, CAIRN_LAW_CONVEX, 20, &arena);
    cairn_parallel_threads(1);
    CHECK(memcmp(one.r, two.r, 3 * (size_t)l.p.contacts * sizeof(double)) == 0);
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(wide_sweeps_solve_problems_of_boxes), CASE(rows_with_bounds_are_swept_along),
        CASE(batches_hold_every_contact_once_and_no_body_twice), CASE(threads_do_not_change_a_bit));
}
