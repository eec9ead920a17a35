// legend.ts - what the colours mean.
import type { App } from './app';
import { css, ember, kindColour, viridis, type Rgb } from './colormap';
import { digits, h } from './dom';
import { mostChains } from './runview';

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
