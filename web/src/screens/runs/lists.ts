// The lists of a run: requested together with its report, before the tab that shows them is loaded.
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api, api, unwrap } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { type QueryOptions, cellsQuery, type Filters } from './parts';

/** attemptsOf is the query of the attempts that match the filters, page by page. */
export function attemptsOf(run: string, f: Filters) {
  const query = cellsQuery(f);
  return infiniteQueryOptions({
    queryKey: queryKeys.attempts(run, query),
    queryFn: async ({ pageParam, signal }) =>
      unwrap(
        await api.GET('/api/runs/{id}/cells', {
          params: { path: { id: run }, query: { ...query, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
    staleTime: 60_000,
  });
}

/** useAttempts returns the attempts that match the filters. The list and the view of a case share them. */
export function useAttempts(run: string, f: Filters, how: QueryOptions = {}) {
  const found = useInfiniteQuery({ ...attemptsOf(run, f), placeholderData: keepPreviousData, ...how });
  const rows = useMemo(() => (found.data?.pages ?? []).flatMap((p) => p.items ?? []), [found.data]);
  return { found, rows, total: found.data?.pages[0]?.total ?? 0, all: found.data?.pages[0]?.all ?? 0 };
}

/** useGrid returns the part of the grid that matches the filters, page by page. */
export function useGrid(run: string, f: Filters, how: QueryOptions = {}) {
  const query = {
    verdict: f.verdict.length ? f.verdict : undefined,
    target: f.target.length ? f.target : undefined,
    tag: f.tag.length ? f.tag : undefined,
    search: f.search || undefined,
    disagree: f.disagree || undefined,
    limit: 100,
  };
  return $api.useInfiniteQuery(
    'get',
    '/api/runs/{id}/grid',
    { params: { path: { id: run }, query } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (last) => last.next_cursor,
      placeholderData: keepPreviousData,
      staleTime: 60_000,
      ...how,
    },
  );
}

/** caseOf is the query of a case with its attempts. */
export function caseOf(run: string, name: string) {
  return $api.queryOptions(
    'get',
    '/api/runs/{id}/case',
    { params: { path: { id: run }, query: { case: name } } },
    { staleTime: 60_000 },
  );
}

/** keyOf names an attempt within its run. */
export function keyOf(a: { case: string; target: string; repeat: number }): string {
  return JSON.stringify([a.case, a.target, a.repeat]);
}
