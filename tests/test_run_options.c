/* test_run_options.c - the table of the run part and its defaults. */
#include "cairn/scene.h"
#include "check.h"

TEST(only_the_duration_must_be_given)
{
    cairn_run_options options;
    const cairn_record *record = cairn_run_record();
    cairn_error error = { 0 };
    CHECK_INT(record->size, sizeof options);
    record->set_default(&options);
    CHECK_INT(cairn_record_check(record, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "duration");
    options.duration = 1;
    CHECK_OK(cairn_record_check(record, &options, &error));
    for (int i = 0; i < record->option_count; i++)
        CHECK_INT(record->options[i].required, strcmp(record->options[i].name, "duration") == 0);
}

TEST(defaults_are_as_documented)
{
    const cairn_run_options options = cairn_run_options_default();
    CHECK_NEAR(options.frame_interval, 0.05, 0);
    CHECK(options.contacts);
    CHECK(options.paraview);
    CHECK(!options.packing);
    CHECK_TEXT(options.on_uncertified, "warn");
    CHECK_NEAR(options.rest_speed, 0, 0);
}

TEST(on_uncertified_is_warn_or_stop)
{
    const cairn_option *option = cairn_record_find(cairn_run_record(), "on_uncertified");
    CHECK_TEXT(option->choice(0), "warn");
    CHECK_TEXT(option->choice(1), "stop");
    CHECK(option->choice(2) == NULL);
    CHECK(option->choice(-1) == NULL);
}

TEST(a_certificate_is_off_summary_or_full)
{
    const cairn_option *option = cairn_record_find(cairn_run_record(), "certificate");
    CHECK_TEXT(option->choice(0), "off");
    CHECK_TEXT(option->choice(1), "summary");
    CHECK_TEXT(option->choice(2), "full");
    CHECK(option->choice(3) == NULL);
    CHECK(option->choice(-1) == NULL);
    CHECK_TEXT(cairn_run_options_default().certificate, "summary");
}

int main(void)
{
    RUN(CASE(only_the_duration_must_be_given), CASE(defaults_are_as_documented),
        CASE(on_uncertified_is_warn_or_stop), CASE(a_certificate_is_off_summary_or_full));
}
