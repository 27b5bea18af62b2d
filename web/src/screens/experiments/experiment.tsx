import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Checkbox,
  Group,
  Menu,
  Modal,
  Select,
  Stack,
  Table,
  Tabs,
  Text,
} from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconDots,
  IconHelpCircle,
  IconLink,
  IconPin,
  IconPinnedOff,
  IconPlayerPlay,
  IconUnlink,
} from '@tabler/icons-react';
import { Fragment, type ReactNode, useCallback, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { type LiveEvent, useLive } from '../../api/live';
import { usePermission } from '../../user';
import { useText, useTranslate } from '../../text';
import { Figure, inUnit, leftOut, withInterval } from '../../ui/interval';
import { Card, Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { ChangeFigure } from '../../ui/change';
import { moment, signed } from '../../ui/format';
import { idempotencyKey } from '../../api/idempotency';
import { useParam } from '../../ui/params';
import { notify, notifyFailure, undoable } from '../../ui/notify';
import { RateChart } from './chart';
import { Searches } from '../tune/list';
import { ExperimentForm } from './form';
import { DataTable, FigureCell } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Details = Schemas['ExperimentDetails'];
type Entry = Schemas['TimelineEntry'];

/** ExperimentPage: its best configuration, its runs over time, and the ranking of configurations of its suite. */
/** tuneKinds names the searches of a timeline. */
const tuneKinds = {
  param_tune: 'tune.parameters',
  prompt_tune: 'tune.prompts',
  weights_tune: 'tune.weights',
} as const;

export function ExperimentPage({ id }: { id: string }) {
  const t = useText();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const mayWrite = usePermission('write');
  const mayRun = usePermission('run');
  const [tab, setTab] = useParam('tab', 'timeline');
  const [open, setOpen] = useState<'edit' | 'link' | null>(null);
  const [busy, setBusy] = useState(false);
  // runs end while another screen is open
  const one = $api.useQuery('get', '/api/experiments/{id}', { params: { path: { id } } }, { staleTime: 0 });
  const suite = $api.useQuery(
    'get',
    '/api/tool-suites/{id}',
    { params: { path: { id: one.data?.suite_id ?? '' } } },
    { enabled: Boolean(one.data) },
  );
  const again = useCallback(() => invalidate.experiments(), [invalidate]);
  useLive(useCallback((e: LiveEvent) => void (['job_completed', 'judge_result'].includes(e.type) && again()), [again]));

  if (one.error) return <Failure of={one.error} retry={() => one.refetch()} />;
  if (!one.data) return <Loading />;
  const e = one.data;
  const scored = Boolean(e.best_config || e.best_among);
  const runBest = async () => {
    setBusy(true);
    try {
      const sent = unwrap(
        await api.POST('/api/experiments/{id}/run-best', {
          params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } },
        }),
      );
      notify([t('experiments.started'), ...(sent.warnings ?? []).map((w) => w.text)].join('\n'));
      await again();
      navigate(`/jobs/${sent.job_id}`);
    } catch (x) {
      notifyFailure(t, x);
      setBusy(false);
    }
  };
  const remove = () =>
    undoable(
      t,
      e.name,
      async () => (unwrap(await api.DELETE('/api/experiments/{id}', { params: { path: { id } } })), again()),
      {
        hide: () => navigate('/experiments', { state: { deleted: id } }),
        show: () => navigate(`/experiments/${id}`),
      },
    );
  return (
    <Page
      title={e.name}
      lead={
        <>
          {e.description && <span className={common.untrusted}>{e.description}</span>}
          <Group gap="xs" mt={4}>
            <Link to={`/suites/${e.suite_id}`} className={common.untrusted}>
              {suite.data?.name ?? t('experiments.suite')}
            </Link>
            <span>
              {t('experiments.runs')}: {e.runs}
            </span>
            {e.state === 'archived' && <Badge color="gray">{t('experiments.archived')}</Badge>}
            {e.shared && <Badge color="gray">{t('common.shared')}</Badge>}
          </Group>
        </>
      }
      actions={
        <>
          {mayRun && (
            <Button
              variant={scored ? 'default' : 'filled'}
              component={Link}
              to={`/new?suite=${encodeURIComponent(e.suite_id)}&experiment=${encodeURIComponent(id)}`}
            >
              {t('experiments.runNew')}
            </Button>
          )}
          {mayRun && scored && (
            <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} loading={busy} onClick={runBest}>
              {t('experiments.runBest')}
            </Button>
          )}
          {mayWrite && (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon variant="default" size={36} aria-label={t('common.actions')}>
                  <IconDots size={18} aria-hidden />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setOpen('link')}>{t('experiments.link')}</Menu.Item>
                <Menu.Item onClick={() => setOpen('edit')}>{t('common.edit')}</Menu.Item>
                <Menu.Item color="red" onClick={remove}>
                  {t('common.delete')}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </>
      }
    >
      <Best of={e} />
      <Tabs value={tab} onChange={(v) => setTab(v)} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="timeline">{t('experiments.timeline')}</Tabs.Tab>
          <Tabs.Tab value="leaderboard">{t('experiments.leaderboard')}</Tabs.Tab>
          <Tabs.Tab value="trend">{t('experiments.trend')}</Tabs.Tab>
          <Tabs.Tab value="tune">{t('tune.tab')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="timeline">
          <Timeline of={e} link={() => setOpen('link')} changed={again} />
        </Tabs.Panel>
        <Tabs.Panel value="leaderboard">
          <Leaderboard suite={e.suite_id} />
        </Tabs.Panel>
        <Tabs.Panel value="trend">
          <Trend suite={e.suite_id} />
        </Tabs.Panel>
        <Tabs.Panel value="tune">
          <Stack gap="md">
            {mayRun && (
              <Button
                component={Link}
                variant="default"
                style={{ alignSelf: 'flex-start' }}
                to={`/tune/new?suite=${encodeURIComponent(e.suite_id)}&experiment=${encodeURIComponent(id)}`}
              >
                {t('tune.new')}
              </Button>
            )}
            <Searches experiment={id} />
          </Stack>
        </Tabs.Panel>
      </Tabs>
      {open === 'edit' && (
        <ExperimentForm
          of={e}
          close={() => setOpen(null)}
          saved={() => {
            setOpen(null);
            void again();
          }}
        />
      )}
      {open === 'link' && <LinkRuns of={e} close={() => setOpen(null)} changed={again} />}
    </Page>
  );
}

/**
 * BestFigures shows the pass rate and the score of a configuration. The pass rate decides the rank, unless the suite
 * has gates on another measure.
 */
function BestFigures({ of: b, size = 'sm' }: { of: Schemas['BestConfig']; size?: 'sm' | 'lg' }) {
  const t = useText();
  return (
    <>
      <Text size="xs" c="dimmed">
        {t('experiments.passRate')}
      </Text>
      <Figure of={{ of: t('common.attempts') }} interval={b.pass_rate ?? undefined} size={size} bar />
      <Text size="xs" c="dimmed">
        {t('experiments.score')}
      </Text>
      <Figure of={{ of: t('common.attempts') }} interval={b.score} />
    </>
  );
}

function Best({ of: e }: { of: Details }) {
  const t = useText();
  const b = e.best_config;
  if (e.best_among) {
    return (
      <Card title={t('experiments.best')}>
        <Text size="sm" mb="sm">
          {e.best_among.note}
        </Text>
        <Group gap="xl" align="flex-start">
          {(e.best_among.items ?? []).map((x) => (
            <Stack gap={2} key={x.config_hash}>
              <Text fw={600} className={common.untrusted}>
                {x.target}
              </Text>
              <BestFigures of={x} />
              <Text size="xs" c="dimmed">
                {t('experiments.rank')} {x.worst_rank > x.rank ? `${x.rank}–${x.worst_rank}` : x.rank} ·{' '}
                <Link to={`/runs/${x.eval_id}`}>{t('experiments.ofRun', { run: x.eval_id })}</Link>
              </Text>
            </Stack>
          ))}
        </Group>
      </Card>
    );
  }
  if (!b) {
    return (
      <Card title={t('experiments.best')}>
        <Text size="sm" c="dimmed">
          {t('experiments.bestNone')}
        </Text>
      </Card>
    );
  }
  const { target: _, name: __, ...config } = b.config;
  return (
    <Card
      title={t('experiments.best')}
      actions={
        b.confirmed ? (
          <Badge
            size="lg"
            leftSection={<IconCircleCheck size={15} aria-hidden />}
            style={{ color: 'var(--cv-pass)', background: 'var(--cv-pass-ground)' }}
          >
            {t('experiments.confirmed')}
          </Badge>
        ) : (
          <Badge
            size="lg"
            leftSection={<IconHelpCircle size={15} aria-hidden />}
            style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}
          >
            {t('experiments.unconfirmed')}
          </Badge>
        )
      }
    >
      <Group gap="xl" align="flex-start">
        <Stack gap={2}>
          <Text fw={600} className={common.untrusted}>
            {b.target}
          </Text>
          <BestFigures of={b} size="lg" />
        </Stack>
        <Stack gap={2} style={{ flex: '1 1 260px' }}>
          <Text size="sm">
            {b.of === 1 ? t('experiments.ofOne') : t('experiments.of', { n: b.of, metric: b.metric })} ·{' '}
            <Link to={`/runs/${b.eval_id}`}>{t('experiments.ofRun', { run: b.eval_id })}</Link>
          </Text>
          <Text size="sm" c="dimmed">
            {b.note}
          </Text>
          <Box component="details">
            <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
              {t('experiments.parameters')}
            </Text>
            <pre className={`${common.mono} ${common.untrusted}`} style={{ margin: '6px 0 0' }}>
              {JSON.stringify(config, null, 2)}
            </pre>
          </Box>
        </Stack>
      </Group>
    </Card>
  );
}

function Timeline({ of: e, link, changed }: { of: Details; link: () => void; changed: () => Promise<void> }) {
  const t = useText();
  const translate = useTranslate();
  const mayWrite = usePermission('write');
  const line = $api.useQuery(
    'get',
    '/api/experiments/{id}/timeline',
    { params: { path: { id: e.id } } },
    { staleTime: 0 },
  );
  const [pin, setPin] = useState<Entry | null>(null);
  if (line.error) return <Failure of={line.error} retry={() => line.refetch()} />;
  if (!line.data) return <Loading />;
  const entries = line.data.entries ?? [];
  if (entries.length === 0) {
    return (
      <Empty title={t('experiments.timelineEmpty')} text={t('experiments.timelineEmptyText')}>
        {mayWrite && (
          <Button variant="default" leftSection={<IconLink size={16} aria-hidden />} onClick={link}>
            {t('experiments.link')}
          </Button>
        )}
      </Empty>
    );
  }
  const change = async (does: () => Promise<unknown>, message: string) => {
    try {
      await does();
      notify(message);
      await changed();
    } catch (x) {
      notifyFailure(t, x);
    }
  };
  const setBaseline = (run: string, target = '') =>
    change(
      async () =>
        unwrap(
          await api.PUT('/api/experiments/{id}/baseline', {
            params: { path: { id: e.id } },
            body: { eval_id: run, ...(target ? { target } : {}) },
          }),
        ),
      run ? t('experiments.pinned') : t('experiments.unpinned'),
    );
  const unlink = (run: string) =>
    change(
      async () =>
        unwrap(await api.PATCH('/api/runs/{id}', { params: { path: { id: run } }, body: { experiment_id: '' } })),
      t('experiments.unlinked'),
    );
  const runs = entries.filter((x) => x.type === 'eval');
  const columns = runs.map((x) => ({
    run: x.eval_id,
    at: x.timestamp,
    baseline: x.baseline,
    points: (x.targets ?? []).flatMap((c) => (c.pass_rate ? [{ series: c.name, rate: c.pass_rate }] : [])),
  }));
  const pinned = runs.find((x) => x.baseline)?.targets ?? [];
  const based = pinned.length === 1 ? pinned[0]!.pass_rate?.point : null; // several targets have different rates
  const actions = (x: Entry): ReactNode =>
    mayWrite && (
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('experiments.actionsOf', { run: x.eval_id })}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {x.baseline ? (
            <Menu.Item leftSection={<IconPinnedOff size={16} aria-hidden />} onClick={() => setBaseline('')}>
              {t('experiments.unpin')}
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconPin size={16} aria-hidden />}
              onClick={() => ((x.targets?.length ?? 0) > 1 ? setPin(x) : setBaseline(x.eval_id))}
            >
              {t('experiments.pin')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconUnlink size={16} aria-hidden />} onClick={() => unlink(x.eval_id)}>
            {t('experiments.unlink')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    );
  return (
    <Stack>
      <Card>
        <RateChart columns={columns} baseline={based} label={t('experiments.chartLabel', { n: runs.length })} />
        {line.data.baseline_interval && (
          <Text size="sm" mt="xs" data-baseline>
            {t('experiments.baselineScore', { score: withInterval(t, line.data.baseline_interval) })}
          </Text>
        )}
      </Card>
      <DataTable
        label={t('experiments.timeline')}
        card
        heads={[
          t('experiments.run'),
          t('experiments.target'),
          t('experiments.passRate'),
          t('experiments.change'),
          t('experiments.score'),
          t('experiments.delta'),
          { title: t('common.actions'), w: 48, hidden: true },
        ]}
      >
        {entries.toReversed().map((x) =>
          x.type === 'param_tune' || x.type === 'prompt_tune' || x.type === 'weights_tune' ? (
            <Table.Tr key={x.id} data-search={x.id}>
              <Table.Td>
                <Link to={x.catalogue_id ? `/lab?catalogue=${x.catalogue_id}&tab=changes` : `/tune/${x.id}`}>
                  {moment(x.timestamp)}
                </Link>
              </Table.Td>
              <Table.Td colSpan={3}>
                <Text size="sm" fw={600}>
                  {t(tuneKinds[x.type])}
                </Text>
                <Text size="sm" c="dimmed" className={common.untrusted}>
                  {translate(x.config_summary)}
                </Text>
                {x.eval_id && <Link to={`/runs/${x.eval_id}`}>{t('tune.promoted')}</Link>}
              </Table.Td>
              <Table.Td>{x.score === null ? '–' : inUnit(x.score, 'rate')}</Table.Td>
              <Table.Td>
                <ChangeFigure of={x.gain} />
              </Table.Td>
              <Table.Td>{x.status}</Table.Td>
            </Table.Tr>
          ) : x.type === 'judge' ? (
            <Table.Tr key={x.id}>
              <Table.Td>
                <When at={x.timestamp} />
              </Table.Td>
              <Table.Td colSpan={5}>
                <Text size="sm" c="dimmed">
                  <Link to={`/judges?run=${x.eval_id}`}>{t('experiments.judgeEntry', { judge: x.judge ?? '' })}</Link> ·{' '}
                  {x.score === null
                    ? x.status
                    : t('experiments.judgeScore', {
                        score: x.score_interval ? withInterval(t, x.score_interval) : inUnit(x.score, 'rate'),
                      })}
                  {x.reports?.map((r) => (
                    <span key={r.target} className={common.untrusted}>{` · ${r.target}: ${r.grade}`}</span>
                  ))}
                </Text>
                {x.warnings?.map((w) => (
                  <Text key={w} size="xs" style={{ color: 'var(--cv-error)' }}>
                    {w}
                  </Text>
                ))}
              </Table.Td>
            </Table.Tr>
          ) : (
            <Fragment key={x.id}>
              {(x.targets?.length ? x.targets : [null]).map((c, i, all) => (
                <Table.Tr key={i} data-run={x.eval_id}>
                  {i === 0 && (
                    <Table.Td rowSpan={all.length} style={{ verticalAlign: 'top' }}>
                      <Link to={`/runs/${x.eval_id}`} className={common.mono}>
                        {x.name || x.eval_id}
                      </Link>
                      <Group gap={6}>
                        <When at={x.timestamp} />
                        {x.status !== 'done' && <Badge color="gray">{x.status}</Badge>}
                      </Group>
                      {x.left_out && (
                        <Text size="xs" maw={260} data-left-out>
                          {leftOut(t, x.asked ?? 0, x.left_out)}
                        </Text>
                      )}
                      {x.warnings?.map((w) => (
                        <Text key={w} size="xs" style={{ color: 'var(--cv-error)' }} maw={260}>
                          {w}
                        </Text>
                      ))}
                    </Table.Td>
                  )}
                  <Table.Td className={common.untrusted}>{c?.name ?? '–'}</Table.Td>
                  <Table.Td>
                    {c && <Figure of={{ of: t('common.attempts') }} interval={c.pass_rate ?? undefined} bar />}
                  </Table.Td>
                  <Table.Td>
                    {x.baseline
                      ? i === 0 && (
                          <Badge leftSection={<IconPin size={13} aria-hidden />}>{t('experiments.isBaseline')}</Badge>
                        )
                      : c && (
                          <ChangeFigure
                            of={c.pass_change?.change}
                            verdict={c.pass_change?.verdict}
                            p={c.pass_change?.p_holm ?? c.pass_change?.p}
                          />
                        )}
                  </Table.Td>
                  <Table.Td>
                    {c && <Figure of={{ of: t('common.attempts') }} interval={c.score ?? undefined} />}
                  </Table.Td>
                  {i === 0 && (
                    <Table.Td rowSpan={all.length} style={{ verticalAlign: 'top' }} className={common.num}>
                      {x.delta === null || x.baseline ? (
                        <Text span size="sm" c="dimmed">
                          {line.data.baseline_score === null ? t('experiments.noBaseline') : '–'}
                        </Text>
                      ) : (
                        signed(x.delta)
                      )}
                    </Table.Td>
                  )}
                  {i === 0 && (
                    <Table.Td rowSpan={all.length} style={{ verticalAlign: 'top' }}>
                      {actions(x)}
                    </Table.Td>
                  )}
                </Table.Tr>
              ))}
            </Fragment>
          ),
        )}
      </DataTable>
      {pin && (
        <PinTarget
          names={(pin.targets ?? []).map((c) => c.name)}
          close={() => setPin(null)}
          pin={async (target) => {
            await setBaseline(pin.eval_id, target);
            setPin(null);
          }}
        />
      )}
    </Stack>
  );
}

function When({ at }: { at: string }) {
  return (
    <Text span size="xs" c="dimmed" className={common.num}>
      {moment(at)}
    </Text>
  );
}

/** PinTarget chooses the baseline target of a run with several targets. */
function PinTarget({
  names,
  close,
  pin,
}: {
  names: string[];
  close: () => void;
  pin: (target: string) => Promise<void>;
}) {
  const t = useText();
  const [target, setTarget] = useState(names[0] ?? '');
  return (
    <Modal opened onClose={close} title={t('experiments.pin')}>
      <Stack>
        <Select
          label={t('experiments.pinTarget')}
          description={t('experiments.pinTargetHint')}
          data={names}
          allowDeselect={false}
          value={target}
          onChange={(v) => setTarget(v ?? '')}
        />
        <Group justify="flex-end">
          <Button onClick={() => void pin(target)}>{t('experiments.pin')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** LinkRuns adds other runs of the suite to the experiment. */
function LinkRuns({ of: e, close, changed }: { of: Details; close: () => void; changed: () => Promise<void> }) {
  const t = useText();
  const [chosen, setChosen] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const list = $api.useQuery('get', '/api/tool-eval/history', {
    params: { query: { suite_id: e.suite_id, limit: 200 } },
  });
  const runs = (list.data?.items ?? []).filter((r) => r.experiment_id !== e.id);
  const send = async () => {
    setBusy(true);
    try {
      for (const id of chosen)
        unwrap(await api.PATCH('/api/runs/{id}', { params: { path: { id } }, body: { experiment_id: e.id } }));
      notify(t('experiments.linked', { n: chosen.length }));
      close();
    } catch (x) {
      notifyFailure(t, x);
      setBusy(false);
    }
    await changed();
  };
  return (
    <Modal opened onClose={close} title={t('experiments.link')} size="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          {list.data && runs.length === 0 ? t('experiments.linkNone') : t('experiments.linkText')}
        </Text>
        <Failure of={list.error} />
        {list.isPending && <Loading />}
        <Checkbox.Group value={chosen} onChange={setChosen}>
          <Stack gap="xs">
            {runs.map((r) => (
              <Checkbox
                key={r.id}
                value={r.id}
                label={`${r.name ? `${r.name} · ` : ''}${(r.models ?? []).join(', ')} · ${moment(r.timestamp)}`}
                description={`${r.id}${r.avg_interval ? ` · ${withInterval(t, r.avg_interval)}` : ''}${r.experiment_id ? ` · ${t('experiments.inOther')}` : ''}`}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <Group justify="flex-end">
          <Button disabled={chosen.length === 0} loading={busy} onClick={send}>
            {t('experiments.link')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Leaderboard({ suite }: { suite: string }) {
  const t = useText();
  const board = $api.useQuery('get', '/api/leaderboard', { params: { query: { suite_id: suite } } });
  if (board.error) return <Failure of={board.error} retry={() => board.refetch()} />;
  if (!board.data) return <Loading />;
  const items = board.data.items ?? [];
  if (items.length === 0) return <Empty title={t('experiments.leaderEmpty')} />;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('experiments.leaderText')} {board.data.others > 0 && t('experiments.leaderOthers', { n: board.data.others })}
      </Text>
      {(board.data.unread ?? []).length > 0 && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          {t('experiments.leaderUnread', { n: board.data.unread!.length })}{' '}
          {board.data.unread!.map((run, i) => (
            <span key={run}>
              {i > 0 && ', '}
              <Link to={`/runs/${encodeURIComponent(run)}`} className={common.untrusted}>
                {run}
              </Link>
            </span>
          ))}
        </Alert>
      )}
      <DataTable
        label={t('experiments.leaderboard')}
        card
        heads={[
          { title: t('experiments.rank'), right: true, w: 64 },
          t('experiments.target'),
          t('experiments.passRate'),
          t('experiments.score'),
          t('experiments.run'),
        ]}
      >
        {items.map((r) => (
          <Table.Tr key={r.config_hash}>
            <FigureCell>{r.rank === r.worst_rank ? r.rank : `${r.rank}–${r.worst_rank}`}</FigureCell>
            <Table.Td>
              <span className={common.untrusted}>{r.target}</span>{' '}
              {r.floor && (
                <Badge color="gray" style={{ color: 'var(--cv-none)' }}>
                  {t('experiments.floor')}
                </Badge>
              )}
            </Table.Td>
            <Table.Td>
              <Figure of={{ of: t('common.attempts') }} interval={r.pass_rate} bar />
            </Table.Td>
            <Table.Td>
              <Figure of={{ of: t('common.attempts') }} interval={r.score} />
            </Table.Td>
            <Table.Td>
              <Link to={`/runs/${r.eval_id}`}>{moment(r.timestamp)}</Link>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Stack>
  );
}

function Trend({ suite }: { suite: string }) {
  const t = useText();
  const trend = $api.useQuery('get', '/api/tool-suites/{id}/trend', {
    params: { path: { id: suite }, query: { limit: 50 } },
  });
  if (trend.error) return <Failure of={trend.error} retry={() => trend.refetch()} />;
  if (!trend.data) return <Loading />;
  const entries = (trend.data.entries ?? []).map((x) => ({ ...x, targets: x.targets ?? [] }));
  if (entries.length === 0) return <Empty title={t('experiments.leaderEmpty')} />;
  const columns = entries.map((x) => ({
    run: x.eval_id,
    at: x.timestamp,
    points: x.targets.flatMap((c) => (c.pass_rate ? [{ series: c.name, rate: c.pass_rate }] : [])),
  }));
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('experiments.trendText')} {trend.data.older && t('experiments.trendOlder')}
      </Text>
      <Card>
        <RateChart columns={columns} label={t('experiments.chartLabel', { n: entries.length })} />
      </Card>
      <DataTable
        label={t('experiments.trend')}
        card
        heads={[
          t('experiments.run'),
          t('experiments.target'),
          t('experiments.passRate'),
          t('experiments.changePrevious'),
          t('experiments.score'),
        ]}
      >
        {entries.toReversed().flatMap((x) =>
          x.targets.map((c, i) => (
            <Table.Tr key={`${x.eval_id} ${c.name}`}>
              {i === 0 && (
                <Table.Td rowSpan={x.targets.length} style={{ verticalAlign: 'top' }}>
                  <Link to={`/runs/${x.eval_id}`}>{moment(x.timestamp)}</Link>{' '}
                  {x.suite_version !== undefined && (
                    <Text span size="xs" c="dimmed">
                      {t('experiments.version', { n: x.suite_version })}
                    </Text>
                  )}
                  {x.warnings?.map((w) => (
                    <Text key={w} size="xs" style={{ color: 'var(--cv-error)' }} maw={260}>
                      {w}
                    </Text>
                  ))}
                </Table.Td>
              )}
              <Table.Td className={common.untrusted}>{c.name}</Table.Td>
              <Table.Td>
                <Figure of={{ of: t('common.attempts') }} interval={c.pass_rate ?? undefined} bar />
              </Table.Td>
              <Table.Td>
                {c.previous_eval_id ? (
                  <ChangeFigure
                    of={c.pass_change?.change}
                    verdict={c.pass_change?.verdict}
                    p={c.pass_change?.p_holm ?? c.pass_change?.p}
                  />
                ) : (
                  <Text span size="sm" c="dimmed">
                    {t('experiments.firstRun')}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Figure of={{ of: t('common.attempts') }} interval={c.score ?? undefined} />
              </Table.Td>
            </Table.Tr>
          )),
        )}
      </DataTable>
    </Stack>
  );
}
