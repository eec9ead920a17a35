/* judge_lanes.h - what contacts that were judged side by side came to, lane by lane, and the units
 * (judge_lanes.c) that judge them. */
#ifndef CAIRN_PROBLEM_JUDGE_LANES_H
#define CAIRN_PROBLEM_JUDGE_LANES_H

#include "problem/judge.h"

/* Sums without a law. */
enum { TERMS2, R2, U2, WEIGHED2, FREE_TERMS2, Q2, COULOMB2, CONVEX2, PLAIN_SUMS };

/* What the lanes of all groups came to. */
typedef struct cairn_law_lanes {
    double e2[CAIRN_JUDGED], fclib2[CAIRN_JUDGED], worst2[CAIRN_JUDGED], where[CAIRN_JUDGED];
} cairn_law_lanes;

typedef struct cairn_judged_lanes {
    cairn_law_lanes convex, coulomb;
    double plain[PLAIN_SUMS][CAIRN_JUDGED], off_cone2[CAIRN_JUDGED];
} cairn_judged_lanes;

/* The judges of one width: whole groups from begin on; each returns where the next one would begin.
 * All widths give the same bits. */
typedef int cairn_judge_fn(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out);

typedef struct cairn_judges {
    cairn_judge_fn *balls;
    cairn_judge_fn *rows[2]; /* contacts whose rows are stored, in 2D and in 3D */
} cairn_judges;

#endif
