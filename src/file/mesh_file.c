/* mesh_file.c - reads a mesh or a hull from a file of triangles, OBJ or STL.
 *
 * The whole file is read into memory, parsed into vertices and corners by the reader of its
 * format, then corners at the same place become one vertex, because STL files repeat them for
 * every triangle: without that no two triangles would share an edge, and no mesh would be
 * closed. Only then are the coordinates scaled and the geometry created. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/shape.h"
#include "file/file.h"

/* Keeps counts of vertices and triangles within 32 bits. */
#define MAX_BYTES ((size_t)1 << 30)

/* The triangles of a file; all zero is empty. */
typedef struct mesh_file {
    const char *path;
    const unsigned char *bytes; /* the file, followed by a zero byte                         */
    size_t length;
    cairn_vec3 *vertices; /* in the unit of the file */
    size_t vertex_count, vertex_capacity;
    int32_t *corners; /* three a triangle                                                     */
    size_t corner_count, corner_capacity;
    int *lines; /* line of each triangle, for messages; 0 in a binary file */
    size_t line_count, line_capacity;
} mesh_file;

/* ---- what the formats use ------------------------------------------------------------------- */

/* Fail with the path of the file and a line (0: none). */
static __attribute__((format(printf, 4, 5))) cairn_status
fail_at(const mesh_file *file, int line, cairn_error *error, const char *format, ...)
{
    char message[sizeof((cairn_error *)0)->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    cairn_error_set_file(error, file->path);
    if (error)
        error->line = line;
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "%s", message);
}

/* Add a vertex; one that is not finite is refused. */
static cairn_status add_vertex(mesh_file *file, cairn_vec3 vertex, int line, cairn_error *error)
{
    void *block = file->vertices;
    if (!isfinite(vertex.x) || !isfinite(vertex.y) || !isfinite(vertex.z))
        return fail_at(file, line, error, "vertex %zu is not finite", file->vertex_count + 1);
    TRY(cairn_memory_reserve(&block, &file->vertex_capacity, file->vertex_count + 1,
                             sizeof *file->vertices));
    file->vertices = block;
    file->vertices[file->vertex_count++] = vertex;
    return CAIRN_OK;
}

/* Add a triangle that was found in `line`. */
static cairn_status add_triangle(mesh_file *file, const int32_t corners[3], int line)
{
    void *block = file->corners, *lines = file->lines;
    TRY(cairn_memory_reserve(&block, &file->corner_capacity, file->corner_count + 3,
                             sizeof *file->corners));
    file->corners = block;
    TRY(cairn_memory_reserve(&lines, &file->line_capacity, file->line_count + 1,
                             sizeof *file->lines));
    file->lines = lines;
    for (int k = 0; k < 3; k++)
        file->corners[file->corner_count++] = corners[k];
    file->lines[file->line_count++] = line;
    return CAIRN_OK;
}

/* The file as a text, without the byte order mark that some editors put first. */
static const char *text_of(const mesh_file *file)
{
    return (const char *)file->bytes + cairn_text_mark(file->bytes, file->length);
}

/* Read the number at *at, with a decimal point whatever the locale, and move past it. */
static bool next_number(const char **at, double *out)
{
    char word[64];
    size_t length = 0;
    while ((*at)[length] && !cairn_is_space((*at)[length]))
        length++;
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    return cairn_text_real(word, out);
}

/* ---- Wavefront OBJ ----------------------------------------------------------------------- */

/* `v x y z` are vertices, `f a b c ...` faces whose corners are a, a/t, a//n or a/t/n, counted
 * from 1 or, if negative, back from the last vertex. Faces with more corners are cut into
 * triangles about their first corner, which is right for convex faces. All other lines are
 * ignored. */

/* The position of the reader. */
typedef struct cursor {
    const char *at; /* within the line, which ends with a line break or zero */
    int line;
} cursor;

static void skip_blanks(cursor *c)
{
    while (cairn_is_blank(*c->at))
        c->at++;
}

static bool at_end(const cursor *c)
{
    return *c->at == '\0' || *c->at == '\n' || *c->at == '#';
}

static void next_line(cursor *c)
{
    const char *end = strchr(c->at, '\n');
    c->at = end ? end + 1 : c->at + strlen(c->at);
    c->line++;
}

/* The length of the word at the position, for messages. */
static int word_length(const cursor *c)
{
    int length = 0;
    while (c->at[length] && !cairn_is_space(c->at[length]) && length < 30)
        length++;
    return length;
}

/* A fourth coordinate or colours behind the three coordinates are ignored. */
static cairn_status read_vertex(mesh_file *file, cursor *c, cairn_error *error)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        skip_blanks(c);
        const cursor before = *c;
        if (at_end(c) || !next_number(&c->at, &v[k]))
            return fail_at(file, c->line, error,
                           "found '%.*s', expected three coordinates of a vertex",
                           word_length(&before), before.at);
    }
    return add_vertex(file, (cairn_vec3){ v[0], v[1], v[2] }, c->line, error);
}

/* Read one corner of a face: the number of its vertex, from 0. Texture and normal are skipped. */
static cairn_status read_corner(mesh_file *file, cursor *c, int32_t *out, cairn_error *error)
{
    int64_t count = (int64_t)file->vertex_count, number;
    size_t length = cairn_integer_read(c->at, &number);
    const char *end = c->at + length;
    if (length == 0 || !(*end == '/' || *end == '\0' || cairn_is_space(*end)))
        return fail_at(file, c->line, error, "found '%.*s', expected the number of a vertex",
                       word_length(c), c->at);
    int64_t index = number < 0 ? count + number : number - 1;
    if (number == 0 || index < 0 || index >= count)
        return fail_at(file, c->line, error,
                       "a face names vertex %lld, but %lld vertices stand above it",
                       (long long)number, (long long)count);
    while (*end && !cairn_is_space(*end))
        end++;
    c->at = end;
    *out = (int32_t)index;
    return CAIRN_OK;
}

/* corner[0] stays, corner[1] and [2] move on: the triangles form a fan. */
static cairn_status read_face(mesh_file *file, cursor *c, cairn_error *error)
{
    int32_t corner[3], count = 0;
    for (skip_blanks(c); !at_end(c); skip_blanks(c)) {
        TRY(read_corner(file, c, &corner[count < 2 ? count : 2], error));
        if (++count < 3)
            continue;
        TRY(add_triangle(file, corner, c->line));
        corner[1] = corner[2];
    }
    if (count < 3)
        return fail_at(file, c->line, error, "found a face of %d corners, expected at least 3",
                       (int)count);
    return CAIRN_OK;
}

/* Whether the line starts with a word that a blank ends: "v", but not "vn" or "vt". */
static bool starts(cursor *c, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(c->at, word, length) != 0 || !cairn_is_blank(c->at[length]))
        return false;
    c->at += length;
    return true;
}

/* The text ends with the zero byte behind the file, so a zero inside it would hide the rest. */
static cairn_status read_obj(mesh_file *file, cairn_error *error)
{
    cursor c = { text_of(file), 1 };
    if (memchr(file->bytes, '\0', file->length))
        return fail_at(file, 0, error, "not a text file: it holds zero bytes");
    for (; *c.at; next_line(&c)) {
        skip_blanks(&c);
        if (starts(&c, "v"))
            TRY(read_vertex(file, &c, error));
        else if (starts(&c, "f"))
            TRY(read_face(file, &c, error));
    }
    return CAIRN_OK;
}

/* ---- STL --------------------------------------------------------------------------------- */

/* Binary and ASCII. A binary file has 80 bytes of anything, the number n of triangles (32 bits,
 * low byte first) and 50 bytes for each: its normal (not used), three corners as 32-bit floats,
 * and two bytes. So a file of 84 + 50 n bytes is binary, even one that begins with "solid"; any
 * other must be ASCII: `facet normal`, `outer loop`, three times `vertex x y z`, `endloop`,
 * `endfacet`. */

enum { HEADER = 84, RECORD = 50, NORMAL = 12 };

/* ---- STL, binary ------------------------------------------------------------------------- */

/* Assembled from bytes, so that neither byte order nor alignment of the machine matters. */
static uint32_t unsigned_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static double float_at(const unsigned char *bytes)
{
    uint32_t bits = unsigned_at(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* STL has no shared vertices: each triangle brings three, which merge() joins. */
static cairn_status add_corners(mesh_file *file, const cairn_vec3 corner[3], int line,
                                cairn_error *error)
{
    int32_t first = (int32_t)file->vertex_count;
    const int32_t corners[3] = { first, first + 1, first + 2 };
    for (int k = 0; k < 3; k++)
        TRY(add_vertex(file, corner[k], line, error));
    return add_triangle(file, corners, line);
}

/* The stored normals are not used: the order of the corners defines the outer side. */
static cairn_status read_binary(mesh_file *file, cairn_error *error)
{
    size_t count = (file->length - HEADER) / RECORD;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *record = file->bytes + HEADER + i * RECORD + NORMAL;
        cairn_vec3 corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = (cairn_vec3){ float_at(record + 12 * k), float_at(record + 12 * k + 4),
                                      float_at(record + 12 * k + 8) };
        TRY(add_corners(file, corner, 0, error));
    }
    return CAIRN_OK;
}

/* ---- STL, ASCII -------------------------------------------------------------------------- */

/* Unlike skip_blanks, this crosses line breaks and counts lines. */
static void skip_space(cursor *c)
{
    for (; cairn_is_space(*c->at); c->at++)
        c->line += *c->at == '\n';
}

/* Skip white space, line breaks included, and a word, in upper or lower case. False: another
 * word. */
static bool accept(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if (strncasecmp(c->at, word, length) != 0 || (c->at[length] && !cairn_is_space(c->at[length])))
        return false;
    c->at += length;
    return true;
}

static void skip_line(cursor *c)
{
    while (*c->at && *c->at != '\n')
        c->at++;
}

static cairn_status unexpected(const mesh_file *file, const cursor *c, const char *expected,
                               cairn_error *error)
{
    int length = 0;
    while (c->at[length] && !cairn_is_space(c->at[length]) && length < 30)
        length++;
    if (length == 0)
        return fail_at(file, c->line, error, "the file ends here, expected %s", expected);
    return fail_at(file, c->line, error, "found '%.*s', expected %s", length, c->at, expected);
}

static cairn_status read_stl_corner(const mesh_file *file, cursor *c, cairn_vec3 *out,
                                    cairn_error *error)
{
    double v[3];
    if (!accept(c, "vertex"))
        return unexpected(file, c, "'vertex'", error);
    for (int k = 0; k < 3; k++) {
        skip_space(c);
        const cursor before = *c;
        if (!next_number(&c->at, &v[k]))
            return unexpected(file, &before, "three coordinates of a vertex", error);
    }
    *out = (cairn_vec3){ v[0], v[1], v[2] };
    return CAIRN_OK;
}

/* Read a facet after its keyword: normal (skipped), loop, three corners, ends. */
static cairn_status read_facet(mesh_file *file, cursor *c, cairn_error *error)
{
    cairn_vec3 corner[3];
    int line = c->line;
    skip_line(c);
    if (!accept(c, "outer") || !accept(c, "loop"))
        return unexpected(file, c, "'outer loop'", error);
    for (int k = 0; k < 3; k++)
        TRY(read_stl_corner(file, c, &corner[k], error));
    if (!accept(c, "endloop"))
        return unexpected(file, c, "'endloop' after three vertices", error);
    if (!accept(c, "endfacet"))
        return unexpected(file, c, "'endfacet'", error);
    return add_corners(file, corner, line, error);
}

/* A file may contain several solids, one after the other; they become one mesh. */
static cairn_status read_text(mesh_file *file, cairn_error *error)
{
    cursor c = { text_of(file), 1 };
    bool open = false;
    for (skip_space(&c); *c.at; skip_space(&c)) {
        if (!open && accept(&c, "solid")) {
            open = true;
            skip_line(&c);
        } else if (open && accept(&c, "facet")) {
            TRY(read_facet(file, &c, error));
        } else if (open && accept(&c, "endsolid")) {
            open = false;
            skip_line(&c);
        } else {
            return unexpected(file, &c, open ? "'facet' or 'endsolid'" : "'solid'", error);
        }
    }
    return open ? unexpected(file, &c, "'endsolid'", error) : CAIRN_OK;
}

/* ---- which ---------------------------------------------------------------------------------- */

/* The size decides, not the first word: a binary file may begin with "solid" as well. */
static cairn_status read_stl(mesh_file *file, cairn_error *error)
{
    uint64_t count = file->length >= HEADER ? unsigned_at(file->bytes + HEADER - 4) : 0;
    uint64_t expected = HEADER + RECORD * count;
    if (file->length >= HEADER && file->length == expected)
        return read_binary(file, error);
    cursor c = { text_of(file), 1 };
    if (accept(&c, "solid") && !memchr(file->bytes, '\0', file->length))
        return read_text(file, error);
    return fail_at(
        file, 0, error,
        "found %zu bytes, expected %llu for the %llu triangles that the header announces, "
        "or a text that begins with 'solid'",
        file->length, (unsigned long long)expected, (unsigned long long)count);
}

/* ---- one vertex for one place --------------------------------------------------------------- */

/* A vertex with its number, to be sorted by position. */
typedef struct place {
    cairn_vec3 x;
    int32_t number;
} place;

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

/* The comparison is exact: a tolerance could merge vertices of small triangles. */
static int same_place(const place *a, const place *b)
{
    int x = order(a->x.x, b->x.x), y = order(a->x.y, b->x.y);
    return x ? x : y ? y : order(a->x.z, b->x.z);
}

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;
    int where = same_place(a, b);
    return where ? where : (a->number > b->number) - (a->number < b->number);
}

/* Find for each vertex the first one at its place, then number the kept ones in the order of the
 * file. A first vertex has a smaller number than its copies, so its new number is known before
 * theirs. */
static void renumber(mesh_file *file, const place *sorted, int32_t *now)
{
    size_t count = file->vertex_count, kept = 0;
    for (size_t i = 0, first = 0; i < count; i++) {
        first = same_place(&sorted[first], &sorted[i]) == 0 ? first : i;
        now[sorted[i].number] = sorted[first].number;
    }
    for (size_t i = 0; i < count; i++) {
        bool first = now[i] == (int32_t)i;
        if (first)
            file->vertices[kept] = file->vertices[i];
        now[i] = first ? (int32_t)kept++ : now[now[i]];
    }
    for (size_t i = 0; i < file->corner_count; i++)
        file->corners[i] = now[file->corners[i]];
    file->vertex_count = kept;
}

static cairn_status merge(mesh_file *file)
{
    place *sorted = cairn_memory_resize(NULL, file->vertex_count, sizeof *sorted);
    int32_t *now = cairn_memory_resize(NULL, file->vertex_count, sizeof *now);
    bool enough = sorted && now;
    if (enough) {
        for (size_t i = 0; i < file->vertex_count; i++)
            sorted[i] = (place){ file->vertices[i], (int32_t)i };
        qsort(sorted, file->vertex_count, sizeof *sorted, by_place);
        renumber(file, sorted, now);
    }
    cairn_memory_free(sorted);
    cairn_memory_free(now);
    return enough ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Checked here and not in cairn_mesh_create, because only here the line in the file is known. */
static cairn_status check_corners(const mesh_file *file, cairn_error *error)
{
    for (size_t i = 0; i < file->line_count; i++) {
        const int32_t *c = file->corners + 3 * i;
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            return fail_at(file, file->lines[i], error,
                           "triangle %zu is degenerate: two of its corners coincide", i + 1);
    }
    return CAIRN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Read in pieces, since the size of a stream is not known in advance. file->bytes owns the block
 * from the first piece on, so it is freed also after a failure. */
static cairn_status read_bytes(mesh_file *file, FILE *stream, cairn_error *error)
{
    const size_t piece = 1 << 16;
    size_t capacity = 0, got = piece;
    void *block = NULL;
    while (got > 0) {
        TRY(cairn_memory_reserve(&block, &capacity, file->length + piece + 1, 1));
        file->bytes = block;
        got = fread((unsigned char *)block + file->length, 1, piece, stream);
        file->length += got;
        if (file->length > MAX_BYTES)
            return fail_at(file, 0, error, "the file is larger than 1 GiB");
    }
    if (ferror(stream))
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot read: %s", strerror(errno));
    ((unsigned char *)block)[file->length] = '\0';
    return CAIRN_OK;
}

static cairn_status read_stream(mesh_file *file, cairn_error *error)
{
    FILE *stream;
    TRY(cairn_file_open(file->path, &stream, error));
    cairn_status status = read_bytes(file, stream, error);
    fclose(stream);
    return status;
}

/* The ending of the name selects the format, in upper or lower case. */
static cairn_status read_mesh(mesh_file *file, cairn_error *error)
{
    static const struct {
        const char *ending;
        cairn_status (*read)(mesh_file *, cairn_error *);
    } formats[] = { { ".obj", read_obj }, { ".stl", read_stl } };
    size_t length = strlen(file->path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (length < 4 || strcasecmp(file->path + length - 4, formats[i].ending) != 0)
            continue;
        TRY(read_stream(file, error));
        TRY(formats[i].read(file, error));
        if (file->vertex_count == 0)
            return fail_at(file, 0, error, "the file has no vertices");
        return merge(file);
    }
    return fail_at(file, 0, error, "expected a name that ends in .obj or .stl");
}

static void destroy(mesh_file *file)
{
    cairn_memory_free((void *)file->bytes);
    cairn_memory_free(file->vertices);
    cairn_memory_free(file->corners);
    cairn_memory_free(file->lines);
}

/* Makes a mesh or a hull of what was read. */
typedef cairn_status make_fn(const mesh_file *file, const cairn_geometry **out, cairn_error *error);

static cairn_status make_mesh(const mesh_file *file, const cairn_geometry **out, cairn_error *error)
{
    const cairn_mesh_def def = { file->vertices, (int)file->vertex_count, file->corners,
                                 (int)file->line_count };
    TRY(check_corners(file, error));
    return cairn_mesh_create(&def, out, error);
}

static cairn_status make_hull(const mesh_file *file, const cairn_geometry **out, cairn_error *error)
{
    return cairn_hull_create(file->vertices, (int)file->vertex_count, 3, out, error);
}

static cairn_status load(const char *path, double scale, make_fn *make, const cairn_geometry **out,
                         cairn_error *error)
{
    mesh_file file = { .path = path };
    *out = NULL;
    if (!(scale > 0 && isfinite(scale)))
        return cairn_fail(error, CAIRN_BAD_INPUT, "scale", "found %g, expected a number > 0",
                          scale);
    /* vertices are merged in the unit of the file, before scaling could round them */
    cairn_status status = read_mesh(&file, error);
    for (size_t i = 0; i < file.vertex_count && status == CAIRN_OK; i++)
        file.vertices[i] = (cairn_vec3){ scale * file.vertices[i].x, scale * file.vertices[i].y,
                                         scale * file.vertices[i].z };
    if (status == CAIRN_OK)
        status = make(&file, out, error);
    destroy(&file);
    if (status != CAIRN_OK)
        cairn_error_set_file(error, path);
    return status == CAIRN_NO_MEMORY ? cairn_fail(error, status, NULL, "out of memory") : status;
}

cairn_status cairn_mesh_load(const char *path, double scale, const cairn_geometry **out,
                             cairn_error *error)
{
    return load(path, scale, make_mesh, out, error);
}

cairn_status cairn_hull_load(const char *path, double scale, const cairn_geometry **out,
                             cairn_error *error)
{
    return load(path, scale, make_hull, out, error);
}
