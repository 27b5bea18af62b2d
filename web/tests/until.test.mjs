// A run that ends when its gates are decided: the form, the evidence during the run, the gates of the run.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';

let server, browser, model, suite;
before(async () => {
  [server, browser, model] = await Promise.all([
    Server.start({ args: ['--allow-private', '127.0.0.1'] }),
    Browser.start(),
    heldModel(),
  ]);
  suite = await server.suite(cities());
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  model?.close();
});

/** heldModel starts a model that is always right. After m.most answers it waits for m.release. */
async function heldModel() {
  const m = { answered: 0, most: 20 };
  const waiting = [];
  const listener = http.createServer((req, res) => {
    let text = '';
    req.on('data', (b) => (text += b));
    req.on('end', () => {
      const answer = () => {
        m.answered++;
        const args = JSON.stringify({ city: /Weather in (\w+)/.exec(text)?.[1] });
        const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: args } };
        res.setHeader('Content-Type', 'application/json');
        res.end(
          JSON.stringify({
            model: 'm',
            choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [call] } }],
            usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
          }),
        );
      };
      if (m.answered < m.most) answer();
      else waiting.push(answer);
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  m.url = `http://127.0.0.1:${listener.address().port}/v1`;
  m.release = () => {
    m.most = Infinity;
    for (const answer of waiting.splice(0)) answer();
  };
  m.close = () => {
    listener.closeAllConnections();
    listener.close();
  };
  return m;
}

const cities = (more = {}) => ({
  name: 'cities',
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
  test_cases: Array.from({ length: 200 }, (_, i) => ({
    id: `c${i}`,
    prompt: `Weather in Town${i}`,
    expected_tool: 'weather',
    expected_params: { city: `Town${i}` },
  })),
  ...more,
});

test('a run ends when its gates are decided, and each screen shows it', async () => {
  const page = await browser.page(server);
  await page.goto(`/new?suite=${suite}`);
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  const endpoint = page.getByRole('group', { name: 'An endpoint of your own' });
  await endpoint.getByLabel('Address').fill(model.url);
  await endpoint.getByLabel('Model').fill('m');
  await endpoint.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('200 cases × 1 models × 1 repeats').waitFor();

  await page.getByLabel('Stop when the gates are decided').check();
  const gates = page.getByRole('textbox', { name: 'Gates' });
  assert.equal(await gates.inputValue(), '- pass_rate >= 0.9\n');
  await page.getByText('This is the most').waitFor();
  await gates.fill('- pass_rate >= 0.8\n- {metric: pass_rate, at_lest: 0.7}\n');
  await page
    .getByText(/gates:2:.*at_lest/)
    .first()
    .waitFor();
  assert.equal(await gates.getAttribute('aria-invalid'), 'true');
  await gates.fill('- pass_rate >= 0.8\n');
  await page.getByText('This is the most').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByLabel('Requests in flight').fill('1'); // answers come in the planned order
  await page.getByRole('button', { name: 'Start the run' }).first().click();
  await page.waitForURL(/\/jobs\/job_/);

  // The model waits after 20 answers: the gate has evidence, but no decision.
  const gate = page.locator('[data-gate]');
  await gate.getByText('not decided after 20 of 200 cases').waitFor();
  const chart = gate.getByRole('img');
  assert.match(
    await chart.getAttribute('aria-label'),
    /^pass_rate >= 0.80, 20 cases: for a pass [\d.]+ to 1; for a failure 1 to/,
  );
  await page.reload();
  await gate.getByText('not decided after 20 of 200 cases').waitFor();
  const before = await chart.locator('path').nth(2).getAttribute('d');
  assert.ok(before.split('L').length > 1, before);
  model.release();
  await gate.getByText(/^passed after \d+ of 200 cases$/).waitFor();
  assert.equal(await gate.getAttribute('data-verdict'), 'PASS');
  const d = await chart.locator('path').nth(2).getAttribute('d');
  assert.ok(d.split('L').length > before.split('L').length, d);
  await page.getByRole('link', { name: 'See the results' }).click();

  await page.waitForURL(/\/runs\//);
  const id = new URL(page.url()).pathname.split('/')[2];
  const text = await page.locator('[data-left-out]').innerText();
  const [, asked, left] = /(\d+) of 200 asked \((\d+) left out when the gates were decided\)/.exec(text);
  assert.equal(Number(asked) + Number(left), 200);
  assert.ok(Number(asked) < 100, text);
  await page.getByRole('tab', { name: 'Gates' }).click();
  const verdict = page.locator('tr[data-gate]');
  await verdict.first().waitFor();
  assert.match(
    await verdict.innerText(),
    /Passed[\s\S]*Descriptive[\s\S]*passed after \d+ of 200 cases · look 1, declared beforehand[\s\S]*40 to 1 decides/,
  );
  await verdict.getByRole('img', { name: /^pass_rate, \d+ cases: for a pass/ }).waitFor();
  clean(page);
  await accessible(browser, server, [
    [`/runs/${id}?tab=gates`, async (p) => p.locator('[data-evidence]')],
    [await jobOf(id), async (p) => p.locator('[data-evidence]')],
  ]);
});

const jobOf = async (run) => `/jobs/${(await server.api('GET', `/api/tool-eval/history/${run}?limit=0`)).job_id}`;

test('the gates of a suite are the default, and the timeline of an experiment shows how early a run ended', async () => {
  model.release();
  const own = await server.suite({
    callvet: 1,
    name: 'with gates',
    tools: cities().tools.map((t) => t.function),
    cases: cities().test_cases.map((c) => ({
      id: c.id,
      prompt: c.prompt,
      expect: { calls: [{ tool: 'weather', args: c.expected_params }] },
    })),
    gates: ['pass_rate >= 0.8'],
  });
  const page = await browser.page(server);
  await page.goto(`/new?suite=${own}`);
  await page.getByText('200 cases').first().waitFor();
  await page.getByLabel('Stop when the gates are decided').check();
  await page.getByText('Empty: the gates of the suite').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Gates' }).inputValue(), '');

  const { id } = await server.api('POST', '/api/experiments', { name: 'early', suite_id: own });
  const run = await server.ran({
    suite_id: own,
    targets: [{ provider_key: 'openai', model_id: 'm', base_url: model.url }],
    until_decided: true,
    experiment_id: id,
  });
  await page.goto(`/experiments/${id}`);
  await page
    .locator(`tr[data-run="${run}"] [data-left-out]`)
    .getByText(/^\d+ of 200 asked \(/)
    .waitFor();
  clean(page);
});
