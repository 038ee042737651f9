/**
 * The review before installing: every planned skill is scanned and described (its size, what in it can run, what it
 * asks for) without executing any of it, and the user decides. Blocking findings are always refused.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { decodeBytes, readBounded } from "@metier/base/files";
import { type Finding, languageOf, type SkippedPart, signatureOf } from "@metier/scan";
import { blockingFindings } from "@metier/scan/engine";
import { findCommands, SKILL_FILE } from "@metier/skills";
import type { IdentifiedFile } from "@metier/skills/trust";
import type { PlannedSkill, ValidSkill } from "./plan-skill.ts";
import {
  type FailedSkill,
  type InstallDecisions,
  type InstallParts,
  type InstallRequest,
  type InstallReview,
  needsReview,
  type ReviewedSkill,
  type SkillFinding,
  type SkippedSkill,
} from "./requests.ts";
import type { FetchedScan, FetchedScans } from "./scan-fetched.ts";

interface ReviewContext extends Pick<InstallReview, "source" | "resolved"> {
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
  readonly scans: FetchedScans;
}

interface ReviewOutcome {
  readonly agreed: readonly PlannedSkill[];
  readonly skipped: readonly SkippedSkill[];
  readonly findings: readonly SkillFinding[];
}

type Looked = { readonly plan: PlannedSkill; readonly shown: ReviewedSkill };

export async function reviewSkills(
  planned: readonly PlannedSkill[],
  context: ReviewContext,
): Promise<ReviewOutcome> {
  const { request, parts, scans } = context;
  const folders = planned.map(({ skill: { directory, digest }, called }) => ({ directory, called, digest }));
  const summaries = planned.map(({ skill }) => describeSkill(skill)); // Another core may be scanning in the meantime.
  const tell = (done: number, total: number): void => request.onProgress?.({ what: "Scanning", done, total });
  const scanned = planned.length === 0 ? [] : await scans.of(folders, tell);
  const looked = planned.flatMap((plan, index): readonly Looked[] => {
    const { called, replaces } = plan;
    const [summary, scan] = [summaries[index], scanned[index]];
    return summary && scan ? [{ plan, shown: { ...summary, ...scan, called, replaces } }] : [];
  });
  const findings = looked.flatMap(({ shown }) =>
    shown.findings.map((finding) => ({ skill: shown.called, ...finding })),
  );
  const open: Looked[] = [];
  const blocked: SkippedSkill[] = [];
  for (const one of looked) {
    const blocking = blockingFindings(one.shown.findings, parts.scan);
    if (blocking.length === 0) open.push(one);
    else blocked.push(refuseBlocked(one.shown.called, blocking));
  }
  const answered = await ask(open, context);
  return { ...answered, findings, skipped: [...blocked, ...answered.skipped] };
}

async function ask(
  looked: readonly Looked[],
  { request, decisions, source, resolved }: ReviewContext,
): Promise<Pick<ReviewOutcome, "agreed" | "skipped">> {
  const all = { agreed: looked.map(({ plan }) => plan), skipped: [] };
  if (looked.length === 0) return all;
  const review: InstallReview = { source, resolved, skills: looked.map(({ shown }) => shown) };
  request.onReview?.(review);
  if (request.dryRun) return all;
  if (decisions.review) {
    const isAgreed = await decisions.review(review);
    if (isAgreed) return all;
    const declined = { code: "install.declined", reason: "Skipped." } as const;
    return { agreed: [], skipped: looked.map(({ shown }) => ({ name: shown.called, ...declined })) };
  }
  if (request.yes) return all;
  const doubtful = looked.filter(({ shown }) => needsReview(shown.findings));
  return {
    agreed: looked.filter((entry) => !doubtful.includes(entry)).map(({ plan }) => plan),
    skipped: doubtful.map(({ shown }) => refuseUnreviewed(shown)),
  };
}

function refuseUnreviewed({ called, findings }: ReviewedSkill): SkippedSkill {
  const ids = [...new Set(findings.filter((finding) => needsReview([finding])).map(({ id }) => `\`${id}\``))];
  return {
    name: called,
    code: "install.unreviewed",
    reason: `The scan found ${ids.join(", ")}, and there is no terminal to ask in, so nothing was installed.`,
    hint: "Review the findings, then pass `--yes`, or run the command in a terminal.",
  };
}

/** `findings` are the blocking ones. */
export function refuseBlocked(name: string, findings: readonly Finding[]): FailedSkill {
  const ids = [...new Set(findings.map(({ id }) => `\`${id}\``))].join(", ");
  return {
    name,
    code: "install.blocked",
    reason: `The scan found a danger that \`--yes\` and \`--force\` don't override: ${ids}.`,
    hint: "See the rules with `metier scan --rules`. If the finding is harmless, accept it with `--write-baseline FILE`, then pass `--baseline FILE` or name the file in `scan.baseline`.",
  };
}

/** Lists are empty if the skill has or asks for nothing of that kind. */
export interface SkillSummary {
  /** The skill's own name, which may differ from its name here. */
  readonly name: string;
  /** From its manifest. */
  readonly description: string;
  /** From its manifest. Absent: none. */
  readonly version?: string | undefined;
  /** From its manifest. Absent: none. */
  readonly license?: string | undefined;
  /** Inside the source, with `/` between segments; `""` is its root. */
  readonly path: string;
  /** Content identity, `sha256:…`. */
  readonly digest: string;
  /** Number of files. */
  readonly files: number;
  /** Size of all files together. */
  readonly bytes: number;
  /** Files that can run, by what runs them: `python`, `shell`, … */
  readonly scripts: readonly ScriptGroup[];
  /** Tools it wants to use without asking. */
  readonly allowedTools: readonly string[];
  /** Tools that must exist before a run starts. */
  readonly requiredTools: readonly string[];
  /** Environment variables it receives or requires. */
  readonly env: readonly string[];
  /** Domains a run wants to reach. */
  readonly network: readonly string[];
  /** Paths a run wants to read. */
  readonly reads: readonly string[];
  /** Paths a run wants to write. */
  readonly writes: readonly string[];
  /** Debian packages. */
  readonly packages: readonly string[];
  /** Files that name Python or Node packages. */
  readonly dependencies: readonly string[];
  /** Capabilities it wants to use, each as `namespace.name`. */
  readonly capabilities: readonly string[];
  /** Tools it ships as code, each as `path/module:ExportName`. */
  readonly toolsets: readonly string[];
  /** Events at which it wants to run its own commands. */
  readonly hooks: readonly string[];
  /** Commands in its text, which run before the text is read. */
  readonly commands: readonly string[];
  /** Files that configure MCP servers. */
  readonly mcp: readonly string[];
  /** What validation says about its files. */
  readonly diagnostics: readonly Diagnostic[];
  /** The scan's findings, without what the scan policy accepts. */
  readonly findings: readonly Finding[];
  /** What the scan did not check, or only in part. */
  readonly unscanned: readonly SkippedPart[];
}

/** Files of a skill that the same program runs. */
export interface ScriptGroup {
  /** What runs them: a language, an interpreter, `binary` or `executable`. */
  readonly language: string;
  /** In the skill's folder, with `/` between segments. */
  readonly paths: readonly string[];
}

export function summariseSkill(skill: ValidSkill, scan: FetchedScan): SkillSummary {
  return { ...describeSkill(skill), ...scan };
}

/** Everything except the scan's result. */
function describeSkill(skill: ValidSkill): Omit<SkillSummary, keyof FetchedScan> {
  const { manifest, path, digest, files, diagnostics } = skill;
  const { name, description, version, license, sandbox } = manifest;
  return {
    name,
    description,
    version,
    license,
    path,
    digest,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    scripts: groupScripts(skill),
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
    commands: commandsOf(skill),
    mcp: pathsNamed(files, MCP_FILES),
    diagnostics,
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

function groupScripts(skill: ValidSkill): readonly ScriptGroup[] {
  const programs = skill.files.filter(({ kind }) => kind === "file");
  const groups = Map.groupBy(programs, (file) => languageIn(skill, file));
  return [...groups].flatMap(([language, group]) =>
    language === undefined ? [] : [{ language, paths: group.map(({ path }) => path) }],
  );
}

const PROGRAMS: ReadonlySet<string> = new Set(["executable", "bytecode", "wasm"]);
const SHEBANG = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(?:\S*\/)?([\w.+-]+)/;

/** What runs it; `undefined` if nothing does. */
function languageIn(
  { directory, content }: ValidSkill,
  { path, executable }: IdentifiedFile,
): string | undefined {
  const head = content?.read(path)?.subarray(0, HEAD_BYTES) ?? readHead(join(directory, path));
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

function commandsOf({ directory, content }: ValidSkill): readonly string[] {
  const known = content?.read(SKILL_FILE);
  const read = known ? decodeBytes(known) : readBounded(join(directory, SKILL_FILE), MAX_TEXT_BYTES);
  const text = "text" in read ? read.text : "";
  return findCommands(text).flatMap((piece) => (piece.kind === "command" ? [piece.command] : []));
}
