/* scene.c - from a scene file to a world: read the file, build its tree, apply the overrides,
 * and run the stages. Also the names of bodies in messages, and the check for overlaps at the
 * start. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/scene.h"
#include "file/file.h"
#include "scene/stages.h"

/* The limit keeps a wrong path, such as that of a device without end, from filling the memory. */
#define MAX_FILE_BYTES ((size_t)64 << 20)

/* What a scene owns besides its world; cairn_scene.owner points to it. */
typedef struct owner {
    cairn_arena arena;
    cairn_scene_text text; /* cairn_scene.text */
} owner;

/* ---- the text ------------------------------------------------------------------------------ */

/* An error about the file as a whole, without a line. */
static cairn_status fail_file(cairn_scene_build *b, const char *path, cairn_status status,
                              const char *message)
{
    snprintf(b->error->file, sizeof b->error->file, "%s", path);
    return cairn_fail(b->error, status, "", "%s", message);
}

/* Make room for `more` bytes and a final zero. */
static cairn_status grow_text(cairn_scene_build *b, cairn_scene_text *t, size_t more)
{
    void *block = t->text;
    cairn_status status = cairn_memory_reserve(&block, &t->capacity, t->length + more + 1, 1);
    t->text = block;
    return status == CAIRN_OK ? status : cairn_fail(b->error, status, "", "out of memory");
}

/* Read in pieces: the size of a stream such as /dev/stdin is not known in advance. */
static cairn_status read_stream(cairn_scene_build *b, const char *path, FILE *file,
                                cairn_scene_text *t)
{
    const size_t piece = 1 << 16;
    size_t got = piece;
    while (got > 0) {
        TRY(grow_text(b, t, piece));
        got = fread(t->text + t->length, 1, piece, file);
        t->length += got;
        if (t->length > MAX_FILE_BYTES)
            return fail_file(b, path, CAIRN_BAD_INPUT, "the file is larger than 64 MiB");
    }
    if (ferror(file))
        return fail_file(b, path, CAIRN_IO_FAILED, strerror(errno));
    if (memchr(t->text, '\0', t->length))
        return fail_file(b, path, CAIRN_BAD_INPUT, "not a text file: it holds zero bytes");
    t->text[t->length] = '\0';
    return CAIRN_OK;
}

cairn_status cairn_scene_text_read(cairn_scene_build *b, const char *path, cairn_scene_text *text)
{
    FILE *file;
    TRY(cairn_file_open(path, &file, b->error));
    cairn_status status = read_stream(b, path, file, text);
    fclose(file);
    return status;
}

/* The final zero is not counted, so that the next piece overwrites it. */
cairn_status cairn_scene_text_add(cairn_scene_build *b, cairn_scene_text *text, const char *more,
                                  size_t length)
{
    size_t bytes = strnlen(more, length);
    TRY(grow_text(b, text, bytes));
    memcpy(text->text + text->length, more, bytes);
    text->length += bytes;
    text->text[text->length] = '\0';
    return CAIRN_OK;
}

/* Record an override as one comment line at the end of the text, so that the copy of the scene
 * in a run folder says how the run was made. Line breaks become spaces, or the rest of the
 * override would no longer be part of the comment. */
static cairn_status append_override(cairn_scene_build *b, cairn_scene_text *t,
                                    const char *assignment)
{
    bool open = t->length > 0 && t->text[t->length - 1] != '\n';
    TRY(cairn_scene_text_add(b, t, open ? "\n# --set " : "# --set ", SIZE_MAX));
    size_t start = t->length;
    TRY(cairn_scene_text_add(b, t, assignment, SIZE_MAX));
    for (char *c = t->text + start; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return cairn_scene_text_add(b, t, "\n", 1);
}

/* ---- the stages ---------------------------------------------------------------------------- */

/* One entry for each body and each generator, and one for a start, is the most that can be
 * needed. */
static cairn_status make_origins(cairn_scene_build *b)
{
    const cairn_yaml_node *bodies = cairn_yaml_find(b->tree.root, "bodies");
    const cairn_yaml_node *generators = cairn_yaml_find(b->tree.root, "generators");
    const cairn_yaml_node *start = cairn_yaml_find(b->tree.root, "start");
    size_t room = (size_t)(bodies ? bodies->count : 0) + (generators ? generators->count : 0) + 1;
    b->origins = cairn_arena_take(&b->tree.arena, room, sizeof *b->origins);
    if (b->origins && start)
        b->origins[b->origin_count++] = (cairn_scene_origin){ 0, start };
    return b->origins ? CAIRN_OK : cairn_fail(b->error, CAIRN_NO_MEMORY, "", "out of memory");
}

/* From here on bodies have no names, and nothing refers to them: each process keeps its share. A
 * cell weighs all bodies. */
static cairn_status begin_share(cairn_scene_build *b)
{
    const cairn_scene_share *s = b->share;
    const cairn_link *link = s ? s->link : NULL;
    if (!s)
        return CAIRN_OK;
    static const char *const whole[] = { "start", "cells" };
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++)
        if (cairn_yaml_find(b->tree.root, whole[k]))
            return cairn_fail(b->error, CAIRN_UNSUPPORTED, whole[k],
                              "such a scene cannot be read in shares by several processes");
    int64_t begin = link ? cairn_link_even(link, link->member, (int)s->bodies) : 0;
    int64_t end = link ? cairn_link_even(link, link->member + 1, (int)s->bodies) : 0;
    cairn_status status = cairn_world_share(b->scene->world, begin, end);
    return status == CAIRN_OK ? status : cairn_scene_no_memory(b);
}

/* Whether all processes have come so far. */
static cairn_status agree(cairn_scene_build *b, cairn_status status)
{
    cairn_scene_share *s = b->share;
    int64_t worst = (int64_t)status;
    cairn_link_largests(s->link, &worst, 1);
    s->elsewhere = s->link->status == CAIRN_OK ? (cairn_status)worst : s->link->status;
    TRY(status);
    if (s->elsewhere != CAIRN_OK)
        return cairn_fail(b->error, s->elsewhere, "",
                          "another rank could not make its share of the scene: %s",
                          cairn_status_text(s->elsewhere));
    return CAIRN_OK;
}

/* What does not fit into a periodic cell is known to the process that has it: the first one, if it
 * makes the whole world alone, finds it and says where it is in the scene. */
static cairn_status check_cell(cairn_scene_build *b)
{
    return cairn_scene_check_periodic(b) == CAIRN_OK ? CAIRN_OK : CAIRN_UNSUPPORTED;
}

/* When all processes have made their bodies, or one of them has failed: join the worlds. The
 * energies are those of the order of creation, which the search for overlaps changes. */
static cairn_status join_shares(cairn_scene_build *b, cairn_status status)
{
    cairn_scene_share *s = b->share;
    cairn_world *world = b->scene->world;
    if (!s || !s->link)
        return status;
    TRY(agree(b, status));
    status = cairn_world_join(world, s->link);
    TRY(cairn_scene_blame(b, status, b->tree.root, cairn_world_error(world)));
    TRY(agree(b, check_cell(b)));
    cairn_world_energy(world, &s->kinetic, &s->potential);
    return cairn_scene_check_overlap(b);
}

/* The order follows from what each stage needs: the dimension decides how vectors are read, the
 * materials are checked against the scheme of the run, bodies name materials, joints name
 * bodies. All bodies with names come before the generators, so that their uids are 0, 1, ... */
static cairn_status build(cairn_scene_build *b)
{
    TRY(cairn_scene_read_world(b));
    TRY(cairn_scene_read_run(b));
    TRY(cairn_scene_read_measure(b));
    TRY(cairn_scene_read_periodic(b));
    TRY(cairn_scene_read_materials(b));
    TRY(make_origins(b));
    TRY(cairn_scene_read_bodies(b));
    TRY(cairn_scene_read_driven_groups(b));
    TRY(cairn_scene_read_joints(b));
    TRY(begin_share(b));
    TRY(cairn_scene_read_generators(b));
    TRY(cairn_scene_read_cells(b));
    TRY(cairn_scene_read_outlets(b));
    TRY(cairn_scene_read_events(b));
    TRY(cairn_scene_read_series(b));
    if (!b->share)
        TRY(cairn_scene_check_periodic(b));
    if (b->chooses_backend && !b->share)
        b->scene->step.backend =
            cairn_world_choose_backend(b->scene->world, &b->scene->step, "cuda", b->bodies_to_come);
    TRY(cairn_scene_doubt_world(b));
    return b->share ? CAIRN_OK : cairn_scene_check_overlap(b);
}

/* Sub-scenes come before the overrides, so that these change values of sub-scenes as well;
 * parameters come after them. The value of `include` itself cannot be overridden. */
static cairn_status override_all(cairn_scene_build *b, const cairn_scene_request *asked,
                                 cairn_scene_text *text)
{
    for (int i = 0; i < asked->override_count; i++) {
        TRY(cairn_scene_check_parameter(b, asked->overrides[i]));
        TRY(cairn_yaml_override(&b->tree, asked->overrides[i], b->error));
        TRY(append_override(b, text, asked->overrides[i]));
    }
    const cairn_yaml_node *include = cairn_yaml_find(b->tree.root, "include");
    if (include && include->line == 0)
        return cairn_yaml_fail(include, NULL, b->error, "cannot be set; change it in the scene");
    return CAIRN_OK;
}

/* The tree has copies of all texts, so the text may move while more is appended to it. */
static cairn_status load(cairn_scene_build *b, const cairn_scene_request *asked,
                         cairn_scene_text *text)
{
    TRY(asked->text ? cairn_scene_text_add(b, text, asked->text, asked->length)
                    : cairn_scene_text_read(b, asked->path, text));
    TRY(cairn_scene_refuse_foreign(b, asked->path, text->text ? text->text : ""));
    TRY(cairn_yaml_parse(&b->tree, text->text, text->length, asked->path, b->error));
    if (!b->tree.root)
        return fail_file(b, asked->path, CAIRN_BAD_INPUT,
                         "the file is empty, expected a scene that starts with cairn: 1");
    TRY(cairn_scene_include(b, text));
    TRY(override_all(b, asked, text));
    /* an override may replace the only value that uses a parameter of the file */
    TRY(cairn_scene_resolve(b, asked->override_count == 0));
    TRY(build(b));
    b->scene->text = text->text;
    return CAIRN_OK;
}

/* Two blocks, because cairn_scene is public and its owner is not. */
cairn_status cairn_scene_create(cairn_scene **out, cairn_arena **arena)
{
    cairn_scene *scene = cairn_memory_zeroed(1, sizeof *scene);
    owner *own = cairn_memory_zeroed(1, sizeof *own);
    if (!scene || !own) {
        cairn_memory_free(scene);
        cairn_memory_free(own);
        return CAIRN_NO_MEMORY;
    }
    scene->owner = own;
    *arena = &own->arena;
    *out = scene;
    return CAIRN_OK;
}

cairn_status cairn_scene_load_share(const cairn_scene_request *asked, cairn_scene_share *share,
                                    cairn_scene **out, cairn_error *error)
{
    /* the stages always have an error to write to, also if the caller wants none */
    cairn_error unused;
    cairn_scene_build b = { .dimension = 3, .error = error ? error : &unused, .share = share };
    *out = NULL;
    *b.error = (cairn_error){ 0 };
    cairn_status status = cairn_scene_create(&b.scene, &b.arena);
    if (status != CAIRN_OK)
        return cairn_fail(b.error, status, "", "out of memory");
    owner *own = b.scene->owner;
    status = join_shares(&b, load(&b, asked, &own->text));
    /* the tree and the cached files are needed during the build only, whether it succeeds or not */
    cairn_scene_release_files(&b);
    cairn_yaml_destroy(&b.tree);
    if (status == CAIRN_OK)
        *out = b.scene;
    else
        cairn_scene_destroy(b.scene);
    return status;
}

cairn_status cairn_scene_load(const char *path, const char *const *overrides, int override_count,
                              cairn_scene **out, cairn_error *error)
{
    const cairn_scene_request asked = { path, overrides, override_count, NULL, 0 };
    return cairn_scene_load_share(&asked, NULL, out, error);
}

/* Also frees a scene that is only half built; NULL is allowed. */
void cairn_scene_destroy(cairn_scene *scene)
{
    if (!scene)
        return;
    owner *own = scene->owner;
    if (scene->shared)
        cairn_scene_destroy(scene->shared->scene);
    if (scene->shared)
        cairn_file_unmap(&scene->shared->saved.file);
    cairn_memory_free(scene->shared);
    cairn_world_destroy(scene->world);
    cairn_arena_destroy(&own->arena);
    cairn_memory_free(own->text.text);
    cairn_memory_free(own);
    cairn_memory_free(scene);
}

/* ---- labels ------------------------------------------------------------------------------ */

/* Labels of bodies for people: the name that the scene gives, or else the number. The world
 * knows bodies by number only. */

/* Names come from a file and may contain anything printable, so they are escaped. */
void cairn_scene_body_label(const cairn_scene *scene, int64_t body, char *out, size_t capacity)
{
    bool named = scene->body_names && body >= 0 && body < scene->body_count &&
                 scene->body_names[body] != NULL;
    char name[160];
    if (!named) {
        snprintf(out, capacity, "%lld", (long long)body);
        return;
    }
    cairn_text_escape(scene->body_names[body], name, sizeof name);
    snprintf(out, capacity, "'%s'", name);
}

/* The digits of the next "body 12" in a text; NULL if there is none. */
static const char *next_number(const char *text)
{
    const char *found = strstr(text, "body ");
    while (found && !isdigit((unsigned char)found[5]))
        found = strstr(found + 5, "body ");
    return found ? found + 5 : NULL;
}

/* snprintf returns the length that would be needed: once that exceeds the capacity, the text is
 * complete as far as it fits and the loop ends. */
void cairn_scene_name_bodies(const cairn_scene *scene, const char *message, char *out,
                             size_t capacity)
{
    size_t length = 0;
    const char *number;
    out[0] = '\0';
    while ((number = next_number(message)) && length < capacity) {
        char label[192], *rest;
        long long body = strtoll(number, &rest, 10);
        cairn_scene_body_label(scene, body, label, sizeof label);
        length += (size_t)snprintf(out + length, capacity - length, "%.*s%s",
                                   (int)(number - message), message, label);
        message = rest;
    }
    if (length < capacity)
        snprintf(out + length, capacity - length, "%s", message);
}

/* ---- overlaps at the start --------------------------------------------------------------- */

/* A scene may start with small overlaps (run.start_overlap), which the steps then remove. Deeper
 * ones are refused, with the names of the two bodies. */

/* The entries are sorted by their first uid, and the last one that does not exceed `uid` counts. */
const cairn_yaml_node *cairn_scene_origin_of(const cairn_scene_build *b, cairn_body_id body)
{
    int i = b->origin_count - 1;
    while (i > 0 && (uint64_t)b->origins[i].first > body.uid)
        i--;
    return i >= 0 ? b->origins[i].node : b->tree.root;
}

/* The description of a body for messages: "'ball'", "body 3", "body 17 (made by
 * generators.0.grid)". */
static void describe(const cairn_scene_build *b, int uid, char *text, size_t capacity)
{
    char path[96];
    if (uid < b->scene->body_count && b->body_names[uid]) {
        snprintf(text, capacity, "'%s'", b->body_names[uid]);
    } else if (uid < b->scene->body_count) {
        snprintf(text, capacity, "body %d", uid);
    } else {
        cairn_yaml_path(cairn_scene_origin_of(b, (cairn_body_id){ (uint64_t)uid }), path,
                        sizeof path);
        snprintf(text, capacity, "body %d (made by %s)", uid, path);
    }
}

/* The error is reported at the body that was made later: it was placed into an earlier one. */
static cairn_status refuse(const cairn_scene_build *b, int one, int other, double depth)
{
    char earlier[160], later[160];
    int low = one < other ? one : other, high = one < other ? other : one;
    describe(b, low, earlier, sizeof earlier);
    describe(b, high, later, sizeof later);
    return cairn_yaml_fail(cairn_scene_origin_of(b, (cairn_body_id){ (uint64_t)high }), NULL,
                           b->error,
                           "%s and %s overlap by %g m at the start, expected at most "
                           "run.start_overlap = %g of the smaller radius",
                           later, earlier, depth, b->scene->run.start_overlap);
}

/* Bodies in messages of the world are numbers; they are replaced by names before the error is
 * passed on. */
cairn_status cairn_scene_check_overlap(cairn_scene_build *b)
{
    double share, depth;
    cairn_body_id one = { 0 }, other = { 0 };
    cairn_world *world = b->scene->world;
    cairn_status status = cairn_world_overlap_share(world, &share, &depth, &one, &other);
    cairn_error said = *cairn_world_error(world);
    cairn_scene_name_bodies(b->scene, cairn_world_error(world)->message, said.message,
                            sizeof said.message);
    TRY(cairn_scene_blame(b, status, b->tree.root, &said));
    b->scene->overlap = share;
    /* relative to the smaller radius: the deepest overlap in metres may be that of large bodies */
    if (!(share > b->scene->run.start_overlap))
        return CAIRN_OK;
    return refuse(b, (int)one.uid, (int)other.uid, depth);
}
