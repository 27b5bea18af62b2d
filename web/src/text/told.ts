// Sentences that the server writes in English, in the language of the page: the reasons, evidence and notes of the
// selection lab. {} stands for what differs. TestSwedishReasons of cmd/callvet holds that every sentence is listed.
import { useCallback } from 'react';
import { useLanguage } from '.';
import sentences from './sv/told.json';

const patterns = (sentences as [string, string][]).map(([english, swedish]) => ({
  found: new RegExp(`^${english.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([\\s\\S]*?)')}$`),
  swedish,
}));

/** told gives a sentence of the server in Swedish; one that is not listed stays as it is. */
export function told(text: string): string {
  for (const { found, swedish } of patterns) {
    const values = found.exec(text);
    let i = 0;
    if (values) return swedish.replace(/\{\}/g, () => values[++i] ?? '');
  }
  return text;
}

/** useTold gives what writes sentences of the server in the language of the page. */
export function useTold(): (text: string) => string {
  const { language } = useLanguage();
  return useCallback((text: string) => (language === 'sv' ? told(text) : text), [language]);
}
