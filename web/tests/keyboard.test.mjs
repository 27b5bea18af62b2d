import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, clean, Server } from './harness.mjs';
import { allowFiles, weather } from './weather.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** to presses Tab until the element with a role and a name has the focus, and returns the element. */
async function to(page, role, name, most = 80) {
  const wanted = page.getByRole(role, { name });
  await wanted.first().waitFor();
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const focused = await wanted.evaluateAll((list) => list.some((e) => e === document.activeElement));
    if (focused) {
      // The focused element has a visible mark.
      const seen = await page.evaluate(() => {
        const s = getComputedStyle(document.activeElement);
        return s.outlineStyle !== 'none' || s.boxShadow !== 'none' || s.borderColor !== '';
      });
      assert.ok(seen, `${role} ${name} does not show its focus`);
      return;
    }
  }
  assert.fail(`${role} ${name} is not reached by Tab`);
}

test('a journey by keyboard alone: log in, run a suite, find out why a case failed, log out', async () => {
  const suite = await weather(server);
  const page = await browser.page(server, { as: null });
  await page.goto('/');
  await to(page, 'textbox', 'User name').catch(() => {}); // the field may already have the focus
  await page.getByRole('textbox', { name: 'User name' }).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('ana');
  await to(page, 'textbox', 'Password');
  await page.keyboard.type('a long password for tests');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

  // g, then a letter, goes to a screen; the suite is in the address.
  await page.goto(`/new?suite=${suite}`);
  await page.getByText(/\d+ cases, \d+ tools/).waitFor();
  await to(page, 'combobox', 'Add a model').catch(() => to(page, 'textbox', 'Add a model'));
  await page.keyboard.type('offline/lexical');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove offline/lexical' }).waitFor();
  await to(page, 'button', 'Start the run');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/jobs\/.+/);
  const [job] = (await server.api('GET', '/api/jobs')).items;
  assert.equal((await server.job(job.job_id)).status, 'done');

  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  await page.goto(`/runs/${job.result_ref}?tab=attempts&verdict=fail`);
  const row = page.locator('[data-index="0"]');
  await row.waitFor();
  for (let i = 0; i < 80 && !(await row.evaluate((e) => e === document.activeElement)); i++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/case\?/);
  await page.getByRole('heading', { level: 1, name: new URL(page.url()).searchParams.get('case') }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/tab=attempts/);

  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search and commands').waitFor();
  await page.keyboard.type('Log out');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  clean(page);
});
