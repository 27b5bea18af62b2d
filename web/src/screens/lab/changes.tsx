// Edits of texts and settings: their effect on each question, before the catalogue changes.
//
//   questions ─► edits ─► what if ─► apply (a new version of the catalogue)
//                  ▲
//               suggest
import {
  Box,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
  Textarea,
  Title,
} from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { $api, api, unwrap, Problem, problemOf, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { type Translator, useText, useTranslate } from '../../text';
import { Figure } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Failure } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { number, signed } from '../../ui/format';
import { offerUndo, notify } from '../../ui/notify';
import { type Bench, FilePick, ServerTexts, Mark, Names, useAddress } from './parts';
import { pValue } from './report';
import { type CatalogueBackup, readBackup, restoreBackup } from './restore';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Edit = { tool: string; was?: string; description?: string; keywords?: string[] };
type Asked = {
  suite?: string;
  suite_id?: string;
  run_id?: string;
  catalogue_id: string;
  preset?: 'default' | 'bigtool';
};

export function ChangesTab({ bench }: { bench: Bench }) {
  const t = useText();
  const [at, go] = useAddress();
  const suites = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 100 } } },
    { enabled: at.get('tab') === 'changes' },
  );
  const suiteId = at.get('suite') ?? '';
  const run = at.get('run') ?? '';
  const asked: Asked | null = suiteId
    ? { suite_id: suiteId, catalogue_id: bench.catalogue.id, preset: bench.preset }
    : bench.questions
      ? { suite: bench.questions.text, catalogue_id: bench.catalogue.id, preset: bench.preset }
      : run
        ? { run_id: run, catalogue_id: bench.catalogue.id, preset: bench.preset }
        : null;
  const [form, setForm] = useState(true);
  const [edits, setEdits] = useState<Edit[]>([]);
  const [text, setText] = useState('');
  const part = at.get('do');
  const tab = at.get('tab');
  useEffect(() => {
    if (tab !== 'changes' || !part) return;
    const frame = requestAnimationFrame(() => {
      const to = document.getElementById(`lab-${part === 'apply' ? 'whatif' : part}`);
      to?.scrollIntoView({ block: 'start' });
      to?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [part, tab]);

  return (
    <Stack gap="lg">
      <Card title={t('lab.questions')}>
        <Group align="flex-start" gap="lg" wrap="wrap">
          <Box style={{ flex: '1 1 320px' }}>
            <FilePick
              label={t('lab.chooseFile')}
              file={suiteId ? null : bench.questions}
              onFile={(f) => {
                bench.setQuestions(f);
                go({ suite: null });
              }}
            />
          </Box>
          {(suites.data?.items.length ?? 0) > 0 && (
            <Select
              label={t('lab.questionsSuite')}
              clearable
              searchable
              w={{ base: '100%', sm: 320 }}
              value={suiteId || null}
              onChange={(v) => go({ suite: v })}
              clearButtonProps={{ 'aria-label': t('lab.clearFilter') }}
              data={(suites.data?.items ?? []).map((s) => ({ value: s.id, label: s.name }))}
            />
          )}
        </Group>
        {asked?.run_id && (
          <Text size="sm" mt="sm" className={common.untrusted}>
            {t('lab.questionsOfRun', { id: run })}
          </Text>
        )}
        {!asked && (
          <Text size="sm" c="dimmed" mt="sm">
            {t('lab.questionsNeededText')}
          </Text>
        )}
      </Card>
      <Section id="whatif" title={t('lab.edits')} hint={t('lab.editsHint')}>
        <SegmentedControl
          mb="md"
          aria-label={t('lab.edits')}
          value={form ? 'form' : 'file'}
          data={[
            { value: 'form', label: t('lab.editsForm') },
            { value: 'file', label: t('lab.editsFile') },
          ]}
          onChange={(v) => {
            if (v === 'file' && edits.length > 0 && text.trim() === '') setText(JSON.stringify({ edits }, null, 2));
            setForm(v === 'form');
          }}
        />
        {form ? (
          <EditForm bench={bench} edits={edits} setEdits={setEdits} />
        ) : (
          <CodeEditor label={t('lab.editsText')} language="yaml" value={text} onChange={setText} height={260} />
        )}
        <Try
          bench={bench}
          asked={asked}
          edits={form ? (edits.length > 0 ? JSON.stringify({ edits }) : '') : text}
          done={() => (form ? setEdits([]) : setText(''))}
        />
      </Section>
      <Suggest
        bench={bench}
        asked={asked}
        use={(edits) => {
          setText(edits);
          setForm(false);
          go({ do: 'whatif' });
        }}
      />
      <Sweep bench={bench} asked={asked} />
      <Tune bench={bench} asked={asked} />
    </Stack>
  );
}

function Section({ id, title, hint, children }: { id: string; title: string; hint: string; children: ReactNode }) {
  return (
    <Box className={common.card} p="md" component="section" id={`lab-${id}`} tabIndex={-1} aria-label={title}>
      <Title order={2}>{title}</Title>
      <Text size="sm" c="dimmed" mb="md">
        {hint}
      </Text>
      {children}
    </Box>
  );
}

/** EditForm changes the texts of one tool after the other. */
function EditForm({ bench, edits, setEdits }: { bench: Bench; edits: Edit[]; setEdits: (e: Edit[]) => void }) {
  const t = useText();
  const [at, go] = useAddress();
  const name = at.get('edit');
  const tool = bench.tools.find((x) => x.name === name);
  const kept = edits.find((e) => e.tool === name);
  const [description, setDescription] = useState('');
  const [keywords, setKeywords] = useState<string[]>([]);
  useEffect(() => {
    setDescription(kept?.description ?? tool?.description ?? '');
    setKeywords(kept?.keywords ?? tool?.keywords ?? []);
  }, [tool, kept]);
  const changed =
    tool !== undefined &&
    (description !== (kept?.description ?? tool.description) ||
      keywords.join('\n') !== (kept?.keywords ?? tool.keywords).join('\n'));
  const keep = () => {
    if (!tool) return;
    const e: Edit = { tool: tool.name };
    if (tool.description) e.was = tool.description; // the server refuses an edit if the old text differs
    if (description !== tool.description) e.description = description;
    if (keywords.join('\n') !== tool.keywords.join('\n')) e.keywords = keywords;
    const others = edits.filter((x) => x.tool !== tool.name);
    setEdits(e.description === undefined && e.keywords === undefined ? others : [...others, e]);
  };
  return (
    <Stack gap="sm">
      <Select
        label={t('lab.chooseTool')}
        data={bench.tools.map((x) => x.name)}
        value={tool ? tool.name : null}
        onChange={(v) => go({ edit: v }, { replace: true })}
        searchable
        maw={420}
        limit={50}
      />
      {tool && (
        <>
          <Textarea
            label={t('lab.description')}
            value={description}
            onChange={(e) => setDescription(e.currentTarget.value)}
            autosize
            minRows={2}
            maxRows={10}
          />
          <TagsInput
            label={t('lab.editKeywords')}
            value={keywords}
            onChange={setKeywords}
            splitChars={[',']}
            acceptValueOnBlur
          />
          <Group>
            <Button variant="default" disabled={!changed} onClick={keep}>
              {t('lab.addEdit')}
            </Button>
          </Group>
        </>
      )}
      <Box>
        {edits.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('lab.unchanged')}
          </Text>
        ) : (
          <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {edits.map((e) => (
              <Group key={e.tool} component="li" gap="xs">
                <Names of={[e.tool]} />
                <Text size="sm" c="dimmed">
                  {t('lab.changedParts', {
                    parts: [
                      e.description !== undefined ? t('lab.description').toLowerCase() : '',
                      e.keywords ? t('lab.editKeywords').toLowerCase() : '',
                    ]
                      .filter(Boolean)
                      .join(', '),
                  })}
                </Text>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  px={4}
                  aria-label={t('lab.dropEdit', { tool: e.tool })}
                  onClick={() => setEdits(edits.filter((x) => x.tool !== e.tool))}
                >
                  <IconX size={14} aria-hidden />
                </Button>
              </Group>
            ))}
          </Stack>
        )}
      </Box>
    </Stack>
  );
}

/** Try shows the effect of edits, and applies exactly the tried edits. */
function Try({ bench, asked, edits, done }: { bench: Bench; asked: Asked | null; edits: string; done: () => void }) {
  const t = useText();
  const invalidate = useInvalidate();
  const [, go] = useAddress();
  const may = usePermission('write');
  const status: ('accepted' | 'proposed')[] = ['accepted', 'proposed'];
  const [tried, setTried] = useState('');
  const now = JSON.stringify([edits, asked, bench.how, bench.catalogue.version]);
  const suppose = useMutation({
    mutationFn: async () =>
      unwrap(await api.POST('/api/v1/admin/tool-eval/whatif', { body: { ...asked!, ...bench.how, edits, status } })),
    onSuccess: () => setTried(now),
  });
  const [was, setWas] = useState<CatalogueBackup | null>(null);
  const catalogues = () => invalidate.catalogues();
  const restore = async (b: CatalogueBackup) => {
    try {
      const made = await restoreBackup(b);
      setWas(null);
      apply.reset();
      notify(t('lab.restored', { name: b.name, version: made.version, was: b.version }));
    } catch (e) {
      if (problemOf(e).status === 412) throw new Problem(412, t('lab.undoConflict', { name: b.name }));
      throw e;
    } finally {
      void catalogues();
    }
  };
  const apply = useMutation({
    mutationFn: async () => {
      // read before the change, so that it can be restored even if the answer is lost
      const old = await readBackup(bench.catalogue);
      setWas(old);
      const made = unwrap(
        await api.POST('/api/v1/admin/tool-eval/apply', {
          params: { header: { 'If-Match': `"${bench.catalogue.version}"` } },
          body: { catalogue_id: bench.catalogue.id, edits, status },
        }),
      );
      return { made, old };
    },
    onSuccess: async ({ made, old }) => {
      const message = t('lab.applied', { name: made.name, version: made.version, n: made.edited_tools.length });
      if (old) offerUndo(t, message, () => restore(old));
      else notify(message);
      done();
      suppose.reset();
      setTried('');
      await catalogues();
    },
    onError: () => void catalogues(),
  });
  const undo = useMutation({ mutationFn: restore });
  // Only the version that replaced the old text is undone.
  const back = was && was.id === bench.catalogue.id && was.version + 1 === bench.catalogue.version ? was : null;
  const fresh = tried === now;
  return (
    <Stack gap="md" mt="md">
      <Group gap="sm">
        <Button loading={suppose.isPending} disabled={edits.trim() === '' || !asked} onClick={() => suppose.mutate()}>
          {t('lab.whatIfRun')}
        </Button>
        {may && (
          <Button variant="default" loading={apply.isPending} disabled={!fresh} onClick={() => apply.mutate()}>
            {t('lab.apply')}
          </Button>
        )}
        <Text size="sm" c="dimmed" role="status">
          {!asked
            ? t('lab.questionsNeeded')
            : suppose.isPending
              ? t('lab.whatIfBusy')
              : fresh
                ? t('lab.applyHint', { version: bench.catalogue.version + 1, name: bench.catalogue.name })
                : suppose.data
                  ? t('lab.whatIfStale')
                  : ''}
        </Text>
      </Group>
      <Failure of={suppose.error ?? apply.error ?? undo.error} />
      {back && apply.error && (
        <Text size="sm">{t('lab.answerLost', { name: back.name, version: bench.catalogue.version })}</Text>
      )}
      {(apply.data || back) && (
        <Group gap="sm" role="status">
          {apply.data && (
            <Mark tone="pass">
              {t('lab.applied', {
                name: apply.data.made.name,
                version: apply.data.made.version,
                n: apply.data.made.edited_tools.length,
              })}
            </Mark>
          )}
          {back && may && (
            <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(back)}>
              {t('lab.undoApply', { version: back.version })}
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => go({ tab: 'suite', do: null })}>
            {t('lab.runAgain')}
          </Button>
        </Group>
      )}
      {suppose.data && <Effects of={suppose.data} />}
    </Stack>
  );
}

const verdicts = {
  better: 'lab.verdict_better',
  worse: 'lab.verdict_worse',
  'no clear difference': 'lab.verdict_unclear',
  'not comparable': 'lab.verdict_none',
} as const;

const measures = {
  first_tool_right: 'lab.first_tool_right',
  right_tool_among_k: 'lab.right_tool_among_k',
  tools_right: 'lab.tools_right',
} as const;

function VerdictMark({ of }: { of: string }) {
  const t = useText();
  const key = verdicts[of as keyof typeof verdicts];
  return (
    <Mark tone={of === 'better' ? 'pass' : of === 'worse' ? 'fail' : 'none'}>
      {of === 'better' ? '↑ ' : of === 'worse' ? '↓ ' : ''}
      {key ? t(key) : of}
    </Mark>
  );
}

function Effects({ of: w }: { of: Schemas['Supposed'] }) {
  const t = useText();
  return (
    <Stack gap="lg" data-effects>
      {(w.comparisons ?? []).map((c) => (
        <Effect key={c.by} of={c} />
      ))}
      {(w.alone ?? []).length > 1 && (
        <Box>
          <Title order={3} mb="xs">
            {t('lab.alone')}
          </Title>
          <Differences
            rows={(w.alone ?? []).map((a) => ({
              key: a.tool,
              name: <Names of={[a.tool]} />,
              d: a.difference,
              p: a.p_adjusted ?? a.difference.p,
            }))}
            first={t('lab.tool')}
          />
        </Box>
      )}
      {w.left_out > 0 && (
        <Box>
          <Text size="sm">{t('lab.leftOut', { n: w.left_out })}</Text>
          <ServerTexts of={(w.leaks ?? []).map((l) => ({ about: `${l.case} (${l.tool}):`, text: l.text }))} />
        </Box>
      )}
      <ServerTexts of={w.notes.map((n) => n.text)} />
    </Stack>
  );
}

/** Effect is the effect of edits on the results of one chooser, the retriever or a model. */
export function Effect({ of: c }: { of: Schemas['CatalogComparison'] }) {
  const t = useText();
  return (
    <Box>
      <Group gap="sm" mb={4}>
        <Title order={3}>{c.by === 'retriever' ? t('lab.byRetriever') : c.by}</Title>
        <VerdictMark of={c.verdict} />
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {t('lab.pairedHint', { right: c.newly_right?.length ?? 0, wrong: c.newly_wrong?.length ?? 0 })}{' '}
        {c.more_cases_needed ? t('lab.moreCases', { n: number(c.more_cases_needed) }) : ''}
      </Text>
      <Differences
        rows={(c.rates ?? []).map((r) => ({
          key: r.measure,
          name: measures[r.measure as keyof typeof measures]
            ? t(measures[r.measure as keyof typeof measures])
            : r.measure,
          d: r,
          p: r.p_holm ?? r.p,
        }))}
        first={t('lab.measure')}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mt="md">
        <Moved title={t('lab.newlyRight')} tone="pass" of={c.newly_right ?? []} />
        <Moved title={t('lab.newlyWrong')} tone="fail" of={c.newly_wrong ?? []} />
      </SimpleGrid>
    </Box>
  );
}

function Differences({
  rows,
  first,
}: {
  rows: { key: string; name: ReactNode; d: Schemas['PanelDifference'] | Schemas['CatalogEffectRate']; p: number }[];
  first: string;
}) {
  const t = useText();
  return (
    <DataTable
      label={`${t('lab.change')}: ${first}`}
      miw={640}
      heads={[
        { title: first },
        t('lab.before'),
        t('lab.after'),
        t('lab.change'),
        { title: t('lab.pValue'), right: true },
      ]}
    >
      {rows.map((r) => (
        <Table.Tr key={r.key}>
          <Table.Th scope="row" fw={500}>
            {r.name}
          </Table.Th>
          <Table.Td>
            <Figure interval={r.d.baseline} />
          </Table.Td>
          <Table.Td>
            <Figure interval={r.d.candidate} />
          </Table.Td>
          <Table.Td>
            <Delta of={r.d.change} />
          </Table.Td>
          <FigureCell>{pValue(r.p)}</FigureCell>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** Delta is a difference of rates with its interval and n. */
export function Delta({ of: i }: { of: Schemas['Interval'] }) {
  if (i.point === null)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  return (
    <span className={common.num}>
      <Text span size="sm" fw={600}>
        {signed(i.point)}
      </Text>{' '}
      <Text span size="xs" c="dimmed">
        {i.lower !== null && i.upper !== null ? `${signed(i.lower).replace(' pp', '')} … ${signed(i.upper)} · ` : ''}n ={' '}
        {i.n}
      </Text>
    </span>
  );
}

function Moved({ title, tone, of }: { title: string; tone: 'pass' | 'fail'; of: Schemas['CatalogChangedAnswer'][] }) {
  const t = useText();
  return (
    <Box>
      <Group gap="xs" mb={4}>
        <Mark tone={tone}>
          {tone === 'pass' ? '✓' : '✗'} {title} ({of.length})
        </Mark>
      </Group>
      {of.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('lab.noneChanged')}
        </Text>
      ) : (
        <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {of.map((q) => (
            <Box component="li" key={q.case} data-case={q.case}>
              <Text size="sm" className={common.untrusted}>
                {q.question}{' '}
                <Text span c="dimmed" className={common.mono}>
                  {q.case}
                </Text>
              </Text>
              <Group gap={6} fz="xs" align="center">
                <Text size="xs" c="dimmed">
                  {t('lab.before')}
                </Text>
                <Names of={(q.before ?? []).slice(0, 3)} good={(n) => (q.right ?? []).includes(n)} />
                <Text size="xs" c="dimmed">
                  {t('lab.after')}
                </Text>
                <Names of={(q.after ?? []).slice(0, 3)} good={(n) => (q.right ?? []).includes(n)} />
              </Group>
            </Box>
          ))}
        </Stack>
      )}
    </Box>
  );
}

/** Suggest searches for better texts by rules and by a model. */
function Suggest({ bench, asked, use }: { bench: Bench; asked: Asked | null; use: (edits: string) => void }) {
  const t = useText();
  const [model, setModel] = useState('');
  const [top, setTop] = useState<number | string>(5);
  const [only, setOnly] = useState<string[]>([]);
  const ask = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/v1/admin/tool-eval/suggest', {
          body: {
            ...asked!,
            ...bench.how,
            model: model.trim() || undefined,
            top: Number(top) || undefined,
            tools: only.length > 0 ? only : undefined,
          },
        }),
      ),
  });
  const s = ask.data;
  return (
    <Section id="suggest" title={t('lab.suggest')} hint={t('lab.suggestHint')}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('lab.model')}
          description={t('lab.modelHint')}
          value={model}
          onChange={(e) => setModel(e.currentTarget.value)}
          w={{ base: '100%', sm: 320 }}
        />
        <TagsInput
          label={t('lab.onlyTools')}
          description={t('lab.onlyToolsHint')}
          data={bench.tools.map((x) => x.name)}
          value={only}
          onChange={setOnly}
          w={{ base: '100%', sm: 320 }}
          limit={50}
        />
        <NumberInput
          label={t('lab.top')}
          value={top}
          onChange={setTop}
          min={1}
          max={100}
          w={140}
          disabled={only.length > 0}
        />
        <Button variant="default" loading={ask.isPending} disabled={!asked} onClick={() => ask.mutate()}>
          {t('lab.suggestRun')}
        </Button>
      </Group>
      <Stack gap="lg" mt="md">
        <Failure of={ask.error} />
        {s && (
          <>
            <Box>
              <Title order={3}>{t('lab.byRules')}</Title>
              {s.findings.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {t('lab.noFindings')}
                </Text>
              ) : (
                <ServerTexts
                  of={s.findings
                    .slice(0, 50)
                    .map(({ location, message }) => ({ about: location ? `${location}:` : '', text: message }))}
                />
              )}
            </Box>
            {s.suggestions && (
              <Box>
                <Group justify="space-between" mb="sm">
                  <Text size="sm" c="dimmed">
                    {t('lab.heldOut', { train: s.suggestions.train, held: s.suggestions.held_out })}
                  </Text>
                  {s.edits && (
                    <Button variant="default" size="xs" onClick={() => use(s.edits!)}>
                      {t('lab.useEdits')}
                    </Button>
                  )}
                </Group>
                <Stack gap="md">
                  {(s.suggestions.tools ?? []).map((x) => (
                    <Box key={x.tool}>
                      <Group gap="xs" mb={4}>
                        <Names of={[x.tool]} />
                        <Mark tone={x.status === 'rejected' ? 'fail' : x.status === 'accepted' ? 'pass' : 'none'}>
                          {stateOf(t, x.status)}
                        </Mark>
                        {x.difference && <Delta of={x.difference.change} />}
                      </Group>
                      <SimpleGrid cols={{ base: 1, md: 2 }}>
                        <Box>
                          <Text size="xs" c="dimmed">
                            {t('lab.wasText')}
                          </Text>
                          <Text size="sm" className={common.untrusted}>
                            {x.was}
                          </Text>
                        </Box>
                        {x.description && (
                          <Box>
                            <Text size="xs" c="dimmed">
                              {t('lab.newText')}
                            </Text>
                            <Text size="sm" className={common.untrusted}>
                              {x.description}
                            </Text>
                          </Box>
                        )}
                      </SimpleGrid>
                      <ServerTexts of={x.reasons} />
                    </Box>
                  ))}
                </Stack>
              </Box>
            )}
            {s.prompts && (
              <Box>
                <Title order={3} mb="xs">
                  {t('lab.prompts')}
                </Title>
                {(s.prompts.prompts ?? []).map((p) => (
                  <details key={p.tool}>
                    <summary className={common.mono}>{p.tool}</summary>
                    <Text
                      component="pre"
                      className={`${common.untrusted} ${common.mono} ${common.card}`}
                      p="sm"
                      m={0}
                      mah={320}
                      style={{ overflow: 'auto' }}
                      tabIndex={0}
                    >
                      {p.text}
                    </Text>
                  </details>
                ))}
              </Box>
            )}
            <ServerTexts of={s.notes.map((n) => n.text)} />
          </>
        )}
      </Stack>
    </Section>
  );
}

function stateOf(t: Translator, s: string): string {
  return s === 'rejected' || s === 'proposed' || s === 'accepted' ? t(`lab.${s}`) : s;
}

/** Sweep measures different sizes of the catalogue and other settings. */
function Sweep({ bench, asked }: { bench: Bench; asked: Asked | null }) {
  const t = useText();
  const translate = useTranslate();
  const [sizes, setSizes] = useState<string[]>([]);
  const [settings, setSettings] = useState<string[]>([]);
  const [embed, setEmbed] = useState<string[]>([]);
  const [rerank, setRerank] = useState<string[]>([]);
  const most = Math.max(bench.tools.length - 1, 1);
  const ask = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/v1/admin/tool-eval/sweep', {
          body: {
            ...asked!,
            base: { embed: bench.how.embed, rerank: bench.how.rerank },
            distractors: sizes.length > 0 ? sizes.map(Number) : undefined,
            configurations: settings.length > 0 ? settings : undefined,
            embed: embed.length > 0 ? embed : undefined,
            rerank: rerank.length > 0 ? rerank : undefined,
          },
        }),
      ),
  });
  const k = ask.data?.points?.[0]?.k;
  return (
    <Section id="sweep" title={t('lab.sweep')} hint={t('lab.sweepHint')}>
      <Group align="flex-end" gap="sm">
        <TagsInput
          label={t('lab.distractors')}
          description={t('lab.distractorsHint')}
          value={sizes}
          onChange={(v) => setSizes(v.filter((s) => /^\d+$/.test(s)))}
          data={[10, 20, 50, 100, 200].filter((n) => n < most).map(String)}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          w={{ base: '100%', sm: 360 }}
        />
        <TagsInput
          label={t('lab.configurations')}
          description={t('lab.configurationsHint')}
          value={settings}
          onChange={setSettings}
          splitChars={[' ']}
          acceptValueOnBlur
          w={{ base: '100%', sm: 340 }}
        />
        <TagsInput
          label={t('lab.embed')}
          description={t('lab.embedHint')}
          value={embed}
          onChange={setEmbed}
          splitChars={[' ']}
          acceptValueOnBlur
          maxTags={5}
          w={{ base: '100%', sm: 360 }}
        />
        <TagsInput
          label={t('lab.rerank')}
          description={t('lab.rerankHint')}
          value={rerank}
          onChange={setRerank}
          splitChars={[' ']}
          acceptValueOnBlur
          maxTags={5}
          w={{ base: '100%', sm: 340 }}
        />
        <Button variant="default" loading={ask.isPending} disabled={!asked} onClick={() => ask.mutate()}>
          {t('lab.sweepRun')}
        </Button>
      </Group>
      <Stack gap="lg" mt="md">
        <Failure of={ask.error} />
        {ask.data && (
          <>
            <DataTable
              label={t('lab.sweep')}
              miw={720}
              heads={[
                t('lab.configuration'),
                { title: t('lab.toolsN'), right: true },
                t('lab.precision1'),
                t('lab.hitAtK', { k: k ?? 'k' }),
                t('lab.mrr'),
              ]}
            >
              {(ask.data.points ?? []).map((p) => (
                <Table.Tr key={`${p.configuration} ${p.distractors}`}>
                  <Table.Th scope="row" fw={500} className={common.untrusted}>
                    {translate(p.configuration)}
                  </Table.Th>
                  <FigureCell>{p.tools}</FigureCell>
                  <Table.Td>
                    <Figure interval={p.precision_at_1} bar />
                  </Table.Td>
                  <Table.Td>
                    <Figure interval={p.hit_at_k} />
                  </Table.Td>
                  <Table.Td>
                    <Figure interval={p.mrr} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
            {(ask.data.pairs ?? []).length > 0 && (
              <Box>
                <Title order={3} mb="xs">
                  {t('lab.pairs')}
                </Title>
                <Table>
                  <Table.Tbody>
                    {(ask.data.pairs ?? []).map((p, i) => (
                      <Table.Tr key={i}>
                        <Table.Th scope="row" fw={500} className={common.untrusted}>
                          {t('lab.baselineOf', { candidate: translate(p.candidate), baseline: translate(p.baseline) })}
                        </Table.Th>
                        <Table.Td>
                          <Delta of={p.change} />
                        </Table.Td>
                        <FigureCell>p = {pValue(p.p_adjusted)}</FigureCell>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Box>
            )}
            <ServerTexts of={ask.data.notes.map((n) => n.text)} />
          </>
        )}
      </Stack>
    </Section>
  );
}

const goals = ['mrr', 'hit1', 'ndcg', 'pass'] as const;

/** Tune learns weights, which all searches of the lab can use. */
function Tune({ bench, asked }: { bench: Bench; asked: Asked | null }) {
  const t = useText();
  const [goal, setGoal] = useState<(typeof goals)[number]>('mrr');
  const [experiment, setExperiment] = useState<string | null>(null);
  const experiments = $api.useQuery(
    'get',
    '/api/experiments',
    { params: { query: { limit: 200 } } },
    { enabled: !!asked?.suite_id },
  );
  const about = (experiments.data?.items ?? []).filter((e) => e.suite_id === asked?.suite_id);
  const ask = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/v1/admin/tool-eval/tune', {
          body: {
            ...asked!,
            goal,
            embed: bench.how.embed,
            experiment_id: about.some((e) => e.id === experiment) ? experiment! : undefined,
          },
        }),
      ),
  });
  const found = ask.data;
  return (
    <Section id="tune" title={t('lab.tune')} hint={t('lab.tuneHint')}>
      <Group align="flex-end" gap="sm">
        <Select
          label={t('lab.goal')}
          data={goals.map((g) => ({ value: g, label: t(`lab.goal_${g}`) }))}
          value={goal}
          onChange={(v) => v && setGoal(v)}
          allowDeselect={false}
          w={{ base: '100%', sm: 320 }}
        />
        {about.length > 0 && (
          <Select
            label={t('newrun.experiment')}
            data={about.map((e) => ({ value: e.id, label: e.name }))}
            value={experiment}
            onChange={setExperiment}
            clearable
            w={{ base: '100%', sm: 240 }}
          />
        )}
        <Button variant="default" loading={ask.isPending} disabled={!asked} onClick={() => ask.mutate()}>
          {t('lab.tuneRun')}
        </Button>
      </Group>
      <Stack gap="sm" mt="md">
        <Failure of={ask.error} />
        {found && (
          <>
            <Group gap="sm" role="status">
              <Mark tone={found.tuned.beyond_chance ? 'pass' : 'none'}>
                {t(
                  found.weights_text === ''
                    ? 'lab.tuneNothing'
                    : found.tuned.beyond_chance
                      ? 'lab.tuneBetter'
                      : 'lab.tuneUnclear',
                )}
              </Mark>
              <Delta of={found.tuned.change} />
              <Text span size="xs" c="dimmed" className={common.num}>
                p = {pValue(found.tuned.p)}
              </Text>
            </Group>
            {found.weights_text !== '' && (
              <>
                <Text
                  component="pre"
                  className={`${common.untrusted} ${common.mono} ${common.card}`}
                  p="sm"
                  m={0}
                  mah={320}
                  style={{ overflow: 'auto' }}
                  tabIndex={0}
                >
                  {JSON.stringify(found.weights, null, 2)}
                </Text>
                <Button
                  variant="default"
                  size="xs"
                  style={{ alignSelf: 'flex-start' }}
                  onClick={() => bench.setWeights(found.weights_text)}
                >
                  {t('lab.useWeights')}
                </Button>
              </>
            )}
            <ServerTexts of={found.notes.map((n) => n.text)} />
          </>
        )}
      </Stack>
    </Section>
  );
}
