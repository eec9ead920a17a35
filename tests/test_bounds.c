/* test_bounds.c - boxes along the axes of space about placed shapes. */
#include "check.h"
#include "math/vec.h"
#include "shape/bounds.h"

static const cairn_pose nowhere = { { 0, 0, 0 }, { 1, 0, 0, 0 } };

static void check_box(cairn_box box, cairn_vec3 centre, cairn_vec3 half)
{
    CHECK_NEAR(cairn_norm(cairn_sub(box.centre, centre)), 0, 1e-12);
    CHECK_NEAR(cairn_norm(cairn_sub(box.half, half)), 0, 1e-12);
}

TEST(a_ball_has_its_radius_all_round)
{
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_pose pose = { { 1, 2, 3 }, cairn_quat_exp(cairn_vec(1, 2, 0.5)) };
    ball.radius = 0.5;
    check_box(cairn_shape_box(&ball, &pose), pose.x, cairn_vec(0.5, 0.5, 0.5));
}

/* 2 x 4 x 6 turned by 45 degrees about z: half lengths (1 + 2)/sqrt(2), the same, 3 */
TEST(a_turned_box_has_the_smallest_box_about_it)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_pose pose = { { 0, 0, 1 }, cairn_quat_exp(cairn_vec(0, 0, M_PI / 4)) };
    box.size = cairn_vec(2, 4, 6);
    check_box(cairn_shape_box(&box, &pose), pose.x, cairn_vec(3 / sqrt(2), 3 / sqrt(2), 3));
}

/* a capsule of radius 0.1 and straight part 2 along the diagonal of the x-y plane */
TEST(rounding_is_the_same_on_all_axes)
{
    cairn_shape capsule = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 3);
    capsule.radius = 0.1;
    capsule.length = 2;
    capsule.axis = cairn_vec(1, 1, 0);
    double along = 1 / sqrt(2) + 0.1;
    check_box(cairn_shape_box(&capsule, &nowhere), nowhere.x, cairn_vec(along, along, 0.1));
}

/* origin in the centre of mass: apex 3 above, base 1 below */
TEST(the_box_of_a_cone_is_not_centred_about_its_origin)
{
    cairn_shape cone = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    cone.radius = 1;
    cone.height = 4;
    check_box(cairn_shape_box(&cone, &nowhere), cairn_vec(0, 0, 1), cairn_vec(1, 1, 2));
}

/* two balls of radius 1 at x = -2 and 2, turned by 90 degrees: along y */
TEST(a_compound_has_the_turned_box_of_its_parts)
{
    cairn_part parts[2] = { 0 };
    cairn_shape compound = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 2; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 1;
        parts[k].pose = (cairn_pose){ { k ? 2 : -2, 0, 0 }, { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 2, 3, &compound.geometry, NULL));
    cairn_pose pose = { { 0, 0, 5 }, cairn_quat_exp(cairn_vec(0, 0, M_PI / 2)) };
    check_box(cairn_shape_box(&compound, &pose), pose.x, cairn_vec(1, 3, 1));
    cairn_geometry_release(compound.geometry);
}

/* every corner of a box in space lies in its image in the inner frame */
TEST(a_box_seen_from_a_turned_frame_holds_its_corners)
{
    const cairn_box box = { { 1, -2, 3 }, { 0.5, 1, 2 } };
    const cairn_pose pose = { { 4, 5, 6 }, cairn_quat_exp(cairn_vec(0.3, -0.7, 1.1)) };
    cairn_bounds inside = cairn_box_inside(&box, &pose);
    for (int k = 0; k < 8; k++) {
        cairn_vec3 share = { k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1 };
        cairn_vec3 corner = cairn_add(box.centre, cairn_times(share, box.half));
        cairn_vec3 p = cairn_rotate_back(pose.q, cairn_sub(corner, pose.x));
        const cairn_vec3 slack = { 1e-12, 1e-12, 1e-12 };
        const cairn_bounds point = { cairn_sub(p, slack), cairn_add(p, slack) };
        CHECK(cairn_bounds_meet(&inside, &point));
    }
}

int main(void)
{
    RUN(CASE(a_ball_has_its_radius_all_round), CASE(a_turned_box_has_the_smallest_box_about_it),
        CASE(rounding_is_the_same_on_all_axes),
        CASE(the_box_of_a_cone_is_not_centred_about_its_origin),
        CASE(a_compound_has_the_turned_box_of_its_parts),
        CASE(a_box_seen_from_a_turned_frame_holds_its_corners));
}
