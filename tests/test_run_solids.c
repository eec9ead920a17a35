/* test_run_solids.c - shapes that several bodies share are drawn once. */
#include "io/run_solids.h"

#include "check.h"
#include "failing_allocator.h"

static cairn_shape box_of(double edge)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    shape.size = (cairn_vec3){ edge, edge, edge };
    return shape;
}

TEST(equal_shapes_have_one_number)
{
    cairn_run_solids s = { .count = 0 };
    const cairn_shape small = box_of(1), large = box_of(2), again = box_of(1);
    int32_t number[3];
    CHECK_OK(cairn_run_solids_find(&s, &small, 3, &number[0]));
    CHECK_OK(cairn_run_solids_find(&s, &large, 3, &number[1]));
    CHECK_OK(cairn_run_solids_find(&s, &again, 3, &number[2]));
    CHECK_INT(number[0], 0);
    CHECK_INT(number[1], 1);
    CHECK_INT(number[2], 0);
    CHECK_INT(s.count, 2);
    CHECK_INT(s.mesh.cells, 12); /* six faces each */
    CHECK_INT(s.mesh.body[5], 0);
    CHECK_INT(s.mesh.body[6], 1);
    for (size_t k = 0; k < s.mesh.points; k++) /* about their own middle */
        CHECK_NEAR(fabs(s.mesh.x[k].x), k < 24 ? 0.5 : 1, 1e-15);
    cairn_run_solids_destroy(&s);
    CHECK_INT(s.count, 0);
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    const cairn_shape shape = box_of(1);
    cairn_status status = CAIRN_NO_MEMORY;
    meter m = { 0 };
    meter_install(&m);
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_run_solids s = { .count = 0 };
        int32_t number;
        m = (meter){ .fail_at = n };
        status = cairn_run_solids_find(&s, &shape, 3, &number);
        CHECK(status == CAIRN_OK ? s.count == 1 : status == CAIRN_NO_MEMORY && s.count == 0);
        cairn_run_solids_destroy(&s);
        CHECK_INT(m.alive, 0);
    }
    cairn_allocator_set(NULL);
    CHECK(m.fail_at >= 4);
}

int main(void)
{
    RUN(CASE(equal_shapes_have_one_number),
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}
