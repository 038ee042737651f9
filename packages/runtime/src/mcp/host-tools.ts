/**
 * Tools that whoever serves the skills adds to them, such as a service that has runs. One may ask the person at the client
 * before it answers: the client is sent the questions, and calls again with the answers and the state it was given.
 */
import type { JsonObject, JsonSchema } from "@metier/base/json";
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Tool as McpTool,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** What a person is asked at the client. */
export interface HostQuestion {
  readonly id: string;
  readonly message: string;
  /** Of the answer: an object of plain fields. */
  readonly schema: JsonSchema;
}

/** How a person answered; `content` only of what was accepted, and not checked. */
interface HostAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content: Readonly<Record<string, unknown>>;
}

export interface HostCall {
  readonly signal: AbortSignal;
  /** Whether the client can ask its person. */
  readonly canAsk: boolean;
  /** What the call before this one gave the client to keep; the client may have changed it. */
  readonly state?: string | undefined;
  /** `undefined`: this was not asked, or not answered. */
  answer(id: string): HostAnswer | undefined;
  /** Tells the client how it goes, if it wants to hear of it. */
  say(message: string): void;
}

export type HostOutcome =
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly object?: JsonObject;
      readonly isError?: boolean;
    }
  | { readonly kind: "ask"; readonly questions: readonly HostQuestion[]; readonly state: string };

export interface HostTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly isReadOnly: boolean;
  call(input: JsonObject, call: HostCall): Promise<HostOutcome>;
}

export function describeHostTool({ name, description, inputSchema, isReadOnly }: HostTool): McpTool {
  return {
    name,
    description,
    inputSchema: inputSchema as McpTool["inputSchema"],
    ...(isReadOnly && { annotations: { readOnlyHint: true } }),
  };
}

export async function callHostTool(
  tool: HostTool,
  server: Server,
  input: Readonly<Record<string, unknown>>,
  { mcpReq }: ServerContext,
  say: (message: string) => void = () => undefined,
): Promise<CallToolResult | InputRequiredResult> {
  const state: unknown = mcpReq.requestState();
  const outcome = await tool.call(input as JsonObject, {
    signal: mcpReq.signal,
    canAsk: server.getClientCapabilities()?.elicitation !== undefined,
    state: typeof state === "string" ? state : undefined,
    say,
    answer(id) {
      const given = inputResponse(mcpReq.inputResponses, id);
      if (given.kind !== "elicit") return undefined;
      return { action: given.action, content: given.content ?? {} };
    },
  });
  if (outcome.kind === "ask") return askPerson(outcome.questions, outcome.state);
  const { text, object, isError } = outcome;
  return {
    content: [{ type: "text", text }],
    ...(object && { structuredContent: { ...object } }),
    ...(isError && { isError }),
  };
}

function askPerson(questions: readonly HostQuestion[], requestState: string): InputRequiredResult {
  const asked = questions.map(({ id, message, schema }) => {
    const requestedSchema = schema as ElicitRequestFormParams["requestedSchema"];
    return [id, inputRequired.elicit({ message, requestedSchema })] as const;
  });
  return inputRequired({ inputRequests: Object.fromEntries(asked), requestState });
}
