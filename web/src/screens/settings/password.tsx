import { Alert, Box, Button, PasswordInput, Stack, Table, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { $api, api, unwrap } from '../../api/client';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { useAction } from '../../ui/action';
import { Card } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { bytes, number } from '../../ui/format';
import { PlainTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

export function PasswordSection() {
  const t = useText();
  const me = useCurrentUser();
  const [before, setBefore] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [done, setDone] = useState(false);
  const { busy, error, act } = useAction();
  const different = again !== '' && again !== password;
  const send = async (e: FormEvent) => {
    e.preventDefault();
    setDone(false);
    if (!(await act(async () => unwrap(await api.PUT('/api/me/password', { body: { before, password } }))))) return;
    setDone(true);
    setBefore('');
    setPassword('');
    setAgain('');
  };
  return (
    <Stack gap="lg">
      <Card title={t('settings.passwordTitle')}>
        <Box component="form" onSubmit={send} maw={420}>
          <Stack>
            <Text size="sm" c="dimmed">
              {t('settings.passwordText')}
            </Text>
            <Failure of={error} />
            {done && (
              <Alert color="green" role="status">
                {t('settings.changed')}
              </Alert>
            )}
            <input type="text" name="username" autoComplete="username" value={me.name} readOnly hidden />
            <PasswordInput
              label={t('settings.before')}
              autoComplete="current-password"
              required
              value={before}
              onChange={(e) => setBefore(e.currentTarget.value)}
            />
            <PasswordInput
              label={t('settings.after')}
              description={t('settings.afterHint')}
              autoComplete="new-password"
              required
              minLength={12}
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
            />
            <PasswordInput
              label={t('shell.repeatPassword')}
              autoComplete="new-password"
              required
              value={again}
              error={different ? t('shell.different') : undefined}
              onChange={(e) => setAgain(e.currentTarget.value)}
            />
            <Button type="submit" loading={busy} disabled={different} style={{ alignSelf: 'flex-start' }}>
              {t('common.save')}
            </Button>
          </Stack>
        </Box>
      </Card>
      <Held />
    </Stack>
  );
}

/** Held shows how much of each limit the user has used. */
function Held() {
  const t = useText();
  const held = $api.useQuery('get', '/api/me/quota', {});
  if (held.isPending) return <Loading />;
  if (held.error) return <Failure of={held.error} retry={() => held.refetch()} />;
  return (
    <Card title={t('settings.heldTitle')}>
      <PlainTable
        maw={560}
        heads={[
          t('settings.heldWhat'),
          { title: t('settings.heldNow'), right: true },
          { title: t('settings.heldMost'), right: true },
        ]}
      >
        {held.data.items.map((h) => {
          const shown = h.what.endsWith('bytes') ? bytes : number;
          return (
            <Table.Tr key={h.what}>
              <Table.Td>{t(`settings.held_${h.what}`)}</Table.Td>
              <Table.Td className={common.num} ta="right">
                {shown(h.held)}
              </Table.Td>
              <Table.Td className={common.num} ta="right">
                {shown(h.most)}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </PlainTable>
    </Card>
  );
}
