// plots.ts - energy, residual, contacts and any other column of a step, in step with the time.
import type { App } from './app';
import { h } from './dom';
import { Plot, type Line } from './plot';

interface PlotDef { title: string; unit: string; columns: string[]; log?: boolean }

const standard: PlotDef[] = [
  { title: 'Energy', unit: 'J', columns: ['kinetic', 'potential', 'elastic'] },
  { title: 'Losses so far', unit: 'J', columns: ['friction_loss', 'impact_loss', 'damping_loss', 'numerical_loss'] },
  { title: 'Relative residual', unit: '', columns: ['asked_relative'], log: true },
  { title: 'Contacts', unit: '', columns: ['candidates', 'active'] },
];
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

  /** Columns of numbers by step, and of statistics by frame. */
  private choices(): string[] {
    return Object.entries(this.app.run.description.columns)
      .filter(([c, d]) => (c.startsWith('steps/') || c.startsWith('statistics/')) && d.width === 1 && !c.endsWith('/time') && !c.endsWith('/step'))
      .map(([c]) => c);
  }

  private async load(): Promise<void> {
    const run = this.app.run, rows = run.column('steps/time')?.rows ?? 0;
    if (rows === this.loaded) return;
    this.loaded = rows;
    const boxes: HTMLElement[] = [];
    this.plots = [];
    const time = await run.readAll('steps/time', 'f8');
    for (const def of [...standard, ...this.extra]) {
      const lines: Line[] = [];
      for (const c of def.columns) {
        const path = c.includes('/') ? c : `steps/${c}`;
        if (!run.column(path)) continue;
        const y = await run.readAll(path, 'f8');
        if (!def.log && def.columns.length > 1 && y.every((v) => v === 0)) continue;
        if (summed.has(c)) for (let i = 1; i < y.length; i++) y[i] += y[i - 1];
        const own = path.startsWith('statistics/') ? `${path.slice(0, path.lastIndexOf('/'))}/time` : null;
        lines.push({ label: c.replace(/^(steps|statistics)\//, '').replace('_loss', '').replaceAll('_', ' '), x: own ? await run.readAll(own, 'f8') : time, y });
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
      this.extra.push({ title: list.value.replace(/^(steps|statistics)\//, '').replaceAll('_', ' '), unit: column.unit, columns: [list.value] });
      this.loaded = -1;
      void this.load();
    };
    return h('div', {}, list);
  }
}
