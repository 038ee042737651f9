/** The MCP servers of the config whose skills are offered. One whose table is at fault is left out, with the reason. */
import type { EnvironmentValue, McpConfig, McpServer, McpServerConfig } from "../config/config.ts";
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
import { isServerLabel } from "../skill/remote-name.ts";

export interface RemoteServer {
  readonly label: string;
  readonly server: McpServer;
  readonly bearer?: EnvironmentValue;
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  /** For one answer. */
  readonly timeoutMs: number;
}

export interface RemoteServers {
  /** By label. */
  readonly servers: readonly RemoteServer[];
  readonly diagnostics: readonly Diagnostic[];
}

const DEFAULT_TIMEOUT_SECONDS = 30;

export function remoteServers(
  { servers }: McpConfig,
  { configFile }: Pick<Places, "configFile">,
): RemoteServers {
  const found: RemoteServer[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const label of Object.keys(servers).sort(compareText)) {
    const table = servers[label] ?? {};
    if (table.enabled === false || isOnlyTightened(table)) continue;
    const read = readServer(label, table);
    if ("label" in read) found.push(read);
    else diagnostics.push({ code: "remote.config", severity: "error", path: configFile, ...read });
  }
  return { servers: found, diagnostics };
}

/** A project may hold a server to less time without knowing whether there is one. */
function isOnlyTightened({ command, url, bearer, env, enabled }: McpServerConfig): boolean {
  return [command, url, bearer, env, enabled].every((value) => value === undefined);
}

type ServerFault = Pick<Diagnostic, "message" | "hint">;

function readServer(label: string, config: McpServerConfig): RemoteServer | ServerFault {
  const { command, url, bearer, env = {}, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = config;
  const fault = findFault(label, config);
  if (fault) return fault;
  const server = command ? { command } : { url: url ?? "" };
  return { label, server, env, timeoutMs: timeoutSeconds * 1000, ...(bearer && { bearer }) };
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
      "its label may have lower-case letters, digits and `-`, 32 at most, and must not be the name of a scope",
      "Give it another label; it becomes the first part of its skills' names.",
    );
  }
  if (command && url) return blame("it has both `command` and `url`", `Keep one of them in ${table}.`);
  if (!(command || url)) return blame("it has neither `command` nor `url`", `Set one of them in ${table}.`);
  if (command && bearer) {
    return blame(
      "`bearer` is for a server at an address, and it is a program",
      `Give the program its secrets by \`env\` in ${table}.`,
    );
  }
  if (url && Object.keys(env).length > 0) {
    return blame("a server at an address has no variables", `Replace \`env\` by \`bearer\` in ${table}.`);
  }
  return undefined;
}
