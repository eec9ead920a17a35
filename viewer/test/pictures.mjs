// pictures.mjs - the page as people see it who open a run, without touching a control:
//
//   node pictures.mjs CHROMIUM FOLDER NAME=PAGE.html@SECONDS...
//
// Writes FOLDER/NAME.png, 1280 x 720, with the page at a time of the run. NAME-phone is drawn at 390 x 844, and
// NAME-phone-settings there with the settings open. Rendering is in software (SwiftShader).
import { chromium } from 'playwright-core';

const [, , program, folder, ...wanted] = process.argv;
const browser = await chromium.launch({
  timeout: 300000,
  executablePath: program,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-gpu-sandbox'],
});

async function draw(name, address, time) {
  const phone = /-phone/.test(name);
  const context = await browser.newContext(phone ? { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } : { viewport: { width: 1280, height: 720 } });
  context.setDefaultTimeout(300000); // a busy machine only takes longer
  const page = await context.newPage();
  await page.goto(`file://${address}?still`);
  await page.waitForSelector('html[data-ready]');
  if (name.endsWith('-settings')) await page.getByRole('button', { name: 'Settings' }).click();
  await page.evaluate(async (t) => {
    cairn.stage.steady = true; // at its full size
    await cairn.seek(Math.min(t, cairn.end));
    while (cairn.working) await new Promise((d) => setTimeout(d, 10));
    await cairn.stage.picture();
  }, time);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await context.close();
  console.log(`${folder}/${name}.png`);
}

for (const w of wanted) {
  const [, name, address, time] = /^([^=]+)=(.+)@([^@]+)$/.exec(w) ?? [];
  if (!name) throw new Error(`expected NAME=PAGE.html@SECONDS, found '${w}'`);
  await draw(name, address, Number(time));
}
await browser.close();
