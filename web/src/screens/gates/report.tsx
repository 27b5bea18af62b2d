// The verdicts of gates on a run, each with its bound, its interval and the cases needed for a decision.
import { Badge, Box, Button, Group, List, Stack, Table, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCopy } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { Schemas } from '../../api/client';
import { useText } from '../../text';
import { decidedAfter, EvidenceChart, type EvidencePoint } from '../../ui/evidence';
import { Figure, inUnit } from '../../ui/interval';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { ChangeFigure } from '../../ui/change';
import { number } from '../../ui/format';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

/** bound writes the requirement of a gate. */
function useBound() {
  const t = useText();
  return (g: Schemas['GatesGate'], unit: string) => {
    if (g.kind === 'regression')
      return t('gates.noWorse', {
        margin: `${number((g.margin ?? 0) * 100, 1)} ${unit === 'rate' || unit === '' ? 'pp' : '%'}`,
      });
    if (g.kind === 'zero') return t('gates.zero');
    const bound = inUnit(g.bound, unit);
    return g.direction === '<=' ? t('gates.atMost', { bound }) : t('gates.atLeast', { bound });
  };
}

export function GateReport({ of: v, run }: { of: Schemas['GateVerdict']; run: string }) {
  const t = useText();
  const bound = useBound();
  const report = v.report;
  const verdictText = (x: string) => t(`gates.${x as 'PASS' | 'FAIL' | 'INCONCLUSIVE'}`);
  return (
    <Stack>
      <Box role="status" data-verdict={report.verdict}>
        <Group gap="sm">
          <Verdict of={gateVerdict(report.verdict)} text={verdictText(report.verdict)} />
          <Text size="sm" fw={600}>
            {report.blocks ? t('gates.blocks') : t('gates.goesOn')}
          </Text>
        </Group>
        <Text size="sm" mt={4} className={common.untrusted}>
          {report.sentence}
        </Text>
        {v.incomplete && (
          <Text size="sm" style={{ color: 'var(--cv-error)' }}>
            {t('gates.incomplete')}
          </Text>
        )}
        {report.warnings?.map((w) => (
          <Text key={w} size="sm" style={{ color: 'var(--cv-error)' }}>
            {w}
          </Text>
        ))}
        {report.notes?.map((n) => (
          <Text key={n} size="xs" c="dimmed" data-note>
            {n}
          </Text>
        ))}
      </Box>
      <DataTable
        label={t('gates.verdict')}
        heads={[t('gates.verdict'), t('gates.gate'), t('gates.estimate'), t('gates.why')]}
      >
        {(report.verdicts ?? []).map((g, i) => (
          <Table.Tr key={i} style={{ verticalAlign: 'top' }} data-gate={g.gate.metric} data-verdict={g.verdict}>
            <Table.Td>
              <Verdict of={gateVerdict(g.verdict)} text={verdictText(g.verdict)} />
            </Table.Td>
            <Table.Td miw={170}>
              <Text size="sm" fw={600} className={common.untrusted}>
                {g.gate.name || g.gate.metric}{' '}
                {g.gate.severity === 'soft' && (
                  <Badge color="gray" style={{ color: 'var(--cv-none)' }}>
                    {t('gates.soft')}
                  </Badge>
                )}
              </Text>
              <Text size="sm">{bound(g.gate, g.unit ?? g.gate.unit ?? '')}</Text>
              <Text size="xs" c="dimmed" className={common.untrusted}>
                {[g.target, g.key && `${g.key}=${g.value}`].filter(Boolean).join(' · ')}
              </Text>
            </Table.Td>
            <Table.Td>
              {g.gate.kind === 'regression' ? (
                <ChangeFigure of={g.interval} />
              ) : (
                <Figure interval={g.interval} of={{ labelled: g.labelled }} unit={g.unit ?? ''} bar />
              )}
              {g.looked?.curve && (
                <Text size="xs" c="dimmed">
                  {t('gates.descriptive')}
                </Text>
              )}
            </Table.Td>
            <Table.Td miw={260}>
              <Text size="sm" className={common.untrusted}>
                {g.sentence}
              </Text>
              {g.cure && (
                <Text size="sm" fw={600}>
                  {g.cure}
                </Text>
              )}
              {g.looked && <Looked of={g.looked} verdict={g.verdict} name={g.gate.name || g.gate.metric} />}
              {(g.open ?? []).length > 0 && (
                <details>
                  <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
                    {t('gates.open')}
                  </Text>
                  <List size="sm">
                    {(g.open ?? []).map((p, k) => (
                      <List.Item key={k}>
                        <Link
                          className={common.untrusted}
                          to={`/runs/${run}/case?case=${encodeURIComponent(p.task ?? '')}&target=${encodeURIComponent(g.target ?? '')}`}
                        >
                          {p.task}
                        </Link>{' '}
                        {p.why}
                      </List.Item>
                    ))}
                  </List>
                </details>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <BadgeOf run={run} />
    </Stack>
  );
}

/** Looked shows the evidence of a gate that may be checked repeatedly during a run. */
function Looked({ of: l, verdict, name }: { of: Schemas['GatesLooked']; verdict: string; name: string }) {
  const t = useText();
  return (
    <Box mt={4} data-looked={l.number}>
      <Text size="xs" c="dimmed">
        {l.curve && <>{decidedAfter(t, verdict, l.after || l.tasks, l.planned)} · </>}
        {t(l.declared ? 'gates.lookDeclared' : 'gates.look', { n: l.number })}
      </Text>
      {l.curve && <EvidenceChart curve={l.curve as EvidencePoint[]} needed={l.log_evidence_needed} name={name} />}
    </Box>
  );
}

/** BadgeOf shows the badge of a run, with the Markdown to embed it. */
function BadgeOf({ run }: { run: string }) {
  const t = useText();
  const place = `${location.origin}/api/runs/${run}/badge.svg`;
  const markdown = `[![callvet](${place})](${location.origin}/runs/${run})`;
  const clipboard = useClipboard();
  return (
    <Box>
      <Text size="sm" fw={600} mb={4}>
        {t('gates.badge')}
      </Text>
      <Group gap="sm">
        <img src={`/api/runs/${run}/badge.svg`} alt={t('gates.badgeAlt')} height={20} style={{ maxWidth: '100%' }} />
        <code className={`${common.mono} ${common.untrusted}`}>{markdown}</code>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconCopy size={14} aria-hidden />}
          onClick={() => clipboard.copy(markdown)}
        >
          {clipboard.copied ? t('common.copied') : t('gates.copyMarkdown')}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4}>
        {t('gates.badgeText')}
      </Text>
    </Box>
  );
}
