// All texts of the page. English has every key; another language may lack some, which are then English.
import { createContext, useContext } from 'react';
import { en } from './en';
import { learn } from './told';

type Tree = { [key: string]: string | Tree };
type Paths<T> = { [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}` }[keyof T & string];
/** The keys of texts, such as 'run.cancel'. */
export type TextKey = Paths<typeof en>;
export type Language = 'en' | 'sv';
/** The values of {placeholders} in a text. */
export type Values = Record<string, string | number>;
export type T = (key: TextKey, values?: Values) => string;

const trees: Record<Language, Tree> = { en, sv: {} };

/** known loads the texts of a language; English is there. */
export async function known(language: Language): Promise<void> {
  if (language !== 'sv') return;
  const swedish = await import('./sv');
  trees.sv = swedish.sv;
  learn(swedish.table);
}

function find(tree: Tree, key: string): string | undefined {
  let at: string | Tree | undefined = tree;
  for (const part of key.split('.')) {
    if (at === undefined || typeof at === 'string') return undefined;
    at = at[part];
  }
  return typeof at === 'string' ? at : undefined;
}

/** texts gives the function that tells texts in a language. */
export function texts(language: Language): T {
  return (key, values) => {
    const text = find(trees[language], key) ?? find(trees.en, key) ?? key;
    return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
  };
}

export const TextContext = createContext<{ t: T; language: Language; choose: (l: Language) => void }>({
  t: texts('en'),
  language: 'en',
  choose: () => {},
});

/** useText gives t, the texts of the language that the user chose. */
export function useText(): T {
  return useContext(TextContext).t;
}
export function useLanguage() {
  return useContext(TextContext);
}
