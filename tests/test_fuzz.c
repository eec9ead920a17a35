/* test_fuzz.c - OBJ, STL and scene files that were changed at random, always in the same way: each
 * is read or refused with a message, in a moment, within a little memory, and nothing leaks. Under
 * the sanitizers a read or write outside of what was taken ends the test. */
#include <stdlib.h>
#include <unistd.h>

#include "base/random.h"
#include "cairn/scene.h"
#include "check.h"

enum { MOST = 2048 };

/* A file and what is done to it. */
typedef struct input {
    unsigned char bytes[MOST];
    size_t length;
} input;

/* ---- the allocator's view --------------------------------------------------------------------- */

/* Memory that is in use, in blocks with their size before them. */
typedef struct meter {
    size_t bytes, most; /* in use; what is allowed */
} meter;

static void *resize(void *context, void *block, size_t bytes)
{
    meter *m = context;
    max_align_t *old = block ? (max_align_t *)block - 1 : NULL, *new;
    size_t before = 0;
    if (old)
        memcpy(&before, old, sizeof before);
    if (bytes == 0) {
        m->bytes -= before;
        free(old);
        return NULL;
    }
    if (m->bytes - before + bytes > m->most)
        return NULL;
    new = realloc(old, bytes + sizeof *new);
    if (!new)
        return NULL;
    memcpy(new, &bytes, sizeof bytes);
    m->bytes += bytes - before;
    return new + 1;
}

/* ---- mutations --------------------------------------------------------------------------------- */

static size_t below(uint64_t *state, size_t count)
{
    return (size_t)(cairn_random_next(state) % count);
}

/* What readers may stumble over. */
static const char *const words[] = {
    "\f",
    "\v",
    "\r",
    "\\",
    "\"",
    "'",
    "\t",
    " ",
    "\n",
    "0x1p9",
    "nan",
    ".inf",
    "1e999",
    "-0",
    "1e-400",
    "\xef\xbb\xbf",
    "\xff",
    "\xc2\x9b",
    "#",
    "/",
    "-",
    ":",
    "{",
    "}",
    "[",
    "]",
    "&a",
    "*a",
    "<<: *a",
    "2147483648",
    "!!str",
    "- - -",
    "? ",
    "|\n",
    "%",
    "9e18",
    "99999999999999999999",
};

static void insert(input *in, size_t at, const void *piece, size_t length)
{
    if (in->length + length > MOST)
        return;
    memmove(in->bytes + at + length, in->bytes + at, in->length - at);
    memcpy(in->bytes + at, piece, length);
    in->length += length;
}

static void cut(input *in, size_t at, size_t length)
{
    length = at + length > in->length ? in->length - at : length;
    memmove(in->bytes + at, in->bytes + at + length, in->length - at - length);
    in->length -= length;
}

static void mutate(input *in, uint64_t *state)
{
    size_t at = below(state, in->length + 1), length = 1 + below(state, 30);
    const char *word = words[below(state, sizeof words / sizeof words[0])];
    switch (below(state, 6)) {
    case 0:
        if (at < in->length)
            in->bytes[at] ^= (unsigned char)(1u << below(state, 8));
        break;
    case 1:
        if (at < in->length)
            in->bytes[at] = (unsigned char)cairn_random_next(state);
        break;
    case 2:
        insert(in, at, word, strlen(word));
        break;
    case 3:
        cut(in, at, length);
        break;
    case 4: { /* a piece of it once more elsewhere */
        unsigned char piece[32];
        size_t from = below(state, in->length + 1);
        length = from + length > in->length ? in->length - from : length;
        memcpy(piece, in->bytes + from, length);
        insert(in, at, piece, length);
        break;
    }
    default:
        cut(in, at, 1 + below(state, 4));
        insert(in, at < in->length ? at : in->length, word, strlen(word));
    }
}

/* ---- reading ----------------------------------------------------------------------------------- */

typedef cairn_status read_fn(const char *path, cairn_error *error);

static cairn_status read_mesh(const char *path, cairn_error *error)
{
    const cairn_geometry *g;
    cairn_status status = cairn_mesh_load(path, 1, &g, error);
    cairn_geometry_release(g);
    return status;
}

static cairn_status read_scene(const char *path, cairn_error *error)
{
    cairn_scene *scene;
    cairn_status status = cairn_scene_load(path, NULL, 0, &scene, error);
    cairn_scene_destroy(scene);
    return status;
}

static void write_input(const char *path, const input *in)
{
    remove(path); /* a new file: some file systems bring one that is written again to the disk */
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_INT(fwrite(in->bytes, 1, in->length, file), in->length);
    CHECK_INT(fclose(file), 0);
}

/* Read `count` mutations of the first input; how many were accepted. */
static int try_all(const char *ending, const input *first, read_fn *read, int count)
{
    enum { MEMORY = 64 << 20 };
    char path[64];
    int good = 0;
    uint64_t state = 16;
    meter m = { .most = MEMORY };
    const cairn_allocator allocator = { resize, &m };
    snprintf(path, sizeof path, "fuzz_%ld.%s", (long)getpid(), ending);
    for (int i = 0; i < count; i++) {
        input in = *first;
        cairn_error error = { 0 };
        for (size_t k = 1 + below(&state, 3); k > 0 && i > 0; k--)
            mutate(&in, &state);
        write_input(path, &in);
        cairn_allocator_set(&allocator);
        cairn_status status = read(path, &error);
        cairn_allocator_set(NULL);
        good += status == CAIRN_OK;
        if (i == 0 && status != CAIRN_OK)
            fail_msg("%d:%d: %s: %s", error.line, error.column, error.key, error.message);
        bool told = error.message[0] && error.file[0];
        if (m.bytes != 0 || (status != CAIRN_OK && !told) || status == CAIRN_NO_MEMORY)
            fail_msg("input %d (%s): status %d, '%s', %zu bytes left", i, path, (int)status,
                     error.message, m.bytes);
    }
    remove(path);
    printf("%s: %d of %d were accepted\n", ending, good, count);
    return good;
}

static input text_input(const char *text)
{
    input in = { .length = strlen(text) };
    memcpy(in.bytes, text, in.length);
    return in;
}

TEST(changed_obj_files)
{
    const input first =
        text_input("# tetrahedron\no thing\nv 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4e0\nvn 0 0 1\n"
                   "f 1 3 2\nf 1/1 2/1 4/1\nf 1//1 4//1 3//1\nf -3/1/1 -2/1/1 -1/1/1\n");
    CHECK(try_all("obj", &first, read_mesh, 4000) > 100);
}

TEST(changed_ascii_stl_files)
{
    const input first = text_input(
        "solid a\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n"
        "  vertex 0 1e0 0\n endloop\nendfacet\nfacet normal 0 0 1\n outer loop\n"
        "  vertex 1 0 0\n  vertex 1 1 0\n  vertex 0 1 0\n endloop\nendfacet\nendsolid a\n");
    CHECK(try_all("stl", &first, read_mesh, 3000) > 20);
}

/* 84 bytes, then 50 for the one triangle (0, 0, 0), (1, 0, 0), (0, 1, 0); 1.0f is 00 00 80 3f. */
TEST(changed_binary_stl_files)
{
    input first = { .length = 134 };
    first.bytes[80] = 1;
    memcpy(first.bytes + 84 + 12 + 12, "\0\0\x80\x3f", 4);
    memcpy(first.bytes + 84 + 12 + 28, "\0\0\x80\x3f", 4);
    CHECK(try_all("stl", &first, read_mesh, 2000) > 100);
}

TEST(changed_scenes)
{
    const input first = text_input(
        "cairn: 1\ntitle: \"a \\\"scene\\\"\"\ngravity: [0, 0, -9.81]\n"
        "materials: {rock: &a {friction: 0.4}, ice: {<<: *a, restitution: .5}}\n"
        "run: {time_step: 1e-3, duration: 1, scheme: coulomb, statistics: [energy]}\nbodies:\n"
        "  - {name: floor, motion: fixed, shape: half_space, material: rock}\n"
        "  - name: ball\n    shape: {sphere: {radius: 0.1}}\n    position: [0, 0, 0.5]\n"
        "    material: ice\n    loads: [{sine: {force: [1, 0, 0], frequency: 2}}]\n"
        "joints:\n  - ball: {a: ball, anchor: [0, 0, 0.6]}\n"
        "generators:\n  - grid: {count: [2, 2, 1], spacing: [1, 1, 1], origin: [3, 3, 3],\n"
        "           radius: 0.1, material: rock}\n");
    CHECK(try_all("yaml", &first, read_scene, 4000) > 20);
}

int main(void)
{
    RUN(CASE(changed_obj_files), CASE(changed_ascii_stl_files), CASE(changed_binary_stl_files),
        CASE(changed_scenes));
}
