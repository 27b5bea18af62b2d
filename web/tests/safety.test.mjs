import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';

let server, browser, run;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('drills run from the page, and their results have a bound and n', async () => {
  const page = await browser.page(server);
  await page.goto('/safety');
  await page.getByText('No drills yet').waitFor();
  await page.getByRole('button', { name: 'Run drills' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Models' }).fill('offline/lexical');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Run drills' }).click();
  await page.waitForURL(/run=/);
  run = new URL(page.url()).searchParams.get('run');
  const job = new URL(page.url()).searchParams.get('job');
  assert.equal((await server.job(job)).status, 'done');
  await page.getByText(/^66 cases, 27 of them with an attack/).waitFor();
  const report = await server.api('GET', `/api/runs/${run}/drill`);
  const [target] = report.targets;
  await page.getByText(`Cases with an incident: ${target.incidents} of ${target.decided}.`).waitFor();
  assert.ok(report.unsafe.length > 0);
  await page.getByRole('link', { name: report.unsafe[0].case, exact: true }).first().waitFor();
  clean(page);
});

test('each incident has its case, rule, call and effect, and leads to the case', async () => {
  const page = await browser.page(server);
  await page.goto(`/safety?run=${run}&part=incidents`);
  const { items } = await server.api('GET', `/api/runs/${run}/incidents?limit=50`);
  const list = page.getByRole('list', { name: 'Incidents of the run' }).getByRole('listitem');
  await list.first().waitFor();
  assert.equal(await list.count(), items.length);
  const first = await list.first().innerText();
  for (const part of [items[0].case, items[0].rule, items[0].target, items[0].blocked ? 'blocked' : 'happened'])
    assert.ok(first.includes(part), `${part} in ${first}`);
  const href = await list.first().getByRole('link').getAttribute('href');
  assert.equal(href, `/runs/${run}/case?case=${encodeURIComponent(items[0].case)}`);
  clean(page);
});

test('recordings are browsed, and exported as fixtures', async () => {
  const page = await browser.page(server);
  await page.goto(`/safety?run=${run}&part=recordings`);
  const { items } = await server.api('GET', `/api/runs/${run}/recordings?limit=100`);
  const table = page.getByRole('region', { name: 'Recordings of the run' });
  await table.getByRole('button', { name: items[0].tool, exact: true }).first().click();
  await page
    .getByRole('dialog')
    .getByRole('link', { name: `Open the case ${items[0].case}` })
    .waitFor();
  assert.match(page.url(), /call=/);
  await page.keyboard.press('Escape');
  const waiting = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export as fixtures' }).click();
  assert.match((await waiting).suggestedFilename(), /^fixtures-.*\.yaml$/);
  clean(page);
});

test('safety is accessible', async () => {
  await accessible(
    browser,
    server,
    ['drill', 'incidents', 'recordings'].map((part) => [
      `/safety?run=${run}&part=${part}`,
      (page) => page.getByRole('heading', { name: 'Replay & safety' }),
    ]),
  );
});
