// shapes.ts - every shape of cairn as triangles, and containers and half-spaces cut to the scene.
import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import { placeOf, type Frame, type Run } from './run';

// ---- shapes -------------------------------------------------------------------------------------
// Triangles are in the frame of the shape (docs/shapes.md).
// In 2D a shape is a flat polygon that faces the viewer; the attribute `rim` is 1 on its outline.

/** Everything that distinguishes shapes. */
export interface ShapeSpec {
  kind: string;
  radius: number;
  half_angle: number;
  bottom_radius: number;
  top_radius: number;
  height: number;
  length: number;
  rounding: number;
  exponents: [number, number];
  size: THREE.Vector3;
  semi_axes: THREE.Vector3;
  axis: THREE.Vector3;
  geometry: number;
}

/** Points, faces and parts of /geometry. */
export interface GeometryTables {
  vertexOffset: Int32Array; faceOffset: Int32Array; partOffset: Int32Array;
  vertices: Float32Array; cornerOffset: Int32Array; corners: Int32Array;
  parts: { spec: ShapeSpec; x: THREE.Vector3; q: THREE.Quaternion }[];
}

const vec = (a: ArrayLike<number>, i: number): THREE.Vector3 => new THREE.Vector3(a[3 * i] ?? 0, a[3 * i + 1] ?? 0, a[3 * i + 2] ?? 0);

/** cairn's quaternions have their real part first. */
export const quaternion = (a: ArrayLike<number>, i: number): THREE.Quaternion =>
  new THREE.Quaternion(a[4 * i + 1], a[4 * i + 2], a[4 * i + 3], a[4 * i]);

function specFrom(columns: Record<string, ArrayLike<number>>, kind: string, geometry: number, i: number): ShapeSpec {
  const one = (c: string): number => columns[c]?.[i] ?? 0;
  const n = columns['exponents'];
  return {
    kind, geometry, radius: one('radius'), half_angle: one('half_angle'), bottom_radius: one('bottom_radius'),
    top_radius: one('top_radius'), height: one('height'), length: one('length'), rounding: one('rounding'),
    exponents: [n?.[2 * i] || 2, n?.[2 * i + 1] || n?.[2 * i] || 2],
    size: vec(columns['size'] ?? [], i), semi_axes: vec(columns['semi_axes'] ?? [], i),
    axis: vec(columns['axis'] ?? [], i),
  };
}

export const specOf = (run: Run, row: number): ShapeSpec =>
  specFrom(run.bodies.lengths, run.kind(row), run.bodies.geometry[row], row);

/** Equal keys, equal triangles. */
export function keyOf(s: ShapeSpec): string {
  return [s.kind, s.radius, s.half_angle, s.bottom_radius, s.top_radius, s.height, s.length, s.rounding, ...s.exponents,
    ...s.size.toArray(), ...s.semi_axes.toArray(), ...s.axis.toArray(), s.geometry].join(' ');
}

export async function readGeometry(run: Run): Promise<GeometryTables | null> {
  if (!run.column('geometry/vertices')) return null;
  const whole = async (c: string): Promise<Int32Array> =>
    run.column(c) ? Int32Array.from(await run.readAll(c, 'f8')) : new Int32Array(1);
  const tables: GeometryTables = {
    vertexOffset: await whole('geometry/vertex_offset'), faceOffset: await whole('geometry/face_offset'),
    partOffset: await whole('geometry/part_offset'),
    vertices: (await run.readAll('geometry/vertices', 'f4')) as Float32Array,
    cornerOffset: await whole('geometry/corner_offset'), corners: await whole('geometry/corners'), parts: [],
  };
  const count = run.column('geometry/parts/shape')?.rows ?? 0;
  if (count === 0) return tables;
  const kinds = run.column('geometry/parts/shape')!.names ?? [];
  const shape = await run.readAll('geometry/parts/shape', 'i4');
  const of = await run.readAll('geometry/parts/geometry', 'i4');
  const columns: Record<string, ArrayLike<number>> = {};
  for (const c of ['x', 'q', 'radius', 'height', 'length', 'rounding', 'exponents', 'size', 'semi_axes', 'axis'])
    if (run.column(`geometry/parts/${c}`)) columns[c] = await run.readAll(`geometry/parts/${c}`, 'f4');
  for (let i = 0; i < count; i++)
    tables.parts.push({
      spec: specFrom(columns, kinds[shape[i]] ?? run.column('bodies/shape')!.names![shape[i]], of[i], i),
      x: vec(columns['x'], i), q: quaternion(columns['q'], i),
    });
  return tables;
}

// ---- helpers ------------------------------------------------------------------------------------

/** Only positions and normals, one vertex a corner. */
function plain(g: THREE.BufferGeometry): THREE.BufferGeometry {
  const out = g.index ? g.toNonIndexed() : g;
  for (const name of Object.keys(out.attributes))
    if (name !== 'position' && name !== 'normal' && name !== 'rim') out.deleteAttribute(name);
  if (!out.getAttribute('rim'))
    out.setAttribute('rim', new THREE.BufferAttribute(new Float32Array(out.getAttribute('position').count), 1));
  return out;
}

/** three.js builds along y; cairn along `axis`. */
function along(g: THREE.BufferGeometry, axis: THREE.Vector3): THREE.BufferGeometry {
  const to = axis.lengthSq() > 0 ? axis.clone().normalize() : new THREE.Vector3(0, 0, 1);
  return g.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), to));
}

/** A flat polygon about its middle, in the plane z = 0, with a mark that shows how it turns. */
function flat(outline: THREE.Vector2[], marked = false): THREE.BufferGeometry {
  const position: number[] = [], rim: number[] = [];
  const triangles = THREE.ShapeUtils.triangulateShape(outline, []);
  const middle = outline.reduce((s, p) => s.add(p), new THREE.Vector2()).divideScalar(outline.length);
  const star = outline.every((p, i) => cross2(p, outline[(i + 1) % outline.length], middle) > 0);
  if (star)
    outline.forEach((p, i) => {
      const n = outline[(i + 1) % outline.length];
      position.push(p.x, p.y, 0, n.x, n.y, 0, middle.x, middle.y, 0);
      rim.push(1, 1, marked && i === 0 ? 1 : 0);
    });
  else
    for (const t of triangles)
      for (const c of t) { position.push(outline[c].x, outline[c].y, 0); rim.push(0); }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.setAttribute('rim', new THREE.Float32BufferAttribute(rim, 1));
  const normal = new Float32Array(position.length);
  for (let i = 2; i < normal.length; i += 3) normal[i] = 1;
  g.setAttribute('normal', new THREE.BufferAttribute(normal, 3));
  return g;
}

const cross2 = (a: THREE.Vector2, b: THREE.Vector2, o: THREE.Vector2): number =>
  (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);

function round(count: number, at: (angle: number) => [number, number]): THREE.Vector2[] {
  return Array.from({ length: count }, (_, i) => new THREE.Vector2(...at((2 * Math.PI * i) / count)));
}

const signedPower = (v: number, p: number): number => Math.sign(v) * Math.abs(v) ** p;

// ---- shapes in 3D -------------------------------------------------------------------------------

// (|x/a|^n + |y/b|^n)^(m/n) + |z/c|^m = 1
function superellipsoid(s: ShapeSpec): THREE.BufferGeometry {
  const g = new THREE.SphereGeometry(1, 48, 32);
  const p = g.getAttribute('position');
  const [n, m] = s.exponents;
  for (let i = 0; i < p.count; i++) {
    const x = p.getX(i), y = p.getZ(i), z = p.getY(i);
    const ring = Math.hypot(x, y), c = ring > 0 ? x / ring : 1, d = ring > 0 ? y / ring : 0;
    const r = ring ** (2 / m);
    p.setXYZ(i, s.semi_axes.x * r * signedPower(c, 2 / n), -s.semi_axes.y * r * signedPower(d, 2 / n), s.semi_axes.z * signedPower(z, 2 / m));
  }
  const out = new THREE.BufferGeometry().setAttribute('position', p).setIndex(g.index);
  out.computeVertexNormals();
  return out;
}

function faces(t: GeometryTables, row: number, smooth: boolean): THREE.BufferGeometry {
  const position: number[] = [];
  const base = t.vertexOffset[row];
  for (let f = t.faceOffset[row]; f < t.faceOffset[row + 1]; f++) {
    const first = t.cornerOffset[f], count = t.cornerOffset[f + 1] - first;
    for (let k = 1; k + 1 < count; k++)
      for (const c of [first, first + k, first + k + 1]) {
        const v = 3 * (base + t.corners[c]);
        position.push(t.vertices[v], t.vertices[v + 1], t.vertices[v + 2]);
      }
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.computeVertexNormals();
  return smooth ? g : g;
}

function polyhedron(t: GeometryTables, s: ShapeSpec): THREE.BufferGeometry {
  const g = faces(t, s.geometry, false);
  if (!(s.rounding > 0)) return g;
  // swept by a ball: each face moves outward; rounded edges and corners are not drawn
  const p = g.getAttribute('position'), n = g.getAttribute('normal');
  for (let i = 0; i < p.count; i++)
    p.setXYZ(i, p.getX(i) + s.rounding * n.getX(i), p.getY(i) + s.rounding * n.getY(i), p.getZ(i) + s.rounding * n.getZ(i));
  const balls: THREE.BufferGeometry[] = [];
  for (let v = t.vertexOffset[s.geometry]; v < t.vertexOffset[s.geometry + 1]; v++)
    balls.push(new THREE.SphereGeometry(s.rounding, 12, 8).translate(t.vertices[3 * v], t.vertices[3 * v + 1], t.vertices[3 * v + 2]));
  return mergeGeometries([g, ...balls].map(plain))!;
}

function solid3(s: ShapeSpec, t: GeometryTables | null): THREE.BufferGeometry | null {
  switch (s.kind) {
    case 'sphere': return new THREE.SphereGeometry(s.radius, 32, 20);
    case 'box':
      return s.rounding > 0
        ? new RoundedBoxGeometry(s.size.x, s.size.y, s.size.z, 4, s.rounding)
        : new THREE.BoxGeometry(s.size.x, s.size.y, s.size.z);
    case 'capsule': return along(new THREE.CapsuleGeometry(s.radius, s.length, 10, 28), s.axis);
    case 'cylinder': return along(new THREE.CylinderGeometry(s.radius, s.radius, s.height, 48), s.axis);
    // the origin is a quarter of the height above the base
    case 'cone': return along(new THREE.ConeGeometry(s.radius, s.height, 48).translate(0, s.height / 4, 0), s.axis);
    case 'ellipsoid': return new THREE.SphereGeometry(1, 40, 28).scale(s.semi_axes.x, s.semi_axes.y, s.semi_axes.z);
    case 'superellipsoid': return superellipsoid(s);
    case 'polyhedron': return t && polyhedron(t, s);
    case 'mesh':
    case 'height_field': return t && faces(t, s.geometry, true);
    default: return null;
  }
}

// ---- shapes in 2D -------------------------------------------------------------------------------

function roundedRectangle(w: number, h: number, r: number): THREE.Vector2[] {
  if (!(r > 0))
    return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => new THREE.Vector2((x * w) / 2, (y * h) / 2));
  const corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
  return corners.flatMap(([x, y], k) => Array.from({ length: 9 }, (_, i) => {
    const a = ((k + i / 8) * Math.PI) / 2;
    return new THREE.Vector2(x * (w / 2 - r) + r * Math.cos(a), y * (h / 2 - r) + r * Math.sin(a));
  }));
}

/** A thick line from point to point. */
function ribbon(points: [THREE.Vector2, THREE.Vector2][], width: number): THREE.BufferGeometry {
  return mergeGeometries(points.map(([a, b]) => {
    const side = b.clone().sub(a).normalize().multiplyScalar(width / 2);
    const n = new THREE.Vector2(-side.y, side.x);
    return flat([a.clone().sub(n), b.clone().sub(n), b.clone().add(n), a.clone().add(n)]);
  }).map(plain))!;
}

function segments(t: GeometryTables, row: number): [THREE.Vector2, THREE.Vector2][] {
  const base = t.vertexOffset[row];
  const at = (c: number): THREE.Vector2 => {
    const v = 3 * (base + t.corners[c]);
    return new THREE.Vector2(t.vertices[v], t.vertices[v + 1]);
  };
  const out: [THREE.Vector2, THREE.Vector2][] = [];
  for (let f = t.faceOffset[row]; f < t.faceOffset[row + 1]; f++)
    out.push([at(t.cornerOffset[f]), at(t.cornerOffset[f] + 1)]);
  return out;
}

function capsule2(s: ShapeSpec): THREE.BufferGeometry {
  const turn = Math.atan2(s.axis.y, s.axis.x);
  const radius = s.radius > 0 ? s.radius : 0.02 * s.length;
  const outline = Array.from({ length: 34 }, (_, i) => {
    const right = i < 17;
    const a = -Math.PI / 2 + (right ? i : i - 1) * (Math.PI / 16);
    return new THREE.Vector2((right ? 1 : -1) * s.length / 2 + radius * Math.cos(a), radius * Math.sin(a));
  });
  return flat(outline).rotateZ(turn);
}

function solid2(s: ShapeSpec, t: GeometryTables | null): THREE.BufferGeometry | null {
  switch (s.kind) {
    case 'sphere': return flat(round(48, (a) => [s.radius * Math.cos(a), s.radius * Math.sin(a)]), true);
    case 'box': return flat(roundedRectangle(s.size.x, s.size.y, s.rounding));
    case 'capsule': return capsule2(s);
    case 'ellipsoid': return flat(round(48, (a) => [s.semi_axes.x * Math.cos(a), s.semi_axes.y * Math.sin(a)]), true);
    case 'superellipsoid':
      return flat(round(64, (a) => [s.semi_axes.x * signedPower(Math.cos(a), 2 / s.exponents[0]),
        s.semi_axes.y * signedPower(Math.sin(a), 2 / s.exponents[0])]), true);
    case 'polyhedron': return t && flat(segments(t, s.geometry).map(([a]) => a));
    case 'polyline': {
      if (!t) return null;
      const lines = segments(t, s.geometry);
      const box = new THREE.Box2().setFromPoints(lines.flat());
      return ribbon(lines, 0.006 * box.getSize(new THREE.Vector2()).length());
    }
    default: return null;
  }
}

/** The triangles of a bounded shape; null: it has none (points, containers, half-spaces). */
export function shapeGeometry(s: ShapeSpec, t: GeometryTables | null, dimension: number): THREE.BufferGeometry | null {
  if (s.kind === 'compound') {
    if (!t) return null;
    const parts = t.parts.slice(t.partOffset[s.geometry], t.partOffset[s.geometry + 1]).map((p) =>
      shapeGeometry(p.spec, t, dimension)?.applyQuaternion(p.q).translate(p.x.x, p.x.y, p.x.z)).filter((g) => !!g);
    return parts.length > 0 ? mergeGeometries(parts as THREE.BufferGeometry[]) : null;
  }
  const g = dimension === 2 ? solid2(s, t) : solid3(s, t);
  return g && plain(g);
}

/** Kinds without a surface of their own that bounds them. */

// ---- walls --------------------------------------------------------------------------------------
// Containers and half-spaces are cut to the box of the scene. Parts outside another container (a
// cylinder below its conical bottom) are left out.

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
function revolved(low: number, high: number, radius: (z: number) => number, ends: number): THREE.BufferGeometry {
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
    case 'inside_cylinder': return turned(revolved(low, high, () => s.radius, 96));
    case 'inside_cone': return turned(revolved(0, Math.max(high, 0), (z) => z * Math.tan(s.half_angle), 96));
    case 'funnel':
      return turned(revolved(0, s.height, (z) => s.bottom_radius + ((s.top_radius - s.bottom_radius) * z) / s.height, 96));
    case 'inside_box': return new THREE.BoxGeometry(s.size.x, s.size.y, s.size.z || 0.001 * size.length());
    default: return null;
  }
}

/** The part of a surface, in the world, that no other container leaves outside; an edge that crosses the border ends
 *  there, by bisection. */
function cut(g: THREE.BufferGeometry, walls: Wall[], own: Wall, slack: number): THREE.BufferGeometry {
  const position = Array.from(g.getAttribute('position').array), normal = Array.from(g.getAttribute('normal').array), from = g.index!, kept: number[] = [];
  const corner = (i: number): THREE.Vector3 => new THREE.Vector3(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
  const holding = (p: THREE.Vector3): boolean => walls.every((w) => w === own || holds(w, p, slack));
  const inside = Array.from({ length: position.length / 3 }, (_, i) => holding(corner(i)));
  /** The number of a new corner, between one inside and one outside. */
  const border = (i: number, o: number): number => {
    const a = corner(i), b = corner(o), p = a.clone();
    let low = 0, high = 1;
    for (let k = 0; k < 10; k++) {
      const mid = (low + high) / 2;
      if (holding(p.lerpVectors(a, b, mid))) low = mid; else high = mid;
    }
    normal.push(...normal.slice(3 * i, 3 * i + 3)); // of its neighbour: triangles are small
    return position.push(...p.lerpVectors(a, b, low).toArray()) / 3 - 1;
  };
  for (let t = 0; t < from.count; t += 3) {
    const part: number[] = [];
    for (let k = 0; k < 3; k++) {
      const i = from.getX(t + k), j = from.getX(t + ((k + 1) % 3));
      if (inside[i]) part.push(i);
      if (inside[i] !== inside[j]) part.push(inside[i] ? border(i, j) : border(j, i));
    }
    for (let k = 2; k < part.length; k++) kept.push(part[0], part[k - 1], part[k]);
  }
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.setAttribute('normal', new THREE.Float32BufferAttribute(normal, 3));
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

/** Containers that are there in a frame, and where. */
export function wallsOf(run: Run, frame: Frame, rows: number[]): Wall[] {
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
