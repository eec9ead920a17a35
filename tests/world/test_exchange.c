/* test_exchange.c - one world computed by several members, each with nothing but its own bodies and
 * ghosts, and messages between them: the same bits as in shared memory. */
#include "world/exchange.h"

#include "math/vec.h"
#include "tests/problems/members.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

typedef cairn_world *build_fn(void);

/* The bytes of a saved state. */
typedef struct saved {
    unsigned char *bytes; /* freed when others take their place */
    size_t count;
} saved;

static cairn_status keep_bytes(const void *data, size_t bytes, void *context)
{
    saved *to = context;
    free(to->bytes);
    to->bytes = malloc(bytes);
    memcpy(to->bytes, data, bytes);
    to->count = bytes;
    return CAIRN_OK;
}

/* A run of one world, and what each body came to, by uid. */
enum { MOST_BODIES = 4096, MOST_JOINTS = 600 };

typedef struct outcome {
    cairn_vec3 x[MOST_BODIES], v[MOST_BODIES], omega[MOST_BODIES];
    cairn_quat q[MOST_BODIES];
    int seen[MOST_BODIES]; /* by how many members */
    cairn_joint_state joint[MOST_JOINTS];
    cairn_step_report report;
    cairn_probe_reading readings[3]; /* of the last step */
    int64_t iterations, impacts;     /* of all steps */
    int64_t reduced;                 /* likewise */
    double depths;                   /* m: sum of the deepest overlaps of all steps */
    int ghosts, migrants;
} outcome;

typedef struct job {
    build_fn *build;
    cairn_step_options options;
    int steps, gives_up; /* gives_up: after so many steps; 0: never */
    member m;
    outcome *out; /* of all: each writes its own bodies */
    cairn_step_report report;
    cairn_probe_reading readings[3];
    cairn_joint_state joint[MOST_JOINTS];
    int64_t iterations;
    double depths;    /* m: sum of the deepest overlaps of all steps */
    const int *bound; /* the first part of each member, and the end; NULL: even */
    cairn_traffic traffic;
    int64_t lists;                /* of pairs that were built */
    double pace;                  /* s: what its clock advances by in a step; 0: by the true time */
    int parts;                    /* that it had in the last step */
    int most_own;                 /* own bodies at once */
    int most_rows;                /* dynamic bodies at once, ghosts as well */
    int ghosts, migrants, sorted; /* sorted: how often */
    int64_t stays;                /* steps before which nobody moved to another member */
    cairn_world *whole;           /* of member 0: collects all at the end; NULL: it does not */
    bool gathers;                 /* all do so                                               */
    uint64_t hash;
    cairn_status status;
    char message[256];
} job;

/* What is done to a world before step k, by each member; NULL: nothing. */
static void (*act)(cairn_world *world, int k);

/* Every member knows the state of all joints. */
static void note_joints(const cairn_world *world, cairn_joint_state *out)
{
    for (int k = 0; k < cairn_world_joint_count(world); k++)
        out[k] = cairn_world_joint(world, k);
}

static void note_bodies(const cairn_world *world, int begin, int end, outcome *out)
{
    const cairn_body_store *b = &world->bodies;
    for (int i = begin; i < end; i++) {
        uint64_t uid = b->uid[i];
        out->x[uid] = b->x[i];
        out->v[uid] = b->v[i];
        out->omega[uid] = b->omega[i];
        out->q[uid] = b->q[i];
        out->seen[uid]++;
    }
}

/* Readings belong to the world. */
static void note_readings(const cairn_step_report *report, cairn_probe_reading out[3])
{
    if (report->readings)
        memcpy(out, report->readings, 3 * sizeof *out);
}

/* In shared memory. */
static void run_whole(build_fn *build, const cairn_step_options *options, int steps, outcome *out)
{
    cairn_world *world = build();
    memset(out, 0, sizeof *out);
    for (int k = 0; k < steps; k++) {
        if (act)
            act(world, k);
        if (cairn_world_step(world, options, &out->report) != CAIRN_OK)
            fail_msg("%s", cairn_world_error(world)->message);
        out->iterations += out->report.solve.iterations;
        out->impacts += out->report.impacts;
        out->reduced += out->report.impacts_reduced;
        out->depths += out->report.certificate.penetration;
    }
    note_readings(&out->report, out->readings);
    note_bodies(world, world->bodies.held, world->bodies.count, out);
    note_joints(world, out->joint);
    cairn_world_destroy(world);
}

static _Thread_local double pace, seconds;

/* A clock of each member that goes on whenever one looks. */
static double look_at_clock(void)
{
    return seconds += pace;
}

/* One member: it has the whole world before the first step, and its share from then on. */
static void *run_member(void *context)
{
    job *j = context;
    cairn_world *world = j->build();
    cairn_exchange *x = &world->exchange;
    j->m.link.bound = j->bound;
    j->m.link.parts = (int)j->options.parts;
    j->status = cairn_world_join(world, &j->m.link);
    pace = j->pace;
    if (pace > 0)
        x->pace.clock = look_at_clock;
    for (int k = 0; k < j->steps && j->status == CAIRN_OK; k++) {
        int own = x->own_end - x->own;
        double apart = world->bodies.apart;
        if (act)
            act(world, k);
        j->status = cairn_world_step(world, &j->options, &j->report);
        j->sorted += world->bodies.apart != apart;
        j->iterations += j->report.solve.iterations;
        j->depths += j->report.certificate.penetration;
        j->migrants += k > 0 && x->own_end - x->own != own;
        int rows = world->bodies.count - world->bodies.held;
        j->most_rows = rows > j->most_rows ? rows : j->most_rows;
        j->most_own = x->own_end - x->own > j->most_own ? x->own_end - x->own : j->most_own;
        j->ghosts += rows - (x->own_end - x->own);
        if (k + 1 == j->gives_up) {
            post_leave(&j->m);
            break;
        }
    }
    j->traffic = j->m.link.traffic;
    j->lists = world->kept_pairs.lists;
    j->stays = x->stays;
    j->parts = x->bodies.end - x->bodies.first;
    snprintf(j->message, sizeof j->message, "%s", world->error.message);
    if (j->gathers && j->status == CAIRN_OK) {
        j->hash = cairn_world_hash(world);
        j->status = cairn_world_gather(world, j->whole);
    }
    if (j->status == CAIRN_OK)
        note_bodies(world, x->own, x->own_end, j->out);
    if (j->status == CAIRN_OK)
        note_readings(&j->report, j->readings);
    note_joints(world, j->joint);
    cairn_world_destroy(world);
    free(j->m.read);
    return NULL;
}

static job jobs[MOST_MEMBERS];
static post_office office;

static int quitter = -1; /* who gives up after 3 steps; -1: nobody */

static const int *bounds;   /* the first part of each member, and the end; NULL: even */
static const double *paces; /* of the clocks of members; NULL: true ones              */

static void run_members(build_fn *build, const cairn_step_options *options, int steps, int members,
                        outcome *out)
{
    memset(out, 0, sizeof *out);
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = (job){ .build = build, .options = *options, .steps = steps, .out = out };
        jobs[k].gives_up = k == quitter ? 3 : 0;
        jobs[k].bound = bounds;
        jobs[k].pace = paces ? paces[k] : 0;
        join_office(&office, k, members, &jobs[k].m);
    }
    run_together(members, run_member, jobs, sizeof *jobs);
    close_office(&office);
    for (int k = 0; k < members; k++) {
        out->ghosts += jobs[k].ghosts;
        out->migrants += jobs[k].migrants;
    }
}

static outcome whole, parts;

/* Of several numbers of members the sanitizers see the first and the fourth. */
enum { NEXT = CHECKED ? 3 : 1 };

/* The same bits for every body, however many members there are. */
static void check_same(build_fn *build, const cairn_step_options *options, int steps, int members)
{
    run_members(build, options, steps, members, &parts);
    for (int k = 0; k < members; k++) {
        if (jobs[k].status != CAIRN_OK)
            fail_msg("member %d of %d: %d, %s", k, members, jobs[k].status, jobs[k].message);
        CHECK_INT(jobs[k].iterations, whole.iterations);
        CHECK(memcmp(&jobs[k].report.certificate.judgement.asked.relative,
                     &whole.report.certificate.judgement.asked.relative, sizeof(double)) == 0);
        CHECK_INT(jobs[k].report.certificate.judgement.asked.worst_contact,
                  whole.report.certificate.judgement.asked.worst_contact);
        CHECK_INT(jobs[k].report.certificate.judgement.coulomb.worst_contact,
                  whole.report.certificate.judgement.coulomb.worst_contact);
        for (int side = 0; side < 2; side++) {
            CHECK_INT(jobs[k].report.overlap_body[side], whole.report.overlap_body[side]);
            CHECK_INT(jobs[k].report.distance_body[side], whole.report.distance_body[side]);
        }
        CHECK_INT(jobs[k].report.candidates, whole.report.candidates);
        CHECK_INT(jobs[k].report.active, whole.report.active);
        CHECK_NEAR(jobs[k].report.energy.kinetic, whole.report.energy.kinetic, 0);
        CHECK_NEAR(jobs[k].report.energy.potential, whole.report.energy.potential, 0);
        CHECK_NEAR(jobs[k].report.energy.friction_loss, whole.report.energy.friction_loss, 0);
        CHECK_NEAR(jobs[k].report.energy.impact_loss, whole.report.energy.impact_loss, 0);
        CHECK_NEAR(jobs[k].report.energy.load_work, whole.report.energy.load_work, 0);
        CHECK_NEAR(jobs[k].report.certificate.friction_law, whole.report.certificate.friction_law,
                   0);
        CHECK_NEAR(jobs[k].report.energy.entered, whole.report.energy.entered, 0);
        for (int i = 0; i < MOST_JOINTS; i++) {
            CHECK_INT(jobs[k].joint[i].broken, whole.joint[i].broken);
            CHECK_NEAR(jobs[k].joint[i].turn, whole.joint[i].turn, 0);
            CHECK_NEAR(jobs[k].joint[i].force.z, whole.joint[i].force.z, 0);
            CHECK_NEAR(jobs[k].joint[i].torque.x, whole.joint[i].torque.x, 0);
        }
        CHECK_NEAR(jobs[k].report.energy.motor_work, whole.report.energy.motor_work, 0);
        CHECK_NEAR(jobs[k].report.energy.driver_work, whole.report.energy.driver_work, 0);
        CHECK_NEAR(jobs[k].report.energy.elastic, whole.report.energy.elastic, 0);
        CHECK_NEAR(jobs[k].report.energy.damping_loss, whole.report.energy.damping_loss, 0);
        CHECK_NEAR(jobs[k].report.energy.numerical_loss, whole.report.energy.numerical_loss, 0);
        CHECK_NEAR(jobs[k].report.certificate.joint_drift, whole.report.certificate.joint_drift, 0);
        CHECK_INT(jobs[k].report.broken, whole.report.broken);
        CHECK_INT(jobs[k].report.upgraded, whole.report.upgraded);
        CHECK_NEAR(jobs[k].report.energy.sleep_loss, whole.report.energy.sleep_loss, 0);
        CHECK_INT(jobs[k].report.asleep, whole.report.asleep);
        CHECK_INT(jobs[k].report.woken, whole.report.woken);
        CHECK_INT(jobs[k].report.entered, whole.report.entered);
        CHECK_INT(jobs[k].report.impacts, whole.report.impacts);
        CHECK_INT(jobs[k].report.impact_rounds, whole.report.impact_rounds);
        CHECK_INT(jobs[k].report.impacts_left, whole.report.impacts_left);
        CHECK_INT(jobs[k].report.impacts_reduced, whole.report.impacts_reduced);
        CHECK_NEAR(jobs[k].depths, whole.depths, 0);
        CHECK(memcmp(jobs[k].readings, whole.readings, sizeof whole.readings) == 0);
    }
    for (int i = 0; i < MOST_BODIES; i++) {
        CHECK_INT(parts.seen[i], whole.seen[i]);
        if (memcmp(&parts.x[i], &whole.x[i], sizeof *parts.x) ||
            memcmp(&parts.v[i], &whole.v[i], sizeof *parts.v) ||
            memcmp(&parts.q[i], &whole.q[i], sizeof *parts.q) ||
            memcmp(&parts.omega[i], &whole.omega[i], sizeof *parts.omega))
            fail_msg("%lld parts, %d members: body %d is at %.17g %.17g, expected %.17g %.17g",
                     (long long)options->parts, members, i, parts.x[i].x, parts.x[i].z,
                     whole.x[i].x, whole.x[i].z);
    }
}

/* A half of the space, the walls, and all bodies of the first material. */
static cairn_probe probes[3];

static void choose_probes(void)
{
    static const uint64_t walls[] = { 0, 1, 2, 3, 4, 5 };
    for (int k = 0; k < 3; k++)
        probes[k] = cairn_probe_default();
    probes[0].boxed = true;
    probes[0].low = (cairn_vec3){ 0.1, -1e30, -1e30 };
    probes[0].high = (cairn_vec3){ 1e30, 1e30, 1e30 };
    probes[1].bodies = walls;
    probes[1].body_count = 6;
    probes[2].material = 0;
}

/* The bits must agree at any tolerance; under the sanitizers, where a sweep takes long, a coarse one. */
static cairn_step_options options_for(const char *scheme, int count)
{
    cairn_step_options options = step_by(0.01, scheme, CHECKED ? 1e-2 : 1e-4);
    choose_probes();
    options.probes = probes;
    options.probe_count = 3;
    options.solver = "ngs";
    options.parts = count;
    options.threads = 1;
    return options;
}

static void check_parts(build_fn *build, const char *scheme, int steps, int count)
{
    cairn_step_options options = options_for(scheme, count);
    run_whole(build, &options, steps, &whole);
    check_same(build, &options, steps, count);
    if (count > 2)
        check_same(build, &options, steps, (count + 1) / 2);
}

/* ---- worlds --------------------------------------------------------------------------------- */

/* Balls of a material that fall into a box. */
static cairn_world *fill_box(const cairn_material_def *material)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    def.gravity = cairn_vec(0, 0, -9.81);
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, material, NULL));
    const cairn_vec3 zero = { 0, 0, 0 };
    uint64_t state = 11;
    cairn_shape plane = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    add_wall(world, plane, zero);
    for (int side = 0; side < 4; side++) {
        double a = side < 2 ? 1 : -1;
        plane.axis = side % 2 ? (cairn_vec3){ a, 0, 0 } : (cairn_vec3){ 0, a, 0 };
        add_wall(world, plane, cairn_vec(-0.65 * plane.axis.x, -0.65 * plane.axis.y, 0));
    }
    for (int i = 0; i < 6 * 6 * 8; i++) {
        cairn_vec3 at = { 0.2 * (i % 6 - 2.5), 0.2 * (i / 6 % 6 - 2.5), 0.12 + 0.21 * (i / 36) };
        at.x += 0.02 * cairn_random_uniform(&state);
        at.y += 0.02 * cairn_random_uniform(&state);
        add_ball(world, 0.07 + 0.025 * cairn_random_uniform(&state), at, zero);
    }
    return world;
}

static cairn_world *balls_in_a_box(void)
{
    return fill_box(&(cairn_material_def){ .friction = 0.4 });
}

/* They bounce by Newton's law, in rounds of impacts, or by Poisson's. */
static cairn_world *bouncing_balls(void)
{
    return fill_box(&(cairn_material_def){ .friction = 0.3, .restitution = 0.7 });
}

static cairn_world *balls_by_poisson(void)
{
    return fill_box(
        &(cairn_material_def){ .friction = 0.3, .restitution = 0.5, .restitution_law = "poisson" });
}

/* Rows of balls that just fit between two walls, where restitution must be reduced. Each touches
 * the next row, so that groups extend over several members. */
static cairn_world *tight_rows_of(const char *law)
{
    cairn_world *world = new_world(3, 0, 0.2, 0);
    const cairn_material_def material = { .friction = 0.2, .restitution = 0.9,
                                          .restitution_law = law };
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
    cairn_shape plane = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    uint64_t state = 4;
    for (int side = 0; side < 2; side++) {
        plane.axis = cairn_vec(side ? -1 : 1, 0, 0);
        add_wall(world, plane, cairn_vec(side ? 0.6 : 0, 0, 0));
    }
    for (int i = 0; i < 96; i++) {
        double v[3];
        for (int k = 0; k < 3; k++)
            v[k] = 2 * cairn_random_uniform(&state) - 1;
        add_ball(world, 0.1, cairn_vec(0.1 + 0.2 * (i % 3), 0.2 * (i / 3), 0),
                 cairn_vec(v[0], v[1], v[2]));
    }
    return world;
}

static cairn_world *tight_rows(void)
{
    return tight_rows_of("newton");
}

static cairn_world *tight_rows_by_poisson(void)
{
    return tight_rows_of("poisson");
}

static cairn_world *rolling_balls(void)
{
    return fill_box(&(cairn_material_def){
        .friction = 0.4, .rolling_friction = 0.002, .spinning_friction = 0.001 });
}

/* Friction falls with the sliding speed. */
static cairn_world *slippery_balls(void)
{
    cairn_material_def material = { .friction_law =
                                        cairn_friction_law_default(CAIRN_FRICTION_STRIBECK) };
    material.friction_law.mu_static = 0.5;
    material.friction_law.mu_dynamic = 0.2;
    material.friction_law.speed = 0.3;
    return fill_box(&material);
}

/* Boxes with grain: friction differs along and across it. */
static cairn_world *planks(void)
{
    const cairn_material_def material = { .friction = 0.2, .friction_2 = 0.6 };
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    uint64_t state = 5;
    def.gravity = cairn_vec(0, 0, -9.81);
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    for (int i = 0; i < 3 * 3 * 8; i++) {
        cairn_body_def body = cairn_body_def_default();
        body.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        body.shape.size = cairn_vec(0.3, 0.2, 0.1);
        body.friction_axis = cairn_vec(1, 0, 0);
        body.velocity = cairn_vec(0.3 * (i % 2), 0.2, 0);
        body.position = cairn_vec(0.25 * (i % 3) + 0.05 * cairn_random_uniform(&state),
                                  0.22 * (i / 3 % 3), 0.06 + 0.12 * (i / 9));
        CHECK_OK(cairn_body_create(world, &body, NULL));
    }
    return world;
}

/* Loads on some balls: a constant one that pushes them through the others, one that swings, and a
 * torque. */
static cairn_world *loaded_balls(void)
{
    cairn_world *world = balls_in_a_box();
    for (int i = 0; i < 288; i += 7) {
        cairn_load load = cairn_load_default(i % 2 ? CAIRN_LOAD_SINE : CAIRN_LOAD_CONSTANT);
        load.force = cairn_vec(i % 3 ? 25 : -15, 5, 2);
        load.torque = cairn_vec(0, 0.02, 0);
        load.frequency = 8;
        CHECK_OK(cairn_load_add(world, world->bodies.uid[5 + i], &load));
    }
    return world;
}

/* Boxes, capsules and balls on a belt that moves, in front of a paddle that turns. */
static cairn_world *mixture(void)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    const cairn_vec3 zero = { 0, 0, 0 };
    cairn_body_def def = cairn_body_def_default();
    uint64_t state = 3;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.surface_velocity = cairn_vec(0.3, 0, 0);
    CHECK_OK(cairn_body_create(world, &def, NULL));
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.8, zero);
    def = cairn_body_def_default();
    cairn_driver driver = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    driver.angular_velocity = cairn_vec(0, 0, 2);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(1.2, 0.1, 0.4);
    def.position = cairn_vec(0, 0, 0.2);
    def.drivers = &driver;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    for (int i = 0; i < 4 * 4 * 6; i++) {
        def = cairn_body_def_default();
        def.shape = cairn_shape_default(i % 3 == 0   ? CAIRN_SHAPE_BOX
                                        : i % 3 == 1 ? CAIRN_SHAPE_CAPSULE
                                                     : CAIRN_SHAPE_SPHERE,
                                        3);
        def.shape.radius = 0.08;
        def.shape.length = 0.1;
        def.shape.size = cairn_vec(0.16, 0.14, 0.12);
        def.position = cairn_vec(0.26 * (i % 4 - 1.5), 0.26 * (i / 4 % 4 - 1.5),
                                 0.55 + 0.25 * (i / 16) + 0.02 * cairn_random_uniform(&state));
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    return world;
}

/* Disks in a corner, in 2D. */
static cairn_world *disks(void)
{
    cairn_world *world = new_world(2, 9.81, 0.3, 0);
    const cairn_vec3 zero = { 0, 0, 0 };
    uint64_t state = 8;
    cairn_shape plane = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    for (int side = 0; side < 2; side++) {
        plane.axis = cairn_vec(side ? 0.7 : -0.7, 0.7, 0);
        add_wall(world, plane, zero);
    }
    for (int i = 0; i < 150; i++) {
        cairn_vec3 at = { 0.22 * (i % 10 - 4.5), 1.5 + 0.22 * (i / 10), 0 };
        at.x += 0.02 * cairn_random_uniform(&state);
        add_ball(world, 0.08 + 0.02 * cairn_random_uniform(&state), at, zero);
    }
    return world;
}

/* A fast ball into a heap that stands on a mesh: candidates are looked for again, from further. */
static cairn_world *shot(void)
{
    static const cairn_vec3 corner[] = { { -2, -2, 0 }, { 2, -2, 0 }, { 2, 2, 0.1 }, { -2, 2, 0 } };
    static const int32_t faces[] = { 0, 1, 2, 0, 2, 3 };
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    const cairn_mesh_def mesh = { corner, 4, faces, 2 };
    CHECK_OK(cairn_mesh_create(&mesh, &floor.geometry, NULL));
    add_wall(world, floor, cairn_vec(0, 0, 0));
    cairn_geometry_release(floor.geometry);
    for (int i = 0; i < 5 * 5 * 5; i++)
        add_ball(world, 0.1,
                 cairn_vec(0.201 * (i % 5 - 2), 0.201 * (i / 5 % 5 - 2), 0.16 + 0.201 * (i / 25)),
                 cairn_vec(0, 0, 0));
    add_ball(world, 0.1, cairn_vec(-1.5, 0.05, 0.6), cairn_vec(9, 0, 0));
    return world;
}

/* Enough balls to be sorted along a curve, made in an order that has nothing to do with space. They
 * burst apart, so that neighbours part, and are sorted again. */
static cairn_world *burst(void)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    for (int k = 0; k < 2197; k++) {
        int i = (int)((k * INT64_C(1201) + 7) % 2197);
        cairn_vec3 at = { i % 13 - 6, i / 13 % 13 - 6, 0.5 + i / 169 };
        cairn_vec3 v = { 15 * at.x - 3 * at.y, 15 * at.y + 3 * at.x, 15 * at.z };
        add_ball(world, 0.45 + 0.04 * (i % 3), at, v);
    }
    return world;
}

/* The same, with every fourth ball joined to its neighbour, which was made much earlier or later. */
static cairn_world *joined_burst(void)
{
    cairn_world *world = burst();
    int made[2197]; /* the row of the ball of each place */
    for (int k = 0; k < 2197; k++)
        made[(k * INT64_C(1201) + 7) % 2197] = 1 + k;
    for (int i = 0; i + 1 < 2197; i += 4) {
        cairn_joint_def def = cairn_joint_def_default();
        const cairn_body_store *b = &world->bodies;
        if (i % 13 == 12)
            continue;
        def.a = (cairn_body_id){ b->uid[made[i]] };
        def.b = (cairn_body_id){ b->uid[made[i + 1]] };
        def.anchor = cairn_scale(0.5, cairn_add(b->x[made[i]], b->x[made[i + 1]]));
        CHECK_OK(cairn_joint_create(world, &def, NULL));
    }
    return world;
}

/* Dumbbells and balls above a mesh: contacts with pieces come to a member that had none so far. */
static cairn_world *dumbbells(void)
{
    static const cairn_vec3 corner[] = { { -2, -2, 0 }, { 2, -2, 0 }, { 2, 2, 0.1 }, { -2, 2, 0 } };
    static const int32_t faces[] = { 0, 1, 2, 0, 2, 3 };
    const cairn_mesh_def mesh = { corner, 4, faces, 2 };
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_shape pair = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    uint64_t state = 4;
    ball.radius = 0.05;
    const cairn_part ends[] = { { ball, { { -0.05, 0, 0 }, { 1, 0, 0, 0 } } },
                                { ball, { { 0.05, 0, 0 }, { 1, 0, 0, 0 } } } };
    CHECK_OK(cairn_mesh_create(&mesh, &floor.geometry, NULL));
    CHECK_OK(cairn_compound_create(ends, 2, 3, &pair.geometry, NULL));
    add_wall(world, floor, cairn_vec(0, 0, 0));
    for (int i = 0; i < 80; i++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = i % 2 || i > 70 ? pair : ball;
        def.position = cairn_vec(0.3 * (i % 4 - 1.5) + 0.05 * cairn_random_uniform(&state),
                                 0.2 * (i / 4 % 4 - 1.5), 0.3 + 0.2 * (i / 16));
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    cairn_geometry_release(floor.geometry);
    cairn_geometry_release(pair.geometry);
    return world;
}

/* A large ball with 300 small ones on it, and 500 others elsewhere: one member has a body with very
 * many contacts. */
static cairn_world *burr(void)
{
    cairn_world *world = new_world(3, 0, 0.4, 0);
    add_ball(world, 5, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    for (int i = 0; i < 300; i++) {
        double z = 1 - 2 * (i + 0.5) / 300, turn = 2.399963 * i, r = sqrt(1 - z * z);
        cairn_vec3 out = cairn_vec(r * cos(turn), r * sin(turn), z);
        add_ball(world, 0.05, cairn_scale(5.0495, out), cairn_scale(-0.1, out));
    }
    for (int i = 0; i < 500; i++)
        add_ball(world, 0.1,
                 cairn_vec(20 + 0.199 * (i % 10), 0.199 * (i / 10 % 10), 0.199 * (i / 100)),
                 cairn_vec(0, 0, 0));
    return world;
}

/* The box in gravity that turns, with friction that falls. */
static cairn_world *turning_box(void)
{
    cairn_world *world = balls_in_a_box();
    cairn_function f = cairn_function_default(CAIRN_FUNCTION_EXPRESSION);
    f.text = "-9.81 * sin(8 * t)";
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_X, 0, &f));
    f.text = "-9.81 * cos(8 * t)";
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Z, 0, &f));
    f.text = "0.4 - t";
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_FRICTION, 0, &f));
    return world;
}

/* ---- tests ---------------------------------------------------------------------------------- */

TEST(balls_fall_the_same_way_in_any_number_of_parts_and_members)
{
    static const int count[] = { 2, 3, 5, 8, 16 }, steps[] = { 24, 20, 16, 14, 12 };
    for (int k = 0; k < 5; k += NEXT)
        check_parts(balls_in_a_box, k % 2 ? "coulomb" : "convex", steps[k], count[k]);
    check_parts(balls_in_a_box, "frictionless", 16, 4);
    CHECK(parts.ghosts > 0);
    CHECK(parts.migrants > 0);
}

/* Nobody has more than a part of the world: own bodies, and ghosts beside them. */
TEST(members_hold_their_own_bodies_and_ghosts_alone)
{
    cairn_step_options options = options_for("convex", 4);
    run_members(balls_in_a_box, &options, 5, 4, &parts);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(jobs[k].status);
        CHECK(jobs[k].most_rows < 288 * 3 / 4);
    }
}

TEST(bodies_of_all_kinds_move_the_same_way)
{
    check_parts(mixture, "coulomb", 24, 3);
    check_parts(disks, "convex", 60, 4);
    check_parts(disks, "coulomb", 60, 2);
}

TEST(bodies_that_are_fast_find_ghosts_that_are_far)
{
    check_parts(shot, "coulomb", 25, 4);
}

TEST(many_bodies_are_sorted_along_the_same_curve)
{
    cairn_step_options options = options_for("convex", 5);
    options.tolerance = 1e-2;
    options.time_step = 0.0025; /* so that no body reaches further than its neighbours */
    run_whole(burst, &options, 32, &whole);
    check_same(burst, &options, 32, 5);
    CHECK(jobs[0].sorted > 1);
}

/* Sorting brings joined bodies together, so that parts stay small. */
TEST(joined_bodies_are_neighbours_on_the_curve)
{
    cairn_step_options options = options_for("convex", 4);
    options.tolerance = 1e-2;
    options.max_iterations = 30;
    options.time_step = 0.0025;
    run_whole(joined_burst, &options, 4, &whole);
    check_same(joined_burst, &options, 4, 4);
    for (int k = 0; k < 4; k++)
        CHECK(jobs[k].most_own > 2197 / 5 && jobs[k].most_own < 2197 * 3 / 5);
}

TEST(contacts_come_to_members_that_had_none)
{
    cairn_step_options options = options_for("coulomb", 2);
    options.overlaps = "push";
    run_whole(dumbbells, &options, 15, &whole);
    check_same(dumbbells, &options, 15, 2);
}

/* Balls that lie on a floor, and as many far from them that fly. */
static cairn_world *heap_and_flock(double mu)
{
    cairn_world *world = new_world(3, 9.81, mu, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    for (int i = 0; i < 2 * 27; i++) {
        bool flies = i >= 27;
        cairn_vec3 at = { 0.199 * (i % 3), 0.199 * (i / 3 % 3), 0.0995 + 0.199 * (i / 9 % 3) };
        if (flies)
            at = cairn_add_scaled(cairn_vec(50, 0, 30), 5, at);
        add_ball(world, 0.1, at, cairn_vec(flies ? 1 : 0.3, 0, 0));
    }
    return world;
}

static cairn_world *rough_heap_and_flock(void)
{
    return heap_and_flock(0.4);
}

static cairn_world *smooth_heap_and_flock(void)
{
    return heap_and_flock(0);
}

/* The last member has bodies, but no contact in any step. */
TEST(members_without_contacts_solve_with_those_that_have_some)
{
    build_fn *const worlds[] = { rough_heap_and_flock, smooth_heap_and_flock };
    for (int k = 0; k < 2; k++) {
        cairn_step_options options = options_for("coulomb", 4);
        options.tolerance = 1e-6; /* so that the heap holds together */
        run_whole(worlds[k], &options, 5, &whole);
        CHECK(whole.report.active > 27 && whole.iterations > 0);
        for (int members = 2; members <= 4; members++) {
            check_same(worlds[k], &options, 5, members);
            CHECK(jobs[members - 1].most_own > 0);
        }
    }
}

TEST(a_body_with_very_many_contacts_is_one_members_affair)
{
    cairn_step_options options = options_for("coulomb", 3);
    options.max_iterations = 100; /* sweeps hardly converge at the large ball */
    run_whole(burr, &options, 3, &whole);
    check_same(burr, &options, 3, 3);
    check_same(burr, &options, 3, 2);
}

/* 13^3 balls in a lattice, which run towards its middle plane with a speed of `rate` times their
 * distance from it. */
static cairn_world *lattice_that_falls_in(double rate)
{
    cairn_world *world = new_world(3, 0, 0.4, 0);
    for (int i = 0; i < 13 * 13 * 13; i++) {
        cairn_vec3 at = cairn_vec(0.2 * (i % 13 - 6), 0.2 * (i / 13 % 13 - 6), 0.2 * (i / 169 - 6));
        add_ball(world, 0.1, at, cairn_vec(0, 0.01 * at.x, -rate * at.z));
    }
    return world;
}

static cairn_world *lattice(void)
{
    return lattice_that_falls_in(1);
}

static cairn_world *slow_lattice(void)
{
    return lattice_that_falls_in(0.05);
}

/* Messages of member 0 of two, with four of eight parts each, for so many sweeps at most a step. */
static int64_t messages_for(int sweeps, int64_t *done)
{
    cairn_step_options options = options_for("convex", 8);
    options.tolerance = 1e-12;
    options.max_iterations = sweeps;
    run_members(lattice, &options, 1, 2, &parts); /* one attempt: no other sweeps */
    CHECK_OK(jobs[0].status);
    *done = jobs[0].iterations;
    return jobs[0].traffic.messages;
}

/* The parts are about the octants of the lattice: each part meets three others by a face, and some
 * by a few balls, as the cut does not follow the planes. A sweep sends one message in each of the
 * rounds 4 to 7, however many pairs of parts meet in it, and one for its sums. In addition the
 * judge is asked at times. */
TEST(a_sweep_sends_one_message_to_a_neighbour_in_each_round)
{
    int64_t few, many, first = messages_for(20, &few), all = messages_for(120, &many);
    CHECK_INT(few, 20);
    CHECK_INT(many, 120);
    CHECK(all - first < 6 * (many - few));
}

/* The ghosts of the first step serve for more of them, until a ball has moved by what it was given:
 * a twentieth of its size, and the way of eight steps. */
TEST(bodies_stay_with_their_members_as_long_as_they_move_little)
{
    cairn_step_options options = options_for("convex", 8);
    options.max_iterations = CHECKED ? 4 : 40;
    run_whole(slow_lattice, &options, 8, &whole);
    for (int members = 2; members <= (CHECKED ? 2 : 4); members += 2) {
        check_same(slow_lattice, &options, 8, members);
        for (int k = 0; k < members; k++)
            CHECK(jobs[k].stays >= 5 && jobs[k].stays < 8 && jobs[k].ghosts > 0);
    }
    run_whole(lattice, &options, 4, &whole); /* 12 mm a step and more at its faces */
    check_same(lattice, &options, 4, 2);
}

static bool begin_alike(const cairn_world *one, const cairn_world *other)
{
    const cairn_row_cut *a = &one->bodies.cut, *b = &other->bodies.cut;
    return a->parts == 8 && b->parts == 8 && memcmp(a->first, b->first, 8 * sizeof *a->first) == 0;
}

/* Contacts that a world gets later do not move the parts by themselves; a world that is cut then has
 * other parts. What is saved has those of before, so that it goes on with the same bits. */
TEST(parts_begin_where_they_did_in_the_steps_before)
{
    cairn_step_options options = options_for("convex", 8);
    cairn_world *world = slow_lattice(), *early, *late, *cut_late;
    saved state = { NULL, 0 };
    options.max_iterations = CHECKED ? 4 : 40;
    CHECK_OK(cairn_world_step(world, &options, NULL)); /* without contacts so far */
    CHECK_OK(cairn_world_save(world, keep_bytes, &state));
    CHECK_OK(cairn_world_load(state.bytes, state.count, &early, NULL));
    for (int k = 0; k < 3; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK_OK(cairn_world_save(world, keep_bytes, &state));
    CHECK_OK(cairn_world_load(state.bytes, state.count, &late, NULL));
    CHECK_OK(cairn_world_load(state.bytes, state.count, &cut_late, NULL));
    cut_late->bodies.cut.parts = 0;
    CHECK(begin_alike(world, early) && begin_alike(world, late));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(cairn_world_step(world, &options, NULL));
        CHECK_OK(cairn_world_step(late, &options, NULL));
        CHECK_OK(cairn_world_step(cut_late, &options, NULL));
    }
    CHECK(begin_alike(world, late) && !begin_alike(world, cut_late));
    CHECK(cairn_world_hash(world) == cairn_world_hash(late));
    cairn_world *all[] = { world, early, late, cut_late };
    for (int k = 0; k < 4; k++)
        cairn_world_destroy(all[k]);
    free(state.bytes);
}

/* 800 balls in a row, each for itself. */
static cairn_world *row_of_balls(void)
{
    cairn_world *world = new_world(3, 0, 0.4, 0);
    for (int i = 0; i < 800; i++)
        add_ball(world, 0.1, cairn_vec(0.25 * i, 0, 0), cairn_vec(0, 0.1, 0));
    return world;
}

/* A member of 16 in a row has two neighbours. In four steps without contacts it sends messages to
 * them, and 4 or 8 for each of the reductions: fewer than if it spoke to all 15 others each
 * time. */
TEST(members_speak_to_their_neighbours_alone)
{
    cairn_step_options options = options_for("convex", 16);
    run_members(row_of_balls, &options, 4, 16, &parts);
    for (int k = 0; k < 16; k++) {
        CHECK_OK(jobs[k].status);
        CHECK(jobs[k].traffic.messages < 800); /* at least 62 reductions: 15 each would be 930 */
    }
}

/* Balls that move by a hundredth of their radius in a step keep their pairs, whatever rows they
 * have. */
TEST(pairs_are_kept_from_step_to_step)
{
    cairn_step_options options = options_for("convex", 4);
    run_members(row_of_balls, &options, 6, 4, &parts);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(jobs[k].status);
        CHECK_INT(jobs[k].lists, 1);
    }
}

TEST(members_with_uneven_numbers_of_parts_find_the_same_bits)
{
    static const int uneven[] = { 0, 1, 6, 8 };
    cairn_step_options options = options_for("coulomb", 8);
    run_whole(balls_in_a_box, &options, 20, &whole);
    bounds = uneven;
    check_same(balls_in_a_box, &options, 20, 3);
    bounds = NULL;
    CHECK(jobs[1].ghosts > 0);
}

/* Two members with 4 of 8 parts each. By its clock member 0 takes 3000 s for a step, the other one
 * 1000 s: 750 and 250 s for each part. After 8 steps it keeps three parts, of 2250 s, and the other
 * one has 750 + 4 * 250 = 1750 s. */
TEST(parts_move_from_a_slow_member_and_change_no_bit)
{
    static const double slow[] = { 3000, 1000 };
    cairn_step_options options = options_for("convex", 8);
    run_whole(balls_in_a_box, &options, 12, &whole);
    paces = slow;
    check_same(balls_in_a_box, &options, 12, 2);
    paces = NULL;
    CHECK_INT(jobs[0].parts, 3);
    CHECK_INT(jobs[1].parts, 5);
}

/* Each member has several threads. Parts are the same as with one. */
TEST(threads_of_members_change_no_bit)
{
    cairn_step_options options = options_for("convex", 16);
    run_whole(balls_in_a_box, &options, 10, &whole);
    options.threads = 2;
    check_same(balls_in_a_box, &options, 10, 2);
}

TEST(balls_bounce_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 }, steps[] = { 20, 14, 12, 10 };
    int64_t impacts = 0;
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(bouncing_balls, k % 2 ? "coulomb" : "convex", steps[k], count[k]);
        impacts += whole.impacts;
        check_parts(balls_by_poisson, k % 2 ? "convex" : "coulomb", steps[k], count[k]);
    }
    CHECK(impacts > 100);
}

TEST(restitution_is_reduced_in_the_same_way_by_all_members)
{
    cairn_step_options options = options_for("coulomb", 4);
    options.time_step = 1e-3;
    run_whole(tight_rows, &options, 3, &whole);
    CHECK(whole.reduced > 0);
    check_same(tight_rows, &options, 3, 4);
    check_same(tight_rows, &options, 3, 2);
    options.impact_rounds = 0;
    run_whole(tight_rows, &options, 3, &whole);
    CHECK(whole.reduced > 0);
    check_same(tight_rows, &options, 3, 3);
    run_whole(tight_rows_by_poisson, &options, 3, &whole);
    check_same(tight_rows_by_poisson, &options, 3, 3);
}

TEST(rolling_and_anisotropic_friction_and_friction_laws_are_the_same)
{
    static const int count[] = { 4, 3, 2, 8 };
    for (int k = 0; k < (CHECKED ? 2 : 4); k++) {
        check_parts(rolling_balls, k % 2 ? "coulomb" : "convex", 8, count[k]);
        check_parts(slippery_balls, "coulomb", 8, count[k]);
        check_parts(planks, k % 2 ? "convex" : "coulomb", 8, count[k]);
    }
}

/* The default solver, with a first step from nothing, and where sweeps do not reach the tolerance:
 * no second-order method is tried. */
TEST(the_default_solver_finds_the_same_impulses)
{
    cairn_step_options options = options_for("coulomb", 8);
    options.solver = "auto";
    for (int fine = 0; fine < 2; fine++) {
        options.tolerance = fine ? 1e-9 : 1e-3;
        options.max_iterations = fine ? 30 : 1000;
        run_whole(balls_in_a_box, &options, 12, &whole);
        check_same(balls_in_a_box, &options, 12, 8);
        check_same(balls_in_a_box, &options, 12, 3);
    }
    CHECK(!whole.report.solve.converged);
}

/* Two inlets above an empty box, of balls of several sizes and of boxes. */
static cairn_world *pour_in(void)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_inlet_def inlet = cairn_inlet_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.5, cairn_vec(0, 0, 0));
    inlet.count = 1000;
    inlet.rate = 800;
    inlet.centre = cairn_vec(0.1, 0, 0.3);
    inlet.size = cairn_vec(0.5, 0.5, 0.1);
    inlet.velocity = cairn_vec(0, 0, -1.5);
    inlet.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    inlet.radius.minimum = 0.03;
    inlet.radius.maximum = 0.06;
    CHECK_OK(cairn_inlet_create(world, &inlet));
    inlet.rate = 100;
    inlet.seed = 3;
    inlet.turned = true;
    inlet.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    inlet.shape.size = cairn_vec(0.1, 0.08, 0.06);
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    CHECK_OK(cairn_inlet_create(world, &inlet));
    return world;
}

TEST(inlets_pour_the_same_bodies)
{
    static const int count[] = { 2, 3, 4, 8 };
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(pour_in, k % 2 ? "coulomb" : "convex", 30, count[k]);
        CHECK(whole.report.entered > 0 && whole.seen[100] == 1);
    }
}

/* Balls and boxes come in and leave: in a box on the floor and by a plane, from which they come back,
 * and at the end of their lives, for ever. */
static cairn_world *go_round(void)
{
    cairn_world *world = pour_in();
    cairn_outlet_def floor = cairn_outlet_default(CAIRN_OUTLET_BOX),
                     plane = cairn_outlet_default(CAIRN_OUTLET_HALF_SPACE),
                     age = cairn_outlet_default(CAIRN_OUTLET_AGE);
    cairn_inlet_def back = cairn_inlet_def_default();
    back.count = 0;
    back.rate = 500;
    back.centre = cairn_vec(-0.1, 0, 0.3);
    back.size = cairn_vec(0.5, 0.5, 0.1);
    back.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    back.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    back.radius.value = 0.05;
    CHECK_OK(cairn_inlet_create(world, &back));
    floor.centre = cairn_vec(0, 0, 0.05);
    floor.size = cairn_vec(0.3, 0.3, 0.1);
    floor.inlet = 2;
    plane.point = cairn_vec(-0.25, 0, 0);
    plane.normal = cairn_vec(1, 0, 0);
    plane.inlet = 2;
    plane.start = 0.05;
    age.after = 0.15;
    CHECK_OK(cairn_outlet_create(world, &floor));
    CHECK_OK(cairn_outlet_create(world, &plane));
    CHECK_OK(cairn_outlet_create(world, &age));
    return world;
}

TEST(outlets_take_the_same_bodies_and_bring_them_back)
{
    static const int count[] = { 2, 3, 4, 8 };
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(go_round, k % 2 ? "coulomb" : "convex", 26, count[k]);
        CHECK(whole.report.left > 0 || whole.report.entered > 0);
    }
    cairn_step_options options = options_for("convex", 4);
    cairn_world *world = go_round();
    for (int k = 0; k < 26; k++)
        CHECK_OK(cairn_world_step(world, &options, NULL));
    for (int k = 0; k < 3; k++)
        CHECK(cairn_world_outlet(world, k).left > 2);
    cairn_world_destroy(world);
}

/* A wall opens, and a driven body goes, while the last rows move up. */
static void open_gate(cairn_world *world, int k)
{
    if (k == 4)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ 1 }));
    if (k == 6)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ 20 }));
    if (k == 7)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ 0 }));
}

TEST(fixed_bodies_are_removed_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 };
    act = open_gate;
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(balls_in_a_box, k % 2 ? "coulomb" : "convex", 18, count[k]);
        CHECK(whole.seen[20] == 0);
    }
    act = NULL;
}

/* Bodies come and go: the last body of the whole world takes the row of one that is removed. */
static void come_and_go(cairn_world *world, int k)
{
    const cairn_body_id gone[] = { { (uint64_t)(7 + 11 * k) }, { (uint64_t)(290 - 9 * k) } };
    cairn_body_def def = cairn_body_def_default();
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_id id;
    load.force = cairn_vec(3, 0, 0);
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.05 + 0.001 * k;
    def.position = cairn_vec(0.2 * (k % 3), 0.1, 2.2 + 0.2 * (k / 3));
    def.loads = &load;
    def.load_count = k % 2;
    for (int i = 0; i < 2 && k % 3 != 2; i++)
        CHECK_OK(cairn_body_destroy(world, gone[i]));
    CHECK_OK(cairn_body_create(world, &def, &id));
    CHECK_INT(id.uid, 293 + k);
    CHECK(cairn_body_destroy(world, (cairn_body_id){ 5000 }) == CAIRN_NOT_FOUND);
}

TEST(bodies_come_and_go_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 };
    act = come_and_go;
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(balls_in_a_box, k % 2 ? "coulomb" : "convex", 18, count[k]);
        CHECK(whole.seen[7] == 0 && whole.seen[300] == 1);
    }
    act = NULL;
}

/* All members do to bodies what a program with a control law would: it looks at one and pushes
 * another; strikes; puts one where another member is; changes materials; moves a paddle. */
static void control(cairn_world *world, int k)
{
    cairn_body_state state, seen;
    const cairn_body_id looked_at = { (uint64_t)(20 + 3 * k) }, paddle = { 2 };
    const cairn_vec3 zero = { 0, 0, 0 };
    CHECK_OK(cairn_body_get(world, looked_at, &state));
    for (uint64_t i = 5; i < 95; i += 9) {
        cairn_vec3 force = cairn_scale(-3, state.v);
        CHECK_OK(cairn_body_push(world, (cairn_body_id){ i }, force, cairn_vec(0, 0, 0.1)));
    }
    CHECK_OK(cairn_body_strike(world, (cairn_body_id){ (uint64_t)(10 + k) }, cairn_vec(0.3, 0, 0.4),
                               cairn_add(state.x, cairn_vec(0, 0.1, 0))));
    state.x.z += 0.6;
    CHECK_OK(cairn_body_put(world, looked_at, &state));
    CHECK_OK(cairn_body_get(world, looked_at, &seen));
    CHECK(memcmp(&seen.x, &state.x, sizeof seen.x) == 0);
    CHECK_OK(cairn_body_set_material(world, (cairn_body_id){ (uint64_t)(40 + k) }, 0));
    if (k == 3)
        CHECK_OK(cairn_body_stop(world, paddle));
    CHECK(cairn_body_push(world, (cairn_body_id){ 5000 }, zero, zero) == CAIRN_NOT_FOUND);
    CHECK_CONTAINS(world->error.message, "there is no body 5000");
    CHECK(cairn_body_strike(world, paddle, zero, zero) == CAIRN_BAD_INPUT);
    state.x.x = NAN;
    CHECK(cairn_body_put(world, looked_at, &state) == CAIRN_NOT_FINITE);
    CHECK(cairn_body_set_material(world, looked_at, 7) == CAIRN_BAD_INPUT);
}

TEST(what_a_caller_applies_has_the_same_effect)
{
    static const int count[] = { 2, 3, 4 };
    act = control;
    for (int k = 0; k < (CHECKED ? 2 : 3); k++) {
        check_parts(mixture, k % 2 ? "coulomb" : "convex", 10, count[k]);
        CHECK_INT(whole.report.changed, 3);
        CHECK(whole.report.energy.applied != 0 && whole.report.energy.load_work != 0);
        for (int i = 0; i < count[k]; i++) {
            CHECK_INT(jobs[i].report.changed, 3);
            CHECK_NEAR(jobs[i].report.energy.applied, whole.report.energy.applied, 0);
        }
    }
    act = NULL;
}

/* A long line of balls that almost touch, small pyramids beside it, and two balls that fall: one on the
 * line, one on a pyramid. The line returns to where it began, so that its two ends belong to one
 * member in some cuts. */
static cairn_world *sleepers(void)
{
    cairn_world *world = new_world(3, 9.81, 0.6, 0);
    const cairn_vec3 zero = { 0, 0, 0 };
    const double r = 0.1, up = r * 1.4142135623730951, near = 2 * r + 1e-4;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 24; i++)
        add_ball(world, r, cairn_vec(near * i, 0, r), zero);
    for (int k = 0; k < 8; k++) {
        cairn_vec3 at = cairn_vec(0.6 * k, 1, r);
        for (int i = 0; i < 4; i++)
            add_ball(world, r, cairn_add(at, cairn_vec(2 * r * (i % 2), 2 * r * (i / 2), 0)), zero);
        add_ball(world, r, cairn_add(at, cairn_vec(r, r, up)), zero);
    }
    for (int i = 0; i < 24; i++)
        add_ball(world, r, cairn_vec(near * (23 - i), near, r), zero);
    add_ball(world, r, cairn_vec(2.05, 0, 1.0), zero);
    add_ball(world, r, cairn_vec(1.3, 1.1, 1.2), zero);
    /* weights on some that sleep by then: their groups are solved alone, and sleep on */
    for (int i = 2; i < 90; i += 8) {
        cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
        load.start = 0.25;
        load.force = cairn_vec(0, 0, -2);
        CHECK_OK(cairn_load_add(world, world->bodies.uid[i], &load));
    }
    return world;
}

static int slept, most, woke; /* bodies asleep, the most so far, and how often some woke */

static void count_rest(cairn_world *world, int k)
{
    (void)k;
    if (world->exchange.link)
        return;
    int asleep = 0;
    for (int i = 0; i < world->bodies.count; i++)
        asleep += world->bodies.asleep[i];
    woke += asleep < slept;
    slept = asleep;
    most = asleep > most ? asleep : most;
}

TEST(groups_fall_asleep_and_wake_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 };
    act = count_rest;
    for (int k = 0; k < 4; k += NEXT) {
        cairn_step_options options = options_for(k % 2 ? "coulomb" : "convex", count[k]);
        options.sleep = true;
        options.tolerance = 1e-3;
        slept = most = woke = 0;
        run_whole(sleepers, &options, 60, &whole);
        CHECK(most > 85 && woke > 0);
        check_same(sleepers, &options, 60, count[k]);
        check_same(sleepers, &options, 60, (count[k] + 1) / 2);
    }
    act = NULL;
}

/* A rod between two points. */
static cairn_body_id add_rod(cairn_world *world, cairn_vec3 from, cairn_vec3 to, double mass)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(0.18, 0.06, 0.05);
    def.position = cairn_scale(0.5, cairn_add(from, to));
    def.mass = mass;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

/* Chains of four rods, some hung up: with ball joints, hinges with motors, springs, and joints that
 * break; one ends in a heavy rod, which puts it under tension. Balls fall on them. The two balls at the ends of a long rope are far apart in the order of
 * the bodies. */
static cairn_world *mechanisms(void)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    const cairn_vec3 zero = { 0, 0, 0 };
    uint64_t state = 2;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    cairn_joint_def rope = cairn_joint_def_default();
    rope.kind = CAIRN_JOINT_ROPE;
    for (int chain = 0; chain < 9; chain++) {
        cairn_vec3 at = cairn_vec(0.25 * (chain % 3), 0.12 * (chain / 3), 0.2 + 0.07 * chain);
        cairn_body_id last = cairn_body_none();
        for (int i = 0; i < 4; i++) {
            cairn_vec3 next = cairn_add(at, cairn_vec(0.2, 0, 0));
            cairn_body_id rod = add_rod(world, at, next, chain == 5 && i == 3 ? 40 : 0);
            cairn_joint_def def = cairn_joint_def_default();
            def.kind = chain % 3 == 1 ? CAIRN_JOINT_REVOLUTE
                       : chain == 8   ? CAIRN_JOINT_BUSHING
                                      : CAIRN_JOINT_BALL;
            def.a = rod;
            def.b = last;
            def.anchor = at;
            def.axis = cairn_vec(0, 1, 0);
            def.stiffness = 200;
            def.damping = 2;
            def.turn_stiffness = 1;
            def.turn.motor = def.kind != CAIRN_JOINT_REVOLUTE ? "none"
                             : i % 2                          ? "position"
                                                              : "velocity";
            def.turn.target = 0.4;
            def.turn.effort = 2;
            def.break_force = chain == 3 ? 12 : 0;
            if (i > 0 || chain % 2)
                CHECK_OK(cairn_joint_create(world, &def, NULL));
            if (chain == 0 && i == 0)
                rope.a = rod;
            if (chain == 2 && i == 0)
                rope.b = rod;
            last = rod;
            at = next;
        }
    }
    rope.anchor = cairn_vec(0.1, 0, 0.2);
    rope.anchor_b = cairn_vec(0.6, 0, 0.34);
    CHECK_OK(cairn_joint_create(world, &rope, NULL));
    for (int i = 0; i < 60; i++)
        add_ball(world, 0.05,
                 cairn_vec(0.14 * (i % 8) + 0.02 * cairn_random_uniform(&state), 0.14 * (i / 8 % 3),
                           0.95 + 0.12 * (i / 24)),
                 zero);
    return world;
}

TEST(joints_hold_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 };
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(mechanisms, k % 2 ? "coulomb" : "convex", 30, count[k]);
        int broken = 0;
        for (int i = 0; i < MOST_JOINTS; i++)
            broken += whole.joint[i].broken;
        CHECK(parts.ghosts > 0 && broken > 0);
        CHECK(whole.report.energy.motor_work != 0 && whole.report.energy.elastic != 0);
    }
}

/* Gradient methods, and exact friction by a loop around convex solves, everywhere or where it is
 * worth it. */
TEST(gradient_methods_and_outer_loops_find_the_same_impulses)
{
    static const struct {
        const char *scheme, *solver;
    } by[] = { { "convex", "apgd-asr" },  { "convex", "apgd" },     { "convex", "pgd" },
               { "convex", "apgd-d" },    { "convex", "spg" },      { "frictionless", "apgd-asr" },
               { "coulomb", "apgd-asr" }, { "fixed-point", "ngs" }, { "auto", "ngs" } };
    for (int k = 0; k < 9; k++) {
        cairn_step_options options = options_for(by[k].scheme, k % 2 ? 3 : 4);
        options.solver = by[k].solver;
        options.tolerance = 1e-3;
        options.max_iterations = 200;
        options.model_tolerance = 1e-6;
        run_whole(balls_in_a_box, &options, 12, &whole);
        check_same(balls_in_a_box, &options, 12, (int)options.parts);
        check_same(balls_in_a_box, &options, 12, 2);
        CHECK(whole.iterations > 20);
    }
    CHECK(whole.report.upgraded > 0);
}

TEST(loads_push_the_same_way)
{
    static const int count[] = { 2, 3, 4, 8 };
    for (int k = 0; k < 4; k += NEXT) {
        check_parts(loaded_balls, k % 2 ? "coulomb" : "convex", 8, count[k]);
        CHECK(whole.report.energy.load_work != 0);
    }
}

static saved expected, found;

static int differ(const void *one, const void *other, size_t bytes)
{
    return bytes > 0 && memcmp(one, other, bytes) != 0;
}

/* The inputs of the last step, which are not part of the state. */
static void check_inputs(const cairn_world *one, const cairn_world *other)
{
    cairn_step_inputs a = cairn_world_step_inputs(one), b = cairn_world_step_inputs(other);
    size_t rows = (size_t)a.count, contacts = (size_t)cairn_world_contacts(one).count;
    CHECK_INT(a.count, b.count);
    CHECK(!differ(a.force, b.force, rows * sizeof *a.force));
    CHECK(!differ(a.x, b.x, rows * sizeof *a.x));
    CHECK(!differ(a.bias, b.bias, contacts * sizeof *a.bias));
    CHECK((a.correction != NULL) == (b.correction != NULL));
    CHECK(!a.correction || !differ(a.correction, b.correction, contacts * sizeof *a.correction));
}

/* Collected by member 0 after `steps` steps, the state has the same bytes as in shared memory:
 * bodies in the same rows, contacts in the same order, and everything that a next step needs. */
static void check_gathered(build_fn *build, const char *scheme, int steps, int count, int members)
{
    cairn_step_options options = options_for(scheme, count);
    options.time_step = build == burst ? 0.0025 : options.time_step;
    cairn_world *alone = build(), *collected = build();
    for (int k = 0; k < steps; k++)
        CHECK_OK(cairn_world_step(alone, &options, NULL));
    CHECK_OK(cairn_world_save(alone, keep_bytes, &expected));
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = (job){ .build = build, .options = options, .steps = steps, .out = &parts };
        jobs[k].gathers = true;
        jobs[k].whole = k == 0 ? collected : NULL;
        join_office(&office, k, members, &jobs[k].m);
    }
    run_together(members, run_member, jobs, sizeof *jobs);
    close_office(&office);
    for (int k = 0; k < members; k++) {
        CHECK_OK(jobs[k].status);
        CHECK(jobs[k].hash == cairn_world_hash(alone));
    }
    CHECK_OK(cairn_world_save(collected, keep_bytes, &found));
    CHECK_INT(found.count, expected.count);
    CHECK(!differ(found.bytes, expected.bytes, found.count));
    CHECK(cairn_world_speed2(collected) == cairn_world_speed2(alone));
    check_inputs(alone, collected);
    cairn_world_destroy(alone);
    cairn_world_destroy(collected);
    free(found.bytes);
    free(expected.bytes);
    found = expected = (saved){ NULL, 0 };
}

TEST(the_first_member_collects_the_state_of_all)
{
    check_gathered(balls_in_a_box, "coulomb", 15, 4, 4);
    check_gathered(balls_in_a_box, "convex", 12, 5, 2);
    check_gathered(mixture, "coulomb", 15, 3, 3);
    check_gathered(disks, "convex", 30, 4, 3);
    check_gathered(dumbbells, "coulomb", 15, 2, 2);
    check_gathered(burst, "convex", 4, 5, 3);
}

/* Balls between six plates: a stress on four of them, a rate of strain on two after 4 steps. */
static cairn_world *squeezed_balls(void)
{
    cairn_world *world = fill_box(&(cairn_material_def){ .friction = 0.4 });
    cairn_cell_def cell = cairn_cell_def_default();
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++) {
            cairn_body_def def = cairn_body_def_default();
            cairn_body_id *id = side ? &cell.axis[k].high : &cell.axis[k].low;
            double at = k == 2 ? (side ? 1.75 : 0) : (side ? 0.6 : -0.6);
            def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
            def.shape.size = cairn_vec(k == 0 ? 0.02 : 4, k == 1 ? 0.02 : 4, k == 2 ? 0.02 : 4);
            def.position = cairn_vec(k == 0 ? at : 0, k == 1 ? at : 0, k == 2 ? at : 0.8);
            CHECK_OK(cairn_body_create(world, &def, id));
            cell.axis[k].stress.value = 3000;
        }
    cell.axis[2].strain_rate.value = 0.5;
    cell.strain_from = 0.04;
    cell.filter = 0.02;
    CHECK_OK(cairn_cell_create(world, &cell));
    return world;
}

static cairn_world *squeezed_heavily(void)
{
    cairn_world *world = squeezed_balls();
    world->driven.cells.items[0].def.mass = 50;
    for (int w = 0; w < 6; w++) {
        cairn_body_id id = { world->driven.cells.items[0].wall[w].uid };
        world->bodies.mass[cairn_body_row(world, id)] = 50;
    }
    return world;
}

/* From the 8th step on, overlaps between two parts are corrected that are as small as rounding: the
 * velocities of such contacts must not depend on the member that computes them. */
TEST(cells_press_the_same_way)
{
    check_parts(squeezed_balls, "convex", 6, 4);
    check_parts(squeezed_heavily, "coulomb", 10, 3);
    CHECK(whole.report.energy.load_work != 0);
    check_gathered(squeezed_heavily, "coulomb", 6, 5, 2);
}

/* ---- periodic cells --------------------------------------------------------------------------- */

/* A dense gas of balls and bricks in a cell that is periodic along all axes. */
static cairn_world *sheared_gas(double rate)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_lattice_def cell = cairn_lattice_def_default();
    cairn_material_def material = { .friction = 0.3 };
    cairn_world *world;
    def.gravity = cairn_vec(0, 0, -2);
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    cell.axes = (cairn_names){ .items = { "x", "y", "z" }, .count = 3 };
    cell.gradient_x = cairn_vec(0, rate, -0.5 * rate);
    cell.gradient_z = cairn_vec(0, 0, -0.2 * rate);
    CHECK_OK(cairn_world_set_lattice(world, &cell));
    for (int i = 0; i < 125; i++) {
        cairn_body_def body = cairn_body_def_default();
        int place[3] = { i % 5, i / 5 % 5, i / 25 };
        body.shape = cairn_shape_default(i % 9 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX, 3);
        body.shape.radius = 0.085 + 0.0015 * (i % 8);
        body.shape.size = cairn_vec(0.12, 0.1, 0.14);
        body.mass = 1 + 0.1 * (i % 3);
        body.position = cairn_vec(0.2 * place[0] + 0.01, 0.2 * place[1] + 0.03 * (i % 2),
                                  0.2 * place[2] + 0.05);
        body.velocity = cairn_vec(3 * sin(i), 3 * sin(3.1 * i + 1), 3 * sin(2.3 * i + 2));
        CHECK_OK(cairn_body_create(world, &body, NULL));
    }
    return world;
}

static cairn_world *gas_at_rest(void)
{
    return sheared_gas(0);
}

static cairn_world *gas_in_shear(void)
{
    return sheared_gas(2);
}

/* Pairs that are joined, some of them across the faces of the cell: rods, springs, ball joints. */
static cairn_world *joined_gas(void)
{
    static const cairn_joint_kind kinds[] = { CAIRN_JOINT_DISTANCE, CAIRN_JOINT_SPRING,
                                              CAIRN_JOINT_BALL };
    cairn_world *world = sheared_gas(2);
    const cairn_body_store *b = &world->bodies;
    for (int i = 4; i + 1 < 125; i += 6) {
        cairn_joint_def def = cairn_joint_def_default();
        int other = i - i % 5 + (i + 1) % 5; /* the neighbour along x, or its image */
        def.kind = kinds[i / 6 % 3];
        def.a.uid = b->uid[i];
        def.b.uid = b->uid[other];
        def.anchor = b->x[i];
        def.anchor_b = cairn_add(b->x[other], cairn_vec(i % 5 == 4 ? 1 : 0, 0, 0));
        if (def.kind == CAIRN_JOINT_BALL)
            def.anchor = cairn_scale(0.5, cairn_add(def.anchor, def.anchor_b));
        if (def.kind == CAIRN_JOINT_SPRING)
            def.slide.stiffness = 200;
        CHECK_OK(cairn_joint_create(world, &def, NULL));
    }
    return world;
}

/* A column that is periodic at its sides: bodies come in above, and again when they have left. */
static cairn_world *periodic_column(void)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_lattice_def cell = cairn_lattice_def_default();
    cairn_inlet_def inlet = cairn_inlet_def_default();
    cairn_outlet_def outlet = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
    cell.axes = (cairn_names){ .items = { "x", "y" }, .count = 2 };
    cell.gradient_x = cairn_vec(0, 1, 0);
    CHECK_OK(cairn_world_set_lattice(world, &cell));
    inlet.count = 80;
    inlet.rate = 600;
    inlet.centre = cairn_vec(1.1, 0.1, 1);
    inlet.size = cairn_vec(0.9, 0.8, 0.3);
    inlet.velocity = cairn_vec(0.5, 0.2, -2);
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    inlet.radius.value = 0.07;
    CHECK_OK(cairn_inlet_create(world, &inlet));
    outlet.inlet = 0;
    outlet.below = 0.6;
    CHECK_OK(cairn_outlet_create(world, &outlet));
    for (int i = 0; i < 27; i++)
        add_ball(world, 0.1,
                 cairn_vec(0.3 * (i % 3) + 0.1, 0.3 * (i / 3 % 3) + 0.1, 0.8 + 0.25 * (i / 9)),
                 cairn_vec(0, 0, 0));
    return world;
}

TEST(periodic_cells_are_the_same)
{
    check_parts(joined_gas, "convex", CHECKED ? 12 : 25, 3);
    CHECK(whole.report.energy.elastic > 0);
    if (!CHECKED)
        check_parts(joined_gas, "coulomb", 25, 4);
    check_gathered(joined_gas, "coulomb", CHECKED ? 5 : 10, 5, 2);
    check_parts(periodic_column, "convex", 40, 3);
    CHECK(whole.report.left > 0 || whole.report.entered > 0);

    check_parts(gas_at_rest, "coulomb", 8, 4);
    CHECK(whole.report.active > 100);
    check_parts(gas_in_shear, "convex", 30, 3);
    CHECK(whole.report.energy.driver_work != 0);
    check_gathered(gas_in_shear, "coulomb", 10, 5, 2);
}

static int failing_send, sends;

static cairn_status send_at_times(void *context, int to, const void *bytes, size_t count)
{
    return ++sends == failing_send ? CAIRN_NO_MEMORY : post_send(context, to, bytes, count);
}

/* Three members, of whom the second cannot send one of its messages. */
static void lose_a_message(build_fn *build, const cairn_step_options *options, int steps, int lost)
{
    sends = 0;
    failing_send = lost;
    open_office(&office);
    for (int k = 0; k < 3; k++) {
        jobs[k] = (job){ .build = build, .options = *options, .steps = steps, .out = &parts };
        join_office(&office, k, 3, &jobs[k].m);
    }
    jobs[1].m.link.send = send_at_times;
    run_together(3, run_member, jobs, sizeof *jobs);
    close_office(&office);
    if (sends < lost)
        return;
    for (int k = 0; k < 3; k++)
        CHECK(jobs[k].status != CAIRN_OK);
}

/* Whatever message of member 1 is lost, all three end. */
TEST(all_members_end_where_a_message_cannot_be_sent)
{
    static build_fn *const build[] = { balls_in_a_box, bouncing_balls, pour_in, sleepers,
                                       mechanisms };
    cairn_step_options options = options_for("coulomb", 3);
    for (int k = 0; k < 5; k++) {
        options.sleep = build[k] == sleepers;
        for (int lost = 1; lost < (k == 0 ? 400 : 1500); lost += k == 0 ? 57 : 271)
            lose_a_message(build[k], &options, build[k] == sleepers ? 16 : 9, lost);
    }
}

/* Nobody waits for ever, and nobody goes on alone. */
TEST(all_members_fail_where_one_gives_up)
{
    cairn_step_options options = options_for("coulomb", 4);
    quitter = 2;
    run_members(balls_in_a_box, &options, 10, 4, &parts);
    quitter = -1;
    for (int k = 0; k < 4; k++)
        if (k != 2) {
            CHECK(jobs[k].status != CAIRN_OK);
            CHECK_CONTAINS(jobs[k].message, "another member");
        }
}

TEST(members_follow_functions_of_time)
{
    check_parts(turning_box, "coulomb", 16, 4);
}

/* With the values that functions of time have now, bodies of inlets, and states of joints. */
TEST(the_first_member_collects_functions_inlets_and_joints)
{
    check_gathered(turning_box, "coulomb", 8, 4, 3);
    check_gathered(pour_in, "convex", 16, 4, 3);
    check_gathered(mechanisms, "convex", 6, 3, 3);
    check_gathered(go_round, "convex", 24, 4, 3);
}

/* What is wrong is told by all of them, and before anything has moved. */
TEST(what_members_cannot_do_together_is_refused)
{
    struct {
        const char *scheme, *solver;
        int parts;
        bool sleep;
        const char *message;
    } wrong[] = { { "moreau-jean", "ngs", 2, false, "schemes other than" },
                  { "convex", "newton", 2, false, "solvers that factorise" },
                  { "convex", "ngs", 1, false, "one for each of the 2 members" } };
    for (int k = 0; k < 3; k++) {
        cairn_step_options options = options_for(wrong[k].scheme, wrong[k].parts);
        options.solver = wrong[k].solver;
        options.sleep = wrong[k].sleep;
        run_members(disks, &options, 1, 2, &parts);
        for (int i = 0; i < 2; i++) {
            CHECK(jobs[i].status != CAIRN_OK);
            CHECK_CONTAINS(jobs[i].message, wrong[k].message);
        }
    }
}

/* Cubes of 0.1 m in six towers that come down at 40 m/s, 0.4 m in a step. */
static cairn_world *fast_towers(void)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, cairn_vec(0, 0, 0));
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(0.1, 0.1, 0.1);
    def.mass = 1;
    def.velocity.z = -40;
    for (int i = 0; i < 24; i++) {
        def.position = cairn_vec(0.13 * (i % 6) + 0.01 * (i / 6), 0, 0.24 + 0.13 * (i / 6));
        def.angular_velocity = cairn_vec(0.1 * i, 1, 0);
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    return world;
}

/* All members divide a step in which a body of one of them moves too far, into the same substeps. */
TEST(a_step_is_divided_by_all_members)
{
    cairn_step_options options = options_for("coulomb", 4);
    options.probes = NULL;
    options.probe_count = 0;
    for (int steps = 1; steps <= 3; steps += 2) {
        run_whole(fast_towers, &options, steps, &whole);
        CHECK(whole.report.substeps > 1 || steps > 1);
        for (int members = 2; members <= 4; members += NEXT) {
            check_same(fast_towers, &options, steps, members);
            for (int k = 0; k < members; k++)
                CHECK_INT(jobs[k].report.substeps, whole.report.substeps);
        }
    }
}

/* Where no division helps, or none is allowed, the member of the body says why, and all fail. */
TEST(a_step_that_is_too_long_is_refused_by_all_members)
{
    cairn_step_options options = options_for("coulomb", 4);
    options.max_substeps = 2;
    run_members(fast_towers, &options, 3, 4, &parts);
    int named = 0;
    for (int k = 0; k < 4; k++) {
        CHECK(jobs[k].status != CAIRN_OK);
        named += strstr(jobs[k].message, "would move by") &&
                 strstr(jobs[k].message, "this is 1/2 of the time step");
    }
    CHECK(named > 0);
}

GROUP(test_exchange)
{
    RUN(CASE(balls_fall_the_same_way_in_any_number_of_parts_and_members),
        CASE(members_hold_their_own_bodies_and_ghosts_alone),
        CASE(bodies_of_all_kinds_move_the_same_way),
        CASE(bodies_that_are_fast_find_ghosts_that_are_far),
        CASE(many_bodies_are_sorted_along_the_same_curve),
        CASE(joined_bodies_are_neighbours_on_the_curve),
        CASE(contacts_come_to_members_that_had_none),
        CASE(members_without_contacts_solve_with_those_that_have_some),
        CASE(a_sweep_sends_one_message_to_a_neighbour_in_each_round),
        CASE(bodies_stay_with_their_members_as_long_as_they_move_little),
        CASE(parts_begin_where_they_did_in_the_steps_before),
        CASE(members_with_uneven_numbers_of_parts_find_the_same_bits),
        CASE(parts_move_from_a_slow_member_and_change_no_bit),
        CASE(members_speak_to_their_neighbours_alone), CASE(pairs_are_kept_from_step_to_step),
        CASE(threads_of_members_change_no_bit),
        CASE(a_body_with_very_many_contacts_is_one_members_affair), CASE(balls_bounce_the_same_way),
        CASE(restitution_is_reduced_in_the_same_way_by_all_members),
        CASE(rolling_and_anisotropic_friction_and_friction_laws_are_the_same),
        CASE(the_default_solver_finds_the_same_impulses),
        CASE(gradient_methods_and_outer_loops_find_the_same_impulses),
        CASE(loads_push_the_same_way), CASE(inlets_pour_the_same_bodies),
        CASE(outlets_take_the_same_bodies_and_bring_them_back),
        CASE(fixed_bodies_are_removed_the_same_way), CASE(bodies_come_and_go_the_same_way),
        CASE(what_a_caller_applies_has_the_same_effect),
        CASE(groups_fall_asleep_and_wake_the_same_way), CASE(joints_hold_the_same_way),
        CASE(all_members_end_where_a_message_cannot_be_sent),
        CASE(the_first_member_collects_the_state_of_all), CASE(cells_press_the_same_way),
        CASE(periodic_cells_are_the_same), CASE(all_members_fail_where_one_gives_up),
        CASE(members_follow_functions_of_time),
        CASE(the_first_member_collects_functions_inlets_and_joints),
        CASE(what_members_cannot_do_together_is_refused), CASE(a_step_is_divided_by_all_members),
        CASE(a_step_that_is_too_long_is_refused_by_all_members));
}
