// plot.ts - a small line plot over time with a mark at the time that is shown.
import { h, digits } from './dom';
import { css, kindColour } from './colormap';

export interface Line { label: string; x: ArrayLike<number>; y: ArrayLike<number> }

export class Plot {
  readonly element: HTMLElement;
  private canvas = h('canvas', { class: 'plot' });
  private key = h('div', { class: 'plot-key' });
  private lines: Line[] = [];
  private now = 0;
  private log = false;
  private range: [number, number] = [0, 1];
  private extent: [number, number] = [0, 1];
  onSeek: ((time: number) => void) | null = null;

  constructor(readonly title: string, readonly unit: string) {
    this.element = h('figure', { class: 'plot-box' }, h('figcaption', {}, h('b', {}, title), h('span', { class: 'unit' }, unit), this.key), this.canvas);
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
    this.range = low < high ? [low, high] : [low - 1 || -1, low + 1 || 1];
    this.draw();
  }

  at(time: number): void { this.now = time; this.draw(); }

  private scaled(v: number): number { return this.log ? (v > 0 ? Math.log10(v) : NaN) : v; }

  private draw(): void {
    const c = this.canvas, ratio = window.devicePixelRatio || 1, w = c.clientWidth, height = c.clientHeight;
    if (w === 0) return;
    c.width = w * ratio;
    c.height = height * ratio;
    const g = c.getContext('2d')!, style = getComputedStyle(c);
    g.scale(ratio, ratio);
    const [t0, t1] = this.extent, [y0, y1] = this.range, pad = 4;
    const px = (t: number): number => ((t - t0) / (t1 - t0 || 1)) * w;
    const py = (y: number): number => height - pad - ((y - y0) / (y1 - y0 || 1)) * (height - 2 * pad);
    g.strokeStyle = style.getPropertyValue('--line');
    g.beginPath();
    for (const s of [0, 0.5, 1]) { const y = Math.round(pad + s * (height - 2 * pad)) + 0.5; g.moveTo(0, y); g.lineTo(w, y); }
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
    const colour = css(kindColour(k));
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
    const text = Number.isFinite(value) ? digits(value, 3) : '–';
    this.key.append(h('span', { class: 'key' }, Object.assign(h('i', {}), { style: `background:${colour}` }), `${l.label} `, h('span', { class: 'num' }, text)));
  }
}
