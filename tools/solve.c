/* solve.c - `cairn solve`: solvers on problem files, as a table. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "answers.h"
#include "command.h"

enum { PATH_BYTES = 4096 };

/* One call of the command while it lasts. */
typedef struct session {
    const cairn_solve_arguments *arguments;
    cairn_trials *trials;
    const char *out; /* the folder of the answers; NULL: they are not kept */
    int answers;     /* written                                            */
    bool heading_printed;
    bool bad_file; /* some file could not be read; `code` says how */
    bool missed;   /* some solve missed its tolerance              */
    int code;
} session;

/* ---- the table ------------------------------------------------------------------------------ */

static void print_heading(session *s)
{
    const char *backend = s->arguments->backend;
    if (!s->heading_printed && backend && strcmp(backend, cairn_backend_name(0)) != 0)
        printf("back end: %s\n", backend);
    if (!s->heading_printed)
        printf("%-40s %8s  %-12s %9s %9s %9s %10s %10s  %s\n", "problem", "contacts", "solver",
               "residual", "coulomb", "fclib", "iterations", "time (s)", "verdict");
    s->heading_printed = true;
}

/* The name of a problem, its end when it is long. */
static void print_name(const char *path)
{
    enum { WIDTH = 40 };
    int length;
    const char *name = cairn_problem_name(path, &length);
    int skipped = length > WIDTH ? length - WIDTH : 0;
    char end[WIDTH + 1], shown[4 * WIDTH + 1];
    snprintf(end, sizeof end, "%.*s", length - skipped, name + skipped);
    cairn_text_escape(end, shown, sizeof shown);
    printf("%-*s", WIDTH, shown);
}

static const char *reason_of(const cairn_trial *t)
{
    return t->status == CAIRN_OK ? t->report.remark : cairn_status_text(t->status);
}

static void print_trial(session *s, const cairn_trial *t)
{
    print_heading(s);
    print_name(t->problem);
    printf(" %8d  %-12s", t->contacts, t->solver);
    if (t->verdict == CAIRN_VERDICT_SOLVED || t->verdict == CAIRN_VERDICT_MISSED)
        printf(" %9.2e %9.2e %9.2e %10lld %10.3g", t->report.judgement.asked.relative,
               t->coulomb.relative, t->report.judgement.asked.fclib,
               (long long)t->report.iterations, t->seconds);
    else
        printf(" %9s %9s %9s %10s %10s", "-", "-", "-", "-", "-");
    bool plain = t->verdict == CAIRN_VERDICT_NOT_TREATED || !reason_of(t)[0];
    bool solved = t->verdict == CAIRN_VERDICT_SOLVED;
    printf("  %s", cairn_verdict_name(t->verdict));
    if (!plain)
        printf(solved ? " (%s)" : ": %s", reason_of(t));
    puts("");
    fflush(stdout);
}

/* How many, by solver. */
static void print_totals(const session *s)
{
    const char *name;
    for (int i = 0; (name = cairn_solver_name(i)); i++) {
        int solved = 0, asked = 0;
        double seconds = 0;
        const cairn_trial *t;
        for (int k = 0; (t = cairn_trials_at(s->trials, k)); k++) {
            if (strcmp(t->solver, name) != 0 || t->verdict == CAIRN_VERDICT_NOT_TREATED)
                continue;
            asked++;
            solved += t->verdict == CAIRN_VERDICT_SOLVED;
            seconds += t->seconds;
        }
        if (asked > 1)
            printf("%-12s solved %d of %d in %.3g s\n", name, solved, asked, seconds);
    }
}

/* ---- solving -------------------------------------------------------------------------------- */

static cairn_solve_options options_of(const cairn_solve_arguments *a)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.law = a->convex ? CAIRN_LAW_CONVEX : CAIRN_LAW_COULOMB;
    if (a->solver)
        options.solver = a->solver;
    if (a->backend)
        options.backend = a->backend;
    if (a->tolerance > 0)
        options.tolerance = a->tolerance;
    if (a->max_iterations > 0)
        options.max_iterations = a->max_iterations;
    options.time_limit = a->time_limit;
    options.fclib_measure = a->fclib_measure;
    return options;
}

static int fail(session *s, cairn_status status, cairn_error *error, const char *path)
{
    if (!error->file[0])
        snprintf(error->file, sizeof error->file, "%s", path);
    int code = cairn_error_print(status, error);
    s->bad_file = true;
    s->code = s->code ? s->code : code;
    return code;
}

static void note(const char *path, const char *text)
{
    char shown[PATH_BYTES];
    cairn_text_escape(path, shown, sizeof shown);
    fprintf(stderr, "%s: note: %s\n", shown, text);
}

/* Impulses to start from; NULL: zero. */
static const double *start_of(const session *s, const cairn_fclib *file, const char *path)
{
    cairn_solve_start start = s->arguments->start;
    if (start == START_SOLUTION && file->solution)
        return file->solution->r;
    if (start == START_GUESS && file->guess_count > 0)
        return file->guesses[0].r;
    if (start != START_ZERO)
        note(path, start == START_GUESS ? "it has no guess; starting from zero"
                                        : "it has no solution; starting from zero");
    return NULL;
}

/* A problem file while its solvers run. */
typedef struct task {
    const char *path;
    const cairn_fclib *file;
    cairn_problem p; /* the file's, with the cones asked for */
    const double *start;
} task;

/* Solver number i of those asked for; NULL past the last. */
static const char *solver_at(const session *s, int i)
{
    const char *asked = s->arguments->solver ? s->arguments->solver : "auto";
    if (strcmp(asked, "all") == 0)
        return cairn_solver_name(i);
    return i == 0 ? asked : NULL;
}

/* False after a message when answers of this call have the names that those to this problem would
 * get. */
static bool has_name_of_its_own(session *s, const char *path)
{
    const cairn_trial *other = s->out ? cairn_answer_namesake(s->trials, path) : NULL;
    cairn_error error = { 0 };
    if (!other)
        return true;
    snprintf(error.message, sizeof error.message,
             "not solved: its answer would replace that of %.300s; use another --out",
             other->problem);
    fail(s, CAIRN_IO_FAILED, &error, path);
    return false;
}

static void keep_answer(session *s, const task *job, const cairn_trial *t)
{
    cairn_error error = { 0 };
    if (!s->out || !cairn_trials_impulses(s->trials))
        return;
    cairn_answer_path place = cairn_answer_place(s->out, job->path, t->solver);
    cairn_status status = cairn_answer_write(place.text, s->trials, job->file, &error);
    if (status == CAIRN_OK)
        s->answers++;
    else
        fail(s, status, &error, place.text);
}

static void solve_by(session *s, const task *job, const char *solver)
{
    cairn_solve_options options = options_of(s->arguments);
    cairn_error error = { 0 };
    options.solver = solver;
    cairn_status status = cairn_trials_run(s->trials, job->path, &job->p, &options, job->start);
    if (status != CAIRN_OK) {
        fail(s, status, &error, job->path);
        return;
    }
    const cairn_trial *t = cairn_trials_at(s->trials, cairn_trials_count(s->trials) - 1);
    bool all = s->arguments->solver && strcmp(s->arguments->solver, "all") == 0;
    bool excused = all && t->verdict == CAIRN_VERDICT_NOT_TREATED;
    s->missed |= t->verdict != CAIRN_VERDICT_SOLVED && !excused;
    print_trial(s, t);
    keep_answer(s, job, t);
}

static void solve_problem(session *s, const char *path, const cairn_fclib *file)
{
    const double worth_a_note = 1e-4;
    task job = { path, file, file->problem, start_of(s, file, path) };
    const char *solver;
    if (job.p.dimension == 3)
        job.p.directions = s->arguments->directions; /* in 2D the cones have two edges anyway */
    if (file->condensed && cairn_condensed_asymmetry(file->condensed) > worth_a_note)
        note(path, "M is not symmetric; it is taken as it is stored");
    for (int i = 0; (solver = solver_at(s, i)); i++)
        solve_by(s, &job, solver);
}

static void solve_file(session *s, const char *path)
{
    cairn_fclib *file = NULL;
    cairn_error error = { 0 };
    if (!has_name_of_its_own(s, path))
        return;
    cairn_status status = cairn_fclib_load(path, &file, &error);
    if (status != CAIRN_OK)
        fail(s, status, &error, path);
    else
        solve_problem(s, path, file);
    cairn_fclib_destroy(file);
}

/* Before anything is solved: an answer of an earlier call is not lost by a name used twice. The
 * first that is there is told. */
static void check_answers(session *s, const char *path)
{
    const char *solver;
    for (int i = 0; !s->bad_file && (solver = solver_at(s, i)); i++) {
        cairn_error error = { 0 };
        cairn_answer_path place = cairn_answer_place(s->out, path, solver);
        cairn_status status = cairn_answer_check(place.text, &error);
        if (status != CAIRN_OK)
            fail(s, status, &error, place.text);
    }
}

/* ---- files and folders ---------------------------------------------------------------------- */

static bool is_problem(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".hdf5") == 0;
}

/* The first problem file of a folder, by name, after the one called `last`, which it replaces.
 * Looks through the whole folder each time, so it needs no list. */
static bool next_name(const char *folder, char last[PATH_BYTES])
{
    char best[PATH_BYTES] = "";
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (is_problem(entry->d_name) && strcmp(entry->d_name, last) > 0 &&
            (!best[0] || strcmp(entry->d_name, best) < 0))
            snprintf(best, sizeof best, "%s", entry->d_name);
    if (entries)
        closedir(entries);
    memcpy(last, best, sizeof best);
    return best[0] != '\0';
}

typedef void visit_fn(session *s, const char *path);

/* How many problems the folder has. */
static int visit_folder(session *s, const char *folder, visit_fn *visit)
{
    char name[PATH_BYTES] = "", path[2 * PATH_BYTES];
    int count = 0;
    for (; next_name(folder, name); count++) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        visit(s, path);
    }
    return count;
}

static void visit_all(session *s, const cairn_arguments *arguments, visit_fn *visit)
{
    for (int i = 0; i < arguments->operand_count; i++) {
        const char *path = arguments->operands[i];
        struct stat about;
        if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
            visit(s, path);
        else if (visit_folder(s, path, visit) == 0 && visit == solve_file) {
            cairn_error error = { .message = "the folder has no file *.hdf5" };
            fail(s, CAIRN_NOT_FOUND, &error, path);
        }
    }
}

static void write_files(session *s)
{
    cairn_error error = { 0 };
    cairn_status status = CAIRN_OK;
    const char *csv = s->arguments->csv, *profile = s->arguments->profile;
    if (csv && (status = cairn_trials_write_csv(s->trials, csv, &error)) != CAIRN_OK)
        fail(s, status, &error, csv);
    if (profile && (status = cairn_trials_write_profile(s->trials, profile, &error)) != CAIRN_OK)
        fail(s, status, &error, profile);
}

static void solve_all(session *s, const cairn_arguments *arguments)
{
    if (arguments->thread_count >= 0)
        cairn_trials_set_threads(s->trials, arguments->thread_count);
    cairn_trials_set_repeats(s->trials, arguments->solve.repeats);
    visit_all(s, arguments, solve_file);
    print_totals(s);
    if (s->answers > 0)
        printf("answers: %d in %s\n", s->answers, s->out);
    write_files(s);
}

/* The back end is there, and the solver asked for runs on it; of all of them those do that can. */
static int check_backend(const cairn_solve_arguments *a)
{
    cairn_error error = { 0 };
    const char *solver = a->solver && strcmp(a->solver, "all") != 0 ? a->solver : "auto";
    cairn_status status = cairn_solver_check(solver, a->backend, &error);
    return status == CAIRN_OK ? EXIT_DONE : cairn_error_print(status, &error);
}

static int solve(const cairn_arguments *arguments)
{
    session s = { .arguments = &arguments->solve, .out = arguments->out };
    cairn_error error = { 0 };
    int code = check_backend(s.arguments);
    if (code == EXIT_DONE)
        code = cairn_answers_prepare(arguments);
    if (code != EXIT_DONE)
        return code;
    if (s.out && !arguments->force)
        visit_all(&s, arguments, check_answers);
    if (s.bad_file)
        return s.code;
    cairn_status status = cairn_trials_create(&s.trials);
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    solve_all(&s, arguments);
    cairn_trials_destroy(s.trials);
    return s.bad_file ? s.code : s.missed ? EXIT_UNCERTIFIED : EXIT_DONE;
}

const cairn_command cairn_command_solve = {
    .name = "solve",
    .operand = "FILE...",
    .summary = "Solve contact problems stored as FCLib files, and judge the answers",
    .details =
        "A folder stands for all *.hdf5 in it. The table gives for each solve the relative\n"
        "residual of the law asked for, that of exact Coulomb friction, and the measure of the\n"
        "literature (fclib). polyhedral:K is exact Coulomb friction on cones with K edges.\n"
        "In which norm and units each is measured: docs/notation.md, The residual.\n"
        "With --out each answer becomes an FCLib file with the problem and its solution, which\n"
        "'cairn solve --start solution' and other programs read. The answers are the same bits\n"
        "for any number of threads.\n"
        "Exit codes: 0 all solved, 1 failed, 2 usage, 3 a file is not right, 4 some solve missed\n"
        "its tolerance.",
    .flags = cairn_solve_flags,
    .run = solve,
};
