/** What to write into a client's config so that it starts `metier mcp`, by client. */
import { UsageError } from "../../foundation/errors.ts";
import { nearestNames } from "../../foundation/nearest-names.ts";
import { showNames, showValue } from "../../validate/report.ts";

/** The command line that serves, as words. */
type Words = readonly string[];

interface ClientConfig {
  /** Where it belongs. */
  readonly file: string;
  write(words: Words): string;
}

const CLIENTS: Readonly<Record<string, ClientConfig>> = {
  claude: {
    file: ".mcp.json in the project",
    write: (words) => json({ mcpServers: { metier: split(words) } }),
  },
  codex: { file: "~/.codex/config.toml", write: writeToml },
  gemini: {
    file: "~/.gemini/settings.json",
    write: (words) => json({ mcpServers: { metier: split(words) } }),
  },
  opencode: {
    file: "opencode.json in the project",
    write: (words) => json({ mcp: { metier: { type: "local", command: words } } }),
  },
  qwen: {
    file: "~/.qwen/settings.json",
    write: (words) => json({ mcpServers: { metier: split(words) } }),
  },
  vscode: {
    file: ".vscode/mcp.json in the project",
    write: (words) => json({ servers: { metier: { type: "stdio", ...split(words) } } }),
  },
};

export interface PrintedConfig {
  readonly client: string;
  readonly file: string;
  readonly text: string;
}

/** Throws `UsageError` for a client that is not known. */
export function configFor(client: string, words: Words): PrintedConfig {
  const names = Object.keys(CLIENTS);
  const known = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (known === undefined) {
    const near = nearestNames(client, names).map(showValue);
    const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `There are ${showNames(names)}.`;
    throw new UsageError(`\`--print-config\` knows no client ${showValue(client)}.`, { hint });
  }
  return { client, file: known.file, text: known.write(words) };
}

function split([command = "", ...args]: Words): { readonly command: string; readonly args: Words } {
  return { command, args };
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** JSON strings and lists of them are TOML, too. `required`: otherwise Codex asks its model before the server is ready. */
function writeToml(words: Words): string {
  const { command, args } = split(words);
  return `[mcp_servers.metier]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nrequired = true`;
}
