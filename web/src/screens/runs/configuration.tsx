import { Badge, Box, Stack, Table, Text } from '@mantine/core';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { LongText, prettyJson } from '../../ui/conversation';
import { ScrollBox } from '../../ui/scroll';
import type { Report } from './parts';
import common from '../../ui/common.module.css';

/** Configuration shows all settings that are needed to repeat the run. */
export function ConfigurationTab({ report: d }: { report: Report }) {
  const t = useText();
  return (
    <Stack gap="md">
      <Card title={t('results.configuration')}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('results.setting')}</Table.Th>
              <Table.Th scope="col">{t('results.value')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(d.manifest ?? []).map((f, i) => (
              <Table.Tr key={i}>
                <Table.Th scope="row" fw={400} w="30%">
                  {f.name}
                </Table.Th>
                <Table.Td className={`${common.mono} ${common.untrusted}`}>{f.value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
      <Card title={t('results.targets')}>
        <ScrollBox label={t('results.targets')}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('results.target')}</Table.Th>
                <Table.Th scope="col">{t('results.provider')}</Table.Th>
                <Table.Th scope="col">{t('results.model')}</Table.Th>
                <Table.Th scope="col">{t('results.toolChoice')}</Table.Th>
                <Table.Th scope="col">{t('results.parameters')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
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
            </Table.Tbody>
          </Table>
        </ScrollBox>
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
