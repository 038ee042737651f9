/** Why an MCP server gave no answer, in our words: which server, what happened, what to do. */
import { refuse } from "../capability-fault.ts";
import type { McpParts } from "./mcp-session.ts";
import type { McpTransport } from "./mcp-transport.ts";
import { type ProgramWords, providerWords } from "./program-words.ts";
import type { Refused } from "./tidy-fault.ts";

const INVALID_PARAMS = -32602;
/** Then the way the process ended says more than that the connection was lost. */
const LOST: ReadonlySet<unknown> = new Set(["CONNECTION_CLOSED", "NOT_CONNECTED", "ERA_NEGOTIATION_FAILED"]);
/** What the SDK puts before the cause, when the very first exchange went wrong. */
const FIRST_EXCHANGE = /^Version negotiation (?:probe )?(?:failed: )?/;

export function describeMcpFailure(
  { name, timeoutMs, words = providerWords(name) }: Pick<McpParts, "name" | "timeoutMs" | "words">,
  error: unknown,
  { lastWords }: McpTransport,
): Refused {
  const code = mcpCode(error);
  const last = LOST.has(code) ? lastWords?.() : undefined;
  if (last) return last;
  const said = error instanceof Error ? error.message : String(error);
  if (code === INVALID_PARAMS)
    return refuse(
      "capability_invalid_input",
      asSentence(`The MCP server \`${name}\` does not take the request: ${said}`),
    );
  if (code === "INVALID_RESULT")
    return refuse(
      "capability_invalid_output",
      // Behind its first line, the SDK lists what its schemas say, as JSON.
      `What the MCP server \`${name}\` answered is no result: ${said.replace(/: \[\n.*$/s, ".")}`,
    );
  const { what, hint } = tellFailure(error, timeoutMs, words);
  return refuse("capability_backend_unavailable", asSentence(`${words.subject} ${what}`), { hint });
}

export function mcpCode(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

/** Of an address without its query, in which a key may stand. */
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
    const hint = `Try again, or set a larger \`timeout-seconds\` in \`${table}\`.`;
    return { what: `gave no answer within ${timeoutMs / 1000} seconds`, hint };
  }
  if (status === 401 || status === 403) {
    const hint = `Give the token that it wants in \`${table}\`, or ask whoever runs it.`;
    return { what: `refuses access (HTTP ${status})`, hint };
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
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "it cut the connection",
  UND_ERR_SOCKET: "it cut the connection",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the name of its host cannot be looked up now",
  EHOSTUNREACH: "there is no way to its host",
  ENETUNREACH: "there is no way to its network",
  ETIMEDOUT: "its host does not answer",
};

const MOST_CAUSES = 5;

/** Below what the SDK and `fetch` make of it stands what really happened. */
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
