// Texts to copy: links, secrets, commands.
import { ActionIcon, Box, CopyButton, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useText } from '../text';
import classes from './copy.module.css';
import common from './common.module.css';

/** Copyable is a text with a button that copies it. label names it for screen readers. */
export function Copyable({ label, value }: { label: string; value: string }) {
  const t = useText();
  return (
    <Box className={classes.copyable}>
      <Text
        component="pre"
        className={`${common.mono} ${common.untrusted}`}
        tabIndex={0}
        role="region"
        aria-label={label}
        m={0}
        style={{ flex: 1, minWidth: 0 }}
      >
        {value}
      </Text>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? t('common.copied') : t('common.copy')}>
            <ActionIcon
              variant="subtle"
              color={copied ? 'green' : 'gray'}
              onClick={copy}
              aria-label={`${t('common.copy')}: ${label}`}
            >
              {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Box>
  );
}
