export const jobs = {
  cancelJob: 'Cancel the job', title: 'Jobs', left: '{time} left', cancel: 'Cancel', cancelling: 'Ending…', open: 'Open', kind: 'What', state: 'State', progress: 'Progress', who: 'Who', when: 'Created', took: 'Took', everyone: 'Jobs of all users', whose: 'Owner',
  states: 'States', any: 'Any state', pending: 'Being prepared', queued: 'Waiting', running: 'Running', done: 'Done', failed: 'Failed', cancelled: 'Cancelled', interrupted: 'Interrupted',
  tool_eval: 'Run', judge: 'Judging', other: 'Job', noJobs: 'No jobs', noJobsText: 'Runs and judgings that you start are jobs. They are listed here while they go on, and when they are over.', noneOf: 'No job has this state.',
  lead: 'They go on when you leave the page, and after a restart of the server.', runOf: 'Run of {what}', judgeOf: 'Judging by {what}', resultsOf: 'See the results', resultsSoFar: 'Results so far', runAgain: 'New run of this suite',
  waits: 'It waits for its turn. Two jobs of a user run at the same time, unless an admin set another number.', resumes: 'The server ended while it ran. It goes on from the last attempt that was stored.', attempt: 'start {n}',
  models: 'Models', results: 'Results', newest: 'newest first', noResults: 'The first result comes as soon as a model has answered.', case: 'Case', model: 'Model', verdict: 'Verdict', called: 'Called', why: 'Why', latency: 'Time',
  nothingCalled: 'no call', repeat: 'repeat {n}', newestOnly: 'The newest {n} are shown. The results have all.', tookTime: 'took {time}', cameOut: 'What came out', delta: 'Average score {score}: {delta} against the baseline of the experiment: {baseline}.', floor: 'offline baseline', unscored: '{n} without a verdict', warnings: 'Warnings: {n}',
  judgements: 'Judged', noJudged: 'Nothing was judged yet.', confirmCancel: 'Cancel this job?', confirmText: 'Requests in flight end at once. What was answered stays.', keep: 'Let it go on',
  others: 'It is the job of another user: it is read again every two seconds.', kept: 'Its events are not kept any more; the results are.',
};
