// A table for long lists: rows are loaded page by page from the server, and at most 200 are in the document.
//
//   pages (useInfiniteQuery) ─► rows ─► window of visible rows ─► <tr>
//
// If its columns do not fit, a row is a card of its cells, each under the title of its column.
import { Box, Table, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useText } from '../text';
import { Loading } from './status';
import { labelCells } from './scroll';
import common from './common.module.css';
import tables from './stacked.module.css';

export type Column<Row> = {
  key: string;
  title: ReactNode;
  cell: (row: Row) => ReactNode;
  /** The width in px; columns without one share the remaining width. */
  width?: number;
  /** The width that a column without a set width needs, in px. */
  min?: number;
  align?: 'left' | 'right' | 'center';
  /** The corner of a card for the cell, without a title: a box to choose the row, its actions. */
  corner?: 'left' | 'right';
  /** The cell has the whole width of a card, since its text may be long. */
  wide?: boolean;
  /** The name of the order on the server; without it the column cannot be sorted. */
  sort?: string;
};

/** needOf returns the width that columns need, in px. */
const needOf = <Row,>(columns: Column<Row>[]) => columns.reduce((sum, c) => sum + (c.width ?? c.min ?? 140), 0);

export type RowsProps<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  idOf: (row: Row) => string;
  onOpen?: (row: Row) => void;
  /** The order in the server's form; a leading - is descending. */
  sort?: string;
  onSort?: (sort: string) => void;
  more?: () => void;
  hasMore?: boolean;
  busy?: boolean;
  empty?: ReactNode;
  height?: number | string;
  /** The height of most rows, in px. */
  rowHeight?: number;
};

type LineProps<Row> = {
  row: Row;
  index: number;
  here: boolean;
  columns: Column<Row>[];
  height?: number;
  open?: (row: Row) => void;
  enter: (index: number) => void;
  measure: (row: HTMLElement | null) => void;
};

/**
 * Line is one row: of elements without components, and rendered again only when one of its values changed. So its
 * columns must be the same objects as before.
 */
const Line = memo(function Line<Row>({ row, index, here, columns, height, open, enter, measure }: LineProps<Row>) {
  return (
    <tr
      ref={measure}
      className={open ? `${tables.line} ${tables.opens}` : tables.line}
      data-index={index}
      aria-rowindex={index + 2}
      tabIndex={here ? 0 : -1}
      style={{ height }}
      onFocus={() => enter(index)}
      onClick={(e) => {
        const at = e.target as HTMLElement;
        // React also passes clicks in a menu of the row, which is elsewhere in the document.
        if (e.currentTarget.contains(at) && !at.closest('a, button, input, select')) open?.(row);
      }}
    >
      {columns.map((c) => (
        <td
          key={c.key}
          className={c.corner ? `${tables.corner} ${tables[c.corner]}` : c.wide ? tables.wide : undefined}
          style={c.align && { textAlign: c.align }}
        >
          {c.cell(row)}
        </td>
      ))}
    </tr>
  );
}) as <Row>(props: LineProps<Row>) => ReactNode;

/** Rows is a table for long lists. Arrow keys or j and k move, Enter opens. */
export function Rows<Row>({
  label,
  columns,
  rows,
  idOf,
  onOpen,
  sort,
  onSort,
  more,
  hasMore,
  busy,
  empty,
  height = '70vh',
  rowHeight = 40,
}: RowsProps<Row>) {
  const t = useText();
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const inside = useRef(false); // The focus is in a row, or was there when the row was removed from the document.
  const [cards, setCards] = useState(false);
  const needs = useMemo(() => needOf(columns), [columns]);
  const fits = useRef({ needs, full: needs }); // A text that cannot wrap needs more.
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    if (fits.current.needs !== needs) fits.current = { needs, full: needs };
    const fit = () => {
      if (!cards && b.clientWidth >= needs && b.scrollWidth > b.clientWidth + 1) fits.current.full = b.scrollWidth;
      // Cards become a table only if it fits even with a scrollbar. Otherwise the page could alternate between a table
      // with a scrollbar and cards without.
      setCards((cards ? b.offsetWidth - 20 : b.clientWidth) < fits.current.full);
    };
    fit();
    const seen = new ResizeObserver(fit);
    seen.observe(b);
    return () => seen.disconnect();
  }, [needs, rows, cards]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  useLayoutEffect(() => {
    if (cards) labelCells(box.current!.querySelector('table')!);
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !busy && last >= rows.length - 20) more?.();
  }, [hasMore, busy, last, rows.length, more]);

  const opens = useRef(onOpen);
  useLayoutEffect(() => {
    opens.current = onOpen;
  });
  const open = useCallback((row: Row) => opens.current?.(row), []);

  const show = useCallback(
    (index: number) => {
      virtual.scrollToIndex(index);
      // A far row is drawn after the scroll, when the heights on the way are known.
      const focus = (tries: number) => {
        const row = box.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
        if (!row) {
          if (tries > 0) requestAnimationFrame(() => focus(tries - 1));
          return;
        }
        if (!row.contains(document.activeElement)) row.focus();
        // its name first
        if (row.offsetHeight > box.current!.clientHeight) virtual.scrollToIndex(index, { align: 'start' });
      };
      requestAnimationFrame(() => focus(20));
    },
    [virtual],
  );
  // The heights have changed: the visible row with the focus stays in place.
  useLayoutEffect(() => {
    const first = virtual.range?.startIndex ?? 0;
    virtual.measure();
    if (inside.current && Math.abs(at - first) < 40) show(at);
    else if (first > 0) virtual.scrollToIndex(first, { align: 'start' });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a new row in focus changes no heights
  }, [virtual, cards, show]);

  if (rows.length === 0 && busy) return <Loading />;
  if (rows.length === 0) return <>{empty ?? <Text c="dimmed">{t('common.none')}</Text>}</>;

  const go = (to: number) => {
    const next = Math.min(Math.max(to, 0), rows.length - 1);
    setAt(next);
    show(next);
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest('input, textarea, select, button'))
      return;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 15,
      PageUp: -15,
      Home: -rows.length,
      End: rows.length,
    };
    const row = rows[at];
    if (e.key === 'Enter' && (e.target as HTMLElement).closest('a')) return;
    if (e.key === 'Enter' && row !== undefined) onOpen?.(row);
    else if (steps[e.key] !== undefined) go(at + steps[e.key]!);
    else return;
    e.preventDefault();
  };
  const top = items[0]?.start ?? 0;
  const bottom = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <Box
      ref={box}
      className={cards ? `${common.card} ${tables.stacked} ${tables.cards}` : common.card}
      style={{ maxHeight: height, overflow: 'auto', overflowAnchor: 'none', position: 'relative' }}
      data-stacked={cards ? 'cards' : undefined}
      role="region"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={key}
      onFocus={(e) => (inside.current = e.target.closest('tr[data-index]') !== null)}
      onBlur={() => (inside.current = false)}
    >
      <Table stickyHeader={!cards} aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <Table.Thead style={{ background: 'var(--cv-card)' }}>
          <Table.Tr>
            {columns.map((c) => (
              <Table.Th
                key={c.key}
                w={c.width}
                miw={c.min}
                ta={c.align}
                scope="col"
                aria-sort={
                  c.sort && sort?.replace('-', '') === c.sort
                    ? sort.startsWith('-')
                      ? 'descending'
                      : 'ascending'
                    : undefined
                }
              >
                {c.sort && onSort ? (
                  <button
                    type="button"
                    className={tables.head}
                    onClick={() => onSort(sort === c.sort ? `-${c.sort}` : c.sort!)}
                  >
                    {c.title}
                  </button>
                ) : (
                  c.title
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {top > 0 && <tr className={tables.space} style={{ height: top }} aria-hidden />}
          {items.map((i) => {
            const row = rows[i.index]!;
            return (
              <Line
                key={idOf(row)}
                row={row}
                index={i.index}
                here={i.index === at}
                columns={columns}
                height={cards ? undefined : rowHeight}
                measure={virtual.measureElement}
                open={onOpen && open}
                enter={setAt}
              />
            );
          })}
          {bottom > 0 && <tr className={tables.space} style={{ height: bottom }} aria-hidden />}
        </Table.Tbody>
      </Table>
      {busy && <Loading />}
    </Box>
  );
}
