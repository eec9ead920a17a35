/* frames.c - /frames repeats states and contacts that /certificate holds: bit by bit. */
#include <string.h>

#include "memory.h"
#include "run.h"

/* What is repeated; contacts, which may be missing, last. */
enum { BODIES, JOINTS, CONTACTS, PARTS };

/* A frame, and the same step of the certificate. */
typedef struct copies {
    check_group groups[2][PARTS]; /* frame and certificate */
    check_list time, step, offsets[PARTS];
    int frames, parts; /* parts: that are there */
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
    check_true(run->report, place, good, "not a step in order");
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
