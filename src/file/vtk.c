/* vtk.c - writes VTK XML PolyData, grids and series. A .vtp file is an XML head that refers to its
 * arrays by offsets, then, after an underscore, the arrays themselves: a 64-bit count of bytes
 * and the bytes, one array after the other. Raw data is quick to write; surfaces, whose numbers
 * repeat, are compressed: each array is one block of zlib. */
#include "file/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"

/* The bytes of one array in the appendix, after its head: the number of bytes, or, compressed, the
 * number of blocks, the bytes of a block and of a last smaller one, and the compressed bytes. */
typedef struct block {
    uint64_t head[4], bytes;
    int heads;
    const void *data;
    void *own; /* the memory of `data` if it is not lent */
} block;

/* The arrays after the underscore, collected while the head is written, because the head has to
 * know their offsets first. */
typedef struct appendix {
    FILE *out;
    bool packed;
    block blocks[32];
    int count;
    uint64_t offset; /* of the next block */
    bool full;       /* more arrays than blocks */
    bool broken;     /* out of memory           */
} appendix;

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [CAIRN_VTK_REAL] = { "Float64", sizeof(double) },
    [CAIRN_VTK_INT] = { "Int32", sizeof(int32_t) },
    [CAIRN_VTK_LONG] = { "Int64", sizeof(int64_t) },
    [CAIRN_VTK_BYTE] = { "UInt8", sizeof(uint8_t) },
    [CAIRN_VTK_FLOAT] = { "Float32", sizeof(float) },
    [CAIRN_VTK_TEXT] = { "String", sizeof(const char *) },
};

/* How the rows of an array follow from its data: row i is written repeat[i] times. */
typedef struct spread {
    int64_t rows;
    const int64_t *repeat; /* NULL: once each */
} spread;

static spread once(int64_t rows)
{
    return (spread){ rows, NULL };
}

static int64_t times(spread rows, int64_t i)
{
    return rows.repeat ? rows.repeat[i] : 1;
}

/* The bytes of row i: a text ends with a 0. */
static const void *row_of(const cairn_vtk_array *array, int64_t i, size_t *bytes)
{
    if (array->type == CAIRN_VTK_TEXT) {
        const char *text = ((const char *const *)array->data)[i];
        *bytes = text ? strlen(text) + 1 : 1;
        return text ? text : "";
    }
    *bytes = (size_t)array->width * types[array->type].size;
    return (const char *)array->data + (size_t)i * *bytes;
}

/* Copy what is not in one piece in memory as it goes into the file. */
static bool gather(const cairn_vtk_array *array, spread rows, block *b)
{
    size_t bytes;
    for (int64_t i = 0; i < rows.rows; i++) {
        row_of(array, i, &bytes);
        b->bytes += bytes * (uint64_t)times(rows, i);
    }
    char *to = b->own = cairn_memory_resize(NULL, b->bytes + 1, 1);
    if (!b->own)
        return false;
    for (int64_t i = 0; i < rows.rows; i++) {
        const void *row = row_of(array, i, &bytes);
        for (int64_t k = 0; k < times(rows, i); k++, to += bytes)
            memcpy(to, row, bytes);
    }
    b->data = b->own;
    return true;
}

/* One block of zlib; none without data. */
static bool pack(block *b)
{
    uLongf room = compressBound((uLong)b->bytes);
    void *packed = cairn_memory_resize(NULL, room, 1);
    bool good = packed && compress2(packed, &room, b->data, (uLong)b->bytes, 1) == Z_OK;
    bool any = b->bytes > 0;
    cairn_memory_free(b->own);
    *b = (block){ { any, b->bytes, 0, room }, any ? room : 0, any ? 4 : 3, packed, packed };
    return good;
}

/* The appendix of an array, of which `b` has the bytes. */
static bool make_block(const appendix *a, const cairn_vtk_array *array, spread rows, block *b)
{
    *b = (block){ .bytes = (uint64_t)rows.rows * (uint64_t)array->width * types[array->type].size,
                  .data = array->data };
    if (rows.repeat || array->type == CAIRN_VTK_TEXT) {
        b->bytes = 0;
        if (!gather(array, rows, b))
            return false;
    }
    b->head[0] = b->bytes;
    b->heads = 1;
    return !a->packed || pack(b);
}

/* Write the element of one array in the head, and note the array for the appendix. Offsets count
 * from the byte after the underscore. */
static void put_array(appendix *a, const cairn_vtk_array *array, spread rows)
{
    int64_t tuples = 0;
    block *b = &a->blocks[a->count];
    a->full = a->full || a->count == sizeof a->blocks / sizeof a->blocks[0];
    if (a->full || a->broken)
        return;
    a->count++;
    a->broken = !make_block(a, array, rows, b);
    for (int64_t i = 0; i < rows.rows; i++)
        tuples += times(rows, i);
    if (array->type == CAIRN_VTK_TEXT)
        fprintf(a->out, "<Array type=\"String\" Name=\"%s\"", array->name);
    else
        fprintf(a->out, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"",
                types[array->type].name, array->name, array->width);
    fprintf(a->out,
            " NumberOfTuples=\"%" PRId64 "\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
            tuples, a->offset);
    a->offset += (uint64_t)b->heads * sizeof *b->head + b->bytes;
}

/* An element with several arrays, each with one tuple per point or cell. */
static void put_arrays(appendix *a, const char *section, const cairn_vtk_array *arrays, int count,
                       spread rows)
{
    fprintf(a->out, "<%s>\n", section);
    for (int i = 0; i < count; i++)
        put_array(a, &arrays[i], rows);
    fprintf(a->out, "</%s>\n", section);
}

static bool is_grid(const cairn_vtk_piece *piece)
{
    return piece->cells.kind[0] == 'C';
}

/* The last offset is the number of entries of connectivity. An unstructured grid also has the type
 * of each cell. */
static void put_cells(appendix *a, const cairn_vtk_cells *cells, const uint8_t *kinds)
{
    int64_t corners = cells->count > 0 ? cells->offsets[cells->count - 1] : 0;
    cairn_vtk_array connectivity = { "connectivity", CAIRN_VTK_LONG, 1, cells->connectivity };
    cairn_vtk_array offsets = { "offsets", CAIRN_VTK_LONG, 1, cells->offsets };
    fprintf(a->out, "<%s>\n", cells->kind);
    put_array(a, &connectivity, once(corners));
    put_array(a, &offsets, once(cells->count));
    if (kinds)
        put_array(a, &(cairn_vtk_array){ "types", CAIRN_VTK_BYTE, 1, kinds }, once(cells->count));
    fprintf(a->out, "</%s>\n", cells->kind);
}

/* The number of cells if they are of the kind with this first letter: a piece has cells of one
 * kind only, and the head must state 0 for the others. */
static int64_t cells_of(const cairn_vtk_piece *piece, char first_letter)
{
    return piece->cells.kind[0] == first_letter ? piece->cells.count : 0;
}

/* The head of a piece counts the cells, those of each kind where there are several kinds. */
static void put_counts(FILE *out, const cairn_vtk_piece *piece)
{
    if (is_grid(piece)) {
        fprintf(out, "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                piece->points, piece->cells.count);
        return;
    }
    fprintf(out,
            "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfVerts=\"%" PRId64
            "\" NumberOfLines=\"%" PRId64 "\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRId64
            "\">\n",
            piece->points, cells_of(piece, 'V'), cells_of(piece, 'L'), cells_of(piece, 'P'));
}

static cairn_vtk_array points_of(const cairn_vtk_piece *piece)
{
    if (piece->x_float)
        return (cairn_vtk_array){ "Points", CAIRN_VTK_FLOAT, 3, piece->x_float };
    return (cairn_vtk_array){ "Points", CAIRN_VTK_REAL, 3, piece->x };
}

/* The order of the elements is that of the VTK format; the appendix follows it. */
static void put_piece(appendix *a, const cairn_vtk_piece *piece, const uint8_t *kinds)
{
    cairn_vtk_array time = { "TimeValue", CAIRN_VTK_REAL, 1, &piece->time };
    cairn_vtk_array points = points_of(piece);
    spread cells =
        piece->repeat ? (spread){ piece->rows, piece->repeat } : once(piece->cells.count);
    put_arrays(a, "FieldData", &time, 1, once(1));
    put_counts(a->out, piece);
    put_arrays(a, "Points", &points, 1, once(piece->points));
    put_cells(a, &piece->cells, kinds);
    put_arrays(a, "PointData", piece->point_arrays, piece->point_array_count, once(piece->points));
    put_arrays(a, "CellData", piece->cell_arrays, piece->cell_array_count, cells);
    fputs("</Piece>\n", a->out);
}

/* Numbers are written in the byte order of this machine, which the head states. */
static const char *byte_order(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1 ? "LittleEndian" : "BigEndian";
}

/* `more` are further attributes of the element of the data. */
static void put_head(FILE *out, const char *type, bool packed, const char *more)
{
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
            "byte_order=\"%s\" header_type=\"UInt64\"%s>\n<%s%s>\n",
            type, byte_order(), packed ? " compressor=\"vtkZLibDataCompressor\"" : "", type, more);
}

static void put_blocks(const appendix *a)
{
    for (int i = 0; i < a->count; i++) {
        const block *b = &a->blocks[i];
        fwrite(b->head, sizeof *b->head, (size_t)b->heads, a->out);
        if (b->bytes > 0)
            fwrite(b->data, 1, b->bytes, a->out);
    }
}

/* The head is complete before the first array is written, so the offsets in it are final. */
static cairn_status put_appendix(const appendix *a, const char *type, cairn_error *error)
{
    fprintf(a->out, "</%s>\n<AppendedData encoding=\"raw\">\n_", type);
    if (!a->broken)
        put_blocks(a);
    fputs("\n</AppendedData>\n</VTKFile>\n", a->out);
    for (int i = 0; i < a->count; i++)
        cairn_memory_free(a->blocks[i].own);
    if (a->full)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "more than %zu arrays in one file",
                          sizeof a->blocks / sizeof a->blocks[0]);
    return a->broken ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status put_file(FILE *out, const cairn_vtk_piece *piece, const uint8_t *kinds,
                             cairn_error *error)
{
    appendix a = { .out = out, .packed = piece->packed };
    const char *type = is_grid(piece) ? "UnstructuredGrid" : "PolyData";
    put_head(out, type, piece->packed, "");
    put_piece(&a, piece, kinds);
    return put_appendix(&a, type, error);
}

cairn_status cairn_vtk_grid_write(const char *path, const cairn_vtk_grid *g, cairn_error *error)
{
    char extent[64], more[320], number[6][32];
    cairn_file file = { 0 };
    const cairn_vtk_array time = { "TimeValue", CAIRN_VTK_REAL, 1, &g->time };
    int64_t cells = (int64_t)g->cells[0] * g->cells[1] * g->cells[2];
    for (int k = 0; k < 3; k++) {
        cairn_number_text(g->origin[k], number[k]);
        cairn_number_text(g->edge[k], number[3 + k]);
    }
    snprintf(extent, sizeof extent, "0 %d 0 %d 0 %d", g->cells[0], g->cells[1], g->cells[2]);
    snprintf(more, sizeof more, " WholeExtent=\"%s\" Origin=\"%s %s %s\" Spacing=\"%s %s %s\"",
             extent, number[0], number[1], number[2], number[3], number[4], number[5]);
    TRY(cairn_file_create(path, &file, error));
    appendix a = { .out = file.stream };
    put_head(file.stream, "ImageData", false, more);
    put_arrays(&a, "FieldData", &time, 1, once(1));
    fprintf(file.stream, "<Piece Extent=\"%s\">\n", extent);
    put_arrays(&a, "CellData", g->arrays, g->array_count, once(cells));
    fputs("</Piece>\n", file.stream);
    cairn_status status = put_appendix(&a, "ImageData", error);
    if (status == CAIRN_OK)
        return cairn_file_commit(&file, error);
    cairn_file_abandon(&file);
    return status;
}

cairn_status cairn_vtk_write(const char *path, const cairn_vtk_piece *piece, cairn_error *error)
{
    enum { VERTEX = 1 }; /* the type of a cell of one point */
    cairn_file file = { 0 };
    uint8_t *kinds = NULL;
    if (is_grid(piece)) {
        kinds = cairn_memory_zeroed((size_t)piece->cells.count + 1, 1);
        if (!kinds)
            return CAIRN_NO_MEMORY;
        memset(kinds, VERTEX, (size_t)piece->cells.count);
    }
    cairn_status status = cairn_file_create(path, &file, error);
    if (status == CAIRN_OK)
        status = put_file(file.stream, piece, kinds, error);
    if (status == CAIRN_OK)
        status = cairn_file_commit(&file, error);
    else
        cairn_file_abandon(&file);
    cairn_memory_free(kinds);
    return status;
}

/* ---- pieces ------------------------------------------------------------------------------ */

void cairn_vtk_piece_name(const char *name, int64_t number, int k, char *file)
{
    if (k < 0)
        snprintf(file, 64, "%s_%06" PRId64 ".pvtp", name, number);
    else
        snprintf(file, 64, "%s_%06" PRId64 "_%d.vtp", name, number, k);
}

static void list_arrays(FILE *out, const char *section, const cairn_vtk_array *arrays, int count)
{
    fprintf(out, "<%s>\n", section);
    for (int i = 0; i < count; i++)
        fprintf(out, "<%s type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"/>\n",
                arrays[i].type == CAIRN_VTK_TEXT ? "PArray" : "PDataArray",
                types[arrays[i].type].name, arrays[i].name, arrays[i].width);
    fprintf(out, "</%s>\n", section);
}

cairn_status cairn_vtk_pieces_write(const cairn_vtk_pieces *pieces, const cairn_vtk_piece *piece,
                                    cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], name[64];
    cairn_file file = { 0 };
    const cairn_vtk_array points = points_of(piece);
    cairn_vtk_piece_name(pieces->name, pieces->number, -1, name);
    TRY(cairn_path_join(pieces->folder, name, path, error));
    TRY(cairn_file_create(path, &file, error));
    put_head(file.stream, "PPolyData", false, " GhostLevel=\"0\"");
    list_arrays(file.stream, "PPoints", &points, 1);
    list_arrays(file.stream, "PPointData", piece->point_arrays, piece->point_array_count);
    list_arrays(file.stream, "PCellData", piece->cell_arrays, piece->cell_array_count);
    for (int k = 0; k < pieces->count; k++) {
        cairn_vtk_piece_name(pieces->name, pieces->number, k, name);
        fprintf(file.stream, "<Piece Source=\"%s\"/>\n", name);
    }
    fputs("</PPolyData>\n</VTKFile>\n", file.stream);
    return cairn_file_commit(&file, error);
}

/* ---- series ------------------------------------------------------------------------------ */

/* The file of a moment, or the list of its pieces. */
static cairn_status shown_name(const char *folder, const char *name, int64_t number, char *file,
                               cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_vtk_piece_name(name, number, -1, file);
    TRY(cairn_path_join(folder, file, path, error));
    if (!cairn_is_file(path))
        cairn_vtk_file_name(name, number, file);
    return CAIRN_OK;
}

/* Fields are regular grids, everything else is PolyData. */
void cairn_vtk_file_name(const char *name, int64_t number, char *file)
{
    const char *ending = strcmp(name, "fields") == 0 ? "vti" : "vtp";
    snprintf(file, 64, "%s_%06" PRId64 ".%s", name, number, ending);
}

/* The .pvd file lists the files of a series with their times, by names relative to its own
 * folder. */
cairn_status cairn_vtk_series_write(const char *folder, const char *name,
                                    const cairn_vtk_moment *moments, size_t count,
                                    cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], short_name[64], number[32];
    cairn_file file = { 0 };
    snprintf(short_name, sizeof short_name, "%s.pvd", name);
    TRY(cairn_path_join(folder, short_name, path, error));
    TRY(cairn_file_create(path, &file, error));
    fprintf(file.stream,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
            "byte_order=\"%s\">\n<Collection>\n",
            byte_order());
    for (size_t i = 0; i < count; i++) {
        cairn_number_text(moments[i].time, number);
        cairn_status status = shown_name(folder, name, moments[i].number, short_name, error);
        if (status != CAIRN_OK) {
            cairn_file_abandon(&file);
            return status;
        }
        fprintf(file.stream, "<DataSet timestep=\"%s\" part=\"0\" file=\"%s\"/>\n", number,
                short_name);
    }
    fputs("</Collection>\n</VTKFile>\n", file.stream);
    return cairn_file_commit(&file, error);
}
