export const shell = {
  home: 'Hem', suites: 'Sviter', runs: 'Körningar', compare: 'Jämför', experiments: 'Experiment', judges: 'Domare och etiketter', lab: 'Verktygsval', safety: 'Uppspelning och säkerhet', gates: 'Grindar', traces: 'Spår',
  jobs: 'Jobb', settings: 'Inställningar', audit: 'Granskningslogg', newRun: 'Ny körning', skip: 'Hoppa till innehållet', menu: 'Meny', account: 'Konto', logout: 'Logga ut', theme: 'Tema', light: 'Ljust', dark: 'Mörkt',
  system: 'Som systemet', language: 'Språk', palette: 'Sök och kommandon', shortcuts: 'Kortkommandon', docs: 'API-dokumentation', live: 'Direkt', connecting: 'Ansluter', lost: 'Förbindelsen bröts. Försöker igen; inget går förlorat.',
  login: 'Logga in', user: 'Användarnamn', password: 'Lösenord', go: 'Gå till {where}', noMatch: 'Inget hittades', noAccess: 'Endast administratörer',
};
