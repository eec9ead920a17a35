// dom.ts - making elements, and the themes of the page: dark, light, high contrast.
import type { App } from './app';

type Child = Node | string | null | undefined;

/** An element with properties, attributes (with a dash) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Record<string, unknown> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k === 'class') e.className = String(v);
    else if (k.includes('-') || k === 'role' || k === 'for') e.setAttribute(k, String(v));
    else (e as unknown as Record<string, unknown>)[k] = v;
  }
  e.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return e;
}

/** Four digits, with a power of ten where it needs one. */
export function digits(v: number, n = 4): string {
  if (!Number.isFinite(v)) return '–';
  if (v === 0) return '0';
  const a = Math.abs(v);
  if (a >= 1e5 || a < 1e-3) return v.toExponential(n - 2).replace(/e\+?(-?)(\d+)/, (_, s, e) => ` · 10${superscript(s + e)}`);
  return String(Number(v.toPrecision(n)));
}

export const superscript = (t: string): string => t.replace(/./g, (c) => ('-' === c ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)]));

export function save(blob: Blob, name: string): void {
  const a = h('a', { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// ---- themes -------------------------------------------------------------------------------------

export const themes = ['light', 'dark', 'contrast'];

export function setTheme(app: App, name: string): void {
  document.documentElement.dataset['theme'] = name;
  const style = getComputedStyle(document.documentElement);
  app.stage.setBackground(style.getPropertyValue('--scene').trim());
  for (const v of app.views) {
    v.floor.value.set(style.getPropertyValue('--floor').trim()).convertLinearToSRGB();
    v.lines.value.set(style.getPropertyValue('--dim').trim()).convertLinearToSRGB();
    v.ink.value.set(style.getPropertyValue('--ink').trim()).convertLinearToSRGB();
  }
}

export function firstTheme(app: App): void {
  const asked = new URLSearchParams(location.search).get('theme');
  const more = matchMedia('(prefers-contrast: more)').matches;
  setTheme(app, asked && themes.includes(asked) ? asked : more ? 'contrast' : 'light');
}

export function nextTheme(app: App): void {
  const now = themes.indexOf(document.documentElement.dataset['theme'] ?? 'light');
  setTheme(app, themes[(now + 1) % themes.length]);
}
