// The family tree of prompts: each below its parent, with its changes and its score.
import { Badge, Box, Group, Stack, Text } from '@mantine/core';
import { useText } from '../../text';
import { Copyable } from '../../ui/copy';
import { Figure } from '../../ui/interval';
import { type Candidate, nameIn, type Search } from './candidate';
import common from '../../ui/common.module.css';

type Part = { kind: 'same' | 'added' | 'removed'; text: string };

/** wordDiff returns the differences of two texts, word by word: the longest common subsequence stays. */
export function wordDiff(before: string, after: string): Part[] {
  const [a, b] = [before, after].map((s) => s.match(/\s+|[^\s]+/g) ?? []) as string[][] as [string[], string[]];
  if (a.length * b.length > 4_000_000)
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let k = b.length - 1; k >= 0; k--)
      common[i]![k] = a[i] === b[k] ? common[i + 1]![k + 1]! + 1 : Math.max(common[i + 1]![k]!, common[i]![k + 1]!);
  const parts: Part[] = [];
  const push = (kind: Part['kind'], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  let [i, k] = [0, 0];
  while (i < a.length || k < b.length) {
    if (i < a.length && k < b.length && a[i] === b[k]) {
      push('same', a[i]!);
      i++;
      k++;
    } else if (k >= b.length || (i < a.length && common[i + 1]![k]! >= common[i]![k + 1]!)) push('removed', a[i++]!);
    else push('added', b[k++]!);
  }
  return parts;
}

/** PromptTree shows the prompts of a search from the base down. */
export function PromptTree({ of: search }: { of: Search }) {
  const all = search.candidates ?? [];
  const below = (n: number) => all.filter((c) => c.n !== 0 && (c.parent ?? 0) === n);
  const branch = (c: Candidate, depth: number) => (
    <Box
      key={c.n}
      component="li"
      pl={depth > 0 ? 'md' : 0}
      style={{
        listStyle: 'none',
        borderLeft: depth > 0 ? '2px solid var(--cv-line)' : undefined,
      }}
    >
      <PromptView of={c} parent={all.find((p) => p.n === (c.parent ?? 0))} search={search} />
      <Box component="ul" p={0} m={0}>
        {depth < 40 && below(c.n).map((child) => branch(child, depth + 1))}
      </Box>
    </Box>
  );
  const base = all.find((c) => c.n === 0);
  if (!base) return null;
  return (
    <Box component="ul" p={0} m={0} data-tree>
      {branch(base, 0)}
    </Box>
  );
}

function PromptView({ of: c, parent, search }: { of: Candidate; parent?: Candidate; search: Search }) {
  const t = useText();
  const text = c.prompt ?? c.config.system_prompt ?? '';
  return (
    <Stack gap={4} py={6} data-candidate={c.n}>
      <Group gap="xs">
        <Text size="sm" fw={600} className={common.untrusted}>
          {c.n === 0 ? t('tune.base') : nameIn(search, c)}
        </Text>
        {c.mutation && c.n !== 0 && <Badge color="gray">{c.mutation}</Badge>}
        {c.n === search.best && <Badge>{t('tune.best')}</Badge>}
        {(search.front ?? []).includes(c.n) && <Badge color="gray">{t('tune.front')}</Badge>}
        <Figure interval={c.score} of={{ of: t('common.attempts') }} bar />
        <Text size="xs" c="dimmed">
          {t('tune.length', { n: text.length })}
        </Text>
      </Group>
      {c.note && (
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {c.note}
        </Text>
      )}
      {text !== '' && (
        <details>
          <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
            {t(c.n === 0 ? 'tune.showPrompt' : 'tune.showChange')}
          </Text>
          {c.n !== 0 && (
            <Text size="sm" component="div" className={common.untrusted} style={{ whiteSpace: 'pre-wrap' }} my="xs">
              {wordDiff(parent?.prompt ?? parent?.config.system_prompt ?? '', text).map((p, i) =>
                p.kind === 'same' ? (
                  <span key={i}>{p.text}</span>
                ) : p.kind === 'added' ? (
                  <ins key={i} style={{ background: 'var(--cv-pass-ground)' }}>
                    {p.text}
                  </ins>
                ) : (
                  <del key={i} style={{ background: 'var(--cv-fail-ground)' }}>
                    {p.text}
                  </del>
                ),
              )}
            </Text>
          )}
          <Copyable label={t('tune.promptOf', { name: c.name })} value={text} />
        </details>
      )}
    </Stack>
  );
}
