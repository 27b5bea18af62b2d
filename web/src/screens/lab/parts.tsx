// Small pieces that the parts of the lab share.
import { Badge, Box, Button, FileButton, Group, Text, Tooltip } from '@mantine/core';
import {
  IconCircleCheck,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleHalf2,
  IconCircleX,
  IconFile,
} from '@tabler/icons-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useSearchParams } from 'react-router';
import { type Schemas } from '../../api/client';
import { useLanguage, useText, useTranslate } from '../../text';
import { Figure, type Interval } from '../../ui/interval';
import { number } from '../../ui/format';
import classes from './lab.module.css';
import common from '../../ui/common.module.css';

/** A chosen file: its name and its text. */
export type TextFile = { name: string; text: string };

/** Settings for every part of the lab: the catalogue, and the chosen questions. */
export type Bench = {
  catalogue: Schemas['CatalogueEntry'];
  preset: 'default' | 'bigtool' | undefined;
  /** The models and weights of searches; by default those of the server and of the preset. */
  how: { embed?: string; rerank?: string; weights?: string };
  setWeights: (text: string) => void;
  tools: Schemas['AppCatalogueTool'][];
  questions: TextFile | null;
  setQuestions: (f: TextFile | null) => void;
};

/** useAddress returns the values in the address and a function that changes several at once; '' removes one. */
export function useAddress(): [
  URLSearchParams,
  (change: Record<string, string | null>, how?: { replace?: boolean }) => void,
] {
  const [params, set] = useSearchParams();
  const change = useCallback(
    (values: Record<string, string | null>, how?: { replace?: boolean }) =>
      set(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [k, v] of Object.entries(values)) {
            if (v === null || v === '') next.delete(k);
            else next.set(k, v);
          }
          return next;
        },
        { replace: how?.replace ?? false, preventScrollReset: true },
      ),
    [set],
  );
  return [params, change];
}

/** listOf reads a comma-separated list of names in the address. */
export function listOf(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean);
}

/** interval converts a figure of the lab to an interval of the rest of the page. */
export function interval(f: Schemas['Figure'] | null | undefined): Interval | undefined {
  if (!f || f.value === null) return undefined;
  return {
    point: f.value,
    lower: f.low,
    upper: f.high,
    n: f.n,
    clusters: f.n,
    confidence: 0.95,
    method: '',
    status: '',
  };
}

/** Rate is a figure of the lab with its interval and n. */
export function Rate({
  of,
  unit,
  bar,
  stack,
}: {
  of: Schemas['Figure'] | null | undefined;
  unit?: string;
  bar?: boolean;
  stack?: boolean;
}) {
  return <Figure interval={interval(of)} unit={unit} bar={bar} stack={stack} />;
}

const matches = {
  exact_match: { icon: IconCircleCheckFilled, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  acceptable_match: { icon: IconCircleCheck, color: 'var(--cv-pass)', ground: 'var(--cv-pass-ground)' },
  partial_match: { icon: IconCircleHalf2, color: 'var(--cv-error)', ground: 'var(--cv-error-ground)' },
  no_match: { icon: IconCircleX, color: 'var(--cv-fail)', ground: 'var(--cv-fail-ground)' },
  not_judged: { icon: IconCircleDashed, color: 'var(--cv-none)', ground: 'var(--cv-none-ground)' },
} as const;

/** MatchBadge shows how well the found tools match the expected tools, by icon, word and colour. */
export function MatchBadge({ of }: { of: string }) {
  const t = useText();
  const kind = (of in matches ? of : 'not_judged') as keyof typeof matches;
  const m = matches[kind];
  return (
    <Badge
      size="xl"
      leftSection={<m.icon size={18} aria-hidden />}
      style={{ color: m.color, background: m.ground }}
      data-match={kind}
    >
      {t(`lab.${kind}`)}
    </Badge>
  );
}

/** Mark is a word in the colour of its meaning. */
export function Mark({
  tone,
  children,
  label,
}: {
  tone: 'pass' | 'fail' | 'error' | 'none';
  children: ReactNode;
  label?: string;
}) {
  const badge = (
    <Badge style={{ color: `var(--cv-${tone})`, background: `var(--cv-${tone}-ground)` }}>{children}</Badge>
  );
  return label ? <Tooltip label={label}>{badge}</Tooltip> : badge;
}

/** Names lists names of tools or agents in a row; good marks the right ones. */
export function Names({
  of,
  good,
  none,
}: {
  of: string[] | null | undefined;
  good?: (name: string) => boolean;
  none?: string;
}) {
  const t = useText();
  if (!of || of.length === 0) {
    return (
      <Text span size="sm" c="dimmed">
        {none ?? t('lab.nothing')}
      </Text>
    );
  }
  return (
    <Group gap={6} component="span">
      {of.map((n, i) => (
        <span key={i} className={`${classes.name}${good?.(n) ? ` ${classes.good}` : ''}`}>
          {good?.(n) && <IconCircleCheck size={13} aria-label={t('lab.isExpected')} />}
          {n}
        </span>
      ))}
    </Group>
  );
}

/** Fact is a label above its value. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Box mt={2}>{children}</Box>
    </Box>
  );
}

/** ServerText is a sentence of the server, translated where a translation exists, after its subject. */
export function ServerText({
  of,
  about,
  size = 'sm',
  dimmed,
}: {
  of: string;
  about?: string;
  size?: 'xs' | 'sm';
  dimmed?: boolean;
}) {
  const translate = useTranslate();
  const { language } = useLanguage();
  const text = translate(of);
  return (
    <Text
      span
      size={size}
      c={dimmed ? 'dimmed' : undefined}
      className={common.untrusted}
      lang={language !== 'en' && text === of ? 'en' : undefined}
    >
      {about ? `${about} ` : ''}
      {text}
    </Text>
  );
}

/** ServerTexts are sentences of the server, each after its subject. */
export function ServerTexts({ of }: { of: (string | { about: string; text: string })[] | null | undefined }) {
  if (!of || of.length === 0) return null;
  return (
    <ul className={classes.lines}>
      {of.map((s, i) => (
        <li key={i}>{typeof s === 'string' ? <ServerText of={s} /> : <ServerText of={s.text} about={s.about} />}</li>
      ))}
    </ul>
  );
}

/** FilePick takes a text file, chosen or dropped. */
export function FilePick({
  label,
  file,
  onFile,
  accept = '.json,.jsonl,.yaml,.yml,application/json',
  hint,
}: {
  label: string;
  file: TextFile | null;
  onFile: (f: TextFile) => void;
  accept?: string;
  hint?: string;
}) {
  const t = useText();
  const [over, setOver] = useState(false);
  const take = async (f: File | null | undefined) => {
    if (f) onFile({ name: f.name, text: await f.text() });
  };
  return (
    <Box
      className={classes.drop}
      data-drop
      data-over={over || undefined}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        void take(e.dataTransfer.files[0]);
      }}
    >
      <Group gap="sm">
        <FileButton onChange={take} accept={accept} inputProps={{ 'aria-label': label }}>
          {(props) => (
            <Button {...props} variant="default" leftSection={<IconFile size={16} aria-hidden />}>
              {label}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c={file ? undefined : 'dimmed'} className={common.untrusted} role="status">
          {file ? t('lab.chosen', { name: file.name, size: number(file.text.length / 1024, 1) }) : t('lab.drop')}
        </Text>
      </Group>
      {hint && (
        <Text size="xs" c="dimmed" mt={6}>
          {hint}
        </Text>
      )}
    </Box>
  );
}
