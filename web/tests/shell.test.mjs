import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { axe, Browser, clean, Server } from './harness.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('log in, log out, and addresses that do not exist', async () => {
  const page = await browser.page(server, { as: null });
  await page.goto('/jobs?status=done');
  await page.getByLabel('User name').fill('ana');
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password at all');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Name or password is wrong.').waitFor();
  await page.getByRole('textbox', { name: 'Password' }).fill('a long password for tests');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation').waitFor();
  assert.match(page.url(), /\/jobs\?status=done$/); // the address that was asked for
  await page.goto('/nothing-here');
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  await page.getByRole('button', { name: /Account: ana/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  clean(page);
});

test('inputs survive the end of a session, but neither a logout nor the login of another user', async () => {
  await server.user('typist');
  await server.user('other');
  await server.suite(
    {
      callvet: 1,
      name: 'typed on',
      tools: [{ name: 'find' }],
      cases: [{ id: 'a', prompt: 'Where?', expect: { calls: [{ tool: 'find' }] } }],
    },
    { as: 'typist' },
  );
  const page = await browser.page(server, { as: 'typist' });
  const typed = async () => {
    await page.goto('/experiments');
    await page.getByRole('button', { name: 'New experiment' }).first().click();
    const form = page.getByRole('dialog', { name: 'New experiment' });
    await form.getByLabel('Name').fill('Half a thought');
    await form.getByLabel('Suite', { exact: false }).first().click();
    await page.getByRole('option', { name: /typed on/ }).click();
    await form.getByLabel('Description').fill('which I have not sent yet');
    return form;
  };
  const login = async (name) => {
    await page.getByLabel('User name').fill(name);
    await page.getByRole('textbox', { name: 'Password' }).fill('a long password for tests');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor({ state: 'detached' });
  };
  const form = await typed();
  // The page notices the end at some time and then hides the button: a dispatched event works without a pointer.
  await server.api('DELETE', '/api/session', undefined, { as: 'typist' });
  await form.getByRole('button', { name: 'New experiment' }).dispatchEvent('click');
  await page.getByText('You are not logged in any more.').waitFor();
  await login('typist');
  assert.equal(await form.getByLabel('Description').inputValue(), 'which I have not sent yet');
  await form.getByRole('button', { name: 'New experiment' }).click();
  await page.getByRole('heading', { level: 1, name: 'Half a thought' }).waitFor(); // back on the same screen

  await page.goto('/new');
  await page.getByLabel('Name of the run').fill('a draft');
  await page.evaluate(() => localStorage.setItem('callvet.labels.typist.run.r1', '[]'));
  await page.getByRole('button', { name: /Account: typist/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  assert.deepEqual(
    await page.evaluate(() => [
      sessionStorage.length,
      Object.keys(localStorage).filter((k) => k.startsWith('callvet.') && k !== 'callvet.language'),
    ]),
    [0, []],
  );
  await login('typist');
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  assert.equal(await page.getByLabel('Name of the run').inputValue(), '');

  // Another user who logs in finds none of it.
  await page.getByLabel('Name of the run').fill('of the typist');
  const cookies = await page.context().cookies();
  const r = await fetch(`${server.url}/api/session`, {
    method: 'DELETE',
    headers: { Cookie: cookies.map((c) => `${c.name}=${c.value}`).join('; ') },
  });
  assert.ok(r.ok, String(r.status));
  await page.getByRole('link', { name: 'Jobs', exact: true }).dispatchEvent('click');
  await page.getByText('You are not logged in any more.').waitFor();
  await login('other');
  await page.getByRole('link', { name: 'New run', exact: true }).click();
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  assert.equal(await page.getByLabel('Name of the run').inputValue(), '');
  clean(page);
});

test('events are followed, and the connection comes back after the server was killed', async () => {
  const page = await browser.page(server);
  await page.goto('/');
  await page.locator('[data-live="live"]').waitFor();
  await server.down('SIGKILL');
  await page.getByText('Connection lost. Trying again; nothing is lost.').waitFor();
  await server.up();
  await page.locator('[data-live="live"]').waitFor();
  await page.locator('[data-lost]').waitFor({ state: 'detached' });
  clean(page);
});

test('the palette finds suites, runs and experiments', async () => {
  const suite = await server.suite({
    callvet: 1,
    name: 'parcel desk',
    tools: [{ name: 'find' }],
    cases: [{ id: 'a', prompt: 'Where is it?', expect: { calls: [{ tool: 'find' }] } }],
  });
  const run = await server.ran({ suite_id: suite, models: ['offline/lexical'] });
  const experiment = await server.api('POST', '/api/experiments', { name: 'parcel prompts', suite_id: suite });
  for (const [kind, to] of [
    ['Suite', `/suites/${suite}`],
    ['Run', `/runs/${run}`],
    ['Experiment', `/experiments/${experiment.id}`],
  ]) {
    const page = await browser.page(server);
    await page.goto('/jobs');
    await page.locator('[data-live]').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search and commands').fill('parcel');
    await page.locator('.mantine-Spotlight-action').filter({ hasText: kind }).first().click();
    await page.waitForURL(`**${to}`);
    clean(page);
  }
});

test('the keyboard opens commands and the list of shortcuts', async () => {
  const page = await browser.page(server);
  await page.goto('/nothing-here');
  await page.locator('[data-live]').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search and commands').fill('dark');
  await page.keyboard.press('Enter');
  await page.locator('[data-mantine-color-scheme="dark"]').waitFor();
  clean(page);
});

test('the content policy allows only scripts that are files of the server', async () => {
  const page = await browser.page(server);
  const answer = await page.goto('/');
  const policy = answer.headers()['content-security-policy'];
  assert.match(policy, /script-src 'self';/);
  assert.match(policy, /style-src 'self' 'nonce-[^']{16,}'/);
  assert.doesNotMatch(policy, /unsafe/);
  const again = await page.goto('/');
  assert.notEqual(again.headers()['content-security-policy'], policy); // each answer has a new nonce
});

test('the frame is accessible', async () => {
  for (const theme of ['light', 'dark']) {
    for (const as of ['ana', null]) {
      const page = await browser.page(server, { as, theme });
      await page.goto('/nothing-here');
      await page.getByRole('heading').first().waitFor();
      await axe(page, `${as} ${theme}`);
    }
  }
});
