// runview.ts - one run in the scene: its bodies, walls, contacts, joints, arrows and trails.
import * as THREE from 'three';
import { cellCorners, CellBox, FieldSlice, imageShift, latticePart, Platens, reciprocal } from './cell';
import { Balls, Solids, Style, texture, Tubes, type Eye } from './layers';
import { contactForce, ember, normalForce, type Quantity } from './quantities';
import { containerKinds, placeOf, type Frame, type Run } from './run';
import { flag } from './shaders';
import { keyOf, quaternion, readGeometry, shapeGeometry, specOf, wallGeometries, wallLines, wallsOf, type GeometryTables } from './shapes';

export interface ShowOptions {
  bodies: 'solid' | 'glass' | 'hidden';
  chains: boolean;
  contacts: boolean;
  normals: boolean;
  velocities: boolean;
  joints: boolean;
  walls: boolean;
  cell: boolean; // the box of a periodic run
  trails: boolean;
  marks: boolean;
  threshold: number; // share of the largest force below which chains are left out
}

export const mostChains = 40000;
const manyBalls = 20000; // above this, hidden balls are left out
const mostEdged = 60000; // corners: the edges of larger meshes are not drawn

/** Where each row of /bodies is drawn. */
interface Group { solids: Solids; rows: number[]; scale: THREE.Vector3[]; own: boolean[] }

export interface Picked { kind: 'body' | 'contact'; index: number; distance: number }

const identity = (a: Float32Array, b: Float32Array, row: number): boolean =>
  a[3 * row] === 0 && a[3 * row + 1] === 0 && a[3 * row + 2] === 0 && Math.abs(b[4 * row]) > 1 - 1e-12;

/** What two bodies push each other with: contacts of the same two that follow each other. */
interface Chain { first: number; end: number; strongest: number; force: number }

export function chainsOf(run: Run, f: Frame): Chain[] {
  const c = f.contacts, out: Chain[] = [], image = [0, 1, 2];
  let largest = 0; // of the last chain
  for (let k = 0; c && k < c.count; k++) {
    const force = normalForce(run, c, k), last = out[out.length - 1];
    if (!(force > 0)) continue;
    const same = last !== undefined && c.body[2 * k] === c.body[2 * last.first] && c.body[2 * k + 1] === c.body[2 * last.first + 1] &&
      (c.image === null || image.every((d) => c.image![3 * k + d] === c.image![3 * last.first + d]));
    if (!same) { out.push({ first: k, end: k + 1, strongest: k, force }); largest = force; continue; }
    last.end = k + 1;
    last.force += force;
    if (force > largest) { last.strongest = k; largest = force; }
  }
  return out;
}

/** Where the forces of a chain act, on average. */
function middleOf(f: Frame, { first, end, force: total }: Chain, force: Float32Array): number[] {
  const middle = [0, 0, 0];
  for (let i = first; i < end; i++) for (let d = 0; d < 3; d++) middle[d] += (Math.max(force[i], 0) / total) * f.contacts!.point[3 * i + d];
  return middle;
}

const isRound = (run: Run, row: number): boolean => run.kind(row) === 'sphere';

/** Where the chains of each moving body meet: at its centre. What two others press from both sides passes the force on
 *  from one to the other, and it need not go by way of the centre. */
export function nodesOf(run: Run, f: Frame, list: Chain[], force: Float32Array): Map<number, number[]> {
  const c = f.contacts!, shift = [0, 0, 0], nodes = new Map<number, number[]>(), pushes = new Map<number, { middle: number[]; push: number[] }[]>();
  for (const chain of list)
    for (const side of [0, 1]) {
      const row = c.body[2 * chain.first + side], place = row >= 0 && run.isDynamic(row) ? placeOf(f, row) : -1;
      if (place < 0) continue;
      if (!nodes.has(row)) nodes.set(row, [...f.x.subarray(3 * place, 3 * place + 3)]);
      if (isRound(run, row)) continue;
      imageShift(f, chain.first, shift);
      const middle = middleOf(f, chain, force).map((x, d) => x - side * shift[d]), push = [0, 1, 2].map((d) => (1 - 2 * side) * c.normal[3 * chain.strongest + d]);
      const known = pushes.get(row);
      if (known) known.push({ middle, push }); else pushes.set(row, [{ middle, push }]);
    }
  for (const [row, [p, q, more]] of pushes)
    if (q && !more && p.push.reduce((dot, x, d) => dot + x * q.push[d], 0) < 0) nodes.set(row, p.middle.map((x, d) => 0.5 * (x + q.middle[d])));
  return nodes;
}

/** The forces of all chains of a frame, in N. */
export const pushing = (run: Run, f: Frame): Float32Array => Float32Array.from(chainsOf(run, f), (chain) => chain.force);

/** The 98th percentile of forces: a few large ones do not thin all others. */
export const largeForce = (forces: Float32Array): number => forces.sort()[Math.floor(0.98 * (forces.length - 1))] ?? 0;

export class RunView {
  readonly root = new THREE.Group();
  readonly style = new Style();
  frame: Frame | null = null;
  values: Float32Array = new Float32Array(0);
  readonly hidden = new Set<number>(); // rows
  readonly hiddenMaterials = new Set<number>();
  isolated: Set<number> | null = null;
  selected = -1;
  selectedContact = -1; // in the frame that is shown; -1: none, or not there now
  selectedPair: { a: number; b: number; point: number[] } | null = null; // rows, and where it was seen last
  box = new THREE.Box3();
  focus = new THREE.Box3(); // the same without the few bodies that went far away
  forceScale = 0; // N: the thickest tube; 0: not known yet
  forceGrows = true; // with the frames that are shown
  fast = 0; // m/s: what is slower has no long arrow, even if nothing is faster
  chainsLimited = false; // only the strongest `mostChains` are shown
  private balls: Balls;
  private ballRows: number[] = [];
  private groups: Group[] = [];
  private groupOf = new Map<number, Group>();
  private containers: number[] = [];
  private tables: GeometryTables | null = null;
  private wallMeshes: THREE.Object3D[] = [];
  private wallKey = '';
  private chainUniforms: Record<string, THREE.IUniform>;
  private chains: Tubes;
  private chainContact: Int32Array = new Int32Array(0);
  private tubeContact: number[] = []; // of each tube
  private points: Balls;
  private arrows: Tubes;
  private normals: Tubes;
  private joints: Tubes;
  private pins: Balls; // where joints are
  private jointBodies: Int32Array | null = null;
  private jointFrames: Float32Array | null = null; // of a
  private axes: Tubes;
  private trails: THREE.LineSegments;
  private cellBox: CellBox;
  private platens: Platens;
  readonly slice: FieldSlice;
  readonly floor = { value: new THREE.Color(0.16, 0.18, 0.21) };
  readonly lines = { value: new THREE.Color(0.6, 0.64, 0.7) };
  readonly ink = { value: new THREE.Color(0.1, 0.12, 0.15) };
  private built = 0;
  private measured = 0; // frames
  private grain = 0.01; // m: a typical radius
  private thin = 0.01; // m: half of a typical smallest side

  constructor(readonly run: Run, readonly perspective: boolean) {
    const u = this.style.uniforms;
    u['uFlatLight'].value = run.dimension === 2 ? 1 : 0;
    u['uPerspective'].value = perspective ? 1 : 0;
    this.balls = new Balls(u, perspective ? manyBalls : Infinity);
    this.chainUniforms = this.style.with({
      uMap: { value: texture(ember) }, uRange: { value: new THREE.Vector2(0, 1) }, uGlass: { value: 0 }, uAlpha: { value: 1 },
      uMarks: { value: 0 }, uFlatLight: { value: 0 },
    });
    const inked = { ...this.chainUniforms, uGrey: this.ink };
    this.chains = new Tubes(this.chainUniforms).showThrough(0.8);
    this.points = new Balls(this.chainUniforms).showThrough(0.5);
    this.arrows = new Tubes({ ...this.chainUniforms, uGrey: this.lines }, true);
    this.normals = new Tubes(this.chainUniforms, true).showThrough(0.5);
    this.joints = new Tubes(inked).showThrough(0.4);
    this.pins = new Balls(inked).showThrough(0.8);
    this.axes = new Tubes(inked).showThrough(0.8);
    this.trails = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x3c78d8, transparent: true, opacity: 0.75 }));
    this.trails.frustumCulled = false;
    for (const l of [this.balls, this.chains, this.points, this.arrows, this.normals, this.joints, this.pins, this.axes]) this.root.add(l.mesh);
    this.cellBox = new CellBox(run);
    this.platens = new Platens(run, this.style);
    this.slice = new FieldSlice(run.dimension === 2);
    this.root.add(this.trails, this.balls.points, this.cellBox.lines, this.platens.layer.mesh, this.slice.mesh);
    this.balls.mesh.renderOrder = 1;
  }

  async open(): Promise<void> {
    this.tables = await readGeometry(this.run);
    if (this.run.column('joints/body')) this.jointBodies = (await this.run.readAll('joints/body', 'i4')) as Int32Array;
    if (this.run.column('joints/frame_a')) this.jointFrames = (await this.run.readAll('joints/frame_a', 'f4')) as Float32Array;
    this.buildBodies();
    await this.measure();
  }

  /** After the run has grown. */
  async grow(): Promise<void> {
    if (this.run.bodies.count > this.built) {
      if (this.run.column('geometry/vertices')) this.tables = await readGeometry(this.run);
      this.buildBodies();
    }
    await this.measure();
  }

  // ---- bodies -----------------------------------------------------------------------------------

  private buildBodies(): void {
    const run = this.run;
    const keys = this.groupKeys;
    for (let row = this.built; row < run.bodies.count; row++) {
      const kind = run.kind(row);
      if (kind === 'sphere' && run.dimension === 3 || kind === 'point') { this.ballRows.push(row); continue; }
      if (containerKinds.has(kind)) { this.containers.push(row); continue; }
      if (run.platens.has(row)) continue;
      const spec = specOf(run, row), scale = new THREE.Vector3(1, 1, 1);
      // shapes that differ by scale alone share their triangles
      if (kind === 'box' && spec.rounding === 0) { scale.set(spec.size.x, spec.size.y, spec.size.z || 1); spec.size.set(1, 1, 1); }
      if (kind === 'ellipsoid') { scale.copy(spec.semi_axes); if (run.dimension === 2) scale.z = 1; spec.semi_axes.set(1, 1, 1); }
      if (kind === 'sphere') { scale.set(spec.radius, spec.radius, 1); spec.radius = 1; }
      const key = keyOf(spec);
      let at = keys.get(key);
      if (at === undefined) {
        const geometry = shapeGeometry(spec, this.tables, run.dimension);
        if (!geometry) continue;
        const solids = new Solids(geometry, this.style.uniforms);
        if (run.dimension === 3 && geometry.getAttribute('position').count < mostEdged) solids.withEdges();
        at = { solids, rows: [], scale: [], own: [] };
        keys.set(key, at);
        this.groups.push(at);
        this.root.add(solids.mesh);
      }
      at.rows.push(row);
      at.scale.push(scale);
      at.own.push(!identity(run.bodies.shapeX, run.bodies.shapeQ, row));
      this.groupOf.set(row, at);
    }
    this.built = run.bodies.count;
    // for other shapes, the radius of a ball of the same volume
    const size = (i: number): number => run.bodies.radius[i] ||
      (run.dimension === 2 ? Math.sqrt(run.bodies.volume[i] / Math.PI) : Math.cbrt((3 * run.bodies.volume[i]) / (4 * Math.PI)));
    const radii = Float32Array.from(run.bodies.radius, (_, i) => (run.isDynamic(i) ? size(i) : 0)).filter((r) => r > 0).sort();
    if (radii.length > 0) this.grain = radii[radii.length >> 1];
    const halves = [...this.groupOf].slice(0, 1000).filter(([row]) => run.isDynamic(row)).map(([row, g]) => 0.5 * g.solids.thin * Math.min(...g.scale[g.rows.indexOf(row)].toArray())).sort((a, b) => a - b);
    this.thin = Math.min(this.grain, halves[halves.length >> 1] ?? Infinity);
  }
  private groupKeys = new Map<string, Group>();

  get bodyCount(): number { return this.ballRows.length + this.groups.reduce((s, g) => s + g.rows.length, 0); }
  get typicalRadius(): number { return this.grain; }
  private get diagonal(): number { return this.box.getSize(new THREE.Vector3()).length(); }

  /** The box of what moves, over a few frames. */
  private async measure(): Promise<void> {
    // the more bodies, the fewer frames: 5 to 41 of them; where the run has grown, 5 of the new ones
    const n = this.run.frames, first = this.measured, most = first > 0 ? 4 : 40, parts = Math.min(most, Math.max(4, Math.floor(20000 / Math.max(1, this.run.bodies.count))));
    const picks = new Set(n > first ? Array.from({ length: parts + 1 }, (_, i) => Math.round(first + (i * (n - 1 - first)) / parts)) : []);
    this.measured = n;
    for (const k of n > 0 && this.run.bodies.count > 200000 ? [n - 1] : picks) {
      const f = await this.run.frame(k, 'places');
      const p = new THREE.Vector3(), moving: number[] = [];
      for (let i = 0; i < f.count; i++) {
        const row = f.row[i];
        if (containerKinds.has(this.run.kind(row)) || this.run.platens.has(row)) continue;
        const r = this.reachOf(row);
        if (!this.run.isDynamic(row) && r > 50 * this.grain && this.ballRows.length > 0) continue;
        p.fromArray(f.x, 3 * i);
        if (!this.run.isDynamic(row) && this.addCorners(f, i)) continue;
        if (this.run.isDynamic(row) && this.bodyCount > 100) { moving.push(i); this.box.expandByPoint(p.clone().addScalar(r)).expandByPoint(p.subScalar(r)); }
        else this.expand(p.clone().addScalar(r), p.subScalar(r));
      }
      this.addMost(f, moving);
    }
    if (n > 0 && !this.box.isEmpty()) await this.addCell(n);
    this.addContainers(n > 0 ? await this.run.frame(0, 'places') : null);
    if (this.box.isEmpty()) this.box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    if (this.run.platens.size > 0) this.box.expandByScalar(0.025 * this.box.getSize(new THREE.Vector3()).length());
    if (this.run.dimension === 2) { this.box.min.z = -0.01; this.box.max.z = 0.01; }
    // unless it is much smaller, all of the scene is looked at
    if (this.focus.isEmpty() || 1.4 * this.focus.getSize(new THREE.Vector3()).length() > this.diagonal) this.focus.copy(this.box);
    this.focus.intersect(this.box);
  }

  private expand(...points: THREE.Vector3[]): void {
    for (const p of points) { this.box.expandByPoint(p); this.focus.expandByPoint(p); }
  }

  /** The middle 96 % of many bodies, along each axis, with a margin. */
  private addMost(f: Frame, places: number[]): void {
    if (places.length === 0) return;
    const of = [0, 1, 2].map((d) => Float32Array.from(places, (i) => f.x[3 * i + d]).sort()), at = (share: number): THREE.Vector3 =>
      new THREE.Vector3(...of.map((x) => x[Math.round(share * (x.length - 1))]));
    this.focus.expandByPoint(at(0.02).subScalar(2 * this.grain)).expandByPoint(at(0.98).addScalar(2 * this.grain));
  }

  /** Long walls and floors have corners far from their centre in one direction only. */
  private addCorners(f: Frame, i: number): boolean {
    const row = f.row[i], g = this.groupOf.get(row), k = g ? g.rows.indexOf(row) : -1;
    if (!g || !f.q || g.own[k]) return false;
    const q = quaternion(f.q, i), x = new THREE.Vector3().fromArray(f.x, 3 * i), v = new THREE.Vector3();
    for (let c = 0; c < g.solids.corners.length; c += 3) this.expand(v.fromArray(g.solids.corners, c).multiply(g.scale[k]).applyQuaternion(q).add(x));
    return true;
  }

  /** The periodic cell at the start and at the end. */
  private async addCell(n: number): Promise<void> {
    const scene = this.box.clone();
    for (const k of [0, n - 1]) {
      const cell = (await this.run.frame(k, 'places')).cell;
      if (cell) this.expand(...cellCorners(this.run, cell, scene));
    }
  }

  /** Drums and boxes belong to the scene, unless they are far larger than their contents. */
  private addContainers(f: Frame | null): void {
    if (!f || this.box.isEmpty()) return;
    const size = this.box.getSize(new THREE.Vector3()).length();
    for (const { spec: s, pose } of wallsOf(this.run, f, this.containers)) {
      const r = s.kind === 'inside_box' ? s.size.length() / 2 : s.kind === 'inside_cylinder' ? s.radius : 0;
      if (!(r > 0) || r > 2 * size) continue;
      const half = s.kind === 'inside_box' ? s.size.clone().multiplyScalar(0.5) : new THREE.Vector3(r, r, 0), p = new THREE.Vector3().setFromMatrixPosition(pose);
      if (s.kind === 'inside_cylinder' && this.run.dimension === 3) this.crossSection(s.axis.clone().transformDirection(pose), r, p, half);
      this.expand(p.clone().add(half), p.sub(half));
    }
  }

  /** A cylinder has no ends: of its box counts what is beside the middle of the scene. */
  private crossSection(axis: THREE.Vector3, r: number, p: THREE.Vector3, half: THREE.Vector3): void {
    p.addScaledVector(axis, axis.dot(this.box.getCenter(new THREE.Vector3()).sub(p)));
    half.fromArray(axis.toArray().map((a) => r * Math.sqrt(Math.max(0, 1 - a * a))));
  }

  private reachOf(row: number): number {
    const g = this.groupOf.get(row);
    if (!g) return this.run.bodies.radius[row];
    const k = g.rows.indexOf(row), s = g.scale[k];
    if (g.own[k]) return this.reachAboutCentre(g, row);
    return g.solids.reach * (g.rows.length > 1000 ? Math.max(...g.scale[0].toArray()) : Math.max(s.x, s.y, this.run.dimension === 2 ? 0 : s.z));
  }

  /** A shape may have any origin; its body rotates about the centre of mass. */
  private reachAboutCentre(g: Group, row: number): number {
    const x = new THREE.Vector3().fromArray(this.run.bodies.shapeX, 3 * row), q = quaternion(this.run.bodies.shapeQ, row);
    const v = new THREE.Vector3();
    let reach = 0;
    for (let i = 0; i < g.solids.corners.length; i += 3) reach = Math.max(reach, v.fromArray(g.solids.corners, i).applyQuaternion(q).add(x).lengthSq());
    return Math.sqrt(reach);
  }

  private get nothingHidden(): boolean { return this.hidden.size === 0 && this.hiddenMaterials.size === 0 && this.isolated === null; }

  private flagsOf(row: number): number {
    const b = this.run.bodies;
    const off = this.hidden.has(row) || this.hiddenMaterials.has(b.material[row]) || (this.isolated !== null && !this.isolated.has(row));
    return (off ? flag.hidden : 0) | (row === this.selected ? flag.selected : 0) | (this.run.isDynamic(row) ? 0 : flag.grey);
  }

  /** Select a contact of the frame that is shown; -1: none. */
  selectContact(k: number): void {
    const c = this.frame?.contacts;
    this.selectedContact = c && k >= 0 && k < c.count ? k : -1;
    this.selectedPair = this.selectedContact < 0 ? null : { a: c!.body[2 * k], b: c!.body[2 * k + 1], point: [...c!.point.subarray(3 * k, 3 * k + 3)] };
  }

  // contacts have no lasting number: in another frame it is the nearest one of the same two bodies
  private findContact(f: Frame): void {
    const pair = this.selectedPair, c = f.contacts;
    this.selectedContact = -1;
    if (!pair || !c) return;
    let nearest = Infinity;
    for (let k = 0; k < c.count; k++) {
      const a = c.body[2 * k], b = c.body[2 * k + 1];
      if (!((a === pair.a && b === pair.b) || (a === pair.b && b === pair.a))) continue;
      const d = Math.hypot(c.point[3 * k] - pair.point[0], c.point[3 * k + 1] - pair.point[1], c.point[3 * k + 2] - pair.point[2]);
      if (d < nearest) { nearest = d; this.selectedContact = k; }
    }
    if (this.selectedContact >= 0) pair.point = [...c.point.subarray(3 * this.selectedContact, 3 * this.selectedContact + 3)];
  }

  /** Show a frame, or a state between it and the next one. */
  show(frame: Frame, next: Frame | null, mix: number, options: ShowOptions): void {
    if (frame !== this.frame) { this.frame = frame; this.findContact(frame); }
    const between = next !== null && mix > 0 && next.count >= frame.count && next.place === null && frame.place === null ? mix : 0;
    this.placeBalls(frame, between > 0 ? next : null, between);
    for (const g of this.groups) this.placeGroup(g, frame, between > 0 ? next : null, between);
    this.applyOptions(options);
    this.showChains(frame, options);
    this.showArrows(frame, options);
    this.showJoints(frame, options);
    this.showWalls(frame, options);
    this.cellBox.show(frame, options.cell, this.box);
    this.platens.show(frame, options.walls, this.box);
  }

  private placeBalls(f: Frame, next: Frame | null, mix: number): void {
    const layer = this.balls, rows = this.ballRows;
    layer.resize(rows.length);
    const x = layer.array('iPosition'), r = layer.array('iRadius'), q = layer.array('iRotation'), fl = layer.array('iFlags');
    const { radius, motion } = this.run.bodies, small = 0.25 * this.grain, plain = this.nothingHidden;
    const marks = f.q !== null && rows.length < manyBalls; // with many bodies, rotation is not visible
    const jump = next ? this.jumps(f, next) : null;
    let n = 0;
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k], i = f.place ? (f.place.get(row) ?? -1) : row < f.count ? row : -1;
      if (i < 0) continue;
      const from = 3 * i, to = 3 * n;
      if (jump) jump(i, mix).toArray(x, to);
      else if (next) for (let c = 0; c < 3; c++) x[to + c] = f.x[from + c] * (1 - mix) + next.x[from + c] * mix;
      else { x[to] = f.x[from]; x[to + 1] = f.x[from + 1]; x[to + 2] = f.x[from + 2]; }
      r[n] = radius[row] || small;
      if (marks) { q[4 * n] = f.q![4 * i + 1]; q[4 * n + 1] = f.q![4 * i + 2]; q[4 * n + 2] = f.q![4 * i + 3]; q[4 * n + 3] = f.q![4 * i]; }
      fl[n] = plain ? (motion[row] === 0 ? 0 : flag.grey) | (row === this.selected ? flag.selected : 0) : this.flagsOf(row);
      n++;
    }
    layer.resize(n);
    layer.touch('iPosition', 'iRadius', 'iRotation', 'iFlags');
  }

  /** Between two frames of a periodic run: a body that was put back moves on to where its image is. */
  private jumps(f: Frame, next: Frame): ((i: number, mix: number) => THREE.Vector3) | null {
    if (!next.cell) return null;
    const cell = next.cell, inverse = reciprocal(cell), d = new THREE.Vector3(), x = new THREE.Vector3();
    return (i, mix) => {
      x.fromArray(f.x, 3 * i);
      d.fromArray(next.x, 3 * i).sub(x);
      return x.addScaledVector(d.sub(latticePart(cell, inverse, d)), mix);
    };
  }

  private placeGroup(g: Group, f: Frame, next: Frame | null, mix: number): void {
    const layer = g.solids, b = this.run.bodies;
    layer.resize(g.rows.length);
    const x = layer.array('iPosition'), q = layer.array('iRotation'), s = layer.array('iScale'), fl = layer.array('iFlags');
    const p = new THREE.Vector3(), turn = new THREE.Quaternion(), jump = next ? this.jumps(f, next) : null;
    let n = 0;
    g.rows.forEach((row, k) => {
      const i = placeOf(f, row);
      if (i < 0) return;
      p.fromArray(f.x, 3 * i);
      turn.copy(f.q ? quaternion(f.q, i) : turn.identity());
      if (next) {
        if (jump) p.copy(jump(i, mix)); else p.lerp(new THREE.Vector3().fromArray(next.x, 3 * i), mix);
        if (next.q) turn.slerp(quaternion(next.q, i), mix);
      }
      if (g.own[k]) {
        p.add(new THREE.Vector3().fromArray(b.shapeX, 3 * row).applyQuaternion(turn));
        turn.multiply(quaternion(b.shapeQ, row));
      }
      p.toArray(x, 3 * n);
      turn.toArray(q, 4 * n);
      g.scale[k].toArray(s, 3 * n);
      fl[n] = this.flagsOf(row);
      n++;
    });
    layer.resize(n);
    layer.touch('iPosition', 'iRotation', 'iScale', 'iFlags');
  }

  /** Before it is drawn: how many pixels a typical radius has, and a metre at distance 1. */
  setDetail(pixels: number, focal: number): void { this.style.uniforms['uFocal'].value = focal; this.balls.setDetail(pixels); }

  /** Before it is drawn: which of many balls can be seen. */
  choose(eye: Eye, toward: THREE.Vector3, distance: number, moving: boolean): void {
    const u = this.style.uniforms, clip = u['uClip'].value as THREE.Vector4;
    this.balls.choose({ ...eye, clip: u['uClipOn'].value > 0.5 ? clip.toArray() : null }, toward, distance, moving);
  }
  get drawnBalls(): number { return this.balls.drawn; }

  /** Colour by a quantity; returns the range of values of what can be seen. */
  colour(q: Quantity): [number, number] {
    const f = this.frame!;
    if (this.values.length < f.count) this.values = new Float32Array(f.count);
    q.values(this.run, f, this.values);
    return this.paint(q.kinds?.length ?? 0);
  }

  /** Pass `values` to the layers; of so many kinds, 0: numbers. */
  paint(kinds: number): [number, number] {
    const f = this.frame!, v = this.values;
    const { motion } = this.run.bodies;
    let low = Infinity, high = -Infinity;
    const fill = (rows: number[], out: Float32Array): void => {
      let n = 0;
      for (let k = 0; k < rows.length; k++) {
        const row = rows[k], i = placeOf(f, row);
        if (i < 0) continue;
        const value = v[i];
        out[n++] = kinds > 0 ? (value + 0.5) / kinds : value;
        if (motion[row] !== 0) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    };
    fill(this.ballRows, this.balls.array('iValue'));
    this.balls.touch('iValue');
    for (const g of this.groups) { fill(g.rows, g.solids.array('iValue')); g.solids.touch('iValue'); }
    return low <= high ? [low, high] : [0, 0];
  }

  private applyOptions(o: ShowOptions): void {
    const u = this.style.uniforms, glass = o.bodies === 'glass';
    u['uGlass'].value = glass && this.run.dimension === 3 ? 1 : 0;
    u['uAlpha'].value = glass ? (this.run.dimension === 2 ? 0.35 : 0.8) : 1;
    u['uMarks'].value = o.marks && !glass ? 1 : 0;
    for (const l of [this.balls, ...this.groups.map((g) => g.solids)]) {
      l.setTransparent(glass);
      l.mesh.renderOrder = glass ? 3 : 1;
      l.mesh.visible = o.bodies !== 'hidden' && l.count > 0;
    }
    this.balls.show(o.bodies !== 'hidden');
  }

  // ---- contacts ---------------------------------------------------------------------------------

  /** The scale of the force chains is that of the frame that is shown. */
  rescaleForces(o: ShowOptions): void {
    const large = this.frame ? largeForce(pushing(this.run, this.frame)) : 0;
    if (large > 0) this.forceScale = large;
    if (this.frame) this.showChains(this.frame, o);
  }

  private showChains(f: Frame, o: ShowOptions): void {
    const c = f.contacts;
    this.chains.resize(0); this.points.resize(0); this.normals.resize(0);
    if (!c || c.count === 0 || !(o.chains || o.contacts || o.normals)) return;
    const chains = chainsOf(this.run, f), force = new Float32Array(c.count);
    for (let k = 0; k < c.count; k++) force[k] = normalForce(this.run, c, k);
    if (this.forceGrows) this.forceScale = Math.max(this.forceScale, largeForce(pushing(this.run, f)));
    const scale = this.forceScale || 1;
    this.chainUniforms['uRange'].value.set(0, 1);
    const least = Math.max(o.threshold * scale, this.strongest(chains));
    if (this.chainContact.length < c.count) this.chainContact = new Int32Array(c.count);
    let n = 0;
    for (const chain of chains)
      for (let k = chain.first; chain.force > least && k < chain.end; k++) if (force[k] > 0 && !this.isContactHidden(c.body, k)) this.chainContact[n++] = k;
    if (o.chains) this.putChains(f, chains.filter((chain) => chain.force > least && !this.isContactHidden(c.body, chain.first)), force, scale);
    if (o.contacts) this.putPoints(c.point, n, force, scale);
    if (o.normals) this.putNormals(f, n, force, scale);
  }

  /** The smallest force among the strongest chains that can be drawn at once; 0: all can. */
  private strongest(chains: Chain[]): number {
    this.chainsLimited = chains.length > mostChains;
    return this.chainsLimited ? Float32Array.from(chains, (chain) => chain.force).sort()[chains.length - mostChains] : 0;
  }

  /** Contacts of hidden bodies are hidden as well. */
  private isContactHidden(body: Int32Array, k: number): boolean {
    if (this.nothingHidden) return false;
    const off = (row: number): boolean => row >= 0 && this.run.isDynamic(row) && (this.flagsOf(row) & flag.hidden) !== 0;
    return off(body[2 * k]) || off(body[2 * k + 1]);
  }

  // from centre to centre; where a body is no ball, by way of the middle of the forces
  private putChains(f: Frame, list: Chain[], force: Float32Array, scale: number): void {
    const c = f.contacts!, shift = [0, 0, 0], width = Math.min(this.thin, 0.025 * this.diagonal), nodes = nodesOf(this.run, f, list, force);
    this.chains.resize(2 * list.length);
    this.tubeContact = [];
    for (const chain of list) {
      const { first: k, end, strongest, force: total } = chain;
      const share = Math.min(total / scale, 1.4), picked = this.selectedContact >= k && this.selectedContact < end ? flag.selected : 0;
      const put = (from: ArrayLike<number>, to: ArrayLike<number>): void =>
        this.chains.put(this.tubeContact.push(strongest) - 1, from, to, width * (0.03 + 0.3 * share), Math.min(share, 1), picked);
      imageShift(f, k, shift);
      const a = nodes.get(c.body[2 * k]), b = nodes.get(c.body[2 * k + 1])?.map((x, d) => x + shift[d]);
      if (a && b && isRound(this.run, c.body[2 * k]) && isRound(this.run, c.body[2 * k + 1])) { put(a, b); continue; }
      const middle = middleOf(f, chain, force);
      for (const from of [a, b]) if (from) put(from, middle);
    }
    this.chains.resize(this.tubeContact.length);
    this.chains.touch();
  }

  private putPoints(point: Float32Array, n: number, force: Float32Array, scale: number): void {
    const l = this.points;
    l.resize(n);
    for (let i = 0; i < n; i++) {
      const k = this.chainContact[i];
      l.array('iPosition').set(point.subarray(3 * k, 3 * k + 3), 3 * i);
      l.array('iRadius')[i] = 0.16 * this.grain;
      l.array('iValue')[i] = Math.min(force[k] / scale, 1);
      l.array('iFlags')[i] = k === this.selectedContact ? flag.selected : 0;
    }
    l.touch();
  }

  private putNormals(f: Frame, n: number, force: Float32Array, scale: number): void {
    const c = f.contacts!, total = [0, 0, 0];
    this.normals.resize(n);
    for (let i = 0; i < n; i++) {
      const k = this.chainContact[i];
      contactForce(this.run, c, k, total);
      const from = [0, 1, 2].map((d) => c.point[3 * k + d]);
      const to = from.map((p, d) => p + (total[d] / scale) * 2.5 * this.grain);
      this.normals.put(i, from, to, 0.1 * this.grain, Math.min(force[k] / scale, 1));
    }
    this.normals.touch();
  }

  // ---- arrows, joints, trails -------------------------------------------------------------------

  private showArrows(f: Frame, o: ShowOptions): void {
    this.arrows.resize(0);
    if (!o.velocities || !f.v) return;
    let fastest = this.fast;
    for (let i = 0; i < f.count; i++) fastest = Math.max(fastest, Math.hypot(f.v[3 * i], f.v[3 * i + 1], f.v[3 * i + 2]));
    const scale = fastest > 0 ? (4 * this.grain) / fastest : 0;
    this.arrows.resize(f.count);
    for (let i = 0; i < f.count; i++) {
      const from = [f.x[3 * i], f.x[3 * i + 1], f.x[3 * i + 2]];
      const off = this.flagsOf(f.row[i]) & flag.hidden;
      this.arrows.put(i, from, from.map((p, d) => p + scale * f.v![3 * i + d]), 0.16 * this.grain, 0, flag.grey | off);
    }
    this.arrows.touch();
  }

  private showJoints(f: Frame, o: ShowOptions): void {
    const j = f.joints;
    for (const l of [this.joints, this.pins, this.axes]) l.resize(0);
    if (!o.joints || !j || !this.jointBodies) return;
    this.joints.resize(2 * j.count);
    this.pins.resize(j.count);
    const width = Math.max(0.0015 * this.diagonal, Math.min(0.004 * this.diagonal, 0.15 * this.grain));
    for (let i = 0; i < j.count; i++) {
      const point = j.point.subarray(3 * i, 3 * i + 3);
      this.pins.array('iPosition').set(point, 3 * i);
      this.pins.array('iRadius')[i] = j.broken[i] ? 0 : 2 * width;
      this.pins.array('iFlags')[i] = flag.grey;
      for (let s = 0; s < 2; s++) {
        const row = this.jointBodies[2 * j.index[i] + s], place = row >= 0 ? placeOf(f, row) : -1;
        const x = place >= 0 ? f.x.subarray(3 * place, 3 * place + 3) : point;
        this.joints.put(2 * i + s, point, x, j.broken[i] ? 0.25 * width : width, 0, flag.grey);
      }
    }
    this.joints.touch();
    this.pins.touch();
    if (this.jointFrames && this.jointFrames.length > 0) this.showAxes(f, width);
  }

  /** The first axis of a joint's frame is the joint's own. */
  private showAxes(f: Frame, width: number): void {
    const j = f.joints!, along = new THREE.Vector3();
    this.axes.resize(j.count);
    for (let i = 0; i < j.count; i++) {
      const row = this.jointBodies![2 * j.index[i]], place = row >= 0 ? placeOf(f, row) : -1;
      const turn = place >= 0 && f.q ? quaternion(f.q, place) : new THREE.Quaternion();
      along.set(this.run.dimension === 2 ? 0 : 4 * width, 0, 0).applyQuaternion(quaternion(this.jointFrames!, j.index[i])).applyQuaternion(turn);
      const p = new THREE.Vector3().fromArray(j.point, 3 * i);
      this.axes.put(i, p.clone().sub(along).toArray(), p.add(along).toArray(), 1.4 * width, 0, flag.grey);
    }
    this.axes.touch();
  }

  /** Where bodies were in frames before; `list` from old to new. */
  showTrails(list: Frame[], most: number): void {
    const last = list[list.length - 1];
    const position: number[] = [];
    const every = last ? Math.max(1, Math.ceil(last.count / most)) : 1, inverse = last?.cell ? reciprocal(last.cell) : null;
    for (let k = 1; k < list.length; k++)
      for (let i = 0; i < last.count; i += every) {
        const row = this.selected >= 0 ? this.selected : last.row[i];
        if (!this.run.isDynamic(row) || this.flagsOf(row) & flag.hidden) continue;
        const a = placeOf(list[k - 1], row), b = placeOf(list[k], row);
        const jumped = a >= 0 && b >= 0 && inverse && latticePart(last.cell!, inverse, new THREE.Vector3().fromArray(list[k].x, 3 * b).sub(new THREE.Vector3().fromArray(list[k - 1].x, 3 * a))).length() > 0;
        if (a >= 0 && b >= 0 && !jumped) position.push(...list[k - 1].x.subarray(3 * a, 3 * a + 3), ...list[k].x.subarray(3 * b, 3 * b + 3));
        if (this.selected >= 0) break;
      }
    this.trails.geometry.dispose();
    this.trails.geometry = new THREE.BufferGeometry();
    this.trails.geometry.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
    this.trails.visible = position.length > 0;
  }

  // ---- walls ------------------------------------------------------------------------------------

  private showWalls(f: Frame, o: ShowOptions): void {
    for (const m of this.wallMeshes) m.visible = o.walls;
    const where = this.containers.map((row) => {
      const i = placeOf(f, row);
      return i < 0 ? '' : [...f.x.subarray(3 * i, 3 * i + 3), ...(f.q?.subarray(4 * i, 4 * i + 4) ?? f.wallTurns.get(row) ?? [])].join();
    }).join(';') + this.box.min.toArray() + this.box.max.toArray();
    if (where === this.wallKey) return;
    this.wallKey = where;
    for (const m of this.wallMeshes) { this.root.remove(m); (m as THREE.Mesh).geometry.dispose(); }
    this.wallMeshes = this.run.dimension === 2 ? this.lineWalls(f) : this.glassWalls(f);
    for (const m of this.wallMeshes) { m.visible = o.walls; this.root.add(m); }
  }

  private glassWalls(f: Frame): THREE.Object3D[] {
    const box = this.box.clone().expandByScalar(0.02 * this.box.getSize(new THREE.Vector3()).length());
    const up = this.style.uniforms['uUp'].value as THREE.Vector3;
    return wallGeometries(this.run, f, this.containers, box, up).map(({ geometry, kind, floor }) => {
      const layer = new Solids(geometry, this.style.with({
        uGlass: { value: floor || kind === 'half_space' ? 0 : 1 }, uAlpha: { value: floor ? 1 : kind === 'half_space' ? 0.09 : 0.9 },
        uGrey: floor ? this.floor : this.lines, uClipOn: { value: 0 }, uFlatLight: { value: floor ? 1 : 0 },
      }), kind === 'half_space');
      layer.resize(1);
      layer.array('iRotation')[3] = 1;
      layer.array('iScale').fill(1, 0, 3);
      layer.array('iFlags')[0] = flag.grey;
      layer.touch();
      // a floor hides nothing that is seen from below
      layer.setTransparent(!floor);
      if (floor) layer.mesh.material.side = THREE.FrontSide;
      layer.mesh.renderOrder = floor ? 0 : 5;
      return layer.mesh;
    });
  }

  private lineWalls(f: Frame): THREE.Object3D[] {
    const g = new THREE.BufferGeometry();
    g.setAttribute('position', new THREE.Float32BufferAttribute(wallLines(this.run, f, this.containers, this.box), 3));
    const material = new THREE.LineBasicMaterial();
    material.color = this.lines.value;
    return [new THREE.LineSegments(g, material)];
  }

  // ---- picking ----------------------------------------------------------------------------------

  /** The first hit of a ray. */
  pick(ray: THREE.Ray, o: ShowOptions): Picked | null {
    let best: Picked | null = null;
    const offer = (p: Picked | null): void => { if (p && (!best || p.distance < best.distance)) best = p; };
    if (o.chains) offer(this.pickTube(ray));
    if (best && o.bodies !== 'solid') return best; // seen through the bodies
    if (o.bodies !== 'hidden') {
      offer(this.pickBall(ray));
      for (const g of this.groups) offer(this.pickSolid(g, ray));
    }
    return best;
  }

  private cutAway(p: THREE.Vector3): boolean {
    const u = this.style.uniforms, c = u['uClip'].value as THREE.Vector4;
    return u['uClipOn'].value > 0.5 && c.x * p.x + c.y * p.y + c.z * p.z > c.w;
  }

  private pickBall(ray: THREE.Ray): Picked | null {
    const x = this.balls.array('iPosition'), r = this.balls.array('iRadius'), fl = this.balls.array('iFlags');
    const f = this.frame!, { origin: o, direction: d } = ray;
    let best: Picked | null = null, n = 0;
    for (const row of this.ballRows) {
      if (placeOf(f, row) < 0) continue;
      const i = n++;
      if (fl[i] & flag.hidden) continue;
      const cx = x[3 * i] - o.x, cy = x[3 * i + 1] - o.y, cz = x[3 * i + 2] - o.z;
      const b = cx * d.x + cy * d.y + cz * d.z, inside = b * b - (cx * cx + cy * cy + cz * cz) + r[i] * r[i];
      if (inside < 0 || b < 0) continue;
      let t = b - Math.sqrt(inside);
      if (best && t >= best.distance) continue;
      if (this.cutAway(ray.at(t, new THREE.Vector3()))) {
        t = b + Math.sqrt(inside);
        if (this.cutAway(ray.at(t, new THREE.Vector3()))) continue;
      }
      if (!best || t < best.distance) best = { kind: 'body', index: row, distance: t };
    }
    return best;
  }

  private pickSolid(g: Group, ray: THREE.Ray): Picked | null {
    const l = g.solids, x = l.array('iPosition'), q = l.array('iRotation'), s = l.array('iScale'), fl = l.array('iFlags');
    const f = this.frame!, local = new THREE.Ray(), hit = new THREE.Vector3();
    const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
    let best: Picked | null = null, n = 0;
    for (const row of g.rows) {
      if (placeOf(f, row) < 0) continue;
      const i = n++;
      if (fl[i] & flag.hidden) continue;
      const m = new THREE.Matrix4().compose(new THREE.Vector3().fromArray(x, 3 * i), new THREE.Quaternion().fromArray(q, 4 * i), new THREE.Vector3().fromArray(s, 3 * i));
      const reach = l.reach * Math.max(s[3 * i], s[3 * i + 1], s[3 * i + 2]);
      if (ray.distanceSqToPoint(new THREE.Vector3().setFromMatrixPosition(m)) > reach * reach) continue;
      local.copy(ray).applyMatrix4(m.clone().invert());
      for (let v = 0; v < l.corners.length; v += 9) {
        a.fromArray(l.corners, v); b.fromArray(l.corners, v + 3); c.fromArray(l.corners, v + 6);
        if (!local.intersectTriangle(a, b, c, false, hit)) continue;
        const at = hit.applyMatrix4(m), t = at.clone().sub(ray.origin).dot(ray.direction);
        if (!this.cutAway(at) && t > 0 && (!best || t < best.distance)) best = { kind: 'body', index: row, distance: t };
      }
    }
    return best;
  }

  private pickTube(ray: THREE.Ray): Picked | null {
    const from = this.chains.array('iFrom'), to = this.chains.array('iTo'), r = this.chains.array('iRadius');
    const a = new THREE.Vector3(), b = new THREE.Vector3(), on = new THREE.Vector3();
    let best: Picked | null = null;
    for (let i = 0; i < Math.min(this.chains.count, this.tubeContact.length); i++) {
      a.fromArray(from, 3 * i); b.fromArray(to, 3 * i);
      const d2 = ray.distanceSqToSegment(a, b, on);
      const t = on.clone().sub(ray.origin).dot(ray.direction);
      if (d2 < r[i] * r[i] && !this.cutAway(on) && (!best || t < best.distance)) best = { kind: 'contact', index: this.tubeContact[i], distance: t };
    }
    return best;
  }
}
