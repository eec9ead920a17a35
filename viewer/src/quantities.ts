// quantities.ts - the quantities by which bodies can be coloured, and the colours: a map of numbers, a map of
// forces, and colours for categories.
import { imageShift } from './cell';
import { placeOf, type Contacts, type Frame, type Run } from './run';

export interface Quantity {
  key: string;
  label: string;
  unit: string;
  /** Kinds without an order, by name. */
  kinds?: string[];
  /** A range that does not follow the frame. */
  fixed?: boolean;
  needsContacts?: boolean;
  needsMotion?: boolean;
  needsAll?: boolean; // other columns of a frame
  values(run: Run, frame: Frame, out: Float32Array): void;
}

const norm3 = (a: Float32Array, i: number): number => Math.sqrt(a[3 * i] * a[3 * i] + a[3 * i + 1] * a[3 * i + 1] + a[3 * i + 2] * a[3 * i + 2]);

/** Adds something of each contact to both of its bodies. */
function overContacts(frame: Frame, add: (place: number, contact: number, sign: number) => void): void {
  const c = frame.contacts;
  if (!c) return;
  for (let k = 0; k < c.count; k++)
    for (let s = 0; s < 2; s++) {
      const p = c.body[2 * k + s] < 0 ? -1 : placeOf(frame, c.body[2 * k + s]);
      if (p >= 0) add(p, k, s === 0 ? 1 : -1);
    }
}

/** The force on the first body at a contact, in N: normal, tangent and their cross product. */
export function contactForce(run: Run, c: Contacts, k: number, out: number[]): void {
  const d = run.dimension, n = c.normal, t = c.tangent, h = c.timeStep;
  const a = c.impulse[d * k] / h, b = c.impulse[d * k + 1] / h, e = d === 3 ? c.impulse[d * k + 2] / h : 0;
  const [nx, ny, nz] = [n[3 * k], n[3 * k + 1], n[3 * k + 2]], [tx, ty, tz] = [t[3 * k], t[3 * k + 1], t[3 * k + 2]];
  out[0] = a * nx + b * tx + e * (ny * tz - nz * ty);
  out[1] = a * ny + b * ty + e * (nz * tx - nx * tz);
  out[2] = a * nz + b * tz + e * (nx * ty - ny * tx);
}

export const normalForce = (run: Run, c: Contacts, k: number): number => c.impulse[run.dimension * k] / c.timeStep;

/** Pressure from Love and Weber's stress: p = 1/(d V) sum over contacts of f . (x_body - point). */
function pressure(run: Run, frame: Frame, out: Float32Array): void {
  const f = [0, 0, 0], shift = [0, 0, 0];
  overContacts(frame, (p, k, sign) => {
    const c = frame.contacts!;
    contactForce(run, c, k, f);
    imageShift(frame, k, shift);
    for (let i = 0; i < 3; i++) out[p] += sign * f[i] * (frame.x[3 * p + i] + (sign < 0 ? shift[i] : 0) - c.point[3 * k + i]);
  });
  for (let i = 0; i < frame.count; i++) {
    const volume = run.bodies.volume[frame.row[i]];
    out[i] = volume > 0 && run.isDynamic(frame.row[i]) ? out[i] / (run.dimension * volume) : 0;
  }
}

/** How far a contact is from Coulomb's law, in m/s: the natural map
 *  |w r - P_K(w r - u~)|, u~ = u + (gap/h + mu |u_T|) n, with 1/w the mass of the lighter body. It shows
 *  where the law is missed; the certificate of the step, with the exact w, is in /steps. */
export function contactResidual(run: Run, c: Contacts, k: number): number {
  const d = run.dimension, mu = c.mu[k];
  const masses = [0, 1].map((s) => (c.body[2 * k + s] >= 0 ? run.bodies.mass[c.body[2 * k + s]] : 0)).filter((m) => m > 0);
  const w = 1 / Math.max(Math.min(...masses), 1e-300);
  let slide = 0;
  for (let i = 1; i < d; i++) slide += c.velocity[d * k + i] ** 2;
  slide = Math.sqrt(slide);
  // y = w r - u~; the residual is |w r - P_K(y)|, K the friction cone
  const y: number[] = [];
  for (let i = 0; i < d; i++) y.push(w * c.impulse[d * k + i] - c.velocity[d * k + i] - (i === 0 ? mu * slide + Math.max(c.gap[k], 0) / c.timeStep : 0));
  const p = project(y, mu);
  return Math.hypot(...p.map((v, i) => w * c.impulse[d * k + i] - v));
}

/** The nearest point of the cone |y_T| <= mu y_N. */
function project(y: number[], mu: number): number[] {
  const t = Math.hypot(...y.slice(1));
  if (t <= mu * y[0]) return y;
  if (mu * t <= -y[0]) return y.map(() => 0);
  const n = (y[0] + mu * t) / (1 + mu * mu);
  return y.map((v, i) => (i === 0 ? n : (mu * n * v) / t));
}

const simple = (key: string, label: string, unit: string, of: (run: Run, f: Frame, i: number) => number, more: Partial<Quantity> = {}): Quantity => ({
  key, label, unit, ...more,
  values(run, frame, out) { for (let i = 0; i < frame.count; i++) out[i] = of(run, frame, i); },
});

function size(run: Run, row: number): number {
  if (run.bodies.radius[row] > 0) return run.bodies.radius[row];
  const v = run.bodies.volume[row];
  return v > 0 ? (run.dimension === 2 ? Math.sqrt(v / Math.PI) : Math.cbrt((3 * v) / (4 * Math.PI))) : 0;
}

/** Everything that a run can be coloured by. `up` is the axis against gravity: 0, 1 or 2. */
export function quantitiesOf(run: Run, up: number): Quantity[] {
  const materials = run.description.texts['materials/name'] ?? [];
  const list: Quantity[] = [
    simple('speed', 'Speed', 'm/s', (_r, f, i) => (f.v ? norm3(f.v, i) : 0), { needsMotion: true }),
    simple('spin', 'Spin', 'rad/s', (_r, f, i) => (f.omega ? norm3(f.omega, i) : 0), { needsAll: true }),
    simple('size', run.dimension === 2 ? 'Size' : 'Radius', 'm', (r, f, i) => size(r, f.row[i]), { fixed: true }),
    simple('mass', 'Mass', 'kg', (r, f, i) => r.bodies.mass[f.row[i]], { fixed: true }),
    simple('height', 'Height', 'm', (_r, f, i) => f.x[3 * i + up]),
    simple('material', 'Material', '', (r, f, i) => r.bodies.material[f.row[i]], { kinds: materials, fixed: true }),
    simple('shape', 'Shape', '', (r, f, i) => r.bodies.shape[f.row[i]], { kinds: run.column('bodies/shape')?.names ?? [], fixed: true }),
    simple('body', 'Order of appearance', '', (_r, f, i) => f.row[i], { fixed: true }),
  ];
  if (run.hasContacts)
    list.splice(2, 0,
      { key: 'force', label: 'Normal force', unit: 'N', needsContacts: true, values: (r, f, out) => {
        out.fill(0);
        overContacts(f, (p, k) => { out[p] += Math.max(normalForce(r, f.contacts!, k), 0); });
      } },
      { key: 'pressure', label: 'Pressure', unit: run.dimension === 2 ? 'N/m' : 'Pa', needsContacts: true, values: (r, f, out) => { out.fill(0); pressure(r, f, out); } },
      { key: 'contacts', label: 'Contacts that push', unit: '', needsContacts: true, values: (r, f, out) => {
        out.fill(0);
        overContacts(f, (p, k) => { if (normalForce(r, f.contacts!, k) > 0) out[p]++; });
      } },
      { key: 'residual', label: 'Residual at contacts', unit: 'm/s', needsContacts: true, values: (r, f, out) => {
        out.fill(0);
        overContacts(f, (p, k) => { out[p] = Math.max(out[p], contactResidual(r, f.contacts!, k)); });
      } });
  return list.concat(frameColumns(run), storedColumns(run));
}

const spoken = (column: string): string => column[0].toUpperCase() + column.slice(1).replaceAll('_', ' ');

/** Any other column of bodies in frames: its number, or the length of its vector. */
function frameColumns(run: Run): Quantity[] {
  return run.otherColumns().map((c) => {
    const { unit, width } = run.column(c)!, name = c.slice(14);
    return simple(c, spoken(name), unit === '1' ? '' : unit, (_r, f, i) => {
      const data = f.more[name];
      if (!data) return 0;
      return width === 1 ? data[i] : Math.hypot(...data.subarray(width * i, width * (i + 1)));
    }, { needsAll: true });
  });
}

/** Any other column of /bodies, which does not change with time. */
function storedColumns(run: Run): Quantity[] {
  const shown = new Set(['shape', 'material', 'radius', 'mass', 'shape_x', 'shape_q', 'geometry', 'uid', 'axis', 'exponents', 'size', 'semi_axes', 'half_angle', 'bottom_radius', 'top_radius', 'height', 'length', 'rounding']);
  return Object.keys(run.description.columns).filter((c) => c.startsWith('bodies/') && !shown.has(c.slice(7))).map((c) => {
    const { unit, width, names } = run.column(c)!;
    let data: ArrayLike<number> | null = null;
    const q: Quantity & { load(): Promise<void> } = {
      key: c, label: spoken(c.slice(7)), unit: unit === '1' ? '' : unit, fixed: true, ...(names ? { kinds: names } : {}),
      async load() { data ??= await run.readAll(c, 'f4'); },
      values(_r, f, out) {
        for (let i = 0; i < f.count; i++) {
          let sum = 0;
          for (let k = 0; data && k < width; k++) sum += data[width * f.row[i] + k] ** 2;
          out[i] = width === 1 ? (data?.[f.row[i]] ?? 0) : Math.sqrt(sum);
        }
      },
    };
    return q;
  });
}

/** Before a quantity is used: what it reads besides frames. */
export async function prepare(q: Quantity): Promise<void> {
  await (q as Quantity & { load?: () => Promise<void> }).load?.();
}

// ---- colours ----
// Both maps can be seen from end to end on the light and on the dark ground, and their lightness never falls.
// src/run/palette.c has the same numbers for picture.svg.

// from blue over green to amber
const ramps = [
  [98, 108, 168], [84, 120, 186], [66, 130, 190], [50, 142, 180], [36, 152, 160],
  [40, 164, 132], [72, 178, 104], [124, 190, 80], [184, 198, 56], [244, 196, 40],
];

// from dark red to orange: forces, beside the blues and greens of bodies
const embers = [
  [156, 48, 70], [182, 44, 56], [208, 46, 40], [236, 64, 20], [252, 104, 10], [255, 148, 24], [255, 190, 60],
];

export type Rgb = [number, number, number];

function between(list: number[][], t: number): Rgb {
  const s = Math.min(Math.max(t, 0), 1) * (list.length - 1);
  const i = Math.min(Math.floor(s), list.length - 2);
  const f = s - i;
  return [0, 1, 2].map((c) => (list[i][c] * (1 - f) + list[i + 1][c] * f) / 255) as Rgb;
}

export const ramp = (t: number): Rgb => between(ramps, t);
export const ember = (t: number): Rgb => between(embers, t);

// colours of kinds, in the order in which they are given out; a kind with the name of a colour has that colour
const palette: [string, number[]][] = [
  ['blue', [74, 128, 196]], ['orange', [224, 145, 76]], ['green', [92, 168, 106]], ['red', [206, 66, 62]], ['purple', [146, 122, 190]],
  ['brown', [150, 108, 84]], ['pink', [214, 132, 186]], ['grey', [140, 144, 150]], ['olive', [170, 166, 70]], ['cyan', [72, 176, 196]],
];
const named: [string, number[]][] = [
  ...palette, ['yellow', [236, 204, 56]], ['black', [52, 54, 58]], ['white', [240, 240, 238]], ['gray', [140, 144, 150]], ['violet', [146, 122, 190]],
  ['magenta', [200, 70, 168]], ['turquoise', [64, 180, 166]], ['gold', [214, 172, 60]], ['silver', [186, 190, 196]], ['beige', [222, 208, 176]],
];

/** The colour in a name, such as `red` or `dark_red_2`; none: undefined. */
function colourIn(name: string): number[] | undefined {
  const words = name.toLowerCase().split(/[^a-z]+/);
  return named.find(([colour]) => words.includes(colour))?.[1];
}

/** A colour for each of several kinds. */
export function kindColours(names: string[]): Rgb[] {
  const own = names.map(colourIn), free = palette.map(([, c]) => c).filter((c) => !own.some((o) => o?.join() === c.join())), rest = free.length > 0 ? free : palette.map(([, c]) => c);
  let next = 0;
  return own.map((c) => (c ?? rest[next++ % rest.length]).map((v) => v / 255) as Rgb);
}

/** The colour of the k-th of several lines. */
export const lineColour = (k: number): Rgb => palette[k % palette.length][1].map((c) => c / 255) as Rgb;

export const css = (c: Rgb): string => `rgb(${c.map((v) => Math.round(255 * v)).join(',')})`;

/** 256 colours of a map as RGBA bytes, for a texture. */
export function mapBytes(map: (t: number) => Rgb): Uint8Array {
  const out = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const c = map(i / 255);
    for (let k = 0; k < 3; k++) out[4 * i + k] = Math.round(255 * c[k]);
    out[4 * i + 3] = 255;
  }
  return out;
}
