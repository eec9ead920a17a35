/* checkpoint.c - the file from which a run is resumed, see output.h.
 *
 * Layout: "cairn checkpoint", the version, the length of the body, the body, and a checksum of
 * everything before it. Numbers are encoded as in base/bytes.h. Each part has a write function and
 * a read function, which must treat the same values in the same order; a change of either needs a
 * new version, and docs/checkpoints.md must follow.
 *
 * Reading trusts nothing: counts are checked against the bytes that are left, and numbers that
 * become indices against their ranges. A reader that failed returns zeros, so checks can wait until
 * the end of a part. */
#include "run/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "run/run_file.h"
#include "run/together.h"
#include "scene/stages.h"

enum { HEAD = 32, PLACE = 24 }; /* bytes: before the body; of a position */

static const cairn_seal seal = { "cairn checkpoint", 10, "checkpoint" };

/* ---- the scene ------------------------------------------------------------------------------ */

/* Events with their state: whether they happened, and since when it is quiet. */
static void write_events(cairn_writer *w, const cairn_scene *s)
{
    cairn_write_whole(w, s->event_count);
    for (int i = 0; i < s->event_count; i++) {
        const cairn_event *e = &s->events[i];
        cairn_write_whole(w, (int64_t)e->kind);
        cairn_write_record(w, cairn_event_record((int)e->kind), e);
        cairn_write_whole(w, e->body);
        cairn_write_whole(w, e->outlet);
        cairn_write_whole(w, (int64_t)e->action);
        cairn_write_whole(w, e->target);
        cairn_write_text(w, e->file);
        cairn_write_whole(w, e->step);
        cairn_write_real(w, e->time);
        cairn_write_real(w, e->since);
    }
}

static void read_event(cairn_reader *r, cairn_event *e)
{
    int kind = (int)cairn_read_within(r, 0, CAIRN_EVENT_COUNT - 1);
    cairn_event_record(kind)->set_default(e);
    e->kind = (cairn_event_kind)kind;
    cairn_read_record(r, cairn_event_record(kind), e);
    e->body = cairn_read_within(r, -1, INT64_MAX);
    e->outlet = (int)cairn_read_within(r, -1, INT32_MAX);
    e->action = (cairn_action)cairn_read_within(r, 0, CAIRN_ACTION_COUNT - 1);
    e->target = cairn_read_within(r, -1, INT64_MAX);
    e->file = cairn_read_text(r);
    e->step = cairn_read_within(r, -1, INT64_MAX);
    e->time = cairn_read_real(r);
    e->since = cairn_read_real(r);
    /* the name becomes that of a file */
    r->failed = r->failed ||
                (e->action == CAIRN_ACTION_SAVE_STATE && (!e->file || !cairn_is_word(e->file)));
}

static void read_events(cairn_reader *r, cairn_scene *s)
{
    size_t count = cairn_read_count(r, 8);
    s->events = cairn_arena_take(r->arena, count, sizeof *s->events);
    r->failed = r->failed || (count > 0 && !s->events);
    for (size_t i = 0; i < count && !r->failed; i++)
        read_event(r, &s->events[i]);
    s->event_count = r->failed ? 0 : (int)count;
}

/* ---- series --------------------------------------------------------------------------------- */

static void write_probe(cairn_writer *w, const cairn_probe *p)
{
    cairn_write_whole(w, p->joint);
    cairn_write_whole(w, p->body_count);
    for (int i = 0; i < p->body_count; i++)
        cairn_write_whole(w, (int64_t)p->bodies[i]);
    cairn_write_whole(w, p->material);
    cairn_write_whole(w, p->group);
    cairn_write_whole(w, p->boxed);
    cairn_write_vector(w, p->low);
    cairn_write_vector(w, p->high);
    cairn_write_whole(w, p->about_point);
    cairn_write_vector(w, p->about);
}

static void read_probe(cairn_reader *r, cairn_probe *p)
{
    p->joint = cairn_read_within(r, -1, INT32_MAX);
    size_t count = cairn_read_count(r, 8);
    uint64_t *uids = cairn_arena_take(r->arena, count, sizeof *uids);
    r->failed = r->failed || (count > 0 && !uids) || count > INT32_MAX;
    for (size_t i = 0; i < count && !r->failed; i++)
        uids[i] = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    p->bodies = uids;
    p->body_count = r->failed ? 0 : (int)count;
    p->material = cairn_read_within(r, -1, INT32_MAX);
    p->group = cairn_read_within(r, -1, 30);
    p->boxed = cairn_read_within(r, 0, 1) != 0;
    p->low = cairn_read_vector(r);
    p->high = cairn_read_vector(r);
    p->about_point = cairn_read_within(r, 0, 1) != 0;
    p->about = cairn_read_vector(r);
}

static void write_series(cairn_writer *w, const cairn_scene *s)
{
    cairn_write_whole(w, s->series_count);
    for (int i = 0; i < s->series_count; i++) {
        cairn_write_text(w, s->series[i].name);
        cairn_write_real(w, s->series[i].interval);
        write_probe(w, &s->step.probes[i]);
    }
}

/* Names become those of files. */
static void read_series(cairn_reader *r, cairn_scene *s)
{
    size_t count = cairn_read_count(r, 8);
    cairn_force_series *series = cairn_arena_take(r->arena, count, sizeof *series);
    cairn_probe *probes = cairn_arena_take(r->arena, count, sizeof *probes);
    r->failed = r->failed || count > CAIRN_MOST_PROBES || (count > 0 && (!series || !probes));
    for (size_t i = 0; i < count && !r->failed; i++) {
        series[i].name = cairn_read_text(r);
        series[i].interval = cairn_read_real(r);
        read_probe(r, &probes[i]);
        r->failed = r->failed || !series[i].name || !cairn_is_word(series[i].name) ||
                    strlen(series[i].name) > 40 || !(series[i].interval >= 0);
    }
    s->series = series;
    s->step.probes = probes;
    s->series_count = s->step.probe_count = r->failed ? 0 : (int)count;
}

/* ---- the scene as a whole ------------------------------------------------------------------- */

/* The scene is stored, not read again from its file, which may have changed since. Options are
 * stored by name, through their tables. */
static void write_scene(cairn_writer *w, const cairn_scene *s)
{
    cairn_write_text(w, s->title);
    cairn_write_text(w, s->text);
    cairn_scene_write_names(w, s->material_names, s->material_count);
    cairn_scene_write_names(w, s->body_names, s->body_count);
    cairn_write_real(w, s->overlap);
    cairn_write_record(w, cairn_step_record(), &s->step);
    cairn_write_record(w, cairn_run_record(), &s->run);
    cairn_write_record(w, cairn_measure_record(), &s->measure);
    cairn_scene_write_names(w, s->inlet_names, s->inlet_count);
    cairn_scene_write_names(w, s->outlet_names, s->outlet_count);
    write_events(w, s);
    write_series(w, s);
}

/* Options start from their defaults: reading sets those that the file has. */
static void read_scene(cairn_reader *r, cairn_scene *s)
{
    const char *title = cairn_read_text(r);
    snprintf(s->title, sizeof s->title, "%s", title ? title : "");
    s->text = cairn_read_text(r);
    s->material_names = cairn_scene_read_names(r, &s->material_count);
    s->body_names = cairn_scene_read_names(r, &s->body_count);
    s->overlap = cairn_read_real(r);
    s->step = cairn_step_options_default();
    s->run = cairn_run_options_default();
    cairn_read_record(r, cairn_step_record(), &s->step);
    s->measure = cairn_measure_options_default();
    cairn_read_record(r, cairn_run_record(), &s->run);
    cairn_read_record(r, cairn_measure_record(), &s->measure);
    s->inlet_names = cairn_scene_read_names(r, &s->inlet_count);
    s->outlet_names = cairn_scene_read_names(r, &s->outlet_count);
    read_events(r, s);
    read_series(r, s);
}

/* ---- totals --------------------------------------------------------------------------------- */

/* The members of the summary by type. Three lists of offsets are shared by writing and reading, so
 * the two cannot disagree. Members that cairn_run's last stage computes (hash, packing,
 * displacement) are not stored. */
static const size_t wholes[] = {
    offsetof(cairn_run_summary, steps),
    offsetof(cairn_run_summary, frames),
    offsetof(cairn_run_summary, uncertified),
    offsetof(cairn_run_summary, first_uncertified),
    offsetof(cairn_run_summary, problems),
    offsetof(cairn_run_summary, bodies),
    offsetof(cairn_run_summary, repeated),
    offsetof(cairn_run_summary, max_iterations),
    offsetof(cairn_run_summary, missed.count),
    offsetof(cairn_run_summary, missed.last),
    offsetof(cairn_run_summary, joints),
    offsetof(cairn_run_summary, broken),
    offsetof(cairn_run_summary, woken),
    offsetof(cairn_run_summary, changed),
    offsetof(cairn_run_summary, overlap_step),
    offsetof(cairn_run_summary, deep_steps),
    offsetof(cairn_run_summary, missed_problems),
    offsetof(cairn_run_summary, impacts),
    offsetof(cairn_run_summary, impacts_left),
    offsetof(cairn_run_summary, impacts_left_steps),
    offsetof(cairn_run_summary, impacts_reduced),
    offsetof(cairn_run_summary, impacts_reduced_steps),
    offsetof(cairn_run_summary, energy_made_steps),
    offsetof(cairn_run_summary, first_energy_made),
    offsetof(cairn_run_summary, distance_body[0]),
    offsetof(cairn_run_summary, distance_body[1]),
    offsetof(cairn_run_summary, overlap_body[0]),
    offsetof(cairn_run_summary, overlap_body[1]),
    offsetof(cairn_run_summary, resident),
    offsetof(cairn_run_summary, divided),
    offsetof(cairn_run_summary, substeps),
    offsetof(cairn_run_summary, finest),
};
static const size_t ints[] = {
    offsetof(cairn_run_summary, max_candidates),
    offsetof(cairn_run_summary, max_active),
    offsetof(cairn_run_summary, max_upgraded),
    offsetof(cairn_run_summary, max_asleep),
    offsetof(cairn_run_summary, max_impact_rounds),
    offsetof(cairn_run_summary, worst.judgement.asked.worst_contact),
    offsetof(cairn_run_summary, worst.judgement.coulomb.worst_contact),
};
static const size_t reals[] = {
    offsetof(cairn_run_summary, time),
    offsetof(cairn_run_summary, wall_seconds),
    offsetof(cairn_run_summary, mean_candidates),
    offsetof(cairn_run_summary, mean_active),
    offsetof(cairn_run_summary, mean_upgraded),
    offsetof(cairn_run_summary, mean_asleep),
    offsetof(cairn_run_summary, mean_iterations),
    offsetof(cairn_run_summary, initial_energy),
    offsetof(cairn_run_summary, write_seconds),
    offsetof(cairn_run_summary, energy_made),
    offsetof(cairn_run_summary, overlap),
    offsetof(cairn_run_summary, lift_speed),
    offsetof(cairn_run_summary, lift_height),
};
static const struct {
    const cairn_report_entries *entries;
    size_t offset;
} entries[] = {
    { &cairn_certificate_entries, offsetof(cairn_run_summary, worst) },
    { &cairn_certificate_entries, offsetof(cairn_run_summary, mean) },
    { &cairn_energy_entries, offsetof(cairn_run_summary, energy) },
    { &cairn_timing_entries, offsetof(cairn_run_summary, timing) },
};

/* The reported quantities of a struct, in the order of their table. */
static void write_entries(cairn_writer *w, const cairn_report_entries *table, const void *record)
{
    for (int k = 0; k < table->count; k++)
        cairn_write_real(w, cairn_report_entry_get(&table->items[k], record));
}

static void read_entries(cairn_reader *r, const cairn_report_entries *table, void *record)
{
    for (int k = 0; k < table->count; k++)
        cairn_report_entry_set(&table->items[k], record, cairn_read_real(r));
}

static void write_summary(cairn_writer *w, const cairn_run_summary *s)
{
    const char *at = (const char *)s;
    int64_t whole;
    int number;
    double real;
    for (int i = 0; i < CAIRN_COUNT(wholes); i++) {
        memcpy(&whole, at + wholes[i], sizeof whole);
        cairn_write_whole(w, whole);
    }
    for (int i = 0; i < CAIRN_COUNT(ints); i++) {
        memcpy(&number, at + ints[i], sizeof number);
        cairn_write_whole(w, number);
    }
    for (int i = 0; i < CAIRN_COUNT(reals); i++) {
        memcpy(&real, at + reals[i], sizeof real);
        cairn_write_real(w, real);
    }
    for (int i = 0; i < CAIRN_COUNT(entries); i++)
        write_entries(w, entries[i].entries, at + entries[i].offset);
    for (int i = 0; i < CAIRN_RUN_MOST_SPANS; i++) {
        cairn_write_whole(w, s->missed.span[i][0]);
        cairn_write_whole(w, s->missed.span[i][1]);
    }
}

static void read_summary(cairn_reader *r, cairn_run_summary *s)
{
    char *at = (char *)s;
    for (int i = 0; i < CAIRN_COUNT(wholes); i++) {
        int64_t whole = cairn_read_whole(r);
        memcpy(at + wholes[i], &whole, sizeof whole);
    }
    for (int i = 0; i < CAIRN_COUNT(ints); i++) {
        int number = (int)cairn_read_within(r, -1, INT32_MAX);
        memcpy(at + ints[i], &number, sizeof number);
    }
    for (int i = 0; i < CAIRN_COUNT(reals); i++) {
        double real = cairn_read_real(r);
        memcpy(at + reals[i], &real, sizeof real);
    }
    for (int i = 0; i < CAIRN_COUNT(entries); i++)
        read_entries(r, entries[i].entries, at + entries[i].offset);
    for (int i = 0; i < CAIRN_RUN_MOST_SPANS; i++) {
        s->missed.span[i][0] = cairn_read_whole(r);
        s->missed.span[i][1] = cairn_read_whole(r);
    }
    /* Counts that are used as indices or lengths later. */
    r->failed = r->failed || s->steps < 0 || s->frames < 0 || s->missed.count < 0;
}

/* All entries of arrays are written, used or not, so that the length is fixed. */
static void write_extent(cairn_writer *w, const cairn_run_extent *e)
{
    cairn_write_whole(w, e->steps);
    cairn_write_whole(w, e->frames);
    cairn_write_whole(w, e->bodies);
    cairn_write_whole(w, e->joints);
    for (int i = 0; i < CAIRN_MOST_NAMES; i++)
        cairn_write_whole(w, e->statistics[i]);
    write_entries(w, &cairn_energy_entries, &e->totals);
    for (int i = 0; i < CAIRN_MOST_PROBES; i++) {
        const cairn_probe_reading *sum = &e->series[i].sum;
        cairn_write_whole(w, e->series[i].rows);
        cairn_write_real(w, e->series[i].steps);
        cairn_write_vector(w, sum->force);
        cairn_write_vector(w, sum->torque);
        cairn_write_real(w, sum->work);
    }
}

static void read_extent(cairn_reader *r, cairn_run_extent *e)
{
    e->steps = cairn_read_within(r, 0, INT64_MAX);
    e->frames = cairn_read_within(r, 0, INT64_MAX);
    e->bodies = cairn_read_within(r, 0, INT64_MAX);
    e->joints = cairn_read_within(r, 0, INT64_MAX);
    for (int i = 0; i < CAIRN_MOST_NAMES; i++)
        e->statistics[i] = cairn_read_within(r, 0, INT64_MAX);
    read_entries(r, &cairn_energy_entries, &e->totals);
    for (int i = 0; i < CAIRN_MOST_PROBES; i++) {
        cairn_probe_reading *sum = &e->series[i].sum;
        e->series[i].rows = cairn_read_within(r, 0, INT64_MAX);
        e->series[i].steps = cairn_read_real(r);
        sum->force = cairn_read_vector(r);
        sum->torque = cairn_read_vector(r);
        sum->work = cairn_read_real(r);
    }
}

/* Positions of bodies at the start: where they are, and how many. */
static const unsigned char *find_places(cairn_reader *r, int64_t *count)
{
    const unsigned char *at;
    *count = (int64_t)cairn_read_count(r, PLACE);
    at = r->failed ? NULL : r->data + r->at;
    r->at += (size_t)*count * PLACE;
    return at;
}

/* One entry more than needed is allocated, so that NULL always means that memory ran out. */
static cairn_status read_places(const unsigned char *data, int64_t count, cairn_run_marks *m)
{
    cairn_reader r = { .data = data, .size = (size_t)count * PLACE };
    m->places = cairn_memory_zeroed((size_t)count + 1, sizeof *m->places);
    if (!m->places)
        return CAIRN_NO_MEMORY;
    m->place_count = (int)count;
    for (int64_t i = 0; i < count; i++)
        m->places[i] = cairn_read_vector(&r);
    return CAIRN_OK;
}

/* All but the positions at the start, which follow. */
static void write_marks(cairn_writer *w, const cairn_run_marks *m)
{
    write_summary(w, &m->summary);
    cairn_write_real(w, m->start);
    cairn_write_real(w, m->next_frame);
    cairn_write_whole(w, m->stored);
    cairn_write_whole(w, m->slow_steps);
    write_extent(w, &m->extent);
    cairn_write_whole(w, m->place_count);
}

static void read_marks(cairn_reader *r, cairn_run_marks *m)
{
    *m = (cairn_run_marks){ .team = m->team };
    /* the means have no worst contact; these two are not in the tables, and -1 means none */
    m->summary.mean.judgement.asked.worst_contact = -1;
    m->summary.mean.judgement.coulomb.worst_contact = -1;
    read_summary(r, &m->summary);
    m->start = cairn_read_real(r);
    m->next_frame = cairn_read_real(r);
    m->stored = cairn_read_within(r, -1, INT64_MAX);
    m->slow_steps = cairn_read_within(r, 0, INT32_MAX);
    read_extent(r, &m->extent);
}

/* ---- the output ----------------------------------------------------------------------------- */

/* The ParaView series: times of the frames, the files with their walls and shapes, and the box of
 * the walls. The polygons of the walls are not stored: if the walls change, all of them are drawn
 * again, and if not, frames refer to the file that exists. */
static void write_paraview(cairn_writer *w, const cairn_run_paraview *p)
{
    cairn_write_whole(w, (int64_t)p->count);
    for (size_t i = 0; i < p->count; i++) {
        cairn_write_real(w, p->times[i].time);
        cairn_write_whole(w, p->wall_times[i].number);
    }
    cairn_write_whole(w, (int64_t)p->shape_count);
    for (size_t i = 0; i < p->shape_count; i++)
        cairn_write_whole(w, p->shape_times[i].number);
    cairn_write_whole(w, (int64_t)p->without_balls);
    cairn_write_whole(w, p->joints);
    cairn_write_whole(w, p->walls.box.filled);
    cairn_write_vector(w, p->walls.box.low);
    cairn_write_vector(w, p->walls.box.high);
    cairn_write_whole(w, (int64_t)p->walls.count);
}

/* A frame can only refer to walls that were written with it or before it, and to a shape file of an
 * existing frame. */
static cairn_status read_times(cairn_reader *r, cairn_run_paraview *p)
{
    size_t frames = cairn_read_count(r, 16);
    TRY(cairn_run_paraview_reserve(p, frames));
    for (size_t i = 0; i < frames; i++) {
        double time = cairn_read_real(r);
        int64_t wall = cairn_read_within(r, 0, (int64_t)i);
        p->times[i] = (cairn_vtk_moment){ time, (int64_t)i };
        p->wall_times[i] = (cairn_vtk_moment){ time, wall };
    }
    p->count = frames;
    p->shape_count = (size_t)cairn_read_within(r, 0, (int64_t)frames);
    for (size_t i = 0; i < p->shape_count && !r->failed; i++) {
        int64_t number = cairn_read_within(r, 0, (int64_t)frames - 1);
        p->shape_times[i] = (cairn_vtk_moment){ p->times[number].time, number };
    }
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

static cairn_status read_paraview(cairn_reader *r, cairn_run_paraview *p)
{
    TRY(read_times(r, p));
    p->without_balls = (size_t)cairn_read_within(r, 0, (int64_t)p->count);
    p->joints = cairn_read_within(r, 0, 1) != 0;
    p->walls.box.filled = cairn_read_within(r, 0, 1) != 0;
    p->walls.box.low = cairn_read_vector(r);
    p->walls.box.high = cairn_read_vector(r);
    p->walls.count = (size_t)cairn_read_within(r, 0, INT32_MAX);
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* The part of the output that is only in memory; the files themselves are described by the
 * extent. */
static void write_output(cairn_writer *w, const cairn_run_output *o)
{
    cairn_write_whole(w, o->frames);
    cairn_write_whole(w, o->problems.written);
    cairn_write_whole(w, o->problems.missed);
    cairn_write_whole(w, o->problems.bytes);
    cairn_write_whole(w, o->roll.count);
    cairn_write_whole(w, o->roll.joints);
    for (int32_t i = 0; i < o->roll.count; i++)
        cairn_write_whole(w, (int64_t)o->roll.uids[i]);
    write_paraview(w, &o->paraview);
}

/* Rows are found by bisection, so the uids must increase. */
static cairn_status read_roll(cairn_reader *r, cairn_run_roll *roll)
{
    void *block = NULL;
    size_t count = cairn_read_count(r, 8);
    roll->joints = (int)cairn_read_within(r, 0, INT32_MAX);
    r->failed = r->failed || count > INT32_MAX;
    TRY(cairn_memory_reserve(&block, &roll->capacity, r->failed ? 0 : count, sizeof *roll->uids));
    roll->uids = block;
    for (size_t i = 0; i < count && !r->failed; i++) {
        roll->uids[i] = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
        r->failed = r->failed || (i > 0 && roll->uids[i] <= roll->uids[i - 1]);
    }
    roll->count = r->failed ? 0 : (int32_t)count;
    return CAIRN_OK;
}

static cairn_status read_output(cairn_reader *r, cairn_run_output *o)
{
    o->frames = cairn_read_within(r, 0, INT64_MAX);
    o->problems.written = cairn_read_within(r, 0, INT64_MAX);
    o->problems.missed = cairn_read_within(r, 0, INT64_MAX);
    o->problems.bytes = cairn_read_within(r, 0, INT64_MAX);
    TRY(read_roll(r, &o->roll));
    return read_paraview(r, &o->paraview);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void add_places(const cairn_vec3 *places, int64_t count, void *file)
{
    enum { BLOCK = 4096 };
    for (int64_t i = 0; i < count; i += BLOCK) {
        cairn_writer w = { 0 };
        for (int64_t k = i; k < count && k < i + BLOCK; k++)
            cairn_write_vector(&w, places[k]);
        cairn_sealing_add(file, w.data, w.size); /* without memory bytes are missing at the end */
        cairn_writer_destroy(&w);
    }
}

/* What is in memory, before and after the positions at the start. */
typedef struct composed {
    cairn_writer before, after;
} composed;

static cairn_status write_all(const char *path, const composed *c, const cairn_run_marks *marks,
                              const cairn_saver *saver, cairn_error *error)
{
    cairn_sealing file;
    int64_t bytes;
    cairn_writer size = { 0 };
    TRY(cairn_saver_bytes(saver, &bytes));
    int64_t length = (int64_t)(c->before.size + (size_t)marks->place_count * PLACE + c->after.size +
                               sizeof bytes) +
                     bytes;
    TRY(cairn_sealing_begin(path, &seal, length, &file, error));
    cairn_write_whole(&size, bytes);
    cairn_sealing_add(&file, c->before.data, c->before.size);
    cairn_status status = CAIRN_OK;
    if (marks->places)
        add_places(marks->places, marks->place_count, &file);
    else if (marks->place_count > 0)
        status = cairn_team_places(marks->team, add_places, &file);
    cairn_sealing_add(&file, c->after.data, c->after.size);
    cairn_sealing_add(&file, size.data, size.size);
    if (status == CAIRN_OK)
        status = cairn_saver_write(saver, &file);
    cairn_writer_destroy(&size);
    return cairn_sealing_end(&file, status, error);
}

/* The file is written under a temporary name, synced and renamed: a crash leaves either the old
 * checkpoint or the new one. The world comes last and takes all bytes that are left before the
 * checksum. */
cairn_status cairn_checkpoint_write(const char *folder, const cairn_scene *scene,
                                    const cairn_run_marks *marks, const cairn_run_output *output,
                                    cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    composed c = { .before = { 0 } };
    const cairn_saver saver = cairn_team_saver(marks->team, scene);
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    write_scene(&c.before, scene);
    write_marks(&c.before, marks);
    write_output(&c.after, output);
    cairn_status status = c.before.failed || c.after.failed
                              ? CAIRN_NO_MEMORY
                              : write_all(path, &c, marks, &saver, error);
    cairn_writer_destroy(&c.before);
    cairn_writer_destroy(&c.after);
    return status;
}

cairn_status cairn_checkpoint_remove(const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    /* a missing file or folder means that there is no checkpoint */
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return CAIRN_OK;
    cairn_status status =
        cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot remove: %s", strerror(errno));
    cairn_error_set_file(error, path);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The world must fill the rest of the body exactly. */
static cairn_status find_world(cairn_reader *r, const unsigned char **data, size_t *bytes)
{
    *bytes = cairn_read_count(r, 1);
    *data = r->data + r->at;
    return r->failed || *bytes != r->size - r->at ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* Callback of cairn_world_save. */
static cairn_status append(const void *data, size_t bytes, void *context)
{
    cairn_write_raw(context, data, bytes);
    return CAIRN_OK;
}

/* For other processes, which need no marks and write no files. */
cairn_status cairn_scene_pack(const cairn_scene *scene, cairn_writer *out)
{
    write_scene(out, scene);
    TRY(cairn_world_save_plain(scene->world, append, out));
    return out->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

cairn_status cairn_scene_unpack(const void *data, size_t bytes, cairn_scene **out,
                                cairn_error *error)
{
    cairn_arena *arena;
    TRY(cairn_scene_create(out, &arena));
    cairn_reader r = { .data = data, .size = bytes, .arena = arena };
    read_scene(&r, *out);
    cairn_status status =
        r.failed ? CAIRN_BAD_INPUT
                 : cairn_world_load(r.data + r.at, r.size - r.at, &(*out)->world, error);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_scene_destroy(*out);
    *out = NULL;
    return status;
}

/* The scene, the positions at the start of a range of uids, and the share of the world. */
cairn_status cairn_share_pack(const cairn_team *team, const cairn_scene *scene, int member,
                              cairn_writer *out)
{
    const cairn_scene_saved *saved = &scene->shared->saved;
    int64_t begin = (int64_t)member * saved->place_count / team->link->members;
    int64_t end = ((int64_t)member + 1) * saved->place_count / team->link->members;
    write_scene(out, scene);
    cairn_write_whole(out, saved->place_count);
    cairn_write_whole(out, end - begin);
    cairn_write_raw(out, saved->places + (size_t)begin * PLACE, (size_t)(end - begin) * PLACE);
    TRY(cairn_saved_cut(&saved->world, team->link, member, append, out));
    return out->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status read_share(cairn_team *team, cairn_reader *r, cairn_scene *scene,
                               cairn_error *error)
{
    cairn_run_marks marks = { .start = 0 };
    int64_t count;
    read_scene(r, scene);
    team->window.uids = cairn_read_within(r, 0, INT32_MAX);
    const unsigned char *places = find_places(r, &count);
    if (r->failed)
        return CAIRN_BAD_INPUT;
    TRY(read_places(places, count, &marks));
    team->window.place = marks.places;
    return cairn_world_load_share(r->data + r->at, r->size - r->at, team->link, &scene->world,
                                  error);
}

cairn_status cairn_share_unpack(cairn_team *team, const void *data, size_t bytes,
                                cairn_error *error)
{
    cairn_arena *arena;
    TRY(cairn_scene_create(&team->copy, &arena));
    cairn_reader r = { .data = data, .size = bytes, .arena = arena };
    return read_share(team, &r, team->copy, error);
}

/* A run that several processes go on with, and of which none needs all bodies: the file stays
 * open until they have their shares. */
static cairn_status survey(cairn_reader *r, cairn_scene *scene, const cairn_team *team,
                           cairn_error *error)
{
    const unsigned char *data;
    size_t bytes;
    TRY(find_world(r, &data, &bytes));
    scene->shared = cairn_memory_zeroed(1, sizeof *scene->shared);
    if (!scene->shared)
        return CAIRN_NO_MEMORY;
    /* without dynamic bodies, cells lack their walls: such a world is read as a whole, which also
     * tells what is wrong with the bytes, if anything is */
    cairn_error unread;
    cairn_status status = cairn_world_survey(data, bytes, &scene->world,
                                             &scene->shared->saved.world, error ? &unread : NULL);
    if (status == CAIRN_OK && cairn_team_can_spread(team, scene))
        return CAIRN_OK;
    cairn_world_destroy(scene->world);
    scene->world = NULL;
    cairn_memory_free(scene->shared);
    scene->shared = NULL;
    return CAIRN_OK;
}

static cairn_status read_all(cairn_reader *r, cairn_scene *scene, cairn_run_marks *marks,
                             cairn_run_output *output, cairn_error *error)
{
    int64_t count;
    const unsigned char *data;
    size_t bytes;
    read_scene(r, scene);
    read_marks(r, marks);
    const unsigned char *places = find_places(r, &count);
    TRY(r->failed ? CAIRN_BAD_INPUT : read_output(r, output));
    size_t at = r->at;
    if (marks->team && marks->team->ranks && marks->team->ranks->members > 1)
        TRY(survey(r, scene, marks->team, error));
    if (scene->shared) {
        scene->shared->saved.places = places;
        scene->shared->saved.place_count = count;
        return CAIRN_OK;
    }
    r->at = at;
    TRY(read_places(places, count, marks));
    TRY(find_world(r, &data, &bytes));
    return cairn_world_load(data, bytes, &scene->world, error);
}

static cairn_status read_data(const cairn_mapped *file, cairn_scene **scene, cairn_run_marks *marks,
                              cairn_run_output *output, cairn_error *error)
{
    cairn_arena *arena;
    cairn_reader r = { 0 };
    TRY(cairn_seal_open(file->data, file->bytes, &seal, &r, error));
    TRY(cairn_scene_create(scene, &arena));
    r.arena = arena;
    cairn_status status = read_all(&r, *scene, marks, output, error);
    /* Readers only set a flag; the position where reading stopped is the best description there
     * is. */
    if (status == CAIRN_BAD_INPUT && error && !error->message[0])
        cairn_fail(error, status, NULL, "the checkpoint is damaged near byte %zu", r.at + HEAD);
    return status;
}

/* On failure the scene is destroyed here; marks and output, which may be half filled, belong to the
 * caller and are freed with the run. */
cairn_status cairn_checkpoint_read(const char *folder, cairn_scene **scene, cairn_run_marks *marks,
                                   cairn_run_output *output, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_mapped file;
    *scene = NULL;
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    TRY(cairn_file_map(path, &file, error));
    cairn_status status = read_data(&file, scene, marks, output, error);
    if (status == CAIRN_OK && (*scene)->shared)
        (*scene)->shared->saved.file = file;
    else
        cairn_file_unmap(&file);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_error_set_file(error, path);
    cairn_scene_destroy(*scene);
    *scene = NULL;
    return status;
}
