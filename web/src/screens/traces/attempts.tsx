// The attempts of a collection, page by page. Texts of models and tools are shown as plain text.
import { Badge, Box, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { $api, type Schemas } from '../../api/client';
import { type TextKey, useText } from '../../text';
import { Empty, Failure, Loading } from '../../ui/status';
import { Verdict } from '../../ui/verdict';
import { type Call, LongText, CallView, prettyJson } from '../../ui/conversation';
import { duration } from '../../ui/format';
import { useParam } from '../../ui/params';
import { withSpaces } from '../runs/parts';
import classes from './traces.module.css';
import common from '../../ui/common.module.css';

/** A step or a task record, as the schema of traces has it. */
type Step = {
  type: 'step';
  task_id: string;
  attempt?: number;
  target?: string;
  call_id?: string;
  tool: string;
  args?: unknown;
  args_raw?: string;
  status?: string;
  result?: unknown;
  error?: unknown;
  env?: string;
  latency_ms?: { queue?: number; exec?: number };
  gold?: { needed?: boolean; tool?: string; args?: unknown } | null;
};
type Task = {
  type: 'task';
  task_id: string;
  attempt?: number;
  target?: string;
  goal?: string;
  pass?: boolean;
  outcome?: string;
  reason?: string;
  notes?: string[];
  finish_reason?: string;
  final_answer?: string;
  wall_ms?: number;
  tags?: string[];
  input?: { role: string; content?: string }[];
  fault?: { kind?: string; message?: string };
};

function read(a: Schemas['AppTracedAttempt'] | null): { steps: Step[]; task: Task | undefined } {
  const records = (a?.records ?? []) as (Step | Task)[];
  return {
    steps: records.filter((r): r is Step => r.type !== 'task'),
    task: records.find((r): r is Task => r.type === 'task'),
  };
}

export function AttemptsTab({ id }: { id: string }) {
  const t = useText();
  const [open, setOpen] = useParam('attempt');
  const list = $api.useInfiniteQuery(
    'get',
    '/api/traces/{id}/attempts',
    { params: { path: { id }, query: { limit: 50 } } },
    { pageParamName: 'cursor', initialPageParam: 0, getNextPageParam: (p) => p.next_cursor },
  );
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const all = list.data.pages.flatMap((p) => p.items ?? []).map(read);
  if (all.length === 0) return <Empty title={t('traces.noAttempts')} text={t('traces.noAttemptsText')} />;
  return (
    <Stack>
      <Box className={`${common.card} ${classes.stripes}`}>
        {all.map(({ steps, task }, i) => {
          const one = task ?? steps[0];
          const name = one?.task_id ?? String(i + 1);
          const key = `${name}#${one?.attempt ?? 0}${one?.target ? `@${one.target}` : ''}`;
          return (
            <Attempt
              key={`${key}-${i}`}
              name={name}
              steps={steps}
              task={task}
              open={open === key}
              toggle={() => setOpen(open === key ? null : key, { replace: true })}
            />
          );
        })}
      </Box>
      {list.hasNextPage && (
        <Button
          variant="default"
          onClick={() => list.fetchNextPage()}
          loading={list.isFetchingNextPage}
          style={{ alignSelf: 'center' }}
        >
          {t('common.more')}
        </Button>
      )}
    </Stack>
  );
}

function Attempt({
  name,
  steps,
  task,
  open,
  toggle,
}: {
  name: string;
  steps: Step[];
  task: Task | undefined;
  open: boolean;
  toggle: () => void;
}) {
  const t = useText();
  const Chevron = open ? IconChevronDown : IconChevronRight;
  const target = task?.target ?? steps[0]?.target;
  const attempt = task?.attempt ?? steps[0]?.attempt ?? 0;
  const asked = task?.goal ?? [...(task?.input ?? [])].reverse().find((m) => m.role === 'user')?.content;
  return (
    <Box>
      <UnstyledButton w="100%" p="sm" onClick={toggle} aria-expanded={open}>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Chevron size={18} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          <Box style={{ minWidth: 0, flex: 1 }}>
            <Group gap={8}>
              <Text size="sm" fw={600} className={common.untrusted}>
                {name}
              </Text>
              {attempt > 0 && <Badge color="gray">{t('traces.attemptNo', { n: attempt + 1 })}</Badge>}
              {target && <Badge color="gray">{target}</Badge>}
              {task?.fault || task?.outcome === 'error' ? (
                <Verdict of="error" />
              ) : (
                task?.pass !== undefined && task.pass !== null && <Verdict of={task.pass ? 'pass' : 'fail'} />
              )}
            </Group>
            <Text
              size="sm"
              c="dimmed"
              className={`${common.mono} ${common.untrusted}`}
              lineClamp={open ? undefined : 1}
            >
              {steps.length > 0
                ? steps.map((s) => s.tool).join(' → ')
                : t(withoutCall[task?.outcome ?? ''] ?? 'traces.noCall')}
            </Text>
          </Box>
          {task?.wall_ms !== undefined && (
            <Text size="xs" c="dimmed" className={common.num}>
              {duration(task.wall_ms)}
            </Text>
          )}
        </Group>
      </UnstyledButton>
      {open && (
        <Stack gap="sm" px="md" pb="md" pl={42}>
          {asked && <Said what={t('traces.input')} text={asked} />}
          {steps.map((s, i) => (
            <Box key={i}>
              <CallView call={callOf(s)} />
              {s.gold && <Gold of={s} />}
            </Box>
          ))}
          {task?.final_answer && <Said what={t('traces.answer')} text={task.final_answer} />}
          {task?.reason && <Said what={t('results.unread')} text={withSpaces(task.reason)} />}
          {task?.finish_reason && <Said what={t('results.finishReason')} text={task.finish_reason} />}
          {(task?.notes ?? []).length > 0 && <Said what={t('results.evidenceNotes')} text={task!.notes!.join('\n')} />}
          {task?.fault && (
            <Said
              what={t('traces.error')}
              text={[task.fault.kind && withSpaces(task.fault.kind), task.fault.message].filter(Boolean).join(': ')}
            />
          )}
          {(task?.tags ?? []).length > 0 && (
            <Text size="xs" c="dimmed" className={common.untrusted}>
              {t('traces.tags')}: {task!.tags!.join(', ')}
            </Text>
          )}
        </Stack>
      )}
    </Box>
  );
}

/** The kind of an attempt without calls: it needed none only if its outcome is marked so. */
const withoutCall: Record<string, TextKey> = {
  unparseable: 'results.unparseable',
  error: 'results.error',
  not_run: 'results.not_run',
};

function callOf(s: Step): Call {
  const { tool, args, args_raw, status, result, error, env, latency_ms } = s;
  return {
    tool,
    args,
    args_raw,
    status,
    result: result ?? undefined,
    error: error === undefined || error === null ? undefined : typeof error === 'string' ? error : prettyJson(error),
    env,
    queue_ms: latency_ms?.queue,
    exec_ms: latency_ms?.exec,
  } as Call;
}

/** Gold shows the right call according to people. */
function Gold({ of: s }: { of: Step }) {
  const t = useText();
  const g = s.gold!;
  return (
    <Box pl={23}>
      <Text size="xs" c="dimmed">
        {t('traces.expected')}
      </Text>
      <Text component="pre" m={0} className={`${common.mono} ${common.untrusted}`}>
        {g.needed === false
          ? t('traces.noCall')
          : [g.tool && g.tool !== s.tool ? g.tool : '', g.args === undefined ? '' : prettyJson(g.args)]
              .filter(Boolean)
              .join(' ') ||
            (g.tool ?? '')}
      </Text>
    </Box>
  );
}

function Said({ what, text }: { what: string; text: string }) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {what}
      </Text>
      <LongText text={text} />
    </Box>
  );
}
