/**
 * An MCP server as a provider: its tools are the operations of one capability, `<namespace>.tools`. The first call
 * connects, and later calls reconnect if needed. The server does not learn who asks: it is the same for everyone.
 */
import { checkJson, isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { showNames } from "@metier/base/text";
import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import { type Answer, answerFault, answerWith, type CapabilityProvider } from "../capability.ts";
import { OPERATION_NAME } from "../read-definitions.ts";
import { providerClosed } from "./bridge-provider.ts";
import { describeMcpFailure, type McpParts, type McpSession, openMcpSession } from "./mcp-session.ts";
import { tidyFault } from "./provider-process.ts";

export function createMcpProvider(parts: McpParts & { readonly namespace: string }): CapabilityProvider {
  const { name, namespace, timeoutMs, redactor } = parts;
  const sessions = keepSession(parts);

  /** Turns everything the server, the connection or the client library does into an answer. */
  async function use(
    work: (client: Client) => Promise<Answer<JsonObject>>,
    signal?: AbortSignal,
  ): Promise<Answer<JsonObject>> {
    const connecting = sessions.connect();
    const connected = await connecting;
    if (!connected.ok) return tidyFault(connected, redactor);
    const { client, transport } = connected.value;
    const heardBefore = transport.heard?.();
    try {
      const answer = await work(client);
      return answer.ok ? answerWith(redactor.redactJson(answer.value)) : tidyFault(answer, redactor);
    } catch (error) {
      if (signal?.aborted)
        return answerFault("capability_cancelled", `The call to the MCP server \`${name}\` was cancelled.`);
      const failed = describeMcpFailure(parts, error, transport);
      if (heardBefore !== undefined && transport.heard?.() === heardBefore) {
        sessions.forget(connecting); // It sent nothing the whole time, so it hangs: the next call starts another.
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
        return described.ok ? answerWith({ definitions: [described.value] }) : described;
      }, signal),
    invoke: ({ operation, input }, { signal }) =>
      use(async (client) => {
        const call = { name: operation, arguments: { ...input } };
        return readToolResult(name, await client.callTool(call, limits(timeoutMs, signal)));
      }, signal),
    close: () => sessions.close(),
  };
}

/** One session at a time: opened by the first call, and reopened when lost. */
function keepSession(parts: McpParts) {
  let session: Promise<Answer<McpSession>> | undefined;
  let isClosed = false;
  const forget = (which: Promise<Answer<McpSession>>): void => {
    if (session === which) session = undefined;
  };
  return {
    forget,
    connect(): Promise<Answer<McpSession>> {
      if (isClosed) return Promise.resolve(providerClosed(parts.name));
      if (session) return session;
      const opening = openMcpSession(parts, () => forget(opening)).then((answer) => {
        if (!answer.ok) forget(opening);
        return answer;
      });
      session = opening;
      return opening;
    },
    async close(): Promise<void> {
      isClosed = true;
      const connected = await session;
      if (connected?.ok) await connected.value.client.close();
    },
  };
}

function limits(timeout: number, signal: AbortSignal | undefined) {
  return presentFields({ timeout, maxTotalTimeout: timeout, signal });
}

// Turns a server's tools into operations of one capability, and their answers into outputs.

const MAX_TOOLS = 500;
const MAX_NAMED = 5;

/** One definition. A tool that cannot be an operation is left out, and the description says so. */
async function describeTools(
  server: string,
  namespace: string,
  tools: readonly Tool[],
): Promise<Answer<JsonObject>> {
  const operations: Json[] = [];
  const leftOut: string[] = [];
  for (const tool of tools.slice(0, MAX_TOOLS)) {
    if (await isUsable(tool, operations)) operations.push(toOperation(tool));
    else leftOut.push(tool.name);
  }
  leftOut.push(...tools.slice(MAX_TOOLS).map(({ name }) => name));
  if (operations.length === 0) {
    return answerFault(
      "capability_invalid_output",
      `The MCP server \`${server}\` has ${tools.length} tools, but none that can be used.`,
    );
  }
  return answerWith({
    id: `${namespace}.tools`,
    description: `Tools of the MCP server \`${server}\`.${describeLeftOut(leftOut)}`,
    // It does not say who its tools are for, and it is the same server for everyone.
    sensitive: true,
    operations,
  });
}

async function isUsable(
  { name, inputSchema, outputSchema }: Tool,
  others: readonly Json[],
): Promise<boolean> {
  if (!OPERATION_NAME.test(name) || others.some((other) => isJsonObject(other) && other.name === name))
    return false;
  for (const schema of [inputSchema, outputSchema]) {
    const checked = schema && (await checkJson(schema as JsonObject, {}));
    if (checked && !checked.ok && checked.isSchemaFault) return false;
  }
  return true;
}

/** A tool's own claims count only if they make things stricter; a tool that says nothing may change something. */
function toOperation({ name, description, annotations = {}, inputSchema, outputSchema }: Tool): JsonObject {
  const isReading = annotations.readOnlyHint === true && annotations.destructiveHint !== true;
  return {
    name,
    description: description ?? annotations.title ?? name,
    requires_auth: false,
    mutating: !isReading,
    idempotent: isReading || annotations.idempotentHint === true,
    input_schema: inputSchema as JsonObject,
    ...(outputSchema && { output_schema: outputSchema as JsonObject }),
  };
}

function describeLeftOut(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return ` Left out because they cannot be operations: ${showNames(names.slice(0, MAX_NAMED))}${more}.`;
}

/** Its structured content; otherwise its text, with the types of non-text parts. */
function readToolResult(server: string, result: CallToolResult): Answer<JsonObject> {
  const { structuredContent, content = [], isError = false } = result;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (isError) {
    return answerFault(
      "capability_backend_unavailable",
      `A tool of the MCP server \`${server}\` failed: ${text === "" ? "it does not say why" : text}`,
    );
  }
  if (structuredContent !== undefined) {
    const value = structuredContent as Json;
    return answerWith(isJsonObject(value) ? value : { result: value });
  }
  const others = content.flatMap((part) => (part.type === "text" ? [] : [part.type]));
  return answerWith({ text, ...(others.length > 0 && { left_out: others }) });
}
