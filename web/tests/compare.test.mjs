import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';
import { allowFiles, good, sloppy, weather } from './weather.mjs';

let server, browser, models, alone;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
  const suite = await weather(server);
  models = await server.ran({ suite_id: suite, models: ['offline/lexical', good, sloppy] });
  alone = await server.ran({ suite_id: suite, models: [good] });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

async function opened(address, options) {
  const page = await browser.page(server, options);
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

const differences = (page) => page.getByRole('region', { name: 'Paired difference' });
const changed = (page) => page.getByRole('region', { name: /Cases that changed/ });

test('n counts cases on both sides, whatever the repeats, with the attempts in words', async () => {
  const suite = (await server.api('GET', '/api/tool-suites')).items[0].id;
  const twice = await server.ran({ suite_id: suite, models: [sloppy], repeats: 2 });
  const once = await server.ran({ suite_id: suite, models: [sloppy] });
  const page = await opened(`/compare?runs=${once},${twice}`);
  const rows = differences(page).getByRole('row');
  await rows.nth(1).waitFor();
  for (const i of [1, 2]) {
    const text = await rows.nth(i).innerText();
    assert.equal((text.match(/n = 14/g) ?? []).length, 3, text); // baseline, candidate, change
    if (i === 2) assert.match(text, /n = 14 cases, 28 attempts/); // the mean score is over all attempts
    assert.doesNotMatch(text, /n = 28/);
  }
  clean(page);
  await page.context().close();
});

test('the models of one run: differences with intervals, regressions first, the baseline in the address', async () => {
  const page = await opened(`/runs/${models}`);
  await page.getByRole('link', { name: 'Compare models' }).click();
  await page.waitForURL(`**/compare?runs=${models}`);
  const [floor, first, second] = (await server.api('GET', `/api/runs/${models}`)).panels.targets.map((p) => p.name);
  const base = page.getByRole('combobox', { name: 'Baseline model' });
  await base.waitFor();
  assert.equal(await base.inputValue(), first); // the first target that is no floor
  const comparison = await server.api(
    'GET',
    `/api/diff?base=${models}&base_target=${encodeURIComponent(first)}&metrics=overall`,
  );
  assert.deepEqual(
    comparison.targets.map((p) => p.candidate),
    [floor, second],
  );
  for (const p of comparison.targets) {
    const row = await differences(page)
      .getByRole('row', { name: `${first} → ${p.candidate}` })
      .first()
      .innerText();
    assert.match(row, new RegExp(`n = ${p.overall.change.n}`));
    assert.ok(row.includes(`${(Math.abs(p.overall.change.point) * 100).toFixed(1)} pp`), row);
    assert.ok(row.includes(p.overall.verdict), row);
  }
  const kinds = await changed(page).locator('tbody tr[data-index] td:first-child').allInnerTexts();
  assert.ok(comparison.estimates.startsWith('Numbers are about'), comparison.estimates);
  assert.equal(await page.locator('[data-estimates]').first().innerText(), comparison.estimates);
  assert.equal(kinds[0], 'Newly failing');
  assert.equal(
    kinds.length,
    comparison.targets.reduce((n, p) => n + p.changes.length, 0),
  );

  await base.click();
  await page.getByRole('option', { name: second, exact: true }).click();
  await page.waitForURL((u) => new URL(u).searchParams.get('base') === second);
  await differences(page)
    .getByRole('row', { name: `${second} → ${first}` })
    .first()
    .waitFor();
  await changed(page).getByText('Newly passing').first().waitFor();
  await page.reload();
  await differences(page)
    .getByRole('row', { name: `${second} → ${first}` })
    .first()
    .waitFor();
  await page
    .getByRole('region', { name: 'What differs in the configuration' })
    .getByRole('columnheader', { name: second })
    .waitFor();
  await page.goBack();
  await differences(page)
    .getByRole('row', { name: `${first} → ${second}` })
    .first()
    .waitFor();

  await page.goto(`/compare?runs=${models}&base=${encodeURIComponent(first)}&model=${encodeURIComponent(second)}`);
  await differences(page)
    .getByRole('row', { name: `${first} → ${second}` })
    .first()
    .waitFor();
  assert.equal(
    await differences(page)
      .getByRole('row', { name: `${first} → ${floor}` })
      .count(),
    0,
  );
  await changed(page).locator('tbody tr[data-index] a').first().click();
  await page.waitForURL((u) => new URL(u).searchParams.get('target') === second);
  clean(page);

  const wrong = await opened(`/compare?runs=${models}&base=nobody`);
  await wrong
    .getByRole('alert')
    .getByText(new RegExp(`no such target; it has ${floor}`))
    .first()
    .waitFor();
});

test('unchanged cases are shown on request, and the address keeps the choice', async () => {
  for (const place of [`/compare?runs=${models}`, `/compare?runs=${alone},${models}`]) {
    const page = await opened(place);
    await differences(page).waitFor();
    assert.equal(await page.getByText(/^Both (pass|fail)$/).count(), 0);
    await page.getByRole('switch', { name: 'Also show unchanged cases' }).click();
    await page.waitForURL(/unchanged=true/);
    await changed(page).getByText('Both pass').first().waitFor();
    const kinds = await changed(page).locator('tbody tr[data-index] td:first-child').allInnerTexts();
    assert.ok(
      (place.includes(',') ? kinds[0] === 'Both pass' : kinds[0] === 'Newly failing') &&
        kinds.lastIndexOf('Both pass') === kinds.length - 1,
      kinds.join(),
    );
    await page.reload();
    await changed(page).getByText('Both pass').first().waitFor();
    await page.getByRole('switch', { name: 'Also show unchanged cases' }).click();
    await page.waitForURL((u) => !u.search.includes('unchanged'));
    await page.getByText('Both pass').first().waitFor({ state: 'detached' });
    clean(page);
  }
});

test('a run older than the newest 200 has its header and its name', async () => {
  await server.api('PATCH', `/api/runs/${alone}`, { shared: true });
  const page = await browser.page(server);
  // a list without the run
  await page.route(/\/api\/tool-eval\/history\?/, (route) => route.fulfill({ json: { items: [] } }));
  await page.goto(`/runs/${alone}`);
  const badge = page.getByText('Shared', { exact: true });
  await badge.waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Stop sharing' }).click();
  await badge.waitFor({ state: 'detached' });
  assert.equal((await server.api('GET', `/api/tool-eval/history/${alone}?limit=0`)).shared, false);
  await page.goto(`/compare?runs=${alone},${models}`);
  for (const id of [alone, models])
    await page.getByRole('link', { name: new RegExp(`weather · ${id} · \\d`) }).waitFor();
  clean(page);
});

test('the comparison of models is accessible', async () => {
  await accessible(browser, server, [
    [`/compare?runs=${models}&unchanged=true`, (page) => changed(page).getByText('Both pass')],
  ]);
});
