// Tables of few rows: column titles, then the rows that are given.
import { Table, type TableProps } from '@mantine/core';
import { type ReactNode } from 'react';
import { ScrollBox } from './scroll';
import common from './common.module.css';

/** Head is the title of a column. right: of figures; hidden: only screen readers get the title. */
export type Head =
  | string
  | { title: ReactNode; key?: string; right?: boolean; hidden?: boolean; w?: number | string; className?: string };

type PlainProps = TableProps & { heads: Head[]; children: ReactNode };

/** PlainTable is a table with column titles that needs no scrolling. */
export function PlainTable({ heads, children, ...table }: PlainProps) {
  return (
    <Table {...table}>
      <Table.Thead>
        <Table.Tr>
          {heads.map((h, i) => {
            const c = typeof h === 'string' ? { title: h } : h;
            return (
              <Table.Th key={c.key ?? i} scope="col" ta={c.right ? 'right' : undefined} w={c.w} className={c.className}>
                {c.hidden ? <span className={common.visuallyHidden}>{c.title}</span> : c.title}
              </Table.Th>
            );
          })}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

/** DataTable is a PlainTable in a ScrollBox, which has the props label, height, stacks, card and mt. */
export function DataTable({
  label,
  height,
  stacks,
  card,
  mt,
  ...table
}: PlainProps & { label: string; height?: number; stacks?: boolean; card?: boolean; mt?: string }) {
  return (
    <ScrollBox label={label} height={height} stacks={stacks} card={card} mt={mt}>
      <PlainTable {...table} />
    </ScrollBox>
  );
}

/** FigureCell is a cell of a column with figures. */
export function FigureCell({ children }: { children: ReactNode }) {
  return (
    <Table.Td ta="right" className={common.num}>
      {children}
    </Table.Td>
  );
}
