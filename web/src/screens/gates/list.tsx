import { Badge, Button, Text } from '@mantine/core';
import { Link, useLocation, useNavigate } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { ago } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import common from '../../ui/common.module.css';

type Kept = Schemas['KeptGate'];

export function GateList() {
  const t = useText();
  const me = useCurrentUser();
  const may = usePermission('write');
  const navigate = useNavigate();
  const list = $api.useInfiniteQuery(
    'get',
    '/api/gates',
    { params: { query: { limit: 100 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p: Schemas['PageKeptGate']) => p.next_cursor },
  );
  const deleted = (useLocation().state as { deleted?: string } | null)?.deleted; // can still be undone
  const rows = (list.data?.pages.flatMap((p) => p.items ?? []) ?? []).filter((g) => g.id !== deleted);
  const columns: Column<Kept>[] = [
    {
      key: 'name',
      title: t('common.name'),
      cell: (g) => (
        <Link to={`/gates/${g.id}`} className={common.untrusted}>
          {g.name}
        </Link>
      ),
    },
    {
      key: 'shared',
      title: t('common.shared'),
      width: 120,
      cell: (g) =>
        g.shared && (
          <Badge color="gray" style={{ color: 'var(--cv-none)' }}>
            {t('common.shared')}
          </Badge>
        ),
    },
    {
      key: 'owner',
      title: t('common.owner'),
      width: 200,
      cell: (g) => (
        <Text span size="sm" className={common.untrusted}>
          {g.owner === me.user_id ? t('common.mine') : g.owner}
        </Text>
      ),
    },
    {
      key: 'updated',
      title: t('common.updated'),
      width: 130,
      cell: (g) => <span className={common.num}>{ago(g.updated_at)}</span>,
    },
  ];
  const make = may && (
    <Button component={Link} to="/gates/new">
      {t('gates.create')}
    </Button>
  );
  return (
    <Page title={t('shell.gates')} lead={t('gates.lead')} actions={rows.length > 0 && make}>
      <Failure of={list.error} retry={() => list.refetch()} />
      {!list.error && (
        <Rows
          label={t('shell.gates')}
          columns={columns}
          rows={rows}
          idOf={(g) => g.id}
          onOpen={(g) => navigate(`/gates/${g.id}`)}
          hasMore={list.hasNextPage}
          busy={list.isPending || list.isFetchingNextPage}
          more={() => void list.fetchNextPage()}
          empty={
            <Empty title={t('gates.emptyTitle')} text={t('gates.emptyText')}>
              {make}
            </Empty>
          }
        />
      )}
    </Page>
  );
}
