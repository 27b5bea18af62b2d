// Safety: drills of a target and their results, and the incidents and recordings of any run.
import { Box, Button, Group, NumberInput, Progress, Select, SimpleGrid, Tabs, TagsInput, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { moment, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { DrillPanel } from './drill';
import { IncidentTable } from './incidents';
import { RecordingTable } from './recordings';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

/** The name of runs of the shipped drills. */
const shipped = 'shipped drills';
const parts = { drill: DrillPanel, incidents: IncidentTable, recordings: RecordingTable } as const;

export default function SafetyPage() {
  const t = useText();
  const mayRun = usePermission('run');
  const [params, setParams] = useSearchParams();
  const [part, setPart] = useParam('part', 'drill');
  const [starting, setStarting] = useState(false);
  const drills = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { suite: shipped, limit: 50 } } });
  const others = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 100 } } });
  const run = params.get('run') ?? drills.data?.items[0]?.id ?? '';
  const job = params.get('job') ?? '';
  const choose = (id: string | null) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      next.delete('job');
      if (id) next.set('run', id);
      else next.delete('run');
      return next;
    });
  const label = (r: { timestamp: string; suite_name: string; models: string[] | null }) =>
    `${moment(r.timestamp)} · ${r.suite_name} · ${(r.models ?? []).join(', ')}`;
  const groups = [
    {
      group: t('safety.groupDrills'),
      items: (drills.data?.items ?? []).map((r) => ({ value: r.id, label: label(r) })),
    },
    {
      group: t('safety.groupRuns'),
      items: (others.data?.items ?? [])
        .filter((r) => r.suite_name !== shipped)
        .map((r) => ({ value: r.id, label: label(r) })),
    },
  ];
  if (run && drills.data && others.data && !groups.some((g) => g.items.some((i) => i.value === run)))
    groups[1]!.items.push({ value: run, label: run });
  const at = part in parts ? (part as keyof typeof parts) : 'drill';
  const start = mayRun && <Button onClick={() => setStarting(true)}>{t('safety.start')}</Button>;
  return (
    <Page title={t('shell.safety')} lead={t('safety.lead')} actions={start}>
      <Failure of={drills.error ?? others.error} />
      <Group align="flex-end">
        <Select
          label={t('safety.run')}
          placeholder={t('safety.pick')}
          searchable
          data={groups}
          value={run || null}
          onChange={(v) => choose(v)}
          style={{ flex: '1 1 300px' }}
          maw={620}
          allowDeselect={false}
        />
        {run && (
          <Link to={`/runs/${run}`} style={{ paddingBottom: 8 }}>
            {t('safety.openRun')}
          </Link>
        )}
      </Group>
      {job && <Job id={job} />}
      {run === '' ? (
        drills.data && <Empty title={t('safety.none')} text={t('safety.noneText')} />
      ) : (
        <Tabs value={at} onChange={setPart} keepMounted={false}>
          <Tabs.List aria-label={t('safety.parts')}>
            {(Object.keys(parts) as (keyof typeof parts)[]).map((p) => (
              <Tabs.Tab key={p} value={p}>
                {t(`safety.${p}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {Object.entries(parts).map(([p, View]) => (
            <Tabs.Panel key={p} value={p} pt="lg">
              <View key={run} run={run} />
            </Tabs.Panel>
          ))}
        </Tabs>
      )}
      {starting && (
        <Start
          close={() => setStarting(false)}
          started={(made) => {
            setStarting(false);
            setParams({ run: made.result_ref ?? '', job: made.job_id });
          }}
        />
      )}
    </Page>
  );
}

const over = ['done', 'failed', 'cancelled'];

/** Job follows the job of drills until it is over, and then refetches the results. */
function Job({ id }: { id: string }) {
  const t = useText();
  const invalidate = useInvalidate();
  const job = $api.useQuery(
    'get',
    '/api/jobs/{id}',
    { params: { path: { id } } },
    {
      refetchInterval: (q) => {
        const s = q.state.data?.status;
        if (!s || !over.includes(s)) return 1000;
        void invalidate.drill();
        return false;
      },
    },
  );
  const j = job.data;
  if (!j || j.status === 'done') return null;
  return (
    <Box className={common.card} p="md" aria-live="polite">
      <Group justify="space-between" mb={6}>
        <Text size="sm">
          {over.includes(j.status)
            ? t('safety.ended', { status: j.status })
            : j.status === 'running'
              ? t('safety.running', { done: number(j.done), total: number(j.total) })
              : t('safety.waiting')}
        </Text>
        <Link to={`/jobs/${id}`}>{t('safety.openJob')}</Link>
      </Group>
      <Progress value={j.total > 0 ? (100 * j.done) / j.total : 0} aria-label={t('safety.start')} />
    </Box>
  );
}

function Start({ close, started }: { close: () => void; started: (made: Schemas['Submitted']) => void }) {
  const t = useText();
  const [models, setModels] = useState<string[]>([]);
  const [repeats, setRepeats] = useState(1);
  const [cost, setCost] = useState<number | string>('');
  const [key] = useState(() => crypto.randomUUID());
  const send = async () =>
    started(
      unwrap(
        await api.POST('/api/drills', {
          params: { header: { 'Idempotency-Key': key } },
          body: { models, repeats, ...(cost === '' ? {} : { max_cost_usd: Number(cost) }) },
        }),
      ),
    );
  return (
    <FormDialog title={t('safety.startTitle')} close={close} send={send} button={t('safety.start')}>
      <Text size="sm" c="dimmed">
        {t('safety.startText')}
      </Text>
      <TagsInput
        label={t('safety.models')}
        description={t('safety.modelsHint')}
        value={models}
        onChange={setModels}
        acceptValueOnBlur
        data={['offline/lexical']}
        required={models.length === 0}
        data-autofocus
      />
      <SimpleGrid cols={2}>
        <NumberInput
          label={t('safety.repeats')}
          min={1}
          max={100}
          allowDecimal={false}
          value={repeats}
          onChange={(v) => setRepeats(Number(v) || 1)}
        />
        <NumberInput
          label={t('safety.maxCost')}
          description={t('safety.maxCostHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          min={0}
          decimalScale={2}
          value={cost}
          onChange={setCost}
        />
      </SimpleGrid>
    </FormDialog>
  );
}
