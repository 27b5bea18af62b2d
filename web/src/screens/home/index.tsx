// Home: jobs, the latest runs, changes of pass rates. Without any run, a way to the first.
import { Box, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconKey, IconPlayerPlay, IconPlus, IconTools } from '@tabler/icons-react';
import { useMutation, useQueries } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { type Job, useActiveJobs } from '../../api/jobs';
import { idempotencyKey } from '../../api/idempotency';
import { usePermission } from '../../user';
import { type Translator, useText } from '../../text';
import { Figure, withInterval } from '../../ui/interval';
import { Card, Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { ChangeFigure } from '../../ui/change';
import { ago, moment } from '../../ui/format';
import { JudgedCount, OutcomeCounts, Progress } from '../../ui/progress';
import { jobTitle } from '../jobs/names';
import classes from './home.module.css';
import common from '../../ui/common.module.css';

type Run = Schemas['EvalRun'];

export default function HomePage() {
  const t = useText();
  const may = usePermission('run');
  const canRun = may;
  const runs = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 8 } } });
  const active = useActiveJobs();
  const list = runs.data?.items ?? [];
  return (
    <Page
      title={t('home.title')}
      actions={
        canRun && list.length > 0 ? (
          <Button component={Link} to="/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('home.newRun')}
          </Button>
        ) : undefined
      }
    >
      {active.length > 0 && (
        <Card title={t('home.running')}>
          <Stack gap="sm">
            {active.map((j) => (
              <Running key={j.job_id} job={j} />
            ))}
          </Stack>
        </Card>
      )}
      {runs.isPending ? (
        <Loading />
      ) : runs.error && !runs.data ? (
        <Failure of={runs.error} retry={() => runs.refetch()} />
      ) : list.length === 0 ? (
        active.length === 0 && <First may={canRun} />
      ) : (
        <>
          <Changes runs={list} />
          <Card
            title={t('home.recent')}
            actions={
              <Link to="/runs">
                {t('home.allRuns')} <IconArrowRight size={14} aria-hidden style={{ verticalAlign: -2 }} />
              </Link>
            }
          >
            <ul className={classes.list}>
              {list.map((r) => (
                <Recent key={r.id} run={r} />
              ))}
            </ul>
          </Card>
        </>
      )}
    </Page>
  );
}

function Running({ job }: { job: Job }) {
  const t = useText();
  const title = jobTitle(t, job);
  return (
    <div className={classes.running}>
      <Link to={`/jobs/${job.job_id}`} className={common.untrusted}>
        {title}
      </Link>
      <Progress label={title} done={job.done} total={job.total} eta={job.status === 'running' ? job.eta_ms : undefined}>
        <Text size="xs" c="dimmed">
          {t(`jobs.${job.status as 'running'}`)}
        </Text>
      </Progress>
    </div>
  );
}

/** statusText names the state of a run, and is empty for a normal end. */
function statusText(t: Translator, r: Run): string {
  return r.status === 'done' ? '' : t(`home.status_${r.status}`);
}

function Recent({ run: r }: { run: Run }) {
  const t = useText();
  const targets = r.targets ?? [];
  const status = statusText(t, r);
  const shown = targets.slice(0, 3);
  return (
    <li className={classes.run}>
      <div style={{ minWidth: 0 }}>
        <Link to={`/runs/${r.id}`} className={common.untrusted} style={{ fontWeight: 600 }}>
          {r.name || r.suite_name || r.id}
        </Link>
        <Text size="xs" c="dimmed" title={moment(r.timestamp)}>
          {r.name && `${r.suite_name} · `}
          {ago(r.timestamp)}
          {status && ` · ${status}`}
          {r.avg_interval &&
            targets.length > 1 &&
            ` · ${t('home.average', { score: withInterval(t, r.avg_interval) })}`}
        </Text>
      </div>
      {r.status === 'running' ? (
        r.job_id ? (
          <Link to={`/jobs/${r.job_id}`}>{t('home.follow')}</Link>
        ) : (
          <span />
        )
      ) : (
        <Box style={{ minWidth: 0 }}>
          <OutcomeCounts of={r.verdicts} />
          <JudgedCount of={r} />
        </Box>
      )}
      <div className={classes.targets}>
        {shown.length > 0
          ? shown.map((s) => (
              <div key={s.name} className={classes.target}>
                <div style={{ minWidth: 0 }}>
                  <Text size="sm" className={common.untrusted}>
                    {s.name}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {t(s.pass_rate ? 'home.passRate' : 'home.score')}
                  </Text>
                </div>
                <Figure interval={(s.pass_rate ?? s.score)?.interval} of={s.pass_rate ?? s.score} bar stack />
              </div>
            ))
          : (r.models ?? []).slice(0, 3).map((m) => (
              <Text key={m} size="sm" className={common.untrusted}>
                {m}
              </Text>
            ))}
        {Math.max(targets.length, (r.models ?? []).length) > 3 && (
          <Text size="xs" c="dimmed">
            {t('home.otherTargets', { n: Math.max(targets.length, (r.models ?? []).length) - 3 })}
          </Text>
        )}
      </div>
    </li>
  );
}

type Shown = { run: Run; of: Schemas['RunChange'] };

/** How many of the newest runs are searched for changes, and how many changes are shown. */
const looked = 6;

/** Changes lists how pass rates changed in the newest runs, the newest change of each suite and model, worst first. */
function Changes({ runs }: { runs: Run[] }) {
  const t = useText();
  const over = runs.filter((r) => r.finished && !r.problem).slice(0, looked);
  const changes = useQueries({
    queries: over.map((r) => $api.queryOptions('get', '/api/runs/{id}/change', { params: { path: { id: r.id } } })),
  });
  const list: Shown[] = [];
  const seen = new Set<string>();
  changes.forEach((q, i) => {
    for (const of of q.data?.items ?? []) {
      const run = over[i]!;
      const key = JSON.stringify([run.suite_id || run.suite_name, of.target]);
      if (seen.has(key)) continue;
      seen.add(key);
      if (of.base_eval_id && of.change) list.push({ run, of });
    }
  });
  const order = ['worse', 'better', 'no clear difference', 'not comparable'];
  list.sort(
    (a, b) =>
      order.indexOf(a.of.verdict ?? '') - order.indexOf(b.of.verdict ?? '') ||
      (a.of.change?.point ?? 0) - (b.of.change?.point ?? 0),
  );
  const waits = changes.some((q) => q.isPending);
  return (
    <Card title={t('home.changed')}>
      {list.length === 0 ? (
        <Text size="sm" c="dimmed" role={waits ? 'status' : undefined}>
          {waits ? t('common.loading') : t('home.unchangedText')}
        </Text>
      ) : (
        <ul className={classes.list}>
          {list.slice(0, looked).map(({ run, of }) => (
            <li key={`${run.id} ${of.target}`} className={classes.change} data-changed={of.target}>
              <ChangeFigure of={of.change} verdict={of.verdict} p={of.p_holm ?? of.p} />
              <div style={{ minWidth: 0 }}>
                <Text size="sm" fw={600} className={common.untrusted}>
                  {of.target}
                </Text>
                <Text size="xs" c="dimmed" className={common.untrusted}>
                  {t('home.passRate')} · {run.name || run.suite_name} ·{' '}
                  {t(of.baseline ? 'home.baseline' : 'home.since')} · {ago(run.timestamp)}
                </Text>
              </div>
              <Link
                to={`/compare?runs=${encodeURIComponent(`${of.base_eval_id},${run.id}`)}${of.base_target !== of.target ? `&target=${encodeURIComponent(of.base_target ?? '')}` : ''}`}
                aria-label={`${t('home.compare')}: ${of.target}, ${run.suite_name}`}
              >
                {t('home.compare')}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** First leads to a first result: the example suite, run with a target that needs no key. */
function First({ may }: { may: boolean }) {
  const t = useText();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: async () => {
      const example = unwrap(await api.GET('/api/tool-eval/import/example', { parseAs: 'text' })) as unknown as string;
      const { name } = JSON.parse(example) as { name: string };
      const there = unwrap(await api.GET('/api/tool-suites', { params: { query: { search: name } } })).items.find(
        (s) => s.name === name,
      );
      const suite =
        there?.id ?? unwrap(await api.POST('/api/tool-eval/import', { body: JSON.parse(example) as never })).suite_id;
      return unwrap(
        await api.POST('/api/tool-eval', {
          params: { header: { 'Idempotency-Key': idempotencyKey() } },
          body: { suite_id: suite, models: ['offline/lexical'] },
        }),
      );
    },
    onSuccess: (job) => navigate(`/jobs/${job.job_id}`),
  });
  if (!may) return <Empty title={t('home.noRuns')} text={t('home.noRunsText')} />;
  return (
    <>
      <Failure of={start.error} />
      <Empty title={t('home.first')} text={t('home.firstText')}>
        <Button
          onClick={() => start.mutate()}
          loading={start.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          {t('home.runExample')}
        </Button>
      </Empty>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Next to="/suites" icon={<IconTools size={18} aria-hidden />} text={t('home.ownSuite')} />
        <Next to="/settings" icon={<IconKey size={18} aria-hidden />} text={t('home.keys')} />
      </SimpleGrid>
    </>
  );
}

function Next({ to, icon, text }: { to: string; icon: React.ReactNode; text: string }) {
  return (
    <Link to={to} className={common.card} style={{ padding: 16 }}>
      <Group gap="sm">
        {icon}
        {text}
        <IconArrowRight size={16} aria-hidden style={{ marginLeft: 'auto' }} />
      </Group>
    </Link>
  );
}
