/**
 * A connection with an MCP server, for its skills alone: what it declares, page by page or one by one, and single files.
 * Whatever the server or the connection does is an answer; what the server says in its faults is cleaned and redacted.
 */
import { existsSync, readdirSync } from "node:fs";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { describeMcpFailure, showAddress } from "../capabilities/providers/mcp-failure.ts";
import { type McpParts, openMcpSession } from "../capabilities/providers/mcp-session.ts";
import type { ProgramWords } from "../capabilities/providers/program-words.ts";
import { fetchVariables } from "../capabilities/providers/provider-launch.ts";
import { tidyFault } from "../capabilities/providers/tidy-fault.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { SecretMachine } from "../secrets/fetch-secret.ts";
import { createRedactor } from "../secrets/redaction.ts";
import { fetchedFolder } from "./remote-places.ts";
import type { RemoteServer } from "./remote-server.ts";

export interface ServerSurroundings {
  readonly places: Pick<Places, "home" | "cache">;
  readonly environment: Environment;
  /** Fetches values that the config only refers to. */
  readonly machine: SecretMachine;
}

export type Said<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface SkillServer {
  /** A page of its list, unchecked. */
  listPage(cursor?: string): Promise<Said<unknown>>;
  /** What it declares of one skill, unchecked. */
  getSkill(uri: string): Promise<Said<unknown>>;
  /** What it answers for one file, unchecked. */
  readFile(uri: string): Promise<Said<unknown>>;
  close(): Promise<void>;
}

/** A file of 16 MiB as base64 in JSON, and some more: a text may need escapes. */
const MAX_MESSAGE_BYTES = 40 * 1024 * 1024;
const INVALID_PARAMS = -32602;
/** How many times longer than for one answer all answers of one connection may take. */
const PATIENCE = 10;

export async function openServer(
  remote: RemoteServer,
  surroundings: ServerSurroundings,
  signal?: AbortSignal,
): Promise<Said<SkillServer>> {
  const { label, timeoutMs } = remote;
  const redactor = createRedactor();
  const parts = await toParts(remote, surroundings, redactor);
  if (!parts.ok) return parts;
  const opened = await openMcpSession(parts.value, () => undefined, true);
  if (!opened.ok) return failed(label, tidyFault(opened, redactor).fault);
  const { client, transport } = opened.value;
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  if (!new SkillsClient(client).supported) {
    await client.close();
    return failed(label, NO_SKILLS);
  }
  const patience = AbortSignal.timeout(timeoutMs * PATIENCE);
  const until = signal ? AbortSignal.any([signal, patience]) : patience;
  const limits = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: until };
  const ask = async (method: string, params: Readonly<Record<string, unknown>>): Promise<Said<unknown>> => {
    try {
      return { ok: true, value: await client.request({ method, params }, ANYTHING, limits) };
    } catch (error) {
      const { fault } = tidyFault(describeMcpFailure(parts.value, error, transport), redactor);
      const isUnknown = (error as { readonly code?: unknown }).code === INVALID_PARAMS;
      return failed(label, fault, isUnknown ? "remote.not-found" : "remote.unreachable");
    }
  };
  return {
    ok: true,
    value: {
      listPage: (cursor) => ask("skills/list", cursor === undefined ? {} : { cursor }),
      getSkill: (uri) => ask("skills/get", { uri }),
      readFile: (uri) => ask("resources/read", { uri }),
      close: () => client.close(),
    },
  };
}

/** What comes is checked by us, where its faults can be told one by one. */
const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "metier", validate: (value) => ({ value }) },
};

const NO_SKILLS = {
  message: "It does not offer skills: it declares no extension `io.modelcontextprotocol/skills`.",
  hint: "Take it out of `[mcp.servers]`, or ask whoever runs it.",
};

/** As other connections with MCP servers; a bearer becomes the header that is sent. */
async function toParts(
  remote: RemoteServer,
  { places, environment, machine }: ServerSurroundings,
  redactor: McpParts["redactor"],
): Promise<Said<McpParts>> {
  const { label, server, env, bearer, timeoutMs } = remote;
  const words = wordsFor(remote, places);
  const token = bearer && (await fetchVariables(words, { BEARER: bearer }, machine));
  if (token && !token.ok) return failed(label, token.fault);
  const value = token?.value.variables.BEARER;
  if (value !== undefined) redactor.add({ name: `mcp.servers.${label}.bearer`, value });
  return {
    ok: true,
    value: {
      name: label,
      timeoutMs,
      server,
      env: value === undefined ? env : { AUTHORIZATION: { value: `Bearer ${value}`, secret: true } },
      surroundings: { home: places.home, environment, machine },
      redactor,
      maxBytes: MAX_MESSAGE_BYTES,
      words,
    },
  };
}

/** Of a command only the program: its arguments may hold what a model must not read. */
function wordsFor({ label, server }: RemoteServer, places: ServerSurroundings["places"]): ProgramWords {
  const isProgram = "command" in server;
  const where = isProgram ? server.command[0] : showAddress(server.url);
  const table = `[mcp.servers.${label}]`;
  const check = `See whether it runs and whether \`${isProgram ? "command" : "url"}\` in \`${table}\` is right, then try again`;
  const fetched = fetchedFolder(places, label);
  const hasFetched = existsSync(fetched) && readdirSync(fetched).length > 0;
  const meanwhile = hasFetched ? "; what was fetched before can be used meanwhile" : "";
  return { subject: `The MCP server \`${label}\` (\`${where}\`)`, table, advice: `${check}${meanwhile}.` };
}

function failed(
  label: string,
  { message, hint }: { readonly message: string; readonly hint?: string },
  code: "remote.unreachable" | "remote.not-found" = "remote.unreachable",
): { readonly ok: false; readonly diagnostic: Diagnostic } {
  const path = `mcp:${label}`;
  return {
    ok: false,
    diagnostic: { code, severity: "error", path, message, ...(hint !== undefined && { hint }) },
  };
}
