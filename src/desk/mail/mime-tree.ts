/** A message as the tree of its parts, bounded in depth and number. Bodies are slices, still in their transfer encoding. */
import { type Header, readHeader } from "./header-fields.ts";
import { type HeaderValue, readHeaderValue } from "./header-value.ts";
import { MAX_DEPTH, MAX_PARTS } from "./limits.ts";

export interface MimePart {
  readonly header: Header;
  readonly type: HeaderValue;
  readonly disposition: HeaderValue;
  readonly body: Buffer;
  /** Of a multipart; empty for any other. */
  readonly children: readonly MimePart[];
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const MAX_BOUNDARY = 200;

export function readMimeTree(message: Buffer): MimePart {
  let left = MAX_PARTS;
  const read = (bytes: Buffer, depth: number): MimePart => {
    left--;
    const header = readHeader(bytes);
    const type = readHeaderValue(header.get("content-type") ?? "text/plain");
    const disposition = readHeaderValue(header.get("content-disposition"));
    const body = bytes.subarray(header.bodyStart);
    const boundary = type.value.startsWith("multipart/") ? type.parameter("boundary") : undefined;
    const children: MimePart[] = [];
    if (boundary && boundary.length <= MAX_BOUNDARY && depth < MAX_DEPTH)
      for (const slice of splitParts(body, boundary)) if (left > 0) children.push(read(slice, depth + 1));
    return { header, type, disposition, body, children };
  };
  return read(message, 0);
}

/** What stands between the lines that begin with the boundary; a part whose end is missing goes to the end. */
function splitParts(body: Buffer, boundary: string): readonly Buffer[] {
  const mark = Buffer.from(`--${boundary}`, "latin1");
  const parts: Buffer[] = [];
  let start = -1;
  let at = body.indexOf(mark);
  while (at !== -1 && parts.length < MAX_PARTS) {
    const after = at + mark.length;
    if (at === 0 || body[at - 1] === LINE_FEED) {
      if (start !== -1) parts.push(body.subarray(start, Math.max(start, lineEndBefore(body, at))));
      if (body.toString("latin1", after, after + 2) === "--") return parts;
      const feed = body.indexOf(LINE_FEED, after);
      start = feed === -1 ? body.length : feed + 1;
    }
    at = body.indexOf(mark, after);
  }
  if (start !== -1 && start < body.length) parts.push(body.subarray(start));
  return parts;
}

/** The line's end before a boundary belongs to the boundary. */
function lineEndBefore(body: Buffer, at: number): number {
  return body[at - 2] === CARRIAGE_RETURN ? at - 2 : at - 1;
}
