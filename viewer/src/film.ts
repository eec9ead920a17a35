// film.ts - pictures and films of what is shown: for `cairn export`, by the address of the page, and by
// its buttons.
import type { App } from './app';
import { fieldsOf } from './cell';
import { save } from './dom';

// ---- for `cairn export`: pictures that the address requests, sent to its server -----------------

async function send(app: App): Promise<void> {
  await fetch('picture', { method: 'POST', body: await app.stage.picture() });
}

/** Further options of the address: ?color=force&bodies=solid&chains=1&walls=0&view=front&theme=light&field=solid&cut=y */
export async function applyAddress(app: App, words: URLSearchParams): Promise<void> {
  const quantity = app.quantities.find((q) => q.key === words.get('color'));
  if (quantity) await app.setQuantity(quantity);
  const field = fieldsOf(app.run).find((f) => f.key === words.get('field'));
  if (field) await app.setField(field);
  const cut = ['x', 'y', 'z'].indexOf(words.get('cut') ?? '');
  if (cut >= 0) app.setClip({ on: true, axis: cut, flip: cut === 1 }); // what is in front goes
  const bodies = words.get('bodies');
  if (bodies === 'solid' || bodies === 'glass' || bodies === 'hidden') await app.set({ bodies });
  for (const flag of ['chains', 'walls', 'velocities', 'contacts', 'joints', 'cell'] as const)
    if (words.has(flag)) await app.set({ [flag]: words.get(flag) !== '0' });
  const view = words.get('view');
  if (view === 'front' || view === 'right' || view === 'top' || view === 'back' || view === 'left' || view === 'bottom') app.stage.look(view);
}

/** One picture at a time of the run, or all of them from start to end; then the server may end. */
export async function film(app: App, words: URLSearchParams): Promise<void> {
  const time = Number(words.get('film')), rate = Number(words.get('rate')) || 30;
  document.body.classList.add('bare');
  Object.assign(app.stage.canvas.parentElement!.style, { width: `${Number(words.get('width')) || 1280}px`, height: `${Number(words.get('height')) || 720}px` });
  app.stage.fine();
  app.stage.steady = true;
  app.stage.resize();
  app.stage.look('home');
  await applyAddress(app, words);
  if (!Number.isNaN(time)) {
    await app.seek(time);
    await send(app);
  } else
    for (let t = app.start, n = 0; t <= app.end + 1e-9; t = app.start + ++n / rate) {
      await app.seekBetween(t);
      await send(app);
    }
  await fetch('end', { method: 'POST' });
}

// ---- by the buttons of the page -----------------------------------------------------------------

const named = (app: App, end: string): string => `${app.run.name.replace(/\W+/g, '_')}.${end}`;

export async function savePicture(app: App): Promise<void> { save(await app.stage.picture(), named(app, 'png')); }

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
