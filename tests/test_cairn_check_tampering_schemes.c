/* test_cairn_check_tampering_schemes.c - the same as test_cairn_check_tampering.c for schemes that store
 * more: mid-step poses, velocities ahead, marks of exact friction, compressions. */
#include "check_tampering.h"

/* At mid-step the pose of a driven body is what the file says: docs/cairn-check.md. */
TEST(no_number_of_a_mid_step_run_changes_unnoticed)
{
    tamper_with_run(scene_3d, "run.scheme=moreau-jean", "poses", 1);
}

TEST(no_number_of_a_step_that_linearises_ahead_changes_unnoticed)
{
    tamper_with_run(scene_2d, "run.scheme=stewart-trinkle", "nothing", 1);
}

TEST(no_number_of_a_mixed_law_changes_unnoticed)
{
    tamper_with_run(scene_3d, "run.scheme=auto", "nothing", 1);
}

/* How much mu changed last is history: docs/cairn-check.md. */
TEST(no_number_of_impacts_in_two_phases_changes_unnoticed)
{
    tamper_with_run(scene_bounce, "run.scheme=coulomb", "friction_law", 1);
}

int main(void)
{
    RUN(CASE(no_number_of_a_mid_step_run_changes_unnoticed),
        CASE(no_number_of_a_step_that_linearises_ahead_changes_unnoticed),
        CASE(no_number_of_a_mixed_law_changes_unnoticed),
        CASE(no_number_of_impacts_in_two_phases_changes_unnoticed));
}
