import { Badge, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { ago } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import { ExperimentForm } from './form';
import common from '../../ui/common.module.css';

type Experiment = Schemas['Experiment'];

export function ExperimentList() {
  const t = useText();
  const may = usePermission('write');
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const list = $api.useInfiniteQuery(
    'get',
    '/api/experiments',
    { params: { query: { limit: 100 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p: Schemas['PageExperiment']) => p.next_cursor,
    },
  );
  const suites = $api.useQuery('get', '/api/tool-suites', { params: { query: { limit: 200 } } });
  const suiteOf = (id: string) => suites.data?.items.find((s) => s.id === id)?.name ?? id;
  const deleted = (useLocation().state as { deleted?: string } | null)?.deleted; // can still be undone
  const rows = (list.data?.pages.flatMap((p) => p.items) ?? []).filter((e) => e.id !== deleted);
  const columns: Column<Experiment>[] = [
    {
      key: 'name',
      title: t('common.name'),
      cell: (e) => (
        <Link to={`/experiments/${e.id}`} className={common.untrusted}>
          {e.name}
        </Link>
      ),
    },
    {
      key: 'suite',
      title: t('experiments.suite'),
      cell: (e) => (
        <Text span size="sm" className={common.untrusted}>
          {suiteOf(e.suite_id)}
        </Text>
      ),
    },
    {
      key: 'state',
      title: t('experiments.state'),
      width: 110,
      cell: (e) => (
        <Badge
          color={e.state === 'active' ? 'accent' : 'gray'}
          style={e.state === 'active' ? undefined : { color: 'var(--cv-none)' }}
        >
          {t(`experiments.${e.state}`)}
        </Badge>
      ),
    },
    {
      key: 'updated',
      title: t('common.updated'),
      width: 130,
      cell: (e) => <span className={common.num}>{ago(e.updated)}</span>,
    },
  ];
  const make = may && <Button onClick={() => setMaking(true)}>{t('experiments.create')}</Button>;
  return (
    <Page title={t('shell.experiments')} lead={t('experiments.lead')} actions={rows.length > 0 && make}>
      <Failure of={list.error} retry={() => list.refetch()} />
      {!list.error && (
        <Rows
          label={t('shell.experiments')}
          columns={columns}
          rows={rows}
          idOf={(e) => e.id}
          onOpen={(e) => navigate(`/experiments/${e.id}`)}
          hasMore={list.hasNextPage}
          busy={(list.isFetching && rows.length === 0) || list.isFetchingNextPage}
          more={() => void list.fetchNextPage()}
          empty={
            <Empty title={t('experiments.emptyTitle')} text={t('experiments.emptyText')}>
              {make}
            </Empty>
          }
        />
      )}
      {making && <ExperimentForm close={() => setMaking(false)} saved={(e) => navigate(`/experiments/${e.id}`)} />}
    </Page>
  );
}
