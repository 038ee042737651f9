/** `@path` in a message adds that file's text. Only files in the working directory, and only up to a size limit. */

import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { openContained, withContained } from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { isSecretName } from "@metier/sandbox";

const MAX_FILE_BYTES = 256 * 1024;
const MAX_ALL_BYTES = 1024 * 1024;
const MENTION = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;

interface ExpandedMessage {
  readonly text: string;
  /** Paths whose text was added. */
  readonly added: readonly string[];
  /** One sentence for each file that was not added. */
  readonly notes: readonly string[];
}

/** An `@word` that names no file stays as it is: it may be a person or an address. */
export function addFiles(message: string, cwd: string): ExpandedMessage {
  const parts = [message];
  const added: string[] = [];
  const notes: string[] = [];
  let bytes = 0;
  const paths = new Set(
    [...message.matchAll(MENTION)].map(([, quoted, plain = ""]) => quoted ?? trimPath(plain)),
  );
  for (const path of paths) {
    const read = readText(path, cwd, Math.min(MAX_FILE_BYTES, MAX_ALL_BYTES - bytes));
    if (typeof read.text === "string") {
      bytes += Buffer.byteLength(read.text);
      added.push(path);
      parts.push(fence(path, read.text));
    } else if (read.why !== undefined) notes.push(`\`@${path}\` was not added: ${read.why}`);
  }
  return { text: parts.join("\n\n"), added, notes };
}

/** The period at the end of a sentence isn't part of the path. */
function trimPath(path: string): string {
  return path.replace(/[.,;:!?)\]]+$/, "") || path;
}

function isFolder(path: string, cwd: string): boolean {
  const location = resolve(cwd, path);
  return isInside(location, cwd) && statSync(location, { throwIfNoEntry: false })?.isDirectory() === true;
}

interface ReadText {
  readonly text?: string;
  /** Absent if the file doesn't exist. */
  readonly why?: string;
}

function readText(path: string, cwd: string, most: number): ReadText {
  const looksLikePath = /[/.]/.test(path);
  // Checks both names, since a link may lead to it. No run sees such a file, so it must not reach a model by accident.
  if ([path, realPathOr(resolve(cwd, path))].some((name) => isSecretName(basename(name)))) {
    return { why: "files with this name hold secrets. Paste what the model may see." };
  }
  const result = withContained(
    openContained(realPathOr(cwd), path.replace(/^\.\//, "")),
    (file): ReadText => {
      const size = Number(file.stats.size);
      if (size > most) return { why: `it has ${size} bytes; the limit here is ${most} bytes.` };
      const content = readFileSync(file.descriptor);
      return isUtf8(content) ? { text: content.toString("utf8") } : { why: "it is not UTF-8 text." };
    },
  );
  if (!("ok" in result)) return result;
  if (isFolder(path, cwd)) return { why: "it is a folder. Name a file in it." };
  if (result.reason === "missing") return looksLikePath ? { why: "no such file in this folder." } : {};
  if (result.reason === "not-a-file") return { why: "it is not a regular file." };
  if (!looksLikePath) return {};
  const isElsewhere = result.reason === "outside" || result.reason === "invalid";
  return { why: isElsewhere ? "it is not in this folder. Start the chat where it is." : result.message };
}

/** Between markers that don't occur in the text. */
function fence(path: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const mark = "`".repeat(longest + 1);
  return `File \`${path}\`:\n${mark}\n${text.replace(/\n$/, "")}\n${mark}`;
}
