import { TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { FormDialog } from '../../ui/dialog';

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
  const send = async () => {
    unwrap(
      await api.PATCH('/api/runs/{id}', { params: { path: { id: of.id } }, body: { name, notes, run_tags: tags } }),
    );
    saved();
  };
  return (
    <FormDialog title={t('results.describe')} size="lg" close={close} send={send} button={t('common.save')}>
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
    </FormDialog>
  );
}
