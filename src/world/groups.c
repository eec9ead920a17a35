/* groups.c - which bodies are connected by candidate contacts.
 *
 * A group may extend over several members. Each joins the bodies that it knows; then members at
 * whose borders groups touch tell each other the labels and marks of their groups, until nothing
 * changes any more. */
#include "world/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"

/* ---- groups --------------------------------------------------------------------------------- */

/* The first block of the group of a block, by union-find with path halving. */
static int32_t first_of(int32_t *first, int32_t block)
{
    while (first[block] != block) {
        first[block] = first[first[block]];
        block = first[block];
    }
    return block;
}

/* Contacts with held bodies do not connect: a floor must not make one group of everything on it.
 * The smaller block becomes the first one, so the groups do not depend on the order of contacts. */
static void join(const cairn_problem *p, int32_t *first)
{
    for (int i = 0; i < p->blocks; i++)
        first[i] = i;
    for (int j = 0; j < p->contacts; j++) {
        if (p->block[2 * j] < 0 || p->block[2 * j + 1] < 0)
            continue;
        int32_t a = first_of(first, p->block[2 * j]), b = first_of(first, p->block[2 * j + 1]);
        first[a > b ? a : b] = a < b ? a : b;
    }
    for (int i = 0; i < p->blocks; i++)
        first[i] = first_of(first, i);
}

/* ---- groups of several members --------------------------------------------------------------- */

static int64_t combine(cairn_told what, int64_t a, int64_t b)
{
    if (what == CAIRN_TOLD_MARKS)
        return a | b;
    return (what == CAIRN_TOLD_LABEL) == (a < b) ? a : b;
}

/* Velocities >= 0 are told as their bits, which have the same order. */
static int64_t told_of(const cairn_group *own, cairn_told what)
{
    int64_t bits;
    memcpy(&bits, &own->closing, sizeof bits);
    return what == CAIRN_TOLD_LABEL ? own->label : what == CAIRN_TOLD_MARKS ? own->marks : bits;
}

static void take_told(cairn_group *own, cairn_told what, int64_t value)
{
    if (what == CAIRN_TOLD_LABEL)
        own->label = value;
    else if (what == CAIRN_TOLD_MARKS)
        own->marks = (uint8_t)value;
    else
        memcpy(&own->closing, &value, sizeof own->closing);
}

/* One exchange with the neighbours; whether a group of this member changed. */
static bool hear(const cairn_problem *p, cairn_groups *g, cairn_told what)
{
    bool changed = false;
    int64_t *told = g->told;
    for (int i = 0; i < p->blocks; i++)
        told[i] = told_of(&g->group[g->first[i]], what);
    cairn_problem_fetch(p, told, sizeof *told);
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        int64_t before = told_of(own, what), now = combine(what, before, told[i]);
        changed = changed || now != before;
        take_told(own, what, now);
    }
    return changed;
}

/* A group may come back to a member by way of others, hence until nothing changes anywhere. */
void cairn_groups_spread(const cairn_problem *p, cairn_groups *g, cairn_told what)
{
    cairn_link *link = cairn_problem_link(p);
    while (link && cairn_link_any(link, hear(p, g, what)) && link->status == CAIRN_OK)
        continue;
}

static int compare_names(const void *a, const void *b)
{
    const cairn_group_name *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Lists the groups by their labels. Groups of this member that are connected by way of others have
 * the same label: they become one. */
static void name_groups(const cairn_problem *p, cairn_groups *g)
{
    for (int i = 0; i < p->blocks; i++)
        if (g->first[i] == i)
            g->name[g->names++] = (cairn_group_name){ g->group[i].label, i };
    if (!cairn_problem_link(p))
        return; /* labels rise with the blocks, and differ */
    qsort(g->name, (size_t)g->names, sizeof *g->name, compare_names);
    int kept = 0;
    for (int k = 0; k < g->names; k++)
        if (kept > 0 && g->name[kept - 1].label == g->name[k].label)
            g->first[g->name[k].first] = g->name[kept - 1].first;
        else
            g->name[kept++] = g->name[k];
    g->names = kept;
    for (int i = 0; i < p->blocks; i++)
        g->first[i] = g->first[g->first[i]];
}

/* Labels of all groups, and who has their bodies. */
static void label_groups(const cairn_step *step, const cairn_problem *p, cairn_groups *g)
{
    const cairn_world *world = step->world;
    const int64_t *order = world->exchange.link ? world->exchange.order + step->held : NULL;
    for (int i = 0; i < p->blocks; i++)
        g->group[i].label = INT64_MAX;
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        own->label = combine(CAIRN_TOLD_LABEL, own->label, order ? order[i] : i);
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_LABEL);
    name_groups(p, g);
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[g->first[i]];
        bool here = cairn_world_moves(world, step->held + i);
        own->own = own->own || here;
        own->shared = own->shared || !here;
    }
}

cairn_group *cairn_group_of(const cairn_problem *p, const cairn_groups *g, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    int32_t any = block[0] >= 0 ? block[0] : block[1];
    return any >= 0 ? &g->group[g->first[any]] : NULL;
}

cairn_group *cairn_group_of_row(const cairn_step *step, const cairn_groups *g, int row)
{
    int block = cairn_step_block(step, row);
    return block >= 0 ? &g->group[g->first[block]] : NULL;
}

/* ---- sums over the contacts of groups ------------------------------------------------------- */

/* The sums of a part are added to those of their groups: at once, or by all members that have a
 * share in the group, from a message. */
typedef struct summing {
    cairn_groups *g;
    int32_t *met; /* first blocks of the groups with contacts in the part */
    int count;
    cairn_writer out; /* records of groups that others share */
} summing;

typedef struct sum_record {
    int64_t label;
    double sum;
} sum_record;

static void add_contact(summing *s, cairn_group *own, double value)
{
    if (!own->met)
        s->met[s->count++] = (int32_t)(own - s->g->group);
    own->met = true;
    own->part_sum += value;
}

static void close_part(summing *s)
{
    for (int k = 0; k < s->count; k++) {
        cairn_group *own = &s->g->group[s->met[k]];
        const sum_record record = { own->label, own->part_sum };
        if (own->shared) {
            cairn_write_raw(&s->out, &record, sizeof record);
        } else {
            own->sum += record.sum;
        }
        own->part_sum = 0;
        own->met = false;
    }
    s->count = 0;
}

static void take_records(cairn_groups *g, const char *data, size_t size)
{
    for (size_t at = 0; at + sizeof(sum_record) <= size; at += sizeof(sum_record)) {
        sum_record record;
        memcpy(&record, data + at, sizeof record);
        const cairn_group_name wanted = { record.label, 0 };
        int low = 0, high = g->names;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (g->name[middle].label < wanted.label)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == g->names || g->name[low].label != wanted.label)
            continue;
        g->group[g->name[low].first].sum += record.sum;
    }
}

/* Members have the parts in their order, and so have the records. */
static void share_records(summing *s, cairn_link *link)
{
    if (s->out.failed)
        link->status = CAIRN_NO_MEMORY;
    for (int k = 0; k < link->members; k++)
        if (k != link->member)
            cairn_link_send(link, k, s->out.data, s->out.size);
    for (int k = 0; k < link->members; k++) {
        size_t size = s->out.size;
        const void *data = s->out.data;
        if (k != link->member)
            data = cairn_link_receive(link, k, &size);
        if (data)
            take_records(s->g, data, size);
    }
}

/* In the order of the contacts or, if the problem is cut into parts, by parts. */
cairn_status cairn_groups_sum(const cairn_problem *p, const double *value, cairn_arena *scratch,
                              cairn_groups *g)
{
    const cairn_span all = { 0, p->contacts, 0 };
    const cairn_parted whole = { .count = 1, .span = &all };
    const cairn_parted *by = p->cut ? &p->cut->contacts : &whole;
    summing s = { .g = g, .met = cairn_arena_take(scratch, (size_t)p->blocks, sizeof *s.met) };
    if (!s.met)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < by->count; k++) {
        for (int j = by->span[k].begin; j < by->span[k].end; j++) {
            cairn_group *own = cairn_group_of(p, g, j);
            if (own && own->sleeper)
                add_contact(&s, own, value[j]);
        }
        if (k + 1 == by->count || by->span[k + 1].part != by->span[k].part)
            close_part(&s);
    }
    if (cairn_problem_link(p))
        share_records(&s, cairn_problem_link(p));
    cairn_writer_destroy(&s.out);
    return CAIRN_OK;
}

/* ---- all groups ----------------------------------------------------------------------------- */

cairn_status cairn_groups_find(const cairn_step *step, const cairn_problem *p, cairn_groups *g)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)p->blocks;
    *g = (cairn_groups){
        .first = cairn_arena_take(scratch, blocks, sizeof(int32_t)),
        .group = cairn_arena_take(scratch, blocks, sizeof(cairn_group)),
        .list = cairn_arena_take(scratch, (size_t)p->contacts, sizeof(int32_t)),
        .name = cairn_arena_take(scratch, blocks, sizeof(cairn_group_name)),
        .told = cairn_arena_take(scratch, blocks, sizeof(int64_t)),
    };
    if (!g->first || !g->group || !g->list || !g->name || !g->told)
        return CAIRN_NO_MEMORY;
    memset(g->group, 0, blocks * sizeof(cairn_group));
    join(p, g->first);
    label_groups(step, p, g);
    return CAIRN_OK;
}

void cairn_groups_clear(const cairn_problem *p, cairn_groups *g)
{
    for (int i = 0; i < p->blocks; i++) {
        cairn_group *own = &g->group[i];
        own->marks = 0;
        own->sleeper = own->drowsy = false;
        own->sum = 0;
    }
    g->awake = g->sleepers = 0;
}
