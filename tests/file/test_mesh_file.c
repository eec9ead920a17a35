/* test_mesh_file.c - OBJ and STL files; files changed at random. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/common.h"
#include "cairn/scene.h"
#include "cairn/shape.h"
#include "tests/check.h"

/* ==== test_mesh_file: triangles from OBJ and STL files, good and broken ======================= */

static const char *path_of(const char *ending)
{
    static char path[64];
    snprintf(path, sizeof path, "mesh_file_%ld.%s", (long)getpid(), ending);
    return path;
}

static void write_bytes(const char *ending, const void *bytes, size_t length)
{
    FILE *file = fopen(path_of(ending), "wb");
    CHECK(file != NULL);
    CHECK_INT(fwrite(bytes, 1, length, file), length);
    CHECK_INT(fclose(file), 0);
}

static cairn_status load_bytes(const char *ending, const void *bytes, size_t length,
                               const cairn_geometry **out, cairn_error *error)
{
    *error = (cairn_error){ 0 };
    write_bytes(ending, bytes, length);
    cairn_status status = cairn_mesh_load(path_of(ending), 1, out, error);
    remove(path_of(ending));
    return status;
}

/* The text is refused in a line (0: none) with a message. */
static void check_refused(const char *ending, const char *text, int line, const char *piece)
{
    const cairn_geometry *g = NULL;
    cairn_error error;
    cairn_status status = load_bytes(ending, text, strlen(text), &g, &error);
    if (status != CAIRN_BAD_INPUT || g || error.line != line || !strstr(error.message, piece) ||
        !strstr(error.file, "mesh_file_"))
        fail_msg("%s\nexpected line %d: %s\nfound %s:%d: %s (status %d)", text, line, piece,
                 error.file, error.line, error.message, (int)status);
}

#define CORNERS "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\n"

/* corners 0, (2,0,0), (0,3,0), (0,0,4): V = 4 */
static void check_tetrahedron(const cairn_geometry *g)
{
    cairn_geometry_view v = cairn_geometry_look(g);
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_mass m;
    CHECK_INT(v.vertex_count, 4);
    CHECK_INT(v.face_count, 4);
    CHECK(v.closed);
    shape.geometry = g;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    CHECK_NEAR(m.mass, 4, 1e-14);
    CHECK_NEAR(m.centre.z, 1, 1e-14);
}

TEST(obj_with_all_ways_to_name_a_corner)
{
    static const char text[] = "# a tetrahedron\nmtllib a.mtl\no thing\n" CORNERS
                               "vt 0 0\nvn 0 0 1\n\nf 1 3 2\r\nf 1/1 2/1 4/1 # note\n"
                               "f 1//1 4//1 3//1\nf -3/1/1 -2/1/1 -1/1/1";
    const cairn_geometry *g;
    cairn_error error;
    if (load_bytes("obj", text, strlen(text), &g, &error) != CAIRN_OK)
        fail_msg("%d: %s", error.line, error.message);
    check_tetrahedron(g);
    cairn_geometry_release(g);
}

TEST(obj_faces_with_many_corners_become_triangles)
{
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n";
    const cairn_geometry *g;
    cairn_error error;
    CHECK_OK(load_bytes("OBJ", text, strlen(text), &g, &error));
    CHECK_INT(cairn_geometry_look(g).face_count, 3);
    CHECK(!cairn_geometry_look(g).closed);
    cairn_geometry_release(g);
}

TEST(broken_obj_files_are_refused_with_their_line)
{
    check_refused("obj", CORNERS "f 1 2 5\n", 5, "names vertex 5, but 4 vertices stand above");
    check_refused("obj", CORNERS "f 1 2 0\n", 5, "names vertex 0");
    check_refused("obj", CORNERS "f 1 2 -5\n", 5, "names vertex -5");
    check_refused("obj", CORNERS "f 1 2\n", 5, "a face of 2 corners");
    check_refused("obj", CORNERS "\nf 1 2 x\n", 6, "found 'x', expected the number of a vertex");
    check_refused("obj", CORNERS "f 1 2 99999999999999999999\n", 5, "vertices stand above");
    check_refused("obj", CORNERS "f 1 2 2\n", 5, "triangle 1 is degenerate");
    check_refused("obj", "v 0 0 0\nv 1 0\nf 1 1 1\n", 2, "expected three coordinates");
    check_refused("obj", "v 0 0 1,5\n", 1, "found '1,5', expected three coordinates");
    check_refused("obj", "v 0 0 .inf\n", 1, "vertex 1 is not finite");
    check_refused("obj", "", 0, "no vertices");
    check_refused("obj", CORNERS, 0, "0 triangles");
    check_refused("obj", CORNERS "v 4 0 0\nf 1 2 5\n", 0, "triangle 1 at (0, 0, 0) is degenerate");
    check_refused("obj", CORNERS "f 1 2 3\nf 1 2 4\n", 0, "run the same way");
    check_refused("obj", CORNERS "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", 0, "are inverted");
}

/* strtoll passes over a form feed: a reader that does not finds the same corner for ever. */
TEST(every_blank_separates_words_in_obj)
{
    static const char text[] = "v\t0 0\v0\nv 1 0 0\nv\f0 1 0\nf 1 2\f 3\n";
    const cairn_geometry *g;
    cairn_error error;
    CHECK_OK(load_bytes("obj", text, strlen(text), &g, &error));
    CHECK_INT(cairn_geometry_look(g).face_count, 1);
    CHECK_INT(cairn_geometry_look(g).vertex_count, 3);
    cairn_geometry_release(g);
    check_refused("obj", CORNERS "f 1 2 0x3\n", 5, "found '0x3'");
    check_refused("obj", "v 0 0 0x1\n", 1, "found '0x1'");
    check_refused("obj", "v 0 0 inf\n", 1, "found 'inf'");
}

/* Some editors begin a file with EF BB BF. */
TEST(the_mark_of_utf8_is_passed_over)
{
    static const char obj[] = "\xef\xbb\xbf" CORNERS "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const cairn_geometry *g;
    cairn_error error;
    CHECK_OK(load_bytes("obj", obj, strlen(obj), &g, &error));
    check_tetrahedron(g);
    cairn_geometry_release(g);
    check_refused("stl", "\xef\xbb\xbfsolid a\nendsolid a\n", 0, "no vertices");
}

TEST(a_fifo_is_not_waited_for)
{
    const cairn_geometry *g;
    cairn_error error = { 0 };
    CHECK_INT(mkfifo(path_of("obj"), 0666), 0);
    CHECK_INT(cairn_mesh_load(path_of("obj"), 1, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "this is not a plain file but a FIFO");
    remove(path_of("obj"));
}

#define FACET(a, b, c)                                                                             \
    "facet normal 0 0 0\n outer loop\n  vertex " a "\n  vertex " b "\n  vertex " c                 \
    "\n endloop\nendfacet\n"

TEST(ascii_stl)
{
    static const char text[] = "solid some name\n" FACET("0 0 0", "0 3 0", "2 0 0")
        FACET("0 0 0", "2 0 0", "0 0 4e0") FACET("0 0 0", "0 0 4", "0 3 0")
            FACET("2 0 0", "0 3 0", "0 0 4") "endsolid some name\n";
    const cairn_geometry *g;
    cairn_error error;
    if (load_bytes("stl", text, strlen(text), &g, &error) != CAIRN_OK)
        fail_msg("%d: %s", error.line, error.message);
    check_tetrahedron(g);
    cairn_geometry_release(g);
}

TEST(broken_ascii_stl_files_are_refused_with_their_line)
{
    check_refused("stl", "solid a\n" FACET("0 0 0", "1 0 0", "0 1 0"), 9, "ends here, expected");
    check_refused("stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\n", 5,
                  "found 'endloop', expected 'vertex'");
    check_refused("stl", "solid a\n" FACET("0 0 0", "1 0 b", "0 1 0"), 5, "found 'b'");
    check_refused("stl", "solid a\n" FACET("0 0 0", "1 0 0", "0 0 0") "endsolid", 2,
                  "triangle 1 is degenerate");
    check_refused("stl", "solid a\nfacet normal 0 0 1\nvertex 0 0 0", 3, "expected 'outer loop'");
    check_refused("stl", "solid a\nendsolid a\n", 0, "no vertices");
    check_refused("stl", "hello", 0, "begins with 'solid'");
}

/* A binary file with the corners of the tetrahedron, low byte first. */
static size_t binary_tetrahedron(unsigned char *bytes)
{
    static const float corner[4][3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 3, 0 }, { 0, 0, 4 } };
    static const int face[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    memset(bytes, 0, 84 + 4 * 50);
    memcpy(bytes, "solid misleading", 16);
    bytes[80] = 4;
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) {
                uint32_t bits;
                memcpy(&bits, &corner[face[f][k]][c], 4);
                for (int b = 0; b < 4; b++)
                    bytes[84 + 50 * f + 12 + 12 * k + 4 * c + b] = (unsigned char)(bits >> 8 * b);
            }
    return 84 + 4 * 50;
}

TEST(binary_stl)
{
    unsigned char bytes[300];
    size_t length = binary_tetrahedron(bytes);
    const cairn_geometry *g;
    cairn_error error;
    if (load_bytes("STL", bytes, length, &g, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    check_tetrahedron(g);
    cairn_geometry_release(g);
}

TEST(binary_stl_cut_anywhere_is_refused)
{
    unsigned char bytes[300];
    size_t length = binary_tetrahedron(bytes);
    const cairn_geometry *g;
    cairn_error error;
    memcpy(bytes, "binary", 6);
    for (size_t cut = 0; cut < length; cut += 7)
        CHECK_INT(load_bytes("stl", bytes, cut, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "expected 284 for the 4 triangles that the header announces");
    bytes[83] = 0xff; /* four thousand million triangles are announced */
    CHECK_INT(load_bytes("stl", bytes, length, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 284 bytes");
    length = binary_tetrahedron(bytes);
    memset(bytes + 84 + 12, 0xff, 4); /* a NaN */
    CHECK_INT(load_bytes("stl", bytes, length, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "vertex 1 is not finite");
}

/* 1000 mm = 1 m */
TEST(scale_turns_the_unit_of_the_file_into_metres)
{
    static const char text[] = CORNERS "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const cairn_geometry *g;
    write_bytes("obj", text, strlen(text));
    CHECK_OK(cairn_mesh_load(path_of("obj"), 0.5, &g, NULL));
    CHECK_NEAR(cairn_geometry_look(g).vertices[3].z, 2, 0);
    cairn_geometry_release(g);
    CHECK_OK(cairn_hull_load(path_of("obj"), 0.5, &g, NULL));
    CHECK_NEAR(cairn_geometry_look(g).vertices[3].z, 2, 0);
    CHECK_INT(cairn_geometry_look(g).face_count, 4);
    cairn_geometry_release(g);
    CHECK_INT(cairn_mesh_load(path_of("obj"), 0, &g, NULL), CAIRN_BAD_INPUT);
    remove(path_of("obj"));
}

TEST(files_that_are_not_there_or_of_unknown_form_are_refused)
{
    const cairn_geometry *g;
    cairn_error error = { 0 };
    CHECK_INT(cairn_mesh_load("no_such_file.obj", 1, &g, &error), CAIRN_NOT_FOUND);
    CHECK_TEXT(error.file, "no_such_file.obj");
    CHECK_INT(cairn_mesh_load("no_such_file.ply", 1, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "ends in .obj or .stl");
    CHECK(g == NULL);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    unsigned char bytes[300];
    size_t length = binary_tetrahedron(bytes);
    cairn_status status = CAIRN_NO_MEMORY;
    write_bytes("stl", bytes, length);
    for (long n = 1; status != CAIRN_OK && n < 100; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_mesh_load(path_of("stl"), 1, &g, NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
    remove(path_of("stl"));
}

GROUP(test_mesh_file)
{
    RUN(CASE(obj_with_all_ways_to_name_a_corner),
        CASE(obj_faces_with_many_corners_become_triangles),
        CASE(broken_obj_files_are_refused_with_their_line),
        CASE(every_blank_separates_words_in_obj), CASE(the_mark_of_utf8_is_passed_over),
        CASE(a_fifo_is_not_waited_for), CASE(ascii_stl),
        CASE(broken_ascii_stl_files_are_refused_with_their_line), CASE(binary_stl),
        CASE(binary_stl_cut_anywhere_is_refused),
        CASE(scale_turns_the_unit_of_the_file_into_metres),
        CASE(files_that_are_not_there_or_of_unknown_form_are_refused),
        CASE(nothing_leaks_when_an_allocation_fails));
}

/* ==== test_fuzz: OBJ, STL and scene files that were changed at random, always in the same way:
 * each is read or refused with a message, in a moment, within a little memory, and nothing
 * leaks. Under the sanitizers a read or write outside of what was taken ends the test. */

enum { MOST = 2048 };

/* A file and what is done to it. */
typedef struct input {
    unsigned char bytes[MOST];
    size_t length;
} input;

/* ---- the allocator's view --------------------------------------------------------------------- */

/* Memory that is in use, in blocks with their size before them. */
typedef struct budget {
    size_t bytes, most; /* in use; what is allowed */
} budget;

static void *resize(void *context, void *block, size_t bytes)
{
    budget *m = context;
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
    budget m = { .most = MEMORY };
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

GROUP(test_fuzz)
{
    RUN(CASE(changed_obj_files), CASE(changed_ascii_stl_files), CASE(changed_binary_stl_files),
        CASE(changed_scenes));
}
