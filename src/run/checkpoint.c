/* checkpoint.c - see checkpoint.h. The file: "cairn checkpoint", version and length of what
 * follows, that, and the check sum of all before it. Numbers as in base/bytes.h. */
#include "io/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/count.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/run_table.h"
#include "io/scene_build.h"

enum { VERSION = 5, HEAD = 32, SUM = 8 };

static const char MAGIC[17] = "cairn checkpoint";

/* ---- the scene ------------------------------------------------------------------------------ */

static void write_names(cairn_writer *w, const char *const *names, int count)
{
    int there = names ? count : 0;
    cairn_write_whole(w, there);
    for (int i = 0; i < there; i++)
        cairn_write_text(w, names[i]);
}

static const char *const *read_names(cairn_reader *r, int *count)
{
    size_t n = cairn_read_count(r, 8);
    const char **names = cairn_arena_take(r->arena, n, sizeof *names);
    r->failed = r->failed || !names;
    for (size_t i = 0; i < n && !r->failed; i++)
        names[i] = cairn_read_text(r);
    *count = r->failed ? 0 : (int)n;
    return names;
}

static void write_scene(cairn_writer *w, const cairn_scene *s)
{
    cairn_write_text(w, s->title);
    cairn_write_text(w, s->text);
    write_names(w, s->material_names, s->material_count);
    write_names(w, s->body_names, s->body_count);
    cairn_write_real(w, s->overlap);
    cairn_write_record(w, cairn_step_record(), &s->step);
    cairn_write_record(w, cairn_run_record(), &s->run);
    cairn_write_record(w, cairn_measure_record(), &s->measure);
}

static void read_scene(cairn_reader *r, cairn_scene *s)
{
    const char *title = cairn_read_text(r);
    snprintf(s->title, sizeof s->title, "%s", title ? title : "");
    s->text = cairn_read_text(r);
    s->material_names = read_names(r, &s->material_count);
    s->body_names = read_names(r, &s->body_count);
    s->overlap = cairn_read_real(r);
    s->step = cairn_step_options_default();
    s->run = cairn_run_options_default();
    cairn_read_record(r, cairn_step_record(), &s->step);
    s->measure = cairn_measure_options_default();
    cairn_read_record(r, cairn_run_record(), &s->run);
    cairn_read_record(r, cairn_measure_record(), &s->measure);
}

/* ---- totals --------------------------------------------------------------------------------- */

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
    offsetof(cairn_run_summary, overlap_step),
    offsetof(cairn_run_summary, deep_steps),
    offsetof(cairn_run_summary, missed_problems),
    offsetof(cairn_run_summary, impacts),
    offsetof(cairn_run_summary, impacts_left),
    offsetof(cairn_run_summary, impacts_left_steps),
    offsetof(cairn_run_summary, distance_body[0]),
    offsetof(cairn_run_summary, distance_body[1]),
    offsetof(cairn_run_summary, overlap_body[0]),
    offsetof(cairn_run_summary, overlap_body[1]),
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
    offsetof(cairn_run_summary, overlap),
    offsetof(cairn_run_summary, lift_speed),
    offsetof(cairn_run_summary, lift_height),
};
static const struct {
    const cairn_entries *entries;
    size_t offset;
} entries[] = {
    { &cairn_certificate_entries, offsetof(cairn_run_summary, worst) },
    { &cairn_certificate_entries, offsetof(cairn_run_summary, mean) },
    { &cairn_energy_entries, offsetof(cairn_run_summary, energy) },
    { &cairn_timing_entries, offsetof(cairn_run_summary, timing) },
};

static void write_entries(cairn_writer *w, const cairn_entries *table, const void *record)
{
    for (int k = 0; k < table->count; k++)
        cairn_write_real(w, cairn_entry_get(&table->items[k], record));
}

static void read_entries(cairn_reader *r, const cairn_entries *table, void *record)
{
    for (int k = 0; k < table->count; k++)
        cairn_entry_set(&table->items[k], record, cairn_read_real(r));
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
    r->failed = r->failed || s->steps < 0 || s->frames < 0 || s->missed.count < 0;
}

static void write_extent(cairn_writer *w, const cairn_run_extent *e)
{
    cairn_write_whole(w, e->steps);
    cairn_write_whole(w, e->frames);
    cairn_write_whole(w, e->bodies);
    cairn_write_whole(w, e->joints);
    for (int i = 0; i < CAIRN_MOST_NAMES; i++)
        cairn_write_whole(w, e->statistics[i]);
    write_entries(w, &cairn_energy_entries, &e->totals);
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
}

/* Where bodies were at the start. */
static cairn_status read_places(cairn_reader *r, cairn_run_marks *m)
{
    size_t count = cairn_read_count(r, 3 * sizeof(double));
    if (r->failed)
        return CAIRN_BAD_INPUT;
    m->places = cairn_memory_zeroed(count + 1, sizeof *m->places);
    if (!m->places)
        return CAIRN_NO_MEMORY;
    m->place_count = (int)count;
    for (size_t i = 0; i < count; i++)
        m->places[i] = cairn_read_vector(r);
    return CAIRN_OK;
}

static void write_marks(cairn_writer *w, const cairn_run_marks *m)
{
    write_summary(w, &m->summary);
    cairn_write_real(w, m->start);
    cairn_write_real(w, m->next_frame);
    cairn_write_whole(w, m->stored);
    cairn_write_whole(w, m->slow_steps);
    write_extent(w, &m->extent);
    cairn_write_whole(w, m->place_count);
    for (int i = 0; i < m->place_count; i++)
        cairn_write_vector(w, m->places[i]);
}

static cairn_status read_marks(cairn_reader *r, cairn_run_marks *m)
{
    *m = (cairn_run_marks){ .start = 0 };
    m->summary.mean.judgement.asked.worst_contact = -1;
    m->summary.mean.judgement.coulomb.worst_contact = -1;
    read_summary(r, &m->summary);
    m->start = cairn_read_real(r);
    m->next_frame = cairn_read_real(r);
    m->stored = cairn_read_within(r, -1, INT64_MAX);
    m->slow_steps = cairn_read_within(r, 0, INT32_MAX);
    read_extent(r, &m->extent);
    return read_places(r, m);
}

/* ---- the output ----------------------------------------------------------------------------- */

/* The times of the frames, the files that show walls and shapes, and the box of the walls. */
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

static cairn_status append(const void *data, size_t bytes, void *context)
{
    cairn_write_whole(context, (int64_t)bytes);
    cairn_write_raw(context, data, bytes);
    return CAIRN_OK;
}

/* The length is known, and put into its place, when all is there. */
static cairn_status fill(cairn_writer *w, const cairn_scene *scene, const cairn_run_marks *marks,
                         const cairn_run_output *output)
{
    cairn_write_raw(w, MAGIC, 16);
    cairn_write_whole(w, VERSION);
    cairn_write_whole(w, 0);
    write_scene(w, scene);
    write_marks(w, marks);
    write_output(w, output);
    TRY(cairn_world_save(scene->world, append, w));
    cairn_rewrite_whole(w, HEAD - 8, (int64_t)w->size - HEAD);
    cairn_write_whole(w, w->failed ? 0 : (int64_t)cairn_bytes_check(w->data, w->size));
    return w->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

cairn_status cairn_checkpoint_write(const char *folder, const cairn_scene *scene,
                                    const cairn_run_marks *marks, const cairn_run_output *output,
                                    cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    cairn_writer w = { 0 };
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    cairn_status status = fill(&w, scene, marks, output);
    if (status == CAIRN_OK)
        status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK) {
        fwrite(w.data, 1, w.size, file.stream);
        status = cairn_file_commit_durable(&file, error);
    }
    cairn_writer_destroy(&w);
    return status;
}

cairn_status cairn_checkpoint_remove(const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return CAIRN_OK;
    cairn_status status =
        cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot remove: %s", strerror(errno));
    cairn_error_set_file(error, path);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* What the file is, before anything in it is believed. */
static cairn_status check(const unsigned char *data, size_t bytes, cairn_error *error)
{
    cairn_reader head = { .data = data, .size = bytes, .at = 16 };
    if (bytes < HEAD + SUM || memcmp(data, MAGIC, 16) != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "this is not a checkpoint");
    int64_t version = cairn_read_whole(&head), length = cairn_read_whole(&head);
    if (version != VERSION)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the checkpoint has version %lld, expected %d: it was written by another "
                          "version of cairn",
                          (long long)version, VERSION);
    if (length < 0 || (uint64_t)length != bytes - HEAD - SUM)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the checkpoint is damaged: found %zu bytes, expected %lld", bytes,
                          (long long)length + HEAD + SUM);
    head.at = bytes - SUM;
    uint64_t sum = (uint64_t)cairn_read_whole(&head), found = cairn_bytes_check(data, bytes - SUM);
    if (sum != found)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the checkpoint is damaged: its check sum is %016llx, expected %016llx",
                          (unsigned long long)found, (unsigned long long)sum);
    return CAIRN_OK;
}

static cairn_status read_world(cairn_reader *r, cairn_scene *scene, cairn_error *error)
{
    size_t bytes = cairn_read_count(r, 1);
    if (r->failed || bytes != r->size - r->at)
        return CAIRN_BAD_INPUT;
    return cairn_world_load(r->data + r->at, bytes, &scene->world, error);
}

static cairn_status read_all(cairn_reader *r, cairn_scene *scene, cairn_run_marks *marks,
                             cairn_run_output *output, cairn_error *error)
{
    read_scene(r, scene);
    TRY(read_marks(r, marks));
    TRY(read_output(r, output));
    return read_world(r, scene, error);
}

static cairn_status read_data(const unsigned char *data, size_t bytes, cairn_scene **scene,
                              cairn_run_marks *marks, cairn_run_output *output, cairn_error *error)
{
    cairn_arena *arena;
    TRY(check(data, bytes, error));
    TRY(cairn_scene_create(scene, &arena));
    cairn_reader r = { .data = data + HEAD, .size = bytes - HEAD - SUM, .arena = arena };
    cairn_status status = read_all(&r, *scene, marks, output, error);
    if (status == CAIRN_BAD_INPUT && error && !error->message[0])
        cairn_fail(error, status, NULL, "the checkpoint is damaged near byte %zu", r.at + HEAD);
    return status;
}

cairn_status cairn_checkpoint_read(const char *folder, cairn_scene **scene, cairn_run_marks *marks,
                                   cairn_run_output *output, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    void *data;
    size_t bytes;
    *scene = NULL;
    TRY(cairn_path_join(folder, "checkpoint", path, error));
    TRY(cairn_file_read(path, &data, &bytes, error));
    cairn_status status = read_data(data, bytes, scene, marks, output, error);
    cairn_memory_free(data);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_error_set_file(error, path);
    cairn_scene_destroy(*scene);
    *scene = NULL;
    return status;
}
