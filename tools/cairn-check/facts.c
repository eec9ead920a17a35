/* facts.c - what a run says about itself, as it follows from the rest of the file. */
#include <string.h>

#include "run.h"

/* ---- facts ----------------------------------------------------------------------------------- */

/* How the run ended, the uids and volumes of its bodies, the accuracy of distances. */

enum { REST_STEPS = 10 }; /* docs/run-format.md: at rest means slow for this many steps */

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

/* The number of steps in the duration: the nearest whole number, at least 1. */
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

/* Whether an event happened after a step. */
static bool has_event(const check_run *run, double step)
{
    bool found = false;
    for (int64_t i = 0; i < run->event_count; i++)
        found = found || run->events.value[i] == step;
    return found;
}

/* Whether the stored steps can have ended this way; `full`: their states are known. */
static bool can_end(const check_run *run, const char *ending, bool full)
{
    char way[CHECK_TEXT];
    double count = run->steps.count, asked = steps_asked(run);
    if (strcmp(ending, "complete") == 0)
        return count == asked;
    if (strcmp(ending, "rest") == 0)
        return count < asked && (!full || run->slow_steps >= REST_STEPS);
    if (strcmp(ending, "event") == 0)
        return count <= asked && has_event(run, count);
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
               "the steps that are there do not end this way, by the duration and the states");
    check_true(run->report, place, over == (H5Aexists(run->file, "hash") > 0),
               "a run has a hash if it ended, and only then");
    if (known && over)
        check_true(run->report, (check_place){ 0, NULL, 0, "message" },
                   wrong == (message[0] != '\0'), "the message does not fit this ending");
}

/* ---- names of bodies ------------------------------------------------------------------------ */

void check_uids(check_run *run)
{
    const check_state *s = &run->after;
    const double *uid = run->bodies.uid;
    for (int i = 0; i < s->count && check_has(run->file, "bodies/uid"); i++)
        check_true(run->report, check_at(run, "body", s->index[i], "uid"),
                   uid[s->index[i]] >= 0 && (i == 0 || uid[s->index[i]] > uid[s->index[i - 1]]),
                   "the uids of the bodies are not in ascending order");
}

/* The body of the loaded step of that uid; -1: there is none. */
static int body_at(const check_run *run, double uid)
{
    for (int i = 0; i < run->after.count; i++)
        if (run->bodies.uid[run->after.index[i]] == uid)
            return run->after.index[i];
    return -1;
}

/* Whether a distance is found by iteration: not between balls, or a ball and a wall. */
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
               "not a pair whose distance is found by iteration");
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

/* Rounded hulls, and shapes without an inside, are not checked. */
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

/* ---- frames ---------------------------------------------------------------------------------- */

/* /frames repeats states and contacts of /certificate, bit for bit. */

/* What is repeated; contacts, which may be missing, last. */
enum { BODIES, JOINTS, CONTACTS, PARTS };

/* A frame, and the same step of the certificate. */
typedef struct copies {
    check_group groups[2][PARTS]; /* frame and certificate */
    check_list time, step, offsets[PARTS];
    int frames, parts; /* parts: that exist */
    union {
        check_state state;
        check_joint_states joint;
        check_contacts contact;
    } rows[2][PARTS];
} copies;

static const char *const offset_names[PARTS] = { "body_offset", "joint_offset", "contact_offset" };
static const int certificate_parts[PARTS] = { CHECK_BODIES, CHECK_JOINTS, CHECK_CONTACTS };

static bool read_list(check_run *run, const char *name, check_list *out, int expected)
{
    check_field field = { name, 1, false, offsetof(check_list, value) };
    check_group group = { "frames", &field, 1, 3, { 0 }, 0 };
    bool good = check_group_open(run->file, &group, run->report) &&
                check_group_read(&group, 0, group.rows, out, run->report);
    if (good && expected >= 0 && group.rows != expected)
        good = check_fail(run->report, "/frames/%s has %lld rows, expected %d", name,
                          (long long)group.rows, expected);
    else if (good && expected < 0)
        good = group.rows > 0 || check_fail(run->report, "there are no frames");
    check_group_close(&group);
    return good;
}

static bool open_copies(check_run *run, copies *c)
{
    int d = run->settings.dimension;
    hid_t steps = H5Dopen2(run->file, "frames/step", H5P_DEFAULT);
    hid_t space = steps >= 0 ? H5Dget_space(steps) : -1;
    c->frames = space >= 0 ? (int)H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0)
        H5Sclose(space);
    if (steps >= 0)
        H5Dclose(steps);
    c->groups[0][BODIES] = check_state_group("frames/bodies", d);
    c->groups[0][JOINTS] = check_joint_group("frames/joints", d, false);
    c->groups[0][CONTACTS] = check_contact_group("frames/contacts", d);
    c->groups[1][BODIES] = check_state_group("certificate/bodies", d);
    c->groups[1][JOINTS] = check_joint_group("certificate/joints", d, false);
    c->groups[1][CONTACTS] = check_contact_group("certificate/contacts", d);
    c->parts = check_has(run->file, "frames/contacts") ? PARTS : CONTACTS;
    for (int part = 0; part < c->parts; part++)
        if (!check_group_open(run->file, &c->groups[0][part], run->report) ||
            !check_group_open(run->file, &c->groups[1][part], run->report) ||
            !read_list(run, offset_names[part], &c->offsets[part], c->frames + 1))
            return false;
    return read_list(run, "time", &c->time, c->frames) &&
           read_list(run, "step", &c->step, c->frames);
}

static void close_copies(copies *c)
{
    for (int from = 0; from < 2; from++)
        for (int part = 0; part < PARTS; part++) {
            check_group_free(&c->groups[from][part], &c->rows[from][part]);
            check_group_close(&c->groups[from][part]);
        }
    check_memory_free(&c->time.value);
    check_memory_free(&c->step.value);
    for (int part = 0; part < PARTS; part++)
        check_memory_free(&c->offsets[part].value);
}

/* Column by column, number by number. */
static void compare_rows(check_run *run, const copies *c, int part, int frame, int64_t rows)
{
    const check_group *group = &c->groups[0][part];
    for (int i = 0; i < group->count; i++) {
        const check_field *field = &group->fields[i];
        int width = check_width(group, field);
        if (group->dataset[i] < 0)
            continue;
        const void *numbers[2];
        for (int from = 0; from < 2; from++)
            memcpy(&numbers[from], (const char *)&c->rows[from][part] + field->offset,
                   sizeof numbers[from]);
        check_place place = { run->step, "frame", frame, field->name };
        for (int64_t k = 0; k < rows * width; k++) {
            const int32_t *p = numbers[0], *q = numbers[1];
            const double *x = numbers[0], *y = numbers[1];
            check_same(run->report, place, field->integer ? p[k] : x[k],
                       field->integer ? q[k] : y[k], 0);
        }
    }
}

/* `entry` is the place of the step in the offsets of the certificate. */
static bool compare_part(check_run *run, copies *c, int part, int frame, long entry)
{
    const double *mine = c->offsets[part].value + frame;
    const double *theirs = run->offsets[certificate_parts[part]].value + entry;
    int64_t rows = (int64_t)(mine[1] - mine[0]);
    check_place place = { run->step, "frame", frame, offset_names[part] };
    check_same(run->report, place, mine[1] - mine[0], theirs[1] - theirs[0], 0);
    if (mine[1] - mine[0] != theirs[1] - theirs[0])
        return true;
    if (!check_group_read(&c->groups[0][part], (int64_t)mine[0], rows, &c->rows[0][part],
                          run->report) ||
        !check_group_read(&c->groups[1][part], (int64_t)theirs[0], rows, &c->rows[1][part],
                          run->report))
        return false;
    compare_rows(run, c, part, frame, rows);
    return true;
}

/* The first frame is the state before the first step; it has no contacts. */
static bool compare_frame(check_run *run, copies *c, int frame)
{
    double step = c->step.value[frame], last = frame > 0 ? c->step.value[frame - 1] : -1;
    check_place place = { 0, "frame", frame, "step" };
    bool known = step >= 0 && step <= run->steps.count && step == floor(step);
    bool good = known && step > last && (frame > 0 || step == 0);
    check_true(run->report, place, good, "not a step, or out of order");
    if (!good)
        return true;
    run->step = (long)step;
    place = (check_place){ run->step, "frame", frame, "time" };
    double time = c->time.value[0];
    check_same(run->report, place, c->time.value[frame],
               step > 0 ? run->steps.time[run->step - 1] : time, 0);
    if (!compare_part(run, c, BODIES, frame, run->step) ||
        !compare_part(run, c, JOINTS, frame, run->step))
        return false;
    if (c->parts == CONTACTS)
        return true;
    if (step > 0)
        return compare_part(run, c, CONTACTS, frame, run->step - 1);
    check_same(run->report, place, c->offsets[CONTACTS].value[1], 0, 0);
    return true;
}

/* Steps are numbered, and time is start + step h. */
static void check_clock(check_run *run, double start)
{
    const check_steps *t = &run->steps;
    for (long i = 0; i < t->count; i++) {
        double passed = (double)(i + 1) * run->settings.h;
        run->step = i + 1;
        check_same(run->report, check_at(run, NULL, 0, "step"), t->step[i], (double)(i + 1), 0);
        check_same(run->report, check_at(run, NULL, 0, "time"), t->time[i], start + passed,
                   fabs(start) + passed);
    }
}

bool check_frames(check_run *run)
{
    copies c = { .frames = 0 };
    bool good = open_copies(run, &c) && c.frames > 0;
    if (good)
        run->start_time = c.time.value[0];
    if (good)
        check_clock(run, c.time.value[0]);
    for (int frame = 0; frame < c.frames && good; frame++)
        good = compare_frame(run, &c, frame);
    close_copies(&c);
    return good || check_fail(run->report, "there are no frames");
}
