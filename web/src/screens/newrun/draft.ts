// The state of the form of a new run, its storage, and its request.
import { useCallback, useEffect, useState } from 'react';
import type { Problem, Schemas } from '../../api/client';

export type Request = Schemas['EvalRequest'];
export type Model = {
  spec: string;
  name?: string;
  base_url?: string;
  api_key_env?: string;
  prompt?: string;
  profile?: string;
};
type Amount = number | '';

export type Profile = Schemas['AppProfile'];

/** settingsOf writes the settings of a profile without its prompt, as in "temperature 0.2, top_k 20". */
export function settingsOf(p: Profile): string {
  const { extra, ...params } = p.params ?? {};
  const all = { ...params, ...extra, ...(p.tool_choice && { tool_choice: p.tool_choice }) };
  return Object.entries(all)
    .map(([name, v]) => `${name} ${typeof v === 'string' ? v : JSON.stringify(v)}`)
    .join(', ');
}

export type Draft = {
  suite: string;
  models: Model[];
  typed: string;
  temperature: Amount;
  tool_choice: string;
  seed: Amount;
  max_tokens: Amount;
  repeats: Amount;
  params: string;
  prompts: 'suite' | 'one' | 'each';
  prompt: string;
  replace_system: boolean;
  filter: string[];
  tags: string[];
  max_cost_usd: Amount;
  experiment_id: string;
  judges: string[];
  judge_models: string[];
  judge_base_url: string;
  judge_under: Amount;
  judge_live: boolean;
  name: string;
  notes: string;
  run_tags: string[];
  sample: Amount;
  max_calls: Amount;
  concurrency: Amount;
  rate: Amount;
  request_timeout_s: Amount;
  timeout_min: Amount;
  priority: Amount;
  no_cache: boolean;
  until_decided: boolean;
  gates: string;
  baseline: string;
};

export const emptyDraft: Draft = {
  suite: '',
  models: [],
  typed: '',
  temperature: '',
  tool_choice: '',
  seed: '',
  max_tokens: '',
  repeats: '',
  params: '',
  prompts: 'suite',
  prompt: '',
  replace_system: false,
  filter: [],
  tags: [],
  max_cost_usd: '',
  experiment_id: '',
  judges: [],
  judge_models: [],
  judge_base_url: '',
  judge_under: '',
  judge_live: false,
  name: '',
  notes: '',
  run_tags: [],
  sample: '',
  max_calls: '',
  concurrency: '',
  rate: '',
  request_timeout_s: '',
  timeout_min: '',
  priority: '',
  no_cache: false,
  until_decided: false,
  gates: '',
  baseline: '',
};

const place = 'callvet.newrun';

function kept(): Draft {
  try {
    return { ...emptyDraft, ...(JSON.parse(sessionStorage.getItem(place) ?? '{}') as Partial<Draft>) };
  } catch {
    return emptyDraft;
  }
}

/** prepareDraft fills the form of a new run with a configuration, such as the winner of a search. */
export function prepareDraft(suite: string, experiment: string, config: Schemas['AppTargetSpec']) {
  const { temperature, max_tokens, seed, extra, ...others } = config.params ?? {};
  const params = { ...extra, ...others };
  const draft: Draft = {
    ...emptyDraft,
    suite,
    experiment_id: experiment,
    models: [{ spec: config.target, base_url: config.base_url, api_key_env: config.api_key_env }],
    temperature: temperature ?? '',
    max_tokens: max_tokens ?? '',
    seed: seed ?? '',
    tool_choice: config.tool_choice ?? '',
    params: Object.keys(params).length > 0 ? JSON.stringify(params) : '',
    prompts: config.system_prompt ? 'one' : 'suite',
    prompt: config.system_prompt ?? '',
    replace_system: config.replace_system ?? false,
  };
  sessionStorage.setItem(place, JSON.stringify(draft));
}

/** useDraft returns the draft, which lives as long as the tab. suite and experiment are those of the address. */
export function useDraft(suite: string, experiment: string) {
  const [draft, set] = useState<Draft>(() => {
    const d = kept();
    const named = suite && suite !== d.suite ? { ...d, suite, experiment_id: '' } : d;
    return experiment ? { ...named, experiment_id: experiment } : named;
  });
  useEffect(() => sessionStorage.setItem(place, JSON.stringify(draft)), [draft]);
  const change = useCallback((part: Partial<Draft>) => set((d) => ({ ...d, ...part })), []);
  return { draft, change, clear: useCallback(() => set(emptyDraft), []) };
}

/** splitSpec splits provider/model. */
export function splitSpec(spec: string): { provider: string; model: string } {
  const cut = spec.indexOf('/');
  return cut < 0 ? { provider: spec, model: '' } : { provider: spec.slice(0, cut), model: spec.slice(cut + 1) };
}

/** isSpec reports whether a text can name a model: provider/model, or another kind of target. */
export function isSpec(text: string): boolean {
  const { provider, model } = splitSpec(text.trim());
  return provider !== '' && model !== '' && !/^MODEL$/.test(model);
}

/** extraOf reads the parameters of the provider, an object of JSON. */
export function extraOf(text: string): { value: Record<string, unknown>; problem?: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const v: unknown = JSON.parse(text);
    if (v && typeof v === 'object' && !Array.isArray(v)) return { value: v as Record<string, unknown> };
    return { value: {}, problem: '{ … }' };
  } catch (e) {
    return { value: {}, problem: (e as Error).message };
  }
}

/** requestOf returns the request. Empty fields are not sent. */
export function requestOf(d: Draft): Request {
  const amount = (v: Amount) => (v === '' ? undefined : v);
  const times = (v: Amount, by: number) => (v === '' ? undefined : Math.round(v * by));
  const typed = d.typed.trim();
  const models =
    isSpec(typed) && !d.models.some((m) => m.spec === typed) ? [...d.models, { spec: typed } as Model] : d.models;
  const own = (m: Model) => Boolean(m.name || m.base_url || m.api_key_env || m.profile);
  const params: Record<string, unknown> = {
    ...extraOf(d.params).value,
    ...(d.max_tokens === '' ? {} : { max_tokens: d.max_tokens }),
  };
  const each = Object.fromEntries(
    models.filter((m) => m.prompt).map((m) => [`${splitSpec(m.spec).provider}::${splitSpec(m.spec).model}`, m.prompt]),
  );
  const some = <V>(list: V[]) => (list.length > 0 ? list : undefined);
  return {
    suite_id: d.suite,
    models: some(models.filter((m) => !own(m)).map((m) => m.spec)),
    targets: some(
      models.filter(own).map((m) => ({
        provider_key: splitSpec(m.spec).provider,
        model_id: splitSpec(m.spec).model,
        name: m.name || undefined,
        base_url: m.base_url || undefined,
        api_key_env: m.api_key_env || undefined,
        profile_id: m.profile || undefined,
      })),
    ),
    temperature: amount(d.temperature),
    tool_choice: d.tool_choice || undefined,
    seed: amount(d.seed),
    repeats: amount(d.repeats),
    provider_params: Object.keys(params).length > 0 ? params : undefined,
    system_prompt:
      d.prompts === 'one' && d.prompt
        ? d.prompt
        : d.prompts === 'each' && Object.keys(each).length > 0
          ? each
          : undefined,
    replace_system: (d.prompts !== 'suite' && d.replace_system) || undefined,
    filter: some(d.filter),
    tags: some(d.tags),
    max_cost_usd: amount(d.max_cost_usd),
    experiment_id: d.experiment_id || undefined,
    judge:
      d.judges.length > 0 || d.judge_models.length > 0
        ? {
            judge: d.judges,
            judge_model: d.judge_models,
            judge_base_url: d.judge_base_url || undefined,
            judge_under: amount(d.judge_under),
            judge_live: d.judge_live || undefined,
          }
        : undefined,
    name: d.name || undefined,
    notes: d.notes || undefined,
    run_tags: some(d.run_tags),
    sample: amount(d.sample),
    max_calls: amount(d.max_calls),
    concurrency: amount(d.concurrency),
    rate: amount(d.rate),
    request_timeout_ms: times(d.request_timeout_s, 1000),
    timeout: times(d.timeout_min, 60),
    priority: amount(d.priority),
    no_cache: d.no_cache || undefined,
    ...(d.until_decided && {
      until_decided: true,
      gates: d.gates.trim() ? d.gates : undefined,
      baseline_eval_id: d.baseline || undefined,
    }),
  };
}

/** Fields of the request that have a place in the form. Errors of other fields are shown above the button. */
const placed = [
  'suite_id',
  'models',
  'targets',
  'profile_id',
  'temperature',
  'tool_choice',
  'seed',
  'repeats',
  'provider_params',
  'system_prompt',
  'filter',
  'tags',
  'max_cost_usd',
  'experiment_id',
  'judge',
  'judge_model',
  'judge_base_url',
  'judge_under',
  'name',
  'notes',
  'run_tags',
  'sample',
  'max_calls',
  'concurrency',
  'rate',
  'request_timeout_ms',
  'timeout',
  'priority',
  'until_decided',
  'gates',
  'baseline',
  'baseline_eval_id',
];

function fieldOf(where: string): string {
  const all = where
    .replace(/^body\.?/, '')
    .replaceAll(/\[\d*\]/g, '')
    .split('.')
    .filter(Boolean);
  const last = all.at(-1) ?? '';
  return placed.includes(last) ? last : (all[0] ?? '');
}

/** refusals returns the server's errors by field, and whether there are errors without a field. */
export function refusals(p: Problem | null): { of: (...fields: string[]) => string | undefined; rest: boolean } {
  const list = p?.fields ?? [];
  return {
    of: (...fields) =>
      list
        .filter((f) => fields.includes(fieldOf(f.place)))
        .map((f) => f.text)
        .join(' ') || undefined,
    rest: p !== null && (list.length === 0 || list.some((f) => !placed.includes(fieldOf(f.place)))),
  };
}
