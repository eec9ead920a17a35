/* test_output.c - files of programs, written as the library writes its own. */
#include "cairn/output.h"

#include "failing_allocator.h"
#include "run_scene.h"

TEST(a_file_has_its_name_when_it_is_complete)
{
    folder f = folder_create();
    cairn_output *out;
    CHECK_OK(cairn_output_create(path_in(&f, "a.txt").text, &out, NULL));
    fputs("hello", cairn_output_stream(out));
    CHECK(!file_exists(&f, "a.txt"));
    CHECK_OK(cairn_output_commit(out, NULL));
    CHECK_TEXT(file_text(&f, "a.txt"), "hello");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_file_that_cannot_be_made_is_told)
{
    folder f = folder_create();
    cairn_output *out;
    cairn_error error = { 0 };
    CHECK_INT(cairn_output_create(path_in(&f, "no/a.txt").text, &out, &error), CAIRN_IO_FAILED);
    CHECK(!out);
    CHECK_CONTAINS(error.message, "cannot create: No such file");
    meter m = { .fail_at = 1 };
    meter_install(&m);
    cairn_status status = cairn_output_create(path_in(&f, "a.txt").text, &out, NULL);
    cairn_allocator_set(NULL);
    CHECK_INT(status, CAIRN_NO_MEMORY);
    CHECK_INT(m.alive, 0);
    folder_remove(f.path);
}

TEST(a_part_is_placed)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    file_write(&f, "part", "drawn");
    CHECK_OK(cairn_output_place(path_in(&f, "part").text, path_in(&f, "a.svg").text, NULL));
    CHECK_TEXT(file_text(&f, "a.svg"), "drawn");
    CHECK_INT(cairn_output_place(path_in(&f, "part").text, path_in(&f, "a.svg").text, &error),
              CAIRN_IO_FAILED);
    CHECK_TEXT(file_text(&f, "a.svg"), "drawn");
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_file_has_its_name_when_it_is_complete), CASE(a_file_that_cannot_be_made_is_told),
        CASE(a_part_is_placed));
}
