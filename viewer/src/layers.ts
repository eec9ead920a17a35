// layers.ts - things that are drawn many times at once (balls, solids of one shape, tubes), and which of
// many balls can be seen.
import * as THREE from 'three';
import { mapBytes, ramp, type Rgb } from './quantities';
import { ballFragment, ballVertex, dotFragment, dotVertex, edgeFragment, edgeVertex, flag, solidFragment, solidVertex, tubeVertex } from './shaders';

// ---- which of many balls can be seen ------------------------------------------------------------
// In a bed of grains most balls are hidden by others and need not be drawn. Balls are taken from near
// to far and drawn as disks into a coarse depth buffer; one whose disk lies behind others everywhere is
// left out.

/** The camera, as far as a depth buffer needs it. */
export interface Eye {
  view: ArrayLike<number>; // world to camera, columns first, as of a THREE.Matrix4
  projection: ArrayLike<number>;
  width: number; // of the picture, in pixels
  height: number;
  spacing: number; // pixels between two samples of the depth buffer
  near: number; // m
  clip: ArrayLike<number> | null; // xyz . p > w is cut away
}

export interface ManyBalls {
  count: number;
  position: Float32Array;
  radius: Float32Array;
  flags: Float32Array; // those with the bit `hidden` are ignored
  hidden: number;
}

/** Whether two cameras are the same. */
export function sameEye(a: Eye | null, b: Eye): boolean {
  const same = (p: ArrayLike<number> | null, q: ArrayLike<number> | null): boolean =>
    p === q || (p !== null && q !== null && Array.prototype.every.call(p, (v: number, i: number) => v === q[i]));
  return a !== null && a.width === b.width && a.height === b.height && a.spacing === b.spacing && same(a.view, b.view) && same(a.projection, b.projection) && same(a.clip, b.clip);
}

/** Whether two cameras are nearly the same: rotated by less than 2 degrees, moved by less than 2 % of the distance to the target. */
export function nearEye(a: Eye | null, b: Eye, distance: number): boolean {
  if (a === null || a.width !== b.width || a.height !== b.height || (a.clip === null) !== (b.clip === null)) return false;
  for (let k = 0; k < 16; k++) if (Math.abs(a.view[k] - b.view[k]) > (k < 12 ? 0.035 : 0.02 * distance)) return false;
  return Math.abs(a.projection[5] - b.projection[5]) < 0.02 * b.projection[5] && (a.clip === null || Math.abs(a.clip[3] - b.clip![3]) < 0.02 * distance);
}

/** Numbers of balls from near to far along a direction, in 512 steps. */
export function nearestFirst(balls: ManyBalls, toward: { x: number; y: number; z: number }): Uint32Array {
  const bins = 512, n = balls.count, p = balls.position, depth = new Float32Array(n), first = new Uint32Array(bins + 1);
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < n; i++) {
    const d = -(p[3 * i] * toward.x + p[3 * i + 1] * toward.y + p[3 * i + 2] * toward.z);
    depth[i] = d;
    if (d < low) low = d;
    if (d > high) high = d;
  }
  const scale = high > low ? (bins - 1) / (high - low) : 0;
  for (let i = 0; i < n; i++) first[((depth[i] - low) * scale | 0) + 1]++;
  for (let b = 0; b < bins; b++) first[b + 1] += first[b];
  const out = new Uint32Array(n);
  for (let i = 0; i < n; i++) out[first[(depth[i] - low) * scale | 0]++] = i;
  return out;
}

export class Sight {
  private depth = new Float32Array(0); // of the nearest ball at each sample, to its middle
  private wide = 0;
  private high = 0;

  /** Numbers of those that can be seen go to `out`; returns how many. `order`: from near to far, roughly. */
  find(balls: ManyBalls, order: Uint32Array, eye: Eye, out: Uint32Array): number {
    this.wide = Math.ceil(eye.width / eye.spacing);
    this.high = Math.ceil(eye.height / eye.spacing);
    if (this.depth.length < this.wide * this.high) this.depth = new Float32Array(this.wide * this.high);
    this.depth.fill(Infinity);
    const v = eye.view, p = eye.projection, x = balls.position, radius = balls.radius, { flags, hidden } = balls, c = eye.clip;
    const halfWide = eye.width / eye.spacing / 2, halfHigh = eye.height / eye.spacing / 2;
    let n = 0;
    for (let j = 0; j < order.length; j++) {
      const i = order[j], r = radius[i], px = x[3 * i], py = x[3 * i + 1], pz = x[3 * i + 2];
      const z = -(v[2] * px + v[6] * py + v[10] * pz + v[14]); // in front of the camera
      if (z + r < eye.near || (flags[i] & hidden) !== 0) continue;
      const cut = c === null ? -Infinity : c[0] * px + c[1] * py + c[2] * pz - c[3];
      if (cut > r) continue;
      if (z < 2 * r) { out[n++] = i; continue; } // the camera is in it, or almost
      const cx = halfWide * (1 + (p[0] * (v[0] * px + v[4] * py + v[8] * pz + v[12]) - p[8] * z) / z);
      const cy = halfHigh * (1 - (p[5] * (v[1] * px + v[5] * py + v[9] * pz + v[13]) - p[9] * z) / z);
      const size = (halfHigh * p[5] * r) / z;
      if (cx + size < 0 || cx - size > 2 * halfWide || cy + size < 0 || cy - size > 2 * halfHigh) continue;
      // a disk a little larger than the ball must be hidden, one a little smaller hides
      if (!this.isSeen(cx, cy, 1.03 * size + 0.5, z - r)) continue;
      out[n++] = i;
      if (cut < -r || c === null) this.cover(cx, cy, 0.97 * size, z);
    }
    return n;
  }

  /** Whether a disk at a depth is before all others at one sample at least. */
  private isSeen(cx: number, cy: number, size: number, depth: number): boolean { return this.overDisk(cx, cy, size, depth, false); }

  private cover(cx: number, cy: number, size: number, depth: number): void { this.overDisk(cx, cy, size, depth, true); }

  // looks at the samples of a disk up to the first that it is before, or puts it into all of them
  private overDisk(cx: number, cy: number, size: number, depth: number, put: boolean): boolean {
    const top = Math.max(0, Math.ceil(cy - size - 0.5)), bottom = Math.min(this.high - 1, Math.floor(cy + size - 0.5));
    for (let row = top; row <= bottom; row++) {
      const dy = row + 0.5 - cy, half = Math.sqrt(Math.max(0, size * size - dy * dy));
      const to = row * this.wide + Math.min(this.wide - 1, Math.floor(cx + half - 0.5));
      for (let k = row * this.wide + Math.max(0, Math.ceil(cx - half - 0.5)); k <= to; k++) {
        if (this.depth[k] <= depth) continue;
        if (!put) return true;
        this.depth[k] = depth;
      }
    }
    return false;
  }
}

// ---- layers -------------------------------------------------------------------------------------

/** Uniforms shared by all materials. */
export class Style {
  readonly uniforms: Record<string, THREE.IUniform>;
  private map: THREE.DataTexture;

  constructor() {
    this.map = texture(ramp);
    this.uniforms = {
      uMap: { value: this.map }, uRange: { value: new THREE.Vector2(0, 1) },
      uClip: { value: new THREE.Vector4(1, 0, 0, 0) }, uClipOn: { value: 0 },
      uUp: { value: new THREE.Vector3(0, 0, 1) }, uFocal: { value: 1 }, uGrey: { value: new THREE.Color(0.55, 0.57, 0.6) },
      uGlass: { value: 0 }, uAlpha: { value: 1 }, uFlatLight: { value: 0 }, uPerspective: { value: 1 },
      uPick: { value: new THREE.Color(1, 0.55, 0.2) },
      uViewInverse: { value: new THREE.Matrix4() }, uProjection: { value: new THREE.Matrix4() }, uMarks: { value: 0 },
    };
  }

  setMap(map: (t: number) => Rgb, smooth: boolean): void {
    (this.map.image.data as Uint8Array).set(mapBytes(map));
    this.map.minFilter = this.map.magFilter = smooth ? THREE.LinearFilter : THREE.NearestFilter;
    this.map.needsUpdate = true;
  }

  /** The same with some values of its own. */
  with(own: Record<string, THREE.IUniform>): Record<string, THREE.IUniform> { return { ...this.uniforms, ...own }; }
}

export function texture(map: (t: number) => Rgb): THREE.DataTexture {
  const t = new THREE.DataTexture(mapBytes(map), 256, 1, THREE.RGBAFormat);
  t.minFilter = t.magFilter = THREE.LinearFilter;
  t.needsUpdate = true;
  return t;
}

/** Instances of one geometry, with room that grows. */
abstract class Layer {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  protected room = 0;
  count = 0;

  protected constructor(base: THREE.BufferGeometry, material: THREE.ShaderMaterial, private widths: Record<string, number>) {
    const g = new THREE.InstancedBufferGeometry();
    g.setIndex(base.index);
    for (const name of Object.keys(base.attributes)) g.setAttribute(name, base.getAttribute(name));
    this.mesh = new THREE.Mesh(g, material);
    this.mesh.frustumCulled = false;
    this.resize(0);
  }

  resize(count: number): void {
    this.count = count;
    this.mesh.geometry.instanceCount = count;
    this.mesh.visible = count > 0;
    if (count <= this.room && this.room > 0) return;
    this.room = Math.max(16, Math.ceil(count * 1.25));
    for (const [name, width] of Object.entries(this.widths)) {
      const a = new THREE.InstancedBufferAttribute(new Float32Array(this.room * width), width);
      a.setUsage(THREE.DynamicDrawUsage);
      this.mesh.geometry.setAttribute(name, a);
    }
    // a new set of attributes: three.js must bind it anew
    this.mesh.geometry.dispose();
    this.mesh.geometry.instanceCount = count;
  }

  array(name: string): Float32Array { return this.mesh.geometry.getAttribute(name).array as Float32Array; }

  touch(...names: string[]): void {
    for (const name of names.length > 0 ? names : Object.keys(this.widths)) {
      const a = this.mesh.geometry.getAttribute(name) as THREE.InstancedBufferAttribute;
      a.clearUpdateRanges();
      a.addUpdateRange(0, this.count * this.widths[name]);
      a.needsUpdate = true;
    }
  }

  /** Glass is transparent. */
  setTransparent(on: boolean): void {
    const m = this.mesh.material;
    if (m.transparent === on && m.depthWrite === !on) return; // setting it again costs time
    m.transparent = on;
    m.depthWrite = !on;
    m.needsUpdate = true;
  }

  /** Show it through what hides it as well, with an opacity. */
  showThrough(opacity: number): this {
    const { uniforms, vertexShader, fragmentShader } = this.mesh.material;
    const ghost = new THREE.Mesh(this.mesh.geometry, new THREE.ShaderMaterial({
      uniforms: { ...uniforms, uAlpha: { value: opacity } }, vertexShader, fragmentShader, transparent: true, depthFunc: THREE.GreaterDepth, depthWrite: false,
    }));
    ghost.frustumCulled = false;
    ghost.renderOrder = 4;
    this.mesh.add(ghost);
    return this;
  }
}

// an octagon around the unit circle: fewer discarded fragments than a square
const octagon = (): THREE.BufferGeometry => new THREE.CircleGeometry(1 / Math.cos(Math.PI / 8), 8, Math.PI / 8);

const ballWidths: Record<string, number> = { iPosition: 3, iRadius: 1, iRotation: 4, iValue: 1, iFlags: 1 };

/** Balls: exact ones as instances; where they have a few pixels each, the same numbers as points. Of many, those
 *  that can be seen are handed over: `array` and `touch` are about all of them, the geometry has what is drawn. */
export class Balls extends Layer {
  readonly points: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private asPoints = false;
  private shown = true;
  private all: Record<string, Float32Array> | null = null; // of many
  private total = 0;
  private order: Uint32Array = new Uint32Array(0); // of many, from near to far
  private sortedFor: THREE.Vector3 | null = null;
  private seen: Uint32Array = new Uint32Array(0);
  private sight = new Sight();
  private lastEye: Eye | null = null;
  private stale = new Set<string>();
  private took = 0; // ms

  constructor(uniforms: Record<string, THREE.IUniform>, private manyFrom = Infinity) {
    super(octagon(), new THREE.ShaderMaterial({ uniforms, vertexShader: ballVertex, fragmentShader: ballFragment }), ballWidths);
    this.points = new THREE.Points(new THREE.BufferGeometry(),
      new THREE.ShaderMaterial({ uniforms, vertexShader: dotVertex, fragmentShader: dotFragment }));
    this.points.frustumCulled = false;
    this.points.visible = false;
  }

  get many(): boolean { return this.all !== null; }
  /** How many are drawn. */
  get drawn(): number { return this.count; }

  override resize(count: number): void {
    this.total = count;
    if (count >= this.manyFrom) this.makeRoom(count);
    else { this.all = null; super.resize(count); }
    if (this.points) this.apply();
  }

  private makeRoom(count: number): void {
    if (this.all && this.all['iRadius'].length >= count) return;
    const old = this.all;
    this.all = {};
    for (const [name, width] of Object.entries(ballWidths)) {
      this.all[name] = new Float32Array(Math.ceil(1.1 * count) * width);
      if (old) this.all[name].set(old[name]);
    }
    this.sortedFor = null;
  }

  override array(name: string): Float32Array { return this.all?.[name] ?? super.array(name); }

  override touch(...names: string[]): void {
    for (const name of names.length > 0 ? names : Object.keys(ballWidths)) this.stale.add(name);
    if (!this.all) this.handOver();
  }

  // upload stale attributes to the GPU
  private handOver(): void {
    super.touch(...this.stale);
    const g = this.points.geometry;
    for (const [own, name] of [['position', 'iPosition'], ['iRadius', 'iRadius'], ['iValue', 'iValue'], ['iFlags', 'iFlags']]) {
      const array = super.array(name), old = g.getAttribute(own) as THREE.BufferAttribute | undefined;
      if (old?.array !== array) g.setAttribute(own, new THREE.BufferAttribute(array, ballWidths[name]).setUsage(THREE.DynamicDrawUsage));
      else if (this.stale.has(name)) {
        old.clearUpdateRanges();
        old.addUpdateRange(0, this.count * ballWidths[name]);
        old.needsUpdate = true;
      }
    }
    g.setDrawRange(0, this.count);
    this.stale.clear();
  }

  /** Of many: choose those that the eye can see. `toward` points from the scene to the eye, which is `distance` away;
   *  while things move, a choice that takes long is kept until the eye has moved a little. */
  choose(eye: Eye, toward: THREE.Vector3, distance: number, moving: boolean): void {
    if (!this.all) return;
    if (this.stale.size === 0 && (sameEye(this.lastEye, eye) || (moving && this.took > 30 && nearEye(this.lastEye, eye, distance)))) return;
    const begin = performance.now(), glass = this.mesh.material.transparent; // glass hides nothing
    if (glass && this.stale.size === 0 && this.count === this.total) return;
    const balls: ManyBalls = { count: this.total, position: this.all['iPosition'], radius: this.all['iRadius'], flags: this.all['iFlags'], hidden: flag.hidden };
    if (!this.sortedFor || this.order.length !== this.total || this.sortedFor.dot(toward) < 0.97) {
      this.order = nearestFirst(balls, toward);
      this.sortedFor = toward.clone();
    }
    if (this.seen.length < this.total) this.seen = new Uint32Array(this.total);
    const n = glass ? this.total : this.sight.find(balls, this.order, eye, this.seen);
    this.gather(glass ? this.order : this.seen, n);
    this.lastEye = { ...eye, view: Array.from(eye.view), projection: Array.from(eye.projection), clip: eye.clip && Array.from(eye.clip) };
    this.took = performance.now() - begin;
  }

  private gather(list: Uint32Array, n: number): void {
    super.resize(n);
    for (const [name, width] of Object.entries(ballWidths)) {
      const from = this.all![name], to = super.array(name);
      if (width === 1) for (let k = 0; k < n; k++) to[k] = from[list[k]];
      else if (width === 3) for (let k = 0; k < n; k++) { const i = 3 * list[k], o = 3 * k; to[o] = from[i]; to[o + 1] = from[i + 1]; to[o + 2] = from[i + 2]; }
      else for (let k = 0; k < n; k++) { const i = 4 * list[k], o = 4 * k; to[o] = from[i]; to[o + 1] = from[i + 1]; to[o + 2] = from[i + 2]; to[o + 3] = from[i + 3]; }
      this.stale.add(name);
    }
    this.handOver();
    this.apply();
  }

  /** By the pixels that a typical radius has. */
  setDetail(pixels: number): void {
    this.asPoints = pixels < 7;
    this.apply();
  }

  show(on: boolean): void { this.shown = on; this.apply(); }

  private apply(): void {
    this.mesh.visible = this.shown && this.count > 0 && !this.asPoints;
    this.points.visible = this.shown && this.count > 0 && this.asPoints;
    Object.assign(this.points.material, { transparent: this.mesh.material.transparent, depthWrite: this.mesh.material.depthWrite });
    this.points.renderOrder = this.mesh.renderOrder;
  }
}

export class Solids extends Layer {
  /** Triangles in the frame of the shape, for picking. */
  readonly corners: Float32Array;
  readonly reach: number;
  readonly thin: number; // m: its smallest side
  private edges: THREE.LineSegments<THREE.InstancedBufferGeometry> | null = null;

  /** `even`: what is flat is lit at its corners. */
  constructor(geometry: THREE.BufferGeometry, uniforms: Record<string, THREE.IUniform>, even = false) {
    super(geometry, new THREE.ShaderMaterial({
      uniforms, vertexShader: solidVertex, fragmentShader: solidFragment, side: THREE.DoubleSide, defines: even ? { EVEN: '' } : {},
    }), { iPosition: 3, iRotation: 4, iScale: 3, iValue: 1, iFlags: 1 });
    this.corners = geometry.getAttribute('position').array as Float32Array;
    geometry.computeBoundingSphere();
    geometry.computeBoundingBox();
    this.thin = Math.min(...geometry.boundingBox!.getSize(new THREE.Vector3()).toArray().filter((side) => side > 0));
    this.reach = geometry.boundingSphere!.center.length() + geometry.boundingSphere!.radius;
  }

  /** Draw its sharp edges as well, a little in front of its faces. */
  withEdges(): this {
    const lines = new THREE.EdgesGeometry(this.mesh.geometry, 30).getAttribute('position');
    if (lines.count === 0) return this;
    const g = new THREE.InstancedBufferGeometry().setAttribute('position', lines) as THREE.InstancedBufferGeometry, { uniforms } = this.mesh.material;
    this.edges = new THREE.LineSegments(g, new THREE.ShaderMaterial({
      uniforms: { ...uniforms, uThin: { value: this.thin } }, vertexShader: edgeVertex, fragmentShader: edgeFragment, transparent: true, depthWrite: false,
    }));
    this.edges.frustumCulled = false;
    this.edges.renderOrder = 2;
    Object.assign(this.mesh.material, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.mesh.add(this.edges);
    this.resize(this.count);
    return this;
  }

  override resize(count: number): void {
    super.resize(count);
    const from = this.mesh.geometry, to = this.edges?.geometry;
    if (!to) return;
    if (to.getAttribute('iPosition') !== from.getAttribute('iPosition')) to.dispose();
    for (const name of ['iPosition', 'iRotation', 'iScale', 'iValue', 'iFlags']) to.setAttribute(name, from.getAttribute(name));
    to.instanceCount = count;
  }
}

export class Tubes extends Layer {
  constructor(uniforms: Record<string, THREE.IUniform>, head = false) {
    super(head ? arrow() : tube(), new THREE.ShaderMaterial({ uniforms, vertexShader: tubeVertex, fragmentShader: solidFragment, side: THREE.DoubleSide }),
      { iFrom: 3, iTo: 3, iRadius: 1, iValue: 1, iFlags: 1 });
  }

  put(i: number, from: ArrayLike<number>, to: ArrayLike<number>, radius: number, value: number, flags = 0): void {
    this.array('iFrom').set([from[0], from[1], from[2]], 3 * i);
    this.array('iTo').set([to[0], to[1], to[2]], 3 * i);
    this.array('iRadius')[i] = radius;
    this.array('iValue')[i] = value;
    this.array('iFlags')[i] = flags;
  }
}

// around z, from 0 to 1, with round ends that a neighbour hides
function tube(): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(1, 1, 1, 10, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

function arrow(): THREE.BufferGeometry {
  const points = [[0, 0], [0.45, 0], [0.45, 0.72], [1.3, 0.72], [0, 1]].map(([r, z]) => new THREE.Vector2(r, z));
  return new THREE.LatheGeometry(points, 8).rotateX(Math.PI / 2);
}
