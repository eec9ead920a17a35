/* vtkhdf.c - a run as one VTKHDF file for ParaView.
 *
 * The file has one part for each step. Points, cells and data of all steps follow one another, and
 * the group Steps holds the offset at which each step begins. The polygons of a body share their
 * corners, which a hash table finds by position. */
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "studies/study.h"
#include "view.h"

enum { CHUNK = 1 << 14 };

/* A dataset that grows by rows. */
typedef struct column {
    hid_t dataset, type;
    int width; /* 1: a list */
    hsize_t rows;
} column;

/* Cells of one kind. */
typedef struct cells {
    column number_of_cells, number_of_ids, connectivity, offsets;
    int64_t cell_count, id_count; /* so far */
} cells;

enum { VERTICES, LINES, POLYGONS, STRIPS, KINDS };
static const char *const kind_names[KINDS] = { "Vertices", "Lines", "Polygons", "Strips" };

/* Numbers of a step that are not yet written. */
typedef struct list {
    void *items;
    int count, room;
} list;

/* Points of the current body by position: an open hash table. Entries of earlier bodies of the step
 * are below `first` and count as empty. */
typedef struct corner_table {
    int *slots; /* point of the step + 1; 0: none */
    int room;   /* a power of two                 */
    int first;  /* point of the body              */
    int used;   /* points of the body             */
} corner_table;

typedef struct file {
    cairn_recording *run;
    cairn_view_shelf shelf;
    double *material; /* of each body */
    hid_t id, root, steps, data, data_offsets;
    column number_of_points, points, values, part_offsets, part_counts, point_offsets, cell_offsets,
        id_offsets;
    column array[4], array_offset[4]; /* id, material, radius, velocity */
    cells cells[KINDS];
    list x, arrays[4];
    list ends[KINDS], corners[KINDS]; /* of polygons and lines */
    corner_table known;
    int body;          /* whose polygons are being drawn */
    float velocity[3]; /* of it                          */
    cairn_pose pose;   /* of its shape                   */
    bool broken;       /* HDF5 refused something         */
    cairn_error *error;
} file;

/* ---- columns -------------------------------------------------------------------------------- */

static column make_column(file *f, hid_t group, const char *name, hid_t type, int width)
{
    column c = { -1, type, width, 0 };
    const hsize_t none[2] = { 0, (hsize_t)width }, most[2] = { H5S_UNLIMITED, (hsize_t)width };
    const hsize_t chunk[2] = { CHUNK, (hsize_t)width };
    int rank = width > 1 ? 2 : 1;
    hid_t space = H5Screate_simple(rank, none, most), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    c.dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    f->broken |= c.dataset < 0;
    H5Pclose(how);
    H5Sclose(space);
    return c;
}

static void append(file *f, column *c, const void *data, int64_t rows)
{
    const hsize_t start[2] = { c->rows, 0 }, count[2] = { (hsize_t)rows, (hsize_t)c->width };
    const hsize_t extent[2] = { c->rows + (hsize_t)rows, (hsize_t)c->width };
    if (f->broken || rows == 0)
        return;
    f->broken |= H5Dset_extent(c->dataset, extent) < 0;
    hid_t space = H5Dget_space(c->dataset),
          memory = H5Screate_simple(c->width > 1 ? 2 : 1, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    f->broken |= H5Dwrite(c->dataset, c->type, memory, space, H5P_DEFAULT, data) < 0;
    H5Sclose(memory);
    H5Sclose(space);
    c->rows += (hsize_t)rows;
}

static void close_column(column *c)
{
    if (c->dataset > 0)
        H5Dclose(c->dataset);
}

/* ---- the frame of the file ------------------------------------------------------------------ */

static void write_longs(hid_t object, const char *name, const int64_t *values, int count)
{
    const hsize_t extent = (hsize_t)count;
    hid_t space = count > 1 ? H5Screate_simple(1, &extent, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, values);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

static hid_t make_group(file *f, hid_t parent, const char *name)
{
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    f->broken |= group < 0;
    return group;
}

static void make_cells(file *f, int kind)
{
    hid_t group = make_group(f, f->root, kind_names[kind]);
    cells *c = &f->cells[kind];
    c->number_of_cells = make_column(f, group, "NumberOfCells", H5T_NATIVE_INT64, 1);
    c->number_of_ids = make_column(f, group, "NumberOfConnectivityIds", H5T_NATIVE_INT64, 1);
    c->connectivity = make_column(f, group, "Connectivity", H5T_NATIVE_INT64, 1);
    c->offsets = make_column(f, group, "Offsets", H5T_NATIVE_INT64, 1);
    H5Gclose(group);
}

static const struct {
    const char *name;
    int width;
} arrays[4] = { { "id", 1 }, { "material", 1 }, { "radius", 1 }, { "velocity", 3 } };

static void make_steps(file *f)
{
    f->steps = make_group(f, f->root, "Steps");
    f->values = make_column(f, f->steps, "Values", H5T_NATIVE_DOUBLE, 1);
    f->part_offsets = make_column(f, f->steps, "PartOffsets", H5T_NATIVE_INT64, 1);
    f->part_counts = make_column(f, f->steps, "NumberOfParts", H5T_NATIVE_INT64, 1);
    f->point_offsets = make_column(f, f->steps, "PointOffsets", H5T_NATIVE_INT64, 1);
    f->cell_offsets = make_column(f, f->steps, "CellOffsets", H5T_NATIVE_INT64, KINDS);
    f->id_offsets = make_column(f, f->steps, "ConnectivityIdOffsets", H5T_NATIVE_INT64, KINDS);
    f->data_offsets = make_group(f, f->steps, "PointDataOffsets");
}

static cairn_status make_file(file *f, const char *path, int64_t steps)
{
    static const int64_t version[2] = { 2, 0 };
    *f->error = (cairn_error){ 0 };     /* about a column that the run need not have */
    FILE *writable = fopen(path, "wb"); /* HDF5 would print why it cannot write */
    f->id = writable ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
    if (writable)
        fclose(writable);
    if (f->id < 0) {
        snprintf(f->error->file, sizeof f->error->file, "%s", path);
        snprintf(f->error->message, sizeof f->error->message, "cannot create: %s", strerror(errno));
        return CAIRN_IO_FAILED;
    }
    f->root = make_group(f, f->id, "VTKHDF");
    write_longs(f->root, "Version", version, 2);
    write_text(f->root, "Type", "PolyData");
    f->number_of_points = make_column(f, f->root, "NumberOfPoints", H5T_NATIVE_INT64, 1);
    f->points = make_column(f, f->root, "Points", H5T_NATIVE_FLOAT, 3);
    for (int k = 0; k < KINDS; k++)
        make_cells(f, k);
    make_steps(f);
    write_longs(f->steps, "NSteps", &steps, 1);
    f->data = make_group(f, f->root, "PointData");
    for (int i = 0; i < 4; i++) {
        f->array[i] = make_column(f, f->data, arrays[i].name, H5T_NATIVE_FLOAT, arrays[i].width);
        f->array_offset[i] = make_column(f, f->data_offsets, arrays[i].name, H5T_NATIVE_INT64, 1);
    }
    return CAIRN_OK;
}

static void close_file(file *f)
{
    column *const all[] = { &f->number_of_points, &f->points,      &f->values,
                            &f->part_offsets,     &f->part_counts, &f->point_offsets,
                            &f->cell_offsets,     &f->id_offsets };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        close_column(all[i]);
    for (int i = 0; i < 4; i++) {
        close_column(&f->array[i]);
        close_column(&f->array_offset[i]);
    }
    for (int k = 0; k < KINDS; k++) {
        close_column(&f->cells[k].number_of_cells);
        close_column(&f->cells[k].number_of_ids);
        close_column(&f->cells[k].connectivity);
        close_column(&f->cells[k].offsets);
    }
    const hid_t groups[] = { f->data_offsets, f->data, f->steps, f->root };
    for (int i = 0; i < 4; i++)
        if (groups[i] > 0)
            H5Gclose(groups[i]);
    if (f->id > 0)
        f->broken |= H5Fclose(f->id) < 0;
}

/* ---- points --------------------------------------------------------------------------------- */

static cairn_status add_float(list *l, double value)
{
    TRY(cairn_block_grow(&l->items, l->count, &l->room, sizeof(float)));
    ((float *)l->items)[l->count++] = (float)value;
    return CAIRN_OK;
}

static cairn_status add_long(list *l, int64_t value)
{
    TRY(cairn_block_grow(&l->items, l->count, &l->room, sizeof(int64_t)));
    ((int64_t *)l->items)[l->count++] = value;
    return CAIRN_OK;
}

static cairn_status add_point(file *f, cairn_vec3 p, double radius)
{
    const double values[4] = { f->body, f->material[f->body], radius, 0 };
    TRY(add_float(&f->x, p.x));
    TRY(add_float(&f->x, p.y));
    TRY(add_float(&f->x, p.z));
    for (int i = 0; i < 3; i++)
        TRY(add_float(&f->arrays[i], values[i]));
    for (int i = 0; i < 3; i++)
        TRY(add_float(&f->arrays[3], f->velocity[i]));
    return CAIRN_OK;
}

/* ---- corners that polygons share ------------------------------------------------------------- */

static unsigned hash_of(const float *p)
{
    uint32_t bits[3];
    memcpy(bits, p, sizeof bits);
    uint32_t h = bits[0] * 0x9e3779b1u ^ bits[1] * 0x85ebca77u ^ bits[2] * 0xc2b2ae3du;
    return h ^ h >> 15;
}

/* The slot of a position: that of the point there, or the free one where it belongs. */
static int *slot_of(const file *f, const float *place)
{
    const corner_table *t = &f->known;
    const float *x = f->x.items;
    unsigned mask = (unsigned)t->room - 1;
    for (unsigned i = hash_of(place) & mask;; i = (i + 1) & mask) {
        int point = t->slots[i] - 1;
        if (point < t->first || memcmp(x + 3 * (ptrdiff_t)point, place, 3 * sizeof(float)) == 0)
            return &t->slots[i];
    }
}

/* At most half of the slots are taken. */
static cairn_status make_room(file *f)
{
    corner_table *t = &f->known;
    if (2 * t->used < t->room)
        return CAIRN_OK;
    int room = t->room > 0 ? 2 * t->room : 256;
    int *slots = cairn_block_take((size_t)room, sizeof *slots);
    if (!slots)
        return CAIRN_NO_MEMORY;
    cairn_block_free(t->slots);
    t->slots = slots;
    t->room = room;
    for (int i = t->first; i < t->first + t->used; i++)
        *slot_of(f, (const float *)f->x.items + 3 * (ptrdiff_t)i) = i + 1;
    return CAIRN_OK;
}

/* Rounding residues of 0 are removed, so that corners that should coincide do. */
static double plain(double coordinate)
{
    return fabs(coordinate) < 1e-12 ? 0 : coordinate;
}

/* The point of the body at a position; it is created if there is none. */
static cairn_status find_corner(file *f, cairn_vec3 at, int64_t *out)
{
    const cairn_vec3 p = { plain(at.x), plain(at.y), plain(at.z) };
    const float place[3] = { (float)p.x, (float)p.y, (float)p.z };
    TRY(make_room(f));
    int *slot = slot_of(f, place);
    if (*slot - 1 < f->known.first) {
        *slot = f->x.count / 3 + 1;
        f->known.used++;
        TRY(add_point(f, p, 0));
    }
    *out = *slot - 1;
    return CAIRN_OK;
}

/* A step counts its points anew. */
static void forget_corners(file *f)
{
    if (f->known.room > 0)
        memset(f->known.slots, 0, (size_t)f->known.room * sizeof *f->known.slots);
}

/* A cairn_polygon_fn. */
static cairn_status add_polygon(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    file *f = context;
    int kind = closed ? POLYGONS : LINES;
    for (int i = 0; i < count; i++) {
        int64_t corner;
        TRY(find_corner(f, corners[i], &corner));
        TRY(add_long(&f->corners[kind], corner));
    }
    return add_long(&f->ends[kind], f->corners[kind].count);
}

static bool is_ball(const file *f, int body)
{
    return f->shelf.shapes[body].kind == CAIRN_SHAPE_SPHERE && f->shelf.dimension == 3;
}

/* Balls in the first pass, polygons in the second: points of vertices come first. */
static cairn_status add_bodies(file *f, const double *rows, int64_t count, bool balls)
{
    const double *index = rows, *x = index + count, *q = x + 3 * count, *v = q + 4 * count;
    for (int64_t i = 0; i < count; i++) {
        f->body = index[i] >= 0 && index[i] < f->shelf.count ? (int)index[i] : -1;
        if (f->body < 0 || is_ball(f, f->body) != balls)
            continue;
        for (int c = 0; c < 3; c++)
            f->velocity[c] = (float)v[3 * i + c];
        const cairn_pose at = { { x[3 * i], x[3 * i + 1], x[3 * i + 2] },
                                { q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3] } };
        const cairn_shape *shape = &f->shelf.shapes[f->body];
        const cairn_pose placed = cairn_view_pose(&at, &f->shelf.poses[f->body]);
        cairn_status status = CAIRN_OK;
        f->known.first = f->x.count / 3;
        f->known.used = 0;
        if (balls)
            status = add_point(f, at.x, shape->radius);
        else if (cairn_view_is_drawn(shape))
            status = cairn_shape_draw(shape, f->shelf.dimension, &placed, add_polygon, f);
        if (status != CAIRN_OK && status != CAIRN_UNSUPPORTED)
            return status;
    }
    return CAIRN_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void put_long(file *f, column *c, int64_t value)
{
    append(f, c, &value, 1);
}

static void put_cells(file *f, int kind, const int64_t *ids, int64_t id_count, const int64_t *ends,
                      int64_t cell_count)
{
    cells *c = &f->cells[kind];
    put_long(f, &c->number_of_cells, cell_count);
    put_long(f, &c->number_of_ids, id_count);
    append(f, &c->connectivity, ids, id_count);
    put_long(f, &c->offsets, 0);
    append(f, &c->offsets, ends, cell_count);
    c->cell_count += cell_count;
    c->id_count += id_count;
}

/* The offsets at which this step begins. */
static void put_offsets(file *f, double time, int64_t step)
{
    int64_t cell_starts[KINDS], id_starts[KINDS];
    for (int k = 0; k < KINDS; k++) {
        cell_starts[k] = f->cells[k].cell_count;
        id_starts[k] = f->cells[k].id_count;
    }
    append(f, &f->values, &time, 1);
    put_long(f, &f->part_offsets, step);
    put_long(f, &f->part_counts, 1);
    put_long(f, &f->point_offsets, (int64_t)f->points.rows);
    append(f, &f->cell_offsets, cell_starts, 1);
    append(f, &f->id_offsets, id_starts, 1);
    for (int i = 0; i < 4; i++)
        put_long(f, &f->array_offset[i], (int64_t)f->array[i].rows);
}

/* Vertices are the points 0, 1, ... of the balls: cell i has the one corner i. */
static cairn_status put_step(file *f, int64_t balls)
{
    int64_t *numbers = cairn_block_take((size_t)balls + 1, sizeof *numbers);
    if (!numbers)
        return CAIRN_NO_MEMORY;
    for (int64_t i = 0; i <= balls; i++)
        numbers[i] = i;
    put_cells(f, VERTICES, numbers, balls, numbers + 1, balls);
    for (int k = LINES; k < KINDS; k++)
        put_cells(f, k, f->corners[k].items, f->corners[k].count, f->ends[k].items,
                  f->ends[k].count);
    cairn_block_free(numbers);
    put_long(f, &f->number_of_points, f->x.count / 3);
    append(f, &f->points, f->x.items, f->x.count / 3);
    for (int i = 0; i < 4; i++)
        append(f, &f->array[i], f->arrays[i].items, f->arrays[i].count / arrays[i].width);
    return CAIRN_OK;
}

static cairn_status read_step(file *f, int64_t k, double *time, int64_t *first, int64_t *count)
{
    const cairn_recording_rows head[] = {
        { "frames/time", CAIRN_NUMBER_DOUBLE, k, 1 },
        { "frames/body_offset", CAIRN_NUMBER_DOUBLE, k, 2 },
    };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(f->run, head, 2, &data, &bytes, f->error));
    const double *found = data;
    *time = found[0];
    *first = (int64_t)found[1];
    *count = (int64_t)found[2] - *first;
    return CAIRN_OK;
}

static cairn_status write_step(file *f, int64_t k)
{
    double time;
    int64_t first, count;
    TRY(read_step(f, k, &time, &first, &count));
    const cairn_recording_rows rows[] = {
        { "frames/bodies/index", CAIRN_NUMBER_DOUBLE, first, count },
        { "frames/bodies/x", CAIRN_NUMBER_DOUBLE, first, count },
        { "frames/bodies/q", CAIRN_NUMBER_DOUBLE, first, count },
        { "frames/bodies/v", CAIRN_NUMBER_DOUBLE, first, count },
    };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(f->run, rows, 4, &data, &bytes, f->error));
    f->x.count = 0;
    for (int i = 0; i < 4; i++)
        f->arrays[i].count = f->ends[i].count = f->corners[i].count = 0;
    forget_corners(f);
    TRY(add_bodies(f, data, count, true));
    int64_t balls = f->x.count / 3;
    TRY(add_bodies(f, data, count, false));
    put_offsets(f, time, k);
    return put_step(f, balls);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static cairn_status read_materials(file *f)
{
    const cairn_recording_rows rows = { "bodies/material", CAIRN_NUMBER_DOUBLE, 0, f->shelf.count };
    const void *data;
    size_t bytes;
    TRY(cairn_recording_read(f->run, &rows, 1, &data, &bytes, f->error));
    f->material = cairn_block_take(bytes / 8 + 1, 8);
    if (!f->material)
        return CAIRN_NO_MEMORY;
    memcpy(f->material, data, bytes);
    return CAIRN_OK;
}

static cairn_status write_all(file *f, int dimension, const char *part)
{
    cairn_recording_column time;
    TRY(cairn_recording_look(f->run, "frames/time", &time, f->error));
    TRY(cairn_view_shelf_fill(f->run, dimension, &f->shelf, f->error));
    TRY(read_materials(f));
    TRY(make_file(f, part, time.rows));
    for (int64_t k = 0; k < time.rows && !f->broken; k++)
        TRY(write_step(f, k));
    return CAIRN_OK;
}

static void free_lists(file *f)
{
    cairn_block_free(f->x.items);
    for (int i = 0; i < 4; i++) {
        cairn_block_free(f->arrays[i].items);
        cairn_block_free(f->ends[i].items);
        cairn_block_free(f->corners[i].items);
    }
    cairn_block_free(f->known.slots);
    cairn_block_free(f->material);
    cairn_view_shelf_clear(&f->shelf);
}

/* ---- the script ----------------------------------------------------------------------------- */

/* A script with which ParaView shows points as balls. */
static const char *const script =
    "import os\n"
    "\n"
    "from paraview.simple import (ColorBy, Glyph, GetActiveViewOrCreate, GetAnimationScene,\n"
    "                             OpenDataFile, Render, ResetCamera, Show, Threshold)\n"
    "\n"
    "# ParaView does not tell a script where it is; pvpython does\n"
    "FOLDER = os.path.dirname(os.path.abspath(globals().get(\"__file__\", NAME)))\n"
    "if not os.path.exists(os.path.join(FOLDER, NAME)):\n"
    "    raise RuntimeError(\"start ParaView in the folder of \" + NAME)\n"
    "\n"
    "view = GetActiveViewOrCreate(\"RenderView\")\n"
    "run = OpenDataFile(os.path.join(FOLDER, NAME))\n"
    "ColorBy(Show(run, view), (\"POINTS\", \"velocity\"))\n"
    "# corners of polygons have the radius 0\n"
    "balls = Threshold(Input=run, Scalars=[\"POINTS\", \"radius\"], LowerThreshold=1e-30,\n"
    "                  ThresholdMethod=\"Above Lower Threshold\")\n"
    "balls.UpdatePipeline()\n"
    "count = balls.GetDataInformation().GetNumberOfPoints()\n"
    "glyphs = Glyph(Input=balls, GlyphType=\"Sphere\", ScaleArray=[\"POINTS\", \"radius\"],\n"
    "               ScaleFactor=2, GlyphMode=\"All Points\")\n"
    "glyphs.GlyphType.ThetaResolution = 32 if count < 5000 else 16 if count < 50000 else 8\n"
    "glyphs.GlyphType.PhiResolution = glyphs.GlyphType.ThetaResolution // 2\n"
    "ColorBy(Show(glyphs, view), (\"POINTS\", \"velocity\"))\n"
    "GetAnimationScene().UpdateAnimationUsingDataTimeSteps()\n"
    "ResetCamera(view)\n"
    "if DIMENSION == 3:  # from the front, z up\n"
    "    reach = view.CameraPosition[2] - view.CameraFocalPoint[2]\n"
    "    x, y, z = view.CameraFocalPoint\n"
    "    view.CameraPosition, view.CameraViewUp = [x, y - reach, z], [0, 0, 1]\n"
    "Render(view)\n";

static cairn_status write_script(const char *path, int dimension, cairn_error *error)
{
    char name[4096];
    cairn_output *out;
    const char *slash = strrchr(path, '/'), *plain = slash ? slash + 1 : path;
    snprintf(name, sizeof name, "%.4000s.py", path);
    TRY(cairn_output_create(name, &out, error));
    FILE *stream = cairn_output_stream(out);
    fprintf(stream, "\"\"\"Shows a run in ParaView 5.12 or later: paraview --script=THIS_FILE, in "
                    "its folder\"\"\"\nNAME = \"");
    for (const char *c = plain; *c; c++)
        fprintf(stream, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fprintf(stream, "\"\nDIMENSION = %d\n%s", dimension, script);
    return cairn_output_commit(out, error);
}

cairn_status cairn_view_export_vtkhdf(cairn_recording *run, int dimension, const char *path,
                                      cairn_error *error)
{
    char part[4096];
    file *f = cairn_block_take(1, sizeof *f);
    if (!f)
        return CAIRN_NO_MEMORY;
    f->run = run;
    f->error = error;
    snprintf(part, sizeof part, "%.4000s.part", path);
    cairn_status status = write_all(f, dimension, part);
    close_file(f);
    if (status == CAIRN_OK && f->broken) {
        snprintf(error->message, sizeof error->message, "cannot write %.300s", path);
        status = CAIRN_IO_FAILED;
    }
    free_lists(f);
    cairn_block_free(f);
    if (status == CAIRN_OK)
        status = cairn_output_place(part, path, error);
    if (status == CAIRN_OK)
        return write_script(path, dimension, error);
    unlink(part);
    return status;
}
