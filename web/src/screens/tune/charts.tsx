// Scores of candidates by parameters: a curve for one parameter, a map for two, lines for more. The table of
// candidates has the same figures.
import { Box, Text } from '@mantine/core';
import type { EChartsOption } from 'echarts';
import { useText } from '../../text';
import { inUnit, intervalSentence } from '../../ui/interval';
import { type Colours, Plot } from '../../ui/plot';
import { type Candidate, type Search, useStanding } from './candidate';
import { shown } from './space';

/** axisOf lists the values of a parameter: numbers by size, then words, then "not sent". */
function axisOf(candidates: Candidate[], i: number): string[] {
  const values = new Map(candidates.map((c) => [shown(c.values?.[i]), c.values?.[i]]));
  const rank = (v: unknown) => (typeof v === 'number' ? 0 : v === null || v === undefined ? 2 : 1);
  return [...values]
    .sort(([x, a], [y, b]) =>
      rank(a) !== rank(b)
        ? rank(a) - rank(b)
        : typeof a === 'number' && typeof b === 'number'
          ? a - b
          : x.localeCompare(y),
    )
    .map(([text]) => text);
}

const rate = (v: number) => inUnit(v, 'rate');
const point = (c: Candidate) => c.score!.point!;
const isOut = (c: Candidate) => Boolean(c.broken || c.dropped);

/** sign marks the best candidate, candidates that cannot be distinguished from it, and eliminated ones. */
const sign = (search: Search, c: Candidate) =>
  c.n === search.best ? '★' : isOut(c) ? '×' : (search.alike ?? []).includes(c.n) ? '=' : '';

/** ResponseChart shows the chart for the number of parameters. */
export default function ResponseChart({ of: search }: { of: Search }) {
  const t = useText();
  const standing = useStanding(search);
  const names = search.names ?? [];
  const scored = (search.candidates ?? []).filter((c) => (c.score?.point ?? null) !== null);
  if (names.length === 0 || scored.length < 2) return null;
  const axes = names.map((_, i) => axisOf(scored, i));
  const places = (c: Candidate) => axes.map((axis, i) => axis.indexOf(shown(c.values?.[i])));
  // In the order of the curve, or the best line above the others.
  const rank = (c: Candidate) => (names.length === 1 ? places(c)[0]! : c.n === search.best ? 2 : point(c));
  const of = scored.sort((a, b) => rank(a) - rank(b));
  const tip = (n: number) => {
    const c = of[n]!;
    const values = names.map((name, i) => `${name} ${shown(c.values?.[i])}`).join(', ');
    return [`${values}: ${rate(point(c))}`, intervalSentence(t, c.score!), standing(c)].filter(Boolean).join('\n');
  };
  const given = { search, of, names, axes, places, tip };
  return (
    <Box>
      <Text size="xs" c="dimmed" mb={4}>
        {t(names.length > 2 ? 'tune.linesText' : 'tune.chartText')}
      </Text>
      {names.length === 1 ? <Curve {...given} /> : names.length === 2 ? <HeatMap {...given} /> : <Lines {...given} />}
    </Box>
  );
}

type Given = {
  search: Search;
  of: Candidate[];
  names: string[];
  axes: string[][];
  places: (c: Candidate) => number[];
  tip: (n: number) => string;
};

/** haloed is the style of text that stays readable on lines and shades. */
const haloed = (color: string, c: Colours) => ({ color, textBorderColor: c.ground, textBorderWidth: 2.5 });
const category = (c: Colours, name: string, data: string[]) => ({
  type: 'category' as const,
  data,
  name,
  nameLocation: 'middle' as const,
  nameTextStyle: { color: c.text, padding: 6 },
  nameTruncate: { maxWidth: 130 },
  axisLabel: { ...haloed(c.dimmed, c), margin: 12, overflow: 'truncate' as const, width: 110 },
  axisLine: { lineStyle: { color: c.line } },
  axisTick: { show: false },
});
const score = (c: Colours) => ({
  type: 'value' as const,
  min: 0,
  max: 1,
  interval: 0.25,
  axisLabel: { ...haloed(c.dimmed, c), formatter: rate },
  splitLine: { lineStyle: { color: c.line } },
});

/** shades maps scores to shades: darker for a higher score, from the lowest to the highest of all. */
function shades(c: Colours, of: Candidate[], dimension: number): EChartsOption['visualMap'] {
  const scores = of.map(point);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const more = Math.max(high - low, 0.01) / 2; // the lowest stays visible
  return {
    type: 'continuous',
    show: false,
    dimension,
    min: low - more,
    max: high,
    inRange: { color: [c.ground, c.mark] },
  };
}

/** Curve is the score at each value of one parameter, with its whiskers, and a line at the score of the base. */
function Curve({ search, of, names, axes, places, tip }: Given) {
  const t = useText();
  const base = of.find((c) => c.n === 0);
  const option = (c: Colours): EChartsOption => ({
    grid: { left: 8, right: 80, top: 16, bottom: 8 },
    xAxis: category(c, names[0]!, axes[0]!),
    yAxis: score(c),
    series: [
      {
        type: 'custom',
        data: of.map((x) => [places(x)[0]!, x.score!.lower ?? NaN, x.score!.upper ?? NaN]),
        renderItem: (_, api) => {
          const [x, low] = api.coord([api.value(0), api.value(1)]) as [number, number];
          const high = api.coord([api.value(0), api.value(2)])[1]!;
          const line = (x1: number, y1: number, x2: number, y2: number) => ({
            type: 'line' as const,
            shape: { x1, y1, x2, y2 },
            style: { stroke: c.mark, lineWidth: 1.75 },
          });
          return {
            type: 'group',
            children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)],
          };
        },
      },
      {
        type: 'line',
        data: of.map((x) => ({
          value: [places(x)[0]!, point(x)],
          symbol: x.n === search.best ? 'diamond' : 'circle',
          symbolSize: x.n === search.best ? 16 : 10,
          itemStyle: {
            color: isOut(x) ? c.ground : c.mark,
            borderColor: x.n === search.best ? c.text : c.mark,
            borderWidth: 2,
          },
          label: { show: true, position: 'right', formatter: sign(search, x), fontSize: 12, ...haloed(c.text, c) },
        })),
        lineStyle: { color: c.mark, opacity: 0.5, width: 1.5 },
        markLine: base && {
          silent: true,
          z: 1,
          symbol: 'none',
          data: [{ yAxis: point(base) }],
          lineStyle: { color: c.text, type: 'dashed' },
          label: {
            position: 'end',
            color: c.text,
            formatter: t('tune.baseLine', { score: rate(point(base)) }),
          },
        },
      },
    ],
  });
  const label = t('tune.curveLabel', { name: names[0]!, n: of.length });
  return <Plot label={label} height={260} minWidth={130 + 40 * axes[0]!.length} option={option} tip={tip} />;
}

/** HeatMap is the score at each pair of values of two parameters. */
function HeatMap({ search, of, names, axes, places, tip }: Given) {
  const t = useText();
  const [columns, rows] = axes as [string[], string[]];
  const option = (c: Colours): EChartsOption => ({
    grid: { left: 8, right: 8, top: 8, bottom: 8 },
    xAxis: category(c, names[0]!, columns),
    yAxis: category(c, names[1]!, rows),
    visualMap: shades(c, of, 2),
    series: {
      type: 'heatmap',
      data: of.map((x) => ({
        value: [...places(x), point(x)],
        itemStyle: {
          borderColor: x.n === search.best ? c.text : c.ground,
          borderWidth: x.n === search.best ? 2.5 : 2,
          borderRadius: 3,
        },
        label: { formatter: `${rate(point(x))} ${sign(search, x)}` },
      })),
      label: { show: true, ...haloed(c.text, c) },
    },
  });
  const label = t('tune.mapLabel', { a: names[0]!, b: names[1]!, n: of.length });
  return (
    <Plot
      label={label}
      height={34 * rows.length + 60}
      minWidth={90 + 68 * columns.length}
      maxWidth={200 + 130 * columns.length}
      option={option}
      tip={tip}
    />
  );
}

/** Lines has a line for each candidate through its values of many parameters, to its score. */
function Lines({ search, of, names, axes, places, tip }: Given) {
  const t = useText();
  const option = (c: Colours): EChartsOption => ({
    parallel: { left: 60, right: 60, top: 16, bottom: 36 },
    parallelAxis: [...names.map((name, i) => category(c, name, axes[i]!)), { ...score(c), name: t('tune.score') }].map(
      (axis, dim) => ({
        ...axis,
        dim,
        nameLocation: 'start',
        nameTextStyle: { color: c.text },
        axisLine: { lineStyle: { color: c.dimmed } },
      }),
    ),
    visualMap: shades(c, of, names.length),
    series: {
      type: 'parallel',
      data: of.map((x) => ({
        value: [...places(x), point(x)],
        lineStyle: { width: x.n === search.best ? 4 : 1.75, type: isOut(x) ? 'dashed' : 'solid', opacity: 1 },
      })),
      emphasis: { lineStyle: { width: 4 } },
    },
  });
  const label = t('tune.linesLabel', { n: of.length, names: names.join(', ') });
  return <Plot label={label} height={280} minWidth={140 * (names.length + 1)} option={option} tip={tip} />;
}
