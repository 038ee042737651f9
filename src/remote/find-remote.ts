/** The skills of all configured servers, from what they said when they were last asked. Connects to nobody. */
import type { McpConfig } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
import { remoteName } from "../skill/remote-name.ts";
import type { RemoteSkill, RemoteSkills } from "../sources/remote-skills.ts";
import { digestBytes } from "../trust/identify-file.ts";
import { remoteLocation } from "../trust/remote-trust.ts";
import type { RemoteEntry } from "./check-entry.ts";
import { type RefusedEntry, type RemoteIndex, readIndex } from "./remote-index.ts";
import { indexFile, skillFolder } from "./remote-places.ts";
import { remoteServers } from "./remote-server.ts";

export type RemotePlaces = Pick<Places, "cache" | "configFile">;

const MOST_REFUSED_TOLD = 20;
const SUFFIX_LENGTH = 8;

export function findRemote(config: McpConfig, places: RemotePlaces): RemoteSkills {
  const { servers, diagnostics: faults } = remoteServers(config, places);
  const skills: RemoteSkill[] = [];
  const diagnostics: Diagnostic[] = [...faults];
  for (const { label } of servers) {
    const read = readIndex(places, label);
    if (!read.ok) diagnostics.push(read.diagnostic);
    else {
      const named = nameSkills(places, label, read.index);
      skills.push(...named.skills);
      diagnostics.push(...named.diagnostics, ...reportRefused(places, label, read.index.refused));
    }
  }
  return { skills, diagnostics };
}

/** Names need not be unique on a server: of those that share one, each gets a part that tells it from the others. */
export function nameSkills(
  places: RemotePlaces,
  label: string,
  { skills: indexed }: RemoteIndex,
): RemoteSkills {
  const counts = new Map<string, number>();
  for (const { entry } of indexed) {
    counts.set(entry.frontmatter.name, (counts.get(entry.frontmatter.name) ?? 0) + 1);
  }
  const skills: RemoteSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { entry } of indexed) {
    const { uri, files, digest, frontmatter } = entry;
    const isShared = (counts.get(frontmatter.name) ?? 0) > 1;
    const name = remoteName(label, isShared ? distinctName(entry) : frontmatter.name);
    const origin = { server: label, uri, files, digest };
    const folder = skillFolder(places, label, entry);
    skills.push({ name, origin, frontmatter, folder });
    if (isShared) diagnostics.push(reportShared(label, entry, name));
  }
  return { skills, diagnostics };
}

function distinctName({ uri, frontmatter }: RemoteEntry): string {
  return `${frontmatter.name}-${digestBytes(uri).slice("sha256:".length).slice(0, SUFFIX_LENGTH)}`;
}

function reportShared(server: string, { uri, frontmatter }: RemoteEntry, name: string): Diagnostic {
  return {
    code: "remote.shared-name",
    severity: "warning",
    path: remoteLocation({ server, uri }),
    message: `The MCP server \`${server}\` offers several skills named \`${frontmatter.name}\`; the one at \`${uri}\` is \`${name}\` here.`,
  };
}

/** A few of them, and how many more. */
export function reportRefused(
  places: RemotePlaces,
  label: string,
  refused: readonly RefusedEntry[],
): readonly Diagnostic[] {
  const told = refused.slice(0, MOST_REFUSED_TOLD).map(
    ({ uri, code, message }): Diagnostic => ({
      code,
      severity: "warning",
      path: uri === undefined ? `mcp:${label}` : remoteLocation({ server: label, uri }),
      message,
      hint: "Ask whoever runs the server; `metier remote refresh` reads its list again.",
    }),
  );
  const more = refused.length - told.length;
  if (more === 0) return told;
  const message = `${more} more entries of the MCP server \`${label}\` are refused.`;
  return [...told, { code: "remote.entry", severity: "warning", path: indexFile(places, label), message }];
}
