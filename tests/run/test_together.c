/* test_together.c - runs by several members, which are threads here: the files are those of one
 * process, whoever begins a run and whoever goes on with it. tests/mpi does the same with MPI.
 * And runs that their caller steps. */
#include "cairn/run.h"
#include "cairn/study.h"
#include "tests/problems/members.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

static const char *const scene_balls =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
    "series:\n"
    "  - {name: floor, bodies: floor}\n"
    "  - {name: half, low: [0, -9, -9], high: [9, 9, 9], interval: 0.03}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 5], spacing: [0.2, 0.2, 0.2], origin: [-0.3, -0.3, 0.1], radius: "
    "0.09,\n"
    "           jitter: 0.005, seed: 3}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      certificate: full, checkpoint_every: 0.05, statistics: [centre], rest_speed: 1e-6}\n";

/* Gravity and friction that vary, and bodies that come in, written of every step without the
 * state. */
static const char *const scene_varied =
    "cairn: 1\n"
    "gravity: [0, {harmonic: {amplitude: 2, frequency: 3}}, -9.81]\n"
    "materials: {stone: {friction: {ramp: {from: 0.6, to: 0.2, stop: 0.2}}}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 2], spacing: [0.2, 0.2, 0.2], origin: [-0.3, -0.3, 0.1], radius: "
    "0.09}\n"
    "  - pour: {count: 30, rate: 150, centre: [0, 0, 1], size: [0.8, 0.8, 0.2], radius: 0.08}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      statistics: [flow]}\n";

/* What each member makes a share of: named bodies, a joint, fixed bodies after dynamic ones (which
 * changes the order of rows), radii that differ, and enough bodies to be sorted along the curve. */
static const char *const scene_shares =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: ball, shape: {sphere: {radius: 0.04}}, position: [0, 0, 1.5]}\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: other, shape: {sphere: {radius: 0.04}}, position: [0.2, 0, 1.6]}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.9}}}\n"
    "joints: [{ball: {a: ball, b: other, anchor: [0.1, 0, 1.55]}}]\n"
    "generators:\n"
    "  - grid: {count: [12, 12, 12], spacing: [0.1, 0.1, 0.1], origin: [-0.55, -0.55, 0.06],\n"
    "           radius: 0.045, jitter: 0.004, seed: 3}\n"
    "  - grid: {count: [3, 3, 1], spacing: [0.2, 0.2, 0.2], origin: [-0.55, -0.55, -2],\n"
    "           radius: 0.05, glued: true}\n"
    "  - grid: {count: [10, 10, 4], spacing: [0.1, 0.1, 0.1], origin: [-0.55, -0.55, 1.7],\n"
    "           radius: {uniform: {minimum: 0.03, maximum: 0.045}}, seed: 5}\n"
    "run: {time_step: 5e-3, duration: 0.02, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.01,\n"
    "      checkpoint_every: 0.01}\n";

/* No member ever has the whole world. There are two windows of bodies,
 * contacts with the fixed bodies that come before all others, and bodies that come in and leave. */
static const char *const scene_spread =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: ball, shape: {sphere: {radius: 0.04}}, position: [0, 0, 4]}\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: wall, motion: fixed, shape: {half_space: {axis: [1, 0, 0]}}, position: [-1, 0, "
    "0]}\n"
    "generators:\n"
    "  - grid: {count: [20, 20, 22], spacing: [0.1, 0.1, 0.1], origin: [-0.95, -0.95, 0.05],\n"
    "           radius: 0.05}\n"
    "  - pour: {count: 30, rate: 3000, centre: [0, 0, 3], size: [1.6, 1.6, 0.4], radius: 0.04}\n"
    "outlets:\n"
    "  - box: {centre: [0.9, 0.9, 2.1], size: [0.6, 0.6, 0.4], start: 3e-3}\n"
    "run: {time_step: 2e-3, duration: 8e-3, solver: ngs, max_iterations: 20, parts: 5, threads: "
    "1,\n"
    "      frame_interval: 4e-3}\n";

/* A full certificate with all that it can have without joints: loads, driven bodies, impacts one
 * after the other, bodies that come in, leave and come back; and still no member has the whole world. */
static const char *const scene_certified =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4, restitution: 0.6}}\n"
    "bodies:\n"
    "  - {name: pulled, shape: {sphere: {radius: 0.06}}, position: [0.05, 0, 1.2],\n"
    "     loads: [{constant: {force: [2, 0, 0], torque: [0, 0.1, 0]}}]}\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {motion: driven, shape: {box: {size: [1, 0.1, 0.3]}}, position: [0, 0, 0.2],\n"
    "     drivers: [{rotation: {angular_velocity: [0, 0, 2]}}]}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
    "generators:\n"
    "  - grid: {count: [5, 5, 4], spacing: [0.16, 0.16, 0.16], origin: [-0.3, -0.3, 0.5], radius: "
    "0.07,\n"
    "           jitter: 0.008, seed: 3}\n"
    "  - pour: {name: top, count: 20, rate: 200, centre: [0, 0, 1.6], size: [0.6, 0.6, 0.2],\n"
    "           radius: 0.06}\n"
    "outlets:\n"
    "  - box: {centre: [0.3, 0, 0.1], size: [0.6, 0.4, 0.4], to: top}\n"
    "  - box: {centre: [-0.3, 0, 0.1], size: [0.6, 0.4, 0.4]}\n"
    "run: {time_step: 0.01, duration: 0.3, solver: ngs, parts: 4, threads: 1, tolerance: 1e-2,\n"
    "      frame_interval: 0.1, certificate: full, paraview: false}\n";

/* All statistics of balls in a silo with a flat side, of which there are two windows: of two sizes and
 * materials, of which some come in and some leave. */
static const char *const scene_measured =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}, other: {friction: 0.2}}\n"
    "bodies:\n"
    "  - {shape: {sphere: {radius: 0.04}}, position: [0, 0, 4], material: stone}\n"
    "  - {motion: fixed, shape: {half_space: {}}, material: stone}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.7}}, material: stone}\n"
    "  - {motion: fixed, shape: {half_space: {axis: [1, 0, 0]}}, position: [-0.475, 0, 0], "
    "material: stone}\n"
    "generators:\n"
    "  - grid: {count: [19, 19, 24], spacing: [0.05, 0.05, 0.0495], origin: [-0.45, -0.45, "
    "0.0245],\n"
    "           radius: {uniform: {minimum: 0.0245, maximum: 0.0252}}, seed: 4, material: stone}\n"
    "  - pour: {count: 30, rate: 3000, centre: [0, 0, 2], size: [0.8, 0.8, 0.3], radius: 0.03,\n"
    "           material: other}\n"
    "outlets:\n"
    "  - box: {centre: [0.1, 0.1, 0.2], size: [0.3, 0.3, 0.2], start: 3e-3}\n"
    "measure: {kinetic: true, bins: 20, axis: x}\n"
    "run: {time_step: 2e-3, duration: 8e-3, solver: ngs, max_iterations: 20, parts: 8, threads: "
    "1,\n"
    "      frame_interval: 4e-3, packing: true,\n"
    "      statistics: [packing, slices, surface, height, centre, coordination, neighbours,\n"
    "                   pair-correlation, forces, stress, fabric, temperature, mixing, energy,\n"
    "                   flow, fields]}\n";

/* A heap over a gate: bodies come in, the gate opens when they have settled, they leave below and
 * come back above; one event of each kind, and each action. */
static const char *const scene_events =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: hopper, motion: fixed, shape: {inside_cone: {half_angle: 1.2}}}\n"
    "  - {name: gate, motion: fixed, shape: {half_space: {}}, position: [0, 0, 0.15]}\n"
    "  - {name: lid, motion: fixed, shape: {half_space: {axis: [0, 0, -1]}}, position: [0, 0, 2]}\n"
    "  - {name: grain, shape: {sphere: {radius: 0.02}}, position: [0.2, 0, 0.9]}\n"
    "  - {name: bar, motion: driven, shape: {capsule: {radius: 0.02, length: 0.3}},\n"
    "     position: [0, 0.3, 0.8], drivers: [{velocity: {velocity: [0, 0.1, 0], start: .inf}}]}\n"
    "generators:\n"
    "  - grid: {count: [3, 3, 4], spacing: [0.11, 0.11, 0.11], origin: [-0.11, -0.11, 0.22],\n"
    "           radius: 0.05, jitter: 0.002, seed: 3}\n"
    "  - pour: {name: top, count: 6, rate: 100, centre: [0, 0, 0.8], size: [0.3, 0.3, 0.1],\n"
    "           radius: 0.04}\n"
    "outlets:\n"
    "  - height: {name: below, below: 0.1, to: top}\n"
    "events:\n"
    "  - {when: {time: {at: 0.03}}, do: {start_driver: bar}}\n"
    "  - {when: {time: {at: 0.06}}, do: {stop_driver: bar}}\n"
    "  - {when: {force_above: {body: gate, force: 5}}, do: {save_state: loaded}}\n"
    "  - {when: {settled: {speed: 3, for: 0.05}}, do: {open: gate}}\n"
    "  - {when: {mass_below: {mass: 20.5}}, do: {save_state: light}}\n"
    "  - {when: {time: {at: 0.1}}, do: {open: lid}}\n"
    "  - {when: {time: {at: 0.1}}, do: {save_state: opened}}\n"
    "  - {when: {time: {at: 0.3}}, do: {open: grain}}\n"
    "  - {when: {time: {at: 0.3}}, do: {open: grain}}\n"
    "  - {when: {mass_below: {mass: 20.459, from: 0.295}}, do: {save_state: later}}\n"
    "run: {time_step: 5e-3, duration: 0.4, solver: ngs, parts: 4, threads: 1, tolerance: 1e-2,\n"
    "      frame_interval: 0.05, certificate: full, checkpoint_every: 0.1,\n"
    "      statistics: [flow]}\n";

/* Joints that bind bodies of different members, one that breaks and whose bodies then part, one to
 * the world, one to a wall, a motor, and one whose body leaves. */
static const char *const scene_joints =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: a, shape: {sphere: {radius: 0.05}}, position: [-0.7, 0, 0.6]}\n"
    "  - {name: b, shape: {sphere: {radius: 0.05}}, position: [0.7, 0, 0.6]}\n"
    "  - {name: c, shape: {sphere: {radius: 0.05}}, position: [0, 0.7, 0.6], velocity: [0, 9, 0]}\n"
    "  - {name: d, shape: {sphere: {radius: 0.05}}, position: [0, -0.7, 0.6], velocity: [0, -9, "
    "0]}\n"
    "  - {name: e, shape: {sphere: {radius: 0.05}}, position: [0.5, 0.5, 0.7]}\n"
    "  - {name: f, shape: {sphere: {radius: 0.05}}, position: [-0.5, 0.5, 0.7]}\n"
    "  - {name: g, shape: {sphere: {radius: 0.05}}, position: [-0.5, -0.5, 0.7]}\n"
    "  - {name: wall, motion: fixed, shape: {inside_cylinder: {radius: 1.2}}}\n"
    "joints:\n"
    "  - distance: {name: rod, a: a, b: b, anchor: [-0.7, 0, 0.6], anchor_b: [0.7, 0, 0.6]}\n"
    "  - ball: {a: c, b: d, anchor: [0, 0, 0.6], break_force: 1}\n"
    "  - revolute: {a: e, anchor: [0.5, 0.4, 0.7], axis: [1, 0, 0],\n"
    "     turn: {motor: velocity, target: 3, effort: 1}}\n"
    "  - spring: {a: f, b: wall, anchor: [-0.5, 0.5, 0.7], anchor_b: [-0.8, 0.8, 0.7],\n"
    "     slide: {stiffness: 50, rest: 0.2}}\n"
    "  - ball: {a: g, anchor: [-0.5, -0.5, 0.8]}\n"
    "generators:\n"
    "  - grid: {count: [8, 8, 4], spacing: [0.12, 0.12, 0.11], origin: [-0.42, -0.42, 0.06], "
    "radius: "
    "0.05,\n"
    "           jitter: 0.005, seed: 3}\n"
    "outlets:\n"
    "  - box: {centre: [-0.5, -0.5, 0.7], size: [0.1, 0.1, 0.1], start: 0.06}\n"
    "series:\n"
    "  - {name: rod, joint: rod}\n"
    "  - {name: floor, bodies: floor}\n"
    "run: {time_step: 5e-3, duration: 0.2, solver: ngs, parts: 4, threads: 1, tolerance: 1e-2,\n"
    "      frame_interval: 0.05, certificate: full, checkpoint_every: 0.1}\n";

/* What a control law acts on: balls, a paddle that is driven and an arm with a motor. */
static const char *const scene_controlled =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}, ice: {friction: 0.05}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}, material: stone}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}, material: stone}\n"
    "  - {name: paddle, motion: driven, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, "
    "0.6],\n"
    "     drivers: [{velocity: {velocity: [0, 0, -0.5]}}], material: stone}\n"
    "  - {name: arm, shape: {capsule: {radius: 0.02, length: 0.3}}, position: [0, 0, 1.2], "
    "material: stone}\n"
    "joints: [{revolute: {a: arm, anchor: [0, 0, 1.4], axis: [0, 1, 0], turn: {motor: position, "
    "effort: 40}}}]\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 3], spacing: [0.15, 0.15, 0.15], origin: [-0.2, -0.2, 0.1], radius: "
    "0.07,\n"
    "           jitter: 0.002, seed: 3, material: stone}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      certificate: full, checkpoint_every: 0.1, statistics: [energy]}\n";

/* What a caller can change besides bodies: materials, gravity, friction, the rate of an inlet and the
 * target of a motor. */
static const char *const scene_lawful =
    "cairn: 1\n"
    "gravity: [{harmonic: {amplitude: 1, frequency: 3}}, 0, -9.81]\n"
    "materials: {stone: {friction: {ramp: {from: 0.5, to: 0.2, stop: 0.2}}}, ice: {friction: "
    "0.05}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {}}, material: stone}\n"
    "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}, material: stone}\n"
    "  - {motion: driven, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 0.6],\n"
    "     drivers: [{velocity: {velocity: [0, 0, -0.5]}}], material: stone}\n"
    "  - {name: arm, shape: {capsule: {radius: 0.02, length: 0.3}}, position: [0, 0, 1.2], "
    "material: stone}\n"
    "joints: [{revolute: {a: arm, anchor: [0, 0, 1.4], axis: [0, 1, 0], turn: {motor: position, "
    "effort: 40}}}]\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 3], spacing: [0.15, 0.15, 0.15], origin: [-0.2, -0.2, 0.1], radius: "
    "0.07,\n"
    "           jitter: 0.002, seed: 3, material: stone}\n"
    "  - pour: {count: 30, rate: 100, centre: [0, 0, 2], size: [0.8, 0.8, 0.2], radius: 0.05, "
    "material: stone}\n"
    "run: {time_step: 0.01, duration: 0.2, solver: ngs, parts: 4, threads: 1, frame_interval: "
    "0.05,\n"
    "      certificate: full, statistics: [energy]}\n";

/* A laboratory cell: two walls keep a stress, two approach each other. */
static const char *const scene_cell =
    "cairn: 1\n"
    "title: a biaxial test of a few disks\n"
    "dimension: 2\n"
    "gravity: [0, 0]\n"
    "materials: {grain: {friction: 0.5}, platen: {friction: 0}}\n"
    "bodies:\n"
    "  - {name: left, material: platen, position: [-0.05, 0.1], shape: {box: {size: "
    "[0.1, 0.5]}}}\n"
    "  - {name: right, material: platen, position: [0.25, 0.1], shape: {box: {size: "
    "[0.1, 0.5]}}}\n"
    "  - {name: bottom, material: platen, position: [0.1, -0.05], shape: {box: {size: "
    "[0.5, 0.1]}}}\n"
    "  - {name: top, material: platen, position: [0.1, 0.25], shape: {box: {size: [0.5, "
    "0.1]}}}\n"
    "generators:\n"
    "  - fill: {bodies: 80, size: [0.2, 0.2], centre: [0.1, 0.1], material: grain, "
    "density: 2000, seed: 7,\n"
    "           radius: {uniform: {minimum: 0.006, maximum: 0.011}}}\n"
    "cells:\n"
    "  - {x: {low: left, high: right, stress: 1000}, mass: 5, strain_from: 0.03, filter: "
    "0.02,\n"
    "     y: {low: bottom, high: top, stress: 1000, strain_rate: 0.2}}\n"
    "series: [{name: top, bodies: top}]\n"
    "run: {time_step: 2e-3, duration: 0.12, solver: ngs, parts: 4, threads: 1, "
    "tolerance: 1e-3, frame_interval: 0.02,\n"
    "      certificate: full, checkpoint_every: 0.02, statistics: [cell, stress]}\n";

/* A periodic cell that shears, with joints through its faces, functions of time, an inlet and an
 * outlet. */
static const char *const scene_periodic =
    "cairn: 1\n"
    "title: a sheared cell with joints through its faces, into which bodies come\n"
    "gravity: [0, 0, {harmonic: {amplitude: 2, frequency: 5}}]\n"
    "periodic: {axes: [x, y], high: [1, 1, 1], gradient_x: [0, {ramp: {from: 1, to: 4, "
    "stop: 0.1}}, 0]}\n"
    "materials: {grain: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0.9, 0.5, 0.15], velocity: "
    "[1, 3, 0]}\n"
    "  - {name: b, shape: {box: {size: [0.1, 0.14, 0.12]}}, position: [0.15, 0.5, 0.15], "
    "velocity: [0, 2, 1]}\n"
    "  - {name: c, shape: {sphere: {radius: 0.09}}, position: [0.4, 0.5, 0.15], "
    "velocity: [0, 2, 1]}\n"
    "joints:\n"
    "  - ball: {a: a, b: b, anchor: [1.05, 0.5, 0.15]}\n"
    "  - spring: {a: b, b: c, anchor: [0.15, 0.5, 0.15], anchor_b: [0.4, 0.5, 0.15], "
    "slide: {stiffness: 100, rest: 0.2}}\n"
    "generators:\n"
    "  - grid: {count: [5, 5, 2], spacing: [0.2, 0.2, 0.2], radius: 0.08, origin: [0.05, "
    "0.05, 0.35], seed: 3}\n"
    "  - pour: {name: top, count: 12, rate: 300, centre: [1, 1, 0.9], size: [0.8, 0.8, "
    "0.1], radius: 0.06, velocity: [0, 0, -2]}\n"
    "outlets: [half_space: {normal: [0, 0, -1], point: [0, 0, 1.2], to: top}]\n"
    "series: [{name: half, low: [0, 0, 0], high: [0.5, 1, 2]}]\n"
    "run: {time_step: 2e-3, duration: 0.12, solver: ngs, parts: 4, threads: 1, "
    "tolerance: 1e-3, frame_interval: 0.02,\n"
    "      certificate: full, checkpoint_every: 0.02, statistics: [flow, fields]}\n";

/* A layer that shears, of enough bodies to be sorted along the curve. The cell is written of every
 * step, bodies of few. */
static const char *const scene_layer =
    "cairn: 1\n"
    "periodic: {axes: [x, y], high: [1.6, 1.6, 1], gradient_x: [0, 0.5, 0]}\n"
    "materials: {grain: {friction: 0.3}}\n"
    "bodies: [{motion: fixed, shape: {half_space: {}}}]\n"
    "generators:\n"
    "  - grid: {count: [16, 16, 9], spacing: [0.1, 0.1, 0.1], radius: 0.049, origin: [0.01, 0.01, "
    "0.05],\n"
    "           velocity: [3, 0, 0], seed: 3}\n"
    "run: {time_step: 2e-3, duration: 0.012, solver: ngs, max_iterations: 20, parts: 5, threads: "
    "1,\n"
    "      frame_interval: 6e-3}\n";

/* Shapes with data of their own, and others: some of each with every member; fixed balls, a driven
 * box, bodies that come in and leave between two frames. Ellipsoids and capsules have so many faces
 * that the picture leaves out the farthest. */
static const char *const scene_solids =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: bar, motion: driven, shape: {box: {size: [1.6, 0.1, 0.3]}}, position: [0, 0, "
    "0.16],\n"
    "     drivers: [{rotation: {angular_velocity: [0, 0, 2]}}]}\n"
    "generators:\n"
    "  - grid: {count: [9, 9, 1], spacing: [0.25, 0.25, 0.2], origin: [-1, -1, 0.02], radius: "
    "0.1,\n"
    "           glued: true}\n"
    "  - grid: {count: [6, 6, 2], spacing: [0.3, 0.3, 0.3], origin: [-0.8, -0.8, 0.6],\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, "
    "0.2]]}}}\n"
    "  - grid: {count: [6, 6, 1], spacing: [0.3, 0.3, 0.3], origin: [-0.8, -0.8, 1.3], turned: "
    "true,\n"
    "           seed: 3, shape: {compound: {parts: [{shape: {box: {size: [0.2, 0.05, 0.05]}}},\n"
    "           {shape: {sphere: {radius: 0.06}}, position: [0.1, 0, 0]}]}}}\n"
    "  - grid: {count: [9, 9, 3], spacing: [0.2, 0.2, 0.2], origin: [-0.8, -0.8, 1.6], turned: "
    "true,\n"
    "           seed: 5, shape: {ellipsoid: {semi_axes: [0.09, 0.06, 0.05]}}}\n"
    "  - grid: {count: [9, 9, 1], spacing: [0.2, 0.2, 0.2], origin: [-0.8, -0.8, 2.2], radius: "
    "0.08}\n"
    "  - pour: {count: 30, rate: 600, centre: [0, 0, 2.8], size: [1.6, 1.6, 0.2], velocity: [0, 0, "
    "9],\n"
    "           shape: {capsule: {radius: 0.04, length: 0.1}}}\n"
    "outlets:\n"
    "  - half_space: {normal: [0, 0, -1], point: [0, 0, 3.0]}\n"
    "run: {time_step: 5e-3, duration: 0.15, solver: ngs, max_iterations: 30, parts: 5, threads: "
    "1,\n"
    "      frame_interval: 0.05, checkpoint_every: 0.05}\n";

/* What one member does, and how it ended. The first one runs; `resumes`: from a checkpoint. */
typedef struct job {
    member m;
    const char *folder, *override;
    const char *scene; /* NULL: scene_balls */
    const char *path;  /* of a scene that all members read; NULL: the first one makes it */
    bool resumes;
    void (*law)(cairn_world *world, int step);    /* of the caller, before each step; NULL: none */
    void (*change)(cairn_world *world, int step); /* before a run without such a law; NULL: none */
    bool begins;                                  /* the law also acts before the run begins      */
    int steps;                                    /* that it is stopped after; 0: never */
    bool shared;                                  /* members made shares of the world   */
    int64_t seen; /* bodies that the scene of the first one had at the end */
    cairn_run_summary summary;
    cairn_status status;
    cairn_error error;
} job;

static job jobs[MOST_MEMBERS];
static post_office office;

static bool stop_after(const cairn_progress *progress, void *context)
{
    const job *j = context;
    return j->steps == 0 || progress->step < j->steps;
}

/* A loop of the caller. */
static void lead_loop(job *j, cairn_link *link)
{
    cairn_scene *scene = NULL;
    cairn_running *run = NULL;
    if (j->resumes) {
        j->status = cairn_run_continue(j->folder, link, &scene, &run, &j->error);
    } else if (j->path) {
        j->status = cairn_ranks_load(link, j->path, NULL, 0, &scene, &j->error);
    } else {
        scene = scene_text_good(j->scene, j->override);
        scene->link = link;
    }
    if (j->begins && j->status == CAIRN_OK)
        j->law(scene->world, 0);
    if (!run && j->status == CAIRN_OK)
        j->status = cairn_run_begin(scene, j->folder, &run, &j->error);
    j->shared = scene && scene->shared;
    cairn_step_report report;
    for (int k = 0; cairn_run_goes_on(run) && (j->steps == 0 || k < j->steps); k++) {
        j->law(scene->world, (int)(100 * cairn_world_time(scene->world) + 0.5));
        j->status = cairn_run_step(run, &report, &j->error);
    }
    if (run && j->status == CAIRN_OK)
        j->status = cairn_run_end(&run, &j->summary, &j->error);
    else if (run)
        cairn_run_end(&run, NULL, NULL);
    cairn_scene_destroy(scene);
}

static void lead(job *j, cairn_link *link)
{
    cairn_scene *scene = NULL;
    if (j->law) {
        lead_loop(j, link);
        return;
    }
    if (j->resumes) {
        cairn_resume_options options = { .progress = stop_after, .context = j, .link = link };
        j->status = cairn_run_resume(j->folder, &options, &scene, &j->summary, &j->error);
        j->shared = scene && scene->shared;
    } else if (j->path) {
        j->status =
            cairn_ranks_load(link, j->path, &j->override, j->override != NULL, &scene, &j->error);
        j->shared = scene && scene->shared;
        if (j->status == CAIRN_OK)
            j->status = cairn_run(scene, j->folder, stop_after, j, &j->summary, &j->error);
    } else {
        scene = scene_text_good(j->scene ? j->scene : scene_balls, j->override);
        scene->link = link;
        if (j->change)
            j->change(scene->world, 0);
        j->status = cairn_run(scene, j->folder, stop_after, j, &j->summary, &j->error);
    }
    j->seen = scene && scene->world ? cairn_world_bodies(scene->world).count : 0;
    cairn_scene_destroy(scene);
}

static void *take_part(void *context)
{
    job *j = context;
    if (j->m.link.member == 0)
        lead(j, j->m.link.members > 1 ? &j->m.link : NULL);
    else
        j->status = cairn_ranks_serve(&j->m.link, &j->error);
    post_leave(&j->m);
    free(j->m.read);
    return NULL;
}

/* All members, with what the first one is to do. */
static void run_members(int members, job first)
{
    open_office(&office);
    for (int k = 0; k < members; k++) {
        jobs[k] = k == 0 ? first : (job){ .status = CAIRN_OK };
        join_office(&office, k, members, &jobs[k].m);
    }
    run_together(members, take_part, jobs, sizeof *jobs);
    close_office(&office);
}

static void check_ok(int members)
{
    for (int k = 0; k < members; k++)
        if (jobs[k].status != CAIRN_OK)
            fail_msg("member %d: %s", k, jobs[k].error.message);
}

TEST(a_run_by_several_members_has_the_files_of_one_process)
{
    folder alone = folder_create();
    run_members(1, (job){ .folder = alone.path });
    check_ok(1);
    uint64_t hash = jobs[0].summary.hash;
    for (int members = 2; members <= 5; members += CHECKED ? 3 : 1) {
        folder f = folder_create();
        run_members(members, (job){ .folder = f.path });
        check_ok(members);
        CHECK(jobs[0].summary.hash == hash);
        CHECK_INT(jobs[0].summary.ranks.ranks, members);
        CHECK_INT(jobs[0].summary.ranks.members, members < 4 ? members : 4); /* there are 4 parts */
        CHECK(jobs[0].summary.ranks.messages > 0);
        CHECK(jobs[0].summary.ranks.most_compute >= jobs[0].summary.ranks.compute);
        CHECK(check_same_h5(&alone, &f) > 80);
        CHECK_INT(check_same_files(&alone, &f, "statistics"), 1);
        CHECK_INT(check_same_files(&alone, &f, "series"), 2);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

TEST(what_varies_and_what_comes_in_is_written_as_by_one_process)
{
    folder alone = folder_create(), f = folder_create();
    run_members(1, (job){ .folder = alone.path, .scene = scene_varied });
    check_ok(1);
    CHECK(jobs[0].summary.bodies > 40);
    run_members(3, (job){ .folder = f.path, .scene = scene_varied });
    check_ok(3);
    CHECK(check_same_h5(&alone, &f) > 60);
    CHECK_INT(check_same_files(&alone, &f, "statistics"), 1);
    folder_remove(f.path);
    folder_remove(alone.path);
}

/* Its edges are in the row of every step, although the members collect the world only for frames. */
TEST(a_cell_that_shears_is_written_as_by_one_process)
{
    folder alone = folder_create(), f = folder_create();
    const job whole = { .scene = scene_periodic, .override = "run.certificate=summary" };
    job first = whole;
    first.folder = alone.path;
    run_members(1, first);
    check_ok(1);
    first = whole;
    first.folder = f.path;
    run_members(3, first);
    check_ok(3);
    CHECK(check_same_h5(&alone, &f) > 60);
    folder_remove(f.path);
    folder_remove(alone.path);
}

/* Outlets and events, also of a run that goes on with other members. */
TEST(events_happen_as_in_one_process)
{
    folder alone = folder_create();
    run_members(1, (job){ .folder = alone.path, .scene = scene_events });
    check_ok(1);
    CHECK(jobs[0].summary.energy.left_mass > 0);
    CHECK(file_exists(&alone, "light.state") && file_exists(&alone, "loaded.state"));
    for (int members = CHECKED ? 3 : 2; members <= 4; members++) {
        folder f = folder_create();
        if (members == 4) {
            run_members(3, (job){ .folder = f.path, .scene = scene_events, .steps = 33 });
            check_ok(3);
            run_members(2, (job){ .folder = f.path, .resumes = true });
            check_ok(2);
        } else {
            run_members(members, (job){ .folder = f.path, .scene = scene_events });
            check_ok(members);
        }
        CHECK(check_same_h5(&alone, &f) > 80);
        CHECK_INT(check_same_files(&alone, &f, "statistics"), 1);
        CHECK(file_exists(&f, "light.state") && file_exists(&f, "loaded.state"));
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

TEST(a_run_goes_on_with_another_number_of_members)
{
    static const int before[] = { 2, 3, 1 }, after[] = { 3, 1, 2 };
    folder alone = folder_create();
    run_members(1, (job){ .folder = alone.path });
    for (int k = 0; k < 3; k++) {
        folder f = folder_create();
        run_members(before[k], (job){ .folder = f.path, .steps = 12 });
        check_ok(before[k]);
        CHECK(jobs[0].summary.interrupted);
        run_members(after[k], (job){ .folder = f.path, .resumes = true });
        check_ok(after[k]);
        CHECK_INT(jobs[0].summary.steps, 20);
        CHECK(check_same_h5(&alone, &f) > 80);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

/* Walls with their servos, and the cell with its images, are known to whoever goes on. */
TEST(cells_and_periodic_cells_go_on_with_other_members)
{
    static const struct {
        const char *scene;
        int before, after;
    } runs[] = { { scene_cell, 3, 2 },
                 { scene_cell, 1, 4 },
                 { scene_periodic, 2, 3 },
                 { scene_periodic, 4, 1 } };
    folder alone;
    for (int k = 0; k < 4; k += CHECKED ? 2 : 1) {
        folder f = folder_create();
        if (k % 2 == 0) {
            alone = folder_create();
            run_members(1, (job){ .folder = alone.path, .scene = runs[k].scene });
            check_ok(1);
        }
        uint64_t hash = jobs[0].summary.hash;
        run_members(runs[k].before, (job){ .folder = f.path, .scene = runs[k].scene, .steps = 27 });
        check_ok(runs[k].before);
        CHECK(jobs[0].summary.interrupted);
        run_members(runs[k].after, (job){ .folder = f.path, .resumes = true });
        check_ok(runs[k].after);
        CHECK_INT(jobs[0].summary.steps, 60);
        CHECK(jobs[0].summary.hash == hash);
        CHECK(check_same_h5(&alone, &f) > 80);
        CHECK(check_same_files(&alone, &f, "statistics") >= 1);
        CHECK_INT(check_same_files(&alone, &f, "series"), 1);
        folder_remove(f.path);
        if (k % 2 == 1 || CHECKED)
            folder_remove(alone.path);
    }
}

TEST(members_that_make_shares_of_a_scene_write_the_files_of_one_process)
{
    folder home = folder_create(), alone = folder_create();
    file_write(&home, "scene.yaml", scene_shares);
    path scene = path_in(&home, "scene.yaml");
    run_members(1, (job){ .folder = alone.path, .path = scene.text });
    check_ok(1);
    CHECK(!jobs[0].shared);
    CHECK_INT(jobs[0].summary.bodies, 4 + 1728 + 9 + 400);
    uint64_t hash = jobs[0].summary.hash;
    for (int members = 2; members <= 5; members += CHECKED ? 3 : 1) {
        folder f = folder_create();
        run_members(members, (job){ .folder = f.path, .path = scene.text });
        check_ok(members);
        CHECK(jobs[0].shared);
        CHECK(jobs[0].summary.hash == hash);
        CHECK_INT(jobs[0].summary.ranks.members, members < 4 ? members : 4);
        CHECK(check_same_h5(&alone, &f) > 60);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
    folder_remove(home.path);
}

static unsigned char *bytes_of(const folder *f, const char *name, size_t *size)
{
    FILE *file = fopen(path_in(f, name).text, "rb");
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    CHECK(fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

/* The share of two files of the same size that is the same, counted from the end of what comes
 * before their checksums. */
static double share_of_same_bytes(const folder *f, const folder *g, const char *name)
{
    size_t sizes[2], same = 8;
    unsigned char *one = bytes_of(f, name, &sizes[0]), *other = bytes_of(g, name, &sizes[1]);
    CHECK(sizes[0] == sizes[1] && sizes[0] > 8);
    while (same < sizes[0] && one[sizes[0] - 1 - same] == other[sizes[0] - 1 - same])
        same++;
    free(one);
    free(other);
    return (double)same / (double)sizes[0];
}

/* The points of a frame of bodies in `pieces` files of ParaView; 0: in one file. */
static int64_t count_points(const folder *f, int frame, int pieces)
{
    int64_t sum = 0;
    for (int k = 0; k < (pieces > 0 ? pieces : 1); k++) {
        char name[64];
        if (pieces > 0)
            snprintf(name, sizeof name, "paraview/bodies_%06d_%d.vtp", frame, k);
        else
            snprintf(name, sizeof name, "paraview/bodies_%06d.vtp", frame);
        const char *head = strstr(file_text(f, name), "NumberOfPoints=\"");
        CHECK(head != NULL);
        sum += strtoll(head + strlen("NumberOfPoints=\""), NULL, 10);
    }
    return sum;
}

/* Each member writes a piece of what one process writes into one file. */
static void check_pieces(const folder *alone, const folder *f, int members)
{
    CHECK(share_of_same_bytes(alone, f, "paraview/walls_000000.vtp") == 1);
    for (int frame = 0; frame < 3; frame++)
        CHECK_INT(count_points(f, frame, members), count_points(alone, frame, 0));
    CHECK_CONTAINS(file_text(f, "paraview/bodies_000001.pvtp"), "Source=\"bodies_000001_1.vtp\"");
    CHECK_CONTAINS(file_text(f, "paraview/contacts.pvd"), "file=\"contacts_000002.pvtp\"");
    CHECK(!file_exists(f, "paraview/bodies_000001.vtp"));
}

TEST(a_run_without_a_whole_world_writes_the_frames_of_one_process)
{
    folder home = folder_create(), alone = folder_create();
    file_write(&home, "scene.yaml", scene_spread);
    path scene = path_in(&home, "scene.yaml");
    run_members(1, (job){ .folder = alone.path, .path = scene.text });
    check_ok(1);
    const cairn_run_summary one = jobs[0].summary;
    CHECK(one.energy.left_mass > 0 && one.bodies > 8000 && one.displaced >= 0);
    for (int members = CHECKED ? 4 : 2; members <= 4; members += 2) {
        folder f = folder_create();
        run_members(members, (job){ .folder = f.path, .path = scene.text });
        check_ok(members);
        CHECK(jobs[0].shared);
        CHECK(jobs[0].seen < one.bodies / 2 + 4);
        CHECK(jobs[0].summary.hash == one.hash);
        CHECK_INT(jobs[0].summary.bodies, one.bodies);
        CHECK_INT(jobs[0].summary.displaced, one.displaced);
        CHECK(jobs[0].summary.displacement == one.displacement);
        CHECK(check_same_h5(&alone, &f) > 60);
        CHECK(share_of_same_bytes(&alone, &f, "state") == 1);
        CHECK(share_of_same_bytes(&alone, &f, "picture.svg") == 1);
        check_pieces(&alone, &f, members);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
    folder_remove(home.path);
}

/* The checkpoint has what no member had as a whole, with the bytes of one process but for
 * its first part (wall times, places at the start); and those who go on get shares of it. */
TEST(a_run_without_a_whole_world_goes_on_after_a_stop)
{
    folder home = folder_create(), alone = folder_create(), f = folder_create();
    file_write(&home, "scene.yaml", scene_spread);
    path scene = path_in(&home, "scene.yaml");
    run_members(1, (job){ .folder = alone.path, .path = scene.text, .steps = 2 });
    run_members(3, (job){ .folder = f.path, .path = scene.text, .steps = 2 });
    check_ok(3);
    CHECK(jobs[0].summary.interrupted);
    CHECK(share_of_same_bytes(&alone, &f, "checkpoint") > 0.95);
    run_members(1, (job){ .folder = alone.path, .resumes = true });
    const cairn_run_summary one = jobs[0].summary;
    run_members(2, (job){ .folder = f.path, .resumes = true, .steps = 3 });
    check_ok(2);
    CHECK(jobs[0].shared && jobs[0].summary.interrupted);
    run_members(4, (job){ .folder = f.path, .resumes = true });
    check_ok(4);
    CHECK(jobs[0].shared);
    CHECK(share_of_same_bytes(&alone, &f, "state") == 1);
    CHECK_INT(count_points(&f, 1, 3), count_points(&alone, 1, 0)); /* of the first members */
    CHECK_INT(count_points(&f, 2, 4), count_points(&alone, 2, 0));
    CHECK(jobs[0].summary.hash == one.hash);
    CHECK_INT(jobs[0].summary.displaced, one.displaced);
    CHECK(check_same_h5(&alone, &f) > 60);
    folder_remove(f.path);
    folder_remove(alone.path);
    folder_remove(home.path);
}

/* The first scene has all inputs of a step; the second one more bodies and contacts than fit into
 * one window (not under sanitizers). Both go on with other members. */
TEST(a_full_certificate_needs_no_whole_world)
{
    static const struct {
        const char *scene, *override;
        int steps; /* of the first part */
    } cases[2] = { { scene_certified, NULL, 17 }, { scene_spread, "run.certificate=full", 2 } };
    for (int k = 0; k < (CHECKED ? 1 : 2); k++) {
        folder home = folder_create(), alone = folder_create(), f = folder_create();
        file_write(&home, "scene.yaml", cases[k].scene);
        path scene = path_in(&home, "scene.yaml");
        job whole = { .folder = alone.path, .path = scene.text, .override = cases[k].override };
        run_members(1, whole);
        check_ok(1);
        const cairn_run_summary one = jobs[0].summary;
        CHECK(k == 1 || (one.impacts > 20 && one.energy.left_mass > 0));
        job part = whole;
        part.folder = f.path;
        part.steps = cases[k].steps;
        run_members(3, part);
        check_ok(3);
        CHECK(jobs[0].shared && jobs[0].seen < one.bodies / 2);
        run_members(2, (job){ .folder = f.path, .resumes = true });
        check_ok(2);
        CHECK(jobs[0].shared && jobs[0].seen < one.bodies / 2);
        CHECK(jobs[0].summary.hash == one.hash);
        CHECK(check_same_h5(&alone, &f) > 90);
        CHECK(share_of_same_bytes(&alone, &f, "picture.svg") == 1);
        folder_remove(f.path);
        folder_remove(alone.path);
        folder_remove(home.path);
    }
}

/* An array of a file of ParaView, which follows the head as raw bytes; NULL: there is none. */
static const unsigned char *array_of(const unsigned char *data, const char *name, size_t *size)
{
    static const char mark[] = "<AppendedData encoding=\"raw\">\n_";
    char wanted[64];
    snprintf(wanted, sizeof wanted, "Name=\"%s\"", name);
    const char *head = strstr((const char *)data, wanted);
    const char *end = strstr((const char *)data, mark);
    if (!head || head > end)
        return NULL;
    size_t width = strtoul(strstr(head, "Components=\"") + strlen("Components=\""), NULL, 10);
    size_t offset = strtoul(strstr(head, "offset=\"") + strlen("offset=\""), NULL, 10);
    *size = width * (strcmp(name, "id") == 0 ? 4 : 8);
    return (const unsigned char *)end + strlen(mark) + offset + 8;
}

/* A sum over the points of a series in all files of a frame that does not depend on their order. */
static uint64_t digest_of(const folder *f, const char *series, int frame, int pieces)
{
    static const char *const arrays[] = { "id",    "Points", "velocity",   "mass",
                                          "force", "radius", "orientation" };
    uint64_t sum = 0;
    for (int k = 0; k < (pieces > 0 ? pieces : 1); k++) {
        char name[64], piece[16] = "";
        if (pieces > 0)
            snprintf(piece, sizeof piece, "_%d", k);
        snprintf(name, sizeof name, "paraview/%s_%06d%s.vtp", series, frame, piece);
        size_t bytes, size;
        unsigned char *data = bytes_of(f, name, &bytes);
        data[bytes] = 0;
        const char *head = strstr((const char *)data, "NumberOfPoints=\"");
        int64_t points = strtoll(head + strlen("NumberOfPoints=\""), NULL, 10);
        for (int64_t i = 0; i < points; i++) {
            uint64_t hash = 14695981039346656037u;
            for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
                const unsigned char *rows = array_of(data, arrays[a], &size);
                for (size_t b = 0; rows && b < size; b++)
                    hash = (hash ^ rows[(size_t)i * size + b]) * 1099511628211u;
            }
            sum += hash;
        }
        free(data);
    }
    return sum;
}

/* Polygons of the shapes in all files of a frame; their arrays are compressed. */
static int64_t polygons_of(const folder *f, int frame, int pieces)
{
    int64_t sum = 0;
    for (int k = 0; k < (pieces > 0 ? pieces : 1); k++) {
        char name[64], piece[16] = "";
        if (pieces > 0)
            snprintf(piece, sizeof piece, "_%d", k);
        snprintf(name, sizeof name, "paraview/shapes_%06d%s.vtp", frame, piece);
        size_t bytes;
        unsigned char *data = bytes_of(f, name, &bytes);
        data[bytes] = 0;
        const char *head = strstr((const char *)data, "NumberOfPolys=\"");
        sum += strtoll(head + strlen("NumberOfPolys=\""), NULL, 10);
        CHECK_CONTAINS((const char *)data, "Name=\"name\""); /* the same arrays in all pieces */
        CHECK_CONTAINS((const char *)data, "Name=\"material_name\"");
        free(data);
    }
    return sum;
}

/* Pieces of bodies have the numbers of one process, and those of shapes all polygons. */
static void check_digests(const folder *alone, const folder *f, int first, int end, int members)
{
    for (int frame = first; frame < end; frame++) {
        int64_t polygons = polygons_of(alone, frame, 0);
        CHECK(digest_of(alone, "bodies", frame, 0) == digest_of(f, "bodies", frame, members));
        CHECK(polygons > 0 && polygons == polygons_of(f, frame, members));
    }
}

TEST(shapes_need_no_whole_world)
{
    folder home = folder_create(), alone = folder_create(), f = folder_create();
    file_write(&home, "scene.yaml", scene_solids);
    path scene = path_in(&home, "scene.yaml");
    run_members(1, (job){ .folder = alone.path, .path = scene.text });
    check_ok(1);
    const cairn_run_summary one = jobs[0].summary;
    CHECK(one.energy.left_mass > 0);
    run_members(3, (job){ .folder = f.path, .path = scene.text });
    check_ok(3);
    CHECK(jobs[0].shared && jobs[0].seen < one.bodies / 2);
    check_digests(&alone, &f, 0, 4, 3);
    CHECK(share_of_same_bytes(&alone, &f, "picture.svg") == 1);
    CHECK(share_of_same_bytes(&alone, &f, "state") == 1);
    run_members(3, (job){ .folder = f.path, .path = scene.text, .steps = 17 });
    check_ok(3);
    run_members(2, (job){ .folder = f.path, .resumes = true });
    check_ok(2);
    CHECK(jobs[0].shared && jobs[0].seen < one.bodies / 2);
    CHECK(jobs[0].summary.hash == one.hash);
    CHECK(check_same_h5(&alone, &f) > 60);
    CHECK(share_of_same_bytes(&alone, &f, "picture.svg") == 1);
    folder_remove(f.path);
    folder_remove(alone.path);
    folder_remove(home.path);
}

/* What was measured is the same, and no member had all bodies. */
static void check_measured(const folder *alone, const folder *f, const cairn_run_summary *one)
{
    CHECK(jobs[0].shared && jobs[0].seen < one->bodies / 2 + 4);
    CHECK(jobs[0].summary.hash == one->hash);
    CHECK(jobs[0].summary.has_packing && one->has_packing);
    CHECK(jobs[0].summary.packing.fraction == one->packing.fraction);
    CHECK(jobs[0].summary.packing.low == one->packing.low);
    CHECK_INT(jobs[0].summary.packing.samples, one->packing.samples);
    CHECK(check_same_h5(alone, f) > 150);
    CHECK_INT(check_same_files(alone, f, "statistics"), 15); /* fields have none */
    CHECK(share_of_same_bytes(alone, f, "paraview/fields_000002.vti") == 1);
}

/* The finished run is measured to the same bits, though the rows of the world were sorted. */
static void check_finished(const folder *f)
{
    const cairn_names names = { { "centre", "slices", "stress", "mixing", "pair-correlation" }, 5 };
    cairn_measure_options options = cairn_measure_options_default();
    cairn_statistic_table t[5];
    options.kinetic = true;
    options.bins = 20;
    options.axis = "x";
    CHECK_OK(cairn_run_measure(f->path, &names, &options, t, NULL));
    for (int i = 0; i < names.count; i++) {
        CHECK(t[i].rows > 0);
        for (int c = 0; c < t[i].column_count; c++) {
            char name[64];
            double v[64];
            snprintf(name, sizeof name, "statistics/%s/%s", t[i].name, t[i].columns[c].name);
            CHECK_INT(h5_numbers(path_in(f, "run.h5").text, name, v, 64), t[i].rows);
            for (size_t k = 0; k < t[i].rows; k++) {
                double now = t[i].values[k * (size_t)t[i].column_count + (size_t)c];
                CHECK((isnan(now) && isnan(v[k])) || now == v[k]);
            }
        }
        cairn_statistic_table_destroy(&t[i]);
    }
}

/* With as many members as parts; also in a run that goes on with others. Under sanitizers there are
 * fewer bodies, in one window. */
TEST(statistics_and_packing_need_no_whole_world)
{
    static const int members[] = { 2, 3, 8 };
    const char *few = CHECKED ? "generators.0.grid.count=[19, 9, 6]" : NULL;
    folder home = folder_create(), alone = folder_create(), other = folder_create();
    file_write(&home, "scene.yaml", scene_measured);
    path scene = path_in(&home, "scene.yaml");
    job whole = { .folder = alone.path, .path = scene.text, .override = few };
    run_members(1, whole);
    check_ok(1);
    const cairn_run_summary one = jobs[0].summary;
    CHECK(one.energy.left_mass > 0 && one.energy.entered_mass > 0);
    CHECK(CHECKED || one.bodies > 8192);
    check_finished(&alone);
    for (int k = CHECKED ? 1 : 0; k < (CHECKED ? 2 : 3); k++) {
        folder f = folder_create();
        job part = whole;
        part.folder = f.path;
        run_members(members[k], part);
        check_ok(members[k]);
        check_measured(&alone, &f, &one);
        folder_remove(f.path);
    }
    whole.folder = other.path;
    whole.steps = 2;
    run_members(3, whole);
    check_ok(3);
    run_members(2, (job){ .folder = other.path, .resumes = true });
    check_ok(2);
    check_measured(&alone, &other, &one);
    folder_remove(other.path);
    folder_remove(alone.path);
    folder_remove(home.path);
}

/* Each scene is run by all, stopped and gone on with by other members: no rank has all bodies, and
 * the files are those of one process. */
TEST(joints_events_and_periodic_cells_need_no_whole_world)
{
    static const char *const states[] = { "light.state", "loaded.state", "opened.state",
                                          "later.state" };
    static const struct {
        const char *scene, *override;
        int steps, series; /* of the first part; files of series */
    } cases[] = { { scene_joints, NULL, 17, 2 },
                  { scene_events, NULL, 33, 0 },
                  { scene_periodic, NULL, 33, 1 },
                  { scene_layer, NULL, 4, 0 } };
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
        folder home = folder_create(), alone = folder_create(), f = folder_create();
        file_write(&home, "scene.yaml", cases[k].scene);
        path scene = path_in(&home, "scene.yaml");
        job part = { .folder = alone.path, .path = scene.text, .override = cases[k].override };
        run_members(1, part);
        check_ok(1);
        const cairn_run_summary one = jobs[0].summary;
        part.folder = f.path;
        for (int go = CHECKED ? 1 : 0; go < 2; go++) {
            part.steps = go ? cases[k].steps : 0;
            run_members(3, part);
            check_ok(3);
            CHECK(jobs[0].shared && jobs[0].seen < one.bodies);
            if (go)
                run_members(2, (job){ .folder = f.path, .resumes = true });
            check_ok(2);
            CHECK(jobs[0].shared && jobs[0].seen < one.bodies);
            CHECK(jobs[0].summary.hash == one.hash);
            CHECK_INT(jobs[0].summary.joints, one.joints);
            CHECK_INT(jobs[0].summary.displaced, one.displaced);
            CHECK(jobs[0].summary.displacement == one.displacement);
            CHECK(check_same_h5(&alone, &f) > 60);
            if (cases[k].series > 0)
                CHECK_INT(check_same_files(&alone, &f, "series"), cases[k].series);
            CHECK(share_of_same_bytes(&alone, &f, "picture.svg") == 1);
            CHECK(share_of_same_bytes(&alone, &f, "state") == 1);
            if (cases[k].scene == scene_joints)
                CHECK(share_of_same_bytes(&alone, &f, "paraview/joints_000003.vtp") == 1);
            for (int i = 0; i < 4 && cases[k].scene == scene_events; i++)
                CHECK(share_of_same_bytes(&alone, &f, states[i]) == 1);
        }
        folder_remove(f.path);
        folder_remove(alone.path);
        folder_remove(home.path);
    }
}

/* They need all bodies: spheres that fill the places between others, and a state. */
TEST(scenes_that_cannot_be_made_in_shares_are_made_by_the_first_member)
{
    static const char *const fill =
        "cairn: 1\n"
        "bodies: [{motion: fixed, shape: {half_space: {}}}]\n"
        "generators:\n"
        "  - grid: {count: [4, 4, 4], spacing: [0.3, 0.3, 0.3], origin: [0, 0, 0.2], radius: "
        "0.1}\n"
        "  - fill: {bodies: 20, centre: [0.5, 0.5, 0.6], size: [1, 1, 1], radius: 0.05}\n"
        "run: {time_step: 5e-3, duration: 0.01, solver: ngs, parts: 3, threads: 1}\n";
    folder home = folder_create();
    file_write(&home, "fill.yaml", fill);
    path scene = path_in(&home, "fill.yaml");
    uint64_t hash = 0;
    for (int members = 1; members <= 3; members++) {
        run_members(members, (job){ .path = scene.text });
        check_ok(members);
        CHECK(!jobs[0].shared);
        CHECK(members == 1 || jobs[0].summary.hash == hash);
        hash = jobs[0].summary.hash;
    }
    folder_remove(home.path);
}

/* Only rank 0 reports it, with the place in the file; the others end too. */
TEST(a_scene_whose_shares_are_wrong_is_refused_as_by_one_process)
{
    static const struct {
        const char *scene, *override, *message;
    } wrong[] = {
        { scene_shares, "generators.0.grid.radius=0.06",
          "made by generators.0.grid) overlap by 0.0" },
        { scene_layer, "generators.0.grid.radius=0.06",
          "made by generators.0.grid) overlap by 0.0" },
        { scene_layer, "generators.0.grid.radius=0.45",
          "has a diameter of 0.9 m, expected at most" },
    };
    for (int k = 0; k < 3; k++) {
        folder home = folder_create();
        file_write(&home, "scene.yaml", wrong[k].scene);
        path scene = path_in(&home, "scene.yaml");
        for (int members = 1; members <= 3; members += 2) {
            run_members(members, (job){ .path = scene.text, .override = wrong[k].override });
            CHECK_INT(jobs[0].status, CAIRN_BAD_INPUT);
            CHECK_CONTAINS(jobs[0].error.message, wrong[k].message);
            for (int m = 1; m < members; m++)
                CHECK_INT(jobs[m].status, CAIRN_OK);
        }
        folder_remove(home.path);
    }
}

/* Without run.parts their number follows from the bodies: 80 are too few to be divided. */
TEST(the_default_number_of_parts_does_not_depend_on_members)
{
    for (int members = 2; members <= 3; members++) {
        run_members(members, (job){ .override = "run.parts=0" });
        check_ok(members);
        CHECK_INT(jobs[0].summary.ranks.parts, 1);
        CHECK_INT(jobs[0].summary.ranks.members, 1);
    }
}

/* Tables of pairs of parts hold those that touch, so that there may be many parts; most of these
 * are empty. */
TEST(thousands_of_parts_have_the_same_bits_for_any_members)
{
    uint64_t hash = 0;
    for (int members = 1; members <= 3; members++) {
        run_members(members, (job){ .override = "run.parts=3000", .steps = CHECKED ? 4 : 12 });
        check_ok(members);
        CHECK(members == 1 || jobs[0].summary.hash == hash);
        CHECK_INT(jobs[0].summary.ranks.members, members == 1 ? 0 : members);
        hash = jobs[0].summary.hash;
    }
}

/* The others end too, and nothing is written. */
TEST(what_the_first_member_cannot_begin_ends_all)
{
    static const struct {
        const char *override, *message;
    } wrong[] = { { "run.solver=newton", "solvers that factorise" },
                  { "run.save_problem=[3]", "several ranks" } };
    for (int k = 0; k < 2; k++) {
        folder f = folder_create();
        path inside = path_in(&f, "run");
        run_members(3, (job){ .folder = inside.text, .override = wrong[k].override });
        CHECK_INT(jobs[0].status, CAIRN_UNSUPPORTED);
        CHECK_CONTAINS(jobs[0].error.message, wrong[k].message);
        CHECK_INT(jobs[1].status, CAIRN_OK);
        CHECK_INT(jobs[2].status, CAIRN_OK);
        CHECK(!file_exists(&f, "run"));
        folder_remove(f.path);
    }
}

/* The force on the arm depends on what the caller sees of the balls; one is struck, one is put
 * elsewhere, one becomes slippery; the paddle turns back, the motor gets another target. */
static void control(cairn_world *world, int step)
{
    const cairn_body_id arm = { 3 }, paddle = { 2 }, ball = { (uint64_t)(4 + step) };
    const cairn_vec3 zero = { 0, 0, 0 };
    const cairn_bodies b = cairn_world_bodies(world);
    double height = 0;
    for (int i = b.held; i < b.count; i++)
        height += b.x[i].z;
    CHECK_OK(cairn_body_push(world, arm, (cairn_vec3){ height - 8, 0, 0 }, zero));
    CHECK_OK(cairn_joint_aim(world, (cairn_joint_id){ 0, 0 }, true, 0.01 * step));
    if (step % 3 == 0)
        CHECK_OK(cairn_body_strike(world, ball, (cairn_vec3){ 0, 0.2, 0.5 }, zero));
    if (step == 5 || step == 14) {
        cairn_body_state state;
        CHECK_OK(cairn_body_get(world, ball, &state));
        state.x.z += 0.8;
        CHECK_OK(cairn_body_put(world, ball, &state));
        CHECK_OK(cairn_body_set_material(world, ball, 1));
    }
    cairn_driver up = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    up.velocity = (cairn_vec3){ 0.2, 0, 0.6 };
    if (step == 7)
        CHECK_OK(cairn_body_drive(world, paddle, &up, 1));
    if (step == 16)
        CHECK_OK(cairn_body_stop(world, paddle));
}

TEST(a_loop_of_the_first_member_controls_the_bodies_of_all)
{
    folder alone = folder_create();
    const job whole = { .scene = scene_controlled, .law = control };
    job first = whole;
    first.folder = alone.path;
    run_members(1, first);
    check_ok(1);
    CHECK(jobs[0].summary.energy.applied != 0 && jobs[0].summary.energy.load_work != 0);
    CHECK_INT(jobs[0].summary.changed, 9);
    for (int members = CHECKED ? 4 : 2; members <= 4; members++) {
        folder f = folder_create();
        first = whole;
        first.folder = f.path;
        first.steps = members == 4 ? 11 : 0;
        run_members(members == 4 ? 3 : members, first);
        check_ok(members == 4 ? 3 : members);
        first.resumes = true;
        first.steps = 0;
        if (members == 4)
            run_members(2, first);
        check_ok(2);
        CHECK(check_same_h5(&alone, &f) > 80);
        folder_remove(f.path);
    }
    folder_remove(alone.path);
}

static void push_one(cairn_world *world, int step)
{
    CHECK_OK(cairn_body_push(world, (cairn_body_id){ (uint64_t)(500 + step) },
                             (cairn_vec3){ 3, 2, 9 }, (cairn_vec3){ 0, 0, 0 }));
    CHECK_INT(cairn_world_body_count(world), cairn_world_bodies(world).count);
}

/* Members make shares of the bodies; the caller still sees all of them. */
TEST(a_loop_sees_all_bodies_of_a_scene_made_in_shares)
{
    folder home = folder_create(), alone = folder_create(), f = folder_create();
    file_write(&home, "scene.yaml", scene_shares);
    path scene = path_in(&home, "scene.yaml");
    run_members(1, (job){ .folder = alone.path, .path = scene.text, .law = push_one });
    check_ok(1);
    run_members(3, (job){ .folder = f.path, .path = scene.text, .law = push_one });
    check_ok(3);
    CHECK(jobs[0].shared);
    CHECK(check_same_h5(&alone, &f) > 60);
    folder_remove(f.path);
    folder_remove(alone.path);
    folder_remove(home.path);
}

static void vary_as(cairn_world *world, cairn_varied what, cairn_function function)
{
    CHECK_OK(cairn_world_vary(world, what, 0, &function));
}

/* Materials, a pair and functions of time become others; one function ends. */
static void change_laws(cairn_world *world, int step)
{
    static const double when[] = { 0, 0.12, 0.2 }, pull[] = { 4, -3, 2 };
    cairn_material_def ice = { .friction = 0.01, .restitution = 0.4 }, pair = { .friction = 0.3 };
    cairn_function table = cairn_function_default(CAIRN_FUNCTION_TABLE);
    table.time = (cairn_list){ when, 3 };
    table.values = (cairn_list){ pull, 3 };
    if (step == 2)
        CHECK_OK(cairn_material_set(world, 1, &ice));
    if (step == 3)
        CHECK_OK(cairn_body_set_material(world, (cairn_body_id){ 10 }, 1));
    if (step == 4)
        vary_as(world, CAIRN_VARIED_GRAVITY_X,
                (cairn_function){ CAIRN_FUNCTION_EXPRESSION, .text = "3 * sin(40 * t)" });
    if (step == 6)
        CHECK_OK(cairn_material_pair_set(world, 0, 1, &pair));
    if (step == 8)
        vary_as(world, CAIRN_VARIED_RATE,
                (cairn_function){ CAIRN_FUNCTION_RAMP, .from = 100, .to = 400, .stop = 0.2 });
    if (step == 12)
        vary_as(world, CAIRN_VARIED_GRAVITY_Y, table);
    if (step == 14)
        CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_X, 0, NULL));
    if (step == 15)
        CHECK_OK(cairn_material_set(world, 0, &ice));
}

static double wave(void *context, double t)
{
    return *(const double *)context * (1 + sin(50 * t));
}

/* Callbacks, which only the process of the caller has, in each place; one ends, and a material gets
 * another number while its friction follows one. */
static void call_laws(cairn_world *world, int step)
{
    static double factors[] = { 3, 0.2, 300, 0.1, 5 };
    static const cairn_varied what[] = { CAIRN_VARIED_GRAVITY_X, CAIRN_VARIED_FRICTION,
                                         CAIRN_VARIED_RATE, CAIRN_VARIED_TURN,
                                         CAIRN_VARIED_GRAVITY_Y };
    cairn_material_def rough = { .friction = 0.9, .restitution = 0.2 };
    for (int k = 0; k < 5; k++)
        if (step == (k < 4 ? 2 * k : 0))
            vary_as(world, what[k],
                    (cairn_function){ CAIRN_FUNCTION_CALL, .call = wave, .context = &factors[k] });
    if (step == 9)
        CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_GRAVITY_Y, 0, NULL));
    if (step == 11)
        CHECK_OK(cairn_material_set(world, 0, &rough));
}

/* By one member and by several; with functions of the program there is no checkpoint. */
TEST(materials_and_functions_that_the_caller_changes_go_to_all_members)
{
    const job laws[] = { { .scene = scene_lawful, .law = change_laws },
                         { .scene = scene_lawful, .law = call_laws, .begins = true } };
    for (int k = 0; k < 2; k++) {
        folder alone = folder_create();
        job first = laws[k];
        first.folder = alone.path;
        run_members(1, first);
        check_ok(1);
        uint64_t hash = jobs[0].summary.hash;
        CHECK(jobs[0].summary.bodies > 60);
        for (int members = 2; members <= 3; members++) {
            folder f = folder_create();
            first = laws[k];
            first.folder = f.path;
            first.steps = k == 0 && members == 3 ? 11 : 0;
            run_members(members, first);
            check_ok(members);
            first.resumes = true;
            if (first.steps > 0)
                run_members(2, first);
            check_ok(2);
            CHECK(jobs[0].summary.hash == hash);
            CHECK(check_same_h5(&alone, &f) > 80);
            folder_remove(f.path);
        }
        folder_remove(alone.path);
    }
}

static cairn_status pull(void *context, const cairn_world *world, double time, cairn_vec3 *force,
                         cairn_vec3 *torque)
{
    (void)context, (void)time, (void)torque;
    force[cairn_world_bodies(world).held].x = 1;
    return CAIRN_OK;
}

static void pull_later(cairn_world *world, int step)
{
    cairn_world_on_force(world, step == 2 ? pull : NULL, NULL);
}

static void pull_always(cairn_world *world, int step)
{
    (void)step;
    cairn_world_on_force(world, pull, NULL);
}

/* The paddle is moved by a function of the program. */
static void drive_by_callback(cairn_world *world, int step)
{
    static double speed = 0.1;
    cairn_driver driver = cairn_driver_default(CAIRN_DRIVER_MOTION);
    driver.speed[2] = (cairn_function){ CAIRN_FUNCTION_CALL, .call = wave, .context = &speed };
    if (step == 1)
        CHECK_OK(cairn_body_drive(world, (cairn_body_id){ 2 }, &driver, 1));
}

/* With a message, at the beginning or before a step; the others end too. */
TEST(functions_that_members_cannot_call_are_refused)
{
    static const struct {
        job first;
        const char *message;
    } wrong[] = {
        { { .law = pull_later }, "cairn_body_push before each step" },
        { { .law = pull_always, .begins = true }, "cairn_body_push before each step" },
        { { .law = drive_by_callback }, "exists in this process alone" },
        { { .change = call_laws }, "only runs that their caller steps" },
        { { .change = pull_always }, "cairn_body_push before each step" },
    };
    for (int k = 0; k < 5; k++) {
        job first = wrong[k].first;
        first.scene = scene_lawful;
        first.steps = 4;
        run_members(2, first);
        CHECK_INT(jobs[0].status, CAIRN_UNSUPPORTED);
        CHECK_CONTAINS(jobs[0].error.message, wrong[k].message);
        CHECK_INT(jobs[1].status, CAIRN_OK);
    }
}

GROUP(test_together)
{
    RUN(CASE(a_run_by_several_members_has_the_files_of_one_process),
        CASE(what_varies_and_what_comes_in_is_written_as_by_one_process),
        CASE(a_cell_that_shears_is_written_as_by_one_process),
        CASE(events_happen_as_in_one_process),
        CASE(a_loop_of_the_first_member_controls_the_bodies_of_all),
        CASE(a_loop_sees_all_bodies_of_a_scene_made_in_shares),
        CASE(materials_and_functions_that_the_caller_changes_go_to_all_members),
        CASE(functions_that_members_cannot_call_are_refused),
        CASE(a_run_goes_on_with_another_number_of_members),
        CASE(cells_and_periodic_cells_go_on_with_other_members),
        CASE(members_that_make_shares_of_a_scene_write_the_files_of_one_process),
        CASE(a_run_without_a_whole_world_writes_the_frames_of_one_process),
        CASE(a_run_without_a_whole_world_goes_on_after_a_stop),
        CASE(a_full_certificate_needs_no_whole_world), CASE(shapes_need_no_whole_world),
        CASE(joints_events_and_periodic_cells_need_no_whole_world),
        CASE(statistics_and_packing_need_no_whole_world),
        CASE(scenes_that_cannot_be_made_in_shares_are_made_by_the_first_member),
        CASE(a_scene_whose_shares_are_wrong_is_refused_as_by_one_process),
        CASE(the_default_number_of_parts_does_not_depend_on_members),
        CASE(thousands_of_parts_have_the_same_bits_for_any_members),
        CASE(what_the_first_member_cannot_begin_ends_all));
}

/* ==== test_own_loop: runs that their caller steps ============================================ */

/* A ball on a floor, pushed by nothing or by the caller; a frame every 0.02 s. */
static const char *const scene_loop =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}, ice: {friction: 0.05}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}, material: stone}\n"
    "  - {name: one, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.1], material: "
    "stone}\n"
    "  - {name: two, shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 2, position: [0.5, 0, 0.1],\n"
    "     velocity: [1, 0, 0], material: stone}\n"
    "run: {time_step: 0.005, duration: 0.2, threads: 1, frame_interval: 0.02, certificate: full,\n"
    "      checkpoint_every: 0.05, statistics: [centre, energy]}\n";

enum { ONE = 1, TWO = 2, STEPS = 40 };

/* A law of control: the box is held at x = 1 by a force that depends on its state alone. */
static void hold(cairn_world *world)
{
    cairn_body_id box = { TWO };
    cairn_body_state state;
    CHECK_OK(cairn_body_get(world, box, &state));
    cairn_vec3 force = { 50 * (1 - state.x.x) - 10 * state.v.x, 0, 0 };
    CHECK_OK(cairn_body_push(world, box, force, (cairn_vec3){ 0, 0, 0 }));
}

/* Steps until so many are done. */
static void take(cairn_running *run, cairn_scene *scene, int steps, bool holds)
{
    for (int k = 0; k < steps; k++) {
        cairn_error error;
        CHECK(cairn_run_goes_on(run));
        if (holds)
            hold(scene->world);
        if (cairn_run_step(run, NULL, &error) != CAIRN_OK)
            fail_msg("%s", error.message);
    }
}

static cairn_running *start(cairn_scene *scene, const char *name)
{
    cairn_running *run;
    cairn_error error = { 0 };
    if (cairn_run_begin(scene, name, &run, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    return run;
}

TEST(a_loop_without_changes_writes_the_folder_of_a_run)
{
    folder f = folder_create(), g = folder_create();
    cairn_scene *scene = scene_text_good(scene_loop, NULL);
    cairn_run_summary plain, own;
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, &plain, NULL));
    cairn_scene_destroy(scene);
    scene = scene_text_good(scene_loop, NULL);
    cairn_running *run = start(scene, g.path);
    take(run, scene, STEPS, false);
    CHECK(!cairn_run_goes_on(run));
    CHECK_OK(cairn_run_end(&run, &own, NULL));
    CHECK(run == NULL);
    CHECK_INT(own.hash, plain.hash);
    CHECK_INT(own.steps, STEPS);
    CHECK_INT(own.changed, 0);
    CHECK(!own.interrupted);
    CHECK(check_same_h5(&f, &g) > 80);
    CHECK(check_same_files(&f, &g, "paraview") > 5);
    CHECK(file_exists(&g, "summary.json") && !file_exists(&g, "checkpoint"));
    cairn_scene_destroy(scene);
    folder_remove(f.path);
    folder_remove(g.path);
}

/* The same bits, whether the loop runs through, or is ended after 17 steps and goes on; and where a
 * run is killed, from its last checkpoint, here at step 30. */
TEST(a_loop_goes_on_from_its_checkpoint)
{
    folder f = folder_create(), g = folder_create();
    cairn_run_summary whole, rest;
    cairn_scene *scene = scene_text_good(scene_loop, NULL);
    cairn_running *run = start(scene, f.path);
    take(run, scene, STEPS, true);
    CHECK_OK(cairn_run_end(&run, &whole, NULL));
    cairn_scene_destroy(scene);
    scene = scene_text_good(scene_loop, NULL);
    run = start(scene, g.path);
    take(run, scene, 17, true);
    CHECK_OK(cairn_run_end(&run, &rest, NULL));
    CHECK(rest.interrupted && file_exists(&g, "checkpoint"));
    cairn_scene_destroy(scene);
    CHECK_OK(cairn_run_continue(g.path, NULL, &scene, &run, NULL));
    take(run, scene, STEPS - 17, true);
    CHECK_OK(cairn_run_end(&run, &rest, NULL));
    CHECK_INT(rest.hash, whole.hash);
    CHECK(check_same_h5(&f, &g) > 80);
    cairn_scene_destroy(scene);
    cairn_error error;
    CHECK_INT(cairn_run_continue(g.path, NULL, &scene, &run, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "finished");
    CHECK(run == NULL);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
    folder_remove(g.path);
}

/* What is applied is in the file: the impulse as energy and as the state with which the step began,
 * and the series can be read back. */
TEST(what_was_applied_is_written)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_loop, NULL);
    cairn_running *run = start(scene, f.path);
    cairn_step_report report;
    cairn_run_summary summary;
    take(run, scene, 3, false);
    CHECK_OK(cairn_body_strike(scene->world, (cairn_body_id){ ONE }, (cairn_vec3){ 0, 0, 2 },
                               (cairn_vec3){ 0, 0, 0.1 }));
    CHECK_OK(cairn_body_set_material(scene->world, (cairn_body_id){ TWO }, 1));
    CHECK_OK(cairn_run_step(run, &report, NULL));
    CHECK_INT(report.changed, 2);
    take(run, scene, 2, false);
    CHECK_OK(cairn_run_end(&run, &summary, NULL));
    CHECK_INT(summary.changed, 2);
    CHECK_NEAR(summary.energy.applied, 0.5 * 2 * 2, 1e-12);
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"applied_energy\": ");
    cairn_recording *recording;
    const void *data;
    size_t bytes;
    CHECK_OK(cairn_recording_open(f.path, &recording, NULL));
    const cairn_recording_rows rows[] = {
        { "steps/applied_energy", CAIRN_NUMBER_DOUBLE, 0, 6 },
        { "certificate/changes/v", CAIRN_NUMBER_DOUBLE, 0, 2 },
        { "certificate/changes/material", CAIRN_NUMBER_DOUBLE, 0, 2 },
    };
    CHECK_OK(cairn_recording_read(recording, rows, 3, &data, &bytes, NULL));
    const double *numbers = data;
    CHECK_NEAR(numbers[3], 2, 1e-12);
    CHECK_NEAR(numbers[2] + numbers[4], 0, 0);
    CHECK_NEAR(numbers[6 + 2], 2, 1e-12);
    CHECK_NEAR(numbers[12 + 1], 1, 0);
    cairn_recording_close(recording);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* Refused with a message; the run goes on, and ends like one without these calls. */
TEST(calls_in_the_wrong_order_are_refused)
{
    folder f = folder_create(), g = folder_create();
    cairn_scene *scene = scene_text_good(scene_loop, NULL), *other = NULL;
    cairn_running *run = NULL, *second;
    cairn_run_summary plain, own;
    cairn_error error;
    CHECK_OK(cairn_run(scene, g.path, NULL, NULL, &plain, NULL));
    cairn_scene_destroy(scene);
    scene = scene_text_good(scene_loop, NULL);
    CHECK_INT(cairn_run_step(NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "no run is under way");
    CHECK_INT(cairn_run_end(&run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "no run is under way");
    CHECK_INT(cairn_run_continue(f.path, NULL, &other, &run, &error), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_run_begin(NULL, f.path, &run, &error), CAIRN_BAD_INPUT);
    CHECK(run == NULL && !cairn_run_goes_on(NULL));
    run = start(scene, f.path);
    other = scene_text_good(scene_loop, NULL);
    CHECK_INT(cairn_run_begin(other, f.path, &second, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.message, "another run is writing");
    cairn_scene_destroy(other);
    take(run, scene, 5, false);
    cairn_vec3 gravity = cairn_world_gravity(scene->world);
    CHECK_OK(cairn_world_set_gravity(scene->world, (cairn_vec3){ 1, 0, 0 }));
    CHECK_INT(cairn_run_step(run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "gravity was set");
    CHECK_OK(cairn_world_set_gravity(scene->world, gravity));
    take(run, scene, STEPS - 5, false);
    CHECK_INT(cairn_run_step(run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "this run is over (complete");
    CHECK_OK(cairn_run_end(&run, &own, NULL));
    CHECK_INT(own.hash, plain.hash);
    CHECK(check_same_h5(&f, &g) > 80);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
    folder_remove(g.path);
}

/* The world of a run is stepped by the run alone, and has the bodies of its scene. */
TEST(a_world_that_is_stepped_behind_the_run_is_noticed)
{
    cairn_scene *scene = scene_text_good(scene_loop, NULL);
    cairn_running *run = start(scene, NULL);
    cairn_error error;
    take(run, scene, 2, false);
    cairn_body_id added = add_sphere(scene->world, 0.1, (cairn_vec3){ 5, 5, 5 });
    CHECK_INT(cairn_run_step(run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "created or removed");
    CHECK_OK(cairn_body_destroy(scene->world, added));
    take(run, scene, 1, false);
    CHECK_OK(cairn_world_step(scene->world, &scene->step, NULL));
    CHECK_INT(cairn_run_step(run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "only cairn_run_step may step it");
    CHECK_OK(cairn_run_end(&run, NULL, NULL));
    cairn_scene_destroy(scene);
}

/* A step that fails is told once; what comes after is refused, and the folder is complete. */
TEST(a_step_that_fails_leaves_a_run_to_be_ended)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_loop, NULL);
    cairn_running *run = start(scene, f.path);
    cairn_run_summary summary;
    cairn_error error;
    take(run, scene, 4, false);
    CHECK_OK(cairn_body_push(scene->world, (cairn_body_id){ ONE }, (cairn_vec3){ 1e300, 0, 0 },
                             (cairn_vec3){ 0, 0, 0 }));
    CHECK(cairn_run_step(run, NULL, &error) != CAIRN_OK);
    CHECK_CONTAINS(error.message, "step 5 from");
    CHECK_INT(cairn_run_step(run, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "has failed");
    CHECK(cairn_run_end(&run, &summary, &error) != CAIRN_OK);
    CHECK_INT(summary.steps, 4);
    cairn_run_info info;
    CHECK_OK(cairn_run_read_info(f.path, &info, NULL));
    CHECK_TEXT(info.ending, "failed");
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

/* A scene that was made in C, without a file. */
TEST(a_scene_made_by_hand_runs_in_a_loop)
{
    folder f = folder_create();
    cairn_scene scene = scene_create(2);
    cairn_running *run = start(&scene, f.path);
    while (cairn_run_goes_on(run))
        CHECK_OK(cairn_run_step(run, NULL, NULL));
    CHECK_OK(cairn_run_end(&run, NULL, NULL));
    CHECK(file_exists(&f, "run.h5"));
    scene_destroy(&scene);
    folder_remove(f.path);
}

TEST(without_memory_no_run_begins)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_scene scene = scene_create(3);
        cairn_running *run;
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_run_begin(&scene, NULL, &run, NULL);
        if (status == CAIRN_OK)
            CHECK_OK(cairn_run_end(&run, NULL, NULL));
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || run == NULL);
        CHECK_INT(m.alive, 0);
        scene_destroy(&scene);
        CHECK(n < 100);
    }
}

GROUP(test_own_loop)
{
    RUN(CASE(a_loop_without_changes_writes_the_folder_of_a_run),
        CASE(a_loop_goes_on_from_its_checkpoint), CASE(what_was_applied_is_written),
        CASE(calls_in_the_wrong_order_are_refused),
        CASE(a_world_that_is_stepped_behind_the_run_is_noticed),
        CASE(a_step_that_fails_leaves_a_run_to_be_ended), CASE(a_scene_made_by_hand_runs_in_a_loop),
        CASE(without_memory_no_run_begins));
}
