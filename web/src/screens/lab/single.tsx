// One question: the chosen tools, the parts of each score, and why the expected tool lost.
import { Box, Button, Checkbox, Group, NumberInput, Stack, Table, TagsInput, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { useText, useTranslate } from '../../text';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { fixed, number } from '../../ui/format';
import { type Bench, Fact, ServerTexts, listOf, Mark, MatchBadge, Names, useAddress } from './parts';
import classes from './lab.module.css';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

export function QuestionTab({ bench }: { bench: Bench }) {
  const t = useText();
  const [at, go] = useAddress();
  const asked = {
    q: at.get('q') ?? '',
    expect: at.get('expect') ?? '',
    also: at.get('also') ?? '',
    none: at.get('none') === '1',
    limit: Number(at.get('limit')) || 2,
  };
  const [query, setQuery] = useState(asked.q);
  const [expected, setExpected] = useState(listOf(asked.expect));
  const [also, setAlso] = useState(listOf(asked.also));
  const [none, setNone] = useState(asked.none);
  const [limit, setLimit] = useState<number | string>(asked.limit);
  const key = JSON.stringify(asked);
  useEffect(() => {
    const a = JSON.parse(key) as typeof asked; // the back button, or a link, asks another question
    setQuery(a.q);
    setExpected(listOf(a.expect));
    setAlso(listOf(a.also));
    setNone(a.none);
    setLimit(a.limit);
  }, [key]);

  const answer = useQuery({
    queryKey: queryKeys.selectionAnswer(bench.catalogue, bench.preset ?? '', bench.how, key),
    enabled: asked.q !== '',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const judged = asked.expect !== '' || asked.also !== '' || asked.none;
      return unwrap(
        await api.POST('/api/v1/admin/tool-eval/single', {
          body: {
            query: asked.q,
            limit: asked.limit,
            catalogue_id: bench.catalogue.id,
            preset: bench.preset,
            ...bench.how,
            ...(judged ? { expected_tools: asked.none ? [] : listOf(asked.expect) } : {}),
            ...(asked.also ? { acceptable_tools: listOf(asked.also) } : {}),
          },
        }),
      );
    },
  });
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (query.trim() === '') return;
    const next = {
      q: query.trim(),
      expect: none ? '' : expected.join(','),
      also: also.join(','),
      none: none ? '1' : '',
      limit: Number(limit) === 2 ? '' : String(limit),
    };
    const same =
      next.q === asked.q &&
      next.expect === asked.expect &&
      next.also === asked.also &&
      (next.none === '1') === asked.none &&
      (Number(limit) || 2) === asked.limit;
    if (same) void answer.refetch();
    else go(next);
  };
  const names = bench.tools.map((x) => x.name);
  return (
    <Stack gap="lg">
      <Box component="form" onSubmit={send} className={`${common.card} ${common.noPrint}`} p="md">
        <Stack gap="sm">
          <Textarea
            label={t('lab.query')}
            placeholder={t('lab.queryHint')}
            value={query}
            onChange={(e) => setQuery(e.currentTarget.value)}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={50_000}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && !e.shiftKey) send(e);
            }}
          />
          <Group align="flex-start" gap="sm" grow preventGrowOverflow={false} wrap="wrap">
            <TagsInput
              label={t('lab.expected')}
              placeholder={expected.length === 0 ? t('lab.expectedHint') : undefined}
              data={names}
              value={none ? [] : expected}
              onChange={setExpected}
              disabled={none}
              limit={20}
              splitChars={[',', ' ']}
              acceptValueOnBlur
              miw={260}
            />
            <TagsInput
              label={t('lab.acceptable')}
              data={names}
              value={also}
              onChange={setAlso}
              splitChars={[',', ' ']}
              acceptValueOnBlur
              miw={220}
            />
          </Group>
          <Group align="center" gap="lg">
            <NumberInput
              label={t('lab.limit')}
              value={limit}
              onChange={setLimit}
              min={1}
              max={100}
              w={120}
              clampBehavior="strict"
            />
            <Checkbox
              label={t('lab.nothingFits')}
              checked={none}
              onChange={(e) => setNone(e.currentTarget.checked)}
              mt={22}
            />
            <Button type="submit" loading={answer.isFetching} disabled={query.trim() === ''} ml="auto" mt={22}>
              {t('lab.test')}
            </Button>
          </Group>
        </Stack>
      </Box>
      {answer.error ? (
        <Failure of={answer.error} retry={() => answer.refetch()} />
      ) : answer.data ? (
        <Answer of={answer.data} expected={listOf(asked.expect)} also={listOf(asked.also)} />
      ) : answer.isFetching ? (
        <Loading />
      ) : (
        <Empty title={t('lab.singleEmpty')} text={t('lab.singleEmptyText')} />
      )}
    </Stack>
  );
}

function Answer({ of: a, expected, also }: { of: Schemas['SelectedOne']; expected: string[]; also: string[] }) {
  const t = useText();
  const inLanguage = useTranslate();
  const [, go] = useAddress();
  const kind = a.match_type || 'not_judged';
  const word = {
    exact_match: 'lab.exactText',
    acceptable_match: 'lab.acceptableText',
    partial_match: 'lab.partialText',
    no_match: 'lab.noneText',
    not_judged: 'lab.notJudgedText',
  } as const;
  return (
    <Stack gap="lg">
      <Card title={t('lab.match')}>
        <Group gap="sm" mb="md" role="status">
          <MatchBadge of={kind} />
          <Text size="sm" c="dimmed">
            {t(
              a.match_type === 'no_match' && a.own_match_type === 'partial_match'
                ? 'lab.acceptableBesideText'
                : (word[kind as keyof typeof word] ?? 'lab.notJudgedText'),
            )}
          </Text>
        </Group>
        <Group gap={40} align="flex-start">
          <Fact name={t('lab.selected')}>
            {a.selected_tools.length === 0 ? (
              <Text size="sm">{t('lab.selectedNone')}</Text>
            ) : (
              <Box component="ol" m={0} pl={20} fz="sm">
                {a.selected_tools.map((n) => (
                  <li key={n}>
                    <span className={`${common.mono} ${common.untrusted}`}>{n}</span>{' '}
                    {expected.includes(n) ? (
                      <Mark tone="pass">{t('lab.isExpected')}</Mark>
                    ) : also.includes(n) ? (
                      <Mark tone="pass">{t('lab.isAcceptable')}</Mark>
                    ) : null}
                  </li>
                ))}
              </Box>
            )}
          </Fact>
          {a.route && (
            <Fact name={t('lab.route')}>
              <Text size="sm" className={common.untrusted} title={inLanguage(a.route_reason)}>
                {a.sub_route ? `${a.route} / ${a.sub_route}` : a.route}
              </Text>
            </Fact>
          )}
          {(a.agents ?? []).length > 0 && (
            <Fact name={t('lab.agents')}>
              <Names of={a.agents} />
            </Fact>
          )}
          <Fact name={t('lab.latency')}>
            <Text size="sm" className={common.num}>
              {number(a.latency_ms, 1)} ms
            </Text>
          </Fact>
        </Group>
      </Card>
      {a.why_lost.length > 0 && (
        <Card title={t('lab.whyLost')}>
          <Stack gap="md">
            {a.why_lost.map((w) => (
              <Group key={w.tool.tool} justify="space-between" align="flex-start" wrap="wrap">
                <Box style={{ flex: '1 1 320px' }}>
                  <DiagnosisText of={w} />
                </Box>
                <Button
                  variant="default"
                  size="xs"
                  className={`${common.noPrint} ${classes.longButton}`}
                  onClick={() => go({ tab: 'changes', edit: w.tool.tool })}
                >
                  {t('lab.editTool', { tool: w.tool.tool })}
                </Button>
              </Group>
            ))}
          </Stack>
        </Card>
      )}
      <Scores of={a.scoring_details} expected={expected} also={also} />
    </Stack>
  );
}

/** DiagnosisText explains why another tool ranks above an expected one. */
export function DiagnosisText({ of: w }: { of: Schemas['RoutingDiagnosis'] }) {
  const t = useText();
  return (
    <Box>
      <Text size="sm" fw={600} className={common.untrusted}>
        {t(!w.winner.tool ? 'lab.whyLostNobody' : w.rank > 0 ? 'lab.whyLostRank' : 'lab.whyLostUnranked', {
          tool: w.tool.tool,
          rank: w.rank,
          winner: w.winner.tool,
        })}
      </Text>
      {w.winner.tool && w.rank > 0 && (
        <Text size="xs" c="dimmed" className={common.num}>
          {t('lab.scoreBeside', { a: fixed(w.tool.score, 3), b: fixed(w.winner.score, 3) })}
        </Text>
      )}
      <ServerTexts of={w.reasons} />
    </Box>
  );
}

// The shades of terms; the text next to them has their names.
const shades = ['#3b5bdb', '#0c8599', '#e8590c', '#7048e8', '#2b8a3e', '#c2255c', '#868e96'];

function Scores({ of: list, expected, also }: { of: Schemas['Candidate'][]; expected: string[]; also: string[] }) {
  const t = useText();
  const shown = list.slice(0, 20);
  const top = Math.max(
    ...shown.map((c) =>
      Math.max(
        c.total_score,
        Object.values(c.parts).reduce((n, v) => n + Math.max(0, v), 0),
      ),
    ),
    1e-9,
  );
  const terms = [...new Set(shown.flatMap((c) => Object.keys(c.parts)))].sort();
  return (
    <Card title={t('lab.scoring', { n: shown.length })}>
      <DataTable
        label={t('lab.scoring', { n: shown.length })}
        className={classes.plainTable}
        miw={720}
        heads={[
          { title: t('lab.rank'), right: true, w: 50 },
          t('lab.tool'),
          { title: t('lab.score'), right: true, w: 80 },
          { title: t('lab.terms'), w: 230 },
          t('lab.matched'),
        ]}
      >
        {shown.map((c) => (
          <Table.Tr key={c.tool_id} data-tool={c.tool_id}>
            <FigureCell>{c.rank}</FigureCell>
            <Table.Td>
              <span className={`${common.mono} ${common.untrusted}`}>{c.tool_id}</span>
              <Group gap={4} mt={2}>
                {c.selected && <Mark tone="none">{t('lab.wasSelected')}</Mark>}
                {expected.includes(c.tool_id) && <Mark tone="pass">{t('lab.isExpected')}</Mark>}
                {also.includes(c.tool_id) && <Mark tone="pass">{t('lab.isAcceptable')}</Mark>}
              </Group>
            </Table.Td>
            <Table.Td ta="right" className={common.num} fw={600}>
              {fixed(c.total_score, 3)}
            </Table.Td>
            <Table.Td>
              <div className={classes.parts} aria-hidden="true">
                {terms.map((n, i) =>
                  (c.parts[n] ?? 0) > 0 ? (
                    <div
                      key={n}
                      style={{
                        width: `${((c.parts[n] ?? 0) / top) * 100}%`,
                        background: shades[i % shades.length],
                      }}
                    />
                  ) : null,
                )}
              </div>
              <Group gap={10} mt={4}>
                {terms.map((n, i) =>
                  c.parts[n] ? (
                    <Text
                      key={n}
                      span
                      size="xs"
                      className={common.num}
                      style={{ display: 'inline-flex', alignItems: 'center', gap: 4 }}
                    >
                      <span
                        aria-hidden
                        style={{
                          width: 8,
                          height: 8,
                          borderRadius: 2,
                          background: shades[i % shades.length],
                          display: 'inline-block',
                        }}
                      />
                      {n} {fixed(c.parts[n]!, 3)}
                    </Text>
                  ) : null,
                )}
              </Group>
            </Table.Td>
            <Table.Td>
              <Matched name={t('lab.keywords')} of={c.keywords_matched} />
              <Matched name={t('lab.words')} of={c.words_matched} />
              <Matched name={t('lab.examples')} of={c.examples_matched} />
              {c.keywords_matched.length + c.words_matched.length + c.examples_matched.length === 0 && (
                <Text size="sm" c="dimmed">
                  {t('lab.nothingMatched')}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Matched({ name, of }: { name: string; of: string[] }) {
  if (of.length === 0) return null;
  return (
    <Text size="sm">
      <Text span size="xs" c="dimmed">
        {name}:{' '}
      </Text>
      <span className={common.untrusted}>{of.join(', ')}</span>
    </Text>
  );
}
