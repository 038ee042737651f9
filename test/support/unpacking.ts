/** Unpacks archives beside a folder that must stay as it is, and tells why one is refused. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RefusedTree, SOURCE_LIMITS, type SourceLimits, unpackArchive } from "@metier/install";
import { expect } from "vitest";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface Unpacked {
  readonly folder: string;
  read(path: string): string;
}

/** Unpacks into a folder with a neighbour, which must stay as it is. */
export async function unpack(bytes: Buffer, limits: Partial<SourceLimits> = {}): Promise<Unpacked> {
  const outside = temporaryFolder();
  writeTree(outside, { "neighbour/keep.txt": "kept" });
  const into = join(outside, "into");
  mkdirSync(into);
  try {
    const { folder } = await unpackArchive(bytes, into, { limits: { ...SOURCE_LIMITS, ...limits } });
    return { folder, read: (path) => readFileSync(join(folder, path), "utf8") };
  } finally {
    expect(readdirSync(outside).sort()).toEqual(["into", "neighbour"]);
    expect(readdirSync(join(outside, "neighbour"))).toEqual(["keep.txt"]);
    expect(readFileSync(join(outside, "neighbour", "keep.txt"), "utf8")).toBe("kept");
  }
}

export async function refusal(bytes: Buffer, limits: Partial<SourceLimits> = {}): Promise<string> {
  try {
    await unpack(bytes, limits);
  } catch (fault) {
    if (fault instanceof RefusedTree) return `${fault.code}: ${fault.message}`;
    throw fault;
  }
  return "nothing was refused";
}
