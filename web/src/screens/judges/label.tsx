// The labelling queue: one task at a time, also by keyboard alone. It never shows verdicts of judges, expected
// calls, or the model.
import {
  Alert,
  Badge,
  Box,
  Button,
  Group,
  Kbd,
  NumberInput,
  Popover,
  Progress,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { IconAdjustments, IconArrowBackUp, IconCheck, IconCloudUpload, IconHelp, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';
import { $api } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { Verdict } from '../../ui/verdict';
import { Conversation, LongText, type Turn } from '../../ui/conversation';
import { useParam } from '../../ui/params';
import { RunPick } from '../../ui/pick';
import {
  keyText,
  labelsOf,
  type NextQuery,
  nextTasks,
  Outbox,
  type Answer,
  type Subject,
  type Task,
  useOutbox,
  useSubject,
} from './labels';
import classes from './judges.module.css';
import common from '../../ui/common.module.css';

export function LabelPage() {
  const t = useText();
  const { of, run, setRun } = useSubject();
  const may = usePermission('write');
  if (!may) return <Empty title={t('common.readOnly')} text={t('judges.mayNotLabel')} />;
  if (!of) {
    return (
      <Page title={t('judges.label')} lead={t('judges.labelLead')}>
        <RunPick label={t('judges.run')} value={run} onChange={setRun} maw={560} />
      </Page>
    );
  }
  return <Queue key={`${of.kind} ${of.id}`} of={of} />;
}

type Step = { at: number; before: Answer | undefined };
const size = 50;

function Queue({ of }: { of: Subject }) {
  const t = useText();
  const me = useCurrentUser();
  const invalidate = useInvalidate();
  const [strategy, setStrategy] = useParam('strategy', 'random');
  const [judge, setJudge] = useParam('judge');
  const [role, setRole] = useParam('role', 'calibration');
  const [double, setDouble] = useParam('double', '0');
  const [box] = useState(() => new Outbox(me.name, of));
  const out = useOutbox(box);
  useEffect(() => box.open(), [box]);

  const query: NextQuery = {
    n: size,
    strategy: strategy as NextQuery['strategy'],
    role: (strategy === 'disagree' ? 'design' : role) as NextQuery['role'],
    double: Number(double) || 0,
    ...(judge ? { judge } : {}),
  };
  const draw = JSON.stringify(query);
  const place = queryKeys.labelQueue(of, draw);
  const drawn = useQuery({
    queryKey: place,
    queryFn: () => nextTasks(of, query),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const mine = useQuery({
    queryKey: queryKeys.labels(of),
    queryFn: () => labelsOf(of),
    refetchOnWindowFocus: false,
  });

  const [more, setMore] = useState<Task[]>([]);
  const [at, setAt] = useState(0);
  const [labels, setLabels] = useState<Map<string, Answer>>(new Map());
  const [steps, setSteps] = useState<Step[]>([]);
  const [note, setNote] = useState('');
  const [status, setStatus] = useState('');
  const [error, setError] = useState<unknown>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setMore([]);
    setAt(0);
    setSteps([]);
  }, [draw]);

  // Unsent labels of an earlier visit are known here, though the server draws those tasks again.
  const left = useMemo(() => box.unsent(), [box]);
  const tasks = useMemo(
    () => [...(drawn.data ?? []), ...more].filter((x) => !left.get(keyText(x))),
    [drawn.data, more, left],
  );
  const task = tasks[at];
  const verdict = task && labels.get(keyText(task));
  useEffect(() => {
    setNote(verdict?.note ?? '');
  }, [task]); // eslint-disable-line react-hooks/exhaustive-deps -- a note stays during typing

  const remember = (x: Task, s: Answer | undefined) =>
    setLabels((before) => {
      const next = new Map(before);
      if (s) next.set(keyText(x), s);
      else next.delete(keyText(x));
      return next;
    });
  const move = useCallback((to: number) => setAt(Math.min(Math.max(to, 0), tasks.length)), [tasks.length]);
  const labelAs = (pass: boolean) => {
    if (!task) return;
    const s = { pass, note };
    setSteps((list) => [...list, { at, before: verdict }]);
    remember(task, s);
    box.put(task, s);
    setStatus(t(pass ? 'judges.labelledPass' : 'judges.labelledFail', { n: at + 1 }));
    move(at + 1);
  };
  // As skip of the command line: an earlier label is removed, and the task is drawn again.
  const leaveOut = () => {
    if (!task) return;
    setSteps((list) => [...list, { at, before: verdict }]);
    if (verdict) {
      remember(task, undefined);
      box.drop(task);
    }
    setStatus(t('judges.leftOut', { n: at + 1 }));
    move(at + 1);
  };
  const undo = () => {
    const last = steps.at(-1);
    const about = last && tasks[last.at];
    if (!last || !about) return;
    setSteps((list) => list.slice(0, -1));
    remember(about, last.before);
    if (last.before) box.put(about, last.before);
    else if (labels.has(keyText(about))) box.drop(about);
    setStatus(t('judges.undone', { n: last.at + 1 }));
    setAt(last.at);
  };
  const keepNote = () => {
    if (!task || !verdict || verdict.note === note) return;
    const s = { ...verdict, note };
    remember(task, s);
    box.put(task, s);
  };
  const again = async () => {
    setError(null);
    try {
      const got = await nextTasks(of, { ...query, n: 500 });
      const known = new Set(tasks.map(keyText));
      const fresh = got.filter((x) => !known.has(keyText(x)));
      setMore((list) => [...list, ...fresh]);
      const open = tasks.findIndex((x) => !labels.has(keyText(x)));
      if (fresh.length === 0 && open >= 0) setAt(open);
      void invalidate.labels(of);
    } catch (x) {
      setError(x);
    }
  };

  const act = useRef<Record<string, () => void>>({});
  act.current = {
    j: () => move(at + 1),
    ArrowDown: () => move(at + 1),
    k: () => move(at - 1),
    ArrowUp: () => move(at - 1),
    p: () => labelAs(true),
    f: () => labelAs(false),
    u: leaveOut,
    s: leaveOut,
    z: undo,
    n: () => field.current?.focus(),
  };
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        e.defaultPrevented ||
        target.isContentEditable ||
        target.closest('input, textarea, select, [role="dialog"], [role="listbox"], [role="menu"]')
      )
        return;
      const does = act.current[e.key];
      if (!does) return;
      e.preventDefault();
      does();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);

  const done = labels.size;
  const before = (mine.data ?? []).filter((l) => l.by === me.name).length;
  const open = tasks.filter((x) => !labels.has(keyText(x))).length;
  const back = of.kind === 'run' ? `/judges?run=${of.id}&tab=labels` : `/judges?traces=${of.id}&tab=labels`;
  return (
    <Page
      title={t('judges.label')}
      lead={
        <Group gap="xs">
          <Link to={back}>
            {of.kind === 'run' ? t('judges.ofRun', { id: of.id }) : t('judges.ofTraces', { id: of.id })}
          </Link>
          <span>{t('judges.blind')}</span>
        </Group>
      }
      actions={
        <Draw
          of={of}
          strategy={strategy}
          setStrategy={setStrategy}
          judge={judge}
          setJudge={setJudge}
          role={role}
          setRole={setRole}
          double={double}
          setDouble={setDouble}
        />
      }
    >
      <Box role="status" aria-live="polite" className={common.visuallyHidden}>
        {status}
      </Box>
      <Group gap="md" data-done={done} data-waiting={out.waiting}>
        <Progress.Root size={8} style={{ flex: '1 1 160px' }}>
          <Progress.Section value={(100 * done) / Math.max(tasks.length, 1)} aria-label={t('judges.progress')} />
        </Progress.Root>
        <Text size="sm" className={common.num}>
          {t('judges.counts', { done, left: open })}
        </Text>
        <Text size="sm" c="dimmed" className={common.num}>
          {t('judges.countBefore', { n: before })}
        </Text>
        {out.waiting > 0 && (
          <Badge
            leftSection={<IconCloudUpload size={14} aria-hidden />}
            style={out.lost ? { color: 'var(--cv-error)', background: 'var(--cv-error-ground)' } : undefined}
          >
            {out.lost ? t('judges.unsentLost', { n: out.waiting }) : t('judges.unsent', { n: out.waiting })}
          </Badge>
        )}
      </Group>
      {out.refused && (
        <Alert color="red" title={t('judges.refused')} role="alert">
          <Text size="sm" className={common.untrusted}>
            {out.refused.message}
          </Text>
          <Group mt="xs">
            <Button size="xs" onClick={box.retry}>
              {t('common.retry')}
            </Button>
            <Button size="xs" variant="default" onClick={box.discard}>
              {t('judges.discard')}
            </Button>
          </Group>
        </Alert>
      )}
      {drawn.error ? <Failure of={drawn.error} retry={() => drawn.refetch()} /> : null}
      <Failure of={error} retry={again} />
      {drawn.isPending ? (
        <Loading />
      ) : task ? (
        <Box className={classes.grid}>
          <Box
            className={common.card}
            p="lg"
            component="article"
            aria-label={t('judges.task', { n: at + 1, of: tasks.length })}
          >
            <Group justify="space-between" mb="md">
              <Title order={2}>{t('judges.task', { n: at + 1, of: tasks.length })}</Title>
              {verdict && <Verdict of={verdict.pass ? 'pass' : 'fail'} />}
            </Group>
            <Stack gap="lg">
              {task.turns?.length ? (
                <Whole of={task} turns={task.turns} />
              ) : (
                <>
                  <Part title={t('judges.goal')}>
                    {task.goal ? <LongText text={task.goal} /> : <Nothing text={t('judges.noGoal')} />}
                  </Part>
                  <Part title={t('judges.steps')}>
                    {task.steps?.length ? (
                      <ol className={classes.steps}>
                        {task.steps.map((s, i) => (
                          <li key={i}>
                            <LongText text={s} mono />
                          </li>
                        ))}
                      </ol>
                    ) : (
                      <Nothing text={t('judges.noSteps')} />
                    )}
                  </Part>
                  <Part title={t('judges.answer')}>
                    {task.answer ? <LongText text={task.answer} /> : <Nothing text={t('judges.noAnswer')} />}
                  </Part>
                </>
              )}
            </Stack>
          </Box>
          <Stack gap="sm">
            <Choice
              letter="p"
              chosen={verdict?.pass === true}
              color="var(--cv-pass)"
              icon={<IconCheck size={18} aria-hidden />}
              text={t('common.pass')}
              onClick={() => labelAs(true)}
            />
            <Choice
              letter="f"
              chosen={verdict?.pass === false}
              color="var(--cv-fail)"
              icon={<IconX size={18} aria-hidden />}
              text={t('common.fail')}
              onClick={() => labelAs(false)}
            />
            <Choice
              letter="u"
              chosen={false}
              color="var(--cv-none)"
              icon={<IconHelp size={18} aria-hidden />}
              text={t('judges.unsure')}
              onClick={leaveOut}
            />
            <Textarea
              ref={field}
              label={
                <>
                  {t('judges.note')} <Kbd size="xs">n</Kbd>
                </>
              }
              description={t('judges.noteHint')}
              autosize
              minRows={2}
              maxRows={8}
              value={note}
              onChange={(e) => setNote(e.currentTarget.value)}
              onBlur={keepNote}
              onKeyDown={(e) => {
                if (e.key === 'Escape' || (e.key === 'Enter' && !e.shiftKey)) {
                  e.preventDefault();
                  e.stopPropagation();
                  e.currentTarget.blur();
                }
              }}
            />
            <Group gap="xs" grow>
              <Button
                variant="default"
                onClick={() => move(at - 1)}
                disabled={at === 0}
                rightSection={<Kbd size="xs">k</Kbd>}
              >
                {t('common.previous')}
              </Button>
              <Button variant="default" onClick={() => move(at + 1)} rightSection={<Kbd size="xs">j</Kbd>}>
                {t('common.next')}
              </Button>
            </Group>
            <Button
              variant="subtle"
              leftSection={<IconArrowBackUp size={16} aria-hidden />}
              rightSection={<Kbd size="xs">z</Kbd>}
              disabled={steps.length === 0}
              onClick={undo}
            >
              {t('judges.undoLabel')}
            </Button>
          </Stack>
        </Box>
      ) : drawn.data ? (
        <Empty
          title={
            open > 0
              ? t('judges.skipped', { n: open })
              : tasks.length === 0
                ? t('judges.allLabelled')
                : t('judges.drawDone', { n: done })
          }
          text={out.waiting > 0 ? t('judges.unsent', { n: out.waiting }) : undefined}
        >
          <Button onClick={again}>{t('judges.drawMore')}</Button>
          <Button variant="default" component={Link} to={back.replace('labels', 'calibration')}>
            {t('judges.toCalibration')}
          </Button>
        </Empty>
      ) : null}
    </Page>
  );
}

/** Whole is a task as a conversation, with the goal and the answer if the conversation does not contain them. */
function Whole({ of: task, turns }: { of: Task; turns: Turn[] }) {
  const t = useText();
  const isInTurns = (role: Turn['role'], text: string) =>
    turns.some((x) => x.role === role && (x.content ?? '').includes(text));
  const asked = turns
    .filter((x) => x.role === 'user')
    .map((x) => x.content ?? '')
    .join('\n');
  return (
    <>
      {task.goal && !asked.includes(task.goal) && (
        <Part title={t('judges.goal')}>
          <LongText text={task.goal} />
        </Part>
      )}
      <Conversation turns={turns} />
      {task.answer ? (
        !isInTurns('assistant', task.answer) && (
          <Part title={t('judges.answer')}>
            <LongText text={task.answer} />
          </Part>
        )
      ) : (
        <Nothing text={t('judges.noAnswer')} />
      )}
    </>
  );
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

function Nothing({ text }: { text: string }) {
  return (
    <Text size="sm" c="dimmed" fs="italic">
      {text}
    </Text>
  );
}

function Choice({
  letter,
  chosen,
  color,
  icon,
  text,
  onClick,
}: {
  letter: string;
  chosen: boolean;
  color: string;
  icon: ReactNode;
  text: string;
  onClick: () => void;
}) {
  return (
    <Button
      size="md"
      variant="default"
      fullWidth
      justify="space-between"
      aria-pressed={chosen}
      aria-keyshortcuts={letter}
      leftSection={<Box style={{ color, display: 'flex' }}>{icon}</Box>}
      rightSection={<Kbd size="xs">{letter}</Kbd>}
      onClick={onClick}
      style={chosen ? { borderColor: color, boxShadow: `inset 0 0 0 1px ${color}` } : undefined}
    >
      {text}
    </Button>
  );
}

type DrawProps = {
  of: Subject;
  strategy: string;
  setStrategy: (v: string) => void;
  judge: string;
  setJudge: (v: string) => void;
  role: string;
  setRole: (v: string) => void;
  double: string;
  setDouble: (v: string) => void;
};

/** Draw chooses how tasks are drawn, and the purpose of the labels. */
function Draw({ of, strategy, setStrategy, judge, setJudge, role, setRole, double, setDouble }: DrawProps) {
  const t = useText();
  const judgings = $api.useQuery(
    'get',
    '/api/runs/{id}/judgings',
    { params: { path: { id: of.id } } },
    { enabled: of.kind === 'run' },
  );
  const names = [...new Set((judgings.data?.items ?? []).filter((j) => !j.problem).map((j) => j.judge.judge))];
  return (
    <Popover position="bottom-end" width={340} withArrow trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconAdjustments size={16} aria-hidden />}>
          {t('judges.draw')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('judges.draw')}>
        <Stack gap="sm">
          <Select
            comboboxProps={{ withinPortal: false }}
            label={t('judges.strategy')}
            description={t(`judges.about_${strategy as 'random' | 'neyman' | 'disagree'}`)}
            allowDeselect={false}
            value={strategy}
            onChange={(v) => setStrategy(v ?? 'random')}
            data={(['random', 'neyman', 'disagree'] as const).map((v) => ({ value: v, label: t(`judges.${v}`) }))}
          />
          {strategy === 'neyman' &&
            (names.length > 0 ? (
              <Select
                comboboxProps={{ withinPortal: false }}
                label={t('judges.judge')}
                data={names}
                value={judge || null}
                onChange={(v) => setJudge(v ?? '')}
                clearable
              />
            ) : (
              <TextInput label={t('judges.judge')} value={judge} onChange={(e) => setJudge(e.currentTarget.value)} />
            ))}
          <Select
            comboboxProps={{ withinPortal: false }}
            label={t('judges.role')}
            description={t('judges.roleHint')}
            allowDeselect={false}
            disabled={strategy === 'disagree'}
            value={strategy === 'disagree' ? 'design' : role}
            onChange={(v) => setRole(v ?? 'calibration')}
            data={(['calibration', 'validation', 'test', 'design'] as const).map((v) => ({
              value: v,
              label: t(`judges.role_${v}`),
            }))}
          />
          <NumberInput
            label={t('judges.double')}
            description={t('judges.doubleHint')}
            suffix=" %"
            min={0}
            max={100}
            step={10}
            value={Math.round(Number(double) * 100)}
            onChange={(v) => setDouble(String((Number(v) || 0) / 100))}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
