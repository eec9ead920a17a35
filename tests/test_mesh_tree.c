/* test_mesh_tree.c - the tree of boxes finds what a look at every box finds. */
#include "check.h"
#include "failing_allocator.h"
#include "math/vec.h"
#include "shape/mesh_tree.h"

enum { MOST = 3000 };

typedef struct seen {
    int times[MOST], count, stop_after;
} seen;

static bool note(void *context, int32_t item)
{
    seen *s = context;
    s->times[item]++;
    return ++s->count != s->stop_after;
}

static cairn_vec3 random_vec(uint64_t *state)
{
    double x = cairn_random_uniform(state), y = cairn_random_uniform(state);
    return cairn_vec(x, y, cairn_random_uniform(state));
}

static cairn_bounds random_box(uint64_t *state, double size)
{
    cairn_vec3 low = random_vec(state);
    return (cairn_bounds){ low, cairn_add_scaled(low, size, random_vec(state)) };
}

TEST(each_overlapping_box_is_visited_once_and_no_other)
{
    static cairn_bounds boxes[MOST];
    const int counts[] = { 1, 2, 4, 5, 17, 1000, MOST };
    uint64_t state = 3;
    for (int c = 0; c < 7; c++) {
        cairn_mesh_tree tree;
        for (int i = 0; i < counts[c]; i++)
            boxes[i] = random_box(&state, 0.05);
        CHECK_OK(cairn_mesh_tree_build(boxes, counts[c], &tree));
        for (int round = 0; round < 50; round++) {
            const cairn_bounds where = random_box(&state, 0.3);
            seen s = { 0 };
            cairn_mesh_tree_query(&tree, &where, note, &s);
            for (int i = 0; i < counts[c]; i++)
                CHECK_INT(s.times[i], cairn_bounds_meet(&boxes[i], &where));
        }
        cairn_mesh_tree_destroy(&tree);
    }
}

TEST(boxes_at_one_place_and_flat_ones_are_found)
{
    cairn_bounds boxes[100];
    cairn_mesh_tree tree;
    seen s = { 0 };
    for (int i = 0; i < 100; i++)
        boxes[i] = (cairn_bounds){ { 1, 1, 0 }, { 2, 2, 0 } };
    CHECK_OK(cairn_mesh_tree_build(boxes, 100, &tree));
    const cairn_bounds touching = { { 2, 2, 0 }, { 3, 3, 1 } },
                       past = { { 2.1, 2, 0 }, { 3, 3, 1 } };
    cairn_mesh_tree_query(&tree, &touching, note, &s);
    CHECK_INT(s.count, 100);
    cairn_mesh_tree_query(&tree, &past, note, &s);
    CHECK_INT(s.count, 100);
    cairn_mesh_tree_destroy(&tree);
}

TEST(a_visitor_can_stop_the_search)
{
    cairn_bounds boxes[100];
    cairn_mesh_tree tree;
    seen s = { .stop_after = 7 };
    for (int i = 0; i < 100; i++)
        boxes[i] = (cairn_bounds){ { 0, 0, 0 }, { 1, 1, 1 } };
    CHECK_OK(cairn_mesh_tree_build(boxes, 100, &tree));
    cairn_mesh_tree_query(&tree, &boxes[0], note, &s);
    CHECK_INT(s.count, 7);
    cairn_mesh_tree_destroy(&tree);
}

TEST(an_empty_tree_has_nothing)
{
    cairn_mesh_tree tree;
    seen s = { 0 };
    const cairn_bounds all = { { -1, -1, -1 }, { 1, 1, 1 } };
    CHECK_OK(cairn_mesh_tree_build(NULL, 0, &tree));
    cairn_mesh_tree_query(&tree, &all, note, &s);
    CHECK_INT(s.count, 0);
    cairn_mesh_tree_destroy(&tree);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    cairn_bounds boxes[20];
    uint64_t state = 5;
    cairn_status status = CAIRN_NO_MEMORY;
    for (int i = 0; i < 20; i++)
        boxes[i] = random_box(&state, 0.1);
    for (long n = 1; status != CAIRN_OK && n < 20; n++) {
        meter m = { .fail_at = n };
        cairn_mesh_tree tree;
        meter_install(&m);
        status = cairn_mesh_tree_build(boxes, 20, &tree);
        cairn_mesh_tree_destroy(&tree);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(each_overlapping_box_is_visited_once_and_no_other),
        CASE(boxes_at_one_place_and_flat_ones_are_found), CASE(a_visitor_can_stop_the_search),
        CASE(an_empty_tree_has_nothing), CASE(nothing_leaks_when_an_allocation_fails));
}
