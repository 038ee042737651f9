/**
 * Before a skill of an MCP server is used: is it still what the server declares, and are its files here? It is fetched by the
 * first use and never before. Where the server cannot be asked, what was fetched and verified earlier is used, and that
 * is said.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { RemoteOrigin, Skill } from "../skill/skill.ts";
import type { RemoteEntry } from "./check-entry.ts";
import { fetchSkill, isFetched } from "./fetch-skill.ts";
import type { Said, SkillServer } from "./open-server.ts";
import { askForSkill, dropSkill, keepSkill, type RemoteParts, withServer } from "./refresh-server.ts";
import { type IndexedSkill, isCurrent, readIndex } from "./remote-index.ts";
import type { RemoteServer } from "./remote-server.ts";
import { verifyFrontmatter } from "./verify-file.ts";

export type Readiness =
  /** Its folder holds exactly the declared files. */
  | { readonly kind: "ready"; readonly diagnostics: readonly Diagnostic[] }
  /** The server declares something else now: the catalog has to be loaded again. */
  | { readonly kind: "changed" }
  /** At least one reason. */
  | { readonly kind: "refused"; readonly diagnostics: readonly Diagnostic[] };

export interface ReadyOrder {
  readonly skill: Pick<Skill, "name" | "directory"> & { readonly remote: RemoteOrigin };
  /** Absent when the config does not name it any more. */
  readonly remote: RemoteServer | undefined;
  readonly parts: RemoteParts;
  /** Whether the server is asked again once its word has run out. Not for files of a skill that is being followed. */
  readonly asksAgain: boolean;
}

export async function readySkill(order: ReadyOrder): Promise<Readiness> {
  const { skill, remote, parts, asksAgain } = order;
  const { server: label, uri, digest } = skill.remote;
  if (remote === undefined) return { kind: "refused", diagnostics: [reportUnconfigured(skill.name, label)] };
  const read = readIndex(parts.places, label);
  const known = read.ok ? read.index.skills.find(({ entry }) => entry.uri === uri) : undefined;
  if (known?.entry.digest !== digest) return { kind: "changed" };
  const isHere = isFetched(skill.directory, digest);
  const asks = asksAgain && !isCurrent(known, Date.now());
  if (isHere && !asks) return compareFetched(label, known.entry, skill.directory);
  const said = await withServer(remote, parts, undefined, async (server): Promise<Said<Readiness>> => {
    const asked = asks ? await askAgain(server, known, parts, label) : SAME;
    if (!asked.ok) return asked;
    if (asked.value === "changed") return { ok: true, value: { kind: "changed" } };
    const { entry } = known;
    if (isHere) return { ok: true, value: await compareFetched(label, entry, skill.directory) };
    return { ok: true, value: readyUnless(await fetchSkill({ places: parts.places, label, entry, server })) };
  });
  if (said.ok) return said.value;
  if (!isHere) return { kind: "refused", diagnostics: [said.diagnostic] };
  return { kind: "ready", diagnostics: [reportStale(skill.name, said.diagnostic)] };
}

/** The bytes are the declared ones; a server may still declare another frontmatter for them than they have. */
async function compareFetched(label: string, entry: RemoteEntry, folder: string): Promise<Readiness> {
  const differs = await verifyFrontmatter(label, entry, readFileSync(join(folder, "SKILL.md")));
  return readyUnless(differs ? [differs] : []);
}

function readyUnless(faults: readonly Diagnostic[]): Readiness {
  return faults.length === 0 ? { kind: "ready", diagnostics: [] } : { kind: "refused", diagnostics: faults };
}

const SAME = { ok: true, value: "same" } as const;

/** Whether the server still declares the same of it; what it declares now is kept. No answer where it gave none. */
async function askAgain(
  server: SkillServer,
  known: IndexedSkill,
  { places }: RemoteParts,
  label: string,
): Promise<Said<"same" | "changed">> {
  const { uri, digest, frontmatter } = known.entry;
  const said = await askForSkill(label, server, uri);
  if (!said.ok && said.diagnostic.code === "remote.unreachable") return said;
  if (!said.ok) {
    dropSkill(places, label, uri, said.diagnostic);
    return { ok: true, value: "changed" };
  }
  keepSkill(places, label, said.value);
  const { entry } = said.value;
  const isSame = entry.digest === digest && isDeepStrictEqual(entry.frontmatter, frontmatter);
  return isSame ? SAME : { ok: true, value: "changed" };
}

/** Used all the same: it is what was verified when the server last answered. */
function reportStale(name: string, { path, message }: Diagnostic): Diagnostic {
  return {
    code: "remote.stale",
    severity: "warning",
    path,
    message: `\`${name}\` is used as it was when its server last answered. ${message}`,
  };
}

function reportUnconfigured(name: string, label: string): Diagnostic {
  return {
    code: "remote.config",
    severity: "error",
    path: `mcp:${label}`,
    message: `\`${name}\` cannot be used: the config names no MCP server \`${label}\` any more.`,
    hint: `Set \`[mcp.servers.${label}]\` again, or load the catalog anew.`,
  };
}
