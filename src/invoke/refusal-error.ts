/** A refusal as an exception, for callers that cannot go on without the skill. */
import {
  type InvocationSource,
  type SkillError,
  SkillInvocationError,
  SkillNotFoundError,
} from "../foundation/errors.ts";
import type { Refusal } from "./invocation.ts";

export function refusalError(refusal: Refusal, source: InvocationSource): SkillError {
  const { skill, message, hint, reason } = refusal;
  if (reason === "not-found") return new SkillNotFoundError(skill, undefined, { hint, cause: refusal });
  return new SkillInvocationError(skill, source, message, { hint, cause: refusal });
}
