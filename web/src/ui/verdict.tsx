// Verdicts of attempts, runs and gates.
import { Badge, Box, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react';
import type { Schemas } from '../api/client';
import { useText } from '../text';
import { number } from './format';

export type VerdictName = 'pass' | 'fail' | 'error' | 'not_run';

const marks = {
  pass: { icon: IconCircleCheck, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  fail: { icon: IconCircleX, color: 'var(--cv-fail)', ground: 'var(--cv-fail-ground)' },
  error: { icon: IconAlertTriangle, color: 'var(--cv-error)', ground: 'var(--cv-error-ground)' },
  not_run: { icon: IconCircleDashed, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
} as const;

/** Verdict shows a verdict with icon, word and colour; never colour alone. */
export function Verdict({ of, text, compact }: { of: VerdictName; text?: string; compact?: boolean }) {
  const t = useText();
  const m = marks[of];
  const word = text ?? t(`common.${of}`);
  if (compact) {
    return (
      <Box
        component="span"
        role="img"
        aria-label={word}
        title={word}
        style={{ display: 'inline-flex', color: m.color }}
      >
        <m.icon size={16} aria-hidden />
      </Box>
    );
  }
  return (
    <Badge leftSection={<m.icon size={14} aria-hidden />} style={{ color: m.color, background: m.ground }}>
      {word}
    </Badge>
  );
}

/** gateVerdict maps the verdict of a gate, or the state of a run, to the verdict of an attempt. */
export function gateVerdict(v: string | undefined): VerdictName {
  if (v === 'PASS' || v === 'passed') return 'pass';
  if (v === 'FAIL' || v === 'failed') return 'fail';
  return v ? 'error' : 'not_run';
}

/**
 * FindingCount shows how many of all items have a finding, and how many of the failing attempts, if that differs.
 */
export function FindingCount({ of: f }: { of: Schemas['PanelFinding'] }) {
  const t = useText();
  const failing = (f.failed ?? 0) > 0 && (f.count !== f.failed || f.of !== f.failing);
  return (
    <Text size="sm" fw={600} data-finding={f.code}>
      {t('common.found', { n: number(f.count), of: number(f.of), unit: f.unit })}
      {failing && ` · ${t('common.foundFailing', { n: number(f.failed ?? 0), of: number(f.failing ?? 0) })}`}
    </Text>
  );
}
