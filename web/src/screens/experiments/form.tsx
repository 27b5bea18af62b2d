import { Button, Checkbox, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Failure } from '../../ui/status';
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
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
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
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      title={of ? t('experiments.edit') : t('experiments.create')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      size="lg"
    >
      <form onSubmit={send}>
        <Stack>
          <Failure of={error} />
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
          <Checkbox
            label={t('experiments.shared')}
            checked={shared}
            onChange={(e) => setShared(e.currentTarget.checked)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={busy} disabled={!suite}>
              {of ? t('common.save') : t('experiments.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
