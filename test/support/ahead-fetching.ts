/** Fetches repositories over HTTP and in place, and says what can be compared. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { SourceFetch } from "@metier/install";
import { fetchIt, readFolder } from "./git-fetching.ts";
import type { Repository } from "./git-repository.ts";
import { startGitServer } from "./git-server.ts";
import { createRandom } from "./random.ts";
import { temporaryFolder } from "./temporary.ts";

/** Bytes that nothing compresses. */
export function makeNoise(length: number, seed = 1): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Uint8Array.from({ length }, () => random() * 256));
}

export async function serve({ folder }: Repository): Promise<string> {
  const { origin } = await startGitServer(dirname(folder));
  return `${origin}/repo`;
}

export interface Seen {
  readonly outcome: SourceFetch;
  /** Everything but where it is. */
  readonly told: unknown;
  /** The folders that were said to be complete, from the root, sorted; what each had then. */
  readonly found: readonly (readonly [folder: string, files: Record<string, string>])[];
}

/** Fetches, and takes the address and the place out of what it says. */
export async function look(address: string, options: Parameters<typeof fetchIt>[1] = {}): Promise<Seen> {
  const into = options.into ?? temporaryFolder();
  const found: [string, Record<string, string>][] = [];
  const onFound = (folder: string): void => {
    const [, , ...inside] = folder.slice(into.length).split("/");
    found.push([inside.join("/"), readShortly(folder)]);
  };
  const outcome = await fetchIt(address, { ...options, into, onFound });
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  return { outcome, told: outcome.ok ? tellSource(outcome.value) : tellFault(outcome, address), found };
}

function tellSource({ folder, diagnostics, resolved }: Extract<SourceFetch, { ok: true }>["value"]): unknown {
  const notes = diagnostics.map(({ path, ...note }) => ({ ...note, path: path.slice(folder.length) }));
  return { resolved, files: readShortly(folder), notes };
}

/** As `readFolder`, but long files by their digest. */
export function readShortly(folder: string): Record<string, string> {
  return shorten(readFolder(folder));
}

export function shorten(files: Readonly<Record<string, string>>): Record<string, string> {
  const short = (content: string): string =>
    content.length < 1000 ? content : createHash("sha1").update(content, "latin1").digest("hex");
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [name, short(content)]));
}

function tellFault({ refusal }: Extract<SourceFetch, { ok: false }>, address: string): unknown {
  return { ...refusal, message: refusal.message.replaceAll(address.replace(/#.*/, ""), "…") };
}

export function treeOf(entries: readonly (readonly [mode: string, name: string, id: string])[]): Buffer {
  const parts = entries.map(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
  return Buffer.concat(parts.flat());
}
