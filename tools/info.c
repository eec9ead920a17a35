/* info.c - `cairn info`: what a scene or a run says about itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "describe.h"

/* A folder, or a file that starts like HDF5, is a run; all else is read as a scene. */
static bool is_run(const char *path)
{
    static const char signature[8] = "\x89HDF\r\n\x1a\n";
    const char *dot = strrchr(path, '.');
    char start[8] = "";
    struct stat about;
    bool there = stat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode))
        return true;
    /* nothing is read from a FIFO or a pipe, where it would be lost */
    FILE *file = there && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    if (got == sizeof start && memcmp(start, signature, sizeof start) == 0)
        return true;
    return dot && strcmp(dot, ".h5") == 0;
}

static void print_certificate(const cairn_run_info *info)
{
    char steps[256];
    cairn_spans_text(&info->missed, 8, steps, sizeof steps);
    cairn_line_print("certificate", "%s", info->certificate);
    if (!isnan(info->worst_relative))
        cairn_line_print("residual", "%.2e at worst, %.2e on average", info->worst_relative,
                         info->mean_relative);
    cairn_line_print("missed tolerance", "%lld steps%s%s", (long long)info->uncertified,
                     steps[0] ? ": " : "", steps);
}

static void print_info(const cairn_run_info *info)
{
    cairn_line_print("title", "%s", info->title);
    cairn_line_print("written by", "cairn %s", info->version);
    cairn_line_print("dimension", "%d", info->dimension);
    cairn_line_print("time", "%g s in %lld steps of %g s", info->time, (long long)info->steps,
                     info->time_step);
    cairn_line_print("frames", "%lld", (long long)info->frames);
    cairn_line_print("bodies", "%lld", (long long)info->bodies);
    cairn_line_print("contacts", "%lld at most", (long long)info->max_contacts);
    if (info->joints > 0)
        cairn_line_print("joints", "%lld, %lld broken, drift at most %.2e m",
                         (long long)info->joints, (long long)info->broken, info->joint_drift);
    cairn_line_print("scheme, solver", "%s, %s", info->scheme, info->solver);
    cairn_line_print("tolerance", "%g", info->tolerance);
    print_certificate(info);
    if (info->ending[0])
        cairn_line_print("ending", "%s", info->ending);
    cairn_line_print("hash", "%016llx", (unsigned long long)info->hash);
}

static int run_info(const char *path)
{
    cairn_run_info info = { 0 };
    cairn_error error = { 0 };
    cairn_status status = cairn_run_read_info(path, &info, &error);
    if (status != CAIRN_OK) {
        if (!error.file[0])
            snprintf(error.file, sizeof error.file, "%s", path);
        cairn_error_print(status, &error);
        return EXIT_FAILED;
    }
    printf("%s: a run\n", path);
    print_info(&info);
    return EXIT_DONE;
}

static int scene_info(const cairn_arguments *arguments)
{
    cairn_scene *scene = NULL;
    int code = cairn_arguments_scene(arguments, &scene);
    if (code != EXIT_DONE)
        return code;
    printf("%s: a scene\n", arguments->operand);
    cairn_scene_describe(scene);
    cairn_scene_destroy(scene);
    return EXIT_DONE;
}

static int info(const cairn_arguments *arguments)
{
    return is_run(arguments->operand) ? run_info(arguments->operand) : scene_info(arguments);
}

static const cairn_flag *const flags[] = { &cairn_flag_set, NULL };

const cairn_command cairn_command_info = {
    .name = "info",
    .operand = "SCENE|RUN",
    .summary = "Say what a scene or a run folder holds",
    .details = "A folder or an HDF5 file is read as a run, anything else as a scene.",
    .flags = flags,
    .run = info,
};
