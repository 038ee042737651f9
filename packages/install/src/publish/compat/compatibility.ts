/**
 * `metier compat`: for each known client, which fields of a skill it honors, which it ignores, and what breaks;
 * optionally after rewriting the skills.
 */
import { resolve } from "node:path";
import { type Diagnostic, openHostCalls } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { readBounded, writeAtomic } from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { findKnownClient, MAX_SKILL_BYTES, type SkillCandidate } from "@metier/skills";
import { listKnown } from "../../install/install-fault.ts";
import { findAsked, type PublishingHost, type PublishProgress } from "../find-asked.ts";
import {
  breaks,
  COMPAT_CLIENTS,
  type CompatClient,
  type CompatSubject,
  checkBody,
  checkFile,
  checkFolder,
  isHonoured,
  isReader,
  type Remark,
  readSubject,
} from "./check-file.ts";
import { checkDescription, checkFields, checkName, checkValues } from "./check-keys.ts";
import { fixCompat } from "./fix-compat.ts";

/** How one client handles one skill. */
export interface ClientReport {
  /** As in `--client`. */
  readonly client: string;
  /** The client's name, for people. */
  readonly name: string;
  /** The version or day that the facts are from. */
  readonly seen: string;
  /** Its source was read, it was observed, or only its documentation says so. */
  readonly basis: "source" | "run" | "documentation";
  /** Few use it: it affects the overall result only if it was named. */
  readonly isRare: boolean;
  /** Nothing breaks. */
  readonly works: boolean;
  /** Keys of the skill file that the client honors, as written. */
  readonly honoured: readonly string[];
  /** Keys that the client ignores, as written. */
  readonly ignored: readonly string[];
  /** What does not work in this client. */
  readonly breaks: readonly CompatRemark[];
  /** What works but is worth knowing. */
  readonly notes: readonly CompatRemark[];
}

/** One thing that a client does with a skill. */
export interface CompatRemark {
  /** A key as written, or `file`, `folder`, `body`. */
  readonly about: string;
  /** What the client does, as a sentence. */
  readonly message: string;
}

/** How each client handles one skill. */
export interface SkillCompatibility {
  /** From its manifest, otherwise the name of its folder or file. */
  readonly name: string;
  /** The skill file. */
  readonly path: string;
  /** One report per requested client. */
  readonly clients: readonly ClientReport[];
}

/** Which clients to check, and whether to fix what can be fixed. */
export interface CompatibilityOptions {
  /** Ids of the clients, such as `codex`. Default: all known ones. */
  readonly clients?: readonly string[];
  /** Rewrites the skill files where nothing is lost. */
  readonly fix?: boolean;
  /** For relative paths. Default: the process's. */
  readonly cwd?: string;
  /** Called before each skill, with the progress. */
  onProgress?(step: PublishProgress): unknown;
}

/** A skill file that `fix` rewrote. */
export interface RewrittenSkill {
  /** The skill file, absolute. */
  readonly path: string;
  /** What was rewritten, one sentence each. */
  readonly repairs: readonly string[];
  /** Removed lines start with `-`, added lines with `+`. */
  readonly diff: readonly string[];
}

/** How clients handle the requested skills. */
export interface CompatibilityReport {
  /** There is a skill, and nothing breaks in any named client; without names, in any that is not rare. */
  readonly works: boolean;
  /** After the rewrites of `fix`. */
  readonly skills: readonly SkillCompatibility[];
  /** Rewritten skill files. Empty without `fix`. */
  readonly fixed: readonly RewrittenSkill[];
  /** About the requested paths. */
  readonly diagnostics: readonly Diagnostic[];
}

const OPTIONS: OptionKeys<CompatibilityOptions> = { clients: true, onProgress: true, fix: true, cwd: true };

/**
 * `skills`: names and paths. An unknown client throws `UsageError`, and so does rewriting what the user may not edit.
 */
export async function checkCompatibility(
  metier: Pick<PublishingHost, "require" | "catalog" | "places">,
  skills: readonly string[],
  options: CompatibilityOptions = {},
): Promise<CompatibilityReport> {
  checkKeys("checkCompatibility", options, OPTIONS);
  const clients = options.clients?.map(requireClient) ?? COMPAT_CLIENTS;
  const asked = await findAsked(metier, skills, resolve(options.cwd ?? process.cwd()));
  if (options.fix) for (const candidate of asked.skills) requireEditable(candidate, metier);
  const fixed: RewrittenSkill[] = [];
  const checked: SkillCompatibility[] = [];
  const tell = openHostCalls(undefined);
  for (const [done, candidate] of asked.skills.entries()) {
    const step = { what: "Checking skills", done, total: asked.skills.length };
    tell("onProgress", options.onProgress, step);
    const rewritten = options.fix ? await rewrite(candidate) : undefined;
    if (rewritten !== undefined) fixed.push(rewritten);
    checked.push(await checkCompat(candidate, clients));
  }
  const counts = ({ isRare }: ClientReport): boolean => options.clients !== undefined || !isRare;
  const works = checked.every((skill) => skill.clients.filter(counts).every((client) => client.works));
  return { works: works && checked.length > 0, skills: checked, fixed, diagnostics: asked.diagnostics };
}

const CONCERNS: readonly ((subject: CompatSubject, client: CompatClient) => readonly Remark[])[] = [
  checkFile,
  checkFields,
  checkName,
  checkDescription,
  checkValues,
  checkBody,
  checkFolder,
];

export async function checkCompat(
  candidate: SkillCandidate,
  clients: readonly CompatClient[] = COMPAT_CLIENTS,
): Promise<SkillCompatibility> {
  const read = await readSubject(candidate);

  const { manifest, fields = {} } = read.ok ? read.value : {};
  const remarksOf = (client: CompatClient): readonly Remark[] =>
    read.ok ? CONCERNS.flatMap((check) => check(read.value, client)) : [breaks("file", read.refusal.message)];
  return {
    name: manifest?.name ?? candidate.defaultName,
    path: candidate.file,
    clients: clients.map((client) => describeClient(client, Object.keys(fields), remarksOf(client))),
  };
}

function describeClient(
  client: CompatClient,
  keys: readonly string[],
  remarks: readonly Remark[],
): ClientReport {
  const { id, name, reading } = client;
  const { seen, basis, isRare = false } = reading;
  const pick = (effect: Remark["effect"]): readonly CompatRemark[] =>
    remarks.filter((remark) => remark.effect === effect).map(({ about, message }) => ({ about, message }));
  const broken = pick("breaks");
  const isBroken = (key: string): boolean => broken.some(({ about }) => about === key);
  const sound = keys.filter((key) => !isBroken(key));
  return {
    client: id,
    name,
    seen,
    basis,
    isRare,
    works: broken.length === 0,
    honoured: sound.filter((key) => isHonoured(client, key)),
    ignored: sound.filter((key) => !isHonoured(client, key)),
    breaks: broken,
    notes: pick("note"),
  };
}

function requireClient(name: string): CompatClient {
  const client = findKnownClient(name);
  if (client && isReader(client)) return client;
  const ids = COMPAT_CLIENTS.filter(({ reading }) => !reading.isRare).map((known) => known.id);
  throw new UsageError(`Metier does not know how \`${name}\` reads skills.`, { hint: listKnown(name, ids) });
}

/** A lock or the package vouches for it, so it must not change. */
function requireEditable(
  { file }: SkillCandidate,
  { catalog, places }: Pick<PublishingHost, "catalog" | "places">,
): void {
  const skill = catalog.all.find(({ location }) => location === file);
  const isLocked = skill?.locked !== undefined && !skill.locked.linked;
  if (!isLocked && skill?.scope !== "bundled" && !isInside(realPathOr(file), realPathOr(places.store)))
    return;
  const how = skill?.scope === "bundled" ? "bundled" : "installed";
  throw new UsageError(`\`${file}\` is ${how}, so it was not rewritten.`, {
    hint: "Fix the skill at its source, or fix a copy of its folder.",
  });
}

/** A file that is not UTF-8 is left alone: writing it back would lose bytes. */
async function rewrite(candidate: SkillCandidate): Promise<RewrittenSkill | undefined> {
  const { file } = candidate;
  const read = readBounded(file, MAX_SKILL_BYTES);
  if (!read.ok || read.notUtf8) return undefined;
  const { text, repairs } = await fixCompat(read.text, candidate);
  if (text === read.text) return undefined;
  // Someone may have saved the file in the meantime; their version stays.
  const isUnchanged = (): boolean => {
    const now = readBounded(file, MAX_SKILL_BYTES);
    return now.ok && now.text === read.text;
  };
  if (!writeAtomic(file, text, { onlyIf: isUnchanged })) return undefined;
  const { diffLines } = await import("../../install/update/compare-content.ts");
  const diff = diffLines(read.text.split("\n"), text.split("\n"))
    .filter(({ kind }) => kind !== "same")
    .map(({ kind, text: line }) => `${kind === "added" ? "+" : "-"} ${line}`);
  return { path: file, repairs, diff };
}
