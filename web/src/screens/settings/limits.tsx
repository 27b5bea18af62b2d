// Limits on the work of users, for admins.
import { Button, Group, SimpleGrid, Stack, Switch, Table, TagsInput, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { useText } from '../../text';
import { useAction } from '../../ui/action';
import { Card } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { notify } from '../../ui/notify';
import common from '../../ui/common.module.css';

export function LimitsSection() {
  const settings = $api.useQuery('get', '/api/settings', {});
  if (settings.isPending) return <Loading />;
  if (settings.error) return <Failure of={settings.error} retry={() => settings.refetch()} />;
  return <Form of={settings.data} />;
}

function Form({ of }: { of: Schemas['SettingsTold'] }) {
  const t = useText();
  const client = useQueryClient();
  const [everywhere, setEverywhere] = useState(of.private_addresses);
  const [hosts, setHosts] = useState(of.private_hosts ?? []);
  const [keys, setKeys] = useState(of.server_keys);
  const [embedder, setEmbedder] = useState(of.embedder ?? '');
  const [embed, setEmbed] = useState(of.embed ?? '');
  const [rerank, setRerank] = useState(of.rerank ?? '');
  const { busy, error, act } = useAction();
  const same =
    embedder === (of.embedder ?? '') &&
    embed === (of.embed ?? '') &&
    rerank === (of.rerank ?? '') &&
    everywhere === of.private_addresses &&
    keys === of.server_keys &&
    hosts.join('\n') === (of.private_hosts ?? []).join('\n');
  const save = () =>
    act(async () => {
      const now = unwrap(
        await api.PUT('/api/settings', {
          body: {
            private_addresses: everywhere,
            private_hosts: hosts,
            server_keys: keys,
            embedder: embedder.trim(),
            embed: embed.trim(),
            rerank: rerank.trim(),
          },
        }),
      );
      setHosts(now.private_hosts ?? []);
      client.setQueryData(queryKeys.settings(), now);
      notify(t('settings.saved'));
    });
  const word = (v: boolean) => t(v ? 'settings.on' : 'settings.off');
  const rows: [string, string][] = [
    [
      t('settings.hosts'),
      of.allowed.private_addresses
        ? t('settings.allHosts')
        : (of.allowed.private_hosts ?? []).join(', ') || t('settings.hostsNone'),
    ],
    [t('settings.serverKeys'), word(of.allowed.server_keys)],
    [t('settings.embedder'), of.allowed.embedder || t('settings.modelNone')],
    [t('settings.embed'), of.allowed.embed || t('settings.modelNone')],
    [t('settings.rerank'), of.allowed.rerank || t('settings.modelNone')],
    [t('settings.files'), word(of.allowed.files)],
    [t('settings.commands'), word(of.allowed.commands)],
  ];
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Card title={t('settings.limitsTitle')}>
        <Stack>
          <Text size="sm" c="dimmed">
            {t('settings.limitsText')}
          </Text>
          <Failure of={error} />
          <TagsInput
            label={t('settings.hosts')}
            description={t('settings.hostsHint')}
            value={hosts}
            onChange={setHosts}
            disabled={everywhere}
            acceptValueOnBlur
            clearable={false}
          />
          <Switch
            label={t('settings.privateAddresses')}
            description={t('settings.privateAddressesHint')}
            checked={everywhere}
            onChange={(e) => setEverywhere(e.currentTarget.checked)}
          />
          <Switch
            label={t('settings.serverKeys')}
            description={t('settings.serverKeysHint')}
            checked={keys}
            onChange={(e) => setKeys(e.currentTarget.checked)}
          />
          <TextInput
            label={t('settings.embedder')}
            description={t('settings.embedderHint')}
            placeholder="openai/text-embedding-3-small"
            value={embedder}
            onChange={(e) => setEmbedder(e.currentTarget.value)}
          />
          <TextInput
            label={t('settings.embed')}
            description={t('settings.embedHint')}
            placeholder="openai:text-embedding-3-small"
            value={embed}
            onChange={(e) => setEmbed(e.currentTarget.value)}
          />
          <TextInput
            label={t('settings.rerank')}
            description={t('settings.rerankHint')}
            placeholder="cohere:rerank-v3.5"
            value={rerank}
            onChange={(e) => setRerank(e.currentTarget.value)}
          />
          <Group>
            <Button onClick={save} loading={busy} disabled={same}>
              {t('common.save')}
            </Button>
            {!same && (
              <Text size="sm" c="dimmed">
                {t('settings.unsaved')}
              </Text>
            )}
          </Group>
        </Stack>
      </Card>
      <Card title={t('settings.inForce')}>
        <Text size="sm" c="dimmed" mb="sm">
          {t('settings.inForceText')}
        </Text>
        <Table>
          <Table.Tbody>
            {rows.map(([what, value], i) => (
              <Table.Tr key={what}>
                <Table.Th scope="row" fw={400}>
                  {what}
                  {i > 4 && (
                    <Text size="xs" c="dimmed">
                      {t('settings.byFlag')}
                    </Text>
                  )}
                </Table.Th>
                <Table.Td
                  ta="right"
                  className={common.untrusted}
                  fw={600}
                  style={i > 0 ? { whiteSpace: 'nowrap' } : undefined}
                >
                  {value}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
    </SimpleGrid>
  );
}
