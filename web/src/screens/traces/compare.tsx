// Compares a collection with another or with a run: differences paired by task.
import { Badge, Box, Group, Stack, Table, Text } from '@mantine/core';
import { $api, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Figure } from '../../ui/interval';
import { Card, Estimates } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { ChangeFigure } from '../../ui/change';
import { number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { BaselineSelect, baselineOf } from './baseline';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

export function CompareTab({ id }: { id: string }) {
  const t = useText();
  const [baseline, setBaseline] = useParam('baseline');
  const diff = $api.useQuery(
    'get',
    '/api/traces/{id}/diff',
    { params: { path: { id }, query: baselineOf(baseline) } },
    { enabled: baseline !== '', retry: false },
  );
  return (
    <Stack>
      <BaselineSelect id={id} value={baseline} onChange={setBaseline} />
      {baseline === '' ? (
        <Empty title={t('traces.compare')} text={t('traces.compareText')} />
      ) : diff.error ? (
        <Failure of={diff.error} retry={() => diff.refetch()} />
      ) : diff.data ? (
        <Differences of={diff.data} />
      ) : (
        <Loading />
      )}
    </Stack>
  );
}

function Differences({ of }: { of: Schemas['Comparison'] }) {
  const t = useText();
  return (
    <>
      {of.assumed && (
        <Text size="xs" c="dimmed">
          {of.assumed}
        </Text>
      )}
      <Estimates of={of.estimates} />
      {of.warnings?.map((w, i) => (
        <Text key={i} size="sm" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
          {w}
        </Text>
      ))}
      {(of.targets ?? []).map((target, i) => (
        <Card
          key={i}
          title={t('traces.targetPair', {
            candidate: target.candidate || t('traces.candidate'),
            baseline: target.baseline || t('traces.baseline'),
          })}
          actions={<ChangeWord of={target.overall.verdict} />}
        >
          <DataTable
            label={t('traces.compare')}
            miw={720}
            heads={[
              t('traces.metric'),
              t('traces.baseline'),
              t('traces.candidate'),
              t('traces.change'),
              t('traces.verdict'),
            ]}
          >
            <Row name="pass_rate" unit="rate" of={target.overall} />
            {target.metrics?.map((m) => (
              <Row
                key={m.metric}
                name={m.metric}
                unit={m.unit}
                of={m.overall}
                relative={m.relative}
                lower={m.lower_is_better}
              />
            ))}
          </DataTable>
          <Text size="xs" c="dimmed" mt="xs">
            {t('traces.paired', { n: number(target.overall.cases) })}
          </Text>
          {(target.changes ?? []).length > 0 ? (
            <Box mt="md">
              <Text fw={600} size="sm" mb={4}>
                {t('traces.changed')}
              </Text>
              <DataTable
                label={t('traces.changed')}
                height={320}
                heads={[
                  t('traces.task'),
                  t('traces.kind'),
                  { title: t('traces.baseline'), right: true },
                  { title: t('traces.candidate'), right: true },
                ]}
              >
                {target.changes!.slice(0, 200).map((c) => (
                  <Table.Tr key={c.case}>
                    <Table.Td className={common.untrusted}>{c.case}</Table.Td>
                    <Table.Td>
                      {t(`traces.kind_${c.kind as 'newly_failing' | 'newly_passing' | 'less_often' | 'more_often'}`)}{' '}
                      {c.stability && <Badge color="gray">{c.stability}</Badge>}
                    </Table.Td>
                    <FigureCell>
                      {c.baseline_passes}/{c.baseline_n}
                    </FigureCell>
                    <FigureCell>
                      {c.candidate_passes}/{c.candidate_n}
                    </FigureCell>
                  </Table.Tr>
                ))}
              </DataTable>
            </Box>
          ) : (
            <Text size="sm" mt="xs">
              {t('traces.noChanges')}
            </Text>
          )}
        </Card>
      ))}
      {(of.unpaired_baseline ?? []).length > 0 && (
        <Text size="sm" c="dimmed" className={common.untrusted}>
          {t('traces.onlyBaseline', { names: of.unpaired_baseline!.join(', ') })}
        </Text>
      )}
      {(of.unpaired_candidate ?? []).length > 0 && (
        <Text size="sm" c="dimmed" className={common.untrusted}>
          {t('traces.onlyHere', { names: of.unpaired_candidate!.join(', ') })}
        </Text>
      )}
    </>
  );
}

function Row({
  name,
  unit,
  of,
  relative,
  lower,
}: {
  name: string;
  unit: string;
  of: Schemas['PanelDifference'];
  relative?: boolean;
  lower?: boolean;
}) {
  const t = useText();
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={6}>
          <span className={common.mono}>{name}</span>
          {lower && (
            <Text span size="xs" c="dimmed">
              {t('traces.lower')}
            </Text>
          )}
        </Group>
      </Table.Td>
      <Table.Td>
        <Figure interval={of.baseline} unit={unit} />
      </Table.Td>
      <Table.Td>
        <Figure interval={of.candidate} unit={unit} />
      </Table.Td>
      <Table.Td>
        <ChangeFigure of={of.change} relative={relative} />
      </Table.Td>
      <Table.Td>
        <ChangeWord of={of.verdict} />
      </Table.Td>
    </Table.Tr>
  );
}

function ChangeWord({ of }: { of: string }) {
  const tone = of === 'better' ? 'pass' : of === 'worse' ? 'fail' : 'none';
  return <Badge style={{ color: `var(--cv-${tone})`, background: `var(--cv-${tone}-ground)` }}>{of}</Badge>;
}
