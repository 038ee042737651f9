/**
 * `metier publish --well-known`: skills become files that a web server serves, with the index by which clients find them
 * (Agent Skills Discovery, version 0.2.0). The same skills give the same bytes on every machine. Whoever reads meanwhile sees
 * the old index or the new one, and finds what it names: files are named by their content, new ones come first, and old ones
 * go last.
 */
import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { readBounded, replaceFile } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result, refused } from "@metier/base/result";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import { withLock } from "@metier/base/turns";
import type { Finding, SkippedPart } from "@metier/scan";
import { isPlainSkillName, type Profile } from "@metier/skills";
import { outcomeOf } from "../install/install-fault.ts";
import { parseJsonObject } from "../install/json-object.ts";
import { DISCOVERY_SCHEMA, MAX_SKILLS } from "../install/well-known/skill-index.ts";
import type { PublishingHost, PublishProgress } from "./find-asked.ts";
import {
  type NotPublished,
  type PreparedSkill,
  type PublishFault,
  type PublishRefusal,
  prepareSkills,
  refusePublish,
} from "./prepare-skills.ts";
import { type LeftOut, readStaged, SKILL_FILE, withStage, writeGzip, writeTar } from "./stage-skill.ts";

/** Which skills to publish, and in which folder. */
export interface PublishOptions {
  /** Names and paths of skills; default: all below the working directory. */
  readonly skills?: readonly string[];
  /** The folder that a web server serves as the root of a site. */
  readonly folder: string;
  /** Where it is served, `https://…`; default: addresses in the index are relative to it. */
  readonly baseUrl?: string | undefined;
  /** How strict the check is. Default: `strict`, the specification to the letter. */
  readonly profile?: Profile | undefined;
  /** For relative paths. Default: that of the process. */
  readonly cwd?: string;
  /** Also replace files in the folder that are not ours. */
  readonly force?: boolean;
  /** Write nothing. */
  readonly dryRun?: boolean;
  /** Hears how far it has come, before each skill. */
  onProgress?(step: PublishProgress): unknown;
}

/** A skill in the published index. */
export interface PublishedSkill {
  /** `a`–`z`, `0`–`9` and hyphens only. */
  readonly name: string;
  /** As its manifest says. */
  readonly description: string;
  /** `skill-md`: only the skill file. `archive`: a `.tar.gz` of the skill's folder. */
  readonly type: "skill-md" | "archive";
  /** What is downloaded. Relative to the index unless `baseUrl` is given. */
  readonly url: string;
  /** Of what is downloaded. */
  readonly digest: string;
  /** Of what is downloaded, in bytes. */
  readonly size: number;
  /** Content identity: what `metier install` records. */
  readonly identity: string;
  /** Files and folders that are not published, by path. */
  readonly leftOut: readonly LeftOut[];
  /** What the scan found that does not keep it from being published. */
  readonly findings: readonly Finding[];
  /** What the scan could not look at. */
  readonly unscanned: readonly SkippedPart[];
}

/** What was published, or with `dryRun` would be. */
export interface PublishReport {
  /** Tells it from a refusal. */
  readonly ok: true;
  /** The index file. */
  readonly index: string;
  /** By name. */
  readonly skills: readonly PublishedSkill[];
  /** Files of an earlier publish that are gone. */
  readonly removed: readonly string[];
  /** Files of an earlier publish that someone has changed, and that stay. */
  readonly kept: readonly string[];
  /** Warnings and notes about the skills. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What was published, or why nothing was. */
export type PublishOutcome = PublishReport | PublishRefusal;

const OPTIONS: OptionKeys<PublishOptions> = {
  skills: true,
  onProgress: true,
  folder: true,
  baseUrl: true,
  profile: true,
  cwd: true,
  force: true,
  dryRun: true,
};
const WELL_KNOWN_FOLDER: string = join(".well-known", "agent-skills");

/** Nothing is written unless every skill may be published. */
export async function publishSkills(
  metier: Pick<PublishingHost, "config" | "require">,
  options: PublishOptions,
): Promise<PublishOutcome> {
  checkKeys("publishSkills", options ?? null, OPTIONS);
  return outcomeOf(await withStage((stage) => publish(metier, options, stage)));
}

async function publish(
  metier: Pick<PublishingHost, "config" | "require">,
  options: PublishOptions,
  stage: string,
): Promise<Result<Omit<PublishReport, "ok">, PublishFault>> {
  const base = readBaseUrl(options.baseUrl);
  if (!base.ok) {
    const hint = "Give the address under which the folder is served.";
    return refusePublish("publish.usage", base.refusal.message, hint);
  }
  const cwd = resolve(options.cwd ?? process.cwd());
  const site = resolve(cwd, options.folder);
  const prepared = await prepareSkills(metier, options, { cwd, output: site, stage, refuseCount });
  if (!prepared.ok) return prepared;
  const fault = refuseNames(prepared.value.skills);
  if (fault !== undefined) return fault;
  const folder = join(site, WELL_KNOWN_FOLDER);
  const made = await Promise.all(
    prepared.value.skills.map(async (skill) => ({ skill, artifact: await buildArtifact(skill) })),
  );
  const skills = made.map(({ skill, artifact }) => describe(skill, artifact, base.value));
  const artifacts = made.map(({ artifact }) => artifact);
  const written = options.dryRun
    ? done({ removed: [], kept: [] })
    : writeSite(folder, renderIndex(skills), artifacts, options.force);
  if (!written.ok) return refuseTaken(folder, written.refusal);
  const { diagnostics } = prepared.value;
  return done({ index: join(folder, INDEX_FILE), skills, ...written.value, diagnostics });
}

function describe(
  { name, manifest: { description }, identity, leftOut, findings, unscanned }: PreparedSkill,
  { type, file, digest, bytes }: Artifact,
  address: string,
): PublishedSkill {
  const url = `${address}${file}`;
  const size = bytes.length;
  return { name, description, type, url, digest, size, identity, leftOut, findings, unscanned };
}

function renderIndex(published: readonly PublishedSkill[]): string {
  const skills = published.map(({ name, type, description, url, digest }) => {
    return { name, type, description, url, digest };
  });
  return `${JSON.stringify({ $schema: DISCOVERY_SCHEMA, skills }, undefined, 2)}\n`;
}

/** Stricter than the specification of skills: names are parts of addresses. */
function refuseCount(skills: number): NotPublished | undefined {
  if (skills <= MAX_SKILLS) return undefined;
  const message = `There are ${skills} skills; an index may list ${MAX_SKILLS}.`;
  return refusePublish("publish.usage", message, "Publish them in several folders.");
}

function refuseNames(skills: readonly PreparedSkill[]): NotPublished | undefined {
  const foreign = skills.filter(({ name }) => !isPlainSkillName(name));
  if (foreign.length === 0) return undefined;
  const names = foreign.map(({ name }) => `\`${name}\``).join(", ");
  const message = `Nothing was written. An index may list only names of a–z, 0–9 and hyphens, not ${names}.`;
  return refusePublish("publish.refused", message, "Give the skill such a `name`, and its folder too.");
}

function refuseTaken(folder: string, taken: readonly string[]): NotPublished {
  const files = taken.slice(0, 5).map((file) => `\`${file}\``);
  const more = taken.length > files.length ? ` and ${taken.length - files.length} more` : "";
  return refusePublish(
    "publish.taken",
    `Nothing was written. In \`${folder}\`, ${files.join(", ")}${more} is not what \`metier publish\` wrote there.`,
    "Look at it and move it away; `--force` replaces it.",
  );
}

/** What stands before the files' names in the index; nothing where it is not known who serves them. */
function readBaseUrl(text: string | undefined): Result<string> {
  if (text === undefined) return done("");
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return refused({ message: `\`${text}\` is no address of a site, such as \`https://example.com\`.` });
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    const bare = `${url.origin}${url.pathname}`;
    const message = `The address of a site has no user, password, query or fragment: \`${bare}\`.`;
    return refused({ message });
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return refused({ message: `\`${text}\` is not encrypted; only this machine may be \`http:\`.` });
  }
  return done(`${url.href.endsWith("/") ? url.href : `${url.href}/`}.well-known/agent-skills/`);
}

type WrittenSite = Pick<PublishReport, "removed" | "kept">;

/**
 * `folder` is the one that the index stands in. Refused: files that are someone else's, which only `force` replaces; nothing
 * was written.
 */
function writeSite(
  folder: string,
  index: string,
  artifacts: readonly Artifact[],
  force: boolean = false,
): Result<WrittenSite, readonly string[]> {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const bytes = Buffer.from(index);
  const files = [...artifacts, { file: INDEX_FILE, bytes, digest: digestBytes(bytes) }];
  return withLock(join(folder, INDEX_FILE), (): Result<WrittenSite, readonly string[]> => {
    const before = readRecord(folder);
    const planned = files.map((each) => {
      return { ...each, state: stateOf(folder, each.file, each.digest, before) };
    });
    const taken = planned.filter(({ state }) => state === "foreign").map(({ file }) => file);
    if (taken.length > 0 && !force) return refused(taken);
    const after = new Map(files.map(({ file, digest }) => [file, digest]));
    // Until the old files are gone, both are ours: a publish that is cut off here is tidied by the next one.
    writeRecord(folder, new Map([...before, ...after]));
    for (const { file, bytes: content, state } of planned) {
      if (state !== "same") replaceFile(join(folder, file), content, { mode: PUBLIC_MODE });
    }
    const stale = [...before].filter(([file]) => !after.has(file));
    const removable = stale.filter(([file, digest]) => stateOf(folder, file, digest, before) === "same");
    for (const [file] of removable) rmSync(join(folder, file), { force: true });
    const kept = stale.filter(([file, digest]) => stateOf(folder, file, digest, before) === "foreign");
    writeRecord(folder, after);
    const names = (list: readonly (readonly [string, string])[]): readonly string[] =>
      list.map(([file]) => file).sort(compareText);
    return done({ removed: names(removable), kept: names(kept) });
  });
}

interface Artifact {
  readonly type: "skill-md" | "archive";
  /** Its file, beside the index. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** `sha256:…` of the bytes. */
  readonly digest: string;
}

const MARK_LENGTH = 16;
/** The files that this makes: a skill's name, a part of the digest, an ending. */
const ARTIFACT_FILE: RegExp = /^[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{16}\.(?:md|tar\.gz)$/;

async function buildArtifact({ name, folder }: PreparedSkill): Promise<Artifact> {
  const entries = readStaged(folder);
  const [only, ...others] = entries;
  // A lone file that may be executed needs the archive, which alone can say so.
  if (only?.kind === "file" && only.path === SKILL_FILE && !only.executable && others.length === 0) {
    return nameArtifact("skill-md", name, only.bytes);
  }
  return nameArtifact("archive", name, await writeGzip(writeTar(entries)));
}

function nameArtifact(type: Artifact["type"], name: string, bytes: Uint8Array): Artifact {
  const digest = digestBytes(bytes);
  const mark = digest.slice("sha256:".length).slice(0, MARK_LENGTH);
  return { type, file: `${name}-${mark}.${type === "archive" ? "tar.gz" : "md"}`, bytes, digest };
}

const INDEX_FILE = "index.json";
const RECORD_FILE = ".metier-published.json";
const VERSION = 1;
const MAX_RECORD_BYTES: number = 4 * 1024 * 1024;

/** Digests by file name. */
type PublishedFiles = ReadonlyMap<string, string>;

/** A record that cannot be read records nothing: then nothing there is ours. */
function readRecord(folder: string): PublishedFiles {
  const read = readBounded(join(folder, RECORD_FILE), MAX_RECORD_BYTES);
  const record = read.ok ? parseJsonObject(read.text) : undefined;
  const files = record?.version === VERSION && isJsonObject(record.files) ? record.files : {};
  return new Map(
    Object.entries(files).filter(
      (entry): entry is [string, string] =>
        (entry[0] === INDEX_FILE || ARTIFACT_FILE.test(entry[0])) && typeof entry[1] === "string",
    ),
  );
}

function writeRecord(folder: string, files: PublishedFiles): void {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify({ version: VERSION, files: Object.fromEntries(sorted) }, undefined, 2)}\n`;
  replaceFile(join(folder, RECORD_FILE), text, { mode: PUBLIC_MODE });
}

/** Web servers run as someone else. */
const PUBLIC_MODE = 0o644;

type FileState = "absent" | "same" | "ours" | "foreign";

/** What stands there: nothing, just what is to be written, what we wrote, or something of someone else. */
function stateOf(folder: string, file: string, digest: string, recorded: PublishedFiles): FileState {
  const place = join(folder, file);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  if (!stats.isFile()) return "foreign";
  const actual = digestBytes(readFileSync(place));
  if (actual === digest) return "same";
  return actual === recorded.get(file) ? "ours" : "foreign";
}
