/* test_contact_store.c - a list of contacts has memory for what its contacts can need. */
#include "failing_allocator.h"
#include "math/vec.h"
#include "world/world.h"
#include "worlds.h"

TEST(laws_that_nobody_has_take_no_memory)
{
    cairn_contact_store c = { 0 };
    CHECK_OK(cairn_contacts_reserve(&c, 800, 0, 3));
    CHECK_INT(c.capacity, 900); /* an eighth to spare */
    CHECK_INT(c.bytes, 900 * 156);
    CHECK(c.mu_2 == c.mu && c.adhesion == c.zeros && c.restitution == c.zeros);
    CHECK(!c.piece && !c.poisson);
    CHECK(c.zeros[899] == 0);
    cairn_contacts_release(&c);
}

TEST(a_law_that_comes_later_gets_its_column)
{
    cairn_contact_store c = { 0 };
    CHECK_OK(cairn_contacts_reserve(&c, 10, 0, 3));
    c.gap[9] = 7;
    CHECK_OK(cairn_contacts_reserve(&c, 10, CAIRN_CONTACTS_AXES | CAIRN_CONTACTS_PIECES, 3));
    CHECK(c.mu_2 != c.mu && c.piece);
    CHECK(c.adhesion == c.zeros);
    c.mu_2[10] = 1; /* all of the room there is */
    CHECK_INT(c.bytes, c.capacity * (156 + 8 + 16));
    CHECK_OK(cairn_contacts_reserve(&c, 100, CAIRN_CONTACTS_ALL, 3));
    CHECK(c.adhesion != c.zeros && c.restitution != c.zeros && c.poisson && c.moment != c.zeros);
    CHECK(c.gap[9] == 7);
    CHECK_INT(c.bytes, c.capacity * (156 + 8 + 16 + 9 + 8 + 16 + 48));
    cairn_contacts_release(&c);
}

TEST(without_memory_there_is_room_for_none)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_contact_store c = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_contacts_reserve(&c, 5, CAIRN_CONTACTS_BOUNCE, 2);
        if (status == CAIRN_OK)
            status = cairn_contacts_reserve(&c, 50, CAIRN_CONTACTS_ALL, 2);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        CHECK(status == CAIRN_OK || c.capacity == 0);
        cairn_contacts_release(&c);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

/* A ball 0.003 above the floor: from its centre to its lowest point, and from the origin of the
 * floor to the point below. */
TEST(arms_end_at_the_witness_points)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 1, 0, 0 });
    add_ball(world, 0.1, (cairn_vec3){ 0.4, 0.5, 0.103 }, (cairn_vec3){ 0, 0, -1 });
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    CHECK_INT(advance(world, &options, 1).candidates, 1);
    const cairn_vec3 x[2] = { { 1, 0, 0 }, { 0.4, 0.5, 0.103 } };
    cairn_vec3 a = cairn_contact_arm(&world->contacts, x, 0, 0);
    cairn_vec3 b = cairn_contact_arm(&world->contacts, x, 0, 1);
    CHECK_INT(world->contacts.body[0], 1);
    CHECK(cairn_norm(cairn_sub(a, cairn_vec(0, 0, -0.1))) < 1e-15);
    CHECK(cairn_norm(cairn_sub(b, cairn_vec(-0.6, 0.5, 0))) < 1e-15);
    CHECK_INT(cairn_contact_piece(&world->contacts, 0, 1).face, -1);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(laws_that_nobody_has_take_no_memory), CASE(a_law_that_comes_later_gets_its_column),
        CASE(without_memory_there_is_room_for_none), CASE(arms_end_at_the_witness_points));
}
