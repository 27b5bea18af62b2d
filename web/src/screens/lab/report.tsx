// The result of a suite: figures, failures by layer, their reasons, recommendations.
import { Badge, Box, Button, Group, Menu, SimpleGrid, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { IconChevronRight, IconDownload, IconPrinter, IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Schemas } from '../../api/client';
import { type Translator, type TextKey, useText } from '../../text';
import { inUnit, Whisker } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Verdict } from '../../ui/verdict';
import { moment, number } from '../../ui/format';
import { ScrollBox } from '../../ui/scroll';
import { type Bench, Fact, interval, ServerTexts, Mark, Names, Rate, ServerText, useAddress } from './parts';
import { DiagnosisText } from './single';
import styles from './lab.module.css';
import common from '../../ui/common.module.css';
import { DataTable, FigureCell } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

type Result = Schemas['SelectReport'];
type Failed = Schemas['RoutingFailure'];

export function SelectionReport({ of: r, bench }: { of: Result; bench: Bench }) {
  const t = useText();
  const catalogue = r.catalogue_id === bench.catalogue.id ? bench.catalogue.name : r.catalogue_id;
  return (
    <Stack gap="lg" data-run={r.run_id}>
      <Group justify="space-between" align="flex-start">
        <Box style={{ flex: '1 1 320px', minWidth: 0 }}>
          <Title order={2} className={common.untrusted}>
            {t('lab.report', { name: r.suite_name })}
          </Title>
          <Text size="sm" c="dimmed" className={common.untrusted}>
            {t('lab.reportLead', {
              n: number(r.total_tests),
              catalogue,
              version: r.catalogue_version,
              at: moment(r.timestamp),
            })}
          </Text>
        </Box>
        <Group gap="xs" className={common.noPrint}>
          <Button variant="default" size="xs" component={Link} to={`/runs/${r.run_id}`}>
            {t('lab.openRun')}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" size="xs" leftSection={<IconDownload size={14} aria-hidden />}>
                {t('lab.exports')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item component="a" href={`/api/runs/${r.run_id}/export?format=csv`} download>
                {t('lab.csvAll')}
              </Menu.Item>
              <Menu.Item component="a" href={`/api/v1/admin/tool-eval/runs/${r.run_id}/failed?format=csv`} download>
                {t('lab.csvFailed')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPrinter size={14} aria-hidden />}
            onClick={() => window.print()}
          >
            {t('lab.print')}
          </Button>
        </Group>
      </Group>
      <Summary of={r} />
      <Stack gap="lg">
        <Slices
          title={t('lab.byCategory')}
          first={t('lab.category')}
          of={r.category_results}
          none={t('lab.noCategories')}
        />
        <Slices
          title={t('lab.byDifficulty')}
          first={t('lab.difficulty')}
          of={inOrder(r.by_difficulty)}
          none={t('lab.noDifficulty')}
          word
        />
      </Stack>
      <SimpleGrid cols={{ base: 1, xl: 2 }} spacing="lg">
        <Confusion of={r} />
        <Patterns of={r.failure_patterns} />
      </SimpleGrid>
      <Recommendations of={r.recommendations} />
      <FailedTests of={r} />
      {r.notes.length > 0 && (
        <Card title={t('lab.notes')}>
          <ServerTexts of={r.notes} />
        </Card>
      )}
    </Stack>
  );
}

/** Summary shows the four main figures, and the layers below them. */
function Summary({ of: r }: { of: Result }) {
  const t = useText();
  const cards: [TextKey, Schemas['Figure'] | null | undefined, string, string | undefined][] = [
    ['lab.exactRate', r.overall_tool_exact_rate, 'rate', undefined],
    ['lab.acceptableRate', r.overall_tool_acceptable_rate, 'rate', undefined],
    [
      'lab.composite',
      r.overall_composite_score,
      'rate',
      r.composite_within_reach?.value != null
        ? t('lab.withinReach', { v: inUnit(r.composite_within_reach.value, 'rate') })
        : undefined,
    ],
    ['lab.latencyMedian', r.latency_ms_p50, 'ms', undefined],
  ];
  const layers: [TextKey, Schemas['Figure'] | null | undefined][] = [
    ['lab.layerRoute', r.overall_route_accuracy],
    ['lab.layerSubRoute', r.overall_sub_route_accuracy],
    ['lab.layerAgents', r.overall_agent_exact_rate],
    ['lab.layerTools', r.metrics.tools_right],
  ];
  return (
    <Box component="section" aria-label={t('lab.summary')}>
      <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="md">
        {cards.map(([title, f, unit, note]) => (
          <Box key={title} className={common.card} p="md" data-card={title}>
            <Text size="sm" c="dimmed">
              {t(title)}
            </Text>
            <Big of={f} unit={unit} />
            {note && (
              <Text size="xs" c="dimmed" mt={4}>
                {note}
              </Text>
            )}
          </Box>
        ))}
      </SimpleGrid>
      {layers.some(([, f]) => f) && (
        <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="md" mt="md">
          {layers.map(([title, f]) =>
            f ? (
              <Box key={title} px="md">
                <Fact name={t(title)}>
                  <StackedFigure of={f} />
                </Fact>
              </Box>
            ) : null,
          )}
        </SimpleGrid>
      )}
    </Box>
  );
}

/** Big is a figure in large letters, with its interval and n below. */
function Big({ of, unit }: { of: Schemas['Figure'] | null | undefined; unit: string }) {
  const t = useText();
  const i = interval(of);
  if (!i) return <Text c="dimmed">{t('common.notScored')}</Text>;
  return (
    <Box className={common.num}>
      <Text fz={28} fw={650} lh={1.25}>
        {inUnit(i.point, unit)}
      </Text>
      {unit === 'rate' && <Whisker interval={i} width={120} />}
      <Text size="xs" c="dimmed">
        {i.lower !== null && i.upper !== null
          ? `${inUnit(i.lower, unit).replace(/ (%|ms)$/, '')}–${inUnit(i.upper, unit)} · `
          : ''}
        n = {i.n}
      </Text>
    </Box>
  );
}

function inOrder(list: Schemas['SelectSlice'][]): Schemas['SelectSlice'][] {
  const order = ['easy', 'medium', 'hard'];
  return [...list].sort((a, b) => ((order.indexOf(a.name) + 99) % 99) - ((order.indexOf(b.name) + 99) % 99));
}

function Slices({
  title,
  first,
  of,
  none,
  word,
}: {
  title: string;
  first: string;
  of: Schemas['SelectSlice'][];
  none: string;
  word?: boolean;
}) {
  const t = useText();
  const columns = (
    [
      ['pass_rate', 'lab.passRate'],
      ['precision@1', 'lab.precision1'],
      ['composite', 'lab.composite'],
    ] as const
  ).filter(([name]) => of.some((s) => s.metrics[name]));
  return (
    <Card title={title}>
      {of.length === 0 ? (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      ) : (
        <DataTable
          label={title}
          miw={600}
          heads={[
            { title: first },
            { title: t('lab.cases'), right: true },
            ...columns.map(([name, text]) => ({ key: name, title: t(text) })),
          ]}
        >
          {of.map((s) => (
            <Table.Tr key={s.name}>
              <Table.Th scope="row" fw={500} className={common.untrusted}>
                {word && (s.name === 'easy' || s.name === 'medium' || s.name === 'hard') ? t(`lab.${s.name}`) : s.name}
              </Table.Th>
              <FigureCell>{s.cases}</FigureCell>
              {columns.map(([name]) => (
                <Table.Td key={name}>
                  <Rate of={s.metrics[name]} bar stack />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Card>
  );
}

/** StackedFigure is a figure with its interval below it, for narrow columns. */
export function StackedFigure({ of, unit = 'rate' }: { of: Schemas['Figure'] | null | undefined; unit?: string }) {
  const t = useText();
  const i = interval(of);
  if (!i)
    return (
      <Text size="sm" c="dimmed">
        {t('common.notScored')}
      </Text>
    );
  return (
    <Box className={common.num}>
      <Text size="sm" fw={600}>
        {inUnit(i.point, unit)}
      </Text>
      <Text size="xs" c="dimmed">
        {i.lower !== null && i.upper !== null
          ? `${inUnit(i.lower, unit).replace(/ (%|ms)$/, '')}–${inUnit(i.upper, unit)}`
          : ''}{' '}
        (n = {i.n})
      </Text>
    </Box>
  );
}

function Confusion({ of: r }: { of: Result }) {
  const t = useText();
  const [at, go] = useAddress();
  const m = r.route_confusion_matrix;
  const rows = Object.keys(m).sort();
  const columns = [...new Set([...rows, ...rows.flatMap((e) => Object.keys(m[e] ?? {}))])].sort();
  const name = (s: string) => s || t('lab.noRoute');
  return (
    <Card title={t('lab.confusion')}>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('lab.confusionNone')}
        </Text>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            {t('lab.confusionHint')}
          </Text>
          <ScrollBox label={t('lab.confusion')}>
            <table className={styles.matrix}>
              <thead>
                <tr>
                  <th scope="col">{t('lab.expectedRoute')}</th>
                  {columns.map((c) => (
                    <th key={c} scope="col">
                      {name(c)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((e) => (
                  <tr key={e}>
                    <th scope="row">{name(e)}</th>
                    {columns.map((p) => {
                      const n = m[e]?.[p] ?? 0;
                      const pair = `${e}>${p}`;
                      const on = at.get('route') === pair;
                      return (
                        <td key={p}>
                          {n === 0 ? (
                            <span>0</span>
                          ) : (
                            <button
                              type="button"
                              data-kind={e === p ? 'right' : 'wrong'}
                              aria-pressed={on}
                              aria-label={t('lab.confusionCell', { n, expected: name(e), predicted: name(p) })}
                              onClick={() => {
                                go({ route: on ? null : pair, tag: null });
                                if (!on) toFailed();
                              }}
                            >
                              {n}
                            </button>
                          )}
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollBox>
        </>
      )}
    </Card>
  );
}

function toFailed() {
  requestAnimationFrame(() => document.getElementById('failed-tests')?.scrollIntoView({ block: 'start' }));
}

function Patterns({ of: list }: { of: Schemas['RoutingPattern'][] }) {
  const t = useText();
  const [, go] = useAddress();
  return (
    <Card title={t('lab.patterns')}>
      {list.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('lab.noPatterns')}
        </Text>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            {t('lab.patternsHint')}
          </Text>
          <ScrollBox label={t('lab.patterns')} height={360}>
            <Table stickyHeader miw={620}>
              <Table.Thead style={{ background: 'var(--cv-card)' }}>
                <Table.Tr>
                  <Table.Th>{t('lab.tag')}</Table.Th>
                  <Table.Th ta="right">{t('lab.failedOf')}</Table.Th>
                  <Table.Th ta="right">{t('lab.others')}</Table.Th>
                  <Table.Th ta="right">{t('lab.lift')}</Table.Th>
                  <Table.Th ta="right">{t('lab.pValue')}</Table.Th>
                  <Table.Th ta="right">{t('lab.pAdjusted')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {list.map((p) => (
                  <Table.Tr key={p.tag}>
                    <Table.Td>
                      {p.failed > 0 ? (
                        <button
                          type="button"
                          className={`${tables.head} ${common.untrusted}`}
                          aria-label={t('lab.showTag', { tag: p.tag })}
                          onClick={() => {
                            go({ tag: p.tag, route: null });
                            toFailed();
                          }}
                        >
                          {p.tag}
                        </button>
                      ) : (
                        <span className={common.untrusted}>{p.tag}</span>
                      )}
                    </Table.Td>
                    <FigureCell>{t('lab.ofN', { k: p.failed, n: p.of })}</FigureCell>
                    <FigureCell>{t('lab.ofN', { k: p.rest_failed, n: p.rest })}</FigureCell>
                    <FigureCell>{number(p.lift, 2)}</FigureCell>
                    <FigureCell>{pValue(p.p)}</FigureCell>
                    <FigureCell>{pValue(p.p_adjusted)}</FigureCell>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollBox>
        </>
      )}
    </Card>
  );
}

/** pValue writes a p value. */
export function pValue(p: number | undefined | null): string {
  if (p === undefined || p === null) return '–';
  return p < 0.001 ? `< ${number(0.001, 3)}` : number(p, 3);
}

const advice: Record<string, TextKey> = {
  routes: 'lab.recRoutes',
  agents: 'lab.recAgents',
  tools: 'lab.recTools',
  'set-size': 'lab.recSetSize',
  latency: 'lab.recLatency',
};

/**
 * adviceOf translates a recommendation to the language of the page; an unknown one keeps the server's text.
 */
function adviceOf(t: Translator, r: Schemas['RoutingRecommendation']): string {
  const tag = r.code === 'tag' ? /"((?:[^"\\]|\\.)*)"/.exec(r.text)?.[1] : undefined;
  if (tag !== undefined) return t(r.certain ? 'lab.recTag' : 'lab.recTagMaybe', { tag });
  return advice[r.code] ? t(advice[r.code]!) : r.text;
}

function Recommendations({ of: list }: { of: Schemas['RoutingRecommendation'][] }) {
  const t = useText();
  const [, go] = useAddress();
  const todo = [
    ['sweep', 'lab.doSweep'],
    ['whatif', 'lab.doWhatIf'],
    ['suggest', 'lab.doSuggest'],
    ['apply', 'lab.doApply'],
  ] as const;
  return (
    <Card
      title={t('lab.recommendations')}
      actions={
        <Group gap="xs" className={common.noPrint}>
          {todo.map(([to, text]) => (
            <Button key={to} size="xs" variant="default" onClick={() => go({ tab: 'changes', do: to })}>
              {t(text)}
            </Button>
          ))}
        </Group>
      }
    >
      {list.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('lab.noRecommendations')}
        </Text>
      ) : (
        <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {list.map((r, i) => (
            <Box component="li" key={i}>
              <Group gap="xs" align="baseline" wrap="nowrap">
                <Box style={{ flex: 'none' }}>
                  <Mark tone={r.certain ? 'fail' : 'none'}>
                    {t(r.counted ? 'lab.counted' : r.certain ? 'lab.certain' : 'lab.uncertain')}
                  </Mark>
                </Box>
                <Box>
                  <Text size="sm" fw={500} className={common.untrusted}>
                    {adviceOf(t, r)}
                  </Text>
                  <ServerText of={r.evidence} size="xs" dimmed />
                </Box>
              </Group>
            </Box>
          ))}
        </Stack>
      )}
    </Card>
  );
}

const classes: Record<string, TextKey> = {
  wrong_route: 'lab.wrong_route',
  wrong_sub_route: 'lab.wrong_sub_route',
  wrong_agents: 'lab.wrong_agents',
  wrong_selection: 'lab.wrong_selection',
};

/** FailedTests lists the failed tests, each with its diagnostics to open. */
function FailedTests({ of: r }: { of: Result }) {
  const t = useText();
  const [at, go] = useAddress();
  const [words, setWords] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const pair = at.get('route') ?? '';
  const tag = at.get('tag') ?? '';
  const shown = useMemo(() => {
    const w = words.trim().toLowerCase();
    return r.failed_tests.filter(
      (f) =>
        (pair === '' || `${f.want.route ?? ''}>${f.got.route ?? ''}` === pair) &&
        (tag === '' || (f.tags ?? []).includes(tag)) &&
        (w === '' ||
          `${f.case} ${f.query} ${(f.want.tools ?? []).join(' ')} ${(f.got.tools ?? []).map((x) => x.tool).join(' ')}`
            .toLowerCase()
            .includes(w)),
    );
  }, [r, pair, tag, words]);
  useEffect(() => {
    // Opens every diagnosis for printing, and closes them afterwards.
    let opened: HTMLDetailsElement[] = [];
    const open = () => {
      opened = [...(box.current?.querySelectorAll<HTMLDetailsElement>('details:not([open])') ?? [])];
      for (const d of opened) d.open = true;
    };
    const close = () => {
      for (const d of opened) d.open = false;
      opened = [];
    };
    window.addEventListener('beforeprint', open);
    window.addEventListener('afterprint', close);
    return () => {
      window.removeEventListener('beforeprint', open);
      window.removeEventListener('afterprint', close);
    };
  }, []);
  const [expected = '', predicted = ''] = pair.split('>');
  return (
    <Box
      className={`${common.card} ${styles.long}`}
      p="md"
      component="section"
      id="failed-tests"
      ref={box as never}
      aria-label={t('lab.failed')}
    >
      <Group justify="space-between" mb="sm">
        <Title order={2}>{t('lab.failed')}</Title>
        <Group gap="sm">
          <Text size="sm" c="dimmed" className={common.num} role="status">
            {t('lab.failedCount', { n: shown.length, total: r.failed_count })}
          </Text>
          {r.failed_count > 0 && (
            <TextInput
              className={common.noPrint}
              size="xs"
              w={220}
              aria-label={t('lab.failedFilter')}
              placeholder={t('lab.failedFilter')}
              value={words}
              onChange={(e) => setWords(e.currentTarget.value)}
            />
          )}
        </Group>
      </Group>
      {(pair || tag) && (
        <Group gap="xs" mb="sm">
          <Badge size="lg" color="gray" className={common.untrusted}>
            {pair
              ? t('lab.filterRoute', {
                  expected: expected || t('lab.noRoute'),
                  predicted: predicted || t('lab.noRoute'),
                })
              : t('lab.filterTag', { tag })}
          </Badge>
          <Button
            className={common.noPrint}
            size="compact-sm"
            variant="subtle"
            leftSection={<IconX size={14} aria-hidden />}
            onClick={() => go({ route: null, tag: null })}
          >
            {t('lab.clearFilter')}
          </Button>
        </Group>
      )}
      {r.failed_count === 0 && (
        <Text size="sm" c="dimmed">
          {t('lab.failedNone')}
        </Text>
      )}
      {shown.map((f) => (
        <FailedTest key={f.case} of={f} />
      ))}
      {r.failed_count > r.failed_tests.length && (
        <Text size="sm" c="dimmed" mt="sm">
          {t('lab.failedFirst', { n: r.failed_tests.length })}
        </Text>
      )}
    </Box>
  );
}

function FailedTest({ of: f }: { of: Failed }) {
  const t = useText();
  const [at, go] = useAddress();
  const first = useRef(at.get('case') === f.case);
  return (
    <details
      className={styles.failedTest}
      data-case={f.case}
      open={first.current || undefined}
      onToggle={(e) => {
        if (window.matchMedia('print').matches) return;
        const open = (e.currentTarget as HTMLDetailsElement).open;
        first.current = open;
        if (open && at.get('case') !== f.case) go({ case: f.case }, { replace: true });
        else if (!open && at.get('case') === f.case) go({ case: null }, { replace: true });
      }}
    >
      <summary>
        <IconChevronRight className={`${styles.turn} ${common.noPrint}`} size={16} aria-hidden />
        <Box style={{ flex: 'none' }}>
          <Verdict of="fail" text={classes[f.class] ? t(classes[f.class]!) : f.class} />
        </Box>
        <Text span size="sm" className={`${common.untrusted} ${styles.q}`}>
          {f.query}
        </Text>
        <Text span className={common.mono} c="dimmed">
          {f.case}
        </Text>
      </summary>
      <FailedBody of={f} />
    </details>
  );
}

function FailedBody({ of: f }: { of: Failed }) {
  const t = useText();
  const [, go] = useAddress();
  const right = new Set([...(f.want.tools ?? []), ...(f.want.acceptable ?? [])]);
  const rows: [string, ReactNode, ReactNode][] = [];
  if (f.want.route)
    rows.push([
      t('lab.route'),
      <Names of={[f.want.route]} />,
      <Names of={f.got.route ? [f.got.route] : []} good={(n) => n === f.want.route} />,
    ]);
  if (f.want.sub_route)
    rows.push([
      t('lab.subRoute'),
      <Names of={[f.want.sub_route]} />,
      <Names of={f.got.sub_route ? [f.got.sub_route] : []} good={(n) => n === f.want.sub_route} />,
    ]);
  if (f.want.agents)
    rows.push([
      t('lab.agents'),
      <Names of={f.want.agents} />,
      <Names of={f.got.agents} good={(n) => (f.want.agents ?? []).includes(n)} />,
    ]);
  rows.push([
    t('lab.tools'),
    <Names of={f.want.tools} />,
    <Names of={(f.got.tools ?? []).map((x) => x.tool)} good={(n) => right.has(n)} />,
  ]);
  return (
    <div>
      <DataTable
        label={`${t('lab.expectedBeside')}, ${t('lab.gotBeside')}: ${f.case}`}
        withRowBorders={false}
        className={styles.plainTable}
        w="auto"
        heads={[
          {
            title: (
              <Text span size="xs" c="dimmed">
                {t('lab.layers')}
              </Text>
            ),
            w: 110,
          },
          t('lab.expectedBeside'),
          t('lab.gotBeside'),
        ]}
      >
        {rows.map(([name, want, got]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400}>
              {name}
            </Table.Th>
            <Table.Td>{want}</Table.Td>
            <Table.Td>{got}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Stack gap="xs" mt="xs" px="sm">
        <Fact name={t('lab.reason')}>
          <ServerText of={f.reason} />
        </Fact>
        {f.routed && (
          <Fact name={t('lab.whyRoute')}>
            <ServerText of={f.routed} />
          </Fact>
        )}
        {(f.diagnosis ?? []).length > 0 && (
          <Fact name={t('lab.diagnosis')}>
            <Stack gap="xs">
              {(f.diagnosis ?? []).map((d) => (
                <DiagnosisText key={d.tool.tool} of={d} />
              ))}
            </Stack>
          </Fact>
        )}
        {(f.tags ?? []).length > 0 && (
          <Fact name={t('lab.tags')}>
            <Names of={f.tags} />
          </Fact>
        )}
        <Group gap="xs" mt={4} className={common.noPrint}>
          <Button
            size="xs"
            variant="default"
            onClick={() =>
              go({
                tab: null,
                q: f.query,
                expect: (f.want.tools ?? []).join(','),
                also: (f.want.acceptable ?? []).filter((n) => !(f.want.tools ?? []).includes(n)).join(','),
                none: f.want.tools && f.want.tools.length === 0 ? '1' : null,
              })
            }
          >
            {t('lab.testThis')}
          </Button>
          {f.want.tools?.[0] && (
            <Button
              size="xs"
              variant="subtle"
              className={styles.longButton}
              onClick={() => go({ tab: 'changes', edit: f.want.tools![0]! })}
            >
              {t('lab.editTool', { tool: f.want.tools[0] })}
            </Button>
          )}
        </Group>
      </Stack>
    </div>
  );
}
