// The login page: by name and password, or by a one-time link with a secret after the # of the address.
import { Alert, Box, Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api, unwrap, problemOf } from './api/client';
import { useText } from './text';
import { Failure, Loading } from './ui/status';
import common from './ui/common.module.css';

/** Link is the one-time link that the visitor opened. */
export type Link = { kind: 'claim' | 'view'; secret: string };

export function readLink(hash: string): Link | null {
  const m = /^#(claim|view)=(.+)$/.exec(hash);
  return m ? { kind: m[1] as Link['kind'], secret: decodeURIComponent(m[2]!) } : null;
}

/** LoginPage logs a user in and then calls entered. again: the user's session has ended. */
export function LoginPage({
  link,
  again,
  entered,
}: {
  link: Link | null;
  again: boolean;
  entered: () => Promise<void>;
}) {
  // Removes the secret from the address and from the history.
  useEffect(() => {
    if (link) history.replaceState(null, '', location.pathname + location.search);
  }, [link]);
  return (
    <Box mih="100dvh" style={{ display: 'grid', placeItems: 'center' }} p="md" component="main">
      <Box className={common.card} p="xl" w="100%" maw={400}>
        {link?.kind === 'view' ? (
          <Viewing secret={link.secret} entered={entered} />
        ) : link ? (
          <Claim secret={link.secret} entered={entered} />
        ) : (
          <Login again={again} entered={entered} />
        )}
      </Box>
    </Box>
  );
}

function Heading({ title, text }: { title: string; text: string }) {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · callvet`;
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <Stack gap={4} mb="lg">
      <img src="/icon.svg" width={36} height={36} alt="" />
      <Title order={1} mt={6}>
        {title}
      </Title>
      <Text c="dimmed" size="sm">
        {text}
      </Text>
    </Stack>
  );
}

function useSend(send: () => Promise<unknown>, entered: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (e?: FormEvent) => {
    e?.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await send();
      await entered();
    } catch (x) {
      setError(x);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, submit };
}

function Login({ again, entered }: { again: boolean; entered: () => Promise<void> }) {
  const t = useText();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { busy, error, submit } = useSend(
    async () => unwrap(await api.POST('/api/session', { body: { name, password } })),
    entered,
  );
  return (
    <form onSubmit={submit}>
      <Heading title={t('shell.login')} text={t('shell.tagline')} />
      <Stack>
        {again && !error && <Alert>{t('shell.loggedOut')}</Alert>}
        {error !== null &&
          (problemOf(error).status === 401 ? (
            <Alert color="red" role="alert">
              {t('shell.wrong')}
            </Alert>
          ) : (
            <Failure of={error} />
          ))}
        <TextInput
          label={t('shell.user')}
          name="username"
          autoComplete="username"
          required
          autoFocus
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <PasswordInput
          label={t('shell.password')}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(e) => setPassword(e.currentTarget.value)}
        />
        <Button type="submit" loading={busy} fullWidth>
          {t('shell.login')}
        </Button>
      </Stack>
    </form>
  );
}

function Claim({ secret, entered }: { secret: string; entered: () => Promise<void> }) {
  const t = useText();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const different = again !== '' && again !== password;
  const { busy, error, submit } = useSend(
    async () =>
      unwrap(await api.POST('/api/session/claim', { body: { link: secret, password, ...(name ? { name } : {}) } })),
    entered,
  );
  return (
    <form onSubmit={submit}>
      <Heading title={t('shell.claimInvite')} text={t('shell.claimText')} />
      <Stack>
        <Failure of={error} />
        <TextInput
          label={t('shell.claimName')}
          description={t('shell.claimNameHint')}
          name="username"
          autoComplete="username"
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <PasswordInput
          label={t('shell.password')}
          name="new-password"
          autoComplete="new-password"
          required
          minLength={12}
          value={password}
          onChange={(e) => setPassword(e.currentTarget.value)}
        />
        <PasswordInput
          label={t('shell.repeatPassword')}
          name="repeat-password"
          autoComplete="new-password"
          required
          value={again}
          error={different ? t('shell.different') : undefined}
          onChange={(e) => setAgain(e.currentTarget.value)}
        />
        <Button type="submit" loading={busy} disabled={different} fullWidth>
          {t('shell.claimInvite')}
        </Button>
      </Stack>
    </form>
  );
}

function Viewing({ secret, entered }: { secret: string; entered: () => Promise<void> }) {
  const t = useText();
  const begun = useRef(false);
  const { error, submit } = useSend(
    async () => unwrap(await api.POST('/api/session/view', { body: { token: secret } })),
    entered,
  );
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void submit();
  });
  if (error) {
    return (
      <Alert color="red" role="alert">
        {t('shell.viewFailed')}
      </Alert>
    );
  }
  return <Loading />;
}
