import type { common as english } from '../en/common';

export const common: Record<keyof typeof english, string> = {
  save: 'Spara', cancel: 'Avbryt', close: 'Stäng', delete: 'Ta bort', edit: 'Redigera', add: 'Lägg till', retry: 'Försök igen', undo: 'Ångra', copy: 'Kopiera', copied: 'Kopierat',
  search: 'Sök', filter: 'Filter', all: 'Alla', none: 'Inga', yes: 'Ja', no: 'Nej', name: 'Namn', created: 'Skapad', updated: 'Ändrad', more: 'Visa fler', loading: 'Laddar…',
  download: 'Ladda ner', upload: 'Ladda upp', back: 'Tillbaka', next: 'Nästa', previous: 'Föregående', shared: 'Delad', mine: 'Egna', actions: 'Åtgärder', status: 'Status', owner: 'Ägare', notFound: 'Finns inte',
  notFoundText: 'Det finns inget på den här adressen, eller så får du inte se det.', readOnly: 'Endast läsning', unknown: 'okänt', nCases: 'n = {n} fall, {values} {of}', nTasks: 'n = {n} uppgifter, {values} {of}', values: 'värden', attempts: 'försök', fact: 'som inspelat, inget intervall', notScored: 'ej bedömt',
  deleted: '{what} är borttagen', failed: 'Det gick inte', failed0: 'Ingen förbindelse', failed401: 'Inte inloggad', failed403: 'Inte tillåtet', failed404: 'Finns inte', failed409: 'Krockar med något som redan finns', failed412: 'Ändrat under tiden', failed413: 'För stort', failed429: 'För mycket på en gång', failed502: 'En tjänst svarade inte som den skulle', failed503: 'Inte tillgängligt just nu', found: '{n} av {of} {unit}', foundFailing: '{n} av {of} misslyckade försök', interval: '{confidence} % intervall från {lower} till {upper}, n = {n}', judged: '{judged} av {planned} planerade försök bedömda', lost: '{n} saknas', noInterval: 'n = {n}, inget intervall: {status}',
  agreeCases: 'n = {n} fall, {values} {of}', agreeTasks: 'n = {n} uppgifter, {values} {of}', labelsOf: 'n = {n} etiketter, av {tasks} uppgifter', labelsElsewhere: 'n = {n} etiketter som gjorts på annat håll, för {tasks} uppgifter', agreeText: 'Försök på samma uppgift stämmer överens, så intervallet räknar ett av dem',
  unseen: 'Ett tecken som inte syns: det har ingen bredd eller vänder textens riktning', claim_better: 'bättre', claim_worse: 'sämre', claim_none: 'inget att påstå', claim_incomparable: 'går inte att jämföra', newest100: 'De 100 senaste visas.',
  pass: 'Rätt', fail: 'Fel', error: 'Tekniskt fel', not_run: 'Ej körd', rows: '{n} rader', ofRows: '{n} av {total}', justNow: 'nyss',
};
