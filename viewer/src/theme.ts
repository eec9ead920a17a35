// theme.ts - dark, light, high contrast.
import type { App } from './app';

const themes = ['dark', 'light', 'contrast'];

export function setTheme(app: App, name: string): void {
  document.documentElement.dataset['theme'] = name;
  const style = getComputedStyle(document.documentElement);
  app.stage.setBackground(style.getPropertyValue('--scene').trim());
  for (const v of app.views) {
    v.floor.value.set(style.getPropertyValue('--floor').trim()).convertLinearToSRGB();
    v.lines.value.set(style.getPropertyValue('--dim').trim()).convertLinearToSRGB();
  }
}

export function firstTheme(app: App): void {
  const asked = new URLSearchParams(location.search).get('theme');
  const more = matchMedia('(prefers-contrast: more)').matches;
  setTheme(app, asked && themes.includes(asked) ? asked : more ? 'contrast' : 'dark');
}

export function nextTheme(app: App): void {
  const now = themes.indexOf(document.documentElement.dataset['theme'] ?? 'dark');
  setTheme(app, themes[(now + 1) % themes.length]);
}
