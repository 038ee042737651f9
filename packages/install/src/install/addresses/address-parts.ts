/**
 * What several address forms share: references, paths inside a source, a trailing `#ref:path`, and how a repository is
 * written down. Also local addresses: folders, archives and skill files by path, repositories as `file://` or `.git`.
 */
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkContainedPath, showPath } from "@metier/base/files";
import { expandPath } from "@metier/base/places";
import { done, type Refused, type Result } from "@metier/base/result";
import { faulty, type InstallFault } from "../install-fault.ts";
import type { GitAddress, SourceAddress } from "./source-address.ts";

interface InnerParts {
  readonly ref?: string | undefined;
  readonly path: string;
}

export type AddressResult = Result<SourceAddress, InstallFault>;
export type RefusedAddress = Refused<InstallFault>;

export function refuseAddress(message: string, hint: string): RefusedAddress {
  return faulty("source.invalid", message, hint);
}

const MAX_REF_LENGTH = 250;
const REF_HINT =
  "A reference is a branch, a tag or a full commit id, such as `main`, `v1.2.0` or `feature/search`.";
/** What git forbids in a branch or tag name (`git check-ref-format`). */
const NOT_IN_REFS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^-/, "starts with `-` like an option"],
  [/\s/, "contains a space"],
  [/[\x00-\x1f\x7f~^:?*[\\]/, "contains one of the characters `~ ^ : ? * [ \\`"],
  [/\.\.|@\{/, "contains `..` or `@{`"],
  [/^\/|\/$|\/\//, "has an empty segment"],
  [/(?:^|\/)\.|\.$|\.lock(?:\/|$)/, "has a segment that starts with `.`, or ends in `.` or `.lock`"],
  [/^@?$/, "is empty"],
];

function checkRef(ref: string): RefusedAddress | undefined {
  if (ref.length > MAX_REF_LENGTH) {
    const message = `The reference has ${ref.length} characters; the limit is ${MAX_REF_LENGTH}.`;
    return refuseAddress(message, REF_HINT);
  }
  const wrong = NOT_IN_REFS.find(([pattern]) => pattern.test(ref))?.[1];
  return wrong === undefined
    ? undefined
    : refuseAddress(`The reference ${showPath(ref)} ${wrong}.`, REF_HINT);
}

/** `""` for the root; otherwise without `.` segments and a trailing `/`. */
export function readInnerPath(text: string): Result<string, InstallFault> {
  const trimmed = text.replace(/\/+$/, "");
  if (trimmed === "" || trimmed === ".") return done("");
  const checked = checkContainedPath(trimmed);
  if (checked.ok) return done(checked.path);
  const message = checked.message.charAt(0).toUpperCase() + checked.message.slice(1);
  return refuseAddress(message, "Write the path from the root of the source, such as `skills/pdf`.");
}

/** A reference alone. */
export function readRef(ref: string): Result<InnerParts, InstallFault> {
  return checkRef(ref) ?? done({ ref, path: "" });
}

/** `ref`, `ref:path` or `:path`. */
export function readFragment(fragment: string): Result<InnerParts, InstallFault> {
  const colon = fragment.indexOf(":");
  const ref = colon === -1 ? fragment : fragment.slice(0, colon);
  const path = readInnerPath(colon === -1 ? "" : fragment.slice(colon + 1));
  if (!path.ok) return path;
  if (ref === "") return done({ path: path.value });
  return checkRef(ref) ?? done({ ref, path: path.value });
}

export function writeFragment({ ref = "", path }: InnerParts): string {
  if (path !== "") return `#${ref}:${path}`;
  return ref === "" ? "" : `#${ref}`;
}

/** The text before the first `#`, and the one after it. */
export function splitFragment(text: string): readonly [base: string, fragment: string] {
  const hash = text.indexOf("#");
  return hash === -1 ? [text, ""] : [text.slice(0, hash), text.slice(hash + 1)];
}

const ARCHIVE = /\.(?:tar\.gz|tgz|tar|zip)$/i;
const MARKDOWN = /\.md$/i;

/** How an installer treats a file of this name. */
export function kindOfFile(name: string): "archive" | "file" | undefined {
  if (ARCHIVE.test(name)) return "archive";
  return MARKDOWN.test(name) ? "file" : undefined;
}

/** What a program passed next to the address, as with `--ref`. */
export interface GivenRef {
  readonly ref?: string | undefined;
}

/** `prefix` is `git+` if the URL alone would be read as something else. */
export function makeGit(
  url: string,
  parts: InnerParts,
  { ref: given }: GivenRef,
  prefix: "git+" | "" = "",
): Result<GitAddress, InstallFault> {
  const { ref = given, path } = parts;
  if (given !== undefined && ref !== given) {
    return refuseAddress(
      `The address has the reference ${showPath(ref ?? "")}, but ${showPath(given)} was also given.`,
      "Give only one reference.",
    );
  }
  const wrong = ref === undefined ? undefined : checkRef(ref);
  return wrong ?? done(gitAddress(url, { ref, path }, prefix));
}

/** The same repository at another reference or path: how an installed version is fetched again. */
export function moveGit(address: GitAddress, parts: InnerParts): GitAddress {
  return gitAddress(address.url, parts, address.canonical.startsWith("git+") ? "git+" : "");
}

function gitAddress(url: string, { ref, path }: InnerParts, prefix: "git+" | ""): GitAddress {
  return { kind: "git", url, ref, path, canonical: `${prefix}${url}${writeFragment({ ref, path })}` };
}

export interface LocalOptions extends GivenRef {
  readonly cwd: string;
  readonly home: string;
}

/** Paths may contain `#`; it separates only after these extensions. */
const WITH_FRAGMENT = /^(.*\.(?:tar\.gz|tgz|tar|zip|git)\/?)#(.*)$/i;

/** What starts with `/`, `.` or `~`. */
export function parseLocalPath(text: string, options: LocalOptions): AddressResult {
  if (/^~[^/]/.test(text)) {
    const hint = "Write the full path, such as `/home/name/skills`; `~/` is your home folder.";
    return refuseAddress(`${showPath(text)} is another user's home folder.`, hint);
  }
  const [, base = text, fragment = ""] = WITH_FRAGMENT.exec(text) ?? [];
  return parsePath(resolve(expandPath(base, options.home, options.cwd)), fragment, options);
}

function parsePath(path: string, fragment: string, given: GivenRef): AddressResult {
  if (path.endsWith(".git")) return parseLocalGit(path, fragment, given);
  const kind = kindOfFile(path);
  const parts = readFragment(kind === undefined ? "" : fragment);
  if (!parts.ok) return parts;
  const ref = parts.value.ref ?? given.ref;
  if (ref !== undefined) {
    return refuseAddress(
      `${showPath(path)} is not a git repository, so it has no reference ${showPath(ref)}.`,
      "For a repository on this machine, write `file://` before its path.",
    );
  }
  if (kind === undefined) return done({ kind: "folder", path, canonical: path });
  const { path: inner } = parts.value;
  const canonical = `${path}${writeFragment({ path: inner })}`;
  return done({ kind, url: pathToFileURL(path).href, path: inner, canonical });
}

function parseLocalGit(path: string, fragment: string, given: GivenRef): AddressResult {
  const parts = readFragment(fragment);
  const prefix = kindOfFile(path) === undefined ? "" : "git+";
  return parts.ok ? makeGit(pathToFileURL(path).href, parts.value, given, prefix) : parts;
}

/** `file://` is a repository, unless its name is that of an archive or a skill file. */
export function parseFileUrl(text: string, given: GivenRef): AddressResult {
  const isGit = text.startsWith("git+");
  const [base, fragment] = splitFragment(isGit ? text.slice("git+".length) : text);
  const path = readFilePath(base);
  if (path === undefined) {
    const hint = "Write it as `file:///path/to/repository`, with three `/`.";
    return refuseAddress(`${showPath(base)} is not a file on this machine.`, hint);
  }
  return isGit || kindOfFile(path) === undefined
    ? parseLocalGit(path, fragment, given)
    : parsePath(path, fragment, given);
}

function readFilePath(base: string): string | undefined {
  const url = URL.parse(base);
  if (url === null || url.host !== "" || url.search !== "") return undefined;
  try {
    const path = resolve(fileURLToPath(url)); // Without `//` and the last `/`: it is read back as a path.
    return /[\x00-\x1f\x7f]/.test(path) ? undefined : path;
  } catch {
    return undefined; // An encoded `/`, or not UTF-8.
  }
}
