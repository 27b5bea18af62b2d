import { createContext, useContext } from 'react';
import type { Schemas } from './api/client';

export type Me = Schemas['Me'];

/** The user who is logged in. The shell shows no screen before it is known. */
export const CurrentUserContext = createContext<Me | null>(null);

export function useCurrentUser(): Me {
  const me = useContext(CurrentUserContext);
  if (!me) throw new Error('no user is logged in');
  return me;
}

/** usePermission reports whether the user may change things (write), start runs (run), or administrate (admin). */
export function usePermission(what: 'write' | 'run' | 'admin'): boolean {
  const me = useCurrentUser();
  return me.grants.includes(what);
}

/** hasUnsentWork reports whether the browser has a draft of a gold sheet, or labels that were not sent. */
export function hasUnsentWork(): boolean {
  return Object.keys(localStorage).some(
    (key) => /^callvet\.(gold|labels)\./.test(key) && localStorage.getItem(key) !== '[]',
  );
}

/** forgetUserData removes drafts and unsent labels from the browser. The choice of theme and language stays. */
export function forgetUserData() {
  sessionStorage.clear();
  for (const key of Object.keys(localStorage))
    if (key.startsWith('callvet.') && key !== 'callvet.language') localStorage.removeItem(key);
}
