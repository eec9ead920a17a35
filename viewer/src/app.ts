// app.ts - the state of the page: runs, time, colours, selection. The parts of the page follow it
// through `changed`.
import * as THREE from 'three';
import { readField, type Field } from './cell';
import { kindColours, prepare, quantitiesOf, type Quantity, type Rgb, ramp } from './quantities';
import { placeOf, type Detail, type Frame, type Run } from './run';
import { largeForce, pushing, RunView, type ShowOptions } from './runview';
import { Stage } from './stage';

export type Event = 'frame' | 'colour' | 'options' | 'selection' | 'runs' | 'playing';

const mostArrows = 300; // bodies: arrows of more of them hide what they point at
const largeRun = 50000; // bodies: above this only the needed data are read

/** Numbers of some frames of a run, from its first to its last; the more bodies, the fewer frames: 8 to 41. */
function samples(run: Run): number[] {
  const parts = Math.min(40, run.frames - 1, Math.max(7, Math.floor(20000 / run.bodies.count)));
  return Array.from({ length: parts + 1 }, (_, i) => Math.round((i * (run.frames - 1)) / Math.max(parts, 1)));
}

export class App {
  readonly stage: Stage;
  readonly views: RunView[];
  readonly quantities: Quantity[];
  quantity!: Quantity;
  range: [number, number] = [0, 1];
  fixedRange: [number, number] | null = null;
  private autoRange: [number, number] | null = null;
  time = 0; // s shown
  playing = false;
  speed = 1;
  loop = true;
  smooth = true;
  clip = { on: false, axis: 0, at: 0.5, flip: false };
  options: ShowOptions = {
    bodies: 'solid', chains: false, contacts: false, normals: false, velocities: false, joints: true, walls: true, cell: true,
    trails: false, marks: true, threshold: 0.08,
  };
  busy = false;
  field: Field | null = null;
  fieldRange: [number, number] = [0, 1];
  trailLength = 20;
  followTail = false;
  following = false;
  private wanted: { time: number; detail: Detail } | null = null;
  private pace = 0; // s to show a frame
  private working = false;
  private listeners = new Map<Event, (() => void)[]>();
  private last = 0;

  constructor(host: HTMLElement, readonly runs: Run[]) {
    const run = runs[0], g = run.description.attributes['gravity'] as number[] | undefined;
    const up = new THREE.Vector3(0, 0, run.dimension === 2 ? 0 : 1);
    if (g && Math.hypot(...g) > 0) up.set(-g[0], -g[1], -g[2]).normalize();
    if (run.dimension === 2) up.set(0, 1, 0);
    // gravity along a slope does not look like "down": use the nearest axis
    const a = up.toArray().map(Math.abs), axis = a.indexOf(Math.max(...a));
    const straight = new THREE.Vector3().setComponent(axis, Math.sign(up.getComponent(axis)));
    this.stage = new Stage(host, run.dimension === 2, straight);
    this.views = runs.map((r) => new RunView(r, run.dimension === 3));
    this.quantities = quantitiesOf(run, axis);
    if (runs.length === 2) this.quantities.unshift(this.difference());
  }

  on(event: Event, call: () => void): void { this.listeners.set(event, [...(this.listeners.get(event) ?? []), call]); }
  changed(event: Event): void { for (const c of this.listeners.get(event) ?? []) c(); }

  get run(): Run { return this.runs[0]; }
  get view(): RunView { return this.views[0]; }
  get frame(): Frame | null { return this.view.frame; }
  get start(): number { return this.run.time[0] ?? 0; }
  get end(): number { return Math.max(...this.runs.map((r) => r.time[r.frames - 1] ?? 0)); }
  get large(): boolean { return this.run.bodies.count > largeRun; }

  async open(): Promise<void> {
    for (const v of this.views) await v.open();
    for (const v of this.views) v.fast = 10 * this.slow;
    this.stage.setViews(this.views);
    this.stage.look('home');
    await this.chooseDefaults();
    await this.sampleForces();
    await this.setQuantity(this.quantity);
    this.followTail = this.run.grows;
    await this.seek(this.followTail ? this.end : this.start);
    this.stage.onDraw = () => this.tick();
  }

  // solid bodies with the force chains in them; several materials, or what moves, or sizes give the colour
  private async chooseDefaults(): Promise<void> {
    const touching = (this.run.column('frames/contacts/body')?.rows ?? 0) > 0 || this.run.grows;
    this.options.chains = this.run.hasContacts && touching && !this.large;
    this.options.marks = this.view.bodyCount < 20000;
    this.quantity = this.quantities.find((q) => q.key === 'difference') ?? (await this.usualQuantity());
    this.smooth = !this.large; // otherwise every picture would need two frames
    this.speed = this.usualSpeed();
    this.changed('options');
  }

  private async usualQuantity(): Promise<Quantity> {
    const by = (k: string): Quantity => this.quantities.find((q) => q.key === k)!;
    const { material, radius } = this.run.bodies, moving = [...material.keys()].filter((row) => this.run.isDynamic(row));
    const moves = this.large || this.run.grows || ((await this.sampleRange(by('speed')))?.[1] ?? 0) > this.slow;
    if (new Set(moving.map((row) => material[row])).size > 1) {
      this.options.velocities = moves && moving.length <= mostArrows; // colours do not show what moves
      return by('material');
    }
    if (moves) return by('speed');
    // what turns in its place moves as well
    if (((await this.sampleRange(by('spin')))?.[1] ?? 0) * this.view.typicalRadius > this.slow) return by('spin');
    const sizes = moving.map((row) => radius[row]).filter((r) => r > 0).sort((a, b) => a - b);
    return sizes.length > 1 && sizes[sizes.length - 1] > 1.01 * sizes[0] ? by('size') : by('material');
  }

  /** m/s: what is slower rests. A hundredth of the speed of a fall by a typical radius. */
  private get slow(): number {
    const g = Math.hypot(...((this.run.description.attributes['gravity'] as number[] | undefined) ?? [0]));
    return Math.max(0.01 * Math.sqrt(g * this.view.typicalRadius), 1e-9);
  }

  // in real time, unless that is too short or too long: then in about six seconds
  private usualSpeed(): number {
    const length = this.end - this.start;
    if (!(length > 0) || this.run.grows || (length >= 1.5 && length <= 40)) return 1;
    const wanted = length / 6, power = 10 ** Math.floor(Math.log10(wanted));
    return Number((power * [1, 2, 5].reduce((a, b) => (b * power <= wanted ? b : a), 1)).toPrecision(1));
  }

  // tubes have one scale at all times, the 98th percentile of the forces of the whole run; if there is too much to
  // read, or the run goes on, it grows with what is shown
  private async sampleForces(): Promise<void> {
    if (this.large || this.run.grows || !this.run.hasContacts) return;
    const found: Float32Array[] = [];
    for (const { run } of this.views)
      for (const k of samples(run)) found.push(pushing(run, await run.frame(k, 'all')));
    const all = new Float32Array(found.reduce((n, f) => n + f.length, 0));
    found.reduce((at, f) => { all.set(f, at); return at + f.length; }, 0);
    for (const v of this.views) { v.forceScale = largeForce(all); v.forceGrows = false; }
  }

  /** Distance of the same body in both runs at the same time. */
  private difference(): Quantity {
    return {
      key: 'difference', label: 'Difference of positions', unit: 'm',
      values: (run, f, out) => {
        const other = this.views[run === this.runs[0] ? 1 : 0].frame;
        for (let i = 0; i < f.count; i++) {
          const k = other ? placeOf(other, f.row[i]) : -1;
          out[i] = k < 0 ? 0 : Math.hypot(...[0, 1, 2].map((c) => f.x[3 * i + c] - other!.x[3 * k + c]));
        }
      },
    };
  }

  // ---- time -------------------------------------------------------------------------------------

  private tick(): void {
    const now = performance.now(), passed = Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    if (!this.playing || this.working) return;
    let t = this.time + passed * this.speed;
    if (t > this.end) {
      if (this.run.grows || !this.loop) { t = this.end; if (!this.run.grows) this.play(false); }
      else t = this.start;
    }
    void this.seek(t);
  }

  play(on: boolean): void {
    if (on && !this.playing && this.time >= this.end - 1e-9 && !this.run.grows) this.time = this.start;
    this.playing = on;
    this.last = performance.now();
    this.changed('playing');
    if (!on) void this.seek(this.time);
  }

  /** Show a time; while one is being read, only the latest request counts. */
  async seek(time: number, scrubbing = false): Promise<void> {
    this.time = Math.min(Math.max(time, this.start), this.end);
    const told = !scrubbing && !this.playing && (this.view.selected >= 0 || this.view.selectedPair !== null);
    this.wanted = { time: this.time, detail: this.large && !told ? this.neededDetail() : 'all' };
    if (this.working) return;
    this.working = true;
    try {
      while (this.wanted) {
        const w: { time: number; detail: Detail } = this.wanted, begin = performance.now();
        this.wanted = null;
        await this.showTime(w.time, w.detail);
        this.pace = 0.5 * this.pace + 0.5 * Math.min((performance.now() - begin) / 1000, 0.25);
      }
    } finally { this.working = false; }
  }

  /** The part of a frame that is visible now. */
  private neededDetail(): Detail {
    const q = this.quantity, o = this.options;
    if (q.needsContacts || q.needsAll || o.chains || o.contacts || o.normals || (o.joints && this.run.column('joints/kind')?.rows)) return 'all';
    return q.needsMotion || o.velocities ? 'motion' : 'places';
  }

  /** The state at a time, between two frames where it must be. */
  async seekBetween(time: number): Promise<void> {
    const playing = this.playing;
    this.playing = true;
    this.time = time;
    this.working = true;
    await this.showTime(time, 'all');
    this.working = false;
    this.playing = playing;
  }

  async step(by: number): Promise<void> {
    this.play(false);
    const k = Math.min(Math.max(this.run.frameAt(this.time) + by, 0), this.run.frames - 1);
    await this.seek(this.run.time[k]);
  }

  private async showTime(time: number, detail: Detail): Promise<void> {
    for (const v of this.views) {
      const k = v.run.frameAt(time);
      const frame = await v.run.frame(k, detail);
      let next: Frame | null = null, mix = 0;
      if (this.playing && this.smooth && k + 1 < v.run.frames) {
        next = await v.run.frame(k + 1, detail);
        mix = (time - frame.time) / (next.time - frame.time || 1);
      }
      if (this.playing) for (const ahead of this.expected(v.run, time, k)) void v.run.frame(ahead, detail).catch(() => undefined);
      v.show(frame, next, mix, this.options);
      await this.showTrails(v, k);
      await this.showField(v, frame.time);
    }
    this.recolour();
    this.stage.redraw();
    this.changed('frame');
  }

  // ---- fields -----------------------------------------------------------------------------------

  /** Show a field, in front of bodies of glass; null: none. Its colours mean the same in all frames. */
  async setField(field: Field | null): Promise<void> {
    let low = Infinity, high = -Infinity;
    for (const share of field ? [0.2, 0.4, 0.6, 0.8, 1] : [])
      for (const value of (await readField(this.run, field!, this.run.time[Math.round(share * (this.run.frames - 1))]))?.values ?? []) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    this.fieldRange = low <= high ? [Math.min(low, 0), high > Math.min(low, 0) ? high : Math.min(low, 0) + 1] : [0, 1];
    if (field && !this.field && this.options.bodies === 'solid') this.options.bodies = 'glass';
    this.field = field;
    this.changed('options');
    await this.seek(this.time);
  }

  private async showField(v: RunView, time: number): Promise<void> {
    v.slice.grid = this.field && v.run.column('statistics/fields/time') ? await readField(v.run, this.field, time) : null;
    this.drawField();
  }

  /** Where the cut is, in m; a field is shown there even if nothing is cut away. */
  private get cutAt(): number {
    const box = this.stage.box, axis = ['x', 'y', 'z'][this.clip.axis] as 'x' | 'y' | 'z';
    return box.min[axis] + this.clip.at * (box.max[axis] - box.min[axis]);
  }

  private drawField(): void { for (const v of this.views) v.slice.draw(this.clip.axis, this.cutAt, this.fieldRange); }

  /** Frames to prefetch while playing: the next three, or in a large run the one expected at its pace. */
  private expected(run: Run, time: number, k: number): number[] {
    const list = this.large ? [Math.max(k + 1, run.frameAt(time + this.pace * this.speed))] : [k + 1, k + 2, k + 3];
    return list.filter((ahead) => ahead < run.frames);
  }

  private async showTrails(v: RunView, k: number): Promise<void> {
    if (!this.options.trails) { v.showTrails([], 1); return; }
    const list: Frame[] = [];
    for (let i = Math.max(0, k - this.trailLength); i <= k; i++) list.push(await v.run.frame(i, 'places'));
    v.showTrails(list, 400);
  }

  // ---- colour -----------------------------------------------------------------------------------

  async setQuantity(q: Quantity): Promise<void> {
    await prepare(q);
    this.quantity = q;
    this.fixedRange = null;
    this.autoRange = await this.sampleRange(q);
    this.setMap();
    if (this.frame) await this.seek(this.time);
    this.changed('colour');
  }

  private setMap(): void {
    const kinds = kindColours(this.quantity.kinds ?? []), last = kinds.length - 1;
    const map: (t: number) => Rgb = kinds.length > 0 ? (t) => kinds[Math.min(last, Math.floor(t * kinds.length))] : ramp;
    for (const v of this.views) v.style.setMap(map, kinds.length === 0);
  }

  /** A range for the whole run, from a few of its frames; null: from the next frame that is shown. */
  private async sampleRange(q: Quantity): Promise<[number, number] | null> {
    if (this.large || q.kinds || q.key === 'difference' || this.run.grows) return null;
    let low = Infinity, high = -Infinity;
    for (const run of this.runs)
      for (const k of samples(run)) {
        const f = await run.frame(k, 'all'), values = new Float32Array(f.count);
        q.values(run, f, values);
        const list = values.filter((_, i) => run.isDynamic(f.row[i])).sort();
        if (list.length === 0) continue;
        low = Math.min(low, list[0]);
        // one extreme value does not darken all others
        high = Math.max(high, q.fixed || list.length < 200 ? list[list.length - 1] : list[Math.floor(0.995 * (list.length - 1))]);
      }
    return low <= high ? this.fromZero(q, [low, high]) : null;
  }

  private fromZero(q: Quantity, r: [number, number]): [number, number] {
    const low = !q.fixed && r[0] > 0 && q.key !== 'height' ? 0 : r[0];
    if (q.key === 'speed' && r[1] < this.slow) return [low, this.slow]; // what rests has one colour, not that of its rounding errors
    return [low, r[1] > low ? r[1] : low + Math.max(1e-12, 1e-3 * Math.abs(low))];
  }

  /** Fit the ranges of colours and of force chains to what is visible now. */
  rescale(): void {
    for (const v of this.views) v.rescaleForces(this.options);
    this.autoRange = this.fixedRange = null;
    this.recolour();
    this.stage.redraw();
  }

  recolour(): void {
    if (!this.frame) return;
    const ranges = this.views.map((v) => v.colour(this.quantity));
    const seen: [number, number] = [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];
    this.autoRange ??= this.fromZero(this.quantity, seen);
    // where only part of the run was sampled, the range grows with what is shown
    if (this.large || this.run.grows || this.quantity.key === 'difference') this.autoRange = this.fromZero(this.quantity, [Math.min(this.autoRange[0], seen[0]), Math.max(this.autoRange[1], seen[1])]);
    this.range = this.quantity.kinds ? [0, 1] : (this.fixedRange ?? this.autoRange);
    for (const v of this.views) v.style.uniforms['uRange'].value.set(...this.range);
    this.changed('colour');
  }

  // ---- what is shown ----------------------------------------------------------------------------

  async set(options: Partial<ShowOptions>): Promise<void> {
    Object.assign(this.options, options);
    this.changed('options');
    await this.seek(this.time);
  }

  setClip(c: Partial<App['clip']>): void {
    Object.assign(this.clip, c);
    const at = this.cutAt, sign = this.clip.flip ? -1 : 1;
    this.drawField();
    for (const v of this.views) {
      const n = new THREE.Vector3().setComponent(this.clip.axis, sign);
      v.style.uniforms['uClip'].value.set(n.x, n.y, n.z, sign * at);
      v.style.uniforms['uClipOn'].value = this.clip.on ? 1 : 0;
    }
    this.stage.redraw();
    this.changed('options');
  }

  toggleMaterial(m: number): void {
    for (const v of this.views) if (!v.hiddenMaterials.delete(m)) v.hiddenMaterials.add(m);
    this.changed('colour');
    void this.seek(this.time);
  }

  /** Show the bodies of one material alone; a second time: all. */
  isolateMaterial(m: number): void {
    const others = this.materials().filter((k) => k !== m);
    for (const v of this.views) {
      const alone = others.every((k) => v.hiddenMaterials.has(k)) && !v.hiddenMaterials.has(m);
      v.hiddenMaterials.clear();
      if (!alone) for (const k of others) v.hiddenMaterials.add(k);
    }
    this.changed('colour');
    void this.seek(this.time);
  }

  /** The materials of the bodies, by number. */
  materials(): number[] { return [...new Set(this.runs.flatMap((r) => [...r.bodies.material]))].sort((a, b) => a - b); }

  hide(row: number): void { for (const v of this.views) v.hidden.add(row); this.select(-1); }

  isolate(rows: number[] | null): void {
    for (const v of this.views) v.isolated = rows && new Set(rows);
    void this.seek(this.time);
  }

  showAll(): void {
    for (const v of this.views) { v.hidden.clear(); v.hiddenMaterials.clear(); v.isolated = null; }
    this.changed('colour');
    void this.seek(this.time);
  }

  // ---- selection --------------------------------------------------------------------------------

  select(row: number, contact = -1): void {
    for (const v of this.views) { v.selected = row; v.selectContact(v === this.view ? contact : -1); }
    if (row < 0) this.setFollowing(false);
    this.changed('selection');
    void this.seek(this.time);
  }

  setFollowing(on: boolean): void {
    this.following = on;
    this.stage.follow = on ? () => {
      const v = this.view, i = v.frame ? placeOf(v.frame, v.selected) : -1;
      return i < 0 ? null : new THREE.Vector3().fromArray(v.frame!.x, 3 * i);
    } : null;
    this.changed('options');
  }

  /** What is under a point of the canvas. */
  pick(x: number, y: number): void {
    const { ray, view } = this.stage.ray(x, y), found = this.views[view].pick(ray, this.options);
    if (!found) this.select(-1);
    else if (found.kind === 'body') this.select(found.index);
    else this.select(-1, found.index);
  }

  // ---- a run in progress ------------------------------------------------------------------------

  /** One that was killed is polled now and then: it may be resumed. */
  async follow(): Promise<void> {
    while (this.runs.some((r) => r.grows || (r.interrupted && r.source.served))) {
      await new Promise((done) => setTimeout(done, this.runs.some((r) => r.grows) ? 400 : 1500));
      for (const v of this.views) {
        if (!v.run.grows && !v.run.interrupted) continue;
        try { if (await v.run.refresh()) await v.grow(); } catch { continue; } // busy: the next time
        this.changed('runs');
      }
      if (this.followTail && !this.playing) await this.seek(this.end);
    }
    this.changed('runs');
  }
}
