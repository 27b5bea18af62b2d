import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';

const weather = {
  name: 'weather',
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Weather now',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
  test_cases: [
    { prompt: "What's the weather in Paris?", expected_tool: 'get_weather', expected_params: { city: 'Paris' } },
  ],
};

let server, browser, model;
before(async () => {
  model = createServer((req, res) => {
    let text = '';
    req.on('data', (b) => (text += b));
    req.on('end', () => {
      const answer = (status, body) => {
        res.writeHead(status, { 'Content-Type': 'application/json' });
        res.end(JSON.stringify(body));
      };
      if (req.headers.authorization !== 'Bearer sk-the-right-key-1234')
        return answer(401, { error: { message: 'Incorrect API key provided' } });
      if (JSON.parse(text).model === 'gone')
        return answer(404, { error: { message: 'The model gone does not exist' } });
      answer(200, {
        model: 'm1-2026',
        choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      });
    });
  });
  await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
  [server, browser] = await Promise.all([Server.start({ args: ['--allow-private', '127.0.0.1'] }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  model?.close();
});

test('a key is set, tested with a clear word, replaced, deleted', async () => {
  const page = await browser.page(server);
  await page.goto('/settings/keys');
  const own = `127.0.0.1:${model.address().port}`;
  const setKey = async (opener, value, hosts) => {
    await opener.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Key' }).fill(value);
    if (hosts) await dialog.getByRole('textbox', { name: 'Hosts' }).fill(hosts);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
  };
  await setKey(page.getByRole('button', { name: 'Set a key' }), 'sk-a-wrong-key-9876', 'api.openai.com');
  await page.getByRole('cell', { name: 'OPENAI_API_KEY', exact: true }).waitFor();
  await page.getByText('…9876').waitFor();
  assert.doesNotMatch(await page.content(), /sk-a-wrong-key/);

  const ask = async (name) => {
    await page.getByRole('textbox', { name: 'Model' }).fill(name);
    await page.getByRole('textbox', { name: 'Address' }).fill(`http://${own}/v1`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
  };
  await ask('m1');
  await page.getByText(`OPENAI_API_KEY is not sent to ${own}: it is kept for api.openai.com alone`).waitFor();
  await setKey(
    page.getByRole('button', { name: 'Replace: OPENAI_API_KEY' }),
    'sk-a-wrong-key-9876',
    `api.openai.com, ${own}`,
  );
  await page.getByRole('cell', { name: `${own}, api.openai.com`, exact: true }).waitFor();
  await ask('m1');
  await page.getByText('The key is refused. (HTTP 401)').waitFor();
  await setKey(page.getByRole('button', { name: 'Replace: OPENAI_API_KEY' }), 'sk-the-right-key-1234');
  await page.getByText('…1234').waitFor();
  await ask('gone');
  await page.getByText('Most often there is no such model.').waitFor();
  await ask('m1');
  await page.getByText('m1-2026 answered in').waitFor();

  await page.getByRole('button', { name: 'Delete: OPENAI_API_KEY' }).click();
  await page.getByRole('dialog').getByText('Runs that need OPENAI_API_KEY will fail').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No keys yet').waitFor();
  assert.equal((await server.api('GET', '/api/keys')).items.length, 0);
  clean(page);
});

test('a token is made, shown once, works, and is revoked', async () => {
  const page = await browser.page(server);
  await page.goto('/settings/tokens');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What it is for').fill('nightly CI');
  await dialog.getByRole('button', { name: 'Make a token' }).click();
  const secret = (await dialog.getByRole('region', { name: 'nightly CI' }).innerText()).trim();
  assert.match(secret, /^cv_/);
  const me = () => fetch(`${server.url}/api/me`, { headers: { Authorization: `Bearer ${secret}` } });
  const user = await (await me()).json();
  assert.deepEqual([user.name, user.scopes], ['ana', ['read', 'run']]);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.reload();
  await page.getByRole('cell', { name: 'nightly CI', exact: true }).waitFor();
  assert.doesNotMatch(await page.content(), new RegExp(secret));
  await page.getByRole('button', { name: 'Revoke: nightly CI' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet').waitFor();
  assert.equal((await me()).status, 401);
  clean(page);
});

test('an invited user sets a password by the link, and sees nothing of other users', async () => {
  await server.suite({ ...weather, name: 'of ana alone' });
  const page = await browser.page(server);
  await page.goto('/settings/users');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('bo');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  const link = (await page.getByRole('region', { name: 'One-time link' }).innerText()).trim();
  assert.match(link, /#claim=/);

  const other = await browser.page(server, { as: null });
  await other.goto(link);
  await other.getByRole('textbox', { name: 'Password', exact: true }).fill('a long password for bo');
  await other.getByRole('textbox', { name: 'The same password again' }).fill('a long password for bo');
  await other.getByRole('button', { name: 'Choose a password' }).click();
  await other.getByRole('button', { name: 'Account: bo' }).waitFor();
  assert.doesNotMatch(other.url(), /claim/);
  await other.goto('/settings/users'); // not for members: the first allowed part is shown
  await other.getByRole('tab', { name: 'Providers' }).waitFor();
  assert.equal(await other.getByRole('tab', { name: 'Users' }).count(), 0);
  assert.equal(await other.getByRole('link', { name: 'Audit' }).count(), 0);
  const seen = await other.evaluate(async () =>
    Promise.all(
      ['/api/tool-suites', '/api/keys', '/api/tokens', '/api/schedules', '/api/tool-eval/history', '/api/traces'].map(
        async (p) => (await (await fetch(p)).json()).items.length,
      ),
    ),
  );
  assert.deepEqual(seen, [0, 0, 0, 0, 0, 0]);
  assert.equal(await other.evaluate(async () => (await fetch('/api/users')).status), 403);

  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Actions for bo' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  await page.getByRole('dialog').getByLabel('Role').selectOption('viewer');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'Viewer', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Actions for bo' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('cell', { name: 'bo', exact: true }).waitFor({ state: 'detached' });
  await other.goto('/settings');
  await other.getByRole('button', { name: 'Log in' }).waitFor(); // out at once
  clean(page);
});

test('the password is changed, and other logins end', async () => {
  await server.user('cai');
  const page = await browser.page(server, { as: 'cai' });
  await page.goto('/settings/password');
  const fill = async (before, after, again) => {
    await page.getByRole('textbox', { name: 'Your password now' }).fill(before);
    await page.getByRole('textbox', { name: 'New password' }).fill(after);
    await page.getByRole('textbox', { name: 'The same password again' }).fill(again);
  };
  await fill('not it at all, no', 'another long password', 'another long password');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  await fill('a long password for tests', 'another long password', 'another long');
  await page.getByText('The two passwords are not the same.').waitFor();
  await fill('a long password for tests', 'another long password', 'another long password');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The password is changed').waitFor();
  const login = (password) =>
    fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'cai', password }),
    });
  assert.equal((await login('a long password for tests')).status, 401);
  assert.equal((await login('another long password')).status, 200);
  clean(page);
});

test('limits are saved, and the limits in force are shown', async () => {
  const page = await browser.page(server);
  await page.goto('/settings/limits');
  await page.getByRole('combobox', { name: 'Private hosts' }).fill('models.internal');
  await page.keyboard.press('Enter');
  await page.getByText('Not saved yet').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Not saved yet').waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: '127.0.0.1, models.internal' }).waitFor();
  assert.deepEqual((await server.api('GET', '/api/settings')).private_hosts, ['models.internal']);
  clean(page);
});

test('a schedule is made, run now, disabled, deleted and restored', async () => {
  await server.suite(weather);
  const page = await browser.page(server);
  await page.goto('/settings/schedules');
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  await form.getByLabel('Name').fill('nightly');
  await form
    .getByRole('combobox', { name: 'Suite' })
    .or(form.getByRole('textbox', { name: 'Suite' }))
    .first()
    .click();
  await page.getByRole('option', { name: 'weather', exact: true }).click();
  await form.getByRole('combobox', { name: 'Models' }).fill('offline/lexical');
  await page.keyboard.press('Enter');
  await form.getByLabel('Times (cron)').fill('61 * * * *');
  await form.getByText(/61/).waitFor(); // the error of the server's parser, at once
  await form.getByLabel('Times (cron)').fill('0 3 * * *');
  await form.getByText(/Next times: .* 03:00/).waitFor();
  await form.getByLabel('Address').fill(`http://127.0.0.1:${model.address().port}/hook`);
  await form.getByRole('button', { name: 'Save' }).click();
  const secret = page.getByRole('dialog', { name: 'Copy the secret of the webhook now' });
  assert.match(await secret.getByRole('region').innerText(), /^whsec_/);
  await secret.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Run now: nightly' }).click();
  const history = page.getByRole('dialog', { name: 'nightly' });
  await history.getByText('1 of 1 passed').or(history.getByText('0 of 1 passed')).waitFor();
  const run = await history.getByRole('link', { name: 'Open the run' }).getAttribute('href');
  assert.equal((await server.api('GET', `/api/tool-eval/history/${run.split('/').at(-1)}`)).status, 'done');
  await page.keyboard.press('Escape');
  const choose = async (what) => {
    await page.getByRole('button', { name: 'Actions for nightly' }).click();
    await page.getByRole('menuitem', { name: what }).click();
  };
  await choose('Disable');
  await page.getByText('disabled', { exact: true }).waitFor();
  await choose('Delete');
  await page.getByText('No schedules yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Run now: nightly' }).waitFor();
  assert.equal((await server.api('GET', '/api/schedules')).items.length, 1);
  clean(page);
});

test('the audit log is filtered, and the filter is in the address', async () => {
  const page = await browser.page(server);
  await page.goto('/audit?kind=token.create');
  const rows = page.getByRole('region', { name: 'Audit log' }).locator('tbody tr[data-index]');
  await rows.first().waitFor();
  assert.deepEqual([...new Set(await rows.locator('td:nth-child(3)').allInnerTexts())], ['token.create']);
  await page
    .getByRole('textbox', { name: 'Kind' })
    .or(page.getByRole('combobox', { name: 'Kind' }))
    .first()
    .click();
  await page.getByRole('option', { name: 'key.set', exact: true }).click();
  await page.waitForURL(/kind=key\.set/);
  await page.getByRole('cell', { name: 'OPENAI_API_KEY', exact: true }).first().waitFor();
  await page.goBack();
  await page.waitForURL(/kind=token\.create/);
  clean(page);
});

test('settings and audit are accessible', async () => {
  await server.api('PUT', '/api/keys/OPENAI_API_KEY', { value: 'sk-the-right-key-1234' });
  await server.api('POST', '/api/tokens', { name: 'for a look', scopes: ['read'] });
  const places = [
    ['/settings/keys', 'Keys of providers'],
    ['/settings/tokens', 'Your API tokens'],
    ['/settings/schedules', 'Schedules'],
    ['/settings/password', 'Change your password'],
    ['/settings/users', 'Users'],
    ['/settings/limits', 'In force now'],
    ['/settings/appearance', 'Appearance'],
    ['/audit', 'Audit'],
  ];
  await accessible(
    browser,
    server,
    places.map(([place, name]) => [place, (page) => page.getByRole('heading', { name, exact: true })]),
  );
});
