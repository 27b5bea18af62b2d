// Progress and outcomes of attempts: bars with the same numbers as text.
import { Box, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useText } from '../text';
import { duration, number } from './format';
import common from './common.module.css';

const kinds = [
  { key: 'pass', icon: IconCircleCheck, color: 'var(--cv-pass)' },
  { key: 'fail', icon: IconCircleX, color: 'var(--cv-fail)' },
  { key: 'error', icon: IconAlertTriangle, color: 'var(--cv-error)' },
  { key: 'not_run', icon: IconCircleDashed, color: 'var(--cv-none)' },
] as const;

/** Counts of attempts by verdict, from the API. */
export type Counts = { pass: number; fail: number; error: number; not_run?: number };

/** OutcomeCounts is a bar of verdicts with their counts in words. total includes attempts that are still to come. */
export function OutcomeCounts({ of, total, bar = true }: { of: Counts; total?: number; bar?: boolean }) {
  const t = useText();
  const parts = kinds.map((k) => ({ ...k, n: of[k.key] ?? 0 }));
  const all = Math.max(
    total ?? 0,
    parts.reduce((sum, p) => sum + p.n, 0),
  );
  return (
    <Box style={{ minWidth: 0 }}>
      {bar && (
        <Box
          aria-hidden
          style={{
            display: 'flex',
            gap: 1,
            height: 6,
            borderRadius: 3,
            overflow: 'hidden',
            background: 'var(--cv-none-ground)',
          }}
        >
          {parts.map(
            (p) =>
              p.n > 0 && (
                <Box key={p.key} style={{ width: `${(100 * p.n) / all}%`, background: p.color, flex: 'none' }} />
              ),
          )}
        </Box>
      )}
      <Group gap={10} mt={bar ? 4 : 0} wrap="wrap">
        {parts.map(
          (p) =>
            (p.n > 0 || p.key === 'pass') && (
              <Text
                key={p.key}
                span
                size="xs"
                className={common.num}
                style={{ color: p.color, display: 'inline-flex', alignItems: 'center', gap: 3 }}
              >
                <p.icon size={13} aria-hidden /> {number(p.n)} {t(`common.${p.key}`).toLowerCase()}
              </Text>
            ),
        )}
      </Group>
    </Box>
  );
}

/** JudgedCount is how many of the planned attempts were judged, and how many are lost. */
export function JudgedCount({ of }: { of: { planned: number; judged: number; lost: number } }) {
  const t = useText();
  if (of.planned === 0) return null;
  return (
    <Text size="xs" c="dimmed" data-judged>
      {t('common.judged', { judged: number(of.judged), planned: number(of.planned) })}
      {of.lost > 0 && (
        <Text span inherit fw={600} style={{ color: 'var(--cv-error)' }}>
          {' '}
          · {t('common.lost', { n: number(of.lost) })}
        </Text>
      )}
    </Text>
  );
}

/** Progress is a bar with the number of finished attempts and the remaining time, if they are known. */
export function Progress({
  label,
  done,
  total,
  eta,
  children,
}: {
  label: string;
  done: number;
  total: number;
  eta?: number;
  children?: ReactNode;
}) {
  const t = useText();
  const share = total > 0 ? Math.min(1, done / total) : 0;
  return (
    <Box>
      <Box
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={total || undefined}
        aria-valuenow={total > 0 ? done : undefined}
        style={{ height: 8, borderRadius: 4, overflow: 'hidden', background: 'var(--cv-none-ground)' }}
      >
        <Box
          style={{
            width: `${100 * share}%`,
            height: '100%',
            background: 'var(--cv-mark)',
            transition: 'width 200ms linear',
          }}
        />
      </Box>
      <Group gap="xs" mt={4} justify="space-between">
        <Text size="xs" c="dimmed" className={common.num}>
          {total > 0 ? t('common.ofRows', { n: number(done), total: number(total) }) : number(done)}
          {eta ? ` · ${t('jobs.left', { time: duration(Math.max(eta, 1000)) })}` : ''}
        </Text>
        {children}
      </Group>
    </Box>
  );
}
