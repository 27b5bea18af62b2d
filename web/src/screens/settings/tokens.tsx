// Tokens for programs: made, shown once, revoked.
import { Button, Checkbox, Modal, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { askConfirmation } from '../../ui/confirm';
import { Copyable } from '../../ui/copy';
import { ago, moment } from '../../ui/format';
import { notify } from '../../ui/notify';
import { DataTable } from '../../ui/datatable';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

type Scope = 'read' | 'run' | 'write' | 'admin';

export function TokensSection() {
  const t = useText();
  const invalidate = useInvalidate();
  const [making, setMaking] = useState(false);
  const list = $api.useQuery('get', '/api/tokens', {});
  const again = () => invalidate.tokens();
  const revoke = (k: Schemas['AccountToken']) =>
    askConfirmation(
      t,
      t('settings.revokeTitle'),
      t('settings.revokeText', { name: k.name }),
      t('settings.revoke'),
      async () => {
        unwrap(await api.DELETE('/api/tokens/{id}', { params: { path: { id: k.id } } }));
        notify(t('settings.revoked', { name: k.name }));
        await again();
      },
    );
  const make = <Button onClick={() => setMaking(true)}>{t('settings.makeToken')}</Button>;
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  return (
    <>
      {list.data.items.length === 0 ? (
        <Empty title={t('settings.noTokens')} text={t('settings.noTokensText')}>
          {make}
        </Empty>
      ) : (
        <Card title={t('settings.tokensTitle')} actions={make}>
          <Text size="sm" c="dimmed" mb="sm">
            {t('settings.tokensText')}
          </Text>
          <DataTable
            label={t('settings.tokensTitle')}
            miw={620}
            heads={[
              t('common.name'),
              t('settings.scopes'),
              t('settings.expires'),
              t('settings.used'),
              { title: t('common.actions'), right: true },
            ]}
          >
            {list.data.items.map((k) => (
              <Table.Tr key={k.id}>
                <Table.Td className={common.untrusted}>{k.name}</Table.Td>
                <Table.Td>{(k.scopes ?? []).map((s) => t(`settings.scope_${s as Scope}`)).join(', ')}</Table.Td>
                <Table.Td className={common.num}>
                  {new Date(k.expires) < new Date() ? t('settings.expired') : moment(k.expires)}
                </Table.Td>
                <Table.Td className={common.num}>{k.used ? ago(k.used) : t('settings.never')}</Table.Td>
                <Table.Td ta="right">
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="red"
                    onClick={() => revoke(k)}
                    aria-label={`${t('settings.revoke')}: ${k.name}`}
                  >
                    {t('settings.revoke')}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </Card>
      )}
      {making && <Make close={() => setMaking(false)} made={again} />}
    </>
  );
}

function Make({ close, made }: { close: () => void; made: () => Promise<void> }) {
  const t = useText();
  const grants = useCurrentUser().grants as Scope[];
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(grants.filter((g) => g === 'read' || g === 'run'));
  const [days, setDays] = useState('90');
  const [secret, setSecret] = useState('');
  const send = async () => {
    const k = unwrap(await api.POST('/api/tokens', { body: { name, scopes, days: Number(days) } }));
    setSecret(k.secret);
    await made();
  };
  if (secret)
    return (
      <Modal opened onClose={close} title={t('settings.tokenMade')} closeOnClickOutside={false} closeOnEscape={false}>
        <Stack>
          <Text size="sm">{t('settings.tokenMadeText')}</Text>
          <Copyable label={name} value={secret} />
          <Button onClick={close}>{t('settings.done')}</Button>
        </Stack>
      </Modal>
    );
  return (
    <FormDialog
      title={t('settings.makeToken')}
      close={close}
      send={send}
      button={t('settings.makeToken')}
      disabled={scopes.length === 0}
    >
      <TextInput
        label={t('settings.tokenName')}
        placeholder={t('settings.tokenNameHint')}
        required
        maxLength={100}
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
        data-autofocus
      />
      <Checkbox.Group label={t('settings.scopes')} value={scopes} onChange={(v) => setScopes(v as Scope[])}>
        <Stack gap="xs" mt="xs">
          {grants.map((g) => (
            <Checkbox key={g} value={g} label={t(`settings.scope_${g}`)} description={t(`settings.scope_${g}_text`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <NativeSelect
        label={t('settings.days')}
        value={days}
        onChange={(e) => setDays(e.currentTarget.value)}
        data={['7', '30', '90', '366'].map((n) => ({ value: n, label: t('settings.daysUnit', { n }) }))}
      />
    </FormDialog>
  );
}
