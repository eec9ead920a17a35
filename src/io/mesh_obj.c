/* mesh_obj.c - Wavefront OBJ: `v x y z` are vertices, `f a b c ...` faces whose corners are a,
 * a/t, a//n or a/t/n, counted from 1 or, when negative, back from the last vertex. Faces with more
 * corners are cut into triangles about their first corner. Everything else is passed over. */
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "io/mesh_file.h"

/* Where the reader is. */
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

/* What stands here, for messages. */
static int word_length(const cursor *c)
{
    int length = 0;
    while (c->at[length] && !cairn_is_space(c->at[length]) && length < 30)
        length++;
    return length;
}

static cairn_status read_vertex(cairn_mesh_file *file, cursor *c, cairn_error *error)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        skip_blanks(c);
        const cursor before = *c;
        if (at_end(c) || !cairn_mesh_file_number(&c->at, &v[k]))
            return cairn_mesh_file_fail(file, c->line, error,
                                        "found '%.*s', expected three coordinates of a vertex",
                                        word_length(&before), before.at);
    }
    return cairn_mesh_file_add_vertex(file, (cairn_vec3){ v[0], v[1], v[2] }, c->line, error);
}

/* One corner of a face: its vertex, from 0. */
static cairn_status read_corner(cairn_mesh_file *file, cursor *c, int32_t *out, cairn_error *error)
{
    int64_t count = (int64_t)file->vertex_count, number;
    size_t length = cairn_integer_read(c->at, &number);
    const char *end = c->at + length;
    if (length == 0 || !(*end == '/' || *end == '\0' || cairn_is_space(*end)))
        return cairn_mesh_file_fail(file, c->line, error,
                                    "found '%.*s', expected the number of a vertex", word_length(c),
                                    c->at);
    int64_t index = number < 0 ? count + number : number - 1;
    if (number == 0 || index < 0 || index >= count)
        return cairn_mesh_file_fail(file, c->line, error,
                                    "a face names vertex %lld, but %lld vertices stand above it",
                                    (long long)number, (long long)count);
    while (*end && !cairn_is_space(*end))
        end++;
    c->at = end;
    *out = (int32_t)index;
    return CAIRN_OK;
}

static cairn_status read_face(cairn_mesh_file *file, cursor *c, cairn_error *error)
{
    int32_t corner[3], count = 0;
    for (skip_blanks(c); !at_end(c); skip_blanks(c)) {
        TRY(read_corner(file, c, &corner[count < 2 ? count : 2], error));
        if (++count < 3)
            continue;
        TRY(cairn_mesh_file_add_triangle(file, corner, c->line));
        corner[1] = corner[2];
    }
    if (count < 3)
        return cairn_mesh_file_fail(file, c->line, error,
                                    "found a face of %d corners, expected at least 3", (int)count);
    return CAIRN_OK;
}

static bool starts(cursor *c, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(c->at, word, length) != 0 || !cairn_is_blank(c->at[length]))
        return false;
    c->at += length;
    return true;
}

cairn_status cairn_mesh_obj_read(cairn_mesh_file *file, cairn_error *error)
{
    cursor c = { cairn_mesh_file_text(file), 1 };
    if (memchr(file->bytes, '\0', file->length))
        return cairn_mesh_file_fail(file, 0, error, "not a text file: it holds zero bytes");
    for (; *c.at; next_line(&c)) {
        skip_blanks(&c);
        if (starts(&c, "v"))
            TRY(read_vertex(file, &c, error));
        else if (starts(&c, "f"))
            TRY(read_face(file, &c, error));
    }
    return CAIRN_OK;
}
