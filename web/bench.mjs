// Measures the page with a run of 100,000 attempts in a real Chromium, on loopback, and the routes it reads:
//   node bench.mjs [TIMES]
// Each line is one action of a user, repeated TIMES (20) times: its p50 and p95 in milliseconds, from the input to
// the frame that shows the result.
import { cpus, loadavg } from 'node:os';
import { Browser, manyAttempts, Server } from './tests/harness.mjs';

const times = Number(process.argv[2] ?? 20);
const server = await Server.start();
const browser = await Browser.start();
try {
  const started = performance.now();
  const id = await manyAttempts(server);
  console.log(
    `100,000 attempts made in ${Math.round(performance.now() - started)} ms; ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, each line ${times} times`,
  );
  await routes(id);
  await paints(id);
  await interactions(id);
  console.log(`\nload at the end ${loadavg()[0].toFixed(1)}`);
} finally {
  await browser.stop();
  await server.stop();
}

/** line writes the quantiles of the measured times. */
function line(name, took, first) {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (p) => sorted[Math.ceil((sorted.length * p) / 100) - 1].toFixed(0);
  console.log(`| ${name} | ${at(50)} | ${at(95)} |${first === undefined ? '' : ` ${first.toFixed(0)} |`}`);
}

function head(name, ...columns) {
  console.log(`\n| ${[name, 'p50 ms', 'p95 ms', ...columns].join(' | ')} |\n|---${'|---'.repeat(2 + columns.length)}|`);
}

/** routes requests each route once before measuring it, and prints the time of that first request. */
async function routes(id) {
  const run = `/api/runs/${id}`;
  head('route', 'first ms');
  const after = async (route) => `${route}&cursor=${(await server.api('GET', route)).next_cursor}`;
  for (const [name, route] of [
    ['run', run],
    ['attempts', `${run}/cells?limit=100`],
    ['attempts, next page', () => after(`${run}/cells?limit=100`)],
    ['attempts by score', `${run}/cells?limit=100&sort=score`],
    ['attempts by score, next page', () => after(`${run}/cells?limit=100&sort=score`)],
    ['attempts by cost, 200', `${run}/cells?limit=200&sort=cost&descending=true`],
    ['attempts that failed', `${run}/cells?limit=100&verdict=fail`],
    ['attempts by outcome', `${run}/cells?limit=100&outcome=abstained`],
    ['attempts with a text, scattered', `${run}/cells?limit=200&search=123&target=offline/lexical`],
    ['attempts of a cell of the confusion matrix', `${run}/cells?limit=100&expected=traffic&called=weather`],
    ['grid', `${run}/grid?limit=100`],
    ['grid where targets disagree', `${run}/grid?limit=100&disagree=true`],
    ['incidents', `${run}/incidents?limit=50`],
    ['recordings', `${run}/recordings?limit=50`],
    ['one case', `${run}/case?case=c06000`],
  ]) {
    const place = typeof route === 'string' ? route : await route();
    const ask = async () => {
      const start = performance.now();
      await server.api('GET', place);
      return performance.now() - start;
    };
    const first = await ask();
    const took = [];
    for (let i = 0; i < times; i++) took.push(await ask());
    line(name, took, first);
  }
}

/** paints opens screens in separate contexts with an empty cache. */
async function paints(id) {
  head('opened');
  for (const [name, address, row] of [
    ['the run', `/runs/${id}`, 'tbody tr'],
    ['its attempts', `/runs/${id}?tab=attempts`, 'tr[data-index]'],
    ['its grid', `/runs/${id}?tab=grid`, 'tr[data-index]'],
  ]) {
    const paint = [],
      rows = [];
    for (let i = 0; i < times; i++) {
      const page = await browser.page(server);
      await page.goto(address, { waitUntil: 'commit' });
      await page.locator(row).first().waitFor();
      rows.push(await page.evaluate(frame));
      paint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime));
      await page.context().close();
    }
    line(`${name}, first contentful paint`, paint);
    line(`${name}, first rows`, rows);
  }
}

/** frame returns the time of the next frame since the request of the page. It runs in the page. */
function frame() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))));
}

/**
 * interactions measures in the page, so that no message between this process and the browser counts: from the input to
 * the frame after the result is in the document. The page is opened again each time, so that it has no earlier answer
 * of the server.
 */
async function interactions(id) {
  const page = await browser.page(server);
  await page.addInitScript(() => {
    globalThis.timed = async (act, seen) => {
      const start = performance.now();
      act();
      while (!seen()) {
        if (performance.now() - start > 20_000) throw new Error(`nothing was seen of ${act}`);
        await new Promise((r) => setTimeout(r));
      }
      await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
      return performance.now() - start;
    };
    globalThis.list = () => document.querySelector('tr[data-index]')?.closest('[role="region"]');
    globalThis.body = () => list()?.querySelector('tbody')?.textContent ?? '';
    globalThis.has = (at) => Boolean(document.querySelector(`tr[data-index="${at}"]`));
  });
  const took = {};
  const measure = async (name, act) => {
    (took[name] ??= []).push(await page.evaluate(act));
    await page.waitForTimeout(100); // later work of this action must not count in the next
  };
  for (let i = 0; i < times; i++) {
    await page.goto(`/runs/${id}?tab=attempts`);
    await page.locator('tr[data-index]').first().waitFor();
    await page.waitForLoadState('networkidle').catch(() => {}); // a socket stays open
    await measure('scroll to the middle of what is there', () =>
      timed(
        () => list().scrollTo(0, 2000),
        () => has(55),
      ),
    );
    await measure('next page', () => {
      const before = list().scrollHeight;
      return timed(
        () => list().scrollTo(0, before),
        () => list().scrollHeight > before + 1000,
      );
    });
    await measure('open a case', () => {
      const row = document.querySelector('tr[data-index="95"]');
      const name = row.children[1].textContent;
      return timed(
        () => row.click(),
        () =>
          document.querySelector('h1')?.textContent.includes(name) &&
          document.querySelector('[aria-label="Conversation"]'),
      );
    });
    await measure('back to the list', () =>
      timed(
        () => history.back(),
        () => has(1),
      ),
    );
    await measure('sort by score', () => {
      const before = body();
      return timed(
        () => [...document.querySelectorAll('th button')].find((b) => b.textContent.startsWith('Score')).click(),
        () => has(1) && body() !== before,
      );
    });
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'no call' }).waitFor();
    await measure('filter by outcome', () => {
      const before = body();
      return timed(
        () => [...document.querySelectorAll('[role="option"]')].find((o) => o.textContent === 'no call').click(),
        () => has(1) && body() !== before,
      );
    });
    await page.getByLabel('Search cases and prompts').click();
    await measure('a letter in the search is shown', () =>
      timed(
        () => document.execCommand('insertText', false, 'c'),
        () => document.activeElement.value === 'c',
      ),
    );
    await measure('its attempts are shown, of which 250 ms wait for more letters', () => {
      const before = body();
      return timed(
        () => document.execCommand('insertText', false, '123'),
        () => has(1) && body() !== before,
      );
    });
  }
  head('in the list of attempts');
  for (const [name, list] of Object.entries(took)) line(name, list);
}
