// inspector.ts - details of the selected body or contact: its numbers, neighbours and history.
import type { App } from './app';
import { digits, h } from './dom';
import { Plot, type Line } from './plots';
import { contactForce, contactResidual, normalForce } from './quantities';
import { placeOf } from './run';

const vector = (v: ArrayLike<number>): string => Array.from(v, (c) => String(Number(c.toPrecision(4)))).join(', ');

function table(rows: [string, string][]): HTMLElement {
  return h('table', {}, h('tbody', {}, ...rows.map(([k, v]) => h('tr', {}, h('th', { scope: 'row' }, k), h('td', {}, v)))));
}

export class Inspector {
  readonly element = h('div', { class: 'body', 'aria-live': 'polite' });
  private turn = 0;
  private plot: Plot | null = null;
  private historyKey = '';

  constructor(private app: App, reveal: () => void) {
    app.on('selection', () => { if (app.view.selected >= 0 || app.view.selectedPair) reveal(); void this.show(); });
    app.on('frame', () => { if (!app.playing) void this.show(); this.plot?.at(app.time); });
    void this.show();
  }

  private async show(): Promise<void> {
    const mine = ++this.turn, { selected, selectedPair } = this.app.view;
    if (selected >= 0) await this.showBody(selected, mine);
    else if (selectedPair) await this.showContact(this.app.view.selectedContact, selectedPair.a, selectedPair.b);
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
    await this.showHistory(`body ${row} `, ['Speed', 'm/s'], () => this.speeds(row));
  }

  private neighbours(row: number): HTMLElement[] {
    const { app } = this, c = app.frame?.contacts;
    if (!c) return [];
    const list: [number, number][] = []; // force, other
    for (let k = 0; k < c.count; k++)
      for (let s = 0; s < 2; s++)
        if (c.body[2 * k + s] === row) list.push([normalForce(app.run, c, k), c.body[2 * k + 1 - s]]);
    const pushing = list.filter((l) => l[0] > 0).sort((a, b) => b[0] - a[0]);
    const label = h('span', { class: 'unit' }, `Pushed at ${pushing.length} contact${pushing.length === 1 ? '' : 's'}${list.length > pushing.length ? `, ${list.length - pushing.length} more near` : ''}`);
    return [label, h('div', { class: 'links' }, ...pushing.slice(0, 12).map(([force, other]) => {
      const b = h('button', { title: `${app.run.bodyName(other)} pushes with ${digits(force)} N; select it`, 'aria-label': `${app.run.bodyName(other)}, ${digits(force, 3)} N` }, `${app.run.bodies.names.get(other) ?? other}: ${digits(force, 3)} N`);
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
      make('Hide material', `Hide all bodies of ${this.materialOf(row)}`, () => { app.toggleMaterial(app.run.bodies.material[row]); app.select(-1); }),
      make('Only material', `Only bodies of ${this.materialOf(row)}`, () => app.isolateMaterial(app.run.bodies.material[row])),
      make('Show all', 'Show what was hidden (U)', () => app.showAll()));
  }

  private materialOf(row: number): string { return this.app.run.materialName(this.app.run.bodies.material[row]); }

  /** A body and those that push against it. */
  touching(row: number): number[] {
    const c = this.app.frame?.contacts, out = [row];
    for (let k = 0; c && k < c.count; k++)
      for (let s = 0; s < 2; s++)
        if (c.body[2 * k + s] === row && c.body[2 * k + 1 - s] >= 0 && normalForce(this.app.run, c, k) > 0) out.push(c.body[2 * k + 1 - s]);
    return out;
  }

  private async showContact(k: number, a: number, b: number): Promise<void> {
    const { app } = this, run = app.run, name = (row: number): string => (row < 0 ? 'gone' : run.bodyName(row));
    this.element.replaceChildren(h('b', { class: 'name' }, `contact of ${name(a)} and ${name(b)}`),
      h('div', { class: 'links' }, ...[a, b].filter((row) => row >= 0).map((row) => Object.assign(h('button', {}, name(row)), { onclick: () => app.select(row) }))),
      k >= 0 ? table(this.contactNumbers(k)) : h('span', { class: 'unit' }, 'They do not touch at this time.'));
    await this.showHistory(`pair ${a} ${b} `, ['All contacts of the two', 'N'], () => this.forces(a, b));
  }

  private contactNumbers(k: number): [string, string][] {
    const { app } = this, run = app.run, c = app.frame!.contacts!, f = [0, 0, 0], d = run.dimension;
    contactForce(run, c, k, f);
    const tangent = Math.hypot(...Array.from(c.impulse.subarray(d * k + 1, d * k + d))) / c.timeStep, normal = normalForce(run, c, k);
    const slide = Math.hypot(...Array.from(c.velocity.subarray(d * k + 1, d * k + d)));
    return [['normal force', `${digits(normal)} N`], ['friction', `${digits(tangent)} N`],
      ['of its limit', c.mu[k] * normal > 0 ? `${digits((100 * tangent) / (c.mu[k] * normal), 3)} %` : '–'],
      ['force', `${vector(f)} N`], ['mu', digits(c.mu[k])], ['slides at', `${digits(slide)} m/s`], ['gap', `${digits(c.gap[k])} m`],
      ['residual', `${digits(contactResidual(run, c, k), 2)} m/s`], ['point', `${vector(c.point.subarray(3 * k, 3 * k + 3))} m`],
      ['normal', vector(c.normal.subarray(3 * k, 3 * k + 3))]];
  }

  // ---- history ------------------------------------------------------------------------------------

  /** The plot of the selection, remade when it changes or new frames arrive. */
  private async showHistory(key: string, [title, unit]: [string, string], load: () => Promise<Line[]>): Promise<void> {
    const { app } = this, whole = `${key} ${app.run.frames}`;
    if (this.historyKey !== whole) {
      const plot = new Plot(title, unit);
      plot.onSeek = (t) => void app.seek(t);
      this.historyKey = whole;
      this.plot = plot;
      this.element.append(h('span', { class: 'unit loading' }, 'Reading its history…'));
      const lines = await load();
      if (this.plot !== plot) return;
      plot.set(lines, [app.start, app.end]);
    }
    if (!this.historyKey.startsWith(this.selectedKey()) || !this.plot) return;
    this.element.querySelector('.loading')?.remove();
    this.element.append(this.plot.element);
    this.plot.at(app.time);
  }

  private selectedKey(): string {
    const { selected, selectedPair } = this.app.view;
    return selected >= 0 ? `body ${selected} ` : selectedPair ? `pair ${selectedPair.a} ${selectedPair.b} ` : 'nothing';
  }

  /** Its speed in at most 240 frames. */
  private async speeds(row: number): Promise<Line[]> {
    const { run } = this.app, x: number[] = [], y: number[] = [], frames = run.someFrames(this.app.large ? 80 : 240), key = this.historyKey;
    // a few at a time, so that other requests are served in between
    for (let i = 0; i < frames.length && this.historyKey === key; i += 15) {
      const part = frames.slice(i, i + 15), found = await run.history(part, row, ['frames/bodies/v']);
      found.forEach((v, j) => { if (v) { x.push(run.time[part[j]]); y.push(Math.hypot(...v[0])); } });
    }
    return [{ label: 'speed', x, y }];
  }

  /** Forces between two bodies; the more contacts frames have, the fewer of them are read: 4 million contacts at most. */
  private async forces(a: number, b: number): Promise<Line[]> {
    const { run } = this.app, most = Math.floor((4e6 * run.frames) / Math.max(1, run.contactRows));
    const frames = run.someFrames(Math.min(240, Math.max(8, most))), normal: number[] = [], friction: number[] = [], key = this.historyKey;
    for (const k of frames) {
      if (this.historyKey !== key) break; // something else was selected
      const f = await run.pairForce(k, a, b);
      normal.push(f[0]);
      friction.push(f[1]);
    }
    const x = frames.slice(0, normal.length).map((k) => run.time[k]);
    return [{ label: 'normal force', x, y: normal }, { label: 'friction', x, y: friction }];
  }
}
