/* test_picture_order.c - what is in front is painted after what is behind. */
#include "io/picture_order.h"

#include "check.h"
#include "failing_allocator.h"
#include "math/vec.h"

enum { MOST = 8 };

/* Boxes along the axes, seen from +x and a little from above. */
typedef struct stage {
    cairn_picture_item items[MOST];
    cairn_vec3 corners[MOST][8];
    cairn_picture_face faces[MOST][6];
    int count;
} stage;

static const cairn_vec3 right = { 0, 1, 0 };
static cairn_arena arena;

static cairn_vec3 towards(void)
{
    return cairn_unit((cairn_vec3){ 2, 0, 1 });
}

static void set_box(cairn_picture_item *item, const cairn_vec3 *corners, int count)
{
    cairn_vec3 up = cairn_cross(towards(), right);
    item->low[0] = item->low[1] = INFINITY;
    item->high[0] = item->high[1] = -INFINITY;
    for (int k = 0; k < count; k++) {
        double at[2] = { cairn_dot(corners[k], right), cairn_dot(corners[k], up) };
        for (int axis = 0; axis < 2; axis++) {
            item->low[axis] = fmin(item->low[axis], at[axis]);
            item->high[axis] = fmax(item->high[axis], at[axis]);
        }
    }
}

static void add_box(stage *s, cairn_vec3 centre, cairn_vec3 half)
{
    int n = s->count++;
    cairn_vec3 normals[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int k = 0; k < 8; k++) {
        cairn_vec3 sign = { k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1 };
        s->corners[n][k] = cairn_add(centre, cairn_times(sign, half));
    }
    for (int k = 0; k < 6; k++)
        s->faces[n][k] = (cairn_picture_face){ cairn_scale(k % 2 ? 1 : -1, normals[k / 2]),
                                               s->corners[n][k % 2 ? 7 : 0] };
    s->items[n] = (cairn_picture_item){ .centre = centre,
                                        .corners = s->corners[n],
                                        .faces = s->faces[n],
                                        .corner_count = 8,
                                        .face_count = 6,
                                        .size = cairn_norm(half),
                                        .depth = cairn_dot(centre, towards()) };
    set_box(&s->items[n], s->corners[n], 8);
}

static void add_ball(stage *s, cairn_vec3 centre, double radius)
{
    int n = s->count++;
    cairn_vec3 up = cairn_cross(towards(), right);
    double x = cairn_dot(centre, right), y = cairn_dot(centre, up);
    s->items[n] = (cairn_picture_item){ .centre = centre,
                                        .radius = radius,
                                        .size = radius,
                                        .low = { x - radius, y - radius },
                                        .high = { x + radius, y + radius },
                                        .depth = cairn_dot(centre, towards()) };
}

/* When each item is painted. */
static void paint(const stage *s, int turn[MOST])
{
    int32_t order[MOST];
    CHECK_OK(cairn_picture_order(s->items, s->count, towards(), &arena, order));
    for (int i = 0; i < s->count; i++)
        turn[i] = -1;
    for (int i = 0; i < s->count; i++)
        turn[order[i]] = i;
    for (int i = 0; i < s->count; i++)
        CHECK(turn[i] >= 0); /* each once */
    cairn_arena_destroy(&arena);
}

/* The middle of the plate is nearer than what lies on its far edge, and still below it. */
TEST(what_lies_on_a_plate_is_painted_after_it)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    add_box(&s, (cairn_vec3){ -3.5, 0, 0.3 }, (cairn_vec3){ 0.2, 0.2, 0.2 });
    add_ball(&s, (cairn_vec3){ -3.5, 1, 0.3 }, 0.2);
    CHECK(s.items[0].depth > s.items[1].depth && s.items[0].depth > s.items[2].depth);
    paint(&s, turn);
    CHECK(turn[1] > turn[0] && turn[2] > turn[0]);
}

/* Below the plate's near edge, behind its side. */
TEST(what_lies_under_a_plate_is_painted_before_it)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    add_ball(&s, (cairn_vec3){ 3.7, 0, -0.3 }, 0.2);
    CHECK(s.items[1].depth > s.items[0].depth);
    paint(&s, turn);
    CHECK(turn[1] < turn[0]);
}

TEST(balls_are_painted_by_their_depth)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_ball(&s, (cairn_vec3){ 2, 0, 0 }, 1);
    add_ball(&s, (cairn_vec3){ -2, 0, 0 }, 1);
    add_ball(&s, (cairn_vec3){ 0, 0.1, 0 }, 1);
    paint(&s, turn);
    CHECK_INT(turn[1], 0);
    CHECK_INT(turn[2], 1);
    CHECK_INT(turn[0], 2);
}

/* A triangle of ground by itself has no inside: what is on its upper side is nearer. */
TEST(a_polygon_alone_has_two_sides)
{
    stage s = { .count = 1 };
    int turn[MOST];
    const cairn_vec3 ground[3] = { { -4, -4, 0 }, { 4, -4, 0 }, { 0, 4, 0 } };
    const cairn_picture_face up = { { 0, 0, 1 }, { 0, 0, 0 } };
    s.items[0] = (cairn_picture_item){
        .corners = ground, .faces = &up, .corner_count = 3, .face_count = 1, .size = 4, .depth = 0
    };
    set_box(&s.items[0], ground, 3);
    add_ball(&s, (cairn_vec3){ -1, 0, 0.2 }, 0.2);
    add_ball(&s, (cairn_vec3){ 1, 0, -0.2 }, 0.2);
    paint(&s, turn);
    CHECK(turn[2] < turn[0] && turn[0] < turn[1]);
}

/* Beams above, between and below others: the order is that of the heights, whatever the depths. */
TEST(crossed_beams_are_painted_from_below)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, -1, 0.3 }, (cairn_vec3){ 3, 0.2, 0.1 });
    add_box(&s, (cairn_vec3){ 1, 0, 0 }, (cairn_vec3){ 0.2, 3, 0.1 });
    add_box(&s, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ 0.2, 3, 0.1 });
    add_box(&s, (cairn_vec3){ 0, 1, -0.3 }, (cairn_vec3){ 3, 0.2, 0.1 });
    paint(&s, turn);
    CHECK(turn[0] > turn[1] && turn[0] > turn[2] && turn[3] < turn[1] && turn[3] < turn[2]);
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    stage s = { .count = 0 };
    int32_t order[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    add_ball(&s, (cairn_vec3){ -3.5, 1, 0.3 }, 0.2);
    meter m = { 0 };
    meter_install(&m);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        m = (meter){ .fail_at = n };
        status = cairn_picture_order(s.items, s.count, towards(), &arena, order);
        cairn_arena_destroy(&arena);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
    cairn_allocator_set(NULL);
    CHECK(m.fail_at >= 2);
}

int main(void)
{
    RUN(CASE(what_lies_on_a_plate_is_painted_after_it),
        CASE(what_lies_under_a_plate_is_painted_before_it), CASE(balls_are_painted_by_their_depth),
        CASE(a_polygon_alone_has_two_sides), CASE(crossed_beams_are_painted_from_below),
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}
