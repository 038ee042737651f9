/**
 * Puts the files of an index where they are served. Whoever reads meanwhile sees the old index or the new one, and finds
 * what it names: files are named by their content, new ones come first, and old ones go last.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../../foundation/diagnostic.ts";
import { replaceFile } from "../../host/write-atomic.ts";
import { digestBytes } from "../../trust/identify-file.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Artifact } from "./build-artifact.ts";
import { INDEX_FILE, PUBLIC_MODE, readRecord, stateOf, writeRecord } from "./published-record.ts";

export interface SiteContent {
  readonly index: string;
  readonly artifacts: readonly Artifact[];
}

export interface SiteOptions {
  /** Also replace what someone else has put there. */
  readonly force: boolean;
}

export type SiteOutcome =
  | {
      readonly ok: true;
      /** Files of an earlier time that are gone. */
      readonly removed: readonly string[];
      /** Files of an earlier time that someone has changed, and that stay. */
      readonly kept: readonly string[];
    }
  /** Files that are someone else's; nothing was written. */
  | { readonly ok: false; readonly taken: readonly string[] };

/** `folder` is the one that the index stands in. */
export function writeSite(
  folder: string,
  { index, artifacts }: SiteContent,
  options: SiteOptions,
): SiteOutcome {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const bytes = Buffer.from(index);
  const files = [
    ...artifacts.map(({ file, bytes, digest }) => ({ file, bytes, digest })),
    { file: INDEX_FILE, bytes, digest: digestBytes(bytes) },
  ];
  return withLock(join(folder, INDEX_FILE), (): SiteOutcome => {
    const before = readRecord(folder);
    const planned = files.map((each) => ({
      ...each,
      state: stateOf(folder, each.file, each.digest, before),
    }));
    const taken = planned.filter(({ state }) => state === "foreign").map(({ file }) => file);
    if (taken.length > 0 && !options.force) return { ok: false, taken };
    const after = new Map(files.map(({ file, digest }) => [file, digest]));
    // Until the old files are gone, both are ours: a publish that is cut off here is tidied by the next one.
    writeRecord(folder, new Map([...before, ...after]));
    for (const { file, bytes: content, state } of planned) {
      if (state !== "same") replaceFile(join(folder, file), content, { mode: PUBLIC_MODE });
    }
    const stale = [...before].filter(([file]) => !after.has(file));
    const removable = stale.filter(([file, digest]) => stateOf(folder, file, digest, before) === "same");
    for (const [file] of removable) rmSync(join(folder, file), { force: true });
    const kept = stale.filter(([file, digest]) => stateOf(folder, file, digest, before) === "foreign");
    writeRecord(folder, after);
    const names = (list: readonly (readonly [string, string])[]): readonly string[] =>
      list.map(([file]) => file).sort(compareText);
    return { ok: true, removed: names(removable), kept: names(kept) };
  });
}
