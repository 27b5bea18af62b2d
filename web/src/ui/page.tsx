// The frame of a screen, and its parts.
import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import common from './common.module.css';

/** Page is the frame of a screen: its title, which is also the title of the window, its actions, its content. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · callvet`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm">
        <Box style={{ minWidth: 0, flex: '1 1 320px' }}>
          <Title order={1} className={common.untrusted}>
            {title}
          </Title>
          {lead && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {lead}
            </Text>
          )}
        </Box>
        {actions && (
          <Group gap="xs" className={common.noPrint}>
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  );
}

/** Estimates shows the server's sentence about the scope of the numbers on a screen. */
export function Estimates({ of }: { of: string }) {
  return (
    <Text size="xs" c="dimmed" data-estimates>
      {of}
    </Text>
  );
}

/** Card is a piece of a screen with a heading. */
export function Card({
  title,
  actions,
  children,
  id,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  id?: string;
}) {
  return (
    <Box className={common.card} p="md" component="section" id={id}>
      {(title || actions) && (
        <Group justify="space-between" mb="sm" wrap="wrap">
          {title && <Title order={2}>{title}</Title>}
          {actions}
        </Group>
      )}
      {children}
    </Box>
  );
}
