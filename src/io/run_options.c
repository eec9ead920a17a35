/* run_options.c - the part of `run:` that says how long to run and what to write. */
#include "base/status.h"
#include "cairn/run.h"
#include "io/scene_build.h"

static const char *on_uncertified_name(int index)
{
    static const char *const names[] = { "warn", "stop" };
    return index >= 0 && index < 2 ? names[index] : NULL;
}

static const char *certificate_name(int index)
{
    static const char *const names[] = { "off", "summary", "full" };
    return index >= 0 && index < 3 ? names[index] : NULL;
}

cairn_run_options cairn_run_options_default(void)
{
    return (cairn_run_options){ .frame_interval = 0.05,
                                .contacts = true,
                                .paraview = true,
                                .picture = true,
                                .certificate = "summary",
                                .start_overlap = 0.05,
                                .on_uncertified = "warn" };
}

static void set_default(void *options)
{
    *(cairn_run_options *)options = cairn_run_options_default();
}

static const cairn_option options[] = {
    { "duration", CAIRN_OPTION_REAL, true, offsetof(cairn_run_options, duration), CAIRN_POSITIVE,
      CAIRN_UNBOUNDED, "s", "simulated time", NULL },
    { "frame_interval", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, frame_interval), 0,
      CAIRN_UNBOUNDED, "s", "simulated time between stored frames; 0: every step", NULL },
    { "contacts", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, contacts), 0, 1, "",
      "store the contacts of each frame", NULL },
    { "paraview", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, paraview), 0, 1, "",
      "write a series of files for ParaView", NULL },
    { "picture", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, picture), 0, 1, "",
      "draw the last state as picture.svg", NULL },
    { "packing", CAIRN_OPTION_FLAG, false, offsetof(cairn_run_options, packing), 0, 1, "",
      "report the packing fraction at the end", NULL },
    { "statistics", CAIRN_OPTION_NAMES, false, offsetof(cairn_run_options, statistics), 0, 0, "",
      "measure these at each frame and write them", cairn_statistic_name },
    { "certificate", CAIRN_OPTION_NAME, false, offsetof(cairn_run_options, certificate), 0, 0, "",
      "what to store of the certificate: nothing, a row a step, or all that cairn-check needs",
      certificate_name },
    { "on_uncertified", CAIRN_OPTION_NAME, false, offsetof(cairn_run_options, on_uncertified), 0, 0,
      "", "what to do when a step misses its tolerance", on_uncertified_name },
    { "save_problem", CAIRN_OPTION_LIST, false, offsetof(cairn_run_options, save_problem), 1, 9e15,
      "", "numbers of the steps whose contact problem is written", NULL },
    { "checkpoint_every", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, checkpoint_every),
      0, CAIRN_UNBOUNDED, "s",
      "simulated time between checkpoints; 0: only one when the run is interrupted", NULL },
    { "start_overlap", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, start_overlap), 0, 1,
      "", "deepest overlap allowed at the start, as a share of the smaller radius", NULL },
    { "rest_speed", CAIRN_OPTION_REAL, false, offsetof(cairn_run_options, rest_speed), 0,
      CAIRN_UNBOUNDED, "m/s", "if > 0: end once the inlets are done and no body is faster", NULL },
};

/* Steps are counted exactly, and the clock moves with each, as long as they are at most 2^53: the
 * spacing of doubles at the end T of a run is at most 2^-52 T, so t + h > t for h >= 2^-53 T. */
cairn_status cairn_run_check_steps(const cairn_scene *scene, cairn_error *error)
{
    const double most = 0x1p53;
    double h = scene->step.time_step, duration = scene->run.duration;
    double end = (scene->world ? cairn_world_time(scene->world) : 0) + duration;
    if (h > duration * (1 + 1e-9)) /* a run has at least one step, and none is shortened */
        return cairn_fail(error, CAIRN_BAD_INPUT, "run.time_step",
                          "found %g s for a duration of %g s, expected at most the duration", h,
                          duration);
    if (duration / h <= most && end + h > end)
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_BAD_INPUT, "run.time_step",
                      "found %g s for a duration of %g s, expected at least %.4g s: a run has at "
                      "most 2^53 (9e15) steps",
                      h, duration, end / most * (1 + 1e-9));
}

const cairn_record *cairn_run_record(void)
{
    static const cairn_record record = {
        "run",   "how long to run and what to write", sizeof(cairn_run_options), set_default,
        options, sizeof options / sizeof options[0],
    };
    return &record;
}
