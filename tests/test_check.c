/* test_check.c - what is not a one-step problem is refused, with the array and entry named. */
#include "cairn/cairn.h"
#include "check.h"
#include "random_problem.h"

static random_problem sample(void)
{
    random_problem out;
    make_random_problem(&out, 3, 6, 4, 11);
    return out;
}

/* arrays in a copied sample point into the original: set them anew */
static cairn_status check(random_problem *sample, cairn_error *error)
{
    *error = (cairn_error){ 0 };
    sample->p.mass_inverse = sample->mass_inverse;
    sample->p.v_free = sample->v_free;
    sample->p.block = sample->block;
    sample->p.H = sample->H;
    sample->p.w = sample->w;
    sample->p.b = sample->b;
    sample->p.mu = sample->mu;
    return cairn_problem_check(&sample->p, error);
}

TEST(a_good_problem_passes)
{
    cairn_error error;
    random_problem p = sample();
    CHECK_OK(check(&p, &error));
}

TEST(sizes_are_checked)
{
    cairn_error error;
    random_problem p = sample();
    p.p.dimension = 4;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "dimension");
    p = sample();
    p.p.block_size = 7;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "block_size");
    p = sample();
    p.p.contacts = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "contacts");
}

TEST(entries_are_checked)
{
    cairn_error error;
    random_problem p = sample();
    p.block[5] = 6;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contact 2 names block 6");
    p = sample();
    p.mu[3] = -0.1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "contact 3");
    p = sample();
    p.mass_inverse[7] = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "entry 7");
    p = sample();
    p.H[40] = NAN;
    CHECK_INT(check(&p, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 40 of H");
    p = sample();
    p.b[1] = INFINITY;
    CHECK_INT(check(&p, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 1 of b");
}

TEST(missing_arrays_are_refused)
{
    cairn_error error = { 0 };
    cairn_problem p = { .dimension = 2, .block_size = 3, .blocks = 1 };
    CHECK_INT(cairn_problem_check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "missing");
    CHECK_INT(cairn_problem_check(&p, NULL), CAIRN_BAD_INPUT);
}

int main(void)
{
    RUN(CASE(a_good_problem_passes), CASE(sizes_are_checked), CASE(entries_are_checked),
        CASE(missing_arrays_are_refused));
}
