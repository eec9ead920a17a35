/* images.h - periodic cells: their lattice, and the pairs of bodies with images of others. */
#ifndef CAIRN_COLLIDE_IMAGES_H
#define CAIRN_COLLIDE_IMAGES_H

#include "collide/collide.h"
#include "math/vec.h"

/* ---- the lattice ----------------------------------------------------------------------------- */

static inline bool cairn_edge_is_periodic(const cairn_lattice *cell, int axis)
{
    cairn_vec3 e = cell->edge[axis];
    return e.x != 0 || e.y != 0 || e.z != 0;
}

static inline bool cairn_lattice_is_periodic(const cairn_lattice *cell)
{
    return cairn_edge_is_periodic(cell, 0) || cairn_edge_is_periodic(cell, 1) ||
           cairn_edge_is_periodic(cell, 2);
}

static inline cairn_vec3 cairn_edges_sum(const cairn_vec3 edge[3], cairn_image image)
{
    cairn_vec3 sum = cairn_scale(image.k[0], edge[0]);
    sum = cairn_add_scaled(sum, image.k[1], edge[1]);
    return cairn_add_scaled(sum, image.k[2], edge[2]);
}

/* m: from a body to its image. */
static inline cairn_vec3 cairn_lattice_shift(const cairn_lattice *cell, cairn_image image)
{
    return cairn_edges_sum(cell->edge, image);
}

/* m/s: velocity of an image relative to its original. */
static inline cairn_vec3 cairn_lattice_drift(const cairn_lattice *cell, cairn_image image)
{
    return cairn_edges_sum(cell->rate, image);
}

static inline bool cairn_image_is_other(cairn_image image)
{
    return (image.k[0] | image.k[1] | image.k[2]) != 0;
}

static inline cairn_image cairn_image_opposite(cairn_image image)
{
    return (cairn_image){ { -image.k[0], -image.k[1], -image.k[2] } };
}

/* a + b - c */
static inline cairn_image cairn_image_from(cairn_image a, cairn_image b, cairn_image c)
{
    for (int i = 0; i < 3; i++)
        a.k[i] += b.k[i] - c.k[i];
    return a;
}

/* The order of images, axis by axis: < 0, 0 or > 0. */
int cairn_image_compare(cairn_image a, cairn_image b);
/* 1/m: the vectors with b_i.e_j = 1 for i = j, else 0. An axis without an edge counts as an edge of
 * 1 m along the axis. 1/|b_i| is the distance of two opposite faces. */
void cairn_lattice_reciprocal(const cairn_lattice *cell, cairn_vec3 b[3]);
/* The image of a point that lies within the cell, as the edges to add to it. */
cairn_image cairn_lattice_home(const cairn_lattice *cell, const cairn_vec3 b[3], cairn_vec3 x);
/* The cell some time, s, after the start of the step. */
cairn_lattice cairn_lattice_ahead(const cairn_lattice *cell, double time);

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The bodies of a periodic world, for the search of pairs. */
typedef struct cairn_crowd {
    const cairn_layout *at;
    const cairn_image *image; /* of each body: how often it left the cell */
    const uint64_t *uid;      /* of each body                             */
    const cairn_broad_phase *broad;
} cairn_crowd;

/* The images that a list of pairs contains, and its pairs by bodies. Zero is empty. */
typedef struct cairn_images {
    int bodies, count;  /* bodies; images                                                   */
    cairn_image *base;  /* of each body: its place in the list minus how often it left      */
    int32_t *owner;     /* of each image: its body                                          */
    cairn_image *image; /* of each image: where it is, relative to the place of its body    */
    cairn_zone *room;   /* of bodies and images: what the list allows for                   */
    cairn_zone *zones;  /* of bodies and images: in the present step                        */
    cairn_vec3 edge[3]; /* m: of the cell when the images were chosen                       */
    double slack;       /* m: how far the edges may move until images are chosen again      */
    size_t body_capacity, image_capacity, owner_capacity, room_capacity, zone_capacity;
    cairn_pair_list list; /* of bodies, sorted by rows and images                           */
    int64_t of_list[2];   /* lists and updates of kept pairs that it was derived from       */
} cairn_images;

void cairn_images_destroy(cairn_images *images);
/* The pairs of a step in a periodic world: as cairn_kept_pairs_live, with the image of the second
 * body of each pair; sorted by (first, second, image as the body of larger uid has it). */
cairn_status cairn_images_live(cairn_images *images, cairn_kept_pairs *kept,
                               const cairn_crowd *crowd, cairn_arena *scratch,
                               cairn_pair_list *out);

#endif
