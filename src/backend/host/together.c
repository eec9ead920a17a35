/* together.c - a pass over batches by several members: what they exchange, and when.
 *
 *     rims of own parts
 *     for each round of groups between parts
 *         send      to each neighbour one message with the records of all borders of this round
 *         compute   groups between two own parts
 *         receive   from each neighbour, and compute the groups with it; cores while it is late
 *     cores that are left
 *
 * The groups of a round share no part, and a core shares no block with a group between parts
 * (batch.c). The result is therefore that of the order of the groups in the whole problem. Both
 * members of a border compute its group, with the same numbers, so nothing has to be sent back. */
#include <string.h>

#include "backend/host/batch.h"
#include "base/common.h"
#include "problem/cut.h"

/* A crossing is a group between a part of this member and a part of another one. */
struct cairn_plan {
    int *crossing;               /* groups, by rounds, then by members                    */
    const cairn_border **border; /* of each                                               */
    int *first;                  /* crossing of each round, and the end                   */
    int *inner;                  /* groups between two own parts, in the order of rounds  */
    int *inner_from;             /* first of each round, and the end                      */
    int *own;                    /* rims, then cores, of own parts                        */
    int owns;                    /* own parts                                             */
};

/* ---- planning ------------------------------------------------------------------------------- */

static bool is_here(const cairn_batches *s, int part)
{
    const cairn_parted *by = &s->p->cut->contacts;
    return part >= by->first && part < by->end;
}

/* Borders are sorted by their lower part, then by their higher one. Never NULL for two parts with
 * contacts between them, of which this member has one. */
static const cairn_border *border_between(const cairn_cut *cut, int low, int high)
{
    int begin = 0, end = cut->borders;
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        const cairn_border *b = &cut->border[middle];
        int one = b->part < b->other ? b->part : b->other;
        int other = b->part < b->other ? b->other : b->part;
        if (one == low && other == high)
            return b;
        if (one < low || (one == low && other < high))
            begin = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* Insert a crossing behind those of the same round whose member is not higher. Crossings with one
 * member keep the order of their groups, which both members know. */
static void add_crossing(struct cairn_plan *plan, int round, int at, int group,
                         const cairn_border *border)
{
    for (; at > plan->first[round] && plan->border[at - 1]->member > border->member; at--) {
        plan->crossing[at] = plan->crossing[at - 1];
        plan->border[at] = plan->border[at - 1];
    }
    plan->crossing[at] = group;
    plan->border[at] = border;
}

static void plan_round(const cairn_batches *s, int round, int *crossings, int *inner)
{
    struct cairn_plan *plan = s->plan;
    plan->first[round] = *crossings;
    plan->inner_from[round] = *inner;
    for (int k = s->round[round]; k < s->round[round + 1]; k++) {
        int low = s->pieces.part[k][0], high = s->pieces.part[k][1];
        bool one = is_here(s, low), other = is_here(s, high);
        if (one && other)
            plan->inner[(*inner)++] = k;
        else if (one || other)
            add_crossing(plan, round, (*crossings)++, k, border_between(s->p->cut, low, high));
    }
}

static void plan_own(const cairn_batches *s)
{
    const cairn_parted *by = &s->p->cut->contacts;
    s->plan->owns = by->end - by->first;
    for (int k = 0; k < s->plan->owns; k++) {
        s->plan->own[k] = by->first + k;
        s->plan->own[s->plan->owns + k] = s->slabs + by->first + k;
    }
}

cairn_status cairn_batches_plan(cairn_batches *s, cairn_arena *arena)
{
    size_t borders = (size_t)s->p->cut->borders + 1;
    size_t pieces = (size_t)s->pieces.count + 1, rounds = (size_t)s->rounds + 1;
    struct cairn_plan *plan = cairn_arena_take(arena, 1, sizeof *plan);
    s->plan = plan;
    if (!plan)
        return CAIRN_NO_MEMORY;
    *plan = (struct cairn_plan){ 0 };
    plan->crossing = cairn_arena_take(arena, borders, sizeof *plan->crossing);
    plan->border = cairn_arena_take(arena, borders, sizeof *plan->border);
    plan->first = cairn_arena_take(arena, rounds, sizeof *plan->first);
    plan->inner = cairn_arena_take(arena, pieces, sizeof *plan->inner);
    plan->inner_from = cairn_arena_take(arena, rounds, sizeof *plan->inner_from);
    plan->own = cairn_arena_take(arena, 2 * (size_t)s->slabs, sizeof *plan->own);
    if (!plan->crossing || !plan->border || !plan->first || !plan->inner || !plan->inner_from ||
        !plan->own)
        return CAIRN_NO_MEMORY;
    int crossings = 0, inner = 0;
    for (int round = 0; round < s->rounds; round++)
        plan_round(s, round, &crossings, &inner);
    plan->first[s->rounds] = crossings;
    plan->inner_from[s->rounds] = inner;
    plan_own(s);
    return CAIRN_OK;
}

/* ---- a pass --------------------------------------------------------------------------------- */

/* Groups that share no part, and so may run at the same time. */
typedef struct listed {
    const int *group;
    cairn_range_fn *work;
    void *context;
} listed;

static void do_listed(int begin, int end, void *context)
{
    const listed *job = context;
    for (int k = begin; k < end; k++)
        job->work(job->group[k], job->group[k] + 1, job->context);
}

static void do_groups(const int *group, int count, cairn_range_fn *work, void *context)
{
    listed job = { group, work, context };
    cairn_parallel_for(count, 1, do_listed, &job);
}

static void send_round(const cairn_batches *s, int round, const cairn_records *records)
{
    const struct cairn_plan *plan = s->plan;
    int last = plan->first[round + 1];
    for (int k = plan->first[round], end; k < last; k = end) {
        end = cairn_borders_end(plan->border, k, last);
        cairn_borders_send(s->p->cut, plan->border + k, end - k, records);
    }
}

/* A pass of this member. */
typedef struct pass {
    const cairn_batches *s;
    cairn_range_fn *work;
    void *context;
    int cores; /* that are computed */
} pass;

static void do_cores(pass *p, int count)
{
    const struct cairn_plan *plan = p->s->plan;
    do_groups(plan->own + plan->owns + p->cores, count, p->work, p->context);
    p->cores += count;
}

/* Compute cores until the message of a member is here: one after the other with one thread; several
 * have less to wait for if they divide all cores at once. */
static void wait_usefully(pass *p, int member)
{
    const cairn_link *link = p->s->p->cut->contacts.link;
    int left;
    while ((left = p->s->plan->owns - p->cores) > 0 && !cairn_link_arrived(link, member))
        do_cores(p, cairn_parallel_width() > 1 ? left : 1);
}

/* The crossings of a round: when the message of a member has come, those with it. */
static void cross(pass *p, int round, const cairn_records *records)
{
    const struct cairn_plan *plan = p->s->plan;
    int last = plan->first[round + 1];
    for (int k = plan->first[round], end; k < last; k = end) {
        end = cairn_borders_end(plan->border, k, last);
        if (records) {
            wait_usefully(p, plan->border[k]->member);
            cairn_borders_receive(p->s->p->cut, plan->border + k, end - k, records);
        }
        do_groups(plan->crossing + k, end - k, p->work, p->context);
    }
}

void cairn_batches_pass_together(const cairn_batches *s, cairn_range_fn *work, void *context,
                                 const cairn_records *records)
{
    const struct cairn_plan *plan = s->plan;
    pass p = { s, work, context, 0 };
    do_groups(plan->own, plan->owns, work, context);
    for (int round = 0; round < s->rounds; round++) {
        int inner = plan->inner_from[round];
        if (records)
            send_round(s, round, records);
        do_groups(plan->inner + inner, plan->inner_from[round + 1] - inner, work, context);
        cross(&p, round, records);
    }
    do_cores(&p, plan->owns - p.cores);
}
