import {
  ActionIcon,
  Autocomplete,
  Box,
  Button,
  Fieldset,
  Group,
  Select,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core';
import { IconCircleCheck, IconCircleX, IconKey, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { $api, api, unwrap, problemOf } from '../../api/client';
import { useText } from '../../text';
import { duration } from '../../ui/format';
import { type Model, type Profile, settingsOf, splitSpec } from './draft';
import common from '../../ui/common.module.css';

const faults = ['auth', 'request', 'rate_limit', 'network', 'timeout'] as const;

/**
 * ModelRow is a model of the list, with a test of its key and a choice of its profiles; lacks is the variable of a
 * missing key.
 */
export function ModelRow({
  model: m,
  lacks,
  profiles,
  choose,
  remove,
}: {
  model: Model;
  lacks?: string;
  profiles: Profile[];
  choose: (profile?: string) => void;
  remove: () => void;
}) {
  const t = useText();
  const { provider, model } = splitSpec(m.spec);
  const test = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/targets/test', {
          body: { provider_key: provider, model_id: model, base_url: m.base_url, api_key_env: m.api_key_env },
        }),
      ),
  });
  const chosen = profiles.find((p) => p.id === m.profile);
  const canTest = provider !== 'offline' && !provider.includes(':');
  const r = test.data;
  const fault = faults.find((f) => f === r?.fault);
  const why = test.error
    ? problemOf(test.error).message
    : r && !r.ok
      ? [fault && t(`newrun.fault_${fault}`), r.message].filter(Boolean).join(': ')
      : '';
  return (
    <Box className={common.card} px="sm" py={6}>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <Box style={{ minWidth: 0 }}>
          <Text size="sm" fw={600} className={common.untrusted}>
            {m.name || m.spec}
          </Text>
          {(m.base_url || m.name) && (
            <Text size="xs" c="dimmed" className={common.untrusted}>
              {[m.name && m.spec, m.base_url, m.api_key_env].filter(Boolean).join(' · ')}
            </Text>
          )}
        </Box>
        <Group gap={4} wrap="nowrap">
          {canTest && (
            <Button
              variant="subtle"
              size="compact-xs"
              loading={test.isPending}
              onClick={() => test.mutate()}
              aria-label={`${t('newrun.test')}: ${m.name || m.spec}`}
            >
              {t('newrun.test')}
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={remove}
            aria-label={t('newrun.removeModel', { what: m.name || m.spec })}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {(profiles.length > 0 || m.profile) && (
        <Select
          size="xs"
          mt={4}
          aria-label={t('newrun.profileOf', { what: m.name || m.spec })}
          placeholder={t('newrun.noProfile')}
          clearable
          clearButtonProps={{ 'aria-label': t('newrun.noProfile') }}
          value={m.profile ?? null}
          onChange={(v) => choose(v ?? undefined)}
          description={
            chosen &&
            [
              settingsOf(chosen),
              chosen.system_prompt && t('tune.profilePrompt', { text: chosen.system_prompt.slice(0, 80) }),
            ]
              .filter(Boolean)
              .join('; ')
          }
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={[
            ...profiles.map((p) => ({ value: p.id, label: p.name, disabled: Boolean(p.problem) })),
            ...(m.profile && !chosen ? [{ value: m.profile, label: m.profile }] : []),
          ]}
        />
      )}
      {lacks && !r && !test.error && (
        <Text
          size="xs"
          className={common.untrusted}
          style={{ color: 'var(--cv-error)', display: 'flex', gap: 4, alignItems: 'flex-start' }}
        >
          <IconKey size={14} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          {t('newrun.noKey', { variable: lacks })}
        </Text>
      )}
      {(r || test.error) && (
        <Text
          size="xs"
          role="status"
          className={common.untrusted}
          style={{
            color: why ? 'var(--cv-fail)' : 'var(--cv-pass)',
            display: 'flex',
            gap: 4,
            alignItems: 'flex-start',
          }}
        >
          {why ? (
            <IconCircleX size={14} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          ) : (
            <IconCircleCheck size={14} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          )}
          {why ? t('newrun.worksNot', { why }) : t('newrun.works', { time: duration(r!.latency_ms) })}
        </Text>
      )}
    </Box>
  );
}

/** EndpointDialog adds a model at an address that the user types. */
export function EndpointDialog({ add, close }: { add: (m: Model) => void; close: () => void }) {
  const t = useText();
  const [provider, setProvider] = useState('openai');
  const [model, setModel] = useState('');
  const [url, setUrl] = useState('');
  const [variable, setVariable] = useState('');
  const [name, setName] = useState('');
  const keys = $api.useQuery('get', '/api/keys');
  const complete = provider.trim() !== '' && model.trim() !== '' && url.trim() !== '';
  const submit = () => {
    if (complete)
      add({
        spec: `${provider.trim()}/${model.trim()}`,
        base_url: url.trim(),
        api_key_env: variable.trim() || undefined,
        name: name.trim() || undefined,
      });
  };
  const press = (e: KeyboardEvent) => {
    if (e.key !== 'Enter' || (e.target as HTMLElement).tagName !== 'INPUT') return;
    e.preventDefault(); // adds a model, and does not start the run
    submit();
  };
  return (
    <Fieldset legend={t('newrun.endpoint')} onKeyDown={press}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={t('newrun.baseUrl')}
          placeholder="http://127.0.0.1:8000/v1"
          inputMode="url"
          value={url}
          onChange={(e) => setUrl(e.currentTarget.value)}
          data-autofocus
        />
        <TextInput label={t('newrun.modelId')} value={model} onChange={(e) => setModel(e.currentTarget.value)} />
        <TextInput
          label={t('newrun.provider')}
          description={t('newrun.providerHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={provider}
          onChange={(e) => setProvider(e.currentTarget.value)}
        />
        <Autocomplete
          label={t('newrun.keyVar')}
          description={t('newrun.keyVarHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={variable}
          onChange={setVariable}
          data={(keys.data?.items ?? []).map((k) => k.variable)}
        />
        <TextInput
          label={t('newrun.shownAs')}
          placeholder={`${provider}/${model}`}
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
      </SimpleGrid>
      <Group mt="sm" gap="xs">
        <Button size="xs" onClick={submit} disabled={!complete} variant="light">
          {t('newrun.add')}
        </Button>
        <Button size="xs" variant="subtle" color="gray" onClick={close}>
          {t('common.cancel')}
        </Button>
      </Group>
    </Fieldset>
  );
}
