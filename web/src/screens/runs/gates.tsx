// Gates to check a run: those of its suite, or saved gates. Viewing stores nothing.
import { Button, Group, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconPencil } from '@tabler/icons-react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { useParam } from '../../ui/params';
import { RunPick } from '../../ui/pick';
import { GateReport } from '../gates/report';

const ofSuite = 'suite';

export function GatesTab({ run, line }: { run: string; line: Schemas['EvalDetails'] }) {
  const t = useText();
  const mayWrite = usePermission('write');
  const [asked, choose] = useParam('gates');
  const [baseline, setBaseline] = useParam('baseline');
  const kept = $api.useQuery('get', '/api/gates', { params: { query: { limit: 200 } } });
  const sets = (kept.data?.items ?? []).map((g) => ({ value: g.id, label: g.name }));
  // Without a text the gates are those that ended the run, or else those of the suite.
  if (line.until_decided) sets.unshift({ value: ofSuite, label: t('results.gatesOfRun') });
  else if (line.suite_gates) sets.unshift({ value: ofSuite, label: t('results.gatesOfSuite') });
  const chosen = asked || (sets[0]?.value ?? '');
  if (asked && kept.data && !sets.some((s) => s.value === asked)) sets.push({ value: asked, label: asked });
  const report = useQuery({
    queryKey: queryKeys.runGates(run, chosen, baseline),
    enabled: chosen !== '',
    retry: false,
    refetchOnMount: 'always',
    queryFn: async () => {
      // Sends the text, not the id: a view must not enter the history of the saved gates.
      const gates =
        chosen === ofSuite
          ? {}
          : { gates: unwrap(await api.GET('/api/gates/{id}', { params: { path: { id: chosen } } })).text };
      return unwrap(
        await api.POST('/api/runs/{id}/gate', {
          params: { path: { id: run } },
          body: { ...gates, ...(baseline ? { baseline_eval_id: baseline } : {}) },
        }),
      );
    },
  });
  const make = mayWrite && (
    <Button component={Link} to={`/gates/new?run=${encodeURIComponent(run)}`} variant="default">
      {t('gates.create')}
    </Button>
  );
  if (kept.error) return <Failure of={kept.error} retry={() => void kept.refetch()} />;
  if (!kept.data) return <Loading />;
  if (sets.length === 0) {
    return (
      <Empty title={t('results.noGates')} text={t('results.noGatesText')}>
        {make}
      </Empty>
    );
  }
  return (
    <Stack>
      <Group align="flex-end" gap="sm">
        <Select
          label={t('results.gateSet')}
          data={sets}
          value={chosen}
          onChange={(v) => v && choose(v)}
          allowDeselect={false}
          searchable
          style={{ flex: '1 1 220px' }}
        />
        <RunPick
          label={t('gates.baseline')}
          description={t('gates.baselineHint')}
          value={baseline}
          onChange={setBaseline}
          except={run}
          clearable
          clearButtonProps={{ 'aria-label': t('results.clear') }}
          style={{ flex: '2 1 260px' }}
        />
        {chosen === ofSuite ? (
          line.suite_id &&
          !line.until_decided && (
            <Button component={Link} to={`/suites/${encodeURIComponent(line.suite_id)}`} variant="default">
              {t('results.openSuite')}
            </Button>
          )
        ) : (
          <Button
            component={Link}
            to={`/gates/${encodeURIComponent(chosen)}?run=${encodeURIComponent(run)}${baseline ? `&baseline=${encodeURIComponent(baseline)}` : ''}`}
            variant="default"
            leftSection={<IconPencil size={16} aria-hidden />}
          >
            {t('results.editGates')}
          </Button>
        )}
        {make}
      </Group>
      <Card title={t('results.gates')}>
        {report.error ? (
          <Failure of={report.error} retry={() => void report.refetch()} />
        ) : report.data ? (
          <GateReport of={report.data} run={run} />
        ) : (
          <Loading />
        )}
      </Card>
    </Stack>
  );
}
