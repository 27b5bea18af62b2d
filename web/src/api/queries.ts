// All query keys, and the queries that each change makes stale. $api.useQuery makes the keys of plain reads: ['get',
// route, request]. Other keys, and all invalidations, are defined here, and ESLint forbids them elsewhere.
import { type InvalidateQueryFilters, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api } from './client';
import type { paths } from './schema';

export type Route = keyof paths & string;
/** A run or a collection of traces, by its id. */
type Subject = { kind: string; id: string };

export const queryKeys = {
  job: (id: string) => $api.queryOptions('get', '/api/jobs/{id}', { params: { path: { id } } }).queryKey,
  jobs: (query: object) => ['get', '/api/jobs', query] as const,
  suite: (id: string) => $api.queryOptions('get', '/api/tool-suites/{id}', { params: { path: { id } } }).queryKey,
  suiteSource: (id: string, version: number, yaml: boolean) => ['suite-source', id, version, yaml] as const,
  schema: (name: string) => ['schema', name] as const,
  settings: () => $api.queryOptions('get', '/api/settings', {}).queryKey,
  estimate: (request: string) => ['estimate', request] as const,
  attempts: (run: string, query: object) =>
    ['get', '/api/runs/{id}/cells', { params: { path: { id: run }, query } }] as const,
  runGates: (run: string, gates: string, baseline: string) => ['run-gates', run, gates, baseline] as const,
  gate: (id: string) => ['gates', id] as const,
  gateLint: (text: string) => ['gates-lint', text] as const,
  labels: (of: Subject) => ['labels', of.kind, of.id] as const,
  labelQueue: (of: Subject, query: string) => ['label-queue', of.kind, of.id, query] as const,
  calibration: (of: Subject, judge: string) => ['calibrate', of.kind, of.id, judge] as const,
  selectionRuns: (catalogue: string) => ['get', '/api/v1/admin/tool-eval/runs', catalogue] as const,
  selectionRun: (id: string) =>
    $api.queryOptions('get', '/api/v1/admin/tool-eval/runs/{id}', { params: { path: { id } } }).queryKey,
  selectionAnswer: (catalogue: { id: string; version: number }, preset: string, options: object, question: string) =>
    ['selection-answer', catalogue.id, catalogue.version, preset, options, question] as const,
  decisions: (id: string) =>
    $api.queryOptions('get', '/api/v1/admin/tool-eval/decisions/{id}', { params: { path: { id } } }).queryKey,
};

/** Routes with numbers that change when a run ends. */
export const runResultRoutes: Route[] = [
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

/**
 * invalidate makes queries stale and refetches the visible ones. A refetch joins a first read in progress, and the
 * answer of that read may be older than the change: such a query is read once more.
 */
async function invalidate(client: QueryClient, filters?: InvalidateQueryFilters) {
  const first = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: 'fetching' })
    .filter((q) => q.state.data === undefined);
  await client.invalidateQueries(filters);
  await Promise.all(first.map((q) => client.invalidateQueries({ queryKey: q.queryKey, exact: true })));
}

/** invalidations are the changes that make queries stale: each refetches the visible queries. */
export function invalidations(client: QueryClient) {
  const matching = (stale: (route: string) => boolean) =>
    invalidate(client, { predicate: (q) => stale(String(q.queryKey[1])) });
  const routes = (...list: Route[]) => matching((route) => (list as string[]).includes(route));
  return {
    routes,
    all: () => invalidate(client),
    job: (id: string) => invalidate(client, { queryKey: queryKeys.job(id) }),
    jobs: () => routes('/api/jobs'),
    runs: () => routes('/api/tool-eval/history'),
    drill: () =>
      routes('/api/tool-eval/history', '/api/runs/{id}/drill', '/api/runs/{id}/incidents', '/api/runs/{id}/recordings'),
    suites: () => routes('/api/tool-suites'),
    suiteVersions: () => routes('/api/tool-suites/{id}/versions'),
    experiments: () => matching((route) => /experiments|history|leaderboard|trend/.test(route)),
    tunes: () => matching((route) => /(param|prompt)-tune/.test(route)),
    traces: () => routes('/api/traces'),
    tracesAndScores: () => matching((route) => route.startsWith('/api/traces') || route === '/api/score'),
    gates: () => routes('/api/gates'),
    gateHistory: () => routes('/api/gates/{id}/history'),
    labels: (of?: Subject) => invalidate(client, { queryKey: of ? queryKeys.labels(of) : ['labels'] }),
    judgings: () =>
      invalidate(client, {
        predicate: (q) => /verdicts|judgings|calibrate/.test(`${q.queryKey[0]} ${q.queryKey[1]}`),
      }),
    catalogues: () => matching((route) => route.startsWith('/api/catalogues')),
    selectionRuns: () => routes('/api/v1/admin/tool-eval/runs'),
    schedules: () => routes('/api/schedules', '/api/schedules/{id}/history'),
    tokens: () => routes('/api/tokens'),
    users: () => routes('/api/users'),
    keys: () => routes('/api/keys'),
    /** The numbers of a run, which change when its lost attempts are repeated. They are dropped, not refetched. */
    dropRun: (id: string) =>
      client.removeQueries({
        predicate: (q) => String(q.queryKey[1]).startsWith('/api/runs/{id}') && JSON.stringify(q.queryKey).includes(id),
      }),
  };
}

export function useInvalidate() {
  const client = useQueryClient();
  return useMemo(() => invalidations(client), [client]);
}
