/**
 * A tool as every stage knows it: plain data and one function that never throws; adapters convert it for a host. Also
 * the names of tools: Metier's own, other systems' names for them, and those of skills and embedding programs.
 */
import { createHash } from "node:crypto";
import { UsageError } from "@metier/base/errors";
import { type Json, type JsonSchema, presentFields } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import { nearestNames, showValue } from "@metier/base/text";
import type { Sandbox, World } from "@metier/sandbox";
import type { RedactionStream } from "@metier/sandbox/secrets";
import type { Caller } from "../invoke/invocation.ts";

/** What a call does to the world; determines the tool policy's default answer. */
export type ToolEffect = "read" | "write" | "execute" | "network" | "skill" | "talk";

/** The input of a tool call: a JSON object that matches the tool's `inputSchema`. */
export type ToolInput = Readonly<Record<string, Json>>;

/** A tool's answer, as the model reads it. */
export interface ToolOutput {
  /** What the model reads; for an error, what went wrong and what it can do. */
  readonly text: string;
  /** Whether the call failed. */
  readonly isError: boolean;
  /** The answer of a skill with an `output-schema`, as a value; otherwise absent. */
  readonly object?: Json | undefined;
}

/** Writes one note: the message and its fields, in either order, as different loggers expect. */
export interface ToolLogCall {
  /** The message first, then its fields. */
  (message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** The fields first, then the message, as in Pino. */
  (fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * A tool's notes about its call. They become events of the run (`tool-logged`), without secrets; the model doesn't see
 * them.
 */
export interface ToolLog {
  /** Only useful for debugging. */
  readonly debug: ToolLogCall;
  /** What happened. */
  readonly info: ToolLogCall;
  /** Something odd, although the call continues. */
  readonly warn: ToolLogCall;
  /** What went wrong. */
  readonly error: ToolLogCall;
}

/**
 * What a tool is given for one call inside a run.
 *
 * @example
 * ```ts
 * async function execute({ id }: ToolInput, { caller, signal, log }: ToolContext) {
 *   log.info("Looking up an order", { id, user: caller.userId });
 *   const response = await fetch(`https://orders.example/${id}`, { signal });
 *   return { text: await response.text(), isError: !response.ok };
 * }
 * ```
 */
export interface ToolContext {
  /** The id of the call within the run. */
  readonly callId: string;
  /** The caller that the program named; `{}` if none. */
  readonly caller: Caller;
  /** The calling run: a skill's run, or a chat turn. */
  readonly runId: string;
  /** The running skill; absent in a chat. */
  readonly skill?: string | undefined;
  /** Leaves notes about the call in the run's events. */
  readonly log: ToolLog;
  /** The folders and files that the run may see and change. */
  readonly world: World;
  /** Absent if no sandbox is suitable: then nothing is executed. */
  readonly sandbox?: Sandbox | undefined;
  /** Only for the run's processes. */
  readonly env: Readonly<Record<string, string>>;
  /** The command as literal words, if a scoped pattern allowed it: it runs without a shell. */
  readonly argv?: readonly string[] | undefined;
  /** Granted domains; empty means no network. */
  readonly network: readonly string[];
  /** Aborted when the run is stopped: end the work then. */
  readonly signal: AbortSignal;
  /** Redacts what a tool itself writes or cuts as it arrives; the run redacts answers anyway. */
  redactStream?(): RedactionStream;
}

/**
 * A tool as plain data and one function; `defineTool` makes one from a typed schema.
 *
 * @example
 * ```ts
 * const clock: Tool = {
 *   name: "current_time",
 *   description: "Tells the current time.",
 *   inputSchema: { type: "object", properties: {} },
 *   effect: "read",
 *   execute: async () => ({ text: new Date().toISOString(), isError: false }),
 * };
 * ```
 */
export interface Tool<Context = ToolContext> {
  /** `[a-z][a-z0-9_]*`; `ownTool` creates the name of a skill's own tool. */
  readonly name: string;
  /** The name of a skill's own tool for people and policies: `pdf:extract`. Default: `name`. */
  readonly id?: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** JSON Schema of the input, `type: object`; checked before `execute`. */
  readonly inputSchema: Readonly<Record<string, Json>>;
  /** What a call does; the tool policy uses it if no rule names the tool. */
  readonly effect: ToolEffect;
  /**
   * What a call would change, as a diff, for the person who approves it. A refusal: the call can't succeed, so nobody
   * is asked, and this is its answer.
   */
  preview?(input: ToolInput, world: World): Promise<Result<string, ToolOutput>>;
  /** Never throws: an error is an answer with `isError`, in words the model can act on. */
  execute(input: ToolInput, context: Context): Promise<ToolOutput>;
}

/** A tool of the embedding program, as runs call it. */
export interface AcceptedTool extends Tool {
  /**
   * Checks an input against the program's own schema instead of `inputSchema`. `execute` gets the result; policy,
   * approvals and hooks see the input as the model wrote it. A refusal says what is wrong.
   */
  readInput?(input: ToolInput): Promise<Result<unknown, string>>;
}

/** The schema of a tool's input: an object with only these properties. */
export function inputSchema(properties: JsonSchema, required?: readonly string[]): JsonSchema {
  return presentFields({ type: "object", properties, required, additionalProperties: false }) as JsonSchema;
}

/** The schema of a non-empty string. */
export function textSchema(description: string, maxLength?: number): JsonSchema {
  return presentFields({ type: "string", minLength: 1, maxLength, description }) as JsonSchema;
}

export function countSchema(description: string, minimum: number, maximum?: number): JsonSchema {
  return presentFields({ type: "integer", minimum, maximum, description }) as JsonSchema;
}

export function toolId({ id, name }: Pick<Tool, "id" | "name">): string {
  return id ?? name;
}

export function answer(text: string): ToolOutput {
  return { text, isError: false };
}

export function fault(text: string): ToolOutput {
  return { text, isError: true };
}

export const TOOL_NAMES = [
  "bash",
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "grep_search",
  "web_fetch",
  "web_search",
  "use_skill",
  "list_skills",
  "find_skills",
  "read_skill_file",
  "run_script",
  "ask_user",
] as const;
type ToolName = (typeof TOOL_NAMES)[number];

/** Other systems' names, lowercase and without `-` and `_`. */
const OTHER_NAMES: Readonly<Record<ToolName, string>> = {
  bash: "bash runbash shell runshell runcommand executebash executecommand terminal",
  read_file: "read readfile view viewfile",
  write_file: "write writefile createfile",
  edit_file: "edit editfile multiedit",
  list_files: "listfiles glob ls listdir listdirectory",
  grep_search: "grepsearch grep searchfiles",
  web_fetch: "webfetch",
  web_search: "websearch",
  use_skill: "useskill skill invokeskill activateskill",
  list_skills: "listskills",
  find_skills: "findskills",
  read_skill_file: "readskillfile readresource",
  run_script: "runscript",
  ask_user: "askuser askuserquestion",
};

/** Tools of other systems without an equivalent here. */
const ELSEWHERE = `task agent todoread todowrite notebookread notebookedit bashoutput killbash killshell taskoutput
  taskstop exitplanmode enterplanmode slashcommand lsp`;

export interface ToolNameReading {
  /** Ours if it means one of ours; else as written. */
  readonly name: string;
  /** `owned`: `skill:tool`. `elsewhere`: another system has it, without an equivalent here. */
  readonly known: "ours" | "host" | "owned" | "pattern" | "elsewhere" | "unknown";
  /** For an unknown name: names it may be a misspelling of. */
  readonly near: readonly string[];
}

/**
 * Case, `-` and `_` don't matter in a name that is ours or known to mean one of ours. `hostTools` are more existing
 * tools, by their exact names; they win over a name of ours. Names with `*` are globs over tool names, `mcp__server` is
 * every tool of that server, and `skill:tool` or `skill__tool` is a skill's own.
 */
export function readToolName(written: string, hostTools: readonly string[] = []): ToolNameReading {
  if (hostTools.includes(written)) return { name: written, known: "host", near: [] };
  if (written.includes("*") || written.startsWith("mcp__"))
    return { name: written, known: "pattern", near: [] };
  if (/:|__/.test(written)) return { name: written, known: "owned", near: [] };
  const plain = written.toLowerCase().replace(/[-_]/g, "");
  const ours = TOOL_NAMES.find((name) => OTHER_NAMES[name].split(" ").includes(plain));
  if (ours !== undefined) return { name: ours, known: "ours", near: [] };
  if (ELSEWHERE.split(/\s+/).includes(plain)) return { name: written, known: "elsewhere", near: [] };
  return { name: written, known: "unknown", near: nearestNames(written, [...TOOL_NAMES, ...hostTools]) };
}

/**
 * A tool that belongs to a skill: people read `skill:tool`, and models call a name that every provider accepts. The
 * tool has both, so that either leads to the other.
 */
export interface OwnedTool extends Tool<unknown> {
  /** `pdf:extract`; the tool's own name if names have no skill prefix. */
  readonly id: string;
  /** The name of the skill it belongs to. */
  readonly skill: string;
}

/** What providers agree on. */
const MAX_NAME = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;
const DIGEST_LENGTH = 8;

/** The tool under its skill's name; nothing else changes. */
export function ownTool(skill: string, tool: Tool<unknown>): OwnedTool {
  const id = `${skill}:${tool.name}`;
  return {
    id,
    skill,
    name: exportedName(id),
    description: tool.description,
    inputSchema: tool.inputSchema,
    effect: tool.effect,
    execute: (input, context) => tool.execute(input, context),
  };
}

/**
 * Every name of the tool with this id: the id, the name for models, and its own name for whoever knows the skill. A
 * tool without a skill has one.
 */
export function toolNamesOf(id: string, isSkillKnown: (skill: string) => boolean): readonly string[] {
  const colon = id.lastIndexOf(":");
  if (colon < 0) return [id];
  return [id, exportedName(id), ...(isSkillKnown(id.slice(0, colon)) ? [id.slice(colon + 1)] : [])];
}

/** A changed name contains a digest of the original: two tools never become one. */
function exportedName(id: string): string {
  const colon = id.lastIndexOf(":");
  const wanted = `${id.slice(0, colon)}__${id.slice(colon + 1)}`;
  const name = wanted.replace(FORBIDDEN, "_");
  if (name === wanted && name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, DIGEST_LENGTH);
  return `${name.slice(0, MAX_NAME - DIGEST_LENGTH - 1)}_${digest}`;
}

const PLAIN = /^[a-z][a-z0-9_]{0,63}$/;
/** `skill__tool`, or one that was shortened and ends in a digest. */
const OWNED = /^(?=.{1,64}$)[a-zA-Z0-9_-]+(?:__[a-zA-Z0-9_-]+|_[0-9a-f]{8})$/;

/** Checks that the names of a program's tools are valid for providers, policies and logs, and unique. */
export function checkProgramTools(tools: readonly Pick<Tool, "name">[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    const shown = showValue(String(name));
    if (typeof name !== "string" || !(PLAIN.test(name) || OWNED.test(name))) {
      const hint =
        "Use `a-z`, `0-9` and `_`, starting with a letter, at most 64 characters; or `skill__tool`.";
      throw new UsageError(`${shown} is not a valid tool name.`, { hint });
    }
    if (TOOL_NAMES.some((own) => own === name)) {
      const hint = `Choose a name other than ${TOOL_NAMES.map((own) => `\`${own}\``).join(", ")}.`;
      throw new UsageError(`The tool name ${shown} is one of Metier's own.`, { hint });
    }
    if (seen.has(name)) {
      const hint = "Rename one of them; tools passed to `createMetier` and to a call share their names.";
      throw new UsageError(`Two tools are called ${shown}.`, { hint });
    }
    seen.add(name);
  }
}
