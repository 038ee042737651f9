/** A skill's hooks: which of them its run has, what a hook reads from stdin, and what its answer means. */
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { cleanText, showValue } from "@metier/base/text";
import type { CommandOutcome, World } from "@metier/sandbox";
import { type HookEvent, readHooks, type SkillHook } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import { readRule } from "../../tools/policy-rules.ts";
import type { ToolInput, ToolOutput } from "../../tools/tool.ts";
import type { DecidedRun, RunContext, RunGiven } from "../run-context.ts";
import { programTools } from "../run-request.ts";

export type RunHook = SkillHook & {
  /** Whether it runs for calls of this tool. */
  isFor(tool: string): boolean;
};

interface FoundHooks {
  readonly hooks: readonly RunHook[];
  /** Names that aren't tools; unreadable hooks were reported when the skill was checked. */
  readonly diagnostics: readonly Diagnostic[];
}

const NONE: FoundHooks = { hooks: [], diagnostics: [] };

/**
 * A run's hooks: those its own skill declares, if the skill is trusted. Nobody else's. `brought`: names of the tools
 * that the skill provides.
 */
export function findHooks(
  { prepared: { skill, trust }, place }: DecidedRun,
  { host, request }: RunGiven,
  brought: readonly string[] | undefined,
): FoundHooks {
  const { hooks: written } = skill.manifest;
  if (written === undefined || !trustAllows(trust.level, "register-hooks")) return NONE;
  const diagnostics: Diagnostic[] = [];
  const source = {
    use: "deny",
    field: "hooks",
    path: skill.location,
    cwd: place.world.cwd,
    hostTools: programTools(host, request).map(({ name }) => name),
    own: { skill: skill.name, tools: brought },
    isBare: !host.config().skills.namespaceTools,
  } as const;
  const withMatchers = readHooks(written, () => undefined).map((hook): RunHook => {
    const rules = hook.tools.flatMap((name) => readRule(name, source, diagnostics) ?? []);
    const isFor = (tool: string): boolean => rules.length === 0 || rules.some((rule) => rule.isFor(tool));
    return { ...hook, isFor };
  });
  return { hooks: withMatchers, diagnostics };
}

/** The subject of a hook, as the run's model saw it: without secrets. */
export interface HookSubject {
  readonly tool?: string;
  readonly callId?: string;
  readonly input?: ToolInput;
  /** The tool's result or, at the end, the model's answer. */
  readonly output?: ToolOutput;
  /** At the end: how often a hook has made the run continue. */
  readonly continued?: number;
}

const VERSION = 1;

/** What a hook reads from stdin: one JSON object, with Claude Code's names next to ours where it expects them. */
export function hookInput(
  { event, isClaude }: Pick<SkillHook, "event" | "isClaude">,
  { subject: { skill }, runId }: RunContext,
  subject: HookSubject,
  { workDir, cwd }: World,
): string {
  const own = { version: VERSION, event, skill: skill.name, runId, ...subject, workDir, cwd };
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
    tool_response: output,
  };
}

export type HookVerdict =
  /** `note`: what the model is told in addition to the tool's result. */
  | { readonly outcome: "allow"; readonly note?: string }
  | { readonly outcome: "block" | "fault"; readonly reason: string };

/** With this exit code a hook blocks, and gives the reason on stderr. */
const BLOCKING_CODE = 2;
const MAX_REASON = 2_000;
const MAX_NOTE = 20_000;
const NO_REASON = "it gave no reason";

/** Claude Code answers that would change a call: it is blocked rather than carried out unchanged. */
const UNSUPPORTED = ["updatedInput", "updatedToolOutput", "updatedMCPToolOutput"];

/** A hook's decision, from how its command ended. Anything unclear is an error, never an approval. */
export function readVerdict(event: HookEvent, outcome: CommandOutcome, timeoutMs: number): HookVerdict {
  const fault = whyNoAnswer(outcome, timeoutMs);
  if (fault !== undefined) return failed(fault);
  if (outcome.exitCode === BLOCKING_CODE) return blocked(outcome.stderr);
  const text = outcome.stdout.trim();
  if (text === "") return { outcome: "allow" };
  const answer = parseMap(text);
  return answer ? readAnswer(event, answer) : failed(`its output is not a JSON object: ${showValue(text)}`);
}

export function failed(reason: string): HookVerdict {
  return { outcome: "fault", reason: tidy(reason, MAX_REASON) };
}

function blocked(reason: Json | undefined): HookVerdict {
  return { outcome: "block", reason: (typeof reason === "string" && tidy(reason, MAX_REASON)) || NO_REASON };
}

function whyNoAnswer(outcome: CommandOutcome, timeoutMs: number): string | undefined {
  const { ended, exitCode = 0, stderr, droppedBytes, reason } = outcome;
  if (ended === "timeout") return `it timed out after ${timeoutMs / 1000} s`;
  if (ended === "cancelled") return "the run was stopped";
  if (ended === "refused" || ended === "limit") return reason ?? `it was ${ended}`;
  if (ended === "signalled") return `it was killed by ${outcome.signal ?? "a signal"}`;
  if (droppedBytes > 0) return `it wrote ${droppedBytes} bytes more than the limit`;
  if (exitCode === 0 || exitCode === BLOCKING_CODE) return undefined;
  const said = stderr.trim();
  return `it exited with code ${exitCode}${said && `: ${said}`}`;
}

function readAnswer(event: HookEvent, answer: JsonObject): HookVerdict {
  const specific = isJsonObject(answer.hookSpecificOutput) ? answer.hookSpecificOutput : {};
  const unsupported = UNSUPPORTED.find((key) => key in answer || key in specific);
  if (unsupported !== undefined) return failed(`it answered with \`${unsupported}\`, which is not supported`);
  // Claude Code ends its session with this: at the end of a run, that is an approval.
  if (answer.continue === false) {
    return event === "stop" ? { outcome: "allow" } : blocked(answer.stopReason ?? answer.reason);
  }
  const decision = specific.permissionDecision ?? answer.decision;
  if (decision === "block" || decision === "deny") {
    return blocked(specific.permissionDecisionReason ?? answer.reason);
  }
  if (decision !== undefined && decision !== "allow" && decision !== "approve") {
    return failed(`its decision is ${showValue(decision)}; it must be \`block\` or \`allow\``);
  }
  const note = answer.note ?? answer.additionalContext ?? specific.additionalContext ?? "";
  if (typeof note !== "string") return failed(`its \`note\` is not a string: ${showValue(note)}`);
  const tidied = tidy(note, MAX_NOTE);
  return tidied === "" ? { outcome: "allow" } : { outcome: "allow", note: tidied };
}

function parseMap(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller says what it is instead.
  }
}

function tidy(text: string, most: number): string {
  const clean = cleanText(text).text.trim();
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}
