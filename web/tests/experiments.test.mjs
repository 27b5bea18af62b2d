import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';
import { allowFiles, good, sloppy, weather } from './weather.mjs';

let server, browser, suite, base, candidate;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
  suite = await weather(server);
  base = await server.ran({ suite_id: suite, models: [sloppy] });
  candidate = await server.ran({ suite_id: suite, models: [good] });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('an experiment from its creation to a best configuration that a fresh run confirms', async () => {
  const page = await browser.page(server);
  await page.goto('/experiments');
  await page.getByText('No experiments yet').waitFor();
  await page.getByRole('button', { name: 'New experiment' }).click();
  const form = page.getByRole('dialog', { name: 'New experiment' });
  await form.getByLabel('Name').fill('Which model?');
  await form.getByLabel('Suite', { exact: false }).first().click();
  await page.getByRole('option', { name: /weather/ }).click();
  await form.getByLabel('Description').fill('The careful one or the other.');
  await form.getByRole('button', { name: 'New experiment' }).click();
  await page.getByRole('heading', { level: 1, name: 'Which model?' }).waitFor();
  const id = new URL(page.url()).pathname.split('/')[2];

  await page.getByText('No runs in this experiment').waitFor();
  await page.getByRole('button', { name: 'Link runs' }).click();
  const link = page.getByRole('dialog', { name: 'Link runs' });
  await link.getByRole('checkbox').first().waitFor();
  for (const box of await link.getByRole('checkbox').all()) await box.check();
  await link.getByRole('button', { name: 'Link runs' }).click();
  await page.locator(`tr[data-run="${base}"]`).waitFor();

  await page.getByRole('button', { name: `Actions for run ${base}` }).click();
  await page.getByRole('menuitem', { name: 'Pin as baseline' }).click();
  await page.locator(`tr[data-run="${base}"]`).getByText('Baseline').waitFor();
  const row = page.locator(`tr[data-run="${candidate}"]`);
  await row.getByText('better').waitFor();
  const line = await server.api('GET', `/api/experiments/${id}/timeline`);
  const change = line.entries.find((e) => e.eval_id === candidate).targets[0].pass_change.change;
  assert.equal(line.baseline_eval_id, base);
  assert.match(await row.innerText(), new RegExp(`\\+${(change.point * 100).toFixed(1)} pp[\\s\\S]*n = ${change.n}`));
  const chart = page.getByRole('img', { name: /Pass rates of 2 runs/ });
  assert.equal(await chart.locator('title').count(), 2); // one point per run, each with its interval as text
  assert.match(await chart.locator('title').first().textContent(), /interval from .* to .*, n = 14/);
  await page.getByText('Not confirmed yet: fresh repeats needed').waitFor();

  await page.getByRole('button', { name: 'Run the best again' }).click();
  await page.waitForURL(/\/jobs\/job_/);
  const job = await server.job(new URL(page.url()).pathname.split('/')[2]);
  assert.equal(job.status, 'done');
  await page.goBack();
  await page.getByText('Confirmed', { exact: true }).waitFor();
  assert.equal((await server.api('GET', `/api/experiments/${id}`)).best_config.confirmed, true);
  clean(page);
});

test('runs leave an experiment, and a deleted one comes back', async () => {
  const made = await server.api('POST', '/api/experiments', { name: 'To leave', suite_id: suite });
  await server.api('PATCH', `/api/runs/${base}`, { experiment_id: made.id });
  const page = await browser.page(server);
  await page.goto(`/experiments/${made.id}`);
  await page.getByRole('button', { name: `Actions for run ${base}` }).click();
  await page.getByRole('menuitem', { name: 'Remove from the experiment' }).click();
  await page.getByText('No runs in this experiment').waitFor();
  await server.api('GET', `/api/runs/${base}`); // the run still exists

  for (const undo of [true, false]) {
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.waitForURL(/\/experiments$/);
    const notice = page.getByRole('alert').filter({ hasText: 'To leave deleted' });
    if (undo) {
      await notice.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('heading', { level: 1, name: 'To leave' }).waitFor();
    } else {
      const gone = page.waitForResponse((r) => r.request().method() === 'DELETE');
      await notice.getByRole('button').last().click();
      assert.equal((await gone).status(), 204);
    }
  }
  clean(page);
});

test('leaderboard and trend show intervals', async () => {
  const made = await server.api('POST', '/api/experiments', { name: 'Ranks', suite_id: suite });
  const page = await browser.page(server);
  await page.goto(`/experiments/${made.id}?tab=leaderboard`);
  const board = await server.api('GET', `/api/leaderboard?suite_id=${suite}`);
  const rows = page.getByRole('region', { name: 'Leaderboard' }).locator('tbody tr');
  await rows.first().waitFor();
  assert.equal(await rows.count(), board.items.length);
  assert.match(await rows.first().innerText(), /n = 14/);
  assert.equal(await page.getByText('cannot be read').count(), 0);

  // A run that cannot be read is named.
  await page.route('**/api/leaderboard?*', (r) => r.fulfill({ json: { ...board, unread: ['r-damaged'] } }));
  await page.reload();
  await page.getByText('1 of the runs cannot be read. Their configurations may have any rank:').waitFor();
  assert.equal(await page.getByRole('link', { name: 'r-damaged' }).getAttribute('href'), '/runs/r-damaged');
  await page.unroute('**/api/leaderboard?*');
  await page.getByRole('tab', { name: 'Trend' }).click();
  await page.getByRole('region', { name: 'Trend' }).getByText('first run').first().waitFor();
  assert.match(page.url(), /tab=trend/);
  clean(page);
});

test('the screens of experiments are accessible', async () => {
  const { items } = await server.api('GET', '/api/experiments');
  const at = `/experiments/${items.find((e) => e.name === 'Which model?').id}`;
  await accessible(browser, server, [
    ['/experiments', 'Which model?'],
    [at, 'Best configuration'],
    [`${at}?tab=trend`, 'first run'],
    [`${at}?tab=leaderboard`, 'Pass rate'],
  ]);
});
