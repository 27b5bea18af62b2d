// The score sheet of a collection: steps, tasks, findings, slices. All numbers are the server's.
import {
  Badge,
  Box,
  Button,
  Group,
  List,
  Menu,
  NativeSelect,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  TagsInput,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Figure, inUnit, type Metric } from '../../ui/interval';
import { Card, Estimates } from '../../ui/page';
import { Failure, Notice, Loading } from '../../ui/status';
import { FindingCount } from '../../ui/verdict';
import { CodeEditor } from '../../ui/code';
import { number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { download } from '../../ui/download';
import { notifyFailure } from '../../ui/notify';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

const reports = ['html', 'md', 'csv', 'json', 'txt'] as const;

export function ScoresTab({ id }: { id: string }) {
  const t = useText();
  const [suite, setSuite] = useParam('suite');
  const [slices, setSlices] = useParam('slices');
  const [labels, setLabels] = useParam('labels');
  const [options, setOptions] = useState(false);
  const [tools, setTools] = useState('');
  const [used, setUsed] = useState<unknown>(undefined);
  const [bad, setBad] = useState('');
  const suites = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 200 } } },
    { enabled: options || suite !== '' },
  );
  const keys = slices === '' ? [] : slices.split(',');
  const body: Schemas['ScoreAsk'] = {
    traces_id: id,
    ...(suite ? { suite_id: suite } : {}),
    ...(keys.length ? { slices: keys } : {}),
    ...(labels ? { labels: true } : {}),
    ...(used !== undefined ? { tools: used } : {}),
  };
  const sheet = $api.useQuery('post', '/api/score', { body }, { retry: false });
  const takeTools = () => {
    setBad('');
    if (tools.trim() === '') return setUsed(undefined);
    try {
      setUsed(JSON.parse(tools));
    } catch (e) {
      setBad(t('traces.toolsBad', { why: e instanceof Error ? e.message : String(e) }));
    }
  };
  const report = async (format: (typeof reports)[number]) => {
    try {
      const file = unwrap(
        await api.POST('/api/score/report', { params: { query: { format } }, body, parseAs: 'blob' }),
      ) as unknown as Blob;
      download(`${id}.${format}`, file);
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Text size="sm" className={common.untrusted}>
          {sheet.data && <Sentence of={sheet.data} />}
        </Text>
        <Group gap="xs">
          <Button variant="default" onClick={() => setOptions(!options)} aria-expanded={options}>
            {t('traces.options')}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default">{t('traces.report')}</Button>
            </Menu.Target>
            <Menu.Dropdown>
              {reports.map((f) => (
                <Menu.Item key={f} onClick={() => report(f)}>
                  {t('traces.reportAs', { form: f })}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
      {options && (
        <Card title={t('traces.scoreTitle')}>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Stack>
              <Select
                label={t('traces.suite')}
                placeholder={t('traces.suiteNone')}
                clearable
                searchable
                value={suite || null}
                onChange={(v) => setSuite(v)}
                data={(suites.data?.items ?? []).map((s) => ({ value: s.id, label: s.name }))}
              />
              <TagsInput
                label={t('traces.slices')}
                description={t('traces.slicesHint')}
                value={keys}
                onChange={(v) => setSlices(v.join(','))}
                acceptValueOnBlur
              />
              <Switch
                label={t('traces.labels')}
                checked={labels !== ''}
                onChange={(e) => setLabels(e.currentTarget.checked ? 'yes' : null)}
              />
            </Stack>
            <div>
              <Text size="sm" fw={500}>
                {t('traces.tools')}
              </Text>
              <Text size="xs" c="dimmed" mb={4}>
                {t('traces.toolsHint')}
              </Text>
              <CodeEditor label={t('traces.tools')} language="json" height={150} value={tools} onChange={setTools} />
              {bad && (
                <Text size="sm" role="alert" style={{ color: 'var(--cv-fail)' }}>
                  {bad}
                </Text>
              )}
              <Button mt="xs" size="compact-sm" variant="default" onClick={takeTools}>
                {t('traces.rescore')}
              </Button>
            </div>
          </SimpleGrid>
        </Card>
      )}
      {sheet.error ? (
        <Failure of={sheet.error} retry={() => sheet.refetch()} />
      ) : sheet.data ? (
        <Sheet id={id} of={sheet.data} />
      ) : (
        <Loading />
      )}
    </Stack>
  );
}

function Sentence({ of }: { of: Schemas['ScoreSheet'] }) {
  const t = useText();
  const tasks = (of.panels.targets ?? []).reduce((n, x) => n + x.overall.cases, 0);
  return (
    <>
      {t('traces.sentence', { steps: number(of.steps), tasks: number(tasks) })}
      {of.malformed_lines > 0 && `; ${t('traces.lostN', { n: number(of.malformed_lines) })}`}
    </>
  );
}

function Sheet({ id, of }: { id: string; of: Schemas['ScoreSheet'] }) {
  const t = useText();
  const { panels } = of;
  const targets = panels.targets ?? [];
  const places = (panels.lost?.first ?? []).map((r) => `${placeOf(r)}: ${r.reason}`); // shown as lost
  const notes = [
    ...of.notes.map((n) => n.text),
    ...(panels.warnings ?? []),
    ...of.problems.filter((p) => !places.includes(p)),
  ];
  return (
    <>
      <Estimates of={of.estimates} />
      {panels.lost && <LostRecords of={panels.lost} />}
      {notes.length > 0 && (
        <Card title={t('traces.notes')}>
          <Stack gap={4}>
            {notes.map((x, i) => (
              <Text key={i} size="sm" className={common.untrusted}>
                {x}
              </Text>
            ))}
          </Stack>
        </Card>
      )}
      <Findings of={panels.findings ?? []} />
      {targets.map((target, i) => (
        <Target key={i} of={target} alone={targets.length === 1} />
      ))}
      <Extremes id={id} of={(panels.examples ?? []).filter((e) => e.kind)} />
    </>
  );
}

/** LostRecords shows the records that count in no number, the first ones with their places. */
function LostRecords({ of }: { of: Schemas['PanelLost'] }) {
  const t = useText();
  const first = of.first ?? [];
  return (
    <Notice title={t('traces.lostTitle', { n: number(of.count) })}>
      <Text size="sm">{t('traces.lostText')}</Text>
      <List size="sm" mt={4}>
        {first.map((r, i) => (
          <List.Item key={i} className={common.untrusted}>
            {placeOf(r) && <span className={common.mono}>{placeOf(r)} </span>}
            {r.reason}
          </List.Item>
        ))}
      </List>
      {of.count > first.length && <Text size="sm">{t('traces.lostMore', { n: number(of.count - first.length) })}</Text>}
    </Notice>
  );
}

/** placeOf returns the file and the line of a lost record, as far as they are known. */
function placeOf(r: Schemas['PanelLostRecord']): string {
  return [r.file, r.line > 0 ? String(r.line) : ''].filter(Boolean).join(':');
}

const byTask = '_by_task';

/** Target shows the panels of one target: measures by call with their companions by task, then all others. */
function Target({ of, alone }: { of: Schemas['PanelTargetPanel']; alone: boolean }) {
  const t = useText();
  const all = of.overall.metrics ?? [];
  const known = all.filter((m) => m.interval.point !== null && !m.name.endsWith(byTask));
  const steps = known.filter((m) => m.of === 'calls');
  const tasks = known.filter((m) => m.of !== 'calls');
  const prefix = alone || !of.name ? '' : `${of.name}: `;
  return (
    <>
      {steps.length > 0 && (
        <Card title={`${prefix}${t('traces.steps')}`}>
          <Panel label={`${prefix}${t('traces.steps')}`} metrics={steps} companions={all} />
        </Card>
      )}
      {tasks.length > 0 && (
        <Card title={`${prefix}${t('traces.tasks')}`}>
          <Panel label={`${prefix}${t('traces.tasks')}`} metrics={tasks} companions={all} />
        </Card>
      )}
      <Slices of={of} title={`${prefix}${t('traces.sliceTitle')}`} />
    </>
  );
}

function Panel({ label, metrics, companions }: { label: string; metrics: Metric[]; companions: Metric[] }) {
  const t = useText();
  return (
    <DataTable label={label} miw={560} heads={[{ title: t('traces.metric'), w: '34%' }, t('traces.value')]}>
      {metrics.map((m) => {
        const tasks = companions.find((c) => c.name === m.name.replace(/_by_call$/, '') + byTask);
        return (
          <Table.Tr key={m.name}>
            <Table.Td>
              {m.title}
              {m.lower_is_better && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  · {t('traces.lower')}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Figure interval={m.interval} of={m} each="Tasks" unit={m.unit} bar />{' '}
              <Text span size="xs" c="dimmed">
                {!m.labelled && m.of}
                {m.coverage !== undefined &&
                  m.coverage < 1 &&
                  ` · ${t('traces.labelled', { share: number(m.coverage * 100) })}`}
              </Text>
              {tasks && tasks.interval.point !== null && (
                <Text component="div" size="xs" c="dimmed">
                  {t(tasks.lower_is_better ? 'traces.byTaskWrong' : 'traces.byTask')}{' '}
                  <Figure interval={tasks.interval} of={tasks} each="Tasks" unit={tasks.unit} />
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        );
      })}
    </DataTable>
  );
}

function Slices({ of, title }: { of: Schemas['PanelTargetPanel']; title: string }) {
  const t = useText();
  const slices = of.slices ?? [];
  const names = [
    ...new Set(slices.flatMap((s) => (s.metrics ?? []).filter((m) => m.interval.point !== null).map((m) => m.name))),
  ];
  const [wanted, setWanted] = useParam('measure');
  const name = names.includes(wanted) ? wanted : names.includes('pass_rate') ? 'pass_rate' : names[0];
  if (slices.length === 0 || !name) return null;
  const titleOf = (n: string) => of.overall.metrics?.find((m) => m.name === n)?.title ?? n;
  return (
    <Card
      title={title}
      actions={
        <NativeSelect
          aria-label={t('traces.sliceMeasure')}
          value={name}
          onChange={(e) => setWanted(e.currentTarget.value, { replace: true })}
          data={names.map((n) => ({ value: n, label: titleOf(n) }))}
        />
      }
    >
      <DataTable
        label={title}
        height={480}
        miw={520}
        stickyHeader
        heads={[{ title: t('traces.slice'), w: '34%' }, titleOf(name)]}
      >
        {slices.map((s, i) => {
          const m = s.metrics?.find((x) => x.name === name);
          if (!m || m.interval.point === null) return null;
          const apart = m.versus && (m.versus.worst || m.versus.best || m.versus.p_adjusted < 0.05);
          return (
            <Table.Tr key={i}>
              <Table.Td className={common.untrusted}>
                {s.key}={s.value}
              </Table.Td>
              <Table.Td>
                <Group gap="xs">
                  <Figure interval={m.interval} of={m} each="Tasks" unit={m.unit} bar />
                  {apart && (
                    <Badge
                      style={
                        m.versus!.best
                          ? { color: 'var(--cv-pass)', background: 'var(--cv-pass-ground)' }
                          : { color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }
                      }
                      title={
                        m.versus!.shrunken
                          ? t('results.shrunken', { value: inUnit(m.versus!.shrunken.point!, m.unit) })
                          : t('traces.versus', { p: number(m.versus!.p_adjusted, 4) })
                      }
                    >
                      {t(m.versus!.worst ? 'traces.worst' : m.versus!.best ? 'traces.best' : 'traces.differs')}
                    </Badge>
                  )}
                </Group>
              </Table.Td>
            </Table.Tr>
          );
        })}
      </DataTable>
    </Card>
  );
}

function Findings({ of }: { of: Schemas['PanelFinding'][] }) {
  const t = useText();
  return (
    <Card title={t('traces.findings')}>
      {of.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('traces.findingsNone')}
        </Text>
      )}
      <Stack gap="md">
        {of.map((f) => (
          <Box key={f.code}>
            <Group gap={8} mb={4}>
              <Badge style={{ color: 'var(--cv-fail)', background: 'var(--cv-fail-ground)' }}>{f.code}</Badge>
              <Text fw={600} size="sm">
                {f.title}
              </Text>
              <FindingCount of={f} />
            </Group>
            {(f.evidence ?? []).map((e, i) => (
              <Text key={i} size="sm" className={common.untrusted}>
                {e}
              </Text>
            ))}
            <Text size="sm" c="dimmed" className={common.untrusted}>
              {t('traces.quickTest')}: {f.test}
            </Text>
            <Text size="sm" c="dimmed" className={common.untrusted}>
              {t('traces.fix')}: {f.fix}
            </Text>
          </Box>
        ))}
      </Stack>
    </Card>
  );
}

function Extremes({ id, of }: { id: string; of: Schemas['PanelExample'][] }) {
  const t = useText();
  if (of.length === 0) return null;
  return (
    <Card title={t('traces.extremes')}>
      <DataTable
        label={t('traces.extremes')}
        miw={480}
        heads={[t('traces.kind'), t('traces.task'), t('traces.evidence')]}
      >
        {of.map((e, i) => (
          <Table.Tr key={i}>
            <Table.Td>{t(`traces.${e.kind as 'weakest'}`)}</Table.Td>
            <Table.Td className={common.untrusted}>
              <Link
                to={`/traces/${id}?attempt=${encodeURIComponent(`${e.task}#${e.attempt ?? 0}${e.target ? `@${e.target}` : ''}`)}`}
              >
                {e.task}
              </Link>
            </Table.Td>
            <Table.Td className={common.untrusted}>{e.why}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Card>
  );
}
