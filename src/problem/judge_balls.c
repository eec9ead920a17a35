/* judge_balls.c - contacts with circular cones judged side by side, of balls or of any bodies: the
 * machine decides which of the units (judge_lanes.c) does it, and their lanes are summed here. */
#include <float.h>
#include <math.h>

#include "problem/judge_lanes.h"

extern const cairn_judges cairn_judges_baseline, cairn_judges_avx2, cairn_judges_avx512;

static const cairn_judges *const judges[CAIRN_WIDTH_COUNT] = { &cairn_judges_baseline,
                                                               &cairn_judges_avx2,
                                                               &cairn_judges_avx512 };

static double total(const double *lane)
{
    double sum = 0;
    for (int i = 0; i < CAIRN_JUDGED; i++)
        sum += lane[i];
    return sum;
}

/* Of equal ones the first contact counts, as it does one by one. */
static void add_law(const cairn_law_lanes *from, cairn_law_sums *to)
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

static int judge_by(cairn_judge_fn *run, cairn_judging *judge, int begin, int end)
{
    cairn_judged_lanes all;
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
    return judge_by(judges[width]->balls, judge, begin, end);
}

int cairn_judge_rows(cairn_width width, cairn_judging *judge, int begin, int end)
{
    return judge_by(judges[width]->rows[judge->p->dimension == 3], judge, begin, end);
}
