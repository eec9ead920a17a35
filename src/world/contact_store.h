/* contact_store.h - a list of contacts as arrays. */
#ifndef CAIRN_WORLD_CONTACT_STORE_H
#define CAIRN_WORLD_CONTACT_STORE_H

#include "base/arena.h"
#include "cairn/world.h"
#include "world/columns.h"

/* Contacts of a step: geometry, law, and after the solve impulses. Sorted by (smaller row, larger
 * row, pieces, feature) unless bodies came or went since. */
typedef struct cairn_contact_store {
    int count;
    size_t capacity;
    size_t bytes;  /* of all columns                                          */
    unsigned set;  /* of what has columns of its own: CAIRN_CONTACTS_...      */
    int moments;   /* numbers of moment and turning per contact; 0: none      */
    double *zeros; /* instead of columns that nothing has                     */
    CAIRN_CONTACT_COLUMNS(CAIRN_COLUMN_STORED)
} cairn_contact_store;

/* Room for so many contacts, with the columns of a set and of those before. On failure there is
 * room for none. */
cairn_status cairn_contacts_reserve(cairn_contact_store *contacts, size_t count, unsigned set,
                                    int dimension);
void cairn_contacts_release(cairn_contact_store *contacts);
/* The two rows of a contact as one number: by the smaller, then by the larger one. */
static inline uint64_t cairn_contact_key(const cairn_contact_store *contacts, int j)
{
    uint32_t a = (uint32_t)contacts->body[2 * (size_t)j],
             b = (uint32_t)contacts->body[2 * (size_t)j + 1];
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Whether they are sorted by rows. */
bool cairn_contacts_are_sorted(const cairn_contact_store *contacts);
/* Contacts with rows that were `named` from now on; those with a body that is gone (-1) go. */
void cairn_contacts_rename(cairn_contact_store *contacts, const int32_t *named, int dimension);
/* The contacts of `from` sorted by rows, contacts of one pair as they were; room in the scratch. */
cairn_status cairn_contacts_sort(const cairn_contact_store *from, int rows, int dimension,
                                 cairn_arena *scratch, cairn_contact_store *to);
/* The piece of the body of smaller (0) or larger uid (1). */
cairn_piece cairn_contact_piece(const cairn_contact_store *contacts, int j, int which);
/* From the centre of the body on one side to its witness point, m, with bodies at x. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *contacts, const cairn_vec3 *x, int j,
                             int side);

#endif
