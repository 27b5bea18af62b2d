// A new search: parameters or prompts, method, limits, and the most requests that it will send.
import {
  Alert,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { $api, api, problemOf, type Schemas, unwrap } from '../../api/client';
import { idempotencyKey } from '../../api/idempotency';
import { queryKeys } from '../../api/queries';
import { usePermission } from '../../user';
import { type TextKey, useText, useTranslate } from '../../text';
import { duration, money, number } from '../../ui/format';
import { Card, Page } from '../../ui/page';
import { useParam } from '../../ui/params';
import { SuitePick } from '../../ui/pick';
import { Empty, Failure } from '../../ui/status';
import { SpaceCard } from './builder';
import { type Dimension, dimension, isComplete, spaceOf } from './space';
import common from '../../ui/common.module.css';

type Kind = 'params' | 'prompt';
type Draft = {
  models: string[];
  typed: string;
  dimensions: Dimension[];
  own: Record<string, Dimension[]>;
  mode: string;
  trials: number | '';
  meta: string;
  prompt: string;
  calls: number | '';
  cost: number | '';
  repeats: number | '';
  population: number | '';
  generations: number | '';
  share: number | '';
};

const modes: Record<Kind, string[]> = {
  params: ['grid', 'random', 'bayesian', 'halving'],
  prompt: ['quick', 'evolve', 'reflect'],
};
const modeKey = (mode: string) => `tune.mode_${mode}` as TextKey;
const amount = (v: string | number) => (v === '' || Number.isNaN(Number(v)) ? ('' as const) : Number(v));
const given = (v: number | '') => (v === '' ? undefined : v);

export function TuneForm() {
  const t = useText();
  const may = usePermission('run');
  if (!may) return <Empty title={t('newrun.noRun')} text={t('newrun.noRunText')} />;
  return <Form />;
}

/** bodyOf returns the request for a draft. */
function bodyOf(kind: Kind, suite: string, experiment: string, d: Draft) {
  const typed = d.typed.trim();
  const common = {
    suite_id: suite,
    experiment_id: experiment || undefined,
    models: typed && !d.models.includes(typed) ? [...d.models, typed] : d.models,
    repeats: given(d.repeats),
    max_calls: given(d.calls),
    max_cost_usd: given(d.cost),
    system_prompt: d.prompt || undefined,
  };
  if (kind === 'params') {
    const own = common.models.flatMap((m) => (d.own[m] ? [[m, spaceOf(d.own[m])] as const] : []));
    return {
      ...common,
      search_space: spaceOf(d.dimensions),
      per_model_search_spaces: own.length > 0 ? Object.fromEntries(own) : undefined,
      optimization_mode: d.mode as Schemas['ParamTune']['optimization_mode'],
      n_trials: given(d.trials),
    };
  }
  return {
    ...common,
    meta_model: d.meta.trim() || undefined,
    optimization_mode: d.mode as Schemas['PromptTune']['optimization_mode'],
    config:
      d.mode === 'quick'
        ? undefined
        : {
            population: given(d.population),
            generations: given(d.generations),
            selection_ratio: d.share === '' ? undefined : d.share / 100,
          },
  };
}

function send(kind: Kind, body: object, estimate: boolean, signal?: AbortSignal) {
  const header = { 'Idempotency-Key': idempotencyKey() };
  if (kind === 'params') {
    const ask = body as Schemas['ParamTune'];
    return estimate
      ? { estimate: api.POST('/api/tool-eval/param-tune/estimate', { body: ask, signal }) }
      : { start: api.POST('/api/tool-eval/param-tune', { body: ask, params: { header } }) };
  }
  const ask = body as Schemas['PromptTune'];
  return estimate
    ? { estimate: api.POST('/api/tool-eval/prompt-tune/estimate', { body: ask, signal }) }
    : { start: api.POST('/api/tool-eval/prompt-tune', { body: ask, params: { header } }) };
}

function Form() {
  const t = useText();
  const navigate = useNavigate();
  const [suite, setSuite] = useParam('suite');
  const [experiment] = useParam('experiment');
  const [address] = useSearchParams();
  const [of, setKind] = useParam('kind', 'params');
  const kind: Kind = of === 'prompt' ? 'prompt' : 'params';
  const [d, set] = useState<Draft>({
    models: [...new Set(address.getAll('model'))], // from the form of a new run
    typed: '',
    dimensions: [dimension('temperature')],
    own: {},
    mode: modes[kind][0]!,
    trials: '',
    meta: '',
    prompt: '',
    calls: '',
    cost: '',
    repeats: '',
    population: '',
    generations: '',
    share: '',
  });
  const change = (part: Partial<Draft>) => set((before) => ({ ...before, ...part }));
  const targets = $api.useQuery('get', '/api/targets');
  const body = bodyOf(kind, suite, experiment, d);
  const complete =
    suite !== '' &&
    body.models.length > 0 &&
    (kind === 'params'
      ? body.models.every((m) => {
          const list = d.own[m] ?? d.dimensions;
          return list.length > 0 && list.every(isComplete);
        })
      : d.meta.trim() !== '');
  const start = useMutation({
    mutationFn: async () => unwrap(await send(kind, body, false).start!),
    onSuccess: (job) => navigate(job.result_ref ? `/tune/${job.result_ref}` : `/jobs/${job.job_id}`),
  });
  const known = (targets.data?.targets ?? []).filter((x) => !x.endsWith('/MODEL'));
  return (
    <Page title={t('tune.new')} lead={t('tune.newLead')}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (complete && !start.isPending) start.mutate();
        }}
      >
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Stack gap="md">
            <Card>
              <Stack gap="md">
                <SegmentedControl
                  aria-label={t('tune.what')}
                  value={kind}
                  onChange={(v) => {
                    setKind(v, { replace: true });
                    change({ mode: modes[v as Kind][0]! });
                  }}
                  data={[
                    { value: 'params', label: t('tune.parameters') },
                    { value: 'prompt', label: t('tune.prompts') },
                  ]}
                />
                <SuitePick label={t('newrun.suite')} value={suite} onChange={(id) => setSuite(id, { replace: true })} />
                <TagsInput
                  label={t('tune.models')}
                  description={t('tune.modelsHint')}
                  value={d.models}
                  onChange={(models) => change({ models })}
                  onSearchChange={(typed) => change({ typed })}
                  data={known}
                  acceptValueOnBlur
                />
                <Select
                  label={t('tune.mode')}
                  description={t(modeKey(d.mode))}
                  value={d.mode}
                  onChange={(v) => v && change({ mode: v })}
                  allowDeselect={false}
                  data={modes[kind]}
                />
                {kind === 'prompt' && (
                  <TagsInput
                    label={t('tune.meta')}
                    description={t('tune.metaHint')}
                    maxTags={1}
                    value={d.meta ? [d.meta] : []}
                    onChange={(v) => change({ meta: v[0] ?? '' })}
                    acceptValueOnBlur
                  />
                )}
                {kind === 'prompt' && d.mode !== 'quick' && (
                  <SimpleGrid cols={{ base: 1, xs: 3 }}>
                    <NumberInput
                      label={t('tune.population')}
                      min={3}
                      max={20}
                      allowDecimal={false}
                      placeholder="6"
                      value={d.population}
                      onChange={(v) => change({ population: amount(v) })}
                    />
                    <NumberInput
                      label={t('tune.generations')}
                      min={1}
                      max={20}
                      allowDecimal={false}
                      placeholder="3"
                      value={d.generations}
                      onChange={(v) => change({ generations: amount(v) })}
                    />
                    <NumberInput
                      label={t('tune.share')}
                      min={20}
                      max={80}
                      suffix=" %"
                      placeholder="40 %"
                      value={d.share}
                      onChange={(v) => change({ share: amount(v) })}
                    />
                  </SimpleGrid>
                )}
                <Textarea
                  label={t('tune.prompt')}
                  description={t('tune.promptHint')}
                  autosize
                  minRows={2}
                  maxRows={12}
                  value={d.prompt}
                  onChange={(e) => change({ prompt: e.currentTarget.value })}
                />
              </Stack>
            </Card>
            {kind === 'params' && (
              <SpaceCard
                of={{ shared: d.dimensions, own: d.own }}
                models={body.models}
                change={({ shared, own }) => change({ dimensions: shared, own })}
              />
            )}
          </Stack>
          <Stack gap="md">
            <Card title={t('tune.limits')}>
              <SimpleGrid cols={2}>
                <NumberInput
                  label={t('tune.maxCalls')}
                  min={0}
                  allowDecimal={false}
                  value={d.calls}
                  onChange={(v) => change({ calls: amount(v) })}
                />
                <NumberInput
                  label={t('tune.maxCost')}
                  min={0}
                  prefix="$"
                  value={d.cost}
                  onChange={(v) => change({ cost: amount(v) })}
                />
                <NumberInput
                  label={t('tune.repeats')}
                  min={0}
                  max={100}
                  allowDecimal={false}
                  placeholder="1"
                  value={d.repeats}
                  onChange={(v) => change({ repeats: amount(v) })}
                />
                {kind === 'params' && d.mode !== 'grid' && (
                  <NumberInput
                    label={t('tune.trials')}
                    min={0}
                    allowDecimal={false}
                    placeholder="50"
                    value={d.trials}
                    onChange={(v) => change({ trials: amount(v) })}
                  />
                )}
              </SimpleGrid>
            </Card>
            <Card title={t('tune.estimate')}>
              <Estimate kind={kind} body={body} complete={complete} />
            </Card>
            {start.error && <Failure of={start.error} />}
            <Button type="submit" loading={start.isPending} disabled={!complete}>
              {t('tune.start')}
            </Button>
          </Stack>
        </SimpleGrid>
      </form>
    </Page>
  );
}

/** Estimate shows the number of different combinations, and the most requests of the search. */
function Estimate({ kind, body, complete }: { kind: Kind; body: object; complete: boolean }) {
  const t = useText();
  const translate = useTranslate();
  const [text] = useDebouncedValue(JSON.stringify([kind, body]), 400);
  const estimate = useQuery({
    queryKey: queryKeys.estimate(text),
    queryFn: async ({ signal }) => {
      const [of, ask] = JSON.parse(text) as [Kind, object];
      return unwrap(await send(of, ask, true, signal).estimate!);
    },
    enabled: complete,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (!complete) {
    return (
      <Text size="sm" c="dimmed">
        {t('tune.chooseFirst')}
      </Text>
    );
  }
  if (estimate.error) {
    const p = problemOf(estimate.error);
    return (
      <Text size="sm" role="alert" style={{ color: 'var(--cv-fail)' }} className={common.untrusted}>
        {p.message} {p.fields.map((f) => f.text).join('; ')}
      </Text>
    );
  }
  const e = estimate.data;
  if (!e) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t('newrun.estimating')}
      </Text>
    );
  }
  const rows: [string, string][] = [
    [t('tune.trainCases'), t('tune.families', { n: e.cases.train, families: e.cases.train_families })],
    [t('tune.heldCases'), t('tune.families', { n: e.cases.holdout, families: e.cases.holdout_families })],
    [t('tune.callsMost'), number(e.calls_most)],
    [t('tune.costMost'), e.cost_usd_most.value === null ? '–' : `≤ ${money(e.cost_usd_most.value)}`],
    [t('tune.timeMost'), e.seconds_most.value === null ? '–' : `≤ ${duration(e.seconds_most.value * 1000)}`],
  ];
  return (
    <Stack gap={6} aria-live="polite" style={{ opacity: estimate.isPlaceholderData ? 0.6 : 1 }}>
      {(e.models ?? []).map(
        (m) =>
          m.matrix && (
            <Text key={m.model} size="sm" className={common.untrusted}>
              {t('tune.combinations', {
                model: m.model,
                n: number(m.matrix.kept + m.matrix.clamped),
                total: number((m.matrix.rows ?? []).length),
              })}
            </Text>
          ),
      )}
      {rows.map(([name, value]) => (
        <Group key={name} justify="space-between" wrap="nowrap">
          <Text size="sm" c="dimmed">
            {name}
          </Text>
          <Text size="sm" fw={600} className={common.num}>
            {value}
          </Text>
        </Group>
      ))}
      {e.exceeds_limits && <Text size="sm">{t('tune.exceeds')}</Text>}
      {e.cases.few && (
        <Alert color="yellow" p="xs">
          <Text size="sm">{translate(e.cases.few)}</Text>
        </Alert>
      )}
    </Stack>
  );
}
