import type { shell as english } from '../en/shell';

export const shell: Record<keyof typeof english, string> = {
  home: 'Hem', suites: 'Sviter', runs: 'Körningar', compare: 'Jämför', experiments: 'Experiment', judges: 'Domare och etiketter', lab: 'Verktygsval', safety: 'Uppspelning och säkerhet', gates: 'Grindar', traces: 'Spår',
  jobs: 'Jobb', settings: 'Inställningar', audit: 'Granskningslogg', newRun: 'Ny körning', skip: 'Hoppa till innehållet', menu: 'Meny', account: 'Konto', logout: 'Logga ut', logoutText: 'Utkast till facit, eller etiketter som inte har skickats, finns bara i den här webbläsaren. De försvinner när du loggar ut.', theme: 'Tema', light: 'Ljust', dark: 'Mörkt',
  system: 'Som systemet', language: 'Språk', foundRun: 'Körning', foundSuite: 'Testsvit', foundExperiment: 'Experiment', palette: 'Sök och kommandon', shortcuts: 'Kortkommandon', docs: 'API-dokumentation', live: 'Direkt', connecting: 'Ansluter', lost: 'Förbindelsen bröts. Försöker igen; inget går förlorat.',
  off: 'Inte ansluten', newVersion: 'Servern har en ny version av sidan.', reload: 'Ladda om', crashed: 'Den här delen av sidan slutade fungera', crashedText: 'Det du har sparat är kvar. Ladda om för att fortsätta.',
  go: 'Gå till {where}', noMatch: 'Inget hittades', keysPalette: 'Öppna sök och kommandon', keysHelp: 'Visa den här listan', keysGo: 'sedan en bokstav: gå till en vy', keysTable: 'Flytta i en tabell', keysOpen: 'Öppna raden', keysBack: 'Stäng eller gå tillbaka',
  login: 'Logga in', user: 'Användarnamn', password: 'Lösenord', repeatPassword: 'Samma lösenord igen', different: 'Lösenorden är inte lika.', wrong: 'Namnet eller lösenordet är fel.',
  claimFirst: 'Skapa den första administratören', claimInvite: 'Välj ett lösenord', claimText: 'Länken kan användas en gång. Lösenordet ska ha minst 12 tecken.', claimName: 'Ditt användarnamn', claimNameHint: 'För den första administratören. Den som är inbjuden har redan ett namn och lämnar fältet tomt.',
  viewOpening: 'Öppnar lagret…', viewFailed: 'Länken är använd eller hör till en tidigare start. Starta callvet view igen för att få en ny.', loggedOut: 'Du är inte längre inloggad. Logga in och fortsätt där du var.', welcome: 'callvet',
  tagline: 'Anropar modellen rätt verktyg, med rätt argument, på ett säkert sätt?', viewMode: 'Endast läsning: callvet view', noAccess: 'Endast administratörer',
};
