// Searches for parameters: from an experiment to a confirmed winner in its timeline.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server } from './harness.mjs';
import { allowFiles } from './weather.mjs';

// A model with a known response: nearly always right at low temperatures, and rarely above.
const model = `
model: cold-1
rules: [{calls: [{tool: book, args: {}}]}]
surface:
  base: 0.95
  terms: [{param: temperature, from: 0.6, gain: -0.7, unset: 1}]
  else: {calls: [{tool: cancel, args: {}}]}
`;
const tool = (name) => ({ name, description: `Does ${name}`, parameters: { type: 'object', properties: {} } });
const nouns = ['train', 'flight', 'hotel', 'table', 'taxi', 'boat', 'tent', 'room', 'bus', 'bike', 'car', 'seat'];
const towns = ['Oslo', 'Lima', 'Rome', 'Bern', 'Cork'];
const cases = towns.flatMap((town) =>
  nouns.map((noun) => ({
    id: `${noun}-${town}`.toLowerCase(),
    prompt: `Please reserve the ${noun} in ${town}`,
    expect: { calls: [{ tool: 'book' }] },
  })),
);

let server, browser, suite, experiment;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
  await server.file('cold.yaml', model);
  await server.file(
    'plain.yaml',
    'rules: [{calls: [{tool: book, args: {}}]}]\nsurface: {base: 0.2, terms: [{prompt: guess, gain: 0.7}]}\n',
  );
  const answers = ['Use a tool whenever one fits, and never guess a value.', 'Be brief. Do not guess.'];
  await server.file(
    'writer.yaml',
    JSON.stringify({ rules: answers.map((prompt, i) => ({ repeat: i, text: JSON.stringify({ prompt }) })) }),
  );
  suite = await server.suite({ callvet: 1, name: 'bookings', tools: [tool('book'), tool('cancel')], cases });
  experiment = (await server.api('POST', '/api/experiments', { name: 'Colder?', suite_id: suite })).id;
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** searched waits until a search is over, and returns it. */
async function searched(id) {
  for (;;) {
    const s = await server.api('GET', `/api/tool-eval/param-tune/history/${id}`);
    if (s.status !== 'running') return s;
    await new Promise((r) => setTimeout(r, 50));
  }
}

/** tipAt returns the tooltip of a chart at a mark: a text, or a line at px from its start (or, if negative, end). */
async function tipAt(page, chart, mark, px = -8) {
  await mark.scrollIntoViewIfNeeded();
  const at = await mark.evaluate((el, px) => {
    const box = el.getBoundingClientRect();
    if (!el.getPointAtLength) return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const p = el.getPointAtLength(px < 0 ? el.getTotalLength() + px : px).matrixTransform(el.getScreenCTM());
    return { x: p.x, y: p.y };
  }, px);
  await page.mouse.move(at.x, at.y);
  const tip = chart.getByText(/interval from/);
  await tip.waitFor();
  return tip.innerText();
}

test('from an experiment to a confirmed winner in its timeline', async () => {
  const page = await browser.page(server);
  await page.goto(`/experiments/${experiment}`);
  await page.getByRole('tab', { name: 'Tune' }).click();
  await page.getByText('No searches yet').waitFor();
  await page.getByRole('link', { name: 'New search' }).click();
  await page.getByRole('heading', { level: 1, name: 'New search' }).waitFor();
  await page.getByText('Choose a suite, a model and what is searched.').waitFor();

  const models = page.getByLabel('Models', { exact: false }).first();
  await models.fill('script:./cold.yaml');
  await models.press('Enter');
  const row = page.getByRole('group', { name: 'temperature' });
  await row.getByRole('combobox', { name: 'Values of temperature' }).fill('0.25');
  await row.getByRole('combobox', { name: 'Values of temperature' }).press('Enter');
  await page.getByText(/4 different requests of 4 combinations/).waitFor();
  await page.getByText('Requests at most').waitFor();

  await page.getByRole('button', { name: 'Start the search' }).click();
  await page.waitForURL(/\/tune\/tune-/);
  const id = new URL(page.url()).pathname.split('/')[2];
  const s = await searched(id);
  assert.equal(s.status, 'done', JSON.stringify(s.problem));
  await page.locator('[data-state="done"]').waitFor();
  const found = s.models[0];
  assert.equal(found.outcome, 'promoted', found.sentence);
  await page.locator('[data-outcome="promoted"]').getByText(found.sentence).waitFor();

  // The chart and the table show each candidate; the best is at a low temperature.
  const chart = page.getByRole('img', { name: /Scores of \d candidates by temperature/ });
  await chart.getByText('★').waitFor();
  assert.equal(await chart.locator('path[stroke-width="1.75"]').count(), 3 * found.candidates.length, 'whiskers');
  const percent = (v) => `${Math.round(v * 1000) / 10} %`;
  const base = found.candidates.find((c) => c.n === 0).score;
  await chart.getByText(`Base ${percent(base.point)}`).waitFor();
  const { config: chosen, score } = found.candidates.find((c) => c.n === found.best);
  assert.equal(
    await tipAt(page, chart, chart.getByText('★')),
    `temperature ${chosen.params.temperature}: ${percent(score.point)}\n` +
      `95 % interval from ${percent(score.lower)} to ${percent(score.upper)}, n = ${score.n}\nBest`,
  );
  const rows = page.getByRole('region', { name: 'Candidates' }).locator('tbody tr');
  assert.equal(await rows.count(), found.candidates.length);
  assert.match(await rows.first().innerText(), /Best/);
  const best = found.candidates.find((c) => c.n === found.best);
  assert.ok(best.config.params.temperature < 0.6);
  await page.getByText(/Combinations: 4 kept/).click();
  await page.getByRole('region', { name: 'Combinations and their states' }).waitFor();

  // A new run has the configuration of the winner.
  await page.getByRole('button', { name: 'New run with it' }).click();
  await page.getByRole('heading', { level: 1, name: 'New run' }).waitFor();
  await page.getByText('script:./cold.yaml').first().waitFor();
  assert.equal(await page.getByLabel('Temperature').inputValue(), String(best.config.params.temperature));
  await page.goBack();

  await page.getByRole('link', { name: 'Experiment', exact: true }).click();
  await page.locator(`tr[data-search="${id}"]`).waitFor();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.locator(`tr[data-search="${id}"]`).getByText(found.sentence, { exact: false }).waitFor();

  // The winner is run alone on the whole suite, and is the best configuration then.
  const { promoted_eval_id: promoted } = await searched(id);
  const { items } = await server.api('GET', '/api/jobs');
  await server.job(items.find((j) => j.result_ref === promoted).job_id);
  await page.locator(`tr[data-run="${promoted}"]`).waitFor();
  await page.getByRole('button', { name: 'Run the best again' }).click();
  await page.waitForURL(/\/jobs\/job_/);
  const again = await server.job(new URL(page.url()).pathname.split('/')[2]);
  assert.equal(again.status, 'done');
  clean(page);
});

test('a search that reached its limits continues with larger limits', async () => {
  const page = await browser.page(server);
  const sent = await server.api('POST', '/api/tool-eval/param-tune', {
    suite_id: suite,
    models: ['script:./cold.yaml'],
    search_space: { temperature: [0, 0.5] },
    max_calls: 65,
    temperature: 1,
    no_cache: true,
  });
  const ended = await searched(sent.result_ref);
  assert.equal(ended.models[0].outcome, 'not_confirmed', ended.models[0].sentence);
  assert.equal(ended.spent.requests, 0);
  await page.goto(`/tune/${sent.result_ref}`);
  await page.getByLabel('Most requests').fill('600');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('[data-outcome="promoted"]').waitFor();
  await page.getByText(/\d+ requests sent, \d+ left/).waitFor();
  assert.equal((await searched(sent.result_ref)).request.run.max_calls, 600);
  assert.equal(await page.getByRole('button', { name: 'Go on' }).count(), 0);
  await clean(page);
});

test('a winner becomes a profile of its model, which a new run uses', async () => {
  const page = await browser.page(server);
  const { result_ref } = await server.api('POST', '/api/tool-eval/param-tune', {
    suite_id: suite,
    models: ['script:./cold.yaml'],
    search_space: { temperature: [0.25] },
    temperature: 1,
  });
  await searched(result_ref);
  await page.goto(`/tune/${result_ref}`);
  await page.getByRole('button', { name: 'Keep as a profile of the model' }).click();
  const dialog = page.getByRole('dialog', { name: 'Keep as a profile of the model' });
  assert.equal(await dialog.getByLabel('Name of the profile').inputValue(), 'temperature=0.25');
  await dialog.getByLabel('Name of the profile').fill('cold');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The profile is kept as cold').waitFor();

  // A model with profiles has a choice of them. The run has the settings of the chosen profile.
  await page.goto(`/new?suite=${suite}&experiment=${experiment}`);
  const models = page.getByRole('combobox', { name: 'Add a model' });
  for (const name of ['plain', 'cold']) {
    await models.fill(`script:./${name}.yaml`);
    await models.press('Enter');
  }
  const choice = page.getByRole('combobox', { name: /^Profile of/ });
  await choice.click();
  await page.getByRole('option', { name: 'cold' }).click();
  await page.getByText('temperature 0.25').waitFor();
  assert.equal(await choice.count(), 1);
  await page.getByRole('button', { name: 'Remove script:./plain.yaml' }).click();
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.waitForURL(/\/jobs\/job_/);
  const job = await server.job(new URL(page.url()).pathname.split('/')[2]);
  const { entries } = await server.api('GET', `/api/experiments/${experiment}/timeline`);
  const [target] = entries.find((e) => e.id === job.result_ref).targets;
  assert.equal(target.config.params.temperature, 0.25);
  assert.equal(target.config.profile, 'cold');

  await page.goto('/tune');
  const row = page.getByRole('row', { name: /script:.*cold\.yaml cold temperature 0\.25/ });
  assert.equal(await row.getByRole('link').getAttribute('href'), `/tune/${result_ref}`);
  await row.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  assert.deepEqual((await server.api('GET', '/api/profiles')).items, []);
  clean(page);
});

test('a map for two parameters and lines for three, which read no name as HTML', async () => {
  const page = await browser.page(server);
  const loaded = [];
  page.on('request', (r) => loaded.push(new URL(r.url()).pathname));
  const isLoaded = () => loaded.some((p) => /^\/assets\/charts-/.test(p));
  const hostile = '<img src=x onerror=alert(1)>';
  await page.goto('/tune');
  await page.getByRole('table').first().waitFor();
  assert.equal(isLoaded(), false, 'the list loads no charts');
  for (const [space, label, marks] of [
    [{ temperature: [0, 0.5, 1], top_p: [0.5, 1] }, /candidates by temperature and top_p/, 'text:text-matches("%")'],
    [
      { temperature: [0, 1], [hostile]: ['<b>1</b>', 2], tool_choice: ['auto', 'required'] },
      /candidates by .*temperature/,
      'path[fill="none"]:is([stroke-width="1.75"], [stroke-width="4"])',
    ],
  ]) {
    const { result_ref } = await server.api('POST', '/api/tool-eval/param-tune', {
      suite_id: suite,
      models: ['script:./cold.yaml'],
      search_space: space,
    });
    const s = await searched(result_ref);
    const { candidates, best } = s.models[0];
    await page.goto(`/tune/${result_ref}`);
    const chart = page.getByRole('img', { name: label });
    const drawn = chart.locator(marks);
    await drawn.first().waitFor();
    assert.ok(isLoaded());
    assert.equal(await drawn.count(), candidates.filter((c) => c.score).length);
    const of = marks.startsWith('path') ? chart.locator('path[stroke-width="4"]') : chart.getByText('★');
    const lines = (await tipAt(page, chart, of)).split('\n');
    assert.equal(lines.at(-1), 'Best');
    const { values } = candidates.find((c) => c.n === best);
    assert.ok(lines[0].startsWith(s.models[0].names.map((n, i) => `${n} ${values[i] ?? '∅'}`).join(', ')), lines[0]);
    assert.equal(await page.locator('img[src="x"], [role="img"] b').count(), 0);
  }
  // In a narrow window the chart scrolls, and tooltips are not cut off.
  await page.setViewportSize({ width: 400, height: 800 });
  const chart = page.getByRole('img', { name: /Scores of/ });
  await chart.evaluate((el) => el.parentElement.scrollTo(0, 0));
  await tipAt(page, chart, chart.locator('path[stroke-width="4"]'), 90);
  const [tip, box] = await Promise.all(
    [chart.getByText(/interval from/), chart.locator('..')].map((x) => x.boundingBox()),
  );
  assert.ok(tip.x >= box.x && tip.x + tip.width <= box.x + box.width, JSON.stringify({ tip, box }));

  // The chart has the colours of the theme.
  const mark = () => page.locator('path[stroke-width="4"]').getAttribute('stroke');
  const light = await mark();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator(`path[stroke-width="4"]:not([stroke="${light}"])`).waitFor();
  clean(page);
});

test('the form of a run takes its suite and models to a search', async () => {
  const page = await browser.page(server);
  await page.goto(`/new?suite=${suite}`);
  const name = 'Add a model';
  await page.getByRole('combobox', { name }).or(page.getByRole('textbox', { name })).fill('script:./cold.yaml');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove script:./cold.yaml' }).waitFor();
  await page.getByRole('link', { name: 'Search for better parameters or a prompt' }).click();
  await page.getByRole('heading', { level: 1, name: 'New search' }).waitFor();
  await page.getByText(/\d different requests of 3 combinations/).waitFor(); // the search has both
  clean(page);
});

test('the family tree of prompts, and the library stores a prompt', async () => {
  const { result_ref } = await server.api('POST', '/api/tool-eval/prompt-tune', {
    suite_id: suite,
    models: ['script:./plain.yaml'],
    meta_model: 'script:./writer.yaml',
  });
  const s = await searched(result_ref);
  const found = s.models[0];
  assert.equal(s.status, 'done', s.problem);
  const page = await browser.page(server);
  await page.goto(`/tune/${result_ref}`);
  const tree = page.locator('[data-tree]');
  await tree.waitFor();
  assert.equal(await tree.locator('[data-candidate]').count(), found.candidates.length);
  const best = tree.locator(`[data-candidate="${found.best}"]`);
  await best.getByText('Show what changed, and the prompt').click();
  await best.locator('ins').first().waitFor();
  await page.getByRole('button', { name: 'Keep the prompt' }).click();
  await page.getByText(/The prompt is kept as bookings@/).waitFor();
  const kept = await server.api('GET', '/api/prompts');
  assert.ok(kept.items.some((p) => p.name === 'bookings'));

  // A confirmed prompt becomes the system prompt of the suite, in a new version.
  assert.equal(found.outcome, 'promoted', found.sentence);
  const { version } = await server.api('GET', `/api/tool-suites/${suite}`);
  await page.getByRole('button', { name: 'Give the prompt to the suite' }).click();
  const asked = page.getByRole('dialog', { name: 'Give the prompt to bookings?' });
  await asked.getByRole('button', { name: 'Make a new version' }).click();
  await page.getByRole('link', { name: `bookings, version ${version + 1}, has the prompt` }).click();
  await page.waitForURL(new RegExp(`/suites/${suite}`));
  const now = await server.api('GET', `/api/tool-suites/${suite}`);
  assert.equal(now.version, version + 1);
  assert.equal(now.system_prompt, found.candidates.find((c) => c.n === found.best).prompt);
  clean(page);
});

test('a search for prompts with a population, generations and the share of survivors', async () => {
  const page = await browser.page(server);
  await page.goto(`/tune/new?kind=prompt&suite=${suite}`);
  const how = page.getByRole('combobox', { name: 'How' });
  await how.waitFor();
  assert.equal(await page.getByLabel('Generations').count(), 0);
  await how.click();
  await page.getByRole('option', { name: 'evolve' }).click();
  for (const [label, value] of [
    ['Models', 'script:./plain.yaml'],
    ['Model that writes prompts', 'script:./writer.yaml'],
  ]) {
    const field = page
      .getByRole('combobox', { name: label, exact: true })
      .or(page.getByRole('textbox', { name: label, exact: true }));
    await field.fill(value);
    await field.press('Enter');
  }
  await page.getByLabel('Prompts in a generation').fill('4');
  await page.getByLabel('Generations').fill('2');
  await page.getByLabel('Share that stays').fill('50');
  const sent = page.waitForRequest((r) => r.method() === 'POST' && r.url().endsWith('/prompt-tune'));
  await page.getByRole('button', { name: 'Start the search' }).click();
  const { config, optimization_mode: mode } = (await sent).postDataJSON();
  assert.deepEqual([mode, config], ['evolve', { population: 4, generations: 2, selection_ratio: 0.5 }]);
  await page.waitForURL(/\/tune\/tune-/);
  await searched(new URL(page.url()).pathname.split('/')[2]);
  clean(page);
});

test('presets of search spaces are loaded, saved and deleted', async () => {
  const page = await browser.page(server);
  await page.goto(`/tune/new?suite=${suite}`);
  const presets = page.getByRole('button', { name: 'Presets' });
  const rows = async () => page.getByRole('group').evaluateAll((all) => all.map((x) => x.ariaLabel).filter(Boolean));
  await presets.click();
  await page.getByRole('menuitem', { name: /^calling/ }).click();
  await page.getByRole('group', { name: 'parallel_calls' }).getByText('null').waitFor();
  assert.deepEqual(await rows(), ['tool_choice', 'parallel_calls']);

  // A parameter unknown to callvet, and a space of one model, are stored too.
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  const added = page.getByRole('group').last();
  await added.getByRole('combobox', { name: 'Parameter' }).fill('top_k');
  const values = page.getByRole('combobox', { name: 'Values of top_k' });
  for (const v of ['20', '40']) {
    await values.fill(v);
    await values.press('Enter');
  }
  const models = page.getByRole('combobox', { name: 'Models', exact: true });
  for (const name of ['cold', 'plain']) {
    await models.fill(`script:./${name}.yaml`);
    await models.press('Enter');
  }
  await page.getByRole('combobox', { name: 'Space of' }).click();
  await page.getByRole('option', { name: 'script:./plain.yaml' }).last().click();
  await page.getByRole('button', { name: 'Use a separate space for this model' }).click();
  await page.getByRole('button', { name: 'Remove tool_choice' }).click();
  await page.getByRole('button', { name: 'Remove top_k' }).click();
  await page.getByText(/\d different requests of 3 combinations/).waitFor();
  await page.getByText(/\d different requests of 12 combinations/).waitFor();

  const save = async (name) => {
    await presets.click();
    await page.getByRole('menuitem', { name: 'Save this space' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this space' });
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Save' }).click();
    return dialog;
  };
  const refused = await save('calling');
  await refused
    .getByText(/a shipped preset has this name/)
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await refused.waitFor({ state: 'detached' });
  await (await save('mine')).waitFor({ state: 'detached' });
  const own = async () =>
    (await server.api('GET', '/api/tool-eval/param-tune/presets')).items.filter((p) => p.own).map((p) => p.space);
  assert.deepEqual(await own(), [
    {
      params: { tool_choice: ['auto', 'required'], parallel_calls: [null, true, false] },
      extra: { top_k: [20, 40] },
      models: { 'script:./plain.yaml': { params: { parallel_calls: [null, true, false] } } },
    },
  ]);

  await page.goto(`/tune/new?suite=${suite}`);
  await presets.click();
  await page.getByRole('menuitem', { name: 'mine', exact: true }).click();
  await page.getByRole('group', { name: 'top_k' }).waitFor();
  assert.deepEqual(await rows(), ['tool_choice', 'parallel_calls', 'top_k']);
  await presets.click();
  await page.getByRole('menuitem', { name: 'Remove mine' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await presets.click();
  await page.getByRole('menuitem', { name: /^calling/ }).waitFor();
  await page.getByRole('menuitem', { name: 'mine', exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(await own(), []);
});

test('mistakes in a search space are shown before the start', async () => {
  const page = await browser.page(server);
  await page.goto(`/tune/new?suite=${suite}`);
  const models = page.getByLabel('Models', { exact: false }).first();
  await models.fill('script:./cold.yaml');
  await models.press('Enter');
  const values = page.getByRole('combobox', { name: 'Values of temperature' });
  await values.fill('warm');
  await values.press('Enter');
  await page.getByText(/temperature cannot be "warm"/).waitFor();
});

test('the screens of searches are accessible', async () => {
  await server.api('POST', '/api/profiles', { name: 'calm', model: 'script:./cold.yaml', system_prompt: 'Be calm.' });
  const { items } = await server.api('GET', '/api/tool-eval/param-tune/history');
  await accessible(browser, server, [
    ['/tune', 'New search'],
    [`/tune/new?suite=${suite}`, 'Search space'],
    ...items.map((s) => [`/tune/${s.id}`, 'Candidate']),
    [`/experiments/${experiment}?tab=tune`, 'New search'],
  ]);
});
