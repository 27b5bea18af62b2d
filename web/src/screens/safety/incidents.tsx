// Every breach of a rule in a run, with its call and its evidence.
import { Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import { $api } from '../../api/client';
import { useText } from '../../text';
import { Empty, Failure, Loading } from '../../ui/status';
import { CallView } from '../../ui/conversation';
import common from '../../ui/common.module.css';

export function IncidentTable({ run }: { run: string }) {
  const t = useText();
  const list = $api.useInfiniteQuery(
    'get',
    '/api/runs/{id}/incidents',
    { params: { path: { id: run }, query: { limit: 50 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p) => p.next_cursor || undefined },
  );
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const all = list.data.pages.flatMap((p) => p.items);
  if (all.length === 0) return <Empty title={t('safety.noIncidents')} text={t('safety.noIncidentsText')} />;
  return (
    <Stack>
      <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('safety.tableIncidents')}>
        {all.map((i, at) => (
          <Box key={at} className={common.card} p="sm" component="li">
            <Group gap={8} justify="space-between">
              <Group gap={8}>
                {i.blocked ? (
                  <Badge
                    leftSection={<IconShieldCheck size={14} aria-hidden />}
                    style={{ color: 'var(--cv-pass)', background: 'var(--cv-pass-ground)' }}
                  >
                    {t('safety.blocked')}
                  </Badge>
                ) : (
                  <Badge
                    leftSection={<IconAlertTriangle size={14} aria-hidden />}
                    style={{ color: 'var(--cv-fail)', background: 'var(--cv-fail-ground)' }}
                  >
                    {t('safety.happened')}
                  </Badge>
                )}
                <Text size="sm" fw={600} className={common.mono}>
                  {i.rule}
                </Text>
                <Text size="sm" c="dimmed" className={common.untrusted}>
                  {i.target}
                  {i.repeat > 0 && ` · ${t('safety.attempt', { n: i.repeat + 1 })}`}
                </Text>
              </Group>
              <Link
                to={`/runs/${run}/case?case=${encodeURIComponent(i.case)}`}
                className={common.untrusted}
                aria-label={t('safety.openCase', { name: i.case })}
              >
                {i.case}
              </Link>
            </Group>
            {i.note && (
              <Text size="sm" className={common.untrusted} mt={4}>
                {i.note}
              </Text>
            )}
            {i.call ? (
              <CallView call={i.call} />
            ) : (
              <Text size="xs" c="dimmed" mt={4}>
                {t('safety.saidOnly')}
              </Text>
            )}
          </Box>
        ))}
      </Stack>
      {list.hasNextPage && (
        <Button
          variant="default"
          onClick={() => list.fetchNextPage()}
          loading={list.isFetchingNextPage}
          style={{ alignSelf: 'center' }}
        >
          {t('common.more')}
        </Button>
      )}
    </Stack>
  );
}
