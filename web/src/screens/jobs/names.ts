// The names of jobs, for all screens.
import type { Job } from '../../api/jobs';
import type { Translator } from '../../text';

/** jobKind names a kind of jobs. */
export function jobKind(t: Translator, kind: string): string {
  return kind === 'tool_eval' || kind === 'judge' ? t(`jobs.${kind}`) : kind || t('jobs.other');
}

/** jobTitle names a job by its kind and its object. */
export function jobTitle(t: Translator, j: Job): string {
  if (!j.about) return jobKind(t, j.job_type);
  if (j.job_type === 'tool_eval') return t('jobs.runOf', { what: j.about });
  if (j.job_type === 'judge') return t('jobs.judgeOf', { what: j.about });
  return `${jobKind(t, j.job_type)}: ${j.about}`;
}
