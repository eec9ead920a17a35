/* test_scene_label.c - bodies are called by the names that their scene gives them. */
#include "io/scene_build.h"
#include "scene_text.h"

static const char *const scene_of_two =
    HEAD "bodies:\n"
         "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
         "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 1]}\n"
         "  - {name: top, shape: {sphere: {radius: 1}}, position: [0, 0, 4]}\n";

TEST(a_body_has_its_name_or_its_number)
{
    cairn_scene *scene = scene_text_good(scene_of_two, NULL);
    static const char *const expected[4] = { "'floor'", "1", "'top'", "3" };
    char label[64];
    for (int i = 0; i < 4; i++) {
        cairn_scene_body_label(scene, i, label, sizeof label);
        CHECK_TEXT(label, expected[i]);
    }
    cairn_scene_body_label(scene, -1, label, sizeof label);
    CHECK_TEXT(label, "-1");
    cairn_scene_destroy(scene);
}

TEST(messages_of_the_world_get_the_names)
{
    static const char *const messages[][2] = {
        { "body 1 would move by 3 m relative to body 0 in", "body 1 would move by 3 m relative to "
                                                            "body 'floor' in" },
        { "body 0", "body 'floor'" },
        { "nobody 0 and any body at all", "nobody 'floor' and any body at all" },
        { "", "" },
    };
    cairn_scene *scene = scene_text_good(scene_of_two, NULL);
    char text[100], small[12];
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        cairn_scene_name_bodies(scene, messages[i][0], text, sizeof text);
        CHECK_TEXT(text, messages[i][1]);
    }
    cairn_scene_name_bodies(scene, "body 0 and body 0", small, sizeof small);
    CHECK_TEXT(small, "body 'floor"); /* cut */
    cairn_scene_destroy(scene);
}

int main(void)
{
    RUN(CASE(a_body_has_its_name_or_its_number), CASE(messages_of_the_world_get_the_names));
}
