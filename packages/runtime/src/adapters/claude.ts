/**
 * `metier/claude`: skills for the Claude Agent SDK and Claude Code, in two ways: mounted into a workspace, where the
 * client finds them, or as tools of an MCP server in your process, backed by Metier's runs. It imports nothing from the
 * SDK; these are the shapes it takes.
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

/** Options of `claudeSkills`: your `z`, and every option of `metier.offerSkills`. */
export interface ClaudeSkillsOptions extends SkillOfferOptions {
  /** Your `z` from the package `zod`, which the SDK uses to describe tool input. */
  readonly z: ZodLike;
  /** The server's name in `mcpServers`. Default: `metier`. */
  readonly server?: string;
}

/** What the SDK's `tool()` returns and `createSdkMcpServer` takes. */
export interface ClaudeTool {
  /** The tool's own name, without the prefix `mcp__metier__`. */
  name: string;
  /** What the model reads about the tool. */
  description: string;
  /** Zod types by property, made with your `z`. */
  inputSchema: Record<string, unknown>;
  /** Answers a call; the SDK's `extra.signal` ends it. */
  handler(input: Record<string, unknown>, extra: unknown): Promise<ClaudeToolResult>;
}

/** An MCP tool result. */
export interface ClaudeToolResult {
  /** Always one text. */
  content: { type: "text"; text: string }[];
  /** Whether the text reports an error. */
  isError: boolean;
  /** Not set by Metier; open like MCP's own type. */
  [key: string]: unknown;
}

/** `hooks` of the SDK's options. */
export interface ClaudeHooks {
  /** The user sent a message: a turn starts. */
  UserPromptSubmit: ClaudeHookMatcher[];
  /** Denies a call that a followed skill disallows. */
  PreToolUse: ClaudeHookMatcher[];
}

/** An entry of the SDK's hooks; it has no `matcher`, so it sees every event of its kind. */
export interface ClaudeHookMatcher {
  /** Functions that receive the SDK's event and decide whether it may proceed. */
  hooks: ((input: unknown) => Promise<ClaudeHookAnswer>)[];
}

/** `{}`: no objection. */
export interface ClaudeHookAnswer {
  /** Denies the call and tells the model why; absent if the call may proceed. */
  hookSpecificOutput?: {
    hookEventName: "PreToolUse";
    permissionDecision: "deny";
    permissionDecisionReason: string;
  };
}

/** Returned by `claudeSkills`: the parts of the SDK's options for one conversation. */
export interface ClaudeSkills extends AdaptedSkills {
  /** For `systemPrompt: { type: "preset", preset: "claude_code", append: instructions }`. `""` without skills. */
  readonly instructions: string;
  /** For `createSdkMcpServer({ name, tools })`. */
  readonly tools: ClaudeTool[];
  /** The tools' names in the client, such as `mcp__metier__use_skill`: for `allowedTools`. */
  readonly allowedTools: string[];
  /** For `hooks`, next to your own: enforces what a followed skill disallows on the client's tools. */
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
    throw new UsageError("`claudeSkills` needs `z` from the package `zod`.", {
      hint: 'Use `import { z } from "zod"`, then `claudeSkills(metier, { z })`.',
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

/** Turns that no user started: what is followed stays followed. */
const MACHINE_TURNS: readonly unknown[] = ["system", "loop_wakeup", "schedule_wakeup", "poll_event"];

/** `prefix`: of our own tools, which check their own calls. */
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

/** The extra argument of an MCP tool call has the signal that ends it. */
function signalOf(extra: unknown): { readonly signal?: AbortSignal } {
  const signal = (extra as { readonly signal?: unknown } | null | undefined)?.signal;
  return signal instanceof AbortSignal ? { signal } : {};
}

/** The part of Zod's `z` that is used. */
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

/** The part of a Zod type that is used. */
interface ZodTypeLike {
  /** For a property that may be left out. */
  optional(): unknown;
  /** Adds the description that the model reads. */
  describe(text: string): ZodTypeLike;
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

/** Number bounds are left to the tool, which checks every call against the whole schema. */
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
  /** Skill names. Default: all usable skills. An unknown name throws `SkillNotFoundError`. */
  readonly skills?: readonly string[];
  /** Who asks: skills limited to some chats are mounted only for those. */
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
  /** Why, and what to do instead if there is something. */
  readonly reason: string;
}

/** Returned by `mountClaudeSkills`: what was mounted, the client's options, and `cleanup`. */
export interface ClaudeMount extends Mount {
  /** For `query({ prompt, options })`, next to your own. */
  readonly options: { cwd: string; settingSources: "project"[]; allowedTools: string[] };
  /** Skills already in the folder, put there by others. */
  readonly native: readonly string[];
  /** Requested skills that weren't mounted, with reasons. */
  readonly leftOut: readonly LeftOutSkill[];
}

const TARGET = ".claude/skills";

/**
 * Mounts skills into `.claude/skills` of a workspace, where the client looks for them. The client runs them itself: a
 * skill that needs a Metier run is left out, and an untrusted skill contributes its text and files, but nothing that
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
  /** Replacement text for untrusted skills. */
  readonly texts: Map<string, string>;
  /** Of skills passed as objects. */
  readonly bodies: Map<string, string>;
  readonly leftOut: LeftOutSkill[];
}

/** `reference` is how it was requested: a name, or `scope:name`. */
async function planSkill(
  reference: string,
  skill: Skill,
  { metier, caller, plan }: { readonly metier: Metier; readonly caller: Caller; readonly plan: MountPlan },
): Promise<void> {
  const { name } = skill;
  const leaveOut = (reason: string): void => void plan.leftOut.push({ name, reason });
  const why = whyNotMounted(skill);
  if (why !== undefined) return leaveOut(why);
  // A skill that forks is refused without a task, but the client provides the task.
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
  if (remote) return "It comes from an MCP server, so it cannot be mounted: offer it with `claudeSkills`.";
  const needs = NEED_ISOLATION.filter(({ isDeclared }) => isDeclared(manifest)).map(({ field }) => field);
  if (needs.length === 0) return undefined;
  return `It declares ${showNames(needs)}, which only work in a Metier run: offer it with \`claudeSkills\`.`;
}

/** Without tools, hooks, models and commands: the rest is only for reading. */
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
