// Agreement of judges with people: sensitivity and specificity of each version, and the pass rate corrected by
// them.
import { Alert, Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Problem, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Figure, type Interval, Whisker } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { Coefficient, JudgeName } from './parts';
import type { Subject } from './labels';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Report = Schemas['LabelsCalibrationReport'];

async function calibrate(of: Subject, judge: string): Promise<Report> {
  const how = { params: { path: { id: of.id } }, body: { judge, width: 0.1 } };
  return unwrap(
    of.kind === 'run'
      ? await api.POST('/api/runs/{id}/calibrate', how)
      : await api.POST('/api/traces/{id}/calibrate', how),
  ).report;
}

export function Calibration({ of }: { of: Subject }) {
  const t = useText();
  const may = usePermission('write');
  const judged = $api.useQuery(
    'get',
    '/api/runs/{id}/verdicts',
    { params: { path: { id: of.id } } },
    { enabled: of.kind === 'run' },
  );
  const judges = $api.useQuery('get', '/api/judges', {}, { enabled: of.kind === 'traces' });
  // A run has ids of its judges; verdicts in traces have only the names of their judges.
  const ids =
    of.kind === 'run'
      ? [
          ...new Set(
            [...(judged.data?.judgings ?? []), ...(judged.data?.majorities ?? [])]
              .filter((j) => j.unit !== 'target' && j.unit !== 'pair')
              .map((j) => j.judge_id),
          ),
        ]
      : (judges.data?.items ?? []).map((j) => j.name);
  const reports = useQueries({
    queries: ids.map((id) => ({
      queryKey: queryKeys.calibration(of, id),
      queryFn: () => calibrate(of, id),
      retry: false,
    })),
  });
  if (judged.error) return <Failure of={judged.error} retry={() => judged.refetch()} />;
  if ((of.kind === 'run' ? !judged.data : !judges.data) || reports.some((r) => r.isPending)) return <Loading />;
  const known = reports.flatMap((r) => (r.data ? [r.data] : []));
  const failed = reports.filter((r) => r.error);
  if (known.length === 0) {
    return (
      <Empty
        title={t('judges.noCalibration')}
        text={ids.length === 0 ? t('judges.noJudgeYet') : t('judges.noLabelsText')}
      >
        {may && (
          <Button component={Link} to={`/label?${of.kind}=${of.id}`}>
            {t('judges.label')}
          </Button>
        )}
      </Empty>
    );
  }
  const people = known.find((r) => r.humans)?.humans;
  return (
    <Stack>
      {of.kind === 'run' && failed.map((r, i) => <Failure key={i} of={r.error as Problem} />)}
      <Card title={t('judges.against_people')}>
        <Text size="sm" c="dimmed" mb="sm">
          {t('judges.plotText')}
        </Text>
        <DataTable
          label={t('judges.against_people')}
          heads={[
            t('judges.judge'),
            t('judges.sensitivity'),
            t('judges.specificity'),
            t('judges.kappa'),
            { title: t('judges.labels'), right: true },
            t('judges.usable'),
          ]}
        >
          {known.map((r) => (
            <Table.Tr key={r.judge_id} data-judge={r.judge_id} style={{ verticalAlign: 'top' }}>
              <Table.Td>
                <JudgeName of={r.judge} id={r.judge_id} />
              </Table.Td>
              <Table.Td>
                <Plotted interval={r.sensitivity} />
              </Table.Td>
              <Table.Td>
                <Plotted interval={r.specificity} />
              </Table.Td>
              <Table.Td>
                <Coefficient of={r.kappa} />
              </Table.Td>
              <FigureCell>{r.counts.labelled}</FigureCell>
              <Table.Td miw={190} maw={280}>
                {r.usable ? (
                  <Badge
                    leftSection={<IconCircleCheck size={14} aria-hidden />}
                    style={{ color: 'var(--cv-pass)', background: 'var(--cv-pass-ground)' }}
                  >
                    {t('judges.isUsable')}
                  </Badge>
                ) : (
                  <Badge
                    leftSection={<IconAlertTriangle size={14} aria-hidden />}
                    style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}
                  >
                    {t('judges.notUsable')}
                  </Badge>
                )}
                {r.why && (
                  <Text size="xs" c="dimmed" mt={2}>
                    {r.why}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
        {known.map(
          (r) =>
            r.wanted &&
            r.wanted.more > 0 && (
              <Text key={r.judge_id} size="sm" c="dimmed" mt="sm">
                <span className={common.untrusted}>{r.judge_id}</span>: {r.wanted.says}
              </Text>
            ),
        )}
        {known
          .flatMap((r) => r.warnings ?? [])
          .map((w) => (
            <Alert key={w} color="yellow" mt="sm" icon={<IconAlertTriangle />}>
              {w}
            </Alert>
          ))}
      </Card>
      <Card title={t('judges.trueSuccess')}>
        <Text size="sm" c="dimmed" mb="sm">
          {t('judges.trueText')}
        </Text>
        <DataTable
          label={t('judges.trueSuccess')}
          heads={[t('judges.judge'), t('judges.target'), t('judges.raw'), t('judges.true')]}
        >
          {known.flatMap((r) =>
            (r.success ?? []).map((s) => (
              <Table.Tr key={`${r.judge_id} ${s.target}`} style={{ verticalAlign: 'top' }} data-success={s.target}>
                <Table.Td miw={130}>
                  <Text size="sm" className={common.untrusted}>
                    {r.judge_id}
                  </Text>
                </Table.Td>
                <Table.Td className={common.untrusted}>{s.target}</Table.Td>
                <Table.Td>
                  <Figure interval={s.raw} bar />
                </Table.Td>
                <Table.Td miw={260}>
                  {s.refused ? <Text size="sm">{s.refused}</Text> : <Figure interval={s.true} bar />}
                  {!s.refused && (s.lost_labels?.n ?? 0) > 0 && (
                    <Text size="xs" c="dimmed" data-lost-labels>
                      {t('judges.lostLabels', { n: s.lost_labels!.n, of: s.lost_labels!.of })}
                    </Text>
                  )}
                  {s.unread > 0 && (
                    <Text size="xs" c="dimmed">
                      {t('judges.unread', { n: s.unread, of: s.judged })}
                    </Text>
                  )}
                  {s.advice && (
                    <Text size="xs" c="dimmed" maw={420}>
                      {s.advice}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            )),
          )}
        </DataTable>
      </Card>
      <Card title={t('judges.betweenPeople')}>
        {people && (people.pairs ?? []).length > 0 ? (
          <Stack gap="xs">
            <Group gap="xs">
              <Text size="sm">{t('judges.alpha')}</Text>
              <Coefficient of={people.alpha} />
            </Group>
            <DataTable
              label={t('judges.betweenPeople')}
              heads={[
                t('judges.person'),
                t('judges.and'),
                { title: t('judges.same'), right: true },
                t('judges.kappa'),
                t('judges.ac1'),
              ]}
            >
              {(people.pairs ?? []).map((p) => (
                <Table.Tr key={`${p.a} ${p.b}`}>
                  <Table.Td className={common.untrusted}>{p.a}</Table.Td>
                  <Table.Td className={common.untrusted}>{p.b}</Table.Td>
                  <FigureCell>{t('common.ofRows', { n: p.same, total: p.n })}</FigureCell>
                  <Table.Td>
                    <Coefficient of={p.kappa} />
                  </Table.Td>
                  <Table.Td>
                    <Coefficient of={p.ac1} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          </Stack>
        ) : (
          <Text size="sm" c="dimmed">
            {t('judges.onePerson')}
          </Text>
        )}
      </Card>
    </Stack>
  );
}

/** Plotted is a rate on a wide axis, with its figures below. */
function Plotted({ interval }: { interval: Interval }): ReactNode {
  return (
    <Stack gap={2}>
      <Whisker interval={interval} width={200} />
      <Figure interval={interval} />
    </Stack>
  );
}
