// Checks the collection with a gate file.
import { Button, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { useAction } from '../../ui/action';
import { Figure } from '../../ui/interval';
import { Card } from '../../ui/page';
import { Failure } from '../../ui/status';
import { gateVerdict, Verdict } from '../../ui/verdict';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { BaselineSelect, baselineOf } from './baseline';
import { DataTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

const example = 'gates:\n  - {metric: execution_success, at_least: 0.9}\n';

export function GatesTab({ id }: { id: string }) {
  const t = useText();
  const [baseline, setBaseline] = useParam('baseline');
  const [text, setText] = useState(() => sessionStorage.getItem('callvet.gates') ?? example);
  const [result, setResult] = useState<Schemas['GateVerdict'] | null>(null);
  const { busy, error, act } = useAction();
  const check = () => {
    setResult(null);
    void act(async () => {
      setResult(
        unwrap(
          await api.POST('/api/traces/{id}/gate', {
            params: { path: { id } },
            body: { gates: text, ...baselineOf(baseline) },
          }),
        ),
      );
    });
  };
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          {t('traces.gatesText')}
        </Text>
        <CodeEditor
          label={t('traces.gateFile')}
          language="yaml"
          height={220}
          value={text}
          onChange={(v) => {
            setText(v);
            sessionStorage.setItem('callvet.gates', v);
          }}
        />
        <BaselineSelect id={id} value={baseline} onChange={setBaseline} none={t('traces.againstNone')} />
        <Button onClick={check} loading={busy} style={{ alignSelf: 'flex-start' }}>
          {t('traces.check')}
        </Button>
      </Stack>
      <div aria-live="polite">
        <Failure of={error} />
        {result && <Result of={result} />}
      </div>
    </SimpleGrid>
  );
}

function Result({ of }: { of: Schemas['GateVerdict'] }) {
  const t = useText();
  const r = of.report;
  const word = (v: string) => (
    <Verdict of={gateVerdict(v)} text={v === 'INCONCLUSIVE' ? t('traces.inconclusive') : undefined} />
  );
  return (
    <Card title={word(r.verdict)}>
      <Text size="sm" className={common.untrusted} mb="sm">
        {r.sentence} {of.incomplete && t('traces.incomplete')}
      </Text>
      <DataTable
        label={t('traces.gates')}
        miw={460}
        heads={[t('traces.verdict'), t('traces.gate'), t('traces.measured')]}
      >
        {(r.verdicts ?? []).map((v, i) => (
          <Table.Tr key={i}>
            <Table.Td>{word(v.verdict)}</Table.Td>
            <Table.Td>
              <span className={common.mono}>{v.gate.metric}</span>
              <Text size="xs" c="dimmed" className={common.untrusted}>
                {v.sentence}
              </Text>
              {v.cure && (
                <Text size="xs" className={common.untrusted}>
                  {t('traces.cure', { cure: v.cure })}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Figure interval={v.interval} unit={v.unit ?? 'rate'} />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {r.warnings?.map((w, i) => (
        <Text key={i} size="sm" mt="xs" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
          {w}
        </Text>
      ))}
    </Card>
  );
}
