/**
 * `use_skill`, the one tool by which a model starts a skill. A skill that runs inline answers with its instructions; one
 * that runs in isolation answers with the wrapped result of its run; a refusal says what to do.
 */
import type { OutputFilterMode } from "../config/run-fields.ts";
import type { SkillRequest } from "../invoke/invocation.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import { useSkillSchema } from "../invoke/use-skill-schema.ts";
import { parseSkillAddress } from "../skill/scope.ts";
import type { Skill } from "../skill/skill.ts";
import { answer, fault, type Tool, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import { showValue } from "../validate/report.ts";
import type { InvokeOutcome } from "./invoke-outcome.ts";
import { filterOutput } from "./output-filter.ts";
import { wrapResult } from "./wrap-result.ts";

export type InvokeFromModel = (
  request: SkillRequest,
  signal: AbortSignal,
  userMessage?: string,
) => Promise<InvokeOutcome>;

/** All it needs of a call is a way to be stopped; a host that knows it also says what the user wrote. */
export type UseSkillTool = Tool<{ readonly signal: AbortSignal; readonly userMessage?: string }>;

/** `undefined` when there is no skill a model may use: then there is no such tool. */
export function useSkillTool(
  skills: readonly Skill[],
  invoke: InvokeFromModel,
  outputFilter: () => OutputFilterMode,
): UseSkillTool | undefined {
  const schema = useSkillSchema(skills);
  if (schema === undefined) return undefined;
  return {
    name: "use_skill",
    description: schema.description,
    inputSchema: schema.inputSchema,
    effect: "skill",
    async execute(input, { signal, userMessage }) {
      const request = toRequest(input);
      const { scope, name } = parseSkillAddress(request.skill);
      // A scope is for people: it also leads to a skill that another one of its name hides.
      if (scope !== undefined) {
        return fault(`\`skill\` is ${showValue(request.skill)}; give the name alone, ${showValue(name)}.`);
      }
      return answerOutcome(await invoke(request, signal, userMessage), outputFilter());
    },
  };
}

/** These and nothing else, whatever a model writes: the rest of a request is the host's to say. */
function toRequest(checked: ToolInput): SkillRequest {
  const { skill, message, context, arguments: line, input } = checked as unknown as SkillRequest;
  return {
    skill,
    ...(message !== undefined && { message }),
    ...(context !== undefined && { context }),
    ...(line !== undefined && { arguments: line }),
    ...(input !== undefined && { input }),
  };
}

/** Only what a run wrote is filtered: instructions are to be followed, and the wrapper is our own. */
function answerOutcome(outcome: InvokeOutcome, filter: OutputFilterMode): ToolOutput {
  switch (outcome.kind) {
    case "inline":
      return answer(outcome.text);
    case "refused":
      return fault(refusalText(outcome.refusal));
    case "run": {
      const { result } = outcome;
      const text = wrapResult({ ...result, text: filterOutput(result.text, filter) });
      return result.status === "completed" ? answer(text) : fault(text);
    }
  }
}
