// One attempt: the question, the calls and answers of the target, and why they were right or wrong.
import { Accordion, Badge, Box, Button, Grid, Group, Menu, Stack, Table, Text } from '@mantine/core';
import { IconArrowLeft, IconChevronDown, IconChevronUp, IconCopy, IconPlaylistAdd } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useNavigate, useParams, useSearchParams } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { usePermission } from '../../user';
import { type TextKey, useText } from '../../text';
import { inUnit } from '../../ui/interval';
import { Card, Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { Verdict, type VerdictName } from '../../ui/verdict';
import { CodeEditor } from '../../ui/code';
import { Conversation, LongText, prettyJson, Timeline, type Turn } from '../../ui/conversation';
import { duration, money, number } from '../../ui/format';
import { VisibleText } from '../../ui/visible';
import { notify, notifyFailure } from '../../ui/notify';
import { AddToSuite } from './addcase';
import { caseOf, keyOf, useAttempts } from './lists';
import { type Attempt, asVerdict, caseLink, withSpaces, readFilters } from './parts';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type CaseOf = {
  id: string;
  description?: string;
  context?: string;
  input?: Turn[];
  expect?: unknown;
  [key: string]: unknown;
};
type TraceOf = { turns?: Turn[]; end?: string; attempts?: number; finish_reason?: string; [key: string]: unknown };
type Exchange = { request?: unknown; response?: string; http?: number; ms?: number; error?: string };
type Match = Schemas['CallvetCallMatch'];

export default function CasePage() {
  const t = useText();
  const { id = '' } = useParams();
  const navigate = useNavigate();
  const place = useLocation();
  const [params] = useSearchParams();
  const name = params.get('case') ?? '';
  const list = params.get('in') ?? '';
  const filters = useMemo(
    () =>
      list
        ? readFilters(new URLSearchParams(list))
        : { ...readFilters(new URLSearchParams()), verdict: ['fail', 'error'] },
    [list],
  );
  const shown = useQuery(caseOf(id, name));
  const { found, rows, total } = useAttempts(id, filters);
  const attempts = shown.data?.attempts ?? [];
  const target = params.get('target') ?? attempts[0]?.result.target ?? '';
  const repeat = Number(params.get('repeat') ?? 0);
  const at = attempts.find((a) => a.result.target === target && a.result.repeat === repeat);

  const key = keyOf({ case: name, target, repeat });
  const index = rows.findIndex((r) => keyOf(r) === key);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  // The attempt may be further down in the list, and the next attempt on the next page.
  useEffect(() => {
    if (
      hasNextPage &&
      !isFetchingNextPage &&
      ((index < 0 && rows.length < 2000) || (index >= 0 && index >= rows.length - 2))
    )
      void fetchNextPage();
  }, [index, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const before = index > 0 ? rows[index - 1] : undefined;
  const after = index >= 0 ? rows[index + 1] : rows[0];

  const listPath = `/runs/${encodeURIComponent(id)}?tab=attempts${list ? `&${list}` : '&verdict=fail&verdict=error'}`;
  const camefrom = (place.state as { back?: boolean } | null)?.back === true;
  useEffect(() => {
    // Steps from attempt to attempt replace the address: Esc and the back button lead to the screen before.
    const open = (a: Attempt | undefined) =>
      a && navigate(caseLink(id, a, filters), { replace: true, state: { back: camefrom } });
    const press = (e: KeyboardEvent) => {
      const from = e.target as HTMLElement;
      if (
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        e.defaultPrevented ||
        from.isContentEditable ||
        from.closest('input, textarea, select, [role="dialog"], [role="menu"], .cm-editor')
      )
        return;
      if (e.key === 'j') open(after);
      else if (e.key === 'k') open(before);
      else if (e.key === 'Escape') {
        if (camefrom) navigate(-1);
        else navigate(listPath);
      } else return;
      e.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [after, before, camefrom, filters, id, listPath, navigate]);

  const [adding, setAdding] = useState(false);
  const may = usePermission('write');
  const copy = async (as: 'yaml' | 'json') => {
    try {
      const text = unwrap(
        await api.GET('/api/runs/{id}/case/text', { params: { path: { id }, query: { case: name, target } } }),
      );
      await navigator.clipboard.writeText(text[as]);
      notify(t('results.caseCopied'));
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  if (shown.error) {
    return (
      <Page title={name}>
        <Failure of={shown.error} retry={() => void shown.refetch()} />
      </Page>
    );
  }
  if (!shown.data) return <Loading />;
  const of = shown.data.case as unknown as CaseOf;
  return (
    <Page
      title={name}
      lead={
        <Group gap="xs" component="span" className={common.facts}>
          <Link to={camefrom ? listPath : `/runs/${encodeURIComponent(id)}`}>
            <Group gap={4} component="span">
              <IconArrowLeft size={14} aria-hidden /> {t('results.run', { id })}
            </Group>
          </Link>
          {index >= 0 && (
            <span className={common.num}>{t('results.place', { n: index + 1, total: number(total) })}</span>
          )}
          {of.description && <span className={common.untrusted}>{of.description}</span>}
        </Group>
      }
      actions={
        <>
          <Button.Group>
            <Step
              to={before && caseLink(id, before, filters)}
              back={camefrom}
              label={t('results.previousFailing')}
              icon={<IconChevronUp size={16} aria-hidden />}
            />
            <Step
              to={after && caseLink(id, after, filters)}
              back={camefrom}
              label={t('results.nextFailing')}
              icon={<IconChevronDown size={16} aria-hidden />}
            />
          </Button.Group>
          {may && (
            <Button
              variant="default"
              leftSection={<IconPlaylistAdd size={16} aria-hidden />}
              onClick={() => setAdding(true)}
            >
              {t('results.addToSuite')}
            </Button>
          )}
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" leftSection={<IconCopy size={16} aria-hidden />}>
                {t('results.copyCase')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void copy('yaml')}>{t('results.copyYaml')}</Menu.Item>
              <Menu.Item onClick={() => void copy('json')}>{t('results.copyJson')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      {adding && <AddToSuite run={id} name={name} target={target} close={() => setAdding(false)} />}
      {attempts.length > 1 && (
        <Group gap="xs" component="nav" aria-label={t('results.targetsOfCase')}>
          {attempts.map((a) => {
            const r = a.result;
            const here = a === at;
            return (
              <Button
                key={keyOf(r)}
                component={Link}
                to={`/runs/${encodeURIComponent(id)}/case?${attemptParams(params, r)}`}
                replace
                state={place.state}
                size="xs"
                variant={here ? 'light' : 'default'}
                aria-current={here ? 'true' : undefined}
                leftSection={<Verdict of={asVerdict(r.verdict)} compact />}
              >
                <span className={common.untrusted}>
                  {r.target}
                  {attempts.some((x) => x.result.repeat > 0) && ` #${r.repeat + 1}`}
                </span>
              </Button>
            );
          })}
        </Group>
      )}
      {at ? (
        <OneAttempt key={key} run={id} of={of} tools={shown.data.tools} detail={at} />
      ) : (
        <Empty title={t('results.noCase')} text={t('common.notFoundText')} />
      )}
      <Text size="xs" c="dimmed">
        {t('results.keysCase')}
      </Text>
    </Page>
  );
}

function attemptParams(now: URLSearchParams, r: Attempt): string {
  const p = new URLSearchParams(now);
  p.set('target', r.target);
  if (r.repeat > 0) p.set('repeat', String(r.repeat));
  else p.delete('repeat');
  return p.toString();
}

function Step({ to, back, label, icon }: { to?: string; back: boolean; label: string; icon: React.ReactNode }) {
  if (!to) {
    return (
      <Button variant="default" px="xs" aria-label={label} title={label} disabled>
        {icon}
      </Button>
    );
  }
  return (
    <Button
      variant="default"
      px="xs"
      aria-label={label}
      title={label}
      component={Link}
      to={to}
      replace
      state={{ back }}
    >
      {icon}
    </Button>
  );
}

function OneAttempt({
  run,
  of,
  tools,
  detail,
}: {
  run: string;
  of: CaseOf;
  tools: Schemas['OfferedTool'][];
  detail: Schemas['AttemptDetail'];
}) {
  const t = useText();
  const r = detail.result;
  const trace = detail.trace as unknown as TraceOf;
  const exchanges = (detail.exchanges ?? []) as unknown as Exchange[];
  const turns: Turn[] = [...(of.input ?? []), ...(trace.turns ?? [])];
  return (
    <Stack gap="lg">
      <Group gap="sm" align="center" data-attempt>
        <Verdict of={asVerdict(r.verdict)} />
        {r.class && <Badge color="gray">{withSpaces(r.class)}</Badge>}
        <Text className={common.untrusted} style={{ flex: '1 1 300px' }}>
          <VisibleText text={r.reason ?? ''} />
        </Text>
      </Group>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="lg">
            <Card title={t('results.conversation')}>
              {of.context && (
                <Box mb="sm">
                  <LongText text={of.context} />
                </Box>
              )}
              <Conversation turns={turns} />
            </Card>
            {(r.calls ?? []).some((c) => (c.exec_ms ?? 0) + (c.queue_ms ?? 0) > 0) && (
              <Card title={t('results.calls')}>
                <Timeline calls={r.calls ?? []} />
              </Card>
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="lg">
            <Comparison of={r.comparison ?? []} />
            <Setting of={of} system={detail.system} tools={tools} />
            {r.decision && (
              <Card title={t('results.actual')}>
                <LongText text={prettyJson(r.decision)} mono />
              </Card>
            )}
            {(r.assertions ?? []).length > 0 && <Assertions of={r.assertions!} />}
            <Scores of={r.scores ?? []} />
            <Judges run={run} attempt={r} />
            <Facts of={r} trace={trace} />
          </Stack>
        </Grid.Col>
      </Grid>
      <Raw of={exchanges} />
    </Stack>
  );
}

const states: Record<string, TextKey> = {
  matched: 'results.state_matched',
  partial: 'results.state_partial',
  missing: 'results.state_missing',
  extra: 'results.state_extra',
};

/** sameName compares names of tools: letter case and white space do not count. */
const sameName = (a: string, b: string) => a.replace(/\s/g, '').toLowerCase() === b.replace(/\s/g, '').toLowerCase();

/** Comparison shows expected and actual calls side by side, argument by argument, differing ones first. */
function Comparison({ of: list }: { of: Match[] }) {
  const t = useText();
  return (
    <Card title={t('results.expectedActual')}>
      {list.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('results.noComparison')}
        </Text>
      )}
      <Stack gap="md">
        {list.map((m, i) => {
          const args = (m.args ?? []).toSorted((a, b) => Number(a.matched) - Number(b.matched));
          const right = m.state === 'matched';
          return (
            <Box key={i}>
              <Group gap="xs" mb={4}>
                <Text span size="sm" fw={600} className={`${common.mono} ${common.untrusted}`}>
                  {(m.want ?? []).join(' | ') || t('results.nothing')}
                </Text>
                <Text span c="dimmed" aria-label={t('results.actual')}>
                  →
                </Text>
                <Text
                  span
                  size="sm"
                  fw={600}
                  className={`${common.mono} ${common.untrusted}`}
                  c={m.got && (m.want ?? []).some((w) => sameName(w, m.got!)) ? undefined : 'var(--cv-fail)'}
                >
                  <VisibleText text={m.got || t('results.nothing')} />
                </Text>
                <Badge
                  color={right ? 'green' : 'gray'}
                  style={
                    right
                      ? { color: 'var(--cv-pass)', background: 'var(--cv-pass-ground)' }
                      : { color: 'var(--cv-fail)', background: 'var(--cv-fail-ground)' }
                  }
                >
                  {states[m.state] ? t(states[m.state]!) : withSpaces(m.state)}
                </Badge>
              </Group>
              {args.length > 0 && (
                <DataTable
                  label={`${t('results.argument')}: ${m.got ?? ''}`}
                  verticalSpacing={4}
                  fz="sm"
                  heads={[t('results.argument'), t('results.expected'), t('results.actual'), t('results.match')]}
                >
                  {args.map((a, j) => (
                    <Table.Tr key={j} data-matched={a.matched}>
                      <Table.Th scope="row" fw={400} className={`${common.mono} ${common.untrusted}`}>
                        {a.path}
                      </Table.Th>
                      <Table.Td style={a.matched ? undefined : { background: 'var(--cv-added)' }}>
                        <Value of={a.expected} />
                      </Table.Td>
                      <Table.Td style={a.matched ? undefined : { background: 'var(--cv-removed)' }}>
                        <Value of={a.actual} />
                      </Table.Td>
                      <Table.Td>
                        <Text
                          span
                          size="xs"
                          c={a.matched ? 'dimmed' : 'var(--cv-fail)'}
                          fw={a.matched ? 400 : 600}
                          className={common.untrusted}
                        >
                          {a.matched ? t('results.same') : (a.note ?? t('results.differs'))}
                          {!a.matched &&
                            a.similarity !== undefined &&
                            `, ${t('results.similar', { p: inUnit(a.similarity, 'rate') })}`}
                        </Text>
                        <Text size="xs" c="dimmed">
                          {withSpaces(a.rule)}
                        </Text>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </DataTable>
              )}
              {args.length === 0 && m.want_args !== undefined && <LongText text={prettyJson(m.want_args)} mono />}
              {(m.violations ?? []).map((v, j) => (
                <Text key={j} size="sm" mt={4} className={common.untrusted}>
                  <Text span c="var(--cv-fail)" fw={600}>
                    {t('results.violations')}:
                  </Text>{' '}
                  <span className={common.mono}>{v.path}</span> {v.message}
                </Text>
              ))}
              {m.note && (
                <Text size="xs" c="dimmed" className={common.untrusted}>
                  {m.note}
                </Text>
              )}
            </Box>
          );
        })}
      </Stack>
    </Card>
  );
}

/**
 * Setting shows the input of the attempt: the expectation of the case, the system prompt and the offered tools.
 */
function Setting({ of, system, tools }: { of: CaseOf; system?: string; tools: Schemas['OfferedTool'][] }) {
  const t = useText();
  const parts: [TextKey, React.ReactNode, string][] = [
    [
      'results.expectation',
      of.expect && JSON.stringify(of.expect) !== '{}' ? (
        <LongText text={JSON.stringify(of.expect, null, 2)} mono />
      ) : null,
      '',
    ],
    ['results.systemPrompt', system ? <LongText text={system} /> : null, ''],
    [
      'results.offeredTools',
      tools.length > 0 ? (
        <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {tools.map((x) => (
            <li key={x.name}>
              <Text span size="sm" className={`${common.mono} ${common.untrusted}`}>
                {x.name}
              </Text>{' '}
              <Text span size="xs" c="dimmed" className={common.untrusted}>
                {x.description}
              </Text>
            </li>
          ))}
        </Stack>
      ) : null,
      ` (${number(tools.length)})`,
    ],
  ];
  return (
    <Accordion variant="contained" chevronPosition="left" multiple>
      {parts.map(([name, body, count]) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control>
            <Text fw={600} size="sm">
              {t(name)}
              {count}
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            {body ?? (
              <Text size="sm" c="dimmed">
                {t('results.nothing')}
              </Text>
            )}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Value({ of: v }: { of: unknown }) {
  const t = useText();
  if (v === undefined) {
    return (
      <Text span size="xs" c="dimmed">
        {t('results.nothing')}
      </Text>
    );
  }
  return <LongText text={typeof v === 'string' ? JSON.stringify(v) : prettyJson(v)} mono most={400} />;
}

function Assertions({ of: list }: { of: Schemas['CallvetAssertion'][] }) {
  const t = useText();
  const verdicts: Record<string, VerdictName> = { passed: 'pass', failed: 'fail' };
  return (
    <Card title={t('results.assertions')}>
      <Stack gap={8}>
        {list.map((a, i) => {
          const v = verdicts[a.state] ?? 'not_run';
          return (
            <Group key={i} gap="sm" wrap="nowrap" align="flex-start">
              <Box w={96} style={{ flex: 'none' }}>
                <Verdict of={v} text={v === 'not_run' ? withSpaces(a.state) : undefined} />
              </Box>
              <Box style={{ minWidth: 0 }}>
                <Text size="sm" className={`${common.mono} ${common.untrusted}`}>
                  {a.name}
                </Text>
                <Text size="xs" c="dimmed" className={common.untrusted}>
                  {[
                    a.expected && `${t('results.expected')}: ${a.expected}`,
                    a.actual && `${t('results.actual')}: ${a.actual}`,
                    a.reason,
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </Text>
              </Box>
            </Group>
          );
        })}
      </Stack>
    </Card>
  );
}

function Scores({ of: list }: { of: Schemas['Score'][] }) {
  const t = useText();
  // The overall score first, then scores below 1.
  const sorted = list.toSorted((a, b) => Number(b.name === 'overall') - Number(a.name === 'overall'));
  return (
    <Card title={t('results.scores')}>
      {list.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('results.noScores')}
        </Text>
      ) : (
        <Box style={{ columns: '210px 2', columnGap: 24 }}>
          {sorted.map((s, i) => (
            <Group key={i} justify="space-between" wrap="nowrap" gap="sm" py={2} style={{ breakInside: 'avoid' }}>
              <Text
                size="sm"
                c={s.name === 'overall' ? undefined : 'dimmed'}
                fw={s.name === 'overall' ? 600 : 400}
                title={s.reason}
                className={common.untrusted}
              >
                {withSpaces(s.name)}
                {s.reason && (
                  <Text span size="xs" display="block">
                    {s.reason}
                  </Text>
                )}
              </Text>
              <Text span size="sm" className={common.num} fw={s.name === 'overall' ? 600 : 400}>
                {s.value === null ? t('common.notScored') : number(s.value, 3)}
              </Text>
            </Group>
          ))}
        </Box>
      )}
    </Card>
  );
}

/** Judges shows the verdicts of judges on this attempt. */
function Judges({ run, attempt: a }: { run: string; attempt: Attempt }) {
  const t = useText();
  const judged = $api.useQuery(
    'get',
    '/api/runs/{id}/verdicts',
    { params: { path: { id: run } } },
    { retry: false, staleTime: 60_000 },
  );
  const list = (judged.data?.judgings ?? []).flatMap((j) =>
    (j.verdicts ?? [])
      .filter((v) => v.task === a.case && v.target === a.target && (v.attempt ?? 0) === a.repeat)
      .map((v) => ({ judge: [j.judge.judge, j.judge.model].filter(Boolean).join(' · '), ...v })),
  );
  if (list.length === 0) return null;
  return (
    <Card title={t('results.judges')}>
      <Stack gap="sm">
        {list.map((v, i) => (
          <Group key={i} gap="sm" wrap="nowrap" align="flex-start">
            <Box w={96} style={{ flex: 'none' }}>
              {v.pass === undefined ? (
                <Badge>{v.word ?? v.unscored ?? '–'}</Badge>
              ) : (
                <Verdict of={v.pass ? 'pass' : 'fail'} />
              )}
            </Box>
            <Box style={{ minWidth: 0 }}>
              <Text size="sm" className={common.untrusted}>
                {v.judge}
                {v.score !== undefined && ` · ${number(v.score, 2)}`}
              </Text>
              {v.reason && <LongText text={v.reason} />}
            </Box>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}

function Facts({ of: r, trace }: { of: Attempt; trace: TraceOf }) {
  const t = useText();
  const u = r.usage;
  const rows: [string, string | undefined][] = [
    [t('results.modelUsed'), r.model],
    [t('results.toolChoice'), r.tool_choice],
    [t('results.outcome'), withSpaces(r.outcome)],
    [t('results.unread'), r.unread ? withSpaces(r.unread) : undefined],
    [t('results.finishReason'), r.finish_reason],
    [t('results.evidenceNotes'), r.notes?.join('; ')],
    [t('results.end'), trace.end ? withSpaces(trace.end) : undefined],
    [
      t('results.wall'),
      r.wall_ms === undefined ? undefined : `${duration(r.wall_ms)}${r.cached ? ` (${t('results.cached')})` : ''}`,
    ],
    [t('results.rounds'), trace.attempts === undefined ? undefined : String(trace.attempts)],
    [t('results.tokensIn'), u?.input_tokens === undefined ? undefined : number(u.input_tokens)],
    [t('results.tokensOut'), u?.output_tokens === undefined ? undefined : number(u.output_tokens)],
    [t('results.cost'), u?.cost_usd === undefined ? undefined : money(u.cost_usd)],
    [t('results.repairsMade'), r.repairs?.join(', ')],
    [t('results.fault'), r.fault ? `${withSpaces(r.fault.kind)}: ${r.fault.message}` : undefined],
  ];
  return (
    <Card title={t('results.usage')}>
      <Box
        component="dl"
        m={0}
        style={{ display: 'grid', gridTemplateColumns: 'minmax(110px, auto) 1fr', gap: '4px 16px' }}
      >
        {rows
          .filter(([, v]) => v !== undefined && v !== '')
          .map(([k, v]) => (
            <Box key={k} style={{ display: 'contents' }}>
              <Text component="dt" size="sm" c="dimmed">
                {k}
              </Text>
              <Text component="dd" m={0} size="sm" className={common.untrusted}>
                {v}
              </Text>
            </Box>
          ))}
      </Box>
    </Card>
  );
}

/** Raw shows the requests and responses as they were sent and received, without keys. */
function Raw({ of: list }: { of: Exchange[] }) {
  const t = useText();
  return (
    <Accordion variant="contained" chevronPosition="left">
      <Accordion.Item value="raw">
        <Accordion.Control>
          <Text fw={600} size="sm">
            {t('results.raw')} ({list.length})
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          {list.length === 0 && (
            <Text size="sm" c="dimmed">
              {t('results.noRaw')}
            </Text>
          )}
          <Stack gap="lg">
            {list.map((x, i) => (
              <Stack key={i} gap="xs">
                <Text size="sm" c="dimmed" className={common.num}>
                  {t('results.request', { n: i + 1 })} · {x.http ? `HTTP ${x.http} · ` : ''}
                  {duration(x.ms)}
                </Text>
                <CodeEditor
                  label={t('results.request', { n: i + 1 })}
                  value={whole(x.request)}
                  language="json"
                  readOnly
                  height={240}
                />
                <CodeEditor
                  label={t('results.response', { n: i + 1 })}
                  value={x.error || whole(x.response)}
                  language="json"
                  readOnly
                  height={240}
                />
              </Stack>
            ))}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

/** whole formats a body over several lines if it is JSON. */
function whole(v: unknown): string {
  if (v === undefined || v === null) return '';
  try {
    return JSON.stringify(typeof v === 'string' ? JSON.parse(v) : v, null, 2);
  } catch {
    return String(v);
  }
}
