// The recorded results of the calls of a run, which a replay returns.
import { Box, Button, Drawer, Group, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useCallback } from 'react';
import { Link } from 'react-router';
import { $api } from '../../api/client';
import { useText } from '../../text';
import { Empty, Failure, Loading } from '../../ui/status';
import { CallStatus, CallView, prettyJson } from '../../ui/conversation';
import { duration } from '../../ui/format';
import { useParam } from '../../ui/params';
import { type Column, Rows } from '../../ui/table';
import common from '../../ui/common.module.css';
import tables from '../../ui/stacked.module.css';

export function RecordingTable({ run }: { run: string }) {
  const t = useText();
  const [open, setOpen] = useParam('call');
  const list = $api.useInfiniteQuery(
    'get',
    '/api/runs/{id}/recordings',
    { params: { path: { id: run }, query: { limit: 100 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p) => p.next_cursor || undefined },
  );
  const fetchNext = list.fetchNextPage;
  const more = useCallback(() => void fetchNext(), [fetchNext]);
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const rows = list.data.pages.flatMap((p) => p.items);
  type Row = (typeof rows)[number];
  const idOf = (r: Row) => `${r.case}/${r.target}/${r.repeat}/${r.step}`;
  const line = (v: unknown) => (
    <Text size="sm" className={`${common.mono} ${common.untrusted}`} lineClamp={1} style={{ wordBreak: 'break-all' }}>
      {v === undefined || v === null ? '' : prettyJson(v).replace(/\s+/g, ' ').slice(0, 200)}
    </Text>
  );
  const time = (r: Row) => (r.queue_ms ?? 0) + (r.exec_ms ?? 0);
  const columns: Column<Row>[] = [
    {
      key: 'tool',
      title: t('safety.tool'),
      min: 150,
      cell: (r) => (
        <button
          type="button"
          className={`${tables.head} ${common.mono} ${common.untrusted}`}
          style={{ textAlign: 'left' }}
          onClick={() => setOpen(idOf(r))}
        >
          {r.tool}
        </button>
      ),
    },
    { key: 'args', title: t('safety.arguments'), min: 200, cell: (r) => line(r.args ?? r.args_raw) },
    { key: 'result', title: t('safety.result'), min: 200, cell: (r) => line(r.result ?? r.error) },
    { key: 'status', title: t('safety.status'), width: 130, cell: (r) => <CallStatus status={r.status} /> },
    {
      key: 'time',
      title: t('safety.latency'),
      width: 90,
      align: 'right',
      cell: (r) => <span className={common.num}>{duration(time(r))}</span>,
    },
  ];
  const one = rows.find((r) => idOf(r) === open);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed" style={{ flex: '1 1 240px' }}>
          {t('safety.exportText')}
        </Text>
        <Button
          component="a"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          href={`/api/runs/${run}/recordings/export`}
          download
        >
          {t('safety.export')}
        </Button>
      </Group>
      <Rows
        label={t('safety.tableRecordings')}
        columns={columns}
        rows={rows}
        idOf={idOf}
        onOpen={(r) => setOpen(idOf(r))}
        more={more}
        hasMore={list.hasNextPage}
        busy={list.isFetchingNextPage}
        height="60vh"
        empty={<Empty title={t('safety.noRecordings')} text={t('safety.noRecordingsText')} />}
      />
      <Drawer
        opened={one !== undefined}
        onClose={() => setOpen(null)}
        position="right"
        size="lg"
        title={<span className={`${common.mono} ${common.untrusted}`}>{one?.tool}</span>}
      >
        {one && (
          <Box>
            <Text size="sm">
              <Link to={`/runs/${run}/case?case=${encodeURIComponent(one.case)}`} className={common.untrusted}>
                {t('safety.openCase', { name: one.case })}
              </Link>{' '}
              <Text span size="sm" c="dimmed" className={common.untrusted}>
                {one.target}
              </Text>
            </Text>
            <CallView call={one} />
          </Box>
        )}
      </Drawer>
    </>
  );
}
