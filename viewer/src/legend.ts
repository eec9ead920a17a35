// legend.ts - what the colours mean.
import type { App } from './app';
import { css, kindColour, viridis } from './colormap';
import { digits, h } from './dom';

export function legend(app: App): HTMLElement {
  const element = h('div', { class: 'card legend' });
  const gradient = `linear-gradient(90deg, ${Array.from({ length: 11 }, (_, i) => css(viridis(i / 10))).join(',')})`;
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
    const now = `${q.key} ${app.range} ${app.fixedRange} ${[...app.view.hiddenMaterials]} ${app.frame?.count}`;
    if (now === key) return;
    key = now;
    const head = h('div', {}, h('b', {}, q.label), ' ', h('span', { class: 'unit' }, q.unit));
    if (q.kinds) { element.replaceChildren(head, kinds()); return; }
    const bar = Object.assign(h('div', { class: 'bar' }), { style: `background:${gradient}` });
    element.replaceChildren(head, bar, h('div', { class: 'ends' },
      h('span', {}, digits(app.range[0], 3)), h('span', {}, digits((app.range[0] + app.range[1]) / 2, 3)), h('span', {}, digits(app.range[1], 3))));
  }
  app.on('colour', show);
  return element;
}
