/**
 * An MCP server as a provider: its tools are the operations of one capability, `<namespace>.tools`. It is connected to by
 * the first call and again when the connection is lost. It is told nothing of who asks: it is the same for everybody.
 */
import type { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "../capability.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import type { CapabilityProvider } from "../capability-provider.ts";
import { providerClosed } from "./bridge-exchange.ts";
import { describeMcpFailure } from "./mcp-failure.ts";
import { type McpParts, type McpSession, openMcpSession } from "./mcp-session.ts";
import { describeTools, readToolResult } from "./mcp-tools.ts";
import { tidyFault } from "./tidy-fault.ts";

export interface McpProviderParts extends McpParts {
  readonly namespace: string;
}

export function createMcpProvider(parts: McpProviderParts): CapabilityProvider {
  const { name, namespace, timeoutMs, redactor } = parts;
  let session: Promise<Answer<McpSession>> | undefined;
  let isClosed = false;

  const forget = (which: Promise<Answer<McpSession>>): void => {
    if (session === which) session = undefined;
  };

  function connect(): Promise<Answer<McpSession>> {
    if (isClosed) return Promise.resolve(providerClosed(name));
    if (session) return session;
    const opening = openMcpSession(parts, () => forget(opening)).then((answer) => {
      if (!answer.ok) forget(opening);
      return answer;
    });
    session = opening;
    return opening;
  }

  /** Whatever the server, the connection or the client library does is an answer. */
  async function use(
    work: (client: Client) => Promise<Answer<JsonObject>>,
    signal?: AbortSignal,
  ): Promise<Answer<JsonObject>> {
    const connecting = connect();
    const connected = await connecting;
    if (!connected.ok) return tidyFault(connected, redactor);
    const { client, transport } = connected.value;
    const heardBefore = transport.heard?.();
    try {
      const answer = await work(client);
      return answer.ok ? done(redactor.redactJson(answer.value)) : tidyFault(answer, redactor);
    } catch (error) {
      if (signal?.aborted)
        return refuse("capability_cancelled", `The call of the MCP server \`${name}\` was cancelled.`);
      const failed = describeMcpFailure(parts, error, transport);
      if (heardBefore !== undefined && transport.heard?.() === heardBefore) {
        forget(connecting); // It said nothing all the time, so it hangs: the next call finds another.
        void client.close();
      }
      return tidyFault(failed, redactor);
    }
  }

  return {
    namespace,
    definitions: (signal) =>
      use(async (client) => {
        const { tools } = await client.listTools({}, limits(timeoutMs, signal));
        const described = await describeTools(name, namespace, tools);
        return described.ok ? done({ definitions: [described.value] }) : described;
      }, signal),
    invoke: ({ operation, input }, { signal }) =>
      use(async (client) => {
        const call = { name: operation, arguments: { ...input } };
        return readToolResult(name, await client.callTool(call, limits(timeoutMs, signal)));
      }, signal),
    async close() {
      isClosed = true;
      const connected = await session;
      if (connected?.ok) await connected.value.client.close();
    },
  };
}

interface RequestLimits {
  readonly timeout: number;
  readonly maxTotalTimeout: number;
  readonly signal?: AbortSignal;
}

function limits(timeout: number, signal: AbortSignal | undefined): RequestLimits {
  return { timeout, maxTotalTimeout: timeout, ...(signal && { signal }) };
}
