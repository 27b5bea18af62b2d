export const conversation = {
  label: 'Conversation', system: 'System', user: 'User', assistant: 'Model', tool: 'Tool', reasoning: 'Reasoning', arguments: 'Arguments', unreadable: 'Arguments that could not be read', result: 'Result', error: 'Error',
  noArguments: 'no arguments', notExecuted: 'not executed', ok: 'ok', rejected_by_contract: 'rejected by contract', exec_error: 'failed', timeout: 'timed out', repairs: 'Repaired: {what}', guard: 'Guard: {rule}, {action}',
  answeredBy: 'answered by {env}', showAll: 'Show all {n} characters', showLess: 'Show less', empty: 'Nobody recorded what was said.', timeline: 'Calls over time', waited: 'waited {time}', took: 'took {time}', noTime: 'no time recorded',
  nothingSaid: 'Nothing was said.',
};
