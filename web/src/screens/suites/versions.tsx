import { Badge, Box, Button, Group, Modal, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { ago, moment, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { notify } from '../../ui/notify';
import { type Editing, useSource } from './data';
import { DiffView } from './diff';
import { SaveRefused } from './problems';
import common from '../../ui/common.module.css';
import { FigureCell, PlainTable } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

/** VersionsTab lists the versions of the suite, compares two, and returns to one. */
export function VersionsTab({ editing }: { editing: Editing }) {
  const t = useText();
  const me = useCurrentUser();
  const invalidate = useInvalidate();
  const { suite, may, write } = editing;
  const [from, setFrom] = useParam('from');
  const [to, setTo] = useParam('to');
  const [view, setView] = useParam('view');
  const [, setParams] = useSearchParams();
  const [error, setError] = useState<unknown>(null);
  const query = $api.useInfiniteQuery(
    'get',
    '/api/tool-suites/{id}/versions',
    { params: { path: { id: suite.id }, query: { limit: 50 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p: Schemas['PageSuiteVersion']) => p.next_cursor || undefined,
      staleTime: 0,
    },
  );
  if (query.error) return <Failure of={query.error} retry={() => query.refetch()} />;
  if (!query.data) return <Loading />;
  const list = query.data.pages.flatMap((p) => p.items);
  const numbers = list.map((v) => String(v.version));
  const back = async (n: number) => {
    setError(null);
    try {
      const now = await write(
        async (match) =>
          unwrap(
            await api.POST('/api/tool-suites/{id}/versions/{version}/restore', {
              params: { path: { id: suite.id, version: n }, header: { 'If-Match': match } },
            }),
          ),
        (_, answer) => answer,
      );
      await invalidate.suiteVersions();
      notify(t('suites.returned', { version: now.version, n }));
    } catch (e) {
      setError(e);
    }
  };
  const compare = (a: string, b: string) =>
    setParams((was) => {
      const next = new URLSearchParams(was);
      next.set('from', a);
      next.set('to', b);
      return next;
    });
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t('suites.versionsText')}
      </Text>
      <SaveRefused of={error} editing={editing} done={() => setError(null)} />
      <Box
        data-scroll
        className={`${common.card} ${tables.scrollX}`}
        role="region"
        aria-label={t('suites.tab_versions')}
        tabIndex={0}
      >
        <PlainTable
          miw={860}
          heads={[
            { title: t('suites.version'), w: 150 },
            t('suites.note'),
            { title: t('suites.tools'), w: 80, right: true },
            { title: t('suites.cases'), w: 80, right: true },
            { title: t('suites.by'), w: 120 },
            { title: t('suites.changed'), w: 120 },
            { title: t('common.actions'), w: 290, hidden: true },
          ]}
        >
          {list.map((v, i) => (
            <Table.Tr key={v.version}>
              <Table.Td>
                <Group gap="xs" wrap="nowrap">
                  <span className={common.num} style={{ fontWeight: 600 }}>
                    {v.version}
                  </span>
                  {v.version === suite.version && <Badge>{t('suites.current')}</Badge>}
                </Group>
              </Table.Td>
              <Table.Td className={common.untrusted}>{v.note || '–'}</Table.Td>
              <FigureCell>{number(v.tool_count)}</FigureCell>
              <FigureCell>{number(v.test_case_count)}</FigureCell>
              <Table.Td>
                <Text size="sm" c="dimmed">
                  {v.by === me.user_id ? t('suites.you') : v.by_name || t('suites.another')}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm" c="dimmed" className={common.num} title={moment(v.created_at)}>
                  {ago(v.created_at)}
                </Text>
              </Table.Td>
              <Table.Td>
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  {may && v.version !== suite.version && (
                    <Button size="compact-sm" fw={500} variant="subtle" onClick={() => back(v.version)}>
                      {t('suites.returnTo', { n: v.version })}
                    </Button>
                  )}
                  {i + 1 < list.length && (
                    <Button
                      size="compact-sm"
                      fw={500}
                      variant="subtle"
                      aria-label={`${t('suites.diffVersion')}: ${t('suites.diffTitle', { from: list[i + 1]!.version, to: v.version })}`}
                      onClick={() => compare(String(list[i + 1]!.version), String(v.version))}
                    >
                      {t('suites.diffVersion')}
                    </Button>
                  )}
                  <Button
                    size="compact-sm"
                    fw={500}
                    variant="subtle"
                    aria-label={`${t('suites.show')}: ${t('suites.versionN', { n: v.version })}`}
                    onClick={() => setView(String(v.version))}
                  >
                    {t('suites.show')}
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
      </Box>
      {query.hasNextPage && (
        <Button
          variant="default"
          style={{ alignSelf: 'center' }}
          loading={query.isFetchingNextPage}
          onClick={() => query.fetchNextPage()}
        >
          {t('common.more')}
        </Button>
      )}
      {list.length > 1 && (
        <Card>
          <Group gap="sm" align="flex-end" mb={from && to ? 'md' : 0}>
            <Select
              label={t('suites.compareFrom')}
              w={110}
              data={numbers}
              value={from || null}
              onChange={(v) => setFrom(v)}
            />
            <Select
              label={t('suites.compareTo')}
              w={110}
              data={numbers}
              value={to || null}
              onChange={(v) => setTo(v)}
            />
            {!(from && to) && (
              <Text size="sm" c="dimmed" pb={8}>
                {t('suites.pickVersions')}
              </Text>
            )}
          </Group>
          {from && to && (
            <>
              <Title order={2} mb="sm">
                {t('suites.diffTitle', { from, to })}
              </Title>
              <DiffView id={suite.id} from={Number(from)} to={Number(to)} />
            </>
          )}
        </Card>
      )}
      <Modal opened={view !== ''} onClose={() => setView(null)} size="xl" title={t('suites.versionN', { n: view })}>
        {view !== '' && <Old id={suite.id} version={Number(view)} />}
      </Modal>
    </Stack>
  );
}

function Old({ id, version }: { id: string; version: number }) {
  const t = useText();
  const source = useSource(id, version, true);
  if (source.error) return <Failure of={source.error} />;
  if (source.data === undefined) return <Loading />;
  return (
    <CodeEditor
      label={t('suites.versionSource', { n: version })}
      value={source.data}
      language="yaml"
      height="60vh"
      readOnly
    />
  );
}
