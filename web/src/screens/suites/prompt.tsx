import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client';
import { useText } from '../../text';
import { number } from '../../ui/format';
import { notify } from '../../ui/notify';
import type { Editing } from './data';
import { fieldErrors, SaveRefused } from './problems';
import common from '../../ui/common.module.css';

/** PromptTab is the system prompt of the suite. draft is the unsaved text, or null. */
export function PromptTab({
  editing,
  draft,
  setDraft,
}: {
  editing: Editing;
  draft: string | null;
  setDraft: (d: string | null) => void;
}) {
  const t = useText();
  const { suite, may, write } = editing;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const value = draft ?? suite.system_prompt;
  const { fields, rest } = fieldErrors(error, ['system_prompt']);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const now = await write(
        async (match) =>
          unwrap(
            await api.PATCH('/api/tool-suites/{id}', {
              params: { path: { id: suite.id }, header: { 'If-Match': match } },
              body: { system_prompt: value === '' ? null : value },
            }),
          ),
        (_, answer) => answer,
      );
      setDraft(null);
      notify(t('suites.saved', { version: now.version }));
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="sm" maw={900}>
      <Textarea
        label={t('suites.systemPrompt')}
        description={`${t('suites.systemPromptText')} ${t('suites.runPrompt')}`}
        autosize
        minRows={10}
        maxRows={28}
        maxLength={50000}
        readOnly={!may}
        value={value}
        error={fields.system_prompt}
        onChange={(e) => setDraft(e.currentTarget.value === suite.system_prompt ? null : e.currentTarget.value)}
      />
      <SaveRefused
        of={error !== null && (rest.length > 0 || Object.keys(fields).length === 0) ? error : null}
        editing={editing}
        done={() => setError(null)}
      />
      <Group justify="space-between">
        <Text size="xs" c="dimmed" className={common.num}>
          {t('suites.characters', { n: number(value.length) })}
        </Text>
        {may && (
          <Group gap="xs">
            {draft !== null && (
              <Button variant="default" onClick={() => setDraft(null)}>
                {t('suites.revert')}
              </Button>
            )}
            <Button onClick={save} loading={busy} disabled={draft === null}>
              {t('suites.savePrompt')}
            </Button>
          </Group>
        )}
      </Group>
    </Stack>
  );
}
