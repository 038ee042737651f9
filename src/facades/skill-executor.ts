/**
 * The executor other systems know, as a thin face over `metier.run`: the skills of a registry, each run in isolation.
 * Whatever becomes of a run is a `SkillResult`; only a registry that was never filled is thrown.
 */
import { UsageError } from "../foundation/errors.ts";
import type { Caller } from "../invoke/invocation.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import type { Json } from "../skill/manifest.ts";
import type { Tool } from "../tools/tool.ts";
import { describeEnding } from "./invocation-text.ts";
import type { SkillRegistry } from "./skill-registry.ts";
import { type SkillContext, SkillResult } from "./skill-result.ts";

/** How every run of an executor is carried out. */
export type SkillExecutorConfig = Pick<
  RunRequest,
  "model" | "limits" | "write" | "approve" | "askUser" | "onEvent"
>;

export class SkillExecutor {
  readonly #registry: SkillRegistry;
  readonly #request: Omit<RunRequest, "skill">;

  /** `tools` are tools of the program that runs get beside those of Metier. */
  constructor(registry: SkillRegistry, tools: readonly Tool[] = [], config: SkillExecutorConfig = {}) {
    this.#registry = registry;
    this.#request = { ...config, tools };
  }

  async execute(
    skill: string,
    input: Readonly<Record<string, unknown>> = {},
    context: SkillContext = {},
  ): Promise<SkillResult> {
    const { metier } = this.#registry;
    if (metier === undefined) {
      throw new UsageError("The registry has not looked for skills yet.", {
        hint: "Call `discover` of the registry first.",
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
  if (refusal) return SkillResult.error(refusalText(refusal));
  return SkillResult.error([text, describeEnding(result)].filter(Boolean).join("\n\n"), iterations);
}
