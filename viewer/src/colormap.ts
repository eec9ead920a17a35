// colormap.ts - viridis, a perceptually uniform map, from a few of its colours, and colours for
// categories.

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
