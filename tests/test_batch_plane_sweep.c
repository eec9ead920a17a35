/* test_batch_plane_sweep.c - the kernel over contacts in 2D: each lane solves its own contact exactly,
 * with the same bits for every width. */
#include <math.h>
#include <string.h>

#include "backend/host/batch_plane.h"
#include "base/random.h"
#include "check.h"
#include "problem/local.h"

enum { BATCHES = 40, LANES = BATCHES * CAIRN_BATCH, RECORDS = 2 * LANES };

/* Contacts that share no body, with rows, masses, friction and velocities drawn at random. */
typedef struct example {
    cairn_plane_f64 wide[BATCHES];
    cairn_plane_f32 narrow[BATCHES];
    double v64[4 * RECORDS], r64[2 * LANES], previous64[2 * LANES];
    float v32[4 * RECORDS], r32[2 * LANES], previous32[2 * LANES];
    bool smooth; /* swept as one without friction */
} example;

static double draw(uint64_t *state)
{
    return cairn_random_between(state, -1, 1);
}

/* W = H M^-1 H' of a lane */
static void find_W(const example *e, const cairn_plane_f64 *b, int i, double W[3])
{
    double m = e->v64[4 * b->a[i] + 3] + e->v64[4 * b->b[i] + 3];
    for (int row = 0, at = 0; row < 2; row++)
        for (int column = 0; column <= row; column++, at++) {
            W[at] =
                b->turn_a[row][i] * b->push_a[column][i] + b->turn_b[row][i] * b->push_b[column][i];
            for (int k = 0; k < 2; k++)
                W[at] += m * b->line[2 * row + k][i] * b->line[2 * column + k][i];
        }
}

static void fill_lane(example *e, int lane, uint64_t *state)
{
    cairn_plane_f64 *b = &e->wide[lane / CAIRN_BATCH];
    int i = lane % CAIRN_BATCH;
    double angle = 3 * draw(state), W[3], inertia[2];
    b->a[i] = 2 * lane;
    b->b[i] = 2 * lane + 1;
    b->line[0][i] = b->line[3][i] = cos(angle);
    b->line[1][i] = sin(angle);
    b->line[2][i] = -sin(angle);
    for (int side = 0; side < 2; side++) {
        double *v = e->v64 + 4 * (2 * lane + side);
        for (int c = 0; c < 3; c++)
            v[c] = draw(state);
        v[3] = lane % 7 == 0 && side ? 0 : 1 + draw(state); /* some b are walls */
        inertia[side] = v[3] > 0 ? 3 * (1 + draw(state)) : 0;
    }
    for (int c = 0; c < 2; c++) {
        b->turn_a[c][i] = draw(state);
        b->turn_b[c][i] = draw(state);
        b->push_a[c][i] = inertia[0] * b->turn_a[c][i];
        b->push_b[c][i] = inertia[1] * b->turn_b[c][i];
        b->shift[c][i] = 0.3 * draw(state);
    }
    find_W(e, b, i, W);
    for (int c = 0; c < 3; c++)
        b->W[c][i] = W[c];
    b->mu[i] = lane % 5 == 0 ? 0 : 0.5 + 0.45 * draw(state);
}

static void fill(example *e)
{
    uint64_t state = 11;
    memset(e, 0, sizeof *e);
    for (int lane = 0; lane < LANES; lane++)
        fill_lane(e, lane, &state);
    for (int k = 0; k < BATCHES; k++) {
        memcpy(e->narrow[k].a, e->wide[k].a, sizeof e->narrow[k].a);
        memcpy(e->narrow[k].b, e->wide[k].b, sizeof e->narrow[k].b);
        for (int c = 0; c < CAIRN_PLANE_NUMBERS * CAIRN_BATCH; c++)
            e->narrow[k].number[c / CAIRN_BATCH][c % CAIRN_BATCH] =
                (float)e->wide[k].number[c / CAIRN_BATCH][c % CAIRN_BATCH];
    }
    for (int c = 0; c < 4 * RECORDS; c++)
        e->v32[c] = (float)e->v64[c];
}

static cairn_sweep sweep64(example *e, cairn_width width, cairn_law law, double beta)
{
    const cairn_plane_pass_f64 job = { e->wide, e->smooth, law,          { beta, 0.25 },
                                       e->v64,  e->r64,    e->previous64 };
    cairn_sweep out = { 0, 0 };
    cairn_plane_kernels_f64_of(width)->sweep(&job, 0, BATCHES, &out);
    return out;
}

static cairn_sweep sweep32(example *e, cairn_width width, cairn_law law, double beta)
{
    const cairn_plane_pass_f32 job = { e->narrow, e->smooth, law,          { beta, 0.25 },
                                       e->v32,    e->r32,    e->previous32 };
    cairn_sweep out = { 0, 0 };
    cairn_plane_kernels_f32_of(width)->sweep(&job, 0, BATCHES, &out);
    return out;
}

static int impulse_at(int lane, int c)
{
    return (lane / CAIRN_BATCH * 2 + c) * CAIRN_BATCH + lane % CAIRN_BATCH;
}

/* q = H v + shift of a lane before the sweep */
static void free_velocity(const example *e, int lane, double q[2])
{
    const cairn_plane_f64 *b = &e->wide[lane / CAIRN_BATCH];
    int i = lane % CAIRN_BATCH;
    const double *va = e->v64 + 4 * b->a[i], *vb = e->v64 + 4 * b->b[i];
    for (int row = 0; row < 2; row++)
        q[row] = b->shift[row][i] + b->line[2 * row][i] * (va[0] - vb[0]) +
                 b->line[2 * row + 1][i] * (va[1] - vb[1]) + b->turn_a[row][i] * va[2] +
                 b->turn_b[row][i] * vb[2];
}

/* The law of one contact: how far r is from it, over the size of q. */
static double defect(const double *W, double mu, cairn_law law, const double *q, const double *r)
{
    double u[2] = { q[0] + W[0] * r[0] + W[1] * r[1], q[1] + W[1] * r[0] + W[2] * r[1] };
    double w = (W[0] + W[2]) / 2;
    if (law == CAIRN_LAW_COULOMB)
        u[0] += mu * fabs(u[1]);
    double x[2] = { r[0] - u[0] / w, r[1] - u[1] / w };
    cairn_cone_project(2, mu, x);
    return w * hypot(x[0] - r[0], x[1] - r[1]) / (fabs(q[0]) + fabs(q[1]));
}

/* 640 contacts: open, sticking and sliding ones all occur. Where rows are drawn at random and friction
 * is large, sliding with u_N = 0 may not exist; then as problem/local.c has it. */
static void check_exact(cairn_law law)
{
    static example e, f;
    int count[3] = { 0 }, lawful = 0;
    fill(&e);
    f = e;
    sweep64(&f, cairn_width_best(), law, 0);
    sweep32(&f, cairn_width_best(), law, 0);
    for (int lane = 0; lane < LANES; lane++) {
        const cairn_plane_f64 *b = &e.wide[lane / CAIRN_BATCH];
        int i = lane % CAIRN_BATCH;
        double q[2], W[3] = { b->W[0][i], b->W[1][i], b->W[2][i] }, mu = b->mu[i], alone[2];
        const double r[2] = { f.r64[impulse_at(lane, 0)], f.r64[impulse_at(lane, 1)] };
        const double s[2] = { (double)f.r32[impulse_at(lane, 0)],
                              (double)f.r32[impulse_at(lane, 1)] };
        free_velocity(&e, lane, q);
        cairn_local_solve(2, law, W, mu, q, alone);
        CHECK_NEAR(r[0], alone[0], 1e-12 * (1 + fabs(alone[0])));
        CHECK_NEAR(r[1], alone[1], 1e-12 * (1 + fabs(alone[1])));
        bool holds = defect(W, mu, law, q, alone) < 1e-12;
        CHECK(!holds || (defect(W, mu, law, q, r) < 1e-12 && defect(W, mu, law, q, s) < 1e-4));
        lawful += holds;
        count[r[0] == 0 ? 0 : fabs(r[1]) < mu * r[0] * (1 - 1e-9) ? 1 : 2]++;
    }
    CHECK(lawful > 0.95 * LANES);
    CHECK(count[0] > 50 && count[1] > 20 && count[2] > 50);
}

TEST(each_lane_solves_its_contact)
{
    check_exact(CAIRN_LAW_CONVEX);
    check_exact(CAIRN_LAW_COULOMB);
}

TEST(all_instruction_sets_give_the_same_bits)
{
    static example first, other;
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        for (int width = 0; width <= (int)cairn_width_best(); width++) {
            fill(&other);
            cairn_sweep a = { 0 }, b = { 0 };
            for (int k = 0; k < 5; k++) {
                a = sweep64(&other, (cairn_width)width, (cairn_law)law, 0.3);
                b = sweep32(&other, (cairn_width)width, (cairn_law)law, 0.3);
            }
            CHECK(a.change2 >= 0 && b.change2 >= 0);
            if (width == 0)
                first = other;
            CHECK(memcmp(&first, &other, sizeof first) == 0);
        }
}

/* v = v_free + M^-1 H' r: what a sweep made of v is what its impulses do to the v of the start. */
TEST(impulses_add_up_to_the_velocities)
{
    static example e, f;
    fill(&e);
    f = e;
    sweep64(&f, cairn_width_best(), CAIRN_LAW_CONVEX, 0);
    const cairn_plane_pass_f64 job = { e.wide, false, 0, { 0 }, e.v64, f.r64, e.previous64 };
    cairn_plane_kernels_f64_of(cairn_width_best())->add_up(&job, 0, BATCHES);
    for (int c = 0; c < 4 * RECORDS; c++)
        CHECK_NEAR(e.v64[c], f.v64[c], 1e-13);
}

static void take_friction(example *e)
{
    for (int lane = 0; lane < LANES; lane++) {
        e->wide[lane / CAIRN_BATCH].mu[lane % CAIRN_BATCH] = 0;
        e->narrow[lane / CAIRN_BATCH].mu[lane % CAIRN_BATCH] = 0;
    }
}

/* Without friction a contact has one multiplier: a sweep that knows gives what one does that does
 * not, on every width. */
TEST(without_friction_the_normals_are_enough)
{
    static example general, smooth, first;
    for (int width = 0; width <= (int)cairn_width_best(); width++) {
        fill(&general);
        take_friction(&general);
        smooth = general;
        smooth.smooth = true;
        for (int k = 0; k < 5; k++) {
            cairn_sweep a = sweep64(&general, (cairn_width)width, CAIRN_LAW_CONVEX, 0.3);
            cairn_sweep b = sweep64(&smooth, (cairn_width)width, CAIRN_LAW_CONVEX, 0.3);
            CHECK_NEAR(a.change2, b.change2, 1e-12 * (1 + a.change2));
            CHECK_NEAR(a.uphill, b.uphill, 1e-12 * (1 + a.change2));
        }
        for (int i = 0; i < 2 * LANES; i++)
            CHECK_NEAR(general.r64[i], smooth.r64[i], 1e-12 * (1 + fabs(general.r64[i])));
        for (int i = 0; i < 4 * RECORDS; i++)
            CHECK_NEAR(general.v64[i], smooth.v64[i], 1e-11);
        if (width == 0)
            first = smooth;
        CHECK(memcmp(&first, &smooth, sizeof first) == 0);
    }
}

int main(void)
{
    RUN(CASE(without_friction_the_normals_are_enough), CASE(each_lane_solves_its_contact),
        CASE(all_instruction_sets_give_the_same_bits), CASE(impulses_add_up_to_the_velocities));
}
