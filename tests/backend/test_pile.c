/* test_pile.c - steps whose bodies and contacts stay on a device (src/world/pile.c), beside the same
 * steps of the host: on the virtual device, and on a card where there is one. */
#include <string.h>

#include "cairn/backend.h"
#include "cairn/world.h"
#include "math/vec.h"
#include "tests/problems/worlds.h"

/* Back ends with piles that can run here; NULL past the last. */
static const char *device_at(int index)
{
    static const char *const names[] = { "virtual-cuda", "cuda" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (cairn_backend_check(names[i], NULL) == CAIRN_OK && index-- == 0)
            return names[i];
    return NULL;
}

/* 0: there is none, and the test is skipped. */
static int devices(void)
{
    int count = 0;
    while (device_at(count))
        count++;
    if (count == 0)
        print_message("skipped: no back end with piles; CAIRN_BACKENDS names the folder\n");
    return count;
}

static void add_plane(cairn_world *world, cairn_vec3 axis, cairn_vec3 at)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    shape.axis = axis;
    add_wall(world, shape, at);
}

/* Spheres of mixed size that fall in an open box onto a floor with a bump, a fixed sphere. */
static cairn_world *make_pile(int n, double friction)
{
    cairn_world *world = new_world(3, 9.81, friction, 0);
    double d = 0.1, side = n * d;
    cairn_generator grid = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    add_plane(world, (cairn_vec3){ 0, 0, 1 }, (cairn_vec3){ 0, 0, 0 });
    add_plane(world, (cairn_vec3){ 1, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_plane(world, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ side, 0, 0 });
    add_plane(world, (cairn_vec3){ 0, 1, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_plane(world, (cairn_vec3){ 0, -1, 0 }, (cairn_vec3){ 0, side, 0 });
    cairn_shape bump = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    bump.radius = 0.06;
    add_wall(world, bump, (cairn_vec3){ 0.5 * side, 0.5 * side, -0.02 });
    grid.count = (cairn_vec3){ n, n, n };
    grid.origin = (cairn_vec3){ 0.5 * d, 0.5 * d, 0.12 };
    grid.spacing = (cairn_vec3){ d, d, d };
    grid.jitter = 0.004;
    grid.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                        .minimum = 0.032,
                                        .maximum = 0.045 };
    grid.seed = 7;
    CHECK_OK(cairn_generate(world, &grid, NULL, NULL));
    return world;
}

static cairn_step_options options_on(const char *backend, const char *scheme)
{
    cairn_step_options o = cairn_step_options_default();
    o.time_step = 0.004;
    o.scheme = scheme;
    o.backend = backend;
    o.threads = 2;
    return o;
}

/* m: the largest distance of a body from its place in the other world. */
static double difference(const cairn_world *one, const cairn_world *two)
{
    cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(two);
    double most = 0;
    CHECK_INT(a.count, b.count);
    for (int i = 0; i < a.count; i++) {
        CHECK_INT(a.uid[i], b.uid[i]);
        most = fmax(most, fabs(a.x[i].x - b.x[i].x));
        most = fmax(most, fabs(a.x[i].y - b.x[i].y));
        most = fmax(most, fabs(a.x[i].z - b.x[i].z));
    }
    return most;
}

/* The velocity of the convex law is unique: to a fine tolerance both find the same motion, up to
 * what 70 steps make of it. Impulses are not unique, and one that is 0 here may be 1e-12 there, so
 * the number of contacts that push agrees only roughly. */
TEST(piles_move_as_on_the_host)
{
    static const char *const schemes[] = { "convex", "frictionless" };
    for (int k = 0; k < devices(); k++)
        for (int s = 0; s < 2; s++) {
            cairn_world *here = make_pile(4, 0.4), *there = make_pile(4, 0.4);
            cairn_step_options host = options_on("host", schemes[s]);
            cairn_step_options device = options_on(device_at(k), schemes[s]);
            host.tolerance = device.tolerance = 1e-10;
            host.max_iterations = device.max_iterations = 20000;
            cairn_step_report a = advance(here, &host, 70), b = advance(there, &device, 70);
            CHECK(!a.resident && b.resident);
            CHECK(a.solve.converged && b.solve.converged);
            CHECK(b.candidates <= a.candidates); /* the host takes boxes about balls */
            CHECK_NEAR(b.active, a.active, 0.05 * a.active);
            CHECK(a.active > 20);
            CHECK_NEAR(difference(here, there), 0, 1e-7);
            CHECK_NEAR(b.certificate.penetration, a.certificate.penetration, 1e-7);
            CHECK_CLOSE(b.certificate.dilatation + 1, a.certificate.dilatation + 1, 1e-6);
            CHECK_NEAR(b.energy.kinetic, a.energy.kinetic, 1e-6 * fabs(a.energy.potential));
            CHECK_NEAR(b.energy.friction_loss, a.energy.friction_loss, 1e-6);
            CHECK_NEAR(b.energy.impact_loss, a.energy.impact_loss, 1e-6);
            CHECK_NEAR(b.energy.correction, a.energy.correction, 1e-6);
            cairn_world_destroy(here);
            cairn_world_destroy(there);
        }
}

/* Balls in a silo: the inside of a cylinder, on a floor. */
static cairn_world *make_silo(void)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    cairn_generator grid = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    wall.radius = 0.22;
    add_wall(world, wall, (cairn_vec3){ 0.1, -0.2, 0 });
    add_plane(world, (cairn_vec3){ 0, 0, 1 }, (cairn_vec3){ 0, 0, 0 });
    grid.count = (cairn_vec3){ 3, 3, 5 };
    grid.origin = (cairn_vec3){ 0, -0.3, 0.06 };
    grid.velocity = (cairn_vec3){ 1, 0.5, 0 };
    grid.spacing = (cairn_vec3){ 0.1, 0.1, 0.1 };
    grid.jitter = 0.004;
    grid.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                        .minimum = 0.035,
                                        .maximum = 0.045 };
    CHECK_OK(cairn_generate(world, &grid, NULL, NULL));
    return world;
}

TEST(balls_in_cylinders_move_as_on_the_host)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *here = make_silo(), *there = make_silo();
        cairn_step_options host = options_on("host", "convex");
        cairn_step_options device = options_on(device_at(k), "convex");
        host.tolerance = device.tolerance = 1e-10;
        host.max_iterations = device.max_iterations = 20000;
        cairn_step_report a = advance(here, &host, 17), b = advance(there, &device, 17);
        CHECK(!a.resident && b.resident && b.solve.converged);
        CHECK_INT(b.active, a.active);
        CHECK_NEAR(difference(here, there), 0, 1e-9);
        /* moving along the curved wall makes balls overlap it: how far they are moved apart is
         * found to a rough tolerance */
        a = advance(here, &host, 43);
        b = advance(there, &device, 43);
        CHECK_NEAR(difference(here, there), 0, 1e-4);
        cairn_contacts c = cairn_world_contacts(there);
        int round = 0;
        for (int j = 0; j < c.count; j++)
            round += c.body[2 * j + 1] == 0 && c.impulse[3 * j] > 0;
        CHECK(round > 2);
        CHECK_NEAR(b.certificate.penetration, a.certificate.penetration, 1e-6);
        cairn_world_destroy(here);
        cairn_world_destroy(there);
    }
}

/* ---- walls of any form ----------------------------------------------------------------------- */

/* A profile (radius, height) turned about z in so many segments: a ring of quadrilaterals, each of
 * two triangles. A closed profile, counterclockwise seen with the axis on the left, is a solid. */
static cairn_shape turned(const double (*profile)[2], int points, bool closed, int segments)
{
    static cairn_vec3 vertices[512];
    static int32_t triangles[3 * 1024];
    int count = 0, sides = closed ? points : points - 1;
    for (int i = 0; i < segments; i++)
        for (int k = 0; k < points; k++) {
            double angle = 2 * M_PI * i / segments, r = profile[k][0];
            vertices[i * points + k] =
                (cairn_vec3){ r * cos(angle), r * sin(angle), profile[k][1] };
        }
    for (int i = 0; i < segments; i++)
        for (int k = 0; k < sides; k++) {
            int j = (i + 1) % segments, l = (k + 1) % points;
            const int32_t two[6] = { i * points + k, j * points + k, j * points + l,
                                     i * points + k, j * points + l, i * points + l };
            memcpy(triangles + count, two, sizeof two);
            count += 6;
        }
    const cairn_mesh_def def = { vertices, segments * points, triangles, count / 3 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    return shape;
}

/* A hopper with thick walls, and one of sheet. */
static cairn_shape make_hopper(void)
{
    static const double profile[4][2] = {
        { 0.1, 0 }, { 0.14, -0.04 }, { 0.34, 0.3 }, { 0.3, 0.3 }
    };
    return turned(profile, 4, true, 12);
}

static cairn_shape make_sheet(void)
{
    static const double profile[3][2] = { { 0.1, 0 }, { 0.3, 0.15 }, { 0.32, 0.45 } };
    return turned(profile, 3, false, 9);
}

static cairn_shape make_ground(void)
{
    double heights[8 * 7];
    for (int i = 0; i < 8 * 7; i++)
        heights[i] = 0.04 * (i * 37 % 11) / 11;
    const cairn_height_field_def def = { 8, 7, { 0.11, 0.13 }, heights };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    CHECK_OK(cairn_height_field_create(&def, &shape.geometry, NULL));
    return shape;
}

enum { WALL_FORMS = 10 };

static cairn_shape wall_form(int form)
{
    static const cairn_shape_kind kinds[7] = {
        CAIRN_SHAPE_INSIDE_CYLINDER, CAIRN_SHAPE_INSIDE_CONE, CAIRN_SHAPE_FUNNEL,
        CAIRN_SHAPE_INSIDE_BOX,      CAIRN_SHAPE_BOX,         CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_CYLINDER
    };
    if (form >= 7)
        return form == 7 ? make_hopper() : form == 8 ? make_sheet() : make_ground();
    cairn_shape s = cairn_shape_default(kinds[form], 3);
    s.radius = 0.11;
    s.half_angle = 0.6;
    s.bottom_radius = 0.1;
    s.top_radius = 0.3;
    s.height = 0.25;
    s.length = 0.2;
    s.rounding = kinds[form] == CAIRN_SHAPE_BOX ? 0.02 : 0;
    s.size = (cairn_vec3){ 0.5, 0.4, 0.45 };
    s.axis = (cairn_vec3){ 0.1, -0.2, 1 };
    return s;
}

/* A wall, turned, among balls that are all around it and within it. */
static cairn_world *make_crowd(int form, double scale, uint64_t seed)
{
    cairn_world *world = new_world(3, 0, 0.4, 0);
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = wall_form(form);
    def.position = (cairn_vec3){ 0.03, -0.02, -0.1 };
    def.orientation = (cairn_quat){ 0.9, 0.3, -0.1, 0.3 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    if (def.shape.geometry)
        cairn_geometry_release(def.shape.geometry);
    for (int i = 0; i < 9 * 9 * 9; i++) {
        double at[3], radius = scale * (0.012 + 0.03 * cairn_random_uniform(&seed));
        for (int k = 0; k < 3; k++)
            at[k] = 0.1 * ((k == 0   ? i % 9
                            : k == 1 ? i / 9 % 9
                                     : i / 81) -
                           4) +
                    0.016 * (cairn_random_uniform(&seed) - 0.5);
        add_ball(world, radius, (cairn_vec3){ at[0], at[1], at[2] }, (cairn_vec3){ 0, 0, 0 });
    }
    return world;
}

/* The host finds the way out of deep overlaps with a solid cylinder by iteration. */
static bool is_rough(const cairn_contacts *a, int j, int form)
{
    return form == 6 && a->gap[j] < -0.005;
}

/* The contact of b that is contact j of a: between the same bodies, with the nearest normal. */
static int same_contact(const cairn_contacts *a, int j, const cairn_contacts *b, const bool *taken)
{
    double nearest = 1e-3;
    int best = -1;
    for (int k = 0; k < b->count; k++) {
        double away = cairn_norm(cairn_sub(a->normal[j], b->normal[k]));
        if (a->body[2 * j] == b->body[2 * k] && a->body[2 * j + 1] == b->body[2 * k + 1] &&
            !taken[k] && away < nearest) {
            nearest = away;
            best = k;
        }
    }
    return best;
}

/* The contacts with the wall in row 0 are the same, each once; returns their number. */
static int compare_walls(const cairn_world *one, const cairn_world *two, int form)
{
    cairn_contacts a = cairn_world_contacts(one), b = cairn_world_contacts(two);
    bool taken[4096] = { false };
    int count[2] = { 0, 0 };
    CHECK(b.count < 4096);
    for (int k = 0; k < b.count; k++)
        count[1] += b.body[2 * k + 1] == 0;
    for (int j = 0; j < a.count; j++) {
        if (a.body[2 * j + 1] != 0)
            continue;
        int k = same_contact(&a, j, &b, taken);
        double slack = is_rough(&a, j, form) ? 1e-5 : 1e-11;
        CHECK(k >= 0);
        taken[k] = true;
        CHECK_NEAR(b.gap[k], a.gap[j], slack);
        CHECK_NEAR(cairn_norm(cairn_sub(a.normal[j], b.normal[k])), 0, 1e3 * slack);
        CHECK_NEAR(cairn_norm(cairn_sub(a.point[j], b.point[k])), 0, 1e3 * slack);
        count[0]++;
    }
    CHECK_INT(count[1], count[0]);
    return count[0];
}

/* From every side, apart and overlapping, at edges, corners and in hollows. */
TEST(walls_are_met_where_the_host_meets_them)
{
    for (int k = 0; k < devices(); k++)
        for (int form = 0; form < WALL_FORMS; form++)
            for (int small = 0; small < 2; small++) {
                uint64_t seed = 40 + (uint64_t)form;
                cairn_world *here = make_crowd(form, small ? 0.05 : 1, seed);
                cairn_world *there = make_crowd(form, small ? 0.05 : 1, seed);
                cairn_step_options host = options_on("host", "frictionless");
                cairn_step_options device = options_on(device_at(k), "frictionless");
                cairn_step_report a, b;
                host.time_step = device.time_step = 1e-7;
                host.margin = device.margin = 0.03;
                CHECK_OK(cairn_world_step(here, &host, &a));
                CHECK_OK(cairn_world_step(there, &device, &b));
                CHECK(!a.resident && b.resident);
                CHECK(compare_walls(here, there, form) > 10);
                CHECK_NEAR(b.certificate.penetration, a.certificate.penetration, 1e-9);
                CHECK_INT(b.solve.converged, a.solve.converged);
                cairn_world_destroy(here);
                cairn_world_destroy(there);
            }
}

enum { HEAP_WALLS = 5 };

/* Balls that fall through a hopper of sheet into a cone with ground in it, all in a container with a
 * solid box. */
static cairn_world *make_heap(double friction)
{
    cairn_world *world = new_world(3, 9.81, friction, 0);
    cairn_generator grid = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    static const int forms[HEAP_WALLS] = { 8, 1, 3, 4, 9 };
    static const cairn_vec3 at[HEAP_WALLS] = {
        { 0, 0, 0.3 }, { 0, 0, 0 }, { 0, 0, 0.4 }, { 0.05, 0.04, 0.2 }, { 0, 0, 0.1 }
    };
    for (int i = 0; i < HEAP_WALLS; i++) {
        cairn_shape shape = wall_form(forms[i]);
        shape.axis = (cairn_vec3){ 0, 0, 1 };
        shape.size =
            forms[i] == 4 ? (cairn_vec3){ 0.06, 0.06, 0.1 } : (cairn_vec3){ 0.36, 0.38, 1 };
        add_wall(world, shape, at[i]);
        if (shape.geometry)
            cairn_geometry_release(shape.geometry);
    }
    grid.count = (cairn_vec3){ 4, 4, 4 };
    grid.origin = (cairn_vec3){ -0.12, -0.12, 0.42 };
    grid.velocity = (cairn_vec3){ 0.8, -0.4, -1 };
    grid.spacing = (cairn_vec3){ 0.08, 0.08, 0.08 };
    grid.jitter = 0.003;
    grid.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                        .minimum = 0.03,
                                        .maximum = 0.036 };
    CHECK_OK(cairn_generate(world, &grid, NULL, NULL));
    return world;
}

/* Adds to `count`, of each wall, how many contacts with it push. */
static void count_pushed(const cairn_world *world, int *count)
{
    cairn_contacts c = cairn_world_contacts(world);
    for (int j = 0; j < c.count; j++)
        if (c.body[2 * j + 1] < HEAP_WALLS && c.impulse[3 * j] > 0)
            count[c.body[2 * j + 1]]++;
}

TEST(heaps_among_walls_of_any_form_move_as_on_the_host)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *here = make_heap(0.3), *there = make_heap(0.3);
        cairn_step_options host = options_on("host", "convex");
        cairn_step_options device = options_on(device_at(k), "convex");
        int pushed[HEAP_WALLS] = { 0 };
        host.tolerance = device.tolerance = 1e-10;
        host.max_iterations = device.max_iterations = 20000;
        for (int i = 0; i < (CHECKED ? 6 : 12); i++) {
            cairn_step_report a = advance(here, &host, 10), b = advance(there, &device, 10);
            CHECK(!a.resident && b.resident);
            CHECK_INT(b.candidates, a.candidates);
            CHECK_NEAR(b.active, a.active, 2);
            CHECK_NEAR(difference(here, there), 0, 1e-7);
            CHECK_NEAR(b.certificate.penetration, a.certificate.penetration, 1e-8);
            CHECK_NEAR(b.energy.friction_loss, a.energy.friction_loss, 1e-7);
            count_pushed(there, pushed);
        }
        for (int i = 0; i < HEAP_WALLS; i++)
            CHECK(pushed[i] > 0);
        cairn_world_destroy(here);
        cairn_world_destroy(there);
    }
}

/* A wall that is put elsewhere between steps is where it was put. */
TEST(walls_that_are_moved_are_met_where_they_are)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *both[2] = { make_heap(0.3), make_heap(0.3) };
        for (int i = 0; i < 2; i++) {
            cairn_step_options o = options_on(i ? device_at(k) : "host", "convex");
            cairn_body_id sheet = { cairn_world_bodies(both[i]).uid[0] };
            cairn_body_state state;
            o.tolerance = 1e-10;
            o.max_iterations = 20000;
            advance(both[i], &o, 15);
            CHECK_OK(cairn_body_get(both[i], sheet, &state));
            state.x.z -= 0.04;
            CHECK_OK(cairn_body_put(both[i], sheet, &state));
            CHECK(advance(both[i], &o, 15).resident == (i == 1));
        }
        CHECK_NEAR(difference(both[0], both[1]), 0, 1e-8);
        cairn_world_destroy(both[0]);
        cairn_world_destroy(both[1]);
    }
}

/* A ball that passes a wall too fast is refused, or accepted, as on the host. */
TEST(fast_balls_at_walls_are_judged_as_on_the_host)
{
    for (int k = 0; k < devices(); k++) {
        int refused = 0, accepted = 0;
        for (int i = 0; i < 8 * WALL_FORMS; i++) {
            double angle = 0.8 * (i / WALL_FORMS), speed = 8 + 5 * (i % 7);
            cairn_status status[2];
            char said[2][256];
            for (int side = 0; side < 2; side++) {
                cairn_world *world = new_world(3, 0, 0.3, 0);
                cairn_step_options o = options_on(side ? device_at(k) : "host", "convex");
                cairn_step_report report;
                cairn_shape shape = wall_form(i % WALL_FORMS);
                o.max_substeps = 1;
                add_wall(world, shape, (cairn_vec3){ 0, 0, 0 });
                if (shape.geometry)
                    cairn_geometry_release(shape.geometry);
                add_ball(world, 0.03, (cairn_vec3){ 0.05, 0.02, 0.17 },
                         (cairn_vec3){ speed * cos(angle), speed * sin(angle), 2 - 0.5 * speed });
                status[side] = cairn_world_step(world, &o, &report);
                snprintf(said[side], sizeof said[side], "%s", cairn_world_error(world)->message);
                cairn_world_destroy(world);
            }
            CHECK_INT(status[1], status[0]);
            if (status[0] != CAIRN_OK)
                CHECK_TEXT(said[1], said[0]);
            refused += status[0] != CAIRN_OK;
            accepted += status[0] == CAIRN_OK;
        }
        CHECK(refused > 5 && accepted > 5);
    }
}

/* A pile among planes, or one among walls of other forms that has landed. */
static cairn_world *make_either(int other, const cairn_step_options *landing)
{
    cairn_world *world = other ? make_heap(0.4) : make_pile(4, 0.4);
    if (other)
        advance(world, landing, 20);
    return world;
}

/* Every contact of the second world is one of the first, with the same numbers; those that push in
 * the first are all there. */
static void compare_contacts(const cairn_world *one, const cairn_world *two)
{
    cairn_contacts a = cairn_world_contacts(one), b = cairn_world_contacts(two);
    cairn_bodies here = cairn_world_bodies(one), there = cairn_world_bodies(two);
    CHECK(b.count > 10 && b.count <= a.count);
    for (int j = 0; j < a.count; j++) {
        int k = 0;
        while (k < b.count && (there.uid[b.body[2 * k]] != here.uid[a.body[2 * j]] ||
                               there.uid[b.body[2 * k + 1]] != here.uid[a.body[2 * j + 1]]))
            k++;
        CHECK(k < b.count || a.impulse[3 * j] == 0);
        if (k == b.count)
            continue;
        CHECK_NEAR(b.gap[k], a.gap[j], 1e-6);
        CHECK_NEAR(b.normal[k].x, a.normal[j].x, 1e-4);
        CHECK_NEAR(b.tangent[k].y, a.tangent[j].y, 1e-3);
        CHECK_NEAR(b.point[k].z, a.point[j].z, 1e-5);
        CHECK_NEAR(b.mu[k], a.mu[j], 0);
        CHECK_NEAR(b.velocity[3 * k], a.velocity[3 * j], 1e-4);
    }
}

TEST(contacts_are_shown_when_somebody_looks)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *here = make_pile(4, 0.4), *there = make_pile(4, 0.4);
        cairn_step_options host = options_on("host", "convex");
        cairn_step_options device = options_on(device_at(k), "convex");
        host.tolerance = device.tolerance = 1e-10;
        host.max_iterations = device.max_iterations = 20000;
        advance(here, &host, 70);
        advance(there, &device, 70);
        compare_contacts(here, there);
        cairn_step_inputs in = cairn_world_step_inputs(there);
        CHECK_INT(in.count, cairn_world_bodies(there).count);
        CHECK(in.bias != NULL && in.correction != NULL);
        CHECK(cairn_world_problem(there, NULL) == NULL);
        cairn_world_destroy(here);
        cairn_world_destroy(there);
    }
}

TEST(looking_changes_nothing_and_runs_repeat_to_the_bit)
{
    for (int k = 0; k < 2 * devices(); k++) {
        uint64_t hash[2];
        for (int looks = 0; looks < 2; looks++) {
            cairn_step_options o = options_on(device_at(k / 2), "coulomb");
            cairn_world *world = make_either(k % 2, &o);
            for (int i = 0; i < 30; i++) {
                advance(world, &o, 1);
                if (looks && i % 3 == 0)
                    CHECK(cairn_world_contacts(world).count >= 0);
                if (looks && i % 3 == 1)
                    CHECK(cairn_world_bodies(world).count > 0);
                if (looks && i % 3 == 2)
                    CHECK(cairn_world_step_inputs(world).count >= 4 * 4 * 4 + HEAP_WALLS);
            }
            hash[looks] = cairn_world_hash(world);
            cairn_world_destroy(world);
        }
        CHECK(hash[0] == hash[1]);
    }
}

/* The problem of the last step, from what can be seen of it: the velocities before it, gravity and
 * the contacts. */
static cairn_problem problem_of(cairn_world *world, const cairn_vec3 *v_old, double h, double *room)
{
    cairn_bodies b = cairn_world_bodies(world);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_step_inputs in = cairn_world_step_inputs(world);
    int blocks = b.count - b.held;
    double *inverse = room, *v_free = room + 6 * blocks, *radius = v_free + 6 * blocks;
    static int32_t block[2 * 4096];
    for (int i = 0; i < 2 * c.count; i++)
        block[i] = c.body[i] < b.held ? -1 : c.body[i] - b.held;
    for (int k = 0; k < blocks; k++) {
        int i = k + b.held;
        radius[k] = cairn_bodies_shape(&b, i)->radius;
        for (int axis = 0; axis < 3; axis++) {
            inverse[6 * k + axis] = 1 / b.mass[i];
            inverse[6 * k + 3 + axis] = 1 / b.inertia[i].x;
        }
        const cairn_vec3 v[2] = { { v_old[2 * i].x, v_old[2 * i].y, v_old[2 * i].z - 9.81 * h },
                                  v_old[2 * i + 1] };
        memcpy(v_free + 6 * k, v, sizeof v);
    }
    return (cairn_problem){ .dimension = 3,
                            .block_size = 6,
                            .blocks = blocks,
                            .contacts = c.count,
                            .mass_inverse = inverse,
                            .v_free = v_free,
                            .block = block,
                            .normal = c.normal,
                            .tangent = c.tangent,
                            .radius = radius,
                            .b = in.bias,
                            .mu = c.mu };
}

/* The velocities before a step, omega in space axes: two vectors of each row. */
static void note_velocities(const cairn_world *world, cairn_vec3 *out)
{
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++) {
        out[2 * i] = b.v[i];
        out[2 * i + 1] = cairn_rotate(b.q[i], b.omega[i]);
    }
}

/* The device's judge beside the host's, of a rough answer. */
TEST(residuals_of_piles_are_those_of_the_host)
{
    static double room[13 * 128], v[6 * 128], u[3 * 4096];
    static cairn_vec3 v_old[2 * 128];
    for (int k = 0; k < 2 * devices(); k++) {
        cairn_step_options o = options_on(device_at(k / 2), "coulomb");
        cairn_world *world = make_either(k % 2, &o);
        cairn_judgement here;
        o.tolerance = 0.1;
        advance(world, &o, 40);
        note_velocities(world, v_old);
        cairn_step_report report = advance(world, &o, 1);
        cairn_problem p = problem_of(world, v_old, o.time_step, room);
        CHECK(p.contacts > 50 && p.contacts < 4096);
        cairn_judge(&p, CAIRN_LAW_COULOMB, cairn_world_contacts(world).impulse, v, u, &here);
        const cairn_judgement *there = &report.solve.judgement;
        CHECK(here.asked.relative > 1e-6);
        CHECK_CLOSE(there->asked.relative, here.asked.relative, 1e-6);
        CHECK_CLOSE(there->asked.worst, here.asked.worst, 1e-6);
        CHECK_CLOSE(there->asked.fclib, here.asked.fclib, 1e-6);
        cairn_world_destroy(world);
    }
}

/* What calls read and change between steps is what the device has. */
TEST(bodies_on_a_device_are_seen_and_changed_by_calls)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *world = make_pile(3, 0.4), *other = make_pile(3, 0.4);
        cairn_step_options o = options_on(device_at(k), "convex");
        cairn_step_report report = advance(world, &o, 15);
        double kinetic, potential;
        cairn_world_energy(world, &kinetic, &potential);
        CHECK_CLOSE(kinetic, report.energy.kinetic, 1e-12);
        CHECK_CLOSE(potential, report.energy.potential, 1e-12);
        advance(world, &o, 1);
        CHECK(cairn_world_speed2(world) > 0);
        cairn_bodies b = cairn_world_bodies(world);
        cairn_body_id id = { b.uid[b.held + 3] };
        cairn_body_state before, after;
        advance(world, &o, 1);
        CHECK_OK(cairn_body_get(world, id, &before));
        before.v.z += 1;
        CHECK_OK(cairn_body_put(world, id, &before));
        CHECK_OK(cairn_body_get(world, id, &after));
        CHECK_NEAR(after.v.z, before.v.z, 0);
        advance(world, &o, 1);
        advance(other, &o, 17);
        CHECK_OK(cairn_body_put(other, id, &before));
        advance(other, &o, 1);
        CHECK(cairn_world_hash(world) == cairn_world_hash(other));
        cairn_world_destroy(world);
        cairn_world_destroy(other);
    }
}

typedef struct saved {
    unsigned char bytes[1 << 20];
    size_t used;
} saved;

static cairn_status append(const void *data, size_t bytes, void *context)
{
    saved *to = context;
    CHECK(to->used + bytes <= sizeof to->bytes);
    memcpy(to->bytes + to->used, data, bytes);
    to->used += bytes;
    return CAIRN_OK;
}

TEST(a_saved_pile_continues_with_the_same_bits)
{
    static saved state;
    for (int k = 0; k < 2 * devices(); k++) {
        cairn_step_options o = options_on(device_at(k / 2), "convex");
        cairn_world *world = make_either(k % 2, &o), *again = NULL;
        state.used = 0;
        advance(world, &o, 20);
        CHECK_OK(cairn_world_save(world, append, &state));
        CHECK_OK(cairn_world_load(state.bytes, state.used, &again, NULL));
        advance(world, &o, 10);
        advance(again, &o, 10);
        CHECK(cairn_world_hash(world) == cairn_world_hash(again));
        cairn_world_destroy(world);
        cairn_world_destroy(again);
    }
}

TEST(bodies_come_and_go_between_steps)
{
    for (int k = 0; k < 2 * devices(); k++) {
        cairn_step_options o = options_on(device_at(k / 2), "convex");
        cairn_world *world = make_either(k % 2, &o);
        advance(world, &o, 25);
        cairn_bodies b = cairn_world_bodies(world);
        cairn_body_id id = { b.uid[b.held + 4] };
        CHECK_OK(cairn_body_destroy(world, id));
        add_sphere(world, 0.03, (cairn_vec3){ 0.1, 0.1, 0.75 });
        CHECK(cairn_world_contacts(world).count > 0);
        cairn_step_report report = advance(world, &o, 10);
        CHECK(report.resident && report.solve.converged);
        /* the host goes on where the device was, and back */
        cairn_step_options host = options_on("host", "convex");
        report = advance(world, &host, 3);
        CHECK(!report.resident && report.solve.iterations < 100);
        report = advance(world, &o, 3);
        CHECK(report.resident && report.solve.converged);
        cairn_world_destroy(world);
    }
}

/* Balls that fall on a ball beside them, 0.3 m a step: the step is divided, into as many substeps as
 * on the host, and what comes of it is the same to rounding. */
TEST(a_step_that_is_too_long_is_divided_as_on_the_host)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *both[2];
        int substeps[2] = { 0, 0 };
        for (int side = 0; side < 2; side++) {
            cairn_step_options o = options_on(side ? device_at(k) : "host", "convex");
            cairn_step_report report;
            both[side] = new_world(3, 9.81, 0.3, 0);
            o.time_step = 0.01;
            o.tolerance = 1e-10;
            o.max_iterations = 20000;
            add_fixed(both[side], CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
            add_ball(both[side], 0.05, (cairn_vec3){ 0, 0, 0.05 }, (cairn_vec3){ 0, 0, 0 });
            add_ball(both[side], 0.05, (cairn_vec3){ 0.09, 0, 0.5 }, (cairn_vec3){ 0, 0, -30 });
            for (int i = 0; i < 5; i++) {
                CHECK_OK(cairn_world_step(both[side], &o, &report));
                CHECK(report.resident == (side == 1));
                substeps[side] += report.substeps;
            }
        }
        CHECK(substeps[0] > 5);
        CHECK_INT(substeps[1], substeps[0]);
        CHECK_NEAR(difference(both[0], both[1]), 0, 1e-8);
        cairn_world_destroy(both[0]);
        cairn_world_destroy(both[1]);
    }
}

TEST(a_step_that_is_refused_changes_nothing)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *one = make_pile(3, 0.4), *two = make_pile(3, 0.4);
        cairn_step_options o = options_on(device_at(k), "convex"), too_long = o;
        cairn_step_report report;
        advance(one, &o, 20);
        advance(two, &o, 20);
        too_long.time_step = 1;
        too_long.max_substeps = 1;
        CHECK_INT(cairn_world_step(two, &too_long, &report), CAIRN_BAD_INPUT);
        CHECK_CONTAINS(cairn_world_error(two)->message, "expected at most");
        advance(one, &o, 5);
        advance(two, &o, 5);
        CHECK(cairn_world_hash(one) == cairn_world_hash(two));
        cairn_world_destroy(one);
        cairn_world_destroy(two);
    }
}

TEST(other_shapes_and_laws_find_their_contacts_on_the_host)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *world = make_pile(2, 0.4);
        cairn_step_options o = options_on(device_at(k), "convex");
        cairn_body_def def = cairn_body_def_default();
        CHECK(advance(world, &o, 1).resident);
        def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        def.shape.size = (cairn_vec3){ 0.05, 0.05, 0.05 };
        def.position = (cairn_vec3){ 0.1, 0.1, 0.5 };
        CHECK_OK(cairn_body_create(world, &def, NULL));
        CHECK(!advance(world, &o, 2).resident);
        cairn_world_destroy(world);
        world = new_world(3, 9.81, 0.4, 0.5); /* with restitution */
        add_plane(world, (cairn_vec3){ 0, 0, 1 }, (cairn_vec3){ 0, 0, 0 });
        add_sphere(world, 0.04, (cairn_vec3){ 0, 0, 0.05 });
        CHECK(!advance(world, &o, 2).resident);
        cairn_world_destroy(world);
        world = make_pile(2, 0.4); /* a wall whose distance has no formula, and too many walls */
        cairn_shape odd = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
        odd.semi_axes = (cairn_vec3){ 0.1, 0.2, 0.1 };
        cairn_body_id id = add_wall(world, odd, (cairn_vec3){ 3, 0, 0 });
        CHECK(!advance(world, &o, 1).resident);
        CHECK_OK(cairn_body_destroy(world, id));
        for (int i = 5; i < 256; i++)
            id = add_wall(world, wall_form(4), (cairn_vec3){ 3 + i, 0, 0 });
        CHECK(advance(world, &o, 1).resident);
        add_wall(world, wall_form(4), (cairn_vec3){ 3, 0, 0 });
        CHECK(!advance(world, &o, 1).resident);
        cairn_world_destroy(world);
    }
}

/* Many balls among planes go to the device if it can be used, all else stays with the host. */
TEST(auto_takes_the_device_for_large_piles)
{
    cairn_world *few = make_pile(3, 0.4), *many = make_pile(3, 0.4);
    cairn_step_options o = options_on("host", "coulomb");
    CHECK_TEXT(cairn_world_choose_backend(few, &o, "no-such-device", CAIRN_AUTO_BODIES), "host");
    for (int k = 0; k < devices(); k++) {
        const char *device = device_at(k);
        CHECK_TEXT(cairn_world_choose_backend(few, &o, device, 0), "host");
        CHECK_TEXT(cairn_world_choose_backend(many, &o, device, CAIRN_AUTO_BODIES), device);
        o.sleep = true;
        CHECK_TEXT(cairn_world_choose_backend(many, &o, device, CAIRN_AUTO_BODIES), "host");
        o.sleep = false;
    }
    cairn_world_destroy(few);
    cairn_world_destroy(many);
}

/* A ball that flies far away does not spoil the grid. */
TEST(stray_balls_do_no_harm)
{
    for (int k = 0; k < devices(); k++) {
        cairn_world *here = make_pile(3, 0.4), *there = make_pile(3, 0.4);
        cairn_step_options host = options_on("host", "convex");
        cairn_step_options device = options_on(device_at(k), "convex");
        host.tolerance = device.tolerance = 1e-10;
        host.max_iterations = device.max_iterations = 20000;
        for (int side = 0; side < 2; side++) {
            cairn_world *world = side ? there : here;
            add_sphere(world, 0.03, (cairn_vec3){ 1e6, -3e5, 7 });
            add_sphere(world, 0.03, (cairn_vec3){ 1e6, -3e5, 7.061 });
        }
        advance(here, &host, 20);
        advance(there, &device, 20);
        CHECK_NEAR(difference(here, there), 0, 1e-8);
        cairn_world_destroy(here);
        cairn_world_destroy(there);
    }
}

/* Every allocation of the host may fail: the step then fails, and the next one is as if it had not
 * been tried. */
TEST(without_memory_a_step_changes_nothing)
{
    if (devices() == 0)
        return;
    cairn_world *one = make_pile(2, 0.4), *two = make_pile(2, 0.4);
    cairn_step_options o = options_on(device_at(0), "convex");
    o.threads = 1;
    advance(one, &o, 3);
    meter m = { 0 };
    meter_install(&m);
    advance(two, &o, 2);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; n < 200 && status != CAIRN_OK; n++) {
        cairn_step_report report;
        m.calls = 0;
        m.fail_at = n;
        status = cairn_world_step(two, &o, &report);
    }
    CHECK_OK(status);
    CHECK(cairn_world_hash(one) == cairn_world_hash(two));
    cairn_world_destroy(two);
    cairn_allocator_set(NULL);
    cairn_world_destroy(one);
}

GROUP(test_pile)
{
    RUN(CASE(piles_move_as_on_the_host), CASE(balls_in_cylinders_move_as_on_the_host),
        CASE(walls_are_met_where_the_host_meets_them),
        CASE(heaps_among_walls_of_any_form_move_as_on_the_host),
        CASE(walls_that_are_moved_are_met_where_they_are),
        CASE(fast_balls_at_walls_are_judged_as_on_the_host),
        CASE(contacts_are_shown_when_somebody_looks),
        CASE(looking_changes_nothing_and_runs_repeat_to_the_bit),
        CASE(residuals_of_piles_are_those_of_the_host),
        CASE(bodies_on_a_device_are_seen_and_changed_by_calls),
        CASE(a_saved_pile_continues_with_the_same_bits), CASE(bodies_come_and_go_between_steps),
        CASE(a_step_that_is_too_long_is_divided_as_on_the_host),
        CASE(a_step_that_is_refused_changes_nothing),
        CASE(other_shapes_and_laws_find_their_contacts_on_the_host),
        CASE(auto_takes_the_device_for_large_piles), CASE(stray_balls_do_no_harm),
        CASE(without_memory_a_step_changes_nothing));
}
