// Schedules: runs that start automatically, and their results.
import {
  Badge,
  Box,
  Button,
  Checkbox,
  Divider,
  Drawer,
  Group,
  Menu,
  Modal,
  NumberInput,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, problemOf, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { type Translator, useText } from '../../text';
import { useAction } from '../../ui/action';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { ChangeFigure } from '../../ui/change';
import { CodeEditor } from '../../ui/code';
import { Copyable } from '../../ui/copy';
import { leftOut } from '../../ui/interval';
import { moment, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { notify, notifyFailure, undoable } from '../../ui/notify';
import common from '../../ui/common.module.css';
import { DataTable } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

type Schedule = Schemas['Schedule'];
type Run = Schemas['ScheduleRun'];
type Fields = Schemas['ScheduleFields'];

/** fieldsOf returns the fields of a schedule for PUT. */
function fieldsOf(s: Schedule): Fields {
  const {
    name,
    eval: what,
    cron,
    time_zone,
    on,
    catalogue_id,
    gates,
    baseline_eval_id,
    baseline_last_good,
    webhook_url,
    enabled,
  } = s;
  return {
    name,
    eval: what,
    cron,
    time_zone,
    on,
    catalogue_id,
    gates,
    baseline_eval_id,
    baseline_last_good,
    webhook_url,
    enabled,
  };
}

export function SchedulesSection() {
  const t = useText();
  const me = useCurrentUser();
  const invalidate = useInvalidate();
  const [open, setOpen] = useParam('schedule');
  const [editing, setEditing] = useState<Schedule | 'new' | null>(null);
  const [secret, setSecret] = useState('');
  const [hidden, setHidden] = useState<string[]>([]);
  const list = $api.useInfiniteQuery(
    'get',
    '/api/schedules',
    { params: { query: { limit: 100 } } },
    { pageParamName: 'cursor', initialPageParam: '', getNextPageParam: (p) => p.next_cursor },
  );
  const again = () => invalidate.schedules();
  const attempt = async (does: () => Promise<unknown>) => {
    try {
      await does();
    } catch (e) {
      notifyFailure(t, e);
    }
    await again();
  };
  const path = (s: Schedule) => ({ params: { path: { id: s.id } } });
  const runNow = (s: Schedule) =>
    attempt(async () => {
      unwrap(
        await api.POST('/api/schedules/{id}/run', {
          params: { path: { id: s.id }, header: { 'Idempotency-Key': crypto.randomUUID() } },
        }),
      );
      notify(t('settings.started'));
      setOpen(s.id);
    });
  const enable = (s: Schedule) =>
    attempt(async () =>
      unwrap(await api.PUT('/api/schedules/{id}', { ...path(s), body: { ...fieldsOf(s), enabled: !s.enabled } })),
    );
  const testHook = (s: Schedule) =>
    attempt(async () => {
      const h = unwrap(await api.POST('/api/schedules/{id}/webhook/test', path(s)));
      notify(hookWords(t, h));
    });
  const remove = (s: Schedule) =>
    undoable(t, s.name, async () => unwrap(await api.DELETE('/api/schedules/{id}', path(s))), {
      hide: () => setHidden((h) => [...h, s.id]),
      show: () => setHidden((h) => h.filter((id) => id !== s.id)),
    });

  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const schedules = list.data.pages.flatMap((p) => p.items).filter((s) => !hidden.includes(s.id));
  const opened = schedules.find((s) => s.id === open);
  const add = <Button onClick={() => setEditing('new')}>{t('settings.newSchedule')}</Button>;
  return (
    <>
      {schedules.length === 0 ? (
        <Empty title={t('settings.noSchedules')} text={t('settings.noSchedulesText')}>
          {add}
        </Empty>
      ) : (
        <Card title={t('settings.schedulesTitle')} actions={add}>
          <Text size="sm" c="dimmed" mb="sm">
            {t('settings.schedulesText')}
          </Text>
          <DataTable
            label={t('settings.schedulesTitle')}
            miw={680}
            heads={[
              t('common.name'),
              t('settings.when'),
              t('settings.next'),
              { title: t('common.actions'), right: true },
            ]}
          >
            {schedules.map((s) => (
              <Table.Tr key={s.id}>
                <Table.Td>
                  <Group gap={8}>
                    <button
                      type="button"
                      className={`${tables.head} ${common.untrusted}`}
                      onClick={() => setOpen(s.id)}
                    >
                      {s.name}
                    </button>
                    {!s.enabled && <Badge color="gray">{t('settings.disabled')}</Badge>}
                    {s.user_id !== me.user_id && <Badge color="gray">{t('settings.ofOther')}</Badge>}
                  </Group>
                  <Text size="xs" c="dimmed" className={common.untrusted}>
                    {[
                      ...(s.eval.models ?? []),
                      ...(s.eval.targets ?? []).map((x) => x.name ?? `${x.provider_key}/${x.model_id}`),
                    ].join(', ')}
                  </Text>
                  {s.stopped && (
                    <Text size="xs" style={{ color: 'var(--cv-error)' }} className={common.untrusted}>
                      {t('settings.stopped', { why: s.stopped })}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  {s.cron && (
                    <Text size="sm" span>
                      <span className={common.mono}>{s.cron}</span> {s.time_zone || 'UTC'}
                    </Text>
                  )}
                  {(s.on ?? []).map((o) => (
                    <Text key={o} size="sm">
                      {t(`settings.cause_${o}`)}
                    </Text>
                  ))}
                  {!s.cron && !s.on?.length && t('settings.cause_manual')}
                </Table.Td>
                <Table.Td className={common.num}>{s.next_at ? moment(s.next_at) : '–'}</Table.Td>
                <Table.Td ta="right">
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      onClick={() => runNow(s)}
                      aria-label={`${t('settings.runNow')}: ${s.name}`}
                    >
                      {t('settings.runNow')}
                    </Button>
                    <Menu position="bottom-end">
                      <Menu.Target>
                        <Button
                          size="compact-sm"
                          variant="subtle"
                          aria-label={t('settings.scheduleActions', { name: s.name })}
                        >
                          {t('common.actions')}
                        </Button>
                      </Menu.Target>
                      <Menu.Dropdown>
                        <Menu.Item onClick={() => setOpen(s.id)}>{t('settings.history')}</Menu.Item>
                        <Menu.Item onClick={() => setEditing(s)}>{t('common.edit')}</Menu.Item>
                        <Menu.Item onClick={() => enable(s)}>
                          {t(s.enabled ? 'settings.disable' : 'settings.enable')}
                        </Menu.Item>
                        {s.webhook_url && (
                          <Menu.Item onClick={() => testHook(s)}>{t('settings.testWebhook')}</Menu.Item>
                        )}
                        <Menu.Item color="red" onClick={() => remove(s)}>
                          {t('common.delete')}
                        </Menu.Item>
                      </Menu.Dropdown>
                    </Menu>
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
          {list.hasNextPage && (
            <Button mt="sm" variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
              {t('common.more')}
            </Button>
          )}
        </Card>
      )}
      {editing && (
        <Editor
          of={editing === 'new' ? null : editing}
          close={() => setEditing(null)}
          saved={async (s) => {
            setEditing(null);
            notify(t('settings.scheduleSaved', { name: s.name }));
            if (s.webhook_secret) setSecret(s.webhook_secret);
            await again();
          }}
        />
      )}
      <Modal
        opened={secret !== ''}
        onClose={() => setSecret('')}
        title={t('settings.secretTitle')}
        closeOnClickOutside={false}
      >
        <Stack>
          <Text size="sm">{t('settings.secretText')}</Text>
          <Copyable label={t('settings.webhook')} value={secret} />
          <Button onClick={() => setSecret('')}>{t('settings.done')}</Button>
        </Stack>
      </Modal>
      <Drawer
        opened={opened !== undefined}
        onClose={() => setOpen(null)}
        position="right"
        size="lg"
        title={opened?.name ?? ''}
      >
        {opened && <History of={opened} />}
      </Drawer>
    </>
  );
}

function hookWords(t: Translator, h: Schemas['HookState']): string {
  return [
    t(`settings.hook_${h.state as 'delivered' | 'waiting' | 'failed'}`),
    h.status ? t('settings.hookAnswer', { status: h.status }) : '',
    h.error ?? '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** History lists the runs of a schedule, the newest first. It refetches while one is running. */
function History({ of }: { of: Schedule }) {
  const t = useText();
  const list = $api.useInfiniteQuery(
    'get',
    '/api/schedules/{id}/history',
    { params: { path: { id: of.id }, query: { limit: 20 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p) => p.next_cursor,
      refetchInterval: (q) =>
        q.state.data?.pages.some((p) => p.items.some((r) => r.state === 'running')) ? 1500 : false,
    },
  );
  if (list.isPending) return <Loading />;
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  const runs = list.data.pages.flatMap((p) => p.items);
  if (runs.length === 0) return <Empty title={t('settings.noHistory')} text={t('settings.noHistoryText')} />;
  return (
    <Stack gap="sm">
      {runs.map((r) => (
        <Entry key={r.id} of={r} />
      ))}
      {list.hasNextPage && (
        <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
          {t('common.more')}
        </Button>
      )}
    </Stack>
  );
}

function Entry({ of: r }: { of: Run }) {
  const t = useText();
  return (
    <Box className={common.card} p="sm">
      <Group justify="space-between" gap="xs">
        <Group gap={8}>
          {r.verdict ? (
            <Verdict
              of={gateVerdict(r.verdict)}
              text={r.verdict === 'INCONCLUSIVE' ? t('settings.inconclusive') : undefined}
            />
          ) : (
            <Badge color="gray">{t(`settings.state_${r.state}`)}</Badge>
          )}
          <Text size="sm" className={common.num}>
            {moment(r.created)}
          </Text>
          <Text size="sm" c="dimmed">
            {t(`settings.cause_${r.cause}`)}
          </Text>
        </Group>
        {r.eval_id && (
          <Link to={`/runs/${r.eval_id}`}>
            <Text size="sm" span>
              {t('settings.openRun')}
            </Text>
          </Link>
        )}
      </Group>
      <Text size="sm" className={common.untrusted} mt={4}>
        {r.sentence}
        {!r.sentence &&
          r.totals &&
          `${t('settings.passed', { pass: r.totals.verdicts.pass, n: number(r.totals.total_cases) })}${r.state === 'done' && !r.verdict && !r.error ? ` · ${t('settings.noGates')}` : ''}`}
      </Text>
      {r.totals?.left_out && (
        <Text size="xs" c="dimmed">
          {leftOut(t, r.totals.total_cases, r.totals.left_out)}
        </Text>
      )}
      {r.error && (
        <Text size="sm" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
          {r.error}
        </Text>
      )}
      {r.failed_gates?.map((g, i) => (
        <Text
          key={i}
          size="sm"
          className={common.untrusted}
          style={{ color: g.verdict === 'FAIL' ? 'var(--cv-fail)' : 'var(--cv-error)' }}
        >
          {g.sentence}
        </Text>
      ))}
      {r.changes?.map((c, i) => (
        <Group key={i} gap={6} mt={2}>
          <Text size="sm" className={common.untrusted}>
            {c.target}
          </Text>
          <ChangeFigure of={c.change} />
        </Group>
      ))}
      {r.webhook && (
        <Text size="xs" c="dimmed" className={common.untrusted} mt={4}>
          {t('settings.webhook')}: {hookWords(t, r.webhook)}
        </Text>
      )}
    </Box>
  );
}

const presets = {
  preset_night: '0 3 * * *',
  preset_weekday: '0 6 * * 1-5',
  preset_hour: '0 * * * *',
  preset_week: '0 3 * * 1',
} as const;

/** Editor makes or changes a schedule. Settings without a field in the form stay unchanged. */
function Editor({
  of,
  close,
  saved,
}: {
  of: Schedule | null;
  close: () => void;
  saved: (s: Schedule) => Promise<void>;
}) {
  const t = useText();
  const admin = usePermission('admin');
  const [f, setF] = useState<Fields>(() =>
    of
      ? fieldsOf(of)
      : {
          name: '',
          eval: { suite_id: '', models: [] },
          cron: presets.preset_night,
          time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          on: [],
          gates: '',
          baseline_last_good: true,
          enabled: true,
        },
  );
  const [baseline, setBaseline] = useState(f.baseline_eval_id ? 'run' : f.baseline_last_good ? 'good' : 'none');
  const [newSecret, setNewSecret] = useState(false);
  const { busy, error, act } = useAction();
  const change = (c: Partial<Fields>) => setF((before) => ({ ...before, ...c }));
  const evals = (c: Partial<Fields['eval']>) => setF((before) => ({ ...before, eval: { ...before.eval, ...c } }));
  const suites = $api.useQuery('get', '/api/tool-suites', { params: { query: { limit: 200 } } });
  const targets = $api.useQuery('get', '/api/targets', {}, { staleTime: Number.POSITIVE_INFINITY });
  const catalogues = $api.useQuery('get', '/api/catalogues', { params: { query: { limit: 200 } } }, { enabled: admin });
  const runs = $api.useQuery(
    'get',
    '/api/tool-eval/history',
    { params: { query: { suite_id: f.eval.suite_id, limit: 100 } } },
    { enabled: baseline === 'run' && f.eval.suite_id !== '' },
  );
  const toggle = (o: 'suite_changed' | 'catalogue_changed', on: boolean) =>
    change({ on: [...(f.on ?? []).filter((x) => x !== o), ...(on ? [o] : [])] });
  const send = (e: FormEvent) => {
    e.preventDefault();
    void act(async () => {
      const body: Fields = {
        ...f,
        time_zone: f.cron ? f.time_zone : '',
        catalogue_id: f.on?.includes('catalogue_changed') ? f.catalogue_id : '',
        baseline_eval_id: baseline === 'run' ? f.baseline_eval_id : '',
        baseline_last_good: baseline === 'good',
        ...(newSecret ? { webhook_new_secret: true } : {}),
      };
      await saved(
        of
          ? unwrap(await api.PUT('/api/schedules/{id}', { params: { path: { id: of.id } }, body }))
          : unwrap(await api.POST('/api/schedules', { body })),
      );
    });
  };
  const others = (f.eval.targets ?? []).map((x) => x.name ?? `${x.provider_key}/${x.model_id}`);
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="xl"
      title={of ? t('settings.editSchedule', { name: of.name }) : t('settings.newSchedule')}
      closeOnClickOutside={false}
    >
      <form onSubmit={send}>
        <Stack>
          <TextInput
            label={t('common.name')}
            required
            maxLength={256}
            value={f.name}
            onChange={(e) => change({ name: e.currentTarget.value })}
            data-autofocus
          />
          <Divider label={t('settings.runsWhat')} labelPosition="left" />
          <Select
            label={t('settings.suite')}
            required
            searchable
            allowDeselect={false}
            data={(suites.data?.items ?? []).map((s) => ({ value: s.id, label: s.name }))}
            value={f.eval.suite_id || null}
            onChange={(v) => evals({ suite_id: v ?? '' })}
          />
          <TagsInput
            label={t('settings.models')}
            description={t('settings.modelsHint')}
            required={others.length === 0}
            acceptValueOnBlur
            data={['offline/lexical']}
            value={f.eval.models ?? []}
            onChange={(models) => evals({ models })}
            placeholder={targets.data?.providers[0] ? `${targets.data.providers[0].name}/…` : undefined}
          />
          {others.length > 0 && (
            <Text size="sm" c="dimmed" className={common.untrusted}>
              {t('settings.otherTargets', { names: others.join(', ') })}
            </Text>
          )}
          <SimpleGrid cols={2}>
            <NumberInput
              label={t('settings.repeats')}
              min={1}
              max={100}
              allowDecimal={false}
              value={f.eval.repeats ?? 1}
              onChange={(v) => evals({ repeats: Number(v) || 1 })}
            />
            <NumberInput
              label={t('settings.maxCost')}
              description={t('settings.maxCostHint')}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              min={0}
              decimalScale={2}
              value={f.eval.max_cost_usd ?? ''}
              onChange={(v) => evals({ max_cost_usd: v === '' ? undefined : Number(v) })}
            />
          </SimpleGrid>
          <Divider label={t('settings.when')} labelPosition="left" />
          <Times cron={f.cron ?? ''} zone={f.time_zone ?? ''} change={change} />
          <Checkbox.Group label={t('settings.onEdits')} value={f.on ?? []} onChange={() => {}}>
            <Stack gap="xs" mt={6}>
              <Checkbox
                value="suite_changed"
                label={t('settings.onSuite')}
                onChange={(e) => toggle('suite_changed', e.currentTarget.checked)}
              />
              {(admin || f.on?.includes('catalogue_changed')) && (
                <Checkbox
                  value="catalogue_changed"
                  label={t('settings.onCatalogue')}
                  onChange={(e) => toggle('catalogue_changed', e.currentTarget.checked)}
                />
              )}
            </Stack>
          </Checkbox.Group>
          {f.on?.includes('catalogue_changed') && (
            <Select
              label={t('settings.catalogue')}
              required
              data={(catalogues.data?.items ?? []).map((c) => ({ value: c.id, label: c.name }))}
              value={f.catalogue_id || null}
              onChange={(v) => change({ catalogue_id: v ?? '' })}
            />
          )}
          <Divider label={t('settings.whatCounts')} labelPosition="left" />
          <div>
            <Text size="sm" fw={500}>
              {t('settings.gates')}
            </Text>
            <Text size="xs" c="dimmed" mb={4}>
              {t('settings.gatesHint')}
            </Text>
            <CodeEditor
              label={t('settings.gates')}
              language="yaml"
              height={140}
              value={f.gates ?? ''}
              onChange={(gates) => change({ gates })}
            />
          </div>
          <Checkbox
            label={t('newrun.untilDecided')}
            description={t('newrun.untilDecidedHint')}
            checked={f.eval.until_decided ?? false}
            onChange={(e) =>
              evals(
                e.currentTarget.checked
                  ? { until_decided: true }
                  : { until_decided: undefined, gates: undefined, baseline_eval_id: undefined },
              )
            }
          />
          <Radio.Group label={t('settings.baseline')} value={baseline} onChange={setBaseline}>
            <Stack gap="xs" mt={6}>
              <Radio value="none" label={t('settings.baselineNone')} />
              <Radio value="good" label={t('settings.baselineGood')} />
              <Radio value="run" label={t('settings.baselineRun')} />
            </Stack>
          </Radio.Group>
          {baseline === 'run' && (
            <Select
              label={t('settings.baselineWhich')}
              required
              searchable
              value={f.baseline_eval_id || null}
              onChange={(v) => change({ baseline_eval_id: v ?? '' })}
              data={(runs.data?.items ?? [])
                .filter((r) => r.status === 'done')
                .map((r) => ({ value: r.id, label: `${moment(r.timestamp)} · ${(r.models ?? []).join(', ')}` }))}
            />
          )}
          <Divider label={t('settings.webhook')} labelPosition="left" />
          <TextInput
            label={t('settings.webhookURL')}
            description={t('settings.webhookHint')}
            type="url"
            maxLength={2000}
            value={f.webhook_url ?? ''}
            onChange={(e) => change({ webhook_url: e.currentTarget.value })}
          />
          {of?.webhook_url && f.webhook_url && (
            <Switch
              label={t('settings.newSecret')}
              description={t('settings.newSecretHint')}
              checked={newSecret}
              onChange={(e) => setNewSecret(e.currentTarget.checked)}
            />
          )}
          <Switch
            label={t('settings.enabled')}
            checked={f.enabled ?? true}
            onChange={(e) => change({ enabled: e.currentTarget.checked })}
          />
          <Failure of={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={busy}>
              {t('common.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}

/** Times edits a cron spec and its zone, and shows the next times that the server computed. */
function Times({ cron, zone, change }: { cron: string; zone: string; change: (c: Partial<Fields>) => void }) {
  const t = useText();
  const [asked] = useDebouncedValue(`${cron}|${zone}`, 250);
  const [spec = '', where = ''] = asked.split('|');
  const next = $api.useQuery(
    'get',
    '/api/schedule-times',
    { params: { query: { cron: spec, time_zone: where || undefined } } },
    { enabled: spec !== '', retry: false },
  );
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((z) => z !== 'UTC')];
  const wrong = spec === cron && next.error ? problemOf(next.error) : null;
  const written = (at: string) =>
    new Date(at).toLocaleString('sv-SE', {
      timeZone: where || 'UTC',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label={t('settings.cron')}
          description={t('settings.cronHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          className={common.mono}
          spellCheck={false}
          value={cron}
          onChange={(e) => change({ cron: e.currentTarget.value })}
          error={wrong ? wrong.fields.map((x) => x.text).join(' ') || wrong.message : undefined}
        />
        <Select
          label={t('settings.zone')}
          searchable
          allowDeselect={false}
          data={zone && !zones.includes(zone) ? [zone, ...zones] : zones}
          value={zone || 'UTC'}
          onChange={(v) => change({ time_zone: v ?? 'UTC' })}
          limit={100}
        />
      </SimpleGrid>
      <Group gap={6} role="group" aria-label={t('settings.preset')}>
        {Object.entries(presets).map(([key, value]) => (
          <Button
            key={key}
            size="compact-sm"
            variant={cron === value ? 'light' : 'default'}
            onClick={() => change({ cron: value })}
            aria-pressed={cron === value}
          >
            {t(`settings.${key as keyof typeof presets}`)}
          </Button>
        ))}
      </Group>
      {cron !== '' && !wrong && next.data && (
        <Text size="sm" c="dimmed" aria-live="polite">
          {next.data.times.length > 0
            ? t('settings.nextTimes', { times: next.data.times.slice(0, 3).map(written).join(' · ') })
            : t('settings.atNoTime')}
        </Text>
      )}
    </>
  );
}
