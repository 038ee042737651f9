/**
 * A copy of a skill in a folder that nobody else writes to, without the traces of working on it and without secrets. What
 * is checked, scanned, identified and packed is this copy, so that all of them speak of the same bytes. Throws `RefusedTree`.
 * And the archive that is made of it: every byte follows from the paths in the order given, the bytes and whether they may be
 * executed, and from no time, owner or mode of the machine. What it writes, `src/install/archives` reads.
 */
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { listFiles, removeFolder, showPath } from "@metier/base/files";
import { realPathOr } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import type { SkillCandidate } from "@metier/skills";
import { RefusedTree, unsafe } from "../install/install-fault.ts";
import { copyFolder } from "../install/local/fetch-folder.ts";
import { SOURCE_LIMITS, type SourceLimits } from "../install/source-limits.ts";

export const SKILL_FILE = "SKILL.md";

/** A folder for staged skills that is gone afterwards. */
export async function withStage<Value>(use: (stage: string) => Promise<Value>): Promise<Value> {
  const stage = mkdtempSync(join(tmpdir(), "metier-publish-"));
  try {
    return await use(stage);
  } finally {
    removeFolder(stage);
  }
}

/** `place`: an empty folder for this skill alone; it gets a folder of the skill's own name, which is part of the check. */
export async function stageSkill(
  candidate: SkillCandidate,
  place: string,
): Promise<{
  readonly folder: string;
  readonly leftOut: readonly LeftOut[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const folder = join(place, candidate.defaultName);
  mkdirSync(folder, { recursive: true });
  const leftOut = new Map<string, string>();
  const leaveOut = (path: string, isFolder: boolean): boolean => {
    const reason = reasonToLeaveOut(path, isFolder);
    if (reason !== undefined) leftOut.set(isFolder ? `${path}/` : path, reason);
    return reason !== undefined;
  };
  const limits = PUBLISH_LIMITS;
  const diagnostics = await copyFolder(realPathOr(candidate.directory), folder, { limits, leaveOut });
  requireSkillFile(folder);
  const sorted = [...leftOut].sort(([a], [b]) => compareText(a, b));
  return { folder, leftOut: sorted.map(([path, reason]) => ({ path, reason })), diagnostics };
}

function requireSkillFile(folder: string): void {
  const found = lstatSync(join(folder, SKILL_FILE), { throwIfNoEntry: false });
  if (found?.isFile()) return;
  const how = found === undefined ? "Its skill file has another name" : "Its skill file is a link";
  throw unsafe(`${how}; other clients look for a plain file \`${SKILL_FILE}\`.`);
}

/** The staged files for an archive, by path. A link that leads to nothing that is published is refused. */
export function readStaged(folder: string): readonly TarEntry[] {
  const listing = listFiles(folder, PUBLISH_LIMITS.files * 4);
  if (!listing.ok) throw new RefusedTree("source.failed", `It cannot be listed: ${listing.detail}.`);
  return listing.files.map(({ path, kind }): TarEntry => {
    const file = join(folder, path);
    if (kind !== "link") {
      const executable = (lstatSync(file).mode & 0o111) !== 0;
      return { kind: "file", path, executable, bytes: readFileSync(file) };
    }
    const target = readlinkSync(file);
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return { kind: "link", path, target };
    throw unsafe(
      `${showPath(path)} is a link to ${showPath(target)}, and nothing of that name is published.`,
    );
  });
}

/** A file or folder of a skill that is not published. */
export interface LeftOut {
  /** Below the skill's folder, with `/`; a folder ends in one. */
  readonly path: string;
  /** What it is. */
  readonly reason: string;
}

const EXCLUSIONS: readonly {
  readonly reason: string;
  /** Names of folders, in any place. */
  readonly folders?: RegExp;
  /** Names of files and links, in any place. */
  readonly files?: RegExp;
  /** Names of folders directly in the skill. */
  readonly topFolders?: RegExp;
}[] = [
  { reason: "version control", folders: /^\.(?:git|hg|svn|jj|bzr)$/i, files: /^\.git$/i },
  {
    reason: "left by an editor or a system",
    folders: /^(?:\.idea|\.vscode|\.vs|\.fleet|__MACOSX)$/,
    files:
      /~$|^#.*#$|^\.#|^\..*\.sw[a-p]$|^\._|\.(?:bak|orig|rej|tmp)$|^(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.directory)$/i,
  },
  {
    reason: "made by tools, and made anew where it is needed",
    folders: /^(?:node_modules|__pycache__|\.venv|venv|\.(?:pytest|mypy|ruff)_cache|\.ipynb_checkpoints)$/,
    files: /\.py[co]$/i,
  },
  { reason: "evaluations and what they wrote", topFolders: /^evals$|(?:^|-)workspace$/ },
  {
    reason: "named like a secret",
    folders: /^\.(?:ssh|gnupg|aws|azure|kube)$/,
    files:
      /^\.env(?!\.(?:example|sample|template|dist)$)(?:\..*)?$|^\.(?:netrc|pypirc|pgpass|git-credentials|vault-token)$|^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:p12|pfx|jks|keystore|kdbx)$/i,
  },
];

/** Why the file or folder is left out; nothing for what is published. */
export function reasonToLeaveOut(path: string, isFolder: boolean): string | undefined {
  const segments = path.split("/");
  const name = segments.at(-1) ?? "";
  const isTop = segments.length === 1;
  return EXCLUSIONS.find(({ folders, files, topFolders }) =>
    isFolder ? folders?.test(name) || (isTop && topFolders?.test(name)) : files?.test(name),
  )?.reason;
}

const MOST_BYTES: number = 16 * 1024 * 1024;

const PUBLISH_LIMITS: SourceLimits = {
  ...SOURCE_LIMITS,
  files: 512,
  bytes: MOST_BYTES,
  fileBytes: MOST_BYTES,
};

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

/** `mem` is given because fflate would take it from a logarithm, which not every engine rounds alike. */
const SETTINGS = { level: 9, mem: 8, mtime: 0 } as const;

export async function writeGzip(content: Uint8Array): Promise<Buffer> {
  // The form for browsers, which looks for no worker threads when it is loaded.
  const { gzipSync } = await import("fflate/browser");
  return Buffer.from(gzipSync(content, SETTINGS));
}
