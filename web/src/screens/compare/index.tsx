// Two to six runs side by side, or the models of one run. The first run, or the chosen model, is the baseline; the
// others are compared with it, case by case.
import {
  ActionIcon,
  Badge,
  Box,
  Button,
  Group,
  MultiSelect,
  Select,
  Stack,
  Switch,
  Table,
  Text,
  Tooltip,
} from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { type TextKey, useText } from '../../text';
import { Figure, type Interval, inUnit, intervalSentence, sampleSize, Whisker } from '../../ui/interval';
import { Card, Estimates, Page } from '../../ui/page';
import { Empty, Failure, Notice, Loading } from '../../ui/status';
import { moment, number, signed } from '../../ui/format';
import { useParam } from '../../ui/params';
import { type Column, Rows } from '../../ui/table';
import { caseLink, withSpaces, metricOf, type Report, VerdictBar } from '../runs/parts';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Comparison = Schemas['Comparison'];
type Pair = Schemas['PanelTargetComparison'];
type CaseChange = Schemas['PanelCaseChange'];

const most = 6;

export default function ComparePage() {
  const t = useText();
  const navigate = useNavigate();
  const [text] = useParam('runs');
  const [target] = useParam('target');
  const [unchanged, setUnchanged] = useParam('unchanged');
  const ids = useMemo(() => [...new Set(text.split(',').filter(Boolean))].slice(0, most), [text]);
  const reports = useQueries({
    queries: ids.map((id) =>
      $api.queryOptions('get', '/api/runs/{id}', { params: { path: { id } } }, { staleTime: 60_000 }),
    ),
  });
  const lines = useQueries({
    queries: ids.map((id) =>
      $api.queryOptions(
        'get',
        '/api/tool-eval/history/{id}',
        { params: { path: { id }, query: { limit: 0 } } },
        { staleTime: 60_000 },
      ),
    ),
  });
  const suite = lines[0]?.data?.suite_name;
  const list = $api.useQuery(
    'get',
    '/api/tool-eval/history',
    { params: { query: { limit: 200, suite: suite || undefined } } },
    { enabled: ids.length === 0 || lines[0]?.isPending === false },
  );
  const all = unchanged === 'true' || undefined;
  const diffs = useQueries({
    queries: ids.slice(1).map((id) =>
      $api.queryOptions(
        'get',
        '/api/diff',
        {
          params: {
            query: {
              base: ids[0]!,
              candidate: id,
              metrics: ['overall'],
              target: target || undefined,
              unchanged: all,
            },
          },
        },
        { staleTime: 60_000 },
      ),
    ),
  });
  const go = (next: string[], with_ = target) =>
    navigate(
      `/compare${next.length ? `?runs=${next.map(encodeURIComponent).join(',')}` : ''}${with_ && next.length ? `&target=${encodeURIComponent(with_)}` : ''}${all && next.length ? '&unchanged=true' : ''}`,
    );
  const nameOf = (
    id: string,
    r: { name?: string; suite_name: string; timestamp: string } | undefined = lines[ids.indexOf(id)]?.data,
  ) => (r ? `${r.name ? `${r.name} · ` : ''}${r.suite_name} · ${id} · ${moment(r.timestamp)}` : id);
  const others = (list.data?.items ?? []).filter((r) => !ids.includes(r.id) && (!suite || r.suite_name === suite));
  const failed = [...reports, ...diffs].find((q) => q.error);
  const docs = reports.map((q) => q.data).filter((d): d is Report => d !== undefined);
  const ready = docs.length === ids.length;
  const unpaired = diffs.some(
    (q) => (q.data?.targets ?? []).length === 0 && (q.data?.unpaired_candidate ?? []).length > 0,
  );
  const ofModels = ids.length === 1 && (docs[0]?.panels.targets ?? []).length > 1;
  return (
    <Page title={t('shell.compare')} lead={t(ofModels ? 'results.compareModelsLead' : 'results.compareLead')}>
      <Stack gap="sm">
        {ids.map((id, i) => (
          <Group key={id} gap="sm" wrap="nowrap">
            <Badge color={i === 0 ? 'accent' : 'gray'} w={96} style={{ flex: 'none' }}>
              {ofModels ? t('results.runWord') : i === 0 ? t('results.baseline') : t('results.candidate')}
            </Badge>
            <Link to={`/runs/${encodeURIComponent(id)}`} className={common.untrusted}>
              {nameOf(id)}
            </Link>
            {i > 0 && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                style={{ flex: 'none' }}
                aria-label={t('results.makeBaseline', { id })}
                onClick={() => go([id, ...ids.filter((x) => x !== id)])}
              >
                {t('results.baseline')} ↑
              </Button>
            )}
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={t('results.removeRun', { id })}
              onClick={() => go(ids.filter((x) => x !== id))}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="sm" align="flex-end">
          {ids.length < most && (
            <Select
              key={ids.join()}
              label={t('results.addRun')}
              placeholder={t('results.pick')}
              data={others.map((r) => ({ value: r.id, label: nameOf(r.id, r) }))}
              value={null}
              searchable
              w={{ base: '100%', sm: 420 }}
              description={list.data?.next_cursor ? t('results.newest200') : undefined}
              onChange={(v) => v && go([...ids, v])}
            />
          )}
          {(unpaired || target) && ids.length > 1 && docs[0] && (
            <Select
              label={t('results.pairWith')}
              data={(docs[0].targets ?? []).map((x) => x.name)}
              value={target || null}
              onChange={(v) => go(ids, v ?? '')}
              clearable
              clearButtonProps={{ 'aria-label': t('results.clear') }}
              w={{ base: '100%', sm: 300 }}
            />
          )}
        </Group>
        {(ids.length > 1 || ofModels) && (
          <Switch
            label={t('results.alsoUnchanged')}
            checked={all === true}
            onChange={(e) => setUnchanged(e.currentTarget.checked ? 'true' : null)}
          />
        )}
      </Stack>
      {failed && <Failure of={failed.error} retry={() => void failed.refetch()} />}
      {ids.length > 0 && !failed && !ready && <Loading />}
      {ofModels && <Models run={ids[0]!} report={docs[0]!} unchanged={all} />}
      {!ofModels && ids.length < 2 && ready && <Empty title={t('results.pick')} text={t('results.pickText')} />}
      {ids.length >= 2 && ready && (
        <>
          {new Set(docs.map((d) => d.suite.name)).size > 1 && (
            <Notice title={t('results.differentSuites')}>
              <Text size="sm" className={common.untrusted} data-different-suites>
                {t('results.differentSuitesText', {
                  names: docs.map((d, i) => `${ids[i]}: ${d.suite.name}`).join(', '),
                })}
              </Text>
            </Notice>
          )}
          {ids.slice(1).map((id, i) => {
            const c = diffs[i]?.data;
            return c ? (
              <Against
                key={id}
                comparison={c}
                title={ids.length > 2 ? <span className={common.mono}>{id}</span> : t('results.difference')}
                none={t('results.noChanges')}
              />
            ) : (
              !failed && <Loading key={id} />
            );
          })}
          <SideBySide ids={ids} docs={docs} />
          <Differing sides={docs.map((d, i) => ({ name: ids[i]!, settings: settingsOf(d, t('results.targets')) }))} />
        </>
      )}
    </Page>
  );
}

/** Comparing is shown during a long comparison: the size of the comparison and the time so far. */
function Comparing({ attempts }: { attempts: number }) {
  const t = useText();
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const every = setInterval(() => setSeconds((s) => s + 1), 1000);
    return () => clearInterval(every);
  }, []);
  return (
    <Stack gap="xs">
      <Loading />
      {seconds > 0 && (
        <Text size="sm" c="dimmed" className={common.num}>
          {t('results.comparing', { n: number(attempts), s: seconds })}
        </Text>
      )}
    </Stack>
  );
}

/**
 * Models compares the models of one run with a baseline among them, by default the first that is no floor.
 */
function Models({ run, report: d, unchanged }: { run: string; report: Report; unchanged: true | undefined }) {
  const t = useText();
  const [params, set] = useSearchParams();
  const panels = d.panels.targets ?? [];
  const names = panels.map((p) => p.name);
  const base = params.get('base') ?? (panels.find((p) => !p.floor) ?? panels[0]!).name;
  const others = names.filter((n) => n !== base);
  const asked = params.getAll('model').filter((n) => others.includes(n));
  const shown = (asked.length > 0 ? asked : others).slice(0, most);
  const diff = $api.useQuery(
    'get',
    '/api/diff',
    { params: { query: { base: run, base_target: base, metrics: ['overall'], unchanged } } },
    { staleTime: 60_000 },
  );
  const choose = (name: 'base' | 'model', values: string[]) =>
    set(
      (before) => {
        const next = new URLSearchParams(before);
        next.delete(name);
        for (const v of values) next.append(name, v);
        return next;
      },
      { preventScrollReset: true },
    );
  const comparison = diff.data && {
    ...diff.data,
    targets: (diff.data.targets ?? []).filter((p) => shown.includes(p.candidate)),
  };
  const sides = [base, ...shown]
    .flatMap((name) => (d.targets ?? []).filter((x) => x.name === name))
    .map(({ name, ...rest }) => ({
      name,
      settings: new Map(
        Object.entries(rest).map(([k, v]) => [withSpaces(k), typeof v === 'string' ? v : JSON.stringify(v)]),
      ),
    }));
  return (
    <>
      <Group gap="sm" align="flex-end">
        <Select
          label={t('results.baseModel')}
          data={names}
          value={names.includes(base) ? base : null}
          onChange={(v) => v && choose('base', [v])}
          allowDeselect={false}
          w={{ base: '100%', sm: 300 }}
        />
        {others.length > 1 && (
          <MultiSelect
            label={t('results.comparedModels')}
            description={others.length > most ? t('results.atMostModels', { n: most, of: others.length }) : undefined}
            data={others}
            value={shown}
            maxValues={most}
            clearButtonProps={{ 'aria-label': t('results.clear') }}
            onChange={(v) => choose('model', v)}
            w={{ base: '100%', sm: 460 }}
          />
        )}
      </Group>
      {diff.error ? (
        <Failure of={diff.error} retry={() => void diff.refetch()} />
      ) : comparison ? (
        <Against comparison={comparison} title={t('results.difference')} none={t('results.noChangesModels')} />
      ) : (
        <Comparing attempts={panels.reduce((n, p) => n + p.overall.cells, 0)} />
      )}
      <SideBySide ids={[run]} docs={[d]} />
      <Differing sides={sides} />
    </>
  );
}

const tones: Record<string, [string, string]> = {
  better: ['var(--cv-pass)', 'var(--cv-pass-ground)'],
  worse: ['var(--cv-fail)', 'var(--cv-fail-ground)'],
};

/** VerdictOfChange is the server's verdict on a difference, in its words. */
function VerdictOfChange({ of: v }: { of: string }) {
  const [color, background] = tones[v] ?? ['var(--cv-none)', 'var(--cv-none-ground)'];
  return <Badge style={{ color, background }}>{v}</Badge>;
}

/** Difference is a paired difference with its interval: of rates in percentage points, otherwise in its unit. */
function Difference({ of: i, unit = 'rate' }: { of: Interval; unit?: string }) {
  const t = useText();
  if (i.point === null) return <Text c="dimmed">–</Text>;
  const rate = unit === 'rate' || unit === 'share' || unit === 'score' || unit === '';
  const write = (v: number) => (rate ? signed(v) : `${v > 0 ? '+' : ''}${inUnit(v, unit)}`);
  return (
    <Tooltip label={`${intervalSentence(t, i, unit)} (${i.method})`} events={{ hover: true, focus: true, touch: true }}>
      <Box component="span" className={common.num} style={{ display: 'inline-flex', flexDirection: 'column' }}>
        <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
          <Text span fw={600} size="sm">
            {write(i.point)}
          </Text>
          {rate && <Whisker interval={i} domain={[-1, 1]} middle />}
        </span>
        <Text span size="xs" c="dimmed" className={common.numBelow}>
          {i.lower !== null && i.upper !== null && `${write(i.lower)} to ${write(i.upper)} · `}
          {sampleSize(t, i)}
        </Text>
      </Box>
    </Tooltip>
  );
}

type Line = CaseChange & { pair: Pair };

const kinds = ['newly_failing', 'less_often', 'newly_passing', 'more_often', 'both_fail', 'both_pass'];
const kindColors: Record<string, string> = {
  newly_failing: 'var(--cv-fail)',
  less_often: 'var(--cv-fail)',
  newly_passing: 'var(--cv-pass)',
  more_often: 'var(--cv-pass)',
};

/**
 * Against is a comparison with the baseline: the differences, then changed cases, regressions first, then unchanged
 * cases.
 */
function Against({ comparison: c, title, none }: { comparison: Comparison; title: ReactNode; none: string }) {
  const t = useText();
  const navigate = useNavigate();
  const attempts = { of: t('common.attempts') };
  const { baseline: base, candidate } = c;
  const pairs = useMemo(() => c.targets ?? [], [c.targets]);
  const lines = useMemo(
    () =>
      pairs
        .flatMap((pair) => [...(pair.changes ?? []), ...(pair.unchanged ?? [])].map((x): Line => ({ ...x, pair })))
        .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind)),
    [pairs],
  );
  const notes = [...(c.warnings ?? [])];
  if (c.assumed) notes.push(c.assumed);
  if (c.changed?.length) notes.push(t('results.changedText', { names: c.changed.join(', ') }));
  if (c.unpaired_baseline?.length) notes.push(t('results.onlyBaseline', { names: c.unpaired_baseline.join(', ') }));
  if (c.unpaired_candidate?.length) notes.push(t('results.onlyCandidate', { names: c.unpaired_candidate.join(', ') }));
  for (const p of pairs) {
    const n = (p.unchanged ?? []).length;
    if ((p.unchanged_cases ?? 0) > n)
      notes.push(t('results.unchangedCut', { n: number(n), of: number(p.unchanged_cases!), name: p.candidate }));
  }
  const columns: Column<Line>[] = [
    {
      key: 'kind',
      title: t('results.kind'),
      width: 170,
      cell: (l) => (
        <Text span size="sm" fw={600} c={kindColors[l.kind] ?? 'dimmed'}>
          {t(`results.${l.kind}` as TextKey)}
        </Text>
      ),
    },
    {
      key: 'case',
      title: t('results.case'),
      cell: (l) => (
        <Link to={caseLink(candidate, { case: l.case, target: l.pair.candidate })} className={common.untrusted}>
          {l.case}
        </Link>
      ),
    },
    ...(pairs.length > 1
      ? [
          {
            key: 'target',
            title: t('results.target'),
            cell: (l: Line) => (
              <Text size="sm" className={common.untrusted}>
                {l.pair.candidate}
              </Text>
            ),
          },
        ]
      : []),
    {
      key: 'baseline',
      title: t('results.baseline'),
      width: 120,
      cell: (l) => (
        <Link to={caseLink(base, { case: l.case, target: l.pair.baseline })} className={common.num}>
          {t('results.passes', { n: l.baseline_passes, of: l.baseline_n })}
        </Link>
      ),
    },
    {
      key: 'candidate',
      title: t('results.candidate'),
      width: 120,
      cell: (l) => (
        <Link to={caseLink(candidate, { case: l.case, target: l.pair.candidate })} className={common.num}>
          {t('results.passes', { n: l.candidate_passes, of: l.candidate_n })}
        </Link>
      ),
    },
    { key: 'stability', title: '', width: 90, cell: (l) => l.stability && <Badge color="gray">{l.stability}</Badge> },
  ];
  return (
    <Card title={title} id={`against-${candidate}`}>
      <Stack gap="md">
        {pairs.length === 0 && <Text c="dimmed">{t('results.noPairs')}</Text>}
        {pairs.length > 0 && (
          <DataTable
            label={t('results.difference')}
            verticalSpacing="xs"
            heads={[
              t('results.target'),
              t('results.measure'),
              t('results.baseline'),
              t('results.candidate'),
              t('results.change'),
              t('results.verdictText'),
            ]}
          >
            {pairs.flatMap((p) =>
              [{ metric: 'pass_rate', unit: 'rate', overall: p.overall }, ...(p.metrics ?? [])].map((m) => (
                <Table.Tr key={`${p.candidate} ${m.metric}`}>
                  <Table.Th scope="row" fw={m.metric === 'pass_rate' ? 600 : 400} className={common.name}>
                    {p.baseline === p.candidate ? p.candidate : `${p.baseline} → ${p.candidate}`}
                  </Table.Th>
                  <Table.Td>{withSpaces(m.metric)}</Table.Td>
                  <Table.Td>
                    <Figure interval={m.overall.baseline} of={attempts} unit={m.unit} stack />
                  </Table.Td>
                  <Table.Td>
                    <Figure interval={m.overall.candidate} of={attempts} unit={m.unit} stack />
                  </Table.Td>
                  <Table.Td>
                    <Difference of={m.overall.change} unit={m.unit} />
                  </Table.Td>
                  <Table.Td>
                    <Group gap={6} wrap="nowrap">
                      <VerdictOfChange of={m.overall.verdict} />
                      <Text span size="xs" c="dimmed" className={common.num}>
                        {t('results.p', { p: m.overall.p < 0.001 ? '< 0.001' : number(m.overall.p, 3) })}
                      </Text>
                    </Group>
                  </Table.Td>
                </Table.Tr>
              )),
            )}
          </DataTable>
        )}
        <Estimates of={c.estimates} />
        {notes.map((n) => (
          <Text key={n} size="sm" c="dimmed" className={common.untrusted}>
            {n}
          </Text>
        ))}
        {pairs.length > 0 &&
          (lines.length === 0 ? (
            <Text c="dimmed">{none}</Text>
          ) : (
            <Rows
              label={`${t(lines.some((l) => l.kind.startsWith('both_')) ? 'results.allCases' : 'results.changedCases')}: ${candidate}`}
              columns={columns}
              rows={lines}
              idOf={(l) => `${l.pair.candidate} ${l.case}`}
              height={460}
              onOpen={(l) =>
                navigate(caseLink(candidate, { case: l.case, target: l.pair.candidate }), { state: { back: true } })
              }
            />
          ))}
      </Stack>
    </Card>
  );
}

const mainMeasures: [string, ...string[]][] = [
  ['pass_rate'],
  ['overall'],
  ['tool_selection', 'tool_selection_by_call'],
  ['arg_accuracy'],
  ['latency_p50'],
  ['cost_per_attempt'],
];

/** SideBySide has a row for each target of each run, with the main measures. */
function SideBySide({ ids, docs }: { ids: string[]; docs: Report[] }) {
  const t = useText();
  const rows = docs.flatMap((d, i) => (d.panels.targets ?? []).map((p) => ({ id: ids[i]!, p })));
  const shown = mainMeasures.filter((names) => rows.some((r) => metricOf(r.p.overall.metrics, ...names)));
  return (
    <Card title={t('results.sideBySide')}>
      <DataTable
        label={t('results.sideBySide')}
        verticalSpacing="xs"
        heads={[
          t('results.target'),
          t('shell.runs'),
          t('results.verdicts'),
          ...shown.map((names) => ({
            key: names[0],
            title: rows.map((r) => metricOf(r.p.overall.metrics, ...names)?.title).find(Boolean),
          })),
        ]}
      >
        {rows.map(({ id, p }) => (
          <Table.Tr key={`${id} ${p.name}`}>
            <Table.Th scope="row" className={common.name}>
              {p.name}
            </Table.Th>
            <Table.Td className={common.mono}>{id}</Table.Td>
            <Table.Td>
              <VerdictBar of={p.overall.verdicts} width={72} />
            </Table.Td>
            {shown.map((names) => {
              const m = metricOf(p.overall.metrics, ...names);
              return (
                <Table.Td key={names[0]}>
                  <Figure interval={m?.interval} of={m} unit={m?.unit} bar stack />
                </Table.Td>
              );
            })}
          </Table.Tr>
        ))}
      </DataTable>
    </Card>
  );
}

type Side = { name: string; settings: Map<string, string> };

/** settingsOf returns the settings of a run and of its targets. */
function settingsOf(d: Report, title: string): Map<string, string> {
  const all = new Map((d.manifest ?? []).map((f) => [f.name, f.value]));
  all.set(title, (d.targets ?? []).map((x) => x.name).join(', '));
  for (const { name, ...rest } of d.targets ?? []) all.set(name, JSON.stringify(rest));
  return all;
}

/** Differing shows the settings that differ between the runs. */
function Differing({ sides }: { sides: Side[] }) {
  const t = useText();
  const names = [...new Set(sides.flatMap((s) => [...s.settings.keys()]))].filter(
    (n) => new Set(sides.map((s) => s.settings.get(n) ?? '')).size > 1,
  );
  return (
    <Card title={t('results.configDiffers')}>
      {names.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('results.configSame')}
        </Text>
      ) : (
        <DataTable
          label={t('results.configDiffers')}
          heads={[
            t('results.setting'),
            ...sides.map((s) => ({ key: s.name, title: s.name, className: `${common.mono} ${common.untrusted}` })),
          ]}
        >
          {names.map((n) => (
            <Table.Tr key={n}>
              <Table.Th scope="row" fw={400} className={common.untrusted}>
                {n}
              </Table.Th>
              {sides.map((s) => (
                <Table.Td key={s.name} className={`${common.mono} ${common.untrusted}`}>
                  {s.settings.get(n) ?? t('results.notInRun')}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Card>
  );
}
