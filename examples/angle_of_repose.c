/* angle_of_repose.c - runs a 2D scene to its end and prints the slope of the resulting heap, in
 * degrees. Half of a triangle of height H and half width L lies below y = (1 - sqrt(1/2)) H
 * and half of it closer than (1 - sqrt(1/2)) L to the middle, so
 *
 *     tan(angle) = H/L = (median of y)/(median of |x - median of x|)
 *
 * over the centres of the disks, with y measured from their lowest possible position. Single disks
 * that rolled away hardly matter.
 *
 *     angle_of_repose SCENE [PATH=VALUE ...]
 *
 * scripts/tables plots the angle against rolling friction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cairn/cairn.h"

enum { MOST = 10000 }; /* disks */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, by_value);
    return numbers[count / 2];
}

static double angle(const cairn_bodies *b)
{
    static double x[MOST], y[MOST];
    int count = 0;
    for (int i = 0; i < b->count && count < MOST; i++) {
        if (b->motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        x[count] = b->x[i].x;
        y[count++] = b->x[i].y - cairn_bodies_shape(b, i)->radius;
    }
    if (count == 0)
        return 0;
    double middle = median(x, count);
    for (int i = 0; i < count; i++)
        x[i] = fabs(x[i] - middle);
    return atan2(median(y, count), median(x, count)) * 180 / 3.14159265358979323846;
}

static cairn_status run(cairn_scene *scene)
{
    while (cairn_world_time(scene->world) < scene->run.duration) {
        cairn_step_report report;
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            return status;
        if (!report.solve.converged)
            fprintf(stderr, "t = %g s: residual %.1e\n", cairn_world_time(scene->world),
                    report.solve.judgement.asked.relative);
    }
    return CAIRN_OK;
}

int main(int argc, char **argv)
{
    cairn_scene *scene;
    cairn_error error = { 0 };
    if (argc < 2) {
        fprintf(stderr, "usage: angle_of_repose SCENE [PATH=VALUE ...]\n");
        return 2;
    }
    if (cairn_scene_load(argv[1], (const char *const *)argv + 2, argc - 2, &scene, &error)) {
        fprintf(stderr, "%s:%d: %s: %s\n", error.file, error.line, error.key, error.message);
        return 1;
    }
    cairn_status status = run(scene);
    if (status == CAIRN_OK) {
        cairn_bodies bodies = cairn_world_bodies(scene->world);
        printf("%.1f\n", angle(&bodies));
    } else {
        fprintf(stderr, "%s\n", cairn_world_error(scene->world)->message);
    }
    cairn_scene_destroy(scene);
    return status == CAIRN_OK ? 0 : 1;
}
