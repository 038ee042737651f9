/**
 * Before a skill of an MCP server is used: does the server still declare it, and are its files here? The first use
 * fetches it, never earlier. If the server is unreachable, what was fetched and verified before is used, with a notice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { RemoteSkillError } from "@metier/base/errors";
import { done, type Result } from "@metier/base/result";
import { type RemoteOrigin, SKILL_FILE, type Skill } from "@metier/skills";
import { remoteLocation } from "@metier/skills/trust";
import { fetchSkill, isFetched, verifyFrontmatter } from "./fetch-skill.ts";
import type { RemoteServer } from "./find-remote.ts";
import type { ServerConnection } from "./open-server.ts";
import { askForSkill, dropSkill, keepSkill, type RemoteParts, withServer } from "./refresh-server.ts";
import type { RemoteEntry } from "./remote-entry.ts";
import { type IndexedSkill, isCurrent, readIndex } from "./remote-index.ts";

export type RemoteReadiness =
  /** Its folder contains exactly the declared files. */
  | { readonly kind: "ready"; readonly diagnostics: readonly Diagnostic[] }
  /** The server now declares something else: reload the catalog. */
  | { readonly kind: "changed" }
  /** At least one reason. */
  | { readonly kind: "refused"; readonly diagnostics: readonly Diagnostic[] };

interface ReadyOrder {
  readonly skill: Pick<Skill, "name" | "directory"> & { readonly remote: RemoteOrigin };
  /** Absent if the config no longer names it. */
  readonly remote: RemoteServer | undefined;
  readonly parts: RemoteParts;
  /** Whether to ask the server again after its answer expired. Not for files of a skill that is being followed. */
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

/** The bytes match the declaration, but a server may declare another frontmatter than they contain. */
async function compareFetched(label: string, entry: RemoteEntry, folder: string): Promise<RemoteReadiness> {
  const differs = await verifyFrontmatter(label, entry, readFileSync(join(folder, SKILL_FILE)));
  return readyUnless(differs ? [differs] : []);
}

function readyUnless(faults: readonly Diagnostic[]): RemoteReadiness {
  return faults.length === 0 ? { kind: "ready", diagnostics: [] } : { kind: "refused", diagnostics: faults };
}

const SAME = done("same" as const);

/** Whether the server still declares the same; its current declaration is stored. `undefined` if it did not answer. */
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

/** Still used: it was verified when the server last answered. */
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
    message: `\`${name}\` cannot be used: the config no longer names the MCP server \`${label}\`.`,
    hint: `Add \`[mcp.servers.${label}]\` again, or reload the catalog.`,
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
    return new RemoteSkillError(name, path, "its server just changed it.", [], { hint: "Use it again." });
  }
  const { diagnostics } = readiness;
  const told = diagnostics.slice(0, MOST_TOLD).map(({ message }) => message);
  const more = diagnostics.length - told.length;
  const reason = [...told, ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
  return new RemoteSkillError(name, path, reason, diagnostics, { hint: diagnostics[0]?.hint });
}
