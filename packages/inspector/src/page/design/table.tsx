/**
 * A list of any length: all rows have the same height, and only visible ones are drawn. The keyboard moves a cursor
 * (j, k, arrows, Enter) while the focus stays on the table, so that it isn't lost with a row that scrolls away.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<Row> {
  readonly title: string;
  /** As in `grid-template-columns`: `8rem`, `minmax(0, 2fr)`. */
  readonly width: string;
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean;
  render(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  /** The link of a row. */
  linkOf(row: Row): string;
}

const ROW = 40;
const AROUND = 6;

export function Table<Row>({ label, rows, columns, keyOf, linkOf }: TableProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const { first, last } = useWindow(box, rows.length);
  const { at, onKeyDown } = useCursor(box, rows, linkOf);
  return (
    <div
      class="table"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={rows.length > 0 ? `row-${at}` : undefined}
      tabIndex={0}
      ref={box}
      style={templatesOf(columns)}
      onKeyDown={onKeyDown}
      data-cursor-target
    >
      <div class="line head" role="row" aria-rowindex={1}>
        {columns.map(({ title, isNumber, isMinor }) => (
          <div key={title} role="columnheader" class={classOf(isNumber, isMinor)}>
            {title}
          </div>
        ))}
      </div>
      <div class="lines" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, last).map((row, index) => {
          const number = first + index;
          return (
            <Line
              key={keyOf(row)}
              row={row}
              number={number}
              isAt={number === at}
              columns={columns}
              link={linkOf(row)}
            />
          );
        })}
      </div>
    </div>
  );
}

interface LineProps<Row> {
  readonly row: Row;
  /** From 0. */
  readonly number: number;
  /** Whether the cursor is on it. */
  readonly isAt: boolean;
  readonly columns: readonly Column<Row>[];
  readonly link: string;
}

function Line<Row>({ row, number, isAt, columns, link }: LineProps<Row>) {
  return (
    <div
      id={`row-${number}`}
      class={isAt ? "line at" : "line"}
      role="row"
      aria-rowindex={number + 2}
      aria-selected={isAt}
      style={{ transform: `translateY(${number * ROW}px)` }}
    >
      {columns.map(({ title, isNumber, isMinor, render }, place) => (
        <div key={title} role="gridcell" class={classOf(isNumber, isMinor)}>
          {place === 0 ? (
            <a class="clip" href={link} tabIndex={-1}>
              {render(row)}
            </a>
          ) : (
            render(row)
          )}
        </div>
      ))}
    </div>
  );
}

/** The row of the keyboard cursor. */
function useCursor<Row>(
  box: { readonly current: HTMLElement | null },
  rows: readonly Row[],
  linkOf: (row: Row) => string,
) {
  const [cursor, setCursor] = useState(0);
  const at = Math.min(cursor, rows.length - 1);
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setCursor(next);
    showRow(box.current, next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? ROW) / ROW) - 2);
    const steps: Readonly<Record<string, number>> = {
      j: at + 1,
      ArrowDown: at + 1,
      k: at - 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[at];
    const to = steps[event.key];
    if (to !== undefined) move(to);
    else if (event.key === "Enter" && event.target === box.current && row !== undefined)
      location.hash = linkOf(row);
    else return;
    event.preventDefault();
  };
  return { at, onKeyDown };
}

function templatesOf(columns: readonly Pick<Column<never>, "width" | "isMinor">[]) {
  const major = columns.filter(({ isMinor }) => !isMinor);
  return {
    "--columns": columns.map(({ width }) => width).join(" "),
    "--columns-narrow": major.map(({ width }) => width).join(" "),
  };
}

function classOf(isNumber: boolean | undefined, isMinor: boolean | undefined): string {
  return ["clip", isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ");
}

function showRow(box: HTMLElement | null, row: number): void {
  if (!box) return;
  const head = ROW;
  const top = row * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + box.clientHeight - head)
    box.scrollTop = top + ROW + head - box.clientHeight;
}

/** Which rows are visible, plus some around them. `height` is that of a row. */
export function useWindow(
  box: { readonly current: HTMLElement | null },
  count: number,
  height = ROW,
): { first: number; last: number } {
  const [place, setPlace] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, []);
  // If a list gets shorter, the reader may be past its end.
  useEffect(() => {
    if (box.current) setPlace({ top: box.current.scrollTop, height: box.current.clientHeight });
  }, [count]);
  const first = Math.max(0, Math.min(Math.floor(place.top / height) - AROUND, count - 1));
  const last = Math.min(count, Math.ceil((place.top + place.height) / height) + AROUND);
  return { first, last };
}
