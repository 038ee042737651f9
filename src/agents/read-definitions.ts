/**
 * The Markdown files of agents and custom commands: found, read through the path gate within bounds, taken apart and
 * given their trust. Knows no field of them.
 */
import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import { join } from "node:path";
import { cleanText } from "../disclose/clean-text.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { listFiles } from "../host/list-files.ts";
import {
  type ContainedFault,
  type ContainedFile,
  openContained,
  withContained,
} from "../host/open-contained.ts";
import { realPathOr } from "../host/project-folders.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { ParsedSkill, TrustDecision } from "../skill/skill.ts";
import { candidateForFile } from "../sources/candidate.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import { decideTrust, type Embedding, type TrustRoot } from "../trust/decide-trust.ts";
import type { FolderGrant } from "../trust/grants.ts";
import { resolveTrustedPaths } from "../trust/trusted-paths.ts";
import { type DefinitionFolder, type DefinitionKind, definitionFolders } from "./definition-folders.ts";

export interface DefinitionSources {
  /** The skills folders in use (`metier.roots`): what is read stands beside them. */
  readonly roots: readonly SkillRoot[];
  readonly embedding: Embedding;
  readonly folderGrants: readonly FolderGrant[];
  /** As configured. */
  readonly trustedPaths: readonly string[];
}

export interface DefinitionFile {
  readonly root: SkillRoot;
  /** Below the folder, with `/` between segments. */
  readonly path: string;
  /** Its body without characters that cannot be seen. */
  readonly parsed: ParsedSkill;
  readonly trust: TrustDecision;
}

export interface Definitions {
  readonly files: readonly DefinitionFile[];
  /** Of folders and of files that could not be read; what is wrong inside a file is in `parsed`. */
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_ENTRIES = 2_000;
const MAX_FILE_BYTES = 256 * 1024;

export async function readDefinitions(
  kind: DefinitionKind,
  sources: DefinitionSources,
): Promise<Definitions> {
  const { folders, diagnostics: found } = definitionFolders(kind, sources.roots);
  const files: DefinitionFile[] = [];
  const diagnostics = [...found];
  const decide = trustDecider(folders, sources);
  for (const folder of folders) {
    for (const path of listMarkdown(folder, kind, diagnostics)) {
      const file = join(folder.root.path, path);
      const read = readText(folder, path, folders);
      if (!("text" in read)) {
        diagnostics.push(reportUnread(file, read));
        continue;
      }
      if (read.notUtf8) diagnostics.push(reportEncoding(file));
      const parsed = cleanBody(await parseSkill(candidateForFile(file, "markdown"), read.text));
      files.push({ root: folder.root, path, parsed, trust: decide(folder, path) });
    }
  }
  return { files, diagnostics };
}

/** An agent is a file of the folder itself; deeper ones are its material. A command may stand at any depth. */
function listMarkdown(
  { root, realPath }: DefinitionFolder,
  kind: DefinitionKind,
  diagnostics: Diagnostic[],
): readonly string[] {
  const listing = listFiles(realPath, MAX_ENTRIES);
  if (listing.ok) {
    const wanted = kind === "agents" ? /^[^/]+\.md$/i : /\.md$/i;
    return listing.files.map(({ path }) => path).filter((path) => wanted.test(path));
  }
  diagnostics.push({
    code: listing.fault === "too-many" ? "scan.entry-limit" : "source.unreadable",
    severity: "error",
    path: listing.path,
    message: `\`${root.path}\` cannot be listed: ${listing.detail}. Nothing in it is read.`,
    hint: "Keep only such files in it, readable and with names in UTF-8.",
  });
  return [];
}

interface FileText {
  readonly text: string;
  readonly notUtf8: boolean;
}

/** A link may lead into any of the folders of this kind, and nowhere else. */
function readText(
  { realPath }: DefinitionFolder,
  path: string,
  folders: readonly DefinitionFolder[],
): FileText | ContainedFault {
  const opened = openContained(
    realPath,
    path,
    folders.map((folder) => folder.realPath),
  );
  return withContained(opened, readOpened);
}

function readOpened({ descriptor, stats, realPath }: ContainedFile): FileText | ContainedFault {
  if (stats.size > MAX_FILE_BYTES) {
    const message = `\`${realPath}\` has ${stats.size} bytes; at most ${MAX_FILE_BYTES} are read.`;
    return { ok: false, reason: "too-large", message };
  }
  const buffer = Buffer.alloc(Number(stats.size));
  const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  return { text: bytes.toString("utf8"), notUtf8: !isUtf8(bytes) };
}

function cleanBody(parsed: ParsedSkill): ParsedSkill {
  const { text, removed } = cleanText(parsed.body);
  if (removed === undefined) return parsed;
  const diagnostic: Diagnostic = {
    code: "disclosure.text-removed",
    severity: "warning",
    path: parsed.candidate.file,
    message: `Characters that cannot be seen were removed from the text: ${removed.count}, ${removed.example} first.`,
    hint: "Look at the file in an editor that shows invisible characters, and delete them.",
  };
  return { ...parsed, body: text, diagnostics: [...parsed.diagnostics, diagnostic] };
}

function trustDecider(
  folders: readonly DefinitionFolder[],
  { embedding, folderGrants, trustedPaths }: DefinitionSources,
): (folder: DefinitionFolder, path: string) => TrustDecision {
  const roots = new Map(folders.map((folder) => [folder, trustRoot(folder)]));
  // A trusted path that does not exist was reported for the skills already.
  const { paths } = resolveTrustedPaths(trustedPaths);
  return (folder, path) =>
    decideTrust({
      name: path,
      scope: folder.root.scope,
      root: roots.get(folder) ?? trustRoot(folder),
      realPath: realPathOr(join(folder.realPath, path)),
      knownRoots: [...roots.values()],
      embedding,
      folderGrants,
      trustedPaths: paths,
    });
}

function trustRoot({ root, realPath }: DefinitionFolder): TrustRoot {
  const { kind, path, grantFolder } = root;
  return { kind, realPath, grantFolder: realPathOr(grantFolder), isLink: realPath !== path };
}

function reportUnread(path: string, { reason, message }: ContainedFault): Diagnostic {
  const code =
    reason === "outside"
      ? "link.escapes"
      : reason === "missing"
        ? "link.dangling"
        : reason === "too-large"
          ? "file.too-large"
          : "file.unreadable";
  const hint = reason === "outside" ? "Copy the file there instead of linking to it." : undefined;
  return { code, severity: "error", path, message: `It is left out: ${message}`, ...(hint && { hint }) };
}

function reportEncoding(path: string): Diagnostic {
  return {
    code: "file.not-utf8",
    severity: "warning",
    path,
    message: "The file is not UTF-8; what could not be read was replaced.",
    hint: "Save it as UTF-8.",
  };
}
