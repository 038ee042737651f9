/** Connects to an MCP server from its config. Errors are reported in terms of the provider. */
import { VERSION } from "@metier/base/places";
import { createLineReader } from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import type { EnvironmentValue, McpServer } from "@metier/skills/config";
import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Answer, answerFault, answerWith, type FaultAnswer } from "../capability.ts";
import { MAX_ENVELOPE_BYTES, parseObject } from "./bridge-protocol.ts";
import {
  createLauncher,
  fetchVariables,
  type Launch,
  type ProgramWords,
  type ProviderSurroundings,
  providerWords,
} from "./provider-launch.ts";
import { type BackgroundProcess, describeEnd, startProvider } from "./provider-process.ts";

export interface McpParts {
  /** As in `[capabilities.providers.<name>]`. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly server: McpServer;
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly surroundings: ProviderSurroundings;
  readonly redactor: Redactor;
  /** For one message; default: what a provider may send. */
  readonly maxBytes?: number | undefined;
  /** If it is not a capability provider. */
  readonly words?: ProgramWords | undefined;
}

export interface McpSession {
  readonly client: Client;
  readonly transport: McpTransport;
}

const MAX_PAGES = 32;
const METHOD_NOT_FOUND = -32601;

/** `newest`: a server of the current protocol, which no longer has `initialize`. */
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
    return answerWith({ client, transport });
  } catch (error) {
    const failure = describeMcpFailure(parts, error, transport); // Before we stop its process.
    await client.close();
    if (!newest && mcpCode(error) === METHOD_NOT_FOUND) return openMcpSession(parts, onLost, true);
    return failure;
  }
}

/** The broker validates outputs with the one bounded validator. */
function acceptAnything(value: unknown): { valid: true; data: never; errorMessage: undefined } {
  return { valid: true, data: value as never, errorMessage: undefined };
}

async function openTransport(parts: McpParts): Promise<Answer<McpTransport>> {
  const { name, server, env, surroundings, redactor, maxBytes = MAX_ENVELOPE_BYTES } = parts;
  const { words = providerWords(name) } = parts;
  if ("command" in server) {
    const program = { name, command: server.command, env, words };
    const launched = await createLauncher(program, surroundings, redactor)();
    if (!launched.ok) return launched;
    return answerWith(createProcessTransport(name, launched.value, maxBytes, words));
  }
  const fetched = await fetchVariables(words, env, surroundings.machine);
  if (!fetched.ok) return fetched;
  for (const secret of fetched.value.secrets) redactor.add(secret);
  const { AUTHORIZATION } = fetched.value.variables;
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  return answerWith(
    new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: boundedFetch(maxBytes),
      ...(AUTHORIZATION !== undefined && { requestInit: { headers: { Authorization: AUTHORIZATION } } }),
    }),
  );
}

// Explains why a server did not answer: which server, what happened, what to do.

const INVALID_PARAMS = -32602;
/** If the process exited, that says more than the lost connection. */
const LOST: ReadonlySet<unknown> = new Set(["CONNECTION_CLOSED", "NOT_CONNECTED", "ERA_NEGOTIATION_FAILED"]);
/** The SDK's prefix when the very first exchange fails. */
const FIRST_EXCHANGE = /^Version negotiation (?:probe )?(?:failed: )?/;

export function describeMcpFailure(
  { name, timeoutMs, words = providerWords(name) }: Pick<McpParts, "name" | "timeoutMs" | "words">,
  error: unknown,
  { lastWords }: McpTransport,
): FaultAnswer {
  const code = mcpCode(error);
  const last = LOST.has(code) ? lastWords?.() : undefined;
  if (last) return last;
  const said = error instanceof Error ? error.message : String(error);
  if (code === INVALID_PARAMS)
    return answerFault(
      "capability_invalid_input",
      asSentence(`The MCP server \`${name}\` rejected the request: ${said}`),
    );
  if (code === "INVALID_RESULT")
    return answerFault(
      "capability_invalid_output",
      // After its first line, the SDK lists its schema errors as JSON.
      `The MCP server \`${name}\` returned an invalid result: ${said.replace(/: \[\n.*$/s, ".")}`,
    );
  const { what, hint } = tellFailure(error, timeoutMs, words);
  return answerFault("capability_backend_unavailable", asSentence(`${words.subject} ${what}`), { hint });
}

function mcpCode(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

/** An address without its query, which may contain a key. */
export function showAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function tellFailure(
  error: unknown,
  timeoutMs: number,
  { table, advice }: ProgramWords,
): { readonly what: string; readonly hint: string } {
  const { status } = error as { readonly status?: unknown };
  if (mcpCode(error) === "REQUEST_TIMEOUT") {
    const hint = `Try again, or raise \`timeout-seconds\` in \`${table}\`.`;
    return { what: `did not answer within ${timeoutMs / 1000} seconds`, hint };
  }
  if (status === 401 || status === 403) {
    const hint = `Set the token it requires in \`${table}\`, or ask its operator.`;
    return { what: `denied access (HTTP ${status})`, hint };
  }
  if (typeof status === "number") return { what: `answered with HTTP ${status}`, hint: advice };
  const root = rootCause(error);
  const fault = String(mcpCode(root));
  if (Object.hasOwn(SYSTEM_FAULTS, fault))
    return { what: `cannot be reached: ${SYSTEM_FAULTS[fault]} (${fault})`, hint: advice };
  const said = root instanceof Error ? root.message : String(root);
  return { what: `failed: ${said.replace(FIRST_EXCHANGE, "")}`, hint: advice };
}

const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing is listening there",
  ECONNRESET: "it closed the connection",
  UND_ERR_SOCKET: "it closed the connection",
  ENOTFOUND: "its host does not exist",
  EAI_AGAIN: "its host name cannot be resolved right now",
  EHOSTUNREACH: "its host is unreachable",
  ENETUNREACH: "its network is unreachable",
  ETIMEDOUT: "its host does not answer",
};

const MOST_CAUSES = 5;

/** The original cause below the errors of the SDK and `fetch`. */
function rootCause(error: unknown): unknown {
  let root = error;
  for (let depth = 0; depth < MOST_CAUSES; depth += 1) {
    if (!(root instanceof Error && root.cause instanceof Error)) break;
    root = root.cause;
  }
  return root;
}

/** A hint may follow it. */
function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

// The two ways to reach a server: lines through a child process, or requests to its URL. Every message is bounded, and
// unrequested notifications are ignored.

/** With what is known if the server is our child process. */
interface McpTransport extends Transport {
  /** How many messages arrived. */
  heard?(): number;
  /** How the process ended, once it has. */
  lastWords?(): FaultAnswer | undefined;
}

/** `maxBytes`: for one message. */
function createProcessTransport(
  name: string,
  launch: Launch,
  maxBytes: number,
  called: ProgramWords,
): McpTransport {
  let running: BackgroundProcess | undefined;
  let heard = 0;
  let words: FaultAnswer | undefined;

  const takeLine = (line: string): void => {
    const message = parseObject(line);
    if (!message.ok) return; // Servers print to standard output by mistake; keep waiting.
    heard += 1;
    transport.onmessage?.(message.value as unknown as JSONRPCMessage);
  };
  const readLines = createLineReader(maxBytes, takeLine, () => {
    const message = `The MCP server \`${name}\` was stopped: it sent a message of more than ${maxBytes} bytes.`;
    words = answerFault("capability_invalid_output", message);
    running?.kill();
  });

  const transport: McpTransport = {
    async start() {
      running = startProvider(launch, readLines);
      void running.exited.then((ending) => {
        words ??= describeEnd(name, ending, undefined, called);
        transport.onclose?.();
      });
    },
    async send(message) {
      running?.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      await running?.end();
    },
    heard: () => heard,
    lastWords: () => words,
  };
  return transport;
}

/**
 * For a server with a URL. A `GET` would only open a stream of unrequested messages, and redirects are not followed:
 * the user named this server and no other.
 */
function boundedFetch(maxBytes: number): typeof fetch {
  return async (url, init) => {
    if (init?.method === "GET") return new Response(null, { status: 405 });
    const response = await fetch(url, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      const target = response.headers.get("location") ?? "nowhere";
      throw new Error(
        `it redirects to \`${target}\`, which Metier does not follow; set its URL to that address`,
      );
    }
    if (response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes <= maxBytes) controller.enqueue(chunk);
          else controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}
