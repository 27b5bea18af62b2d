export const shell = {
  home: 'Home', suites: 'Suites', runs: 'Runs', compare: 'Compare', experiments: 'Experiments', judges: 'Judges & labels', lab: 'Selection lab', safety: 'Replay & safety',
  gates: 'Gates', traces: 'Traces', jobs: 'Jobs', settings: 'Settings', audit: 'Audit', newRun: 'New run', skip: 'Skip to the content', menu: 'Menu', account: 'Account', logout: 'Log out', logoutText: 'Drafts of gold sheets, and labels that were not sent, are only in this browser. Logging out deletes them.',
  theme: 'Theme', light: 'Light', dark: 'Dark', system: 'As the system', language: 'Language', foundRun: 'Run', foundSuite: 'Suite', foundExperiment: 'Experiment', palette: 'Search and commands', shortcuts: 'Keyboard shortcuts', docs: 'API documentation',
  live: 'Live', connecting: 'Connecting', lost: 'Connection lost. Trying again; nothing is lost.', off: 'Not connected', newVersion: 'The server has a new version of this page.', reload: 'Reload',
  crashed: 'This part of the page failed', crashedText: 'What you saved is safe. Reload to go on.', go: 'Go to {where}', noMatch: 'Nothing found',
  keysPalette: 'Open search and commands', keysHelp: 'Show this list', keysGo: 'then a letter: go to a screen', keysTable: 'Move in a table', keysOpen: 'Open the row', keysBack: 'Close, or go back',
  login: 'Log in', user: 'User name', password: 'Password', repeatPassword: 'The same password again', different: 'The two passwords are not the same.', wrong: 'Name or password is wrong.',
  claimFirst: 'Make the first admin', claimInvite: 'Choose a password', claimText: 'The link can be used once. The password needs 12 characters or more.', claimName: 'Your user name', claimNameHint: 'For the first admin. Who was invited has a name, and leaves this empty.', viewOpening: 'Opening the store…',
  viewFailed: 'This link was used, or is of an earlier start. Start callvet view again for a new one.', loggedOut: 'You are not logged in any more. Log in, and go on where you were.', welcome: 'callvet',
  tagline: 'Does the model call the right tool, with the right arguments, safely?', viewMode: 'Read only: callvet view', noAccess: 'Admins only',
};
