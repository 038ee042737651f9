/**
 * `metier/claude`: skills for the Claude Agent SDK and Claude Code, in one of two ways: mounted into a workspace, where
 * the client finds them by itself, or as tools of an MCP server in your own process, with Metier's runs behind them.
 * Nothing of the SDK is imported: these are the shapes that it takes.
 */
import type { Conversation } from "../disclose/conversation.ts";
import type { ConversationTool } from "../run/conversation-tool.ts";
import type { SkillOfferOptions } from "../run/offer-skills.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { ToolInput } from "../tools/tool.ts";
import { type ZodLike, zodShape } from "./zod-shape.ts";

export {
  type ClaudeMount,
  type ClaudeMountOptions,
  type LeftOutSkill,
  mountClaudeSkills,
} from "./mount-for-claude.ts";
export type { ZodLike };

export interface ClaudeSkillsOptions extends SkillOfferOptions {
  /** Your `z` of the package `zod`: the SDK describes the input of a tool by it. */
  readonly z: ZodLike;
  /** What you call the server in `mcpServers`. Default: `metier`. */
  readonly server?: string;
}

/** What `tool()` of the SDK makes, and `createSdkMcpServer` takes. */
export interface ClaudeTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  handler(input: Record<string, unknown>, extra: unknown): Promise<ClaudeToolResult>;
}

export interface ClaudeToolResult {
  content: { type: "text"; text: string }[];
  isError: boolean;
  [key: string]: unknown;
}

export interface ClaudeSkills {
  /** For `systemPrompt: { type: "preset", preset: "claude_code", append: instructions }`. `""` without skills. */
  readonly instructions: string;
  /** For `createSdkMcpServer({ name, tools })`. */
  readonly tools: ClaudeTool[];
  /** Their names as the client has them, `mcp__metier__use_skill`: for `allowedTools`. */
  readonly allowedTools: string[];
  /** What the conversation was given; keep it to go on later. */
  readonly conversation: Conversation;
}

/** In-process tools, one offer for each conversation. */
export async function claudeSkills(metier: Metier, options: ClaudeSkillsOptions): Promise<ClaudeSkills> {
  const { z, server = "metier", ...rest } = options;
  const { instructions, tools, conversation } = await metier.offerSkills(rest);
  return {
    instructions,
    tools: tools.map((tool) => toClaudeTool(tool, z)),
    allowedTools: tools.map(({ name }) => `mcp__${server}__${name}`),
    conversation,
  };
}

function toClaudeTool(tool: ConversationTool, z: ZodLike): ClaudeTool {
  const { name, description, inputSchema } = tool;
  return {
    name,
    description,
    inputSchema: zodShape(inputSchema, z),
    async handler(input, extra) {
      const { text, isError } = await tool.execute(input as ToolInput, signalOf(extra));
      return { content: [{ type: "text", text }], isError };
    },
  };
}

/** What comes with a call of an MCP tool has the signal that ends it. */
function signalOf(extra: unknown): { readonly signal?: AbortSignal } {
  const signal = (extra as { readonly signal?: unknown } | null | undefined)?.signal;
  return signal instanceof AbortSignal ? { signal } : {};
}
