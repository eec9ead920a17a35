/* reduce.c - a few contact points that stand for many.
 *
 * Kept are the two that are farthest apart, then the farthest to either side of the line between
 * them, so that the polygon they span supports what all support. The deepest point, if clearly
 * deeper than those, takes the place of its nearest. Comparisons ask for a clear difference: points
 * that are equal to rounding do not change places from step to step. Of very many points only those
 * that are outermost in some direction take part. */
#include "collide/convex.h"
#include "math/vec.h"

enum { KEPT = 4, MANY = 64, OUTERMOST = 16 };

static const double CLEARLY = 1 + 1e-6;

static double apart(const cairn_witness *p, const cairn_witness *q)
{
    cairn_vec3 d = cairn_sub(p->on_a, q->on_a);
    return cairn_dot(d, d);
}

static void farthest_pair(const cairn_witness *p, int count, int chosen[KEPT])
{
    double longest = 0;
    chosen[0] = chosen[1] = 0;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (apart(&p[i], &p[j]) > longest * CLEARLY) {
                longest = apart(&p[i], &p[j]);
                chosen[0] = i;
                chosen[1] = j;
            }
}

/* The point that is farthest from the line of the chosen pair, on the side of sign; -1: none. */
static int farthest_aside(const cairn_witness *p, int count, const int chosen[KEPT], double sign)
{
    cairn_vec3 base = p[chosen[0]].on_a, line = cairn_sub(p[chosen[1]].on_a, base);
    cairn_vec3 side = cairn_cross(p[chosen[0]].normal, line);
    double square = cairn_dot(line, line), most = 1e-9 * square;
    int best = -1;
    for (int k = 0; k < count; k++) {
        double height = sign * cairn_dot(side, cairn_sub(p[k].on_a, base));
        if (height > most * CLEARLY) {
            most = height;
            best = k;
        }
    }
    return best;
}

/* Let the deepest point in: as one more up to the limit, else in place of its nearest. Returns how
 * many are chosen. */
static int admit_deepest(const cairn_witness *p, int count, int limit, int *chosen, int kept)
{
    int deepest = 0, deepest_chosen = 0, nearest = 0;
    for (int k = 1; k < count; k++)
        if (p[k].gap < p[deepest].gap)
            deepest = k;
    for (int k = 1; k < kept; k++) {
        if (p[chosen[k]].gap < p[chosen[deepest_chosen]].gap)
            deepest_chosen = k;
        if (apart(&p[chosen[k]], &p[deepest]) < apart(&p[chosen[nearest]], &p[deepest]))
            nearest = k;
    }
    double size = sqrt(apart(&p[chosen[0]], &p[chosen[1]]));
    if (p[deepest].gap >= p[chosen[deepest_chosen]].gap - 1e-10 * size)
        return kept;
    chosen[kept < limit ? kept : nearest] = deepest;
    return kept < limit ? kept + 1 : kept;
}

static void sort_by_feature(cairn_witness *p, int count)
{
    for (int i = 1; i < count; i++) {
        cairn_witness item = p[i];
        int k = i;
        for (; k > 0 && p[k - 1].feature > item.feature; k--)
            p[k] = p[k - 1];
        p[k] = item;
    }
}

static int choose_of_few(const cairn_witness *points, int count, int limit, int chosen[KEPT])
{
    int kept = 2;
    farthest_pair(points, count, chosen);
    for (int side = 1; side >= -1 && limit > 2; side -= 2) {
        int k = farthest_aside(points, count, chosen, side);
        if (k >= 0)
            chosen[kept++] = k;
    }
    return admit_deepest(points, count, limit, chosen, kept);
}

/* The point that is outermost along a direction. */
static int outermost(const cairn_witness *p, int count, cairn_vec3 direction)
{
    double size = sqrt(apart(&p[0], &p[count - 1]));
    int best = 0;
    for (int k = 1; k < count; k++)
        if (cairn_dot(direction, cairn_sub(p[k].on_a, p[best].on_a)) > 1e-9 * size)
            best = k;
    return best;
}

/* The outermost points in directions all round the normal, and the deepest; each once. */
static int list_outermost(const cairn_witness *p, int count, int list[OUTERMOST + 1])
{
    cairn_vec3 t = cairn_perpendicular(p[0].normal), u = cairn_cross(p[0].normal, t);
    int found = 0;
    for (int i = 0; i <= OUTERMOST; i++) {
        double angle = 2 * M_PI * i / OUTERMOST;
        cairn_vec3 d = cairn_add_scaled(cairn_scale(cos(angle), t), sin(angle), u);
        int next = outermost(p, count, d), known = 0;
        for (int k = 0; k < count && i == OUTERMOST; k++)
            next = k == 0 || p[k].gap < p[next].gap ? k : next;
        while (known < found && list[known] != next)
            known++;
        list[known] = next;
        found += known == found;
    }
    return found;
}

int cairn_witnesses_choose(const cairn_witness *points, int count, int limit, int chosen[KEPT])
{
    if (count <= MANY)
        return choose_of_few(points, count, limit, chosen);
    int list[OUTERMOST + 1], found = list_outermost(points, count, list);
    cairn_witness few[OUTERMOST + 1];
    for (int k = 0; k < found; k++)
        few[k] = points[list[k]];
    int kept = choose_of_few(few, found, limit, chosen);
    for (int k = 0; k < kept; k++)
        chosen[k] = list[chosen[k]];
    return kept;
}

int cairn_witnesses_reduce(cairn_witness *points, int count, int limit)
{
    if (count > limit) {
        int chosen[KEPT], kept = choose_of_few(points, count, limit, chosen);
        cairn_witness copy[KEPT];
        for (int k = 0; k < kept; k++)
            copy[k] = points[chosen[k]];
        for (int k = 0; k < kept; k++)
            points[k] = copy[k];
        count = kept;
    }
    sort_by_feature(points, count);
    return count;
}
