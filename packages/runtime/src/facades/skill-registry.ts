/**
 * Other systems' registry, as a thin class over `createMetier`: one folder of skills, found and read by name, each as
 * one object with metadata and instructions. Also its executor, which returns every outcome as a `SkillResult`;
 * `textOf` throws refusals and failed runs for callers that expect text or an exception.
 */
import { resolve } from "node:path";
import {
  type InvocationSource,
  SkillInvocationError,
  SkillNotFoundError,
  UsageError,
} from "@metier/base/errors";
import { type Json, presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import {
  type Caller,
  type InvokeOutcome,
  type RunRequest,
  type RunResult,
  refusalError,
  refusalText,
  type Tool,
} from "@metier/run";
import type { Instructions, Skill } from "@metier/skills";
import { type ResolvedSkillSettings, skillSettings } from "@metier/skills/config";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions } from "../runtime/metier-options.ts";

/** The config of one skill, with the defaults for all skills filled in. */
export type SkillSettings = ResolvedSkillSettings;

/** The skills of one workspace, by name. It is empty before `discover`. */
export class SkillRegistry {
  readonly #options: MetierOptions;
  #metier: Metier | undefined;

  constructor(options: MetierOptions = {}) {
    this.#options = options;
  }

  /**
   * Finds the skills in a workspace's `skills`, or in `workspace/skills` of its parent folder, and the user's own. The
   * preset is `ash` by default.
   */
  async discover(workspace: string): Promise<void> {
    const { config } = this.#options;
    const folders = [["skills"], ["workspace", "skills"]].map((path) => resolve(workspace, ...path));
    const skills = { "project-dirs": folders, ...(config?.skills as object | undefined) };
    this.#metier = await createMetier({
      preset: "ash",
      ...this.#options,
      config: { ...config, skills },
      cwd: workspace,
      autoDiscover: true,
    });
  }

  /** The underlying `Metier`; `undefined` before `discover`. */
  get metier(): Metier | undefined {
    return this.#metier;
  }

  /** Throws `SkillNotFoundError` if there is no such skill. */
  get(name: string): Skill {
    return this.#discovered(name).require(name);
  }

  /** A skill with its instructions, read now. Throws like `get`. */
  async getDefinition(name: string): Promise<SkillDefinition> {
    const metier = this.#discovered(name);
    const { maxIterations } = metier.config.config.runs;
    return toDefinition(metier.require(name), await metier.getInstructions(name), maxIterations);
  }

  /** A skill's config, with the defaults for all skills filled in. Throws like `get`. */
  getSettings(name: string): SkillSettings {
    const metier = this.#discovered(name);
    return skillSettings(metier.config.config, metier.require(name).name);
  }

  /** Whether there is such a skill, whatever its status; `false` before `discover`. */
  has(name: string): boolean {
    return this.#metier?.has(name) ?? false;
  }

  /** All names, including skills that can't be used. */
  listNames(): readonly string[] {
    return this.#metier?.names({ includeDisabled: true, includeUnavailable: true }) ?? [];
  }

  /** The skills that can be used on this machine. */
  listAvailable(): readonly Skill[] {
    return this.#metier?.list() ?? [];
  }

  /** Checks a file without loading it: whether it is valid, and the first reason if not. */
  async validateSkillFile(path: string | URL): Promise<readonly [valid: boolean, error: string | null]> {
    const metier = this.#metier ?? (await createMetier({ ...this.#options, autoDiscover: false }));
    const { valid, results, diagnostics } = await metier.validate(path);
    const all = [...diagnostics, ...results.flatMap((result) => result.diagnostics)];
    return [valid, all.find(({ severity }) => severity === "error")?.message ?? null];
  }

  /** What a model needs to know about each usable skill. */
  getDefinitions(): readonly SkillSummary[] {
    return this.listAvailable().map(({ name, description, manifest }) => ({
      name,
      description,
      ...presentFields({ inputSchema: manifest.inputSchema }),
    }));
  }

  #discovered(name: string): Metier {
    if (this.#metier) return this.#metier;
    throw new SkillNotFoundError(name, undefined, { hint: "Call `discover` first." });
  }
}

interface SkillSummary {
  /** The skill's name. */
  readonly name: string;
  /** What it does and when to use it. */
  readonly description: string;
  /** JSON Schema of the input; absent if any input is allowed. */
  readonly inputSchema?: Readonly<Record<string, Json>>;
}

/** A skill with its metadata and instructions in one object. */
export interface SkillDefinition {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** What it does and when to use it. */
  readonly description: string;
  /** The body of the skill file; arguments aren't filled in. */
  readonly instructions: string;
  /** The skill file; absent for a skill given as an object. */
  readonly skillPath?: string;
  /** Who wrote the skill. */
  readonly authors: readonly string[];
  /** Why the skill exists. */
  readonly rationale?: string;
  /** Names of variables that its runs get from the config. */
  readonly env: readonly string[];
  /** Debian packages that its runs need. */
  readonly packages: readonly string[];
  /** Operations the host performs for it, each as `namespace.name`. */
  readonly capabilities: readonly string[];
  /** Empty: all tools. */
  readonly allowedTools: readonly string[];
  /** Tools that must exist before a run starts. */
  readonly requiredTools: readonly string[];
  /** JSON Schema of the input; absent if any input is allowed. */
  readonly inputSchema?: Readonly<Record<string, Json>>;
  /** A model's name or alias; absent if the skill names none. */
  readonly model?: string;
  /** Same as `model`: the value of `preferred_model` if `model` is absent. */
  readonly preferredModel?: string;
  /** The most model calls a run may make: the skill's number, or the config's `runs.max-iterations`. */
  readonly maxIterations: number;
}

function toDefinition(
  { name, location }: Skill,
  { text, manifest }: Instructions,
  usualIterations: number,
): SkillDefinition {
  const { description, authors, env, packages, capabilities, requiredTools } = manifest;
  const { rationale, inputSchema, model, allowedTools = [], maxIterations = usualIterations } = manifest;
  return {
    name,
    description,
    instructions: text,
    authors,
    env,
    packages,
    capabilities,
    allowedTools,
    requiredTools,
    maxIterations,
    ...presentFields({
      skillPath: location || undefined,
      rationale,
      inputSchema,
      model,
      preferredModel: model,
    }),
  };
}

/** Options for every run of an executor. */
export type SkillExecutorConfig = Pick<
  RunRequest,
  "model" | "limits" | "write" | "approve" | "askUser" | "onEvent"
>;

const EXECUTOR: OptionKeys<SkillExecutorConfig> = {
  model: true,
  limits: true,
  write: true,
  approve: true,
  askUser: true,
  onEvent: true,
};
const CONTEXT: OptionKeys<SkillContext> = {
  sessionId: true,
  userId: true,
  chatId: true,
  chatType: true,
  inputData: true,
};

/** Runs the skills of a registry. */
export class SkillExecutor {
  readonly #registry: SkillRegistry;
  readonly #request: Omit<RunRequest, "skill">;

  /** `tools` are the program's tools that runs get in addition to Metier's. */
  constructor(registry: SkillRegistry, tools: readonly Tool[] = [], config: SkillExecutorConfig = {}) {
    checkKeys("SkillExecutor", config, EXECUTOR);
    this.#registry = registry;
    this.#request = { ...config, tools };
  }

  /**
   * Runs a skill with `input` merged over `context.inputData`. Refusals and failed runs are results; throws
   * `UsageError` before `discover`.
   */
  async execute(
    skill: string,
    input: Readonly<Record<string, unknown>> = {},
    context: SkillContext = {},
  ): Promise<SkillResult> {
    checkKeys("SkillExecutor.execute", context, CONTEXT);
    const { metier } = this.#registry;
    if (metier === undefined) {
      throw new UsageError("The registry has not been searched yet.", {
        hint: "Call `discover` on the registry first.",
      });
    }
    const { inputData, ...caller }: SkillContext = context;
    const data = { ...inputData, ...input };
    const result = await metier.run({
      ...this.#request,
      skill,
      caller: caller satisfies Caller,
      ...(Object.keys(data).length > 0 && { input: data as Json }),
    });
    return toSkillResult(result);
  }
}

function toSkillResult(result: RunResult): SkillResult {
  const { status, text, iterations, refusal } = result;
  if (status === "completed") return SkillResult.success(text, iterations);
  if (refusal?.reason === "not-found") return SkillResult.error(tellMissing(refusal));
  if (refusal) return SkillResult.error(refusalText(refusal));
  return SkillResult.error([text, tellEnding(result)].filter(Boolean).join("\n\n"), iterations);
}

/** In the original system's words. */
function tellMissing({ skill, data }: NonNullable<RunResult["refusal"]>): string {
  const near = Array.isArray(data.near) ? data.near.map((name) => `\`${String(name)}\``) : [];
  const meant = near.length > 0 ? `. Did you mean ${near.join(" or ")}?` : "";
  return `Skill '${showValue(skill).slice(1, -1)}' not found${meant}`;
}

/** Who asks, and from where; `inputData` is added to every call's input. */
export interface SkillContext {
  /** The caller's session. */
  readonly sessionId?: string;
  /** The user it runs for: their data is kept separate. */
  readonly userId?: string;
  /** The chat of the request; the config may limit a skill to some. */
  readonly chatId?: string;
  /** Needed for skills that are limited to some kinds of chats. */
  readonly chatType?: string;
  /** Input for every call; the call's own input takes precedence. */
  readonly inputData?: Readonly<Record<string, unknown>>;
}

/** The outcome of a run: an answer, or an error as text. */
export class SkillResult {
  /** The answer; for an error, the text so far and why the run didn't complete. */
  readonly content: string;
  /** Whether the run was refused or didn't complete. */
  readonly isError: boolean;
  /** How many times the model was asked. */
  readonly iterations: number;

  private constructor(content: string, isError: boolean, iterations: number) {
    this.content = content;
    this.isError = isError;
    this.iterations = iterations;
    Object.freeze(this);
  }

  /** The result of a completed run. */
  static success(content: string, iterations = 0): SkillResult {
    return new SkillResult(content, false, iterations);
  }

  /** The result of a run that was refused or didn't complete. */
  static error(message: string, iterations = 0): SkillResult {
    return new SkillResult(message, true, iterations);
  }
}

/** The instructions with arguments filled in, or the answer of a skill that ran. */
export function textOf(outcome: InvokeOutcome, source: InvocationSource): string {
  switch (outcome.kind) {
    case "inline":
      return outcome.prepared.instructions;
    case "refused":
      throw refusalError(outcome.refusal, source);
    case "run":
      if (outcome.result.status === "completed") return outcome.result.text;
      throw new SkillInvocationError(outcome.result.skill, source, tellEnding(outcome.result), {
        cause: outcome.result,
      });
  }
}

/** Why a run didn't complete, in one sentence. */
export function tellEnding({ status, error, limit, refusal }: RunResult): string {
  if (refusal) return refusal.message;
  if (error) return error.message;
  if (limit) return `The run was stopped: it reached its limit of ${limit}.`;
  return status === "cancelled" ? "The run was cancelled." : `The run ended as ${status}.`;
}
