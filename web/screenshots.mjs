// Writes a picture of every screen, light and dark, at three widths, into web/screenshots, from a server
// with examples: node screenshots.mjs [PART OF A SCREEN'S NAME …]
// With --docs it writes the wide pictures, reduced, into docs/images for the documents.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Browser, Server } from './tests/harness.mjs';
import { examplesOn, screens } from './tests/screens.mjs';

const here = import.meta.dirname;
const docs = process.argv.includes('--docs');
const out = path.join(here, docs ? '../docs/images' : 'screenshots');
const wanted = process.argv.slice(2).filter((w) => !w.startsWith('--'));

await mkdir(out, { recursive: true });
const server = await Server.start();
const browser = await Browser.start();
try {
  const made = await examplesOn(server);
  for (const [name, address, ready] of screens(made)) {
    if (wanted.length > 0 && !wanted.some((w) => name.includes(w))) continue;
    for (const theme of ['light', 'dark']) {
      for (const [size, width, height] of docs
        ? [['wide', 1280, 800]]
        : [
            ['wide', 1440, 900],
            ['medium', 1024, 800],
            ['narrow', 390, 844],
          ]) {
        const page = await browser.page(server, {
          theme,
          width,
          height,
          locale: name.endsWith('-sv') ? 'sv-SE' : 'en-GB',
        });
        await page.goto(address, { timeout: 60_000 });
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle').catch(() => {}); // a socket stays open
        if (ready) await ready(page);
        await page.screenshot(
          docs
            ? { path: path.join(out, `${name}-${theme}.jpg`), type: 'jpeg', quality: 50 }
            : { path: path.join(out, `${name}-${theme}-${size}.png`) },
        );
        if (page.errors.length > 0) console.error(`${name}: ${page.errors.join('; ')}`);
        await page.context().close();
      }
    }
    console.log(name);
  }
} finally {
  await browser.stop();
  await server.stop();
}
