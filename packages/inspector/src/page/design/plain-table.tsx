/** A table with few rows, each as high as its text. Scrolls sideways if it is too wide. */
import type { ComponentChildren } from "preact";

interface PlainColumn<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  /** The column that names the row. */
  readonly isName?: boolean;
  render(row: Row): ComponentChildren;
}

interface PlainTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly PlainColumn<Row>[];
  /** For extra rules in `views.css`. */
  readonly kind?: string;
}

export function PlainTable<Row>({ label, rows, columns, kind }: PlainTableProps<Row>) {
  return (
    <div class="scrolls" role="region" aria-label={label} tabIndex={0}>
      <table class={kind === undefined ? "plain-table" : `plain-table ${kind}`}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={`${index}`}>
              {columns.map((column) => (
                <Cell key={column.title} row={row} column={column} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ row, column }: { readonly row: Row; readonly column: PlainColumn<Row> }) {
  const { isName, isNumber, render } = column;
  if (isName) return <th scope="row">{render(row)}</th>;
  return <td class={isNumber ? "number" : undefined}>{render(row)}</td>;
}
