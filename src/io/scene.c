/* scene.c - from a scene file to a world: read the file, make its tree, apply the overrides, and
 * then the stages in the order in which a reader of the file would go. */
#include "cairn/scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/file.h"
#include "io/scene_build.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)

/* What a scene owns besides its world. */
typedef struct owner {
    cairn_arena arena;
    char *text;      /* cairn_scene.text                 */
    size_t capacity; /* of text                          */
    size_t length;   /* of the file's part of it         */
} owner;

/* ---- the text ------------------------------------------------------------------------------ */

static cairn_status fail_file(cairn_scene_build *b, const char *path, cairn_status status,
                              const char *message)
{
    snprintf(b->error->file, sizeof b->error->file, "%s", path);
    return cairn_fail(b->error, status, "", "%s", message);
}

static cairn_status grow_text(cairn_scene_build *b, owner *own, size_t more)
{
    void *block = own->text;
    cairn_status status = cairn_memory_reserve(&block, &own->capacity, own->length + more + 1, 1);
    own->text = block;
    return status == CAIRN_OK ? status : cairn_fail(b->error, status, "", "out of memory");
}

static cairn_status read_stream(cairn_scene_build *b, const char *path, FILE *file, owner *own)
{
    const size_t piece = 1 << 16;
    size_t got = piece;
    while (got > 0) {
        TRY(grow_text(b, own, piece));
        got = fread(own->text + own->length, 1, piece, file);
        own->length += got;
        if (own->length > MAX_FILE_BYTES)
            return fail_file(b, path, CAIRN_BAD_INPUT, "the file is larger than 64 MiB");
    }
    if (ferror(file))
        return fail_file(b, path, CAIRN_IO_FAILED, strerror(errno));
    if (memchr(own->text, '\0', own->length))
        return fail_file(b, path, CAIRN_BAD_INPUT, "not a text file: it holds zero bytes");
    own->text[own->length] = '\0';
    return CAIRN_OK;
}

static cairn_status read_file(cairn_scene_build *b, const char *path, owner *own)
{
    FILE *file;
    TRY(cairn_file_open(path, &file, b->error));
    cairn_status status = read_stream(b, path, file, own);
    fclose(file);
    return status;
}

static cairn_status append_text(cairn_scene_build *b, owner *own, const char *text)
{
    size_t bytes = strlen(text);
    TRY(grow_text(b, own, bytes));
    memcpy(own->text + own->length, text, bytes + 1);
    own->length += bytes;
    return CAIRN_OK;
}

/* One comment line for an override, whatever it holds. */
static cairn_status append_override(cairn_scene_build *b, owner *own, const char *assignment)
{
    bool open = own->length > 0 && own->text[own->length - 1] != '\n';
    TRY(append_text(b, own, open ? "\n# --set " : "# --set "));
    size_t start = own->length;
    TRY(append_text(b, own, assignment));
    for (char *c = own->text + start; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return append_text(b, own, "\n");
}

/* ---- the stages ---------------------------------------------------------------------------- */

static cairn_status make_origins(cairn_scene_build *b)
{
    const cairn_yaml_node *bodies = cairn_yaml_find(b->tree.root, "bodies");
    const cairn_yaml_node *generators = cairn_yaml_find(b->tree.root, "generators");
    size_t room = (size_t)(bodies ? bodies->count : 0) + (generators ? generators->count : 0);
    b->origins = cairn_arena_take(&b->tree.arena, room, sizeof *b->origins);
    return b->origins ? CAIRN_OK : cairn_fail(b->error, CAIRN_NO_MEMORY, "", "out of memory");
}

static cairn_status build(cairn_scene_build *b)
{
    TRY(cairn_scene_read_world(b));
    TRY(cairn_scene_read_run(b));
    TRY(cairn_scene_read_measure(b));
    TRY(cairn_scene_read_materials(b));
    TRY(make_origins(b));
    TRY(cairn_scene_read_bodies(b));
    TRY(cairn_scene_read_joints(b));
    TRY(cairn_scene_read_generators(b));
    return cairn_scene_check_overlap(b);
}

/* What the caller of cairn_scene_load asked for. */
typedef struct request {
    const char *path;
    const char *const *overrides;
    int override_count;
} request;

static cairn_status load(cairn_scene_build *b, const request *asked, owner *own)
{
    TRY(read_file(b, asked->path, own));
    TRY(cairn_yaml_parse(&b->tree, own->text, own->length, asked->path, b->error));
    if (!b->tree.root)
        return fail_file(b, asked->path, CAIRN_BAD_INPUT,
                         "the file is empty, expected a scene that starts with cairn: 1");
    for (int i = 0; i < asked->override_count; i++) {
        TRY(cairn_yaml_override(&b->tree, asked->overrides[i], b->error));
        TRY(append_override(b, own, asked->overrides[i]));
    }
    TRY(build(b));
    b->scene->text = own->text;
    return CAIRN_OK;
}

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

cairn_status cairn_scene_load(const char *path, const char *const *overrides, int override_count,
                              cairn_scene **out, cairn_error *error)
{
    cairn_error unused;
    cairn_scene_build b = { .dimension = 3, .error = error ? error : &unused };
    const request asked = { path, overrides, override_count };
    *out = NULL;
    *b.error = (cairn_error){ 0 };
    cairn_status status = cairn_scene_create(&b.scene, &b.arena);
    if (status != CAIRN_OK)
        return cairn_fail(b.error, status, "", "out of memory");
    owner *own = b.scene->owner;
    status = load(&b, &asked, own);
    cairn_scene_release_files(&b);
    cairn_yaml_destroy(&b.tree);
    if (status == CAIRN_OK)
        *out = b.scene;
    else
        cairn_scene_destroy(b.scene);
    return status;
}

void cairn_scene_destroy(cairn_scene *scene)
{
    if (!scene)
        return;
    owner *own = scene->owner;
    cairn_world_destroy(scene->world);
    cairn_arena_destroy(&own->arena);
    cairn_memory_free(own->text);
    cairn_memory_free(own);
    cairn_memory_free(scene);
}
