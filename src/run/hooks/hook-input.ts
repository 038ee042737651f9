/** What a hook reads from its standard input: one JSON object, with Claude Code's names beside ours where it expects them. */
import { resolve } from "node:path";
import type { World } from "../../sandbox/world.ts";
import type { ToolInput, ToolOutput } from "../../tools/tool.ts";
import type { SkillHook } from "../../validate/read-hooks.ts";

/** The run that a hook belongs to. */
export interface HookedRun {
  readonly skill: string;
  readonly runId: string;
}

/** What a hook is asked about, in the words that the run's model has seen: secrets are taken out. */
export interface HookSubject {
  readonly tool?: string;
  readonly callId?: string;
  readonly input?: ToolInput;
  /** Of the tool, or at the end the answer of the model. */
  readonly output?: ToolOutput;
  /** At the end: how often a hook has made the run go on. */
  readonly continued?: number;
}

const VERSION = 1;

export function hookInput(
  { event, isClaude }: Pick<SkillHook, "event" | "isClaude">,
  { skill, runId }: HookedRun,
  subject: HookSubject,
  { workDir, cwd }: Pick<World, "workDir" | "cwd">,
): string {
  const own = { version: VERSION, event, skill, runId, ...subject, workDir, cwd };
  return JSON.stringify(isClaude ? { ...own, ...claudeInput(event, runId, subject, cwd) } : own);
}

const CLAUDE_EVENTS = { "pre-tool": "PreToolUse", "post-tool": "PostToolUse", stop: "Stop" } as const;

const CLAUDE_TOOLS: ReadonlyMap<string, string> = new Map([
  ["bash", "Bash"],
  ["read_file", "Read"],
  ["write_file", "Write"],
  ["edit_file", "Edit"],
  ["list_files", "Glob"],
  ["grep_search", "Grep"],
  ["web_fetch", "WebFetch"],
  ["web_search", "WebSearch"],
  ["use_skill", "Skill"],
  ["ask_user", "AskUserQuestion"],
]);

const FILE_TOOLS: ReadonlySet<string> = new Set(["read_file", "write_file", "edit_file"]);

function claudeInput(
  event: SkillHook["event"],
  runId: string,
  { tool, callId, input, output, continued = 0 }: HookSubject,
  cwd: string,
): Readonly<Record<string, unknown>> {
  const shared = { hook_event_name: CLAUDE_EVENTS[event], session_id: runId };
  if (tool === undefined) return { ...shared, stop_hook_active: continued > 0 };
  const path = FILE_TOOLS.has(tool) && typeof input?.path === "string" ? input.path : undefined;
  return {
    ...shared,
    tool_name: CLAUDE_TOOLS.get(tool) ?? tool,
    tool_use_id: callId,
    tool_input: path === undefined ? input : { ...input, file_path: resolve(cwd, path) },
    ...(output && { tool_response: output }),
  };
}
