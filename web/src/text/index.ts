// All texts of the page. English has every key; another language may lack some, which are then English.
import { createContext, useCallback, useContext } from 'react';
import { en } from './en';
import type { Language } from './language';
import { setTranslations, translate } from './translate';

type Tree = { [key: string]: string | Tree };
type Paths<T> = { [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}` }[keyof T & string];
/** The keys of texts, such as 'run.cancel'. */
export type TextKey = Paths<typeof en>;
export type { Language };
/** The values of {placeholders} in a text. */
export type Values = Record<string, string | number>;
export type Translator = (key: TextKey, values?: Values) => string;

const trees: Record<Language, Tree> = { en, sv: {} };

/** loadTexts loads the texts of a language; English is there. */
export async function loadTexts(language: Language): Promise<void> {
  if (language !== 'sv') return;
  const swedish = await import('./sv');
  trees.sv = swedish.sv;
  setTranslations(swedish.table);
}

function find(tree: Tree, key: string): string | undefined {
  let at: string | Tree | undefined = tree;
  for (const part of key.split('.')) {
    if (at === undefined || typeof at === 'string') return undefined;
    at = at[part];
  }
  return typeof at === 'string' ? at : undefined;
}

/** texts returns the function that looks up texts in a language. */
export function texts(language: Language): Translator {
  return (key, values) => {
    const text = find(trees[language], key) ?? find(trees.en, key) ?? key;
    return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
  };
}

export const TextContext = createContext<{ t: Translator; language: Language; choose: (l: Language) => void }>({
  t: texts('en'),
  language: 'en',
  choose: () => {},
});

/** useText returns t, which looks up texts in the language that the user chose. */
export function useText(): Translator {
  return useContext(TextContext).t;
}
export function useLanguage() {
  return useContext(TextContext);
}

/** useTranslate returns translate, in a component that is rendered again when the language changes. */
export function useTranslate(): (text: string) => string {
  const { language } = useLanguage();
  return useCallback((text: string) => (language === 'en' ? text : translate(text)), [language]);
}
