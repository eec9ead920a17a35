/* test_run_shelf.c - which row of /geometry the data of a shape have. */
#include "io/run_shelf.h"

#include "check.h"
#include "failing_allocator.h"

static const cairn_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

static const cairn_geometry *hull(void)
{
    const cairn_geometry *out;
    CHECK_OK(cairn_hull_create(corners, 4, 3, &out, NULL));
    return out;
}

/* Two hulls, the second twice, and a ball. */
static const cairn_geometry *compound(const cairn_geometry *first, const cairn_geometry *second)
{
    const cairn_geometry *out;
    cairn_part parts[4];
    const cairn_geometry *data[4] = { first, second, NULL, second };
    for (int i = 0; i < 4; i++) {
        cairn_shape_kind kind = data[i] ? CAIRN_SHAPE_POLYHEDRON : CAIRN_SHAPE_SPHERE;
        parts[i] = (cairn_part){ cairn_shape_default(kind, 3), { { i, 0, 0 }, { 1, 0, 0, 0 } } };
        parts[i].shape.radius = 0.5;
        parts[i].shape.geometry = data[i];
    }
    CHECK_OK(cairn_compound_create(parts, 4, 3, &out, NULL));
    return out;
}

TEST(data_keep_their_row_and_none_have_minus_1)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull(), *b = hull();
    CHECK_OK(cairn_run_shelf_add(&shelf, NULL));
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_OK(cairn_run_shelf_add(&shelf, b));
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_INT(shelf.count, 2);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 0);
    CHECK_INT(cairn_run_shelf_row(&shelf, b), 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, NULL), -1);
    cairn_geometry_release(a);
    cairn_geometry_release(b);
    cairn_run_shelf_destroy(&shelf);
}

TEST(parts_come_before_their_compound)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull(), *b = hull(), *both = compound(a, b);
    CHECK_OK(cairn_run_shelf_add(&shelf, b));
    CHECK_OK(cairn_run_shelf_add(&shelf, both));
    CHECK_INT(shelf.count, 3);
    CHECK_INT(cairn_run_shelf_row(&shelf, b), 0);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, both), 2);
    cairn_geometry_release(a);
    cairn_geometry_release(b);
    cairn_geometry_release(both);
    cairn_run_shelf_destroy(&shelf);
}

/* With another number of rows in the file nothing is known of them: the next is row 5. */
TEST(rows_of_a_file_that_are_not_these_are_forgotten)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull();
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    cairn_run_shelf_settle(&shelf, 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 0);
    cairn_run_shelf_settle(&shelf, 5);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), -1);
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 5);
    cairn_geometry_release(a);
    cairn_run_shelf_destroy(&shelf);
}

TEST(no_memory_is_said_and_nothing_is_lost)
{
    meter m = { 0 };
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull();
    meter_install(&m);
    m.fail_at = 1;
    CHECK_INT(cairn_run_shelf_add(&shelf, a), CAIRN_NO_MEMORY);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), -1);
    cairn_run_shelf_destroy(&shelf);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
    cairn_geometry_release(a);
}

int main(void)
{
    RUN(CASE(data_keep_their_row_and_none_have_minus_1), CASE(parts_come_before_their_compound),
        CASE(rows_of_a_file_that_are_not_these_are_forgotten),
        CASE(no_memory_is_said_and_nothing_is_lost));
}
