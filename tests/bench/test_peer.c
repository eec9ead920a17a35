/* test_peer.c - what all engines of bench/peers go through, and how they are measured. */
#include <stdlib.h>

#include "bench/peers/peer.h"
#include "tests/check.h"

/* ==== test_peer: scene files and the loop that all engines of bench/peers go through ========== */

static double positions[6] = { 0.1, 0.2, 0.3, 1.0 / 3, 5, 6 }, radius[2] = { 0.1, 0.7 },
              mass[2] = { 1, 2 };
static const peer_scene two = { .dimension = 3,
                                .count = 2,
                                .steps = 8,
                                .frame_every = 2,
                                .side = 10,
                                .gravity = 9.81,
                                .friction = 0.3,
                                .time_step = 0.125,
                                .position = positions,
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
    CHECK_INT(memcmp(s.position, positions, sizeof positions), 0);
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

GROUP(test_peer)
{
    RUN(CASE(a_scene_comes_back_to_the_last_bit),
        CASE(an_open_box_has_five_planes_and_a_floor_is_one),
        CASE(frames_are_left_at_the_start_and_every_so_many_steps),
        CASE(longer_steps_are_fewer_and_the_engine_sees_its_own_setting),
        CASE(times_are_appended_with_engine_setting_and_steps));
}

/* ==== test_quality: the measure of bench/peers on states whose overlaps and energies are plain */

enum { BALLS = 3 };

/* Two balls of radius 1 and one of radius 4 (mean 2) in a box of side 20; masses 1, 1, 2. */
static double ball_radius[BALLS] = { 1, 1, 4 }, ball_mass[BALLS] = { 1, 1, 2 }, position[3 * BALLS];

static peer_scene scene(int dimension, double side)
{
    return (peer_scene){ .dimension = dimension,
                         .count = BALLS,
                         .steps = 4,
                         .frame_every = 1,
                         .side = side,
                         .gravity = 2,
                         .friction = 0,
                         .time_step = 0.25,
                         .position = position,
                         .radius = ball_radius,
                         .mass = ball_mass };
}

/* Far from each other and from the walls, at rest. */
static void apart(double state[PEER_STATE * BALLS])
{
    static const double x[BALLS][3] = { { 2, 2, 2 }, { 6, 2, 2 }, { 12, 12, 8 } };
    memset(state, 0, PEER_STATE * BALLS * sizeof(double));
    for (int i = 0; i < BALLS; i++)
        memcpy(state + PEER_STATE * i, x[i], sizeof x[i]);
}

TEST(balls_apart_do_not_overlap)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    peer_overlaps o = peer_overlaps_find(&s, state);
    CHECK_INT(o.count, 0);
    CHECK_NEAR(o.largest, 0, 0);
}

TEST(overlap_of_two_balls_is_a_share_of_the_mean_radius)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    state[PEER_STATE] = 3.9; /* 1.9 from the first one's centre: 0.1 too near, of 2 */
    peer_overlaps o = peer_overlaps_find(&s, state);
    CHECK_INT(o.count, 1);
    CHECK_NEAR(o.largest, 0.05, 1e-12);
    CHECK_NEAR(o.sum, 0.05, 1e-12);
}

TEST(overlap_is_found_between_small_and_large_balls)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    state[PEER_STATE] = 12, state[PEER_STATE + 1] = 12, state[PEER_STATE + 2] = 3.5;
    peer_overlaps o = peer_overlaps_find(&s, state); /* 4.5 apart, radii 1 + 4 */
    CHECK_INT(o.count, 1);
    CHECK_NEAR(o.largest, 0.25, 1e-12);
}

TEST(walls_count_and_the_open_top_does_not)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    state[0] = 0.8;                   /* 0.2 into the wall x = 0   */
    state[PEER_STATE + 1] = 19.4;     /* 0.4 into the wall y = 20  */
    state[2 * PEER_STATE + 2] = 3000; /* no lid                    */
    peer_overlaps o = peer_overlaps_find(&s, state);
    CHECK_INT(o.count, 2);
    CHECK_NEAR(o.largest, 0.2, 1e-12);
    CHECK_NEAR(o.sum, 0.3, 1e-12);
}

TEST(side_zero_leaves_the_floor_alone)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(2, 0);
    apart(state);
    state[0] = -50;              /* no wall */
    state[PEER_STATE + 1] = 0.5; /* 0.5 into the floor y = 0 */
    peer_overlaps o = peer_overlaps_find(&s, state);
    CHECK_INT(o.count, 1);
    CHECK_NEAR(o.largest, 0.25, 1e-12);
}

TEST(only_approach_counts_as_speed_left)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    state[PEER_STATE] = 3.9;
    state[3] = 3, state[4] = 7; /* 3 towards the other, 7 across */
    CHECK_NEAR(peer_overlaps_find(&s, state).approach, 9, 1e-12);
    state[3] = -3;
    CHECK_NEAR(peer_overlaps_find(&s, state).approach, 0, 0);
}

TEST(many_balls_give_the_overlaps_of_all_pairs)
{
    enum { MANY = 400 };
    double *state = calloc(PEER_STATE * MANY, sizeof(double)), r[MANY], m[MANY], sum = 0;
    int count = 0;
    peer_scene s = scene(3, 0);
    s.count = MANY, s.radius = r, s.mass = m;
    for (int i = 0; i < MANY; i++) {
        r[i] = 0.5 + 0.01 * (i % 50);
        for (int k = 0; k < 3; k++) /* scattered over 10 x 10 x 10 above the floor */
            state[PEER_STATE * i + k] = 2 + fmod((i + 1) * (k + 1) * 0.618034 * (3 + k), 1) * 10;
    }
    double mean = 0;
    for (int i = 0; i < MANY; i++)
        mean += r[i] / MANY;
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < i; j++) {
            const double *a = state + PEER_STATE * i, *b = state + PEER_STATE * j;
            double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
            count += r[i] + r[j] > d;
            sum += fmax(0, r[i] + r[j] - d) / mean;
        }
    peer_overlaps o = peer_overlaps_find(&s, state);
    CHECK(count > 50);
    CHECK_INT(o.count, count);
    CHECK_CLOSE(o.sum, sum, 1e-12);
    free(state);
}

TEST(energies_by_hand)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    apart(state);
    CHECK_NEAR(peer_potential(&s, state), 2 * (1 * 2 + 1 * 2 + 2 * 8), 1e-12);
    state[5] = 3;                  /* 1/2 1 3^2 = 4.5                    */
    state[2 * PEER_STATE + 6] = 1; /* 1/2 (0.4 2 4^2) 1^2 = 6.4, turning */
    CHECK_NEAR(peer_kinetic(&s, state), 10.9, 1e-12);
    s.dimension = 2; /* a disk: 1/2 (0.5 2 4^2) = 8 */
    CHECK_NEAR(peer_kinetic(&s, state), 12.5, 1e-12);
}

static void put(FILE *file, double time, const double state[PEER_STATE * BALLS])
{
    fwrite(&time, sizeof time, 1, file);
    fwrite(state, sizeof(double), PEER_STATE * BALLS, file);
}

/* Five frames: overlap 0.4 early, 0.1 in the last quarter; energy rises by 4 from the third on. */
TEST(a_run_is_measured_over_its_last_quarter)
{
    double state[PEER_STATE * BALLS];
    peer_scene s = scene(3, 20);
    FILE *file = fopen("quality.frames", "wb");
    apart(state);
    put(file, 0, state);
    state[PEER_STATE] = 3.6;
    put(file, 0.25, state);
    put(file, 0.5, state);
    state[PEER_STATE] = 3.9, state[2 * PEER_STATE + 2] = 9;
    state[3] = 1; /* approach 1 = 2 g h, and 1/2 J */
    put(file, 0.75, state);
    put(file, 1, state);
    fclose(file);
    peer_quality q = peer_quality_of(&s, "quality.frames");
    CHECK_INT(q.frames, 5);
    CHECK_NEAR(q.overlap_worst, 20, 1e-9);
    CHECK_NEAR(q.overlap_max, 5, 1e-9);
    CHECK_NEAR(q.overlap_mean, 5, 1e-9);
    CHECK_NEAR(q.approach, 2, 1e-12);
    CHECK_NEAR(q.kinetic, 0.5 / 16, 1e-12);     /* M g r = 4 2 2 */
    CHECK_NEAR(q.energy_rise, 4.5 / 16, 1e-12); /* 2 kg lifted by 1 m, and the speed */
    CHECK_NEAR(q.height, (2 + 2 + 9) / 3.0, 1e-12);
    remove("quality.frames");
}

GROUP(test_quality)
{
    RUN(CASE(balls_apart_do_not_overlap), CASE(overlap_of_two_balls_is_a_share_of_the_mean_radius),
        CASE(overlap_is_found_between_small_and_large_balls),
        CASE(walls_count_and_the_open_top_does_not), CASE(side_zero_leaves_the_floor_alone),
        CASE(only_approach_counts_as_speed_left), CASE(many_balls_give_the_overlaps_of_all_pairs),
        CASE(energies_by_hand), CASE(a_run_is_measured_over_its_last_quarter));
}
