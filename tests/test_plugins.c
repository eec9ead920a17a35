/* test_plugins.c - back ends by name: what is refused and how that is told, and a back end from a
 * shared object (tests/plugins). */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/backend.h"
#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"
#include "random_problem.h"

/* The folder of the test's shared objects, or one in it. */
static void look_in(const char *folder)
{
    char path[1024];
    const char *plugins = getenv("CAIRN_PLUGINS");
    CHECK(plugins != NULL);
    snprintf(path, sizeof path, "%s%s", plugins, folder);
    CHECK_INT(setenv("CAIRN_BACKENDS", path, 1), 0);
}

static void check_refused(const char *name, cairn_status status, const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_backend_check(name, &error), status);
    CHECK_TEXT(error.key, "backend");
    CHECK_CONTAINS(error.message, piece);
}

TEST(the_default_is_the_first_of_the_library)
{
    CHECK_TEXT(cairn_backend_name(0), "host");
    CHECK_TEXT(cairn_backend_name(1), "scalar");
    CHECK(cairn_backend_name(2) == NULL && cairn_backend_name(-1) == NULL);
    CHECK(cairn_backend_summary("host") && !cairn_backend_summary("nothing"));
    CHECK_TEXT(cairn_solve_options_default().backend, "host");
    CHECK_OK(cairn_backend_check(NULL, NULL));
}

TEST(a_name_that_is_nearly_right_gets_a_suggestion)
{
    check_refused("hots", CAIRN_BAD_INPUT, "unknown back end 'hots'; did you mean 'host'?");
    check_refused("scaler", CAIRN_BAD_INPUT, "did you mean 'scalar'?");
}

TEST(a_name_without_a_file_tells_the_file)
{
    look_in("");
    check_refused("quantum", CAIRN_BAD_INPUT, "expected one of host, scalar, or a shared object");
    check_refused("quantum", CAIRN_BAD_INPUT, "/plugins/libcairn_backend_quantum.so");
}

/* /refused holds libcairn_backend_old.so: no name leads to it from the folder above */
TEST(names_do_not_lead_out_of_the_folder)
{
    static const char *const names[] = { "../x",      "refused/libcairn_backend_old",
                                         "x/../../y", "",
                                         "a.b",       "a b",
                                         "a\nb",      "a_name_of_more_than_thirty_one_letters" };
    look_in("");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_refused(names[i], CAIRN_BAD_INPUT, "or a name of letters, digits, - and _");
}

TEST(another_version_is_refused)
{
    look_in("/refused");
    check_refused("old", CAIRN_UNSUPPORTED, "libcairn_backend_old.so is of version 2 of the");
    check_refused("old", CAIRN_UNSUPPORTED, "expected 1");
}

TEST(an_object_without_the_symbol_is_refused)
{
    look_in("/refused");
    check_refused("mute", CAIRN_UNSUPPORTED, "it does not show cairn_backend_table");
}

TEST(an_object_of_another_name_is_refused)
{
    look_in("/refused");
    check_refused("misnamed", CAIRN_UNSUPPORTED, "calls itself 'host', expected 'misnamed'");
}

TEST(a_file_that_is_no_shared_object_is_refused)
{
    char folder[] = "/tmp/cairn_backends_XXXXXX", path[256];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libcairn_backend_text.so", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs("not a shared object\n", file);
    fclose(file);
    setenv("CAIRN_BACKENDS", folder, 1);
    check_refused("text", CAIRN_IO_FAILED, "cannot load");
    check_refused("text", CAIRN_IO_FAILED, "libcairn_backend_text.so");
    unlink(path);
    rmdir(folder);
}

/* misnamed, mute, old: by the alphabet, and nothing else of the folder */
TEST(shared_objects_are_listed_by_name)
{
    char name[CAIRN_BACKEND_NAME];
    look_in("/refused");
    static const char *const names[] = { "misnamed", "mute", "old" };
    for (int i = 0; i < 3; i++) {
        CHECK(cairn_backend_plugin(i, name));
        CHECK_TEXT(name, names[i]);
    }
    CHECK(!cairn_backend_plugin(3, name) && !cairn_backend_plugin(-1, name));
    setenv("CAIRN_BACKENDS", "/nowhere/at/all", 1);
    CHECK(!cairn_backend_plugin(0, name));
    CHECK_TEXT(cairn_backend_folder(), "/nowhere/at/all");
}

/* ---- solving -------------------------------------------------------------------------------- */

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double r[45], v[108], u[45];
} answer;

static answer solve(const cairn_problem *p, const char *solver, const char *backend,
                    cairn_workspace *workspace)
{
    answer a = { .status = CAIRN_OK };
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.backend = backend;
    options.tolerance = 1e-10;
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    return a;
}

/* Numbers times -2 are exact: solvers see the bits of the scalar back end. */
TEST(a_plugin_gives_the_bits_of_what_it_wraps)
{
    static const char *const solvers[] = { "auto", "ngs", "pgs", "apgd-asr", "apgd-d", "spg" };
    random_problem random;
    cairn_workspace *workspace;
    look_in("");
    make_random_problem(&random, 3, 18, 15, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; i < 6; i++) { /* back ends take turns in one workspace */
        answer a = solve(&random.p, solvers[i], "reversed", workspace);
        answer b = solve(&random.p, solvers[i], "scalar", workspace);
        answer c = solve(&random.p, solvers[i], NULL, workspace);
        CHECK(a.status == CAIRN_OK && b.status == CAIRN_OK && c.status == CAIRN_OK);
        CHECK(a.report.converged && b.report.converged && c.report.converged);
        CHECK_INT(a.report.iterations, b.report.iterations);
        CHECK(memcmp(a.r, b.r, sizeof a.r) == 0 && memcmp(a.u, b.u, sizeof a.u) == 0);
        CHECK(memcmp(a.v, b.v, sizeof a.v) == 0);
        for (int k = 0; k < 45; k++)
            CHECK_NEAR(c.u[k], b.u[k], 1e-8);
    }
    cairn_workspace_destroy(workspace);
}

TEST(solvers_that_factorise_are_refused_elsewhere)
{
    static const char *const solvers[] = { "newton", "ipm", "admm" };
    random_problem random;
    cairn_workspace *workspace;
    cairn_error error = { 0 };
    make_random_problem(&random, 3, 18, 15, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; i < 3; i++) {
        answer a = solve(&random.p, solvers[i], "scalar", workspace);
        CHECK_INT(a.status, CAIRN_UNSUPPORTED);
        CHECK_CONTAINS(a.report.remark, "runs on the back end host only; on scalar run auto, ngs");
        CHECK(!cairn_solver_runs_elsewhere(solvers[i]));
        CHECK_INT(cairn_solver_check(solvers[i], "scalar", &error), CAIRN_UNSUPPORTED);
        CHECK_TEXT(error.key, "solver");
        CHECK_OK(cairn_solver_check(solvers[i], "host", NULL));
    }
    random.p.directions = 6; /* auto has lemke alone for this */
    cairn_solve_options options = cairn_solve_options_default();
    options.backend = "scalar";
    options.law = CAIRN_LAW_COULOMB;
    answer a = { .status = CAIRN_OK };
    a.status = cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report);
    CHECK_INT(a.status, CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(a.report.remark, "auto treats this problem on the back end host only");
    cairn_workspace_destroy(workspace);
}

TEST(a_back_end_that_is_not_there_is_told_by_the_report)
{
    random_problem random;
    cairn_workspace *workspace;
    make_random_problem(&random, 2, 12, 10, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    answer a = solve(&random.p, "ngs", "scaler", workspace);
    CHECK_INT(a.status, CAIRN_BAD_INPUT);
    CHECK_CONTAINS(a.report.remark, "did you mean 'scalar'?");
    CHECK_OK(solve(&random.p, "ngs", "scalar", workspace).status);
    cairn_workspace_destroy(workspace);
}

/* Every allocation fails once: the call says so, and the plug-in's own memory is given back, which
 * the sanitizers see. */
TEST(without_memory_other_back_ends_end_cleanly)
{
    static const char *const names[] = { "scalar", "reversed" };
    random_problem random;
    look_in("");
    make_random_problem(&random, 3, 18, 15, 3);
    for (int k = 0; k < 2; k++) {
        bool done = false;
        for (long n = 1; !done; n++) {
            meter m = { .fail_at = n };
            cairn_workspace *workspace;
            meter_install(&m);
            cairn_status status = cairn_workspace_create(&workspace);
            if (status == CAIRN_OK)
                status = solve(&random.p, "apgd-d", names[k], workspace).status;
            cairn_workspace_destroy(workspace);
            cairn_allocator_set(NULL);
            done = m.calls < n;
            CHECK_INT(status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
            CHECK_INT(m.alive, 0);
        }
    }
}

/* No contact, and one between things that cannot move: what every solver owes. */
TEST(problems_with_nothing_to_do_are_done_on_every_back_end)
{
    static const char *const names[] = { "host", "scalar", "reversed" };
    random_problem random;
    cairn_workspace *workspace;
    look_in("");
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int k = 0; k < 3; k++)
        for (int i = 0; cairn_solver_name(i); i++) {
            if (!cairn_solver_runs_elsewhere(cairn_solver_name(i)))
                continue;
            make_random_problem(&random, 3, 12, 10, 31);
            random.block[0] = random.block[1] = -1;
            random.w[0] = 100;
            answer a = solve(&random.p, cairn_solver_name(i), names[k], workspace);
            CHECK(a.status == CAIRN_OK && a.report.converged);
            random.p.contacts = 0;
            a = solve(&random.p, cairn_solver_name(i), names[k], workspace);
            CHECK(a.status == CAIRN_OK && a.report.converged);
        }
    cairn_workspace_destroy(workspace);
}

int main(void)
{
    RUN(CASE(the_default_is_the_first_of_the_library),
        CASE(a_name_that_is_nearly_right_gets_a_suggestion),
        CASE(a_name_without_a_file_tells_the_file), CASE(names_do_not_lead_out_of_the_folder),
        CASE(another_version_is_refused), CASE(an_object_without_the_symbol_is_refused),
        CASE(an_object_of_another_name_is_refused),
        CASE(a_file_that_is_no_shared_object_is_refused), CASE(shared_objects_are_listed_by_name),
        CASE(a_plugin_gives_the_bits_of_what_it_wraps),
        CASE(solvers_that_factorise_are_refused_elsewhere),
        CASE(a_back_end_that_is_not_there_is_told_by_the_report),
        CASE(without_memory_other_back_ends_end_cleanly),
        CASE(problems_with_nothing_to_do_are_done_on_every_back_end));
}
