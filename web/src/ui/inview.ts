// A row of tabs that is wider than the screen shows the chosen one.
import { useEffect, useRef } from 'react';

/** useChosenInView gives the ref of a row of tabs, which scrolls to the chosen one when that changes. */
export function useChosenInView(chosen: string) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    line.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  return line;
}
