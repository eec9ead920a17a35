/* gltf.c - a run as an animated scene of glTF 2.0 (.glb).
 *
 * A .glb file is a header, a chunk of JSON and a chunk of bytes. The bytes hold, in this order, the
 * triangles of the meshes (a position and a normal for each corner), the times of the frames, and
 * for each body its positions, orientations and scales, one key per frame. In cairn z is up, in
 * glTF y: a root node rotates the scene. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cairn/output.h"
#include "studies/study.h"
#include "view.h"

/* A growing array of numbers. */
typedef struct floats {
    float *items;
    int count, room;
} floats;

/* One distinct shape. */
typedef struct mesh {
    cairn_shape shape;
    int first, corners; /* in `triangles`, six numbers a corner */
    float low[3], high[3];
} mesh;

typedef struct scene {
    cairn_recording *run;
    cairn_view_shelf shelf;
    cairn_view_names names;
    floats triangles;
    mesh *meshes;
    int mesh_count, mesh_room;
    int *mesh_of; /* of each body; -1: it is not shown           */
    int *node_of; /* the number of its node                      */
    int shown;    /* number of shown bodies                      */
    int frames;
    float *times; /* s                                           */
    float *keys;  /* of each shown body 8 a frame: x, q (x, y, z, w), scale */
    cairn_error *error;
} scene;

static cairn_status fail(scene *s, cairn_status status, const char *text)
{
    snprintf(s->error->message, sizeof s->error->message, "%s", text);
    return status;
}

/* ---- meshes --------------------------------------------------------------------------------- */

static cairn_status add_number(floats *f, double value)
{
    TRY(cairn_block_grow(&f->items, f->count, &f->room, sizeof *f->items));
    f->items[f->count++] = (float)value;
    return CAIRN_OK;
}

static cairn_status add_corner(scene *s, cairn_vec3 p, cairn_vec3 n)
{
    const double values[6] = { p.x, p.y, p.z, n.x, n.y, n.z };
    mesh *m = &s->meshes[s->mesh_count - 1];
    for (int i = 0; i < 6; i++)
        TRY(add_number(&s->triangles, values[i]));
    for (int i = 0; i < 3; i++) {
        m->low[i] = fminf(m->low[i], (float)values[i]);
        m->high[i] = fmaxf(m->high[i], (float)values[i]);
    }
    m->corners++;
    return CAIRN_OK;
}

static cairn_vec3 minus(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static cairn_vec3 cross(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static cairn_vec3 unit(cairn_vec3 a)
{
    double length = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
    return length > 0 ? (cairn_vec3){ a.x / length, a.y / length, a.z / length }
                      : (cairn_vec3){ 0, 0, 1 };
}

/* Convex polygons as fans. A ball is smooth; other shapes show their faces. */
static cairn_status add_polygon(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    scene *s = context;
    bool ball =
        s->meshes[s->mesh_count - 1].shape.kind == CAIRN_SHAPE_SPHERE && s->shelf.dimension == 3;
    for (int i = 1; closed && i + 1 < count; i++) {
        const cairn_vec3 p[3] = { corners[0], corners[i], corners[i + 1] };
        cairn_vec3 n = unit(cross(minus(p[1], p[0]), minus(p[2], p[0])));
        for (int k = 0; k < 3; k++)
            TRY(add_corner(s, p[k], ball ? unit(p[k]) : n));
    }
    return CAIRN_OK;
}

static bool is_same(const cairn_shape *a, const cairn_shape *b)
{
    return a->kind == b->kind &&
           memcmp(&a->radius, &b->radius, sizeof *a - offsetof(cairn_shape, radius)) == 0;
}

/* The mesh of a shape, drawn if it is new; -1: a shape that cannot be drawn. */
static cairn_status find_mesh(scene *s, const cairn_shape *shape, int *out)
{
    static const cairn_pose here = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    for (*out = s->mesh_count - 1; *out >= 0; --*out)
        if (is_same(&s->meshes[*out].shape, shape))
            return CAIRN_OK;
    TRY(cairn_block_grow(&s->meshes, s->mesh_count, &s->mesh_room, sizeof *s->meshes));
    s->meshes[s->mesh_count++] = (mesh){ *shape,
                                         s->triangles.count / 6,
                                         0,
                                         { HUGE_VALF, HUGE_VALF, HUGE_VALF },
                                         { -HUGE_VALF, -HUGE_VALF, -HUGE_VALF } };
    cairn_status status = cairn_shape_draw(shape, s->shelf.dimension, &here, add_polygon, s);
    if (status != CAIRN_OK && status != CAIRN_UNSUPPORTED)
        return status;
    if (s->meshes[s->mesh_count - 1].corners == 0) {
        s->mesh_count--;
        return CAIRN_OK;
    }
    *out = s->mesh_count - 1;
    return CAIRN_OK;
}

static cairn_status find_meshes(scene *s)
{
    s->mesh_of = cairn_block_take((size_t)s->shelf.count, sizeof *s->mesh_of);
    s->node_of = cairn_block_take((size_t)s->shelf.count, sizeof *s->node_of);
    if (!s->mesh_of || !s->node_of)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->shelf.count; i++) {
        const cairn_shape *shape = &s->shelf.shapes[i];
        s->mesh_of[i] = -1;
        if (cairn_view_is_drawn(shape))
            TRY(find_mesh(s, shape, &s->mesh_of[i]));
        s->node_of[i] = s->mesh_of[i] >= 0 ? s->shown++ : -1;
    }
    return CAIRN_OK;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* The pose of a body's shape at a frame; absent bodies have none. */
static void set_key(scene *s, int body, int frame, const double *x, const double *q)
{
    const cairn_pose at = { { x[0], x[1], x[2] }, { q[0], q[1], q[2], q[3] } };
    const cairn_pose p = cairn_view_pose(&at, &s->shelf.poses[body]);
    float *key = s->keys + 8 * ((size_t)s->node_of[body] * (size_t)s->frames + (size_t)frame);
    const double values[8] = { p.x.x, p.x.y, p.x.z, p.q.x, p.q.y, p.q.z, p.q.w, 1 };
    for (int i = 0; i < 8; i++)
        key[i] = (float)values[i];
}

static cairn_status read_frame(scene *s, int k)
{
    const cairn_recording_rows head[] = {
        { "frames/time", CAIRN_NUMBER_DOUBLE, k, 1 },
        { "frames/body_offset", CAIRN_NUMBER_DOUBLE, k, 2 },
    };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(s->run, head, 2, &data, &bytes, s->error));
    const double *found = data;
    int64_t first = (int64_t)found[1], count = (int64_t)found[2] - first;
    s->times[k] = (float)found[0];
    const cairn_recording_rows rows[] = {
        { "frames/bodies/index", CAIRN_NUMBER_DOUBLE, first, count },
        { "frames/bodies/x", CAIRN_NUMBER_DOUBLE, first, count },
        { "frames/bodies/q", CAIRN_NUMBER_DOUBLE, first, count },
    };
    TRY(cairn_recording_read(s->run, rows, 3, &data, &bytes, s->error));
    const double *index = data, *x = index + count, *q = x + 3 * count;
    for (int64_t i = 0; i < count; i++)
        if (index[i] >= 0 && index[i] < s->shelf.count && s->node_of[(int)index[i]] >= 0)
            set_key(s, (int)index[i], k, x + 3 * i, q + 4 * i);
    return CAIRN_OK;
}

/* Before a body enters, and after it leaves, it has scale 0 at its nearest known pose. */
static void fill_gaps(scene *s)
{
    for (int n = 0; n < s->shown; n++) {
        float *keys = s->keys + 8 * (size_t)n * (size_t)s->frames;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 1; i < s->frames; i++) {
                int to = pass == 0 ? s->frames - 1 - i : i, from = pass == 0 ? to + 1 : to - 1;
                bool empty = keys[8 * to + 6] == 0 && keys[8 * to + 3] == 0 &&
                             keys[8 * to + 4] == 0 && keys[8 * to + 5] == 0;
                if (empty)
                    memcpy(keys + 8 * to, keys + 8 * from, 7 * sizeof *keys);
            }
    }
}

static cairn_status read_keys(scene *s)
{
    cairn_recording_column time;
    TRY(cairn_recording_look(s->run, "frames/time", &time, s->error));
    double numbers = 8.0 * (double)s->shown * (double)time.rows;
    if (numbers > 2.5e8)
        return fail(s, CAIRN_UNSUPPORTED, "more than 1 GB of keys: too much for one scene");
    s->frames = (int)time.rows;
    s->times = cairn_block_take((size_t)s->frames, sizeof *s->times);
    s->keys = cairn_block_take(8 * (size_t)s->shown * (size_t)s->frames, sizeof *s->keys);
    if (!s->times || !s->keys)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < s->frames; k++)
        TRY(read_frame(s, k));
    fill_gaps(s);
    return CAIRN_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Views of the bytes: 0 triangles, 1 times, 2 keys. Accessors: two for each mesh (positions and
 * normals), the times, and three for each node (positions, rotations, scales). */
static void write_meshes(const scene *s, FILE *out)
{
    fputs("\"meshes\":[", out);
    for (int i = 0; i < s->mesh_count; i++)
        fprintf(out,
                "%s{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},"
                "\"material\":0}]}",
                i ? "," : "", 2 * i, 2 * i + 1);
    fputs("],\n\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.55,0.62,0.7,1],"
          "\"metallicFactor\":0,\"roughnessFactor\":0.7},\"doubleSided\":true}],\n",
          out);
}

static void write_accessors(const scene *s, FILE *out)
{
    const float end = s->frames > 0 ? s->times[s->frames - 1] : 0;
    fputs("\"accessors\":[", out);
    for (int i = 0; i < s->mesh_count; i++) {
        const mesh *m = &s->meshes[i];
        fprintf(out,
                "{\"bufferView\":0,\"byteOffset\":%lld,\"componentType\":5126,\"count\":%d,"
                "\"type\":\"VEC3\",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]},\n",
                24LL * m->first, m->corners, m->low[0], m->low[1], m->low[2], m->high[0],
                m->high[1], m->high[2]);
        fprintf(out,
                "{\"bufferView\":0,\"byteOffset\":%lld,\"componentType\":5126,\"count\":%d,"
                "\"type\":\"VEC3\"},\n",
                24LL * m->first + 12, m->corners);
    }
    fprintf(out,
            "{\"bufferView\":1,\"componentType\":5126,\"count\":%d,\"type\":\"SCALAR\","
            "\"min\":[%.9g],\"max\":[%.9g]}",
            s->frames, s->frames > 0 ? s->times[0] : 0, end);
    static const char *const types[] = { "VEC3", "VEC4", "VEC3" };
    static const int starts[] = { 0, 3, 7 }; /* in the ten numbers that a key has in the file */
    for (int n = 0; n < s->shown; n++)
        for (int k = 0; k < 3; k++)
            fprintf(out,
                    ",\n{\"bufferView\":2,\"byteOffset\":%lld,\"componentType\":5126,"
                    "\"count\":%d,\"type\":\"%s\"}",
                    4LL * s->frames * (10LL * n + starts[k]), s->frames, types[k]);
    fputs("],\n", out);
}

static void write_animation(const scene *s, FILE *out)
{
    static const char *const paths[] = { "translation", "rotation", "scale" };
    int first = 2 * s->mesh_count;
    fputs("\"animations\":[{\"samplers\":[", out);
    for (int i = 0; i < 3 * s->shown; i++)
        fprintf(out, "%s{\"input\":%d,\"output\":%d,\"interpolation\":\"%s\"}", i ? ",\n" : "",
                first, first + 1 + i, i % 3 == 2 ? "STEP" : "LINEAR");
    fputs("],\n\"channels\":[", out);
    for (int i = 0; i < 3 * s->shown; i++)
        fprintf(out, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", i ? ",\n" : "",
                i, i / 3, paths[i % 3]);
    fputs("]}],\n", out);
}

static void write_name(const scene *s, int body, FILE *out)
{
    char number[32];
    const char *name = body < s->names.bodies ? s->names.body[body] : NULL;
    const char *material = body < s->names.bodies ? s->names.material[body] : NULL;
    snprintf(number, sizeof number, "body %d", body);
    fputs("{\"name\":", out);
    cairn_json_quote(out, name ? name : number);
    if (material) {
        fputs(",\"extras\":{\"material\":", out);
        cairn_json_quote(out, material);
        fputc('}', out);
    }
}

static void write_nodes(const scene *s, FILE *out)
{
    fputs("\"nodes\":[", out);
    for (int i = 0; i < s->shelf.count; i++) {
        if (s->node_of[i] < 0)
            continue;
        const float *key = s->keys + 8 * (size_t)s->node_of[i] * (size_t)s->frames;
        write_name(s, i, out);
        fprintf(out,
                ",\"mesh\":%d,\"translation\":[%.9g,%.9g,%.9g],"
                "\"rotation\":[%.9g,%.9g,%.9g,%.9g]},\n",
                s->mesh_of[i], key[0], key[1], key[2], key[3], key[4], key[5], key[6]);
    }
    /* a quarter turn about x takes z to y; 2D is upright as it is */
    bool flat = s->shelf.dimension == 2;
    fprintf(out, "{\"name\":\"run\",\"rotation\":[%s,0,0,%s],\"children\":[",
            flat ? "0" : "-0.70710678", flat ? "1" : "0.70710678");
    for (int n = 0; n < s->shown; n++)
        fprintf(out, "%s%d", n ? "," : "", n);
    fprintf(out, "]}],\n\"scenes\":[{\"nodes\":[%d]}],\"scene\":0}", s->shown);
}

/* Bytes of the three views. */
static void view_bytes(const scene *s, int64_t *bytes)
{
    bytes[0] = 4LL * s->triangles.count;
    bytes[1] = 4LL * s->frames;
    bytes[2] = 40LL * s->frames * s->shown;
}

static void write_json(const scene *s, FILE *out)
{
    int64_t b[3];
    view_bytes(s, b);
    fprintf(
        out,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"cairn %s\"},\n"
        "\"buffers\":[{\"byteLength\":%lld}],\n"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%lld,\"byteStride\":24,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld},"
        "{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld}],\n",
        cairn_version(), (long long)(b[0] + b[1] + b[2]), (long long)b[0], (long long)b[0],
        (long long)b[1], (long long)(b[0] + b[1]), (long long)b[2]);
    write_meshes(s, out);
    write_accessors(s, out);
    write_animation(s, out);
    write_nodes(s, out);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void write_word(FILE *out, int64_t value)
{
    const unsigned char bytes[4] = { (unsigned char)(value & 255),
                                     (unsigned char)(value >> 8 & 255),
                                     (unsigned char)(value >> 16 & 255),
                                     (unsigned char)(value >> 24 & 255) };
    fwrite(bytes, 1, 4, out);
}

/* Positions of all frames, then rotations, then scales, of each node. */
static void write_keys(const scene *s, FILE *out)
{
    static const struct {
        int first, count;
    } parts[] = { { 0, 3 }, { 3, 4 }, { 7, 1 } };
    for (int n = 0; n < s->shown; n++)
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < s->frames; k++) {
                const float *key = s->keys + 8 * ((size_t)n * (size_t)s->frames + (size_t)k);
                const float scale[3] = { key[7], key[7], key[7] };
                if (p < 2)
                    fwrite(key + parts[p].first, 4, (size_t)parts[p].count, out);
                else
                    fwrite(scale, 4, 3, out);
            }
}

static cairn_status write_pieces(scene *s, FILE *json, FILE *out, int64_t *bytes)
{
    char piece[4096];
    size_t count;
    int64_t b[3], text = ftell(json), padding = (4 - text % 4) % 4;
    view_bytes(s, b);
    int64_t data = b[0] + b[1] + b[2];
    *bytes = 12 + 8 + text + padding + 8 + data;
    if (*bytes > UINT32_MAX)
        return fail(s, CAIRN_UNSUPPORTED, "more than 4 GB: too much for one scene");
    fputs("glTF", out);
    write_word(out, 2);
    write_word(out, *bytes);
    write_word(out, text + padding);
    fputs("JSON", out);
    rewind(json);
    while ((count = fread(piece, 1, sizeof piece, json)) > 0)
        fwrite(piece, 1, count, out);
    fwrite("   ", 1, (size_t)padding, out);
    write_word(out, data);
    fwrite("BIN\0", 1, 4, out);
    fwrite(s->triangles.items, 4, (size_t)s->triangles.count, out);
    fwrite(s->times, 4, (size_t)s->frames, out);
    write_keys(s, out);
    return CAIRN_OK;
}

static cairn_status write_file(scene *s, const char *path, int64_t *bytes)
{
    cairn_output *file;
    FILE *json = tmpfile();
    if (!json)
        return fail(s, CAIRN_IO_FAILED, "cannot make a temporary file");
    write_json(s, json);
    *s->error = (cairn_error){ 0 }; /* about a column that the run need not have */
    cairn_status status = cairn_output_create(path, &file, s->error);
    if (status == CAIRN_OK) {
        status = write_pieces(s, json, cairn_output_stream(file), bytes);
        cairn_status ended = cairn_output_commit(file, s->error);
        if (status != CAIRN_OK)
            unlink(path);
        else
            status = ended;
    }
    fclose(json);
    return status;
}

static cairn_status read_scene(scene *s, int dimension)
{
    TRY(cairn_view_shelf_fill(s->run, dimension, &s->shelf, s->error));
    TRY(cairn_view_names_fill(s->run, &s->names, s->error));
    TRY(find_meshes(s));
    if (s->shown == 0)
        return fail(s, CAIRN_UNSUPPORTED, "no body of the run has a shape that can be drawn");
    return read_keys(s);
}

cairn_status cairn_view_export_gltf(cairn_recording *run, int dimension, const char *path,
                                    int64_t *bytes, cairn_error *error)
{
    scene s = { .run = run, .error = error };
    cairn_status status = read_scene(&s, dimension);
    if (status == CAIRN_OK)
        status = write_file(&s, path, bytes);
    cairn_view_shelf_clear(&s.shelf);
    cairn_view_names_clear(&s.names);
    cairn_block_free(s.triangles.items);
    cairn_block_free(s.meshes);
    cairn_block_free(s.mesh_of);
    cairn_block_free(s.node_of);
    cairn_block_free(s.times);
    cairn_block_free(s.keys);
    return status;
}
