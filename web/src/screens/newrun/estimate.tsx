import { Alert, Box, Group, List, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, unwrap, problemOf, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { useText } from '../../text';
import { translate } from '../../text/translate';
import { duration, money, number } from '../../ui/format';
import { type Request, requestOf, type Draft } from './draft';
import common from '../../ui/common.module.css';

/** useEstimate asks the server for an estimate of the run; the server sends no request to models for it. */
export function useEstimate(draft: Draft, complete: boolean) {
  const [text] = useDebouncedValue(JSON.stringify(requestOf(draft)), 400);
  return useQuery({
    queryKey: queryKeys.estimate(text),
    queryFn: async ({ signal }) =>
      unwrap(await api.POST('/api/tool-eval/estimate', { body: JSON.parse(text) as Request, signal })),
    enabled: complete,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** EstimateView is the estimate of a run, and its warnings. No request of the run is sent for it. */
export function EstimateView({
  estimate,
  complete,
  most,
}: {
  estimate: ReturnType<typeof useEstimate>;
  complete: boolean;
  most: boolean; // the run may end earlier
}) {
  const t = useText();
  if (!complete) {
    return (
      <Text size="sm" c="dimmed">
        {t('newrun.chooseFirst')}
      </Text>
    );
  }
  if (estimate.error) {
    const p = problemOf(estimate.error);
    return (
      <Text size="sm" c="dimmed" className={common.untrusted}>
        {t('newrun.noEstimate')} {p.message} {p.fields.map((f) => f.text).join('; ')}
      </Text>
    );
  }
  const e = estimate.data;
  if (!e) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t('newrun.estimating')}
      </Text>
    );
  }
  const warnings = (e.warnings ?? []).filter((w) => w.code !== 'no-key');
  return (
    <Stack gap={6} aria-live="polite" style={{ opacity: estimate.isPlaceholderData ? 0.6 : 1 }}>
      <Text size="sm">
        {t('newrun.casesTimes', {
          cases: e.cases,
          models: e.targets?.length ?? 0,
          repeats: e.most_repeats ? `${e.repeats}–${e.most_repeats}` : e.repeats,
        })}
      </Text>
      {most && <Text size="sm">{t('newrun.theMost')}</Text>}
      <Usage of={e} />
      {e.of_targets && <Usage of={e.of_targets} title={t('newrun.ofModels')} />}
      {e.of_judges && <Usage of={e.of_judges} title={t('newrun.ofJudges')} />}
      {(e.unkeyed ?? []).length > 0 && (
        <Alert color="yellow" p="xs" mt={4}>
          <Text size="sm" fw={600}>
            {t('newrun.keysMissing')}
          </Text>
          <List size="sm" spacing={4}>
            {(e.unkeyed ?? []).map((u) => (
              <List.Item key={`${u.target} ${u.variable} ${u.judge}`} className={common.untrusted}>
                {t(u.judge ? 'newrun.judgeUnkeyed' : 'newrun.unkeyed', { what: u.target, variable: u.variable })}
              </List.Item>
            ))}
          </List>
          <Link to="/settings/keys">{t('newrun.toKeys')}</Link>
        </Alert>
      )}
      {warnings.length > 0 && (
        <Box component="details" data-warnings={warnings.length}>
          <Text component="summary" size="sm" fw={600} style={{ cursor: 'pointer', color: 'var(--cv-error)' }}>
            {t(warnings.length === 1 ? 'newrun.warning' : 'newrun.warnings', { n: warnings.length })}
          </Text>
          <List size="sm" spacing={4} mt={4}>
            {warnings.map((w, i) => (
              <List.Item key={i} className={common.untrusted}>
                {translate(w.text)}
              </List.Item>
            ))}
          </List>
        </Box>
      )}
    </Stack>
  );
}

/** Usage shows requests, tokens and cost of a run or a part of it. */
function Usage({
  of: u,
  title,
}: {
  of: Pick<
    Schemas['AppDryRun'],
    'requests_least' | 'requests_most' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'seconds'
  >;
  title?: string;
}) {
  const t = useText();
  const most = u.requests_most;
  const tokens =
    u.input_tokens.value !== null && u.output_tokens.value !== null
      ? `${number(u.input_tokens.value)} + ${number(u.output_tokens.value)}`
      : null;
  return (
    <Stack
      gap={6}
      role={title ? 'group' : undefined}
      aria-label={title}
      pl={title ? 'sm' : 0}
      style={title ? { borderLeft: '2px solid var(--mantine-color-default-border)' } : undefined}
    >
      {title && (
        <Text size="sm" fw={600}>
          {title}
        </Text>
      )}
      <Line
        name={t('newrun.requests')}
        value={
          most === null
            ? `≥ ${number(u.requests_least)}`
            : most === u.requests_least
              ? number(most)
              : `${number(u.requests_least)} – ${number(most)}`
        }
      />
      <Line name={t('newrun.tokens')} value={tokens} of={u.input_tokens} />
      <Line
        name={t('newrun.cost')}
        value={u.cost_usd.value === null ? null : `≈ ${money(u.cost_usd.value)}`}
        of={u.cost_usd}
      />
      <Line
        name={t('newrun.time')}
        value={u.seconds.value === null ? null : `≈ ${duration(u.seconds.value * 1000)}`}
        of={u.seconds}
      />
    </Stack>
  );
}

/** Line is one figure, with the source of the estimate, or the reason why it is not known. */
function Line({ name, value, of }: { name: string; value: string | null; of?: Schemas['AppEstimate'] }) {
  const t = useText();
  const about = of?.value === null ? of.reason : of?.basis;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" c="dimmed">
          {name}
        </Text>
        <Text size="sm" fw={600} className={common.num}>
          {value ?? t('newrun.unknownCost')}
        </Text>
      </Group>
      {about && (
        <Text size="xs" c="dimmed" className={common.untrusted}>
          {about}
        </Text>
      )}
    </div>
  );
}
