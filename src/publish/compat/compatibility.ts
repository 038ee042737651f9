/** The compatibility of the skills that someone asks for, after rewriting them if that is wanted, too. */
import { resolve } from "node:path";
import { MAX_SKILL_BYTES } from "../../catalog/read-skill.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { UsageError } from "../../foundation/errors.ts";
import { nearestNames } from "../../foundation/nearest-names.ts";
import { isInside } from "../../host/places.ts";
import { realPathOr } from "../../host/project-folders.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import { diffLines } from "../../install/update/diff-lines.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { SkillCandidate } from "../../skill/skill.ts";
import { findAsked } from "../find-asked.ts";
import { type ClientReport, checkCompat, type SkillCompatibility } from "./check-compat.ts";
import { COMPAT_CLIENTS, type CompatClient, findCompatClient } from "./compat-clients.ts";
import { fixCompat } from "./fix-compat.ts";

export interface CompatibilityOptions {
  /** Ids of the clients that are asked about, as `codex`. Default: all that are known. */
  readonly clients?: readonly string[];
  /** Rewrite the skill files where nothing is lost. */
  readonly fix?: boolean;
  /** For relative paths. Default: that of the process. */
  readonly cwd?: string;
}

export interface RewrittenSkill {
  readonly path: string;
  /** What was rewritten, a sentence each. */
  readonly repairs: readonly string[];
  /** Lines that went begin with `-`, lines that came with `+`. */
  readonly diff: readonly string[];
}

export interface CompatibilityReport {
  /** There is a skill, and nothing breaks in any client that was named; without names, in any that is not rare. */
  readonly works: boolean;
  readonly skills: readonly SkillCompatibility[];
  readonly fixed: readonly RewrittenSkill[];
  /** About the paths that were asked for. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * `skills`: names and paths. A client that is not known throws `UsageError`, and so does rewriting what is not the user's
 * to edit.
 */
export async function checkCompatibility(
  metier: Pick<Metier, "require" | "catalog" | "places">,
  skills: readonly string[],
  options: CompatibilityOptions = {},
): Promise<CompatibilityReport> {
  const clients = options.clients?.map(requireClient) ?? COMPAT_CLIENTS;
  const asked = await findAsked(metier, skills, { cwd: resolve(options.cwd ?? process.cwd()) });
  if (options.fix) for (const candidate of asked.skills) requireEditable(candidate, metier);
  const fixed: RewrittenSkill[] = [];
  const checked: SkillCompatibility[] = [];
  for (const candidate of asked.skills) {
    const rewritten = options.fix ? await rewrite(candidate) : undefined;
    if (rewritten !== undefined) fixed.push(rewritten);
    checked.push(await checkCompat(candidate, clients));
  }
  const counts = ({ isRare }: ClientReport): boolean => options.clients !== undefined || !isRare;
  const works = checked.every((skill) => skill.clients.filter(counts).every((client) => client.works));
  return { works: works && checked.length > 0, skills: checked, fixed, diagnostics: asked.diagnostics };
}

function requireClient(name: string): CompatClient {
  const client = findCompatClient(name);
  if (client !== undefined) return client;
  const ids = COMPAT_CLIENTS.map(({ id }) => id);
  const near = nearestNames(name, ids).map((id) => `\`${id}\``);
  const meant = near.length > 0 ? `Did you mean ${near.join(" or ")}? ` : "";
  throw new UsageError(`How \`${name}\` reads skills is not known here.`, {
    hint: `${meant}Known are ${ids.map((id) => `\`${id}\``).join(", ")}.`,
  });
}

/** What a lock or the package vouches for would no longer be what it says. */
function requireEditable(
  { file }: SkillCandidate,
  { catalog, places }: Pick<Metier, "catalog" | "places">,
): void {
  const skill = catalog.all.find(({ location }) => location === file);
  const isLocked = skill?.locked !== undefined && !skill.locked.linked;
  if (!isLocked && skill?.scope !== "bundled" && !isInside(realPathOr(file), realPathOr(places.store)))
    return;
  throw new UsageError(
    `\`${file}\` is ${skill?.scope === "bundled" ? "bundled" : "installed"}; it is not rewritten.`,
    {
      hint: "Fix the skill where it is written, or a copy of its folder.",
    },
  );
}

/** A file that is not UTF-8 is left alone: writing it back would lose bytes. */
async function rewrite(candidate: SkillCandidate): Promise<RewrittenSkill | undefined> {
  const { file } = candidate;
  const read = readBounded(file, MAX_SKILL_BYTES);
  if (!read.ok || read.notUtf8) return undefined;
  const { text, repairs } = await fixCompat(read.text, candidate);
  if (text === read.text) return undefined;
  // Someone may have saved the file meanwhile; their version stays.
  const isUnchanged = (): boolean => {
    const now = readBounded(file, MAX_SKILL_BYTES);
    return now.ok && now.text === read.text;
  };
  if (!writeAtomic(file, text, { onlyIf: isUnchanged })) return undefined;
  const diff = diffLines(read.text.split("\n"), text.split("\n"))
    .filter(({ kind }) => kind !== "same")
    .map(({ kind, text: line }) => `${kind === "added" ? "+" : "-"} ${line}`);
  return { path: file, repairs, diff };
}
