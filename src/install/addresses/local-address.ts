/** Addresses on this machine: folders, archives and skill files by their path, repositories by `file://` or `.git`. */
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { showPath } from "../../host/contained-path.ts";
import { expandPath } from "../../host/places.ts";
import { type AddressOutcome, refuseAddress } from "./address-outcome.ts";
import { kindOfFile, readFragment, splitFragment, writeFragment } from "./address-parts.ts";
import { type GivenRef, makeGit } from "./git-address.ts";

export interface LocalOptions extends GivenRef {
  readonly cwd: string;
  readonly home: string;
}

/** Paths may hold `#`; only after these endings it separates. */
const WITH_FRAGMENT = /^(.*\.(?:tar\.gz|tgz|tar|zip|git)\/?)#(.*)$/i;

/** What begins with `/`, `.` or `~`. */
export function parseLocalPath(text: string, options: LocalOptions): AddressOutcome {
  if (/^~[^/]/.test(text)) {
    return refuseAddress(
      `${showPath(text)} names the home of another user.`,
      "Write the whole path, as `/home/name/skills`; `~/` is your own home.",
    );
  }
  const [, base = text, fragment = ""] = WITH_FRAGMENT.exec(text) ?? [];
  return parsePath(resolve(expandPath(base, options.home, options.cwd)), fragment, options);
}

function parsePath(path: string, fragment: string, given: GivenRef): AddressOutcome {
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
  if (kind === undefined) return { ok: true, address: { kind: "folder", path, canonical: path } };
  const { path: inner } = parts.value;
  const canonical = `${path}${writeFragment({ path: inner })}`;
  return { ok: true, address: { kind, url: pathToFileURL(path).href, path: inner, canonical } };
}

function parseLocalGit(path: string, fragment: string, given: GivenRef): AddressOutcome {
  const parts = readFragment(fragment);
  const prefix = kindOfFile(path) === undefined ? "" : "git+";
  return parts.ok ? makeGit(pathToFileURL(path).href, parts.value, given, prefix) : parts;
}

/** `file://` is a repository, unless its name is that of an archive or a skill file. */
export function parseFileUrl(text: string, given: GivenRef): AddressOutcome {
  const isGit = text.startsWith("git+");
  const [base, fragment] = splitFragment(isGit ? text.slice("git+".length) : text);
  const path = readFilePath(base);
  if (path === undefined) {
    return refuseAddress(
      `${showPath(base)} is no file of this machine.`,
      "Write it as `file:///path/to/repository`, with three `/`.",
    );
  }
  return isGit || kindOfFile(path) === undefined
    ? parseLocalGit(path, fragment, given)
    : parsePath(path, fragment, given);
}

function readFilePath(base: string): string | undefined {
  const url = URL.parse(base);
  if (url === null || url.host !== "" || url.search !== "") return undefined;
  try {
    const path = fileURLToPath(url).replace(/(?<=.)\/+$/, "");
    return /[\x00-\x1f\x7f]/.test(path) ? undefined : path;
  } catch {
    return undefined; // An encoded `/`, or what is no UTF-8.
  }
}
