import { createContext, useContext } from 'react';
import type { Schemas } from './api/client';

export type Me = Schemas['Me'];

/** Who is logged in. The shell shows nothing else before it is known. */
export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error('nobody is logged in');
  return me;
}

/** useMay tells whether the user may do something: write covers making and changing, run covers runs, admin the rest. */
export function useMay(what: 'write' | 'run' | 'admin'): boolean {
  const me = useMe();
  return me.grants.includes(what);
}

/** unsent reports whether the browser has a draft of a gold sheet, or labels that were not sent. */
export function unsent(): boolean {
  return Object.keys(localStorage).some(
    (key) => /^callvet\.(gold|labels)\./.test(key) && localStorage.getItem(key) !== '[]',
  );
}

/** forget takes out of the browser what a user typed and did not send: it is nobody else's. The choice of theme and language stays. */
export function forget() {
  sessionStorage.clear();
  for (const key of Object.keys(localStorage))
    if (key.startsWith('callvet.') && key !== 'callvet.language') localStorage.removeItem(key);
}
