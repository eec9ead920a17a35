/* test_together.c - runs by several members, which are threads here: the files are those of one
 * process, whoever begins a run and whoever goes on with it. tests/mpi does the same with MPI. */
#include "cairn/run.h"
#include "tests/problems/members.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

static const char *const scene_balls =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
    "series:\n"
    "  - {name: floor, bodies: floor}\n"
    "  - {name: half, low: [0, -9, -9], high: [9, 9, 9], interval: 0.03}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 5], spacing: [0.2, 0.2, 0.2], origin: [-0.3, -0.3, 0.1], radius: "
    "0.09,\n"
    "           jitter: 0.005, seed: 3}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      certificate: full, checkpoint_every: 0.05, statistics: [centre], rest_speed: 1e-6}\n";

/* Gravity and friction that vary, and bodies that come in, written of every step without the
 * state. */
static const char *const scene_varied =
    "cairn: 1\n"
    "gravity: [0, {harmonic: {amplitude: 2, frequency: 3}}, -9.81]\n"
    "materials: {stone: {friction: {ramp: {from: 0.6, to: 0.2, stop: 0.2}}}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 2], spacing: [0.2, 0.2, 0.2], origin: [-0.3, -0.3, 0.1], radius: "
    "0.09}\n"
    "  - pour: {count: 30, rate: 150, centre: [0, 0, 1], size: [0.8, 0.8, 0.2], radius: 0.08}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      statistics: [flow]}\n";

/* What one member does, and how it ended. The first one runs; `resumes`: from a checkpoint. */
typedef struct job {
    member m;
    const char *folder, *override;
    const char *scene; /* NULL: scene_balls */
    bool resumes;
    int steps; /* that it is stopped after; 0: never */
    cairn_run_summary summary;
    cairn_status status;
    cairn_error error;
} job;

static job jobs[MOST_MEMBERS];
static post_office office;

static bool stop_after(const cairn_progress *progress, void *context)
{
    const job *j = context;
    return j->steps == 0 || progress->step < j->steps;
}

static void lead(job *j, cairn_link *link)
{
    cairn_scene *scene = NULL;
    if (j->resumes) {
        cairn_resume_options options = { .progress = stop_after, .context = j, .link = link };
        j->status = cairn_run_resume(j->folder, &options, &scene, &j->summary, &j->error);
    } else {
        scene = scene_text_good(j->scene ? j->scene : scene_balls, j->override);
        scene->link = link;
        j->status = cairn_run(scene, j->folder, stop_after, j, &j->summary, &j->error);
    }
    cairn_scene_destroy(scene);
}

static void *take_part(void *context)
{
    job *j = context;
    if (j->m.link.member == 0)
        lead(j, j->m.link.members > 1 ? &j->m.link : NULL);
    else
        j->status = cairn_ranks_serve(&j->m.link, &j->error);
    post_leave(&j->m);
    free(j->m.read);
    return NULL;
}

/* All members, with what the first one is to do. */
static void run_members(int members, job first)
{
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = k == 0 ? first : (job){ .status = CAIRN_OK };
        join_office(&office, k, members, &jobs[k].m);
    }
    run_together(members, take_part, jobs, sizeof *jobs);
    close_office(&office);
}

static void check_ok(int members)
{
    for (int k = 0; k < members; k++)
        if (jobs[k].status != CAIRN_OK)
            fail_msg("member %d: %s", k, jobs[k].error.message);
}

TEST(a_run_by_several_members_has_the_files_of_one_process)
{
    folder alone = folder_create();
    run_members(1, (job){ .folder = alone.path });
    check_ok(1);
    uint64_t hash = jobs[0].summary.hash;
    for (int members = 2; members <= 5; members++) {
        folder f = folder_create();
        run_members(members, (job){ .folder = f.path });
        check_ok(members);
        CHECK(jobs[0].summary.hash == hash);
        CHECK_INT(jobs[0].summary.ranks.ranks, members);
        CHECK_INT(jobs[0].summary.ranks.members, members < 4 ? members : 4); /* there are 4 parts */
        CHECK(jobs[0].summary.ranks.messages > 0);
        CHECK(jobs[0].summary.ranks.most_compute >= jobs[0].summary.ranks.compute);
        CHECK(check_same_h5(&alone, &f) > 80);
        CHECK_INT(check_same_files(&alone, &f, "statistics"), 1);
        CHECK_INT(check_same_files(&alone, &f, "series"), 2);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

TEST(what_varies_and_what_comes_in_is_written_as_by_one_process)
{
    folder alone = folder_create(), f = folder_create();
    run_members(1, (job){ .folder = alone.path, .scene = scene_varied });
    check_ok(1);
    CHECK(jobs[0].summary.bodies > 40);
    run_members(3, (job){ .folder = f.path, .scene = scene_varied });
    check_ok(3);
    CHECK(check_same_h5(&alone, &f) > 60);
    CHECK_INT(check_same_files(&alone, &f, "statistics"), 1);
    folder_remove(f.path);
    folder_remove(alone.path);
}

TEST(a_run_goes_on_with_another_number_of_members)
{
    static const int before[] = { 2, 3, 1 }, after[] = { 3, 1, 2 };
    folder alone = folder_create();
    run_members(1, (job){ .folder = alone.path });
    for (int k = 0; k < 3; k++) {
        folder f = folder_create();
        run_members(before[k], (job){ .folder = f.path, .steps = 12 });
        check_ok(before[k]);
        CHECK(jobs[0].summary.interrupted);
        run_members(after[k], (job){ .folder = f.path, .resumes = true });
        check_ok(after[k]);
        CHECK_INT(jobs[0].summary.steps, 20);
        CHECK(check_same_h5(&alone, &f) > 80);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

/* Without run.parts their number follows from the bodies: 80 are too few to be divided. */
TEST(the_default_number_of_parts_does_not_depend_on_members)
{
    for (int members = 2; members <= 3; members++) {
        run_members(members, (job){ .override = "run.parts=0" });
        check_ok(members);
        CHECK_INT(jobs[0].summary.ranks.parts, 1);
        CHECK_INT(jobs[0].summary.ranks.members, 1);
    }
}

/* The others end too, and nothing is written. */
TEST(what_the_first_member_cannot_begin_ends_all)
{
    static const struct {
        const char *override, *message;
    } wrong[] = { { "run.solver=newton", "solvers that factorise" },
                  { "run.save_problem=[3]", "several ranks" } };
    for (int k = 0; k < 2; k++) {
        folder f = folder_create();
        path inside = path_in(&f, "run");
        run_members(3, (job){ .folder = inside.text, .override = wrong[k].override });
        CHECK_INT(jobs[0].status, CAIRN_UNSUPPORTED);
        CHECK_CONTAINS(jobs[0].error.message, wrong[k].message);
        CHECK_INT(jobs[1].status, CAIRN_OK);
        CHECK_INT(jobs[2].status, CAIRN_OK);
        CHECK(!file_exists(&f, "run"));
        folder_remove(f.path);
    }
}

GROUP(test_together)
{
    RUN(CASE(a_run_by_several_members_has_the_files_of_one_process),
        CASE(what_varies_and_what_comes_in_is_written_as_by_one_process),
        CASE(a_run_goes_on_with_another_number_of_members),
        CASE(the_default_number_of_parts_does_not_depend_on_members),
        CASE(what_the_first_member_cannot_begin_ends_all));
}
