import { Box, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Empty } from '../../ui/status';
import { number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { ScrollBox } from '../../ui/scroll';
import { type Report, writeFilters } from './parts';
import common from '../../ui/common.module.css';
import { FigureCell, PlainTable } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

// A matrix of more tools than this is unreadable: then the confused pairs are listed.
const mostTools = 24;

/** ConfusionTab is the confusion matrix of a target. Each number leads to its attempts. */
export function ConfusionTab({ run, report: d }: { run: string; report: Report }) {
  const t = useText();
  const targets = (d.panels.targets ?? []).filter((p) => (p.confusion?.length ?? 0) > 0);
  const [name, setName] = useParam('of', targets[0]?.name ?? '');
  const panel = targets.find((p) => p.name === name) ?? targets[0];
  if (!panel) return <Empty title={t('results.noConfusion')} text={t('results.noConfusionText')} />;
  const pairs = panel.confusion ?? [];
  const expected = [...new Set(pairs.map((c) => c.expected))];
  const called = [...new Set([...expected, ...pairs.map((c) => c.called)])];
  const n = new Map(pairs.map((c) => [JSON.stringify([c.expected, c.called]), c.n]));
  const most = Math.max(...pairs.map((c) => c.n));
  const link = (e: string, c: string) =>
    `/runs/${encodeURIComponent(run)}?tab=attempts&${writeFilters({ target: [panel.name], expected: e, called: c })}`;
  const wrong = pairs.filter((c) => c.expected !== c.called).toSorted((a, b) => b.n - a.n);
  return (
    <Stack gap="md">
      {targets.length > 1 && (
        <Box data-scroll className={tables.scrollX}>
          <SegmentedControl
            aria-label={t('results.target')}
            data={targets.map((p) => p.name)}
            value={panel.name}
            onChange={(v) => setName(v)}
            size="xs"
          />
        </Box>
      )}
      {expected.length <= mostTools && (
        <Card>
          <Text size="sm" c="dimmed" mb="sm">
            {t('results.confusionText')}
          </Text>
          <ScrollBox label={t('results.confusion')}>
            <Table w="auto" withColumnBorders verticalSpacing={4} horizontalSpacing={8}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">
                    {t('results.expected')} ↓ {t('results.calledTool')} →
                  </Table.Th>
                  {called.map((c) => (
                    <Table.Th key={c} scope="col" className={`${common.mono} ${common.untrusted}`} ta="center">
                      {c}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {expected.map((e) => (
                  <Table.Tr key={e}>
                    <Table.Th scope="row" className={`${common.mono} ${common.untrusted}`}>
                      {e}
                    </Table.Th>
                    {called.map((c) => {
                      const count = n.get(JSON.stringify([e, c])) ?? 0;
                      const share = Math.round(12 + (count / most) * 22);
                      return (
                        <Table.Td
                          key={c}
                          ta="center"
                          className={common.num}
                          style={
                            count > 0
                              ? {
                                  background: `color-mix(in srgb, var(${e === c ? '--cv-pass' : '--cv-fail'}) ${share}%, var(--cv-card))`,
                                }
                              : undefined
                          }
                        >
                          {count > 0 ? (
                            <Link
                              to={link(e, c)}
                              aria-label={t('results.cell', { expected: e, called: c, n: count })}
                              style={{
                                color: 'var(--mantine-color-text)',
                                fontWeight: e === c ? 400 : 700,
                                display: 'block',
                              }}
                            >
                              {number(count)}
                            </Link>
                          ) : (
                            <Text span c="dimmed" size="sm">
                              ·
                            </Text>
                          )}
                        </Table.Td>
                      );
                    })}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollBox>
        </Card>
      )}
      {wrong.length > 0 && (
        <Card title={t('results.confusedOnly')}>
          <PlainTable maw={720} heads={[t('results.expected'), t('results.calledTool'), { title: 'n', right: true }]}>
            {wrong.slice(0, 50).map((c) => (
              <Table.Tr key={`${c.expected} ${c.called}`}>
                <Table.Td className={`${common.mono} ${common.untrusted}`}>{c.expected}</Table.Td>
                <Table.Td className={`${common.mono} ${common.untrusted}`}>{c.called}</Table.Td>
                <FigureCell>
                  <Link
                    to={link(c.expected, c.called)}
                    aria-label={t('results.cell', { expected: c.expected, called: c.called, n: c.n })}
                  >
                    {number(c.n)}
                  </Link>
                </FigureCell>
              </Table.Tr>
            ))}
          </PlainTable>
        </Card>
      )}
    </Stack>
  );
}
