// The format of numbers, times and sums of money on the whole page.

let language: 'en' | 'sv' = 'en';

/** setFormatLanguage sets the language of numbers and times. */
export function setFormatLanguage(l: 'en' | 'sv') {
  language = l;
}

/** number writes v with at most digits decimals, with a thin group separator. */
export function number(v: number, digits = 0): string {
  const text = v.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: 0 }).replaceAll(',', ' ');
  return language === 'sv' ? text.replace('.', ',') : text;
}

/** fixed writes v with exactly as many decimals, for columns of numbers. */
export function fixed(v: number, digits: number): string {
  const text = v.toFixed(digits);
  return language === 'sv' ? text.replace('.', ',') : text;
}

/** duration writes milliseconds as 350 ms, 12.4 s, 3 min 20 s, 2 h 5 min. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms > 0 && ms < 0.5) return '< 1 ms';
  if (ms < 999.5) return `${number(ms)} ms`;
  if (ms < 59_950) return `${number(ms / 1000, 1)} s`;
  const s = Math.round(ms / 1000);
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min ${s % 60} s`;
  return `${Math.floor(min / 60)} h ${min % 60} min`;
}

/** money writes a sum in US dollars; null means not known. */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return '–';
  return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: usd !== 0 && usd < 1 ? 4 : 2 })}`;
}

/** moment writes a time in the user's zone. */
export function moment(at: string | undefined): string {
  if (!at) return '–';
  const d = new Date(at);
  return d.toLocaleString('sv-SE', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
}

/** ago writes how long ago a time was: now, 5 min, 3 h, 2 d. */
export function ago(at: string | undefined, now = Date.now()): string {
  if (!at) return '–';
  const s = Math.max(0, (now - new Date(at).getTime()) / 1000);
  if (s < 45) return 'now';
  if (s < 3600) return `${Math.round(s / 60)} min ago`;
  if (s < 86_400) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

/** signed writes a difference of rates in percentage points, with its sign. */
export function signed(v: number | null | undefined): string {
  if (v === null || v === undefined) return '–';
  const shown = Math.round(v * 1000) / 10; // a rounded 0 has no sign
  return `${shown > 0 ? '+' : shown < 0 ? '−' : '±'}${number(Math.abs(shown), 1)} pp`;
}

/** bytes writes a size as 512 B, 3.4 kB, 12 MB. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${number(n / 1000, 1)} kB`;
  return `${number(n / 1_000_000, 1)} MB`;
}
