/**
 * `metier compat`: for each known client, which fields of a skill it honours, which it ignores, and what breaks there;
 * after rewriting the skills that someone asks for, if that is wanted, too.
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

/** What one client makes of one skill. */
export interface ClientReport {
  /** As `--client` takes it. */
  readonly client: string;
  /** The client's name, for people. */
  readonly name: string;
  /** The version or day that the facts were seen in. */
  readonly seen: string;
  /** Its own source was read, it was watched at work, or only its documentation says so. */
  readonly basis: "source" | "run" | "documentation";
  /** Few use it: the report as a whole heeds it only when it was asked about by name. */
  readonly isRare: boolean;
  /** Nothing breaks. */
  readonly works: boolean;
  /** Keys of the skill file that the client honors, as written. */
  readonly honoured: readonly string[];
  /** Keys that the client ignores, as written. */
  readonly ignored: readonly string[];
  /** What does not work in this client. */
  readonly breaks: readonly CompatRemark[];
  /** What is worth knowing although it works. */
  readonly notes: readonly CompatRemark[];
}

/** One thing that a client does with a skill. */
export interface CompatRemark {
  /** A key as written, or `file`, `folder`, `body`. */
  readonly about: string;
  /** What the client does about it, as a sentence. */
  readonly message: string;
}

/** What each client makes of one skill. */
export interface SkillCompatibility {
  /** As its manifest says, or else the name of its folder or file. */
  readonly name: string;
  /** The skill file. */
  readonly path: string;
  /** One report for each client that was asked about. */
  readonly clients: readonly ClientReport[];
}

/** Which clients to check, and whether to fix what can be fixed. */
export interface CompatibilityOptions {
  /** Ids of the clients that are asked about, as `codex`. Default: all that are known. */
  readonly clients?: readonly string[];
  /** Rewrite the skill files where nothing is lost. */
  readonly fix?: boolean;
  /** For relative paths. Default: that of the process. */
  readonly cwd?: string;
  /** Hears how far it has come, before each skill. */
  onProgress?(step: PublishProgress): unknown;
}

/** A skill file that `fix` rewrote. */
export interface RewrittenSkill {
  /** The skill file, absolute. */
  readonly path: string;
  /** What was rewritten, a sentence each. */
  readonly repairs: readonly string[];
  /** Lines that went begin with `-`, lines that came with `+`. */
  readonly diff: readonly string[];
}

/** What clients make of the skills that were asked about. */
export interface CompatibilityReport {
  /** There is a skill, and nothing breaks in any client that was named; without names, in any that is not rare. */
  readonly works: boolean;
  /** After what `fix` rewrote. */
  readonly skills: readonly SkillCompatibility[];
  /** Skill files that were rewritten. Empty without `fix`. */
  readonly fixed: readonly RewrittenSkill[];
  /** About the paths that were asked for. */
  readonly diagnostics: readonly Diagnostic[];
}

const OPTIONS: OptionKeys<CompatibilityOptions> = { clients: true, onProgress: true, fix: true, cwd: true };

/**
 * `skills`: names and paths. A client that is not known throws `UsageError`, and so does rewriting what is not the user's
 * to edit.
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
  throw new UsageError(`How \`${name}\` reads skills is not known here.`, { hint: listKnown(name, ids) });
}

/** What a lock or the package vouches for would no longer be what it says. */
function requireEditable(
  { file }: SkillCandidate,
  { catalog, places }: Pick<PublishingHost, "catalog" | "places">,
): void {
  const skill = catalog.all.find(({ location }) => location === file);
  const isLocked = skill?.locked !== undefined && !skill.locked.linked;
  if (!isLocked && skill?.scope !== "bundled" && !isInside(realPathOr(file), realPathOr(places.store)))
    return;
  const how = skill?.scope === "bundled" ? "bundled" : "installed";
  throw new UsageError(`\`${file}\` is ${how}; it is not rewritten.`, {
    hint: "Fix the skill where it is written, or a copy of its folder.",
  });
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
  const { diffLines } = await import("../../install/update/compare-content.ts");
  const diff = diffLines(read.text.split("\n"), text.split("\n"))
    .filter(({ kind }) => kind !== "same")
    .map(({ kind, text: line }) => `${kind === "added" ? "+" : "-"} ${line}`);
  return { path: file, repairs, diff };
}
