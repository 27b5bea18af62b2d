// Sentences that the server writes in English, in the language of the page: errors, notes, reasons, evidence.
// A table of a language has pairs of an English sentence and its own. Its places stand for what differs:
//
//   {}      a value, which stays as it is
//   {#}     a number, with the comma of the language
//   {*}     another sentence of the table
//   {kind}  the kind of an error, which the other language leaves out
//
// In the other sentence {} is the next value, and {1} the first one. The tests in cmd/callvet/swedish_test.go
// fail where a sentence of the server has no pair.
import type { Language } from './language';

type Place = '{}' | '{#}' | '{*}' | '{kind}';
type Pattern = { found: RegExp; places: Place[]; own: string; open: boolean; size: number };

const kinds = 'invalid|not found|conflict|denied|limited|unavailable|budget exhausted';
const forms: Record<Place, string> = {
  '{}': '([\\s\\S]*?)',
  '{#}': '([-+]?\\d[\\d.,\u00a0 ]*)',
  '{*}': '([\\s\\S]*?)',
  '{kind}': `(${kinds})`,
};
const kindAround = new RegExp(`^(?:${kinds}): |: (?:${kinds})$`);
const anyPlace = /\{(?:#|\*|kind)?\}/g;
let patterns: Pattern[] = [];
let current: Language = 'en';
const cache = new Map<string, string>();

/** setTranslations sets the pairs of sentences of the language that is not English. */
export function setTranslations(table: string[][]): void {
  cache.clear();
  patterns = table.map(([english = '', own = '']) => {
    const places = (english.match(anyPlace) ?? []) as Place[];
    const parts = english.split(anyPlace).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const found = parts.map((part, i) => part + (i < places.length ? forms[places[i]!] : '')).join('');
    return {
      found: new RegExp(`^${found}$`),
      places,
      own,
      open: /\{\}$/.test(english),
      size: english.replace(anyPlace, '').length,
    };
  });
  patterns.sort((a, b) => b.size - a.size); // the one that fits closest
}

/** setTranslationLanguage sets the language that translate returns. */
export function setTranslationLanguage(language: Language): void {
  current = language;
}

/** translate returns a sentence of the server in the language of the page, or unchanged where it has no pair. */
export function translate(text: string): string {
  if (current === 'en' || !text) return text;
  let out = cache.get(text);
  if (out === undefined) {
    out = translated(text) ?? text;
    if (cache.size > 5000) cache.clear();
    cache.set(text, out);
  }
  return out;
}

function translated(text: string): string | undefined {
  for (const p of patterns) {
    const values = p.found.exec(text);
    if (values) return (p.open && inParts(text)) || filled(p, values.slice(1));
  }
  const bare = text.replace(kindAround, '');
  return bare === text ? inParts(text) : translated(bare);
}

function filled(p: Pattern, values: string[]): string {
  const own = values.flatMap((v, i) => {
    switch (p.places[i]) {
      case '{kind}':
        return [];
      case '{*}':
        return [translated(v) ?? v];
      case '{#}':
        return [v.replace(/(\d)\.(?=\d)/g, '$1,')];
      default:
        return [v];
    }
  });
  let next = 0;
  return p.own.replace(/\{(\d*)\}/g, (_, n: string) => own[n ? Number(n) - 1 : next++] ?? '');
}

/** inParts gives a sentence with another one behind it: what would mend it, or what is wrong in detail. */
function inParts(text: string): string | undefined {
  for (const [between, end] of [
    [' (', ')'],
    [': ', ''],
    ['; ', ''],
    ['. ', ''],
    ['\n', ''],
  ] as const) {
    if (!text.endsWith(end)) continue;
    for (let at = text.lastIndexOf(between); at > 0; at = text.lastIndexOf(between, at - 1)) {
      const tail = translated(text.slice(at + between.length, text.length - end.length));
      const first = text.slice(0, at);
      const head =
        tail === undefined
          ? undefined
          : (translated(first) ?? (between === ': ' && !first.includes(' ') ? first : undefined)); // a file or a field
      if (head !== undefined) return head + between + tail + end;
    }
  }
  return undefined;
}
