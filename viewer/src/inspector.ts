// inspector.ts - the numbers of what was clicked: a body or a contact, its neighbours, its history.
import type { App } from './app';
import { digits, h } from './dom';
import { Plot } from './plot';
import { contactForce, contactResidual, normalForce } from './quantities';
import { placeOf } from './run';

const vector = (v: ArrayLike<number>): string => Array.from(v, (c) => String(Number(c.toPrecision(4)))).join(', ');

function table(rows: [string, string][]): HTMLElement {
  return h('table', {}, h('tbody', {}, ...rows.map(([k, v]) => h('tr', {}, h('th', { scope: 'row' }, k), h('td', {}, v)))));
}

export class Inspector {
  readonly element = h('div', { class: 'body' });
  private turn = 0;
  private plot: Plot | null = null;
  private history: { row: number; frames: number } = { row: -1, frames: 0 };

  constructor(private app: App, reveal: () => void) {
    app.on('selection', () => { if (app.view.selected >= 0 || app.view.selectedContact >= 0) reveal(); void this.show(); });
    app.on('frame', () => { if (!app.playing) void this.show(); this.plot?.at(app.time); });
    void this.show();
  }

  private async show(): Promise<void> {
    const mine = ++this.turn, { selected, selectedContact } = this.app.view;
    if (selected >= 0) await this.showBody(selected, mine);
    else if (selectedContact >= 0) this.showContact(selectedContact);
    else this.element.replaceChildren(h('span', { class: 'unit' }, 'Click a body, or a force chain, to see its numbers.'));
  }

  private async showBody(row: number, mine: number): Promise<void> {
    const { app } = this, run = app.run, f = app.frame;
    if (!f) return;
    const place = placeOf(f, row);
    const rows: [string, string][] = [
      ['shape', run.kind(row).replaceAll('_', ' ')], ['material', run.materialName(run.bodies.material[row])],
    ];
    if (run.bodies.mass[row] > 0) rows.push(['mass', `${digits(run.bodies.mass[row])} kg`]);
    if (run.bodies.radius[row] > 0) rows.push(['radius', `${digits(run.bodies.radius[row])} m`]);
    if (place < 0) rows.push(['', 'not there at this time']);
    else {
      const n = await run.exact(f.index, place);
      if (mine !== this.turn) return;
      rows.push(['position', `${vector(n['x'])} m`], ['velocity', `${vector(n['v'])} m/s`],
        ['speed', `${digits(Math.hypot(...n['v']))} m/s`], ['spin', `${digits(Math.hypot(...n['omega']))} rad/s`]);
      const value = app.view.values[place];
      if (app.quantity.key !== 'speed' && app.quantity.key !== 'spin')
        rows.push([app.quantity.label.toLowerCase(), app.quantity.kinds?.[value] ?? `${digits(value)} ${app.quantity.unit}`]);
    }
    this.element.replaceChildren(h('b', { class: 'name' }, run.bodyName(row)), table(rows), ...this.neighbours(row), this.buttons(row));
    await this.showHistory(row);
  }

  private neighbours(row: number): HTMLElement[] {
    const { app } = this, c = app.frame?.contacts;
    if (!c) return [];
    const list: [number, number, number][] = []; // force, contact, other
    for (let k = 0; k < c.count; k++)
      for (let s = 0; s < 2; s++)
        if (c.body[2 * k + s] === row) list.push([normalForce(app.run, c, k), k, c.body[2 * k + 1 - s]]);
    const pushing = list.filter((l) => l[0] > 0).sort((a, b) => b[0] - a[0]);
    const label = h('span', { class: 'unit' }, `${pushing.length} contacts push, ${list.length - pushing.length} are near`);
    return [label, h('div', { class: 'links' }, ...pushing.slice(0, 12).map(([force, k, other]) => {
      const b = h('button', { title: `contact ${k}: normal force ${digits(force)} N` }, `${app.run.bodies.names.get(other) ?? other}: ${digits(force, 3)} N`);
      b.onclick = () => app.select(other);
      return b;
    }))];
  }

  private buttons(row: number): HTMLElement {
    const { app } = this;
    const make = (text: string, title: string, call: () => void, pressed?: boolean): HTMLElement => {
      const b = h('button', { title }, text);
      b.onclick = call;
      if (pressed !== undefined) b.setAttribute('aria-pressed', String(pressed));
      return b;
    };
    return h('div', { class: 'links' },
      make('Follow', 'Keep it in view (F)', () => { app.setFollowing(!app.following); void this.show(); }, app.following),
      make('Trail', 'Show where it was', () => { void app.set({ trails: !app.options.trails }); }, app.options.trails),
      make('Hide', 'Hide it (H)', () => app.hide(row)),
      make('Isolate', 'Only it and what touches it (I)', () => app.isolate(this.touching(row))),
      make('Show all', 'Show what was hidden (U)', () => app.showAll()));
  }

  /** A body and those that push against it. */
  touching(row: number): number[] {
    const c = this.app.frame?.contacts, out = [row];
    for (let k = 0; c && k < c.count; k++)
      for (let s = 0; s < 2; s++)
        if (c.body[2 * k + s] === row && c.body[2 * k + 1 - s] >= 0 && normalForce(this.app.run, c, k) > 0) out.push(c.body[2 * k + 1 - s]);
    return out;
  }

  private showContact(k: number): void {
    const { app } = this, run = app.run, c = app.frame?.contacts;
    if (!c || k >= c.count) { this.element.replaceChildren(h('span', { class: 'unit' }, 'This contact is not there at this time.')); return; }
    const f = [0, 0, 0], d = run.dimension;
    contactForce(run, c, k, f);
    const tangent = Math.hypot(...Array.from(c.impulse.subarray(d * k + 1, d * k + d))) / run.timeStep, normal = normalForce(run, c, k);
    const slide = Math.hypot(...Array.from(c.velocity.subarray(d * k + 1, d * k + d)));
    const ends = [0, 1].map((s) => c.body[2 * k + s]);
    this.element.replaceChildren(h('b', { class: 'name' }, `contact ${k}`),
      h('div', { class: 'links' }, ...ends.map((row) => Object.assign(h('button', {}, row < 0 ? 'gone' : run.bodyName(row)), { onclick: () => app.select(row) }))),
      table([['normal force', `${digits(normal)} N`], ['friction', `${digits(tangent)} N`], ['of its limit', c.mu[k] * normal > 0 ? `${digits((100 * tangent) / (c.mu[k] * normal), 3)} %` : '–'],
        ['force', `${vector(f)} N`], ['mu', digits(c.mu[k])], ['slides at', `${digits(slide)} m/s`], ['gap', `${digits(c.gap[k])} m`],
        ['residual', `${digits(contactResidual(run, c, k), 2)} m/s`], ['point', `${vector(c.point.subarray(3 * k, 3 * k + 3))} m`], ['normal', vector(c.normal.subarray(3 * k, 3 * k + 3))]]));
  }

  // the speed over the frames: at most some hundred of them are read
  private async showHistory(row: number): Promise<void> {
    const { app } = this, run = app.run;
    if (app.large) return;
    if (!this.plot || this.history.row !== row || this.history.frames !== run.frames) {
      const plot = new Plot('History', 'speed in m/s'), x: number[] = [], y: number[] = [];
      plot.onSeek = (t) => void app.seek(t);
      this.plot = plot;
      this.history = { row, frames: run.frames };
      const every = Math.max(1, Math.ceil(run.frames / 240));
      for (let k = 0; k < run.frames && this.plot === plot; k += every) {
        const f = await run.frame(k, 'places'), i = placeOf(f, row);
        if (i < 0 || !f.v) continue;
        x.push(f.time);
        y.push(Math.hypot(f.v[3 * i], f.v[3 * i + 1], f.v[3 * i + 2]));
      }
      if (this.plot !== plot) return;
      plot.set([{ label: 'speed', x, y }], [app.start, app.end]);
    }
    if (app.view.selected === row && this.plot) { this.element.append(this.plot.element); this.plot.at(app.time); }
  }
}
