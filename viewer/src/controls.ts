// controls.ts - what surrounds the picture: the legend of the colours, the timeline, the keys.
import type { App } from './app';
import { css, ember, kindColour, viridis, type Rgb } from './colormap';
import { digits, h, nextTheme } from './dom';
import type { Panel } from './panel';
import { savePicture } from './film';
import { mostChains } from './runview';

// ---- the legend: what the colours mean ----------------------------------------------------------

export function legend(app: App): HTMLElement {
  const element = h('section', { class: 'card legend', 'aria-label': 'What the colours mean' });
  const gradient = (map: (t: number) => Rgb): string => `linear-gradient(90deg, ${Array.from({ length: 11 }, (_, i) => css(map(i / 10))).join(',')})`;
  const scale = (map: (t: number) => Rgb, low: number, high: number): HTMLElement[] => [
    Object.assign(h('div', { class: 'bar' }), { style: `background:${gradient(map)}` }),
    h('div', { class: 'ends' }, ...[low, (low + high) / 2, high].map((v) => h('span', {}, digits(v, 3)))),
  ];
  let key = '';

  function kinds(): HTMLElement {
    const q = app.quantity, seen = new Set<number>();
    const f = app.frame;
    for (let i = 0; f && i < f.count; i++) if (app.run.isDynamic(f.row[i])) seen.add(app.view.values[i]);
    return h('div', { class: 'kinds' }, ...[...seen].sort((a, b) => a - b).slice(0, 24).map((k) => {
      const off = q.key === 'material' && app.view.hiddenMaterials.has(k);
      const b = h('button', { class: off ? 'off' : '', title: q.key === 'material' ? 'Hide or show' : '' },
        Object.assign(h('i', {}), { style: `background:${css(kindColour(k))}` }), q.kinds![k] ?? String(k));
      if (q.key === 'material') b.onclick = () => app.toggleMaterial(k);
      return b;
    }));
  }

  function show(): void {
    const q = app.quantity;
    const forces = app.options.chains || app.options.contacts || app.options.normals ? app.view.forceShown : 0;
    const now = `${app.view.chainsLimited} ${forces} ${q.key} ${app.range} ${app.fixedRange} ${[...app.view.hiddenMaterials]} ${app.frame?.count}`;
    if (now === key) return;
    key = now;
    const head = h('div', {}, h('b', {}, q.label), ' ', h('span', { class: 'unit' }, q.unit));
    element.replaceChildren(h('div', {}, head, ...(q.kinds ? [kinds()] : scale(viridis, ...app.range))));
    if (forces > 0) element.append(h('div', {}, h('div', {}, h('b', {}, 'Force chains'), ' ', h('span', { class: 'unit' }, app.view.chainsLimited ? `N, the strongest ${mostChains.toLocaleString('en')}` : 'N')), ...scale(ember, 0, forces)));
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
  { keys: ['R'], text: 'fit the colour range to what is visible', run: (a) => a.rescale() },
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
