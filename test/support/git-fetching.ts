/** Fetches from git in a test as an installation does, and shows what came of it. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type FetchContext,
  type FetchedSource,
  fetchSource,
  type GitAddress,
  type InstallFault,
  parseSourceAddress,
  SOURCE_LIMITS,
  type SourceAddress,
  type SourceFetch,
  type SourceLimits,
} from "@metier/install";
import { temporaryFolder } from "./temporary.ts";

export type FetchingOptions = Partial<Omit<FetchContext, "limits">> & {
  readonly limits?: Partial<SourceLimits>;
};

export function readAddress(text: string): SourceAddress {
  const parsed = parseSourceAddress(text, { cwd: "/work", home: "/home/someone" });
  if (!parsed.ok) throw new Error(`${parsed.refusal.message} ${parsed.refusal.hint}`);
  return parsed.value;
}

/** A repository; `url` puts another one in its place, which cannot be typed. */
export function gitAddress(text: string, url?: string): GitAddress {
  const address = readAddress(text);
  if (address.kind !== "git") throw new Error(`${text} is no repository.`);
  return { ...address, ...(url !== undefined && { url }) };
}

/** The address, or the text of one. */
export function fetchIt(
  address: string | SourceAddress,
  options: FetchingOptions = {},
): Promise<SourceFetch> {
  return fetchSource(typeof address === "string" ? readAddress(address) : address, {
    into: temporaryFolder(),
    environment: { PATH: process.env.PATH },
    ...options,
    limits: { ...SOURCE_LIMITS, ...options.limits },
  });
}

export async function fetchedFrom(
  address: string | SourceAddress,
  options?: FetchingOptions,
): Promise<FetchedSource> {
  const outcome = await fetchIt(address, options);
  if (!outcome.ok)
    throw new Error(`${outcome.refusal.code}: ${outcome.refusal.message} ${outcome.refusal.hint}`);
  return outcome.value;
}

export async function faultFrom(
  address: string | SourceAddress,
  options?: FetchingOptions,
): Promise<InstallFault> {
  const outcome = await fetchIt(address, options);
  if (outcome.ok) throw new Error(`It was fetched: ${outcome.value.resolved}`);
  return outcome.refusal;
}

/** Every file below a folder: `{ "a/b.md": "text", "run.sh*": "…", "link@": "target" }`. */
export function readFolder(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length + 1);
    if (entry.isSymbolicLink()) found[`${name}@`] = readlinkSync(path);
    else if (entry.isFile()) {
      found[(statSync(path).mode & 0o100) === 0 ? name : `${name}*`] = readFileSync(path, "latin1");
    }
  }
  return found;
}
