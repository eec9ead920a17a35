// main.ts - builds the page: opens the runs, and puts its parts together.
import { App } from './app';
import { firstTheme, h } from './dom';
import { keys, legend, panel, timeline } from './controls';
import { Run } from './run';
import { pageSource, serverSources, type Source } from './source';
import { applyAddress, film, refusalOf, refuse } from './film';

function message(title: string, text: string): void {
  document.body.append(h('div', { class: 'message' }, h('h1', {}, title), h('p', {}, text)));
}

/** The state of an unfinished run; null: it finished. */
function stateOf(run: Run): [string, string] | null {
  if (run.grows) return ['● running', 'The run is under way; new frames come by themselves'];
  if (run.interrupted) return ['■ interrupted', "Its program was killed: these are the frames up to its last flush. 'cairn resume' continues its checkpoint, if there is one"];
  const ending = String(run.description.attributes['ending'] ?? 'complete');
  return ['interrupted', 'stopped', 'failed'].includes(ending) ? [`■ ${ending}`, String(run.description.attributes['message'] || 'The run ended before its time')] : null;
}

function title(app: App): HTMLElement {
  const line = h('p', {});
  const show = (): void => {
    const count = app.frame?.count ?? 0, c = app.frame ? app.run.contactCount(app.frame.index) : null, state = stateOf(app.run);
    line.replaceChildren(state ? h('span', { class: 'live', title: state[1] }, `${state[0]} · `) : '',
      `${count.toLocaleString('en')} bodies${c === null ? '' : ` · ${c.toLocaleString('en')} contacts`}`);
  };
  app.on('frame', show);
  app.on('runs', show);
  const names = app.runs.length === 2 ? h('div', { class: 'names' }, ...app.runs.map((r) => h('span', {}, r.name))) : null;
  return h('header', { class: 'title' }, h('h1', {}, app.run.title), line, names);
}

/** What to do, for some seconds or until it is done. */
function hint(app: App): void {
  const turn = app.run.dimension === 3 ? 'Drag to turn' : 'Drag to move', touch = matchMedia('(pointer: coarse)').matches || innerWidth <= 760;
  const text = h('span', { class: 'hint' }, touch ? `${turn} · tap a body for its numbers` : `${turn} · scroll to zoom · click a body for its numbers · ? for keys`);
  document.querySelector('.title h1')!.after(text);
  const fade = (): void => { text.style.opacity = '0'; setTimeout(() => text.remove(), 700); };
  setTimeout(fade, 6000);
  app.on('selection', fade);
  app.stage.canvas.addEventListener('pointerdown', fade, { once: true });
}

/** A click that is not a drag picks. */
function picking(app: App): void {
  const c = app.stage.canvas;
  let from: [number, number] = [0, 0];
  c.addEventListener('pointerdown', (e) => { from = [e.clientX, e.clientY]; });
  c.addEventListener('pointerup', (e) => {
    if (e.button !== 0 || Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 4) return;
    const b = c.getBoundingClientRect();
    app.pick(e.clientX - b.left, e.clientY - b.top);
  });
  c.addEventListener('dblclick', () => app.stage.look('home'));
}

async function opened(): Promise<{ sources: Source[]; pictures: boolean }> {
  const inside = await pageSource();
  return inside ? { sources: [inside], pictures: false } : serverSources();
}

async function start(): Promise<void> {
  const { sources, pictures } = await opened(), runs = sources.map((s) => new Run(s));
  for (const r of runs) await r.open();
  document.title = `${runs.map((r) => r.title).join(' | ')} – cairn`;
  const host = h('main', { class: 'stage' });
  document.body.append(host);
  const app = new App(host, runs), words = new URLSearchParams(location.search), refusal = refusalOf(app, words, pictures);
  if (refusal) {
    host.remove();
    if (pictures) await refuse(refusal);
    else message('This address has a word that the viewer does not know', refusal);
    return;
  }
  firstTheme(app);
  const side = panel(app);
  // in the order of the tab key: play comes before the settings
  document.body.append(title(app), timeline(app), side.menu, h('div', { class: 'side' }, legend(app), side.element), side.plots.element, keys(app, side));
  await app.open();
  picking(app);
  // for scripts and tests
  (window as unknown as Record<string, unknown>)['cairn'] = app;
  document.documentElement.dataset['ready'] = 'yes';
  hint(app);
  if (pictures) { await film(app, words); return; }
  await applyAddress(app, words);
  void app.follow();
  if (!app.run.grows && !words.has('still')) app.play(true);
}

start().catch((e: unknown) => message('This run cannot be shown', e instanceof Error ? e.message : String(e)));
