/* visits.c - the order in which sweeps that take one contact after the other visit those of a
 * problem that is cut into parts.
 *
 * Round k visits the contacts between parts i and i ^ k; round 0 those within a part, and those
 * with walls. In a round each part meets at most one other one, so the contacts of different pairs
 * share no block and their order does not matter: each pair may be visited by other members.
 * Contacts between two members are visited by both, with the same numbers. Before a round the two
 * exchange the velocities of the blocks at their border. */
#include <string.h>

#include "base/status.h"
#include "problem/cut.h"

/* The parts of the two blocks of a contact; with a wall, twice that of the other block. */
static void find_parts(const cairn_problem *p, int j, int out[2])
{
    const int32_t *block = p->block + 2 * (size_t)j;
    int32_t a = block[0] < 0 ? block[1] : block[0], b = block[1] < 0 ? block[0] : block[1];
    out[0] = a < 0 ? 0 : p->cut->part[a];
    out[1] = b < 0 ? 0 : p->cut->part[b];
}

static int round_of(const cairn_problem *p, int j)
{
    int part[2];
    find_parts(p, j, part);
    return part[0] ^ part[1];
}

/* The lower of its two parts counts a contact. */
int cairn_contact_part(const cairn_problem *p, int j)
{
    int part[2];
    find_parts(p, j, part);
    return part[0] < part[1] ? part[0] : part[1];
}

/* A counting sort of the contacts by rounds, in which they keep their order. Without a cut there is
 * one round, of all contacts. */
cairn_status cairn_visits_find(const cairn_problem *p, cairn_arena *arena, cairn_visits *out)
{
    *out = (cairn_visits){ .p = p, .rounds = 1 };
    if (!p->cut)
        return CAIRN_OK;
    while (out->rounds < p->cut->contacts.parts)
        out->rounds *= 2;
    out->end = cairn_arena_take(arena, (size_t)out->rounds + 1, sizeof *out->end);
    out->contact = cairn_arena_take(arena, (size_t)p->contacts, sizeof *out->contact);
    if (!out->end || !out->contact)
        return CAIRN_NO_MEMORY;
    memset(out->end, 0, ((size_t)out->rounds + 1) * sizeof *out->end);
    for (int j = 0; j < p->contacts; j++)
        out->end[round_of(p, j) + 1]++;
    for (int k = 0; k < out->rounds; k++)
        out->end[k + 1] += out->end[k];
    for (int j = 0; j < p->contacts; j++)
        out->contact[out->end[round_of(p, j)]++] = j;
    return CAIRN_OK;
}

/* ---- messages ------------------------------------------------------------------------------- */

static bool is_of_round(const cairn_border *b, int round)
{
    return (b->part ^ b->other) == round;
}

static void send_border(const cairn_cut *cut, const cairn_border *b, const double *v, size_t width)
{
    double *message = cut->message;
    for (int i = 0; i < b->outs; i++)
        memcpy(message + (size_t)i * width, v + (size_t)b->out[i] * width, width * sizeof *v);
    cairn_link_send(cut->contacts.link, b->member, message,
                    (size_t)b->outs * width * sizeof *message);
}

static void receive_border(const cairn_cut *cut, const cairn_border *b, double *v, size_t width)
{
    cairn_link *link = cut->contacts.link;
    size_t size = width * sizeof *v, found;
    const char *message = cairn_link_receive(link, b->member, &found);
    if (link->status == CAIRN_OK && found != (size_t)b->ins * size)
        link->status = CAIRN_BAD_INPUT;
    for (int i = 0; i < b->ins && found == (size_t)b->ins * size; i++)
        memcpy(v + (size_t)b->in[i] * width, message + (size_t)i * size, size);
}

/* Everything is sent before anything is received: no member waits for one that waits for it. Both
 * members go through their common borders in the same order. */
void cairn_visits_meet(const cairn_visits *visits, int round, double *v)
{
    const cairn_problem *p = visits->p;
    size_t width = (size_t)p->block_size;
    int borders = cairn_problem_link(p) && round > 0 ? p->cut->borders : 0;
    for (int k = 0; k < borders; k++)
        if (is_of_round(&p->cut->border[k], round))
            send_border(p->cut, &p->cut->border[k], v, width);
    for (int k = 0; k < borders; k++)
        if (is_of_round(&p->cut->border[k], round))
            receive_border(p->cut, &p->cut->border[k], v, width);
}
