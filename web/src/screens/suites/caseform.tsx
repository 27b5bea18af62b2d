// The form of a case: the fields of a tool suite, or callvet's own form as text. Inputs are
// linted with the tools of the suite; the linter's remarks about a field are shown at the field.
import {
  Alert,
  Autocomplete,
  Box,
  Button,
  Drawer,
  Fieldset,
  Group,
  Input,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useId, useMemo, useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { CodeEditor } from '../../ui/code';
import { notify } from '../../ui/notify';
import { useLeave } from '../../ui/unsaved';
import {
  type Case,
  type Editing,
  functionOf,
  marksOf,
  propertiesOf,
  remarkText,
  type Tool,
  useFraming,
  useLint,
  useSchemaCompletions,
  withCases,
} from './data';
import { bodyOf, chained, draftOf, type Draft } from './draft';
import { Problems, SaveRefused, fieldErrors } from './problems';
import common from '../../ui/common.module.css';

const fieldNames = [
  'id',
  'prompt',
  'expected_tool',
  'expected_params',
  'param_scoring',
  'scoring_config',
  'category',
  'should_call_tool',
  'multi_turn',
  'multi_turn_config',
  'max_rounds',
  'optimal_hops',
  'valid_prerequisites',
  'mock_responses',
  'argument_source',
  'case',
];
const comparisons = ['exact', 'fuzzy', 'contains', 'semantic', 'case_insensitive', 'numeric_tolerance', 'regex'];
const configWords = ['mode', 'epsilon', 'threshold', ...comparisons].map((label) => ({ label }));

/** CaseDrawer edits a case; of null it is closed. isNew: the case is not in the suite yet. */
export function CaseDrawer({
  of,
  isNew,
  editing,
  close,
  saved,
}: {
  of: Case | null;
  isNew: boolean;
  editing: Editing;
  close: () => void;
  saved: (c: Case) => void;
}) {
  const t = useText();
  const [dirty, setDirty] = useState(false);
  const { pass, leave } = useLeave(dirty, close);
  return (
    <Drawer
      opened={of !== null}
      onClose={leave}
      position="right"
      size="min(720px, 100vw)"
      title={isNew ? t('suites.newCase') : t('suites.editCase', { id: of?.id ?? '' })}
      styles={{ title: { fontWeight: 600, overflowWrap: 'anywhere' }, content: { scrollPadding: '72px 0' } }}
      closeOnClickOutside={!dirty}
    >
      {of && (
        <CaseForm
          key={of.id ?? 'new'}
          of={of}
          isNew={isNew}
          editing={editing}
          dirty={setDirty}
          leave={leave}
          saved={(c) => pass(() => saved(c))}
        />
      )}
    </Drawer>
  );
}

function CaseForm({
  of,
  isNew,
  editing,
  dirty,
  leave,
  saved,
}: {
  of: Case;
  isNew: boolean;
  editing: Editing;
  dirty: (d: boolean) => void;
  leave: () => void;
  saved: (c: Case) => void;
}) {
  const t = useText();
  const { suite, may, write } = editing;
  const lost = of.not_carried ?? [];
  const [first] = useState(() => draftOf(of, lost.length > 0));
  const [d, setDraft] = useState<Draft>(first);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [tried, setTried] = useState(false);
  const set = (change: Partial<Draft>) => setDraft((was) => ({ ...was, ...change }));
  const changed = JSON.stringify(first) !== JSON.stringify(d);
  useLayoutEffect(() => dirty(changed), [changed, dirty]);
  useEffect(() => () => dirty(false), [dirty]);

  const { body, errors: unread } = useMemo(() => bodyOf(d, t), [d, t]);
  const framing = useFraming(editing);
  const own = d.mode === 'own';
  // A case in callvet's own format is linted even if it cannot be sent. A form with a field that is no JSON is not
  // linted.
  const text = own ? d.own : Object.keys(unread).length === 0 ? JSON.stringify(body) : null;
  const lint = useLint(may && framing && text !== null && changed ? framing.ofCase(text, own) : null);
  const lines = own ? d.own.split('\n').length : 1;
  const refused = fieldErrors(error, fieldNames);
  const remarks = useMemo(() => {
    const out: Record<string, string> = {};
    for (const p of lint.problems) {
      const name = /cases\[0\]\.?(\w+)/.exec(p.location ?? '')?.[1];
      if (name && fieldNames.includes(name) && !p.warning)
        out[name] = [out[name], remarkText(p)].filter(Boolean).join('\n');
    }
    return out;
  }, [lint.problems]);
  const wrong = (name: string) => {
    const shown =
      refused.fields[name] ??
      (tried ? unread[name] : undefined) ??
      (unread[name] && name !== 'expected_tool' ? unread[name] : undefined) ??
      (own ? undefined : remarks[name]);
    return shown ? <span className={common.untrusted}>{shown}</span> : undefined;
  };

  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setTried(true);
    if (Object.keys(unread).length > 0) return;
    setBusy(true);
    setError(null);
    try {
      const answer: Schemas['CasesWritten'] = await write(
        async (match) =>
          isNew
            ? unwrap(
                await api.POST('/api/tool-suites/{id}/cases', {
                  params: { path: { id: suite.id }, header: { 'If-Match': match } },
                  body: body as never,
                }),
              )
            : unwrap(
                await api.PUT('/api/tool-suites/{id}/cases/{cid}', {
                  params: { path: { id: suite.id, cid: of.id! }, header: { 'If-Match': match } },
                  body,
                }),
              ),
        withCases,
      );
      notify(t('suites.saved', { version: answer.version }));
      dirty(false);
      saved(answer.test_cases[0]!);
    } catch (x) {
      setError(x);
    } finally {
      setBusy(false);
    }
  };
  const toolNames = suite.tools.map((x) => functionOf(x as Tool).name).filter(Boolean);
  const words = useSchemaCompletions('suite');
  const argumentsOf = useMemo(() => {
    const out: { label: string; detail: string }[] = [];
    for (const x of suite.tools)
      if (d.tools.includes(functionOf(x as Tool).name))
        for (const label of propertiesOf(x as Tool).names)
          if (!out.some((o) => o.label === label)) out.push({ label, detail: functionOf(x as Tool).name });
    return out;
  }, [suite.tools, d.tools]);
  const restLint = own
    ? lint
    : { ...lint, problems: lint.problems.filter((p) => p.warning || !/cases\[0\]\.?(\w+)/.test(p.location ?? '')) };
  const categories = [...new Set(suite.test_cases.map((c) => c.category).filter((c): c is string => Boolean(c)))];

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md" pb="md">
        <SegmentedControl
          size="xs"
          aria-label={t('suites.how')}
          value={d.mode}
          disabled={!may}
          style={{ alignSelf: 'flex-start' }}
          onChange={(m) =>
            set(
              m === 'own' && d.mode === 'fields' && changed && Object.keys(unread).length === 0
                ? { mode: 'own', own: of.case && !changed ? d.own : ownOf(body) }
                : { mode: m as Draft['mode'] },
            )
          }
          data={[
            { value: 'fields', label: t('suites.formFields') },
            { value: 'own', label: t('suites.formOwn') },
          ]}
        />
        {d.mode === 'fields' && lost.length > 0 && (
          <Alert color="yellow" icon={<IconAlertTriangle />}>
            {t('suites.losesFields', { what: lost.join(', ') })}
          </Alert>
        )}
        <TextInput
          label={t('suites.caseId')}
          description={isNew ? t('suites.caseIdText') : undefined}
          value={d.id}
          readOnly={!isNew || !may}
          maxLength={256}
          error={wrong('id')}
          onChange={(e) => set({ id: e.currentTarget.value })}
        />
        {own ? (
          <Field label={t('suites.ownLabel')} text={t('suites.formOwnText')} error={wrong('case')}>
            <CodeEditor
              label={t('suites.ownLabel')}
              value={d.own}
              language="json"
              height={360}
              readOnly={!may}
              words={words}
              marks={marksOf(lint.problems, 1, lines)}
              onChange={(x) => set({ own: x })}
            />
          </Field>
        ) : (
          <Fields
            d={d}
            set={set}
            may={may}
            wrong={wrong}
            toolNames={toolNames}
            argumentsOf={argumentsOf}
            categories={categories}
            tools={suite.tools as Tool[]}
          />
        )}
        {may && changed && <Problems lint={restLint} skip={1} lines={own ? lines : 0} quiet={!own} />}
        <SaveRefused
          of={error !== null && (refused.rest.length > 0 || Object.keys(refused.fields).length === 0) ? error : null}
          editing={editing}
          done={() => setError(null)}
        />
        <Group
          justify="flex-end"
          style={{
            position: 'sticky',
            bottom: 0,
            background: 'var(--mantine-color-body)',
            padding: '10px 0',
            borderTop: '1px solid var(--cv-line)',
            zIndex: 2,
          }}
        >
          <Button variant="default" onClick={leave}>
            {may ? t('common.cancel') : t('common.close')}
          </Button>
          {may && (
            <Button type="submit" loading={busy} disabled={!changed && !isNew}>
              {t('suites.saveCase')}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** ownOf converts a case with fields to callvet's own form. */
function ownOf(body: Case): string {
  const { id: _, ...rest } = body;
  return JSON.stringify(rest, null, 2);
}

/** Field is a label with its text and its error around something that is no input of the library. */
function Field({
  label,
  text,
  error,
  children,
}: {
  label: string;
  text?: string;
  error?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <Box role="group" aria-labelledby={id}>
      <Input.Label component="div" id={id} display="block">
        {label}
      </Input.Label>
      {text && <Input.Description mb={4}>{text}</Input.Description>}
      {children}
      {error && (
        <Input.Error mt={4} role="alert">
          {error}
        </Input.Error>
      )}
    </Box>
  );
}

type FieldsProps = {
  d: Draft;
  set: (c: Partial<Draft>) => void;
  may: boolean;
  wrong: (name: string) => ReactNode;
  toolNames: string[];
  argumentsOf: { label: string; detail: string }[];
  categories: string[];
  tools: Tool[];
};

function Fields({ d, set, may, wrong, toolNames, argumentsOf, categories, tools }: FieldsProps) {
  const t = useText();
  const choosable = [...new Set([...toolNames, ...d.tools])];
  const toolWords = toolNames.map((label) => ({ label }));
  const editor = (
    name: string,
    label: string,
    value: string,
    change: (x: string) => void,
    words: { label: string; detail?: string }[],
    text?: string,
    height = 96,
  ) => (
    <Field label={label} text={text} error={wrong(name)}>
      <CodeEditor
        label={label}
        value={value}
        language="json"
        height={height}
        readOnly={!may}
        words={words}
        onChange={change}
      />
    </Field>
  );
  /** values returns the required arguments of the tool to fill in. */
  const values = () => {
    const tool = tools.find((x) => functionOf(x).name === d.tools[0]);
    const required = tool ? propertiesOf(tool).required : [];
    return required.length > 0 ? `{\n${required.map((r) => `  ${JSON.stringify(r)}: ""`).join(',\n')}\n}` : '{\n  \n}';
  };
  return (
    <>
      <Textarea
        label={t('suites.prompt')}
        description={t('suites.promptText')}
        required
        autosize
        minRows={2}
        maxRows={10}
        maxLength={50000}
        readOnly={!may}
        data-autofocus
        value={d.prompt}
        error={wrong('prompt')}
        onChange={(e) => set({ prompt: e.currentTarget.value })}
      />
      <Field label={t('suites.toolQuestion')} error={d.calls ? undefined : wrong('expected_tool')}>
        <SegmentedControl
          size="xs"
          aria-label={t('suites.toolQuestion')}
          disabled={!may}
          value={d.calls ? 'yes' : 'no'}
          onChange={(v) => set({ calls: v === 'yes' })}
          data={[
            { value: 'yes', label: t('suites.callsATool') },
            { value: 'no', label: t('suites.callsNothing') },
          ]}
        />
      </Field>
      {d.calls && (
        <MultiSelect
          label={t('suites.toolsRight')}
          description={t('suites.toolsRightText')}
          placeholder={d.tools.length === 0 ? t('suites.pickTool') : undefined}
          data={choosable}
          value={d.tools}
          searchable
          readOnly={!may}
          error={wrong('expected_tool')}
          onChange={(v) => set({ tools: v })}
          clearButtonProps={{ 'aria-label': t('common.delete') }}
        />
      )}
      <Field label={t('suites.paramsQuestion')} error={d.params === 'object' ? undefined : wrong('expected_params')}>
        <SegmentedControl
          size="xs"
          aria-label={t('suites.paramsQuestion')}
          disabled={!may}
          value={d.params}
          onChange={(v) =>
            set({
              params: v as Draft['params'],
              ...(v === 'object' && d.paramsText === '' ? { paramsText: values() } : {}),
            })
          }
          data={[
            { value: 'null', label: t('suites.paramsNull') },
            { value: 'empty', label: t('suites.paramsEmpty') },
            { value: 'object', label: t('suites.paramsObject') },
          ]}
        />
      </Field>
      {d.params === 'object' &&
        editor(
          'expected_params',
          t('suites.paramsText'),
          d.paramsText,
          (x) => set({ paramsText: x }),
          argumentsOf,
          undefined,
          128,
        )}
      <Fieldset legend={t('suites.scoring')}>
        <Stack gap="sm">
          <Select
            label={t('suites.paramScoring')}
            placeholder={t('suites.paramScoringNone')}
            clearable={may}
            readOnly={!may}
            data={[...new Set([...comparisons, ...(d.paramScoring ? [d.paramScoring] : [])])]}
            value={d.paramScoring || null}
            error={wrong('param_scoring')}
            onChange={(v) => set({ paramScoring: v ?? '' })}
            clearButtonProps={{ 'aria-label': t('common.delete') }}
          />
          {editor(
            'scoring_config',
            t('suites.scoringConfig'),
            d.scoringConfig,
            (x) => set({ scoringConfig: x }),
            configWords,
            t('suites.scoringConfigText'),
          )}
        </Stack>
      </Fieldset>
      <Fieldset legend={t('suites.chain')}>
        <Stack gap="sm">
          <Switch
            label={t('suites.multiTurn')}
            checked={d.multi}
            disabled={!may}
            error={wrong('multi_turn')}
            onChange={(e) => set({ multi: e.currentTarget.checked })}
          />
          {chained(d) && (
            <>
              <Group grow align="flex-start">
                <NumberInput
                  label={t('suites.maxRounds')}
                  min={1}
                  max={1000}
                  allowDecimal={false}
                  readOnly={!may}
                  value={d.maxRounds}
                  error={wrong('max_rounds')}
                  onChange={(v) => set({ maxRounds: String(v) })}
                />
                <NumberInput
                  label={t('suites.optimalHops')}
                  min={1}
                  max={1000}
                  allowDecimal={false}
                  readOnly={!may}
                  value={d.optimalHops}
                  error={wrong('optimal_hops')}
                  onChange={(v) => set({ optimalHops: String(v) })}
                />
              </Group>
              <MultiSelect
                label={t('suites.prerequisites')}
                data={[...new Set([...toolNames, ...d.prerequisites])]}
                value={d.prerequisites}
                searchable
                readOnly={!may}
                error={wrong('valid_prerequisites')}
                onChange={(v) => set({ prerequisites: v })}
                clearButtonProps={{ 'aria-label': t('common.delete') }}
              />
              {editor(
                d.turnKey,
                t('suites.turnConfig'),
                d.turnConfig,
                (x) => set({ turnConfig: x }),
                [],
                t('suites.turnConfigText'),
                72,
              )}
            </>
          )}
          {editor(
            'mock_responses',
            t('suites.mockResponses'),
            d.mockResponses,
            (x) => set({ mockResponses: x }),
            toolWords,
            t('suites.mockResponsesText'),
            128,
          )}
        </Stack>
      </Fieldset>
      <Fieldset legend={t('suites.further')}>
        <Stack gap="sm">
          <Autocomplete
            label={t('suites.category')}
            maxLength={256}
            data={categories}
            readOnly={!may}
            value={d.category}
            error={wrong('category')}
            onChange={(v) => set({ category: v })}
          />
          <Select
            label={t('suites.shouldCall')}
            allowDeselect={false}
            readOnly={!may}
            value={d.shouldCall || 'unset'}
            error={wrong('should_call_tool')}
            onChange={(v) => set({ shouldCall: v === 'unset' ? '' : (v as Draft['shouldCall']) })}
            data={[
              { value: 'unset', label: t('suites.shouldUnset') },
              { value: 'true', label: t('suites.shouldTrue') },
              { value: 'false', label: t('suites.shouldFalse') },
            ]}
          />
          {editor(
            'argument_source',
            t('suites.argumentSource'),
            d.argumentSource,
            (x) => set({ argumentSource: x }),
            [...argumentsOf, ...toolWords],
            t('suites.argumentSourceText'),
            72,
          )}
        </Stack>
      </Fieldset>
    </>
  );
}
