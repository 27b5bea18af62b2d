import { Badge } from '@mantine/core';
import {
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconHandStop,
  IconPlayerPlay,
  IconRefresh,
} from '@tabler/icons-react';
import type { Job } from '../../api/jobs';
import { useText } from '../../text';

const looks = {
  pending: { icon: IconClock, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
  queued: { icon: IconClock, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
  running: {
    icon: IconPlayerPlay,
    color: 'var(--cv-mark)',
    ground: 'color-mix(in srgb, var(--cv-mark) 12%, transparent)',
  },
  done: { icon: IconCircleCheck, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  failed: { icon: IconCircleX, color: 'var(--cv-fail)', ground: 'var(--cv-fail-ground)' },
  cancelled: { icon: IconHandStop, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
  interrupted: { icon: IconRefresh, color: 'var(--cv-error)', ground: 'var(--cv-error-ground)' },
} as const;

/** JobState is the state of a job with icon, word and colour. */
export function JobState({ of }: { of: Job }) {
  const t = useText();
  const s = (of.status in looks ? of.status : 'pending') as keyof typeof looks;
  const l = looks[s];
  return (
    <Badge
      data-state={of.status}
      leftSection={<l.icon size={14} aria-hidden />}
      style={{ color: l.color, background: l.ground }}
    >
      {of.cancel_requested && !of.finished_at ? t('jobs.cancelling') : t(`jobs.${s}`)}
    </Badge>
  );
}
