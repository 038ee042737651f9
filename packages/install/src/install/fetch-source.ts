/**
 * From an address to the skills it brings: fetched into the quarantine, within limits, read and identified. Each kind of
 * source has its own way to fetch, and all of them keep to one contract: nothing that was fetched is executed, nothing
 * outside `into` is written, faults are values.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { makeOwnedName, removeAbandoned, tryToRemove } from "@metier/base/files";
import { isInside, type Places, realPathOr } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { done, type Refused, type Result } from "@metier/base/result";
import { type AddressBook, isNamedPrivate, SYSTEM_ADDRESSES } from "@metier/sandbox/egress";
import { isSkillName } from "@metier/skills";
import type { SourceAddress } from "./addresses/source-address.ts";
import { findSourceSkills, holdToName, type SourceSkill } from "./find-source-skills.ts";
import { faulty, type InstallFault } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";
import { SOURCE_LIMITS, type SourceLimits } from "./source-limits.ts";

/** What fetching for an installation, an update or a restore needs. */
export interface Fetching {
  readonly parts: InstallParts;
  /** Everything that is fetched lies here. */
  readonly quarantine: Quarantine;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((step: FetchProgress) => void) | undefined;
  /** Told of the folder of each skill, before it is read; of some more than once. */
  readonly onFound?: ((directory: string) => void) | undefined;
}

interface OpenedSource {
  readonly source: FetchedSource;
  /** At least one. */
  readonly skills: readonly SourceSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function openSource(
  address: SourceAddress,
  fetching: Fetching,
  { link, skills: asked }: Pick<InstallRequest, "link" | "skills"> = {},
): Promise<Result<OpenedSource, InstallFault>> {
  const wanted = asked?.every(isSkillName) ? asked : undefined;
  const fetched = await fetchSource(address, { ...fetchContext(fetching), link, wanted });
  if (!fetched.ok) return fetched;
  const { value: source } = fetched;
  const { parts, onFound } = fetching;
  const found = await findSourceSkills(source, parts.profile, rootName(address), onFound);
  const here = realPathOr(source.folder);
  const tell = (diagnostic: Diagnostic): Diagnostic => {
    return { ...diagnostic, path: pathIn(here, diagnostic.path) };
  };
  const diagnostics = [...source.diagnostics, ...found.diagnostics].map(tell);
  if (found.skills.length === 0) return noSkill(address, diagnostics);
  const named = await Promise.all(found.skills.map(holdToName));
  const skills = named.map((skill) => ({ ...skill, diagnostics: skill.diagnostics.map(tell) }));
  return done({ source, skills, diagnostics });
}

/** The quarantine is gone when someone reads of it: what counts is the place inside the source. */
function pathIn(folder: string, path: string): string {
  return isInside(path, folder) ? relative(folder, path).split(sep).join("/") || "." : path;
}

/** What a skill at the root is called if it does not say so itself. */
function rootName(address: SourceAddress): string {
  const place =
    address.kind === "npm" ? address.name : address.kind === "folder" ? address.path : address.url;
  return basename(place).replace(/\.(?:git|md|zip|tgz|tar(?:\.gz)?)$/i, "");
}

function noSkill({ canonical }: SourceAddress, diagnostics: readonly Diagnostic[]): Refused<InstallFault> {
  const error = diagnostics.find(({ severity }) => severity === "error");
  return faulty(
    "install.no_skill",
    `No skill was found in \`${canonical}\`.${error ? ` ${error.message}` : ""}`,
    "A skill is a folder with a `SKILL.md`; it may lie at most five folders deep.",
  );
}

export interface FetchContext {
  /** An empty folder in the quarantine. */
  readonly into: string;
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal | undefined;
  readonly environment: Environment;
  /** For packages, in place of the one that npm is set to. */
  readonly registry?: string | undefined;
  /** Hosts of private networks that the user allows to install from. */
  readonly privateHosts?: readonly string[] | undefined;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook | undefined;
  /** A local folder is used where it is, instead of a copy. */
  readonly link?: boolean | undefined;
  /** Metier's own folder, in which no source lies. */
  readonly store?: string;
  /** Names of skills: a source whose skills are fetched one by one fetches only these. Absent: all. */
  readonly wanted?: readonly string[] | undefined;
  readonly onProgress?: ((step: FetchProgress) => void) | undefined;
  /** May be told of a folder with a `SKILL.md` when all of it is there, while others are still to come. */
  readonly onFound?: ((directory: string) => void) | undefined;
}

/**
 * Where hosts lead for one fetch. Private ones are reached only if the address itself is one that the user allows: a public
 * site cannot redirect into a private network.
 */
export function addressBook(
  typed: URL,
  { addresses = SYSTEM_ADDRESSES, privateHosts = [] }: FetchContext,
): AddressBook {
  return isNamedPrivate(typed, privateHosts) ? { ...addresses, privateHosts } : addresses;
}

/** What to do about a host of a private network. */
export function privateHostHint({ host }: URL): string {
  return `If you trust this host, add it to your own config: \`[install]\` \`private-hosts = ["${host}"]\`.`;
}

/** For one fetch, with a folder of its own. */
export function fetchContext({ parts, quarantine, signal, onProgress, onFound }: Fetching): FetchContext {
  const { environment, registry, privateHosts, addresses, places } = parts;
  const known = { limits: SOURCE_LIMITS, store: places.base, environment, registry, privateHosts, addresses };
  return { into: quarantine.makeFolder(), ...known, signal, onProgress, onFound };
}

/** One step of a longer operation, to show to whoever waits. */
export interface FetchProgress {
  /** What is being done now, such as `Scanning`. */
  readonly what: string;
  /** How much of the step is done: files, skills, bytes or percent. Absent: not counted. */
  readonly done?: number;
  /** What `done` reaches at the end, in the same unit. Absent: not known. */
  readonly total?: number | undefined;
}

/** A source after it was fetched, before its skills are read. */
export interface FetchedSource {
  /** The tree: plain files, without `.git`. */
  readonly folder: string;
  /** Commit id, version + integrity, or sha256 of the download; for a folder its real path. */
  readonly resolved: string;
  /** As asked. */
  readonly ref?: string | undefined;
  /** Of the address, as the lock keeps it. */
  readonly canonical: string;
  /** Where the source or its address says that skills are, below `folder`: a skill, or a folder of skills. */
  readonly paths?: readonly string[] | undefined;
  /** The folder is the user's own, used where it is. */
  readonly linked?: true;
  /** What was left out, or is worth knowing; no errors. */
  readonly diagnostics: readonly Diagnostic[];
}

export type SourceFetch = Result<FetchedSource, InstallFault>;

/** Each kind is loaded when it is wanted: most installations have one. */
export async function fetchSource(address: SourceAddress, context: FetchContext): Promise<SourceFetch> {
  switch (address.kind) {
    case "git":
      return (await import("./git/fetch-git.ts")).fetchGit(address, context);
    case "folder":
      return (await import("./local/fetch-folder.ts")).fetchFolder(address, context);
    case "archive":
    case "file":
      return (await import("./download.ts")).fetchDownload(address, context);
    case "npm":
      return (await import("./npm/fetch-npm.ts")).fetchNpm(address, context);
    case "well-known":
      return (await import("./well-known/fetch-well-known.ts")).fetchWellKnown(address, context);
  }
}

/**
 * Where a source is fetched and looked at before anything is installed: a folder of its own for each installation, that
 * is never searched for skills and in which nothing is executed.
 */
export interface Quarantine {
  /** By its real path; on the same file system as the store, so that a rename takes a skill there. */
  readonly folder: string;
  /** A new, empty folder in it. */
  makeFolder(): string;
  /** Removes everything in it; what the system does not let go is left to a later installation. */
  close(): void;
}

export async function withQuarantine<Value>(
  places: Pick<Places, "quarantine">,
  use: (quarantine: Quarantine) => Promise<Value>,
): Promise<Value> {
  const quarantine = openQuarantine(places);
  try {
    return await use(quarantine);
  } finally {
    quarantine.close();
  }
}

/** Its name says whose it is: what a killed process left goes with the next one, and what a living one uses does not. */
export function openQuarantine(places: Pick<Places, "quarantine">): Quarantine {
  const all = places.quarantine;
  mkdirSync(all, { recursive: true, mode: 0o700 });
  removeAbandoned(all);
  const folder = join(realpathSync.native(all), makeOwnedName());
  mkdirSync(folder, { mode: 0o700 });
  let made = 0;
  return {
    folder,
    makeFolder() {
      const path = join(folder, String(++made));
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    close: () => tryToRemove(folder),
  };
}
