/* test_ipm_system.c - S = I + L'W L is solved, in both forms, for each kind of cone. */
#include "solve/ipm_system.h"

#include "check.h"
#include "problem/delassus.h"
#include "random_problem.h"

enum { MOST = 15 * 8 };

/* s of S s = h for a scaling that depends on the seed alone. */
static void solve(const cairn_problem *p, const double *h, double *s, double *L_of_3)
{
    cairn_arena arena = { 0 };
    cairn_system system;
    cairn_cones cones;
    cairn_normal normal = { 0 };
    double x[MOST] = { 0 }, z[MOST] = { 0 }, l[MOST], unit[MOST] = { 0 };
    bool positive;
    CHECK_OK(cairn_system_create(p, &arena, &system));
    CHECK_OK(cairn_cones_create(&system, &arena, &cones));
    CHECK(cones.count <= MOST);
    cairn_cones_add_unit(&cones, 1, 0, unit);
    cairn_cones_move(&cones, CAIRN_CONE_Z, 1, unit, z);
    unit[0] += 3; /* different scalings at different contacts */
    unit[cones.start[5]] += 7;
    unit[cones.start[5] + 1] += 0.5;
    cairn_cones_move(&cones, CAIRN_CONE_X, 1, unit, x);
    CHECK(cairn_cones_scale(&cones, 0.01, x, z, l));
    CHECK_OK(cairn_normal_create(&system, &cones, &arena, &normal));
    CHECK_OK(cairn_normal_factor(&normal, &positive));
    CHECK(positive);
    CHECK_OK(cairn_normal_solve(&normal, 1, h, s));
    memset(L_of_3, 0, 9 * sizeof(double));
    if (cones.start[4] - cones.start[3] <= 3)
        cairn_cones_factor(&cones, 3, L_of_3);
    cairn_normal_destroy(&normal);
    cairn_arena_destroy(&arena);
}

TEST(both_forms_give_the_same_for_each_kind_of_cone)
{
    static const int directions[] = { 0, 0, 8 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        double h[MOST], s[MOST] = { 0 }, s_local[MOST] = { 0 }, L[9];
        uint64_t state = 5;
        make_random_problem(&random, dimension[i], 20, 15, 31);
        random.p.directions = directions[i];
        random.mu[2] = 0;
        for (int k = 0; k < MOST; k++)
            h[k] = cairn_random_normal(&state);
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        solve(&random.p, h, s, L);
        solve(&local, h, s_local, L);
        for (int k = 0; k < MOST; k++)
            CHECK_NEAR(s[k], s_local[k], 1e-12);
        CHECK(fabs(s[0]) > 1e-3 && fabs(s[0] - h[0]) > 1e-3);
        cairn_arena_destroy(&arena);
    }
}

/* W = 0 off the diagonal blocks: S_j = I + L_j' W_jj L_j, one contact alone, checked by hand */
TEST(a_lone_contact_is_solved_as_by_hand)
{
    random_problem random;
    double h[MOST], s[MOST] = { 0 }, L[9], W[9] = { 0 }, Ls[3] = { 0 }, WLs[3] = { 0 };
    uint64_t state = 6;
    make_random_problem(&random, 3, 15, 15, 32);
    for (int j = 0; j < 15; j++)
        random.block[2 * j + 1] = -1;
    for (int k = 0; k < MOST; k++)
        h[k] = cairn_random_normal(&state);
    for (int i = 0; i < 3; i++)
        W[4 * i] = random.mass_inverse[6 * 3 + i]; /* identity rows on block 3 */
    solve(&random.p, h, s, L);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            Ls[i] += L[3 * i + k] * s[9 + k];
    for (int i = 0; i < 3; i++)
        WLs[i] = W[4 * i] * Ls[i];
    for (int k = 0; k < 3; k++) {
        double left = s[9 + k];
        for (int i = 0; i < 3; i++)
            left += L[3 * i + k] * WLs[i];
        CHECK_NEAR(left, h[9 + k], 1e-12);
    }
}

int main(void)
{
    RUN(CASE(both_forms_give_the_same_for_each_kind_of_cone),
        CASE(a_lone_contact_is_solved_as_by_hand));
}
