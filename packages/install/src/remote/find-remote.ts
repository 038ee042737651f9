/**
 * The configured MCP servers and their skills, as of the last time they were asked: for the catalog, and described for
 * people. Connects to nobody.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import type { Places } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { showAddress } from "@metier/capabilities/mcp";
import { isServerLabel, type RemoteSkill, type RemoteSkills, remoteName } from "@metier/skills";
import type { EnvironmentValue, McpConfig, McpServer, McpServerConfig } from "@metier/skills/config";
import { decideRemoteTrust, type Grants, remoteLocation } from "@metier/skills/trust";
import type { RemoteEntry } from "./remote-entry.ts";
import {
  indexFile,
  isCurrent,
  type RefusedEntry,
  type RemoteIndex,
  readIndex,
  remoteFolder,
} from "./remote-index.ts";

type RemotePlaces = Pick<Places, "cache" | "configFile">;

const MOST_REFUSED_TOLD = 20;
const SUFFIX_LENGTH = 8;

export function findRemote(config: McpConfig, places: RemotePlaces): RemoteSkills {
  const { servers, diagnostics: faults } = remoteServers(config, places);
  const skills: RemoteSkill[] = [];
  const diagnostics: Diagnostic[] = [...faults];
  for (const { label } of servers) {
    const read = readIndex(places, label);
    if (!read.ok) diagnostics.push(read.refusal);
    else {
      const named = nameSkills(places, label, read.value);
      skills.push(...named.skills);
      diagnostics.push(...named.diagnostics, ...reportRefused(places, label, read.value.refused));
    }
  }
  return { skills, diagnostics };
}

/** Names need not be unique on a server: skills that share one get a distinguishing suffix. */
export function nameSkills(
  places: RemotePlaces,
  label: string,
  { skills: indexed }: RemoteIndex,
): RemoteSkills {
  const byName = Map.groupBy(indexed, ({ entry }) => entry.frontmatter.name);
  const skills: RemoteSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { entry } of indexed) {
    const { uri, files, digest, frontmatter } = entry;
    const isShared = (byName.get(frontmatter.name)?.length ?? 0) > 1;
    const mark = isShared ? `-${digestBytes(uri).slice("sha256:".length).slice(0, SUFFIX_LENGTH)}` : "";
    const name = remoteName(label, `${frontmatter.name}${mark}`);
    const origin = { server: label, uri, files, digest };
    const folder = remoteFolder(places, label, entry);
    skills.push({ name, origin, frontmatter, folder });
    if (isShared) diagnostics.push(reportShared(label, entry, name));
  }
  return { skills, diagnostics };
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
      hint: "Ask the operator of the server, or read its list again with `metier remote refresh`.",
    }),
  );
  const more = refused.length - told.length;
  if (more === 0) return told;
  const message = `${more} more entries of the MCP server \`${label}\` were refused.`;
  return [...told, { code: "remote.entry", severity: "warning", path: indexFile(places, label), message }];
}

/** A configured MCP server and its skills when it was last asked. */
export interface RemoteStatus {
  /** Its name in the config. */
  readonly label: string;
  /** Its command, or its URL. */
  readonly server: string;
  /** When its list was last read; absent: never. */
  readonly listedAt?: string | undefined;
  /** Whether that may still count as current. */
  readonly isCurrent: boolean;
  /** Empty if it was never asked. */
  readonly skills: readonly RemoteSkillStatus[];
  /** What was refused from its list, and why it is not used. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill that an MCP server offers. */
export interface RemoteSkillStatus {
  /** Its name in the catalog; it starts with the server's label. */
  readonly name: string;
  /** The skill's URI on the server. */
  readonly uri: string;
  /** Number of files in the declaration. */
  readonly files: number;
  /** Total size in the declaration. */
  readonly bytes: number;
  /** Declared content identity, `sha256:…`. */
  readonly digest: string;
  /** Whether the user has approved exactly this content. */
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
  if (!read.ok) return { ...about, isCurrent: false, skills: [], diagnostics: [read.refusal] };
  const { value: index } = read;
  const named = nameSkills(places, label, index);
  return {
    ...about,
    listedAt: index.listedAt > 0 ? new Date(index.listedAt).toISOString() : undefined,
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

export interface RemoteServer {
  readonly label: string;
  readonly server: McpServer;
  readonly bearer?: EnvironmentValue | undefined;
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  /** For one answer. */
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_SECONDS = 30;

/** Servers whose skills are offered, by label. One with an invalid table is left out, with the reason. */
export function remoteServers(
  { servers }: McpConfig,
  { configFile }: Pick<Places, "configFile">,
): { readonly servers: readonly RemoteServer[]; readonly diagnostics: readonly Diagnostic[] } {
  const found: RemoteServer[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const label of Object.keys(servers).sort(compareText)) {
    const table = servers[label] ?? {};
    if (table.enabled === false || isOnlyTightened(table)) continue;
    const fault = findFault(label, table);
    if (fault) diagnostics.push({ code: "remote.config", severity: "error", path: configFile, ...fault });
    else found.push(describeRemote(label, table));
  }
  return { servers: found, diagnostics };
}

/** A project may set a shorter timeout without knowing whether the server exists. */
function isOnlyTightened({ command, url, bearer, env, enabled }: McpServerConfig): boolean {
  return [command, url, bearer, env, enabled].every((value) => value === undefined);
}

type ServerFault = Pick<Diagnostic, "message" | "hint">;

function describeRemote(label: string, config: McpServerConfig): RemoteServer {
  const { command, url = "", bearer, env = {}, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = config;
  return { label, server: command ? { command } : { url }, env, timeoutMs: timeoutSeconds * 1000, bearer };
}

function findFault(
  label: string,
  { command, url, bearer, env = {} }: McpServerConfig,
): ServerFault | undefined {
  const table = `\`[mcp.servers.${label}]\``;
  const blame = (what: string, hint: string): ServerFault => ({
    message: `The MCP server \`${label}\` is not used: ${what}.`,
    hint,
  });
  if (!isServerLabel(label)) {
    return blame(
      "its label must have at most 32 lowercase letters, digits and `-`, and must not be the name of a scope",
      "Give it another label; the label is the first part of its skills' names.",
    );
  }
  if (command && url) return blame("it has both `command` and `url`", `Keep one of them in ${table}.`);
  if (!(command || url)) return blame("it has neither `command` nor `url`", `Set one of them in ${table}.`);
  if (command && bearer) {
    return blame(
      "`bearer` works only with `url`, not with `command`",
      `Give the program its secrets through \`env\` in ${table}.`,
    );
  }
  if (url && Object.keys(env).length > 0) {
    return blame(
      "`env` works only with `command`, not with `url`",
      `Replace \`env\` with \`bearer\` in ${table}.`,
    );
  }
  return undefined;
}
