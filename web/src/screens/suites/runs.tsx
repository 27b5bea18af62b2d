import { Text } from '@mantine/core';
import { Link, useNavigate } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Empty, Failure } from '../../ui/status';
import { ago, moment, number } from '../../ui/format';
import { Rows } from '../../ui/table';
import common from '../../ui/common.module.css';

type Run = Schemas['EvalRun'];

/** RunsTab lists the runs of the suite. */
export function RunsTab({ id }: { id: string }) {
  const t = useText();
  const navigate = useNavigate();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/tool-eval/history',
    { params: { query: { suite_id: id, limit: 50 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p: Schemas['PageEvalRun']) => p.next_cursor || undefined,
    },
  );
  if (query.error) return <Failure of={query.error} retry={() => query.refetch()} />;
  return (
    <Rows<Run>
      label={t('suites.tab_runs')}
      rows={query.data?.pages.flatMap((p) => p.items) ?? []}
      idOf={(r) => r.id}
      busy={query.isPending || query.isFetchingNextPage}
      hasMore={query.hasNextPage}
      more={() => query.fetchNextPage()}
      onOpen={(r) => navigate(`/runs/${r.id}`)}
      empty={<Empty title={t('suites.noRunsTitle')} />}
      columns={[
        {
          key: 'when',
          title: t('suites.when'),
          width: 150,
          cell: (r) => (
            <Link
              to={`/runs/${r.id}`}
              title={moment(r.timestamp)}
              aria-label={t('suites.runOf', { when: moment(r.timestamp) })}
            >
              {ago(r.timestamp)}
            </Link>
          ),
        },
        {
          key: 'version',
          title: t('suites.version'),
          width: 90,
          align: 'right',
          cell: (r) => <span className={common.num}>{r.suite_version}</span>,
        },
        {
          key: 'models',
          title: t('suites.models'),
          cell: (r) => <span className={`${common.mono} ${common.untrusted}`}>{(r.models ?? []).join(', ')}</span>,
        },
        {
          key: 'status',
          title: t('suites.status'),
          width: 120,
          cell: (r) => (
            <Text size="sm" c="dimmed">
              {r.status}
            </Text>
          ),
        },
        {
          key: 'passed',
          title: t('suites.passed'),
          width: 130,
          align: 'right',
          cell: (r) => (
            <span className={common.num}>
              {t('suites.passedOf', { n: number(r.cases_passed), total: number(r.total_cases) })}
            </span>
          ),
        },
      ]}
    />
  );
}
