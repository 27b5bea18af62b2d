import { useCallback } from 'react';
import { useSearchParams } from 'react-router';

/**
 * useParam is a value in the address, so that filters are in links and the back button undoes them. An empty value
 * is removed from the address.
 */
export function useParam(name: string, usual = ''): [string, (v: string | null, how?: { replace?: boolean }) => void] {
  const [params, set] = useSearchParams();
  const change = useCallback(
    (v: string | null, how?: { replace?: boolean }) =>
      set(
        (before) => {
          const next = new URLSearchParams(before);
          if (v === null || v === '' || v === usual) next.delete(name);
          else next.set(name, v);
          return next;
        },
        { replace: how?.replace ?? false, preventScrollReset: true },
      ),
    [name, set, usual],
  );
  return [params.get(name) ?? usual, change];
}
