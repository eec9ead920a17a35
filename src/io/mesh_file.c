/* mesh_file.c - from a file of triangles to a mesh or a hull. Corners at the same place become one
 * vertex, since STL files repeat them for every triangle. */
#include "io/mesh_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/file.h"
#include "io/yaml.h"

#define MAX_BYTES ((size_t)1 << 30)

/* ---- what the formats use ------------------------------------------------------------------- */

cairn_status cairn_mesh_file_fail(const cairn_mesh_file *file, int line, cairn_error *error,
                                  const char *format, ...)
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

cairn_status cairn_mesh_file_add_vertex(cairn_mesh_file *file, cairn_vec3 vertex, int line,
                                        cairn_error *error)
{
    void *block = file->vertices;
    if (!isfinite(vertex.x) || !isfinite(vertex.y) || !isfinite(vertex.z))
        return cairn_mesh_file_fail(file, line, error, "vertex %zu is not finite",
                                    file->vertex_count + 1);
    TRY(cairn_memory_reserve(&block, &file->vertex_capacity, file->vertex_count + 1,
                             sizeof *file->vertices));
    file->vertices = block;
    file->vertices[file->vertex_count++] = vertex;
    return CAIRN_OK;
}

cairn_status cairn_mesh_file_add_triangle(cairn_mesh_file *file, const int32_t corners[3], int line)
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

const char *cairn_mesh_file_text(const cairn_mesh_file *file)
{
    return (const char *)file->bytes + cairn_text_mark(file->bytes, file->length);
}

bool cairn_mesh_file_number(const char **at, double *out)
{
    char word[64];
    size_t length = 0;
    const cairn_yaml_node scalar = { .kind = CAIRN_YAML_SCALAR, .text = word };
    while ((*at)[length] && !cairn_is_space((*at)[length]))
        length++;
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    return cairn_yaml_real(&scalar, out);
}

/* ---- one vertex for one place --------------------------------------------------------------- */

typedef struct place {
    cairn_vec3 x;
    int32_t number;
} place;

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

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

/* For each vertex the first one at its place, then numbered anew in the order of the file. */
static void renumber(cairn_mesh_file *file, const place *sorted, int32_t *now)
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

static cairn_status merge(cairn_mesh_file *file)
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

static cairn_status check_corners(const cairn_mesh_file *file, cairn_error *error)
{
    for (size_t i = 0; i < file->line_count; i++) {
        const int32_t *c = file->corners + 3 * i;
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            return cairn_mesh_file_fail(file, file->lines[i], error,
                                        "triangle %zu is degenerate: two of its corners coincide",
                                        i + 1);
    }
    return CAIRN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static cairn_status read_bytes(cairn_mesh_file *file, FILE *stream, cairn_error *error)
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
            return cairn_mesh_file_fail(file, 0, error, "the file is larger than 1 GiB");
    }
    if (ferror(stream))
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot read: %s", strerror(errno));
    ((unsigned char *)block)[file->length] = '\0';
    return CAIRN_OK;
}

static cairn_status read_stream(cairn_mesh_file *file, cairn_error *error)
{
    FILE *stream;
    TRY(cairn_file_open(file->path, &stream, error));
    cairn_status status = read_bytes(file, stream, error);
    fclose(stream);
    return status;
}

static cairn_status read_mesh(cairn_mesh_file *file, cairn_error *error)
{
    static const struct {
        const char *ending;
        cairn_status (*read)(cairn_mesh_file *, cairn_error *);
    } formats[] = { { ".obj", cairn_mesh_obj_read }, { ".stl", cairn_mesh_stl_read } };
    size_t length = strlen(file->path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (length < 4 || strcasecmp(file->path + length - 4, formats[i].ending) != 0)
            continue;
        TRY(read_stream(file, error));
        TRY(formats[i].read(file, error));
        if (file->vertex_count == 0)
            return cairn_mesh_file_fail(file, 0, error, "the file has no vertices");
        return merge(file);
    }
    return cairn_mesh_file_fail(file, 0, error, "expected a name that ends in .obj or .stl");
}

static void destroy(cairn_mesh_file *file)
{
    cairn_memory_free((void *)file->bytes);
    cairn_memory_free(file->vertices);
    cairn_memory_free(file->corners);
    cairn_memory_free(file->lines);
}

/* A mesh or a hull of what was read. */
typedef cairn_status make_fn(const cairn_mesh_file *file, const cairn_geometry **out,
                             cairn_error *error);

static cairn_status make_mesh(const cairn_mesh_file *file, const cairn_geometry **out,
                              cairn_error *error)
{
    const cairn_mesh_def def = { file->vertices, (int)file->vertex_count, file->corners,
                                 (int)file->line_count };
    TRY(check_corners(file, error));
    return cairn_mesh_create(&def, out, error);
}

static cairn_status make_hull(const cairn_mesh_file *file, const cairn_geometry **out,
                              cairn_error *error)
{
    return cairn_hull_create(file->vertices, (int)file->vertex_count, 3, out, error);
}

static cairn_status load(const char *path, double scale, make_fn *make, const cairn_geometry **out,
                         cairn_error *error)
{
    cairn_mesh_file file = { .path = path };
    *out = NULL;
    if (!(scale > 0 && isfinite(scale)))
        return cairn_fail(error, CAIRN_BAD_INPUT, "scale", "found %g, expected a number > 0",
                          scale);
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
