// How candidates do by their parameters: a curve for one parameter, a map for two, lines for more. The table of
// candidates has the same figures.
import { Box, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import type { Schemas } from '../../api/client';
import { useText } from '../../text';
import { Levels } from '../../ui/chart';
import { inUnit, intervalSentence } from '../../ui/interval';
import { ScrollBox } from '../../ui/scroll';
import { shown } from './space';

export type Search = NonNullable<Schemas['TuneView']['models']>[number];
export type Candidate = NonNullable<Search['candidates']>[number];

/** axisOf lists the values of a parameter: numbers by size, then words, then what is not sent. */
function axisOf(candidates: Candidate[], i: number): unknown[] {
  const values = new Map(candidates.map((c) => [shown(c.values?.[i]), c.values?.[i]]));
  const rank = (v: unknown) => (typeof v === 'number' ? 0 : v === null || v === undefined ? 2 : 1);
  return [...values.values()].sort((a, b) =>
    rank(a) !== rank(b)
      ? rank(a) - rank(b)
      : typeof a === 'number' && typeof b === 'number'
        ? a - b
        : shown(a).localeCompare(shown(b)),
  );
}

const place = (axis: unknown[], v: unknown) => axis.findIndex((x) => shown(x) === shown(v));
/** nameIn is the name of a candidate without that of its model. */
export const nameIn = (search: Search, c: Candidate) =>
  c.name.startsWith(`${search.model} `) ? c.name.slice(search.model.length + 1) : c.name;

const point = (c: Candidate) => c.score?.point ?? null;
const nameOf = (search: Search, c: Candidate) =>
  (search.names ?? []).map((n, i) => `${n} ${shown(c.values?.[i])}`).join(', ');

/** colour is darker where the score is higher, from the lowest to the highest of all. */
function colour(score: number, low: number, high: number): string {
  const share = high > low ? (score - low) / (high - low) : 0.5;
  return `color-mix(in srgb, var(--cv-mark) ${Math.round(12 + 76 * share)}%, var(--mantine-color-body))`;
}

function useSentence(search: Search) {
  const t = useText();
  return (c: Candidate) =>
    `${nameOf(search, c)}: ${inUnit(point(c), 'rate')}. ${c.score ? intervalSentence(t, c.score) : ''}`;
}

/** ResponseChart is the chart that suits the number of parameters. */
export function ResponseChart({ of: search }: { of: Search }) {
  const t = useText();
  const scored = (search.candidates ?? []).filter((c) => point(c) !== null);
  const names = search.names ?? [];
  if (names.length === 0 || scored.length < 2) return null;
  return (
    <Box>
      <Text size="xs" c="dimmed" mb={4}>
        {t('tune.chartText')}
      </Text>
      {names.length === 1 && <Curve search={search} of={scored} />}
      {names.length === 2 && <HeatMap search={search} of={scored} />}
      {names.length > 2 && <Parallel search={search} of={scored} />}
    </Box>
  );
}

const height = 240;
const top = 14;
const bottom = 40;
const y = (v: number) => top + (1 - v) * (height - top - bottom);
const levels = [0, 0.25, 0.5, 0.75, 1].map((v) => ({ y: y(v), text: inUnit(v, 'rate') }));

/** Curve is the score at each value of one parameter, with its whiskers. */
function Curve({ search, of }: { search: Search; of: Candidate[] }) {
  const t = useText();
  const { ref, width: measured } = useElementSize();
  const sentence = useSentence(search);
  const axis = axisOf(of, 0);
  const width = Math.max(measured, 300, 60 + 36 * axis.length);
  const x = (i: number) => 56 + ((i + 0.5) * (width - 70)) / axis.length;
  const line = of
    .map((c) => [place(axis, c.values?.[0]), point(c)!] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([i, v], k) => `${k ? 'L' : 'M'}${x(i)} ${y(v)}`)
    .join('');
  const label = t('tune.curveLabel', { name: search.names![0]!, n: of.length });
  return (
    <Box ref={ref}>
      <ScrollBox label={label}>
        <svg width={width} height={height} role="img" aria-label={label} style={{ display: 'block', fontSize: 11 }}>
          <Levels of={levels} left={48} right={width - 8} />
          <path d={line} fill="none" stroke="var(--cv-mark)" strokeOpacity={0.5} strokeWidth={1.5} />
          {of.map((c) => {
            const at = x(place(axis, c.values?.[0]));
            const s = c.score!;
            return (
              <g key={c.n} data-candidate={c.n}>
                <title>{sentence(c)}</title>
                {s.lower !== null && s.upper !== null && (
                  <path
                    d={`M${at} ${y(s.lower)}V${y(s.upper)}M${at - 4} ${y(s.lower)}h8M${at - 4} ${y(s.upper)}h8`}
                    stroke="var(--cv-mark)"
                    fill="none"
                    strokeWidth={1.75}
                  />
                )}
                <circle
                  cx={at}
                  cy={y(s.point!)}
                  r={c.n === search.best ? 7 : 5}
                  style={{ fill: 'var(--cv-mark)' }}
                  stroke="var(--mantine-color-text)"
                  strokeWidth={c.n === search.best ? 2 : 0}
                />
              </g>
            );
          })}
          {axis.map((v, i) => (
            <text key={i} x={x(i)} y={height - 22} textAnchor="middle" fill="var(--mantine-color-dimmed)">
              {shown(v)}
            </text>
          ))}
          <text x={width / 2} y={height - 4} textAnchor="middle" fill="var(--mantine-color-text)">
            {search.names![0]}
          </text>
        </svg>
      </ScrollBox>
    </Box>
  );
}

/** HeatMap is the score at each pair of values of two parameters. */
function HeatMap({ search, of }: { search: Search; of: Candidate[] }) {
  const t = useText();
  const sentence = useSentence(search);
  const columns = axisOf(of, 0);
  const rows = axisOf(of, 1);
  const scores = of.map((c) => point(c)!);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const left = 30 + 7 * Math.max(...rows.map((v) => shown(v).length));
  const [w, h] = [62, 30];
  const width = left + w * columns.length + 8;
  const tall = h * rows.length + 44;
  const label = t('tune.mapLabel', { a: search.names![0]!, b: search.names![1]!, n: of.length });
  return (
    <ScrollBox label={label}>
      <svg width={width} height={tall} role="img" aria-label={label} style={{ display: 'block', fontSize: 11 }}>
        {of.map((c) => {
          const cx = left + w * place(columns, c.values?.[0]);
          const cy = h * (rows.length - 1 - place(rows, c.values?.[1]));
          const best = c.n === search.best;
          return (
            <g key={c.n} data-candidate={c.n}>
              <title>{sentence(c)}</title>
              <rect
                x={cx + 1}
                y={cy + 1}
                width={w - 2}
                height={h - 2}
                rx={3}
                style={{ fill: colour(point(c)!, low, high) }}
                stroke={best ? 'var(--mantine-color-text)' : 'none'}
                strokeWidth={2}
              />
              <text
                x={cx + w / 2}
                y={cy + h / 2 + 4}
                textAnchor="middle"
                fill="var(--mantine-color-text)"
                stroke="var(--mantine-color-body)"
                strokeWidth={3}
                paintOrder="stroke"
                fontWeight={best ? 700 : 400}
              >
                {inUnit(point(c), 'rate')}
              </text>
            </g>
          );
        })}
        {rows.map((v, i) => (
          <text
            key={i}
            x={left - 6}
            y={h * (rows.length - 1 - i) + h / 2 + 4}
            textAnchor="end"
            fill="var(--mantine-color-dimmed)"
          >
            {shown(v)}
          </text>
        ))}
        {columns.map((v, i) => (
          <text
            key={i}
            x={left + w * (i + 0.5)}
            y={h * rows.length + 16}
            textAnchor="middle"
            fill="var(--mantine-color-dimmed)"
          >
            {shown(v)}
          </text>
        ))}
        <text x={left} y={tall - 6} fill="var(--mantine-color-text)">
          {`→ ${search.names![0]}   ↑ ${search.names![1]}`}
        </text>
      </svg>
    </ScrollBox>
  );
}

/** Parallel is a line for each candidate through its values of many parameters, to its score. */
function Parallel({ search, of }: { search: Search; of: Candidate[] }) {
  const t = useText();
  const { ref, width: measured } = useElementSize();
  const sentence = useSentence(search);
  const names = search.names ?? [];
  const axes = names.map((_, i) => axisOf(of, i));
  const scores = of.map((c) => point(c)!);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const width = Math.max(measured, 140 * (names.length + 1));
  const x = (i: number) => 40 + (i * (width - 90)) / names.length;
  const across = (i: number, v: unknown) => {
    const axis = axes[i]!;
    return y(axis.length > 1 ? place(axis, v) / (axis.length - 1) : 0.5);
  };
  const label = t('tune.linesLabel', { n: of.length, names: names.join(', ') });
  return (
    <Box ref={ref}>
      <ScrollBox label={label}>
        <svg width={width} height={height} role="img" aria-label={label} style={{ display: 'block', fontSize: 11 }}>
          {[...of]
            .sort((a, b) => point(a)! - point(b)!)
            .map((c) => (
              <path
                key={c.n}
                data-candidate={c.n}
                d={`${names.map((_, i) => `${i ? 'L' : 'M'}${x(i)} ${across(i, c.values?.[i])}`).join('')}L${x(names.length)} ${y(point(c)!)}`}
                fill="none"
                style={{ stroke: colour(point(c)!, low, high) }}
                strokeWidth={c.n === search.best ? 4 : 1.75}
              >
                <title>{sentence(c)}</title>
              </path>
            ))}
          {[...names, t('tune.score')].map((name, i) => (
            <g key={name}>
              <line x1={x(i)} x2={x(i)} y1={top} y2={height - bottom} stroke="var(--mantine-color-dimmed)" />
              <text x={x(i)} y={height - 8} textAnchor="middle" fill="var(--mantine-color-text)">
                {name}
              </text>
              {(i < names.length ? axes[i]! : [0, 0.5, 1]).map((v) => (
                <text
                  key={shown(v)}
                  x={x(i) + 6}
                  y={(i < names.length ? across(i, v) : y(v as number)) + 4}
                  fill="var(--mantine-color-dimmed)"
                  stroke="var(--mantine-color-body)"
                  strokeWidth={3}
                  paintOrder="stroke"
                >
                  {i < names.length ? shown(v) : inUnit(v as number, 'rate')}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </ScrollBox>
    </Box>
  );
}
