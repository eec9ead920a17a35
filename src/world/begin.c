/* begin.c - what a step asks once, before all else. */
#include "base/status.h"
#include "world/step.h"

/* All contacts of a problem have the same components: rolling and spinning ones where some material
 * has such friction. */
static void choose_components(cairn_step *step)
{
    const cairn_surface_laws *laws = &step->world->materials.laws;
    int d = step->world->dimension;
    bool frictionless = step->scheme->frictionless;
    step->rolling = laws->rolling && !frictionless ? d - 1 : 0;
    step->spinning = laws->spinning && !frictionless ? 1 : 0;
    step->components = d + step->rolling + step->spinning;
    step->block_size = d == 2 ? 3 : 6;
}

cairn_step cairn_step_begin(cairn_world *world, const cairn_step_options *options,
                            cairn_step_report *report)
{
    cairn_step step = { .world = world,
                        .options = options,
                        .h = options->time_step,
                        .scheme = cairn_scheme_find(options->scheme),
                        .overlaps = cairn_overlaps_find(options->overlaps),
                        .broad = cairn_broad_phase_find(options->broad_phase),
                        .held = world->bodies.held,
                        .blocks = world->bodies.count - world->bodies.held,
                        .report = report };
    step.linearisations = cairn_scheme_linearisations(step.scheme, options->linearisations);
    if (step.linearisations) /* the gap where the step ends is what counts, whatever it was */
        step.overlaps = CAIRN_OVERLAPS_PUSH;
    choose_components(&step);
    cairn_arena_reset(&world->scratch);
    world->contacts.count = 0;
    return step;
}
