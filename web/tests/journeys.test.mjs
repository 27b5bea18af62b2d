// Three journeys through the page, each with its number of clicks: a press of a button, a link or a choice, and the
// entry of a field.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, clean, Server } from './harness.mjs';
import { allowFiles } from './weather.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** Walk counts the actions of a user on a page. */
class Walk {
  clicks = 0;
  async press(what) {
    await what.click();
    this.clicks++;
  }
  async type(what, text) {
    await what.fill(text);
    this.clicks++;
  }
  /** ends asserts the number of clicks, and prints it. */
  ends(name, clicks) {
    console.log(`${name}: ${this.clicks} clicks`);
    assert.equal(this.clicks, clicks);
  }
}

const cities = [
  'Oslo',
  'Rome',
  'Lima',
  'Bonn',
  'Kyiv',
  'Cork',
  'Bern',
  'Graz',
  'Faro',
  'Lund',
  'Nice',
  'York',
  'Pisa',
  'Riga',
  'Turin',
  'Vigo',
];
const suite = (name) => ({
  callvet: 1,
  name,
  system_prompt: 'Look up the weather.',
  tools: [
    {
      name: 'get_weather',
      description: 'Current weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  cases: cities.map((city) => ({
    id: city.toLowerCase(),
    prompt: `How is the weather in ${city}?`,
    expect: { calls: [{ tool: 'get_weather', args: { city } }] },
  })),
});
const script = (right) =>
  JSON.stringify({
    model: 'bot',
    rules: cities.map((city, i) =>
      right(i)
        ? { contains: city, calls: [{ tool: 'get_weather', args: { city } }] }
        : { contains: city, text: 'Look out of the window.' },
    ),
  });
const bot = 'script:./bot.yaml';

test('"my prompt broke something: what" takes 3 clicks', async () => {
  const id = await server.suite(suite('Weather'));
  await server.file(
    'bot.yaml',
    script(() => true),
  );
  await server.ran({ suite_id: id, models: [bot] });
  await server.file(
    'bot.yaml',
    script((i) => i > 9),
  ); // the answers of the model to the new prompt
  await server.ran({
    suite_id: id,
    models: [bot],
    system_prompt: 'Be brief.',
    replace_system: true,
    name: 'shorter prompt',
  });
  const page = await browser.page(server);
  const walk = new Walk();
  await page.goto('/');
  await page.locator('[data-changed]').first().getByText('worse', { exact: true }).waitFor();
  await walk.press(page.getByRole('link', { name: 'shorter prompt' }).first());
  await page.locator('[data-since]').getByText('worse', { exact: true }).waitFor();
  await walk.press(page.locator('[data-since]').getByRole('link', { name: /Compare/ }));
  await page.getByText('Newly failing').first().waitFor();
  await page
    .getByRole('region', { name: 'What differs in the configuration' })
    .getByText(/prompt/)
    .first()
    .waitFor(); // the changed setting
  await walk.press(page.getByRole('region', { name: /Cases that changed/ }).getByRole('link', { name: 'oslo' }));
  await page.getByRole('heading', { name: 'oslo' }).waitFor();
  await page.getByText('Look out of the window.').first().waitFor(); // the new behaviour of the model
  await page.getByText('Be brief.').first().waitFor({ state: 'attached' }); // the new prompt
  walk.ends('my prompt broke something: what', 3);
  clean(page);
  await page.context().close();
});

test('"make this failure a regression case and see it pass after the fix" takes 11 clicks', async () => {
  const from = await server.suite(suite('Seen in production'));
  await server.suite({ ...suite('Kept for good'), cases: [] });
  await server.file(
    'bot.yaml',
    script((i) => i > 0),
  );
  const run = await server.ran({ suite_id: from, models: [bot] });
  const page = await browser.page(server);
  const walk = new Walk();
  await page.goto(`/runs/${run}?tab=attempts&verdict=fail`);
  await walk.press(page.getByRole('row', { name: /oslo/ }));
  await walk.press(page.getByRole('button', { name: 'Add to suite' }));
  const form = page.getByRole('dialog');
  await walk.press(form.getByRole('combobox', { name: 'Suite' }));
  await walk.press(page.getByRole('option', { name: 'Kept for good' }));
  await walk.type(form.getByLabel('Bug'), '#12');
  await walk.press(form.getByRole('button', { name: 'Add to suite' }));
  await walk.press(form.getByRole('link', { name: /^rg-/ }));
  await page.getByRole('dialog', { name: /Edit the case/ }).waitFor();
  await walk.press(page.getByRole('dialog').getByRole('button', { name: 'Close' }).first());
  await server.file(
    'bot.yaml',
    script(() => true),
  ); // the fix
  await walk.press(page.getByRole('link', { name: 'Run this suite' }));
  await walk.type(
    page.getByRole('combobox', { name: 'Add a model' }).or(page.getByRole('textbox', { name: 'Add a model' })),
    bot,
  );
  await walk.press(page.getByRole('button', { name: 'Start the run' }));
  await page.locator('[data-state="done"]').waitFor();
  await page.locator('[data-model]').getByText('1 pass').first().waitFor();
  walk.ends('make this failure a regression case and see it pass after the fix', 11);
  clean(page);
  await page.context().close();
});

test('"share with one colleague who may only read" takes 8 clicks, with the invitation of the colleague', async () => {
  const id = await server.suite(suite('Shared'));
  await server.file(
    'bot.yaml',
    script(() => true),
  );
  const run = await server.ran({ suite_id: id, models: [bot], name: 'to be read' });
  const page = await browser.page(server);
  const walk = new Walk();
  await page.goto(`/runs/${run}`);
  await walk.press(page.getByRole('button', { name: /Actions|More/ }).last());
  await walk.press(page.getByRole('menuitem', { name: 'Share' }));
  await page.getByText('Shared', { exact: true }).first().waitFor();
  await walk.press(page.getByRole('navigation').getByRole('link', { name: 'Settings' }));
  await walk.press(page.getByRole('tab', { name: 'Users' }));
  await walk.press(page.getByRole('button', { name: 'Invite' }));
  const form = page.getByRole('dialog');
  await walk.type(form.getByLabel('Name'), 'reader');
  await walk.press(form.getByRole('radio', { name: /Viewer/ }));
  await walk.press(form.getByRole('button', { name: 'Invite' }));
  const link = (await page.getByRole('region', { name: 'One-time link' }).innerText()).trim();
  walk.ends('share with one colleague who may only read', 8);
  clean(page);

  const other = await browser.page(server, { as: null });
  await other.goto(link);
  await other.getByRole('textbox', { name: 'Password', exact: true }).fill('a long password for a reader');
  await other.getByRole('textbox', { name: 'The same password again' }).fill('a long password for a reader');
  await other.getByRole('button', { name: 'Choose a password' }).click();
  await other.getByRole('button', { name: 'Account: reader' }).waitFor();
  await other.goto(`/runs/${run}`);
  await other.getByRole('heading', { level: 1 }).waitFor();
  await other.getByText('to be read').first().waitFor();
  assert.equal(await other.getByRole('link', { name: 'New run' }).count(), 0);
  const may = (method, path, body) =>
    other.evaluate(
      async ([m, p, b]) =>
        (await fetch(p, { method: m, headers: { 'Content-Type': 'application/json' }, body: b })).status,
      [method, path, body],
    );
  assert.equal(await may('GET', `/api/runs/${run}`), 200);
  for (const [method, path, body] of [
    ['PATCH', `/api/runs/${run}`, '{"name":"mine"}'],
    ['DELETE', `/api/tool-eval/history/${run}`],
    ['POST', `/api/runs/${run}/failed`, '{}'],
  ]) {
    const status = await may(method, path, body);
    assert.ok([403, 404].includes(status), `${method} ${path}: ${status}`);
  }
  clean(other);
});
