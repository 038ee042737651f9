/**
 * What several forms of address share: references, paths inside a source, `#ref:path` at the end, and how a repository is
 * written down. And addresses on this machine: folders, archives and skill files by path, repositories by `file://` or `.git`.
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
  "A reference is a branch, a tag or a full commit id, as `main`, `v1.2.0` or `feature/search`.";
/** What git itself allows in no name of a branch or tag (`git check-ref-format`). */
const NOT_IN_REFS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^-/, "begins with `-`, as options do"],
  [/\s/, "has a blank"],
  [/[\x00-\x1f\x7f~^:?*[\\]/, "has one of the characters `~ ^ : ? * [ \\`"],
  [/\.\.|@\{/, "has `..` or `@{`"],
  [/^\/|\/$|\/\//, "has an empty segment"],
  [/(?:^|\/)\.|\.$|\.lock(?:\/|$)/, "has a segment that begins with `.`, or ends in `.` or `.lock`"],
  [/^@?$/, "is empty"],
];

function checkRef(ref: string): RefusedAddress | undefined {
  if (ref.length > MAX_REF_LENGTH) {
    const message = `The reference has ${ref.length} characters; ${MAX_REF_LENGTH} are allowed.`;
    return refuseAddress(message, REF_HINT);
  }
  const wrong = NOT_IN_REFS.find(([pattern]) => pattern.test(ref))?.[1];
  return wrong === undefined
    ? undefined
    : refuseAddress(`The reference ${showPath(ref)} ${wrong}.`, REF_HINT);
}

/** `""` for the root; otherwise without `.` segments and without `/` at the end. */
export function readInnerPath(text: string): Result<string, InstallFault> {
  const trimmed = text.replace(/\/+$/, "");
  if (trimmed === "" || trimmed === ".") return done("");
  const checked = checkContainedPath(trimmed);
  if (checked.ok) return done(checked.path);
  const message = checked.message.charAt(0).toUpperCase() + checked.message.slice(1);
  return refuseAddress(message, "Write the path from the root of the source down, as `skills/pdf`.");
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

/** What a file of this name is to an installer. */
export function kindOfFile(name: string): "archive" | "file" | undefined {
  if (ARCHIVE.test(name)) return "archive";
  return MARKDOWN.test(name) ? "file" : undefined;
}

/** What a program gave beside the address, as `--ref` does. */
export interface GivenRef {
  readonly ref?: string | undefined;
}

/** `prefix` is `git+` where the URL alone would be read as something else. */
export function makeGit(
  url: string,
  parts: InnerParts,
  { ref: given }: GivenRef,
  prefix: "git+" | "" = "",
): Result<GitAddress, InstallFault> {
  const { ref = given, path } = parts;
  if (given !== undefined && ref !== given) {
    return refuseAddress(
      `The address has the reference ${showPath(ref ?? "")} and another one is given beside it, ${showPath(given)}.`,
      "Give one of them.",
    );
  }
  const wrong = ref === undefined ? undefined : checkRef(ref);
  return wrong ?? done(gitAddress(url, { ref, path }, prefix));
}

/** The same repository at another reference, or another place in it: how what was installed is fetched again. */
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

/** Paths may hold `#`; only after these endings it separates. */
const WITH_FRAGMENT = /^(.*\.(?:tar\.gz|tgz|tar|zip|git)\/?)#(.*)$/i;

/** What begins with `/`, `.` or `~`. */
export function parseLocalPath(text: string, options: LocalOptions): AddressResult {
  if (/^~[^/]/.test(text)) {
    const hint = "Write the whole path, as `/home/name/skills`; `~/` is your own home.";
    return refuseAddress(`${showPath(text)} names the home of another user.`, hint);
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
      `${showPath(path)} is no git repository, so the reference ${showPath(ref)} means nothing for it.`,
      "For a repository of this machine write `file://` before its path.",
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
    return refuseAddress(`${showPath(base)} is no file of this machine.`, hint);
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
    return undefined; // An encoded `/`, or what is no UTF-8.
  }
}
