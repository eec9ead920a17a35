// quantities.ts - the quantities by which bodies can be coloured, and the colours: viridis, a perceptually
// uniform map, from a few of its colours, and colours for categories.
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

const anchors = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
];

// dark to light orange: forces, beside the blues and greens of bodies
const embers = [
  [58, 34, 42], [112, 40, 48], [165, 53, 43], [211, 83, 33], [243, 130, 38], [253, 184, 84], [255, 236, 178],
];

export type Rgb = [number, number, number];

function between(list: number[][], t: number): Rgb {
  const s = Math.min(Math.max(t, 0), 1) * (list.length - 1);
  const i = Math.min(Math.floor(s), list.length - 2);
  const f = s - i;
  return [0, 1, 2].map((c) => (list[i][c] * (1 - f) + list[i + 1][c] * f) / 255) as Rgb;
}

export const viridis = (t: number): Rgb => between(anchors, t);
export const ember = (t: number): Rgb => between(embers, t);

const plain = [
  [96, 150, 200], [224, 145, 76], [108, 176, 120], [204, 96, 98], [146, 122, 190],
  [160, 124, 104], [214, 132, 186], [140, 144, 150], [190, 188, 92], [92, 184, 200],
];

/** A colour for the k-th of several kinds. */
export const kindColour = (k: number): Rgb => plain[((k % plain.length) + plain.length) % plain.length].map((c) => c / 255) as Rgb;

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
