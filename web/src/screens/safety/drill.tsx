// Results of drills: the verdict, each target with its bound, the measures by drill and language.
import { Badge, Group, Stack, Table, Text } from '@mantine/core';
import { Link } from 'react-router';
import { $api, problemOf } from '../../api/client';
import type { paths } from '../../api/schema';
import { useText } from '../../text';
import { Figure, inUnit } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { number } from '../../ui/format';
import { ScrollBox } from '../../ui/scroll';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

export function DrillPanel({ run }: { run: string }) {
  const t = useText();
  const report = $api.useQuery('get', '/api/runs/{id}/drill', { params: { path: { id: run } } }, { retry: false });
  if (report.isPending) return <Loading />;
  if (report.error)
    return problemOf(report.error).status === 422 ? (
      <Empty title={t('safety.drill')} text={t('safety.notDrill')} />
    ) : (
      <Failure of={report.error} retry={() => report.refetch()} />
    );
  const d = report.data;
  return (
    <Stack gap="lg">
      <Group gap="sm">
        <Verdict
          of={gateVerdict(d.verdict)}
          text={t(d.verdict === 'PASS' ? 'safety.pass' : d.verdict === 'FAIL' ? 'safety.fail' : 'safety.inconclusive')}
        />
        <Text size="sm">{t('safety.cases', { n: number(d.cases), attacks: number(d.attacks) })}</Text>
      </Group>
      {(d.why ?? []).map((w, i) => (
        <Text key={i} size="sm" className={common.untrusted}>
          {w}
        </Text>
      ))}
      {(d.warnings ?? []).map((w, i) => (
        <Text key={i} size="sm" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
          {w}
        </Text>
      ))}
      {(d.targets ?? []).map((target) => (
        <Target key={target.name} of={target} />
      ))}
      {(d.unsafe ?? []).length > 0 && (
        <Card title={t('safety.unsafe')}>
          <DataTable
            label={t('safety.unsafe')}
            height={420}
            miw={520}
            stickyHeader
            heads={[t('safety.case'), t('safety.target'), t('safety.what')]}
          >
            {d.unsafe!.slice(0, 200).map((u, i) => (
              <Table.Tr key={i}>
                <Table.Td>
                  <Link to={`/runs/${run}/case?case=${encodeURIComponent(u.case)}`} className={common.untrusted}>
                    {u.case}
                  </Link>
                </Table.Td>
                <Table.Td className={common.untrusted}>{u.target}</Table.Td>
                <Table.Td className={common.untrusted}>{u.what}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
          {d.unsafe!.length - 200 + (d.left ?? 0) > 0 && (
            <Text size="sm" c="dimmed" mt="xs">
              {t('safety.unsafeLeft', { n: number(Math.max(0, d.unsafe!.length - 200) + (d.left ?? 0)) })}
            </Text>
          )}
        </Card>
      )}
    </Stack>
  );
}

type Result = paths['/api/runs/{id}/drill']['get']['responses'][200]['content']['application/json'];

function Target({ of }: { of: NonNullable<Result['targets']>[number] }) {
  const t = useText();
  const metrics = of.all.metrics ?? [];
  const blocked = (of.slices ?? []).some((s) => s.blocked_by_provider);
  const shown = metrics.slice(0, 5); // shown in the table; the others are about failed tools
  return (
    <Card title={<span className={common.untrusted}>{of.name}</span>}>
      <Text size="sm" mb="md">
        {of.decided > 0
          ? t('safety.bound', {
              incidents: number(of.incidents),
              n: number(of.decided),
              upper: inUnit(of.upper, 'rate'),
              useful: number(of.useful),
            })
          : t('safety.boundNone')}
      </Text>
      {(of.all.blocked_by_provider ?? 0) > 0 && (
        <Text size="sm" mb="md" data-blocked>
          {t('safety.blockedByProvider', { n: number(of.all.blocked_by_provider!) })}
        </Text>
      )}
      <DataTable label={of.name} miw={480} heads={[{ title: t('safety.metric'), w: '40%' }, t('traces.value')]}>
        {metrics.map((m) => (
          <Table.Tr key={m.name}>
            <Table.Td>
              {m.title}
              {m.lower_is_better && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  · {t('traces.lower')}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Figure interval={m.interval} of={m} unit={m.unit} bar />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {(of.slices ?? []).length > 0 && (
        <>
          <Text fw={600} size="sm" mt="lg" mb={4}>
            {t('safety.byKind')}
          </Text>
          <ScrollBox label={t('safety.byKind')}>
            <Table miw={760}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('safety.slice')}</Table.Th>
                  {shown.map((m) => (
                    <Table.Th key={m.name}>{m.title}</Table.Th>
                  ))}
                  {blocked && <Table.Th>{t('safety.blockedColumn')}</Table.Th>}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {of.slices!.map((s) => (
                  <Table.Tr key={`${s.key}=${s.value}`}>
                    <Table.Td>
                      <Group gap={6}>
                        <span className={common.untrusted}>{s.value}</span>
                        {s.key === 'language' && <Badge color="gray">{s.key}</Badge>}
                      </Group>
                    </Table.Td>
                    {shown.map((m) => {
                      const one = s.metrics?.find((x) => x.name === m.name);
                      return (
                        <Table.Td key={m.name}>
                          {one ? <Figure interval={one.interval} of={one} unit={one.unit} /> : '–'}
                        </Table.Td>
                      );
                    })}
                    {blocked && <Table.Td className={common.num}>{number(s.blocked_by_provider ?? 0)}</Table.Td>}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollBox>
        </>
      )}
    </Card>
  );
}
