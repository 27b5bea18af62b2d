// Selections of production compared with an evaluation, the largest differences first.
import { Box, Button, Group, SegmentedControl, Select, Stack, Table, Text } from '@mantine/core';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { queryKeys } from '../../api/queries';
import { type TextKey, useText } from '../../text';
import { Figure } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { number } from '../../ui/format';
import { Delta } from './changes';
import { type Bench, Fact, FilePick, ServerTexts, Mark, Names, type TextFile, useAddress } from './parts';
import { pValue } from './report';
import classes from './lab.module.css';
import common from '../../ui/common.module.css';
import { DataTable, FigureCell } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

const likenesses = ['disjoint', 'overlap', 'contained', 'reordered', 'same'] as const;
type Likeness = (typeof likenesses)[number];
const tones: Record<Likeness, 'fail' | 'error' | 'none' | 'pass'> = {
  disjoint: 'fail',
  overlap: 'error',
  contained: 'none',
  reordered: 'none',
  same: 'pass',
};
const signs: Record<Likeness, string> = { disjoint: '≠', overlap: '∩', contained: '⊂', reordered: '⇄', same: '=' };

const keptPath = '/api/v1/admin/tool-eval/decisions/{id}';

export function ProductionTab({ bench }: { bench: Bench }) {
  const t = useText();
  const [at, go] = useAddress();
  const [file, setFile] = useState<TextFile | null>(null);
  const run = at.get('run') ?? '';
  const traces = at.get('traces') ?? '';
  const withRun = run !== '' && at.get('with') !== 'catalogue';
  const collections = $api.useQuery(
    'get',
    '/api/traces',
    { params: { query: { limit: 100 } } },
    { enabled: at.get('tab') === 'production' },
  );
  const client = useQueryClient();
  const compared = at.get('compared') ?? '';
  const kept = $api.useQuery(
    'get',
    keptPath,
    { params: { path: { id: compared } } },
    { enabled: compared !== '', staleTime: Number.POSITIVE_INFINITY, retry: false },
  );
  const ask = useMutation({
    mutationFn: async () =>
      unwrap(
        await api.POST('/api/v1/admin/tool-eval/decisions', {
          body: {
            ...(traces ? { traces_id: traces } : { production: file?.text ?? '' }),
            ...(withRun ? { eval_id: run } : { catalogue_id: bench.catalogue.id, preset: bench.preset, ...bench.how }),
          },
        }),
      ),
    onSuccess: (made) => {
      if (!made.id) return; // a read-only server stores nothing
      client.setQueryData(queryKeys.decisions(made.id), made);
      go({ compared: made.id, likeness: null });
    },
  });
  // The comparison of the address, so that a reload and the back button show it again.
  const shown = compared ? kept.data : ask.data;
  const error = ask.error ?? (compared ? kept.error : null);
  return (
    <Stack gap="lg">
      <Box className={`${common.card} ${common.noPrint}`} p="md">
        <Text size="sm" c="dimmed" mb="md">
          {t('lab.productionHint')}
        </Text>
        <Group align="flex-start" gap="lg">
          <Box style={{ flex: '1 1 320px' }}>
            <FilePick
              label={t('lab.productionChoose')}
              file={traces ? null : file}
              hint={t('lab.productionForm')}
              onFile={(f) => {
                setFile(f);
                go({ traces: null });
              }}
            />
          </Box>
          {(collections.data?.items.length ?? 0) > 0 && (
            <Select
              label={t('lab.productionTraces')}
              clearable
              searchable
              w={{ base: '100%', sm: 300 }}
              value={traces || null}
              onChange={(v) => go({ traces: v })}
              clearButtonProps={{ 'aria-label': t('lab.clearFilter') }}
              data={(collections.data?.items ?? []).map((c) => ({ value: c.id, label: c.name }))}
            />
          )}
        </Group>
        <Group mt="md" align="flex-end" justify="space-between">
          <Select
            label={t('lab.productionWith')}
            allowDeselect={false}
            w={{ base: '100%', sm: 340 }}
            value={withRun ? 'run' : 'catalogue'}
            onChange={(v) => go({ with: v === 'catalogue' ? 'catalogue' : null })}
            data={[
              ...(run ? [{ value: 'run', label: t('lab.withRun', { id: run }) }] : []),
              { value: 'catalogue', label: t('lab.withCatalogue') },
            ]}
          />
          <Button loading={ask.isPending} disabled={!file && !traces} onClick={() => ask.mutate()}>
            {t('lab.compare')}
          </Button>
        </Group>
      </Box>
      {error ? (
        <Failure of={error} />
      ) : shown ? (
        <Agreement of={shown} />
      ) : compared ? (
        <Loading />
      ) : (
        <Empty title={t('lab.productionEmpty')} text={t('lab.productionHint')} />
      )}
    </Stack>
  );
}

function Agreement({ of: b }: { of: Schemas['AgreementAnswer'] }) {
  const t = useText();
  const [at, go] = useAddress();
  const chosen = at.get('likeness') ?? '';
  const counts = new Map((b.likenesses ?? []).map((c) => [c.name, c.n]));
  const shown = (b.pairs ?? []).filter((p) => chosen === '' || p.likeness === chosen);
  return (
    <Card title={t('lab.decisions')}>
      <Text size="sm" c="dimmed" mb="md">
        {[
          t('lab.besideLead', { decisions: number(b.decisions), queries: number(b.queries) }),
          b.only_production > 0 ? t('lab.onlyProduction', { n: b.only_production }) : '',
          b.only_evaluation > 0 ? t('lab.onlyEvaluation', { n: b.only_evaluation }) : '',
        ]
          .filter(Boolean)
          .join(' · ')}
      </Text>
      <Group gap={40} mb="md" align="flex-start">
        <Fact name={t('lab.sameTools')}>
          <Figure interval={b.same_tools} bar />
        </Fact>
        <Fact name={t('lab.sameFirst')}>
          <Figure interval={b.same_first_tool} bar />
        </Fact>
        {b.first_tool_right && (
          <>
            <Fact name={`${t('lab.firstRight')}: ${t('lab.productionSide')}`}>
              <Figure interval={b.first_tool_right.baseline} />
            </Fact>
            <Fact name={`${t('lab.firstRight')}: ${t('lab.evaluationSide')}`}>
              <Figure interval={b.first_tool_right.candidate} />
            </Fact>
            <Fact name={t('lab.change')}>
              <Delta of={b.first_tool_right.change} />{' '}
              <Text span size="xs" c="dimmed" className={common.num}>
                p = {pValue(b.first_tool_right.p)}
              </Text>
            </Fact>
          </>
        )}
      </Group>
      <Box data-scroll className={`${tables.scrollX} ${common.noPrint}`} mb="md">
        <SegmentedControl
          aria-label={t('lab.likeness')}
          value={chosen}
          onChange={(v) => go({ likeness: v })}
          size="xs"
          data={[
            { value: '', label: `${t('lab.allLikenesses')} (${number(b.decisions)})` },
            ...likenesses.map((l) => ({ value: l, label: `${t(`lab.${l}`)} (${number(counts.get(l) ?? 0)})` })),
          ]}
        />
      </Box>
      <DataTable
        label={t('lab.decisions')}
        className={classes.plainTable}
        miw={820}
        heads={[
          { title: t('lab.likeness'), w: 150 },
          t('lab.question'),
          { title: t('lab.times'), right: true, w: 70 },
          t('lab.productionSide'),
          t('lab.evaluationSide'),
        ]}
      >
        {shown.map((p, i) => {
          const like = p.likeness as Likeness;
          return (
            <Table.Tr key={i} data-likeness={p.likeness}>
              <Table.Td>
                <Mark tone={tones[like] ?? 'none'}>
                  {signs[like]} {t(`lab.${like}` as TextKey)}
                </Mark>
                {p.route_differs && (
                  <Text size="xs" c="dimmed">
                    {t('lab.routeDiffers')}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Text size="sm" className={common.untrusted}>
                  {p.query}
                </Text>
                {p.case && (
                  <Text size="xs" c="dimmed" className={common.mono}>
                    {p.case}
                  </Text>
                )}
              </Table.Td>
              <FigureCell>{p.times}</FigureCell>
              <Table.Td>
                <Side of={p.production} right={p.production_right} want={p.want} />
              </Table.Td>
              <Table.Td>
                <Side of={p.evaluation} right={p.evaluation_right} want={p.want} />
              </Table.Td>
            </Table.Tr>
          );
        })}
      </DataTable>
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('common.none')}
        </Text>
      )}
      {b.pairs_left_out > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {t('lab.pairsLeftOut', { n: b.pairs_left_out })}
        </Text>
      )}
      <ServerTexts of={b.notes.map((n) => n.text)} />
    </Card>
  );
}

function Side({
  of: s,
  right,
  want,
}: {
  of: Schemas['RoutingSelected'];
  right: boolean | null | undefined;
  want: Schemas['CallvetSelection'] | undefined;
}) {
  const t = useText();
  const good = new Set([...(want?.tools ?? []), ...(want?.acceptable ?? [])]);
  return (
    <Stack gap={3}>
      <Names of={s.tools} good={(n) => good.has(n)} />
      <Group gap={6}>
        {right !== null && right !== undefined && (
          <Text
            span
            size="xs"
            style={{
              color: right ? 'var(--cv-pass)' : 'var(--cv-fail)',
              display: 'inline-flex',
              alignItems: 'center',
              gap: 3,
            }}
          >
            {right ? <IconCircleCheck size={13} aria-hidden /> : <IconCircleX size={13} aria-hidden />}
            {t(right ? 'lab.right' : 'lab.wrong')}
          </Text>
        )}
        {s.route && (
          <Text span size="xs" c="dimmed" className={common.untrusted}>
            {[s.route, s.sub_route].filter(Boolean).join(' / ')}
          </Text>
        )}
      </Group>
    </Stack>
  );
}
