// Traces: the list of collections, the upload, and one collection.
import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { Copyable } from '../../ui/copy';
import { ago, bytes, number } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import { pendingDeletions } from './deletions';
import { CollectionPage } from './collection';
import { UploadDialog } from './upload';
import common from '../../ui/common.module.css';

type Collection = Schemas['Traces'];

export default function TracesPage() {
  const { id } = useParams();
  return id ? <CollectionPage key={id} id={id} /> : <List />;
}

function List() {
  const t = useText();
  const me = useCurrentUser();
  const write = usePermission('write');
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const [dialog, setDialog] = useState<'upload' | 'how' | null>(null);
  const list = $api.useInfiniteQuery(
    'get',
    '/api/traces',
    { params: { query: { limit: 100 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p) => p.next_cursor,
      refetchInterval: (q) =>
        q.state.data?.pages.some((p) => p.items.some((c) => c.attempt_count === null)) ? 2000 : false,
    },
  );
  const fetchNext = list.fetchNextPage;
  const more = useCallback(() => void fetchNext(), [fetchNext]);
  const rows = (list.data?.pages.flatMap((p) => p.items) ?? []).filter((c) => !pendingDeletions.has(c.id));
  const lostColumn: Column<Collection> = {
    key: 'lost',
    title: t('traces.lost'),
    width: 130,
    align: 'right',
    cell: (c) => (
      <span className={common.num} style={c.lost_count ? { color: 'var(--cv-error)' } : undefined}>
        {c.lost_count === null ? '…' : number(c.lost_count)}
      </span>
    ),
  };
  const columns: Column<Collection>[] = [
    {
      key: 'name',
      title: t('traces.collection'),
      cell: (c) => (
        <Group gap={8}>
          <Link to={`/traces/${c.id}`} className={common.untrusted}>
            {c.name}
          </Link>
          {c.shared && <Badge color="gray">{t('common.shared')}</Badge>}
          {c.owner !== me.user_id && <Badge color="gray">{c.owner_name || t('traces.of')}</Badge>}
        </Group>
      ),
    },
    { key: 'form', title: t('traces.form'), width: 150, cell: (c) => c.form },
    {
      key: 'attempts',
      title: t('traces.attempts'),
      width: 110,
      align: 'right',
      cell: (c) => <span className={common.num}>{c.attempt_count === null ? '…' : number(c.attempt_count)}</span>,
    },
    ...(rows.some((c) => c.lost_count) ? [lostColumn] : []),
    {
      key: 'items',
      title: t('traces.items'),
      width: 130,
      align: 'right',
      cell: (c) => <span className={common.num}>{number(c.items)}</span>,
    },
    {
      key: 'size',
      title: t('traces.size'),
      width: 110,
      align: 'right',
      cell: (c) => <span className={common.num}>{bytes(c.bytes)}</span>,
    },
    {
      key: 'updated',
      title: t('common.updated'),
      width: 120,
      align: 'right',
      cell: (c) => <span className={common.num}>{ago(c.updated_at)}</span>,
    },
  ];
  const actions = write && (
    <>
      <Button variant="default" onClick={() => setDialog('how')}>
        {t('traces.how')}
      </Button>
      <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setDialog('upload')}>
        {t('traces.upload')}
      </Button>
    </>
  );
  return (
    <Page title={t('shell.traces')} lead={t('traces.lead')} actions={actions}>
      {list.error ? (
        <Failure of={list.error} retry={() => list.refetch()} />
      ) : (
        <Rows
          label={t('traces.table')}
          columns={columns}
          rows={rows}
          idOf={(c) => c.id}
          onOpen={(c) => navigate(`/traces/${c.id}`)}
          more={more}
          hasMore={list.hasNextPage}
          busy={list.isFetching}
          empty={<Empty title={t('traces.none')} text={t('traces.noneText')} />}
        />
      )}
      {dialog === 'upload' && <UploadDialog close={() => setDialog(null)} added={() => invalidate.traces()} />}
      {dialog === 'how' && <How close={() => setDialog(null)} />}
    </Page>
  );
}

function How({ close }: { close: () => void }) {
  const t = useText();
  const here = location.origin;
  return (
    <Modal opened onClose={close} size="lg" title={t('traces.howTitle')}>
      <Stack>
        <Text size="sm">{t('traces.howText')}</Text>
        <Copyable
          label={t('traces.variables')}
          value={`export OTEL_EXPORTER_OTLP_ENDPOINT=${here}\nexport OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer YOUR_TOKEN"`}
        />
        <Text size="sm" c="dimmed">
          {t('traces.howToken')}{' '}
          <Link to="/settings/tokens" onClick={close}>
            {t('traces.makeToken')}
          </Link>
        </Text>
        <Text size="sm" fw={600}>
          {t('traces.howFile')}
        </Text>
        <Copyable
          label={t('traces.command')}
          value={`curl -H "Authorization: Bearer YOUR_TOKEN" -H 'Content-Type: application/x-ndjson' --data-binary @traces.jsonl '${here}/api/traces?collection=prod'`}
        />
      </Stack>
    </Modal>
  );
}
