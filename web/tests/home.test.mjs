import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { accessible, axe, Browser, clean, Server, themes } from './harness.mjs';

let server, browser, model;
before(async () => {
  [server, browser, model] = await Promise.all([
    Server.start({ args: ['--allow-private', '127.0.0.1'] }),
    Browser.start(),
    slowModel(),
  ]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  model?.close();
});

/**
 * slowModel answers chat completions as OpenAI does: a call of weather with the city of the prompt. It can hold
 * answers back.
 */
async function slowModel() {
  const waiting = new Set();
  const m = { open: Infinity, answered: 0, asked: 0, broken: false };
  const answer = (res, city) => {
    m.answered++;
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: JSON.stringify({ city }) } };
    res.setHeader('Content-Type', 'application/json');
    res.end(
      JSON.stringify({
        model: 'm',
        choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [call] } }],
        usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
      }),
    );
  };
  const listener = http.createServer((req, res) => {
    let text = '';
    req.on('data', (b) => (text += b));
    req.on('end', () => {
      m.asked++;
      if (m.broken && /Weather in Town[0-4]\b/.test(text))
        return res.writeHead(500).end('{"error":{"message":"out of order"}}');
      const city = /Weather in (\w+)/.exec(text)?.[1] ?? 'nowhere';
      if (m.answered < m.open) return answer(res, city);
      const held = () => {
        waiting.delete(held);
        answer(res, city);
      };
      waiting.add(held);
      res.on('close', () => waiting.delete(held));
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  m.url = `http://127.0.0.1:${listener.address().port}/v1`;
  /** hold sends n more answers and delays the rest. */
  m.hold = (n) => {
    m.open = m.answered + n;
    for (const f of [...waiting].slice(0, n)) f();
  };
  m.release = () => m.hold(Infinity);
  m.close = () => {
    listener.closeAllConnections();
    listener.close();
  };
  return m;
}

/** cities returns a suite of n cases; in every tenth the model names a wrong city. */
function cities(name, n) {
  return {
    name,
    system_prompt: 'Use the tool.',
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'Weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ],
    test_cases: Array.from({ length: n }, (_, i) => ({
      id: `c${i}`,
      prompt: `Weather in Town${i}`,
      expected_tool: 'weather',
      expected_params: { city: i % 10 === 9 ? 'Elsewhere' : `Town${i}` },
    })),
  };
}

/** field returns an input of a form, with or without a list of choices. */
const field = (page, name) => page.getByRole('combobox', { name }).or(page.getByRole('textbox', { name })).first();

const slow = (suite, more = {}) => ({
  suite_id: suite,
  targets: [{ provider_key: 'openai', model_id: 'm', base_url: model.url }],
  concurrency: 2,
  no_cache: true,
  ...more,
});

test('a newcomer comes to a first result, offline, with one click', async () => {
  await server.user('new', 'member');
  const page = await browser.page(server, { as: 'new' });
  await page.goto('/');
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    await axe(page, `first ${theme}`);
  }
  await page.getByRole('button', { name: 'Run the example' }).click();
  await page.waitForURL(/\/jobs\/.+/);
  await page.locator('[data-state="done"]').waitFor();
  await page.getByRole('heading', { name: 'Summary' }).waitFor();
  await page.locator('[data-model="offline/lexical"]').getByText(/n = 4/).first().waitFor();
  assert.match(await page.getByRole('link', { name: 'See the results' }).getAttribute('href'), /^\/runs\/.+/);
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Recent runs' }).waitFor();
  await page.getByRole('link', { name: 'Weather API Suite' }).first().waitFor();
  clean(page);
});

test('a new run of two models, followed to its end', async () => {
  const suite = await server.suite(cities('Towns', 30));
  model.hold(8);
  const page = await browser.page(server);
  await page.goto(`/new?suite=${suite}`);
  await page.getByText('30 cases, 1 tools').waitFor();
  await page
    .getByRole('combobox', { name: 'Add a model' })
    .or(page.getByRole('textbox', { name: 'Add a model' }))
    .fill('offline/lexical');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove offline/lexical' }).waitFor();
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  await page.getByLabel('Address', { exact: true }).fill(model.url);
  await page.getByRole('textbox', { name: 'Model', exact: true }).fill('m');
  await page.getByLabel('Name in results').fill('slow');
  await page.getByRole('group', { name: 'An endpoint of your own' }).getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Test the key: slow' }).click();
  await page.getByText(/It answers, in/).waitFor();
  await page.reload(); // the draft is kept
  await page.getByRole('button', { name: 'Remove slow' }).waitFor();
  await page.getByText('30 cases × 2 models × 1 repeats').waitFor(); // the estimate
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL(/\/jobs\/.+/);
  // Results arrive during the run: all of the quick model, some of the slow model.
  await page.locator('[data-model="offline/lexical"]').getByText('30 of 30').waitFor();
  await page
    .locator('[data-model="slow"]')
    .getByText(/^[1-9]\d? of 30$/)
    .waitFor();
  await page.locator('[data-state="running"]').waitFor();
  assert.ok((await page.getByRole('region', { name: 'Results' }).getByRole('row').count()) > 2);
  model.release();
  await page.locator('[data-state="done"]').waitFor();
  await page
    .locator('[data-model="slow"]')
    .getByText(/n = 30/)
    .first()
    .waitFor();
  await page.locator('[data-model="slow"]').getByText('27 pass').waitFor();
  await page.locator('[data-model="slow"]').getByText('3 fail').waitFor();
  clean(page);
});

test('Home and the header of a run show what changed, worst first, also after a change of the prompt', async () => {
  await server.user('changer', 'member');
  const as = { as: 'changer' };
  const [fell, stayed] = [await server.suite(cities('Fell', 20), as), await server.suite(cities('Stayed', 20), as)];
  const lexical = (suite, more) =>
    server.ran({ suite_id: suite, models: ['offline/lexical'], no_cache: true, ...more }, as);
  await lexical(fell);
  await lexical(fell, { tool_choice: 'none', system_prompt: 'Never call a tool.', name: 'worse prompt' });
  await lexical(stayed);
  await lexical(stayed);
  const page = await browser.page(server, as);
  await page.goto('/');
  const changed = page.locator('[data-changed]');
  await changed.nth(1).waitFor();
  const first = await changed.first().innerText();
  assert.match(first, /−[\d.]+ pp[\s\S]*n = 20[\s\S]*worse[\s\S]*worse prompt · against the run before/);
  assert.match(await changed.nth(1).innerText(), /±0 pp[\s\S]*no claim/);
  await page.getByRole('link', { name: 'worse prompt' }).click();
  await page.getByText('by you', { exact: true }).waitFor();
  await page.locator('[data-since]').getByText('worse', { exact: true }).waitFor();
  await page
    .locator('[data-since]')
    .getByText(/prompt/)
    .first()
    .waitFor(); // the other differences
  clean(page);
});

test('an estimate needs no key, names the missing key, and includes judges', async () => {
  await server.user('nokey', 'member');
  const suite = await server.suite(cities('Estimated', 20), { as: 'nokey' });
  const page = await browser.page(server, { as: 'nokey' });
  await page.goto(`/new?suite=${suite}`);
  await page.getByText('20 cases, 1 tools').waitFor();
  const add = page
    .getByRole('combobox', { name: 'Add a model' })
    .or(page.getByRole('textbox', { name: 'Add a model' }));
  await add.fill('openai/gpt-5-mini');
  await page.keyboard.press('Enter');
  await page.getByText('20 cases × 1 models × 1 repeats').waitFor(); // the estimate, without a key
  await page.getByText('Its key is missing: OPENAI_API_KEY').waitFor(); // next to the model
  await page.getByText('openai/gpt-5-mini cannot be asked without OPENAI_API_KEY.').waitFor();
  assert.equal(await page.getByRole('group', { name: 'Of judges' }).count(), 0);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await field(page, 'Judges that are asked').fill('task');
  await page.keyboard.press('Enter');
  await field(page, 'Models that judge').fill('openai/gpt-5');
  await page.keyboard.press('Enter');
  const judges = page.getByRole('group', { name: 'Of judges' });
  await judges.getByText('20', { exact: true }).waitFor();
  await judges.getByText('no earlier run gives the cost of judge task by openai/gpt-5').waitFor();
  await page.getByText('openai/gpt-5, a judge, cannot be asked without OPENAI_API_KEY.').waitFor();
  await page.getByText('40', { exact: true }).waitFor(); // the total
  await axe(page, 'estimate');
  await page.getByRole('link', { name: 'Set it in Settings' }).click();
  await page.waitForURL(/\/settings\/keys/);
  clean(page);
});

test('a run with lost attempts is resumed on the page, and its failures run again', async () => {
  const suite = await server.suite(cities('Lost', 10));
  model.broken = true;
  const run = await server.ran(slow(suite, { retries: 0, name: 'a bad day' }));
  model.broken = false;
  const page = await browser.page(server);
  await page.goto(`/runs/${run}`);
  await page.getByText('5 of 10 planned attempts are lost').waitFor();
  await page.getByRole('button', { name: 'Ask for them again' }).click();
  await page.waitForURL(/\/jobs\/.+/);
  await page.locator('[data-state="done"]').waitFor();
  await page.getByRole('link', { name: 'See the results' }).click();
  await page.waitForURL(`**/runs/${run}`);
  await page.getByRole('heading', { level: 1, name: 'a bad day' }).waitFor();
  await page.getByText('planned attempts are lost').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Run the failures again' }).click();
  await page.waitForURL(/\/jobs\/.+/);
  await page.locator('[data-state="done"]').waitFor();
  await page.getByRole('link', { name: 'See the results' }).click();
  await page.getByRole('heading', { level: 1, name: 'failures of a bad day' }).waitFor();
  await page.getByText('1 cases', { exact: true }).waitFor();
  clean(page);
});

test('New run: Start is visible at every width, and warnings are folded and counted', async () => {
  const suite = await server.suite(cities('Reach', 6));
  for (const [width, height] of [
    [1440, 600],
    [1024, 600],
    [390, 700],
  ]) {
    const page = await browser.page(server, { width, height });
    await page.route('**/api/tool-eval/estimate', async (r) => {
      const answer = await r.fetch();
      await r.fulfill({
        response: answer,
        json: {
          ...(await answer.json()),
          warnings: Array.from({ length: 12 }, (_, i) => ({
            code: `w${i}`,
            text: `This is warning ${i}, and it is a long one that takes several lines beside a form.`,
          })),
        },
      });
    });
    await page.goto(`/new?suite=${suite}`);
    await field(page, 'Add a model').fill('offline/lexical');
    await page.keyboard.press('Enter');
    await page.getByText('12 warnings').waitFor();
    assert.equal(await page.getByText('This is warning 3').isVisible(), false);
    await page.getByText('12 warnings').click();
    await page.getByText('This is warning 3').waitFor();
    const start = page.getByRole('button', { name: 'Start the run' });
    for (const to of [0, 400, 100_000]) {
      await page.evaluate((y) => window.scrollTo(0, y), to);
      const box = await start.boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= height, `${width} px, scrolled to ${to}: ${JSON.stringify(box)}`);
    }
    await page.getByLabel('Name of the run').fill(`at ${width}`);
    clean(page);
    await page.context().close();
  }
});

test('a run survives a reload and a killed server, and ends correctly', async () => {
  const suite = await server.suite(cities('Long', 60));
  model.hold(20);
  const { job_id: id } = await server.api('POST', '/api/tool-eval', slow(suite));
  const page = await browser.page(server);
  await page.goto(`/jobs/${id}`);
  const bar = page.locator('[data-model="openai/m"]');
  await bar.getByText('20 of 60').waitFor();
  await page.reload();
  await bar.getByText('20 of 60').waitFor();
  await bar.getByText(/1[5-9] pass/).waitFor(); // some questions in flight may be unanswered
  await server.restart('SIGKILL');
  await page.locator('[data-live="live"]').waitFor();
  model.hold(10);
  await bar.getByText('30 of 60').waitFor();
  model.release();
  await page.locator('[data-state="done"]').waitFor();
  await bar.getByText('54 pass').waitFor();
  await bar.getByText('6 fail').waitFor();
  clean(page);
});

test('a job that ends while it is read for the first time is shown as ended', async () => {
  const suite = await server.suite(cities('Quick', 1));
  model.hold(0);
  const page = await browser.page(server);
  const ended = new Promise((resolve) =>
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => String(payload).includes('"job_completed"') && resolve()),
    ),
  );
  await page.goto('/');
  await page.locator('[data-live="live"]').waitFor();
  const { job_id: id } = await server.api('POST', '/api/tool-eval', slow(suite));
  await page.route(
    `**/api/jobs/${id}`,
    async (route) => {
      const response = await route.fetch(); // the job is running
      model.release();
      await ended;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await page.getByRole('link', { name: 'Run of Quick' }).click();
  await page.locator('[data-state="done"]').waitFor();
  clean(page);
});

test('a cancelled run stays cancelled', async () => {
  const suite = await server.suite(cities('Cancelled', 20));
  model.hold(3);
  const { job_id: id } = await server.api('POST', '/api/tool-eval', slow(suite));
  const page = await browser.page(server);
  await page.goto('/');
  await page.getByRole('heading', { name: 'Running now' }).waitFor();
  await page.getByRole('link', { name: 'Run of Cancelled' }).click();
  await page.getByText('3 of 20').first().waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel the job' }).click();
  await page.locator('[data-state="cancelled"]').waitFor();
  assert.equal((await server.job(id)).status, 'cancelled');
  model.release();
  await page.goto('/jobs?status=cancelled');
  await page.getByRole('link', { name: 'Run of Cancelled' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Run of Long' }).count(), 0);
  clean(page);
});

test('an error of the server is shown at its field, and no input is lost', async () => {
  const suite = await server.suite(cities('Refused', 3));
  const page = await browser.page(server);
  await page.goto(`/new?suite=${suite}`);
  const add = page
    .getByRole('combobox', { name: 'Add a model' })
    .or(page.getByRole('textbox', { name: 'Add a model' }));
  await add.fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('Write provider/model, such as openai/gpt-5-mini.').waitFor();
  await add.fill('nobody/model');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Filter' }).fill('tag:nothing-has-it');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start the run' }).click();
  // The provider is unknown: the field of the models shows the error, and all inputs stay.
  const invalid = page.getByRole('group', { name: 'Models' }).locator('[aria-invalid="true"]');
  await invalid.waitFor();
  await page
    .getByRole('group', { name: 'Models' })
    .getByText(/provider "?nobody/)
    .waitFor();
  await page.getByText('tag:nothing-has-it').waitFor();
  await page.getByRole('button', { name: 'Remove nobody/model' }).click();
  await add.fill('offline/lexical');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page
    .getByText(/none of the 3 cases is left/)
    .first()
    .waitFor(); // also in place of the estimate
  await page.getByRole('combobox', { name: 'Filter' }).press('Backspace');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL(/\/jobs\/.+/);
  await page.locator('[data-state="done"]').waitFor();
  clean(page);
});

test('every screen is accessible', async () => {
  const suite = await server.suite(cities('Axe', 12));
  const { job_id: over } = await server.api('POST', '/api/tool-eval', { suite_id: suite, models: ['offline/lexical'] });
  await server.job(over);
  model.hold(4);
  const { job_id: running } = await server.api('POST', '/api/tool-eval', slow(suite));
  const heading = (name) => (page) => page.getByRole('heading', { name });
  const more = async (page) => {
    await page.getByRole('heading', { name: 'Before you start' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    return page.getByRole('heading', { name: 'Before you start' });
  };
  await accessible(browser, server, [
    ['/', heading('Running now')],
    [`/new?suite=${suite}`, more],
    ['/jobs', heading('Jobs')],
    [`/jobs/${running}`, heading('Models')],
    [`/jobs/${over}`, heading('Summary')],
  ]);
  model.release();
  await server.job(running);
});
