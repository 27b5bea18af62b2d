// Every screen of the page with examples, for pictures and for tests of the layout.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const examples = path.join(root, 'examples');

/** examplesOn fills a server with examples for the screens. */
export async function examplesOn(s) {
  const text = (name) => readFile(path.join(examples, name), 'utf8');
  const suite = await s.suite(await text('weather.yaml'));
  const home = await s.suite(await text('smart-home.yaml'));
  const experiment = await s.api('POST', '/api/experiments', { name: 'Baselines', suite_id: suite });
  const models = ['offline/lexical'];
  const first = await s.ran({ suite_id: suite, models, experiment_id: experiment.id });
  await s.api('PUT', `/api/experiments/${experiment.id}/baseline`, { eval_id: first });
  await s.ran({ suite_id: suite, models, repeats: 3, experiment_id: experiment.id });
  await s.ran({ suite_id: home, models });
  // A target of the server may not be a script file, so the command line runs these on the server's database.
  const scripts = [
    '-m',
    'script:examples/scripts/weather-good.yaml',
    '-m',
    'script:examples/scripts/weather-sloppy.yaml',
    '-m',
    'offline/lexical',
  ];
  for (const more of [[], ['--repeat', '2']]) {
    await promisify(execFile)(
      process.env.CALLVET ?? path.join(root, 'callvet'),
      ['--db', s.db, 'run', 'examples/weather.yaml', ...scripts, ...more, '-q'],
      { cwd: root },
    );
  }
  const sent = async (name) =>
    (
      await s.api('POST', `/api/traces?collection=${name}`, await text(`regression/${name}.jsonl`), {
        raw: true,
        headers: { 'Content-Type': 'application/x-ndjson' },
      })
    ).id;
  const [tracesBefore, tracesAfter] = [await sent('before'), await sent('after')];
  const gate = await s.api('POST', '/api/gates', {
    name: 'Release',
    text: 'gates:\n  - pass_rate >= 0.5\n  - {metric: pass_rate, slice: case=*, at_least: 0.5}\n',
  });
  const [newest, before] = (await s.api('GET', '/api/tool-eval/history?limit=2')).items;
  const catalogue = await s.api('POST', '/api/catalogues?name=Examples', await text('select/catalogue.json'), {
    raw: true,
    headers: { 'Content-Type': 'application/json' },
  });
  const form = new FormData();
  form.append('file', new Blob([await text('select/suite.json')], { type: 'application/json' }), 'suite.json');
  const r = await fetch(`${s.url}/api/v1/admin/tool-eval/run?catalogue_id=${catalogue.id}`, {
    method: 'POST',
    headers: { Cookie: s.cookies.ana },
    body: form,
  });
  const selection = r.ok ? await r.json() : {};
  const drill = await s.api('POST', '/api/drills', { models });
  await s.job(drill.job_id);
  await s.user('bo');
  await s.api('POST', '/api/tokens', { name: 'ci', scopes: ['read', 'run'] });
  const jobs = await s.api('GET', '/api/jobs');
  return {
    suite,
    run: newest.id,
    first: before.id,
    experiment: experiment.id,
    catalogue: catalogue.id,
    selection: selection.run_id,
    job: jobs.items[0]?.job_id,
    tracesBefore,
    tracesAfter,
    gate: gate.id,
    drill: drill.result_ref,
  };
}

/** screens lists name, address and what to wait for. */
export function screens(m) {
  const failing = async (page) => {
    await page.getByRole('row').nth(1).waitFor();
  };
  const propose = (page) => page.getByRole('button', { name: 'Propose tasks' }).click();
  return [
    ['home', '/'],
    ['new-run', `/new?suite=${m.suite}`],
    ['runs', '/runs', failing],
    ['results', `/runs/${m.run}`],
    ['grid', `/runs/${m.run}?tab=grid`],
    ['attempts', `/runs/${m.run}?tab=attempts&verdict=fail`],
    ['case', `/runs/${m.run}/case?case=tokyo-fahrenheit&target=${encodeURIComponent('script:weather-sloppy.yaml')}`],
    ['compare', `/compare?runs=${m.first},${m.run}`],
    ['suites', '/suites'],
    ['suite', `/suites/${m.suite}`],
    ['import', '/suites/import'],
    ['experiments', '/experiments'],
    ['experiment', `/experiments/${m.experiment}`],
    ['tuning', '/tune'],
    ['new-search', `/tune/new?suite=${m.suite}`],
    ['judges', '/judges'],
    ['label', `/label?run=${m.run}`],
    ['gold', `/gold?run=${m.run}`, propose],
    ['lab', `/lab?tab=suite&run=${m.selection ?? ''}`],
    ['lab-sv', `/admin/tools/eval?tab=suite&run=${m.selection ?? ''}`],
    ['safety', `/safety?run=${m.drill}`],
    ['gates', '/gates'],
    ['gate', `/runs/${m.run}?tab=gates&gates=${m.gate}`],
    ['traces', '/traces'],
    ['traces-scores', `/traces/${m.tracesAfter}?part=scores`],
    ['traces-compare', `/traces/${m.tracesAfter}?part=compare&baseline=${m.tracesBefore}`],
    ['jobs', '/jobs'],
    ['job', `/jobs/${m.job}`],
    ['settings', '/settings'],
    ['settings-users', '/settings/users'],
    ['audit', '/audit'],
  ];
}
