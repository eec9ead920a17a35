"""What must hold of a run of a random world (random_world.py), from the numbers of run.h5 alone. Nothing is shared
with cairn or cairn-check. Every group is judged by itself, on its own scale, whatever happens elsewhere.

Energy. A step is v+ = v + h g + D, x+ = x + h v+, with D what contacts add. In free fall it conserves
    E* = sum 1/2 m v^2 + 1/2 w.J w - m g.(x - h v/2),                                        (1)
and what pushes by a convex law, or by Coulomb's, changes E* by r.(u+ + u)/2 at most, which is not above 0 where
u+ = -e u. Driven walls, belts and images of a cell that deforms, with a velocity V at the point of contact, add r.V.
A motor adds its effort times its turn at most, and penetration correction -m g.(h z). Beyond all that a step to a
tolerance tau is allowed 4 tau sum |r| |W r|: each contact misses its law by 2 tau times the speed that impulses remove
*in its group*. A group fails if it gains more than that and 1 % of its largest kinetic energy, all in steps that
converged. Where a support moves, the energy without the last term of (1) is the one that r.V changes, which is m g h v
more or less.

Momentum of a group that nothing touches, and its angular momentum if it is of balls or in 2D, are those of free fall
but for rounding, and for the levers by which impulses act at two points a gap apart, or after the step began.

Rest: a group that starts at rest and can rest moves by less than 1e-6 m in a second; without friction, or nearly so,
nothing holds it sideways, and this holds along gravity, until its bodies drift by 5 % of h g: then they have left
their places, and what they rested on."""
import math

import random_truth as truth
from random_truth import add, cross, dot, norm, sub, times, turned

REST_SPEED = 1e-6      # m/s
ROUNDING = 1e-9        # of the sums, for what is conserved exactly
SLIPPERY = 0.01        # friction below which what rests may drift sideways
DRIFTS = 0.05          # h g: sideways speed of bodies that no longer rest
SHARE = 0.01           # of the kinetic energy that a group may gain
WILD = 4.0             # times the energy that was ever there: it flew off
CURVED = {"inside_cylinder", "inside_cone", "sphere"}


class Failure(Exception):
    """What is not so: (what, text)."""


class Body:
    """A body in one state."""
    __slots__ = ("x", "q", "v", "w")

    def __init__(self, x, q, v, w):
        self.x, self.q, self.v, self.w = x, q, v, w


class Record:
    """The columns of a run."""

    def __init__(self, run, scene):
        self.lengths = run["steps/time_step"]
        self.h = self.lengths[0]
        self.tolerance = scene["run"].get("tolerance", 1e-3)
        self.gravity = truth.vector(scene["gravity"])
        self.mass, self.inertia = run["bodies/mass"], run["bodies/inertia"]
        self.converged = run["steps/converged"]
        self.states = self.read_states(run)
        self.steps = len(self.states) - 1
        self.contacts = self.read_contacts(run)
        self.cells = (run["steps/cell"], run["steps/cell_rate"]) if "periodic" in scene else None

    def begin(self, step):
        """Sets h to the length of the step: steps in which bodies would move too far are divided."""
        self.h = self.lengths[step - 1]

    def time(self, step):
        return sum(self.lengths[:step])

    @staticmethod
    def read_states(run):
        offset, index = run["certificate/body_offset"], run["certificate/bodies/index"]
        x, q, v, w = (run["certificate/bodies/" + name] for name in ("x", "q", "v", "omega"))
        for column in (x, q, v, w):
            if not all(map(math.isfinite, (number for row in column for number in row))):
                raise Failure("not finite", "run.h5 has a state that is not finite")
        return [{int(index[k]): Body(x[k], q[k], v[k], w[k]) for k in range(int(a), int(b))}
                for a, b in zip(offset, offset[1:])]

    @staticmethod
    def read_contacts(run):
        """Of each step: (a, b, point, normal, impulse in the world, normal part, mu, gap, correction, velocity)."""
        offset, body = run["certificate/contact_offset"], run["certificate/contacts/body"]
        columns = [run["certificate/contacts/" + name] for name in
                   ("point", "normal", "tangent", "impulse", "mu", "gap", "correction", "velocity")]

        def one(k):
            point, n, t, r, mu, gap, z, u = (column[k] for column in columns)
            second = cross(n, t)
            r = tuple(r) + (0.0,) * (3 - len(r))
            world = add(add(times(r[0], n), times(r[1], t)), times(r[2], second))
            return int(body[k][0]), int(body[k][1]), point, n, world, r[0], math.hypot(*r[1:]), mu, gap, z, u
        return [[one(k) for k in range(int(a), int(b))] for a, b in zip(offset, offset[1:])]


def spin_of(record, row, body):
    """(J w, w.J w) in the frame of the body."""
    jw = tuple(i * w for i, w in zip(record.inertia[row], body.w))
    return jw, dot(body.w, jw)


def energy(record, row, body):
    """(1) of a body, and its kinetic part."""
    m, g, h = record.mass[row], record.gravity, record.h
    kinetic = 0.5 * (m * dot(body.v, body.v) + spin_of(record, row, body)[1])
    return kinetic - m * dot(g, sub(body.x, times(h / 2, body.v))), kinetic


def turn_between(q, p):
    """Rotation vector in the world that takes q to p."""
    d = truth.product(p, truth.conjugate(q))
    d = d if d[0] >= 0 else tuple(-x for x in d)
    s = norm(d[1:])
    return times(2 * math.atan2(s, d[0]) / s if s > 0 else 2, d[1:])


class Group:
    """A group of the world in a run: which rows are its bodies, and what they are."""

    def __init__(self, record, world, number):
        self.record, self.know = record, world["groups"][number]
        first = sum(len(g["bodies"]) for g in world["groups"][:number])
        self.bodies = {first + k: body for k, body in enumerate(self.know["bodies"])}
        scene_rows = sum(len(g["bodies"]) for g in world["groups"])
        pushed = {row for row, body in self.bodies.items() if body["name"] in self.know["pushers"]}
        self.moving = {row for row, body in self.bodies.items()
                       if body.get("motion", "dynamic") == "dynamic"} - pushed
        self.walls = set(self.bodies) - self.moving
        self.poured = bool(self.know["generators"])
        if self.poured:
            self.moving |= set(range(scene_rows, len(record.mass)))
        self.balls = self.poured or all("sphere" in self.bodies[row]["shape"] for row in self.moving)
        self.law = self.know["law"]
        self.number, self.world = number, world

    def rows(self, step):
        """Moving bodies that take part in the whole step."""
        before, after = self.record.states[step - 1], self.record.states[step]
        return [row for row in self.moving if row in before and row in after]

    def contacts(self, step):
        return [c for c in self.record.contacts[step - 1] if c[0] in self.moving or c[1] in self.moving]

    def name(self):
        return "group %d (%s)" % (self.number, self.know["kind"])


# ---- cells that repeat themselves

def apply(edges, k):
    """edges: nine numbers, three for each edge."""
    return tuple(sum(edges[3 * j + i] * k[j] for j in range(3)) for i in range(3))


def along_edges(edges, d):
    """The numbers f for which edges f = d."""
    columns = [edges[0:3], edges[3:6], edges[6:9]]
    for j in range(3):
        if norm(columns[j]) == 0:
            columns[j] = tuple(1e9 if i == j else 0.0 for i in range(3))
    volume = dot(columns[0], cross(columns[1], columns[2]))
    return [dot(d, cross(columns[(j + 1) % 3], columns[(j + 2) % 3])) / volume for j in range(3)]


def whole_edges(edges, d):
    """The integers k, nearest, for which edges k = d."""
    return tuple(round(f) for f in along_edges(edges, d))


class Lattice:
    """Edges with which a step begins, and their velocity in it. Edges are renumbered at times, so both are taken from
    the end of the step and led back: h(t) = h(t + dt) - dt h'."""

    def __init__(self, record, step):
        cell, rate = record.cells
        self.rate = rate[step - 1]
        self.edges = [a - record.h * b for a, b in zip(cell[step - 1], self.rate)]

    def image(self, offset):
        """(shift, velocity) of the lattice vector nearest to the offset."""
        k = whole_edges(self.edges, offset)
        return apply(self.edges, k), apply(self.rate, k)


def put_back(group, step, row, lattice):
    """The body as the step begins, after it was put back into the cell, whose corner is 0. At a face of the cell, up
    to rounding, its way in the step tells where it was put."""
    record = group.record
    body, after = record.states[step - 1][row], record.states[step][row]
    at = along_edges(lattice.edges, body.x)
    if all(abs(f - round(f)) > 1e-9 or f == 0 for f in at):
        k = tuple(-math.floor(f) for f in at)
        shift, velocity = apply(lattice.edges, k), apply(lattice.rate, k)
    else:
        shift, velocity = lattice.image(sub(sub(after.x, times(record.h, after.v)), body.x))
    return Body(add(body.x, shift), body.q, add(body.v, velocity), body.w)


# ---- energy

def wall_velocity(group, step, row, point):
    """Of a point of a wall in the step: the way of the body, its turn, and its belt."""
    record = group.record
    before, after = record.states[step - 1].get(row), record.states[step].get(row)
    if before is None or after is None:
        return (0.0, 0.0, 0.0)
    v = times(1 / record.h, sub(after.x, before.x))
    arm = sub(point, before.x)
    if group.bodies[row]["name"] in group.know["pushers"]:
        return after.v
    v = add(v, times(1 / record.h, cross(turn_between(before.q, after.q), arm)))
    belt = group.bodies[row].get("surface_velocity")
    return add(v, turned(before.q, truth.vector(belt))) if belt else v


def wall_work(group, step, lattice):
    """sum r.V of the walls and images that push in the step."""
    total = 0.0
    for a, b, point, _, r, *_ in group.contacts(step):
        if a in group.walls or b in group.walls:
            wall, sign = (b, 1) if a in group.moving else (a, -1)
            total += sign * dot(r, wall_velocity(group, step, wall, point))
        elif lattice:
            offset = sub(point, put_back(group, step, b, lattice).x)
            near_a = lattice.image(sub(point, put_back(group, step, a, lattice).x))
            velocity = sub(lattice.image(offset)[1], near_a[1])
            total += dot(r, velocity)
    return total


def turning_walls(group, step):
    """sum |r||V - V'|/2, V' the velocity of the wall in the step before: a body that it carried has it still, and the
    work of r is that of the mean of both."""
    total = 0.0
    for a, b, point, _, r, *_ in group.contacts(step) if step > 1 else ():
        for wall in {a, b} & group.walls:
            now = wall_velocity(group, step, wall, point)
            group.record.begin(step - 1)
            before = wall_velocity(group, step - 1, wall, point)
            group.record.begin(step)
            total += 0.5 * norm(r) * norm(sub(now, before))
    return total


def motor_work(group, step):
    """At most effort times turn, of the motors between a first body and the world."""
    total = 0.0
    for joint in group.know["joints"]:
        keys = next(iter(joint.values()))
        effort = group.know["efforts"].get(keys["name"])
        row = next((row for row, b in group.bodies.items() if b["name"] == keys["a"]), None)
        if effort and row is not None:
            before, after = group.record.states[step - 1][row], group.record.states[step][row]
            total += effort * group.record.h * max(norm(before.w), norm(after.w)) * 1.01
    return total


def missing(group, step):
    """4 tau sum |r| |W r|, with 1/m_a + 1/m_b for W (tangents of balls: 3.5 times that), for the group alone."""
    record, largest, impulses, squares = group.record, 0.0, 0.0, 0.0
    for a, b, _, _, r, *_ in group.contacts(step):
        w = sum(1 / record.mass[row] for row in (a, b) if row in group.moving)
        size = norm(r)
        impulses += size
        squares += (w * size) ** 2
        largest = max(largest, w * size)
    return 4 * record.tolerance * impulses * math.sqrt(squares)


def correction_work(group, step):
    """-m g.(h z) with m z = p n for body a, -p n for body b."""
    total = 0.0
    for a, b, _, n, *_, z, _ in group.contacts(step):
        total -= group.record.h * z * dot(n, group.record.gravity) * ((a in group.moving) - (b in group.moving))
    return total


def change(group, step):
    """(gain of energy in a step that nothing explains, kinetic energy after it)."""
    record, lattice = group.record, Lattice(group.record, step) if group.record.cells else None
    gain = kinetic = size = 0.0
    for row in group.rows(step):
        before, after = record.states[step - 1][row], record.states[step][row]
        if lattice:
            before = put_back(group, step, row, lattice)
        (e0, _), (e1, k1) = energy(record, row, before), energy(record, row, after)
        gain += e1 - e0
        kinetic += k1
        size += abs(e0) + abs(e1)
    gain -= wall_work(group, step, lattice) + correction_work(group, step) + motor_work(group, step)
    gain -= turning_walls(group, step)
    return gain - missing(group, step) - 1e-12 * size, kinetic


def energies(group):
    """No group gains energy in steps that converged; and even where they did not, nothing flies off."""
    record, gained, wild, up = group.record, 0.0, 0.0, group.world["dimension"] - 1
    start = sum(energy(record, row, record.states[0][row])[1] for row in group.moving if row in record.states[0])
    peak = start
    weight = sum(record.mass[row] for row in group.moving) * norm(record.gravity)
    longest = max(record.lengths)
    rest = weight * norm(record.gravity) * longest ** 2  # J: what one step of weight gives bodies at rest
    # J: what gaps at the end of a step, where the law holds them, give by the rounding of places
    rest += sum(record.mass[row] * (1e-15 * norm(record.states[0][row].x) / min(record.lengths)) ** 2
                for row in group.moving if row in record.states[0])
    fastest = 10.0 if group.know["joints"] else 0.0
    for step in range(1, record.steps + 1):
        record.begin(step)
        gain, kinetic = change(group, step)
        fastest = max([fastest] + [abs(record.states[step][row].v[up]) for row in group.rows(step)])
        wild += gain
        if record.converged[step - 1]:
            gained = max(0.0, gained + gain)
            if gained > SHARE * peak + rest + weight * longest * fastest:
                raise Failure("energy", "%s has %.3g J more than it can have (kinetic %.3g J) at step %d%s" % (
                    group.name(), gained, peak, step, by_law(group)))
        if wild > WILD * (peak + rest):
            raise Failure("flies off", "%s has %.3g J more than it can have (kinetic %.3g J) at step %d" % (
                group.name(), wild, peak, step))
        peak = max(peak, kinetic - max(0.0, gain))


def by_law(group):
    """Newton's law itself can add energy where bodies with friction are hit off their centres."""
    law = group.law
    newton = law.get("restitution", 0) > 0 and law.get("restitution_law", "newton") == "newton"
    return " (Newton's law with friction)" if newton and law["friction"] > 0 and not group.balls else ""


# ---- momentum

def momenta(group):
    """Of a group that nothing touches."""
    record = group.record
    exact_spin = (group.balls or group.world["dimension"] == 2) and not record.cells
    lost, lost_spin, size, lever, arm = (0.0,) * 3, (0.0,) * 3, 0.0, 0.0, 1.0
    # impacts at a time within the step, and contacts linearised at its end
    late = group.law.get("restitution", 0) > 0 or group.world["run"]["scheme"] == "stewart-trinkle"
    for step in range(1, record.steps + 1):
        record.begin(step)
        lattice = Lattice(record, step) if record.cells else None
        for row in group.rows(step):
            m = record.mass[row]
            before = put_back(group, step, row, lattice) if lattice else record.states[step - 1][row]
            after = record.states[step][row]
            lost = add(lost, times(m, sub(sub(after.v, before.v), times(record.h, record.gravity))))
            spin = [turned(b.q, spin_of(record, row, b)[0]) for b in (before, after)]
            lost_spin = add(lost_spin, sub(spin[1], spin[0]))
            lost_spin = add(lost_spin, times(m, sub(cross(after.x, after.v), cross(before.x, before.v))))
            lost_spin = sub(lost_spin, times(record.h * m, cross(before.x, record.gravity)))
            size = max(size, m * (norm(before.v) + norm(after.v)))
            arm = max(arm, norm(before.x), norm(after.x))
        for a, b, _, _, r, _, _, _, gap, z, _ in group.contacts(step):
            fast = max(norm(record.states[k][row].v) for k in (step - 1, step) for row in (a, b))
            lever += 2 * norm(r) * abs(gap) + abs(z) * record.h * fast
            lever += 2 * norm(r) * record.h * fast if late else 0
            size = max(size, norm(r))
    allowed = ROUNDING * (size + 1e-3) * math.sqrt(record.steps)
    if norm(lost) > allowed:
        raise Failure("momentum", "%s changes its momentum by %.3g N s of %.3g" % (group.name(), norm(lost), size))
    if exact_spin and norm(lost_spin) > allowed * arm + lever:
        raise Failure("angular momentum", "%s changes its angular momentum by %.3g N m s, levers allow %.3g" % (
            group.name(), norm(lost_spin), lever))


# ---- contacts, rest

def cones(group):
    """|r_T| <= mu r_N, to the tolerance, of each contact by itself."""
    record, mu = group.record, group.law["friction"]
    for step in range(1, record.steps + 1):
        if not record.converged[step - 1]:
            continue
        contacts = group.contacts(step)
        largest = max([c[5] for c in contacts] + [0.0])
        for c in contacts:
            if c[6] > mu * c[5] * (1 + 1e-9) + record.tolerance * largest + 1e-12:
                raise Failure("cone", "%s, step %d: friction of %.3g N s, normal impulse %.3g N s, mu %g" % (
                    group.name(), step, c[6], c[5], mu))
            if c[5] < -record.tolerance * largest - 1e-12:
                raise Failure("pull", "%s, step %d: a contact pulls with %.3g N s" % (group.name(), step, c[5]))


def spins(group):
    """Balls without friction keep their spin, whatever they touch; those that fall asleep stop."""
    record = group.record
    if group.law["friction"] > 0 or not group.balls or group.know["joints"] or group.world["run"].get("sleep"):
        return
    for step in range(1, record.steps + 1):
        if not record.converged[step - 1]:
            continue
        pushed = {}
        for a, b, _, _, r, *_ in group.contacts(step):
            for row in (a, b):
                pushed[row] = pushed.get(row, 0.0) + norm(r)
        for row in group.rows(step):
            before, after = record.states[step - 1][row], record.states[step][row]
            allowed = 1e-9 * (1 + norm(before.w))
            # points are rounded to 4 eps of their distance from the origin, and levers with them
            allowed += 1e-15 * norm(before.x) * pushed.get(row, 0.0) / record.inertia[row][2]
            if norm(sub(turned(after.q, after.w), turned(before.q, before.w))) > allowed:
                raise Failure("spin", "%s, step %d: a ball without friction changes its spin by %.3g rad/s" % (
                    group.name(), step, norm(sub(after.w, before.w))))


def drifts(group, step):
    """Whether some body begins a step with a sideways velocity that its support does not hold."""
    record, before = group.record, group.record.states[step - 1]
    g = norm(record.gravity)
    record.begin(step)

    def sideways(v):
        return norm(sub(v, times(dot(v, record.gravity) / g ** 2, record.gravity)))
    return max(sideways(before[row].v) for row in group.moving) > DRIFTS * record.h * g


def rests(group):
    """What starts at rest and can rest, rests."""
    late = group.world["run"]["scheme"] == "moreau-jean"
    if not group.know["rest"] or late and group.law.get("restitution", 0) > 0:  # there bodies hop on what they rest on
        return
    record, states = group.record, group.record.states
    record.begin(1)
    fall = 0.0
    if late:  # each sinks by the way of a step into what is below it
        fall = 2 * len(group.moving) * record.h ** 2 * norm(record.gravity)
    # a step solved to tau |q|, with |q| = h g sqrt(contacts) of this group, once
    settle = 2 * record.tolerance * norm(record.gravity) * record.h ** 2 * math.sqrt(len(group.contacts(1)))
    rolls = 0.0  # m/s: sweeps alone leave more to balls that may roll away
    if group.balls and group.world["run"].get("parts"):
        rolls = 2e-3 * record.h * norm(record.gravity)
    for step in range(1, record.steps + 1):
        if group.law["friction"] < SLIPPERY and drifts(group, step):
            return
        allowed = rolls * record.time(step) + REST_SPEED * max(1.0, record.time(step)) + fall + settle
        for row in sorted(group.moving):
            first, now = states[0][row], states[step][row]
            moved = norm(sub(now.x, first.x)) + 0.1 * norm(turn_between(first.q, now.q))
            if group.law["friction"] < SLIPPERY:
                moved = abs(dot(sub(now.x, first.x), record.gravity)) / norm(record.gravity)
            if moved > allowed:
                missed = sum(1 for flag in record.converged[:step] if not flag)
                raise Failure("rest" if not missed else "rest missed",
                              "%s: %s is %.3g m from where it rested after %d steps (%.3g s), %d missed" % (
                                  group.name(), group.bodies[row]["name"], moved, step, record.time(step), missed))


def slides(group):
    """A box that slides straight: v = v0 - mu g t until it stops, and no other velocity."""
    if not group.know["slides"] or group.world["run"]["scheme"] not in ("coulomb", "fixed-point", "coulomb-newton"):
        return
    name, v0, mu = group.know["slides"]
    record = group.record
    row = next(row for row, body in group.bodies.items() if body["name"] == name)
    g = norm(record.gravity)
    for step in range(1, record.steps + 1):
        record.begin(step)
        now, time = record.states[step][row], record.time(step)
        wanted = max(0.0, v0 - mu * g * time)
        off = norm(sub(now.v, (wanted, 0.0, 0.0)))
        promised = 10 * record.tolerance * record.h * g  # of each contact, in each step
        if off > 0.02 * mu * g * time + 2 * record.h * g * mu + 2 * promised + 1e-9 * v0:
            raise Failure("slide", "%s: after %d steps it is %.3g m/s off v0 - mu g t = %.6g m/s" % (
                group.name(), step, off, wanted))


CHECKS = (energies, momenta, cones, spins, rests, slides)


def judge(run, world, scene):
    """[(what, text)] of what is not so; rows of run.h5 are in the order of the scene."""
    try:
        record = Record(run, scene)
    except Failure as failure:
        return [failure.args]
    found = []
    for number in range(len(world["groups"])):
        group = Group(record, world, number)
        for check in CHECKS:
            if check is momenta and not group.know["isolated"]:
                continue
            try:
                check(group)
            except Failure as failure:
                found.append(failure.args)
    return found
