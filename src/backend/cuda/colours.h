/* colours.h - contacts that may be visited at the same time: no two of one colour act on the same
 * block. The colours depend on the problem alone, not on how threads run. */
#ifndef CAIRN_BACKEND_CUDA_COLOURS_H
#define CAIRN_BACKEND_CUDA_COLOURS_H

#include "backend/cuda/system.h"

/* Contacts of the colour TAIL found all others taken, since a block has more than TAIL contacts:
 * they are visited one after the other. */
enum { TAIL = 63, NO_COLOUR = 64 };
enum { ROUNDS_AT_ONCE = 4 }; /* of the colouring, before the host looks whether all is done */

/* Each contact has a different number, in an order that has nothing to do with its place. The one
 * with the smallest number at both of its blocks is the next to get a colour. */
ANYWHERE static inline unsigned long long lot_of(int64_t j)
{
    uint64_t x = (uint64_t)j * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    return ((x >> 32) << 32) | (uint64_t)(uint32_t)j;
}

/* What a colouring works on. Only contacts with group[j] == chosen take part. */
struct Colouring {
    const int32_t *block; /* two of each contact; < 0: none           */
    const uint8_t *group;
    uint8_t chosen;
    uint8_t *colour;           /* of each contact                     */
    uint64_t *used;            /* bits of each block: colours in use  */
    unsigned long long *claim; /* smallest lot at each block          */

    ANYWHERE bool waits(int64_t j) const
    {
        return group[j] == chosen && colour[j] == NO_COLOUR;
    }

    FOR_DEVICE void draw(int64_t j) const
    {
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                lower_to(&claim[block[2 * j + side]], lot_of(j));
    }

    ANYWHERE bool wins(int64_t j) const
    {
        bool all = true;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                all = all && claim[block[2 * j + side]] == lot_of(j);
        return all;
    }

    /* The first colour that both blocks have free. */
    ANYWHERE void take(int64_t j) const
    {
        uint64_t taken = 0;
        int c = 0;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                taken |= used[block[2 * j + side]];
        while (c < TAIL && (taken >> c & 1))
            c++;
        colour[j] = (uint8_t)c;
        for (int side = 0; side < 2; side++)
            if (block[2 * j + side] >= 0)
                used[block[2 * j + side]] |= (uint64_t)1 << c;
    }
};

/* The contacts of a list that still wait, in the same order, to `to`; returns their number. `place`
 * is room. The list NULL: all contacts. */
static int keep_waiting(Device &d, int count, const int32_t *list, const Colouring &with,
                        int32_t *place, int32_t *to)
{
    each(d, count, [=] ANYWHERE(int64_t i) { place[i] = with.waits(list ? list[i] : i); });
    int left = sum_before(d, count, place);
    each(d, count, [=] ANYWHERE(int64_t i) {
        int64_t j = list ? list[i] : i;
        if (with.waits(j))
            to[place[i]] = (int32_t)j;
    });
    return left;
}

/* Give a colour to all contacts of a group; the others are not looked at. */
static void colour_group(Device &d, int contacts, int blocks, const Colouring &with)
{
    uint64_t *used = with.used;
    unsigned long long *claim = with.claim;
    int32_t *place = d.take<int32_t>((size_t)contacts), *list = d.take<int32_t>((size_t)contacts);
    int32_t *other = d.take<int32_t>((size_t)contacts);
    each(d, blocks, [=] ANYWHERE(int64_t k) { used[k] = 0; });
    int left = keep_waiting(d, contacts, nullptr, with, place, list);
    while (left > 0 && !d.failed) {
        const int32_t *now = list;
        for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
            each(d, left, [=] ANYWHERE(int64_t i) {
                for (int side = 0; side < 2; side++)
                    if (with.block[2 * (int64_t)now[i] + side] >= 0)
                        claim[with.block[2 * (int64_t)now[i] + side]] = ~0ull;
            });
            each(d, left, [=] FOR_DEVICE(int64_t i) {
                if (with.waits(now[i]))
                    with.draw(now[i]);
            });
            each(d, left, [=] ANYWHERE(int64_t i) {
                if (with.waits(now[i]) && with.wins(now[i]))
                    with.take(now[i]);
            });
        }
        left = keep_waiting(d, left, list, with, place, other);
        int32_t *held = list;
        list = other;
        other = held;
    }
}

/* A colouring of contacts in groups; the arrays are the device's. */
static Colouring make_colouring(Device &d, int contacts, int blocks, const int32_t *block,
                                const uint8_t *group)
{
    Colouring c = { block,
                    group,
                    0,
                    d.take<uint8_t>(contacts),
                    d.take<uint64_t>(blocks),
                    d.take<unsigned long long>(blocks) };
    uint8_t *colour = c.colour;
    each(d, contacts, [=] ANYWHERE(int64_t j) { colour[j] = NO_COLOUR; });
    return c;
}

/* ---- the local form -------------------------------------------------------------------------- */

/* Colours by the pattern of W, on the host: contacts of one colour share no entry of W either way.
 * W may couple everything with everything: there is no limit to their number. */
static std::vector<int32_t> colours_by_matrix(const cairn_problem *p)
{
    int d = p->dimension;
    std::vector<std::vector<int32_t>> near(p->contacts);
    for (int j = 0; j < p->contacts; j++)
        for (int64_t k = p->W->start[(int64_t)j * d]; k < p->W->start[(int64_t)(j + 1) * d]; k++) {
            int32_t other = p->W->column[k] / d;
            if (other != j) {
                near[j].push_back(other);
                near[other].push_back(j);
            }
        }
    std::vector<int32_t> colour(p->contacts, -1), last(p->contacts + 1, -1);
    for (int j = 0; j < p->contacts; j++) {
        for (int32_t other : near[j])
            if (colour[other] >= 0)
                last[colour[other]] = j;
        int32_t c = 0;
        while (last[c] == j)
            c++;
        colour[j] = c;
    }
    return colour;
}

#endif
