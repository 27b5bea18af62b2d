import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap } from '../../api/client';
import { useText } from '../../text';
import { Failure, Loading } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { notify } from '../../ui/notify';
import { type Editing, marksOf, useLint, useSchemaCompletions, useSource } from './data';
import { Problems, SaveRefused } from './problems';

type Draft = { yaml: boolean; text: string };

/** SourceTab is the whole suite as a text in the native format. draft is the unsaved text. */
export function SourceTab({
  editing,
  draft,
  setDraft,
}: {
  editing: Editing;
  draft: Draft | null;
  setDraft: (d: Draft | null) => void;
}) {
  const t = useText();
  const { suite, may, write } = editing;
  const [as, setAs] = useParam('as', 'yaml');
  const yaml = draft ? draft.yaml : as !== 'json';
  const kept = useSource(suite.id, suite.version, yaml);
  const text = draft?.text ?? kept.data;
  const lint = useLint(text ?? null, 'callvet');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [spot, setSpot] = useState<{ line: number; column: number }>();
  const words = useSchemaCompletions('suite');
  if (kept.error && text === undefined) return <Failure of={kept.error} retry={() => kept.refetch()} />;
  if (text === undefined) return <Loading />;
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const now = await write(
        async (match) =>
          unwrap(
            await api.PUT('/api/tool-suites/{id}/source', {
              params: { path: { id: suite.id }, query: { format: 'callvet' }, header: { 'If-Match': match } },
              body: text as never,
              bodySerializer: (b: unknown) => b as string,
              headers: { 'Content-Type': 'application/octet-stream' },
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
  const broken = lint.of === text && lint.problems.some((p) => !p.warning);
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" style={{ flex: '1 1 300px' }}>
          {t('suites.sourceText')}
        </Text>
        <SegmentedControl
          aria-label={t('suites.language')}
          value={yaml ? 'yaml' : 'json'}
          disabled={draft !== null}
          onChange={(v) => setAs(v)}
          data={[
            { value: 'yaml', label: t('suites.asYaml') },
            { value: 'json', label: t('suites.asJson') },
          ]}
        />
      </Group>
      <CodeEditor
        key={yaml ? 'yaml' : 'json'}
        label={t('suites.sourceLabel')}
        language={yaml ? 'yaml' : 'json'}
        value={text}
        height="60vh"
        readOnly={!may}
        words={words}
        marks={marksOf(lint.problems)}
        at={spot}
        onChange={(x) => setDraft(x === kept.data ? null : { yaml, text: x })}
      />
      <Problems lint={lint} go={(line, column) => setSpot({ line, column })} />
      <SaveRefused of={error} editing={editing} done={() => setError(null)} />
      {may && (
        <Group justify="flex-end" gap="xs">
          {broken && draft !== null && (
            <Text size="sm" c="dimmed">
              {t('suites.sourceErrors')}
            </Text>
          )}
          {draft !== null && (
            <Button variant="default" onClick={() => setDraft(null)}>
              {t('suites.revert')}
            </Button>
          )}
          <Button onClick={save} loading={busy} disabled={draft === null || broken}>
            {t('suites.saveSource')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
