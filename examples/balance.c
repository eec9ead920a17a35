/* balance.c - a pole on a cart, kept upright by a control law of its own: a run that the caller
 * steps and pushes.
 *
 *     balance FOLDER
 *
 * A cart of 1 kg slides on a floor (friction 0.1); a pole of 0.2 kg and 1 m stands on a hinge on
 * it. In every step the cart is pushed by F = k.(x, v, angle, spin), at most 20 N. After 1 s the
 * pole is struck at its tip. FOLDER is then a run folder like those of `cairn run`: the program
 * reads the angles back from it and prints the largest one and the last one. */
#include <math.h>
#include <stdio.h>

#include "cairn/cairn.h"

static const double time_step = 2e-3, length = 1;
static const cairn_vec3 none = { 0, 0, 0 };

typedef struct model {
    cairn_world *world;
    cairn_body_id cart, pole;
} model;

static cairn_status add_box(cairn_world *world, cairn_vec3 size, double mass, cairn_vec3 position,
                            cairn_body_id *out)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    def.shape.size = size;
    def.mass = mass;
    def.position = position;
    return cairn_body_create(world, &def, out);
}

static cairn_status add_floor(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_material_def material = cairn_material_def_default();
    material.friction = 0.1;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    cairn_status status = cairn_material_create(world, &material, NULL);
    return status == CAIRN_OK ? cairn_body_create(world, &def, NULL) : status;
}

/* The hinge is in the middle of the top of the cart, 0.2 m above the floor. */
static cairn_status add_hinge(const model *m)
{
    cairn_joint_def hinge = cairn_joint_def_default();
    hinge.kind = CAIRN_JOINT_REVOLUTE;
    hinge.a = m->cart;
    hinge.b = m->pole;
    hinge.anchor = (cairn_vec3){ 0, 0.2, 0 };
    return cairn_joint_create(m->world, &hinge, NULL);
}

static cairn_status build(model *m)
{
    cairn_world_def def = cairn_world_def_default();
    def.dimension = 2;
    def.gravity = (cairn_vec3){ 0, -9.81, 0 };
    cairn_status status = cairn_world_create(&def, &m->world);
    if (status == CAIRN_OK)
        status = add_floor(m->world);
    if (status == CAIRN_OK)
        status = add_box(m->world, (cairn_vec3){ 0.6, 0.2, 0 }, 1, (cairn_vec3){ 0, 0.1, 0 },
                         &m->cart);
    if (status == CAIRN_OK)
        status = add_box(m->world, (cairn_vec3){ 0.04, length, 0 }, 0.2,
                         (cairn_vec3){ 0, 0.2 + 0.5 * length, 0 }, &m->pole);
    return status == CAIRN_OK ? add_hinge(m) : status;
}

/* The force on the cart: angles count positive to the left, as turns in the plane do. */
static double control(const cairn_body_state *cart, const cairn_body_state *pole)
{
    double force = 2 * cart->x.x + 5 * cart->v.x - 60 * pole->angle - 14 * pole->omega.z;
    return fmax(-20, fmin(20, force));
}

static cairn_status push(const model *m)
{
    cairn_body_state cart, pole;
    cairn_status status = cairn_body_get(m->world, m->cart, &cart);
    if (status == CAIRN_OK)
        status = cairn_body_get(m->world, m->pole, &pole);
    if (status != CAIRN_OK)
        return status;
    cairn_vec3 force = { control(&cart, &pole), 0, 0 };
    return cairn_body_push(m->world, m->cart, force, none);
}

/* 0.05 N s to the right, at the tip. */
static cairn_status strike(const model *m)
{
    cairn_body_state pole;
    cairn_status status = cairn_body_get(m->world, m->pole, &pole);
    if (status != CAIRN_OK)
        return status;
    cairn_vec3 tip = { pole.x.x - 0.5 * length * sin(pole.angle),
                       pole.x.y + 0.5 * length * cos(pole.angle), 0 };
    return cairn_body_strike(m->world, m->pole, (cairn_vec3){ 0.05, 0, 0 }, tip);
}

static cairn_status run(const model *m, const char *folder, cairn_error *error)
{
    cairn_scene scene = { .title = "a pole on a cart", .text = "", .world = m->world };
    cairn_running *running;
    scene.step = cairn_step_options_default();
    scene.step.time_step = time_step;
    scene.step.tolerance = 1e-8;
    scene.run = cairn_run_options_default();
    scene.run.duration = 4;
    scene.run.frame_interval = 0.02;
    scene.run.certificate = "full";
    cairn_status status = cairn_run_begin(&scene, folder, &running, error);
    for (int k = 0; status == CAIRN_OK && cairn_run_goes_on(running); k++) {
        status = k == 500 ? strike(m) : CAIRN_OK;
        if (status == CAIRN_OK)
            status = push(m);
        if (status == CAIRN_OK)
            status = cairn_run_step(running, NULL, error);
    }
    if (!running)
        return status;
    cairn_status ended = cairn_run_end(&running, NULL, status == CAIRN_OK ? error : NULL);
    return status == CAIRN_OK ? ended : status;
}

/* The angles of the pole in all frames: the third of three bodies. */
static cairn_status report(const char *folder, cairn_error *error)
{
    cairn_recording *recording;
    cairn_recording_column column;
    cairn_status status = cairn_recording_open(folder, &recording, error);
    if (status != CAIRN_OK)
        return status;
    status = cairn_recording_look(recording, "frames/bodies/angle", &column, error);
    cairn_recording_rows rows = { "frames/bodies/angle", CAIRN_NUMBER_DOUBLE, 0, column.rows };
    const void *data;
    size_t bytes;
    if (status == CAIRN_OK)
        status = cairn_recording_read(recording, &rows, 1, &data, &bytes, error);
    double largest = 0, last = 0;
    for (int64_t i = 2; status == CAIRN_OK && i < column.rows; i += 3) {
        last = ((const double *)data)[i];
        largest = fmax(largest, fabs(last));
    }
    if (status == CAIRN_OK)
        printf("largest angle %.4f rad, last %.4f rad\n", largest, last);
    cairn_recording_close(recording);
    return status;
}

int main(int count, char **arguments)
{
    model m = { 0 };
    cairn_error error = { 0 };
    if (count != 2) {
        fprintf(stderr, "usage: balance FOLDER\n");
        return 2;
    }
    cairn_status status = build(&m);
    if (status == CAIRN_OK)
        status = run(&m, arguments[1], &error);
    if (status == CAIRN_OK)
        status = report(arguments[1], &error);
    if (status != CAIRN_OK)
        fprintf(stderr, "balance: %s\n",
                error.message[0] ? error.message : cairn_status_text(status));
    cairn_world_destroy(m.world);
    return status != CAIRN_OK;
}
