/* test_scene_joint.c - joints in scenes: what they become, and how wrong ones are refused. */
#include "cairn/joint.h"
#include "scene_text.h"

#define BALLS                                                                                      \
    "bodies:\n"                                                                                    \
    "  - {name: left, shape: {sphere: {radius: 0.1}}, mass: 1}\n"                                  \
    "  - {name: right, shape: {sphere: {radius: 0.1}}, mass: 1, position: [1, 0, 0]}\n"            \
    "  - {name: wall, motion: fixed, shape: half_space, position: [0, 0, -1]}\n"
#define JOINT(text) HEAD BALLS "joints:\n  - " text "\n" /* the joint is on line 8 */
#define FLAT(text)                                                                                 \
    HEAD "dimension: 2\nbodies:\n  - {name: left, shape: {sphere: {radius: 0.1}}, mass: 1}\n"      \
         "joints:\n  - " text "\n" /* the joint is on line 7 */

TEST(unknown_bodies_kinds_and_keys_are_refused_with_a_hint)
{
    static const refused table[] = {
        { JOINT("ball: {a: lefft}"), 8, 15, "joints.0.ball.a",
          "unknown body 'lefft'; did you mean 'left'?" },
        { JOINT("ball: {a: left, b: rihgt}"), 8, 24, "joints.0.ball.b", "did you mean 'right'?" },
        { JOINT("ball: {b: left}"), 8, 11, "joints.0.ball.a", "the key 'a' is missing" },
        { JOINT("hinge: {a: left}"), 8, 5, "joints.0.hinge", "unknown joint 'hinge'" },
        { JOINT("revolut: {a: left}"), 8, 5, "joints.0.revolut", "did you mean 'revolute'?" },
        { JOINT("ball: {a: left, ancor: [0, 0, 0]}"), 8, 21, "joints.0.ball.ancor",
          "unknown key 'ancor'; did you mean 'anchor'?" },
        { JOINT("ball"), 8, 5, "joints.0", "found 'ball', expected a mapping" },
        { JOINT("ball: {a: 3}"), 8, 15, "joints.0.ball.a", "unknown body '3'" },
        { HEAD BALLS "joints: {}\n", 7, 9, "joints", "expected a list of joints" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_joints_are_refused_at_their_key)
{
    static const refused table[] = {
        { JOINT("ball: {a: left, b: left}"), 8, 24, "joints.0.ball.b", "two different bodies" },
        { JOINT("ball: {a: wall}"), 8, 15, "joints.0.ball.a", "at least one body must be dynamic" },
        { JOINT("revolute: {a: left, axis: [0, 0, 0]}"), 8, 31, "joints.0.revolute.axis",
          "found zero, expected a direction" },
        { JOINT("universal: {a: left, b: right, axis_b: [0, 1, 1]}"), 8, 44,
          "joints.0.universal.axis_b", "expected a right angle" },
        { JOINT("universal: {a: left, b: right}"), 8, 16, "joints.0.universal.axis_b",
          "found zero, expected a direction" },
        { JOINT("rope: {a: left, b: right}"), 8, 11, "joints.0.rope.anchor_b",
          "found the same point as anchor, expected another" },
        { JOINT("screw: {a: left}"), 8, 12, "joints.0.screw.pitch", "the key 'pitch' is missing" },
        { JOINT("ball: {a: left, break_force: -1}"), 8, 34, "joints.0.ball.break_force",
          "found -1, expected a number" },
        { FLAT("ball: {a: left}"), 7, 11, "joints.0.ball", "a ball joint does not exist in 2D" },
        { FLAT("prismatic: {a: left, axis: [0, 0, 1]}"), 7, 39, "joints.0.prismatic.axis.2",
          "found 1, expected 0 in 2D" },
    };
    CHECK_REFUSED(table);
}

TEST(wrong_drives_are_refused)
{
    static const refused table[] = {
        { JOINT("ball: {a: left, turn: {friction: 1}}"), 8, 21, "joints.0.ball.turn",
          "unknown key 'turn'" },
        { JOINT("revolute: {a: left, slide: {friction: 1}}"), 8, 25, "joints.0.revolute.slide",
          "unknown key 'slide'" },
        { JOINT("revolute: {a: left, turn: {lower: 1, upper: -1}}"), 8, 31,
          "joints.0.revolute.turn", "found lower 1 > upper -1" },
        { JOINT("revolute: {a: left, turn: {motor: speed}}"), 8, 39, "joints.0.revolute.turn.motor",
          "unknown" },
        { JOINT("revolute: {a: left, turn: {frction: 1}}"), 8, 32, "joints.0.revolute.turn.frction",
          "did you mean 'friction'?" },
        { JOINT("revolute: {a: left, turn: {friction: -1}}"), 8, 42,
          "joints.0.revolute.turn.friction", "found -1, expected a number" },
        { JOINT("prismatic: {a: left, slide: 3}"), 8, 33, "joints.0.prismatic.slide",
          "expected a mapping" },
    };
    CHECK_REFUSED(table);
}

/* The coordinate of the spring is its length; the drive is that of the file, or of --set. */
TEST(a_scene_makes_its_joints)
{
    const char *text = HEAD BALLS
        "joints:\n"
        "  - prismatic: {a: left, axis: [1, 0, 0], slide: {motor: velocity, target: 2}}\n"
        "  - spring: {a: right, b: left, anchor: [1, 0, 0], slide: {stiffness: 10, rest: 0.5}}\n";
    for (int k = 0; k < 2; k++) {
        cairn_scene *s =
            scene_text_good(text, k ? "joints.0.prismatic.slide.target=3" : "gravity=[0, 0, 0]");
        cairn_step_report report;
        CHECK_INT(cairn_world_joint_count(s->world), 2);
        CHECK_INT(cairn_world_joint(s->world, 0).body[1], -1);
        CHECK_INT(cairn_world_joint_setup(s->world, 1).def.a.uid, 1);
        CHECK_INT(cairn_world_joint(s->world, 1).kind, CAIRN_JOINT_SPRING);
        CHECK_NEAR(cairn_world_joint(s->world, 1).slide, 1, 1e-15);
        CHECK_NEAR(cairn_world_joint(s->world, 1).elastic, 0.5 * 10 * 0.25, 1e-12);
        s->step.tolerance = 1e-12;
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
        int left = cairn_body_row(s->world, (cairn_body_id){ 0 });
        CHECK_NEAR(cairn_world_bodies(s->world).v[left].x, k ? 3 : 2, 1e-9);
        cairn_scene_destroy(s);
    }
}

/* Bodies of a joint may lie inside each other, unless they are to meet as shapes. */
TEST(joined_bodies_may_overlap)
{
    const char *text =
        HEAD "bodies:\n"
             "  - {name: left, shape: {sphere: {radius: 0.1}}}\n"
             "  - {name: right, shape: {sphere: {radius: 0.1}}, position: [0.05, 0, 0]}\n"
             "joints:\n  - fixed: {a: left, b: right, collide: false}\n";
    cairn_scene_destroy(scene_text_good(text, NULL));
    cairn_scene *scene;
    cairn_error error;
    CHECK_INT(scene_text_load(text, "joints.0.fixed.collide=true", &scene, &error),
              CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "overlap by 0.15 m");
}

TEST(where_no_body_has_a_name_that_is_said)
{
    static const refused nameless = { HEAD "bodies:\n  - {shape: point, mass: 1}\n"
                                           "joints:\n  - ball: {a: left}\n",
                                      6, 15, "joints.0.ball.a",
                                      "unknown body 'left': none has a name" };
    check_refused(&nameless, CAIRN_BAD_INPUT, NULL);
}

TEST(overrides_of_joints_are_refused_by_their_path)
{
    static const refused table[] = {
        { JOINT("ball: {a: left}"), 0, 0, "joints.0.ball.a",
          "unknown body 'lft'; did you mean 'left'?" },
        { JOINT("ball: {a: left}"), 0, 0, "joints.1.ball.a", "there is no '1'" },
    };
    check_refused(&table[0], CAIRN_BAD_INPUT, "joints.0.ball.a=lft");
    check_refused(&table[1], CAIRN_BAD_INPUT, "joints.1.ball.a=left");
}

int main(void)
{
    RUN(CASE(unknown_bodies_kinds_and_keys_are_refused_with_a_hint),
        CASE(impossible_joints_are_refused_at_their_key), CASE(wrong_drives_are_refused),
        CASE(a_scene_makes_its_joints), CASE(joined_bodies_may_overlap),
        CASE(where_no_body_has_a_name_that_is_said),
        CASE(overrides_of_joints_are_refused_by_their_path));
}
