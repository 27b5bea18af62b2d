import {
  Accordion,
  Badge,
  Box,
  Button,
  FileButton,
  Group,
  SegmentedControl,
  Stack,
  Table,
  Tabs,
  Text,
} from '@mantine/core';
import { IconChecklist, IconDownload, IconKeyboard, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { type LiveEvent, useLive } from '../../api/live';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { inUnit } from '../../ui/interval';
import { Card, Page } from '../../ui/page';
import { Empty, Failure, Notice, Loading } from '../../ui/status';
import { Verdict } from '../../ui/verdict';
import { moment } from '../../ui/format';
import { useParam } from '../../ui/params';
import { RunPick } from '../../ui/pick';
import { type Column, Rows } from '../../ui/table';
import { notify, notifyFailure } from '../../ui/notify';
import { AskDialog } from './ask';
import { Calibration } from './calibration';
import { labelsOf, type Subject, useSubject } from './labels';
import { Coefficient, JudgeName } from './parts';
import { DataTable, FigureCell, PlainTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Judging = Schemas['AppJudgingView'];
type Said = Schemas['AppThingVerdict'];

export function JudgesPage() {
  const t = useText();
  const invalidate = useInvalidate();
  const { of, run, setRun, traces } = useSubject();
  const [tab, setTab] = useParam('tab', traces ? 'calibration' : 'verdicts');
  const mayRun = usePermission('run');
  const mayLabel = usePermission('write');
  const [asking, setAsking] = useState(false);
  useLive(
    useCallback(
      (e: LiveEvent) => {
        if (e.type === 'judge_result' || e.type === 'job_completed') void invalidate.judgings();
      },
      [invalidate],
    ),
  );
  return (
    <Page
      title={t('shell.judges')}
      lead={t('judges.lead')}
      actions={
        of && (
          <>
            {mayLabel && (
              <Button
                variant="default"
                leftSection={<IconKeyboard size={16} aria-hidden />}
                component={Link}
                to={`/label?${of.kind}=${of.id}`}
              >
                {t('judges.label')}
              </Button>
            )}
            {mayLabel && (
              <Button
                variant="default"
                leftSection={<IconChecklist size={16} aria-hidden />}
                component={Link}
                to={`/gold?${of.kind}=${of.id}`}
              >
                {t('gold.open')}
              </Button>
            )}
            {mayRun && of.kind === 'run' && <Button onClick={() => setAsking(true)}>{t('judges.ask')}</Button>}
          </>
        )
      }
    >
      {traces ? (
        <Text size="sm">
          <Link to={`/traces/${traces}`}>{t('judges.ofTraces', { id: traces })}</Link>
        </Text>
      ) : (
        <RunPick
          label={t('judges.run')}
          placeholder={t('judges.chooseRun')}
          value={run}
          onChange={setRun}
          maw={640}
          clearable
        />
      )}
      <Tabs value={of ? tab : 'prompts'} onChange={(v) => setTab(v)} keepMounted={false}>
        <Tabs.List mb="md">
          {of?.kind === 'run' && <Tabs.Tab value="verdicts">{t('judges.verdicts')}</Tabs.Tab>}
          {of && <Tabs.Tab value="calibration">{t('judges.calibration')}</Tabs.Tab>}
          {of && <Tabs.Tab value="labels">{t('judges.labels')}</Tabs.Tab>}
          <Tabs.Tab value="prompts">{t('judges.prompts')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="verdicts">
          {of?.kind === 'run' && <Verdicts run={of.id} ask={mayRun ? () => setAsking(true) : undefined} />}
        </Tabs.Panel>
        <Tabs.Panel value="calibration">{of && <Calibration of={of} />}</Tabs.Panel>
        <Tabs.Panel value="labels">{of && <Labels of={of} />}</Tabs.Panel>
        <Tabs.Panel value="prompts">
          <Prompts />
        </Tabs.Panel>
      </Tabs>
      {asking && of && <AskDialog run={of.id} close={() => setAsking(false)} />}
    </Page>
  );
}

function Verdicts({ run, ask }: { run: string; ask?: () => void }) {
  const t = useText();
  const [which, setWhich] = useParam('judging');
  const [only, setOnly] = useParam('only', 'all');
  const judged = $api.useQuery('get', '/api/runs/{id}/verdicts', { params: { path: { id: run } } });
  if (judged.error) return <Failure of={judged.error} retry={() => judged.refetch()} />;
  if (!judged.data) return <Loading />;
  const judgings = judged.data.judgings ?? [];
  const majorities = (judged.data.majorities ?? []) as Judging[];
  const all = [...judgings, ...majorities];
  const lost = judged.data.lost ?? [];
  if (all.length === 0 && lost.length === 0) {
    return (
      <Empty title={t('judges.noVerdicts')} text={t('judges.noVerdictsText')}>
        {ask && <Button onClick={ask}>{t('judges.ask')}</Button>}
      </Empty>
    );
  }
  const notice = lost.length > 0 && (
    <Notice title={t('judges.lost', { n: lost.length })}>
      {lost.map((l) => (
        <Text key={l.id} size="sm" className={common.untrusted}>
          {l.problem}
        </Text>
      ))}
    </Notice>
  );
  if (all.length === 0) return notice;
  const one = all.find((j) => j.id === which) ?? all.at(-1)!;
  const outcome = (v: Said) =>
    v.unscored || (v.pass === undefined && v.score === undefined && !v.word)
      ? 'unscored'
      : v.pass === undefined
        ? 'other'
        : v.pass
          ? 'pass'
          : 'fail';
  const rows = (one.verdicts ?? []).filter((v) => only === 'all' || outcome(v) === only);
  const columns: Column<Said>[] = [
    {
      key: 'verdict',
      title: t('judges.verdict'),
      width: 130,
      cell: (v) =>
        outcome(v) === 'unscored' ? (
          <Verdict of="not_run" text={t('judges.unscored')} />
        ) : v.pass === undefined ? (
          <span className={common.untrusted}>{v.word ?? ''}</span>
        ) : (
          <Verdict of={v.pass ? 'pass' : 'fail'} />
        ),
    },
    {
      key: 'task',
      title: t('judges.thing'),
      width: 230,
      cell: (v) => (
        <Link
          className={common.untrusted}
          to={`/runs/${run}/case?case=${encodeURIComponent(v.task ?? '')}&target=${encodeURIComponent(v.target ?? '')}`}
        >
          {[v.task, v.turn && t('judges.turn', { n: v.turn }), v.call_id, v.part].filter(Boolean).join(' · ')}
        </Link>
      ),
    },
    {
      key: 'target',
      title: t('judges.target'),
      width: 200,
      cell: (v) => <span className={common.untrusted}>{v.target}</span>,
    },
    {
      key: 'score',
      title: t('judges.score'),
      width: 90,
      align: 'right',
      cell: (v) => <span className={common.num}>{v.score === undefined ? '–' : inUnit(v.score, 'rate')}</span>,
    },
    {
      key: 'reason',
      title: t('judges.reason'),
      cell: (v) => (
        <Text size="sm" className={common.untrusted}>
          {v.unscored ?? v.reason ?? ''}
        </Text>
      ),
    },
    {
      key: 'people',
      title: t('judges.people'),
      width: 110,
      cell: (v) => (v.people === undefined ? '' : <Verdict of={v.people ? 'pass' : 'fail'} />),
    },
  ];
  return (
    <Stack>
      {notice}
      <DataTable
        label={t('judges.judgings')}
        card
        highlightOnHover
        heads={[
          t('judges.judge'),
          t('judges.prompt'),
          t('judges.when'),
          { title: t('judges.answered'), right: true },
          { title: t('common.pass'), right: true },
          { title: t('common.fail'), right: true },
          { title: t('judges.unscored'), right: true },
          { title: t('judges.mean'), right: true },
          { title: t('judges.samePeople'), right: true },
          { title: t('common.actions'), hidden: true },
        ]}
      >
        {all.map((j) => (
          <Table.Tr key={j.id} data-judging={j.id}>
            <Table.Td>
              <JudgeName of={j.judge} id={j.judge_id} />
            </Table.Td>
            <Table.Td className={common.mono}>{j.judge.prompt_hash?.slice(0, 8)}</Table.Td>
            <Table.Td>
              <span className={common.num}>{moment(j.created)}</span>{' '}
              {j.status !== 'done' && <Badge color="gray">{j.status}</Badge>}
            </Table.Td>
            <FigureCell>{t('common.ofRows', { n: j.answered, total: j.questions })}</FigureCell>
            <FigureCell>{j.pass}</FigureCell>
            <FigureCell>{j.fail}</FigureCell>
            <FigureCell>{j.unscored}</FigureCell>
            <FigureCell>{j.score === null ? '–' : inUnit(j.score, 'rate')}</FigureCell>
            <FigureCell>
              {j.people ? t('common.ofRows', { n: j.people.same, total: j.people.labelled }) : '–'}
            </FigureCell>
            <Table.Td>
              <Button
                size="compact-sm"
                variant={j.id === one.id ? 'light' : 'subtle'}
                aria-pressed={j.id === one.id}
                onClick={() => setWhich(j.id)}
              >
                {t('judges.show')}
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {(judged.data.agreement ?? []).length > 0 && (
        <Card title={t('judges.agreement')}>
          <DataTable
            label={t('judges.agreement')}
            heads={[
              t('judges.judge'),
              t('judges.and'),
              { title: t('judges.same'), right: true },
              t('judges.kappa'),
              t('judges.ac1'),
            ]}
          >
            {(judged.data.agreement ?? []).map((a) => (
              <Table.Tr key={`${a.a} ${a.b}`}>
                <Table.Td className={common.untrusted}>{judgings[a.a]?.judge_id ?? a.a}</Table.Td>
                <Table.Td className={common.untrusted}>{judgings[a.b]?.judge_id ?? a.b}</Table.Td>
                <FigureCell>{t('common.ofRows', { n: a.same, total: a.n })}</FigureCell>
                <Table.Td>
                  <Coefficient of={a.kappa} />
                </Table.Td>
                <Table.Td>
                  <Coefficient of={a.ac1} />
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </Card>
      )}
      <Group justify="space-between">
        <Text fw={600} className={common.untrusted}>
          {t('judges.saidBy', { judge: one.judge_id })}
        </Text>
        <SegmentedControl
          size="xs"
          value={only}
          onChange={setOnly}
          aria-label={t('common.filter')}
          data={[
            { value: 'all', label: t('common.all') },
            { value: 'pass', label: t('common.pass') },
            { value: 'fail', label: t('common.fail') },
            { value: 'unscored', label: t('judges.unscored') },
          ]}
        />
      </Group>
      {(one.verdicts ?? []).map(
        (v) => v.report && <JudgeReport key={v.target} of={v.report} target={v.target ?? ''} />,
      )}
      <Rows
        label={t('judges.verdicts')}
        columns={columns}
        rows={rows}
        idOf={(v) =>
          JSON.stringify([v.target, v.task, v.attempt, v.turn, v.call_id, v.dimension, v.part, v.against, v.swapped])
        }
        height="60vh"
      />
    </Stack>
  );
}

/** JudgeReport is the report of a judge on a target. The judge wrote every text in it. */
function JudgeReport({ of: r, target }: { of: Schemas['CallvetJudgeReport']; target: string }) {
  const t = useText();
  const lists: [string, string[]][] = [
    [t('judges.strengths'), r.strengths ?? []],
    [t('judges.weaknesses'), r.weaknesses ?? []],
    [t('judges.recommendations'), r.recommendations ?? []],
    ...(r.tools ?? []).map((x): [string, string[]] => [
      [x.tool, x.grade].filter(Boolean).join(' · '),
      [x.note ?? '', ...(x.arguments ?? []).map((a) => [a.argument, a.note].filter(Boolean).join(': '))].filter(
        Boolean,
      ),
    ]),
  ];
  return (
    <Card title={t('judges.report', { target, grade: r.grade })}>
      {lists
        .filter(([, texts]) => texts.length > 0)
        .map(([title, texts]) => (
          <Box key={title} mb="sm">
            <Text size="sm" fw={600} className={common.untrusted}>
              {title}
            </Text>
            <ul style={{ margin: 0 }}>
              {texts.map((text, i) => (
                <li key={i} className={common.untrusted}>
                  {text}
                </li>
              ))}
            </ul>
          </Box>
        ))}
    </Card>
  );
}

function Labels({ of }: { of: Subject }) {
  const t = useText();
  const invalidate = useInvalidate();
  const may = usePermission('write');
  const list = useQuery({ queryKey: queryKeys.labels(of), queryFn: () => labelsOf(of) });
  const [busy, setBusy] = useState(false);
  const bring = async (file: File | null) => {
    if (!file) return;
    setBusy(true);
    try {
      const params = { path: { id: of.id } };
      const how = {
        params,
        body: (await file.text()) as never,
        bodySerializer: (b: unknown) => b as string,
        headers: { 'Content-Type': 'application/octet-stream' },
      };
      const got = unwrap(
        of.kind === 'run'
          ? await api.POST('/api/runs/{id}/labels', how)
          : await api.POST('/api/traces/{id}/labels', how),
      );
      notify([t('judges.imported', { n: got.added }), ...got.notes].join('\n'));
      await invalidate.labels();
    } catch (x) {
      notifyFailure(t, x);
    } finally {
      setBusy(false);
    }
  };
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  if (!list.data) return <Loading />;
  const people = new Map<string, { pass: number; fail: number }>();
  for (const l of list.data) {
    const p = people.get(l.by ?? '') ?? { pass: 0, fail: 0 };
    if (l.pass) p.pass++;
    else p.fail++;
    people.set(l.by ?? '', p);
  }
  const path = of.kind === 'run' ? `/api/runs/${of.id}/labels` : `/api/traces/${of.id}/labels`;
  const upload = may && (
    <FileButton onChange={bring} accept=".jsonl,.json,.csv,.txt">
      {(p) => (
        <Button {...p} variant="default" loading={busy} leftSection={<IconUpload size={16} aria-hidden />}>
          {t('judges.import')}
        </Button>
      )}
    </FileButton>
  );
  if (people.size === 0) {
    return (
      <Empty title={t('judges.noLabels')} text={t('judges.noLabelsText')}>
        {may && (
          <Button component={Link} to={`/label?${of.kind}=${of.id}`}>
            {t('judges.label')}
          </Button>
        )}
        {upload}
      </Empty>
    );
  }
  return (
    <Card
      title={t('judges.labelsOf', { n: list.data.length })}
      actions={
        <Group gap="xs">
          {upload}
          <Button
            variant="default"
            component="a"
            href={`${path}?format=jsonl`}
            download
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            JSONL
          </Button>
          <Button
            variant="default"
            component="a"
            href={`${path}?format=csv`}
            download
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            CSV
          </Button>
        </Group>
      }
    >
      <PlainTable
        maw={520}
        heads={[t('judges.person'), { title: t('common.pass'), right: true }, { title: t('common.fail'), right: true }]}
      >
        {[...people].map(([name, p]) => (
          <Table.Tr key={name}>
            <Table.Td className={common.untrusted}>{name || t('common.unknown')}</Table.Td>
            <FigureCell>{p.pass}</FigureCell>
            <FigureCell>{p.fail}</FigureCell>
          </Table.Tr>
        ))}
      </PlainTable>
    </Card>
  );
}

function Prompts() {
  const t = useText();
  const list = $api.useQuery('get', '/api/judges', {}, { staleTime: Number.POSITIVE_INFINITY });
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  if (!list.data) return <Loading />;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('judges.promptsText')}
      </Text>
      <Accordion variant="contained" multiple>
        {(list.data.items ?? []).map((j) => (
          <Accordion.Item key={j.name} value={j.name}>
            <Accordion.Control>
              <Group gap="sm" wrap="wrap">
                <Text fw={600}>{j.name}</Text>
                <Text size="sm" c="dimmed" style={{ flex: '1 1 240px' }}>
                  {j.about}
                </Text>
                <Badge color="gray" style={{ color: 'var(--cv-none)' }}>
                  {j.unit}
                </Badge>
                <Text span className={common.mono} c="dimmed">
                  {j.prompt_hash.slice(0, 8)}
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Text size="sm" fw={600} mb={4}>
                {t('judges.prompt')} <span className={common.mono}>{j.prompt_hash}</span>
              </Text>
              <pre className={`${common.mono} ${common.untrusted}`} style={{ margin: 0 }}>
                {j.prompt}
              </pre>
              <Text size="sm" fw={600} mt="md" mb={4}>
                {t('judges.schema')}
              </Text>
              <pre className={`${common.mono} ${common.untrusted}`} style={{ margin: 0 }}>
                {JSON.stringify(j.schema, null, 2)}
              </pre>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}
