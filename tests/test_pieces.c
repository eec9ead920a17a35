/* test_pieces.c - compounds and meshes taken apart into convex pieces. */
#include "base/random.h"
#include "check.h"
#include "collide/collide.h"
#include "failing_allocator.h"
#include "math/vec.h"

enum { PARTS = 30 };

/* `count` balls of radius 0.3 at random in a cube of 4 m. */
static cairn_shape cluster(int count, uint64_t seed)
{
    cairn_part parts[PARTS] = { 0 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < count; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 0.3;
        parts[k].pose.q.w = 1;
        parts[k].pose.x =
            cairn_vec(cairn_random_between(&seed, -2, 2), cairn_random_between(&seed, -2, 2),
                      cairn_random_between(&seed, -2, 2));
    }
    CHECK_OK(cairn_compound_create(parts, count, 3, &shape.geometry, NULL));
    return shape;
}

/* A flat square of 2 x n x n triangles, 1 m wide each cell, about the origin. */
static cairn_shape sheet(int n)
{
    double heights[400] = { 0 };
    const cairn_height_field_def def = { n + 1, n + 1, { 1, 1 }, heights };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    CHECK_OK(cairn_height_field_create(&def, &shape.geometry, NULL));
    return shape;
}

static cairn_collider placed(const cairn_shape *shape, cairn_vec3 x, cairn_vec3 turn)
{
    cairn_collider c = { .shape = shape, .movable = true };
    cairn_collider_place(&c, (cairn_pose){ x, cairn_quat_exp(turn) });
    return c;
}

/* Whether the balls i and j are within both reaches of each other, 0.15 m in these tests. */
static bool parts_are_near(const cairn_collider *a, int i, const cairn_collider *b, int j)
{
    cairn_collider one, two;
    cairn_collider_piece(a, (cairn_piece){ i, -1 }, &one);
    cairn_collider_piece(b, (cairn_piece){ j, -1 }, &two);
    return cairn_norm(cairn_sub(one.x, two.x)) - 0.6 <= a->reach + b->reach;
}

/* Whether the boxes of the two pieces, made larger by the reaches, overlap. */
static bool boxes_are_near(const cairn_collider *a, const cairn_collider *b, const cairn_leaf *leaf)
{
    cairn_collider one, two;
    cairn_collider_piece(a, leaf->first, &one);
    cairn_collider_piece(b, leaf->second, &two);
    cairn_collider_enclose(&one);
    cairn_collider_enclose(&two);
    return cairn_boxes_overlap(&one, &two);
}

static bool is_listed(const cairn_leaf_list *list, int i, int j)
{
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].first.part == i && list->items[k].second.part == j)
            return true;
    return false;
}

TEST(simple_shapes_have_one_leaf)
{
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_leaf_list list = { 0 };
    ball.radius = 1;
    cairn_collider a = placed(&ball, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0)), made;
    CHECK_OK(cairn_leaves_add(&a, &a, 7, &list));
    CHECK_INT(list.count, 1);
    CHECK_INT(list.items[0].pair, 7);
    CHECK_INT(list.items[0].first.part, -1);
    CHECK_INT(list.items[0].second.face, -1);
    CHECK(cairn_collider_piece(&a, list.items[0].first, &made) == &a);
    cairn_leaf_list_destroy(&list);
}

/* all parts that can touch, each pair once and in order, and none whose boxes are apart */
TEST(two_compounds_have_the_leaves_of_all_near_parts)
{
    cairn_shape one = cluster(30, 1), two = cluster(20, 2);
    int near = 0;
    for (int round = 0; round < 20; round++) {
        cairn_collider a = placed(&one, cairn_vec(0, 0, 0), cairn_vec(0, 0.2 * round, 0));
        cairn_collider b = placed(&two, cairn_vec(0.2 * round, 1, 0), cairn_vec(1, 0, 0.1 * round));
        cairn_leaf_list list = { 0 };
        a.reach = 0.05;
        b.reach = 0.1;
        CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 20; j++)
                if (parts_are_near(&a, i, &b, j)) {
                    CHECK(is_listed(&list, i, j));
                    near++;
                }
        for (size_t k = 0; k < list.count; k++) {
            const cairn_leaf *leaf = &list.items[k];
            CHECK(boxes_are_near(&a, &b, leaf));
            int number = 20 * leaf->first.part + leaf->second.part;
            CHECK(k == 0 || 20 * leaf[-1].first.part + leaf[-1].second.part < number);
        }
        cairn_leaf_list_destroy(&list);
    }
    CHECK(near > 100);
    cairn_geometry_release(one.geometry);
    cairn_geometry_release(two.geometry);
}

TEST(all_parts_meet_an_unbounded_wall)
{
    cairn_shape many = cluster(30, 3), wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_collider a = placed(&many, cairn_vec(0, 0, 9), cairn_vec(0, 0, 0));
    cairn_collider b = placed(&wall, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    cairn_leaf_list list = { 0 };
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_OK(cairn_leaves_add(&b, &a, 1, &list));
    CHECK_INT(list.count, 60);
    CHECK_INT(list.items[59].second.part, 29);
    cairn_leaf_list_destroy(&list);
    cairn_geometry_release(many.geometry);
}

/* a ball of radius 0.25 over the middle of a cell of 10 x 10 sees its two triangles */
TEST(a_ball_over_a_field_sees_the_triangles_below_it)
{
    cairn_shape field = sheet(10), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_leaf_list list = { 0 };
    ball.radius = 0.25;
    cairn_collider a = placed(&ball, cairn_vec(1.5, 2.5, 0.3), cairn_vec(0, 0, 0));
    cairn_collider b = placed(&field, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_INT(list.count, 0); /* 0.05 above */
    a.reach = 0.1;
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_INT(list.count, 2);
    CHECK_INT(list.items[0].second.part, -1);
    CHECK_INT(list.items[1].second.face, list.items[0].second.face + 1);
    cairn_leaf_list_destroy(&list);
    cairn_geometry_release(field.geometry);
}

TEST(a_list_without_memory_says_so)
{
    cairn_shape many = cluster(30, 3);
    cairn_collider a = placed(&many, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    cairn_leaf_list list = { 0 };
    meter m = { .fail_at = 1 };
    meter_install(&m);
    CHECK_INT(cairn_leaves_add(&a, &a, 0, &list), CAIRN_NO_MEMORY);
    cairn_leaf_list_destroy(&list);
    cairn_allocator_set(NULL);
    cairn_geometry_release(many.geometry);
}

int main(void)
{
    RUN(CASE(simple_shapes_have_one_leaf), CASE(two_compounds_have_the_leaves_of_all_near_parts),
        CASE(all_parts_meet_an_unbounded_wall),
        CASE(a_ball_over_a_field_sees_the_triangles_below_it), CASE(a_list_without_memory_says_so));
}
