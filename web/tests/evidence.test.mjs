// How an attempt ended, and records that cannot be read: a model over HTTP with cut off, blocked and empty answers, a
// collection with lost records, and a run that is damaged.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { accessible, Browser, clean, Server } from './harness.mjs';

const program = process.env.CALLVET
  ? path.resolve(process.env.CALLVET)
  : path.resolve(import.meta.dirname, '../../callvet');
const run = promisify(execFile);

// The prompt of a case contains how the answer ends.
const ends = {
  cut: { finish_reason: 'length', message: { role: 'assistant', content: 'The weather in Oslo is' } },
  empty: { finish_reason: 'stop', message: { role: 'assistant', content: '' } },
  blocked: { finish_reason: 'content_filter', message: { role: 'assistant', content: '' } },
  refused: { finish_reason: 'refusal', message: { role: 'assistant', content: 'No.' } },
  odd: { finish_reason: null, message: { role: 'assistant', content: 'It is cold.' } },
  noted: {
    finish_reason: 'length',
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
    },
  },
};
const suite = {
  callvet: 1,
  name: 'ends',
  tools: [
    {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  cases: Object.keys(ends).map((id) => ({
    id,
    prompt: `End: ${id}`,
    expect: { calls: [{ tool: 'get_weather', args: { city: 'Oslo' } }] },
  })),
};
const traces = [
  {
    type: 'task',
    task_id: 'cut',
    outcome: 'unparseable',
    reason: 'token_limit',
    finish_reason: 'length',
    pass: false,
    goal: 'Weather in Oslo?',
    final_answer: 'The weather in',
  },
  {
    type: 'task',
    task_id: 'noted',
    outcome: 'abstained',
    notes: ['stop not recorded'],
    goal: 'Say hello',
    final_answer: 'Hello.',
    pass: true,
  },
  {
    type: 'task',
    task_id: 'blocked',
    outcome: 'error',
    fault: { kind: 'content_filter', message: 'the provider blocked the answer' },
  },
  { type: 'task', task_id: 'twice', pass: true },
  { type: 'task', task_id: 'twice', pass: false },
];

let model, server, browser, folder, id, collection, drill, does;
before(async () => {
  model = createServer((req, res) => {
    let text = '';
    req.on('data', (b) => (text += b));
    req.on('end', () => {
      const asked = /End: (\w+)/.exec(text)?.[1];
      const choice =
        ends[asked] ??
        (text.length % 2
          ? ends.blocked
          : { finish_reason: 'stop', message: { role: 'assistant', content: 'I cannot help with that.' } });
      res.setHeader('Content-Type', 'application/json');
      res.end(
        JSON.stringify({
          id: 'x',
          model: 'm',
          choices: [{ index: 0, ...choice }],
          usage: { prompt_tokens: 5, completion_tokens: 3 },
        }),
      );
    });
  });
  await new Promise((r) => model.listen(0, '127.0.0.1', r));
  [server, browser, folder] = await Promise.all([
    Server.start(),
    Browser.start(),
    mkdtemp(path.join(tmpdir(), 'callvet-evidence-')),
  ]);
  const env = { ...process.env, OPENAI_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`, OPENAI_API_KEY: 'k' };
  does = (...args) =>
    run(program, ['--db', server.db, ...args], { env }).catch((e) => {
      if (e.code === 2) throw e; // other codes describe the result
    });
  const latest = async () => (await server.api('GET', '/api/tool-eval/history?limit=1')).items[0].id;
  await writeFile(path.join(folder, 'ends.json'), JSON.stringify(suite));
  await does('run', path.join(folder, 'ends.json'), '-m', 'openai/m', '--no-cache', '-q');
  id = await latest();
  await does('drill', '-m', 'openai/m', '--no-cache', '-q');
  drill = await latest();
  collection = (
    await server.api(
      'POST',
      '/api/traces?collection=ended',
      `${traces.map((l) => JSON.stringify(l)).join('\n')}\nno record\n`,
      { raw: true, headers: { 'Content-Type': 'application/x-ndjson' } },
    )
  ).id;
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  model?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** cases waits until the list has n attempts and returns their names. */
async function cases(page, n) {
  const all = page.getByRole('region', { name: 'Attempts' }).locator('tr[data-index]');
  await page.waitForFunction((k) => document.querySelectorAll('tr[data-index]').length === k, n);
  return (await all.evaluateAll((list) => list.map((r) => r.children[1].textContent))).sort();
}

test('attempts are filtered by why they are unparseable or errors, also from the overview and by earlier names', async () => {
  const page = await browser.page(server);
  await page.goto(`/runs/${id}`);
  await page.locator('[data-reasons]').getByRole('link', { name: 'token limit' }).click();
  await page.waitForURL(/reason=token_limit/);
  assert.deepEqual(await cases(page, 1), ['cut']);
  await page.goto(`/runs/${id}?tab=attempts&reason=token_limit&reason=content_filter`);
  assert.deepEqual(await cases(page, 2), ['blocked', 'cut']);
  await page.getByText('2 of 6 attempts', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  assert.equal((await cases(page, 6)).length, 6);
  assert.equal(new URL(page.url()).searchParams.has('reason'), false);
  // An old address contains the former name of a class.
  const asked = page.waitForRequest(/\/cells\?.*class=/);
  await page.goto(`/runs/${id}?tab=attempts&class=tool_hallucination&class=argument_hallucination`);
  assert.deepEqual(
    new URL((await asked).url()).searchParams.getAll('class').flatMap((c) => c.split(',')),
    ['unknown_tool', 'unknown_argument'],
  );
  assert.equal((await server.api('GET', `/api/runs/${id}/cells?class=tool_hallucination`)).total, 0);
  clean(page);
});

test('the reasons to filter by are chosen in a list', async () => {
  const page = await browser.page(server);
  await page.goto(`/runs/${id}?tab=attempts`);
  await cases(page, 6);
  await page.getByRole('combobox', { name: 'Reason' }).click();
  await page.getByRole('option', { name: 'token limit', exact: true }).click();
  await page.waitForURL(/reason=token_limit/);
  assert.deepEqual(await cases(page, 1), ['cut']);
  await page.getByRole('option', { name: 'content filter', exact: true }).click();
  await page.waitForURL(/reason=content_filter/);
  assert.deepEqual(await cases(page, 2), ['blocked', 'cut']);
  await page.getByRole('option', { name: 'token limit', exact: true }).click(); // and removed again
  assert.deepEqual(await cases(page, 1), ['blocked']);
  assert.deepEqual(new URL(page.url()).searchParams.getAll('reason'), ['content_filter']);
  clean(page);
});

test('a run with lost attempts shows them first, with the command to repeat them, and the lists show them', async () => {
  const page = await browser.page(server);
  const line = await server.api('GET', `/api/tool-eval/history/${id}?limit=0`);
  assert.deepEqual([line.planned, line.judged, line.lost, line.resume], [6, 4, 2, { verb: 'resume', run: id }]);
  await page.goto(`/runs/${id}`);
  const note = page.getByRole('note').filter({ hasText: '2 of 6 planned attempts are lost' });
  await note.getByText(`callvet run --resume ${id}`, { exact: true }).waitFor();
  await page.getByText('Numbers are about tasks like these').waitFor();
  for (const address of ['/', '/runs']) {
    await page.goto(address);
    await page.locator('[data-judged]').filter({ hasText: '4 of 6 planned attempts judged · 2 lost' }).waitFor();
  }
  await does('run', '--resume', id, '--keep-errors', '-q'); // the command works
  clean(page);
});

test('attempts of a collection show why they are unparseable, and their notes', async () => {
  const page = await browser.page(server);
  await page.goto(`/traces/${collection}?attempt=cut%230`);
  await page.getByText('Why unparseable').waitFor();
  await page.getByText('token limit', { exact: true }).waitFor();
  await page.getByText('Finish reason').waitFor();
  assert.match(await page.getByRole('button', { name: /^cut/ }).innerText(), /unparseable/);
  assert.match(await page.getByRole('button', { name: /^blocked/ }).innerText(), /error/);
  assert.match(await page.getByRole('button', { name: /^noted/ }).innerText(), /no call/);
  await page.getByRole('button', { name: /^noted/ }).click();
  await page.getByText('stop not recorded').waitFor();
  await page.getByRole('button', { name: /^blocked/ }).click();
  await page.getByText('content filter: the provider blocked the answer').waitFor();
  clean(page);
});

test('lost records of a collection are counted in the list, and have their places in its scores', async () => {
  const page = await browser.page(server);
  await page.goto('/traces');
  const row = page.getByRole('row', { name: /ended/ });
  await page.getByRole('columnheader', { name: 'Lost records' }).waitFor();
  await row.getByRole('cell', { name: '2', exact: true }).waitFor();
  await page.goto(`/traces/${collection}?part=scores`);
  const lost = page.getByRole('note').filter({ hasText: 'Lost records: 2' });
  await lost.getByText('ended:5').waitFor();
  await lost.getByText('ended:6').waitFor();
  await page.getByText('lost records: 2', { exact: true }).waitFor(); // next to the name
  assert.equal(await page.getByText(/ended:6/).count(), 1); // and not again among the notes
  clean(page);
});

test('drills show how many attempts the provider blocked', async () => {
  const page = await browser.page(server);
  const report = await server.api('GET', `/api/runs/${drill}/drill`);
  assert.ok(report.targets[0].all.blocked_by_provider > 0);
  await page.goto(`/safety?run=${drill}`);
  await page.getByText(`Attempts that the provider blocked: ${report.targets[0].all.blocked_by_provider}.`).waitFor();
  await page.getByRole('columnheader', { name: 'Blocked by the provider' }).waitFor();
  clean(page);
});

test('the page and the list name the unreadable parts of a run, and show the rest', async () => {
  const page = await browser.page(server);
  const problem = `read manifest of run ${id}: it names no target`;
  await page.route(`**/api/runs/${id}`, async (route) => {
    const whole = await (await route.fetch()).json();
    await route.fulfill({ json: { ...whole, problem, warnings: [problem, ...(whole.warnings ?? [])] } });
  });
  await page.route('**/api/tool-eval/history?*', async (route) => {
    const list = await (await route.fetch()).json();
    await route.fulfill({ json: { ...list, items: list.items.map((r) => (r.id === id ? { ...r, problem } : r)) } });
  });
  await page.goto(`/runs/${id}`);
  const note = page.getByRole('note').filter({ hasText: 'A part of this run cannot be read' });
  await note.getByText(problem).waitFor();
  assert.equal(await page.getByText(problem).count(), 1);
  await page.getByRole('tab', { name: 'Attempts' }).click();
  assert.equal((await cases(page, 6)).length, 6);
  await page.goto('/runs');
  const row = page.getByRole('row', { name: new RegExp(id) });
  await row.getByText('Partly unreadable').waitFor();
  assert.equal(await page.getByText('Partly unreadable').count(), 1);
  clean(page);
});

test('the screens are accessible', async () => {
  await accessible(browser, server, [
    [`/runs/${id}?tab=attempts`, 'attempts'],
    [`/traces/${collection}?part=scores`, 'Lost records: 2'],
    [`/traces/${collection}?attempt=cut%230`, 'Why unparseable'],
    [`/safety?run=${drill}`, 'Attempts that the provider blocked'],
  ]);
});
