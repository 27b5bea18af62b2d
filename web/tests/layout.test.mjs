// Every screen at the widths of a wide and a small laptop and of a phone: no text is cut off, and nothing
// needs sideways scrolling.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, clean, Server } from './harness.mjs';
import { examplesOn, screens } from './screens.mjs';

let server, browser, list;
before(
  async () => {
    [server, browser] = await Promise.all([Server.start(), Browser.start()]);
    list = screens(await examplesOn(server));
  },
  { timeout: 300_000 },
);
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** wider lists the boxes that scroll sideways, except editors, with their widths. */
const wider = () =>
  [...document.querySelectorAll('main *')]
    .filter(
      (e) =>
        e.checkVisibility() &&
        e.scrollWidth > e.clientWidth + 1 &&
        e.clientWidth > 0 &&
        ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) &&
        !e.closest('.cm-editor, pre, textarea, input, [role="tablist"], .tabs-line'),
    )
    .map((e) => `${e.getAttribute('aria-label') ?? e.className}: ${e.scrollWidth} of ${e.clientWidth} px`);

/** cut lists texts with a hidden end and no way to read it: no title, no tooltip, no scrolling. */
const cut = () =>
  [...document.querySelectorAll('main *')]
    .filter(
      (e) =>
        e.scrollWidth > e.clientWidth + 1 &&
        e.clientWidth > 0 &&
        e.children.length === 0 &&
        e.textContent.trim() &&
        getComputedStyle(e).overflowX === 'hidden' &&
        !e.title &&
        !e.closest('[class*=visuallyHidden], [class*=VisuallyHidden], .cm-editor, input, [title]'),
    )
    .map((e) => `${e.className}: ${e.textContent.trim().slice(0, 60)}`);

test(
  'no screen is wider than the window at 1440, 1024 and 390 px, and no table scrolls sideways',
  async () => {
    const found = [];
    for (const [name, address, ready] of list) {
      const page = await browser.page(server, {
        width: 1024,
        height: 800,
        locale: name.endsWith('-sv') ? 'sv-SE' : 'en-GB',
      });
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(address, { timeout: 60_000 });
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.locator('[aria-busy="true"]:visible').first().waitFor({ state: 'detached' });
      await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => {}); // a socket stays open
      if (ready) await ready(page);
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) found.push(`${name} ${width}: the page is ${over} px too wide`);
        for (const w of await page.evaluate(wider)) found.push(`${name} ${width}: ${w}`);
        for (const c of await page.evaluate(cut)) found.push(`${name} ${width}: cut: ${c}`);
      }
      clean(page);
      await page.context().close();
    }
    assert.deepEqual(found, []);
  },
  { timeout: 600_000 },
);
