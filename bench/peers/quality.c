/* quality.c - overlaps, approach speeds and energies of frames. Shares nothing with any engine:
 * pairs come from a plain grid of cells as wide as the largest ball. */
#include "peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cells {
    int size[3], *first, *next; /* lists of the balls in a cell, -1 at the end */
    double low[3], width;
} cells;

static void *taken(size_t count, size_t size)
{
    void *out = calloc(count ? count : 1, size);
    if (!out) {
        fprintf(stderr, "quality: there is not enough memory\n");
        exit(1);
    }
    return out;
}

static double mean_of(int count, const double *value)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += value[i];
    return sum / count;
}

static int cell_along(const cells *c, int axis, double x)
{
    int i = (int)floor((x - c->low[axis]) / c->width);
    return i < 0 ? 0 : i >= c->size[axis] ? c->size[axis] - 1 : i;
}

static int cell_of(const cells *c, const double *x)
{
    return cell_along(c, 0, x[0]) +
           c->size[0] * (cell_along(c, 1, x[1]) + c->size[1] * cell_along(c, 2, x[2]));
}

/* Cells around all balls; at most 200 per direction, so that stray balls cannot exhaust memory. */
static cells cells_create(const peer_scene *s, const double *state)
{
    cells c = { 0 };
    double high[3], width = 0;
    for (int i = 0; i < s->count; i++)
        width = fmax(width, 2 * s->radius[i]);
    for (int a = 0; a < 3; a++) {
        c.low[a] = INFINITY;
        high[a] = -INFINITY;
        for (int i = 0; i < s->count; i++) {
            c.low[a] = fmin(c.low[a], state[PEER_STATE * i + a]);
            high[a] = fmax(high[a], state[PEER_STATE * i + a]);
        }
        width = fmax(width, (high[a] - c.low[a]) / 200);
    }
    c.width = width;
    for (int a = 0; a < 3; a++)
        c.size[a] = 1 + (int)((high[a] - c.low[a]) / width);
    size_t count = (size_t)c.size[0] * (size_t)c.size[1] * (size_t)c.size[2];
    c.first = taken(count, sizeof *c.first);
    c.next = taken((size_t)s->count, sizeof *c.next);
    memset(c.first, -1, count * sizeof *c.first);
    for (int i = 0; i < s->count; i++) {
        int at = cell_of(&c, state + PEER_STATE * i);
        c.next[i] = c.first[at];
        c.first[at] = i;
    }
    return c;
}

static void cells_destroy(cells *c)
{
    free(c->first);
    free(c->next);
}

/* depth > 0 counts; `speed` is the rate at which the depth grows. */
static void note(peer_overlaps *o, double depth, double speed, double mean_radius)
{
    if (depth <= 0)
        return;
    o->largest = fmax(o->largest, depth / mean_radius);
    o->sum += depth / mean_radius;
    o->approach += speed > 0 ? speed * speed : 0;
    o->count++;
}

static void note_pair(peer_overlaps *o, const peer_scene *s, const double *state, int i, int j,
                      double mean_radius)
{
    const double *a = state + PEER_STATE * i, *b = state + PEER_STATE * j;
    double d[3], distance = 0, speed = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = b[k] - a[k];
        distance += d[k] * d[k];
        speed -= d[k] * (b[3 + k] - a[3 + k]);
    }
    distance = sqrt(distance);
    note(o, s->radius[i] + s->radius[j] - distance, distance > 0 ? speed / distance : 0,
         mean_radius);
}

/* All pairs i < j with j in the 27 cells about i. */
static void note_neighbours(peer_overlaps *o, const peer_scene *s, const double *state,
                            const cells *c, int i, double mean_radius)
{
    int at[3];
    for (int a = 0; a < 3; a++)
        at[a] = cell_along(c, a, state[PEER_STATE * i + a]);
    for (int k = 0; k < 27; k++) {
        int x = at[0] + k % 3 - 1, y = at[1] + k / 3 % 3 - 1, z = at[2] + k / 9 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= c->size[0] || y >= c->size[1] || z >= c->size[2])
            continue;
        int j = c->first[x + c->size[0] * (y + c->size[1] * z)];
        for (; j >= 0; j = c->next[j])
            if (i < j)
                note_pair(o, s, state, i, j, mean_radius);
    }
}

peer_overlaps peer_overlaps_find(const peer_scene *s, const double *state)
{
    peer_overlaps o = { 0 };
    double normal[5][3], offset[5], mean_radius = mean_of(s->count, s->radius);
    int planes = peer_scene_planes(s, normal, offset);
    cells c = cells_create(s, state);
    for (int i = 0; i < s->count; i++) {
        const double *x = state + PEER_STATE * i, *v = x + 3;
        note_neighbours(&o, s, state, &c, i, mean_radius);
        for (int p = 0; p < planes; p++) {
            const double *n = normal[p];
            double gap = n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - offset[p] - s->radius[i];
            note(&o, -gap, -(n[0] * v[0] + n[1] * v[1] + n[2] * v[2]), mean_radius);
        }
    }
    cells_destroy(&c);
    return o;
}

double peer_kinetic(const peer_scene *s, const double *state)
{
    double sum = 0, share = s->dimension == 3 ? 0.4 : 0.5; /* inertia = share m r^2 */
    for (int i = 0; i < s->count; i++) {
        const double *v = state + PEER_STATE * i + 3, *w = v + 3;
        double inertia = share * s->radius[i] * s->radius[i];
        sum += 0.5 * s->mass[i] *
               (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] +
                inertia * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
    }
    return sum;
}

double peer_potential(const peer_scene *s, const double *state)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->mass[i] * s->gravity * state[PEER_STATE * i + s->dimension - 1];
    return sum;
}

/* ---- a whole run ---------------------------------------------------------------------------- */

typedef struct summing {
    double lowest, approach, sum, kinetic;
    int pairs, settled;
} summing;

static void add_frame(const peer_scene *s, const double *frame, summing *t, peer_quality *q)
{
    peer_overlaps o = peer_overlaps_find(s, frame + 1);
    double kinetic = peer_kinetic(s, frame + 1);
    double total = kinetic + peer_potential(s, frame + 1), height = 0;
    for (int i = 0; i < s->count; i++)
        height += frame[1 + PEER_STATE * i + s->dimension - 1] / s->count;
    q->energy_rise = fmax(q->energy_rise, total - t->lowest);
    t->lowest = fmin(t->lowest, total);
    q->overlap_worst = fmax(q->overlap_worst, 100 * o.largest);
    q->height = height;
    q->frames++;
    if (frame[0] <= 0.75 * s->steps * s->time_step)
        return;
    q->overlap_max = fmax(q->overlap_max, 100 * o.largest);
    t->sum += 100 * o.sum;
    t->approach += o.approach;
    t->pairs += o.count;
    t->kinetic += kinetic;
    t->settled++;
}

/* Sums become means, in the units of peer.h. */
static void finish(const peer_scene *s, const summing *t, peer_quality *q)
{
    double mass = s->count * mean_of(s->count, s->mass);
    double unit = mass * s->gravity * mean_of(s->count, s->radius);
    double pairs = t->pairs ? t->pairs : 1;
    q->overlap_mean = t->sum / pairs;
    q->approach = sqrt(t->approach / pairs) / (s->gravity * s->time_step);
    q->kinetic = t->kinetic / (t->settled ? t->settled : 1) / unit;
    q->energy_rise /= unit;
}

peer_quality peer_quality_of(const peer_scene *s, const char *frames)
{
    peer_quality q = { 0 };
    summing t = { .lowest = INFINITY };
    size_t count = 1 + PEER_STATE * (size_t)s->count;
    double *frame = taken(count, sizeof *frame);
    FILE *file = fopen(frames, "rb");
    while (file && fread(frame, sizeof *frame, count, file) == count)
        add_frame(s, frame, &t, &q);
    if (!file || q.frames < 2) {
        fprintf(stderr, "quality: %s: cannot be read, or has no frames\n", frames);
        exit(1);
    }
    fclose(file);
    free(frame);
    finish(s, &t, &q);
    return q;
}
