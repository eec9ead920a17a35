// layers.ts - things that are drawn many times at once: balls, solids of one shape, tubes.
import * as THREE from 'three';
import { mapBytes, viridis, type Rgb } from './colormap';
import { ballFragment, ballVertex, dotFragment, dotVertex, flag, solidFragment, solidVertex, tubeVertex } from './shaders';
import { nearEye, nearestFirst, sameEye, Sight, type Eye, type ManyBalls } from './sight';

/** What all materials share; changing a value changes all. */
export class Style {
  readonly uniforms: Record<string, THREE.IUniform>;
  private map: THREE.DataTexture;

  constructor() {
    this.map = texture(viridis);
    this.uniforms = {
      uMap: { value: this.map }, uRange: { value: new THREE.Vector2(0, 1) },
      uClip: { value: new THREE.Vector4(1, 0, 0, 0) }, uClipOn: { value: 0 },
      uUp: { value: new THREE.Vector3(0, 0, 1) }, uGrey: { value: new THREE.Color(0.55, 0.57, 0.6) },
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

  /** Glass lets all behind it be seen. */
  setTransparent(on: boolean): void {
    const m = this.mesh.material;
    if (m.transparent === on && m.depthWrite === !on) return; // to set it anew costs time
    m.transparent = on;
    m.depthWrite = !on;
    m.needsUpdate = true;
  }

  dispose(): void { this.mesh.geometry.dispose(); this.mesh.material.dispose(); }
}

// an octagon about the circle of radius 1: less to throw away than a square has
const octagon = (): THREE.BufferGeometry => new THREE.CircleGeometry(1 / Math.cos(Math.PI / 8), 8, Math.PI / 8);

const ballWidths: Record<string, number> = { iPosition: 3, iRadius: 1, iRotation: 4, iValue: 1, iFlags: 1 };

/** Balls: exact ones as instances; where they have a few pixels each, the same numbers as points. Of many, those
 *  that can be seen are handed over: `array` and `touch` are about all of them, the geometry has what is drawn. */
export class Balls extends Layer {
  readonly points: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private asPoints = false;
  private shown = true;
  private focal: THREE.IUniform = { value: 1 };
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
      new THREE.ShaderMaterial({ uniforms: { ...uniforms, uFocal: this.focal }, vertexShader: dotVertex, fragmentShader: dotFragment }));
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

  // what is stale goes to the GPU
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

  /** By the pixels that a typical radius has, and the pixels of a metre at distance 1. */
  setDetail(pixels: number, focal: number): void {
    this.focal.value = focal;
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

  /** `even`: what is flat is lit at its corners. */
  constructor(geometry: THREE.BufferGeometry, uniforms: Record<string, THREE.IUniform>, even = false) {
    super(geometry, new THREE.ShaderMaterial({
      uniforms, vertexShader: solidVertex, fragmentShader: solidFragment, side: THREE.DoubleSide, defines: even ? { EVEN: '' } : {},
    }), { iPosition: 3, iRotation: 4, iScale: 3, iValue: 1, iFlags: 1 });
    this.corners = geometry.getAttribute('position').array as Float32Array;
    geometry.computeBoundingSphere();
    this.reach = geometry.boundingSphere!.center.length() + geometry.boundingSphere!.radius;
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
