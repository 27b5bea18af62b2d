// The result of a run: the verdict in a sentence, then its parts as tabs.
import { Badge, Button, Group, List, Menu, Stack, Tabs, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import {
  IconArrowsDiff,
  IconDots,
  IconDownload,
  IconLink,
  IconPencil,
  IconPlayerPlay,
  IconRepeat,
  IconShare,
  IconTrash,
} from '@tabler/icons-react';
import { lazy, Suspense, useCallback, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { idempotencyKey } from '../../api/idempotency';
import { type LiveEvent, useLive } from '../../api/live';
import { usePermission } from '../../user';
import { type TextKey, useText } from '../../text';
import { Estimates, Page } from '../../ui/page';
import { Failure, Notice, Loading } from '../../ui/status';
import { Copyable } from '../../ui/copy';
import { leftOut } from '../../ui/interval';
import { moment, money, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { notify, notifyFailure, undoable } from '../../ui/notify';

import { FindingsTab } from './findings';
import { useAttempts, useGrid } from './lists';

import { OverviewTab } from './overview';
import { statusText, useFilters, VerdictBar, verdictsOf } from './parts';
import { RunFacts, ChangeSince } from './header';
import common from '../../ui/common.module.css';

// The code of a tab is loaded with it.
const Attempts = lazy(() => import('./attempts').then((m) => ({ default: m.AttemptsTab })));
const GridTab = lazy(() => import('./grid').then((m) => ({ default: m.GridTab })));
const SlicesTab = lazy(() => import('./slices').then((m) => ({ default: m.SlicesTab })));
const ConfusionTab = lazy(() => import('./confusion').then((m) => ({ default: m.ConfusionTab })));
const GatesTab = lazy(() => import('./gates').then((m) => ({ default: m.GatesTab })));
const Configuration = lazy(() => import('./configuration').then((m) => ({ default: m.ConfigurationTab })));
const Words = lazy(() => import('./describe').then((m) => ({ default: m.DescribeDialog })));

const tabs = ['overview', 'grid', 'attempts', 'slices', 'confusion', 'findings', 'gates', 'configuration'] as const;
const formats = ['html', 'md', 'csv', 'json', 'jsonl', 'xml', 'txt'] as const;

export default function RunPage() {
  const t = useText();
  const { id = '' } = useParams();
  const mayChange = usePermission('write');
  const mayRun = usePermission('run');
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const [tab] = useParam('tab', 'overview');
  const path = { params: { path: { id } } };
  const report = $api.useQuery('get', '/api/runs/{id}', path);
  const line = $api.useQuery('get', '/api/tool-eval/history/{id}', { params: { path: { id }, query: { limit: 0 } } });
  // The lists are requested together with the report, not after it.
  const [filters] = useFilters();
  useAttempts(id, filters, { enabled: tab === 'attempts', notifyOnChangeProps: [] });
  useGrid(id, filters, { enabled: tab === 'grid', notifyOnChangeProps: [] });
  const [describing, setDescribing] = useState(false);
  const { refetch } = report;
  const { refetch: refetchLine } = line;
  const job = line.data?.job_id;
  useLive(
    useCallback(
      (e: LiveEvent) => {
        if (
          ['job_completed', 'job_failed', 'job_cancelled', 'judge_result'].includes(e.type) &&
          (e.job_id === job || e.run_id === id)
        ) {
          void refetch();
          void refetchLine();
        }
      },
      [refetch, refetchLine, job, id],
    ),
  );
  if (report.error) {
    return (
      <Page title={t('results.run', { id })}>
        <Failure of={report.error} retry={() => void report.refetch()} />
      </Page>
    );
  }
  if (!report.data) return <Loading />;
  const d = report.data;
  const all = verdictsOf(d.panels);
  const shared = line.data?.shared ?? false;
  const warnings = [...(d.warnings ?? []), ...(d.panels.warnings ?? [])].filter(
    (w, i, list) => list.indexOf(w) === i && w !== d.problem,
  );

  const copy = async (text: string, message: string) => {
    try {
      await navigator.clipboard.writeText(text);
      notify(message);
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const share = async () => {
    try {
      unwrap(await api.PATCH('/api/runs/{id}', { ...path, body: { shared: !shared } }));
      notify(t(shared ? 'results.unsharedNow' : 'results.sharedNow'));
      await Promise.all([invalidate.runs(), refetchLine()]);
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const rerun = async () => {
    try {
      const job = unwrap(
        await api.POST('/api/runs/{id}/failed', {
          params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } },
          body: { name: t('results.failuresOf', { run: line.data?.name || id }) },
        }),
      );
      navigate(`/jobs/${job.job_id}`);
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const remove = () =>
    undoable(
      t,
      t('results.run', { id }),
      async () => {
        unwrap(await api.DELETE('/api/tool-eval/history/{id}', path));
        await invalidate.runs();
      },
      { hide: () => navigate('/runs'), show: () => navigate(`/runs/${encodeURIComponent(id)}`) },
    );
  return (
    <Page
      title={line.data?.name || d.suite.name}
      lead={
        <Group gap="xs" component="span" className={common.facts}>
          {line.data?.name && <span className={common.untrusted}>{d.suite.name}</span>}
          <span className={common.mono}>{id}</span>
          <span>{moment(d.created)}</span>
          {d.suite.version && <span>{t('results.version', { v: d.suite.version })}</span>}
          <span>{t('results.cases', { n: d.suite.cases })}</span>
          {d.panels.repeats > 1 && (
            <span>
              {t(d.panels.uneven_repeats ? 'results.upToRepeats' : 'results.repeats', { n: d.panels.repeats })}
            </span>
          )}
          {(line.data?.left_out ?? 0) > 0 && (
            <span data-left-out>{leftOut(t, line.data!.total_cases, line.data!.left_out!)}</span>
          )}
          {line.data && <RunFacts of={line.data} />}
          {statusText(t, d.status) && <Badge color="yellow">{statusText(t, d.status)}</Badge>}
          {shared && <Badge color="gray">{t('common.shared')}</Badge>}
          {(line.data?.run_tags ?? []).map((x) => (
            <Badge key={x} color="gray" variant="light" className={common.untrusted} tt="none">
              {x}
            </Badge>
          ))}
        </Group>
      }
      actions={
        <>
          <Button
            component={Link}
            to={`/compare?runs=${encodeURIComponent(id)}`}
            variant="default"
            leftSection={<IconArrowsDiff size={16} aria-hidden />}
          >
            {t((d.panels.targets ?? []).length > 1 ? 'results.compareModels' : 'results.compare')}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
                {t('results.download')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {formats.map((f) => (
                <Menu.Item
                  key={f}
                  component="a"
                  href={`/api/runs/${encodeURIComponent(id)}/export?format=${f}`}
                  download
                >
                  {t(`results.${f}`)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" px="xs" aria-label={t('results.actions')}>
                <IconDots size={16} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconLink size={16} aria-hidden />}
                onClick={() => void copy(location.href, t('results.linkCopied'))}
              >
                {t('results.copyLink')}
              </Menu.Item>
              {mayRun &&
                line.data &&
                line.data.suite_id !== '' &&
                line.data.finished &&
                (all.fail > 0 || all.error > 0) && (
                  <Menu.Item leftSection={<IconRepeat size={16} aria-hidden />} onClick={() => void rerun()}>
                    {t('results.rerunFailed')}
                  </Menu.Item>
                )}
              {mayChange && line.data && (
                <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setDescribing(true)}>
                  {t('results.describe')}
                </Menu.Item>
              )}
              {mayChange && (
                <Menu.Item leftSection={<IconShare size={16} aria-hidden />} onClick={() => void share()}>
                  {t(shared ? 'results.unshare' : 'results.share')}
                </Menu.Item>
              )}
              {mayChange && (
                <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={remove}>
                  {t('common.delete')}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      {describing && line.data && (
        <Suspense>
          <Words
            of={line.data}
            close={() => setDescribing(false)}
            saved={() => {
              setDescribing(false);
              notify(t('results.described'));
              void invalidate.runs();
              void refetchLine();
            }}
          />
        </Suspense>
      )}
      <Stack gap="sm">
        {line.data?.notes && (
          <Text size="sm" className={common.untrusted} style={{ whiteSpace: 'pre-wrap' }} data-notes>
            {line.data.notes}
          </Text>
        )}
        {d.problem && (
          <Notice title={t('results.problem')}>
            <Text size="sm" className={common.untrusted}>
              {d.problem}
            </Text>
          </Notice>
        )}
        {line.data && line.data.lost > 0 && <LostAttempts of={line.data} mayRun={mayRun} />}
        <Group gap="md" align="center">
          <VerdictBar of={all} width={160} />
          <Text fw={500} className={common.untrusted} style={{ flex: '1 1 320px' }} data-summary>
            {d.summary}
          </Text>
        </Group>
        {line.data && <ChangeSince run={id} line={line.data} />}
        <Estimates of={d.estimates} />
        {warnings.length > 0 && (
          <Notice title={t('results.warnings')}>
            <List size="sm">
              {warnings.map((w) => (
                <List.Item key={w} className={common.untrusted}>
                  {w}
                </List.Item>
              ))}
            </List>
          </Notice>
        )}
      </Stack>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(v) =>
          navigate(
            v === null || v === 'overview'
              ? `/runs/${encodeURIComponent(id)}`
              : `/runs/${encodeURIComponent(id)}?tab=${v}`,
          )
        }
      >
        <Tabs.List mb="md" aria-label={t('results.tabs')}>
          {tabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(`results.${x}` as TextKey)}
              {x === 'findings' && (d.panels.findings?.length ?? 0) > 0 && ` (${d.panels.findings!.length})`}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<Loading />}>
          <Tabs.Panel value="overview">
            <OverviewTab run={id} report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="grid">
            <GridTab run={id} report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="attempts">
            <Attempts run={id} report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="slices">
            <SlicesTab report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="confusion">
            <ConfusionTab run={id} report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="findings">
            <FindingsTab run={id} report={d} />
          </Tabs.Panel>
          <Tabs.Panel value="gates">
            {line.error ? (
              <Failure of={line.error} retry={() => void refetchLine()} />
            ) : line.data ? (
              <GatesTab run={id} line={line.data} />
            ) : (
              <Loading />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="configuration">
            <Configuration report={d} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  );
}

/** The flags of the settings that an action may have. */
const flags: Record<string, string> = { max_calls: '--max-calls', max_cost_usd: '--max-cost' };

/**
 * LostAttempts shows how many attempts of a run are lost, with a button that repeats them, or the command for a run of
 * the command line.
 */
function LostAttempts({ of: r, mayRun }: { of: Schemas['EvalDetails']; mayRun: boolean }) {
  const t = useText();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const again = r.resume;
  const budget = r.status === 'budget';
  const raised = Object.fromEntries(
    (again?.with ?? [])
      .filter((x) => x.name === 'max_calls' || x.name === 'max_cost_usd')
      .map((x) => [x.name, Number(x.values?.[0])]),
  );
  const resume = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/runs/{id}/resume', {
          params: { path: { id: r.id }, header: { 'Idempotency-Key': idempotencyKey() } },
          body: raised,
        }),
      ),
    onSuccess: (job) => {
      invalidate.dropRun(r.id);
      void navigate(`/jobs/${job.job_id}`);
    },
  });
  return (
    <Notice title={t('results.lostTitle', { n: number(r.lost), planned: number(r.planned) })}>
      <Text size="sm">{t('results.lostText')}</Text>
      {again && mayRun && r.user_id !== '' && (
        <>
          <Button
            mt={6}
            size="xs"
            variant="default"
            loading={resume.isPending}
            onClick={() => resume.mutate()}
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
          >
            {budget
              ? t('results.resumeWith', {
                  most:
                    'max_cost_usd' in raised
                      ? money(raised.max_cost_usd)
                      : t('results.requestsOf', { n: number(raised.max_calls ?? 0) }),
                })
              : t('results.resume')}
          </Button>
          <Failure of={resume.error} />
        </>
      )}
      {again && r.user_id === '' && (
        <>
          <Text size="sm" mt={6} mb={4}>
            {t(budget ? 'results.lostBudget' : 'results.lostResume')}
          </Text>
          <Copyable
            label={t('results.resumeCommand')}
            value={[
              again.verb === 'sweep' ? 'callvet select sweep' : 'callvet run',
              '--resume',
              again.run,
              ...(again.with ?? []).flatMap((x) => [flags[x.name] ?? `--${x.name}`, ...(x.values ?? [])]),
            ].join(' ')}
          />
        </>
      )}
    </Notice>
  );
}
