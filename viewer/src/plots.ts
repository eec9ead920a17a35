// plots.ts - line plots over time: energy, residual, contacts and any other column of a step.
import type { App } from './app';
import { css, lineColour } from './quantities';
import { digits, h, superscript } from './dom';

// ---- the y axis of a plot -----------------------------------------------------------------------

export interface Axis { low: number; high: number; ticks: { at: number; text: string }[]; unit: string; factor: number }

const prefixes: Record<number, string> = { [-15]: 'f', [-12]: 'p', [-9]: 'n', [-6]: 'µ', [-3]: 'm', 3: 'k', 6: 'M', 9: 'G' };
const prefixed = /^(J|N|Pa|W|m|s|m\/s|N m)$/;

/** A unit times a power of ten: with a prefix if it is one that takes them. */
const times = (power: number, unit: string): string =>
  power === 0 ? unit : prefixes[power] && prefixed.test(unit) ? prefixes[power] + unit : `10${superscript(String(power))} ${unit}`.trim();

const steps = (size: number, most: number): number => {
  const power = 10 ** Math.floor(Math.log10(size / most));
  return power * [1, 2, 5, 10].find((s) => s * power * most >= size * (1 - 1e-9))!;
};

/** Round numbers from 0 to beyond the values; small and large ones with a factor of 1000^k in the unit. */
export function axisOf(low: number, high: number, unit: string): Axis {
  const least = Math.min(low, 0), most = low === 0 && high === 0 ? 1 : Math.max(high, 0), size = Math.max(-least, most), power = size > 0 ? 3 * Math.floor(Math.log10(size) / 3) : 0;
  const scale = size >= 1e4 || size < 0.01 ? power : 0, factor = 10 ** scale, step = steps(most > least ? most - least : 1, 3);
  const first = Math.floor(least / step + 1e-9), last = Math.max(Math.ceil(most / step - 1e-9), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => ({ at: (first + i) * step, text: String(Number((((first + i) * step) / factor).toPrecision(6))) }));
  return { low: first * step, high: last * step, ticks, unit: times(scale, unit), factor };
}

/** Powers of ten; `low` and `high` are logarithms. */
function logarithmic(low: number, high: number, unit: string): Axis {
  const first = Math.floor(low), last = Math.max(Math.ceil(high), first + 1), step = Math.ceil((last - first) / 3);
  const ticks = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => ({ at: first + i * step, text: `10${superscript(String(first + i * step))}` }));
  return { low: first, high: last, ticks, unit, factor: 1 };
}

// ---- one plot, with a mark at the time that is shown --------------------------------------------

export interface Line { label: string; x: ArrayLike<number>; y: ArrayLike<number> }

export class Plot {
  readonly element: HTMLElement;
  private canvas = h('canvas', { class: 'plot' });
  private key = h('div', { class: 'plot-key' });
  private lines: Line[] = [];
  private now = 0;
  private log = false;
  private axis: Axis = axisOf(0, 1, '');
  private numbers = h('div', { class: 'ticks' });
  private unitText = h('span', { class: 'unit' });
  private extent: [number, number] = [0, 1];
  onSeek: ((time: number) => void) | null = null;

  constructor(readonly title: string, readonly unit: string) {
    this.element = h('figure', { class: 'plot-box' }, h('figcaption', {}, h('b', {}, title), this.unitText, this.key), h('div', { class: 'plot-area' }, this.numbers, this.canvas));
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${title} over time`);
    const seek = (e: PointerEvent): void => {
      const b = this.canvas.getBoundingClientRect();
      const t = (e.clientX - b.left) / b.width;
      this.onSeek?.(this.extent[0] + Math.min(Math.max(t, 0), 1) * (this.extent[1] - this.extent[0]));
    };
    this.canvas.addEventListener('pointerdown', (e) => { this.canvas.setPointerCapture(e.pointerId); seek(e); });
    this.canvas.addEventListener('pointermove', (e) => { if (e.buttons & 1) seek(e); });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  set(lines: Line[], extent: [number, number], log = false): void {
    this.lines = lines;
    this.extent = extent;
    this.log = log;
    let low = Infinity, high = -Infinity;
    for (const l of lines)
      for (let i = 0; i < l.y.length; i++) {
        const v = this.scaled(l.y[i]);
        if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
      }
    this.axis = low > high ? axisOf(0, 1, this.unit) : log ? logarithmic(low, high, this.unit) : axisOf(low, high, this.unit);
    this.unitText.textContent = this.axis.unit;
    this.numbers.replaceChildren(...this.axis.ticks.map((t) => Object.assign(h('span', {}, t.text), { style: `bottom:${(100 * this.share(t.at)).toFixed(2)}%` })));
    this.draw();
  }

  at(time: number): void { this.now = time; this.draw(); }

  private share(y: number): number { return (y - this.axis.low) / (this.axis.high - this.axis.low); }
  private scaled(v: number): number { return this.log ? (v > 0 ? Math.log10(v) : NaN) : v; }

  private draw(): void {
    const c = this.canvas, ratio = window.devicePixelRatio || 1, w = c.clientWidth, height = c.clientHeight;
    if (w === 0) return;
    c.width = w * ratio;
    c.height = height * ratio;
    const g = c.getContext('2d')!, style = getComputedStyle(c);
    g.scale(ratio, ratio);
    const [t0, t1] = this.extent;
    const px = (t: number): number => ((t - t0) / (t1 - t0 || 1)) * w;
    const py = (y: number): number => height * (1 - this.share(y));
    g.strokeStyle = style.getPropertyValue('--line');
    g.beginPath();
    for (const t of this.axis.ticks) { const y = Math.min(Math.round(py(t.at)), height - 1) + 0.5; g.moveTo(0, y); g.lineTo(w, y); }
    g.stroke();
    this.key.replaceChildren();
    this.lines.forEach((l, k) => this.drawLine(g, l, k, px, py, w));
    g.strokeStyle = style.getPropertyValue('--accent');
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(px(this.now), 0);
    g.lineTo(px(this.now), height);
    g.stroke();
  }

  private drawLine(g: CanvasRenderingContext2D, l: Line, k: number, px: (t: number) => number, py: (y: number) => number, width: number): void {
    const colour = css(lineColour(k));
    g.strokeStyle = colour;
    g.lineWidth = 1.4;
    g.lineJoin = 'round';
    g.beginPath();
    const stride = Math.max(1, Math.floor(l.x.length / (4 * width)));
    let pen = false, value = NaN;
    for (let i = 0; i < l.x.length; i += stride) {
      const y = this.scaled(l.y[i]);
      if (!Number.isFinite(y)) { pen = false; continue; }
      if (pen) g.lineTo(px(l.x[i]), py(y)); else g.moveTo(px(l.x[i]), py(y));
      pen = true;
    }
    g.stroke();
    for (let i = 0; i < l.x.length && l.x[i] <= this.now + 1e-9; i++) value = l.y[i];
    const text = Number.isFinite(value) ? digits(value / this.axis.factor, 3) : '–';
    this.key.append(h('span', { class: 'key' }, Object.assign(h('i', {}), { style: `background:${colour}` }), `${l.label} `, h('span', { class: 'num' }, text)));
  }
}

// ---- the plots of a run, in step with the time --------------------------------------------------

interface PlotDef { title: string; unit: string; columns: string[]; log?: boolean }

const standard: PlotDef[] = [
  { title: 'Energy', unit: 'J', columns: ['kinetic', 'potential', 'elastic'] },
  { title: 'Losses so far', unit: 'J', columns: ['friction_loss', 'impact_loss', 'damping_loss', 'numerical_loss'] },
  { title: 'Relative residual', unit: '', columns: ['asked_relative'], log: true },
  { title: 'Contacts', unit: '', columns: ['candidates', 'active'] },
];
/** The forces of each series; of a laboratory test its stresses. */
function ownPlots(columns: string[]): PlotDef[] {
  const groups = [...new Set(columns.filter((c) => c.startsWith('series/')).map((c) => c.slice(7, c.lastIndexOf('/'))))];
  const axes = ['x', 'y', 'z'];
  return [
    ...groups.slice(0, 6).map((g) => ({ title: `Force: ${g.replaceAll('_', ' ')}`, unit: 'N', columns: axes.map((a) => `series/${g}/force_${a}`) })),
    { title: 'Stress of the cell', unit: 'Pa', columns: axes.map((a) => `statistics/cell/stress_${a}`) },
  ];
}
const summed = new Set(['friction_loss', 'impact_loss', 'damping_loss', 'numerical_loss']);

export class Plots {
  readonly element = h('section', { class: 'card plots', hidden: true, 'aria-label': 'Plots' });
  private plots: Plot[] = [];
  private loaded = -1;
  private extra: PlotDef[] = [];

  constructor(private app: App) {
    app.on('frame', () => { if (!this.element.hidden) for (const p of this.plots) p.at(app.time); });
    app.on('runs', () => { if (!this.element.hidden) void this.load(); });
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (!this.element.hidden) void this.load();
    this.app.changed('options');
  }

  /** Columns of numbers by step, of series, and of statistics that have a row a frame. */
  private choices(): string[] {
    return Object.entries(this.app.run.description.columns)
      .filter(([c, d]) => (c.startsWith('steps/') || c.startsWith('series/') || (c.startsWith('statistics/') && d.rows <= this.app.run.frames)) && d.width === 1 && !c.endsWith('/time') && !c.endsWith('/step'))
      .map(([c]) => c);
  }

  private async load(): Promise<void> {
    const run = this.app.run, rows = run.column('steps/time')?.rows ?? 0;
    if (rows === this.loaded) return;
    this.loaded = rows;
    const boxes: HTMLElement[] = [];
    this.plots = [];
    const time = await run.readAll('steps/time', 'f8');
    for (const def of [...ownPlots(Object.keys(run.description.columns)), ...standard, ...this.extra]) {
      const lines: Line[] = [];
      for (const c of def.columns) {
        const path = c.includes('/') ? c : `steps/${c}`;
        if (!run.column(path)) continue;
        const y = await run.readAll(path, 'f8');
        if (!def.log && def.columns.length > 1 && y.every((v) => v === 0)) continue;
        if (summed.has(c)) for (let i = 1; i < y.length; i++) y[i] += y[i - 1];
        const own = !path.startsWith('steps/') ? `${path.slice(0, path.lastIndexOf('/'))}/time` : null;
        lines.push({ label: c.replace(/^(steps\/|statistics\/(cell\/)?|series\/[^/]*\/)/, '').replace('_loss', '').replaceAll('_', ' '), x: own ? await run.readAll(own, 'f8') : time, y });
      }
      if (lines.length === 0) continue;
      const p = new Plot(def.title, def.unit);
      p.onSeek = (t) => void this.app.seek(t);
      p.set(lines, [this.app.start, this.app.end], def.log ?? false);
      this.plots.push(p);
      boxes.push(p.element);
    }
    this.element.replaceChildren(...boxes, this.adder());
    for (const p of this.plots) p.at(this.app.time);
  }

  private adder(): HTMLElement {
    const list = h('select', { 'aria-label': 'Add a plot' }, h('option', { value: '' }, 'Add a plot…'),
      ...this.choices().map((c) => h('option', { value: c }, c.replace('steps/', '').replaceAll('_', ' '))));
    list.onchange = () => {
      const column = this.app.run.column(list.value);
      if (!column) return;
      this.extra.push({ title: list.value.replace(/^(steps|statistics|series)\//, '').replaceAll('_', ' '), unit: column.unit, columns: [list.value] });
      this.loaded = -1;
      void this.load();
    };
    return h('div', {}, list);
  }
}
