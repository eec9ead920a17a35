/* test_batch_general_sweep.c - the kernel over contacts of any bodies: each lane solves its own
 * contact exactly, with the same bits for every width. */
#include <math.h>
#include <string.h>

#include "backend/host/batch_general.h"
#include "base/random.h"
#include "check.h"
#include "problem/local.h"

enum { BATCHES = 40, LANES = BATCHES * CAIRN_BATCH, RECORDS = 2 * LANES };

/* Contacts that share no body, with rows, masses, friction and velocities drawn at random. */
typedef struct example {
    cairn_general_f64 wide[BATCHES];
    cairn_general_f32 narrow[BATCHES];
    double v64[8 * RECORDS], inertia64[4 * RECORDS], r64[3 * LANES], previous64[3 * LANES];
    float v32[8 * RECORDS], inertia32[4 * RECORDS], r32[3 * LANES], previous32[3 * LANES];
} example;

static double draw(uint64_t *state)
{
    return cairn_random_between(state, -1, 1);
}

/* W = H M^-1 H' of a lane, from the rows and records of its two bodies. */
static void find_W(const example *e, const cairn_general_f64 *b, int i, double W[6])
{
    const double *ja = e->inertia64 + 4 * b->a[i], *jb = e->inertia64 + 4 * b->b[i];
    double m = e->v64[8 * b->a[i] + 6] + e->v64[8 * b->b[i] + 6];
    for (int row = 0, at = 0; row < 3; row++)
        for (int column = 0; column <= row; column++, at++) {
            W[at] = 0;
            for (int k = 0; k < 3; k++)
                W[at] += m * b->line[3 * row + k][i] * b->line[3 * column + k][i] +
                         ja[k] * b->turn_a[3 * row + k][i] * b->turn_a[3 * column + k][i] +
                         jb[k] * b->turn_b[3 * row + k][i] * b->turn_b[3 * column + k][i];
        }
}

static void fill_lane(example *e, int lane, uint64_t *state)
{
    cairn_general_f64 *b = &e->wide[lane / CAIRN_BATCH];
    int i = lane % CAIRN_BATCH;
    double W[6];
    b->a[i] = 2 * lane;
    b->b[i] = 2 * lane + 1;
    for (int c = 0; c < 9; c++) {
        b->line[c][i] = c % 4 == 0;
        b->turn_a[c][i] = draw(state);
        b->turn_b[c][i] = draw(state);
    }
    for (int side = 0; side < 2; side++) {
        double *v = e->v64 + 8 * (2 * lane + side), *j = e->inertia64 + 4 * (2 * lane + side);
        for (int c = 0; c < 6; c++)
            v[c] = draw(state);
        v[6] = lane % 7 == 0 && side ? 0 : 1 + draw(state); /* some b are walls */
        v[7] = j[3] = 0;
        for (int c = 0; c < 3; c++)
            j[c] = v[6] > 0 ? 3 * (1 + draw(state)) : 0;
    }
    find_W(e, b, i, W);
    for (int c = 0; c < 6; c++)
        b->W[c][i] = W[c];
    for (int c = 0; c < 3; c++)
        b->shift[c][i] = 0.3 * draw(state);
    b->mu[i] = lane % 5 == 0 ? 0 : 0.5 + 0.45 * draw(state);
}

static void fill(example *e)
{
    uint64_t state = 11;
    memset(e, 0, sizeof *e);
    for (int lane = 0; lane < LANES; lane++)
        fill_lane(e, lane, &state);
    for (int k = 0; k < BATCHES; k++) {
        memcpy(e->narrow[k].a, e->wide[k].a, 2 * sizeof e->narrow[k].a);
        for (int c = 0; c < CAIRN_GENERAL_NUMBERS * CAIRN_BATCH; c++)
            e->narrow[k].number[c / CAIRN_BATCH][c % CAIRN_BATCH] =
                (float)e->wide[k].number[c / CAIRN_BATCH][c % CAIRN_BATCH];
    }
    for (int c = 0; c < 8 * RECORDS; c++)
        e->v32[c] = (float)e->v64[c];
    for (int c = 0; c < 4 * RECORDS; c++)
        e->inertia32[c] = (float)e->inertia64[c];
}

static cairn_sweep sweep64(example *e, cairn_width width, cairn_law law, double beta)
{
    const cairn_general_pass_f64 job = { e->wide, e->inertia64, law,          { beta, 0.25 },
                                         e->v64,  e->r64,       e->previous64 };
    cairn_sweep out = { 0, 0 };
    cairn_general_kernels_f64_of(width)->sweep(&job, 0, BATCHES, &out);
    return out;
}

static cairn_sweep sweep32(example *e, cairn_width width, cairn_law law, double beta)
{
    const cairn_general_pass_f32 job = { e->narrow, e->inertia32, law,          { beta, 0.25 },
                                         e->v32,    e->r32,       e->previous32 };
    cairn_sweep out = { 0, 0 };
    cairn_general_kernels_f32_of(width)->sweep(&job, 0, BATCHES, &out);
    return out;
}

static double *impulse(double *r, int lane, int c)
{
    return r + (lane / CAIRN_BATCH * 3 + c) * CAIRN_BATCH + lane % CAIRN_BATCH;
}

/* q = H v + shift of a lane before the sweep */
static void free_velocity(const example *e, int lane, double q[3])
{
    const cairn_general_f64 *b = &e->wide[lane / CAIRN_BATCH];
    int i = lane % CAIRN_BATCH;
    const double *va = e->v64 + 8 * b->a[i], *vb = e->v64 + 8 * b->b[i];
    for (int row = 0; row < 3; row++) {
        q[row] = b->shift[row][i];
        for (int k = 0; k < 3; k++)
            q[row] += b->line[3 * row + k][i] * (va[k] - vb[k]) +
                      b->turn_a[3 * row + k][i] * va[3 + k] + b->turn_b[3 * row + k][i] * vb[3 + k];
    }
}

/* The law of one contact: how far r is from it, over the size of q. */
static double defect(const double *W, double mu, cairn_law law, const double *q, const double *r)
{
    double u[3] = { q[0] + W[0] * r[0] + W[1] * r[1] + W[3] * r[2],
                    q[1] + W[1] * r[0] + W[2] * r[1] + W[4] * r[2],
                    q[2] + W[3] * r[0] + W[4] * r[1] + W[5] * r[2] };
    double w = (W[0] + W[2] + W[5]) / 3, x[3], square = 0;
    if (law == CAIRN_LAW_COULOMB)
        u[0] += mu * hypot(u[1], u[2]);
    for (int k = 0; k < 3; k++)
        x[k] = r[k] - u[k] / w;
    cairn_cone_project(3, mu, x);
    for (int k = 0; k < 3; k++)
        square += w * w * (x[k] - r[k]) * (x[k] - r[k]);
    return sqrt(square) / (fabs(q[0]) + fabs(q[1]) + fabs(q[2]));
}

/* 640 contacts: open, sticking and sliding ones all occur. */
static void check_exact(cairn_law law)
{
    static example e, f;
    int count[3] = { 0 };
    fill(&e);
    f = e;
    sweep64(&f, cairn_width_best(), law, 0);
    sweep32(&f, cairn_width_best(), law, 0);
    for (int lane = 0; lane < LANES; lane++) {
        const cairn_general_f64 *b = &e.wide[lane / CAIRN_BATCH];
        double q[3], W[6], r[3], mu = b->mu[lane % CAIRN_BATCH];
        free_velocity(&e, lane, q);
        for (int c = 0; c < 6; c++)
            W[c] = b->W[c][lane % CAIRN_BATCH];
        for (int c = 0; c < 3; c++)
            r[c] = *impulse(f.r64, lane, c);
        CHECK(defect(W, mu, law, q, r) < 1e-12);
        for (int c = 0; c < 3; c++)
            r[c] = (double)f.r32[impulse(f.r64, lane, c) - f.r64];
        CHECK(defect(W, mu, law, q, r) < 2e-4);
        count[r[0] == 0 ? 0 : hypot(r[1], r[2]) < mu * r[0] * (1 - 1e-5) ? 1 : 2]++;
    }
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
    const cairn_general_pass_f64 job = {
        e.wide, e.inertia64, 0, { 0 }, e.v64, f.r64, e.previous64
    };
    cairn_general_kernels_f64_of(cairn_width_best())->add_up(&job, 0, BATCHES);
    for (int c = 0; c < 8 * RECORDS; c++)
        CHECK_NEAR(e.v64[c], f.v64[c], 1e-13);
}

int main(void)
{
    RUN(CASE(each_lane_solves_its_contact), CASE(all_instruction_sets_give_the_same_bits),
        CASE(impulses_add_up_to_the_velocities));
}
