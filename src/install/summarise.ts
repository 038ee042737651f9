/**
 * What a skill is, before anyone installs it: how much, what in it can run, what it asks for, and what the scan says.
 * Facts for the person who decides; nothing here decides, and nothing is executed.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { readBounded } from "../host/read-bounded.ts";
import { findCommands } from "../parse/find-commands.ts";
import { languageOf, signatureOf } from "../scan/file-kind.ts";
import type { Finding } from "../scan/finding.ts";
import type { SkippedPart } from "../scan/scan-limits.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { IdentifiedFile } from "../trust/identify-file.ts";
import type { ScanOutcome } from "./scan-fetched.ts";

export interface SummarySubject {
  readonly manifest: SkillManifest;
  /** Of the skill inside its source; `""` is its root. */
  readonly path: string;
  /** Where it lies now. */
  readonly directory: string;
  readonly digest: string;
  readonly files: readonly IdentifiedFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Lists are empty where the skill has or asks for nothing of the kind. */
export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly license?: string;
  readonly path: string;
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  /** Files that can run, by what runs them: `python`, `shell`, … */
  readonly scripts: readonly ScriptGroup[];
  /** Tools that it wants to use without a question. */
  readonly allowedTools: readonly string[];
  readonly requiredTools: readonly string[];
  readonly env: readonly string[];
  readonly network: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Debian packages. */
  readonly packages: readonly string[];
  /** Files that name Python or Node packages. */
  readonly dependencies: readonly string[];
  readonly capabilities: readonly string[];
  readonly toolsets: readonly string[];
  /** Events at which it wants commands of its own to run. */
  readonly hooks: readonly string[];
  /** Commands in its text, which run before the text is read. */
  readonly commands: readonly string[];
  /** Files that configure MCP servers. */
  readonly mcp: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly findings: readonly Finding[];
  /** What the scan did not look at, or not wholly. */
  readonly unscanned: readonly SkippedPart[];
}

export interface ScriptGroup {
  readonly language: string;
  readonly paths: readonly string[];
}

export function summariseSkill(subject: SummarySubject, scan: ScanOutcome): SkillSummary {
  const { manifest, path, directory, digest, files, diagnostics } = subject;
  const { name, description, version, license, sandbox } = manifest;
  return {
    name,
    description,
    ...(version !== undefined && { version }),
    ...(license !== undefined && { license }),
    path,
    digest,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    scripts: groupScripts(directory, files),
    allowedTools: manifest.allowedTools ?? [],
    requiredTools: manifest.requiredTools,
    env: [...new Set([...manifest.env, ...manifest.requires.env])],
    network: sandbox?.network ?? [],
    reads: sandbox?.read ?? [],
    writes: sandbox?.write ?? [],
    packages: manifest.packages,
    dependencies: pathsNamed(files, DEPENDENCY_FILES),
    capabilities: manifest.capabilities,
    toolsets: manifest.toolsets,
    hooks: Object.keys(manifest.hooks ?? {}),
    commands: commandsOf(directory),
    mcp: pathsNamed(files, MCP_FILES),
    diagnostics,
    findings: scan.findings,
    unscanned: scan.unscanned,
  };
}

const DEPENDENCY_FILES = new Set([
  "requirements.txt",
  "pyproject.toml",
  "package.json",
  "package-lock.json",
  "uv.lock",
]);
const MCP_FILES = new Set([".mcp.json", "mcp.json"]);

function pathsNamed(files: readonly IdentifiedFile[], names: ReadonlySet<string>): readonly string[] {
  return files.map(({ path }) => path).filter((path) => names.has(path.slice(path.lastIndexOf("/") + 1)));
}

function groupScripts(directory: string, files: readonly IdentifiedFile[]): readonly ScriptGroup[] {
  const programs = files.filter(({ kind }) => kind === "file");
  const groups = Map.groupBy(programs, (file) => languageIn(directory, file));
  return [...groups].flatMap(([language, group]) =>
    language === undefined ? [] : [{ language, paths: group.map(({ path }) => path) }],
  );
}

const PROGRAMS: ReadonlySet<string> = new Set(["executable", "bytecode", "wasm"]);
const SHEBANG = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(?:\S*\/)?([\w.+-]+)/;

/** What runs it; `undefined` for what nobody runs. */
function languageIn(directory: string, { path, executable }: IdentifiedFile): string | undefined {
  const head = readHead(join(directory, path));
  const text = head.toString("latin1");
  const binary = signatureOf(head);
  if (binary && PROGRAMS.has(binary.kind)) return "binary";
  return languageOf(path, text) ?? SHEBANG.exec(text)?.[1] ?? (executable ? "executable" : undefined);
}

const HEAD_BYTES = 256;

function readHead(file: string): Buffer {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const descriptor = openSync(file, flags);
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

const MAX_TEXT_BYTES = 4 * 1024 * 1024;

function commandsOf(directory: string): readonly string[] {
  const read = readBounded(join(directory, "SKILL.md"), MAX_TEXT_BYTES);
  if (!read.ok) return [];
  return findCommands(read.text).flatMap((piece) => (piece.kind === "command" ? [piece.command] : []));
}
