// controls.ts - what surrounds the picture: the legend of the colours, the timeline, the keys, and the panel of
// settings on the right.
import type { App } from './app';
import { fieldsOf } from './cell';
import { gradientStops, marksOf, scalesOf, type Scale } from './caption';
import { css, kindColours } from './quantities';
import { digits, h, nextTheme } from './dom';
import { savePicture, Recorder } from './film';
import type { ShowOptions } from './runview';
import { Inspector } from './inspector';
import { Plots } from './plots';
import { endServer } from './source';
import type { StandardView } from './stage';

// ---- the legend: what the colours mean ----------------------------------------------------------

export function legend(app: App): HTMLElement {
  const element = h('section', { class: 'card legend', 'aria-label': 'What the colours mean' });
  const bar = (s: Scale): HTMLElement[] => [
    Object.assign(h('div', { class: 'bar' }), { style: `background:linear-gradient(90deg, ${gradientStops(s).join(',')})` }),
    h('div', { class: 'ends' }, ...marksOf(s).map((text) => h('span', {}, text))),
  ];
  let key = '';

  function kinds(list: NonNullable<Scale['kinds']>): HTMLElement {
    const material = app.quantity.key === 'material';
    return h('div', { class: 'kinds' }, ...list.map(({ index, name, colour }) => {
      const b = h('button', { class: material && app.view.hiddenMaterials.has(index) ? 'off' : '', title: material ? 'Hide or show' : '' },
        Object.assign(h('i', {}), { style: `background:${colour}` }), name);
      if (material) b.onclick = () => app.toggleMaterial(index);
      return b;
    }));
  }

  function show(): void {
    const scales = scalesOf(app), now = JSON.stringify([scales, [...app.view.hiddenMaterials]]);
    if (now === key) return;
    key = now;
    element.hidden = scales.length === 0;
    element.replaceChildren(...scales.map((s) => h('div', {}, h('div', {}, h('b', {}, s.label), ' ', h('span', { class: 'unit' }, s.unit)), ...(s.kinds ? [kinds(s.kinds)] : bar(s)))));
  }
  app.on('colour', show);
  app.on('options', show);
  return element;
}

// ---- the bar at the bottom: play, scrub, step, speed, loop --------------------------------------

const icon = (path: string): HTMLElement => {
  const e = h('span', {});
  e.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
  return e;
};
const paths = { play: 'M3 1.5v13l11-6.5z', pause: 'M3 2h3.6v12H3zM9.4 2H13v12H9.4z', back: 'M12 2v12L5 8zM3 2h2v12H3z', next: 'M4 2v12l7-6zM11 2h2v12h-2z' };

export function timeline(app: App): HTMLElement {
  const play = h('button', { class: 'play', 'aria-label': 'Play', title: 'Play or pause (space)' });
  const back = h('button', { class: 'icon', 'aria-label': 'One frame back', title: 'One frame back (,)' }, icon(paths.back));
  const next = h('button', { class: 'icon', 'aria-label': 'One frame on', title: 'One frame on (.)' }, icon(paths.next));
  const scrub = h('input', { type: 'range', min: '0', max: '1', step: 'any', 'aria-label': 'Time' });
  const time = h('div', { class: 'time' });
  const speed = h('select', { 'aria-label': 'Speed', title: 'Speed' },
    ...[0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10].map((v) => h('option', { value: String(v) }, `${v} ×`)));
  const live = h('button', { title: 'Follow the newest frame of the run' }, 'Live');
  const loop = h('button', { class: 'wide', title: 'Repeat from the start (L)' }, 'Loop');

  play.onclick = () => app.play(!app.playing);
  back.onclick = () => void app.step(-1);
  next.onclick = () => void app.step(1);
  let held = false;
  scrub.onpointerdown = () => { held = true; };
  scrub.onpointerup = scrub.onchange = () => { held = false; void app.seek(app.time); };
  scrub.oninput = () => {
    app.followTail = false;
    if (app.playing) app.play(false);
    void app.seek(Number(scrub.value), held);
  };
  speed.onchange = () => { app.speed = Number(speed.value); };
  live.onclick = () => { app.followTail = true; if (app.playing) app.play(false); void app.seek(app.end); };
  loop.onclick = () => { app.loop = !app.loop; show(); };

  function show(): void {
    if (![...speed.options].some((o) => Number(o.value) === app.speed)) speed.prepend(h('option', { value: String(app.speed) }, `${app.speed} ×`));
    speed.value = String(app.speed);
    play.replaceChildren(icon(app.playing ? paths.pause : paths.play));
    play.setAttribute('aria-label', app.playing ? 'Pause' : 'Play');
    loop.setAttribute('aria-pressed', String(app.loop));
  }
  function frame(): void {
    live.hidden = !app.run.grows;
    live.setAttribute('aria-pressed', String(app.followTail));
    scrub.min = String(app.start);
    scrub.max = String(app.end);
    if (!held) scrub.value = String(app.time);
    const k = app.run.frameAt(app.time);
    time.replaceChildren(`${digits(Number(app.time.toFixed(4)), 5)} s `, h('small', {}, `· ${k + 1}/${app.run.frames}`));
    scrub.setAttribute('aria-valuetext', `${digits(app.time)} seconds`);
  }
  app.on('frame', frame);
  app.on('runs', frame);
  app.on('playing', show);
  app.on('options', show);
  show();
  return h('div', { class: 'card bar-bottom', role: 'group', 'aria-label': 'Time' }, play, back, next, scrub, time, live, speed, loop);
}

// ---- everything by the keyboard -----------------------------------------------------------------

interface Key { keys: string[]; text: string; run(app: App, panel: Panel): void }

const toggle = (name: 'chains' | 'velocities' | 'joints' | 'walls' | 'trails') => (app: App): void => void app.set({ [name]: !app.options[name] });

/** The next body, in the order of the file. */
function selectNext(app: App, by: number): void {
  const f = app.frame;
  if (!f || f.count === 0) return;
  const rows = Array.from(f.row).filter((r) => app.run.isDynamic(r));
  const at = rows.indexOf(app.view.selected);
  app.select(rows[(at + by + rows.length) % rows.length]);
}

const table: Key[] = [
  { keys: [' '], text: 'play or pause', run: (a) => a.play(!a.playing) },
  { keys: [',', '.'], text: 'one frame back, on', run: () => undefined },
  { keys: ['Home', 'End'], text: 'first, last frame', run: () => undefined },
  { keys: ['L'], text: 'loop', run: (a) => { a.loop = !a.loop; a.changed('playing'); } },
  { keys: ['←', '→', '↑', '↓'], text: 'turn the view', run: () => undefined },
  { keys: ['+', '-'], text: 'nearer, farther', run: () => undefined },
  { keys: ['0'], text: 'fit everything in', run: (a) => a.stage.look('home') },
  { keys: ['1', '2', '3'], text: 'from the front, the right, above', run: () => undefined },
  { keys: ['N', 'B'], text: 'select the next body, the one before', run: () => undefined },
  { keys: ['F'], text: 'follow the selected body', run: (a) => a.setFollowing(!a.following && a.view.selected >= 0) },
  { keys: ['H'], text: 'hide it', run: (a) => { if (a.view.selected >= 0) a.hide(a.view.selected); } },
  { keys: ['I'], text: 'isolate it with what touches it', run: (a, p) => { if (a.view.selected >= 0) a.isolate(p.inspector.touching(a.view.selected)); } },
  { keys: ['U'], text: 'show all again', run: (a) => a.showAll() },
  { keys: ['G'], text: 'bodies solid, of glass, off', run: (a) => void a.set({ bodies: a.options.bodies === 'solid' ? 'glass' : a.options.bodies === 'glass' ? 'hidden' : 'solid' }) },
  { keys: ['K'], text: 'next colour', run: (a) => void a.setQuantity(a.quantities[(a.quantities.indexOf(a.quantity) + 1) % a.quantities.length]) },
  { keys: ['R'], text: 'fit colours and force chains to what is visible', run: (a) => a.rescale() },
  { keys: ['C'], text: 'force chains', run: toggle('chains') },
  { keys: ['V'], text: 'velocities', run: toggle('velocities') },
  { keys: ['J'], text: 'joints', run: toggle('joints') },
  { keys: ['W'], text: 'walls', run: toggle('walls') },
  { keys: ['T'], text: 'trails', run: toggle('trails') },
  { keys: ['X'], text: 'cut open', run: (a) => a.setClip({ on: !a.clip.on }) },
  { keys: ['P'], text: 'plots', run: (_a, p) => p.plots.toggle() },
  { keys: ['S'], text: 'save a picture', run: (a) => void savePicture(a) },
  { keys: ['D'], text: 'dark, light, high contrast', run: (a) => nextTheme(a) },
  { keys: ['Esc'], text: 'select nothing', run: (a) => a.select(-1) },
];

const turns: Record<string, [number, number]> = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.12], ArrowDown: [0, 0.12] };

function special(app: App, key: string): boolean {
  if (turns[key]) app.stage.turn(...turns[key]);
  else if (key === ',' || key === '.') void app.step(key === '.' ? 1 : -1);
  else if (key === 'Home' || key === 'End') void app.seek(key === 'Home' ? app.start : app.end);
  else if (key === '+' || key === '=' || key === '-') app.stage.zoom(key === '-' ? 1 / 1.15 : 1.15);
  else if ('123'.includes(key)) app.stage.look((['front', 'right', 'top'] as const)[Number(key) - 1]);
  else if (key === 'n' || key === 'b') selectNext(app, key === 'n' ? 1 : -1);
  else if (key === '?') (document.querySelector('dialog.keys') as HTMLDialogElement).showModal();
  else return false;
  return true;
}

export function keys(app: App, panel: Panel): HTMLElement {
  document.addEventListener('keydown', (e) => {
    const on = e.target instanceof HTMLElement ? e.target : document.body;
    if (e.ctrlKey || e.metaKey || e.altKey || on.closest('dialog') || /^(SELECT|TEXTAREA)$/.test(on.tagName)) return;
    const typing = on instanceof HTMLInputElement && on.type !== 'checkbox';
    if (typing && (on.type !== 'range' || e.key.startsWith('Arrow') || e.key === 'Home' || e.key === 'End')) return;
    if (e.key === ' ' && (on.tagName === 'BUTTON' || on.tagName === 'SUMMARY' || on instanceof HTMLInputElement)) return;
    if (special(app, e.key)) { e.preventDefault(); return; }
    const name = e.key === 'Escape' ? 'Esc' : e.key.length === 1 ? e.key.toUpperCase() : e.key;
    const found = table.find((k) => k.keys.includes(name));
    if (!found) return;
    e.preventDefault();
    found.run(app, panel);
  });
  const rows = table.map((k) => h('tr', {}, h('td', {}, ...k.keys.flatMap((x) => [h('kbd', {}, x === ' ' ? 'space' : x), ' '])), h('td', {}, k.text)));
  const close = h('button', {}, 'Close');
  const dialog = h('dialog', { class: 'keys' }, h('h2', {}, 'Keys'), h('table', {}, h('tbody', {}, ...rows)), close);
  close.onclick = () => dialog.close();
  return dialog;
}

// ---- the panel of settings ----

function section(name: string, open: boolean, ...children: (HTMLElement | null)[]): HTMLDetailsElement {
  return h('details', { open }, h('summary', {}, name), h('div', { class: 'body' }, ...children));
}

function check(label: string, key: string, get: () => boolean, set: (on: boolean) => void, app: App): HTMLElement {
  const box = h('input', { type: 'checkbox' });
  box.onchange = () => set(box.checked);
  const show = (): void => { box.checked = get(); };
  app.on('options', show);
  show();
  return h('label', { class: 'check' }, box, label, key ? h('kbd', { 'aria-hidden': 'true' }, key) : null);
}

function colourSection(app: App): HTMLElement {
  const list = h('select', { 'aria-label': 'Colour by' }, ...app.quantities.map((q) => h('option', { value: q.key }, q.label)));
  list.onchange = () => void app.setQuantity(app.quantities.find((q) => q.key === list.value)!);
  const low = h('input', { type: 'number', step: 'any', 'aria-label': 'Least value' });
  const high = h('input', { type: 'number', step: 'any', 'aria-label': 'Largest value' });
  const fix = h('input', { type: 'checkbox' });
  const fixing = h('label', { class: 'check' }, fix, 'Fix range'), ends = h('div', { class: 'row' }, low, '–', high);
  const apply = (): void => { app.fixedRange = fix.checked ? [Number(low.value), Number(high.value)] : null; app.recolour(); app.stage.redraw(); };
  fix.onchange = low.onchange = high.onchange = apply;
  app.on('colour', () => {
    list.value = app.quantity.key;
    fixing.hidden = ends.hidden = app.quantity.kinds !== undefined;
    fix.checked = app.fixedRange !== null;
    if (document.activeElement !== low) low.value = String(Number(app.range[0].toPrecision(4)));
    if (document.activeElement !== high) high.value = String(Number(app.range[1].toPrecision(4)));
    low.disabled = high.disabled = !fix.checked;
  });
  const rescale = Object.assign(h('button', { title: 'Fit the ranges of colours and force chains to what is visible now (R)' }, 'Rescale'), { onclick: () => app.rescale() });
  return section('Colour by', true, list,
    h('div', { class: 'row' }, fixing, rescale), ends);
}

function bodiesSegment(app: App): HTMLElement {
  const modes: [ShowOptions['bodies'], string][] = [['solid', 'Solid'], ['glass', 'Glass'], ['hidden', 'Off']];
  const seg = h('div', { class: 'seg', role: 'group', 'aria-label': 'Bodies' }, ...modes.map(([mode, text]) =>
    Object.assign(h('button', { value: mode }, text), { onclick: () => void app.set({ bodies: mode }) })));
  const show = (): void => { for (const b of seg.querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.value === app.options.bodies)); };
  app.on('options', show);
  show();
  return h('div', { class: 'row' }, h('span', {}, 'Bodies'), seg);
}

function showSection(app: App): HTMLElement {
  const flag = (label: string, key: string, name: keyof ShowOptions): HTMLElement =>
    check(label, key, () => Boolean(app.options[name]), (on) => void app.set({ [name]: on } as Partial<ShowOptions>), app);
  const least = h('input', { type: 'range', min: '0', max: '0.8', step: '0.01', value: String(app.options.threshold), 'aria-label': 'Least force shown' });
  least.oninput = () => void app.set({ threshold: Number(least.value) });
  const contacts = app.run.hasContacts;
  const joints = (app.run.column('joints/kind')?.rows ?? 0) > 0;
  return section('Show', true, bodiesSegment(app),
    contacts ? flag('Force chains', 'C', 'chains') : null,
    contacts ? h('div', { class: 'row' }, h('label', { class: 'unit' }, 'weakest shown'), least) : null,
    contacts ? flag('Contact points', '', 'contacts') : null,
    contacts ? flag('Contact forces', '', 'normals') : null,
    flag('Velocities', 'V', 'velocities'), joints ? flag('Joints', 'J', 'joints') : null,
    flag('Walls', 'W', 'walls'), app.run.periodic ? flag('Periodic cell', '', 'cell') : null, flag('Trails', 'T', 'trails'), app.run.dimension === 3 ? flag('Marks that show spin', '', 'marks') : null);
}

/** Fields that the run measured, on a plane where the scene is cut; none: there is no such section. */
function fieldSection(app: App): HTMLElement | null {
  const fields = fieldsOf(app.run);
  if (fields.length === 0) return null;
  const list = h('select', { 'aria-label': 'Field' }, h('option', { value: '' }, 'None'), ...fields.map((f) => h('option', { value: f.key }, f.label)));
  list.onchange = () => void app.setField(fields.find((f) => f.key === list.value) ?? null);
  app.on('options', () => { list.value = app.field?.key ?? ''; });
  return section('Field', true, list, app.run.dimension === 3 ? h('div', { class: 'unit' }, 'at the place of “Cut open”') : null);
}

/** Materials can be hidden, or shown alone, whatever the colours mean. */
function materialSection(app: App): HTMLElement | null {
  const list = app.materials(), colours = kindColours(app.quantities.find((q) => q.key === 'material')!.kinds!);
  if (list.length < 2) return null;
  const boxes = list.map((m) => {
    const box = h('input', { type: 'checkbox' }), name = app.run.materialName(m);
    box.onchange = () => app.toggleMaterial(m);
    const only = Object.assign(h('button', { title: `Show ${name} alone; again: all`, 'aria-label': `Only ${name}` }, 'Only'), { onclick: () => app.isolateMaterial(m) });
    const swatch = Object.assign(h('i', { class: 'swatch' }), { style: `background:${css(colours[m] ?? [0.5, 0.5, 0.5])}` });
    return { m, box, row: h('div', { class: 'row' }, h('label', { class: 'check' }, box, swatch, name), only) };
  });
  const show = (): void => { for (const b of boxes) b.box.checked = !app.view.hiddenMaterials.has(b.m); };
  app.on('colour', show);
  show();
  return section('Materials', list.length <= 4, ...boxes.map((b) => b.row));
}

function viewSection(app: App): HTMLElement {
  const views: [StandardView, string][] = app.run.dimension === 2 ? [['home', 'Fit']]
    : [['home', 'Fit'], ['front', 'Front'], ['right', 'Right'], ['top', 'Top'], ['back', 'Back'], ['left', 'Left'], ['bottom', 'Below']];
  const at = h('input', { type: 'range', min: '0', max: '1', step: '0.002', value: '0.5', 'aria-label': 'Where the scene is cut' });
  const axis = h('select', { 'aria-label': 'Cut across' }, ...['x', 'y', 'z'].map((a, i) => h('option', { value: String(i) }, `across ${a}`)));
  const flip = h('button', { title: 'Cut the other side away', 'aria-label': 'Cut the other side away' }, '⇄');
  at.oninput = () => app.setClip({ at: Number(at.value), on: true });
  axis.onchange = () => app.setClip({ axis: Number(axis.value), on: true });
  flip.onclick = () => app.setClip({ flip: !app.clip.flip, on: true });
  return section('View', true,
    h('div', { class: 'grid' }, ...views.map(([v, text]) => Object.assign(h('button', {}, text), { onclick: () => app.stage.look(v) }))),
    check('Cut open', 'X', () => app.clip.on, (on) => app.setClip({ on }), app),
    h('div', { class: 'row' }, axis, at, flip),
    check('Shade in corners', '', () => app.stage.shading, (on) => { app.stage.shading = on; app.stage.redraw(); }, app));
}

function moreSection(app: App, plots: Plots, recorder: Recorder): HTMLElement {
  const button = (text: string, title: string, call: () => void): HTMLElement => Object.assign(h('button', { title }, text), { onclick: call });
  const end = (): void => { void endServer(); document.body.replaceChildren(h('div', { class: 'message' }, h('h1', {}, 'The viewer has ended'), h('p', {}, 'This page can be closed.'))); };
  return section('More', true, h('div', { class: 'links' },
    button('Plots', 'Energy, residual, contacts over time (P)', () => plots.toggle()),
    button('PNG', 'Save this picture (S)', () => void savePicture(app)),
    button('WebM', 'Save the run as a film', () => recorder.toggle()),
    button('Theme', 'Dark, light, high contrast (D)', () => nextTheme(app)),
    button('Keys', 'All keys (?)', () => (document.querySelector('dialog.keys') as HTMLDialogElement).showModal()),
    app.run.source.served ? button('End', 'End the viewer', end) : null));
}

export interface Panel { element: HTMLElement; plots: Plots; inspector: Inspector; menu: HTMLElement; recorder: Recorder }

export function panel(app: App): Panel {
  const plots = new Plots(app), recorder = new Recorder(app);
  const selection = section('Selection', true);
  const element = h('aside', { class: 'card panel', 'aria-label': 'Settings' });
  const inspector = new Inspector(app, () => { selection.open = true; element.classList.add('open'); element.scrollTop = 0; });
  selection.querySelector('.body')!.replaceWith(inspector.element);
  element.append(selection, colourSection(app), showSection(app), ...[fieldSection(app), materialSection(app)].filter((s) => s !== null), viewSection(app), moreSection(app, plots, recorder));
  const menu = h('button', { class: 'menu', 'aria-expanded': 'false' }, 'Settings');
  menu.onclick = () => menu.setAttribute('aria-expanded', String(element.classList.toggle('open')));
  return { element, plots, inspector, menu, recorder };
}
