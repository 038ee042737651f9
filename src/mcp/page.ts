/** Lists in pages. A cursor names the last entry that was given, so that it stays good while the list changes. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

const MARK = "after:";

/** Entries in one answer. */
const PAGE_SIZE = 100;

/** `items` are sorted by `keyOf`, in the order of code units. A cursor that was not given out is a fault of the request. */
export function pageOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  cursor: string | undefined,
  size: number = PAGE_SIZE,
): Page<Item> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const found = after === undefined ? 0 : items.findIndex((item) => keyOf(item) > after);
  const start = found === -1 ? items.length : found;
  const page = items.slice(start, start + size);
  const last = page.at(-1);
  const isLast = start + page.length >= items.length;
  return isLast || last === undefined
    ? { items: page }
    : { items: page, nextCursor: writeCursor(keyOf(last)) };
}

/** The answer to a request for a list: its entries under the name that the protocol has for them. */
export function pageResult<Name extends string, Item>(
  name: Name,
  { items, nextCursor }: Page<Item>,
): { readonly [Key in Name]: Item[] } & { readonly nextCursor?: string } {
  const entries = { [name]: [...items] } as { readonly [Key in Name]: Item[] };
  return { ...entries, ...(nextCursor !== undefined && { nextCursor }) };
}

function writeCursor(key: string): string {
  return Buffer.from(MARK + key).toString("base64url");
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  // What is not spelled as it is written here was made up.
  if (text.startsWith(MARK) && writeCursor(text.slice(MARK.length)) === cursor)
    return text.slice(MARK.length);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "Unknown cursor: use a `nextCursor` of this server as it was given, or none.",
  );
}
