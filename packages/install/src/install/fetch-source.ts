/**
 * From an address to its skills: fetched into the quarantine within limits, read and identified. Each kind of source
 * fetches in its own way under one contract: nothing fetched is executed, nothing outside `into` is written, faults are
 * values.
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
import { findSourceSkills, holdToName, readSkillsAhead, type SourceSkill } from "./find-source-skills.ts";
import { faulty, type InstallFault } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";
import { SOURCE_LIMITS, type SourceLimits } from "./source-limits.ts";
import { MAKE_HERE, openTreeMaker, type TreeMaker } from "./tree-maker.ts";
import type { WrittenContent } from "./written-files.ts";

/** What fetching needs, for an installation, an update or a restore. */
export interface Fetching {
  readonly parts: InstallParts;
  /** Everything is fetched into this. */
  readonly quarantine: Quarantine;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((step: FetchProgress) => void) | undefined;
  /** Called with each skill's folder before it is read, and with what it has, if that is known; for some more than once. */
  readonly onFound?: ((directory: string, content?: WrittenContent) => void) | undefined;
  /** What was found so far does not count: it is fetched anew, to another place. */
  readonly onStartOver?: (() => void) | undefined;
  /** Called at least once while someone else works, such as git or a server: there is time for other things. */
  readonly onWaiting?: (() => void) | undefined;
}

export interface OpenedSource {
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
  const { parts, quarantine, onFound } = fetching;
  const ahead = readSkillsAhead(parts.profile, quarantine);
  const onTold = (directory: string): void => {
    const content = quarantine.contentIn(directory);
    if (content) onFound?.(directory, content);
  };
  const onWhole = (directory: string): void => {
    onFound?.(directory);
    ahead.begin(directory);
  };
  const context = { ...fetchContext({ ...fetching, onFound: onWhole }), onTold };
  const fetched = await fetchSource(address, { ...context, link, wanted });
  if (!fetched.ok) return fetched;
  const { value: source } = fetched;
  const how = { onFound, ahead, listIn: quarantine.listIn };
  const found = await findSourceSkills(source, parts.profile, rootName(address), how);
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

/** The quarantine no longer exists when someone reads this, so it shows the path inside the source. */
function pathIn(folder: string, path: string): string {
  return isInside(path, folder) ? relative(folder, path).split(sep).join("/") || "." : path;
}

/** The name of a skill at the root, if it does not say. */
function rootName(address: SourceAddress): string {
  const place =
    address.kind === "npm" ? address.name : address.kind === "folder" ? address.path : address.url;
  return basename(place).replace(/\.(?:git|md|zip|tgz|tar(?:\.gz)?)$/i, "");
}

function noSkill({ canonical }: SourceAddress, diagnostics: readonly Diagnostic[]): Refused<InstallFault> {
  const error = diagnostics.find(({ severity }) => severity === "error");
  return faulty(
    "install.no_skill",
    `No skill found in \`${canonical}\`.${error ? ` ${error.message}` : ""}`,
    "A skill is a folder with a `SKILL.md`, at most five folders deep.",
  );
}

export interface FetchContext {
  /** An empty folder in the quarantine. */
  readonly into: string;
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal | undefined;
  readonly environment: Environment;
  /** For packages, instead of npm's registry. */
  readonly registry?: string | undefined;
  /** Private network hosts that the user allows installing from. */
  readonly privateHosts?: readonly string[] | undefined;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook | undefined;
  /** Uses a local folder in place instead of copying it. */
  readonly link?: boolean | undefined;
  /** Metier's own folder, which contains no sources. */
  readonly store?: string;
  /** Skill names: a source whose skills are fetched one by one fetches only these. Absent: all. */
  readonly wanted?: readonly string[] | undefined;
  readonly onProgress?: ((step: FetchProgress) => void) | undefined;
  /** May be called with a folder with a `SKILL.md` when the maker was told everything in it; it may not be there yet. */
  readonly onTold?: ((directory: string) => void) | undefined;
  /** May be called with a folder with a `SKILL.md` when it is complete, while others are still to come. */
  readonly onFound?: ((directory: string) => void) | undefined;
  /** To be called when what was made so far does not count. Nothing more of it is made then. */
  readonly startOver?: (() => Promise<void>) | undefined;
  readonly onWaiting?: Fetching["onWaiting"];
  /** What makes many files. Absent: they are made here. */
  readonly makerOf?: Quarantine["makerOf"];
}

/**
 * The resolver for one fetch. Private hosts are reached only if the address itself is an allowed one: a public site
 * cannot redirect into a private network.
 */
export function addressBook(
  typed: URL,
  { addresses = SYSTEM_ADDRESSES, privateHosts = [] }: FetchContext,
): AddressBook {
  return isNamedPrivate(typed, privateHosts) ? { ...addresses, privateHosts } : addresses;
}

/** What to do about a private network host. */
export function privateHostHint({ host }: URL): string {
  return `If you trust this host, add it to your own config: \`[install]\` \`private-hosts = ["${host}"]\`.`;
}

/** For one fetch, with its own folder. */
export function fetchContext({ parts, quarantine, ...hooks }: Fetching): FetchContext {
  const { signal, onProgress, onFound, onStartOver, onWaiting } = hooks;
  const startOver = (): Promise<void> => {
    onStartOver?.();
    return quarantine.endMaking();
  };
  const { environment, registry, privateHosts, addresses, places } = parts;
  const known = { limits: SOURCE_LIMITS, store: places.base, environment, registry, privateHosts, addresses };
  const { makerOf } = quarantine;
  const told = { signal, onProgress, onFound, startOver, onWaiting };
  return { into: quarantine.makeFolder(), makerOf, ...known, ...told };
}

/** One step of a longer operation, for progress display. */
export interface FetchProgress {
  /** The current action, such as `Scanning`. */
  readonly what: string;
  /** How much of the step is done: files, skills, bytes or percent. Absent: not counted. */
  readonly done?: number;
  /** The final value of `done`, in the same unit. Absent: unknown. */
  readonly total?: number | undefined;
}

/** A fetched source, before its skills are read. */
export interface FetchedSource {
  /** The tree: plain files, without `.git`. */
  readonly folder: string;
  /** Commit id, version + integrity, or sha256 of the download; for a folder its real path. */
  readonly resolved: string;
  /** As requested. */
  readonly ref?: string | undefined;
  /** The address as the lock stores it. */
  readonly canonical: string;
  /** Where the source or its address says that skills are, inside `folder`: a skill, or a folder of skills. */
  readonly paths?: readonly string[] | undefined;
  /** The folder is the user's own, used in place. */
  readonly linked?: true;
  /** What was left out, and notes; no errors. */
  readonly diagnostics: readonly Diagnostic[];
}

export type SourceFetch = Result<FetchedSource, InstallFault>;

/** Each kind is loaded on use: most installations need one. */
export async function fetchSource(address: SourceAddress, context: FetchContext): Promise<SourceFetch> {
  if (address.kind !== "git") context.onWaiting?.(); // Git is started first.
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
 * Where a source is fetched and reviewed before anything is installed: one folder per installation, never searched for
 * skills, and nothing in it is executed.
 */
export interface Quarantine {
  /** Its real path; on the same file system as the store, so that a rename moves a skill there. */
  readonly folder: string;
  /** A new, empty folder in it. */
  makeFolder(): string;
  /** Makes this many files, folders or links in it: many on a thread, which all share. */
  makerOf(entries: number): TreeMaker;
  /** Whatever is still to be made is not. */
  endMaking(): Promise<void>;
  /** As its maker knows it. */
  readonly contentIn: TreeMaker["contentIn"];
  readonly madeIn: TreeMaker["madeIn"];
  readonly listIn: TreeMaker["listIn"];
  /** Removes everything in it; if the system refuses, a later installation does. */
  close(): Promise<void>;
}

export async function withQuarantine<Value>(
  places: Pick<Places, "quarantine">,
  use: (quarantine: Quarantine) => Promise<Value>,
): Promise<Value> {
  const quarantine = openQuarantine(places);
  try {
    return await use(quarantine);
  } finally {
    await quarantine.close();
  }
}

/**
 * Its name says who owns it: leftovers of a killed process are removed by the next one, those of a running one are not.
 */
export function openQuarantine(places: Pick<Places, "quarantine">): Quarantine {
  const all = places.quarantine;
  mkdirSync(all, { recursive: true, mode: 0o700 });
  removeAbandoned(all);
  const folder = join(realpathSync.native(all), makeOwnedName());
  mkdirSync(folder, { mode: 0o700 });
  let made = 0;
  let maker = MAKE_HERE;
  const endMaking = async (): Promise<void> => {
    const ended = maker;
    maker = MAKE_HERE;
    await ended.close();
  };
  return {
    folder,
    makeFolder() {
      const path = join(folder, String(++made));
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    makerOf(entries) {
      if (maker === MAKE_HERE) maker = openTreeMaker(entries);
      return maker;
    },
    contentIn: (path) => maker.contentIn(path),
    madeIn: (path) => maker.madeIn(path),
    listIn: (path) => maker.listIn(path),
    endMaking,
    async close() {
      if (maker !== MAKE_HERE) await endMaking();
      tryToRemove(folder);
    },
  };
}
