// How many bytes the page of a large run needs, and how soon it shows its first rows over a slow connection.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, clean, manyAttempts, Server } from './harness.mjs';

let server, browser, run;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  run = await manyAttempts(server, { cases: 5_000, scripts: ['weather'], repeats: 1 });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/**
 * weighed opens an address with an empty cache over a connection of so many bits a second. It returns the received
 * bytes, and the time until the locator there is visible.
 */
async function weighed(address, there, bits) {
  const page = await browser.page(server);
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  if (bits)
    await line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 40,
      downloadThroughput: bits / 8,
      uploadThroughput: bits / 8,
    });
  const names = new Map();
  let bytes = 0;
  const parts = [];
  line.on('Network.responseReceived', (e) => names.set(e.requestId, new URL(e.response.url).pathname));
  line.on('Network.loadingFinished', (e) => {
    bytes += e.encodedDataLength;
    parts.push([e.encodedDataLength, names.get(e.requestId)]);
  });
  const begun = Date.now();
  await page.goto(address);
  await there(page).waitFor();
  const ms = Date.now() - begun;
  await page.waitForTimeout(1500); // for later requests of the page
  clean(page);
  await page.context().close();
  return { bytes, ms, parts: parts.sort((a, b) => b[0] - a[0]) };
}

for (const [name, most, address, there] of [
  [
    'the page of a run',
    300,
    () => `/runs/${run}`,
    (page) => page.getByRole('region', { name: 'Main measures' }).getByRole('row').nth(1),
  ],
  ['its attempts', 334, () => `/runs/${run}?tab=attempts`, (page) => page.getByRole('row').nth(1)],
  ['its grid', 320, () => `/runs/${run}?tab=grid`, (page) => page.getByRole('row').nth(1)],
]) {
  test(`${name} of 5,000 cases weighs ${most} kB at most`, async (t) => {
    await weighed(address(), there); // makes the server compute its report
    const { bytes, ms, parts } = await weighed(address(), there, 3_000_000);
    t.diagnostic(
      `${name}: ${Math.round(bytes / 1000)} kB, first rows after ${ms} ms at 3 Mbit/s; ${parts
        .slice(0, 8)
        .map(([n, of]) => `${of} ${Math.round(n / 1000)}`)
        .join(', ')}`,
    );
    assert.ok(bytes <= most * 1000, `${bytes} bytes`);
    assert.ok(ms <= 4000, `first rows after ${ms} ms`); // 2,000 on an idle machine
  });
}
