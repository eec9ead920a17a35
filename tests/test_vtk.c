/* test_vtk.c - the bytes of .vtp and .pvd files. tests/check_vtk.py reads them with VTK itself. */
#include "io/vtk.h"
#include "run_scene.h"

/* A segment from (0,0,0) to (1,2,3) with one number on its cell. */
static cairn_vtk_piece segment(void)
{
    static const cairn_vec3 x[2] = { { 0, 0, 0 }, { 1, 2, 3 } };
    static const int64_t corners[2] = { 0, 1 }, end[1] = { 2 };
    static const int32_t body[1] = { 7 };
    static const cairn_vtk_array arrays[1] = { { "body", CAIRN_VTK_INT, 1, body } };
    return (cairn_vtk_piece){ .time = 0.5,
                              .points = 2,
                              .x = x,
                              .cells = { "Lines", 1, corners, end },
                              .cell_arrays = arrays,
                              .cell_array_count = 1 };
}

/* The bytes of a file after the underscore that begins the appended data. */
static size_t appended(const char *name, char *out, size_t capacity)
{
    static char all[1 << 14];
    FILE *file = fopen(name, "rb");
    CHECK(file != NULL);
    size_t size = fread(all, 1, sizeof all - 1, file);
    fclose(file);
    all[size] = '\0';
    char *start = strstr(all, "<AppendedData encoding=\"raw\">\n_");
    CHECK(start != NULL);
    start += strlen("<AppendedData encoding=\"raw\">\n_");
    size_t left = size - (size_t)(start - all);
    CHECK(left <= capacity);
    memcpy(out, start, left < capacity ? left : capacity);
    return left;
}

TEST(arrays_follow_each_other_with_their_size_in_front)
{
    folder f = folder_create();
    path p = path_in(&f, "a.vtp");
    cairn_vtk_piece piece = segment();
    char bytes[4096];
    uint64_t size;
    double numbers[6];
    CHECK_OK(cairn_vtk_write(p.text, &piece, NULL));
    /* time 8+8, points 8+48, connectivity 8+16, offsets 8+8, body 8+4, then the closing tags */
    const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    CHECK_INT(appended(p.text, bytes, sizeof bytes), 16 + 56 + 24 + 16 + 12 + strlen(tail));
    CHECK(memcmp(bytes + 124, tail, strlen(tail)) == 0);
    memcpy(&size, bytes + 16, 8);
    memcpy(numbers, bytes + 24, sizeof numbers);
    CHECK_INT(size, 48);
    CHECK_NEAR(numbers[5], 3, 0);
    int32_t body;
    memcpy(&body, bytes + 120, 4);
    CHECK_INT(body, 7);
    folder_remove(f.path);
}

TEST(the_head_names_counts_and_offsets)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    CHECK_OK(cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, NULL));
    const char *text = file_text(&f, "a.vtp");
    CHECK_CONTAINS(text, "byte_order=\"LittleEndian\" header_type=\"UInt64\"");
    CHECK_CONTAINS(text, "NumberOfPoints=\"2\" NumberOfVerts=\"0\" NumberOfLines=\"1\"");
    CHECK_CONTAINS(text, "type=\"Int32\" Name=\"body\" NumberOfComponents=\"1\" "
                         "NumberOfTuples=\"1\" format=\"appended\" offset=\"112\"");
    folder_remove(f.path);
}

TEST(more_arrays_than_fit_are_refused_and_leave_no_file)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    cairn_error error = { 0 };
    const int32_t number[1] = { 1 };
    cairn_vtk_array many[40];
    for (int i = 0; i < 40; i++)
        many[i] = (cairn_vtk_array){ "a", CAIRN_VTK_INT, 1, number };
    piece.cell_arrays = many;
    piece.cell_array_count = 40;
    CHECK_INT(cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, &error), CAIRN_UNSUPPORTED);
    CHECK(!file_exists(&f, "a.vtp") && !file_exists(&f, "a.vtp.part"));
    folder_remove(f.path);
}

TEST(a_series_lists_times_and_files)
{
    folder f = folder_create();
    const cairn_vtk_moment moments[2] = { { 0, 0 }, { 0.1, 1234567 } };
    CHECK_OK(cairn_vtk_series_write(f.path, "bodies", moments, 2, NULL));
    const char *text = file_text(&f, "bodies.pvd");
    CHECK_CONTAINS(text, "<DataSet timestep=\"0\" part=\"0\" file=\"bodies_000000.vtp\"/>");
    CHECK_CONTAINS(text, "<DataSet timestep=\"0.1\" part=\"0\" file=\"bodies_1234567.vtp\"/>");
    folder_remove(f.path);
}

TEST(a_full_disk_leaves_the_old_file)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    cairn_error error = { 0 };
    file_write(&f, "a.vtp", "old");
    file_write(&f, "bodies.pvd", "old");
    disk_limit(100);
    cairn_status written = cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, &error);
    cairn_status listed = cairn_vtk_series_write(f.path, "bodies", NULL, 0, &error);
    disk_limit(RLIM_INFINITY);
    CHECK_INT(written, CAIRN_IO_FAILED);
    CHECK_INT(listed, CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "bodies.pvd");
    CHECK_TEXT(file_text(&f, "a.vtp"), "old");
    CHECK_TEXT(file_text(&f, "bodies.pvd"), "old");
    CHECK(!file_exists(&f, "a.vtp.part") && !file_exists(&f, "bodies.pvd.part"));
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(arrays_follow_each_other_with_their_size_in_front),
        CASE(the_head_names_counts_and_offsets),
        CASE(more_arrays_than_fit_are_refused_and_leave_no_file),
        CASE(a_series_lists_times_and_files), CASE(a_full_disk_leaves_the_old_file));
}
