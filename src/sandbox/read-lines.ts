/** Lines out of chunks of bytes, none longer than allowed. */

export type LineReader = (chunk: Uint8Array) => void;

/** `onLong` is told once, with how long it was at least; nothing is read after it. */
export function createLineReader(
  maxBytes: number,
  onLine: (line: string) => void,
  onLong: (bytes: number) => void,
): LineReader {
  let parts: Uint8Array[] = [];
  let length = 0;
  let isOver = false;
  const keep = (part: Uint8Array): boolean => {
    length += part.length;
    parts.push(part);
    isOver = length > maxBytes;
    if (isOver) onLong(length);
    return !isOver;
  };
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !isOver; end = rest.indexOf(10)) {
      if (!keep(rest.subarray(0, end))) return;
      const line = Buffer.concat(parts).toString("utf8");
      [parts, length, rest] = [[], 0, rest.subarray(end + 1)];
      onLine(line);
    }
    if (!isOver && rest.length > 0) keep(rest);
  };
}
