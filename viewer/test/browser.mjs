// browser.mjs - the page in a real browser: node browser.mjs CHROMIUM TASK.json
//
// TASK.json names addresses and what h5py found in the run (tests/tools/test_view.py writes it).
// Rendering is in software (SwiftShader). Prints what is wrong, and ends with 1 then.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [, , program, file] = process.argv;
const task = JSON.parse(readFileSync(file, 'utf8'));
let failures = 0;

function check(good, text, ...found) {
  if (good) return;
  failures++;
  console.log(`failed: ${text}`, ...found.map((f) => JSON.stringify(f)));
}
const near = (a, b, e) => Math.abs(a - b) <= e;

const browser = await chromium.launch({
  timeout: 300000,
  executablePath: program,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-gpu-sandbox'],
});

/** A page whose errors and requests to elsewhere count as failures. */
async function open(address, size = { width: 1000, height: 640 }) {
  const context = await browser.newContext({ viewport: size, offline: false });
  context.setDefaultTimeout(300000); // a busy machine only takes longer
  const page = await context.newPage();
  const origin = new URL(address).origin;
  page.on('console', (m) => { if (m.type() === 'error') check(false, 'no console error', m.text()); });
  page.on('pageerror', (e) => check(false, 'no error of the page', e.message));
  page.on('request', (r) => {
    const to = r.url();
    check(to.startsWith('data:') || to.startsWith('blob:') || (address.startsWith('file:') ? to === address : to.startsWith(`${origin}/`)), 'no request leaves the machine', to);
  });
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
  await page.evaluate(() => { cairn.stage.steady = true; }); // one size, however busy the machine is
  return page;
}

const still = (page, time) => page.evaluate(async (t) => { cairn.play(false); await cairn.seek(t); while (cairn.working) await new Promise((d) => setTimeout(d, 10)); }, time);

/** The colour of the picture at a point of the page, 0 to 255, without what stands before it. */
const pixel = (page, x, y) => page.evaluate(async ([px, py]) => {
  const image = await createImageBitmap(await cairn.stage.picture());
  const c = new OffscreenCanvas(image.width, image.height), g = c.getContext('2d');
  g.drawImage(image, 0, 0);
  return [...g.getImageData(px, py, 1, 1).data];
}, [x, y]);

/** Where a body is on the screen. */
const place = (page, row) => page.evaluate((r) => {
  const v = cairn.view, target = cairn.stage.controls.target.clone();
  return cairn.stage.project(target.fromArray(v.frame.x, 3 * r));
}, row);

/** Click a point of the canvas. */
async function click(page, at) {
  const corner = await page.locator('main canvas').boundingBox();
  await page.mouse.click(corner.x + at.x, corner.y + at.y);
}

/** What stands over the picture; nothing may. */
const covering = (page) => page.evaluate(() => {
  const a = document.querySelector('main').getBoundingClientRect();
  const over = (b) => b.width > 0 && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
  return ['.title', '.legend', '.panel', '.plots', '.bar-bottom', '.menu'].filter((part) => over(document.querySelector(part).getBoundingClientRect()));
});

/** Wait until a part of the page says something; texts are compared with single blanks. */
const told = (page, part, text, fact) => page.waitForFunction(([p, t]) => `${document.querySelector(p)?.innerText} `.replace(/\s+/g, ' ').includes(t), [part, text])
  .catch(async () => check(false, fact, await page.evaluate((p) => document.querySelector(p)?.innerText, part), text));

// ---- a finished run -----------------------------------------------------------------------------

async function testRun(page) {
  const count = await page.evaluate(() => cairn.view.bodyCount);
  check(count === task.bodies, 'the bodies of the run are in the scene', count, task.bodies);
  const instances = await page.evaluate(() => {
    let n = 0;
    cairn.view.root.traverse((o) => { const a = o.geometry?.getAttribute?.('iScale') ?? o.geometry?.getAttribute?.('iRotation'); if (a && o.visible && !o.material.transparent && o.geometry.getAttribute('iValue') && !o.geometry.getAttribute('iFrom') && o.renderOrder === 1) n += o.geometry.instanceCount; });
    return n;
  });
  check(instances === task.bodies, 'they are in the scene graph', instances, task.bodies);
  for (const f of task.frames) {
    await still(page, f.time);
    const x = await page.evaluate(() => ({ k: cairn.frame.index, x: [...cairn.frame.x] }));
    check(x.k === f.index && x.x.every((v, i) => near(v, f.x[i], 1e-6)), `frame ${f.index} is what h5py reads`, x.k);
  }
  await page.locator('input[type=range][aria-label=Time]').evaluate((e, t) => { e.value = String(t); e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }, task.frames[1].time);
  await page.waitForFunction((k) => cairn.frame.index === k, task.frames[1].index);
}

async function testPicking(page) {
  await still(page, task.frames[0].time);
  await page.evaluate(() => cairn.set({ bodies: 'solid', chains: false }));
  await page.evaluate(() => cairn.stage.look('front'));
  const at = await place(page, task.picked.row);
  await click(page, at);
  await page.waitForFunction((r) => cairn.view.selected === r, task.picked.row).catch(() => check(false, 'a click selects the body under it'));
  await page.waitForSelector('.panel .name');
  const text = await page.locator('.panel').first().innerText();
  check(text.includes(task.picked.name), 'its name is told', text);
  check(text.includes(task.picked.position), 'and where it is', text, task.picked.position);
  check(text.includes(task.picked.mass), 'and its mass', text, task.picked.mass);
  await told(page, '.panel .plot-key', `speed ${task.picked.speed}`, 'its history tells its speed at that time');
  await page.keyboard.press('Escape');
}

/** What a newcomer sees: solid bodies on a light ground, in the colours of their materials, with the force chains. */
async function testDefaults(page) {
  const seen = await page.evaluate(() => ({
    theme: document.documentElement.dataset.theme, bodies: cairn.options.bodies, chains: cairn.options.chains, colour: cairn.quantity.key,
    scale: cairn.view.forceScale, names: [...document.querySelectorAll('.legend .kinds button')].map((b) => b.innerText),
  }));
  check(seen.theme === 'light' && seen.bodies === 'solid' && seen.chains && seen.colour === 'material', 'bodies are solid, by material, on a light ground', seen);
  check(seen.names.join() === 'rock,rubber', 'the legend has the materials', seen.names);
  check(near(seen.scale, task.forces.run, 1e-4 * task.forces.run), 'the scale of force chains is that of the run', seen.scale, task.forces.run);
  check((await covering(page)).length === 0, 'nothing stands over the picture', await covering(page));
  const background = await pixel(page, 2, 2);
  check(Math.min(...background.slice(0, 3)) > 180, 'the ground is light', background);
  await page.waitForFunction(() => !document.querySelector('.hint')).catch(() => check(false, 'the hint goes away by itself'));
  await still(page, task.forces.time);
  await page.getByRole('button', { name: 'Rescale' }).click();
  const scale = await page.evaluate(() => cairn.view.forceScale);
  check(near(scale, task.forces.frame, 1e-4 * task.forces.frame), 'Rescale takes the force chains of the frame', scale, task.forces.frame);
}

/** Words of the address that do not exist are refused, with those that do. */
async function testAddress() {
  for (const [words, found, expected] of [['colour=speed', "found 'colour', expected color,", 'theme, legend, still'], ['color=velocity', 'found color=velocity, expected', 'speed, spin'],
    ['bodies=GLASS', 'found bodies=GLASS', 'solid, glass, hidden'], ['still&theme=blue', 'found theme=blue', 'light, dark, contrast'],
    ['field=solid', 'found field=solid', 'no field'], ['chains=yes', 'found chains=yes', '0, 1'], ['view=top&view=left', 'found view twice', ''], ['film=1', "found 'film'", 'expected color']]) {
    const context = await browser.newContext(), page = await context.newPage();
    await page.goto(`${task.address}?${words}`);
    const text = await page.locator('.message').innerText({ timeout: 300000 });
    check(text.includes(found) && text.includes(expected), `?${words} is refused`, text);
    check(!(await page.evaluate(() => document.documentElement.dataset.ready)), 'and nothing is shown');
    await context.close();
  }
  const page = await open(`${task.address}?still=1&color=speed&bodies=glass&chains=0&theme=dark`);
  const seen = await page.evaluate(() => [cairn.quantity.key, cairn.options.bodies, cairn.options.chains, document.documentElement.dataset.theme]);
  check(seen.join() === 'speed,glass,false,dark', 'the address is followed', seen);
  await page.context().close();
}

/** A ball of 3 kg rests on the box, gravity is 10 m/s^2: its contact pushes with 30 N. */
async function testContact(page) {
  await page.evaluate(async () => { await cairn.seek(cairn.end); await cairn.set({ bodies: 'hidden', chains: true, threshold: 0 }); });
  await page.evaluate(() => cairn.stage.look('front'));
  const at = await page.evaluate((row) => {
    const { contacts: c, x } = cairn.frame, p = cairn.stage.controls.target.clone();
    for (let k = 0; k < c.count; k++)
      if ((c.body[2 * k] === row || c.body[2 * k + 1] === row) && c.impulse[3 * k] > 0)
        return cairn.stage.project(p.set(...[0, 1, 2].map((i) => (c.point[3 * k + i] + x[3 * row + i]) / 2)));
    return null;
  }, task.resting);
  check(at, 'the ball that rests has a contact');
  if (!at) return;
  await click(page, at);
  await page.waitForFunction(() => cairn.view.selectedContact >= 0, undefined).catch(() => check(false, 'a click selects the force chain under it'));
  const text = await page.locator('.panel').first().innerText();
  check(/normal force\s+30(\.0\d*)? N/.test(text) || /normal force\s+29\.99\d* N/.test(text), 'its normal force is the weight of the ball', text);
  await told(page, '.panel .plot-key', 'normal force 30 ', 'its history ends with that force');
  await page.evaluate(() => cairn.seek(cairn.start)); // the first frame has no contacts
  await told(page, '.panel', 'do not touch', 'at the start it is not there');
  await page.evaluate(() => cairn.seek(cairn.end));
  check(await page.evaluate(() => cairn.view.selectedContact >= 0), 'and is found again at the end');
  await page.keyboard.press('Escape');
}

/** Rubber alone: two balls of it; then all again. */
async function testMaterials(page) {
  const shown = () => page.evaluate(() => {
    let n = 0;
    cairn.view.root.traverse((o) => { const f = o.geometry?.getAttribute?.('iFlags'); if (o.renderOrder === 1 && o.isMesh && f) for (let i = 0; i < o.geometry.instanceCount; i++) n += f.array[i] & 4 ? 0 : 1; });
    return n;
  });
  await page.evaluate(() => cairn.set({ bodies: 'solid', chains: false }));
  await page.getByRole('button', { name: 'Only rubber' }).click();
  await page.waitForFunction(() => !cairn.working);
  check((await shown()) === 2, 'only the bodies of a material are shown', await shown());
  check(!(await page.getByRole('checkbox', { name: 'rock' }).isChecked()), 'the other one is off');
  await page.getByRole('checkbox', { name: 'rock' }).check();
  await page.waitForFunction(() => !cairn.working);
  check((await shown()) === task.bodies, 'and all again', await shown());
}

/** Who has only the keyboard, or hears the page, finds everything: each control has a name, play comes first. */
async function testNames(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input, summary, canvas')].filter((e) =>
    !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).map((e) => e.outerHTML.slice(0, 80)));
  check(nameless.length === 0, 'every control has a name', nameless);
  await page.locator('main canvas').focus();
  await page.keyboard.press('Tab');
  check((await page.evaluate(() => document.activeElement.getAttribute('aria-label'))) === 'Play', 'play is the first to come by the tab key');
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('Mass');
  await page.waitForFunction(() => cairn.quantity.key === 'mass', undefined).catch(() => check(false, 'the colour can be chosen'));
}

/** What is hidden by others and left out changes no pixel. */
async function testManyBalls(page) {
  const found = await page.evaluate(async () => {
    const picture = async () => new Uint8Array(await (await cairn.stage.picture()).arrayBuffer());
    await cairn.set({ bodies: 'solid', chains: false });
    await cairn.seek(cairn.end);
    const before = await picture(), balls = cairn.view.balls;
    balls.manyFrom = 1;
    await cairn.seek(cairn.end);
    const after = await picture(), out = { many: balls.many, drawn: cairn.view.drawnBalls, same: before.length === after.length && before.every((b, i) => b === after[i]) };
    // along the line through the middles of `high` and `side`, which is smaller and behind
    cairn.stage.controls.target.set(0, 0, 0.275);
    cairn.stage.camera.position.set(60, 0, 1.275);
    cairn.stage.controls.update();
    await picture();
    out.along = cairn.view.drawnBalls;
    balls.manyFrom = Infinity;
    await cairn.seek(cairn.end);
    cairn.stage.look('home');
    return out;
  });
  check(found.many && found.drawn === 3 && found.same, 'of many balls all that are seen are drawn, in the same way', found);
  check(found.along === 2, 'one behind a larger one is left out', found);
}

async function testSaving(page) {
  const saved = async (name) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
    return file.suggestedFilename();
  };
  check((await saved('PNG')) === 'run.png', 'PNG saves a picture');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'PNG', exact: true }).click()]);
  const found = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))])), g = new OffscreenCanvas(image.width, image.height).getContext('2d');
    g.drawImage(image, 0, 0);
    const { width, height } = cairn.stage.canvas, below = g.getImageData(0, height, width, image.height - height).data, seen = (r, gr, b) => {
      for (let i = 0; i < below.length; i += 4) if (Math.abs(below[i] - r) + Math.abs(below[i + 1] - gr) + Math.abs(below[i + 2] - b) < 8) return true;
      return false;
    };
    return { same: image.width === width, strip: image.height - height, low: seen(98, 108, 168), high: seen(244, 196, 40) };
  }, readFileSync(await file.path()).toString('base64'));
  check(found.same && found.strip > 40 && found.low && found.high, 'with the colours and what they mean below it', found);
  check((await saved('WebM')) === 'run.webm', 'WebM saves a film');
}

async function testColours(page) {
  await still(page, task.coloured.time);
  await page.evaluate(async () => {
    await cairn.setQuantity(cairn.quantities.find((q) => q.key === 'mass'));
    cairn.fixedRange = [1, 3];
    cairn.recolour();
    cairn.options.marks = false;
    cairn.stage.shading = false;
    await cairn.set({ bodies: 'solid', chains: false, walls: false });
  });
  const values = await page.evaluate((rows) => rows.map((r) => cairn.view.values[r]), task.coloured.rows);
  check(values.every((v, i) => near(v, task.coloured.mass[i], 1e-6)), 'values are those of the file', values);
  // the least is blue, the largest yellow, by their hue: light does not change which is larger
  for (let i = 0; i < task.coloured.rows.length; i++) {
    const at = await place(page, task.coloured.rows[i]);
    const [r, g, b] = await pixel(page, Math.round(at.x), Math.round(at.y));
    if (task.coloured.mass[i] === 1) check(b > g && b > r && b > 80, 'the least value is blue, and not dark', [r, g, b]);
    if (task.coloured.mass[i] === 3) check(r > b && g > b && r > 80, 'the largest value is yellow', [r, g, b]);
    if (task.coloured.mass[i] === 2) check(g > r && b > r, 'the middle is green blue', [r, g, b]);
  }
}

async function testPixels(page) {
  // a ball covers as many pixels as its radius at its distance says
  const found = await page.evaluate(async (row) => {
    const v = cairn.view;
    v.isolated = new Set([row]);
    await cairn.set({ bodies: 'solid', walls: false, chains: false });
    const image = await createImageBitmap(await cairn.stage.picture());
    const c = new OffscreenCanvas(image.width, image.height), g = c.getContext('2d');
    g.drawImage(image, 0, 0);
    const data = g.getImageData(0, 0, image.width, image.height).data;
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += Math.abs(data[i] - data[0]) + Math.abs(data[i + 1] - data[1]) + Math.abs(data[i + 2] - data[2]) > 24 ? 1 : 0;
    const camera = cairn.stage.camera, p = cairn.stage.controls.target.clone().fromArray(v.frame.x, 3 * row);
    const d = p.applyMatrix4(camera.matrixWorldInverse).length(), r = v.run.bodies.radius[row];
    const slant = (-p.z / d) ** 3; // beside the middle of the picture a ball is an ellipse
    const focal = image.height / 2 / Math.tan((camera.fov * Math.PI) / 360);
    v.isolated = null;
    return { n, expected: Math.PI * (focal * r) ** 2 / (d * d - r * r) / slant };
  }, task.coloured.rows[0]);
  check(near(found.n / found.expected, 1, 0.03), 'a ball covers its disk of pixels', found);
}

// ---- all of it ----------------------------------------------------------------------------------

/** A run under way, which then is killed, resumed, and ended by Ctrl-C: as long as it goes on it cannot end by itself, so
 *  nothing here depends on how fast the machine is. */
async function testLive() {
  const live = await open(task.live);
  const wait = (text, what, more) => live.waitForFunction(what, more).catch(() => check(false, text));
  const first = await live.evaluate(() => cairn.run.frames);
  check(await live.evaluate(() => cairn.run.grows), 'the run is under way');
  await told(live, '.title p', 'running', 'and the page says so');
  process.kill(task.liveProcess, 'SIGCONT'); // it was held until now
  await wait('a live run is followed', (n) => cairn.run.frames > n && cairn.frame.index > n - 1, first);
  process.kill(task.liveProcess, 'SIGKILL');
  await wait('a killed run is no longer under way', () => !cairn.run.grows && cairn.run.interrupted);
  await told(live, '.title p', 'interrupted', 'the page says that it was interrupted');
  check(await live.evaluate(() => cairn.run.frames > 0 && cairn.frame.count === 5), 'and shows its frames');
  const again = spawn(task.cairn, ['resume', task.liveFolder, '--quiet'], { stdio: 'ignore' }), ended = new Promise((done) => again.on('exit', done));
  await wait('a resumed run is under way again', () => cairn.run.grows);
  const now = await live.evaluate(() => cairn.run.frames);
  await wait('and is followed', (n) => cairn.run.frames > n, now);
  again.kill('SIGINT');
  await ended;
  const frames = JSON.parse(readFileSync(`${task.liveFolder}/summary.json`, 'utf8')).frames;
  await wait('a run is followed to its end', (n) => !cairn.run.grows && !cairn.run.interrupted && cairn.run.frames === n, frames);
  await live.evaluate(() => cairn.seek(cairn.end));
  await wait('up to its last frame', (n) => cairn.frame.index === n - 1, frames);
  await live.context().close();
}

if (task.live) await testLive();
const page = await open(`${task.address}?still`);
await testDefaults(page);
await testRun(page);
await testPicking(page);
await testColours(page);
await testPixels(page);
await testContact(page);
await testMaterials(page);
await testManyBalls(page);
await testNames(page);
await testSaving(page);
await page.locator('main canvas').focus();
await page.keyboard.press(' ');
check(await page.evaluate(() => cairn.playing), 'the space bar plays');
await page.keyboard.press('p');
await page.waitForSelector('.plots figure').catch(() => check(false, 'P shows plots'));
await told(page, '.plots .ticks', '0 ', 'its axis has numbers');
check((await covering(page)).length === 0, 'plots stand below the picture', await covering(page));
await page.context().close();

await testAddress();
const phone = await open(`${task.address}?still`, { width: 390, height: 844 });
const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
check(wide <= 390, 'nothing is wider than a phone', wide);
await phone.getByRole('button', { name: 'Settings' }).click();
const left = await phone.locator('main').boundingBox();
check(left.height > 250 && (await covering(phone)).length === 0, 'settings leave the scene in sight', left, await covering(phone));
await phone.setViewportSize({ width: 740, height: 360 });
const lying = await phone.locator('main').boundingBox();
check(lying.height > 180 && lying.width > 400, 'on a phone that lies on its side too', lying);
await phone.context().close();

if (task.pair) {
  const two = await open(`${task.pair}?still`);
  const difference = await two.evaluate(async () => { await cairn.seek(cairn.end); return { key: cairn.quantity.key, most: Math.max(...cairn.view.values), views: cairn.views.length }; });
  check(difference.views === 2 && difference.key === 'difference', 'two runs stand side by side', difference);
  check(near(difference.most, task.difference, 1e-5), 'the difference of positions is the colour', difference, task.difference);
  await two.context().close();
}
if (task.html) {
  const sent = await open(task.html);
  check(await sent.evaluate(() => cairn.view.bodyCount) === task.bodies, 'an exported page has all bodies');
  await still(sent, task.frames[1].time);
  const x = await sent.evaluate(() => [...cairn.frame.x]);
  check(x.every((v, i) => near(v, task.frames[1].x[i], task.quantum)), 'and they are where they were', x);
  await sent.context().close();
}
/** The cell of a periodic run, contacts across its faces, series and fields; a platen of a laboratory cell. */
async function testSurroundings(a) {
  const page = await open(`${a.cell}?still`);
  await page.evaluate(() => cairn.set({ chains: true }));
  await still(page, a.time);
  const seen = await page.evaluate(() => {
    const v = cairn.view, p = [...v.cellBox.lines.geometry.getAttribute('position').array], c = v.chains, from = c.array('iFrom'), to = c.array('iTo');
    const long = (i) => Math.hypot(...[0, 1, 2].map((k) => from[3 * i + k] - to[3 * i + k]));
    return { lines: p.length / 6, far: Math.max(...p.filter((_, i) => i % 3 === 0)), shown: v.cellBox.lines.visible, longest: Math.max(...Array.from({ length: c.count }, (_, i) => long(i))), chains: c.count };
  });
  check(seen.shown && seen.lines === 4 && near(seen.far, a.far, 1e-6), 'the periodic cell is drawn as it is sheared', seen, a.far);
  check(seen.chains > 0 && seen.longest < a.diameter + 0.01, 'force chains end at images', seen, a.diameter);
  const colours = await page.evaluate(() => [...document.querySelectorAll('.legend .kinds button')].map((b) => `${b.innerText} ${b.querySelector('i').style.background}`));
  check(await page.evaluate(() => cairn.quantity.key === 'material' && !cairn.options.velocities), 'what rests has no arrows');
  check(colours.join() === 'red rgb(206, 66, 62),blue rgb(74, 128, 196)', 'red is red and blue is blue', colours);
  await page.selectOption('select[aria-label=Field]', 'solid');
  await page.waitForFunction(() => cairn.field && cairn.view.slice.mesh.visible, undefined).catch(() => check(false, 'a field is shown'));
  const most = await page.evaluate(() => Math.max(...[...cairn.view.slice.grid.values].filter((v) => !Number.isNaN(v))));
  check(near(most, a.solid, 1e-4), 'and has the numbers of the file', most, a.solid);
  await page.keyboard.press('p');
  await told(page, '.plots', 'Force: middle', 'series are plotted');
  await page.context().close();
  const press = await open(`${a.press}?still`);
  await still(press, 0);
  const lid = await press.evaluate(() => ({ rows: [...cairn.run.platens], drawn: cairn.view.platens.layer.count, bodies: cairn.view.bodyCount, box: cairn.view.box.max.x - cairn.view.box.min.x }));
  check(lid.rows.length === 1 && lid.drawn === 1 && lid.bodies === 1 && lid.box < 2, 'a platen is a wall, and does not make the scene large', lid);
  await press.context().close();
  const drum = await open(`${a.drum}?still`);
  const drawn = await drum.evaluate(() => ({ key: cairn.quantity.key, focus: [cairn.view.focus.min.z, cairn.view.focus.max.z] }));
  check(drawn.key === 'spin', 'what turns in its place is coloured by its spin', drawn);
  check(near(drawn.focus[0], -0.5, 1e-6) && near(drawn.focus[1], 0.5, 1e-6), 'all of a drum is in sight', drawn);
  await drum.context().close();
  const fall = await open(`${a.fall}?still`);
  const arrows = await fall.evaluate(() => ({ key: cairn.quantity.key, arrows: cairn.view.arrows.count }));
  check(arrows.key === 'material' && arrows.arrows === 2, 'arrows show what moves where materials are the colours', arrows);
  await fall.context().close();
}
if (task.around) await testSurroundings(task.around);
await browser.close();
process.exit(failures > 0 ? 1 : 0);
