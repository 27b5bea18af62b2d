// Keeps what the page knows of jobs and runs in step with events.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Schemas } from './client';
import { $api } from './client';
import { live, type LiveEvent } from './live';

export type Job = Schemas['JobJob'];

/** hasEnded reports whether a job has ended. */
export const hasEnded = (j: Job) => ['done', 'failed', 'cancelled'].includes(j.status);

/** How often lists are read again at most, in milliseconds: many jobs tell of their progress. */
const minIntervalMs = 1000;

/** What is told about runs that are over. */
const results = [
  '/api/runs/{id}',
  '/api/runs/{id}/cells',
  '/api/runs/{id}/grid',
  '/api/runs/{id}/change',
  '/api/runs/{id}/judgings',
  '/api/experiments',
  '/api/experiments/{id}',
  '/api/experiments/{id}/timeline',
  '/api/tool-suites/{id}/trend',
  '/api/leaderboard',
];

/** useLiveQueries invalidates queries of jobs and runs when events report a change. The shell uses it once. */
export function useLiveQueries() {
  const client = useQueryClient();
  useEffect(() => {
    const due = new Set<string>();
    let timer = 0;
    const stale = (...routes: string[]) => {
      for (const r of routes) due.add(r);
      timer ||= window.setTimeout(() => {
        timer = 0;
        const now = new Set(due);
        due.clear();
        void client.invalidateQueries({ predicate: (q) => now.has(String(q.queryKey[1])) });
      }, minIntervalMs);
    };
    const keyOf = (id: string) => $api.queryOptions('get', '/api/jobs/{id}', { params: { path: { id } } }).queryKey;
    const hear = (e: LiveEvent) => {
      if (e.type === 'sync' || e.type === 'events_skipped') {
        for (const j of [...((e.recent_jobs as Job[]) ?? []), ...((e.active_jobs as Job[]) ?? [])])
          client.setQueryData(keyOf(j.job_id), j);
        stale('/api/jobs', '/api/jobs/{id}', '/api/tool-eval/history', '/api/tool-eval/history/{id}');
      } else if (e.type === 'job_progress' && e.job_id) {
        client.setQueryData(
          keyOf(e.job_id),
          (j: Job | undefined) => j && { ...j, done: Number(e.done), total: Number(e.total), eta_ms: Number(e.eta_ms) },
        );
        stale('/api/jobs');
      } else if (e.type.startsWith('job_')) {
        if (e.job_id) void client.invalidateQueries({ queryKey: keyOf(e.job_id) });
        stale(
          '/api/jobs',
          '/api/tool-eval/history',
          '/api/tool-eval/history/{id}',
          ...(['job_completed', 'job_failed', 'job_cancelled'].includes(e.type) ? results : []),
        );
      }
    };
    const deaf = live.listen(hear);
    return () => {
      deaf();
      window.clearTimeout(timer);
    };
  }, [client]);
}

/** useActiveJobs are the user's jobs that have not ended, the newest first. */
export function useActiveJobs(): Job[] {
  const of = (status: 'running' | 'queued' | 'pending') => ({ params: { query: { status, limit: 50 } } });
  const running = $api.useQuery('get', '/api/jobs', of('running'));
  const queued = $api.useQuery('get', '/api/jobs', of('queued'));
  const pending = $api.useQuery('get', '/api/jobs', of('pending'));
  const seen = new Set<string>();
  return [running, queued, pending]
    .flatMap((q) => q.data?.items ?? [])
    .filter((j) => !seen.has(j.job_id) && seen.add(j.job_id));
}
