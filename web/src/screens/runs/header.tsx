// The header of a run: the pass rate of each target and its change, the user, the cost and the time of the run.
import { Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { $api, type Schemas } from '../../api/client';
import { useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Figure } from '../../ui/interval';
import { Failure } from '../../ui/status';
import { ChangeFigure } from '../../ui/change';
import { ago, duration, moment, money } from '../../ui/format';
import common from '../../ui/common.module.css';

/** How many targets are in the header; the others are in the comparison. */
const most = 4;

/** ChangeSince shows the change from the baseline, or from the previous run of the same suite and model. */
export function ChangeSince({ run, line }: { run: string; line: Schemas['EvalDetails'] }) {
  const t = useText();
  const change = $api.useQuery(
    'get',
    '/api/runs/{id}/change',
    { params: { path: { id: run } } },
    { enabled: line.finished !== undefined },
  );
  if (change.error) return <Failure of={change.error} retry={() => void change.refetch()} />;
  if (!change.data) return null;
  const all = change.data.items;
  const models = all.some((c) => !c.floor) ? all.filter((c) => !c.floor) : all;
  return (
    <Stack gap={6} data-since>
      {models.slice(0, most).map((c) => {
        const pass = (line.targets ?? []).find((x) => x.name === c.target)?.pass_rate;
        return (
          <Group key={c.target} gap="md" align="flex-start" style={{ rowGap: 2 }}>
            <Text size="sm" fw={600} className={common.untrusted}>
              {c.target}
            </Text>
            <Figure interval={pass?.interval} of={pass} />
            {c.base_eval_id ? (
              <Group gap={8}>
                <ChangeFigure of={c.change} verdict={c.verdict} p={c.p_holm ?? c.p} />
                <Text size="xs" c="dimmed">
                  {t(c.baseline ? 'results.sinceBaseline' : 'results.sinceRun')}{' '}
                  <Link
                    to={`/runs/${encodeURIComponent(c.base_eval_id)}`}
                    className={common.untrusted}
                    title={moment(c.base_timestamp)}
                  >
                    {c.base_name || c.base_eval_id}
                  </Link>{' '}
                  · {ago(c.base_timestamp)} ·{' '}
                  <Link
                    to={`/compare?runs=${encodeURIComponent(`${c.base_eval_id},${run}`)}${c.base_target !== c.target ? `&target=${encodeURIComponent(c.base_target ?? '')}` : ''}`}
                    aria-label={`${t('results.compare')}: ${c.target}`}
                  >
                    {t('results.compare')}
                  </Link>
                </Text>
              </Group>
            ) : (
              <Text size="xs" c="dimmed">
                {t('results.sinceNone')}
              </Text>
            )}
          </Group>
        );
      })}
      {models.length > most && (
        <Text size="xs" c="dimmed">
          {t('results.sinceMore', { n: models.length - most })}
        </Text>
      )}
      {(change.data.warnings ?? []).map((w) => (
        <Text key={w} size="xs" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
          {w}
        </Text>
      ))}
    </Stack>
  );
}

/** RunFacts shows the user, the time and the cost of a run. */
export function RunFacts({ of: r }: { of: Schemas['EvalDetails'] }) {
  const t = useText();
  const me = useCurrentUser();
  const who =
    r.user_id === ''
      ? t('results.commandLine')
      : r.user_id === me.user_id
        ? t('results.you')
        : r.user_name || t('results.gone');
  return (
    <>
      <span className={common.untrusted}>{t('results.by', { who })}</span>
      {r.finished && (
        <span>{t('results.took', { time: duration(Date.parse(r.finished) - Date.parse(r.timestamp)) })}</span>
      )}
      <span>{r.cost_usd === null ? t('results.costUnknown') : money(r.cost_usd)}</span>
      {r.experiment_id && (
        <Badge
          component={Link}
          to={`/experiments/${encodeURIComponent(r.experiment_id)}`}
          color="gray"
          variant="light"
          style={{ cursor: 'pointer' }}
        >
          {t('results.inExperiment')}
        </Badge>
      )}
    </>
  );
}
