import { Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Link, useNavigate } from 'react-router';
import { type Schemas } from '../../api/client';
import { type Translator, useText } from '../../text';
import { Empty, Failure } from '../../ui/status';
import { Verdict, type VerdictName } from '../../ui/verdict';
import { number } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import { FilterBar } from './attempts';
import { useGrid } from './lists';
import { caseLink, withSpaces, type Report, useFilters } from './parts';
import common from '../../ui/common.module.css';
import classes from './runs.module.css';

type Row = Schemas['AppGridRow'];
type Cell = Schemas['AppGridCell'];

/** Grid shows every case with every target. The server filters it and sends it page by page. */
export function GridTab({ run, report: d }: { run: string; report: Report }) {
  const t = useText();
  const navigate = useNavigate();
  const [f, change] = useFilters();
  const found = useGrid(run, f);
  const first = found.data?.pages[0];
  const rows = useMemo(() => (found.data?.pages ?? []).flatMap((p) => p.items), [found.data]);
  const targets = first?.targets ?? [];
  // An opened cell is a step in the list of attempts that did not pass.
  const list = { ...f, disagree: false, verdict: f.verdict.length ? f.verdict : ['fail', 'error'] };
  const columns: Column<Row>[] = [
    {
      key: 'case',
      title: t('results.case'),
      min: 220,
      wide: true,
      cell: (r) => (
        <Stack gap={0}>
          <Text size="sm" fw={500} className={common.untrusted} lineClamp={1}>
            {r.case}
          </Text>
          <Text size="xs" c="dimmed" className={common.untrusted} lineClamp={1}>
            {r.prompt}
          </Text>
        </Stack>
      ),
    },
    ...targets.map((target, i): Column<Row> => ({
      key: `t${i}`,
      title: <span className={common.untrusted}>{target.name}</span>,
      cell: (r) => {
        const cell = r.cells[i];
        if (!cell || cell.pass + cell.fail + cell.error + cell.not_run === 0) {
          return (
            <Text size="xs" c="dimmed">
              {t('results.noAttempt')}
            </Text>
          );
        }
        return (
          <Link
            className={`${classes.cell} ${classes[stateOf(cell)]}`}
            to={caseLink(run, { case: r.case, target: target.name, repeat: cell.repeat }, list)}
            state={{ back: true }}
            title={labelOf(t, target.name, cell)}
          >
            <Verdict of={stateOf(cell)} compact />
            {cell.pass + cell.fail + cell.error + cell.not_run > 1 && (
              <span className={common.num}>
                {cell.pass}/{cell.pass + cell.fail + cell.error + cell.not_run}
              </span>
            )}
            <Text span size="xs" c="dimmed" truncate>
              {cell.class ? withSpaces(cell.class) : ''}
            </Text>
          </Link>
        );
      },
    })),
  ];
  return (
    <Stack gap="md">
      <FilterBar report={d} filters={f} change={change} only={['search', 'target', 'tag', 'disagree']} />
      <Text size="sm" c="dimmed" aria-live="polite">
        {first
          ? `${t('results.ofCases', { n: number(first.total), total: number(first.all) })} · ${t('results.gridLead')}`
          : t('common.loading')}
      </Text>
      {found.error ? (
        <Failure of={found.error} retry={() => void found.refetch()} />
      ) : (
        <Rows
          label={t('results.grid')}
          columns={columns}
          rows={rows}
          idOf={(r) => r.case}
          rowHeight={52}
          hasMore={found.hasNextPage}
          more={() => void found.fetchNextPage()}
          busy={found.isFetchingNextPage || found.isPending}
          onOpen={(r) => {
            const i = Math.max(
              0,
              r.cells.findIndex((c) => stateOf(c) !== 'pass'),
            );
            navigate(caseLink(run, { case: r.case, target: targets[i]?.name, repeat: r.cells[i]?.repeat }, list), {
              state: { back: true },
            });
          }}
          empty={<Empty title={t('results.noneFit')} text={t('results.noneFitText')} />}
        />
      )}
    </Stack>
  );
}

/** stateOf returns the worst state of a cell: failure before error before pass before not run. */
function stateOf(c: Cell): VerdictName {
  return c.fail > 0 ? 'fail' : c.error > 0 ? 'error' : c.pass > 0 ? 'pass' : 'not_run';
}

function labelOf(t: Translator, target: string, c: Cell): string {
  const n = c.pass + c.fail + c.error + c.not_run;
  return c.error > 0
    ? t('results.cellOfError', { target, pass: c.pass, n, error: c.error })
    : t('results.cellOf', { target, pass: c.pass, n });
}
