/* test_moments.c - volume integrals and the frame of a body. */
#include "solids.h"

/* corners 0, (1,0,0), (0,2,0), (0,0,3): V = 1, centre (1, 2, 3)/4, int x^2 = V 1/10 */
TEST(integrals_of_a_tetrahedron)
{
    cairn_moments m = { 0 };
    cairn_moments_add_tetrahedron(&m, cairn_vec(1, 0, 0), cairn_vec(0, 2, 0), cairn_vec(0, 0, 3));
    CHECK_CLOSE(m.volume, 1, 1e-15);
    CHECK_CLOSE(m.first.y, 0.5, 1e-15);
    CHECK_CLOSE(m.second.xx, 0.1, 1e-15);
    CHECK_CLOSE(m.second.zz, 0.9, 1e-15);
    CHECK_CLOSE(m.second.xy, 2.0 / 20, 1e-15);
    cairn_moments_add_tetrahedron(&m, cairn_vec(1, 0, 0), cairn_vec(0, 0, 3), cairn_vec(0, 2, 0));
    CHECK_NEAR(m.volume, 0, 1e-16);
    CHECK_NEAR(m.second.xy, 0, 1e-16);
}

/* corners 0, (2, 0), (0, 2): A = 2, centre (2, 2)/3, int x^2 = 4/3, int x y = 2/3 */
TEST(integrals_of_a_triangle)
{
    cairn_moments m = { 0 };
    cairn_moments_add_triangle(&m, cairn_vec(2, 0, 0), cairn_vec(0, 2, 0));
    CHECK_CLOSE(m.volume, 2, 1e-15);
    CHECK_CLOSE(m.first.x, 4.0 / 3, 1e-15);
    CHECK_CLOSE(m.second.xx, 4.0 / 3, 1e-15);
    CHECK_CLOSE(m.second.xy, 2.0 / 3, 1e-15);
}

static const cairn_pose pose = { { 1, -2, 0.5 }, { 0.5, 0.5, 0.5, 0.5 } };

/* the quarter-turn quaternion sends x to y, y to z, z to x */
TEST(a_moved_solid_keeps_its_inertia_about_its_centre)
{
    const cairn_moments here = cairn_moments_symmetric(2, 0.3, 0.4, 0.5);
    const cairn_moments there = cairn_moments_placed(&here, &pose);
    const cairn_mass a = cairn_moments_mass(&here, 3), b = cairn_moments_mass(&there, 3);
    CHECK_NEAR(cairn_norm(cairn_sub(b.centre, pose.x)), 0, 1e-15);
    CHECK_CLOSE(b.inertia.yy, a.inertia.xx, 1e-14);
    CHECK_CLOSE(b.inertia.zz, a.inertia.yy, 1e-14);
    CHECK_CLOSE(b.inertia.xx, a.inertia.zz, 1e-14);
    CHECK_NEAR(b.inertia.xy, 0, 1e-14);
}

/* a point p of the shape is at x + R p in the body: the centre at 0, the tensor diagonal there */
TEST(the_body_frame_sits_in_the_centre_along_the_principal_axes)
{
    cairn_moments m = cairn_moments_symmetric(2, 0.3, 0.4, 0.5);
    const cairn_pose skew = { { 1, -2, 0.5 }, cairn_quat_exp(cairn_vec(0.3, -0.4, 1.1)) };
    m = cairn_moments_placed(&m, &skew);
    const cairn_mass mass = cairn_moments_mass(&m, 3);
    cairn_vec3 inertia;
    cairn_pose shape_in_body;
    cairn_mass_principal(&mass, 3, &inertia, &shape_in_body);
    const cairn_moments in_body = cairn_moments_placed(&m, &shape_in_body);
    const cairn_mass seen = cairn_moments_mass(&in_body, 3);
    CHECK_NEAR(cairn_norm(seen.centre), 0, 1e-14);
    const cairn_symmetric diagonal = { .xx = inertia.x, .yy = inertia.y, .zz = inertia.z };
    check_tensor(&seen.inertia, &diagonal, 1e-13);
    CHECK_CLOSE(inertia.x + inertia.y + inertia.z, 2 * (0.3 + 0.4 + 0.5), 1e-13);
}

TEST(in_the_plane_the_frame_moves_but_does_not_turn)
{
    cairn_moments m = { 0 };
    cairn_moments_add_triangle(&m, cairn_vec(2, 0, 0), cairn_vec(0, 2, 0));
    const cairn_mass mass = cairn_moments_mass(&m, 2);
    cairn_vec3 inertia;
    cairn_pose at;
    cairn_mass_principal(&mass, 2, &inertia, &at);
    CHECK_CLOSE(at.x.x, -2.0 / 3, 1e-15);
    CHECK(at.q.w == 1 && at.q.z == 0);
    /* 8/3 about the corner, less 2 (4/9 + 4/9) */
    CHECK_CLOSE(inertia.z, 8.0 / 3 - 16.0 / 9, 1e-14);
    CHECK(inertia.x == 0 && inertia.y == 0);
}

/* a cube has any axes: rounding must not choose some */
TEST(rounding_does_not_turn_the_frame_of_a_cube)
{
    const cairn_mass mass = { .mass = 1, .inertia = { 1, 1 + 1e-16, 1, 3e-17, -2e-17, 1e-17 } };
    cairn_vec3 inertia;
    cairn_pose at;
    cairn_mass_principal(&mass, 3, &inertia, &at);
    CHECK(at.q.w == 1 && at.q.x == 0 && at.q.y == 0 && at.q.z == 0);
}

int main(void)
{
    RUN(CASE(integrals_of_a_tetrahedron), CASE(integrals_of_a_triangle),
        CASE(a_moved_solid_keeps_its_inertia_about_its_centre),
        CASE(the_body_frame_sits_in_the_centre_along_the_principal_axes),
        CASE(in_the_plane_the_frame_moves_but_does_not_turn),
        CASE(rounding_does_not_turn_the_frame_of_a_cube));
}
