import { Badge, Box, Button, Collapse, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { Fragment, useState } from 'react';
import { Link } from 'react-router';
import { useText } from '../../text';
import { Figure } from '../../ui/interval';
import { Card } from '../../ui/page';
import { number } from '../../ui/format';
import { FindingsTab } from './findings';
import {
  caseLink,
  Caveats,
  withSpaces,
  type Metric,
  metricOf,
  type Report,
  type TargetPanel,
  VerdictBar,
  writeFilters,
} from './parts';
import { DataTable, PlainTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

// The main measures, in the order of the table.
const main: [string, ...string[]][] = [
  ['pass_rate'],
  ['overall'],
  ['tool_selection', 'tool_selection_by_call'],
  ['arg_accuracy'],
  ['latency_p50'],
  ['cost_per_attempt'],
];

export function OverviewTab({ run, report: d }: { run: string; report: Report }) {
  const t = useText();
  const targets = d.panels.targets ?? [];
  const shown = main.filter((names) => targets.some((p) => metricOf(p.overall.metrics, ...names)));
  return (
    <Stack gap="lg">
      <Card title={t('results.measures')}>
        <DataTable
          label={t('results.measures')}
          verticalSpacing="xs"
          heads={[
            t('results.target'),
            t('results.verdicts'),
            ...shown.map((names) => ({
              key: names[0],
              title: targets.map((p) => metricOf(p.overall.metrics, ...names)?.title).find(Boolean),
            })),
          ]}
        >
          {targets.map((p) => (
            <Table.Tr key={p.name}>
              <Table.Th scope="row" className={common.name}>
                <Link
                  to={`/runs/${encodeURIComponent(run)}?tab=attempts&${writeFilters({ target: [p.name] })}`}
                  className={common.untrusted}
                >
                  {p.name}
                </Link>{' '}
                {p.floor && (
                  <Badge size="xs" color="gray">
                    {t('results.floor')}
                  </Badge>
                )}
              </Table.Th>
              <Table.Td>
                <VerdictBar of={p.overall.verdicts} width={72} />
              </Table.Td>
              {shown.map((names) => (
                <Table.Td key={names[0]}>
                  <MetricCell of={metricOf(p.overall.metrics, ...names)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </DataTable>
        <AllMeasures targets={targets} />
      </Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Classes run={run} targets={targets} />
        <Examples run={run} report={d} />
      </SimpleGrid>
      {(d.panels.findings?.length ?? 0) > 0 && <FindingsTab run={run} report={d} most={2} />}
    </Stack>
  );
}

/** MetricCell is a measure with whisker and warnings. */
export function MetricCell({ of: m }: { of: Metric | undefined }) {
  const t = useText();
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Figure interval={m?.interval} of={m} unit={m?.unit} bar stack />
      <Caveats of={m?.warnings} />
      {(m?.excluded ?? 0) > 0 && (
        <Text span size="xs" c="dimmed" className={common.num}>
          {t('results.leftOut', { n: m!.excluded! })}
        </Text>
      )}
    </Group>
  );
}

/** AllMeasures shows the task panel and the step panel: every measure that has a value, one column per target. */
function AllMeasures({ targets }: { targets: TargetPanel[] }) {
  const t = useText();
  const [open, setOpen] = useState(false);
  const groups: [string, (m: Metric) => boolean][] = [
    [t('results.tasks'), (m) => ['attempts', 'tasks', 'no-call attempts', 'labels'].includes(m.of)],
    [t('results.steps'), (m) => ['calls', 'needed calls', 'steps'].includes(m.of)],
    [t('results.other'), () => true],
  ];
  const names = [
    ...new Map(
      targets
        .flatMap((p) => p.overall.metrics ?? [])
        .filter((m) => m.interval.point !== null)
        .map((m) => [m.name, m]),
    ).values(),
  ];
  const taken = new Set<string>();
  return (
    <Box mt="xs">
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        leftSection={open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
      >
        {t('results.allMeasures')} ({names.length})
      </Button>
      <Collapse expanded={open}>
        {open && (
          <DataTable
            label={t('results.allMeasures')}
            mt="xs"
            heads={[
              t('results.measure'),
              ...targets.map((p) => ({ key: p.name, title: p.name, className: common.untrusted })),
            ]}
          >
            {groups.map(([title, fits]) => {
              const list = names.filter((m) => !taken.has(m.name) && fits(m));
              for (const m of list) taken.add(m.name);
              if (list.length === 0) return null;
              return (
                <Fragment key={title}>
                  <Table.Tr>
                    <Table.Th colSpan={targets.length + 1} scope="colgroup" c="dimmed" fw={600}>
                      {title}
                    </Table.Th>
                  </Table.Tr>
                  {list.map((m) => (
                    <Table.Tr key={m.name}>
                      <Table.Th scope="row" fw={400} title={m.name}>
                        {m.title}
                        {m.lower_is_better && (
                          <Text span size="xs" c="dimmed">
                            {' '}
                            {t('results.lowerBetter')}
                          </Text>
                        )}
                      </Table.Th>
                      {targets.map((p) => (
                        <Table.Td key={p.name}>
                          <MetricCell of={p.overall.metrics?.find((x) => x.name === m.name)} />
                        </Table.Td>
                      ))}
                    </Table.Tr>
                  ))}
                </Fragment>
              );
            })}
          </DataTable>
        )}
      </Collapse>
    </Box>
  );
}

/** Classes counts failures by class; each class leads to its attempts. */
function Classes({ run, targets }: { run: string; targets: TargetPanel[] }) {
  const t = useText();
  const models = targets.filter((p) => !p.floor);
  const list = (models.length > 0 ? models : targets)
    .flatMap((p) => (p.overall.classes ?? []).filter((c) => c.n > 0).map((c) => ({ target: p.name, ...c })))
    .sort((a, b) => b.n - a.n);
  const most = list[0]?.n ?? 1;
  const several = new Set(list.map((c) => c.target)).size > 1;
  const reasons = new Map<string, number>();
  for (const r of (models.length > 0 ? models : targets).flatMap((p) => p.overall.reasons ?? []))
    reasons.set(r.reason, (reasons.get(r.reason) ?? 0) + r.n);
  return (
    <Card title={t('results.classes')}>
      {list.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('results.noErrors')}
        </Text>
      ) : (
        <PlainTable
          verticalSpacing={4}
          layout="fixed"
          heads={[t('results.errorClass'), { title: t('results.attempts'), w: 130 }]}
        >
          {list.slice(0, 12).map((c) => (
            <Table.Tr key={`${c.target} ${c.name}`}>
              <Table.Td>
                <Link
                  to={`/runs/${encodeURIComponent(run)}?tab=attempts&${writeFilters({ class: [c.name], target: [c.target] })}`}
                >
                  {withSpaces(c.name)}
                </Link>
                {several && (
                  <Text size="xs" c="dimmed" className={common.untrusted} lineClamp={1} title={c.target}>
                    {c.target}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Group gap={8} wrap="nowrap" className={common.num}>
                  <svg width={72} height={8} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
                    <rect width={(c.n / most) * 72} height={8} rx={2} fill="var(--cv-fail)" />
                  </svg>
                  {number(c.n)}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
      )}
      {reasons.size > 0 && (
        <Text size="sm" mt="sm" data-reasons>
          {t('results.reasonsAre')}{' '}
          {[...reasons].map(([name, n], i) => (
            <span key={name}>
              {i > 0 && ', '}
              <Link to={`/runs/${encodeURIComponent(run)}?tab=attempts&${writeFilters({ reason: [name] })}`}>
                {withSpaces(name)}
              </Link>{' '}
              {number(n)}
            </span>
          ))}
        </Text>
      )}
    </Card>
  );
}

/** Examples shows the tasks with the highest and the lowest measurements, with the server's names. */
function Examples({ run, report: d }: { run: string; report: Report }) {
  const t = useText();
  const list = d.panels.examples ?? [];
  return (
    <Card title={t('results.traces')}>
      {list.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('results.noTraces')}
        </Text>
      )}
      {(['weakest', 'lowest', 'strongest', 'highest'] as const).map((kind) => {
        const some = list.filter((e) => e.kind === kind).slice(0, 4);
        if (some.length === 0) return null;
        return (
          <Box key={kind} mb="sm">
            <Text size="sm" fw={600} mb={4}>
              {t(`results.${kind}`)}
            </Text>
            <Stack gap={4}>
              {some.map((e, i) => (
                <Box key={i}>
                  <Link
                    to={caseLink(run, { case: e.task, target: e.target, repeat: e.attempt })}
                    className={common.untrusted}
                  >
                    <Text span size="sm">
                      {e.task}
                      {e.attempt ? ` #${e.attempt + 1}` : ''}
                    </Text>
                  </Link>{' '}
                  <Text span size="xs" c="dimmed" className={common.untrusted}>
                    {e.target} · {e.why}
                  </Text>
                </Box>
              ))}
            </Stack>
          </Box>
        );
      })}
    </Card>
  );
}
