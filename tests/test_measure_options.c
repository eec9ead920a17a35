/* test_measure_options.c - options of measuring: defaults pass, nonsense does not. */
#include "cairn/statistics.h"
#include "check.h"

TEST(the_defaults_are_right_in_both_dimensions)
{
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_OK(cairn_measure_options_check(&o, 2, NULL));
    CHECK_OK(cairn_measure_options_check(&o, 3, NULL));
    CHECK_INT(o.bins, 50);
    CHECK_NEAR(o.trim, 0.15, 0);
}

TEST(an_empty_box_is_refused)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.low.z = o.high.z = 1;
    CHECK_OK(cairn_measure_options_check(&o, 2, &error));
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "high");
    CHECK_CONTAINS(error.message, "expected more than the lower corner's 1");
}

TEST(there_is_no_z_axis_in_2d)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.axis = "z";
    CHECK_OK(cairn_measure_options_check(&o, 3, &error));
    CHECK_INT(cairn_measure_options_check(&o, 2, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "axis");
}

TEST(numbers_out_of_range_are_refused)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.bins = 0;
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "bins");
    o = cairn_measure_options_default();
    o.trim = 0.5;
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "trim");
    o = (cairn_measure_options){ .trim = 0 };
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
}

int main(void)
{
    RUN(CASE(the_defaults_are_right_in_both_dimensions), CASE(an_empty_box_is_refused),
        CASE(there_is_no_z_axis_in_2d), CASE(numbers_out_of_range_are_refused));
}
