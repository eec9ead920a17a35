// run.ts - a run: its bodies once, its frames one by one, in the format of docs/run-format.md.
import type { Edges } from './cell';
import type { Column, Description, Numbers, Source, Wish } from './source';

/** Shapes that are seen from inside. */
export const containerKinds = new Set(['half_space', 'inside_cylinder', 'inside_cone', 'funnel', 'inside_box']);

/** All rows of /bodies, what the viewer needs of them. */
export interface Bodies {
  count: number;
  shape: Int32Array;
  motion: Int32Array;
  material: Int32Array;
  geometry: Int32Array;
  radius: Float32Array;
  mass: Float32Array;
  volume: Float32Array;
  shapeX: Float32Array;
  shapeQ: Float32Array;
  lengths: Record<string, Float32Array>;
  names: Map<number, string>;
}

export interface Contacts {
  count: number;
  body: Int32Array; // two each: rows of /bodies, -1: gone
  point: Float32Array;
  normal: Float32Array;
  tangent: Float32Array;
  impulse: Float32Array; // `dimension` each
  velocity: Float32Array;
  mu: Float32Array;
  gap: Float32Array;
  timeStep: number; // s: of the step, or substep, whose impulses they are
  image: Int32Array | null; // periodic runs: of b, three each, in edges of the cell
}

export interface JointStates {
  count: number;
  index: Int32Array;
  broken: Int32Array;
  point: Float32Array;
  force: Float32Array;
}

export interface Frame {
  index: number;
  time: number;
  step: number;
  count: number;
  row: Int32Array; // row of /bodies
  place: Map<number, number> | null; // of a row; null: row i is at i
  x: Float32Array;
  q: Float32Array | null;
  wallTurns: Map<number, Float32Array>; // q of containers by row, where q was not read
  v: Float32Array | null;
  omega: Float32Array | null;
  more: Record<string, Float32Array>; // all other columns of bodies, by name
  contacts: Contacts | null;
  joints: JointStates | null;
  cell: Edges | null; // periodic runs
  bytes: number;
}

/** How much of a frame is needed: positions, also velocities, or everything. */
export type Detail = 'places' | 'motion' | 'all';

const details: Detail[] = ['places', 'motion', 'all'];
const cacheBytes = 256 << 20;

export class Run {
  description!: Description;
  bodies!: Bodies;
  dimension = 3;
  timeStep = 1;
  platens = new Set<number>(); // rows of walls that a servo moves
  time: Float64Array = new Float64Array(0);
  step: Float64Array = new Float64Array(0);
  private bodyOffset: Float64Array = new Float64Array(0);
  private contactOffset: Float64Array | null = null;
  private jointOffset: Float64Array | null = null;
  private shapes = new Set<number>(); // that bodies have
  private walls: number[] | null = null; // rows of containers
  private cache = new Map<string, Promise<Frame>>();
  private sizes = new Map<string, number>();

  constructor(readonly source: Source) {}

  get name(): string { return this.source.name; }
  get frames(): number { return this.time.length; }
  get grows(): boolean { return this.description.grows; }
  get interrupted(): boolean { return this.description.interrupted; }
  get title(): string { return String(this.description.attributes['title'] || this.name); }
  get hasContacts(): boolean { return this.contactOffset !== null; }

  column(path: string): Column | undefined { return this.description.columns[path]; }
  private width = (path: string): number => this.column(path)?.width ?? 1;

  /** Numbers of columns, all rows unless told otherwise. */
  read(wishes: Wish[]): Promise<Numbers[]> { return this.source.rows(wishes, this.width); }

  async readAll(path: string, type: Wish['type'] = 'f8'): Promise<Numbers> {
    return (await this.read([{ column: path, type, first: 0, count: this.column(path)?.rows ?? 0 }]))[0];
  }

  async open(): Promise<void> {
    this.description = await this.source.describe();
    const a = this.description.attributes;
    this.dimension = Number(a['dimension'] ?? 3);
    this.timeStep = Number(a['time_step'] ?? 1);
    await this.readIndex();
    await this.readBodies();
  }

  /** A run that grows: look again. True: there are new frames, or it has ended. */
  async refresh(): Promise<boolean> {
    const before = this.frames, bodies = this.bodies.count;
    this.description = await this.source.describe();
    if (this.column('frames/time')!.rows === before && (this.grows || this.interrupted)) return false;
    await this.readIndex();
    if (this.column('bodies/shape')!.rows !== bodies) await this.readBodies();
    return true;
  }

  private async readIndex(): Promise<void> {
    const n = this.column('frames/time')!.rows;
    const wishes: Wish[] = [
      { column: 'frames/time', type: 'f8', first: 0, count: n },
      { column: 'frames/step', type: 'f8', first: 0, count: n },
      { column: 'frames/body_offset', type: 'f8', first: 0, count: n + 1 },
    ];
    for (const c of ['frames/contact_offset', 'frames/joint_offset'])
      if (this.column(c)) wishes.push({ column: c, type: 'f8', first: 0, count: n + 1 });
    const found = (await this.read(wishes)) as Float64Array[];
    [this.time, this.step, this.bodyOffset] = found;
    const of = (c: string): Float64Array | null => {
      const i = wishes.findIndex((w) => w.column === c);
      return i < 0 ? null : found[i];
    };
    this.contactOffset = of('frames/contact_offset');
    this.jointOffset = of('frames/joint_offset');
  }

  private async readBodies(): Promise<void> {
    const n = this.column('bodies/shape')!.rows;
    const whole = ['shape', 'motion', 'material', 'geometry'];
    const real = ['radius', 'mass', 'volume', 'inertia', 'shape_x', 'shape_q', 'half_angle', 'bottom_radius', 'top_radius',
      'height', 'length', 'rounding', 'axis', 'exponents', 'size', 'semi_axes'];
    const wishes: Wish[] = [
      ...whole.map((c) => ({ column: `bodies/${c}`, type: 'i4' as const, first: 0, count: n })),
      ...real.filter((c) => this.column(`bodies/${c}`)).map((c) => ({ column: `bodies/${c}`, type: 'f4' as const, first: 0, count: n })),
    ];
    const found = await this.read(wishes);
    const all: Record<string, Numbers> = {};
    wishes.forEach((w, i) => { all[w.column.slice(7)] = found[i]; });
    const floats = (c: string, width = 1): Float32Array => (all[c] as Float32Array) ?? new Float32Array(n * width);
    const lengths: Record<string, Float32Array> = {};
    for (const c of real) lengths[c] = floats(c, 3);
    this.bodies = {
      count: n,
      shape: all['shape'] as Int32Array, motion: all['motion'] as Int32Array,
      material: all['material'] as Int32Array, geometry: all['geometry'] as Int32Array,
      radius: floats('radius'), mass: floats('mass'), volume: floats('volume'),
      shapeX: floats('shape_x', 3), shapeQ: floats('shape_q', 4), lengths, names: await this.readNames(),
    };
    // they alone are solids without a moment of inertia
    const still = (row: number): boolean => [0, 1, 2].every((k) => lengths['inertia'][3 * row + k] === 0);
    if (this.column('bodies/inertia'))
      this.platens = new Set([...Array(n).keys()].filter((row) => this.bodies.motion[row] === 0 && this.kind(row) === 'box' && this.bodies.volume[row] > 0 && still(row)));
    this.shapes = new Set(this.bodies.shape);
    this.walls = null;
  }

  private async readNames(): Promise<Map<number, string>> {
    const texts = this.description.texts['names/name'] ?? [];
    const out = new Map<number, string>();
    if (texts.length === 0 || !this.column('names/body')) return out;
    const rows = await this.readAll('names/body', 'i4');
    texts.forEach((t, i) => out.set(rows[i], t));
    return out;
  }

  /** Whether no turning can be seen. */
  private get onlyBalls(): boolean {
    const kinds = this.column('bodies/shape')?.names ?? [];
    return this.dimension === 3 && kinds.every((k, i) => k === 'sphere' || k === 'point' || containerKinds.has(k) || !this.shapes.has(i));
  }

  /** How many contacts a frame has; null: they were not stored. */
  contactCount(k: number): number | null { return this.contactOffset ? this.contactOffset[k + 1] - this.contactOffset[k] : null; }

  kind(row: number): string { return this.column('bodies/shape')?.names?.[this.bodies.shape[row]] ?? 'sphere'; }
  materialName(m: number): string { return this.description.texts['materials/name']?.[m] ?? String(m); }
  bodyName(row: number): string { return this.bodies.names.get(row) ?? `body ${row}`; }
  /** Whether it moves freely; walls that a servo moves do not. */
  isDynamic(row: number): boolean { return this.bodies.motion[row] === 0 && !this.platens.has(row); }
  get periodic(): boolean { return this.description.attributes['cell'] !== undefined; }

  // ---- frames -----------------------------------------------------------------------------------

  /** The last frame at or before a time. */
  frameAt(time: number): number {
    let low = 0, high = this.frames - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.time[mid] <= time + 1e-12) low = mid; else high = mid - 1;
    }
    return Math.max(0, low);
  }

  frame(k: number, detail: Detail): Promise<Frame> {
    const key = `${k} ${detail}`;
    for (const more of details.slice(details.indexOf(detail)).reverse()) {
      const known = this.cache.get(`${k} ${more}`);
      if (!known) continue;
      this.cache.delete(`${k} ${more}`); // now the newest
      this.cache.set(`${k} ${more}`, known);
      return known;
    }
    const made = this.load(k, detail);
    this.cache.set(key, made);
    made.then((f) => this.trim(key, f.bytes), () => this.cache.delete(key));
    return made;
  }

  private trim(key: string, bytes: number): void {
    this.sizes.set(key, bytes);
    let sum = 0;
    for (const k of [...this.cache.keys()].reverse()) {
      sum += this.sizes.get(k) ?? 0;
      if (sum > cacheBytes && k !== key) this.cache.delete(k);
    }
  }

  private async load(k: number, detail: Detail): Promise<Frame> {
    const first = this.bodyOffset[k], count = this.bodyOffset[k + 1] - first;
    const wishes: Wish[] = [];
    const add = (column: string, type: Wish['type'], from = first, rows = count): void => {
      if (this.column(column)) wishes.push({ column, type, first: from, count: rows });
    };
    add('frames/bodies/index', 'i4');
    add('frames/bodies/x', 'f4');
    // of many balls what is not seen is not read
    const few = count < 50000;
    if (few || detail === 'all' || !this.onlyBalls) add('frames/bodies/q', 'f4');
    if (few || detail !== 'places') add('frames/bodies/v', 'f4');
    if (few || detail === 'all') add('frames/bodies/omega', 'f4');
    if (detail === 'all') {
      for (const c of this.otherColumns()) add(c, 'f4');
      this.wishContacts(k, add);
    }
    if (this.periodic && this.step[k] > 0) add('steps/cell', 'f8', this.step[k] - 1, 1);
    const timeStep = detail === 'all' ? await this.stepLength(k) : this.timeStep;
    const found = await this.read(wishes);
    const of = (c: string): Numbers | undefined => found[wishes.findIndex((w) => w.column === `frames/${c}`)];
    const cell = found[wishes.findIndex((w) => w.column === 'steps/cell')] as Float64Array | undefined;
    const firstCell = this.description.attributes['cell'] as number[] | undefined;
    const row = of('bodies/index') as Int32Array, place = placesOf(row);
    return {
      index: k, time: this.time[k], step: this.step[k], count, row, place,
      wallTurns: of('bodies/q') ? new Map() : await this.readWallTurns(k, (r) => placeOf({ place, count }, r)),
      x: of('bodies/x') as Float32Array,
      q: (of('bodies/q') as Float32Array) ?? null,
      v: (of('bodies/v') as Float32Array) ?? null,
      omega: (of('bodies/omega') as Float32Array) ?? null,
      more: Object.fromEntries(this.otherColumns().map((c) => [c.slice(14), of(c.slice(7)) as Float32Array]).filter(([, v]) => v)) as Record<string, Float32Array>,
      contacts: detail === 'all' ? this.contactsOf(k, timeStep, of) : null,
      joints: detail === 'all' ? jointsOf(of) : null,
      cell: cell ?? (firstCell ? Float64Array.from(firstCell) : null),
      bytes: found.reduce((sum, f) => sum + f.byteLength, 0),
    };
  }

  private async readWallTurns(k: number, place: (row: number) => number): Promise<Map<number, Float32Array>> {
    this.walls ??= Array.from(this.bodies.shape.keys()).filter((row) => containerKinds.has(this.kind(row)));
    const rows = this.walls.filter((row) => place(row) >= 0);
    const found = await this.read(rows.map((row) => ({ column: 'frames/bodies/q', type: 'f4', first: this.bodyOffset[k] + place(row), count: 1 })));
    return new Map(rows.map((row, i) => [row, found[i] as Float32Array]));
  }

  /** Columns of bodies in frames that have no meaning of their own here. */
  otherColumns(): string[] {
    const known = ['index', 'x', 'q', 'v', 'omega', 'image'];
    return Object.keys(this.description.columns).filter((c) => c.startsWith('frames/bodies/') && !known.includes(c.slice(14)));
  }

  private wishContacts(k: number, add: (c: string, t: Wish['type'], first: number, count: number) => void): void {
    const of = this.contactOffset, joints = this.jointOffset;
    if (of)
      for (const c of ['body', 'point', 'normal', 'tangent', 'impulse', 'velocity', 'mu', 'gap', 'image'])
        add(`frames/contacts/${c}`, c === 'body' || c === 'image' ? 'i4' : 'f4', of[k], of[k + 1] - of[k]);
    if (joints)
      for (const c of ['index', 'broken', 'point', 'force'])
        add(`frames/joints/${c}`, c === 'index' || c === 'broken' ? 'i4' : 'f4', joints[k], joints[k + 1] - joints[k]);
  }

  /** Length of the step, or substep, that led to a frame, in s. */
  private async stepLength(k: number): Promise<number> {
    if (!this.column('steps/time_step') || !(this.step[k] > 0)) return this.timeStep;
    return (await this.read([{ column: 'steps/time_step', type: 'f8', first: this.step[k] - 1, count: 1 }]))[0][0];
  }

  private contactsOf(k: number, timeStep: number, of: (c: string) => Numbers | undefined): Contacts | null {
    const body = of('contacts/body') as Int32Array | undefined;
    if (!body || !this.contactOffset) return null;
    const f = (c: string): Float32Array => (of(`contacts/${c}`) as Float32Array) ?? new Float32Array(0);
    return {
      count: this.contactOffset[k + 1] - this.contactOffset[k], body,
      point: f('point'), normal: f('normal'), tangent: f('tangent'), impulse: f('impulse'),
      velocity: f('velocity'), mu: f('mu'), gap: f('gap'), timeStep, image: (of('contacts/image') as Int32Array) ?? null,
    };
  }

  /** At most `most` frames, evenly over the run. */
  someFrames(most: number): number[] {
    const every = Math.max(1, Math.ceil(this.frames / most));
    return Array.from({ length: Math.ceil(this.frames / every) }, (_, i) => i * every);
  }

  /** Some columns of one body in many frames, row by row instead of frame by frame; null: it is not there. */
  async history(frames: number[], row: number, columns: string[]): Promise<(number[][] | null)[]> {
    const there = frames.filter((k) => row < this.bodyOffset[k + 1] - this.bodyOffset[k]);
    const at = (column: string, type: Wish['type'], k: number): Wish => ({ column, type, first: this.bodyOffset[k] + row, count: 1 });
    const found = await this.read(there.flatMap((k) => [at('frames/bodies/index', 'i4', k), ...columns.map((c) => at(c, 'f8', k))]));
    const width = columns.length + 1, out = new Map<number, number[][]>();
    there.forEach((k, i) => { if (found[width * i][0] === row) out.set(k, found.slice(width * i + 1, width * (i + 1)).map((v) => Array.from(v))); });
    return Promise.all(frames.map((k) => out.get(k) ?? this.searchHistory(k, row, columns)));
  }

  // bodies that came in or went away have moved it to another place: rows rise, so it can be searched for
  private async searchHistory(k: number, row: number, columns: string[]): Promise<number[][] | null> {
    let low = this.bodyOffset[k], high = Math.min(this.bodyOffset[k + 1], low + row + 1);
    while (low < high) {
      const mid = Math.floor((low + high) / 2);
      const [found] = await this.read([{ column: 'frames/bodies/index', type: 'i4', first: mid, count: 1 }]);
      if (found[0] === row) return (await this.read(columns.map((column) => ({ column, type: 'f8' as const, first: mid, count: 1 })))).map((v) => Array.from(v));
      if (found[0] < row) low = mid + 1; else high = mid;
    }
    return null;
  }

  /** How many contacts all frames have together. */
  get contactRows(): number { return this.contactOffset?.[this.frames] ?? 0; }

  /** Normal force and friction between two bodies in a frame, in N: sums over all their contacts. */
  async pairForce(k: number, a: number, b: number): Promise<[number, number]> {
    const of = this.contactOffset!, first = of[k], count = of[k + 1] - first, d = this.dimension;
    const [body, impulse] = await this.read([
      { column: 'frames/contacts/body', type: 'i4', first, count }, { column: 'frames/contacts/impulse', type: 'f4', first, count }]);
    const h = await this.stepLength(k);
    let normal = 0, friction = 0;
    for (let i = 0; i < count; i++) {
      if (!((body[2 * i] === a && body[2 * i + 1] === b) || (body[2 * i] === b && body[2 * i + 1] === a))) continue;
      normal += impulse[d * i] / h;
      friction += Math.hypot(...impulse.subarray(d * i + 1, d * i + d)) / h;
    }
    return [normal, friction];
  }

  /** Exact numbers of one body in a frame, for people to read. */
  async exact(k: number, place: number): Promise<Record<string, number[]>> {
    const out: Record<string, number[]> = {};
    const columns = Object.keys(this.description.columns).filter((c) => c.startsWith('frames/bodies/'));
    const found = await this.read(columns.map((column) => ({ column, type: 'f8', first: this.bodyOffset[k] + place, count: 1 })));
    columns.forEach((c, i) => { out[c.slice(14)] = Array.from(found[i]); });
    return out;
  }
}

function jointsOf(of: (c: string) => Numbers | undefined): JointStates | null {
  const index = of('joints/index') as Int32Array | undefined;
  if (!index || index.length === 0) return null;
  return {
    count: index.length, index, broken: of('joints/broken') as Int32Array,
    point: of('joints/point') as Float32Array, force: of('joints/force') as Float32Array,
  };
}

function placesOf(row: Int32Array): Map<number, number> | null {
  let plain = true;
  for (let i = 0; i < row.length && plain; i++) plain = row[i] === i;
  if (plain) return null;
  const out = new Map<number, number>();
  row.forEach((r, i) => out.set(r, i));
  return out;
}

/** The index of a body in a frame; -1: it is absent. */
export function placeOf(frame: Pick<Frame, 'place' | 'count'>, row: number): number {
  if (frame.place) return frame.place.get(row) ?? -1;
  return row >= 0 && row < frame.count ? row : -1;
}
