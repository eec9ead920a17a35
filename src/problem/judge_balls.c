/* judge_balls.c - contacts of balls judged side by side, compiled for several instruction sets from
 * one text (judge_balls.h); which one runs is decided on the machine. All give the same bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "problem/judge.h"
#include "problem/operator.h"

/* Sums without a law. */
enum { TERMS2, R2, U2, WEIGHED2, FREE_TERMS2, Q2, COULOMB2, CONVEX2, PLAIN_SUMS };

/* Velocities of the balls of a group, side a and side b: linear and angular. */
typedef struct sides {
    double v[2][3][CAIRN_JUDGED], w[2][3][CAIRN_JUDGED];
} sides;

/* A group of contacts, number by number. */
typedef struct loaded {
    double n[3][CAIRN_JUDGED], t[3][CAIRN_JUDGED], r[3][CAIRN_JUDGED], w[3][CAIRN_JUDGED];
    double mu[CAIRN_JUDGED], bias[CAIRN_JUDGED], shift[CAIRN_JUDGED];
    double radius[2][CAIRN_JUDGED], inverse_mass[CAIRN_JUDGED], number[CAIRN_JUDGED];
    sides now, free;
    double u[3][CAIRN_JUDGED]; /* the answer */
} loaded;

/* What the lanes of all groups came to. */
typedef struct law_lanes {
    double e2[CAIRN_JUDGED], fclib2[CAIRN_JUDGED], worst2[CAIRN_JUDGED], where[CAIRN_JUDGED];
} law_lanes;

typedef struct lanes {
    law_lanes convex, coulomb;
    double plain[PLAIN_SUMS][CAIRN_JUDGED], off_cone2[CAIRN_JUDGED];
} lanes;

/* ---- in and out ----------------------------------------------------------------------------- */

CAIRN_WIDE void spread3(double to[3][CAIRN_JUDGED], int i, const double *from)
{
    to[0][i] = from[0];
    to[1][i] = from[1];
    to[2][i] = from[2];
}

/* Side `side` of contact j, lane i; returns its part of w = trace(W_jj)/3. */
CAIRN_WIDE double load_side(const cairn_judging *judge, int j, int side, int i, loaded *in)
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

CAIRN_WIDE void load(const cairn_judging *judge, int first, loaded *in)
{
    static const double nothing[3] = { 0 };
    const cairn_problem *p = judge->p;
    for (int j = first; j < first + CAIRN_JUDGED; j++) {
        int i = j - first;
        spread3(in->n, i, &p->normal[j].x);
        spread3(in->t, i, &p->tangent[j].x);
        spread3(in->r, i, judge->r + 3 * (size_t)j);
        spread3(in->w, i, p->w ? p->w + 3 * (size_t)j : nothing);
        in->mu[i] = p->mu[j];
        in->bias[i] = p->b ? p->b[j] : 0;
        in->shift[i] = p->s ? p->mu[j] * p->s[j] : 0;
        in->number[i] = j;
        double w = load_side(judge, j, 0, i, in);
        in->inverse_mass[i] = w + load_side(judge, j, 1, i, in);
    }
}

CAIRN_WIDE void unload(const loaded *in, double *u)
{
    for (int i = 0; i < 3 * CAIRN_JUDGED; i++)
        u[i] = in->u[i % 3][i / 3];
}

/* ---- the text, for each register ------------------------------------------------------------ */

#define WIDE       cairn_f64x2
#define MASK       cairn_i64x2
#define LANES      2
#define NAME(name) x2_##name
#define WIDE_(fn)  cairn_f64x2_##fn
#include "problem/judge_balls.h"

#define WIDE       cairn_f64x4
#define MASK       cairn_i64x4
#define LANES      4
#define NAME(name) x4_##name
#define WIDE_(fn)  cairn_f64x4_##fn
#include "problem/judge_balls.h"

#define WIDE       cairn_f64x8
#define MASK       cairn_i64x8
#define LANES      8
#define NAME(name) x8_##name
#define WIDE_(fn)  cairn_f64x8_##fn
#include "problem/judge_balls.h"

static int baseline(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x2_judge_groups(judge, begin, end, out);
}

CAIRN_AVX2 static int avx2(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x4_judge_groups(judge, begin, end, out);
}

CAIRN_AVX512 static int avx512(cairn_judging *judge, int begin, int end, lanes *out)
{
    return x8_judge_groups(judge, begin, end, out);
}

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

int cairn_judge_balls(cairn_width width, cairn_judging *judge, int begin, int end)
{
    static int (*const judges[CAIRN_WIDTH_COUNT])(cairn_judging *, int, int,
                                                  lanes *) = { baseline, avx2, avx512 };
    lanes all;
    int stop = judges[width](judge, begin, end, &all);
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
