/* displacement.c - how far bodies are from where they were when the run began. */
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "run/frame.h"

/* By uid, because rows may change. Bodies that inlets add later have larger uids and no place at
 * the start. */
cairn_status cairn_run_remember(const cairn_world *world, cairn_vec3 **places, int *count)
{
    const cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_lattice cell = cairn_world_lattice(world);
    uint64_t uids = 0;
    for (int i = 0; i < bodies.count; i++)
        uids = bodies.uid[i] < uids ? uids : bodies.uid[i] + 1;
    *places = cairn_memory_zeroed((size_t)uids + 1, sizeof **places);
    if (!*places)
        return CAIRN_NO_MEMORY;
    *count = (int)uids;
    for (int i = 0; i < bodies.count; i++)
        (*places)[bodies.uid[i]] = cairn_run_place(&bodies, &cell, i);
    return CAIRN_OK;
}

/* Dynamic bodies that existed at the start; displaced stays -1 if there is none. */
void cairn_run_displacement(const cairn_world *world, const cairn_vec3 *places, int count,
                            cairn_run_summary *summary)
{
    const cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_lattice cell = cairn_world_lattice(world);
    summary->displaced = -1;
    for (int i = bodies.held; i < bodies.count; i++) {
        uint64_t uid = bodies.uid[i];
        if (uid >= (uint64_t)count)
            continue;
        double moved = cairn_norm(cairn_sub(cairn_run_place(&bodies, &cell, i), places[uid]));
        if (summary->displaced < 0 || moved > summary->displacement) {
            summary->displacement = moved;
            summary->displaced = (int64_t)uid;
        }
    }
}
