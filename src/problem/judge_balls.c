/* judge_balls.c - contacts with circular cones judged side by side, of balls or of any bodies,
 * compiled for several instruction sets from one text (judge_balls.h); which one runs is decided on
 * the machine. All give the same bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "problem/judge.h"
#include "problem/operator.h"

/* Sums without a law. */
enum { TERMS2, R2, U2, WEIGHED2, FREE_TERMS2, Q2, COULOMB2, CONVEX2, PLAIN_SUMS };

/* A group of contacts, number by number: what the laws need. */
typedef struct group {
    double r[3][CAIRN_JUDGED], mu[CAIRN_JUDGED], bias[CAIRN_JUDGED], shift[CAIRN_JUDGED];
    double inverse_mass[CAIRN_JUDGED], number[CAIRN_JUDGED];
    double u[3][CAIRN_JUDGED], terms2[CAIRN_JUDGED];      /* without the bias; squares of terms */
    double q[3][CAIRN_JUDGED], free_terms2[CAIRN_JUDGED]; /* likewise without impulses          */
    bool slides;                                          /* some mu is not 0                   */
} group;

/* Velocities of the balls of a group, side a and side b: linear and angular. */
typedef struct sides {
    double v[2][3][CAIRN_JUDGED], w[2][3][CAIRN_JUDGED];
} sides;

/* What the velocities of contacts of balls follow from. */
typedef struct balls {
    double n[3][CAIRN_JUDGED], t[3][CAIRN_JUDGED], w[3][CAIRN_JUDGED], radius[2][CAIRN_JUDGED];
    sides now, free;
} balls;

/* What the lanes of all groups came to. */
typedef struct law_lanes {
    double e2[CAIRN_JUDGED], fclib2[CAIRN_JUDGED], worst2[CAIRN_JUDGED], where[CAIRN_JUDGED];
} law_lanes;

typedef struct lanes {
    law_lanes convex, coulomb;
    double plain[PLAIN_SUMS][CAIRN_JUDGED], off_cone2[CAIRN_JUDGED];
} lanes;

/* ---- in and out ----------------------------------------------------------------------------- */

CAIRN_INLINE void spread3(double to[3][CAIRN_JUDGED], int i, const double *from)
{
    to[0][i] = from[0];
    to[1][i] = from[1];
    to[2][i] = from[2];
}

/* The law of contact j, lane i, in d dimensions. */
CAIRN_INLINE void load_law(const cairn_judging *judge, int d, int j, int i, group *in)
{
    const cairn_problem *p = judge->p;
    const double *r = judge->r + (size_t)d * (size_t)j;
    const double own[3] = { r[0], r[1], d == 3 ? r[2] : 0 };
    spread3(in->r, i, own);
    in->mu[i] = p->mu[j];
    in->bias[i] = p->b ? p->b[j] : 0;
    in->shift[i] = p->s ? p->mu[j] * p->s[j] : 0;
    in->number[i] = j;
    in->slides = in->slides || p->mu[j] != 0;
}

/* Side `side` of contact j, lane i; returns its part of w = trace(W_jj)/3. */
CAIRN_INLINE double load_side(const cairn_judging *judge, int j, int side, int i, balls *in)
{
    static const double nothing[6] = { 0 };
    const cairn_problem *p = judge->p;
    int block = p->block[2 * j + side];
    size_t first = (size_t)block * 6;
    bool wall = block < 0;
    const double *v = wall ? nothing : judge->v + first, R = wall ? 0 : p->radius[block];
    const double *inverse = wall ? nothing : p->mass_inverse + first;
    in->radius[side][i] = R;
    spread3(in->now.v[side], i, v);
    spread3(in->now.w[side], i, v + 3);
    if (judge->measures) {
        v = wall ? nothing : p->v_free + first;
        spread3(in->free.v[side], i, v);
        spread3(in->free.w[side], i, v + 3);
    }
    return inverse[0] + 2.0 / 3 * R * R * inverse[3];
}

CAIRN_INLINE void fetch_balls(const cairn_judging *judge, int j)
{
    cairn_contact_fetch(judge->p, 6, j, judge->v);
    cairn_contact_fetch(judge->p, 6, j, judge->p->mass_inverse);
    if (judge->measures)
        cairn_contact_fetch(judge->p, 6, j, judge->p->v_free);
}

CAIRN_INLINE void load_balls(const cairn_judging *judge, int first, balls *in, group *out)
{
    static const double nothing[3] = { 0 };
    const cairn_problem *p = judge->p;
    out->slides = false;
    for (int j = first; j < first + CAIRN_JUDGED; j++) {
        int i = j - first;
        fetch_balls(judge, j + 2 * CAIRN_JUDGED);
        load_law(judge, 3, j, i, out);
        spread3(in->n, i, &p->normal[j].x);
        spread3(in->t, i, &p->tangent[j].x);
        spread3(in->w, i, p->w ? p->w + 3 * (size_t)j : nothing);
        double w = load_side(judge, j, 0, i, in);
        out->inverse_mass[i] = w + load_side(judge, j, 1, i, in);
    }
}

/* u = H v + w, and the squares of its terms. */
typedef struct motion {
    double u[3], terms2;
} motion;

CAIRN_INLINE motion start_motion(const cairn_problem *p, int d, int j)
{
    double bias = p->b ? p->b[j] : 0;
    motion m = { .terms2 = bias * bias };
    for (int i = 0; p->w && i < d; i++)
        m.u[i] = p->w[(size_t)d * (size_t)j + (size_t)i];
    return m;
}

CAIRN_INLINE void add_motion(int d, int n, const double *H, const double *v, motion *m)
{
    for (int k = 0; k < n; k++) {
        double squares = 0;
        for (int i = 0; i < d; i++) {
            squares += H[i * n + k] * H[i * n + k];
            m->u[i] += H[i * n + k] * v[k];
        }
        m->terms2 += squares * v[k] * v[k];
    }
}

/* trace(H M^-1 H') */
CAIRN_INLINE double trace_of(int d, int n, const double *H, const double *mass_inverse)
{
    double trace = 0;
    for (int i = 0; i < d; i++)
        for (int k = 0; k < n; k++)
            trace += H[i * n + k] * H[i * n + k] * mass_inverse[k];
    return trace;
}

/* With the impulses and without them; and the contact's own inverse mass. */
typedef struct motions {
    motion now, free;
    double w;
} motions;

CAIRN_INLINE motions find_motions(const cairn_judging *judge, int d, int n, int j)
{
    const cairn_problem *p = judge->p;
    motions m = { .now = start_motion(p, d, j) };
    m.free = m.now;
    for (int side = 0; side < 2; side++) {
        if (p->block[2 * j + side] < 0)
            continue;
        const double *H = cairn_rows_stored(p, d, n, j, side);
        size_t first = (size_t)p->block[2 * j + side] * (size_t)n;
        add_motion(d, n, H, judge->v + first, &m.now);
        if (judge->measures)
            add_motion(d, n, H, p->v_free + first, &m.free);
        m.w += trace_of(d, n, H, p->mass_inverse + first) / d;
    }
    return m;
}

/* Contacts whose rows are stored, with their velocities. */
CAIRN_INLINE void load_rows(const cairn_judging *judge, int d, int n, int first, group *out)
{
    out->slides = false;
    for (int i = 0; i < CAIRN_JUDGED; i++) {
        motions m = find_motions(judge, d, n, first + i);
        load_law(judge, d, first + i, i, out);
        spread3(out->u, i, m.now.u);
        spread3(out->q, i, m.free.u);
        out->terms2[i] = m.now.terms2;
        out->free_terms2[i] = m.free.terms2;
        out->inverse_mass[i] = m.w;
    }
}

CAIRN_INLINE void unload(const group *in, int d, double *u)
{
    for (int i = 0; i < d * CAIRN_JUDGED; i++)
        u[i] = in->u[i % d][i / d];
}

/* ---- the text, for each register ------------------------------------------------------------ */

#define WIDE cairn_f64x2
#define TARGET
#define MASK       cairn_i64x2
#define LANES      2
#define NAME(name) x2_##name
#define WIDE_(fn)  cairn_f64x2_##fn
#include "problem/judge_balls.h"

#define WIDE       cairn_f64x4
#define TARGET     CAIRN_AVX2
#define MASK       cairn_i64x4
#define LANES      4
#define NAME(name) x4_##name
#define WIDE_(fn)  cairn_f64x4_##fn
#include "problem/judge_balls.h"

#define WIDE       cairn_f64x8
#define TARGET     CAIRN_AVX512
#define MASK       cairn_i64x8
#define LANES      8
#define NAME(name) x8_##name
#define WIDE_(fn)  cairn_f64x8_##fn
#include "problem/judge_balls.h"

static int balls_baseline(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x2_judge_balls(judge, begin, end, out);
}

CAIRN_AVX2 static int balls_avx2(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x4_judge_balls(judge, begin, end, out);
}

CAIRN_AVX512 static int balls_avx512(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x8_judge_balls(judge, begin, end, out);
}

static int space_baseline(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x2_judge_rows(judge, 3, 6, begin, end, out);
}

CAIRN_AVX2 static int space_avx2(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x4_judge_rows(judge, 3, 6, begin, end, out);
}

CAIRN_AVX512 static int space_avx512(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x8_judge_rows(judge, 3, 6, begin, end, out);
}

static int plane_baseline(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x2_judge_rows(judge, 2, 3, begin, end, out);
}

CAIRN_AVX2 static int plane_avx2(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x4_judge_rows(judge, 2, 3, begin, end, out);
}

CAIRN_AVX512 static int plane_avx512(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x8_judge_rows(judge, 2, 3, begin, end, out);
}

typedef int judge_fn(cairn_judging *judge, int begin, int end, lanes *out);

static judge_fn *const judges_of_balls[CAIRN_WIDTH_COUNT] = { balls_baseline, balls_avx2,
                                                              balls_avx512 };
static judge_fn *const judges_of_rows[2][CAIRN_WIDTH_COUNT] = {
    { plane_baseline, plane_avx2, plane_avx512 },
    { space_baseline, space_avx2, space_avx512 },
};

/* ---- sums ----------------------------------------------------------------------------------- */

static double total(const double *lane)
{
    double sum = 0;
    for (int i = 0; i < CAIRN_JUDGED; i++)
        sum += lane[i];
    return sum;
}

/* Of equal ones the first contact counts, as it does one by one. */
static void add_law(const law_lanes *from, cairn_law_sums *to)
{
    to->e2 += total(from->e2);
    to->fclib2 += total(from->fclib2);
    for (int i = 0; i < CAIRN_JUDGED; i++) {
        double e = sqrt(from->worst2[i]);
        int contact = (int)from->where[i];
        if (!(e <= to->worst) || (e == to->worst && e > 0 && contact < to->worst_contact)) {
            to->worst = e;
            to->worst_contact = contact;
        }
    }
}

static int judge_by(judge_fn *run, cairn_judging *judge, int begin, int end)
{
    lanes all;
    int stop = run(judge, begin, end, &all);
    if (stop == begin)
        return stop;
    add_law(&all.convex, &judge->convex);
    add_law(&all.coulomb, &judge->coulomb);
    judge->terms2 += total(all.plain[TERMS2]);
    judge->r2 += total(all.plain[R2]);
    judge->u2 += total(all.plain[U2]);
    judge->drowned2 += total(all.plain[WEIGHED2]) * (2 * DBL_EPSILON) * (2 * DBL_EPSILON);
    judge->norms.terms2 += total(all.plain[FREE_TERMS2]);
    judge->norms.q2 += total(all.plain[Q2]);
    judge->norms.coulomb2 += total(all.plain[COULOMB2]);
    judge->norms.convex2 += total(all.plain[CONVEX2]);
    for (int i = 0; i < CAIRN_JUDGED; i++)
        judge->cone_violation = fmax(judge->cone_violation, sqrt(all.off_cone2[i]));
    return stop;
}

int cairn_judge_balls(cairn_width width, cairn_judging *judge, int begin, int end)
{
    return judge_by(judges_of_balls[width], judge, begin, end);
}

int cairn_judge_rows(cairn_width width, cairn_judging *judge, int begin, int end)
{
    return judge_by(judges_of_rows[judge->p->dimension == 3][width], judge, begin, end);
}
