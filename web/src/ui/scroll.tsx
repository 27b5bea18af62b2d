import { Box } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import common from './common.module.css';
import tables from './stacked.module.css';

const roles: [string, string][] = [
  ['table', 'table'],
  ['thead', 'rowgroup'],
  ['tbody', 'rowgroup'],
  ['tr', 'row'],
  ['td', 'cell'],
  ['thead th', 'columnheader'],
  ['tbody th', 'rowheader'],
];

/** labelCells gives each cell the title of its column, and the ARIA roles that a table loses with display: block. */
export function labelCells(table: HTMLTableElement) {
  const titles = [...(table.tHead?.rows[0]?.cells ?? [])].flatMap((c) =>
    Array<string>(c.colSpan).fill(c.innerText.trim()),
  );
  for (const body of table.tBodies) {
    for (const row of body.rows) {
      let at = 0;
      for (const cell of row.cells) {
        cell.dataset.title = titles[at] ?? '';
        at += cell.colSpan;
      }
    }
  }
  for (const [what, role] of roles)
    for (const e of what === 'table' ? [table] : table.querySelectorAll(`:scope ${what}`)) e.setAttribute('role', role);
}

/**
 * ScrollBox scrolls wide content, such as a table, by keyboard, too. stacks: a table that does not fit shows each row
 * as a card, each cell under the title of its column, so that no scrolling is needed.
 */
export function ScrollBox({
  label,
  height,
  stacks = true,
  card = false,
  mt,
  children,
}: {
  label: string;
  height?: number;
  stacks?: boolean;
  card?: boolean;
  mt?: string;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  // After every render: the texts decide the width.
  useLayoutEffect(() => {
    const b = box.current;
    if (!b || !stacks) return;
    const stacked = card ? [tables.stacked!, tables.cards!] : [tables.stacked!];
    const fit = () => {
      const table = b.querySelector('table');
      if (!table) return;
      b.classList.remove(...stacked);
      delete b.dataset.stacked;
      if (b.scrollWidth <= b.clientWidth + 1) return;
      labelCells(table);
      b.classList.add(...stacked);
      b.dataset.stacked = card ? 'cards' : '';
    };
    fit();
    let width = b.clientWidth;
    const seen = new ResizeObserver(() => {
      if (b.clientWidth === width) return;
      width = b.clientWidth;
      fit();
    });
    seen.observe(b);
    return () => seen.disconnect();
  });
  return (
    <Box
      ref={box}
      className={card ? `${common.card} ${tables.scrollX}` : tables.scrollX}
      mt={mt}
      mah={height}
      style={height ? { overflowY: 'auto' } : undefined}
      data-scroll
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {children}
    </Box>
  );
}
