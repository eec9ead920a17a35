/* start.c - the state of a scene as a file, and scenes that start from such a state.
 *
 * The file has the names of materials, bodies, inlets and outlets and the whole world with the
 * impulses of its last step, so that a scene that changes nothing continues with the same bits.
 * Layout: a head and a checksum as in base/bytes.h, and between them the names and the world,
 * numbers as there.
 *
 * A start at an earlier time takes the poses and velocities from the frame of that time in run.h5
 * and everything else from the state. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "cairn/joint.h"
#include "file/hdf5.h"
#include "scene/stages.h"

static const cairn_seal seal = { "cairn state", 1, "state" };

/* ---- names ---------------------------------------------------------------------------------- */

/* NULL, a scene without names, is written as an empty list. */
void cairn_scene_write_names(cairn_writer *w, const char *const *names, int count)
{
    int there = names ? count : 0;
    cairn_write_whole(w, there);
    for (int i = 0; i < there; i++)
        cairn_write_text(w, names[i]);
}

/* A text has at least 8 bytes, those of its length, which bounds the number of texts. */
const char **cairn_scene_read_names(cairn_reader *r, int *count)
{
    size_t n = cairn_read_count(r, 8);
    const char **names = cairn_arena_take(r->arena, n, sizeof *names);
    r->failed = r->failed || !names;
    for (size_t i = 0; i < n && !r->failed; i++)
        names[i] = cairn_read_text(r);
    *count = r->failed ? 0 : (int)n;
    return names;
}

/* ---- the file ------------------------------------------------------------------------------- */

cairn_status cairn_saver_bytes(const cairn_saver *saver, int64_t *out)
{
    if (saver->call)
        saver->call(saver->context, false);
    return cairn_world_saved_bytes(saver->world, out);
}

static cairn_status append(const void *data, size_t bytes, void *context)
{
    cairn_sealing_add(context, data, bytes);
    return CAIRN_OK;
}

cairn_status cairn_saver_write(const cairn_saver *saver, cairn_sealing *file)
{
    if (saver->call)
        saver->call(saver->context, true);
    return cairn_world_save(saver->world, append, file);
}

/* The world takes the rest of the body. */
cairn_status cairn_state_save(const cairn_scene *scene, const cairn_saver *saver, const char *path,
                              cairn_error *error)
{
    cairn_writer names = { 0 };
    cairn_sealing file;
    int64_t bytes;
    TRY(cairn_saver_bytes(saver, &bytes));
    cairn_scene_write_names(&names, scene->material_names, scene->material_count);
    cairn_scene_write_names(&names, scene->body_names, scene->body_count);
    cairn_scene_write_names(&names, scene->inlet_names, scene->inlet_count);
    cairn_scene_write_names(&names, scene->outlet_names, scene->outlet_count);
    cairn_status status =
        names.failed ? CAIRN_NO_MEMORY
                     : cairn_sealing_begin(path, &seal, (int64_t)names.size + bytes, &file, error);
    if (status == CAIRN_OK) {
        cairn_sealing_add(&file, names.data, names.size);
        status = cairn_sealing_end(&file, cairn_saver_write(saver, &file), error);
    }
    cairn_writer_destroy(&names);
    return status;
}

cairn_status cairn_state_write(const cairn_scene *scene, const char *path, cairn_error *error)
{
    return cairn_state_save(scene, &(cairn_saver){ .world = scene->world }, path, error);
}

/* Names for `count` objects of the world and `more` of the scene, and a final NULL. A state that a
 * program wrote may have fewer names than objects: the others are "". */
static cairn_status extend_names(cairn_scene_build *b, const char ***names, int *named, int count,
                                 int more)
{
    size_t room = (size_t)count + (size_t)more + 1;
    const char **all = cairn_arena_take(b->arena, room, sizeof *all);
    if (!all)
        return cairn_scene_no_memory(b);
    for (int i = 0; i < (int)room; i++)
        all[i] = i >= count ? NULL : i < *named && (*names)[i] ? (*names)[i] : "";
    *names = all;
    *named = count;
    return CAIRN_OK;
}

/* The number of entries of a list of the scene. */
static int entries_of(const cairn_scene_build *b, const char *key)
{
    const cairn_yaml_node *list = cairn_yaml_find(b->tree.root, key);
    return list ? list->count : 0;
}

cairn_status cairn_scene_make_names(cairn_scene_build *b)
{
    cairn_scene *s = b->scene;
    TRY(extend_names(b, &b->inlet_names, &s->inlet_count, cairn_world_inlet_count(s->world),
                     entries_of(b, "generators")));
    TRY(extend_names(b, &b->outlet_names, &s->outlet_count, cairn_world_outlet_count(s->world),
                     entries_of(b, "outlets")));
    s->inlet_names = b->inlet_names;
    s->outlet_names = b->outlet_names;
    return CAIRN_OK;
}

/* Names of bodies refer to uids; there cannot be more of them than the world has made, but a longer
 * list does no harm. Materials must be as many as the world has. */
static cairn_status read_body(cairn_scene_build *b, cairn_reader *r, cairn_error *error)
{
    int materials, bodies;
    cairn_material_def unused;
    b->material_names = cairn_scene_read_names(r, &materials);
    b->body_names = cairn_scene_read_names(r, &bodies);
    b->inlet_names = cairn_scene_read_names(r, &b->scene->inlet_count);
    b->outlet_names = cairn_scene_read_names(r, &b->scene->outlet_count);
    if (r->failed)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the state is damaged in its names");
    TRY(cairn_world_load(r->data + r->at, r->size - r->at, &b->scene->world, error));
    bool fits =
        cairn_material_get(b->scene->world, materials, &unused) != CAIRN_OK &&
        (materials == 0 || cairn_material_get(b->scene->world, materials - 1, &unused) == CAIRN_OK);
    for (int i = 0; i < materials; i++)
        fits = fits && b->material_names[i];
    if (!fits)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the state is damaged: its materials and their names do not agree");
    b->scene->material_count = materials;
    b->scene->body_count = b->state_names = b->name_room = bodies;
    return CAIRN_OK;
}

static cairn_status read_state(cairn_scene_build *b, const char *path, cairn_error *error)
{
    void *data;
    size_t bytes;
    TRY(cairn_file_read(path, &data, &bytes, error));
    cairn_reader r = { .arena = b->arena };
    cairn_status status = cairn_seal_open(data, bytes, &seal, &r, error);
    if (status == CAIRN_OK)
        status = read_body(b, &r, error);
    cairn_memory_free(data);
    return status;
}

/* ---- which file ----------------------------------------------------------------------------- */

/* The state file of a run folder, or the file itself. */
static cairn_status find_state(cairn_scene_build *b, const cairn_yaml_node *node, char *path)
{
    char found[80];
    cairn_yaml_describe(node, found, sizeof found);
    if (node->kind != CAIRN_YAML_SCALAR || cairn_yaml_is_null(node) || !node->text[0])
        return cairn_yaml_fail(node, NULL, b->error,
                               "found %s, expected the folder of a run, or its file 'state'",
                               found);
    if (!cairn_is_folder(node->text)) {
        if (cairn_is_file(node->text) && strlen(node->text) < CAIRN_PATH_BYTES) {
            snprintf(path, CAIRN_PATH_BYTES, "%s", node->text);
            return CAIRN_OK;
        }
        return cairn_yaml_fail(node, NULL, b->error,
                               "there is no folder %s; expected the folder of a run, as 'cairn run "
                               "--out' names it",
                               found);
    }
    TRY(cairn_path_join(node->text, "state", path, b->error));
    if (cairn_is_file(path))
        return CAIRN_OK;
    return cairn_yaml_fail(node, NULL, b->error,
                           "the folder %s has no file 'state': a run writes it at its end, unless "
                           "it has run.state: false",
                           found);
}

/* ---- an earlier time ------------------------------------------------------------------------ */

/* The bodies of one frame. */
typedef struct frame {
    double time;
    int64_t first, count;                    /* rows of frames/bodies */
    const int32_t *index;                    /* rows of /bodies       */
    cairn_hdf5_numbers uid;                  /* by row of /bodies     */
    const double *x, *q, *angle, *v, *omega; /* of the frame's bodies */
} frame;

/* The number of the frame at a time, which must be stored to within half a time step. */
static cairn_status find_time(hid_t frames, double wanted, double step, cairn_arena *arena,
                              frame *out, int64_t *number, cairn_error *error)
{
    cairn_hdf5_numbers times;
    TRY(cairn_hdf5_read(frames, "time", CAIRN_HDF5_REAL, arena, &times, error));
    const double *time = times.data;
    int nearest = -1;
    for (int k = 0; k < times.count; k++)
        if (nearest < 0 || fabs(time[k] - wanted) < fabs(time[nearest] - wanted))
            nearest = k;
    if (nearest < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the run has no frames");
    if (!(fabs(time[nearest] - wanted) <= step / 2))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the run has no frame at %g s; the nearest is at %.10g s (%d frames from "
                          "%g to %.10g s)",
                          wanted, time[nearest], times.count, time[0], time[times.count - 1]);
    out->time = time[nearest];
    *number = nearest;
    return CAIRN_OK;
}

/* Sizes are checked by the reader of slabs against what the file has. */
static cairn_status read_columns(hid_t frames, int dimension, cairn_arena *arena, frame *f,
                                 cairn_error *error)
{
    const struct {
        const char *name;
        int width;
        const double **out;
    } columns[] = { { "x", 3, &f->x },
                    { "q", 4, &f->q },
                    { "v", 3, &f->v },
                    { "omega", 3, &f->omega },
                    { "angle", 1, &f->angle } };
    hid_t bodies;
    TRY(cairn_hdf5_open_group(frames, "bodies", &bodies, error));
    cairn_hdf5_slab slab = { "index", CAIRN_HDF5_INT, 1, f->first, f->count };
    const void *data = NULL;
    cairn_status status = cairn_hdf5_read_slab(bodies, &slab, arena, &data, error);
    f->index = data;
    for (int k = 0; k < (dimension == 2 ? 5 : 4) && status == CAIRN_OK; k++) {
        slab = (cairn_hdf5_slab){ columns[k].name, CAIRN_HDF5_REAL, columns[k].width, f->first,
                                  f->count };
        status = cairn_hdf5_read_slab(bodies, &slab, arena, &data, error);
        *columns[k].out = data;
    }
    H5Gclose(bodies);
    return status;
}

static cairn_status read_frame(hid_t file, int dimension, double wanted, cairn_arena *arena,
                               frame *f, cairn_error *error)
{
    hid_t frames, bodies;
    int64_t number = 0;
    double step = 0;
    cairn_hdf5_numbers offset = { 0 };
    if (!cairn_hdf5_read_real_attribute(file, "time_step", &step))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the run file has no time step");
    TRY(cairn_hdf5_open_group(file, "bodies", &bodies, error));
    cairn_status status = cairn_hdf5_read(bodies, "uid", CAIRN_HDF5_INT, arena, &f->uid, error);
    H5Gclose(bodies);
    TRY(status);
    TRY(cairn_hdf5_open_group(file, "frames", &frames, error));
    status = find_time(frames, wanted, step, arena, f, &number, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read(frames, "body_offset", CAIRN_HDF5_REAL, arena, &offset, error);
    if (status == CAIRN_OK && number + 1 >= offset.count)
        status = cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the run file is damaged");
    if (status == CAIRN_OK) {
        const double *at = offset.data;
        f->first = (int64_t)at[number];
        f->count = (int64_t)(at[number + 1] - at[number]);
        status = read_columns(frames, dimension, arena, f, error);
    }
    H5Gclose(frames);
    return status;
}

static cairn_vec3 vector_at(const double *numbers, int64_t i)
{
    return (cairn_vec3){ numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] };
}

/* Pass on the message of a call on the world that failed. */
static cairn_status say(const cairn_world *world, cairn_status status, cairn_error *error)
{
    return cairn_fail(error, status, NULL, "%s", cairn_world_error(world)->message);
}

/* Put one body of the frame in its place; `seen` marks the uids of the frame. */
static cairn_status place(cairn_world *world, const frame *f, int64_t i, uint8_t *seen,
                          uint64_t uids, cairn_error *error)
{
    int32_t row = f->index[i];
    if (row < 0 || row >= f->uid.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the run file is damaged");
    int64_t uid = ((const int32_t *)f->uid.data)[row];
    cairn_body_id id = { (uint64_t)uid };
    if (uid < 0 || (uint64_t)uid >= uids || cairn_body_row(world, id) < 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "body %lld of the frame is gone from the state: only time: last is "
                          "possible",
                          (long long)uid);
    const double *q = f->q + 4 * i;
    cairn_bodies now = cairn_world_bodies(world);
    bool dynamic = now.motion[cairn_body_row(world, id)] == CAIRN_MOTION_DYNAMIC;
    cairn_body_state state = { .x = vector_at(f->x, i), .q = { q[0], q[1], q[2], q[3] } };
    state.angle = f->angle ? f->angle[i] : 0;
    state.v = dynamic ? vector_at(f->v, i) : (cairn_vec3){ 0, 0, 0 };
    state.omega = dynamic ? vector_at(f->omega, i) : (cairn_vec3){ 0, 0, 0 };
    seen[uid] = 1;
    cairn_status status = cairn_body_put(world, id, &state);
    return status == CAIRN_OK ? status : say(world, status, error);
}

/* Bodies that came in after the frame are removed; the last row goes first, since rows close up. */
static cairn_status remove_later(cairn_world *world, const uint8_t *seen)
{
    for (int i = cairn_world_bodies(world).count - 1; i >= 0; i--) {
        cairn_body_id id = { cairn_world_bodies(world).uid[i] };
        if (!seen[id.uid])
            TRY(cairn_body_destroy(world, id));
    }
    return CAIRN_OK;
}

/* Frames have neither the random states of inlets, the counts of outlets, the counted turns of
 * joints, nor what cells measured. */
static cairn_status check_rewind(const cairn_world *world, cairn_error *error)
{
    if (cairn_world_joint_count(world) > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the run has joints, whose state frames do not have: only time: last is "
                          "possible");
    if (cairn_world_cell_count(world) > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the run has cells, whose state frames do not have: only time: last is "
                          "possible");
    if (cairn_world_inlet_pending(world) > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the run has an inlet that is not done, whose state frames do not have: "
                          "only time: last is possible");
    if (cairn_world_outlet_count(world) > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the run has outlets, whose counts frames do not have: only time: last "
                          "is possible");
    return CAIRN_OK;
}

static cairn_status apply_frame(cairn_scene_build *b, const frame *f, cairn_error *error)
{
    cairn_world *world = b->scene->world;
    cairn_bodies bodies = cairn_world_bodies(world);
    uint64_t uids = 0;
    for (int i = 0; i < bodies.count; i++)
        uids = bodies.uid[i] < uids ? uids : bodies.uid[i] + 1;
    uint8_t *seen = cairn_memory_zeroed((size_t)uids + 1, 1);
    if (!seen)
        return CAIRN_NO_MEMORY;
    cairn_status status = CAIRN_OK;
    for (int64_t i = 0; i < f->count && status == CAIRN_OK; i++)
        status = place(world, f, i, seen, uids, error);
    if (status == CAIRN_OK)
        status = remove_later(world, seen);
    cairn_memory_free(seen);
    TRY(status);
    status = cairn_world_restart(world, f->time);
    return status == CAIRN_OK ? status : say(world, status, error);
}

/* Go back to the frame at a time. `folder` is the run folder. */
static cairn_status rewind_to(cairn_scene_build *b, const char *folder, double time,
                              cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_arena arena = { 0 };
    frame f = { 0 };
    hid_t file;
    TRY(check_rewind(b->scene->world, error));
    TRY(cairn_path_join(folder, "run.h5", path, error));
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_open(path, &file, error);
    if (status == CAIRN_OK) {
        int dimension = cairn_world_dimension(b->scene->world);
        status = read_frame(file, dimension, time, &arena, &f, error);
        H5Fclose(file);
    }
    cairn_hdf5_quiet_end(quiet);
    if (status == CAIRN_OK)
        status = apply_frame(b, &f, error);
    cairn_arena_destroy(&arena);
    return status;
}

/* `time`: last, or the time of a frame. */
static cairn_status read_time(cairn_scene_build *b, const cairn_yaml_node *start)
{
    const cairn_yaml_node *node = cairn_yaml_find(start, "time");
    const cairn_yaml_node *run = cairn_yaml_find(start, "run");
    char found[80];
    double time;
    cairn_error said = { 0 };
    if (!node || (node->kind == CAIRN_YAML_SCALAR && strcmp(node->text, "last") == 0))
        return CAIRN_OK;
    cairn_yaml_describe(node, found, sizeof found);
    if (!cairn_yaml_real(node, &time) || !isfinite(time))
        return cairn_yaml_fail(node, NULL, b->error, "found %s, expected last or a time in s",
                               found);
    if (!cairn_is_folder(run->text))
        return cairn_yaml_fail(node, NULL, b->error,
                               "a state file has one time only, expected last");
    return cairn_scene_blame_file(b, rewind_to(b, run->text, time, &said), node, &said);
}

/* ---- what is left out ----------------------------------------------------------------------- */

/* The uid of the body with that name in the state; -1 if there is none. */
static int find_body(const cairn_scene_build *b, const char *name)
{
    int i = b->state_names - 1;
    while (i >= 0 && (!b->body_names[i] || strcmp(b->body_names[i], name) != 0))
        i--;
    return i;
}

cairn_status cairn_scene_remove_named(cairn_scene_build *b, const char *name, bool *found)
{
    int uid = find_body(b, name);
    *found = uid >= 0;
    if (uid < 0)
        return CAIRN_OK;
    b->body_names[uid] = NULL;
    cairn_status status = cairn_body_destroy(b->scene->world, (cairn_body_id){ (uint64_t)uid });
    /* the body may have left the world during the run */
    return status == CAIRN_NOT_FOUND ? CAIRN_OK : status;
}

static cairn_status remove_listed(cairn_scene_build *b, const cairn_yaml_node *list)
{
    if (!list)
        return CAIRN_OK;
    TRY(cairn_scene_check_list(b, list, "names of bodies"));
    for (const cairn_yaml_node *n = list->first; n; n = n->next) {
        const char *name;
        bool found;
        TRY(cairn_scene_read_name(b, n, &name));
        TRY(cairn_scene_list_names(b));
        TRY(cairn_scene_remove_named(b, name, &found));
        if (!found)
            return cairn_scene_fail_word(b, n, false, "body", b->named_bodies);
    }
    return CAIRN_OK;
}

/* Bodies that left the world during the run, or an event took away, have a name no more. */
static void forget_gone(cairn_scene_build *b)
{
    for (int i = 0; i < b->state_names; i++)
        if (cairn_body_row(b->scene->world, (cairn_body_id){ (uint64_t)i }) < 0)
            b->body_names[i] = NULL;
}

/* ---- the stage ------------------------------------------------------------------------------ */

cairn_status cairn_scene_read_start(cairn_scene_build *b, const cairn_yaml_node *start)
{
    const cairn_scene_keys keys = cairn_scene_start_keys();
    char path[CAIRN_PATH_BYTES];
    cairn_error said = { 0 };
    TRY(cairn_scene_check_keys(b, start, &keys));
    const cairn_yaml_node *run = cairn_yaml_find(start, "run");
    TRY(find_state(b, run, path));
    TRY(cairn_scene_blame_file(b, read_state(b, path, &said), run, &said));
    b->scene->body_names = b->body_names;
    b->scene->material_names = b->material_names;
    TRY(read_time(b, start));
    TRY(remove_listed(b, cairn_yaml_find(start, "remove")));
    forget_gone(b);
    return CAIRN_OK;
}
