/* mesh_stl.c - STL, binary and ASCII. A binary file has 80 bytes of anything, the number n of
 * triangles (32 bits, low byte first) and 50 bytes for each: its normal (not used), three corners
 * as 32-bit floats, and two bytes. So a file of 84 + 50 n bytes is binary, even one that begins
 * with "solid"; any other must be ASCII: `facet normal`, `outer loop`, three times `vertex x y z`,
 * `endloop`, `endfacet`. */
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "base/text.h"
#include "io/mesh_file.h"

enum { HEADER = 84, RECORD = 50, NORMAL = 12 };

/* ---- binary --------------------------------------------------------------------------------- */

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

static cairn_status add_corners(cairn_mesh_file *file, const cairn_vec3 corner[3], int line,
                                cairn_error *error)
{
    int32_t first = (int32_t)file->vertex_count;
    const int32_t corners[3] = { first, first + 1, first + 2 };
    for (int k = 0; k < 3; k++)
        TRY(cairn_mesh_file_add_vertex(file, corner[k], line, error));
    return cairn_mesh_file_add_triangle(file, corners, line);
}

static cairn_status read_binary(cairn_mesh_file *file, cairn_error *error)
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

/* ---- ASCII ---------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at;
    int line;
} cursor;

static void skip_space(cursor *c)
{
    for (; cairn_is_space(*c->at); c->at++)
        c->line += *c->at == '\n';
}

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

static cairn_status unexpected(const cairn_mesh_file *file, const cursor *c, const char *expected,
                               cairn_error *error)
{
    int length = 0;
    while (c->at[length] && !cairn_is_space(c->at[length]) && length < 30)
        length++;
    if (length == 0)
        return cairn_mesh_file_fail(file, c->line, error, "the file ends here, expected %s",
                                    expected);
    return cairn_mesh_file_fail(file, c->line, error, "found '%.*s', expected %s", length, c->at,
                                expected);
}

static cairn_status read_corner(const cairn_mesh_file *file, cursor *c, cairn_vec3 *out,
                                cairn_error *error)
{
    double v[3];
    if (!accept(c, "vertex"))
        return unexpected(file, c, "'vertex'", error);
    for (int k = 0; k < 3; k++) {
        skip_space(c);
        const cursor before = *c;
        if (!cairn_mesh_file_number(&c->at, &v[k]))
            return unexpected(file, &before, "three coordinates of a vertex", error);
    }
    *out = (cairn_vec3){ v[0], v[1], v[2] };
    return CAIRN_OK;
}

/* After `facet`: normal, loop, three corners, ends. */
static cairn_status read_facet(cairn_mesh_file *file, cursor *c, cairn_error *error)
{
    cairn_vec3 corner[3];
    int line = c->line;
    skip_line(c);
    if (!accept(c, "outer") || !accept(c, "loop"))
        return unexpected(file, c, "'outer loop'", error);
    for (int k = 0; k < 3; k++)
        TRY(read_corner(file, c, &corner[k], error));
    if (!accept(c, "endloop"))
        return unexpected(file, c, "'endloop' after three vertices", error);
    if (!accept(c, "endfacet"))
        return unexpected(file, c, "'endfacet'", error);
    return add_corners(file, corner, line, error);
}

static cairn_status read_text(cairn_mesh_file *file, cairn_error *error)
{
    cursor c = { cairn_mesh_file_text(file), 1 };
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

cairn_status cairn_mesh_stl_read(cairn_mesh_file *file, cairn_error *error)
{
    uint64_t count = file->length >= HEADER ? unsigned_at(file->bytes + HEADER - 4) : 0;
    uint64_t expected = HEADER + RECORD * count;
    if (file->length >= HEADER && file->length == expected)
        return read_binary(file, error);
    cursor c = { cairn_mesh_file_text(file), 1 };
    if (accept(&c, "solid") && !memchr(file->bytes, '\0', file->length))
        return read_text(file, error);
    return cairn_mesh_file_fail(
        file, 0, error,
        "found %zu bytes, expected %llu for the %llu triangles that the header announces, "
        "or a text that begins with 'solid'",
        file->length, (unsigned long long)expected, (unsigned long long)count);
}
