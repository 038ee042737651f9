/**
 * Checks an MCP server's declaration of one skill before fetching: URI, name, frontmatter, and a complete list of files
 * with digests within the limits. An entry that breaks one rule is refused as a whole, with every reason. URIs are
 * parsed as written: what looks like a way out of the skill is refused, not followed.
 */
import type { DiagnosticCode } from "@metier/base/diagnostic";
import { isDigest } from "@metier/base/digest";
import { checkContainedPath, showPath } from "@metier/base/files";
import { isJsonObject, type Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import type { RemoteFile } from "@metier/skills";
import { identifyRemote } from "@metier/skills/trust";

export interface RemoteEntry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, Json>> & {
    readonly name: string;
    readonly description: string;
  };
  /** By path. */
  readonly files: readonly RemoteFile[];
  /** Their content identity. */
  readonly digest: string;
}

export interface EntryFault {
  readonly code: DiagnosticCode;
  /** The end of a sentence. */
  readonly fault: string;
}

export type EntryCheck = Result<
  RemoteEntry,
  { readonly uri?: string; readonly faults: readonly EntryFault[] }
>;

/** What every host of such skills accepts, and no more. */
const ENTRY_LIMITS = { files: 512, bytes: 16 * 1024 * 1024 } as const;

const MAX_FRONTMATTER = 64 * 1024;
const MAX_FAULTS = 10;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;

export function checkEntry(value: unknown): EntryCheck {
  if (!isJsonObject(value)) return refused({ faults: [wrong("it is not an object")] });
  const { uri, frontmatter, resources } = value;
  if (typeof uri !== "string") return refused({ faults: [wrong("it has no `uri`")] });
  if (uri.length > MAX_URI_LENGTH) {
    const fault = `its URI has ${uri.length} characters; the limit is ${MAX_URI_LENGTH}`;
    return refused({ faults: [limit(fault)] });
  }
  const address = readSkillUri(uri);
  if ("fault" in address) return refused({ uri, faults: [wrong(address.fault)] });
  const listed = readResources(resources, uri, address.root);
  const faults = [...checkFrontmatter(frontmatter, address.name), ...listed.faults];
  if (faults.length > 0) return refused({ uri, faults: faults.slice(0, MAX_FAULTS) });
  const { files } = listed;
  const checked = frontmatter as RemoteEntry["frontmatter"];
  return done({ uri, frontmatter: checked, files, digest: identifyRemote(files) });
}

function checkFrontmatter(frontmatter: unknown, folder: string): readonly EntryFault[] {
  if (!isJsonObject(frontmatter)) return [wrong("it has no `frontmatter`")];
  const bytes = Buffer.byteLength(JSON.stringify(frontmatter));
  if (bytes > MAX_FRONTMATTER) {
    return [limit(`its \`frontmatter\` has ${bytes} bytes; the limit is ${MAX_FRONTMATTER} bytes`)];
  }
  const { name, description } = frontmatter;
  const faults: EntryFault[] = [];
  if (typeof name !== "string" || name.length > MAX_NAME || !NAME.test(name)) {
    faults.push(
      wrong("its `name` does not consist of at most 64 lowercase letters, digits and single hyphens"),
    );
  } else if (name !== folder) {
    faults.push(wrong(`its \`name\` is \`${name}\`, but its URI ends in ${showPath(folder)}`));
  }
  const length = typeof description === "string" ? [...description].length : 0;
  if (length === 0 || length > MAX_DESCRIPTION) {
    faults.push(wrong(`its \`description\` has ${length} characters; 1 to ${MAX_DESCRIPTION} are allowed`));
  }
  return faults;
}

interface ListedFiles {
  readonly files: readonly RemoteFile[];
  readonly faults: readonly EntryFault[];
}

function readResources(resources: unknown, uri: string, root: string): ListedFiles {
  if (resources === "dynamic") {
    const fault = "its files have no digests (`resources` is `dynamic`), so they cannot be verified";
    return { files: [], faults: [{ code: "remote.dynamic", fault }] };
  }
  if (!Array.isArray(resources)) return { files: [], faults: [wrong("it has no `resources` list")] };
  if (resources.length > ENTRY_LIMITS.files) {
    const fault = `it has ${resources.length} files; the limit is ${ENTRY_LIMITS.files}`;
    return { files: [], faults: [limit(fault)] };
  }
  const files: RemoteFile[] = [];
  const faults: EntryFault[] = [];
  for (const resource of resources as readonly unknown[]) {
    const file = readResource(resource, root);
    if ("fault" in file) faults.push(file);
    else files.push(file);
  }
  if (faults.length === 0) faults.push(...checkSet(files, uri));
  return { files, faults };
}

function readResource(value: unknown, root: string): RemoteFile | EntryFault {
  if (!isJsonObject(value) || typeof value.uri !== "string") return wrong("one of its files has no `uri`");
  const { uri, digest, size } = value;
  const found = pathInSkill(root, uri);
  if ("fault" in found) return wrong(found.fault);
  if (!isDigest(digest)) {
    return wrong(`the \`digest\` of ${showPath(uri)} is not \`sha256:\` and 64 lowercase hexadecimal digits`);
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    return wrong(`the \`size\` of ${showPath(uri)} is not a number of bytes`);
  }
  return { path: found.path, uri, digest, size };
}

/** Complete, each file once, within the fetch limits. */
function checkSet(files: readonly RemoteFile[], uri: string): readonly EntryFault[] {
  const faults: EntryFault[] = [];
  const paths = new Set<string>();
  for (const { path } of files) {
    if (paths.has(path)) faults.push(wrong(`the file ${showPath(path)} is listed more than once`));
    paths.add(path);
  }
  for (const path of paths) {
    const folder = foldersOf(path).find((above) => paths.has(above));
    if (folder !== undefined) faults.push(wrong(`${showPath(folder)} is listed as a file and as a folder`));
  }
  if (!files.some((file) => file.uri === uri))
    faults.push(wrong("its files do not include its own `SKILL.md`"));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > ENTRY_LIMITS.bytes) {
    faults.push(limit(`its files have ${bytes} bytes; the limit is ${ENTRY_LIMITS.bytes} bytes`));
  }
  return faults;
}

/** `a/b/c` → `a`, `a/b` */
function foldersOf(path: string): readonly string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function wrong(fault: string): EntryFault {
  return { code: "remote.entry", fault };
}

function limit(fault: string): EntryFault {
  return { code: "remote.limit", fault };
}

interface UriFault {
  /** The end of a sentence. */
  readonly fault: string;
}

/** In characters. */
const MAX_URI_LENGTH = 4096;
const SKILL_FILE = "/SKILL.md";
/** A scheme, an authority that is only the first segment, and path characters of RFC 3986. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/((?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})+)$/i;

/** `root`: the skill folder's URI, without `/SKILL.md`. `name`: its last segment. */
export function readSkillUri(uri: string): { readonly root: string; readonly name: string } | UriFault {
  const path = pathOfUri(uri);
  if (typeof path !== "string") return path;
  if (!uri.endsWith(SKILL_FILE))
    return { fault: `its URI ${showPath(uri)} does not end with \`${SKILL_FILE}\`` };
  const segments = readSegments(path.slice(0, -SKILL_FILE.length));
  if (segments === undefined) {
    return { fault: `its URI ${showPath(uri)} has an empty segment, or one such as \`..\`` };
  }
  return { root: uri.slice(0, -SKILL_FILE.length), name: segments.at(-1) ?? "" };
}

/** Inside the skill's folder, decoded: the file's name on disk. */
export function pathInSkill(root: string, uri: string): { readonly path: string } | UriFault {
  const whole = pathOfUri(uri);
  if (typeof whole !== "string") return whole;
  if (!uri.startsWith(`${root}/`)) {
    return { fault: `the file ${showPath(uri)} is outside the skill's folder ${showPath(root)}` };
  }
  const path = readSegments(uri.slice(root.length + 1))?.join("/");
  const checked = path === undefined ? undefined : checkContainedPath(path);
  if (!checked?.ok || checked.path !== path) {
    const why = checked?.ok === false ? `: ${checked.message.replace(/\.$/, "")}` : "";
    return { fault: `the file ${showPath(uri)} has a path that may point outside the skill's folder${why}` };
  }
  return { path };
}

function pathOfUri(uri: string): string | UriFault {
  const [, path] = (uri.length <= MAX_URI_LENGTH && URI.exec(uri)) || [];
  return (
    path ?? {
      fault: `${showPath(uri)} is not a URI of the form \`scheme://path\` without query and fragment`,
    }
  );
}

/** Decoded; `undefined` if one is empty, goes up, or hides a separator. */
function readSegments(path: string): readonly string[] | undefined {
  try {
    const segments = path.split("/").map(decodeURIComponent);
    return segments.every((segment) => !/^(?:|\.|\.\.)$|[/\\\0]/.test(segment)) ? segments : undefined;
  } catch {
    return undefined; // Not UTF-8.
  }
}
