/* test_file.c - files appear complete or not at all. */
#include "io/file.h"
#include "run_scene.h"

TEST(a_committed_file_has_its_name_and_no_part)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    CHECK(file_exists(&f, "a.txt.part"));
    CHECK(!file_exists(&f, "a.txt"));
    fputs("hello", file.stream);
    CHECK_OK(cairn_file_commit(&file, NULL));
    CHECK_TEXT(file_text(&f, "a.txt"), "hello");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(an_abandoned_file_leaves_nothing_and_the_old_one_stays)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    file_write(&f, "a.txt", "old");
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    fputs("new", file.stream);
    cairn_file_abandon(&file);
    cairn_file_abandon(&file);
    CHECK_TEXT(file_text(&f, "a.txt"), "old");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_full_disk_is_reported_and_the_old_file_stays)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    cairn_error error = { 0 };
    file_write(&f, "a.txt", "old");
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, &error));
    disk_limit(1000);
    for (int i = 0; i < 20000; i++)
        fputc('x', file.stream);
    cairn_status status = cairn_file_commit(&file, &error);
    disk_limit(RLIM_INFINITY);
    CHECK_INT(status, CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "cannot write: File too large");
    CHECK_CONTAINS(error.file, "/a.txt");
    CHECK_TEXT(file_text(&f, "a.txt"), "old");
    CHECK(!file_exists(&f, "a.txt.part"));
    folder_remove(f.path);
}

TEST(a_link_in_the_place_of_the_part_is_not_followed)
{
    folder f = folder_create();
    cairn_file file = { 0 };
    file_write(&f, "precious", "keep me");
    CHECK_INT(symlink(path_in(&f, "precious").text, path_in(&f, "a.txt.part").text), 0);
    CHECK_OK(cairn_file_create(path_in(&f, "a.txt").text, &file, NULL));
    fputs("new", file.stream);
    CHECK_OK(cairn_file_commit(&file, NULL));
    CHECK_TEXT(file_text(&f, "precious"), "keep me");
    CHECK_TEXT(file_text(&f, "a.txt"), "new");
    folder_remove(f.path);
}

TEST(a_folder_comes_with_those_above_it)
{
    folder f = folder_create();
    CHECK_OK(cairn_folder_create(path_in(&f, "a/b/c").text, NULL));
    CHECK_OK(cairn_folder_create(path_in(&f, "a/b/c/").text, NULL));
    CHECK(file_exists(&f, "a/b/c/."));
    folder_remove(f.path);
}

TEST(a_folder_where_a_file_stands_is_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    file_write(&f, "file", "");
    CHECK_INT(cairn_folder_create(path_in(&f, "file").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "expected a folder");
    CHECK_INT(cairn_folder_create(path_in(&f, "file/sub").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "Not a directory");
    CHECK_INT(cairn_folder_create("", &error), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

TEST(a_path_of_4096_bytes_is_too_long)
{
    char name[5000], joined[CAIRN_PATH_BYTES];
    cairn_error error = { 0 };
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INT(cairn_path_join("a", name, joined, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "5001 bytes");
    name[CAIRN_PATH_BYTES - 3] = '\0';
    CHECK_OK(cairn_path_join("a", name, joined, &error));
    cairn_file file = { 0 };
    CHECK_INT(cairn_file_create(joined, &file, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_folder_create(name, NULL), CAIRN_IO_FAILED); /* a name of > 255 bytes */
}

TEST(a_long_path_is_shown_by_its_end)
{
    char name[600];
    cairn_error error = { 0 };
    memset(name, 'x', sizeof name);
    strcpy(name + 590, "/run.h5");
    cairn_error_set_file(&error, name);
    CHECK_INT(strlen(error.file), 255);
    CHECK_TEXT(error.file + 248, "/run.h5");
}

int main(void)
{
    RUN(CASE(a_committed_file_has_its_name_and_no_part),
        CASE(an_abandoned_file_leaves_nothing_and_the_old_one_stays),
        CASE(a_full_disk_is_reported_and_the_old_file_stays),
        CASE(a_link_in_the_place_of_the_part_is_not_followed),
        CASE(a_folder_comes_with_those_above_it), CASE(a_folder_where_a_file_stands_is_refused),
        CASE(a_path_of_4096_bytes_is_too_long), CASE(a_long_path_is_shown_by_its_end));
}
