/* test_study.c - how rows of `cairn reproduce` are judged, and what a study keeps. */
#include "check.h"
#include "reproduce/study.h"

static cairn_finding judged(cairn_row row)
{
    cairn_study study = { 0 };
    cairn_study_row(&study, &row, "row %d", 7);
    CHECK_INT(study.finding_count, 1);
    cairn_finding out = study.findings[0];
    cairn_study_clear(&study);
    return out;
}

TEST(a_row_is_same_close_or_different)
{
    CHECK_INT(judged((cairn_row){ 100, 0, 100.05, 0.05, 0, NULL }).match, CAIRN_MATCH_SAME);
    CHECK_INT(judged((cairn_row){ 100, 0, 104, 0.05, 0, NULL }).match, CAIRN_MATCH_CLOSE);
    CHECK_INT(judged((cairn_row){ 100, 0, 106, 0.05, 0, "why" }).match, CAIRN_MATCH_DIFFERS);
    CHECK_INT(judged((cairn_row){ -100, 0, 100, 0.05, 0, NULL }).match, CAIRN_MATCH_DIFFERS);
    CHECK_TEXT(judged((cairn_row){ 100, 0, 106, 0.05, 0, "why" }).why, "why");
    CHECK_TEXT(judged((cairn_row){ 100, 0, 100, 0.05, 0, NULL }).what, "row 7");
}

/* 0.05 % off, and the row allows 0.01 % */
TEST(same_is_not_wider_than_the_tolerance)
{
    CHECK_INT(judged((cairn_row){ 100, 0, 100.05, 1e-4, 0, NULL }).match, CAIRN_MATCH_DIFFERS);
}

TEST(a_number_that_is_none_differs)
{
    CHECK_INT(judged((cairn_row){ 100, 0, NAN, 0.05, 0, NULL }).match, CAIRN_MATCH_DIFFERS);
    CHECK_INT(judged((cairn_row){ 100, 100, NAN, 0.05, 0.1, NULL }).match, CAIRN_MATCH_DIFFERS);
}

TEST(without_a_published_number_the_reference_judges)
{
    CHECK_INT(judged((cairn_row){ .reference = 2, .ours = 2.0001, .within = 1e-3 }).match,
              CAIRN_MATCH_SAME);
    CHECK_INT(judged((cairn_row){ .reference = 2, .ours = 2.1, .within = 1e-3 }).match,
              CAIRN_MATCH_DIFFERS);
}

TEST(with_both_the_reference_must_hold_as_well)
{
    cairn_finding f = judged((cairn_row){ 100, 101, 101, 0.05, 1e-6, NULL });
    CHECK_INT(f.match, CAIRN_MATCH_CLOSE);
    f = judged((cairn_row){ 100, 101, 100, 0.05, 1e-6, NULL });
    CHECK_INT(f.match, CAIRN_MATCH_DIFFERS);
    CHECK_CONTAINS(f.why, "not the reference value");
}

TEST(a_statement_holds_or_not)
{
    cairn_study study = { 0 };
    cairn_study_claim(&study, true, &(cairn_row){ .ours = 3 }, "it is more than %d", 2);
    cairn_study_claim(&study, false, &(cairn_row){ .ours = 3 }, "it is more than %d", 4);
    CHECK_INT(study.findings[0].match, CAIRN_MATCH_TREND);
    CHECK_INT(study.findings[1].match, CAIRN_MATCH_DIFFERS);
    CHECK(study.findings[0].statement && study.findings[1].statement);
    CHECK_TEXT(study.findings[1].what, "it is more than 4");
    cairn_study_clear(&study);
    CHECK_INT(study.finding_count, 0);
}

/* 60 s are more than 2 s, but nothing was solved in them. */
TEST(a_solver_that_gave_up_shows_no_trend)
{
    cairn_study study = { 0 };
    cairn_trial gave_up = { .verdict = CAIRN_VERDICT_MISSED, .seconds = 60 };
    cairn_trial solved = { .verdict = CAIRN_VERDICT_SOLVED, .seconds = 3 };
    cairn_study_time_claim(&study, &gave_up, true, &(cairn_row){ .ours = 60 }, "more than 2 s");
    cairn_study_time_claim(&study, &solved, true, &(cairn_row){ .ours = 3 }, "more than 2 s");
    CHECK_INT(study.findings[0].match, CAIRN_MATCH_DIFFERS);
    CHECK_CONTAINS(study.findings[0].why, "gave up after 60 s");
    CHECK_INT(study.findings[1].match, CAIRN_MATCH_TREND);
    cairn_study_clear(&study);
}

TEST(series_belong_to_the_figure_before_them)
{
    cairn_study study = { 0 };
    cairn_study_figure(&study, &(cairn_figure){ .name = "a" });
    cairn_study_series(&study, CAIRN_SERIES_LINE, "one");
    int two = cairn_study_series(&study, CAIRN_SERIES_POINTS, "two");
    cairn_study_figure(&study, &(cairn_figure){ .name = "b" });
    int three = cairn_study_series(&study, CAIRN_SERIES_LINE, "three");
    for (int i = 0; i < 100; i++)
        cairn_study_point(&study, two, i, i * i, 0);
    cairn_study_break(&study, three);
    CHECK_OK(study.status);
    CHECK_INT(study.figures[0].count, 2);
    CHECK_INT(study.figures[1].first, 2);
    CHECK_INT(study.figures[1].count, 1);
    CHECK_INT(study.series[two].count, 100);
    CHECK_INT(study.series[two].colour, 1);
    CHECK_INT(study.series[three].colour, 0);
    cairn_study_colour(&study, three, 5);
    CHECK_INT(study.series[three].colour, 5);
    CHECK_NEAR(study.series[two].points[99][1], 9801, 0);
    CHECK(isnan(study.series[three].points[0][0]));
    cairn_study_clear(&study);
}

int main(void)
{
    RUN(CASE(a_row_is_same_close_or_different), CASE(same_is_not_wider_than_the_tolerance),
        CASE(a_number_that_is_none_differs), CASE(without_a_published_number_the_reference_judges),
        CASE(with_both_the_reference_must_hold_as_well), CASE(a_statement_holds_or_not),
        CASE(a_solver_that_gave_up_shows_no_trend), CASE(series_belong_to_the_figure_before_them));
}
