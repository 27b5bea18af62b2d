import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';
import { allowFiles, exampleSuite, good, sloppy, weather } from './weather.mjs';

let server, browser, base, run;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
  const suite = await weather(server);
  base = await server.ran({ suite_id: suite, models: [good] });
  run = await server.ran({ suite_id: suite, models: [sloppy] });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

// A run passes 5 of 14: one gate passes, one fails, one is inconclusive.
const three = `gates:
  - {metric: pass_rate, at_least: 0.05, min_n: 5}
  - {metric: pass_rate, baseline: {margin: 0.05}, min_n: 5}
  - {metric: overall, at_least: 0.6, min_n: 5}
`;

const editor = (page) => page.getByRole('textbox', { name: 'Gate file' });

test('gates are written next to the linter, saved, and checked with a run: passed, failed, inconclusive', async () => {
  const page = await browser.page(server);
  await page.goto('/gates');
  await page.getByText('No gates yet').waitFor();
  await page.getByRole('link', { name: 'New gates' }).click();
  await page.getByLabel('Name').fill('release');
  await editor(page).click();
  await page.keyboard.insertText('gates:\n  - {metric: pass_rate, at_lest: 0.5}\n');
  await page.getByText(/Line 2: .*at_lest/).waitFor();
  await page.locator('.cm-lint-marker-error').waitFor();
  await editor(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(three);
  await page.getByText('3 gates, no mistakes').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/gates\/gate_/);
  const id = new URL(page.url()).pathname.split('/')[2];
  assert.equal((await server.api('GET', `/api/gates/${id}`)).text, three);

  await page.goto(`/gates/${id}?run=${run}&baseline=${base}`);
  await page.getByRole('button', { name: 'Check the run' }).click();
  const verdicts = page.locator('tr[data-gate]');
  await verdicts.first().waitFor();
  assert.deepEqual(await verdicts.evaluateAll((list) => list.map((r) => r.dataset.verdict)), [
    'PASS',
    'FAIL',
    'INCONCLUSIVE',
  ]);
  assert.match(await verdicts.nth(0).innerText(), /Passed[\s\S]*at least 5 %[\s\S]*n = 14/);
  assert.match(await verdicts.nth(1).innerText(), /Failed[\s\S]*−64.3 pp[\s\S]*n = 14/);
  assert.match(await verdicts.nth(2).innerText(), /Inconclusive[\s\S]*n = 14[\s\S]*needs about \d+ to \d+ more cases/);
  await page.locator('[data-verdict="FAIL"]').getByText('This stops a build.').waitFor();
  const history = page.locator('tr[data-history]');
  await history.first().waitFor();
  assert.equal(await history.count(), 1);
  assert.match(await history.innerText(), /Failed/);
  clean(page);
});

test('gates of single cases are about this suite; answers of a script are facts without an interval', async () => {
  const { id } = await server.api('POST', '/api/gates', {
    name: 'each case',
    text: 'gates:\n  - {metric: pass_rate, slice: case=*, at_least: 0.5}\n',
  });
  const page = await browser.page(server);
  await page.goto(`/gates/${id}?run=${base}`);
  await page.getByRole('button', { name: 'Check the run' }).click();
  const verdicts = page.locator('tr[data-gate]');
  await verdicts.first().waitFor();
  const text = await verdicts.first().innerText();
  assert.match(text, /100 %[\s\S]*n = 1 · as recorded, no interval/);
  assert.doesNotMatch(text, /100–100/);
  clean(page);
});

test('metrics are completed, and an edit of another user is not overwritten', async () => {
  const kept = await server.api('POST', '/api/gates', { name: 'two hands', text: three });
  const page = await browser.page(server);
  await page.goto(`/gates/${kept.id}`);
  await page.getByLabel('Name').fill('my name for it');
  await editor(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('  - metric: schema_v');
  await page.locator('.cm-tooltip-autocomplete').getByText('schema_valid', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(`${three}  - {metric: schema_valid, at_least: 0.9}\n`);
  await server.api('PUT', `/api/gates/${kept.id}`, { name: 'theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/Another user changed these gates/).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'my name for it'); // nothing is lost
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await page.getByRole('heading', { level: 1, name: 'my name for it' }).waitFor();
  const after = await server.api('GET', `/api/gates/${kept.id}`);
  assert.equal(after.name, 'my name for it');
  assert.match(after.text, /schema_valid, at_least: 0.9/);
  clean(page);
});

test('a tab of a run shows the verdicts of gates, and viewing it stores nothing', async () => {
  const one = await server.api('POST', '/api/gates', { name: 'three of a kind', text: three });
  const two = await server.api('POST', '/api/gates', {
    name: 'low bar',
    text: 'gates: [{metric: pass_rate, at_least: 0.05, min_n: 5}]',
  });
  const page = await browser.page(server);
  await page.goto(`/runs/${run}`);
  await page.getByRole('tab', { name: 'Gates' }).click();
  await page.waitForURL(/tab=gates/);
  const set = page.getByRole('combobox', { name: 'Gates', exact: true });
  await set.waitFor();
  assert.equal(await set.inputValue(), 'low bar'); // the newest gates
  const verdicts = page.locator('tr[data-gate]');
  await verdicts.first().waitFor();
  assert.deepEqual(await verdicts.evaluateAll((list) => list.map((r) => r.dataset.verdict)), ['PASS']);
  await set.click();
  await page.getByRole('option', { name: 'three of a kind' }).click();
  await page.waitForURL((u) => new URL(u).searchParams.get('gates') === one.id);
  await page.locator('tr[data-verdict="INCONCLUSIVE"]').first().waitFor();
  await page.goto(`/runs/${run}?tab=gates&gates=${one.id}&baseline=${base}`);
  await page.locator('tr[data-verdict="FAIL"]').waitFor();
  assert.deepEqual(await verdicts.evaluateAll((list) => list.map((r) => r.dataset.verdict)), [
    'PASS',
    'FAIL',
    'INCONCLUSIVE',
  ]);
  assert.match(await verdicts.nth(0).innerText(), /Passed[\s\S]*at least 5 %[\s\S]*n = 14/);
  assert.match(await verdicts.nth(2).innerText(), /Inconclusive[\s\S]*n = 14[\s\S]*needs about \d+ to \d+ more cases/);
  for (const id of [one.id, two.id]) assert.deepEqual((await server.api('GET', `/api/gates/${id}/history`)).items, []);
  await page.getByRole('link', { name: 'Open in the editor' }).click();
  await page.waitForURL(`**/gates/${one.id}?run=${run}&baseline=${base}`);
  await editor(page).waitFor();
  await page.goBack();
  await verdicts.first().waitFor();
  clean(page);
});

test('gates of the suite come first, and a run without gates shows how to make some', async () => {
  const suite = await server.suite(
    'callvet: 1\nname: gated\ngates: [{metric: pass_rate, at_least: 0.01, min_n: 1}]\ntools: [{name: a, description: does a}]\ncases: [{id: x, prompt: do a, expect: {calls: [{tool: a}]}}, {id: y, prompt: do a, expect: {calls: [{tool: a}]}}]\n',
  );
  const gated = await server.ran({ suite_id: suite, models: ['offline/lexical'] });
  assert.equal((await server.api('GET', `/api/tool-eval/history/${gated}?limit=0`)).suite_gates, true);
  const page = await browser.page(server);
  await page.goto(`/runs/${gated}?tab=gates`);
  await page.locator('tr[data-gate="pass_rate"]').waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Gates', exact: true }).inputValue(), 'Those of the suite');
  await page.getByRole('link', { name: 'Open the suite' }).waitFor();
  clean(page);

  await server.user('bo');
  const plain = await server.ran(
    { suite_id: await server.suite(await exampleSuite(), { as: 'bo' }), models: ['offline/lexical'] },
    { as: 'bo' },
  );
  const his = await browser.page(server, { as: 'bo' });
  await his.goto(`/runs/${plain}?tab=gates`);
  await his.getByText('No gates for this run').waitFor();
  assert.equal(await his.getByRole('link', { name: 'New gates' }).getAttribute('href'), `/gates/new?run=${plain}`);
  clean(his);
});

test('Back asks before it leaves unsaved gates', async () => {
  const page = await browser.page(server);
  await page.goto('/gates');
  await page.getByRole('link', { name: 'New gates' }).click();
  await page.getByLabel('Name').fill('not yet');
  await page.goBack();
  const asks = page.getByRole('dialog', { name: 'Discard what you typed?' });
  await asks.getByRole('button', { name: 'Keep editing' }).click();
  assert.equal(await page.getByLabel('Name').inputValue(), 'not yet');
  await editor(page).click();
  await page.keyboard.insertText(three);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/gates\/gate_/); // saving leaves the form without a question
  assert.equal(await asks.count(), 0);
  clean(page);
});

test('the screens of gates are accessible', async () => {
  const { items } = await server.api('GET', '/api/gates');
  const checked = async (page) => {
    await page.getByRole('button', { name: 'Check the run' }).click();
    return page.locator('tr[data-gate]');
  };
  const id = items.find((g) => g.name === 'release').id;
  const verdicts = (page) => page.locator('tr[data-gate]');
  await accessible(browser, server, [
    ['/gates', 'release'],
    [`/gates/${id}?run=${run}&baseline=${base}`, checked],
    [`/runs/${run}?tab=gates&gates=${id}&baseline=${base}`, verdicts],
  ]);
});
