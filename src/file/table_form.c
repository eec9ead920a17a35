/* table_form.c - tables of numbers in VTK XML files (.vtp, .vtu) and HDF5, and the writers of all
 * formats; see cairn/output.h.
 *
 * Of a VTK file the points and the arrays of point data are read: as text, base64 or raw bytes,
 * also compressed by zlib, in one piece. The XML is searched for the few elements that matter and
 * not checked beyond that. Every size in it is compared with the bytes that are there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/formats.h"
#include "file/hdf5.h"

/* ---- XML ------------------------------------------------------------------------------------ */

/* A range of bytes. */
typedef struct span {
    const char *at, *end;
} span;

static size_t bytes_of(span s)
{
    return (size_t)(s.end - s.at);
}

/* The first place of a word in a range; NULL if there is none. */
static const char *find_word(span in, const char *text)
{
    size_t length = strlen(text);
    for (const char *c = in.at; (size_t)(in.end - c) >= length; c++) {
        c = memchr(c, text[0], bytes_of((span){ c, in.end }) - length + 1);
        if (!c)
            return NULL;
        if (memcmp(c, text, length) == 0)
            return c;
    }
    return NULL;
}

/* The next element <name ...>: its attributes, and `in` goes on behind them. */
static bool next_element(span *in, const char *name, span *attributes)
{
    char start[32];
    snprintf(start, sizeof start, "<%s", name);
    for (const char *c = find_word(*in, start); c; c = find_word(*in, start)) {
        const char *after = c + strlen(start);
        const char *close = memchr(after, '>', (size_t)(in->end - after));
        in->at = close ? close + 1 : in->end;
        if (!close)
            return false;
        *attributes = (span){ after, close };
        if (cairn_is_space(*after) || *after == '>' || *after == '/')
            return true;
    }
    return false;
}

/* What lies between <name ...> and </name>; false if there is no such element. */
static bool inside(span in, const char *name, span *attributes, span *out)
{
    char end[32];
    if (!next_element(&in, name, attributes))
        return false;
    snprintf(end, sizeof end, "</%s>", name);
    const char *close = find_word(in, end);
    *out = (span){ in.at, close ? close : in.end };
    return true;
}

/* The value of an attribute, cut to the room; false if it is missing. */
static bool attribute(span attributes, const char *name, char *out, size_t capacity)
{
    char key[40];
    out[0] = '\0';
    snprintf(key, sizeof key, " %s=", name);
    const char *c = find_word(attributes, key);
    if (!c || c + strlen(key) >= attributes.end)
        return false;
    c += strlen(key);
    char quote = *c++;
    const char *close = memchr(c, quote, (size_t)(attributes.end - c));
    if (!close)
        return false;
    snprintf(out, capacity, "%.*s", (int)(close - c < 1000 ? close - c : 1000), c);
    return true;
}

/* A whole number of an attribute; -1 if it is missing or not one. */
static int64_t whole_attribute(span attributes, const char *name)
{
    char text[32];
    int64_t value;
    if (!attribute(attributes, name, text, sizeof text))
        return -1;
    size_t used = cairn_integer_read(text, &value);
    return used > 0 && text[used] == '\0' && value >= 0 ? value : -1;
}

/* ---- the numbers of an array ---------------------------------------------------------------- */

/* Number types of VTK. */
static const struct {
    const char *name;
    int size;  /* bytes */
    char kind; /* f: IEEE, i: signed, u: unsigned */
} types[] = {
    { "Float32", 4, 'f' }, { "Float64", 8, 'f' }, { "Int8", 1, 'i' },  { "UInt8", 1, 'u' },
    { "Int16", 2, 'i' },   { "UInt16", 2, 'u' },  { "Int32", 4, 'i' }, { "UInt32", 4, 'u' },
    { "Int64", 8, 'i' },   { "UInt64", 8, 'u' },
};

enum { TYPES = sizeof types / sizeof types[0] };

/* What holds for the whole file. */
typedef struct vtk {
    span all, appended; /* appended: behind the underscore; empty if there is none */
    bool raw, packed;   /* appended data are raw bytes; blocks are compressed      */
    int head;           /* bytes of a number in the head of a block                */
    int64_t points;
    cairn_error *error;
} vtk;

static cairn_status fail(const vtk *v, const char *message)
{
    return cairn_fail(v->error, CAIRN_BAD_INPUT, NULL, "%s", message);
}

/* A number of 1 to 8 bytes, lowest first. */
static uint64_t little(const unsigned char *data, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | data[i];
    return value;
}

static double number_at(const unsigned char *data, int type)
{
    int size = types[type].size;
    uint64_t bits = little(data, size);
    double real;
    float single;
    uint32_t low = (uint32_t)bits;
    if (types[type].kind == 'u')
        return (double)bits;
    if (types[type].kind == 'i') { /* extend the sign */
        uint64_t sign = (uint64_t)1 << (8 * size - 1);
        return (double)(int64_t)((bits ^ sign) - sign);
    }
    memcpy(&single, &low, sizeof single);
    memcpy(&real, &bits, sizeof real);
    return size == 4 ? (double)single : real;
}

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Decode base64 up to its end, or to a character that is not part of it. Groups that end with =
 * may be followed by others, since heads and data are often encoded separately. */
static size_t decode(span in, unsigned char *out)
{
    uint32_t group = 0;
    int digits = 0, padding = 0;
    size_t count = 0;
    for (const char *c = in.at; c < in.end; c++) {
        int digit = digit_of(*c);
        if (cairn_is_space(*c))
            continue;
        if (digit < 0 && *c != '=')
            break;
        padding += digit < 0;
        group = group << 6 | (uint32_t)(digit < 0 ? 0 : digit);
        if (++digits < 4)
            continue;
        for (int k = 0; k < 3 - padding; k++)
            out[count++] = (unsigned char)(group >> (16 - 8 * k));
        group = 0;
        digits = padding = 0;
    }
    return count;
}

/* Blocks compressed by zlib: their number, the size of each, that of the last one (0: full), and
 * the compressed sizes; then the blocks. */
static cairn_status unpack(const vtk *v, const unsigned char *data, size_t bytes,
                           unsigned char *out, size_t wanted)
{
    size_t head = (size_t)v->head, used = 0;
    if (bytes < 3 * head)
        return fail(v, "compressed data end early");
    uint64_t blocks = little(data, v->head), size = little(data + head, v->head);
    uint64_t last = little(data + 2 * head, v->head);
    if (blocks > bytes / head - 3 || last > size || (blocks > 0 && size == 0))
        return fail(v, "compressed data have impossible sizes");
    const unsigned char *from = data + (3 + blocks) * head;
    for (uint64_t k = 0; k < blocks; k++) {
        uint64_t packed = little(data + (3 + k) * head, v->head);
        uLongf full = (uLongf)(k + 1 == blocks && last > 0 ? last : size);
        if (packed > (uint64_t)(data + bytes - from) || full > wanted - used)
            return fail(v, "compressed data end early");
        if (uncompress(out + used, &full, from, (uLong)packed) != Z_OK)
            return fail(v, "compressed data cannot be unpacked");
        from += packed;
        used += full;
    }
    return used == wanted ? CAIRN_OK : fail(v, "an array has not as many numbers as it says");
}

/* Take `wanted` bytes of an array out of a block with its head. */
static cairn_status open_block(const vtk *v, const unsigned char *data, size_t bytes,
                               unsigned char *out, size_t wanted)
{
    if (v->packed)
        return unpack(v, data, bytes, out, wanted);
    if (bytes < (size_t)v->head || bytes - (size_t)v->head < wanted)
        return fail(v, "an array ends early");
    if (little(data, v->head) != wanted)
        return fail(v, "an array has not as many numbers as it says");
    memcpy(out, data + v->head, wanted);
    return CAIRN_OK;
}

/* Bytes of an array in base64, of which the decoded form is shorter than the text. */
static cairn_status open_text(const vtk *v, span text, unsigned char *out, size_t wanted)
{
    unsigned char *decoded = cairn_memory_zeroed(bytes_of(text) + 4, 1);
    if (!decoded)
        return CAIRN_NO_MEMORY;
    cairn_status status = open_block(v, decoded, decode(text, decoded), out, wanted);
    cairn_memory_free(decoded);
    return status;
}

/* Numbers written as text. */
static cairn_status read_ascii(const vtk *v, span text, double *out, int64_t count)
{
    const char *c = text.at;
    for (int64_t i = 0; i < count; i++) {
        char word[40];
        size_t length = 0;
        while (c < text.end && cairn_is_space(*c))
            c++;
        while (c < text.end && !cairn_is_space(*c) && *c != '<' && length < sizeof word - 1)
            word[length++] = *c++;
        word[length] = '\0';
        size_t used = cairn_number_read(word, &out[i]);
        if (used == 0 || word[used])
            return fail(v, "an array of text has something that is no number, or too few of them");
    }
    return CAIRN_OK;
}

/* The numbers of one array; `text` is what stands in its element. */
static cairn_status read_array(const vtk *v, span attributes, span text, int64_t count, double *out)
{
    char name[32], format[32];
    int type = 0;
    attribute(attributes, "type", name, sizeof name);
    attribute(attributes, "format", format, sizeof format);
    while (type < TYPES && strcmp(types[type].name, name) != 0)
        type++;
    if (type == TYPES)
        return fail(v, "an array has an unknown type of numbers");
    if (strcmp(format, "ascii") == 0)
        return read_ascii(v, text, out, count);
    size_t wanted = (size_t)count * (size_t)types[type].size;
    if (strcmp(format, "appended") == 0) {
        int64_t offset = whole_attribute(attributes, "offset");
        if (offset < 0 || (uint64_t)offset > bytes_of(v->appended))
            return fail(v, "an array lies beyond the end of the file");
        text = (span){ v->appended.at + offset, v->appended.end };
    }
    unsigned char *bytes = cairn_memory_zeroed(wanted + 1, 1);
    if (!bytes)
        return CAIRN_NO_MEMORY;
    bool raw = strcmp(format, "appended") == 0 && v->raw;
    cairn_status status =
        raw ? open_block(v, (const unsigned char *)text.at, bytes_of(text), bytes, wanted)
            : open_text(v, text, bytes, wanted);
    for (int64_t i = 0; i < count && status == CAIRN_OK; i++)
        out[i] = number_at(bytes + (size_t)i * (size_t)types[type].size, type);
    cairn_memory_free(bytes);
    return status;
}

/* ---- the arrays of a file ------------------------------------------------------------------- */

/* An array while the table is made. */
typedef struct found {
    span attributes, text;
    char name[64];
    int width, column; /* column: the first of its columns */
} found;

enum { MOST_ARRAYS = 64 };

/* List the arrays of a section, and add their columns. */
static cairn_status list_arrays(const vtk *v, span section, const char *only, cairn_table *t,
                                found *list, int *count)
{
    found f;
    while (next_element(&section, "DataArray", &f.attributes)) {
        int64_t width = whole_attribute(f.attributes, "NumberOfComponents");
        width = width < 0 ? 1 : width;
        if (only)
            snprintf(f.name, sizeof f.name, "%s", only);
        else if (!attribute(f.attributes, "Name", f.name, sizeof f.name))
            return fail(v, "an array has no name");
        if (width < 1 || width > 16 || *count == MOST_ARRAYS)
            continue; /* nothing that a body has */
        f.width = (int)width;
        f.column = t->column_count;
        f.text = (span){ section.at, section.end };
        for (int k = 0; k < f.width; k++) {
            char column[80];
            snprintf(column, sizeof column, f.width > 1 ? "%s:%d" : "%s", f.name, k);
            TRY(cairn_table_add_column(t, column, strlen(column)));
        }
        list[(*count)++] = f;
    }
    return CAIRN_OK;
}

static cairn_status fill_columns(const vtk *v, const found *f, cairn_table *t)
{
    int64_t count = v->points * f->width;
    double *numbers = cairn_memory_zeroed((size_t)count + 1, sizeof *numbers);
    if (!numbers)
        return CAIRN_NO_MEMORY;
    cairn_status status = read_array(v, f->attributes, f->text, count, numbers);
    for (int64_t i = 0; i < v->points && status == CAIRN_OK; i++)
        for (int k = 0; k < f->width; k++)
            t->values[i * t->column_count + f->column + k] = numbers[i * f->width + k];
    cairn_memory_free(numbers);
    return status;
}

/* A point takes at least six bytes of text, which bounds the memory; compressed data may be
 * shorter, but not by more than a factor of 1032, which is zlib's limit. */
static cairn_status read_piece(const vtk *v, span piece, cairn_table *t)
{
    found list[MOST_ARRAYS];
    int count = 0;
    span attributes, section;
    if (v->points < 0 || (uint64_t)v->points > (v->packed ? 1032 : 1) * bytes_of(v->all))
        return fail(v, "found no NumberOfPoints that the file can have");
    if (!inside(piece, "Points", &attributes, &section))
        return fail(v, "found no points");
    TRY(list_arrays(v, section, "Points", t, list, &count));
    if (count != 1 || list[0].width != 3)
        return fail(v, "expected one array of points with 3 components");
    if (inside(piece, "PointData", &attributes, &section))
        TRY(list_arrays(v, section, NULL, t, list, &count));
    TRY(cairn_table_reserve(t, v->points));
    memset(t->line, 0, (size_t)v->points * sizeof *t->line);
    t->row_count = v->points;
    for (int i = 0; i < count; i++)
        TRY(fill_columns(v, &list[i], t));
    return CAIRN_OK;
}

/* The file as a whole. */
static cairn_status read_vtk(vtk *v, cairn_table *t)
{
    span attributes, piece, rest = v->all;
    char text[64];
    if (!next_element(&rest, "VTKFile", &attributes))
        return fail(v, "found no element VTKFile, expected a VTK file in XML");
    attribute(attributes, "type", text, sizeof text);
    if (strcmp(text, "PolyData") != 0 && strcmp(text, "UnstructuredGrid") != 0)
        return fail(v, "expected a file of type PolyData or UnstructuredGrid");
    attribute(attributes, "byte_order", text, sizeof text);
    if (strcmp(text, "BigEndian") == 0)
        return fail(v, "its byte order is BigEndian, expected LittleEndian");
    v->head = attribute(attributes, "header_type", text, sizeof text) && strcmp(text, "UInt64") == 0
                  ? 8
                  : 4;
    v->packed = attribute(attributes, "compressor", text, sizeof text) && text[0];
    if (v->packed && strcmp(text, "vtkZLibDataCompressor") != 0)
        return fail(v, "it is compressed in an unknown way, expected vtkZLibDataCompressor");
    span body = rest, appended;
    if (next_element(&body, "AppendedData", &attributes)) {
        const char *underscore = memchr(body.at, '_', bytes_of(body));
        attribute(attributes, "encoding", text, sizeof text);
        v->raw = strcmp(text, "raw") == 0;
        appended = (span){ underscore ? underscore + 1 : body.end, body.end };
        v->appended = appended;
        rest.end = attributes.at; /* no elements among raw bytes */
    }
    if (!inside(rest, "Piece", &attributes, &piece))
        return fail(v, "found no element Piece");
    v->points = whole_attribute(attributes, "NumberOfPoints");
    rest.at = piece.end;
    if (next_element(&rest, "Piece", &attributes))
        return fail(v, "found several pieces, expected one");
    return read_piece(v, piece, t);
}

cairn_status cairn_table_read_vtk(const char *path, const cairn_table_options *options,
                                  cairn_table *out, cairn_error *error)
{
    void *data;
    size_t bytes;
    (void)options;
    TRY(cairn_file_read(path, &data, &bytes, error));
    vtk v = { .all = { data, (char *)data + bytes }, .error = error };
    v.appended = (span){ v.all.end, v.all.end };
    cairn_status status = read_vtk(&v, out);
    cairn_memory_free(data);
    return status;
}

/* ---- HDF5 ----------------------------------------------------------------------------------- */

/* The datasets of a group that may be columns. */
typedef struct columns {
    struct {
        char name[64];
        int width, first;
        int64_t rows;
    } items[MOST_ARRAYS];
    int count;
} columns;

/* Numbers in one or two dimensions; anything else is passed over. */
static herr_t note_dataset(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    columns *list = context;
    hsize_t extent[2] = { 0, 1 };
    (void)info;
    if (list->count == MOST_ARRAYS || strlen(name) >= sizeof list->items[0].name)
        return 0;
    hid_t dataset = H5Oopen(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return 0;
    bool good = H5Iget_type(dataset) == H5I_DATASET;
    hid_t type = good ? H5Dget_type(dataset) : -1, space = good ? H5Dget_space(dataset) : -1;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
    good = type >= 0 && (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER) &&
           (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, extent, NULL) == rank &&
           extent[0] <= INT32_MAX && extent[1] >= 1 && extent[1] <= 16 &&
           (rank == 1 || extent[1] > 1) && cairn_hdf5_is_there(dataset);
    if (good) {
        snprintf(list->items[list->count].name, sizeof list->items[0].name, "%s", name);
        list->items[list->count].width = (int)extent[1];
        list->items[list->count++].rows = (int64_t)extent[0];
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Oclose(dataset);
    return 0;
}

/* Datasets that are as long as that of the positions belong to the table. */
static int64_t rows_of(const columns *list)
{
    static const char *const names[] = { "x", "X", "position", "positions", "pos", "Points", NULL };
    for (int k = 0; names[k]; k++)
        for (int i = 0; i < list->count; i++)
            if (strcmp(list->items[i].name, names[k]) == 0)
                return list->items[i].rows;
    return list->count > 0 ? list->items[0].rows : 0;
}

static cairn_status name_columns(columns *list, int64_t rows, cairn_table *t)
{
    for (int i = 0; i < list->count; i++) {
        list->items[i].first = list->items[i].rows == rows ? t->column_count : -1;
        for (int k = 0; k < list->items[i].width && list->items[i].first >= 0; k++) {
            char name[80];
            snprintf(name, sizeof name, list->items[i].width > 1 ? "%s:%d" : "%s",
                     list->items[i].name, k);
            TRY(cairn_table_add_column(t, name, strlen(name)));
        }
    }
    return CAIRN_OK;
}

static cairn_status read_columns(hid_t group, cairn_table *t, cairn_error *error)
{
    columns list = { .count = 0 };
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_dataset, &list);
    int64_t rows = rows_of(&list);
    TRY(name_columns(&list, rows, t));
    TRY(cairn_table_reserve(t, rows));
    t->row_count = rows;
    for (int i = 0; i < list.count; i++) {
        cairn_arena arena = { 0 };
        const void *data = NULL;
        int width = list.items[i].width, first = list.items[i].first;
        const cairn_hdf5_slab slab = { list.items[i].name, CAIRN_HDF5_REAL, width, 0, rows };
        if (first < 0)
            continue;
        cairn_status status = cairn_hdf5_read_slab(group, &slab, &arena, &data, error);
        for (int64_t r = 0; r < rows && status == CAIRN_OK; r++)
            memcpy(t->values + r * t->column_count + first, (const double *)data + r * width,
                   (size_t)width * sizeof(double));
        cairn_arena_destroy(&arena);
        TRY(status);
    }
    return CAIRN_OK;
}

cairn_status cairn_table_read_hdf5(const char *path, const cairn_table_options *options,
                                   cairn_table *out, cairn_error *error)
{
    hid_t file, group;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_open_foreign(path, &file, error);
    if (status == CAIRN_OK) {
        const char *name = options->group ? options->group : "/";
        group = H5Gopen2(file, name, H5P_DEFAULT);
        status = group < 0 ? cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                                        "the file has no group '%.60s'", name)
                           : read_columns(group, out, error);
        if (group >= 0)
            H5Gclose(group);
        H5Fclose(file);
    }
    cairn_hdf5_quiet_end(quiet);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

static double value_at(const cairn_table *t, int64_t row, int column)
{
    return t->values[row * t->column_count + column];
}

/* A column that a format cannot do without. */
static cairn_status need(const cairn_table *t, const char *name, int *out, cairn_error *error)
{
    *out = cairn_table_find(t, name);
    return *out >= 0
               ? CAIRN_OK
               : cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                            "the table has no column '%s', which this kind of file needs", name);
}

static void put_number(FILE *out, double value, const char *between)
{
    char text[32] = "nan";
    if (isfinite(value))
        cairn_number_text(value, text);
    fprintf(out, "%s%s", between, text);
}

/* Numbers that are not known are left empty where commas show that. */
static void put_rows(FILE *out, const cairn_table *t, const char *between)
{
    for (int64_t i = 0; i < t->row_count; i++) {
        for (int k = 0; k < t->column_count; k++) {
            double value = value_at(t, i, k);
            if (between[0] == ',' && !isfinite(value))
                fputs(k ? "," : "", out);
            else
                put_number(out, value, k ? between : "");
        }
        fputc('\n', out);
    }
}

static void put_names(FILE *out, const cairn_table *t, const char *between)
{
    for (int k = 0; k < t->column_count; k++)
        fprintf(out, "%s%s", k ? between : "", t->columns[k]);
    fputc('\n', out);
}

static cairn_status write_csv(FILE *out, const cairn_table *t, cairn_error *error)
{
    (void)error;
    put_names(out, t, ",");
    put_rows(out, t, ",");
    return CAIRN_OK;
}

static cairn_status write_text(FILE *out, const cairn_table *t, cairn_error *error)
{
    (void)error;
    fputs("# ", out);
    put_names(out, t, " ");
    put_rows(out, t, " ");
    return CAIRN_OK;
}

/* The smallest and the largest coordinate along one axis, of bodies with their radius. */
static void put_bounds(FILE *out, const cairn_table *t, int column, const char *end)
{
    int radius = cairn_table_find(t, "radius");
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < t->row_count; i++) {
        double r = radius >= 0 ? value_at(t, i, radius) : 0, x = value_at(t, i, column);
        low = fmin(low, x - r);
        high = fmax(high, x + r);
    }
    put_number(out, low, "");
    put_number(out, high, " ");
    fputs(end, out);
}

static cairn_status write_dump(FILE *out, const cairn_table *t, cairn_error *error)
{
    int x[3];
    TRY(need(t, "x", &x[0], error));
    TRY(need(t, "y", &x[1], error));
    TRY(need(t, "z", &x[2], error));
    fprintf(out, "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n%lld\nITEM: BOX BOUNDS ff ff ff\n",
            (long long)t->row_count);
    for (int k = 0; k < 3; k++)
        put_bounds(out, t, x[k], "\n");
    fputs("ITEM: ATOMS ", out);
    put_names(out, t, " ");
    put_rows(out, t, " ");
    return CAIRN_OK;
}

/* The number of a body in a file of LAMMPS: 1, 2, ... */
static int type_of(const cairn_table *t, int64_t row, int type)
{
    double value = type >= 0 ? value_at(t, row, type) : 1;
    return value >= 1 && value < 1e6 ? (int)value : 1;
}

static void put_velocities(FILE *out, const cairn_table *t)
{
    static const char *const names[] = { "vx", "vy", "vz", "wx", "wy", "wz" };
    fputs("\nVelocities\n\n", out);
    for (int64_t i = 0; i < t->row_count; i++) {
        fprintf(out, "%lld", (long long)i + 1);
        for (int k = 0; k < 6; k++) {
            int column = cairn_table_find(t, names[k]);
            put_number(out, column >= 0 ? value_at(t, i, column) : 0, " ");
        }
        fputc('\n', out);
    }
}

/* Atom style sphere: density = m / (4/3 pi r^3). */
static cairn_status write_data(FILE *out, const cairn_table *t, cairn_error *error)
{
    static const char *const names[] = { "x", "y", "z", "radius", "mass" };
    static const char *const ends[] = { " xlo xhi\n", " ylo yhi\n", " zlo zhi\n" };
    int c[5], type = cairn_table_find(t, "type"), types_used = 1;
    for (int k = 0; k < 5; k++)
        TRY(need(t, names[k], &c[k], error));
    for (int64_t i = 0; i < t->row_count; i++)
        types_used = type_of(t, i, type) > types_used ? type_of(t, i, type) : types_used;
    fprintf(out, "spheres written by cairn, SI units\n\n%lld atoms\n%d atom types\n\n",
            (long long)t->row_count, types_used);
    for (int k = 0; k < 3; k++)
        put_bounds(out, t, c[k], ends[k]);
    fputs("\nAtoms # sphere\n\n", out);
    for (int64_t i = 0; i < t->row_count; i++) {
        double r = value_at(t, i, c[3]);
        fprintf(out, "%lld %d", (long long)i + 1, type_of(t, i, type));
        put_number(out, 2 * r, " ");
        put_number(out, value_at(t, i, c[4]) / (4.0 / 3 * 3.14159265358979323846 * r * r * r), " ");
        for (int k = 0; k < 3; k++)
            put_number(out, value_at(t, i, c[k]), " ");
        fputc('\n', out);
    }
    put_velocities(out, t);
    return CAIRN_OK;
}

/* One column after the other, as arrays of a VTK or HDF5 file need them. */
static cairn_status transpose(const cairn_table *t, double **out)
{
    *out = cairn_memory_zeroed((size_t)t->row_count * (size_t)t->column_count + 1, sizeof **out);
    if (!*out)
        return CAIRN_NO_MEMORY;
    for (int64_t i = 0; i < t->row_count; i++)
        for (int k = 0; k < t->column_count; k++)
            (*out)[k * t->row_count + i] = value_at(t, i, k);
    return CAIRN_OK;
}

/* What a VTK file is made of: a vertex for each row or, if `lines`, a line. */
typedef struct vtk_parts {
    bool lines;
    int at[2][3]; /* columns of the points; of the other ends of lines, else -1 */
    cairn_vec3 *x;
    int64_t *corners, *ends;
    double *columns;
    cairn_vtk_array arrays[24];
    int array_count;
    char names[24][32];
} vtk_parts;

/* Whether columns `first` and the next two are NAME_x, NAME_y and NAME_z. */
static bool is_vector(const cairn_table *t, int first)
{
    size_t length = strlen(t->columns[first]);
    bool good = first + 2 < t->column_count && length > 2 && length < 32;
    for (int k = 0; k < 3 && good; k++) {
        const char *name = t->columns[first + k];
        good = strlen(name) == length && strncmp(name, t->columns[first], length - 1) == 0 &&
               name[length - 2] == '_' && name[length - 1] == 'x' + k;
    }
    return good;
}

/* The columns that are not coordinates of points become arrays; vectors have three numbers a row,
 * which takes the place of their columns. */
static cairn_status add_arrays(const cairn_table *t, vtk_parts *p, cairn_error *error)
{
    for (int k = 0, width = 1; k < t->column_count; k += width) {
        double *column = p->columns + k * t->row_count;
        width = is_vector(t, k) ? 3 : 1;
        if (k == p->at[0][0] || k == p->at[0][1] || k == p->at[0][2] || k == p->at[1][0])
            continue;
        if (p->array_count == CAIRN_COUNT(p->arrays))
            return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "more columns than a VTK file takes");
        for (int64_t i = 0; i < t->row_count && width == 3; i++)
            for (int axis = 0; axis < 3; axis++)
                column[3 * i + axis] = value_at(t, i, k + axis);
        char *name = p->names[p->array_count];
        size_t length = strlen(t->columns[k]) - (width == 3 ? 2 : 0);
        snprintf(name, sizeof p->names[0], "%.*s", (int)length, t->columns[k]);
        p->arrays[p->array_count++] = (cairn_vtk_array){ name, CAIRN_VTK_REAL, width, column };
    }
    return CAIRN_OK;
}

static cairn_status write_vtk_parts(const char *path, const cairn_table *t, vtk_parts *p,
                                    cairn_error *error)
{
    int ends = p->lines ? 2 : 1;
    TRY(add_arrays(t, p, error));
    for (int64_t i = 0; i < t->row_count; i++) {
        for (int k = 0; k < ends; k++) {
            const int *c = p->at[k];
            p->x[ends * i + k] =
                (cairn_vec3){ value_at(t, i, c[0]), value_at(t, i, c[1]), value_at(t, i, c[2]) };
            p->corners[ends * i + k] = ends * i + k;
        }
        p->ends[i] = ends * (i + 1);
    }
    size_t length = strlen(path);
    bool grid = length > 4 && strcmp(path + length - 4, ".vtu") == 0;
    if (grid && p->lines)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "lines need a file .vtp");
    cairn_vtk_piece piece = {
        .points = ends * t->row_count,
        .x = p->x,
        .cells = { p->lines ? "Lines"
                   : grid   ? "Cells"
                            : "Verts",
                   t->row_count, p->corners, p->ends },
    };
    *(p->lines ? &piece.cell_arrays : &piece.point_arrays) = p->arrays;
    *(p->lines ? &piece.cell_array_count : &piece.point_array_count) = p->array_count;
    return cairn_vtk_write(path, &piece, error);
}

/* Columns from_x to to_z are the ends of lines; else there are points x, y, z. */
static cairn_status write_vtk(const char *path, const cairn_table *t, cairn_error *error)
{
    static const char *const ends[2][3] = { { "from_x", "from_y", "from_z" },
                                            { "to_x", "to_y", "to_z" } };
    static const char *const points[3] = { "x", "y", "z" };
    size_t rows = (size_t)t->row_count;
    vtk_parts p = { .lines = cairn_table_find(t, "from_x") >= 0, .at[1] = { -1, -1, -1 } };
    for (int k = 0; k < (p.lines ? 2 : 1); k++)
        for (int axis = 0; axis < 3; axis++)
            TRY(need(t, p.lines ? ends[k][axis] : points[axis], &p.at[k][axis], error));
    p.x = cairn_memory_zeroed(2 * rows + 1, sizeof *p.x);
    p.corners = cairn_memory_zeroed(2 * rows + 1, sizeof *p.corners);
    p.ends = cairn_memory_zeroed(rows + 1, sizeof *p.ends);
    cairn_status status = p.x && p.corners && p.ends ? transpose(t, &p.columns) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = write_vtk_parts(path, t, &p, error);
    cairn_memory_free(p.x);
    cairn_memory_free(p.corners);
    cairn_memory_free(p.ends);
    cairn_memory_free(p.columns);
    return status;
}

/* A callback of cairn_hdf5_write_file. */
static cairn_status fill_hdf5(hid_t file, const void *context, cairn_error *error)
{
    const cairn_table *t = context;
    double *columns_first;
    TRY(transpose(t, &columns_first));
    cairn_status status = CAIRN_OK;
    for (int k = 0; k < t->column_count && status == CAIRN_OK; k++)
        status = cairn_fclib_list_write(file, t->columns[k],
                                        (cairn_hdf5_values){ CAIRN_HDF5_REAL, (int)t->row_count,
                                                             columns_first + k * t->row_count },
                                        error);
    cairn_memory_free(columns_first);
    return status;
}

typedef cairn_status stream_fn(FILE *out, const cairn_table *t, cairn_error *error);

/* By the order of the formats in table_read.c. */
static stream_fn *const streams[] = { write_csv, write_text, NULL, NULL, write_data, write_dump };

cairn_status cairn_table_write(const char *path, const cairn_table *table, cairn_error *error)
{
    int format = cairn_table_format(path, NULL);
    const char *name = cairn_table_format_name(format);
    cairn_file file = { 0 };
    if (format < 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "unknown kind of table, expected a file .csv, .txt, .h5, .vtp, .vtu, "
                          ".data or .dump");
    if (table->row_count > INT32_MAX)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "more than %d rows", (int)INT32_MAX);
    if (!streams[format] && strcmp(name, "vtk") == 0)
        return write_vtk(path, table, error);
    if (!streams[format])
        return cairn_hdf5_write_file(path, fill_hdf5, table, error);
    TRY(cairn_file_create(path, &file, error));
    cairn_status status = streams[format](file.stream, table, error);
    if (status == CAIRN_OK)
        return cairn_file_commit(&file, error);
    cairn_file_abandon(&file);
    return status;
}
