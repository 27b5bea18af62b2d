export const common = {
  save: 'Save', cancel: 'Cancel', close: 'Close', delete: 'Delete', edit: 'Edit', add: 'Add', retry: 'Try again', undo: 'Undo', copy: 'Copy', copied: 'Copied',
  search: 'Search', filter: 'Filter', all: 'All', none: 'None', yes: 'Yes', no: 'No', name: 'Name', created: 'Created', updated: 'Updated', more: 'Load more', loading: 'Loading…',
  download: 'Download', upload: 'Upload', back: 'Back', next: 'Next', previous: 'Previous', shared: 'Shared', mine: 'Yours', actions: 'Actions', status: 'Status', owner: 'Owner',
  notFound: 'Not found', notFoundText: 'There is nothing at this address, or you may not see it.', readOnly: 'Read only', unknown: 'not known', fact: 'as recorded, no interval', notScored: 'not scored',
  deleted: '{what} deleted', failed: 'That did not work', interval: '{confidence} % interval from {lower} to {upper}, n = {n}', noInterval: 'n = {n}, no interval: {status}', found: '{n} of {of} {unit}', foundFailing: '{n} of {of} failing attempts', judged: '{judged} of {planned} planned attempts judged', lost: '{n} lost', agreeCases: 'n = {n} cases, {values} {of}', agreeTasks: 'n = {n} tasks, {values} {of}', labelsOf: 'n = {n} labels, of {tasks} tasks', labelsElsewhere: 'n = {n} labels made elsewhere, for {tasks} tasks', agreeText: 'Attempts at the same task agree, so that the interval counts one of them',
  pass: 'Pass', fail: 'Fail', error: 'Error', not_run: 'Not run', rows: '{n} rows', ofRows: '{n} of {total}', newest100: 'The newest 100 are shown.', justNow: 'just now',
};
