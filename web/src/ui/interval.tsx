// Numbers with their intervals and n.
import { Box, Text, Tooltip } from '@mantine/core';
import type { Schemas } from '../api/client';
import { type Translator, useText } from '../text';
import { number } from './format';
import common from './common.module.css';

export type Interval = Schemas['Interval'];
export type Metric = Schemas['PanelMetric'];

/** inUnit writes a value of the API: rates as per cent, others with their unit. */
export function inUnit(v: number | null | undefined, unit: string): string {
  if (v === null || v === undefined) return '–';
  if (unit === 'rate' || unit === 'share' || unit === 'score' || unit === '') return `${number(v * 100, 1)} %`;
  if (unit === 'count') return number(v, 2);
  return `${number(v, unit === 'usd' ? 4 : 1)} ${unit}`;
}

/** intervalSentence writes an interval in words, for tooltips and screen readers. */
export function intervalSentence(t: Translator, i: Interval, unit = 'rate'): string {
  if (i.method === 'fact') return t('common.fact');
  if (i.lower === null || i.upper === null) return t('common.noInterval', { n: i.n, status: i.status });
  return t('common.interval', {
    confidence: number(i.confidence * 100, 0),
    lower: inUnit(i.lower, unit),
    upper: inUnit(i.upper, unit),
    n: i.n,
  });
}

/** withInterval writes a rate with its interval in words, for running text. */
export function withInterval(t: Translator, i: Interval | null | undefined): string {
  return i ? `${inUnit(i.point, 'rate')} (${intervalSentence(t, i)})` : '–';
}

/** leftOut writes how many attempts a run made that ended when its gates were decided. */
export function leftOut(t: Translator, asked: number, left: number): string {
  return t('common.leftOut', { n: number(asked), total: number(asked + left), left: number(left) });
}

type Counted = Partial<Pick<Metric, 'values' | 'labelled' | 'of'>>;

/** counted names what n counts: values of a measure, one attempt a task where attempts agree, or people's labels. */
function counted(t: Translator, i: Interval, m: Counted | undefined, each: 'Cases' | 'Tasks'): string {
  if (m?.labelled)
    return t(m.labelled.elsewhere ? 'common.labelsElsewhere' : 'common.labelsOf', {
      n: number(i.n),
      tasks: number(m.labelled.tasks),
    });
  if (m?.values) return t(`common.agree${each}`, { n: number(i.n), values: number(m.values), of: m.of ?? '' });
  return sampleSize(t, i, each, m?.of);
}

/** sampleSize writes n in cases or tasks, and how many values they have. */
export function sampleSize(t: Translator, i: Interval, each: 'Cases' | 'Tasks' = 'Cases', of?: string): string {
  return i.clusters > 0 && i.clusters !== i.n
    ? t(`common.n${each}`, { n: number(i.clusters), values: number(i.n), of: of || t('common.values') })
    : `n = ${number(i.n)}`;
}

/**
 * Figure is a number with its interval and n: on one line, or the interval below the number (stack). Given its measure,
 * n includes the number of values where attempts at a task agree, because the interval counts one of them, and the
 * number of tasks where people's labels are counted.
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
        i.method ? `${intervalSentence(t, i, unit)} (${i.method})` : intervalSentence(t, i, unit),
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
        className={common.num}
        style={{
          display: 'inline-flex',
          flexDirection: stack ? 'column' : 'row',
          alignItems: stack ? 'flex-start' : 'center',
          gap: stack ? 0 : 8,
        }}
      >
        {stack ? <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>{head}</span> : head}
        <Text span size="xs" c="dimmed" className={common.numBelow}>
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

/**
 * Whisker draws a number with its interval on a line, with a mark in its middle if wanted. The text next to it has the
 * same numbers.
 */
export function Whisker({
  interval: i,
  width = 96,
  domain = [0, 1],
  middle = false,
}: {
  interval: Interval;
  width?: number;
  domain?: [number, number];
  middle?: boolean;
}) {
  const x = (v: number) => 5 + ((v - domain[0]) / (domain[1] - domain[0])) * (width - 10);
  if (i.point === null) return null;
  return (
    <svg width={width} height={14} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
      <line x1={2} x2={width - 2} y1={7} y2={7} stroke="var(--cv-line)" strokeWidth={2} />
      {middle && <line x1={width / 2} x2={width / 2} y1={1} y2={13} stroke="var(--cv-none)" />}
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
