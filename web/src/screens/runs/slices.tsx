import { Badge, Group, Select, Stack, Table, Text } from '@mantine/core';
import { useText } from '../../text';
import { inUnit } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Empty } from '../../ui/status';
import { number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { MetricCell } from './overview';
import type { Report } from './parts';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

/** SlicesTab shows a measure for each value of a slice, one column per target. */
export function SlicesTab({ report: d }: { report: Report }) {
  const t = useText();
  const targets = d.panels.targets ?? [];
  const keys = [...new Set(targets.flatMap((p) => (p.slices ?? []).map((s) => s.key ?? '')))].filter(Boolean);
  const [by, setBy] = useParam('by', keys[0] ?? '');
  const [measure, setMeasure] = useParam('measure', 'pass_rate');
  if (keys.length === 0) return <Empty title={t('results.noSlices')} text={t('results.noSlicesText')} />;
  const slices = targets.map((p) => (p.slices ?? []).filter((s) => s.key === by));
  const values = [...new Set(slices.flat().map((s) => s.value ?? ''))];
  const names = [
    ...new Map(
      slices
        .flat()
        .flatMap((s) => s.metrics ?? [])
        .filter((m) => m.interval.point !== null)
        .map((m) => [m.name, m.title]),
    ).entries(),
  ];
  return (
    <Stack gap="md">
      <Group align="flex-end">
        <Select
          label={t('results.sliceBy')}
          data={keys}
          value={by}
          onChange={(v) => setBy(v)}
          allowDeselect={false}
          w={180}
        />
        <Select
          label={t('results.sliceMeasure')}
          data={names.map(([value, label]) => ({ value, label }))}
          value={measure}
          onChange={(v) => setMeasure(v)}
          allowDeselect={false}
          searchable
          w={260}
        />
      </Group>
      <Card>
        <DataTable
          label={t('results.slices')}
          verticalSpacing="xs"
          heads={[{ title: by }, ...targets.map((p) => ({ key: p.name, title: p.name, className: common.untrusted }))]}
        >
          {values.map((v) => (
            <Table.Tr key={v}>
              <Table.Th scope="row" className={common.untrusted}>
                {v}
              </Table.Th>
              {targets.map((p, i) => {
                const s = slices[i]?.find((x) => x.value === v);
                const m = s?.metrics?.find((x) => x.name === measure);
                return (
                  <Table.Td key={p.name}>
                    {m ? (
                      <Stack gap={0}>
                        <MetricCell of={m} />
                        <Text size="xs" c="dimmed" className={common.num}>
                          {t('results.cases', { n: s?.cases ?? 0 })}
                        </Text>
                        {m.versus && (
                          <Group gap={6}>
                            <Text size="xs" c="dimmed" className={common.num}>
                              {t('results.restIs', { rest: inUnit(m.versus.rest, m.unit) })},{' '}
                              {t('results.p', { p: number(m.versus.p_adjusted, 3) })}
                            </Text>
                            {(m.versus.worst || m.versus.best) && (
                              <Badge
                                size="xs"
                                color={m.versus.worst ? 'red' : 'green'}
                                title={
                                  m.versus.shrunken
                                    ? t('results.shrunken', { value: inUnit(m.versus.shrunken.point!, m.unit) })
                                    : undefined
                                }
                              >
                                {t(m.versus.worst ? 'results.worst' : 'results.best')}
                              </Badge>
                            )}
                          </Group>
                        )}
                      </Stack>
                    ) : (
                      <Text size="sm" c="dimmed">
                        –
                      </Text>
                    )}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </DataTable>
      </Card>
    </Stack>
  );
}
