import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { accessible, Browser, clean, manyAttempts, Server, whole } from './harness.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const program = process.env.CALLVET ? path.resolve(process.env.CALLVET) : path.join(root, 'callvet');
const run = promisify(execFile);

// A tool result that tries to run a script in the reader's page.
const desk = `
callvet: 1
name: order desk
tools:
  - {name: find_order, description: Finds an order, read_only: true, parameters: {type: object, required: [id], properties: {id: {type: string}, fields: {type: array, items: {type: string}}}}}
  - {name: cancel_order, description: Cancels an order, parameters: {type: object, required: [id], properties: {id: {type: string}, reason: {type: string}}}}
mocks:
  - {tool: find_order, result: {note: "<script>window.owned=1</script><img src=x onerror='window.owned=1'> paypal\\u200b.com \\u202egnp.exe", link: "javascript:window.owned=1"}}
  - {tool: cancel_order, error: "order is locked"}
cases:
  - id: look-then-answer
    prompt: "Where is my order A-1? <b>bold</b>"
    multi_turn: true
    expect: {calls: [{tool: find_order, args: {id: A-1}}]}
  - id: cancel-it
    prompt: Cancel order A-2, I changed my mind.
    multi_turn: true
    tags: [write]
    expect: {calls: [{tool: find_order, args: {id: A-2}}, {tool: cancel_order, args: {id: A-2, reason: changed_mind}}]}
`;
const deskScript = `
model: desk-1
rules:
  - case: look-then-answer
    steps:
      - calls: [{tool: find_order, args: {id: "A-1"}}]
      - text: "It is on its way: <script>window.owned=1</script> [here](javascript:window.owned=1)"
  - case: cancel-it
    steps:
      - calls: [{tool: find_order, args: {id: "A-2", fields: ["status"]}}]
      - calls: [{tool: cancel_order, args: {id: "A-3", reason: "changed mind"}}]
      - text: Done.
otherwise: error
`;

let server, browser, folder;
const runs = {};
before(async () => {
  [server, browser, folder] = await Promise.all([
    Server.start(),
    Browser.start(),
    mkdtemp(path.join(tmpdir(), 'callvet-results-')),
  ]);
  // Scripts are files: the command line runs them on the database of the server.
  const evaluate = async (name, suite, ...args) => {
    await run(program, ['--db', server.db, 'run', suite, ...args, '-q'], { cwd: root }).catch((e) => {
      if (e.code === 2 || e.code === 1) throw e; // 3 and 4 mean failed attempts
    });
    runs[name] = (await server.api('GET', '/api/tool-eval/history?limit=1')).items[0].id;
  };
  const script = (name) => `script:examples/scripts/${name}.yaml`;
  await writeFile(path.join(folder, 'desk.yaml'), desk);
  await writeFile(path.join(folder, 'script.yaml'), deskScript);
  await evaluate('sloppy', 'examples/weather.yaml', '-m', script('weather-sloppy'), '--name', 'sloppy');
  await evaluate('good', 'examples/weather.yaml', '-m', script('weather-good'), '--name', 'good');
  await evaluate('desk', path.join(folder, 'desk.yaml'), '-m', `script:${path.join(folder, 'script.yaml')}`);
  await evaluate(
    'three',
    'examples/weather.yaml',
    '-m',
    script('weather-good'),
    '-m',
    script('weather-sloppy'),
    '-m',
    'offline/lexical',
    '--repeat',
    '2',
  );
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** opened returns a page at an address, with its first heading visible. */
async function opened(address, options) {
  const page = await browser.page(server, options);
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

test('runs are listed, filtered in the address, chosen and compared', async () => {
  const page = await opened('/runs');
  await page.getByRole('row', { name: /order desk/ }).waitFor();
  await page.getByLabel('Suite').fill('weather');
  await page.waitForURL(/suite=weather/);
  await page.getByRole('row', { name: /order desk/ }).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Compare' }).isDisabled(), true);
  await page.getByLabel(`Select run ${runs.good}`).check();
  await page.getByLabel(`Select run ${runs.sloppy}`).check();
  await page.getByRole('button', { name: /Compare \(2\)/ }).click();
  await page.waitForURL(`**/compare?runs=${runs.sloppy},${runs.good}`); // the older run is the baseline
  await page.goBack();
  await page.waitForURL(/runs\?suite=weather/);
  clean(page);
});

test('a deleted run comes back with undo, and is gone without it', async () => {
  const made = await server.api('POST', '/api/tool-eval/import', desk, {
    raw: true,
    headers: { 'Content-Type': 'application/yaml' },
  });
  const id = await server.ran({ suite_id: made.suite_id ?? made.id, models: ['offline/lexical'] });
  const page = await opened('/runs');
  const row = page.getByRole('row', { name: new RegExp(id) });
  const remove = async () => {
    await row.getByRole('button', { name: `Actions: ${id}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
  };
  await remove();
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.waitFor();
  await remove();
  const gone = page.waitForResponse((r) => r.request().method() === 'DELETE' && r.url().includes(id));
  await page.locator('.mantine-Notification-closeButton').first().click();
  assert.equal((await gone).status(), 204);
  clean(page);
});

test('the verdict, measures with intervals, and every report', async () => {
  const page = await opened(`/runs/${runs.three}`);
  const report = await server.api('GET', `/api/runs/${runs.three}`);
  assert.equal(await page.locator('[data-summary]').textContent(), report.summary);
  const measures = page.getByRole('region', { name: 'Main measures' });
  for (const p of report.panels.targets) {
    const pass = p.overall.metrics.find((m) => m.name === 'pass_rate').interval;
    const row = await measures.getByRole('row', { name: new RegExp(p.name) }).textContent();
    assert.ok(row.includes(`n = ${pass.n}`), row); // each rate has its n
  }
  await page.getByText(report.warnings[0]).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const links = await page.getByRole('menuitem').evaluateAll((list) => list.map((a) => a.getAttribute('href')));
  assert.equal(links.length, 7);
  for (const l of links) assert.ok((await (await page.request.get(l)).body()).length > 100, l);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: /Findings/ }).click();
  await page.getByRole('link', { name: 'Show me' }).first().click();
  await page.getByText('Expected and actual').waitFor();
  await page.goBack();
  await page.getByRole('tab', { name: /Findings/, selected: true }).waitFor();
  clean(page);
});

test('the header of a run shows the change from the previous run of the suite and model, the user, cost and time', async () => {
  const page = await opened(`/runs/${runs.three}`);
  const changes = await server.api('GET', `/api/runs/${runs.three}/change`);
  const since = page.locator('[data-since]');
  for (const c of changes.items.filter((x) => !x.floor)) {
    const base = c.target.includes('good') ? runs.good : runs.sloppy;
    assert.equal(c.base_eval_id, base);
    await since.getByRole('link', { name: c.target.includes('good') ? 'good' : 'sloppy', exact: true }).waitFor();
    assert.equal(
      await since.getByRole('link', { name: `Compare: ${c.target}` }).getAttribute('href'),
      `/compare?runs=${encodeURIComponent(`${base},${runs.three}`)}`,
    );
  }
  const text = await since.innerText();
  assert.equal((text.match(/±0 pp/g) ?? []).length, 2, text);
  assert.equal((text.match(/no claim/g) ?? []).length, 2, text); // equal answers: no claim
  assert.equal((text.match(/n = 14/g) ?? []).length, 4, text); // at each pass rate, and at each change
  await page.getByText('by command line', { exact: true }).waitFor();
  await page.getByText(/^took [\d.]+ (ms|s)/).waitFor();
  await page.getByText('cost not known', { exact: true }).waitFor(); // scripts have no price
  await page.goto(`/runs/${runs.sloppy}`);
  await page.getByText('no run before with this suite and model').waitFor();
  clean(page);
});

test('attempts are filtered and sorted by the server, in the address', async () => {
  const page = await opened(`/runs/${runs.three}?tab=attempts`);
  await page.getByText('84 of 84 attempts').waitFor();
  await page.getByText(/^Fail \d+/).click();
  await page.waitForURL(/verdict=fail/);
  const failed = (await server.api('GET', `/api/runs/${runs.three}/cells?verdict=fail`)).total;
  await page.getByText(`${failed} of 84 attempts`).waitFor();
  await page.getByRole('button', { name: /Score/ }).click();
  await page.waitForURL(/sort=score/);
  await page.reload();
  await page.getByText(`${failed} of 84 attempts`).waitFor();
  await page.goBack();
  await page.waitForURL((u) => !u.search.includes('sort='));
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText('84 of 84 attempts').waitFor();
  clean(page);
});

test('the grid: every case against every target, where targets disagree, and the confusion matrix', async () => {
  const page = await opened(`/runs/${runs.three}?tab=grid`);
  const grid = page.getByRole('region', { name: 'Grid' });
  await page.getByText('14 of 14 cases', { exact: false }).waitFor();
  assert.equal(await grid.getByRole('columnheader').count(), 4);
  await page.getByRole('switch', { name: 'Targets disagree' }).click();
  await page.waitForURL(/disagree=true/);
  const differ = (await server.api('GET', `/api/runs/${runs.three}/grid?disagree=true`)).total;
  assert.ok(differ > 0 && differ < 14);
  await page.getByText(`${differ} of 14 cases`, { exact: false }).waitFor();
  await page.getByLabel('Search cases and prompts').fill('tokyo');
  await page.waitForURL(/search=tokyo/);
  await grid
    .getByRole('row', { name: /tokyo-fahrenheit/ })
    .getByRole('link', { name: /Fail 0\/2 contract violation/ })
    .click();
  await page.getByRole('heading', { name: 'tokyo-fahrenheit' }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/tab=grid.*search=tokyo|search=tokyo.*tab=grid/);
  // Enter opens the cell that has the focus, not the first failure of its row.
  await grid
    .getByRole('row', { name: /tokyo-fahrenheit/ })
    .getByRole('link')
    .last()
    .press('Enter');
  await page.waitForURL((u) => u.searchParams.get('target') === 'offline/lexical');

  await page.goto(`/runs/${runs.three}?tab=confusion&of=script:weather-sloppy.yaml`);
  const report = await server.api('GET', `/api/runs/${runs.three}`);
  const wrong = report.panels.targets
    .find((p) => p.name === 'script:weather-sloppy.yaml')
    .confusion.filter((c) => c.expected !== c.called);
  assert.ok(wrong.length > 0);
  const { expected, called, n } = wrong.find((c) => c.expected === 'get_forecast') ?? wrong[0];
  await page
    .getByRole('link', { name: `Expected ${expected}, called ${called}: ${n}` })
    .first()
    .click();
  await page.getByText(`${n} of 84 attempts`).waitFor(); // one call in each attempt
  clean(page);
});

test('a case: arguments side by side, the keyboard through failures and back', async () => {
  const page = await opened(`/runs/${runs.sloppy}?tab=attempts&verdict=fail`);
  await page.getByRole('row', { name: /tokyo-fahrenheit/ }).click();
  await page.getByRole('heading', { name: 'tokyo-fahrenheit' }).waitFor();
  const differs = page.locator('tr[data-matched="false"]');
  assert.match(await differs.first().textContent(), /units.*"fahrenheit".*"kelvin".*differs/);
  await page.getByText('1 of 9 in the list').waitFor();
  await page.keyboard.press('j');
  await page.getByText('2 of 9 in the list').waitFor();
  await page.keyboard.press('k');
  await page.getByText('1 of 9 in the list').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/tab=attempts&verdict=fail/);
  // A link from another user: Esc leads to the list, since there is no previous page.
  const sent = await opened(`/runs/${runs.sloppy}/case?case=tokyo-fahrenheit`);
  await sent.getByText('1 of 9 in the list').waitFor();
  await sent.keyboard.press('Escape');
  await sent.waitForURL(/tab=attempts/);
  clean(page);
  clean(sent);
});

test('a passed attempt shows expected and actual calls, and its settings', async () => {
  const passed = (await server.api('GET', `/api/runs/${runs.good}/cells?verdict=pass`)).items.map((x) => x.case);
  assert.ok(passed.includes('tokyo-fahrenheit'), passed);
  const page = await opened(`/runs/${runs.good}/case?case=tokyo-fahrenheit`);
  const same = page.locator('tr[data-matched="true"]');
  await same.first().waitFor();
  assert.match((await same.allTextContents()).join('\n'), /units"fahrenheit""fahrenheit"same/);
  await page.getByRole('button', { name: 'What the case expects' }).click();
  await page.getByText('"get_weather"').first().waitFor();
  await page.getByRole('button', { name: 'System prompt' }).click();
  const { attempts, tools } = await server.api('GET', `/api/runs/${runs.good}/case?case=tokyo-fahrenheit`);
  await page.getByText(attempts[0].system).waitFor();
  await page.getByRole('button', { name: `Tools offered (${tools.length})` }).click();
  for (const tool of tools) await page.getByRole('listitem').filter({ hasText: tool.description }).waitFor();
  clean(page);
});

test('each call has its own result when call ids repeat', async () => {
  const page = await browser.page(server);
  await page.route('**/api/runs/*/case?case=cancel-it*', async (route) => {
    const answer = await route.fetch();
    const detail = await answer.json();
    for (const turn of detail.attempts[0].trace.turns) {
      for (const call of turn.calls ?? []) call.id = 'call_1';
      if (turn.call_id) turn.call_id = 'call_1';
    }
    await route.fulfill({ response: answer, json: detail });
  });
  await page.goto(`/runs/${runs.desk}/case?case=cancel-it`);
  const turns = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
  await turns.first().waitFor();
  assert.match(await turns.filter({ hasText: 'find_order' }).textContent(), /window\.owned=1/);
  assert.match(await turns.filter({ hasText: 'cancel_order' }).textContent(), /order is locked/);
  assert.doesNotMatch(await turns.filter({ hasText: 'find_order' }).textContent(), /order is locked/);
  clean(page);
});

test('a copied case is a file that can be imported', async () => {
  const page = await opened(`/runs/${runs.desk}/case?case=cancel-it`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as test case' }).click();
  await page.getByRole('menuitem', { name: 'Copy as YAML' }).click();
  await page.getByText('Test case copied').waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /id: cancel-it/);
  assert.doesNotMatch(text, /look-then-answer/);
  await server.api('POST', '/api/tool-eval/import', text, {
    raw: true,
    headers: { 'Content-Type': 'application/yaml' },
  });
  clean(page);
});

test('a failure becomes a case of a suite, with the address that reports hide', async () => {
  const mail = (name, to) => ({
    callvet: 1,
    name,
    tools: [
      {
        name: 'send',
        description: 'Sends a mail',
        parameters: { type: 'object', properties: { to: { type: 'string' } } },
      },
    ],
    cases: [{ id: 'to-kim', prompt: `Write to ${to}.`, expect: { calls: [{ tool: 'send', args: { to } }] } }],
  });
  const from = await server.suite(mail('post', 'kim.lund@example.org'));
  await server.suite(mail('kept post', 'ona.ek@example.org'));
  const id = await server.ran({ suite_id: from, models: ['offline/lexical'] });
  const page = await opened(`/runs/${id}/case?case=to-kim`);
  await page.getByRole('button', { name: 'Add to suite' }).click();
  const form = page.getByRole('dialog');
  const add = form.getByRole('button', { name: 'Add to suite' });
  await form.getByRole('combobox', { name: 'Suite' }).fill('kept');
  await page.getByRole('option', { name: 'kept post' }).click();
  assert.equal(await add.isDisabled(), true); // a regression case has a bug
  await form.getByLabel('Bug').fill('#12');
  await add.click();
  const link = form.getByRole('link', { name: 'rg-send-001' });
  const kept = (await link.getAttribute('href')).split('/')[2].split('?')[0];
  const text = await (await page.request.get(`/api/tool-suites/${kept}/export?format=callvet`)).text();
  for (const part of ['rg-send-001', 'kim.lund@example.org', '#12', 'regression']) assert.ok(text.includes(part), text);
  assert.ok(!text.includes('REDACTED'), text);
  clean(page);
});

test('texts of tools and models stay text', async () => {
  const page = await opened(`/runs/${runs.desk}/case?case=look-then-answer`);
  const talk = page.getByRole('list', { name: 'Conversation' });
  await talk.waitFor();
  const text = await talk.textContent();
  for (const part of [
    '<script>window.owned=1</script>',
    "<img src=x onerror='window.owned=1'>",
    'javascript:window.owned=1',
    '<b>bold</b>',
  ])
    assert.ok(text.includes(part), part);
  assert.equal(await talk.locator('a, img, script, b').count(), 0);
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
  clean(page);
});

test('invisible characters in texts of models and tools are made visible', async () => {
  const page = await opened(`/runs/${runs.desk}/case?case=look-then-answer`);
  await page.locator('[data-invisible]').first().waitFor();
  assert.deepEqual([...new Set(await page.locator('[data-invisible]').allInnerTexts())].sort(), ['U+200B', 'U+202E']);
  clean(page);
});

test('a comparison of runs of different suites has a note about it', async () => {
  const page = await opened(`/compare?runs=${runs.desk},${runs.good}`);
  const notice = page.locator('[data-different-suites]');
  await notice.waitFor();
  assert.match(await notice.innerText(), /order desk[\s\S]*weather/);
  await page.goto(`/compare?runs=${runs.sloppy},${runs.good}`);
  await page.getByText('Paired difference').first().waitFor();
  assert.equal(await notice.count(), 0);
  clean(page);
});

test('two runs: differences with intervals, regressions first, and differences in configuration', async () => {
  const page = await opened(`/compare?runs=${runs.good},${runs.sloppy}`);
  const comparison = await server.api('GET', `/api/diff?base=${runs.good}&candidate=${runs.sloppy}`);
  const row = page.getByRole('region', { name: 'Paired difference' }).getByRole('row', { name: /pass rate/ });
  assert.match(await row.textContent(), new RegExp(`n = ${comparison.targets[0].overall.change.n}`));
  assert.match(await row.textContent(), new RegExp(comparison.targets[0].overall.verdict));
  const changed = page.getByRole('region', { name: /Cases that changed/ });
  assert.match(await changed.getByRole('row').nth(1).textContent(), /Newly failing/);
  await page
    .getByRole('region', { name: 'What differs in the configuration' })
    .getByRole('row', { name: /Targets/ })
    .waitFor();
  await changed.getByRole('link', { name: 'tokyo-fahrenheit' }).click();
  await page.getByRole('heading', { name: 'tokyo-fahrenheit' }).waitFor();
  clean(page);
});

test('the screens are accessible', async () => {
  const tabs = [
    '',
    '?tab=grid',
    '?tab=attempts',
    '?tab=slices',
    '?tab=confusion',
    '?tab=findings',
    '?tab=configuration',
  ].map((tab) => `/runs/${runs.three}${tab}`);
  const places = [
    '/runs',
    ...tabs,
    `/runs/${runs.desk}/case?case=cancel-it`,
    `/compare?runs=${runs.good},${runs.sloppy}`,
  ];
  await accessible(
    browser,
    server,
    places.map((place) => [place, (page) => page.getByRole('heading', { level: 1 })]),
  );
});

test('a list keeps its row and the focus when columns become cards and back; Case stays the title of cards in any order', async () => {
  const id = await manyAttempts(server, { cases: 300, scripts: ['silent'], repeats: 1 });
  const page = await opened(`/runs/${id}?tab=attempts`);
  const list = page.getByRole('region', { name: 'Attempts' });
  const at = (width, stacked) =>
    page
      .setViewportSize({ width, height: 800 })
      .then(() =>
        page.waitForFunction(
          (stacked) => (document.querySelector('[data-stacked] tr[data-index]') !== null) === stacked,
          stacked,
        ),
      );
  await at(390, true);
  await list.getByRole('row').nth(1).focus();
  for (const end of [99, 199, 299]) {
    await page.keyboard.press('End');
    await page.waitForFunction((end) => document.activeElement.dataset.index === `${end}`, end);
    if (end < 299) await page.waitForFunction((end) => document.querySelector(`[data-index="${end + 1}"]`), end);
  }
  await page.keyboard.press('k');
  const kept = () =>
    page.waitForFunction(() => {
      const row = document.activeElement;
      const [inner, outer] = [row.getBoundingClientRect(), row.closest('[role=region]')?.getBoundingClientRect()];
      return row.dataset.index === '298' && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    });
  await kept();
  await at(1440, false);
  await kept();
  await at(390, true);
  await kept();
  assert.equal(await list.locator('tr[data-index] td').nth(1).getAttribute('data-title'), 'Case');
  clean(page);
});

const cases = whole ? 12_500 : 2_500;
const spaced = (n) => n.toLocaleString('en').replaceAll(',', ' ');

test('a large run is scrolled, filtered and sorted with at most 200 rows in the document', async () => {
  const attempts = cases * 8;
  const id = await manyAttempts(server, { cases });
  const page = await opened(`/runs/${id}?tab=attempts`);
  page.setDefaultTimeout(60_000); // the first request reads all attempts
  await page.getByText(`${spaced(attempts)} of ${spaced(attempts)} attempts`).waitFor();
  const list = page.getByRole('region', { name: 'Attempts' });
  const few = async () => {
    const n = await page.evaluate(() => document.querySelectorAll('tr').length);
    assert.ok(n > 5 && n <= 200, `${n} rows`);
  };
  const scrolled = async (box, part) => {
    await box.evaluate((b, part) => b.scrollTo(0, b.scrollHeight * part), part);
    await few();
  };
  // next scrolls to the last loaded row, which loads the next page.
  const next = async (box, route) => {
    const more = page.waitForResponse((r) => r.url().includes(route) && r.url().includes('cursor='));
    await scrolled(box, 1);
    await more;
    await few();
  };
  for (let i = 0; i < 8; i++) await next(list, '/cells');
  // shows waits until rows between two positions are in the document.
  const shows = (from, to) =>
    page.waitForFunction(
      ([from, to]) =>
        [...document.querySelectorAll('tr[data-index]')].some(
          (r) => Number(r.dataset.index) >= from && Number(r.dataset.index) < to,
        ),
      [from, to],
    );
  await shows(700, 2000);
  await scrolled(list, 0.5);
  await shows(300, 600);
  await list.press('End');
  await list.press('Home');
  await shows(0, 1);
  await few();
  await page.getByText(/^Pass \d+/).click();
  const countShown = (n) => page.getByText(`${spaced(n)} of ${spaced(attempts)} attempts`).waitFor();
  const passed = (await server.api('GET', `/api/runs/${id}/cells?verdict=pass`)).total;
  assert.ok(passed > attempts / 100 && passed < attempts * 0.99, `${passed} passed`);
  await countShown(passed);
  await page.getByRole('button', { name: 'Score' }).click();
  await page.waitForURL(/sort=score/);
  await page.getByLabel('Search cases and prompts').fill('c023');
  const found = (await server.api('GET', `/api/runs/${id}/cells?verdict=pass&search=c023&sort=score`)).total;
  assert.ok(found > 0 && found < passed, `${found} found`);
  await countShown(found);
  await few();
  await list.getByRole('row').nth(1).click();
  await page.getByRole('heading', { level: 1, name: /^c023/ }).waitFor();
  await page.goBack();
  await countShown(found);
  await page.goto(`/runs/${id}?tab=grid`);
  await page.getByText(`${spaced(cases)} of ${spaced(cases)} cases`, { exact: false }).waitFor();
  const grid = page.getByRole('region', { name: 'Grid' });
  for (let i = 0; i < 3; i++) await next(grid, '/grid');
  await scrolled(grid, 0.5);
  clean(page);
});
