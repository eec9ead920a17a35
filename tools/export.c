/* export.c - `cairn export`: a run in other forms, for people and programs without cairn. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "view/package.h"
#include "view/show.h"
#include "view/table.h"

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

static const cairn_flag flag_html = {
    .name = "--html",
    .value = "FILE",
    .text = "one page that shows the run in any browser, offline",
    .take = take_html,
};

static const cairn_flag flag_csv = {
    .name = "--csv",
    .value = "FILE",
    .text = "bodies of all frames as a table with commas",
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

static int export_run(const cairn_arguments *arguments)
{
    cairn_recording *run = NULL;
    cairn_error error = { 0 };
    if (!arguments->export.html && !arguments->export.csv) {
        fprintf(stderr, "cairn export: expected --html or --csv\nTry 'cairn help export'.\n");
        return EXIT_USAGE;
    }
    cairn_status status = cairn_recording_open(arguments->operand, &run, &error);
    if (status == CAIRN_OK && arguments->export.html)
        status = write_html(run, arguments, &error);
    if (status == CAIRN_OK && arguments->export.csv)
        status = write_csv(run, arguments, &error);
    cairn_recording_close(run);
    return status == CAIRN_OK ? EXIT_DONE : cairn_error_print(status, &error);
}

static const cairn_flag *const flags[] = { &flag_html, &flag_csv, NULL };

const cairn_command cairn_command_export = {
    .name = "export",
    .operand = "RUN",
    .summary = "Write a run in other forms",
    .details =
        "The page of --html holds the run itself, with positions in 16 bits, and opens by a double "
        "click.",
    .flags = flags,
    .run = export_run,
};
