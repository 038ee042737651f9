/** From the config of an MCP server to a connection with it. What goes wrong is told in terms of the provider. */
import type { Client } from "@modelcontextprotocol/client";
import type { EnvironmentValue, McpServer } from "../../config/config.ts";
import { VERSION } from "../../foundation/version.ts";
import type { Redactor } from "../../secrets/redaction.ts";
import { type Answer, done } from "../capability-fault.ts";
import { MAX_ENVELOPE_BYTES } from "./bridge-envelope.ts";
import { describeMcpFailure, mcpCode } from "./mcp-failure.ts";
import { boundedFetch, createProcessTransport, type McpTransport } from "./mcp-transport.ts";
import { type ProgramWords, providerWords } from "./program-words.ts";
import { createLauncher, fetchVariables, type ProviderSurroundings } from "./provider-launch.ts";

export interface McpParts {
  /** As in `[capabilities.providers.<name>]`. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly server: McpServer;
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly surroundings: ProviderSurroundings;
  readonly redactor: Redactor;
  /** Of one message; default: what a provider may send. */
  readonly maxBytes?: number;
  /** Where it is no provider of capabilities. */
  readonly words?: ProgramWords;
}

export interface McpSession {
  readonly client: Client;
  readonly transport: McpTransport;
}

const MAX_PAGES = 32;
const METHOD_NOT_FOUND = -32601;

/** `newest`: a server of the protocol's present form, in which there is no `initialize` any more. */
export async function openMcpSession(
  parts: McpParts,
  onLost: () => void,
  newest = false,
): Promise<Answer<McpSession>> {
  const opened = await openTransport(parts);
  if (!opened.ok) return opened;
  const transport = opened.value;
  const { Client } = await import("@modelcontextprotocol/client");
  const client = new Client(
    { name: "metier", version: VERSION },
    {
      listMaxPages: MAX_PAGES,
      jsonSchemaValidator: { getValidator: () => acceptAnything },
      versionNegotiation: { mode: newest ? "auto" : "legacy" },
    },
  );
  try {
    await client.connect(transport, { timeout: parts.timeoutMs });
    client.onclose = onLost;
    return done({ client, transport });
  } catch (error) {
    const failure = describeMcpFailure(parts, error, transport); // Before its process is ended by us.
    await client.close();
    if (!newest && mcpCode(error) === METHOD_NOT_FOUND) return openMcpSession(parts, onLost, true);
    return failure;
  }
}

/** The broker holds outputs to their schemas, by the one validator that is bounded. */
function acceptAnything(value: unknown): { valid: true; data: never; errorMessage: undefined } {
  return { valid: true, data: value as never, errorMessage: undefined };
}

async function openTransport(parts: McpParts): Promise<Answer<McpTransport>> {
  const { name, server, env, surroundings, redactor, maxBytes = MAX_ENVELOPE_BYTES } = parts;
  const { words = providerWords(name) } = parts;
  if ("command" in server) {
    const program = { name, command: server.command, env, words };
    const launched = await createLauncher(program, surroundings, redactor)();
    return launched.ok ? done(createProcessTransport(name, launched.value, { maxBytes, words })) : launched;
  }
  const fetched = await fetchVariables(words, env, surroundings.machine);
  if (!fetched.ok) return fetched;
  for (const secret of fetched.value.secrets) redactor.add(secret);
  const { AUTHORIZATION } = fetched.value.variables;
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  return done(
    new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: boundedFetch({ maxBytes }),
      ...(AUTHORIZATION !== undefined && { requestInit: { headers: { Authorization: AUTHORIZATION } } }),
    }),
  );
}
