/* test_cut.c - a one-step problem in parts: spans of contacts, and borders between members. */
#include "problem/cut.h"

#include "problem/forms.h"
#include "tests/check.h"

/* Six blocks in a row, two in each of three parts; contacts with two walls, then between
 * neighbours, as a world sorts them: 0, 2, 5 with wall 0, 1, 3 with wall 1. */
static const int32_t blocks[] = { 0, -1, 2, -1, 5, -1, 1, -1, 3, -1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5 };
static const int32_t walls[] = { 0, 0, 0, 1, 1, -1, -1, -1, -1, -1 };
static const uint16_t parts[] = { 0, 0, 1, 1, 2, 2 };

static cairn_problem row_problem(void)
{
    return (cairn_problem){
        .dimension = 3, .block_size = 6, .blocks = 6, .contacts = 10, .block = blocks
    };
}

/* Of wall 0, of wall 1, and of the row: 1, 2, 1 spans; then 1, 1, 1; part 2 has none at wall 1. */
TEST(contacts_are_counted_by_the_part_of_their_lower_block)
{
    static const cairn_span expected[] = { { 0, 1, 0 }, { 3, 4, 0 }, { 5, 7, 0 }, { 1, 2, 1 },
                                           { 4, 5, 1 }, { 7, 9, 1 }, { 2, 3, 2 }, { 9, 10, 2 } };
    cairn_problem p = row_problem();
    cairn_arena arena = { 0 };
    const cairn_cutting by = { 3, parts, walls, NULL };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_INT(p.parts, 3);
    CHECK_INT(cairn_problem_size(&p), 10);
    CHECK_INT(p.cut->contacts.count, 8);
    CHECK_INT(p.cut->borders, 0);
    for (int k = 0; k < 8; k++) {
        CHECK_INT(p.cut->contacts.span[k].begin, expected[k].begin);
        CHECK_INT(p.cut->contacts.span[k].end, expected[k].end);
        CHECK_INT(p.cut->contacts.span[k].part, expected[k].part);
    }
    cairn_arena_destroy(&arena);
}

/* What member 1 of 3 says to whoever asks: nothing comes, so that sums are its own. */
static cairn_status hear(void *context, int to, const void *bytes, size_t count)
{
    (void)context, (void)to, (void)bytes, (void)count;
    return CAIRN_OK;
}

static cairn_status say_nothing(void *context, int from, const void **bytes, size_t *count)
{
    static const int64_t zero = 0;
    (void)context, (void)from;
    *bytes = &zero;
    *count = sizeof zero;
    return CAIRN_OK;
}

/* The middle one of three members has blocks 2 and 3 and, as ghosts, 1 and 4. */
TEST(borders_are_the_blocks_that_touch_another_part)
{
    static const int32_t block[] = { 1, -1, 2, -1, 0, 1, 1, 2, 2, 3 };
    static const uint16_t part[] = { 0, 1, 1, 2 };
    cairn_link link = { .member = 1, .members = 3, .send = hear, .receive = say_nothing };
    cairn_problem p = row_problem();
    cairn_arena arena = { 0 };
    p.blocks = 4;
    p.contacts = 5;
    p.block = block;
    const cairn_cutting by = { 3, part, NULL, &link };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_INT(cairn_problem_size(&p), 4); /* the one of blocks 0 and 1 is counted by member 0 */
    CHECK_INT(p.cut->contacts.others, 1);
    CHECK_INT(p.cut->borders, 2);
    for (int k = 0; k < 2; k++) {
        const cairn_border *b = &p.cut->border[k];
        CHECK_INT(b->member, 2 * k);
        CHECK_INT(b->part, 1);
        CHECK_INT(b->other, 2 * k);
        CHECK_INT(b->outs, 1);
        CHECK_INT(b->out[0], 1 + k);
        CHECK_INT(b->ins, 1);
        CHECK_INT(b->in[0], 3 * k);
    }
    cairn_arena_destroy(&arena);
}

/* Contacts 3, 6 and 8: blocks 1 to 4, of all three parts. */
TEST(a_part_of_a_problem_keeps_the_parts_of_its_blocks)
{
    static const int32_t chosen[] = { 3, 6, 8 };
    static const double numbers[36] = { 0 }, mu[10] = { 0 };
    static const cairn_vec3 directions[10] = { { 0, 0, 0 } };
    static const uint16_t expected[] = { 0, 1, 1, 2 };
    cairn_problem p = row_problem();
    cairn_problem_part part;
    cairn_arena arena = { 0 };
    p.mass_inverse = p.v_free = p.radius = numbers;
    p.mu = mu;
    p.normal = p.tangent = directions;
    const cairn_cutting by = { 3, parts, walls, NULL };
    CHECK_OK(cairn_problem_cut(&p, &by, &arena));
    CHECK_OK(cairn_problem_take_part(&p, chosen, 3, &arena, &part));
    CHECK_INT(part.problem.blocks, 4);
    for (int i = 0; i < 4; i++)
        CHECK_INT(part.problem.cut->part[i], expected[i]);
    CHECK_INT(part.problem.cut->contacts.count, 3);
    CHECK_INT(cairn_problem_size(&part.problem), 3);
    cairn_arena_destroy(&arena);
}

GROUP(test_cut)
{
    RUN(CASE(contacts_are_counted_by_the_part_of_their_lower_block),
        CASE(borders_are_the_blocks_that_touch_another_part),
        CASE(a_part_of_a_problem_keeps_the_parts_of_its_blocks));
}
