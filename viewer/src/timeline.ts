// timeline.ts - the bar at the bottom: play, scrub, step, speed, loop.
import type { App } from './app';
import { digits, h } from './dom';

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
  const live = h('button', { title: 'Show the newest frame of the run as it goes on' }, 'Live');
  const loop = h('button', { class: 'wide', title: 'Begin again at the end (L)' }, 'Loop');

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
