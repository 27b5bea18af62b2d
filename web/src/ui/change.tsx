import { Badge, Box, Text, Tooltip } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight, IconEqual } from '@tabler/icons-react';
import { useText } from '../text';
import { type Interval, sampleSize } from './interval';
import { number, signed } from './format';
import common from './common.module.css';

const words = {
  better: 'common.claim_better',
  worse: 'common.claim_worse',
  'no clear difference': 'common.claim_none',
  'not comparable': 'common.claim_incomparable',
} as const;

const marks = {
  better: { icon: IconArrowUpRight, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  worse: { icon: IconArrowDownRight, color: 'var(--cv-fail)', ground: 'var(--cv-fail-ground)' },
} as const;

/**
 * ChangeFigure is a difference of rates with its interval, n and verdict. relative: as a share of the baseline's rate.
 */
export function ChangeFigure({
  of: i,
  verdict,
  p,
  relative = false,
}: {
  of: Interval | undefined;
  verdict?: string;
  p?: number;
  relative?: boolean;
}) {
  const t = useText();
  if (!i || i.point === null)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  const write = (v: number) => (relative ? signed(v).replace(' pp', ' %') : signed(v));
  const m =
    verdict === 'better' || verdict === 'worse'
      ? marks[verdict]
      : { icon: IconEqual, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' };
  return (
    <Tooltip
      label={`${number(i.confidence * 100)} % (${i.method})${p === undefined ? '' : `, p = ${p < 0.001 ? '< 0.001' : number(p, 3)}`}`}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Box
        component="span"
        className={common.num}
        style={{ display: 'inline-flex', flexWrap: 'wrap', alignItems: 'center', columnGap: 8, rowGap: 2 }}
      >
        <Text span fw={600} fz="sm">
          {write(i.point)}
        </Text>
        <Text span size="xs" c="dimmed" className={common.numBelow}>
          {i.lower !== null &&
            i.upper !== null &&
            `${signed(i.lower).replace(' pp', '')} to ${signed(i.upper).replace(' pp', '')} · `}
          {sampleSize(t, i)}
        </Text>
        {verdict && (
          <Badge leftSection={<m.icon size={13} aria-hidden />} style={{ color: m.color, background: m.ground }}>
            {verdict in words ? t(words[verdict as keyof typeof words]) : verdict}
          </Badge>
        )}
      </Box>
    </Tooltip>
  );
}
