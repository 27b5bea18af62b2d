// The gold sheet: an expert corrects recorded calls, without a file in an editor.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';

const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, unit: { type: 'string', enum: ['c', 'f'] } },
      required: ['city'],
    },
  },
};
const chat = (id, asked, args) =>
  JSON.stringify({
    id,
    tools: [tool],
    messages: [
      { role: 'user', content: asked },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"temp":18}' },
      { role: 'assistant', content: 'It is 18 degrees.' },
    ],
  });
const lines = [
  chat('t1', 'Weather in Oslo for three days?', '{"city":"Rome"}'),
  chat('t2', 'Paris?', '{"city":"Paris","station":12345678901234567890}'),
  chat('t3', 'Thanks <b>a lot</b>!', '{"city":"Bonn"}'),
].join('\n');

let server, browser, traces;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.user('expert'); // before the admin logs out
  await server.user('guest');
  traces = (
    await server.api('POST', '/api/traces?collection=asked', lines, {
      raw: true,
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
  ).id;
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** saved returns the text of the file that a press downloads. */
async function saved(page, press) {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return readFile(await download.path(), 'utf8');
}

test('the gold sheet is accessible at every width', async () => {
  const filled = async (page) => {
    await page.getByRole('button', { name: 'Propose tasks' }).click();
    return page.getByRole('article');
  };
  await accessible(browser, server, [
    [`/gold?traces=${traces}`, 'Propose tasks'],
    [`/gold?traces=${traces}`, filled],
  ]);
});

test('an expert corrects proposed calls, sees mistakes in place, and uses the sheet as a suite', async () => {
  const page = await browser.page(server);
  await page.goto(`/gold?traces=${traces}`);
  await page.getByRole('button', { name: 'Propose tasks' }).click();
  const to = async (id) => {
    await page.getByRole('combobox', { name: 'Tasks' }).click();
    await page.getByRole('option', { name: id }).click();
    return page.getByRole('article');
  };
  // The first task: another city, and a number of days, by the schema of the tool.
  let shown = await to('t1');
  await shown.getByText('Weather in Oslo for three days?').waitFor();
  assert.equal(await shown.getByLabel('city').inputValue(), 'Rome');
  await shown.getByLabel('city').fill('Oslo');
  await shown.getByLabel('days').fill('3');
  await shown.getByLabel('Check of the result').fill('');
  await page.getByRole('button', { name: 'Confirm and go on' }).click();
  await shown.getByText('check is blank').waitFor(); // and the page stays at the task
  await shown.getByLabel('Check of the result').fill('none');
  await page.getByRole('button', { name: 'Confirm and go on' }).click();
  await page.getByText('1 of 3 tasks confirmed').waitFor();
  // The second task: a number that is too large for JavaScript is shown as it is, as JSON.
  shown = await to('t2');
  const json = shown.getByLabel('Arguments', { exact: true });
  assert.match(await json.inputValue(), /12345678901234567890/);
  await json.fill('{"city":');
  await shown.getByText('This is no JSON object').waitFor();
  await json.fill('{"city":"Lyon","station":12345678901234567890}');
  await page.getByRole('button', { name: 'Confirm and go on' }).click();
  await page.getByText('2 of 3 tasks confirmed').waitFor();
  // The third task: nothing is called. Its text stays text.
  shown = await to('t3');
  await shown.getByText('Thanks <b>a lot</b>!').waitFor();
  await shown.locator('[data-turn]').first().getByText('Nothing is called').click();
  await page.reload(); // the draft stays
  shown = await to('t3');
  assert.equal(await shown.locator('[data-call]').count(), 0);
  await page.getByRole('button', { name: 'Confirm and go on' }).click();
  await page.getByText('3 of 3 tasks confirmed').waitFor();

  const sheet = await saved(page, () => page.getByRole('button', { name: 'Download the sheet' }).click());
  assert.match(sheet, /^# Write what was right/);
  assert.match(sheet, /"city":"Oslo","days":3/);
  assert.match(sheet, /12345678901234567890/);
  assert.equal(sheet.match(/^ {4}checked: true/gm).length, 3);
  const read = await server.api('POST', `/api/traces/${traces}/gold`, sheet, {
    raw: true,
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  assert.equal(read.text, sheet);
  assert.deepEqual(read.problems, []);

  const use = async (name) => {
    await page.getByRole('button', { name: 'Use the sheet' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  assert.match(await saved(page, () => use('Download labelled traces')), /"Oslo"/);
  await use('Save as a suite here');
  await page.waitForURL(/\/suites\//);
  const suite = await server.api('GET', `/api/tool-suites/${new URL(page.url()).pathname.split('/')[2]}`);
  assert.equal(suite.test_cases.length, 3);
  assert.match(JSON.stringify(suite), /Oslo/);

  // Another visit opens the file; a logout takes the draft out of the browser.
  await page.goto(`/gold?traces=${traces}`);
  await page.getByText('3 of 3 tasks confirmed').waitFor();
  await page.getByRole('button', { name: 'Discard the draft' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard the draft' }).click();
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'gold.yaml', mimeType: 'application/yaml', buffer: Buffer.from(sheet) });
  await page.getByText('3 of 3 tasks confirmed').waitFor();
  assert.equal(
    await page.evaluate(() => Object.keys(localStorage).filter((k) => k.startsWith('callvet.gold.')).length),
    1,
  );
  await page.getByRole('button', { name: /Account: ana/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((k) => k.startsWith('callvet.'))), []);
  clean(page);
  await page.context().close();
});

test('the end of a session loses nothing of a sheet, and a second tab has the same draft', async () => {
  const mine = (
    await server.api('POST', '/api/traces?collection=mine', lines, {
      raw: true,
      as: 'expert',
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
  ).id;
  const page = await browser.page(server, { as: 'expert' });
  const end = async () => {
    const cookies = await page.context().cookies();
    const r = await fetch(`${server.url}/api/session`, {
      method: 'DELETE',
      headers: { Cookie: cookies.map((c) => `${c.name}=${c.value}`).join('; ') },
    });
    assert.ok(r.ok, String(r.status));
  };
  const login = async (name) => {
    await page.getByLabel('User name').fill(name);
    await page.getByRole('textbox', { name: 'Password' }).fill('a long password for tests');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor({ state: 'detached' });
  };
  await page.goto(`/gold?traces=${mine}`);
  await page.getByRole('button', { name: 'Propose tasks' }).click();
  const check = page.getByRole('article').getByLabel('Check of the result').first();
  await check.fill('before');
  const second = await page.context().newPage();
  await second.goto(`${server.url}/gold?traces=${mine}`);
  const there = second.getByRole('article').getByLabel('Check of the result').first();
  await there.fill('in the second tab');
  await page.waitForFunction(() =>
    [...document.querySelectorAll('input,textarea')].some((e) => e.value === 'in the second tab'),
  );
  await second.close();

  // The requests of the page are delayed, so that it notices the end of the session only after the typing.
  const held = [];
  let holds = true;
  await page.route('**/api/**', (r) => (holds ? held.push(r) : r.continue()));
  await end();
  await check.fill('none');
  assert.equal(await check.inputValue(), 'none');
  holds = false; // to remove the route first would continue the delayed requests a second time
  for (const r of held) await r.continue();
  await page.getByText('You are not logged in any more.').waitFor(); // the server read what was typed
  await login('expert');
  assert.equal(await check.inputValue(), 'none');
  await page.getByRole('button', { name: 'Confirm and go on' }).click();
  await page.getByText('1 of 3 tasks confirmed').waitFor();
  await page.getByRole('alert').first().waitFor({ state: 'detached' }); // the error is gone

  // A page that is loaded again after the login finds the draft too, and another user does not.
  await end();
  await page.reload();
  await login('expert');
  await page.getByText('1 of 3 tasks confirmed').waitFor();
  await end();
  await page.reload();
  await login('guest');
  await page.waitForFunction(() => Object.keys(localStorage).every((k) => !k.startsWith('callvet.gold.')));
  await page.context().close();
});
