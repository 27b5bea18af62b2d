// A chart of pass rates over time: one column a run, a mark with its whisker for each configuration, a dashed
// line for the baseline. The table below it has the same numbers.
import { Box, Group, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useNavigate } from 'react-router';
import { useText } from '../../text';
import { Levels } from '../../ui/chart';
import { inUnit, type Interval, intervalSentence } from '../../ui/interval';
import { moment } from '../../ui/format';
import { ScrollBox } from '../../ui/scroll';
import common from '../../ui/common.module.css';

export type Point = { series: string; rate: Interval };
export type Column = { run: string; at: string; baseline?: boolean; points: Point[] };

const colours = [
  'var(--cv-mark)',
  'light-dark(#a34a00, #f0a35b)',
  'light-dark(#0b6e6e, #5fd0c8)',
  'light-dark(#8a2f9b, #d79be6)',
  'light-dark(#5c6470, #b8bec9)',
];
const shapes = ['circle', 'square', 'diamond', 'triangle'] as const;

/** Mark is the sign of the nth series: colour and shape together, so that neither is needed alone. */
function Mark({ n, x, y }: { n: number; x: number; y: number }) {
  const fill = { fill: colours[n % colours.length] };
  switch (shapes[n % shapes.length]) {
    case 'square':
      return <rect x={x - 5} y={y - 5} width={10} height={10} style={fill} />;
    case 'diamond':
      return <path d={`M${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}L${x - 7} ${y}Z`} style={fill} />;
    case 'triangle':
      return <path d={`M${x} ${y - 7}L${x + 7} ${y + 5}L${x - 7} ${y + 5}Z`} style={fill} />;
    default:
      return <circle cx={x} cy={y} r={5.5} style={fill} />;
  }
}

export function RateChart({
  columns,
  baseline,
  label,
}: {
  columns: Column[];
  baseline?: number | null;
  label: string;
}) {
  const t = useText();
  const navigate = useNavigate();
  const { ref, width: measured } = useElementSize();
  const series = [...new Set(columns.flatMap((c) => c.points.map((p) => p.series)))];
  const left = 44,
    right = 16,
    top = 14,
    bottom = 34,
    height = 260;
  const room = Math.max(measured, 280);
  const step = Math.max((room - left - right) / Math.max(columns.length, 1), 26 + 12 * Math.min(series.length, 6));
  const width = left + right + step * columns.length;
  const y = (v: number) => top + (1 - v) * (height - top - bottom);
  const every = Math.ceil(92 / step); // labels of time need space
  return (
    <Box ref={ref}>
      <ScrollBox label={label}>
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={label}
          style={{ display: 'block', fontSize: 11, fontVariantNumeric: 'tabular-nums' }}
        >
          <Levels
            of={[0, 0.25, 0.5, 0.75, 1].map((v) => ({ y: y(v), text: inUnit(v, 'rate') }))}
            left={left}
            right={width - right}
          />
          {baseline !== null && baseline !== undefined && (
            <line
              x1={left}
              x2={width - right}
              y1={y(baseline)}
              y2={y(baseline)}
              stroke="var(--mantine-color-text)"
              strokeDasharray="6 4"
              strokeWidth={1.5}
            />
          )}
          {columns.map((c, i) => {
            const middle = left + step * (i + 0.5);
            return (
              <g key={c.run} style={{ cursor: 'pointer' }} onClick={() => navigate(`/runs/${c.run}`)}>
                <rect x={middle - step / 2} y={top} width={step} height={height - top} fill="transparent" />
                {c.points.map((p) => {
                  const n = series.indexOf(p.series);
                  const x =
                    middle + (n - (series.length - 1) / 2) * Math.min(12, (step - 14) / Math.max(series.length, 1));
                  if (p.rate.point === null) return null;
                  return (
                    <g key={p.series}>
                      <title>{`${p.series}: ${inUnit(p.rate.point, 'rate')}. ${intervalSentence(t, p.rate)}`}</title>
                      {p.rate.lower !== null && p.rate.upper !== null && (
                        <path
                          d={`M${x} ${y(p.rate.lower)}V${y(p.rate.upper)}M${x - 4} ${y(p.rate.lower)}h8M${x - 4} ${y(p.rate.upper)}h8`}
                          fill="none"
                          strokeWidth={1.75}
                          style={{ stroke: colours[n % colours.length], strokeOpacity: 0.75 }}
                        />
                      )}
                      <Mark n={n} x={x} y={y(p.rate.point)} />
                    </g>
                  );
                })}
                {(c.baseline ||
                  (i % every === 0 && !columns.some((o, k) => o.baseline && Math.abs(k - i) < every))) && (
                  <text
                    x={middle}
                    y={height - 14}
                    textAnchor="middle"
                    fill="var(--mantine-color-dimmed)"
                    fontWeight={c.baseline ? 700 : 400}
                  >
                    {c.baseline ? t('experiments.baseline') : moment(c.at).slice(5)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </ScrollBox>
      <Group gap="md" mt={4} pl={left}>
        {series.map((s, n) => (
          <Group key={s} gap={6} wrap="nowrap">
            <svg width={14} height={14} aria-hidden="true">
              <Mark n={n} x={7} y={7} />
            </svg>
            <Text size="xs" className={common.untrusted}>
              {s}
            </Text>
          </Group>
        ))}
        {baseline !== null && baseline !== undefined && (
          <Group gap={6} wrap="nowrap">
            <svg width={22} height={8} aria-hidden="true">
              <line
                x1={0}
                x2={22}
                y1={4}
                y2={4}
                stroke="var(--mantine-color-text)"
                strokeDasharray="6 4"
                strokeWidth={1.5}
              />
            </svg>
            <Text size="xs">{t('experiments.baselineAt', { score: inUnit(baseline, 'rate') })}</Text>
          </Group>
        )}
      </Group>
    </Box>
  );
}
