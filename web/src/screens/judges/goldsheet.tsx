// The gold sheet of a run or of traces: an expert reads a task, corrects the proposed calls, and confirms it.
import {
  Alert,
  Autocomplete,
  Badge,
  Box,
  Button,
  Fieldset,
  FileButton,
  Group,
  Menu,
  NumberInput,
  Progress,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { IconCheck, IconChevronDown, IconDownload, IconPlus, IconTrash, IconUpload } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap } from '../../api/client';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card, Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { askConfirmation } from '../../ui/confirm';
import { LongText } from '../../ui/conversation';
import { RunPick } from '../../ui/pick';
import { download } from '../../ui/download';
import { notify, notifyFailure } from '../../ui/notify';
import {
  anyArgs,
  type Call,
  checkSheet,
  drawSheet,
  type Drawn,
  isOpen,
  storeDraft,
  readDraft,
  makeFromSheet,
  onDraftChange,
  readArgs,
  type Sheet,
  sheetText,
  type Task,
  type Tool,
  type Turn,
} from './gold';
import { type Subject, useSubject } from './labels';
import classes from './judges.module.css';
import common from '../../ui/common.module.css';

export function GoldSheetPage() {
  const t = useText();
  const { of, run, setRun } = useSubject();
  const may = usePermission('write');
  if (!may) return <Empty title={t('common.readOnly')} text={t('gold.mayNot')} />;
  if (!of) {
    return (
      <Page title={t('gold.title')} lead={t('gold.lead')}>
        <RunPick label={t('judges.run')} value={run} onChange={setRun} maw={560} />
      </Page>
    );
  }
  return <Sheets key={`${of.kind} ${of.id}`} of={of} />;
}

/** Sheets is the draft of a sheet, or the form that begins one. */
function Sheets({ of }: { of: Subject }) {
  const t = useText();
  const me = useCurrentUser();
  const [tasks, setTasks] = useState<Task[] | null>(() => readDraft(me.name, of));
  const [read, setRead] = useState<Sheet | null>(null);
  const [tools, setTools] = useState<Tool[] | null>(null);
  const [room, setRoom] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const change = (next: Task[] | null) => {
    setTasks(next);
    setRoom(storeDraft(me.name, of, next));
  };
  const take = (s: Sheet) => {
    setRead(s);
    setTools(s.tools ?? []);
    change(s.tasks);
  };
  useEffect(() => onDraftChange(me.name, of, setTasks), [me.name, of]);
  // After a new login: refused requests of the ended session are repeated.
  const entered = $api.useQuery('get', '/api/me', {}, { staleTime: 60_000, retry: false }).dataUpdatedAt;
  const text = useMemo(() => (tasks ? sheetText(tasks) : ''), [tasks]);
  // The server checks the inputs: at once for the tools, then at each pause in the typing.
  useEffect(() => {
    if (!text) return;
    let gone = false;
    const timer = window.setTimeout(
      () =>
        checkSheet(of, text, tools === null).then(
          (s) => {
            if (gone) return;
            setRead(s);
            setError(null);
            if (tools === null) setTools(s.tools ?? []);
          },
          (x: unknown) => {
            if (!gone) setError(x);
          },
        ),
      tools === null ? 0 : 300,
    );
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [text, of, tools, entered]);
  const verify = async (next: Task[]) => {
    try {
      const s = await checkSheet(of, sheetText(next), false);
      setRead(s);
      setError(null);
      return s.problems;
    } catch (x) {
      setError(x);
      return null;
    }
  };
  const back = of.kind === 'run' ? `/judges?run=${of.id}&tab=labels` : `/judges?traces=${of.id}&tab=labels`;
  const discard = () =>
    askConfirmation(t, t('gold.discard'), t('gold.discardText'), t('gold.discard'), async () => change(null));
  return (
    <Page
      title={t('gold.title')}
      lead={
        <Group gap="xs">
          <Link to={back}>
            {of.kind === 'run' ? t('judges.ofRun', { id: of.id }) : t('judges.ofTraces', { id: of.id })}
          </Link>
          <span>{t('gold.lead')}</span>
        </Group>
      }
      actions={
        tasks && (
          <Uses
            of={of}
            text={text}
            problems={read?.problems.length ?? 0}
            done={tasks.filter((x) => !isOpen(x)).length}
          />
        )
      }
    >
      {!room && <Alert color="yellow">{t('gold.notKept')}</Alert>}
      <Failure of={error} />
      {tasks ? (
        <>
          <Fill tasks={tasks} change={change} verify={verify} problems={read?.problems ?? []} tools={tools ?? []} />
          <Group gap="xs" justify="space-between">
            <Text size="sm" c="dimmed">
              {t('gold.kept')}
            </Text>
            <Button variant="subtle" color="red" onClick={discard}>
              {t('gold.discard')}
            </Button>
          </Group>
        </>
      ) : (
        <Begin of={of} take={take} />
      )}
    </Page>
  );
}

/** Begin draws a sheet, or opens one. */
function Begin({ of, take }: { of: Subject; take: (s: Sheet) => void }) {
  const t = useText();
  const [d, set] = useState<Drawn>({ n: 20, edge: 0.3, by: 'language,intent', blank: false });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const from = async (sheet: () => Promise<Sheet>) => {
    setBusy(true);
    setError(null);
    try {
      take(await sheet());
    } catch (x) {
      setError(x);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card>
      <Stack gap="md" maw={560}>
        <Group grow align="flex-start">
          <NumberInput
            label={t('gold.n')}
            min={1}
            max={500}
            allowDecimal={false}
            value={d.n}
            onChange={(v) => set({ ...d, n: Number(v) || 1 })}
          />
          <NumberInput
            label={t('gold.edge')}
            suffix=" %"
            min={0}
            max={100}
            step={10}
            value={Math.round(d.edge * 100)}
            onChange={(v) => set({ ...d, edge: (Number(v) || 0) / 100 })}
          />
        </Group>
        <Text size="sm" c="dimmed">
          {t('gold.edgeHint')}
        </Text>
        <TextInput
          label={t('gold.by')}
          description={t('gold.byHint')}
          value={d.by}
          onChange={(e) => set({ ...d, by: e.currentTarget.value })}
        />
        <Switch
          label={t('gold.blank')}
          checked={d.blank}
          onChange={(e) => set({ ...d, blank: e.currentTarget.checked })}
        />
        <Failure of={error} />
        <Group gap="sm">
          <Button loading={busy} onClick={() => from(() => drawSheet(of, d))}>
            {t('gold.propose')}
          </Button>
          <FileButton
            onChange={(f) => f && from(async () => checkSheet(of, await f.text(), true))}
            accept=".yaml,.yml,.json"
          >
            {(p) => (
              <Button {...p} variant="default" loading={busy} leftSection={<IconUpload size={16} aria-hidden />}>
                {t('gold.upload')}
              </Button>
            )}
          </FileButton>
        </Group>
        <Text size="sm" c="dimmed">
          {t('gold.uploadText')}
        </Text>
      </Stack>
    </Card>
  );
}

/** Uses downloads the sheet, and converts it as the command line does. */
function Uses({ of, text, problems, done }: { of: Subject; text: string; problems: number; done: number }) {
  const t = useText();
  const go = useNavigate();
  const does = (use: () => Promise<void>) => () => void use().catch((x: unknown) => notifyFailure(t, x));
  // The last inputs may not have been checked yet: the server makes the file from this text.
  const downloadSheet = does(async () =>
    download('gold.yaml', new Blob([(await checkSheet(of, text, false)).text], { type: 'application/yaml' })),
  );
  const suite = async () => {
    const made = await makeFromSheet(of, text, 'suite');
    if (made.lost.length > 0) notify([t('gold.lost', { n: made.lost.length }), ...made.lost.slice(0, 3)].join('\n'));
    return made;
  };
  const here = does(async () => {
    const made = await suite();
    const kept_ = unwrap(
      await api.POST('/api/tool-eval/import', {
        body: made.text as never,
        bodySerializer: (b: unknown) => b as string,
        headers: { 'Content-Type': 'application/octet-stream' },
      }),
    );
    notify(t('gold.saved', { n: made.cases }));
    void go(`/suites/${kept_.suite_id}`);
  });
  const why = problems > 0 ? t('gold.wrong', { n: problems }) : done === 0 ? t('gold.confirmFirst') : undefined;
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} onClick={downloadSheet}>
        {t('gold.download')}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button rightSection={<IconChevronDown size={16} aria-hidden />}>{t('gold.use')}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {why && <Menu.Label maw={260}>{why}</Menu.Label>}
          <Menu.Item disabled={Boolean(why)} onClick={here}>
            {t('gold.saveSuite')}
          </Menu.Item>
          <Menu.Item
            disabled={Boolean(why)}
            onClick={does(async () =>
              download('suite.yaml', new Blob([(await suite()).text], { type: 'application/yaml' })),
            )}
          >
            {t('gold.suiteFile')}
          </Menu.Item>
          <Menu.Item
            disabled={Boolean(why)}
            onClick={does(async () =>
              download(
                'labelled.jsonl',
                new Blob([(await makeFromSheet(of, text, 'traces')).text], { type: 'application/x-ndjson' }),
              ),
            )}
          >
            {t('gold.tracesFile')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

type Problems = Sheet['problems'];

type FillProps = {
  tasks: Task[];
  change: (t: Task[]) => void;
  verify: (t: Task[]) => Promise<Problems | null>;
  problems: Problems;
  tools: Tool[];
};

function Fill({ tasks, change, verify, problems, tools }: FillProps) {
  const t = useText();
  const [at, setAt] = useState(() => Math.max(0, tasks.findIndex(isOpen)));
  const [status, setStatus] = useState('');
  const top = useRef<HTMLHeadingElement>(null);
  const task = tasks[Math.min(at, tasks.length - 1)];
  const done = tasks.filter((x) => !isOpen(x)).length;
  if (!task) return <Empty title={t('gold.noTask')} />;
  const set = (part: Partial<Task>) => change(tasks.map((x, i) => (i === at ? { ...x, ...part } : x)));
  const wrong = (x: Task) => problems.filter((p) => p.task === x.task);
  const own = wrong(task);
  const move = (to: number) => {
    setAt(Math.min(Math.max(to, 0), tasks.length - 1));
    top.current?.focus();
  };
  const confirm = async () => {
    const next = tasks.map((x, i) => (i === at ? { ...x, checked: true } : x));
    change(next);
    const found = await verify(next);
    const n = (found ?? []).filter((p) => p.task === task.task).length;
    setStatus(n > 0 ? t('gold.problems', { n }) : t('gold.confirmedTask', { n: at + 1 }));
    if (found && n === 0) move(at + 1);
  };
  return (
    <>
      <Box role="status" aria-live="polite" className={common.visuallyHidden}>
        {status}
      </Box>
      <Group gap="md">
        <Progress.Root size={8} style={{ flex: '1 1 160px' }}>
          <Progress.Section
            value={(100 * done) / tasks.length}
            aria-label={t('gold.counts', { done, of: tasks.length })}
          />
        </Progress.Root>
        <Text size="sm" className={common.num}>
          {t('gold.counts', { done, of: tasks.length })}
        </Text>
      </Group>
      <Select
        label={t('gold.tasks')}
        allowDeselect={false}
        searchable
        value={String(at)}
        onChange={(v) => setAt(Number(v))}
        maw={560}
        data={tasks.map((x, i) => ({
          value: String(i),
          label: `${i + 1}. ${x.task} · ${wrong(x).length > 0 ? t('gold.problems', { n: wrong(x).length }) : t(isOpen(x) ? 'gold.unconfirmed' : 'gold.confirmed')}`,
        }))}
      />
      <Box className={classes.grid}>
        <Box
          className={common.card}
          p="lg"
          component="article"
          aria-label={t('gold.task', { n: at + 1, of: tasks.length })}
        >
          <Group justify="space-between" mb="md">
            <Title order={2} ref={top} tabIndex={-1}>
              {t('gold.task', { n: at + 1, of: tasks.length })}
            </Title>
            <Group gap="xs">
              {task.edge && <Badge variant="default">{task.edge}</Badge>}
              <Badge
                variant={isOpen(task) ? 'default' : 'light'}
                leftSection={isOpen(task) ? undefined : <IconCheck size={12} aria-hidden />}
              >
                {t(isOpen(task) ? 'gold.unconfirmed' : 'gold.confirmed')}
              </Badge>
            </Group>
          </Group>
          <Stack gap="lg">
            <Part title={t('gold.asked')}>
              {task.goal ? (
                <LongText text={task.goal} />
              ) : (
                <Text size="sm" c="dimmed">
                  {t('judges.noGoal')}
                </Text>
              )}
            </Part>
            {task.turns.map((turn, i) => (
              <OneTurn
                key={`${at} ${i}`}
                of={turn}
                title={i === task.turns.length - 1 ? t('gold.lastTurn') : t('gold.turn', { n: i + 1 })}
                tools={tools}
                problems={within(own, `turns[${i}]`)}
                set={(part) => set({ turns: task.turns.map((x, j) => (j === i ? { ...x, ...part } : x)) })}
              />
            ))}
            <Part title={t('gold.answer')}>
              {task.answer ? (
                <LongText text={task.answer} />
              ) : (
                <Text size="sm" c="dimmed">
                  {t('judges.noAnswer')}
                </Text>
              )}
            </Part>
          </Stack>
        </Box>
        <Stack gap="sm">
          <Button size="md" leftSection={<IconCheck size={18} aria-hidden />} onClick={confirm}>
            {t('gold.confirm')}
          </Button>
          {!isOpen(task) && (
            <Button variant="subtle" onClick={() => set({ checked: false })}>
              {t('gold.reopen')}
            </Button>
          )}
          <Group gap="xs" grow>
            <Button variant="default" onClick={() => move(at - 1)} disabled={at === 0}>
              {t('common.previous')}
            </Button>
            <Button variant="default" onClick={() => move(at + 1)} disabled={at === tasks.length - 1}>
              {t('common.next')}
            </Button>
          </Group>
          <Limits key={at} of={task} set={set} problems={own} />
        </Stack>
      </Box>
    </>
  );
}

/** within returns the problems below a place, with their keys relative to it. */
function within(problems: Problems, place: string): Problems {
  return problems
    .filter((p) => p.key === place || p.key.startsWith(`${place}.`) || p.key.startsWith(`${place}[`))
    .map((p) => ({ ...p, key: p.key.slice(place.length).replace(/^\./, '') }));
}

/** at returns the problem of one field. */
function at(problems: Problems, key: string): ReactNode {
  const list = problems.filter((p) => p.key === key);
  return list.length > 0 ? (
    <span className={common.untrusted}>
      {list.map((p) => (p.fix ? `${p.message} (${p.fix})` : p.message)).join('\n')}
    </span>
  ) : undefined;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box>
      <Title order={3} size="sm" c="dimmed" mb={4}>
        {title}
      </Title>
      {children}
    </Box>
  );
}

const blankCall: Call = { tool: null, args_json: '{}', check: 'none' };

function OneTurn({
  of,
  title,
  tools,
  problems,
  set,
}: {
  of: Turn;
  title: string;
  tools: Tool[];
  problems: Problems;
  set: (part: Partial<Turn>) => void;
}) {
  const t = useText();
  const setCall = (i: number, part: Partial<Call>) =>
    set({ calls: of.calls.map((c, j) => (j === i ? { ...c, ...part } : c)) });
  const choose = (v: string) =>
    set(
      v === 'no' ? { needed: false, calls: [] } : { needed: true, calls: of.calls.length > 0 ? of.calls : [blankCall] },
    );
  const wrong = at(problems, 'needed') ?? at(problems, 'calls');
  return (
    <Fieldset legend={title} data-turn>
      <Stack gap="sm">
        <Part title={t('gold.called')}>
          {of.called?.length ? (
            <ol className={classes.steps}>
              {of.called.map((c, i) => (
                <li key={i}>
                  <LongText text={c} mono />
                </li>
              ))}
            </ol>
          ) : (
            <Text size="sm" c="dimmed">
              {t('gold.calledNothing')}
            </Text>
          )}
        </Part>
        <Box>
          <SegmentedControl
            size="xs"
            aria-label={`${title}: ${t('gold.right')}`}
            value={of.needed === null ? '' : of.needed ? 'yes' : 'no'}
            onChange={choose}
            data={[
              { value: 'no', label: t('gold.nothing') },
              { value: 'yes', label: t('gold.calls') },
            ]}
          />
          {wrong && (
            <Text size="xs" c="var(--cv-fail)" role="alert">
              {wrong}
            </Text>
          )}
        </Box>
        {of.needed && (
          <>
            {of.calls.map((c, i) => (
              <OneCall
                key={i}
                n={i + 1}
                of={c}
                tools={tools}
                problems={within(problems, `calls[${i}]`)}
                set={(part) => setCall(i, part)}
                remove={() => set({ calls: of.calls.filter((_, j) => j !== i) })}
              />
            ))}
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => set({ calls: [...of.calls, blankCall] })}
              style={{ alignSelf: 'flex-start' }}
            >
              {t('gold.addCall')}
            </Button>
          </>
        )}
      </Stack>
    </Fieldset>
  );
}

type Property = { type?: string; enum?: unknown[]; description?: string };

/** propertiesOf returns the arguments in the schema of a tool; null if there are none. */
function propertiesOf(tool: Tool | undefined): { of: Record<string, Property>; required: string[] } | null {
  const p = tool?.parameters as { properties?: Record<string, Property>; required?: string[] } | undefined;
  return p?.properties && Object.keys(p.properties).length > 0
    ? { of: p.properties, required: Array.isArray(p.required) ? p.required : [] }
    : null;
}

function OneCall({
  n,
  of,
  tools,
  problems,
  set,
  remove,
}: {
  n: number;
  of: Call;
  tools: Tool[];
  problems: Problems;
  set: (part: Partial<Call>) => void;
  remove: () => void;
}) {
  const t = useText();
  const schema = propertiesOf(tools.find((x) => x.name === of.tool));
  const read = readArgs(of.args_json);
  const named = schema !== null && read.exact && of.args_json !== anyArgs;
  const [json, setJson] = useState(false);
  const how = of.args_json === anyArgs ? 'any' : json || !named ? 'json' : 'named';
  const choose = (v: string) => {
    setJson(v === 'json');
    if (v === 'any') set({ args_json: anyArgs });
    else if (of.args_json === anyArgs) set({ args_json: '{}' });
  };
  return (
    <Box className={common.card} p="sm" data-call>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={600}>
            {t('gold.call', { n })}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={remove}
          >
            {t('gold.removeCall', { n })}
          </Button>
        </Group>
        <Autocomplete
          label={t('gold.tool')}
          data={tools.map((x) => x.name)}
          value={of.tool ?? ''}
          error={at(problems, 'tool')}
          onChange={(v) => set({ tool: v })}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('gold.argsOf', { n })}
          value={how}
          onChange={choose}
          style={{ alignSelf: 'flex-start' }}
          data={[
            { value: 'named', label: t('gold.argsByName'), disabled: schema === null || !read.exact },
            { value: 'json', label: t('gold.argsJson') },
            { value: 'any', label: t('gold.argsAny') },
          ]}
        />
        {how === 'named' && schema && (
          <Named schema={schema} value={read.value ?? {}} set={(v) => set({ args_json: JSON.stringify(v) })} />
        )}
        {how === 'json' && (
          <Textarea
            label={t('gold.args')}
            className={common.mono}
            autosize
            minRows={2}
            maxRows={12}
            spellCheck={false}
            value={of.args_json}
            error={read.problem ? t('gold.noJson', { why: read.problem }) : at(problems, 'args')}
            onChange={(e) => set({ args_json: e.currentTarget.value })}
          />
        )}
        <TextInput
          label={t('gold.check')}
          description={t('gold.checkHint')}
          value={of.check ?? ''}
          error={at(problems, 'check')}
          onChange={(e) => set({ check: e.currentTarget.value })}
        />
      </Stack>
    </Box>
  );
}

/** Named edits the arguments of a call by the schema of its tool. Arguments that the schema does not name are JSON. */
function Named({
  schema,
  value,
  set,
}: {
  schema: { of: Record<string, Property>; required: string[] };
  value: Record<string, unknown>;
  set: (v: Record<string, unknown>) => void;
}) {
  const names = [...new Set([...Object.keys(schema.of), ...Object.keys(value)])];
  const put = (name: string, v: unknown) => {
    const next = { ...value };
    if (v === undefined) delete next[name];
    else next[name] = v;
    set(next);
  };
  return (
    <>
      {names.map((name) => (
        <Argument
          key={name}
          name={name}
          of={schema.of[name] ?? {}}
          required={schema.required.includes(name)}
          value={value[name]}
          put={(v) => put(name, v)}
        />
      ))}
    </>
  );
}

function Argument({
  name,
  of,
  required,
  value,
  put,
}: {
  name: string;
  of: Property;
  required: boolean;
  value: unknown;
  put: (v: unknown) => void;
}) {
  const t = useText();
  const fieldProps = {
    label: <span className={`${common.mono} ${common.untrusted}`}>{name}</span>,
    description: of.description ? <span className={common.untrusted}>{of.description}</span> : undefined,
    withAsterisk: required,
  };
  if (
    of.enum?.length &&
    of.enum.every((v) => typeof v === 'string') &&
    (value === undefined || typeof value === 'string')
  ) {
    const data = [...new Set([...(of.enum as string[]), ...(value === undefined ? [] : [value as string])])];
    return (
      <Select
        {...fieldProps}
        data={data}
        value={(value as string) ?? null}
        placeholder={t('gold.unset')}
        clearable
        onChange={(v) => put(v ?? undefined)}
        clearButtonProps={{ 'aria-label': t('common.delete') }}
      />
    );
  }
  if (of.type === 'boolean' && (value === undefined || typeof value === 'boolean')) {
    const data = [
      { value: 'true', label: t('gold.yes') },
      { value: 'false', label: t('gold.no') },
    ];
    return (
      <Select
        {...fieldProps}
        data={data}
        value={value === undefined ? null : String(value)}
        placeholder={t('gold.unset')}
        clearable
        onChange={(v) => put(v === null ? undefined : v === 'true')}
        clearButtonProps={{ 'aria-label': t('common.delete') }}
      />
    );
  }
  if ((of.type === 'number' || of.type === 'integer') && (value === undefined || typeof value === 'number')) {
    return (
      <NumberInput
        {...fieldProps}
        allowDecimal={of.type === 'number'}
        value={(value as number) ?? ''}
        placeholder={t('gold.unset')}
        onChange={(v) => put(v === '' ? undefined : Number(v))}
      />
    );
  }
  if (of.type === 'string' && (value === undefined || typeof value === 'string')) {
    return (
      <TextInput
        {...fieldProps}
        value={(value as string) ?? ''}
        placeholder={t('gold.unset')}
        onChange={(e) => put(e.currentTarget.value === '' ? undefined : e.currentTarget.value)}
      />
    );
  }
  return <Json fieldProps={fieldProps} value={value} put={put} />;
}

/** Json edits an argument without a simple type. An input counts when it is valid JSON. */
function Json({
  fieldProps,
  value,
  put,
}: {
  fieldProps: { label: ReactNode; description?: ReactNode; withAsterisk: boolean };
  value: unknown;
  put: (v: unknown) => void;
}) {
  const t = useText();
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value)));
  const [wrong, setWrong] = useState('');
  const type = (next: string) => {
    setText(next);
    try {
      put(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong('');
    } catch (e) {
      setWrong((e as Error).message);
    }
  };
  return (
    <Textarea
      {...fieldProps}
      className={common.mono}
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
      placeholder={t('gold.unset')}
      value={text}
      error={wrong}
      onChange={(e) => type(e.currentTarget.value)}
    />
  );
}

/** Limits edits the limits of a task, and a note. */
function Limits({ of, set, problems }: { of: Task; set: (part: Partial<Task>) => void; problems: Problems }) {
  const t = useText();
  const [rules, setRules] = useState((of.safety_rules ?? []).join('\n'));
  return (
    <Fieldset legend={t('gold.limits')}>
      <Stack gap="sm">
        <NumberInput
          label={t('gold.budget')}
          description={t('gold.budgetHint')}
          min={0}
          allowDecimal={false}
          value={typeof of.budget === 'number' ? of.budget : ''}
          error={at(problems, 'budget')}
          onChange={(v) => set({ budget: v === '' ? 'any' : Number(v) })}
        />
        <Textarea
          label={t('gold.rules')}
          description={t('gold.rulesHint')}
          autosize
          minRows={2}
          maxRows={8}
          value={rules}
          error={at(problems, 'safety_rules')}
          onChange={(e) => {
            setRules(e.currentTarget.value);
            set({
              safety_rules: e.currentTarget.value
                .split('\n')
                .map((r) => r.trim())
                .filter(Boolean),
            });
          }}
        />
        <Textarea
          label={t('gold.note')}
          autosize
          minRows={2}
          maxRows={8}
          value={of.note ?? ''}
          onChange={(e) => set({ note: e.currentTarget.value })}
        />
      </Stack>
    </Fieldset>
  );
}
