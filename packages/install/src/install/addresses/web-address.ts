/**
 * Addresses that start with `https://`, or `http://` on this machine: repositories, archives, skill files and indexes.
 */
import { showPath } from "@metier/base/files";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result } from "@metier/base/result";
import type { InstallFault } from "../install-fault.ts";
import {
  type AddressResult,
  type GivenRef,
  kindOfFile,
  makeGit,
  type RefusedAddress,
  readFragment,
  refuseAddress,
  splitFragment,
  writeFragment,
} from "./address-parts.ts";
import { isKnownHost, parsePage, parseRepositoryUrl } from "./repository-address.ts";

const HOST = /^(?!-)[a-z0-9_.-]+$|^\[[0-9a-f:.]+\]$/;
const USER_INFO = /^[a-z]+:[/\\]*[^/\\?#]*@/i;
const GOES_UP = /(?:^|[/\\])(?:\.|%2e){2}(?:[/\\?#]|$)/i;
const INDEX = /^(.*)\/\.well-known\/(agent-skills|skills)(?:\/|\/index\.json)?$/;
/** A query parameter with one of these names is a key: everyone who reads the lock file would have it. */
const SECRET_QUERY = /token|secret|signature|password|credential|api[-_]?key|^(?:sig|key|auth)$/i;

export function parseWebAddress(text: string, given: GivenRef): AddressResult {
  const isGit = text.startsWith("git+");
  const [base, fragment] = splitFragment(isGit ? text.slice("git+".length) : text);
  const read = readUrl(base);
  if (!read.ok) return read;
  const { value: url } = read;
  const segments = decodeSegments(url.pathname);
  if (segments === undefined) {
    return refuseAddress(`${showPath(base)} is not encoded as UTF-8.`, "Copy the URL again.");
  }
  if (isGit && !isKnownHost(url)) return parseAnyGit(url, segments, fragment, given);
  return parseByPath(url, segments, fragment, given);
}

function readUrl(base: string): Result<URL, InstallFault> {
  if (USER_INFO.test(base)) {
    return refuseAddress(
      "The URL contains a user name or password, which would end up in the lock file.",
      "Remove it. Git asks its credential helpers; over ssh (`git@host:owner/repo.git`) your keys sign you in.",
    );
  }
  if (GOES_UP.test(base)) {
    return refuseAddress(`${showPath(base)} contains \`..\`.`, "Write the URL without it.");
  }
  const url = URL.parse(base);
  if (url === null || !HOST.test(url.hostname) || url.username !== "" || url.password !== "") {
    return refuseAddress(`${showPath(base)} is not a URL.`, "Write it as `https://host/owner/repo.git`.");
  }
  if (url.protocol !== "https:" && !isLoopbackHost(url.hostname)) {
    return refuseAddress(
      `${showPath(base)} is not encrypted: anyone on the network path could change what you install.`,
      `Use \`https://\`; \`http://\` is only for servers on this machine (\`localhost\`).`,
    );
  }
  url.hostname = url.hostname.replace(/\.+$/, "").replace(/^www\.(?=git(?:hub|lab)\.com$)/, "");
  return done(url);
}

function decodeSegments(pathname: string): readonly string[] | undefined {
  try {
    return pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined; // A `%` sequence that is not a character.
  }
}

function parseByPath(
  url: URL,
  segments: readonly string[],
  fragment: string,
  given: GivenRef,
): AddressResult {
  const index = parseIndex(url, segments);
  if (index) return whyNoParts(url, fragment, given) ?? index;
  const page = parsePage(url, segments, given);
  if (page) return page;
  const kind = kindOfFile(segments.at(-1) ?? "");
  if (kind !== undefined) return parseDownload(kind, url, fragment, given);
  if (isKnownHost(url)) return parseRepositoryUrl(url, segments, fragment, given);
  return parseAnyGit(url, segments, fragment, given);
}

/** Only a host, or its index at the fixed path. */
function parseIndex(url: URL, segments: readonly string[]): AddressResult | undefined {
  const [matched, below = "", folder] = INDEX.exec(url.pathname) ?? [];
  if (segments.length > 0 && matched === undefined) return undefined;
  const place = `${url.origin}${below}/.well-known/${folder ?? "agent-skills"}/index.json`;
  const isUsual = below === "" && folder !== "skills";
  return done({ kind: "well-known", url: place, canonical: isUsual ? url.origin : place });
}

function parseDownload(kind: "archive" | "file", url: URL, fragment: string, given: GivenRef): AddressResult {
  const secret = [...url.searchParams.keys()].find((name) => SECRET_QUERY.test(name));
  if (secret !== undefined) {
    return refuseAddress(
      `The URL contains a key, ${showPath(secret)}, which would end up in the lock file.`,
      "Download the file yourself and install it, for example as `./skill.zip`.",
    );
  }
  const parts = readFragment(fragment);
  if (!parts.ok) return parts;
  const { ref, path } = parts.value;
  const wrong = whyNoParts(url, kind === "archive" ? (ref ?? "") : fragment, given);
  if (wrong) return wrong;
  const plain = `${url.origin}${url.pathname}${url.search}`;
  return done({ kind, url: plain, path, canonical: `${plain}${writeFragment({ path })}` });
}

function whyNoParts(url: URL, fragment: string, { ref }: GivenRef): RefusedAddress | undefined {
  if (fragment === "" && ref === undefined) return undefined;
  return refuseAddress(
    `${showPath(url.href)} has no branches or tags, so ${showPath(ref ?? `#${fragment}`)} does not apply.`,
    "Only git repositories and npm packages have references; write a path in an archive as `…/x.zip#:path`.",
  );
}

/** Any other URL, and everything with `git+` before it. */
function parseAnyGit(
  url: URL,
  segments: readonly string[],
  fragment: string,
  given: GivenRef,
): AddressResult {
  const plain = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  if (url.search !== "") {
    const hint = "Remove the `?…`.";
    return refuseAddress(`The URL of ${showPath(plain)} has a query, but a repository never has one.`, hint);
  }
  const parts = readFragment(fragment);
  if (!parts.ok) return parts;
  const other =
    parseIndex(url, segments) ?? parsePage(url, segments, {}) ?? kindOfFile(segments.at(-1) ?? "");
  return makeGit(plain, parts.value, given, other === undefined ? "" : "git+");
}
