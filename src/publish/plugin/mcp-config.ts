/** The `mcp.json` of a plugin, from a file of the author's: servers as the standard has them, and no secret among them. */
import { readBounded } from "../../host/read-bounded.ts";
import { isLoopbackHost } from "../../install/addresses/loopback-host.ts";
import { isJsonObject, type JsonFields, parseJsonObject } from "../../install/json-object.ts";
import { TOKEN_FORMS } from "../../scan/token-forms.ts";
import { checkJson } from "../../validate/json-schema.ts";
import { MCP_SCHEMA_ID, REMOTE_SERVER_SCHEMA, STDIO_SERVER_SCHEMA } from "./plugin-schemas.ts";

export type McpConfig =
  | { readonly ok: true /** Of the servers. */; readonly names: readonly string[]; readonly text: string }
  /** One sentence. */
  | { readonly ok: false; readonly message: string };

const MAX_BYTES: number = 1024 * 1024;

export async function readMcpConfig(file: string): Promise<McpConfig> {
  const read = readBounded(file, MAX_BYTES);
  if (!read.ok) return { ok: false, message: read.message };
  const refuse = (what: string): McpConfig => ({ ok: false, message: `\`${file}\` ${what}.` });
  const config = parseJsonObject(read.text);
  const servers = config?.mcpServers;
  if (config === undefined || !isJsonObject(servers)) return refuse("holds no `mcpServers`");
  const { $schema = MCP_SCHEMA_ID } = config;
  if ($schema !== MCP_SCHEMA_ID) return refuse(`has another \`$schema\` than \`${MCP_SCHEMA_ID}\``);
  const unknown = Object.keys(config).filter((key) => key !== "$schema" && key !== "mcpServers");
  if (unknown.length > 0) return refuse(`has \`${unknown.join("`, `")}\`, which no client reads there`);
  const written: Record<string, unknown> = {};
  for (const [name, server] of Object.entries(servers)) {
    const typed = isJsonObject(server) ? withType(server) : {};
    const wrong = await findFault(typed);
    if (wrong !== undefined)
      return refuse(`has the server \`${name}\`, which no client would start: ${wrong}`);
    written[name] = typed;
  }
  const text = `${JSON.stringify({ $schema: MCP_SCHEMA_ID, mcpServers: written }, undefined, 2)}\n`;
  return { ok: true, names: Object.keys(written), text };
}

/** Files of other clients leave out what a `command` alone tells. */
function withType(server: JsonFields): JsonFields {
  return server.type === undefined && server.command !== undefined ? { type: "stdio", ...server } : server;
}

/** What is wrong with a server, without a full stop. */
async function findFault(server: JsonFields): Promise<string | undefined> {
  const secret = TOKEN_FORMS.find(({ pattern }) => JSON.stringify(server).search(pattern) !== -1);
  if (secret !== undefined) return `it holds ${secret.what}, which everyone who has the plugin would have`;
  if (server.type === "stdio") return describe(await checkJson(STDIO_SERVER_SCHEMA, server));
  if (server.type !== "streamable-http" && server.type !== "sse") {
    return "its `type` is none of `stdio`, `streamable-http` and `sse`";
  }
  return describe(await checkJson(REMOTE_SERVER_SCHEMA, server)) ?? findAddressFault(server);
}

function describe(check: Awaited<ReturnType<typeof checkJson>>): string | undefined {
  return check.ok ? undefined : check.message;
}

function findAddressFault({ url, headers = {} }: JsonFields): string | undefined {
  const address = URL.parse(String(url));
  if (address === null || !/^https?:$/.test(address.protocol))
    return "its `url` is no address of a web server";
  if (address.username !== "" || address.password !== "" || address.hash !== "") {
    return "its `url` has a user, a password or a fragment";
  }
  if (address.protocol === "http:" && !isLoopbackHost(address.hostname)) {
    return "its `url` is not encrypted, and not of this machine";
  }
  const names = Object.keys(headers as JsonFields);
  const twice = names.find((name, index) => names.findIndex((other) => isSameHeader(other, name)) !== index);
  if (twice !== undefined) return `it has the header \`${twice}\` twice`;
  return names.every((name) => /^[!#$%&'*+.^`|~\w-]+$/.test(name))
    ? undefined
    : "it has a header that is none";
}

function isSameHeader(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
