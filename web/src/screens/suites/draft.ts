// A case in the form: every JSON value is the typed text, so that no input is lost.
import type { Translator } from '../../text';
import { type Case, namesOf, plainCase } from './data';

export type Draft = {
  mode: 'fields' | 'own';
  id: string;
  prompt: string;
  calls: boolean;
  tools: string[];
  params: 'null' | 'empty' | 'object';
  paramsText: string;
  paramScoring: string;
  scoringConfig: string;
  category: string;
  shouldCall: '' | 'true' | 'false';
  multi: boolean;
  /** multi_turn was explicitly false. */
  single: boolean;
  maxRounds: string;
  optimalHops: string;
  prerequisites: string[];
  mockResponses: string;
  /** multi_turn as an object, or multi_turn_config, as the case had it. */
  turnConfig: string;
  turnKey: 'multi_turn' | 'multi_turn_config';
  argumentSource: string;
  own: string;
};

const json = (v: unknown) => (v === null || v === undefined ? '' : JSON.stringify(v, null, 2));

/** draftOf returns the draft of a case; own: it is edited in callvet's own form. */
export function draftOf(c: Case, own: boolean): Draft {
  const params = c.expected_params as Record<string, unknown> | null | undefined;
  const turns = c.multi_turn as boolean | Record<string, unknown> | null | undefined;
  const inObject = turns !== null && typeof turns === 'object';
  return {
    mode: own ? 'own' : 'fields',
    id: c.id ?? '',
    prompt: c.prompt ?? '',
    calls: namesOf(c).length > 0,
    tools: namesOf(c),
    params: params === null || params === undefined ? 'null' : Object.keys(params).length === 0 ? 'empty' : 'object',
    paramsText: params && Object.keys(params).length > 0 ? json(params) : '',
    paramScoring: c.param_scoring ?? '',
    scoringConfig: json(c.scoring_config ?? c.scoring_config_json),
    category: c.category ?? '',
    shouldCall: c.should_call_tool === true ? 'true' : c.should_call_tool === false ? 'false' : '',
    multi: Boolean(turns),
    single: turns === false,
    maxRounds: String(c.max_rounds ?? ''),
    optimalHops: String(c.optimal_hops ?? ''),
    prerequisites: (c.valid_prerequisites as string[] | null | undefined) ?? [],
    mockResponses: json(c.mock_responses),
    turnConfig: json(inObject ? turns : c.multi_turn_config),
    turnKey: inObject ? 'multi_turn' : 'multi_turn_config',
    argumentSource: json(c.argument_source),
    own: json(
      withoutId((c.case as Record<string, unknown> | null | undefined) ?? (plainCase(c) as Record<string, unknown>)),
    ),
  };
}

/**
 * withoutId returns a case without its id, which has a separate field. A case with fields is valid in callvet's own
 * form, too.
 */
function withoutId(c: Record<string, unknown>): Record<string, unknown> {
  const { id: _, ...rest } = c;
  return rest;
}

/** emptyCase is a new case. */
export const emptyCase: Case = { prompt: '', expected_tool: null, expected_params: null } as unknown as Case;

/** chained reports whether a draft has a setting of a chain of calls. */
export function chained(d: Draft): boolean {
  return (
    d.multi || d.maxRounds !== '' || d.optimalHops !== '' || d.prerequisites.length > 0 || d.turnConfig.trim() !== ''
  );
}

/** bodyOf returns the case of a draft, or the fields with values that cannot be sent. */
export function bodyOf(d: Draft, t: Translator): { body: Case; errors: Record<string, string> } {
  const errors: Record<string, string> = {};
  const object = (name: string, text: string): Record<string, unknown> | undefined => {
    if (text.trim() === '') return undefined;
    try {
      const v = JSON.parse(text) as unknown;
      if (v && typeof v === 'object' && !Array.isArray(v)) return v as Record<string, unknown>;
      errors[name] = t('suites.needObject');
    } catch (e) {
      errors[name] = t('suites.badJson', { text: e instanceof Error ? e.message : String(e) });
    }
    return undefined;
  };
  if (d.mode === 'own') {
    const own = object('case', d.own);
    if (!own && !errors.case) errors.case = t('suites.needObject');
    return { body: { ...(d.id ? { id: d.id } : {}), case: own } as Case, errors };
  }
  const count = (name: string, text: string): number | undefined => {
    if (text.trim() === '') return undefined;
    if (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 1000) return Number(text);
    errors[name] = t('suites.numberNeeded');
    return undefined;
  };
  if (d.calls && d.tools.length === 0) errors.expected_tool = t('suites.toolNeeded');
  const params = d.params === 'object' ? object('expected_params', d.paramsText) : undefined;
  if (d.params === 'object' && !params && !errors.expected_params) errors.expected_params = t('suites.needObject');
  const turns = object(d.turnKey, d.turnConfig);
  const body: Record<string, unknown> = {
    id: d.id || undefined,
    prompt: d.prompt,
    expected_tool: !d.calls ? null : d.tools.length === 1 ? d.tools[0] : d.tools,
    expected_params: d.params === 'null' ? null : d.params === 'empty' ? {} : params,
    param_scoring: d.paramScoring || undefined,
    scoring_config: object('scoring_config', d.scoringConfig),
    category: d.category || undefined,
    should_call_tool: d.shouldCall === '' ? undefined : d.shouldCall === 'true',
    argument_source: object('argument_source', d.argumentSource),
    mock_responses: object('mock_responses', d.mockResponses),
  };
  body.multi_turn = d.multi ? (turns && d.turnKey === 'multi_turn' ? turns : true) : d.single ? false : undefined;
  if (d.turnKey === 'multi_turn_config') body.multi_turn_config = turns;
  body.max_rounds = count('max_rounds', d.maxRounds);
  body.optimal_hops = count('optimal_hops', d.optimalHops);
  body.valid_prerequisites = d.prerequisites.length > 0 ? d.prerequisites : undefined;
  for (const k of Object.keys(body)) if (body[k] === undefined) delete body[k];
  return { body: body as Case, errors };
}
