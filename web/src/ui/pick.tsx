// Fields that choose a suite or a run. They request the newest 100; a field shows a note
// if there are more.
import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { $api } from '../api/client';
import { useText } from '../text';
import { moment } from './format';

type PickProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & { value: string; onChange: (id: string) => void };

/** SuitePick chooses a suite by its name, which the server searches. */
export function SuitePick({ value, onChange, ...rest }: PickProps) {
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search, 200);
  const found = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 100, search: asked } } },
    { placeholderData: (before) => before },
  );
  const one = $api.useQuery(
    'get',
    '/api/tool-suites/{id}',
    { params: { path: { id: value } } },
    { enabled: value !== '' },
  );
  const data = (found.data?.items ?? []).map((s) => ({ value: s.id, label: `${s.name} (v${s.version})` }));
  if (value && one.data && !data.some((d) => d.value === value)) data.unshift({ value, label: one.data.name });
  return (
    <Select
      searchable
      data={data}
      value={value || null}
      onChange={(v) => onChange(v ?? '')}
      onSearchChange={(s) => setSearch(data.some((d) => d.label === s) ? '' : s)}
      {...rest}
    />
  );
}

/** RunPick chooses one of the newest runs, of one suite if it is set. */
export function RunPick({ value, onChange, suite, except, ...rest }: PickProps & { suite?: string; except?: string }) {
  const t = useText();
  const found = $api.useQuery('get', '/api/tool-eval/history', {
    params: { query: { limit: 100, ...(suite ? { suite_id: suite } : {}) } },
  });
  const data = (found.data?.items ?? [])
    .filter((r) => r.id !== except)
    .map((r) => ({
      value: r.id,
      label: `${r.suite_name || r.id} · ${(r.models ?? []).join(', ')} · ${moment(r.timestamp)}`,
    }));
  if (value && value !== except && !data.some((d) => d.value === value)) data.unshift({ value, label: value });
  return (
    <Select
      searchable
      data={data}
      value={value || null}
      onChange={(v) => onChange(v ?? '')}
      nothingFoundMessage={found.isPending ? t('common.loading') : t('common.none')}
      description={found.data?.next_cursor ? t('common.newest100') : undefined}
      {...rest}
    />
  );
}
