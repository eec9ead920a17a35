/* segments.h - the contacts of a problem by kind: derived once, used by all loops over contacts.
 *
 *     for (cairn_walk w = cairn_walk_over(p, begin, end); cairn_walk_next(&w);)
 *         ... contacts w.now.begin .. w.at - 1, of the kind w.now.kind
 *
 * goes through the segments of contacts begin .. end-1, cut at both ends. */
#ifndef CAIRN_PROBLEM_SEGMENTS_H
#define CAIRN_PROBLEM_SEGMENTS_H

#include "base/arena.h"
#include "cairn/problem.h"

/* Derive the segments of a problem, in the arena, unless it has valid ones. */
cairn_status cairn_problem_find_segments(cairn_problem *p, cairn_arena *arena);

typedef struct cairn_walk {
    const cairn_problem *p;
    const cairn_segment *next; /* NULL: segments are derived on the way */
    int at;                    /* the end of the current segment */
    int end;
    cairn_segment now;
} cairn_walk;

cairn_walk cairn_walk_over(const cairn_problem *p, int begin, int end);
/* Go to the next segment; false: there is none. */
bool cairn_walk_next(cairn_walk *w);

/* The kind of one contact, derived from the arrays. */
cairn_contact_kind cairn_problem_kind(const cairn_problem *p, int j);
/* Whether some contact is of this kind. */
bool cairn_problem_has(const cairn_problem *p, cairn_contact_kind kind);
/* Whether all are. */
bool cairn_problem_is_all(const cairn_problem *p, cairn_contact_kind kind);
/* Whether some contact has mu > 0. */
bool cairn_problem_has_friction(const cairn_problem *p);

#endif
