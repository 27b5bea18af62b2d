// Updates the page's data about jobs and runs by events.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { $api, type Schemas } from './client';
import { live, type LiveEvent } from './live';
import { queryKeys, type Route, runResultRoutes, useInvalidate } from './queries';

export type Job = Schemas['JobJob'];

/** hasEnded reports whether a job has ended. */
export const hasEnded = (j: Job) => ['done', 'failed', 'cancelled'].includes(j.status);

/** The shortest time between two reads of a list, in milliseconds: many jobs send events of progress. */
const minIntervalMs = 1000;

/** useLiveQueries invalidates queries of jobs and runs when events report a change. The shell uses it once. */
export function useLiveQueries() {
  const client = useQueryClient();
  const invalidate = useInvalidate();
  useEffect(() => {
    const due = new Set<Route>();
    let timer = 0;
    const stale = (...routes: Route[]) => {
      for (const r of routes) due.add(r);
      timer ||= window.setTimeout(() => {
        timer = 0;
        const now = new Set(due);
        due.clear();
        void invalidate.routes(...now);
      }, minIntervalMs);
    };
    const hear = (e: LiveEvent) => {
      if (e.type === 'sync' || e.type === 'events_skipped') {
        for (const j of [...((e.recent_jobs as Job[]) ?? []), ...((e.active_jobs as Job[]) ?? [])])
          client.setQueryData(queryKeys.job(j.job_id), j);
        stale('/api/jobs', '/api/jobs/{id}', '/api/tool-eval/history', '/api/tool-eval/history/{id}');
      } else if (e.type === 'job_progress' && e.job_id) {
        client.setQueryData(
          queryKeys.job(e.job_id),
          (j: Job | undefined) => j && { ...j, done: Number(e.done), total: Number(e.total), eta_ms: Number(e.eta_ms) },
        );
        stale('/api/jobs');
      } else if (e.type.startsWith('job_')) {
        if (e.job_id) void invalidate.job(e.job_id);
        stale(
          '/api/jobs',
          '/api/tool-eval/history',
          '/api/tool-eval/history/{id}',
          '/api/tool-eval/param-tune/history',
          '/api/tool-eval/prompt-tune/history',
          ...(['job_completed', 'job_failed', 'job_cancelled'].includes(e.type) ? runResultRoutes : []),
        );
      }
    };
    const deaf = live.listen(hear);
    return () => {
      deaf();
      window.clearTimeout(timer);
    };
  }, [client, invalidate]);
}

/** useActiveJobs returns the user's jobs that have not ended, the newest first. */
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
