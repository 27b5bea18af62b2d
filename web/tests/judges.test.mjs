import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, Browser, clean, Server, until } from './harness.mjs';
import { allowFiles, sloppy, weather } from './weather.mjs';

// A model as judge: attempts that mention Tokyo fail, the others pass.
const judge = `rules:
  - contains: Tokyo
    text: '{"pass": false, "fail_reasons": ["bad_args"], "unnecessary_calls": [], "notes": "<script>document.title = 1</script>"}'
  - contains: final answer
    text: '{"pass": true, "fail_reasons": [], "unnecessary_calls": [], "notes": "It does what was asked."}'
`;

let server, browser, run;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: allowFiles }), Browser.start()]);
  const suite = await weather(server);
  await server.file('judge.yaml', judge);
  run = await server.ran({ suite_id: suite, models: [sloppy] });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const labels = async () => {
  const r = await fetch(`${server.url}/api/runs/${run}/labels`, { headers: { Cookie: server.cookies.ana } });
  return (await r.text())
    .split('\n')
    .filter(Boolean)
    .map((l) => JSON.parse(l));
};

test('a judge judges a run, and its verdicts are shown as text', async () => {
  const page = await browser.page(server);
  await page.goto(`/judges?run=${run}`);
  await page.getByText('No judge was asked about this run').waitFor();
  await page.getByRole('button', { name: 'Ask judges' }).first().click();
  const form = page.getByRole('dialog', { name: 'Ask judges' });
  await form.getByLabel('Models that judge').first().fill('script:judge.yaml');
  await page.keyboard.press('Enter');
  await form.getByRole('button', { name: 'Ask judges' }).click();
  await page.waitForURL(/\/jobs\/job_/);
  const job = await server.job(new URL(page.url()).pathname.split('/')[2]);
  assert.equal(job.status, 'done');
  await page.goto(`/judges?run=${run}`);
  const row = page.locator('tr[data-judging]');
  await row.waitFor();
  const judging = (await server.api('GET', `/api/runs/${run}/verdicts`)).judgings[0];
  assert.match(await row.innerText(), new RegExp(`task[\\s\\S]*${judging.judge_id}[\\s\\S]*14 of 14`));
  assert.ok(judging.fail > 0);
  await page.getByRole('radiogroup', { name: 'Filter' }).getByText('Fail', { exact: true }).click();
  await page.getByText('<script>document.title = 1</script>').waitFor();
  const shown = page.getByRole('region', { name: 'Verdicts' }).locator('tbody tr[data-index]');
  await shown.nth(judging.fail).waitFor({ state: 'detached' });
  assert.equal(await shown.count(), judging.fail);
  assert.match(await page.title(), /Judges/);
  clean(page);
});

test('ten tasks are labelled by keyboard alone, and the judge is calibrated', async () => {
  const page = await browser.page(server);
  await page.goto(`/label?run=${run}`);
  const task = page.getByRole('article');
  await task.waitFor();
  const text = await page.locator('main').innerText();
  for (const hidden of ['weather-sloppy', 'It does what was asked.', 'document.title'])
    assert.equal(text.includes(hidden), false, `${hidden} is shown`);

  const conversation = task.getByRole('list', { name: 'Conversation' });
  await conversation.locator('[data-role=user]').first().waitFor();
  assert.ok((await conversation.locator('[data-tool-call]').count()) > 0); // as on the page of the case, with its calls
  const drawn = (await server.api('GET', `/api/runs/${run}/labels/next?n=500`)).items;
  assert.ok(drawn.length > 0 && drawn.every((x) => x.turns.length > 0));
  for (const secret of ['"score', '"verdict', '"reasoning"', '"guard"', 'weather-sloppy', 'expected'])
    assert.equal(JSON.stringify(drawn.map((x) => x.turns)).includes(secret), false, `${secret} is sent`);

  await page.keyboard.press('n'); // a note first
  await page.keyboard.type('pjkz are letters here');
  await page.keyboard.press('Enter');
  for (let i = 0; i < 10; i++) await page.keyboard.press(i % 3 === 2 ? 'f' : 'p');
  await page.getByRole('heading', { name: 'Task 11 of 14' }).waitFor();
  await page.keyboard.press('z'); // undo the tenth
  await page.getByRole('heading', { name: 'Task 10 of 14' }).waitFor();
  await until('nine labels', async () => (await labels()).length === 9);
  await page.keyboard.press('f');
  await page.keyboard.press('k');
  await page.getByRole('article').getByText('Fail', { exact: true }).waitFor(); // the label is shown again
  await page.keyboard.press('p'); // and changed: the last label counts
  await page.keyboard.press('u'); // skip one
  await page.getByRole('heading', { name: 'Task 12 of 14' }).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await until('ten labels', async () => (await labels()).length === 10);
  await page.keyboard.press('s'); // unsure after all, as skip of the command line: the label is removed
  await until('nine labels', async () => (await labels()).length === 9);
  await page.keyboard.press('z'); // undo the skip, too
  await until('ten labels again', async () => (await labels()).length === 10);
  await page.getByRole('heading', { name: 'Task 10 of 14' }).waitFor();
  const kept = await until('ten labels', async () => {
    const list = await labels();
    return list.length === 10 && list.filter((l) => !l.pass).length === 3 && list;
  });
  assert.ok(kept.every((l) => l.by === 'ana' && l.role === 'calibration'));
  assert.equal(kept[0].note, 'pjkz are letters here');

  const report = (await server.api('POST', `/api/runs/${run}/calibrate`, { judge: 'task', width: 0.1 })).report;
  await page.goto(`/judges?run=${run}&tab=calibration`);
  const row = page.locator(`tr[data-judge="${report.judge_id}"]`);
  await row.waitFor();
  const shown = await row.innerText();
  for (const i of [report.sensitivity, report.specificity]) assert.ok(shown.includes(`n = ${i.n}`), shown);
  assert.ok(shown.includes(report.why));
  const success = await page.locator('tr[data-success]').innerText();
  const percent = (v) => `${Number((v * 100).toFixed(1))} %`;
  assert.ok(
    success.includes(percent(report.success[0].raw.point)) && success.includes(report.success[0].refused),
    success,
  );
  assert.match(report.success[0].refused, /4 of 14 drawn outputs have no usable label/);
  clean(page);
});

test('labels that were not sent survive a killed server and a closed page', async () => {
  const page = await browser.page(server);
  await page.goto(`/label?run=${run}`);
  await page.getByRole('heading', { name: 'Task 1 of 4' }).waitFor();
  const before = (await labels()).length;
  await server.down('SIGKILL');
  await page.keyboard.press('p');
  await page.keyboard.press('f');
  await page.getByText(/2 not saved yet: no connection/).waitFor();
  assert.equal(await page.locator('[data-waiting="2"]').count(), 1);
  await server.up();
  await until('two labels', async () => (await labels()).length === before + 2);
  await page.locator('[data-waiting="0"]').waitFor();

  // Again, and the page is closed before the server is back.
  await server.down('SIGKILL');
  await page.keyboard.press('p');
  await page.getByText(/1 not saved yet/).waitFor();
  const context = page.context();
  await page.close();
  await server.up();
  const again = await context.newPage();
  await again.goto(`/label?run=${run}`);
  await until('the third label', async () => (await labels()).length === before + 3);
});

test('a sample with a label for each attempt gives the true success rate', async () => {
  const page = await browser.page(server);
  await page.goto(`/label?run=${run}`);
  await page.getByRole('heading', { name: 'Task 1 of 1' }).waitFor();
  await page.keyboard.press('p');
  await until('fourteen labels', async () => (await labels()).length === 14);
  const success = (await server.api('POST', `/api/runs/${run}/calibrate`, { judge: 'task', width: 0.1 })).report
    .success[0];
  assert.equal(success.refused, undefined);
  await page.goto(`/judges?run=${run}&tab=calibration`);
  await page
    .locator('tr[data-success]')
    .getByText(`${Number((success.true.point * 100).toFixed(1))} %`)
    .first()
    .waitFor();
  clean(page);
});

test('two people label the same attempts blind, and the page shows their agreement', async () => {
  await server.user('bo');
  await server.api('PATCH', `/api/runs/${run}`, { shared: true });
  const page = await browser.page(server, { as: 'bo' });
  await page.goto(`/label?run=${run}&double=1`);
  await page.getByRole('article').waitFor();
  for (let i = 0; i < 10; i++) await page.keyboard.press(i % 2 ? 'f' : 'p');
  await until('labels of bo', async () => (await labels()).filter((l) => l.by === 'bo').length === 10);
  await page.goto(`/judges?run=${run}&tab=calibration`);
  const people = (await server.api('POST', `/api/runs/${run}/calibrate`, { judge: 'task' })).report.humans;
  assert.ok(people.pairs[0].n > 0);
  const table = page.getByRole('region', { name: 'Agreement between people' });
  await table.waitFor();
  assert.match(
    await table.innerText(),
    new RegExp(`${people.pairs[0].same} of ${people.pairs[0].n}[\\s\\S]*n = ${people.pairs[0].kappa.n}`),
  );
  clean(page);
});

test('the screens of judges and labels are accessible', async () => {
  const at = `/judges?run=${run}`;
  await accessible(browser, server, [
    [at, 'Verdicts of'],
    [`${at}&tab=calibration`, 'Sensitivity'],
    [`${at}&tab=labels`, 'Import labels'],
    ['/judges', 'necessity'],
    [`/label?run=${run}`, 'Draw'],
  ]);
});
