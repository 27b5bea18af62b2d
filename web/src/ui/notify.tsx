import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { problemOf } from '../api/client';
import type { Translator } from '../text';
import { failureTitle } from './status';
import common from './common.module.css';

const waiting = new Map<string, () => void>();
let count = 0;

// Deletions that were not undone are also sent when the user leaves the page.
window.addEventListener('pagehide', () => {
  for (const now of waiting.values()) now();
});

/** undoable hides something and deletes it when the time to undo is over. hide and show change what the page shows. */
export function undoable(
  t: Translator,
  what: string,
  does: () => Promise<unknown>,
  change: { hide: () => void; show: () => void },
  wait = 6000,
) {
  const id = `undo-${++count}`;
  change.hide();
  const timer = window.setTimeout(() => finish(), wait);
  const finish = () => {
    if (!waiting.delete(id)) return;
    window.clearTimeout(timer);
    notifications.hide(id);
    does().catch((e) => {
      change.show();
      notifyFailure(t, e);
    });
  };
  waiting.set(id, finish);
  notifications.show({
    id,
    autoClose: wait,
    withCloseButton: true,
    onClose: finish,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{t('common.deleted', { what })}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            window.clearTimeout(timer);
            waiting.delete(id);
            notifications.hide(id);
            change.show();
          }}
        >
          {t('common.undo')}
        </Button>
      </Group>
    ),
  });
}

/** restorable shows that something was deleted on the server, with a button that restores it there. */
export function restorable(t: Translator, what: string, restore: () => Promise<unknown>, wait = 10_000) {
  offerUndo(t, t('common.deleted', { what }), restore, wait);
}

/** offerUndo shows what was done on the server, with a button that undoes it there. */
export function offerUndo(t: Translator, message: string, restore: () => Promise<unknown>, wait = 20_000) {
  const id = `undo-${++count}`;
  notifications.show({
    id,
    autoClose: wait,
    withCloseButton: true,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" className={common.untrusted}>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            restore().catch((e) => notifyFailure(t, e));
          }}
        >
          {t('common.undo')}
        </Button>
      </Group>
    ),
  });
}

/** notifyFailure shows why an action of the user failed. */
export function notifyFailure(t: Translator, e: unknown) {
  const p = problemOf(e);
  const places = p.fields.map((f) => `${f.place}: ${f.text}`).join('\n');
  notifications.show({
    color: 'red',
    title: failureTitle(t, p.status),
    message: <span className={common.untrusted}>{places ? `${p.message}\n${places}` : p.message}</span>,
    autoClose: 10_000,
  });
}

/** notify shows a short message. */
export function notify(message: string) {
  notifications.show({ message });
}
