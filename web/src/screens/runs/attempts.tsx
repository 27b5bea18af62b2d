import { Badge, Button, Chip, Group, MultiSelect, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { type TextKey, useText } from '../../text';
import { inUnit } from '../../ui/interval';
import { Empty, Failure } from '../../ui/status';
import { Verdict } from '../../ui/verdict';
import { duration, money, number } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import { caseScreen } from './casescreen';
import { attemptsOf, caseOf, keyOf, useAttempts } from './lists';
import {
  type Attempt,
  asVerdict,
  caseLink,
  type Filters,
  withSpaces,
  outcomes,
  type Report,
  sumOf,
  useFilters,
  verdictNames,
} from './parts';
import classes from './runs.module.css';
import common from '../../ui/common.module.css';

/** Attempts is the list of attempts. The server filters and sorts it, and the address contains the filters. */
export function AttemptsTab({ run, report: d }: { run: string; report: Report }) {
  const t = useText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [filters, set] = useFilters();
  const { found, rows, total, all } = useAttempts(run, filters);
  // The request is sent at once, before the page shows the new address, and the view of a case is loaded before a
  // case is opened.
  const change: typeof set = (part, how) => {
    void client.prefetchInfiniteQuery(attemptsOf(run, { ...filters, ...part }));
    set(part, how);
  };
  const open = (a: Attempt) => {
    void client.prefetchQuery(caseOf(run, a.case));
    navigate(caseLink(run, a, filters), { state: { back: true } });
  };
  const shown = rows.length > 0;
  useEffect(() => {
    if (!shown) return;
    const soon = setTimeout(() => void caseScreen.load().catch(() => {}), 300);
    return () => clearTimeout(soon);
  }, [shown]);
  const repeats = d.panels.repeats > 1;
  const columns = useMemo<Column<Attempt>[]>(
    () => [
      { key: 'verdict', title: t('results.verdict'), width: 96, cell: (a) => <Verdict of={asVerdict(a.verdict)} /> },
      {
        key: 'case',
        title: t('results.case'),
        sort: 'case',
        width: 200,
        cell: (a) => <span className={`${common.untrusted} ${classes.strong}`}>{a.case}</span>,
      },
      {
        key: 'target',
        title: t('results.target'),
        width: 190,
        cell: (a) => (
          <span className={classes.marked}>
            <span className={common.untrusted}>{a.target}</span>
            {repeats && <span className={`${common.dim} ${common.num}`}>#{a.repeat + 1}</span>}
          </span>
        ),
      },
      {
        key: 'class',
        width: 130,
        title: t('results.errorClass'),
        sort: 'class',
        cell: (a) => <span className={common.num}>{a.class ? withSpaces(a.class) : ''}</span>,
      },
      {
        key: 'reason',
        title: t('results.reason'),
        min: 240,
        wide: true,
        cell: (a) => (
          <span className={`${common.untrusted} ${classes.oneLine} ${classes.faint}`} title={a.reason}>
            {a.reason ?? ''}
          </span>
        ),
      },
      {
        key: 'score',
        title: t('results.score'),
        sort: 'score',
        align: 'right',
        width: 84,
        cell: (a) => (
          <span className={common.num}>{inUnit(a.scores?.find((s) => s.name === 'overall')?.value, 'rate')}</span>
        ),
      },
      {
        key: 'cost',
        title: t('results.cost'),
        sort: 'cost',
        align: 'right',
        width: 84,
        cell: (a) => <span className={common.num}>{money(a.usage?.cost_usd)}</span>,
      },
      {
        key: 'time',
        title: t('results.latency'),
        align: 'right',
        width: 84,
        cell: (a) => <span className={common.num}>{duration(a.wall_ms)}</span>,
      },
    ],
    [t, repeats],
  );
  return (
    <Stack gap="md">
      <FilterBar report={d} filters={filters} change={change} />
      <Text size="sm" c="dimmed" aria-live="polite" className={common.num}>
        {found.data ? t('results.attemptsOf', { n: number(total), total: number(all) }) : t('common.loading')}
      </Text>
      {found.error ? (
        <Failure of={found.error} retry={() => void found.refetch()} />
      ) : (
        <Rows
          label={t('results.attempts')}
          columns={columns}
          rows={rows}
          idOf={keyOf}
          sort={filters.sort || 'case'}
          onSort={(sort) => change({ sort: sort === 'case' ? '' : sort })}
          onOpen={open}
          hasMore={found.hasNextPage}
          more={() => void found.fetchNextPage()}
          busy={found.isFetchingNextPage || found.isPending}
          empty={<Empty title={t('results.noneFit')} text={t('results.noneFitText')} />}
        />
      )}
    </Stack>
  );
}

/** FilterBar sets the filters of the address. only leaves out filters that a list does not have. */
export function FilterBar({
  report: d,
  filters: f,
  change,
  only,
}: {
  report: Report;
  filters: Filters;
  change: (part: Partial<Filters>, how?: { replace?: boolean }) => void;
  only?: (keyof Filters)[];
}) {
  const t = useText();
  const targets = d.panels.targets ?? [];
  const counts = sumOf(f.target.length ? targets.filter((p) => f.target.includes(p.name)) : targets);
  const has = (name: keyof Filters) => !only || only.includes(name);
  const classes = [
    ...new Set(targets.flatMap((p) => (p.overall.classes ?? []).filter((c) => c.n > 0).map((c) => c.name))),
  ].sort();
  const reasons = [
    ...new Set([...targets.flatMap((p) => (p.overall.reasons ?? []).map((r) => r.reason)), ...f.reason]),
  ];
  const tags = [
    ...new Set(targets.flatMap((p) => (p.slices ?? []).filter((s) => s.key === 'tag').map((s) => s.value ?? ''))),
  ]
    .filter(Boolean)
    .sort();
  const [typed, setTyped] = useState(f.search);
  const [seen, setSeen] = useState(f.search);
  if (f.search !== seen) {
    // The address was changed by the back button or a link.
    setSeen(f.search);
    setTyped(f.search);
  }
  const apply = useDebouncedCallback((search: string) => {
    setSeen(search);
    change({ search }, { replace: true });
  }, 250);
  const any =
    f.verdict.length + f.outcome.length + f.class.length + f.reason.length + f.target.length + f.tag.length > 0 ||
    f.search !== '' ||
    f.disagree ||
    f.called !== '';
  return (
    <Stack gap="sm" component="section" aria-label={t('results.filters')}>
      <Group gap="xs">
        <Chip.Group multiple value={f.verdict} onChange={(verdict) => change({ verdict })}>
          {verdictNames.map((v) => (
            <Chip key={v} value={v} size="xs" variant="outline" disabled={counts[v] === 0 && !f.verdict.includes(v)}>
              {t(`common.${v}`)} {number(counts[v])}
            </Chip>
          ))}
        </Chip.Group>
        {f.called !== '' && (
          <Badge variant="light" className={common.untrusted}>
            {t('results.showingCall', { expected: f.expected, called: f.called })}
          </Badge>
        )}
        {any && (
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              setTyped('');
              change({
                verdict: [],
                outcome: [],
                class: [],
                reason: [],
                target: [],
                tag: [],
                search: '',
                disagree: false,
                expected: '',
                called: '',
              });
            }}
          >
            {t('results.clear')}
          </Button>
        )}
      </Group>
      <Group gap="sm" align="flex-end">
        {has('search') && (
          <TextInput
            label={t('results.searchCase')}
            leftSection={<IconSearch size={15} aria-hidden />}
            value={typed}
            w={{ base: '100%', sm: 190 }}
            size="xs"
            onChange={(e) => {
              setTyped(e.currentTarget.value);
              apply(e.currentTarget.value);
            }}
          />
        )}
        {has('target') && targets.length > 1 && (
          <MultiSelect
            size="xs"
            label={t('results.target')}
            placeholder={f.target.length ? undefined : t('results.any')}
            data={targets.map((p) => p.name)}
            value={f.target}
            onChange={(target) => change({ target })}
            w={{ base: '100%', sm: 200 }}
            clearable
            clearButtonProps={{ 'aria-label': t('results.clear') }}
          />
        )}
        {has('class') && classes.length > 0 && (
          <MultiSelect
            size="xs"
            label={t('results.errorClass')}
            placeholder={f.class.length ? undefined : t('results.any')}
            data={classes.map((value) => ({ value, label: withSpaces(value) }))}
            value={f.class}
            onChange={(list) => change({ class: list })}
            w={{ base: '100%', sm: 180 }}
            clearable
            clearButtonProps={{ 'aria-label': t('results.clear') }}
          />
        )}
        {has('reason') && reasons.length > 0 && (
          <MultiSelect
            size="xs"
            label={t('results.reasonFilter')}
            placeholder={f.reason.length ? undefined : t('results.any')}
            data={reasons.map((value) => ({ value, label: withSpaces(value) }))}
            value={f.reason}
            onChange={(reason) => change({ reason })}
            w={{ base: '100%', sm: 180 }}
            clearable
            clearButtonProps={{ 'aria-label': t('results.clear') }}
          />
        )}
        {has('outcome') && (
          <MultiSelect
            size="xs"
            label={t('results.outcome')}
            placeholder={f.outcome.length ? undefined : t('results.any')}
            data={outcomes.map((value) => ({ value, label: t(`results.${value}` as TextKey) }))}
            value={f.outcome}
            onChange={(outcome) => change({ outcome })}
            w={{ base: '100%', sm: 135 }}
            clearable
            clearButtonProps={{ 'aria-label': t('results.clear') }}
          />
        )}
        {has('tag') && (
          <TagsInput
            size="xs"
            label={t('results.tag')}
            placeholder={f.tag.length ? undefined : t('results.any')}
            data={tags}
            value={f.tag}
            onChange={(tag) => change({ tag })}
            w={{ base: '100%', sm: 135 }}
            clearable
            clearButtonProps={{ 'aria-label': t('results.clear') }}
          />
        )}
        {has('disagree') && targets.length > 1 && (
          <Switch
            size="sm"
            label={t('results.disagree')}
            checked={f.disagree}
            onChange={(e) => change({ disagree: e.currentTarget.checked })}
            mb={4}
          />
        )}
      </Group>
    </Stack>
  );
}
