/* segments.c - deriving the kinds of contacts from the arrays of a problem. */

#include <string.h>

#include "base/common.h"
#include "problem/operator.h"

/* The order of the tests matters: rows with bounds first, since they may act on one block too. */
cairn_contact_kind cairn_problem_kind(const cairn_problem *p, int j)
{
    if (cairn_is_bounded(p, j))
        return CAIRN_KIND_ROWS;
    if (p->rolling + p->spinning)
        return CAIRN_KIND_ROLLING;
    if (p->W)
        return CAIRN_KIND_GENERAL;
    if (p->block[2 * j] == p->block[2 * j + 1])
        return CAIRN_KIND_LONE;
    return cairn_is_of_balls(p, j) ? CAIRN_KIND_BALLS : CAIRN_KIND_GENERAL;
}

/* The segment that begins at contact `begin`, cut at `end`. */
static cairn_segment look(const cairn_problem *p, int begin, int end)
{
    cairn_segment out = { .kind = cairn_problem_kind(p, begin), .begin = begin };
    int j = begin;
    do {
        out.friction |= out.kind != CAIRN_KIND_ROWS && !(p->mu[j] == 0); /* true for NaN */
        j++;
    } while (j < end && cairn_problem_kind(p, j) == out.kind);
    out.count = j - begin;
    return out;
}

/* The arrays that determine the kinds. Segments record them, so that a copy of the problem with
 * another array is recognised as having no valid segments. */
static void note_arrays(const cairn_problem *p, const void *arrays[6])
{
    const void *const now[6] = { p->block, p->rows, p->bounded, p->mu, p->normal, p->W };
    memcpy(arrays, now, sizeof now);
}

/* The segments of a problem, or NULL if it has none or they were derived from other arrays. */
static const cairn_segments *known(const cairn_problem *p)
{
    const void *arrays[6];
    const cairn_segments *s = p->segments;
    note_arrays(p, arrays);
    bool count = s && s->contacts == p->contacts && !memcmp(s->made_from, arrays, sizeof arrays);
    return count ? s : NULL;
}

int cairn_problem_segments(const cairn_problem *p, cairn_segment *out, int most)
{
    int count = 0;
    for (int j = 0; j < p->contacts; count++) {
        cairn_segment s = look(p, j, p->contacts);
        if (count < most)
            out[count] = s;
        j += s.count;
    }
    return count;
}

/* Most problems have one kind of contacts, or one and the rows of joints, and one pass is enough.
 * If there are more than FEW segments, the first pass only counts them. */
cairn_status cairn_problem_find_segments(cairn_problem *p, cairn_arena *arena)
{
    enum { FEW = 4 };
    if (known(p))
        return CAIRN_OK;
    cairn_segment few[FEW];
    int count = cairn_problem_segments(p, few, FEW);
    cairn_segments *s = cairn_arena_take(arena, 1, sizeof *s);
    cairn_segment *items = cairn_arena_take(arena, (size_t)count, sizeof *items);
    if (!s || !items)
        return CAIRN_NO_MEMORY;
    if (count > FEW)
        cairn_problem_segments(p, items, count);
    else
        memcpy(items, few, (size_t)count * sizeof *items);
    *s = (cairn_segments){ .count = count, .contacts = p->contacts, .item = items };
    note_arrays(p, s->made_from);
    p->segments = s;
    return CAIRN_OK;
}

/* ---- going through them --------------------------------------------------------------------- */

/* The segment that contains contact j, by bisection. */
static const cairn_segment *holding(const cairn_segments *s, int j)
{
    int low = 0, high = s->count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (s->item[middle].begin <= j)
            low = middle;
        else
            high = middle - 1;
    }
    return s->item + low;
}

cairn_walk cairn_walk_over(const cairn_problem *p, int begin, int end)
{
    const cairn_segments *s = known(p);
    return (cairn_walk){ p, s && s->count ? holding(s, begin) : NULL, begin, end, { 0 } };
}

bool cairn_walk_next(cairn_walk *w)
{
    if (w->at >= w->end)
        return false;
    if (w->next) {
        int stop = w->next->begin + w->next->count;
        w->now = *w->next++;
        w->now.begin = w->at;
        w->now.count = (stop < w->end ? stop : w->end) - w->at;
    } else {
        w->now = look(w->p, w->at, w->end);
    }
    w->at += w->now.count;
    return true;
}

bool cairn_problem_has(const cairn_problem *p, cairn_contact_kind kind)
{
    bool found = false;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); !found && cairn_walk_next(&w);)
        found = w.now.kind == kind;
    return found;
}

bool cairn_problem_is_all(const cairn_problem *p, cairn_contact_kind kind)
{
    bool all = true;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); all && cairn_walk_next(&w);)
        all = w.now.kind == kind;
    return all;
}

bool cairn_problem_has_friction(const cairn_problem *p)
{
    bool found = false;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); !found && cairn_walk_next(&w);)
        found = w.now.friction;
    return found;
}
