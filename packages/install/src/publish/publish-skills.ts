/**
 * `metier publish --well-known`: turns skills into files for a web server, with the index by which clients find them
 * (Agent Skills Discovery, version 0.2.0). The same skills give the same bytes on every machine. Concurrent readers see
 * the old index or the new one, and find what it names: files are named by their content, new ones are written first,
 * old ones removed last.
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
import { isPlainSkillName, type Profile, SKILL_FILE } from "@metier/skills";
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
import { type LeftOut, readStaged, withStage, writeGzip, writeTar } from "./stage-skill.ts";

/** Which skills to publish, and in which folder. */
export interface PublishOptions {
  /** Names and paths of skills; default: all in the working directory. */
  readonly skills?: readonly string[];
  /** The folder that a web server serves as a site's root. */
  readonly folder: string;
  /** Where it is served, `https://…`; default: relative addresses in the index. */
  readonly baseUrl?: string | undefined;
  /** How strict the check is. Default: `strict`, exactly the specification. */
  readonly profile?: Profile | undefined;
  /** For relative paths. Default: the process's. */
  readonly cwd?: string;
  /** Also replaces files in the folder that are not ours. */
  readonly force?: boolean;
  /** Writes nothing. */
  readonly dryRun?: boolean;
  /** Called before each skill, with the progress. */
  onProgress?(step: PublishProgress): unknown;
}

/** A skill in the published index. */
export interface PublishedSkill {
  /** Only `a`–`z`, `0`–`9` and hyphens. */
  readonly name: string;
  /** From its manifest. */
  readonly description: string;
  /** `skill-md`: only the skill file. `archive`: a `.tar.gz` of the skill's folder. */
  readonly type: "skill-md" | "archive";
  /** The download. Relative to the index unless `baseUrl` is given. */
  readonly url: string;
  /** Of the download. */
  readonly digest: string;
  /** Bytes of the download. */
  readonly size: number;
  /** Content identity: what `metier install` records. */
  readonly identity: string;
  /** Files and folders left out, by path. */
  readonly leftOut: readonly LeftOut[];
  /** Findings that do not prevent publishing. */
  readonly findings: readonly Finding[];
  /** What the scan could not check. */
  readonly unscanned: readonly SkippedPart[];
}

/** What was published, or with `dryRun` would be. */
export interface PublishReport {
  /** Distinguishes it from a refusal. */
  readonly ok: true;
  /** The index file. */
  readonly index: string;
  /** Sorted by name. */
  readonly skills: readonly PublishedSkill[];
  /** Removed files of an earlier publish. */
  readonly removed: readonly string[];
  /** Files of an earlier publish that someone changed, so they stay. */
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
    const hint = "Give the URL at which the folder is served.";
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

/** Stricter than the skill specification: names are parts of URLs. */
function refuseCount(skills: number): NotPublished | undefined {
  if (skills <= MAX_SKILLS) return undefined;
  const message = `There are ${skills} skills; the limit for an index is ${MAX_SKILLS}.`;
  return refusePublish("publish.usage", message, "Publish them in several folders.");
}

function refuseNames(skills: readonly PreparedSkill[]): NotPublished | undefined {
  const foreign = skills.filter(({ name }) => !isPlainSkillName(name));
  if (foreign.length === 0) return undefined;
  const names = foreign.map(({ name }) => `\`${name}\``).join(", ");
  const message = `Nothing was written. Names in an index use only a–z, 0–9 and hyphens, unlike ${names}.`;
  return refusePublish("publish.refused", message, "Change the skill's `name`, and its folder too.");
}

function refuseTaken(folder: string, taken: readonly string[]): NotPublished {
  const files = taken.slice(0, 5).map((file) => `\`${file}\``);
  const more = taken.length > files.length ? ` and ${taken.length - files.length} more` : "";
  return refusePublish(
    "publish.taken",
    `Nothing was written. In \`${folder}\`, ${files.join(", ")}${more} was not written by \`metier publish\`.`,
    "Check it and move it away, or replace it with `--force`.",
  );
}

/** The prefix of file names in the index; empty if the server is unknown. */
function readBaseUrl(text: string | undefined): Result<string> {
  if (text === undefined) return done("");
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return refused({ message: `\`${text}\` is not a site URL, such as \`https://example.com\`.` });
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    const bare = `${url.origin}${url.pathname}`;
    const message = `A site URL has no user, password, query or fragment: \`${bare}\`.`;
    return refused({ message });
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return refused({ message: `\`${text}\` is not encrypted; \`http:\` is only for this machine.` });
  }
  return done(`${url.href.endsWith("/") ? url.href : `${url.href}/`}.well-known/agent-skills/`);
}

type WrittenSite = Pick<PublishReport, "removed" | "kept">;

/** `folder` is the index's folder. Refused: someone else's files, which only `force` replaces; nothing was written. */
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
    // Until the old files are gone, both are ours: the next publish cleans up one that is interrupted here.
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
  /** Its file, next to the index. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** `sha256:…` of the bytes. */
  readonly digest: string;
}

const MARK_LENGTH = 16;
/** The files this creates: a skill's name, part of the digest, an extension. */
const ARTIFACT_FILE: RegExp = /^[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{16}\.(?:md|tar\.gz)$/;

async function buildArtifact({ name, folder }: PreparedSkill): Promise<Artifact> {
  const entries = readStaged(folder);
  const [only, ...others] = entries;
  // A lone executable file needs the archive, which alone can record that.
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

/** An unreadable record records nothing: then nothing there is ours. */
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

/** Web servers run as another user. */
const PUBLIC_MODE = 0o644;

type FileState = "absent" | "same" | "ours" | "foreign";

/** What is there: nothing, exactly what will be written, what we wrote, or something else. */
function stateOf(folder: string, file: string, digest: string, recorded: PublishedFiles): FileState {
  const place = join(folder, file);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  if (!stats.isFile()) return "foreign";
  const actual = digestBytes(readFileSync(place));
  if (actual === digest) return "same";
  return actual === recorded.get(file) ? "ours" : "foreign";
}
