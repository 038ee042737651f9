/**
 * The grammar of source addresses: what a user types after `install`, and the canonical form of each. Reads only the
 * text, never the disk: `owner/repo` is GitHub even if such a folder exists, which needs `./`. Also addresses as
 * recorded in locks: a project's lock is committed, so paths in the project are relative to its root, and anyone who
 * can commit may change it, so it must not trigger requests to servers on this machine.
 */
import { isAbsolute, join, relative, sep } from "node:path";
import { showPath } from "@metier/base/files";
import { isLoopbackHost } from "@metier/base/net";
import { isInside, realPathOr } from "@metier/base/places";
import { done, type Result } from "@metier/base/result";
import { takeOutInvisible } from "@metier/base/text";
import type { LockEntry, LockOwner } from "@metier/skills/trust";
import { faulty, type InstallFault } from "../install-fault.ts";
import type { InstallParts } from "../requests.ts";
import {
  type AddressResult,
  type GivenRef,
  kindOfFile,
  type LocalOptions,
  moveGit,
  parseFileUrl,
  parseLocalPath,
  type RefusedAddress,
  readInnerPath,
  refuseAddress,
} from "./address-parts.ts";
import { HOSTS, isScpForm, parseScpForm, parseShorthand, parseSshUrl } from "./repository-address.ts";
import { parseWebAddress } from "./web-address.ts";

export interface GitAddress {
  readonly kind: "git";
  /** What git gets. */
  readonly url: string;
  /** Branch, tag or commit; absent: the repository's default. */
  readonly ref?: string | undefined;
  /** Inside the repository: a skill, or a folder of skills; `""` is its root. */
  readonly path: string;
  /**
   * From a page such as `…/tree/feature/x/skills/a`, which does not say where the branch ends: split after the first
   * segment, unless the repository has a longer matching ref.
   */
  readonly splitsAnywhere?: true;
  readonly canonical: string;
}

export interface FolderAddress {
  readonly kind: "folder";
  /** Absolute. */
  readonly path: string;
  readonly canonical: string;
}

/** `archive`: `.tar.gz`, `.tgz`, `.tar` or `.zip`. `file`: one `.md` file. */
export interface DownloadAddress {
  readonly kind: "archive" | "file";
  /** `https:`, `http:` on this machine, or `file:`. */
  readonly url: string;
  /** Inside the archive; `""` is its root. */
  readonly path: string;
  readonly canonical: string;
}

export interface NpmAddress {
  readonly kind: "npm";
  readonly name: string;
  /** A version, a range, or a tag; `latest` by default. */
  readonly range: string;
  readonly path: string;
  readonly canonical: string;
}

export interface WellKnownAddress {
  readonly kind: "well-known";
  /** Of the index. */
  readonly url: string;
  readonly canonical: string;
}

export type SourceAddress = GitAddress | FolderAddress | DownloadAddress | NpmAddress | WellKnownAddress;

/** `ref` is the value of `--ref`: a repository's reference, or an npm package's version. */
type AddressOptions = LocalOptions;

const MAX_LENGTH = 2048;
const FORMS =
  "A source is `owner/repo` (GitHub), a git URL (`https://host/x.git`, `git@host:x.git`, `file:///x`), a folder (`./x`), " +
  "an archive (`.tar.gz`, `.zip`) or `SKILL.md` by URL or path, `npm:name`, or `https://host` with a skill index.";

/** Never throws. `canonical` reads back as the same address. */
export function parseSourceAddress(text: string, options: AddressOptions): AddressResult {
  const asked = text.trim();
  const parsed = whyNoAddress(asked) ?? parseByForm(asked, options);
  if (!parsed.ok || parsed.value.canonical === parsed.value.canonical.trimEnd()) return parsed;
  const message = `${showPath(asked)} has a path that ends with a space, which gets lost when the address is written down.`;
  return refuseAddress(message, "Rename it, or name its parent folder.");
}

function whyNoAddress(asked: string): RefusedAddress | undefined {
  if (asked === "") return refuseAddress("The source address is empty.", FORMS);
  if (asked.length > MAX_LENGTH) {
    return refuseAddress(`The address has ${asked.length} characters; the limit is ${MAX_LENGTH}.`, FORMS);
  }
  if (
    !asked.isWellFormed() ||
    /[\p{Cc}\p{Zl}\p{Zp}]/u.test(asked) ||
    takeOutInvisible(asked).hidden.length > 0
  ) {
    const hint = "Type it instead of copying it.";
    return refuseAddress(`The address ${showPath(asked)} contains invisible characters.`, hint);
  }
  if (asked.startsWith("-"))
    return refuseAddress(`${showPath(asked)} looks like an option, not a source.`, FORMS);
  if (/^[a-z0-9+.-]+::/i.test(asked)) {
    const hint = "Give the repository as an `https://`, `ssh://` or `file://` URL.";
    return refuseAddress(`${showPath(asked)} would make git run a program of that name to fetch it.`, hint);
  }
  return undefined;
}

function parseByForm(asked: string, options: AddressOptions): AddressResult {
  if (/^[./~]/.test(asked)) return parseLocalPath(asked, options);
  if (asked.startsWith("npm:")) return parseNpmAddress(asked, options);
  const [prefix = ""] = /^[a-z]+:(?!\/\/)/.exec(asked) ?? [];
  const host = HOSTS[prefix];
  if (host !== undefined) return parseShorthand(asked.slice(prefix.length), host, options);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(asked)?.[1]?.toLowerCase();
  if (scheme !== undefined) return parseUrl(scheme, `${scheme}${asked.slice(scheme.length)}`, options);
  if (/^(?:www\.)?git(?:hub|lab)\.com\//i.test(asked)) return parseWebAddress(`https://${asked}`, options);
  if (isScpForm(asked)) return parseScpForm(asked, options);
  if (/^[^/:\\\s]+\/[^\\\s]/.test(asked)) return parseNames(asked, options);
  return explainUnknown(asked);
}

function parseUrl(scheme: string, url: string, options: AddressOptions): AddressResult {
  switch (scheme) {
    case "https":
    case "http":
    case "git+https":
    case "git+http":
      return parseWebAddress(url, options);
    case "ssh":
      return parseSshUrl(url, options);
    case "git+ssh":
      return parseSshUrl(url.slice("git+".length), options);
    case "file":
    case "git+file":
      return parseFileUrl(url, options);
    default:
      return refuseAddress(
        `Metier does not fetch over \`${scheme}://\`.`,
        "Use `https://`, `ssh://` or `file://`; most hosts offer the same repository at `https://`.",
      );
  }
}

/** Names separated by `/`: GitHub, unless the first is a host name. */
function parseNames(asked: string, options: AddressOptions): AddressResult {
  const [first = ""] = asked.split("/");
  if (first.includes(".")) {
    return refuseAddress(
      `${showPath(asked)} does not name a GitHub owner: ${showPath(first)} contains a dot.`,
      `For a repository on that host write \`https://${asked.slice(0, 200)}\`; for a folder, \`./${asked.slice(0, 200)}\`.`,
    );
  }
  if (/^[^/@#]+\/[^/@#]+$/.test(asked) && kindOfFile(asked) !== undefined) {
    return refuseAddress(
      `${showPath(asked)} looks like a GitHub repository, but has a file name.`,
      `Write \`./${asked.slice(0, 200)}\` for the file, or \`github:${asked.slice(0, 200)}\` for the repository.`,
    );
  }
  return parseShorthand(asked, "github.com", options);
}

function explainUnknown(asked: string): RefusedAddress {
  if (/^[a-z]:[\\/]|\\/i.test(asked)) {
    const hint = "Write paths with `/`, such as `./skills/pdf`.";
    return refuseAddress(`${showPath(asked)} is a Windows path.`, hint);
  }
  if (/^[A-Za-z0-9_.@-]+$/.test(asked)) {
    return refuseAddress(
      `${showPath(asked)} is ambiguous.`,
      `Write \`./${asked}\` for the folder or file, \`npm:${asked}\` for the npm package, or \`owner/${asked}\` for GitHub.`,
    );
  }
  return refuseAddress(`${showPath(asked)} is not a source address.`, FORMS);
}

const NPM_PACKAGE = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(?:\/(.*))?$/;
const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
/** Versions, ranges (`^1.2`, `>=1 <2`, `1.x || 2.x`) and tags (`latest`). */
const NPM_RANGE = /^[a-z0-9.^~<>=|*+_ -]{1,128}$/i;
const MAX_NPM_NAME = 214;
const LATEST = "latest";
const NPM_HINT = "Write `npm:name`, `npm:@scope/name`, `npm:name@^1.2` or `npm:name@1.2.0/path`.";

/** `npm:name[@range][/path]`: a package from the npm registry. */
function parseNpmAddress(text: string, given: GivenRef): AddressResult {
  const [, name = "", written, inner = ""] = NPM_PACKAGE.exec(text.slice("npm:".length)) ?? [];
  if (!NPM_NAME.test(name) || name.startsWith("-")) {
    return refuseAddress(`${showPath(text)} is not an npm package.`, NPM_HINT);
  }
  if (name.length > MAX_NPM_NAME) {
    const message = `The package name has ${name.length} characters; the limit is ${MAX_NPM_NAME}.`;
    return refuseAddress(message, NPM_HINT);
  }
  if (written !== undefined && given.ref !== undefined && written !== given.ref) {
    return refuseAddress(
      `The address asks for ${showPath(written)}, but version ${showPath(given.ref)} was also given.`,
      "Give only one version.",
    );
  }
  const range = written ?? given.ref ?? LATEST;
  if (!NPM_RANGE.test(range) || range.startsWith("-") || range.trim() !== range) {
    return refuseAddress(`${showPath(range)} is not a version, range or tag of an npm package.`, NPM_HINT);
  }
  const path = readInnerPath(inner);
  if (!path.ok) return path;
  const version = range === LATEST ? "" : `@${range}`;
  const canonical = `npm:${name}${version}${path.value === "" ? "" : `/${path.value}`}`;
  return done({ kind: "npm", name, range, path: path.value, canonical });
}

type LockParts = Pick<InstallParts, "places" | "projectRoot">;

/** `place` is an address or a path; anything outside the project stays unchanged. */
export function writeLockedPlace(place: string, owner: LockOwner, { projectRoot }: LockParts): string {
  const roots = owner === "project" && isAbsolute(place) ? [projectRoot, realPathOr(projectRoot)] : [];
  const root = roots.find((folder) => isInside(place, folder));
  return root === undefined ? place : `./${relative(root, place).split(sep).join("/")}`;
}

/** Resolves what a lock records: relative to the project's root, which does not affect an absolute address. */
export function readsFromProject({ places, projectRoot }: LockParts): AddressOptions {
  return { cwd: projectRoot, home: places.home };
}

/** `owners` are those of all locks that record it. */
export function parseLockedAddress(
  source: string,
  owners: readonly LockOwner[],
  parts: LockParts,
): Result<SourceAddress, InstallFault> {
  const parsed = parseSourceAddress(source, readsFromProject(parts));
  if (!parsed.ok) return parsed;
  const { value: address } = parsed;
  const host = "url" in address ? (URL.parse(address.url)?.hostname ?? "") : "";
  if (owners.includes("user") || !isLoopbackHost(host)) return parsed;
  return faulty(
    "source.refused",
    `The project's lock names \`${address.canonical}\`, a server on this machine. Metier contacts it only if you name it.`,
    `If you know it, run \`metier install ${address.canonical} --project\`; otherwise check who changed the lock.`,
  );
}

/** Whether an installed skill and one from a source are the same skill of the same source, in any version. */
export function isSameOrigin(
  entry: LockEntry,
  address: SourceAddress,
  path: string,
  options: AddressOptions,
): boolean {
  const parsed = parseSourceAddress(entry.source, options);
  return parsed.ok && originOf(parsed.value, entry.path) === originOf(address, path);
}

function originOf(address: SourceAddress, path: string): string {
  switch (address.kind) {
    case "folder":
      return realPathOr(join(address.path, path));
    case "npm":
      return `npm:${address.name}#${path}`;
    default:
      return `${address.url}#${path}`;
  }
}

/** The address of exactly the recorded version, if such a source has addresses for versions. */
export function pinAddress(
  address: SourceAddress,
  { resolved }: Pick<LockEntry, "resolved">,
  path: string,
): SourceAddress {
  if (address.kind === "git") return moveGit(address, { ref: resolved, path });
  if (address.kind === "npm") return { ...address, range: resolved.split(" ")[0] ?? address.range };
  return address;
}
