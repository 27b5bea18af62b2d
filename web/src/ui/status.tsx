// Shown instead of a screen's content, or above it: loading, empty, an error, a notice.
import { Alert, Box, Button, Group, List, Loader, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { problemOf } from '../api/client';
import { type Translator, useText } from '../text';
import common from './common.module.css';

/** Notice is a caution about the numbers below it. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box p="sm" role="note" style={{ background: 'var(--cv-error-ground)', borderRadius: 'var(--mantine-radius-md)' }}>
      <Group gap={6} mb={2} c="var(--cv-error)" wrap="nowrap">
        <IconAlertTriangle size={16} aria-hidden style={{ flex: 'none' }} />
        <Text size="sm" fw={600}>
          {title}
        </Text>
      </Group>
      {children}
    </Box>
  );
}

const failures = [0, 401, 403, 404, 409, 412, 413, 429, 502, 503] as const;

/** failureTitle names a failed request by the status of its response. */
export function failureTitle(t: Translator, status: number): string {
  const known = failures.find((n) => n === status);
  return t(known === undefined ? 'common.failed' : `common.failed${known}`);
}

/** Failure shows the error of a request, with every refused field. */
export function Failure({ of, retry }: { of: unknown; retry?: () => void }) {
  const t = useText();
  if (!of) return null;
  const p = problemOf(of);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={failureTitle(t, p.status)} role="alert">
      <Text size="sm" className={common.untrusted}>
        {p.message}
      </Text>
      {p.fields.length > 0 && (
        <List size="sm" mt={4}>
          {p.fields.map((f, i) => (
            <List.Item key={i}>
              <span className={common.mono}>{f.place}</span> <span className={common.untrusted}>{f.text}</span>
            </List.Item>
          ))}
        </List>
      )}
      {retry && (
        <Button mt="sm" size="xs" variant="default" onClick={retry}>
          {t('common.retry')}
        </Button>
      )}
    </Alert>
  );
}

/** Loading is shown until the first response arrives. */
export function Loading() {
  const t = useText();
  return (
    <Group p="xl" justify="center" aria-busy="true" role="status">
      <Loader size="sm" aria-hidden />
      <Text c="dimmed" size="sm">
        {t('common.loading')}
      </Text>
    </Group>
  );
}

/** Empty describes the missing content, and how to make it. */
export function Empty({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" className={common.card}>
      <Text fw={600}>{title}</Text>
      {text && (
        <Text c="dimmed" size="sm" ta="center" maw={520}>
          {text}
        </Text>
      )}
      {children && <Group mt="sm">{children}</Group>}
    </Stack>
  );
}
