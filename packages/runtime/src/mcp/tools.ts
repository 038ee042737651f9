/**
 * `use_skill` and related tools as MCP tools, for clients without the Skills extension. Events of a run become progress
 * notifications for clients that ask for them.
 */
import { type Json, presentFields } from "@metier/base/json";
import { showNames, showValue } from "@metier/base/text";
import {
  type ConversationTool,
  checkCalls,
  findSkillsTool,
  hideRuns,
  listSkillsTool,
  readSkillFileTool,
  type SkillLibrary,
  type ToolInput,
} from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { Catalog } from "@metier/skills";
import {
  type CallToolResult,
  type InputRequiredResult,
  type Tool as McpTool,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Connection, noteGiven, trustNote } from "./connection.ts";
import { callHostTool, describeHostTool } from "./host-tools.ts";
import { type OutputTool, outputTools, structuredContent } from "./output-tools.ts";

export function answerTools(server: Server, connection: Connection): void {
  server.setRequestHandler("tools/list", () => ({ tools: [...describeTools(connection)] }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    answerCall(server, connection, params.name, params.arguments ?? {}, context),
  );
}

/** Per library while its catalog is current: over HTTP, every request has its own server. */
const described = new WeakMap<
  SkillLibrary,
  { readonly catalog: Catalog; readonly tools: readonly McpTool[] }
>();

function describeTools(connection: Connection): readonly McpTool[] {
  const { metier, library, host } = connection;
  const { catalog } = metier;
  const known = described.get(library);
  if (known?.catalog === catalog) return known.tools;
  const tools = [...listTools(connection).map(toMcpTool), ...(host?.tools ?? []).map(describeHostTool)];
  described.set(library, { catalog, tools });
  return tools;
}

/** Created for one call: the skills, and who is notified of a run, may differ next time. */
export function listTools(
  connection: Connection,
  say?: (message: string) => void,
): readonly (ConversationTool | OutputTool)[] {
  const { metier, library, conversation, options } = connection;
  const { caller, run } = options;
  const useSkill = metier.useSkillTool({
    ...run,
    ...presentFields({ caller }),
    conversation,
    canRun: run !== undefined,
    ...(say && {
      onProgress: say,
      onEvent: (event) => {
        const message = describeEvent(event);
        if (message !== undefined) say(message);
        return run?.onEvent?.(event);
      },
    }),
  });
  if (useSkill === undefined) return [];
  const shown = run === undefined ? hideRuns(library, metier.config.config) : library;
  const others = [findSkillsTool(shown), listSkillsTool(shown), readSkillFileTool(shown)];
  return [useSkill, ...others.map(checkCalls), ...outputTools(connection, useSkill)];
}

function toMcpTool(tool: ConversationTool | OutputTool): McpTool {
  const { name, description, inputSchema, effect } = tool;
  return {
    name,
    description,
    inputSchema: inputSchema as McpTool["inputSchema"],
    ...("outputSchema" in tool && { outputSchema: tool.outputSchema as McpTool["outputSchema"] }),
    ...(effect !== "skill" && { annotations: { readOnlyHint: true } }),
  };
}

async function answerCall(
  server: Server,
  connection: Connection,
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const added = connection.host?.tools.find((tool) => tool.name === name);
  if (added === undefined) return callTool(connection, name, input, context);
  return callHostTool(added, server, input, context, tellProgress(context));
}

async function callTool(
  connection: Connection,
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: ServerContext,
): Promise<CallToolResult> {
  const tools = listTools(connection, tellProgress(context));
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) {
    const known = tools.length === 0 ? "none" : showNames(tools.map((one) => one.name));
    const message = `There is no tool ${showValue(name)}; there are ${known}.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const { signal } = context.mcpReq;
  const { text, isError, object } = await tool.execute(input as ToolInput, { signal });
  const named = "skill" in tool ? { skill: tool.skill } : (input as Readonly<Record<string, Json>>);
  const note = isError ? undefined : markFor(connection, tool, named);
  const { hide = (shown: string) => shown } = connection.host ?? {};
  return {
    content: [...(note === undefined ? [] : [note]), text].map((part) => ({
      type: "text",
      text: hide(part),
    })),
    ...structuredContent(object),
    ...(isError && { isError }),
  };
}

/** The note before the text of an untrusted skill; that the text was given is remembered. */
function markFor(
  { library, conversation }: Connection,
  tool: ConversationTool,
  { skill: name }: Readonly<Record<string, Json>>,
): string | undefined {
  const isReading = tool.name === "read_skill_file";
  if (tool.effect !== "skill" && !isReading) return undefined;
  const skill = library.skills().find((candidate) => candidate.name === name);
  if (skill === undefined) return undefined;
  if (isReading) noteGiven(conversation, skill.name, "");
  return trustNote(skill);
}

/** `undefined` if the client didn't ask for progress. */
function tellProgress({ mcpReq }: ServerContext): ((message: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that is gone gets nothing; its signal ends the run.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

/** Events are already redacted; tool inputs and outputs stay inside the run. */
function describeEvent(event: RunEvent): string | undefined {
  switch (event.type) {
    case "run-started":
      return `${event.skill}: started (${event.model}, ${event.trust})`;
    case "tool-called":
      return event.decision === "deny" ? `${event.tool}: denied` : event.tool;
    case "model-answered":
      return `step ${event.step}: ${event.finishReason}`;
    case "model-retried":
      return `asking the model again in ${event.delayMs / 1000} s`;
    case "limit-reached":
      return `limit of ${event.limit}`;
    default:
      return undefined;
  }
}
