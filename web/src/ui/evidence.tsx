// The evidence that a gate has gathered task by task: a line for a pass, one for a failure, and the height at which
// either wins. The legend shows the last values in words.
import { Box, Group, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type Translator, useText } from '../text';
import { Levels } from './chart';
import { number } from './format';
import classes from './evidence.module.css';
import common from './common.module.css';

/** A point is a number of tasks, with the natural logarithms of the evidence for a pass and for a failure. */
export type EvidencePoint = [tasks: number, pass: number, fail: number];

/** odds writes evidence, a natural logarithm, as "40 to 1". */
export function odds(t: Translator, log: number): string {
  const times = Math.exp(Math.abs(log));
  const text = times >= 1e6 ? t('gates.million') : number(times, times < 9.95 ? 1 : 0);
  return log < 0 ? t('gates.odds', { a: 1, b: text }) : t('gates.odds', { a: text, b: 1 });
}

/** decidedAfter writes after how many cases a gate passed or failed, or that it is undecided. */
export function decidedAfter(t: Translator, verdict: string, cases: number, of?: number): string {
  const key = verdict === 'PASS' ? 'passedAfter' : verdict === 'FAIL' ? 'failedAfter' : 'openAfter';
  return t(`gates.${key}`, {
    cases: of === undefined ? number(cases) : t('common.ofRows', { n: number(cases), total: number(of) }),
  });
}

const left = 64,
  right = 12,
  top = 10,
  bottom = 22,
  height = 150;
/** The lowest value that is drawn, 1 to 10: below it a curve has no more information. */
const lowest = -Math.log(10);

/** EvidenceChart draws a curve. name is that of the gate. */
export function EvidenceChart({ curve, needed, name }: { curve: EvidencePoint[]; needed: number; name: string }) {
  const t = useText();
  const { ref, width: measured } = useElementSize();
  const last = curve.at(-1);
  if (!last) return null;
  const width = Math.max(measured, 240);
  const most = Math.max(last[0], 5);
  const highest = needed * 1.15;
  const x = (tasks: number) => left + (tasks / most) * (width - left - right);
  const y = (log: number) =>
    top + ((highest - Math.min(Math.max(log, lowest), highest)) / (highest - lowest)) * (height - top - bottom);
  const line = (side: 1 | 2) => `M${x(0)} ${y(0)}${curve.map((p) => `L${x(p[0])} ${y(p[side])}`).join('')}`;
  const pass = t('gates.forPass', { odds: odds(t, last[1]) });
  const fail = t('gates.forFailure', { odds: odds(t, last[2]) });
  const asked = t('results.cases', { n: number(last[0]) });
  const enough = t('gates.decides', { odds: odds(t, needed) });
  return (
    <Box ref={ref} data-evidence={name}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${name}, ${asked}: ${pass}; ${fail}; ${enough}`}
        className={classes.chart}
      >
        <Levels
          of={[lowest, 0, Math.log(10), needed].map((v) => ({ y: y(v), text: odds(t, v) }))}
          left={left}
          right={width - right}
        />
        <path d={`M${left} ${y(needed)}H${width - right}`} className={classes.enough} />
        <path d={line(2)} className={classes.fail} />
        <path d={line(1)} className={classes.pass} />
        <text x={left} y={height - 6} fill="var(--mantine-color-dimmed)">
          0
        </text>
        <text x={width - right} y={height - 6} textAnchor="end" fill="var(--mantine-color-dimmed)">
          {asked}
        </text>
      </svg>
      <Group gap="md" style={{ rowGap: 2 }}>
        <Sign of={classes.pass!} text={pass} />
        <Sign of={classes.fail!} text={fail} />
        <Sign of={classes.enough!} text={enough} />
      </Group>
    </Box>
  );
}

/** Sign is a line of the legend. */
function Sign({ of, text }: { of: string; text: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <svg width={22} height={8} aria-hidden="true">
        <path d="M0 4H22" className={of} />
      </svg>
      <Text size="xs" className={common.num}>
        {text}
      </Text>
    </Group>
  );
}
