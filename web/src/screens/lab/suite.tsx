// A suite of questions: choose the file, run it, read the result, see results over time.
import { Alert, Box, Button, Group, Loader, NumberInput, Stack, Text } from '@mantine/core';
import { IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { $api, api, unwrap, problemOf } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Failure, Loading } from '../../ui/status';
import { notify, notifyFailure } from '../../ui/notify';
import { type Bench, FilePick, useAddress } from './parts';
import { SelectionReport } from './report';
import { TrendTab } from './trend';
import common from '../../ui/common.module.css';

const runsPath = '/api/v1/admin/tool-eval/runs';

export function SuiteTab({ bench }: { bench: Bench }) {
  const t = useText();
  const client = useQueryClient();
  const invalidate = useInvalidate();
  const [at, go] = useAddress();
  const [limit, setLimit] = useState<number | string>('');
  const may = usePermission('run');
  const stop = useRef<AbortController | null>(null);
  const run = at.get('run') ?? '';
  const report = $api.useQuery(
    'get',
    `${runsPath}/{id}`,
    { params: { path: { id: run } } },
    { enabled: run !== '', staleTime: Number.POSITIVE_INFINITY },
  );

  const evaluate = useMutation({
    mutationFn: async (lint: boolean) => {
      stop.current = new AbortController();
      const form = new FormData();
      form.append(
        'file',
        new Blob([bench.questions!.text], { type: 'application/octet-stream' }),
        bench.questions!.name,
      );
      return unwrap(
        await api.POST('/api/v1/admin/tool-eval/run', {
          params: {
            query: {
              catalogue_id: bench.catalogue.id,
              preset: bench.preset,
              ...bench.how,
              limit: Number(limit) || undefined,
              no_lint: lint ? undefined : true,
            },
          },
          body: form as never,
          bodySerializer: (b: unknown) => b as FormData,
          signal: stop.current.signal,
        }),
      );
    },
    onSuccess: (made) => {
      client.setQueryData(queryKeys.selectionRun(made.run_id), made);
      go({ run: made.run_id, route: null, tag: null, case: null });
    },
    onSettled: () => invalidate.selectionRuns(),
  });
  const stopped = evaluate.error instanceof DOMException && evaluate.error.name === 'AbortError';
  const clear = async () => {
    try {
      const done = unwrap(await api.POST('/api/v1/admin/tool-eval/invalidate-cache', {}));
      notify(t('lab.cacheCleared', { indexes: done.indexes, models: done.models }));
    } catch (e) {
      notifyFailure(t, e);
    }
  };

  return (
    <Stack gap="lg">
      <Box className={`${common.card} ${common.noPrint}`} p="md">
        <Stack gap="md">
          <FilePick
            label={t('lab.chooseFile')}
            file={bench.questions}
            hint={t('lab.fileHint')}
            onFile={(f) => {
              evaluate.reset();
              bench.setQuestions(f);
            }}
          />
          <Group align="flex-end" gap="sm">
            <NumberInput
              label={t('lab.limitSuite')}
              placeholder={t('lab.limitSuiteHint')}
              value={limit}
              onChange={setLimit}
              min={1}
              max={100}
              w={220}
            />
            <Group gap="sm" ml="auto">
              <Button variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={clear}>
                {t('lab.clearCache')}
              </Button>
              {may && (
                <Button
                  leftSection={<IconPlayerPlay size={16} aria-hidden />}
                  disabled={!bench.questions || evaluate.isPending}
                  onClick={() => evaluate.mutate(true)}
                >
                  {t('lab.run')}
                </Button>
              )}
            </Group>
          </Group>
          {evaluate.isPending && <Running stop={() => stop.current?.abort()} />}
          {stopped && <Text size="sm">{t('lab.stopped')}</Text>}
          {evaluate.error && !stopped && <Failure of={evaluate.error} />}
          {evaluate.error && !stopped && problemOf(evaluate.error).status === 422 && evaluate.variables && (
            <Group gap="sm">
              <Button variant="default" onClick={() => evaluate.mutate(false)}>
                {t('lab.runAnyway')}
              </Button>
              <Text size="sm" c="dimmed">
                {t('lab.runAnywayText')}
              </Text>
            </Group>
          )}
        </Stack>
      </Box>
      {report.error ? (
        <Failure of={report.error} retry={() => report.refetch()} />
      ) : report.data ? (
        <SelectionReport key={report.data.run_id} of={report.data} bench={bench} />
      ) : run !== '' ? (
        <Loading />
      ) : null}
      <TrendTab bench={bench} open={run} hash={report.data?.suite_hash} />
    </Stack>
  );
}

/** Running shows how long an evaluation has been running. */
function Running({ stop }: { stop: () => void }) {
  const t = useText();
  const [s, setS] = useState(0);
  useEffect(() => {
    const began = Date.now();
    const timer = window.setInterval(() => setS(Math.round((Date.now() - began) / 1000)), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <Alert color="accent" variant="light" icon={<Loader size={16} aria-hidden />} role="status" aria-busy="true">
      <Group justify="space-between">
        <Text size="sm" className={common.num}>
          {t('lab.running', { s })}
        </Text>
        <Button size="xs" variant="default" onClick={stop}>
          {t('lab.stop')}
        </Button>
      </Group>
    </Alert>
  );
}
