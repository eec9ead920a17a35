// build.mjs - bundles the page of the viewer into one file without any address in it:
// build/viewer/view.html, and the same packed by gzip, which the program embeds.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', 'build', 'viewer');

const bundle = await build({
  entryPoints: [join(here, 'src', 'main.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
});
// "</script" inside a text would end the element
const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script');
const sum = createHash('sha256').update(script).digest('base64');
// the page may run this script, and speak to where it came from: nothing else
const policy = `default-src 'none'; script-src 'sha256-${sum}'; style-src 'unsafe-inline'; ` +
  `connect-src 'self'; img-src blob: data:; media-src blob:; base-uri 'none'; form-action 'none'`;
const page = readFileSync(join(here, 'src', 'index.html'), 'utf8')
  .replace('<!--policy-->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
  .replace('<!--script-->', () => `<script>${script}</script>`);

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'view.html'), page);
writeFileSync(join(out, 'view.html.gz'), gzipSync(page, { level: 9 }));
console.log(`build/viewer/view.html: ${(page.length / 1024).toFixed(0)} KiB`);
