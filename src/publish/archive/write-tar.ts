/**
 * A tar archive of which every byte follows from the files: their paths in the order given, their bytes, whether they may
 * be executed. No time, owner or mode of the machine gets into it. What it writes, `src/install/archives` reads.
 */

export type TarEntry =
  | { readonly kind: "file"; readonly path: string; readonly executable: boolean; readonly bytes: Uint8Array }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

const BLOCK = 512;
const NAME_BYTES = 100;
/** 1980-01-01: the first day that every format and tool for archives knows. */
const TIME = 315_532_800;

export function writeTar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(writeEntry), Buffer.alloc(2 * BLOCK)]);
}

function writeEntry(entry: TarEntry): readonly Buffer[] {
  const target = entry.kind === "link" ? entry.target : "";
  const records = [
    ...(isPlain(entry.path) ? [] : [paxRecord("path", entry.path)]),
    ...(isPlain(target) ? [] : [paxRecord("linkpath", target)]),
  ];
  const extension = Buffer.concat(records);
  const content = entry.kind === "file" ? entry.bytes : Buffer.alloc(0);
  const mode = entry.kind === "link" ? 0o777 : entry.executable ? 0o755 : 0o644;
  const type = entry.kind === "link" ? "2" : "0";
  return [
    ...(records.length > 0
      ? [header({ name: "PaxHeader", type: "x", mode: 0o644, size: extension.length }), pad(extension)]
      : []),
    header({ name: entry.path, type, mode, size: content.length, target }),
    pad(content),
  ];
}

/** What every tool reads alike from the header itself. */
function isPlain(text: string): boolean {
  return text.length <= NAME_BYTES && /^[ -~]*$/.test(text);
}

interface HeaderFields {
  readonly name: string;
  readonly type: "0" | "2" | "x";
  readonly mode: number;
  readonly size: number;
  readonly target?: string;
}

function header({ name, type, mode, size, target = "" }: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK);
  // A long name stands in the extension before it; its beginning is for tools that do not read those.
  Buffer.from(name).copy(block, 0, 0, NAME_BYTES);
  const octal = (value: number, start: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, start, "latin1");
  };
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(TIME, 136, 12);
  block.write(`        ${type}`, 148, "latin1");
  Buffer.from(target).copy(block, 157, 0, NAME_BYTES);
  block.write("ustar\0" + "00", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** `17 path=long-name\n`, in which the length counts itself. */
function paxRecord(key: "path" | "linkpath", value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + 1;
  while (String(length).length + bytes !== length) length += 1;
  return Buffer.from(`${length}${rest}`);
}

function pad(content: Uint8Array): Buffer {
  return Buffer.concat([content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}
