/**
 * What a new version of a skill can do, asks for or leads to that the old one did not. What became less is no risk, with
 * one exception: limits that a skill set itself and now lifts.
 */
import { join } from "node:path";
import { compareText } from "../../foundation/diagnostic.ts";
import { readBounded } from "../../host/read-bounded.ts";
import type { SkillManifest } from "../../skill/manifest.ts";
import type { IdentifiedFile } from "../../trust/identify-file.ts";
import type { SkillSummary } from "../summarise.ts";
import { type NewRisk, RISK_KINDS } from "../update-request.ts";

/** One version of a skill, described. */
export interface DescribedVersion {
  readonly summary: SkillSummary;
  readonly manifest: SkillManifest;
  readonly directory: string;
  readonly files: readonly IdentifiedFile[];
}

/** Without `before`, everything is new. */
export function findRisks(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const risks = [
    ...newFiles(before, after),
    ...newWords(before?.summary, after.summary),
    ...newHooks(before?.manifest, after.manifest),
    ...newUrls(before, after),
    ...(before ? liftedLimits(before.manifest, after.manifest) : []),
  ];
  const unique = new Map(risks.map((risk) => [`${risk.kind}\0${risk.what}`, risk]));
  return [...unique.values()].sort(
    (a, b) => RISK_KINDS.indexOf(a.kind) - RISK_KINDS.indexOf(b.kind) || compareText(a.what, b.what),
  );
}

/** Files that can run, pull something in, or stand for other files. */
function newFiles(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const old = new Map(before?.files.map((file) => [file.path, file]));
  const programs = new Map(
    after.summary.scripts.flatMap(({ language, paths }) =>
      paths.map((path) => [path, language === "binary" ? "binary" : "script"] as const),
    ),
  );
  const { dependencies, mcp } = after.summary;
  return after.files.flatMap((file): readonly NewRisk[] => {
    const known = old.get(file.path);
    const kind = kindOf(file, programs, dependencies, mcp);
    if (kind !== undefined && known?.digest !== file.digest) {
      return [{ kind, what: file.path, change: known ? "changed" : "added" }];
    }
    const isExecutable = file.executable && known !== undefined && !known.executable;
    return isExecutable ? [{ kind: "executable", what: file.path, change: "changed" }] : [];
  });
}

function kindOf(
  { path, kind }: IdentifiedFile,
  programs: ReadonlyMap<string, "binary" | "script">,
  dependencies: readonly string[],
  mcp: readonly string[],
): NewRisk["kind"] | undefined {
  if (kind === "link") return "link";
  if (dependencies.includes(path)) return "dependency";
  if (mcp.includes(path)) return "mcp";
  return programs.get(path);
}

const LISTS = [
  ["tool", "allowedTools"],
  ["tool", "requiredTools"],
  ["env", "env"],
  ["network", "network"],
  ["read", "reads"],
  ["write", "writes"],
  ["package", "packages"],
  ["capability", "capabilities"],
  ["toolset", "toolsets"],
  ["command", "commands"],
] as const;

/** Entries of the lists a skill declares, and commands in its text. */
function newWords(before: SkillSummary | undefined, after: SkillSummary): readonly NewRisk[] {
  return LISTS.flatMap(([kind, list]) =>
    after[list]
      .filter((what) => !before?.[list].includes(what))
      .map((what) => ({ kind, what, change: "added" }) as const),
  );
}

function newHooks(before: SkillManifest | undefined, after: SkillManifest): readonly NewRisk[] {
  return Object.entries(after.hooks ?? {}).flatMap(([what, hook]): readonly NewRisk[] => {
    const known = before?.hooks?.[what];
    if (known === undefined) return [{ kind: "hook", what, change: "added" }];
    return JSON.stringify(known) === JSON.stringify(hook) ? [] : [{ kind: "hook", what, change: "changed" }];
  });
}

const MAX_TEXT_BYTES = 1024 * 1024;
const MOST_URLS = 100;
const MAX_URL = 300;
const URL_IN_TEXT = /\b(?:https?|wss?|ftp|ssh|git):\/\/[^\s"'`<>\\()[\]{}|^]+/gi;

/** Addresses anywhere in its texts; only those files are read that are new. */
function newUrls(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const same = new Set(before?.files.map(({ path, digest }) => `${path}\0${digest}`));
  const changed = after.files.filter(({ path, digest }) => !same.has(`${path}\0${digest}`));
  const found = new Set(changed.flatMap((file) => urlsIn(after.directory, file)));
  if (found.size === 0) return [];
  const known = new Set(before?.files.flatMap((file) => urlsIn(before.directory, file)));
  return [...found]
    .filter((url) => !known.has(url))
    .sort(compareText)
    .slice(0, MOST_URLS)
    .map((what) => ({ kind: "url", what, change: "added" }));
}

function urlsIn(directory: string, { path, kind }: IdentifiedFile): readonly string[] {
  if (kind === "link") return [];
  const read = readBounded(join(directory, path), MAX_TEXT_BYTES);
  if (!read.ok) return [];
  return (read.text.match(URL_IN_TEXT) ?? []).map((url) =>
    url.replace(/[.,;:!?*_~]+$/, "").slice(0, MAX_URL),
  );
}

function liftedLimits(before: SkillManifest, after: SkillManifest): readonly NewRisk[] {
  const limited = (before.allowedTools ?? before.requiredTools).length > 0;
  const isUnlimited = limited && (after.allowedTools ?? after.requiredTools).length === 0;
  const allowedAgain = before.disallowedTools.filter((tool) => !after.disallowedTools.includes(tool));
  return [
    ...(isUnlimited ? [lifted("tool", "allowed-tools")] : []),
    ...allowedAgain.map((tool) => lifted("tool", `disallowed-tools: ${tool}`)),
    ...(before.disableModelInvocation && !after.disableModelInvocation
      ? [lifted("invocation", "disable-model-invocation")]
      : []),
    ...(before.optIn && !after.optIn ? [lifted("invocation", "opt-in")] : []),
    ...(before.sensitive && !after.sensitive ? [lifted("invocation", "sensitive")] : []),
  ];
}

function lifted(kind: NewRisk["kind"], what: string): NewRisk {
  return { kind, what, change: "lifted" };
}
