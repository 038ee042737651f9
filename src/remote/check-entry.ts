/**
 * What an MCP server declares of one skill, checked before anything of it is fetched: URI, name, frontmatter, and a complete
 * list of files with digests within the limits. An entry that breaks one rule is refused whole, with every reason.
 */
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { showPath } from "../host/contained-path.ts";
import type { Json } from "../skill/manifest.ts";
import type { RemoteFile } from "../skill/skill.ts";
import { identifyRemote } from "../trust/remote-trust.ts";
import { MAX_URI_LENGTH, pathInSkill, readSkillUri } from "./skill-uri.ts";

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

export type EntryCheck =
  | { readonly ok: true; readonly entry: RemoteEntry }
  | { readonly ok: false; readonly uri?: string; readonly faults: readonly EntryFault[] };

/** What every host of such skills takes, and this one no more than that. */
export const ENTRY_LIMITS = { files: 512, bytes: 16 * 1024 * 1024 } as const;

const MAX_FRONTMATTER = 64 * 1024;
const MAX_FAULTS = 10;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function checkEntry(value: unknown): EntryCheck {
  if (!isObject(value)) return { ok: false, faults: [wrong("it is no object")] };
  const { uri, frontmatter, resources } = value;
  if (typeof uri !== "string") return { ok: false, faults: [wrong("it has no `uri`")] };
  if (uri.length > MAX_URI_LENGTH) {
    const fault = `its URI has ${uri.length} characters; at most ${MAX_URI_LENGTH} are taken`;
    return { ok: false, faults: [limit(fault)] };
  }
  const address = readSkillUri(uri);
  if ("fault" in address) return { ok: false, uri, faults: [wrong(address.fault)] };
  const listed = readResources(resources, uri, address.root);
  const faults = [...checkFrontmatter(frontmatter, address.name), ...listed.faults];
  if (faults.length > 0) return { ok: false, uri, faults: faults.slice(0, MAX_FAULTS) };
  const { files } = listed;
  const entry = {
    uri,
    frontmatter: frontmatter as RemoteEntry["frontmatter"],
    files,
    digest: identifyRemote(files),
  };
  return { ok: true, entry };
}

function checkFrontmatter(frontmatter: unknown, folder: string): readonly EntryFault[] {
  if (!isObject(frontmatter)) return [wrong("it has no `frontmatter`")];
  const bytes = Buffer.byteLength(JSON.stringify(frontmatter));
  if (bytes > MAX_FRONTMATTER) {
    return [limit(`its \`frontmatter\` has ${bytes} bytes; at most ${MAX_FRONTMATTER} are taken`)];
  }
  const { name, description } = frontmatter;
  const faults: EntryFault[] = [];
  if (typeof name !== "string" || name.length > MAX_NAME || !NAME.test(name)) {
    faults.push(wrong("its `name` is not of lower-case letters, digits and single hyphens, 64 at most"));
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
    const fault = "its files have no digests (`resources` is `dynamic`), so nothing of it could be verified";
    return { files: [], faults: [{ code: "remote.dynamic", fault }] };
  }
  if (!Array.isArray(resources)) return { files: [], faults: [wrong("it has no list `resources`")] };
  if (resources.length > ENTRY_LIMITS.files) {
    const fault = `it has ${resources.length} files; at most ${ENTRY_LIMITS.files} are taken`;
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
  if (!isObject(value) || typeof value.uri !== "string") return wrong("one of its files has no `uri`");
  const { uri, digest, size } = value;
  const found = pathInSkill(root, uri);
  if ("fault" in found) return wrong(found.fault);
  if (typeof digest !== "string" || !DIGEST.test(digest)) {
    return wrong(
      `the \`digest\` of ${showPath(uri)} is not \`sha256:\` and 64 lower-case hexadecimal digits`,
    );
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    return wrong(`the \`size\` of ${showPath(uri)} is no number of bytes`);
  }
  return { path: found.path, uri, digest, size };
}

/** Complete, each file once, and no more than may be fetched. */
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
    faults.push(limit(`its files have ${bytes} bytes; at most ${ENTRY_LIMITS.bytes} are taken`));
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
