/* test_batch_plane_state.c - contacts in 2D, of disks and of rectangles, with and without joints, swept
 * in batches. */
#include <math.h>
#include <string.h>

#include "backend/host/batch_plane.h"
#include "base/parallel.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "worlds.h"

/* Layers of bodies on a floor, each layer shifted against the one below; with `joints` some are held. */
typedef struct pile {
    cairn_shape_kind kind;
    int wide, high;
    double mu;
    bool joints;
} pile;

static void hold(cairn_world *world, cairn_body_id id, cairn_vec3 at)
{
    cairn_joint_def hinge = cairn_joint_def_default();
    hinge.kind = CAIRN_JOINT_REVOLUTE;
    hinge.a = id;
    hinge.anchor = at;
    CHECK_OK(cairn_joint_create(world, &hinge, NULL));
}

static cairn_world *make_pile(const pile *p)
{
    cairn_world *world = new_world(2, 9.81, p->mu, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    for (int i = 0; i < p->wide * p->high; i++) {
        int layer = i / p->wide, column = i % p->wide;
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id id;
        def.shape = cairn_shape_default(p->kind, 2);
        def.shape.radius = 0.05;
        def.shape.size = (cairn_vec3){ 0.09, 0.1, 0 };
        def.mass = 1 + 0.1 * (i % 7);
        def.position = (cairn_vec3){ 0.1 * column + 0.003 * layer, 0.05 + 0.1 * layer, 0 };
        def.velocity = (cairn_vec3){ 0.1 * (i % 3), 0, 0 };
        CHECK_OK(cairn_body_create(world, &def, &id));
        if (p->joints && i % 50 == 7)
            hold(world, id, def.position);
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
    double beta = law == CAIRN_LAW_CONVEX ? 0.95 : 0.8; /* with Coulomb's law more would do harm */
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
        sweeps->sweep(state, law, (cairn_momentum){ k % 200 ? beta : 0, 0 });
        if (sweeps->single && k % 50 == 49)
            sweeps->refresh(state);
    }
    sweeps->unload(state, out.r);
    cairn_judge(p, law, out.r, out.v, out.u, &out.judgement);
    return out;
}

static void check_sweeps(const pile *like, cairn_law law)
{
    cairn_world *world = make_pile(like);
    const cairn_problem *p = problem_of(world);
    cairn_arena arena = { 0 };
    CHECK(p->contacts > 200 && (p->bounded != NULL) == like->joints);
    sweeping wide = sweep_from_zero(p, &cairn_sweeps_plane_f64, law, 4000, &arena);
    sweeping narrow = sweep_from_zero(p, &cairn_sweeps_plane_f32, law, 4000, &arena);
    CHECK(wide.judgement.asked.relative < 1e-5);
    CHECK(narrow.judgement.asked.relative < 1e-3);
    for (int i = 0; law == CAIRN_LAW_CONVEX && i < p->blocks * 3; i++)
        CHECK_NEAR(wide.v[i], narrow.v[i], 1e-3);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

TEST(wide_sweeps_solve_problems_of_disks)
{
    const pile disks = { CAIRN_SHAPE_SPHERE, 20, 10, 0.1, false };
    const pile smooth = { CAIRN_SHAPE_SPHERE, 20, 10, 0, false };
    check_sweeps(&disks, CAIRN_LAW_CONVEX);
    check_sweeps(&disks, CAIRN_LAW_COULOMB);
    check_sweeps(&smooth, CAIRN_LAW_CONVEX);
}

/* two contacts for each pair, full 2 x 2 blocks */
TEST(wide_sweeps_solve_problems_of_rectangles)
{
    const pile boxes = { CAIRN_SHAPE_BOX, 20, 6, 0.4, false };
    check_sweeps(&boxes, CAIRN_LAW_CONVEX);
    check_sweeps(&boxes, CAIRN_LAW_COULOMB);
}

TEST(rows_with_bounds_are_swept_along)
{
    const pile held = { CAIRN_SHAPE_SPHERE, 20, 10, 0.1, true };
    check_sweeps(&held, CAIRN_LAW_CONVEX);
    check_sweeps(&held, CAIRN_LAW_COULOMB);
}

/* 4,900 disks and more than 8,192 contacts: 8 slabs, alone and beside another thread */
TEST(threads_do_not_change_a_bit)
{
    const pile many = { CAIRN_SHAPE_SPHERE, 70, 70, 0.3, false };
    cairn_world *world = make_pile(&many);
    const cairn_problem *p = problem_of(world);
    cairn_arena arena = { 0 };
    CHECK(p->contacts > 8192);
    cairn_parallel_threads(1);
    sweeping one = sweep_from_zero(p, &cairn_sweeps_plane_f32, CAIRN_LAW_CONVEX, 20, &arena);
    cairn_parallel_threads(2);
    sweeping two = sweep_from_zero(p, &cairn_sweeps_plane_f32, CAIRN_LAW_CONVEX, 20, &arena);
    cairn_parallel_threads(1);
    CHECK(memcmp(one.r, two.r, 2 * (size_t)p->contacts * sizeof(double)) == 0);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* They would be for 3D: a problem in 2D is none of theirs, and the other way round. */
TEST(each_dimension_has_its_own_sweeps)
{
    const pile disks = { CAIRN_SHAPE_SPHERE, 20, 10, 0.1, false };
    cairn_world *world = make_pile(&disks);
    const cairn_problem *p = problem_of(world);
    cairn_arena arena = { 0 };
    cairn_system system;
    void *state = &system;
    double *r = cairn_arena_doubles(&arena, 2 * (size_t)p->contacts);
    CHECK_OK(cairn_system_create(p, &arena, &system));
    CHECK_OK(cairn_sweeps_general_f64.begin(&system, &arena, r, p->v_free, &state));
    CHECK(state == NULL);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(wide_sweeps_solve_problems_of_disks), CASE(wide_sweeps_solve_problems_of_rectangles),
        CASE(rows_with_bounds_are_swept_along), CASE(threads_do_not_change_a_bit),
        CASE(each_dimension_has_its_own_sweeps));
}
