// cell.ts - what surrounds the bodies: the box of a periodic cell, walls of laboratory cells, a slice of a field.
import * as THREE from 'three';
import { Solids, type Style } from './layers';
import { mapBytes, ramp } from './quantities';
import { placeOf, type Frame, type Run } from './run';
import { flag } from './shaders';

// ---- the periodic cell --------------------------------------------------------------------------

/** Three edges of a periodic cell, three numbers each, in m; zeros along axes that are not periodic. */
export type Edges = Float64Array;

const isEdge = (e: Edges, k: number): boolean => e[3 * k] !== 0 || e[3 * k + 1] !== 0 || e[3 * k + 2] !== 0;
const edge = (e: Edges, k: number): THREE.Vector3 => new THREE.Vector3(e[3 * k], e[3 * k + 1], e[3 * k + 2]);

/** Vectors with b_i . e_j = 1 for i = j, else 0; axes that are not periodic have none. */
export function reciprocal(e: Edges): (THREE.Vector3 | null)[] {
  const full = [0, 1, 2].map((k) => (isEdge(e, k) ? edge(e, k) : new THREE.Vector3().setComponent(k, 1)));
  const volume = full[0].dot(full[1].clone().cross(full[2]));
  return full.map((_, k) => (isEdge(e, k) ? full[(k + 1) % 3].clone().cross(full[(k + 2) % 3]).divideScalar(volume) : null));
}

/** The vector of the lattice that is nearest to a displacement: how far a body was put back. */
export function latticePart(e: Edges, inverse: (THREE.Vector3 | null)[], d: THREE.Vector3): THREE.Vector3 {
  const out = new THREE.Vector3();
  inverse.forEach((b, k) => { if (b) out.addScaledVector(edge(e, k), Math.round(b.dot(d))); });
  return out;
}

/** Where the image of b that touches a is, from b itself. */
export function imageShift(f: Frame, contact: number, out: number[]): void {
  const image = f.contacts?.image, e = f.cell;
  for (let d = 0; d < 3; d++) out[d] = image && e ? image[3 * contact] * e[d] + image[3 * contact + 1] * e[3 + d] + image[3 * contact + 2] * e[6 + d] : 0;
}

/** The eight corners of the box; an axis that is not periodic has the extent of the scene. */
export function cellCorners(run: Run, e: Edges, scene: THREE.Box3): THREE.Vector3[] {
  const corner = new THREE.Vector3().fromArray((run.description.attributes['cell_corner'] as number[] | undefined) ?? [0, 0, 0]);
  const edges = [0, 1, 2].map((k) => {
    if (isEdge(e, k)) return edge(e, k);
    if (k >= run.dimension) return new THREE.Vector3();
    corner.setComponent(k, scene.min.getComponent(k));
    return new THREE.Vector3().setComponent(k, scene.max.getComponent(k) - scene.min.getComponent(k));
  });
  return Array.from({ length: 8 }, (_, c) => [0, 1, 2].reduce((p, k) => p.addScaledVector(edges[k], (c >> k) & 1), corner.clone()));
}

export class CellBox {
  readonly lines: THREE.LineSegments;

  constructor(private run: Run) {
    this.lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xe8a33d }));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 6;
    this.lines.visible = false;
  }

  show(f: Frame, on: boolean, scene: THREE.Box3): void {
    this.lines.visible = on && f.cell !== null;
    if (!this.lines.visible) return;
    const x = cellCorners(this.run, f.cell!, scene), flat = this.run.dimension === 2, points: THREE.Vector3[] = [];
    for (let c = 0; c < (flat ? 4 : 8); c++)
      for (let k = 0; k < (flat ? 2 : 3); k++) if (!((c >> k) & 1)) points.push(x[c], x[c | (1 << k)]);
    this.lines.geometry.dispose();
    this.lines.geometry = new THREE.BufferGeometry().setFromPoints(points);
  }
}

// ---- walls of laboratory cells ------------------------------------------------------------------
// Platens are boxes that a servo moves. They are larger than the sample, so they are drawn a little way beyond it,
// and as glass, since they would hide it.

export class Platens {
  readonly layer: Solids;

  constructor(private run: Run, style: Style) {
    const flat = run.dimension === 2;
    this.layer = new Solids(new THREE.BoxGeometry(1, 1, 1), style.with({
      uGlass: { value: flat ? 0 : 1 }, uAlpha: { value: flat ? 0.22 : 0.65 }, uGrey: { value: new THREE.Color(0.5, 0.58, 0.68) }, uClipOn: { value: 0 },
      uFlatLight: { value: flat ? 1 : 0 },
    }));
    this.layer.setTransparent(true);
    this.layer.mesh.renderOrder = 5;
  }

  /** `limits`: how far they are drawn. */
  show(f: Frame, on: boolean, limits: THREE.Box3): void {
    const rows = [...this.run.platens].filter((row) => placeOf(f, row) >= 0), layer = this.layer;
    layer.resize(on ? rows.length : 0);
    if (!on || rows.length === 0) return;
    rows.forEach((row, i) => {
      const size = new THREE.Vector3().fromArray(this.run.bodies.lengths['size'], 3 * row), x = new THREE.Vector3().fromArray(f.x, 3 * placeOf(f, row));
      const box = new THREE.Box3().setFromCenterAndSize(x, size).intersect(limits);
      if (box.isEmpty()) box.setFromCenterAndSize(x, new THREE.Vector3());
      if (this.run.dimension === 2) { box.min.z = -1e-3; box.max.z = 0; }
      box.getCenter(x).toArray(layer.array('iPosition'), 3 * i);
      layer.array('iRotation').set([0, 0, 0, 1], 4 * i);
      box.getSize(size).toArray(layer.array('iScale'), 3 * i);
      layer.array('iFlags')[i] = flag.grey;
    });
    layer.touch();
  }
}

// ---- fields -------------------------------------------------------------------------------------

const group = 'statistics/fields/';

/** A field that can be shown, from columns of the statistic `fields`. */
export interface Field { key: string; label: string; unit: string; columns: string[]; of(v: number[], dimension: number): number }

const plain = (key: string, label: string, unit: string): Field => ({ key, label, unit, columns: [key], of: (v) => v[0] });

const all: Field[] = [
  plain('solid', 'Solid fraction', ''), plain('density', 'Density', 'kg/m³'),
  { key: 'speed', label: 'Speed', unit: 'm/s', columns: ['velocity_x', 'velocity_y', 'velocity_z'], of: (v) => Math.hypot(...v) },
  plain('velocity_x', 'Velocity along x', 'm/s'), plain('velocity_y', 'Velocity along y', 'm/s'), plain('velocity_z', 'Velocity along z', 'm/s'),
  { key: 'pressure', label: 'Pressure', unit: 'Pa', columns: ['stress_xx', 'stress_yy', 'stress_zz'], of: (v, d) => v.reduce((a, b) => a + b, 0) / d },
  plain('contacts', 'Contacts in a volume', '1/m³'),
];

/** The fields of a run; none, if it did not measure them. */
export function fieldsOf(run: Run): Field[] {
  const has = (c: string): boolean => run.column(group + c) !== undefined;
  return has('time') ? all.filter((f) => f.columns.some(has)) : [];
}

/** One field of one frame, on its grid; NaN where the density is below 1 % of its largest value. */
export interface FieldGrid { cells: number[]; low: number[]; edge: number; values: Float32Array }

/** The first row with a time of at least this (`after`: above it); rows are in the order of time. */
async function firstRow(run: Run, time: number, after: boolean): Promise<number> {
  let low = 0, high = run.column(`${group}time`)!.rows;
  while (low < high) {
    const mid = Math.floor((low + high) / 2);
    const [t] = await run.read([{ column: `${group}time`, type: 'f8', first: mid, count: 1 }]);
    if (after ? t[0] <= time : t[0] < time) low = mid + 1; else high = mid;
  }
  return low;
}

export async function readField(run: Run, field: Field, time: number): Promise<FieldGrid | null> {
  const first = await firstRow(run, time, false), count = (await firstRow(run, time, true)) - first;
  if (count === 0) return null;
  const columns = ['x', 'y', 'z', 'density', ...field.columns].filter((c) => run.column(group + c));
  const found = await run.read(columns.map((c) => ({ column: group + c, type: 'f4', first, count })));
  const of = (c: string): ArrayLike<number> | undefined => found[columns.indexOf(c)];
  const grid: FieldGrid = { cells: [1, 1, 1], low: [0, 0, 0], edge: 0, values: new Float32Array(count) };
  ['x', 'y', 'z'].slice(0, run.dimension).forEach((axis, k) => {
    const x = of(axis)!, stride = grid.cells[0] * grid.cells[1];
    let n = 1;
    while (n * (k === 0 ? 1 : stride) < count && x[n * (k === 0 ? 1 : stride)] !== x[0]) n++;
    grid.cells[k] = n;
    if (n > 1) grid.edge = (x[(n - 1) * (k === 0 ? 1 : stride)] - x[0]) / (n - 1);
    grid.low[k] = x[0];
  });
  const parts = field.columns.map(of).filter((v) => v !== undefined), density = of('density')!;
  let least = 0;
  for (let i = 0; i < count; i++) least = Math.max(least, 0.01 * density[i]);
  for (let i = 0; i < count; i++) grid.values[i] = density[i] > least ? field.of(parts.map((p) => p![i]), run.dimension) : NaN;
  for (let k = 0; k < run.dimension; k++) grid.low[k] -= grid.edge / 2;
  return grid;
}

/** A cut through a field, across one axis: a picture on a plane. In 2D it is the whole field. */
export class FieldSlice {
  readonly mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ transparent: true, side: THREE.DoubleSide, depthWrite: false }));
  grid: FieldGrid | null = null;
  private colours = mapBytes(ramp);

  constructor(private flat: boolean) {
    this.mesh.visible = false;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = flat ? -1 : 2;
  }

  /** Across axis `axis` at a place in m; colours from `range[0]` to `range[1]`. */
  draw(axis: number, at: number, range: [number, number]): void {
    const g = this.grid;
    this.mesh.visible = g !== null && g.edge > 0;
    if (!g || !(g.edge > 0)) return;
    const across = this.flat ? 2 : axis, [u, v] = [0, 1, 2].filter((k) => k !== across);
    const layer = this.flat ? 0 : Math.min(Math.max(Math.floor((at - g.low[across]) / g.edge), 0), g.cells[across] - 1);
    const bytes = new Uint8Array(4 * g.cells[u] * g.cells[v]), stride = [1, g.cells[0], g.cells[0] * g.cells[1]];
    for (let j = 0; j < g.cells[v]; j++)
      for (let i = 0; i < g.cells[u]; i++) {
        const value = g.values[i * stride[u] + j * stride[v] + layer * stride[across]], to = 4 * (j * g.cells[u] + i);
        const share = Number.isNaN(value) ? 0 : (value - range[0]) / (range[1] - range[0] || 1);
        const c = 4 * Math.round(255 * Math.min(Math.max(share, 0), 1));
        bytes.set(this.colours.subarray(c, c + 3), to);
        bytes[to + 3] = Number.isNaN(value) ? 0 : 255;
      }
    this.mesh.material.map?.dispose();
    const map = new THREE.DataTexture(bytes, g.cells[u], g.cells[v], THREE.RGBAFormat);
    map.minFilter = map.magFilter = THREE.LinearFilter;
    map.needsUpdate = true;
    this.mesh.material.map = map;
    this.mesh.material.needsUpdate = true;
    const centre = new THREE.Vector3(), x = new THREE.Vector3().setComponent(u, g.cells[u] * g.edge), y = new THREE.Vector3().setComponent(v, g.cells[v] * g.edge);
    centre.setComponent(u, g.low[u] + x.length() / 2).setComponent(v, g.low[v] + y.length() / 2).setComponent(across, this.flat ? -0.005 : at);
    this.mesh.matrixAutoUpdate = false;
    this.mesh.matrix.makeBasis(x, y, new THREE.Vector3().setComponent(across, 1)).setPosition(centre);
  }
}
