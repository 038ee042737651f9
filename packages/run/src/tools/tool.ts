/**
 * A tool as every stage knows it: plain data and one function that never throws; adapters turn it into what a host wants. And
 * the names of tools: Metier's own, what other systems call them, and those that skills and embedding programs bring.
 */
import { createHash } from "node:crypto";
import { UsageError } from "@metier/base/errors";
import { type Json, type JsonSchema, presentFields } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import { nearestNames, showValue } from "@metier/base/text";
import type { Sandbox, World } from "@metier/sandbox";
import type { RedactionStream } from "@metier/sandbox/secrets";
import type { Caller } from "../invoke/invocation.ts";

/** What a call does to the world; the built-in answer of the tool policy follows from it. */
export type ToolEffect = "read" | "write" | "execute" | "network" | "skill" | "talk";

/** The input of a tool call: a JSON object that fits the tool's `inputSchema`. */
export type ToolInput = Readonly<Record<string, Json>>;

/** The answer of a tool, as the model reads it. */
export interface ToolOutput {
  /** What the model reads; for a fault, what went wrong and what it can do. */
  readonly text: string;
  /** Whether the call failed. */
  readonly isError: boolean;
  /** What a skill with an `output-schema` answered, as a value; absent otherwise. */
  readonly object?: Json | undefined;
}

/** Writes one note: the message and what belongs to it, in either order, as loggers of either kind have it. */
export interface ToolLogCall {
  /** The message first, then its fields. */
  (message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** The fields first, then the message, as Pino has it. */
  (fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Notes of a tool about its call. They are events of the run (`tool-logged`), without secrets; the model does not see them. */
export interface ToolLog {
  /** What only helps to find a fault. */
  readonly debug: ToolLogCall;
  /** What happened. */
  readonly info: ToolLogCall;
  /** What is odd, though the call goes on. */
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
  /** Who asks, as the program said with `caller`; `{}` where it did not. */
  readonly caller: Caller;
  /** The run that calls: that of the skill, or the turn of a chat. */
  readonly runId: string;
  /** The skill that is run; absent in a chat. */
  readonly skill?: string | undefined;
  /** Leaves notes about the call in the run's events. */
  readonly log: ToolLog;
  /** The folders and files that the run may see and change. */
  readonly world: World;
  /** Absent where no sandbox holds here: then nothing is executed. */
  readonly sandbox?: Sandbox | undefined;
  /** Of the run's processes, and of them alone. */
  readonly env: Readonly<Record<string, string>>;
  /** The command as literal words, when a scoped pattern allowed it: it is executed without a shell. */
  readonly argv?: readonly string[] | undefined;
  /** Granted domains; none means no network. */
  readonly network: readonly string[];
  /** Aborted when the run is stopped: end the work then. */
  readonly signal: AbortSignal;
  /** Takes secrets out of what a tool itself writes or cuts as it comes; answers are redacted by the run anyway. */
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
  /** `[a-z][a-z0-9_]*`; that of a skill's own tool is made by `ownTool`. */
  readonly name: string;
  /** How people and policies name a skill's own tool: `pdf:extract`. Default: `name`. */
  readonly id?: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** JSON Schema of the input, `type: object`; checked before `execute`. */
  readonly inputSchema: Readonly<Record<string, Json>>;
  /** What a call does; the tool policy decides by it where no rule names the tool. */
  readonly effect: ToolEffect;
  /**
   * What a call would change, as a diff, for the person who is asked about it. A refusal: the call cannot succeed, so
   * nobody is asked, and this is its answer.
   */
  preview?(input: ToolInput, world: World): Promise<Result<string, ToolOutput>>;
  /** Never throws: a fault is an answer with `isError`, in words the model can act on. */
  execute(input: ToolInput, context: Context): Promise<ToolOutput>;
}

/** A tool of the embedding program, as runs call it. */
export interface AcceptedTool extends Tool {
  /**
   * Holds an input to a schema of the program's own, in place of `inputSchema`. `execute` is given what it makes of it;
   * policy, approvals and hooks see the input as the model wrote it. A refusal says what is wrong.
   */
  readInput?(input: ToolInput): Promise<Result<unknown, string>>;
}

/** Of a tool's input: an object with these properties and no others. */
export function inputSchema(properties: JsonSchema, required?: readonly string[]): JsonSchema {
  return presentFields({ type: "object", properties, required, additionalProperties: false }) as JsonSchema;
}

/** Of a text that is not empty. */
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

/** Other systems' names, lower case and without `-` and `_`. */
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

/** Tools of other systems that nothing here does. */
const ELSEWHERE = `task agent todoread todowrite notebookread notebookedit bashoutput killbash killshell taskoutput
  taskstop exitplanmode enterplanmode slashcommand lsp`;

export interface ToolNameReading {
  /** Ours where it means one of ours; else as it was written. */
  readonly name: string;
  /** `owned`: `skill:tool`. `elsewhere`: another system has it, and nothing here does the same. */
  readonly known: "ours" | "host" | "owned" | "pattern" | "elsewhere" | "unknown";
  /** For an unknown one: names it may be a misspelling of. */
  readonly near: readonly string[];
}

/**
 * Letter case, `-` and `_` do not matter in a name that is ours or known to mean one of ours. `hostTools` are further tools
 * that exist, by their exact names; these win over a meaning of ours. Names with `*` are globs over tool names,
 * `mcp__server` stands for every tool of that server, and `skill:tool` or `skill__tool` for a skill's own.
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
 * A tool that belongs to a skill, beside those of other skills: `skill:tool` is what people read, and a name that every
 * provider takes is what models call. Both stand in the tool, so that either leads to the other.
 */
export interface OwnedTool extends Tool<unknown> {
  /** `pdf:extract`; the tool's own name where names are not told apart by skill. */
  readonly id: string;
  /** The name of the skill it belongs to. */
  readonly skill: string;
}

/** What providers agree on. */
const MAX_NAME = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;
const DIGEST_LENGTH = 8;

/** The tool under the name of its skill; everything else of it is as it was. */
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
 * Every name that means the tool with this id: the id, what models call it, and its own name for whoever knows which
 * skill is meant. A tool of no skill has one.
 */
export function toolNamesOf(id: string, isSkillKnown: (skill: string) => boolean): readonly string[] {
  const colon = id.lastIndexOf(":");
  if (colon < 0) return [id];
  return [id, exportedName(id), ...(isSkillKnown(id.slice(0, colon)) ? [id.slice(colon + 1)] : [])];
}

/** A name that had to be changed carries a digest of what it stands for: two tools never become one. */
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

/** Holds the names of an embedding program's tools to what providers, policies and logs rely on: known, and one of a kind. */
export function checkProgramTools(tools: readonly Pick<Tool, "name">[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    const shown = showValue(String(name));
    if (typeof name !== "string" || !(PLAIN.test(name) || OWNED.test(name))) {
      const hint =
        "Allowed are `a-z`, `0-9` and `_`, a letter first, at most 64 characters; or `skill__tool`.";
      throw new UsageError(`A tool is called ${shown}, which is no name of a tool.`, { hint });
    }
    if (TOOL_NAMES.some((own) => own === name)) {
      const hint = `Give it another name than ${TOOL_NAMES.map((own) => `\`${own}\``).join(", ")}.`;
      throw new UsageError(`A tool is called ${shown}, which is one of Metier's own.`, { hint });
    }
    if (seen.has(name)) {
      const hint =
        "Give one of them another name; those of `createMetier` and those of a call count together.";
      throw new UsageError(`Two tools are called ${shown}.`, { hint });
    }
    seen.add(name);
  }
}
