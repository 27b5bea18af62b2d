// A recorded conversation: turns, calls with arguments and results. All of it is untrusted text of models and
// tools: it is shown as text, without links.
import { Badge, Box, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconMessage, IconRobot, IconSettings, IconTool } from '@tabler/icons-react';
import { useState } from 'react';
import type { Schemas } from '../api/client';
import { type TextKey, useText } from '../text';
import { duration } from './format';
import { VisibleText } from './visible';
import classes from './conversation.module.css';
import common from './common.module.css';

export type Call = Schemas['CallvetCall'];
/** A turn of the API, in the input of a case or in the trace of an attempt. */
export type Turn = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: string;
  reasoning?: string;
  calls?: Call[];
  call_id?: string;
  tool?: string;
};

/** prettyJson writes a value as JSON, in one line if it is short. A text that is JSON is formatted, too. */
export function prettyJson(v: unknown): string {
  let value = v;
  if (typeof v === 'string') {
    if (!/^\s*[[{]/.test(v)) return v;
    try {
      value = JSON.parse(v);
    } catch {
      return v;
    }
  }
  const line = JSON.stringify(value) ?? '';
  return line.length <= 72 ? line : (JSON.stringify(value, null, 2) ?? '');
}

/** LongText is the text of a model, a tool or a user; a long one is cut until the user asks for all. */
export function LongText({ text, mono, most = 1500 }: { text: string; mono?: boolean; most?: number }) {
  const t = useText();
  const [all, setAll] = useState(false);
  const lines = text.split('\n');
  const cut = text.length > most || lines.length > 30;
  const shown = cut && !all ? lines.slice(0, 30).join('\n').slice(0, most) : text;
  return (
    <Box>
      <Text
        component={mono ? 'pre' : 'div'}
        m={0}
        size="sm"
        className={mono ? `${common.mono} ${common.untrusted}` : common.untrusted}
      >
        <VisibleText text={shown} />
        {cut && !all && '…'}
      </Text>
      {cut && (
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)" mt={2} onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? t('conversation.showLess') : t('conversation.showAll', { n: text.length })}
        </UnstyledButton>
      )}
    </Box>
  );
}

const icons = { system: IconSettings, user: IconMessage, assistant: IconRobot, tool: IconTool };
const tones: Record<string, [string, string]> = {
  ok: ['var(--cv-pass)', 'var(--cv-pass-ground)'],
  rejected_by_contract: ['var(--cv-error)', 'var(--cv-error-ground)'],
  exec_error: ['var(--cv-fail)', 'var(--cv-fail-ground)'],
  timeout: ['var(--cv-fail)', 'var(--cv-fail-ground)'],
};

/** CallStatus shows in a word how a call ended. */
export function CallStatus({ status }: { status?: string }) {
  const t = useText();
  const [color, background] = tones[status ?? ''] ?? ['var(--cv-none)', 'var(--cv-none-ground)'];
  const word =
    status === undefined || status === ''
      ? t('conversation.notExecuted')
      : status in tones
        ? t(`conversation.${status}` as TextKey)
        : status;
  return <Badge style={{ color, background }}>{word}</Badge>;
}

/** CallView shows a call with its arguments and the result that was sent to the model. */
export function CallView({ call, result }: { call: Call; result?: string }) {
  const t = useText();
  const time = (call.queue_ms ?? 0) + (call.exec_ms ?? 0);
  const args =
    call.args_raw && call.args === undefined ? call.args_raw : call.args === undefined ? '' : prettyJson(call.args);
  const answer = result ?? (call.result === undefined ? undefined : prettyJson(call.result));
  return (
    <Box className={classes.call} data-tool-call>
      <Group gap="xs" wrap="wrap">
        <IconTool size={15} aria-hidden />
        <Text span fw={600} className={`${common.mono} ${common.untrusted}`}>
          <VisibleText text={call.tool} />
        </Text>
        <CallStatus status={call.status} />
        {time > 0 && (
          <Text span size="xs" c="dimmed" className={common.num}>
            {duration(time)}
          </Text>
        )}
        {call.env && (
          <Text span size="xs" c="dimmed">
            {t('conversation.answeredBy', { env: call.env })}
          </Text>
        )}
      </Group>
      <Box className={classes.callPart}>
        <Text size="xs" c="dimmed">
          {call.args_raw && call.args === undefined ? t('conversation.unreadable') : t('conversation.arguments')}
        </Text>
        {args === '' || args === '{}' ? (
          <Text size="sm" c="dimmed">
            {t('conversation.noArguments')}
          </Text>
        ) : (
          <LongText text={args} mono />
        )}
      </Box>
      {answer !== undefined && answer !== '' && (
        <Box className={classes.callPart}>
          <Text size="xs" c="dimmed">
            {t('conversation.result')}
          </Text>
          <LongText text={prettyJson(answer)} mono />
        </Box>
      )}
      {call.error && !(answer ?? '').includes(call.error) && (
        <Box className={classes.callPart}>
          <Text size="xs" c="var(--cv-fail)">
            {t('conversation.error')}
          </Text>
          <LongText text={call.error} />
        </Box>
      )}
      {(call.repairs ?? []).length > 0 && (
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {t('conversation.repairs', { what: call.repairs!.join(', ') })}
        </Text>
      )}
      {(call.guard ?? []).map((g, i) => (
        <Group key={i} gap={6} wrap="nowrap" c="var(--cv-error)">
          <IconAlertTriangle size={14} aria-hidden />
          <Text size="xs" className={common.untrusted}>
            {t('conversation.guard', { rule: g.rule, action: g.action })} {g.detail}
          </Text>
        </Group>
      ))}
      {call.note && (
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {call.note}
        </Text>
      )}
    </Box>
  );
}

/** Answers has the results of tools by call; alone has the tool turns that answer no call. */
type Answers = { of: Map<Call, string>; alone: Set<Turn> };

/**
 * answersOf joins each answer of a tool to a call before it. Ids of calls may repeat, so a call has
 * one answer: the next with its id, or without ids the next in order.
 */
export function answersOf(turns: Turn[]): Answers {
  const out: Answers = { of: new Map(), alone: new Set() };
  let open: Call[] = [];
  for (const x of turns) {
    if (x.role !== 'tool') {
      if ((x.calls ?? []).length > 0) open = [...(x.calls ?? []), ...open]; // calls of the last turn first
      continue;
    }
    const call = open.find((c) => (x.call_id ? c.id === x.call_id : !x.tool || c.tool === x.tool));
    if (!call) {
      out.alone.add(x);
      continue;
    }
    out.of.set(call, x.content ?? '');
    open = open.filter((c) => c !== call);
  }
  return out;
}

/** Conversation shows turns from top to bottom, and results of tools with their calls. */
export function Conversation({ turns, label }: { turns: Turn[]; label?: string }) {
  const t = useText();
  if (turns.length === 0) return <Text c="dimmed">{t('conversation.empty')}</Text>;
  const answers = answersOf(turns);
  const shown = turns.filter((x) => x.role !== 'tool' || answers.alone.has(x));
  return (
    <Stack
      component="ol"
      gap="sm"
      m={0}
      p={0}
      aria-label={label ?? t('conversation.label')}
      style={{ listStyle: 'none' }}
    >
      {shown.map((x, i) => {
        const Icon = icons[x.role] ?? IconMessage;
        const silent = !x.content && !x.reasoning && (x.calls ?? []).length === 0;
        return (
          <li
            key={i}
            className={x.role === 'user' ? `${classes.turn} ${classes.userTurn}` : classes.turn}
            data-role={x.role}
          >
            <Group gap={6} mb={4} c="dimmed">
              <Icon size={14} aria-hidden />
              <Text size="xs" fw={600}>
                {t(`conversation.${x.role}` as TextKey)}
                {x.tool ? `: ${x.tool}` : ''}
              </Text>
            </Group>
            {x.reasoning && (
              <Box className={classes.callPart}>
                <Text size="xs" c="dimmed">
                  {t('conversation.reasoning')}
                </Text>
                <LongText text={x.reasoning} />
              </Box>
            )}
            {x.content && (
              <LongText text={x.role === 'tool' ? prettyJson(x.content) : x.content} mono={x.role === 'tool'} />
            )}
            {(x.calls ?? []).map((c, j) => (
              <CallView key={j} call={c} result={answers.of.get(c)} />
            ))}
            {silent && (
              <Text size="sm" c="dimmed">
                {t('conversation.nothingSaid')}
              </Text>
            )}
          </li>
        );
      })}
    </Stack>
  );
}

/**
 * Timeline draws calls over time, a bar each: light while it waited, full while it ran. Without recorded starts all
 * bars begin at 0.
 */
export function Timeline({ calls }: { calls: Call[] }) {
  const t = useText();
  const timed = calls.some((c) => (c.exec_ms ?? 0) + (c.queue_ms ?? 0) > 0);
  if (!timed) return null;
  const end = Math.max(...calls.map((c) => (c.start_ms ?? 0) + (c.queue_ms ?? 0) + (c.exec_ms ?? 0)));
  const width = 240;
  const x = (ms: number) => (ms / end) * width;
  return (
    <Stack component="ol" gap={4} m={0} p={0} aria-label={t('conversation.timeline')} style={{ listStyle: 'none' }}>
      {calls.map((c, i) => {
        const [start, wait, run] = [c.start_ms ?? 0, c.queue_ms ?? 0, c.exec_ms ?? 0];
        return (
          <Group component="li" key={i} gap="sm" wrap="nowrap">
            <Text size="xs" className={`${common.mono} ${common.untrusted}`} w={160} truncate>
              {c.tool}
            </Text>
            <svg width={width} height={12} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
              <line x1={0} x2={width} y1={6} y2={6} stroke="var(--cv-line)" />
              {wait > 0 && (
                <rect
                  x={x(start)}
                  y={2}
                  width={Math.max(1, x(wait))}
                  height={8}
                  rx={2}
                  fill="var(--cv-mark)"
                  fillOpacity={0.3}
                />
              )}
              {run > 0 && (
                <rect
                  x={x(start + wait)}
                  y={2}
                  width={Math.max(2, x(run))}
                  height={8}
                  rx={2}
                  fill={c.error ? 'var(--cv-fail)' : 'var(--cv-mark)'}
                />
              )}
            </svg>
            <Text size="xs" c="dimmed" className={common.num}>
              {run > 0 ? t('conversation.took', { time: duration(run) }) : t('conversation.noTime')}
              {wait > 0 && `, ${t('conversation.waited', { time: duration(wait) })}`}
            </Text>
          </Group>
        );
      })}
    </Stack>
  );
}
