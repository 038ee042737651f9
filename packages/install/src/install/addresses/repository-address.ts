/**
 * Addresses of git repositories: git's own forms (`ssh://`, `git@host:path`), and repositories on GitHub and GitLab as
 * `owner/repo/path@ref` or by their browser URLs.
 */
import { showPath } from "@metier/base/files";
import { done } from "@metier/base/result";
import { isSkillFileName } from "@metier/skills";
import {
  type AddressResult,
  type GivenRef,
  makeGit,
  type RefusedAddress,
  readFragment,
  readInnerPath,
  readRef,
  refuseAddress,
  splitFragment,
} from "./address-parts.ts";

const USER = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}";
const HOST = "[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?";
/** Does not start with `-`, which ssh or the server could take for an option. */
const SSH_PATH = "(?!-)[A-Za-z0-9_.~+@%-]+(?:/(?!-)[A-Za-z0-9_.~+@%-]+)*";
const SCP_FORM = new RegExp(`^(${USER})@(${HOST}):(/?${SSH_PATH})/?$`);
const SSH_URL = new RegExp(
  `^ssh://(?:(${USER})@)?(${HOST}|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?/(${SSH_PATH})/?$`,
);
const SSH_HINT =
  "Write `git@host:owner/repo.git` or `ssh://git@host/owner/repo.git`, with a reference as `#v1`.";

/** `git@host:owner/repo.git`: no scheme, a user, and a colon before any `/`. */
export function isScpForm(text: string): boolean {
  return /^[^/:@\s]*@[^/@\s]+:/.test(text);
}

export function parseScpForm(text: string, given: GivenRef): AddressResult {
  const [base, fragment] = splitFragment(text);
  const [, user, host, path] = SCP_FORM.exec(base) ?? [];
  if (path === undefined) return refuseAddress(`${showPath(base)} is not an ssh address.`, SSH_HINT);
  return finishSsh(`${user}@${host?.toLowerCase()}:${path}`, fragment, given);
}

export function parseSshUrl(text: string, given: GivenRef): AddressResult {
  const [base, fragment] = splitFragment(text);
  if (/^ssh:\/\/[^/@]*:[^/@]*@/.test(base)) {
    const hint = "Remove it: ssh signs in with the keys from your agent or `~/.ssh`.";
    return refuseAddress("The address contains a password.", hint);
  }
  const [, user, host = "", port = "", path] = SSH_URL.exec(base) ?? [];
  if (path === undefined) return refuseAddress(`${showPath(base)} is not an ssh address.`, SSH_HINT);
  const at = user === undefined ? "" : `${user}@`;
  return finishSsh(`ssh://${at}${host.toLowerCase()}${port}/${path}`, fragment, given);
}

function finishSsh(url: string, fragment: string, given: GivenRef): AddressResult {
  const parts = readFragment(fragment);
  return parts.ok ? makeGit(url, parts.value, given) : parts;
}

export const HOSTS: Readonly<Record<string, string>> = { "github:": "github.com", "gitlab:": "gitlab.com" };

const OWNER = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$/;
const REPOSITORY = /^(?!\.{1,2}$)(?!-)[A-Za-z0-9_.-]{1,100}$/;
const SHORT_HINT =
  "Write `owner/repo`, `owner/repo/path` or `owner/repo/path@ref`; a local folder starts with `./`.";

/** `owner/repo[/path][@ref]` or `owner/repo[/path]#ref`, without the prefix. */
export function parseShorthand(text: string, host: string, given: GivenRef): AddressResult {
  const [base, fragment] = splitFragment(text);
  // A path may contain `@scope`, a reference `name@1.0.0`: the first `@` that does not start a segment separates.
  const at = base.search(/(?<=[^/])@/);
  const place = at === -1 ? base : base.slice(0, at);
  const segments = place.replace(/\/+$/, "").split("/");
  const length = repositoryLength(segments);
  const names = segments.slice(0, length);
  const wrong = refuseNames(names, text);
  if (wrong) return wrong;
  if (at !== -1 && fragment !== "") {
    const message = `${showPath(text)} has a reference after \`@\` and another after \`#\`.`;
    return refuseAddress(message, SHORT_HINT);
  }
  const parts = at === -1 ? readFragment(fragment) : readRef(base.slice(at + 1));
  if (!parts.ok) return parts;
  const path = readInnerPath(segments.slice(length).join("/"));
  if (!path.ok) return path;
  if (path.value !== "" && parts.value.path !== "") {
    return refuseAddress(`${showPath(text)} has two paths.`, SHORT_HINT);
  }
  return makeGit(hostedUrl(host, names), { ...parts.value, path: path.value || parts.value.path }, given);
}

/** Two, or more if a segment ends in `.git`: GitLab has nested groups. */
function repositoryLength(segments: readonly string[]): number {
  const marked = segments.findIndex((segment) => segment.endsWith(".git") && segment !== ".git");
  return marked > 0 ? marked + 1 : 2;
}

function refuseNames(names: readonly string[], text: string): RefusedAddress | undefined {
  const wrong = whyNoRepository(names);
  return wrong === undefined
    ? undefined
    : refuseAddress(`${showPath(text)} is not a repository: ${wrong}.`, SHORT_HINT);
}

function whyNoRepository(names: readonly string[]): string | undefined {
  if (names.length < 2) return "it needs an owner and a repository";
  const owner = names.slice(0, -1).find((name) => !OWNER.test(name));
  if (owner !== undefined) {
    return owner.length > 64
      ? `the owner has ${owner.length} characters; the limit is 64`
      : `${showPath(owner)} is not a valid owner name`;
  }
  const repository = names.at(-1) ?? "";
  if (REPOSITORY.test(repository)) return undefined;
  return repository.length > 100
    ? `the repository name has ${repository.length} characters; the limit is 100`
    : `${showPath(repository)} is not a valid repository name`;
}

function hostedUrl(host: string, names: readonly string[]): string {
  return `https://${host}/${names.join("/").replace(/\.git$/, "")}.git`;
}

/** A page of a repository; `undefined` if the URL is not one. Segments are decoded. */
export function parsePage(url: URL, segments: readonly string[], given: GivenRef): AddressResult | undefined {
  const page = findPage(segments);
  if (page === undefined) return undefined;
  const { names, view, rest } = page;
  const wrong = refuseNames(names, url.href);
  if (wrong) return wrong;
  const repository = isKnownHost(url) ? hostedUrl(url.host, names) : `${url.origin}/${names.join("/")}`;
  if (view === "commit" || view === "tag")
    return makeGit(repository, { ref: rest.join("/"), path: "" }, given);
  const isSkillFile = view === "blob" && isSkillFileName(rest.at(-1) ?? "");
  const parts = isSkillFile ? rest.slice(0, -1) : rest;
  const tree = `${url.origin}/${names.join("/")}/${segments.includes("-") ? "-/" : ""}tree`;
  return splitRef(repository, tree, parts, given);
}

/** The first segment is the reference, unless a given reference continues in the others. */
function splitRef(
  repository: string,
  tree: string,
  parts: readonly string[],
  given: GivenRef,
): AddressResult {
  const text = parts.join("/");
  if (given.ref !== undefined && (text === given.ref || text.startsWith(`${given.ref}/`))) {
    const path = readInnerPath(text.slice(given.ref.length + 1));
    return path.ok ? makeGit(repository, { ref: given.ref, path: path.value }, given) : path;
  }
  const [ref = ""] = parts;
  const path = readInnerPath(parts.slice(1).join("/"));
  if (!path.ok) return path;
  const made = makeGit(repository, { ref, path: path.value }, given);
  if (!made.ok || path.value === "") return made;
  const canonical = `${tree}/${[ref, ...path.value.split("/")].map(encodeURIComponent).join("/")}`;
  return done({ ...made.value, splitsAnywhere: true, canonical });
}

interface Page {
  readonly names: readonly string[];
  readonly view: "tree" | "blob" | "commit" | "tag";
  readonly rest: readonly string[];
}

/** GitLab has `/-/` before what a page shows; GitHub has it after two segments. */
function findPage(segments: readonly string[]): Page | undefined {
  const dash = segments.indexOf("-");
  const length = dash === -1 ? 2 : dash;
  const names = segments.slice(0, length);
  const [view, ...rest] = segments.slice(dash === -1 ? length : length + 1);
  if (rest.length === 0) return undefined;
  if (view === "tree" || view === "blob" || view === "commit") return { names, view, rest };
  if (view === "releases" && rest[0] === "tag" && rest.length > 1)
    return { names, view: "tag", rest: rest.slice(1) };
  return undefined;
}

export function isKnownHost({ host }: URL): boolean {
  return Object.values(HOSTS).includes(host);
}

/** A repository on GitHub or GitLab by its URL alone, with or without `.git`. */
export function parseRepositoryUrl(
  url: URL,
  segments: readonly string[],
  fragment: string,
  given: GivenRef,
): AddressResult {
  const isGitHub = url.host === HOSTS["github:"];
  const length = isGitHub ? repositoryLength(segments) : segments.length;
  const names = segments.slice(0, length);
  const wrong = refuseNames(names, url.href);
  if (wrong) return wrong;
  if (segments.length > length) {
    return refuseAddress(
      `${showPath(url.href)} is a GitHub page that shows neither a folder nor a file.`,
      `For the whole repository write \`${names.join("/")}\`; for one of its folders, \`${names.join("/")}/path\`.`,
    );
  }
  const parts = readFragment(fragment);
  return parts.ok ? makeGit(hostedUrl(url.host, names), parts.value, given) : parts;
}
