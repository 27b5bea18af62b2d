// Searches for parameters and prompts, the newest first.
import { Badge, Button, Stack, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { usePermission } from '../../user';
import { type TextKey, useText, useTranslate } from '../../text';
import { moment, number, signed } from '../../ui/format';
import { Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { Profiles } from './profiles';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Line = Schemas['TuneLine'];

/** stateKey returns the text key of a state of a search. */
export const stateKey = (state: string) => `tune.state_${state}` as TextKey;

export function TuneList() {
  const t = useText();
  const mayRun = usePermission('run');
  return (
    <Page
      title={t('tune.title')}
      lead={t('tune.lead')}
      actions={
        mayRun && (
          <Button component={Link} to="/tune/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('tune.new')}
          </Button>
        )
      }
    >
      <Stack gap="md">
        <Searches />
        <Profiles />
      </Stack>
    </Page>
  );
}

/** Searches lists the searches of the user or of an experiment. */
export function Searches({ experiment }: { experiment?: string }) {
  const t = useText();
  const query = { params: { query: { limit: 200 } } };
  const params = $api.useQuery('get', '/api/tool-eval/param-tune/history', query, { staleTime: 0 });
  const prompts = $api.useQuery('get', '/api/tool-eval/prompt-tune/history', query, { staleTime: 0 });
  const error = params.error ?? prompts.error;
  if (error) return <Failure of={error} retry={() => Promise.all([params.refetch(), prompts.refetch()])} />;
  if (!params.data || !prompts.data) return <Loading />;
  const list = [...(params.data.items ?? []), ...(prompts.data.items ?? [])]
    .filter((s) => !experiment || s.experiment_id === experiment)
    .sort((a, b) => b.timestamp.localeCompare(a.timestamp));
  if (list.length === 0) return <Empty title={t('tune.empty')} text={t('tune.emptyText')} />;
  return (
    <DataTable
      label={t('tune.title')}
      card
      heads={[
        t('tune.started'),
        t('tune.what'),
        t('tune.model'),
        t('tune.result'),
        { title: t('tune.gain'), right: true },
        { title: t('tune.calls'), right: true },
      ]}
    >
      {list.map((s) => (
        <SearchRow key={s.id} of={s} />
      ))}
    </DataTable>
  );
}

function SearchRow({ of: s }: { of: Line }) {
  const t = useText();
  const translate = useTranslate();
  const models = s.models ?? [];
  return (
    <Table.Tr data-search={s.id}>
      <Table.Td>
        <Link to={`/tune/${s.id}`}>{moment(s.timestamp)}</Link>
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {s.suite_name}
        </Text>
      </Table.Td>
      <Table.Td>
        {t(s.kind === 'prompt_tune' ? 'tune.prompts' : 'tune.parameters')}
        <Text size="xs" c="dimmed">
          {s.optimization_mode}
        </Text>
      </Table.Td>
      <Table.Td className={common.untrusted}>{models.map((m) => m.model).join(', ')}</Table.Td>
      <Table.Td>
        <Badge color={s.status === 'failed' ? 'red' : 'gray'}>{t(stateKey(s.status))}</Badge>
        <Stack gap={2} mt={4}>
          {models.map((m) => (
            <Text key={m.model} size="sm" className={common.untrusted}>
              {translate(m.sentence)}
            </Text>
          ))}
          {s.problem && (
            <Text size="sm" style={{ color: 'var(--cv-error)' }} className={common.untrusted}>
              {translate(s.problem)}
            </Text>
          )}
        </Stack>
      </Table.Td>
      <FigureCell>
        {models.map((m) => (
          <Text key={m.model} size="sm">
            {signed(m.gain?.point)}
          </Text>
        ))}
      </FigureCell>
      <FigureCell>{number(s.spent.requests)}</FigureCell>
    </Table.Tr>
  );
}
