// walls.ts - containers and half-spaces, cut to the box of the scene. What lies outside another
// container (a cylinder below its conical bottom) is left out.
import * as THREE from 'three';
import { quaternion, specOf, type ShapeSpec } from './shapes';
import type { Frame, Run } from './run';
import { placeOf } from './run';

interface Wall {
  row: number;
  spec: ShapeSpec;
  pose: THREE.Matrix4;
  back: THREE.Matrix4; // from the world to the shape
}

const rings = 96;

function axisFrame(axis: THREE.Vector3): THREE.Matrix4 {
  const to = axis.lengthSq() > 0 ? axis.clone().normalize() : new THREE.Vector3(0, 0, 1);
  return new THREE.Matrix4().makeRotationFromQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), to));
}

/** Whether a point of the world is inside a container, with some slack. */
function holds(w: Wall, p: THREE.Vector3, slack: number): boolean {
  const l = p.clone().applyMatrix4(w.back);
  const axis = w.spec.axis.clone().normalize();
  const z = l.dot(axis), r = l.clone().addScaledVector(axis, -z).length();
  switch (w.spec.kind) {
    case 'half_space': return z > -slack;
    case 'inside_cylinder': return r < w.spec.radius + slack;
    case 'inside_cone': return r < z * Math.tan(w.spec.half_angle) + slack;
    case 'inside_box':
      return Math.abs(l.x) < w.spec.size.x / 2 + slack && Math.abs(l.y) < w.spec.size.y / 2 + slack &&
        (w.spec.size.z === 0 || Math.abs(l.z) < w.spec.size.z / 2 + slack);
    default: return true;
  }
}

/** How far the box reaches along a wall's axis, in its own frame. */
function span(w: Wall, box: THREE.Box3): [number, number] {
  const axis = w.spec.axis.clone().normalize();
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < 8; i++) {
    const corner = new THREE.Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
    const z = corner.applyMatrix4(w.back).dot(axis);
    low = Math.min(low, z);
    high = Math.max(high, z);
  }
  return [low, high];
}

/** A surface of revolution about z between two radii, finely cut along its length. */
function round(low: number, high: number, radius: (z: number) => number, ends: number): THREE.BufferGeometry {
  const points = Array.from({ length: rings + 1 }, (_, i) => {
    const z = low + ((high - low) * i) / rings;
    return new THREE.Vector2(Math.max(radius(z), 0), z);
  });
  return new THREE.LatheGeometry(points, ends).rotateX(Math.PI / 2);
}

function surface(w: Wall, box: THREE.Box3): THREE.BufferGeometry | null {
  const s = w.spec, [low, high] = span(w, box), size = box.getSize(new THREE.Vector3());
  const turned = (g: THREE.BufferGeometry): THREE.BufferGeometry => g.applyMatrix4(axisFrame(s.axis));
  switch (s.kind) {
    case 'half_space': {
      const middle = box.getCenter(new THREE.Vector3()).applyMatrix4(w.back);
      const frame = axisFrame(s.axis);
      middle.applyMatrix4(frame.clone().invert());
      const across = [size.x, size.y, size.z].sort((a, b) => a - b);
      const reach = Math.max(0.7 * across[1], 0.3 * across[2]);
      return new THREE.PlaneGeometry(2 * reach, 2 * reach, 96, 96).translate(middle.x, middle.y, 0).applyMatrix4(frame);
    }
    case 'inside_cylinder': return turned(round(low, high, () => s.radius, 96));
    case 'inside_cone': return turned(round(0, Math.max(high, 0), (z) => z * Math.tan(s.half_angle), 96));
    case 'funnel':
      return turned(round(0, s.height, (z) => s.bottom_radius + ((s.top_radius - s.bottom_radius) * z) / s.height, 96));
    case 'inside_box': return new THREE.BoxGeometry(s.size.x, s.size.y, s.size.z || 0.001 * size.length());
    default: return null;
  }
}

/** The part of a surface, in the world, that no other container leaves outside: whole triangles. */
function cut(g: THREE.BufferGeometry, walls: Wall[], own: Wall, slack: number): THREE.BufferGeometry {
  const p = g.getAttribute('position'), from = g.index!, kept: number[] = [], middle = new THREE.Vector3(), corner = new THREE.Vector3();
  for (let i = 0; i < from.count; i += 3) {
    const corners = [0, 1, 2].map((k) => from.getX(i + k));
    middle.set(0, 0, 0);
    for (const c of corners) middle.addScaledVector(corner.fromBufferAttribute(p, c), 1 / 3);
    if (walls.every((w) => w === own || holds(w, middle, slack))) kept.push(...corners);
  }
  g.setIndex(kept);
  return withRim(g);
}

function withRim(g: THREE.BufferGeometry): THREE.BufferGeometry {
  g.setAttribute('rim', new THREE.Float32BufferAttribute(new Float32Array(g.getAttribute('position').count), 1));
  return g;
}

/** The flat sides of a container: what it holds is on the positive side of them. Null: it has others. */
function sides(w: Wall): THREE.Plane[] | null {
  const axis = w.spec.axis.clone().normalize(), s = w.spec.size;
  const own = w.spec.kind === 'half_space' ? [new THREE.Plane(axis, 0)]
    : w.spec.kind === 'inside_box' ? [0, 1, 2].filter((c) => s.getComponent(c) > 0).flatMap((c) => [1, -1].map((sign) =>
      new THREE.Plane(new THREE.Vector3().setComponent(c, sign), s.getComponent(c) / 2)))
      : null;
  return own && own.map((p) => p.applyMatrix4(w.pose));
}

/** The part of a convex polygon on the positive side of a plane. */
function clip(polygon: THREE.Vector3[], plane: THREE.Plane): THREE.Vector3[] {
  const out: THREE.Vector3[] = [];
  polygon.forEach((b, i) => {
    const a = polygon[(i + polygon.length - 1) % polygon.length], da = plane.distanceToPoint(a), db = plane.distanceToPoint(b);
    if ((da >= 0) !== (db >= 0)) out.push(a.clone().lerp(b, da / (da - db)));
    if (db >= 0) out.push(b);
  });
  return out;
}

/** A half-space among containers with flat sides alone: one polygon, exactly. Null: it is not so. */
function flatPart(g: THREE.BufferGeometry, walls: Wall[], own: Wall, slack: number): THREE.BufferGeometry | null {
  const others = own.spec.kind === 'half_space' ? walls.filter((w) => w !== own).map(sides) : [null];
  if (others.some((o) => o === null)) return null;
  const p = g.getAttribute('position'), n = Math.round(Math.sqrt(p.count));
  let polygon = [0, n - 1, n * n - 1, n * (n - 1)].map((i) => new THREE.Vector3().fromBufferAttribute(p, i)); // the corners of the grid
  for (const plane of others.flat() as THREE.Plane[]) polygon = clip(polygon, new THREE.Plane(plane.normal, plane.constant + slack));
  const out = new THREE.BufferGeometry(), normal = new THREE.Vector3().fromBufferAttribute(g.getAttribute('normal'), 0);
  out.setAttribute('position', new THREE.Float32BufferAttribute(polygon.flatMap((c) => c.toArray()), 3));
  out.setAttribute('normal', new THREE.Float32BufferAttribute(polygon.flatMap(() => normal.toArray()), 3));
  // the corners of the grid run clockwise about its normal
  out.setIndex(Array.from({ length: Math.max(0, polygon.length - 2) }, (_, i) => [0, i + 2, i + 1]).flat());
  return withRim(out);
}

function wallsOf(run: Run, frame: Frame, rows: number[]): Wall[] {
  const out: Wall[] = [];
  for (const row of rows) {
    const i = placeOf(frame, row);
    if (i < 0) continue;
    const turn = frame.wallTurns.get(row), q = frame.q ? quaternion(frame.q, i) : turn ? quaternion(turn, 0) : new THREE.Quaternion();
    const x = new THREE.Vector3().fromArray(frame.x, 3 * i);
    const own = new THREE.Matrix4().compose(new THREE.Vector3().fromArray(run.bodies.shapeX, 3 * row),
      quaternion(run.bodies.shapeQ, row), new THREE.Vector3(1, 1, 1));
    const pose = new THREE.Matrix4().compose(x, q, new THREE.Vector3(1, 1, 1)).multiply(own);
    out.push({ row, spec: specOf(run, row), pose, back: pose.clone().invert() });
  }
  return out;
}

const placedPart = (g: THREE.BufferGeometry, walls: Wall[], own: Wall, slack: number): THREE.BufferGeometry =>
  flatPart(g, walls, own, slack) ?? cut(g, walls, own, slack);

/** Triangles of the containers of a frame, one geometry a body, in the world. */
export function wallGeometries(run: Run, frame: Frame, rows: number[], box: THREE.Box3, up: THREE.Vector3): { row: number; geometry: THREE.BufferGeometry; kind: string; floor: boolean }[] {
  const walls = wallsOf(run, frame, rows);
  const slack = 0.004 * box.getSize(new THREE.Vector3()).length();
  return walls.flatMap((w) => {
    const g = surface(w, box);
    if (!g) return [];
    const outward = w.spec.axis.clone().transformDirection(w.pose);
    const floor = w.spec.kind === 'half_space' && outward.dot(up) > 0.5;
    return [{ row: w.row, kind: w.spec.kind, floor, geometry: placedPart(g.applyMatrix4(w.pose), walls, w, slack) }];
  });
}

/** In 2D a container is a line. */
export function wallLines(run: Run, frame: Frame, rows: number[], box: THREE.Box3): number[] {
  const out: number[] = [];
  const size = box.getSize(new THREE.Vector3()), reach = Math.max(size.x, size.y);
  for (const w of wallsOf(run, frame, rows)) {
    const s = w.spec, angle = Math.atan2(s.axis.y, s.axis.x);
    const points: [number, number][] = [];
    if (s.kind === 'half_space') {
      const middle = box.getCenter(new THREE.Vector3()).applyMatrix4(w.back);
      const along = new THREE.Vector2(-Math.sin(angle), Math.cos(angle));
      const at = middle.x * along.x + middle.y * along.y;
      for (const t of [at - reach, at + reach]) points.push([t * along.x, t * along.y]);
    } else if (s.kind === 'inside_cylinder')
      for (let i = 0; i <= 128; i++) points.push([s.radius * Math.cos((i * Math.PI) / 64), s.radius * Math.sin((i * Math.PI) / 64)]);
    else if (s.kind === 'inside_cone')
      for (const side of [-1, 0, 1]) points.push([Math.abs(side) * 2 * reach * Math.cos(angle + side * s.half_angle), Math.abs(side) * 2 * reach * Math.sin(angle + side * s.half_angle)]);
    else if (s.kind === 'inside_box')
      for (const [x, y] of [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) points.push([(x * s.size.x) / 2, (y * s.size.y) / 2]);
    else if (s.kind === 'funnel')
      for (const side of [-1, 1]) {
        const c = Math.cos(angle - Math.PI / 2), d = Math.sin(angle - Math.PI / 2);
        const at = (r: number, z: number): THREE.Vector3 => new THREE.Vector3(side * r * c - z * d, side * r * d + z * c, 0).applyMatrix4(w.pose);
        out.push(...at(s.bottom_radius, 0).toArray(), ...at(s.top_radius, s.height).toArray());
      }
    for (let i = 0; i + 1 < points.length; i++)
      for (const p of [points[i], points[i + 1]]) out.push(...new THREE.Vector3(p[0], p[1], 0).applyMatrix4(w.pose).toArray());
  }
  return out;
}
