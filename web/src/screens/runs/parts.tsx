// Pieces that the screens of runs share.
import { Box, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { Schemas } from '../../api/client';
import { type TextKey, useText } from '../../text';
import type { VerdictName } from '../../ui/verdict';
import { number } from '../../ui/format';
import common from '../../ui/common.module.css';

export type Verdicts = Schemas['PanelVerdicts'];
export type Report = Schemas['ReportDocument'];
export type TargetPanel = Schemas['PanelTargetPanel'];
export type Metric = Schemas['PanelMetric'];
export type Attempt = Schemas['ReportRecord'];

const order: VerdictName[] = ['pass', 'fail', 'error', 'not_run'];
const fills: Record<VerdictName, string> = {
  pass: 'var(--cv-pass)',
  fail: 'var(--cv-fail)',
  error: 'var(--cv-error)',
  not_run: 'var(--cv-line)',
};

/** VerdictBar draws counts of verdicts side by side, with passes and the total as text. */
export function VerdictBar({ of: v, width = 96 }: { of: Verdicts; width?: number }) {
  const t = useText();
  const total = v.pass + v.fail + v.error + v.not_run;
  let x = 0;
  const label = t('results.bar', { pass: v.pass, fail: v.fail, error: v.error, not_run: v.not_run });
  return (
    <Tooltip label={label}>
      <Box
        component="span"
        className={common.num}
        style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}
        role="img"
        aria-label={label}
      >
        <svg width={width} height={8} aria-hidden="true" focusable="false" style={{ flex: 'none', borderRadius: 4 }}>
          <rect width={width} height={8} fill="var(--cv-line)" />
          {order.map((name) => {
            const w = total === 0 ? 0 : (v[name] / total) * width;
            const at = x;
            x += w;
            return w > 0 && <rect key={name} x={at} width={w} height={8} fill={fills[name]} />;
          })}
        </svg>
        <Text span size="sm" aria-hidden>
          {number(v.pass)}
          <Text span size="xs" c="dimmed">
            {' '}
            / {number(total)}
          </Text>
        </Text>
      </Box>
    </Tooltip>
  );
}

/** Caveats are the warnings of a number, next to it. */
export function Caveats({ of: list }: { of: string[] | null | undefined }) {
  if (!list?.length) return null;
  return (
    <Tooltip label={list.join('; ')} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
      <Box
        component="span"
        tabIndex={0}
        role="img"
        aria-label={list.join('; ')}
        c="var(--cv-error)"
        style={{ display: 'inline-flex' }}
      >
        <IconAlertTriangle size={14} aria-hidden />
      </Box>
    </Tooltip>
  );
}

/** withSpaces writes the class of an error in words: wrong_tool becomes wrong tool. */
export function withSpaces(name: string): string {
  return name.replaceAll('_', ' ');
}

export const outcomes = ['called', 'abstained', 'unparseable', 'error', 'not_run'] as const;
export const verdictNames = order;

/** metricOf finds a measure of a slice. */
export function metricOf(list: Metric[] | null | undefined, ...names: string[]): Metric | undefined {
  for (const n of names) {
    const m = list?.find((x) => x.name === n);
    if (m && m.interval.point !== null) return m;
  }
  return undefined;
}

/** sumOf adds the verdicts of targets; verdictsOf adds those of all targets except floors. */
export function sumOf(targets: TargetPanel[]): Verdicts {
  const sum = { pass: 0, fail: 0, error: 0, not_run: 0 };
  for (const x of targets) for (const k of order) sum[k] += x.overall.verdicts[k];
  return sum;
}
export function verdictsOf(p: Schemas['PanelPanels']): Verdicts {
  const targets = p.targets ?? [];
  const models = targets.filter((x) => !x.floor);
  return sumOf(models.length > 0 ? models : targets);
}

/** The filters of attempts, with their names in the address and on the server. */
export type Filters = {
  verdict: string[];
  outcome: string[];
  class: string[];
  reason: string[];
  target: string[];
  tag: string[];
  search: string;
  disagree: boolean;
  expected: string;
  called: string;
  sort: string;
};

/** Former names of two classes, for old addresses. */
const earlierClasses: Record<string, string> = {
  tool_hallucination: 'unknown_tool',
  argument_hallucination: 'unknown_argument',
};

export function readFilters(p: URLSearchParams): Filters {
  const list = (name: string) => p.getAll(name).filter((x) => x !== '');
  return {
    verdict: list('verdict'),
    outcome: list('outcome'),
    class: list('class').map((c) => earlierClasses[c] ?? c),
    reason: list('reason'),
    target: list('target'),
    tag: list('tag'),
    search: p.get('search') ?? '',
    disagree: p.get('disagree') === 'true',
    expected: p.get('expected') ?? '',
    called: p.get('called') ?? '',
    sort: p.get('sort') ?? '',
  };
}

const filterNames = [
  'verdict',
  'outcome',
  'class',
  'reason',
  'target',
  'tag',
  'search',
  'disagree',
  'expected',
  'called',
  'sort',
];

/** writeFilters returns the part of an address with the filters. */
export function writeFilters(f: Partial<Filters>): URLSearchParams {
  const p = new URLSearchParams();
  for (const name of filterNames) {
    const v = f[name as keyof Filters];
    if (Array.isArray(v)) for (const x of v) p.append(name, x);
    else if (v) p.set(name, String(v));
  }
  return p;
}

/** QueryOptions delay a list's query (enabled), or load it without rendering its pages (notifyOnChangeProps). */
export type QueryOptions = { enabled?: boolean; notifyOnChangeProps?: [] };

/** useFilters returns the filters of the address, a function to change only them, and whether any is set. */
export function useFilters(): [Filters, (part: Partial<Filters>, how?: { replace?: boolean }) => void, boolean] {
  const [params, set] = useSearchParams();
  const text = params.toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(text)), [text]);
  const change = (part: Partial<Filters>, how?: { replace?: boolean }) =>
    set(
      (before) => {
        const next = new URLSearchParams(before);
        for (const name of filterNames) next.delete(name);
        for (const [k, v] of writeFilters({ ...readFilters(before), ...part })) next.append(k, v);
        return next;
      },
      { replace: how?.replace ?? false, preventScrollReset: true },
    );
  const any = filterNames.some((n) => n !== 'sort' && params.has(n));
  return [filters, change, any];
}

/** cellsQuery returns the parameters of a request for attempts. */
export function cellsQuery(f: Filters) {
  const down = f.sort.startsWith('-');
  const sort = f.sort.replace('-', '') as 'case' | 'score' | 'cost' | 'class' | '';
  return {
    verdict: f.verdict.length ? f.verdict : undefined,
    outcome: f.outcome.length ? f.outcome : undefined,
    class: f.class.length ? f.class : undefined,
    reason: f.reason.length ? f.reason : undefined,
    target: f.target.length ? f.target : undefined,
    tag: f.tag.length ? f.tag : undefined,
    search: f.search || undefined,
    disagree: f.disagree || undefined,
    expected: f.called ? f.expected : undefined,
    called: f.called || undefined,
    sort: sort || undefined,
    descending: down || undefined,
    limit: 100,
  };
}

/** caseLink returns the address of an attempt, with the filters of the list around it. */
export function caseLink(
  run: string,
  a: { case: string; target?: string; repeat?: number },
  from?: Partial<Filters>,
): string {
  const p = new URLSearchParams({ case: a.case });
  if (a.target) p.set('target', a.target);
  if (a.repeat) p.set('repeat', String(a.repeat));
  const list = from ? writeFilters(from).toString() : '';
  if (list) p.set('in', list);
  return `/runs/${encodeURIComponent(run)}/case?${p}`;
}

export function statusText(t: (k: TextKey) => string, status: string): string | null {
  const words: Record<string, TextKey> = {
    queued: 'results.queued',
    running: 'results.running',
    cancelled: 'results.cancelled',
    interrupted: 'results.interrupted',
    budget: 'results.budget',
    failed: 'results.failedRun',
  };
  return words[status] ? t(words[status]) : null;
}

/** asVerdict returns the verdict of an attempt; an unknown one means not run. */
export function asVerdict(v: string): VerdictName {
  return (order as string[]).includes(v) ? (v as VerdictName) : 'not_run';
}
