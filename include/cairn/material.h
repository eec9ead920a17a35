/* material.h - surfaces: friction, restitution, adhesion, and the properties of pairs of materials.
 * SI units. */
#ifndef CAIRN_MATERIAL_H
#define CAIRN_MATERIAL_H

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bodies, materials and joints, and the time they have reached; see world.h. */
typedef struct cairn_world cairn_world;

typedef enum cairn_friction_kind {
    CAIRN_FRICTION_CONSTANT, /* the material's `friction` at any speed                          */
    CAIRN_FRICTION_STRIBECK, /* dynamic + (static - dynamic) exp(-(|u_T|/speed)^exponent)       */
    CAIRN_FRICTION_TABLE,    /* values at speeds, linear in between, constant outside           */
    CAIRN_FRICTION_SMALLER,  /* pairs alone: the smaller one of both materials at each speed    */
    CAIRN_FRICTION_COUNT
} cairn_friction_kind;

/** Friction as a function of the sliding speed: continuous, never rising. All zero: constant. */
typedef struct cairn_friction_law {
    cairn_friction_kind kind;
    double mu_static;  /* stribeck: at rest                                                    */
    double mu_dynamic; /* stribeck: at high speed, at most mu_static                           */
    double speed;      /* m/s, stribeck: how fast the one becomes the other                    */
    double exponent;   /* stribeck                                                             */
    cairn_list speeds; /* m/s, table: rising                                                   */
    cairn_list values; /* table: as many, never rising                                         */
} cairn_friction_law;

/** A law of a kind with its defaults (exponent 2). */
CAIRN_API cairn_friction_law cairn_friction_law_default(cairn_friction_kind kind);
/** The table of a friction law, NULL past CAIRN_FRICTION_TABLE. */
CAIRN_API const cairn_record *cairn_friction_law_record(int kind);
/** Check the parameters; `error` may be NULL. */
CAIRN_API cairn_status cairn_friction_law_check(const cairn_friction_law *law, cairn_error *error);

/** Surface properties. A pair of materials has the smaller friction (at each sliding speed), the
 *  smaller restitution with its law (Newton's if equal) and the smaller value of all other
 *  properties, unless set by cairn_material_pair_set. docs/friction.md has the laws. */
typedef struct cairn_material_def {
    double friction;             /* Coulomb coefficient mu >= 0, when the law is constant      */
    double restitution;          /* e in [0, 1]                                                */
    const char *restitution_law; /* a name of cairn_restitution_name; NULL: newton             */
    cairn_friction_law friction_law;
    double friction_2;        /* across the friction_axis of a body, `friction` is then along it;
                                 0: as `friction`. 3D                                           */
    double adhesion;          /* N: pull that a contact withstands while it touches             */
    double adhesion_range;    /* m: gap up to which it touches; 0: 1e-5 of the smaller body     */
    double rolling_friction;  /* m: bound of the rolling moment over the normal force           */
    double spinning_friction; /* m: bound of the moment about the normal likewise. 3D           */
} cairn_material_def;

/** Friction 0.5, restitution 0 by Newton's law. */
CAIRN_API cairn_material_def cairn_material_def_default(void);
/** The table of the plain fields of cairn_material_def (not friction_law). */
CAIRN_API const cairn_record *cairn_material_record(void);
/** Name of restitution law `index`, NULL past the last. newton: e is the speed after over the speed
 *  before. poisson: e is the impulse of decompression over that of compression. */
CAIRN_API const char *cairn_restitution_name(int index);
/** Add a material (copied); `out` receives its number (0, 1, ...). */
CAIRN_API cairn_status cairn_material_create(cairn_world *world, const cairn_material_def *def,
                                             int *out);
/** The definition of a material; its lists are lent. CAIRN_NOT_FOUND: no such number. */
CAIRN_API cairn_status cairn_material_get(const cairn_world *world, int material,
                                          cairn_material_def *out);
/** Replace the definition of a material (copied) from the next step on; pairs that were set keep
 *  theirs. Fails like cairn_material_create, or with CAIRN_NOT_FOUND; the world is then as
 *  before. */
CAIRN_API cairn_status cairn_material_set(cairn_world *world, int material,
                                          const cairn_material_def *def);
/** Set friction and restitution between two materials (either order, may be equal). */
CAIRN_API cairn_status cairn_material_pair_set(cairn_world *world, int a, int b,
                                               const cairn_material_def *def);
/** The properties of a pair of materials: as set, or by the rule of cairn_material_def with a
 *  friction law of kind CAIRN_FRICTION_SMALLER; `friction` is that at rest. CAIRN_NOT_FOUND if
 *  there is no such material. */
CAIRN_API cairn_status cairn_material_pair_get(const cairn_world *world, int a, int b,
                                               cairn_material_def *out);

/** Which laws beyond Coulomb friction with one mu a world uses: some material or pair has
 *  friction_2, adhesion, rolling or spinning friction; some body had a surface velocity. */
typedef struct cairn_surface_laws {
    bool anisotropic, adhesive, rolling, spinning, moving;
    bool grouped; /* some body had a collision group, or a mask that leaves out some */
} cairn_surface_laws;

/** The laws that the materials and bodies of a world have required so far. */
CAIRN_API cairn_surface_laws cairn_world_surface_laws(const cairn_world *world);

#ifdef __cplusplus
}
#endif
#endif
