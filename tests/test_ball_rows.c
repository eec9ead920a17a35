/* test_ball_rows.c - which contacts of a world are given by their normal alone, and that balls move the
 * same however they are turned. */
#include "cairn/joint.h"
#include "worlds.h"

#include <math.h>

#include "math/vec.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static int add_cube(cairn_world *world, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.mass = 1;
    def.position = x;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static const cairn_problem *problem_of(cairn_world *world)
{
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    advance(world, &options, 1);
    return cairn_world_problem(world, NULL);
}

/* How many contacts have rows of their own. */
static int stored(const cairn_problem *p)
{
    int count = 0;
    for (int j = 0; j < p->contacts; j++)
        count += !p->normal || (p->rows && p->rows[j] >= 0);
    return count;
}

TEST(balls_and_walls_need_no_rows)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    advance(world, &options, 20);
    const cairn_problem *p = problem_of(world);
    CHECK(p->contacts >= 9 && p->normal && !p->rows);
    CHECK_OK(cairn_problem_check(p, NULL));
    cairn_world_destroy(world);
}

/* ball on ball on floor, a cube beside: its 4 corners and its contact with a ball have rows */
TEST(a_cube_among_balls_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.1), zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.3), zero);
    add_cube(world, cairn_vec(0.2, 0, 0.1));
    const cairn_problem *p = problem_of(world);
    CHECK_OK(cairn_problem_check(p, NULL));
    CHECK_INT(p->contacts, 7);
    CHECK_INT(stored(p), 5);
    cairn_world_destroy(world);
}

/* a ball that a joint holds is a body like any other; the one that lies on it as well */
TEST(a_ball_on_a_joint_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.1), zero);
    int held = add_ball(world, 0.1, cairn_vec(1, 0, 0.1), zero);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_BALL;
    def.a = (cairn_body_id){ cairn_world_bodies(world).uid[held] };
    def.anchor = cairn_vec(1, 0, 0.5);
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    const cairn_problem *p = problem_of(world);
    CHECK_OK(cairn_problem_check(p, NULL));
    CHECK_INT(p->contacts, 3);
    CHECK_INT(stored(p), 2);
    cairn_world_destroy(world);
}

TEST(a_sphere_with_unequal_moments_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.position = cairn_vec(0, 0, 0.1);
    def.mass = 1;
    def.inertia = cairn_vec(0.004, 0.004, 0.005);
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_INT(stored(problem_of(world)), 1);
    cairn_world_destroy(world);
}

/* A ball that spins and slides, next to a cube: where it is after 0.3 s. */
static cairn_vec3 slide(cairn_quat turned, cairn_vec3 *spin)
{
    cairn_world *world = new_world(3, 9.81, 0.2, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_cube(world, cairn_vec(0.35, 0, 0.1));
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.mass = 1;
    def.orientation = turned;
    def.position = cairn_vec(0, 0, 0.1);
    def.velocity = cairn_vec(1, 0.2, 0);
    def.angular_velocity = cairn_rotate_back(turned, cairn_vec(3, -2, 10));
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    advance(world, &options, 30);
    cairn_bodies bodies = cairn_world_bodies(world);
    int row = cairn_body_row(world, id);
    *spin = cairn_rotate(bodies.q[row], bodies.omega[row]);
    cairn_vec3 x = bodies.x[row];
    cairn_world_destroy(world);
    return x;
}

TEST(how_a_ball_is_turned_does_not_matter)
{
    cairn_vec3 spin[2], x[2];
    x[0] = slide((cairn_quat){ 1, 0, 0, 0 }, &spin[0]);
    x[1] = slide((cairn_quat){ 0.5, -0.5, 0.1, 0.7 }, &spin[1]);
    CHECK(x[0].x > 0.1 && cairn_norm(spin[0]) > 1);
    CHECK_NEAR(cairn_norm(cairn_sub(x[0], x[1])), 0, 1e-10);
    CHECK_NEAR(cairn_norm(cairn_sub(spin[0], spin[1])), 0, 1e-8);
}

int main(void)
{
    RUN(CASE(balls_and_walls_need_no_rows), CASE(a_cube_among_balls_has_rows),
        CASE(a_ball_on_a_joint_has_rows), CASE(a_sphere_with_unequal_moments_has_rows),
        CASE(how_a_ball_is_turned_does_not_matter));
}
