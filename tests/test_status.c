/* test_status.c - texts of status codes, and filling errors. */
#include "base/status.h"
#include "check.h"

TEST(every_status_has_its_own_text)
{
    for (int a = CAIRN_OK; a <= CAIRN_STOPPED; a++) {
        CHECK(strlen(cairn_status_text((cairn_status)a)) > 0);
        for (int b = CAIRN_OK; b < a; b++)
            CHECK(strcmp(cairn_status_text((cairn_status)a), cairn_status_text((cairn_status)b)));
    }
    CHECK_TEXT(cairn_status_text(CAIRN_OK), "ok");
    CHECK_TEXT(cairn_status_text(CAIRN_NO_MEMORY), "out of memory");
}

TEST(a_number_that_is_no_status_has_a_text_too)
{
    CHECK_TEXT(cairn_status_text((cairn_status)(CAIRN_STOPPED + 1)), "unknown status");
    CHECK_TEXT(cairn_status_text((cairn_status)-1), "unknown status");
}

TEST(the_version_is_three_numbers)
{
    int major, minor, patch, length = 0;
    CHECK_INT(sscanf(cairn_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
    CHECK_INT(length, strlen(cairn_version()));
}

TEST(fail_returns_the_status_and_fills_message_and_key)
{
    cairn_error error = { .line = 7 };
    CHECK_INT(cairn_fail(&error, CAIRN_BAD_INPUT, "run.time_step", "found %d, expected %s", -1,
                         "a number > 0"),
              CAIRN_BAD_INPUT);
    CHECK_TEXT(error.message, "found -1, expected a number > 0");
    CHECK_TEXT(error.key, "run.time_step");
    CHECK_INT(error.line, 7);
}

TEST(fail_keeps_the_key_when_none_is_given)
{
    cairn_error error = { .key = "bodies.3" };
    cairn_fail(&error, CAIRN_NOT_FOUND, NULL, "gone");
    CHECK_TEXT(error.key, "bodies.3");
    CHECK_TEXT(error.message, "gone");
}

TEST(fail_without_an_error_still_returns_the_status)
{
    CHECK_INT(cairn_fail(NULL, CAIRN_STOPPED, "key", "%d", 1), CAIRN_STOPPED);
}

TEST(long_messages_and_keys_are_cut_and_ended)
{
    cairn_error error = { 0 };
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    cairn_fail(&error, CAIRN_BAD_INPUT, text, "%s", text);
    CHECK_INT(strlen(error.message), sizeof error.message - 1);
    CHECK_INT(strlen(error.key), sizeof error.key - 1);
    CHECK_TEXT(error.file, "");
}

static cairn_status passes_on(cairn_status first, int *reached)
{
    TRY(first);
    *reached = 1;
    return CAIRN_OK;
}

TEST(try_leaves_at_the_first_failure_and_goes_on_otherwise)
{
    int reached = 0;
    CHECK_INT(passes_on(CAIRN_IO_FAILED, &reached), CAIRN_IO_FAILED);
    CHECK_INT(reached, 0);
    CHECK_INT(passes_on(CAIRN_OK, &reached), CAIRN_OK);
    CHECK_INT(reached, 1);
}

int main(void)
{
    RUN(CASE(every_status_has_its_own_text), CASE(a_number_that_is_no_status_has_a_text_too),
        CASE(the_version_is_three_numbers), CASE(fail_returns_the_status_and_fills_message_and_key),
        CASE(fail_keeps_the_key_when_none_is_given),
        CASE(fail_without_an_error_still_returns_the_status),
        CASE(long_messages_and_keys_are_cut_and_ended),
        CASE(try_leaves_at_the_first_failure_and_goes_on_otherwise));
}
