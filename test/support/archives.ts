/** Archives built byte by byte, so that they can be as wrong as someone wants them. */
import { crc32, deflateRawSync } from "node:zlib";

export interface TarItem {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** The type letter. Default: `0`, a file. */
  readonly type?: string;
  readonly mode?: number;
  readonly target?: string;
  /** What the header says, where it is not the truth. */
  readonly size?: number;
  readonly magic?: string;
  readonly prefix?: string;
}

export const TAR_END: Buffer = Buffer.alloc(1024);

export function tarOf(...items: readonly TarItem[]): Buffer {
  return Buffer.concat([...items.map(tarItem), TAR_END]);
}

export function tarItem(item: TarItem): Buffer {
  const content = Buffer.from(item.content ?? "");
  const header = Buffer.alloc(512);
  Buffer.from(item.name).copy(header, 0, 0, 100);
  header.write(`${(item.mode ?? 0o644).toString(8).padStart(7, "0")}\0`, 100);
  header.write("0000000\0" + "0000000\0", 108);
  header.write(`${(item.size ?? content.length).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write(`        ${item.type ?? "0"}`, 148);
  header.write(item.target ?? "", 157, 100);
  header.write(item.magic ?? "ustar\0" + "00", 257);
  header.write(item.prefix ?? "", 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

/** A PAX header for the item behind it. */
export function paxItem(records: Readonly<Record<string, string>>, type: "x" | "g" = "x"): TarItem {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
    return `${length}${rest}`;
  });
  return { name: "PaxHeader", type, content: lines.join("") };
}

export interface ZipItem {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  readonly method?: number;
  readonly flags?: number;
  /** Unix mode with the file type; none for a file from elsewhere. */
  readonly mode?: number;
  /** Fields of the list at the end that differ from the header before the file. */
  readonly listed?: {
    readonly name?: string;
    readonly size?: number;
    readonly crc?: number;
    readonly offset?: number;
  };
  /** Sizes only in a zip64 field of the list. */
  readonly zip64?: boolean;
}

export interface ZipOptions {
  readonly before?: Buffer;
  readonly after?: Buffer;
  readonly entries?: number;
}

export function zipOf(items: readonly ZipItem[], { before, after, entries }: ZipOptions = {}): Buffer {
  const local: Buffer[] = [before ?? Buffer.alloc(0)];
  const central: Buffer[] = [];
  let offset = before?.length ?? 0;
  for (const item of items) {
    const { head, listing } = zipItem(item, offset);
    local.push(head);
    central.push(listing);
    offset += head.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries ?? items.length, 8);
  end.writeUInt16LE(entries ?? items.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end, after ?? Buffer.alloc(0)]);
}

function zipItem(item: ZipItem, offset: number): { readonly head: Buffer; readonly listing: Buffer } {
  const { method = 8, flags = 0x800, mode, listed = {} } = item;
  const content = Buffer.from(item.content ?? "");
  const packed = method === 8 ? deflateRawSync(content) : content;
  const fields = (name: Buffer, crc: number, size: number): Buffer => {
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(item.zip64 ? 45 : 20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(crc, 10);
    shared.writeUInt32LE(item.zip64 ? 0xffff_ffff : packed.length, 14);
    shared.writeUInt32LE(item.zip64 ? 0xffff_ffff : size, 18);
    shared.writeUInt16LE(name.length, 22);
    shared.writeUInt16LE(item.zip64 ? 20 : 0, 24);
    return shared;
  };
  const extra = Buffer.alloc(item.zip64 ? 20 : 0);
  if (item.zip64) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(16, 2);
    extra.writeBigUInt64LE(BigInt(content.length), 4);
    extra.writeBigUInt64LE(BigInt(packed.length), 12);
  }
  const name = Buffer.from(item.name);
  const head = Buffer.concat([
    Buffer.from("PK\x03\x04", "latin1"),
    fields(name, crc32(content), content.length),
    name,
    extra,
    packed,
  ]);
  const listedName = Buffer.from(listed.name ?? item.name);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((mode ?? 0) * 0x1_0000) >>> 0, 6);
  tail.writeUInt32LE(listed.offset ?? offset, 10);
  const made = Buffer.from([20, mode === undefined ? 0 : 3]);
  const size = listed.size ?? content.length;
  const listing = Buffer.concat([
    Buffer.from("PK\x01\x02", "latin1"),
    made,
    fields(listedName, listed.crc ?? crc32(content), size),
    tail,
    listedName,
    extra,
  ]);
  return { head, listing };
}
