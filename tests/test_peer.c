/* test_peer.c - scene files and the loop that all engines of bench/peers go through. */
#include "bench/peers/peer.h"

#include <stdlib.h>

#include "check.h"

static double x[6] = { 0.1, 0.2, 0.3, 1.0 / 3, 5, 6 }, radius[2] = { 0.1, 0.7 }, mass[2] = { 1, 2 };
static const peer_scene two = { .dimension = 3,
                                .count = 2,
                                .steps = 8,
                                .frame_every = 2,
                                .side = 10,
                                .gravity = 9.81,
                                .friction = 0.3,
                                .time_step = 0.125,
                                .position = x,
                                .radius = radius,
                                .mass = mass };

TEST(a_scene_comes_back_to_the_last_bit)
{
    peer_scene_write("peer.csv", &two);
    peer_scene s = peer_scene_read("peer.csv");
    CHECK_INT(s.dimension, 3);
    CHECK_INT(s.steps, 8);
    CHECK_INT(s.frame_every, 2);
    CHECK(s.gravity == 9.81 && s.friction == 0.3 && s.time_step == 0.125 && s.side == 10);
    CHECK_INT(memcmp(s.position, x, sizeof x), 0);
    CHECK(s.radius[1] == 0.7 && s.mass[1] == 2);
    peer_scene_destroy(&s);
    remove("peer.csv");
}

TEST(an_open_box_has_five_planes_and_a_floor_is_one)
{
    double n[5][3], offset[5];
    peer_scene s = two;
    CHECK_INT(peer_scene_planes(&s, n, offset), 5);
    CHECK(n[0][2] == 1 && n[1][0] == 1 && n[2][0] == -1 && n[3][1] == 1 && n[4][1] == -1);
    CHECK(offset[0] == 0 && offset[2] == -10 && offset[4] == -10);
    s.dimension = 2;
    s.side = 0;
    CHECK_INT(peer_scene_planes(&s, n, offset), 1);
    CHECK(n[0][1] == 1);
}

/* An engine whose balls show the steps taken, the length of a step and the setting seen. */
typedef struct counter {
    double steps, length, setting;
} counter;

static void *create(const peer_scene *scene, const char *setting)
{
    static counter c;
    c = (counter){ .length = scene->time_step, .setting = atof(setting) };
    return &c;
}

static void step(void *engine)
{
    ((counter *)engine)->steps++;
}

static void state(void *engine, double *out)
{
    const counter *c = engine;
    memset(out, 0, 2 * PEER_STATE * sizeof *out);
    memcpy(out, c, sizeof *c);
}

enum { FRAME = 1 + 2 * PEER_STATE };

/* All frames that a run of the counter leaves; their number. */
static int frames_of(char *setting, double frame[9][FRAME])
{
    static const peer_engine engine = { "counter", create, step, state };
    char *arguments[] = { "peer", "peer.csv", setting, "peer.frames", "peer_times.csv", NULL };
    remove("peer_times.csv");
    peer_scene_write("peer.csv", &two);
    CHECK_INT(peer_main(5, arguments, &engine), 0);
    FILE *file = fopen("peer.frames", "rb");
    int count = (int)fread(frame, sizeof frame[0], 9, file);
    fclose(file);
    return count;
}

TEST(frames_are_left_at_the_start_and_every_so_many_steps)
{
    double frame[9][FRAME];
    CHECK_INT(frames_of("50", frame), 5); /* 8 steps, every second, and the start */
    for (int k = 0; k < 5; k++) {
        CHECK_NEAR(frame[k][0], 0.25 * k, 1e-15);
        CHECK_NEAR(frame[k][1], 2 * k, 0);
    }
    CHECK_NEAR(frame[0][2], 0.125, 0);
    CHECK_NEAR(frame[0][3], 50, 0);
}

TEST(longer_steps_are_fewer_and_the_engine_sees_its_own_setting)
{
    double frame[9][FRAME];
    CHECK_INT(frames_of("50:4x", frame), 5);
    CHECK_NEAR(frame[4][1], 2, 0);   /* 8 / 4 */
    CHECK_NEAR(frame[4][2], 0.5, 0); /* 4 x 0.125 s */
    CHECK_NEAR(frame[4][3], 50, 0);
}

TEST(times_are_appended_with_engine_setting_and_steps)
{
    double frame[9][FRAME], total = -1, last = -1;
    char line[128], engine[16], setting[16];
    int steps;
    frames_of("50:4x", frame);
    FILE *file = fopen("peer_times.csv", "r");
    CHECK(fgets(line, sizeof line, file) != NULL);
    fclose(file);
    CHECK_INT(sscanf(line, "%15[^,],%15[^,],%d,%lf,%lf", engine, setting, &steps, &total, &last),
              5);
    CHECK_TEXT(engine, "counter");
    CHECK_TEXT(setting, "50:4x");
    CHECK_INT(steps, 8);
    CHECK(last >= 0 && last <= total);
    remove("peer.csv");
    remove("peer.frames");
    remove("peer_times.csv");
}

int main(void)
{
    RUN(CASE(a_scene_comes_back_to_the_last_bit),
        CASE(an_open_box_has_five_planes_and_a_floor_is_one),
        CASE(frames_are_left_at_the_start_and_every_so_many_steps),
        CASE(longer_steps_are_fewer_and_the_engine_sees_its_own_setting),
        CASE(times_are_appended_with_engine_setting_and_steps));
}
