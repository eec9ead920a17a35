// film.ts - the words of the address of the page, and pictures and films of what is shown: for `cairn export`,
// and by the buttons of the page.
import type { App } from './app';
import { captioned, captionHeight } from './caption';
import { fieldsOf } from './cell';
import { save, themes } from './dom';
import type { ShowOptions } from './runview';
import type { StandardView } from './stage';

// ---- the words of the address: ?color=force&bodies=glass&chains=1&view=front&theme=dark&field=solid&cut=y ----

/** What a word may be in this run, and what it does; `still`, `theme` and `legend` are read elsewhere. */
interface Word { values(app: App): string[]; apply?(app: App, value: string): unknown }

const views: StandardView[] = ['home', 'front', 'back', 'left', 'right', 'top', 'bottom'];
const modes: ShowOptions['bodies'][] = ['solid', 'glass', 'hidden'];
const axes = ['x', 'y', 'z'];
const shows = (name: 'chains' | 'contacts' | 'velocities' | 'joints' | 'walls' | 'cell'): Word =>
  ({ values: () => ['0', '1'], apply: (app, value) => app.set({ [name]: value === '1' }) });

const table: Record<string, Word> = {
  color: { values: (app) => app.quantities.map((q) => q.key), apply: (app, value) => app.setQuantity(app.quantities.find((q) => q.key === value)!) },
  field: { values: (app) => fieldsOf(app.run).map((f) => f.key), apply: (app, value) => app.setField(fieldsOf(app.run).find((f) => f.key === value)!) },
  // what is in front goes
  cut: { values: () => axes, apply: (app, value) => app.setClip({ on: true, axis: axes.indexOf(value), flip: value === 'y' }) },
  bodies: { values: () => modes, apply: (app, value) => app.set({ bodies: value as ShowOptions['bodies'] }) },
  chains: shows('chains'), contacts: shows('contacts'), velocities: shows('velocities'), joints: shows('joints'), walls: shows('walls'), cell: shows('cell'),
  view: { values: () => views, apply: (app, value) => app.stage.look(value as StandardView) },
  theme: { values: () => themes },
  legend: { values: () => ['0', '1'] },
  still: { values: () => ['', '1'] },
};
const filming = ['film', 'rate', 'width', 'height']; // of `cairn export`: numbers

/** Why the address cannot be followed; null: it can. `pictures`: it is that of `cairn export`. */
export function refusalOf(app: App, words: URLSearchParams, pictures: boolean): string | null {
  const seen = new Set<string>();
  for (const [name, value] of words) {
    if (pictures && filming.includes(name) && !seen.has(name)) { seen.add(name); continue; }
    if (!Object.hasOwn(table, name)) return `found '${name}', expected ${Object.keys(table).join(', ')}`;
    if (seen.has(name)) return `found ${name} twice`;
    seen.add(name);
    const values = table[name].values(app);
    if (!values.includes(value)) return `found ${name}=${value}, ${values.length > 0 ? `expected ${values.filter((v) => v).join(', ')}` : `but this run has no ${name}`}`;
  }
  return null;
}

export async function applyAddress(app: App, words: URLSearchParams): Promise<void> {
  for (const [name, word] of Object.entries(table)) if (words.has(name)) await word.apply?.(app, words.get(name)!);
}

// ---- for `cairn export`: pictures that the address requests, sent to its server -----------------

async function send(app: App, legend: boolean): Promise<void> {
  await fetch('picture', { method: 'POST', body: await (legend ? captioned(app) : app.stage.picture()) });
}

/** The server passes the reason on, and ends. */
export async function refuse(reason: string): Promise<void> { await fetch('refusal', { method: 'POST', body: reason }); }

/** One picture at a time of the run, or all of them from start to end; then the server may end. */
export async function film(app: App, words: URLSearchParams): Promise<void> {
  const time = Number(words.get('film')), rate = Number(words.get('rate')) || 30;
  const width = Number(words.get('width')) || 1280, height = Number(words.get('height')) || 720;
  // a strip that would take much of the picture is left out
  const legend = words.get('legend') !== '0' && captionHeight(width) < 0.4 * height;
  document.body.classList.add('bare');
  Object.assign(app.stage.canvas.parentElement!.style, { width: `${width}px`, height: `${height - (legend ? captionHeight(width) : 0)}px` });
  app.stage.fine();
  app.stage.steady = true;
  app.stage.resize();
  app.stage.look('home');
  await applyAddress(app, words);
  if (!Number.isNaN(time)) {
    await app.seek(time);
    await send(app, legend);
  } else
    for (let t = app.start, n = 0; t <= app.end + 1e-9; t = app.start + ++n / rate) {
      await app.seekBetween(t);
      await send(app, legend);
    }
  await fetch('end', { method: 'POST' });
}

// ---- by the buttons of the page -----------------------------------------------------------------

const named = (app: App, end: string): string => `${app.run.name.replace(/\W+/g, '_')}.${end}`;

export async function savePicture(app: App): Promise<void> { save(await captioned(app), named(app, 'png')); }

/** Plays the run once, from the start, into a WebM file. */
export class Recorder {
  private recorder: MediaRecorder | null = null;
  constructor(private app: App) {}

  get running(): boolean { return this.recorder !== null; }

  toggle(): void { if (this.recorder) this.stop(); else void this.start(); }

  private async start(): Promise<void> {
    const { app } = this, parts: Blob[] = [];
    app.stage.steady = true;
    await app.stage.picture(); // at its full size
    await app.seek(app.start);
    const recorder = new MediaRecorder(app.stage.canvas.captureStream(30), { mimeType: 'video/webm', videoBitsPerSecond: 12e6 });
    recorder.ondataavailable = (e) => parts.push(e.data);
    recorder.onstop = () => save(new Blob(parts, { type: 'video/webm' }), named(app, 'webm'));
    this.recorder = recorder;
    app.loop = false;
    recorder.start();
    app.play(true);
    const ended = (): void => { if (!app.playing && this.recorder === recorder) this.stop(); };
    app.on('playing', ended);
  }

  private stop(): void {
    this.recorder?.stop();
    this.app.stage.steady = false;
    this.recorder = null;
    this.app.play(false);
    this.app.changed('options');
  }
}
