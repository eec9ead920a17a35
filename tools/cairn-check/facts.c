/* facts.c - what a run says about itself, as it follows from the rest of the file: how it ended,
 * which place in the world its bodies had, their volumes, the accuracy of distances. */
#include <string.h>

#include "run.h"

enum { REST_STEPS = 10 }; /* docs/run-format.md: at rest means slow for so many steps */

static const double PI = 3.14159265358979323846;

/* The largest residual of a distance that docs/collision.md allows. */
static const double DISTANCE_PROMISE = 1e-3;

/* ---- the end -------------------------------------------------------------------------------- */

static bool number(const check_run *run, const char *name, double *out)
{
    check_report quiet = { 0 };
    return check_attribute(run->file, name, 1, out, &quiet);
}

static bool text(const check_run *run, const char *name, char out[CHECK_TEXT])
{
    check_report quiet = { 0 };
    out[0] = '\0';
    return check_attribute_text(run->file, name, out, CHECK_TEXT, &quiet);
}

/* The steps that the duration asks for: the nearest whole number, at least 1. */
static double steps_asked(const check_run *run)
{
    double duration = 0;
    number(run, "duration", &duration);
    return fmax(1, round(duration / run->settings.h));
}

void check_slowness(check_run *run)
{
    double speed = 0;
    const check_state *s = &run->after;
    bool slow = number(run, "rest_speed", &speed) && speed > 0;
    for (int i = 0; i < s->count && slow; i++)
        slow = run->bodies.motion[s->index[i]] != CHECK_DYNAMIC || vec_norm(s->v[i]) <= speed;
    run->slow_steps = slow ? run->slow_steps + 1 : 0;
}

/* Whether the steps that are there can have ended so; `full`: their states are known. */
static bool can_end(const check_run *run, const char *ending, bool full)
{
    char way[CHECK_TEXT];
    double count = run->steps.count, asked = steps_asked(run);
    if (strcmp(ending, "complete") == 0)
        return count == asked;
    if (strcmp(ending, "rest") == 0)
        return count < asked && (!full || run->slow_steps >= REST_STEPS);
    if (strcmp(ending, "stopped") == 0)
        return count >= 1 && count <= asked && run->steps.converged[run->steps.count - 1] == 0 &&
               text(run, "on_uncertified", way) && strcmp(way, "stop") == 0;
    return count <= asked && (strcmp(ending, "interrupted") == 0 || strcmp(ending, "failed") == 0 ||
                              strcmp(ending, "unfinished") == 0);
}

void check_ending(check_run *run, bool full)
{
    char ending[CHECK_TEXT], message[CHECK_TEXT];
    check_place place = { 0, NULL, 0, "ending" };
    if (!text(run, "ending", ending))
        return; /* a file older than endings */
    bool over = strcmp(ending, "unfinished") != 0, known = text(run, "message", message);
    bool wrong = strcmp(ending, "stopped") == 0 || strcmp(ending, "failed") == 0;
    check_true(run->report, place, can_end(run, ending, full),
               "the steps that are there do not end like that, by the duration and the states");
    check_true(run->report, place, over == (H5Aexists(run->file, "hash") > 0),
               "a run that ended has a hash, and no other");
    if (known && over)
        check_true(run->report, (check_place){ 0, NULL, 0, "message" },
                   wrong == (message[0] != '\0'), "a run that ended like that says otherwise");
}

/* ---- names of bodies ------------------------------------------------------------------------ */

void check_uids(check_run *run)
{
    const check_state *s = &run->after;
    const double *uid = run->bodies.uid;
    for (int i = 0; i < s->count && check_has(run->file, "bodies/uid"); i++)
        check_true(run->report, check_at(run, "body", s->index[i], "uid"),
                   uid[s->index[i]] >= 0 && (i == 0 || uid[s->index[i]] > uid[s->index[i - 1]]),
                   "the uids of bodies do not rise");
}

/* The body of the loaded step of that uid; -1: there is none. */
static int body_at(const check_run *run, double uid)
{
    for (int i = 0; i < run->after.count; i++)
        if (run->bodies.uid[run->after.index[i]] == uid)
            return run->after.index[i];
    return -1;
}

/* A distance that has to be searched for: not that of balls from each other or from a wall. */
static bool has_no_formula(const check_run *run, const int body[2])
{
    bool simple = true;
    for (int side = 0; side < 2; side++)
        simple = simple && (body[side] < 0 || run->bodies.shape[body[side]] < CHECK_BOX);
    return !simple;
}

void check_distance_of(check_run *run)
{
    const double *pair = run->steps.distance_body + 2 * (run->step - 1);
    double distance = run->steps.distance[run->step - 1];
    if (!check_has(run->file, "steps/distance_body"))
        return;
    check_between(run->report, check_at(run, NULL, 0, "distance"), distance, 0, DISTANCE_PROMISE);
    bool none = pair[0] == -1 && pair[1] == -1;
    int body[2] = { body_at(run, pair[0]), body_at(run, pair[1]) };
    check_true(run->report, check_at(run, NULL, 0, "distance_body"),
               none ? distance == 0
                    : body[0] >= 0 && body[1] >= 0 && pair[0] != pair[1] &&
                          has_no_formula(run, body),
               "not a pair whose distance has to be searched for");
}

/* ---- volumes -------------------------------------------------------------------------------- */

/* What a body or a part of a compound is. */
typedef struct solid {
    int shape, geometry;
    double radius, height, length, rounding;
    const double *exponents;
    vec size, semi_axes;
} solid;

static double ball(double r, bool flat)
{
    return flat ? PI * r * r : 4.0 / 3 * PI * r * r * r;
}

/* A box smaller by r on all sides, and what a ball of radius r adds to it (Steiner): with the half
 * sides a, b, c of the core 8abc + 8r(ab + bc + ca) + 2 pi r^2 (a + b + c) + 4/3 pi r^3. */
static double box(vec size, double r, bool flat)
{
    double a = size.x / 2 - r, b = size.y / 2 - r, c = size.z / 2 - r;
    if (flat)
        return 4 * a * b + 4 * r * (a + b) + PI * r * r;
    return 8 * a * b * c + 8 * r * (a * b + b * c + c * a) + 2 * PI * r * r * (a + b + c) +
           ball(r, false);
}

/* |x/a|^e + |y/b|^e <= (1 - |z/c|^f)^(e/f), f = e where it is 0: the area of the section at z = 0,
 * and the integral of its share over z, both Beta functions. */
static double superellipsoid(const solid *s, bool flat)
{
    double e = s->exponents[0], f = s->exponents[1] > 0 ? s->exponents[1] : e;
    double g = tgamma(1 + 1 / e);
    double area = 4 * s->semi_axes.x * s->semi_axes.y * g * g / tgamma(1 + 2 / e);
    double share = 2 * s->semi_axes.z * tgamma(1 + 1 / f) * tgamma(1 + 2 / f) / tgamma(1 + 3 / f);
    return flat ? area : area * share;
}

/* By the divergence theorem: the sum of the tetrahedra (2D: triangles) of the origin and faces. */
static double enclosed(const check_geometries *g, const check_geometry *row, bool flat)
{
    double sum = 0;
    for (int face = 0; face < row->faces; face++) {
        vec a = check_corner(g, row, face, 0);
        if (flat) {
            vec b = check_corner(g, row, face, 1);
            sum += (a.x * b.y - a.y * b.x) / 2;
        }
        for (int k = 2; k < check_corner_count(g, row, face) && !flat; k++)
            sum += vec_dot(a, vec_cross(check_corner(g, row, face, k - 1),
                                        check_corner(g, row, face, k))) /
                   6;
    }
    return sum;
}

static bool volume_of(const check_run *run, const solid *s, double *out);

static bool of_parts(const check_run *run, const check_geometry *row, double *out)
{
    const check_part_list *p = &run->geometries.parts;
    *out = 0;
    for (int i = row->first_part; i < row->first_part + row->parts; i++) {
        double part;
        const solid s = { p->shape[i],          p->geometry[i], p->radius[i],
                          p->height[i],         p->length[i],   p->rounding[i],
                          p->exponents + 2 * i, p->size[i],     p->semi_axes[i] };
        if (p->shape[i] == CHECK_COMPOUND || !volume_of(run, &s, &part))
            return false;
        *out += part;
    }
    return true;
}

/* Hulls that are rounded, and what has no inside or outside here, are left alone. */
static bool of_geometry(const check_run *run, const solid *s, double *out)
{
    const check_geometries *g = &run->geometries;
    bool flat = run->settings.dimension == 2;
    if (s->geometry < 0 || s->geometry >= g->count)
        return false;
    const check_geometry *row = &g->rows[s->geometry];
    if (s->shape == CHECK_COMPOUND)
        return of_parts(run, row, out);
    if (s->rounding > 0 || (s->shape != CHECK_HULL && (s->shape != CHECK_MESH || !row->closed)))
        return false;
    *out = enclosed(g, row, flat);
    return true;
}

static bool volume_of(const check_run *run, const solid *s, double *out)
{
    bool flat = run->settings.dimension == 2;
    double r = s->radius, section = flat ? 2 * r : PI * r * r;
    vec a = s->semi_axes;
    *out = 0;
    switch (s->shape) {
    case CHECK_SPHERE:
        *out = ball(r, flat);
        return true;
    case CHECK_POINT:
    case CHECK_HALF_SPACE:
    case CHECK_CYLINDER:
    case CHECK_CONE:
    case CHECK_FUNNEL:
    case CHECK_INSIDE_BOX:
        return true;
    case CHECK_BOX:
        *out = box(s->size, s->rounding, flat);
        return true;
    case CHECK_CAPSULE:
        *out = section * s->length + ball(r, flat);
        return true;
    case CHECK_SOLID_CYLINDER:
        *out = PI * r * r * s->height;
        return true;
    case CHECK_SOLID_CONE:
        *out = PI * r * r * s->height / 3;
        return true;
    case CHECK_ELLIPSOID:
        *out = flat ? PI * a.x * a.y : 4.0 / 3 * PI * a.x * a.y * a.z;
        return true;
    case CHECK_SUPERELLIPSOID:
        *out = superellipsoid(s, flat);
        return true;
    default:
        return of_geometry(run, s, out);
    }
}

void check_volumes(check_run *run)
{
    const check_bodies *b = &run->bodies;
    for (int i = 0; i < b->count && check_has(run->file, "bodies/volume"); i++) {
        double volume;
        const solid s = { b->shape[i],          b->geometry[i], b->radius[i],
                          b->height[i],         b->length[i],   b->rounding[i],
                          b->exponents + 2 * i, b->size[i],     b->semi_axes[i] };
        check_place place = { 0, "body", i, "volume" };
        if (volume_of(run, &s, &volume)) /* integrals of many terms: a thousand roundings */
            check_same(run->report, place, b->volume[i], volume, 1e3 * fabs(volume));
        else
            check_true(run->report, place, b->volume[i] >= 0, "it is negative");
    }
}
