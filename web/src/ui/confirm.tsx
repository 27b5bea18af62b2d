import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { Translator } from '../text';
import { notifyFailure } from './notify';
import common from './common.module.css';

/** askConfirmation asks before an action that cannot be undone. */
export function askConfirmation(
  t: Translator,
  title: string,
  text: string,
  button: string,
  does: () => Promise<unknown>,
) {
  modals.openConfirmModal({
    title,
    children: (
      <Text size="sm" className={common.untrusted}>
        {text}
      </Text>
    ),
    labels: { confirm: button, cancel: t('common.cancel') },
    confirmProps: { color: 'red' },
    onConfirm: () => {
      does().catch((e) => notifyFailure(t, e));
    },
  });
}
