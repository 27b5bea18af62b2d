import { ActionIcon, Badge, Button, Checkbox, Group, Menu, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconAlertTriangle, IconArrowsDiff, IconDots, IconShare, IconTrash } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { type LiveEvent, useLive } from '../../api/live';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Figure } from '../../ui/interval';
import { Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { ago, moment, money } from '../../ui/format';
import { useParam } from '../../ui/params';
import { JudgedCount } from '../../ui/progress';
import { type Column, Rows } from '../../ui/table';
import { notify, notifyFailure, undoable } from '../../ui/notify';
import { statusText, VerdictBar } from './parts';
import common from '../../ui/common.module.css';

type Run = Schemas['EvalRun'];

const mostCompared = 6;

/** The list of runs. */
export default function RunsPage() {
  const t = useText();
  const mayChange = usePermission('write');
  const mayRun = usePermission('run');
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const [suite, setSuite] = useParam('suite');
  const [experiment, setExperiment] = useParam('experiment');
  const [typed, setTyped] = useState(suite);
  const apply = useDebouncedCallback((v: string) => setSuite(v, { replace: true }), 300);
  const [chosen, setChosen] = useState<string[]>([]);
  const [gone, setGone] = useState<string[]>([]);
  const runs = $api.useInfiniteQuery(
    'get',
    '/api/tool-eval/history',
    { params: { query: { suite: suite || undefined, experiment_id: experiment || undefined, limit: 50 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (last) => last.next_cursor },
  );
  const experiments = $api.useQuery('get', '/api/experiments', {}, { staleTime: 60_000 });
  const nameOf = useMemo(() => new Map((experiments.data?.items ?? []).map((e) => [e.id, e.name])), [experiments.data]);
  const refetch = runs.refetch;
  useLive(
    useCallback(
      (e: LiveEvent) => {
        if (
          [
            'job_completed',
            'job_failed',
            'job_cancelled',
            'job_interrupted',
            'tool_eval_init',
            'events_skipped',
          ].includes(e.type)
        )
          void refetch();
      },
      [refetch],
    ),
  );
  const rows = useMemo(
    () => (runs.data?.pages ?? []).flatMap((p) => p.items).filter((r) => !gone.includes(r.id)),
    [runs.data, gone],
  );

  const choose = (id: string, on: boolean) =>
    setChosen((before) => (on ? [...before, id].slice(0, mostCompared) : before.filter((x) => x !== id)));
  const remove = (r: Run) => {
    choose(r.id, false);
    undoable(
      t,
      t('results.run', { id: r.id }),
      async () => {
        unwrap(await api.DELETE('/api/tool-eval/history/{id}', { params: { path: { id: r.id } } }));
        await invalidate.runs();
      },
      { hide: () => setGone((g) => [...g, r.id]), show: () => setGone((g) => g.filter((x) => x !== r.id)) },
    );
  };
  const share = async (r: Run) => {
    try {
      unwrap(await api.PATCH('/api/runs/{id}', { params: { path: { id: r.id } }, body: { shared: !r.shared } }));
      notify(t(r.shared ? 'results.unsharedNow' : 'results.sharedNow'));
      await runs.refetch();
    } catch (e) {
      notifyFailure(t, e);
    }
  };

  const experimentColumn: Column<Run> = {
    key: 'experiment',
    title: t('results.experiment'),
    width: 120,
    cell: (r) =>
      r.experiment_id ? (
        <Link to={`/experiments/${encodeURIComponent(r.experiment_id)}`} className={common.untrusted}>
          {nameOf.get(r.experiment_id) ?? r.experiment_id}
        </Link>
      ) : (
        <Text span c="dimmed" size="sm">
          –
        </Text>
      ),
  };
  const columns: Column<Run>[] = [
    {
      key: 'choose',
      title: '',
      width: 40,
      corner: 'left',
      cell: (r) => (
        <Checkbox
          size="xs"
          aria-label={t('results.select', { id: r.id })}
          checked={chosen.includes(r.id)}
          disabled={!chosen.includes(r.id) && chosen.length >= mostCompared}
          onChange={(e) => choose(r.id, e.currentTarget.checked)}
        />
      ),
    },
    {
      key: 'suite',
      title: t('results.suite'),
      min: 150,
      cell: (r) => (
        <Stack gap={0}>
          <Link to={`/runs/${encodeURIComponent(r.id)}`} className={common.untrusted}>
            {r.name || r.suite_name || r.id}
          </Link>
          <Group gap={6}>
            {r.name && (
              <Text span size="xs" c="dimmed" className={common.untrusted}>
                {r.suite_name}
              </Text>
            )}
            <Text span size="xs" c="dimmed" className={common.mono}>
              {r.id}
            </Text>
            {(r.run_tags ?? []).slice(0, 3).map((x) => (
              <Badge
                key={x}
                size="xs"
                variant="light"
                color="gray"
                className={common.untrusted}
                tt="none"
                title={(r.run_tags ?? []).join(', ')}
              >
                {x}
              </Badge>
            ))}
            {r.status !== 'done' && (
              <Badge
                size="xs"
                color={r.status === 'running' || r.status === 'queued' ? 'accent' : 'yellow'}
                variant="outline"
              >
                {statusText(t, r.status) ?? r.status}
              </Badge>
            )}
            {r.problem && (
              <Badge
                size="xs"
                style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}
                leftSection={<IconAlertTriangle size={10} aria-hidden />}
                title={r.problem}
              >
                {t('results.damaged')}
              </Badge>
            )}
            {r.shared && (
              <Badge size="xs" variant="outline" color="gray">
                {t('common.shared')}
              </Badge>
            )}
          </Group>
        </Stack>
      ),
    },
    { key: 'models', title: t('results.models'), min: 170, cell: (r) => <Models names={r.models ?? []} /> },
    {
      key: 'verdicts',
      title: t('results.verdicts'),
      min: 170,
      cell: (r) => (
        <Stack gap={0}>
          <VerdictBar of={r.verdicts} />
          <JudgedCount of={r} />
        </Stack>
      ),
    },
    { key: 'score', title: t('results.score'), min: 190, cell: (r) => <Scores of={r} /> },
    {
      key: 'cost',
      title: t('results.cost'),
      align: 'right',
      width: 80,
      cell: (r) => <span className={common.num}>{money(r.cost_usd)}</span>,
    },
    ...(rows.some((r) => r.experiment_id) ? [experimentColumn] : []),
    {
      key: 'when',
      title: t('results.when'),
      width: 90,
      cell: (r) => (
        <Text span size="sm" className={common.num} title={moment(r.timestamp)}>
          {ago(r.timestamp)}
        </Text>
      ),
    },
    {
      key: 'actions',
      title: '',
      width: 44,
      align: 'right',
      corner: 'right',
      cell: (r) =>
        mayChange && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`${t('common.actions')}: ${r.id}`}>
                <IconDots size={16} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconShare size={16} aria-hidden />} onClick={() => void share(r)}>
                {t(r.shared ? 'results.unshare' : 'results.share')}
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => remove(r)}>
                {t('common.delete')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ),
    },
  ];
  const filtered = suite !== '' || experiment !== '';
  return (
    <Page
      title={t('shell.runs')}
      lead={t('results.runsLead')}
      actions={
        <>
          {chosen.length > 0 && (
            <Button variant="subtle" color="gray" onClick={() => setChosen([])}>
              {t('results.clearSelection')}
            </Button>
          )}
          <Button
            variant={chosen.length >= 2 ? 'filled' : 'default'}
            disabled={chosen.length < 2}
            leftSection={<IconArrowsDiff size={16} aria-hidden />}
            title={chosen.length < 2 ? t('results.compareHint') : undefined}
            onClick={() => {
              // The oldest is the baseline: the last of the chosen runs in the list.
              const ordered = rows
                .filter((r) => chosen.includes(r.id))
                .map((r) => r.id)
                .reverse();
              navigate(`/compare?runs=${ordered.map(encodeURIComponent).join(',')}`);
            }}
          >
            {t('results.compare')}
            {chosen.length > 0 && ` (${chosen.length})`}
          </Button>
        </>
      }
    >
      <Group gap="sm" align="flex-end">
        <TextInput
          label={t('results.suiteFilter')}
          placeholder={t('results.allSuites')}
          value={typed}
          w={260}
          onChange={(e) => {
            setTyped(e.currentTarget.value);
            apply(e.currentTarget.value);
          }}
        />
        {experiment && (
          <Button variant="light" onClick={() => setExperiment(null)} rightSection="×">
            {t('results.experiment')}: {nameOf.get(experiment) ?? experiment}
          </Button>
        )}
      </Group>
      {runs.error ? (
        <Failure of={runs.error} retry={() => void runs.refetch()} />
      ) : runs.isPending ? (
        <Loading />
      ) : (
        <Rows
          label={t('shell.runs')}
          columns={columns}
          rows={rows}
          idOf={(r) => r.id}
          rowHeight={64}
          onOpen={(r) => navigate(`/runs/${encodeURIComponent(r.id)}`)}
          hasMore={runs.hasNextPage}
          more={() => void runs.fetchNextPage()}
          busy={runs.isFetchingNextPage}
          empty={
            filtered ? (
              <Empty title={t('results.noRunsFilter')}>
                <Button
                  variant="default"
                  onClick={() => {
                    setTyped('');
                    navigate('/runs');
                  }}
                >
                  {t('results.clearFilter')}
                </Button>
              </Empty>
            ) : (
              <Empty title={t('results.noRuns')} text={t('results.noRunsText')}>
                {mayRun && (
                  <Button component={Link} to="/new">
                    {t('results.newRun')}
                  </Button>
                )}
              </Empty>
            )
          }
        />
      )}
    </Page>
  );
}

/** Models shows the names of the first targets, and the number of the others. */
function Models({ names }: { names: string[] }) {
  const t = useText();
  const [first, ...rest] = names;
  return (
    <Text size="sm" className={common.untrusted} title={names.join('\n')} lineClamp={2}>
      {rest.length === 0 ? (first ?? '–') : t('results.and', { name: first ?? '', n: rest.length })}
    </Text>
  );
}

/** Scores shows the score of the only target, or of the best of several. */
function Scores({ of: r }: { of: Run }) {
  const t = useText();
  const scored = (r.targets ?? []).filter((x) => !x.floor && x.score && x.score.interval.point !== null);
  const list = scored.length > 0 ? scored : (r.targets ?? []).filter((x) => x.score);
  const best = list.toSorted((a, b) => (b.score?.interval.point ?? 0) - (a.score?.interval.point ?? 0))[0];
  if (!best?.score) {
    return (
      <Text span size="sm" c="dimmed">
        {r.status === 'running' ? '…' : t('common.notScored')}
      </Text>
    );
  }
  return (
    <Stack gap={0}>
      <Figure interval={best.score.interval} of={best.score} unit={best.score.unit} bar stack />
      {list.length > 1 && (
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {t('results.bestOf', { name: best.name, n: list.length })}
        </Text>
      )}
    </Stack>
  );
}
