/**
 * `metier/claude`: skills for the Claude Agent SDK and Claude Code, in one of two ways: mounted into a workspace, where
 * the client finds them by itself, or as tools of an MCP server in your own process, with Metier's runs behind them.
 * Nothing of the SDK is imported: these are the shapes that it takes.
 */
import { join } from "node:path";
import { UsageError } from "@metier/base/errors";
import { type Json, presentFields } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showNames } from "@metier/base/text";
import {
  type Caller,
  type ConversationTool,
  checkCaller,
  NEED_ISOLATION,
  type SkillOffer,
  type SkillOfferOptions,
  type ToolInput,
} from "@metier/run";
import {
  type Instructions,
  linkTargets,
  type Mount,
  type MountOptions,
  mountSkills,
  type Skill,
  type SkillManifest,
  writeSkillText,
} from "@metier/skills";
import type { Metier } from "../runtime/create-metier.ts";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted } from "./adapter.ts";

/** Options of `claudeSkills`: your `z`, and everything that `metier.offerSkills` takes. */
export interface ClaudeSkillsOptions extends SkillOfferOptions {
  /** Your `z` of the package `zod`: the SDK describes the input of a tool by it. */
  readonly z: ZodLike;
  /** What you call the server in `mcpServers`. Default: `metier`. */
  readonly server?: string;
}

/** What `tool()` of the SDK makes, and `createSdkMcpServer` takes. */
export interface ClaudeTool {
  /** The tool's own name, without `mcp__metier__` before it. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** Zod types by property, made with your `z`. */
  inputSchema: Record<string, unknown>;
  /** Answers a call; `extra.signal`, which the SDK passes, ends it. */
  handler(input: Record<string, unknown>, extra: unknown): Promise<ClaudeToolResult>;
}

/** A tool result as MCP has it. */
export interface ClaudeToolResult {
  /** Always one text. */
  content: { type: "text"; text: string }[];
  /** Whether the text says what went wrong. */
  isError: boolean;
  /** Not set by Metier; MCP's own type is open, and so is this. */
  [key: string]: unknown;
}

/** `hooks` of the SDK's options. */
export interface ClaudeHooks {
  /** The user has spoken: a turn begins. */
  UserPromptSubmit: ClaudeHookMatcher[];
  /** A call that a followed skill disallows is denied. */
  PreToolUse: ClaudeHookMatcher[];
}

/** An entry of the SDK's hooks; without a `matcher`, so that it sees every event of its kind. */
export interface ClaudeHookMatcher {
  /** Functions that get the event from the SDK and answer whether it may go on. */
  hooks: ((input: unknown) => Promise<ClaudeHookAnswer>)[];
}

/** `{}`: nothing against it. */
export interface ClaudeHookAnswer {
  /** Denies the call and tells the model why; absent when the call may go on. */
  hookSpecificOutput?: {
    hookEventName: "PreToolUse";
    permissionDecision: "deny";
    permissionDecisionReason: string;
  };
}

/** What `claudeSkills` makes: the parts of the SDK's options for one conversation. */
export interface ClaudeSkills extends AdaptedSkills {
  /** For `systemPrompt: { type: "preset", preset: "claude_code", append: instructions }`. `""` without skills. */
  readonly instructions: string;
  /** For `createSdkMcpServer({ name, tools })`. */
  readonly tools: ClaudeTool[];
  /** Their names as the client has them, `mcp__metier__use_skill`: for `allowedTools`. */
  readonly allowedTools: string[];
  /** For `hooks`, beside your own: holds the client's tools to what a followed skill disallows. */
  readonly hooks: ClaudeHooks;
}

/**
 * Offers skills to the Claude Agent SDK as tools in your process; make one for each conversation. Throws
 * `UsageError` without `z`.
 *
 * @example
 * ```ts
 * const { instructions, tools, allowedTools, hooks } = await claudeSkills(metier, { z });
 * const mcpServers = { metier: createSdkMcpServer({ name: "metier", tools }) };
 * const systemPrompt = { type: "preset", preset: "claude_code", append: instructions } as const;
 * const messages = query({ prompt, options: { mcpServers, allowedTools, hooks, systemPrompt } });
 * ```
 */
export async function claudeSkills(
  metier: OffersSkills,
  options: ClaudeSkillsOptions,
): Promise<ClaudeSkills> {
  const { z, server = "metier", ...rest } = options ?? {};
  if (z === undefined) {
    throw new UsageError("`claudeSkills` needs `z` of the package `zod`.", {
      hint: 'import { z } from "zod", then claudeSkills(metier, { z }).',
    });
  }
  const offer = await metier.offerSkills(rest);
  const { instructions, tools } = offer;
  return {
    instructions,
    tools: tools.map((tool) => toClaudeTool(tool, z)),
    allowedTools: tools.map(({ name }) => `mcp__${server}__${name}`),
    ...adapted(offer),
    hooks: claudeHooks(offer, `mcp__${server}__`),
  };
}

/** Turns that nobody spoke for: what is followed stays followed. */
const MACHINE_TURNS: readonly unknown[] = ["system", "loop_wakeup", "schedule_wakeup", "poll_event"];

/** `prefix`: of our own tools, which look at their calls themselves. */
function claudeHooks(offer: SkillOffer, prefix: string): ClaudeHooks {
  const start = async (input: unknown): Promise<ClaudeHookAnswer> => {
    offer.guard();
    if (!MACHINE_TURNS.includes((input as { readonly source?: unknown } | null)?.source)) offer.startTurn();
    return {};
  };
  const check = async (input: unknown): Promise<ClaudeHookAnswer> => {
    const { tool_name: tool, tool_input: given } = input as {
      readonly tool_name: string;
      readonly tool_input: unknown;
    };
    const why = tool.startsWith(prefix) ? undefined : await offer.guard().whyNot(tool, given);
    if (why === undefined) return {};
    return {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: why,
      },
    };
  };
  return { UserPromptSubmit: [{ hooks: [start] }], PreToolUse: [{ hooks: [check] }] };
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

/** As much of Zod's `z` as is needed. */
export interface ZodLike {
  /** For text, and for the keys of objects. */
  string(): ZodTypeLike;
  /** For a text out of a list. */
  enum(values: [string, ...string[]]): ZodTypeLike;
  /** For numbers, whole or not. */
  number(): ZodTypeLike;
  /** For objects whose properties only the skill knows. */
  record(key: never, value: never): ZodTypeLike;
  /** For the values of those objects. */
  unknown(): unknown;
}

/** As much of a Zod type as is needed. */
interface ZodTypeLike {
  /** For a property that may be left out. */
  optional(): unknown;
  /** Adds what the model reads about the property. */
  describe(text: string): ZodTypeLike;
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

/** Bounds of numbers are left to the tool, which checks every call against the whole schema. */
function zodShape(schema: ConversationTool["inputSchema"], z: ZodLike): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const type = zodType(property, z).describe(property.description ?? "");
      return [name, required.includes(name) ? type : type.optional()];
    }),
  );
}

function zodType({ type, enum: values = [] }: Property, z: ZodLike): ZodTypeLike {
  const [first, ...others] = values;
  if (first !== undefined) return z.enum([first, ...others]);
  if (type === "integer" || type === "number") return z.number();
  if (type === "object") return z.record(z.string() as never, z.unknown() as never);
  return z.string();
}

/** Options of `mountClaudeSkills`: where to mount, and which skills for whom. */
export interface ClaudeMountOptions extends Pick<MountOptions, "workspace" | "mode" | "limits"> {
  /** Their names. Default: all that can be used. A name that is not known throws `SkillNotFoundError`. */
  readonly skills?: readonly string[];
  /** Who asks: skills that are kept to some chats are mounted for those alone. */
  readonly caller?: Caller;
}

const MOUNT_KEYS: OptionKeys<ClaudeMountOptions> = {
  workspace: true,
  mode: true,
  limits: true,
  skills: true,
  caller: true,
};

/** A skill that `mountClaudeSkills` did not mount. */
export interface LeftOutSkill {
  /** The skill's name. */
  readonly name: string;
  /** A sentence that says why, and what to do instead where there is something. */
  readonly reason: string;
}

/** What `mountClaudeSkills` did, with the options for the client and `cleanup`. */
export interface ClaudeMount extends Mount {
  /** For `query({ prompt, options })`, beside your own. */
  readonly options: { cwd: string; settingSources: "project"[]; allowedTools: string[] };
  /** Skills that are in the folder anyway, put there by others. */
  readonly native: readonly string[];
  /** Skills that were asked for and not mounted, with reasons. */
  readonly leftOut: readonly LeftOutSkill[];
}

const TARGET = ".claude/skills";

/**
 * Mounts skills where the client looks for them, `.claude/skills` of a workspace. The client carries them out itself: a
 * skill that needs a run of Metier is left out, and one that is not trusted brings its text and files, and nothing that
 * the client would obey without asking. Throws `SkillMountError`; call `cleanup` when the client is done.
 */
export async function mountClaudeSkills(metier: Metier, options: ClaudeMountOptions): Promise<ClaudeMount> {
  checkKeys("mountClaudeSkills", options, MOUNT_KEYS);
  checkCaller("mountClaudeSkills({ caller })", options.caller);
  const { workspace, mode, limits, skills: names, caller = {} } = options;
  const place = join(realPathOr(workspace), TARGET);
  const plan: MountPlan = { skills: [], native: [], texts: new Map(), bodies: new Map(), leftOut: [] };
  for (const name of new Set(names ?? metier.names())) {
    const skill = metier.require(name);
    const isThere = skill.directory !== "" && isInside(realPathOr(skill.directory), place);
    if (isThere) plan.native.push(skill.name);
    else await planSkill(name, skill, { metier, caller, plan });
  }
  const mount = await mountSkills(plan.skills, {
    workspace,
    target: TARGET,
    roots: linkTargets(metier.roots),
    bodyOf: ({ name }) => plan.bodies.get(name),
    texts: plan.texts,
    ...presentFields({ mode, limits }),
  });
  return {
    ...mount,
    options: { cwd: realPathOr(workspace), settingSources: ["project"], allowedTools: ["Skill"] },
    native: plan.native,
    leftOut: plan.leftOut,
  };
}

interface MountPlan {
  readonly skills: Skill[];
  readonly native: string[];
  /** Other text than their own, for those that are not trusted. */
  readonly texts: Map<string, string>;
  /** Of skills that were given as objects. */
  readonly bodies: Map<string, string>;
  readonly leftOut: LeftOutSkill[];
}

/** `reference` is how it was asked for: a name, or `scope:name`. */
async function planSkill(
  reference: string,
  skill: Skill,
  { metier, caller, plan }: { readonly metier: Metier; readonly caller: Caller; readonly plan: MountPlan },
): Promise<void> {
  const { name } = skill;
  const leaveOut = (reason: string): void => void plan.leftOut.push({ name, reason });
  const why = whyNotMounted(skill);
  if (why !== undefined) return leaveOut(why);
  // A skill that forks is refused without a task, and that is the client's to give.
  const outcome = await metier.prepare({ skill: reference, caller, message: "Mount." });
  if (!outcome.ok) return leaveOut(outcome.refusal.message);
  plan.skills.push(skill);
  const isTrusted = outcome.prepared.trust.level === "trusted";
  if (isTrusted && skill.location !== "") return;
  const instructions = await metier.getInstructions(reference);
  if (isTrusted) plan.bodies.set(name, instructions.text);
  else plan.texts.set(name, writeSkillText(disarm(instructions)));
}

function whyNotMounted({ manifest, remote }: Skill): string | undefined {
  if (remote) return "It comes from an MCP server, whose skills stay apart: offer it by `claudeSkills`.";
  const needs = NEED_ISOLATION.filter(({ isDeclared }) => isDeclared(manifest)).map(({ field }) => field);
  if (needs.length === 0) return undefined;
  return `It declares ${showNames(needs)}, which only a run of Metier honours: offer it by \`claudeSkills\`.`;
}

/** Without tools, hooks, models and commands: what is left is to be read. */
function disarm({ text, manifest, ...rest }: Instructions): Instructions {
  const body = text.replace(/!+(?=`)/g, "").replace(/^([ \t]*`{3,})!+/gm, "$1");
  return { ...rest, manifest, text: body, frontmatter: restrainingFields(manifest) };
}

function restrainingFields(manifest: SkillManifest): Readonly<Record<string, Json>> {
  const { disableModelInvocation, userInvocable, argumentHint, disallowedTools } = manifest;
  return presentFields({
    "disallowed-tools": disallowedTools.length > 0 ? disallowedTools : undefined,
    "disable-model-invocation": disableModelInvocation ? true : undefined,
    "user-invocable": userInvocable ? undefined : false,
    "argument-hint": argumentHint,
  }) as Readonly<Record<string, Json>>;
}
