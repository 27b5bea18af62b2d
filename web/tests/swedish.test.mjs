// The selection lab in Swedish: every tab with a result, a note and an error has no English sentence.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Browser, clean, Server, write } from './harness.mjs';
import { englishOn, textsOn, unlike } from './english.mjs';
import { examplesOn, screens } from './screens.mjs';

// Tools and questions are Swedish, so that each English text is from the page or the server.
const tools = [
  {
    name: 'trafik_olyckor',
    description: 'Aktuella olyckor och förseningar på svenska vägar.',
    keywords: ['trafik', 'olyckor', 'E4'],
    ägare: 'vägar',
  },
  {
    name: 'väder_nu',
    description: 'Aktuellt väder i en stad.',
    keywords: ['väder', 'regn'],
    parameters: { type: 'object', properties: { stad: {} }, required: ['stad', 'land'] },
  },
  { name: 'bolag', description: 'Bolag.', keywords: ['bolag'] },
  { name: 'bolag2', description: 'Bolag.', keywords: ['bolag'] },
];
const questions = {
  name: 'Fyra frågor',
  config: { tool_retrieval: { limit: 1 } },
  categories: [
    {
      category_id: 'väg',
      category_name: 'Väg',
      test_cases: [
        {
          id: 'f1',
          query: 'Olyckor på E4 i trafiken?',
          expected_tools: ['trafik_olyckor'],
          expected_route: 'action',
          tags: ['väg'],
          difficulty: 'easy',
          language: 'sv',
        },
        {
          id: 'f2',
          query: 'Blir det regn i Oslo, hur är vädret?',
          expected_tools: ['väder_nu'],
          expected_route: 'action',
          tags: ['himmel'],
          difficulty: 'hard',
          language: 'sv',
        },
        {
          id: 'f3',
          query: 'Vilket bolag har mest regn och väder?',
          expected_tools: ['trafik_olyckor'],
          expected_route: 'statistics',
          tags: ['himmel'],
          difficulty: 'hard',
          language: 'sv',
        },
        {
          id: 'f4',
          query: 'Olyckor och förseningar?',
          expected_tools: ['trafik_olyckor', 'bolag'],
          expected_route: 'action',
          tags: ['väg'],
          difficulty: 'medium',
          language: 'sv',
        },
      ],
    },
  ],
};
const eval_ = '/api/v1/admin/tool-eval';
const file = (name, value) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: ['--allow-private', '127.0.0.1'] }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const raw = { raw: true, headers: { 'Content-Type': 'application/octet-stream' } };
const catalogue = async (name) =>
  (await server.api('POST', `/api/catalogues?name=${name}`, JSON.stringify(tools), raw)).id;
const evaluated = async (id) =>
  await server.api('POST', `${eval_}/run?catalogue_id=${id}&no_lint=true`, JSON.stringify(questions), raw);

/** lab opens an address of the lab in Swedish, and returns the page with an assertion that no text is English. */
async function lab(address) {
  const page = await browser.page(server);
  await page.addInitScript(() => localStorage.setItem('callvet.language', 'sv'));
  await page.goto(address);
  await page.getByRole('tab', { name: 'Enskild fråga' }).waitFor();
  const swedish = async (what) => {
    await page.locator('[aria-busy="true"]:visible').first().waitFor({ state: 'detached' });
    assert.deepEqual(await englishOn(page), [], what);
  };
  const shown = page.locator('[role=tabpanel]:visible');
  return { page, shown, swedish };
}

/** refused clicks a button, and waits for the error. */
async function refused(page, within, button, text) {
  await within.getByRole('button', { name: button, exact: true }).click();
  await within.getByRole('alert').getByText(text).first().waitFor();
}

test('every text has the same places in both languages', () => {
  assert.deepEqual(unlike(), []);
});

test('the catalogue: remarks of the linter, and a file that is no catalogue', async () => {
  await catalogue('granskad');
  const { page, swedish } = await lab('/lab');
  const upload = page.locator('input[type=file]').first();
  await upload.setInputFiles(file('katalog.json', tools));
  await page.getByText(/\d+ anmärkningar/).click();
  await page
    .getByText(/inget läser "ägare"/)
    .first()
    .waitFor();
  await swedish('remarks');
  await upload.setInputFiles(file('trasig.json', '{"tools": [{"description": "Inget namn."}]}'));
  await page
    .getByText(/namnet saknas/)
    .first()
    .waitFor();
  await swedish('a broken catalogue');
  clean(page);
});

test('a single question: a result with reasons, and an unknown expected tool', async () => {
  const id = await catalogue('fråga');
  const { page, shown, swedish } = await lab(`/lab?catalogue=${id}`);
  await swedish('empty');
  await page.goto(`/lab?catalogue=${id}&q=v%C3%A4der%20och%20regn&expect=trafik_olyckor,bolag&limit=1`);
  await shown.locator('[data-match]').waitFor();
  await swedish('a result');
  await page.goto(`/lab?catalogue=${id}&q=regn&expect=finns_ej`);
  await page
    .getByRole('alert')
    .getByText(/så som det heter i katalogen/)
    .first()
    .waitFor();
  await swedish('an unknown tool');
  clean(page);
});

test('a suite: a result with notes, a refused suite, and an unknown run', async () => {
  const id = await catalogue('svit');
  const { page, shown, swedish } = await lab(`/lab?tab=suite&catalogue=${id}`);
  await shown
    .locator('input[type=file]')
    .setInputFiles(file('fel.json', JSON.stringify(questions).replace('"väder_nu"', '"väder_sen"')));
  await refused(page, shown, 'Kör Utvärdering', /väder_sen/);
  await swedish('a suite with an error');
  await shown.locator('input[type=file]').setInputFiles(file('trasig.json', '{"categories": ['));
  await refused(page, shown, 'Kör Utvärdering', /JSON/);
  await swedish('a broken suite');
  await shown.locator('input[type=file]').setInputFiles(file('frågor.json', questions));
  await shown.getByRole('button', { name: 'Kör Utvärdering' }).click();
  await shown
    .getByRole('button', { name: 'Kör ändå' })
    .or(shown.getByRole('heading', { name: 'Resultat för Fyra frågor' }))
    .first()
    .waitFor();
  if (await shown.getByRole('button', { name: 'Kör ändå' }).isVisible()) {
    await swedish('findings');
    await shown.getByRole('button', { name: 'Kör ändå' }).click();
  }
  await shown.getByRole('heading', { name: 'Resultat för Fyra frågor' }).waitFor();
  for (const d of await shown.locator('details > summary').all()) await d.click();
  await swedish('a result');
  await page.goto(`/lab?tab=suite&catalogue=${id}&run=20260101-000000-aaaaaa`);
  await page.getByRole('alert').getByText('Finns inte', { exact: true }).first().waitFor();
  await swedish('no such run');
  clean(page);
});

test('changes: what if, suggestions and a sweep, each with notes and an error', async () => {
  const id = await catalogue('ändringar');
  const { run_id } = await evaluated(id);
  const { page, swedish } = await lab(`/lab?tab=changes&catalogue=${id}&run=${run_id}`);
  const edits = page.locator('#lab-whatif');
  const tryEdits = async (text) => {
    await edits.getByText('Fil', { exact: true }).click();
    await write(edits, 'Ändringar som YAML eller JSON', text);
  };
  await tryEdits('edits: [{tool: finns_ej, description: En text.}]');
  await refused(page, edits, 'Tänk om', /inget verktyg/);
  await swedish('edits of no tool');
  await tryEdits('edits: [{tool: bolag}, {verktyg: bolag}]');
  await refused(page, edits, 'Tänk om', /./);
  await swedish('edits that cannot be read');
  await tryEdits(
    'edits: [{tool: bolag, description: "Olyckor och\\u200b förseningar på bolagens vägar i regn och väder."}]',
  );
  await edits.getByRole('button', { name: 'Tänk om', exact: true }).click();
  await edits.getByText(/har ett tecken som inte syns/).waitFor(); // a note
  await swedish('what if');

  const suggest = page.locator('#lab-suggest');
  await suggest.getByRole('button', { name: 'Föreslå' }).click();
  await suggest
    .getByText(/har samma beskrivning/)
    .first()
    .waitFor();
  await swedish('suggestions');
  await suggest.getByLabel('Modell').fill('openai/gpt-5-mini');
  await refused(page, suggest, 'Föreslå', /API-nyckel saknas: ange OPENAI_API_KEY/);
  await swedish('suggestions of a model without a key');

  const sweep = page.locator('#lab-sweep');
  const field = (name) => sweep.getByRole('combobox', { name }).or(sweep.getByRole('textbox', { name })).first();
  await sweep.getByRole('button', { name: 'Prova' }).click();
  await sweep.getByRole('columnheader', { name: 'Rätt första verktyg' }).waitFor();
  await swedish('a sweep');
  await field('Inbäddningsmodeller').fill('openai:text-embedding-3-small');
  await field('Inbäddningsmodeller').press('Enter');
  await refused(page, sweep, 'Prova', /API-nyckel saknas/);
  await swedish('a model without a key');
  await field('Inbäddningsmodeller').press('Backspace');
  await field('Andra inställningar').fill('namn=vektor:2');
  await field('Andra inställningar').press('Enter');
  await refused(page, sweep, 'Prova', /vektor/);
  await swedish('an unknown setting');
  clean(page);
});

test('production: a comparison, a bad file, and a deleted comparison', async () => {
  const id = await catalogue('produktion');
  const { run_id } = await evaluated(id);
  const { page, shown, swedish } = await lab(`/lab?tab=production&catalogue=${id}&run=${run_id}`);
  await swedish('empty');
  await shown.locator('input[type=file]').setInputFiles(file('trasig.json', '[{"query": "Olyckor?"}]'));
  await refused(page, shown, 'Jämför', /valen kan inte läsas/);
  await swedish('decisions without tools');
  const decisions = questions.categories[0].test_cases
    .slice(0, 3)
    .map((c, i) => ({ query: c.query, tools: [i ? 'bolag' : 'trafik_olyckor'] }));
  await shown.locator('input[type=file]').setInputFiles(file('val.json', decisions));
  await shown.getByRole('button', { name: 'Jämför', exact: true }).click();
  await shown.locator('[data-likeness]').first().waitFor();
  await swedish('a comparison');
  await page.goto(page.url().replace(/compared=\w+/, 'compared=borta'));
  await page
    .getByText(/jämför igen/)
    .first()
    .waitFor();
  await swedish('a comparison that is gone');
  clean(page);
});

test('a lost connection, a busy server and one without a store are named in Swedish', async () => {
  const id = await catalogue('fel');
  const { page, swedish } = await lab(`/lab?catalogue=${id}`);
  const problem = (status, detail, extra = {}) => ({
    status,
    contentType: 'application/problem+json',
    body: JSON.stringify({ status, title: http.STATUS_CODES[status], detail, ...extra }),
  });
  const answers = [
    ['Ingen förbindelse', null],
    ['Inte tillåtet', problem(403, 'denied: this needs the role admin, and bo is viewer')],
    ['Krockar med något som redan finns', problem(409, `change catalogue "${id}": conflict: it is at version 3`)],
    [
      'Ändrat under tiden',
      problem(412, `change catalogue ${id}: conflict: it was changed meanwhile: it is at version 3`),
    ],
    ['För stort', problem(413, 'request body is too large limit=1000 bytes')],
    [
      'Det gick inte',
      problem(422, 'validation failed', {
        errors: [
          { location: 'body.limit', message: 'expected number <= 100' },
          { location: 'body.query', message: 'expected length >= 1' },
        ],
      }),
    ],
    ['För mycket på en gång', problem(429, 'too many logins at once: wait 3 s: limited')],
    ['Det gick inte', problem(500, 'something went wrong here; the log of the server has the cause')],
    ['Inte tillgängligt just nu', problem(503, 'the store cannot be used now; the log of the server has the cause')],
  ];
  let now;
  await page.route(`**${eval_}/single`, (route) => (now ? route.fulfill(now) : route.abort()));
  for (const [title, answer] of answers) {
    now = answer;
    await page.goto(`/lab?catalogue=${id}&q=regn&limit=${answers.length}`);
    await page.getByRole('alert').getByText(title, { exact: true }).waitFor();
    await swedish(title);
  }
  clean(page);
});

test('no screen of the page has an English text', async () => {
  const filled = await Server.start();
  try {
    const made = await examplesOn(filled);
    const page = await browser.page(filled);
    await page.addInitScript(() => localStorage.setItem('callvet.language', 'sv'));
    const english = {};
    for (const [name, address] of screens(made)) {
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.locator('[aria-busy="true"]:visible').first().waitFor({ state: 'detached' });
      const texts = await textsOn(page);
      if (texts.length > 0) english[name] = texts;
    }
    assert.deepEqual(english, {});
    clean(page);
  } finally {
    await filled.stop();
  }
});
