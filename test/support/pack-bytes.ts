/** Makes packs of git entry by entry, as the format says, right or wrong. */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

/** `base` is how far back, or an id. */
export interface PackEntry {
  readonly type: number;
  readonly content: Buffer;
  readonly base?: number | string;
  /** What it says instead of how much it has. */
  readonly size?: number;
}

export function packOf(
  entries: readonly PackEntry[],
  { count = entries.length, version = 2, magic = "PACK" } = {},
): Buffer {
  const header = Buffer.alloc(12);
  header.write(magic, "latin1");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries.map(packEntry)]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

export function packEntry({ type, content, base, size = content.length }: PackEntry): Buffer {
  const head = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest % 128);
  }
  const from = typeof base === "string" ? Buffer.from(base, "hex") : Buffer.from(writeDistance(base));
  return Buffer.concat([Buffer.from(head), from, deflateSync(content)]);
}

function writeDistance(distance: number | undefined): readonly number[] {
  if (distance === undefined) return [];
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest % 128));
  }
  return bytes;
}
