export const home = {
  title: 'Home', recent: 'Recent runs', allRuns: 'All runs', running: 'Running now', changed: 'What changed', newRun: 'New run', nowhere: 'a suite of the command line', passRate: 'pass rate', score: 'score', otherTargets: 'and {n} more', average: 'average score {score}',
  since: 'against the run before', baseline: 'against the baseline', unchangedText: 'Once a model has run twice on a suite, the change of its pass rate is here, paired by case, with its interval.',
  compare: 'Compare', status_running: 'running', status_queued: 'waiting', status_cancelled: 'cancelled', status_interrupted: 'interrupted', status_failed: 'failed', status_budget: 'budget spent', floor: 'floor',
  first: 'See a first result in a minute', firstText: 'The example suite has four cases about weather and flights. A caller without a language model, offline/lexical, answers them here: no key, no network, no cost. It is the baseline that any model should beat.',
  runExample: 'Run the example', ownSuite: 'Bring your own suite', keys: 'Add a key of a provider', noRuns: 'No runs yet', noRunsText: 'Runs of the command line (callvet run) and of the server are listed here.', follow: 'Follow it',
};
