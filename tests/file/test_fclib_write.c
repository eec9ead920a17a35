/* test_fclib_write.c - what is written comes back bit by bit. */
#include "base/memory.h"
#include "cairn/fclib.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/run_scene.h"

static bool same(const double *a, const double *b, size_t count)
{
    if (!a || !b)
        return a == b;
    return count == 0 || memcmp(a, b, count * sizeof(double)) == 0;
}

static void check_same_matrix(const cairn_matrix *a, const cairn_matrix *b)
{
    CHECK_INT(a->rows, b->rows);
    CHECK_INT(a->columns, b->columns);
    size_t entries = (size_t)a->start[a->rows];
    CHECK(memcmp(a->start, b->start, sizeof(int64_t) * ((size_t)a->rows + 1)) == 0);
    CHECK(entries == 0 || memcmp(a->column, b->column, sizeof(int32_t) * entries) == 0);
    CHECK(same(a->value, b->value, entries));
}

static void check_same_answer(const cairn_fclib_answer *a, const cairn_fclib_answer *b, size_t size,
                              size_t freedoms)
{
    CHECK(same(a->r, b->r, size));
    CHECK(same(a->u, b->u, size));
    CHECK(same(a->v, b->v, freedoms));
    CHECK(memcmp(&a->fclib_error, &b->fclib_error, sizeof(double)) == 0 ||
          (isnan(a->fclib_error) && isnan(b->fclib_error)));
    CHECK_TEXT(a->solver, b->solver);
}

static void check_same(const cairn_fclib *a, const cairn_fclib *b)
{
    size_t size = (size_t)(a->problem.dimension * a->problem.contacts);
    size_t freedoms = a->global ? (size_t)a->global->M.rows : 0;
    CHECK_INT(a->problem.dimension, b->problem.dimension);
    CHECK_INT(a->problem.contacts, b->problem.contacts);
    CHECK((a->global != NULL) == (b->global != NULL));
    check_same_matrix(a->problem.W, b->problem.W);
    CHECK(same(a->problem.q, b->problem.q, size));
    CHECK(same(a->problem.mu, b->problem.mu, (size_t)a->problem.contacts));
    CHECK_INT(a->problem.rolling, b->problem.rolling);
    if (a->problem.rolling)
        CHECK(same(a->problem.mu_rolling, b->problem.mu_rolling, (size_t)a->problem.contacts));
    if (a->global) {
        check_same_matrix(&a->global->M, &b->global->M);
        check_same_matrix(&a->global->H, &b->global->H);
        CHECK(same(a->global->f, b->global->f, freedoms));
        CHECK(same(a->global->w, b->global->w, size));
    }
    CHECK_TEXT(a->title, b->title);
    CHECK_TEXT(a->description, b->description);
    CHECK_TEXT(a->math_info, b->math_info);
    CHECK((a->solution != NULL) == (b->solution != NULL));
    if (a->solution)
        check_same_answer(a->solution, b->solution, size, freedoms);
    CHECK_INT(a->guess_count, b->guess_count);
    for (int i = 0; i < a->guess_count; i++)
        check_same_answer(&a->guesses[i], &b->guesses[i], size, freedoms);
}

static void check_round_trip(const char *from)
{
    folder f = folder_create();
    path p = path_in(&f, "copy.hdf5");
    cairn_fclib *first, *second;
    CHECK_OK(cairn_fclib_load(from, &first, NULL));
    CHECK_OK(cairn_fclib_save(p.text, first, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &second, NULL));
    check_same(first, second);
    CHECK(!file_exists(&f, "copy.hdf5.part"));
    cairn_fclib_destroy(first);
    cairn_fclib_destroy(second);
    folder_remove(f.path);
}

TEST(files_of_other_laboratories_come_back_bit_by_bit)
{
    static file_list files;
    const char *const folders[] = { "local2d",  "local3d",         "global2d",
                                    "global3d", "rolling_local3d", "rolling_global3d" };
    for (int i = 0; i < 6; i++)
        list_files(&files, folders[i]);
    for (int i = 0; i < files.count; i++)
        check_round_trip(files.path[i]);
    if (files.count == 0)
        print_message("skipped: there is no folder %s\n", FCLIB_FOLDER);
}

TEST(a_local_problem_with_solution_and_guesses_comes_back)
{
    const int64_t start[] = { 0, 2, 3 };
    const int32_t column[] = { 0, 1, 1 };
    const double W[] = { 2, 1e-300, 1.0 / 3 }, q[] = { -1, 0.1 }, mu[] = { 0.7 };
    const double r[] = { 0.5, -0.25 }, u[] = { 0, 0.1 };
    cairn_matrix matrix = { 2, 2, start, column, W };
    const cairn_fclib_answer solution = {
        .r = r, .u = u, .fclib_error = 1e-7, .solver = "by hand"
    };
    const cairn_fclib_answer guesses[2] = { { .r = u, .fclib_error = NAN, .solver = "" },
                                            { .r = r, .u = r, .fclib_error = NAN, .solver = "" } };
    const cairn_fclib face = {
        .problem = { .dimension = 2, .contacts = 1, .W = &matrix, .q = q, .mu = mu },
        .title = "two numbers",
        .description = "with \xc3\xa9 in it",
        .math_info = "",
        .solution = &solution,
        .guesses = guesses,
        .guess_count = 2
    };
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    cairn_fclib *back;
    CHECK_OK(cairn_fclib_save(p.text, &face, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &back, NULL));
    check_same(&face, back);
    cairn_fclib_destroy(back);
    folder_remove(f.path);
}

/* ---- problems of worlds --------------------------------------------------------------------- */

/* The file must mean the same: u(r) with the bias, for random r. */
static void check_same_velocities(const cairn_problem *p, const cairn_fclib *file)
{
    double r[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
    double u_file[MOST_CONTACTS * 3], v_file[MOST_BLOCKS * 6];
    uint64_t state = 4;
    int d = p->dimension;
    for (int i = 0; i < d * p->contacts; i++)
        r[i] = cairn_random_normal(&state);
    cairn_problem_apply(p, r, v, u);
    cairn_problem_apply(&file->problem, r, NULL, u_file);
    CHECK_OK(cairn_condensed_velocity(file->condensed, r, v_file));
    for (int i = 0; i < d * p->contacts; i++)
        CHECK_NEAR(u_file[i], u[i] + (i % d == 0 ? p->b[i / d] : 0), 1e-12);
    for (int i = 0; i < p->blocks * p->block_size; i++)
        CHECK_NEAR(v_file[i], v[i], 1e-12);
}

TEST(the_block_form_becomes_a_global_file_of_the_same_meaning)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        folder f = folder_create();
        path p = path_in(&f, "a.hdf5");
        random_problem random;
        cairn_fclib *file;
        make_random_problem(&random, dimension, 20, 15, 9);
        CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, "random", NULL, NULL, NULL));
        CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
        CHECK_INT(file->global->M.rows, random.p.blocks * random.p.block_size);
        CHECK(file->solution == NULL);
        CHECK_TEXT(file->title, "random");
        check_same_velocities(&random.p, file);
        cairn_fclib_destroy(file);
        folder_remove(f.path);
    }
}

TEST(degrees_of_freedom_that_nothing_moves_keep_their_velocity)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem random;
    cairn_fclib *file;
    make_random_problem(&random, 3, 6, 5, 2);
    for (int i = 0; i < 36; i += 5)
        random.mass_inverse[i] = 0;
    CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    check_same_velocities(&random.p, file);
    cairn_fclib_destroy(file);
    folder_remove(f.path);
}

TEST(the_solution_is_stored_with_the_judges_word)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem random;
    cairn_fclib *file;
    cairn_judgement judgement;
    double r[MOST_CONTACTS * 3] = { 0 }, v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
    make_random_problem(&random, 3, 8, 6, 3);
    for (int j = 0; j < 6; j++)
        r[3 * j] = 0.1 * j;
    cairn_judge(&random.p, CAIRN_LAW_COULOMB, r, v, u, &judgement);
    CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, NULL, "by hand", r, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    CHECK(same(file->solution->r, r, 18));
    CHECK(same(file->solution->v, v, 48));
    CHECK(file->solution->u[3] == u[3] + random.b[1]);
    CHECK(file->solution->fclib_error == judgement.coulomb.fclib);
    CHECK_TEXT(file->solution->solver, "by hand");
    double fclib = judgement.coulomb.fclib;
    cairn_judge(&file->problem, CAIRN_LAW_COULOMB, r, NULL, u, &judgement);
    CHECK_CLOSE(judgement.coulomb.fclib, fclib, 1e-12);
    cairn_fclib_destroy(file);
    folder_remove(f.path);
}

/* A ball of 2 kg that comes down at 3 m/s: 6 N s stop it, and it has no velocity then. */
TEST(the_answer_to_a_file_has_its_velocities)
{
    folder f = folder_create();
    path problem = path_in(&f, "problem.hdf5"), stored = path_in(&f, "stored.hdf5");
    const double inverse[] = { 0.5, 0.5, 5 }, v_free[] = { 0, -3, 0 }, mu[] = { 0.3 };
    const double H[6 * 2] = { 0, 1, 0, 1, 0, 0.1 }, r[] = { 6, 0 };
    const int32_t block[] = { 0, -1 };
    cairn_problem p = { .dimension = 2,
                        .contacts = 1,
                        .blocks = 1,
                        .block_size = 3,
                        .mass_inverse = inverse,
                        .v_free = v_free,
                        .block = block,
                        .H = H,
                        .mu = mu };
    cairn_fclib *first, *second;
    CHECK_OK(cairn_fclib_save_problem(problem.text, &p, "a ball", NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(problem.text, &first, NULL));
    CHECK(first->solution == NULL);
    CHECK_OK(cairn_fclib_save_answer(stored.text, first, "by hand", r, NULL));
    CHECK_OK(cairn_fclib_load(stored.text, &second, NULL));
    const cairn_fclib_answer *solution = second->solution;
    CHECK(solution != NULL);
    CHECK(same(solution->r, r, 2));
    CHECK_TEXT(solution->solver, "by hand");
    CHECK_NEAR(solution->fclib_error, 0, 1e-15);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(solution->v[i], 0, 1e-15);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(solution->u[i], 0, 1e-15);
    first->solution = solution; /* all else is as it was */
    check_same(first, second);
    CHECK_INT(cairn_fclib_save_answer("/nowhere/a.hdf5", first, NULL, r, NULL), CAIRN_IO_FAILED);
    cairn_fclib_destroy(first);
    cairn_fclib_destroy(second);
    folder_remove(f.path);
}

TEST(a_contact_between_nothing_and_an_empty_problem_are_written)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem random;
    cairn_fclib *file;
    make_random_problem(&random, 3, 2, 2, 6);
    random.block[2] = random.block[3] = -1;
    CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    check_same_velocities(&random.p, file);
    cairn_fclib_destroy(file);
    random.p.contacts = 0;
    CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    CHECK_INT(file->problem.contacts, 0);
    cairn_fclib_destroy(file);
    folder_remove(f.path);
}

/* ---- failures ------------------------------------------------------------------------------- */

TEST(what_has_no_place_in_a_file_is_refused)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem random;
    cairn_error error = { 0 };
    make_random_problem(&random, 3, 4, 3, 1);
    random.p.s = random.mu;
    CHECK_INT(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, &error),
              CAIRN_UNSUPPORTED);
    CHECK_TEXT(error.key, "s");
    random.p.s = NULL;
    const uint8_t bounded[3] = { 0, 1, 0 };
    random.p.bounded = bounded;
    CHECK_INT(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, &error),
              CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "contact 1 has rows with bounds");
    random.p.bounded = NULL;
    random.v_free[0] = NAN;
    CHECK_INT(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, &error),
              CAIRN_NOT_FINITE);
    cairn_fclib face = { .problem = random.p };
    CHECK_INT(cairn_fclib_save(p.text, &face, &error), CAIRN_BAD_INPUT);
    CHECK(!file_exists(&f, "a.hdf5") && !file_exists(&f, "a.hdf5.part"));
    folder_remove(f.path);
}

TEST(a_folder_that_is_not_there_is_an_error_with_its_name)
{
    random_problem random;
    cairn_error error = { 0 };
    make_random_problem(&random, 3, 4, 3, 1);
    CHECK_INT(cairn_fclib_save_problem("/nowhere/at/all.hdf5", &random.p, NULL, NULL, NULL, &error),
              CAIRN_IO_FAILED);
    CHECK_TEXT(error.file, "/nowhere/at/all.hdf5");
}

TEST(a_link_stays_and_its_target_is_written)
{
    folder f = folder_create();
    path p = path_in(&f, "link.hdf5");
    struct stat about;
    random_problem random;
    make_random_problem(&random, 3, 4, 3, 1);
    CHECK_INT(symlink("target.hdf5", p.text), 0);
    CHECK_OK(cairn_fclib_save_problem(p.text, &random.p, NULL, NULL, NULL, NULL));
    CHECK_INT(lstat(p.text, &about), 0);
    CHECK(S_ISLNK(about.st_mode));
    CHECK(file_exists(&f, "target.hdf5") && !file_exists(&f, "link.hdf5.part"));
    folder_remove(f.path);
}

TEST(a_full_disk_leaves_the_old_file)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem small, large;
    cairn_fclib *file;
    make_random_problem(&small, 3, 2, 1, 1);
    make_random_problem(&large, 3, 60, 60, 1);
    CHECK_OK(cairn_fclib_save_problem(p.text, &small.p, NULL, NULL, NULL, NULL));
    disk_limit(6000);
    CHECK_INT(cairn_fclib_save_problem(p.text, &large.p, NULL, NULL, NULL, NULL), CAIRN_IO_FAILED);
    disk_limit(RLIM_INFINITY);
    CHECK(!file_exists(&f, "a.hdf5.part"));
    CHECK_OK(cairn_fclib_load(p.text, &file, NULL));
    CHECK_INT(file->problem.contacts, 1);
    cairn_fclib_destroy(file);
    folder_remove(f.path);
}

/* Writes the problem with a solution, reads it, and writes it again with that as its answer. */
static cairn_status save_and_answer(const char *name, const cairn_problem *p, const double *r)
{
    cairn_fclib *file = NULL;
    cairn_status status = cairn_fclib_save_problem(name, p, NULL, NULL, r, NULL);
    if (status == CAIRN_OK)
        status = cairn_fclib_load(name, &file, NULL);
    if (status == CAIRN_OK)
        status = cairn_fclib_save_answer(name, file, NULL, file->solution->r, NULL);
    cairn_fclib_destroy(file);
    return status;
}

TEST(no_memory_at_any_place_is_reported_and_nothing_leaks)
{
    folder f = folder_create();
    path p = path_in(&f, "a.hdf5");
    random_problem random;
    double r[18] = { 0 };
    int failures = 0;
    make_random_problem(&random, 3, 8, 6, 3);
    bool reached = true; /* the allocation that fails */
    for (long n = 1; reached && n < 200; n++) {
        meter m = { .fail_at = n };
        meter_install(&m);
        cairn_status status = save_and_answer(p.text, &random.p, r);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        reached = m.calls >= n;
        CHECK_INT(status, reached ? CAIRN_NO_MEMORY : CAIRN_OK);
        CHECK(!file_exists(&f, "a.hdf5.part"));
        failures += status != CAIRN_OK;
    }
    CHECK(failures >= 2 && failures < 199);
    folder_remove(f.path);
}

/* Contacts of balls are written out: a file has rows. */
TEST(contacts_of_balls_are_saved_with_rows)
{
    folder f = folder_create();
    path p = path_in(&f, "balls.hdf5");
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_fclib *stored, *compact;
    CHECK(make_lattice_problem(2, 0.3, &arena, &l));
    cairn_problem both = lattice_of_both(&l);
    CHECK_OK(cairn_fclib_save_problem(p.text, &l.p, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &stored, NULL));
    CHECK_OK(cairn_fclib_save_problem(p.text, &both, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_fclib_load(p.text, &compact, NULL));
    CHECK_INT(compact->problem.W->rows, 3 * l.p.contacts);
    for (int i = 0; i < 3 * l.p.contacts; i++) {
        double r[72] = { 0 }, u[2][72];
        r[i] = 1;
        cairn_problem_apply(&stored->problem, r, NULL, u[0]);
        cairn_problem_apply(&compact->problem, r, NULL, u[1]);
        for (int k = 0; k < 3 * l.p.contacts; k++)
            CHECK_NEAR(u[1][k], u[0][k], 1e-13);
    }
    cairn_fclib_destroy(stored);
    cairn_fclib_destroy(compact);
    cairn_arena_destroy(&arena);
    folder_remove(f.path);
}

GROUP(test_fclib_write)
{
    RUN(CASE(files_of_other_laboratories_come_back_bit_by_bit),
        CASE(a_local_problem_with_solution_and_guesses_comes_back),
        CASE(the_block_form_becomes_a_global_file_of_the_same_meaning),
        CASE(degrees_of_freedom_that_nothing_moves_keep_their_velocity),
        CASE(the_solution_is_stored_with_the_judges_word),
        CASE(the_answer_to_a_file_has_its_velocities),
        CASE(a_contact_between_nothing_and_an_empty_problem_are_written),
        CASE(what_has_no_place_in_a_file_is_refused),
        CASE(a_folder_that_is_not_there_is_an_error_with_its_name),
        CASE(no_memory_at_any_place_is_reported_and_nothing_leaks),
        CASE(a_link_stays_and_its_target_is_written), CASE(a_full_disk_leaves_the_old_file),
        CASE(contacts_of_balls_are_saved_with_rows));
}
