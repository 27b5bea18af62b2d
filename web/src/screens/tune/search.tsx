// A search: its result in words, its progress, the best candidate with its interval, charts, all candidates.
import { Alert, Badge, Button, Group, NumberInput, Progress, Stack, Table, Text } from '@mantine/core';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { type LiveEvent, useLive } from '../../api/live';
import { useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { useText, useTranslate } from '../../text';
import { ChangeFigure } from '../../ui/change';
import { Copyable } from '../../ui/copy';
import { duration, moment, money, number } from '../../ui/format';
import { Figure } from '../../ui/interval';
import { askConfirmation } from '../../ui/confirm';
import { notify, notifyFailure } from '../../ui/notify';
import { Card, Page } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { prepareDraft } from '../newrun/draft';
import { type Candidate, nameIn, type Search, useStanding } from './candidate';
import { stateKey } from './list';
import { KeepProfile } from './profiles';
import { PromptTree } from './prompts';
import { shown } from './space';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

// The library of charts is large, and only this screen needs it.
const ResponseChart = lazy(() => import('./charts'));

type View = Schemas['TuneView'];
/** The shortest time between two reads of a running search, in milliseconds. */
const minIntervalMs = 700;

export function SearchPage({ id }: { id: string }) {
  const t = useText();
  const translate = useTranslate();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const mayRun = usePermission('run');
  const mayWrite = usePermission('write');
  const [busy, setBusy] = useState(false);
  const one = $api.useQuery(
    'get',
    '/api/tool-eval/param-tune/history/{id}',
    { params: { path: { id } } },
    { staleTime: 0 },
  );
  const refetch = one.refetch;
  const timer = useRef(0);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const job = one.data?.job_id;
  useLive(
    useCallback(
      (e: LiveEvent) => {
        if (e.tune_id !== id && (!job || e.job_id !== job)) return;
        timer.current ||= window.setTimeout(() => {
          timer.current = 0;
          void refetch();
        }, minIntervalMs);
      },
      [id, job, refetch],
    ),
  );
  if (one.error) return <Failure of={one.error} retry={() => one.refetch()} />;
  if (!one.data) return <Loading />;
  const s = one.data;
  const running = s.status === 'running';
  const cancel = async () => {
    setBusy(true);
    try {
      unwrap(await api.POST('/api/jobs/{id}/cancel', { params: { path: { id: s.job_id! } } }));
      await one.refetch();
    } catch (x) {
      notifyFailure(t, x);
    }
    setBusy(false);
  };
  const remove = () =>
    askConfirmation(t, t('tune.deleteTitle'), t('tune.deleteText'), t('common.delete'), async () => {
      unwrap(await api.DELETE('/api/tool-eval/param-tune/history/{id}', { params: { path: { id } } }));
      await invalidate.tunes();
      navigate('/tune');
    });
  return (
    <Page
      title={t(s.kind === 'prompt_tune' ? 'tune.ofPrompts' : 'tune.ofParameters', { suite: s.suite_name })}
      lead={
        <Group gap="xs" mt={4}>
          <Badge color={s.status === 'failed' ? 'red' : 'gray'} data-state={s.status}>
            {t(stateKey(s.status))}
          </Badge>
          <span>{moment(s.created)}</span>
          {s.suite_id && <Link to={`/suites/${s.suite_id}`}>{t('newrun.suite')}</Link>}
          {s.experiment_id && <Link to={`/experiments/${s.experiment_id}?tab=tune`}>{t('newrun.experiment')}</Link>}
          {s.job_id && <Link to={`/jobs/${s.job_id}`}>{t('tune.job')}</Link>}
        </Group>
      }
      actions={
        <>
          {running && s.job_id && mayRun && (
            <Button variant="default" loading={busy} onClick={cancel}>
              {t('common.cancel')}
            </Button>
          )}
          {!running && mayWrite && (
            <Button variant="default" color="red" onClick={remove}>
              {t('common.delete')}
            </Button>
          )}
        </>
      }
    >
      <Spent of={s} />
      {s.problem && (
        <Alert color="red">
          <span className={common.untrusted}>{translate(s.problem)}</span>
        </Alert>
      )}
      {(s.models ?? []).map((m) => (
        <ModelResult key={m.model} of={m} search={s} />
      ))}
    </Page>
  );
}

/** Spent shows how much of its limits the search has used. */
function Spent({ of: s }: { of: View }) {
  const t = useText();
  const translate = useTranslate();
  const most = s.request?.run.max_calls ?? 0;
  return (
    <Card title={t('tune.progress')}>
      <Stack gap={6}>
        <Text size="sm" className={common.num}>
          {most > 0
            ? t('tune.callsLeft', { n: number(s.spent.requests), left: number(Math.max(0, most - s.spent.requests)) })
            : t('tune.callsSpent', { n: number(s.spent.requests) })}
          {` · ${money(s.spent.usd)} · ${duration(s.spent.seconds * 1000)}`}
        </Text>
        {most > 0 && (
          <Progress
            value={Math.min(100, (100 * s.spent.requests) / most)}
            aria-label={t('tune.calls')}
            role="presentation"
          />
        )}
        <Text size="sm" c="dimmed">
          {t('tune.sides', {
            train: s.cases.train,
            trainFamilies: s.cases.train_families,
            held: s.cases.holdout,
            heldFamilies: s.cases.holdout_families,
          })}
          {s.holdout_use > 0 && ` ${t('tune.use', { n: s.holdout_use })}`}
        </Text>
        {s.resumable && <GoOn of={s} />}
        {s.cases.few && <Text size="sm">{translate(s.cases.few)}</Text>}
        {(s.notes ?? []).map((n) => (
          <Text key={n} size="sm" className={common.untrusted}>
            {translate(n)}
          </Text>
        ))}
      </Stack>
    </Card>
  );
}

/** GoOn resumes a search that ended early, with the limits of the whole search from now on. */
function GoOn({ of: s }: { of: View }) {
  const t = useText();
  const invalidate = useInvalidate();
  const mayRun = usePermission('run');
  const was = s.request?.run;
  const [calls, setCalls] = useState<string | number>(was?.max_calls ?? '');
  const [cost, setCost] = useState<string | number>(was?.max_cost_usd ?? '');
  const [busy, setBusy] = useState(false);
  if (!mayRun) return null;
  const limit = (v: string | number, before?: number) => (Number(v) === (before ?? 0) ? undefined : Number(v));
  const body = { max_calls: limit(calls, was?.max_calls), max_cost_usd: limit(cost, was?.max_cost_usd) };
  const raised = body.max_calls !== undefined || body.max_cost_usd !== undefined;
  const goOn = async () => {
    setBusy(true);
    try {
      unwrap(await api.POST('/api/tool-eval/param-tune/history/{id}/resume', { params: { path: { id: s.id } }, body }));
      await invalidate.tunes();
    } catch (x) {
      notifyFailure(t, x);
    }
    setBusy(false);
  };
  return (
    <Group gap="sm" align="flex-end">
      <NumberInput
        size="xs"
        label={t('tune.maxCalls')}
        min={0}
        allowDecimal={false}
        value={calls}
        onChange={setCalls}
      />
      <NumberInput size="xs" label={t('tune.maxCost')} min={0} prefix="$" value={cost} onChange={setCost} />
      <Button size="xs" loading={busy} disabled={s.status === 'done' && !raised} onClick={goOn}>
        {t('tune.goOn')}
      </Button>
    </Group>
  );
}

function ModelResult({ of: m, search: s }: { of: Search; search: View }) {
  const t = useText();
  const translate = useTranslate();
  const best = (m.candidates ?? []).find((c) => c.n === m.best);
  const c = m.confirmation;
  const confirmed = m.outcome === 'promoted';
  return (
    <Card title={m.model}>
      <Stack gap="md">
        {m.sentence && (
          <Text fw={600} data-outcome={m.outcome} className={common.untrusted}>
            {translate(m.sentence)}
          </Text>
        )}
        <Group gap="xl" align="flex-start">
          {best && (
            <Stack gap={2}>
              <Text size="xs" c="dimmed">
                {t('tune.bestSoFar')}
              </Text>
              <Text size="sm" fw={600} className={common.untrusted}>
                {best.n === 0 ? t('tune.base') : nameIn(m, best)}
              </Text>
              <Figure interval={best.score} of={{ of: t('common.attempts') }} bar />
            </Stack>
          )}
          {c && (
            <Stack gap={2}>
              <Text size="xs" c="dimmed">
                {t('tune.gainHeld', { n: c.cases, families: c.families })}
              </Text>
              <ChangeFigure of={c.gain} verdict={confirmed ? 'better' : undefined} />
              <Text size="xs" c="dimmed">
                {t('tune.test', { use: c.use, alpha: number(c.alpha, 5) })}
              </Text>
            </Stack>
          )}
        </Group>
        {(m.names ?? []).length > 0 && (m.candidates ?? []).length > 1 && (
          <Suspense fallback={<Loading />}>
            <ResponseChart of={m} />
          </Suspense>
        )}
        {s.kind === 'prompt_tune' ? <PromptTree of={m} /> : <Candidates of={m} />}
        {m.matrix && <Matrix of={m} />}
        {(m.failures ?? []).length > 0 && (
          <details>
            <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
              {t('tune.failures', { n: m.failures!.length })}
            </Text>
            {m.failures!.map((f, i) => (
              <Text key={i} size="sm" className={common.untrusted}>
                {translate(f.detail)}
              </Text>
            ))}
          </details>
        )}
        {best && best.n !== 0 && s.status !== 'running' && (
          <Stack gap={4}>
            <Text size="sm" fw={600}>
              {t('tune.apply')}
            </Text>
            {!confirmed && <Text size="sm">{t('tune.applyUnconfirmed')}</Text>}
            {s.promoted_eval_id && <Link to={`/runs/${s.promoted_eval_id}`}>{t('tune.promoted')}</Link>}
            <Apply of={best} model={m} search={s} />
            <Copyable label={t('tune.configuration')} value={JSON.stringify(best.config, null, 2)} />
          </Stack>
        )}
      </Stack>
    </Card>
  );
}

/** Apply runs a candidate, stores its prompt or a profile, or puts a confirmed prompt into the suite. */
function Apply({ of: c, model: m, search: s }: { of: Candidate; model: Search; search: View }) {
  const t = useText();
  const navigate = useNavigate();
  const mayRun = usePermission('run');
  const mayWrite = usePermission('write');
  const invalidate = useInvalidate();
  const [busy, setBusy] = useState(false);
  const [version, setVersion] = useState<number>();
  const [naming, setNaming] = useState(false);
  const run = () => {
    prepareDraft(s.suite_id, s.experiment_id ?? '', c.config);
    const experiment = s.experiment_id ? `&experiment=${encodeURIComponent(s.experiment_id)}` : '';
    navigate(`/new?suite=${encodeURIComponent(s.suite_id)}${experiment}`);
  };
  const keep = async () => {
    setBusy(true);
    try {
      const kept = unwrap(
        await api.POST('/api/prompts', { body: { name: s.suite_name, text: c.prompt!, note: `${s.id}: ${c.name}` } }),
      );
      notify(t('tune.kept', { name: `${kept.name}@${kept.version}` }));
    } catch (x) {
      notifyFailure(t, x);
    }
    setBusy(false);
  };
  const give = () =>
    askConfirmation(
      t,
      t('tune.giveTitle', { suite: s.suite_name }),
      t('tune.giveText', { name: nameIn(m, c) }),
      t('tune.giveButton'),
      async () => {
        const body = { model: m.model, suite_id: s.suite_id };
        const params = { path: { id: s.id } };
        const given = unwrap(await api.POST('/api/tool-eval/prompt-tune/history/{id}/apply', { params, body }));
        setVersion(given.suite_version);
        await invalidate.routes('/api/tool-suites', '/api/tool-suites/{id}', '/api/tool-suites/{id}/versions');
      },
    );
  return (
    <Group gap="xs">
      {mayRun && s.suite_id && (
        <Button size="xs" onClick={run}>
          {t('tune.run')}
        </Button>
      )}
      {mayWrite && (
        <Button size="xs" variant="default" onClick={() => setNaming(true)}>
          {t('tune.keepProfile')}
        </Button>
      )}
      {naming && <KeepProfile of={c} model={m} search={s.id} close={() => setNaming(false)} />}
      {mayWrite && c.prompt && (
        <Button size="xs" variant="default" loading={busy} onClick={keep}>
          {t('tune.keep')}
        </Button>
      )}
      {mayWrite && c.prompt && s.suite_id && m.outcome === 'promoted' && (
        <Button size="xs" variant="default" onClick={give}>
          {t('tune.give')}
        </Button>
      )}
      {version !== undefined && (
        <Text size="sm" role="status">
          <Link to={`/suites/${s.suite_id}`}>{t('tune.given', { suite: s.suite_name, version })}</Link>
        </Text>
      )}
    </Group>
  );
}

/** Candidates lists them, the best first. */
function Candidates({ of: m }: { of: Search }) {
  const t = useText();
  const state = useStanding(m);
  const all = [...(m.candidates ?? [])].sort((a, b) => {
    const rank = (c: Candidate) => (c.n === m.best ? 0 : c.dropped || c.broken ? 2 : 1);
    return rank(a) - rank(b) || (b.score?.point ?? -1) - (a.score?.point ?? -1) || a.n - b.n;
  });
  return (
    <DataTable
      label={t('tune.candidates')}
      height={480}
      heads={[
        t('tune.candidate'),
        t('tune.score'),
        { title: t('tune.asked'), right: true },
        t('tune.state'),
        { title: t('tune.cost'), right: true },
        { title: t('tune.latency'), right: true },
      ]}
    >
      {all.map((c) => (
        <Table.Tr key={c.n} data-candidate={c.n}>
          <Table.Td className={common.untrusted}>{c.n === 0 ? t('tune.base') : nameIn(m, c)}</Table.Td>
          <Table.Td>
            <Figure interval={c.score} of={{ of: t('common.attempts') }} bar />
          </Table.Td>
          <FigureCell>{c.tasks}</FigureCell>
          <Table.Td className={common.untrusted}>{state(c)}</Table.Td>
          <FigureCell>{money(c.cost_usd_per_attempt)}</FigureCell>
          <FigureCell>{duration(c.latency_ms)}</FigureCell>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** Matrix shows for each combination, before any request, whether it will be run. */
function Matrix({ of: m }: { of: Search }) {
  const t = useText();
  const x = m.matrix!;
  return (
    <details>
      <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
        {t('tune.matrix', { kept: number(x.kept), clamped: number(x.clamped), dropped: number(x.dropped) })}
      </Text>
      <DataTable
        label={t('tune.matrixLabel')}
        height={360}
        heads={[
          ...(m.names ?? []).map((n) => ({ key: n, title: n, className: common.untrusted })),
          t('tune.state'),
          t('tune.reason'),
        ]}
      >
        {(x.rows ?? []).slice(0, 500).map((r, i) => (
          <Table.Tr key={i}>
            {(r.values ?? []).map((v, k) => (
              <Table.Td key={k} className={common.untrusted}>
                {shown(v)}
              </Table.Td>
            ))}
            <Table.Td>{t(`tune.row_${r.status as 'kept' | 'clamped' | 'dropped'}`)}</Table.Td>
            <Table.Td className={common.untrusted}>
              {[
                ...(r.adjustments ?? []).map((a) => `${a.param} ${a.from}${a.to ? ` → ${a.to}` : ''}: ${a.reason}`),
                r.why,
              ]
                .filter(Boolean)
                .join('; ')}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </details>
  );
}
