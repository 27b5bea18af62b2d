import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { axe, Browser, clean, Viewer } from './harness.mjs';

let viewer, browser;
before(async () => {
  [viewer, browser] = await Promise.all([Viewer.start(), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await viewer?.stop();
});

test('the link opens the store read-only, once', async () => {
  const page = await browser.page(viewer, { as: null });
  await page.goto(viewer.link);
  await page.getByText('Read only: callvet view').waitFor();
  assert.doesNotMatch(page.url(), /view=/); // the secret is removed from the address
  assert.equal(await page.getByRole('link', { name: 'New run' }).count(), 0);
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).count(), 0); // view has no queue
  assert.ok((await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).count()) > 0);
  await axe(page);
  // No action that changes data is offered.
  for (const [path, link] of [
    ['/tune', 'New search'],
    ['/experiments', 'New experiment'],
  ]) {
    await page.goto(viewer.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText(/^No /).first().waitFor();
    assert.equal(await page.getByRole('main').getByText(link).count(), 0, path);
  }
  clean(page);

  const other = await browser.page(viewer, { as: null });
  await other.goto(viewer.link);
  await other.getByText('This link was used').waitFor();
});
