/**
 * The files of a plugin (Agent Plugins 1.0.0, which allows no other keys): its `plugin.json`, from a file, then the
 * caller, then its only skill; and its `mcp.json`, with standard servers and no secrets.
 */
import { basename } from "node:path";
import { readBounded } from "@metier/base/files";
import { checkJson, isJsonObject, type JsonSchema, presentFields } from "@metier/base/json";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result, refused } from "@metier/base/result";
import { TOKEN_FORMS } from "@metier/scan";
import { type JsonFields, parseJsonObject } from "../install/json-object.ts";
import { type PreparedSkill, type PublishFault, refusePublish } from "./prepare-skills.ts";

const PLUGIN_SCHEMA_ID = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const TEXT = { type: "string" };

const PLUGIN_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    $schema: { const: PLUGIN_SCHEMA_ID },
    name: {
      type: "string",
      maxLength: 64,
      // Letters and digits, with single hyphens and dots between them.
      pattern: "^[a-z0-9]+(?:(?:-(?:\\.-)*\\.?|\\.(?:-\\.)*-?)[a-z0-9]+)*$",
    },
    version: TEXT,
    description: TEXT,
    author: {
      type: "object",
      properties: { name: TEXT, email: TEXT, url: TEXT },
      additionalProperties: false,
    },
    homepage: TEXT,
    repository: TEXT,
    license: TEXT,
    keywords: { type: "array", items: TEXT },
    extensions: { type: "object", additionalProperties: { type: "object" } },
  },
  required: ["$schema", "name"],
  additionalProperties: false,
};

/** The field order of a written manifest. */
const PLUGIN_FIELDS: readonly string[] = Object.keys(PLUGIN_SCHEMA.properties as object);

/** Fields of `plugin.json`; an absent field is not written. */
export interface PluginFields {
  /** Default: the skill's, for a plugin with one skill. Required for several skills. */
  readonly name?: string | undefined;
  /** Default: the skill's, for a plugin with one skill. */
  readonly version?: string | undefined;
  /** Default: the skill's, for a plugin with one skill. */
  readonly description?: string | undefined;
  /** Who made the plugin. */
  readonly author?: PluginAuthor | undefined;
  /** Web page of the plugin. */
  readonly homepage?: string | undefined;
  /** Where its source code is. */
  readonly repository?: string | undefined;
  /** Default: the skill's, for a plugin with one skill. */
  readonly license?: string | undefined;
  /** Words for finding it. */
  readonly keywords?: readonly string[] | undefined;
  /** Client-specific data, each under a reverse domain name. */
  readonly extensions?: Readonly<Record<string, object>> | undefined;
}

/** Who made a plugin. */
export interface PluginAuthor {
  /** A person or an organization. */
  readonly name?: string;
  /** Email address. */
  readonly email?: string;
  /** Web page. */
  readonly url?: string;
}

/** A `plugin.json` of Agent Plugins 1.0.0. */
export interface PluginManifest extends PluginFields {
  /** URL of its schema. */
  readonly $schema: string;
  /** At most 64 characters: `a`–`z` and digits, with hyphens and dots between them. */
  readonly name: string;
}

const MAX_BYTES: number = 1024 * 1024;
const CLOSED =
  "No other keys are allowed: put client-specific ones under `extensions`, under the client's domain name.";

/** `file`: a `plugin.json` to start from, absolute. */
export async function buildPluginManifest(
  given: PluginFields,
  file: string | undefined,
  skills: readonly PreparedSkill[],
): Promise<Result<PluginManifest, PublishFault>> {
  const read = file === undefined ? done({}) : readManifest(file);
  if (!read.ok) return refusePublish("publish.usage", read.refusal.message, "Name a `plugin.json`.");
  const merged: JsonFields = {
    ...defaultFields(skills),
    ...read.value,
    ...presentFields(given),
    $schema: PLUGIN_SCHEMA_ID,
  };
  if (merged.name === undefined) {
    const hint = "Give one with `--name`, or pass a `plugin.json` with `--manifest`.";
    return refusePublish("publish.usage", `A plugin with ${skills.length} skills needs a name.`, hint);
  }
  const checked = await checkJson(PLUGIN_SCHEMA, merged);
  if (!checked.ok) {
    const what = file === undefined ? "The plugin" : `The plugin of \`${file}\``;
    return refusePublish("publish.usage", `${what} is not valid: ${checked.message}.`, CLOSED);
  }
  const ordered = PLUGIN_FIELDS.filter((key) => merged[key] !== undefined).map((key) => [key, merged[key]]);
  return done(Object.fromEntries(ordered) as PluginManifest);
}

/** A plugin with one skill has its name and description. */
function defaultFields(skills: readonly PreparedSkill[]): PluginFields {
  const [only, ...others] = skills;
  if (only === undefined || others.length > 0) return {};
  const { name, description, version, license } = only.manifest;
  return presentFields({ name, description, version, license });
}

function readManifest(file: string): Result<JsonFields> {
  const read = readBounded(file, MAX_BYTES);
  const fields = read.ok ? parseJsonObject(read.text) : undefined;
  if (fields !== undefined) return done(fields);
  return refused({ message: read.ok ? `\`${basename(file)}\` is not a JSON object.` : read.message });
}

/** `Ada <ada@example.com> (https://example.com)`; everything but the name is optional. */
export function readAuthor(text: string): PluginAuthor {
  const [, name = "", email, url] = /^([^<(]*)(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?$/.exec(text.trim()) ?? [];
  return { name: name.trim() || text.trim(), ...(email && { email }), ...(url && { url }) };
}

const MCP_SCHEMA_ID = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
const TEXTS = { type: "object", additionalProperties: TEXT };

const STDIO_SERVER_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    type: { const: "stdio" },
    command: { type: "string", pattern: "^(?:\\./\\S+|[^\\s/\\\\$]+)$" },
    args: { type: "array", items: TEXT },
    env: { ...TEXTS, propertyNames: { not: { enum: ["PLUGIN_ROOT", "PLUGIN_DATA"] } } },
    cwd: { type: "string", pattern: "^(?:\\./|\\$\\{PLUGIN_(?:ROOT|DATA)\\}(?:/|$))" },
  },
  required: ["type", "command"],
  additionalProperties: false,
};

const REMOTE_SERVER_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    type: { enum: ["streamable-http", "sse"] },
    url: { type: "string", minLength: 1 },
    headers: TEXTS,
  },
  required: ["type", "url"],
  additionalProperties: false,
};

type McpFile = Result<{ readonly servers: readonly string[]; readonly text: string }>;

export async function readMcpConfig(file: string): Promise<McpFile> {
  const read = readBounded(file, MAX_BYTES);
  if (!read.ok) return refused({ message: read.message });
  const refuse = (what: string): McpFile => refused({ message: `\`${file}\` ${what}.` });
  const config = parseJsonObject(read.text);
  const servers = config?.mcpServers;
  if (config === undefined || !isJsonObject(servers)) return refuse("has no `mcpServers`");
  const { $schema = MCP_SCHEMA_ID } = config;
  if ($schema !== MCP_SCHEMA_ID) return refuse(`has a \`$schema\` other than \`${MCP_SCHEMA_ID}\``);
  const unknown = Object.keys(config).filter((key) => key !== "$schema" && key !== "mcpServers");
  if (unknown.length > 0) return refuse(`has \`${unknown.join("`, `")}\`, which no client reads`);
  const written: Record<string, unknown> = {};
  for (const [name, server] of Object.entries(servers)) {
    const typed = isJsonObject(server) ? withType(server) : {};
    const wrong = await findFault(typed);
    if (wrong !== undefined)
      return refuse(`has the server \`${name}\`, which no client would start: ${wrong}`);
    written[name] = typed;
  }
  const text = `${JSON.stringify({ $schema: MCP_SCHEMA_ID, mcpServers: written }, undefined, 2)}\n`;
  return done({ servers: Object.keys(written), text });
}

/** Other clients' files omit what a `command` implies. */
function withType(server: JsonFields): JsonFields {
  return server.type === undefined && server.command !== undefined ? { type: "stdio", ...server } : server;
}

/** What is wrong with a server, without a period. */
async function findFault(server: JsonFields): Promise<string | undefined> {
  const secret = TOKEN_FORMS.find(({ pattern }) => JSON.stringify(server).search(pattern) !== -1);
  if (secret !== undefined) return `it contains ${secret.what}, which everyone with the plugin could read`;
  if (server.type === "stdio") return describe(await checkJson(STDIO_SERVER_SCHEMA, server));
  if (server.type !== "streamable-http" && server.type !== "sse") {
    return "its `type` is not `stdio`, `streamable-http` or `sse`";
  }
  return describe(await checkJson(REMOTE_SERVER_SCHEMA, server)) ?? findAddressFault(server);
}

function describe(check: Awaited<ReturnType<typeof checkJson>>): string | undefined {
  return check.ok ? undefined : check.message;
}

function findAddressFault({ url, headers = {} }: JsonFields): string | undefined {
  const address = URL.parse(String(url));
  if (address === null || !/^https?:$/.test(address.protocol)) return "its `url` is not a web address";
  if (address.username !== "" || address.password !== "" || address.hash !== "") {
    return "its `url` contains a user, a password or a fragment";
  }
  if (address.protocol === "http:" && !isLoopbackHost(address.hostname)) {
    return "its `url` is neither encrypted nor on this machine";
  }
  const names = Object.keys(headers as JsonFields);
  const plain = names.map((name) => name.toLowerCase());
  const twice = names.find((_, index) => plain.indexOf(plain[index] ?? "") !== index);
  if (twice !== undefined) return `it has the header \`${twice}\` twice`;
  return names.every((name) => /^[!#$%&'*+.^`|~\w-]+$/.test(name)) ? undefined : "it has an invalid header";
}
