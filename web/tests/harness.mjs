// What browser tests share: a real callvet server on a new store, a logged-in user, a real Chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../..');
const program = process.env.CALLVET ?? path.join(root, 'callvet');
const password = 'a long password for tests';
const axeSource = readFileSync(path.join(root, 'web/node_modules/axe-core/axe.min.js'), 'utf8');

/** started starts a program, and returns it with the first match of a pattern in its output. */
async function started(command, args, pattern, env = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const match = await new Promise((resolve, reject) => {
    const look = (b) => {
      text += b;
      const m = pattern.exec(text);
      if (m) resolve(m);
    };
    child.stderr.on('data', look);
    child.stdout.on('data', look);
    child.once('exit', (code) => reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${text}`)));
    child.once('error', reject);
  });
  return { child, match, text: () => text };
}

/** ended asks a program to end and waits until it has. */
async function ended(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}

/** Server is callvet serve on a separate store. */
export class Server {
  static async start({ args = [], env = {} } = {}) {
    const s = new Server();
    s.folder = await mkdtemp(path.join(tmpdir(), 'callvet-web-'));
    s.db = path.join(s.folder, 'runs.db');
    s.files = path.join(s.folder, 'files');
    s.args = args.map((a) => a.replace('{files}', s.files));
    await mkdir(s.files);
    s.env = env;
    await s.run('127.0.0.1:0', /#claim=\S+'/);
    s.claim = /#claim=(\S+?)'/.exec(s.process.text())[1];
    s.token = '';
    const r = await fetch(`${s.url}/api/session/claim`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ link: s.claim, name: 'ana', password }),
    });
    assert.equal(r.status < 300, true, `claim: ${r.status} ${await r.text()}`);
    s.cookies = { ana: cookieOf(r) };
    return s;
  }

  /** run starts the process, at an address; restart uses it again. */
  async run(listen, until = /Ctrl-C ends it/) {
    this.process = await started(
      program,
      ['serve', '--db', this.db, '--listen', listen, ...this.args],
      until,
      this.env,
    );
    this.url = /listening at ([\d.:]+)\)/.exec(this.process.text())[1].replace(/^/, 'http://');
  }

  /** restart kills the server (signal) and starts it at the same address. */
  async restart(signal = 'SIGTERM') {
    await this.down(signal);
    await this.up();
  }

  async down(signal = 'SIGTERM') {
    await ended(this.process.child, signal);
  }

  async up() {
    await this.run(new URL(this.url).host);
  }

  /** api sends a request as a user, and returns the JSON of the answer. */
  async api(method, route, body, { as = 'ana', raw = false, headers = {} } = {}) {
    const r = await fetch(this.url + route, {
      method,
      headers: {
        Cookie: this.cookies[as],
        ...(body !== undefined && !raw ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : raw ? body : JSON.stringify(body),
    });
    const text = await r.text();
    assert.ok(r.ok, `${method} ${route}: ${r.status} ${text}`);
    return text && (r.headers.get('Content-Type') ?? '').includes('json') ? JSON.parse(text) : text;
  }

  /** user makes another user with a role, who is logged in. */
  async user(name, role = 'member') {
    const made = await this.api('POST', '/api/users', { name, role });
    const secret = /#claim=([^"'\s]+)/.exec(JSON.stringify(made))?.[1] ?? made.link;
    const r = await fetch(`${this.url}/api/session/claim`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ link: secret, password }),
    });
    assert.ok(r.ok, `claim of ${name}: ${r.status} ${await r.text()}`);
    this.cookies[name] = cookieOf(r);
  }

  /** suite imports a suite, a text in any form, and returns its id. */
  async suite(text, options) {
    const made = await this.api(
      'POST',
      '/api/tool-eval/import',
      typeof text === 'string' ? text : JSON.stringify(text),
      { raw: true, headers: { 'Content-Type': 'application/json' }, ...options },
    );
    return made.suite_id ?? made.id;
  }

  /** job waits until a job is over, and returns it. */
  async job(id, options) {
    for (;;) {
      const j = await this.api('GET', `/api/jobs/${id}`, undefined, options);
      if (['done', 'failed', 'cancelled'].includes(j.status)) return j;
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  /** ran runs a suite, waits for the end and returns the id of the run. */
  async ran(body, options) {
    const { job_id, result_ref } = await this.api('POST', '/api/tool-eval', body, options);
    const j = await this.job(job_id, options);
    assert.equal(j.status, 'done', JSON.stringify(j));
    return result_ref;
  }

  /** file writes a file that targets may read: args ['--allow-files', '{files}'], and the target script:./name. */
  async file(name, text) {
    await writeFile(path.join(this.files, name), text);
  }

  async stop() {
    await ended(this.process.child);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Viewer is callvet view on a store with one run, made by the command line. */
export class Viewer {
  static async start() {
    const v = new Viewer();
    v.folder = await mkdtemp(path.join(tmpdir(), 'callvet-web-'));
    const suite = path.join(v.folder, 'suite.yaml');
    v.db = path.join(v.folder, 'runs.db');
    await done(program, ['init', suite]);
    await done(program, ['run', suite, '-m', 'offline/lexical', '--db', v.db]);
    v.process = await started(program, ['view', '--db', v.db, '--listen', '127.0.0.1:0'], /http:\/\/\S+#view=\S+/);
    v.link = v.process.match[0].replace(/['"]$/, '');
    v.url = new URL(v.link).origin;
    v.cookies = {};
    return v;
  }

  async stop() {
    await ended(this.process.child, 'SIGINT');
    await rm(this.folder, { recursive: true, force: true });
  }
}

/**
 * manyAttempts makes a large run on the database of a server, and returns its id. Unless the options differ, it has
 * 100,000 attempts: 12,500 cases by four targets, each twice.
 */
export async function manyAttempts(
  server,
  { cases: size = 12_500, scripts: chosen = ['weather', 'traffic', 'silent'], repeats = 2 } = {},
) {
  const tool = (name) => ({
    name,
    description: `Looks up the ${name}`,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  });
  const cases = Array.from({ length: size }, (_, i) => ({
    id: `c${String(i).padStart(5, '0')}`,
    prompt: i % 2 ? `What is the weather in town ${i}?` : `Tell me a joke, number ${i}.`,
    expect: { calls: [{ tool: i % 3 ? 'weather' : 'traffic' }] },
  }));
  const at = (name) => path.join(server.folder, name);
  await writeFile(
    at('many.json'),
    JSON.stringify({ callvet: 1, name: 'many', tools: [tool('weather'), tool('traffic')], cases }),
  );
  const scripts = {
    weather: [{ contains: 'town', calls: [{ tool: 'weather' }] }],
    traffic: [{ contains: '7', calls: [{ tool: 'traffic' }] }],
    silent: [{ contains: 'joke', text: 'No.' }],
  };
  const targets = ['-m', 'offline/lexical'];
  for (const [name, rules] of Object.entries(scripts).filter(([name]) => chosen.includes(name))) {
    await writeFile(at(`${name}.yaml`), JSON.stringify({ model: name, rules }));
    targets.push('-m', `script:${at(`${name}.yaml`)}`);
  }
  await done(program, [
    '--db',
    server.db,
    'run',
    at('many.json'),
    ...targets,
    '--repeat',
    String(repeats),
    '--no-lint',
    '-q',
  ]);
  return (await server.api('GET', '/api/tool-eval/history?limit=1')).items[0].id;
}

/** done runs a program to its end. */
async function done(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (b) => (text += b));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(code, 0, `${command} ${args.join(' ')}: ${text}`);
}

function cookieOf(r) {
  return r.headers
    .getSetCookie()
    .map((c) => c.split(';')[0])
    .join('; ');
}

/** Browser is one Chromium, with a context for each user. */
export class Browser {
  static async start() {
    const b = new Browser();
    b.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      headless: true,
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    return b;
  }

  /** page opens a page as a user of a server, without a login if as is null. Console errors fail the test. */
  async page(server, { as = 'ana', width = 1280, height = 800, theme = 'light', locale = 'en-GB' } = {}) {
    const context = await this.chromium.newContext({
      viewport: { width, height },
      colorScheme: theme,
      locale,
      baseURL: server.url,
    });
    if (as) {
      const [name, value] = server.cookies[as].split(/=(.*)/s);
      await context.addCookies([{ name, value, url: server.url }]);
    }
    const page = await context.newPage();
    page.errors = [];
    page.on('pageerror', (e) => page.errors.push(String(e)));
    page.on('console', (m) => {
      if (m.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(m.text()))
        page.errors.push(m.text());
    });
    page.setDefaultTimeout(45_000); // longer than any correct step, also on a busy machine
    return page;
  }

  async stop() {
    await this.chromium.close();
  }
}

/** clean asserts that a page had no exception, no console error and no violation of the content policy. */
export function clean(page) {
  assert.deepEqual(page.errors, []);
}

/** until waits until a condition on the server is true, and returns its value. */
export async function until(what, of) {
  const end = Date.now() + 20_000;
  for (;;) {
    const got = await of();
    if (got) return got;
    assert.ok(Date.now() < end, `${what} did not happen`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

/** write replaces the text of a code editor, as a user who selects all and pastes. */
export async function write(at, label, text) {
  const box = at.getByRole('textbox', { name: label, exact: true }).and(at.locator('.cm-content'));
  await box.focus();
  await box.press('Control+a');
  await box.evaluate((el, text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    el.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

const everything = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const colours = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** axe asserts that a page has no serious fault of accessibility (WCAG 2.2 AA). */
export async function axe(page, what = page.url(), rules = everything) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    (r) => globalThis.axe.run(document, { ...r, resultTypes: ['violations'] }),
    rules,
  );
  const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
  const faults = serious.flatMap((v) =>
    v.nodes
      .slice(0, 5)
      .map(
        (n) =>
          `${what}: ${v.id}: ${v.help}\n    ${n.html.slice(0, 200)}\n    ${n.failureSummary?.replaceAll('\n', ' ')}`,
      ),
  );
  assert.deepEqual(faults, []);
}

/** whole: make verify-web checks everything, make test only a part of the expensive checks. */
export const whole = Boolean(process.env.CALLVET_WHOLE);

const widths = [390, 768, 1024, 1440];
// isChecked reports whether axe checks a theme at a width. The layout at 1024 px is that at 1440, and the dark theme
// differs only in colours.
const isChecked = (theme, width) => whole || (theme === 'light' ? width !== 1024 : width === 390 || width === 1440);
export const themes = ['light', 'dark'];

/**
 * accessible asserts that screens have no serious fault of accessibility in both themes at four widths, and are nowhere
 * wider than the window. A screen is an address and a sign that it is ready: a text, or a function that returns a
 * locator. Themes differ only in colours, so the dark theme is checked only for contrast.
 */
export async function accessible(
  browser,
  server,
  screens,
  { language, in: looks = themes.map((theme) => [theme, widths]) } = {},
) {
  const page = await browser.page(server);
  await page.emulateMedia({ reducedMotion: 'reduce' }); // no check of colours during a transition
  if (language) await page.addInitScript((l) => localStorage.setItem('callvet.language', l), language);
  for (const [address, there] of screens) {
    await page.goto(address);
    await (typeof there === 'string' ? page.getByText(there) : await there(page)).first().waitFor();
    await page.locator('[aria-busy="true"]:visible').first().waitFor({ state: 'detached' });
    for (const [theme, wide] of looks) {
      await page.emulateMedia({ colorScheme: theme });
      await page.locator(`html[data-mantine-color-scheme="${theme}"]`).waitFor();
      for (const width of wide) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(
          () =>
            new Promise((drawn) => {
              requestAnimationFrame(() => requestAnimationFrame(drawn));
              setTimeout(drawn, 2_000); // a busy browser may draw no frame at all
            }),
        );
        const what = `${address} ${theme} ${width}`;
        if (isChecked(theme, width)) await axe(page, what, theme === 'dark' ? colours : everything);
        const over = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.ok(over <= 0, `${what}: the page is ${over} px too wide`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  clean(page);
  await page.context().close();
}
