/**
 * Identifies a folder with C code (`native/identify-folder.h`), which takes a third of the time: installing, verifying and
 * using skills read many small files. It knows only what is usual; the rest, and why something is refused, is JavaScript's.
 */
import { nativeCode } from "@metier/base/files";
import type { StampedFile } from "./content-identity.ts";
import type { IdentityLimits } from "./list-content.ts";

/** What `native/addon.c` exports where the build made it. */
interface NativeIdentifier {
  /** `undefined`: something is unusual. */
  identifyFolder?(folder: string, entries: number, bytes: number): string | undefined;
}

/** Sorted by path. `undefined`: the folder must be read in another way. */
export function identifyNatively(
  folder: string,
  { entries, bytes }: IdentityLimits,
): readonly StampedFile[] | undefined {
  const native = nativeCode() as NativeIdentifier | undefined;
  const lines = folder.includes("\0") ? undefined : native?.identifyFolder?.(folder, entries, bytes);
  if (lines === undefined) return undefined;
  // Names are ASCII, so this is the order of their bytes.
  return lines
    .split("\n")
    .slice(0, -1)
    .map(readLine)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function readLine(line: string): StampedFile {
  const [stamp = "", digest = "", path = ""] = line.split("\t");
  const [, , mode, size] = stamp.split(":");
  const executable = (Number(mode) & 0o111) !== 0;
  return { path, kind: "file", size: Number(size), executable, digest: `sha256:${digest}`, stamp };
}
