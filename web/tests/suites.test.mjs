import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { accessible, Browser, clean, Server, write } from './harness.mjs';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const program = path.resolve(process.env.CALLVET ?? path.join(root, 'callvet'));

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get current weather for a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, units: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      required: ['city'],
    },
  },
};
const search = {
  type: 'function',
  function: {
    name: 'search',
    description: 'Search the web',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
};
const book = {
  type: 'function',
  function: {
    name: 'book_flight',
    description: 'Book a flight',
    parameters: {
      type: 'object',
      properties: { flight: { type: 'string' }, seats: { type: 'integer' } },
      required: ['flight'],
    },
  },
};
const suite = (name, test_cases) => ({ name, tools: [weather, search, book], test_cases });
const two = [
  {
    id: 'paris',
    prompt: 'How warm is it in Paris?',
    expected_tool: 'get_weather',
    expected_params: { city: 'Paris' },
    category: 'weather',
  },
  { id: 'thanks', prompt: 'Thank you, that was all!', expected_tool: null, expected_params: null, category: 'talk' },
];

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: ['--allow-private', '127.0.0.1'] }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** linted runs an action, and waits until the page shows the linter's answer for a text. */
async function linted(page, is, does) {
  await Promise.all([
    page.waitForResponse((r) => r.url().endsWith('/api/lint') && is(r.request().postDataJSON().text)),
    does(),
  ]);
  await page.locator('[data-lint="busy"]').waitFor({ state: 'detached' });
}

/** pick chooses an option of a list, which is open or opened by a click. */
async function pick(at, page, label, option) {
  await at
    .getByRole('combobox', { name: label, exact: true })
    .or(at.getByRole('textbox', { name: label, exact: true }))
    .first()
    .click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

const get = (id, options) => server.api('GET', `/api/tool-suites/${id}`, undefined, options);

test('a suite is made by hand, from nothing until it can run', async () => {
  const page = await browser.page(server);
  await page.goto('/suites');
  await page.getByRole('button', { name: 'New suite' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('By hand');
  await page.getByRole('button', { name: 'Make the suite' }).click();
  await page.waitForURL(/\/suites\/[^/?]+\?tab=tools/);
  const id = new URL(page.url()).pathname.split('/')[2];

  // A tool, with the editor's completions and the mark of a mistake.
  await page.getByRole('button', { name: 'Add a tool' }).click();
  const drawer = page.getByRole('dialog', { name: 'New tool' });
  const bad = JSON.stringify(
    { ...weather, function: { ...weather.function, parameters: { type: 'objekt' } } },
    null,
    2,
  );
  await linted(
    page,
    (x) => x.includes('objekt'),
    () => write(drawer, 'The tool as JSON', bad),
  );
  await drawer
    .getByText(/does not compile/)
    .first()
    .waitFor();
  // the line where the tool begins
  assert.equal(await drawer.locator('[data-problem="bad-schema"]').getAttribute('data-line'), '1');
  await drawer.locator('.cm-lint-marker-error').first().waitFor();
  await write(drawer, 'The tool as JSON', '');
  await page.keyboard.type('addit');
  await page.getByRole('option', { name: /additionalProperties/ }).waitFor();
  await page.keyboard.press('Escape');
  await linted(
    page,
    (x) => x.includes('Get current weather'),
    () => write(drawer, 'The tool as JSON', JSON.stringify(weather, null, 2)),
  );
  await drawer.getByRole('button', { name: 'Save the tool' }).click();
  await drawer.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'All as JSON' }).click();
  const all = page.getByRole('dialog', { name: 'All as JSON' });
  await write(all, 'All tools as a JSON list', JSON.stringify([weather, search], null, 1));
  await all.getByRole('button', { name: 'Save the tools' }).click();
  await all.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /search/ }).waitFor();

  await page.getByRole('tab', { name: 'System prompt' }).click();
  await page.getByRole('textbox', { name: 'System prompt' }).fill('Use the tools.');
  await page.getByRole('button', { name: 'Save the prompt' }).click();
  await page.getByRole('tab', { name: 'System prompt', exact: true }).waitFor();

  await page.getByRole('tab', { name: /^Cases/ }).click();
  await page.getByRole('button', { name: 'Add a case' }).click();
  const form = page.getByRole('dialog', { name: 'New case' });
  await form.getByLabel('Prompt').fill('How warm is it in Paris?');
  await form.getByText('Calls a tool').click();
  await pick(form, page, 'Tools', 'get_weather');
  await page.keyboard.press('Escape');
  await form.getByText('These values').click();
  await write(form, 'Expected parameters (JSON)', '{"city": "Paris"}');
  await form.getByRole('button', { name: 'Save the case' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Paste JSON lines' }).click();
  const paste = page.getByRole('dialog', { name: 'Add several cases' });
  await write(
    paste,
    'Cases as JSON lines',
    '{"prompt": "Find news about Go", "expected_tool": "serch"}\n\n{"prompt": "Hello!", "expected_tool": null}',
  );
  await paste.getByRole('button', { name: 'Add 2 cases' }).click();
  await paste.getByText(/^line 1: .*there is no tool "serch"/).waitFor();
  await write(
    paste,
    'Cases as JSON lines',
    '{"prompt": "Find news about Go", "expected_tool": "search"}\n\n{"prompt": "Hello!", "expected_tool": null}',
  );
  await paste.getByRole('button', { name: 'Add 2 cases' }).click();
  await paste.waitFor({ state: 'detached' });
  await page.getByText('3 of 3 cases').waitFor();

  const now = await get(id);
  assert.deepEqual(now.tools, [weather, search]);
  assert.equal(now.system_prompt, 'Use the tools.');
  assert.deepEqual(
    now.test_cases.map((c) => [c.prompt, c.expected_tool, c.expected_params]),
    [
      ['How warm is it in Paris?', 'get_weather', { city: 'Paris' }],
      ['Find news about Go', 'search', null],
      ['Hello!', null, null],
    ],
  );
  assert.match(
    await page.getByRole('link', { name: 'Run this suite' }).getAttribute('href'),
    new RegExp(`/new\\?suite=${id}$`),
  );
  await server.ran({ suite_id: id, models: ['offline/lexical'] });
  await page.getByRole('tab', { name: 'Runs' }).click();
  await page.getByRole('row', { name: /offline\/lexical/ }).waitFor();
  clean(page);
});

test('cells are edited in place, and a deleted case can be restored', async () => {
  const id = await server.suite(suite('Inline', two));
  const page = await browser.page(server);
  await page.goto(`/suites/${id}`);
  await page.getByRole('button', { name: /Edit the prompt of paris/ }).click();
  await page.getByRole('textbox', { name: 'Edit the prompt of paris' }).fill('How cold is it in Paris?');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /How cold is it/ }).waitFor();
  await page.getByRole('button', { name: /Edit the parameters of paris/ }).click();
  const params = page.getByRole('textbox', { name: 'Edit the parameters of paris' });
  await params.fill('{"city": ');
  await page.keyboard.press('Enter');
  await page.getByText(/This is not JSON/).waitFor();
  await params.fill('{"city": 5}');
  await page.keyboard.press('Enter');
  await page
    .getByText(/got number, want string/)
    .first()
    .waitFor(); // what the server refuses stands at the cell, and what was typed stays
  assert.equal(await params.inputValue(), '{"city": 5}');
  await params.fill('{"city": "Paris", "units": "celsius"}');
  await page.keyboard.press('Enter');
  await params.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /Edit the expected tool of thanks/ }).click();
  await page.getByRole('option', { name: 'search', exact: true }).click();
  await page.getByRole('button', { name: /Edit the expected tool of thanks: search/ }).waitFor();
  let now = await get(id);
  assert.deepEqual(
    now.test_cases.map((c) => [c.id, c.prompt, c.expected_tool, c.expected_params, c.category]),
    [
      ['paris', 'How cold is it in Paris?', 'get_weather', { city: 'Paris', units: 'celsius' }, 'weather'],
      ['thanks', 'Thank you, that was all!', 'search', null, 'talk'],
    ],
  );

  const drop = async () => {
    await page.getByRole('button', { name: 'More actions: thanks' }).click();
    await page.getByRole('menuitem', { name: 'Delete the case thanks' }).click();
    await page.getByText('1 of 1 cases').waitFor();
  };
  await drop();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('2 of 2 cases').waitFor();
  assert.equal((await get(id)).test_cases.length, 2);
  await drop();
  await page.waitForResponse((r) => r.request().method() === 'DELETE');
  now = await get(id);
  assert.deepEqual(
    now.test_cases.map((c) => c.id),
    ['paris'],
  );
  await page
    .getByRole('textbox', { name: 'Search the cases' })
    .or(page.getByRole('searchbox', { name: 'Search the cases' }))
    .fill('nothing like it');
  await page.getByText('No case matches the search').waitFor();
  assert.match(page.url(), /q=nothing/);
  clean(page);
});

test('every kind of expectation passes through the form unchanged', async () => {
  const id = await server.suite(suite('Forms', two));
  const page = await browser.page(server);
  const forms = [
    {
      id: 'one',
      prompt: 'One tool',
      expected_tool: 'get_weather',
      expected_params: { city: 'Oslo', units: 'celsius' },
      param_scoring: 'fuzzy',
      scoring_config: { mode: 'case_insensitive', epsilon: 0.01 },
      category: 'weather',
      should_call_tool: true,
    },
    { id: 'several', prompt: 'Several tools', expected_tool: ['search', 'get_weather'], expected_params: null },
    { id: 'none', prompt: 'No tool', expected_tool: null, expected_params: null, should_call_tool: false },
    { id: 'empty', prompt: 'No parameters at all', expected_tool: 'search', expected_params: {} },
    {
      id: 'chain',
      prompt: 'A whole chain of calls',
      expected_tool: 'book_flight',
      expected_params: { flight: 'FL123' },
      multi_turn: true,
      max_rounds: 5,
      optimal_hops: 2,
      valid_prerequisites: ['search'],
      mock_responses: { search: { flights: [{ id: 'FL123', price: 450 }] }, book_flight: { booked: true } },
      argument_source: { flight: 'search.result.flights[0].id' },
    },
  ];
  for (const c of forms) {
    await page.goto(`/suites/${id}`);
    await page.getByRole('button', { name: 'Add a case' }).click();
    const form = page.getByRole('dialog', { name: 'New case' });
    await form.getByRole('textbox', { name: 'Case', exact: true }).fill(c.id);
    await form.getByLabel('Prompt').fill(c.prompt);
    const names = c.expected_tool === null ? [] : [c.expected_tool].flat();
    if (names.length > 0) await form.getByText('Calls a tool').click();
    for (const n of names) await pick(form, page, 'Tools', n);
    if (names.length > 0) await form.getByLabel('Prompt').click();
    await form
      .getByText(
        c.expected_params === null
          ? 'Not scored'
          : Object.keys(c.expected_params).length === 0
            ? 'None expected'
            : 'These values',
      )
      .click();
    if (c.expected_params && Object.keys(c.expected_params).length > 0)
      await write(form, 'Expected parameters (JSON)', JSON.stringify(c.expected_params));
    if (c.param_scoring) await pick(form, page, 'Comparison', c.param_scoring);
    if (c.scoring_config) await write(form, 'Scoring configuration (JSON)', JSON.stringify(c.scoring_config));
    if (c.category) await form.getByLabel('Category').fill(c.category);
    if (c.category) await form.getByLabel('Prompt').click();
    if (c.should_call_tool !== undefined)
      await pick(
        form,
        page,
        'should_call_tool',
        c.should_call_tool ? 'True: a tool should be called' : 'False: none should be called',
      );
    if (c.multi_turn) {
      await form.getByRole('switch', { name: /^Multi-turn/ }).check();
      await form.getByLabel('Rounds at most').fill(String(c.max_rounds));
      await form.getByLabel('Hops of the best way').fill(String(c.optimal_hops));
      for (const n of c.valid_prerequisites) await pick(form, page, 'Tools that may come before', n);
      await form.getByLabel('Prompt').click();
      await write(form, 'What tools answer (JSON)', JSON.stringify(c.mock_responses));
      await write(form, 'Where arguments come from (JSON)', JSON.stringify(c.argument_source));
    }
    await form.getByRole('button', { name: 'Save the case' }).click();
    await form.waitFor({ state: 'detached' });
    const made = await server.api('GET', `/api/tool-suites/${id}/cases/${c.id}`);
    assert.deepEqual(made, c);

    // Opened again and saved, the case is still the same.
    await page.goto(`/suites/${id}?case=${c.id}`);
    const again = page.getByRole('dialog', { name: `Edit the case ${c.id}` });
    await again.getByLabel('Prompt').fill(`${c.prompt}?`);
    await again.getByRole('button', { name: 'Save the case' }).click();
    await again.waitFor({ state: 'detached' });
    assert.deepEqual(await server.api('GET', `/api/tool-suites/${id}/cases/${c.id}`), { ...c, prompt: `${c.prompt}?` });
  }

  // Only callvet's own format can express a plan of two calls in order, with the words of the schema.
  await page.getByRole('button', { name: 'Add a case' }).click();
  const form = page.getByRole('dialog', { name: 'New case' });
  await form.getByText('callvet’s own form', { exact: true }).click();
  const own = {
    prompt: 'Search, then book',
    tags: ['plans'],
    expect: { calls: [{ tool: 'search' }, { tool: 'book_flight', args: { flight: 'FL1' } }], order: 'strict' },
  };
  const label = 'The case in callvet’s own form';
  const wrong = JSON.stringify({ ...own, expect: { ...own.expect, order: 'stirct' } }, null, 2);
  await linted(
    page,
    (x) => x.includes('stirct'),
    () => write(form, label, wrong),
  );
  const at = wrong.split('\n').findIndex((l) => l.includes('stirct')) + 1;
  assert.equal(await form.locator('[data-problem]').first().getAttribute('data-line'), String(at));
  await write(form, label, '');
  await page.keyboard.type('max_same');
  await page.getByRole('option', { name: /max_same_calls/ }).waitFor();
  await page.keyboard.press('Escape');
  await write(form, label, JSON.stringify(own, null, 2));
  await form.getByRole('textbox', { name: 'Case', exact: true }).fill('plan');
  await form.getByRole('button', { name: 'Save the case' }).click();
  await form.waitFor({ state: 'detached' });
  const plan = await server.api('GET', `/api/tool-suites/${id}/cases/plan`);
  assert.deepEqual({ ...plan.case, id: undefined }, { ...own, id: undefined });
  await page
    .getByRole('combobox', { name: 'Tag' })
    .or(page.getByRole('textbox', { name: 'Tag' }))
    .first()
    .click();
  await page.getByRole('option', { name: 'plans' }).click();
  await page.getByText('1 of 8 cases').waitFor();
  assert.match(page.url(), /tag=plans/);
  clean(page);
});

test('an edit after a change of another user shows the conflict and loses nothing', async () => {
  const id = await server.suite(suite('Conflict', two));
  const page = await browser.page(server);
  await page.goto(`/suites/${id}?case=paris`);
  const form = page.getByRole('dialog', { name: 'Edit the case paris' });
  await form.getByLabel('Prompt').fill('What is the weather like in Paris?');
  await server.api('PUT', `/api/tool-suites/${id}/cases/thanks`, { prompt: 'Goodbye!', expected_tool: null });
  await form.getByRole('button', { name: 'Save the case' }).click();
  await form.getByText('Another user changed this suite').waitFor();
  await form.getByRole('button', { name: 'What changed since version 1' }).click();
  await form.getByText('Goodbye!').waitFor();
  assert.equal((await get(id)).test_cases[0].prompt, two[0].prompt);
  await form.getByRole('button', { name: 'Load the newest version' }).click();
  await form.getByText('Another user changed this suite').waitFor({ state: 'detached' });
  assert.equal(await form.getByLabel('Prompt').inputValue(), 'What is the weather like in Paris?');
  await form.getByRole('button', { name: 'Save the case' }).click();
  await form.waitFor({ state: 'detached' });
  assert.deepEqual(
    (await get(id)).test_cases.map((c) => c.prompt),
    ['What is the weather like in Paris?', 'Goodbye!'],
  );
  clean(page);
});

test('broken suites have the same diagnostics in the page as on the command line', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'callvet-broken-'));
  try {
    const data = path.join(root, 'internal/suite/testdata');
    const broken = [];
    for (const name of (await readdir(path.join(data, 'lint'))).filter((n) => /\.(yaml|json)$/.test(n)).sort())
      broken.push([name, await readFile(path.join(data, 'lint', name), 'utf8')]);
    const lines = (await readFile(path.join(data, 'forms/bad.txt'), 'utf8'))
      .split('\n')
      .filter((l) => l.startsWith('{') && l !== '{}');
    for (const [i, l] of lines.slice(0, 26).entries())
      broken.push([
        `form-${i}.yaml`,
        `callvet: 1\ntools: [{name: a, description: A}, {name: b, description: B}]\ncases:\n  - ${l}\n`,
      ]);
    broken.push(['syntax.yaml', 'callvet: 1\ncases:\n  - prompt: "x\n    expected_tool: [a\n']);
    assert.ok(broken.length >= 30, `${broken.length} suites`);
    for (const [name, text] of broken) await writeFile(path.join(folder, name), text);
    const out = await run(program, ['lint', '--json', ...broken.map(([n]) => n)], {
      cwd: folder,
      env: { ...process.env, CALLVET_DB: path.join(folder, 'runs.db') },
    }).catch((e) => e);
    const problems = JSON.parse(out.stdout).problems;

    const page = await browser.page(server);
    await page.goto('/suites/import');
    let errors = 0;
    for (const [name, text] of broken) {
      await linted(
        page,
        (x) => x === text,
        () => write(page, 'The suite as text', text),
      );
      const rows = await page
        .locator('[data-problem]')
        .evaluateAll((list) =>
          list.map((e) => [
            Number(e.dataset.line),
            Number(e.dataset.column),
            e.dataset.problem,
            e.querySelector('[data-message]').textContent,
            e.dataset.warning === 'true',
          ]),
        );
      const want = problems
        .filter((p) => path.basename(p.file) === name)
        .map((p) => [p.line ?? 0, p.column ?? 0, p.code, p.message, p.warning ?? false]);
      const order = (list) => list.map((x) => JSON.stringify(x)).sort();
      assert.ok(want.length > 0, `${name}: the command line finds nothing`);
      assert.deepEqual(order(rows), order(want), name);
      errors += want.filter((w) => !w[4]).length;
    }
    assert.ok(errors >= 30);

    // "Go there" puts the cursor on the line.
    const [name, text] = broken.find(([n]) => n === 'meaning.yaml');
    await linted(
      page,
      (x) => x === text,
      () => write(page, 'The suite as text', text),
    );
    await page.getByRole('button', { name: 'Go to line 20', exact: true }).first().click();
    await page.locator('.cm-activeLine', { hasText: text.split('\n')[19].trim() }).waitFor();
    assert.ok(name);
    clean(page);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a suite is edited as text; versions are listed, compared and returned to', async () => {
  const id = await server.suite(suite('As text', two));
  const page = await browser.page(server);
  await page.goto(`/suites/${id}?tab=source`);
  const editor = page.getByRole('textbox', { name: 'The suite as text' });
  await editor.waitFor();
  const text = await server.api('GET', `/api/tool-suites/${id}/export?format=callvet&yaml=true`);
  const changed = text.replace('How warm is it in Paris?', 'How windy is it in Paris?');
  assert.notEqual(text, changed);
  const bad = text.replaceAll('get_weather', 'get_wether').replace('name: get_wether', 'name: get_weather');
  await linted(
    page,
    (x) => x === bad,
    () => write(page, 'The suite as text', bad),
  );
  await page.getByText('there is no tool "get_wether"').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save the text' }).isDisabled(), true);
  await linted(
    page,
    (x) => x === changed,
    () => write(page, 'The suite as text', changed),
  );
  await page.getByRole('button', { name: 'Save the text' }).click();
  await page
    .getByText(/version 2/)
    .first()
    .waitFor();
  let now = await get(id);
  assert.equal(now.test_cases[0].prompt, 'How windy is it in Paris?');
  assert.deepEqual(now.test_cases[0].expected_params, { city: 'Paris' });

  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'From version 1 to version 2' }).click();
  await page.locator('[data-diff="1-2"]').getByText('How windy is it in Paris?').waitFor();
  assert.match(page.url(), /from=1&to=2/);
  await page.getByRole('button', { name: 'Show: Version 1' }).click();
  await page
    .getByRole('dialog', { name: 'Version 1' })
    .getByRole('textbox', { name: 'The text of version 1' })
    .getByText('As text')
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Return to version 1' }).click();
  await page.getByText('Version 3 is as version 1 was').waitFor();
  now = await get(id);
  assert.deepEqual([now.version, now.test_cases[0].prompt], [3, 'How warm is it in Paris?']);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: 'Export' })
      .click()
      .then(() => page.getByRole('menuitem', { name: 'callvet (YAML)' }).click()),
  ]);
  assert.equal(
    await readFile(await download.path(), 'utf8'),
    await server.api('GET', `/api/tool-suites/${id}/export?format=callvet&yaml=true`),
  );
  clean(page);
});

test('a suite is imported from a file, and the page names the parts that were not imported', async () => {
  const page = await browser.page(server);
  await page.goto('/suites/import');
  const [example] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the example' }).click(),
  ]);
  const text = await readFile(await example.path(), 'utf8');
  await linted(
    page,
    (x) => x === text,
    () =>
      page
        .getByLabel('Choose a file')
        .and(page.locator('input'))
        .setInputFiles({ name: 'weather.json', mimeType: 'application/json', buffer: Buffer.from(text) }),
  );
  await page.getByText('Read as toolsuite: 4 cases').waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('3 tools and 4 cases.').waitFor();
  await page.getByRole('link', { name: 'Open the suite' }).click();
  await page.getByRole('heading', { name: 'Weather API Suite' }).waitFor();
  await page.goto('/suites?q=weather+api');
  await page.getByRole('button', { name: 'Delete Weather API Suite' }).click();
  await page.getByText('No suite has this in its name').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Weather API Suite' }).waitFor();
  clean(page);
});

/** everything installs an MCP server of another project; it returns null if npm fails. */
async function everything() {
  const folder = path.join(root, '.cache/web-mcp');
  const file = path.join(folder, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  try {
    await readFile(file);
  } catch {
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(
        path.join(folder, 'package.json'),
        JSON.stringify({ private: true, dependencies: { '@modelcontextprotocol/server-everything': '2026.8.31' } }),
      );
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder, timeout: 240_000 });
    } catch (e) {
      return { file: null, why: String(e).slice(0, 300) };
    }
  }
  return { file };
}

test('tools are imported from an MCP server of another project', { timeout: 300_000 }, async (t) => {
  const { file, why } = await everything();
  if (!file) {
    console.log(`SKIPPED: npm cannot install @modelcontextprotocol/server-everything: ${why}`);
    return t.skip(why);
  }
  const port = await new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
  const child = spawn('node', [file, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await new Promise((resolve, reject) => {
      const look = (b) => /listening/i.test(String(b)) && resolve();
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      child.once('exit', (code) => reject(new Error(`the MCP server ended with ${code}`)));
    });
    const id = await importedFrom(`http://127.0.0.1:${port}/mcp`, ['echo', 'get-sum']);
    const made = await get(id);
    assert.deepEqual(made.tools.map((x) => x.function.name).sort(), ['echo', 'get-sum']);
    assert.equal(
      made.tools.find((x) => x.function.name === 'echo').function.parameters.properties.message.type,
      'string',
    );
    assert.equal(made.test_cases.length, 2); // drafts
  } finally {
    child.kill();
  }
});

test('tools are imported from the MCP server of callvet itself', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'callvet-mcp-'));
  await writeFile(path.join(folder, 'suite.json'), JSON.stringify(suite('Served', two)));
  const child = spawn(program, ['mcp', 'serve', 'suite.json', '--http', '127.0.0.1:0'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const url = await new Promise((resolve, reject) => {
      let text = '';
      child.stderr.on('data', (b) => {
        text += b;
        const m = /MCP at (\S+)/.exec(text);
        if (m) resolve(m[1]);
      });
      child.once('exit', () => reject(new Error(text)));
    });
    const made = await get(await importedFrom(url, ['get_weather']));
    assert.deepEqual(
      made.tools.map((x) => x.function.name),
      ['get_weather'],
    );
    assert.deepEqual(made.tools[0].function.parameters, weather.function.parameters);
    // A prefix is put before the names of tools, also in the calls of drafts.
    const other = await get(await importedFrom(url, ['get_weather'], 'mcp__weather__'));
    assert.deepEqual(
      other.tools.map((x) => x.function.name),
      ['mcp__weather__get_weather'],
    );
    assert.deepEqual(other.tools[0].function.parameters, weather.function.parameters);
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
});

/** importedFrom imports some tools of a server through the page, and returns the id of the suite. */
async function importedFrom(url, names, prefix = '') {
  const page = await browser.page(server);
  await page.goto('/suites/import?from=mcp');
  await page.getByLabel('Address of the server').fill('http://127.0.0.1:9/mcp');
  await page.getByRole('button', { name: 'Ask for its tools' }).click();
  await page.getByRole('alert').waitFor(); // the error: no server at this address
  await page.getByLabel('Address of the server').fill(url);
  await page.getByRole('button', { name: 'Ask for its tools' }).click();
  await page.getByRole('heading', { name: /has \d+ tools/ }).waitFor();
  await page.getByRole('checkbox', { name: 'All tools' }).click();
  for (const n of names) await page.getByRole('checkbox', { name: `Take ${n}`, exact: true }).check();
  await page.getByLabel('Name of the suite').fill('From a server');
  if (prefix) await page.getByLabel('Prefix of the names').fill(prefix);
  await page.getByRole('checkbox', { name: /Add a draft/ }).check();
  await page.getByRole('button', { name: `Import ${names.length} tools` }).click();
  await page.getByRole('link', { name: 'Open the suite' }).click();
  await page.getByRole('heading', { name: 'From a server' }).waitFor();
  clean(page);
  return new URL(page.url()).pathname.split('/')[2];
}

test('a user sees own and shared suites, and changes only own suites', async () => {
  await server.user('bea');
  const hidden = await server.suite(suite('Of ana alone', two));
  const shared = await server.suite(suite('Of ana for all', two));
  await server.api('PATCH', `/api/tool-suites/${shared}`, { shared: true });
  await server.suite(suite('Of bea', two), { as: 'bea' });
  const page = await browser.page(server, { as: 'bea' });
  await page.goto('/suites');
  await page.getByRole('link', { name: 'Of bea' }).waitFor();
  await page.getByRole('link', { name: 'Of ana for all' }).waitFor();
  await page
    .getByRole('row', { name: /Of ana for all/ })
    .getByRole('cell', { name: 'ana', exact: true })
    .waitFor(); // the owner's name
  assert.equal(await page.getByRole('link', { name: 'Of ana alone' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Delete Of ana for all' }).count(), 0);
  await page.goto(`/suites/${hidden}`);
  await page.getByText('Not found', { exact: true }).first().waitFor();
  await page.goto(`/suites/${shared}`);
  await page.getByText('This suite is of another user.', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Open paris' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add a case' }).count(), 0);
  clean(page);
});

test('Back and links ask before they leave a form with unsaved changes', async () => {
  const id = await server.suite(suite('Unsaved', two));
  const page = await browser.page(server);
  await page.goto('/suites');
  await page.goto(`/suites/${id}`);
  const asks = page.getByRole('dialog', { name: 'Discard what you typed?' });
  const keep = () => asks.getByRole('button', { name: 'Keep editing' }).click();
  // A case in a drawer, which Back closes.
  await page.getByRole('button', { name: 'Open paris' }).click();
  const drawer = page.getByRole('dialog', { name: /paris/ });
  const prompt = drawer.getByRole('textbox', { name: 'Prompt', exact: true });
  await page.goBack();
  await drawer.waitFor({ state: 'hidden' }); // nothing was typed
  await page.getByRole('button', { name: 'Open paris' }).click();
  await prompt.fill('How warm is it in Lima?');
  await page.goBack();
  await keep();
  await asks.waitFor({ state: 'hidden' });
  assert.equal(await prompt.inputValue(), 'How warm is it in Lima?');
  assert.match(page.url(), /case=paris/);
  await page.goBack();
  await asks.getByRole('button', { name: 'Discard', exact: true }).click();
  await drawer.waitFor({ state: 'hidden' });
  assert.equal((await get(id)).test_cases[0].prompt, two[0].prompt);
  // After saving there is no question.
  await page.getByRole('button', { name: 'Open paris' }).click();
  await prompt.fill('How warm is it in Oslo?');
  await drawer.getByRole('button', { name: 'Save the case' }).click();
  await drawer.waitFor({ state: 'hidden' });
  assert.equal(await asks.count(), 0);
  assert.equal((await get(id)).test_cases[0].prompt, 'How warm is it in Oslo?');
  // The system prompt survives a change of the tab, but not of the screen.
  await page.getByRole('tab', { name: /prompt/i }).click();
  await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.');
  await page.getByRole('tab', { name: /^Cases/ }).click();
  assert.equal(await asks.count(), 0);
  await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
  await keep();
  await page.getByRole('tab', { name: /prompt/i }).click();
  assert.equal(await page.getByRole('textbox', { name: 'System prompt' }).inputValue(), 'Be brief.');
  await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
  await asks.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.waitForURL(/\/runs$/);
  clean(page);
});

test('10,000 cases: at most 200 rows are in the document, and search is at once', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({
    id: `c${i}`,
    prompt: `Question number ${i} about ${['rain', 'wind', 'snow'][i % 3]} in town ${i}`,
    expected_tool: 'get_weather',
    category: `k${i % 7}`,
  }));
  const id = await server.suite(suite('Many', many));
  const page = await browser.page(server);
  await page.goto(`/suites/${id}`);
  await page.getByText('10000 of 10000 cases').waitFor();
  const rows = () => page.getByRole('region', { name: 'Cases' }).locator('tbody tr[data-index]').count();
  assert.ok((await rows()) <= 200);
  await page.getByRole('row', { name: /Question number 0 / }).focus();
  await page.keyboard.press('End');
  await page.getByRole('row', { name: /Question number 9999 / }).waitFor();
  assert.ok((await rows()) <= 200);
  await page
    .getByRole('searchbox', { name: 'Search the cases' })
    .or(page.getByRole('textbox', { name: 'Search the cases' }))
    .fill('town 4321');
  await page.getByText('1 of 10000 cases').waitFor();
  clean(page);
});

test('the screens are accessible in both themes at three widths', { timeout: 240_000 }, async () => {
  const id = await server.suite(
    suite('Accessible', [
      ...two,
      {
        id: 'chain',
        prompt: 'Book the flight that a search has found',
        expected_tool: 'book_flight',
        expected_params: { flight: 'FL1' },
        multi_turn: true,
        max_rounds: 4,
        valid_prerequisites: ['search'],
        mock_responses: { search: { id: 'FL1' } },
      },
    ]),
  );
  await server.api('PATCH', `/api/tool-suites/${id}`, { system_prompt: 'Use the tools.' });
  const screens = [
    ['/suites', (p) => p.getByRole('link', { name: 'Accessible' })],
    [`/suites/${id}`, (p) => p.getByText('3 of 3 cases')],
    [`/suites/${id}?case=chain`, (p) => p.getByRole('dialog').locator('.cm-content').first()],
    [`/suites/${id}?tab=tools`, (p) => p.getByRole('cell', { name: 'book_flight' })],
    [`/suites/${id}?tab=tools&tool=search`, (p) => p.getByRole('dialog').locator('.cm-content')],
    [`/suites/${id}?tab=prompt`, (p) => p.getByRole('textbox', { name: 'System prompt' })],
    [`/suites/${id}?tab=source`, (p) => p.locator('.cm-content')],
    [`/suites/${id}?tab=versions&from=1&to=2`, (p) => p.locator('[data-diff="1-2"]')],
    [`/suites/${id}?tab=runs`, (p) => p.getByText('This suite did not run yet')],
    ['/suites/import', (p) => p.locator('.cm-content')],
    ['/suites/import?from=mcp', (p) => p.getByLabel('Address of the server')],
  ];
  await accessible(browser, server, screens);
});
