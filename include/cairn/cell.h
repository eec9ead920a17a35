/* cell.h - cells: pairs of walls that press on the grains between them, as the platens of a
 * laboratory test do. Each axis of a cell is controlled by a stress, a force or a rate of strain;
 * docs/laboratory.md has the formulas. SI units; compression is positive. */
#ifndef CAIRN_CELL_H
#define CAIRN_CELL_H

#include "cairn/body.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CAIRN_MOST_CELLS = 4 };

/** One axis of a cell: the walls at its two ends, and what controls them. Walls are boxes along
 *  the axes or, if they do not move, half-spaces. Dynamic ones are moved by the cell along the axis
 *  and in no other way, and touch no fixed, driven or other such body; fixed and driven ones are
 *  measured only. Without any function dynamic walls stand still. */
typedef struct cairn_cell_axis {
    cairn_body_id low, high;    /* cairn_body_none(): there is none                             */
    cairn_function stress;      /* Pa, in 2D N/m: force of each wall on the grains over the area
                                   between the walls of the other axes                          */
    cairn_function force;       /* N: likewise, given as a force                                */
    cairn_function strain_rate; /* 1/s: -d ln L/dt of the length L, from `strain_from` on       */
} cairn_cell_axis;

/** A cell. A wall obeys M dv/dt = F - F_contacts - c v, implicit in time. */
typedef struct cairn_cell_def {
    cairn_cell_axis axis[3];
    double mass;        /* kg: M of each wall that moves; 0: overdamped                         */
    double damping;     /* N s/m: c; 0: none or, if the mass is 0 as well, the mass of all other
                           dynamic bodies over the time step                                    */
    double strain_from; /* s: when strain_rate takes over, and from when strains are counted    */
    double filter;      /* s: time constant of the mean of the measured forces; 0: last step    */
} cairn_cell_def;

/** What a cell measures. Entries of axes that have too few walls are NaN. */
typedef struct cairn_cell_state {
    double length[3];     /* m: between the faces of the two walls                             */
    double strain[3];     /* ln(L0/L), L0 at `strain_from`; NaN before that                    */
    double force[3];      /* N: mean force of the walls on the grains                          */
    double stress[3];     /* Pa, in 2D N/m: force over area                                    */
    double volume_strain; /* sum of the strains                                                */
    cairn_vec3 shear;     /* N: sum of the contact forces on all walls                         */
    double servo[3][2];   /* N: force along the axis that moved the low and the high wall in the
                             last step, with its loads; NaN: the cell does not move it         */
    double damping[3][2]; /* N s/m: c of that step; infinite: the velocity was given           */
} cairn_cell_state;

/** No walls, overdamped with the default damping, strains counted from time 0. */
CAIRN_API cairn_cell_def cairn_cell_def_default(void);
/** The table of a cell (not its axes), and that of an axis (not its walls). */
CAIRN_API const cairn_record *cairn_cell_record(void);
CAIRN_API const cairn_record *cairn_cell_axis_record(void);

/** Add a cell; functions are copied. Its dynamic walls get the mass of the cell and no moment of
 *  inertia, and lose their velocity. Fails with CAIRN_BAD_INPUT, CAIRN_NOT_FOUND or
 *  CAIRN_NOT_FINITE (cairn_world_error names the key), or CAIRN_NO_MEMORY; the world is then as
 *  before. Removing a wall removes the cell. */
CAIRN_API cairn_status cairn_cell_create(cairn_world *world, const cairn_cell_def *def);
/** Number of cells. */
CAIRN_API int cairn_world_cell_count(const cairn_world *world);
/** What cell `index` measures now; all NaN if there is none. */
CAIRN_API cairn_cell_state cairn_world_cell(const cairn_world *world, int index);

#ifdef __cplusplus
}
#endif
#endif
