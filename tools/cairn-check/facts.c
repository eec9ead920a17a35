/* facts.c - what a run says about itself, as it follows from the rest of the file; and its
 * statistics. */
#include <stdio.h>
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
    return fmax(1, round(duration / run->settings.time_step));
}

double check_length(const check_run *run, long step)
{
    const check_settings *s = &run->settings;
    return s->lengths ? run->steps.time_step[step - 1] : s->time_step;
}

/* How many steps the rows of /steps are; substeps make a part of one. Powers of 2 add up without
 * rounding. */
static double steps_done(const check_run *run)
{
    double done = 0;
    for (long i = 1; i <= run->steps.count; i++)
        done += check_length(run, i) / run->settings.time_step;
    return done;
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
        found = found || run->events.step[i] == step;
    return found;
}

/* Whether the stored steps can have ended this way; `full`: their states are known. */
static bool can_end(const check_run *run, const char *ending, bool full)
{
    char way[CHECK_TEXT];
    double rows = run->steps.count, count = steps_done(run), asked = steps_asked(run);
    if (strcmp(ending, "complete") == 0)
        return count == asked;
    if (strcmp(ending, "rest") == 0)
        return count < asked && (!full || run->slow_steps >= REST_STEPS);
    if (strcmp(ending, "event") == 0)
        return count <= asked && has_event(run, rows);
    if (strcmp(ending, "stopped") == 0)
        return rows >= 1 && count <= asked && run->steps.converged[run->steps.count - 1] == 0 &&
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

/* Frames begin with the first row, and the last one ends with the last. */
static void check_span(check_run *run, const copies *c, int part)
{
    const double *offset = c->offsets[part].value;
    check_place place = { 0, NULL, 0, offset_names[part] };
    check_same(run->report, place, offset[0], 0, 0);
    if (!run->unfinished)
        check_same(run->report, place, offset[c->frames], (double)c->groups[0][part].rows, 0);
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

/* The share of a step that a row is: 1, or, within a step that is divided, a power of 2, not below
 * the smallest and not above the last one of the same step, of which `done` is behind. */
static bool is_share(const check_run *run, double share, double done, double last)
{
    int power;
    bool small = done > 0 ? share <= last && done + share <= 1 : share <= 1;
    return share > 0 && small && frexp(share, &power) == 0.5 && share * run->settings.substeps >= 1;
}

/* Rows are numbered, and time is start + (steps done) h. Each step that is divided is whole before
 * the next one begins, so only the last one may be incomplete. */
static void check_clock(check_run *run, double start)
{
    const check_steps *t = &run->steps;
    double whole = 0, done = 0, last = 1;
    for (long i = 0; i < t->count; i++) {
        double share = check_length(run, i + 1) / run->settings.time_step;
        run->step = i + 1;
        check_true(run->report, check_at(run, NULL, 0, "time_step"),
                   is_share(run, share, done, last), "not the time step, nor a substep of it");
        done += share;
        last = share;
        whole += done >= 1;
        done = done >= 1 ? 0 : done;
        double passed = (whole + done) * run->settings.time_step;
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
    for (int part = 0; part < c.parts && good; part++)
        check_span(run, &c, part);
    for (int frame = 0; frame < c.frames && good; frame++)
        good = compare_frame(run, &c, frame);
    close_copies(&c);
    return good || check_fail(run->report, "there are no frames");
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The group /statistics: rows have the times of frames; energy, centre, height and
 * temperature are recomputed, the last three where no box is given. The others are not.
 *
 *     centre x = sum m x/sum m,   heights along -g,   temperature sum |v - u|^2/(d N), u the mean v
 *     energy: kinetic and potential of the state, works and losses summed up over the steps */

enum { COLUMNS = 10, SERIES = 4, FLOWS = 8 };

/* A series of the file: what its columns are. */
typedef struct series {
    check_group group;
    struct {
        size_t capacity;
        double *time, *column[COLUMNS];
    } rows;
    int next; /* next row to be checked */
} series;

struct check_series {
    series all[SERIES];
    double sum[FLOWS], terms[FLOWS]; /* J: works and losses so far; of their magnitudes */
};

enum { ENERGY, CENTRE, HEIGHT, TEMPERATURE };

typedef struct check_series check_series;

#define NONE offsetof(series, rows)
#define TIME                                                                                       \
    {                                                                                              \
        "time", 1, false, offsetof(series, rows.time) - NONE, false                                \
    }
static const check_field energy_fields[] = {
    TIME,
    { "kinetic", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "potential", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "entered", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "load_work", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "driver_work", 1, false, offsetof(series, rows.column[4]) - NONE, true },
    { "correction", 1, false, offsetof(series, rows.column[5]) - NONE, true },
    { "friction_loss", 1, false, offsetof(series, rows.column[6]) - NONE, true },
    { "impact_loss", 1, false, offsetof(series, rows.column[7]) - NONE, true },
    { "numerical_loss", 1, false, offsetof(series, rows.column[8]) - NONE, true },
    { "sleep_loss", 1, false, offsetof(series, rows.column[9]) - NONE, true },
};
static const check_field centre_fields[] = {
    TIME,
    { "x", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "y", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "z", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "vx", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "vy", 1, false, offsetof(series, rows.column[4]) - NONE, true },
    { "vz", 1, false, offsetof(series, rows.column[5]) - NONE, true },
    { "mass", 1, false, offsetof(series, rows.column[6]) - NONE, true },
};
static const check_field height_fields[] = {
    TIME,
    { "mean", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "top", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "bottom", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "spread", 1, false, offsetof(series, rows.column[3]) - NONE, true },
};
static const check_field temperature_fields[] = {
    TIME,
    { "temperature", 1, false, offsetof(series, rows.column[0]) - NONE, true },
    { "x", 1, false, offsetof(series, rows.column[1]) - NONE, true },
    { "y", 1, false, offsetof(series, rows.column[2]) - NONE, true },
    { "z", 1, false, offsetof(series, rows.column[3]) - NONE, true },
    { "speed", 1, false, offsetof(series, rows.column[4]) - NONE, true },
};

static const check_group groups[SERIES] = {
    [ENERGY] = { "statistics/energy", energy_fields, CHECK_COUNT(energy_fields), 3, { 0 }, 0 },
    [CENTRE] = { "statistics/centre", centre_fields, CHECK_COUNT(centre_fields), 3, { 0 }, 0 },
    [HEIGHT] = { "statistics/height", height_fields, CHECK_COUNT(height_fields), 3, { 0 }, 0 },
    [TEMPERATURE] = { "statistics/temperature",
                      temperature_fields,
                      CHECK_COUNT(temperature_fields),
                      3,
                      { 0 },
                      0 },
};

/* ---- opening -------------------------------------------------------------------------------- */

/* Whether all grains count, regardless of position. */
bool check_has_no_box(const check_run *run)
{
    double low[3] = { 0 }, high[3] = { 0 };
    check_report quiet = { 0 };
    hid_t group = H5Gopen2(run->file, "statistics", H5P_DEFAULT);
    bool none = group >= 0 && check_attribute(group, "low", 3, low, &quiet) &&
                check_attribute(group, "high", 3, high, &quiet);
    for (int k = 0; k < 3; k++)
        none = none && low[k] <= -1e30 && high[k] >= 1e30;
    if (group >= 0)
        H5Gclose(group);
    return none;
}

bool check_statistics_open(check_run *run)
{
    if (!check_has(run->file, "statistics"))
        return true;
    if (!check_memory_take(&run->series, 1, sizeof *run->series))
        return check_fail(run->report, "no memory");
    bool everywhere = check_has_no_box(run);
    for (int k = 0; k < SERIES; k++) {
        series *s = &run->series->all[k];
        if (!check_has(run->file, groups[k].name) || (k != ENERGY && !everywhere))
            continue;
        s->group = groups[k];
        if (!check_group_open(run->file, &s->group, run->report) ||
            !check_group_read(&s->group, 0, s->group.rows, &s->rows, run->report))
            return false;
    }
    return true;
}

void check_statistics_close(check_run *run)
{
    for (int k = 0; k < SERIES && run->series; k++) {
        series *s = &run->series->all[k];
        check_group_free(&s->group, &s->rows);
        check_group_close(&s->group);
    }
    check_memory_free(&run->series);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* One number of the next row; scale: of the terms that it is made of. */
static void compare(check_run *run, int k, int column, double computed, double scale)
{
    series *s = &run->series->all[k];
    const check_field *field = &s->group.fields[column + 1];
    if (s->group.dataset[column + 1] < 0)
        return;
    check_same(run->report, check_at(run, groups[k].name, s->next, field->name),
               s->rows.column[column][s->next], computed, scale);
}

/* The row of this state, if the series has one. */
static bool is_due(const check_run *run, int k)
{
    const series *s = &run->series->all[k];
    double time = run->step > 0 ? run->steps.time[run->step - 1] : run->start_time;
    return s->group.fields && s->next < s->group.rows && s->rows.time[s->next] == time;
}

/* Works and losses of the loaded step, in the order of the columns. */
static void add_flows(check_run *run)
{
    const check_steps *t = &run->steps;
    const double *columns[FLOWS] = { t->entered_energy, t->load_work,     t->driver_work,
                                     t->correction,     t->friction_loss, t->impact_loss,
                                     t->numerical_loss, t->sleep_loss };
    for (int c = 0; c < FLOWS && run->step > 0; c++) {
        run->series->sum[c] += columns[c][run->step - 1];
        run->series->terms[c] += fabs(columns[c][run->step - 1]);
    }
}

static void compare_energy(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    double size = run->start_size + (i < 0 ? 0 : fabs(t->kinetic[i]) + fabs(t->potential[i]));
    compare(run, ENERGY, 0, i < 0 ? run->start_kinetic : t->kinetic[i], size);
    compare(run, ENERGY, 1, i < 0 ? run->start_potential : t->potential[i], size);
    for (int c = 0; c < FLOWS; c++)
        compare(run, ENERGY, c + 2, run->series->sum[c], run->series->terms[c]);
}

/* Sums over the dynamic bodies of a state, and over the magnitudes of their terms. */
typedef struct grains {
    int count;
    double mass, speed, square;
    vec x, v, u; /* the last not weighted by mass */
    double x_size, v_size;
} grains;

static bool is_grain(const check_run *run, int row)
{
    int body = run->after.index[row];
    return run->bodies.motion[body] == CHECK_DYNAMIC && !check_is_servo(run, body);
}

static grains sum_up(const check_run *run)
{
    grains g = { .count = 0 };
    const check_state *s = &run->after;
    for (int i = 0; i < s->count; i++) {
        double m = run->bodies.mass[s->index[i]];
        if (!is_grain(run, i))
            continue;
        g.count++;
        g.mass += m;
        g.x = vec_add(g.x, m, s->x[i]);
        g.v = vec_add(g.v, m, s->v[i]);
        g.u = vec_add(g.u, 1, s->v[i]);
        g.x_size += m * vec_norm(s->x[i]);
        g.v_size += m * vec_norm(s->v[i]);
        g.speed += vec_norm(s->v[i]);
        g.square += vec_dot(s->v[i], s->v[i]);
    }
    return g;
}

static void compare_centre(check_run *run, const grains *g)
{
    const double numbers[] = { g->x.x, g->x.y, g->x.z, g->v.x, g->v.y, g->v.z };
    for (int c = 0; c < 6; c++)
        compare(run, CENTRE, c, numbers[c] / g->mass, (c < 3 ? g->x_size : g->v_size) / g->mass);
    compare(run, CENTRE, 6, g->mass, g->mass);
}

/* The spread as its square: near 0 the root of rounding is large. */
static void compare_height(check_run *run, const grains *g)
{
    const check_state *s = &run->after;
    vec gravity = run->settings.gravity;
    double strength = vec_norm(gravity), square = 0, terms = 0, low = INFINITY, high = -INFINITY;
    if (!(strength > 0))
        return; /* the direction up is then arbitrary */
    vec up = vec_times(-1 / strength, gravity);
    double mean = vec_dot(up, g->x) / g->mass, size = g->x_size / g->mass;
    series *mine = &run->series->all[HEIGHT];
    for (int i = 0; i < s->count; i++) {
        int body = s->index[i];
        double at = vec_dot(up, s->x[i]), m = run->bodies.mass[body];
        double r = run->bodies.shape[body] == CHECK_SPHERE ? run->bodies.radius[body] : 0;
        if (!is_grain(run, i))
            continue;
        square += m * (at - mean) * (at - mean);
        terms += m * (at * at + mean * mean);
        low = fmin(low, at - r);
        high = fmax(high, at + r);
    }
    compare(run, HEIGHT, 0, mean, size);
    compare(run, HEIGHT, 1, high, size + fabs(high));
    compare(run, HEIGHT, 2, low, size + fabs(low));
    double spread = mine->rows.column[3][mine->next];
    check_same(run->report, check_at(run, groups[HEIGHT].name, mine->next, "spread"),
               spread * spread, square / g->mass, 100 * terms / g->mass);
}

static void compare_temperature(check_run *run, const grains *g)
{
    const check_state *s = &run->after;
    double n = g->count, square[3] = { 0, 0, 0 }, size = 10 * g->square / n;
    vec u = vec_times(1 / n, g->u);
    for (int i = 0; i < s->count; i++)
        if (is_grain(run, i)) {
            vec w = vec_add(s->v[i], -1, u);
            square[0] += w.x * w.x / n;
            square[1] += w.y * w.y / n;
            square[2] += w.z * w.z / n;
        }
    compare(run, TEMPERATURE, 0, (square[0] + square[1] + square[2]) / run->settings.dimension,
            size);
    for (int c = 0; c < 3; c++)
        compare(run, TEMPERATURE, c + 1, square[c], size);
    compare(run, TEMPERATURE, 4, g->speed / n, g->speed / n);
}

void check_statistics_of(check_run *run)
{
    if (!run->series)
        return;
    grains g = sum_up(run);
    add_flows(run);
    if (is_due(run, ENERGY))
        compare_energy(run);
    if (is_due(run, CENTRE))
        compare_centre(run, &g);
    if (is_due(run, HEIGHT))
        compare_height(run, &g);
    if (is_due(run, TEMPERATURE))
        compare_temperature(run, &g);
    for (int k = 0; k < SERIES; k++)
        run->series->all[k].next += is_due(run, k);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Every row of a statistic has the time of a step, and they are in order. */
static bool check_times(check_run *run, const char *name)
{
    static const check_field field = { "time", 1, false, offsetof(check_list, value), false };
    check_list times = { 0 };
    check_group group = { name, &field, 1, 3, { 0 }, 0 };
    long step = 0;
    bool good = check_group_open(run->file, &group, run->report) &&
                check_group_read(&group, 0, group.rows, &times, run->report);
    for (int64_t i = 0; i < group.rows && good; i++) {
        while (step < run->steps.count && times.value[i] != run->start_time &&
               times.value[i] > (step > 0 ? run->steps.time[step - 1] : run->start_time))
            step++;
        double time = step > 0 ? run->steps.time[step - 1] : run->start_time;
        check_true(run->report, (check_place){ 0, name, (long)i, "time" }, times.value[i] == time,
                   "not the time of a step, or out of order");
    }
    check_group_free(&group, &times);
    check_group_close(&group);
    return good;
}

bool check_statistics(check_run *run)
{
    H5G_info_t about = { 0 };
    hid_t group = run->series ? H5Gopen2(run->file, "statistics", H5P_DEFAULT) : -1;
    bool good = true;
    if (group < 0)
        return true;
    H5Gget_info(group, &about);
    for (hsize_t i = 0; i < about.nlinks && good; i++) {
        char name[64], path[128];
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                           H5P_DEFAULT);
        snprintf(path, sizeof path, "statistics/%s", name);
        good = check_times(run, path);
    }
    H5Gclose(group);
    for (int k = 0; k < SERIES; k++)
        check_true(run->report, (check_place){ 0, NULL, 0, groups[k].name },
                   run->series->all[k].next == run->series->all[k].group.rows,
                   "it has a row without a state, or out of order");
    return good;
}
