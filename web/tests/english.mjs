// Finds English texts on a page that should be Swedish.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const texts = path.resolve(import.meta.dirname, '../src/text');
const place = /\{(?:#|\*|kind)?\}/g;

/** exactly returns a regular expression for a text with places. Each place has the quantifier most. */
function exactly(text, places, most = '') {
  return new RegExp(
    `^${text
      .split(places)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join(`[\\s\\S]{0,${most}}?`)}$`,
  );
}

/** tree reads the texts of a language, file by file. */
async function tree(language) {
  const out = {};
  for (const name of readdirSync(path.join(texts, language)).filter((n) => n.endsWith('.ts') && n !== 'index.ts')) {
    const source = readFileSync(path.join(texts, language, name), 'utf8')
      .replace(/^import .*$/gm, '')
      .replace(/^export const \w+(: [^=]*)? =/m, 'export default');
    out[name] = (await import(`data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`)).default;
  }
  return out;
}

const [english, swedish] = [await tree('en'), await tree('sv')];
const flat = (o) => Object.values(o).flatMap((v) => (typeof v === 'string' ? [v] : flat(v)));
const own = new Set(flat(swedish));
// Texts of the page with a different Swedish text.
const ofPage = flat(english)
  .filter((s) => !own.has(s) && /\p{L}{3}/u.test(s.replace(/\{\w+\}/g, '')))
  .map((s) => exactly(s, /\{\w+\}/, 60));
// Sentences of the server that have a Swedish text, without sentences that are mostly places.
const ofServer = readdirSync(path.join(texts, 'sv/server'))
  .flatMap((name) => JSON.parse(readFileSync(path.join(texts, 'sv/server', name), 'utf8')))
  .filter(
    ([from, to]) => from.replace(place, '{}') !== to.replace(/\{\d+\}/g, '{}') && from.replace(place, '').length > 8,
  )
  .map(([from]) => exactly(from, place));
// Words that never occur in Swedish sentences.
const words =
  /\b(the|is|are|were|of|not|with|and|which|that|from|it|for|has|have|does|there|than|this|no|what|where|or|could|cannot|nothing|be)\b/i;

/** unlike lists the texts of the page without a Swedish text, or with other {places} in it. */
export function unlike() {
  const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();
  const walk = (from, to, at) =>
    Object.keys(from).flatMap((k) =>
      typeof from[k] === 'string'
        ? to?.[k] && places(from[k]) === places(to[k])
          ? []
          : [`${at}.${k}`]
        : walk(from[k], to?.[k] ?? {}, `${at}.${k}`),
    );
  return walk(english, swedish, 'text');
}

/** isEnglish returns whether a text is a sentence of the tables, or has an English word. */
export function isEnglish(text) {
  return words.test(text) || [...ofPage, ...ofServer].some((p) => p.test(text));
}

/** pageTexts collects the texts of a page, also those for screen readers, without code and requests to models. */
export async function pageTexts(page) {
  return await page.evaluate(() => {
    const out = new Set([document.title]);
    const left = 'script, style, noscript, pre, code, .mono, .cm-editor';
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      const e = n.parentElement;
      if (!e.closest(left) && e.checkVisibility()) out.add(n.textContent.replace(/\s+/g, ' ').trim());
    }
    for (const e of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')) {
      if (e.closest(left) || !e.checkVisibility()) continue;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        if (e.hasAttribute(name)) out.add(e.getAttribute(name).trim());
    }
    return [...out].filter(Boolean);
  });
}

/** englishOn returns the English texts of a page. */
export async function englishOn(page) {
  return (await pageTexts(page)).filter(isEnglish);
}

/** textsOn returns English texts of the page itself, which begin with a capital letter, unlike words of the server. */
export async function textsOn(page) {
  const begin = ofPage.filter((p) => /^\^\p{Lu}/u.test(p.source));
  return (await pageTexts(page)).filter((s) => begin.some((p) => p.test(s)));
}
