// caption.ts - what the colours mean: the legend of the page, and the same below pictures and films.
import type { App } from './app';
import { css, ember, kindColours, ramp, type Rgb } from './quantities';
import { digits } from './dom';
import { mostChains } from './runview';

/** One scale: numbers from low to high, or the kinds that are there. */
export interface Scale {
  label: string;
  unit: string;
  map: (t: number) => Rgb;
  ends: [number, number];
  kinds: { index: number; name: string; colour: string }[] | null;
}

function kindsOf(app: App): Scale['kinds'] {
  const f = app.frame, q = app.quantity, seen = new Set<number>(), colours = kindColours(q.kinds!);
  for (let i = 0; f && i < f.count; i++) if (app.run.isDynamic(f.row[i])) seen.add(app.view.values[i]);
  return [...seen].sort((a, b) => a - b).slice(0, 24).map((k) => ({ index: k, name: q.kinds![k] ?? String(k), colour: css(colours[k] ?? [0.5, 0.5, 0.5]) }));
}

/** The scales of what is shown: bodies, force chains, field. */
export function scalesOf(app: App): Scale[] {
  const q = app.quantity, o = app.options, forces = o.chains || o.contacts || o.normals ? app.view.forceScale : 0;
  const list: Scale[] = [{ label: q.label, unit: q.unit, map: ramp, ends: app.range, kinds: q.kinds ? kindsOf(app) : null }];
  const unit = app.view.chainsLimited ? `N, the strongest ${mostChains.toLocaleString('en')}` : 'N';
  if (forces > 0) list.push({ label: 'Force chains', unit, map: ember, ends: [0, forces], kinds: null });
  if (app.field) list.push({ label: `Field: ${app.field.label.toLowerCase()}`, unit: app.field.unit, map: ramp, ends: app.fieldRange, kinds: null });
  return list.filter((s) => s.kinds?.length !== 0);
}

/** The numbers at a scale: its ends and its middle. */
export const marksOf = (s: Scale): string[] => [s.ends[0], (s.ends[0] + s.ends[1]) / 2, s.ends[1]].map((v) => digits(v, 3));

export const gradientStops = (s: Scale): string[] => Array.from({ length: 11 }, (_, i) => css(s.map(i / 10)));

// ---- below pictures -----------------------------------------------------------------------------

/** Pixels of a line of text; the strip has three of them. */
const lineOf = (width: number): number => Math.max(12, Math.min(40, Math.round(width / 72)));
export const captionHeight = (width: number): number => Math.round(4.3 * lineOf(width));

/** As much of a text as has space. */
function short(g: CanvasRenderingContext2D, text: string, space: number): string {
  if (g.measureText(text).width <= space) return text;
  let end = text.length;
  while (end > 1 && g.measureText(`${text.slice(0, end)}…`).width > space) end--;
  return `${text.slice(0, end)}…`;
}

/** A text in one or two lines. */
function inTwo(g: CanvasRenderingContext2D, text: string, space: number): string[] {
  if (g.measureText(text).width <= space) return [text];
  const words = text.split(' ');
  let first = words.shift()!;
  while (words.length > 0 && g.measureText(`${first} ${words[0]}`).width <= space) first += ` ${words.shift()}`;
  return words.length > 0 ? [short(g, first, space), short(g, words.join(' '), space)] : [short(g, first, space)];
}

function drawKinds(g: CanvasRenderingContext2D, s: Scale, x: number, y: number, width: number, line: number, ink: string): void {
  let at = x, row = y;
  for (const { name, colour } of s.kinds!) {
    const text = short(g, name, width - line), step = line + g.measureText(text).width + 0.8 * line;
    if (at > x && at + step - 0.8 * line > x + width) { at = x; row += 1.15 * line; }
    if (row > y + 1.2 * line) { g.fillText(' …', x + width, row - 1.15 * line); return; }
    g.fillStyle = colour;
    g.fillRect(at, row - 0.72 * line, 0.72 * line, 0.72 * line);
    g.fillStyle = ink;
    g.fillText(text, at + line, row);
    at += step;
  }
}

function drawScale(g: CanvasRenderingContext2D, s: Scale, x: number, y: number, width: number, line: number, ink: string): void {
  g.fillStyle = ink;
  g.fillText(short(g, s.unit ? `${s.label}, ${s.unit}` : s.label, width), x, y);
  if (s.kinds) { drawKinds(g, s, x, y + 1.2 * line, width, line, ink); return; }
  const fill = g.createLinearGradient(x, 0, x + width, 0);
  gradientStops(s).forEach((colour, i) => fill.addColorStop(i / 10, colour));
  g.fillStyle = fill;
  g.fillRect(x, y + 0.4 * line, width, 0.6 * line);
  g.fillStyle = ink;
  marksOf(s).forEach((text, i) => g.fillText(text, x + (i / 2) * (width - g.measureText(text).width), y + 2.05 * line));
}

/** The picture of the scene with its title, time and scales below it. */
export async function captioned(app: App): Promise<Blob> {
  const scene = await createImageBitmap(await app.stage.picture()), { width } = scene, line = lineOf(width), gap = 1.4 * line;
  const page = new OffscreenCanvas(width, scene.height + captionHeight(width)), g = page.getContext('2d') as unknown as CanvasRenderingContext2D;
  const style = getComputedStyle(document.documentElement), ink = style.getPropertyValue('--ink').trim(), scales = scalesOf(app);
  g.fillStyle = style.getPropertyValue('--bg').trim();
  g.fillRect(0, 0, page.width, page.height);
  g.drawImage(scene, 0, 0);
  const part = (width - gap) / (scales.length + 1), y = scene.height + 1.45 * line;
  const font = (weight: number): string => `${weight} ${0.86 * line}px ${getComputedStyle(document.body).fontFamily}`;
  g.font = font(600);
  g.fillStyle = ink;
  const title = inTwo(g, app.runs.map((r) => r.title).filter((t, i, all) => all.indexOf(t) === i).join(' | '), part - gap);
  title.forEach((text, i) => g.fillText(text, gap, y + 1.2 * i * line));
  g.font = font(400);
  g.fillText(`${digits(Number(app.time.toFixed(4)), 5)} s`, gap, y + 1.2 * title.length * line);
  scales.forEach((s, i) => drawScale(g, s, gap + (i + 1) * part, y, part - gap, line, ink));
  return page.convertToBlob({ type: 'image/png' });
}
