import {
  Anchor,
  Checkbox,
  Collapse,
  Group,
  JsonInput,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { idempotencyKey } from '../../api/idempotency';
import { RunPick } from '../../ui/pick';
import { FormDialog } from '../../ui/dialog';
import { notify } from '../../ui/notify';

/** AskDialog starts a job in which each judge, with each model, judges a run. */
export function AskDialog({ run, close }: { run: string; close: () => void }) {
  const t = useText();
  const navigate = useNavigate();
  const known = $api.useQuery('get', '/api/judges', {}, { staleTime: Number.POSITIVE_INFINITY });
  const [judges, setJudges] = useState<string[]>(['task']);
  const [models, setModels] = useState<string[]>([]);
  const [typed, setTyped] = useState('');
  const [more, setMore] = useState(false);
  const [own, setOwn] = useState('');
  const [prompt, setPrompt] = useState('');
  const [schema, setSchema] = useState(
    '{"type":"object","properties":{"pass":{"type":"boolean"},"notes":{"type":"string"}},"required":["pass"]}',
  );
  const [unit, setUnit] = useState<'task' | 'call' | 'turn'>('task');
  const [samples, setSamples] = useState<number | string>(1);
  const [cost, setCost] = useState<number | string>('');
  const [gold, setGold] = useState(false);
  const [again, setAgain] = useState(false);
  const [against, setAgainst] = useState('');
  const send = async () => {
    const body: Schemas['JudgeAsk'] = {
      judge: own ? [...judges, own] : judges,
      judge_model: typed.trim() ? [...models, typed.trim()] : models,
      ...(own ? { prompt, schema: JSON.parse(schema) as never, unit } : {}),
      ...(Number(samples) > 1 ? { samples: Number(samples) } : {}),
      ...(Number(cost) > 0 ? { max_cost_usd: Number(cost) } : {}),
      ...(gold ? { show_gold: true } : {}),
      ...(again ? { again: true, no_cache: true } : {}),
      ...(against ? { against_eval_id: against } : {}),
    };
    const sent = unwrap(
      await api.POST('/api/runs/{id}/judge', {
        params: { path: { id: run }, header: { 'Idempotency-Key': idempotencyKey() } },
        body,
      }),
    );
    notify([t('judges.asked'), ...(sent.warnings ?? []).map((w) => w.text)].join('\n'));
    navigate(`/jobs/${sent.job_id}`);
  };
  return (
    <FormDialog
      title={t('judges.ask')}
      size="lg"
      close={close}
      send={send}
      button={t('judges.ask')}
      disabled={(judges.length === 0 && !own) || (models.length === 0 && !typed.trim())}
    >
      <MultiSelect
        label={t('judges.judges')}
        description={t('judges.judgesHint')}
        data={(known.data?.items ?? []).map((j) => ({ value: j.name, label: j.name }))}
        value={judges}
        onChange={setJudges}
      />
      <TagsInput
        label={t('judges.models')}
        description={t('judges.modelsHint')}
        placeholder="provider/model"
        value={models}
        onChange={setModels}
        searchValue={typed}
        onSearchChange={setTyped}
      />
      {judges.includes('compare') && (
        <RunPick label={t('judges.against')} value={against} onChange={setAgainst} except={run} clearable />
      )}
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setMore(!more)} aria-expanded={more}>
        {t('judges.more')}
      </Anchor>
      <Collapse expanded={more}>
        <Stack>
          <Group grow align="flex-start">
            <NumberInput
              label={t('judges.samples')}
              description={t('judges.samplesHint')}
              min={1}
              max={100}
              value={samples}
              onChange={setSamples}
            />
            <NumberInput
              label={t('judges.cost')}
              description={t('judges.costHint')}
              prefix="$"
              min={0}
              decimalScale={2}
              value={cost}
              onChange={setCost}
            />
          </Group>
          <Checkbox
            label={t('judges.gold')}
            description={t('judges.goldHint')}
            checked={gold}
            onChange={(e) => setGold(e.currentTarget.checked)}
          />
          <Checkbox label={t('judges.again')} checked={again} onChange={(e) => setAgain(e.currentTarget.checked)} />
          <TextInput
            label={t('judges.own')}
            description={t('judges.ownHint')}
            value={own}
            onChange={(e) => setOwn(e.currentTarget.value)}
          />
          {own && (
            <>
              <Textarea
                label={t('judges.prompt')}
                required
                autosize
                minRows={3}
                value={prompt}
                onChange={(e) => setPrompt(e.currentTarget.value)}
              />
              <JsonInput
                label={t('judges.schema')}
                autosize
                minRows={2}
                validationError={t('judges.badJson')}
                value={schema}
                onChange={setSchema}
              />
              <Select
                label={t('judges.unit')}
                data={['task', 'call', 'turn']}
                allowDeselect={false}
                value={unit}
                onChange={(v) => setUnit(v as typeof unit)}
              />
            </>
          )}
        </Stack>
      </Collapse>
      <Text size="sm" c="dimmed">
        {t('judges.askNote')}
      </Text>
    </FormDialog>
  );
}
