/* test_shapes.c - the table of shapes: each once, and free entries used again. */
#include "check.h"
#include "world/shapes.h"

static cairn_shape ball(double radius)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    shape.radius = radius;
    return shape;
}

static int32_t use(cairn_shape_table *table, cairn_shape shape)
{
    CHECK_OK(cairn_shapes_reserve(table, (size_t)table->count + 1));
    return cairn_shapes_use(table, &shape);
}

TEST(equal_shapes_share_an_entry)
{
    cairn_shape_table table = { 0 };
    CHECK_INT(use(&table, ball(1)), 0);
    CHECK_INT(use(&table, ball(2)), 1);
    for (int k = 0; k < 1000; k++)
        CHECK_INT(use(&table, ball(1 + k % 2)), k % 2);
    CHECK_INT(table.count, 2);
    CHECK_INT(table.users[0], 501);
    cairn_shapes_release(&table);
}

TEST(an_entry_that_nobody_uses_is_given_to_the_next_shape)
{
    cairn_shape_table table = { 0 };
    for (int k = 0; k < 100; k++)
        CHECK_INT(use(&table, ball(1 + k)), k);
    cairn_shapes_leave(&table, 40);
    CHECK_INT(use(&table, ball(500)), 40);
    CHECK_INT(use(&table, ball(41)), 100); /* it was not known any more */
    CHECK_INT(use(&table, ball(42)), 41);
    CHECK_NEAR(table.items[40].radius, 500, 0);
    cairn_shapes_release(&table);
}

/* Two of three entries are in use: the other one goes, with its hold on the data. */
TEST(a_table_that_was_filled_by_hand_is_counted)
{
    cairn_shape_table table = { 0 };
    const int32_t ids[3] = { 2, 0, 2 };
    CHECK_OK(cairn_shapes_reserve(&table, 3));
    for (int k = 0; k < 3; k++)
        table.items[k] = ball(1 + k);
    table.count = 3;
    cairn_shapes_count(&table, ids, 3);
    CHECK_INT(table.users[0], 1);
    CHECK_INT(table.users[2], 2);
    CHECK_INT(use(&table, ball(3)), 2);
    CHECK_INT(use(&table, ball(7)), 1);
    cairn_shapes_release(&table);
}

int main(void)
{
    RUN(CASE(equal_shapes_share_an_entry),
        CASE(an_entry_that_nobody_uses_is_given_to_the_next_shape),
        CASE(a_table_that_was_filled_by_hand_is_counted));
}
