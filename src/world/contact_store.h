/* contact_store.h - a list of contacts as arrays. */
#ifndef CAIRN_WORLD_CONTACT_STORE_H
#define CAIRN_WORLD_CONTACT_STORE_H

#include "cairn/world.h"
#include "world/columns.h"

#define CAIRN_KEY_GONE INT32_MIN /* feature of an old contact that matches no other          */

/* Contacts of a step: geometry, law, and after the solve impulses. Sorted by (smaller body, larger
 * body, pieces, feature). */
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
/* The piece of the body of smaller (0) or larger index (1). */
cairn_piece cairn_contact_piece(const cairn_contact_store *contacts, int j, int which);
/* From the centre of the body on one side to its witness point, m, with bodies at x. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *contacts, const cairn_vec3 *x, int j,
                             int side);

#endif
