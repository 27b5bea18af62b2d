import type { audit as english } from '../en/audit';

export const audit: typeof english = {
  lead: 'Vem som ändrat vad andra får göra, det senaste först. Inget i programmet ändrar eller tar bort en rad.',
  when: 'När',
  who: 'Vem',
  what: 'Vad',
  object: 'Av',
  detail: 'Detalj',
  from: 'Från',
  anyone: 'Alla',
  anything: 'Allt',
  noUser: 'ingen',
  user: 'Användare',
  kind: 'Slag',
  none: 'Inget att visa',
  noneText: 'Ingen rad har den användaren och det slaget.',
  clear: 'Visa allt',
  table: 'Granskningslogg',
  gone: 'borttagen användare',
};
