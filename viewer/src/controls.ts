// keys.ts - everything by the keyboard.
import type { App } from './app';
import { h } from './dom';
import type { Panel } from './panel';
import { savePicture } from './record';
import { nextTheme } from './theme';

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
  { keys: ['R'], text: 'let the colours span what is seen now', run: (a) => a.rescale() },
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
