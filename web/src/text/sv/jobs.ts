import type { jobs as english } from '../en/jobs';

export const jobs: typeof english = {
  cancelJob: 'Avbryt jobbet', title: 'Jobb', left: '{time} kvar', cancel: 'Avbryt', cancelling: 'Avslutar…', open: 'Öppna', kind: 'Vad', state: 'Status', progress: 'Förlopp', who: 'Vem', when: 'Skapat', took: 'Tid', everyone: 'Allas jobb', whose: 'Vems',
  states: 'Status', any: 'Alla', pending: 'Förbereds', queued: 'Väntar', running: 'Pågår', done: 'Klart', failed: 'Misslyckat', cancelled: 'Avbrutet av användaren', interrupted: 'Avbrutet',
  tool_eval: 'Körning', judge: 'Bedömning', other: 'Jobb', noJobs: 'Inga jobb', noJobsText: 'Körningar och bedömningar som du startar är jobb. De visas här medan de pågår och när de är klara.', noneOf: 'Inget jobb har den statusen.',
  lead: 'De fortsätter när du lämnar sidan, och efter en omstart av servern.', runOf: 'Körning av {what}', judgeOf: 'Bedömning av {what}', resultsOf: 'Se resultatet', resultsSoFar: 'Resultatet hittills', runAgain: 'Ny körning av sviten',
  waits: 'Det väntar på sin tur. Två jobb per användare körs samtidigt, om inte en administratör har angett ett annat antal.', resumes: 'Servern avslutades medan det pågick. Det fortsätter från det senast sparade försöket.', attempt: 'start {n}',
  models: 'Modeller', results: 'Resultat', newest: 'senaste först', noResults: 'Det första resultatet kommer så snart en modell har svarat.', case: 'Fall', model: 'Modell', verdict: 'Utfall', called: 'Anropat', why: 'Varför', latency: 'Tid',
  nothingCalled: 'inget anrop', repeat: 'upprepning {n}', newestOnly: 'De {n} senaste visas. Resultatet har alla.', tookTime: 'tog {time}', cameOut: 'Vad som kom ut', delta: 'Medelpoäng {score}: {delta} mot experimentets baslinje: {baseline}.', floor: 'baslinje utan modell', unscored: '{n} utan utfall', warnings: 'Varningar: {n}',
  judgements: 'Bedömt', noJudged: 'Inget är bedömt ännu.', confirmCancel: 'Avbryta jobbet?', confirmText: 'Pågående begäranden avslutas genast. Det som besvarats finns kvar.', keep: 'Låt det fortsätta',
  others: 'Det är en annan användares jobb: det läses om varannan sekund.', kept: 'Dess händelser sparas inte längre; resultatet gör det.',
};
