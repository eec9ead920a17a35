/* answers.c - see answers.h. */
#include "answers.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"

const char *cairn_problem_name(const char *problem, int *length)
{
    const char *slash = strrchr(problem, '/'), *name = slash ? slash + 1 : problem;
    const char *dot = strrchr(name, '.');
    *length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    return name;
}

cairn_answer_path cairn_answer_place(const char *folder, const char *problem, const char *solver)
{
    cairn_answer_path path;
    int length;
    const char *name = cairn_problem_name(problem, &length);
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

int cairn_answers_prepare(const cairn_arguments *arguments)
{
    const char *folder = arguments->out;
    if (!folder)
        return EXIT_DONE;
    int code = cairn_folder_prepare("solve", folder);
    for (int i = 0; code == EXIT_DONE && i < arguments->operand_count; i++)
        if (is_same(arguments->operands[i], folder)) {
            fprintf(stderr,
                    "cairn solve: %.200s: answers do not go among the problems to be solved: name "
                    "another folder\n",
                    folder);
            code = EXIT_FAILED;
        }
    return code;
}

cairn_status cairn_answer_check(const char *path, cairn_error *error)
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return CAIRN_OK;
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message,
             "this answer is there already: --force replaces it, --out names another folder");
    return CAIRN_IO_FAILED;
}

const cairn_trial *cairn_answer_namesake(const cairn_trials *trials, const char *problem)
{
    int length, other_length;
    const char *name = cairn_problem_name(problem, &length);
    const cairn_trial *t;
    for (int i = 0; (t = cairn_trials_at(trials, i)); i++) {
        const char *other = cairn_problem_name(t->problem, &other_length);
        if (length == other_length && strncmp(name, other, (size_t)length) == 0)
            return t;
    }
    return NULL;
}

/* "newton", "ngs, convex law", "pgs, cones with 8 edges": who made it. */
static void describe_maker(const cairn_trial *t, char *text, size_t capacity)
{
    if (t->directions > 0)
        snprintf(text, capacity, "%s, cones with %d edges", t->report.solver, t->directions);
    else
        snprintf(text, capacity, "%s%s", t->report.solver,
                 t->law == CAIRN_LAW_CONVEX ? ", convex law" : "");
}

cairn_status cairn_answer_write(const char *path, const cairn_trials *trials,
                                const cairn_fclib *file, cairn_error *error)
{
    char maker[96];
    describe_maker(cairn_trials_at(trials, cairn_trials_count(trials) - 1), maker, sizeof maker);
    return cairn_fclib_save_answer(path, file, maker, cairn_trials_impulses(trials), error);
}
