// A new run: suite, models and settings, the estimate, and the start.
import {
  Autocomplete,
  Box,
  Button,
  Checkbox,
  Collapse,
  Fieldset,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, problemOf } from '../../api/client';
import { idempotencyKey } from '../../api/idempotency';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card, Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { RunPick } from '../../ui/pick';
import { type Draft, extraOf, isSpec, type Model, refusals, requestOf, useDraft } from './draft';
import { EndpointDialog, ModelRow } from './models';
import { EstimateView, useEstimate } from './estimate';
import classes from './newrun.module.css';
import common from '../../ui/common.module.css';

export default function NewRunPage() {
  const t = useText();
  const me = useCurrentUser();
  const may = usePermission('run');
  if (!may || me.read_only) {
    return (
      <Page title={t('newrun.title')}>
        <Empty title={t('newrun.noRun')} text={t('newrun.noRunText')} />
      </Page>
    );
  }
  return <Form />;
}

/** amount returns the number of a field, or '' if there is none. */
const amount = (v: string | number) => (v === '' || Number.isNaN(Number(v)) ? ('' as const) : Number(v));

function Form() {
  const t = useText();
  const me = useCurrentUser();
  const navigate = useNavigate();
  const [named, setNamed] = useParam('suite');
  const [experiment] = useParam('experiment');
  const { draft: d, change, clear } = useDraft(named, experiment);
  const [more, setMore] = useState(false);
  const suite = $api.useQuery(
    'get',
    '/api/tool-suites/{id}',
    { params: { path: { id: d.suite } } },
    { enabled: d.suite !== '', retry: false },
  );
  const experiments = $api.useQuery('get', '/api/experiments', { params: { query: { limit: 200 } } });
  const judges = $api.useQuery('get', '/api/judges');
  const key = useRef({ body: '', key: '' });
  const start = useMutation({
    mutationFn: async () => {
      const body = requestOf(d);
      // The same request, sent again after a lost answer, makes no second run.
      const text = JSON.stringify(body);
      if (key.current.body !== text) key.current = { body: text, key: idempotencyKey() };
      return unwrap(
        await api.POST('/api/tool-eval', { params: { header: { 'Idempotency-Key': key.current.key } }, body }),
      );
    },
    onSuccess: (job) => navigate(`/jobs/${job.job_id}`),
    onError: (e) => {
      if (problemOf(e).status !== 0) key.current = { body: '', key: '' };
    },
  });
  const problem = start.error ? problemOf(start.error) : null;
  const refused = refusals(problem);
  const at = refused.of;
  const inMore = at(
    'sample',
    'max_calls',
    'concurrency',
    'rate',
    'request_timeout_ms',
    'timeout',
    'priority',
    'provider_params',
    'judge',
    'judge_model',
    'judge_base_url',
    'judge_under',
  );
  useEffect(() => {
    if (inMore) setMore(true);
  }, [inMore]);
  const extra = extraOf(d.params);
  const hasTarget = d.models.length > 0 || isSpec(d.typed);
  const ready = d.suite !== '' && hasTarget && !extra.problem;
  const estimate = useEstimate(d, ready);
  // The estimate reads the gates, so that mistakes in them are shown before the start.
  const atGates = (...fields: string[]) =>
    at(...fields) ?? (estimate.error ? refusals(problemOf(estimate.error)).of(...fields) : undefined);
  const hasGates = Boolean(suite.data?.has_gates);
  const lacks = (m: Model) =>
    ready ? estimate.data?.unkeyed?.find((u) => !u.judge && u.target === (m.name || m.spec))?.variable : undefined;

  const tools = (suite.data?.tools ?? [])
    .map((tool) => String(((tool?.function ?? tool) as { name?: unknown } | null)?.name ?? ''))
    .filter(Boolean);
  const num = (field: keyof Draft, label: string, hint?: string, more?: object) => (
    <NumberInput
      label={label}
      description={hint}
      value={d[field] as number | ''}
      onChange={(v) => change({ [field]: amount(v) })}
      error={at(field === 'request_timeout_s' ? 'request_timeout_ms' : field === 'timeout_min' ? 'timeout' : field)}
      min={0}
      inputWrapperOrder={order}
      {...more}
    />
  );
  const startButton = (
    <Button
      type="submit"
      fullWidth
      loading={start.isPending}
      disabled={!ready}
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
    >
      {t('newrun.start')}
    </Button>
  );
  const toTune = new URLSearchParams([
    ...(d.suite ? [['suite', d.suite]] : []),
    ...(d.experiment_id ? [['experiment', d.experiment_id]] : []),
    ...d.models.filter((m) => !m.base_url).map((m) => ['model', m.spec]),
  ]);
  return (
    <Page
      title={t('newrun.title')}
      lead={t('newrun.lead')}
      actions={
        <Button component={Link} variant="default" to={`/tune/new?${toTune}`}>
          {t('tune.toTune')}
        </Button>
      }
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (ready && !start.isPending) start.mutate();
        }}
        className={classes.form}
      >
        <Stack gap="md" style={{ minWidth: 0 }}>
          <Card>
            <Stack gap="md">
              <Suite
                value={d.suite}
                error={at('suite_id') ?? (suite.error ? problemOf(suite.error).message : undefined)}
                about={
                  suite.data
                    ? t('newrun.suiteCount', { cases: suite.data.test_case_count, tools: suite.data.tool_count })
                    : undefined
                }
                name={suite.data?.name}
                choose={(id) => {
                  change({
                    suite: id,
                    experiment_id: '',
                    tool_choice: ['auto', 'required', 'none'].includes(d.tool_choice) ? d.tool_choice : '',
                  });
                  setNamed(id, { replace: true });
                }}
              />
              <Models draft={d} change={change} error={at('models', 'targets', 'profile_id')} lacks={lacks} />
              <TextInput
                label={t('newrun.name')}
                description={t('newrun.nameHint')}
                inputWrapperOrder={order}
                value={d.name}
                onChange={(e) => change({ name: e.currentTarget.value })}
                error={at('name')}
                maxLength={256}
              />
            </Stack>
          </Card>

          <Card title={t('newrun.parameters')}>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
              {num('temperature', t('newrun.temperature'), t('newrun.temperatureHint'), {
                max: 2,
                step: 0.1,
                decimalScale: 3,
              })}
              <Select
                label={t('newrun.toolChoice')}
                value={d.tool_choice}
                onChange={(v) => change({ tool_choice: v ?? '' })}
                error={at('tool_choice')}
                allowDeselect={false}
                searchable={tools.length > 8}
                description=" "
                inputWrapperOrder={order}
                styles={{ description: { display: 'none' } }}
                data={[
                  { value: '', label: t('newrun.ofSuite') },
                  { value: 'auto', label: t('newrun.auto') },
                  { value: 'required', label: t('newrun.required') },
                  { value: 'none', label: t('newrun.none') },
                  ...tools
                    .filter((x, i) => tools.indexOf(x) === i && !['auto', 'required', 'none'].includes(x))
                    .map((tool) => ({ value: tool, label: t('newrun.oneTool', { tool }) })),
                ]}
              />
              {num('repeats', t('newrun.repeats'), t('newrun.repeatsHint'), {
                max: 100,
                placeholder: '1',
                allowDecimal: false,
              })}
              {num('seed', t('newrun.seed'), undefined, { min: undefined, allowDecimal: false })}
              {num('max_tokens', t('newrun.maxTokens'), t('newrun.maxTokensHint'), {
                allowDecimal: false,
                error: undefined,
              })}
            </SimpleGrid>
            <Stack gap={6} mt="md">
              <Text size="sm" fw={600} id="prompt-kind">
                {t('newrun.prompt')}
              </Text>
              <SegmentedControl
                aria-labelledby="prompt-kind"
                value={d.prompts}
                onChange={(v) => change({ prompts: v as Draft['prompts'] })}
                style={{ alignSelf: 'flex-start', maxWidth: '100%', overflowX: 'auto' }}
                data={[
                  { value: 'suite', label: t('newrun.promptSuite') },
                  { value: 'one', label: t('newrun.promptOne') },
                  { value: 'each', label: t('newrun.promptEach') },
                ]}
              />
              {d.prompts === 'suite' && suite.data?.system_prompt && (
                <Text size="xs" c="dimmed" className={common.untrusted} lineClamp={3}>
                  {suite.data.system_prompt}
                </Text>
              )}
              {d.prompts === 'one' && (
                <Textarea
                  aria-label={t('newrun.promptText')}
                  placeholder={t('newrun.promptEmpty')}
                  autosize
                  minRows={3}
                  maxRows={14}
                  value={d.prompt}
                  onChange={(e) => change({ prompt: e.currentTarget.value })}
                  error={at('system_prompt')}
                />
              )}
              {d.prompts === 'each' &&
                d.models.map((m, i) => (
                  <Textarea
                    key={m.spec + i}
                    label={t('newrun.promptOf', { model: m.name || m.spec })}
                    placeholder={t('newrun.promptEmpty')}
                    autosize
                    minRows={2}
                    maxRows={14}
                    value={m.prompt ?? ''}
                    onChange={(e) =>
                      change({
                        models: d.models.map((o, k) => (k === i ? { ...o, prompt: e.currentTarget.value } : o)),
                      })
                    }
                    error={i === 0 ? at('system_prompt') : undefined}
                  />
                ))}
              {d.prompts !== 'suite' && (
                <Checkbox
                  label={t('newrun.replaceSystem')}
                  checked={d.replace_system}
                  onChange={(e) => change({ replace_system: e.currentTarget.checked })}
                />
              )}
            </Stack>
          </Card>

          <Card title={t('newrun.limits')}>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
              <TagsInput
                label={t('newrun.filter')}
                description={t('newrun.filterHint')}
                value={d.filter}
                onChange={(v) => change({ filter: v })}
                error={at('filter')}
                inputWrapperOrder={order}
                acceptValueOnBlur
                splitChars={[]}
              />
              <TagsInput
                label={t('newrun.tags')}
                description={t('newrun.tagsHint')}
                value={d.tags}
                onChange={(v) => change({ tags: v })}
                error={at('tags')}
                inputWrapperOrder={order}
                acceptValueOnBlur
              />
              {num('max_cost_usd', t('newrun.maxCost'), t('newrun.maxCostHint'), { prefix: '$', decimalScale: 4 })}
              <Select
                label={t('newrun.experiment')}
                description={t('newrun.experimentHint')}
                inputWrapperOrder={order}
                value={d.experiment_id}
                onChange={(v) => change({ experiment_id: v ?? '' })}
                error={at('experiment_id')}
                allowDeselect={false}
                data={[
                  { value: '', label: t('newrun.noExperiment') },
                  ...(experiments.data?.items ?? [])
                    .filter((e) => e.suite_id === d.suite && e.state === 'active')
                    .map((e) => ({ value: e.id, label: e.name })),
                ]}
              />
            </SimpleGrid>
          </Card>

          <Card>
            <Stack gap="md">
              <Checkbox
                label={t('newrun.untilDecided')}
                description={t('newrun.untilDecidedHint')}
                checked={d.until_decided}
                onChange={(e) =>
                  change({
                    until_decided: e.currentTarget.checked,
                    gates: d.gates || (suite.data && !hasGates ? '- pass_rate >= 0.9\n' : ''),
                  })
                }
              />
              {d.until_decided && (
                <>
                  <Textarea
                    label={t('gates.gates')}
                    description={t('settings.gatesHint')}
                    inputWrapperOrder={order}
                    autosize
                    minRows={3}
                    maxRows={14}
                    spellCheck={false}
                    classNames={{ input: common.mono, error: common.untrusted }}
                    value={d.gates}
                    onChange={(e) => change({ gates: e.currentTarget.value })}
                    error={atGates('gates', 'until_decided')}
                  />
                  <RunPick
                    label={t('gates.baseline')}
                    description={t('newrun.gateBaselineHint')}
                    inputWrapperOrder={order}
                    value={d.baseline}
                    onChange={(baseline) => change({ baseline })}
                    suite={d.suite}
                    error={atGates('baseline', 'baseline_eval_id')}
                    clearable
                    clearButtonProps={{ 'aria-label': t('results.clear') }}
                  />
                </>
              )}
            </Stack>
          </Card>

          <Box>
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => setMore(!more)}
              aria-expanded={more}
              aria-controls="newrun-more"
              rightSection={more ? <IconChevronUp size={15} aria-hidden /> : <IconChevronDown size={15} aria-hidden />}
            >
              {t(more ? 'newrun.less' : 'newrun.more')}
            </Button>
            <Collapse expanded={more} id="newrun-more">
              <Stack gap="md" mt="sm">
                <Card title={t('newrun.judges')}>
                  <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
                    <TagsInput
                      label={t('newrun.judge')}
                      description={t('newrun.judgeHint')}
                      inputWrapperOrder={order}
                      value={d.judges}
                      onChange={(v) => change({ judges: v })}
                      error={at('judge')}
                      data={(judges.data?.items ?? []).map((j) => j.name)}
                    />
                    <TagsInput
                      label={t('newrun.judgeModels')}
                      description={t('newrun.judgeModelsHint')}
                      inputWrapperOrder={order}
                      value={d.judge_models}
                      onChange={(v) => change({ judge_models: v })}
                      error={at('judge_model')}
                      acceptValueOnBlur
                    />
                    <TextInput
                      label={t('newrun.judgeUrl')}
                      value={d.judge_base_url}
                      onChange={(e) => change({ judge_base_url: e.currentTarget.value })}
                      error={at('judge_base_url')}
                      placeholder="https://…/v1"
                      inputMode="url"
                    />
                    {num('judge_under', t('newrun.judgeUnder'), t('newrun.judgeUnderHint'), {
                      max: 1,
                      step: 0.05,
                      decimalScale: 3,
                    })}
                    <Checkbox
                      label={t('newrun.judgeLive')}
                      checked={d.judge_live}
                      onChange={(e) => change({ judge_live: e.currentTarget.checked })}
                    />
                  </SimpleGrid>
                </Card>
                <Card>
                  <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
                    <TagsInput
                      label={t('newrun.runTags')}
                      description={t('newrun.runTagsHint')}
                      inputWrapperOrder={order}
                      value={d.run_tags}
                      onChange={(v) => change({ run_tags: v })}
                      error={at('run_tags')}
                      acceptValueOnBlur
                    />
                    <Textarea
                      label={t('newrun.notes')}
                      inputWrapperOrder={order}
                      value={d.notes}
                      onChange={(e) => change({ notes: e.currentTarget.value })}
                      error={at('notes')}
                      autosize
                      minRows={1}
                      maxLength={10_000}
                    />
                    {num('sample', t('newrun.sample'), t('newrun.sampleHint'), { allowDecimal: false })}
                    {num('max_calls', t('newrun.maxCalls'), undefined, { allowDecimal: false })}
                    {num('concurrency', t('newrun.concurrency'), t('newrun.concurrencyHint'), {
                      max: 256,
                      allowDecimal: false,
                    })}
                    {num('rate', t('newrun.rate'), t('newrun.rateHint'), { decimalScale: 3 })}
                    {num('request_timeout_s', t('newrun.requestTimeout'))}
                    {num('timeout_min', t('newrun.jobTimeout'), t('newrun.jobTimeoutHint'), { max: 43_200 })}
                    {num('priority', t('newrun.priority'), t('newrun.priorityHint'), {
                      min: -10,
                      max: me.role === 'admin' ? 10 : 0,
                      allowDecimal: false,
                    })}
                    <Checkbox
                      label={t('newrun.noCache')}
                      checked={d.no_cache}
                      onChange={(e) => change({ no_cache: e.currentTarget.checked })}
                    />
                  </SimpleGrid>
                  <Stack gap={4} mt="md">
                    <Text size="sm" fw={600}>
                      {t('newrun.params')}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {t('newrun.paramsHint')}
                    </Text>
                    {more && (
                      <CodeEditor
                        label={t('newrun.params')}
                        value={d.params}
                        onChange={(v) => change({ params: v })}
                        language="json"
                        height={110}
                      />
                    )}
                    {(extra.problem || at('provider_params')) && (
                      <Text size="xs" style={{ color: 'var(--cv-fail)' }} role="alert" className={common.untrusted}>
                        {extra.problem ? t('newrun.paramsBad', { why: extra.problem }) : at('provider_params')}
                      </Text>
                    )}
                  </Stack>
                </Card>
              </Stack>
            </Collapse>
          </Box>
        </Stack>

        <Box className={classes.side}>
          <Card title={t('newrun.before')}>
            <Stack gap="sm">
              <div className={classes.wide}>{startButton}</div>
              <EstimateView estimate={estimate} complete={ready} most={d.until_decided} />
              {problem && refused.rest && <Failure of={problem} />}
              {problem && !refused.rest && (
                <Text size="sm" role="alert" style={{ color: 'var(--cv-fail)' }} className={common.untrusted}>
                  {problem.message}
                </Text>
              )}
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                onClick={() => {
                  clear();
                  setNamed(null, { replace: true });
                  start.reset();
                }}
              >
                {t('newrun.clear')}
              </Button>
            </Stack>
          </Card>
        </Box>
        <div className={classes.bar}>{startButton}</div>
      </form>
    </Page>
  );
}

const order: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

/** Suite chooses a suite; the server searches. */
function Suite({
  value,
  name,
  about,
  error,
  choose,
}: {
  value: string;
  name?: string;
  about?: string;
  error?: string;
  choose: (id: string) => void;
}) {
  const t = useText();
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search === name ? '' : search, 200);
  const list = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 50, search: asked || undefined } } },
    { placeholderData: (before) => before },
  );
  const data = (list.data?.items ?? []).map((s) => ({ value: s.id, label: s.name, cases: s.test_case_count }));
  if (value && name && !data.some((s) => s.value === value)) data.unshift({ value, label: name, cases: 0 });
  if (list.data && !asked && data.length === 0) {
    return (
      <Box>
        <Text size="sm" fw={600}>
          {t('newrun.suite')}
        </Text>
        <Text size="sm" c="dimmed">
          {t('newrun.noSuites')} <Link to="/suites">{t('newrun.toSuites')}</Link>
        </Text>
      </Box>
    );
  }
  return (
    <Select
      label={t('newrun.suite')}
      placeholder={t('newrun.suiteHint')}
      description={about ?? ' '}
      inputWrapperOrder={order}
      required
      withAsterisk={false}
      searchable
      value={value || null}
      data={data}
      error={error}
      allowDeselect={false}
      onChange={(v) => v && choose(v)}
      onSearchChange={setSearch}
      filter={({ options }) => options}
      nothingFoundMessage={t('newrun.suiteNone')}
      maxDropdownHeight={300}
    />
  );
}

/** Models lists the models of the run, with a field that adds one. */
function Models({
  draft: d,
  change,
  error,
  lacks,
}: {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  error?: string;
  lacks: (m: Model) => string | undefined;
}) {
  const t = useText();
  const targets = $api.useQuery('get', '/api/targets');
  const runs = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 20 } } });
  const profiles = $api.useQuery('get', '/api/profiles');
  const [bad, setBad] = useState('');
  const [endpoint, setEndpoint] = useState(false);
  const [opened, setOpened] = useState(false);
  const data = useMemo(() => {
    const all = targets.data?.targets ?? [];
    const used = [...new Set((runs.data?.items ?? []).flatMap((r) => r.models ?? []))]
      .filter((m) => isSpec(m) && !all.includes(m))
      .slice(0, 8);
    const groups = [
      { group: t('newrun.usedBefore'), items: used },
      { group: t('newrun.offline'), items: all.filter((x) => x.startsWith('offline/')) },
      {
        group: t('newrun.providers'),
        items: all.filter((x) => x.endsWith('/MODEL')).map((x) => x.replace(/MODEL$/, '')),
      },
    ];
    return groups.filter((g) => g.items.length > 0);
  }, [targets.data, runs.data, t]);
  const add = (text: string) => {
    const spec = text.trim();
    if (spec === '') return;
    if (!isSpec(spec)) return setBad(t('newrun.badModel'));
    if (d.models.some((m) => m.spec === spec && !m.base_url)) return setBad(t('newrun.twice'));
    setBad('');
    setOpened(false);
    change({ models: [...d.models, { spec }], typed: '' });
  };
  const press = (e: KeyboardEvent<HTMLInputElement>) => {
    if (e.key !== 'Enter') return;
    e.preventDefault(); // adds a model, and does not start the run
    // If an option of the list is marked, the key belongs to the list.
    if (!e.currentTarget.getAttribute('aria-activedescendant')) add(e.currentTarget.value);
  };
  return (
    <Fieldset legend={t('newrun.models')} variant="unstyled" styles={{ legend: { fontWeight: 600, marginBottom: 4 } }}>
      <Stack gap="xs">
        {d.models.map((m, i) => (
          <ModelRow
            key={`${m.spec} ${m.base_url ?? ''} ${i}`}
            model={m}
            lacks={lacks(m)}
            profiles={(profiles.data?.items ?? []).filter((p) => p.model === m.spec)}
            choose={(profile) => change({ models: d.models.map((of, k) => (k === i ? { ...of, profile } : of)) })}
            remove={() => change({ models: d.models.filter((_, k) => k !== i) })}
          />
        ))}
        <Group align="flex-start" gap="xs" wrap="nowrap">
          <Autocomplete
            aria-label={t('newrun.addModel')}
            placeholder="provider/model"
            description={t('newrun.addModelHint')}
            inputWrapperOrder={order}
            data={data}
            value={d.typed}
            error={bad || error}
            style={{ flex: 1 }}
            maxDropdownHeight={320}
            limit={60}
            dropdownOpened={opened}
            onDropdownOpen={() => setOpened(true)}
            onDropdownClose={() => setOpened(false)}
            onChange={(v) => {
              setBad('');
              change({ typed: v });
            }}
            onOptionSubmit={(v) => {
              if (isSpec(v)) window.setTimeout(() => add(v));
            }}
            onKeyDown={press}
          />
          <Button variant="default" onClick={() => add(d.typed)} disabled={d.typed.trim() === ''}>
            {t('newrun.add')}
          </Button>
        </Group>
        {endpoint ? (
          <EndpointDialog
            add={(m: Model) => {
              change({ models: [...d.models, m] });
              setEndpoint(false);
            }}
            close={() => setEndpoint(false)}
          />
        ) : (
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: 'flex-start' }}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setEndpoint(true)}
          >
            {t('newrun.addEndpoint')}
          </Button>
        )}
      </Stack>
    </Fieldset>
  );
}
