/* pairs.c - no contact was left out, and the penetration is right. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "shapes.h"

/* ---- pairs of bodies that may touch ---------------------------------------------------------- */

/* Bodies are in hash grids, one for each power of two of their diameter: in the grid of level e the
 * cells are 2^e wide, and a ball of diameter at most 2^e with its centre in a cell can overlap only
 * with balls of its own or smaller diameter in the 27 cells (in 2D 9) around. Each body searches
 * its own level and those of larger bodies, so that a pair is met once and the cost is that of the
 * nearby pairs, whatever the sizes. */

typedef void visit_fn(void *context, int a, int b);

enum { LEVELS = 40 }; /* bodies smaller than 2^-40 of the largest count as that large */

typedef struct cell {
    int64_t x, y, z;
    int level;
} cell;

typedef struct grid {
    const check_run *run;
    const vec *x;
    visit_fn *visit;
    void *context;
    int *body, *wall; /* those with bounds; those without */
    int count, walls;
    double *radius; /* of each body with bounds       */
    cell *cells;    /* likewise                       */
    int *next, *bucket;
    unsigned buckets; /* a power of 2 */
    bool there[LEVELS];
    int top; /* exponent of the highest level */
} grid;

/* ---- sorting -------------------------------------------------------------------------------- */

static bool is_there(const check_run *run, int body)
{
    return run->before.row[body] >= 0 && run->after.row[body] >= 0;
}

double check_ball_about(const check_run *run, int body)
{
    double extent = check_is_wall(run, body) ? 0 : check_extent(run, body);
    if (check_has_faces(run, body)) /* they also detect thin bodies behind them (overlap.c) */
        extent *= 1.02;
    return extent;
}

bool check_is_bounded(const check_run *run, int body)
{
    return is_there(run, body) && !check_is_wall(run, body) && check_has_pieces(run, body);
}

static void sort_bodies(grid *g, int *unknown)
{
    *unknown = 0;
    for (int i = 0; i < g->run->bodies.count; i++) {
        if (!is_there(g->run, i))
            continue;
        double extent = check_ball_about(g->run, i);
        bool known = check_has_pieces(g->run, i);
        if (check_is_wall(g->run, i))
            g->wall[g->walls++] = i;
        else if (known)
            g->radius[g->count] = extent, g->body[g->count++] = i;
        else
            ++*unknown;
    }
}

/* The least e with x <= 2^e. */
static int exponent_of(double x)
{
    int e = 0;
    double share = frexp(x, &e);
    return share == 0.5 ? e - 1 : e;
}

static int64_t whole(double x)
{
    return fabs(x) < 1e15 ? (int64_t)floor(x) : 0;
}

static cell cell_of(const grid *g, vec x, int level)
{
    double width = ldexp(1, g->top - level);
    return (cell){ whole(x.x / width), whole(x.y / width), whole(x.z / width), level };
}

static unsigned hash(const grid *g, cell c)
{
    uint64_t mixed = (uint64_t)c.x * 73856093u ^ (uint64_t)c.y * 19349663u ^
                     (uint64_t)c.z * 83492791u ^ (uint64_t)c.level * 40503u;
    return (unsigned)(mixed ^ mixed >> 17) & (g->buckets - 1);
}

/* Levels count down from the largest body. */
static void fill(grid *g)
{
    double largest = 0;
    for (int i = 0; i < g->count; i++)
        largest = fmax(largest, g->radius[i]);
    g->top = largest > 0 ? exponent_of(2 * largest) : 0;
    for (unsigned i = 0; i < g->buckets; i++)
        g->bucket[i] = -1;
    for (int i = 0; i < g->count; i++) {
        int below = g->radius[i] > 0 ? g->top - exponent_of(2 * g->radius[i]) : LEVELS;
        int level = below < LEVELS ? below : LEVELS - 1;
        g->cells[i] = cell_of(g, g->x[g->body[i]], level);
        g->there[level] = true;
        unsigned place = hash(g, g->cells[i]);
        g->next[i] = g->bucket[place];
        g->bucket[place] = i;
    }
}

/* ---- looking -------------------------------------------------------------------------------- */

static void meet(const grid *g, int a, int b)
{
    const int32_t *motion = g->run->bodies.motion;
    if (motion[a] == CHECK_DYNAMIC || motion[b] == CHECK_DYNAMIC)
        g->visit(g->context, a, b);
}

/* All bodies in cell c; in its own cell a body meets those that come after it. */
static void look_into(const grid *g, int i, cell c, bool own)
{
    for (int k = g->bucket[hash(g, c)]; k >= 0; k = g->next[k]) {
        const cell *o = &g->cells[k];
        bool same = o->x == c.x && o->y == c.y && o->z == c.z && o->level == c.level;
        if (!same || (own && k <= i))
            continue;
        vec d = vec_add(g->x[g->body[i]], -1, g->x[g->body[k]]);
        double reach = g->radius[i] + g->radius[k];
        if (vec_dot(d, d) <= reach * reach)
            meet(g, g->body[i], g->body[k]);
    }
}

/* In its own level: its own cell, and the half of the neighbouring cells that is later in order. */
static void look_around(const grid *g, int i, int level)
{
    bool own = level == g->cells[i].level;
    int deep = g->run->settings.dimension == 3 ? 1 : 0;
    cell c = cell_of(g, g->x[g->body[i]], level);
    for (int dx = own ? 0 : -1; dx <= 1; dx++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dz = -deep; dz <= deep; dz++)
                if (!own || dx > 0 || dy > 0 || (dy == 0 && dz >= 0))
                    look_into(g, i, (cell){ c.x + dx, c.y + dy, c.z + dz, level },
                              own && dx == 0 && dy == 0 && dz == 0);
}

static void look(const grid *g)
{
    for (int i = 0; i < g->count; i++) {
        for (int level = 0; level <= g->cells[i].level; level++)
            if (g->there[level])
                look_around(g, i, level);
        for (int k = 0; k < g->walls; k++)
            meet(g, g->body[i], g->wall[k]);
    }
}

/* Visit every pair of bodies, at least one of them dynamic, whose bounding balls overlap at these
 * positions; unbounded bodies overlap with everything. Bodies whose size is not in the file are
 * left out, and *unknown is their number. false: out of memory. */
static bool visit_near_pairs(const check_run *run, const vec *x, visit_fn *visit, void *context,
                             int *unknown)
{
    grid g = { .run = run, .x = x, .visit = visit, .context = context, .buckets = 16 };
    size_t n = (size_t)run->bodies.count;
    while (g.buckets < n)
        g.buckets *= 2;
    bool good = check_memory_take(&g.body, n, sizeof *g.body) &&
                check_memory_take(&g.wall, n, sizeof *g.wall) &&
                check_memory_take(&g.radius, n, sizeof *g.radius) &&
                check_memory_take(&g.cells, n, sizeof *g.cells) &&
                check_memory_take(&g.next, n, sizeof *g.next) &&
                check_memory_take(&g.bucket, g.buckets, sizeof *g.bucket);
    if (good) {
        sort_bodies(&g, unknown);
        fill(&g);
        look(&g);
    }
    void *blocks[] = { &g.body, &g.wall, &g.radius, &g.cells, &g.next, &g.bucket };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_memory_free(blocks[i]);
    return good;
}

/* ---- pairs that must have a contact ---------------------------------------------------------- */

/* Where contacts are evaluated every pair of bodies that overlaps must have a contact that is as
 * deep; in a wall of planes one for every plane, a ball in a round wall one for every direction.
 * Where the bodies are after the step every such pair must be among the contacts of the step
 * (not for schemes with contacts at mid-step, which allow those), and the deepest overlap
 * of all is the `penetration` of the step. */

enum { HINTS = 8 };

/* A contact of the step, by its pair. */
typedef struct entry {
    uint64_t pair;
    int feature, contact;
} entry;

typedef struct search {
    check_run *run;
    const vec *x; /* poses, by body */
    const quat *q;
    bool after; /* the step: else where contacts are evaluated */
    const char *when;
    entry *contacts;  /* sorted */
    uint64_t *joined; /* excluded pairs, sorted */
    int joined_count;
    double low, high; /* m: the range of the deepest overlap */
    bool complete;    /* all shapes have dimensions          */
    int32_t image[3]; /* of the second body that is looked at */
} search;

/* Contacts [first, end) of a pair. */
typedef struct group {
    int first, end;
} group;

/* ---- the contacts of the step --------------------------------------------------------------- */

static uint64_t key_of(const check_run *run, int a, int b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return low * (uint64_t)run->bodies.count + high;
}

/* Numbers of images from -3 to 3 along each edge; more distant ones share the outermost. */
static uint64_t image_key(const check_run *run, int a, int b, const int32_t k[3])
{
    uint64_t key = key_of(run, a, b);
    for (int i = 0; i < 3; i++) {
        int32_t of_higher = a < b ? k[i] : -k[i];
        of_higher = of_higher > 3 ? 3 : of_higher < -3 ? -3 : of_higher;
        key = 7 * key + (uint64_t)(of_higher + 3);
    }
    return key;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    if (p->pair != q->pair)
        return p->pair < q->pair ? -1 : 1;
    if (p->feature != q->feature)
        return p->feature < q->feature ? -1 : 1;
    return (p->contact > q->contact) - (p->contact < q->contact);
}

static bool is_other(const check_run *run, int body)
{
    return run->bodies.shape[body] >= CHECK_BOX;
}

/* All contacts, sorted. Contacts between balls, and of balls with walls, occur once. */
static void list_contacts(search *s)
{
    check_run *run = s->run;
    const check_contacts *c = &run->contacts;
    for (int j = 0; j < c->count; j++)
        s->contacts[j] =
            (entry){ image_key(run, c->body[2 * j], c->body[2 * j + 1], c->image + 3 * j),
                     c->feature[j], j };
    qsort(s->contacts, (size_t)c->count, sizeof *s->contacts, compare_entries);
    for (int i = 0; i + 1 < c->count; i++) {
        const entry *e = &s->contacts[i];
        const int32_t *body = c->body + 2 * e->contact;
        bool again = e[0].pair == e[1].pair && e[0].feature == e[1].feature;
        check_true(run->report, check_at(run, NULL, 0, "contacts"),
                   !again || is_other(run, body[0]) || is_other(run, body[1]),
                   "the contact is stored twice");
    }
}

static group contacts_of(const search *s, int a, int b)
{
    uint64_t key = image_key(s->run, a, b, s->image);
    int first = 0, end = s->run->contacts.count;
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (s->contacts[middle].pair < key)
            first = middle + 1;
        else
            end = middle;
    }
    while (end < s->run->contacts.count && s->contacts[end].pair == key)
        end++;
    return (group){ first, end };
}

/* m: the least gap of some contacts, only of those along n unless it is 0. */
static double least_gap(const search *s, group g, vec n)
{
    const check_contacts *c = &s->run->contacts;
    double least = HUGE_VAL;
    for (int i = g.first; i < g.end; i++) {
        int j = s->contacts[i].contact;
        if (!(vec_norm(n) > 0) || vec_norm(vec_add(c->normal[j], -1, n)) < 1e-6)
            least = fmin(least, c->gap[j]);
    }
    return least;
}

static void list_joined(search *s)
{
    const check_joints *j = &s->run->joints;
    for (int i = 0; i < j->count; i++)
        if (!j->collide[i] && j->body[2 * i] >= 0 && j->body[2 * i + 1] >= 0 &&
            check_joint_in_force(s->run, i))
            s->joined[s->joined_count++] = key_of(s->run, j->body[2 * i], j->body[2 * i + 1]);
    qsort(s->joined, (size_t)s->joined_count, sizeof *s->joined, compare_keys);
}

static bool is_joined(const search *s, int a, int b)
{
    uint64_t key = key_of(s->run, a, b);
    return s->joined_count > 0 &&
           bsearch(&key, s->joined, (size_t)s->joined_count, sizeof *s->joined, compare_keys) &&
           check_is_joined(s->run, a, b, s->image);
}

/* Bodies that grains meet and that do not meet each other: held ones and walls of cells. */
static bool is_wall(const check_run *run, int body)
{
    return run->bodies.motion[body] != CHECK_DYNAMIC || check_is_servo(run, body);
}

/* Whether the groups of two bodies let them touch. Numbers beyond the format touch nothing. */
static bool may_meet(const check_run *run, int a, int b)
{
    const check_bodies *bodies = &run->bodies;
    if (is_wall(run, a) && is_wall(run, b))
        return false;
    uint32_t first = (uint32_t)bodies->group[a], second = (uint32_t)bodies->group[b];
    return first <= 30 && second <= 30 && !((uint32_t)bodies->ignores[a] >> second & 1) &&
           !((uint32_t)bodies->ignores[b] >> first & 1);
}

/* No contact is between bodies whose groups exclude it. */
static void check_groups(check_run *run)
{
    const check_contacts *c = &run->contacts;
    for (int j = 0; j < c->count; j++) {
        int a = c->body[2 * j], b = c->body[2 * j + 1];
        if (a >= 0 && b >= 0)
            check_true(run->report, check_at(run, "contact", j, "body"), may_meet(run, a, b),
                       "the groups of its two bodies exclude it");
    }
}

/* ---- what is missing ------------------------------------------------------------------------ */

/* A pair overlaps by at least `depth`, and according to its contacts by `told` (-infinite: it has
 * none). */
static void hold_against(const search *s, int a, int b, double depth, double told)
{
    char words[200];
    bool lets_pass = s->after && s->run->settings.scheme->middle;
    bool good = depth <= fmax(0, told) || lets_pass || (s->after && told > -HUGE_VAL);
    if (good)
        return;
    bool turned = b < a && !check_is_wall(s->run, b); /* walls come last */
    int length = snprintf(words, sizeof words, "bodies %d and %d overlap by %.3e m %s",
                          turned ? b : a, turned ? a : b, depth, s->when);
    if (told > -HUGE_VAL)
        snprintf(words + length, sizeof words - (size_t)length, ", by their contacts by %.3e m",
                 told);
    else
        snprintf(words + length, sizeof words - (size_t)length, " and have no contact");
    check_true(s->run->report, check_at(s->run, NULL, 0, "candidates"), false, words);
}

static void take(search *s, double low, double high)
{
    s->low = fmax(s->low, low);
    s->high = fmax(s->high, high);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Closed forms; where contacts are evaluated the exact contact must exist. false: there is no
 * form. */
static bool look_at_ball(search *s, int a, int b, group g)
{
    check_witness found[CHECK_WITNESSES];
    int count = check_witnesses(s->run, a, b, s->x, s->q, found);
    for (int k = 0; k < count; k++) {
        double doubt = CHECK_ROUNDING * found[k].size;
        bool listed = s->after && g.end > g.first;
        for (int i = g.first; i < g.end; i++)
            listed = listed || s->contacts[i].feature == k;
        take(s, -found[k].gap - doubt, -found[k].gap + doubt);
        if (-found[k].gap > doubt)
            hold_against(s, a, b, -found[k].gap, listed ? HUGE_VAL : -HUGE_VAL);
    }
    return count > 0;
}

/* A body in a wall of planes: each plane separately. */
static bool look_at_planes(search *s, int a, int b, group g)
{
    const check_run *run = s->run;
    check_plane planes[CHECK_PLANES], then[CHECK_PLANES];
    int count = check_planes(run, b, s->q[b], planes);
    if (count == 0 || !check_has_pieces(run, a))
        return false;
    check_planes(run, b, run->q_eval[b], then);
    double size = vec_norm(s->x[a]) + vec_norm(s->x[b]) + check_extent(run, a) +
                  vec_norm(run->bodies.size[b]);
    double doubt = 10 * CHECK_ROUNDING * size + check_lowest_doubt(run, a);
    for (int k = 0; k < count; k++) {
        const check_place_of at = { s->x[a], s->q[a] };
        double depth = check_plane_depth(run, a, at, s->x[b], &planes[k]);
        take(s, depth - doubt, depth + doubt);
        if (depth > doubt)
            hold_against(s, a, b, depth - doubt, -least_gap(s, g, then[k].n));
    }
    return true;
}

/* The accuracy that a pair needs: for a contact, after the step, whether it is the deepest of all;
 * else whether it overlaps more than its contacts say. A depth just below the stored penetration
 * decides neither. */
static double enough_for(const search *s, double told)
{
    double stored = s->run->steps.penetration[s->run->step - 1];
    if (!s->after)
        return fmax(0, told);
    return told > -HUGE_VAL || s->run->settings.scheme->middle
               ? fmax(s->low, fmax(0, stored) * (1 - 1e-9))
               : 0;
}

/* A body more than halfway behind a face is not detected; after the step it is at most as deep as
 * the planes of its contacts predict. */
static double foreseen_depth(const search *s, group g)
{
    const check_run *run = s->run;
    const check_contacts *c = &run->contacts;
    double most = 0;
    for (int i = g.first; i < g.end && s->after; i++) {
        int j = s->contacts[i].contact, one = c->body[2 * j], two = c->body[2 * j + 1];
        vec way = vec_add(vec_add(s->x[one], -1, run->x_eval[one]), -1,
                          vec_add(s->x[two], -1, run->x_eval[two]));
        most = fmax(most, fabs(vec_dot(c->normal[j], way)) - c->gap[j]);
    }
    return most * (1 + 1e-9);
}

static void look_at_solids(search *s, int a, int b, group g)
{
    const check_contacts *c = &s->run->contacts;
    vec hints[HINTS];
    check_couple pair = { .a = a, .b = b, .x = s->x, .q = s->q, .hints = hints };
    for (int i = g.first; i < g.end && pair.hint_count < HINTS; i++) {
        int j = s->contacts[i].contact;
        pair.a = c->body[2 * j]; /* normals point from b to a */
        pair.b = c->body[2 * j + 1];
        hints[pair.hint_count++] = c->normal[j];
    }
    double told = -least_gap(s, g, (vec){ 0, 0, 0 });
    check_range found;
    pair.enough = enough_for(s, told);
    s->complete = check_overlap(s->run, &pair, &found) && s->complete;
    take(s, found.low, found.high > 0 ? found.high : foreseen_depth(s, g));
    hold_against(s, a, b, found.low, told);
}

static void look_at(void *context, int a, int b)
{
    search *s = context;
    group g = contacts_of(s, a, b);
    if (is_joined(s, a, b) || !may_meet(s->run, a, b))
        return;
    bool first = check_is_ball(s->run, a), second = check_is_ball(s->run, b);
    if ((first && look_at_ball(s, a, b, g)) || (second && look_at_ball(s, b, a, g)))
        return;
    if (!look_at_planes(s, a, b, g))
        look_at_solids(s, a, b, g);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A body and an image of another, which is put there in both arrays of positions. */
static void look_at_image(void *context, int a, int b, const int32_t k[3])
{
    search *s = context;
    check_run *run = s->run;
    vec eval = run->x_eval[b], after = run->x_after[b];
    run->x_eval[b] = vec_add(eval, 1, check_shift_eval(run, k));
    run->x_after[b] = vec_add(after, 1, check_shift_after(run, k));
    for (int i = 0; i < 3; i++)
        s->image[i] = k[i];
    look_at(s, a, b);
    run->x_eval[b] = eval;
    run->x_after[b] = after;
    for (int i = 0; i < 3; i++)
        s->image[i] = 0;
}

static bool look_for_pairs(search *s, bool after)
{
    check_run *run = s->run;
    int unknown = 0;
    s->after = after;
    s->x = after ? run->x_after : run->x_eval;
    s->q = after ? run->q_after : run->q_eval;
    s->when = after ? "after the step" : "where contacts are evaluated";
    s->low = s->high = 0;
    s->complete = true;
    check_images images = {
        .x = s->x, .after = after, .visit = look_at_image, .context = s
    };
    bool good = visit_near_pairs(run, s->x, look_at, s, &unknown) &&
                check_visit_images(run, &images);
    s->complete = s->complete && unknown == 0;
    return good;
}

static void check_penetration(const search *s)
{
    check_run *run = s->run;
    check_between(run->report, check_at(run, NULL, 0, "penetration"),
                  run->steps.penetration[run->step - 1], s->low, s->complete ? s->high : HUGE_VAL);
}

static bool look_twice(search *s)
{
    bool known = s->run->settings.linearisations ==
                 0; /* else only bodies in contact have evaluation poses */
    list_contacts(s);
    list_joined(s);
    check_groups(s->run);
    if ((known && !look_for_pairs(s, false)) || !look_for_pairs(s, true))
        return false;
    check_penetration(s);
    return true;
}

bool check_complete(check_run *run)
{
    search s = { .run = run };
    bool good = check_memory_take(&s.contacts, (size_t)run->contacts.count, sizeof *s.contacts) &&
                check_memory_take(&s.joined, (size_t)run->joints.count, sizeof *s.joined) &&
                look_twice(&s);
    check_memory_free(&s.contacts);
    check_memory_free(&s.joined);
    return good || check_fail(run->report, "no memory");
}
