export const audit = {
  lead: 'Who changed what others may do, the newest first. Nothing in the program changes or deletes a line.', when: 'When', who: 'Who', what: 'What', object: 'Of', detail: 'Detail', from: 'From', anyone: 'Everybody', anything: 'Everything', nobody: 'nobody', user: 'User', kind: 'Kind', none: 'Nothing to show', noneText: 'No line has this user and this kind.', clear: 'Show everything', table: 'Audit log', gone: 'removed user',
};
