export const common = {
  save: 'Spara', cancel: 'Avbryt', close: 'Stäng', delete: 'Ta bort', edit: 'Redigera', add: 'Lägg till', retry: 'Försök igen', undo: 'Ångra', copy: 'Kopiera', copied: 'Kopierat',
  search: 'Sök', filter: 'Filter', all: 'Alla', none: 'Inga', yes: 'Ja', no: 'Nej', name: 'Namn', created: 'Skapad', updated: 'Ändrad', more: 'Visa fler', loading: 'Laddar…',
  download: 'Ladda ner', upload: 'Ladda upp', back: 'Tillbaka', next: 'Nästa', previous: 'Föregående', shared: 'Delad', mine: 'Egna', actions: 'Åtgärder', status: 'Status', owner: 'Ägare', notFound: 'Finns inte',
  notFoundText: 'Det finns inget på den här adressen, eller så får du inte se det.', readOnly: 'Endast läsning', unknown: 'okänt', nCases: 'n = {n} fall, {values} {of}', nTasks: 'n = {n} uppgifter, {values} {of}', values: 'värden', attempts: 'försök', fact: 'som inspelat, inget intervall', notScored: 'ej bedömt',
  deleted: '{what} är borttagen', failed: 'Det gick inte', interval: '{confidence} % intervall från {lower} till {upper}, n = {n}', judged: '{judged} av {planned} planerade försök bedömda', lost: '{n} saknas', noInterval: 'n = {n}, inget intervall: {status}',
  pass: 'Rätt', fail: 'Fel', error: 'Tekniskt fel', not_run: 'Ej körd', rows: '{n} rader', ofRows: '{n} av {total}', justNow: 'nyss',
};
