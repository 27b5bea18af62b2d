// Profiles: named parameters and system prompts that a user stores for a model.
import { Button, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useText, useTranslate } from '../../text';
import { usePermission } from '../../user';
import { askConfirmation } from '../../ui/confirm';
import { moment } from '../../ui/format';
import { notify } from '../../ui/notify';
import { Card } from '../../ui/page';
import { ScrollBox } from '../../ui/scroll';
import { Failure } from '../../ui/status';
import { type Profile, settingsOf } from '../newrun/draft';
import { type Candidate, nameIn, type Search } from './candidate';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

/** KeepProfile asks for a name, and stores the settings of a candidate as a profile of the model. */
export function KeepProfile({
  of: c,
  model: m,
  search,
  close,
}: {
  of: Candidate;
  model: Search;
  search: string;
  close: () => void;
}) {
  const t = useText();
  const invalidate = useInvalidate();
  const [name, setName] = useState(nameIn(m, c).slice(0, 120));
  const send = async () => {
    unwrap(
      await api.POST('/api/tool-eval/param-tune/history/{id}/apply', {
        params: { path: { id: search } },
        body: { model: m.model, candidate: c.n, anyway: true, profile: name },
      }),
    );
    await invalidate.routes('/api/profiles');
    notify(t('tune.profileKept', { name }));
    close();
  };
  return (
    <FormDialog title={t('tune.keepProfile')} close={close} send={send} button={t('common.save')}>
      <TextInput
        label={t('tune.profileName')}
        description={t('tune.profileNameHint', { model: m.model })}
        required
        data-autofocus
        maxLength={128}
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** Profiles lists the profiles of the user; without any it shows nothing. */
export function Profiles() {
  const t = useText();
  const translate = useTranslate();
  const invalidate = useInvalidate();
  const mayWrite = usePermission('write');
  const found = $api.useQuery('get', '/api/profiles');
  if (found.error) return <Failure of={found.error} />;
  const list = found.data?.items ?? [];
  if (list.length === 0) return null;
  const remove = (p: Profile) =>
    askConfirmation(
      t,
      t('tune.deleteProfile', { name: p.name }),
      t('tune.deleteProfileText'),
      t('common.delete'),
      async () => {
        unwrap(await api.DELETE('/api/profiles/{id}', { params: { path: { id: p.id } } }));
        await invalidate.routes('/api/profiles');
      },
    );
  return (
    <Card title={t('tune.profiles')}>
      <ScrollBox label={t('tune.profiles')}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('tune.model')}</Table.Th>
              <Table.Th scope="col">{t('tune.profileName')}</Table.Th>
              <Table.Th scope="col">{t('tune.profileSets')}</Table.Th>
              <Table.Th scope="col">{t('tune.profileFrom')}</Table.Th>
              {mayWrite && <Table.Th scope="col" aria-label={t('common.delete')} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.map((p) => (
              <Table.Tr key={p.id} data-profile={p.id}>
                <Table.Td className={common.untrusted}>{p.model}</Table.Td>
                <Table.Td className={common.untrusted}>{p.name}</Table.Td>
                <Table.Td className={common.untrusted}>
                  {p.problem ? translate(p.problem) : settingsOf(p)}
                  {p.system_prompt && (
                    <Text size="xs" c="dimmed" lineClamp={2}>
                      {t('tune.profilePrompt', { text: p.system_prompt })}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  {p.source.startsWith('tune-') ? (
                    <Link to={`/tune/${p.source}`}>{moment(p.created_at)}</Link>
                  ) : (
                    moment(p.created_at)
                  )}
                </Table.Td>
                {mayWrite && (
                  <Table.Td ta="right">
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="red"
                      onClick={() => remove(p)}
                      aria-label={`${t('common.delete')}: ${p.model} ${p.name}`}
                    >
                      {t('common.delete')}
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollBox>
    </Card>
  );
}
