import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { T } from '../text';
import { tellFailure } from './undo';

/** confirmed asks before it does what cannot be undone. */
export function confirmed(t: T, title: string, text: string, button: string, does: () => Promise<unknown>) {
  modals.openConfirmModal({
    title,
    children: (
      <Text size="sm" className="untrusted">
        {text}
      </Text>
    ),
    labels: { confirm: button, cancel: t('common.cancel') },
    confirmProps: { color: 'red' },
    closeButtonProps: { 'aria-label': t('common.close') },
    onConfirm: () => {
      does().catch((e) => tellFailure(t, e));
    },
  });
}
