import { Group, Select, Switch, Text, VisuallyHidden } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { hasEnded, type Job } from '../../api/jobs';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { ago, duration, moment } from '../../ui/format';
import { useParam } from '../../ui/params';
import { Progress } from '../../ui/progress';
import { type Column, Rows } from '../../ui/table';
import { CancelButton } from './cancel';
import { JobState } from './state';
import { jobTitle } from './names';
import common from '../../ui/common.module.css';

const states = ['running', 'queued', 'pending', 'done', 'failed', 'cancelled', 'interrupted'] as const;

export function JobList() {
  const t = useText();
  const me = useCurrentUser();
  const navigate = useNavigate();
  const [status, setStatus] = useParam('status');
  const [owner, setOwner] = useParam('whose');
  const admin = me.role === 'admin';
  const allUsers = admin && owner === 'all';
  const query = {
    status: (status || undefined) as (typeof states)[number] | undefined,
    user_id: allUsers ? '*' : undefined,
    limit: 100,
  };
  const jobs = useInfiniteQuery({
    // On events of jobs the page reads them again by the route.
    queryKey: queryKeys.jobs(query),
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) =>
      unwrap(await api.GET('/api/jobs', { params: { query: { ...query, cursor: pageParam || undefined } }, signal })),
    getNextPageParam: (page) => page.next_cursor || undefined,
    refetchInterval: allUsers ? 3000 : false, // users receive only events of their own jobs
  });
  const users = $api.useQuery('get', '/api/users', {}, { enabled: allUsers });
  const nameOf = (id: string) =>
    id === me.user_id ? me.name : (users.data?.items.find((u) => u.id === id)?.name ?? id);
  const columns: Column<Job>[] = [
    {
      key: 'what',
      title: t('jobs.kind'),
      cell: (j) => (
        <Link to={`/jobs/${j.job_id}`} className={common.untrusted}>
          {jobTitle(t, j)}
        </Link>
      ),
    },
    { key: 'state', title: t('jobs.state'), width: 130, cell: (j) => <JobState of={j} /> },
    {
      key: 'progress',
      title: t('jobs.progress'),
      width: 200,
      cell: (j) =>
        j.total > 0 || !hasEnded(j) ? (
          <Progress
            label={`${t('jobs.progress')}: ${jobTitle(t, j)}`}
            done={j.done}
            total={j.total}
            eta={j.status === 'running' ? j.eta_ms : undefined}
          />
        ) : (
          <Text size="sm" c="dimmed">
            –
          </Text>
        ),
    },
    ...(allUsers ? [{ key: 'who', title: t('jobs.who'), width: 120, cell: (j: Job) => nameOf(j.user_id) }] : []),
    {
      key: 'when',
      title: t('jobs.when'),
      width: 120,
      cell: (j) => (
        <Text size="sm" title={moment(j.created_at)}>
          {ago(j.created_at)}
        </Text>
      ),
    },
    {
      key: 'took',
      title: t('jobs.took'),
      width: 100,
      align: 'right',
      cell: (j) => (
        <Text size="sm" className={common.num}>
          {j.finished_at && j.started_at ? duration(Date.parse(j.finished_at) - Date.parse(j.started_at)) : '–'}
        </Text>
      ),
    },
    {
      key: 'do',
      title: <VisuallyHidden>{t('common.actions')}</VisuallyHidden>,
      width: 90,
      align: 'right',
      corner: 'right',
      cell: (j) => <CancelButton job={j} small />,
    },
  ];
  const rows = jobs.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <Page title={t('jobs.title')} lead={t('jobs.lead')}>
      <Group align="end">
        <Select
          label={t('jobs.state')}
          w={200}
          data={[{ value: '', label: t('jobs.any') }, ...states.map((s) => ({ value: s, label: t(`jobs.${s}`) }))]}
          value={status}
          allowDeselect={false}
          onChange={(v) => setStatus(v)}
        />
        {admin && (
          <Switch
            label={t('jobs.everyone')}
            checked={allUsers}
            onChange={(e) => setOwner(e.currentTarget.checked ? 'all' : null)}
            mb={8}
          />
        )}
      </Group>
      {jobs.error && !jobs.data ? (
        <Failure of={jobs.error} retry={() => jobs.refetch()} />
      ) : (
        <Rows
          label={t('jobs.title')}
          columns={columns}
          rows={rows}
          idOf={(j) => j.job_id}
          onOpen={(j) => navigate(`/jobs/${j.job_id}`)}
          more={jobs.fetchNextPage}
          hasMore={jobs.hasNextPage}
          busy={jobs.isPending || jobs.isFetchingNextPage}
          rowHeight={56}
          empty={
            status ? <Empty title={t('jobs.noneOf')} /> : <Empty title={t('jobs.noJobs')} text={t('jobs.noJobsText')} />
          }
        />
      )}
    </Page>
  );
}
