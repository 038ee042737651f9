/**
 * Before a skill of an MCP server is used: is it still what the server declares, and are its files here? It is fetched by the
 * first use and never before. Where the server cannot be asked, what was fetched and verified earlier is used, and that
 * is said.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { RemoteSkillError } from "@metier/base/errors";
import { done, type Result } from "@metier/base/result";
import type { RemoteOrigin, Skill } from "@metier/skills";
import { remoteLocation } from "@metier/skills/trust";
import { fetchSkill, isFetched, verifyFrontmatter } from "./fetch-skill.ts";
import type { RemoteServer } from "./find-remote.ts";
import type { ServerConnection } from "./open-server.ts";
import { askForSkill, dropSkill, keepSkill, type RemoteParts, withServer } from "./refresh-server.ts";
import type { RemoteEntry } from "./remote-entry.ts";
import { type IndexedSkill, isCurrent, readIndex } from "./remote-index.ts";

export type RemoteReadiness =
  /** Its folder holds exactly the declared files. */
  | { readonly kind: "ready"; readonly diagnostics: readonly Diagnostic[] }
  /** The server declares something else now: the catalog has to be loaded again. */
  | { readonly kind: "changed" }
  /** At least one reason. */
  | { readonly kind: "refused"; readonly diagnostics: readonly Diagnostic[] };

interface ReadyOrder {
  readonly skill: Pick<Skill, "name" | "directory"> & { readonly remote: RemoteOrigin };
  /** Absent when the config does not name it any more. */
  readonly remote: RemoteServer | undefined;
  readonly parts: RemoteParts;
  /** Whether the server is asked again once its word has run out. Not for files of a skill that is being followed. */
  readonly asksAgain: boolean;
}

export async function readySkill(order: ReadyOrder): Promise<RemoteReadiness> {
  const { skill, remote, parts, asksAgain } = order;
  const { server: label, uri, digest } = skill.remote;
  if (remote === undefined) return { kind: "refused", diagnostics: [reportUnconfigured(skill.name, label)] };
  const read = readIndex(parts.places, label);
  const known = read.ok ? read.value.skills.find(({ entry }) => entry.uri === uri) : undefined;
  if (known?.entry.digest !== digest) return { kind: "changed" };
  const isHere = isFetched(skill.directory, digest);
  const asks = asksAgain && !isCurrent(known, Date.now());
  if (isHere && !asks) return compareFetched(label, known.entry, skill.directory);
  const said = await withServer(
    remote,
    parts,
    undefined,
    async (server): Promise<Result<RemoteReadiness, Diagnostic>> => {
      const asked = asks ? await askAgain(server, known, parts, label) : SAME;
      if (!asked.ok) return asked;
      if (asked.value === "changed") return done({ kind: "changed" });
      const { entry } = known;
      if (isHere) return done(await compareFetched(label, entry, skill.directory));
      return done(readyUnless(await fetchSkill({ places: parts.places, label, entry, server })));
    },
  );
  if (said.ok) return said.value;
  if (!isHere) return { kind: "refused", diagnostics: [said.refusal] };
  return { kind: "ready", diagnostics: [reportStale(skill.name, said.refusal)] };
}

/** The bytes are the declared ones; a server may still declare another frontmatter for them than they have. */
async function compareFetched(label: string, entry: RemoteEntry, folder: string): Promise<RemoteReadiness> {
  const differs = await verifyFrontmatter(label, entry, readFileSync(join(folder, "SKILL.md")));
  return readyUnless(differs ? [differs] : []);
}

function readyUnless(faults: readonly Diagnostic[]): RemoteReadiness {
  return faults.length === 0 ? { kind: "ready", diagnostics: [] } : { kind: "refused", diagnostics: faults };
}

const SAME = done("same" as const);

/** Whether the server still declares the same of it; what it declares now is kept. No answer where it gave none. */
async function askAgain(
  server: ServerConnection,
  known: IndexedSkill,
  { places }: RemoteParts,
  label: string,
): Promise<Result<"same" | "changed", Diagnostic>> {
  const { uri, digest, frontmatter } = known.entry;
  const said = await askForSkill(label, server, uri);
  if (!said.ok && said.refusal.code === "remote.unreachable") return said;
  if (!said.ok) {
    dropSkill(places, label, uri, said.refusal);
    return done("changed");
  }
  keepSkill(places, label, said.value);
  const { entry } = said.value;
  const isSame = entry.digest === digest && isDeepStrictEqual(entry.frontmatter, frontmatter);
  return isSame ? SAME : done("changed");
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

const MOST_TOLD = 5;

/** Why it cannot be used now, as the error that readers of skills expect. */
export function refuseLoad(
  { name, location, remote }: Pick<Skill, "name" | "location" | "remote">,
  readiness: Exclude<RemoteReadiness, { readonly kind: "ready" }>,
): RemoteSkillError {
  const path = remote ? remoteLocation(remote) : location;
  if (readiness.kind === "changed") {
    return new RemoteSkillError(name, path, "its server has just changed it.", [], { hint: "Use it again." });
  }
  const { diagnostics } = readiness;
  const told = diagnostics.slice(0, MOST_TOLD).map(({ message }) => message);
  const more = diagnostics.length - told.length;
  const reason = [...told, ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
  return new RemoteSkillError(name, path, reason, diagnostics, { hint: diagnostics[0]?.hint });
}
