import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';

const tools = [
  {
    name: 'traffic_incidents',
    description: 'Current incidents and delays on Swedish roads.',
    keywords: ['traffic', 'incidents', 'E4'],
  },
  { name: 'weather_now', description: 'Current weather of a city.', keywords: ['weather', 'rain'] },
  { name: 'company_search', description: 'Finds companies by their name.', keywords: ['company'] },
];
const questions = {
  name: 'Three questions',
  config: { tool_retrieval: { limit: 1 } },
  categories: [
    {
      category_id: 'road',
      category_name: 'Road',
      test_cases: [
        {
          id: 'q1',
          query: 'Are there traffic incidents on the E4?',
          expected_tools: ['traffic_incidents'],
          expected_route: 'action',
          tags: ['road'],
          difficulty: 'easy',
          language: 'en',
        },
        {
          id: 'q2',
          query: 'Will it rain in Oslo, what is the weather?',
          expected_tools: ['weather_now'],
          expected_route: 'action',
          tags: ['sky'],
          difficulty: 'hard',
          language: 'en',
        },
      ],
    },
    {
      category_id: 'sky',
      category_name: 'Sky',
      test_cases: [
        {
          id: 'q3',
          query: 'Which company has the most rain and weather? <script>alert(1)</script>',
          expected_tools: ['traffic_incidents'],
          expected_route: 'statistics',
          tags: ['sky'],
          difficulty: 'hard',
          language: 'en',
        },
      ],
    },
  ],
};
const eval_ = '/api/v1/admin/tool-eval';
const file = { name: 'three.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(questions)) };

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: ['--allow-private', '127.0.0.1'] }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** vectors starts a server that embeds texts as TEI does, and returns its address. */
async function vectors() {
  const listener = http.createServer((req, res) => {
    let text = '';
    req.on('data', (b) => (text += b));
    req.on('end', () => {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify(JSON.parse(text).inputs.map((s) => [1, s.length % 5, s.length % 3])));
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  listener.unref();
  return `http://127.0.0.1:${listener.address().port}`;
}

/** catalogue stores a catalogue for one test, and returns its id. */
async function catalogue(name) {
  return (
    await server.api('POST', `/api/catalogues?name=${name}`, JSON.stringify(tools), {
      raw: true,
      headers: { 'Content-Type': 'application/octet-stream' },
    })
  ).id;
}

/** evaluated runs the questions over a catalogue, and returns the report. */
async function evaluated(id) {
  return await server.api('POST', `${eval_}/run?catalogue_id=${id}`, JSON.stringify(questions), {
    raw: true,
    headers: { 'Content-Type': 'application/octet-stream' },
  });
}

async function svenska(page) {
  await page.addInitScript(() => localStorage.setItem('callvet.language', 'sv'));
}

test('the first catalogue is uploaded, and one question is tested in Swedish with the labels of the document', async () => {
  const page = await browser.page(server);
  await svenska(page);
  await page.goto('/admin/tools/eval');
  await page.getByText('Ingen katalog ännu').waitFor();
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'roads.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(tools)) });
  await page.getByText('3 verktyg, version 1').waitFor();
  await page.getByRole('textbox', { name: 'Fråga', exact: true }).fill('weather and rain');
  const expected = page
    .getByRole('combobox', { name: 'Förväntade verktyg' })
    .or(page.getByRole('textbox', { name: 'Förväntade verktyg' }))
    .first();
  await expected.fill('traff');
  await page.getByRole('option', { name: 'traffic_incidents' }).click(); // completed from the catalogue
  await page.locator('[role=tabpanel]:visible').getByLabel('Antal verktyg', { exact: true }).fill('1');
  await page.getByRole('button', { name: 'Testa' }).click();
  await page.locator('[data-match="no_match"]').getByText('Ingen träff').waitFor();
  await page.getByRole('heading', { name: 'Varför det förväntade verktyget inte kom först' }).waitFor();
  const first = page.locator('[data-tool="weather_now"]');
  await first.getByText('valt', { exact: true }).waitFor();
  assert.match(await first.innerText(), /Nyckelord:.*(weather|rain)/);
  assert.match(page.url(), /q=weather/);
  // The address contains the question: a reload asks it again, and the back button asks the one before.
  const again = await browser.page(server);
  await again.goto(page.url().replace('traffic_incidents', 'weather_now'));
  await again.locator('[data-match="exact_match"]').waitFor();
  const asked = await server.api('POST', `${eval_}/single`, {
    query: 'weather and rain',
    expected_tools: ['weather_now'],
    limit: 1,
  });
  const row = again.locator('[data-tool="weather_now"]');
  assert.match(await row.innerText(), new RegExp(asked.scoring_details[0].total_score.toFixed(3).replace('.', '\\.')));
  clean(page);
  clean(again);
});

test('a suite is uploaded and run, and every panel shows the numbers of the server', async () => {
  const id = await catalogue('panels');
  const page = await browser.page(server);
  await svenska(page);
  await page.goto(`/lab?tab=suite&catalogue=${id}`);
  await page.getByRole('button', { name: 'Välj JSON-fil' }).waitFor();
  await page.locator('[role=tabpanel]:visible input[type=file]').setInputFiles(file);
  await page
    .getByText(/three\.json, /)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Kör Utvärdering' }).click();
  await page.getByRole('heading', { name: 'Resultat för Three questions' }).waitFor();
  assert.match(page.url(), /run=/);
  const run = new URL(page.url()).searchParams.get('run');
  const report = await server.api('GET', `${eval_}/runs/${run}`);

  const cards = page.locator('[data-card]');
  assert.equal(await cards.count(), 4);
  const percent = (v) => `${(Math.round(v * 1000) / 10).toString().replace('.', ',')} %`;
  const exact = await page.locator('[data-card="lab.exactRate"]').innerText();
  assert.ok(exact.includes(percent(report.overall_tool_exact_rate.value)), exact);
  assert.ok(
    exact.includes(percent(report.overall_tool_exact_rate.high)) &&
      exact.includes(`n = ${report.overall_tool_exact_rate.n}`),
    exact,
  );
  assert.match(await page.locator('[data-card="lab.latencyMedian"]').innerText(), /ms/);
  for (const name of [
    'Per kategori',
    'Per svårighetsgrad',
    'Förväxlingsmatris för rutter',
    'Felmönster per tagg',
    'Rekommendationer',
    'Misslyckade tester',
    'Utveckling över tid',
  ]) {
    await page.getByRole('heading', { name }).waitFor();
  }
  await page.getByRole('region', { name: 'Per kategori' }).getByRole('rowheader', { name: 'Road' }).waitFor();
  await page.getByRole('region', { name: 'Per svårighetsgrad' }).getByRole('rowheader', { name: 'svår' }).waitFor();
  const sky = report.failure_patterns.find((p) => p.tag === 'sky');
  assert.ok(
    (await page.getByRole('region', { name: 'Felmönster per tagg' }).innerText()).includes(
      `${sky.failed} av ${sky.of}`,
    ),
  );
  assert.ok(report.recommendations.length > 0);

  // A failed test shows its diagnostics when opened, and text of users stays text.
  const failed = page.locator('[data-case="q3"]');
  await failed.locator('summary').click();
  await failed.getByText('Diagnos', { exact: true }).waitFor();
  await failed.getByText('<script>alert(1)</script>').waitFor();
  const reason = report.failed_tests.find((f) => f.case === 'q3').diagnosis[0].reasons[0];
  assert.match(reason, / was not ranked at all$/);
  // in the language of the page
  await failed.getByText(reason.replace('was not ranked at all', 'fick ingen plats alls'), { exact: true }).waitFor();
  await page.waitForURL(/case=q3/);

  // A cell of the matrix shows its failed tests.
  const [wanted, got] = Object.entries(report.route_confusion_matrix)
    .flatMap(([e, row]) => Object.keys(row).map((p) => [e, p]))
    .find(([e]) => e === 'statistics');
  await page
    .getByRole('button', { name: new RegExp(`frågor av typen ${wanted} tolkades som ${got || 'ingen'}`) })
    .click();
  await page.getByText(/^1 av \d misslyckade tester$/).waitFor();
  await page.getByRole('button', { name: 'Visa alla' }).click();
  await page.getByText(`${report.failed_count} av ${report.failed_count} misslyckade tester`).waitFor();

  // From a failed test to the tester of one query.
  await failed.getByRole('button', { name: 'Testa frågan' }).click();
  await page.locator('[data-match="no_match"]').waitFor();

  await page.getByRole('tab', { name: 'Testsvit' }).click();
  await page.getByRole('button', { name: 'Rensa Cache' }).click();
  await page.getByText(/Cachen är rensad: \d+ index/).waitFor();
  clean(page);
});

test('a suite with errors is refused with the reason, and runs nevertheless on request', async () => {
  const id = await catalogue('lint');
  const page = await browser.page(server);
  await page.goto(`/lab?tab=suite&catalogue=${id}`);
  const bad = JSON.stringify(questions).replace('"weather_now"', '"weather_then"');
  await page.locator('[role=tabpanel]:visible input[type=file]').setInputFiles({ ...file, buffer: Buffer.from(bad) });
  await page.getByRole('button', { name: 'Run evaluation' }).click();
  await page
    .getByRole('alert')
    .getByText(/weather_then/)
    .first()
    .waitFor();
  await page
    .getByText(/three\.json, /)
    .first()
    .waitFor(); // the file is still chosen
  await page.getByRole('button', { name: 'Run it all the same' }).click();
  await page.getByRole('heading', { name: 'Result of Three questions' }).waitFor();
  clean(page);
});

test('an earlier run is opened from the trend, exported, and printed', async () => {
  const id = await catalogue('trend');
  const old = await evaluated(id);
  await server.api(
    'PUT',
    `/api/catalogues/${id}`,
    JSON.stringify(
      tools.map((x) =>
        x.name === 'traffic_incidents'
          ? { ...x, keywords: [...x.keywords, 'company', 'most', 'rain', 'weather', 'which'] }
          : x,
      ),
    ),
    { raw: true, headers: { 'Content-Type': 'application/octet-stream' } },
  );
  const fresh = await evaluated(id);
  const page = await browser.page(server);
  await page.goto(`/lab?tab=suite&catalogue=${id}&run=${fresh.run_id}`);
  await page.locator(`[data-run="${fresh.run_id}"]`).waitFor();
  await page.getByRole('img', { name: /Exact match rate of 2 runs/ }).waitFor();
  await page.locator(`[data-id="${old.run_id}"]`).getByRole('button').click();
  await page.locator(`[data-run="${old.run_id}"]`).waitFor();
  assert.match(page.url(), new RegExp(`run=${old.run_id}`));
  await page.goBack();
  await page.locator(`[data-run="${fresh.run_id}"]`).waitFor();
  await page.goForward();
  await page.locator(`[data-run="${old.run_id}"]`).waitFor();

  const csv = async (name) => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
    return await readFile(await download.path(), 'utf8');
  };
  const failed = await csv('CSV: failed tests');
  assert.ok(failed.includes(',q3,') && !failed.includes(',q1,'), failed);
  assert.match(await csv('CSV: all tests'), /q1/);

  let printed = 0;
  await page.exposeFunction('printed', () => printed++);
  await page.evaluate(() => {
    window.print = () => globalThis.printed();
  });
  await page.getByRole('button', { name: 'Print or save as PDF' }).click();
  assert.equal(printed, 1);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('navigation').first().isVisible(), false);
  assert.equal(await page.getByRole('button', { name: 'Run evaluation' }).isVisible(), false);
  assert.equal(await page.locator('[data-card="lab.exactRate"]').isVisible(), true);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' }); // paper is light, whatever the theme
  assert.equal(
    await page.locator('[data-card="lab.exactRate"]').evaluate((e) => getComputedStyle(e).backgroundColor),
    'rgb(255, 255, 255)',
  );
  await page.setViewportSize({ width: 700, height: 900 });
  // nothing is cut off on paper
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.emulateMedia({ media: null, colorScheme: 'light' });
  const pdf = await page.pdf({ format: 'A4', tagged: true, outline: true });
  assert.ok(pdf.length > 10_000 && pdf.subarray(0, 5).toString() === '%PDF-');
  assert.ok(/\/Count \d/.test(pdf.toString('latin1')));
  clean(page);
});

test('an edit is tried question by question, applied, and makes a new version', async () => {
  const id = await catalogue('edits');
  const page = await browser.page(server);
  await page.goto(`/lab?tab=changes&catalogue=${id}&edit=traffic_incidents`);
  await page.locator('[role=tabpanel]:visible input[type=file]').first().setInputFiles(file);
  await page.getByLabel('Description').fill('Which company has the most rain and weather on the roads.');
  const keywords = page
    .getByRole('combobox', { name: 'Keywords' })
    .or(page.getByRole('textbox', { name: 'Keywords' }))
    .first();
  for (const word of ['company', 'rain', 'weather', 'most']) {
    await keywords.fill(word);
    await keywords.press('Enter');
  }
  await page.getByRole('button', { name: 'Keep this edit' }).click();
  const apply = page.getByRole('button', { name: 'Apply to the catalogue' });
  assert.equal(await apply.isDisabled(), true); // only tried edits can be applied
  await page.getByRole('button', { name: 'What if' }).click();
  const effects = page.locator('[data-effects]');
  await effects.getByText(/Newly right \(\d+\)/).waitFor();
  const effect = await effects.innerText();
  assert.match(effect, /[+−±][\d.]+ pp/);
  assert.match(effect, /n = \d/);
  assert.match(effect, /q[123]/);
  await apply.click();
  await page.getByText('edits is version 2 now, with 1 edited tools').first().waitFor();
  await page.getByText('3 tools, version 2').waitFor();
  const now = await server.api('GET', `/api/catalogues/${id}/tools`);
  assert.equal(now.version, 2);
  assert.equal(now.items[0].description, 'Which company has the most rain and weather on the roads.');
  assert.ok(now.items[0].keywords.includes('most'));
  assert.equal(now.items[1].description, tools[1].description);
  clean(page);
});

/** tried opens the changes of a catalogue with a finished run, and tries an edit of the first tool, without a file. */
async function tried(page, id, run) {
  await page.goto(`/lab?tab=changes&catalogue=${id}&run=${run}&edit=traffic_incidents`);
  await page.getByText(`The questions of run ${run}`).waitFor();
  await page.getByLabel('Description').fill('Rain and weather on the roads.');
  await page.getByRole('button', { name: 'Keep this edit' }).click();
  await page.getByRole('button', { name: 'What if' }).click();
  await page.locator('[data-effects]').waitFor();
}
const bytes = async (id) => await server.api('GET', `/api/catalogues/${id}`);

test('edits are tried on the questions of an earlier run, applied and undone', async () => {
  const id = await catalogue('undone');
  const old = await bytes(id);
  const { run_id } = await evaluated(id);
  const page = await browser.page(server);
  await tried(page, id, run_id);
  await page.getByRole('button', { name: 'Apply to the catalogue' }).click();
  await page.getByText('3 tools, version 2').waitFor();
  assert.notDeepEqual(await bytes(id), old);
  await page
    .getByRole('alert')
    .or(page.locator('.mantine-Notification-root'))
    .getByRole('button', { name: 'Undo', exact: true })
    .click();
  await page.getByText('3 tools, version 3').waitFor();
  await page.getByText('undone is version 3 now, with the text of version 1').waitFor();
  assert.deepEqual(await bytes(id), old);
  assert.equal(await page.getByRole('button', { name: /^Undo: back/ }).count(), 0);

  // A later change is not lost, and the page shows why the undo is refused.
  await tried(page, id, run_id);
  await page.getByRole('button', { name: 'Apply to the catalogue' }).click();
  const back = page.getByRole('button', { name: 'Undo: back to version 3' });
  await back.waitFor();
  await server.api('PUT', `/api/catalogues/${id}`, JSON.stringify([...tools, { name: 'more', description: 'More.' }]), {
    raw: true,
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  await back.click();
  await page.getByText('undone was changed again since').waitFor();
  await page.getByText('4 tools, version 5').waitFor();
  clean(page);
});

test('a connection that drops loses neither the old catalogue nor the undo', async () => {
  const id = await catalogue('dropped');
  const old = await bytes(id);
  const { run_id } = await evaluated(id);
  const page = await browser.page(server);
  await tried(page, id, run_id);
  // The server applies the edits, but its answer is lost.
  await page.route('**/tool-eval/apply', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Apply to the catalogue' }).click();
  await page.getByText('The answer did not come, and dropped is version 2 now.').waitFor();
  const back = page.getByRole('button', { name: 'Undo: back to version 1' });
  // The same for the undo: the second click finds it done.
  let lost = 0;
  await page.route('**/api/catalogues**', async (route) => {
    if (route.request().method() === 'PUT') {
      lost++;
      await route.fetch();
      return await route.abort();
    }
    return await route.fallback();
  });
  await back.click();
  await page.getByText('dropped is version 3 now, with the text of version 1').waitFor();
  assert.equal(lost, 1);
  assert.deepEqual(await bytes(id), old);
  clean(page);
});

test('a sweep compares embedding models, and names the unavailable ones', async () => {
  const id = await catalogue('models');
  const { run_id } = await evaluated(id);
  const page = await browser.page(server);
  await page.goto(`/lab?tab=changes&catalogue=${id}&run=${run_id}`);
  const sweep = page.locator('#lab-sweep');
  const embed = sweep
    .getByRole('combobox', { name: 'Embedding models' })
    .or(sweep.getByRole('textbox', { name: 'Embedding models' }))
    .first();
  await embed.fill('openai:text-embedding-3-small');
  await embed.press('Enter');
  await sweep.getByRole('button', { name: 'Sweep' }).click();
  await sweep
    .getByRole('alert')
    .getByText(/no API key.*OPENAI_API_KEY in Settings, Keys/s)
    .first()
    .waitFor();
  await embed.press('Backspace');
  const url = await vectors();
  await embed.fill(`tei:${url}`);
  await embed.press('Enter');
  await sweep.getByRole('button', { name: 'Sweep' }).click();
  await sweep.getByRole('rowheader', { name: `embed tei:${url}`, exact: true }).waitFor();
  assert.match(await sweep.innerText(), /n = 3/);
  clean(page);
});

test('from the recommendations to the sweep and to suggested texts', async () => {
  const id = await catalogue('advice');
  const { run_id } = await evaluated(id);
  const page = await browser.page(server);
  await page.goto(`/lab?tab=suite&catalogue=${id}&run=${run_id}`);
  await page.locator('[role=tabpanel]:visible input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Sweep' }).click();
  const sweep = page.locator('#lab-sweep');
  await sweep.getByRole('button', { name: 'Sweep' }).click();
  await sweep.getByRole('columnheader', { name: 'First tool right' }).waitFor();
  assert.match(await sweep.innerText(), /n = 3/);
  const only = page
    .getByRole('combobox', { name: 'Only these tools' })
    .or(page.getByRole('textbox', { name: 'Only these tools' }))
    .first();
  await only.fill('traffic_incidents');
  await only.press('Enter');
  await page.locator('#lab-suggest').getByRole('button', { name: 'Suggest' }).click();
  await page.getByRole('heading', { name: 'What a model would be asked' }).waitFor();
  clean(page);
});

test('the selections of production are compared with a run, differences first', async () => {
  const id = await catalogue('production');
  const { run_id } = await evaluated(id);
  const page = await browser.page(server);
  await page.goto(`/lab?tab=production&catalogue=${id}&run=${run_id}`);
  const decisions = [
    { query: questions.categories[0].test_cases[0].query, tools: ['traffic_incidents'] },
    { query: questions.categories[0].test_cases[1].query, tools: ['company_search'] },
  ];
  await page.locator('[role=tabpanel]:visible input[type=file]').setInputFiles({
    name: 'production.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(decisions)),
  });
  await page.getByRole('button', { name: 'Compare' }).click();
  const rows = page.locator('[data-likeness]');
  await rows.first().waitFor();
  assert.deepEqual(await rows.evaluateAll((l) => l.map((r) => r.dataset.likeness)), ['disjoint', 'same']);
  assert.match(await rows.first().innerText(), /company_search[\s\S]*wrong[\s\S]*weather_now[\s\S]*right/);
  await page.getByText(/The same \(1\)/).click();
  await page.waitForURL(/likeness=same/);
  const shown = (n) => page.waitForFunction((n) => document.querySelectorAll('[data-likeness]').length === n, n);
  await shown(1);
  // A reload and the back button show it again, without the file.
  await page.reload();
  await shown(1);
  await page.goBack();
  await shown(2);
  await page.goto('/runs');
  await page.goBack();
  await shown(2);
  assert.deepEqual(await rows.evaluateAll((l) => l.map((r) => r.dataset.likeness)), ['disjoint', 'same']);
  await page.goto(page.url().replace(/compared=\w+/, 'compared=gone'));
  await page
    .getByText(/compare again/)
    .first()
    .waitFor();
  clean(page);
});

test('a user who is no admin has no lab', async () => {
  await server.user('bo');
  const page = await browser.page(server, { as: 'bo' });
  await page.goto('/lab');
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Selection lab' }).count(), 0);
});

test('the lab is accessible: every tab, both languages, both themes, three widths', async () => {
  const id = await catalogue('axe');
  const { run_id } = await evaluated(id);
  const tabs = [
    ['single&q=weather&expect=company_search', '[data-match]'],
    [`suite&run=${run_id}&case=q3`, `[data-run="${run_id}"]`],
    ['changes&edit=weather_now', '#lab-sweep'],
    [`production&run=${run_id}`, '[role=tabpanel]:visible [data-drop]'],
  ];
  const screens = tabs.map(([tab, ready]) => [`/lab?tab=${tab}&catalogue=${id}`, (page) => page.locator(ready)]);
  await accessible(browser, server, screens);
  await accessible(browser, server, screens, { language: 'sv', in: [['light', [1280]]] });
});

test('the models of the lab are asked in each part, and learned weights are used', async () => {
  const id = await catalogue('chosen');
  const { run_id } = await evaluated(id);
  const url = await vectors();
  const page = await browser.page(server);
  const sent = [];
  page.on(
    'request',
    (r) => r.method() === 'POST' && r.url().includes(eval_) && sent.push({ path: r.url(), body: r.postData() ?? '' }),
  );
  const answered = (name) =>
    page.waitForResponse((r) => r.request().method() === 'POST' && r.url().includes(`${eval_}/${name}`));
  await page.goto(`/lab?catalogue=${id}&run=${run_id}`);
  await page.getByRole('textbox', { name: 'Embedding model' }).fill(`tei:${url}`);
  await page.getByRole('textbox', { name: 'Query' }).fill('Rain in Oslo?');
  const [single] = await Promise.all([
    answered('single'),
    page.getByRole('button', { name: 'Test', exact: true }).click(),
  ]);
  assert.equal(single.status(), 200);
  await page.getByRole('tab', { name: 'Changes' }).click();
  await page.locator('#lab-sweep').getByRole('button', { name: 'Sweep' }).click();
  await page.locator('#lab-sweep').getByRole('rowheader', { name: 'base', exact: true }).waitFor();
  assert.equal(JSON.parse(sent.find((r) => r.path.endsWith('/single')).body).embed, `tei:${url}`);
  assert.equal(JSON.parse(sent.find((r) => r.path.endsWith('/sweep')).body).base.embed, `tei:${url}`);
  const tune = page.locator('#lab-tune');
  await tune.getByRole('button', { name: 'Look for weights' }).click();
  await tune
    .getByRole('alert')
    .getByText(/sets of right tools/)
    .waitFor(); // three questions are too few
  await page.route(`**${eval_}/tune`, (route) =>
    route.fulfill({
      json: {
        catalogue_id: id,
        catalogue_version: 1,
        weights: { name: 3 },
        weights_text: '{"retrieval":{"name":3}}',
        tuned: { beyond_chance: false, p: 0.4, change: { point: 0.1, lower: -0.1, upper: 0.3, n: 9 } },
        notes: [],
      },
    }),
  );
  await tune.getByRole('button', { name: 'Look for weights' }).click();
  await tune.getByText('No gain beyond chance').waitFor();
  await tune.getByRole('button', { name: 'Search with these weights' }).click();
  await page.getByRole('tab', { name: 'Single query' }).click();
  await Promise.all([answered('single'), page.getByRole('button', { name: 'Test', exact: true }).click()]);
  assert.equal(JSON.parse(sent.findLast((r) => r.path.endsWith('/single')).body).weights, '{"retrieval":{"name":3}}');
  await page.getByRole('button', { name: 'Use the usual weights' }).click();
  clean(page);
});
