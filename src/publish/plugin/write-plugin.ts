/** Puts a plugin where it is asked for: as a folder, or as an archive with the same bytes on every machine. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeOwnedName, tryToRemove } from "../../host/owned-names.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import { replaceFile } from "../../host/write-atomic.ts";
import { SOURCE_LIMITS } from "../../install/source-limits.ts";
import { createTreeWriter } from "../../install/tree-writer.ts";
import { writeGzip } from "../archive/write-gzip.ts";
import { type TarEntry, writeTar } from "../archive/write-tar.ts";
import { type PublishRefusal, refusePublish } from "../publish-outcome.ts";

const ARCHIVE = /\.(?:tar\.gz|tgz)$/i;
const OTHER_ARCHIVE = /\.(?:zip|tar|tar\.\w+|7z|rar)$/i;
const MANIFEST = "plugin.json";

/** `entries` by path, below the plugin's root. Nothing when it is written. */
export function writePlugin(
  target: string,
  name: string,
  entries: readonly TarEntry[],
  force: boolean,
): PublishRefusal | undefined {
  if (ARCHIVE.test(target)) return writeArchive(target, name, entries);
  if (OTHER_ARCHIVE.test(target)) {
    return refusePublish(
      "publish.usage",
      `\`${basename(target)}\` would be an archive of a form that is not written.`,
      "Name a file that ends in `.tar.gz` or `.tgz`, or a folder.",
    );
  }
  return writeFolder(target, entries, force);
}

function writeArchive(
  target: string,
  name: string,
  entries: readonly TarEntry[],
): PublishRefusal | undefined {
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) {
    return refusePublish(
      "publish.taken",
      `\`${target}\` is a folder.`,
      "Choose another name for the archive.",
    );
  }
  mkdirSync(dirname(target), { recursive: true });
  const inFolder = entries.map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
  replaceFile(target, writeGzip(writeTar(inFolder)), { mode: 0o644 });
  return undefined;
}

/** Made beside its place and moved there as a whole. */
function writeFolder(
  target: string,
  entries: readonly TarEntry[],
  force: boolean,
): PublishRefusal | undefined {
  const isThere = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  const fault = isThere ? refuseReplacing(target, force) : undefined;
  if (fault !== undefined) return fault;
  mkdirSync(dirname(target), { recursive: true });
  const fresh = join(dirname(target), makeOwnedName({ prefix: `.${basename(target)}.` }));
  const aside = `${fresh}.old`;
  try {
    mkdirSync(fresh);
    const writer = createTreeWriter(fresh, SOURCE_LIMITS);
    for (const entry of entries) {
      if (entry.kind === "link") writer.addLink(entry.path, entry.target);
      else writer.addBytes(entry.path, entry.executable, entry.bytes);
    }
    writer.finish();
    if (isThere) renameSync(target, aside);
    renameSync(fresh, target);
  } finally {
    if (existsSync(aside) && !existsSync(target)) renameSync(aside, target);
    removeFolder(fresh);
    tryToRemove(aside);
  }
  return undefined;
}

/** An empty folder, or with `force` an older plugin. */
function refuseReplacing(target: string, force: boolean): PublishRefusal | undefined {
  const isFolder = lstatSync(target).isDirectory();
  if (isFolder && readdirSync(target).length === 0) return undefined;
  const isPlugin =
    isFolder && lstatSync(join(target, MANIFEST), { throwIfNoEntry: false })?.isFile() === true;
  if (isPlugin && force) return undefined;
  return refusePublish(
    "publish.taken",
    `\`${target}\` is there already${isPlugin ? "" : ", and is no plugin"}.`,
    isPlugin ? "`--force` replaces the plugin there." : "Choose another folder, or remove it first.",
  );
}
