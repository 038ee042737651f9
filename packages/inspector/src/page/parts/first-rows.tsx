/** The first rows of a list, until the reader asks for all of them. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { formatNumber } from "../state/format.ts";

interface FirstRowsProps<Row> {
  readonly rows: readonly Row[];
  readonly most?: number;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

export function FirstRows<Row>({ rows, most = 100, children }: FirstRowsProps<Row>) {
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      {children(isWhole ? rows : rows.slice(0, most))}
      {!isWhole && rows.length > most && (
        <div class="row">
          <Button onPress={() => setWhole(true)}>Show all {formatNumber(rows.length)}</Button>
        </div>
      )}
    </>
  );
}
