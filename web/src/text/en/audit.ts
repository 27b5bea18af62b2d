export const audit = {
  lead: 'Who changed what others may do, the newest first. Nothing in the program changes or deletes a line.', when: 'When', who: 'Who', what: 'What', object: 'Object', detail: 'Detail', from: 'From', anyone: 'All users', anything: 'All kinds', nobody: 'no user', user: 'User', kind: 'Kind', none: 'Nothing to show', noneText: 'No line has this user and this kind.', clear: 'Show everything', table: 'Audit log', gone: 'removed user',
};
