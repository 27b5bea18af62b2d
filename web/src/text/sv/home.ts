import type { home as english } from '../en/home';

export const home: typeof english = {
  title: 'Hem', recent: 'Senaste körningar', allRuns: 'Alla körningar', running: 'Pågår nu', changed: 'Vad som ändrats', newRun: 'Ny körning', nowhere: 'en svit på kommandoraden', passRate: 'andel rätt', score: 'poäng', otherTargets: 'och {n} till', average: 'medelpoäng {score}',
  since: 'mot körningen före', baseline: 'mot baslinjen', unchangedText: 'När en modell har körts två gånger på en svit visas här hur dess andel rätt har ändrats, parvis per fall, med intervall.',
  compare: 'Jämför', status_running: 'pågår', status_queued: 'väntar', status_cancelled: 'avbruten av användaren', status_interrupted: 'avbruten', status_failed: 'misslyckad', status_budget: 'budgeten slut', floor: 'golv',
  first: 'Se ett första resultat på en minut', firstText: 'Exempelsviten har fyra fall om väder och flyg. offline/lexical, som anropar verktyg utan språkmodell, svarar på dem här: ingen nyckel, inget nät, ingen kostnad. Det är baslinjen som varje modell bör slå.',
  runExample: 'Kör exemplet', ownSuite: 'Ta med en egen svit', keys: 'Lägg till en leverantörs nyckel', noRuns: 'Inga körningar ännu', noRunsText: 'Här visas körningar från kommandoraden (callvet run) och från servern.', follow: 'Följ den',
};
