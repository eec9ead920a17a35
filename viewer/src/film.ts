// film.ts - pictures for `cairn export`: the address asks for them, and they go to its server.
import type { App } from './app';

async function send(app: App): Promise<void> {
  await fetch('picture', { method: 'POST', body: await app.stage.picture() });
}

/** What the address asks for besides: ?color=force&bodies=solid&chains=1&walls=0&view=front&theme=light */
export async function applyAddress(app: App, words: URLSearchParams): Promise<void> {
  const quantity = app.quantities.find((q) => q.key === words.get('color'));
  if (quantity) await app.setQuantity(quantity);
  const bodies = words.get('bodies');
  if (bodies === 'solid' || bodies === 'glass' || bodies === 'hidden') await app.set({ bodies });
  for (const flag of ['chains', 'walls', 'velocities', 'contacts', 'joints'] as const)
    if (words.has(flag)) await app.set({ [flag]: words.get(flag) !== '0' });
  const view = words.get('view');
  if (view === 'front' || view === 'right' || view === 'top' || view === 'back' || view === 'left' || view === 'bottom') app.stage.look(view);
}

/** One picture at a time of the run, or all of them from start to end; then the server may end. */
export async function film(app: App, words: URLSearchParams): Promise<void> {
  const time = Number(words.get('film')), rate = Number(words.get('rate')) || 30;
  document.body.classList.add('bare');
  Object.assign(app.stage.canvas.parentElement!.style, { width: `${Number(words.get('width')) || 1280}px`, height: `${Number(words.get('height')) || 720}px` });
  app.stage.insets = { right: 0, bottom: 0 };
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
