/** `use_skill` and its companions as MCP tools, for clients that do not know the Skills extension. */
import {
  type CallToolResult,
  type Tool as McpTool,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ConversationTool } from "../run/conversation-tool.ts";
import { checkCalls } from "../run/open-conversation.ts";
import type { Json } from "../skill/manifest.ts";
import { findSkillsTool } from "../tools/skills/find-skills.ts";
import { listSkillsTool } from "../tools/skills/list-skills.ts";
import { readSkillFileTool } from "../tools/skills/read-skill-file.ts";
import type { ToolInput } from "../tools/tool.ts";
import { showNames, showValue } from "../validate/report.ts";
import type { Connection } from "./connection.ts";
import { noteGiven } from "./mcp-conversation.ts";
import { type Progress, tellProgress } from "./run-progress.ts";
import { trustNote } from "./trust-mark.ts";

export function answerTools(server: Server, connection: Connection): void {
  server.setRequestHandler("tools/list", () => ({ tools: listTools(connection).map(describe) }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    callTool(connection, params.name, params.arguments ?? {}, context),
  );
}

/** Made for one call: the skills there are, and who hears of a run, may be others the next time. */
export function listTools(
  { metier, library, conversation, options }: Connection,
  progress?: Progress,
): readonly ConversationTool[] {
  const { caller, run } = options;
  const useSkill = metier.useSkillTool({
    ...run,
    ...(caller && { caller }),
    conversation,
    canRun: run !== undefined,
    ...(progress && {
      onProgress: progress.say,
      onEvent: (event) => {
        progress.hear(event);
        run?.onEvent?.(event);
      },
    }),
  });
  if (useSkill === undefined) return [];
  const others = [findSkillsTool(library), listSkillsTool(library), readSkillFileTool(library)];
  return [useSkill, ...others.map(checkCalls)];
}

function describe({ name, description, inputSchema }: ConversationTool): McpTool {
  return {
    name,
    description,
    inputSchema: inputSchema as McpTool["inputSchema"],
    ...(name !== "use_skill" && { annotations: { readOnlyHint: true } }),
  };
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
    const known =
      tools.length === 0 ? "there are none" : `there are ${showNames(tools.map((one) => one.name))}`;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${showValue(name)}; ${known}.`,
    );
  }
  const { signal } = context.mcpReq;
  const { text, isError } = await tool.execute(input as ToolInput, { signal });
  const note = isError ? undefined : markFor(connection, name, input as Readonly<Record<string, Json>>);
  return {
    content: [...(note === undefined ? [] : [note]), text].map((part) => ({ type: "text", text: part })),
    ...(isError && { isError }),
  };
}

/** What goes before the text of an untrusted skill; that it was given is remembered. */
function markFor(
  { library, conversation }: Connection,
  tool: string,
  { skill: name }: Readonly<Record<string, Json>>,
): string | undefined {
  if (tool !== "use_skill" && tool !== "read_skill_file") return undefined;
  const skill = library.skills().find((candidate) => candidate.name === name);
  if (skill === undefined) return undefined;
  if (tool === "read_skill_file") noteGiven(conversation, skill.name, "");
  return trustNote(skill);
}
