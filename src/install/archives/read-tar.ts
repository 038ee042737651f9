/**
 * The entries of a tar archive, as they come. Own and strict, because what must be refused here (sparse files, unknown
 * types, names that are not UTF-8, headers that contradict each other) is what general readers make the best of.
 */
import { showPath } from "../../host/contained-path.ts";
import { RefusedTree } from "../refused-tree.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import type { ByteReader } from "./byte-reader.ts";
import { decodeName } from "./decode-name.ts";
import { type PaxRecords, readPaxRecords } from "./pax-records.ts";
import { BLOCK, isZeroBlock, readTarHeader, type TarHeader } from "./tar-header.ts";

/** Of one long name or PAX header. */
const MAX_EXTENSION = 131_072;

const REFUSED_TYPES: Readonly<Record<string, string>> = {
  "1": "a hard link; pack it as a file of its own",
  "3": "a device",
  "4": "a device",
  "6": "a FIFO",
  S: "a sparse file",
};

/** What stood before an entry to complete it. */
type Extension = Partial<Record<"x" | "L" | "K", PaxRecords>>;

export async function* readTar(reader: ByteReader): AsyncGenerator<ArchiveEntry, void> {
  let extension: Extension = {};
  for (;;) {
    const block = await reader.takeOrEnd(BLOCK);
    if (block === undefined)
      throw new RefusedTree("source.damaged", "It is cut off: the end of the tar archive is missing.");
    if (isZeroBlock(block)) break;
    const header = readTarHeader(block);
    if (header.type === "x" || header.type === "L" || header.type === "K" || header.type === "g") {
      extension = extend(extension, header.type, await readExtension(reader, header));
      continue;
    }
    const { entry, size } = toEntry(header, extension, reader);
    extension = {};
    yield entry;
    await skipPadding(reader, size);
  }
  if (Object.keys(extension).length > 0)
    throw new RefusedTree("source.damaged", "The tar archive ends with a name for no entry.");
  for await (const chunk of reader.rest()) {
    if (!isZeroBlock(chunk))
      throw new RefusedTree("source.unsafe", "There is more data behind the end of the tar archive.");
  }
}

async function readExtension(reader: ByteReader, { size, type }: TarHeader): Promise<PaxRecords> {
  if (size > MAX_EXTENSION) {
    throw new RefusedTree(
      "source.limited",
      `A header of the tar archive has ${size} bytes; at most ${MAX_EXTENSION} are read.`,
    );
  }
  const bytes = await reader.take(size);
  await skipPadding(reader, size);
  if (type === "x" || type === "g") return readPaxRecords(bytes);
  const end = bytes.indexOf(0);
  const name = decodeName(end === -1 ? bytes : bytes.subarray(0, end));
  return type === "L" ? { path: name } : { linkpath: name };
}

/** A global header may carry a comment, as those of GitHub do; one that renames everything behind it is a trick. */
function extend(extension: Extension, type: "x" | "L" | "K" | "g", records: PaxRecords): Extension {
  if (type === "g" ? Object.keys(records).length > 0 : type in extension) {
    throw new RefusedTree(
      "source.unsafe",
      "A header of the tar archive gives a name or size to more than one entry, or twice.",
    );
  }
  return type === "g" ? extension : { ...extension, [type]: records };
}

function toEntry(
  header: TarHeader,
  { x = {}, L = {}, K = {} }: Extension,
  reader: ByteReader,
): { readonly entry: ArchiveEntry; readonly size: number } {
  if (
    (x.path !== undefined && L.path !== undefined) ||
    (x.linkpath !== undefined && K.linkpath !== undefined)
  ) {
    throw new RefusedTree("source.unsafe", "An entry of the tar archive has two names.");
  }
  const name = x.path ?? L.path ?? header.name;
  const target = x.linkpath ?? K.linkpath ?? header.linkName;
  const size = x.size ?? header.size;
  const isFolder = header.type === "5" || (header.type === "0" && name.endsWith("/"));
  const isFile = !isFolder && (header.type === "0" || header.type === "7");
  if (!isFolder && !isFile && header.type !== "2") {
    const what = REFUSED_TYPES[header.type] ?? `of the type ${showPath(header.type)}`;
    throw new RefusedTree(
      "source.unsafe",
      `${showPath(name)} is ${what}: only files, folders and links are unpacked.`,
    );
  }
  if (!isFile && size !== 0)
    throw new RefusedTree("source.unsafe", `${showPath(name)} has content, but is no file.`);
  const path = name.replace(/\/$/, "");
  if (isFolder) return { entry: { kind: "folder", path }, size };
  if (!isFile) return { entry: { kind: "link", path, target }, size };
  const { executable, mode } = header;
  return { entry: { kind: "file", path, size, executable, mode, content: reader.pass(size) }, size };
}

async function skipPadding(reader: ByteReader, size: number): Promise<void> {
  await reader.take((BLOCK - (size % BLOCK)) % BLOCK);
}
