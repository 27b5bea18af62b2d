import { Badge, Box, Stack, Table, Text } from '@mantine/core';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { LongText, prettyJson } from '../../ui/conversation';
import type { Report } from './parts';
import { DataTable, PlainTable } from '../../ui/datatable';
import common from '../../ui/common.module.css';

/** Configuration shows all settings that are needed to repeat the run. */
export function ConfigurationTab({ report: d }: { report: Report }) {
  const t = useText();
  return (
    <Stack gap="md">
      <Card title={t('results.configuration')}>
        <PlainTable heads={[t('results.setting'), t('results.value')]}>
          {(d.manifest ?? []).map((f, i) => (
            <Table.Tr key={i}>
              <Table.Th scope="row" fw={400} w="30%">
                {f.name}
              </Table.Th>
              <Table.Td className={`${common.mono} ${common.untrusted}`}>{f.value}</Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
      </Card>
      <Card title={t('results.targets')}>
        <DataTable
          label={t('results.targets')}
          heads={[
            t('results.target'),
            t('results.provider'),
            t('results.model'),
            t('results.toolChoice'),
            t('results.parameters'),
          ]}
        >
          {(d.targets ?? []).map((x) => (
            <Table.Tr key={x.name}>
              <Table.Th scope="row" className={common.untrusted}>
                {x.name} {x.floor && <Badge size="xs">{t('results.floor')}</Badge>}
              </Table.Th>
              <Table.Td>{x.provider}</Table.Td>
              <Table.Td className={common.untrusted}>{x.model ?? '–'}</Table.Td>
              <Table.Td>{x.tool_choice ?? '–'}</Table.Td>
              <Table.Td>
                {x.params && Object.keys(x.params).length > 0 ? <LongText text={prettyJson(x.params)} mono /> : '–'}
                {(x.adjustments ?? []).map((a, i) => (
                  <Text key={i} size="xs" c="dimmed" className={common.untrusted}>
                    {t('results.adjusted', { param: a.param, action: a.action, reason: a.reason })}
                  </Text>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      </Card>
      {(d.targets ?? []).some((x) => x.system_prompt) && (
        <Card title={t('results.systemPrompt')}>
          {(d.targets ?? [])
            .filter((x) => x.system_prompt)
            .map((x) => (
              <Box key={x.name} mb="sm">
                <Text size="xs" c="dimmed" className={common.untrusted}>
                  {x.name}
                </Text>
                <LongText text={x.system_prompt!} />
              </Box>
            ))}
        </Card>
      )}
    </Stack>
  );
}
