// Two to six runs side by side. The first is the baseline; each other one is compared with it, case by case.
import { ActionIcon, Badge, Box, Button, Group, Select, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { type TextKey, useText } from '../../text';
import { Card, Empty, Failure, Figure, type Interval, inUnit, Screen, sentence, Waiting } from '../../ui/bits';
import { moment, number, signed } from '../../ui/format';
import { useParam } from '../../ui/params';
import { type Column, Rows } from '../../ui/table';
import { caseLink, inWords, metricOf, type Report, VerdictBar } from '../runs/parts';

type Comparison = Schemas['PanelComparison'];
type Pair = Schemas['PanelTargetComparison'];
type CaseChange = Schemas['PanelCaseChange'];

const mostRuns = 6;

export default function Compare() {
  const t = useText();
  const navigate = useNavigate();
  const [text] = useParam('runs');
  const [target] = useParam('target');
  const ids = useMemo(() => [...new Set(text.split(',').filter(Boolean))].slice(0, mostRuns), [text]);
  const list = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 200 } } });
  const reports = useQueries({ queries: ids.map((id) => $api.queryOptions('get', '/api/runs/{id}', { params: { path: { id } } }, { staleTime: 60_000 })) });
  const diffs = useQueries({
    queries: ids.slice(1).map((id) => $api.queryOptions('get', '/api/diff', { params: { query: { base: ids[0]!, candidate: id, metrics: ['overall'], target: target || undefined } } }, { staleTime: 60_000 })),
  });
  const go = (next: string[], with_ = target) => navigate(`/compare${next.length ? `?runs=${next.map(encodeURIComponent).join(',')}` : ''}${with_ && next.length ? `&target=${encodeURIComponent(with_)}` : ''}`);
  const known = list.data?.items ?? [];
  const nameOf = (id: string) => {
    const r = known.find((x) => x.id === id);
    return r ? `${r.suite_name} · ${id} · ${moment(r.timestamp)}` : id;
  };
  const suite = known.find((r) => r.id === ids[0])?.suite_name;
  const others = known.filter((r) => !ids.includes(r.id) && (!suite || r.suite_name === suite));
  const failed = [...reports, ...diffs].find((q) => q.error);
  const docs = reports.map((q) => q.data).filter((d): d is Report => d !== undefined);
  const ready = docs.length === ids.length;
  const unpaired = diffs.some((q) => (q.data?.targets ?? []).length === 0 && (q.data?.unpaired_candidate ?? []).length > 0);
  return (
    <Screen title={t('shell.compare')} lead={t('results.compareLead')}>
      <Stack gap="sm">
        {ids.map((id, i) => (
          <Group key={id} gap="sm" wrap="nowrap">
            <Badge color={i === 0 ? 'accent' : 'gray'} w={96} style={{ flex: 'none' }}>
              {i === 0 ? t('results.baseline') : t('results.candidate')}
            </Badge>
            <Link to={`/runs/${encodeURIComponent(id)}`} className="untrusted">
              {nameOf(id)}
            </Link>
            {i > 0 && (
              <Button size="compact-xs" variant="subtle" color="gray" aria-label={t('results.makeBaseline', { id })} onClick={() => go([id, ...ids.filter((x) => x !== id)])}>
                {t('results.baseline')} ↑
              </Button>
            )}
            <ActionIcon size="sm" variant="subtle" color="gray" aria-label={t('results.removeRun', { id })} onClick={() => go(ids.filter((x) => x !== id))}>
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="sm" align="flex-end">
          {ids.length < mostRuns && (
            <Select
              key={ids.join()} label={t('results.addRun')} placeholder={t('results.pick')} data={others.map((r) => ({ value: r.id, label: nameOf(r.id) }))} value={null} searchable w={{ base: '100%', sm: 420 }}
              onChange={(v) => v && go([...ids, v])}
            />
          )}
          {(unpaired || target) && docs[0] && (
            <Select label={t('results.pairWith')} data={(docs[0].targets ?? []).map((x) => x.name)} value={target || null} onChange={(v) => go(ids, v ?? '')} clearable clearButtonProps={{ 'aria-label': t('results.clear') }} w={{ base: '100%', sm: 300 }} />
          )}
        </Group>
      </Stack>
      {failed && <Failure of={failed.error} retry={() => void failed.refetch()} />}
      {ids.length < 2 && (docs[0] && (docs[0].panels.targets ?? []).length > 1 ? <SideBySide ids={ids} docs={docs} /> : <Empty title={t('results.pick')} text={t('results.pickText')} />)}
      {ids.length >= 2 && !failed && !ready && <Waiting />}
      {ids.length >= 2 && ready && (
        <>
          {ids.slice(1).map((id, i) => {
            const c = diffs[i]?.data;
            return c ? <Against key={id} comparison={c} base={ids[0]!} candidate={id} many={ids.length > 2} /> : !failed && <Waiting key={id} />;
          })}
          <SideBySide ids={ids} docs={docs} />
          <Differing ids={ids} docs={docs} />
        </>
      )}
    </Screen>
  );
}

const tones: Record<string, [string, string]> = { better: ['var(--cv-pass)', 'var(--cv-pass-ground)'], worse: ['var(--cv-fail)', 'var(--cv-fail-ground)'] };

/** VerdictOfChange is the server's verdict on a difference, in its words. */
function VerdictOfChange({ of: v }: { of: string }) {
  const [color, background] = tones[v] ?? ['var(--cv-none)', 'var(--cv-none-ground)'];
  return <Badge style={{ color, background }}>{v}</Badge>;
}

/** Difference is a paired difference with its interval: of rates in percentage points, of all else in its unit. */
function Difference({ of: i, unit = 'rate' }: { of: Interval; unit?: string }) {
  const t = useText();
  if (i.point === null) return <Text c="dimmed">–</Text>;
  const rate = unit === 'rate' || unit === 'share' || unit === 'score' || unit === '';
  const write = (v: number) => (rate ? signed(v) : `${v > 0 ? '+' : ''}${inUnit(v, unit)}`);
  const width = 96;
  const x = (v: number) => width / 2 + Math.max(-1, Math.min(1, v)) * (width / 2 - 4);
  return (
    <Tooltip label={`${sentence(t, i, unit)} (${i.method})`} events={{ hover: true, focus: true, touch: true }}>
      <Box component="span" className="num" style={{ display: 'inline-flex', flexDirection: 'column' }}>
        <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
          <Text span fw={600} size="sm">
            {write(i.point)}
          </Text>
          {rate && (
            <svg width={width} height={14} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
              <line x1={0} x2={width} y1={7} y2={7} stroke="var(--cv-line)" strokeWidth={2} />
              <line x1={width / 2} x2={width / 2} y1={1} y2={13} stroke="var(--cv-none)" />
              {i.lower !== null && i.upper !== null && <line x1={x(i.lower)} x2={x(i.upper)} y1={7} y2={7} stroke="var(--cv-mark)" strokeWidth={4} strokeOpacity={0.45} strokeLinecap="round" />}
              <circle cx={x(i.point)} cy={7} r={4} fill="var(--cv-mark)" />
            </svg>
          )}
        </span>
        <Text span size="xs" c="dimmed">
          {i.lower !== null && i.upper !== null && `${write(i.lower)} to ${write(i.upper)} · `}n = {i.n}
        </Text>
      </Box>
    </Tooltip>
  );
}

type Line = CaseChange & { pair: Pair };

const kinds = ['newly_failing', 'less_often', 'newly_passing', 'more_often'];

/** Against is a candidate compared with the baseline: the differences, then the cases that changed, regressions first. */
function Against({ comparison: c, base, candidate, many }: { comparison: Comparison; base: string; candidate: string; many: boolean }) {
  const t = useText();
  const navigate = useNavigate();
  const pairs = c.targets ?? [];
  const lines = useMemo(
    () => pairs.flatMap((pair) => (pair.changes ?? []).map((x): Line => ({ ...x, pair }))).sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind)),
    [pairs],
  );
  const notes = [...(c.warnings ?? [])];
  if (c.changed?.length) notes.push(t('results.changedText', { names: c.changed.join(', ') }));
  if (c.unpaired_baseline?.length) notes.push(t('results.onlyBaseline', { names: c.unpaired_baseline.join(', ') }));
  if (c.unpaired_candidate?.length) notes.push(t('results.onlyCandidate', { names: c.unpaired_candidate.join(', ') }));
  const columns: Column<Line>[] = [
    {
      key: 'kind', title: t('results.kind'), width: 170,
      cell: (l) => (
        <Text span size="sm" fw={600} c={l.kind === 'newly_failing' || l.kind === 'less_often' ? 'var(--cv-fail)' : 'var(--cv-pass)'}>
          {t(`results.${l.kind}` as TextKey)}
        </Text>
      ),
    },
    { key: 'case', title: t('results.case'), cell: (l) => <Link to={caseLink(candidate, { case: l.case, target: l.pair.candidate })} className="untrusted">{l.case}</Link> },
    ...(pairs.length > 1 ? [{ key: 'target', title: t('results.target'), cell: (l: Line) => <Text size="sm" className="untrusted">{l.pair.candidate}</Text> }] : []),
    {
      key: 'baseline', title: t('results.baseline'), width: 120,
      cell: (l) => (
        <Link to={caseLink(base, { case: l.case, target: l.pair.baseline })} className="num">
          {t('results.passes', { n: l.baseline_passes, of: l.baseline_n })}
        </Link>
      ),
    },
    {
      key: 'candidate', title: t('results.candidate'), width: 120,
      cell: (l) => (
        <Link to={caseLink(candidate, { case: l.case, target: l.pair.candidate })} className="num">
          {t('results.passes', { n: l.candidate_passes, of: l.candidate_n })}
        </Link>
      ),
    },
    { key: 'stability', title: '', width: 90, cell: (l) => l.stability && <Badge color="gray">{l.stability}</Badge> },
  ];
  return (
    <Card title={many ? <span className="mono">{candidate}</span> : t('results.difference')} id={`against-${candidate}`}>
      <Stack gap="md">
        {pairs.length === 0 && <Text c="dimmed">{t('results.noPairs')}</Text>}
        {pairs.length > 0 && (
          <Box className="scroll-x" tabIndex={0} role="region" aria-label={t('results.difference')}>
            <Table verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">{t('results.target')}</Table.Th>
                  <Table.Th scope="col">{t('results.measure')}</Table.Th>
                  <Table.Th scope="col">{t('results.baseline')}</Table.Th>
                  <Table.Th scope="col">{t('results.candidate')}</Table.Th>
                  <Table.Th scope="col">{t('results.change')}</Table.Th>
                  <Table.Th scope="col">{t('results.verdictText')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {pairs.flatMap((p) =>
                  [{ metric: 'pass_rate', unit: 'rate', overall: p.overall }, ...(p.metrics ?? [])].map((m) => (
                    <Table.Tr key={`${p.candidate} ${m.metric}`}>
                      <Table.Th scope="row" fw={m.metric === 'pass_rate' ? 600 : 400} className="name">
                        {p.baseline === p.candidate ? p.candidate : `${p.baseline} → ${p.candidate}`}
                      </Table.Th>
                      <Table.Td>{inWords(m.metric)}</Table.Td>
                      <Table.Td>
                        <Figure interval={m.overall.baseline} unit={m.unit} stack />
                      </Table.Td>
                      <Table.Td>
                        <Figure interval={m.overall.candidate} unit={m.unit} stack />
                      </Table.Td>
                      <Table.Td>
                        <Difference of={m.overall.change} unit={m.unit} />
                      </Table.Td>
                      <Table.Td>
                        <Group gap={6} wrap="nowrap">
                          <VerdictOfChange of={m.overall.verdict} />
                          <Text span size="xs" c="dimmed" className="num">
                            {t('results.p', { p: m.overall.p < 0.001 ? '< 0.001' : number(m.overall.p, 3) })}
                          </Text>
                        </Group>
                      </Table.Td>
                    </Table.Tr>
                  )),
                )}
              </Table.Tbody>
            </Table>
          </Box>
        )}
        {notes.map((n) => (
          <Text key={n} size="sm" c="dimmed" className="untrusted">
            {n}
          </Text>
        ))}
        {pairs.length > 0 &&
          (lines.length === 0 ? (
            <Text c="dimmed">{t('results.noChanges')}</Text>
          ) : (
            <Rows
              label={`${t('results.changedCases')}: ${candidate}`} columns={columns} rows={lines} idOf={(l) => `${l.pair.candidate} ${l.case}`} height={460}
              onOpen={(l) => navigate(caseLink(candidate, { case: l.case, target: l.pair.candidate }), { state: { back: true } })}
            />
          ))}
      </Stack>
    </Card>
  );
}

const beside: [string, ...string[]][] = [['pass_rate'], ['overall'], ['tool_selection', 'tool_selection_by_call'], ['arg_accuracy'], ['latency_p50'], ['cost_per_attempt']];

/** SideBySide has a row for each target of each run, with the main measures. */
function SideBySide({ ids, docs }: { ids: string[]; docs: Report[] }) {
  const t = useText();
  const rows = docs.flatMap((d, i) => (d.panels.targets ?? []).map((p) => ({ id: ids[i]!, p })));
  const shown = beside.filter((names) => rows.some((r) => metricOf(r.p.overall.metrics, ...names)));
  return (
    <Card title={t('results.sideBySide')}>
      <Box className="scroll-x" tabIndex={0} role="region" aria-label={t('results.sideBySide')}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('results.target')}</Table.Th>
              <Table.Th scope="col">{t('shell.runs')}</Table.Th>
              <Table.Th scope="col">{t('results.verdicts')}</Table.Th>
              {shown.map((names) => (
                <Table.Th key={names[0]} scope="col">
                  {rows.map((r) => metricOf(r.p.overall.metrics, ...names)?.title).find(Boolean)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ id, p }) => (
              <Table.Tr key={`${id} ${p.name}`}>
                <Table.Th scope="row" className="name">
                  {p.name}
                </Table.Th>
                <Table.Td className="mono">{id}</Table.Td>
                <Table.Td>
                  <VerdictBar of={p.overall.verdicts} width={72} />
                </Table.Td>
                {shown.map((names) => {
                  const m = metricOf(p.overall.metrics, ...names);
                  return (
                    <Table.Td key={names[0]}>
                      <Figure interval={m?.interval} unit={m?.unit} bar stack />
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
    </Card>
  );
}

/** Differing are the settings that are not the same in all runs. */
function Differing({ ids, docs }: { ids: string[]; docs: Report[] }) {
  const t = useText();
  const settings = docs.map((d) => {
    const all = new Map((d.manifest ?? []).map((f) => [f.name, f.value]));
    all.set(t('results.targets'), (d.targets ?? []).map((x) => x.name).join(', '));
    for (const x of d.targets ?? []) {
      const { name, ...rest } = x;
      all.set(name, JSON.stringify(rest));
    }
    return all;
  });
  const names = [...new Set(settings.flatMap((s) => [...s.keys()]))].filter((n) => new Set(settings.map((s) => s.get(n) ?? '')).size > 1);
  return (
    <Card title={t('results.configDiffers')}>
      {names.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('results.configSame')}
        </Text>
      ) : (
        <Box className="scroll-x" tabIndex={0} role="region" aria-label={t('results.configDiffers')}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('results.setting')}</Table.Th>
                {ids.map((id) => (
                  <Table.Th key={id} scope="col" className="mono">
                    {id}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {names.map((n) => (
                <Table.Tr key={n}>
                  <Table.Th scope="row" fw={400} className="untrusted">
                    {n}
                  </Table.Th>
                  {settings.map((s, i) => (
                    <Table.Td key={ids[i]} className="mono untrusted">
                      {s.get(n) ?? t('results.notInRun')}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      )}
    </Card>
  );
}
