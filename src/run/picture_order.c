/* picture_order.c - the order in which the items of a picture are painted, see drawing.h.
 *
 * Painter's algorithm with Newell's test for whole convex items: a plane that has one item on each
 * side determines which of the two can hide the other. "Must be painted before" is a graph. Its
 * order is found by Kahn's algorithm, which takes the farthest of all items that are free first.
 *
 * Items that penetrate each other, or that overlap cyclically, have no correct order; they are not
 * split, and the picture may be wrong there. */
#include "run/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"

/* Faces beyond which a body's faces are not tried one by one, and iterations of the search for a
 * separating direction. Both bound the time for a pair; by_search or the depth decides instead. */
enum { MOST_FACES = 200, TURNS = 30 };

/* `first` is painted before `second`. */
typedef struct edge {
    int32_t first, second;
} edge;

/* The edges in the order in which they were found. Owned. */
typedef struct graph {
    edge *edges;
    size_t count, room;
} graph;

/* ---- two items ------------------------------------------------------------------------------ */

/* The extent of an item along a direction, measured from a point: smallest and largest value. */
static void reach_along(const cairn_picture_item *a, cairn_vec3 direction, cairn_vec3 from,
                        double out[2])
{
    out[0] = INFINITY;
    out[1] = -INFINITY;
    if (a->radius > 0) {
        double middle = cairn_dot(cairn_sub(a->centre, from), direction);
        out[0] = middle - a->radius;
        out[1] = middle + a->radius;
    }
    for (int i = 0; i < a->corner_count; i++) {
        double at = cairn_dot(cairn_sub(a->corners[i], from), direction);
        out[0] = fmin(out[0], at);
        out[1] = fmax(out[1], at);
    }
}

/* Which of two items is nearer, given the direction from a to b at right angles to a plane between
 * them. 1: b; -1: a; 0: the plane is seen edge on, so neither hides the other. */
static int nearer_by(cairn_vec3 direction, cairn_vec3 towards)
{
    double side = cairn_dot(direction, towards);
    return side > 1e-9 ? 1 : side < -1e-9 ? -1 : 0;
}

/* Whether both are polygons in the same plane: neither hides the other. */
static bool are_level(const cairn_picture_item *a, const cairn_picture_item *b)
{
    double slack = 0.01 * fmin(a->size, b->size), reach[2];
    if (a->face_count != 1 || b->face_count != 1)
        return false;
    reach_along(b, a->faces[0].normal, a->faces[0].point, reach);
    return reach[0] >= -slack && reach[1] <= slack;
}

/* Try the planes of a's faces: 1: b is nearer, -1: a is nearer, 0: none of them separates the two.
 * If b is outside a face, the side of the face decides. A single polygon also separates if b is
 * behind it. The slack of 1 % of the smaller item tolerates contacts that overlap slightly. */
static int by_faces(const cairn_picture_item *a, const cairn_picture_item *b, cairn_vec3 towards)
{
    double slack = 0.01 * fmin(a->size, b->size), reach[2];
    if (a->face_count > MOST_FACES)
        return 0;
    for (int i = 0; i < a->face_count; i++) {
        const cairn_picture_face *face = &a->faces[i];
        int nearer = nearer_by(face->normal, towards);
        if (nearer == 0)
            continue;
        reach_along(b, face->normal, face->point, reach);
        if (reach[0] >= -slack)
            return nearer;
        if (a->face_count == 1 && reach[1] <= slack)
            return -nearer;
    }
    return 0;
}

/* The support point: the point of an item that is farthest along a direction. */
static cairn_vec3 corner_along(const cairn_picture_item *a, cairn_vec3 direction)
{
    if (a->radius > 0)
        return cairn_add_scaled(a->centre, a->radius, cairn_unit(direction));
    cairn_vec3 best = a->corners[0];
    for (int i = 1; i < a->corner_count; i++)
        if (cairn_dot(cairn_sub(a->corners[i], best), direction) > 0)
            best = a->corners[i];
    return best;
}

/* Search for a separating plane at right angles to d, where d converges to the shortest vector from
 * a to b: the method of Frank and Wolfe on the differences b - a. If all differences s have s . d
 * >= 0, up to the slack, the plane separates. The faces alone miss pairs that only a plane along
 * two edges separates. 0: none found within TURNS iterations. */
static int by_search(const cairn_picture_item *a, const cairn_picture_item *b, cairn_vec3 towards)
{
    double slack = 0.01 * fmin(a->size, b->size);
    cairn_vec3 d = cairn_sub(b->centre, a->centre);
    for (int k = 0; k < TURNS && cairn_norm(d) > 0; k++) {
        cairn_vec3 s =
            cairn_sub(corner_along(b, cairn_scale(-1, d)), corner_along(a, d)); /* b - a */
        if (cairn_dot(s, d) >= -slack * cairn_norm(d))
            return nearer_by(d, towards);
        /* the point nearest to 0 on the segment from d to s */
        cairn_vec3 way = cairn_sub(s, d);
        double share = -cairn_dot(d, way) / fmax(cairn_dot(way, way), 1e-300);
        d = cairn_add_scaled(d, fmax(0, fmin(1, share)), way);
    }
    return 0;
}

/* 1: b is nearer, -1: a is nearer. Faces are tried first, the search only if they do not decide.
 * Two balls are ordered by depth alone, see sort_by_depth in picture.c. */
static int compare(const cairn_picture_item *a, const cairn_picture_item *b, cairn_vec3 towards)
{
    int nearer = 0;
    if (a->radius == 0)
        nearer = by_faces(a, b, towards);
    if (nearer == 0 && b->radius == 0)
        nearer = -by_faces(b, a, towards);
    if (nearer == 0 && (a->radius == 0 || b->radius == 0))
        nearer = by_search(a, b, towards);
    return nearer ? nearer : a->depth <= b->depth ? 1 : -1;
}

/* ---- all items ------------------------------------------------------------------------------ */

static cairn_status add_edge(graph *g, int32_t first, int32_t second)
{
    void *block = g->edges;
    cairn_status status = cairn_memory_reserve(&block, &g->room, g->count + 1, sizeof *g->edges);
    g->edges = block;
    TRY(status);
    g->edges[g->count++] = (edge){ first, second };
    return CAIRN_OK;
}

/* A number to sort by, and its item. Ties are broken by the item, so that the picture does not
 * depend on the qsort of the machine. */
typedef struct key {
    double value;
    int32_t item;
} key;

static int by_value(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int by_item = (x->item > y->item) - (x->item < y->item);
    return x->value < y->value ? -1 : x->value > y->value ? 1 : by_item;
}

/* Find the edges between items whose boxes in the picture overlap: a sweep along the horizontal
 * axis. Only items that overlap in the picture can hide each other. */
static cairn_status link_items(const cairn_picture_item *items, int count, cairn_vec3 towards,
                               key *keys, graph *g)
{
    for (int i = 0; i < count; i++)
        keys[i] = (key){ items[i].low[0], i };
    qsort(keys, (size_t)count, sizeof *keys, by_value);
    for (int i = 0; i < count; i++) {
        const cairn_picture_item *a = &items[keys[i].item];
        for (int k = i + 1; k < count && keys[k].value < a->high[0]; k++) {
            const cairn_picture_item *b = &items[keys[k].item];
            if (b->low[1] >= a->high[1] || b->high[1] <= a->low[1] || are_level(a, b))
                continue;
            bool b_nearer = compare(a, b, towards) > 0;
            TRY(add_edge(g, keys[b_nearer ? i : k].item, keys[b_nearer ? k : i].item));
        }
    }
    return CAIRN_OK;
}

/* A binary heap of the items that are free to be painted, the farthest at the top. */
typedef struct heap {
    int32_t *items;
    int count;
    const int32_t *rank; /* position of each item by depth, 0: the farthest */
} heap;

/* Move parents down until the place of the item is found. */
static void heap_push(heap *h, int32_t item)
{
    int at = h->count++;
    while (at > 0 && h->rank[h->items[(at - 1) / 2]] > h->rank[item]) {
        h->items[at] = h->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->items[at] = item;
}

/* Remove the top; move the last item down to its place. */
static int32_t heap_pop(heap *h)
{
    int32_t top = h->items[0], last = h->items[--h->count];
    int at = 0;
    for (int child = 1; child < h->count; child = 2 * at + 1) {
        if (child + 1 < h->count && h->rank[h->items[child + 1]] < h->rank[h->items[child]])
            child++;
        if (h->rank[last] <= h->rank[h->items[child]])
            break;
        h->items[at] = h->items[child];
        at = child;
    }
    h->items[at] = last;
    return top;
}

/* The arrays of Kahn's algorithm, by item. */
typedef struct sorting {
    int32_t *waits; /* number of items that must be painted before; -1: painted */
    int64_t *start; /* start of its edges in `after` */
    int32_t *after; /* items that wait for it */
    int32_t *by_depth, *rank;
    heap free;
} sorting;

/* Take the arrays from the arena, and sort the items by depth. `keys` is scratch. */
static cairn_status sorting_take(const cairn_picture_item *items, int count, const graph *g,
                                 key *keys, cairn_arena *arena, sorting *s)
{
    size_t n = (size_t)count + 1;
    s->waits = cairn_arena_take(arena, n, sizeof *s->waits);
    s->start = cairn_arena_take(arena, n + 1, sizeof *s->start);
    s->after = cairn_arena_take(arena, g->count + 1, sizeof *s->after);
    s->by_depth = cairn_arena_take(arena, n, sizeof *s->by_depth);
    s->rank = cairn_arena_take(arena, n, sizeof *s->rank);
    s->free.items = cairn_arena_take(arena, n, sizeof *s->free.items);
    if (!s->waits || !s->start || !s->after || !s->by_depth || !s->rank || !s->free.items)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++)
        keys[i] = (key){ items[i].depth, i };
    qsort(keys, (size_t)count, sizeof *keys, by_value);
    for (int i = 0; i < count; i++) {
        s->by_depth[i] = keys[i].item;
        s->rank[keys[i].item] = i;
    }
    s->free.rank = s->rank;
    return CAIRN_OK;
}

/* Sort the edges by their first item (counting sort). Counts are stored two places ahead, so that
 * after the sum start[i + 1] is the place for the next edge of item i; when all edges are placed,
 * start[i] is where those of item i begin. */
static void sorting_fill(const graph *g, int count, sorting *s)
{
    memset(s->waits, 0, (size_t)count * sizeof *s->waits);
    memset(s->start, 0, ((size_t)count + 2) * sizeof *s->start);
    for (size_t k = 0; k < g->count; k++) {
        s->start[g->edges[k].first + 2]++;
        s->waits[g->edges[k].second]++;
    }
    for (int i = 2; i < count + 2; i++)
        s->start[i] += s->start[i - 1];
    for (size_t k = 0; k < g->count; k++)
        s->after[s->start[g->edges[k].first + 1]++] = g->edges[k].second;
}

/* Kahn's algorithm. If no item is free, the graph has a cycle: it is cut at the farthest item that
 * is not painted yet. */
static void sorting_run(int count, sorting *s, int32_t *order)
{
    int next = 0; /* in by_depth: the next item at which a cycle is cut */
    for (int i = 0; i < count; i++)
        if (s->waits[i] == 0)
            heap_push(&s->free, i);
    for (int done = 0; done < count; done++) {
        while (s->free.count == 0 && s->waits[s->by_depth[next]] < 0)
            next++;
        int32_t item = s->free.count > 0 ? heap_pop(&s->free) : s->by_depth[next];
        order[done] = item;
        s->waits[item] = -1;
        for (int64_t k = s->start[item]; k < s->start[item + 1]; k++)
            if (s->waits[s->after[k]] > 0 && --s->waits[s->after[k]] == 0)
                heap_push(&s->free, s->after[k]);
    }
}

cairn_status cairn_picture_order(const cairn_picture_item *items, int count, cairn_vec3 towards,
                                 cairn_arena *arena, int32_t *order)
{
    graph g = { NULL, 0, 0 };
    sorting s = { .free = { .count = 0 } };
    key *keys = cairn_arena_take(arena, (size_t)count + 1, sizeof *keys);
    cairn_status status = keys ? link_items(items, count, towards, keys, &g) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = sorting_take(items, count, &g, keys, arena, &s);
    if (status == CAIRN_OK) {
        sorting_fill(&g, count, &s);
        sorting_run(count, &s, order);
    }
    cairn_memory_free(g.edges);
    return status;
}
