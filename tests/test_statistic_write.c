/* test_statistic_write.c - tables as CSV. */
#include "statistic_table.h"

TEST(a_table_is_names_and_numbers_and_nothing_for_what_is_not_known)
{
    folder f = folder_create();
    double values[] = { 0, 0.5, 2, 4, 0.1, NAN, 2, 4 };
    cairn_statistic_table t = table_of("packing", values, 2);
    CHECK_OK(cairn_statistic_table_write(&t, path_in(&f, "new").text, NULL));
    CHECK_TEXT(file_text(&f, "new/packing.csv"),
               "time,fraction,solid,volume\n0,0.5,2,4\n0.1,,2,4\n");
    folder_remove(f.path);
}

TEST(a_folder_that_cannot_be_made_is_an_error)
{
    folder f = folder_create();
    double values[] = { 0, 1, 2, 4 };
    cairn_error error = { 0 };
    cairn_statistic_table t = table_of("packing", values, 1);
    file_write(&f, "taken", "");
    CHECK_INT(cairn_statistic_table_write(&t, path_in(&f, "taken").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "taken");
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_table_is_names_and_numbers_and_nothing_for_what_is_not_known),
        CASE(a_folder_that_cannot_be_made_is_an_error));
}
