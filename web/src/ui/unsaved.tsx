// Unsaved inputs are not lost by a link, the back button or a closed page: all of them ask first.
import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useCallback, useEffect, useLayoutEffect } from 'react';
import { type Location, useBlocker } from 'react-router';
import { type Translator, useText } from '../text';

/**
 * A guard reports whether a change of the address would lose inputs of a form. The router allows one blocker, so all
 * forms share it.
 */
type Guard = (from: Location, to: Location) => boolean;
const guards = new Set<Guard>();
let passing = false;

/**
 * useUnsaved asks before a form with unsaved changes is left. drawer: the form closes with any change of the address,
 * not only with a change of the screen. The returned function runs an action that leaves the form without a question.
 */
export function useUnsaved(dirty: boolean, drawer = false): (does: () => void) => void {
  // Set before the next event, since Back may follow a key at once.
  useLayoutEffect(() => {
    if (!dirty) return;
    const guard: Guard = (from, to) => from.pathname !== to.pathname || (drawer && from.search !== to.search);
    const ask = (e: BeforeUnloadEvent) => e.preventDefault();
    guards.add(guard);
    window.addEventListener('beforeunload', ask);
    return () => {
      guards.delete(guard);
      window.removeEventListener('beforeunload', ask);
    };
  }, [dirty, drawer]);
  return useCallback((does) => {
    passing = true;
    try {
      does();
    } finally {
      window.setTimeout(() => (passing = false));
    }
  }, []);
}

const question = (t: Translator) => ({
  title: t('suites.discard'),
  children: <Text size="sm">{t('suites.discardText')}</Text>,
  labels: { confirm: t('suites.discardIt'), cancel: t('suites.keepTyping') },
  confirmProps: { color: 'red' },
});

/**
 * useLeave is for a form in a drawer: leave closes it, and asks first if there are unsaved changes. pass runs an action
 * that leaves the form without a question.
 */
export function useLeave(dirty: boolean, close: () => void) {
  const t = useText();
  const pass = useUnsaved(dirty, true);
  const leave = () => {
    if (!dirty) return close();
    modals.openConfirmModal({ ...question(t), onConfirm: () => pass(close) });
  };
  return { pass, leave };
}

/** Unsaved shows the question for all forms, once on the page. */
export function Unsaved() {
  const t = useText();
  const blocker = useBlocker(
    ({ currentLocation: from, nextLocation: to }) => !passing && [...guards].some((g) => g(from, to)),
  );
  const { state } = blocker;
  useEffect(() => {
    if (state !== 'blocked') return;
    let left = false;
    modals.openConfirmModal({
      ...question(t),
      onConfirm: () => {
        left = true;
        blocker.proceed();
      },
      onClose: () => {
        if (!left) blocker.reset();
      },
    });
  }, [state]); // eslint-disable-line react-hooks/exhaustive-deps -- one question for one attempt to leave
  return null;
}
