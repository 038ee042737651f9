/** What is known of the configured MCP servers, for people: when they were asked, what they offer, what is approved. */
import { showAddress } from "../capabilities/providers/mcp-failure.ts";
import type { McpConfig, McpServer } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Grants } from "../trust/grants.ts";
import { decideRemoteTrust } from "../trust/remote-trust.ts";
import { nameSkills, type RemotePlaces, reportRefused } from "./find-remote.ts";
import { isCurrent, readIndex } from "./remote-index.ts";
import { type RemoteServer, remoteServers } from "./remote-server.ts";

export interface RemoteStatus {
  readonly label: string;
  /** The words that start it, or its address. */
  readonly server: string;
  /** When it was last asked for its list; absent: never. */
  readonly listedAt?: string;
  /** Whether what it said then may still be taken as current. */
  readonly isCurrent: boolean;
  readonly skills: readonly RemoteSkillStatus[];
  /** What of its list is refused, and what keeps it from being used. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface RemoteSkillStatus {
  readonly name: string;
  readonly uri: string;
  readonly files: number;
  readonly bytes: number;
  readonly digest: string;
  readonly approved: boolean;
}

export function describeServers(
  config: McpConfig,
  places: RemotePlaces,
  grants: Grants,
): readonly RemoteStatus[] {
  return remoteServers(config, places).servers.map((server) => describeServer(server, places, grants));
}

function describeServer({ label, server }: RemoteServer, places: RemotePlaces, grants: Grants): RemoteStatus {
  const read = readIndex(places, label);
  const about = { label, server: showServer(server) };
  if (!read.ok) return { ...about, isCurrent: false, skills: [], diagnostics: [read.diagnostic] };
  const { index } = read;
  const named = nameSkills(places, label, index);
  return {
    ...about,
    ...(index.listedAt > 0 && { listedAt: new Date(index.listedAt).toISOString() }),
    isCurrent: index.skills.every((skill) => isCurrent(skill, Date.now())),
    skills: named.skills.map(({ name, origin }) => ({
      name,
      uri: origin.uri,
      files: origin.files.length,
      bytes: origin.files.reduce((sum, { size }) => sum + size, 0),
      digest: origin.digest,
      approved: decideRemoteTrust(name, origin, grants).level === "trusted",
    })),
    diagnostics: [...named.diagnostics, ...reportRefused(places, label, index.refused)],
  };
}

function showServer(server: McpServer): string {
  return "command" in server ? server.command.join(" ") : showAddress(server.url);
}
