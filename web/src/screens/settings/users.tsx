// Users, for admins: invited by a link, changed, removed.
import {
  Badge,
  Button,
  Group,
  Menu,
  Modal,
  NativeSelect,
  NumberInput,
  Radio,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { askConfirmation } from '../../ui/confirm';
import { Copyable } from '../../ui/copy';
import { moment } from '../../ui/format';
import { notify, notifyFailure } from '../../ui/notify';
import { DataTable, FigureCell } from '../../ui/datatable';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

type User = Schemas['AccountUser'];
type Role = 'viewer' | 'member' | 'admin';
const roles: Role[] = ['viewer', 'member', 'admin'];

export function UsersSection() {
  const t = useText();
  const me = useCurrentUser();
  const invalidate = useInvalidate();
  const [dialog, setDialog] = useState<{ invite: true } | { change: User } | { link: string; name: string } | null>(
    null,
  );
  const list = $api.useInfiniteQuery(
    'get',
    '/api/users',
    { params: { query: { limit: 100 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p) => p.next_cursor },
  );
  const again = () => invalidate.users();
  const close = () => setDialog(null);
  const link = async (u: User) => {
    try {
      setDialog({
        link: unwrap(await api.POST('/api/users/{id}/link', { params: { path: { id: u.id } } })).link,
        name: u.name,
      });
      await again();
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const remove = (u: User) =>
    askConfirmation(
      t,
      t('settings.removeTitle', { name: u.name }),
      t('settings.removeText', { name: u.name }),
      t('settings.remove'),
      async () => {
        unwrap(await api.DELETE('/api/users/{id}', { params: { path: { id: u.id } } }));
        notify(t('settings.removed', { name: u.name }));
        await again();
      },
    );
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const users = list.data.pages.flatMap((p) => p.items);
  return (
    <Card
      title={t('settings.usersTitle')}
      actions={<Button onClick={() => setDialog({ invite: true })}>{t('settings.invite')}</Button>}
    >
      <DataTable
        label={t('settings.usersTitle')}
        miw={560}
        heads={[
          t('common.name'),
          t('settings.role'),
          { title: t('settings.maxJobs'), right: true },
          t('common.created'),
          { title: t('common.actions'), right: true },
        ]}
      >
        {users.map((u) => (
          <Table.Tr key={u.id}>
            <Table.Td>
              <Group gap={8}>
                <span className={common.untrusted}>{u.name}</span>
                {u.id === me.user_id && <Badge color="gray">{t('settings.you')}</Badge>}
                {u.waiting && <Badge color="yellow">{t('settings.waiting')}</Badge>}
              </Group>
            </Table.Td>
            <Table.Td>{t(`settings.role_${u.role as Role}`)}</Table.Td>
            <FigureCell>{u.max_jobs}</FigureCell>
            <Table.Td className={common.num}>{moment(u.created)}</Table.Td>
            <Table.Td ta="right">
              <Menu position="bottom-end">
                <Menu.Target>
                  <Button size="compact-sm" variant="subtle" aria-label={t('settings.userActions', { name: u.name })}>
                    {t('common.actions')}
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item onClick={() => setDialog({ change: u })}>{t('settings.changeUser')}</Menu.Item>
                  <Menu.Item onClick={() => link(u)}>{t('settings.newLink')}</Menu.Item>
                  {u.id !== me.user_id && (
                    <Menu.Item color="red" onClick={() => remove(u)}>
                      {t('settings.remove')}
                    </Menu.Item>
                  )}
                </Menu.Dropdown>
              </Menu>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {list.hasNextPage && (
        <Button mt="sm" variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
          {t('common.more')}
        </Button>
      )}
      {dialog && 'invite' in dialog && (
        <Invite
          close={close}
          made={async (u) => {
            setDialog({ link: u.link, name: u.name });
            await again();
          }}
        />
      )}
      {dialog && 'change' in dialog && (
        <Change
          user={dialog.change}
          close={close}
          changed={async () => {
            close();
            await again();
          }}
        />
      )}
      {dialog && 'link' in dialog && (
        <Modal
          opened
          onClose={close}
          title={t('settings.linkTitle', { name: dialog.name })}
          closeOnClickOutside={false}
        >
          <Stack>
            <Text size="sm">{t('settings.linkText')}</Text>
            <Copyable label={t('settings.linkOf')} value={dialog.link} />
            <Button onClick={close}>{t('settings.done')}</Button>
          </Stack>
        </Modal>
      )}
    </Card>
  );
}

function Invite({ close, made }: { close: () => void; made: (u: Schemas['Linked']) => Promise<void> }) {
  const t = useText();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [jobs, setJobs] = useState(2);
  const send = async () => made(unwrap(await api.POST('/api/users', { body: { name, role, max_jobs: jobs } })));
  return (
    <FormDialog title={t('settings.inviteTitle')} close={close} send={send} button={t('settings.invite')}>
      <TextInput
        label={t('settings.userName')}
        required
        maxLength={64}
        autoComplete="off"
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
        data-autofocus
      />
      <Radio.Group label={t('settings.role')} value={role} onChange={(v) => setRole(v as Role)}>
        <Stack gap="xs" mt="xs">
          {roles.map((r) => (
            <Radio key={r} value={r} label={t(`settings.role_${r}`)} description={t(`settings.role_${r}_text`)} />
          ))}
        </Stack>
      </Radio.Group>
      <Jobs value={jobs} onChange={setJobs} />
    </FormDialog>
  );
}

function Jobs({ value, onChange }: { value: number; onChange: (n: number) => void }) {
  const t = useText();
  return (
    <NumberInput
      label={t('settings.maxJobs')}
      min={1}
      max={64}
      clampBehavior="strict"
      allowDecimal={false}
      value={value}
      onChange={(v) => onChange(Number(v) || 1)}
      maw={200}
    />
  );
}

function Change({ user, close, changed }: { user: User; close: () => void; changed: () => Promise<void> }) {
  const t = useText();
  const [role, setRole] = useState(user.role as Role);
  const [jobs, setJobs] = useState(user.max_jobs);
  const send = async () => {
    unwrap(
      await api.PATCH('/api/users/{id}', {
        params: { path: { id: user.id } },
        body: { ...(role !== user.role ? { role } : {}), ...(jobs !== user.max_jobs ? { max_jobs: jobs } : {}) },
      }),
    );
    notify(t('settings.userChanged', { name: user.name }));
    await changed();
  };
  return (
    <FormDialog
      title={user.name}
      close={close}
      send={send}
      button={t('common.save')}
      disabled={role === user.role && jobs === user.max_jobs}
    >
      <NativeSelect
        label={t('settings.role')}
        value={role}
        onChange={(e) => setRole(e.currentTarget.value as Role)}
        data={roles.map((r) => ({
          value: r,
          label: `${t(`settings.role_${r}`)}: ${t(`settings.role_${r}_text`)}`,
        }))}
      />
      <Jobs value={jobs} onChange={setJobs} />
    </FormDialog>
  );
}
