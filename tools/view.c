/* view.c - `cairn view` and `cairn export`: runs in the browser and in other formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "studies/study.h"
#include "view/view.h"

/* ---- cairn view ------------------------------------------------------------------------------ */

static const char *take_no_browser(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->no_browser = true;
    return NULL;
}

const cairn_flag cairn_flag_no_browser = {
    .name = "--no-browser",
    .text = "print the address of the viewer, open no browser",
    .take = take_no_browser,
};

static int view(const cairn_arguments *arguments)
{
    if (arguments->operand_count > 2) {
        fprintf(stderr, "cairn view: found %d runs, expected one or two\n",
                arguments->operand_count);
        return EXIT_USAGE;
    }
    return cairn_view_show(arguments->operands, arguments->operand_count, !arguments->no_browser);
}

static const cairn_flag *const view_flags[] = { &cairn_flag_no_browser, NULL };

const cairn_command cairn_command_view = {
    .name = "view",
    .operand = "RUN...",
    .summary = "Show a run, or two side by side, in the browser",
    .details = "A run in progress is followed as it grows. The page is served on 127.0.0.1, at an\n"
               "address with a random token; nothing leaves the machine. Ctrl-C, or 'End' in the\n"
               "page, ends the viewer.",
    .flags = view_flags,
    .run = view,
};

/* ---- cairn export: for people and programs without cairn ------------------------------------- */

static const char *take_html(cairn_arguments *arguments, const char *value)
{
    arguments->export.html = value;
    return NULL;
}

static const char *take_csv(cairn_arguments *arguments, const char *value)
{
    arguments->export.csv = value;
    return NULL;
}

static const char *take_gltf(cairn_arguments *arguments, const char *value)
{
    size_t length = strlen(value);
    arguments->export.gltf = value;
    return length > 4 && strcmp(value + length - 4, ".glb") == 0
               ? NULL
               : "expected a name that ends in .glb, the binary form of glTF";
}

static const char *take_vtkhdf(cairn_arguments *arguments, const char *value)
{
    arguments->export.vtkhdf = value;
    return NULL;
}

static const char *take_table(cairn_arguments *arguments, const char *value)
{
    arguments->export.table = value;
    return NULL;
}

/* Whether a name ends in one of several ways. */
static bool ends_in(const char *value, const char *const *endings, int count)
{
    const char *dot = strrchr(value, '.');
    for (int k = 0; k < count && dot; k++)
        if (strcmp(dot, endings[k]) == 0)
            return true;
    return false;
}

static const char *take_contacts(cairn_arguments *arguments, const char *value)
{
    static const char *const endings[] = { ".csv", ".txt", ".h5", ".vtp" };
    arguments->export.contacts = value;
    return ends_in(value, endings, 4) ? NULL : "expected a file .csv, .txt, .h5 or .vtp";
}

static const char *take_time(cairn_arguments *arguments, const char *value)
{
    size_t length = cairn_number_read(value, &arguments->export.moment);
    arguments->export.all_times = strcmp(value, "all") == 0;
    arguments->export.at_time = !arguments->export.all_times;
    return !arguments->export.all_times && (length == 0 || value[length])
               ? "expected a time in s, or all"
               : NULL;
}

static const cairn_flag flag_table = {
    .name = "--table",
    .value = "FILE",
    .text = "spheres of one frame: .csv, .txt, .h5, .vtp, .vtu, LAMMPS .data, .dump",
    .take = take_table,
};

static const cairn_flag flag_contacts = {
    .name = "--contacts",
    .value = "FILE",
    .text = "contacts of one frame: .csv, .txt, .h5, or .vtp with lines between bodies",
    .take = take_contacts,
};

static const cairn_flag flag_time = {
    .name = "--time",
    .value = "TIME",
    .text = "the frame of --table and --contacts, in s (contacts: or all); default: the last",
    .take = take_time,
};

static const char *take_png(cairn_arguments *arguments, const char *value)
{
    char *end;
    arguments->export.png = true;
    arguments->export.time = strtod(value, &end);
    return end == value || *end || !isfinite(arguments->export.time) ? "expected a time in s"
                                                                     : NULL;
}

static const char *take_video(cairn_arguments *arguments, const char *value)
{
    static const char *const endings[] = { ".mp4", ".webm", ".gif" };
    arguments->export.video = value;
    return ends_in(value, endings, 3) ? NULL : "expected a file .mp4, .webm or .gif";
}

static const char *take_size(cairn_arguments *arguments, const char *value)
{
    cairn_export_arguments *e = &arguments->export;
    int end = 0;
    bool good = sscanf(value, "%5dx%5d%n", &e->width, &e->height, &end) == 2 && !value[end] &&
                e->width >= 16 && e->height >= 16 && e->width <= 8192 && e->height <= 8192;
    return good ? NULL : "expected WIDTHxHEIGHT, 16 to 8192 pixels each";
}

static const char *take_look(cairn_arguments *arguments, const char *value)
{
    arguments->export.look = value;
    bool good = strspn(value, "abcdefghijklmnopqrstuvwxyz_0123456789=&/") == strlen(value) &&
                strlen(value) < 200;
    return good ? NULL : "expected words such as color=force&bodies=glass";
}

static const cairn_flag flag_gltf = {
    .name = "--gltf",
    .value = "FILE",
    .text = "an animated scene, .glb, for Blender and other programs",
    .take = take_gltf,
};

static const cairn_flag flag_vtkhdf = {
    .name = "--vtkhdf",
    .value = "FILE",
    .text = "one file for ParaView 5.12 and later, .vtkhdf",
    .take = take_vtkhdf,
};

static const cairn_flag flag_png = {
    .name = "--png",
    .value = "TIME",
    .text = "a picture at TIME s, to RUN.png or the file of --out; needs chromium",
    .take = take_png,
};

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return NULL;
}

static const cairn_flag flag_out = {
    .name = "--out",
    .letter = 'o',
    .value = "FILE",
    .text = "the file of --png",
    .take = take_out,
};

static const cairn_flag flag_video = {
    .name = "--video",
    .value = "FILE",
    .text = "a film, .mp4, .webm or .gif; needs chromium and ffmpeg",
    .take = take_video,
};

static const cairn_flag flag_size = {
    .name = "--size",
    .value = "WxH",
    .text = "pixels of pictures and films; default 1280x720",
    .take = take_size,
};

static const cairn_flag flag_look = {
    .name = "--look",
    .value = "WORDS",
    .text = "appearance: color=force&bodies=glass&chains=0&view=front&theme=dark",
    .take = take_look,
};

static const cairn_flag flag_html = {
    .name = "--html",
    .value = "FILE",
    .text = "one page that shows the run in any browser, offline",
    .take = take_html,
};

static const cairn_flag flag_csv = {
    .name = "--csv",
    .value = "FILE",
    .text = "bodies of all frames as a CSV table",
    .take = take_csv,
};

/* The last part of a path. */
static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static cairn_status write_html(cairn_recording *run, const cairn_arguments *a, cairn_error *error)
{
    int64_t bytes = 0;
    cairn_status status =
        cairn_view_export_html(run, short_name(a->operand), a->export.html, &bytes, error);
    if (status == CAIRN_OK)
        printf("%s: %.2f MB\n", a->export.html, 1e-6 * (double)bytes);
    return status;
}

static cairn_status write_csv(cairn_recording *run, const cairn_arguments *a, cairn_error *error)
{
    int64_t rows = 0;
    cairn_status status = cairn_view_export_csv(run, a->export.csv, &rows, error);
    if (status == CAIRN_OK)
        printf("%s: %lld rows\n", a->export.csv, (long long)rows);
    return status;
}

static cairn_status write_gltf(cairn_recording *run, const cairn_arguments *a, cairn_error *error)
{
    int64_t bytes = 0;
    cairn_run_info info;
    TRY(cairn_run_read_info(a->operand, &info, error));
    TRY(cairn_view_export_gltf(run, info.dimension, a->export.gltf, &bytes, error));
    printf("%s: %.2f MB\n", a->export.gltf, 1e-6 * (double)bytes);
    return CAIRN_OK;
}

static cairn_status write_vtkhdf(cairn_recording *run, const cairn_arguments *a, cairn_error *error)
{
    cairn_run_info info;
    TRY(cairn_run_read_info(a->operand, &info, error));
    TRY(cairn_view_export_vtkhdf(run, info.dimension, a->export.vtkhdf, error));
    printf("%s\n%s.py  (paraview --script=%s.py shows it)\n", a->export.vtkhdf, a->export.vtkhdf,
           a->export.vtkhdf);
    return CAIRN_OK;
}

/* One frame of the run, into a file. */
static cairn_status describe_table(const cairn_arguments *a, const char *path,
                                   cairn_view_table *out, cairn_error *error)
{
    cairn_run_info info;
    TRY(cairn_run_read_info(a->operand, &info, error));
    *out = (cairn_view_table){ .path = path,
                               .time = a->export.at_time ? a->export.moment : NAN,
                               .time_step = info.time_step,
                               .dimension = info.dimension,
                               .all = a->export.all_times };
    return CAIRN_OK;
}

static cairn_status write_table(cairn_recording *run, const cairn_arguments *a, cairn_error *error)
{
    int64_t rows = 0, others = 0;
    cairn_view_table wanted;
    TRY(describe_table(a, a->export.table, &wanted, error));
    TRY(cairn_view_export_table(run, &wanted, &rows, &others, error));
    printf("%s: %lld spheres", a->export.table, (long long)rows);
    printf(others ? "; %lld other bodies are left out\n" : "\n", (long long)others);
    return CAIRN_OK;
}

static cairn_status write_contacts(cairn_recording *run, const cairn_arguments *a,
                                   cairn_error *error)
{
    int64_t rows = 0, frames = 0;
    cairn_view_table wanted;
    TRY(describe_table(a, a->export.contacts, &wanted, error));
    TRY(cairn_view_export_contacts(run, &wanted, &rows, &frames, error));
    printf("%s: %lld contacts of %lld frame%s\n", a->export.contacts, (long long)rows,
           (long long)frames, frames == 1 ? "" : "s");
    return CAIRN_OK;
}

/* A picture at a time outside the run would show its end. */
static cairn_status check_time(const cairn_arguments *a, cairn_error *error)
{
    cairn_run_info info;
    TRY(cairn_run_read_info(a->operand, &info, error));
    *error = (cairn_error){ 0 }; /* errors from here on are not about the run file */
    if (a->export.time >= 0 && a->export.time <= info.time + info.time_step)
        return CAIRN_OK;
    snprintf(error->key, sizeof error->key, "--png");
    snprintf(error->message, sizeof error->message,
             "found %g s, expected a time of the run: 0 to %g s", a->export.time, info.time);
    return CAIRN_BAD_INPUT;
}

static cairn_status draw(cairn_recording *run, const cairn_arguments *a, bool film,
                         cairn_error *error)
{
    char picture[4096], look[256];
    const cairn_export_arguments *e = &a->export;
    snprintf(picture, sizeof picture, "%s.png", short_name(a->operand));
    snprintf(look, sizeof look, "&%s", e->look ? e->look : "");
    const cairn_view_film wanted = {
        .run = run,
        .name = short_name(a->operand),
        .path = film     ? e->video
                : a->out ? a->out
                         : picture,
        .time = film ? NAN : e->time,
        .width = e->width > 0 ? e->width : 1280,
        .height = e->height > 0 ? e->height : 720,
        .look = look,
    };
    if (!film)
        TRY(check_time(a, error));
    cairn_status status = cairn_view_film_make(&wanted, error);
    if (status == CAIRN_OK)
        printf("%s\n", wanted.path);
    return status;
}

/* A flag that no other one needs would change nothing; NULL: there is none. */
static const char *idle_flag(const cairn_arguments *a)
{
    const cairn_export_arguments *e = &a->export;
    if (e->look && !e->png && !e->video)
        return "--look: only pictures have a look, expected also --png or --video";
    if (e->width > 0 && !e->png && !e->video)
        return "--size: only pictures have a size, expected also --png or --video";
    if (a->out && !e->png)
        return "--out: only a picture goes there, expected also --png";
    if ((e->at_time || e->all_times) && !e->table && !e->contacts)
        return "--time: expected also --table or --contacts; --png has its own time";
    return NULL;
}

static int export_run(const cairn_arguments *arguments)
{
    const cairn_export_arguments *e = &arguments->export;
    cairn_recording *run = NULL;
    cairn_error error = { 0 };
    if (!e->html && !e->csv && !e->gltf && !e->vtkhdf && !e->png && !e->video && !e->table &&
        !e->contacts) {
        fprintf(stderr, "cairn export: expected --html, --gltf, --vtkhdf, --csv, --table, "
                        "--contacts, --png or --video\nTry 'cairn help export'.\n");
        return EXIT_USAGE;
    }
    const char *idle = idle_flag(arguments);
    if (idle) {
        fprintf(stderr, "cairn export: %s\n", idle);
        return EXIT_USAGE;
    }
    if (e->all_times && (e->table || (e->contacts && strstr(e->contacts, ".vtp")))) {
        fprintf(stderr, "cairn export: --time: a table of spheres and a .vtp file have one frame, "
                        "expected a time in s\n");
        return EXIT_USAGE;
    }
    cairn_interrupt_watch();
    cairn_status status = cairn_recording_open(arguments->operand, &run, &error);
    if (status == CAIRN_OK)
        error = (cairn_error){ 0 }; /* errors from here on are not about the run file */
    if (status == CAIRN_OK && e->html)
        status = write_html(run, arguments, &error);
    if (status == CAIRN_OK && e->csv)
        status = write_csv(run, arguments, &error);
    if (status == CAIRN_OK && e->table)
        status = write_table(run, arguments, &error);
    if (status == CAIRN_OK && e->contacts)
        status = write_contacts(run, arguments, &error);
    if (status == CAIRN_OK && e->gltf)
        status = write_gltf(run, arguments, &error);
    if (status == CAIRN_OK && e->vtkhdf)
        status = write_vtkhdf(run, arguments, &error);
    if (status == CAIRN_OK && e->png)
        status = draw(run, arguments, false, &error);
    if (status == CAIRN_OK && e->video)
        status = draw(run, arguments, true, &error);
    cairn_recording_close(run);
    return status == CAIRN_OK ? EXIT_DONE : cairn_error_print(status, &error);
}

static const cairn_flag *const export_flags[] = { &flag_html, &flag_gltf,  &flag_vtkhdf,
                                                  &flag_csv,  &flag_table, &flag_contacts,
                                                  &flag_time, &flag_png,   &flag_video,
                                                  &flag_size, &flag_look,  &flag_out,
                                                  NULL };

const cairn_command cairn_command_export = {
    .name = "export",
    .operand = "RUN",
    .summary = "Export a run to other formats",
    .details =
        "The page of --html contains the run itself, with positions in 16 bits, and opens with a\n"
        "double click.",
    .flags = export_flags,
    .run = export_run,
};
