/* solve.c - `cairn solve`: solvers on problem files, as a table. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* ---- flags ----------------------------------------------------------------------------------- */

/* Whether the whole text is a positive number. */
static bool is_positive(const char *value, double *out)
{
    size_t length = cairn_number_read(value, out);
    return length > 0 && !value[length] && *out > 0 && isfinite(*out);
}

static const char *take_solver(cairn_arguments *arguments, const char *value)
{
    if (strcmp(value, "all") != 0 && !cairn_solver_summary(value))
        return "unknown solver; 'cairn list solvers' lists them, 'all' runs every one";
    arguments->solve.solver = value;
    return NULL;
}

static const char *take_backend(cairn_arguments *arguments, const char *value)
{
    arguments->solve.backend = value;
    return cairn_is_word(value) ? NULL : "expected a name from 'cairn list backends'";
}

static const char *take_law(cairn_arguments *arguments, const char *value)
{
    cairn_solve_arguments *solve = &arguments->solve;
    solve->convex = strcmp(value, "convex") == 0;
    solve->directions = 0;
    if (solve->convex || strcmp(value, "coulomb") == 0)
        return NULL;
    const char *number = value + strlen("polyhedral:");
    int64_t edges;
    if (strncmp(value, "polyhedral:", strlen("polyhedral:")) != 0)
        return "expected coulomb, convex or polyhedral:K";
    size_t length = cairn_integer_read(number, &edges);
    if (length == 0 || number[length] || edges < 4 || edges > 1024 || edges % 2)
        return "expected polyhedral:K with an even K from 4 to 1024";
    solve->directions = (int)edges;
    return NULL;
}

static const char *take_tolerance(cairn_arguments *arguments, const char *value)
{
    if (!is_positive(value, &arguments->solve.tolerance) || arguments->solve.tolerance > 1)
        return "expected a number > 0 and <= 1";
    return NULL;
}

static const char *take_time_limit(cairn_arguments *arguments, const char *value)
{
    if (!is_positive(value, &arguments->solve.time_limit))
        return "expected a number of seconds > 0";
    return NULL;
}

static const char *take_max_iterations(cairn_arguments *arguments, const char *value)
{
    int64_t count;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 1 || count > 1000000000000)
        return "expected a whole number from 1 to 1e12";
    arguments->solve.max_iterations = count;
    return NULL;
}

static const char *take_repeat(cairn_arguments *arguments, const char *value)
{
    int64_t count;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 0 || count > 1000000)
        return "expected a whole number from 0 to 1e6";
    arguments->solve.repeats = (int)count;
    return NULL;
}

static const char *take_measure(cairn_arguments *arguments, const char *value)
{
    arguments->solve.fclib_measure = strcmp(value, "fclib") == 0;
    if (!arguments->solve.fclib_measure && strcmp(value, "strict") != 0)
        return "expected strict or fclib";
    return NULL;
}

static const char *take_start(cairn_arguments *arguments, const char *value)
{
    static const char *const names[] = { "zero", "guess", "solution" };
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], value) == 0) {
            arguments->solve.start = (cairn_solve_start)i;
            return NULL;
        }
    return "expected zero, guess or solution";
}

static const char *take_csv(cairn_arguments *arguments, const char *value)
{
    arguments->solve.csv = value;
    return value[0] ? NULL : "expected the name of a file";
}

static const char *take_profile(cairn_arguments *arguments, const char *value)
{
    arguments->solve.profile = value;
    return value[0] ? NULL : "expected the name of a file";
}

/* Answers get names of their own, so the name of a file is a mistake; a folder may have any
 * name. */
static const char *take_out(cairn_arguments *arguments, const char *value)
{
    struct stat found;
    size_t length = strlen(value);
    bool named_so = length >= 5 && strcmp(value + length - 5, ".hdf5") == 0;
    arguments->out = value;
    if (!value[0])
        return "expected the name of a folder";
    if (named_so && !(stat(value, &found) == 0 && S_ISDIR(found.st_mode)))
        return "expected the name of a folder: it gets a file PROBLEM-SOLVER.hdf5 for each answer";
    return NULL;
}

static const cairn_flag flag_solver = { "--solver", 0, "NAME", "a solver, or all (default: auto)",
                                        take_solver };
static const cairn_flag flag_backend = { "--backend", 0, "NAME",
                                         "back end to run on (default: host)", take_backend };
static const cairn_flag flag_law = { "--law", 0, "LAW", "coulomb (default), convex or polyhedral:K",
                                     take_law };
static const cairn_flag flag_tolerance = { "--tolerance", 0, "T",
                                           "relative residual to reach (default: 1e-3)",
                                           take_tolerance };
static const cairn_flag flag_measure = { "--measure", 0, "NAME",
                                         "measure of the tolerance: strict (default) or fclib",
                                         take_measure };
static const cairn_flag flag_time_limit = { "--time-limit", 0, "S",
                                            "give up a solve after S seconds", take_time_limit };
static const cairn_flag flag_max_iterations = {
    "--max-iterations", 0, "N", "give up a solve after N iterations (default: 20000)",
    take_max_iterations
};
static const cairn_flag flag_repeat = {
    "--repeat", 0, "N", "solve up to N more times within 1 s, report the shortest time", take_repeat
};
static const cairn_flag flag_start = { "--start", 0, "FROM",
                                       "start from zero (default), guess or solution", take_start };
static const cairn_flag flag_out = { "--out", 'o', "DIR",
                                     "store each answer as DIR/PROBLEM-SOLVER.hdf5", take_out };
static const cairn_flag flag_csv = { "--csv", 0, "FILE", "write all results as CSV", take_csv };
static const cairn_flag flag_profile = { "--profile", 0, "FILE.svg", "draw a performance profile",
                                         take_profile };

static const cairn_flag *const flags[] = {
    &flag_solver,     &flag_backend,        &flag_law,   &flag_tolerance,     &flag_measure,
    &flag_time_limit, &flag_max_iterations, &flag_start, &cairn_flag_threads, &flag_repeat,
    &flag_out,        &cairn_flag_force,    &flag_csv,   &flag_profile,       NULL,
};

/* ---- answers as files: FOLDER/PROBLEM-SOLVER.hdf5, an FCLib file with the solution ----------- */

enum { ANSWER_BYTES = 8192 };

typedef struct answer_path {
    char text[ANSWER_BYTES];
} answer_path;

/* The name of a problem: that of its file without folder and ending, `length` bytes. */
static const char *problem_name(const char *problem, int *length)
{
    const char *slash = strrchr(problem, '/'), *name = slash ? slash + 1 : problem;
    const char *dot = strrchr(name, '.');
    *length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    return name;
}

/* Where the answer of a solver to the problem file `problem` goes. */
static answer_path answer_place(const char *folder, const char *problem, const char *solver)
{
    answer_path path;
    int length;
    const char *name = problem_name(problem, &length);
    snprintf(path.text, sizeof path.text, "%s/%.*s-%s.hdf5", folder, length, name, solver);
    return path;
}

/* Whether an operand is the folder that the answers go to. */
static bool is_same(const char *operand, const char *folder)
{
    struct stat one, other;
    return stat(operand, &one) == 0 && stat(folder, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Make the folder of --out and refuse one that holds problems to be solved: EXIT_DONE, or an exit
 * code after a message. Without --out nothing happens. */
static int prepare_answers(const cairn_arguments *arguments)
{
    const char *folder = arguments->out;
    if (!folder)
        return EXIT_DONE;
    int code = cairn_folder_prepare("solve", folder);
    for (int i = 0; code == EXIT_DONE && i < arguments->operand_count; i++)
        if (is_same(arguments->operands[i], folder)) {
            fprintf(stderr,
                    "cairn solve: %.200s: answers cannot be written among the problems to be "
                    "solved; choose another folder\n",
                    folder);
            code = EXIT_FAILED;
        }
    return code;
}

/* CAIRN_IO_FAILED: that name already exists. */
static cairn_status check_answer(const char *path, cairn_error *error)
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return CAIRN_OK;
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message,
             "this answer is there already: --force replaces it, --out names another folder");
    return CAIRN_IO_FAILED;
}

/* An earlier trial of a problem file of the same name, in another folder or given twice, whose
 * answer would be overwritten; NULL: none. */
static const cairn_trial *find_namesake(const cairn_trials *trials, const char *problem)
{
    int length, other_length;
    const char *name = problem_name(problem, &length);
    const cairn_trial *t;
    for (int i = 0; (t = cairn_trials_at(trials, i)); i++) {
        const char *other = problem_name(t->problem, &other_length);
        if (length == other_length && strncmp(name, other, (size_t)length) == 0)
            return t;
    }
    return NULL;
}

/* "newton", "ngs, convex law", "pgs, cones with 8 edges": the origin of an answer. */
static void describe_maker(const cairn_trial *t, char *text, size_t capacity)
{
    if (t->directions > 0)
        snprintf(text, capacity, "%s, cones with %d edges", t->report.solver, t->directions);
    else
        snprintf(text, capacity, "%s%s", t->report.solver,
                 t->law == CAIRN_LAW_CONVEX ? ", convex law" : "");
}

/* Write the last trial's answer to the problem of a file. */
static cairn_status write_answer(const char *path, const cairn_trials *trials,
                                 const cairn_fclib *file, cairn_error *error)
{
    char maker[96];
    describe_maker(cairn_trials_at(trials, cairn_trials_count(trials) - 1), maker, sizeof maker);
    return cairn_fclib_save_answer(path, file, maker, cairn_trials_impulses(trials), error);
}

/* ---- a call of the command ------------------------------------------------------------------- */

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

/* The name of a problem; only its end if it is long. */
static void print_name(const char *path)
{
    enum { WIDTH = 40 };
    int length;
    const char *name = problem_name(path, &length);
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

/* Solved problems by solver. */
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
    cairn_problem p; /* the file's, with the chosen cones */
    const double *start;
} task;

/* Solver number i of the chosen ones; NULL past the last. */
static const char *solver_at(const session *s, int i)
{
    const char *asked = s->arguments->solver ? s->arguments->solver : "auto";
    if (strcmp(asked, "all") == 0)
        return cairn_solver_name(i);
    return i == 0 ? asked : NULL;
}

/* False after a message if an answer of this call already has the name that the one to this problem
 * would get. */
static bool has_name_of_its_own(session *s, const char *path)
{
    const cairn_trial *other = s->out ? find_namesake(s->trials, path) : NULL;
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
    answer_path place = answer_place(s->out, job->path, t->solver);
    cairn_status status = write_answer(place.text, s->trials, job->file, &error);
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
        job.p.directions = s->arguments->directions; /* in 2D all cones have two edges */
    if (file->condensed && cairn_condensed_asymmetry(file->condensed) > worth_a_note)
        note(path, "M is not symmetric; it is used as stored");
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

/* Before anything is solved: no answer of an earlier call is overwritten. The first that exists is
 * reported. */
static void check_answers(session *s, const char *path)
{
    const char *solver;
    for (int i = 0; !s->bad_file && (solver = solver_at(s, i)); i++) {
        cairn_error error = { 0 };
        answer_path place = answer_place(s->out, path, solver);
        cairn_status status = check_answer(place.text, &error);
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
 * Reads the whole folder each time, so it needs no list. */
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

/* The back end exists, and the chosen solver runs on it; with `all`, those run that can. */
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
        code = prepare_answers(arguments);
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
        "A folder stands for all *.hdf5 files in it. For each solve the table gives the relative\n"
        "residual of the chosen law, that of exact Coulomb friction, and the measure of the\n"
        "literature (fclib). polyhedral:K is exact Coulomb friction on cones with K edges.\n"
        "docs/notation.md, section The residual, defines their norms and units.\n"
        "With --out each answer becomes an FCLib file with the problem and its solution, which\n"
        "'cairn solve --start solution' and other programs read. The answers are identical, bit\n"
        "for bit, for any number of threads.\n"
        "Exit codes: 0 all solved, 1 failure, 2 usage error, 3 invalid file, 4 a solve missed its\n"
        "tolerance.",
    .flags = flags,
    .run = solve,
};
