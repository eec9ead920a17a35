/* test_plot_style.c - the look that all diagrams share. */
#include "cairn/output.h"
#include "run_scene.h"

TEST(a_script_begins_with_the_page)
{
    folder f = folder_create();
    FILE *out = fopen(path_in(&f, "a.gp").text, "wb");
    cairn_plot_begin(out, &(cairn_plot_page){ "pair-correlation.svg", 620, 440, true });
    fclose(out);
    const char *text = file_text(&f, "a.gp");
    CHECK_CONTAINS(text, "set terminal svg size 620,440 noenhanced background 'white'");
    CHECK_CONTAINS(text, "name \"pair_correlation\"\n");
    CHECK_CONTAINS(text, "set output 'pair-correlation.svg.part'\n");
    folder_remove(f.path);
}

TEST(eight_colours_follow_each_other)
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(cairn_plot_colour(i), cairn_plot_colour(k)) != 0);
    CHECK_TEXT(cairn_plot_colour(8), cairn_plot_colour(0));
}

int main(void)
{
    RUN(CASE(a_script_begins_with_the_page), CASE(eight_colours_follow_each_other));
}
