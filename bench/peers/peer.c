/* peer.c - scene files, the loop over steps, CPU time and frames; see peer.h. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char names[] = "dimension,count,steps,frame_every,side,gravity,friction,time_step";

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "peer: %s: %s\n", what, why);
    exit(1);
}

static FILE *opened(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        fail(path, "cannot be opened");
    return file;
}

static double *numbers(size_t count)
{
    double *out = (double *)calloc(count ? count : 1, sizeof *out);
    if (!out)
        fail("memory", "there is not enough");
    return out;
}

static void read_balls(const char *path, FILE *file, peer_scene *s)
{
    s->position = numbers(3 * (size_t)s->count);
    s->radius = numbers((size_t)s->count);
    s->mass = numbers((size_t)s->count);
    if (fscanf(file, " x,y,z,radius,mass") < 0)
        fail(path, "ends before the balls");
    for (int i = 0; i < s->count; i++) {
        double *x = s->position + 3 * i;
        if (fscanf(file, " %lf,%lf,%lf,%lf,%lf", &x[0], &x[1], &x[2], &s->radius[i], &s->mass[i]) !=
            5)
            fail(path, "expected five numbers for each ball");
    }
}

peer_scene peer_scene_read(const char *path)
{
    peer_scene s;
    char line[256];
    FILE *file = opened(path, "r");
    memset(&s, 0, sizeof s);
    if (!fgets(line, sizeof line, file) || strncmp(line, names, strlen(names)) != 0)
        fail(path, "is not a scene of the comparison");
    if (fscanf(file, "%d,%d,%d,%d,%lf,%lf,%lf,%lf", &s.dimension, &s.count, &s.steps,
               &s.frame_every, &s.side, &s.gravity, &s.friction, &s.time_step) != 8 ||
        s.count < 1 || s.frame_every < 1)
        fail(path, "expected eight numbers in the second line");
    read_balls(path, file, &s);
    fclose(file);
    return s;
}

void peer_scene_write(const char *path, const peer_scene *s)
{
    FILE *file = opened(path, "w");
    fprintf(file, "%s\n%d,%d,%d,%d,%.17g,%.17g,%.17g,%.17g\nx,y,z,radius,mass\n", names,
            s->dimension, s->count, s->steps, s->frame_every, s->side, s->gravity, s->friction,
            s->time_step);
    for (int i = 0; i < s->count; i++) {
        const double *x = s->position + 3 * i;
        fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g\n", x[0], x[1], x[2], s->radius[i],
                s->mass[i]);
    }
    if (fclose(file) != 0)
        fail(path, "cannot be written");
}

void peer_scene_destroy(peer_scene *s)
{
    free(s->position);
    free(s->radius);
    free(s->mass);
    memset(s, 0, sizeof *s);
}

int peer_scene_planes(const peer_scene *s, double normal[5][3], double offset[5])
{
    int count = 0, up = s->dimension - 1;
    memset(normal, 0, 5 * sizeof normal[0]);
    normal[count][up] = 1;
    offset[count++] = 0;
    for (int axis = 0; s->side > 0 && axis < up; axis++) {
        normal[count][axis] = 1;
        offset[count++] = 0;
        normal[count][axis] = -1;
        offset[count++] = -s->side;
    }
    return count;
}

/* ---- the run -------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct run {
    const peer_engine *engine;
    void *state;
    FILE *frames;
    double *frame;
    double total, last; /* CPU s of all steps, of the last quarter */
    int factor;         /* steps of the scene in one of the engine */
} run;

/* Cuts ":4x" off a setting; 1 when there is none. */
static int cut_factor(char *setting)
{
    char *end = strrchr(setting, ':');
    int factor;
    char times;
    if (!end || sscanf(end, ":%d%c", &factor, &times) != 2 || times != 'x' || factor < 1)
        return 1;
    *end = '\0';
    return factor;
}

static void write_frame(run *r, const peer_scene *s, int step)
{
    r->frame[0] = step * s->time_step;
    r->engine->state(r->state, r->frame + 1);
    size_t count = 1 + PEER_STATE * (size_t)s->count;
    if (fwrite(r->frame, sizeof(double), count, r->frames) != count)
        fail("frames", "cannot be written");
}

static void go_through(run *r, const peer_scene *s)
{
    write_frame(r, s, 0);
    for (int k = 1; k <= s->steps; k++) {
        double start = cpu_seconds();
        if (k % r->factor == 0)
            r->engine->step(r->state);
        double seconds = cpu_seconds() - start;
        r->total += seconds;
        if (4 * k > 3 * s->steps)
            r->last += seconds;
        if (k % s->frame_every == 0)
            write_frame(r, s, k);
    }
}

static void create_engine(run *r, peer_scene *scene, const char *setting)
{
    char own[64];
    double step = scene->time_step;
    snprintf(own, sizeof own, "%s", setting);
    r->factor = cut_factor(own);
    scene->time_step *= r->factor;
    r->state = r->engine->create(scene, own);
    scene->time_step = step;
    if (!r->state)
        fail(setting, "is not a setting of this engine");
}

int peer_main(int argc, char **argv, const peer_engine *engine)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s SCENE SETTING FRAMES TIMES\n", argv[0]);
        return 2;
    }
    peer_scene scene = peer_scene_read(argv[1]);
    run r;
    memset(&r, 0, sizeof r);
    r.engine = engine;
    create_engine(&r, &scene, argv[2]);
    r.frames = opened(argv[3], "wb");
    r.frame = numbers(1 + PEER_STATE * (size_t)scene.count);
    go_through(&r, &scene);
    FILE *times = opened(argv[4], "a");
    fprintf(times, "%s,%s,%d,%.6g,%.6g\n", engine->name, argv[2], scene.steps, r.total, r.last);
    if (fclose(times) != 0 || fclose(r.frames) != 0)
        fail(argv[4], "cannot be written");
    free(r.frame);
    peer_scene_destroy(&scene);
    return 0;
}
