/* arguments.c - the flags of all commands, parsing of the command line, and what it names: the
 * scene to load, the folder to write. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    if (!value[0])
        return "expected the name of a folder";
    arguments->out = value;
    return NULL;
}

static const char *take_set(cairn_arguments *arguments, const char *value)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return "expected KEY=VALUE, for example run.time_step=1e-3";
    /* the list reuses argv, which has room: this value or its flag stood there */
    const char **list = (const char **)arguments->overrides;
    list[arguments->override_count++] = value;
    return NULL;
}

static const char *take_quiet(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->quiet = true;
    return NULL;
}

static const char *take_strict(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->strict = true;
    return NULL;
}

static const char *take_force(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->force = true;
    return NULL;
}

static const char *take_help(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->help = true;
    return NULL;
}

static const char *take_threads(cairn_arguments *arguments, const char *value)
{
    const cairn_option *option = cairn_record_find(cairn_step_record(), "threads");
    int64_t count = 0;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 0 || (double)count > option->maximum) {
        snprintf(arguments->problem, sizeof arguments->problem,
                 "expected a whole number of threads, at most %g; 0 means one per processor",
                 option->maximum);
        return arguments->problem;
    }
    arguments->thread_count = (int)count;
    snprintf(arguments->threads, sizeof arguments->threads, "run.threads=%d", (int)count);
    return NULL;
}

/* "3,10" as the override "run.save_problem=[3,10]" */
static const char *take_problems(cairn_arguments *arguments, const char *value)
{
    size_t length = strlen(value), room = sizeof arguments->problems - sizeof "run.save_problem=[]";
    bool digits = value[0] >= '0' && value[0] <= '9' && value[length - 1] != ',';
    if (!digits || strspn(value, "0123456789,") != length || strstr(value, ",,"))
        return "expected step numbers separated by commas";
    if (length > room)
        return "too many steps; set run.save_problem in the scene";
    snprintf(arguments->problems, sizeof arguments->problems, "run.save_problem=[%s]", value);
    return NULL;
}

const cairn_flag cairn_flag_out = {
    "--out", 'o', "DIR", "write the run to the folder DIR (default: out/SCENE)", take_out,
};
const cairn_flag cairn_flag_set = {
    "--set", 's', "KEY=VALUE", "override a value of the scene; may be repeated", take_set,
};
const cairn_flag cairn_flag_quiet = {
    "--quiet", 'q', NULL, "print warnings and errors only", take_quiet,
};
const cairn_flag cairn_flag_threads = {
    "--threads", 'j', "N", "use N threads; 0: one per processor", take_threads,
};
const cairn_flag cairn_flag_save_problem = {
    "--save-problem", 0, "N,...", "write the contact problems of these steps", take_problems,
};
const cairn_flag cairn_flag_strict = {
    "--strict", 0, NULL, "stop at the first step that misses its tolerance", take_strict,
};
const cairn_flag cairn_flag_force = {
    "--force", 'f', NULL, "overwrite results that the folder already holds", take_force,
};
const cairn_flag cairn_flag_help = {
    "--help", 'h', NULL, "show this help", take_help,
};

/* Whether `word` is this flag; *value receives what follows '=' in "--flag=value", else NULL. */
static bool is_flag(const cairn_flag *flag, const char *word, const char **value)
{
    size_t length = strlen(flag->name);
    *value = NULL;
    if (word[0] == '-' && flag->letter && word[1] == flag->letter && !word[2])
        return true;
    if (strncmp(word, flag->name, length) != 0 || (word[length] && word[length] != '='))
        return false;
    if (word[length] == '=')
        *value = word + length + 1;
    return true;
}

static const cairn_flag *find_flag(const cairn_command *command, const char *word,
                                   const char **value)
{
    for (int i = 0; command->flags[i]; i++)
        if (is_flag(command->flags[i], word, value))
            return command->flags[i];
    return is_flag(&cairn_flag_help, word, value) ? &cairn_flag_help : NULL;
}

static int usage(const cairn_command *command, const char *word, const char *problem)
{
    fprintf(stderr, "cairn %s: %s: %s\nTry 'cairn help %s'.\n", command->name, word, problem,
            command->name);
    return EXIT_USAGE;
}

static int unknown_flag(const cairn_command *command, const char *word)
{
    enum { MOST = 16 };
    const char *names[MOST], *nearest;
    char problem[128] = "unknown flag";
    int count = 0;
    while (count < MOST - 1 && command->flags[count]) {
        names[count] = command->flags[count]->name;
        count++;
    }
    names[count++] = cairn_flag_help.name;
    nearest = cairn_nearest_name(word, names, count);
    if (nearest)
        snprintf(problem, sizeof problem, "unknown flag; did you mean '%s'?", nearest);
    return usage(command, word, problem);
}

/* Read the flag argv[*i] and its value, which may be the next word. */
static int read_flag(const cairn_command *command, int count, char **argv, int *i,
                     cairn_arguments *out)
{
    const char *word = argv[*i], *value;
    const cairn_flag *flag = find_flag(command, word, &value);
    if (!flag)
        return unknown_flag(command, word);
    if (!flag->value && value)
        return usage(command, word, "takes no value");
    if (flag->value && !value) {
        if (*i + 1 >= count)
            return usage(command, word, "a value is missing");
        value = argv[++*i];
    }
    const char *problem = flag->take(out, value);
    return problem ? usage(command, value, problem) : EXIT_DONE;
}

static int read_operand(const cairn_command *command, const char *word, cairn_arguments *out)
{
    if (!command->operand)
        return usage(command, word, "unexpected argument");
    if (out->operand && !strstr(command->operand, "..."))
        return usage(command, word, "unexpected argument: only one is allowed");
    if (!word[0])
        return usage(command, "''", "the name is empty");
    if (!out->operand)
        out->operand = word;
    /* the list reuses argv: this word or an earlier one stood there */
    if (strstr(command->operand, "...")) {
        const char **list = (const char **)out->operands;
        list[out->operand_count++] = word;
    }
    return EXIT_DONE;
}

/* A flag that stands for an override takes at least one word of argv, so there is room. This does
 * not hold where argv is the list of operands, but those commands have no scene to override. */
static void add_overrides(cairn_arguments *out)
{
    const char *const texts[] = { out->threads, out->problems,
                                  out->strict ? "run.on_uncertified=stop" : "" };
    const char **list = (const char **)out->overrides;
    for (size_t i = 0; out->operand_count == 0 && i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i][0])
            list[out->override_count++] = texts[i];
}

int cairn_arguments_read(const cairn_command *command, int count, char **argv, cairn_arguments *out)
{
    bool flags_end = false;
    out->overrides = out->operands = (const char *const *)argv;
    out->measure = cairn_measure_options_default();
    out->thread_count = -1;
    for (int i = 0; i < count; i++) {
        const char *word = argv[i];
        bool is_operand = flags_end || word[0] != '-' || !word[1];
        if (!is_operand && strcmp(word, "--") == 0) {
            flags_end = true;
            continue;
        }
        int code = is_operand ? read_operand(command, word, out)
                              : read_flag(command, count, argv, &i, out);
        if (code != EXIT_DONE)
            return code;
    }
    add_overrides(out);
    bool needed = command->operand && command->operand[0] != '[';
    if (needed && !out->operand && !out->help) {
        char first[32]; /* of "RUN [NAME]..." or "FILE..." */
        snprintf(first, sizeof first, "%.*s", (int)strcspn(command->operand, " ."),
                 command->operand);
        return usage(command, first, "is missing");
    }
    return EXIT_DONE;
}

/* ---- the scene that a command works on ------------------------------------------------------- */

/* Minor problems of a scene that runs nevertheless. */
static void note_overlap(const cairn_scene *scene)
{
    const double rounding = 1e-6;
    if (scene->overlap > rounding)
        fprintf(
            stderr,
            "NOTE: bodies overlap at the start, by at most %.2g %% of a radius; run.overlaps is "
            "%s.\n",
            100 * scene->overlap, scene->step.overlaps);
}

int cairn_arguments_scene(const cairn_arguments *arguments, cairn_link *link, cairn_scene **out)
{
    cairn_error error = { 0 };
    cairn_status status = cairn_ranks_load(link, arguments->operand, arguments->overrides,
                                           arguments->override_count, out, &error);
    if (status == CAIRN_OK) {
        note_overlap(*out);
        return EXIT_DONE;
    }
    if (!error.file[0])
        snprintf(error.file, sizeof error.file, "%s", arguments->operand);
    return cairn_error_print(status, &error);
}

/* ---- the folder that a command writes to ----------------------------------------------------- */

static bool make(char *path)
{
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        mkdir(path, 0777); /* parents may exist, and need not be ours */
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int cairn_folder_prepare(const char *command, const char *folder)
{
    char path[4096];
    struct stat found;
    const char *problem = NULL;
    if (!folder[0] || snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        problem = "expected the name of a folder, 1 to 4095 bytes long";
    else if (!make(path) || stat(path, &found) != 0)
        problem = strerror(errno);
    else if (!S_ISDIR(found.st_mode))
        problem = "found a file, expected a folder";
    else if (access(path, W_OK | X_OK) != 0)
        problem = strerror(errno);
    if (problem)
        fprintf(stderr, "cairn %s: %.200s: %s\n", command, folder, problem);
    return problem ? EXIT_FAILED : EXIT_DONE;
}
