// Keys of providers, and a test request to a model that shows whether a key works.
import {
  Alert,
  Autocomplete,
  Badge,
  Button,
  Group,
  NativeSelect,
  PasswordInput,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useText } from '../../text';
import { useAction } from '../../ui/action';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { askConfirmation } from '../../ui/confirm';
import { duration, moment } from '../../ui/format';
import { notify } from '../../ui/notify';
import { DataTable } from '../../ui/datatable';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

type Key = Schemas['AccountProviderKey'];

export function KeysSection() {
  const t = useText();
  const invalidate = useInvalidate();
  const [setting, setSetting] = useState<{ variable: string; hosts: string[] } | null>(null);
  const list = $api.useQuery('get', '/api/keys', {});
  const targets = $api.useQuery('get', '/api/targets', {}, { staleTime: Number.POSITIVE_INFINITY });
  const again = () => invalidate.keys();
  const remove = (k: Key) =>
    askConfirmation(
      t,
      t('settings.deleteKey'),
      t('settings.deleteKeyText', { variable: k.variable }),
      t('common.delete'),
      async () => {
        unwrap(await api.DELETE('/api/keys/{variable}', { params: { path: { variable: k.variable } } }));
        notify(t('common.deleted', { what: k.variable }));
        await again();
      },
    );
  if (list.isPending || targets.isPending) return <Loading />;
  if (list.error || targets.error)
    return <Failure of={list.error ?? targets.error} retry={() => (list.error ? list.refetch() : targets.refetch())} />;
  const { providers } = targets.data;
  const keys = list.data.items;
  const set = <Button onClick={() => setSetting({ variable: '', hosts: [] })}>{t('settings.setKey')}</Button>;
  return (
    <Stack gap="lg">
      {keys.length === 0 ? (
        <Empty title={t('settings.noKeys')} text={t('settings.noKeysText')}>
          {set}
        </Empty>
      ) : (
        <Card title={t('settings.keysTitle')} actions={set}>
          <Text size="sm" c="dimmed" mb="sm">
            {t('settings.keysText')}
          </Text>
          <DataTable
            label={t('settings.keysTitle')}
            miw={760}
            heads={[
              t('settings.provider'),
              t('settings.variable'),
              t('settings.ends'),
              t('settings.keyHosts'),
              t('settings.set'),
              { title: t('common.actions'), right: true },
            ]}
          >
            {keys.map((k) => (
              <Table.Tr key={k.variable}>
                <Table.Td>
                  {providers
                    .filter((p) => p.key_variables.includes(k.variable))
                    .map((p) => p.name)
                    .join(', ') || '–'}
                </Table.Td>
                <Table.Td className={common.mono}>{k.variable}</Table.Td>
                <Table.Td>
                  {k.lost ? (
                    <Badge
                      leftSection={<IconAlertTriangle size={14} aria-hidden />}
                      style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}
                      title={t('settings.lostText')}
                    >
                      {t('settings.lost')}
                    </Badge>
                  ) : k.hint ? (
                    <span className={common.mono}>…{k.hint}</span>
                  ) : (
                    t('settings.short')
                  )}
                </Table.Td>
                <Table.Td className={common.mono} style={{ overflowWrap: 'anywhere' }}>
                  {[...k.hosts, ...(k.near ? [t('settings.nearHosts')] : [])].join(', ') || '–'}
                </Table.Td>
                <Table.Td className={common.num}>{moment(k.created)}</Table.Td>
                <Table.Td ta="right">
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      onClick={() => setSetting({ variable: k.variable, hosts: k.near ? [] : k.hosts })}
                      aria-label={`${t('settings.replaceKey')}: ${k.variable}`}
                    >
                      {t('settings.replaceKey')}
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      color="red"
                      onClick={() => remove(k)}
                      aria-label={`${t('common.delete')}: ${k.variable}`}
                    >
                      {t('common.delete')}
                    </Button>
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </Card>
      )}
      <Test providers={providers} keys={keys} />
      {setting && (
        <SetKey
          variable={setting.variable}
          hosts={setting.hosts}
          providers={providers}
          close={() => setSetting(null)}
          done={again}
        />
      )}
    </Stack>
  );
}

function SetKey({
  variable: fixed,
  hosts: before,
  providers,
  close,
  done,
}: {
  variable: string;
  hosts: string[];
  providers: Schemas['AppProvider'][];
  close: () => void;
  done: () => Promise<void>;
}) {
  const t = useText();
  const [variable, setVariable] = useState(fixed || providers[0]?.key_variables[0] || '');
  const [value, setValue] = useState('');
  const [hosts, setHosts] = useState(before.join(' '));
  const variables = [...new Set(providers.flatMap((p) => p.key_variables))];
  const send = async () => {
    const named = hosts.split(/[\s,]+/).filter(Boolean);
    unwrap(
      await api.PUT('/api/keys/{variable}', {
        params: { path: { variable } },
        body: { value, ...(named.length > 0 ? { hosts: named } : {}) },
      }),
    );
    notify(t('settings.keySet', { variable }));
    await done();
    close();
  };
  return (
    <FormDialog
      title={fixed ? t('settings.setKeyOf', { variable: fixed }) : t('settings.setKey')}
      close={close}
      send={send}
      button={t('common.save')}
    >
      {!fixed && (
        <Autocomplete
          label={t('settings.variable')}
          description={t('settings.variableHint')}
          required
          data={variables}
          value={variable}
          onChange={setVariable}
          maxDropdownHeight={220}
        />
      )}
      <PasswordInput
        label={t('settings.value')}
        description={t('settings.valueHint')}
        required
        autoComplete="new-password"
        value={value}
        onChange={(e) => setValue(e.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={t('settings.keyHosts')}
        description={t('settings.keyHostsHint')}
        value={hosts}
        onChange={(e) => setHosts(e.currentTarget.value)}
      />
    </FormDialog>
  );
}

const faults = ['auth', 'request', 'rate_limit', 'network', 'timeout', 'server', 'malformed'] as const;

/** Test sends one request to a model and shows the result in words. */
function Test({ providers, keys }: { providers: Schemas['AppProvider'][]; keys: Key[] }) {
  const t = useText();
  const [provider, setProvider] = useState(
    () =>
      providers.find((p) => keys.some((k) => p.key_variables.includes(k.variable)))?.name ?? providers[0]?.name ?? '',
  );
  const [model, setModel] = useState('');
  const [base, setBase] = useState('');
  const [variable, setVariable] = useState('');
  const [result, setResult] = useState<Schemas['AppProbe'] | null>(null);
  const { busy, error, act } = useAction();
  const send = (e: FormEvent) => {
    e.preventDefault();
    setResult(null);
    void act(async () => {
      setResult(
        unwrap(
          await api.POST('/api/targets/test', {
            body: {
              provider_key: provider,
              model_id: model,
              ...(base ? { base_url: base } : {}),
              ...(variable ? { api_key_env: variable } : {}),
            },
          }),
        ),
      );
    });
  };
  return (
    <Card title={t('settings.testTitle')}>
      <form onSubmit={send}>
        <Stack>
          <Text size="sm" c="dimmed">
            {t('settings.testText')}
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
            <NativeSelect
              label={t('settings.provider')}
              value={provider}
              onChange={(e) => setProvider(e.currentTarget.value)}
              data={providers.map((p) => p.name)}
            />
            <TextInput
              label={t('settings.model')}
              placeholder={t('settings.modelHint')}
              required
              value={model}
              onChange={(e) => setModel(e.currentTarget.value)}
            />
            <NativeSelect
              label={t('settings.keyVariable')}
              value={variable}
              onChange={(e) => setVariable(e.currentTarget.value)}
              data={[
                { value: '', label: t('settings.usualKey') },
                ...keys.map((k) => ({ value: k.variable, label: k.variable })),
              ]}
            />
            <TextInput
              label={t('settings.baseURL')}
              placeholder={t('settings.baseURLHint')}
              type="url"
              value={base}
              onChange={(e) => setBase(e.currentTarget.value)}
            />
          </SimpleGrid>
          <Button type="submit" variant="default" loading={busy} style={{ alignSelf: 'flex-start' }}>
            {t('settings.test')}
          </Button>
          <div aria-live="polite">
            <Failure of={error} />
            {result && <Result of={result} />}
          </div>
        </Stack>
      </form>
    </Card>
  );
}

function Result({ of: r }: { of: Schemas['AppProbe'] }) {
  const t = useText();
  if (r.ok) {
    return (
      <Alert color="green" icon={<IconCircleCheck />} title={t('settings.answered')}>
        <span className={common.untrusted}>
          {t('settings.answeredText', { model: r.model || r.target, time: duration(r.latency_ms) })}
        </span>
      </Alert>
    );
  }
  const fault = faults.find((f) => f === r.fault) ?? 'other';
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={t('settings.didNot')}>
      <Text size="sm" fw={600}>
        {t(`settings.fault_${fault}`)} {r.http_status ? `(${t('settings.faultHTTP', { status: r.http_status })})` : ''}
      </Text>
      {r.message && (
        <Text size="sm" className={common.untrusted} mt={4}>
          {t('settings.providerSaid')}: {r.message}
        </Text>
      )}
      {r.retry_after_ms ? (
        <Text size="sm" mt={4}>
          {t('settings.retryAfter', { time: duration(r.retry_after_ms) })}
        </Text>
      ) : null}
      {r.notes?.map((n, i) => (
        <Text key={i} size="sm" className={common.untrusted} mt={4}>
          {n.text}
        </Text>
      ))}
    </Alert>
  );
}
