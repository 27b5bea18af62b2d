import { Select } from '@mantine/core';
import { $api } from '../../api/client';
import { useText } from '../../text';
import { moment } from '../../ui/format';

/** BaselineSelect chooses another collection, or a run. The value is an id: ids of collections begin with traces_. */
export function BaselineSelect({
  id,
  value,
  onChange,
  none,
}: {
  id: string;
  value: string;
  onChange: (v: string | null) => void;
  none?: string;
}) {
  const t = useText();
  const traces = $api.useQuery('get', '/api/traces', { params: { query: { limit: 200 } } });
  const runs = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 100 } } });
  const groups = [
    {
      group: t('shell.traces'),
      items: (traces.data?.items ?? []).filter((c) => c.id !== id).map((c) => ({ value: c.id, label: c.name })),
    },
    {
      group: t('shell.runs'),
      items: (runs.data?.items ?? [])
        .filter((r) => r.status === 'done')
        .map((r) => ({ value: r.id, label: `${r.suite_name} · ${moment(r.timestamp)}` })),
    },
  ];
  const known = groups.some((g) => g.items.some((i) => i.value === value));
  return (
    <Select
      label={t('traces.compareWith')}
      placeholder={none ?? t('traces.pick')}
      searchable
      clearable
      value={value || null}
      onChange={onChange}
      w="100%"
      maw={420}
      data={value && !known ? [...groups, { group: '…', items: [{ value, label: value }] }] : groups}
    />
  );
}

/** baselineOf returns the baseline for a request of the API. */
export function baselineOf(value: string): { baseline_traces_id?: string; baseline_eval_id?: string } {
  if (!value) return {};
  return value.startsWith('traces_') ? { baseline_traces_id: value } : { baseline_eval_id: value };
}
