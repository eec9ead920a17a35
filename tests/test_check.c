/* test_check.c - what is not a one-step problem is refused, with the array and entry named. */
#include "cairn/cairn.h"
#include "check.h"
#include "lattice_problem.h"
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

TEST(bounds_are_checked)
{
    cairn_error error = { 0 };
    random_problem p = sample();
    uint8_t bounded[8] = { 0, 0, 1 };
    double lower[24] = { 0 }, upper[24] = { 0 }, compliance[24] = { 0 };
    p.p.bounded = bounded;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "lower");
    CHECK_CONTAINS(error.message, "contact 2 has bounded rows");
    p.p.lower = lower;
    p.p.upper = upper;
    p.p.compliance = compliance;
    int row = 2 * p.p.dimension + 1;
    lower[row] = -INFINITY;
    upper[row] = INFINITY;
    CHECK_OK(check(&p, &error));
    lower[row] = 1;
    upper[row] = 0;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "the bounds 1 and 0");
    lower[row] = NAN;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    lower[row] = upper[row] = INFINITY;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    lower[row] = 0;
    compliance[row] = -1;
    CHECK_INT(check(&p, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "compliance");
}

/* 2D: one tangent, one rolling component; 3D: two of each and one spinning. */
TEST(components_are_checked)
{
    static const struct {
        int dimension, rolling, spinning, directions;
        const char *key; /* NULL: good */
    } cases[] = { { 3, 1, 0, 0, NULL },        { 5, 2, 0, 0, NULL },
                  { 6, 2, 1, 0, NULL },        { 4, 0, 1, 0, NULL },
                  { 5, 0, 0, 0, "dimension" }, { 4, 1, 0, 0, "rolling" },
                  { 4, 2, 0, 0, "rolling" },   { 3, 0, 1, 0, "spinning" },
                  { 5, 2, 0, 8, "directions" } };
    double mu[1] = { 0.5 }, bad[1] = { -1 }, q[6] = { 0 };
    int64_t start[7] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cairn_error error = { 0 };
        cairn_matrix W = { cases[i].dimension, cases[i].dimension, start, NULL, NULL };
        cairn_problem p = { .dimension = cases[i].dimension,
                            .rolling = cases[i].rolling,
                            .spinning = cases[i].spinning,
                            .directions = cases[i].directions,
                            .contacts = 1,
                            .W = &W,
                            .q = q,
                            .mu = mu };
        CHECK_INT(cairn_problem_check(&p, &error), cases[i].key ? CAIRN_BAD_INPUT : CAIRN_OK);
        CHECK_TEXT(error.key, cases[i].key ? cases[i].key : "");
        p.mu_rolling = bad;
        if (!cases[i].key && p.rolling)
            CHECK_INT(cairn_problem_check(&p, &error), CAIRN_BAD_INPUT);
    }
}

/* A problem of balls is good; each line spoils one number of it. */
TEST(contacts_of_balls_are_checked)
{
    static const struct {
        int spoil;
        const char *key;
    } cases[] = { { 0, "" },        { 1, "normal" }, { 2, "normal" }, { 3, "mass_inverse" },
                  { 4, "radius" },  { 5, "block" },  { 6, "rows" },   { 7, "H" },
                  { 8, "tangent" }, { 9, "normal" } };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        cairn_arena arena = { 0 };
        cairn_error error = { 0 };
        lattice_problem l;
        CHECK(make_lattice_problem(3, 0.3, &arena, &l));
        cairn_problem p = lattice_of_both(&l);
        int at = cases[k].spoil;
        l.normal[4].x += at == 1 ? 1e-3 : 0;
        l.tangent[4] = at == 2 ? l.normal[4] : l.tangent[4];
        l.mass_inverse[11] *= at == 3 ? 2 : 1;
        l.radius[5] = at == 4 ? -1 : l.radius[5];
        l.block[9] = at == 5 ? l.block[8] : l.block[9];
        l.rows[7] = at == 6 ? -2 : l.rows[7];
        l.H[36 * 3] = at == 7 ? NAN : l.H[36 * 3];
        p.tangent = at == 8 ? NULL : p.tangent;
        p.dimension = at == 9 ? 2 : 3;
        CHECK_INT(cairn_problem_check(&p, &error), at == 0   ? CAIRN_OK
                                                   : at == 7 ? CAIRN_NOT_FINITE
                                                             : CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, cases[k].key);
        cairn_arena_destroy(&arena);
    }
}

int main(void)
{
    RUN(CASE(a_good_problem_passes), CASE(sizes_are_checked), CASE(entries_are_checked),
        CASE(missing_arrays_are_refused), CASE(bounds_are_checked), CASE(components_are_checked),
        CASE(contacts_of_balls_are_checked));
}
