// panel.ts - the panel of settings on the right.
import type { App } from './app';
import { css, kindColour } from './colormap';
import { h, nextTheme } from './dom';
import { Inspector } from './inspector';
import { Plots } from './plots';
import { Recorder, savePicture } from './film';
import type { ShowOptions } from './runview';
import { endServer } from './source';
import type { StandardView } from './stage';

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
  const apply = (): void => { app.fixedRange = fix.checked ? [Number(low.value), Number(high.value)] : null; app.recolour(); app.stage.redraw(); };
  fix.onchange = low.onchange = high.onchange = apply;
  app.on('colour', () => {
    list.value = app.quantity.key;
    fix.checked = app.fixedRange !== null;
    if (document.activeElement !== low) low.value = String(Number(app.range[0].toPrecision(4)));
    if (document.activeElement !== high) high.value = String(Number(app.range[1].toPrecision(4)));
    low.disabled = high.disabled = !fix.checked;
  });
  const rescale = Object.assign(h('button', { title: 'Fit the colour range to what is visible now (R)' }, 'Rescale'), { onclick: () => app.rescale() });
  return section('Colour by', true, list,
    h('div', { class: 'row' }, h('label', { class: 'check' }, fix, 'Fix range'), rescale), h('div', { class: 'row' }, low, '–', high));
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
    flag('Walls', 'W', 'walls'), flag('Trails', 'T', 'trails'), app.run.dimension === 3 ? flag('Marks that show spin', '', 'marks') : null);
}

/** Materials can be hidden, or shown alone, whatever the colours mean. */
function materialSection(app: App): HTMLElement | null {
  const list = app.materials();
  if (list.length < 2) return null;
  const boxes = list.map((m) => {
    const box = h('input', { type: 'checkbox' }), name = app.run.materialName(m);
    box.onchange = () => app.toggleMaterial(m);
    const only = Object.assign(h('button', { title: `Show ${name} alone; again: all`, 'aria-label': `Only ${name}` }, 'Only'), { onclick: () => app.isolateMaterial(m) });
    const swatch = Object.assign(h('i', { class: 'swatch' }), { style: `background:${css(kindColour(m))}` });
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
  element.append(selection, colourSection(app), showSection(app), ...[materialSection(app)].filter((s) => s !== null), viewSection(app), moreSection(app, plots, recorder));
  const menu = h('button', { class: 'menu', 'aria-expanded': 'false' }, 'Settings');
  menu.onclick = () => menu.setAttribute('aria-expanded', String(element.classList.toggle('open')));
  return { element, plots, inspector, menu, recorder };
}
