// record.ts - a picture, or a film, of what is shown.
import type { App } from './app';
import { save } from './dom';

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
