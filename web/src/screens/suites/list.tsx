import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Modal,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFileImport, IconPlus, IconSearch, IconShare, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { ago, moment, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { Rows } from '../../ui/table';
import { restorable, notify, notifyFailure } from '../../ui/notify';
import { fieldErrors } from './problems';
import common from '../../ui/common.module.css';

type Entry = Schemas['SuiteEntry'];

/** SuiteList lists all suites that the user may see. */
export function SuiteList() {
  const t = useText();
  const me = useCurrentUser();
  const may = usePermission('write');
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const [search, setSearch] = useParam('q');
  const [all, setAll] = useParam('all');
  const [making, making_] = useDisclosure(false);
  const query = $api.useInfiniteQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 100, ...(search ? { search } : {}), ...(all ? { all: true } : {}) } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p: Schemas['PageSuiteEntry']) => p.next_cursor || undefined,
      placeholderData: (was) => was,
    },
  );
  const rows = query.data?.pages.flatMap((p) => p.items) ?? [];
  const again = () => invalidate.suites();
  const mine = (e: Entry) => e.owner === me.user_id || me.role === 'admin';
  const drop = async (e: Entry) => {
    try {
      unwrap(
        await api.DELETE('/api/tool-suites/{id}', {
          params: { path: { id: e.id }, header: { 'If-Match': `"${e.version}"` } },
        }),
      );
      await again();
      restorable(t, e.name, async () => {
        unwrap(await api.POST('/api/tool-suites/{id}/restore', { params: { path: { id: e.id } } }));
        await again();
        notify(t('suites.restored', { what: e.name }));
      });
    } catch (x) {
      notifyFailure(t, x);
    }
  };
  return (
    <Page
      title={t('shell.suites')}
      lead={t('suites.lead')}
      actions={
        may && (
          <>
            <Button
              variant="default"
              leftSection={<IconFileImport size={16} aria-hidden />}
              component={Link}
              to="/suites/import"
            >
              {t('suites.import')}
            </Button>
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={making_.open}>
              {t('suites.newSuite')}
            </Button>
          </>
        )
      }
    >
      <Group gap="md">
        <TextInput
          aria-label={t('suites.searchNames')}
          placeholder={t('suites.searchNames')}
          leftSection={<IconSearch size={16} aria-hidden />}
          w={{ base: '100%', xs: 320 }}
          type="search"
          value={search}
          onChange={(e) => setSearch(e.currentTarget.value, { replace: true })}
        />
        {me.role === 'admin' && (
          <Switch
            label={t('suites.allUsers')}
            checked={all !== ''}
            onChange={(e) => setAll(e.currentTarget.checked ? '1' : '')}
          />
        )}
      </Group>
      {query.error && <Failure of={query.error} retry={() => query.refetch()} />}
      {!query.error && (
        <Rows<Entry>
          label={t('shell.suites')}
          rows={rows}
          idOf={(e) => e.id}
          onOpen={(e) => navigate(`/suites/${e.id}`)}
          busy={query.isPending || query.isFetchingNextPage}
          hasMore={query.hasNextPage}
          more={() => query.fetchNextPage()}
          rowHeight={44}
          empty={
            search ? (
              <Empty title={t('suites.noMatch')} />
            ) : (
              <Empty title={t('suites.noneTitle')} text={t('suites.noneText')}>
                {may && (
                  <Button variant="light" component={Link} to="/suites/import">
                    {t('suites.importSuite')}
                  </Button>
                )}
              </Empty>
            )
          }
          columns={[
            {
              key: 'name',
              title: t('common.name'),
              cell: (e) => (
                <Group gap="xs" wrap="nowrap">
                  <Link to={`/suites/${e.id}`} className={common.untrusted} style={{ fontWeight: 600 }}>
                    {e.name}
                  </Link>
                  {e.shared && (
                    <Tooltip label={t('suites.sharedTip')}>
                      <Badge color="gray" leftSection={<IconShare size={12} aria-hidden />}>
                        {t('common.shared')}
                      </Badge>
                    </Tooltip>
                  )}
                </Group>
              ),
            },
            {
              key: 'tools',
              title: t('suites.tools'),
              width: 80,
              align: 'right',
              cell: (e) => <span className={common.num}>{number(e.tool_count)}</span>,
            },
            {
              key: 'cases',
              title: t('suites.cases'),
              width: 80,
              align: 'right',
              cell: (e) => <span className={common.num}>{number(e.test_case_count)}</span>,
            },
            {
              key: 'version',
              title: t('suites.version'),
              width: 90,
              align: 'right',
              cell: (e) => <span className={common.num}>{e.version}</span>,
            },
            {
              key: 'form',
              title: t('suites.form'),
              width: 110,
              cell: (e) => (
                <Text size="sm" c="dimmed">
                  {e.form === 'callvet' ? t('suites.kept_callvet') : t('suites.kept_toolsuite')}
                </Text>
              ),
            },
            {
              key: 'owner',
              title: t('suites.owner'),
              width: 130,
              cell: (e) => (
                <Text size="sm" c="dimmed" className={common.untrusted}>
                  {e.owner === me.user_id ? t('suites.mine') : e.owner_name || t('suites.another')}
                </Text>
              ),
            },
            {
              key: 'changed',
              title: t('suites.changed'),
              width: 130,
              cell: (e) => (
                <Text size="sm" c="dimmed" className={common.num} title={moment(e.updated_at)}>
                  {ago(e.updated_at)}
                </Text>
              ),
            },
            ...(may
              ? [
                  {
                    key: 'actions',
                    title: <VisuallyHidden>{t('common.actions')}</VisuallyHidden>,
                    width: 56,
                    align: 'right' as const,
                    corner: 'right' as const,
                    cell: (e: Entry) =>
                      mine(e) && (
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          aria-label={t('suites.deleteNamed', { name: e.name })}
                          onClick={() => drop(e)}
                        >
                          <IconTrash size={16} aria-hidden />
                        </ActionIcon>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <Modal opened={making} onClose={making_.close} title={t('suites.newSuite')}>
        <NewSuite made={(id) => navigate(`/suites/${id}?tab=tools`)} />
      </Modal>
    </Page>
  );
}

function NewSuite({ made }: { made: (id: string) => void }) {
  const t = useText();
  const invalidate = useInvalidate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { fields, rest } = fieldErrors(error, ['name', 'description']);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const s = unwrap(
        await api.POST('/api/tool-suites', { body: { name: name.trim(), ...(description ? { description } : {}) } }),
      );
      invalidate.suites();
      made(s.id);
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && (rest.length > 0 || Object.keys(fields).length === 0) && <Failure of={error} />}
        <TextInput
          label={t('common.name')}
          required
          maxLength={256}
          data-autofocus
          value={name}
          error={fields.name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <Textarea
          label={t('suites.description')}
          autosize
          minRows={2}
          maxLength={5000}
          value={description}
          error={fields.description}
          onChange={(e) => setDescription(e.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={name.trim() === ''}>
            {t('suites.make')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
