/**
 * Lists as parameters. The driver can ask each new connection for the types of lists, but if that connection is lost at
 * that moment, it rejects a promise that nobody handles, which ends the process. So the driver gets the few types used
 * here.
 */

/** By their numbers, the same in every Postgres: `text[]`, `bigint[]`, `double precision[]`. */
const LISTS = { texts: 1009, integers: 1016, numbers: 1022 } as const;

interface ListType {
  readonly to: number;
  /** Never read. */
  readonly from: number[];
  serialize(values: readonly unknown[]): string;
  parse(text: string): string;
}

export function listTypes(): Record<keyof typeof LISTS, ListType> {
  const ofNumber = (to: number): ListType => ({ to, from: [], serialize: writeArray, parse: (text) => text });
  return {
    texts: ofNumber(LISTS.texts),
    integers: ofNumber(LISTS.integers),
    numbers: ofNumber(LISTS.numbers),
  };
}

function writeArray(values: readonly unknown[]): string {
  const items = values.map((value) =>
    value === null ? "NULL" : `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`,
  );
  return `{${items.join(",")}}`;
}
