// How jobs are named, on every screen that shows them.
import type { Job } from '../../api/jobs';
import type { T } from '../../text';

/** kindOf names a kind of jobs. */
export function kindOf(t: T, kind: string): string {
  return kind === 'tool_eval' || kind === 'judge' ? t(`jobs.${kind}`) : kind || t('jobs.other');
}

/** titleOf says what a job does. */
export function titleOf(t: T, j: Job): string {
  if (!j.about) return kindOf(t, j.job_type);
  if (j.job_type === 'tool_eval') return t('jobs.runOf', { what: j.about });
  if (j.job_type === 'judge') return t('jobs.judgeOf', { what: j.about });
  return `${kindOf(t, j.job_type)}: ${j.about}`;
}
