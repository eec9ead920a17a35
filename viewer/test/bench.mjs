// bench.mjs - how fast the page is: node bench.mjs CHROMIUM ADDRESS
//
// One line: bodies, seconds to the first picture, pictures a second while the view turns at full resolution,
// the same as the page does it (at half the resolution where that is slow), seconds to show another frame, MB of
// memory of the page. Rendering is in software (SwiftShader), at 1280 x 720.
import { chromium } from 'playwright-core';

const [, , program, address] = process.argv;
const browser = await chromium.launch({
  executablePath: program,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--enable-precise-memory-info'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
const begin = Date.now();
await page.goto(`${address}?still`);
await page.waitForSelector('html[data-ready]', { timeout: 300000 });
await page.evaluate(() => { cairn.stage.draw(); });
const first = (Date.now() - begin) / 1000;
const found = await page.evaluate(async () => {
  const gl = cairn.stage.renderer.getContext(), pixel = new Uint8Array(4);
  // reading a pixel waits for the picture
  const draw = () => { cairn.stage.draw(); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); };
  const start = performance.now();
  let pictures = 0;
  for (; performance.now() - start < 5000 || pictures < 2; pictures++) {
    cairn.stage.turn(0.03, 0);
    draw();
    await new Promise((done) => setTimeout(done, 0));
  }
  const rate = pictures / ((performance.now() - start) / 1000);
  const drawn = cairn.stage.frames, began = performance.now();
  while (performance.now() - began < 5000) {
    cairn.stage.turn(0.03, 0);
    await new Promise((done) => requestAnimationFrame(done));
  }
  const moving = (cairn.stage.frames - drawn) / ((performance.now() - began) / 1000);
  const again = performance.now(), frames = Math.min(5, cairn.run.frames);
  for (let k = 0; k < frames; k++) { await cairn.seek(cairn.run.time[k], true); draw(); }
  return { bodies: cairn.view.bodyCount, rate, moving, seek: (performance.now() - again) / 1000 / frames, memory: performance.memory.usedJSHeapSize / 1e6 };
});
console.log([found.bodies, first.toFixed(1), found.rate.toFixed(2), found.moving.toFixed(2), found.seek.toFixed(2), found.memory.toFixed(0)].join(','));
await browser.close();
