import { Alert, Group, List, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, ok, problemOf, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { duration, money, number } from '../../ui/format';
import { type Request, requestOf, type Draft } from './draft';

/** Before is what the run will come to, as far as the server can tell, and what it warns of. Nothing is asked for it. */
export function Before({ draft, complete }: { draft: Draft; complete: boolean }) {
  const t = useText();
  const [text] = useDebouncedValue(JSON.stringify(requestOf(draft)), 400);
  const estimate = useQuery({
    queryKey: ['estimate', text],
    queryFn: async ({ signal }) => ok(await api.POST('/api/tool-eval/estimate', { body: JSON.parse(text) as Request, signal })),
    enabled: complete, placeholderData: keepPreviousData, retry: false,
  });
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
      <Text size="sm" c="dimmed" className="untrusted">
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
  const most = e.requests_most;
  const tokens = e.input_tokens.value !== null && e.output_tokens.value !== null ? `${number(e.input_tokens.value)} + ${number(e.output_tokens.value)}` : null;
  return (
    <Stack gap={6} aria-live="polite" style={{ opacity: estimate.isPlaceholderData ? 0.6 : 1 }}>
      <Text size="sm">{t('newrun.casesTimes', { cases: e.cases, models: e.targets?.length ?? 0, repeats: e.repeats })}</Text>
      <Line name={t('newrun.requests')} value={most === null ? `≥ ${number(e.requests_least)}` : most === e.requests_least ? number(most) : `${number(e.requests_least)} – ${number(most)}`} />
      <Line name={t('newrun.tokens')} value={tokens} of={e.input_tokens} />
      <Line name={t('newrun.cost')} value={e.cost_usd.value === null ? null : `≈ ${money(e.cost_usd.value)}`} of={e.cost_usd} />
      <Line name={t('newrun.time')} value={e.seconds.value === null ? null : `≈ ${duration(e.seconds.value * 1000)}`} of={e.seconds} />
      {(e.warnings ?? []).length > 0 && (
        <Alert color="yellow" p="xs" mt={4}>
          <List size="sm" spacing={4}>
            {(e.warnings ?? []).map((w, i) => (
              <List.Item key={i} className="untrusted">
                {w.text}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

/** Line is one figure, with what it is estimated from, or why it is not known. */
function Line({ name, value, of }: { name: string; value: string | null; of?: Schemas['AppEstimate'] }) {
  const t = useText();
  const about = of?.value === null ? of.reason : of?.basis;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" c="dimmed">
          {name}
        </Text>
        <Text size="sm" fw={600} className="num">
          {value ?? t('newrun.unknownCost')}
        </Text>
      </Group>
      {about && (
        <Text size="xs" c="dimmed" className="untrusted">
          {about}
        </Text>
      )}
    </div>
  );
}
