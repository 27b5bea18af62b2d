// One job: its progress, its results so far, and links to them.
//
//   GET /api/jobs/{id}          state, progress      ┐
//   GET /api/jobs/{id}/events   the newest events    ├─► the screen
//   events of the connection    everything after     ┘
import { Alert, Anchor, Box, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconInfoCircle } from '@tabler/icons-react';
import { Link } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { hasEnded, type Job } from '../../api/jobs';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { decidedAfter, EvidenceChart } from '../../ui/evidence';
import { Figure, withInterval } from '../../ui/interval';
import { Card, Page } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { duration, moment, number, signed } from '../../ui/format';
import { OutcomeCounts, Progress } from '../../ui/progress';
import { CancelButton } from './cancel';
import { type Evidence, type JobHistory, type Judged, type ModelCount, useJobHistory } from './history';
import { JobResults } from './results';
import { JobState } from './state';
import { jobTitle } from './names';
import common from '../../ui/common.module.css';

export function JobPage({ id }: { id: string }) {
  const t = useText();
  const me = useCurrentUser();
  const job = $api.useQuery(
    'get',
    '/api/jobs/{id}',
    { params: { path: { id } } },
    {
      refetchInterval: (q) =>
        // only the job's user receives its events
        q.state.data && q.state.data.user_id !== me.user_id && !hasEnded(q.state.data) ? 2000 : false,
    },
  );
  if (job.error && !job.data) {
    return (
      <Page title={t('jobs.title')}>
        <Failure of={job.error} retry={() => job.refetch()} />
      </Page>
    );
  }
  if (!job.data) return <Loading />;
  return <Shown job={job.data} mine={job.data.user_id === me.user_id} />;
}

function Shown({ job, mine }: { job: Job; mine: boolean }) {
  const t = useText();
  const over = hasEnded(job);
  const happened = useJobHistory(job, mine);
  const of = job.detail as { eval_id?: string } | undefined;
  const run = job.result_ref || of?.eval_id;
  const isRun = job.job_type === 'tool_eval';
  return (
    <Page
      title={jobTitle(t, job)}
      lead={
        <Group gap="xs" className={common.facts}>
          <JobState of={job} />
          <span title={moment(job.created_at)}>{moment(job.created_at)}</span>
          {job.finished_at && job.started_at && (
            <span>
              {t('jobs.tookTime', { time: duration(Date.parse(job.finished_at) - Date.parse(job.started_at)) })}
            </span>
          )}
          {job.attempt > 1 && <span>{t('jobs.attempt', { n: job.attempt })}</span>}
        </Group>
      }
      actions={
        <>
          <CancelButton job={job} />
          {run && (
            <Button
              component={Link}
              to={`/runs/${run}`}
              variant={over ? 'filled' : 'default'}
              rightSection={<IconArrowRight size={16} aria-hidden />}
            >
              {t(over || !isRun ? 'jobs.resultsOf' : 'jobs.resultsSoFar')}
            </Button>
          )}
        </>
      }
    >
      {job.error && (
        <Alert color="red" title={t(job.status === 'failed' ? 'jobs.failed' : 'jobs.interrupted')}>
          <span className={common.untrusted}>{job.error}</span>
        </Alert>
      )}
      {job.status === 'queued' && (
        <Alert icon={<IconInfoCircle />}>{t(job.attempt > 0 ? 'jobs.resumes' : 'jobs.waits')}</Alert>
      )}
      {!mine && !over && <Alert icon={<IconInfoCircle />}>{t('jobs.others')}</Alert>}
      {!over && (
        <Progress
          label={t('jobs.progress')}
          done={job.done}
          total={job.total}
          eta={job.status === 'running' ? job.eta_ms : undefined}
        />
      )}
      {isRun && over && job.status === 'done' && run && <Summary run={run} complete={happened.complete} />}
      {isRun && !(over && job.status === 'done') && <Models list={happened.models} />}
      {isRun && <Gates list={happened.evidence} />}
      {isRun && <JobResults list={happened.results} over={over} run={run} />}
      {happened.warnings.length > 0 && (
        <details className={common.card} open={happened.warnings.length <= 3} style={{ padding: '10px 16px' }}>
          <summary style={{ cursor: 'pointer', color: 'var(--cv-error)', fontSize: 14, fontWeight: 600 }}>
            {t('jobs.warnings', { n: happened.warnings.length })}
          </summary>
          <Stack gap={4} mt="xs">
            {happened.warnings.map((w) => (
              <Text key={w} size="sm" className={common.untrusted}>
                {w}
              </Text>
            ))}
          </Stack>
        </details>
      )}
      {job.job_type === 'judge' && <Judgements list={happened.judged} />}
      {!isRun && job.job_type !== 'judge' && over && job.detail !== undefined && (
        <Card>
          <pre className={`${common.untrusted} ${common.mono}`} style={{ margin: 0 }}>
            {JSON.stringify(job.detail, null, 2)}
          </pre>
        </Card>
      )}
    </Page>
  );
}

/** Models shows a bar for each model: its progress and the outcomes of its attempts. */
function Models({ list }: { list: ModelCount[] }) {
  const t = useText();
  if (list.length === 0) return null;
  return (
    <Card title={t('jobs.models')}>
      <Stack gap="md">
        {list.map((m) => (
          <Box key={m.model} data-model={m.model}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <Text size="sm" fw={600} truncate title={m.model}>
                {m.model}
              </Text>
              <Text size="xs" c="dimmed" className={common.num}>
                {t('common.ofRows', { n: number(m.done), total: number(m.total) })}
              </Text>
            </Group>
            <Box mt={4}>
              <OutcomeCounts of={{ pass: m.passed, fail: m.failed, error: m.errors }} total={m.total} />
            </Box>
          </Box>
        ))}
      </Stack>
    </Card>
  );
}

/** Gates shows the gates that end the run when they are decided, with their evidence so far. */
function Gates({ list }: { list: Evidence[] }) {
  const t = useText();
  const several = new Set(list.map((g) => g.target)).size > 1;
  if (list.length === 0) return null;
  return (
    <Card title={t('gates.gates')}>
      <SimpleGrid cols={{ base: 1, sm: list.length > 1 ? 2 : 1 }} spacing="lg">
        {list.map((g) => {
          const name = [several && g.target, g.gate, g.slice].filter(Boolean).join(' · ');
          return (
            <Box key={name} data-gate={g.gate} data-verdict={g.verdict} style={{ minWidth: 0 }}>
              <Text size="sm" fw={600} className={common.untrusted}>
                {name}
              </Text>
              <Group gap="xs" mb={4}>
                {g.verdict !== 'INCONCLUSIVE' && (
                  <Verdict of={gateVerdict(g.verdict)} text={t(`gates.${g.verdict as 'PASS' | 'FAIL'}`)} />
                )}
                <Text size="sm" className={common.num}>
                  {decidedAfter(t, g.verdict, g.curve.at(-1)![0], g.slice ? undefined : g.of)}
                </Text>
              </Group>
              <EvidenceChart curve={g.curve} needed={g.needed} name={name} />
            </Box>
          );
        })}
      </SimpleGrid>
    </Card>
  );
}

/** Summary shows the results of a finished run, as in its report. */
function Summary({ run, complete }: { run: string; complete: JobHistory['complete'] }) {
  const t = useText();
  const report = $api.useQuery('get', '/api/runs/{id}', { params: { path: { id: run } } }, { staleTime: Infinity });
  if (report.error) return <Failure of={report.error} retry={() => report.refetch()} />;
  if (!report.data) return <Loading />;
  const targets = ((report.data as Schemas['ReportDocument']).panels?.targets ?? []) as Schemas['PanelTargetPanel'][];
  return (
    <Card title={t('jobs.cameOut')}>
      {complete?.delta !== undefined && (
        <Text mb="sm">
          {t('jobs.delta', {
            delta: signed(complete.delta),
            baseline: withInterval(t, complete.baseline_interval),
            score: withInterval(t, complete.avg_interval),
          })}
        </Text>
      )}
      <Stack gap="md">
        {targets.map((p) => {
          const metric = (name: string) => p.overall.metrics?.find((m) => m.name === name);
          return (
            <Box key={p.name} data-model={p.name}>
              <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md" verticalSpacing={4} style={{ alignItems: 'start' }}>
                <Box style={{ minWidth: 0 }}>
                  <Text size="sm" fw={600} truncate title={p.name}>
                    {p.name}
                  </Text>
                  {p.floor && (
                    <Text size="xs" c="dimmed">
                      {t('jobs.floor')}
                    </Text>
                  )}
                </Box>
                <Box>
                  <OutcomeCounts of={p.overall.verdicts} />
                </Box>
                <Stack gap={2}>
                  {(['pass_rate', 'overall'] as const).map((name) => {
                    const m = metric(name);
                    return (
                      m && (
                        <Group key={name} gap="xs" justify="space-between" wrap="nowrap">
                          <Text size="xs" c="dimmed">
                            {m.title}
                          </Text>
                          <Figure interval={m.interval} of={m} unit={m.unit} />
                        </Group>
                      )
                    );
                  })}
                </Stack>
              </SimpleGrid>
            </Box>
          );
        })}
      </Stack>
    </Card>
  );
}

function Judgements({ list }: { list: Judged[] }) {
  const t = useText();
  return (
    <Card title={t('jobs.judgements')}>
      {list.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('jobs.noJudged')}
        </Text>
      )}
      <Stack gap="xs">
        {list.map((j) => (
          <Group key={j.judging_id} gap="sm">
            <Anchor
              component={Link}
              to={`/judges?judging=${encodeURIComponent(j.judging_id)}`}
              className={common.untrusted}
            >
              {j.judge}
            </Anchor>
            <OutcomeCounts of={{ pass: j.pass, fail: j.fail, error: 0, not_run: 0 }} bar={false} />
            {j.unscored > 0 && <Verdict of="not_run" text={t('jobs.unscored', { n: j.unscored })} />}
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
