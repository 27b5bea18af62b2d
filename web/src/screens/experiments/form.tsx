import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { FormDialog } from '../../ui/dialog';
import { RunPick, SuitePick } from '../../ui/pick';

/** ExperimentForm creates or changes an experiment. Inputs stay when the server refuses them. */
export function ExperimentForm({
  of,
  close,
  saved,
}: {
  of?: Schemas['Experiment'];
  close: () => void;
  saved: (e: Schemas['ExperimentDetails']) => void;
}) {
  const t = useText();
  const [name, setName] = useState(of?.name ?? '');
  const [suite, setSuite] = useState(of?.suite_id ?? '');
  const [description, setDescription] = useState(of?.description ?? '');
  const [baseline, setBaseline] = useState('');
  const [shared, setShared] = useState(of?.shared ?? false);
  const [state, setState] = useState(of?.state ?? 'active');
  const send = async () => {
    const fields = { name, description, shared };
    saved(
      of
        ? unwrap(
            await api.PUT('/api/experiments/{id}', { params: { path: { id: of.id } }, body: { ...fields, state } }),
          )
        : unwrap(
            await api.POST('/api/experiments', {
              body: { ...fields, suite_id: suite, ...(baseline ? { baseline_eval_id: baseline } : {}) },
            }),
          ),
    );
  };
  return (
    <FormDialog
      title={of ? t('experiments.edit') : t('experiments.create')}
      size="lg"
      close={close}
      send={send}
      button={of ? t('common.save') : t('experiments.create')}
      disabled={!suite}
    >
      <TextInput
        label={t('common.name')}
        placeholder={t('experiments.nameHint')}
        required
        maxLength={256}
        data-autofocus
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
      />
      {!of && (
        <>
          <SuitePick
            label={t('experiments.suite')}
            required
            value={suite}
            onChange={(s) => {
              setSuite(s);
              setBaseline('');
            }}
          />
          <RunPick
            label={t('experiments.baselineOptional')}
            clearable
            disabled={!suite}
            suite={suite}
            value={baseline}
            onChange={setBaseline}
          />
        </>
      )}
      <Textarea
        label={t('experiments.description')}
        autosize
        minRows={2}
        maxLength={5000}
        value={description}
        onChange={(e) => setDescription(e.currentTarget.value)}
      />
      {of && (
        <Select
          label={t('experiments.state')}
          allowDeselect={false}
          value={state}
          onChange={(v) => setState(v as typeof state)}
          data={[
            { value: 'active', label: t('experiments.active') },
            { value: 'archived', label: t('experiments.archived') },
          ]}
        />
      )}
      <Checkbox label={t('experiments.shared')} checked={shared} onChange={(e) => setShared(e.currentTarget.checked)} />
    </FormDialog>
  );
}
