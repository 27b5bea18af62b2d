import { Box, Button, List, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useText } from '../../text';
import { Card } from '../../ui/page';
import { Empty } from '../../ui/status';
import { FindingCount } from '../../ui/verdict';
import { caseLink, type Report } from './parts';
import common from '../../ui/common.module.css';

/** Findings lists patterns in the failures of a run, each with advice and attempts as examples. */
export function FindingsTab({ run, report: d, most }: { run: string; report: Report; most?: number }) {
  const t = useText();
  const all = d.panels.findings ?? [];
  const list = most ? all.slice(0, most) : all;
  if (list.length === 0) return <Empty title={t('results.noFindings')} text={t('results.noFindingsText')} />;
  return (
    <Stack gap="md">
      {list.map((f) => {
        const first = f.examples?.[0];
        return (
          <Card
            key={f.code}
            id={`finding-${f.code}`}
            title={f.title}
            actions={
              first && (
                <Button
                  component={Link}
                  to={caseLink(run, { case: first.task, target: first.target, repeat: first.attempt })}
                  variant="light"
                  size="xs"
                >
                  {t('results.show')}
                </Button>
              )
            }
          >
            <Stack gap={6}>
              <FindingCount of={f} />
              <Text size="sm" c="dimmed" className={common.untrusted}>
                {f.evidence?.join(' · ')}
              </Text>
              <Text size="sm">
                <b>{t('results.fix')}:</b> {f.fix}
              </Text>
              <Text size="sm">
                <b>{t('results.check')}:</b> {f.test}
              </Text>
              {(f.examples?.length ?? 0) > 0 && (
                <Box>
                  <Text size="sm" fw={700} span>
                    {t('results.examples')}:
                  </Text>
                  <List size="sm" mt={2}>
                    {f.examples!.slice(0, most ? 3 : 10).map((e, i) => (
                      <List.Item key={i}>
                        <Link
                          to={caseLink(run, { case: e.task, target: e.target, repeat: e.attempt })}
                          className={common.untrusted}
                        >
                          {e.task}
                          {e.attempt ? ` #${e.attempt + 1}` : ''}
                        </Link>{' '}
                        <Text span size="xs" c="dimmed" className={common.untrusted}>
                          {[e.target, e.why].filter(Boolean).join(' · ')}
                        </Text>
                      </List.Item>
                    ))}
                  </List>
                </Box>
              )}
            </Stack>
          </Card>
        );
      })}
    </Stack>
  );
}
