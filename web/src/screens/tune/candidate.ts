// The candidates of a search: their names, and the result of each in words.
import type { Schemas } from '../../api/client';
import { useText, useTranslate } from '../../text';

export type Search = NonNullable<Schemas['TuneView']['models']>[number];
export type Candidate = NonNullable<Search['candidates']>[number];

/** nameIn returns the name of a candidate without its model. */
export const nameIn = (search: Search, c: Candidate) =>
  c.name.startsWith(`${search.model} `) ? c.name.slice(search.model.length + 1) : c.name;

/** useStanding returns a function that writes the state of a candidate in words. */
export function useStanding(search: Search) {
  const t = useText();
  const translate = useTranslate();
  const name = (n: number) => {
    const of = (search.candidates ?? []).find((c) => c.n === n);
    return !of || n === 0 ? t('tune.base') : nameIn(search, of);
  };
  return (c: Candidate) => {
    if (c.broken) return translate(c.broken);
    if (c.dropped)
      return t(c.dropped.ranked ? 'tune.ranked' : 'tune.dropped', { name: name(c.dropped.by), n: c.dropped.after });
    if (c.n === search.best) return t('tune.best');
    return (search.alike ?? []).includes(c.n) ? t('tune.alike') : '';
  };
}
