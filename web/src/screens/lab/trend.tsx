// Runs over a catalogue by time: four curves of the same questions, and the list that opens them.
import { Box, Button, Group, Select, SimpleGrid, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { type TextKey, useText } from '../../text';
import { inUnit } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { moment } from '../../ui/format';
import { type Bench, interval, useAddress } from './parts';
import { StackedFigure } from './report';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Line = Schemas['SelectRun'];
const figures = [
  ['lab.exactRate', 'overall_tool_exact_rate', 'rate'],
  ['lab.acceptableRate', 'overall_tool_acceptable_rate', 'rate'],
  ['lab.composite', 'overall_composite_score', 'rate'],
  ['lab.latencyMedian', 'latency_ms_p50', 'ms'],
] as const satisfies readonly (readonly [TextKey, keyof Line, string])[];

/** settings writes the settings of a run that differ from the defaults. */
function settings(r: Line): string {
  return [r.preset === 'bigtool' ? 'bigtool' : '', r.limit > 0 ? `k = ${r.limit}` : ''].filter(Boolean).join(' · ');
}

export function TrendTab({ bench, open, hash }: { bench: Bench; open: string; hash: string | undefined }) {
  const t = useText();
  const [, go] = useAddress();
  const [chosen, setChosen] = useState<string | null>(null);
  const path = '/api/v1/admin/tool-eval/runs';
  const list = useInfiniteQuery({
    queryKey: queryKeys.selectionRuns(bench.catalogue.id),
    initialPageParam: '',
    queryFn: async ({ pageParam }) =>
      unwrap(
        await api.GET(path, {
          params: { query: { catalogue_id: bench.catalogue.id, limit: 50, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (p) => p.next_cursor || undefined,
  });
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  if (!list.data) return <Loading />;
  const rows = list.data.pages.flatMap((p) => p.items);
  if (rows.length === 0) return open ? null : <Empty title={t('lab.trendNone')} text={t('lab.trendNoneText')} />;

  const suites = new Map<string, { name: string; n: number }>();
  for (const r of rows)
    suites.set(r.suite_hash, {
      name: [r.suite_name, settings(r)].filter(Boolean).join(' · '),
      n: (suites.get(r.suite_hash)?.n ?? 0) + 1,
    });
  const of = chosen && suites.has(chosen) ? chosen : hash && suites.has(hash) ? hash : rows[0]!.suite_hash;
  const series = rows.filter((r) => r.suite_hash === of && r.failed_count !== null).reverse();
  return (
    <Box className={common.noPrint}>
      <Card
        title={t('lab.trend')}
        actions={
          suites.size > 1 && (
            <Select
              size="xs"
              aria-label={t('lab.trendSuite')}
              w={320}
              value={of}
              onChange={setChosen}
              allowDeselect={false}
              data={[...suites].map(([value, s]) => ({ value, label: t('lab.trendRuns', { name: s.name, n: s.n }) }))}
            />
          )
        }
      >
        <Text size="sm" c="dimmed" mb="md">
          {t('lab.trendHint')}
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="lg" mb="lg">
          {figures.map(([title, key, unit]) => (
            <Curve
              key={key}
              title={t(title)}
              unit={unit}
              open={open}
              points={series.map((r) => ({ id: r.run_id, of: interval(r[key]) }))}
            />
          ))}
        </SimpleGrid>
        <DataTable
          label={t('lab.trend')}
          height={420}
          highlightOnHover
          miw={860}
          heads={[
            t('lab.time'),
            t('lab.trendSuite'),
            ...figures.map(([title]) => ({ key: title, title: t(title) })),
            { title: t('lab.failedShort'), right: true },
          ]}
        >
          {rows.map((r) => (
            <Table.Tr
              key={r.run_id}
              data-id={r.run_id}
              aria-current={r.run_id === open ? 'true' : undefined}
              bg={r.run_id === open ? 'var(--cv-none-ground)' : undefined}
            >
              <Table.Td>
                {r.failed_count === null ? (
                  <Text size="sm" className={common.num}>
                    {moment(r.timestamp)}{' '}
                    <Text span c="dimmed" size="xs">
                      {t(`lab.status_${r.status}`)}
                    </Text>
                  </Text>
                ) : (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    px={4}
                    className={common.num}
                    aria-label={t('lab.openResult', { at: moment(r.timestamp) })}
                    onClick={() => {
                      go({ run: r.run_id, route: null, tag: null, case: null });
                      window.scrollTo(0, 0);
                    }}
                  >
                    {moment(r.timestamp)}
                  </Button>
                )}
                {r.run_id === open && (
                  <Text span size="xs" c="dimmed" ml={6}>
                    {t('lab.opened')}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className={common.untrusted}>
                <Text size="sm">{r.suite_name}</Text>
                <Text size="xs" c="dimmed">
                  {[t('lab.catalogueV', { version: r.catalogue_version }), settings(r)].filter(Boolean).join(' · ')}
                </Text>
              </Table.Td>
              {figures.map(([title, key, unit]) => (
                <Table.Td key={title}>
                  <StackedFigure of={r[key]} unit={unit} />
                </Table.Td>
              ))}
              <FigureCell>
                {r.failed_count === null ? '–' : t('lab.ofN', { k: r.failed_count, n: r.total_tests })}
              </FigureCell>
            </Table.Tr>
          ))}
        </DataTable>
        {list.hasNextPage && (
          <Group justify="center" mt="sm">
            <Button variant="default" size="xs" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
              {t('common.more')}
            </Button>
          </Group>
        )}
      </Card>
    </Box>
  );
}

/** Curve is a figure over time with its intervals. The table below has the same numbers. */
function Curve({
  title,
  unit,
  points,
  open,
}: {
  title: string;
  unit: string;
  open: string;
  points: { id: string; of: ReturnType<typeof interval> }[];
}) {
  const t = useText();
  const known = points.flatMap((p, i) => (p.of ? [{ ...p.of, id: p.id, i }] : []));
  const width = 260;
  const height = 84;
  const top = unit === 'rate' ? 1 : Math.max(...known.map((p) => p.upper ?? p.point ?? 0), 1e-9) * 1.05;
  const x = (i: number) => (points.length < 2 ? width / 2 : 8 + (i / (points.length - 1)) * (width - 16));
  const y = (v: number) => height - 6 - (Math.min(v, top) / top) * (height - 12);
  const newest = known.at(-1);
  return (
    <Box>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        role="img"
        aria-label={t('lab.trendChart', {
          what: title,
          n: known.length,
          v: newest ? inUnit(newest.point, unit) : t('common.notScored'),
        })}
      >
        {[0, 0.5, 1].map((g) => (
          <line key={g} x1={0} x2={width} y1={y(g * top)} y2={y(g * top)} stroke="var(--cv-line)" strokeWidth={1} />
        ))}
        <polyline
          fill="none"
          stroke="var(--cv-mark)"
          strokeWidth={1.5}
          points={known.map((p) => `${x(p.i)},${y(p.point ?? 0)}`).join(' ')}
        />
        {known.map((p) => (
          <g key={p.id}>
            {p.lower !== null && p.upper !== null && (
              <line
                x1={x(p.i)}
                x2={x(p.i)}
                y1={y(p.lower)}
                y2={y(p.upper)}
                stroke="var(--cv-mark)"
                strokeWidth={4}
                strokeOpacity={0.3}
                strokeLinecap="round"
              />
            )}
            <circle
              cx={x(p.i)}
              cy={y(p.point ?? 0)}
              r={p.id === open ? 5 : 3}
              fill={p.id === open ? 'var(--cv-card)' : 'var(--cv-mark)'}
              stroke="var(--cv-mark)"
              strokeWidth={p.id === open ? 2.5 : 0}
            />
          </g>
        ))}
      </svg>
      <Text size="xs" c="dimmed" className={common.num}>
        0–{inUnit(top, unit)}
      </Text>
    </Box>
  );
}
