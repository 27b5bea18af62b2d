// The audit log, for admins: page by page, with filters in the address.
import { Button, Group, Select } from '@mantine/core';
import { useCallback } from 'react';
import { $api, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { useParam } from '../../ui/params';
import { type Column, Rows } from '../../ui/table';
import common from '../../ui/common.module.css';

type Entry = Schemas['AccountEntry'];

const kinds = [
  'login',
  'login.failed',
  'logout',
  'link.first',
  'link.use',
  'user.create',
  'user.link',
  'user.role',
  'user.limits',
  'user.password',
  'user.remove',
  'token.create',
  'token.revoke',
  'key.set',
  'key.bind',
  'key.delete',
  'settings.change',
  'schedule.create',
  'schedule.change',
  'schedule.delete',
];

export default function AuditPage() {
  const t = useText();
  const [user, setUser] = useParam('user');
  const [kind, setKind] = useParam('kind');
  const users = $api.useQuery('get', '/api/users', { params: { query: { limit: 200 } } });
  const list = $api.useInfiniteQuery(
    'get',
    '/api/audit',
    { params: { query: { limit: 100, ...(user ? { user_id: user } : {}), ...(kind ? { action: kind } : {}) } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p) => p.next_cursor },
  );
  const nameOf = (id: string) => users.data?.items.find((u) => u.id === id)?.name ?? id;
  const fetchNext = list.fetchNextPage;
  const more = useCallback(() => void fetchNext(), [fetchNext]);
  const columns: Column<Entry>[] = [
    {
      key: 'at',
      title: t('audit.when'),
      width: 170,
      cell: (e) => <span className={common.num}>{new Date(e.at).toLocaleString('sv-SE')}</span>,
    },
    {
      key: 'user',
      title: t('audit.who'),
      width: 120,
      cell: (e) => <span className={common.untrusted}>{e.user_id ? nameOf(e.user_id) : t('audit.noUser')}</span>,
    },
    { key: 'action', title: t('audit.what'), width: 150, cell: (e) => <span className={common.mono}>{e.action}</span> },
    {
      key: 'object',
      title: t('audit.object'),
      min: 200,
      cell: (e) => (
        <span className={`${common.mono} ${common.untrusted}`}>
          {e.object.startsWith('user_') ? nameOf(e.object) : e.object}
        </span>
      ),
    },
    {
      key: 'detail',
      title: t('audit.detail'),
      min: 220,
      cell: (e) => (
        <span className={`${common.mono} ${common.untrusted}`}>
          {e.detail === null || e.detail === undefined ? '' : words(e.detail)}
        </span>
      ),
    },
    {
      key: 'address',
      title: t('audit.from'),
      width: 140,
      cell: (e) => <span className={common.mono}>{e.address}</span>,
    },
  ];
  return (
    <Page title={t('shell.audit')} lead={t('audit.lead')}>
      <Group align="flex-end" gap="sm">
        <Select
          label={t('audit.user')}
          placeholder={t('audit.anyone')}
          clearable
          searchable
          w={{ base: '100%', xs: 220 }}
          value={user || null}
          onChange={(v) => setUser(v)}
          data={[
            ...(users.data?.items ?? []).map((u) => ({ value: u.id, label: u.name })),
            ...(user && users.data && !users.data.items.some((u) => u.id === user)
              ? [{ value: user, label: user }]
              : []),
          ]}
        />
        <Select
          label={t('audit.kind')}
          placeholder={t('audit.anything')}
          clearable
          searchable
          w={{ base: '100%', xs: 220 }}
          value={kind || null}
          onChange={(v) => setKind(v)}
          data={kind && !kinds.includes(kind) ? [kind, ...kinds] : kinds}
        />
      </Group>
      {list.error ? (
        <Failure of={list.error} retry={() => list.refetch()} />
      ) : (
        <Rows
          label={t('audit.table')}
          columns={columns}
          rows={list.data?.pages.flatMap((p) => p.items) ?? []}
          idOf={(e) => e.id}
          more={more}
          hasMore={list.hasNextPage}
          busy={list.isFetching}
          empty={
            <Empty title={t('audit.none')} text={t('audit.noneText')}>
              <Button
                variant="default"
                onClick={() => {
                  setUser(null);
                  setKind(null);
                }}
              >
                {t('audit.clear')}
              </Button>
            </Empty>
          }
        />
      )}
    </Page>
  );
}

/** words writes the details of a line, each as "name: value". */
function words(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return JSON.stringify(detail);
  return Object.entries(detail)
    .map(([k, v]) => `${k}: ${typeof v === 'string' ? v : JSON.stringify(v)}`)
    .join(', ');
}
