/**
 * Reads the Markdown files of agents and custom commands: finds them, reads them through the path gate within limits,
 * parses them, decides their trust, and resolves name clashes. It knows none of their fields.
 */
import { isUtf8 } from "node:buffer";
import { readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { compareDiagnostics, type Diagnostic } from "@metier/base/diagnostic";
import {
  type ContainedFault,
  type ContainedFile,
  listFiles,
  openContained,
  withContained,
} from "@metier/base/files";
import { isOwnFolder, realPathOr } from "@metier/base/places";
import { cleanText, compareText } from "@metier/base/text";
import {
  candidateForFile,
  leavesProject,
  type ParsedSkill,
  parseSkill,
  type SkillRoot,
  type TrustDecision,
} from "@metier/skills";
import {
  decideTrust,
  type Embedding,
  type FolderGrant,
  resolveTrustedPaths,
  type TrustRoot,
} from "@metier/skills/trust";

export interface DefinitionSources {
  /** The skills folders in use (`metier.roots`); definitions are next to them. */
  readonly roots: readonly SkillRoot[];
  readonly embedding: Embedding;
  readonly folderGrants: readonly FolderGrant[];
  /** As configured. */
  readonly trustedPaths: readonly string[];
}

export interface DefinitionFile {
  readonly root: SkillRoot;
  /** Relative to the folder, with `/` between segments. */
  readonly path: string;
  /** Its body without invisible characters. */
  readonly parsed: ParsedSkill;
  readonly trust: TrustDecision;
}

const MAX_ENTRIES = 2_000;
const MAX_FILE_BYTES = 256 * 1024;

/** Unreadable folders and files become diagnostics; problems inside a file are in `parsed`. */
async function readDefinitions(
  kind: DefinitionKind,
  sources: DefinitionSources,
  diagnostics: Diagnostic[],
): Promise<readonly DefinitionFile[]> {
  const folders = definitionFolders(kind, sources.roots, diagnostics);
  const files: DefinitionFile[] = [];
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
  return files;
}

/** An agent is a file in the folder itself; deeper files are its material. A command can be at any depth. */
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
  const code = listing.fault === "too-many" ? "scan.entry-limit" : "source.unreadable";
  const message = `\`${root.path}\` cannot be listed: ${listing.detail}. Nothing in it is read.`;
  const hint = "Keep only readable files with UTF-8 names in it.";
  diagnostics.push({ code, severity: "error", path: listing.path, message, hint });
  return [];
}

type FileText = { readonly text: string; readonly notUtf8: boolean } | ContainedFault;

/** A link may lead into any folder of this kind, and nowhere else. */
function readText(
  { realPath }: DefinitionFolder,
  path: string,
  folders: readonly DefinitionFolder[],
): FileText {
  const allowed = folders.map((folder) => folder.realPath);
  return withContained(openContained(realPath, path, allowed), readOpened);
}

function readOpened({ descriptor, stats, realPath }: ContainedFile): FileText {
  if (stats.size > MAX_FILE_BYTES) {
    const message = `\`${realPath}\` has ${stats.size} bytes; the limit is ${MAX_FILE_BYTES}.`;
    return { ok: false, reason: "too-large", message };
  }
  const buffer = Buffer.alloc(Number(stats.size));
  const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  return { text: bytes.toString("utf8"), notUtf8: !isUtf8(bytes) };
}

function cleanBody(parsed: ParsedSkill): ParsedSkill {
  const { text, removed } = cleanText(parsed.body);
  if (removed === undefined) return parsed;
  const { count, example } = removed;
  const message = `Removed ${count} invisible characters from the text, ${example} first.`;
  const hint = "Open the file in an editor that shows invisible characters, and delete them.";
  const about = {
    code: "disclosure.text-removed",
    severity: "warning",
    path: parsed.candidate.file,
  } as const;
  return { ...parsed, body: text, diagnostics: [...parsed.diagnostics, { ...about, message, hint }] };
}

function trustDecider(
  folders: readonly DefinitionFolder[],
  { embedding, folderGrants, trustedPaths }: DefinitionSources,
): (folder: DefinitionFolder, path: string) => TrustDecision {
  const roots = new Map(folders.map((folder) => [folder, trustRoot(folder)]));
  // A trusted path that doesn't exist was already reported for the skills.
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
  const code = UNREAD_CODES[reason] ?? "file.unreadable";
  const hint = reason === "outside" ? "Copy the file there instead of linking to it." : undefined;
  return { code, severity: "error", path, message: `Skipped: ${message}`, hint };
}

const UNREAD_CODES: Readonly<Partial<Record<ContainedFault["reason"], Diagnostic["code"]>>> = {
  outside: "link.escapes",
  missing: "link.dangling",
  "too-large": "file.too-large",
};

function reportEncoding(path: string): Diagnostic {
  const message = "The file is not UTF-8; unreadable bytes were replaced.";
  return { code: "file.not-utf8", severity: "warning", path, message, hint: "Save it as UTF-8." };
}

type DefinitionKind = "agents" | "commands";

interface DefinitionFolder {
  readonly root: SkillRoot;
  readonly realPath: string;
}

/**
 * Next to the skills folders: `.metier/skills` has `.metier/agents` and `.metier/commands` next to it, with the same
 * rank and trust rules. A missing folder isn't an error.
 */
function definitionFolders(
  kind: DefinitionKind,
  skillRoots: readonly SkillRoot[],
  diagnostics: Diagnostic[],
): readonly DefinitionFolder[] {
  const folders: DefinitionFolder[] = [];
  for (const skillRoot of skillRoots.filter(isInDotFolder)) {
    const root = rootBeside(skillRoot, kind);
    if (!isFolder(root.path)) continue;
    const realPath = realPathOr(root.path);
    if (root.scope === "project" && !isOwnFolder(root.path)) diagnostics.push(reportForeign(root.path));
    else if (leavesProject(root, realPath)) diagnostics.push(reportEscape(root.path, realPath));
    else folders.push({ root, realPath });
  }
  return folders;
}

/** A project's plain `skills` folder says nothing about an `agents` folder next to it. */
function isInDotFolder({ scope, path }: SkillRoot): boolean {
  return (scope === "user" || scope === "project") && basename(dirname(path)).startsWith(".");
}

function rootBeside(root: SkillRoot, kind: DefinitionKind): SkillRoot {
  const path = join(dirname(root.path), kind);
  return { ...root, path, grantFolder: root.scope === "project" ? root.grantFolder : path };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing or inaccessible: there is nothing to read either way.
  }
}

function reportForeign(path: string): Diagnostic {
  const message = `\`${path}\` belongs to another user, so it is not read.`;
  const hint = "Change its owner to yourself if you want to use it.";
  return { code: "source.foreign-owner", severity: "warning", path, message, hint };
}

function reportEscape(path: string, realPath: string): Diagnostic {
  const message = `\`${path}\` links out of the project, to \`${realPath}\`, so it is not read.`;
  const hint = "Put the folder itself there instead of a link.";
  return { code: "link.escapes", severity: "error", path, message, hint };
}

/** What agents and commands share, whatever their fields. */
interface Located {
  readonly name: string;
  readonly scope: SkillRoot["scope"];
  /** The file; `""` for one from the embedding program. */
  readonly location: string;
  readonly trust: TrustDecision;
}

/** Built from a file or an object; there is no definition if it can't be used. */
export interface Built<Definition> {
  readonly definition?: Definition | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

interface Ranked<Definition> {
  readonly rank: number;
  readonly definition: Definition;
}

interface LoadedDefinitions<Definition> {
  /** By name, sorted; if several share a name, the one that wins. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Below every file, as integrations rank below user and project skills. */
const GIVEN_RANK = 0;

/** Loads all of one kind. `build` knows a file's fields; `given` come from the embedding program. */
export async function loadDefinitions<Definition extends Located>(
  kind: DefinitionKind,
  sources: DefinitionSources,
  build: (file: DefinitionFile) => Built<Definition>,
  given: readonly Built<Definition>[] = [],
): Promise<LoadedDefinitions<Definition>> {
  const diagnostics: Diagnostic[] = [];
  const files = await readDefinitions(kind, sources, diagnostics);
  const built = [
    ...files.map((file) => ({ ...build(file), rank: file.root.rank })),
    ...given.map((object) => ({ ...object, rank: GIVEN_RANK })),
  ];
  const usable = built.flatMap(({ definition, rank }) => (definition ? [{ definition, rank }] : []));
  diagnostics.push(...built.flatMap((each) => each.diagnostics));
  const definitions = resolveDefinitions(kind === "agents" ? "agent" : "command", usable, diagnostics);
  return { definitions, diagnostics: diagnostics.sort(compareDiagnostics) };
}

/**
 * Which of several agents or commands with the same name wins: the highest rank, but never an untrusted one over a
 * trusted one.
 */
function resolveDefinitions<Definition extends Located>(
  word: "agent" | "command",
  ranked: readonly Ranked<Definition>[],
  diagnostics: Diagnostic[],
): ReadonlyMap<string, Definition> {
  const winners = new Map<string, Ranked<Definition>>();
  for (const each of ranked.toSorted(compareRanked)) {
    const { name } = each.definition;
    const winner = winners.get(name);
    if (winner === undefined) winners.set(name, each);
    else diagnostics.push(reportLoser(word, each, winner));
  }
  const sorted = [...winners].sort(([a], [b]) => compareText(a, b));
  return new Map(sorted.map(([name, { definition }]) => [name, definition]));
}

function compareRanked(a: Ranked<Located>, b: Ranked<Located>): number {
  const isTrusted = ({ definition }: Ranked<Located>) => Number(definition.trust.level === "trusted");
  return (
    isTrusted(b) - isTrusted(a) ||
    b.rank - a.rank ||
    compareText(a.definition.location, b.definition.location)
  );
}

function reportLoser(word: string, loser: Ranked<Located>, winner: Ranked<Located>): Diagnostic {
  const { name, location, trust } = loser.definition;
  const other = winner.definition.location
    ? `\`${winner.definition.location}\``
    : "one from the embedding program";
  const path = location || `${word}:${name}`;
  const named = `The ${word} \`${name}\``;
  if (loser.rank > winner.rank) {
    const message = `${named} is untrusted, so it does not replace the trusted one, ${other}.`;
    const hint = trust.reason;
    return { code: "definition.untrusted-shadow", severity: "warning", path, message, hint };
  }
  if (loser.rank === winner.rank) {
    const message = `${named} is defined twice; ${other} is used.`;
    return { code: "definition.conflict", severity: "warning", path, message, hint: "Rename one of them." };
  }
  return {
    code: "definition.shadowed",
    severity: "info",
    path,
    message: `${named} is replaced by ${other}.`,
  };
}
