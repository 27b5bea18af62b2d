import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server, until } from './harness.mjs';

const script = '<script>document.title = "taken"</script>';

/** lines returns traces of n tasks. Unless good is true, every fourth has wrong arguments and failed. */
function lines(n, good) {
  const out = [];
  for (let i = 0; i < n; i++) {
    const wrong = !good && i % 4 === 0;
    const city = ['Paris', 'Oslo', 'Lima'][i % 3];
    out.push({
      type: 'step',
      task_id: `task-${i}`,
      call_id: `c${i}`,
      tool: 'get_weather',
      args: { city: wrong ? 'Rome' : city },
      status: 'ok',
      result: { text: script },
      latency_ms: { queue: 1, exec: 20 + i },
      gold: { needed: true, tool: 'get_weather', args: { city } },
    });
    out.push({
      type: 'task',
      task_id: `task-${i}`,
      pass: !wrong,
      goal: `The weather in ${city}?`,
      final_answer: `It rains. ${script}`,
      wall_ms: 900,
      tags: [i % 2 ? 'odd' : 'even'],
    });
  }
  return `${out.map((l) => JSON.stringify(l)).join('\n')}\n`;
}

let server, browser, folder;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'callvet-traces-'));
  await writeFile(path.join(folder, 'before.jsonl'), lines(40, true));
  await writeFile(path.join(folder, 'after.jsonl'), `${lines(40, false)}this is no record\n`);
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** sent makes a collection of a text, and returns its id. */
async function sent(name, text) {
  return (
    await server.api('POST', `/api/traces?collection=${name}`, text, {
      raw: true,
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
  ).id;
}

test('files are uploaded, and lines that were not understood are listed', async () => {
  const page = await browser.page(server);
  await page.goto('/traces');
  await page.getByText('No traces yet').waitFor();
  await page.getByRole('button', { name: 'Upload files' }).click();
  await page
    .locator('input[type="file"]')
    .setInputFiles([path.join(folder, 'before.jsonl'), path.join(folder, 'after.jsonl')]);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('40 attempts with 40 calls were added to before').waitFor();
  await dialog.getByText('Everything was understood.').waitFor();
  await dialog.getByText('Lines that could not be read and are left out: 1').waitFor();
  await dialog.getByText(/after:81: /).waitFor(); // with file and line
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('row', { name: /before/ }).waitFor();
  // The list has the attempts of each file, also after a reload.
  await page.reload();
  await page.getByRole('columnheader', { name: 'Attempts' }).waitFor();
  assert.deepEqual(
    (await server.api('GET', '/api/traces')).items.map((c) => c.attempt_count),
    [40, 40],
  );
  for (const name of [/before/, /after/])
    await page.getByRole('row', { name }).getByRole('cell', { name: '40', exact: true }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Collections of traces' }).locator('tr[data-index]').count(), 2);
  await page.getByRole('button', { name: 'Send telemetry' }).click();
  assert.match(
    await page.getByRole('region', { name: 'The two variables' }).innerText(),
    new RegExp(`OTEL_EXPORTER_OTLP_ENDPOINT=${server.url}\n`),
  );
  clean(page);
});

test('attempts are text, scores have their intervals, and compare and gates show the difference', async () => {
  const before = await sent('earlier', lines(40, true));
  const now = await sent('later', lines(40, false));
  const page = await browser.page(server);
  await page.goto(`/traces/${now}`);
  await page.getByRole('button', { name: /^task-1 / }).click();
  await page.getByText(`It rains. ${script}`).waitFor();
  assert.equal(await page.title(), 'later · callvet');
  assert.match(page.url(), /attempt=task-1/);

  await page.getByRole('tab', { name: 'Scores' }).click();
  const steps = page.locator('section', { has: page.getByRole('heading', { name: 'Steps, by call' }) });
  const sheet = await server.api('POST', '/api/score', { traces_id: now });
  const exact = sheet.panels.targets[0].overall.metrics.find((m) => m.name === 'arg_em_by_call');
  assert.equal(exact.interval.point, 0.75);
  await steps.getByRole('row', { name: new RegExp(`${exact.title}.*75 %.*n = 40`) }).waitFor();
  await page.getByText('The right tool gets wrong arguments').waitFor();
  assert.ok(sheet.estimates.startsWith('Numbers are about'), sheet.estimates);
  assert.equal(await page.locator('[data-estimates]').innerText(), sheet.estimates);

  await page.getByRole('tab', { name: 'Compare' }).click();
  await page
    .getByRole('textbox', { name: 'Baseline' })
    .or(page.getByRole('combobox', { name: 'Baseline' }))
    .first()
    .click();
  await page.getByRole('option', { name: 'earlier' }).click();
  await page.waitForURL(new RegExp(`baseline=${before}`));
  await page.getByRole('cell', { name: 'task-0', exact: true }).waitFor();
  await page.getByText('−25 pp').first().waitFor();
  const diff = await server.api('GET', `/api/traces/${now}/diff?baseline_traces_id=${before}`);
  assert.equal(await page.locator('[data-estimates]').innerText(), diff.estimates);

  await page.getByRole('tab', { name: 'Gates' }).click();
  const file = page.getByRole('textbox', { name: 'Gate file' }).and(page.locator('.cm-content'));
  await file.focus();
  await file.press('Control+a');
  await file.evaluate((el) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'gates: [{metric: pass_rate, at_least: 0.95}]');
    el.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByRole('heading', { name: 'Fail' }).waitFor();
  clean(page);
});

test('a collection is shared, deleted and restored', async () => {
  await server.user('bo');
  const id = await sent('shared one', lines(3, true));
  const bo = await browser.page(server, { as: 'bo' });
  await bo.goto(`/traces/${id}`);
  await bo.getByText('Not found').first().waitFor();
  const page = await browser.page(server);
  await page.goto(`/traces/${id}`);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('button', { name: 'Stop sharing' }).waitFor();
  await bo.reload();
  await bo.getByRole('heading', { name: 'shared one' }).waitFor();
  assert.equal(await bo.getByRole('button', { name: 'Delete' }).count(), 0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/traces$/);
  await page
    .getByRole('row', { name: /earlier|before/ })
    .first()
    .waitFor();
  assert.equal(await page.getByRole('link', { name: 'shared one' }).count(), 0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { name: 'shared one' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/traces$/);
  await page.reload(); // leaving the page confirms the deletion
  await page
    .getByRole('row', { name: /earlier|before/ })
    .first()
    .waitFor();
  // The request survives the page, and may reach the server after the requests of the next page.
  await until('the deletion', async () => {
    const answer = await fetch(`${server.url}/api/traces/${id}`, { headers: { Cookie: server.cookies.ana } });
    return answer.status === 404;
  });
  clean(page);
});

test('traces are accessible', async () => {
  const before = await sent('look at', lines(12, true));
  const at = `/traces/${await sent('look here', lines(12, false))}`;
  const places = [
    ['/traces', 'Traces'],
    [`${at}?attempt=task-1%230`, 'look here'],
    [`${at}?part=scores`, 'Steps, by call'],
    [`${at}?part=compare&baseline=${before}`, 'look here'],
    [`${at}?part=gates`, 'look here'],
  ];
  await accessible(
    browser,
    server,
    places.map(([place, name]) => [place, (page) => page.getByRole('heading', { name })]),
  );
});
