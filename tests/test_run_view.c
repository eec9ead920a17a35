/* test_run_view.c - the script for ParaView; tests/check_vtk.py runs the filter in it. */
#include "io/run_view.h"

#include "run_scene.h"

TEST(the_script_names_the_files_of_the_series)
{
    folder f = folder_create();
    CHECK_OK(cairn_run_view_write(f.path, NULL));
    const char *text = file_text(&f, "view.py");
    CHECK_CONTAINS(text, "from paraview.simple import");
    CHECK_CONTAINS(text, "series(\"bodies.pvd\"), series(\"shapes.pvd\"), series(\"walls.pvd\")");
    CHECK_CONTAINS(text, "series(\"shapes_geometry.vtp\")");
    folder_remove(f.path);
}

TEST(a_folder_that_is_not_there_is_named)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_view_write("no/such/folder", &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "no/such/folder/view.py");
}

int main(void)
{
    RUN(CASE(the_script_names_the_files_of_the_series), CASE(a_folder_that_is_not_there_is_named));
}
