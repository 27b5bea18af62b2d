import { Text } from '@mantine/core';
import { Link } from 'react-router';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Verdict } from '../../ui/verdict';
import { duration } from '../../ui/format';
import { type Column, Rows } from '../../ui/table';
import { type Call, mostResults, type Result } from './history';
import common from '../../ui/common.module.css';

/** written writes a call in one line: get_weather({"city":"Oslo"}). */
function written(calls: Call[]): string {
  return calls
    .map(
      (c) =>
        `${c.tools.join(' | ')}(${c.cut ? '…' : (c.arguments_raw ?? (c.arguments === undefined ? '' : JSON.stringify(c.arguments)))})`,
    )
    .join(', ');
}

/** JobResults lists the latest results, the newest first. */
export function JobResults({ list, over, run }: { list: Result[]; over: boolean; run?: string }) {
  const t = useText();
  const where = (r: Result) =>
    `/runs/${run}/case?${new URLSearchParams({ case: r.test_case, target: r.model, repeat: String(r.repeat) })}`;
  const columns: Column<Result>[] = [
    { key: 'verdict', title: t('jobs.verdict'), width: 96, cell: (r) => <Verdict of={r.verdict} /> },
    {
      key: 'case',
      title: t('jobs.case'),
      width: 200,
      cell: (r) => (
        <>
          {run ? (
            <Link to={where(r)} className={common.untrusted}>
              {r.test_case}
            </Link>
          ) : (
            <span className={common.untrusted}>{r.test_case}</span>
          )}
          {r.repeat > 0 && (
            <Text span size="xs" c="dimmed">
              {' '}
              {t('jobs.repeat', { n: r.repeat + 1 })}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'model',
      title: t('jobs.model'),
      width: 160,
      cell: (r) => (
        <Text size="sm" className={common.untrusted}>
          {r.model}
        </Text>
      ),
    },
    {
      key: 'called',
      title: t('jobs.called'),
      min: 240,
      cell: (r) => (
        <>
          <Text size="sm" className={`${common.mono} ${common.untrusted}`} lineClamp={2}>
            {r.actual.length > 0 ? written(r.actual) : t('jobs.nothingCalled')}
          </Text>
          {r.verdict !== 'pass' && (
            <Text size="xs" c="dimmed" className={common.untrusted} lineClamp={2}>
              {[r.class, r.error ?? r.reason].filter(Boolean).join(': ')}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'latency',
      title: t('jobs.latency'),
      width: 80,
      align: 'right',
      cell: (r) => (
        <Text size="sm" className={common.num}>
          {duration(r.latency_ms)}
        </Text>
      ),
    },
  ];
  return (
    <Card title={`${t('jobs.results')}, ${t('jobs.newest')}`}>
      <Rows
        label={t('jobs.results')}
        columns={columns}
        rows={list}
        idOf={(r) => String(r.seq)}
        height="50vh"
        rowHeight={48}
        empty={
          <Text size="sm" c="dimmed">
            {t(over ? 'jobs.kept' : 'jobs.noResults')}
          </Text>
        }
      />
      {list.length >= mostResults && (
        <Text size="xs" c="dimmed" mt="xs">
          {t('jobs.newestOnly', { n: mostResults })}
        </Text>
      )}
    </Card>
  );
}
