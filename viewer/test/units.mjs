// units.mjs - what needs no browser: the axes of plots, and the colours. Prints what is wrong, and ends with 1 then;
// `node units.mjs colours` prints the colours, which the program has as well.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', 'src');
const bundle = await build({
  stdin: { contents: "export { axisOf } from './plots'; export { ramp, ember, kindColours } from './quantities'; export { chainsOf, nodesOf } from './runview';", resolveDir: source, loader: 'ts' },
  bundle: true, write: false, format: 'esm',
});
const { axisOf, ramp, ember, kindColours, chainsOf, nodesOf } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].text).toString('base64')}`);

const hex = (c) => `#${c.map((v) => Math.round(255 * v).toString(16).padStart(2, '0')).join('')}`;
if (process.argv[2] === 'colours') {
  console.log(JSON.stringify({ ramp: Array.from({ length: 24 }, (_, k) => hex(ramp(k / 23))), kinds: kindColours(process.argv.slice(3)).map(hex) }));
  process.exit(0);
}

let failures = 0;
function same(found, expected, text) {
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  failures++;
  console.log(`failed: ${text}`, JSON.stringify(found), JSON.stringify(expected));
}
const axis = (...of) => { const a = axisOf(...of); return [a.unit, ...a.ticks.map((t) => t.text)]; };

same(axis(0, 9e-6, 'J'), ['µJ', '0', '5', '10'], '9e-6 J are some microjoules');
same(axis(1e-5, 1e-5, 'J'), ['µJ', '0', '5', '10'], 'a constant has its size');
same(axis(0, 30, 'N'), ['N', '0', '10', '20', '30'], 'usual numbers have the unit itself');
same(axis(-2.5e6, 0, 'Pa'), ['MPa', '-3', '-2', '-1', '0'], 'negative ones too');
same(axis(0, 4e-5, 'kg m²'), ['10⁻⁶ kg m²', '0', '20', '40'], 'other units have a factor');
same(axis(0, 25000, ''), ['10³', '0', '10', '20', '30'], 'numbers without a unit too');
same(axis(990, 1000, 'J')[1], '0', 'an axis begins at 0: noise of a large number is no curve');
same(axis(0, 0, 'J'), ['J', '0', '0.5', '1'], 'nothing has an axis too');

/** CIELAB, from numbers of 0 to 1. */
function lab(colour) {
  const [r, g, b] = colour.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const root = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089].map(root);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// the lightness of each map never falls, and all of it differs from the light, the dark and the black ground
const grounds = [[0xdd, 0xe3, 0xe9], [0x2b, 0x30, 0x38], [0, 0, 0]].map((c) => lab(c.map((v) => v / 255)));
const shares = Array.from({ length: 101 }, (_, k) => k / 100);
for (const [name, map] of [['ramp', ramp], ['ember', ember]]) {
  same(shares.filter((t) => t > 0 && lab(map(t))[0] < lab(map(t - 0.01))[0] - 0.2), [], `${name} gets lighter`);
  same(shares.filter((t) => grounds.some((g) => Math.hypot(...lab(map(t)).map((v, k) => v - g[k])) < 40)), [], `${name} can be seen on every ground`);
}

/** Where the chains of a box at the origin meet that fixed bodies push at points [x, y] along normals [x, y]. */
function node(...pushes) {
  const flat = (of) => Float32Array.from(pushes.flatMap((p) => [...of(p), 0]));
  const contacts = { count: pushes.length, body: Int32Array.from(pushes.flatMap((_, k) => [0, k + 1])), point: flat((p) => p[0]), normal: flat((p) => p[1]),
    impulse: Float32Array.from(pushes.flatMap(() => [1, 0])), timeStep: 1, image: null };
  const run = { dimension: 2, isDynamic: (row) => row === 0, kind: () => 'box' }, frame = { count: 1, place: null, x: new Float32Array(3), contacts, cell: null };
  return nodesOf(run, frame, chainsOf(run, frame), new Float32Array(pushes.length).fill(1)).get(0);
}
same(node([[-1, 2], [1, 0]], [[1, 1], [-1, 0]]), [0, 1.5, 0], 'a force goes straight through what two bodies press');
same(node([[-1, -1], [0, 1]], [[1, -1], [0, 1]]), [0, 0, 0], 'what lies on two supports takes their forces to its centre');
same(node([[0, -1], [0, 1]]), [0, 0, 0], 'one force goes to the centre');
process.exit(failures > 0 ? 1 : 0);
