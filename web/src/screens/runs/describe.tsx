import { Button, Group, Modal, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Failure } from '../../ui/status';

/** DescribeDialog changes the name, the notes and the tags of a run. Inputs stay when the server refuses them. */
export function DescribeDialog({
  of,
  close,
  saved,
}: {
  of: Schemas['EvalDetails'];
  close: () => void;
  saved: () => void;
}) {
  const t = useText();
  const [name, setName] = useState(of.name ?? '');
  const [notes, setNotes] = useState(of.notes ?? '');
  const [tags, setTags] = useState(of.run_tags ?? []);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      unwrap(
        await api.PATCH('/api/runs/{id}', { params: { path: { id: of.id } }, body: { name, notes, run_tags: tags } }),
      );
      saved();
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t('results.describe')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      size="lg"
    >
      <form onSubmit={send}>
        <Stack>
          <Failure of={error} />
          <TextInput
            label={t('common.name')}
            maxLength={256}
            data-autofocus
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
          />
          <TagsInput
            label={t('results.runTags')}
            description={t('results.runTagsHint')}
            value={tags}
            onChange={setTags}
            acceptValueOnBlur
          />
          <Textarea
            label={t('results.notes')}
            autosize
            minRows={3}
            maxLength={10_000}
            value={notes}
            onChange={(e) => setNotes(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={busy}>
              {t('common.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
