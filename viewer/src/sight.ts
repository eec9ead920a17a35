// sight.ts - which of many balls can be seen. In a bed of grains most are hidden by others: those need not
// be drawn. Balls are taken from near to far and put as disks into a coarse picture of depths; one whose disk lies
// behind others everywhere is left out.

/** The camera, in what a picture of depths needs of it. */
export interface Eye {
  view: ArrayLike<number>; // world to camera, columns first, as of a THREE.Matrix4
  projection: ArrayLike<number>;
  width: number; // of the picture, in pixels
  height: number;
  spacing: number; // pixels between two samples of the picture of depths
  near: number; // m
  clip: ArrayLike<number> | null; // xyz . p > w is cut away
}

export interface ManyBalls {
  count: number;
  position: Float32Array;
  radius: Float32Array;
  flags: Float32Array; // those with the bit `hidden` are not there
  hidden: number;
}

/** Whether two eyes see the same. */
export function sameEye(a: Eye | null, b: Eye): boolean {
  const same = (p: ArrayLike<number> | null, q: ArrayLike<number> | null): boolean =>
    p === q || (p !== null && q !== null && Array.prototype.every.call(p, (v: number, i: number) => v === q[i]));
  return a !== null && a.width === b.width && a.height === b.height && a.spacing === b.spacing && same(a.view, b.view) && same(a.projection, b.projection) && same(a.clip, b.clip);
}

/** Whether two eyes see nearly the same: turned by less than 2 degrees, moved by less than 2 % of the way to what it looks at. */
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
      if (z < 2 * r) { out[n++] = i; continue; } // the eye is in it, or nearly
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
