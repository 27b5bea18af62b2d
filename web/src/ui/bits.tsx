// Small pieces that every screen uses: numbers with their intervals, verdicts, errors, empty states.
import { Alert, Badge, Box, Button, Group, List, Loader, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { problemOf, type Schemas } from '../api/client';
import { type T, useText } from '../text';
import { number } from './format';

export type Interval = Schemas['Interval'];
export type Metric = Schemas['PanelMetric'];
export type VerdictName = 'pass' | 'fail' | 'error' | 'not_run';

/** inUnit writes a value of the API: rates as per cent, all else with its unit. */
export function inUnit(v: number | null | undefined, unit: string): string {
  if (v === null || v === undefined) return '–';
  if (unit === 'rate' || unit === 'share' || unit === 'score' || unit === '') return `${number(v * 100, 1)} %`;
  if (unit === 'count') return number(v, 2);
  return `${number(v, unit === 'usd' ? 4 : 1)} ${unit}`;
}

/** sentence tells an interval in words, for tooltips and screen readers. */
export function sentence(t: T, i: Interval, unit = 'rate'): string {
  if (i.method === 'fact') return t('common.fact');
  if (i.lower === null || i.upper === null) return t('common.noInterval', { n: i.n, status: i.status });
  return t('common.interval', {
    confidence: number(i.confidence * 100, 0),
    lower: inUnit(i.lower, unit),
    upper: inUnit(i.upper, unit),
    n: i.n,
  });
}

/** withInterval is a rate with its interval in words, for running text. */
export function withInterval(t: T, i: Interval | null | undefined): string {
  return i ? `${inUnit(i.point, 'rate')} (${sentence(t, i)})` : '–';
}

type Counted = Partial<Pick<Metric, 'values' | 'labelled' | 'of'>>;

/** counted is what n counts: values of a measure, one attempt a task where attempts agree, or people's labels. */
function counted(t: T, i: Interval, m: Counted | undefined, each: 'Cases' | 'Tasks'): string {
  if (m?.labelled)
    return t(m.labelled.elsewhere ? 'common.labelsElsewhere' : 'common.labelsOf', {
      n: number(i.n),
      tasks: number(m.labelled.tasks),
    });
  if (m?.values) return t(`common.agree${each}`, { n: number(i.n), values: number(m.values), of: m.of ?? '' });
  return size(t, i, each, m?.of);
}

/** size is n in one unit everywhere, cases or tasks, with what each of them has several of in words. */
export function size(t: T, i: Interval, each: 'Cases' | 'Tasks' = 'Cases', of?: string): string {
  return i.clusters > 0 && i.clusters !== i.n
    ? t(`common.n${each}`, { n: number(i.clusters), values: number(i.n), of: of || t('common.values') })
    : `n = ${number(i.n)}`;
}

/**
 * Figure is a number with its interval and n, always together: on one line, or the interval below the number (stack). With the
 * measure that it is of, n has the number of values beside it where attempts at a task agree, so that the interval counts one of them,
 * and the number of tasks where people's labels are counted.
 */
export function Figure({
  interval: i,
  of: m,
  each = 'Cases',
  unit = 'rate',
  size: height = 'sm',
  bar = false,
  stack = false,
}: {
  interval: Interval | undefined;
  of?: Counted;
  each?: 'Cases' | 'Tasks';
  unit?: string;
  size?: 'sm' | 'lg';
  bar?: boolean;
  stack?: boolean;
}) {
  const t = useText();
  if (!i || i.point === null) {
    return (
      <Text span size="sm" c="dimmed">
        {t('common.notScored')}
      </Text>
    );
  }
  const isRate = unit === 'rate' || unit === 'share' || unit === 'score' || unit === '';
  const head = (
    <>
      <Text span fw={600} fz={height === 'lg' ? 26 : 'sm'}>
        {inUnit(i.point, unit)}
      </Text>
      {bar && isRate && <Whisker interval={i} width={stack ? 64 : 96} />}
    </>
  );
  return (
    <Tooltip
      label={[
        i.method ? `${sentence(t, i, unit)} (${i.method})` : sentence(t, i, unit),
        m?.values && t('common.agreeText'),
      ]
        .filter(Boolean)
        .join('. ')}
      multiline
      maw={420}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Box
        component="span"
        className="num"
        style={{
          display: 'inline-flex',
          flexDirection: stack ? 'column' : 'row',
          alignItems: stack ? 'flex-start' : 'center',
          gap: stack ? 0 : 8,
        }}
      >
        {stack ? <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>{head}</span> : head}
        <Text span size="xs" c="dimmed" className="num-below">
          {i.method !== 'fact' &&
            i.lower !== null &&
            i.upper !== null &&
            `${inUnit(i.lower, unit).replace(' %', '')}–${inUnit(i.upper, unit)} · `}
          {counted(t, i, m, each)}
          {i.method === 'fact' && ` · ${t('common.fact')}`}
        </Text>
      </Box>
    </Tooltip>
  );
}

/** Whisker draws a rate with its interval on a line from 0 to 1. It says nothing that the text beside it does not. */
export function Whisker({
  interval: i,
  width = 96,
  domain = [0, 1],
}: {
  interval: Interval;
  width?: number;
  domain?: [number, number];
}) {
  const x = (v: number) => 5 + ((v - domain[0]) / (domain[1] - domain[0])) * (width - 10);
  if (i.point === null) return null;
  return (
    <svg width={width} height={14} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
      <line x1={2} x2={width - 2} y1={7} y2={7} stroke="var(--cv-line)" strokeWidth={2} />
      {i.lower !== null && i.upper !== null && (
        <line
          x1={x(i.lower)}
          x2={x(i.upper)}
          y1={7}
          y2={7}
          stroke="var(--cv-mark)"
          strokeWidth={4}
          strokeOpacity={0.45}
          strokeLinecap="round"
        />
      )}
      <circle cx={x(i.point)} cy={7} r={4} fill="var(--cv-mark)" />
    </svg>
  );
}

const marks = {
  pass: { icon: IconCircleCheck, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  fail: { icon: IconCircleX, color: 'var(--cv-fail)', ground: 'var(--cv-fail-ground)' },
  error: { icon: IconAlertTriangle, color: 'var(--cv-error)', ground: 'var(--cv-error-ground)' },
  not_run: { icon: IconCircleDashed, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
} as const;

/** Verdict is a verdict with icon, word and colour; never colour alone. */
export function Verdict({ of, text, compact }: { of: VerdictName; text?: string; compact?: boolean }) {
  const t = useText();
  const m = marks[of];
  const word = text ?? t(`common.${of}`);
  if (compact) {
    return (
      <Box
        component="span"
        role="img"
        aria-label={word}
        title={word}
        style={{ display: 'inline-flex', color: m.color }}
      >
        <m.icon size={16} aria-hidden />
      </Box>
    );
  }
  return (
    <Badge leftSection={<m.icon size={14} aria-hidden />} style={{ color: m.color, background: m.ground }}>
      {word}
    </Badge>
  );
}

/** verdictOf names the state of a run or a gate in the words of verdicts. */
export function gateVerdict(v: string | undefined): VerdictName {
  if (v === 'PASS' || v === 'passed') return 'pass';
  if (v === 'FAIL' || v === 'failed') return 'fail';
  return v ? 'error' : 'not_run';
}

/** Notice says what one has to know of the numbers below it. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box p="sm" role="note" style={{ background: 'var(--cv-error-ground)', borderRadius: 'var(--mantine-radius-md)' }}>
      <Group gap={6} mb={2} c="var(--cv-error)" wrap="nowrap">
        <IconAlertTriangle size={16} aria-hidden style={{ flex: 'none' }} />
        <Text size="sm" fw={600}>
          {title}
        </Text>
      </Group>
      {children}
    </Box>
  );
}

/** FindingCount is how many things show a finding, and of which; and how many of the failing attempts, where these are others. */
export function FindingCount({ of: f }: { of: Schemas['PanelFinding'] }) {
  const t = useText();
  const failing = (f.failed ?? 0) > 0 && (f.count !== f.failed || f.of !== f.failing);
  return (
    <Text size="sm" fw={600} data-finding={f.code}>
      {t('common.found', { n: number(f.count), of: number(f.of), unit: f.unit })}
      {failing && ` · ${t('common.foundFailing', { n: number(f.failed ?? 0), of: number(f.failing ?? 0) })}`}
    </Text>
  );
}

const failures = [0, 401, 403, 404, 409, 412, 413, 429, 502, 503] as const;

/** failure names what went wrong with a request by the status of its answer. */
export function failure(t: T, status: number): string {
  const known = failures.find((n) => n === status);
  return t(known === undefined ? 'common.failed' : `common.failed${known}`);
}

/** Failure shows what went wrong with a request, with every field that was refused. */
export function Failure({ of, retry }: { of: unknown; retry?: () => void }) {
  const t = useText();
  if (!of) return null;
  const p = problemOf(of);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={failure(t, p.status)} role="alert">
      <Text size="sm" className="untrusted">
        {p.message}
      </Text>
      {p.fields.length > 0 && (
        <List size="sm" mt={4}>
          {p.fields.map((f, i) => (
            <List.Item key={i}>
              <span className="mono">{f.place}</span> <span className="untrusted">{f.text}</span>
            </List.Item>
          ))}
        </List>
      )}
      {retry && (
        <Button mt="sm" size="xs" variant="default" onClick={retry}>
          {t('common.retry')}
        </Button>
      )}
    </Alert>
  );
}

/** Waiting is shown while the first answer is on its way. */
export function Waiting() {
  const t = useText();
  return (
    <Group p="xl" justify="center" aria-busy="true" role="status">
      <Loader size="sm" aria-hidden />
      <Text c="dimmed" size="sm">
        {t('common.loading')}
      </Text>
    </Group>
  );
}

/** Empty says what would be here, and how to get it. */
export function Empty({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" className="card">
      <Text fw={600}>{title}</Text>
      {text && (
        <Text c="dimmed" size="sm" ta="center" maw={520}>
          {text}
        </Text>
      )}
      {children && <Group mt="sm">{children}</Group>}
    </Stack>
  );
}

/** Screen is the frame of a screen: its title, which is also the browser's, its actions, its content. */
export function Screen({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · callvet`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm">
        <Box style={{ minWidth: 0, flex: '1 1 320px' }}>
          <Title order={1} className="untrusted">
            {title}
          </Title>
          {lead && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {lead}
            </Text>
          )}
        </Box>
        {actions && (
          <Group gap="xs" className="no-print">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  );
}

/** Estimates is the server's sentence on what the numbers of a screen are about. */
export function Estimates({ of }: { of: string }) {
  return (
    <Text size="xs" c="dimmed" data-estimates>
      {of}
    </Text>
  );
}

/** Card is a piece of a screen with a heading. */
export function Card({
  title,
  actions,
  children,
  id,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  id?: string;
}) {
  return (
    <Box className="card" p="md" component="section" id={id}>
      {(title || actions) && (
        <Group justify="space-between" mb="sm" wrap="wrap">
          {title && <Title order={2}>{title}</Title>}
          {actions}
        </Group>
      )}
      {children}
    </Box>
  );
}
