// A file of gates: its text next to the linter, a check of runs, and its verdicts so far.
import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Checkbox,
  Group,
  List,
  Menu,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle, IconCircleCheck, IconDots } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap, problemOf, type Schemas } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Card, Page } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { CodeEditor } from '../../ui/code';
import type { Mark } from '../../ui/editor';
import { moment } from '../../ui/format';
import { useParam } from '../../ui/params';
import { RunPick } from '../../ui/pick';
import { ScrollBox } from '../../ui/scroll';
import { notify, undoable } from '../../ui/notify';
import { GateReport } from './report';
import { useUnsaved } from '../../ui/unsaved';
import { PlainTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

type Kept = { gates: Schemas['GateText']; etag: string };
const keywords = [
  'gate',
  'metric',
  'at_least',
  'at_most',
  'zero',
  'baseline',
  'margin',
  'min_effect',
  'slice',
  'target',
  'severity',
  'hard',
  'soft',
  'min_n',
  'min_coverage',
  'max_rate',
  'lost',
  'ignore',
  'newly_failing',
  'attempts',
  'name',
  'policy',
  'strict',
  'lenient',
  'correction',
  'gates',
];

export function GatePage({ id }: { id: string }) {
  const kept = useQuery({
    queryKey: queryKeys.gate(id),
    enabled: id !== 'new',
    refetchOnWindowFocus: false,
    queryFn: async (): Promise<Kept> => {
      const answer = await api.GET('/api/gates/{id}', { params: { path: { id } } });
      return { gates: unwrap(answer), etag: answer.response.headers.get('ETag') ?? '' };
    },
  });
  if (kept.error) return <Failure of={kept.error} retry={() => kept.refetch()} />;
  if (id !== 'new' && !kept.data) return <Loading />;
  return <Editor key={id} of={kept.data ?? null} reload={async () => (await kept.refetch()).data ?? null} />;
}

function Editor({ of, reload }: { of: Kept | null; reload: () => Promise<Kept | null> }) {
  const t = useText();
  const me = useCurrentUser();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const invalidate = useInvalidate();
  const mayWrite = usePermission('write') && (!of || of.gates.owner === me.user_id || me.role === 'admin');
  const [name, setName] = useState(of?.gates.name ?? '');
  const [text, setText] = useState(of?.gates.text ?? '');
  const [shared, setShared] = useState(of?.gates.shared ?? false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [conflict, setConflict] = useState(false);
  const templates = $api.useQuery('get', '/api/gates/templates', {}, { staleTime: Number.POSITIVE_INFINITY });
  const metrics = $api.useQuery('get', '/api/gates/metrics', {}, { staleTime: Number.POSITIVE_INFINITY });
  const words = useMemo(
    () => [
      ...(metrics.data?.items ?? []).map((m) => ({ label: m.name, detail: t('gates.metricsLabel') })),
      ...keywords.map((k) => ({ label: k, detail: t('gates.keyword') })),
    ],
    [metrics.data, t],
  );
  const [asked] = useDebouncedValue(text, 300);
  const lint = useQuery({
    queryKey: queryKeys.gateLint(asked),
    enabled: asked.trim() !== '',
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    queryFn: async () => unwrap(await api.POST('/api/gates/lint', { body: { text: asked } })),
  });
  const problems = asked.trim() === '' ? [] : (lint.data?.problems ?? []);
  const marks: Mark[] = problems.map((p) => ({
    line: p.line ?? 0,
    column: p.column ?? 0,
    severity: p.warning ? 'warning' : 'error',
    text: p.fix ? `${p.message} ${p.fix}` : p.message,
  }));
  const dirty =
    name !== (of?.gates.name ?? '') || text !== (of?.gates.text ?? '') || shared !== (of?.gates.shared ?? false);
  const pass = useUnsaved(dirty);

  const listed = () => invalidate.gates();
  const save = async (over = false) => {
    setBusy(true);
    setError(null);
    setConflict(false);
    const body = { name, text, shared };
    try {
      if (of) {
        const answer = await api.PUT('/api/gates/{id}', {
          params: { path: { id: of.gates.id }, ...(over ? {} : { header: { 'If-Match': of.etag } as never }) },
          body,
        });
        cache.setQueryData(queryKeys.gate(of.gates.id), {
          gates: unwrap(answer),
          etag: answer.response.headers.get('ETag') ?? '',
        });
      } else {
        const made = unwrap(await api.POST('/api/gates', { body }));
        pass(() => navigate(`/gates/${made.id}`, { replace: true }));
      }
      notify(t('gates.saved'));
      void listed();
    } catch (x) {
      if (problemOf(x).status === 412) setConflict(true);
      else setError(x);
    } finally {
      setBusy(false);
    }
  };
  const takeTheirs = async () => {
    const theirs = await reload();
    if (!theirs) return;
    setName(theirs.gates.name);
    setText(theirs.gates.text);
    setShared(theirs.gates.shared);
    setConflict(false);
  };
  const remove = () =>
    of &&
    undoable(
      t,
      of.gates.name,
      async () => (unwrap(await api.DELETE('/api/gates/{id}', { params: { path: { id: of.gates.id } } })), listed()),
      {
        hide: () => pass(() => navigate('/gates', { state: { deleted: of.gates.id } })),
        show: () => navigate(`/gates/${of.gates.id}`),
      },
    );

  return (
    <Page
      title={of ? of.gates.name : t('gates.create')}
      lead={<Link to="/gates">{t('shell.gates')}</Link>}
      actions={
        mayWrite && (
          <>
            {dirty && of && (
              <Badge color="gray" style={{ color: 'var(--cv-none)' }}>
                {t('gates.unsaved')}
              </Badge>
            )}
            <Button loading={busy} disabled={!dirty || name.trim() === '' || text.trim() === ''} onClick={() => save()}>
              {t('gates.save')}
            </Button>
            {of && (
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon variant="default" size={36} aria-label={t('common.actions')}>
                    <IconDots size={18} aria-hidden />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item color="red" onClick={remove}>
                    {t('common.delete')}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            )}
          </>
        )
      }
    >
      <Failure of={error} />
      {conflict && (
        <Alert color="yellow" icon={<IconAlertTriangle />} title={t('gates.changed')} role="alert">
          <Group>
            <Button size="xs" variant="default" onClick={takeTheirs}>
              {t('gates.theirs')}
            </Button>
            <Button size="xs" variant="default" onClick={() => save(true)}>
              {t('gates.mine')}
            </Button>
          </Group>
        </Alert>
      )}
      <Stack gap="sm">
        {mayWrite && (
          <Group align="flex-end">
            <TextInput
              label={t('common.name')}
              placeholder={t('gates.nameHint')}
              required
              value={name}
              maxLength={256}
              onChange={(e) => setName(e.currentTarget.value)}
              style={{ flex: '1 1 220px' }}
            />
            {text.trim() === '' && (
              <Select
                label={t('gates.template')}
                placeholder={t('gates.blank')}
                data={(templates.data?.items ?? []).map((x) => x.name)}
                value={null}
                onChange={(v) => setText((templates.data?.items ?? []).find((x) => x.name === v)?.text ?? '')}
              />
            )}
            <Checkbox
              label={t('gates.shared')}
              checked={shared}
              onChange={(e) => setShared(e.currentTarget.checked)}
              mb={8}
            />
          </Group>
        )}
        <CodeEditor
          label={t('gates.editor')}
          language="yaml"
          value={text}
          onChange={setText}
          marks={marks}
          words={words}
          readOnly={!mayWrite}
          height={300}
        />
        <Box role="status" mih={22}>
          {text.trim() !== '' && lint.error && <Failure of={lint.error} />}
          {text.trim() !== '' && lint.data && problems.length === 0 && (
            <Group gap={6}>
              <IconCircleCheck size={16} color="var(--cv-pass)" aria-hidden />
              <Text size="sm">{t('gates.good', { n: lint.data.gates })}</Text>
            </Group>
          )}
          {problems.length > 0 && (
            <>
              <Text size="sm" fw={600} style={{ color: 'var(--cv-fail)' }}>
                {t('gates.bad', { n: problems.length })}
              </Text>
              <List size="sm">
                {problems.map((p, i) => (
                  <List.Item key={i}>
                    {p.line ? `${t('gates.line', { line: p.line })}: ` : ''}
                    <span className={common.untrusted}>
                      {p.message} {p.fix}
                    </span>
                  </List.Item>
                ))}
              </List>
            </>
          )}
        </Box>
      </Stack>
      <Hold of={of} text={text} dirty={!of || text !== of.gates.text} />
      {of && <History of={of.gates.id} />}
    </Page>
  );
}

/** Hold checks a run with the saved gates or with the present text. */
function Hold({ of, text, dirty }: { of: Kept | null; text: string; dirty: boolean }) {
  const t = useText();
  const invalidate = useInvalidate();
  const [run, setRun] = useParam('run');
  const [baseline, setBaseline] = useParam('baseline');
  const [policy, setPolicy] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [checked, setChecked] = useState<{ run: string; verdict: Schemas['GateVerdict'] } | null>(null);
  const check = async () => {
    setBusy(true);
    setError(null);
    try {
      const gates = of && !dirty ? { gate_id: of.gates.id } : { gates: text };
      const verdict = unwrap(
        await api.POST('/api/runs/{id}/gate', {
          params: { path: { id: run } },
          body: {
            ...gates,
            ...(baseline ? { baseline_eval_id: baseline } : {}),
            ...(policy ? { policy: policy as 'strict' } : {}),
          },
        }),
      );
      setChecked({ run, verdict });
      void invalidate.gateHistory();
    } catch (x) {
      setError(x);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={t('gates.hold')}>
      <Group align="flex-end" gap="sm">
        <RunPick label={t('gates.run')} value={run} onChange={setRun} style={{ flex: '2 1 260px' }} />
        <RunPick
          label={t('gates.baseline')}
          value={baseline}
          onChange={setBaseline}
          except={run}
          clearable
          style={{ flex: '2 1 260px' }}
        />
        <Select
          label={t('gates.policy')}
          allowDeselect={false}
          value={policy}
          onChange={(v) => setPolicy(v ?? '')}
          style={{ flex: '1 1 150px' }}
          data={[
            { value: '', label: t('gates.policyFile') },
            { value: 'strict', label: t('gates.strict') },
            { value: 'lenient', label: t('gates.lenient') },
          ]}
        />
        <Button variant="default" loading={busy} disabled={!run || text.trim() === ''} onClick={check}>
          {t('gates.check')}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={6}>
        {dirty ? t('gates.unsavedHold') : t('gates.baselineHint')}
      </Text>
      <Box mt="md">
        <Failure of={error} />
        {checked && <GateReport of={checked.verdict} run={checked.run} />}
      </Box>
    </Card>
  );
}

function History({ of: id }: { of: string }) {
  const t = useText();
  const list = $api.useInfiniteQuery(
    'get',
    '/api/gates/{id}/history',
    { params: { path: { id }, query: { limit: 50 } } },
    {
      pageParamName: 'cursor',
      initialPageParam: '',
      getNextPageParam: (p: Schemas['PagePastVerdict']) => p.next_cursor,
    },
  );
  if (list.error) return <Failure of={list.error} retry={() => list.refetch()} />;
  if (!list.data) return <Loading />;
  const rows = list.data.pages.flatMap((p) => p.items ?? []);
  return (
    <Card title={t('gates.history')}>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('gates.historyEmpty')}
        </Text>
      ) : (
        <ScrollBox label={t('gates.history')}>
          <PlainTable
            heads={[t('gates.when'), t('gates.verdict'), t('gates.run'), t('gates.baseline'), t('gates.notPassed')]}
          >
            {rows.map((v) => (
              <Table.Tr key={v.id} style={{ verticalAlign: 'top' }} data-history={v.verdict}>
                <Table.Td className={common.num}>{moment(v.at)}</Table.Td>
                <Table.Td>
                  <Verdict of={gateVerdict(v.verdict)} text={t(`gates.${v.verdict}`)} />
                  {v.gates_changed && (
                    <Text size="xs" c="dimmed">
                      {t('gates.oldText')}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <Link className={common.mono} to={`/runs/${v.run_id}`}>
                    {v.run_id}
                  </Link>
                </Table.Td>
                <Table.Td>
                  {v.baseline_eval_id && (
                    <Link className={common.mono} to={`/runs/${v.baseline_eval_id}`}>
                      {v.baseline_eval_id}
                    </Link>
                  )}
                </Table.Td>
                <Table.Td miw={340}>
                  {v.failed_gates.map((f, i) => (
                    <Text key={i} size="sm" className={common.untrusted}>
                      {f.sentence}
                    </Text>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </PlainTable>
          {list.hasNextPage && (
            <Button variant="subtle" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
              {t('common.more')}
            </Button>
          )}
        </ScrollBox>
      )}
    </Card>
  );
}
