/**
 * What a snapshot records about a folder. Paths and link targets are bytes, which needn't be UTF-8; in JSON each byte
 * is one character. Entries are sorted by path, so that the same folder gives the same text.
 */
import { countShape, fitShape, listShape, recordShape, type Shape, textShape } from "@metier/base/shape";
import { damagedSnapshot } from "./seal-blob.ts";

export interface KeptFile {
  readonly kind: "file";
  /** Relative to the folder, with `/` between names, as Latin-1. */
  readonly path: string;
  /** Only the permission bits. */
  readonly mode: number;
  /** In milliseconds, which Node can set exactly. */
  readonly modifiedAt: number;
  readonly size: number;
  /** The names of its blobs. */
  readonly parts: readonly string[];
}

export interface KeptFolder {
  readonly kind: "folder";
  readonly path: string;
  readonly mode: number;
}

export interface KeptLink {
  readonly kind: "link";
  readonly path: string;
  /** As written in the link, as Latin-1. */
  readonly target: string;
}

export interface Manifest {
  readonly files: readonly KeptFile[];
  readonly folders: readonly KeptFolder[];
  readonly links: readonly KeptLink[];
}

export function writeManifest({ files, folders, links }: Manifest): Buffer {
  const byPath = <Entry extends { readonly path: string }>(entries: readonly Entry[]): readonly Entry[] =>
    entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const sorted = { version: 1, files: byPath(files), folders: byPath(folders), links: byPath(links) };
  return Buffer.from(JSON.stringify(sorted));
}

/** A path that stays inside the folder; checked again even for manifests that were sealed here. */
const pathShape: Shape<string> = (value, place) => {
  const path = textShape(value, place);
  const isFine = path?.split("/").every((name) => name !== "" && name !== "." && name !== "..");
  return isFine && !path?.includes("\0") ? path : undefined;
};

const kindShape =
  <Kind extends string>(kind: Kind): Shape<Kind> =>
  (value) =>
    value === kind ? kind : undefined;

const MANIFEST: Shape<Manifest> = recordShape<Manifest>({
  files: listShape(
    recordShape<KeptFile>({
      kind: kindShape("file"),
      path: pathShape,
      mode: countShape,
      modifiedAt: (value) => (typeof value === "number" ? value : undefined),
      size: countShape,
      parts: listShape(textShape),
    }),
  ),
  folders: listShape(
    recordShape<KeptFolder>({ kind: kindShape("folder"), path: pathShape, mode: countShape }),
  ),
  links: listShape(recordShape<KeptLink>({ kind: kindShape("link"), path: pathShape, target: textShape })),
});

export function readManifest(bytes: Buffer): Manifest {
  const manifest = fitShape(MANIFEST, JSON.parse(bytes.toString("utf8")));
  if (manifest === undefined) throw damagedSnapshot("this Metier does not know its format");
  return manifest;
}
