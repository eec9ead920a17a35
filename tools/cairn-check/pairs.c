/* pairs.c - no contact was left out: every pair of bodies that overlaps where contacts are
 * evaluated must be among the contacts of the step, and so must every pair that overlaps after it
 * (not for schemes that take contacts at mid-step: they let those pass).
 *
 * Balls are found by a hash grid with cells as wide as the largest of them; bodies much larger
 * than the mean, and unbounded ones, are held against all balls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "pieces.h"
#include "run.h"
#include "shapes.h"
#include "witness.h"

enum { FEATURES = 4 }; /* room for feature numbers in a key */

typedef struct cell {
    int64_t x, y, z;
} cell;

typedef struct search {
    check_run *run;
    const vec *x; /* poses, by body */
    const quat *q;
    bool features; /* the very contact must be there, not just one of the pair */
    const char *when;
    uint64_t *keys; /* of the `known` contacts of the step, sorted */
    int known;
    int *small, *large, *next, *bucket;
    int *solids, *walls; /* convex bodies that are no balls; half-spaces and insides of boxes */
    int solid_count, wall_count;
    cell *cells; /* of each small ball */
    int small_count, large_count;
    unsigned buckets; /* a power of 2 */
    double width;     /* m: of a cell */
} search;

/* ---- the contacts of the step --------------------------------------------------------------- */

static uint64_t key_of(const check_run *run, int a, int b, int feature)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return (low * (uint64_t)run->bodies.count + high) * FEATURES + (uint64_t)feature;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* Whether some key lies in [low, high]. */
static bool is_listed(const search *s, uint64_t low, uint64_t high)
{
    int first = 0, end = s->known;
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (s->keys[middle] < low)
            first = middle + 1;
        else
            end = middle;
    }
    return first < s->known && s->keys[first] <= high;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static void report_missing(const search *s, int a, int b, double gap)
{
    char words[160];
    snprintf(words, sizeof words, "bodies %d and %d overlap by %.3e m %s and are no contact", a, b,
             -gap, s->when);
    check_true(s->run->report, check_at(s->run, NULL, 0, "candidates"), false, words);
}

/* Holds one pair against the list; body a is a ball. */
static void look_at(const search *s, int a, int b)
{
    const check_run *run = s->run;
    check_witness found[CHECK_WITNESSES];
    bool moves = run->bodies.motion[a] == CHECK_DYNAMIC || run->bodies.motion[b] == CHECK_DYNAMIC;
    int count = moves ? check_witnesses(run, a, b, s->x, s->q, found) : 0;
    if (run->joints.count > 0 && check_is_joined(run, a, b))
        count = 0;
    for (int k = 0; k < count; k++) {
        if (found[k].gap >= -CHECK_ROUNDING * found[k].size)
            continue;
        uint64_t low = key_of(run, a, b, s->features ? k : 0);
        uint64_t high = s->features ? low : low + FEATURES - 1;
        if (!is_listed(s, low, high))
            report_missing(s, a, b, found[k].gap);
    }
}

/* ---- the grid ------------------------------------------------------------------------------- */

static unsigned hash(const search *s, cell c)
{
    uint64_t mixed =
        (uint64_t)c.x * 73856093u ^ (uint64_t)c.y * 19349663u ^ (uint64_t)c.z * 83492791u;
    return (unsigned)(mixed ^ mixed >> 17) & (s->buckets - 1);
}

static int64_t whole(double x)
{
    return fabs(x) < 1e15 ? (int64_t)floor(x) : 0;
}

static void fill_grid(search *s)
{
    for (unsigned i = 0; i < s->buckets; i++)
        s->bucket[i] = -1;
    for (int i = 0; i < s->small_count; i++) {
        vec x = s->x[s->small[i]];
        s->cells[i] = (cell){ whole(x.x / s->width), whole(x.y / s->width), whole(x.z / s->width) };
        unsigned place = hash(s, s->cells[i]);
        s->next[i] = s->bucket[place];
        s->bucket[place] = i;
    }
}

/* Whether two balls of the grid overlap at all: most do not. */
static bool are_near(const search *s, int i, int k)
{
    int a = s->small[i], b = s->small[k];
    vec d = vec_add(s->x[a], -1, s->x[b]);
    double reach = check_radius(s->run, a) + check_radius(s->run, b);
    return vec_dot(d, d) < reach * reach;
}

static void look_into(const search *s, int i, cell c, bool own)
{
    for (int k = s->bucket[hash(s, c)]; k >= 0; k = s->next[k]) {
        bool same = s->cells[k].x == c.x && s->cells[k].y == c.y && s->cells[k].z == c.z;
        if (same && (k > i || !own) && are_near(s, i, k))
            look_at(s, s->small[i], s->small[k]);
    }
}

/* Its own cell, and that half of the cells around it that comes later in order: each pair once. */
static void look_around(const search *s, int i)
{
    cell c = s->cells[i];
    int deep = s->run->settings.dimension == 3 ? 1 : 0;
    for (int dx = 0; dx <= 1; dx++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dz = -deep; dz <= deep; dz++)
                if (dx > 0 || dy > 0 || (dy == 0 && dz >= 0))
                    look_into(s, i, (cell){ c.x + dx, c.y + dy, c.z + dz },
                              dx == 0 && dy == 0 && dz == 0);
}

/* A large body against every ball; two large balls once. */
static void look_at_large(const search *s, int large)
{
    int body = s->large[large];
    for (int i = 0; i < s->small_count; i++)
        look_at(s, s->small[i], body);
    for (int i = 0; i < s->large_count; i++)
        if (check_is_ball(s->run, s->large[i]) && (!check_is_ball(s->run, body) || i < large) &&
            i != large)
            look_at(s, s->large[i], body);
}

/* A solid in a wall of planes, of which no contact speaks. */
static void look_at_solid(const search *s, int a, int b)
{
    const check_run *run = s->run;
    double depth[2];
    bool moves = run->bodies.motion[a] == CHECK_DYNAMIC || run->bodies.motion[b] == CHECK_DYNAMIC;
    if (!moves || check_is_ball(run, a) || !check_depth(run, a, b, s->x, s->q, depth))
        return;
    uint64_t key = key_of(run, a, b, 0);
    bool joined = run->joints.count > 0 && check_is_joined(run, a, b);
    if (depth[0] > depth[1] && !joined && !is_listed(s, key, key + FEATURES - 1))
        report_missing(s, a, b, -depth[0]);
}

static void look_at_solids(const search *s)
{
    for (int i = 0; i < s->wall_count; i++)
        for (int k = 0; k < s->solid_count; k++)
            look_at_solid(s, s->solids[k], s->walls[i]);
}

static void find_overlaps(search *s)
{
    look_at_solids(s);
    if (s->width > 0) {
        fill_grid(s);
        for (int i = 0; i < s->small_count; i++)
            look_around(s, i);
    }
    for (int i = 0; i < s->large_count; i++)
        look_at_large(s, i);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool is_there(const check_run *run, int body)
{
    return run->before.row[body] >= 0 && run->after.row[body] >= 0;
}

static void list_solid(search *s, int i)
{
    int kind = s->run->bodies.shape[i];
    if (kind == CHECK_HALF_SPACE || kind == CHECK_INSIDE_BOX)
        s->walls[s->wall_count++] = i;
    else if (check_has_pieces(s->run, i) && !check_is_ball(s->run, i))
        s->solids[s->solid_count++] = i;
}

/* Balls up to four times the mean radius go to the grid. */
static void sort_bodies(search *s)
{
    const check_run *run = s->run;
    double sum = 0;
    int balls = 0;
    for (int i = 0; i < run->bodies.count; i++) {
        bool ball = is_there(run, i) && check_is_ball(run, i);
        sum += ball ? check_radius(run, i) : 0;
        balls += ball;
    }
    for (int i = 0; i < run->bodies.count; i++) {
        double radius = check_radius(run, i);
        if (!is_there(run, i))
            continue;
        list_solid(s, i);
        if (run->bodies.shape[i] >= CHECK_BOX)
            continue;
        if (check_is_ball(run, i) && radius * balls <= 4 * sum) {
            s->small[s->small_count++] = i;
            s->width = fmax(s->width, 2 * radius);
        } else {
            s->large[s->large_count++] = i;
        }
    }
}

static bool take_room(search *s)
{
    size_t n = (size_t)s->run->bodies.count, m = (size_t)s->run->contacts.count;
    s->buckets = 16;
    while (s->buckets < n)
        s->buckets *= 2;
    return check_memory_take(&s->keys, m, sizeof *s->keys) &&
           check_memory_take(&s->small, n, sizeof *s->small) &&
           check_memory_take(&s->solids, n, sizeof *s->solids) &&
           check_memory_take(&s->walls, n, sizeof *s->walls) &&
           check_memory_take(&s->large, n, sizeof *s->large) &&
           check_memory_take(&s->next, n, sizeof *s->next) &&
           check_memory_take(&s->cells, n, sizeof *s->cells) &&
           check_memory_take(&s->bucket, s->buckets, sizeof *s->bucket);
}

static void give_back(search *s)
{
    void *blocks[] = { &s->keys,  &s->small,  &s->large,  &s->next,
                       &s->cells, &s->bucket, &s->solids, &s->walls };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_memory_free(blocks[i]);
}

static bool is_other(const check_run *run, int body)
{
    return run->bodies.shape[body] >= CHECK_BOX;
}

static bool has_other_shape(const check_run *run, int j)
{
    return is_other(run, run->contacts.body[2 * j]) || is_other(run, run->contacts.body[2 * j + 1]);
}

/* Sorted keys of all contacts. Other shapes have more features than a key has room for: feature 0,
 * as often as there are points. */
static void list_contacts(search *s)
{
    check_run *run = s->run;
    for (int j = 0; j < run->contacts.count; j++)
        s->keys[j] =
            key_of(run, run->contacts.body[2 * j], run->contacts.body[2 * j + 1],
                   has_other_shape(run, j) ? 0 : run->contacts.feature[j] & (FEATURES - 1));
    s->known = run->contacts.count;
    qsort(s->keys, (size_t)s->known, sizeof *s->keys, compare_keys);
    for (int j = 0; j + 1 < s->known; j++) {
        uint64_t pair = s->keys[j] / FEATURES, n = (uint64_t)run->bodies.count;
        bool other = is_other(run, (int)(pair / n)) || is_other(run, (int)(pair % n));
        check_true(run->report, check_at(run, NULL, 0, "contacts"),
                   other || s->keys[j] != s->keys[j + 1], "one contact is there twice");
    }
}

static void look_for_pairs(search *s)
{
    check_run *run = s->run;
    list_contacts(s);
    sort_bodies(s);
    s->x = run->x_eval;
    s->q = run->q_eval;
    s->features = true;
    s->when = "where contacts are evaluated";
    if (run->settings.linearisations == 0) /* else only bodies in contact say where that is */
        find_overlaps(s);
    if (run->settings.scheme->middle)
        return;
    s->x = run->x_after;
    s->q = run->q_after;
    s->features = false;
    s->when = "after the step";
    find_overlaps(s);
}

bool check_complete(check_run *run)
{
    search s = { .run = run };
    bool good = take_room(&s);
    if (good)
        look_for_pairs(&s);
    give_back(&s);
    return good || check_fail(run->report, "no memory");
}
