import type { conversation as english } from '../en/conversation';

export const conversation: typeof english = {
  label: 'Samtal', system: 'System', user: 'Användare', assistant: 'Modell', tool: 'Verktyg', reasoning: 'Resonemang', arguments: 'Argument', unreadable: 'Argument som inte gick att läsa', result: 'Resultat', error: 'Fel',
  noArguments: 'inga argument', notExecuted: 'inte utfört', ok: 'ok', rejected_by_contract: 'avvisat av schemat', exec_error: 'misslyckades', timeout: 'tog för lång tid', repairs: 'Lagat: {what}', guard: 'Vakt: {rule}, {action}',
  answeredBy: 'besvarat av {env}', showAll: 'Visa alla {n} tecken', showLess: 'Visa mindre', empty: 'Ingen har spelat in vad som sades.', timeline: 'Anrop över tid', waited: 'väntade {time}', took: 'tog {time}', noTime: 'ingen tid inspelad',
  nothingSaid: 'Inget sades.',
};
